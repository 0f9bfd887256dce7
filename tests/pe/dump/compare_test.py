"""Dumps against files: an independent loader makes the dump, plants hooks and says what is found.

usage: compare_test.py COLDTRACE IMAGES WINE SOURCES [unittest arguments]
Images that no compiler here could build and Wine's files, where they are missing, are skipped.
"""
import json
import random
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from mapped_module import EXECUTABLE, WRITABLE, Pe
from strict import strict_json

COLDTRACE, IMAGES, WINE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:5])
SCHEMA = json.loads((SOURCES / "docs/schema/pe-comparison.schema.json").read_text())
OUT = 0x1f0000  # of every module that these tests place


def run(*arguments):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)


def wine(processor, name):
    path = WINE / processor / name
    if not path.exists():
        raise unittest.SkipTest(f"no {path}")
    return Pe(path)


def fixture(name):
    files = sorted(path for path in (IMAGES / name).glob("*") if path.suffix in (".dll", ".exe", ".sys"))
    if not files:
        raise unittest.SkipTest(f"no compiler built {name}")
    return Pe(files[0])


def pages(size):
    return -(-size // 0x1000) * 0x1000


class Case(case.Case):
    def compare(self, image, memory, *options, status=None, command=("pe", "compare")):
        dump = self.write("module.dump", bytes(memory))
        inputs = (image.path, dump) if command[0] == "pe" else ("--pe", image.path, "--dump", dump)
        done = run(*command, *inputs, "--format", "json", *options)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr.decode() + done.stdout.decode()[:3000])
        if done.returncode == 2:
            self.assertEqual(done.stdout, b"")
            return done.stderr.decode()
        answer = strict_json(done.stdout)
        json_schema.validate(answer, SCHEMA)
        text = run(*command, *inputs, *options)
        self.assertEqual(text.returncode, done.returncode)
        self.assertLessEqual({f"{change['rva']:#010x}".encode() for change in answer["changes"]},
                             set(re.findall(rb"\b0x[0-9a-f]{8}\b", text.stdout)))
        self.assertNotIn(b" 1 bytes in ", text.stdout)
        return answer

    def clean(self, image, memory, base, *options, **more):
        answer = self.compare(image, memory, *options, status=0, **more)
        for member in ("changes", "imports", "loader_pointers", "service_rows", "service_values"):
            self.assertEqual(answer[member], [])
        self.assertFalse(answer["hooked"])
        self.assertEqual(answer["dump"]["base"], base)
        return answer

    def codes(self, answer):
        return {finding["code"] for finding in answer["findings"]}


class Clean(Case):
    def test_a_module_at_any_base_is_its_file(self):
        for processor, bases in (("amd64", (0x7ffb12340000,)), ("i386", (0x77aa0000,))):
            for name in ("ntdll.dll", "kernel32.dll", "win32u.dll"):
                image = wine(processor, name)
                for base in (image.base, *bases):
                    with self.subTest(image=image.path, base=hex(base)):
                        answer = self.clean(image, image.load(base), base)
                        found = len(list(image.relocations()))
                        # Zeros in the file, which nothing adjusts to something else than zero.
                        self.assertLessEqual(answer["dump"]["agreeing_relocations"], found)
                        slots = sum(map(len, image.slots()))
                        if found:
                            self.assertEqual(answer["dump"]["base_source"], "relocations")
                        self.assertEqual(answer["import_slots"]["count"], slots)
                        self.assertEqual(answer["import_slots"]["filled"], slots)
                        read_only = sum(pages(size) for _, _, size, _, _, flags in image.sections
                                        if not flags & WRITABLE)
                        first = min(section[1] for section in image.sections)
                        headers = min(first, pages(struct.unpack_from("<I", image.file,
                                                                      image.optional + 60)[0]))
                        self.assertEqual(answer["bytes"]["compared"], read_only + headers)

    def test_a_dump_in_the_layout_of_the_file_is_read_so(self):
        image = wine("amd64", "ntdll.dll")
        memory = image.load(0x7ffb12340000)
        laid = bytearray(image.file)
        laid[:0x400] = memory[:0x400]
        for _, address, size, offset, raw, _ in image.sections:
            laid[offset:offset + min(size, raw)] = memory[address:address + min(size, raw)]
        answer = self.clean(image, laid, 0x7ffb12340000)
        self.assertEqual(answer["dump"]["layout"], "file")
        self.assertEqual(self.compare(image, memory, "--dump-layout", "file", status=2).count("\n"), 1)

    def test_fixture_images_of_all_machines(self):
        for name in ("windows10-x64", "windows10-arm64", "windows8-x86", "reader-x64", "reader-x86",
                     "reader-arm64", "driver-x86_64", "imports-program-i686"):
            with self.subTest(name=name):
                try:
                    image = fixture(name)
                except unittest.SkipTest:
                    continue
                base = image.base + (0x340000 if any(True for _ in image.relocations()) else 0)
                self.clean(image, image.load(base), base)


