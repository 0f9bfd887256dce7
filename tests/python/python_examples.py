"""The Python module: what its examples print is what other readers say of the same bytes; its types are those that it
declares, and it lets other threads run.

usage: python_examples.py BUILD SOURCES SHARED [unittest arguments]
"""
import array
import csv
import ctypes
import gzip
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
import unittest
import zipfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from case import Case  # noqa: E402
from sample_volumes import sample_volume  # noqa: E402

BUILD, SOURCES, SHARED = (Path(argument).resolve() for argument in sys.argv[1:4])
DEMO = BUILD / "demo"
COLDTRACE = BUILD / "cli/coldtrace"
MODULES = BUILD / "python"
EXAMPLES = sorted((SOURCES / "python/examples").glob("*.py"))


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, timeout=120, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode()


def module():
    sys.path.insert(0, str(MODULES))
    sys.dont_write_bytecode = True
    import coldtrace
    return coldtrace


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise unittest.SkipTest(f"no {program}")


def example(name, *arguments):
    """The rows that it prints, as words."""
    text = run(sys.executable, SOURCES / f"python/examples/{name}.py", *arguments,
               env={"PYTHONPATH": str(MODULES), "PYTHONDONTWRITEBYTECODE": "1"})
    return [line.split() for line in text.splitlines()]


