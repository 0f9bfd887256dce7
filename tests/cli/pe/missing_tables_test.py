"""Tables that the headers name and the file does not have: a finding has the place that names them, or none, and never 0x0.

usage: missing_tables_test.py COLDTRACE [unittest arguments]
The images are built here; the place is right if the bytes there are the RVA of the table.
"""
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from strict import strict_json

COLDTRACE = Path(sys.argv[1]).resolve()
NOWHERE = 0x700000
# What is told of a directory, by its number.
CODES = {0: "export-directory", 3: "exception-range", 5: "relocation-range", 6: "debug-range", 9: "tls-directory",
         10: "load-config", 14: "clr-header"}


def image(plus, directories, content=b"\xc3", name=b".text", stored=0x200):
    """With one section, of this content, at RVA 0x1000."""
    optional = struct.pack("<HBBIIIII", 0x20b if plus else 0x10b, 0, 0, 0x200, 0, 0, 0, 0x1000) + (b"" if plus else bytes(4))
    optional += struct.pack("<QII" if plus else "<III", 0x400000, 0x1000, 0x200)
    optional += struct.pack("<6HIIIIHH", 4, 0, 0, 0, 4, 0, 0, 0x2000, 0x200, 0, 2, 0)
    optional += struct.pack("<QQQQ" if plus else "<IIII", 0x100000, 0x1000, 0x100000, 0x1000) + struct.pack("<II", 0, 16)
    optional += b"".join(struct.pack("<II", *directories.get(number, (0, 0))) for number in range(16))
    headers = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0"
    headers += struct.pack("<HHIIIHH", 0x8664 if plus else 0x14c, 1, 0, 0, 0, len(optional), 0x22 if plus else 0x102) + optional
    headers += struct.pack("<8sIIIIIIHHI", name, 0x200, 0x1000, stored, 0x200 if stored else 0, 0, 0, 0, 0, 0x60000020)
    return headers.ljust(0x200, b"\0") + content.ljust(0x200, b"\0")


class MissingTables(case.Case):
    def findings(self, content, *options):
        path = self.write("image.exe", content)
        done = subprocess.run([COLDTRACE, "pe", "info", "--format", "json", *options, path], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn(b" at 0x0:", done.stderr)
        return {one["code"]: one for one in strict_json(done.stdout)["images"][0]["findings"]}

    def test_a_table_that_is_not_there_is_where_it_is_named(self):
        for plus in True, False:
            rvas = {number: NOWHERE + number * 0x1000 for number in CODES if plus or number != 3}
            content = image(plus, {number: (rva, 0x40) for number, rva in rvas.items()})
            found = self.findings(content, "--details")
            self.assertEqual({CODES[number] for number in rvas} - found.keys(), set())
            for number, rva in rvas.items():
                with self.subTest(code=CODES[number], plus=plus):
                    at = found[CODES[number]]["first_offset"]
                    self.assertEqual(struct.unpack_from("<II", content, at), (rva, 0x40))

    def test_a_list_of_imports_that_is_not_there_has_no_place(self):
        library = 0x1000 + 40
        descriptor = struct.pack("<IIIII", NOWHERE, 0, 0, library, NOWHERE)
        found = self.findings(image(True, {1: (0x1000, 40)}, descriptor + bytes(20) + b"kernel32.dll\0"))
        self.assertIsNone(found["import-table"]["first_offset"])
        self.assertIn(f"{NOWHERE:#x}", found["import-table"]["text"])

    def test_a_version_that_is_not_there_has_no_place(self):
        tree = b"".join(struct.pack("<IIHHHH", 0, 0, 0, 0, 0, 1) + struct.pack("<II", name, below)
                        for name, below in ((16, 0x80000018), (1, 0x80000030), (0x409, 0x48)))
        found = self.findings(image(True, {2: (0x1000, 0x58)}, tree + struct.pack("<IIII", NOWHERE, 100, 0, 0)))
        self.assertIsNone(found["version-node"]["first_offset"])
        self.assertEqual(found["version-node"]["text"], f"the file stores nothing of the version resource at RVA {NOWHERE:#x}")

    def test_an_api_set_schema_that_is_not_there_has_no_place(self):
        content = image(True, {}, name=b".apiset", stored=0)
        old, new = self.write("old.dll", content), self.write("new.dll", content.replace(b"\xc3", b"\xcc"))
        done = subprocess.run([COLDTRACE, "servicing", "--format", "json", old, new], capture_output=True, timeout=60)
        self.assertNotIn(b" at 0x0:", done.stderr)
        found = [one for one in self.listed(strict_json(done.stdout)) if one["code"] == "api-set-schema"]
        self.assertEqual(len(found), 2)
        for one in found:
            self.assertIsNone(one["first_offset"])
            self.assertIn("0x1000", one["text"])

    def listed(self, value):
        """All findings of a document, wherever they are."""
        if isinstance(value, dict):
            yield from value.get("findings", [])
        for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
            yield from self.listed(one)

    def test_how_much_there_is_of_debug_data(self):
        """An entry that leads to the last 16 bytes of the file has more than these."""
        entry = struct.pack("<IIHHIIII", 0, 0, 0, 0, 2, 100, 0, 0x3f0)
        content = image(True, {6: (0x1000, 28)}, entry)
        found = self.findings(content)
        self.assertEqual(found["debug-range"]["text"], "debug data of type 2 has 100 bytes, of which the file stores 16")
        self.assertEqual(found["debug-range"]["first_offset"], 0x200)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
