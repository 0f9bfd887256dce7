"""What an image's own files declare: a store of it is that of a folder with the same files, however they are kept.

The files are written by ntfs-3g, those that Windows keeps compressed by libwim; ntfscat reads what it can.

usage: trace_image_schemas.py COLDTRACE PROJECT COMPILE_MANIFEST [unittest arguments]
"""
import ctypes
import ctypes.util
import gzip
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid
from importlib.machinery import SourceFileLoader
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from cli.trace.etl_writer import EtlWriter
from ntfs.shadow.shadow_writer import BLOCK, copy_on_write
from strict import strict_ndjson

COLDTRACE, PROJECT, COMPILE = (Path(a).resolve() for a in sys.argv[1:4])
recipe = SourceFileLoader("recipe", str(PROJECT / "fixtures/recipes/make-ntfs-image.py")).load_module()
FOLDER = Path(tempfile.mkdtemp(prefix="coldtrace-image-schemas-"))
GUID = "aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e0{:02x}"
IMAGE = "disk.img"
XPRESS, LZX = 1, 2
# Type of compression, bytes of a chunk and number of the algorithm. Source: wimlib.h, wof.h.
WOF = {"xpress4k": (XPRESS, 4096, 0), "lzx": (LZX, 32768, 1), "xpress8k": (XPRESS, 8192, 2),
       "xpress16k": (XPRESS, 16384, 3)}


def can_mount():
    return (os.geteuid() == 0 and os.path.exists("/dev/fuse") and shutil.which("ntfs-3g")
            and shutil.which("mkntfs") and shutil.which("fuser"))


def load_libwim():
    try:
        library = ctypes.CDLL("libwim.so.15")
    except OSError:
        return None
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    library.wimlib_create_compressor.argtypes = [ctypes.c_int, size, ctypes.c_uint, ctypes.POINTER(pointer)]
    library.wimlib_compress.argtypes = [pointer, size, pointer, size, pointer]
    library.wimlib_compress.restype = size
    return library


LIBWIM = load_libwim()


def compressed(data, form):
    """The stream WofCompressedData of a file."""
    kind, size, _ = WOF[form]
    compressor = ctypes.c_void_p()
    assert LIBWIM.wimlib_create_compressor(kind, size, 0, ctypes.byref(compressor)) == 0
    chunks = []
    for start in range(0, len(data), size):
        plain = data[start:start + size]
        packed = ctypes.create_string_buffer(len(plain))
        count = LIBWIM.wimlib_compress(plain, len(plain), packed, len(plain) - 1, compressor)
        chunks.append(packed.raw[:count] if count else plain)
    ends, at = b"", 0
    for chunk in chunks[:-1]:
        at += len(chunk)
        ends += struct.pack("<I", at)
    return ends + b"".join(chunks)


def wof_reparse(algorithm, provider=2):
    return struct.pack("<IHHIIII", 0x80000017, 16, 0, 1, provider, 1, algorithm)


def manifest(number, text="Painted %1"):
    name = f"Fixture-{number}"
    return (f'<instrumentationManifest><instrumentation><events><provider name="{name}" guid="{{{GUID.format(number)}}}">'
            f'<templates><template tid="t"><data name="Count{number}" inType="win:UInt32"/></template></templates>'
            '<events><event value="1" template="t"/></events></provider></events></instrumentation>'
            '</instrumentationManifest>')


def module(number):
    """A module that declares a provider of its own, with code, text, zeros and noise behind it."""
    source, made = FOLDER / f"{number}.man", FOLDER / f"{number}.dll"
    source.write_text(manifest(number))
    subprocess.run([COMPILE, source, made, "en-US", "5", f"10.0.{number}.1"], check=True)
    noise = random.Random(number)
    code = Path("/bin/bash").read_bytes()[100_000:260_000]
    return (made.read_bytes() + code + noise.randbytes(70_000) + bytes(20_000) +
            b"".join(b"line %d of text\r\n" % (i * number) for i in range(4000)))


