"""Disks of virtual machines give what the raw disk gives; qemu-img makes them.

usage: virtual_disks.py COLDTRACE [unittest arguments]
"""
import ctypes.util
import gzip
import io
import lzma
import shutil
import struct
import subprocess
import sys
import tarfile
import unittest
import uuid
import zipfile
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from case import Case, installed  # noqa: E402
from strict import strict_json, strict_ndjson  # noqa: E402
from ntfs.journal import usn_writer as w  # noqa: E402

COLDTRACE = Path(sys.argv[1]).resolve()
FORMS = {"qcow2": ("qcow2", "qcow"), "packed.qcow2": ("qcow2", "qcow", "-c"),
         "first.qcow": ("qcow", "qcow"), "old.qcow2": ("qcow2", "qcow", "-o", "compat=0.10"), "small.qcow2": ("qcow2", "qcow", "-o", "cluster_size=4096"),
         "vhd": ("vpc", "vhdi"), "vhdx": ("vhdx", "vhdi"), "fixed.vhdx": ("vhdx", "vhdi", "-o", "subformat=fixed"),
         "sparse.vmdk": ("vmdk", "vmdk"), "stream.vmdk": ("vmdk", "vmdk", "-o", "subformat=streamOptimized"),
         "flat.vmdk": ("vmdk", "vmdk", "-o", "subformat=monolithicFlat"),
         "parts.vmdk": ("vmdk", "vmdk", "-o", "subformat=twoGbMaxExtentSparse")}
CONTAINERS = {"qcow": "qcow", "qcow2": "qcow", "vpc": "vhd", "vhdx": "vhdx", "vmdk": "vmdk"}


def needs(library):
    if ctypes.util.find_library(library) is None:
        raise unittest.SkipTest(f"lib{library} is not installed")


def crc32c(content):
    crc = 0xffffffff
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


# No directory lists the files of the volume, which snapshots tell.
STATUS = {"snapshot": 1, "journal": 0}


