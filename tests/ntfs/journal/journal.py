"""'ntfs journal' against journals whose true history the test knows, and against other readers.

usage: journal.py COLDTRACE SOURCES [unittest arguments]
"""
import csv
import io
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import unittest
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case  # noqa: E402
from strict import strict_csv, strict_ndjson  # noqa: E402
import usn_writer as w  # noqa: E402

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
SCHEMA = json_schema.of(
    json.loads((SOURCES / "docs/schema/ntfs-journal.schema.json").read_text()))
NAMES = {w.CREATE: "file_create", w.DELETE: "file_delete", w.EXTEND: "data_extend", w.OLD: "rename_old_name",
         w.NEW: "rename_new_name", w.BASIC: "basic_info_change", w.LINK: "hard_link_change", w.CLOSE: "close"}


def names_of(reasons):
    return [name for bit, name in NAMES.items() if reasons & bit]


class Journals(Case):
    def run_journal(self, *arguments, status=0):
        done = subprocess.run([COLDTRACE, "ntfs", "journal", *map(str, arguments)], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def lines(self, *arguments, status=0):
        lines = strict_ndjson(self.run_journal(*arguments, status=status).stdout)
        for line in (*lines[:20], *[line for line in lines if line["type"] == "gap"][:20], lines[-1]):
            SCHEMA.validate(line)
        self.assertEqual((lines[0]["type"], lines[-1]["type"], lines[-1]["complete"]), ("header", "summary", True))
        return lines

    def rows(self, *arguments, status=0, kind="record"):
        return [line for line in self.lines(*arguments, status=status) if line["type"] == kind]

    def copied(self, history):
        return self.write("J", history.journal.data), self.write("MFT", w.mft(history.records())[0])

    def codes(self, lines):
        return {finding["code"]: finding["count"] for finding in lines[-1]["findings"]}


class Paths(Journals):
    def check(self, rows, truth):
        self.assertEqual([(r["usn"], r["path"], r["record"], r["sequence"], sorted(r["reasons"])) for r in rows],
                         [(*t[:4], sorted(names_of(t[4]))) for t in truth])

    def test_all_are_those_of_their_time(self):
        for renames in (0.3, 0.02):
            history = w.History(7, 4000, renames=renames)
            stream, mft = self.copied(history)
            rows = self.rows("--mft-file", mft, stream)
            self.check(rows, history.truth)
            self.assertTrue(all(row["path_certain"] for row in rows))
            # What the test can tell: present paths are wrong in many rows.
            now = {number: history.path(number) for number in history.names}
            wrong = sum(now.get(t[2], t[1]).rsplit("/", 1)[0] != t[1].rsplit("/", 1)[0] for t in history.truth)
            self.assertGreater(wrong, 500 if renames > 0.1 else 5)

    def test_a_journal_that_forgot_its_start(self):
        history = w.History(8, 3000)
        stream, mft = self.copied(history)
        cut = len(history.journal.data) // 2 // w.PAGE * w.PAGE
        with open(stream, "r+b") as file:
            file.write(bytes(cut))
        rows = self.rows("--mft-file", mft, stream)
        self.check(rows, [t for t in history.truth if t[0] >= cut])
        self.assertTrue(all(row["path_certain"] for row in rows))
        # The same without the hole: numbers of records are not places then.
        stream.write_bytes(history.journal.data[cut:])
        again = self.rows("--mft-file", mft, stream)
        self.assertEqual([row | {"offset": 0} for row in again], [row | {"offset": 0} for row in rows])
        self.assertEqual([row["offset"] + cut for row in again], [row["offset"] for row in rows])

    def test_without_a_mft_a_journal_from_the_start_tells_all_paths(self):
        history = w.History(9, 2000)
        rows = self.rows(self.copied(history)[0])
        self.check(rows, history.truth)
        self.assertTrue(all(row["path_certain"] for row in rows))

    def test_l2tcsv_has_no_date_of_five_digits(self):
        journal = w.Journal()
        for time in (w.START, 2650467743999999999, 2650467744000000000):
            journal.add(2, w.reference(40, 1), w.reference(5, 5), w.CREATE | w.CLOSE, "late", time=time)
        out = self.run_journal("--format", "l2tcsv", self.write("J", journal.data)).stdout.decode()
        _, first, last, late = out.splitlines()
        self.assertRegex(first, "^01/1[0-9]/2024,")
        self.assertTrue(last.startswith("12/31/9999,23:59:59,"))
        self.assertTrue(late.startswith("00/00/0000,--:--:--,UTC,"), late)
        self.assertIn("file_time: +10000-01-01T00:00:00.0000000Z", late)

    def test_l2tcsv_names_the_image(self):
        image, _ = w.volume(w.History(3, 60), 1)
        path = self.write("volume.raw", image)
        lines = self.run_journal("--format", "l2tcsv", path).stdout.decode().splitlines()[1:]
        self.assertGreater(len(lines), 60)
        self.assertEqual({line.rpartition("; ")[2] for line in lines}, {"volume: volume.raw"})
        # A journal that was copied is of no volume that is known.
        copied = self.run_journal("--format", "l2tcsv", self.write("J", w.History(3, 60).journal.data)).stdout
        self.assertNotIn(b"volume:", copied)

    def test_l2tcsv_has_a_line_for_each_record(self):
        history = w.History(7, 500)
        stream, mft = self.copied(history)
        rows = self.rows("--mft-file", mft, stream)
        lines = [line.split(",") for line in self.run_journal("--format", "l2tcsv", "--mft-file", mft, stream)
                 .stdout.decode().splitlines()]
        self.assertEqual({len(line) for line in lines}, {17})
        self.assertEqual(len(lines) - 1, len(rows))
        for line, row in zip(lines[1:], rows):
            got = dict(zip(lines[0], line))
            month, day, year = got["date"].split("/")
            self.assertEqual(f"{year}-{month}-{day}T{got['time']}", row["time"][:19])
            self.assertEqual((got["MACB"], got["filename"], got["inode"]),
                             ("..C.", "NTFS:" + row["path"].replace("/", "\\"), str(row["record"])))
            self.assertIn(f"update_sequence_number: {row['usn']}", got["extra"])
            self.assertTrue(got["desc"].endswith("Update reason: " + " ".join(row["reasons"])), got)

    def test_a_mft_of_another_volume_is_told(self):
        first, other = (w.History(seed, 1500, start=w.PAGE) for seed in (7, 8))

        def last(history):
            return {t[2]: t[0] for t in history.truth}

        own = self.write("own", w.mft(first.records(), usns=last(first))[0])
        strange = self.write("strange", w.mft(other.records(), usns=last(other))[0])
        older = {number: usn for number, usn in last(first).items() if usn < 20 * w.PAGE}
        stream = self.write("J", first.journal.data)
        self.assertNotIn("mft-other", self.codes(self.lines("--mft-file", own, stream)))
        self.assertEqual(self.codes(self.lines("--mft-file", strange, stream, status=1)).get("mft-other"), 1)
        # A journal that begins later, and a $MFT that states nothing.
        cut = self.write("cut", bytes(10 * w.PAGE) + bytes(first.journal.data[10 * w.PAGE:]))
        self.assertNotIn("mft-other", self.codes(self.lines("--mft-file", own, cut)))
        for usns in ({}, older):
            few = self.write("few", w.mft(first.records(), usns=usns)[0])
            self.assertNotIn("mft-other", self.codes(self.lines("--mft-file", few, stream)))

    def test_a_journal_that_ends_before_its_mft_is_not_certain(self):
        history = w.History(7, 3000)
        last = {t[2]: t[0] for t in history.truth}
        mft = self.write("MFT", w.mft(history.records(), usns=last)[0])
        directories = {number for number, _, _, _, directory, in_use in history.records() if directory and in_use}
        newest = max(last.get(number, 0) for number in directories)
        for share, early in ((0.5, True), (1, False)):
            with self.subTest(share):
                cut = int(len(history.journal.data) * share) // w.PAGE * w.PAGE if early else len(history.journal.data)
                self.assertEqual(newest >= cut, early)
                kept = [t for t in history.truth if t[0] < cut]
                lines = self.lines("--mft-file", mft, self.write("J", history.journal.data[:cut]), status=int(early))
                rows = [line for line in lines if line["type"] == "record"]
                self.assertEqual([row["usn"] for row in rows], [t[0] for t in kept])
                if early:  # what the test can tell
                    self.assertGreater(sum(row["path"] != t[1] for row, t in zip(rows, kept)), 20)
                self.assertEqual({row["path_certain"] for row in rows}, {not early})
                gaps = [line for line in lines if line["type"] == "gap"]
                self.assertEqual([(gap["lost"], gap["offset"], gap["usn"] + gap["length"]) for gap in gaps],
                                 [("missing", None, newest)] if early else [])
                self.assertEqual(self.codes(lines), {"journal-gap": 1} if early else {})
        # Files that changed later say nothing of paths.
        later = {number: (usn + (1 << 30) if number not in directories else usn) for number, usn in last.items()}
        whole = self.write("J", history.journal.data)
        lines = self.lines("--mft-file", self.write("MFT", w.mft(history.records(), usns=later)[0]), whole)
        self.assertNotIn("journal-gap", self.codes(lines))

    def test_the_last_name_of_a_directory_holds_until_it_is_renamed(self):
        root, directory, file = w.reference(5, 5), w.reference(100, 1), w.reference(101, 1)
        lost = ("/<parent 100-1>/a.txt", False)
        for reasons, expected in (
                ((w.CREATE, w.CREATE | w.CLOSE), ("/last/a.txt", True)),
                ((w.OLD, w.NEW, w.NEW | w.CLOSE), ("/last/a.txt", True)),
                ((w.CREATE, w.OLD), lost)):  # what it is called since then is not told
            for gap in (False, True):
                with self.subTest(reasons, gap=gap):
                    journal = w.Journal()
                    for reason in reasons:
                        journal.add(2, directory, root, reason, "first" if reason == w.OLD else "last",
                                    attributes=w.DIRECTORY)
                    if gap:
                        hole = journal.add(2, file, root, w.BASIC, "x")
                        journal.data[hole:] = bytes(len(journal.data) - hole)
                    journal.add(2, file, directory, w.CREATE, "a.txt")
                    row = self.rows(self.write("J", journal.data), status=int(gap))[-1]
                    self.assertEqual((row["path"], row["path_certain"]), lost if gap else expected)

    def test_without_a_mft_what_the_journal_itself_does_not_tell_is_uncertain(self):
        history = w.History(9, 2000)
        stream, _ = self.copied(history)
        stream.write_bytes(history.journal.data[len(history.journal.data) // 4 // w.PAGE * w.PAGE:])
        rows = self.rows(stream)
        truth = {t[0]: t[1] for t in history.truth}
        certain = [row for row in rows if row["path_certain"]]
        self.assertGreater(len(certain), len(rows) // 4)
        self.assertLess(len(certain), len(rows))
        self.assertEqual([row["path"] for row in certain], [truth[row["usn"]] for row in certain])
        for row in rows:
            if not row["path_certain"]:
                self.assertRegex(row["path"], r"^/<parent \d+-\d+>/")

    def test_what_is_older_than_a_gap_is_not_certain(self):
        history = w.History(10, 3000)
        stream, mft = self.copied(history)
        data = bytearray(stream.read_bytes())
        pages = len(data) // w.PAGE
        # Pages that are zeros, records that were cut out of a page's end, records that are damaged.
        for first, last, lost, status in (
                (pages // 2 * w.PAGE, (pages // 2 + 3) * w.PAGE, "missing", 1),
                (self.place_of(history, pages // 3 * w.PAGE + 3000), (pages // 3 + 1) * w.PAGE, "missing", 1)):
            with self.subTest(first):
                changed = bytearray(data)
                changed[first:last] = bytes(last - first)
                stream.write_bytes(changed)
                lines = self.lines("--mft-file", mft, stream, status=status)
                rows = [line for line in lines if line["type"] == "record"]
                gap, = (line for line in lines if line["type"] == "gap")
                kept = [t for t in history.truth if not first <= t[0] < last]
                self.assertEqual([row["usn"] for row in rows], [t[0] for t in kept])
                self.assertEqual((gap["lost"], gap["offset"]), (lost, None))
                self.assertEqual(gap["usn"] + gap["length"], min(t[0] for t in kept if t[0] >= last))
                self.assertLessEqual(gap["usn"], first)
                self.assertEqual([row["path_certain"] for row in rows], [t[0] >= last for t in kept])
                for row, t in zip(rows, kept):
                    if row["path_certain"]:
                        self.assertEqual(row["path"], t[1])
                self.assertEqual(self.codes(lines), {"journal-gap": 1})
                self.assertEqual(lines.index(gap), 1 + sum(t[0] < first for t in kept))

    @staticmethod
    def place_of(history, at_least):
        return min(t[0] for t in history.truth if t[0] >= at_least)

    def test_a_parent_that_is_a_file_by_now_is_no_directory(self):
        journal = w.Journal()
        journal.add(2, w.reference(50, 1), w.reference(40, 1), w.CREATE, "child")
        records = [(40, 1, w.reference(5, 5), "file.txt", False, True)]
        row, = self.rows("--mft-file", self.write("MFT", w.mft(records)[0]), self.write("J", journal.data))
        self.assertEqual((row["path"], row["path_certain"]), ("/<parent 40-1>/child", False))

    def test_loops_and_depths_end(self):
        records = [(40, 1, w.reference(41, 1), "a", True, True), (41, 1, w.reference(40, 1), "b", True, True)]
        records += [(100 + i, 1, w.reference(99 + i, 1) if i else w.reference(5, 5), "d" * 250, True, True)
                    for i in range(600)]
        journal = w.Journal()
        for parent in (40, 41, 699):
            journal.add(2, w.reference(900, 1), w.reference(parent, 1), w.CREATE, "x")
        rows = self.rows("--mft-file", self.write("MFT", w.mft(records)[0]), self.write("J", journal.data))
        self.assertEqual([row["path_certain"] for row in rows], [False] * 3)
        self.assertLess(len(rows[2]["path"]), 100 * 1024)

    def test_long_paths_of_many_records_are_cut(self):
        records = [(100 + i, 1, w.reference(99 + i, 1) if i else w.reference(5, 5), "d" * 250, True, True)
                   for i in range(380)]
        journal = w.Journal()
        for _ in range(3500):
            journal.add(2, w.reference(900, 1), w.reference(479, 1), w.CREATE, "x")
        mft, stream = self.write("MFT", w.mft(records)[0]), self.write("J", journal.data)
        done = self.run_journal("--mft-file", mft, "-o", self.here / "out", stream, status=1)
        self.assertIn(b"journal-paths", done.stderr)
        self.assertLess((self.here / "out").stat().st_size, 400 << 20)


class Records(Journals):
    def test_fields_of_all_versions(self):
        journal = w.Journal(1 << 20)
        file, parent = w.reference(0x123456789abc, 0xdef), w.reference(5, 5)
        odd = b"a\0" + b"\x00\xd8" + b"b\0"  # an unpaired surrogate
        usns = [journal.add(2, file, parent, w.CREATE | 0x40000008, "v2.txt", source=0x12, security=300,
                            attributes=0x2022),
                journal.add(3, file, parent, w.EXTEND, odd, source=1),
                journal.add(3, file, parent, w.EXTEND, "high", high=(0x1122334455667788, 7)),
                journal.add(4, file, parent, w.EXTEND | w.CLOSE, extents=[(4096, 100), (1 << 40, 5)], left=3),
                journal.add(2, file, parent, w.EXTEND | w.CLOSE, "named.txt", time=w.START + 1),
                journal.add(4, file, parent, w.EXTEND | w.CLOSE, extents=[(0, 1)])]
        rows = self.rows(self.write("J", bytes(1 << 20) + journal.data))
        self.assertEqual([row["usn"] for row in rows], usns)
        self.assertEqual([row["version"] for row in rows], [2, 3, 3, 4, 2, 4])
        self.assertEqual(rows[0]["reasons"], ["file_create", "0x8", "0x40000000"])
        self.assertEqual(rows[0]["sources"], ["auxiliary_data", "0x10"])
        self.assertEqual((rows[0]["security_id"], rows[0]["record"], rows[0]["sequence"]),
                         (300, 0x123456789abc, 0xdef))
        self.assertEqual(rows[0]["attributes"], ["hidden", "archive", "not_content_indexed"])
        self.assertEqual(rows[0]["time"], "2024-01-17T21:20:00.0000000Z")
        self.assertEqual((rows[1]["name"], rows[1]["name_utf16"]), ("a\ufffdb", odd.hex()))
        self.assertNotIn("file_id", rows[1])
        self.assertEqual(rows[2]["file_id"], "1122334455667788" + f"{file:016x}")
        self.assertEqual(rows[2]["parent"]["file_id"], f"{7:016x}{parent:016x}")
        self.assertEqual((rows[3]["name"], rows[3]["time"], rows[3]["name_from_next"], rows[3]["attributes"]),
                         ("named.txt", rows[4]["time"], True, None))
        self.assertEqual(rows[3]["extents"], [{"offset": 4096, "length": 100}, {"offset": 1 << 40, "length": 5}])
        self.assertEqual(rows[3]["extents_left"], 3)
        self.assertEqual((rows[5]["path"], rows[5]["name"], rows[5]["time"], rows[5]["name_from_next"]),
                         (None, None, None, False))

    def test_directories_that_differ_only_in_what_is_no_text(self):
        def units(text):
            return text.encode("utf-16-le", "surrogatepass")

        journal = w.Journal()
        directory, root = w.reference(100, 1), w.reference(5, 5)
        for reason, name in ((w.CREATE | w.CLOSE, "a\ud800"), (None, "one"), (w.OLD, "a\ud800"), (w.NEW | w.CLOSE, "a\ud801"),
                             (None, "two")):
            if reason is not None:
                journal.add(2, directory, root, reason, units(name), attributes=w.DIRECTORY)
            else:
                journal.add(2, w.reference(200 + len(name), 1), directory, w.CREATE | w.CLOSE, name)
        for reason, name in ((w.OLD, "two"), (w.NEW | w.CLOSE, "three")):
            journal.add(2, w.reference(203, 1), directory, reason, name)
        stream = self.write("J", journal.data)
        rows = self.rows(stream)
        wanted = [f"/a{surrogate}{name}" for surrogate, name in (
            ("\ud800", ""), ("\ud800", "/one"), ("\ud800", ""), ("\ud801", ""), ("\ud801", "/two"), ("\ud801", "/two"),
            ("\ud801", "/three"))]
        self.assertEqual([row["path_utf16"] for row in rows], [units(path).hex() for path in wanted])
        self.assertEqual({row["path"] for row in rows}, {path.replace("\ud800", "\ufffd").replace("\ud801", "\ufffd")
                                                         for path in wanted})
        event = self.rows(stream, "--events", kind="event")[-1]
        self.assertEqual((event["old_path"], event["old_path_utf16"], event["path_utf16"]),
                         ("/a\ufffd/two", units("/a\ud801/two").hex(), units("/a\ud801/three").hex()))
        self.assertEqual([row["path_utf16"] for row in strict_csv(self.run_journal("--format", "csv", stream).stdout)],
                         [units(path).hex() for path in wanted])
        cell = strict_csv(self.run_journal("--events", "--format", "csv", stream).stdout)[-1]
        self.assertEqual((cell["path_utf16"], cell["old_path_utf16"]), (event["path_utf16"], event["old_path_utf16"]))
        table = strict_csv(self.run_journal("--format", "mftecmd-csv", stream).stdout)
        self.assertEqual([(row["ParentPath"], row["Name"]) for row in table[:4]],
                         [(".", r"a\ud800"), (r".\a\ud800", "one"), (".", r"a\ud800"), (".", r"a\ud801")])
        table = self.run_journal("--events", "--format", "l2tcsv", stream).stdout.decode()
        self.assertNotIn("\ufffd", table)
        for escaped in (r"NTFS:\a\ud800\one", r"NTFS:\a\ud801\three", r"Former name: NTFS:\a\ud801\two"):
            self.assertIn(escaped, table)
        for form in "text", "bodyfile":
            text = self.run_journal("--events", "--format", form, stream).stdout.decode()
            for escaped in ("/a\\ud800/one", "/a\\ud801/two", "/a\\ud801/three"):
                self.assertIn(escaped, text)

    def test_the_root_is_itself(self):
        journal = w.Journal()
        journal.add(2, w.reference(5, 5), w.reference(5, 5), 0x80000, ".", attributes=0x10)
        row, = self.rows(self.write("J", journal.data))
        self.assertEqual((row["path"], row["path_certain"]), ("/", True))

    def test_a_record_of_version_4_at_the_end_of_a_block_has_its_name(self):
        journal = w.Journal()
        file, parent = w.reference(40, 1), w.reference(5, 5)
        while journal.usn < (1 << 20) - 0xa0:
            journal.add(2, w.reference(41, 1), parent, w.CREATE, "x" * 10)
        self.assertEqual(journal.usn, (1 << 20) - 0x60)
        usn = journal.add(4, file, parent, w.EXTEND | w.CLOSE, extents=[(0, 1)])
        journal.add(2, file, parent, w.EXTEND | w.CLOSE, "behind")
        rows = self.rows(self.write("J", journal.data))
        self.assertEqual([row["name"] for row in rows if row["usn"] >= usn], ["behind", "behind"])

    def test_all_records_of_version_4_of_a_change_have_its_name(self):
        file, other, parent = w.reference(40, 1), w.reference(41, 1), w.reference(5, 5)
        # Before the end of a block, across it, and in more than a page behind it.
        for room, count in ((0x4000, 3), (0x100, 4), (0x100, 200)):
            with self.subTest(room=room, count=count):
                journal = w.Journal()
                while journal.usn < (1 << 20) - room:
                    journal.add(2, other, parent, w.CREATE, "x" * 10)
                usn = journal.usn
                for left in reversed(range(count)):
                    journal.add(4, file, parent, w.EXTEND | (0 if left else w.CLOSE), extents=[(left << 16, 1)], left=left)
                journal.add(3, file, parent, w.EXTEND | w.CLOSE, "behind", time=w.START + 10**7)
                # No name of another file, nor of a change that lacks a reason.
                journal.add(4, file, parent, w.EXTEND, extents=[(0, 1)])
                journal.add(4, other, parent, w.EXTEND, extents=[(0, 1)])
                journal.add(3, other, parent, w.BASIC, "x")
                rows = [row for row in self.rows(self.write("J", journal.data)) if row["usn"] >= usn]
                self.assertEqual([row["extents_left"] for row in rows[:count]], list(reversed(range(count))))
                self.assertEqual({(row["path"], row["name"], row["time"], row["name_from_next"]) for row in rows[:count]},
                                 {("/behind", "behind", "2024-01-17T21:20:01.0000000Z", True)})
                self.assertEqual([(row["path"], row["time"], row["name_from_next"]) for row in rows[count + 1:count + 3]],
                                 [(None, None, False)] * 2)

    def test_no_damage_hides_other_records(self):
        history = w.History(11, 300)
        stream, mft = self.copied(history)
        data = bytes(stream.read_bytes())
        victim = history.truth[len(history.truth) // 2]
        at, size = victim[0], struct.unpack_from("<I", data, victim[0])[0]
        others = [t[0] for t in history.truth if t[0] != at]
        for place, value in ((0, b"\0\0\0\0"), (0, b"\xff\xff\xff\xff"), (0, b"\x41\0\0\0"), (4, b"\x07\0"),
                             (6, b"\1\0"), (0x38, b"\xff\xff"), (0x38, b"\0\0"), (0x3a, b"\x10\0")):
            with self.subTest(place=place, value=value):
                changed = bytearray(data)
                changed[at + place:at + place + len(value)] = value
                stream.write_bytes(changed)
                lines = self.lines("--mft-file", mft, stream, status=1)
                self.assertEqual([line["usn"] for line in lines if line["type"] == "record"], others)
                gap, = (line for line in lines if line["type"] == "gap")
                self.assertEqual((gap["lost"], gap["offset"], gap["length"]), ("damaged", at, size))
                self.assertEqual(self.codes(lines), {"journal-record": 1})
                for line in lines:
                    if line["type"] == "record":
                        self.assertEqual(line["path_certain"], line["usn"] > at)

    def test_records_of_two_journals(self):
        one, two = w.Journal(1 << 20), w.Journal()
        for journal in (one, two):
            for _ in range(100):
                journal.add(2, w.reference(40, 1), w.reference(5, 5), w.CREATE, "x")
        data = one.data.ljust(-(-len(one.data) // w.PAGE) * w.PAGE, b"\0") + two.data
        lines = self.lines(self.write("J", data), status=1)
        self.assertEqual(self.codes(lines), {"journal-order": 1, "journal-gap": 1})


class Events(Journals):
    def test_each_close_is_one_row(self):
        history = w.History(12, 2500)
        stream, mft = self.copied(history)
        expected, open_files = [], {}
        for usn, path, number, sequence, reasons in history.truth:
            event = open_files.setdefault((number, sequence), {"first": usn, "reasons": 0, "records": 0, "old": None})
            event["reasons"] |= reasons
            event["records"] += 1
            if reasons & w.OLD and not event["old"]:
                event["old"] = path
            if reasons & w.CLOSE:
                del open_files[number, sequence]
                expected.append((usn, path, event["first"], event["records"], event["old"],
                                 sorted(names_of(event["reasons"])), True))
        rows = self.rows("--events", "--mft-file", mft, stream, kind="event")
        self.assertEqual([(r["usn"], r["path"], r["first_usn"], r["records"], r["old_path"], sorted(r["reasons"]),
                           r["closed"]) for r in rows], expected)
        self.assertGreater(sum(row[4] is not None for row in expected), 500)

    def test_what_is_not_closed_is_open(self):
        journal = w.Journal()
        parent = w.reference(5, 5)
        journal.add(2, w.reference(40, 1), parent, w.CREATE, "one", time=w.START)
        journal.add(2, w.reference(41, 1), parent, w.CREATE, "two")
        last = journal.add(2, w.reference(40, 1), parent, w.CREATE | w.EXTEND, "one", time=w.START + 10)
        lines = self.lines("--events", self.write("J", journal.data))
        rows = [line for line in lines if line["type"] == "event"]
        self.assertEqual([(r["path"], r["usn"], r["records"], r["closed"]) for r in rows],
                         [("/one", last, 2, False), ("/two", rows[1]["first_usn"], 1, False)])
        self.assertEqual(rows[0]["reasons"], ["data_extend", "file_create"])
        self.assertLess(rows[0]["first_time"], rows[0]["time"])
        self.assertEqual((lines[-1]["counts"]["events"], lines[-1]["counts"]["open_events"]), (0, 2))

    def test_a_record_of_version_4_closes_nothing(self):
        journal = w.Journal()
        file, parent = w.reference(40, 1), w.reference(5, 5)
        journal.add(2, file, parent, w.EXTEND, "x")
        journal.add(4, file, parent, w.EXTEND | w.CLOSE, extents=[(0, 1)])
        journal.add(2, file, parent, w.EXTEND | w.CLOSE, "x")
        row, = self.rows("--events", self.write("J", journal.data), kind="event")
        self.assertEqual(row["records"], 3)


class Times(Journals):
    """What the journal says of times that $MFT contradicts, and of as many that it does not."""
    HOUR, MINUTE = 36_000_000_000, 600_000_000

    def records(self, files):
        """A $MFT with (number, sequence, in use, the four times)."""
        data = bytearray(w.mft([(number, sequence, w.reference(5, 5), f"f{number}", False, in_use)
                                for number, sequence, in_use, _ in files])[0])
        for number, _, _, times in files:
            at = number * w.RECORD + 0x38
            self.assertEqual(struct.unpack_from("<I", data, at)[0], 0x10)
            struct.pack_into("<QQQQ", data, at + 0x18, *times)
        return data

    def test_contradictions_are_told_once_for_each_file(self):
        t, later = w.START, w.START + self.HOUR
        created = (w.CREATE, t)
        changed = [(w.BASIC, later), (w.BASIC | w.CLOSE, later)]
        other = {"time-journal-created"}, {"time-journal-changed"}
        rows = [  # sequence, in use, times, records of the journal, what is told
            (1, True, [t] * 4, [created, (w.CREATE | w.CLOSE, t)], set()),
            (1, True, [t - 24 * self.HOUR, t, t, t], [created], other[0]),
            (1, True, [t + 59 * self.MINUTE // 59, t, t, t], [created], set()),
            (1, True, [t + self.MINUTE + 1, t, t, t], [created], other[0]),
            (1, True, [t - self.MINUTE, t, t, t], [created], set()),
            (1, True, [t, t, later, t], [created, *changed], set()),
            (1, True, [t, t, t, later - self.MINUTE], changed, set()),
            (1, True, [t, t, t, later - self.MINUTE - 1], changed, other[1]),
            (1, True, [t] * 4, [created, (w.CREATE | w.CLOSE, t), *changed, *changed], other[1]),
            (1, True, [t - 24 * self.HOUR] * 4, [created, (w.CREATE | w.CLOSE, t), *changed], other[0] | other[1]),
            (2, True, [0] * 4, [created, *changed], set()),  # of the record's file before
            (1, False, [0] * 4, [created, *changed], set()),
            (1, True, [t] * 4, [(w.BASIC | w.CLOSE, later)], set()),  # when it began is not known
            (1, True, [t, t, later, t], [(w.BASIC, later), (w.BASIC | w.EXTEND, later + 2 * self.HOUR)], set())]
        journal, files, expected = w.Journal(), [], {}
        for number, (sequence, in_use, times, records, codes) in enumerate(rows, 40):
            files.append((number, sequence, in_use, times))
            for reasons, time in records:
                journal.add(2, w.reference(number, 1), w.reference(5, 5), reasons, f"f{number}", time=time)
            for code in codes:
                expected.setdefault(code, set()).add(number)
        # A record of version 4 has no time and begins nothing; a number beyond 64 bits is of no record of the volume.
        files += [(60, 1, True, [t - 24 * self.HOUR] * 4), (61, 1, True, [0] * 4)]
        for version, number, reasons, high in ((4, 60, w.CREATE, 0), (2, 60, w.CREATE, 0), (3, 61, w.BASIC, 1)):
            journal.add(version, w.reference(number, 1), w.reference(5, 5), reasons, f"f{number}" * (version != 4), time=t,
                        high=(high, 0))
        expected["time-journal-created"].add(60)
        mft, stream = self.write("MFT", self.records(files)), self.write("J", journal.data)
        for options in ((), ("--events",)):
            lines = self.lines("--mft-file", mft, *options, stream)
            self.assertEqual(self.codes(lines), {code: len(of) for code, of in expected.items()})
        self.assertEqual(self.codes(self.lines(stream)), {})  # without a $MFT
        said = self.run_journal("-v", "--mft-file", mft, stream).stderr.decode()
        for code, of in expected.items():
            self.assertEqual({int(n) for n in re.findall(code + r" at 0x[0-9a-f]+: record (\d+): ", said)} or
                             {min(of)}, {min(of)} if said.count(code) == 1 else of, said)

    def test_files_that_never_close_and_times_of_any_kind(self):
        journal = w.Journal()
        for number in range(40, 3000):
            journal.add(2, w.reference(number, 1), w.reference(5, 5), w.CREATE | w.BASIC, "x",
                        time=(number * 0x9e3779b97f4a7c15) & (1 << 63) - 1)
        files = [(number, 1, True, [(number * 77) << 52 & (1 << 64) - 1] * 4) for number in range(40, 3000)]
        lines = self.lines("--mft-file", self.write("MFT", self.records(files)), self.write("J", journal.data))
        self.assertGreater(self.codes(lines)["time-journal-created"], 2900)


class Formats(Journals):
    def setUp(self):
        super().setUp()
        history = w.History(13, 800)
        journal = history.journal
        journal.add(2, w.reference(900, 1), w.reference(5, 5), w.CREATE, 'a"b,|c.d.txt')
        journal.add(2, w.reference(901, 1), w.reference(777, 3), w.BASIC, ".hidden.", time=0)
        self.stream, self.mft = self.copied(history)
        self.given = ("--mft-file", self.mft, self.stream)
        self.expected = self.rows(*self.given)

    def output(self, form, *options):
        return self.run_journal("--format", form, *options, *self.given).stdout

    def test_csv_has_what_lines_have(self):
        cells = strict_csv(self.output("csv"))
        self.assertEqual(len(cells), len(self.expected))
        for cell, row in zip(cells, self.expected):
            self.assertEqual(cell, {
                "usn": str(row["usn"]), "time": row["time"] or "", "path": row["path"],
                "path_certain": str(row["path_certain"]).lower(), "name": row["name"], "record": str(row["record"]),
                "sequence": str(row["sequence"]), "parent_record": str(row["parent"]["record"]),
                "parent_sequence": str(row["parent"]["sequence"]), "reasons": " ".join(row["reasons"]),
                "sources": "", "attributes": " ".join(row["attributes"]), "security_id": "0", "version": "2",
                "offset": str(row["offset"]), "volume_image": "", "volume_partition": "", "volume_start": "", "volume_shadow": "",
                "file_id": "", "parent_file_id": "", "name_utf16": "", "name_from_next": "", "extents_left": "",
                "extents": "", "path_utf16": ""})
        events = strict_csv(self.output("csv", "--events"))
        told = self.rows("--events", *self.given, kind="event")
        self.assertEqual([(row["usn"], row["records"], row["closed"], row["old_path"]) for row in events],
                         [(str(e["usn"]), str(e["records"]), str(e["closed"]).lower(), e["old_path"] or "")
                          for e in told])

    def test_csv_has_what_few_records_have(self):
        journal, root, file = w.Journal(), w.reference(5, 5), w.reference(40, 2)
        journal.add(3, file, root, w.CREATE, "wide", high=(7, 1 << 63))
        journal.add(3, file, root, w.CREATE, "narrow")
        journal.add(2, file, root, w.BASIC, b"a\0\0\xd8b\0")
        journal.add(4, file, root, w.EXTEND, extents=[(4096, 8192), (1 << 40, 1)], left=3)
        journal.add(3, file, root, w.EXTEND, "with ranges")
        journal.add(4, file, root, w.EXTEND, extents=[], left=0)
        keys = ("file_id", "parent_file_id", "name_utf16", "name_from_next", "extents_left", "extents")
        expected = [("0000000000000007" "0002000000000028", "8000000000000000" "0005000000000005", "", "", "", ""),
                    ("",) * 6, ("", "", "610000d86200", "", "", ""),
                    ("", "", "", "true", "3", "4096+8192 1099511627776+1"), ("",) * 6,
                    ("", "", "", "false", "0", "")]
        stream = self.write("J", journal.data)
        cells = strict_csv(self.run_journal("--format", "csv", stream).stdout)
        self.assertEqual([tuple(cell[key] for key in keys) for cell in cells], expected)
        self.assertEqual(tuple(cells[0])[-7:], (*keys, "path_utf16"))
        events = strict_csv(self.run_journal("--format", "csv", "--events", stream).stdout)
        self.assertEqual(tuple(events[0])[-8:], (*keys, "path_utf16", "old_path_utf16"))

    def test_json_is_one_array(self):
        array = json.loads(self.output("json"))
        self.assertEqual([line for line in array if line["type"] == "record"], self.expected)

    def test_the_columns_of_mftecmd(self):
        rows = list(csv.DictReader(io.StringIO(self.output("mftecmd-csv").decode())))
        self.assertEqual(list(rows[0]), ["Name", "Extension", "EntryNumber", "SequenceNumber", "ParentEntryNumber",
                                         "ParentSequenceNumber", "ParentPath", "UpdateSequenceNumber",
                                         "UpdateTimestamp", "UpdateReasons", "FileAttributes", "OffsetToData",
                                         "SourceFile"])
        self.assertEqual(len(rows), len(self.expected))
        words = {name: "".join(part.capitalize() for part in name.split("_")) for name in NAMES.values()}
        for got, row in zip(rows, self.expected):
            self.assertEqual((got["Name"], int(got["EntryNumber"]), int(got["SequenceNumber"]),
                              int(got["ParentEntryNumber"]), int(got["ParentSequenceNumber"]),
                              int(got["UpdateSequenceNumber"]), int(got["OffsetToData"]), got["SourceFile"]),
                             (row["name"], row["record"], row["sequence"], row["parent"]["record"],
                              row["parent"]["sequence"], row["usn"], row["offset"], Path(self.stream).name))
            self.assertEqual(got["UpdateReasons"], "|".join(words[name] for name in row["reasons"]))
            self.assertEqual(got["FileAttributes"], "Directory" if "directory" in row["attributes"] else "Archive")
            if row["path_certain"]:
                self.assertEqual(got["ParentPath"], "." + row["path"].rsplit("/", 1)[0].replace("/", "\\"))
            self.assertEqual(got["UpdateTimestamp"], (row["time"] or "").replace("T", " ").removesuffix("Z"))
        self.assertEqual([row["Extension"] for row in rows[-2:]], [".txt", ""])
        self.assertEqual(rows[-1]["ParentPath"], ".\\PathUnknown\\Directory with ID 0x00000309-00000003")
        self.assertEqual(rows[-2]["Name"], 'a"b,|c.d.txt')

    def test_mactime_reads_the_bodyfile(self):
        if shutil.which("mactime") is None:
            self.skipTest("mactime is not installed")
        body = self.write("body", self.output("bodyfile"))
        done = subprocess.run(["mactime", "-b", body, "-d", "-y", "-z", "UTC"], capture_output=True, check=True)
        rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
        body_lines = body.read_text().splitlines()
        # It knows whole seconds, and joins what is the same in one.
        told = {(name, inode, time.split(".")[0]) for _, name, inode, *_, time in
                (line.split("|")[:8] for line in body_lines) if time != "0"}
        self.assertAlmostEqual(len(rows), len(told), delta=2)  # it rounds
        self.assertEqual({row["Type"] for row in rows}, {"macb"})
        self.assertEqual(len(body_lines), len(self.expected))
        for line, row in zip(body_lines, self.expected):
            fields = line.split("|")
            self.assertEqual(len(fields), 11)
            self.assertIn(f"($UsnJrnl: {' '.join(row['reasons'])}", fields[1])
            self.assertEqual(int(fields[2]), row["record"])
            self.assertEqual(set(fields[7:]) == {"0"}, row["time"] is None)

    def test_text_has_a_line_for_each(self):
        lines = self.output("text").decode().splitlines()
        self.assertEqual(len(lines), len(self.expected) + 1)
        self.assertEqual(lines[0].split()[:3], ["usn", "time", "(UTC)"])
        for line, row in zip(lines[1:], self.expected):
            self.assertEqual(int(line.split()[0]), row["usn"])
            self.assertTrue(line.endswith(" ".join(row["reasons"])))
            self.assertEqual(line.split()[1], (row["time"] or "-")[:19])

    def test_jobs_change_nothing(self):
        for form in ("ndjson", "csv"):
            self.assertEqual(self.output(form, "-j1"), self.output(form, "-j3"))


class Volumes(Journals):
    def setUp(self):
        super().setUp()
        self.history = w.History(14, 3000, start=1 << 36)  # a hole of 64 GiB before it
        image, self.places = w.volume(self.history, 3)
        self.image = self.write("volume", image)

    def test_the_journal_of_a_volume(self):
        lines = self.lines(self.image)
        rows = [line for line in lines if line["type"] == "record"]
        self.assertEqual([(r["usn"], r["path"]) for r in rows], [t[:2] for t in self.history.truth])
        self.assertTrue(all(row["path_certain"] for row in rows))
        self.assertTrue(all(row["volume"] == {"image": "volume", "partition": None, "start": 0, "shadow": None} for row in rows))
        image = self.image.read_bytes()
        for row in rows[::17]:
            at = row["usn"] - (1 << 36)
            self.assertEqual(row["offset"], self.places[at // w.PAGE] + at % w.PAGE)
            self.assertEqual(struct.unpack_from("<Q", image, row["offset"] + 0x18)[0], row["usn"])
        journal = lines[0]["journal"]
        self.assertEqual((journal["record"], journal["sequence"], journal["state"], journal["maximum_size"],
                          journal["allocation_delta"], journal["lowest_valid_usn"], journal["id"], journal["made"]),
                         (27, 2, "live", 0x2000000, 0x800000, 0, f"{w.START:016x}", rows[0]["time"][:0] or
                          "2024-01-17T21:20:00.0000000Z"))
        self.assertEqual(journal["size"], (1 << 36) + len(self.history.journal.data))
        self.assertEqual(lines[0]["volume"]["serial_number"], "1122334455667788")

    def test_rows_of_mftecmd_tell_volumes_apart_and_places_are_those_of_the_journal(self):
        image = self.image.read_bytes()
        image += bytes(-len(image) % 512)
        disk = bytearray(64 * 512)
        for number in range(2):
            struct.pack_into("<B3xB3xII", disk, 446 + 16 * number, 0, 7, 64 + number * (len(image) // 512),
                             len(image) // 512)
        disk[510:512] = b"\x55\xaa"
        path = self.write("disk", bytes(disk) + image * 2)
        done = subprocess.run([COLDTRACE, "ntfs", "journal", "--format", "mftecmd-csv", path], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
        self.assertEqual(len(rows), 2 * len(self.history.truth))
        for row in rows:
            self.assertEqual(row["OffsetToData"], row["UpdateSequenceNumber"])
        self.assertEqual({row["SourceFile"] for row in rows}, {f"{Path(path).name} partition {number}" for number in (1, 2)})

    def snapshot(self, *options, status=0):
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "-q", *map(str, options)], capture_output=True, timeout=120)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.stdout

    def with_deletions(self):
        """A history in whose end files are deleted, of whose records nobody else made use."""
        history = w.History(14, 1500)
        for number in [number for number in history.others if not history.children.get(number)][:30]:
            history.delete(number)
        return history

    def test_deleted_files_have_the_time_that_the_journal_says(self):
        history = self.with_deletions()
        self.image = self.write("deletions", w.volume(history, 3)[0])
        rows = {row["usn"]: row for row in self.rows(self.image)}
        expected = {}
        for usn, _, number, sequence, reasons in (t[:5] for t in history.truth):
            if reasons & w.DELETE:
                expected[number, sequence + 1] = {"time": rows[usn]["time"], "usn": usn}
        lines = strict_ndjson(self.snapshot("--journal", "--state", "all", self.image))
        files = [line for line in lines if line["type"] == "file"]
        schema = json_schema.of(
            json.loads((SOURCES / "docs/schema/ntfs-snapshot.schema.json").read_text()))
        for line in files[:40]:
            schema.validate(line)
        told = {(row["record"], row["sequence"]): row["deleted_at"] for row in files if row["deleted_at"]}
        self.assertGreater(len(told), 20)
        deleted = {(row["record"], row["sequence"]) for row in files if row["state"] == "deleted" and row["record"] > 29}
        self.assertEqual(told, {key: value for key, value in expected.items() if key in deleted})
        self.assertEqual(set(told), deleted)  # the journal has all of the history
        self.assertTrue(all(row["deleted_at"] is None for row in files if row["state"] == "live"))
        # The same in CSV, of queries, of images and of the snapshot; and without the option nothing.
        cells = strict_csv(self.snapshot("--journal", "--state", "deleted", "--format", "csv", self.image))
        self.assertEqual({(int(row["record"]), int(row["sequence"])): {"time": row["deleted_time"], "usn": int(row["deleted_usn"])}
                          for row in cells if row["deleted_usn"]}, told)
        snapshot = self.write("files.ndjson", self.snapshot("--journal", "--state", "all", self.image))
        for options in (["--journal", self.image], [snapshot]):
            done = subprocess.run([COLDTRACE, "ntfs", "query", "-q", "--where", 'state == "deleted"', *options],
                                  capture_output=True, timeout=120)
            asked = [line for line in strict_ndjson(done.stdout) if line["type"] == "file"]
            self.assertEqual({(row["record"], row["sequence"]): row["deleted_at"] for row in asked if row["deleted_at"]}, told)
        self.assertNotIn(b"deleted_at", self.snapshot("--state", "all", self.image))
        # Expressions, orders and fields ask for it without the option.
        middle = sorted(value["time"] for value in told.values())[len(told) // 2]
        later = {key for key, value in told.items() if value["time"] >= middle}
        for where, keys in (("exists deleted_at", set(told)), (f"deleted_at >= {middle}", later),
                            (f"deleted_at.usn == {told[min(told)]['usn']}", {min(told)})):
            for given in (self.image, snapshot):
                done = subprocess.run([COLDTRACE, "ntfs", "query", "-q", "--where", where, "--sort", "deleted_at.time:desc",
                                       "--fields", "record,sequence,deleted_at", given], capture_output=True, timeout=120)
                asked = [line for line in strict_ndjson(done.stdout) if line["type"] == "file"]
                self.assertEqual({(row["record"], row["sequence"]) for row in asked}, keys)
                times = [row["deleted_at"]["time"] for row in asked]
                self.assertEqual(times, sorted(times, reverse=True))
                self.assertEqual(set(asked[0]), {"type", "record", "sequence", "deleted_at"})
                cells = strict_csv(subprocess.run(
                    [COLDTRACE, "ntfs", "query", "-q", "--where", where, "--format", "csv", "--fields",
                     "record,sequence,deleted_at", given], capture_output=True, timeout=120).stdout)
                self.assertEqual({(int(row["record"]), int(row["sequence"])): int(row["deleted_usn"]) for row in cells},
                                 {key: told[key]["usn"] for key in keys})
        fields = strict_ndjson(self.snapshot("--state", "deleted", "--fields", "record,deleted_at", self.image))
        self.assertEqual(sum(bool(line.get("deleted_at")) for line in fields), len(told))

    def test_a_file_that_was_created_after_it_was_deleted_is_told(self):
        history = self.with_deletions()
        image, _ = w.volume(history, 2)
        def files(name):
            lines = strict_ndjson(self.snapshot("--journal", "--state", "deleted", self.write(name, image)))
            return {(line["record"], line["sequence"]): line for line in lines if line["type"] == "file"}

        sound = files("sound")
        self.assertNotIn("time-journal-deleted", {finding["code"] for row in sound.values() for finding in row["findings"]})
        number, sequence = next((t[2], t[3]) for t in history.truth if t[4] & w.DELETE and (t[2], t[3] + 1) in sound)
        row = sound[number, sequence + 1]
        deleted = row["deleted_at"]["time"]
        record = row["record_offset"]
        start = record + struct.unpack_from("<H", image, record + 0x14)[0]
        self.assertEqual(struct.unpack_from("<I", image, start)[0], 0x10)
        created = start + struct.unpack_from("<H", image, start + 0x14)[0]
        moment = int((datetime.fromisoformat(deleted[:19] + "+00:00") - datetime(1601, 1, 1, tzinfo=timezone.utc)).total_seconds())
        for seconds, told in ((30, False), (90, True)):
            struct.pack_into("<Q", image, created, (moment + seconds) * 10**7)
            found = files("set")
            self.assertEqual({key for key, row in found.items() if "time-journal-deleted" in {f["code"] for f in row["findings"]}},
                             {(number, sequence + 1)} if told else set())
        text, = (f["text"] for f in found[number, sequence + 1]["findings"] if f["code"] == "time-journal-deleted")
        self.assertIn(f"deleted {deleted} by the journal", text)
        done = subprocess.run([COLDTRACE, "ntfs", "query", "-q", "--journal", "--where", 'findings.code == "time-journal-deleted"',
                               self.here / "set"], capture_output=True, timeout=120)
        self.assertEqual([line["record"] for line in strict_ndjson(done.stdout) if line["type"] == "file"], [number])

    def test_a_deletion_of_another_file_in_the_same_record_is_not_taken(self):
        history = self.with_deletions()
        number, sequence = next((t[2], t[3]) for t in history.truth if t[4] & w.DELETE and t[2] in history.gone)
        history.sequences[number] += 1  # another use of the record, of which the journal does not tell
        image, _ = w.volume(history, 2)
        files = [line for line in strict_ndjson(self.snapshot("--journal", "--state", "all", self.write("other", image)))
                 if line["type"] == "file" and line["record"] == number]
        self.assertEqual([(row["sequence"] > sequence + 1, row["deleted_at"]) for row in files], [(True, None)])

    def test_a_record_in_another_place_is_told(self):
        at = self.places[2]
        with open(self.image, "r+b") as file:
            file.seek(at + 0x18)
            usn, = struct.unpack("<Q", file.read(8))
            file.seek(at + 0x18)
            file.write(struct.pack("<Q", usn + 8))
        lines = self.lines(self.image, status=1)
        self.assertIn("journal-usn", self.codes(lines))

    def test_a_deleted_journal(self):
        image, _ = w.volume(self.history, 2, in_use=False)
        path = self.write("deleted", image)
        done = self.run_journal(path, status=2)
        self.assertIn(b"none of its volumes has a change journal", done.stderr)
        lines = self.lines("--deleted", path)
        self.assertEqual(lines[0]["journal"]["state"], "deleted")
        rows = [line for line in lines if line["type"] == "record"]
        self.assertEqual([r["usn"] for r in rows], [t[0] for t in self.history.truth])
        self.assertEqual({row["path_certain"] for row in rows}, {False})  # nobody knows what came after it
        self.assertEqual(self.codes(lines), {"journal-none": 1})

    def without_record(self, bitmap=True):
        """The volume, its $UsnJrnl's record written over, and with a $Bitmap in which the journal is free."""
        image, places = w.volume(self.history, 3)
        image[4 * w.PAGE + 27 * w.RECORD:4 * w.PAGE + 28 * w.RECORD] = w.file_record(27, 3, [], in_use=False)
        clusters = len(image) // w.PAGE
        if bitmap:
            used = bytearray(b"\xff" * (-(-clusters // 64) * 8))
            for place in places:
                used[place // w.PAGE // 8] &= ~(1 << place // w.PAGE % 8)
            room = clusters - 4
            image[room * w.PAGE:room * w.PAGE + len(used)] = used
            stream = w.attribute(0x80, (w.run(1, room) + b"\0", 1, len(used), len(used), False), 2, resident=False)
            image[4 * w.PAGE + 6 * w.RECORD:4 * w.PAGE + 7 * w.RECORD] = w.plain_record(
                6, 6, w.reference(5, 5), "$Bitmap", False, more=[stream])
        return image, places

    def test_a_deleted_journal_whose_record_is_gone(self):
        image, places = self.without_record()
        path = self.write("gone", image)
        self.assertIn(b"none of its volumes has a change journal", self.run_journal("--deleted", path, status=2).stderr)
        lines = self.lines("--carve", path)
        self.assertEqual(lines[0]["journal"]["state"], "carved")
        rows = [line for line in lines if line["type"] == "record"]
        self.assertEqual([row["usn"] for row in rows], [t[0] for t in self.history.truth])
        self.assertEqual([(row["record"], row["sequence"]) for row in rows], [t[2:4] for t in self.history.truth])
        self.assertEqual({(row["carved"], row["path_certain"]) for row in rows}, {(True, False)})
        start = self.history.journal.start
        self.assertEqual([row["offset"] for row in rows],
                         [places[(row["usn"] - start) // w.PAGE] + row["usn"] % w.PAGE for row in rows])
        self.assertEqual(self.codes(lines), {"journal-carved": 1, "journal-none": 1})
        cells = strict_csv(self.run_journal("--carve", "--format", "csv", path).stdout)
        self.assertEqual({row["carved"] for row in cells}, {"true"})
        for form, mark in (("text", b" (carved)"), ("bodyfile", b", carved)"), ("l2tcsv", b"; carved"),
                           ("mftecmd-csv", b"gone (carved)")):
            out = self.run_journal("--carve", "--format", form, path).stdout.splitlines()
            self.assertEqual(sum(mark in line for line in out), len(rows), form)

    def test_carving_takes_each_page_once_and_says_what_is_missing(self):
        image, places = self.without_record()
        whole = self.lines("--carve", self.write("whole", image))
        lost = bytearray(image)
        lost[places[2]:places[2] + w.PAGE] = random.Random(1).randbytes(w.PAGE)
        lost[places[0]:places[0] + 8] = bytes(8)  # no page begins so
        rows = [line for line in self.lines("--carve", self.write("lost", lost), status=1) if line["type"] == "record"]
        start = self.history.journal.start
        self.assertEqual([row["usn"] for row in rows],
                         [t[0] for t in self.history.truth if (t[0] - start) // w.PAGE not in (0, 2)])
        # A page that is there twice is one; one of another journal at the same place is another stream's.
        twice = bytearray(image)
        twice[places[1]:places[1] + w.PAGE] = image[places[2]:places[2] + w.PAGE]
        lines = self.lines("--carve", self.write("twice", twice), status=1)
        self.assertEqual(lines[-1]["counts"]["journals"], 1)
        other = bytearray(image)
        other[places[1]:places[1] + w.PAGE] = image[places[2]:places[2] + w.PAGE]
        other[places[1] + 0x3c] ^= 1  # of the first name
        lines = self.lines("--carve", self.write("other", other), status=1)
        self.assertEqual(lines[-1]["counts"]["journals"], 2)
        # What is in use is nobody's to carve.
        used, _ = self.without_record(bitmap=False)
        lines = self.run_journal("--carve", "-v", self.write("used", used), status=2)
        self.assertIn(b"journal-carve-left: ", lines.stderr)
        live, _ = w.volume(self.history, 3)
        live[4 * w.PAGE + 6 * w.RECORD:4 * w.PAGE + 7 * w.RECORD] = image[4 * w.PAGE + 6 * w.RECORD:4 * w.PAGE + 7 * w.RECORD]
        room = len(live) // w.PAGE - 4
        live[room * w.PAGE:(room + 1) * w.PAGE] = image[room * w.PAGE:(room + 1) * w.PAGE]
        lines = self.lines("--carve", self.write("live", live))
        self.assertEqual({row["carved"] for row in lines if row["type"] == "record"}, {False})
        self.assertEqual(lines[1:-1], [dict(line, carved=False) for line in self.lines(self.here / "live")[1:-1]])
        self.assertEqual(len(whole), len(lines))

    def with_bitmap(self, image, bare, free):
        """The image with the $Bitmap of without_record(), in which the cluster `free` is free too."""
        record = slice(4 * w.PAGE + 6 * w.RECORD, 4 * w.PAGE + 7 * w.RECORD)
        room = (len(image) // w.PAGE - 4) * w.PAGE
        image[record], image[room:room + w.PAGE] = bare[record], bare[room:room + w.PAGE]
        image[room + free // 8] &= ~(1 << free % 8)
        return image

    def test_carving_takes_what_a_known_deleted_journal_has_once(self):
        bare, places = self.without_record()
        image, _ = w.volume(self.history, 3, in_use=False)
        path = self.write("deleted", self.with_bitmap(image, bare, places[0] // w.PAGE))
        for options in (["--carve"], ["--carve", "--deleted"]):
            rows = [line for line in self.lines(*options, path) if line["type"] == "record"]
            self.assertEqual([row["usn"] for row in rows], [t[0] for t in self.history.truth])
            self.assertEqual({row["carved"] for row in rows}, {False})

    def test_a_page_of_a_known_journal_is_not_carved_again(self):
        bare, places = self.without_record()
        room = max(places) + w.PAGE  # behind the journal's first run
        for in_use, options in ((True, ["--carve"]), (False, ["--carve", "--deleted"])):
            image, _ = w.volume(self.history, 3, in_use=in_use)
            for changed in (False, True):
                image[room:room + w.PAGE] = image[places[1]:places[1] + w.PAGE]
                if changed:  # another journal's
                    image[room + 0x3c] ^= 1  # of the first name
                path = self.write("copy", self.with_bitmap(image, bare, room // w.PAGE))
                rows = [line for line in self.lines(*options, path) if line["type"] == "record"]
                start = self.history.journal.start
                again = [t[0] for t in self.history.truth if (t[0] - start) // w.PAGE == 1 and changed]
                self.assertEqual([row["usn"] for row in rows if not row["carved"]], [t[0] for t in self.history.truth])
                self.assertEqual([row["usn"] for row in rows if row["carved"]], again)

    def test_pages_that_lie_across_the_pieces_that_are_read_are_carved(self):
        if shutil.which("mkfs.ntfs") is None:
            self.skipTest("mkfs.ntfs is not installed")
        bare = self.write("bare", bytes(16 << 20))
        subprocess.run(["mkfs.ntfs", "-q", "-F", "-f", "-c", "1024", bare], check=True, capture_output=True)
        journal = w.Journal()
        usns = [journal.add(2, w.reference(30, 1), w.reference(5, 5), w.CREATE, "x" * 200) for _ in range(300 * 8)]
        for shift in range(0, 4096, 1024):  # a piece of 1 MiB ends inside a page at most of them
            image, place = bytearray(bare.read_bytes()), (12 << 20) + shift
            self.assertEqual(set(image[place:place + len(journal.data)]), {0})
            image[place:place + len(journal.data)] = journal.data
            rows = [line for line in self.lines("--carve", self.write("across", image)) if line["type"] == "record"]
            self.assertEqual([(row["usn"], row["offset"]) for row in rows], [(usn, place + usn) for usn in usns])

    def test_pages_whose_times_contradict_their_numbers_are_of_two_journals(self):
        if shutil.which("mkfs.ntfs") is None:
            self.skipTest("mkfs.ntfs is not installed")
        bare = self.write("bare", bytes(16 << 20))
        subprocess.run(["mkfs.ntfs", "-q", "-F", "-f", bare], check=True, capture_output=True)
        image = bytearray(bare.read_bytes())
        year = 365 * 86400 * 10_000_000
        usns = {}
        for name, years, odd in (("first", 0, 1), ("second", 1, 0)):
            journal = w.Journal()
            for count in range(20 * 10):
                usn = journal.add(2, w.reference(30 + odd, 1), w.reference(5, 5), w.CREATE, name + "x" * 150,
                                  time=w.START + years * year + count)
                if usn // w.PAGE % 2 == odd:  # what the other one left of it
                    usns.setdefault(name, []).append(usn)
            for at in range(odd * w.PAGE, len(journal.data) - w.PAGE, 2 * w.PAGE):
                place = (12 << 20) + at
                self.assertEqual(set(image[place:place + w.PAGE]), {0})
                image[place:place + w.PAGE] = journal.data[at:at + w.PAGE]
            usns[name] = [usn for usn in usns[name] if usn < (len(journal.data) // w.PAGE) * w.PAGE]
        lines = self.lines("--carve", self.write("two", image), status=1)
        self.assertEqual(lines[-1]["counts"]["journals"], 2)
        self.assertEqual(self.codes(lines).keys(), {"journal-carved", "journal-gap", "journal-none"})
        rows = [line for line in lines if line["type"] == "record"]
        for name in usns:
            self.assertGreater(len(usns[name]), 50)
        self.assertEqual([(row["name"].rstrip("x"), row["usn"]) for row in rows],
                         [(name, usn) for name in ("second", "first") for usn in usns[name]])

    def test_both_of_a_volume(self):
        image, _ = w.volume(self.history, 2)
        other, _ = w.volume(self.history, 2, in_use=False, journal_record=28)
        record = slice(4 * w.PAGE + 28 * w.RECORD, 4 * w.PAGE + 29 * w.RECORD)
        image[record] = other[record]
        path = self.write("both", image)
        lines = self.lines(path)
        self.assertEqual(self.codes(lines), {"journal-deleted": 1})
        self.assertEqual(lines[-1]["counts"]["journals"], 1)
        lines = self.lines("--deleted", path)
        self.assertEqual([line["journal"]["state"] for line in lines if line["type"] == "header"],
                         ["live", "deleted"])

    def test_a_run_list_that_maps_more_than_the_image_has(self):
        image, places = w.volume(self.history, 1)
        clusters = len(self.places)
        again = w.run(clusters, places[0] // w.PAGE) + w.run(clusters, 0) * 12 + b"\0"
        stream = w.attribute(0x80, (again, clusters * 13, clusters * 13 * w.PAGE, clusters * 13 * w.PAGE, True), 2,
                             "$J", resident=False)
        record = w.plain_record(27, 2, w.reference(11, 11), "$UsnJrnl", False, more=[stream])
        image[4 * w.PAGE + 27 * w.RECORD:4 * w.PAGE + 28 * w.RECORD] = record
        lines = self.lines(self.write("again", image), status=1)
        self.assertIn("journal-runs", self.codes(lines))
        self.assertLess(lines[-1]["counts"]["records"], 13 * len(self.history.truth))

    def test_settings_that_are_cut(self):
        image, _ = w.volume(self.history, 1, settings=struct.pack("<QQ", 0x2000000, 0x800000))
        lines = self.lines(self.write("cut", image), status=1)
        self.assertIsNone(lines[0]["journal"]["id"])
        self.assertIn("journal-settings", self.codes(lines))
        self.assertEqual(lines[-1]["counts"]["records"], len(self.history.truth))

    def test_a_truncated_image(self):
        half = self.places[-1] + w.PAGE  # the last run lies first
        lines = self.lines(self.write("short", self.image.read_bytes()[:half]), status=1)
        self.assertIn("journal-unread", self.codes(lines))
        gaps = [line for line in lines if line["type"] == "gap" and line["lost"] == "unread"]
        self.assertGreater(len(gaps), 0)
        rows = [line for line in lines if line["type"] == "record"]
        truth = {t[0]: t[1] for t in self.history.truth}
        for row in rows:
            if row["path_certain"]:
                self.assertEqual(row["path"], truth[row["usn"]])

    def test_what_has_no_journal(self):
        done = self.run_journal(self.write("MFT", w.mft([])[0]), status=2)
        self.assertIn(b"it is a $MFT, which has no journal", done.stderr)
        done = self.run_journal(self.write("text", b"hello\n"), status=2)
        self.assertIn(b"text file", done.stderr)
        done = self.run_journal("--mft-file", self.image, self.image, status=2)
        self.assertIn(b"an image has its own $MFT", done.stderr)
        done = self.run_journal("--partition", "1", self.write("J", self.history.journal.data), status=2)
        self.assertIn(b"for images", done.stderr)
        zeros = self.write("zeros", bytes(4096))
        self.assertEqual(self.lines("--copied", zeros)[-1]["counts"]["records"], 0)

    def test_no_input_is_written_over(self):
        stream, mft = self.copied(self.history)
        for output in (stream, mft):
            before = output.read_bytes()
            self.run_journal("--mft-file", mft, stream, "-o", output, status=2)
            self.assertEqual(output.read_bytes(), before)


class OtherDrivers(Journals):
    def test_a_journal_that_another_driver_stored(self):
        """On a volume of ntfs-3g, whose $UsnJrnl becomes one when its parent is changed to $Extend."""
        if shutil.which("icat") is None or shutil.which("mkntfs") is None or os.geteuid() != 0:
            self.skipTest("needs icat, mkntfs and root")
        history = w.History(15, 1500, start=1 << 22)
        image = self.here / "image"
        with open(image, "wb") as file:
            file.truncate(32 << 20)
        subprocess.run(["mkntfs", "-q", "-F", "-Q", image], check=True, capture_output=True)
        folder = self.here / "mounted"
        folder.mkdir()
        if subprocess.run(["ntfs-3g", "-o", "streams_interface=windows", image, folder],
                          capture_output=True).returncode != 0:
            self.skipTest("nothing can be mounted here")
        try:
            (folder / "$UsnJrnl").touch()
            number = (folder / "$UsnJrnl").stat().st_ino
            with open(f"{folder}/$UsnJrnl:$J", "wb") as stream:
                stream.seek(1 << 22)
                stream.write(history.journal.data)
            with open(f"{folder}/$UsnJrnl:$Max", "wb") as stream:
                stream.write(struct.pack("<QQQQ", 1 << 25, 1 << 23, w.START, 0))
        finally:
            subprocess.run(["umount", folder], check=True)
        data = bytearray(image.read_bytes())
        at = struct.unpack_from("<Q", data, 0x30)[0] * data[0x0d] * 512 + number * w.RECORD
        name = data.index("$UsnJrnl".encode("utf-16-le"), at)
        struct.pack_into("<Q", data, name - 0x42, w.reference(11, 11))
        image.write_bytes(data)
        lines = self.lines(image)
        rows = [line for line in lines if line["type"] == "record"]
        self.assertEqual([row["usn"] for row in rows], [t[0] for t in history.truth])
        self.assertEqual(lines[0]["journal"]["maximum_size"], 1 << 25)
        listed = subprocess.run(["istat", image, str(number)], capture_output=True, check=True).stdout.decode()
        identifier, = re.findall(r"\((128-\d+)\)   Name: \$J ", listed)
        stream = subprocess.run(["icat", image, f"{number}-{identifier}"], capture_output=True, check=True).stdout
        self.assertEqual(stream, bytes(1 << 22) + history.journal.data)
        for row in rows:
            size = row["usn"] - (1 << 22)
            self.assertEqual(data[row["offset"]:row["offset"] + 64], history.journal.data[size:size + 64])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
