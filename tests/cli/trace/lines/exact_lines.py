"""Names in lines of events that differ in unpaired surrogates alone: JSON has their units, text escapes them.

usage: exact_lines.py COLDTRACE SOURCES [arguments of unittest]
"""
import hashlib
import hmac
import json
import sqlite3
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
from case import Case
from cli.trace.ctrace_names import with_wide_names
from cli.trace.etl_writer import EtlWriter
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
SURROGATES = "\ud800", "\udc00"
ESCAPES = "\\ud800", "\\udc00"
FILES = ["\\Device\\Disk\\a%s.txt" % one for one in SURROGATES]
MODULES = ["b%s.dll" % one for one in SURROGATES]
BASE = 0x1_8000_0000
KEY = bytes(range(32))


def units(text):
    return text.encode("utf-16-le", "surrogatepass")


def exact(row, member):
    """Texts of a row, from their units where there are any; they show U+FFFD for what these alone tell."""
    def one(shown, stored):
        if stored is None:
            return shown
        text = bytes.fromhex(stored).decode("utf-16-le", "surrogatepass")
        assert shown == units(text).decode("utf-16-le", "replace"), row
        return text

    shown, stored = row[member], row.get(member + "_utf16")
    if not isinstance(shown, list):
        return one(shown, stored)
    stored = stored if stored is not None else [None] * len(shown)
    assert len(shown) == len(stored) and not all(stored[i] is None for i in range(len(stored)) if "\ufffd" in (shown[i] or "")), row
    return [one(*both) for both in zip(shown, stored)]


def run(*arguments):
    done = subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True, timeout=100)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


class Lines(Case):
    def events(self, trace, *options):
        schema = json.loads((SOURCES / "docs/schema/trace.schema.json").read_text())
        lines = strict_ndjson(run("decode", trace, *options))
        for line in lines:
            json_schema.validate(line, schema)
        self.assertEqual(lines[-1]["findings"], [one for one in lines[-1]["findings"] if one["severity"] == "info"])
        return [line for line in lines if line["type"] == "event"]


class Names(Lines):
    """Of files, and of modules in stacks."""

    def setUp(self):
        super().setUp()
        log = EtlWriter()
        log.process(0, 10, 100, "app.exe")
        log.thread(0, 11, 100, 1000)
        log.system(0, 0x030A, 2, 12, struct.pack("<QQIII", BASE + 0x100000, 0x9000, 100, 1, 2) + bytes(28) + units("c.dll\0"))
        for i, (name, module) in enumerate(zip(FILES, MODULES)):
            log.system(0, 0x0400, 2, 20 + i, struct.pack("<Q", 0x5000 + i) + units(name + "\0"))
            log.system(0, 0x030A, 2, 30 + i, struct.pack("<QQIII", BASE + 0x10000 * i, 0x9000, 100, 1, 2) + bytes(28) +
                       units(f"\\Device\\Disk\\{module}\0"))
        for i in range(2):
            log.system(0, 0x010A, 3, 100 + 10 * i,
                       struct.pack("<IIIIQQQQI", 0, 0, 4096, 0, 4096 * i, 0x5000 + i, 0x9000, 5, 1000))
            log.perfinfo(0, 0x0F2E, 2, 105 + 10 * i, struct.pack("<QIHH", BASE + 0x10000 * i + 0x1000, 1000, 1, 0x40))
            log.stack(0, 106 + 10 * i, 105 + 10 * i, 100, 1000,
                      [BASE + 0x10000 * i + 0x1000, 1, BASE + 0x101000, BASE + 0x1000])
        self.trace = self.write("names.etl", log.build())

    def of(self, name, *options):
        return [event for event in self.events(self.trace, *options) if event["name"] == name]

    def test_resolved_names_have_their_units(self):
        reads = self.of("DiskIo/Read")
        self.assertEqual([exact(event["resolved"], "FileObject") for event in reads], FILES)
        stacks = [exact(event["resolved"], "Stack") for event in self.of("StackWalk/Stack")]
        self.assertEqual(stacks, [[f"{module}+0x1000", None, "c.dll+0x1000", f"{MODULES[0]}+0x1000"] for module in MODULES])
        self.assertEqual([sorted(set(event["resolved"]) - {"InstructionPointer"}) for event in self.of("PerfInfo/SampleProf")],
                         [["InstructionPointer_utf16"]] * 2)

    def test_frames_have_the_units_of_modules(self):
        samples = self.of("PerfInfo/SampleProf", "--stacks", "attach")
        self.assertEqual([[exact(frame, "module") if "module" in frame else None for frame in event["stack"]] for event in samples],
                         [[module, None, "c.dll", MODULES[0]] for module in MODULES])
        self.assertEqual([["module_utf16" in frame for frame in event["stack"]] for event in samples], [[True, False, False, True]] * 2)

    def test_expressions_and_members_ask_for_the_units(self):
        for one, name in enumerate(FILES):
            found = self.of("DiskIo/Read", "--where", f"resolved.FileObject_utf16 == '{units(name).hex()}'")
            self.assertEqual([event["fields"]["FileObject"] for event in found], [hex(0x5000 + one)])
        module = units(MODULES[1]).hex()
        self.assertEqual(len(self.of("PerfInfo/SampleProf", "--stacks", "attach", "--where", f"stack.module_utf16 == '{module}'")), 1)
        lines = strict_ndjson(run("decode", self.trace, "--event", "FileIo", "--fields", "resolved.FileObject_utf16,FileName_utf16"))
        self.assertEqual([line for line in lines if line["type"] == "event"],
                         [{"type": "event", "resolved.FileObject_utf16": units(name).hex(), "FileName_utf16": units(name).hex()}
                          for name in FILES])
        self.assertEqual([one["code"] for one in lines[-1]["findings"] if one["code"] == "no-match"], [])

    def test_text_escapes_them(self):
        text = run("decode", self.trace, "--format", "text").decode()
        for one, (escape, module) in enumerate(zip(ESCAPES, MODULES)):
            self.assertIn(f"FileObject={0x5000 + one:#x}(\\Device\\Disk\\a{escape}.txt)", text)
            self.assertIn(f'(["b{escape}.dll+0x1000",null,"c.dll+0x1000","b\\ud800.dll+0x1000"])', text)

    def test_exports_have_them(self):
        database = self.here / "names.db"
        run("export", "sqlite", self.trace, "-o", database)
        with sqlite3.connect(database) as connection:
            resolved = [json.loads(more)["_resolved"] for more, in connection.execute(
                "SELECT more FROM event WHERE kind = (SELECT id FROM kind WHERE name = 'DiskIo/Read') ORDER BY id")]
        timesketch = [json.loads(line["resolved"]) for line in strict_ndjson(run("export", "timesketch", self.trace))
                      if line["event_name"] == "DiskIo/Read"]
        ecs = [line["coldtrace"]["resolved"] for line in strict_ndjson(run("export", "ecs", self.trace))
               if line["event"]["action"] == "DiskIo/Read"]
        for rows in resolved, timesketch, ecs:
            self.assertEqual([exact(row, "FileObject") for row in rows], FILES)

    def test_hashes_are_those_of_the_names_on_a_disk(self):
        """As privacy.md has them: of an unpaired surrogate the three bytes that UTF-8 would have."""
        key = self.write("key", KEY)
        digest = lambda name: hmac.new(KEY, name.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]
        hashed = self.of("DiskIo/Read", "--names", "keyed-hash", "--key-file", key)
        self.assertEqual([event["resolved"] for event in hashed],
                         [{"FileObject": "\\".join(part and digest(part) for part in name.split("\\"))} for name in FILES])


