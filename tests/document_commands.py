"""Documents show what the program does: commands behind "$ " in their blocks are run, in order and in
one folder with the demo's files, and say what stands below them; a line "..." stands for any lines.
Every other command line is one that the program takes: its commands, options and values exist.

usage: document_commands.py COLDTRACE PROJECT DEMO [--update DOCUMENT... | unittest arguments]
--update writes below the commands of these documents what they say now.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COLDTRACE, PROJECT, DEMO = (Path(argument).resolve() for argument in sys.argv[1:4])
DOCUMENTS = sorted([PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```[a-z]*\n(.*?)^```$", re.M | re.S)
FILES = ("demo-disk.img", "demo-trace.etl", "demo-ntdll.dll", "demo-ntdll-updated.dll", "demo-ntoskrnl.exe")


def with_files(folder):
    for name in FILES:
        shutil.copy(DEMO / name, folder)


def run_shown(command, folder):
    """What a person sees of it in a pipe, findings too."""
    path = f"{COLDTRACE.parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                          env={"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", "COLUMNS": "80"})
    return done.returncode, done.stdout


def shown_commands(block):
    """Pairs of a command and the lines below it; a command goes on behind a backslash at its end."""
    for piece in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, expected = re.match(r"((?:.*\\\n)*.*)(\n|\Z)((?s:.*))", piece).groups()
        yield command, expected


def is_shown(actual, expected):
    pattern = re.escape(expected.rstrip()).replace(r"\.\.\.\n", r"(?:.*\n)*")
    pattern = re.sub(r"\\\.\\\.\\\.$", r"(?:.*\\n?)*", pattern).replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, actual.rstrip()) is not None


def command_lines(text):
    """The lines of blocks, fenced or indented, that call the program, without what is the shell's."""
    blocks = FENCE.findall(text) + re.findall(r"^    .*$", FENCE.sub("", text), re.M)
    for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
        for call in re.findall(r"(?:^\s*|[|;] |&& )(coldtrace [^\n]*)", line):
            words = shlex.shlex(call, posix=True, punctuation_chars="|;&<>")
            words.whitespace_split, words.commenters = True, "#"
            try:
                taken = []
                for word in words:
                    if word in ("|", ";", "&&", "<", ">", ">>", "2>", "<(", "|&"):
                        break
                    taken.append(word)
            except ValueError:  # an open quote: the call is not all there
                continue
            if not any(word == "..." or word.startswith("[") for word in taken):  # a synopsis
                yield taken


def claimed_status(text, block_start):
    """What the paragraph in front of a block says of the exit status of a command in it; else None."""
    paragraph = text[:block_start].rstrip().rsplit("\n\n", 1)[-1]
    claimed = re.search(r"exit status (\d)", paragraph)
    return int(claimed[1]) if claimed else None


class DocumentCommands(unittest.TestCase):
    def test_they_say_what_stands_below_them(self):
        count = claims = 0
        for document in DOCUMENTS:
            with tempfile.TemporaryDirectory() as folder:
                with_files(folder)
                text = document.read_text()
                for fence in FENCE.finditer(text):
                    claimed, statuses = claimed_status(text, fence.start()), []
                    for command, expected in shown_commands(fence[1]):
                        count += 1
                        with self.subTest(document=document.name, command=command):
                            status, actual = run_shown(command, folder)
                            self.assertIn(status, (0, 1), actual)
                            statuses.append(status)
                            self.assertTrue(is_shown(actual, expected), f"it says\n{actual}\nnot\n{expected}")
                    if claimed is not None and statuses:
                        claims += 1
                        with self.subTest(document=document.name, claimed=claimed):
                            self.assertIn(claimed, statuses)
        self.assertGreater(count, 20)
        self.assertGreater(claims, 1)

    def test_the_comparison_can_fail(self):
        self.assertTrue(is_shown("a\nb\nc\n", "a\n...\nc\n"))
        self.assertTrue(is_shown("a\nb\nc\n", "a\n...\n"))
        self.assertTrue(is_shown("a 1.5 s\n", "a ... s\n"))
        for other in ("a\nc\n", "a\nb\n", "x\n...\n", "...\nb\n", ""):
            self.assertFalse(is_shown("a\nb\nc\n", other), other)

    def test_a_claim_is_of_the_block_behind_it(self):
        text = "exit status 1.\n\nother:\n\n```\n$ a\n```\n\nIt ends so, exit status 0:\n\n```\n$ b\n```\n"
        self.assertEqual([claimed_status(text, fence.start()) for fence in FENCE.finditer(text)], [None, 0])

    def test_every_other_one_is_taken(self):
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            for document in DOCUMENTS:
                for words in command_lines(document.read_text()):
                    count += 1
                    with self.subTest(document=document.name, words=words):
                        done = subprocess.run([COLDTRACE, *words[1:]], cwd=folder, text=True, capture_output=True,
                                              stdin=subprocess.DEVNULL, timeout=60)
                        self.assertNotIn("for more information", done.stderr)
        self.assertGreater(count, 100)


def update(document):
    text = document.read_text()
    with tempfile.TemporaryDirectory() as folder:
        with_files(folder)
        for block in FENCE.findall(text):
            commands = list(shown_commands(block))
            said = "".join(f"$ {command}\n{run_shown(command, folder)[1]}" for command, _ in commands)
            if commands:
                text = text.replace(block, said)
    document.write_text(text)


if __name__ == "__main__":
    if sys.argv[4:5] == ["--update"]:
        for name in sys.argv[5:]:
            update(Path(name))
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
