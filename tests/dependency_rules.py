"""Checks the rules between the libraries.

    dependency_rules.py includes PROJECT
        the includes, and what only cli/ may do
    dependency_rules.py picture PROJECT
        draws them, as docs/architecture.md shows them
    dependency_rules.py alone PROJECT BUILD CMAKE LIBRARY...
        configures, installs and uses each library without the others, with the archives of BUILD
"""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

# What the files of a folder may include, beside the folder's own: the public headers of these.
ALLOWED = {
    "core": set(),
    "pe": {"core"},
    "syscall-map": {"core", "pe"},
    "ntfs": {"core"},
    "tracefile": {"core"},
    "schema-files": {"core", "pe", "tracefile"},
    "registry": {"core"},
}

# The parts of a folder that stand alone, without the rest of it: each a library with what it needs.
PARTS = {
    "core": {"core": set(), "where": {"core"}, "digests": {"core"}, "privacy": {"core"}},
    "pe": {"pe": {"core"}, "pdb": {"pe", "core"}},
    "syscall-map": {
        "signatures": {"pe", "core"},
        "syscall-map": {"signatures", "pdb", "pe", "core"},
    },
    "ntfs": {
        "ntfs": {"digests", "core"},
        "ntfs_query": {"ntfs", "digests", "where", "core"},
        "ntfs_privacy": {"ntfs", "digests", "privacy", "core"},
    },
    "tracefile": {
        "tracefile": {"where", "core"},
        "nt_trace_control": {"core"},
        "trace_analysis": {"tracefile", "where", "core"},
        "trace_export": {"trace_analysis", "tracefile", "where", "core"},
        "trace_synthesis": {"tracefile", "where", "core"},
    },
    "schema-files": {"schema_files": {"tracefile", "where", "pdb", "pe", "core"}},
    "registry": {"registry": {"core"}},
}

# For drivers, which have no use for the rest.
C_HEADERS = {
    "syscall-map": {"hook_table.h", "hook_table_open.h", "hook_table_types.h"},
    "tracefile": {"platform.h", "trace_file.h", "trace_writer.h"},
}

# Public headers that a user of the library has a use for, and that nothing else of the project includes: readers of one
# structure, stream or language, and what makes or tells a part of a larger answer.
FACES = {
    "ntfs/include/coldtrace/ntfs/bitlocker/bitlocker_image.hpp",
    "ntfs/include/coldtrace/ntfs/bitlocker/read_bitlocker.hpp",
    "ntfs/include/coldtrace/ntfs/structures/file_record.hpp",
    "pe/include/coldtrace/pdb/data_symbols.hpp",
    "pe/include/coldtrace/pdb/pdb_modules.hpp",
    "syscall-map/include/coldtrace/signatures/signature_builder.hpp",
    "syscall-map/include/coldtrace/signatures/signature_matcher.hpp",
    "syscall-map/include/coldtrace/syscall-map/hook-profiles/profile_parser.hpp",
    "syscall-map/include/coldtrace/syscall-map/member_values.hpp",
}

# What libraries know nothing of, nor one of them of another.
FRONTS = ("python", "cli")

# The packages that each library may ask for, beside those of the libraries it is built on.
PACKAGES = {
    "core": {"fmt", "tl-expected", "Boost"},
    "pe": set(),
    "syscall-map": {"Zydis", "Boost", "Threads"},  # Zydis asks for Threads
    "ntfs": {"Threads", "ZLIB"},
    "tracefile": {"Threads", "ZLIB", "pugixml", "Boost"},
    "schema-files": set(),
    "registry": set(),
}

