"""Traces of the Python module: several files are one, with what schema files, formats of WPP messages and message files say of
them; members can be chosen. All as the program has it, and as it was written.

usage: traces.py BUILD SHARED MAKE_SCHEMA_FILES [unittest arguments]
"""
import gc
import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import unittest
import uuid
import weakref
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from case import Case  # noqa: E402
from cli.trace.etl_writer import EtlWriter, utf16z  # noqa: E402

BUILD, SHARED, MAKE = (Path(argument).resolve() for argument in sys.argv[1:4])
del sys.argv[1:4]
COLDTRACE = BUILD / "cli/coldtrace"
CASES = SHARED / "facts/etl-schema-cases.json"
sys.path.insert(0, str(BUILD / "python"))
sys.dont_write_bytecode = True
import coldtrace  # noqa: E402

PROVIDER = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")
PAINTER = uuid.UUID("aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e001")  # of make_schema_files
SOURCE = uuid.UUID("5e0d3f0e-97a4-4ba7-9d4c-62d5b4b3e011")
DEBUG_ID = 0x0040  # DbgIdRSDS: the group EventTrace, number 64


def part(times, **options):
    """A file with an event at each time, whose number it is."""
    log = EtlWriter(1, clock=1, **options)
    for time in times:
        log.manifest(0, time, PROVIDER, time, 0, struct.pack("<I", time * 3))
    return log.build()


def message_trace(*messages):
    """Of WPP messages, given whole, each a tick after the one before."""
    log = EtlWriter()
    for time, record in enumerate(messages):
        log._add(0, record[:24] + struct.pack("<Q", log.first + time) + record[32:])
    return log.build()


def message(number, payload, tid=7, pid=9):
    """Source: evntrace.h, MESSAGE_TRACE_HEADER with GUID, time, thread and process."""
    body = SOURCE.bytes_le + bytes(8) + struct.pack("<II", tid, pid) + payload
    return struct.pack("<HBBHH", 8 + len(body), 0, 0x90, number, 0xAA) + body


def told(*findings):
    return sorted((finding["code"], finding["severity"], finding["count"]) if isinstance(finding, dict)
                  else (finding.code, finding.severity, finding.count) for finding in findings)


class Traces(Case):
    def lines(self, *arguments):
        """Header, events and summary of the program."""
        done = subprocess.run([COLDTRACE, "trace", "decode", *map(str, arguments)], capture_output=True, timeout=120, cwd=self.here)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return rows[0], [row for row in rows if row["type"] == "event"], rows[-1]

    def same_as_program(self, trace, *arguments, **choice):
        """The events of both, which say the same; returns those of the module."""
        header, rows, summary = self.lines(*arguments)
        events = list(trace.events(**choice))
        self.assertEqual(len(events), len(rows))
        for row, event in zip(rows, events):
            self.assertEqual([row[name] for name in ("timestamp", "cpu", "pid", "tid", "name", "id", "decoded")] +
                             [row.get(name) for name in ("message", "trace_message", "file")],
                             [event.timestamp, event.cpu, event.pid, event.tid, event.name, event.id, event.decoded,
                              event.message, event.trace_message and self.named(event.trace_message), event.file])
            self.assertEqual([*row["provider"].values()], [event.provider_guid, event.provider])
            self.assertEqual([*row["fields"]], [*event.fields])
            for name, value in event.fields.items():
                if isinstance(value, str):
                    self.assertEqual(value, row["fields"][name])
        self.assertEqual(told(*summary["findings"]), told(*trace.findings))
        return events

    @staticmethod
    def named(row):
        return dict(zip(row.__match_args__, row))


