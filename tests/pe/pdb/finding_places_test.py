"""What is odd in a stream of a PDB has its place in the file, block by block; a stream without bytes has the directory's.

usage: finding_places_test.py COLDTRACE [unittest arguments]
The streams are in blocks from the last to the first, so that no two of a stream are beside each other as it has them.
"""
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
import pdb_writer
from strict import strict_json

COLDTRACE = Path(sys.argv[1]).resolve()
del sys.argv[1]
BLOCK = 512


def scattered(streams):
    """The file; of each stream its blocks; and those of the directory."""
    used = 3
    lists = []
    for stream in streams:
        count = -(-len(stream) // BLOCK)
        lists.append(list(range(used + count - 1, used - 1, -1)))
        used += count
    directory = struct.pack("<I", len(streams)) + b"".join(struct.pack("<I", len(stream)) for stream in streams)
    directory += b"".join(struct.pack("<I", number) for numbers in lists for number in numbers)
    own = list(range(used + 1, used + 1 + -(-len(directory) // BLOCK)))
    file = bytearray((own[-1] + 1) * BLOCK)
    head = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0" + struct.pack("<6I", BLOCK, 1, own[-1] + 1, len(directory), 0, used)
    file[:len(head)] = head
    file[used * BLOCK:used * BLOCK + 4 * len(own)] = b"".join(struct.pack("<I", number) for number in own)
    for content, numbers in zip([*streams, directory], [*lists, own]):
        for at, number in enumerate(numbers):
            part = content[at * BLOCK:(at + 1) * BLOCK]
            file[number * BLOCK:number * BLOCK + len(part)] = part
    return bytes(file), lists, own


def info(names=b""):
    return struct.pack("<III", 20000404, 1, 1) + bytes(range(16)) + names


def dbi(modules=b"", servers=b""):
    return struct.pack("<iIIHHHHHHiiiiiIiiHHI", -1, 19990903, 1, 0xffff, 0, 0xffff, 0, 0xffff, 0, len(modules), 0, 0, 0,
                       len(servers), 0, 0, 0, 0, 0x8664, 0) + modules + servers


class FindingPlaces(case.Case):
    def findings(self, content, *command):
        path = self.write("some.pdb", content)
        done = subprocess.run([COLDTRACE, "pe", *command, "--format", "json", path], capture_output=True, timeout=60)
        self.assertNotIn(b" at 0x0:", done.stderr)
        told = strict_json(done.stdout)
        found = {one["code"]: one for one in told.get("findings", told.get("files", [{}])[0].get("findings"))}
        for one in found.values():  # text says the same
            if one["first_offset"] is not None:
                self.assertIn(f"warning: {one['code']} at {one['first_offset']:#x}: ".encode(), done.stderr)
        return found

    def test_a_record_of_a_module_that_is_cut_off_in_another_block(self):
        entry = bytes(34) + struct.pack("<HIIIHHIII", 0xffff, 0, 0, 0, 0, 0, 0, 0, 0)
        first = (entry + b"m" * (416 - len(entry) - 2) + b"\0\0").ljust(416, b"\0")
        content, lists, _ = scattered([b"", info(), pdb_writer.type_stream([]), dbi(first + entry[:46])])
        at = 64 + 416 + 40  # C11ByteSize, in the second block of the stream
        self.assertGreater(at, BLOCK)
        found = self.findings(content, "symbols", "--kind", "procedure")["pdb-procedures"]
        self.assertEqual(found["first_offset"], lists[3][1] * BLOCK + at - BLOCK)
        self.assertIn("C11ByteSize", found["text"])

    def test_a_module_that_says_it_has_as_many_bytes_of_symbols_as_the_file(self):
        """They could be: that its stream has fewer is told, and not that there are too many."""
        def written(size):
            entry = bytes(34) + struct.pack("<HIIIHHIII", 5, size, 0, 0, 0, 0, 0, 0, 0) + b"a\0b\0"
            return scattered([b"", info(), pdb_writer.type_stream([]), dbi(entry), b"", struct.pack("<I", 4)])[0]
        size = len(written(0))
        for stated, told in (size, "PDB module stream.stream size"), (size + 1, "more symbols than the file has bytes"):
            with self.subTest(stated=stated):
                found = self.findings(written(stated), "symbols", "--kind", "procedure")["pdb-procedures"]
                self.assertIn(told, found["text"])

    def test_symbols_of_an_unknown_version_are_told_where_they_start(self):
        """And where there are none behind the version, it does not matter."""
        for symbols, is_told in (struct.pack("<I", 9) + bytes(4), True), (struct.pack("<I", 9), False):
            with self.subTest(is_told=is_told):
                entry = bytes(34) + struct.pack("<HIIIHHIII", 5, len(symbols), 0, 0, 0, 0, 0, 0, 0) + b"a\0b\0"
                content, lists, _ = scattered([b"", info(), pdb_writer.type_stream([]), dbi(entry), b"", symbols])
                found = self.findings(content, "symbols", "--kind", "procedure").get("pdb-procedures")
                self.assertEqual(found and found["first_offset"], lists[5][0] * BLOCK if is_told else None)

    def test_a_stream_without_bytes(self):
        """That of names, which a record of types needs."""
        names = struct.pack("<I7sIIIIIII", 7, b"/names\0", 1, 1, 1, 1, 0, 0, 5)
        record = struct.pack("<HIIIH", 0x1607, 0x1000, 0, 1, 0)
        structure = struct.pack("<HHHIIIH", 0x1505, 0, 0, 0, 0, 0, 0) + b"Some\0"
        streams = [b"", info(names), pdb_writer.type_stream([structure]), dbi(), pdb_writer.type_stream([record]), b""]
        content, _, own = scattered(streams)
        found = self.findings(content, "types")["pdb-stream"]
        self.assertEqual(found["first_offset"], own[0] * BLOCK)
        self.assertIn("string table", found["text"])

    def test_a_table_of_types_that_is_longer_than_its_stream(self):
        types = bytearray(pdb_writer.type_stream([]))
        struct.pack_into("<I", types, 16, 5000)
        content, lists, _ = scattered([b"", info(), bytes(types), dbi()])
        path = self.write("some.pdb", content)
        done = subprocess.run([COLDTRACE, "pe", "types", path], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{lists[2][0] * BLOCK + 16:#x}: TPI stream.TypeRecordBytes".encode(), done.stderr)


if __name__ == "__main__":
    unittest.main()
