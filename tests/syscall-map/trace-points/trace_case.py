"""What the tests of trace points share: coldtrace, the linker's map, another disassembler.

Their arguments: COLDTRACE IMAGES SOURCES OBJDUMP CLANG WINE [unittest arguments]
Images and tools that are not there are skipped.
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

COLDTRACE, IMAGES, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:4])
OBJDUMP, CLANG = sys.argv[4:6]
WINE = Path(sys.argv[6])
SCHEMAS = SOURCES / "docs" / "schema"
# What the made-up kernels lack.
LACKING = ("context-switch-not-found,thread-offset-missing,no-services,no-service-table,"
           "trace-point-refused,no-match")
# objdump's words for the same.
SAME = {"movabs": "mov", "jne": "jnz", "rep": "movsb"}


def schema(name):
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text())


def image(name, file="ntoskrnl.exe"):
    path = IMAGES / name / file
    if not path.exists():
        raise unittest.SkipTest(f"no linker made {name}")
    return path


class Map:
    """What the linker says: places of labels and sections, as RVAs."""

    def __init__(self, path):
        text = path.read_text()
        base = int(re.search(r"Preferred load address is ([0-9a-f]+)", text)[1], 16)
        self.labels = {}
        for name, address in re.findall(r"^ [0-9a-f]{4}:[0-9a-f]{8}\s+(\S+)\s+([0-9a-f]{16})",
                                        text, re.MULTILINE):
            self.labels[name[1:] if name.startswith("_") else name] = int(address, 16) - base


class Disassembly:
    """Instructions by RVA, as llvm-objdump reads them: bytes and mnemonic."""

    def __init__(self, path, *options):
        if "NOTFOUND" in OBJDUMP:
            raise unittest.SkipTest("no llvm-objdump")
        headers = subprocess.run([OBJDUMP, "-p", path], capture_output=True, text=True, timeout=60)
        base = int(re.search(r"ImageBase\s+([0-9a-f]+)", headers.stdout)[1], 16)
        done = subprocess.run([OBJDUMP, "-d", "--x86-asm-syntax=intel", *options, path],
                              capture_output=True, text=True, timeout=300)
        self.at = {}
        prefix = b""
        for line in done.stdout.splitlines():
            found = re.match(r"\s*([0-9a-f]+): ((?:[0-9a-f]{2} )*[0-9a-f]{2})\s+(\S+)", line)
            if not found:
                continue
            code = prefix + bytes.fromhex(found[2])
            # objdump gives the prefix of an atomic instruction a line of its own.
            prefix = code if found[3] == "lock" else b""
            if not prefix:
                self.at[int(found[1], 16) - base - len(code) + len(bytes.fromhex(found[2]))] = (
                    code, found[3])


class Case(case.Case):
    def hooks(self, status, *arguments):
        done = subprocess.run([COLDTRACE, "hooks", *map(str, arguments)], capture_output=True,
                              timeout=300)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def plan(self, kernel, places, *more, status=0, tolerate=LACKING, valid=True):
        done = self.hooks(status, "plan", "--format", "json", "--tolerate", tolerate, "--kernel",
                          kernel, *more, "--function", *places)
        document = strict_json(done.stdout)
        if valid:
            json_schema.validate(document, schema("trace-plan"))
        self.assertEqual([point["requested"] for point in document["points"]],
                         [str(place) for place in places])
        return document

    def points(self, kernel, places, *more, **options):
        return self.plan(kernel, places, *more, **options)["points"]

    def kept(self, points):
        """What a binary table keeps of them."""
        return [{**point, "source_evidence": []} for point in points]

    def codes(self, point):
        return [refusal["code"] for refusal in point["refusals"]]