class Hooks(Case):
    BASE = 0x7ffb12340000

    def plant(self, image, memory, rva, code):
        memory[rva:rva + len(code)] = code

    def only(self, answer, rva):
        found = [change for change in answer["changes"]
                 if change["start"] <= rva < change["rva"] + change["size"]]
        self.assertEqual(len(found), 1, (hex(rva), answer["changes"]))
        return found[0]

    def test_each_kind_of_hook_is_what_it_is(self):
        image = wine("amd64", "ntdll.dll")
        exports = image.exports()
        names = [name for name in ("NtClose", "NtCreateFile", "NtOpenProcess", "NtReadFile",
                                   "NtWriteFile", "NtOpenKey", "NtQueryKey", "NtDelayExecution",
                                   "NtSetEvent")]
        at = {name: exports[name] for name in names}
        target = self.BASE - 0x7000000
        base, memory = self.BASE, image.load(self.BASE)
        hook = lambda name, code: self.plant(image, memory, at[name], code)
        hook("NtClose", b"\xe9" + struct.pack("<i", target - (base + at["NtClose"] + 5)))
        hook("NtCreateFile", b"\xff\x25\0\0\0\0" + struct.pack("<Q", OUT))
        hook("NtOpenProcess", b"\x48\xb8" + struct.pack("<Q", OUT + 16) + b"\xff\xe0")
        hook("NtReadFile", b"\x68" + struct.pack("<I", 0x89abcdef) + b"\xc7\x44\x24\x04" +
             struct.pack("<I", 0x1234) + b"\xc3")
        hook("NtWriteFile", b"\xcc")
        hook("NtOpenKey", b"\x31\xc0\xc3")
        hook("NtQueryKey", b"\x90" * 8)
        middle = at["NtDelayExecution"] + 4
        self.plant(image, memory, middle, bytes([memory[middle] ^ 0x55]))
        # A jump to a jump in the padding, which is what a long jump that has no room looks like.
        cave = at["NtSetEvent"] + 0x18
        hook("NtSetEvent", b"\xeb" + bytes([cave - at["NtSetEvent"] - 2]))
        self.plant(image, memory, cave, b"\xe9" + struct.pack("<i", target - (base + cave + 5)))
        answer = self.compare(image, memory, "--known-module", f"hook.dll={target - 0x100:#x}:0x2000",
                              status=1)
        self.assertTrue(answer["hooked"])
        expected = {"NtClose": ("jump", target), "NtCreateFile": ("jump", OUT),
                    "NtOpenProcess": ("jump", OUT + 16), "NtReadFile": ("jump", 0x123489abcdef),
                    "NtWriteFile": ("breakpoint", None), "NtOpenKey": ("return", None),
                    "NtQueryKey": ("nop", None), "NtSetEvent": ("jump", target)}
        for name, (kind, address) in expected.items():
            with self.subTest(name=name):
                change = self.only(answer, at[name])
                self.assertEqual(change["kind"], kind)
                self.assertEqual(change["start"], at[name])
                self.assertEqual(change["target"] and change["target"]["address"], address)
                self.assertEqual(change["hook_point"]["kind"], "stub")
                self.assertIn(change["hook_point"]["name"], (name, "Zw" + name[2:]))
                self.assertEqual(change["function"]["rva"], at[name])
                size = change["rva"] + change["size"] - change["start"]
                after = bytes(memory[at[name]:at[name] + min(size, 32)])
                self.assertEqual(change["after"], after.hex())
                self.assertEqual(change["before"],
                                 image.load(base)[at[name]:at[name] + min(size, 32)].hex())
        named = self.only(answer, at["NtClose"])["target"]
        self.assertEqual((named["module"], named["offset"], named["inside"]),
                         ("hook.dll", 0x100, False))
        self.assertEqual(self.only(answer, at["NtSetEvent"])["via"], base + cave)
        change = self.only(answer, middle)
        self.assertEqual(change["function"]["rva"], at["NtDelayExecution"])
        self.assertEqual((change["rva"], change["size"]), (middle, 1))
        hit = {point["rva"] for point in answer["changed_points"]}
        self.assertEqual(hit, set(at.values()))
        again = self.compare(image, memory, status=1, command=("syscalls", "check"))
        self.assertEqual(again["changes"][0]["rva"], answer["changes"][0]["rva"])
        self.assertEqual(again["hook_points"]["changed"], len(at))

    def test_hooks_of_x86_at_another_base(self):
        image = wine("i386", "ntdll.dll")
        exports, base = image.exports(), 0x77aa0000
        memory = image.load(base)
        first, second = exports["NtClose"], exports["NtOpenKey"]
        self.plant(image, memory, first,
                   b"\xe9" + struct.pack("<I", (OUT - (base + first + 5)) & 0xffffffff))
        self.plant(image, memory, second, b"\x68" + struct.pack("<I", OUT + 4) + b"\xc3")
        answer = self.compare(image, memory, status=1)
        for rva, address in ((first, OUT), (second, OUT + 4)):
            change = self.only(answer, rva)
            self.assertEqual((change["kind"], change["target"]["address"]), ("jump", address))
        self.assertEqual(len(answer["changes"]), 2)

    def test_hooks_of_arm64(self):
        image = fixture("windows10-arm64")
        exports, base = image.exports(), image.base
        names = sorted(name for name in exports if name.startswith("Nt"))[:3]
        memory = image.load(base)
        at = [exports[name] for name in names]
        self.plant(image, memory, at[0], struct.pack("<I", 0x14000000 | 0x100000))  # b +4 MiB
        self.plant(image, memory, at[1], struct.pack("<IIQ", 0x58000051, 0xd61f0220, OUT))
        self.plant(image, memory, at[2], struct.pack("<I", 0xd4200000))
        answer = self.compare(image, memory, status=1)
        found = [self.only(answer, rva) for rva in at]
        self.assertEqual([change["kind"] for change in found], ["jump", "jump", "breakpoint"])
        self.assertEqual(found[0]["target"]["address"], base + at[0] + 0x400000)
        self.assertEqual(found[1]["target"]["address"], OUT)

    def test_every_byte_that_nothing_writes_counts(self):
        image = wine("amd64", "kernel32.dll")
        clean = image.load(self.BASE)
        places = sorted(random.Random(7).sample(list(image.fixed()), 300))
        memory = bytearray(clean)
        for rva in places:
            memory[rva] ^= 0x81
        answer = self.compare(image, memory, status=1)
        covered = set()
        for change in answer["changes"]:
            range_ = range(change["rva"], change["rva"] + change["size"])
            self.assertFalse(covered & set(range_))
            covered |= set(range_)
            for end in (range_[0], range_[-1]):
                self.assertIn(end, places)
            self.assertEqual(change["section"], image.section_at(change["rva"])[0])
        self.assertLessEqual(set(places), covered)
        data = [change for change in answer["changes"] if change["kind"] == "data"]
        self.assertTrue(data)
        for change in data:
            self.assertFalse(image.section_at(change["rva"])[5] & EXECUTABLE)

    def test_an_import_that_leads_out_of_all_modules(self):
        for processor, base in (("amd64", self.BASE), ("i386", 0x77aa0000)):
            image = wine(processor, "kernel32.dll")
            slots = next(slots for slots in image.slots() if len(slots) > 3)
            memory = image.load(base)
            struct.pack_into(image.word, memory, slots[2], OUT)
            answer = self.compare(image, memory, status=1)
            slot, = answer["imports"]
            self.assertEqual((slot["slot"], slot["target"]["address"], slot["doubt"]),
                             (slots[2], OUT, "alone"))
            memory = image.load(base)
            start, = struct.unpack_from(image.word, memory, slots[0])
            # Near the others, and in no module that is given: the list of modules alone tells.
            struct.pack_into(image.word, memory, slots[2], start + 0x2000000)
            self.clean(image, memory, base)
            modules = ["--known-module", f"all.dll={start & ~0xfffff:#x}:0x1000000"]
            slot, = self.compare(image, memory, *modules, status=1)["imports"]
            self.assertEqual((slot["slot"], slot["doubt"]), (slots[2], "outside"))
            struct.pack_into(image.word, memory, slots[2], base + 0x1000)
            slot, = self.compare(image, memory, status=1)["imports"]
            self.assertEqual((slot["doubt"], slot["target"]["inside"]), ("inside", True))

    def test_a_slot_that_was_emptied_is_told_and_one_that_is_not_there_is_counted(self):
        for processor, base in (("amd64", self.BASE), ("i386", 0x77aa0000)):
            image = wine(processor, "kernel32.dll")
            memory = image.load(base)
            every = [slot for slots in image.slots() for slot in slots]
            struct.pack_into(image.word, memory, every[1], 0)
            answer = self.compare(image, memory, status=1)
            slot, = answer["imports"]
            self.assertEqual((slot["slot"], slot["doubt"], slot["target"]), (every[1], "zero", None))
            self.assertTrue(answer["hooked"])
            self.assertEqual(answer["import_slots"],
                             {"count": len(every), "filled": len(every) - 1, "absent": 0})
            dump = self.write("module.dump", bytes(memory))
            text = run("pe", "compare", image.path, dump).stdout.decode()
            self.assertIn(f"imports {len(every)} slots, {len(every) - 1} filled, 0 absent", text)
            self.assertIn("holds 0 (zero)", text)
            page = every[1] & ~0xfff
            memory[page:page + 0x1000] = bytes(0x1000)
            answer = self.compare(image, memory, status=0)
            gone = sum(page <= slot < page + 0x1000 for slot in every)
            self.assertEqual((answer["imports"], answer["import_slots"]["absent"]), ([], gone))

    def test_a_slot_leads_to_the_function_that_is_imported(self):
        image, other = wine("amd64", "kernel32.dll"), wine("amd64", "ntdll.dll")
        there, memory, exports = 0x7ffb20000000, image.load(self.BASE), other.exports()
        path = self.write("ntdll.dump", bytes(other.load(there)))
        slots = [(name, slot) for dll, name, slot in image.imports()
                 if dll.lower() == "ntdll.dll" and name in exports]
        self.assertGreater(len(slots), 10)
        mine = next(rows for rows in image.slots() if slots[0][1] in rows)
        for slot in mine:
            struct.pack_into("<Q", memory, slot, there + 0x1000)
        for name, slot in slots:
            struct.pack_into("<Q", memory, slot, there + exports[name])
        self.clean(image, memory, self.BASE, "--other-dump", path)
        name, slot = slots[3]
        for target in (exports[slots[4][0]], exports[name] + 1):
            struct.pack_into("<Q", memory, slot, there + target)
            found, = self.compare(image, memory, "--other-dump", path, status=1)["imports"]
            self.assertEqual((found["slot"], found["name"], found["doubt"],
                              found["target"]["address"]), (slot, name, "other", there + target))
            self.clean(image, memory, self.BASE, "--known-module", f"ntdll.dll={there:#x}:{other.size:#x}")

    def test_code_in_what_is_left_of_a_last_page_counts(self):
        file = bytearray(driver_with_sites())
        # VirtualSize of .text: 0x80 bytes are stored behind it, and mapped.
        struct.pack_into("<I", file, file.index(b".text") + 8, 0x180)
        file[0x380:0x400] = b"\x55" * 0x80
        image = Pe(self.write("driver.sys", bytes(file)))
        base, clean = image.base, image.load(image.base)
        self.assertEqual(clean[0x1180:0x1202], b"\x55" * 0x80 + b"\0\0")
        self.clean(image, clean, base)
        jump = b"\xe9" + struct.pack("<i", -0x6000000)
        for name, first, kind in ((None, 0x200, "data"), (".text", 0x1180, "jump"),
                                  (".text", 0x1200, "jump"), (".rdata", 0x2400, "data")):
            # The first bytes behind, and the last of the page.
            for rva in (first, pages(first) - len(jump)):
                with self.subTest(section=name, rva=hex(rva)):
                    memory = bytearray(clean)
                    self.plant(image, memory, rva, jump)
                    change, = self.compare(image, memory, status=1)["changes"]
                    differ = [at for at in range(len(clean)) if memory[at] != clean[at]]
                    self.assertEqual((change["rva"], change["rva"] + change["size"] - 1,
                                      change["section"], change["kind"]),
                                     (differ[0], differ[-1], name, kind))
                    target = change["target"] and change["target"]["address"]
                    self.assertEqual(target, base + rva + 5 - 0x6000000 if kind == "jump" else None)
        memory = bytearray(clean)
        memory[0x11f0:0x1200] = bytes(16)
        change, = self.compare(image, memory, status=1)["changes"]
        self.assertEqual((change["rva"], change["size"]), (0x11f0, 16))
        answer = self.compare(image, clean[:0x2400], status=1)
        self.assertEqual((answer["bytes"]["missing"], answer["changes"]), (0xc00, []))
        memory = bytearray(clean)
        memory[0x1000:0x2000] = bytes(0x1000)
        self.assertEqual(self.clean(image, memory, base)["absent"], [{"rva": 0x1000, "size": 0x1000}])

    def test_a_page_of_several_sections_is_there_or_not_as_a_whole(self):
        """As in kernels and drivers of Windows XP and 2003, whose SectionAlignment is below a page."""
        sections = ((b".text", 0x400, 0xae1, 0x68000020), (b"POOLMI", 0xf00, 0x1500, 0x68000020),
                    (b"PAGE", 0x2400, 0x120, 0x60000020), (b".data", 0x2540, 0x1c0, 0xc8000040))
        file = bytearray(0x2700)
        file[:2], file[60:64] = b"MZ", struct.pack("<I", 0x80)
        file[0x80:0x98] = b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, len(sections), 0x1234, 0, 0, 240, 0x22)
        struct.pack_into("<H", file, 0x98, 0x20b)
        struct.pack_into("<QII", file, 0x98 + 24, 0x140000000, 32, 32)
        struct.pack_into("<IIIH", file, 0x98 + 56, len(file), 0x400, 0, 1)
        struct.pack_into("<I", file, 0x98 + 108, 16)
        for index, (name, address, size, flags) in enumerate(sections):
            struct.pack_into("<8s4I12xI", file, 0x188 + 40 * index, name, size, address, size, address, flags)
            file[address:address + size] = bytes(at % 251 + 1 for at in range(size))
        image = Pe(self.write("driver.sys", bytes(file)))
        for page, ranges in ((1, [(0x1000, 0x1000)]), (2, [(0x2000, 0x400), (0x2400, 0x120)])):
            memory = image.load(image.base)
            memory[page * 0x1000:(page + 1) * 0x1000] = bytes(len(memory[page * 0x1000:(page + 1) * 0x1000]))
            absent = []
            for start, size in ranges:  # what follows without a gap is one
                if absent and absent[-1]["rva"] + absent[-1]["size"] == start:
                    absent[-1]["size"] += size
                else:
                    absent.append({"rva": start, "size": size})
            answer = self.clean(image, memory, image.base)
            self.assertEqual(answer["absent"], absent)
            self.assertEqual(answer["bytes"]["absent"], sum(size for _, size in ranges))
            # The same in the layout of a file, which is that of memory here.
            self.assertEqual(self.clean(image, memory, image.base, "--dump-layout", "file")["absent"], absent)
            # One byte of what is not compared, and the page was there.
            memory[page * 0x1000 + (0x600 if page == 2 else 0)] = 1
            answer = self.compare(image, memory, status=1)
            self.assertEqual((answer["absent"], answer["hooked"]), ([], True))
        memory = image.load(image.base)
        memory[:0x1000] = bytes(0x1000)
        answer = self.compare(image, memory, status=1)  # no header proves the build
        self.assertEqual((answer["changes"], answer["hooked"]), ([], False))
        self.assertEqual(answer["absent"], [{"rva": 0, "size": 0xee1}, {"rva": 0xf00, "size": 0x100}])
        memory = image.load(image.base)
        memory[0x1800:] = bytes(len(memory) - 0x1800)
        answer = self.compare(image, memory[:0x1900], status=1)  # a few zeros are not a page
        self.assertEqual([(change["rva"], change["size"]) for change in answer["changes"]], [(0x1800, 0x100)])

    def test_nothing_is_read_from_a_page_that_is_not_there(self):
        image = wine("amd64", "ntdll.dll")
        text = next(section for section in image.sections if section[0] == ".text")
        gone = text[1] + 0x3000
        through = lambda pointer, at: b"\xff\x25" + struct.pack("<i", pointer - at - 6)
        for code, at, kind in ((through(gone + 0x100, gone - 0x200), gone - 0x200, "jump"),
                               (through(gone - 2, gone - 0x200), gone - 0x200, "jump"),
                               (b"\xe9\x11\x22", gone - 3, "code"),
                               (b"\xff\x25\x01\x01", gone - 4, "code")):
            memory = image.load(self.BASE)
            self.plant(image, memory, at, code)
            memory[gone:gone + 0x1000] = bytes(0x1000)
            answer = self.compare(image, memory, status=1)
            self.assertEqual(answer["absent"], [{"rva": gone, "size": 0x1000}])
            change, = answer["changes"]
            self.assertEqual((change["kind"], change["target"]), (kind, None), (code, change))

    def test_bytes_of_an_instruction_that_look_like_a_jump_are_none(self):
        image = wine("amd64", "ntdll.dll")
        # A stub of a system call: mov r10, rcx; mov eax, number.
        stub = next(rva for name, rva in sorted(image.exports().items()) if name.startswith("Nt")
                    and image.mapped[rva:rva + 4] == b"\x4c\x8b\xd1\xb8")
        memory = image.load(self.BASE)
        self.plant(image, memory, stub + 4, b"\x77\x71")
        change, = self.compare(image, memory, status=1)["changes"]
        self.assertEqual((change["start"], change["kind"], change["target"]), (stub + 3, "code", None))
        self.assertEqual(change["after"][:6], "b87771")

    def test_another_dump_names_where_a_hook_leads(self):
        image, other = wine("amd64", "kernel32.dll"), wine("amd64", "ntdll.dll")
        there = 0x7ffb20000000
        path = self.write("ntdll.dump", bytes(other.load(there)))
        memory, rva = image.load(self.BASE), image.exports()["CreateProcessW"]
        target = there + other.exports()["NtClose"]
        self.plant(image, memory, rva, b"\x48\xb8" + struct.pack("<Q", target) + b"\xff\xe0")
        answer = self.compare(image, memory, "--other-dump", path, status=1)
        change = self.only(answer, rva)
        self.assertEqual(change["target"]["module"], "ntdll.dll")
        self.assertIn(change["target"]["symbol"], ("NtClose", "ZwClose"))
        self.assertEqual(change["function"]["name"], "CreateProcessW")


