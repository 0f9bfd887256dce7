"""A file includes what declares the types that it names, and the functions that it names with their namespace.

usage: include_rules.py SOURCES

Itself, or through what it includes. Unity builds, as scripts/test has them, hide what a file forgot to include,
since a neighbour of the unit may have it. What counts are names that one header alone declares, and those of fmt.
"""
import functools
import re
import sys
from pathlib import Path

SOURCES = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(SOURCES / "cmake"))
from unity_groups import DIRECTIVE, NOISE  # noqa: E402

ROOMS = ("core", "pe", "ntfs", "syscall-map", "tracefile", "schema-files", "registry", "cli", "python", "fixtures", "bench", "fuzz",
         "tests")
INCLUDE = re.compile(r'^#include ["<](.*)[">]$', re.M)
TYPE = r"[A-Z]\w*[a-z]\w*"
FUNCTION = r"[a-z]\w*"
SPACE = r"(?:core|pe|pdb|ntfs|syscall_map|tracefile|schema_files|registry|cli|fixtures)"
# As clang-format leaves them.
DECLARED_TYPE = re.compile(
    rf"^(?:(?:class|struct|union|enum|enum class)(?: \[\[\w+\]\])? ({TYPE})(?! *;)|using ({TYPE}) =)", re.M)
DECLARED_FUNCTION = re.compile(rf"^(?!using|return)(?:[\w:\[\]<>,&*]+ )+[&*]?({FUNCTION})\(", re.M)
NAMED = re.compile(rf"(?<!::)\b(?:coldtrace::)?(?:{SPACE}::)?({TYPE})\b|\b{SPACE}::({FUNCTION})\(")
# Types of the file's own classes and templates, and those of which the name is enough.
OWN = re.compile(rf"\b(?:class|struct|union|enum|typename|auto|using|Is<\w+>) (?:\[\[\w+\]\] )?({TYPE})\b")


@functools.cache
def text_of(path):
    return path.read_text()


@functools.cache
def code_of(path):
    return DIRECTIVE.sub("", NOISE.sub(" ", text_of(path)))


@functools.cache
def own_types(path):
    return frozenset(OWN.findall(code_of(path)))


@functools.cache
def included(path):
    found = []
    for name in INCLUDE.findall(text_of(path)):
        places = [SOURCES / name, path.parent / name, *(SOURCES / room / "include" / name for room in ROOMS)]
        found += [place.resolve() for place in places if place.is_file()][:1]
    return found


def reached(path):
    """A file and what it includes of the project, at any remove."""
    found, waiting = {path}, [path]
    while waiting:
        for other in included(waiting.pop()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def main():
    files = [path for room in ROOMS for path in sorted((SOURCES / room).rglob("*.[ch]pp"))]
    declared = {}
    for path in files:
        names = {name for pair in DECLARED_TYPE.findall(code_of(path)) for name in pair}
        for name in names.union(DECLARED_FUNCTION.findall(code_of(path))) if path.suffix == ".hpp" else names:
            declared.setdefault(name, set()).add(path)
    only = {name: min(paths) for name, paths in declared.items()
            if len(paths) == 1 and min(paths).suffix == ".hpp" and name}
    missing, named = [], 0
    for path in files:
        near = reached(path)
        known = set().union(*(own_types(other) for other in near))
        if "fmt::" in code_of(path) and not any("#include <fmt/" in text_of(other) for other in near):
            missing.append(f"{path.relative_to(SOURCES)} names fmt without a header of it")
        for pair in set(NAMED.findall(code_of(path))):
            name = pair[0] or pair[1]
            named += name in only
            if name in only and only[name] not in near and name not in known:
                missing.append(f"{path.relative_to(SOURCES)} names {name} of {only[name].relative_to(SOURCES)}")
    print(f"{len(files)} files name {named} times what one of {len(only)} declarations says")
    print("\n".join(sorted(missing)))
    # Were the names not found, there would be nothing to miss.
    return bool(missing) or named < 5 * len(files)


sys.exit(main())
