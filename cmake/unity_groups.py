"""Says which source files may be compiled as one, for unity builds.

    unity_groups.py MOST < FILES      a line "TARGET FILE" each; prints "TARGET FILE GROUP"

What an unnamed namespace, "static" or #define names is its file's own. Where such a name is a word of
another file at all, be it a member or a local variable, the two are not compiled as one: no name
means anything else for its neighbours. What using-declarations bring is shared by those that bring the
same. So it is with the names of a namespace that a file uses whole: those that use the same are compiled
as one. A table that a file includes within a namespace is part of it; one that includes anything else
there stands alone.
"""

import collections
import pathlib
import re
import sys

NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S
)
# As clang-format leaves them.
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
ENUMERATORS = re.compile(r"^enum (?!class)[^{;]*\{([^}]*)\}", re.M)
STATIC = re.compile(r"^static (.*?[;{])", re.M | re.S)
USED = re.compile(r"^using namespace ([\w:]+);", re.M)
BROUGHT = re.compile(r"^using ([\w:]+::(\w+));", re.M)
INCLUDED = re.compile(r'^#include (?:"([^"\n]*\.inc)")?.*$', re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|\[\[|\]\]|\S")
OPENING, CLOSING = {"(", "{", "[", "[["}, {")", "}", "]", "]]"}


def declared(code):
    """The names that the outermost declarations of a piece of code declare, but for using-declarations."""
    depth = angles = 0
    name = qualified = None
    done = is_using = is_template = False
    for token in TOKEN.findall(code):
        if depth == 0 and not done:
            if token == "<":
                angles += 1
            elif token == ">":
                angles -= 1
                if is_template and angles == 0:
                    is_template, name = False, None
            elif angles == 0 and token == "template":
                is_template = True
            elif angles == 0 and token != "final" and (token[0].isalpha() or token[0] == "_"):
                is_using |= token == "using"
                qualified = name == "::"
                name = token
            elif angles == 0 and token == "::":
                name = "::"
            elif angles == 0 and token in {"(", "{", "=", "[", ";", ":"} and name:
                # static_assert and TEST_CASE declare nothing.
                if name not in {"::", "static_assert", "TEST_CASE"} and not qualified:
                    if not is_using or token == "=":
                        yield name
                done = True
        if token in OPENING:
            depth += 1
        elif token in CLOSING:
            depth -= 1
        if depth == 0 and token in {";", "}"}:
            name = qualified = None
            angles = 0
            done = is_using = is_template = False


def tables_in_place(path, text):
    """The text with the tables (*.inc) that it includes within a namespace, or nothing if they are not all
    there is included."""
    at = re.search(r"^namespace ", text, re.M)
    at = at.start() if at else len(text)

    def table(match):
        folders = pathlib.Path(path).resolve().parents if match[1] else ()
        found = next((each for each in (folder / match[1] for folder in folders) if each.is_file()), None)
        inner = found.read_text(encoding="utf-8") if found else "#include"
        whole.append(not re.search(r"^#include", inner, re.M))
        return inner

    whole = []
    text = text[:at] + INCLUDED.sub(table, text[at:])
    return text if all(whole) else None


def read(path):
    """What files compiled with this one have to share; the names that are its own, and which of another
    namespace each stands for, if any; all its words."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    placed = tables_in_place(path, text)
    text = placed or text
    unnamed = [DIRECTIVE.sub("", NOISE.sub(" ", piece)) for piece in UNNAMED.findall(text)]
    text = NOISE.sub(" ", text)
    shared = path if placed is None else frozenset(USED.findall(text))
    own = dict.fromkeys(MACRO.findall(text))
    text = DIRECTIVE.sub("", text)
    for piece in unnamed + STATIC.findall(text):
        own |= dict.fromkeys(declared(piece))
        for enumerators in ENUMERATORS.findall(piece):
            own |= dict.fromkeys(re.findall(r"(?:^|,)\s*(\w+)", enumerators))
        own |= {name: path for path, name in BROUGHT.findall(piece)}
    return shared, own, set(re.findall(r"[A-Za-z_]\w*", text)) | own.keys()


Group = collections.namedtuple("Group", "shared paths own words")


def clash(own, words, others, their_words):
    """Whether a name that is one's own is a word of the other's, and not the same name brought by both."""
    return any(
        own.get(name) is None or own.get(name) != others.get(name)
        for name in (own.keys() & their_words) | (others.keys() & words)
    )


def groups(paths, most):
    """Each path with the number of its group: the fullest that takes it."""
    found = []
    for path in paths:
        shared, own, words = read(path)
        fitting = [
            group
            for group in found
            if shared == group.shared
            and len(group.paths) < most
            and not clash(own, words, group.own, group.words)
        ]
        if fitting:
            group = max(fitting, key=lambda group: len(group.paths))
        else:
            group = Group(shared, [], {}, set())
            found.append(group)
        group.paths.append(path)
        group.own.update(own)
        group.words.update(words)
    return [(path, number) for number, group in enumerate(found) for path in group.paths]


def main():
    targets = collections.defaultdict(list)
    for line in sys.stdin:
        target, path = line.rstrip("\n").split(" ", 1)
        targets[target].append(path)
    for target, paths in targets.items():
        for path, group in groups(paths, int(sys.argv[1])):
            print(target, path, group)


if __name__ == "__main__":
    main()
