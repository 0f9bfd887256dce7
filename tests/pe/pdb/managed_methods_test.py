"""Methods of .NET in PDBs: records as cvinfo.h of microsoft-pdb has them, and sections that are none of an image.

usage: managed_methods_test.py COLDTRACE [unittest arguments]
"""
import json
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2])]
import pdb_writer  # noqa: E402
from case import Case  # noqa: E402

COLDTRACE = Path(sys.argv[1]).resolve()
GLOBAL, LOCAL, NATIVE = 0x112a, 0x112b, 0x1110


def method(kind, name, size, offset):
    """MANPROCSYM: pParent, pEnd, pNext, len, DbgStart, DbgEnd, token, off, seg, flags, retReg, name."""
    return pdb_writer.symbol(kind, struct.pack("<8IHBH", 0, 0, 0, size, 0, 0, 0x06000001, offset, 1, 0x41, 0x4242) + name + b"\0")


def function(name, size, offset):
    return pdb_writer.symbol(NATIVE, struct.pack("<8IHB", 0, 0, 0, size, 0, 0, 0, offset, 1, 0) + name + b"\0")


class Methods(Case):
    def file(self, sections, *options):
        content = method(GLOBAL, b"Program::Main", 34, 0) + method(LOCAL, b"Print", 9, 0x22) + function(b"native", 7, 0x30)
        path = self.write("a.pdb", pdb_writer.pdb_of_symbols(modules=[(b"a.obj", content)], sections=sections,
                                                             contributions=[(1, 0, 43, 0)]))
        done = subprocess.run([COLDTRACE, "pe", "symbols", "--format", "json", "-q", *options, path], capture_output=True, timeout=60)
        only, = json.loads(done.stdout)["files"]
        return only

    def test_methods_in_a_section_of_the_image_are_functions(self):
        rows = self.file([(0x1000, 0x1000)], "--kind", "procedure,local_procedure")["symbols"]
        self.assertEqual([(row["name"], row["kind"], row["rva"], row["size"], row["type_index"]) for row in rows],
                         [("Program::Main", "procedure", 0x1000, 34, None), ("Print", "local_procedure", 0x1022, 9, None),
                          ("native", "procedure", 0x1030, 7, None)])

    def test_a_section_at_0_is_none_of_an_image(self):
        file = self.file([(0, 43)], "--kind", "procedure,local_procedure")
        self.assertEqual(file["symbols"], [])
        self.assertIn("pdb-no-sections", [finding["code"] for finding in file["findings"]])
        place, = self.file([(0, 43)], "--modules")["modules"][0]["contributions"]
        self.assertEqual((place["section"], place["offset"], place["size"], place["rva"]), (1, 0, 43, None))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