FORBIDDEN_IN_LIBRARIES = {
    r"\bstd::w?(cout|cerr|clog)\b": "libraries do not print",
    r"\b(stdout|stderr|STD(OUT|ERR)_FILENO)\b": "libraries do not print",
    r"(?<![\w.>])(::|std::)?(write|pwrite|writev|send|dprintf)\s*\(\s*[12]\s*,": "libraries do not print",
    r"(?<![\w.>])(::|std::)?(v?f?w?printf|f?puts|f?putw?c|putw?char|fwrite|perror|v?syslog)\s*\(": "libraries do not print",
    r"\b(fmt|std)::print(ln)?\b": "libraries do not print",
    r"#\s*include\s*<(iostream|print|syslog\.h)>": "libraries do not print",
    r"(?<![\w.>])(::|std::)?((exit|_exit|quick_exit|abort|terminate)\s*\(|raise\s*\(\s*(SIG|\d))": "libraries do not exit",
    r"\b(__builtin_(trap|abort|unreachable)|std::unreachable)\s*\(": "libraries do not exit",
    r"(?<![\w.>])(BOOST_)?(assert|ASSERT)\s*\(|#\s*include\s*<(cassert|assert\.h)>": "libraries do not exit",
    r"#\s*include\s*[<\"](rapidjson|CLI)/": "libraries know neither JSON nor options",
    r"\bsto(i|l|ll|ul|ull|f|d|ld)\s*\(": "this throws: std::from_chars",
    r"(?<!\berror)(\.|->)value\(\)": "this throws: * behind a check, or value_or()",
    r"\bstd::(w?regex|any_cast)\b|\bdynamic_cast<[^;()]*&>": "this throws",
    r"\bfmt::runtime\b": "this throws where the text is none: a format that is checked when compiling",
}
# What has an at() of its own that throws nothing, by the names of the objects.
OWN_AT = {
    "arena_", "buffers", "events", "functions", "functions_", "intervals_", "known", "ours_", "pieces_", "registers",
    "target", "theirs_", "window_",
}
# Where a container is asked for a key that the same unit put there: no input changes what it has.
KNOWN_KEYS = {
    "ntfs/snapshot/record_table.cpp",
    "pe/types/member_regions.cpp",
    "schema-files/store_builder.cpp",
    "syscall-map/member-derivation/function_pairs.cpp",
    "syscall-map/service-tables/services_tab.cpp",
    "tracefile/analysis/scheduling/ready_stretches.cpp",
    "tracefile/analysis/waits/deadlocks.cpp",
    "tracefile/analysis/waits/inversions.cpp",
    "tracefile/analysis/waits/owner_chains.cpp",
    "tracefile/analysis/waits/stated_waits.cpp",
    "tracefile/etl/event_kind_tally.cpp",
    "tracefile/include/coldtrace/tracefile/ctrace/ctrace.hpp",
    "tracefile/schema-language/schema_compiler.cpp",
    "tracefile/synthesis/accounts.cpp",
    "tracefile/synthesis/wait_graph.cpp",
}
AT = r"(\w+)(?:\(\))?(?:\.|->)at\("
# Where something is thrown and does not leave: the same room catches it, the compiler evaluates it,
# or there is no memory, which is all that a library's user may have to catch. What is thrown again is that,
# or what the caller's own work threw.
THROWS = {
    "core/include/coldtrace/core/parallel.hpp",
    "ntfs/snapshot/packed.cpp",
    "syscall-map/hook-profiles/hook_profile.cpp",
    "syscall-map/hook-profiles/profile_builder.cpp",
    "syscall-map/member-lists/member_list_builder.cpp",
    "syscall-map/signatures/signature_builder.cpp",
    "syscall-map/signatures/signature_derivation.cpp",
    "syscall-map/stubs/stub_pattern.hpp",
    "tracefile/schema-language/schema_builder.cpp",
    "tracefile/synthesis/program.hpp",
    "core/where/where_builder.cpp",
}
THROW = r"\bthrow\b(?!\")|\b(re)?throw_(exception|with_nested|if_nested)\b"
FORBIDDEN_OUTSIDE_CORE = {r"\breinterpret_cast\b": "only core/ touches raw memory"}


def sources(folder):
    return sorted(
        path for path in folder.rglob("*") if path.suffix in (".hpp", ".cpp", ".inc", ".in")
    )


def without_comments(text):
    return re.sub(r"//.*", "", text)


def public_headers(project):
    """Where each public header belongs: its path, and the one that it would have in its room, which
    is the room whose CMakeLists.txt names it."""
    rooms = {}
    for folder, parts in PARTS.items():
        faces = {part: f"{folder}/include/coldtrace/{part}" for part in parts}
        for face in faces.values():
            rooms |= {str(header.relative_to(project)): None for header in (project / face).rglob("*.*")}
        for listing in sorted((project / folder).rglob("CMakeLists.txt")):
            room = listing.parent.relative_to(project)
            for part, names in rooms_added(listing):
                rooms |= {f"{faces[part]}/{name}": f"{room}/{name.split('/')[-1]}" for name in names}
    return rooms


def rooms_added(listing):
    """The libraries that a CMakeLists.txt adds a room to, each with the public headers of it."""
    text = without_hashes(listing.read_text())
    for part, room in re.findall(r"coldtrace_add_room\((\S+)\s([^)]*)\)", text):
        if "HEADERS" in room:
            yield part, re.findall(r"(?:[\w-]+/)?\b\w+\.(?:hpp|inc)\b", room.split("HEADERS")[1])


def without_hashes(text):
    return re.sub(r"#.*", "", text)


# What is included, whichever way: a name in quotes or angle brackets, or what else stands there.
INCLUDE = re.compile(r"^\s*#\s*(?:include|include_next|import)\b\s*(.*?)\s*$", re.M)
NAMED = re.compile(r'(["<])([^">]+)[">]')
# What the build writes, beside what it makes of a file with the ending .in.
GENERATED = {"cli/command/commit.hpp"}


def path_of(include):
    """Where a file lies that is included so: "coldtrace/pe/image.hpp" is in pe/include."""
    top, _, rest = include.partition("/")
    folders = [folder for folder, parts in PARTS.items()
               if rest.split("/")[0] in parts or rest in C_HEADERS.get(folder, ())]
    return f"{folders[0]}/include/{include}" if top == "coldtrace" and folders else include


def target_of(spelled, path, project):
    """The file of the project that an include of a file leads to, as a path from the top, with the rule
    that its spelling breaks or ""; no file where it is not of the project."""
    named = NAMED.fullmatch(spelled)
    if not named:
        return None, "what is included has no name in quotes or angle brackets"
    quoted, name = named[1] == '"', named[2]
    target, top = path_of(name), name.split("/")[0]
    known = [target, f"{target}.in"] if name not in GENERATED else [name]
    if ".." in pathlib.PurePath(name).parts or pathlib.PurePath(name).is_absolute():
        return None, "a path that does not go down from the top"
    if name in GENERATED or any((project / file).exists() for file in known):
        return target, "" if quoted or top == "coldtrace" else "angle brackets are for the files of others"
    if quoted or top == "coldtrace" or (project / top).is_dir():
        return None, "neither a public header nor a path from the top"
    return None, ""


