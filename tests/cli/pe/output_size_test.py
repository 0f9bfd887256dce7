"""Output is bounded by its input: images made to multiply what they hold do not.

usage: output_size_test.py COLDTRACE [unittest arguments]
docs/commands/pe.md states the bound. The images are built here, each around one way to say much with little.
"""
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from checksums import crc32c

COLDTRACE = Path(sys.argv[1]).resolve()
FACTOR = 200
SLACK = 256 << 10

RAW = 0x1000  # section data: RVA and offset are the same
STUB = RAW  # of a system call, in images with exports
KERNEL_STUB = RAW + 32  # ZwX of a kernel
EXPORTS, IMPORTS, RESOURCES, DEBUG, TLS, BOUND, DELAYED = 0, 1, 2, 6, 9, 11, 13


def image(payload, directories, *, plus=True, sections=(), symbols=None, dll=True):
    """An image with one section of everything, loaded where it lies."""
    machine = 0x8664 if plus else 0x14c
    payload = payload.ljust((len(payload) + 0xfff) // 0x1000 * 0x1000, b"\0")
    names = list(sections) or [b".all"]
    optional = struct.pack("<HBBIIIII", 0x20b if plus else 0x10b, 14, 0, len(payload), 0, 0, RAW, RAW)
    optional += b"" if plus else struct.pack("<I", 0)
    optional += struct.pack("<QII" if plus else "<III", 0x180000000 if plus else 0x10000000,
                            0x1000, 0x1000)
    optional += struct.pack("<HHHHHHIIIIHH", 10, 0, 0, 0, 10, 0, 0, RAW + len(payload), 0x1000, 0,
                            1, 0)
    optional += struct.pack("<QQQQ" if plus else "<IIII", 0x100000, 0x1000, 0x100000, 0x1000)
    optional += struct.pack("<II", 0, 16)
    table = [(0, 0)] * 16
    for index, place in directories.items():
        table[index] = place
    optional += b"".join(struct.pack("<II", *place) for place in table)
    table_at, count = symbols or (0, 0)
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0"
    head += struct.pack("<HHIIIHH", machine, len(names), 0, table_at, count, len(optional),
                        0x2022 if dll else 0x22)
    head += optional
    for i, name in enumerate(names):
        size, at = (len(payload), RAW) if i == 0 else (0, 0)
        head += struct.pack("<8sIIIIIIHHI", name, size or 0x1000,
                            at if i == 0 else RAW + len(payload) + i * 0x1000, size, at, 0, 0, 0, 0,
                            0xe0000020)
    assert len(head) <= RAW, len(head)
    return head.ljust(RAW, b"\0") + payload


class Payload:
    """Bytes of the section, with the RVA of each piece."""

    def __init__(self):
        self.bytes = bytearray()

    def add(self, piece, align=8):
        self.bytes += bytes(-len(self.bytes) % align)
        at = RAW + len(self.bytes)
        self.bytes += piece
        return at


def shared_imports(plus=True, delayed=False):
    """Thousands of descriptors with one lookup table of thousands of functions."""
    out = Payload()
    dll = out.add(b"d" * 200 + b".dll\0")
    by_name = out.add(b"\0\0" + b"F" * 200 + b"\0")
    thunk, word = ("<Q", 8) if plus else ("<I", 4)
    lookup = out.add(struct.pack(thunk, by_name) * 4000 + bytes(word))
    size = 32 if delayed else 20
    row = (struct.pack("<8I", 1, dll, 0, lookup, lookup, 0, 0, 0) if delayed
           else struct.pack("<5I", lookup, 0, 0, dll, lookup))
    at = out.add(row * 4000 + bytes(size))
    index = DELAYED if delayed else IMPORTS
    return image(bytes(out.bytes), {index: (at, size * 4001)}, plus=plus)


def ordinal_imports(dll=b"exporter.dll", ordinal=1, count=4000, step=0):
    out = Payload()
    name = out.add(dll + b"\0")
    lookup = out.add(b"".join(struct.pack("<Q", 1 << 63 | ordinal + i * step)
                              for i in range(count)) + bytes(8))
    at = out.add(struct.pack("<5I", lookup, 0, 0, name, lookup) + bytes(20))
    return image(bytes(out.bytes), {IMPORTS: (at, 40)}, dll=False)


def exports(names, functions, module=b"exporter.dll", forwarders=()):
    """`names`: pairs of text and index; one text is stored once. A function is an RVA or text."""
    out = Payload()
    places = {}
    stub = "4c8bd1b801000000f604250803fe7f0175030f05c3cd2ec3"  # of service 1
    assert out.add(bytes.fromhex(stub) + bytes(8)) == STUB
    of_kernel = "488bc4 fa 4883ec10 50 9c 6a10 488d0509000000 50 b801000000 e900010000 c3"
    assert out.add(bytes.fromhex(of_kernel)) == KERNEL_STUB
    start = out.add(bytes(40))
    for text in [name for name, _ in names] + [entry for entry in functions
                                               if isinstance(entry, bytes)] + [module]:
        if text not in places:
            places[text] = out.add(text + b"\0", 1)
    rvas = [places[entry] if isinstance(entry, bytes) else entry for entry in functions]
    end = out.add(b"")
    table = out.add(b"".join(struct.pack("<I", rva) for rva in rvas))
    name_table = out.add(b"".join(struct.pack("<I", places[name]) for name, _ in names))
    ordinals = out.add(b"".join(struct.pack("<H", index) for _, index in names))
    out.bytes[start - RAW:start - RAW + 40] = struct.pack(
        "<IIHHIIIIIII", 0, 0, 0, 0, places[module], 1, len(rvas), len(names), table, name_table,
        ordinals)
    return image(bytes(out.bytes), {EXPORTS: (start, end - start)})


def long_export_names():
    return exports([(b"N" * 60_000, 0)] * 5000, [RAW])


def odd_export_names():
    return exports([(b"\x01\xff" * 20_000, 0)] * 5000, [RAW])


def exports_of_one_stub():
    """Thousands of service names for one stub."""
    return exports([(b"NtA" + b"a" * 4000, 0)] * 4000 + [(b"ZwA" + b"a" * 4000, 0)], [STUB])


def exports_of_one_kernel_stub():
    return exports([(b"NtA" + b"a" * 4000, 0)] * 4000 + [(b"ZwA" + b"a" * 4000, 0)], [KERNEL_STUB])


def ordinal_with_many_names():
    return exports([(b"%02d" % i + b"n" * 400, 0) for i in range(64)], [RAW])


def chain_of_forwarders():
    text = b"f" * 2000
    return exports([], [b"exporter." + b"#%d" % (i + 2) + b"" for i in range(15)]
                   + [b"exporter." + text])


def resources():
    """A type with a long name, and resources with another long name that they share."""
    out = bytearray()
    long = struct.pack("<H", 30_000) + b"\x01\x02" * 30_000
    count = 3000
    root = 0
    names = 24
    leaves = names + 16 + count * 8
    data = leaves + 24 * count
    text = data + 16
    out += struct.pack("<IIHHHH", 0, 0, 0, 0, 1, 0) + struct.pack("<II", 1 << 31 | text,
                                                                 1 << 31 | names)
    out += struct.pack("<IIHHHH", 0, 0, 0, 0, count, 0)
    for i in range(count):
        out += struct.pack("<II", 1 << 31 | text, 1 << 31 | leaves + 24 * i)
    for i in range(count):
        out += struct.pack("<IIHHHH", 0, 0, 0, 0, 0, 1) + struct.pack("<II", 1033, data)
    out += struct.pack("<IIII", RAW, 1000, 0, 0) + long
    return image(bytes(out), {RESOURCES: (RAW + root, len(out))})


def section_names():
    """Sections whose names are one long text of the COFF string table."""
    table = struct.pack("<I", 4 + 255 + 1) + b"\x01" * 255 + b"\0"
    return image(table, {}, sections=[b".all"] + [b"/4"] * 80, symbols=(RAW, 0))


def debug_entries():
    out = Payload()
    at = out.add(struct.pack("<IIHHIIII", 0, 0, 0, 0, 4, 100, RAW, RAW) * 3000)
    return image(bytes(out.bytes), {DEBUG: (at, 28 * 3000)})


def bound_imports():
    out = Payload()
    at = out.add(struct.pack("<IHH", 1, 0xf000, 0) * 7000 + bytes(8))
    out.add(bytes(RAW + 0xf000 - RAW - len(out.bytes)))
    out.add(b"b" * 259 + b"\0", 1)
    return image(bytes(out.bytes), {BOUND: (at, 0x10000)})


def version_strings():
    def node(key, value=b"", children=b"", text=1):
        head = key.encode("utf-16-le") + b"\0\0"
        head += bytes(-(len(head) + 6) % 4)
        body = head + value
        body += bytes(-len(body + b"......") % 4) + children
        return struct.pack("<HHH", 6 + len(body), len(value) // (2 if text else 1), text) + body
    string = node("\x01", "\x02\0".encode("utf-16-le"))
    string += bytes(-len(string) % 4)
    table = node("040904b0", children=string * 1500)
    root = node("VS_VERSION_INFO", children=node("StringFileInfo", children=table), text=0)
    out = bytearray()
    out += struct.pack("<IIHHHHII", 0, 0, 0, 0, 0, 1, 16, 1 << 31 | 24)
    out += struct.pack("<IIHHHHII", 0, 0, 0, 0, 0, 1, 1, 1 << 31 | 48)
    out += struct.pack("<IIHHHHII", 0, 0, 0, 0, 0, 1, 1033, 72)
    out += struct.pack("<IIII", RAW + 88, len(root), 0, 0) + root
    return image(bytes(out), {RESOURCES: (RAW, len(out))})


def tls_callbacks():
    out = Payload()
    base = 0x180000000
    callbacks = out.add(struct.pack("<Q", base + RAW) * 20_000 + bytes(8))
    at = out.add(struct.pack("<QQQQII", base + RAW, base + RAW, base + RAW, base + callbacks, 0, 0))
    return image(bytes(out.bytes), {TLS: (at, 40)})


IMAGES = (shared_imports, long_export_names, odd_export_names, exports_of_one_stub, exports_of_one_kernel_stub,
          ordinal_with_many_names, chain_of_forwarders, ordinal_imports, resources, section_names,
          debug_entries, bound_imports, version_strings, tls_callbacks)
# Each with the formats that it has.
COMMANDS = (
    (("pe", "info"), ("text", "json", "csv")),
    (("pe", "info", "--details"), ("text", "json")),
    (("pe", "exports"), ("text", "json", "csv")),
    (("pe", "imports"), ("text", "json", "csv")),
    (("pe", "sections"), ("text", "json", "csv")),
    (("syscalls", "map"), ("text", "json", "csv", "j00ru-csv", "c-header")),
    (("hooks", "context-switch"), ("text", "json")),
    (("hooks", "locate", "SwapContext"), ("text", "json")),
    (("hooks", "derive", "X", "--at", "0x1040"), ("text", "json")),
    (("hooks", "tables"), ("text", "json", "csv")),
    (("hooks", "table", "--kernel"), ("text", "json")),
    (("hooks", "plan", "--function", "NtA", "--kernel"), ("text", "json")),
    (("hooks", "iat"), ("text", "json", "csv")),
)


class Bound(case.Case):
    worst = (0, "")

    def measure(self, size, *arguments):
        done = subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=100)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr[:500])
        written = len(done.stdout) + len(done.stderr)
        Bound.worst = max(Bound.worst, (written / size, " ".join(map(str, arguments))))
        self.assertLessEqual(written, FACTOR * size + SLACK)
        return done

    @classmethod
    def tearDownClass(cls):
        print("most bytes of output a byte of input: %.1f, %s" % cls.worst, file=sys.stderr)

    def test_every_command_on_every_image(self):
        for build in IMAGES:
            folder = self.here / build.__name__
            folder.mkdir()
            path = folder / "exporter.dll"
            path.write_bytes(build())
            size = path.stat().st_size
            for command, formats in COMMANDS:
                for form in formats:
                    with self.subTest(image=build.__name__, command=command, format=form):
                        self.measure(size, *command, path, "--format", form)

    def test_the_builders_make_what_they_say(self):
        """Else a bound would be kept by images that nobody reads."""
        def rows(build, command, column="name"):
            path = self.write("exporter.dll", build())
            done = subprocess.run([COLDTRACE, "pe", command, "--format", "csv", "-q", path],
                                  capture_output=True)
            return done.stdout.count(b"\n") - 1
        self.assertGreater(rows(shared_imports, "imports"), 4000)
        self.assertGreater(rows(ordinal_imports, "imports"), 3999)
        self.assertEqual(rows(ordinal_with_many_names, "exports"), 64)
        self.assertGreater(rows(long_export_names, "exports"), 1)
        self.assertEqual(rows(section_names, "sections"), 81)

    def test_two_images_and_the_table_of_one(self):
        multiplied = 0
        for build in IMAGES:
            path = self.write("exporter.dll", build())
            table = self.here / "made.hooktab"
            size = path.stat().st_size
            for command in (("syscalls", "compare", path, path),
                            ("syscalls", "check", "--ntdll", path, "--kernel", path)):
                for form in ("text", "json"):
                    with self.subTest(image=build.__name__, command=command[1], format=form):
                        self.measure(2 * size, *command, "--format", form)
            table.unlink(missing_ok=True)
            done = self.measure(size, "hooks", "table", "--kernel", path, "--format", "hooktab", "-o", table)
            if done.returncode == 2:
                self.assertIn(b"it is not a kernel", done.stderr)
                continue
            self.assertLessEqual(table.stat().st_size, FACTOR * size + SLACK)
            multiplied += self.measure_table(table, path)
        self.assertEqual(multiplied, 1, "images whose tables name services: that of a kernel")

    def measure_table(self, table, image):
        """Measures what is made of the table; true where it names a service."""
        size = table.stat().st_size
        for form in ("text", "json", "c-header"):
            with self.subTest(table=table, format=form):
                shown = self.measure(size, "hooks", "show", table, "--format", form)
        for form in ("text", "json"):
            self.measure(size + image.stat().st_size, "hooks", "verify", table, image, "--format",
                         form)
        merged = self.here / "merged.hooktab"
        self.measure(size, "hooks", "merge", table, "-o", merged)
        if merged.exists():
            self.assertLessEqual(merged.stat().st_size, FACTOR * size + SLACK)
        profile = self.write("wanted.profile", b"*\n")
        for form in ("text", "json"):
            done = self.measure(size, "hooks", "profile", "expand", profile, "--against", table,
                                "--format", form)
        return b"Nt" in shown.stdout or b"Zw" in shown.stdout or done.returncode == 0

    def test_a_table_whose_texts_are_one(self):
        """Every sentence of evidence is the same long text: docs/formats/hook-table-format.md."""
        data = bytearray((Path(__file__).parents[3] / "fuzz/corpus/hook_table/three").read_bytes())
        count, at = struct.unpack_from("<II", data, 20)
        sections = {bytes(data[row:row + 4]): (row, *struct.unpack_from("<IIII", data, row + 4))
                    for row in range(at, at + 20 * count, 20)}
        for length, whole in ((1000, True), (200_000, False)):
            with self.subTest(length=length):
                forged = bytearray(data)
                row, _, start, _, size = sections[b"TEXT"]
                texts = bytes(data[start:start + size]) + b"A" * length + b"\0"
                struct.pack_into("<I", forged, row + 8, len(forged))
                struct.pack_into("<I", forged, row + 16, len(texts))
                forged += texts
                _, _, services, width, rows = sections[b"SVCS"]
                words = sections[b"WORD"][2]
                for service in range(rows):
                    first, many = struct.unpack_from("<II", data, services + width * service + 36)
                    for word in range(first, first + many):
                        struct.pack_into("<I", forged, words + 4 * word, size)
                struct.pack_into("<II", forged, 12, len(forged), 0)
                struct.pack_into("<I", forged, 16, crc32c(forged))
                table = self.write("forged.hooktab", forged)
                for form in ("text", "json", "c-header"):
                    done = self.measure(len(forged), "hooks", "show", table, "--format", form)
                    self.assertEqual(done.returncode, 0 if whole else 2, done.stderr)
                    if not whole:
                        self.assertIn(b"texts.total: over the limit", done.stderr)

    def test_damage_is_said(self):
        for build, command, code in ((shared_imports, "imports", "import-count"),
                                     (long_export_names, "exports", "export-name"),
                                     (resources, "info", "resource-name")):
            with self.subTest(image=build.__name__):
                path = self.write("exporter.dll", build())
                done = self.measure(path.stat().st_size, "pe", command, path)
                self.assertEqual(done.returncode, 1)
                self.assertIn(code.encode(), done.stderr)

    def test_narrow_imports(self):
        for plus, delayed in ((False, False), (True, True), (False, True)):
            path = self.write("a.dll", shared_imports(plus, delayed))
            for command in ("pe imports", "hooks iat"):
                for form in ("text", "json", "csv"):
                    with self.subTest(plus=plus, delayed=delayed, command=command, format=form):
                        self.measure(path.stat().st_size, *command.split(), path, "--format", form)

    def test_slots_that_share_names_of_another_module(self):
        for build, ordinal in ((ordinal_with_many_names, 1), (chain_of_forwarders, 1)):
            program = self.write("program.exe", ordinal_imports(ordinal=ordinal))
            exporter = self.write("exporter.dll", build())
            size = program.stat().st_size + exporter.stat().st_size
            for arguments in ((), ("--function", "*")):
                for form in ("text", "json", "csv"):
                    with self.subTest(exporter=build.__name__, format=form):
                        done = self.measure(size, "hooks", "iat", program, "--format", form,
                                            *arguments)
                        self.assertGreater(len(done.stdout), 1000)

    def test_ways_through_a_chain_of_modules(self):
        """Each module imports from the next: who reaches the last one is a way for each."""
        size = 0
        count = 150
        for i in range(count):
            path = self.here / (f"m{i:03}" + "x" * 200 + ".dll")
            following = (f"m{i + 1:03}" + "x" * 200 + ".dll").encode()
            path.write_bytes(ordinal_imports(following, 1, 20) if i + 1 < count
                             else exports([], [RAW] * 20))
            size += path.stat().st_size
        done = self.measure(size, "hooks", "iat", "--dir", self.here, "--function", "*", "--format",
                            "json")
        self.assertIn(b'"path":', done.stdout)

    def test_what_is_left_out_of_an_import_plan_is_said(self):
        """Names that slots share, and functions whose indirect callers are not looked for."""
        program = self.write("program.exe", ordinal_imports(ordinal=1))
        exporter = self.write("exporter.dll", ordinal_with_many_names())
        size = program.stat().st_size + exporter.stat().st_size
        done = self.measure(size, "hooks", "iat", program, "--function", "*")
        self.assertIn(b"warning: iat-limit", done.stderr)
        for count in (1000, 1001):
            program.write_bytes(ordinal_imports(count=count, step=1))
            exporter.write_bytes(exports([], [RAW] * count))
            done = self.measure(1 << 20, "hooks", "iat", "-v", program, "--function", "*")
            self.assertNotIn(b"warning", done.stderr)
            self.assertEqual(b"info: iat-indirect-limit" in done.stderr, count > 1000)

    def test_a_chain_of_modules_that_is_too_long(self):
        for count, told in ((200, False), (300, True)):
            for i in range(count):
                following = f"m{i + 1:03}.dll".encode()
                (self.here / f"m{i:03}.dll").write_bytes(
                    ordinal_imports(following, 1, 1) if i + 1 < count else exports([], [RAW]))
            done = self.measure(1 << 20, "hooks", "iat", self.here / "m000.dll")
            self.assertEqual(b"warning: module-limit" in done.stderr, told, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
