"""Damage and contradictions are told by their codes: an image that is sound, and one change to it.

usage: damage_codes.py COLDTRACE IMAGES SOURCES [unittest arguments]
Where the change goes is read from the format here, or is the linker's word.
"""
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from code_image import code_image
from strict import strict_json

COLDTRACE, IMAGES, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:4])
SEED = SOURCES / "fuzz/corpus/pe_image/x64"


def image(name):
    for path in sorted((IMAGES / name).glob("*")):
        if path.suffix in (".exe", ".sys", ".dll"):
            return path
    raise unittest.SkipTest(f"no linker made {name}")


def run(*arguments):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)


def codes(*arguments):
    """The status, and the code of each finding that is told on standard error."""
    done = run(*arguments, "-v")
    return done.returncode, set(re.findall(r": (?:warning|info): ([a-z0-9-]+)",
                                           done.stderr.decode(errors="replace")))


def sections(file):
    """(RVA, offset, size) of each section that an image stores."""
    header = struct.unpack_from("<I", file, 60)[0]
    count, = struct.unpack_from("<H", file, header + 6)
    size, = struct.unpack_from("<H", file, header + 20)
    for number in range(count):
        _, rva, stored, offset = struct.unpack_from("<IIII", file, header + 24 + size + 40 * number + 8)
        yield rva, offset, stored


def stubs(path):
    """Name to file offset of the exported stubs."""
    document = strict_json(run("pe", "exports", "--format", "json", path).stdout)
    return {row["name"]: row for row in document["images"][0]["exports"]}


class Case(case.Case):
    def tells(self, code, status, sound, changed):
        """The code is that of the change: the same command on what is sound does not tell it."""
        self.assertNotIn(code, codes(*sound)[1])
        self.assertEqual((codes(*changed)[0], code in codes(*changed)[1]), (status, True),
                         codes(*changed))


