"""pe compare of drivers that are linked below the size of a page: an offset in the file is an RVA, and the file is mapped as it is.

usage: low_alignment_test.py COLDTRACE CLANG LLD [unittest arguments]
An independent loader makes the dump of drivers that are linked here.
"""
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from mapped_module import EXECUTABLE, Pe
from strict import strict_json

COLDTRACE, CLANG, LLD = sys.argv[1:4]
MACHINES = {"x86_64": "x64", "i686": "x86", "aarch64": "arm64"}
# Nothing of it is zero where it starts: what Windows loads of such a file, the file has.
DRIVER = """
__declspec(dllimport) int DbgPrint(const char *, ...);
__declspec(dllimport) void *MmGetSystemRoutineAddress(void *);
int DriverEntry(void *, void *);
static int (*const table[])(void *, void *) = {DriverEntry, DriverEntry, DriverEntry};
const char text[] = "constants that nothing writes";
volatile int state[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
int (*volatile pointer)(void *, void *) = DriverEntry;
__declspec(dllexport) __declspec(noinline) int Work(int x) {
  state[1] += x;
  return state[x & 7] * 3 + DbgPrint(text, x); }
int DriverEntry(void *driver, void *path) {
  for (int i = 0; i < 9; ++i) state[i] = Work(i);
  return table[state[3] & 1] != pointer && MmGetSystemRoutineAddress(path) != 0; }
"""
KERNEL = """
__declspec(dllexport) int DbgPrint(const char *text, ...) { return 0; }
__declspec(dllexport) void *MmGetSystemRoutineAddress(void *name) { return 0; }
int entry(void) { return 0; }
"""


class LowAlignment(case.KernelCase):
    programs = CLANG, LLD

    def driver(self, target, alignment):
        folder = self.here / f"{target}-{alignment}"
        folder.mkdir()
        machine = f"/machine:{MACHINES[target]}"
        for name, source in (("driver", DRIVER), ("kernel", KERNEL)):
            (folder / f"{name}.c").write_text(source)
            self.call(CLANG, f"--target={target}-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-w", "-ffreestanding",
                      "-c", folder / f"{name}.c", "-o", folder / f"{name}.obj")
        self.call(LLD, "/dll", "/nodefaultlib", "/entry:entry", machine, f"/out:{folder}/ntoskrnl.exe",
                  f"/implib:{folder}/kernel.lib", folder / "kernel.obj")
        self.call(LLD, "/driver", "/nodefaultlib", "/entry:DriverEntry", "/subsystem:native", "/debug", "/brepro",
                  f"/align:{alignment}", f"/filealign:{alignment}", machine, f"/out:{folder}/driver.sys",
                  folder / "driver.obj", folder / "kernel.lib")
        image = Pe(folder / "driver.sys")
        self.assertTrue(all(address == offset and size <= raw
                            for _, address, size, offset, raw, _ in image.sections), image.sections)
        self.assertLess(image.size, 0x1000)
        return image

    def compare(self, status, image, memory):
        dump = self.write("driver.dump", bytes(memory))
        done = subprocess.run([COLDTRACE, "pe", "compare", "--no-hash", "--format", "json", image.path, dump],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr.decode() + done.stdout.decode()[:3000])
        return strict_json(done.stdout)

    def test_a_dump_is_its_file_at_any_base(self):
        for target in MACHINES:
            for alignment in (32, 128):
                image = self.driver(target, alignment)
                for base in (image.base, image.base + 0x7f1000):
                    with self.subTest(target, alignment=alignment, base=hex(base)):
                        memory = image.load(base)
                        # What the driver itself writes.
                        name, address, size, *_ = next(one for one in image.sections if one[0] == ".data")
                        memory[address:address + 8] = b"\x11" * 8
                        answer = self.compare(0, image, memory)
                        self.assertEqual((answer["changes"], answer["imports"], answer["findings"]), ([], [], []))
                        self.assertFalse(answer["hooked"])
                        self.assertEqual((answer["dump"]["base"], answer["dump"]["base_source"]), (base, "relocations"))
                        self.assertEqual((answer["import_slots"]["count"], answer["import_slots"]["filled"]), (2, 2))
                        # Memory has whole pages; behind the image nothing is the file's.
                        padded = bytes(memory).ljust(0x1000, b"\0")
                        self.assertEqual(self.compare(0, image, padded)["changes"], [])

    def test_each_changed_byte_is_found(self):
        for target in MACHINES:
            image = self.driver(target, 32)
            code = next(one for one in image.sections if one[5] & EXECUTABLE)
            text = image.mapped.index(b"constants that nothing writes")
            planted = [rva for rva in image.fixed()
                       if code[1] <= rva < code[1] + code[2] or text <= rva < text + 29]
            self.assertGreater(len(planted), 100)
            whole = image.load(image.base + 0x7f1000)
            for rva in planted[::3]:
                with self.subTest(target, rva=hex(rva)):
                    memory = bytearray(whole)
                    memory[rva] ^= 0xff
                    answer = self.compare(1, image, memory)
                    self.assertTrue(answer["hooked"])
                    change, = answer["changes"]
                    self.assertTrue(change["rva"] <= rva < change["rva"] + change["size"], change)

    def test_a_jump_out_of_the_driver_is_one(self):
        image = self.driver("x86_64", 32)
        rva = image.exports()["Work"]
        memory = image.load(image.base)
        memory[rva:rva + 5] = b"\xe9" + struct.pack("<i", 0x100000)
        change, = self.compare(1, image, memory)["changes"]
        self.assertEqual((change["rva"], change["kind"], change["function"]["name"], change["target"]["address"]),
                         (rva, "jump", "Work", image.base + rva + 5 + 0x100000))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
