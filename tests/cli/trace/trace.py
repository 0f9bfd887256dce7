"""What the trace commands write, checked against their JSON Schemas and real traces.

usage: trace.py COLDTRACE SOURCES SHARED MAKE_TRACE [unittest arguments]
MAKE_TRACE writes a trace with every header type, clock and loss into a folder.
"""
import datetime
import gzip
import io
import json
import lzma
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid
import zipfile
import zoneinfo
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SOURCES, SHARED, MAKE_TRACE = (Path(a).resolve() for a in sys.argv[1:5])
SAMPLES = SHARED / "samples" / "etl"
CSV_COLUMNS = ("type,time,timestamp,cpu,pid,tid,process,provider_guid,provider,name,id,opcode,version,"
               "level,keywords,activity,decoded,fields,details").split(",")


def run(*arguments):
    return subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True,
                          timeout=120)


def schema(name):
    document = json.loads((SOURCES / "docs/schema" / name).read_text())
    return json_schema.of(document)


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
        return strict_ndjson(done.stdout)

    def events(self, *arguments, **options):
        return [line for line in self.lines(*arguments, **options) if line["type"] == "event"]

    def test_every_line_follows_the_schema(self):
        validator = schema("trace.schema.json")
        for path in [*self.made, sample("pv_primitive-types.etl"), sample("tx_BondEtwSample.etl")]:
            for options in [], ["--int64", "string", "--header-fields"]:
                with self.subTest(path=path.name, options=options):
                    done = run("decode", path, *options)
                    self.assertIn(done.returncode, (0, 1))
                    lines = strict_ndjson(done.stdout)
                    self.assertEqual(lines[0]["type"], "header")
                    self.assertEqual(lines[-1]["type"], "summary")
                    for line in lines:
                        validator.validate(line)

    def test_info_follows_its_schema_and_counts_the_same(self):
        validator = schema("trace-info.schema.json")
        for path in [*self.made, sample("tx_HTTP_Server.etl"), sample("pv_gcevents.etl"), sample("pv_net.4.5.2.x64.etl")]:
            with self.subTest(path=path.name):
                done = run("info", path, "--format", "json")
                info = strict_json(done.stdout)
                validator.validate(info)
                kinds = [kind for provider in info["providers"] for kind in provider["kinds"]]
                summary = strict_json(run("decode", path).stdout.splitlines()[-1])
                for how in "exact", "trailing", "partial", "raw":
                    self.assertEqual(sum(kind[how] for kind in kinds), summary["counts"][how])
                reasons = lambda rows: sorted((row["name"] or "", row["version"] or 0, row["reason"]) for row in rows)
                self.assertEqual(reasons(kind for kind in kinds if kind["reason"]), reasons(summary["undecoded"]))
                text = run("info", path).stdout.decode()
                self.assertIn("fully decoded", text)
                local = info["session"]["local_time"]
                zone = datetime.timezone(datetime.timedelta(minutes=local["offset_minutes"]))
                shown = datetime.datetime.now(zone).strftime("UTC%z")
                daylight = ", daylight saving time" if local["daylight_saving"] else ""
                self.assertIn(f", local time {shown[:-2]}:{shown[-2:]}{daylight}\n", text)

    def test_the_local_time_of_real_traces_is_that_of_their_place(self):
        """Their zones are @tzres.dll,-212 and -352: Pacific and Eastern European Standard Time."""
        for name, place in (("tx_HTTP_Server.etl", "America/Los_Angeles"), ("pv_gcevents.etl", "America/Los_Angeles"),
                            ("pv_primitive-types.etl", "Europe/Kiev"), ("dp_vsgc.etl", "America/Los_Angeles")):
            session = strict_json(run("info", sample(name), "--format", "json").stdout)["session"]
            try:
                there = zoneinfo.ZoneInfo(place)
            except zoneinfo.ZoneInfoNotFoundError:
                self.skipTest("no time zone database is here")
            local = datetime.datetime.fromisoformat(session["start_time"][:19] + "+00:00").astimezone(there)
            self.assertEqual((session["local_time"]["offset_minutes"], session["local_time"]["daylight_saving"]),
                             (local.utcoffset() // datetime.timedelta(minutes=1), bool(local.dst())), name)

    def test_info_counts_providers_and_kinds_in_columns(self):
        """Text: the rows are those of the JSON, by the number of events or as they stand there."""
        for path in [*self.made, sample("pv_gcevents.etl")]:
            info = strict_json(run("info", path, "--format", "json").stdout)
            providers = [(p["guid"], p["events"], sum(k["exact"] for k in p["kinds"]),
                          [(k["events"], k["exact"]) for k in p["kinds"]]) for p in info["providers"]]

            def rows(*options):
                lines = run("info", path, *options).stdout.decode().split("\n\n")[1].splitlines()
                self.assertRegex(lines[0], r"^ +events +decoded  provider, event$")
                got = []
                for line in lines[1:]:
                    *counts, what = re.match(r" *([\d,]+) +([\d,]+)  (.*)", line).groups()
                    events, exact = (int(count.replace(",", "")) for count in counts)
                    self.assertEqual(counts, [f"{events:,}", f"{exact:,}"])
                    if what.startswith("  "):
                        got[-1][3].append((events, exact))
                    else:
                        got.append((what.split()[0 if what.endswith("(--top)") else -1], events, exact, []))
                return got

            def most_first(rows):
                return sorted(rows, key=lambda row: -row[0])

            everything = ("--top", 100_000)
            self.assertEqual(rows("--sort", "number", *everything), providers)
            by_count = sorted(((*one[:3], most_first(one[3])) for one in providers), key=lambda one: -one[1])
            self.assertEqual(rows(*everything), by_count)
            # What is not shown is summed up.
            shown = rows("--top", 1)
            if len(by_count) > 1:
                rest = shown.pop()
                self.assertEqual(rest[:3], (f"{len(by_count) - 1:,}", *(sum(one[i] for one in by_count[1:]) for i in (1, 2))))
            guid, events, exact, kinds = shown[0]
            self.assertEqual((guid, events, exact, kinds[0]), (*by_count[0][:3], by_count[0][3][0]))
            if len(by_count[0][3]) > 1:
                self.assertEqual(kinds[1:], [tuple(sum(kind[i] for kind in by_count[0][3][1:]) for i in (0, 1))])

    def test_times_are_those_of_the_events_beside_the_headers(self):
        """dp_vsgc was merged of several sessions: its last event is 2.9 s behind the end that its header has."""
        outside = 0
        for path in [*self.made, sample("dp_vsgc.etl"), sample("tx_HTTP_Server.etl"), sample("pv_gcevents.etl")]:
            with self.subTest(path=path.name):
                lines = strict_ndjson(run("decode", path).stdout)
                times = sorted(line["time"] for line in lines if line["type"] == "event" and line["time"])
                session = lines[0]["session"]
                expected = [times[0], times[-1]] if times else [None, None]
                self.assertEqual([session["first_event"], session["last_event"]], expected)
                text = run("info", path).stdout.decode()
                if times:
                    self.assertIn(f"Event times   {times[0]} to {times[-1]}\n", text)
                if session["end_time"]:
                    self.assertIn(f"Time          {session['start_time']} to {session['end_time']}\n", text)
                    outside += bool(times) and times[-1] > session["end_time"]
        self.assertGreaterEqual(outside, 1)

    def test_jobs_change_nothing(self):
        for path in [*self.made, sample("dp_vsgc.etl")]:
            with self.subTest(path=path.name):
                outputs = {run("decode", path, "--jobs", jobs).stdout for jobs in (1, 3)}
                self.assertEqual(len(outputs), 1)

    def test_json_is_one_array_of_the_same_objects(self):
        for path in self.made:
            done = run("decode", path, "--format", "json")
            self.assertEqual(strict_json(done.stdout), strict_ndjson(run("decode", path).stdout))

    def test_csv_has_the_documented_columns(self):
        for path in [*self.made, sample("pv_primitive-types.etl")]:
            lines = strict_ndjson(run("decode", path).stdout)
            done = run("decode", path, "--format", "csv")
            rows = strict_csv(done.stdout, CSV_COLUMNS)
            self.assertEqual(len(rows), len(lines) - 2)
            for row, line in zip(rows, lines[1:-1]):
                self.assertEqual(row["type"], line["type"])
                self.assertEqual(row["time"], line["time"] or "")
                if line["type"] == "event":
                    self.assertEqual(strict_json(row["fields"].encode()), line["fields"])
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
        self.assertIn(b"packed-damaged", done.stderr)
        self.assertIn(b"packed-limit", run("decode", packed, "--unpacked-limit", "4KiB").stderr)

    def test_selection_takes_what_it_says(self):
        path = sample("tx_BondEtwSample.etl")
        made = next(p for p in self.made if p.name == "names.etl")
        everything = {path: self.events(path), made: self.events(made)}
        self.assertEqual(self.events(path, "--limit", 5), everything[path][:5])
        first, last = (everything[path][i]["time"] for i in (3, 8))
        pid = everything[path][4]["pid"]
        guid = everything[path][4]["provider"]["guid"]
        name = next(e["process"] for e in everything[made] if e.get("process"))
        for file, options, wanted in [
            (made, ["--event", "FileIo/Read"], lambda e: e["name"] == "FileIo/Read"),
            (made, ["--event", "fileio"], lambda e: e["name"].startswith("FileIo/")),
            (made, ["--provider", "windows kernel", "--event", "Process,Image"],
             lambda e: e["name"].split("/")[0] in ("Process", "Image")),
            (made, ["--event", "File?o/*,*/Nothing*"], lambda e: e["name"].startswith("FileIo/")),
            (made, ["--provider", "WINDOWS*"], lambda e: e["provider"]["name"] == "Windows Kernel"),
            (path, ["--event", "65534,99"], lambda e: e["id"] == 65534),
            (path, ["--provider", f"{{{guid}}}"], lambda e: e["provider"]["guid"] == guid),
            (path, ["--process", pid], lambda e: e["pid"] == pid),
            (made, ["--process", name.upper()], lambda e: e["process"] == name),
            (made, ["--process", f"{name[:2]}*,4242424"], lambda e: (e["process"] or "").startswith(name[:2])),
            (path, ["--from", first, "--to", last], lambda e: first <= e["time"] <= last),
        ]:
            with self.subTest(options=options):
                expected = [event for event in everything[file] if wanted(event)]
                self.assertTrue(expected)
                asked_in_vain = any(word in str(options) for word in ("65534,99", "Nothing*", "4242424"))
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
            (["--process", "4242424"], "--process: nothing matches '4242424'"),
            (["--from", last, "--to", first], "--from is after --to"),
            (["--from", "2099-01-01"], "no event has all that was asked for"),
            # Each alone is there, both together are not.
            (["--event", "65535", "--process", pid], "--event: nothing matches '65535'"),
        ]:
            with self.subTest(options=options):
                done = run("decode", *options, path)
                self.assertEqual(done.returncode, 1)
                (warning,) = done.stderr.decode().splitlines()
                self.assertIn("warning: no-match: ", warning)
                self.assertIn(words, warning)
                summary = strict_json(done.stdout.splitlines()[-1])
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
                         {"events_lost", "buffers_lost", "damaged", "buffers_missing"})
        missing = [line for line in lines if line.get("reason") == "buffers_missing"]
        self.assertEqual([line["buffers"] for line in missing], [5])
        in_file = self.lines(next(p for p in self.made if p.name == "damaged.etl"), "--order",
                             "file", status=1)
        self.assertEqual(len(in_file), len(lines))

    def mutant(self, content):
        """Lines of a damaged trace, which is said and exits with 1."""
        path = self.folder / "mutant.etl"
        path.write_bytes(content)
        lines = self.lines(path, status=1)
        findings = {finding["code"] for finding in lines[-1]["findings"]
                    if finding["severity"] == "warning"}
        for gap in (line for line in lines if line["type"] == "gap"):
            self.assertLessEqual(gap["offset"] + gap["length"], len(content))
            self.assertLess(gap.get("buffers", 0), 1000)
        validator = schema("trace.schema.json")
        for line in lines:
            if line["type"] != "event":
                validator.validate(line)
        return lines, findings

    @staticmethod
    def identities(events):
        return [(e["timestamp"], e["pid"], e["tid"], e["id"], json.dumps(e["fields"]))
                for e in events if e["type"] == "event"]

    def test_bytes_inserted_anywhere_cost_one_buffer(self):
        content = sample("tx_HTTP_Server.etl").read_bytes()
        intact = self.identities(self.events(SAMPLES / "tx_HTTP_Server.etl"))
        for at in 5 * 8192, 5 * 8192 + 40, 5 * 8192 + 72, 5 * 8192 + 3000, 35 * 8192 - 1:
            for length in 1, 7, 512:
                with self.subTest(at=at, length=length):
                    lines, _ = self.mutant(content[:at] + bytes(range(256))[:length].ljust(length, b"x")
                                           + content[at:])
                    left = self.identities(lines)
                    self.assertLessEqual(set(left[:-1]), set(intact) | {left[-1]})
                    self.assertGreaterEqual(len(set(left) & set(intact)), len(intact) - 90)
                    if at % 8192 == 0:
                        self.assertEqual(left, intact)

    def test_numbers_of_a_buffer_that_lie_cost_nothing(self):
        content = sample("tx_HTTP_Server.etl").read_bytes()
        intact = self.identities(self.events(SAMPLES / "tx_HTTP_Server.etl"))
        buffer = 10 * 8192
        filled = struct.unpack_from("<I", content, buffer + 0x30)[0]
        for field, form, value, code in [
            (0x00, "<I", 16384, "buffer-size"),
            (0x00, "<I", 7_000_000, "buffer-size"),
            (0x00, "<I", 0, "buffer-size"),
            (0x30, "<I", filled // 2, "buffer-offset"),
            (0x30, "<I", 72, "buffer-offset"),
            (0x18, "<q", 1_441_997_082_005_143_540, "buffer-sequence"),
            (0x18, "<q", -1, "buffer-sequence"),
            (0x18, "<q", struct.unpack_from("<q", content, 20 * 8192 + 0x18)[0], "buffer-sequence"),
            (0x28, "<B", 255, "buffer-processor"),
            (0x28, "<B", 4, "buffer-processor"),
            (0x28, "<B", 2, "buffer-processor"),
            (0x35, "<B", 0x80, "buffer-header"),
            (0x37, "<B", 1, "buffer-header"),
            (0x33, "<B", 2, "buffer-header"),
        ]:
            with self.subTest(code=code, value=value):
                damaged = bytearray(content)
                struct.pack_into(form, damaged, buffer + field, value)
                lines, findings = self.mutant(bytes(damaged))
                self.assertEqual(self.identities(lines), intact)
                self.assertEqual(findings, {code})

    def test_buffers_that_are_sound_are_of_processors_that_are_there(self):
        paths = sorted(SAMPLES.glob("*.etl"))
        if not paths:
            self.skipTest("the sample traces are not here")
        for path in paths:
            with self.subTest(sample=path.name):
                done = run("decode", path)
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                codes = {finding["code"] for finding in strict_json(done.stdout.splitlines()[-1])["findings"]}
                self.assertFalse(codes & {"buffer-processor", "buffer-sequence"}, codes)

    @staticmethod
    def records(content, buffer):
        """Offset and size of each record of an uncompressed buffer, by its own header."""
        filled, = struct.unpack_from("<I", content, buffer + 0x30)
        at, found = buffer + 72, []
        while at < buffer + filled:
            size_at = 4 if content[at + 2] in (1, 2, 3, 4, 16, 17) else 0
            size, = struct.unpack_from("<H", content, at + size_at)
            found.append((at, size))
            at += (size + 7) & ~7
        return found

    def test_events_overwritten_to_the_end_of_their_buffer_are_damage(self):
        content = sample("tx_HTTP_Server.etl").read_bytes()
        intact = self.identities(self.events(SAMPLES / "tx_HTTP_Server.etl"))
        start, end = 5 * 8192, 6 * 8192
        records = self.records(content, start)
        for at in end - 4096, records[5][0], records[0][0]:
            for value in b"\xff", b"\0":
                with self.subTest(at=at, value=value):
                    lines, findings = self.mutant(content[:at] + value * (end - at) + content[end:])
                    # The event in which it begins has its size, and may lose its contents.
                    whole = sum(offset + size <= at for offset, size in records)
                    left = [offset for offset, _ in records if offset < at]
                    (gap,) = [line for line in lines if line["type"] == "gap"]
                    self.assertEqual((gap["offset"], gap["offset"] + gap["length"]),
                                     (records[len(left)][0], end))
                    self.assertIn("buffer-damaged", findings)
                    found = self.identities(lines)
                    self.assertEqual(len(found), len(intact) - len(records) + len(left))
                    self.assertEqual(len(set(intact) - set(found)), len(records) - whole)

    def test_what_an_offset_hides_behind_damage_is_found(self):
        content = sample("tx_HTTP_Server.etl").read_bytes()
        intact = self.identities(self.events(SAMPLES / "tx_HTTP_Server.etl"))
        buffer = 5 * 8192
        records = self.records(content, buffer)
        damaged = bytearray(content)
        struct.pack_into("<I", damaged, buffer + 0x30, records[20][0] - buffer)
        damaged[records[5][0]:records[5][0] + 8] = bytes(8)
        lines, findings = self.mutant(bytes(damaged))
        self.assertEqual(findings, {"buffer-damaged", "buffer-offset"})
        self.assertEqual(len(set(intact) - set(self.identities(lines))), 1)
        (gap,) = [line for line in lines if line["type"] == "gap"]
        self.assertEqual((gap["offset"], gap["length"]),
                         (records[5][0], records[6][0] - records[5][0]))

    @staticmethod
    def repeated(pattern, size):
        """XPRESS ([MS-XCA] 2.4): the pattern as literals, then one match to the end."""
        packed, flags_at = bytearray(), 0
        for i, byte in enumerate([*pattern, None]):
            if i % 32 == 0:
                flags_at = len(packed)
                packed += bytes(4)
            if byte is not None:
                packed.append(byte)
                continue
            packed += struct.pack("<HBBHI", (len(pattern) - 1) << 3 | 7, 15, 255, 0,
                                  size - len(pattern) - 3)
            struct.pack_into("<I", packed, flags_at, (1 << (32 - i % 32)) - 1)
        return bytes(packed)

    def bomb(self, buffers, size):
        """A real compressed trace with `buffers` more, each `size` bytes of events of 80 bytes."""
        content = sample("pv_smallEtlFile.etl").read_bytes()
        first, = struct.unpack_from("<I", content, 0)
        event = struct.pack("<HBBHHIIq", 80, 0x13, 0xc0, 0, 0, 4, 4, 10 ** 12).ljust(80, b"\0")
        events = self.repeated(event, (size - 72) // 80 * 80)
        header = bytearray(content[first:first + 72])
        filled = 72 + (size - 72) // 80 * 80
        struct.pack_into("<II", header, 0, 72 + len(events), filled)
        struct.pack_into("<I", header, 0x30, filled)
        made = content
        for i in range(buffers):
            struct.pack_into("<q", header, 0x18, 2 + i)
            made += bytes(header) + events
        return made

    def test_compressed_buffers_unpack_to_what_their_file_justifies(self):
        path = self.folder / "bomb.etl"
        before = len(self.events(sample("pv_smallEtlFile.etl")))
        each = (65536 - 72) // 80
        content = self.bomb(40, 65536)
        lines, findings = self.mutant(content)
        self.assertIn("unpacked-limit", findings)
        lost = [line for line in lines if line.get("reason") == "not_unpacked"]
        read = 40 - len(lost)
        self.assertEqual(lines[-1]["counts"]["events"], before + read * each)
        self.assertLessEqual(read * 65536, (1 << 20) + 64 * len(content))
        self.assertGreater((read + 1) * 65536, 1 << 20)
        # What is asked for is done.
        path.write_bytes(content)
        events = self.lines(path, "--unpacked-limit", "4MiB", status=1)
        self.assertEqual(events[-1]["counts"]["events"], before + 40 * each)
        events = self.lines(path, "--unpacked-limit", "100000", status=1)
        self.assertEqual(events[-1]["counts"]["events"], before + each)
        # To find out that a buffer holds less than it says costs no more than what is kept does:
        # each of these is 32 bytes that unpack to 40 MB.
        packed = (struct.pack("<IBHBBHI", 1 << 30, 255, 7, 15, 255, 0, 40_000_000)).ljust(16, b"\0")
        content = bytearray(sample("pv_smallEtlFile.etl").read_bytes())
        header = bytearray(content[struct.unpack_from("<I", content, 0)[0]:][:72])
        struct.pack_into("<I", content, 104, 31 << 20)  # BufferSize of the session
        struct.pack_into("<II", header, 0, 72 + len(packed), 32 << 20)
        struct.pack_into("<I", header, 0x30, 32 << 20)
        for i in range(3000):
            struct.pack_into("<q", header, 0x18, 2 + i)
            content += bytes(header) + packed
        path.write_bytes(content)
        done = subprocess.run([COLDTRACE, "trace", "decode", path, "-o", os.devnull],
                              capture_output=True, timeout=120,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))
        self.assertEqual(done.returncode, 1, done.stderr.decode())
        self.assertIn(b"unpacked-limit", done.stderr)
        # No buffer holds more than those of its session, whatever it says.
        lines, findings = self.mutant(self.bomb(1, 16 << 20))
        self.assertIn("buffer-length", findings)
        self.assertEqual(lines[-1]["counts"]["events"], before + each)
        # Real ones are below all that.
        for name in "dp_vsgc.etl", "pv_net.4.5.2.x64.etl", "pv_SelfDescribingSingleEvent.etl":
            done = run("info", SAMPLES / name, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_a_file_that_becomes_shorter_while_it_is_read_is_told(self):
        content = sample("dp_vsgc.etl").read_bytes()
        path = self.folder / "shrinking.etl"
        for order in "time", "file":
            path.write_bytes(content)
            # Nothing goes on before its first output is taken.
            with subprocess.Popen([COLDTRACE, "trace", "decode", path, "--order", order],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                output = process.stdout.read(4096)
                with open(path, "r+b") as file:
                    file.truncate(len(content) // 3)
                output += process.stdout.read()
                process.stderr.read()
            self.assertEqual(process.returncode, 1)
            lines = strict_ndjson(output)
            gaps = [line for line in lines if line.get("reason") == "unreadable"]
            finding, = (f for f in lines[-1]["findings"] if f["code"] == "trace-changed")
            self.assertTrue(finding["text"].startswith(f"{len(gaps)} buffers"))
            self.assertEqual(lines[-1]["counts"]["events"] + sum(g["events"] for g in gaps), 75931)
            for gap in gaps:
                schema("trace.schema.json").validate(gap)

    def manifest_trace(self, names, events):
        """A trace of an EventSource whose one event has a UInt32 of each name."""
        content = sample("tx_HTTP_Server.etl").read_bytes()
        first, header = bytearray(content[:8192]), bytearray(content[8192:8192 + 72])
        size = 1 << 20
        struct.pack_into("<I", first, 72 + 32, size)
        guid = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")
        time, = struct.unpack_from("<q", content, 8192 + 72 + 16)
        fields = "".join(f'<data name="{name}" inType="win:UInt32"/>' for name in names)
        manifest = (
            "<instrumentationManifest><instrumentation><events>"
            f'<provider name="P" guid="{{{guid}}}"><templates><template tid="T">{fields}</template>'
            '</templates><events><event value="1" version="0" task="X" template="T"/></events>'
            "</provider></events></instrumentation></instrumentationManifest>").encode()
        pieces = [manifest[i:i + 60000] for i in range(0, len(manifest), 60000)]
        payloads = [(0xfffe, 0xfe, struct.pack("<BBBBHH", 1, 1, 0, 0x5b, len(pieces), i) + piece)
                    for i, piece in enumerate(pieces)]
        payloads += [(1, 0, struct.pack(f"<{len(names)}I", *range(len(names))))] * events
        body = b""
        for i, (number, opcode, payload) in enumerate(payloads):
            record = (struct.pack("<HBBHHIIq", 80 + len(payload), 0x13, 0xc0, 0, 0, 4, 4, time + i)
                      + guid.bytes_le + struct.pack("<HBBBBHQQ", number, 0, 0, 4, opcode, 0, 0, 0)
                      + bytes(16) + payload)
            body += record.ljust((len(record) + 7) & ~7, b"\0")
        struct.pack_into("<II", header, 0, size, 72 + len(body))
        struct.pack_into("<q", header, 0x10, time + len(payloads))
        struct.pack_into("<I", header, 0x30, 72 + len(body))
        struct.pack_into("<q", header, 0x18, 1)
        return bytes(first) + (bytes(header) + body).ljust(size, b"\xff")

    def test_names_of_fields_make_no_line_that_its_event_does_not_justify(self):
        """The room for names is 4,096 bytes and 64 a byte of the payload."""
        room = 4096 + 64 * 8
        for names, shown, told in [
            (["a" * 4096, "b" * (room - 4096)], 2, set()),
            (["a" * 4096, "b" * (room - 4096 + 1)], 1, {"resolved-limit"}),
            (["a" * 500_000, "b"], 2, {"schema-name"}),
            (["a" * 500_000, "b" * 500_000], 1, {"schema-name", "resolved-limit"}),
        ]:
            with self.subTest(lengths=[len(name) for name in names]):
                content = self.manifest_trace(names, 100)
                lines, findings = self.mutant(content)
                self.assertEqual(findings - {"buffer-count", "gap-buffers-missing"}, told)
                events = [line for line in lines if line.get("id") == 1]
                self.assertEqual(len(events), 100)
                for event in events:
                    self.assertEqual(event["decoded"], "exact" if shown == 2 else "partial")
                    self.assertEqual(list(event["fields"].values()), list(range(shown)))
                    self.assertEqual([len(name) for name in event["fields"]],
                                     [min(len(name), 4096) for name in names[:shown]])
                    self.assertEqual(bytes.fromhex(event.get("trailing", "")),
                                     b"" if shown == 2 else struct.pack("<I", 1))

    def test_processes_that_ended_long_ago_have_their_names(self):
        ended = self.lines(sample("pv_net.4.5.2.x64.etl"), "--event", "Process/Defunct")[1:-1]
        self.assertGreater(len(ended), 1)
        for event in ended:
            self.assertEqual(event["pid"], event["fields"]["ProcessId"])
            self.assertEqual(event["process"], event["fields"]["ImageFileName"])

    def test_stacks_of_the_net_runtime_have_all_their_frames(self):
        stacks = self.lines(sample("pv_net.4.5.2.x64.etl"), "--event", "CLRStack/CLRStackWalk")[1:-1]
        self.assertEqual(len(stacks), 14_983)
        named = 0
        for event in stacks:
            self.assertEqual(event["decoded"], "exact")
            frames = event["fields"]["Stack"]
            # The payload is 8 bytes and the frames: both say how many.
            self.assertEqual(len(frames), event["fields"]["FrameCount"])
            names = event.get("resolved", {}).get("Stack", [None] * len(frames))
            self.assertEqual(len(names), len(frames))
            for frame, name in zip(frames, names):
                if name is not None and "!" not in name:  # no managed method: trace_managed.py
                    named += 1
                    # An image starts at a multiple of 64 KiB.
                    offset = int(name.rsplit("+", 1)[1], 16)
                    self.assertEqual((int(frame, 16) - offset) % 0x10000, 0)
        self.assertGreater(named, 29_000)

    def test_a_lost_header_leaves_all_other_events(self):
        content = sample("tx_HTTP_Server.etl").read_bytes()
        intact = self.identities(self.events(SAMPLES / "tx_HTTP_Server.etl"))
        lines, findings = self.mutant(bytes(8192) + content[8192:])
        self.assertIn("trace-header", findings)
        self.assertEqual(self.identities(lines), intact[1:])
        self.assertEqual({line["time"] for line in lines[1:-1]}, {None})
        gaps = [line for line in lines if line["type"] == "gap" and line["length"]]
        self.assertEqual([(gap["offset"], gap["length"]) for gap in gaps], [(0, 8192)])
        session = lines[0]["session"]
        self.assertIsNone(session["logger_name"])
        self.assertIsNone(session["clock"]["type"])
        self.assertEqual(session["pointer_size"], 8)
        info = run("info", self.folder / "mutant.etl", "--format", "json")
        self.assertEqual(info.returncode, 1)
        schema("trace-info.schema.json").validate(strict_json(info.stdout))
        self.assertIn(b"header is lost", run("info", self.folder / "mutant.etl").stdout)
        rows = strict_csv(run("decode", self.folder / "mutant.etl", "--format", "csv").stdout)
        self.assertEqual({row["time"] for row in rows}, {""})

    def test_characters_are_text(self):
        """What TraceLogging fields hold and what they show, by Python's own codecs."""
        events = self.events(self.folder / "characters.etl")
        shown = {}
        for event in events:
            for name, value in event["fields"].items():
                shown[name] = value
        wide = "\"\\\x01\u2028\u20ac\U0001f600"
        self.assertEqual(shown["wide"], wide)
        self.assertEqual(shown["narrow"], "a\"\\\x1b\u20ac")
        self.assertEqual(shown["unit"], "\u20ac")
        self.assertEqual(shown["quote"], '"')
        self.assertEqual(shown["lone"], "\ufffd")
        self.assertEqual(bytes.fromhex(shown["lone_utf16"]), b"\x00\xd8")
        self.assertEqual(shown["byte"], "\ufffd")
        self.assertEqual(bytes.fromhex(shown["byte_bytes"]), b"\x80")
        self.assertEqual(shown["padded"], "ab")
        self.assertNotIn("padded_bytes", shown)
        self.assertEqual(shown["stale"], "ab")
        self.assertEqual(bytes.fromhex(shown["stale_bytes"]), b"ab\0xyz")
        self.assertEqual(str(shown["minus"]), "-0.0")
        self.assertEqual(str(shown["small_minus"]), "-0.0")
        self.assertEqual({event["decoded"] for event in events[1:]}, {"exact"})
        self.assertEqual(shown["ImageFileName"], 'M\ufffdller,".exe')
        self.assertEqual(bytes.fromhex(shown["ImageFileName_bytes"]), b'M\xfcller,".exe')
        self.assertEqual({event["process"] for event in events[-1:]}, {'M\ufffdller,".exe'})

    def test_what_is_no_trace_is_2(self):
        path = self.folder / "no.trace"
        for content in b"", b"MZ", bytes(4096), b"\x1f\x8b\x08" + bytes(100):
            path.write_bytes(content)
            done = run("decode", path)
            self.assertEqual(done.returncode, 2, content[:4])
            self.assertEqual(done.stdout, b"")
            self.assertIn(b"no.trace", done.stderr)
        self.assertEqual(run("decode", path, "--from", "yesterday").returncode, 2)

    def test_a_file_of_another_kind_is_named_for_what_it_is(self):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr("busy.txt", b"text")
        for content, said in [
            (archive.getvalue(), b"a ZIP archive without a trace; it holds busy.txt"),
            (b"ElfFile\0" + bytes(120) + b"\0" * 4096, b"an event log (.evtx)"),
            (lzma.compress(b"text " * 999), b"a text file"),
            (b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(4096), b"a packet capture"),
            (Path(sys.executable).resolve().read_bytes(), b"an ELF file"),
            (b"", b"empty"),
        ]:
            for command in "decode", "info":
                with self.subTest(said=said, command=command):
                    path = self.folder / "other"
                    path.write_bytes(content)
                    done = run(command, path)
                    self.assertEqual(done.returncode, 2)
                    self.assertEqual(done.stdout, b"")
                    self.assertIn(said, done.stderr)

    def test_a_cut_ctrace_header_names_its_field(self):
        path = self.folder / "cut.ctrace"
        path.write_bytes(b"COLDTRC\x1a" + bytes(8))
        done = run("decode", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"ctrace header.HeaderSize:", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
