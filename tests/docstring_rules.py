"""Types, free functions and public member functions of public headers have a comment above, alone or as one of a group.

usage: docstring_rules.py SOURCES

A group has no blank line inside. The comment may be the file's first where that is about what follows. Left out are
types that are nested, what gives a value its name (to_string), and operators; of member functions constructors, those
whose body is in the class or that override others, what is const and asks nothing (its name says what it gives), add(),
since the class says what it collects, and the actions of a grammar (classes named ...Builder with its words).
A comment on a member's own line counts.
"""
import re
import sys
from pathlib import Path

from nodiscard_rules import EDGE, SCOPE, flat

TYPE = re.compile(r"(?:template\s*<.*>\s*)?(?:class|struct|union|enum(?:\s+class)?)\s+(?:\[\[\w+\]\]\s+)?(?P<name>\w+)\s*(?:final\s*)?"
                  r"(?::[^:].*)?", re.S)
FUNCTION = re.compile(r"(?:template\s*<[^;]*?>(?=\s+[\w\[]))?\s*(?:\[\[\w+\]\]\s*)*(?:(?:static|constexpr|inline|extern)\s+)*"
                      r"(?:const\s+)?[\w:]+(?:<[^()]*(?:\([^()]*\))?[^()]*>)?(?:::\w+)*(?:\s+const)?(?:\s+|\s*[&*]+\s*)"
                      r"(?P<name>\w+)\(.*", re.S)
MEMBER_OF = re.compile(r"(?:class|struct|union)\s+(?:\[\[\w+\]\]\s+)?(\w+)(?!\w|::)")
ASKS_NOTHING = re.compile(r"[^()]*\(\s*\)\s*const\b")
NO_TYPE = re.compile(r"(?:using|typedef|friend|static_assert|return|namespace)\b")


def declarations(text):
    """(name, line from 0) of what has to be documented, in order."""
    code, start, depth = flat(text), 0, []
    for edge in EDGE.finditer(code):
        said, start_of, start = code[start:edge.start()], start, edge.end()
        inside = all(depth)  # namespaces alone are around
        begin = start_of + len(said) - len(said.lstrip())
        said = said.strip()
        if edge[0] == "{":
            kind = SCOPE.fullmatch(code[start_of:edge.start()])
            is_namespace = kind is not None and kind[1] == "namespace"
            if inside and not is_namespace and (found := TYPE.fullmatch(said)):
                yield found["name"], code.count("\n", 0, begin)
            depth.append(is_namespace)
        elif edge[0] == "}":
            depth.pop()
        elif edge[0] == ";" and inside and not NO_TYPE.match(said):
            if (found := re.fullmatch(r"enum(?:\s+class)?\s+(?P<name>\w+).*", said, re.S)) or (found := FUNCTION.fullmatch(said)):
                if found["name"] != "to_string":
                    yield found["name"], code.count("\n", 0, begin)


def members(text):
    """(class, name, line from 0) of the public member functions that have to be documented."""
    code, start, scopes = flat(text), 0, [(True, True, None)]  # what is around is public, so is what comes, the class
    for edge in EDGE.finditer(code):
        said, start_of, start = code[start:edge.start()], start, edge.end()
        around, public, inside = scopes[-1]
        if edge[0] == "{":
            kind, name = SCOPE.fullmatch(said)[1], MEMBER_OF.search(said)
            scopes.append((around and public, kind != "class", name[1] if name else None))
        elif edge[0] == "}":
            scopes.pop()
        elif edge[0] != ";":
            scopes[-1] = (around, edge[0] == "public:", inside)
        elif around and public and inside and text[edge.start()] == ";" and not NO_TYPE.match(said.strip()):
            found = FUNCTION.fullmatch(re.sub(r"^virtual\s+", "", said.strip()))
            if (found and found["name"] not in (inside, "to_string", "add") and not inside.endswith("Builder")
                    and not re.match(r"[^()]*\boperator\b", said) and not ASKS_NOTHING.match(said)
                    and not re.search(r"(?:=\s*(?:delete|default)|\b(?:override|final))\s*$", said)):
                yield inside, found["name"], code.count("\n", 0, start_of + len(said) - len(said.lstrip()))


def is_told(lines, at):
    """As is_documented, of a member: above its group, which begins behind a blank line, the class or an access."""
    if "//" in lines[at]:
        return True
    while at > 0 and lines[at - 1].strip() and not re.search(r"(?:\{|public:|protected:|private:)\s*$", lines[at - 1]):
        at -= 1
        if lines[at].lstrip().startswith("//"):
            return True
    return False


def is_documented(lines, at):
    """Whether a comment is above, or above the group."""
    while at > 0 and lines[at - 1].strip():
        at -= 1
        if lines[at].startswith("}"):
            if "namespace" in lines[at]:
                return False
            while at > 0 and (not lines[at].strip() or lines[at][0] in " }"):  # to what this ends
                at -= 1
        elif lines[at].startswith("//"):
            return True
        elif lines[at].startswith(("namespace", "#")):
            return False
    return False


def undocumented(text):
    lines = text.split("\n")
    return [*(name for name, at in declarations(text) if not is_documented(lines, at)),
            *(f"{inside}::{name}()" for inside, name, at in members(text) if not is_told(lines, at))]


def check_rule():
    """What lacks a comment is seen, and no other thing."""
    text = """#pragma once
namespace a {

// One.
struct One { int x; };

struct Two {
  enum class Kind : u8 { a, b };  // nested
};

enum class Three : u8 {
  a,  // a comment
};

class Ahead;
// A group.
struct Pair {
  int a;  // of b

  int b;
};
[[nodiscard]] int four(int x = f({1}));
[[nodiscard]] std::vector<int> five(std::span<const int> all);

template <class T>
void six(T&& value) {
  value.call();
}

std::string_view to_string(Three three);

class Seven final : public One {
 public:
  int hidden() const;
};
}  // namespace a
"""
    assert undocumented(text) == ["Two", "Three", "six", "Seven"], undocumented(text)
    text = """// A.
class A {
 public:
  explicit A(int x);
  static Result<A> one(const B& b);
  // A group.
  void two(int x);
  [[nodiscard]] int three(int x) const;

  bool four();  // on its line
  bool five();
  int six() const;
  int seven() { return 1; }
  void add(int x);
  bool eight(int x) override;
  struct B {
    virtual int nine(
        int x) = 0;
  };

 private:
  bool ten();
};
"""
    assert undocumented(text) == ["A::one()", "A::five()", "B::nine()"], undocumented(text)


def main():
    check_rule()
    sources, count, missing = Path(sys.argv[1]), 0, []
    for path in sorted(sources.glob("*/include/coldtrace/**/*.hpp")):
        text = path.read_text()
        count += sum(1 for _ in declarations(text)) + sum(1 for _ in members(text))
        missing += [f"{path.relative_to(sources)}: {name} has no comment" for name in undocumented(text)]
    print(f"{count} types, functions and member functions of public headers")
    print("\n".join(missing))
    # Were they not found, none would lack anything.
    return bool(missing) or count < 2200


if __name__ == "__main__":
    sys.exit(main())
