"""What the trace commands write, checked against their JSON Schemas and real traces.

usage: trace.py COLDTRACE SOURCES SHARED MAKE_TRACE [unittest arguments]
MAKE_TRACE writes a trace with every header type, clock and loss into a folder.
"""
import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema

COLDTRACE, SOURCES, SHARED, MAKE_TRACE = (Path(a).resolve() for a in sys.argv[1:5])
SAMPLES = SHARED / "samples" / "etl"


def run(*arguments):
    return subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True,
                          timeout=120)


def schema(name):
    document = json.loads((SOURCES / "docs/schema" / name).read_text())
    return jsonschema.Draft202012Validator(document)


def sample(name):
    path = SAMPLES / name
    if not path.exists():
        raise unittest.SkipTest("the sample traces are not here")
    return path


class Trace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([MAKE_TRACE, cls.folder], check=True)
        cls.made = sorted(cls.folder.glob("*.etl"))

    def lines(self, *arguments, status=0):
        done = run("decode", *arguments)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return [json.loads(line) for line in done.stdout.splitlines()]

    def events(self, *arguments, **options):
        return [line for line in self.lines(*arguments, **options) if line["type"] == "event"]

    def test_every_line_follows_the_schema(self):
        validator = schema("trace.schema.json")
        for path in [*self.made, sample("pv_primitive-types.etl"), sample("tx_BondEtwSample.etl")]:
            for options in [], ["--int64", "string", "--header-fields"]:
                with self.subTest(path=path.name, options=options):
                    done = run("decode", path, *options)
                    self.assertIn(done.returncode, (0, 1))
                    lines = [json.loads(line) for line in done.stdout.splitlines()]
                    self.assertEqual(lines[0]["type"], "header")
                    self.assertEqual(lines[-1]["type"], "summary")
                    for line in lines:
                        validator.validate(line)

    def test_info_follows_its_schema_and_counts_the_same(self):
        validator = schema("trace-info.schema.json")
        for path in [*self.made, sample("tx_HTTP_Server.etl"), sample("pv_gcevents.etl")]:
            with self.subTest(path=path.name):
                done = run("info", path, "--format", "json")
                info = json.loads(done.stdout)
                validator.validate(info)
                kinds = [kind for provider in info["providers"] for kind in provider["kinds"]]
                counts = json.loads(run("decode", path).stdout.splitlines()[-1])["counts"]
                for how in "exact", "trailing", "partial", "raw":
                    self.assertEqual(sum(kind[how] for kind in kinds), counts[how])
                self.assertIn(b"decode exactly", run("info", path).stdout)

    def test_jobs_change_nothing(self):
        for path in [*self.made, sample("dp_vsgc.etl")]:
            with self.subTest(path=path.name):
                outputs = {run("decode", path, "--jobs", jobs).stdout for jobs in (1, 3)}
                self.assertEqual(len(outputs), 1)

    def test_json_is_one_array_of_the_same_objects(self):
        for path in self.made:
            done = run("decode", path, "--format", "json")
            lines = [json.loads(line) for line in run("decode", path).stdout.splitlines()]
            self.assertEqual(json.loads(done.stdout), lines)

    def test_csv_has_the_documented_columns(self):
        for path in [*self.made, sample("pv_primitive-types.etl")]:
            lines = [json.loads(line) for line in run("decode", path).stdout.splitlines()]
            done = run("decode", path, "--format", "csv")
            rows = list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))
            self.assertEqual(len(rows), len(lines) - 2)
            for row, line in zip(rows, lines[1:-1]):
                self.assertEqual(row["type"], line["type"])
                self.assertEqual(row["time"], line["time"] or "")
                if line["type"] == "event":
                    self.assertEqual(json.loads(row["fields"]), line["fields"])
                    self.assertEqual(row["decoded"], line["decoded"])
                    self.assertEqual(row["name"], line["name"] or "")
                    self.assertEqual(row["provider_guid"], line["provider"]["guid"])

    def test_packed_traces_are_the_same(self):
        path = self.made[0]
        packed = self.folder / "packed.etlgz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        plain = run("decode", path)
        self.assertEqual(run("decode", packed).stdout, plain.stdout)
        packed.write_bytes(packed.read_bytes()[:-200])
        done = run("decode", packed)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"gzip-damaged", done.stderr)
        self.assertIn(b"gzip-limit", run("decode", packed, "--unpacked-limit", "4KiB").stderr)

    def test_selection_takes_what_it_says(self):
        path = sample("tx_BondEtwSample.etl")
        made = next(p for p in self.made if p.name == "names.etl")
        everything = {path: self.events(path), made: self.events(made)}
        self.assertEqual(self.events(path, "--limit", 5), everything[path][:5])
        first, last = (everything[path][i]["time"] for i in (3, 8))
        pid = everything[path][4]["pid"]
        guid = everything[path][4]["provider"]["guid"]
        for file, options, wanted in [
            (made, ["--event", "FileIo/Read"], lambda e: e["name"] == "FileIo/Read"),
            (made, ["--event", "fileio"], lambda e: e["name"].startswith("FileIo/")),
            (made, ["--provider", "windows kernel", "--event", "Process,Image"],
             lambda e: e["name"].split("/")[0] in ("Process", "Image")),
            (made, ["--event", "File?o/*,*/Nothing*"], lambda e: e["name"].startswith("FileIo/")),
            (made, ["--provider", "WINDOWS*"], lambda e: e["provider"]["name"] == "Windows Kernel"),
            (path, ["--event", "65534,99"], lambda e: e["id"] == 65534),
            (path, ["--provider", f"{{{guid}}}"], lambda e: e["provider"]["guid"] == guid),
            (path, ["--pid", pid], lambda e: e["pid"] == pid),
            (path, ["--from", first, "--to", last], lambda e: first <= e["time"] <= last),
        ]:
            with self.subTest(options=options):
                expected = [event for event in everything[file] if wanted(event)]
                self.assertTrue(expected)
                asked_in_vain = "65534,99" in options or "File?o/*,*/Nothing*" in options
                self.assertEqual(self.events(file, *options, status=1 if asked_in_vain else 0),
                                 expected)

    def test_what_matches_nothing_is_said_with_the_nearest_names(self):
        path = next(p for p in self.made if p.name == "names.etl")
        first, last = (self.events(path)[i]["time"] for i in (0, -1))
        pid = next(e["pid"] for e in self.events(path) if e["pid"])
        for options, words in [
            (["--event", "FileIo/Raed"], "--event: nothing matches 'FileIo/Raed'; did you mean "
                                         "'FileIo/Read'"),
            (["--provider", "Windows Kernal"], "did you mean 'Windows Kernel'"),
            (["--event", "Zz*,FileIo"], "--event: nothing matches 'Zz*'"),
            (["--pid", "4242424"], "--pid: nothing matches '4242424'"),
            (["--from", last, "--to", first], "--from is after --to"),
            (["--from", "2099-01-01"], "no event has all that was asked for"),
            # Each alone is there, both together are not.
            (["--event", "65535", "--pid", pid], "--event: nothing matches '65535'"),
        ]:
            with self.subTest(options=options):
                done = run("decode", *options, path)
                self.assertEqual(done.returncode, 1)
                (warning,) = done.stderr.decode().splitlines()
                self.assertIn("warning: no-match: ", warning)
                self.assertIn(words, warning)
                summary = json.loads(done.stdout.splitlines()[-1])
                self.assertEqual([f["code"] for f in summary["findings"]], ["no-match"])
                self.assertEqual(run("decode", "--tolerate", "no-match", *options,
                                     path).returncode, 0)
        # What was not looked at to the end is not missed.
        self.lines(path, "--limit", 1, "--event", "FileIo,Zz*")

    def test_logged_calls_of_nttracecontrol_are_explained(self):
        """EtwStopLoggerCode wants two WMI_LOGGER_INFORMATION, of 0xB0 bytes each."""
        fails, open_ = (event["trace_control"]
                         for event in self.events(self.folder / "control.etl")
                         if event["name"] == "NtTraceControl")
        self.assertEqual((fails["code"], fails["name"]), (2, "EtwStopLoggerCode"))
        self.assertEqual((fails["version"], fails["outcome"]), ("10.0", "fails"))
        self.assertEqual(fails["statuses"],
                         [{"name": "STATUS_INVALID_BUFFER_SIZE", "value": 0xc0000206}])
        # Whether Wnode.BufferSize is large enough is not in the trace.
        self.assertEqual((open_["outcome"], open_["statuses"]), ("undecided", []))

    def test_names_that_come_late_are_there(self):
        events = self.events(next(p for p in self.made if p.name == "names.etl"))
        by_name = {event["name"]: event for event in events}
        self.assertEqual(by_name["FileIo/Read"]["resolved"]["FileKey"], "\\Device\\late.txt")
        self.assertEqual(by_name["FileIo/Read"]["process"], "late.exe")
        self.assertEqual(by_name["Registry/QueryValue"]["resolved"]["KeyHandle"],
                         "\\REGISTRY\\MACHINE\\Key")
        self.assertEqual(by_name["PerfInfo/SampleProf"]["resolved"]["InstructionPointer"],
                         "\\Windows\\image.dll+0x123")
        self.assertEqual(by_name["StackWalk/StackKeyUser"]["stack"], ["0x11", "0x22"])

    def test_times_of_a_cycle_clock_say_what_they_are_worth(self):
        for event in self.events(next(p for p in self.made if p.name == "cycles.etl")):
            self.assertEqual(event["time_quality"], "approximate")

    def test_loss_and_damage_are_lines_and_exit_with_1(self):
        lines = self.lines(next(p for p in self.made if p.name == "damaged.etl"), status=1)
        self.assertEqual({line["reason"] for line in lines if line["type"] == "gap"},
                         {"events-lost", "buffers-lost", "damaged", "buffers-missing"})
        missing = [line for line in lines if line.get("reason") == "buffers-missing"]
        self.assertEqual([line["buffers"] for line in missing], [5])
        in_file = self.lines(next(p for p in self.made if p.name == "damaged.etl"), "--order",
                             "file", status=1)
        self.assertEqual(len(in_file), len(lines))

    def test_what_is_no_trace_is_2(self):
        path = self.folder / "no.trace"
        for content in b"", b"MZ", bytes(4096), b"\x1f\x8b\x08" + bytes(100):
            path.write_bytes(content)
            done = run("decode", path)
            self.assertEqual(done.returncode, 2, content[:4])
            self.assertEqual(done.stdout, b"")
            self.assertIn(b"no.trace", done.stderr)
        self.assertEqual(run("decode", path, "--from", "yesterday").returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
