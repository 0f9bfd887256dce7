"""coldtrace hooks tables against the linker's symbols, llvm-readobj and the assembler sources.

usage: service_tables_test.py COLDTRACE IMAGES SOURCES WINE [unittest arguments]
  with COLDTRACE_LLVM_PDBUTIL and COLDTRACE_LLVM_READOBJ in the environment.
Images that no linker here could make are skipped. With COLDTRACE_WINDOWS, a folder of Windows
builds (BUILD/ntoskrnl.exe, BUILD/win32k.sys, BUILD/win32u.dll, ...), these are looked at too.
"""
import json
import os
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from strict import strict_csv, strict_json

COLDTRACE, IMAGES, SOURCES, WINE = (Path(argument).resolve() for argument in sys.argv[1:5])
PDBUTIL = os.environ.get("COLDTRACE_LLVM_PDBUTIL", "llvm-pdbutil-14")
READOBJ = os.environ.get("COLDTRACE_LLVM_READOBJ", "llvm-readobj-14")
SCHEMA = json.loads((SOURCES / "docs/schema/service-tables.schema.json").read_text())
# Published hashes of KiServicesTab; see name_hash_test.cpp.
PUBLISHED = {"NtClose": 0x1b5610be, "NtOpenProcess": 0xcf65c41f, "NtCreateFile": 0xa97a4dd7,
             "NtAccessCheck": 0xd6a79254}

KERNELS = ("tables-x86-kernel", "tables-x86-kernel-hidden", "tables-x64-kernel-2003",
           "tables-x64-kernel-va64", "tables-x64-kernel-far", "tables-x64-kernel-rva32",
           "tables-x64-unnumbered-va64", "tables-x64-unnumbered-rva32")
FORMS = {"2003": "va64", "va64": "va64", "far": "va64", "rva32": "rva32"}
ADDRESS_SIZES = {"va32": 4, "va64": 8, "rva32": 4}


def name_hash(name):
    """That of KiServicesTab, as "Dynamic Tracing in Windows 10 19H1" has it."""
    value = 0
    for character in name:
        value = 1025 * (value + character) & 0xffffffff
        value ^= value >> 6
    return value


def output(*command):
    try:
        return subprocess.run([str(part) for part in command], capture_output=True, timeout=120,
                              check=True).stdout.decode("utf-8", "replace")
    except FileNotFoundError:
        raise unittest.SkipTest(f"{command[0]} is not installed") from None


def image(name):
    for path in sorted((IMAGES / name).glob("*")):
        if path.suffix in (".exe", ".sys", ".dll"):
            return path
    raise unittest.SkipTest(f"no linker made {name}")


def public_symbols(path):
    """Name to RVA, from the linker's own debug information."""
    pdb = path.with_suffix(".pdb")
    headers = output(PDBUTIL, "dump", "--section-headers", pdb)
    bases = [int(base, 16) for base in re.findall(r"^ *([0-9A-F]+) virtual address$", headers,
                                                  re.M)]
    symbols = {}
    for name, section, offset in re.findall(
            r"S_PUB32 \[size = \d+\] `(.*)`\n +flags = [a-z| ]+, addr = (\d+):(\d+)",
            output(PDBUTIL, "dump", "--publics", pdb)):
        symbols[name.removeprefix("_")] = bases[int(section) - 1] + int(offset)
    return symbols


def relocated(path):
    return {int(address, 16) for address in
            re.findall(r"Address: 0x([0-9A-F]+)", output(READOBJ, "--coff-basereloc", path))}


def services(name):
    """Name, number and argument bytes of each service, from the assembler source."""
    text = (SOURCES / "fixtures/asm/common" / name).read_text()
    odd = {"service_query_information_process": "QueryInformationProcess",
           "service_query_system_information": "QuerySystemInformation",
           "service_query_system_time": "QuerySystemTime"}
    rows = []
    for macro, fields in re.findall(r"^(service\w*) (.*)$", text, re.M):
        fields = [field.strip() for field in fields.split(",")]
        rows.append([odd[macro], *fields] if macro in odd else fields)
    return [(row[0], int(row[1], 0), int(row[2]) if len(row) > 2 else None) for row in rows]


NT, WIN32K = services("services_nt.inc"), services("services_win32k.inc")