class Several(Traces):
    def setUp(self):
        super().setUp()
        self.times = {"late.etl": [20, 40, 41, 90], "early.etl": [10, 30, 40, 100, 101]}
        for name, times in self.times.items():
            self.write(name, part(times))
        self.paths = [self.here / name for name in self.times]

    def written(self, trace):
        """Number and file of each event that was written, and its payload."""
        rows = trace.events(where=f'provider == "{PROVIDER}"', fields=["id", "file", "rest"])
        return [(number, Path(file).name, rest) for number, file, rest in rows]

    def expected(self):
        """By time; of equal ones, that of the file first which is given first: both sessions began at once."""
        rows = [(time, order, name) for order, (name, times) in enumerate(self.times.items()) for time in times]
        return [(time, name, struct.pack("<I", time * 3)) for time, _, name in sorted(rows)]

    def test_files_are_one_trace_in_the_order_of_time(self):
        trace = coldtrace.open_trace(*self.paths)
        self.assertEqual(self.written(trace), self.expected())
        self.assertEqual((trace.files, trace.failed_inputs), ([*map(str, self.paths)], []))
        self.same_as_program(coldtrace.open_trace(*self.paths), *self.paths)
        self.assertEqual(len(trace), len(self.lines(*self.paths)[1]))

    def test_each_file_is_read_once(self):
        link = self.here / "link.etl"
        os.symlink(self.paths[0], link)
        trace = coldtrace.open_trace(self.paths[0], str(self.paths[1]), os.fsencode(self.paths[0]), link)
        self.assertEqual(self.written(trace), self.expected())

    def test_one_file_has_no_names_of_files(self):
        trace = coldtrace.open_trace(path=self.paths[0])
        self.assertEqual({event.file for event in trace.events()}, {None})
        self.assertEqual(trace.files, [str(self.paths[0])])

    def test_a_folder_has_the_files_of_the_program(self):
        (self.here / "deeper").mkdir()
        self.paths[1].rename(self.here / "deeper/early.etl")
        self.write("note.txt", b"no trace")
        trace = coldtrace.open_trace(self.here)
        self.assertEqual({row[:1] for row in self.written(trace)}, {row[:1] for row in self.expected()})
        self.same_as_program(trace, self.here)
        self.assertEqual([Path(file).name for file in trace.files], ["early.etl", "late.etl"])

    def test_an_archive_has_several(self):
        with zipfile.ZipFile(self.here / "both.zip", "w") as archive:
            for path in self.paths:
                archive.write(path, path.name)
        trace = coldtrace.open_trace(self.here / "both.zip")
        self.assertEqual([name.rpartition("!")[2] for name in trace.files], [*self.times])
        self.same_as_program(trace, self.here / "both.zip")

    def test_what_is_no_trace_is_told_beside_the_others(self):
        (self.here / "empty").mkdir()
        copy = self.write("copy.etl", self.paths[0].read_bytes())
        given = [*self.paths, self.write("note.txt", b"no trace" * 100), copy, self.here / "empty", self.here / "nowhere.etl"]
        trace = coldtrace.open_trace(*given)
        self.assertEqual(self.written(trace), self.expected())
        failed = {row["file"]: row["error"] for row in self.lines(*given)[2]["failed_inputs"]}
        self.assertEqual({row.file for row in trace.failed_inputs}, set(failed))
        self.assertEqual(len(trace.failed_inputs), 4)
        said = dict(trace.failed_inputs)
        for path in copy, self.here / "empty":
            self.assertEqual(said[str(path)], failed[str(path)])

    def test_no_trace_at_all_is_an_error_that_names_each(self):
        given = self.write("note.txt", b"no trace" * 100), self.here / "nowhere.etl"
        with self.assertRaises(coldtrace.Error) as raised:
            coldtrace.open_trace(*given)
        self.assertEqual([line.split(": ")[0] for line in str(raised.exception).splitlines()], [str(given[1]), str(given[0])])

    def test_files_of_two_boots_are_read_together_only_by_force(self):
        other = EtlWriter(1, clock=1, frequency=3_000_000)
        other.manifest(0, 50, PROVIDER, 50, 0, bytes(4))
        given = self.paths[0], self.write("other.etl", other.build())
        with self.assertRaisesRegex(coldtrace.Error, "not from one boot of one machine"):
            coldtrace.open_trace(*given)
        trace = coldtrace.open_trace(*given, force=True)
        self.same_as_program(trace, *given, "--force")
        self.assertIn("trace-mismatch", {finding.code for finding in trace.findings})

    def test_times_in_fields_are_those_of_the_clock_of_their_file(self):
        given = [SHARED / "samples/etl" / name for name in ("tx_HTTP_Server.etl", "pv_net.4.5.2.x64.etl")]
        if not all(path.exists() for path in given):
            self.skipTest("no samples")
        trace = coldtrace.open_trace(*given, force=True)
        events = self.same_as_program(trace, *given, "--force")
        times = [event.fields["InitialTime"] for event in events if "InitialTime" in event.fields]
        self.assertEqual({time[:10] for time in times}, {"2020-07-29"})  # not that of the other file, 2011

    def test_as_many_files_as_a_trace_has_are_opened(self):
        folder = self.here / "many"
        folder.mkdir()
        for time in range(300):
            (folder / f"{time}.etl").write_bytes(part([time]))
        program = ("import resource, sys, coldtrace\n"
                   "resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
                   "trace = coldtrace.open_trace(sys.argv[1])\n"
                   "print(len(trace.files), trace.failed_inputs)\n")
        done = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PYTHONPATH": str(BUILD / "python")})
        self.assertEqual((done.stdout, done.stderr), ("300 []\n", ""))
        for time in range(300, 1025):
            os.link(folder / "0.etl", folder / f"{time}.etl")
        with self.assertRaisesRegex(coldtrace.Error, "1025 files: a trace has at most 1024"):
            coldtrace.open_trace(folder)

    def test_what_is_wrong_with_an_archive_is_told_whichever_of_its_files_is_rejected(self):
        for order in (["cut.etl", "late.etl", "early.etl"], ["late.etl", "cut.etl", "early.etl"]):
            with tarfile.open(self.here / "a.tar.gz", "w:gz") as archive:
                for name in order:
                    content = part([1])[:90] if name == "cut.etl" else (self.here / name).read_bytes()
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
            packed = (self.here / "a.tar.gz").read_bytes()
            damaged = self.write("damaged.tar.gz", packed[:-40])
            with self.subTest(order=order):
                self.assertIn("packed-damaged", {finding.code for finding in coldtrace.open_trace(damaged).findings})
                done = subprocess.run([COLDTRACE, "trace", "decode", damaged], capture_output=True, timeout=60)
                self.assertIn(b"packed-damaged", done.stderr)

    def test_a_path_of_another_type_is_a_type_error(self):
        for given in (self.paths[0], 5), (5,), (self.paths[0], None), ():
            self.assertRaises(TypeError, coldtrace.open_trace, *given)


