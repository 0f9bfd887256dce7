"""Owners of files whose security descriptors are damaged, in volumes made by Windows and mkntfs.

usage: security.py COLDTRACE SHARED [unittest arguments]

Both are read here from the description of the format. Skips where SHARED has no images, or mkntfs is not here.
"""
import shutil
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


def index_entries(buffer):
    """{place in the only buffer of $SII: (key, hash, id, place in $SDS, length)}; the strides' last two bytes are not
    bytes of an entry that a test changes."""
    magic, array, count = struct.unpack_from("<4sHH", buffer)
    assert magic == b"INDX" and len(buffer) == (count - 1) * 512
    whole = bytearray(buffer)
    for stride in range(1, count):
        whole[stride * 512 - 2:stride * 512] = buffer[array + stride * 2:array + stride * 2 + 2]
    at, entries = 0x18 + struct.unpack_from("<I", whole, 0x18)[0], {}
    while True:
        data, size, length, key_size, flags = struct.unpack_from("<HH4xHHH", whole, at)
        if flags & 2:
            return entries
        assert (size, key_size) == (20, 4)
        key, = struct.unpack_from("<I", whole, at + 16)
        stored, number, place, length_there = struct.unpack_from("<IIQI", whole, at + data)
        assert number == key
        entries[at] = key, stored, number, place, length_there
        at += length


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
        stream, = (s for s in cls.rows[9]["other_streams"]
                   if (s["type"], s["name"]) == ("$INDEX_ALLOCATION", "$SII"))
        cls.index, = (extent["offset"] - cls.start for extent in stream["extents"])
        cls.listed = index_entries(cls.read(cls.index, stream["size"]))
        assert {(number, hash_of(descriptor), place, 20 + len(descriptor))
                for number, (place, descriptor) in cls.entries.items()} == {
            (key, stored, place, length) for key, stored, number, place, length in cls.listed.values()}
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
            "warning", "$Secure:$SDS: the hash or the copy of 1 of its entries does not match the descriptor, first "
            f"for id {self.id} at byte {self.place}; {unused} of them are not used"))
        self.assertEqual("security-id" in findings, owner is None)

    def check_index(self, owner, texts, **others):
        """`texts` is all that is said of $SII and ids; others: findings that are there too."""
        owners, findings, status = self.owners()
        self.assertEqual((owners, status), ({owner}, 1))
        found = findings["security-index"]
        self.assertEqual((found["severity"], found["count"], found["text"]), ("warning", *texts))
        self.assertEqual({code for code in findings if code.startswith("security-")},
                         {"security-index", *others.get("codes", ())})

    def disagreement(self, count, place=None):
        return 1, (f"$Secure: for {count} descriptor{'s' if count > 1 else ''} the index $SII, the entry in $SDS and its copy do not agree, "
                   f"first for id {self.id} at byte {self.place if place is None else place} of $SDS")

    def listed_at(self):
        return next(self.index + at for at, entry in self.listed.items() if entry[0] == self.id)

    def test_the_volume_as_it_was(self):
        self.assertEqual(self.status, 0)
        self.assertNotIn("security-hash", self.findings)
        self.assertNotIn("security-index", self.findings)
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


    def test_another_id_in_an_entry_is_told_and_that_of_the_index_is_used(self):
        other = next(number for number in self.entries if number != self.id and
                     owner_of(self.entries[number][1])[1] != self.owner)
        for number in other, 0x7777:
            for copies in (0,), (MIRROR,), (0, MIRROR):
                with self.subTest(number=number, copies=copies):
                    for copy in copies:
                        self.patch(copy + self.place + 4, struct.pack("<I", number))
                    self.check_index(self.owner, self.disagreement(1))
                    self.doCleanups()

    def test_an_entry_with_the_id_of_another_takes_no_files_from_that(self):
        def owner(number):
            return owner_of(self.entries[number][1])[1]
        used = {row["security_id"] for row in self.rows.values()}
        thief, self.id = next((first, second) for first in self.entries for second in self.entries
                              if self.entries[first][0] < self.entries[second][0] and second in used
                              and owner(first) != owner(second))
        place = self.entries[thief][0]
        for copy in 0, MIRROR:
            self.patch(copy + place + 4, struct.pack("<I", self.id))
        owners, findings, status = self.owners()
        self.assertEqual((owners, status), ({owner(self.id)}, 1))
        self.assertIn(f"first for id {thief} at byte {place} of $SDS", findings["security-index"]["text"])

    def test_a_descriptor_that_was_changed_with_both_hashes(self):
        descriptor = bytearray(self.entries[self.id][1])
        descriptor[self.owner_at + 8] ^= 0x55
        for copy in 0, MIRROR:
            self.patch(copy + self.place + 20, descriptor)
            self.patch(copy + self.place, struct.pack("<I", hash_of(descriptor)))
        self.check_index(owner_of(descriptor)[1], self.disagreement(1))

    def test_an_index_that_says_otherwise(self):
        at = self.listed_at()
        stated = 0x7000
        for what, offset, data, texts in (
                ("key", 16, struct.pack("<I", 0x7777), None),
                ("id", 24, struct.pack("<I", 0x7777), None),
                ("hash", 20, b"\xee" * 4, self.disagreement(1)),
                ("place", 28, struct.pack("<Q", stated), self.disagreement(1, stated)),
                ("length", 36, struct.pack("<I", 24), self.disagreement(1))):
            with self.subTest(what):
                self.patch(at + offset, data)
                self.check_index(self.owner, texts or (
                    1, "an entry of $SII has another id in its key than in its data"))
                self.doCleanups()

    def test_an_index_that_cannot_be_read(self):
        self.patch(self.index, b"BAAD")
        owners, findings, status = self.owners()
        self.assertEqual((owners, status), ({self.owner}, 1))
        self.assertIn("INDX", findings["security-index"]["text"])

    def test_without_the_index_two_ids_are_none(self):
        self.patch(self.index, b"BAAD")
        self.patch(self.place + 4, struct.pack("<I", 0x7777))
        owners, findings, status = self.owners()
        self.assertEqual((owners, status, findings["security-index"]["count"]), ({None}, 1, 2))
        self.assertIn("security-id", findings)


