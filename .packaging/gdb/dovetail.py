"""Pretty printers of dovetail's types for gdb: `source PREFIX/share/dovetail/gdb/dovetail.py`, on its command line or in ~/.gdbinit.

Views (in, out, inout), readings, vec, span and fixed show their elements, half and bfloat16 their value, tensor types, tags, symbols, roles and
tickets one line. Ids of a graph are plain numbers: `print $dovetail_symbol(graph, 3)` and `print $dovetail_node(graph, 3)` say what they mean."""
import re
import struct

import gdb

element_names = ["none", "half", "bfloat16", "float", "double", "int8", "uint8", "int32", "uint32", "int64", "uint64"]
no_number = -0x7FFFFFFFFFFFFFFF


def without_namespaces(name):
    """The name of a type as plans and messages show it."""
    name = re.sub(r"\(anonymous namespace\)::|\{anonymous\}::|<unnamed>::|\((?:int|long|bool)\)", "", name)
    name = re.sub(r"\b(?:struct|class) |\b\w+::|(?<=\d)[lLuU]+\b", "", name)
    return re.sub(r",\s*", ", ", name)


def letters_text(letters):
    return letters["first"].string(length=int(letters["size"])) if int(letters["size"]) else ""


def tag_text(tag):
    name = without_namespaces(letters_text(tag["spelling"]))
    number = int(tag["number"])
    return (name if number == no_number else f"{name}<{number}>") or "nameless"


def tensor_type_text(value):
    element = element_names[int(value["type"])]
    if element == "none":
        return "no tensor"
    return "tensor<" + ", ".join([element] + [str(int(value["extent"][i])) for i in range(int(value["rank"]))]) + ">"


def atomic(value):
    """Of a std::atomic of libstdc++ or libc++, or of a std::atomic<bool>, which libstdc++ nests."""
    names = ("_M_base", "_M_i", "__a_", "__a_value")
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        value = value[next(f for f in value.type.fields() if f.name in names or f.is_base_class)]
    return int(value)


def shared(pointer):
    """What a std::shared_ptr of libstdc++ or libc++ points to."""
    fields = [field.name for field in pointer.type.strip_typedefs().fields()]
    return pointer["__ptr_"] if "__ptr_" in fields else pointer["_M_ptr"]


def text(what):
    """A printer of one line."""

    class printer:
        def __init__(self, value):
            self.value = value

        def to_string(self):
            return what(self.value)

    return printer


def readable(pointer):
    """Whether gdb reads this memory: not that of a GPU."""
    try:
        gdb.selected_inferior().read_memory(int(pointer), 1)
        return True
    except gdb.MemoryError:
        return False


def array(what, first_and_count):
    """A printer of elements: gdb reads those that it shows, up to its own limit."""

    class printer:
        def __init__(self, value):
            self.value = value
            self.first, self.count = first_and_count(value)
            self.readable = self.count == 0 or readable(self.first)

        def to_string(self):
            return what(self.value) + ("" if self.readable else ", which the debugger cannot read")

        def children(self):
            first, count = self.first, self.count if self.readable else 0
            return ((f"[{i}]", (first + i).dereference()) for i in range(count))

        def display_hint(self):
            return "array"

    return printer


def tensor_of(value):
    """The type dovetail::tensor<T, E...> of a view or a reading, and its number of elements."""
    tensor = value.type.strip_typedefs().template_argument(0).strip_typedefs()
    extents = [int(extent) for extent in re.findall(r",\s*(-?\d+)", re.sub(r"^.*?tensor<", "", str(tensor)))]
    count = 1
    for extent in extents:
        count *= extent
    return tensor, count


def view_text(value):
    kind = re.search(r"dovetail::(\w+)<", str(value.type.strip_typedefs()))[1]
    return f"{kind} {without_namespaces(str(tensor_of(value)[0]))} at {int(value['pointer']):#x}"


def reading_text(value):
    return f"reading {without_namespaces(str(tensor_of(value)[0]))} at {int(value['data_']):#x}"


