"""The conditions of C++ sources, found by their text: every operand of || and &&, and every `if` without one. `instrumented` puts a
numbered function around each, so that one of them can be left out while the program runs. A comment that begins a sentence with one of
`argued` says of the conditions beside it what the tests cannot show: behind code, of those that begin on its line; else of the whole
statement or function below it."""
import re

token = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\d[\w.']*|\|\||&&|<<=|>>=|[-+*/%&|^!<>=]=|->|::|\+\+|--|\S", re.S)
argued = re.compile(r"\b(Only for speed|Only for names|Only while compiling)\b")
closing = {"(": ")", "[": "]", "{": "}"}
# What ends an expression of || and && where it stands beside it.
ends = {";", ",", "=", "?", ":", "return", "+=", "-=", "|=", "&=", "case", "else", "do"}


class condition:
    def __init__(self, neutral, line, text, begin, end):
        self.neutral = neutral  # "any": as an operand of || it is left out by being false; "all": as one of && by being true
        self.line, self.text, self.begin, self.end = line, text, begin, end
        self.argued = None  # the place of the comment


class source:
    def __init__(self, text):
        self.text, self.found, self.partner = text, [], {}
        self.tokens = [m for m in token.finditer(text) if not m.group().startswith(("//", "/*"))]
        opened = []
        for i, t in enumerate(self.tokens):
            if t.group() in closing:
                opened.append(i)
            elif t.group() in closing.values():
                self.partner[opened.pop()] = i
        self.opening = {end: begin for begin, end in self.partner.items()}
        self.region(0, len(self.tokens), None)
        self.found.sort(key=lambda c: (c.begin, -c.end))
        self.comments = [self.text.count("\n", 0, m.start()) + 1 for m in argued.finditer(text)]
        lines = text.split("\n")
        for line in self.comments:
            if lines[line - 1].lstrip().startswith("//"):
                first = next(i for i, t in enumerate(self.tokens) if t.start() > sum(len(x) + 1 for x in lines[:line]))
                begin, end = self.tokens[first].start(), self.tokens[self.last_of_statement(first)].end()
            else:
                begin = sum(len(x) + 1 for x in lines[: line - 1])
                end = begin + len(lines[line - 1])
            for c in self.found:
                if begin <= c.begin < end and c.argued is None:
                    c.argued = line

    def last_of_statement(self, i):
        while self.word(i) != ";":
            if i in self.partner:
                block = self.word(i) == "{"
                i = self.partner[i]
                if block and self.word(i + 1) != "else":
                    return i
            i += 1
        return i

    def word(self, i):
        return self.tokens[i].group() if 0 <= i < len(self.tokens) else ""

    def split(self, begin, end, at):
        parts, first, i = [], begin, begin
        while i < end:
            if i in self.partner:
                i = self.partner[i]
            elif self.word(i) == at:
                parts.append((first, i))
                first = i + 1
            i += 1
        return parts + [(first, end)]

    def add(self, begin, end, neutral):
        a, b = self.tokens[begin].start(), self.tokens[end - 1].end()
        self.found.append(condition(neutral, self.text.count("\n", 0, a) + 1, " ".join(self.text[a:b].split()), a, b))

    def expression(self, begin, end, alone):
        """One without commas. `alone`: it is a condition also without || and &&."""
        if begin >= end:
            return
        alternatives = self.split(begin, end, "||")
        if alone and len(alternatives) == 1 and len(self.split(begin, end, "&&")) == 1:
            self.add(begin, end, "any")
        for first, last in alternatives:
            if len(alternatives) > 1:
                self.add(first, last, "any")
            operands = self.split(first, last, "&&")
            if len(operands) > 1:
                for a, b in operands:
                    self.add(a, b, "all")

    def region(self, begin, end, before):
        """Between two brackets; `before` is the word in front of the first."""
        if before in ("for", "while"):
            return  # how often, not whether
        first = i = begin
        while i < end:
            if i in self.partner:
                self.region(i + 1, self.partner[i], self.word(i - 1))
                i = self.partner[i]
                if self.word(i) == ")" and self.word(self.opening[i] - 1) in ("if", "for", "while"):
                    first = i + 1
            elif self.word(i) in ends or self.word(i) == "}":
                self.expression(first, i, False)
                first = i + 1
            i += 1
        self.expression(first, end, before == "if")


def instrumented(text, first):
    """The text with its conditions numbered from `first` on, their list, and the lines of the comments that argue."""
    read = source(text)
    found = read.found
    marks = []
    for number, c in enumerate(found, first):
        marks += [(c.begin, 1, c.begin - c.end, f"switched::{c.neutral}({number}, static_cast<bool>("), (c.end, 0, 0, "))")]
    for at, _, _, inserted in sorted(marks, reverse=True):
        text = text[:at] + inserted + text[at:]
    return text, found, read.comments
