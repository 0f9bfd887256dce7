"""Files whose own names another file says are never compiled as one.

usage: unity_groups_test.py PROJECT
"""
import subprocess
import sys
import unittest
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

SCRIPT = Path(sys.argv[1]) / "cmake/unity_groups.py"
UNNAMED = "namespace x {{\nnamespace {{\n\n{}\n\n}}  // namespace\n\n{}\n\n}}  // namespace x\n"


def grouped(most, **files):
    """The names of the files that are compiled as one, for each group."""
    with TemporaryDirectory() as folder:
        lines = []
        for name, text in files.items():
            path = Path(folder) / f"{name}.cpp"
            path.write_text(text)
            lines.append(f"target {path}\n")
        done = subprocess.run([sys.executable, SCRIPT, str(most)], input="".join(lines), text=True,
                              capture_output=True, check=True)
    groups = defaultdict(set)
    for line in done.stdout.splitlines():
        target, path, group = line.split(" ")
        assert target == "target"
        groups[group].add(Path(path).stem)
    return sorted(map(sorted, groups.values()))


def own(declaration):
    return UNNAMED.format(declaration, "void shared();")


class UnityGroups(unittest.TestCase):
    def test_strangers_are_compiled_as_one(self):
        self.assertEqual(grouped(16, a=own("int a();"), b=own("int b();")), [["a", "b"]])

    def test_a_group_has_an_end(self):
        files = {f"f{i}": own(f"int name{i}();") for i in range(5)}
        self.assertEqual([len(group) for group in grouped(2, **files)], [2, 2, 1])

    def test_what_is_used_whole_is_used_by_all(self):
        x, y = "using namespace x;\n", "using namespace y;\n"
        self.assertEqual(
            grouped(16, a=x + own("int a();"), b=y + own("int b();"), c=x + own("int c();"),
                    d=own("int d();")),
            [["a", "c"], ["b"], ["d"]],
        )

    def test_what_includes_within_a_namespace_stands_alone(self):
        within = "#include <a>\nnamespace n {{\n#include <{}>\n}}  // namespace n\n"
        self.assertEqual(
            grouped(16, a=within.format("x"), b=within.format("x"), c="#include <a>\nint c();\n"),
            [["a"], ["b"], ["c"]],
        )

    def test_a_table_included_within_a_namespace_is_part_of_the_file(self):
        within = 'namespace n {{\n#define ROW(name) name,\n#include "{}"\n#undef ROW\n}}  // namespace n\n'
        with TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "rooms").mkdir()
            (folder / "rooms/names.inc").write_text("ROW(same)\n")
            (folder / "rooms/others.inc").write_text('#include "names.inc"\n')
            files = {"rooms/a.cpp": within.format("rooms/names.inc"), "rooms/b.cpp": own("int b();"),
                     "rooms/c.cpp": own("int same();"), "rooms/d.cpp": within.format("rooms/others.inc"),
                     "rooms/e.cpp": within.format("rooms/missing.inc")}
            for name, text in files.items():
                (folder / name).write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, "16"], text=True, capture_output=True, check=True,
                                  input="".join(f"target {folder / name}\n" for name in files))
        groups = defaultdict(set)
        for line in done.stdout.splitlines():
            groups[line.split(" ")[2]].add(Path(line.split(" ")[1]).stem)
        self.assertEqual(sorted(map(sorted, groups.values())), [["a", "b"], ["c"], ["d"], ["e"]])

    def test_what_both_bring_of_the_same_namespace_keeps_none_apart(self):
        a, b = own("using y::same;\n\nint a() { return same(); }"), own("using y::same;\n\nint b();")
        self.assertEqual(grouped(16, a=a, b=b), [["a", "b"]])
        for other in (own("using z::same;"), own("using same = y::same;"), own("int c() { return same(); }")):
            with self.subTest(other=other):
                self.assertEqual(grouped(16, a=a, b=b, c=other), [["a", "b"], ["c"]])

    def test_a_namespace_that_is_used_whole_is_no_name_of_the_file(self):
        self.assertEqual(grouped(16, a=own("using namespace y;\nint a();"), b=own("using namespace y;\ny::b c();")),
                         [["a", "b"]])

    def test_each_kind_of_name_keeps_files_apart(self):
        for declaration in (
            "int same() { return 1; }",
            "struct other {\n  int x;\n};\n\nstd::vector<int> same(int a, int b);",
            "struct same final : base {\n};",
            "class same {\n};",
            "enum class same : u8 { one, two };",
            "enum Bits : u8 {\n  one = 1,\n  same = 2,\n};",
            "using same = std::map<int, std::string>;",
            "using y::same;",
            "constexpr int same[] = {1, 2};",
            "constexpr std::array<int, 2> same{1, 2};",
            "[[nodiscard]] bool same(int);",
            "template <typename T, int n = 3>\nT same(T value) {\n  return value;\n}",
            "// a comment with { and (\nconst char* const text = \"a; { b\";\nint same = '{';",
        ):
            with self.subTest(declaration=declaration):
                self.assertEqual(grouped(16, a=own(declaration), b=own("int b() { return same; }")),
                                 [["a"], ["b"]])

    def test_macros_and_statics_are_names_of_their_file(self):
        other = own("int b() { return SAME + same; }")
        for text in "#define SAME 1\n", "static int same() {\n  return 1;\n}\n":
            with self.subTest(text=text):
                self.assertEqual(grouped(16, a=text, b=other), [["a"], ["b"]])

    def test_comments_and_texts_say_no_names(self):
        other = own("const char* b = \"same\";  // same")
        self.assertEqual(grouped(16, a=own("int same();"), b=other), [["a", "b"]])

    def test_locals_and_members_are_no_names_of_their_file(self):
        a = UNNAMED.format("struct A {\n  int same;\n};", "void f() {\n  int same = 1;\n}")
        self.assertEqual(grouped(16, a=a, b=own("int b() { return same; }")), [["a", "b"]])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
