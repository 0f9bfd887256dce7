"""Nothing that text has is lost on a narrow terminal: no line is wider, and each name and number of the pipe's text is there.

usage: terminal_widths.py COLDTRACE PROJECT DEMO IMAGES [unittest arguments]
What a pipe gets is whole. Without blanks, lines that are broken are as they were; of tables whose columns have other
widths, each word is there. Columns that a table leaves out are told, and only they may lack.
"""
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
import output_hashes
from cli.output.terminal import run_on_terminal
from document_stand_ins import StandIns

COLDTRACE, PROJECT, DEMO, IMAGES = (Path(argument).resolve() for argument in sys.argv[1:5])
WIDTHS = 80, 60, 40
TEXT = re.compile(rb"--format \{(?:[\w-]+,)*text[,}]|--format NAME[^\[]*\[one of [^\]]*text")
INPUTS = {"image": ("demo-ntdll.dll", "kernel.exe", "program.exe"), "pdb": ("types.pdb",), "volume": ("demo-disk.img", "made.disk"),
          "trace": ("demo-trace.etl", "made.ctrace"), "table": ("made.hooktab",), "hive": ("made.hive",),
          "profile": ("made.profile",), "schema": ("made.schema",), None: (None,)}
OTHERS = tuple(line.split() for line in (
    "pe compare demo-ntdll.dll made.dump", "pe compare kernel.exe kernel.dump", "pe sections program.exe tracer.sys",
    "pe symbols kernel.pdb --pe kernel.exe", "pe types types.pdb _EPROCESS", "pe types old.pdb types.pdb --compare",
    "syscalls compare demo-ntdll.dll demo-ntdll-updated.dll", "syscalls check --ntdll demo-ntdll.dll --kernel demo-ntoskrnl.exe",
    "syscalls check --pe demo-ntdll.dll --dump made.dump", "servicing demo-ntdll.dll demo-ntdll-updated.dll",
    "servicing old.exe new.exe", "hooks context-switch switch-ntoskrnl.exe", "hooks tables table-ntoskrnl.exe",
    "hooks verify made.hooktab kernel.exe tracer.sys", "hooks iat program.exe", "hooks table --kernel switch-ntoskrnl.exe",
    "hooks plan --kernel switch-ntoskrnl.exe --function PsGetThreadId PsGetThreadId+1", "ntfs history made.disk *",
    "ntfs compare made.disk demo-disk.img", "ntfs info made.shadows", "ntfs locate demo-disk.img 0 8704 1MiB",
    "driver check --hive made.hive", "trace control explain 0x222024"))
# Whose own layouts for these widths other tests judge.
OWN_LAYOUT = {("trace", "top"), ("trace", "info")}


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def without_blanks(text):
    return re.sub(r"\s", "", text)


class TerminalWidths(case.Case):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.base = Path(place.name)
        StandIns(cls.base, COLDTRACE, PROJECT, DEMO, IMAGES)

    def run_piped(self, command):
        return subprocess.run([COLDTRACE, *command], capture_output=True, timeout=60, cwd=self.base)

    def commands(self):
        for kind, rows in output_hashes.COMMANDS.items():
            for row in rows:
                if output_hashes.OUT in row or row[:2] == ("trace", "synthesize"):
                    continue
                for path in INPUTS.get(kind, ()):
                    command = [path if word == output_hashes.IN else word for word in row]
                    yield command + [path] if path and output_hashes.IN not in row else command
        yield from OTHERS

    def check(self, command, columns, whole):
        environment = {name: value for name, value in os.environ.items() if name not in ("PAGER", "LC_ALL", "LC_CTYPE", "COLUMNS")}
        text, _ = run_on_terminal([COLDTRACE, *command], columns, environment | {"LANG": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1"},
                                  folder=self.base)
        for line in text.splitlines():
            self.assertLessEqual(width(line), columns, line)
            self.assertFalse(line.lstrip().startswith(","), line)
        if tuple(command[:2]) in OWN_LAYOUT:
            return
        shown, leaves_out = without_blanks(text), " left out: a wider terminal" in text
        for line in whole:
            if command[:2] == ["trace", "decode"]:  # times are of the day, and threads are left out
                line = re.sub(r"^(time|\S+T\S+) .*? (\d+|-) +(\d+|-) +", "", line)
            is_heading = line.startswith("time (UTC)") or "  mean  " in line
            if is_heading or without_blanks(line) in shown:
                continue
            for word in (re.split(" {2,}", line)[-1] if leaves_out else line).split():
                self.assertIn(word, shown, line)

    def test_names_and_numbers_of_the_pipe_are_on_the_terminal(self):
        tried, broken = set(), set()
        for command in map(list, self.commands()):
            helped = self.run_piped([*(word for word in command[:3] if re.fullmatch(r"[a-z0-9-]+", word)), "--help"]).stdout
            if not TEXT.search(helped):
                continue
            command += ["-q", "--format", "text"]
            same = [*command, "--human"] if b"--human" in helped else command
            whole = self.run_piped(same).stdout.decode().splitlines()
            for columns in WIDTHS:
                with self.subTest(command=command, columns=columns):
                    self.check(command, columns, whole)
            if whole:
                tried.add(tuple(command[:2]))
            if max(map(width, whole), default=0) > min(WIDTHS):
                broken.add(tuple(command[:2]))
        self.assertGreater(len(tried), 40, tried)
        self.assertGreater(len(broken), 35, broken)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
