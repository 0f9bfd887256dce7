"""Documents show what the program does: commands behind "$ " in their blocks are run, in order and in
one folder with the demo's files, and say what stands below them; a line "..." stands for any lines. Those that end with
another exit status than 0 have it in the paragraph before.
Every other command is run too, with stand-ins for the files and folders that it names: lines of blocks and code in
sentences and tables. Of code that only names a command, or that is a synopsis of it, the help has all options.
The steps that docs/ci.md shows are run as the systems do.

usage: document_commands.py COLDTRACE PROJECT DEMO IMAGES [--update DOCUMENT... | unittest arguments]
--update writes below the commands of these documents what they say now.
"""
import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import yaml

from ci_steps import Steps
from document_stand_ins import GROUPS, OUTPUTS, StandIns, with_files

COLDTRACE, PROJECT, DEMO, IMAGES = (Path(argument).resolve() for argument in sys.argv[1:5])
DOCUMENTS = sorted([PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"^    .*$", re.M)
LEFT_OUT = re.compile(r"(?<!\S)\.\.\.(?!\S)")
CALL = re.compile(r"(?:^\s*|[|;] |&& )((?:[\w./*-]+/)?coldtrace [^\n]*)")
# What is not run, by a part of the line.
NOT_RUN = {
    "coldtrace-*-linux-x86_64/": "scripts/check-package runs the tarball, which takes a static build, in clean roots",
    "--rounds": "a measurement that writes gigabytes",
}
OTHERS = {"babeltrace2", "protoc"}  # programs that need not be here
# What cannot be done, by its words, as the document says: the exit status, and what it says.
FAILING = {
    ("coldtrace", "decode"): (2, "trace decode"),
    ("coldtrace", "version"): (2, "'--version'"),
    ("coldtrace", "-v"): (2, "'-V'"),
}


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
    """Three points that are a word stand for the rest of a line or for lines; others are points."""
    lines = [r"(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, LEFT_OUT.split(line))) + r"\n"
             for line in expected.rstrip().split("\n")]
    return re.fullmatch("".join(lines), actual.rstrip() + "\n") is not None


def words_of(call):
    """Its words without what is the shell's; None if it is not all there or a synopsis."""
    words = shlex.shlex(call, posix=True, punctuation_chars="|;&<>")
    words.whitespace_split, words.commenters = True, "#"
    taken = []
    try:
        for word in words:
            if word in ("|", ";", "&&", "<", ">", ">>", "2>", "<(", "|&"):
                break
            taken.append(word)
    except ValueError:  # an open quote
        return None
    return None if any(word == "..." or word.startswith("[") for word in taken) else taken


def command_lines(text):
    """The words of lines of blocks, fenced or indented, that call the program."""
    blocks = [block for _, block in FENCE.findall(text)] + INDENTED.findall(FENCE.sub("", text))
    for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
        for call in CALL.findall(line):
            if (words := words_of(call)) is not None:
                yield words


def inline_code(text):
    """Code in sentences and tables that begins with the program or one of its groups of commands."""
    text = INDENTED.sub("", FENCE.sub("", text))
    for code in re.findall(rf"(?<!`)`((?:coldtrace|{'|'.join(GROUPS)}) [^`]+)`(?!`)", text):
        yield " ".join(code.replace(r"\|", "|").split())


def is_synopsis(code):
    """With names in capitals for what a user gives; SYSTEM is a file's own name."""
    return re.search(r"\[|\.\.\.|…|(?<!\S)(?!SYSTEM)[A-Z]+(?![a-z])", re.sub(r"'[^']*'", "", code)) is not None


@functools.cache
def help_of(*words):
    done = subprocess.run([COLDTRACE, *words, "--help"], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else None


def claimed_status(text, block_start):
    """What the paragraph in front of a block says of the exit status of a command in it; else None."""
    paragraph = text[:block_start].rstrip().rsplit("\n\n", 1)[-1]
    claimed = re.search(r"exit status (\d)", paragraph)
    return int(claimed[1]) if claimed else None


class Place:
    """A folder for one document's commands."""

    def __init__(self, stand_ins):
        self.stand_ins, self.folder = stand_ins, Path(tempfile.mkdtemp(dir=stand_ins.base.parent))
        with_files(self.folder, DEMO, PROJECT)

    def run(self, command):
        for call in CALL.findall(command.replace("\\\n", " ")):
            self.stand_ins.put(words_of(call) or (), self.folder)
        return run_shown(command, self.folder)


def setUpModule():
    global PLACE, STAND_INS
    PLACE = Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    STAND_INS = stand_ins_in(PLACE)


def stand_ins_in(place):
    (place / "base").mkdir()
    return StandIns(place / "base", COLDTRACE, PROJECT, DEMO, IMAGES)


class DocumentCommands(unittest.TestCase):
    def test_they_say_what_stands_below_them(self):
        count = claims = 0
        for document in DOCUMENTS:
            text, place = document.read_text(), Place(STAND_INS)
            for fence in FENCE.finditer(text):
                claimed, statuses = claimed_status(text, fence.start()), {0}
                for command, expected in shown_commands(fence[2]):
                    count += 1
                    with self.subTest(document=document.name, command=command):
                        for program in OTHERS & set(command.split()):
                            if not shutil.which(program):
                                self.skipTest(f"there is no {program}")
                        status, actual = place.run(command)
                        statuses.add(status)
                        self.assertTrue(is_shown(actual, expected), f"it says\n{actual}\nnot\n{expected}")
                if len(statuses) > 1 or claimed is not None and "$ " in fence[2]:
                    claims += 1
                    with self.subTest(document=document.name, claimed=claimed):
                        self.assertEqual(statuses, {0, claimed})
            self.assertNotRegex(FENCE.sub("", text), r"(?m)^    \$ ", document.name)
        self.assertGreater(count, 30)
        self.assertGreater(claims, 2)

    def test_the_comparison_can_fail(self):
        self.assertTrue(is_shown("a\nb\nc\n", "a\n...\nc\n"))
        self.assertTrue(is_shown("a\nb\nc\n", "a\n...\n"))
        self.assertTrue(is_shown("a 1.5 s\n", "a ... s\n"))
        self.assertTrue(is_shown("...b.exe\n", "...b.exe\n"))
        self.assertFalse(is_shown("ab.exe\n", "...b.exe\n"))
        for other in ("a\nc\n", "a\nb\n", "x\n...\n", "...\nb\n", ""):
            self.assertFalse(is_shown("a\nb\nc\n", other), other)

    def test_a_claim_is_of_the_block_behind_it(self):
        text = "exit status 1.\n\nother:\n\n```\n$ a\n```\n\nIt ends so, exit status 0:\n\n```\n$ b\n```\n"
        self.assertEqual([claimed_status(text, fence.start()) for fence in FENCE.finditer(text)], [None, 0])

    def run_line(self, words):
        """What it gives, and the folder that it was run in, with stand-ins for what it names."""
        folder = Path(tempfile.mkdtemp(dir=PLACE))
        words = STAND_INS.put(words, folder)
        with open(folder / "-" if "-" in words else os.devnull, "rb") as given:
            return subprocess.run([COLDTRACE, *words[1:]], cwd=folder, capture_output=True, timeout=60, stdin=given), folder

    def check_line(self, words, done, folder):
        told = done.stderr.decode()
        status, text = FAILING.get(words, (None, ""))
        if status is None:
            self.assertIn(done.returncode, (0, 1), told)
            for option, output in zip(words, words[1:]):
                self.assertTrue(option not in OUTPUTS or (folder / output).exists(), told)
        else:
            self.assertEqual(done.returncode, status, told)
        self.assertIn(text, told)

    def test_every_line_runs(self):
        lines = {tuple(words): document.name for document in DOCUMENTS for words in command_lines(document.read_text())}
        left_out = set()
        for words, document in lines.items():
            if excused := [part for part in NOT_RUN if part in shlex.join(words).replace("'", "")]:
                left_out.update(excused)
                continue
            with self.subTest(document=document, words=words):
                self.check_line(words, *self.run_line(words))
        self.assertEqual(left_out, set(NOT_RUN))
        self.assertGreater(len(lines), 150)

    def check_named(self, code):
        """There is the command that it names, and its help has the options; the lower-case words behind its name."""
        path = re.match(r"(?:coldtrace )?(?:--?[a-z][\w-]* )*((?:[a-z][a-z0-9-]*(?: |$))*)", code)[1].split()
        helped = help_of(*path)
        self.assertIsNotNone(helped, "no help for it")
        names, operands = re.search(r"Usage: coldtrace ([a-z -]*)\[OPTIONS\] ?(.*)", helped).groups()
        rest = path[len(names.split()):]
        self.assertFalse(rest and operands == "COMMAND", "there is no such command")
        for option in re.findall(r"(?<!\S)\[?(--?[a-z][\w-]*)", code):
            self.assertRegex(helped + help_of(), rf"(?<![\w-]){option}(?![\w-])")
        return rest

    def test_code_in_sentences_and_tables_runs(self):
        codes = {code: document.name for document in DOCUMENTS for code in inline_code(document.read_text())}
        run, failing = set(), set()
        for code, document in codes.items():
            with self.subTest(document=document, code=code):
                words = tuple(words_of(code) or ())
                if is_synopsis(code) or words[0] != "coldtrace":
                    self.check_named(code)
                    continue
                done, folder = self.run_line(words)
                if done.returncode == 2 and words not in FAILING and not self.check_named(code) and not any(folder.iterdir()):
                    continue  # a command that is only named
                self.check_line(words, done, folder)
                run.add(code)
                failing.update({words} & set(FAILING))
        self.assertEqual(failing, set(FAILING))
        five = (PROJECT / "README.md").read_text().split("## Five more\n")[1].split("\n## ")[0]
        self.assertLessEqual(set(inline_code(five)), run)
        self.assertEqual(len(set(inline_code(five))), 5)

    def test_what_cannot_be_done_is_documented(self):
        texts = [" ".join(document.read_text().split()) for document in DOCUMENTS]
        for words, (status, _) in FAILING.items():
            paragraphs = [text for text in texts if f"`{' '.join(words)}`" in text]
            self.assertTrue(paragraphs and all(f"exit status is {status}" in text for text in paragraphs), words)

    def test_what_is_wrong_is_found(self):
        for code in ("trace decod FILE", "coldtrace trace decode --wher EXPR FILE", "ntfs snapshots"):
            with self.assertRaises(AssertionError, msg=code):
                self.check_named(code)
        for line in ("coldtrace trace decode run.etl --wher x", "coldtrace ntfs info none", "coldtrace pe compare ntdll.dll"):
            with self.assertRaises(AssertionError, msg=line):
                self.check_line(tuple(line.split()), *self.run_line(line.split()))


class ShownSteps(unittest.TestCase):
    """The YAML of docs/ci.md, on the demo's trace."""

    def run_step(self, value):
        """What the step that a block shows gives: the whole of it, or what stands below its `with`."""
        steps, folder = Steps(PROJECT), Path(tempfile.mkdtemp(dir=PLACE))
        STAND_INS.put(("", "run.etl", "build/provider.dll"), folder)
        if "include" in value:
            self.assertTrue((PROJECT / value["include"]["local"]).is_file())
            self.assertEqual(value["trace"]["extends"], ".coldtrace")
            given = value["trace"]["variables"]
            return steps.run_job(folder, {"COLDTRACE": str(COLDTRACE)} | given), given["COLDTRACE_CHECK"], folder
        if isinstance(value, list):
            self.assertTrue((PROJECT / re.fullmatch(r"OWNER/coldtrace/(.*)@main", value[0]["uses"])[1] / "action.yml").is_file())
            value = value[0]["with"]
        done, outputs, _ = steps.run_action(folder, {"coldtrace": str(COLDTRACE), "trace": "run.etl"} | value)
        self.assertEqual(outputs, {"status": str(done.returncode)})
        return done, value["check"], folder

    def test_they_check_what_they_say(self):
        text = (PROJECT / "docs/ci.md").read_text()
        fences = list(FENCE.finditer(text))
        shown = 0
        for fence, following in zip(fences, fences[1:]):
            if fence[1] != "yaml":
                continue
            with self.subTest(step=fence[2]):
                done, check, folder = self.run_step(yaml.safe_load(textwrap.dedent(fence[2])))
                printed = done.stdout.decode()
                verdicts = re.findall(r"^(ok|FAILED) +(.*?): \d+ events", printed, re.M)
                self.assertEqual([what for _, what in verdicts], re.findall(r"--expect (.*)", check))
                self.assertEqual(done.returncode, 1 if "FAILED" in dict(verdicts) else 0, done.stderr)
                for name in ("check.xml", "check.txt", "report.html"):
                    self.assertTrue((folder / "coldtrace-results" / name).exists(), name)
                if following[1] == "text":
                    shown += 1
                    self.assertTrue(is_shown(printed, following[2]), printed)
                    self.assertEqual(claimed_status(text, following.start()), done.returncode)
        self.assertEqual(shown, 1)


def update(document):
    text = document.read_text()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(stand_ins_in(Path(folder)))
        for _, block in FENCE.findall(text):
            commands = list(shown_commands(block))
            said = "".join(f"$ {command}\n{place.run(command)[1]}" for command, _ in commands)
            if commands:
                text = text.replace(block, said)
    document.write_text(text)


if __name__ == "__main__":
    if sys.argv[5:6] == ["--update"]:
        for name in sys.argv[6:]:
            update(Path(name))
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
