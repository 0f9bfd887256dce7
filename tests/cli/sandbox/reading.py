"""No byte of an input is read before the sandbox: a library that is loaded into coldtrace looks.

usage: reading.py COLDTRACE PROJECT [unittest arguments]
With --no-sandbox it sees that the inputs are read, so that each run could fail.
"""
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from cli.sandbox import probes

COLDTRACE, PROJECT = (Path(argument).resolve() for argument in sys.argv[1:3])
del sys.argv[1:3]
CORPUS = PROJECT / "fuzz/corpus"


class Reading(case.Case):
    @classmethod
    def setUpClass(cls):
        probes.require(lambda active: "Landlock ABI" in active, COLDTRACE)

    def setUp(self):
        super().setUp()
        self.probe = probes.build_probe(self.here, "reading_probe.c")
        self.inputs = {}
        for name, source in (("x.exe", "pe_image/x64"), ("ntdll.dll", "syscall_map/wine-x64"),
                             ("a.pdb", "pdb_types/members"), ("disk.img", "ntfs_volume/small.img")):
            shutil.copyfile(CORPUS / source, self.here / name)
        subprocess.run([COLDTRACE, "trace", "synthesize", "deadlock-2", "-o", self.here / "run.ctrace"], check=True)
        subprocess.run([COLDTRACE, "ntfs", "snapshot", self.here / "disk.img", "-q", "-o", self.here / "disk.ndjson"])

    def lines(self):
        """Commands, and the names of their inputs."""
        yield ["pe", "info"], "x.exe"
        yield ["pe", "exports"], "ntdll.dll"
        yield ["pe", "types"], "a.pdb"
        yield ["pe", "isf"], "a.pdb"
        yield ["pe", "compare"], "x.exe", "x.exe"
        yield ["syscalls", "map"], "ntdll.dll"
        yield ["hooks", "iat"], "x.exe"
        yield ["ntfs", "info"], "disk.img"
        yield ["ntfs", "snapshot"], "disk.img"
        yield ["ntfs", "snapshot", "--format", "sqlite"], "disk.img"
        yield ["ntfs", "query", "--where", "size >= 0"], "disk.img"
        yield ["ntfs", "compare"], "disk.ndjson", "disk.img"
        yield ["trace", "info"], "run.ctrace"
        yield ["trace", "decode"], "run.ctrace"
        yield ["trace", "top"], "run.ctrace"
        yield ["trace", "compare"], "run.ctrace", "run.ctrace"
        yield ["trace", "export", "sqlite"], "run.ctrace"
        yield ["trace", "export", "ctf"], "run.ctrace"
        yield ["servicing"], "x.exe", "ntdll.dll"
        yield ["report"], "run.ctrace"
        yield ["report"], "disk.img"

    def look(self, command, names, *options):
        """What of the inputs was read outside, and whether the sandbox was entered."""
        report = self.here / "seen"
        report.unlink(missing_ok=True)
        paths = [str(self.here / name) for name in names]
        done = subprocess.run(
            [COLDTRACE, *command, *paths, *map(str, options)], capture_output=True, timeout=120,
            env={**os.environ, "LD_PRELOAD": str(self.probe), "PROBE_REPORT": str(report),
                 "PROBE_FILES": ":".join(dict.fromkeys(paths))})
        rows = [row.split(" ", 1) for row in report.read_text().splitlines()]
        self.assertIn(["begin", ""], rows)
        outside = rows[:rows.index(["sandbox", ""])] if ["sandbox", ""] in rows else rows
        read = {Path(path).name for what, path in outside if what in ("read", "mapped")}
        return done, read, ["sandbox", ""] in rows

    def test_inputs_are_read_in_the_sandbox_alone(self):
        for command, *names in self.lines():
            for number, old in enumerate((None, None, b"before")):
                with self.subTest(command=command, number=number):
                    output = self.here / "results"
                    if output.is_dir():
                        shutil.rmtree(output)
                    output.unlink(missing_ok=True)
                    if old and command[-1] != "ctf":
                        output.write_bytes(old)
                    if number == 0 and command[-1] == "ctf":
                        continue  # a folder, which needs a name
                    options = ["-o", output] if number else []
                    done, read, entered = self.look(command, names, *options)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.assertEqual((read, entered), (set(), True))

    def test_names_that_parts_of_images_have_are_told_in_the_sandbox_too(self):
        for name in "disk.001", "disk.002":
            shutil.copyfile(self.here / "disk.img", self.here / name)
        for output in "disk.002", "disk.003":
            done, read, entered = self.look(["ntfs", "info"], ["disk.001"], "-o", self.here / output)
            self.assertEqual((done.returncode, read, entered), (2, set(), True), done.stderr)
            self.assertIn(b"part of the split image", done.stderr)

    def test_a_line_that_is_not_run_reads_no_input_outside(self):
        for options in ["--bogus"], ["--help"], ["--csv-safe", "--format", "json"]:
            with self.subTest(options=options):
                done, read, entered = self.look(["pe", "info"], ["x.exe"], *options)
                self.assertEqual((read, entered), (set(), True), done.stderr)

    def test_the_library_sees_what_is_read(self):
        report, path = self.here / "seen", self.here / "x.exe"
        subprocess.run(["cat", path], capture_output=True, check=True,
                       env={**os.environ, "LD_PRELOAD": str(self.probe), "PROBE_REPORT": str(report),
                            "PROBE_FILES": str(path)})
        self.assertIn(f"read {path}", report.read_text())


if __name__ == "__main__":
    unittest.main()