# Fails reads of one byte of a file as a bad sector does.
BAD_SECTOR = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static ssize_t read_at(const char* name, int file, void* to, size_t size, off_t at) {
  ssize_t (*real)(int, void*, size_t, off_t) = dlsym(RTLD_NEXT, name);
  const off_t bad = atoll(getenv("BAD_BYTE"));
  struct stat status;
  if (at <= bad && bad < at + (off_t)size && fstat(file, &status) == 0 &&
      status.st_ino == (ino_t)atoll(getenv("BAD_FILE"))) {
    errno = EIO;
    return -1;
  }
  return real(file, to, size, at);
}
ssize_t pread(int file, void* to, size_t size, off_t at) { return read_at("pread", file, to, size, at); }
ssize_t pread64(int file, void* to, size_t size, off_t at) { return read_at("pread64", file, to, size, at); }
"""


class Unreadable(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("cc"):
            raise unittest.SkipTest("no C compiler")
        self.shim = self.here / "bad_sector.so"
        subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", self.shim,
                        self.write("bad_sector.c", BAD_SECTOR.encode()), "-ldl"], check=True)

    def read(self, file, bad, *command):
        """The JSON of a command that cannot read the byte `bad` of the file."""
        done = subprocess.run(
            [COLDTRACE, *command, "--format", "json", file], capture_output=True,
            env=dict(os.environ, LD_PRELOAD=self.shim, BAD_BYTE=str(bad),
                     BAD_FILE=str(file.stat().st_ino),
                     ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0"))
        self.assertEqual(done.returncode, 1, done.stderr)
        return strict_json(done.stdout)["images"][0]

    def test_a_range_that_cannot_be_read(self):
        file = self.write("image.dll", SEED.read_bytes() + b"behind the sections" * 9999)
        bad = file.stat().st_size - 5000
        for command in (["pe", "info"], ["pe", "info", "--details"]):
            self.assertNotIn("unreadable-range", codes(*command, file)[1])
            image = self.read(file, bad, *command)
            found, = [row for row in image["findings"] if row["code"] == "unreadable-range"]
            self.assertLessEqual(found["first_offset"], bad)
            self.assertIn("Input/output error", found["text"])
            # Not those of a file with zeros there.
            self.assertIsNone(image["identity"]["sha256"])
            self.assertIsNone(image["headers"]["computed_checksum"])

    def test_what_a_table_has_there_is_missing_from_it(self):
        """Every page of a library in turn, as if it could not be read."""
        whole = SOURCES / "build/wine/amd64/win32u.dll"
        if not whole.exists():
            raise unittest.SkipTest("Wine's files are not here")
        file = self.write("library.dll", whole.read_bytes())
        told = stubs(file)
        places = {(row["ordinal"], row["rva"]) for row in told.values()}
        lost = 0
        for bad in range(0x1000, file.stat().st_size, 0x1000):
            image = self.read(file, bad, "pe", "exports")
            found = {row["code"] for row in image["findings"]}
            self.assertIn("unreadable-range", found)
            rows = image["exports"]
            self.assertLessEqual({row["name"] for row in rows if row["name"]}, set(told), hex(bad))
            self.assertLessEqual({(row["ordinal"], row["rva"]) for row in rows}, places, hex(bad))
            if {row["name"] for row in rows} != set(told):
                lost += 1
                self.assertTrue(found & {"export-count", "export-name", "export-directory"}, found)
        self.assertGreater(lost, 2)


class Directories(Case):
    def test_a_directory_behind_the_image(self):
        file = SEED.read_bytes()
        optional = struct.unpack_from("<I", file, 60)[0] + 24
        self.assertEqual(struct.unpack_from("<H", file, optional), (0x20b,))
        for index, code in ((0, "export-directory"), (9, "tls-directory"), (10, "load-config"),
                            (14, "clr-header")):
            with self.subTest(code=code):
                changed = bytearray(file)
                struct.pack_into("<II", changed, optional + 112 + 8 * index, 0x7ffff000, 0x40)
                path = self.write("changed.dll", bytes(changed))
                self.tells(code, 1, ["pe", "info", "--details", SEED],
                           ["pe", "info", "--details", path])

    def test_export_names_that_are_lost_are_told_by_all_that_search_them(self):
        kernel = image("windows10-x64-kernel")
        file = bytearray(kernel.read_bytes())
        exports = strict_json(run("pe", "exports", "--format", "json", kernel).stdout)["images"][0]["exports"]
        lost = sorted(row["name"] for row in exports if row["name"] and row["name"].startswith("Nt"))[-1]
        at = file.index(b"\0" + lost.encode() + b"\0") + 1
        section = next((rva, raw) for rva, raw, size in sections(file) if raw <= at < raw + size)
        place = struct.pack("<I", section[0] + at - section[1])
        self.assertEqual(file.count(place), 1)
        changed = self.write(kernel.name, bytes(file).replace(place, struct.pack("<I", 0x7f000000)))
        for command in (["hooks", "locate", "Nt*"], ["hooks", "context-switch"], ["hooks", "derive", "NtClose", "--at", "0x1000"],
                        ["hooks", "plan", "--function", "Nt*", "--kernel"], ["hooks", "tables"], ["syscalls", "map"],
                        ["hooks", "table", "--kernel"]):
            with self.subTest(command=command):
                self.assertNotIn("export-name", codes(*command, kernel)[1])
                self.assertIn("export-name", codes(*command, changed)[1])


class Imports(Case):
    def test_a_function_that_its_library_lost(self):
        folder = self.here / "set"
        folder.mkdir()
        names = ["imports-program-i686", "imports-base-i686", "imports-middle-i686",
                 "imports-late-i686"]
        for path in map(image, names):
            (folder / path.name).write_bytes(path.read_bytes())
        program = folder / "program.exe"
        document = strict_json(run("pe", "imports", "--format", "json", program).stdout)
        library = folder / "middle.dll"
        wanted = [row["name"] for module in document["images"][0]["modules"]
                  for row in module["functions"] if module["name"] == library.name]
        name = sorted(set(wanted) & set(stubs(library)))[0].encode()
        changed = library.read_bytes().replace(b"\0" + name + b"\0", b"\0" + name[:-1] + b"~\0")
        self.assertNotIn("import-not-exported", codes("hooks", "iat", program)[1])
        library.write_bytes(changed)
        self.assertIn("import-not-exported", codes("hooks", "iat", program)[1])


class Kernels(Case):
    def test_what_only_forms_that_no_real_file_showed_tell(self):
        for code, command, name in (
                ("context-switch-unverified", "context-switch", "switch-8-x86"),
                ("service-table-unverified", "tables", "tables-x64-kernel-rva32")):
            with self.subTest(code=code):
                self.assertIn(code, codes("hooks", command, image(name))[1])
        self.assertNotIn("context-switch-unverified",
                         codes("hooks", "context-switch", image("switch-7-x86"))[1])
        self.assertNotIn("service-table-unverified",
                         codes("hooks", "tables", image("tables-x86-kernel"))[1])

    def test_a_stub_that_leads_elsewhere(self):
        kernel = image("windows10-x64-kernel")
        file = bytearray(kernel.read_bytes())
        row = sorted((row for name, row in stubs(kernel).items() if name.startswith("Zw")),
                     key=lambda row: row["rva"])[3]
        # The last instruction of the stub jumps: e9 and a displacement.
        at = file.index(b"\xe9", row["file_offset"])
        self.assertLess(at, row["file_offset"] + 0x20)
        file[at + 1] ^= 0x10
        changed = self.write("ntoskrnl.exe", bytes(file))
        self.tells("kernel-gate", 1, ["syscalls", "map", kernel], ["syscalls", "map", changed])

    def test_an_ntdll_that_swaps_two_names(self):
        kernel, ntdll = image("tables-x86-kernel"), image("xp-sp2-x86")
        document = strict_json(run("hooks", "tables", "--format", "json", kernel).stdout)
        named = [row["name"] for row in document["images"][0]["tables"][0]["entries"]
                 if row["name"]]
        self.assertGreater(len(named), 3)
        exports = stubs(ntdll)
        one = next(name for name in named if name in exports)
        file = bytearray(ntdll.read_bytes())
        at = exports[one]["file_offset"]
        self.assertEqual(file[at], 0xb8)  # mov eax, number
        file[at + 1] ^= 1
        changed = self.write("ntdll.dll", bytes(file))
        told = codes("hooks", "tables", "--ntdll", changed, kernel)[1]
        self.assertTrue({"service-names-differ", "service-names-other-build"} & told, told)
        self.assertFalse({"service-names-differ", "service-names-other-build"}
                         & codes("hooks", "tables", "--ntdll", ntdll, kernel)[1])

    def test_exports_that_are_not_where_the_table_leads(self):
        kernel = image("tables-x86-kernel")
        file = kernel.read_bytes()
        for name, row in stubs(kernel).items():
            if name.startswith("Nt"):
                file = file.replace(struct.pack("<I", row["rva"]),
                                    struct.pack("<I", row["rva"] + 4))
        changed = self.write("ntoskrnl.exe", file)
        self.tells("service-table-names", 1, ["hooks", "tables", kernel],
                   ["hooks", "tables", changed])

    def test_drivers_and_kernels_that_do_not_fit_a_plan(self):
        plan = ["hooks", "plan", "--function", "KiDispatchInterrupt", "--kernel",
                image("switch-7-x86")]
        status, told = codes(*plan)
        self.assertEqual((status, "trace-facility-absent" in told), (0, True))
        self.assertIn("trace-facility-absent", codes(*plan, "--format", "c-header")[1])
        driver = image("trace-driver-yes")
        machine, = struct.unpack_from("<H", driver.read_bytes(),
                                      struct.unpack_from("<I", driver.read_bytes(), 60)[0] + 4)
        self.assertEqual(machine, 0x8664)
        self.tells("trace-driver-machine", 1, plan, [*plan, "--driver", driver])

    def test_more_places_than_are_looked_at(self):
        # mov [rdi+58h], rsp; mov rsp, [rsi+58h]
        code = bytes.fromhex("48896758488b6658") * 4200
        few = self.write("few.exe", code_image(code[:8 * 8]))
        many = self.write("many.exe", code_image(code))
        self.assertNotIn("context-switch-limit", codes("hooks", "context-switch", few)[1])
        self.assertIn("context-switch-limit", codes("hooks", "context-switch", many)[1])

    def test_code_that_nothing_tells_apart(self):
        twice = self.write("twice.exe", code_image(bytes.fromhex("8bc38bd18bf8c3cc") * 64))
        self.assertIn("signature-not-derived",
                      codes("hooks", "derive", "F", "--at", "0x1008", twice)[1])

    def test_services_without_a_name_in_a_profile(self):
        profile = self.write("all.profile", b"*\n")
        kernel = image("windows10-x64-kernel")
        told = codes("hooks", "profile", "expand", profile, "--against", kernel)[1]
        self.assertIn("profile-unnamed", told)
        ntdll = image("windows10-x64")
        self.assertNotIn("profile-unnamed",
                         codes("hooks", "profile", "expand", profile, "--against", ntdll)[1])


class Symbols(Case):
    def test_a_symbol_that_stands_twice(self):
        kernel = image("derived-x64-1")
        pdb = kernel.with_suffix(".pdb")
        document = strict_json(run("pe", "symbols", "--format", "json", pdb).stdout)
        names = [row["name"] for row in document["files"][0]["symbols"]]
        one, other = next((a, b) for a in names for b in names
                          if a < b and len(a) == len(b) and a.isidentifier() and b.isidentifier())
        changed = self.write("changed.pdb", pdb.read_bytes().replace(
            b"\0" + other.encode() + b"\0", b"\0" + one.encode() + b"\0"))
        self.tells("symbol-ambiguous", 1, ["hooks", "derive", one, "--pdb", pdb, kernel],
                   ["hooks", "derive", one, "--pdb", changed, kernel])

    def test_a_type_record_without_a_length(self):
        kernel = image("switch-types-x86")
        pdb = kernel.with_suffix(".pdb")
        file = bytearray(pdb.read_bytes())
        # LF_STRUCTURE, whose u16 in front is the length of the record.
        name = next(at.start() for at in re.finditer(b"_KTHREAD\0", file)
                    if b"\x05\x15" in file[at.start() - 30:at.start()])
        struct.pack_into("<H", file, file.rindex(b"\x05\x15", 0, name) - 2, 1)
        changed = self.write("changed.pdb", bytes(file))
        self.tells("pdb-types", 1, ["hooks", "context-switch", "--pdb", pdb, kernel],
                   ["hooks", "context-switch", "--pdb", changed, kernel])


class Disks(Case):
    """The volume of the demo: records of 1024 bytes from cluster 4 on, clusters of 4096."""

    def setUp(self):
        super().setUp()
        self.disk = IMAGES.parent.parent / "demo/demo-disk.img"
        if not self.disk.exists():
            self.skipTest("the demo was not built")
        self.content = bytearray(self.disk.read_bytes())

    def told_by(self, code, status, name="disk.img", *options):
        path = self.write(name, bytes(self.content))
        self.tells(code, status, ["ntfs", "snapshot", self.disk], ["ntfs", "snapshot", *options, path])

    def test_a_volume_that_was_not_unmounted(self):
        record = 4 * 4096 + 3 * 1024
        self.assertEqual(self.content[record:record + 4], b"FILE")
        # [MS-FSCC] and linux-ntfs: $VOLUME_INFORMATION, resident; flags behind the version 3.1.
        at = record + struct.unpack_from("<H", self.content, record + 20)[0]
        while (kind := struct.unpack_from("<I", self.content, at)[0]) != 0x70:
            self.assertLess(kind, 0x70)
            at += struct.unpack_from("<I", self.content, at + 4)[0]
        value = at + struct.unpack_from("<H", self.content, at + 20)[0]
        self.assertEqual(self.content[value + 8:value + 10], b"\x03\x01")
        mirror, = struct.unpack_from("<Q", self.content, 56)
        for place in (value, value - 4 * 4096 + mirror * 4096):
            self.content[place + 10] |= 1
        self.told_by("volume-dirty", 0)

    def test_a_boot_sector_without_its_end(self):
        self.content[510:512] = b"\0\0"
        self.told_by("boot-marker", 0)

    def test_the_first_part_of_nothing_else(self):
        self.told_by("split-image-alone", 0, "disk.001")

    def test_cells_that_are_too_long(self):
        self.told_by("csv-cell", 0, "disk.img", "--format", "csv", "--cell-limit", "8")

    def test_partitions_of_other_kinds_and_places(self):
        """A table of two: the volume, as one of dynamic disks; and one behind the end."""
        first, beyond = 2048, 1 << 30
        table = bytearray(512)
        struct.pack_into("<B3xB3xII", table, 446, 0, 0x42, first, len(self.content) // 512)
        struct.pack_into("<B3xB3xII", table, 462, 0, 0x07, beyond, 2048)
        table[510:] = b"\x55\xaa"
        self.content = bytes(table).ljust(first * 512, b"\0") + self.content
        self.told_by("partition-dynamic", 1)
        self.told_by("partition-range", 1)

    def test_no_memory_for_the_clusters_of_a_huge_volume(self):
        size, room = 1 << 43, 256 << 20
        struct.pack_into("<Q", self.content, 40, size // 512 - 1)
        path = self.write("huge.img", bytes(self.content))
        try:
            os.truncate(path, size)
        except OSError as error:
            self.skipTest(f"no files of {size} bytes here: {error}")

        def run_in_little(*arguments):
            return subprocess.run([COLDTRACE, *arguments], capture_output=True, timeout=120,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                        (room, room)))
        if run_in_little("--version").returncode != 0:
            self.skipTest("this build needs more memory to start")
        done = run_in_little("ntfs", "snapshot", "--jobs", "1", "-v", path)
        self.assertIn(b"warning: clusters-unchecked: ", done.stderr)
        self.assertIn(b'"type":"summary"', done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
