"""Changes single values of a volume made by Windows and asks the command what it says.

usage: forged_images.py COLDTRACE SHARED

The volume is read here from the description of the format, so that the places that are changed do
not come from coldtrace. Skips where SHARED has no images.
"""
import gzip
import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from strict import strict_ndjson  # noqa: E402

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
        data = bytearray(self.read(at, 1024))
        array, = struct.unpack_from("<H", data, 4)
        for stride in (1, 2):
            data[stride * 512 - 2:stride * 512] = data[array + stride * 2:array + stride * 2 + 2]
        place, = struct.unpack_from("<H", data, 0x14)
        while struct.unpack_from("<I", data, place)[0] != 0xffffffff:
            kind, size = struct.unpack_from("<II", data, place)
            yield kind, at + place, bytes(data[place:place + size])
            place += size

    def find(self, record, wanted):
        return next((at, data) for kind, at, data in self.attributes(record) if kind == wanted)

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
        with gzip.open(SAMPLE) as source, open(path, "wb") as target:
            while block := source.read(1 << 20):
                if block.count(0) == len(block):
                    target.seek(len(block), 1)
                else:
                    target.write(block)
            target.truncate()
        cls.volume = Volume(path)
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

    def test_the_verdict_is_the_same_whatever_is_listed(self):
        row = self.user_file()
        record = self.volume.mft + row["record"] * 1024
        self.change((record + 0x10, struct.pack("<H", row["sequence"] + 5)))
        verdicts = []
        for state in ("live", "deleted", "stale", "nameless", "slack", "all"):
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

    def test_the_volume_itself_has_none_of_these_findings(self):
        _, summary = self.sound
        self.assertEqual({finding["code"] for finding in summary["findings"]},
                         {"index-size-stale"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