def check_include(spelled, path, library, project, parts):
    """What rule an include breaks, or nothing."""
    own = path.relative_to(project)
    target, broken = target_of(spelled, path, project)
    if broken:
        return f"{spelled}: {broken}"
    if target is None:
        return None
    folder, public = target.split("/")[0], "/include/" in target
    part, needed = parts.get(str(own)), parts.get(target)
    if library and folder not in ALLOWED[library] | {library}:
        return f"{library} must not include {target}"
    if not library and folder not in (*ALLOWED, *FRONTS):
        return f"{target} is not part of the product"
    if folder in ALLOWED and folder != library and not public:
        return f"{target} is not public"
    if folder in FRONTS and folder != own.parts[0]:
        return f"{target} is of another program"
    if "include" in own.parts and not public:
        return f"a public header must not include {target}"
    if part and needed and needed not in PARTS[library][part] | {part}:
        return f"{part} must not include {target}, which is of {needed}"
    return None


def parts_of(project):
    """Which part of its folder each source and public header is of, by the lists of the rooms, and each
    internal header: that of the source of its name, or of its room."""
    parts = {}
    for folder in PARTS:
        for listing in sorted((project / folder).rglob("CMakeLists.txt")):
            room, rooms = listing.parent, {}
            for part, listed in re.findall(r"coldtrace_add_room\((\S+)\s([^)]*)\)", without_hashes(listing.read_text())):
                sources_of, _, headers = listed.partition("HEADERS")
                for name in re.findall(r"[\w/.-]+\.cpp\b", sources_of):
                    rooms[str((room / name).relative_to(project).with_suffix(""))] = part
                for name in re.findall(r"[\w/-]+\.(?:hpp|inc)\b", headers):
                    parts[f"{folder}/include/coldtrace/{part}/{name}"] = part
            for path in sources(room):
                own = path.relative_to(project)
                stem = str(own).split(".")[0]
                if path.parent == room and (stem in rooms or len(set(rooms.values())) == 1):
                    parts[str(own)] = rooms.get(stem) or next(iter(rooms.values()))
    return parts


def check_file(path, library, project, parts):
    """Yields a sentence for each broken rule."""
    own = path.relative_to(project)
    rules = {} if library == "core" else dict(FORBIDDEN_OUTSIDE_CORE)
    if library:
        rules |= FORBIDDEN_IN_LIBRARIES
    if library and str(own) not in THROWS:
        rules[THROW] = "libraries do not throw"
    text = path.read_text(encoding="utf-8")
    rules = {pattern: reason for pattern, reason in rules.items() if re.search(pattern, text, re.M)}
    for number, line in enumerate(text.splitlines(), 1):
        code = without_comments(line)
        where = f"{own}:{number}"
        include = INCLUDE.match(code)
        broken = include and check_include(include[1], path, library, project, parts)
        if broken:
            yield f"{where}: {broken}"
        for pattern, reason in rules.items():
            if re.search(pattern, code):
                yield f"{where}: {reason}: {line.strip()}"
        if library and str(own) not in KNOWN_KEYS and set(re.findall(AT, code)) - OWN_AT:
            yield f"{where}: this throws: find(), or an index behind a check: {line.strip()}"


def project_includes(project):
    """Which files of the project each file includes, by their paths from its top, public headers by
    those in their rooms."""
    graph, rooms = {}, public_headers(project)
    homeless = sorted(header for header, room in rooms.items() if room is None)
    if homeless:
        sys.exit(f"no CMakeLists.txt names {homeless}")
    for part in (*ALLOWED, *FRONTS):
        for path in sources(project / part):
            text = without_comments(path.read_text(encoding="utf-8"))
            targets = {target_of(spelled, path, project)[0] for spelled in INCLUDE.findall(text)} - {None}
            own = str(path.relative_to(project))
            graph[rooms.get(own, own)] = {rooms.get(target, target) for target in targets}
    return graph


def header_users(project):
    """Which files of other parts of the project, and which public headers of its own library, include each public header."""
    users = {header: set() for header in public_headers(project)}
    for part in (*ALLOWED, *FRONTS, "examples"):
        for path in sources(project / part):
            own = str(path.relative_to(project))
            for spelled in INCLUDE.findall(without_comments(path.read_text(encoding="utf-8"))):
                target = target_of(spelled, path, project)[0]
                if target in users and (own in users or target.split("/")[0] != part):
                    users[target].add(own)
    return users


def check_faces(users, faces):
    """What only its own library needs is no public header."""
    for header, found in sorted(users.items()):
        if not found and header not in faces:
            yield f"{header}: nothing outside of its library includes it: move it to its room, or name it in FACES"
    for header in sorted(faces):
        if users.get(header, True):
            yield f"{header}: it is in FACES, and is included, or not there"


def merged(graph, name_of):
    """The graph of what `name_of` makes of its files, without edges to themselves."""
    result = {}
    for source, targets in graph.items():
        edges = result.setdefault(name_of(source), set())
        edges |= {name_of(target) for target in targets} - {name_of(source)}
    return result


def find_cycle(graph):
    """A cycle as a list of names, or nothing."""
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name) :] + [name]
        if name in done:
            return None
        path.append(name)
        for target in sorted(graph.get(name, ())):
            cycle = visit(target)
            if cycle:
                return cycle
        done.add(path.pop())
        return None

    for name in sorted(graph):
        cycle = visit(name)
        if cycle:
            return cycle
    return None


def check_cycles(graph):
    """Yields a sentence when rooms need each other, or units of one room do. A room is a folder, a
    unit what one header and its source define."""
    rooms = merged(graph, lambda file: str(pathlib.PurePath(file).parent))
    units = merged(graph, lambda file: re.sub(r"(\.cpp)?\.\w+$", "", file))
    for what, part in (("rooms", rooms), ("units", units)):
        cycle = find_cycle(part)
        if cycle:
            yield f"{what} need each other: {' -> '.join(cycle)}"


