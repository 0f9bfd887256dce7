"""'ntfs logfile' against logs whose operations the test knows, and against another reader.

usage: logfile.py COLDTRACE SOURCES SHARED [unittest arguments]
"""
import collections
import importlib.util
import json
import random
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case  # noqa: E402
from sample_volumes import sample_volume  # noqa: E402
from strict import strict_csv, strict_json, strict_ndjson  # noqa: E402
import log_writer as lw  # noqa: E402
from ntfs.journal import usn_writer as w  # noqa: E402

COLDTRACE, SOURCES, SHARED = (Path(argument).resolve() for argument in sys.argv[1:4])
SCHEMA = json_schema.of(
    json.loads((SOURCES / "docs/schema/ntfs-logfile.schema.json").read_text()))
WALKER = SHARED / "tools/logfile_walk.py"
ROOT, HOME = w.reference(5, 5), w.reference(40, 1)
KINDS = {"created": "created", "deleted": "deleted", "renamed": "renamed", "moved": "moved",
         "linked-or-index-move": "linked", "unlinked-or-index-move": "unlinked",
         "initialised-no-index": "initialized", "deallocated-no-index": "deallocated", "si-times": "times_set"}
TIMES = {"C": "created", "M": "modified", "E": "changed", "A": "accessed"}