class Case(case.Case):
    def run_tables(self, status, *arguments):
        done = subprocess.run([COLDTRACE, "hooks", "tables", *map(str, arguments)],
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def document(self, status, *arguments):
        done = self.run_tables(status, "--format", "json", *arguments)
        document = strict_json(done.stdout)
        json_schema.validate(document, SCHEMA)
        return document["images"]

    def read(self, status, *arguments):
        shown, = self.document(status, *arguments)
        return shown

    def codes(self, shown):
        return {finding["code"] for finding in shown["findings"]}


class Kernels(Case):
    def test_tables_are_where_the_linker_put_them(self):
        for name in KERNELS:
            with self.subTest(image=name):
                path = image(name)
                symbols = public_symbols(path)
                shown = self.read(0, path)
                table, = shown["tables"]
                nibbles = name.endswith("2003")
                self.assertEqual(table["name"], "KiServiceTable")
                self.assertEqual(table["rva"], symbols["KiServiceTable"])
                self.assertEqual(table["limit"], symbols["KiServiceLimit"])
                self.assertEqual(table["arguments"],
                                 None if nibbles else symbols["KiArgumentTable"])
                self.assertEqual(table["form"], FORMS.get(name.rpartition("-")[2], "va32"))
                self.assertEqual(table["confidence"], "medium" if "unnumbered" in name else "high")
                self.assertEqual(table["verified"], "x86" in name)
                descriptor = symbols["KeServiceDescriptorTable"] if name == KERNELS[0] else None
                self.assertEqual(table["descriptor"], descriptor)
                stored = [text for text in table["evidence"] if text.startswith("A3 at ")]
                self.assertEqual(len(stored), 1 if name == KERNELS[0] else 0)
                self.check_entries(table, symbols, "x86" in name)
                self.check_bytes(path, table, nibbles)

    def check_entries(self, table, symbols, x86):
        self.assertEqual([row["number"] for row in table["entries"]], [n for _, n, _ in NT])
        for row, (name, _, arguments) in zip(table["entries"], NT):
            self.assertEqual(row["rva"], symbols["Nt" + name], name)
            expected = arguments if x86 else max(arguments - 16, 0)
            self.assertEqual(row["argument_bytes"], expected, name)
            if row["name"]:
                self.assertEqual(row["name"], "Nt" + name)

    def check_bytes(self, path, table, nibbles):
        """What the file holds, and which of it llvm-readobj shows as relocated."""
        size = ADDRESS_SIZES[table["form"]]
        places = [table["rva"] + index * size for index in range(len(table["entries"]))]
        expected = set() if table["form"] == "rva32" else set(places)
        self.assertEqual(relocated(path) & set(places), expected)
        content = path.read_bytes()
        base = 0 if table["form"] == "rva32" else table["address"] - table["rva"]
        for index, row in enumerate(table["entries"]):
            at = table["file_offset"] + index * size
            word = int.from_bytes(content[at:at + size], "little") - base
            self.assertEqual(word & ~0xf if nibbles else word, row["rva"])

    def test_two_candidates_are_two(self):
        for name in ("tables-x86-kernel-two", "tables-x64-kernel-two"):
            with self.subTest(image=name):
                path = image(name)
                symbols = public_symbols(path)
                shown = self.read(1, path)
                self.assertEqual([table["rva"] for table in shown["tables"]],
                                 [symbols["KiServiceTable"], symbols["KiOtherServiceTable"]])
                self.assertEqual({table["confidence"] for table in shown["tables"]}, {"low"})
                self.assertIn("service-table-ambiguous", self.codes(shown))
                self.assertIsNone(shown["services_tab"])

    def test_services_tab(self):
        path = image("tables-x64-kernel-rva32")
        symbols = public_symbols(path)
        shown = self.read(0, "--ntdll", image("windows10-x64"), path)
        tab = shown["services_tab"]
        self.assertEqual(tab["rva"], symbols["KiServicesTab"])
        self.assertEqual(tab["confidence"], "high")
        self.assertFalse(tab["verified"])
        order = [row for row in NT if row[1] % 2] + [row for row in NT if row[1] % 2 == 0]
        self.assertEqual(len(tab["records"]), len(order))
        for record, (name, number, arguments) in zip(tab["records"], order):
            self.assertEqual(record["rva"], symbols["Nt" + name])
            self.assertEqual(record["argument_count"], arguments // 4)
            # Two services are one function, and one record has a name that nobody knows.
            self.assertEqual(record["numbers"], [4, 5] if number in (4, 5) else [number])
            self.assertEqual(record["name"], None if number == 42 else "Nt" + name)
        hashes = {record["name"]: record["name_hash"] for record in tab["records"]}
        self.assertEqual({name: hashes[name] for name in PUBLISHED}, PUBLISHED)
        self.assertIn("services-tab-unnamed", self.codes(shown))

    def test_a_hash_that_two_names_have_names_nothing(self):
        kernel, ntdll = image("tables-x64-kernel-rva32"), image("windows10-x64")
        twins = {b"OpenFile": b"DZcUpBMz", b"ReadFile": b"LDsnzLRY"}
        self.assertEqual(*map(name_hash, twins.values()))
        names = ntdll.read_bytes()
        records = kernel.read_bytes()
        for name, twin in twins.items():
            self.assertEqual(names.count(b"\0Nt%s\0" % name) + names.count(b"\0Zw%s\0" % name), 2)
            names = names.replace(name + b"\0", twin + b"\0")
            known = struct.pack("<I", name_hash(name))
            self.assertEqual(records.count(known), 1)
            records = records.replace(known, struct.pack("<I", name_hash(twin)))
        kernel, ntdll = self.write("ntoskrnl.exe", records), self.write("ntdll.dll", names)
        shown = self.read(0, "--ntdll", ntdll, kernel)
        unnamed = {number for name, number, _ in NT if name.encode() in twins} | {42}
        for record in shown["services_tab"]["records"]:
            self.assertEqual(record["name"] is None, set(record["numbers"]) <= unnamed, record)
        made = subprocess.run([COLDTRACE, "hooks", "table", "--kernel", kernel, "--ntdll", ntdll, "-o",
                               self.here / "twins.hooktab"], capture_output=True, timeout=120)
        self.assertIn(made.returncode, (0, 1), made.stderr)
        self.assertGreater((self.here / "twins.hooktab").stat().st_size, 0)

    def test_services_tab_with_another_count_is_kept_with_a_warning(self):
        shown = self.read(1, image("tables-x64-kernel-extra-record"))
        self.assertEqual(len(shown["services_tab"]["records"]), len(NT) + 1)
        self.assertEqual(shown["services_tab"]["confidence"], "low")
        self.assertIn("services-tab-count", self.codes(shown))

    def with_a_second_tab(self, path, tab):
        """The kernel with a section that has a copy of KiServicesTab, relocated as the first is."""
        file = bytearray(path.read_bytes())
        header, = struct.unpack_from("<I", file, 60)
        optional = header + 24
        count, size = struct.unpack_from("<H", file, header + 6)[0], struct.unpack_from(
            "<H", file, header + 20)[0]
        place = optional + size + 40 * count
        self.assertFalse(any(file[place:place + 40]))
        rva, = struct.unpack_from("<I", file, optional + 56)
        records = file[tab["file_offset"]:][:16 * len(tab["records"])]
        struct.pack_into("<8sIIII12xI", file, place, b".copy", len(records), rva, len(records),
                         len(file), 0xc0000040)
        struct.pack_into("<H", file, header + 6, count + 1)
        struct.pack_into("<I", file, optional + 56, rva + 0x1000)
        # Behind the blocks of .reloc, whose data on disk has room.
        directory = optional + 112 + 5 * 8
        relocations, used = struct.unpack_from("<II", file, directory)
        section = next(at for at in range(place - 40 * count, place, 40)
                       if struct.unpack_from("<I", file, at + 12)[0] == relocations)
        stored, offset = struct.unpack_from("<II", file, section + 16)
        entries = [10 << 12 | 16 * i + 8 for i in range(len(tab["records"]))]
        entries += [0] * (len(entries) % 2)
        block = struct.pack(f"<II{len(entries)}H", rva, 8 + 2 * len(entries), *entries)
        self.assertLessEqual(used + len(block), stored)
        file[offset + used:offset + used + len(block)] = block
        struct.pack_into("<I", file, directory + 4, used + len(block))
        struct.pack_into("<I", file, section + 8, used + len(block))
        return self.write("second.exe", bytes(file) + records)

    def test_two_services_tabs_are_none(self):
        path = image("tables-x64-kernel-rva32")
        shown = self.read(1, self.with_a_second_tab(path, self.read(0, path)["services_tab"]))
        self.assertIsNone(shown["services_tab"])
        self.assertIn("services-tab-ambiguous", self.codes(shown))
        self.assertEqual([table["confidence"] for table in shown["tables"]],
                         [table["confidence"] for table in self.read(0, path)["tables"]])

    def test_old_kernels_have_no_services_tab(self):
        for name in ("tables-x64-kernel-va64", "tables-x86-kernel"):
            shown = self.read(0, image(name))
            self.assertIsNone(shown["services_tab"])
            self.assertNotIn("no-services-tab", self.codes(shown))

    def test_an_ntdll_of_the_build_names_all_entries(self):
        for kernel, ntdll in (("tables-x86-kernel", "xp-sp2-x86"),
                              ("tables-x64-kernel-rva32", "windows10-x64")):
            with self.subTest(kernel=kernel):
                table, = self.read(0, "--ntdll", image(ntdll), image(kernel))["tables"]
                self.assertTrue(table["user"]["trusted"])
                self.assertEqual([row["name"] for row in table["entries"]],
                                 ["Nt" + name for name, _, _ in NT])

    def test_the_wrong_ntdll_names_nothing(self):
        wrong = IMAGES.parents[1] / "demo/demo-ntdll-updated.dll"
        self.run_tables(2, "--ntdll", wrong, image("tables-x86-kernel"))  # for another machine
        for kernel in ("tables-x64-kernel-rva32", "tables-x64-kernel-va64"):
            shown = self.read(1, "--ntdll", wrong, image(kernel))
            table, = shown["tables"]
            self.assertFalse(table["user"]["trusted"])
            for row, (name, _, _) in zip(table["entries"], NT):
                self.assertNotEqual(row["name_source"], "user")
                # Its names still tell what the kernel's own hashes stand for.
                self.assertIn(row["name"], (None, "Nt" + name))
            self.assertIn("service-names-other-build", self.codes(shown))

    def test_wine_has_no_service_table(self):
        for architecture in ("amd64", "i386"):
            path = WINE / architecture / "ntoskrnl.exe"
            if not path.exists():
                self.skipTest("Wine's files are not here; see scripts/fetch-wine")
            shown = self.read(1, path)
            self.assertEqual(shown["tables"], [])
            self.assertIn("no-service-table", self.codes(shown))

    def test_other_images_have_no_service_table(self):
        for name in ("windows10-x64", "windows10-arm64", "windows7-x86-kernel"):
            shown = self.read(1, image(name))
            self.assertEqual(shown["tables"], [])
            self.assertIn("no-service-table", self.codes(shown))


class Win32k(Case):
    def test_exported_tables(self):
        for name, form in (("tables-x64-win32k-va64", "va64"), ("tables-x64-win32k-rva32", "rva32")):
            with self.subTest(image=name):
                path = image(name)
                symbols = public_symbols(path)
                tables = self.read(0, path)["tables"]
                self.assertEqual([table["name"] for table in tables],
                                 ["W32pServiceTable", "W32pServiceTableFilter"][:len(tables)])
                self.assertEqual(len(tables), 1 if form == "va64" else 2)
                for table in tables:
                    suffix = table["name"].removeprefix("W32pServiceTable")
                    self.assertEqual(table["rva"], symbols[table["name"]])
                    self.assertEqual(table["limit"], symbols["W32pServiceLimit" + suffix])
                    self.assertEqual(table["arguments"], symbols["W32pArgumentTable" + suffix])
                    self.assertEqual(table["form"], form)
                    self.assertTrue(table["verified"])
                    prefix = suffix or ("" if form == "va64" else "Jump")
                    self.check_entries(table, symbols, prefix, form)

    def check_entries(self, table, symbols, prefix, form):
        rows = table["entries"]
        self.assertEqual(len(rows), len(WIN32K) + 2)
        for row, (name, number, _) in zip(rows, WIN32K):
            self.assertEqual(row["number"], number)
            self.assertEqual(row["rva"], symbols[prefix + name])
            self.assertEqual(row["argument_bytes"], number % 7 * 4)
            named = form == "rva32"
            self.assertEqual(row["name"], name if named else None)
            self.assertEqual(row["import_name"], name if prefix == "Jump" else None)
        self.assertEqual({row["rva"] for row in rows[-2:]}, {symbols["Reserved"]})

    def test_a_table_that_is_not_exported(self):
        path = image("tables-x86-win32k")
        symbols = public_symbols(path)
        table, = self.read(0, path)["tables"]
        self.assertEqual(table["rva"], symbols["W32pServiceTable"])
        self.assertEqual(table["limit"], symbols["W32pServiceLimit"])
        self.assertEqual([row["rva"] for row in table["entries"]],
                         [symbols[name] for name, _, _ in WIN32K])
        self.assertEqual((table["form"], table["confidence"], table["verified"]),
                         ("va32", "medium", False))

    def test_win32u_names_what_it_agrees_with(self):
        win32u = image("windows10-x64-win32u")
        tables = self.read(0, "--win32u", win32u, image("tables-x64-win32k-rva32"))["tables"]
        for table in tables:
            self.assertEqual(table["user"]["equal"], len(WIN32K))
            self.assertTrue(table["user"]["trusted"])
        # Nothing in this one can be checked, and its version is another.
        table, = self.read(1, "--win32u", win32u, image("tables-x64-win32k-va64"))["tables"]
        self.assertEqual({row["name"] for row in table["entries"]}, {None})


class Formats(Case):
    def test_csv_has_the_rows_of_json(self):
        path = image("tables-x64-kernel-rva32")
        shown = self.read(0, path)
        rows = strict_csv(self.run_tables(0, "--format", "csv", path).stdout)
        entries = shown["tables"][0]["entries"]
        self.assertEqual(len(rows), len(entries))
        for row, entry in zip(rows, entries):
            for field in ("number", "rva", "argument_bytes", "name", "name_source"):
                expected = "" if entry[field] is None else str(entry[field])
                self.assertEqual(row[field], expected)
        self.assertEqual(len(rows[4]["name_hashes"].split()), 2)
        self.assertEqual(int(rows[9]["name_hashes"]), PUBLISHED["NtClose"])

    def test_what_cannot_be_read(self):
        kernel = image("tables-x86-kernel")
        self.run_tables(2, self.write("text", b"no image"))
        self.run_tables(2, "--ntdll", self.here / "missing", kernel)
        self.run_tables(1, kernel, self.here / "missing")
        self.run_tables(2)


@unittest.skipUnless("COLDTRACE_WINDOWS" in os.environ, "no folder of Windows builds given")
class Windows(Case):
    FOLDER = Path(os.environ.get("COLDTRACE_WINDOWS", ""))

    def test_xp_kernel(self):
        path = self.FOLDER / "2600.5512/ntoskrnl.exe"
        table, = self.read(0, "--ntdll", path.with_name("NTDLL.DLL"), path)["tables"]
        self.assertEqual((len(table["entries"]), table["form"], table["confidence"]),
                         (284, "va32", "high"))
        self.assertTrue(table["verified"])
        # Without the export only the structure is left.
        hidden = self.write("hidden.exe", path.read_bytes().replace(
            b"KeServiceDescriptorTable\0", b"KeServiceDescriptorTabXX\0"[:25]))
        other, = self.read(0, hidden)["tables"]
        self.assertEqual((other["rva"], other["limit"]), (table["rva"], table["limit"]))

    def test_win32k(self):
        count = 0
        for path in sorted(self.FOLDER.glob("*/win32k.sys")):
            with self.subTest(image=path.parent.name):
                win32u = path.with_name("win32u.dll")
                user = ["--win32u", win32u] if win32u.exists() else []
                for table in self.read(0, *user, path)["tables"]:
                    self.assertEqual((table["confidence"], table["verified"]), ("high", True))
                    if user:
                        self.assertEqual(table["user"]["equal"], table["user"]["shared"])
                        self.assertTrue(all(row["name"] for row in table["entries"]))
                    count += 1
        self.assertGreater(count, 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
