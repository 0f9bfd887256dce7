"""Documents show what the program does: commands behind "$ " in their blocks are run, in order and in
one folder with the demo's files, and say what stands below them; a line "..." stands for any lines.
Every other command line is run too, with stand-ins for the files and folders that it names, and does what it says but
for those of FAILING.

usage: document_commands.py COLDTRACE PROJECT DEMO [--update DOCUMENT... | unittest arguments]
--update writes below the commands of these documents what they say now.
"""
import gzip
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
# What stands in for files of each kind, and how it is made of the demo's files.
STAND_INS = {
    "etl": "demo-trace.etl", "ctrace": "made.ctrace", "img": "demo-disk.img", "E01": "demo-disk.img",
    "vhdx": "demo-disk.img", "exe": "demo-ntoskrnl.exe", "sys": "demo-ntoskrnl.exe", "dll": "demo-ntdll.dll",
    "hooktab": "made.hooktab", "ndjson": "made.ndjson", "json": "made.json", "ctschemas": "made.ctschemas",
    "profile": "made.profile", "key": "made.key", "schema": "made.schema"}
MADE = (
    ("trace", "synthesize", "deadlock-5", "-o", "made.ctrace"),
    ("ntfs", "snapshot", "demo-disk.img", "-o", "made.ndjson"),
    ("hooks", "table", "--kernel", "demo-ntoskrnl.exe", "--ntdll", "demo-ntdll.dll", "--format", "hooktab", "-o", "made.hooktab"),
    ("trace", "pack", "demo-trace.etl", "-o", "demo-trace.etl.zst"),
    ("syscalls", "map", "demo-ntdll.dll", "--format", "json", "-o", "made.json"),
    ("trace", "schemas", "build", str(PROJECT / "tests/cli/trace/schemas/painter.man"), "-o", "made.ctschemas"))
FOLDERS = {"symbols", "system32", "app", "builds", "images", "recording/", "old", "new", "old/System32", "new/System32",
           "baseline", "update"}
OUTPUTS = {"-o", "--output", "--out-dir"}
# Lines that need what no stand-in is, by a part of each: what they say without it.
FAILING = {
    "/dev/sdb": "No such file or directory",
    "$MFT": "No such file or directory",
    ".dump": "No such file or directory",
    "/mnt/c/": "declares event providers",
    "BitLocker Recovery Key": "No such file or directory",
    "--password-file": "No such file or directory",
    "--partition 2": "there is no partition 2",
    "--before-partition": "there is no partition 2",
    "--before-shadow": "none of its volumes has shadow copies",
    "export isf": "without a member list",
    "hooks export": "left",
    "hooks table --dir": "no kernel is in it or below it",
    "--derive-pdb": "no --derive-pdb has its GUID",
    "ntfs journal": "has a change journal",
    "schemas build": "no file declares event providers",
}


def with_files(folder):
    for name in FILES:
        shutil.copy(DEMO / name, folder)


class StandIns:
    """Files of each kind in one folder, which lines of documents get links to by the names that they have there."""

    def __init__(self, base):
        self.base = base
        with_files(base)
        for words in MADE:
            subprocess.run([COLDTRACE, *words], cwd=base, capture_output=True, check=False, timeout=60)
        (base / "made.profile").write_text("Nt*\n")
        (base / "made.key").write_bytes(bytes(range(32)))
        shutil.copy(PROJECT / "fuzz/corpus/schema_language/wmk.schema", base / "made.schema")
        for name in set(STAND_INS.values()):
            assert (base / name).exists(), name

    def find(self, word):
        """The file that stands in for one of this name."""
        match = re.fullmatch(r"[\w./ -]+?\.(\w+)(\.gz|\.zst|\.xz|\.zip)?", word)
        if word.endswith("ntdll.dll"):
            return self.base / "demo-ntdll.dll"
        if match is None:
            return None
        kind, packing = ("etl", ".zip") if match[1] == "zip" else match.groups()
        if kind not in STAND_INS:
            return None
        plain = self.base / STAND_INS[kind]
        if not packing:
            return plain
        packed = plain.with_name(plain.name + packing)
        if not packed.exists():  # any packing will do: what a file is, its contents say
            packed.write_bytes(gzip.compress(plain.read_bytes()))
        return packed

    def put(self, words, folder):
        for before, word in zip(words, words[1:]):
            word = word.split("=", 1)[1] if word.startswith("--") and "=" in word else word
            path = folder / word
            if before in OUTPUTS or word.startswith(("/", "--")) or path.exists():
                continue
            if word in FOLDERS:
                path.mkdir(parents=True, exist_ok=True)
                for name in FILES:
                    os.link(self.base / name, path / name.removeprefix("demo-"))
            elif before in ("--list", "--places"):
                listed = "8704" if "batch" not in words else "run.etl" if "trace" in words else "disk.img"
                path.write_text(listed + ("\0" if "--null" in words else "\n"))
                self.put(("", listed), folder)
            elif word == "-":
                os.link(self.base / "demo-trace.etl", path)
            elif (found := self.find(word)) is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                os.link(found, path)


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

    def test_every_other_one_runs(self):
        count, failing = 0, set()
        with tempfile.TemporaryDirectory() as base, tempfile.TemporaryDirectory() as place:
            stand_ins = StandIns(Path(base))
            lines = {tuple(words): document.name for document in DOCUMENTS
                     for words in command_lines(document.read_text())}
            for number, (words, document) in enumerate(lines.items()):
                folder = Path(place, str(number))
                folder.mkdir()
                stand_ins.put(words, folder)
                with self.subTest(document=document, words=words):
                    count += 1
                    with open(folder / "-" if "-" in words else os.devnull, "rb") as given:
                        done = subprocess.run([COLDTRACE, *words[1:]], cwd=folder, capture_output=True, timeout=60,
                                              stdin=given)
                    told = done.stderr.decode()
                    self.assertNotIn("for more information", told)
                    why = next((part for part in FAILING if part in " ".join(words)), None)
                    if done.returncode in (0, 1):
                        continue
                    self.assertIsNotNone(why, told)
                    self.assertIn(FAILING[why], told)
                    failing.add(why)
        self.assertEqual(failing, set(FAILING), "these run by now")
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