class Volumes(Case):
    """Against the Sleuth Kit."""
    FILES = {"small.txt": b"resident", "large.bin": bytes(range(256)) * 3000, "middle.bin": os.urandom(70_001),
             "sectors.bin": bytes(range(1, 251)) * 2}  # in its record, and over the end of a sector

    def setUp(self):
        super().setUp()
        needs("mkntfs", "ntfscp", "fls", "icat")
        self.image = self.here / "volume.img"
        with self.image.open("wb") as file:
            file.truncate(4 << 20)
        run("mkntfs", "-F", "-q", "-s", "512", "-p", "0", "-H", "16", "-S", "63", self.image)
        for name, content in self.FILES.items():
            run("ntfscp", "-q", self.image, self.write(name, content), name)
        body = run("fls", "-r", "-p", "-m", "", self.image)
        # MD5|name|inode|mode|UID|GID|size|atime|mtime|ctime|crtime
        self.rows = [row for row in csv.reader(body.splitlines(), delimiter="|")
                     if "$FILE_NAME" not in row[1] and "OrphanFiles" not in row[1]]

    def test_largest(self):
        expected = sorted(((int(row[6]), row[1]) for row in self.rows
                           if row[3].startswith("r/r") and ":" not in row[1] and int(row[6]) > 0),
                          key=lambda row: (-row[0], row[1]))
        self.assertEqual(example("largest_files", self.image),
                         [[str(size), name] for size, name in expected[:10]])

    def test_contents(self):
        for name, content in self.FILES.items():
            self.assertEqual(example("file_hash", self.image, "/" + name),
                             [[hashlib.sha256(content).hexdigest(), "/" + name]])
        (stream,) = self.file("sectors.bin").streams
        self.assertEqual((stream.resident, len(stream.fixup_positions)), (True, 2))

    def test_an_image_without_a_volume_is_a_sentence(self):
        empty = self.write("zeros.img", bytes(1 << 20))
        for name in "largest_files", "file_timeline", "file_hash":
            with self.subTest(name=name), self.assertRaisesRegex(AssertionError, "OemId: bad magic") as failed:
                example(name, empty, *["/a"] * (name == "file_hash"))
            self.assertNotIn("Traceback", str(failed.exception))

    def test_a_path_that_is_not_there_is_a_sentence(self):
        with self.assertRaises(AssertionError) as failed:
            example("file_hash", self.image, "/none.txt")
        self.assertIn("/none.txt: no such file in the image", str(failed.exception))
        self.assertNotIn("Traceback", str(failed.exception))

    def file(self, name, volume=None):
        (found,) = (volume or self.volume()).files(where=f'path == "/{name}"')
        return found

    def volume(self, image=None):
        (volume,) = module().open_image(image or self.image).volumes()
        return volume

    # The flag, where runs begin, and units of 16 clusters; the size on the disk stands before the runs.
    COMPRESSED = (12, b"\1\0"), (32, b"\x48\0\4"), (64, None)

    def change_data(self, name, *changes):
        """Bytes of the file's $DATA in its FILE record, by their offset; None inserts eight."""
        at = self.file(name).record_offset
        with self.image.open("r+b") as file:
            file.seek(at)
            record = bytearray(file.read(1024))
            attribute = struct.unpack_from("<H", record, 20)[0]
            while struct.unpack_from("<I", record, attribute)[0] != 0x80:
                attribute += struct.unpack_from("<I", record, attribute + 4)[0]
            for offset, content in changes:
                start = attribute + offset
                if content is None:
                    for size in 24, attribute + 4:  # of the record and the attribute
                        record[size:size + 4] = (struct.unpack_from("<I", record, size)[0] + 8).to_bytes(4, "little")
                    record[start:510] = bytes(8) + record[start:502]
                else:
                    record[start:start + len(content)] = content
            file.seek(at)
            file.write(record)

    def test_what_was_not_written_is_zeros_and_compressed_bytes_are_refused(self):
        inode = next(row[2] for row in self.rows if row[1] == "/middle.bin")
        self.change_data("middle.bin", (56, struct.pack("<Q", 4321)))
        expected = subprocess.run(["icat", self.image, inode], capture_output=True, check=True).stdout
        self.assertEqual(expected, self.FILES["middle.bin"][:4321].ljust(70_001, b"\0"))
        self.assertEqual(example("file_hash", self.image, "/middle.bin")[0][0], hashlib.sha256(expected).hexdigest())
        for change in ((12, struct.pack("<H", 0x4000)),), self.COMPRESSED:
            self.change_data("middle.bin", *change)
            with self.assertRaisesRegex(AssertionError, "it is encrypted or compressed"):
                example("file_hash", self.image, "/middle.bin")

    def test_findings_are_counted_once_however_often_files_are_gone_through(self):
        self.change_data("middle.bin", (56, struct.pack("<Q", 1 << 40)))
        volume = self.volume()
        for fields in [], ["path"], []:
            list(volume.files(fields=fields))
            self.assertEqual([finding.count for finding in volume.findings if finding.code == "stream-valid"], [1])

    def test_what_is_asked_of_files_does_not_decide_what_is_found(self):
        self.change_data("middle.bin", (56, struct.pack("<Q", 1 << 40)))

        def look(fields, *, half):
            volume = self.volume()
            files = volume.files(fields=fields)
            rows = [next(files)] if half else list(files)
            told = [(finding.code, finding.count, finding.first_offset, finding.text) for finding in volume.findings]
            return rows, told, [finding.count for finding in volume.findings]

        for half in False, True:
            every, told, counts = look([], half=half)
            self.assertIn("stream-valid", [code for code, *_ in told])
            for fields in ["path"], ["size", "si"], ["links", "streams"], ["other_streams"], ["owner_sid", "path"]:
                rows = [tuple(getattr(file, name) for name in fields) for file in every]
                self.assertEqual(look(fields, half=half), (rows, told, counts), fields)

    def test_volumes_whose_boot_sectors_are_lost(self):
        """As the program reads them: by the copy of the boot sector, or by $MFT."""
        names = {row[1] for row in self.rows} - {"/$OrphanFiles"}
        content = bytearray(self.image.read_bytes())
        for at, change in ((0, bytes(512)), (3, b"XXXXXXXX")):
            image = self.write("lost.img", content[:at] + change + content[at + len(change):])
            volume = self.volume(image)
            self.assertLessEqual({f"/{name}" for name in self.FILES}, names & {file.path for file in volume.files()})
            self.assertEqual([finding.code for finding in volume.findings], ["boot-sector"])
            self.assertEqual(module().open_image(image).findings, [])
        content[:512] = content[-512:] = bytes(512)
        disk = bytearray(16 << 20)
        disk[1 << 20:5 << 20] = content
        disk[(8 << 20) + 3:(8 << 20) + 11] = b"-FVE-FS-"
        disk[510:512] = b"\x55\xaa"
        for entry, start, length in ((446, 2048, 8192), (462, 14336, 2048), (478, 16384, 2048)):
            struct.pack_into("<B3xB3xII", disk, entry, 0, 7, start, length)
        image = module().open_image(self.write("disk.img", disk))
        (volume,) = image.volumes()
        self.assertEqual((volume.number, volume.offset), (1, 1 << 20))
        self.assertLessEqual({f"/{name}" for name in self.FILES}, {file.path for file in volume.files()})
        told = {finding.code: (finding.count, finding.first_offset) for finding in image.findings}
        self.assertEqual((told["volume-unopened"][0], told["bitlocker-metadata"][0]), (1, 1))

    def test_members_are_those_of_json(self):
        disk = json.loads(run(COLDTRACE, "ntfs", "info", "-q", "--format", "json", self.image))
        rows = [json.loads(line) for line in run(COLDTRACE, "ntfs", "snapshot", "-q", self.image).splitlines()]
        image = module().open_image(self.image)
        (partition,) = image.partitions
        self.assertEqual((partition.holds, partition.number), (disk["partitions"][0]["holds"], None))
        mft = self.write("$MFT", subprocess.run(["icat", self.image, "0"], capture_output=True, check=True).stdout)
        told = json.loads(run(COLDTRACE, "ntfs", "info", "-q", "--mft", "--format", "json", mft))["partitions"]
        self.assertEqual([one.holds for one in module().open_image(mft).partitions], ["ntfs_mft"])
        self.assertEqual([one["holds"] for one in told], ["ntfs_mft"])
        (volume,) = image.volumes()
        files = [file for file in volume.files(states=["live"])]
        rows = [row for row in rows if row["type"] == "file" and row["state"] == "live"]
        self.assertEqual(len(files), len(rows))
        for file, row in zip(files, rows):
            for name in "path", "security_id", "usn", "object_id":
                self.assertEqual(getattr(file, name), row[name], name)
            for stream, told in zip(file.streams, row["streams"], strict=True):
                self.assertEqual((stream.id, list(stream.fixup_positions)), (told["id"], told["fixup_positions"]))
        mft = self.write("mft", subprocess.run(["icat", self.image, "0"], capture_output=True, check=True).stdout)
        copied = self.volume(mft)
        self.assertEqual((copied.number, copied.offset, copied.cluster_size), (None, None, None))

    def test_times(self):
        expected = {(row[1], row[8]) for row in self.rows if row[1].strip("/") in self.FILES}
        found = {(row[2], row[0]) for row in example("file_timeline", self.image)}
        self.assertEqual(len(expected), len(self.FILES))
        self.assertLessEqual(expected, found)

    def test_partitions(self):
        needs("sfdisk", "mmls")
        disk = self.here / "disk.img"
        with disk.open("wb") as file:
            file.truncate(8 << 20)
        subprocess.run(["sfdisk", "-q", disk], input=b"label: dos\n2048,8192,7\n", check=True)
        with disk.open("r+b") as file:
            file.seek(2048 * 512)
            file.write(self.image.read_bytes()[:8192 * 512])
        (row,) = re.findall(r"^\d+:\s+000:000\s+0*(\d+)\s+\d+\s+0*(\d+)", run("mmls", disk), re.M)
        start, length = (int(number) * 512 for number in row)
        (found,) = [row for row in example("disk_partitions", disk) if row[0] == "1"]
        self.assertEqual(found[1:3], [str(start), str(length)])


