"""Every command reads every input there is: images that are built here, samples, Wine's files.

What the values are is for others to say; here each run ends with an exit code of the contract and
without a word of a sanitizer, and what it writes as JSON, strict readers take, and is what its schema
in docs/schema says, of long outputs the first lines. An input of another kind than the command's is
among them for every command. With sanitizers a command reads each third of those above a few KiB and each sixth
of those above a MiB, others than the next command does, and the readers and schemas, who would be told what they
are without, are left out.

usage: every_input.py COLDTRACE IMAGES WINE SHARED [unittest arguments]
"""
import functools
import json
import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
from case import Case, is_sanitized
from sample_volumes import sample_volume
from strict import strict_json, strict_ndjson

COLDTRACE, IMAGES, WINE, SHARED = (Path(argument).resolve() for argument in sys.argv[1:5])
SANITIZED = is_sanitized(COLDTRACE)
JSON = ("--format", "json")
IMAGE_COMMANDS = (
    ("pe", "info", "--details", *JSON), ("pe", "info", "--details"), ("pe", "exports", *JSON),
    ("pe", "imports", *JSON), ("pe", "sections", *JSON), ("syscalls", "map", *JSON),
    ("hooks", "tables", *JSON), ("hooks", "context-switch", *JSON), ("hooks", "iat", *JSON),
    ("hooks", "locate", *JSON, "Nt*"), ("hooks", "table", *JSON))
TRACE_COMMANDS = (("trace", "info", *JSON), ("trace", "info"), ("trace", "decode"),
                  ("trace", "decode", "--order", "file"), ("trace", "tree", *JSON),
                  ("trace", "tree", "--format", "svg"), ("trace", "schedule", *JSON),
                  ("trace", "services", *JSON), ("trace", "graph", "wait-for", *JSON),
                  ("trace", "deadlocks", *JSON), ("trace", "critical-path", "--thread", "4", *JSON),
                  ("trace", "check", "--expect", "pid == 4", *JSON),
                  ("trace", "priority", *JSON), ("trace", "priority"),
                  ("trace", "io", *JSON), ("trace", "cpu", *JSON), ("trace", "idle", *JSON),
                  ("trace", "symbols", *JSON), ("trace", "packets"),
                  ("trace", "schemas", "check", *JSON),
                  ("trace", "check", "--expect", "pid == 4", "--format", "junit"),
                  ("trace", "top", *JSON), ("trace", "top"),
                  ("trace", "cpu", "--format", "collapsed"),
                  ("trace", "export", "chrome"), ("trace", "export", "firefox"),
                  ("trace", "export", "speedscope"), ("trace", "export", "collapsed", "--of", "disk"),
                  ("trace", "export", "perfetto"),
                  ("trace", "cpu", "--format", "collapsed", "--of", "waiting"),
                  ("report", "-o", "-"))
VOLUME_COMMANDS = (("ntfs", "info", *JSON), ("ntfs", "snapshot"),
                   ("ntfs", "snapshot", "--format", "csv"),
                   ("ntfs", "snapshot", "--format", "bodyfile"), ("ntfs", "snapshot", "--slack"),
                   ("ntfs", "journal", *JSON), ("report", "-o", "-"))
PDB_COMMANDS = (("pe", "types", *JSON), ("pe", "types", "--format", "c-header"), ("pe", "isf"),
                ("pe", "symbols", *JSON))


SCHEMAS = Path(__file__).resolve().parents[3] / "docs/schema"
LONG = 100_000  # bytes of a document, which take a second to validate
MOST_LINES = 100


@functools.cache
def validator(schema):
    name = schema.removeprefix("coldtrace.").partition("/")[0]
    return json_schema.of(json.loads((SCHEMAS / f"{name}.schema.json").read_text()))


def share(path):
    """One of how many such inputs a command reads."""
    size = path.stat().st_size
    return 1 if not SANITIZED or size < 1 << 12 else 3 if size < 1 << 20 else 6


def run(command, path):
    done = subprocess.run([COLDTRACE, *command, path], capture_output=True, timeout=300)
    return command, path, done


class EveryInput(Case):
    def setUp(self):
        super().setUp()
        self.validated = set()

    def read_all(self, commands, paths):
        pairs = [(command, path) for i, command in enumerate(commands) for j, path in enumerate(paths)
                 if (i + j) % share(path) == 0]
        codes = set()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for command, path, done in pool.map(lambda pair: run(*pair), pairs):
                with self.subTest(command=" ".join(command), path=path.name):
                    errors = done.stderr.decode()
                    self.assertIn(done.returncode, (0, 1, 2), errors[-3000:])
                    self.assertNotRegex(errors, "AddressSanitizer|runtime error|LeakSanitizer")
                    codes.add(done.returncode)
                    if done.returncode == 2 and not done.stdout:
                        self.assertTrue(errors)
                    elif SANITIZED:
                        continue
                    elif "json" in command:
                        document = strict_json(done.stdout)
                        if len(done.stdout) < LONG:
                            self.is_as_its_schema(document, [document])
                    elif command[1] in ("decode", "snapshot") and "--format" not in command:
                        lines = strict_ndjson(done.stdout)
                        if lines:
                            self.is_as_its_schema(lines[0], [*lines[:MOST_LINES], lines[-1]])
        self.assertIn(0, codes)
        if not SANITIZED:
            self.assertGreater(len(self.validated), 1)

    def is_as_its_schema(self, head, values):
        for value in values:
            validator(head["schema"]).validate(value)
        self.validated.add(head["schema"])

    def another_kind(self):
        return [self.write("empty", b""), self.write("text", b"no image, no volume, no trace\n" * 99)]

    def test_images(self):
        images = sorted(IMAGES.glob("*/*.dll")) + sorted(IMAGES.glob("*/*.exe"))
        images += sorted(IMAGES.glob("*/*.sys")) + sorted(WINE.glob("*/ntoskrnl.exe"))
        self.assertTrue(images)
        self.read_all(IMAGE_COMMANDS, images + self.another_kind())

    def test_pdbs(self):
        pdbs = sorted(IMAGES.rglob("*.pdb"))[::3]
        self.assertTrue(pdbs)
        self.read_all(PDB_COMMANDS, pdbs + self.another_kind())

    def test_traces(self):
        paths = sorted((SHARED / "samples" / "etl").glob("*.etl"))
        if not paths:
            self.skipTest("the sample traces are not here")
        self.read_all(TRACE_COMMANDS, paths + self.another_kind())

    def test_volumes(self):
        packed = sorted((SHARED / "samples" / "ntfs").glob("*.raw.gz"))
        if not packed:
            self.skipTest("the sample volumes are not here")
        self.read_all(VOLUME_COMMANDS, list(map(sample_volume, packed)) + self.another_kind())


if __name__ == "__main__":
    del sys.argv[1:5]
    unittest.main()
