"""'ntfs snapshot --format timesketch', 'ecs' and 'sqlite' have what the lines of NDJSON have.

usage: ntfs_timelines.py COLDTRACE SHARED [unittest arguments]
"""
import collections
import datetime
import json
import re
import sqlite3
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from sample_volumes import sample_volume
from strict import strict_csv, strict_ndjson
from ntfs.journal import usn_writer as w

COLDTRACE, SHARED = (Path(a).resolve() for a in sys.argv[1:3])
DESCRIPTIONS = {"created": "Creation Time", "modified": "Content Modification Time",
                "changed": "Metadata Modification Time", "accessed": "Last Access Time"}
ACTIONS = {"created": "created", "modified": "modified", "changed": "record changed", "accessed": "accessed"}


class Timelines(Case):
    @classmethod
    def setUpClass(cls):
        packed = SHARED / "samples/ntfs/ntfs-lastaccess.raw.gz"
        if not packed.exists():
            raise unittest.SkipTest("the sample images are not here")
        cls.image = sample_volume(packed)
        rows = strict_ndjson(cls.snapshot("ndjson").stdout)
        cls.serial = rows[0]["volume"]["serial_number"]
        cls.rows = [row for row in rows if row["type"] == "file"]
        cls.summary = rows[-1]

    @classmethod
    def snapshot(cls, form):
        return subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "all", "--slack", "--format", form,
                               cls.image], capture_output=True, timeout=120)

    def times(self):
        """Path, set, kind and time of each time of the rows."""
        for row in self.rows:
            sets = {"$STANDARD_INFORMATION": row["si"], "$FILE_NAME": row["fn"]}
            if row["si"] is None and row["fn"] is None:
                sets = {"index": row["index"]}
            for name, times in sets.items():
                for kind in DESCRIPTIONS:
                    if times and times[kind]:
                        yield row, name, kind, times[kind]

    def test_queries_have_the_lines_of_what_they_find(self):
        def query(form, *options):
            return subprocess.run([COLDTRACE, "ntfs", "query", "--slack", "--format", form, *options, self.image],
                                  capture_output=True, timeout=120).stdout.splitlines()

        for form in ("timeline", "l2tcsv"):
            heading, *lines = self.snapshot(form).stdout.splitlines()
            self.assertEqual(query(form), [heading, *lines])
            self.assertGreater(len(lines), 50)
        wanted = {row["path"] for row in self.rows if row["state"] == "deleted"}
        heading, *lines = self.snapshot("timeline").stdout.splitlines()
        deleted = [line for line in strict_csv(b"\n".join([heading, *lines]) + b"\n") if line["state"] == "deleted"]
        found = strict_csv(b"\n".join(query("timeline", "--where", 'state == "deleted"')) + b"\n")
        self.assertEqual(found, deleted)
        self.assertEqual({line["path"] for line in found}, wanted)
        # The rows that --sort and --limit choose, and their times in order.
        some = query("timeline", "--sort", "path", "--limit", "3")
        first = {line["path"] for line in strict_csv(b"\n".join(some) + b"\n")}
        paths = [row["path"] for row in self.rows if row["path"]]
        self.assertEqual(first, set(sorted(paths, key=lambda path: (path.lower(), path))[:3]))

    def test_timesketch(self):
        done = self.snapshot("timesketch")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertGreater(len(lines), 100)
        got = collections.Counter((line.get("filename"), line["source_long"], line["timestamp_desc"],
                                   line["file_time"], line["state"]) for line in lines)
        self.assertEqual(got, collections.Counter(
            (row["path"], f"NTFS {name}", DESCRIPTIONS[kind], time, row["state"])
            for row, name, kind, time in self.times()))
        by_path = {}
        for row in self.rows:
            by_path.setdefault((row["path"], row["record"], row["state"]), row)
        for line in lines:
            moment = datetime.datetime.fromisoformat(line["datetime"])
            self.assertEqual(round(moment.timestamp() * 1e6), line["timestamp"])
            self.assertEqual(line["datetime"][:26], line["file_time"][:26])
            self.assertTrue(line["message"])
            self.assertEqual(line["volume_serial_number"], self.serial)
            row = by_path[line.get("filename"), line.get("inode"), line["state"]]
            self.assertEqual(line["is_allocated"], row["state"] not in ("deleted", "slack", "stale"))
            if row["directory"] is not None:
                self.assertEqual(line["file_entry_type"], "directory" if row["directory"] else "file")

    def test_ecs(self):
        lines = [json.loads(line) for line in self.snapshot("ecs").stdout.splitlines()]
        got = collections.Counter((line["file"].get("path"), line["event"]["provider"], line["event"]["action"],
                                   line["@timestamp"], line["coldtrace"]["state"]) for line in lines)
        self.assertEqual(got, collections.Counter(
            (row["path"], name, ACTIONS[kind], time, row["state"]) for row, name, kind, time in self.times()))
        for line in lines:
            self.assertEqual((line["ecs"], line["event"]["kind"], line["event"]["category"]),
                             ({"version": "8.17.0"}, "event", ["file"]))
            self.assertIn(line["event"]["type"][0], {"creation", "change", "access"})
            self.assertIn(line["file"]["type"], {"file", "dir"})
            if line["event"]["provider"] == "$STANDARD_INFORMATION":
                name = {"created": "created", "modified": "mtime", "record changed": "ctime",
                        "accessed": "accessed"}[line["event"]["action"]]
                self.assertEqual(line["file"][name], line["@timestamp"])

    def test_sqlite(self):
        done = self.snapshot("sqlite")
        if b"without SQLite" in done.stderr:
            self.skipTest("built without SQLite")
        self.assertEqual(done.returncode, self.snapshot("ndjson").returncode)
        self.assertEqual(done.stdout, self.snapshot("sqlite").stdout)
        database = sqlite3.connect(self.write("files.sqlite", done.stdout))
        self.addCleanup(database.close)
        database.row_factory = sqlite3.Row
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchone()[0], "ok")
        self.assertEqual(database.execute("PRAGMA foreign_key_check").fetchall(), [])
        stored = [dict(row) for row in database.execute("SELECT * FROM file ORDER BY id")]
        self.assertEqual(len(stored), len(self.rows))
        for got, row in zip(stored, self.rows):
            for name in ("path", "name", "record", "sequence", "state", "directory", "links", "short_name",
                         "owner_sid", "security_id", "usn", "object_id", "record_offset", "size"):
                self.assertEqual(got[name], row[name], name)
            for name in "parent", "si", "fn", "index":
                for member, value in (row[name] or {}).items():
                    self.assertEqual(got[f"{name}_{member}"], value)
                if row[name] is None:
                    self.assertEqual({value for key, value in got.items() if key.startswith(f"{name}_")}, {None})
            for name in "attributes", "reparse", "ea", "entry", "findings":
                self.assertEqual(json.loads(got[name]) if got[name] else None, row[name])
            streams = [dict(s) for s in database.execute("SELECT * FROM stream WHERE file = ? ORDER BY id",
                                                         [got["id"]])]
            told = row["streams"] + row["other_streams"]
            self.assertEqual(len(streams), len(told))
            for stream, one in zip(streams, told):
                self.assertEqual(stream["type"], one.get("type", "$DATA"))
                for name in "name", "resident", "resident_offset", "size", "allocated", "valid", "sparse":
                    self.assertEqual(stream[name], one[name])
                self.assertEqual((stream["attribute_id"], json.loads(stream["fixup_positions"])),
                                 (one["id"], one["fixup_positions"]))
                extents = database.execute("SELECT vcn, lcn, clusters, offset FROM extent WHERE stream = ?",
                                           [stream["id"]]).fetchall()
                self.assertEqual([dict(extent) for extent in extents],
                                 [{name: extent[name] for name in ("vcn", "lcn", "clusters", "offset")}
                                  for extent in one["extents"]])
        self.assertEqual({row["code"]: row["count"] for row in database.execute("SELECT * FROM finding")},
                         {finding["code"]: finding["count"] for finding in self.summary["findings"]})
        self.check_documented_query(database)
        header, = database.execute("SELECT header FROM volume").fetchone()
        self.assertEqual(json.loads(header)["volume"]["serial_number"], self.serial)

    def check_documented_query(self, database):
        """What lies at a byte: at both ends of every extent, and behind them."""
        text = (Path(__file__).parents[4] / "docs/commands/ntfs-snapshot.md").read_text()
        query, = re.findall(r"`(SELECT path FROM extent [^`]*)`", text)
        (size,) = database.execute("SELECT cluster_size FROM volume").fetchone()
        extents = [(extent["offset"], extent["offset"] + extent["clusters"] * size, row["path"])
                   for row in self.rows for stream in row["streams"] + row["other_streams"]
                   for extent in stream["extents"] if extent["offset"] is not None]
        self.assertGreater(len(extents), 10)
        free = 0
        for begin, end, path in extents:
            for place in begin, end - 1, end:
                expected = sorted(str(p) for b, e, p in extents if b <= place < e)
                free += not expected
                self.assertEqual(sorted(str(row[0]) for row in database.execute(query, [place])), expected)
        self.assertGreater(free, 0)

    COLUMNS = ("EntryNumber SequenceNumber InUse ParentEntryNumber ParentSequenceNumber ParentPath FileName Extension "
               "FileSize ReferenceCount ReparseTarget IsDirectory HasAds IsAds SI<FN uSecZeros Copied SiFlags NameType "
               "Created0x10 Created0x30 LastModified0x10 LastModified0x30 LastRecordChange0x10 LastRecordChange0x30 "
               "LastAccess0x10 LastAccess0x30 UpdateSequenceNumber LogfileSequenceNumber SecurityId ObjectIdFileDroid "
               "LoggedUtilStream ZoneIdContents SourceFile").split()

    def mftecmd_rows(self, row, image):
        """What MFTECmd's table has of a row, without the columns that the lines do not tell."""
        def yes(value):
            return "True" if value else "False"

        def time(text):
            return text.replace("T", " ")[:-1] if text else ""

        si, fn = row["si"] or {}, row["fn"] or row["index"] or {}
        own = {kind: si.get(kind) for kind in DESCRIPTIONS}
        image.seek((row["record_offset"] or 0) + 8)
        root = row["record"] == 5
        directory = row["path"].rsplit("/", 1)[0]
        common = {
            "EntryNumber": str(row["record"]), "SequenceNumber": str(row["sequence"]),
            "ParentEntryNumber": str(row["parent"]["record"]), "ParentSequenceNumber": str(row["parent"]["sequence"]),
            "ParentPath": "." + ("" if root else directory.replace("/", "\\")),
            "ReferenceCount": str(row["links"] or 0), "ReparseTarget": ((row["reparse"] or {}).get("target") or "").removeprefix("\\??\\"),
            "IsDirectory": yes(row["directory"]),
            "SI<FN": yes(own["created"] and row["fn"] and row["fn"]["created"] and own["created"] < row["fn"]["created"]),
            "uSecZeros": yes(any(own[kind] and own[kind][20:23] == "000" for kind in ("created", "modified"))),
            "Copied": yes(own["modified"] and own["created"] and own["modified"] < own["created"]),
            # A $STANDARD_INFORMATION of 48 bytes ends before these two; MFTECmd has 0 then.
            "UpdateSequenceNumber": str((row["usn"] or 0) if row["si"] else ""),
            "SecurityId": str((row["security_id"] or 0) if row["si"] else ""),
            "LogfileSequenceNumber": str(struct.unpack("<Q", image.read(8))[0]) if row["record_offset"] else "",
            "ObjectIdFileDroid": row["object_id"] or "", "ZoneIdContents": "",
            "SourceFile": self.image.name + (f" partition {row['volume']['partition']}" if row["volume"]["partition"] else "")}
        for kind, column in zip(DESCRIPTIONS, ("Created", "LastModified", "LastRecordChange", "LastAccess")):
            common[column + "0x10"] = time(own[kind])
            common[column + "0x30"] = time(fn.get(kind)) if fn.get(kind) != own[kind] else ""
        others = [stream for stream in row["streams"] if stream["name"]]
        name = "." if root else row["name"]
        extension = re.search(r"\.[^.]+$", name)
        yield common | {"FileName": name, "Extension": extension[0] if extension and not row["directory"] else "",
                        "FileSize": str(row["size"] or (row["entry"] or {}).get("size") or 0),
                        "HasAds": yes(others), "IsAds": "False"}
        for stream in others:
            full = f"{name}:{stream['name']}"
            extension = re.search(r"\.[^.]+$", stream["name"])
            yield common | {"FileName": full, "Extension": extension[0] if extension else "",
                            "FileSize": str(stream["size"] or 0), "HasAds": "False", "IsAds": "True"}

    def test_the_columns_of_mftecmd(self):
        done = self.snapshot("mftecmd-csv")
        rows = strict_csv(done.stdout)
        self.assertEqual(list(rows[0]), self.COLUMNS)
        named = [row for row in self.rows if row["path"] and row["state"] not in ("deleted", "detached")]
        self.assertGreater(len(named), 30)
        with open(self.image, "rb") as image:
            expected = [each for row in named for each in self.mftecmd_rows(row, image)]
        self.assertTrue(any(row["state"] == "unnamed" for row in self.rows))
        self.assertEqual([row for row in rows if not row["FileName"]], [])
        wanted = {(row["EntryNumber"], row["FileName"]) for row in expected}
        found = [row for row in rows if (row["EntryNumber"], row["FileName"]) in wanted]
        self.assertEqual([{name: row[name] for name in expected[0]} for row in found], expected)
        self.assertLessEqual({row["NameType"] for row in rows}, {"Posix", "Windows", "DosWindows", "Dos", ""})
        self.assertIn("Hidden|System", {row["SiFlags"] for row in rows})
        self.assertEqual({row["InUse"] for row in rows if int(row["EntryNumber"]) < 10}, {"True"})

    def test_extensions_of_mftecmd_are_those_of_streams_names(self):
        home = w.reference(5, 5)
        data = bytearray(w.mft([(41, 1, home, "last", False, True)])[0])
        data[40 * w.RECORD:41 * w.RECORD] = w.plain_record(40, 1, home, "small.txt", False, more=[
            w.attribute(0x80, b"", 2), w.attribute(0x80, b"a", 3, "ads", True), w.attribute(0x80, b"a", 4, "x.ini", True)])
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--format", "mftecmd-csv", self.write("MFT", data)],
                              capture_output=True, timeout=60)
        self.assertEqual({row["FileName"]: row["Extension"] for row in strict_csv(done.stdout) if row["EntryNumber"] == "40"},
                         {"small.txt": ".txt", "small.txt:ads": "", "small.txt:x.ini": ".ini"})

    LETTERS = {"modified": "m", "accessed": "a", "changed": "c", "created": "b"}
    MEMBERS = {"$STANDARD_INFORMATION": "si", "$FILE_NAME": "fn", "index": "index"}

    def moments(self):
        """What a timeline has: of each set of each row its times, each once, with the kinds that have it."""
        for number, row in enumerate(self.rows):
            sets = collections.defaultdict(dict)
            for other, name, kind, time in self.times_of(row):
                sets[name].setdefault(time, []).append(kind)
            for name, times in sets.items():
                for time, kinds in times.items():
                    yield time, number, row, name, kinds

    def times_of(self, row):
        whole, self.rows = self.rows, [row]
        try:
            return list(self.times())
        finally:
            self.rows = whole

    def test_the_timeline_is_sorted_and_has_all_times(self):
        lines = strict_csv(self.snapshot("timeline").stdout)
        expected = []
        for time, number, row, name, kinds in self.moments():
            letters = "".join(letter if kind in kinds else "." for kind, letter in self.LETTERS.items())
            size = row["size"] if row["size"] is not None else (row["entry"] or {}).get("size")
            volume = row["volume"]
            expected.append(((time, number), {
                "time": time, "macb": letters, "set": self.MEMBERS[name], "size": "" if size is None else str(size),
                "record": "" if row["record"] is None else str(row["record"]),
                "sequence": "" if row["sequence"] is None else str(row["sequence"]), "state": row["state"],
                "path": row["path"] or "", "volume_image": volume["image"],
                "volume_partition": str(volume["partition"] or ""), "volume_start": str(volume["start"]),
                "volume_shadow": ""}))
        self.assertGreater(len(expected), 50)
        self.assertGreater(len({line["macb"] for line in lines}), 3)
        expected = [line for _, line in sorted(expected, key=lambda pair: pair[0])]
        self.assertEqual([{name: line[name] for name in expected[0]} for line in lines], expected)
        self.assertEqual(list(lines[0]), "time macb set size type record sequence state path volume_image "
                                         "volume_partition volume_start volume_shadow".split())

    def test_l2tcsv_has_the_columns_of_plaso(self):
        text = self.snapshot("l2tcsv").stdout.decode()
        lines = [line.split(",") for line in text.splitlines()]
        self.assertEqual(lines[0], "date time timezone MACB source sourcetype type user host short desc version "
                                   "filename inode notes format extra".split())
        self.assertEqual({len(line) for line in lines}, {17})
        rows = [dict(zip(lines[0], line)) for line in lines[1:]]
        got, moments = [], []
        for row in rows:
            moment = datetime.datetime.strptime(f"{row['date']} {row['time']}", "%m/%d/%Y %H:%M:%S")
            moments.append(moment)
            got.append((moment.isoformat(), row["MACB"], row["sourcetype"], row["filename"], row["inode"]))
            self.assertEqual((row["timezone"], row["source"], row["version"]), ("UTC", "FILE", "2"))
            self.assertIn(f"file_time: {moment.isoformat()}", row["extra"])
            kinds = row["type"].split("; ")
            self.assertEqual("".join(letter.upper() if DESCRIPTIONS[kind] in kinds else "."
                                     for kind, letter in self.LETTERS.items()), row["MACB"])
        self.assertEqual(moments, sorted(moments))
        expected = collections.Counter()
        for time, _, row, name, kinds in self.moments():
            letters = "".join(letter.upper() if kind in kinds else "." for kind, letter in self.LETTERS.items())
            place = f"/partition{row['volume']['partition']}{row['path']}"
            path = "NTFS:" + place.replace("/", "\\").replace(",", " ") if row["path"] else "-"
            expected[(time[:19], letters, f"NTFS {name}", path, str(row["record"] if row["record"] is not None
                                                                    else "-"))] += 1
        plain = collections.Counter(line for line in got if line[3].isascii() and "\\x" not in line[3])
        self.assertGreater(sum(plain.values()), 50)
        self.assertEqual(plain, collections.Counter({line: count for line, count in expected.items() if line in plain}))
        self.assertEqual(len(got), sum(expected.values()))

    def test_exit_status_is_that_of_lines(self):
        self.assertEqual({self.snapshot(form).returncode for form in ("timesketch", "ecs", "timeline", "l2tcsv")},
                         {self.snapshot("ndjson").returncode})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
