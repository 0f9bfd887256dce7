"""A test that lacks another program says that it is skipped, or which part of it, and packages.bash has the program. No test
is hidden by another one of its name.

usage: skip_rules.py PROJECT
"""
import ast
import re
import sys
import unittest
from pathlib import Path

PROJECT = Path(sys.argv[1]).resolve()
CASE = PROJECT / "tests/case.py"  # has installed(), which says it
FUNCTIONS = (ast.FunctionDef, ast.Lambda)
SKIPS = re.compile(r"\b(skipTest|SkipTest|SKIPPED)\b")

# What stands for a program that is missing does as much.
CHOICES = {("tests/examples_test.py", 'shutil.which("dh_python3") and (SOURCES / ".git").exists()'): "CMake installs instead"}

# The programs of a package, of those that have another name.
PACKAGES = {"babeltrace2": "babeltrace2", "bdeinfo": "libbde-utils", "capinfos": "tshark", "cc": "g++", "clang": "clang-14",
            "dh_python3": "dh-python", "dot": "graphviz", "eslint": None, "ewfacquire": "ewf-tools",
            "ewfacquirestream": "ewf-tools", "ewfexport": "ewf-tools", "fls": "sleuthkit", "fsntfsinfo": "libfsntfs-utils",
            "fuser": "psmisc", "icat": "sleuthkit", "ifind": "sleuthkit", "istat": "sleuthkit", "llvm-pdbutil": "llvm-14",
            "llvm-pdbutil-14": "llvm-14", "llvm-readobj": "llvm-14", "llvm-readobj-14": "llvm-14", "mactime": "sleuthkit",
            "mkfs.ntfs": "ntfs-3g", "mkntfs": "ntfs-3g", "node": "nodejs", "ntfscluster": "ntfs-3g", "objdump": "binutils",
            "parallel": None, "pkg-config": "pkgconf", "qemu-img": "qemu-utils", "qemu-io": "qemu-utils"}
ESSENTIAL = {"gzip", "less", "losetup", "perl", "unshare"}  # in each Debian, or with man pages


def is_call(node, *names):
    return isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", None)) in names


def asks(node, found):
    """Whether it asks if a program is here: which(), a name with its answer, or what CMake found."""
    return any(is_call(part, "which") or isinstance(part, ast.Name) and part.id in found or
               isinstance(part, ast.Constant) and part.value == "NOTFOUND" for part in ast.walk(node))


def inside(scope):
    """The nodes of a function, or of a module, without those of the functions in it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, FUNCTIONS):
            yield from inside(node)


def silent(text):
    """Where a program that is missing leaves something out and nothing says so."""
    if not re.search(r"\bwhich\(|NOTFOUND", text):
        return
    tree = ast.parse(text)
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))):
        nodes = list(inside(scope))
        found = {target.id for node in nodes if isinstance(node, ast.Assign) and asks(node.value, ())
                 for target in node.targets if isinstance(target, ast.Name)}
        for node in nodes:
            tests = [node.test] if isinstance(node, (ast.If, ast.IfExp, ast.While)) else getattr(node, "ifs", [])
            for test in tests:
                if asks(test, found) and not (isinstance(node, ast.If) and SKIPS.search("\n".join(map(ast.unparse, node.body)))):
                    yield ast.get_source_segment(text, test)


def programs(text):
    """Those that are named where they are asked for."""
    return {argument.value for node in ast.walk(ast.parse(text)) if is_call(node, "which", "installed")
            for argument in node.args if isinstance(argument, ast.Constant)} if re.search(r"\b(which|installed)\(", text) else set()


def hidden(text):
    """Classes and functions that another one of the same name, behind them, replaces."""
    for scope in ast.walk(ast.parse(text)):
        if isinstance(scope, (ast.Module, ast.ClassDef)):
            names = [node.name for node in scope.body
                     if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.decorator_list]
            yield from {name for name in names if names.count(name) > 1}


TESTS = {str(path.relative_to(PROJECT)): path.read_text() for path in sorted((PROJECT / "tests").rglob("*.py")) if path != CASE}


class Rules(unittest.TestCase):
    def test_what_is_skipped_is_said(self):
        found = {(name, test) for name, text in TESTS.items() for test in silent(text)}
        self.assertEqual(found, set(CHOICES))

    def test_no_test_is_hidden_by_another_one(self):
        self.assertEqual({(name, one) for name, text in TESTS.items() for one in hidden(text)}, set())
        self.assertEqual(list(hidden("class A:\n    def a(self): pass\n    def b(self): pass\n    def a(self): pass")), ["a"])
        self.assertEqual(list(hidden("class A: pass\nclass B:\n    def A(self): pass\nclass A: pass")), ["A"])

    def test_packages_have_the_programs(self):
        packages = set(re.findall(r"[\w.+-]+", (PROJECT / "scripts/lib/packages.bash").read_text()))
        for program in set().union(*map(programs, TESTS.values())) - ESSENTIAL:
            with self.subTest(program):
                package = PACKAGES.get(program, program)
                self.assertTrue(package is None or package in packages, package)

    def test_the_rule_sees_what_breaks_it(self):
        for text in ('if shutil.which("dot"):\n    draw()', 'if not which("dot"):\n    return', 'a = draw() if which("dot") else None',
                     'path = shutil.which("dot")\nif path:\n    draw()', 'if "NOTFOUND" not in DOT:\n    draw()',
                     '[one for one in "ab" if shutil.which(one)]', 'if which("dot") is None or not b:\n    pass'):
            self.assertEqual(len(list(silent(text))), 1, text)
        for text in ('if not which("dot"):\n    self.skipTest("no dot")', 'if installed(self, "dot"):\n    draw()',
                     'if not which("dot"):\n    raise unittest.SkipTest("no dot")'):
            self.assertEqual(list(silent(text)), [], text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
