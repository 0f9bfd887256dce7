"""Code that was written over a stub leads where the processor's manual says, or nowhere that is known.

usage: hook_forms_test.py COLDTRACE IMAGE [unittest arguments]
IMAGE is an ntdll of x64 with stubs of 32 bytes; skipped where no compiler here could build it.
"""
import json
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from case import Case

COLDTRACE, IMAGE = sys.argv[1:3]
OUTSIDE = 0x7FF812345678


@unittest.skipUnless(Path(IMAGE).exists(), "no compiler built the image")
class HookForms(Case):
    def map(self, path):
        done = subprocess.run([COLDTRACE, "syscalls", "map", "--format", "json", path], capture_output=True, text=True,
                              timeout=60)
        return json.loads(done.stdout)["images"][0]

    def setUp(self):
        super().setUp()
        self.file = Path(IMAGE).read_bytes()
        header = struct.unpack_from("<I", self.file, 60)[0]
        self.base = struct.unpack_from("<Q", self.file, header + 24 + 24)[0]
        services = [service for service in self.map(IMAGE)["services"] if service["source"] == "read"]
        self.service, self.other = services[5], services[9]
        self.pointer = self.service["rva"] + 16  # in the stub itself, behind the code

    def bend(self, code, pointer=0):
        """What is said of the service when this stands in its stub's place."""
        image = bytearray(self.file)
        stub = code.ljust(16, b"\xcc") + struct.pack("<Q", pointer)
        image[self.service["file_offset"]:self.service["file_offset"] + len(stub)] = stub
        said = self.map(self.write("ntdll.dll", image))
        name = self.service["name"]
        service = [row for row in said["services"] if row["name"] == name]
        reason = [row["reason"] for row in said["rejected"] if row["name"] == name]
        codes = [finding["code"] for finding in said["findings"]]
        return service, reason, "hooked-stub" in codes

    def load_rax(self, rva):
        return b"\x48\xb8" + struct.pack("<Q", self.base + rva)

    def test_a_jump_through_the_pointer_that_a_loaded_register_leads_to(self):
        for code in (self.load_rax(self.pointer) + b"\xff\x20",           # jmp [rax]
                     self.load_rax(self.pointer - 8) + b"\xff\x60\x08",   # jmp [rax+8]
                     self.load_rax(self.pointer + 8) + b"\xff\x60\xf8"):  # jmp [rax-8]
            with self.subTest(code.hex()):
                (service,), reason, told = self.bend(code, OUTSIDE)
                self.assertTrue(told and service["hooked"])
                self.assertEqual(service["hook"], f"jmp through the pointer at {self.pointer:#x} to {OUTSIDE:#x}")
                self.assertEqual((service["number"], reason), (self.service["number"], []))

    def test_such_a_jump_inside_the_image_is_a_wrapper(self):
        service, reason, told = self.bend(self.load_rax(self.pointer) + b"\xff\x20", self.base + self.other["rva"])
        self.assertEqual((service, told), ([], False))
        self.assertEqual(reason, [f"wrapper inside the image: jmp through the pointer at {self.pointer:#x} to "
                                  f"{self.other['rva']:#x}"])

    def test_a_register_is_loaded_by_a_move_to_its_lower_half(self):
        for code, words in ((b"\xb8\x00\x00\x45\x23\xff\x20", "jmp through the pointer at 0x23450000"),          # mov eax, ...; jmp [rax]
                            (b"\x41\xba\x00\x00\x45\x23\x41\xff\x22", "jmp through the pointer at 0x23450000"),  # r10d, r10
                            (b"\xb8\x00\x00\x45\x23\xff\xe0", "mov and jmp to 0x23450000")):                     # jmp rax
            with self.subTest(code.hex()):
                (service,), reason, told = self.bend(code)
                self.assertTrue(told and service["hooked"])
                self.assertEqual(service["hook"], words)
                self.assertEqual((service["number"], reason), (self.service["number"], []))

    def test_a_jump_through_what_the_caller_has_is_no_hook(self):
        for code in (b"\xff\x61\x08",                                      # jmp [rcx+8]
                     b"\xff\xe1",                                          # jmp rcx
                     self.load_rax(self.pointer) + b"\xff\x21",            # jmp [rcx]
                     self.load_rax(self.pointer) + b"\xff\x24\x08",        # jmp [rax+rcx]
                     self.load_rax(self.pointer) + b"\x48\x89\xc8\xff\x20",  # mov rax, rcx; jmp [rax]
                     self.load_rax(self.pointer) + b"\x88\xc8\xff\xe0"):      # mov al, cl; jmp rax
            with self.subTest(code.hex()):
                service, reason, told = self.bend(code, OUTSIDE)
                self.assertEqual((service, told), ([], False))
                self.assertTrue(reason[0].startswith("an ordinary function, no stub: code "), reason)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