def walker():
    if not WALKER.exists():
        raise unittest.SkipTest("the other reader is not here")
    spec = importlib.util.spec_from_file_location("logfile_walk", WALKER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Logs(Case):
    def run_log(self, *arguments, status=0):
        done = subprocess.run([COLDTRACE, "ntfs", "logfile", *map(str, arguments)], capture_output=True, timeout=120)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done

    def lines(self, *arguments, status=0):
        lines = strict_ndjson(self.run_log(*arguments, status=status).stdout)
        for line in (*lines[:20], lines[-1]):
            SCHEMA.validate(line)
        self.assertEqual((lines[0]["type"], lines[-1]["type"], lines[-1]["complete"]), ("header", "summary", True))
        return lines

    def codes(self, lines):
        return {finding["code"]: finding["count"] for finding in lines[-1]["findings"]}

    def expected(self, data):
        """What the other reader says of a log: rows as those of the command, and its records."""
        log = walker().Log(data)
        records = log.records()
        events, _, _ = walker().events(records, 4096)
        rows = collections.Counter()
        for event in events:
            number, _, sequence = event["ref"].partition("-")
            set_times = event["op"] == "si-times"
            if set_times and event["fields"] and not event["partial"] and event["old"] == event["new"]:
                continue
            names = [name and (name["name"], name["parent"])
                     for name in ((None, None) if set_times else (event.get("new"), event.get("old")))]
            times = tuple((TIMES[field], before, after) for field, before, after in
                          zip(event.get("fields", ()), event.get("old", ()), event.get("new", ()))
                          ) if set_times else ()
            rows[KINDS[event["op"]], int(number), sequence or None, *names, event["committed"], event["lsn"], times] += 1
        return rows, [record["lsn"] for record in records], log

    def told(self, lines):
        """The same of the command's rows."""
        def parent(of):
            return of and f"{of['record']}-{of['sequence']}"

        def time(text):
            return text and text[:-1]

        rows = collections.Counter()
        for row in lines:
            if row["type"] != "operation":
                continue
            named = row["operation"] in ("initialized", "deallocated", "times_set")
            names = [(name and (name, parent(of))) for name, of in ((row["name"], row["parent"]),
                                                                    (row["old_name"], row["old_parent"]))]
            if row["operation"] == "times_set":  # the reader leaves it to others whose times they are
                names = [None, None]
            times = tuple((t["time"], time(t["before"]), time(t["after"])) for t in row["times"])
            rows[row["operation"], row["record"], None if named else str(row["sequence"]), *names, row["committed"],
                 row["lsn"], times] += 1
        return rows

    def compare(self, data, status=0):
        path = self.write("LOG", data)
        lines = self.lines("--copied", path, status=status)
        rows, numbers, log = self.expected(data)
        self.assertEqual(self.told(lines), rows)
        header = lines[0]["log"]
        self.assertEqual((header["records"], header["first_lsn"], header["last_lsn"]),
                         (len(numbers), min(numbers, default=None), max(numbers, default=None)))
        self.assertEqual((header["torn_pages"], header["page_copies"], header["page_copies_used"]),
                         (log.bad, log.copies, log.applied))
        return lines


class Story:
    """Transactions of NTFS in a log, and what they should be listed as."""

    def __init__(self, log, usn=True):
        self.log, self.usn = log, usn
        self.truth = []
        self.time = w.START
        self.transaction = 0x18

    def entry(self, file, parent, name, space=3, times=None):
        value = bytearray(w.file_name(parent, name))
        struct.pack_into("<QQQQ", value, 8, *(times or [self.time] * 4))
        value[0x41] = space
        return lw.index_entry(file, bytes(value))

    def run(self, kind, file, *actions, after=None, before=None, commit=True, reason=0):
        self.time += 10_000_000
        self.transaction = 0x18 + (self.transaction + 0x28) % 0x1000
        first = [self.log.add(lw.action(*each[:4], **each[4]), self.transaction) for each in actions][0]
        if reason and self.usn:
            name = (after or before)[1]
            record = w.usn_record(2, file, (after or before)[0], 0x1000, reason, name, time=self.time)
            self.log.add(lw.action(lw.UPDATE_NONRESIDENT, 0, record), self.transaction)
        end = self.log.add(lw.action(lw.FORGET, 1), self.transaction) if commit else first
        if kind:
            self.truth.append((kind, file & (1 << 48) - 1, file >> 48, after, before, commit, end))

    def create(self, file, parent, name, **rest):
        record = w.plain_record(file & (1 << 48) - 1, file >> 48, parent, name, False)
        raw = bytearray(record)  # without fixups
        for stride in (1, 2):
            raw[stride * 512 - 2:stride * 512] = record[0x30 + stride * 2:0x32 + stride * 2]
        number = file & (1 << 48) - 1
        self.run("created", file, (lw.INITIALIZE, 0, bytes(raw[:struct.unpack_from("<I", raw, 0x18)[0]]), b"",
                                   {"file": number}),
                 (lw.ADD, lw.DELETE, self.entry(file, parent, name), b"", {}), after=(parent, name), reason=w.CREATE,
                 **rest)

    def delete(self, file, parent, name, **rest):
        self.run("deleted", file, (lw.DELETE, lw.ADD, b"", self.entry(file, parent, name), {}),
                 (lw.DEALLOCATE, lw.INITIALIZE, b"", bytes(24), {"file": file & (1 << 48) - 1}),
                 before=(parent, name), reason=w.DELETE, **rest)

    def rename(self, file, old, new, **rest):
        kind = "renamed" if old[0] == new[0] else "moved"
        self.run(kind, file, (lw.DELETE_ROOT, lw.ADD_ROOT, b"", self.entry(file, *old), {"file": 5}),
                 (lw.ADD, lw.DELETE, self.entry(file, *new), b"", {}), after=new, before=old, reason=w.NEW, **rest)


def story(log, seed=1, operations=30):
    chosen = random.Random(seed)
    told = Story(log)
    files = {}
    for number in range(operations):
        file = w.reference(50 + number, 1 + number % 5)
        name = (ROOT if number % 3 else HOME, f"n{number}" + "x" * chosen.randrange(0, 200))
        told.create(file, *name)
        files[file] = name
        if number % 2:
            new = (chosen.choice((ROOT, HOME)), f"r{number}")
            told.rename(file, files[file], new)
            files[file] = new
        if number % 5 == 4:
            told.delete(file, *files.pop(file))
    return told


class Operations(Logs):
    def check(self, lines, told):
        rows = [line for line in lines if line["type"] == "operation"]
        reference = lambda of: of and w.reference(of["record"], of["sequence"])  # noqa: E731
        name = lambda of, text: text and (reference(of), text)  # noqa: E731
        self.assertEqual([(r["operation"], r["record"], r["sequence"], name(r["parent"], r["name"]),
                           name(r["old_parent"], r["old_name"]), r["committed"], r["lsn"]) for r in rows], told.truth)
        return rows

    def test_what_happened_is_told_with_its_time_and_evidence(self):
        log = lw.Log(40)
        told = story(log)
        lines = self.lines(self.write("LOG", log.data()))
        rows = self.check(lines, told)
        self.assertEqual(lines[0]["log"]["state"], "clean")
        self.assertEqual(self.codes(lines), {})
        self.assertEqual(lines[-1]["counts"]["operations"],
                         {**dict.fromkeys(KINDS.values(), 0), **collections.Counter(row["operation"] for row in rows)})
        data = log.data()
        for row in rows:
            # One second after the other, by the journal's records in the log.
            self.assertEqual(row["time_from"], "journal")
            self.assertLessEqual(len(row["evidence"]), 3)
            for record in row["evidence"]:
                if record["offset"] % 512 < 504:  # the end of a stride is elsewhere
                    self.assertEqual(struct.unpack_from("<Q", data, record["offset"])[0], record["lsn"])
            first = row["evidence"][0]
            self.assertEqual(first["redo"], {"created": "InitializeFileRecordSegment", "deleted": "DeleteIndexEntryAllocation",
                                             "renamed": "DeleteIndexEntryRoot", "moved": "DeleteIndexEntryRoot"}[row["operation"]])
        times = [row["time"] for row in rows]
        self.assertEqual(times, sorted(set(times)))
        self.assertEqual(times[0], "2024-01-17T21:20:01.0000000Z")

    def test_without_a_journal_a_creation_has_the_time_of_its_name(self):
        log = lw.Log(40)
        told = Story(log, usn=False)
        told.create(HOME, ROOT, "a")
        told.rename(HOME, (ROOT, "a"), (ROOT, "b"))
        rows = self.check(self.lines(self.write("LOG", log.data())), told)
        self.assertEqual([(row["time"], row["time_from"]) for row in rows],
                         [("2024-01-17T21:20:00.0000000Z", "creation"), (None, None)])

    def test_what_is_no_event_and_what_is_not_whole(self):
        log = lw.Log(40)
        told = Story(log)
        file, old = w.reference(60, 1), (ROOT, "a")
        told.run(None, file, (lw.DELETE, lw.ADD, b"", told.entry(file, *old), {}),
                 (lw.ADD, lw.DELETE, told.entry(file, *old), b"", {}))  # to another node
        told.run("linked", file, (lw.ADD, lw.DELETE, told.entry(file, ROOT, "b"), b"", {}), after=(ROOT, "b"))
        told.run("unlinked", file, (lw.DELETE, lw.ADD, b"", told.entry(file, ROOT, "b"), {}), before=(ROOT, "b"))
        # Of a long and a short name the long one.
        told.run("renamed", file, (lw.DELETE, lw.ADD, b"", told.entry(file, ROOT, "LONGNA~1", 2), {}),
                 (lw.DELETE, lw.ADD, b"", told.entry(file, ROOT, "long name", 1), {}),
                 (lw.ADD, lw.DELETE, told.entry(file, ROOT, "x"), b"", {}), after=(ROOT, "x"), before=(ROOT, "long name"))
        # An entry of another index, and one that is cut.
        told.run(None, file, (lw.ADD, lw.DELETE, lw.index_entry(file, bytes(40)), b"", {}),
                 (lw.ADD, lw.DELETE, told.entry(file, ROOT, "cut off")[:90], b"", {}))
        told.create(w.reference(61, 1), ROOT, "never ended", commit=False)
        lines = self.lines(self.write("LOG", log.data(flags=0)))
        self.check(lines, told)
        self.assertEqual((lines[0]["log"]["state"], self.codes(lines)), ("dirty", {"log-dirty": 1}))

    def test_times_that_were_set(self):
        log = lw.Log(40)
        told = Story(log)
        old, new = (struct.pack("<QQQQ", *(w.START + base + i for i in range(4))) for base in (0, 1000))
        # Of a record that grew, all times are there and none is another.
        told.run(None, 0, (lw.UPDATE_RESIDENT, lw.UPDATE_RESIDENT, old + bytes(40), old + bytes(16),
                           {"file": 60, "record_offset": 0x38, "attribute_offset": 0x18}))
        for start in (0, 3, 8, 27):
            told.run(None, 0, (lw.UPDATE_RESIDENT, lw.UPDATE_RESIDENT, new[start:], old[start:],
                               {"file": 60, "record_offset": 0x38, "attribute_offset": 0x18 + start}))
        rows = [line for line in self.lines(self.write("LOG", log.data())) if line["type"] == "operation"]
        names = list(TIMES.values())
        self.assertEqual([[time["time"] for time in row["times"]] for row in rows], [names, names[1:], names[1:], []])
        self.assertEqual([row["times_partial"] for row in rows], [False, True, False, True])
        csv = strict_csv(self.run_log("--format", "csv", self.here / "LOG").stdout)
        self.assertEqual([row["times_partial"] for row in csv], ["false", "true", "false", "true"])
        self.assertEqual({(row["operation"], row["record"], row["sequence"]) for row in rows}, {("times_set", 60, None)})
        self.assertEqual([(t["before"][-9:], t["after"][-9:]) for t in rows[0]["times"]],
                         [(f"0.{i:07}Z"[1:].rjust(9, "0"), f".{1000 + i:07}Z".rjust(9, "0")) for i in range(4)])

    def test_whose_times_were_set(self):
        log = lw.Log(40)
        told = Story(log)
        old, new = (struct.pack("<QQQQ", *(w.START + base + i for i in range(4))) for base in (0, 1000))

        def touch(number):
            told.run(None, 0, (lw.UPDATE_RESIDENT, lw.UPDATE_RESIDENT, new, old,
                               {"file": number, "record_offset": 0x38, "attribute_offset": 0x18}))

        first, second = w.reference(60, 1), w.reference(60, 2)
        touch(60)                                               # before the record's first event: by that one
        told.rename(first, (ROOT, "before"), (ROOT, "after"))
        touch(60)
        told.delete(first, ROOT, "after")
        touch(60)                                               # of nobody
        told.create(second, HOME, "other")
        touch(60)
        touch(61)                                               # of whom $MFT knows
        touch(62)                                               # of a file that is gone
        touch(63)                                               # of one that another one came after
        told.create(w.reference(63, 2), ROOT, "late")
        touch(900)
        path = self.write("LOG", log.data())
        mft = self.write("MFT", w.mft([(60, 2, HOME, "other", False, True), (61, 7, HOME, "f61", False, True),
                                       (62, 1, ROOT, "f62", False, False), (63, 2, ROOT, "late", False, True),
                                       (40, 1, ROOT, "home", True, True)])[0])
        of_log = [(60, 1, "before", "log"), (60, 1, "after", "log"), (60, None, None, None), (60, 2, "other", "log")]
        paths = ["/before", "/after", None, "/home/other", "/home/f61", None, None, None]
        for options, of_61, paths in (((), None, [None] * 8), (("--mft-file", mft), "f61", paths)):
            rows = [row for row in self.lines(*options, path) if row.get("operation") == "times_set"]
            self.assertEqual([(row["record"], row["sequence"], row["name"], row["name_from"]) for row in rows],
                             [*of_log, (61, None, of_61, of_61 and "mft"), (62, None, None, None),
                              (63, None, None, None), (900, None, None, None)])
            self.assertEqual([row["path"] for row in rows], paths)
        self.assertEqual([row["mft"] for row in rows],
                         ["reused", "reused", "in_use", "same_name", "in_use", "deleted", "in_use", "absent"])
        csv = strict_csv(self.run_log("--format", "csv", "--mft-file", mft, path).stdout)
        self.assertEqual([row["name_from"] for row in csv if row["operation"] == "times_set"],
                         [row["name_from"] or "" for row in rows])
        text = self.run_log("--format", "text", "--mft-file", mft, path).stdout.decode()
        self.assertIn("/home/f61 (by $MFT)", text)

    def test_beside_what_mft_says(self):
        log = lw.Log(40)
        told = Story(log)
        names = {number: (w.reference(number, 1), ROOT, f"f{number}") for number in range(60, 66)}
        for file, parent, name in names.values():
            told.create(file, parent, name)
        told.create(w.reference(900, 1), ROOT, "beyond")
        told.create(w.reference(67, 1), w.reference(40, 9), "lost")
        records = [(60, 1, ROOT, "f60", False, True), (61, 1, ROOT, "other", False, True),
                   (62, 2, ROOT, "f62", False, False), (63, 3, ROOT, "f63", False, True),
                   (64, 3, ROOT, "f64", False, False), (65, 1, HOME, "f65", False, True),
                   (67, 1, w.reference(40, 9), "lost", False, True), (40, 1, ROOT, "home", True, True)]
        mft = self.write("MFT", w.mft(records)[0])
        rows = self.check(self.lines("--mft-file", mft, self.write("LOG", log.data())), told)
        self.assertEqual([row["mft"] for row in rows],
                         ["same_name", "other_name", "deleted", "reused", "reused", "other_name", "absent", "same_name"])
        self.assertEqual([row["path"] for row in rows], [*[f"/f{n}" for n in range(60, 66)], "/beyond", None])
        rows = self.check(self.lines(self.write("LOG", log.data())), told)
        self.assertEqual({(row["mft"], row["path"]) for row in rows}, {(None, None)})

    def test_records_that_were_only_prepared_are_not_deleted(self):
        """Windows prepares 16 to 23, as the number says; of its own others it gives the sequence 1."""
        log = lw.Log(40)
        told = Story(log)
        seen = [(16, 16), (23, 23), (25, 1)]
        for number, sequence in (*seen, (62, 1)):
            bare = w.file_record(number, sequence, [], in_use=False)
            record = bytearray(bare[:struct.unpack_from("<I", bare, 0x18)[0]])
            told.run("initialized", w.reference(number, sequence), (lw.INITIALIZE, 0, bytes(record), b"", {"file": number}))
        image, found = w.mft([(62, 2, ROOT, "gone", False, False)])
        image = bytearray(image)
        information = w.attribute(0x10, w.standard_information(0), 0)
        for number in range(12, 24):
            more = [information, w.attribute(0x80, b"", 1)]
            image[number * w.RECORD:(number + 1) * w.RECORD] = w.file_record(number, number, more, in_use=False)
        mft = self.write("MFT", image)
        rows = self.lines("--mft-file", mft, self.write("LOG", log.data()))
        self.assertEqual([(row["record"], row["sequence"], row["mft"]) for row in rows if row["type"] == "operation"],
                         [*[(*one, "absent") for one in seen], (62, 1, "deleted")])
        listed = strict_ndjson(subprocess.run([COLDTRACE, "ntfs", "snapshot", "--mft", "--state", "all", mft],
                                              capture_output=True, timeout=120).stdout)
        self.assertEqual([row["record"] for row in listed if row.get("state") == "deleted"], [62])

    def test_the_log_of_a_volume(self):
        history = w.History(3, 5)
        image, _ = w.volume(history, 1)
        log = lw.Log(40)
        told = story(log, operations=6)
        place = len(image) // w.PAGE
        image += log.data() + bytes(8 * w.PAGE)
        struct.pack_into("<Q", image, 0x28, len(image) // 512 - 1)
        image[-512:] = image[:512]
        runs = w.run(40, place) + b"\0"
        record = w.plain_record(2, 2, ROOT, "$LogFile", False, more=[
            w.attribute(0x80, (runs, 40, 40 * w.PAGE, 40 * w.PAGE, False), 2, resident=False)])
        at = 4 * w.PAGE + 2 * w.RECORD
        image[at:at + w.RECORD] = record
        image[2 * w.PAGE + 2 * w.RECORD:2 * w.PAGE + 3 * w.RECORD] = record
        path = self.write("disk.raw", image)
        lines = self.lines(path)
        rows = self.check(lines, told)
        self.assertEqual(lines[0]["volume"]["cluster_size"], 4096)
        self.assertEqual({row["volume"]["image"] for row in rows}, {"disk.raw"})
        for row in rows:
            for one in row["evidence"]:
                if one["offset"] % 512 < 504:
                    self.assertEqual(struct.unpack_from("<Q", image, one["offset"])[0], one["lsn"])
            self.assertIn(row["mft"], ("same_name", "other_name", "deleted", "reused", "absent"))
        # All formats have the same rows.
        csv = strict_csv(self.run_log("--format", "csv", path).stdout)
        self.assertEqual([(row["operation"], int(row["lsn"]), row["name"], row["old_name"], row["mft"]) for row in csv],
                         [(row["operation"], row["lsn"], row["name"] or "", row["old_name"] or "", row["mft"])
                          for row in rows])
        self.assertEqual([(row["name_utf16"], row["old_name_utf16"]) for row in csv],
                         [(row.get("name_utf16", ""), row.get("old_name_utf16", "")) for row in rows])
        self.assertEqual(strict_json(self.run_log("--format", "json", path).stdout), lines)
        text = self.run_log("--format", "text", path).stdout.decode().splitlines()
        self.assertEqual(len(text), len(rows) + 2)
        self.assertTrue(text[0].startswith("$LogFile: clean, version 1.1, "))
        self.assertEqual(text[1].split(), ["lsn", "time", "(UTC)", "event", "file", "and", "names"])


class Pages(Logs):
    def test_both_versions_laps_and_records_through_pages(self):
        for version, pages in (((1, 1), 9), ((2, 0), 40), ((1, 1), 200)):
            with self.subTest(version=version, pages=pages):
                log = lw.Log(pages, version=version)
                story(log, operations=40)
                log.add(lw.action(lw.UPDATE_NONRESIDENT, 0, b"", bytes(9000)))
                story(log, seed=2, operations=5)
                self.compare(log.data())

    def test_copies_of_newest_pages(self):
        for version in ((1, 1), (2, 0)):
            log = lw.Log(60, version=version)
            story(log)
            offset = (log.at - 1) // lw.PAGE * lw.PAGE
            newest = bytes(log.pages[offset])
            last, = struct.unpack_from("<Q", newest, 0x20)
            old = bytearray(newest)
            struct.pack_into("<Q", old, 0x20, last - 1)
            old[2048:] = bytes(2048)
            for kept, copied, used in ((old, newest, 1), (newest, old, 0), (newest, newest, 0)):
                log.pages[offset] = bytearray(kept)
                header = self.compare(log.data(copies=[(3, (offset, copied))]))[0]["log"]
                self.assertEqual((header["page_copies"], header["page_copies_used"]), (1, used))
            del log.pages[offset]
            self.compare(log.data(copies=[(2, (offset, newest)), (3, (offset + 4, newest))]))

    def test_the_newer_restart_page_that_is_whole(self):
        log = lw.Log(40)
        story(log, operations=3)
        data = log.data()
        page = lw.restart_page(log.lsn + 8, log.size, flags=0)
        for order, offset in (((page, data[:4096]), 0), ((data[:4096], page), 4096)):
            header = self.lines(self.write("LOG", b"".join(order) + data[8192:]))[0]["log"]
            self.assertEqual([p["used"] for p in header["restart_pages"]], [p["offset"] == offset for p in
                                                                          header["restart_pages"]])
            self.assertEqual((header["state"], header["restart_pages"][0]["client"]), ("dirty", "NTFS"))
        torn = bytearray(page)
        torn[510] ^= 1
        lines = self.lines(self.write("LOG", bytes(torn) + data[4096:]), status=1)
        self.assertEqual((lines[0]["log"]["state"], self.codes(lines)), ("clean", {"log-restart": 1}))

    def test_no_log_is_no_damage_and_damage_is_told(self):
        log = lw.Log(40)
        story(log, operations=5)
        data = log.data()
        for size in (65536, (1 << 20) + 4096):
            for options in ((), ("--copied",)):
                erased = self.lines(*options, self.write("LOG", b"\xff" * size))
                self.assertEqual((erased[0]["log"]["state"], self.codes(erased)), ("erased", {"log-erased": 1}))
        # Erased are all bytes: where one page is, the others have their records.
        half = self.lines("--copied", self.write("LOG", b"\xff" * 4096 + data[4096:]), status=1)
        self.assertEqual((half[0]["log"]["state"], half[0]["log"]["records"], self.codes(half)),
                         ("clean", len(log.numbers), {"log-restart": 1}))
        self.run_log(self.write("LOG", b"\xff" * 65535 + b"\xfe"), status=2)
        lost = self.lines("--copied", self.write("LOG", bytes(8192) + data[8192:]), status=1)
        self.assertEqual((lost[0]["log"]["state"], self.codes(lost)), ("damaged", {"log-restart": 3}))
        cut = self.lines("--copied", self.write("LOG", data[:3000]), status=1)
        self.assertEqual(self.codes(cut), {"log-unread": 2, "log-restart": 1})
        for size in (100000, len(data) - 4096):
            self.assertEqual(self.codes(self.lines(self.write("LOG", data[:size]), status=1)), {"log-unread": 1})
        checked = self.write("LOG", b"CHKD" + data[4:4096] + b"CHKD" + data[4100:])
        self.assertEqual(self.lines(checked)[0]["log"]["records"], len(log.numbers))
        self.run_log(self.write("other", data), "-o", checked, status=2)
        torn = bytearray(data)
        torn[4 * 4096 + 510] ^= 1
        self.assertEqual(self.codes(self.lines(self.write("LOG", torn))), {"log-page-torn": 1})
        # A record that goes on where there is no page.
        log.add(lw.action(lw.UPDATE_NONRESIDENT, 0, b"", bytes(9000)))
        del log.pages[(log.at - 1) // lw.PAGE * lw.PAGE]
        self.assertEqual(self.codes(self.lines(self.write("LOG", log.data()))), {"log-lost": 1})

    def test_inputs_of_other_kinds(self):
        mft = self.write("MFT", w.mft([])[0])
        for arguments in ([mft], [self.write("text", b"hello")], [self.here], [self.here / "missing"],
                          ["--mft-file", mft, self.write("disk.raw", w.volume(w.History(3, 5), 1)[0])]):
            self.run_log(*arguments, status=2)
        log = self.write("LOG", lw.Log(40).data())
        self.run_log("--mft-file", log, log, status=2)
        self.run_log("--offset", "0", log, status=2)
        self.run_log(log, "-o", log, status=2)
        # A volume whose $LogFile is not there.
        self.assertIn(b"log-unread", self.run_log(self.here / "disk.raw", status=2).stderr)


class Limits(Logs):
    def test_more_changes_than_any_log_has_are_cut(self):
        log = lw.Log(17600, bits=40)
        record = w.usn_record(2, w.reference(60, 1), ROOT, 0x1000, w.CREATE, "a")
        data = lw.action(lw.UPDATE_NONRESIDENT, 0, record * (65000 // len(record)))
        for _ in range(1 + (1 << 20) // (65000 // len(record))):
            log.add(data)
        lines = self.lines(self.write("LOG", log.data()), status=1)
        self.assertEqual(self.codes(lines), {"log-limit": 1})


class OtherReader(Logs):
    def test_damage_of_all_kinds(self):
        chosen = random.Random(5)
        log = lw.Log(24)
        story(log, operations=12)
        sound = log.data()
        compared = 0
        for _ in range(40):
            data = bytearray(sound)
            for _ in range(chosen.randrange(1, 6)):
                # Below the restart pages anything; of these what decides nothing else.
                at = chosen.randrange(4 * 4096, len(data))
                data[at:at + 2] = chosen.choice((b"\0\0", b"\xff\xff", chosen.randbytes(2), b"\x0c\0"))
            try:
                self.expected(bytes(data))
            except (struct.error, IndexError, OverflowError, ZeroDivisionError):
                self.run_log("--copied", self.write("LOG", data), status=None)
                continue
            lines = self.compare(bytes(data))
            compared += 1
            self.assertLessEqual(set(self.codes(lines)), {"log-page-torn", "log-lost"})
        self.assertGreater(compared, 25)

    def test_restart_pages_of_all_kinds_end(self):
        chosen = random.Random(6)
        log = lw.Log(12)
        story(log, operations=4)
        for _ in range(40):
            data = bytearray(log.data())
            page = bytearray(4096)
            page[:] = data[:4096]
            for _ in range(3):
                at = chosen.randrange(0, 300)
                page[at] = chosen.choice((0, 255, chosen.randrange(256)))
            data[:8192] = bytes(page) * 2
            done = self.run_log("--copied", self.write("LOG", data), status=None)
            self.assertIn(done.returncode, (0, 1, 2), done.stderr)
            if done.returncode != 2:
                strict_ndjson(done.stdout)

    def test_logs_that_windows_wrote(self):
        for name in ("ntfs-lastaccess",):  # the smaller one
            packed = SHARED / f"samples/ntfs/{name}.raw.gz"
            if not packed.exists():
                self.skipTest("the sample images are not here")
            image = sample_volume(packed)
            rows = strict_ndjson(subprocess.run([COLDTRACE, "ntfs", "snapshot", "--fields", "record,path,state,streams", image],
                                                capture_output=True, timeout=120).stdout)
            stream, = next(row for row in rows if row.get("record") == 2)["streams"]
            data = b""
            with open(image, "rb") as file:
                for extent in stream["extents"]:
                    file.seek(extent["offset"])
                    data += file.read(extent["clusters"] * 4096)
            copied = self.compare(data[:stream["size"]])
            of_volume = self.lines(image)
            self.assertEqual(self.told(of_volume), self.told(copied))
            self.assertGreater(of_volume[-1]["counts"]["operations"]["created"], 20)
            self.assertEqual(of_volume[0]["log"]["state"], "clean")
            # Whose times were set: by the record's events in the other reader's list, or by the snapshot.
            events, _, _ = walker().events(walker().Log(data[:stream["size"]]).records(), 4096)
            files = {row["record"]: row["path"] for row in rows if row.get("type") == "file" and row["state"] == "live"}
            for row in of_volume:
                if row.get("operation") != "times_set":
                    continue
                others = [event for event in events if event["op"] != "si-times"
                          and int(event["ref"].partition("-")[0]) == row["record"]]
                if row["name_from"] == "mft":
                    self.assertFalse([event for event in others if not event["op"].startswith("linked")])
                    self.assertEqual(row["path"], files[row["record"]])
                elif row["name_from"] == "log":
                    self.assertIn(row["name"], {(event.get(side) or {}).get("name") for event in others
                                                for side in ("old", "new")})
                else:
                    self.assertTrue(others or row["record"] not in files)
            # What was created last is there, under its name or a later one.
            created = [row for row in of_volume if row.get("operation") == "created" and row["record"] >= 24]
            self.assertLessEqual({row["mft"] for row in created}, {"same_name", "other_name", "deleted", "reused"})
            self.assertGreater(sum(row["mft"] == "same_name" for row in created), 10)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