UNNAMED = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.M | re.S)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.M)
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class)?) (?:\[\[nodiscard\]\] )?(\w+)\b(?!::)[^;{()]*\{", re.M)


def check_types(texts):
    """One name of one namespace means one type: of two the linker takes one for both, in silence."""
    places = collections.defaultdict(set)
    for path, text in texts:
        text = UNNAMED.sub("", text)
        namespace = NAMESPACE.search(text)
        for name in TYPE.findall(text) if namespace else ():
            places[f"{namespace[1]}::{name}"].add(str(path))
    if not places:
        return ["no type is seen"]
    return [f"{name} is defined in {' and '.join(sorted(paths))}"
            for name, paths in sorted(places.items()) if len(paths) > 1]


MOST_FILES = 50  # of a folder, beside those below it


def check_folders(paths, rooms):
    """Folders that nobody surveys, public headers in a folder of another name than their room's, and rooms
    some of whose public headers of one library are in a folder and some not."""
    counts = collections.Counter(str(path.parent) for path in map(pathlib.PurePath, paths))
    broken = [f"{folder}: {count} files want rooms" for folder, count in counts.items() if count > MOST_FILES]
    faces = {}
    for header, room in rooms.items():
        face, _, inside = header.partition("/include/coldtrace/")
        folder = pathlib.PurePath(inside).parent.name if inside.count("/") > 1 else None
        if folder and folder != pathlib.PurePath(room).parent.name:
            broken.append(f"{header}: its room is {room}")
        if faces.setdefault((room and pathlib.PurePath(room).parent, inside.split("/")[0]), folder) != folder and room:
            broken.append(f"{header}: not where the other public headers of its room are")
    return broken


def check_listings(listings, texts):
    """Lists that are not sorted or have several files on a line, sources that none names, and files without
    anything in them."""
    listed = set()
    for listing, text in listings:
        folder = pathlib.PurePath(listing).parent
        for part in re.findall(r"\b(?:SOURCES|HEADERS)\b(.*?)(?=\b[A-Z]{4,}\b|\))", without_hashes(text), re.S):
            names = re.findall(r"[\w./-]+\.\w+", part)
            for line in part.splitlines():
                if len(re.findall(r"[\w./-]+\.\w+", line)) > 1:
                    yield f"{listing}: several files on one line: {line.strip()}"
            if names != sorted(names):
                first = next(name for name, right in zip(names, sorted(names)) if name != right)
                yield f"{listing}: not sorted from {first} on"
        listed |= {str(folder / name) for name in re.findall(r"[\w./-]+\.cpp\b", without_hashes(text))}
    for path, text in texts:
        if not text.strip():
            yield f"{path}: an empty file"
        if path.suffix == ".cpp" and str(path) not in listed:
            yield f"{path}: no CMakeLists.txt names it"


# Rooms of tests that mirror none, and why.
OWN_TEST_ROOMS = {
    "cli/trace/golden": "what traces were made to in an earlier version",
    "syscall-map/hook-table/reader_1_0": "the reader of hook tables as drivers had it in version 1.0",
}
# Scripts that another script of the room runs.
RUN_BY_OTHERS = {"objdump_oracle.py"}


def check_mirror(project, folders, files):
    """Yields a sentence for each room of tests without the room that it is about, each test that its room's
    CMakeLists.txt does not name in order, and each script that neither a list nor another test names."""
    texts = {file: text for file, text in files.items() if file.suffix == ".py"}
    for folder in folders:
        if str(folder) not in OWN_TEST_ROOMS and not (project / folder).is_dir():
            yield f"tests/{folder}: there is no {folder}"
    for file in files:
        listing = without_hashes(files.get(file.parent / "CMakeLists.txt", ""))
        above = without_hashes(files.get(file.parent.parent / "CMakeLists.txt", ""))
        listed = file.name in listing or f"{file.parent.name}/{file.name}" in above
        if file.suffix == ".cpp" and not listed and f"coldtrace_add_maker({file.stem}" not in listing:
            yield f"tests/{file}: no CMakeLists.txt of its room names it"
        if file.suffix == ".py" and not listed and file.name not in RUN_BY_OTHERS:
            if not any(re.search(rf"^\s*(from|import) .*\b{file.stem}\b", text, re.M) for text in texts.values()):
                yield f"tests/{file}: no test"
        if file.name == "CMakeLists.txt":
            scripts = re.findall(r"coldtrace_add_(?:script|check)\(\s*\"[^\"]*\"\s+(\S+\.py)", without_hashes(files[file]))
            units = re.findall(r"target_sources\(\w+ PRIVATE\s([^)]*)\)", without_hashes(files[file]))
            for names in (scripts, *(re.findall(r"[\w./-]+\.cpp", part) for part in units)):
                if names != sorted(names):
                    yield f"tests/{file}: not sorted: {' '.join(names)}"


MOST_LINES = 90  # of a function
USING = re.compile(r"^using ([\w:]+::)(\w+);", re.M)


def check_functions(texts):
    """Functions that are too long to be seen whole, and names that are brought in and not used. clang-tidy
    knows both, and took an eighth of its time for them."""
    for path, text in texts:
        head = None
        for number, line in enumerate(text.splitlines(), 1):  # as clang-format leaves them
            if line == "}" and head and (lines := number - head[0] - 1) > MOST_LINES:
                yield f"{path}: a function of {lines} lines: {head[1]}"
            if not line.startswith((" ", "#", "//")) and line:
                head = (number, line) if "(" in line and line[0] != "}" else None
        for _, name in USING.findall(text):
            if path.suffix == ".cpp" and len(re.findall(rf"\b{name}\b", without_comments(text))) < 2:
                yield f"{path}: nothing uses {name}"


CLASS = re.compile(r"^( *)(?:class|struct) (?:[\w:]+::)?(\w+)[^;{}]*\{$(.*?)^\1\};", re.M | re.S)
KEPT = re.compile(r"^ *const ([\w:]+(?:<[^;&*]*>)?)[&*] \w+_(?: = nullptr)?;", re.M)

# Views that are kept, and what is given for them: a container that is a temporary becomes one too.
VIEW = r"std::span<const [^;()]*?>|(?:core::)?ByteView|std::string_view"
KEPT_VIEW = re.compile(rf"^ *(?:const )?(?:{VIEW}) \w+_(?: = [^;()]*|\{{\}})?;", re.M)

# Who keeps the one may have been given the other.
GIVEN_WITH = {"Image": {"Image", "ImageTables", "KernelView"}}
NEVER_TEMPORARY = {"LazyFile"}  # held by pointers alone: it can be neither copied nor moved

# A member of a structure that callers fill in, and those of structures that only the library makes, for a callback.
REFERRED = re.compile(r"^ *const [\w:]+(?:<[^;&]*>)?& (\w*[^\W_]);", re.M)
LENT_TO_CALLBACKS = {"Observed", "Stacked", "Row"}


def check_lifetimes(headers):
    """Public constructors, and static functions that return the class, that take a plain reference of
    what their class keeps one or a pointer to, or a view where it keeps one: a temporary would compile, and
    dangle. One that converts on purpose has an overload for temporaries, deleted. A plain reference in a structure
    would hide the same from its constructor."""
    for path, text in headers:
        for found in REFERRED.finditer(text):
            within = re.findall(r"^ *(?:class|struct) (\w+)[^;{]*\{$", text[:found.start()], re.M)
            if within and within[-1] not in LENT_TO_CALLBACKS:
                yield f"{path}: {within[-1]}::{found[1]} may be of a temporary: core::Borrowed"
        for _, name, body in CLASS.findall(text):
            public = body.split("private:")[0]
            given = rf"\((?:[^()]*,)?\s*(?:{VIEW}) \w+"
            if KEPT_VIEW.search(body) and not re.search(rf"\b{name}\(std::(?:vector<[^()]*>|string)&&\) = delete", public):
                if re.search(rf"\b{name}{given}|static [^;()]*\b{name}\b[^;()]*{given}", public):
                    yield f"{path}: {name} keeps a view that may be of a temporary: core::BorrowedSpan"
            members = {kept.split("::")[-1] for kept in KEPT.findall(body)} - NEVER_TEMPORARY
            for kept in sorted({given for member in members for given in GIVEN_WITH.get(member, {member})}):
                plain = rf"\b{name}\((?:[^()]*,)?\s*const (?:\w+::)*{re.escape(kept)}& \w+"
                deleted = rf"\b{name}\((?:const )?(?:\w+::)*{re.escape(kept)}&&\) = delete"
                factory = rf"static [^;()]*\b{name}\b[^;()]*\((?:[^()]*,)?\s*const (?:\w+::)*{re.escape(kept)}& \w+"
                if re.search(factory, public) or (re.search(plain, public) and not re.search(deleted, public)):
                    yield f"{path}: {name} keeps a {kept} that may be a temporary: core::Borrowed"


PART_OF_TEXT = re.compile(
    r"^\[\[nodiscard\]\] (?:constexpr |inline )*(?:std::optional<)?std::string_view>? (?!find_)(\w+)\(std::string_view ", re.M)


# What they give is of a table, not of the bytes.
NO_PART = {"keyword_of"}
PART_OF_BYTES = re.compile(
    r"^\[\[nodiscard\]\] (?:constexpr |inline )*(?:std::optional<)?(?:std::string_view|(?:core::)?ByteView)>? (\w+)\("
    r"(?:core::)?ByteView ", re.M)


def check_views(headers):
    """Free functions of public headers that give a view of the text or the bytes they are given: of those that
    end with the statement they are deleted. What `find_` finds for a text is of a table."""
    for path, text in headers:
        for name in sorted(set(PART_OF_BYTES.findall(text)) - NO_PART):
            if not re.search(rf"^template <(?:core::)?TemporaryBytes T>\n[^\n]* {name}\(T&&(?:, [^()]*)?\) = delete;", text, re.M):
                yield f"{path}: {name} gives a view of bytes that may be temporary: core::TemporaryBytes"
        for name in PART_OF_TEXT.findall(text):
            if not re.search(rf"^template <(?:core::)?TemporaryText T>\n[^\n]* {name}\(T&&(?:, [^()]*)?\) = delete;", text, re.M):
                yield f"{path}: {name} gives a view of a text that may be a temporary: core::TemporaryText"


def check_rules_notice():
    """The search for cycles finds one, and none where there is none; so does that for types."""
    good = {"a/x.hpp": {"b/y.hpp"}, "a/z.cpp": {"a/x.hpp"}, "b/y.hpp": set()}
    rooms = good | {"b/y.hpp": {"a/w.hpp"}}
    units = good | {"a/x.cpp": {"a/z.hpp"}}
    assert not list(check_cycles(good))
    assert len(list(check_cycles(rooms))) == 1
    assert len(list(check_cycles(units))) == 1
    for code in ("throw Error{};", "throw;", "std::rethrow_exception(it);", "std::throw_with_nested(it);"):
        assert re.search(THROW, code), code
    for code in ('"struct", "throw",', "first.rethrow();", "void throws();"):
        assert not re.search(THROW, code), code
    types = "namespace n {\n%s\nstruct Same {\n  int x;\n};\n%s\n}  // namespace n\n"
    own = types % ("namespace {\n", "}  // namespace\n")
    assert not check_types([("a.hpp", types % ("", "")), ("b.cpp", own)])
    assert len(check_types([("a.hpp", types % ("", "")), ("b.hpp", types % ("", ""))])) == 1
    long = "int f(\n    int x) {\n%s  return x;\n}\n"
    assert not list(check_functions([(pathlib.PurePath("a.cpp"), long % ("  ++x;\n\n" * 44))]))
    assert len(list(check_functions([(pathlib.PurePath("a.cpp"), long % ("  ++x;\n\n" * 46))]))) == 1
    assert len(list(check_functions([(pathlib.PurePath("a.cpp"), "using core::Name;\n// Name\n")]))) == 1
    keeps = "class A {\n public:\n  explicit A(%s b);\n%s\n private:\n  const n::B& b_;\n};\n"
    assert len(list(check_lifetimes([("a.hpp", keeps % ("const B&", ""))]))) == 1
    assert not list(check_lifetimes([("a.hpp", keeps % ("Borrowed<B>", ""))]))
    assert not list(check_lifetimes([("a.hpp", keeps % ("const B&", "  explicit A(B&&) = delete;"))]))
    listing, files = "coldtrace_add_room(a\n  SOURCES\n%s  HEADERS\n    c.hpp)", [(pathlib.PurePath("a/b.cpp"), "int x;")]
    assert not list(check_listings([("a/CMakeLists.txt", listing % "    a.cpp\n    b.cpp\n")], files))
    assert len(list(check_listings([("a/CMakeLists.txt", listing % "    b.cpp\n    a.cpp\n")], files))) == 1
    assert len(list(check_listings([("a/CMakeLists.txt", listing % "    a.cpp\n")], files))) == 1
    assert len(list(check_listings([("a/CMakeLists.txt", listing % "    a.cpp b.cpp\n")], files))) == 1
    assert len(list(check_listings([], [(pathlib.PurePath("a/b.hpp"), "\n")]))) == 1
    filled = "struct %s {\n  const n::B<C>& b;\n};\n"
    assert len(list(check_lifetimes([("a.hpp", filled % "A")]))) == 1
    assert not list(check_lifetimes([("a.hpp", filled % "Row")]))
    assert not list(check_lifetimes([("a.hpp", filled.replace("const n::B<C>&", "core::Borrowed<n::B<C>>") % "A")]))
    points = keeps.replace("const n::B& b_", "const n::B* b_ = nullptr")
    assert len(list(check_lifetimes([("a.hpp", points % ("const B&", ""))]))) == 1
    made = points % ("int", "  static Result<A> of_file(%s file, int x);")
    assert len(list(check_lifetimes([("a.hpp", made % "const B&")]))) == 1
    assert not list(check_lifetimes([("a.hpp", made % "Borrowed<B>")]))
    made = made.replace("n::B*", "pe::Image*")
    assert len(list(check_lifetimes([("a.hpp", made % "const ImageTables&")]))) == 1
    assert not list(check_lifetimes([("a.hpp", made % "Borrowed<ImageTables>")]))
    room, add = pathlib.PurePath("cli/pe"), 'coldtrace_add_script("a: %s" %s.py)\n'
    listing = {room / "CMakeLists.txt": add % ("x", "a") + add % ("y", "b"), room / "a.py": "import c", room / "b.py": "", room / "c.py": ""}
    here = pathlib.Path(__file__).resolve().parent.parent
    assert not list(check_mirror(here, [room], listing))
    assert len(list(check_mirror(here, [room / "none"], listing | {room / "d.py": ""}))) == 2
    assert len(list(check_mirror(here, [], {room / "CMakeLists.txt": add % ("x", "b") + add % ("y", "a")}))) == 1
    assert len(list(check_mirror(here, [], {room / "CMakeLists.txt": "", room / "a_test.cpp": ""}))) == 1
    views = "class A {\n public:\n  explicit A(%s b);\n%s\n private:\n  %s b_;\n};\n"
    for view in ("core::ByteView", "std::span<const n::B* const>", "std::string_view"):
        assert len(list(check_lifetimes([("a.hpp", views % (view, "", view))]))) == 1
        assert not list(check_lifetimes([("a.hpp", views % (view, "", "n::B"))]))
        assert not list(check_lifetimes([("a.hpp", views % (view, "  explicit A(std::vector<B>&&) = delete;", view))]))
        assert not list(check_lifetimes([("a.hpp", views % ("core::BorrowedSpan<B>", "", view))]))
        made = "  static Result<A> read(%s view);" % view
        assert len(list(check_lifetimes([("a.hpp", views % ("int", made, view))]))) == 1
    part = "[[nodiscard]] std::string_view %s(std::string_view text);\n"
    deleted = "template <core::TemporaryText T>\nstd::string_view f(T&&) = delete;\n"
    assert len(list(check_views([("a.hpp", part % "f")]))) == 1
    assert len(list(check_views([("a.hpp", part % "g" + deleted)]))) == 1
    assert not list(check_views([("a.hpp", part % "f" + deleted), ("a.hpp", part % "find_f")]))
    part = part.replace("text", "bytes").replace("std::string_view bytes", "core::ByteView bytes")
    for gives in "std::string_view", "core::ByteView", "std::optional<core::ByteView>":
        given = part.replace("std::string_view", gives, 1)
        assert len(list(check_views([("a.hpp", given % "find_f")]))) == 1
        assert not list(check_views([("a.hpp", given % "f" + deleted.replace("Text", "Bytes"))]))
    assert not list(check_faces({"a/x.hpp": {"b/y.cpp"}, "a/z.hpp": set()}, {"a/z.hpp"}))
    assert len(list(check_faces({"a/x.hpp": set(), "a/z.hpp": {"b/y.cpp"}}, {"a/z.hpp", "a/w.hpp"}))) == 3
    flat, deep = "a/include/coldtrace/a/x.hpp", "a/include/coldtrace/a/b/x.hpp"
    assert not check_folders([f"a/{i}.cpp" for i in range(MOST_FILES)], {flat: "a/c/x.hpp", deep: "a/b/x.hpp"})
    assert len(check_folders([f"a/{i}.cpp" for i in range(MOST_FILES + 1)], {deep: "a/c/x.hpp"})) == 2
    assert len(check_folders([], {flat: "a/b/y.hpp", deep: "a/b/x.hpp"})) == 1


PICTURE = ("```mermaid\nflowchart BT\n", "```\n")


def picture(project):
    """The libraries with their rooms, and what they include, as docs/architecture.md shows them."""
    rooms, needs = {}, {}
    for folder in (*ALLOWED, *FRONTS):
        listed = [path.parent for path in (project / folder).glob("**/CMakeLists.txt")]
        rooms[folder] = sorted({path.relative_to(project / folder).parts[0] for path in listed if path != project / folder})
        texts = "".join(path.read_text(encoding="utf-8") for path in sources(project / folder))
        names = [named[2] for named in map(NAMED.match, INCLUDE.findall(texts)) if named]
        included = {path_of(name).split("/")[0] for name in names}
        needs[folder] = included & set(ALLOWED) - {folder}
    closure = {name: set().union(*(ALLOWED[need] for need in found)) for name, found in needs.items()}
    lines = []
    for folder, names in rooms.items():
        rows = textwrap.wrap(", ".join(names), 80, break_on_hyphens=False) if names else []
        lines.append(f'  {folder}["{"<br>".join([f"<b>{folder}</b>", *rows])}"]\n')
    lines += [f"  {folder} --> {need}\n" for folder, found in needs.items() for need in sorted(found - closure[folder])]
    return "".join((PICTURE[0], *lines, PICTURE[1]))


def check_picture(project):
    if picture(project) not in (project / "docs/architecture.md").read_text(encoding="utf-8"):
        yield "docs/architecture.md: the picture is not what `dependency_rules.py picture PROJECT` draws"


def check_includes(project):
    check_rules_notice()
    broken = [
        f"{path.parent.name}: a library without a rule here"
        for path in project.glob("*/CMakeLists.txt")
        if "coldtrace_add_library(" in path.read_text() and path.parent.name not in ALLOWED
    ]
    count, parts = 0, parts_of(project)
    for library in (*ALLOWED, *FRONTS):
        for path in sources(project / library):
            count += 1
            rules_of = library if library in ALLOWED else None
            broken += check_file(path, rules_of, project, parts)
    broken += check_cycles(project_includes(project))
    broken += check_folders([path.relative_to(project)
                             for folder in (*ALLOWED, *FRONTS, "fixtures", "tests", "bench", "fuzz")
                             for path in (*sources(project / folder), *(project / folder).rglob("*.py"))],
                            public_headers(project))
    broken += check_types((path.relative_to(project), path.read_text())
                          for library in (*ALLOWED, *FRONTS) for path in sources(project / library))
    broken += check_functions((path.relative_to(project), path.read_text())
                              for library in (*ALLOWED, *FRONTS) for path in sources(project / library))
    broken += check_listings(
        [(path.relative_to(project), path.read_text()) for folder in (*ALLOWED, *FRONTS)
         for path in (project / folder).rglob("CMakeLists.txt")],
        [(path.relative_to(project), path.read_text()) for folder in (*ALLOWED, *FRONTS)
         for path in sources(project / folder)])
    tests = [path.relative_to(project / "tests") for path in (project / "tests").rglob("*") if "__pycache__" not in path.parts]
    broken += check_mirror(project, [path for path in tests if (project / "tests" / path).is_dir()],
                           {path: (project / "tests" / path).read_text() for path in tests
                            if path.suffix in (".py", ".cpp") or path.name == "CMakeLists.txt"})
    c_headers = {f"{folder}/include/coldtrace/{name}" for folder, names in C_HEADERS.items() for name in names}
    broken += check_faces({header: users for header, users in header_users(project).items() if header not in c_headers}, FACES)
    broken += check_picture(project)
    broken += check_views((header, (project / header).read_text()) for header in sorted(public_headers(project)))
    broken += check_lifetimes((header, (project / header).read_text()) for header in sorted(public_headers(project)))
    print("\n".join(broken) or f"{count} files, no rule broken")
    return not broken and count > 0


def run(*command):
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    if done.returncode != 0:
        print(done.stdout)
        sys.exit(f"failed: {' '.join(str(part) for part in command)}")
    return done.stdout


CONSUMERS = """cmake_minimum_required(VERSION 3.25)
project(consumers CXX)
"""
# What one directory finds, another has to find for itself.
CONSUMER = """set(CMAKE_PREFIX_PATH {prefix})
unset(coldtrace_DIR CACHE)
{hidden}
find_package(coldtrace REQUIRED COMPONENTS {part})
add_executable({name} main.cpp)
# All of it, so that whatever it needs must be found as well.
target_link_libraries({name} $<LINK_LIBRARY:WHOLE_ARCHIVE,coldtrace::{part}>)
"""


FAST = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"]


def hidden_packages(library):
    """For each package, the variable by which find_package finds none but the library's."""
    needed = set().union(*(PACKAGES[part] for part in ALLOWED[library] | {library}))
    everything = set().union(*PACKAGES.values())
    return {
        f"CMAKE_DISABLE_FIND_PACKAGE_{package}": "OFF" if package in needed else "ON"
        for package in sorted(everything)
    }


def library_sources(build, project, libraries):
    commands = json.loads((build / "compile_commands.json").read_text())
    files = {pathlib.Path(command["file"]) for command in commands}
    for unit in [file for file in files if "Unity" in file.parts]:
        files.update(map(pathlib.Path, re.findall(r'^#include "(.*)"$', unit.read_text(), re.M)))
    return sorted(file for file in files if any(project / part in file.parents for part in libraries))


def take_archives(project, libraries, built, build):
    """What was compiled once is what it would be alone, where the sources are the same."""
    alone = library_sources(build, project, libraries)
    if not alone or alone != library_sources(built, project, libraries):
        sys.exit(f"{sorted(libraries)} alone have other sources than together")
    for library in libraries:
        (build / library).mkdir(parents=True, exist_ok=True)
        for archive in (built / library).glob("libcoldtrace_*.a"):
            shutil.copy2(archive, build / library)


def install_alone(project, built, library, cmake, folder):
    """The library and what it needs, nothing else: where that is installed."""
    build = folder / library / "build"
    prefix = folder / library / "prefix"
    run(
        cmake, "-S", project, "-B", build, *FAST,
        *(f"-D{name}={value}" for name, value in hidden_packages(library).items()),
        f"-DCOLDTRACE_ONLY={library}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
    )
    take_archives(project, ALLOWED[library] | {library}, built, build)
    run(cmake, "--install", build, "--prefix", prefix)

    archives = {path.stem.removeprefix("libcoldtrace_") for path in prefix.rglob("lib*.a")}
    expected = {
        part.replace("-", "_") for folder in ALLOWED[library] | {library} for part in PARTS[folder]
    }
    if archives != expected:
        sys.exit(f"installed are {sorted(archives)}, expected {sorted(expected)}")
    return prefix


def part_headers(project, library, part):
    """The public headers that the rooms of a library add to one of its parts."""
    for listing in sorted((project / library).rglob("CMakeLists.txt")):
        for name, headers in rooms_added(listing):
            if name == part:
                for header in headers:
                    if header.endswith(".hpp"):
                        yield f"coldtrace/{part}/{header}"


def add_consumer(project, library, part, prefix, own, seen):
    """A program that finds the installed part of a library and includes all its headers; the same headers
    once: a second program with them finds and links, and compiles nothing."""
    headers = sorted(part_headers(project, library, part))
    missing = [header for header in headers if not (prefix / "include" / header).exists()]
    if missing or not headers:
        sys.exit(f"{part}: not installed are {missing or 'any headers'}")
    texts = [(prefix / "include" / header).read_bytes() for header in headers]
    known = seen.setdefault(part, texts)
    if known != texts:
        sys.exit(f"{part}: what is installed alone and together is not the same")
    if known is not texts:
        headers = []
    own.mkdir()
    includes = "".join(f"#include <{header}>\n" for header in headers)
    (own / "main.cpp").write_text(f"{includes}\nint main() {{}}\n")
    hidden = "\n".join(f"set({name} {value})" for name, value in hidden_packages(library).items())
    (own / "CMakeLists.txt").write_text(
        CONSUMER.format(name=own.name, part=part, prefix=prefix, hidden=hidden)
    )
    print(f"{own.name}: {len(headers)} headers")


def check_alone_and_together(project, built, libraries, cmake, folder):
    """Each part, of its library alone and of all installed in one place, asks for its own packages
    and no others."""
    together = folder / "together"
    run(cmake, "--install", built, "--prefix", together, "--component", "libraries")
    consumers = folder / "consumers"
    consumers.mkdir()
    seen = {}
    for library in libraries:
        alone = install_alone(project, built, library, cmake, folder)
        for part in PARTS[library]:
            add_consumer(project, library, part, alone, consumers / f"{part}_alone", seen)
            add_consumer(project, library, part, together, consumers / f"{part}_together", seen)
    names = sorted(path.name for path in consumers.iterdir())
    added = "".join(f"add_subdirectory({name})\n" for name in names)
    (consumers / "CMakeLists.txt").write_text(CONSUMERS + added)
    run(cmake, "-S", consumers, "-B", folder / "used", *FAST)
    run(cmake, "--build", folder / "used")
    if not names or any(not (folder / "used" / name / name).exists() for name in names):
        sys.exit("not every consumer was built")


def main():
    what, project = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if what == "includes":
        sys.exit(0 if check_includes(project) else 1)
    if what == "picture":
        sys.exit(print(picture(project), end=""))
    with tempfile.TemporaryDirectory(prefix="coldtrace-alone-") as name:
        built, cmake, libraries = pathlib.Path(sys.argv[3]), sys.argv[4], sys.argv[5:]
        check_alone_and_together(project, built, libraries, cmake, pathlib.Path(name))


if __name__ == "__main__":
    main()
