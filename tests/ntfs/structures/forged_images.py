"""Changes single values of a volume made by Windows and asks the command what it says.

usage: forged_images.py COLDTRACE SHARED [unittest arguments]

The volume is read here from the description of the format, so that the places that are changed do
not come from coldtrace. Skips where SHARED has no images.
"""
import json
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from case import Case  # noqa: E402
from sample_volumes import sample_copy  # noqa: E402
from strict import strict_csv, strict_ndjson  # noqa: E402
from ntfs.journal import usn_writer as w  # noqa: E402

COLDTRACE, SHARED = (Path(argument).resolve() for argument in sys.argv[1:3])
SAMPLE = SHARED / "samples/ntfs/ntfs-ptrn.raw.gz"
DAY = 86400 * 10**7


class Volume:
    """A writable copy of the sample; the partition starts at sector 128."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "r+b", buffering=0)
        self.start = 128 * 512
        boot = self.read(self.start, 512)
        self.cluster = boot[0x0d] * 512
        self.mft = self.start + struct.unpack_from("<Q", boot, 0x30)[0] * self.cluster

    def read(self, offset, size):
        self.file.seek(offset)
        return self.file.read(size)

    def write(self, offset, data):
        old = self.read(offset, len(data))
        self.file.seek(offset)
        self.file.write(data)
        return offset, old

    def attributes(self, record):
        """(type, offset in the image, bytes), the bytes with their fixups put back."""
        at = self.mft + record * 1024
        data = self.record(record)
        place, = struct.unpack_from("<H", data, 0x14)
        while struct.unpack_from("<I", data, place)[0] != 0xffffffff:
            kind, size = struct.unpack_from("<II", data, place)
            yield kind, at + place, bytes(data[place:place + size])
            place += size

    def find(self, record, wanted):
        return next((at, data) for kind, at, data in self.attributes(record) if kind == wanted)

    def record(self, record):
        """The record with its fixups put back."""
        data = bytearray(self.read(self.mft + record * 1024, 1024))
        array, = struct.unpack_from("<H", data, 4)
        for stride in (1, 2):
            data[stride * 512 - 2:stride * 512] = data[array + stride * 2:array + stride * 2 + 2]
        return data

    def change_of(self, record, data):
        """What to write where, so that the record becomes `data`."""
        data = bytearray(data)
        array, = struct.unpack_from("<H", data, 4)
        for stride in (1, 2):
            place = array + stride * 2
            data[place:place + 2] = data[stride * 512 - 2:stride * 512]
            data[stride * 512 - 2:stride * 512] = data[array:array + 2]
        return self.mft + record * 1024, bytes(data)

    def runs(self, record, wanted, name=""):
        """(offset, room) of the runs of an attribute."""
        for kind, at, data in self.attributes(record):
            stored = data[struct.unpack_from("<H", data, 0x0a)[0]:][:2 * data[9]]
            if kind == wanted and stored.decode("utf-16-le") == name:
                start, = struct.unpack_from("<H", data, 0x20)
                return at + start, len(data) - start
        raise AssertionError((record, wanted, name))

    def value(self, record, wanted):
        at, data = self.find(record, wanted)
        return at + struct.unpack_from("<H", data, 0x14)[0]


class Forged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not SAMPLE.exists():
            raise unittest.SkipTest("no images made by Windows here")
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        path = Path(directory.name) / "image.raw"
        cls.volume = Volume(sample_copy(SAMPLE, path))
        cls.sound = cls.run_snapshot(0, "--state", "all")

    @classmethod
    def run_snapshot(cls, status, *options):
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "-q", *options, cls.volume.path],
                              capture_output=True, timeout=120)
        assert done.returncode == status, (done.returncode, done.stderr)
        lines = strict_ndjson(done.stdout)
        return {row["path"]: row for row in lines if row["type"] == "file"}, lines[-1]

    def change(self, *changes):
        """Writes (offset, bytes) until the test ends."""
        for offset, data in changes:
            self.addCleanup(self.volume.write, *self.volume.write(offset, data))

    def user_file(self):
        rows, _ = self.sound
        return next(row for row in rows.values() if row["record"] >= 36 and not row["directory"]
                    and row["state"] == "live" and not row["path"].startswith("/$"))

    def codes(self, path, *options, status=0):
        rows, summary = self.run_snapshot(status, "--state", "all", *options)
        return {finding["code"] for finding in rows[path]["findings"]}, summary

    def test_the_three_sets_of_times_are_compared(self):
        row = self.user_file()
        information = self.volume.value(row["record"], 0x10)
        created, = struct.unpack("<Q", self.volume.read(information, 8))
        self.assertEqual(self.codes(row["path"])[0], set())
        self.change((information, struct.pack("<Q", created - 400 * DAY)))
        self.assertLessEqual({"time-set-back", "time-index-differs"}, self.codes(row["path"])[0])

    def test_what_was_copied_is_told_on_request(self):
        def copied(rows):
            return {path for path, row in rows.items() if row["si"] and None not in row["si"].values()
                    and row["si"]["modified"] < row["si"]["created"]}

        row = self.user_file()
        information = self.volume.value(row["record"], 0x10)
        created, = struct.unpack("<Q", self.volume.read(information, 8))
        self.change((information + 8, struct.pack("<Q", created - 1)))
        quiet, _ = self.run_snapshot(0, "--state", "all")
        rows, summary = self.run_snapshot(0, "--state", "all", "--time-rules", "all")
        told = {path for path, row in rows.items() if "time-copied" in {f["code"] for f in row["findings"]}}
        self.assertIn(row["path"], told)
        self.assertEqual(told, copied(rows))
        self.assertEqual(copied(rows), copied(quiet))
        self.assertNotIn("time-copied", {f["code"] for row in quiet.values() for f in row["findings"]})
        self.assertEqual([f["severity"] for f in summary["findings"] if f["code"] == "time-copied"], ["info"])

    def test_an_impossible_year_of_a_name_says_nothing_of_the_file(self):
        row = self.user_file()
        name = self.volume.value(row["record"], 0x30)
        self.change((name + 8, struct.pack("<Q", 8963600 * DAY)))
        self.assertEqual(self.codes(row["path"])[0], {"time-implausible"})

    def test_sizes_beyond_the_clusters_are_a_finding(self):
        rows, _ = self.sound
        row = next(row for row in rows.values() if row["record"] >= 24 and
                   any(s["size"] and not s["resident"] and not s["sparse"] and s["name"] is None
                       for s in row["streams"]))
        at, data = self.volume.find(row["record"], 0x80)
        self.assertEqual((data[8], data[9]), (1, 0))  # not resident, without a name
        size, = struct.unpack_from("<Q", data, 0x30)
        for field, value, code in ((0x28, 0, "stream-size"),
                                   (0x30, size + (8 << 20), "stream-gap"),
                                   (0x38, size + 1, "stream-valid")):
            with self.subTest(code=code):
                old = self.volume.write(at + field, struct.pack("<Q", value))
                found, summary = self.codes(row["path"], status=1)
                self.volume.write(*old)
                self.assertLessEqual({code}, found)
                self.assertEqual({f["severity"] for f in summary["findings"]
                                  if f["code"] == code}, {"warning"})

    def run_file(self):
        """A user's file with clusters and one unnamed $DATA."""
        rows, _ = self.sound
        row = next(row for row in rows.values() if row["record"] >= 24 and len(row["streams"]) == 1
                   and not row["streams"][0]["resident"] and not row["streams"][0]["sparse"]
                   and row["streams"][0]["size"])
        return row, *self.volume.find(row["record"], 0x80)

    def codes_of(self, path):
        rows, summary = self.run_snapshot(1, "--state", "all")
        row = rows[path]
        return row, [finding["code"] for finding in row["findings"]], {
            finding["code"]: finding for finding in summary["findings"]}

    def test_sizes_whose_extent_is_lost_are_unknown(self):
        row, at, data = self.run_file()
        lowest, highest = struct.unpack_from("<QQ", data, 0x10)
        self.change((at + 0x10, struct.pack("<QQ", lowest + 16, highest + 16)))
        found, codes, findings = self.codes_of(row["path"])
        (stream,) = found["streams"]
        self.assertEqual([found["size"], stream["size"], stream["allocated"], stream["valid"]],
                         [None] * 4)
        self.assertEqual(stream["extents"][0]["vcn"], 16)
        self.assertEqual(codes, ["stream-gap"])
        text = self.text("text")
        line = next(line for line in text.splitlines() if f" {row['record']}-" in line[:20])
        self.assertEqual(line.split()[1], "?")
        csv = self.text("csv", "--fields", "record,size")
        self.assertIn(f"\n{row['record']},\n", csv)
        self.assertEqual(next(line for line in self.text("bodyfile").splitlines()
                              if f"|{row['record']}-128-" in line).split("|")[6], "0")

    def text(self, form, *options):
        return subprocess.run([COLDTRACE, "ntfs", "snapshot", "-q", "--format", form, *options,
                               self.volume.path], capture_output=True, text=True).stdout

    def test_cells_of_csv_hold_the_json_of_the_lines(self):
        row, at, _ = self.run_file()
        self.change((at + 0x30, struct.pack("<Q", 1 << 60)))
        for options in ((), ("--int64", "string")):
            lines = [json.loads(line) for line in self.text("ndjson", "--state", "all",
                                                            *options).splitlines()[1:-1]]
            cells = strict_csv(self.text("csv", "--state", "all", *options).encode())
            self.assertEqual(len(cells), len(lines))
            for line, of_line in zip(lines, cells):
                for name in "streams", "other_streams", "ea", "findings":
                    self.assertEqual(json.loads(of_line[name]), line[name])
            sizes = [stream["size"] for line in lines for stream in line["streams"]]
            self.assertIn(str(1 << 60) if options else 1 << 60, sizes)

    def test_a_hole_in_a_stream_that_is_not_sparse_is_a_finding(self):
        row, at, data = self.run_file()
        runs, = struct.unpack_from("<H", data, 0x20)
        self.assertEqual(struct.unpack_from("<H", data, 0x0c), (0,))
        lowest, highest = struct.unpack_from("<QQ", data, 0x10)
        hole = struct.pack("<BIB", 4, highest + 1 - lowest, 0)
        self.change((at + runs, hole.ljust(len(data) - runs, b"\0")))
        found, codes, findings = self.codes_of(row["path"])
        self.assertEqual([e["lcn"] for e in found["streams"][0]["extents"]], [None])
        self.assertIn("stream-gap", codes)
        self.assertIn(f"{highest + 1} clusters from VCN 0 on are a hole",
                      found["findings"][0]["text"])
        # The head of a sparse stream has one field more, for which there is no room here.
        self.change((at + 0x0c, struct.pack("<H", 0x8000)))
        found, codes, findings = self.codes_of(row["path"])
        self.assertEqual(codes, ["record-damaged"])
        self.assertEqual(found["streams"], [])
        self.assertIn("RunsOffset", findings["record-damaged"]["text"])

    def test_a_changed_head_of_an_attribute_hides_nothing_without_a_word(self):
        row, data_at, data = self.run_file()
        information_at, _ = self.volume.find(row["record"], 0x10)
        for at, byte in ((data_at + 1, 1),          # type 0x180
                         (data_at + 8, 0),          # resident
                         (data_at + 9, 1),          # a name of one unit
                         (information_at + 1, 1)):  # type 0x110
            with self.subTest(at=at - self.volume.mft - row["record"] * 1024):
                before = self.volume.read(at, 1)
                self.change((at, bytes([byte])))
                found, codes, findings = self.codes_of(row["path"])
                self.assertEqual(set(codes) - {f["code"] for f in row["findings"]},
                                 {"record-damaged"})
                self.assertEqual(findings["record-damaged"]["severity"], "warning")
                self.assertIn(f"record {row['record']}: ", findings["record-damaged"]["text"])
                if at < data_at:
                    self.assertIsNone(found["si"])
                else:
                    self.assertEqual((found["size"], found["streams"]), (None, []))
                self.change((at, before))

    def test_the_count_of_links_is_held_against_the_names(self):
        row = self.user_file()
        record = self.volume.mft + row["record"] * 1024
        names = sum(kind == 0x30 for kind, _, _ in self.volume.attributes(row["record"]))
        self.assertEqual(struct.unpack("<H", self.volume.read(record + 0x12, 2)), (names,))
        self.change((record + 0x12, struct.pack("<H", names + 1)))
        found, codes, findings = self.codes_of(row["path"])
        self.assertEqual(codes, ["link-count"])
        self.assertEqual(found["findings"][0]["text"],
                         f"the record counts {names + 1} names, but has {names}")
        self.assertEqual(findings["link-count"]["severity"], "warning")

    def entries(self, offset):
        """(offset of an entry, record that it names) of an index buffer."""
        data = self.volume.read(offset, 4096)
        at, used = struct.unpack_from("<II", data, 0x18)
        end, at = 0x18 + used, 0x18 + at
        while at < end:
            file, size, key = struct.unpack_from("<QHH", data, at)
            if key:
                yield offset + at, file & (1 << 48) - 1
            at += size

    def test_an_entry_of_another_directory_is_a_finding(self):
        rows, _ = self.sound
        root = next(row for row in rows.values() if row["record"] == 5)
        (stream,) = [s for s in root["other_streams"] if s["type"] == "$INDEX_ALLOCATION"]
        at, record = next((at, record) for at, record in
                          self.entries(stream["extents"][0]["offset"])
                          if record >= 24 and (at + 0x16) % 512 < 508)
        self.assertEqual(self.volume.read(at + 0x10, 8), struct.pack("<Q", 5 | 5 << 48))
        self.change((at + 0x10, struct.pack("<Q", 5 | 9 << 48)))
        _, summary = self.run_snapshot(1, "--state", "all")
        (finding,) = [f for f in summary["findings"] if f["code"] == "index-parent"]
        self.assertEqual((finding["count"], finding["first_offset"], finding["severity"]),
                         (1, at, "warning"))
        self.assertEqual(finding["text"], f"directory 5 lists record {record} with a name of "
                                          "directory 5-9")

    def test_slack_is_looked_for_where_it_is_asked_for(self):
        for options, said in ((), b"no-match: --state: names in slack were not looked for; --slack looks for them"), \
                (("--slack",), b"no-match: --state: no name is slack"):
            done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "slack", *options, self.volume.path],
                                  capture_output=True, timeout=120)
            rows = [json.loads(line) for line in done.stdout.splitlines()][1:-1]
            self.assertEqual(said in done.stderr, not rows, done.stderr)
            self.assertEqual(b"no-match" in done.stderr, not rows)

    def test_a_name_of_the_record_alone_is_listed(self):
        row = self.user_file()
        name, stored = row["name"], row["name"].encode("utf-16-le")
        folder = row["path"].removesuffix(name)
        at, data = self.volume.find(row["record"], 0x30)
        place = at + data.index(stored)
        for own, illegal in (("Q" + name[1:], False), ("/" + name[1:], True), ("\0" + name[1:], True)):
            with self.subTest(own=own):
                old = self.volume.write(place, own.encode("utf-16-le")[:2])
                rows, summary = self.run_snapshot(1, "--state", "all")
                done = subprocess.run([COLDTRACE, "ntfs", "query", "-q", self.volume.path, "--where",
                                       f"record == {row['record']}", "--format", "csv"],
                                      capture_output=True, timeout=120)
                key = Path(self.volume.path).with_name("key")
                key.write_bytes(b"k" * 32)
                histories = [subprocess.run([COLDTRACE, "ntfs", "history", "--format", "ndjson", *options, self.volume.path, "/*"],
                                            capture_output=True, timeout=120)
                             for options in ((), ("--names", "keyed-hash", "--key-file", key))]
                self.volume.write(*old)
                listed, hidden = rows[row["path"]], rows[folder + own]
                self.assertEqual([(each["record"], each["state"]) for each in (listed, hidden)],
                                 [(row["record"], "live"), (row["record"], "unreachable")])
                self.assertEqual((listed["fn"], hidden["fn"], hidden["size"]), (None, row["fn"], row["size"]))
                said = {finding["code"]: finding["text"] for finding in listed["findings"]}
                self.assertIn(f'"{name}" by the directory and "{own}" by the record', said["name-mismatch"])
                self.assertNotIn("name-illegal", said)
                for history, hashed in zip(histories, (False, True)):
                    self.assertEqual(history.returncode, 1, history.stderr)
                    told, = (finding for finding in json.loads(history.stdout.splitlines()[-1])["findings"]
                             if finding["code"] == "name-mismatch")
                    self.assertEqual((told["count"], f'"{name}" by the directory' in told["text"]), (1, not hashed))
                self.assertEqual(illegal, "name-illegal" in {one["code"] for one in hidden["findings"]})
                self.assertLessEqual({"name-mismatch", "file-unreachable"},
                                     {one["code"] for one in summary["findings"]})
                self.assertEqual(sorted(cell["state"] for cell in strict_csv(done.stdout)),
                                 ["live", "unreachable"])

    def test_damage_of_a_record_is_counted_once(self):
        row = self.user_file()
        record = self.volume.mft + row["record"] * 1024
        place, = struct.unpack("<H", self.volume.read(record + 0x14, 2))
        last = [at for _, at, _ in self.volume.attributes(row["record"])][-1]
        for code, offset, data in (("torn-fixup", record + 510, b"\xee\xee"),
                                   ("record-number", record + 0x2c, struct.pack("<I", 7)),
                                   ("record-damaged", last + 4, struct.pack("<I", 9))):
            with self.subTest(code=code):
                old = self.volume.write(offset, data)
                found, codes, findings = self.codes_of(row["path"])
                self.volume.write(*old)
                self.assertIn(code, codes)
                self.assertEqual(findings[code]["count"], 1)

    def test_a_copy_in_the_mirror_that_differs_is_a_finding(self):
        mirror, = struct.unpack("<Q", self.volume.read(self.volume.start + 0x38, 8))
        copy = self.volume.start + mirror * self.volume.cluster
        self.assertEqual(self.volume.read(copy, 4096), self.volume.read(self.volume.mft, 4096))
        at = copy + 3 * 1024
        place = at + (self.volume.value(3, 0x10) - self.volume.mft - 3 * 1024)
        for offset, data in ((place, b"\x77"), (at, b"XXXX")):
            old = self.volume.write(offset, data)
            for command in ("info", "snapshot"):
                done = subprocess.run([COLDTRACE, "ntfs", command, self.volume.path],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"mft-mirror at {at:#x}: record 3 and its copy in $MFTMirr differ\n",
                              done.stderr)
            self.volume.write(*old)
        # Sequence number, links and flags.
        for field in 0x10, 0x12, 0x16:
            value, = struct.unpack("<H", self.volume.read(at + field, 2))
            old = self.volume.write(at + field, struct.pack("<H", value ^ 2))
            _, summary = self.run_snapshot(1)
            self.volume.write(*old)
            self.assertEqual([(f["code"], f["first_offset"]) for f in summary["findings"]
                              if f["severity"] == "warning"], [("mft-mirror", at)])
        # What a log sequence number says is not a matter of the copy.
        self.change((at + 8, b"\x01\x02"))
        self.run_snapshot(0)

    def test_the_copy_in_the_mirror_is_read_for_a_record_that_is_not_usable(self):
        sound, _ = self.run_snapshot(0, "--state", "all")
        for number in range(4):
            at = self.volume.mft + number * 1024
            for offset, data in ((at, b"XXXX"), (at, b"BAAD"), (at, bytes(1024)), (at + 1022, b"\xee\xee")):
                with self.subTest(number=number, data=data[:4]):
                    old = self.volume.write(offset, data)
                    rows, summary = self.run_snapshot(1, "--state", "all")
                    self.volume.write(*old)
                    self.assertEqual(rows, sound)
                    warnings = [f for f in summary["findings"] if f["severity"] == "warning"]
                    self.assertEqual([(f["code"], f["first_offset"], f["count"]) for f in warnings],
                                     [("mft-mirror" if number or len(data) == 2 else "mft-record-0", at, 1)])
                    self.assertIn("its copy in $MFTMirr is used", warnings[0]["text"])
        # Where both are marked, the record is read as it is.
        mirror, = struct.unpack("<Q", self.volume.read(self.volume.start + 0x38, 8))
        for number in range(4):
            old = self.volume.write(self.volume.mft + number * 1024, b"BAAD")
            copy = self.volume.write(self.volume.start + mirror * self.volume.cluster + number * 1024, b"BAAD")
            rows, summary = self.run_snapshot(1, "--state", "all")
            self.volume.write(*copy)
            self.volume.write(*old)
            self.assertEqual({path: row | {"findings": []} for path, row in rows.items()},
                             {path: row | {"findings": []} for path, row in sound.items()})
            self.assertEqual([f["code"] for f in summary["findings"] if f["severity"] == "warning"], ["record-bad"])

    def test_why_a_record_cannot_be_compared_with_its_copy(self):
        """The copies lie before $MFT, of which the image has the first record alone."""
        volume = self.volume
        lcn = (volume.mft - volume.start) // volume.cluster - -(-4096 // volume.cluster)
        copy = volume.start + lcn * volume.cluster
        self.change((copy, volume.read(volume.mft, 4096)), (volume.start + 0x38, struct.pack("<Q", lcn)))
        at = volume.mft + 1024
        path = Path(volume.path).with_name("cut.raw")
        self.addCleanup(path.unlink)
        for data, then in ((b"", "its copy in $MFTMirr is used"),
                           (b"XXXX", "and its copy in $MFTMirr is not usable either")):
            old = volume.write(copy + 1024, data)
            with path.open("wb") as cut:
                for offset, size in (0, 512), (volume.start, 512), (copy, 4096), (volume.mft, 1024):
                    cut.seek(offset)
                    cut.write(volume.read(offset, size))
            done = subprocess.run([COLDTRACE, "ntfs", "info", "--format", "json", path], capture_output=True, timeout=120)
            volume.write(*old)
            answer, = strict_ndjson(done.stdout)
            finding, = (one for one in answer["findings"] if one["code"] == "mft-mirror")
            self.assertEqual((finding["first_offset"], finding["count"]), (at, 3))
            self.assertRegex(finding["text"], rf"^record 1 of \$MFT cannot be read \({at:#x}: .+\), {re.escape(then)}$")

    def test_the_verdict_is_the_same_whatever_is_listed(self):
        row = self.user_file()
        record = self.volume.mft + row["record"] * 1024
        self.change((record + 0x10, struct.pack("<H", row["sequence"] + 5)))
        verdicts = []
        for state in ("live", "deleted", "stale", "unnamed", "slack", "all"):
            _, summary = self.run_snapshot(1, "--state", state)
            # That a state has no names is an answer to what was asked for.
            verdicts.append([finding for finding in summary["findings"]
                             if finding["code"] != "no-match"])
        self.assertEqual({json.dumps(v) for v in verdicts}, {json.dumps(verdicts[0])})
        self.assertLessEqual({"entry-stale", "file-unreachable"},
                             {finding["code"] for finding in verdicts[0]})
        rows, summary = self.run_snapshot(1, "--state", "stale")
        text = rows[row["path"]]["findings"][0]["text"]
        self.assertIn(f"another file now, with sequence {row['sequence'] + 5}", text)
        self.assertEqual(summary["counts"]["stale_reasons"],
                         {"another_file": 1, "not_in_use": 0, "extension": 0, "no_record": 0,
                          "outside_table": 0})

    def test_a_wrong_vcn_in_an_index_buffer_hides_nothing(self):
        rows, _ = self.sound
        offsets = [extent["offset"] for row in rows.values() if row["directory"]
                   for stream in row["other_streams"] if stream["type"] == "$INDEX_ALLOCATION"
                   for extent in stream["extents"]]
        offset = next(o for o in offsets if self.volume.read(o, 4) == b"INDX")
        self.change((offset + 0x10, struct.pack("<Q", 77)))
        found, summary = self.run_snapshot(1, "--state", "all")
        self.assertEqual(found, rows)
        self.assertLessEqual({"index-vcn"}, {f["code"] for f in summary["findings"]})

    def tells(self, code, severity, status=1):
        """The sentence of a finding that the volume as it was has not."""
        self.assertNotIn(code, {f["code"] for f in self.sound[1]["findings"]})
        _, summary = self.run_snapshot(status, "--state", "all")
        (finding,) = [f for f in summary["findings"] if f["code"] == code]
        self.assertEqual(finding["severity"], severity)
        return finding["text"]

    def run_at(self, record, wanted, name, lcn, clusters=1):
        """A change of an attribute's runs to one."""
        at, room = self.volume.runs(record, wanted, name)
        run = struct.pack("<BB", 0x31, clusters) + lcn.to_bytes(3, "little")
        self.assertLess(len(run), room)
        return at, run.ljust(room, b"\0")

    def truncate(self, size):
        """Cuts the image off until the test ends."""
        rest = self.volume.read(size, self.volume.path.stat().st_size - size)
        self.volume.file.truncate(size)
        self.addCleanup(self.volume.write, size, rest)

    def test_what_a_record_lacks_is_told_in_words(self):
        row, data_at, _ = self.run_file()
        record = self.volume.mft + row["record"] * 1024
        # The type of a stream that no volume has to have, so that nothing is out of order.
        self.change((data_at, struct.pack("<I", 0x100)))
        text = self.tells("record-damaged", "warning")
        self.assertEqual(text, f"record {row['record']}: {record:#x}: FILE record has no $DATA")

    def test_a_record_behind_those_that_count_is_told(self):
        row = self.run_file()[0]
        at, _ = self.volume.find(0, 0x80)
        self.change((at + 0x38, struct.pack("<Q", row["record"] * 1024)))
        self.assertIn("beyond the valid size of $MFT", self.tells("beyond-valid", "info"))

    def delete(self, row):
        flags = self.volume.mft + row["record"] * 1024 + 0x16
        self.assertEqual(self.volume.read(flags, 2), b"\1\0")
        self.change((flags, b"\0\0"))

    def test_clusters_of_a_deleted_file_that_another_has_are_told(self):
        row = self.run_file()[0]
        boot = next(r for r in self.sound[0].values() if r["record"] == 7)
        self.assertEqual(boot["streams"][0]["extents"][0]["lcn"], 0)
        self.delete(row)
        self.change(self.run_at(row["record"], 0x80, "", 0))
        self.assertEqual(self.tells("cluster-reused", "info"),
                         f"record {row['record']}: 1 cluster belongs to another file now, first to record 7")

    def test_damage_of_a_deleted_record_is_told(self):
        row, at, _ = self.run_file()
        self.delete(row)
        self.change((at + 4, struct.pack("<I", 9)))
        self.assertIn(f"record {row['record']}: ", self.tells("deleted-record-damaged", "info"))

    def test_an_extension_that_the_list_does_not_know_is_told(self):
        row = self.run_file()[0]
        own = row["record"] | row["sequence"] << 48
        data = self.volume.record(row["record"])
        parts = list(self.volume.attributes(row["record"]))
        listed = b"".join(struct.pack("<IHBBQQH6x", kind, 32, 0, 26, 0, own,
                                      struct.unpack_from("<H", part, 14)[0])
                          for kind, _, part in parts)
        attribute = struct.pack("<IIBBHHHIHH", 0x20, 24 + len(listed), 0, 0, 24, 0, 99,
                                len(listed), 24, 0) + listed
        first, = struct.unpack_from("<H", data, 0x14)
        self.assertEqual(parts[0][0], 0x10)
        behind = first + len(parts[0][2])
        made = data[:behind] + attribute + data[behind:]
        self.assertFalse(any(made[1024:]))
        struct.pack_into("<I", made, 0x18, struct.unpack_from("<I", data, 0x18)[0] + len(attribute))
        self.change(self.volume.change_of(row["record"], made[:1024]))
        self.run_snapshot(0, "--state", "all")
        other = next(r for r in self.sound[0].values() if r["record"] > row["record"])
        self.change((self.volume.mft + other["record"] * 1024 + 0x20, struct.pack("<Q", own)))
        self.assertIn("names this file as its base", self.tells("extension-unlisted", "warning"))

    def test_an_index_without_its_bitmap_is_told(self):
        at, data = next((at, data) for kind, at, data in self.volume.attributes(5) if kind == 0xb0)
        name = at + struct.unpack_from("<H", data, 0x0a)[0]
        self.assertEqual(self.volume.read(name, 8).decode("utf-16-le"), "$I30")
        self.change((name + 6, b"1"))
        self.assertIn("the bitmap of the index of directory 5", self.tells("index-bitmap", "warning"))

    def test_an_index_buffer_that_nothing_leads_to_is_told(self):
        node = self.volume.value(5, 0x90) + 0x10
        first, = struct.unpack("<I", self.volume.read(node, 4))
        flags = node + first + 12
        self.assertEqual(self.volume.read(flags, 2), b"\3\0")  # the last one, with a child
        self.change((flags, b"\2\0"))
        self.assertEqual(self.tells("index-detached", "warning"),
                         "no node of the index of directory 5 leads to its buffer 0")

    def test_an_index_outside_the_volume_is_told(self):
        self.change(self.run_at(5, 0xa0, "$I30", 0x7fffff))
        self.assertEqual(self.tells("index-extents", "warning"),
                         "the extents of the index of directory 5 are damaged")

    def clusters(self):
        sectors, = struct.unpack("<Q", self.volume.read(self.volume.start + 0x28, 8))
        return sectors * 512 // self.volume.cluster

    def test_an_index_behind_the_end_of_the_image_is_told(self):
        lcn = self.clusters() - 1
        self.change(self.run_at(5, 0xa0, "$I30", lcn))
        self.truncate(self.volume.start + lcn * self.volume.cluster)
        self.assertIn("buffer 0 of the index of directory 5: ",
                      self.tells("index-unreadable", "warning"))

    def test_security_descriptors_behind_the_end_of_the_image_are_told(self):
        secure = next(r for r in self.sound[0].values() if r["record"] == 9)
        count = sum(e["clusters"] for s in secure["streams"] if s["name"] == "$SDS"
                    for e in s["extents"])
        lcn = self.clusters() - count
        self.change(self.run_at(9, 0x80, "$SDS", lcn, count))
        self.truncate(self.volume.start + lcn * self.volume.cluster)
        self.tells("security-stream", "warning")

    def test_a_security_id_without_a_descriptor_is_told(self):
        row = self.run_file()[0]
        self.change((self.volume.value(row["record"], 0x10) + 0x34, struct.pack("<I", 0x7777)))
        self.assertEqual(self.tells("security-id", "warning"),
                         f"record {row['record']}: $Secure has no usable descriptor with the id {0x7777}")

    def test_the_volume_itself_has_none_of_these_findings(self):
        _, summary = self.sound
        self.assertEqual({finding["code"] for finding in summary["findings"]},
                         {"index-size-stale"})