def reading_elements(value):
    tensor, count = tensor_of(value)
    return value["data_"].cast(tensor.template_argument(0).pointer()), count


def vec_elements(value):
    return value["first"], int(value["size_"])


def span_elements(value):
    return value["first"], int(value["count"])


def fixed_elements(value):
    return value["first"][0].address, int(value["count"])


def half_text(value):
    return repr(struct.unpack("<e", struct.pack("<H", int(value["bits"])))[0])


def bfloat16_text(value):
    return repr(struct.unpack("<f", struct.pack("<I", int(value["bits"]) << 16))[0])


def symbol_text(symbol):
    kind = str(symbol["kind"]).split("::")[-1]
    role = int(symbol["role"])
    return f"{kind} {tag_text(symbol['name'].dereference())}: {tensor_type_text(symbol['type'])}" + (f", role {role}" if role >= 0 else "")


def role_text(role):
    return f"role {tag_text(role['name'].dereference())}"


def run_text(run):
    pending = atomic(run["pending"])
    state = "failed" if atomic(run["failed"]) else f"{pending} streams pending" if pending else "ended"
    return f"run {int(run['run'])}, {state}"


def ticket_text(ticket):
    run = shared(ticket["run_"])
    return "ticket of " + (run_text(run.dereference()) if int(run) else "no run")


def type_text(value):
    return without_namespaces(str(value.type.strip_typedefs().unqualified()))


printers = [
    (r"(in|out|inout)<.*>|detail::view<.*>", array(view_text, lambda view: (view["pointer"], tensor_of(view)[1]))),
    (r"reading<.*>", array(reading_text, reading_elements)),
    (r"vec<.*>", array(type_text, vec_elements)),
    (r"span<.*>", array(type_text, span_elements)),
    (r"fixed<.*>", array(type_text, fixed_elements)),
    (r"tensor<.*>", text(type_text)),
    (r"half", text(half_text)),
    (r"bfloat16", text(bfloat16_text)),
    (r"tensor_type", text(tensor_type_text)),
    (r"letters", text(letters_text)),
    (r"tag", text(tag_text)),
    (r"ir::symbol", text(symbol_text)),
    (r"ir::role", text(role_text)),
    (r"run_state", text(run_text)),
    (r"(basic_)?ticket(<.*>)?", text(ticket_text)),
]


def find_printer(value):
    type_of = value.type.strip_typedefs()
    if type_of.code == gdb.TYPE_CODE_PTR and str(type_of.target().unqualified()) == "dovetail::tag" and int(value):
        return text(tag_text)(value.dereference())
    if type_of.code != gdb.TYPE_CODE_STRUCT or not (type_of.tag or "").startswith("dovetail::"):
        return None
    name = type_of.tag[len("dovetail::"):]
    return next((printer(value) for pattern, printer in printers if re.fullmatch(pattern, name)), None)


class symbol_of_id(gdb.Function):
    """$dovetail_symbol(GRAPH, ID): the symbol with this id of an ir::graph."""

    def __init__(self):
        super().__init__("dovetail_symbol")

    def invoke(self, graph, number):
        return symbol_text(graph["symbols"]["first"][int(number)])


class node_of_id(gdb.Function):
    """$dovetail_node(GRAPH, ID): the node with this id of an ir::graph, with the names of its results and arguments."""

    def __init__(self):
        super().__init__("dovetail_node")

    def invoke(self, graph, number):
        node = graph["nodes"]["first"][int(number)]

        def names(first, count):
            ids = [int(graph["operands"]["first"][int(first) + i]) for i in range(int(count))] if int(first) >= 0 else []
            return ", ".join(tag_text(graph["symbols"]["first"][i]["name"].dereference()) for i in ids)

        kind = str(node["kind"]).split("::")[-1]
        operation = tag_text(node["op"]["name"].dereference()) if kind == "compute" and int(node["op"]) else kind
        return f"{names(node['first_result'], node['results'])} = {operation}({names(node['first_argument'], node['arguments'])})"


gdb.pretty_printers.append(find_printer)
symbol_of_id()
node_of_id()