def run(*arguments, status=0):
    done = subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True, timeout=300, cwd=FOLDER)
    if done.returncode != status:
        raise AssertionError((done.returncode, done.stderr.decode()))
    return done


def build(store, *arguments, status=0):
    """What was said, and the providers of the store by name."""
    said = run("schemas", "build", *arguments, "-o", store, "--verbose", status=status).stderr.decode()
    listed = json.loads(run("schemas", "list", "--schemas", store, "--format", "json").stdout)["providers"]
    return said, {row["name"]: row for row in listed}


def records():
    """Offsets of FILE records in the image by name."""
    done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--format", "ndjson", FOLDER / IMAGE], capture_output=True)
    return {line["path"].rsplit("/", 1)[1]: line["record_offset"] for line in strict_ndjson(done.stdout)
            if line["type"] == "file" and line.get("path") and line.get("record_offset") is not None}


def attribute(image, record, kind=0x80, named=False):
    """Where an attribute that is not resident starts."""
    at = record + struct.unpack_from("<H", image, record + 0x14)[0]
    while struct.unpack_from("<I", image, at)[0] != 0xFFFFFFFF:
        if struct.unpack_from("<I", image, at)[0] == kind and (image[at + 9] != 0) == named:
            return at
        at += struct.unpack_from("<I", image, at + 4)[0]
    raise AssertionError(hex(record))


def runs(image, at):
    """(first cluster, clusters) of a run list, whose holes are left out."""
    place, cluster = at + struct.unpack_from("<H", image, at + 0x20)[0], 0
    while image[place]:
        sizes = image[place]
        count = int.from_bytes(image[place + 1:place + 1 + (sizes & 15)], "little")
        delta = image[place + 1 + (sizes & 15):place + 1 + (sizes & 15) + (sizes >> 4)]
        if delta:
            cluster += int.from_bytes(delta, "little", signed=True)
            yield cluster, count
        place += 1 + (sizes & 15) + (sizes >> 4)