class Processes(Lines):
    """Of coldtrace's own traces: an .etl file has them in bytes."""
    NAMES = ["sv%s.exe" % one for one in SURROGATES]

    def setUp(self):
        super().setUp()
        path = self.here / "boot.ctrace"
        run("synthesize", "boot", "-o", path)
        started = [event["fields"]["image_file_name"] for event in self.events(path) if event["name"] == "ProcessCreate"]
        names = ["p.exe"] * (len(started) - 2) + self.NAMES
        self.trace = self.write("names.ctrace", with_wide_names(path.read_bytes(), started, names))

    def test_lines_have_their_units(self):
        events = self.events(self.trace)
        started = {event["fields"]["new_process"]: exact(event["fields"], "image_file_name") for event in events
                   if event["name"] == "ProcessCreate"}
        odd = {pid for pid, name in started.items() if name in self.NAMES}
        self.assertEqual(len(odd), 2)
        self.assertLessEqual(odd, {event["pid"] for event in events})
        for event in events:
            if event["pid"] in started:
                self.assertEqual(exact(event, "process"), started[event["pid"]])
            self.assertEqual("process_utf16" in event, event["pid"] in odd)
        name = units(self.NAMES[0]).hex()
        self.assertEqual(self.events(self.trace, "--where", f"process_utf16 == '{name}'"),
                         [event for event in events if event.get("process_utf16") == name])
        self.check_other_forms(events)

    def check_other_forms(self, events):
        shown = [exact(event, "process") for event in events]
        for one, escape in zip(SURROGATES, ESCAPES):
            shown = [name and name.replace(one, escape) for name in shown]
        self.assertLess({f"sv{escape}.exe" for escape in ESCAPES}, set(shown))
        rows = [row["process"] or None for row in strict_csv(run("decode", self.trace, "--format", "csv")) if row["type"] == "event"]
        self.assertEqual(rows, shown)
        text = run("decode", self.trace, "--format", "text").decode().splitlines()[1:]
        self.assertEqual([f"  {name or ''}" in line for name, line in zip(shown, text)], [True] * len(shown))
        database = self.here / "names.db"
        run("export", "sqlite", self.trace, "-o", database)
        with sqlite3.connect(database) as connection:
            self.assertEqual([name for name, in connection.execute("SELECT process FROM event ORDER BY id")], shown)
            self.assertEqual([more for more, in connection.execute("SELECT more FROM event WHERE more LIKE '%process_utf16%'")], [])
        for event, name, row in zip(events, shown, strict_ndjson(run("export", "timesketch", self.trace)), strict=True):
            self.assertEqual((row["process_name"], row.get("process_name_utf16")), (event["process"], event.get("process_utf16")))
            self.assertIn(f"] {name} (" if name else "]", row["message"])
        for event, name, row in zip(events, shown, strict_ndjson(run("export", "ecs", self.trace)), strict=True):
            self.assertEqual((row.get("process", {}).get("name"), row["coldtrace"].get("process_utf16")),
                             (event["process"], event.get("process_utf16")))
            self.assertIn(f"] {name} (" if name else "]", row["message"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
