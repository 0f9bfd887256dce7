"""What "coldtrace findings" tells of each code, as text, JSON and in docs/findings.md: the same, and
nothing that the program does not have.

usage: findings.py COLDTRACE PROJECT [unittest arguments]
"""
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from strict import strict_json

COLDTRACE, PROJECT = (Path(argument).resolve() for argument in sys.argv[1:3])
TEXT = r'"((?:[^"\\]|\\.)*)"'


def rows(file, name):
    """The rows of such a list, read without a compiler."""
    text = (PROJECT / file).read_text()
    return [[part.replace('\\"', '"') for part in row]
            for row in re.findall(rf"^{name}\({TEXT},\s+{TEXT},\s+{TEXT}\)", text, re.M)]


CODES = rows("cli/command/finding_codes.inc", "FINDING")
PAGES = rows("cli/findings/finding_pages.inc", "PAGE")


def run(*arguments):
    return subprocess.run([COLDTRACE, *arguments], capture_output=True, timeout=120)


def commands_and_options():
    """All commands by their words, and all long options, as the helps list them."""
    program = case.Program(COLDTRACE)
    commands = program.tree()
    return ({" ".join(command) for command in commands},
            {option for command in commands
             for option in re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", program.help_of(*command), re.M)})


class Findings(unittest.TestCase):
    def test_each_code_has_a_page(self):
        self.assertGreater(len(CODES), 300)
        self.assertEqual([row[0] for row in PAGES], [row[0] for row in CODES])
        for code, cause, advice in PAGES:
            with self.subTest(code=code):
                self.assertRegex(cause, r"^\S.{20,}\.$")
                self.assertRegex(advice, r"^[A-Z].*\.$")

    def test_pages_name_options_commands_and_codes_that_there_are(self):
        commands, options = commands_and_options()
        codes = {row[0] for row in CODES}
        named = 0
        for code, *texts in PAGES:
            for word in re.findall(r"(?<![\w-])--[a-z0-9-]+", " ".join(texts)):
                named += 1
                self.assertIn(word, options, code)
            for quoted in re.findall(r"'([^']+)'(?!\w)", " ".join(texts)):
                words = re.split(r" -| [A-Z]", quoted)[0]
                if re.fullmatch(r"[a-z][a-z -]+", words):
                    named += 1
                    self.assertIn(words, commands | codes, code)
        self.assertGreater(named, 80)

    def test_json_has_what_the_lists_say(self):
        answer = strict_json(run("findings", "--format", "json").stdout)
        schema = json.loads((PROJECT / "docs/schema/findings.schema.json").read_text())
        json_schema.validate(answer, schema)
        self.assertEqual([list(row.values()) for row in answer["codes"]],
                         [row + page[1:] for row, page in zip(CODES, PAGES, strict=True)])
        some = strict_json(run("findings", "torn-fixup", "arm64x", "--format", "json").stdout)
        by_code = {row["code"]: row for row in answer["codes"]}
        self.assertEqual(some["codes"], [by_code["torn-fixup"], by_code["arm64x"]])

    def test_text_has_every_word_in_lines_that_fit(self):
        done = run("findings", *(row[0] for row in CODES))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        text = done.stdout.decode()
        self.assertLessEqual(max(len(line) for line in text.split("\n")), 80)
        expected = []
        for (code, severity, meaning), (_, cause, advice) in zip(CODES, PAGES, strict=True):
            expected += f"{code} ({severity}) What: {meaning}. Why: {cause} " \
                        f"What to do: {advice}".split()
        self.assertEqual(text.split(), expected)
        listed = run("findings").stdout.decode().splitlines()
        self.assertEqual([line.split(maxsplit=2) for line in listed], CODES)

    def test_the_document_is_what_the_command_writes(self):
        document = run("findings", "--format", "markdown").stdout.decode()
        self.assertEqual((PROJECT / "docs/findings.md").read_text(), document,
                         "write it again: coldtrace findings --format markdown -o docs/findings.md")
        self.assertEqual(re.findall(r"^## (.+)$", document, re.M), [row[0] for row in CODES])

    def test_codes_may_have_commas_between_them(self):
        self.assertEqual(run("findings", "torn-fixup,buffers-lost").stdout,
                         run("findings", "torn-fixup", "buffers-lost").stdout)
        self.assertEqual(run("findings", "torn-fixup,nonsense").returncode, 2)

    def test_a_mistyped_code_is_told_with_the_nearest(self):
        done = run("findings", "torn-fixpu")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"no finding has the code 'torn-fixpu'; did you mean 'torn-fixup'?", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