@unittest.skipUnless(can_mount(), "no FUSE, or not root")
class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = {}
        numbers = iter(range(1, 100))
        with recipe.Volume(FOLDER / IMAGE, 48 << 20, 4096) as volume:
            def keep(path, data):
                cls.files[path] = data
                return path

            volume.write(keep("Windows/System32/plain.dll", module(next(numbers))), cls.files["Windows/System32/plain.dll"])
            sparse = bytearray(module(next(numbers)))
            sparse[len(sparse):] = bytes(300_000) + b"end"
            with open(volume.write(keep("Windows/System32/drivers/sparse.sys", bytes(sparse))), "wb") as file:
                file.write(sparse[:-300_003])
                file.seek(300_000, os.SEEK_CUR)
                file.write(b"end")
            (volume.root / "Windows/compressed").mkdir()
            volume.attribute("Windows/compressed", "ntfs_attrib", struct.pack("<I", 0x800))
            path = keep("Windows/compressed/lznt1.exe", module(next(numbers)))
            volume.write(path, cls.files[path])
            path = keep("Windows/small.man", manifest(next(numbers)).encode())
            volume.write(path, cls.files[path])
            path = keep("Windows/written.dll", module(next(numbers)) + bytes(40_000))
            volume.write(path, cls.files[path][:-40_000] + b"W" * 40_000)
            if LIBWIM:
                for form in WOF:
                    path = keep(f"Windows/WinSxS/{form}.dll", module(next(numbers)))
                    cls.write_wof(volume, path, cls.files[path], form)
            path = keep("Windows/WinSxS/component/linked.dll", module(next(numbers)))
            volume.write(path, cls.files[path])
            os.link(volume.root / path, volume.root / "Windows/System32/linked.dll")
            keep("Windows/System32/linked.dll", cls.files[path])
            volume.write("Users/note.txt", b"nothing " * 20_000)
            volume.write("Users/empty")
        cls.cut_written()
        for path, data in cls.files.items():
            (FOLDER / "copy" / IMAGE / path).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / "copy" / IMAGE / path).write_bytes(data)
        cls.pristine = (FOLDER / IMAGE).read_bytes()

    @staticmethod
    def write_wof(volume, path, data, form, provider=2):
        volume.write(path)
        os.truncate(volume.root / path, len(data))
        volume.write(path + ":WofCompressedData", compressed(data, form))
        volume.attribute(path, "ntfs_reparse_data", wof_reparse(WOF[form][2], provider))

    @classmethod
    def cut_written(cls):
        """The end of a file was never written, whatever its clusters hold."""
        image = bytearray((FOLDER / IMAGE).read_bytes())
        at = attribute(image, records()["written.dll"])
        size, = struct.unpack_from("<Q", image, at + 0x30)
        struct.pack_into("<Q", image, at + 0x38, size - 40_000)
        (FOLDER / IMAGE).write_bytes(image)

    def tearDown(self):
        (FOLDER / IMAGE).write_bytes(self.pristine)

    def edit(self, change):
        image = bytearray(self.pristine)
        change(image, records())
        (FOLDER / IMAGE).write_bytes(image)

    def test_the_store_is_that_of_a_folder_with_the_same_files(self):
        said, providers = build("image.ctschemas", "--image", IMAGE)
        run("schemas", "build", "copy/" + IMAGE, "-o", "folder.ctschemas")
        self.assertEqual((FOLDER / "image.ctschemas").read_bytes(), (FOLDER / "folder.ctschemas").read_bytes())
        self.assertEqual(len(providers), len(self.files) - 1)  # of the linked one once
        for row in providers.values():
            path = row["file"].removeprefix(IMAGE + "/")
            self.assertEqual(row["sha256"], hashlib.sha256(self.files[path]).hexdigest(), path)
        self.assertIn(f"{IMAGE}/Windows/System32/linked.dll", {row["file"] for row in providers.values()})
        self.assertNotIn("content-", said)

    def test_ntfscat_reads_the_same(self):
        _, providers = build("cat.ctschemas", "--image", IMAGE)
        for row in providers.values():
            path = row["file"].removeprefix(IMAGE)
            if "WinSxS" in path:
                continue  # which it does not know
            data = subprocess.run(["ntfscat", "-f", FOLDER / IMAGE, path], capture_output=True, check=True).stdout
            self.assertEqual(row["sha256"], hashlib.sha256(data).hexdigest(), path)

    def test_files_are_kept_as_they_are_meant_to(self):
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--format", "ndjson", FOLDER / IMAGE], capture_output=True)
        rows = {line["path"]: line for line in strict_ndjson(done.stdout) if line["type"] == "file"}
        stream = {path: next(s for s in rows["/" + path]["streams"] if not s["name"]) for path in self.files}
        self.assertTrue(stream["Windows/small.man"]["resident"])
        self.assertTrue(stream["Windows/compressed/lznt1.exe"]["compressed"])
        self.assertTrue(stream["Windows/System32/drivers/sparse.sys"]["sparse"])
        for form in WOF if LIBWIM else ():
            self.assertEqual(rows[f"/Windows/WinSxS/{form}.dll"]["reparse"]["target"], form)

    @unittest.skipUnless(LIBWIM, "no libwim, which compresses")
    def test_events_are_decoded_by_the_schemas_of_the_disk(self):
        writer = EtlWriter()
        _, providers = build("decode.ctschemas", "--image", IMAGE)
        guid = {row["file"].rsplit("/", 1)[1]: row["guid"] for row in providers.values()}
        for time, name in enumerate(("lzx.dll", "lznt1.exe", "small.man")):
            writer.manifest(0, time, uuid.UUID(guid[name]), 1, 0, struct.pack("<I", 7))
        (FOLDER / "t.etl").write_bytes(writer.build())
        events = [line for line in strict_ndjson(run("decode", "t.etl", "--format", "ndjson", "--schemas",
                                                     "decode.ctschemas").stdout) if line["type"] == "event"]
        self.assertEqual([list(event["fields"].values()) for event in events[1:]], [[7]] * 3)

    def test_partitions_packed_images_and_more_inputs(self):
        start = 1 << 20
        entry = struct.pack("<B3sB3sII", 0, b"", 7, b"", start // 512, len(self.pristine) // 512)
        disk = bytearray(start) + self.pristine
        disk[446:462], disk[510:512] = entry, b"\x55\xaa"
        (FOLDER / "whole.img").write_bytes(disk)
        (FOLDER / "whole.img.gz").write_bytes(gzip.compress(disk, 1))
        (FOLDER / "extra.man").write_text(manifest(99))
        _, one = build("one.ctschemas", "--image", IMAGE)
        for image in ("whole.img", "whole.img.gz"):
            _, more = build("more.ctschemas", "extra.man", "--image", image)
            self.assertEqual(more.pop("Fixture-99")["file"], "extra.man")
            self.assertEqual({name: (row["file"], row["sha256"]) for name, row in more.items()},
                             {name: (row["file"].replace(IMAGE, image + "/partition1"), row["sha256"])
                              for name, row in one.items()})

    def test_damage_costs_its_file_and_is_told_where(self):
        names = {"plain.dll", "lznt1.exe"} | ({"lzx.dll", "xpress8k.dll"} if LIBWIM else set())
        for name in sorted(names):
            with self.subTest(name):
                places = []

                def change(image, known):
                    if name == "plain.dll":  # more than is mapped
                        at = attribute(image, known[name])
                        places.append(at + struct.unpack_from("<H", image, at + 0x20)[0])
                        struct.pack_into("<QQ", image, at + 0x30, 1 << 21, 1 << 21)
                        return
                    at = attribute(image, known[name], named=name != "lznt1.exe")
                    cluster, count = next(runs(image, at))
                    if name == "lznt1.exe":  # chunks that are none
                        places.append(cluster * 4096)
                        image[cluster * 4096:(cluster + 1) * 4096] = b"\xff" * 4096
                    else:  # a table that goes back
                        places.append(cluster * 4096)
                        struct.pack_into("<I", image, cluster * 4096, 0xFFFFFFF0)

                self.edit(change)
                said, providers = build("damaged.ctschemas", "--image", IMAGE, status=1)
                self.assertIn("content-damaged", said)
                self.assertRegex(said, name)
                offset = int(next(line for line in said.splitlines() if "content-damaged" in line)
                             .split(name + ": ")[1].split(":")[0], 16)
                self.assertTrue(places[0] <= offset < places[0] + 4096, (hex(offset), hex(places[0])))
                self.assertEqual(len(providers), len(self.files) - 2)

    def test_what_is_not_read_is_named(self):
        def encrypt(image, known):
            at = attribute(image, known["plain.dll"])
            struct.pack_into("<H", image, at + 0x0C, 0x4000)

        self.edit(encrypt)
        said, providers = build("encrypted.ctschemas", "--image", IMAGE)
        self.assertIn("content-encrypted", said)
        self.assertEqual(len(providers), len(self.files) - 2)

    @unittest.skipUnless(LIBWIM, "no libwim, which compresses")
    def test_contents_elsewhere(self):
        def change(tag, provider, algorithm=1):
            def edit(image, known):
                at = attribute(image, known["lzx.dll"], 0xC0)
                value = at + struct.unpack_from("<H", image, at + 0x14)[0]
                struct.pack_into("<IHHIIII", image, value, tag, 16, 0, 1, provider, 1, algorithm)
            return edit

        for edit, code, status in ((change(0x80000017, 1), "content-unsupported", 1),
                                   (change(0x80000017, 2, 4), "content-unsupported", 1),
                                   (change(0x9000101A, 2), "content-elsewhere", 0)):
            with self.subTest(code):
                self.edit(edit)
                said, providers = build("elsewhere.ctschemas", "--image", IMAGE, status=status)
                self.assertIn(code, said)
                self.assertEqual(len(providers), len(self.files) - 2)

    def test_a_file_that_stands_for_too_much(self):
        def grow(image, known):
            at = attribute(image, known["sparse.sys"])
            struct.pack_into("<QQ", image, at + 0x30, 1 << 40, 1 << 40)

        self.edit(grow)
        said, providers = build("grown.ctschemas", "--image", IMAGE, status=1)
        self.assertIn("content-unsupported", said)
        self.assertEqual(len(providers), len(self.files) - 2)

    def test_a_torn_record(self):
        def tear(image, known):
            image[known["small.man"] + 510] ^= 0xFF

        self.edit(tear)
        said, providers = build("torn.ctschemas", "--image", IMAGE, status=1)
        self.assertIn("content-damaged", said)
        self.assertEqual(len(providers), len(self.files) - 2)

    def test_cut_images_and_images_of_nothing(self):
        (FOLDER / IMAGE).write_bytes(self.pristine[:len(self.pristine) // 4])
        done = subprocess.run([COLDTRACE, "trace", "schemas", "build", "--image", IMAGE, "-o", "cut.ctschemas"],
                              capture_output=True, cwd=FOLDER)
        self.assertIn(done.returncode, (1, 2))
        run("schemas", "build", "--image", "extra-nothing.img", "-o", "none.ctschemas", status=2)
        run("schemas", "build", "-o", "none.ctschemas", status=2)
        run("schemas", "build", "copy", "--shadow", "1", "-o", "none.ctschemas", status=2)
        run("schemas", "build", "--image", IMAGE, "-o", IMAGE, status=2)  # an input
        self.assertFalse((FOLDER / "none.ctschemas").exists())


@unittest.skipUnless(can_mount(), "no FUSE, or not root")
class Shadows(unittest.TestCase):
    def test_shadow_copies_have_the_files_of_their_time(self):
        volume = recipe.Volume(FOLDER / "changed.img", 16 << 20, 4096)
        states = []
        for number in (50, 51):
            with volume:
                if number == 50:  # clusters that the store takes
                    volume.write("System Volume Information/room",
                                 b"".join(b"room %08d" % i + bytes(4083) for i in range(1024)))
                else:
                    (volume.root / "50.dll").unlink()
                volume.write(f"{number}.dll", module(number))
            states.append((FOLDER / "changed.img").read_bytes())
        room = [at for at in range(0, len(states[-1]), BLOCK)
                if all(states[-1][at + cluster:at + cluster + 5] == b"room " for cluster in range(0, BLOCK, 4096))]
        (FOLDER / "changed.img").write_bytes(copy_on_write(states, room).write())
        for asked, files in ((["1"], ["shadow1/50.dll"]), (["live"], ["51.dll"]), ([], ["51.dll"]),
                             (["all", "live"], ["51.dll", "shadow1/50.dll"])):
            with self.subTest(asked):
                options = [word for text in asked for word in ("--shadow", text)]
                _, providers = build("shadow.ctschemas", "--image", "changed.img", *options)
                self.assertEqual(sorted(row["file"] for row in providers.values()),
                                 sorted("changed.img/" + name for name in files))
                for row in providers.values():
                    self.assertEqual(row["sha256"], hashlib.sha256(module(int(row["file"][-6:-4]))).hexdigest())
        run("schemas", "build", "--image", "changed.img", "--shadow", "2", "-o", "none.ctschemas", status=2)


def tearDownModule():
    shutil.rmtree(FOLDER)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
