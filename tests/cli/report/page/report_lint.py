"""Rules for the page's script that node's parser does not know: nothing that a Content-Security-Policy or a hostile
name could be hurt by, and nothing that is not used. Where eslint is installed, its recommended rules too.

usage: report_lint.py SOURCES [arguments of unittest]
"""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

SOURCES = Path(sys.argv[-1] if len(sys.argv) == 2 else sys.argv[1]).resolve()
MODULES = sorted((SOURCES / "report").glob("*.js"))
FORBIDDEN = {
    r"\b(innerHTML|outerHTML|insertAdjacentHTML)\b|document\.write": "names are text, never markup",
    r"\beval\b|\bnew Function\b|set(Timeout|Interval)\(\s*[\"'`]": "text is not a program",
    r"\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|importScripts": "a page asks nobody",
    r"setAttribute\(\s*[\"']style": "the policy refuses styles in attributes",
    r"[^=!<>]==[^=]|!=[^=]": "=== and !==",
    r"^\s*var\b": "const or let",
    r"\bconsole\.|\bdebugger\b|\balert\(": "the console of a page is empty",
    r"\bMath\.random\b|\bDate\.now\b|\bnew Date\(\)": "the same page looks the same",
}


def plain(text):
    """Without comments and the contents of texts."""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.S)
    text = re.sub(r"(?m)//[^\n]*$", "", text)
    return re.sub(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", '""', text)


class Rules(unittest.TestCase):
    def test_modules_are_there(self):
        listed = re.search(r"set\(page_modules ([^)]*)\)", (SOURCES / "cli/report/page/CMakeLists.txt").read_text())[1]
        self.assertEqual(sorted(listed.split()), [module.name for module in MODULES])

    def test_nothing_forbidden_is_said(self):
        for module in MODULES:
            text = module.read_text()
            for number, line in enumerate(plain(text).split("\n"), 1):
                for pattern, why in FORBIDDEN.items():
                    self.assertIsNone(re.search(pattern, line), f"{module.name}:{number}: {why}: {line}")
            for number, line in enumerate(text.split("\n"), 1):
                self.assertLessEqual(len(line), 140, f"{module.name}:{number} is long")
                self.assertEqual(line, line.rstrip(), f"{module.name}:{number} has blanks at its end")

    def test_names_are_used_and_told_apart(self):
        """The modules become one script: a name of one at its outermost level must be no other's."""
        declared, everything = Counter(), ""
        for module in MODULES:
            text = plain(module.read_text())
            everything += text
            declared.update(re.findall(r"(?m)^(?:export )?(?:async )?(?:const|let|class|function) (\w+)", text))
            for names in re.findall(r"(?m)^import \{ ([^}]*) \}", text):
                for name in names.split(", "):
                    uses = len(re.findall(rf"(?:(?<![\w.#])|(?<=\.\.\.)){name}\b", text))
                    self.assertGreater(uses, 1, f"{module.name} imports {name} and does not use it")
        self.assertEqual([name for name, count in declared.items() if count > 1], [])
        for name in declared:
            uses = [found for found in re.findall(rf"(?:(?<![\w.#])|(?<=\.\.\.)){name}\b", everything)]
            self.assertTrue(len(uses) > 1 or name == "start", f"{name} is not used")

    def test_imports_are_exported(self):
        exports = {module.name: set(re.findall(r"(?m)^export (?:async )?(?:const|class|function) (\w+)", module.read_text()))
                   for module in MODULES}
        for module in MODULES:
            for names, other in re.findall(r"(?m)^import \{ ([^}]*) \} from \"\./([^\"]*)\";", module.read_text()):
                self.assertLessEqual(set(names.split(", ")), exports[other], module.name)

    @unittest.skipUnless(shutil.which("node"), "node is not here")
    def test_node_parses_them(self):
        with tempfile.TemporaryDirectory() as folder:
            for module in MODULES:
                copy = Path(folder) / module.with_suffix(".mjs").name
                copy.write_text(module.read_text())
                done = subprocess.run(["node", "--check", copy], capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr.decode())

    @unittest.skipUnless(shutil.which("eslint"), "eslint is not here (npm install -g eslint @eslint/js globals)")
    def test_eslint_has_nothing_to_say(self):
        done = subprocess.run(["eslint", "--config", SOURCES / "report/eslint.config.mjs", *MODULES],
                              capture_output=True, cwd=SOURCES)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
