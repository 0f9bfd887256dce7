"""What documents show of the Python module runs as it stands there, on files that lack what others have, and has the types
that mypy --strict wants.

usage: documents.py BUILD SOURCES [unittest arguments]
"""
import ast
import re
import shutil
import struct
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from case import Case  # noqa: E402
from cli.trace.etl_writer import EtlWriter  # noqa: E402

BUILD, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
del sys.argv[1:3]
MODULES = BUILD / "python"
ENVIRONMENT = {"PYTHONPATH": str(MODULES), "MYPYPATH": str(MODULES), "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"}
RECORD_SIZE = 1024
START = 0x0301  # of a process


def shown():
    """The programs of README, documents and the module's help, by where they stand."""
    described = ast.get_docstring(ast.parse((SOURCES / "python/coldtrace/__init__.py").read_text()))
    example = textwrap.dedent("".join(re.findall(r"^(?: {4}.*)?\n", described, re.M)))
    return {"help(coldtrace)": example} | {f"{path.relative_to(SOURCES)} {number}": text
            for path in (SOURCES / "README.md", *sorted((SOURCES / "docs").rglob("*.md")))
            for number, text in enumerate(re.findall(r"^```python\n(.*?)^```", path.read_text(), re.S | re.M), 1)}


def without_standard_information(image, name):
    """The bytes of a volume, of whose file of this name the record has no $STANDARD_INFORMATION."""
    content = bytearray(image)
    at = next(match.start() // RECORD_SIZE * RECORD_SIZE
              for match in re.finditer(re.escape(name.encode("utf-16-le")), content)
              if content[match.start() // RECORD_SIZE * RECORD_SIZE:][:4] == b"FILE")
    record = content[at:at + RECORD_SIZE]
    array, count = struct.unpack_from("<HH", record, 4)
    for sector in range(1, count):
        record[sector * 512 - 2:sector * 512] = record[array + 2 * sector:array + 2 * sector + 2]
    first, = struct.unpack_from("<H", record, 20)
    kind, size = struct.unpack_from("<II", record, first)
    assert kind == 0x10
    record[first:] = record[first + size:] + bytes(size)
    struct.pack_into("<I", record, 24, struct.unpack_from("<I", record, 24)[0] - size)
    for sector in range(1, count):
        record[array + 2 * sector:array + 2 * sector + 2] = record[sector * 512 - 2:sector * 512]
        record[sector * 512 - 2:sector * 512] = record[array:array + 2]
    content[at:at + RECORD_SIZE] = record
    return content


class Documents(Case):
    def setUp(self):
        super().setUp()
        for path, text in shown().items():
            self.write(re.sub(r"\W", "_", path) + ".py", text.encode())
        self.programs = sorted(self.here.glob("*.py"))

    def volume(self):
        image = self.here / "disk.E01"
        with image.open("wb") as file:
            file.truncate(16 << 20)
        self.call("mkntfs", "-F", "-q", "-s", "512", "-p", "0", "-H", "16", "-S", "63", image)
        self.write("content", bytes(1_500_000))
        for name in "healthy.exe", "without.exe":
            self.call("ntfscp", "-q", image, self.here / "content", name)
        image.write_bytes(without_standard_information(image.read_bytes(), "without.exe"))

    def test_there_are_some(self):
        self.assertTrue(self.programs)

    def test_they_run(self):
        for program in "mkntfs", "ntfscp":
            if not shutil.which(program):
                raise unittest.SkipTest(f"no {program}")
        self.volume()
        trace = EtlWriter()
        trace.process(0, 100, 42, "cmd.exe", hook=START)
        trace.system(0, START, 4, 200, bytes(8))  # whose fields end before the name
        self.write("run.etl", trace.build())
        (self.here / "System32").mkdir()
        for program in self.programs:
            done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120,
                                  env=ENVIRONMENT, cwd=self.here)
            with self.subTest(program=program.name):
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, r"(?m)^/healthy\.exe 1500000 \d{4}-\d\d-\d\dT")
                self.assertRegex(done.stdout, r"(?m)^/without\.exe 1500000 -$")
                if "open_trace" in program.read_text():
                    self.assertRegex(done.stdout, r"(?m) cmd\.exe$")
                    self.assertRegex(done.stdout, r"(?m) None$")

    def test_their_types_are_right(self):
        if subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True).returncode != 0:
            raise unittest.SkipTest("no mypy")
        for program in self.programs:
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", program], capture_output=True, text=True,
                                  timeout=120, env=ENVIRONMENT, cwd=self.here)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
