"""'trace export' sqlite, timesketch and ecs have what 'trace decode' and the analyses say.

usage: trace_export_rows.py COLDTRACE SOURCES MAKE_TRACE MAKE_SCENARIO_ETL [unittest arguments]
"""
import collections
import datetime
import json
import math
import os
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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from cli.trace.etl_writer import EtlWriter
from strict import strict_json, strict_ndjson

# Members of a line that lines for Timesketch and Elastic have under the names of their schemas.
ELSEWHERE = {"type", "time", "timestamp", "cpu", "pid", "tid", "process", "provider", "name", "id", "opcode", "version",
             "fields", "file"}
STRUCTURED = {"names", "resolved", "extended", "stack", "trace_message", "trace_control", "etw", "message_pdb"}
COLDTRACE, SOURCES, MAKE_TRACE, MAKE_SCENARIO_ETL = (Path(a).resolve() for a in sys.argv[1:5])
UNIX = 116_444_736_000_000_000
# Members of a line that `event` and `kind` have columns for; the rest is in `more`.
IN_COLUMNS = {"type", "time", "timestamp", "time_quality", "cpu", "pid", "tid", "process", "provider", "name", "id",
              "opcode", "version", "level", "keywords", "activity", "fields", "thread_source", "payload", "decoded",
              "file", "names"}


def run(*arguments):
    return subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True, timeout=120)


