"""Each finding's code is named by a test.

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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
