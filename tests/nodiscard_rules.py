"""What public headers give back is [[nodiscard]]: an answer that is dropped was not worth the question.

usage: nodiscard_rules.py SOURCES

Free functions, static ones and const members. Left out are results whose type says so itself (core::Result), references
to change, operators, and what changes its object or an argument other than Findings: what it returns is often by the
way, as with the reads of a cursor.
"""
import re
import sys
from pathlib import Path

NOISE = re.compile(r"//[^\n]*|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.M)
SCOPE = re.compile(r"\s*(?:template\s*<.*>\s*)?(namespace|class|struct|union)\b[^()=]*", re.S)
# As clang-format leaves a function: its template, its specifiers, what it returns, its name and what follows.
FUNCTION = re.compile(
    r"(?P<template>\s*(?:template\s*<[^;]*?>(?=\s+[\w\[]))?\s*)(?P<marked>\[\[nodiscard\]\]\s+)?"
    r"(?P<specifiers>(?:(?:static|virtual|constexpr|inline)\s+)*)"
    r"(?P<type>(?:const\s+)?[\w:]+(?:<[^()]*(?:\([^()]*\))?[^()]*>)?(?:::\w+)*(?:\s+const)?(?:\s+|\s*[&*]+\s*))"
    r"(?P<name>\w+)\((?P<rest>.*)", re.S)
NO_TYPE = {"using", "typedef", "friend", "explicit", "extern", "static_assert", "enum", "void", "operator", "return"}
FILLED = re.compile(
    r"(?:^|,)\s*(?!const\b)(?!(?:core::)?Findings&)(?:[\w:]+(?:<[^()]*>)?[&*]|std::span<std::byte>) \w+\s*[,)]")
KNOWN = re.compile(r"(?:core::)?(?:Result|Expected)<")
EDGE = re.compile(r"[;{}]|\b(?:public|private|protected):(?!:)")


def blank(text):
    """As many spaces and lines."""
    return re.sub(r"[^\n]", " ", text)


def closed(code, at):
    """Behind the brace that closes the one at `at`."""
    depth = 0
    for edge in re.compile(r"[{}]").finditer(code, at):
        depth += 1 if edge[0] == "{" else -1
        if depth == 0:
            return edge.end()
    raise ValueError("a brace is open")


def flat(text):
    """The code without comments, bodies and initialisers, all else where it was."""
    code, start, at = NOISE.sub(lambda found: blank(found[0]), text), 0, 0
    while edge := EDGE.search(code, at):
        at = edge.end()
        if edge[0] == "{" and not SCOPE.fullmatch(code[start:edge.start()]):
            at = closed(code, edge.start())
            code = code[:edge.start()] + ";" + blank(code[edge.end():at]) + code[at:]
        start = at
    return code


def answers(text):
    """The match of each function that has to be marked."""
    scopes, start, code = [(True, True, False)], 0, flat(text)  # what is around is public, so is what comes, a class
    for edge in EDGE.finditer(code):
        said, begin, start = code[start:edge.start()], start, edge.end()
        around, public, in_class = scopes[-1]
        if edge[0] == "{":
            kind = SCOPE.fullmatch(said)[1]
            scopes.append((around and public, kind != "class", kind != "namespace"))
        elif edge[0] == "}":
            scopes.pop()
        elif edge[0] != ";":
            scopes[-1] = (around, edge[0] == "public:", in_class)
        elif around and public and (found := FUNCTION.match(code, begin, edge.start())):
            changes = in_class and "static" not in found["specifiers"] and not re.search(r"\)\s*const\b", found["rest"])
            to_change = re.search(r"&\s*$", found["type"]) and not found["type"].startswith("const")
            filled = FILLED.search(found["rest"])
            deleted = re.search(r"=\s*delete\s*$", found["rest"])
            if not (deleted or changes or to_change or filled or KNOWN.match(found["type"]) or found["type"].strip() in NO_TYPE):
                yield found


def check_rule():
    """What has to be marked is seen, and no other thing."""
    text = """namespace a {
    bool one(int x = f({1}));  // bool two();
    template <class T> bool gone(T&&) = delete;
    template <class T>
    std::optional<T> three(std::function<void(int)> f);
    core::Result<int> known();  void none();  std::ostream& print(std::ostream& out);
    class A {
      int hidden() const;
     public:
      explicit A(int x) : x_{x}, y_(x) { if (x) { g(); } }
      const std::map<int, std::pair<int, int>>& four() const { return x_; }
      bool filled(int x, std::string& text) const;  static bool noted(core::Findings& findings);
      static A five(std::string_view text = "}");
      bool next();
      A& put(int x);
      operator bool() const;
      bool operator==(const A&) const = default;
     private:
      int x_ = f(1);
      bool kept() const;
    };
    struct B { virtual const char* six() const = 0; int x = 0; };
    }  // namespace a"""
    assert [found["name"] for found in answers(text)] == ["one", "three", "four", "noted", "five", "six"]
    assert not any(found["marked"] for found in answers(text))
    assert next(answers("[[nodiscard]] int f();"))["marked"]


def main():
    check_rule()
    sources, count, missing = Path(sys.argv[1]), 0, []
    for path in sorted(sources.glob("*/include/coldtrace/**/*.hpp")):
        for found in answers(path.read_text()):
            count += 1
            if not found["marked"]:
                missing.append(f"{path.relative_to(sources)}: {found['name']}() is not [[nodiscard]]")
    print(f"{count} functions of public headers give something back")
    print("\n".join(missing))
    # Were the functions not found, none would lack anything.
    return bool(missing) or count < 1000


if __name__ == "__main__":
    sys.exit(main())
