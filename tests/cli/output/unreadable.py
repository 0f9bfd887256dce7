"""A file that is there and cannot be read is told as that, whoever looks at it, and taken for no other file.

usage: unreadable.py COLDTRACE PROJECT MAKE_TRACE [unittest arguments]
A library that is loaded into coldtrace makes a range of one file unreadable.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case

COLDTRACE, PROJECT, MAKE_TRACE = (Path(argument).resolve() for argument in sys.argv[1:4])
del sys.argv[1:4]
CORPUS = PROJECT / "fuzz/corpus"
PAGE = 4096
EIO = os.strerror(5)


class Unreadable(case.Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("cc"):
            self.skipTest("no C compiler")
        self.probe = self.here / "probe.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", self.probe,
                        PROJECT / "tests/cli/output/bad_file_probe.c", "-ldl"], check=True)

    def run_with(self, bad, first, end, *command):
        return subprocess.run([COLDTRACE, *map(str, command)], capture_output=True, timeout=120,
                              env={**os.environ, "LD_PRELOAD": str(self.probe), "BAD_FILE": str(bad),
                                   "BAD_FROM": str(first), "BAD_TO": str(end)})

    def folder(self, name, **files):
        folder = self.here / name
        folder.mkdir()
        for file, content in files.items():
            (folder / file.replace("_", ".", 1)).write_bytes(content)
        return folder

    def trace(self):
        folder = self.here / "made"
        folder.mkdir()
        self.call(MAKE_TRACE, folder)
        return (folder / "busy.etl").read_bytes()

    def manifest(self):
        """An XML document of 20 KB, most of it in front of what it declares."""
        text = ('<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><!--' + "a" * 20000
                + '--><instrumentation><events><provider name="Some-Provider" symbol="Some" '
                'guid="{11111111-2222-3333-4444-555555555555}" resourceFileName="a" messageFileName="a">'
                '<events><event value="1" version="0"/></events></provider></events></instrumentation>'
                '</instrumentationManifest>')
        return text.encode()

    def check_told(self, done, exit_status, bad):
        self.assertEqual(done.returncode, exit_status, done.stderr + done.stdout)
        told = [line for line in done.stderr.decode().splitlines() if bad.name in line and EIO in line]
        self.assertTrue(told, done.stderr)

    def test_a_module_of_a_folder(self):
        image = (CORPUS / "pe_image/x64").read_bytes()
        old, new = (self.folder(name, ntdll_dll=image, other_dll=image) for name in ("old", "new"))
        bad = new / "other.dll"
        for command, status in ((["servicing", old, new], 1), (["hooks", "iat", "--dir", new], 1)):
            with self.subTest(command=command[0]):
                done = self.run_with(bad, 0, PAGE, *command, "--format", "json")
                self.check_told(done, status, bad)
                document = json.loads(done.stdout)
                self.assertIn("other.dll", json.dumps(document["unreadable"]))

    def test_a_trace_of_a_folder(self):
        log = self.trace()
        folder = self.folder("traces", a_etl=log, **{"z_etl.gz": gzip.compress(log, mtime=0)}, noname=log)
        for name, first in ("a.etl", 0), ("a.etl", PAGE), ("z.etl.gz", 0), ("z.etl.gz", PAGE), ("noname", 0):
            for command in ["info"], ["decode", "--format", "ndjson"]:
                with self.subTest(name=name, first=first, command=command):
                    done = self.run_with(folder / name, first, first + PAGE, "trace", *command, folder)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn(EIO.encode(), done.stderr)

    def test_a_manifest_of_a_folder(self):
        folder = self.folder("schemas", some_man=self.manifest())
        bad = folder / "some.man"
        (folder / "x64.dll").write_bytes((CORPUS / "pe_image/x64").read_bytes())
        for first in 0, 2 * PAGE, 4 * PAGE:
            with self.subTest(first=first):
                done = self.run_with(bad, first, first + PAGE, "trace", "schemas", "list", folder)
                self.check_told(done, 1, bad)

    def test_the_cause_of_a_file_that_is_named(self):
        image = self.write("image.exe", (CORPUS / "pe_image/x64").read_bytes())
        kernel = self.write("kernel.exe", (CORPUS / "syscall_map/wine-x64").read_bytes())
        table = self.here / "table.json"
        self.call(COLDTRACE, "hooks", "table", "--kernel", kernel, "--format", "json", "-o", table)
        pdb = self.write("types.pdb", (CORPUS / "pdb_types/members").read_bytes())
        log = self.trace()
        packed = self.write("log.etl.gz", gzip.compress(log, mtime=0))
        rows = self.here / "volume.ndjson"
        self.call(COLDTRACE, "ntfs", "snapshot", CORPUS / "ntfs_volume/small.img", "-o", rows)
        for bad, first, command in (
                (image, 0, ["pe", "info", image]),
                (kernel, 0, ["syscalls", "map", kernel]),
                (kernel, 0, ["hooks", "verify", table, kernel]),
                (pdb, 0, ["pe", "types", pdb]),
                (pdb, 0, ["pe", "symbols", pdb]),
                (packed, 0, ["trace", "info", packed]),
                (packed, PAGE, ["trace", "info", packed]),
                (rows, 0, ["ntfs", "query", rows, "--where", "size >= 0"]),
                (rows, 0, ["ntfs", "info", rows])):
            with self.subTest(command=command, first=first):
                self.check_told(self.run_with(bad, first, first + PAGE, *command), 2, bad)

    def test_rows_before_what_cannot_be_read(self):
        rows = self.here / "volume.ndjson"
        self.call(COLDTRACE, "ntfs", "snapshot", CORPUS / "ntfs_volume/small.img", "-o", rows)
        text = rows.read_bytes()
        lines = text.splitlines(keepends=True)
        half = len(b"".join(lines[:len(lines) // 2])) + 3  # inside a line
        done = self.run_with(rows, half, half + 1, "ntfs", "query", rows, "--where", "size >= 0", "--format", "ndjson")
        self.assertEqual(done.returncode, 1, done.stderr)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertIn("snapshot-incomplete", {finding["code"] for finding in found[-1]["findings"]})
        listed = sum(row["type"] == "file" for row in found)
        whole = sum(json.loads(line)["type"] == "file" for line in lines)
        before = text[:half // 512 * 512].count(b"\n")
        self.assertTrue(before - 2 <= listed < whole, (before, listed, whole))


if __name__ == "__main__":
    unittest.main()