class PackedImages(Case):
    """A raw image in a packing gives what it gives alone, but for its name."""

    def setUp(self):
        super().setUp()
        self.history = w.History(20, 700, start=1 << 30)
        image, _ = w.volume(self.history, 4)
        self.image = image + bytes(-len(image) % 4096)
        self.raw = self.write("raw", self.image)
        self.expected = {command: self.lines(command, self.raw) for command in STATUS}

    def lines(self, command, path, *options, **given):
        done = subprocess.run([COLDTRACE, "ntfs", command, *options, path], capture_output=True, timeout=120, **given)
        self.assertEqual(done.returncode, STATUS[command], done.stderr)
        lines = strict_ndjson(done.stdout)
        name = {line["volume"].pop("image") for line in lines if line["type"] in ("file", "record") and line["volume"]}
        self.assertLessEqual(name, {Path(path).name})
        return lines

    def check(self, path, container, **given):
        for command, (header, *rows, summary) in self.expected.items():
            with self.subTest(container, command=command):
                first, *others, last = self.lines(command, path, **given)
                self.assertEqual(others, rows)
                self.assertEqual(first.pop("disk").pop("container"), container)
                self.assertEqual(first, {name: value for name, value in header.items() if name != "disk"})
                self.assertEqual(last["counts"], summary["counts"])
                told, = (finding for finding in last["findings"] if finding["code"] == "image-spooled")
                self.assertIn(f"{len(self.image)} bytes", told["text"])

    def archive(self, name, *members):
        path = self.here / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for member, content in members:
                file.writestr(member, content)
        return path

    def test_packings_and_archives(self):
        notes = ("folder/notes.txt", b"where it is from\n")
        self.check(self.write("a.gz", gzip.compress(self.image, 1)), "gzip")
        self.check(self.archive("a.zip", notes, ("deep/er/disk.dd", self.image)), "zip")
        self.check(self.archive("b.zip", ("a.gz", gzip.compress(self.image, 1))), "zip")
        self.check(self.write("a.xz", lzma.compress(self.image, preset=0)), "xz")
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w:bz2") as file:
            file.add(self.raw, "disk")
        self.check(self.write("a.tar.bz2", tar.getvalue()), "bzip2")
        if installed(self, "zstd"):
            subprocess.run(["zstd", "-q", self.raw, "-o", self.here / "a.zst"], check=True)
            self.check(self.here / "a.zst", "zstandard")

    def test_images_of_other_kinds_in_archives_and_pipes(self):
        if shutil.which("qemu-img") is None:
            self.skipTest("qemu-img is not installed")
        self.image += bytes(-len(self.image) % (1 << 20))
        self.raw.write_bytes(self.image)
        found = []
        for name, (form, library, *options) in FORMS.items():
            if name not in ("qcow2", "vhd", "vhdx", "stream.vmdk") or ctypes.util.find_library(library) is None:
                continue
            path = self.here / "disk"
            subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", form, *options, self.raw, path], check=True)
            found.append((CONTAINERS[form], path.read_bytes()))
        if installed(self, "ewfacquirestream"):
            subprocess.run(["ewfacquirestream", "-q", "-t", self.here / "disk"], input=self.image,
                           check=True, capture_output=True)
            found.append(("ewf", (self.here / "disk.E01").read_bytes()))
        self.assertGreater(len(found), 1)
        for container, content in found:
            for path, given in ((self.archive("a.zip", ("notes.txt", b"text\n"), ("in/disk", content)), {}),
                                (self.write("a.gz", gzip.compress(content, 1)), {}), ("-", {"input": content})):
                with self.subTest(container, path=str(path)):
                    (header, *rows, _), (first, *others, last) = (
                        self.expected["journal"], self.lines("journal", path, **given))
                    self.assertEqual(others, rows)
                    self.assertEqual(first["disk"]["container"], container)
                    self.assertIn("image-spooled", {finding["code"] for finding in last["findings"]})
            if container == "ewf":  # another segment follows, it says
                torn = content.replace(b"done".ljust(16, b"\0"), b"next".ljust(16, b"\0"))
                said = subprocess.run([COLDTRACE, "ntfs", "journal", self.archive("torn.zip", ("disk", torn))],
                                      capture_output=True).stderr.decode()
                self.assertIn("ewf-segment", said)
                self.assertNotRegex(said, "segment [0-9]+, [0-9]*, ")
        # What lies in further files is not there, and said to be missing.
        base = self.here / "base.qcow2"
        subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", self.raw, base], check=True)
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", base, self.here / "child"],
                       check=True)
        child = self.archive("child.zip", ("child", (self.here / "child").read_bytes()))
        done = subprocess.run([COLDTRACE, "ntfs", "journal", child], capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("base.qcow2, which is not next to it; give the parent with --parent", done.stderr.decode())
        self.assertEqual(self.lines("journal", child, "--parent", base)[1:-1], self.expected["journal"][1:-1])

    def test_pipes(self):
        self.check("-", "raw", input=self.image)
        self.check("-", "gzip", input=gzip.compress(self.image, 1))

    def test_a_mft_and_a_journal(self):
        stream = self.write("J", self.history.journal.data)
        whole = self.lines("journal", stream)[1:-1]
        self.assertTrue(whole)
        for name, packed in (("J.gz", gzip.compress(self.history.journal.data)), ("-", None)):
            given = {} if packed else {"input": self.history.journal.data}
            self.assertEqual(self.lines("journal", self.write(name, packed) if packed else name, **given)[1:-1], whole)

    def test_partitions_of_a_packed_disk(self):
        sectors = len(self.image) // 512
        disk = bytearray(64 * 512)
        struct.pack_into("<B3xB3xII", disk, 446, 0, 7, 64, sectors)
        disk[510:512] = b"\x55\xaa"
        packed = self.write("disk.gz", gzip.compress(bytes(disk) + self.image, 1))
        for options in ((), ("--partition", "1"), ("--offset", str(64 * 512))):
            rows = self.lines("snapshot", packed, *options)[1:-1]
            self.assertEqual([row["path"] for row in rows], [row["path"] for row in self.expected["snapshot"][1:-1]])
            self.assertEqual({row["volume"]["start"] for row in rows}, {64 * 512})

    def test_damage_and_limits(self):
        packed = gzip.compress(self.image, 1)
        cut = self.write("cut.gz", packed[:len(packed) * 2 // 3])
        codes = {finding["code"] for finding in self.lines("snapshot", cut)[-1]["findings"]}
        self.assertLessEqual({"packed-damaged", "image-truncated"}, codes)
        limit = str(len(self.image) // 2)
        whole = self.write("whole.gz", packed)
        codes = {finding["code"] for finding in
                 self.lines("snapshot", whole, "--unpacked-limit", limit)[-1]["findings"]}
        self.assertLessEqual({"packed-limit", "image-truncated"}, codes)
        # Of a pipe that gives more than is allowed nothing is believed.
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "-", "--unpacked-limit", limit], input=self.image,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_what_is_refused(self):
        for path, words in (
                (self.archive("two.zip", ("a.dd", self.image), ("b.dd", self.image)), ["several", "a.dd, b.dd"]),
                (self.archive("none.zip", ("a.txt", b"text"), ("b.txt", b"text")), ["without an image", "a.txt, b.txt"]),
                (self.archive("empty.zip"), ["holds nothing"]),
                (self.write("empty.gz", gzip.compress(b"")), ["gzip"]),
                (self.write("text.gz", gzip.compress(b"hello\n" * 99)), ["a text file"]),
                (self.write("torn.gz", gzip.compress(self.image)[:9]), ["gzip"]),
                (self.archive("e01.zip", ("disk.E01", b"EVF\x09\r\n\xff\0" + bytes(4096))), ["E01", "unpacked (zip)"]),
                (self.archive("qcow.zip", ("a.qcow2", b"QFI\xfb\0\0\0\3" + bytes(4096))), ["QCOW2", "unpacked (zip)"])):
            with self.subTest(path.name):
                for options in ((), ("--offset", "0")):
                    done = subprocess.run([COLDTRACE, "ntfs", "snapshot", path, *options], capture_output=True)
                    self.assertEqual((done.returncode, done.stdout), (2, b""))
                    if not options:
                        for word in words:
                            self.assertIn(word, done.stderr.decode())
        before = (self.here / "text.gz").read_bytes()
        subprocess.run([COLDTRACE, "ntfs", "snapshot", self.here / "text.gz", "-o", self.here / "text.gz"],
                       capture_output=True)
        self.assertEqual((self.here / "text.gz").read_bytes(), before)


class VirtualDisks(Case):
    def setUp(self):
        super().setUp()
        if shutil.which("qemu-img") is None:
            self.skipTest("qemu-img is not installed")
        self.history = w.History(20, 700, start=1 << 30)
        image, self.places = w.volume(self.history, 4)
        # Its size is a whole number of what the formats count in.
        image += bytes(-len(image) % (1 << 20))
        self.raw = self.write("raw", image)
        self.expected = self.rows(self.raw)
        self.assertEqual(len(self.expected), len(self.history.truth))

    def run_ntfs(self, command, *arguments, status=0):
        done = subprocess.run([COLDTRACE, "ntfs", command, *map(str, arguments)], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self, *arguments, status=0):
        lines = strict_ndjson(self.run_ntfs("journal", *arguments, status=status).stdout)
        rows = [line for line in lines if line["type"] == "record"]
        # The name of the image is the last input's; all else is the raw disk's.
        self.assertEqual({(row["volume"].pop("image"), *row.pop("volume").values()) for row in rows},
                         {(Path(arguments[-1]).name, None, 0, None)} if rows else set())
        return rows

    def convert(self, name, form, *options):
        path = self.here / name
        subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", form, *options, self.raw, path], check=True)
        return path

    def refused(self, path, *words, options=()):
        said = self.run_ntfs("info", *options, path, status=2).stderr.decode()
        for word in words:
            self.assertIn(word, said)

    def test_each_gives_what_the_raw_disk_gives(self):
        for name, (form, library, *options) in FORMS.items():
            with self.subTest(name):
                needs(library)
                path = self.convert(name, form, *options)
                self.assertEqual(self.rows(path), self.expected)
                told = strict_json(self.run_ntfs("info", "--format", "json", path).stdout)
                self.assertEqual(told["disk"]["container"], CONTAINERS[form])
                volume = told["partitions"][0]["volume"]
                self.assertEqual(volume, strict_json(self.run_ntfs("info", "--format", "json", self.raw).stdout)
                                 ["partitions"][0]["volume"])

    def full(self, form, block, spare):
        """A container exactly as long as its disk, which ends with the copy of the boot sector."""
        if shutil.which("mkntfs") is None:
            self.skipTest("mkntfs is not installed")
        self.raw = self.write("full", bytes(64 << 20))
        subprocess.run(["mkntfs", "-F", "-q", "-c", "4096", self.raw], check=True, capture_output=True)
        image = bytearray(self.raw.read_bytes())
        zeros = [at for at in range(0, len(image), block) if image.count(0, at, at + block) == block]
        for at in zeros[:-spare]:
            image[at + block // 2] = 1
        self.raw.write_bytes(image)
        path = self.convert(f"full.{form}", form)
        self.assertEqual(path.stat().st_size, len(image))
        self.assertEqual(path.read_bytes()[-512:-480], image[:32])
        return path

    def snapshot(self, path, status):
        lines = strict_ndjson(self.run_ntfs("snapshot", path, status=status).stdout)
        for row in lines:
            if "volume" in row:
                row["volume"].pop("image", None)
        return ([row for row in lines if row["type"] == "file"], lines[0]["disk"]["container"],
                {finding["code"] for finding in lines[-1]["findings"]})

    def test_a_container_as_long_as_its_disk(self):
        # What speaks for a container: the first L1 entry (QEMU, docs/interop/qcow2.txt, block/qcow.c), both headers
        # ([MS-VHDX] 2.2.2), the first entry of the grain directory (VMware, "Virtual Disk Format 5.0").
        for form, library, block, spare in (("qcow2", "qcow", 65536, 5), ("qcow", "qcow", 4096, 33), ("vhdx", "vhdi", 8 << 20, 1),
                                            ("vmdk", "vmdk", 65536, 1)):
            with self.subTest(form):
                needs(library)
                path = self.full(form, block, spare)
                expected, container, codes = self.snapshot(self.raw, 0)
                self.assertEqual((container, codes), ("raw", set()))
                self.assertGreater(len(expected), 10)
                self.assertEqual(self.snapshot(path, 0), (expected, CONTAINERS[form], set()))
                # The head of one on a volume makes it none.
                head = path.read_bytes()[:512]
                mixed = self.write("mixed", head + self.raw.read_bytes()[len(head):])
                rows, container, codes = self.snapshot(mixed, 1)
                self.assertEqual((rows, container), (expected, "raw"))
                self.assertIn("first-bytes", codes)
                # Nor do tables lead anywhere, or headers fit.
                broken = bytearray(path.read_bytes())
                if form == "vmdk":
                    directory, = struct.unpack_from("<Q", broken, 56)
                    broken[directory * 512 + 3] ^= 0x40
                elif form != "vhdx":
                    broken[struct.unpack_from(">Q", broken, 40)[0] + 6] ^= 2
                else:
                    broken[(64 << 10) + 100] ^= 1
                    self.assertEqual(self.snapshot(self.write("one", broken), 1)[1:], ("vhdx", {"image-header"}))
                    broken[(128 << 10) + 100] ^= 1
                done = subprocess.run([COLDTRACE, "ntfs", "info", self.write("broken", broken)], capture_output=True, timeout=120)
                self.assertIn(b"first-bytes", done.stderr)

    def test_a_chain_of_backing_files(self):
        needs("qcow")
        base = self.convert("base.qcow2", "qcow2")
        for parent, child in (("base", "child"), ("child", "grand")):
            subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", f"{parent}.qcow2",
                            self.here / f"{child}.qcow2"], check=True)
        top = self.here / "grand.qcow2"
        self.assertEqual(self.rows(top), self.expected)
        # What the child has counts: one page of the journal is zeros there.
        page = self.places[5]
        subprocess.run(["qemu-io", "-c", f"write -q -P 0 {page} 4096", top], check=True)
        kept = [row for row in self.expected if not page <= row["offset"] < page + w.PAGE]
        self.assertLess(len(kept), len(self.expected))
        self.assertEqual([row["usn"] for row in self.rows(top, status=1)], [row["usn"] for row in kept])
        away = self.here / "away"
        away.mkdir()
        base.rename(away / "base.qcow2")
        self.refused(top, "image-parent", "base.qcow2", "give the parent with --parent")
        given = ("--parent", self.here / "child.qcow2", "--parent", away / "base.qcow2")
        self.assertEqual(len(self.rows(*given, top, status=1)), len(kept))
        (self.here / "base.qcow2").symlink_to("away/base.qcow2")
        self.refused(top, "image-parent")  # no link is followed
        for parent in given[1::2]:
            before = parent.read_bytes()
            self.run_ntfs("info", *given, top, "-o", parent, status=2)
            self.assertEqual(parent.read_bytes(), before)

    def test_a_loop_of_backing_files_ends(self):
        needs("qcow")
        one = self.convert("one.qcow2", "qcow2")
        two = self.here / "two.qcow2"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", "one.qcow2", two], check=True)
        subprocess.run(["qemu-img", "rebase", "-u", "-F", "qcow2", "-b", "two.qcow2", one], check=True)
        self.refused(two, "it names two.qcow2 as its parent, which is itself based on it")
        itself = self.here / "self.qcow2"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", itself, "1M"], check=True)
        subprocess.run(["qemu-img", "rebase", "-u", "-F", "qcow2", "-b", "self.qcow2", itself], check=True)
        self.refused(itself, "it names self.qcow2 as its parent, which is itself based on it")

    def test_a_parent_elsewhere_is_not_followed(self):
        needs("qcow")
        self.convert("base.qcow2", "qcow2")
        folder = self.here / "folder"
        folder.mkdir()
        for stated in ("../base.qcow2", str(self.here / "base.qcow2")):
            child = folder / "child.qcow2"
            subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", stated, child], check=True)
            self.refused(child, "image-parent", "its parent, base.qcow2, which is not next to it")
        self.convert("folder/disk.vmdk", "vmdk")
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "vmdk", "-b", "disk.vmdk", child], check=True)
        self.refused(child, "image-parent", "stated as vmdk", "libqcow does not accept", "qemu-img convert")

    def test_a_raw_backing_file(self):
        needs("qcow")
        child = self.here / "child.qcow2"
        for options in ((), ("-o", "compat=0.10")):
            subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", "raw", *options, child],
                           check=True)
            self.assertEqual(self.rows(child), self.expected)
        page = self.places[5]
        subprocess.run(["qemu-io", "-c", f"write -q -P 0 {page} 4096", child], check=True)
        kept = [row["usn"] for row in self.expected if not page <= row["offset"] < page + w.PAGE]
        self.assertEqual([row["usn"] for row in self.rows(child, status=1)], kept)
        # Nothing is stated: its bytes say that it is none of the other formats.
        data = bytearray(child.read_bytes())
        self.assertEqual(data[104:108], b"\xe2\x79\x2a\xca") if data[7] == 3 else None
        place = data.index(b"\xe2\x79\x2a\xca")
        data[place:place + 4] = b"\x12\x34\x56\x78"
        child.write_bytes(data)
        self.assertEqual([row["usn"] for row in self.rows(child, status=1)], kept)
        # What is stated as raw is raw: the bytes of a QCOW2 are those of the disk.
        inner = self.convert("inner.qcow2", "qcow2")
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", "inner.qcow2", child], check=True)
        self.refused(child, "QCOW2")
        subprocess.run(["qemu-img", "rebase", "-u", "-F", "qcow2", "-b", "inner.qcow2", child], check=True)
        self.assertEqual(len(inner.read_bytes()) > 0 and self.rows(child), self.expected)

    def test_one_that_is_marked_as_corrupt_is_read(self):
        needs("qcow")
        path = self.convert("image.qcow2", "qcow2")
        data = bytearray(path.read_bytes())
        struct.pack_into(">Q", data, 72, 2)
        path.write_bytes(data)
        self.assertEqual(self.rows(path, status=1), self.expected)
        done = self.run_ntfs("journal", path, status=1)
        self.assertIn("image-corrupt", {finding["code"] for finding in strict_ndjson(done.stdout)[-1]["findings"]})
        self.assertIn(b"QEMU marked image.qcow2 as corrupt", done.stderr)
        packed = self.write("packed.gz", gzip.compress(bytes(data), 1))
        self.assertIn(b"QEMU marked the image as corrupt", self.run_ntfs("journal", packed, status=1).stderr)
        # So does QEMU, where nothing is written.
        raw = self.here / "again"
        subprocess.run(["qemu-img", "convert", "-f", "qcow2", "-O", "raw", path, raw], check=True)
        self.assertEqual(raw.read_bytes(), self.raw.read_bytes())

    def test_extents_are_files_beside_the_descriptor(self):
        needs("vmdk")
        descriptor = self.convert("flat.vmdk", "vmdk", "-o", "subformat=monolithicFlat")
        data = self.here / "flat-flat.vmdk"
        data.rename(self.here / "other")
        self.refused(descriptor, "image-extent", "flat-flat.vmdk")
        data.symlink_to("other")
        self.refused(descriptor, "image-extent")

    def test_a_renamed_image_is_read_from_itself(self):
        needs("vmdk")
        for subformat in "monolithicSparse", "streamOptimized":
            image = self.convert("disk.vmdk", "vmdk", "-o", f"subformat={subformat}")
            renamed = image.rename(self.here / "renamed.vmdk")
            self.assertEqual(self.rows(renamed), self.expected)
            other = w.volume(w.History(3, 50), 4)[0]
            self.write("disk.raw", other + bytes(-len(other) % (1 << 20)))
            subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", "vmdk", self.here / "disk.raw", image], check=True)
            self.assertEqual(self.rows(renamed), self.expected)

    def told(self, path, *options):
        """What the journal says of an image, damaged or not."""
        done = subprocess.run([COLDTRACE, "ntfs", "journal", *options, path], capture_output=True, timeout=120)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        rows = [line for line in strict_ndjson(done.stdout) if line["type"] == "record"]
        for row in rows:
            row["volume"].pop("image")
        return rows

    def test_random_changes_of_a_chain_give_what_qemu_gives(self):
        needs("qcow")
        size = self.raw.stat().st_size
        for seed, options in enumerate((("-c",), ("-o", "cluster_size=4096"), ())):
            random = Random(seed)
            self.convert("a.qcow2", "qcow2", *options)
            for parent, child, cluster in (("a", "b", 4096), ("b", "c", 65536)):
                path = self.here / f"{child}.qcow2"
                subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", f"{parent}.qcow2",
                                "-o", f"cluster_size={cluster}", path], check=True)
                words = ["qemu-io", "-t", "unsafe", path]
                packed = random.sample(range(1, size // cluster), 8)  # the boot sector stays
                for number in range(32):
                    page = random.choice(self.places) if number % 2 else random.randrange(1, size // 4096) * 4096
                    length = min(random.choice((4096, 8192, 65536)), size - page)
                    what = random.choice(("write -q -P 0", "write -q -z", "discard -q", "copy"))
                    if number < len(packed):  # a whole cluster that is not there yet
                        what, page, length = "copy", packed[number] * cluster, cluster
                    if what == "copy":
                        part = page if number % 3 == 0 else random.choice(self.places)
                        length = min(length, size - part)
                        packs = " -c" if number < len(packed) and length == cluster else ""
                        source = self.write(f"part{child}{number}",
                                            self.raw.read_bytes()[part:part + length])
                        what = f"write -q{packs} -s {source}"
                    words += ["-c", f"{what} {page} {length}"]
                subprocess.run(words, check=True, capture_output=True)
                joined = self.here / "joined"
                subprocess.run(["qemu-img", "convert", "-O", "raw", path, joined], check=True)
                with self.subTest(seed=seed, child=child):
                    told = self.told(path)
                    self.assertTrue(told)
                    self.assertNotEqual([row["usn"] for row in told], [row["usn"] for row in self.expected])
                    self.assertEqual(told, self.told(joined))

    def test_compressed_clusters_of_a_child_are_read(self):
        needs("qcow")
        self.convert("base.qcow2", "qcow2")
        child = self.here / "child.qcow2"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", "base.qcow2", child], check=True)
        part = self.write("part", self.raw.read_bytes()[:65536])
        subprocess.run(["qemu-io", "-t", "unsafe", "-c", f"write -q -c -s {part} 0 65536", child], check=True)
        self.assertNotEqual(child.stat().st_size % 512, 0)
        self.assertEqual(self.rows(child), self.expected)
        self.assertNotIn(b"image-cut", self.run_ntfs("info", child).stderr)
        data = child.read_bytes()
        place = data.rindex(bytes(64)) + 64  # in what is compressed, which is last
        child.write_bytes(data[:place] + b"\xff" * 64 + data[place + 64:])
        self.refused(child, "at 0x0 cannot be read")

    def test_tables_that_are_too_small_for_the_stated_size(self):
        needs("qcow")
        path = self.convert("image.qcow2", "qcow2")
        data = bytearray(path.read_bytes())
        for size in (64 << 30, 1 << 62):
            struct.pack_into(">Q", data, 24, size)
            path.write_bytes(data)
            self.refused(path, "image-feature", f"it states a disk of {size} bytes")

    def test_a_child_may_be_larger_than_its_parent(self):
        needs("qcow")
        self.convert("base.qcow2", "qcow2")
        child = self.here / "child.qcow2"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", "base.qcow2", child, "64M"],
                       check=True)
        self.assertEqual(self.rows(child), self.expected)

    def test_features_of_qcow2_that_are_not_read_are_named(self):
        needs("qcow")
        for place, form, value, word in ((72, ">Q", 1 << 2, "data_file"), (72, ">Q", 1 << 4, "extended L2"),
                                         (72, ">Q", 1 << 40, "0x10000000000"), (32, ">I", 2, "encrypted")):
            with self.subTest(word):
                path = self.convert("image.qcow2", "qcow2")
                data = bytearray(path.read_bytes())
                struct.pack_into(form, data, place, value)
                path.write_bytes(data)
                self.refused(path, "image-feature", word)

    def test_a_name_of_no_bytes_is_no_parent(self):
        needs("qcow")
        path = self.convert("image.qcow2", "qcow2")
        data = bytearray(path.read_bytes())
        struct.pack_into(">QI", data, 8, 512, 0)
        path.write_bytes(data)
        self.assertEqual(self.rows(path), self.expected)

    def test_each_sector_of_a_differencing_vhd_is_its_own(self):
        """As Microsoft's specification has it; no tool of Debian writes such children."""
        needs("vhdi")
        parent = self.convert("parent.vhd", "vpc")
        data = parent.read_bytes()
        footer, header = bytearray(data[:512]), bytearray(data[512:1536])
        count, size = struct.unpack_from(">II", header, 28)
        raw = self.raw.read_bytes()
        random = Random(7)
        table, blocks, joined = [], bytearray(), bytearray(raw)
        places = [place // 512 for place in self.places]
        start = 1536 + (count * 4 + 511) // 512 * 512 + 512
        for block in range(count):
            first = block * size // 512
            chosen = [sector for sector in {place + random.randrange(8) for place in places}
                      if first <= sector < first + size // 512 and random.random() < 0.3]
            if not chosen:
                table.append(0xffffffff)
                continue
            table.append((start + len(blocks)) // 512)
            bitmap, content = bytearray(512), bytearray(b"\xcc" * size)
            for sector in chosen:
                inside = sector - first
                bitmap[inside // 8] |= 0x80 >> inside % 8
                content[inside * 512:inside * 512 + 512] = bytes(512)
                joined[sector * 512:sector * 512 + 512] = bytes(512)
            blocks += bitmap + content
        name = "parent.vhd".encode("utf-16-le")
        struct.pack_into(">Q", footer, 16, 512)
        struct.pack_into(">I", footer, 60, 4)
        header[40:56] = footer[68:84]
        footer[68:84] = bytes(range(16))
        struct.pack_into(">Q", header, 16, 1536)
        header[64:576] = "parent.vhd".encode("utf-16-be").ljust(512, b"\0")
        header[576:600] = b"W2ru" + struct.pack(">IIIQ", 512, len(name), 0, start - 512)
        for part, place in ((footer, 64), (header, 36)):
            struct.pack_into(">I", part, place, 0)
            struct.pack_into(">I", part, place, ~sum(part) & 0xffffffff)
        child = self.write("child.vhd", bytes(footer + header) + struct.pack(f">{count}I", *table).ljust(
            start - 512 - 1536, b"\xff") + name.ljust(512, b"\0") + bytes(blocks + footer))
        expected = self.told(self.write("joined", joined))
        self.assertNotEqual(expected, self.expected)
        self.assertEqual(self.told(child), expected)
        self.assertEqual(self.rows(parent), self.expected)
        for part, place, size in (("footer", len(data) - 512, 512), ("dynamic disk header", 512, 1024)):
            self.header_of_parent(child, parent, part, place, size)

    def test_each_sector_of_a_differencing_vhdx_is_its_own(self):
        """As [MS-VHDX] has it; no tool of Debian writes such children."""
        needs("vhdi")
        parent = self.convert("parent.vhdx", "vhdx")
        headers = [parent.read_bytes()[at << 10:(at << 10) + 48] for at in (64, 128)]
        identity = max(headers, key=lambda header: struct.unpack_from("<Q", header, 8))[32:]
        mebibyte, ratio = 1 << 20, 1 << 12
        joined, random = bytearray(self.raw.read_bytes()), Random(7)
        count = -(-len(joined) // mebibyte)
        table, bitmap, blocks = [0] * (ratio + 1), bytearray(mebibyte), bytearray()
        table[ratio] = 4 * mebibyte | 6
        states = [0, 2, 6, 7, 7]
        for block in range(count):
            start = block * mebibyte
            inside = [place for place in self.places if start <= place < start + mebibyte]
            state = states[block % len(states)] if inside else 0
            if len(inside) > 3 and 7 not in [entry & 7 for entry in table[:block]]:
                state = 7
            table[block] = state | (5 * mebibyte + len(blocks) if state > 5 else 0)
            size = len(joined[start:start + mebibyte])
            if state == 2:
                joined[start:start + size] = bytes(size)
            if state < 6:
                continue
            content = bytearray(b"\xcc" * mebibyte)
            chosen = range(mebibyte // 512) if state == 6 else sorted(
                {place % mebibyte // 512 + random.randrange(8) for place in inside if random.random() < 0.5})
            for sector in chosen:
                if state == 7:
                    number = block * (mebibyte // 512) + sector
                    bitmap[number // 8] |= 1 << number % 8
                content[sector * 512:sector * 512 + 512] = bytes(512)
                joined[start + sector * 512:min(start + sector * 512 + 512, start + size)] = bytes(512)
            blocks += content
        self.assertIn(7, [entry & 7 for entry in table[:count]])

        def guid(text):
            return uuid.UUID(text).bytes_le

        def checked(data):
            struct.pack_into("<I", data, 4, 0)
            struct.pack_into("<I", data, 4, crc32c(data))
            return bytes(data)

        header = bytearray(struct.pack("<4sIQ16s16s16sHHIQ", b"head", 0, 1, bytes(range(16)), bytes(range(1, 17)), bytes(16),
                                       0, 1, mebibyte, mebibyte).ljust(4096, b"\0"))
        regions = bytearray(struct.pack("<4sIII", b"regi", 0, 2, 0) + b"".join(
            guid(name) + struct.pack("<QII", place * mebibyte, mebibyte, 1) for name, place in
            (("2dc27766-f623-4200-9d64-115e9bfd4a08", 3), ("8b7ca206-4790-4b9a-b8fe-575f050f886e", 2)))).ljust(64 << 10, b"\0")
        pairs = [("parent_linkage", "{%s}" % uuid.UUID(bytes_le=identity)), ("relative_path", ".\\parent.vhdx"),
                 ("absolute_win32_path", "C:\\disks\\parent.vhdx")]
        entries, strings = b"", b""
        for key, value in pairs:
            key, value = key.encode("utf-16-le"), value.encode("utf-16-le")
            place = 20 + 12 * len(pairs) + len(strings)
            entries += struct.pack("<IIHH", place, place + len(key), len(key), len(value))
            strings += key + value
        locator = guid("b04aefb7-d19e-4a81-b789-25b8e9445913") + struct.pack("<HH", 0, len(pairs)) + entries + strings
        items = (("caa16737-fa36-4d43-b3b6-33f0aa44e76b", struct.pack("<II", mebibyte, 2), 4),
                 ("2fa54224-cd1b-4876-b211-5dbed83bf4b8", struct.pack("<Q", len(joined)), 6),
                 ("beca12ab-b2e6-4523-93ef-c309e000c746", bytes(range(16)), 6),
                 ("8141bf1d-a96f-4709-ba47-f233a8faab5f", struct.pack("<I", 512), 6),
                 ("cda348c7-445d-4471-9cc9-e9885251c556", struct.pack("<I", 4096), 6),
                 ("a8d35f2d-b30b-454d-abf7-d3d84834ab0c", locator, 4))
        metadata, values = struct.pack("<8sHH20x", b"metadata", 0, len(items)), b""
        for name, value, flags in items:
            metadata += guid(name) + struct.pack("<IIII", (64 << 10) + len(values), len(value), flags, 0)
            values += value
        data = bytearray(5 * mebibyte)
        for place, part in ((0, b"vhdxfile"), (64 << 10, checked(header)), (128 << 10, checked(header)),
                            (192 << 10, checked(regions)), (256 << 10, checked(regions)), (2 * mebibyte, metadata),
                            (2 * mebibyte + (64 << 10), values), (3 * mebibyte, struct.pack(f"<{len(table)}Q", *table)),
                            (4 * mebibyte, bitmap)):
            data[place:place + len(part)] = part
        child = self.write("child.vhdx", data + blocks)
        expected = self.told(self.write("joined", joined))
        self.assertNotEqual(expected, self.expected)
        self.assertEqual(self.told(child), expected)
        self.header_of_parent(child, parent, "header", 128 << 10, 4096)
        self.header_of_parent(child, parent, "region table", 256 << 10, 64 << 10)
        whole = parent.read_bytes()
        logged = bytearray(whole)
        for place in (64 << 10, 128 << 10):
            logged[place + 48:place + 64] = bytes(range(1, 17))
            logged[place:place + 4096] = checked(logged[place:place + 4] + bytes(4) + logged[place + 8:place + 4096])
        parent.write_bytes(logged)
        for options in ([], ["--parent", parent]):
            done = self.run_ntfs("info", *options, child, status=1)
            self.assertIn("its parent parent.vhdx was not closed", done.stderr.decode())
        both = bytearray(child.read_bytes())
        for place in (64 << 10, 128 << 10):
            both[place + 48:place + 64] = bytes(range(1, 17))
            both[place:place + 4096] = checked(both[place:place + 4] + bytes(4) + both[place + 8:place + 4096])
        done = self.run_ntfs("info", self.write("both.vhdx", both), status=1)
        self.assertIn("the VHDX and its parent parent.vhdx were not closed", done.stderr.decode())
        parent.write_bytes(whole)
        self.assertNotIn(b"image-log", self.run_ntfs("info", child).stderr)
        other = str(uuid.UUID(bytes_le=bytes(16))).encode("utf-16-le")
        self.refused(self.write("stranger.vhdx", (data + blocks).replace(
            str(uuid.UUID(bytes_le=identity)).encode("utf-16-le"), other)), "parent.vhdx is not the parent it was made from")
        parent.rename(self.here / "other.vhdx")
        self.refused(child, "image-parent", "parent.vhdx")

    def test_flat_extents_have_offsets_and_zeros(self):
        raw = bytearray(self.raw.read_bytes())
        middle, end = len(raw) // 3 // 4096 * 4096, len(raw) // 2 // 4096 * 4096
        raw[middle:end] = bytes(end - middle)
        self.write("shifted.raw", b"\xcc" * 5 * 512 + raw[:middle] + b"\xcc" * 512)
        self.write("rest.raw", raw[end:])
        image = self.write("image.vmdk", (
            '# Disk DescriptorFile\nversion=1\nCID=12345678\nparentCID=ffffffff\ncreateType="twoGbMaxExtentFlat"\n\n'
            f'RW {middle // 512} FLAT "shifted.raw" 5\nRW {(end - middle) // 512} ZERO\n'
            f'RW {(len(raw) - end) // 512} FLAT "rest.raw"\n').encode())
        expected = self.told(self.write("joined", raw))
        self.assertTrue(expected)
        self.assertEqual(self.told(image), expected)
        (self.here / "rest.raw").rename(self.here / "other")
        self.refused(image, "image-extent", "rest.raw")

    def test_a_log_of_a_vhdx_that_was_not_applied_is_told(self):
        needs("vhdi")
        path = self.convert("image.vhdx", "vhdx")
        self.assertNotIn(b"image-log", self.run_ntfs("info", path).stderr)
        data = bytearray(path.read_bytes())
        older, newer = sorted((65536, 131072), key=lambda place: struct.unpack_from("<Q", data, place + 8)[0])
        for place, status in ((older, 0), (newer, 1)):
            changed = bytearray(data)
            changed[place + 48:place + 64] = bytes(range(1, 17))
            content = bytes(changed[place:place + 4096])
            struct.pack_into("<I", changed, place + 4, crc32c(content[:4] + bytes(4) + content[8:]))
            path.write_bytes(changed)
            self.assertEqual(b"image-log" in self.run_ntfs("info", path, status=status).stderr, status == 1)

    def test_parents_that_are_not_used_are_told(self):
        needs("qcow")
        base = self.convert("base.qcow2", "qcow2")
        done = self.run_ntfs("info", "--parent", self.raw, base, status=1)
        self.assertIn("raw, a file of --parent, is not used", done.stderr.decode())

    def test_a_comparison_that_has_no_use_for_parents_refuses_them(self):
        needs("qcow")
        parent = self.convert("parent.qcow2", "qcow2")
        lines = self.here / "before.ndjson"
        self.run_ntfs("snapshot", self.raw, "-o", lines, status=1)
        for before, after in ((self.raw, self.raw), (self.raw, lines), (lines, lines)):
            done = self.run_ntfs("compare", "--parent", parent, before, after, status=2)
            self.assertIn(f"--parent is for VHD, VHDX, QCOW2 and VMDK images, and neither {before} nor {after} is one",
                          done.stderr.decode())
        child = self.here / "child.qcow2"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", parent, child], check=True)
        for pair in ((child, self.raw), (lines, child)):
            done = self.run_ntfs("compare", "--parent", parent, *pair, status=1)  # of damage
            self.assertRegex(done.stdout.decode(), "([0-9]+) files? before, \\1 after, \\1 of them unchanged")

    def test_a_parent_may_be_compared_with_what_rests_on_it(self):
        needs("qcow")
        base = self.convert("base.qcow2", "qcow2")
        disks = [base]
        for name in "child", "grand":
            disks.append(self.here / f"{name}.qcow2")
            subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", disks[-2].name, disks[-1]],
                           check=True)
        for before, after, parents in ((0, 1, (0,)), (1, 0, (0,)), (1, 2, (1, 0)), (0, 2, (1, 0))):
            given = [option for parent in parents for option in ("--parent", disks[parent])]
            done = self.run_ntfs("compare", *given, disks[before], disks[after], status=1)  # of damage
            self.assertNotIn(b"is not used", done.stderr)
            self.assertNotIn(b"image-parent", done.stderr)
        alone = self.convert("alone.qcow2", "qcow2")  # which has no parent, and the other side has
        for pair in ((alone, disks[1]), (disks[1], alone), (self.raw, disks[1])):
            done = self.run_ntfs("compare", "--parent", base, *pair, status=1)
            self.assertNotIn(b"image-parent", done.stderr)
        done = self.run_ntfs("compare", "--parent", base, alone, self.raw, status=1)
        self.assertEqual(done.stderr.count(b"base.qcow2, a file of --parent, is not used"), 1)
        done = self.run_ntfs("compare", "--parent", self.raw, base, base, status=1)
        self.assertIn(b"raw, a file of --parent, is not used", done.stderr)
        # One that does not fit is no less told than by other commands.
        other = self.convert("base.vhd", "vpc")
        child = self.here / "of_other.qcow2"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "vpc", "-b", other.name, child], check=True)
        for command in (("info", child), ("compare", child, self.raw)):
            done = self.run_ntfs(command[0], "--parent", other, *command[1:], status=2)
            self.assertIn(b"libqcow does not accept", done.stderr)

    def test_what_is_cut_off_is_unread_and_nothing_crashes(self):
        for name, (form, library, *options) in FORMS.items():
            if name not in ("qcow2", "packed.qcow2", "vhd", "vhdx", "sparse.vmdk"):
                continue
            with self.subTest(name):
                needs(library)
                path = self.convert(name, form, *options)
                whole = path.read_bytes()
                for part in (0.4, 0.8):
                    path.write_bytes(whole[:int(len(whole) * part) // 512 * 512 + 100])
                    outputs = set()
                    for jobs in ("-j1", "-j2"):
                        done = subprocess.run([COLDTRACE, "ntfs", "journal", jobs, path], capture_output=True,
                                              timeout=120)
                        self.assertIn(done.returncode, (0, 1, 2))
                        outputs.add(done.stdout)
                    self.assertEqual(len(outputs), 1)
                    rows = [line for line in strict_ndjson(done.stdout) if line["type"] == "record"] \
                        if done.stdout else []
                    told = {row["usn"]: row["path"] for row in self.expected}
                    for row in rows:
                        if row["path_certain"]:
                            self.assertEqual(row["path"], told[row["usn"]])
                    self.assertTrue(done.returncode != 0 or len(rows) == len(self.expected))

    def test_nothing_is_said_of_bytes_that_cannot_be_read(self):
        needs("vhdi")
        path = self.convert("fixed.vhdx", "vhdx", "-o", "subformat=fixed")
        data = path.read_bytes()
        begin = data.index(self.raw.read_bytes()[:512])
        path.write_bytes(data[:begin])
        said = self.run_ntfs("info", path, status=2).stderr.decode()
        self.assertIn("at 0x0 cannot be read, as if the image had been cut off", said)
        self.assertNotIn("known kind", said)

    def test_what_is_wrong_with_a_sparse_vmdk_has_its_place(self):
        """VMware, "Virtual Disk Format 5.0", SparseExtentHeader."""
        needs("vmdk")
        path = self.convert("sparse.vmdk", "vmdk")
        whole = path.read_bytes()
        self.assertEqual(self.header_findings(path), (0, [], []))
        descriptor, = struct.unpack_from("<Q", whole, 28)
        directory, = struct.unpack_from("<Q", whole, 56)
        sectors = len(whole) // 512
        self.assertTrue(whole[descriptor * 512:].startswith(b"# Disk DescriptorFile"))
        for place, value, text in (
                (20, struct.pack("<Q", 0), "has grains of 0 sectors"),
                (20, struct.pack("<Q", 127), "has grains of 127 sectors"),
                (44, struct.pack("<I", 0), "has grain tables of 0 entries"),
                (12, struct.pack("<Q", 0), "has a capacity of 0 sectors"),
                (descriptor * 512, b"# Disc", "points there to a descriptor, but there is none"),
                (56, struct.pack("<Q", sectors), f"bytes at sector {sectors}, but the file has {sectors}"),
                (directory * 512, struct.pack("<I", sectors + 1), f"has a grain table at sector {sectors + 1}, but the file has {sectors}")):
            with self.subTest(text):
                data = bytearray(whole)
                data[place:place + len(value)] = value
                path.write_bytes(data)
                status, _, told = self.header_findings(path)
                self.assertIn(status, (1, 2))
                self.assertEqual(len(told), 1)
                self.assertIn(f"image-header at {place:#x}: the sparse header ", told[0])
                self.assertIn(text, told[0])

    def test_damaged_headers_are_refused_or_read(self):
        for name, place, value in (("qcow2", 20, 0xff), ("qcow2", 40, 0xff), ("qcow2", 48, 0x7f), ("vhdx", 64 * 1024, 0),
                                   ("vhd", 512 + 28, 0xff), ("sparse.vmdk", 12, 0xff)):
            with self.subTest(name=name, place=place):
                form, library, *options = FORMS[name]
                needs(library)
                path = self.convert(name, form, *options)
                data = bytearray(path.read_bytes())
                data[place:place + 4] = bytes([value] * 4)
                path.write_bytes(data)
                done = subprocess.run([COLDTRACE, "ntfs", "journal", path], capture_output=True, timeout=120)
                self.assertIn(done.returncode, (0, 1, 2))
                if done.returncode == 0:
                    self.assertEqual(self.rows(path), self.expected)

    def header_of_parent(self, child, parent, part, place, size):
        """A byte that the checksum covers is another one in the parent, which is told of the child."""
        self.assertEqual(self.header_findings(child), (0, [], []))
        whole = parent.read_bytes()
        data = bytearray(whole)
        data[place + size - 1] ^= 0x5a
        parent.write_bytes(data)
        status, _, told = self.header_findings(child)
        self.assertNotEqual(status, 0)
        self.assertEqual(len(told), 1)
        self.assertIn(f"image-header at {place:#x}: the {part} of its parent {parent.name} states the checksum 0x", told[0])
        parent.write_bytes(whole)

    def header_findings(self, path):
        done = subprocess.run([COLDTRACE, "ntfs", "info", "--format", "json", path], capture_output=True, timeout=120)
        told = [line for line in done.stderr.decode().splitlines() if "image-header" in line]
        return done.returncode, strict_json(done.stdout)["findings"] if done.stdout else [], told

    def test_headers_are_held_against_their_checksums(self):
        """Each has a checksum of its own, as both specifications say."""
        needs("vhdi")
        vhd_sum = lambda content: ~sum(content) & 0xffffffff
        for name, form, parts in (
                ("vhd", "vpc", lambda size: [("footer", size - 512, 512, 64), ("footer", 0, 512, 64), ("dynamic disk header", 512, 1024, 36)]),
                ("vhdx", "vhdx", lambda size: [("header", 1 << 16, 4096, 4), ("header", 2 << 16, 4096, 4), ("region table", 3 << 16, 1 << 16, 4),
                                               ("region table", 4 << 16, 1 << 16, 4)])):
            path = self.convert(name, form)
            whole = path.read_bytes()
            self.assertEqual(self.header_findings(path), (0, [], []))
            for part, place, size, checksum in parts(len(whole)):
                with self.subTest(name, part=part, place=place):
                    data = bytearray(whole)
                    data[place + size - 1] ^= 0x5a  # reserved bytes, but covered
                    path.write_bytes(data)
                    content = bytes(data[place:place + checksum]) + bytes(4) + bytes(data[place + checksum + 4:place + size])
                    stated, = struct.unpack_from(">I" if name == "vhd" else "<I", data, place + checksum)
                    computed = vhd_sum(content) if name == "vhd" else crc32c(content)
                    self.assertNotEqual(stated, computed)
                    status, findings, told = self.header_findings(path)
                    self.assertIn(status, (1, 2))  # libvhdi refuses region tables
                    self.assertIn(f"image-header at {place:#x}: the {part} states the checksum {stated:#010x}, but has {computed:#010x}", told[0])
                    if place == 0:
                        continue  # without it, the file is not a VHD
                    data[place:place + 4] = b"none"
                    path.write_bytes(data)
                    status, findings, told = self.header_findings(path)
                    self.assertIn(f"image-header at {place:#x}: there is no {part}, ", told[0])
                    self.assertNotEqual(status, 0)

    def test_a_dynamic_vhd_without_its_footer_is_read_by_the_copy(self):
        needs("vhdi")
        path = self.convert("vhd", "vpc")
        whole = path.read_bytes()
        path.write_bytes(whole[:-512])
        self.assertEqual(self.rows(path, status=1), self.expected)
        status, findings, told = self.header_findings(path)
        self.assertEqual(status, 1)
        self.assertIn(f"image-header at {len(whole) - 1024:#x}: there is no footer", told[0])
        # Bitmaps of blocks say nothing of a disk without a parent, as QEMU has it.
        table, = struct.unpack_from(">Q", whole, 512 + 16)
        count, = struct.unpack_from(">I", whole, 512 + 28)
        blank = bytearray(whole)
        for entry in struct.unpack_from(f">{count}I", whole, table):
            if entry != 0xffffffff:
                blank[entry * 512:entry * 512 + 512] = bytes(512)
        self.assertNotEqual(blank, whole)
        for suffix, content in (".whole", whole), (".blank", blank):
            path.with_suffix(suffix).write_bytes(content)
        compared = subprocess.run(["qemu-img", "compare", "-f", "vpc", "-F", "vpc", path.with_suffix(".whole"), path.with_suffix(".blank")],
                                  capture_output=True)
        self.assertEqual(compared.returncode, 0)
        path.write_bytes(blank[:-512])
        self.assertEqual(self.rows(path, status=1), self.expected)
        # What lay behind the cut is unread, and no zeros.
        path.write_bytes(whole[:-512 - (1 << 21)])
        done = subprocess.run([COLDTRACE, "ntfs", "journal", path], capture_output=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        rows = [line for line in strict_ndjson(done.stdout) if line["type"] == "record"] if done.stdout else []
        self.assertLessEqual(len(rows), len(self.expected))

    def test_libraries_that_are_not_there(self):
        """A header of QCOW2 that libqcow does not accept stands for those that it refuses."""
        needs("qcow")
        path = self.convert("image.qcow2", "qcow2")
        data = bytearray(path.read_bytes())
        struct.pack_into(">Q", data, 72, 1 << 4)  # an incompatible feature
        path.write_bytes(data)
        self.refused(path, "it is a QCOW2 image, which libqcow cannot open")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