def nanoseconds(time):
    """Of a time of coldtrace's, since 1970."""
    if time is None:
        return None
    seconds, ticks = re.fullmatch(r"(.*)\.(\d{7})Z", time).groups()
    whole = datetime.datetime.fromisoformat(seconds).replace(tzinfo=datetime.timezone.utc)
    return int(whole.timestamp()) * 10 ** 9 + int(ticks) * 100


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if b"without SQLite" in run("export", "sqlite", "/dev/null").stderr:
            raise unittest.SkipTest("built without SQLite")
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([MAKE_TRACE, cls.folder], check=True)
        cls.seen = collections.Counter()
        cls.made = sorted(cls.folder.glob("*.etl"))
        cls.scenarios = []
        for name in "disk-bursts", "priority-inversion":
            etl, ctrace = cls.folder / f"{name}.etl", cls.folder / f"{name}.ctrace"
            subprocess.run([MAKE_SCENARIO_ETL, name, "1", "0", "4", etl], check=True)
            run("synthesize", name, "-o", ctrace)
            cls.scenarios += [etl, ctrace]

    def database(self, trace, *options):
        path = self.folder / "out.sqlite"
        done = run("export", "sqlite", trace, *options, "-o", path)
        self.assertEqual(done.returncode, run("decode", trace, *options).returncode, done.stderr.decode())
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.addCleanup(database.close)
        database.row_factory = sqlite3.Row
        return database

    def answer(self, *arguments):
        return strict_json(run(*arguments, "--format", "json").stdout)

    def test_every_event_is_its_line(self):
        for trace in [*self.made, *self.scenarios[:2]]:
            with self.subTest(trace=trace.name):
                header, *lines, summary = strict_ndjson(run("decode", trace).stdout)
                events = [line for line in lines if line["type"] == "event"]
                database = self.database(trace)
                for check in "integrity_check", "foreign_key_check":
                    rows = [tuple(row) for row in database.execute(f"PRAGMA {check}")]
                    self.assertEqual(rows, [("ok",)] if check == "integrity_check" else [])
                kinds = {row["id"]: dict(row) for row in database.execute("SELECT * FROM kind")}
                fields = {}
                for kind in kinds.values():
                    if kind["table_name"]:
                        for row in database.execute(f'SELECT * FROM "{kind["table_name"]}"'):
                            fields[row["event"]] = dict(row)
                rows = [dict(row) for row in database.execute("SELECT * FROM event ORDER BY id")]
                self.assertEqual(len(rows), len(events))
                for row, event in zip(rows, events):
                    kind = kinds[row["kind"]]
                    self.assertEqual(row["ts"], nanoseconds(event["time"]))
                    for name in "cpu", "pid", "tid", "process", "level", "keywords", "activity", "decoded":
                        self.assertEqual(row[name], event[name] or (None if name == "process" else event[name]))
                    self.assertEqual((kind["provider"], kind["provider_guid"], kind["name"], kind["event_id"]),
                                     (event["provider"]["name"], event["provider"]["guid"], event["name"],
                                      event["id"]))
                    self.assertEqual((row["payload"] or b"").hex(), event.get("payload", ""))
                    for name in "file", "time_quality", "thread_source", "opcode":
                        self.assertEqual(row[name], event.get(name))
                    self.assertEqual(json.loads(row["names"] or "null"), event.get("names"))
                    self.same_fields(event, fields.get(row["id"], {}), json.loads(row["more"] or "{}"))
                gaps = [line for line in lines if line["type"] == "gap"]
                self.assertEqual([tuple(row) for row in database.execute(
                    "SELECT reason, offset, length, buffers, events FROM gap")],
                    [(gap["reason"], gap["offset"], gap["length"], gap.get("buffers"), gap.get("events"))
                     for gap in gaps])
                meta = dict(tuple(row) for row in database.execute("SELECT * FROM meta"))
                self.assertEqual(meta["session.events"], str(header["session"]["events"]))
                self.assertEqual(meta["schema"], "coldtrace.trace-sqlite/1")
                self.assertEqual({row["code"]: row["count"] for row in database.execute(
                    "SELECT * FROM finding WHERE code <> 'export-values'")},
                                 {finding["code"]: finding["count"] for finding in
                                  findings_of(summary["findings"], self.answer("schedule", trace))})

    def same_fields(self, event, row, more):
        """Each field of a line is in a column or in `more`, once, as it is."""
        row.pop("event", None)
        names = list(row)
        for name, value in event["fields"].items():
            if name in more:
                self.assertEqual(more.pop(name), value)
                continue
            column = re.sub(r"\W", "_", name, flags=re.ASCII)[:64]
            found = next(n for n in names if n == column or re.fullmatch(re.escape(column) + r"_\d+", n)
                         or n.lower() == column.lower())
            stored = row[found]
            if isinstance(stored, bytes):
                stored = stored.hex()
            elif isinstance(value, (list, dict)):
                stored = json.loads(stored)
            elif isinstance(value, bool):
                stored = bool(stored)
            self.assertEqual(stored, value, name)
        self.assertEqual(more, {f"_{name}": value for name, value in event.items()
                                if name not in IN_COLUMNS and value is not None})

    def test_the_same_trace_is_the_same_file(self):
        for trace in self.scenarios[:2]:
            files = set()
            for jobs in 1, 3:
                self.database(trace, "--jobs", jobs)
                files.add((self.folder / "out.sqlite").read_bytes())
            files.add(run("export", "sqlite", trace).stdout)
            self.assertEqual(len(files), 1)
            (content,) = files
            self.assertEqual(content[68:72], b"cold")

    def test_nothing_is_left_behind(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        done = subprocess.run([COLDTRACE, "trace", "export", "sqlite", self.scenarios[0], "-o",
                               self.folder / "out.sqlite"], env={**os.environ, "TMPDIR": str(temporary)})
        self.assertEqual((done.returncode, list(temporary.iterdir())), (0, []))
        temporary.rmdir()
        done = subprocess.run([COLDTRACE, "trace", "export", "sqlite", self.scenarios[0]], capture_output=True,
                              env={**os.environ, "TMPDIR": str(temporary)})
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_schedules_are_those_of_the_analyses(self):
        for trace in self.scenarios:
            with self.subTest(trace=trace.name):
                database = self.database(trace)
                schedule, tree = self.answer("schedule", trace), self.answer("tree", trace)
                for cpu in schedule["processors"]:
                    row = database.execute(
                        "SELECT count(*) AS turns, coalesce(sum(dur) FILTER (WHERE idle_cpu IS NULL), 0) AS busy, "
                        "coalesce(sum(dur) FILTER (WHERE idle_cpu IS NOT NULL), 0) AS idle FROM sched "
                        "JOIN thread USING (utid) WHERE cpu = ?", [cpu["cpu"]]).fetchone()
                    self.assertLessEqual(abs(row["busy"] / 100 - cpu["busy"]), row["turns"])
                    self.assertLessEqual(abs(row["idle"] / 100 - cpu["idle"]), row["turns"])
                self.assertEqual([(row["pid"], row["name"], row["start_ts"], row["end_ts"], row["parent_upid"])
                                  for row in database.execute("SELECT * FROM process ORDER BY upid")],
                                 [(p["pid"], p["image_name"], nanoseconds(p["start"]), nanoseconds(p["end"]),
                                   p["parent"]) for p in tree["processes"]])
                self.assertEqual([(row["tid"], row["upid"], row["idle_cpu"], row["start_ts"])
                                  for row in database.execute("SELECT * FROM thread ORDER BY utid")],
                                 [(t["tid"], t["process"], t["idle_cpu"], nanoseconds(t["start"]))
                                  for t in tree["threads"]])

    def test_a_hostile_kind_is_data(self):
        log = EtlWriter(1)
        guid = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")
        fields = ["a", "A", "event", "x y", "x_y", "\u00e4", 'q"; DROP TABLE event; --', "select"]
        manifest = ("<instrumentationManifest><instrumentation><events>"
                    f'<provider name="sqlite_master" guid="{{{guid}}}"><templates><template tid="T">'
                    + "".join(f'<data name="{name.replace(chr(34), "&quot;")}" inType="win:UInt64"/>'
                              for name in fields)
                    + '</template></templates><tasks><task name="Event" value="1"/></tasks><events>'
                    '<event value="1" version="0" task="Event" template="T"/></events></provider></events>'
                    "</instrumentation></instrumentationManifest>").encode()
        log.manifest(0, 1, guid, 0xFFFE, 0xFE, b"\1\1\0\x5b\1\0\0\0" + manifest, opcode=0xFE)
        values = [1, 2, 3, 4, 5, 6, 2 ** 64 - 1, 8]
        log.manifest(0, 2, guid, 1, 0, b"".join(value.to_bytes(8, "little") for value in values))
        trace = self.folder / "hostile.etl"
        trace.write_bytes(log.build())
        database = self.database(trace)
        event = strict_ndjson(run("decode", trace, "--where", "id == 1").stdout)[1]
        self.assertEqual(list(event["fields"].values()), values)
        row = dict(database.execute("SELECT event.*, kind.table_name FROM event JOIN kind ON kind.id = kind "
                                    "WHERE event_id = 1").fetchone())
        self.assertNotIn(row["table_name"].lower(), ("event", "events"))
        columns = dict(database.execute(f'SELECT * FROM "{row["table_name"]}"').fetchone())
        stored = sorted(value for name, value in columns.items() if name != "event" and value is not None)
        # 2^64 - 1 is more than a column holds.
        self.assertEqual(stored, [1, 2, 3, 4, 5, 6, 8])
        self.assertTrue(database.execute("SELECT 1 FROM finding WHERE code = 'export-values'").fetchone())
        self.assertEqual([value for name, value in json.loads(row["more"]).items() if not name.startswith("_")],
                         [2 ** 64 - 1])

    GUID = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")

    def declare(self, name, *templates):
        """A manifest with an event 1, 2, ... for each template of fields and their types."""
        path = self.folder / name
        path.write_text("<instrumentationManifest><instrumentation><events>"
                        f'<provider name="Numbers" guid="{{{self.GUID}}}"><templates>'
                        + "".join(f'<template tid="T{number}">'
                                  + "".join(f'<data name="{field}" inType="win:{kind}"/>' for field, kind in fields)
                                  + "</template>" for number, fields in enumerate(templates, 1))
                        + '</templates><tasks><task name="Event" value="1"/></tasks><events>'
                        + "".join(f'<event value="{number}" version="0" task="Event" template="T{number}"/>'
                                  for number in range(1, len(templates) + 1))
                        + "</events></provider></events></instrumentation></instrumentationManifest>")
        return path

    def columns(self, database, number=1):
        """The name of the table of a kind, and its columns with their types."""
        name, = database.execute("SELECT table_name FROM kind WHERE event_id = ?", [number]).fetchone()
        return name, {row["name"]: row["type"] for row in database.execute(f'PRAGMA table_info("{name}")')}

    def test_columns_are_those_that_the_kind_declares(self):
        manifest = self.declare("declared.man", [("d", "Double"), ("f", "Float"), ("w", "Int64"), ("b", "Boolean"),
                                                 ("g", "GUID"), ("p", "Pointer"), ("s", "UnicodeString")])
        rest = struct.pack("<fqI", 0, -5, 1) + self.GUID.bytes_le + struct.pack("<Q", 64) + "x\0".encode("utf-16-le")
        log = EtlWriter(1)
        # The first one ends behind its first field, which is not a number.
        log.manifest(0, 1, self.GUID, 1, 0, struct.pack("<d", math.nan))
        for time, number in enumerate([0.0, 2.5, 3.25, math.inf, -math.inf], 2):
            log.manifest(0, time, self.GUID, 1, 0, struct.pack("<d", number) + rest)
        trace = self.folder / "declared.etl"
        trace.write_bytes(log.build())
        database = self.database(trace, "--schemas", manifest)
        name, columns = self.columns(database)
        self.assertEqual(columns, {"event": "INTEGER", "d": "REAL", "f": "REAL", "w": "INTEGER", "b": "INTEGER",
                                   "g": "TEXT", "p": "TEXT", "s": "TEXT"})
        rows = [tuple(row)[1:] for row in database.execute(f'SELECT * FROM "{name}" ORDER BY event')]
        self.assertEqual(rows[0], (None,) * 7)
        self.assertEqual([row[0] for row in rows[1:]], [0.0, 2.5, 3.25, math.inf, -math.inf])
        self.assertEqual({row[1:] for row in rows[1:]}, {(0.0, -5, 1, str(self.GUID), "0x40", "x")})
        total, = database.execute(f'SELECT sum(d) FROM "{name}" WHERE abs(d) < 10').fetchone()
        self.assertEqual(total, 5.75)
        # SQLite has no NaN.
        more, = database.execute("SELECT more FROM event JOIN kind ON kind.id = kind WHERE event_id = 1").fetchone()
        self.assertEqual(json.loads(more)["d"], "NaN")
        found = database.execute("SELECT severity, text FROM finding WHERE code = 'export-values'").fetchone()
        self.assertEqual((found["severity"], found["text"].split()[0]), ("info", "1"))

    def test_floating_numbers_are_those_of_the_trace(self):
        """All of their bits are in text and in each export, as they are in the line of the event."""
        random.seed(20190417)
        numbers = [random.random() * 10 ** random.randint(-9, 9) for _ in range(150)]
        numbers += [n for n, in struct.iter_unpack("<d", random.randbytes(8 * 150)) if math.isfinite(n)]
        manifest = self.declare("floating.man", [("D", "Double")])
        log = EtlWriter(1)
        for time, number in enumerate(numbers, 1):
            log.manifest(0, time, self.GUID, 1, 0, struct.pack("<d", number))
        trace = self.folder / "floating.etl"
        trace.write_bytes(log.build())

        def lines(*command):
            out = self.folder / "floating.out"
            self.assertEqual(run(*command, trace, "--schemas", manifest, "-o", out).returncode, 0)
            return out.read_text().splitlines()

        def shown(texts):
            return [float(found[1]) for found in (re.search(r" D=(\S+)$", text) for text in texts) if found]

        events = [json.loads(line).get("fields", {}) for line in lines("decode", "--format", "ndjson")]
        self.assertEqual([event["D"] for event in events if "D" in event], numbers)
        self.assertEqual(shown(lines("decode", "--format", "text")), numbers)
        ecs = [json.loads(line) for line in lines("export", "ecs")]
        datas = [line["winlog"]["event_data"] for line in ecs]
        self.assertEqual([float(data["D"]) for data in datas if "D" in data], numbers)
        timesketch = [json.loads(line) for line in lines("export", "timesketch")]
        datas = [json.loads(line["event_data"]) for line in timesketch]
        self.assertEqual([data["D"] for data in datas if "D" in data], numbers)
        for rows in ecs, timesketch:
            self.assertEqual(shown(row["message"] for row in rows), numbers)
        database = self.database(trace, "--schemas", manifest)
        name, _ = self.columns(database)
        self.assertEqual([row["D"] for row in database.execute(f'SELECT * FROM "{name}" ORDER BY event')], numbers)

    def test_a_later_schema_of_a_kind_adds_columns(self):
        first = self.declare("first.man", [("a", "UInt32")])
        second = self.declare("second.man", [("a", "Double"), ("c", "UInt32")])
        log = EtlWriter(1)
        log.manifest(0, 1, self.GUID, 1, 0, struct.pack("<I", 5))
        log.manifest(0, 2, self.GUID, 1, 0, struct.pack("<dI", 2.5, 7))
        log.manifest(0, 3, self.GUID, 1, 0, struct.pack("<dI", 2, 8))
        trace = self.folder / "grown.etl"
        trace.write_bytes(log.build())
        database = self.database(trace, "--schemas", first, "--schemas", second)
        name, columns = self.columns(database)
        self.assertEqual(columns, {"event": "INTEGER", "a": "INTEGER", "c": "INTEGER"})
        self.assertEqual([tuple(row)[1:] for row in database.execute(f'SELECT * FROM "{name}" ORDER BY event')],
                         [(5, None), (None, 7), (2, 8)])
        more = [json.loads(row[0] or "{}").get("a") for row in database.execute(
            "SELECT more FROM event JOIN kind ON kind.id = kind WHERE event_id = 1 ORDER BY event.id")]
        self.assertEqual(more, [None, 2.5, None])
        self.assertEqual(database.execute("SELECT text FROM finding WHERE code = 'export-values'").fetchone()[0][:2],
                         "1 ")

    def test_of_several_files_each_is_named(self):
        folder = self.folder / "several"
        folder.mkdir()
        for number in 1, 2:
            log = EtlWriter(1)
            log.process(0, number * 100, 100 + number, f"{number}.exe")
            (folder / f"{number}.etl").write_bytes(log.build(sequences=[number * 3]))
        header, *lines, _ = strict_ndjson(run("decode", folder).stdout)
        headers = [header, *(line for line in lines if line["type"] == "header")]
        events = [line for line in lines if line["type"] == "event"]
        gaps = [line for line in lines if line["type"] == "gap"]
        self.assertEqual(len({event["file"] for event in events}), 2)
        database = self.database(folder)
        self.assertEqual([row[0] for row in database.execute("SELECT file FROM event ORDER BY id")],
                         [event["file"] for event in events])
        self.assertEqual([row[0] for row in database.execute("SELECT file FROM gap")], [gap["file"] for gap in gaps])
        meta = dict(tuple(row) for row in database.execute("SELECT * FROM meta"))
        for number, one in enumerate(headers, 1):
            self.assertEqual(meta[f"file.{number}"], one["file"])
            for name, value in one["session"].items():
                stored = meta[f"file.{number}.session.{name}"]
                self.assertEqual(stored if value is None or isinstance(value, str) else json.loads(stored), value)
        self.assertEqual([tuple(row) for row in database.execute(
            "SELECT file, code, severity, count, first_offset FROM file_finding")],
            [(one["file"], found["code"], found["severity"], found["count"], found["first_offset"])
             for one in headers for found in one["findings"]])
        for name, member in ("timesketch", lambda line: line["trace_file"]), ("ecs", lambda line: line["log"]["file"]["path"]):
            lines = strict_ndjson(run("export", name, folder).stdout)
            self.assertEqual([member(line) for line in lines], [event["file"] for event in events if event["time"]])

    def test_lines_say_how_much_they_know(self):
        log = EtlWriter(1)
        log.manifest(0, 1, self.GUID, 1, 0, b"\xde\xad\xbe\xef")  # nobody declares it
        log.switch(0, 10, 8, 12)
        log.perfinfo(0, 0x0F33, 2, 20, struct.pack("<Q", 0x1234))  # of the thread that runs
        log.process(0, 30, 100, "a.exe")
        # GCStart of a version that no public table has yet.
        log.manifest(0, 40, uuid.UUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"), 1, 200,
                     struct.pack("<IIIIHQI", 7, 1, 0, 0, 5, 9, 0xABCD), opcode=1, keywords=1)
        trace = self.folder / "quality.etl"
        trace.write_bytes(log.build())
        names = "decoded", "payload", "trailing", "time_quality", "thread_source", "schema_version"
        events = [line for line in strict_ndjson(run("decode", trace).stdout) if line["type"] == "event"]
        expected = [{name: event[name] for name in names if name in event} for event in events]
        self.assertIn({"decoded": "raw", "payload": "deadbeef"}, expected)
        self.assertTrue(any("thread_source" in one for one in expected))
        self.assertIn({"decoded": "trailing", "trailing": "cdab0000", "schema_version": 2}, expected)
        self.assertEqual(events[-1]["names"]["keywords"], ["GCKeyword"])
        for line, one in zip(strict_ndjson(run("export", "timesketch", trace).stdout), expected, strict=True):
            self.assertEqual({name: line[name] for name in names if name in line}, one)
        lines = strict_ndjson(run("export", "ecs", trace).stdout)
        for line, one in zip(lines, expected, strict=True):
            self.assertEqual({name: line["coldtrace"][name] for name in names if name in line["coldtrace"]}, one)
        self.assertEqual([line["coldtrace"].get("names") for line in lines], [event.get("names") for event in events])
        texts = [line.get("names", "null") for line in strict_ndjson(run("export", "timesketch", trace).stdout)]
        self.assertEqual([json.loads(text) for text in texts], [event.get("names") for event in events])
        # Opcodes of manifest events are their headers', with the provider's names.
        rows = self.database(trace).execute("SELECT opcode, opcode_name, task_name FROM events ORDER BY id")
        self.assertEqual([tuple(row) for row in rows],
                         [(event["opcode"], event.get("names", {}).get("opcode"), event.get("names", {}).get("task"))
                          for event in events])
        self.assertEqual((events[-1]["opcode"], events[-1]["names"]["opcode"]), (1, "Start"))

    def test_ecs_types_say_what_was_done(self):
        log = EtlWriter(1)
        for time, opcode in enumerate([0, 32, 35, 36, 64, 67, 68]):
            log.classic(0, time, uuid.UUID("90cbdc39-4a3e-11d1-84f4-0000f80464e3"), opcode, 2, b"\0" * 64)
        for time, opcode in enumerate([10, 11], 20):
            log.classic(0, time, uuid.UUID("3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c"), opcode, 3, b"\0" * 52)
        for time, opcode in enumerate([10, 2, 3, 4], 30):
            log.classic(0, time, uuid.UUID("2cb15d1d-5fc1-11d2-abe1-00a0c911f518"), opcode, 3, b"\0" * 58)
        for time, opcode in enumerate([1, 2, 3, 4], 40):
            log.classic(0, time, uuid.UUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"), opcode, 2, b"\0" * 80)
        for time, opcode in enumerate([10, 13, 14, 15, 24], 50):
            log.classic(0, time, uuid.UUID("ae53722e-c863-11d2-8659-00c04fa321a1"), opcode, 2, b"\0" * 32)
        trace = self.folder / "types.etl"
        trace.write_bytes(log.build())
        found = {line["event"]["action"]: (line["event"]["category"], line["event"].get("type", [None])[0])
                 for line in strict_ndjson(run("export", "ecs", trace).stdout) if "category" in line["event"]}
        file, library, registry = ["file"], ["library", "process"], ["registry"]
        self.assertEqual(found, {
            "FileIo/Name": (file, "info"), "FileIo/FileCreate": (file, "creation"),
            "FileIo/FileDelete": (file, "deletion"), "FileIo/FileRundown": (file, "info"),
            "FileIo/Create": (file, "access"), "FileIo/Read": (file, "access"), "FileIo/Write": (file, "change"),
            "DiskIo/Read": (file, "access"), "DiskIo/Write": (file, "change"),
            "Image/Load": (["library"], "start"), "Image/Unload": (library, "info"),
            "Image/DCStart": (library, "info"), "Image/DCEnd": (library, "info"),
            **{f"Thread/{name}": (["process"], "info") for name in ("Start", "End", "DCStart", "DCEnd")},
            "Registry/Create": (registry, "access"), "Registry/Query": (registry, "access"),
            "Registry/SetValue": (registry, "change"), "Registry/DeleteValue": (registry, "deletion"),
            "Registry/KCBRundownBegin": (registry, None)})

    def test_more_kinds_than_tables_are_told(self):
        log = EtlWriter(1)
        parts = []
        for number in range(1100):
            log.classic(0, number, uuid.UUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"), number % 250,
                        number // 250, b"\1" * 40)
            if number % 400 == 399:
                parts.append(log.take(0))
        guid = uuid.UUID("2ed6006e-4729-4609-b423-3ee7bcd678ef")
        log.manifest(0, 2000, guid, 1011, 0, b"\5\0\0\0")
        trace = self.folder / "kinds.etl"
        trace.write_bytes(log.build([*parts, log.take(0)]))
        done = run("export", "sqlite", trace, "-o", self.folder / "out.sqlite")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"export-tables", done.stderr)
        database = sqlite3.connect(self.folder / "out.sqlite")
        self.addCleanup(database.close)
        more, = database.execute("SELECT more FROM event JOIN kind ON kind.id = kind WHERE event_id = 1011").fetchone()
        self.assertEqual(json.loads(more), {"RulesCount": 5})

    def test_selections_are_those_of_decode(self):
        trace = self.scenarios[0]
        for options in ["--event", "DiskIo"], ["--where", "cpu == 0"], ["--provider", "Windows Kernel", "--thread", "1000"]:
            events = [line for line in strict_ndjson(run("decode", trace, *options).stdout) if line["type"] == "event"]
            database = self.database(trace, *options)
            self.assertEqual(database.execute("SELECT count(*) FROM event").fetchone()[0], len(events))
            for name in "timesketch", "ecs":
                lines = run("export", name, trace, *options).stdout.splitlines()
                self.assertEqual(len(lines), len(events))

    def test_timesketch_has_its_mandatory_fields(self):
        for trace in [*self.made, *self.scenarios[:2]]:
            with self.subTest(trace=trace.name):
                events = [line for line in strict_ndjson(run("decode", trace).stdout) if line["type"] == "event"]
                timed = [event for event in events if event["time"] is not None]
                done = run("export", "timesketch", trace)
                self.assertEqual("export-untimed" in done.stderr.decode(), len(timed) < len(events))
                lines = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual(len(lines), len(timed))
                for line, event in zip(lines, timed):
                    ns = nanoseconds(event["time"])
                    self.assertEqual(line["timestamp"], ns // 1000)
                    moment = datetime.datetime.fromisoformat(line["datetime"])
                    self.assertEqual(moment.utcoffset(), datetime.timedelta())
                    self.assertEqual((moment.replace(microsecond=0).timestamp(), moment.microsecond),
                                     (ns // 10 ** 9, ns // 1000 % 10 ** 6))
                    self.assertEqual((line["timestamp_desc"], line["data_type"], line["source_short"]),
                                     ("Event Logged", "windows:etl:event", "ETW"))
                    self.assertEqual((line["event_time"], line["pid"], line["tid"], line["cpu"],
                                      line["event_name"], line["event_identifier"]),
                                     (event["time"], event["pid"], event["tid"], event["cpu"], event["name"],
                                      event["id"]))
                    self.assertEqual(json.loads(line["event_data"]), event["fields"])
                    if event["name"]:
                        self.assertTrue(line["message"].startswith(f"[{event['name']}]"))
                    self.same_members(event, line, renamed={
                        "level": "event_level", "keywords": "event_keywords", "activity": "activity_id",
                        "message": "event_text"}, texts=STRUCTURED)
                    # An index takes one type for a name.
                    self.assertFalse(any(isinstance(value, (list, dict)) for value in line.values()))

    def same_members(self, event, place, renamed, texts):
        """Each member of a line that the format's own names do not have is in `place`."""
        for name, value in event.items():
            if name in ELSEWHERE or value in (None, [], {}):
                continue
            self.seen[name] += 1
            told = place[renamed.get(name, name)]
            if name in texts:
                self.assertIsInstance(told, str)
                told = json.loads(told)
            self.assertEqual(told, value, name)

    def test_a_trace_of_either_format_has_the_version_of_windows(self):
        for trace in [self.made[0], *self.scenarios]:
            with self.subTest(trace=trace.name):
                version = strict_json(run("info", trace, "--format", "json").stdout)["session"]["windows_version"]
                systems = [line["host"]["os"] for line in strict_ndjson(run("export", "ecs", trace).stdout)]
                self.assertEqual(systems, [{"type": "windows", "kernel": version}] * len(systems))
                self.assertTrue(systems)

    def test_ecs_has_the_schema_s_names(self):
        categories = collections.Counter()
        for trace in [*self.made, *self.scenarios]:
            with self.subTest(trace=trace.name):
                events = [line for line in strict_ndjson(run("decode", trace).stdout) if line["type"] == "event"]
                lines = [json.loads(line) for line in run("export", "ecs", trace).stdout.splitlines()]
                timed = [event for event in events if event["time"] is not None]
                self.assertEqual(len(lines), len(timed))
                for line, event in zip(lines, timed):
                    self.assertEqual((line["@timestamp"], line["ecs"], line["event"]["kind"]),
                                     (event["time"], {"version": "8.17.0"}, "event"))
                    self.assertEqual(events[line["event"]["sequence"] - 1], event)
                    if event["name"]:
                        self.assertEqual(line["event"]["action"], event["name"])
                    # Allowed values: ECS 8.17, event.category and event.type.
                    for category, kind in zip(line["event"].get("category", []), line["event"].get("type", [])):
                        categories[category] += 1
                        self.assertIn(category, {"process", "file", "registry", "network", "library"})
                        self.assertIn(kind, {"start", "end", "info", "change", "access", "creation", "deletion",
                                             "connection"})
                    data = line["winlog"].get("event_data", {})
                    self.assertEqual(list(data), list(event["fields"]))
                    self.assertTrue(all(isinstance(value, str) for value in data.values()))
                    place = dict(line["coldtrace"])
                    if "activity_id" in line["winlog"]:
                        place["activity"] = line["winlog"]["activity_id"].strip("{}")
                    for name in "resolved", "extended":
                        texts = place.get(name, {})
                        self.assertTrue(all(isinstance(value, str) for value in texts.values()))
                        place[name] = {key: value if isinstance(event[name][key], str) else json.loads(value)
                                       for key, value in texts.items()}
                    self.same_members(event, place, renamed={}, texts={"etw"})
                    if (event["name"] or "").startswith("Process/Start"):
                        self.assertEqual(line["process"]["pid"], event["fields"]["ProcessId"])
                        self.assertEqual(line["process"]["name"], event["fields"]["ImageFileName"])
                        self.assertEqual(line["process"]["parent"]["pid"], event["fields"]["ParentId"])
        self.assertGreaterEqual(set(categories), {"process", "file"})
        self.assertGreaterEqual(set(self.seen), {"resolved", "extended", "stack", "level", "keywords"})

    def test_binary_goes_to_no_terminal_and_over_no_input(self):
        trace = self.scenarios[0]
        controller, terminal = os.openpty()
        done = subprocess.run([COLDTRACE, "trace", "export", "sqlite", trace], stdout=terminal,
                              stderr=subprocess.PIPE)
        os.close(terminal)
        os.close(controller)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"terminal", done.stderr)
        before = trace.read_bytes()
        self.assertEqual(run("export", "sqlite", trace, "-o", trace).returncode, 2)
        self.assertEqual(trace.read_bytes(), before)


def findings_of(decoded, schedule):
    """Those of the events, and of who ran when."""
    codes = {finding["code"] for finding in decoded} | {"no-match"}  # tables may be empty
    return decoded + [finding for finding in schedule["findings"] if finding["code"] not in codes]


class Queries(Exports):
    """docs/queries.md, question by question."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        text = (SOURCES / "docs/queries.md").read_text()
        cls.queries = {int(number): sql for number, sql in
                       re.findall(r"^## (\d+)\. .*?```sql\n(.*?)```", text, re.M | re.S)}

    def ask(self, number):
        return [tuple(row) for row in self.asked.execute(self.queries[number])]


def load_tests(loader, tests, pattern):
    suite = unittest.TestSuite()
    suite.addTests(loader.loadTestsFromTestCase(Exports))
    suite.addTest(Queries("each_question"))
    return suite


def each_question(self):
    self.assertEqual(sorted(self.queries), list(range(1, 21)))
    for trace in self.scenarios:
        with self.subTest(trace=trace.name):
            self.asked = self.database(trace)
            answers = Answers(self, trace)
            for number in self.queries:
                if number == 18 and not answers.has("DiskIo/Read"):
                    with self.assertRaisesRegex(sqlite3.OperationalError, "no such table: DiskIo_Read"):
                        self.ask(number)
                    self.assertNotIn("DiskIo/Read", [row[1] for row in self.ask(2)])
                    continue
                with self.subTest(question=number):
                    answers.check(number, self.ask(number))


Queries.each_question = each_question


class Answers:
    """What other commands say."""

    def __init__(self, case, trace):
        self.case = case
        lines = strict_ndjson(run("decode", trace).stdout)
        self.summary = lines[-1]
        self.events = [line for line in lines if line["type"] == "event"]
        self.gaps = [line for line in lines if line["type"] == "gap"]
        self.info = case.answer("info", trace)
        self.tree = case.answer("tree", trace)
        self.schedule = case.answer("schedule", trace)
        self.turns = self.csv(run("schedule", trace, "--format", "csv").stdout.decode())
        self.threads, self.processes = self.tree["threads"], self.tree["processes"]

    @staticmethod
    def csv(text):
        import csv
        import io
        return list(csv.DictReader(io.StringIO(text)))

    def has(self, name):
        return any(event["name"] == name for event in self.events)

    def same(self, got, expected):
        self.case.assertEqual(got, expected)

    def near(self, got, expected, count):
        """Sums of times that were each rounded to 100 ns."""
        self.case.assertLessEqual(abs((got or 0) / 100 - expected), count + 1)

    def check(self, number, rows):
        getattr(self, f"question_{number}")(rows)

    def question_1(self, rows):
        counts = collections.Counter(e["provider"]["name"] or e["provider"]["guid"] for e in self.events)
        self.same(dict(rows), dict(counts))
        self.same([n for _, n in rows], sorted(counts.values(), reverse=True))

    def question_2(self, rows):
        counts = collections.Counter((e["provider"]["name"], e["name"],
                                      e["id"] if e["id"] is not None else e["opcode"], e["version"])
                                     for e in self.events)
        self.same(collections.Counter({row[:4]: row[5] for row in rows}), counts)

    def question_3(self, rows):
        times = [e["time"] for e in self.events if e["time"]]
        self.same(rows, [(min(times), max(times))])

    def question_4(self, rows):
        self.same([row[:4] for row in rows], [(p["pid"], p["image_name"], nanoseconds(p["start"]),
                                               nanoseconds(p["end"])) for p in self.processes])

    def question_5(self, rows):
        self.same(rows, [(p["pid"], p["image_name"], sum(t["process"] == p["id"] for t in self.threads))
                         for p in self.processes])

    def question_6(self, rows):
        self.same(rows, [(p["pid"], p["image_name"], self.processes[p["parent"]]["pid"],
                          self.processes[p["parent"]]["image_name"]) for p in self.processes
                         if p["parent"] is not None])

    def by_tid(self, member):
        found = collections.Counter()
        for thread in self.schedule["threads"]:
            if thread["idle_cpu"] is None:
                found[thread["tid"]] += thread[member]
        return found

    def question_7(self, rows):
        used = self.by_tid("running")
        for tid, ns in rows:
            self.near(ns, used[tid], 1000)
        self.same([ns for _, ns in rows], sorted((ns for _, ns in rows), reverse=True))
        self.case.assertTrue(rows)

    def question_8(self, rows):
        used = collections.Counter()
        for thread in self.schedule["threads"]:
            if thread["idle_cpu"] is None:
                used[thread["pid"]] += thread["running"]
        for pid, _, ns in rows:
            self.near(ns, used[pid], 5000)

    def question_9(self, rows):
        for (cpu, busy, idle), told in zip(rows, self.schedule["processors"], strict=True):
            self.same(cpu, told["cpu"])
            self.near(busy, told["busy"], told["turns"])
            self.near(idle, told["idle"], told["turns"])

    def question_10(self, rows):
        turns = collections.Counter()
        for tid, count in rows:
            turns[tid] += count
        self.same(turns, collections.Counter(int(row["New Thread Id"]) for row in self.turns))

    def waits(self):
        return [row for row in self.turns if row["Waits (us)"] and row["New Prev Wait Reason"]
                and float(row["Waits (us)"]) > 0]

    def question_11(self, rows):
        longest = sorted((float(row["Waits (us)"]) for row in self.waits()), reverse=True)[:10]
        for (_, _, dur, _), expected in zip(rows, longest):
            self.near(dur, expected * 10, 1)

    def question_12(self, rows):
        told = collections.Counter()
        for thread in self.schedule["threads"]:
            for wait in thread["waits"]:
                told[wait["reason"]] += wait["duration"]
        self.case.assertEqual(bool(rows), bool(told))

    def question_13(self, rows):
        woken = collections.Counter((int(row["New Thread Id"]), int(row["Readying Thread Id"]))
                                    for row in self.turns if row["Readying Thread Id"])
        self.same(sum(row[2] for row in rows), sum(woken.values()))
        got = collections.Counter()
        for tid, waker, times in rows:
            got[tid, waker] += times
        self.same(got, woken)

    def question_14(self, rows):
        ready = self.by_tid("ready")
        for tid, ns, _ in rows:
            self.near(ns, ready[tid], 1000)

    def question_15(self, rows):
        turns = collections.Counter(int(row["New In Pri"]) if row["New In Pri"] else None for row in self.turns)
        self.same({priority: count for priority, count, _ in rows}, dict(turns))

    def question_16(self, rows):
        first = min(nanoseconds(e["time"]) for e in self.events if e["time"])
        self.same([row[1:] for row in rows],
                  [(e["time"], e["name"]) for e in self.events
                   if e["time"] and nanoseconds(e["time"]) <= first + 10 ** 7])

    def question_17(self, rows):
        pids = collections.Counter(e["pid"] for e in self.events if e["pid"] and e["pid"] > 4)
        if not pids:
            self.same(rows, [])
            return
        most = min(pid for pid, count in pids.items() if count == max(pids.values()))
        names = collections.Counter(e["name"] for e in self.events if e["pid"] == most)
        self.same(dict(rows), dict(names))

    def question_18(self, rows):
        reads = [e["fields"] for e in self.events if e["name"] == "DiskIo/Read"]
        for disk, count, total in rows:
            own = [r for r in reads if r["DiskNumber"] == disk]
            self.same((count, total), (len(own), sum(r["TransferSize"] for r in own)))

    def question_19(self, rows):
        reasons = collections.Counter(gap["reason"] for gap in self.gaps)
        self.same({row[0]: row[1] for row in rows}, dict(reasons))

    def question_20(self, rows):
        self.same(rows, sorted((f["code"], f["severity"], f["count"], f["first_offset"])
                               for f in findings_of(self.summary["findings"], self.schedule)))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
