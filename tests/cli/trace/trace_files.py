"""Several files, folders and archives of .etl files are one trace: merged by time, with the names and
schemas of all, and refused where they are not from one boot of one machine.

usage: trace_files.py COLDTRACE SOURCES SHARED [unittest arguments]
A whole trace is cut into parts, and their merge must be the whole; a second merge is made here.
"""
import json
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid
import xml.etree.ElementTree
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
from cli.trace.etl_writer import EtlWriter
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SOURCES, SHARED = (Path(a).resolve() for a in sys.argv[1:4])
PROVIDER = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")


def run(*arguments, **options):
    return subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True,
                          timeout=120, **options)


def buffers_of(data):
    at, buffers = 0, []
    while at + 72 <= len(data):
        size = struct.unpack_from("<I", data, at)[0]
        buffers.append(data[at:at + size])
        at += size
    return buffers


def file_of(header, buffers):
    """A file with these buffers, numbered and counted as a session of its own does it."""
    header = bytearray(header)
    struct.pack_into("<I", header, 72 + 32 + 36, len(buffers) + 1)  # BuffersWritten
    first = struct.unpack_from("<q", header, 0x18)[0]
    numbered = []
    for number, buffer in enumerate(buffers):
        buffer = bytearray(buffer)
        struct.pack_into("<q", buffer, 0x18, first + 1 + number)
        numbered.append(bytes(buffer))
    return bytes(header) + b"".join(numbered)


def kernel(seed=1, **options):
    """Switches of two processors, with their processes and threads."""
    writer, chance = EtlWriter(2, clock=1, **options), random.Random(seed)
    for tid in range(8):
        writer.process(0, 10 + tid, 100 + tid, f"p{tid}.exe")
    for tid in range(8):
        writer.thread(0, 20 + tid, 100 + tid, 1000 + tid)
    running, time = [1000, 1001], 100
    for _ in range(400):
        time += chance.randrange(3)
        cpu = chance.randrange(2)
        new = chance.choice([t for t in range(1000, 1008) if t not in running])
        writer.switch(cpu, time, running[cpu], new)
        running[cpu] = new
        writer.call(cpu, time, 0xfffff80000001000)
    return writer