class ZoneIdentifiers(Case):
    """Where files came from, of a $MFT that the test writes."""
    TEXT = ("[ZoneTransfer]\r\nZoneId=3\r\nReferrerUrl=https://example.com/a?b=1\r\n"
            "HostUrl=https://cdn.example.com/f.exe\r\n")
    NONE = (None, None, None)

    def rows(self, streams, *options):
        """The rows of a $MFT whose file 40, 41 ... has the stream, by (name, content, resident)."""
        home = w.reference(5, 5)
        found = [w.plain_record(40 + i, 1, home, f"f{i}", False, more=[
            w.attribute(0x80, b"contents that nobody asked for", 2), w.attribute(0x80, content, 3, name, resident)])
            for i, (name, content, resident) in enumerate(streams)]
        data = bytearray(w.mft([(40 + len(streams), 1, home, "last", False, True)])[0])
        data[40 * w.RECORD:(40 + len(streams)) * w.RECORD] = b"".join(found)
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "all", *options, self.write("MFT", data)],
                              capture_output=True, timeout=60)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertNotIn(b"nobody asked", done.stdout)
        return done.stdout

    def zones(self, streams):
        lines = strict_ndjson(self.rows(streams, "--zone-ids"))
        rows = {row["record"]: row for row in lines if row["type"] == "file"}
        self.assertTrue(all("zone_id" in row for row in rows.values()))
        self.assertIsNone(rows[40 + len(streams)]["zone_id"])
        return [rows[40 + i]["zone_id"] for i in range(len(streams))]

    @staticmethod
    def expected(zone, referrer, host, resident=True):
        return {"zone": zone, "referrer_url": referrer, "host_url": host, "resident": resident}

    def test_texts_of_all_kinds(self):
        plain = (3, "https://example.com/a?b=1", "https://cdn.example.com/f.exe")
        text = self.TEXT
        cases = [(text.encode(), plain), (b"\xef\xbb\xbf" + text.encode(), plain),
                 (b"\xff\xfe" + text.encode("utf-16-le"), plain),
                 (b"\xfe\xff" + text.encode("utf-16-be"), plain),
                 (text.replace("\r", "").lower().encode(), plain),
                 (re.sub("(?m)^(\\w+)=", "\\1 =\t", text).rstrip().encode(), plain),
                 (b"; comment\n[Other]\nZoneId=1\n" + text.encode() + b"ZoneId=4\n[X]\nHostUrl=no\n", plain),
                 (b"", self.NONE), (b"ZoneId=3", self.NONE), (b"[ZoneTransfer]", self.NONE),
                 (b"[ZoneTransfer]\nZoneId=4294967295\nHostUrl=", (4294967295, None, "")),
                 *[(b"[ZoneTransfer]\nZoneId=" + zone, self.NONE)
                   for zone in (b"4294967296", b"-1", b"3x", b"0x3", b"", b" ")],
                 (b"[ZoneTransfer]\nHostUrl=a\xff\0\x1b[31m\",b", (None, None, "a\ufffd\0\x1b[31m\",b")),
                 (b"\xff\xfe[\0", self.NONE), (b"\xfe\xff\0[\0", self.NONE), (bytes(300), self.NONE),
                 (b"\xff\xfe" + "[ZoneTransfer]\nHostUrl=\u202e".encode("utf-16-le") + b"\0\xd8",
                  (None, None, "\u202e\ufffd"))]
        streams = [("Zone.Identifier", content, True) for content, _ in cases]
        self.assertEqual(self.zones(streams), [self.expected(*values) for _, values in cases])

    def test_streams_of_other_names_and_places(self):
        content = self.TEXT.encode()
        outside = (w.run(1, 2) + b"\0", 1, len(content), 4096, False)
        zone, lower, other, large = self.zones([("Zone.Identifier", content, True), ("zone.IDENTIFIER", content, True),
                                                ("Zone.Identifier2", content, True),
                                                ("Zone.Identifier", outside, False)])
        self.assertEqual((zone["zone"], lower, other), (3, zone, None))
        self.assertEqual(large, self.expected(*self.NONE, resident=False))

    def test_queries_ask_for_zones(self):
        streams = [("Zone.Identifier", self.TEXT.encode(), True),
                   ("Zone.Identifier", b"[ZoneTransfer]\nZoneId=1\n", True), ("other", self.TEXT.encode(), True)]
        snapshot = self.here / "zones.ndjson"
        snapshot.write_bytes(self.rows(streams, "--zone-ids"))
        image = self.here / "MFT"
        for where, expected in (("zone_id.zone == 3", [40]), ("zone_id.zone < 3", [41]),
                                ('zone_id.host_url like "*cdn.example*"', [40]), ("exists zone_id.zone", [40, 41]),
                                ('zone_id.referrer_url == "https://example.com/a?b=1"', [40]),
                                ("zone_id.resident == true", [40, 41])):
            for source in (image, snapshot):
                done = subprocess.run([COLDTRACE, "ntfs", "query", "--where", where, "--zone-ids", "--format", "csv",
                                       source], capture_output=True, timeout=60)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                rows = strict_csv(done.stdout)
                self.assertEqual([int(row["record"]) for row in rows], expected, (where, source))
                zones = {40: ("3", "https://example.com/a?b=1", "https://cdn.example.com/f.exe"), 41: ("1", "", "")}
                self.assertEqual([(row["zone_id"], row["zone_referrer_url"], row["zone_host_url"]) for row in rows],
                                 [zones[number] for number in expected])
        done = subprocess.run([COLDTRACE, "ntfs", "query", "--where", "exists zone_id.zone", image],
                              capture_output=True, timeout=60)
        self.assertNotIn(b"zone_id", done.stdout, "shown where it is asked for alone")

    def test_a_value_across_the_places_of_fixups(self):
        url = "https://example.com/" + "x" * 300
        zone, = self.zones([("Zone.Identifier", f"[ZoneTransfer]\nHostUrl={url}\nZoneId=2".encode(), True)])
        self.assertEqual(zone, self.expected(2, None, url))

    def test_csv_has_the_same_and_without_the_option_nothing_is_read(self):
        stream = [("Zone.Identifier", self.TEXT.encode() + b'LastWriter="=1,2"', True)]
        rows = {row["record"]: row for row in strict_csv(self.rows(stream, "--zone-ids", "--format", "csv"))}
        self.assertEqual([rows["40"][name] for name in ("zone_id", "zone_referrer_url", "zone_host_url")],
                         ["3", "https://example.com/a?b=1", "https://cdn.example.com/f.exe"])
        self.assertEqual([rows["41"][name] for name in ("zone_id", "zone_referrer_url", "zone_host_url")], [""] * 3)
        for form in ("ndjson", "csv", "mftecmd-csv", "text", "bodyfile", "ecs"):
            self.assertNotIn(b"example.com", self.rows(stream, "--format", form))
        rows = {(row["EntryNumber"], row["IsAds"]): row for row in
                strict_csv(self.rows(stream, "--zone-ids", "--format", "mftecmd-csv"))}
        self.assertEqual((rows["40", "True"]["FileName"], rows["40", "True"]["ZoneIdContents"]),
                         ("f0:Zone.Identifier", self.TEXT + 'LastWriter="=1,2"'))
        self.assertEqual((rows["40", "False"]["ZoneIdContents"], rows["40", "False"]["HasAds"]), ("", "True"))
        outside = [("Zone.Identifier", (w.run(1, 9) + b"\0", 1, len(self.TEXT), 4096, False), False)]
        rows = {(row["EntryNumber"], row["IsAds"]): row for row in
                strict_csv(self.rows(outside, "--zone-ids", "--format", "mftecmd-csv"))}
        self.assertEqual((rows["40", "True"]["FileName"], rows["40", "True"]["ZoneIdContents"]), ("f0:Zone.Identifier", ""))
        rows = {row["record"]: row for row in strict_csv(self.rows(outside, "--zone-ids", "--format", "csv"))}
        self.assertEqual([rows["40"][name] for name in ("zone_id", "zone_referrer_url", "zone_host_url")], [""] * 3)
        for form in ("text", "bodyfile", "sqlite"):
            done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--zone-ids", "--format", form, self.here / "MFT"],
                                  capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, b""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
