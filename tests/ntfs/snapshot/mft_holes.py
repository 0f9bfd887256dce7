"""Records in a hole of $MFT are in no byte of the image: what is said of them has no offset.

usage: mft_holes.py COLDTRACE SOURCES [unittest arguments]

The run list of $MFT is read and written here from the description of the format.
"""
import json
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case  # noqa: E402
from ntfs.written_volumes import needs_ntfs_3g, recipe_of  # noqa: E402
from strict import strict_ndjson  # noqa: E402

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
recipe = recipe_of(SOURCES)
CLUSTER, RECORD, ROOT = 4096, 1024, 5


def read_runs(data):
    runs, lcn = [], 0
    while data[0]:
        sizes, = data[:1]
        length, offset = sizes & 15, sizes >> 4
        lcn += int.from_bytes(data[1 + length:1 + length + offset], "little", signed=True)
        runs.append((lcn if offset else None, int.from_bytes(data[1:1 + length], "little")))
        data = data[1 + length + offset:]
    return runs


def write_runs(runs):
    data, last = b"", 0
    for lcn, count in runs:
        place = b"" if lcn is None else (lcn - last).to_bytes(4, "little", signed=True)
        last = last if lcn is None else lcn
        data += bytes([len(place) << 4 | 4]) + count.to_bytes(4, "little") + place
    return data + b"\0"


def with_hole(content, vcn):
    """The image with a hole in place of one cluster of $MFT, also in the copy of its record."""
    content = bytearray(content)
    own, copy = (struct.unpack_from("<Q", content, at)[0] * CLUSTER for at in (0x30, 0x38))
    at, = struct.unpack_from("<H", content, own + 0x14)
    while struct.unpack_from("<I", content, own + at)[0] != 0x80:
        at += struct.unpack_from("<I", content, own + at + 4)[0]
    size, = struct.unpack_from("<I", content, own + at + 4)
    first, = struct.unpack_from("<H", content, own + at + 0x20)
    runs, start = [], 0
    for lcn, count in read_runs(content[own + at + first:own + at + size]):
        clusters = [None if start + i == vcn else lcn + i for i in range(count)]
        runs += [(one, 1) for one in clusters]
        start += count
    merged = []
    for lcn, count in runs:
        if merged and lcn is not None and merged[-1][0] is not None and sum(merged[-1]) == lcn:
            merged[-1] = (merged[-1][0], merged[-1][1] + count)
        else:
            merged.append((lcn, count))
    data = write_runs(merged)
    data += bytes(-len(data) % 8)
    used, = struct.unpack_from("<I", content, own + 0x18)
    attribute = content[own + at:own + at + first] + data
    struct.pack_into("<I", attribute, 4, len(attribute))
    rest = content[own + at + size:own + used]
    assert at + len(attribute) + len(rest) <= 510
    for place in own, copy:
        content[place + at:place + at + len(attribute) + len(rest)] = attribute + rest
        struct.pack_into("<I", content, place + 0x18, at + len(attribute) + len(rest))
    return bytes(content)


@needs_ntfs_3g
class Holes(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        image = Path(cls.folder.name) / "image"
        with recipe.Volume(image, 16 << 20, CLUSTER) as volume:
            for number in range(40):
                volume.write(f"file {number}", b"x")
        cls.content = image.read_bytes()

    def snapshot(self, content):
        image = self.write("image", content)
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "all", image], capture_output=True, timeout=120)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        schema = json_schema.of(json.loads((SOURCES / "docs/schema/ntfs-snapshot.schema.json").read_text()))
        lines = strict_ndjson(done.stdout)
        for line in lines:
            schema.validate(line)
        return lines, done.stderr.decode()

    def test_records_that_are_listed(self):
        before, _ = self.snapshot(self.content)
        self.assertEqual([line for line in before if line["type"] == "gap"], [])
        record = next(line["record"] for line in before if line.get("path") == "/file 20")
        first = record * RECORD // CLUSTER * CLUSTER // RECORD
        lost = [line for line in before if line["type"] == "file" and first <= line["record"] < first + CLUSTER // RECORD]
        self.assertEqual(len(lost), CLUSTER // RECORD)
        holed = with_hole(self.content, record * RECORD // CLUSTER)
        lines, _ = self.snapshot(holed)
        gap, = (line for line in lines if line["type"] == "gap")
        self.assertEqual(gap, {"type": "gap", "offset": None, "length": CLUSTER, "lost": "records", "first_record": first,
                               "records": CLUSTER // RECORD})
        database = self.here / "files.sqlite"
        subprocess.run([COLDTRACE, "ntfs", "snapshot", self.write("image", holed), "-o", database], capture_output=True, timeout=120)
        with sqlite3.connect(database) as connection:
            self.assertEqual(connection.execute("SELECT offset, length FROM gap").fetchall(), [(None, CLUSTER)])
        # What a snapshot with such a gap leaves open, an image does too.
        paths = self.write("before", self.content), self.write("after", holed)
        snapshot = self.here / "after.ndjson"
        subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "all", paths[1], "-o", snapshot], capture_output=True, timeout=120)
        for after in paths[1], snapshot:
            done = subprocess.run([COLDTRACE, "ntfs", "compare", "--format", "ndjson", paths[0], after], capture_output=True, timeout=120)
            *_, summary = strict_ndjson(done.stdout)
            self.assertEqual((summary["counts"]["changes"]["deleted"], summary["counts"]["unknown"]), (0, len(lost)))

    def test_the_root(self):
        lines, said = self.snapshot(with_hole(self.content, ROOT * RECORD // CLUSTER))
        gaps = [line for line in lines if line["type"] == "gap"]
        self.assertTrue(any(gap["first_record"] <= ROOT < gap["first_record"] + gap["records"] for gap in gaps), gaps)
        self.assertEqual({gap["offset"] for gap in gaps if gap["lost"] == "records"}, {None})
        told, = (finding for finding in lines[-1]["findings"] if finding["code"] == "record-magic")
        self.assertEqual(told["first_offset"], None)
        self.assertNotIn("0x0", told["text"])
        self.assertNotIn("record-magic at 0x0", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