def user(seed=2, count=300):
    writer, chance = EtlWriter(2, clock=1), random.Random(seed)
    time = 90
    for number in range(count):
        time += chance.randrange(4)
        record = struct.pack("<HBBHHIIQ", 84, 19, 0xC0, 0, 0, 1000 + number % 8, 100 + number % 8,
                             time + writer.first)
        record += PROVIDER.bytes_le + struct.pack("<HBBBBHQII", 7, 0, 0, 4, 0, 0, 0, 0, 0) + bytes(16)
        writer._add(chance.randrange(2), record + struct.pack("<I", number))
    return writer


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path

    def lines(self, *arguments, status=0):
        done = run("decode", *arguments)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return strict_ndjson(done.stdout)

    def refused(self, *arguments):
        done = run("decode", *arguments)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        return done.stderr.decode()

    @staticmethod
    def beside_headers(output):
        """Events but for those of the headers' buffers, which each part has; without their places.

        They are compared byte by byte: what is JSON in one is JSON in the other."""
        without_places = re.sub(rb'("header":\{"type":"\w+","buffer":)[1-9]\d*,', rb"\g<1>1,", output)
        files = set()

        def take_file(match):
            files.add(json.loads(match[1]))
            return b""

        without_files = re.sub(rb',"file":("[^"]*")', take_file, without_places)
        lines = without_files.split(b"\n")
        events = [line for line in lines
                  if line.startswith(b'{"type":"event",') and b',"buffer":0,' not in line]
        strict_ndjson(b"".join(line + b"\n" for line in (*events[:1000], *lines[-1000:-1])))
        return events, files

    def check_parts(self, data, cuts):
        buffers = buffers_of(data)
        whole = self.write("whole.etl", file_of(buffers[0], buffers[1:]))
        parts = []
        for number, (start, end) in enumerate(zip([1, *cuts], [*cuts, len(buffers)])):
            parts.append(self.write(f"part{number}.etl", file_of(buffers[0], buffers[start:end])))
        wanted, _ = self.beside_headers(run("decode", whole, "--header-fields").stdout)
        self.assertGreater(len(wanted), 100)
        merged, files = self.beside_headers(run("decode", *parts, "--header-fields").stdout)
        self.assertEqual(files, {str(part) for part in parts})
        self.assertTrue(merged == wanted)  # the difference of such lists takes minutes
        turned, _ = self.beside_headers(run("decode", *parts[::-1], "--header-fields").stdout)
        self.assertTrue(sorted(turned) == sorted(wanted))
        return whole, parts

    def test_the_parts_of_a_trace_are_the_whole(self):
        self.check_parts(kernel().build(), [2])
        writer = kernel(3)
        pieces = []
        for cpu, events in enumerate(writer.events):
            pieces += [(cpu, b"".join(events[at:at + 40])) for at in range(0, len(events), 40)]
        pieces.sort(key=lambda piece: struct.unpack_from("<Q", piece[1], 8 if piece[1][2] == 17 else 16)[0])
        whole, parts = self.check_parts(writer.build(pieces), [5, 9, 14])
        for command in ("schedule", "cpu"):
            answers = []
            for paths in ([whole], parts):
                answer = strict_json(run(command, *paths, "--format", "json").stdout)
                for member in "events", "findings":
                    answer.pop(member)
                answers.append(answer)
            self.assertEqual(*answers)
        outputs = {run("decode", *parts, "--jobs", jobs).stdout for jobs in (1, 3)}
        self.assertEqual(len(outputs), 1)

    def test_the_parts_of_real_traces_are_the_whole(self):
        for name, cuts in ("dp_vsgc.etl", [3, 7]), ("pv_net.4.5.2.x64.etl", [4]):
            path = SHARED / "samples" / "etl" / name
            if not path.exists():
                self.skipTest("the sample traces are not here")
            with self.subTest(name=name):
                self.check_parts(path.read_bytes(), cuts)

    def test_sessions_merge_by_time_with_the_names_of_all(self):
        first = self.write("a.kernel.etl", kernel().build())
        second = self.write("b.user.etl", user().build())
        alone = [[line for line in self.lines(path, "--order", "file") if line["type"] == "event"]
                 for path in (first, second)]
        merged = self.lines(first, second)
        validator = json_schema.of(
            json.loads((SOURCES / "docs/schema/trace.schema.json").read_text()))
        for line in merged:
            validator.validate(line)
        self.assertEqual([line["type"] for line in merged[:3]], ["header", "header", "event"])
        self.assertEqual([line["file"] for line in merged[:2]], [str(first), str(second)])
        self.assertEqual([line["session"]["events"] for line in merged[:2]], [len(a) for a in alone])
        events = [line for line in merged if line["type"] == "event"]
        # A second merge: equal times by processor, then by file.
        wanted = sorted(((event["timestamp"], event["cpu"], file) for file, found in enumerate(alone)
                         for event in found))
        self.assertEqual([(e["timestamp"], e["cpu"], [str(first), str(second)].index(e["file"]))
                          for e in events], wanted)
        named = [e for e in events if e["id"] == 7]
        self.assertEqual(len(named), 300)
        self.assertEqual({e["process"] for e in named}, {f"p{n}.exe" for n in range(8)})
        self.assertTrue(all(e["process"] is None for e in alone[1] if e["id"] == 7))
        self.assertEqual([e["time"] for e in events], sorted(e["time"] for e in events))
        self.assertEqual(merged, self.lines(self.folder))
        self.assertEqual(len(self.lines(first, second, "--event", "7")), 2 + 300 + 1)

    def test_tables_and_chosen_members_name_the_file(self):
        paths = [self.write("a,b.etl", kernel().build()), self.write("c.etl", user().build())]
        lines = [line for line in self.lines(*paths) if line["type"] == "event"]
        done = run("decode", *paths, "--format", "csv")
        columns = done.stdout.split(b"\n")[0].decode().split(",")
        self.assertEqual(columns[-1], "file")
        rows = strict_csv(done.stdout, columns)
        self.assertEqual([row["file"] for row in rows], [line["file"] for line in lines])
        chosen = strict_ndjson(run("decode", *paths, "--fields", "time,file").stdout)
        self.assertEqual([c["file"] for c in chosen if set(c) == {"type", "time", "file"}],
                         [line["file"] for line in lines])

    def test_expressions_ask_for_the_file(self):
        paths = [self.write("a.etl", kernel().build()), self.write("b.user.etl", user().build())]
        events = [line for line in self.lines(*paths) if line["type"] == "event"]
        for where, wanted in (("file like '*.user.etl'", lambda e: e["file"] == str(paths[1])),
                              (f"file == '{paths[0]}' and cpu == 1", lambda e: e["file"] == str(paths[0]) and e["cpu"] == 1),
                              ("not exists file or id == 7", lambda e: e["id"] == 7)):
            found = [line for line in self.lines(*paths, "--where", where) if line["type"] == "event"]
            self.assertEqual(found, [event for event in events if wanted(event)])
            self.assertTrue(found)
        done = run("check", *paths, "--expect", "file like '*.user.etl' and id == 7", "--min", 300, "--max", 300)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Of one file there is no such member.
        self.assertEqual(run("decode", paths[0], "--where", "exists file").returncode, 1)

    def test_rows_of_exports_name_their_file(self):
        paths = [self.write("a.etl", kernel().build()), self.write("b.etl", user().build())]
        wanted = [line["file"] for line in self.lines(*paths) if line["type"] == "event"]
        rows = strict_ndjson(run("export", "timesketch", *paths).stdout)
        self.assertEqual([row["trace_file"] for row in rows], wanted)
        rows = strict_ndjson(run("export", "ecs", *paths).stdout)
        self.assertEqual([row["log"]["file"]["path"] for row in rows], wanted)
        self.assertNotIn("log", strict_ndjson(run("export", "ecs", paths[0]).stdout)[0])
        database = self.folder / "all.sqlite"
        self.assertEqual(run("export", "sqlite", *paths, "-o", database).returncode, 0)
        with sqlite3.connect(database) as connection:
            rows = connection.execute("SELECT file FROM events ORDER BY id").fetchall()
        self.assertEqual([file for file, in rows], wanted)

    def test_other_commands_count_all_files(self):
        paths = [self.write("a.etl", kernel().build()), self.write("b.etl", user().build())]
        infos = [strict_json(run("info", path, "--format", "json").stdout) for path in paths]
        info = strict_json(run("info", *paths, "--format", "json").stdout)
        json_schema.of(
            json.loads((SOURCES / "docs/schema/trace-info.schema.json").read_text())).validate(info)
        count = lambda answer: sum(provider["events"] for provider in answer["providers"])
        self.assertEqual(count(info), sum(map(count, infos)))
        self.assertEqual([file["session"] for file in info["files"]], [i["session"] for i in infos])
        text = run("info", *paths).stdout.decode()
        for path in paths:
            self.assertIn(f"File          {path}, ", text)
        done = run("check", *paths, "--expect", "id == 7", "--min", 300, "--max", 300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"300 events", done.stdout)

    def test_what_is_not_of_one_run_of_one_machine_is_refused(self):
        first = self.write("a.etl", kernel().build())
        whole = user().build()
        payload = 72 + 32
        for what, offset, value in [
                ("number of processors 2 and 3", 12, struct.pack("<I", 3)),
                ("Windows 10.0.19041 and 10.0.22621", 8, struct.pack("<I", 22621)),
                ("boot time ", 248, struct.pack("<Q", 131_999_999_000_000_000)),
                ("frequency 10000000 and 3000000", 256, struct.pack("<Q", 3_000_000)),
                ("clock performance_counter and system_time", 272, struct.pack("<I", 2)),
                ("counter since ", 264, struct.pack("<Q", 132_000_099_000_000_000))]:
            with self.subTest(what=what):
                data = bytearray(whole)
                data[payload + offset:payload + offset + len(value)] = value
                second = self.write("b.etl", bytes(data))
                text = self.refused(first, second)
                self.assertIn(what, text)
                self.assertIn("not from one boot of one machine", text)
                self.assertEqual(run("top", first, second).returncode, 2)
                lines = self.lines(first, second, "--force", status=1)
                findings = {finding["code"]: finding["text"] for finding in lines[-1]["findings"]}
                self.assertIn(what, findings["trace-mismatch"])
                if what.split()[0] in ("frequency", "clock", "counter"):
                    self.check_own_clocks([first, second], lines, findings["trace-mismatch"])
                self.assertEqual(len([line for line in lines if line["type"] == "event" and line["id"] == 7]), 300)
        # A time service moves the boot time by less than a second.
        data = bytearray(whole)
        boot = struct.unpack_from("<Q", data, payload + 248)[0]
        struct.pack_into("<Q", data, payload + 248, boot + 9_000_000)
        self.lines(first, self.write("b.etl", bytes(data)))
        ctrace = self.folder / "c.ctrace"
        run("synthesize", "deadlock-5", "-o", ctrace)
        self.assertIn("traces of two kinds are not read together", self.refused(first, ctrace))

    def check_own_clocks(self, paths, lines, finding, *options):
        """Each file's events have the times that it has alone, and all are in their order."""
        self.assertTrue(finding.endswith("by the start of each session and its own clock, without names"), finding)
        kept = ("time", "cpu", "id", "name", "opcode", "fields", "payload", "trailing", "stack")
        events = [line for line in lines if line["type"] == "event"]
        self.assertEqual([e["time"] for e in events], sorted(e["time"] for e in events))
        self.assertTrue(all(e["process"] is None and e.get("thread_source") != "context_switch" for e in events))
        for path in paths:
            alone = [e for e in self.lines(path, *options) if e["type"] == "event"]
            self.assertEqual([[e.get(member) for member in kept] for e in events if e["file"] == str(path)],
                             [[e.get(member) for member in kept] for e in alone])
        for command in ["schedule"], ["cpu"], ["top"]:
            done = run(*command, *paths, "--force")
            self.assertEqual(done.returncode, 2, command)
            self.assertIn("files of several machines or boots", done.stderr.decode())

    def test_two_boots_by_force_have_each_its_own_clock(self):
        """Counters that start again: raw values of the second boot are those of the first."""
        first, second = kernel(), kernel(5)
        second.start += 864_000_000_000  # a day
        second.switch(0, 4990, 0, 1000)
        second.dpc(0, 5000, 5100, 0xfffff80000002000)
        second.stack(0, 5200, of=5100, pid=100, tid=1000, frames=[0xfffff80000003000])
        first.dpc(1, 5000, 5100, 0xfffff80000002000)
        paths = [self.write("a.etl", first.build()), self.write("b.etl", second.build())]
        for options in [], ["--stacks", "attach"]:
            lines = self.lines(*paths, "--force", *options, status=1)
            findings = {finding["code"]: finding["text"] for finding in lines[-1]["findings"]}
            self.check_own_clocks(paths, lines, findings["trace-mismatch"], *options)
        of_second = [line for line in lines if line["type"] == "event" and line["file"] == str(paths[1])]
        self.assertEqual(of_second, [line for line in lines if line["type"] == "event"][-len(of_second):])
        begun = {line["file"]: line["fields"]["InitialTime"] for line in lines
                 if line["type"] == "event" and "InitialTime" in line["fields"]}
        self.assertEqual(begun, {str(paths[0]): "2019-04-17T18:40:00.0005000Z", str(paths[1]): "2019-04-18T18:40:00.0005000Z"})
        for where, file in ((f"InitialTime == {begun[str(paths[1])]}", 1), (f"InitialTime < {begun[str(paths[1])]}", 0)):
            found = [line for line in self.lines(*paths, "--force", "--where", where, status=1) if line["type"] == "event"]
            self.assertEqual([line["file"] for line in found], [str(paths[file])])
        late = self.lines(*paths, "--force", "--from", "2019-04-18T00:00:00Z", status=1)
        self.assertEqual({line["file"] for line in late if line["type"] == "event"}, {str(paths[1])})
        info = strict_json(run("info", *paths, "--force", "--format", "json").stdout)
        self.assertEqual([file["session"]["first_event"][:10] for file in info["files"]], ["2019-04-17", "2019-04-18"])

    def test_damage_and_loss_are_those_of_a_file(self):
        first = self.write("a.etl", kernel().build())
        data = bytearray(user().build())
        damaged = 65536 + 72 + 88 * 20  # in the events of the first processor
        data[damaged:damaged + 300] = b"\xee" * 300
        second = self.write("b.etl", bytes(data))
        done = run("decode", first, second)
        self.assertEqual(done.returncode, 1)
        errors = done.stderr.decode()
        self.assertIn(f"{second}: warning: buffer-damaged", errors)
        self.assertNotIn(f"{first}: warning", errors)
        lines = strict_ndjson(done.stdout)
        self.assertEqual(lines[0]["findings"], [])
        self.assertIn("buffer-damaged", [f["code"] for f in lines[1]["findings"]])
        self.assertEqual({line["file"] for line in lines if line["type"] == "gap"}, {str(second)})
        self.assertIn("buffer-damaged", [f["code"] for f in lines[-1]["findings"]])
        csv = run("decode", first, second, "--format", "csv").stdout
        self.assertIn(f"gap,", csv.decode())

    def test_folders_and_archives_hold_the_same(self):
        first = self.write("set/a.etl", kernel().build())
        second = self.write("set/b.user.etl", user().build())
        self.write("set/readme.txt", b"text")
        self.write("set/empty.etl", b"")
        (self.folder / "set/link.etl").symlink_to(first)
        events = lambda lines: [{k: v for k, v in l.items() if k != "file"} for l in lines
                                if l["type"] == "event"]
        wanted = events(self.lines(first, second))
        self.assertEqual(events(self.lines(self.folder / "set")), wanted)
        self.assertEqual(events(self.lines(self.folder / "set", first)), wanted)
        packed = self.folder / "logs.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(first, "x/a.etl")
            archive.write(second, "b.bin")
        lines = self.lines(packed)
        self.assertEqual(events(lines), wanted)
        self.assertEqual([line["file"] for line in lines[:2]], [f"{packed}!x/a.etl", f"{packed}!b.bin"])
        empty = self.folder / "none"
        empty.mkdir()
        self.assertIn("a folder without a trace", self.refused(empty))
        self.assertEqual(run("decode", self.folder / "set", "-o", second).returncode, 2)
        self.assertEqual(second.read_bytes(), user().build())

    def test_a_bad_file_and_a_copy_are_told_and_the_others_read(self):
        first, second = self.write("a.etl", kernel().build()), self.write("b.etl", user().build())
        wanted = self.lines(first, second)
        bad = self.write("c.etl", b"no trace")
        done = run("decode", first, second, bad, self.folder / "missing")
        self.assertEqual(done.returncode, 1)
        *lines, summary = strict_ndjson(done.stdout)
        self.assertEqual(lines, wanted[:-1])
        json_schema.validate(summary, json.loads((SOURCES / "docs/schema/trace.schema.json").read_text()))
        missing = str(self.folder / "missing")
        self.assertEqual([one["file"] for one in summary.pop("failed_inputs")], [missing, str(bad)])
        self.assertEqual(summary, wanted[-1])
        self.assertIn(f"{bad}: ", done.stderr.decode())
        self.assertIn("missing: No such file", done.stderr.decode())
        # What was said of a file that is not in the trace is in the answers, too.
        nothing = self.folder / "nothing"
        nothing.mkdir()
        told = [line.removeprefix("coldtrace: ").split(": ", 1) for line in
                run("info", first, second, bad, self.folder / "missing", nothing).stderr.decode().splitlines()]
        told = [{"file": file, "error": error} for file, error in told
                if file in map(str, [bad, self.folder / "missing", nothing])]
        self.assertEqual(len(told), 3)
        for command in ["info"], ["check", "--expect", "exists cpu"]:
            for files, failed in [([bad, self.folder / "missing", nothing], told), ([], [])]:
                done = run(*command, "--format", "json", first, second, *files)
                self.assertEqual(done.returncode, 1 if failed else 0, done.stderr.decode())
                answer = strict_json(done.stdout)
                json_schema.validate(answer, json.loads(
                    (SOURCES / f"docs/schema/trace-{command[0]}.schema.json").read_text()))
                in_order = lambda inputs: sorted(inputs, key=lambda one: one["file"])
                self.assertEqual(in_order(answer["failed_inputs"]), in_order(failed))
        done = run("check", "--expect", "exists cpu", "--format", "junit", first, bad)
        suite = xml.etree.ElementTree.fromstring(done.stdout).find("testsuite")
        self.assertEqual([suite.get(name) for name in ("tests", "failures", "errors")], ["2", "0", "1"])
        self.assertEqual([(case.get("name"), case.find("error").get("message")) for case in suite.findall("testcase")
                          if case.find("error") is not None],
                         [(one["file"], one["error"]) for one in told if one["file"] == str(bad)])
        copy = self.write("d.etl", first.read_bytes())
        done = run("decode", first, second, copy)
        *lines, summary = strict_ndjson(done.stdout)
        self.assertEqual((done.returncode, lines), (1, wanted[:-1]))
        self.assertEqual(summary.pop("failed_inputs"), [{"file": str(copy), "error": f"a copy of {first}, which is read"}])
        self.assertEqual(summary, wanted[-1])
        self.assertIn(f"a copy of {first}", done.stderr.decode())
        self.assertEqual(self.lines(first, second, first), wanted)
        # Each of several is told where none of them can be read.
        zeros, pe = self.write("e.etl", bytes(4096)), self.write("f.etl", b"MZ" + bytes(4000))
        failed = [bad, zeros, self.folder / "missing", pe, nothing]
        done = run("decode", *failed)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(sorted(line.split(": ")[1] for line in done.stderr.decode().splitlines()),
                         sorted(map(str, failed)))

    def test_a_cut_copy_of_a_file_that_is_read_is_refused(self):
        """Its events would be there twice."""
        data = kernel(3).build()
        whole = self.write("set/whole.etl", data)
        cut = self.write("set/cut.etl", data[:-1000])
        for arguments in (whole, cut), (cut, whole), (self.folder / "set",), (whole, cut, "--force"):
            self.assertIn("both have buffer 1 of one session", self.refused(*arguments))
        self.assertEqual(run("check", whole, cut, "--expect", "exists cpu").returncode, 2)
        # A buffer of that number and not of those bytes is another one, as where files number theirs anew.
        header, *buffers = buffers_of(data)
        self.assertEqual(len(buffers), 2)
        self.lines(*(self.write(f"part{number}.etl", file_of(header, [buffer]))
                     for number, buffer in enumerate(buffers)))

    def test_a_session_that_starts_later_and_is_named_first(self):
        early, late = kernel(), user()
        early.start = late.start = 132_000_000_000_000_000
        late_bytes = bytearray(late.build())
        # Started a second later by both clocks.
        struct.pack_into("<Q", late_bytes, 72 + 32 + 264, late.start + 10_000_000)
        struct.pack_into("<Q", late_bytes, 72 + 16, late.first + 10_000_000)
        first = self.write("z.etl", early.build())
        second = self.write("a.etl", bytes(late_bytes))
        lines = self.lines(second, first)
        self.assertEqual(lines[0]["file"], str(first))
        times = [line["timestamp"] for line in lines if line["type"] == "event"]
        self.assertEqual(times, sorted(times))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
