"""What a compiler says: shared by the scripts of the programs that must not compile."""
import os
import pathlib
import re
import subprocess

include = pathlib.Path(__file__).resolve().parents[2] / "include"


def sentences():
    """The sentence of each error template, by its name."""
    found = {}
    for path in (include / "dovetail").rglob("*.hpp"):
        for name, literals in re.findall(r'^struct (\w+) \{\s*static_assert\(\s*detail::never<.*?>,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', path.read_text(), re.M | re.S):
            found[name] = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')
    return found


def command(compiler):
    """The compiler without a source, as far as it goes without making code; it does not read the launch layer, which knows no graph."""
    start = [compiler, "-std=c++20", f"-I{include}", "-DDOVETAIL_SEPARATE_COMPILATION"]
    if os.path.basename(compiler) == "nvcc":
        # The host pass of the front end runs first and stops at the error: no device compiler, no assembler, no host compiler.
        return start + ["-x", "cu", "-c", "--fdevice-syntax-only", "-arch=sm_90", "-o", os.devnull]
    return start + ["-fsyntax-only"]


def precompiled(compiler, headers, where):
    """More of the command for sources that begin with these headers, compiled once here in `where`: they take most of the time. Nothing
    for nvcc, which cannot."""
    if os.path.basename(compiler).startswith(("nvcc", "clangd")):
        return []
    where.mkdir()
    first = where / "first.hpp"
    first.write_text("".join(f"#include {h}\n" for h in headers))
    made = f"{first}.{'pch' if 'clang' in compiler else 'gch'}"
    done = subprocess.run([*command(compiler)[:-1], "-x", "c++-header", str(first), "-o", made], capture_output=True)
    return ["-include", str(first)] if done.returncode == 0 else []


def squeezed(text):
    # Compilers differ in blanks, `struct` and the casts of integers: `product<(int)0>` and `product<0>` are one name.
    return re.sub(r"\s+|\bstruct |\bclass |\((?:int|long|bool)\)|(?<=\d)[lu]+\b|[‘’'\"]", "", text, flags=re.I)


def says(lines, text):
    """Whether the text, or all of the name that it ends with, is in these lines."""
    return re.search(re.escape(squeezed(text)) + (r"\b" if re.search(r"\w$", text) else ""), squeezed(" ".join(lines))) is not None


def error_lines(lines):
    return [i for i, line in enumerate(lines) if re.search(r"\berror(?: #[\w-]+)?: ", line)]


def has_sentence(line, sentence):
    return squeezed(sentence) in squeezed(line)


def other_sentences(lines, *fitting):
    """The lines with sentences of the library besides these."""
    return sorted({line for line in lines if "dovetail: " in line and "static" in line and not any(squeezed(s) in squeezed(line) for s in fitting)})
