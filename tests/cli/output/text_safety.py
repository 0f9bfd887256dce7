"""Text that files and arguments hold, on its way to terminals and spreadsheets.

usage: text_safety.py COLDTRACE IMAGES [unittest arguments]
Which characters are controls or invisible is asked of the copies of the Unicode Character Database
that Python and Perl have, what a cell holds of a strict reader.
"""
import functools
import random
import re
import shutil
import subprocess
import sys
import unicodedata
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from strict import strict_csv

COLDTRACE, IMAGES = (Path(sys.argv.pop(1)).resolve() for _ in range(2))

# Of category Cf (format) these are signs that show: Arabic number and verse marks, Syriac and Kaithi
# signs. Source: The Unicode Standard, "Prepended Concatenation Marks" and blocks.
VISIBLE = {*range(0x600, 0x606), 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd}


def run(*arguments):
    return subprocess.run([COLDTRACE, *arguments], capture_output=True, timeout=120)


IGNORABLE = r"""
for my $code (0 .. 0xd7ff, 0xe000 .. 0x10ffff) {
  print "$code " if chr($code) =~ /\p{Default_Ignorable_Code_Point}/;
}
"""


@functools.cache
def ignorable():
    """What shows nothing where a font does not know better; Python does not have this property."""
    perl = shutil.which("perl")
    if not perl:
        raise unittest.SkipTest("perl is not installed")
    done = subprocess.run([perl, "-e", IGNORABLE], capture_output=True, check=True)
    return frozenset(chr(int(code)) for code in done.stdout.split())


def is_unsafe(character):
    return character in ignorable() or (
        unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")
        and ord(character) not in VISIBLE)


ESCAPE = re.compile(r"(\\+)(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")


def unescaped(text):
    """What docs/commands/common-options.md says of escapes, read back."""
    def replaced(found):
        backslashes, letters = len(found[1]), found[2]
        return "\\" * (backslashes // 2) + (
            chr(int(letters[1:], 16)) if backslashes % 2 else letters)
    return ESCAPE.sub(replaced, text)


class Terminal(case.Case):
    def test_no_control_and_no_invisible_character_reaches_it(self):
        codes = [c for c in range(1, 0x110000) if not 0xd800 <= c <= 0xdfff]
        unsafe = {chr(c) for c in codes if is_unsafe(chr(c))}
        self.assertGreater(len(unsafe), 4000)
        # All unsafe ones, and enough of the others.
        others = random.Random(1).sample([chr(c) for c in codes if chr(c) not in unsafe], 4000)
        for some in (sorted(unsafe), others):
            names = [f"Nt{c}." for c in some]
            lines = run("syscalls", "hash", *names).stdout.decode().split("\n")[:-1]
            self.assertEqual(len(lines), len(names))
            for character, line in zip(some, lines):
                with self.subTest(code=hex(ord(character))):
                    self.assertEqual([c for c in line if is_unsafe(c)], [])
                    if character not in unsafe and character != "\\":
                        self.assertIn(f"Nt{character}.", line)

    def test_what_is_shown_says_what_there_is(self):
        dice = random.Random(3)
        alphabet = [*"\\\\\\xuU01bfA|. \x1b\n\t", "\u20ac", "\u202e", "\U000e0001"]
        names = ["Nt" + "".join(dice.choices(alphabet, k=dice.randrange(1, 14))) + "."
                 for _ in range(3000)]
        names += [r"Nt\\server\x1b\u202e\U000e0001\new.", "Nt\\\x1b.", "Nt\\\\\x1b."]
        lines = run("syscalls", "hash", *names).stdout.decode().split("\n")[:-1]
        for name, line in zip(names, lines, strict=True):
            self.assertEqual(unescaped(line[line.index("Nt"):]), name)
        # Backslashes of names that need none stand once.
        self.assertIn(r"Nt\\server\new", run("syscalls", "hash", r"Nt\\server\new").stdout.decode())

    def test_usage_errors_do_not_repeat_escapes(self):
        bad = "\x1b[31m\u009b\u202ered\x07"
        for arguments in ([bad], ["pe", bad], ["pe", "info", "--format", bad, "x"],
                          ["pe", "info", "--" + bad, "x"], ["pe", "info", bad],
                          ["trace", "decode", "--from", bad, "x"], ["findings", "-o", bad + "/x"],
                          ["pe", "info", "--fail-on", bad, "x"],
                          ["trace", "schema", "show", bad], ["trace", "control", "explain", bad],
                          ["hooks", "locate", bad, bad], ["hooks", "profile", "check", bad],
                          ["ntfs", "info", "--partition", bad, "x"], ["ntfs", "info", bad]):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2)
                text = done.stderr.decode()
                self.assertIn("red", text)
                self.assertEqual([c for c in text if is_unsafe(c) and c != "\n"], [])

    def test_names_of_a_file_do_not_reach_it_raw(self):
        path = IMAGES / "windows10-x64" / "ntdll.dll"
        if not path.exists():
            self.skipTest("no compiler built the image")
        name = "Nt\u202e\u009b\u3164A".encode()
        bent = path.read_bytes().replace(b"NtAccessCheck\0", name.ljust(13, b"s") + b"\0")
        self.assertIn(name, bent)
        path = self.write("bent.dll", bent)
        for command in (["syscalls", "map"], ["syscalls", "map", "--explain"], ["pe", "exports"],
                        ["syscalls", "map", "--format", "c-header"]):
            with self.subTest(command=command):
                done = run(*command, path)
                for text in (done.stdout.decode(), done.stderr.decode()):
                    self.assertEqual([c for c in text if is_unsafe(c) and c != "\n"], [])
                if command != ["syscalls", "map", "--format", "c-header"]:  # no name in C
                    self.assertIn(rb"\u202e\u009b\u3164A", done.stdout)


class Spreadsheet(case.Case):
    def cells(self, names, *options):
        done = run("syscalls", "hash", "--format", "csv", *options, "--", *names)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith(b"name,hashed_name,name_hash\n"))
        return [list(row.values()) for row in strict_csv(done.stdout)]

    def test_no_cell_starts_a_formula(self):
        dice = random.Random(2)
        names = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", '"=1"', ',=1', "a=1", "=", '"', '""',
                 "=\"a\",b", "\n=x", "a\n=x", "a\r\n-x"]
        names += ["".join(dice.choice('=+-@\t\r\n",ax') for _ in range(dice.randrange(1, 7)))
                  for _ in range(2000)]
        plain, safe = self.cells(names), self.cells(names, "--csv-safe")
        self.assertEqual([row[0] for row in plain], names)
        for before, after in zip(plain, safe, strict=True):
            self.assertEqual(after, [f"'{cell}" if cell[:1] in list("=+-@\t\r\n") else cell
                                     for cell in before])

    def test_the_option_is_for_csv_alone(self):
        self.assertEqual(run("syscalls", "hash", "--csv-safe", "NtClose").returncode, 2)
        self.assertEqual(run("syscalls", "hash", "--csv-safe", "--format", "json",
                             "NtClose").returncode, 2)


if __name__ == "__main__":
    unittest.main()
