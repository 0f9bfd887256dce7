"""Images whose SizeOfOptionalHeader is too small: the loader reads the optional header whatever it says.

usage: header_size_test.py COLDTRACE [unittest arguments]
The images are built here, byte by byte; what they import is what was put into them.
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
ENTRY = 0x1c0


def imports(rva, plus):
    """A descriptor of one function, its end, the lookup table, which is also that of the slots, and the names."""
    slots = rva + 40
    names = slots + 16
    library = names + 2 + len(b"ExitProcess\0")
    return (struct.pack("<IIIII", slots, 0, 0, library, slots) + bytes(20) + struct.pack("<QQ" if plus else "<IIxxxxxxxx", names, 0)
            + b"\0\0ExitProcess\0kernel32.dll\0"), slots


def optional_header(plus, directories, *, alignment, size, headers):
    header = struct.pack("<HBBIIIII", 0x20b if plus else 0x10b, 0, 0, 0, 0, 0, ENTRY, 0)
    header += b"" if plus else bytes(4)  # BaseOfData
    header += struct.pack("<QII" if plus else "<III", 0x400000, alignment, min(alignment, 0x200))
    header += struct.pack("<HHHHHHIIIIHH", 4, 0, 0, 0, 4, 0, 0, size, headers, 0, 2, 0)
    header += struct.pack("<QQQQ" if plus else "<IIII", 0x100000, 0x1000, 0x100000, 0x1000)
    return header + struct.pack("<II", 0, len(directories)) + b"".join(struct.pack("<II", *one) for one in directories)


def head(plus, sections, declared, optional):
    return (b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0"
            + struct.pack("<HHIIIHH", 0x8664 if plus else 0x14c, sections, 0, 0, 0, declared, 0x22 if plus else 0x102) + optional)


def without_sections(plus):
    """A tiny image: SectionAlignment below a page, no section, and a SizeOfOptionalHeader of 0."""
    table = 0x180
    content, slots = imports(table, plus)
    optional = optional_header(plus, [(0, 0), (table, 40)] + [(0, 0)] * 14, alignment=4, size=0x300, headers=0)
    return (head(plus, 0, 0, optional).ljust(table, b"\0") + content).ljust(0x300, b"\0"), slots


def over_the_directories(plus):
    """Two directories, which are the first 16 bytes of the section table, as SizeOfOptionalHeader ends in front of them."""
    table = 0x1100  # VirtualSize of the section, and RVA of the imports; VirtualAddress is their size
    content, slots = imports(table, plus)
    optional = optional_header(plus, [(0, 0), (table, 0x1000)], alignment=0x1000, size=0x3000, headers=0x200)
    section = struct.pack("<IIIIHHI", 0x400, 0x200, 0, 0, 0, 0, 0x60000020)
    return (head(plus, 1, 112 if plus else 96, optional + section).ljust(0x200, b"\0")
            + bytes(0x100) + content).ljust(0x600, b"\0"), slots


class HeaderSizes(case.Case):
    def read(self, content, command):
        path = self.write("one.exe", content)
        done = subprocess.run([COLDTRACE, "pe", command, "--format", "json", path], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 1, done.stderr)
        (image,) = strict_json(done.stdout)["images"]
        found = {one["code"]: one for one in image["findings"]}
        self.assertEqual(list(found), ["optional-header-size"])
        self.assertEqual(found["optional-header-size"]["first_offset"], 64 + 20)
        return image

    def test_imports_are_those_that_the_loader_finds(self):
        for make in (without_sections, over_the_directories):
            for plus in (False, True):
                with self.subTest(make=make.__name__, plus=plus):
                    content, slots = make(plus)
                    (module,) = self.read(content, "imports")["modules"]
                    self.assertEqual(module["name"], "kernel32.dll")
                    self.assertEqual([(one["name"], one["slot_rva"]) for one in module["functions"]], [("ExitProcess", slots)])

    def test_headers_are_read_whatever_their_size(self):
        for plus in (False, True):
            with self.subTest(plus=plus):
                content, slots = without_sections(plus)
                info = self.read(content, "info")
                self.assertEqual(info["headers"]["entry_point_rva"], ENTRY)
                self.assertEqual(info["headers"]["format"], "PE32+" if plus else "PE32")
                self.assertEqual([(one["name"], one["rva"], one["file_offset"]) for one in info["directories"]],
                                 [("imports", 0x180, 0x180)])
                self.assertEqual(info["counts"]["sections"], 0)

    def test_a_section_table_behind_the_end_is_told(self):
        for plus in (False, True):
            with self.subTest(plus=plus):
                content, slots = without_sections(plus)
                at = 64 + 20  # of SizeOfOptionalHeader
                content = content[:at] + struct.pack("<H", 0xffff) + content[at + 2:]
                (module,) = self.read(content, "imports")["modules"]
                self.assertEqual([(one["name"], one["slot_rva"]) for one in module["functions"]], [("ExitProcess", slots)])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