class Schemas(Traces):
    FORMAT = (f"{SOURCE} painter // SRC=paint.c MJ= MN=\n"
              '#typev paint_c10 10 "%0%10!s! has %11!d! of %12!x!" //   LEVEL=L1 FLAGS=F1 FUNC=Main\n'
              "{\nname, ItemString -- 10\ncount, ItemLong -- 11\nmask, ItemLong -- 12\n}\n")
    VALUES = ("red", 5, 0xbeef), ("green and blue", -1, 0)

    def painted(self):
        return self.write("painted.etl", message_trace(*(message(10, name.encode() + b"\0" + struct.pack("<iI", count, mask))
                                                         for name, count, mask in self.VALUES), message(11, b"\7")))

    def test_messages_have_the_texts_of_their_formats(self):
        path, formats = self.painted(), self.write("any.thing", self.FORMAT.encode())
        trace = coldtrace.open_trace(path, tmf=[formats])
        *events, other = self.same_as_program(trace, path, "--tmf", formats)[-3:]
        self.assertEqual([event.message for event in events], ["%s has %d of %x" % values for values in self.VALUES])
        self.assertEqual([tuple(event.fields.values()) for event in events], [*self.VALUES])
        self.assertEqual({event.trace_message for event in events}, {("painter", "paint.c", "Main", "L1", "F1")})
        self.assertIs(events[0].trace_message, events[1].trace_message)
        self.assertEqual((other.message, other.trace_message, other.decoded, other.rest), (None, None, "raw", b"\7"))

    def test_without_formats_messages_are_raw(self):
        path = self.painted()
        events = self.same_as_program(coldtrace.open_trace(path), path)[-3:]
        self.assertEqual({(event.message, event.trace_message, event.decoded) for event in events}, {(None, None, "raw")})

    def test_formats_for_other_messages_are_told(self):
        path = self.painted()
        formats = self.write("other.tmf", self.FORMAT.replace("paint_c10 10", "paint_c12 12").encode())
        trace = coldtrace.open_trace(path, tmf=[formats])
        self.same_as_program(trace, path, "--tmf", formats)
        self.assertIn("schema-unused", {finding.code for finding in trace.findings})

    @unittest.skipUnless(CASES.exists(), f"no {CASES}")
    def test_real_messages_have_the_texts_of_their_repository(self):
        cases = json.loads(CASES.read_text())["wpp"]["messages"]
        path = self.write("cases.etl", message_trace(*(bytes.fromhex(case["message"]) for case in cases)))
        folder = self.here / "formats"
        folder.mkdir()
        for case in cases:
            (folder / f"{case['id']}.txt").write_text("".join(line + "\n" for line in case["tmf"]))
        trace = coldtrace.open_trace(path, tmf=[folder])
        self.assertEqual([*trace.events(where='message != ""', fields=["message", "id"])],
                         [(case["text"], case["number"]) for case in cases])
        self.same_as_program(trace, path, "--tmf", folder)

    def test_pdbs_that_the_trace_names(self):
        log, pdb = EtlWriter(), uuid.UUID("0d3f0e5e-97a4-4ba7-9d4c-62d5b4b3e014")
        log.system(0, DEBUG_ID, 2, 1, pdb.bytes_le + struct.pack("<I", 3) + b"c:\\paint.pdb\0")
        path = self.write("named.etl", log.build())
        (row,) = coldtrace.open_trace(path).message_pdbs
        self.assertEqual(row, ("paint.pdb", str(pdb), 3))
        self.assertEqual([self.named(row)], self.lines(path)[0]["message_pdbs"])

    def test_schemas_messages_and_parameters_are_those_of_files(self):
        subprocess.run([MAKE, self.here, *([CASES] if CASES.exists() else [])], check=True)
        log = EtlWriter()
        for time, text in enumerate(("%%2952790016 and %%2952790017%%7", "%%", "100%%%2952790016")):
            log.manifest(0, time, PAINTER, 2, 0, struct.pack("<II", 2, 0xd) + utf16z(text), opcode=33)
        path = self.write("parameters.etl", log.build())
        os.chdir(self.here)  # sources have the names that they were given
        self.addCleanup(os.chdir, "/")
        trace = coldtrace.open_trace(path, schemas=["new"], parameters=["other/none.dll"])
        events = self.same_as_program(trace, path, "--schemas", "new", "--parameters", "other/none.dll", "--messages", messages=True)
        # As the tests of the program have it from the texts in these files.
        self.assertEqual([event.message for event in events if event.provider_guid == str(PAINTER)],
                         [f"Painted Blue on Left|Right|0x8 in {text}\n(100%)" for text in ("Green and Blue%%7", "%%", "100%Green")])
        self.assertEqual({event.message for event in trace.events()}, {None})
        self.assertEqual([*trace.events(fields=["message"])], [(event.message,) for event in events])
        german = coldtrace.open_trace(path, schemas=["new"], languages=["de-DE"], parameters=["new/painter.dll"])
        events = self.same_as_program(german, path, "--schemas", "new", "--language", "de-DE", "--parameters", "new/painter.dll",
                                      "--messages", messages=True)
        self.assertIn("In Gr\u00fcn and Blau%%7 auf Links|Rechts|0x8: Blau", [event.message for event in events])
        # Nobody asked for a language.
        for folder in "old", "new", "other":
            self.same_as_program(coldtrace.open_trace("painted.etl", schemas=[folder]), "painted.etl", "--schemas", folder)
        self.same_as_program(coldtrace.open_trace("painted.etl", schemas=["old"], languages=["fr"]), "painted.etl", "--schemas",
                             "old", "--language", "fr")


