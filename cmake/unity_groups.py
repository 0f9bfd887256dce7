"""Says which source files may be compiled as one, for unity builds.

    unity_groups.py MOST < FILES      a line "TARGET FILE" each; prints "TARGET FILE GROUP"

What an unnamed namespace, "static" or #define names is its file's own. Where such a name is a word of
another file at all, be it a member or a local variable, the two are not compiled as one: no name
means anything else for its neighbours, and none has to be given another for their sake. So it is with
the names of a namespace that a file uses whole: those that use the same are compiled as one. A file that
includes another within a namespace stands alone.
"""

import collections
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
INCLUDED_WITHIN = re.compile(r"^namespace [\w:]+ \{.*^#include", re.M | re.S)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|\[\[|\]\]|\S")
OPENING, CLOSING = {"(", "{", "[", "[["}, {")", "}", "]", "]]"}


def declared(code):
    """The names that the outermost declarations of a piece of code declare."""
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
                if name not in {"::", "static_assert", "TEST_CASE"} and (is_using or not qualified):
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


def read(path):
    """What files compiled with this one have to share; the names that are its own; all its words."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    unnamed = [DIRECTIVE.sub("", NOISE.sub(" ", piece)) for piece in UNNAMED.findall(text)]
    text = NOISE.sub(" ", text)
    shared = path if INCLUDED_WITHIN.search(text) else frozenset(USED.findall(text))
    own = set(MACRO.findall(text))
    text = DIRECTIVE.sub("", text)
    for piece in unnamed + STATIC.findall(text):
        own |= set(declared(piece))
        for enumerators in ENUMERATORS.findall(piece):
            own |= set(re.findall(r"(?:^|,)\s*(\w+)", enumerators))
    return shared, own, set(re.findall(r"[A-Za-z_]\w*", text)) | own


Group = collections.namedtuple("Group", "shared paths own words")


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
            and not own & group.words
            and not words & group.own
        ]
        if fitting:
            group = max(fitting, key=lambda group: len(group.paths))
        else:
            group = Group(shared, [], set(), set())
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