class Kernels(Case):
    def test_rows_as_the_kernel_packs_them_and_one_that_leads_out(self):
        image = fixture("tables-x64-kernel-rva32")
        listed = strict_json(run("hooks", "tables", "--format", "json", image.path).stdout)
        table = listed["images"][0]["tables"][0]
        start, rows = table["rva"], table["entries"]
        base = image.base
        memory = image.load(base)
        for index, row in enumerate(rows):
            target, = struct.unpack_from("<I", image.mapped, start + 4 * index)
            self.assertEqual(target, row["rva"])
            packed = ((target - start) << 4 | (row["argument_bytes"] or 0) // 4) & 0xffffffff
            struct.pack_into("<I", memory, start + 4 * index, packed)
        answer = self.clean(image, memory, base)
        rule, = [rule for rule in answer["rules"] if rule["rule"] == "service_row"]
        self.assertEqual(rule["sites"], len(rows))
        self.assertGreater(rule["changed"], 0)
        struct.pack_into("<i", memory, start + 4 * 3, -0x12340)
        answer = self.compare(image, memory, status=1, command=("syscalls", "check"))
        row, = answer["service_rows"]
        self.assertEqual((row["number"], row["target"]["address"]), (3, base + start - 0x1234))
        self.assertEqual(answer["changes"], [])
        self.assertIn(("service", 3), {(point["kind"], point["number"])
                                       for point in answer["changed_points"]})
        # One that is as in the file among packed ones leads elsewhere, though no byte of it differs.
        packed = ((rows[3]["rva"] - start) << 4 | (rows[3]["argument_bytes"] or 0) // 4) & 0xffffffff
        struct.pack_into("<I", memory, start + 4 * 3, packed)
        self.clean(image, memory, base)
        struct.pack_into("<I", memory, start + 4 * 5, rows[5]["rva"])
        row, = self.compare(image, memory, status=1)["service_rows"]
        self.assertEqual((row["number"], row["target"]["address"]),
                         (5, base + start + (rows[5]["rva"] >> 4)))

    def test_the_number_of_services_among_code_is_no_function(self):
        image = fixture("tables-x86-kernel")
        find = lambda path: strict_json(run("hooks", "tables", "--format", "json", path).stdout)["images"][0]["tables"][0]
        table = find(image.path)
        # As in kernels of Windows XP: KiServiceLimit and KiArgumentTable lie in .text, behind the table.
        data = bytearray(image.path.read_bytes())
        moved = table["rva"] + 4 * len(table["entries"]) + 4
        place = table["file_offset"] + 4 * len(table["entries"]) + 4
        text = data.index(b".text\0\0\0")
        struct.pack_into("<I", data, text + 8, 0x800)  # its size in memory, as large as in the file
        for name, size in (("limit", 4), ("arguments", len(table["entries"]))):
            self.assertEqual(bytes(data[place:place + size]).strip(b"\0\xcc"), b"", name)
            data[place:place + size] = image.mapped[table[name]:table[name] + size]
            there = data.replace(struct.pack("<I", image.base + table[name]), struct.pack("<I", image.base + moved))
            self.assertNotEqual(there, data, name)
            data, place, moved = there, place + 64, moved + 64
        kernel = Pe(self.write("ntoskrnl.exe", bytes(data)))
        found = find(kernel.path)
        self.assertEqual(found["rva"], table["rva"])
        self.assertEqual(found["limit"], moved - 128)
        memory = kernel.load(kernel.base)
        memory[found["limit"]] ^= 1
        memory[found["arguments"] + 2] ^= 4
        answer = self.compare(kernel, memory, status=1, command=("syscalls", "check"))
        self.assertEqual({change["rva"] for change in answer["changes"]}, {found["limit"], found["arguments"] + 2})
        for change in answer["changes"]:
            self.assertIsNone(change["function"])
        self.assertEqual(answer["changed_points"], [])

    def values(self, answer):
        return {(found["structure"], found["member"], found["number"]): (found["rva"], found["value"], found["expected"])
                for found in answer["service_values"]}

    def test_tables_and_descriptors_that_lie_where_drivers_write(self):
        image = fixture("tables-x86-kernel")
        table, = strict_json(run("hooks", "tables", "--format", "json", image.path).stdout)["images"][0]["tables"]
        count, descriptor, base = len(table["entries"]), image.exports()["KeServiceDescriptorTable"], image.base + 0x340000
        writable = lambda rva: image.section_at(rva)[5] & WRITABLE
        self.assertTrue(writable(table["limit"]) and writable(table["arguments"]) and writable(descriptor))
        clean = image.load(base)
        self.clean(image, clean, base)  # the kernel has not filled the descriptor in
        words = (base + table["rva"], 0, count, base + table["arguments"])
        struct.pack_into("<4I", clean, descriptor, *words)
        self.clean(image, clean, base, command=("syscalls", "check"))
        name = "KeServiceDescriptorTable[0]"
        for at, size, value, expected in (
                (descriptor, 4, OUT, {(name, "base", None): (descriptor, OUT, words[0])}),
                (descriptor + 8, 4, count + 1, {(name, "limit", None): (descriptor + 8, count + 1, count)}),
                (descriptor + 12, 4, OUT, {(name, "arguments", None): (descriptor + 12, OUT, words[3])}),
                (descriptor + 16, 4, OUT, {("KeServiceDescriptorTable[1]", "base", None): (descriptor + 16, OUT, 0)}),
                (table["limit"], 4, 7, {("KiServiceTable", "limit", None): (table["limit"], 7, count)}),
                (table["arguments"] + 5, 1, 0x44, {("KiServiceTable", "argument_bytes", 5):
                                                    (table["arguments"] + 5, 0x44, clean[table["arguments"] + 5])})):
            with self.subTest(rva=hex(at)):
                memory = bytearray(clean)
                memory[at:at + size] = value.to_bytes(size, "little")
                answer = self.compare(image, memory, status=1)
                self.assertEqual(self.values(answer), expected)
                self.assertTrue(answer["hooked"])
                self.assertEqual((answer["changes"], answer["service_rows"]), ([], []))
                target = answer["service_values"][0]["target"]
                self.assertEqual(target and target["address"], OUT if value == OUT else None)
                text = run("pe", "compare", image.path, self.here / "module.dump").stdout.decode()
                self.assertIn(f"{at:#010x}  ", text)
                self.assertIn(" 1 service value, ", text)
        # A page that is not there tells nothing.
        memory = bytearray(clean)
        page = descriptor & ~0xfff
        memory[page:page + 0x1000] = bytes(0x1000)
        self.assertEqual(self.compare(image, memory)["service_values"], [])

    def test_rows_of_a_table_in_a_writable_section(self):
        image = fixture("tables-x86-kernel")
        table, = strict_json(run("hooks", "tables", "--format", "json", image.path).stdout)["images"][0]["tables"]
        data = bytearray(image.path.read_bytes())
        # As the tables of win32k of Windows XP: the section of the table is writable.
        at = data.index(b".text\0\0\0") + 36
        struct.pack_into("<I", data, at, struct.unpack_from("<I", data, at)[0] | WRITABLE)
        kernel = Pe(self.write("ntoskrnl.exe", bytes(data)))
        memory = kernel.load(kernel.base)
        self.clean(kernel, memory, kernel.base)
        struct.pack_into("<I", memory, table["rva"] + 4 * 9, OUT)
        row, = self.compare(kernel, memory, status=1)["service_rows"]
        self.assertEqual((row["number"], row["target"]["address"]), (9, OUT))
        memory[table["rva"] & ~0xfff:(table["rva"] & ~0xfff) + 0x1000] = bytes(0x1000)
        self.assertEqual(self.compare(kernel, memory)["service_rows"], [])

    def test_descriptors_that_symbols_name(self):
        image = fixture("tables-x64-kernel-rva32")
        listed = strict_json(run("hooks", "tables", "--format", "json", image.path).stdout)["images"][0]
        table, pdb = listed["tables"][0], listed["identity"]["pdb"]
        start, count, base = table["rva"], len(table["entries"]), 0xfffff80312340000
        data = next(section for section in image.sections if section[0] == ".data")
        places = {"KeServiceDescriptorTable": data[1], "KeServiceDescriptorTableShadow": data[1] + 64}
        symbols = {"metadata": {"format": "6.2.0", "producer": {"name": "t", "version": "1", "datetime": "2026-01-01T00:00:00"},
                                "windows": {"pdb": {"GUID": pdb["guid"].replace("-", "").upper(), "age": pdb["age"],
                                                    "database": pdb["name"], "machine_type": 0x8664}}},
                   "base_types": {}, "enums": {}, "user_types": {},
                   "symbols": {name: {"address": rva} for name, rva in places.items()}}
        names = "--pdb", self.write("ntoskrnl.json", json.dumps(symbols).encode())
        clean = image.load(base)
        own, win32k = (base + start, 0, count, base + table["arguments"]), (0xfffff960000000a0, 0, 3, 0xfffff96000001000)
        struct.pack_into("<8Q", clean, data[1], *own, 0, 0, 0, 0)
        struct.pack_into("<8Q", clean, data[1] + 64, *own, *win32k)
        module = "--known-module", r"\SystemRoot\System32\win32kfull.sys=0xfffff96000000000:0x100000"
        self.clean(image, clean, base, *names)
        self.clean(image, clean, base, *names, *module)
        for offset, value, found, more in (
                (64, OUT, ("KeServiceDescriptorTableShadow[0]", "base"), ()),
                (80, 2, ("KeServiceDescriptorTableShadow[0]", "limit"), ()),
                (32, OUT, ("KeServiceDescriptorTable[1]", "base"), ()),
                (96, base + start, ("KeServiceDescriptorTableShadow[1]", "base"), ()),
                (96, OUT, ("KeServiceDescriptorTableShadow[1]", "base"), module)):
            with self.subTest(offset=offset, more=more):
                memory = bytearray(clean)
                struct.pack_into("<Q", memory, data[1] + offset, value)
                change, = self.compare(image, memory, *names, *more, status=1)["service_values"]
                self.assertEqual((change["structure"], change["member"], change["rva"], change["value"]),
                                 (*found, data[1] + offset, value))
        # Nothing says where win32k is, and without symbols not where the descriptors are.
        struct.pack_into("<Q", clean, data[1] + 96, OUT)
        self.clean(image, clean, base, *names)
        struct.pack_into("<Q", clean, data[1], OUT)
        self.clean(image, clean, base)

    def test_windows_7_patches_its_own_context_switch(self):
        image = fixture("switch-7-x86")
        found = strict_json(run("hooks", "context-switch", "--format", "json", image.path).stdout)
        place = {entry["name"]: entry["rva"] for entry in found["images"][0]["context_switch"]["candidates"]}
        swap, other = place["SwapContext"], place["EnlightenedSwapContext"]
        base, memory = image.base, image.load(image.base)
        memory[swap:swap + 2] = b"\xeb\xf9"
        memory[swap - 5:swap] = b"\xe9" + struct.pack("<i", other - swap)
        self.clean(image, memory, base)
        memory[swap - 5:swap] = b"\xe9" + struct.pack("<I", (OUT - base - swap) & 0xffffffff)
        answer = self.compare(image, memory, status=1)
        hit = [change for change in answer["changes"] if change["hook_point"]]
        self.assertIn(("context_switch", "SwapContext", OUT),
                      {(change["hook_point"]["kind"], change["hook_point"]["name"],
                        change["target"]["address"]) for change in hit})


class Damage(Case):
    BASE = 0x7ffb12340000

    def test_what_is_not_there_is_no_change(self):
        image = wine("amd64", "ntdll.dll")
        memory = image.load(self.BASE)
        text = next(section for section in image.sections if section[0] == ".text")
        start = text[1] + 0x3000
        memory[start:start + 0x2000] = bytes(0x2000)
        answer = self.clean(image, memory, self.BASE)
        self.assertEqual(answer["absent"], [{"rva": start, "size": 0x2000}])
        self.assertIn("dump-absent", self.codes(answer))
        points = sum(start <= rva < start + 0x2000 for rva in
                     {rva for name, rva in image.exports().items() if name.startswith("Nt")})
        self.assertGreaterEqual(answer["hook_points"]["absent"], min(points, 1) if points else 0)
        cut = text[1] + 0x5800
        answer = self.compare(image, memory[:cut], status=1)
        self.assertEqual((answer["changes"], self.codes(answer) & {"dump-truncated"}),
                         ([], {"dump-truncated"}))
        missing = sum(address + pages(size) - max(address, cut)
                      for _, address, size, _, _, flags in image.sections
                      if not flags & WRITABLE and address + size > cut)
        self.assertEqual(answer["bytes"]["missing"], missing)

    def test_headers_that_are_gone_or_forged(self):
        image = wine("amd64", "ntdll.dll")
        memory = image.load(self.BASE)
        memory[:0x1000] = bytes(0x1000)
        answer = self.compare(image, memory, status=1)
        self.assertEqual((answer["changes"], answer["dump"]["base"], answer["dump"]["proved"]),
                         ([], self.BASE, False))
        self.assertIn("dump-unproved", self.codes(answer))
        memory = image.load(self.BASE)
        struct.pack_into("<Q", memory, image.base_field, 0x6660000)
        answer = self.compare(image, memory, status=1)
        self.assertEqual((answer["dump"]["base"], answer["changes"]), (self.BASE, []))
        self.assertIn("dump-base", self.codes(answer))
        # Without relocations: drivers begin at pages, programs at multiples of 64 KiB.
        for subsystem, fine, odd in ((1, 0x31000, 0x31800), (3, 0x30000, 0x31000)):
            file = bytearray(driver_with_sites())
            struct.pack_into("<H", file, 64 + 24 + 68, subsystem)
            bare = Pe(self.write("bare.sys", bytes(file)))
            for base, codes in ((bare.base + fine, set()), (bare.base + odd, {"dump-base"})):
                answer = self.compare(bare, bare.load(base), status=len(codes))
                self.assertEqual((answer["dump"]["base_source"], answer["dump"]["base"]),
                                 ("header", base))
                self.assertEqual(self.codes(answer) & {"dump-base"}, codes)
        memory = image.load(self.BASE)
        memory[image.optional + 64] ^= 1
        answer = self.compare(image, memory, status=1)
        self.assertIn("dump-headers", self.codes(answer))
        change, = answer["changes"]
        self.assertEqual((change["rva"], change["section"]), (image.optional + 64, None))

    def test_what_is_not_of_the_file_is_refused(self):
        image = wine("amd64", "ntdll.dll")
        memory = image.load(self.BASE)
        struct.pack_into("<I", memory, image.header + 8, 0x12345678)
        self.assertIn("TimeDateStamp is 0x12345678", self.compare(image, memory, status=2))
        other = wine("i386", "ntdll.dll")
        self.assertIn("it is for x86", self.compare(image, other.load(other.base), status=2))
        memory = image.load(self.BASE)
        self.assertIn(f"the base is {self.BASE:#x}",
                      self.compare(image, memory, "--base", "0x180000000", status=2))
        self.clean(image, memory, self.BASE, "--base", hex(self.BASE))
        for junk in (b"", b"text\n", bytes(0x10000), b"MZ" + bytes(62),
                     random.Random(3).randbytes(0x20000)):
            self.compare(image, junk, status=2)
        # Of a process, and of a kernel of 64 bits.
        for head, said in ((b"MDMP\x93\xa7", "it is a minidump"), (b"PAGEDU64", "a crash dump of a 64-bit kernel")):
            self.assertIn(said, self.compare(image, head + bytes(0x10000), status=2))
        self.assertEqual(run("pe", "compare", image.path, self.here).returncode, 2)
        self.assertEqual(run("pe", "compare", self.here, image.path).returncode, 2)
        dump = self.write("module.dump", bytes(memory))
        self.assertEqual(run("pe", "compare", image.path, dump, "-o", dump).returncode, 2)
        self.assertEqual(dump.read_bytes(), memory)

    def test_a_check_is_of_a_file_and_its_dump_or_of_both_sides(self):
        for arguments in ((), ("--pe", __file__), ("--dump", __file__), ("--ntdll", __file__),
                          ("--pe", __file__, "--dump", __file__, "--ntdll", __file__, "--kernel", __file__)):
            done = run("syscalls", "check", *arguments)
            self.assertEqual((done.returncode, done.stderr),
                             (2, b"coldtrace: give --ntdll and --kernel, or --pe and --dump\n"
                                 b"Run 'coldtrace syscalls check --help' for more information.\n"), arguments)
        done = run("syscalls", "check", "--pe", __file__, "--dump", __file__)
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith(f"coldtrace: {__file__}: ".encode()), done.stderr)

    def test_usage(self):
        image = wine("amd64", "ntdll.dll")
        for arguments in (("--pe", image.path), ("--dump", image.path), (),
                          ("--ntdll", image.path), ("--pe", image.path, "--dump", image.path,
                                                  "--ntdll", image.path, "--kernel", image.path),
                          ("--pe", image.path, "--dump", image.path, "--base", "1x"),
                          ("--pe", image.path, "--dump", image.path, "--known-module", "a=1"),
                          ("--pe", image.path, "--dump", image.path, "--known-module", "a=1:0"),
                          ("--ntdll", image.path, "--kernel", image.path, "--base", "1")):
            self.assertEqual(run("syscalls", "check", *arguments).returncode, 2, arguments)
        plain = wine("amd64", "user32.dll")
        answer = self.compare(plain, plain.load(plain.base), command=("syscalls", "check"), status=1)
        self.assertIn("no-services", self.codes(answer))

    def test_more_changes_than_are_listed(self):
        image = wine("amd64", "user32.dll")
        memory = image.load(self.BASE)
        fixed = list(image.fixed())
        last, count = -100, 0
        for rva in fixed:
            if rva - last > 40 and count < 17000:
                memory[rva] ^= 0xff
                last, count = rva, count + 1
        self.assertEqual(count, 17000)
        answer = self.compare(image, memory, status=1)
        self.assertIn("change-limit", self.codes(answer))
        self.assertLessEqual(len(answer["changes"]), 2 * 16384)
        limit, = [finding for finding in answer["findings"] if finding["code"] == "change-limit"]
        self.assertEqual(limit["count"], count - 16384)


def driver_with_sites(version=1):
    """A PE32+ with two imports, calls of them, and a table of dynamic relocations."""
    text, data = bytearray(0x200), bytearray(0x400)
    text[0:12] = b"\x48\xff\x15" + struct.pack("<i", 0x2000 - 0x1007) + b"\x0f\x1f\x44\0\0"
    text[0x20:0x2c] = b"\x48\xff\x15" + struct.pack("<i", 0x2008 - 0x1027) + b"\x0f\x1f\x44\0\0"
    text[0x40:0x45] = b"\xff\xe0\xcc\xcc\xcc"
    names = struct.pack("<QQQ", 0x20a0, 0x20b0, 0)
    data[0:24] = data[0x20:0x38] = names
    data[0x40:0x54] = struct.pack("<5I", 0x2020, 0, 0, 0x20c0, 0x2000)
    data[0xa0:0xa6], data[0xb0:0xb6], data[0xc0:0xc8] = b"\0\0One\0", b"\0\0Two\0", b"ntos.exe"
    config = bytearray(0xf0)
    struct.pack_into("<I", config, 0, 0xf0)
    struct.pack_into("<IH", config, 0xe0, 0x300, 2)
    data[0x100:0x1f0] = config
    calls = struct.pack("<III", 0x1000, 16, 0 << 13) + struct.pack("<I", 0x20 | 1 << 13)
    switch = struct.pack("<IIHH", 0x1000, 12, 0x40, 0)
    table = struct.pack("<QI", 3, len(calls)) + calls + struct.pack("<QI", 5, len(switch)) + switch
    data[0x300:0x308 + len(table)] = struct.pack("<II", version, len(table)) + table
    optional = struct.pack("<HBBIIIII", 0x20b, 0, 0, 0x200, 0x400, 0, 0, 0x1000)
    optional += struct.pack("<QII6HIIIIHH4QII", 0x140000000, 0x1000, 0x200, *[0] * 6, 0, 0x3000, 0x200,
                            0, 1, 0, 0, 0, 0, 0, 0, 16)
    directories = [(0, 0)] * 16
    directories[1], directories[10] = (0x2040, 40), (0x2100, 0xf0)
    optional += b"".join(struct.pack("<II", *entry) for entry in directories)
    headers = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0"
    headers += struct.pack("<HHIIIHH", 0x8664, 2, 7, 0, 0, len(optional), 0x22) + optional
    for name, rva, size, offset, flags in ((b".text", 0x1000, 0x200, 0x200, 0x60000020),
                                           (b".rdata", 0x2000, 0x400, 0x400, 0x40000040)):
        headers += struct.pack("<8sIIIIIIHHI", name, size, rva, size, offset, 0, 0, 0, 0, flags)
    return headers.ljust(0x200, b"\0") + bytes(text) + bytes(data)


def driver_with_defaults():
    """The same, of whose imports an API set has no host: its slots are addresses of the driver's own code."""
    file = bytearray(driver_with_sites().ljust(0xa00, b"\0"))
    data = 0x400
    file[data + 0xc0:data + 0xd0] = b"ext-ms-a-l1.dll\0"
    struct.pack_into("<QQ", file, data, 0x140001040, 0x140001042)
    struct.pack_into("<QQ", file, data + 0x70, 0x140001000, 0x140001020)
    # Base relocations of both slots and of two pointers that tell the base, behind all else.
    struct.pack_into("<II4H", file, 0x800, 0x2000, 16, 0xa000, 0xa008, 0xa070, 0xa078)
    struct.pack_into("<I", file, 64 + 24 + 56, 0x4000)
    struct.pack_into("<II", file, 64 + 24 + 112 + 8 * 5, 0x3000, 16)
    struct.pack_into("<H", file, 64 + 6, 3)
    struct.pack_into("<8sIIIIIIHHI", file, 64 + 24 + 240 + 80, b".reloc", 0x200, 0x3000, 0x200, 0x800,
                     0, 0, 0, 0, 0x42000040)
    return bytes(file)


class Sites(Case):
    def test_slots_of_an_api_set_without_host_are_no_damage_and_no_hook(self):
        image = Pe(self.write("driver.sys", driver_with_defaults()))
        self.assertEqual([at for at, _ in image.relocations()], [0x2000, 0x2008, 0x2070, 0x2078])
        listed = run("pe", "imports", image.path, "--format", "json")
        self.assertEqual((listed.returncode, listed.stderr), (0, b""))
        self.assertNotIn(b"import-slots", listed.stdout)
        for base in (image.base, 0xfffff80312340000):
            memory = image.load(base)
            struct.pack_into("<QQ", memory, 0x2000, base + 0x1040, base + 0x1042)
            answer = self.clean(image, memory, base)
            self.assertEqual(answer["import_slots"], {"count": 2, "filled": 0, "absent": 0})
            # The default of another function, or other code, is where a hook may lead.
            for address in (base + 0x1042, base + 0x1000):
                struct.pack_into("<Q", memory, 0x2000, address)
                slot, = self.compare(image, memory, status=1)["imports"]
                self.assertEqual((slot["slot"], slot["doubt"], slot["target"]["address"]), (0x2000, "inside", address))
        # The driver is the host itself, and exports the second function.
        file, base = bytearray(image.file), 0xfffff80312340000
        struct.pack_into("<10I", file, 0x840, 0, 0, 0, 0x30a0, 1, 1, 1, 0x3080, 0x3084, 0x3088)
        struct.pack_into("<IIH", file, 0x880, 0x1000, 0x3090, 0)
        file[0x890:0x894], file[0x8a0:0x8a7] = b"Two\0", b"ext.sys"
        struct.pack_into("<II", file, 64 + 24 + 112, 0x3040, 0x80)
        host = Pe(self.write("host.sys", bytes(file)))
        self.assertEqual(host.exports(), {"Two": 0x1000})
        memory = host.load(base)
        struct.pack_into("<QQ", memory, 0x2000, base + 0x1040, base + 0x1000)
        answer = self.clean(host, memory, base)
        self.assertEqual(answer["import_slots"], {"count": 2, "filled": 1, "absent": 0})
        struct.pack_into("<QQ", memory, 0x2000, base + 0x1000, base + 0x1000)
        slot, = self.compare(host, memory, status=1)["imports"]
        self.assertEqual((slot["slot"], slot["doubt"]), (0x2000, "inside"))
        # No code, and no API set.
        for at, value in ((0x400, struct.pack("<Q", 0x140002000)), (0x4c0, b"not-")):
            file = bytearray(image.file)
            file[at:at + len(value)] = value
            listed = run("pe", "imports", self.write("odd.sys", bytes(file)), "--format", "json")
            self.assertEqual(listed.returncode, 1)
            self.assertIn(b"import-slots", listed.stdout + listed.stderr)

    def test_what_a_kernel_writes_for_import_calls_must_lead_to_the_import(self):
        image = Pe(self.write("driver.sys", driver_with_sites()))
        base = image.base
        slots = (base - 0x100000, base - 0xff000)
        memory = image.load(base)
        struct.pack_into("<QQ", memory, 0x2000, *slots)
        for at, address in zip((0x1000, 0x1020), slots):
            memory[at:at + 12] = b"\xe8" + struct.pack("<i", address - base - at - 5) + \
                b"\x0f\x1f\x80\0\0\0\0"
        memory[0x1040:0x1045] = b"\xe9" + struct.pack("<i", 0x3040 - 0x1045)  # a thunk behind it
        answer = self.clean(image, memory, base)
        changed = {rule["rule"]: (rule["sites"], rule["changed"]) for rule in answer["rules"]}
        self.assertEqual((changed["import_call"], changed["switch_branch"]), ((2, 2), (1, 1)))
        struct.pack_into("<i", memory, 0x1001, OUT - base - 0x1005 & 0x7fffffff)
        change, = self.compare(image, memory, status=1)["changes"]
        self.assertEqual((change["rva"], change["rule"], change["kind"]),
                         (0x1000, "import_call", "call"))

    def test_pointers_of_control_flow_guard_lead_to_the_kernel_or_to_ntdll(self):
        for subsystem, provider in ((1, "ntoskrnl.exe"), (1, "ntkrpamp.exe"), (3, r"C:\Windows\System32\NTDLL.dll")):
            file = bytearray(driver_with_sites())
            struct.pack_into("<H", file, 64 + 24 + 68, subsystem)
            config = 0x500  # of the file; 0x2100 in memory
            # GuardCFCheckFunctionPointer and GuardCFDispatchFunctionPointer, and what they hold.
            struct.pack_into("<QQ", file, config + 112, 0x140002080, 0x140002088)
            struct.pack_into("<QQ", file, 0x480, 0x140001040, 0x140001042)
            image = Pe(self.write("guarded.sys", bytes(file)))
            base = image.base
            near = base - 0x100000
            clean = image.load(base)
            struct.pack_into("<QQ", clean, 0x2000, near, near + 0x1000)
            self.clean(image, clean, base)  # as the file has them: nobody checks
            modules = lambda *more: [word for text in (f"{provider}={near - 0x10000:#x}:0x20000", *more)
                                     for word in ("--known-module", text)]
            struct.pack_into("<QQ", clean, 0x2080, near + 0x500, near + 0x600)
            self.clean(image, clean, base)
            self.clean(image, clean, base, *modules())
            far = base + (1 << 40)
            for address, options, doubt in ((far, [], "alone"), (far, modules(), "outside"), (base + 0x1000, [], "inside"),
                                            (far, modules(f"other.sys={far:#x}:0x1000"), "other"), (0, [], "zero")):
                with self.subTest(provider=provider, doubt=doubt):
                    memory = bytearray(clean)
                    struct.pack_into("<Q", memory, 0x2088, address)
                    answer = self.compare(image, memory, *options, status=1)
                    pointer, = answer["loader_pointers"]
                    self.assertEqual((pointer["name"], pointer["slot"], pointer["doubt"]),
                                     ("GuardCFDispatchFunctionPointer", 0x2088, doubt))
                    self.assertEqual(pointer["target"] and pointer["target"]["address"], address or None)
                    self.assertTrue(answer["hooked"])
                    self.assertEqual(answer["changes"], [])
                    text = run("pe", "compare", image.path, self.here / "module.dump", *options).stdout
                    self.assertIn(f"0x00002088  GuardCFDispatchFunctionPointer: ".encode(), text)
                    self.assertIn(f"({doubt})".encode(), text)

    def test_a_table_of_another_version_is_told(self):
        image = Pe(self.write("driver.sys", driver_with_sites(version=2)))
        answer = self.clean(image, image.load(image.base), image.base)
        self.assertIn("dynamic-relocations", self.codes(answer))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