class Members(Traces):
    def setUp(self):
        super().setUp()
        self.path = BUILD / "demo/demo-trace.etl"
        self.trace = coldtrace.open_trace(self.path)

    def test_any_choice_has_the_values_of_whole_events(self):
        names = coldtrace.Event.__match_args__
        events = [*self.trace.events()]
        self.assertGreater(len(events), 5)
        for chosen in *((name,) for name in names), names, names[::-1], ("time", "time", "fields", "fields"), ("rest", "pid"):
            if chosen != ("message",):
                self.assertEqual([*self.trace.events(fields=chosen)],
                                 [tuple(getattr(event, name) for name in chosen) for event in events], chosen)
        self.assertEqual({type(row) for row in self.trace.events(fields=["pid"])}, {tuple})
        where = 'name == "Process/Start"'
        self.assertEqual([*self.trace.events(where=where, fields=["pid"])], [(event.pid,) for event in self.trace.events(where=where)])

    def test_a_member_that_events_do_not_have_is_an_error(self):
        with self.assertRaisesRegex(coldtrace.Error, "fields: an Event has no 'nobody'"):
            self.trace.events(fields=["time", "nobody"])

    def test_fields_are_the_callers_alone_and_cycles_with_them_are_found(self):
        class Mark:
            pass

        rows = self.trace.events(fields=["fields", "fields"])
        row = next(rows)
        self.assertEqual(sys.getrefcount(row[0]) - 1, 2)  # the two in the row
        row[0].update(row=row, mark=Mark())
        mark = weakref.ref(row[0]["mark"])
        del row, rows
        gc.collect()
        self.assertIsNone(mark())


if __name__ == "__main__":
    unittest.main()