class Traces(Case):
    """Against what another reader wrote of a real trace."""

    def setUp(self):
        super().setUp()
        self.trace = SHARED / "samples/etl/dp_vsgc.etl"
        if not self.trace.exists():
            raise unittest.SkipTest("no sample traces")
        with gzip.open(self.trace.with_suffix(".tsv.gz"), "rt") as file:
            self.rows = list(csv.DictReader(file, delimiter="\t"))

    def test_providers(self):
        counts = Counter(row["provider"] for row in self.rows)
        expected = [[str(count), guid] for guid, count in
                    sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
        self.assertEqual(example("events_by_provider", self.trace), expected)

    def test_threads(self):
        thread = "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"
        expected = sorted(int(row["ts"]) for row in self.rows
                          if row["provider"] == thread and row["opcode"] == "1")
        found = example("thread_starts", self.trace)
        self.assertGreater(len(expected), 1000)
        self.assertEqual([int(row[0]) for row in found], expected)


class Images(Case):
    def test_exports(self):
        needs("llvm-readobj-14")
        text = run("llvm-readobj-14", "--coff-exports", DEMO / "demo-ntdll.dll")
        expected = [list(row) for row in
                    re.findall(r"Ordinal: (\d+)\n\s+Name: (\S+)\n\s+RVA: (0x[0-9A-F]+)", text)]
        self.assertGreater(len(expected), 50)
        self.assertEqual(example("exported_functions", DEMO / "demo-ntdll.dll"),
                         [[ordinal, rva.lower(), name] for ordinal, name, rva in expected])

    def test_system_calls(self):
        content = (DEMO / "demo-ntdll.dll").read_bytes()
        rows = example("system_calls", DEMO / "demo-ntdll.dll")
        self.assertGreater(len(rows), 20)
        for number, offset, _ in rows:
            # mov r10, rcx; mov eax, NUMBER
            stub = content[int(offset):int(offset) + 8]
            self.assertEqual(stub, b"\x4c\x8b\xd1\xb8" + int(number).to_bytes(4, "little"))

    def test_hook_table(self):
        kernel, table = DEMO / "demo-ntoskrnl.exe", self.here / "demo.hooktab"
        subprocess.run([COLDTRACE, "hooks", "table", "-q", "--kernel", kernel, "--format", "hooktab", "-o", table],
                       capture_output=True)
        done = subprocess.run([COLDTRACE, "hooks", "table", "-q", "--kernel", kernel, "--format", "json"],
                              capture_output=True)
        (build,) = json.loads(done.stdout)["builds"]
        rows = example("hook_targets", table, kernel)
        services = [[str(row["number"]), *row["names"]] for row in build["services"]]
        self.assertGreater(len(services), 20)
        head = [f"{build['images'][0]['identity']['time_date_stamp']:#x}", str(len(services)), "services"]
        self.assertEqual(rows, [head, *services] * 2)

    def test_structures(self):
        """The compiler's layout of C structures is that of ctypes."""
        needs("clang-14", "lld-link-14")

        class Part(ctypes.Structure):
            _fields_ = [("a", ctypes.c_uint8), ("b", ctypes.c_uint64)]

        class Whole(ctypes.Structure):
            _fields_ = [("first", ctypes.c_uint16), ("low", ctypes.c_uint32, 3), ("high", ctypes.c_uint32, 5),
                        ("part", Part), ("many", ctypes.c_uint16 * 5)]

        source = self.write("types.c", b"""
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
struct Part { u8 a; u64 b; };
struct Whole { u16 first; u32 low : 3; u32 high : 5; struct Part part; u16 many[5]; };
enum Side { left = -1, right = 7 };
struct Whole whole; enum Side side;
int _DllMainCRTStartup(void) { return (int)side + (int)whole.first; }
""")
        target = ["clang-14", "--target=x86_64-pc-windows-msvc", "-g", "-gcodeview", "-c", source.name, "-o", "types.obj"]
        run(*target, cwd=self.here)
        run("lld-link-14", "/dll", "/debug", "/nodefaultlib", "types.obj", "/out:types.dll", cwd=self.here)
        rows = example("structure_layout", self.here / "types.pdb", "Whole", "Side")
        expected = [["enum", "Side", "4"], ["-1", "left"], ["7", "right"],
                    ["struct", "Whole", str(ctypes.sizeof(Whole))]]
        for name, kind, *bits in Whole._fields_:
            field = getattr(Whole, name)
            position = [str(field.size & 0xffff), str(field.size >> 16)] if bits else ["None", "None"]
            size = ctypes.sizeof(kind)
            expected.append([str(field.offset), str(size), name, *position])
        self.assertEqual(rows, expected)


class Module(Case):
    def setUp(self):
        super().setUp()
        self.module = module()

    def test_errors_are_exceptions(self):
        garbage = self.write("garbage", b"nothing of all that" * 100)
        for opener in ("open_trace", "open_pe", "open_types", "read_hook_tables"):
            with self.assertRaisesRegex(self.module.Error, "garbage: "):
                getattr(self.module, opener)(str(garbage))
        with self.assertRaisesRegex(self.module.Error, "missing: "):
            self.module.open_image(str(self.here / "missing"))
        (volume,) = self.module.open_image(str(DEMO / "demo-disk.img")).volumes()
        with self.assertRaisesRegex(self.module.Error, "where: 1:7: "):
            volume.files(where="size >")
        trace = self.module.open_trace(str(DEMO / "demo-trace.etl"))
        with self.assertRaisesRegex(self.module.Error, "where: events have no member trailing here"):
            trace.events(where="pid == 4 and exists trailing")
        with self.assertRaisesRegex(self.module.Error, "a File has no 'hue'"):
            volume.files(fields=["path", "hue"])
        with self.assertRaisesRegex(self.module.Error, "no state 'nowhere'"):
            volume.files(states=["nowhere"])

    def test_damaged_files_end(self):
        """Every 97th byte of the small inputs changed: an error, or rows with findings."""
        for name, read in (
                ("demo-disk.img", lambda path: [list(volume.files(slack=True)) for volume
                                                in self.module.open_image(path).volumes()]),
                ("demo-trace.etl", lambda path: list(self.module.open_trace(path).events())),
                ("demo-ntdll.dll", lambda path: self.module.open_pe(path).services())):
            content = bytearray((DEMO / name).read_bytes())
            for start in range(7):
                damaged = content[:]
                for at in range(start * 13, min(len(damaged), 1 << 16), 97):
                    damaged[at] ^= 0xff
                try:
                    read(str(self.write(f"{start}{name}", damaged)))
                except self.module.Error:
                    pass

    def test_packed_images_are_unpacked(self):
        plain = self.module.open_image(DEMO / "demo-disk.img")
        content = (DEMO / "demo-disk.img").read_bytes()
        packed = self.module.open_image(self.write("disk.gz", gzip.compress(content, 1)))
        self.assertEqual((packed.container, packed.size), ("gzip", len(content)))
        self.assertEqual([finding.code for finding in packed.findings], ["image-spooled"])
        self.assertEqual(*([[list(volume.files()) for volume in image.volumes()] for image in (plain, packed)]))
        self.assertEqual(packed.read(510, 2), content[510:512])
        cut = self.module.open_image(self.write("cut.gz", gzip.compress(content, 1)[:3000]))
        self.assertIn("packed-damaged", [finding.code for finding in cut.findings])
        with zipfile.ZipFile(self.here / "none.zip", "w") as file:
            file.writestr("a.txt", "no image")
        for name, start, said in (("none.zip", None, "it is a ZIP archive"), ("empty", b"", "it is empty"),
                                  ("a.rar", b"Rar!\x1a\x07\x00" + bytes(4000), "it is a RAR archive"),
                                  ("disk.E01.gz", gzip.compress(b"EVF\t\r\n\xff\0\1\1\0\0\0" + bytes(4000)),
                                   "EWF")):
            path = self.here / name if start is None else self.write(name, start)
            with self.assertRaisesRegex(self.module.Error, f"{name}: .*{said}"):
                self.module.open_image(path)

    def test_bytes_of_images_are_read_into_what_the_caller_has(self):
        content = (DEMO / "demo-disk.img").read_bytes()
        image = self.module.open_image(DEMO / "demo-disk.img")
        held = bytearray(b"x" * 1000)
        image.read_into(100, held)
        self.assertEqual(held, content[100:1100])
        image.read_into(3, memoryview(held)[10:20])
        self.assertEqual(held, content[100:110] + content[3:13] + content[120:1100])
        words = array.array("Q", [7] * 4)
        image.read_into(len(content) - 32, words)
        self.assertEqual(words.tobytes(), content[-32:])
        image.read_into(len(content), bytearray())
        for offset, size in ((len(content) - 3, 4), (len(content) + 1, 0), (0, len(content) + 1)):
            with self.assertRaisesRegex(self.module.Error, "not all inside"):
                image.read_into(offset, bytearray(size))
            with self.assertRaisesRegex(self.module.Error, "not all inside"):
                image.read(offset, size)
        for buffer in (bytes(4), memoryview(held)[::2], "text"):
            with self.assertRaises((TypeError, BufferError)):
                image.read_into(0, buffer)

    def test_packed_hook_tables_are_unpacked(self):
        table = self.here / "demo.hooktab"
        kernel = DEMO / "demo-ntoskrnl.exe"
        subprocess.run([COLDTRACE, "hooks", "table", "-q", "--kernel", kernel, "--format", "hooktab", "-o", table],
                       capture_output=True)
        packed = gzip.compress(table.read_bytes())
        self.assertEqual(self.module.read_hook_tables(self.write("packed.gz", packed)),
                         self.module.read_hook_tables(table))
        with self.assertRaisesRegex(self.module.Error, "compressed with gzip: .*cut off"):
            self.module.read_hook_tables(self.write("cut.gz", packed[:-40]))

    def test_other_kinds_of_files_are_named(self):
        kinds = {DEMO / "demo-ntdll.dll": "it is a PE image", DEMO / "demo-trace.etl": "it is an event trace",
                 DEMO / "demo-disk.img": "it is an NTFS volume", self.write("empty", b""): "it is empty",
                 self.write("x.gz", gzip.compress(b"words")): "it is compressed with gzip"}
        for path, said in kinds.items():
            for opener in ("open_types", "read_hook_tables", "open_pe", "open_trace"):
                if (path.name, opener) in (("demo-ntdll.dll", "open_pe"), ("demo-trace.etl", "open_trace")):
                    continue
                # Of a trace it is unpacked first.
                with self.assertRaisesRegex(self.module.Error, f"{said}|it is a text file, not a trace"):
                    getattr(self.module, opener)(path)

    def test_traces_that_change_say_so(self):
        copy = self.here / "copy.etl"
        for name in (SHARED / "samples/etl/dp_vsgc.etl", DEMO / "demo-trace.etl"):
            if not name.exists():
                continue
            shutil.copyfile(name, copy)
            trace = self.module.open_trace(copy)
            whole = list(trace.events())
            self.assertEqual(len(whole), len(trace))
            self.assertNotIn("trace-changed", [finding.code for finding in trace.findings])
            begun = trace.events()
            next(begun)
            os.truncate(copy, min(100_000, os.path.getsize(copy) // 2))
            for left in (list(begun), list(trace.events())):  # the first may have read all before
                self.assertLessEqual(len(left), len(whole))
            (finding,) = [finding for finding in trace.findings if finding.code == "trace-changed"]
            self.assertEqual((finding.severity, finding.count), ("warning", 1))
            self.assertRegex(finding.text, r"^\d+ buffers? could be read when the trace was opened, but not later$")

    def test_nothing_is_made_of_nothing(self):
        """Not even by None or __new__, which would be the end of the process: hence another one."""
        script = self.write("nothing.py", b"""
import coldtrace
from coldtrace import _coldtrace
types = [each for each in vars(_coldtrace).values() if "pybind11" in type(each).__name__]
assert len(types) == 9, types
tried = 0
for call in [coldtrace.build_hook_table, coldtrace.open_image, coldtrace.open_trace, coldtrace.open_pe,
             coldtrace.open_types, coldtrace.read_hook_tables, coldtrace.time_text,
             *[each for kind in types for name, each in vars(kind).items()
               if callable(each) and name != "__iter__" and "__init__" not in name],
             *[each.fget for kind in types for each in vars(kind).values() if isinstance(each, property)]]:
    try:
        call(None)
    except TypeError:
        tried += 1
    else:
        raise SystemExit(f"{call} takes None")
assert tried > 30, tried
for kind in types:
    for make in (kind, kind.__new__, object.__new__, type("Derived", (kind,), {"__init__": lambda self: None})):
        try:
            made = make(kind) if "__new__" in getattr(make, "__name__", "") else make()
        except TypeError:
            continue
        raise SystemExit(f"{kind}: {make} makes one")
""")
        run(sys.executable, script, env={"PYTHONPATH": str(MODULES), "PYTHONDONTWRITEBYTECODE": "1"})

    def test_jobs_have_a_limit(self):
        trace = DEMO / "demo-trace.etl"
        (volume,) = self.module.open_image(DEMO / "demo-disk.img").volumes()
        for jobs in (-1, 257, 10**9, 10**30):
            with self.assertRaisesRegex(ValueError, "jobs: 1 to 256"):
                self.module.open_trace(trace, jobs=jobs)
            with self.assertRaisesRegex(ValueError, "jobs: 1 to 256"):
                volume.files(jobs=jobs)
        for jobs in (1.5, None, "1"):
            with self.assertRaises(TypeError):
                volume.files(jobs=jobs)
        expected = list(volume.files())
        for jobs in (0, 1, 256):
            self.assertEqual(list(volume.files(jobs=jobs)), expected)
            self.assertEqual(len(self.module.open_trace(trace, jobs=jobs)), 8)

    def test_what_no_text_and_no_number_of_a_byte_is_told_as_such(self):
        """Not as arguments of a wrong type."""
        image = self.module.open_image(DEMO / "demo-disk.img")
        (volume,) = image.volumes()
        trace = self.module.open_trace(DEMO / "demo-trace.etl")
        types = self.module.open_types(SOURCES / "fuzz/corpus/pdb_types/members")
        for call in (lambda text: volume.files(where=text), lambda text: volume.files(states=["live", text]),
                     lambda text: volume.files(fields=[text]), lambda text: trace.events(where=text),
                     lambda text: self.module.open_trace(DEMO / "demo-trace.etl", languages=[text]),
                     lambda text: types.types("Whole", text)):
            with self.assertRaisesRegex(ValueError, "surrogates not allowed"):
                call("a\udc80")
            for wrong in (7, b"a"):
                with self.assertRaises(TypeError):
                    call(wrong)
        for call in (lambda number: image.read(number, 1), lambda number: image.read(0, number),
                     lambda number: image.read_into(number, bytearray(1)), volume.open_shadow,
                     lambda number: types.types("Whole", depth=number)):
            for number in (-1, -10**30, 1 << 64):
                with self.assertRaisesRegex(OverflowError, "a number is negative, or more than [0-9]{10}"):
                    call(number)
            with self.assertRaises(TypeError):
                call(1.0)

    def test_reads_that_fail_are_told(self):
        """Whichever of the reads of an image's tables fails: an error, or a finding."""
        needs("cc")
        probe, count = self.here / "probe.so", self.here / "count"
        run("cc", "-O1", "-w", "-fno-builtin", "-shared", "-fPIC", "-o", probe, SOURCES / "tests/cli/output/fault_probe.c", "-ldl")
        program = ("import coldtrace, sys\n"
                   "image = coldtrace.open_pe(sys.argv[1])\n"
                   "print(len(image.exports()), len(image.services()), *(found.code for found in image.findings))")

        def services(at):
            count.write_bytes(bytes(8))
            done = subprocess.run([sys.executable, "-c", program, DEMO / "demo-ntdll.dll"], capture_output=True, text=True,
                                  env={"PYTHONPATH": str(MODULES), "LD_PRELOAD": str(probe), "FAULT_KIND": "read",
                                       "FAULT_AT": str(at), "FAULT_LAST": str(at), "FAULT_COUNT": str(count)})
            return done, int.from_bytes(count.read_bytes(), "little")

        whole, calls = services(0)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.assertNotIn("unreadable-range", whole.stdout)
        told = 0
        for at in range(calls - 7, calls + 1):
            done, _ = services(at)
            if done.returncode != 0:
                self.assertIn("Error", done.stderr)
            elif done.stdout != whole.stdout:
                self.assertIn("unreadable-range", done.stdout)
                told += 1
        self.assertGreater(told, 0)

    def test_paths_are_those_of_os(self):
        odd = os.fsencode(self.here) + b"/\xff\xfe odd"
        for source, opener in (("demo-disk.img", "open_image"), ("demo-trace.etl", "open_trace"),
                               ("demo-ntdll.dll", "open_pe")):
            shutil.copyfile(DEMO / source, odd)
            for path in (odd, os.fsdecode(odd), Path(os.fsdecode(odd))):
                opened = getattr(self.module, opener)(path)
                if opener != "open_trace":
                    self.assertEqual(opened.path, os.fsdecode(odd))
        for opener in ("open_image", "open_trace", "open_pe", "open_types", "read_hook_tables"):
            with self.assertRaises(self.module.Error) as raised:
                getattr(self.module, opener)(odd + b" missing")
            self.assertIn(os.fsdecode(odd) + " missing: ", str(raised.exception))
            with self.assertRaisesRegex(ValueError, "null byte"):
                getattr(self.module, opener)(str(DEMO / "demo-disk.img") + "\0")
            for wrong in (None, 3, bytearray(odd)):
                with self.assertRaises(TypeError):
                    getattr(self.module, opener)(wrong)
        schemas = [odd, Path(os.fsdecode(odd))]
        trace = self.module.open_trace(DEMO / "demo-trace.etl", schemas=schemas)
        self.assertIn("schema-file", [finding.code for finding in trace.findings])
        self.module.open_image(DEMO / "demo-disk.img", parents=schemas)

    def test_states_and_filters_are_those_of_the_tool(self):
        image = DEMO / "demo-disk.img"
        (volume,) = self.module.open_image(str(image)).volumes()
        for where in ('state != "live"', "size > 100", 'si.modified >= 2020-01-01 and path like "/Users/*"'):
            done = subprocess.run([COLDTRACE, "ntfs", "query", "-q", image, "--where", where, "--format", "ndjson"],
                                  capture_output=True)
            rows = [row for row in map(json.loads, done.stdout.splitlines()) if row["type"] == "file"]
            files = list(volume.files(where=where))
            self.assertGreater(len(rows), 0, where)
            self.assertEqual([(row["path"], row["size"], row["state"], row["record"]) for row in rows],
                             [(file.path, file.size, file.state, file.record) for file in files])
            self.assertEqual([row["si"] and row["si"]["created"] for row in rows],
                             [file.si and self.module.time_text(file.si.created) for file in files])

    def test_zone_ids_are_asked_for_whenever(self):
        """The only file of the demonstration that was downloaded; a snapshot without what was asked for is taken anew."""
        (volume,) = self.module.open_image(DEMO / "demo-disk.img").volumes()
        self.assertGreater(len(list(volume.files())), 5)
        for slack in (False, True, False):
            self.assertEqual([file.path for file in volume.files(where="zone_id.zone == 3", slack=slack)],
                             ["/Users/alice/report.docx"])
        self.assertEqual(list(volume.files(where="zone_id.zone == 4")), [])
        self.assertEqual([file.path for file in volume.files(states=["all"])], [file.path for file in volume.files()])
        self.assertEqual([file.path for file in volume.files(states=["all"], slack=True)],
                         [file.path for file in volume.files(slack=True)])

    def test_versions_have_their_build(self):
        trace = DEMO / "demo-trace.etl"
        said = json.loads(run(COLDTRACE, "trace", "info", "-q", "--format", "json", trace))
        version = said["session"]["windows_version"]
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(self.module.open_trace(trace).windows_version, version)
        made = self.here / "run.ctrace"
        run(COLDTRACE, "trace", "synthesize", "deadlock-5", "-o", made)
        self.assertEqual(self.module.open_trace(made).windows_version, "5.2.3790")

    def test_names_that_nothing_has_are_told(self):
        trace = self.module.open_trace(DEMO / "demo-trace.etl", schemas=[DEMO / "demo-ntdll.dll"])
        self.assertIn("schema-unused", [finding.code for finding in trace.findings])
        for _ in range(2):
            self.assertEqual(list(trace.events(where="NoSuchField == 1")), [])
            (finding,) = [finding for finding in trace.findings if finding.code == "no-match"]
            self.assertIn("nothing matches 'NoSuchField'", finding.text)
            self.assertEqual(finding.count, 1)
        self.assertEqual(list(trace.events(where="OtherField == 1")), [])
        (finding,) = [finding for finding in trace.findings if finding.code == "no-match"]
        self.assertEqual((finding.count, "'NoSuchField'" in finding.text, "'OtherField'" in finding.text), (2, True, True))
        right = self.module.open_trace(DEMO / "demo-trace.etl")
        self.assertEqual(list(right.events(where="pid == 123456789")), [])
        self.assertEqual([finding.code for finding in right.findings if finding.code == "no-match"], [])

    def test_what_is_no_image_is_none(self):
        made = self.here / "run.ctrace"
        run(COLDTRACE, "trace", "synthesize", "deadlock-5", "-o", made)
        lines = self.write("files.ndjson", run(COLDTRACE, "ntfs", "snapshot", "-q", DEMO / "demo-disk.img").encode())
        for path, said in ((made, "not a disk or a volume"), (DEMO / "demo-ntdll.dll", "it is a PE image"),
                           (lines, "not a disk or a volume"), (self.write("ten", b"\x01\x02" * 5), "it has 10 bytes, which is not")):
            with self.assertRaisesRegex(self.module.Error, said):
                self.module.open_image(path)
        # A volume whose first sector is lost may be one still.
        lost = self.module.open_image(self.write("lost.img", os.urandom(1 << 16)))
        self.assertEqual(lost.volumes(), [])
        self.assertIn("volume-unopened", [finding.code for finding in lost.findings])
        disk = self.module.open_image(DEMO / "demo-disk.img")
        self.assertNotIn("volume-unopened", [finding.code for finding in disk.findings])

    def test_events_are_those_of_the_tool(self):
        trace = DEMO / "demo-trace.etl"
        done = subprocess.run([COLDTRACE, "trace", "decode", "-q", trace], capture_output=True)
        rows = [row for row in map(json.loads, done.stdout.splitlines()) if row["type"] == "event"]
        events = list(self.module.open_trace(str(trace)).events())
        self.assertEqual(len(rows), len(events))

        def plain(value):
            if isinstance(value, dict):
                return {name: plain(inner) for name, inner in value.items()}
            if isinstance(value, list):
                return [plain(inner) for inner in value]
            if isinstance(value, str) and re.fullmatch("0x[0-9a-f]+", value):
                return int(value, 16)
            return value

        for row, event in zip(rows, events):
            self.assertEqual((row["name"], row["pid"], row["tid"], row["cpu"], row["timestamp"], row["decoded"]),
                             (event.name, event.pid, event.tid, event.cpu, event.timestamp, event.decoded))
            self.assertEqual(row["time"], self.module.time_text(event.time))
            self.assertEqual(plain(row["fields"]), plain(event.fields))

    def test_rows_are_tuples_that_last(self):
        (volume,) = self.module.open_image(str(DEMO / "demo-disk.img")).volumes()
        rows = volume.files()
        del volume
        first = next(rows)
        others = list(rows)
        self.assertIsInstance(first, tuple)
        self.assertEqual(first.path, first[0])
        (again,) = self.module.open_image(str(DEMO / "demo-disk.img")).volumes()
        for name in ("path", "size", "si", "streams", "findings", "owner_sid", "state"):
            self.assertEqual([getattr(file, name) for file in [first, *others]],
                             [row[0] for row in again.files(fields=[name])])
        self.assertGreater(len(others), 5)

    def test_iterators_outlive_another_look(self):
        """One that has begun goes on when the volume is read again, with what is in slack."""
        (volume,) = self.module.open_image(str(DEMO / "demo-disk.img")).volumes()
        expected = list(volume.files())
        rows = volume.files()
        first = next(rows)
        self.assertLessEqual(len(expected), len(list(volume.files(slack=True))))
        self.assertEqual([first, *rows], expected)
        codes = [finding.code for finding in volume.findings]
        self.assertEqual(len(codes), len(set(codes)))

    def test_times_have_their_range(self):
        self.assertEqual(self.module.time_text(0), "1970-01-01T00:00:00.0000000Z")
        self.assertEqual(self.module.time_text(-11_644_473_600 * 10**9 + 100), "1601-01-01T00:00:00.0000001Z")
        for outside in (-10**20, 10**30):
            with self.assertRaises(OverflowError):
                self.module.time_text(outside)

    def lets_others_run(self, action, argument=lambda: ()):
        """Whether another thread gets on in one call. Python takes the lock from nobody here: the call itself must give it
        up, and does not come back before the other is awake in each of many tries."""
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(3600)
        for _ in range(200):
            given, go, ran = argument(), threading.Event(), []
            other = threading.Thread(target=lambda: (go.wait(), ran.append(True)))  # noqa: B023
            other.start()
            go.set()
            action(*given)
            seen = bool(ran)
            other.join()
            if seen:
                return True
        return False

    def test_other_threads_run(self):
        """While a trace is opened, and events and files are gone through or looked for."""
        self.assertFalse(self.lets_others_run(lambda: sum(range(10_000))))
        path, packed = SHARED / "samples/etl/dp_vsgc.etl", SHARED / "samples/ntfs/ntfs-ptrn.raw.gz"
        if not path.exists() or not packed.exists():
            raise unittest.SkipTest("no sample trace or volume")
        self.assertTrue(self.lets_others_run(lambda: self.module.open_trace(path)))
        trace = self.module.open_trace(path)
        self.assertEqual(len(trace), 75_931)
        (volume,) = self.module.open_image(sample_volume(packed)).volumes()
        long = " or ".join(f'path like "*a*e*{number}?*none"' for number in range(200))  # so that selecting takes a while
        for rows in (lambda: trace.events(where='name == "None"'), trace.events, lambda: volume.files(where=long)):
            # What makes the rows may give up the lock too, before; all of them are asked for in one call.
            self.assertTrue(self.lets_others_run(list, lambda: (rows(),)))  # noqa: B023

    def test_types_are_declared(self):
        if subprocess.run([sys.executable, "-c", "import mypy.stubtest"], capture_output=True).returncode != 0:
            raise unittest.SkipTest("no mypy")
        # Which metaclass and constructor pybind11 gives, and what tuples with names match by.
        allowed = self.write("allowed", b".*\\.__match_args__\n"
                                        b".*\\.(DiskImage|Volume|Trace|PeImage|TypeFile)(\\.__init__)?\n")
        paths = {"PYTHONPATH": str(MODULES), "MYPYPATH": str(MODULES), "PATH": "/usr/bin:/bin"}
        run(sys.executable, "-m", "mypy.stubtest", "coldtrace", "--allowlist", allowed, env=paths, cwd=self.here)
        run(sys.executable, "-m", "mypy", "--strict", *EXAMPLES, env=paths, cwd=self.here)
        right = self.write("right.py", b"import coldtrace\nimport pathlib\ncoldtrace.open_image(pathlib.Path('x'), "
                                       b"parents=[b'y'])\ncoldtrace.open_trace(b'x', schemas=['y'])\n")
        run(sys.executable, "-m", "mypy", "--strict", right, env=paths, cwd=self.here)
        wrong = self.write("wrong.py", b"import coldtrace\nsize: str = next(coldtrace.open_image('x')"
                                       b".volumes()[0].files()).size\n")
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", wrong], capture_output=True, env=paths,
                              cwd=self.here)
        self.assertIn(b"Incompatible types in assignment", done.stdout)


class Examples(unittest.TestCase):
    def test_each_has_a_test(self):
        text = Path(__file__).read_text()
        self.assertEqual(len(EXAMPLES), 10)
        # What an editor runs one by one: all that follows the imports.
        self.assertEqual([path.stem for path in EXAMPLES if not re.search(r"\nimport coldtrace\n\n# %% \w", path.read_text())], [])
        self.assertEqual([path.stem for path in EXAMPLES if f'example("{path.stem}"' not in text], [])


if __name__ == "__main__":
    del sys.argv[1:4]
    unittest.main()
