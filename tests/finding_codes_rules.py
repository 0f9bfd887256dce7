"""Each finding's code is named by a test, and docs/architecture.md says why those of cli/ are made there.

usage: finding_codes_rules.py PROJECT
"""
import re
import sys
import unittest
from pathlib import Path

PROJECT = Path(sys.argv[1]).resolve()
CODES = re.findall(r'^FINDING\("([a-z0-9-]+)"', (PROJECT / "cli/command/finding_codes.inc").read_text(),
                   re.M)

def named_by_tests():
    """Texts in quotes, alone or as a pattern's words, of all tests but this one."""
    found = set()
    for path in (PROJECT / "tests").rglob("*"):
        if path.suffix in (".py", ".cpp", ".hpp") and path.name != Path(__file__).name:
            for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text()):
                found |= set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", text))
    return found


class Codes(unittest.TestCase):
    def test_each_is_named_by_a_test(self):
        self.assertGreater(len(CODES), 150)
        self.assertEqual(set(CODES) - named_by_tests(), set(), "no test names them")

    def test_those_that_cli_makes_are_listed_with_the_reason(self):
        made = set()
        for path in (PROJECT / "cli").rglob("*.[ch]pp"):
            made |= set(re.findall(r'\b(?:info|warning)\(\s*"([a-z0-9-]+)"', path.read_text()))
        page = (PROJECT / "docs/architecture.md").read_text()
        section = re.search(r"^## What stays in `cli/`\n(.*?)^## ", page, re.M | re.S)[1]
        listed = [code for row in re.findall(r"^\| (`.*?) \|", section, re.M) for code in re.findall(r"`([a-z-]+)`", row)]
        self.assertEqual(sorted(listed), sorted(made))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
