"""Writes the units that scripts/tidy checks: source files of the product, many in one.

    tidy_units.py BUILD FOLDER [FILE...]     prints the units' paths, those with the most files first

BUILD is a folder with compile_commands.json, FOLDER gets the units and a compile_commands.json of its own. With
FILEs the units have only these. clang-tidy spends most of its time on a unit's headers, above all those of the standard
library. Files are therefore grouped by the names that they declare, not by target as in unity builds
(cmake/unity_groups.py), and compiled with the flags of the program, which uses all libraries. Files that use CLI11 are
apart: for each text that its functions take by value, performance-unnecessary-value-param goes through the whole unit.
"""

import functools
import itertools
import json
import re
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "cmake"))
import unity_groups  # noqa: E402

PRODUCT = {"core", "pe", "ntfs", "syscall-map", "tracefile", "schema-files", "registry", "cli"}
MOST = 128  # files in a unit


def sources_of(entry):
    """The files of the product that an entry of the database compiles."""
    path = Path(entry["file"])
    if "Unity" in path.parts:
        paths = map(Path, re.findall(r'^#include "(.*)"$', path.read_text(), re.M))
    else:
        paths = [path]
    for each in paths:
        if each.is_relative_to(PROJECT) and each.suffix == ".cpp":
            if each.relative_to(PROJECT).parts[0] in PRODUCT:
                yield each


@functools.cache
def headers_of(path):
    """The headers of the project that a file includes, and those that these do."""
    found = set()
    for name in re.findall(r'^#include "(.*)"$', path.read_text(), re.M):
        header = next((each for each in [PROJECT / name, *PROJECT.glob(f"*/include/{name}")] if each.exists()), None)
        if header and header.suffix == ".hpp":
            found |= {header} | headers_of(header)
    return frozenset(found)


def namespaces_of(text):
    """Those of the project that a file declares things in."""
    return set(re.findall(r"^namespace ([\w:]+) \{", text, re.M))


@functools.cache
def declared_in(header):
    """The names that a header declares, each with each of the header's namespaces."""
    spaces = namespaces_of(header.read_text())
    text = re.sub(r"^(namespace [^{]*\{|\}  // namespace.*)$", "", header.read_text(), flags=re.M)
    text = unity_groups.DIRECTIVE.sub("", unity_groups.NOISE.sub(" ", text))
    return frozenset(itertools.product(spaces, unity_groups.declared(text)))


@functools.cache
def uses_cli11(path):
    text = path.read_text()
    return bool(re.search(r"^#include <CLI/", text, re.M)) or any(map(uses_cli11, headers_of(path)))


def read(path, alone=unity_groups.read):
    """As unity_groups.read(), of declared names alone: that a local variable of a file has a name that another file
    declares changes no check, and what no longer compiles is seen. One target's headers do not mind another's names."""
    shared, names, _ = alone(path)
    text = path.read_text()
    names |= {name: brought for brought, name in unity_groups.BROUGHT.findall(text)}
    macros = set(unity_groups.MACRO.findall(text))
    own = {(space, name): brought for space in namespaces_of(text) for name, brought in names.items() if name not in macros}
    own |= dict.fromkeys(macros)
    there = {pair for header in headers_of(path) for pair in declared_in(header)}
    # What an outer namespace has is found where an inner one does not have the name.
    outer = {(space, name) for space in namespaces_of(text) for around, name in there if space.startswith(f"{around}::")}
    return (shared, uses_cli11(path)), own, own.keys() | there | outer


def binding():
    """The files of the Python module, which builds with sanitizers leave out, and the flags that they take on top."""
    return sorted((PROJECT / "python").glob("*.cpp")), [
        "-isystem", sysconfig.get_path("include"), '-DCOLDTRACE_VERSION="0"']


def flags_of(entries):
    """Those of the program's library, with what other targets define and include."""
    program = min(
        (words for _, words in entries if "-include-pch" in words and "coldtrace_cli" in str(words)),
        key=len,
    )
    flags = program[: program.index("-o")]
    for _, words in entries:
        for i, word in enumerate(words):
            pair = words[i : i + 2] if word == "-isystem" else [word]
            if word[:2] in {"-D", "-I", "-i"} and pair[-1] not in flags:
                if word == "-isystem" or word[:2] in {"-D", "-I"}:
                    flags += pair
    # The compiler reports its own warnings, and for fewer headers: those of the project are not system
    # headers here, however a target finds them.
    flags.append("-Wno-error")
    for i, flag in enumerate(flags):
        if flag == "-isystem" and Path(flags[i + 1]).is_relative_to(PROJECT):
            flags[i : i + 2] = ["-I" + flags[i + 1]]
    return flags


def main():
    build, folder, *wanted = map(Path, sys.argv[1:])
    wanted = {path.resolve() for path in wanted}
    database = json.loads((build / "compile_commands.json").read_text())
    entries = [(entry, shlex.split(entry["command"])) for entry in database]
    entries = [pair for pair in entries if any(sources_of(pair[0]))]
    bound, more_flags = binding()
    sources = sorted({path for entry, _ in entries for path in sources_of(entry)}.union(bound))
    if wanted:
        for path in sorted(wanted - set(sources)):
            print(f"tidy: {path} is not compiled in {build}", file=sys.stderr)
        sources = [path for path in sources if path in wanted]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    flags = [*flags_of(entries), *more_flags]
    unity_groups.read = read
    files = {}
    for path, group in unity_groups.groups(sources, MOST):
        files.setdefault(group, []).append(path)
    units = []
    for i, paths in enumerate(sorted(files.values(), key=len, reverse=True)):
        unit = folder.resolve() / f"unit_{i}.cpp"
        unit.write_text("".join(f'#include "{path}"\n' for path in paths))
        units.append({"directory": str(build.resolve()), "file": str(unit),
                      "arguments": [*flags, "-c", str(unit)]})
        print(unit)
    (folder / "compile_commands.json").write_text(json.dumps(units))


if __name__ == "__main__":
    main()
