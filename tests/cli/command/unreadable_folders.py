"""A folder or file that cannot be read is told, and the others are read all the same.

usage: unreadable_folders.py COLDTRACE DEMO PROJECT [unittest arguments]
DEMO is the folder of the demo's files. Runs as a user who is not root, to whom permissions mean something.
"""
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from cli.driver import hive_writer
from cli.trace.etl_writer import EtlWriter

COLDTRACE, DEMO, PROJECT = (Path(a).resolve() for a in sys.argv[1:4])
FOLDER = Path(tempfile.mkdtemp(prefix="coldtrace-folders-"))
PROGRAM = FOLDER / "coldtrace"
PROVIDER = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")
OTHER_USER = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}


def setUpModule():
    shutil.copy(COLDTRACE, PROGRAM)
    FOLDER.chmod(0o755)


def tearDownModule():
    for path in FOLDER.rglob("closed*"):
        path.chmod(0o755)
    shutil.rmtree(FOLDER)


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=FOLDER, **OTHER_USER)


def close(path):
    path.chmod(0)
    return path


def trace():
    log = EtlWriter()
    log.manifest(0, 1, PROVIDER, 1, 0, b"")
    return log.build()


class Folders(unittest.TestCase):
    def check(self, done, folder):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("folder-unreadable", done.stderr)
        self.assertIn(f"{folder}/closed: cannot be listed: Permission denied", done.stderr)

    def make(self, name, files):
        """A folder with the files, and a closed one with them."""
        for folder in FOLDER / name, FOLDER / name / "closed":
            folder.mkdir()
            for file, content in files.items():
                (folder / file).write_bytes(content)
        close(FOLDER / name / "closed")
        return name

    def test_traces(self):
        folder = self.make("traces", {"a.etl": trace()})
        done = run("trace", "decode", folder)
        self.check(done, folder)
        self.assertIn(str(PROVIDER), done.stdout)
        (FOLDER / folder / "closed.etl").write_bytes(trace())
        close(FOLDER / folder / "closed.etl")
        done = run("trace", "decode", folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("closed.etl: Permission denied", done.stderr.replace("cannot be opened: ", ""))

    def test_schemas(self):
        manifest = (PROJECT / "tests/cli/trace/schemas/painter.man").read_bytes()
        folder = self.make("schemas", {"painter.man": manifest})
        done = run("trace", "schemas", "list", "--schemas", folder)
        self.check(done, folder)
        self.assertIn("aa0f3f0e", done.stdout)
        close(FOLDER / folder / "painter.man").rename(FOLDER / folder / "closed.man")
        done = run("trace", "schemas", "list", "--schemas", folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("closed.man: Permission denied", done.stderr)

    def test_files_of_a_folder_that_can_be_listed_alone_are_named(self):
        """Its listing says that they are files, and no more can be asked."""
        folder = FOLDER / "listed-alone"
        folder.mkdir()
        for name in "x.etl", "x.man", "x.exe":
            (folder / name).write_bytes(trace())
        folder.chmod(0o744)
        for command in (("trace", "decode", folder.name), ("trace", "schemas", "list", "--schemas", folder.name),
                        ("hooks", "table", "--dir", folder.name)):
            with self.subTest(command=command):
                done = run(*command)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr.replace("cannot be opened: ", ""), rf"{folder.name}/x\.\w+: Permission denied")

    def test_formats_and_symbols(self):
        (FOLDER / "one.etl").write_bytes(trace())
        for option in "--tmf", "--pdb":
            folder = self.make(f"files{option}", {"a.tmf": b"nothing", "a.pdb": b"nothing"})
            done = run("trace", "decode", "one.etl", option, folder)
            self.check(done, folder)

    def test_images_of_builds(self):
        kernel = (DEMO / "demo-ntoskrnl.exe").read_bytes().replace(b"demo-ntoskrnl.exe\0", b"ntoskrnl.exe\0\0\0\0\0\0")
        folder = self.make("builds", {"ntoskrnl.exe": kernel})
        done = run("hooks", "table", "--dir", folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"folder-unreadable: {folder}/closed: cannot be listed: Permission denied", done.stderr)
        # Even where it is the only place for one.
        close(FOLDER / folder / "ntoskrnl.exe").rename(FOLDER / folder / "closed.exe")
        done = run("hooks", "table", "--dir", folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"folder-unreadable: {folder}/closed: cannot be listed: Permission denied", done.stderr)
        self.assertIn(f"{folder}/closed.exe: Permission denied", done.stderr)

    def test_logs_of_a_hive(self):
        """What is named can be read where the folder that it lies in cannot be listed."""
        folder = FOLDER / "closed-config"
        folder.mkdir()
        services = {"Services": {"disk": {"Type": 1, "Start": 0, "ErrorControl": 1}}, "Control": {}}
        tree = {"Select": {"Current": 1, "Default": 1, "Failed": 0, "LastKnownGood": 1}, "ControlSet001": services}
        clean = hive_writer.Hive(tree).data
        (folder / "CLEAN").write_bytes(clean)
        (folder / "SYSTEM").write_bytes(hive_writer.with_sequences(clean, 8, 7))
        command = "driver", "check", "--hive", f"{folder.name}/SYSTEM"
        self.assertNotIn("folder-unreadable", run(*command).stderr)
        folder.chmod(0o311)
        self.assertNotIn("folder-unreadable", run(*command[:-1], f"{folder.name}/CLEAN").stderr)  # needs no log
        done = run(*command, "--format", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        said = f"{folder.name}: cannot be listed: Permission denied"
        self.assertIn(f"folder-unreadable: {said}", done.stderr)
        hive, = json.loads(done.stdout)["hives"]
        told, = (row for row in hive["findings"] if row["code"] == "folder-unreadable")
        self.assertTrue(told["text"].startswith(said), told)
        self.assertEqual(run("driver", "check", "--hive", f"{folder.name}/none").returncode, 2)

    def test_results_of_a_batch(self):
        """What cannot be looked at may be the manifest or the lock of another run."""
        (FOLDER / "log.etl").write_bytes(trace())
        out = FOLDER / "results"
        out.mkdir()
        out.chmod(0o777)
        line = "batch", "--input", "log.etl", "--out-dir", "results", "--", "trace"
        self.assertEqual(run(*line, "info").returncode, 0)
        before = sorted(out.iterdir())
        for folder, command in itertools.product(("_batch/trace-info", "_batch"), ("info", "decode")):
            mode = (out / folder).stat().st_mode
            (out / folder).chmod(0o311)
            with self.subTest(folder=folder, command=command):
                done = run(*line, command)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"results/{folder}: cannot be listed: Permission denied", done.stderr)
                self.assertEqual(sorted(out.iterdir()), before)
            (out / folder).chmod(mode)
        self.assertIn("1 of an earlier run", run(*line, "info").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