class OwnDescriptors(Case):
    """Of the files of mkntfs: that of the root is outside of its record, the others are in it."""
    ROOT = 5

    @classmethod
    def setUpClass(cls):
        if not shutil.which("mkntfs"):
            raise unittest.SkipTest("mkntfs is not here")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = Path(folder.name) / "image.raw"
        with open(cls.path, "wb") as file:
            file.truncate(16 << 20)
        subprocess.run(["mkntfs", "-F", "-q", "-c", "4096", cls.path], check=True, capture_output=True)
        cls.image = cls.path.read_bytes()
        cls.mft = struct.unpack_from("<Q", cls.image, 0x30)[0] * 4096
        cls.rows, cls.findings, cls.status = snapshot(cls.path)

    def descriptor(self, record):
        """(its attribute, its value or None) as places in the image; its first 16 bytes lie in no fixup."""
        start = self.mft + record * 1024
        at = start + struct.unpack_from("<H", self.image, start + 0x14)[0]
        while True:
            kind, size = struct.unpack_from("<II", self.image, at)
            if kind == 0xffffffff:
                return None
            if kind == 0x50:
                resident = self.image[at + 8] == 0
                return at, at + struct.unpack_from("<H", self.image, at + 0x14)[0] if resident else None
            at += size

    def told(self, record, place, data):
        """The owner, findings of the row and status where bytes of the image are others."""
        self.assertNotEqual(self.image[place:place + len(data)], data)
        changed = bytearray(self.image)
        changed[place:place + len(data)] = data
        rows, findings, status = snapshot(self.write("changed.raw", changed))
        row = rows[record]
        self.assertEqual([r["record"] for r in rows.values() if r["owner_sid"] != self.rows[r["record"]]["owner_sid"]],
                         [record])
        self.assertEqual("security-descriptor" in findings, any(
            finding["code"] == "security-descriptor" for finding in row["findings"]))
        return row["owner_sid"], [finding["code"] for finding in row["findings"]], status

    def test_the_volume_as_it_was(self):
        self.assertNotIn("security-descriptor", self.findings)
        residents = 0
        for record, row in self.rows.items():
            found = self.descriptor(record)
            if found and found[1]:
                residents += 1
                self.assertEqual(row["owner_sid"], owner_of(self.image[found[1]:found[1] + 256])[1])
        self.assertGreater(residents, 2)

    def test_an_owner_in_the_record_that_cannot_be_read(self):
        record = next(r for r in sorted(self.rows) if r != self.ROOT and (self.descriptor(r) or (0, 0))[1])
        _, value = self.descriptor(record)
        owner = value + owner_of(self.image[value:value + 256])[0]
        for place, data in ((value + 5, b"\xff"), (value + 4, b"\xf0"), (value + 4, b"\x01"),
                            (owner, b"\x07"), (owner + 1, b"\xc8")):
            with self.subTest(place=place - value, data=data):
                self.assertEqual(self.told(record, place, data), (None, ["security-descriptor"], 1))

    def test_no_owner_is_no_defect(self):
        record = next(r for r in sorted(self.rows) if r != self.ROOT and (self.descriptor(r) or (0, 0))[1])
        _, value = self.descriptor(record)
        self.assertEqual(self.told(record, value + 4, bytes(4))[:2], (None, []))

    def test_an_owner_outside_of_a_copied_mft_is_told(self):
        stream, = (s for s in self.rows[0]["streams"] if s["name"] is None or s["name"] == "")
        extent, = stream["extents"]
        rows, findings, status = snapshot(self.write(
            "mft", self.image[extent["offset"]:extent["offset"] + stream["size"]]))
        outside = {record for record in rows if (self.descriptor(record) or (0, 1))[1] is None}
        self.assertIn(self.ROOT, outside)
        for record, row in rows.items():
            self.assertEqual("security-unread" in [f["code"] for f in row["findings"]], record in outside)
            if record in outside:
                self.assertIsNone(row["owner_sid"])
                self.assertIsNotNone(self.rows[record]["owner_sid"])
        self.assertEqual((findings["security-unread"]["severity"], findings["security-unread"]["count"], status),
                         ("info", len(outside), 0))

    def test_an_owner_outside_of_the_record_that_cannot_be_read(self):
        attribute, value = self.descriptor(self.ROOT)
        self.assertIsNone(value)
        run = attribute + struct.unpack_from("<H", self.image, attribute + 0x20)[0]
        lcn = run + 1 + (self.image[run] & 15)
        moved = bytes([self.image[lcn] ^ 0x80])
        owner, codes, status = self.told(self.ROOT, lcn, moved)
        self.assertEqual((owner, status), (None, 1))
        self.assertIn("security-descriptor", codes)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
