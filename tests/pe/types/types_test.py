"""Member offsets from PDBs: agreement with an independent reader, in each form of the records.

usage: types_test.py MEMBER_OFFSETS COLDTRACE IMAGES SHARED [unittest arguments]
The other reader and its cases lie beside the checkout; without them this skips.
"""
import base64
import json
import lzma
import os
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from pe.pdb.pdb_writer import msf
from strict import strict_json

MEMBER_OFFSETS, COLDTRACE, IMAGES, SHARED = (Path(argument).resolve() for argument in sys.argv[1:5])
try:
    sys.path.insert(0, str(SHARED / "tools/pdb"))
    import pdbx
    CASES = json.loads((SHARED / "facts/pdb-cases.json").read_text())
except (ImportError, FileNotFoundError):
    pdbx = None

STRUCTURE2 = {0x1504: 0x1608, 0x1505: 0x1609, 0x1519: 0x160b}


def with_wide_properties(path):
    """The PDB as Visual Studio since 2019 16.8 would write it: structures with 32-bit properties."""
    source = pdbx.Msf(path)
    types = pdbx.Tpi(source.stream(2))
    records = b""
    changed = 0
    for record in types.rec:
        kind, = struct.unpack_from("<H", record)
        if kind in STRUCTURE2:
            count, properties = struct.unpack_from("<HH", record, 2)
            known = types.agg(record)
            rest = record[18:]
            while rest[-1] >= 0xf1:
                rest = rest[:-1]
            leaf = struct.pack("<H", count) if count < 0x8000 else struct.pack("<HH", 0x8002, count)
            record = struct.pack("<HI", STRUCTURE2[kind], properties) + record[6:18] + leaf + rest
            left = -(len(record) + 2) % 4
            record += bytes(0xf0 + at for at in range(left, 0, -1))
            changed += 1
            again = types.agg(record)
            assert (again["name"], again["size"], again["fields"]) == (
                known["name"], known["size"], known["fields"])
        records += struct.pack("<H", len(record)) + record
    raw = source.stream(2)
    header = bytearray(raw[:types.hdr])
    struct.pack_into("<I", header, 16, len(records))
    streams = [source.stream(number) or b"" for number in range(len(source.sizes))]
    streams[2] = bytes(header) + records
    return msf(streams), changed


class Oracle:
    """All members of all types, and members of these, as the other reader has them."""

    def __init__(self, path):
        self.types = pdbx.Tpi(pdbx.Msf(path).stream(2))
        self.definitions = {}
        self.by_unique = {}
        for index, record in enumerate(self.types.rec, self.types.first):
            found = self.types.agg(record)
            if found and not found["fwd"]:
                self.definitions.setdefault(found["name"], []).append((index, found))
                if found["unique"]:
                    self.by_unique.setdefault(found["unique"], found)

    def resolve(self, index):
        while self.types.kind(index) == 0x1001:
            index = struct.unpack_from("<I", self.types.get(index), 2)[0]
        record = self.types.get(index)
        found = record and self.types.agg(record)
        if not found or not found["fwd"]:
            return found
        if found["unique"] in self.by_unique:
            return self.by_unique[found["unique"]]
        for _, known in self.definitions.get(found["name"], []):
            if not known["unique"]:
                return known
        return None

    def members(self, found, seen=()):
        """Name, offset and type: its own, then what bases add."""
        fields = self.types.fields(found["fields"]) if found["fields"] else []
        result = {}
        for field in fields:
            if field[0] == "member":
                result.setdefault(field[1], (field[3], field[2]))
        for field in fields:
            if field[0] == "base" and (base := self.resolve(field[1])):
                for name, (offset, kind) in self.members(base).items():
                    result.setdefault(name, (field[2] + offset, kind))
        return result

    def queries(self):
        answers = {}
        for name, known in self.definitions.items():
            if len(known) > 1 or not name or "\n" in name:
                continue
            for member, (offset, kind) in self.members(known[0][1]).items():
                answers[name, member] = offset
                inner = self.resolve(kind)
                if inner:
                    for second, (more, _) in self.members(inner).items():
                        answers[name, f"{member}.{second}"] = offset + more
        return answers


def ask(pdb, queries):
    lines = "".join(f"{name}\t{path}\n" for name, path in queries)
    done = subprocess.run([MEMBER_OFFSETS, pdb], input=lines.encode("latin1"),
                          capture_output=True, timeout=120)
    lines = done.stdout.decode().splitlines()
    return lines[:len(queries)], lines[len(queries):]


@unittest.skipUnless(pdbx, "no other reader of PDBs beside the checkout")
class Agreement(case.Case):
    def pdbs(self):
        paths = [self.write(f"{known['name']}.pdb",
                            lzma.decompress(base64.b64decode(known["pdb_xz_base64"])))
                 for known in CASES["pdbs"]]
        paths += sorted(IMAGES.glob("switch-types-*/*.pdb"))
        # Real ones, if somebody has some.
        paths += sorted(Path(os.environ["COLDTRACE_PDBS"]).glob("*.pdb")
                        ) if "COLDTRACE_PDBS" in os.environ else []
        return paths

    def check(self, path, least):
        answers = Oracle(path).queries()
        self.assertGreaterEqual(len(answers), least)
        found, findings = ask(path, list(answers))
        wrong = [(query, answer, got) for (query, answer), got in zip(answers.items(), found)
                 if str(answer) != got]
        self.assertEqual(wrong[:5], [])
        self.assertNotIn("pdb-type-unknown", findings)
        return len(answers)

    def test_members_are_where_the_other_reader_has_them(self):
        total = 0
        for path in self.pdbs():
            with self.subTest(pdb=path.name):
                total += self.check(path, 4)
        print("members compared:", total, file=sys.stderr)
        self.assertGreater(total, 250)

    def test_the_same_with_32_bit_properties(self):
        for path in self.pdbs():
            with self.subTest(pdb=path.name):
                content, changed = with_wide_properties(path)
                self.assertGreater(changed, 0)
                wide = self.write(f"wide-{path.name}", content)
                self.check(wide, 4)
                self.assertEqual(Oracle(wide).queries(), Oracle(path).queries())

    def test_known_cases(self):
        paths = {path.stem: path for path in self.pdbs()}
        for known in CASES["coldtrace_62c3a0a_wrong"]:
            with self.subTest(**known):
                structure, member = known["query"].split()
                self.assertEqual(ask(paths[known["pdb"]], [(structure, member)])[0],
                                 [str(known["right"])])

    def test_a_kernel_with_a_pdb_of_today_gives_the_same_offsets(self):
        paths = sorted(IMAGES.glob("switch-types-*/ntoskrnl.exe"))
        if not paths:
            self.skipTest("no linker made kernels with types")
        for path in paths:
            with self.subTest(image=path.parent.name):
                pdb = path.with_suffix(".pdb")
                today = self.write("ntoskrnl.pdb", with_wide_properties(pdb)[0])
                old, new = (self.offsets(path, used) for used in (pdb, today))
                self.assertGreater(len(old), 5)
                self.assertEqual(old, new)
                self.assertEqual({field["confidence"] for field in new}, {"high"})

    def offsets(self, image, pdb):
        done = subprocess.run([COLDTRACE, "hooks", "context-switch", "--format", "json", "-q",
                               "--pdb", pdb, image], capture_output=True, timeout=120)
        document = strict_json(done.stdout)
        return document["images"][0]["thread_offsets"]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
