"""Names that differ in unpaired surrogates alone are different names, in analyses, exports and reports.

usage: exact_names.py COLDTRACE SOURCES [arguments of unittest]
"""
import csv
import io
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
from cli.trace.etl_writer import EtlWriter
from strict import strict_json

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
SURROGATES = "\ud800", "\udc00"
BASE = 0x1_8000_0000


def units(text):
    return text.encode("utf-16-le", "surrogatepass")


def exact(row, member):
    """The text of a row, from its units where there are any; JSON shows U+FFFD for what they alone tell."""
    if (stored := row.get(member + "_utf16")) is None:
        return row[member]
    text = bytes.fromhex(stored).decode("utf-16-le", "surrogatepass")
    assert row[member] == text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"), row
    return text


class ExactNames(Case):
    def setUp(self):
        super().setUp()
        log = EtlWriter()
        log.process(0, 10, 100, "app.exe")
        for i, one in enumerate(SURROGATES):
            tid = 1000 + i
            log.thread(0, 20, 100, tid)
            log.system(0, 0x0548, 2, 25, struct.pack("<II", 100, tid) + units(f"worker{one}\0"))
            # Two reads of each file.
            log.system(0, 0x0400, 2, 30, struct.pack("<Q", 0x5000 + i) + units(f"\\Device\\Disk\\a{one}.txt\0"))
            for request in range(2):
                log.system(0, 0x010A, 3, 100 + 10 * i + request,
                           struct.pack("<IIIIQQQQI", 0, 0, 4096, 0, 4096 * i, 0x5000 + i, 0x9000 + request, 5, tid))
            # An image with three samples.
            base = BASE + 0x10000 * i
            log.system(0, 0x030A, 2, 30, struct.pack("<QQIII", base, 0x9000, 100, 1, 2) + bytes(28) +
                       units(f"\\Device\\Disk\\b{one}.dll\0"))
            for sample in range(3):
                log.perfinfo(0, 0x0F2E, 2, 200 + 10 * i + sample, struct.pack("<QIHH", base + 0x1000, tid, 1, 0x40))
        self.trace = self.write("names.etl", log.build())

    def run_trace(self, *arguments):
        done = subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=100)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.stdout

    def answer(self, command):
        content = strict_json(self.run_trace("trace", command, self.trace, "--format", "json"))
        json_schema.validate(content, json.loads((SOURCES / f"docs/schema/trace-{command}.schema.json").read_text()))
        return content

    def assert_names(self, rows, member, form, **sums):
        """One row for each name, with its own numbers."""
        self.assertEqual({exact(row, member): {name: row[name] for name in sums} for row in rows},
                         {form.format(one): sums for one in SURROGATES})

    def test_answers_have_the_units(self):
        self.assert_names(self.answer("io")["disk"]["files"], "file", "\\Device\\Disk\\a{}.txt", reads=2)
        cpu = self.answer("cpu")
        self.assert_names(cpu["modules"], "module", "\\Device\\Disk\\b{}.dll", samples=3)
        self.assert_names(cpu["functions"], "module", "\\Device\\Disk\\b{}.dll", samples=3)
        self.assert_names(self.answer("top")["disk"]["files"], "file", "\\Device\\Disk\\a{}.txt", requests=2)
        self.assert_names([row for row in self.answer("tree")["threads"] if row["name"]], "name", "worker{}")

    def test_text_and_tables_escape_them(self):
        for command, form in (("io", "\\Device\\Disk\\a{}.txt"), ("cpu", "  b{}.dll+0x1000"), ("tree", "worker{}")):
            text = self.run_trace("trace", command, self.trace, "--format", "text").decode()
            for escape in "\\ud800", "\\udc00":
                self.assertIn(form.format(escape), text)
        rows = csv.DictReader(io.StringIO(self.run_trace("trace", "cpu", self.trace, "--format", "csv").decode()))
        self.assertEqual({row["module"] for row in rows if row["of"] == "module"},
                         {"\\Device\\Disk\\b\\ud800.dll", "\\Device\\Disk\\b\\udc00.dll"})

    def test_exports_keep_them_apart(self):
        database = self.here / "names.db"
        self.run_trace("trace", "export", "sqlite", self.trace, "-o", database)
        with sqlite3.connect(database) as connection:
            names = {name for name, in connection.execute("SELECT name FROM thread WHERE name LIKE 'worker%'")}
        self.assertEqual(names, {"worker\\ud800", "worker\\udc00"})
        collapsed = self.run_trace("trace", "export", "collapsed", self.trace).decode()
        self.assertEqual({escape for escape in ("\\ud800", "\\udc00") if f"b{escape}.dll" in collapsed}, {"\\ud800", "\\udc00"})
        for form in "chrome", "speedscope", "firefox":
            strict_json(self.run_trace("trace", "export", form, self.trace))

    def test_lines_of_events_are_valid(self):
        for form in "ndjson", "csv", "text":
            self.run_trace("trace", "decode", self.trace, "--format", form).decode()

    def test_a_long_name_is_cut_between_characters(self):
        """At 32,767 bytes, which are not a number of whole characters."""
        log = EtlWriter()
        log.process(0, 10, 100, "\u4e2d" * 11_000)
        self.write("long.etl", log.build())
        database = self.here / "long.db"
        self.run_trace("trace", "export", "sqlite", self.here / "long.etl", "-o", database)
        with sqlite3.connect(database) as connection:
            names = [bytes(name).decode() for name, in connection.execute("SELECT CAST(name AS BLOB) FROM process")]
        self.assertIn("\u4e2d" * (32_767 // 3), names)

    def test_a_report_has_both(self):
        page = self.here / "page.html"
        self.run_trace("report", self.trace, "-o", page)
        text = page.read_text()
        for escape in "\\ud800", "\\udc00":
            self.assertIn(f"a{escape}.txt", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
