"""Owners of files whose security descriptors are damaged, in a volume made by Windows.

usage: security.py COLDTRACE SHARED [unittest arguments]

$SDS and its hashes are read here from the description of the format. Skips where SHARED has no images.
"""
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from case import Case
from sample_volumes import sample_copy
from strict import strict_ndjson

COLDTRACE, SHARED = (Path(argument).resolve() for argument in sys.argv[1:3])
SAMPLE = SHARED / "samples/ntfs/ntfs-ptrn.raw.gz"
MIRROR = 256 * 1024


def snapshot(path):
    done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "-q", path], capture_output=True, timeout=120)
    lines = strict_ndjson(done.stdout)
    return ({row["record"]: row for row in lines if row["type"] == "file"},
            {finding["code"]: finding for finding in lines[-1]["findings"]}, done.returncode)


def hash_of(descriptor):
    value = 0
    for (word,) in struct.iter_unpack("<I", descriptor):
        value = (word + (value << 3 | value >> 29)) & 0xffffffff
    return value


def owner_of(descriptor):
    """(offset in the descriptor, text) of its owner."""
    at, = struct.unpack_from("<I", descriptor, 4)
    parts = struct.unpack_from(f"<{descriptor[at + 1]}I", descriptor, at + 8)
    return at, "-".join(map(str, ("S-1", int.from_bytes(descriptor[at + 2:at + 8], "big"), *parts)))


class SharedDescriptors(Case):
    @classmethod
    def setUpClass(cls):
        if not SAMPLE.exists():
            raise unittest.SkipTest("no images made by Windows here")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = sample_copy(SAMPLE, Path(folder.name) / "image.raw")
        cls.rows, cls.findings, cls.status = snapshot(cls.path)
        cls.file = open(cls.path, "r+b", buffering=0)
        cls.addClassCleanup(cls.file.close)
        stream, = (s for s in cls.rows[9]["streams"] if s["name"] == "$SDS")
        extent, = stream["extents"]  # one, so that a byte of the stream is one of the image
        cls.start = extent["offset"]
        cls.entries = {}
        data = cls.read(0, MIRROR)
        at = 0
        while True:
            stored, number, place, length = struct.unpack_from("<IIQI", data, at)
            if place != at or length == 0:  # what is behind the last one
                break
            descriptor = data[at + 20:at + length]
            assert stored == hash_of(descriptor), number
            cls.entries[number] = at, descriptor
            at += (length + 15) // 16 * 16
        for place, descriptor in cls.entries.values():
            length = 20 + len(descriptor)
            assert cls.read(MIRROR + place, length) == data[place:place + length], place
        used = [row["security_id"] for row in cls.rows.values() if row["security_id"]]
        cls.id = max(set(used), key=used.count)
        cls.place, descriptor = cls.entries[cls.id]
        cls.owner_at, cls.owner = owner_of(descriptor)

    @classmethod
    def read(cls, at, size):
        cls.file.seek(cls.start + at)
        return cls.file.read(size)

    def patch(self, at, data):
        """Writes bytes of the stream until the test ends."""
        old = self.read(at, len(data))
        self.assertNotEqual(old, data)

        def write(what):
            self.file.seek(self.start + at)
            self.file.write(what)
        write(data)
        self.addCleanup(write, old)

    def owners(self):
        """Those of the files with the id that was chosen."""
        rows, findings, status = snapshot(self.path)
        return {row["owner_sid"] for row in rows.values() if row["security_id"] == self.id}, findings, status

    def check(self, owner, unused, status=1):
        owners, findings, got = self.owners()
        self.assertEqual((owners, got), ({owner}, status))
        finding = findings["security-hash"]
        self.assertEqual((finding["severity"], finding["text"]), (
            "warning", "$Secure:$SDS: the hash or the copy of 1 of its entries does not fit the descriptor, first "
            f"of id {self.id} at byte {self.place}; {unused} of them are not used"))
        self.assertEqual("security-id" in findings, owner is None)

    def test_the_volume_as_it_was(self):
        self.assertEqual(self.status, 0)
        self.assertNotIn("security-hash", self.findings)
        self.assertGreater(len(self.entries), 3)
        for row in self.rows.values():
            if row["security_id"]:
                self.assertEqual(row["owner_sid"], owner_of(self.entries[row["security_id"]][1])[1])

    def test_an_owner_that_was_changed_is_that_of_the_copy(self):
        self.patch(self.place + 20 + self.owner_at + 8, b"\x99")
        self.check(self.owner, 0)

    def test_an_owner_that_cannot_be_read_is_that_of_the_copy(self):
        self.patch(self.place + 20 + 5, b"\xff")
        self.check(self.owner, 0)

    def test_an_entry_that_is_not_there_is_that_of_the_copy(self):
        self.patch(self.place + 8, b"\xee" * 8)
        self.check(self.owner, 0)

    def test_a_damaged_copy_is_told(self):
        self.patch(MIRROR + self.place + 20 + self.owner_at + 8, b"\x99")
        self.check(self.owner, 0)

    def test_a_descriptor_that_both_have_is_used_without_its_hash(self):
        for copy in 0, MIRROR:
            self.patch(copy + self.place, b"\xee" * 4)
        self.check(self.owner, 0)

    def test_two_descriptors_without_their_hash_are_not_used(self):
        self.patch(self.place + 20 + self.owner_at + 8, b"\x99")
        self.patch(MIRROR + self.place + 20 + self.owner_at + 8, b"\x98")
        self.check(None, 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
