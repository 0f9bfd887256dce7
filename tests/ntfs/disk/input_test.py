"""What the ntfs commands make of files that are not an image, in part an image, or damaged ones.

usage: input_test.py COLDTRACE SHARED [unittest arguments]
"""
import ctypes.util
import gzip
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import time
import unittest
import uuid
import zlib
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case, is_sanitized  # noqa: E402
from sample_volumes import sample_volume  # noqa: E402
from strict import strict_csv, strict_json, strict_ndjson  # noqa: E402
from ntfs.journal import usn_writer  # noqa: E402

COLDTRACE, SHARED = (Path(argument).resolve() for argument in sys.argv[1:3])


def ntfs(*arguments, status):
    done = subprocess.run([COLDTRACE, "ntfs", *map(str, arguments)], capture_output=True, timeout=120)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done


def made_by(*command):
    """Runs a program that a test needs, or skips the test."""
    if shutil.which(command[0]) is None:
        raise unittest.SkipTest(f"{command[0]} is not installed")
    return subprocess.run([str(part) for part in command], capture_output=True, check=True).stdout


class Images(Case):
    def volume(self, *options, name="volume.dd", size=8 << 20):
        path = self.here / name
        path.write_bytes(bytes(size))
        made_by("mkfs.ntfs", "-q", "-F", "-f", *options, path)
        return path

    def rows(self, path, *options, status):
        done = ntfs("snapshot", "--state", "all", *options, path, status=status)
        lines = strict_ndjson(done.stdout)
        rows = [line for line in lines if line["type"] == "file"]
        for row in rows:  # the name of the image is the file's, all else is the disk's
            if "volume" in row:
                self.assertEqual(row["volume"].pop("image"), path.name)
        return rows, lines, done.stderr.decode()


class OtherFiles(Images):
    def refused(self, path, *words):
        for command in ("info", "snapshot"):
            done = ntfs(command, path, status=2)
            text = done.stderr.decode()
            for word in words:
                self.assertIn(word, text)
            self.assertNotIn("expected 0x", text)
            self.assertEqual(done.stdout, b"")

    def test_what_it_is_instead_is_said(self):
        for content, words in ((b"", ["it is empty"]), (b"\x7fELF".ljust(4096), ["ELF"]),
                               (bytes(8192), ["zeros"]),
                               (b"ElfFile\0".ljust(70000), [".evtx"]),
                               (b"hello\n", ["a text file"]),
                               (b"RSTR\x1e\0".ljust(8192, b"\0"), ["$LogFile"])):
            with self.subTest(words):
                self.refused(self.write("file", content), *words)

    def test_a_table_without_partitions_is_named(self):
        """As a disk has that was initialized and nothing else: a protective MBR and an empty GUID partition table."""
        disk = bytearray(1 << 20)
        last, entries = len(disk) // 512 - 1, bytes(128 * 128)
        disk[446:510] = struct.pack("<8BII48x", 0, 0, 2, 0, 0xee, 0xff, 0xff, 0xff, 1, last)
        disk[510:512] = b"\x55\xaa"
        form = "<8sIII4xQQQQ16sQIII"
        fields = [b"EFI PART", 0x10000, 92, 0, 1, last, 34, last - 33, bytes(16), 2, 128, 128, zlib.crc32(entries)]
        fields[3] = zlib.crc32(struct.pack(form, *fields))
        disk[512:604] = struct.pack(form, *fields)
        self.refused(self.write("empty.img", disk), "its GUID partition table lists no partition")

    def test_images_of_other_formats_are_named(self):
        raw = self.volume()
        for form, words in (("vdi", "VDI"), ("qed", "QED"), ("parallels", "Parallels")):
            with self.subTest(form):
                image = self.here / form
                made_by("qemu-img", "convert", "-f", "raw", "-O", form, raw, image)
                self.refused(image, words, "qemu-img convert -O raw")
                # The older magic of Parallels.
                if form == "parallels":
                    content = image.read_bytes()
                    self.assertEqual(content[:16], b"WithouFreSpacExt")
                    self.refused(self.write("old", b"WithoutFreeSpace" + content[16:]), words)

    def test_the_first_bytes_of_another_kind_do_not_hide_a_volume_or_disk(self):
        volume = self.volume()
        whole, *_ = self.rows(volume, status=0)
        content = volume.read_bytes()
        table = bytearray(512)
        struct.pack_into("<B3xB3xII", table, 446, 0, 7, 1, len(content) // 512)
        table[510:] = b"\x55\xaa"
        for magic in (b"PK\3\4", b"\x1f\x8b\x08", b"QFI\xfb\0\0\0", b"EVF\x09\x0d\x0a\xff\0",
                      b"FILE0\0", b"KDMV", b"conectix"):
            with self.subTest(magic):
                path = self.write("volume", magic + content[len(magic):])
                rows, lines, said = self.rows(path, status=1)
                self.assertEqual([row["path"] for row in rows], [row["path"] for row in whole])
                # The first three bytes are a jump, which nothing needs.
                self.assertEqual({f["code"] for f in lines[-1]["findings"]},
                                 {"first-bytes", "boot-sector"} if len(magic) > 3 else
                                 {"first-bytes"})
                self.assertIn("read as the NTFS volume that the rest says it is", said)
                disk = self.write("disk", magic + bytes(table)[len(magic):] + content)
                rows, lines, said = self.rows(disk, status=1)
                self.assertEqual([row["path"] for row in rows], [row["path"] for row in whole])
                self.assertEqual({f["code"] for f in lines[-1]["findings"]}, {"first-bytes"})
                # Where nothing speaks for a volume it is what it says.
                end = self.write("end", magic + content[len(magic):-512] + bytes(512))
                self.assertEqual(ntfs("info", end, status=2).stdout, b"")

    def test_the_magic_of_another_volume_does_not_hide_one(self):
        volume = self.volume()
        whole, *_ = self.rows(volume, status=0)
        content = volume.read_bytes()
        for at, magic in ((0, b"XFSB"), (0, b"LUKS\xba\xbe"), (3, b"EXFAT   "), (3, b"ReFS"),
                          (0, b"MZ\x90\0\3\0\0\0"), (0, b"\x7fELF\2\1"), (0, b"regf")):
            with self.subTest(magic):
                path = self.write("volume", content[:at] + magic + content[at + len(magic):])
                rows, lines, _ = self.rows(path, status=1)
                self.assertEqual([row["path"] for row in rows], [row["path"] for row in whole])
                self.assertEqual({f["code"] for f in lines[-1]["findings"]}, {"boot-sector"})

    def test_a_volume_under_the_head_of_another_is_told_and_read_when_asked(self):
        volume = self.volume()
        whole, *_ = self.rows(volume, status=0)
        content = bytearray(volume.read_bytes())
        content[3:11] = b"-FVE-FS-"
        path = self.write("volume", content)
        self.refused(path, "BitLocker", "its password, recovery key or startup key",
                     "the copy of an NTFS boot sector is at its end",
                     "--offset 0")
        rows, lines, _ = self.rows(path, "--offset", "0", status=1)
        self.assertEqual([row["path"] for row in rows], [row["path"] for row in whole])
        # A volume that is what it says.
        fat = self.here / "fat"
        fat.write_bytes(bytes(8 << 20))
        made_by("mkfs.fat", fat)
        self.assertNotIn(b"NTFS boot sector", ntfs("info", fat, status=2).stderr)

    def test_a_fixed_vhd_is_read_as_the_disk_it_is(self):
        image = self.here / "fixed.vhd"
        made_by("qemu-img", "convert", "-f", "raw", "-O", "vpc", "-o", "subformat=fixed",
                self.volume(), image)
        ntfs("snapshot", image, status=0)

    def test_a_fixed_vhd_without_a_volume_is_not_sent_back(self):
        image = self.here / "fixed.vhd"
        made_by("qemu-img", "convert", "-f", "raw", "-O", "vpc", "-o", "subformat=fixed",
                self.write("empty", bytes(8 << 20)), image)
        for command in ("info", "snapshot"):
            said = ntfs(command, image, status=2).stderr.decode()
            self.assertIn("zeros at its start", said)
            self.assertIn("no NTFS boot sector and no backup", said)
            self.assertNotIn("'coldtrace ntfs' reads it", said)

    def test_what_is_no_mft_is_named(self):
        volume = self.volume()
        for path, words in ((volume, "an NTFS volume, not a $MFT; 'coldtrace ntfs' reads it"),
                            (self.write("a.gz", gzip.compress(bytes(9999))), "zeros"),
                            (self.write("cut.gz", gzip.compress(bytes(9999))[:12]), "damaged or cut off"),
                            (self.write("a.evtx", b"ElfFile\0".ljust(70000)), ".evtx"),
                            (self.write("zeros", bytes(9999)), "zeros"),
                            (self.write("text", b"hello\n"), "a text file"),
                            (self.write("empty", b""), "it is empty"),
                            (self.write("noise", b"\x8f\x02\xee\x00" * 999), "no FILE record")):
            for command in ("info", "snapshot"):
                with self.subTest(words, command=command):
                    said = ntfs(command, "--mft", path, status=2).stderr.decode()
                    self.assertIn(words, said)
                    self.assertNotIn("expected 0x", said)

    def test_other_volumes_are_named(self):
        for program, words in (("mkfs.ext4", "ext4"), ("mkfs.vfat", "FAT")):
            with self.subTest(program):
                path = self.write("volume", bytes(4 << 20))
                made_by(program, path)
                self.refused(path, words)

    def test_a_log_file_of_windows_is_named(self):
        packed = SHARED / "samples/ntfs/ntfs-lastaccess.raw.gz"
        if not packed.exists():
            raise unittest.SkipTest(f"{packed} is not here")
        self.refused(self.write("LogFile", made_by("icat", "-o", "128", sample_volume(packed), "2")), "a $LogFile")


class BareMft(Images):
    def test_it_is_read_without_being_asked(self):
        volume = self.volume()
        path = self.write("$MFT", made_by("icat", volume, "0"))
        asked = ntfs("snapshot", "--mft", path, status=0)
        found = ntfs("snapshot", path, status=0)
        self.assertEqual(found.stdout, asked.stdout)
        self.assertIn(b"mft-only", found.stderr)
        header = strict_ndjson(found.stdout)[0]
        self.assertEqual(header["volume"]["source"], "mft")
        names = {line.get("name") for line in strict_ndjson(found.stdout)}
        self.assertLessEqual({"$MFT", "$LogFile", "$Boot"}, names)
        self.assertEqual(ntfs("info", path, status=0).stdout,
                         ntfs("info", "--mft", path, status=0).stdout)
        self.assertIn(b"type -: a $MFT\n", ntfs("info", path, status=0).stdout)

    def test_what_it_holds_is_called_the_same_everywhere(self):
        snapshot = self.here / "snapshot.ndjson"
        path = self.write("$MFT", made_by("icat", self.volume(), "0"))
        ntfs("snapshot", "-o", snapshot, path, status=0)
        for given in ([path], ["--mft", path], [snapshot]):
            (partition,) = strict_json(ntfs("info", "--format", "json", *given, status=0).stdout)["partitions"]
            self.assertEqual(partition["holds"], "ntfs_mft", given)

    def test_one_in_a_file_that_states_a_huge_size(self):
        content = made_by("icat", self.volume(), "0")
        expected, _, _ = self.rows(self.write("sound", content), status=0)
        self.assertGreater(len(expected), 10)
        # Sanitizers need more address space.
        memory = resource.RLIM_INFINITY if is_sanitized(COLDTRACE) else 4 << 30

        def check(path):
            done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--mft", "--state", "all", path], capture_output=True,
                                  timeout=60, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)))
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = strict_ndjson(done.stdout)
            for row in (rows := [line for line in lines if line["type"] == "file"]):
                row["volume"].pop("image")
            self.assertEqual(rows, expected)
            return {finding["code"]: finding["severity"] for finding in lines[-1]["findings"]}

        # Holes have no records, wherever they are.
        holes = self.write("holes", content)
        os.truncate(holes, 1 << 42)
        self.assertEqual(check(holes)["mft-size"], "info")
        # A disk that was made for it has zeros behind it.
        for form, program in (("vpc", "vhdi"), ("qcow2", "qcow")):
            if shutil.which("qemu-io") is None or ctypes.util.find_library(program) is None:
                self.skipTest("qemu-io or a library is not installed")
            disk = self.here / f"disk.{form}"
            made_by("qemu-img", "create", "-q", "-f", form, disk, "1T")
            made_by("qemu-io", "-f", form, "-c", f"write -q -s {self.here / 'sound'} 0 {len(content)}", disk)
            self.assertEqual(check(disk)["mft-size"], "info")
        # What is behind it all the same is read.
        rest = self.write("rest", content + content[-4096:])
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--mft", rest], capture_output=True, timeout=60)
        first, *_, last = strict_ndjson(done.stdout)
        self.assertEqual(first["volume"]["records"], len(content) // 1024 + 4)
        self.assertNotIn("mft-size", {finding["code"] for finding in last["findings"]})

    def test_one_that_is_cut_off_is_told(self):
        content = made_by("icat", self.volume(), "0")
        whole = self.write("whole", content)
        journal = self.write("J", usn_writer.History(3, 5).journal.data)

        def warned(*arguments, status=1, given=None):
            done = subprocess.run([COLDTRACE, "ntfs", *map(str, arguments)], capture_output=True, timeout=120,
                                  input=given)
            self.assertEqual(done.returncode, status, done.stderr)
            return [line for line in done.stderr.decode().splitlines() if "image-truncated" in line], done.stdout

        for size in (len(content) // 2048 * 1024, len(content) // 2048 * 1024 + 512, len(content) - 1):
            with self.subTest(size=size):
                cut = self.write("cut", content[:size])
                for arguments in (("info", cut), ("snapshot", cut), ("snapshot", "-"),
                                  ("journal", "--mft-file", cut, journal)):
                    (line,), _ = warned(*arguments, given=content[:size] if "-" in arguments else None)
                    self.assertIn(f"has {len(content)} bytes, but the file has {size}", line)
                lines = self.write("cut.ndjson", warned("snapshot", cut)[1])
                for later in cut, lines:
                    (line,), said = warned("compare", "--format", "ndjson", whole, later)
                    self.assertEqual([each["code"] for each in strict_ndjson(said)[-1]["findings"]
                                      if each["code"] not in ("mft-only", "security-unread")],
                                     ["image-truncated" if later == cut else "snapshot-findings"])
        # Without record 0 only a part of a record shows.
        (line,), _ = warned("snapshot", "--mft", self.write("part", content[4096:-512]))
        self.assertIn("ends 512 bytes into a record of 1024", line)
        for sound in whole, self.write("longer", content + bytes(4096)), self.write("part", content[4096:]):
            done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--mft", sound], capture_output=True, timeout=120)
            self.assertNotIn(b"image-truncated", done.stderr)

    def test_a_time_that_is_not_set_is_0_in_the_bodyfile(self):
        files = [(100 + i, 1, usn_writer.reference(5, 5), f"f{i}", False, True) for i in range(10)]
        mft = bytearray(usn_writer.mft(files)[0])
        stored = struct.pack("<Q", usn_writer.START)
        for i, (record, *_) in enumerate(files):  # many other times between those that are not set
            for kind in range(4):
                at = mft.index(stored, record * usn_writer.RECORD)
                struct.pack_into("<Q", mft, at, 0 if i % 9 == 0 else usn_writer.START + 10**7 * (4 * i + kind))
        lines = ntfs("snapshot", "--format", "bodyfile", self.write("MFT", bytes(mft)), status=0).stdout.decode()
        unset = {line.split("|")[1]: line.split("|")[7:] for line in lines.splitlines() if "|0|0|0|0" in line[-8:]}
        self.assertEqual(unset, {"/f0": ["0"] * 4, "/f9": ["0"] * 4})


class Schema(Images):
    def test_info_is_what_its_schema_has(self):
        path = Path(__file__).resolve().parents[3] / "docs/schema/ntfs-info.schema.json"
        schema = strict_json(path.read_bytes())
        check = json_schema.of(schema)
        volume = self.volume()
        content = volume.read_bytes()
        table = bytearray(512)
        for i, kind in enumerate((7, 0x83)):
            struct.pack_into("<B3xB3xII", table, 446 + 16 * i, 0, kind,
                             1 + i * (len(content) // 512), len(content) // 512)
        table[510:] = b"\x55\xaa"
        disk = self.write("disk.dd", bytes(table) + content + bytes(len(content)))
        lost = self.write("lost.dd", bytes(512) + content[512:-512] + bytes(512))
        mft = self.write("mft", made_by("icat", volume, "0"))
        for image, status in ((volume, 0), (disk, 0), (lost, 1), (mft, 0)):
            with self.subTest(image.name):
                document = strict_json(ntfs("info", "--format", "json", image,
                                            status=status).stdout)
                check.validate(document)
                for key in list(document):
                    with self.assertRaises(jsonschema.ValidationError):
                        check.validate({k: v for k, v in document.items() if k != key})


class Parts(Images):
    """Rows of parts are those of the whole, which is what cat makes of them."""

    def cut(self, content, names, size):
        return [self.write(name, content[i * size:(i + 1) * size]) for i, name in enumerate(names)]

    def disk(self):
        """A partition that begins and ends inside parts."""
        content = self.volume().read_bytes()
        table = bytearray(512 * 63)
        struct.pack_into("<B3xB3xII", table, 446, 0, 7, 63, len(content) // 512)
        table[510:512] = b"\x55\xaa"
        return bytes(table) + content

    def test_the_first_part_stands_for_all(self):
        whole = self.disk()
        expected = self.rows(self.write("whole.dd", whole), status=0)[0]
        for names in (("d.001", "d.002", "d.003"), ("d.dd.000", "d.dd.001", "d.dd.002"), ("d.raw.aa", "d.raw.ab", "d.raw.ac"),
                      ("d.00", "d.01", "d.02"), ("d.0000", "d.0001", "d.0002"), ("d.aaa", "d.aab", "d.aac")):
            with self.subTest(names):
                # Boundaries are not multiples of a sector: records and runs lie across them.
                parts = self.cut(whole, names, len(whole) // 3 + 101)
                rows, lines, said = self.rows(parts[0], status=0)
                self.assertEqual(rows, expected)
                self.assertEqual(lines[0]["disk"]["container"], "split")
                self.assertEqual(lines[0]["disk"]["size"], len(whole))
                self.assertNotIn("split", said)
                for part in parts[1:]:
                    said = ntfs("info", part, status=2).stderr.decode()
                    self.assertIn(f"split-image: {names[0]} is next to it", said)
                    self.assertIn("a part of a split image, but not the first one", said)
                for part in parts:  # what is never overwritten
                    before = part.read_bytes()
                    ntfs("snapshot", parts[0], "-o", part, status=2)
                    self.assertEqual(part.read_bytes(), before)
                for part in parts:
                    part.unlink()

    def test_more_parts_than_are_open_at_a_time(self):
        whole = self.disk()
        size = -(-len(whole) // 90)
        parts = self.cut(whole, [f"d.{i:03}" for i in range(1, 91)], size)
        expected = self.rows(self.write("whole.dd", whole), status=0)[0]
        for jobs in ("-j1", "-j2"):
            self.assertEqual(self.rows(parts[0], jobs, status=0)[0], expected)

    def test_what_a_part_lacks_cannot_be_read(self):
        """The same bytes as zeros in the whole: sectors told are those, and no other row differs."""
        whole = self.disk()
        size = (len(whole) // 4 // 512 + 1) * 512
        names = [f"d.{i:03}" for i in range(1, 5)]
        expected = self.rows(self.write("whole.dd", whole), status=0)[0]
        for lost, kept, words in ((2, None, "d.003 is missing"), (2, size - 5120, f"d.003 has {size - 5120} bytes, 5120 fewer")):
            with self.subTest(words):
                parts = self.cut(whole, names, size)
                if kept is None:
                    parts[lost].unlink()
                else:
                    parts[lost].write_bytes(parts[lost].read_bytes()[:kept])
                begin, end = lost * size + (kept or 0), (lost + 1) * size
                rows, lines, said = self.rows(parts[0], status=1)
                self.assertIn(words, said)
                self.assertIn(f"sectors {begin // 512} to {end // 512 - 1} cannot be read", said)
                self.assertEqual(lines[0]["disk"]["size"], len(whole))
                found = [f for f in lines[-1]["findings"] if f["code"] == "split-part"]
                self.assertEqual([(f["severity"], f["count"], f["first_offset"]) for f in found], [("warning", 1, begin)])

                cluster = lines[0]["volume"]["cluster_size"]

                def touches(row):
                    places = [(row["record_offset"], 1024)] + [(e["offset"], e["clusters"] * cluster) for s in row["streams"] or []
                                                               for e in s["extents"] or [] if e["offset"] is not None]
                    return any(at is not None and at < end and at + n > begin for at, n in places)
                told = {(row["path"], row["record"]): row for row in rows}
                touched = 0
                for row in expected:
                    found = told[row["path"], row["record"]]
                    if touches(row):
                        touched += 1
                        self.assertIn("unread-sectors", [f["code"] for f in found["findings"]])
                    else:
                        self.assertEqual(found, row)
                self.assertGreater(touched, 0)

    def test_without_the_first_part_nothing_is_read(self):
        parts = self.cut(self.disk(), ["d.001", "d.002", "d.003"], 3 << 20)
        parts[0].unlink()
        for part in parts[1:]:
            said = ntfs("info", part, status=2).stderr.decode()
            self.assertIn("the first one, d.001, is missing", said)
        parts[2].unlink()
        said = ntfs("info", parts[1], status=2).stderr.decode()
        self.assertIn("named as a part of a split image, but d.001 is missing", said)

    def test_names_that_go_on_with_more_digits_are_told(self):
        whole = self.disk()
        size = -(-len(whole) // 90)
        parts = self.cut(whole, [f"d.{i:02}" for i in range(90)], size)
        ntfs("info", parts[0], status=0)
        self.write("d.9000", bytes(512))
        self.assertIn(b"the names continue with d.9000, which is not read", ntfs("info", parts[0], status=1).stderr)

    def test_parts_of_a_bare_mft(self):
        content = made_by("icat", self.volume(), "0")
        expected = self.rows(self.write("mft", content), status=0)[0]
        first, _ = self.cut(content, ["$MFT.001", "$MFT.002"], len(content) // 2 + 100)
        self.assertEqual(self.rows(first, status=0)[0], expected)

    def test_a_first_part_alone(self):
        content = self.volume().read_bytes()
        first = self.write("disk.001", content[:5 << 20])
        self.assertIn(b"there is no disk.002", ntfs("info", "-v", first, status=1).stderr)
        # Not so where a link leads to a disk that is not attached.
        (self.here / "disk.002").symlink_to("not-mounted/disk.002")
        said = ntfs("info", "-v", first, status=1).stderr
        self.assertNotIn(b"there is no disk.002", said)
        self.assertIn(b"split-part at 0x500000: disk.002 cannot be opened", said)

    def test_letters_behind_a_dot_are_no_part_without_the_first(self):
        content = self.volume().read_bytes()
        for name in ("image.dd", "image.de", "image.raw", "image.rax"):
            self.write(name, content)
        for name in ("image.dd", "image.raw"):
            self.assertNotIn(b"split", ntfs("info", "-v", self.here / name, status=0).stderr)

    def test_numbers_behind_a_dot_are_no_part_without_the_first(self):
        content = self.volume().read_bytes()
        for names in (("win.10", "win.11"), ("disk.2023", "disk.2024"),
                      ("case.20241121", "case.20241122")):
            for name in names:
                self.write(name, content)
            for name in names:
                with self.subTest(name):
                    self.assertNotIn(b"split",
                                     ntfs("info", "-v", self.here / name, status=0).stderr)

    def test_a_part_behind_a_link_is_named(self):
        content = self.volume().read_bytes()
        (self.here / "parts").mkdir()
        for part, half in ((1, content[:5 << 20]), (2, content[5 << 20:])):
            self.write(f"parts/disk.00{part}", half)
        link = self.here / "case.img"
        link.symlink_to("parts/disk.001")
        self.assertEqual(self.rows(link, status=0)[0], self.rows(self.write("whole.dd", content), status=0)[0])

    def test_a_whole_image_with_such_a_name_is_healthy(self):
        volume = self.volume(name="disk.001")
        ntfs("info", volume, status=0)


class ExpertWitness(Images):
    CHUNK = 32768

    def acquire(self, raw, *options):
        base = self.here / "image"
        with open(raw, "rb") as content:
            if shutil.which("ewfacquirestream") is None:
                raise unittest.SkipTest("ewfacquirestream is not installed")
            subprocess.run(["ewfacquirestream", "-q", "-t", base, "-S", "1.4M", *options],
                           stdin=content, capture_output=True, check=True)
        return sorted(self.here.glob("image.E*"))

    def damage(self, segment, raw, chunk):
        """Turns a byte of a chunk that is stored as it is."""
        content = bytearray(segment.read_bytes())
        stored = raw.read_bytes()[chunk * self.CHUNK:][:self.CHUNK]
        content[content.index(stored) + 100] ^= 0x40
        segment.write_bytes(content)

    def test_what_a_chunk_with_a_wrong_checksum_held_is_a_gap(self):
        raw = self.volume()
        segments = self.acquire(raw)
        whole, lines, _ = self.rows(segments[0], status=0)
        self.assertEqual(whole, self.rows(raw, status=0)[0])
        at = lines[0]["volume"]["mft_extents"][0]["offset"]
        chunk = at // self.CHUNK + 1  # records in the middle of $MFT
        self.damage(segments[0], raw, chunk)
        rows, lines, said = self.rows(segments[0], status=1)
        self.assertIn("ewf-chunk", said)
        self.assertIn(f"sectors {chunk * 64}-{chunk * 64 + 63}", said)
        finding = next(f for f in lines[-1]["findings"] if f["code"] == "ewf-chunk")
        self.assertEqual(finding["first_offset"], chunk * self.CHUNK)
        lost = set()
        for gap in (line for line in lines if line["type"] == "gap"):
            self.assertEqual(gap["offset"] // self.CHUNK, chunk)
            lost |= set(range(gap["first_record"], gap["first_record"] + gap["records"]))
        found = {row["path"]: row for row in rows}
        missing = [row for row in whole if found.get(row["path"]) is None]
        for row in whole:
            if row["record_offset"] // self.CHUNK != chunk:
                self.assertIn(row["path"], found)
        self.assertTrue(missing or lost)
        self.assertLessEqual({row["record"] for row in missing}, lost)
        self.assertIn("ewf-chunk", ntfs("info", segments[0], status=1).stderr.decode())

    def test_a_compressed_chunk_that_is_damaged_is_a_gap(self):
        raw = self.volume("-c", "512")
        segments = self.acquire(raw, "-c", "best")
        content = bytearray(segments[0].read_bytes())
        first = content.index(b"sectors\0") + 76
        for at in range(first + 10, first + 400):
            content[at] ^= 0x55
        segments[0].write_bytes(content)
        done = ntfs("info", segments[0], status=1)
        self.assertIn(b"ewf-chunk", done.stderr)

    def test_without_its_first_sector_a_volume_is_read_by_the_copy(self):
        raw = self.volume()
        segments = self.acquire(raw)
        self.damage(segments[0], raw, 0)
        for options in ([], ["--offset", "0"]):
            done = ntfs("info", *options, segments[0], status=1)
            self.assertIn(b"its copy at 0x7ffe00 is used", done.stderr)
            self.assertIn(b"first-sector", done.stderr)

    def test_a_damaged_file_header_or_case_note_costs_no_row(self):
        raw = self.volume(size=4 << 20)
        segments = self.acquire(raw, "-c", "none")
        self.assertGreater(len(segments), 2)
        whole = self.rows(raw, status=0)[0]
        last = segments[-1]
        for segment, at, words in ((last, 0, "has a damaged file header"),
                                   (last, 8, "has a damaged file header"),
                                   (segments[1], 9, "has a damaged file header, which says that it is"),
                                   (segments[0], 2, "has a damaged file header"),
                                   (segments[0], 13 + 76 + 20, "has damaged case notes"),
                                   (segments[0], 13 + 20, "has a damaged section at 0xd")):
            with self.subTest(segment=segment.name, at=at):
                content = bytearray(segment.read_bytes())
                content[at] ^= 0x58
                sound = segment.read_bytes()
                segment.write_bytes(content)
                rows, _, said = self.rows(segments[0], status=1)
                segment.write_bytes(sound)
                self.assertEqual(rows, whole)
                self.assertIn(f"{segment.name}, {words}", said)
        last.write_bytes(b"")
        rows, _, said = self.rows(segments[0], status=1)
        self.assertIn(f"segment {len(segments)}, {last.name}, is empty: sectors ", said)
        self.assertNotIn("out of bounds", said)

    def test_a_missing_segment_is_named(self):
        raw = self.volume()
        segments = self.acquire(raw)
        self.assertGreater(len(segments), 4)
        for number in (len(segments), 3):
            segments[number - 1].unlink()
            for command in ("info", "snapshot"):
                done = ntfs(command, segments[0], status=1)
                self.assertIn(f"segment {number}, image.E0{number}, is missing".encode(), done.stderr)
        segments[0].unlink()
        done = ntfs("info", segments[1], status=2)
        self.assertIn(b"it is segment 2 of an E01 image, and the first segment is not", done.stderr)

    def lost_sectors(self, segment):
        """What ewfexport could not read."""
        target = self.here / "exported"
        if shutil.which("ewfexport") is None:
            raise unittest.SkipTest("ewfexport is not installed")
        said = subprocess.run(["ewfexport", "-q", "-u", "-f", "raw", "-t", target, segment],
                              capture_output=True, text=True).stderr
        return tuple(map(int, re.search(r"sector\(s\): (\d+) - (\d+)", said).groups()))

    def test_what_lost_segments_held_is_named_and_marked(self):
        raw, segments = self.acquired_noise(1)
        whole, _, _ = self.rows(segments[0], status=0)
        for number, cut in ((2, 700000), (4, 0), (len(segments), 0)):
            with self.subTest(segment=number, cut=cut):
                segment = segments[number - 1]
                content = segment.read_bytes()
                segment.unlink()
                if cut:
                    segment.write_bytes(content[:cut])
                first, last = self.lost_sectors(segments[0])
                rows, lines, said = self.rows(segments[0], status=1)
                segment.write_bytes(content)
                self.assertIn(f"sectors {first}-{last} of the disk are lost, its bytes "
                              f"{first * 512:#x}-{last * 512 + 511:#x}", said)
                findings = {f["code"]: f for f in lines[-1]["findings"]}
                for code in "ewf-segment", "image-truncated":
                    self.assertEqual(findings[code]["first_offset"], first * 512)
                touched = {row["path"] for row in whole
                           for stream in row["streams"] + row["other_streams"]
                           for extent in stream["extents"] if extent["offset"] is not None
                           and extent["offset"] + extent["clusters"] * 4096 > first * 512}
                self.assertTrue(touched)
                self.assertEqual({row["path"] for row in rows
                                  if "beyond-image" in {f["code"] for f in row["findings"]}},
                                 touched & {row["path"] for row in rows})

    def test_each_damaged_segment_is_told(self):
        raw, segments = self.acquired_noise(3)
        for segment in segments[1:4]:
            self.flip(segment, 2)
        _, lines, said = self.rows(segments[0], status=1)
        (finding,) = [f for f in lines[-1]["findings"] if f["code"] == "ewf-segment"]
        self.assertEqual(finding["count"], 3)
        for text in said, finding["text"]:
            for number in 2, 3, 4:
                self.assertIn(f"segment {number}, image.E0{number}, has a damaged file header", text)

    def test_of_many_damaged_segments_all_numbers_are_told(self):
        raw, segments = self.acquired_noise(4, "-S", "1M", times=6)
        self.assertGreater(len(segments), 24)
        damaged = range(3, 24)
        for number in damaged:
            self.flip(segments[number - 1], 2)
        _, lines, said = self.rows(segments[0], status=1)
        (finding,) = [f for f in lines[-1]["findings"] if f["code"] == "ewf-segment"]
        self.assertEqual(finding["count"], len(damaged))
        for text in said, finding["text"]:
            self.assertEqual([int(number) for number in re.findall(r"segment (\d+), image", text)],
                             [*damaged][:16])
            numbers, = re.findall(r"; likewise segments ([\d, ]+)", text)
            self.assertEqual([int(number) for number in numbers.split(", ")], [*damaged][16:])

    def test_segments_with_each_others_names_are_told(self):
        raw, segments = self.acquired_noise(5)
        second, third = segments[1].read_bytes(), segments[2].read_bytes()
        segments[1].write_bytes(third)
        segments[2].write_bytes(second)
        self.flip(segments[3], 2)
        said = self.rows(segments[0], status=1)[2]
        for words in ("image.E02 says it is segment 3, not 2", "image.E03 says it is segment 2, not 3",
                      "segment 4, image.E04, has a damaged file header"):
            self.assertIn(words, said)

    def test_any_segment_stands_for_all(self):
        raw = self.volume()
        segments = self.acquire(raw)
        self.assertEqual(ntfs("snapshot", segments[2], status=0).stdout.replace(b"image.E03", b"image.E01"),
                         ntfs("snapshot", segments[0], status=0).stdout)

    def sections(self, segment):
        """(type, offset, size) by the chain of descriptors, each with its checksum."""
        content, at = segment.read_bytes(), 13
        while True:
            kind, following, _ = struct.unpack_from("<16sQQ", content, at)
            self.assertEqual(struct.unpack_from("<I", content, at + 72)[0],
                             zlib.adler32(content[at:at + 72]))
            yield kind.rstrip(b"\0").decode(), at, following - at
            if following == at:
                return
            at = following

    def exported(self, segment):
        """What ewfexport makes of an image; nothing where it fails."""
        for old in self.here.glob("exported.*"):
            old.unlink()
        if shutil.which("ewfexport") is None:
            raise unittest.SkipTest("ewfexport is not installed")
        subprocess.run(["ewfexport", "-q", "-u", "-f", "raw", "-t", self.here / "exported", segment],
                       capture_output=True)
        raw = self.here / "exported.raw"
        return raw.read_bytes() if raw.exists() else b""

    def check_damage(self, raw, segments, whole, number, chunks, name, notes=False):
        """One segment is damaged, in its case notes or not; so many chunks stand before the damage.
        True: nothing is lost."""
        content = raw.read_bytes()
        export = self.exported(segments[0])
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "all", segments[0]],
                              capture_output=True, timeout=120)
        said = done.stderr.decode()
        self.assertIn(f"segment {number}, image.E0{number}, ", said)
        self.assertIn(name, said)
        if export == content or notes:
            self.assertEqual(done.returncode, 1)
            self.assertIn("no sectors are lost by that", said)
            self.assertNotIn("of the disk are lost", said)
            rows = [row for row in strict_ndjson(done.stdout) if row["type"] == "file"]
            for row in rows:
                row["volume"].pop("image")
            self.assertEqual(rows, whole)
            return True
        if chunks == 0:
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            return False
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"sectors {chunks * 64}-{len(content) // 512 - 1} of the disk are lost", said)
        if export:  # what is kept is what other programs have there too
            self.assertEqual(export[:chunks * self.CHUNK], content[:chunks * self.CHUNK])
        facts = {row["path"]: row for row in whole}
        for row in strict_ndjson(done.stdout):
            if row["type"] == "file" and row["state"] == "live":
                for key in ("record", "sequence", "si", "fn", "size"):
                    self.assertEqual(row[key], facts[row["path"]][key])
        return False

    def acquired_noise(self, seed, *options, times=1):
        """A volume that does not compress, and its segments."""
        raw = self.volume("-c", "4096", size=times * (8 << 20))
        noise = self.write("noise", random.Random(seed).randbytes(900000 * times))
        for number in range(5):
            made_by("ntfscp", "-f", raw, noise, f"file{number}")
        segments = self.acquire(raw, *options)
        self.assertGreater(len(segments), 4)
        return raw, segments

    def test_a_flipped_byte_in_any_section_descriptor_is_told_and_moves_nothing(self):
        raw, segments = self.acquired_noise(2, "-d", "sha1")
        whole, _, _ = self.rows(segments[0], status=0)
        before, kinds, lossless = 0, set(), set()
        for number, segment in enumerate(segments, 1):
            content = segment.read_bytes()
            sections = list(self.sections(segment))
            table = next(at for kind, at, _ in sections if kind == "table")
            (count,) = struct.unpack_from("<I", content, table + 76)
            for kind, at, _ in sections if number in (1, 2, len(segments)) else ():
                # The chunks of a segment count once its table is read.
                chunks = before + (count if at > table else 0)
                with self.subTest(segment=number, section=kind):
                    damaged = bytearray(content)
                    damaged[at + 40] ^= 1
                    segment.write_bytes(damaged)
                    if self.check_damage(raw, segments, whole, number, chunks,
                                         f"has a damaged section at {at:#x}",
                                         kind.startswith("header")):
                        lossless.add(kind)
                    kinds.add(kind)
            with self.subTest(segment=number, table="count"):
                damaged = bytearray(content)
                damaged[table + 76] ^= 1
                segment.write_bytes(damaged)
                self.check_damage(raw, segments, whole, number, before,
                                  f"has a damaged section at {table:#x}")
            with self.subTest(segment=number, table="entry"):
                damaged = bytearray(content)
                damaged[table + 76 + 24 + 9] ^= 1
                segment.write_bytes(damaged)
                self.assertTrue(self.check_damage(raw, segments, whole, number, before,
                                                  f"damaged table at {table:#x}, whose copy"))
            segment.write_bytes(content)
            before += count
        self.assertEqual(before * self.CHUNK, raw.stat().st_size)
        self.assertLessEqual({"header", "volume", "sectors", "table", "table2", "data", "next",
                              "done", "digest", "hash"}, kinds)
        self.assertLessEqual({"next", "done", "digest", "hash"}, lossless)

    def flip(self, segment, *places):
        content = bytearray(segment.read_bytes())
        for at in places:
            content[at] ^= 1
        segment.write_bytes(content)

    def test_damage_that_costs_nothing_gives_up_no_segment_when_another_is_lost(self):
        raw, segments = self.acquired_noise(3, "-d", "sha1")
        places = [{kind: at for kind, at, _ in self.sections(segment)} for segment in segments]
        second, fourth = segments[1].read_bytes(), segments[3].read_bytes()
        first = sum(struct.unpack_from("<I", segment.read_bytes(), place["table"] + 76)[0]
                    for segment, place in zip(segments[:3], places)) * 64
        self.flip(segments[3], places[3]["table"] + 76)
        for what, at in (("entry", places[1]["table"] + 76 + 24 + 9),
                         ("entry of the copy", places[1]["table2"] + 76 + 24 + 9),
                         ("next", places[1]["next"] + 40)):
            with self.subTest(what):
                segments[1].write_bytes(second)
                self.flip(segments[1], at)
                said = ntfs("info", segments[0], status=1).stderr.decode()
                self.assertIn(f"segment 4, image.E04, has a damaged section at "
                              f"{places[3]['table']:#x}: sectors {first}-", said)
                self.assertRegex(said, r"of the disk are lost, its bytes \S+; segment 2, image.E02, .* "
                                       r"no sectors are lost by that, .* \(the first of 2\)")

    def test_a_damaged_hash_is_named_and_the_other_segments_are_read(self):
        raw = self.volume("-c", "4096")
        segments = self.acquire(raw, "-d", "sha1")
        last = len(segments)
        content = segments[-1].read_bytes()
        places = {kind: at for kind, at, _ in self.sections(segments[-1])}
        first = sum(struct.unpack_from("<I", segment.read_bytes(), at + 76)[0]
                    for segment in segments[:-1]
                    for kind, at, _ in self.sections(segment) if kind == "table") * 64
        for kind, size in ("hash", 36), ("digest", 80):
            for place in 3, size - 2:
                with self.subTest(kind, place=place):
                    segments[-1].write_bytes(content)
                    self.flip(segments[-1], places[kind] + 76 + place)
                    said = ntfs("info", segments[0], status=1).stderr.decode()
                    self.assertIn(f"segment {last}, image.E{last:02}, has a damaged section at "
                                  f"{places[kind]:#x}: sectors {first}-", said)

    def test_a_damaged_hash_of_a_single_segment_is_named(self):
        (segment,) = self.acquire(self.volume(), "-S", "20M")
        places = {kind: at for kind, at, _ in self.sections(segment)}
        self.flip(segment, places["hash"] + 76 + 3)
        self.assertIn(f"segment 1, image.E01, has a damaged section at {places['hash']:#x}".encode(),
                      ntfs("info", segment, status=2).stderr)

    def test_the_end_of_a_segment_that_is_cut_off_costs_nothing(self):
        raw = self.volume("-c", "4096")
        segments = self.acquire(raw)
        whole, _, _ = self.rows(segments[0], status=0)
        content = segments[1].read_bytes()
        (first, second) = (struct.unpack_from("<I", segment.read_bytes(), at + 76)[0]
                           for segment in segments[:2]
                           for kind, at, _ in self.sections(segment) if kind == "table")
        for cut, lossless in ((1, True), (5, True), (75, True), (76, False), (300, False)):
            with self.subTest(cut=cut):
                segments[1].write_bytes(content[:-cut])
                self.assertEqual(self.check_damage(raw, segments, whole, 2, first + second,
                                                   "is cut off"), lossless)

    def test_a_cut_segment_is_named(self):
        segments = self.acquire(self.volume())
        content = segments[1].read_bytes()
        segments[1].write_bytes(content[:len(content) // 2])
        done = ntfs("info", segments[0], status=1)
        self.assertIn(b"segment 2, image.E02, is cut off", done.stderr)


    def add_acquiry_errors(self, segment, errors):
        """Puts a section "error2" between "data" and "hash", with its checksums."""
        content = bytearray(segment.read_bytes())

        def section(kind, following, size):
            head = struct.pack("<16sQQ40x", kind, following, size)
            return head + struct.pack("<I", zlib.adler32(head))

        head = struct.pack("<I512x", len(errors))
        entries = b"".join(struct.pack("<II", *error) for error in errors)
        body = b"".join(part + struct.pack("<I", zlib.adler32(part)) for part in (head, entries))
        size = 76 + len(body)
        at, places = 13, {}
        while True:
            kind, following, length = struct.unpack_from("<16sQQ", content, at)
            places[kind.rstrip(b"\0")] = at
            if following == at:
                break
            at = following
        for kind in (b"hash", b"done"):
            _, following, length = struct.unpack_from("<16sQQ", content, places[kind])
            content[places[kind]:places[kind] + 76] = section(kind, following + size, length)
        at = places[b"hash"]
        content[at:at] = section(b"error2", at + size, size) + body
        segment.write_bytes(content)

    def test_what_could_not_be_read_from_the_disk_is_told(self):
        raw = self.volume()
        (segment,) = self.acquire(raw, "-S", "20M")
        ntfs("info", segment, status=0)
        whole, lines, _ = self.rows(segment, status=0)
        upcase = next(row for row in whole if row["name"] == "$UpCase")
        boot = next(row for row in whole if row["name"] == "$Boot")
        errors = ((upcase["streams"][0]["extents"][0]["offset"] // 512 + 3, 2),
                  (boot["record_offset"] // 512 + 1, 1), (9000, 64))
        self.add_acquiry_errors(segment, errors)
        said = made_by("ewfinfo", segment).decode()
        for first, count in errors:
            self.assertRegex(said, rf"{first} - {first + count - 1} .*number: {count}")
        rows, lines, said = self.rows(segment, status=1)
        # What is there is shown as it is, and said to lie there.
        cluster_size = lines[0]["volume"]["cluster_size"]
        places = {row["path"]: [(row["record_offset"], 1024)] + [
            (extent["offset"], extent["clusters"] * cluster_size)
            for stream in row["streams"] + row["other_streams"] for extent in stream["extents"]
            if extent["offset"] is not None] for row in whole}
        expected = {path for path, ranges in places.items() for at, size in ranges
                    for first, count in errors if at < (first + count) * 512 and first * 512 < at + size}
        self.assertLess(len(expected), len(whole) // 2)
        self.assertLessEqual({upcase["path"], boot["path"]}, expected)
        self.assertEqual({row["path"] for row in rows if "unread-sectors" in
                          {found["code"] for found in row["findings"]}}, expected)
        for row in rows:
            row["findings"] = [found for found in row["findings"] if found["code"] != "unread-sectors"]
        self.assertEqual(rows, whole)
        (finding,) = [f for f in lines[-1]["findings"] if f["code"] == "ewf-acquiry-error"]
        first = min(errors)
        self.assertEqual((finding["count"], finding["first_offset"]), (3, first[0] * 512))
        self.assertIn("sectors" + "".join(f" {at}-{at + count - 1}" for at, count in sorted(errors)),
                      finding["text"])
        self.assertIn("ewf-acquiry-error", said)
        self.assertIn("ewf-acquiry-error", ntfs("info", segment, status=1).stderr.decode())

    def test_an_entry_that_could_not_be_read_counts_for_each_name_of_a_file(self):
        raw = self.volume()
        content = self.write("content", b"x" * 100)
        for name in "first", "second":
            made_by("ntfscp", "-f", raw, content, name)
        image = bytearray(raw.read_bytes())
        places = {}
        for name in "first", "second":
            stored = name.encode("utf-16-le")
            # An entry of an index: the file, its own size and that of $FILE_NAME behind it.
            (places[name],) = [found.start() - 0x52 for found in re.finditer(re.escape(stored), image)
                               if struct.unpack_from("<HH", image, found.start() - 0x52 + 8)
                               == ((0x52 + len(stored) + 7) // 8 * 8, 0x42 + len(stored))]
        at = places["second"]
        image[at:at + 8] = image[places["first"]:places["first"] + 8]
        raw.write_bytes(image)
        (segment,) = self.acquire(raw, "-S", "20M")
        self.add_acquiry_errors(segment, [(at // 512, 1)])
        rows, lines, _ = self.rows(segment, status=1)
        marked = [row["path"] for row in rows
                  if "unread-sectors" in {found["code"] for found in row["findings"]}]
        self.assertEqual(sorted(marked), ["/", "/second"])
        (finding,) = [f for f in lines[-1]["findings"] if f["code"] == "unread-sectors"]
        self.assertEqual(finding["count"], 2)


class LostBootSectors(Images):
    def lost(self, *options, before=0, mirror=False, mft=False):
        """A volume, and the same without its boot sectors behind so many bytes."""
        raw = self.volume(*options)
        content = bytearray(raw.read_bytes())
        _, lines, _ = self.rows(raw, status=0)
        volume = lines[0]["volume"]
        size, at = volume["cluster_size"], volume["mft_extents"][0]["offset"]
        record = next(strict_json(line) for line in ntfs("snapshot", raw, status=0)
                      .stdout.splitlines()[1:] if b"$MFTMirr" in line)
        copy = record["streams"][0]["extents"][0]["offset"]
        for place in (0, len(content) - 512, len(content) // 2):
            if content[place + 3:place + 7] == b"NTFS":
                content[place:place + 512] = bytes(512)
        if mft:
            content[at:at + 1024] = bytes(1024)
        if mirror:
            content[copy:copy + 4096] = bytes(4096)
        damaged = self.write("damaged.dd", bytes(before) + content)
        return raw, damaged, size, at

    def check(self, raw, damaged, *options, before=0):
        expected, lines, _ = self.rows(raw, status=0)
        found, other, said = self.rows(damaged, *options, status=1)
        self.assertIn("geometry-inferred", said)
        self.assertEqual(len(found), len(expected))
        for a, b in zip(expected, found):
            for key in ("path", "record", "sequence", "state", "si", "fn", "index", "owner_sid"):
                self.assertEqual(a[key], b[key])
            if a["record_offset"] is not None:
                self.assertEqual(a["record_offset"] + before, b["record_offset"])
        for key in ("cluster_size", "clusters", "record_size", "label", "version"):
            self.assertEqual(lines[0]["volume"][key], other[0]["volume"][key], key)
        self.assertIsNone(other[0]["volume"]["serial_number"])
        self.assertIsNone(other[0]["volume"]["bytes_per_sector"])

    def test_the_volume_is_found_through_its_mft(self):
        for size in ("512", "4096", "65536"):
            with self.subTest(cluster_size=size):
                raw, damaged, *_ = self.lost("-c", size)
                self.check(raw, damaged)
                self.assertIn(b"no boot sector:", ntfs("info", damaged, status=1).stdout)

    def test_its_copy_in_the_mirror_is_enough(self):
        raw, damaged, size, _ = self.lost(mft=True)
        done = ntfs("snapshot", damaged, status=1)
        names = {line.get("path") for line in strict_ndjson(done.stdout)}
        self.assertLessEqual({"/", "/$LogFile", "/$UpCase"}, names)
        self.assertEqual(strict_ndjson(done.stdout)[0]["volume"]["cluster_size"], size)

    def test_without_the_mirror_it_is_found_too(self):
        raw, damaged, *_ = self.lost(mirror=True)
        self.check(raw, damaged)

    def test_with_a_boot_sector_and_neither_record_0_nor_its_copy_it_is_said_where_they_should_be(self):
        raw = self.volume()
        content = bytearray(raw.read_bytes())
        cluster = content[0x0d] * 512
        places = [lcn * cluster for lcn in struct.unpack_from("<QQ", content, 0x30)]
        for place in places:
            self.assertEqual(content[place:place + 4], b"FILE")
        whole = self.rows(raw, status=0)[0]
        damaged = bytearray(content)
        damaged[places[0]:places[0] + 4] = b"XXXX"
        found = self.rows(self.write("one.dd", damaged), status=1)[0]
        self.assertLessEqual({row["path"] for row in whole} - {"/$MFT"},
                             {row["path"] for row in found})
        for place in places:
            content[place:place + 4] = b"XXXX"
        both = self.write("both.dd", content)
        for command in ("info", "snapshot"):
            said = ntfs(command, both, status=2).stderr.decode()
            self.assertIn(f"{places[0]:#x}: FILE.Magic", said)

    def test_partitions_of_other_kinds_are_listed(self):
        table = bytearray(512)
        for i in range(2):
            struct.pack_into("<B3xB3xII", table, 446 + 16 * i, 0, 0x83, 1 + 8 * i, 8)
        table[510:] = b"\x55\xaa"
        said = ntfs("info", self.write("disk.img", bytes(table).ljust(17 * 512, b"\0")),
                    status=2).stderr.decode()
        self.assertRegex(said, r"among its partitions: 1 is [^;]*zeros[^;]*; 2 is [^;]*zeros[^;]*\n$")

    def test_partitions_of_joined_disks_are_named(self):
        """Types of partitions: diskguid.h of the Windows SDK; the table: UEFI specification 2.10, 5.3."""
        types = {1: "e75caf8f-f680-4cee-afa3-b001e56efc2d",
                 2: "af9b60a0-1431-4f62-bc68-3311714a69ad",
                 3: "5808c8aa-7e8f-42e0-85d2-e1e90434cfb3",
                 4: "ebd0a0a2-b9e5-4433-87c0-68b6b72699c7"}
        volume = self.volume().read_bytes()
        disk = bytearray(4 << 20) + volume + bytes(1 << 20)
        entries = b""
        for number, kind in types.items():
            first, last = ((4 << 20) // 512, (4 << 20) // 512 + len(volume) // 512 - 1) if number == 4 else (
                number * 2048, number * 2048 + 1023)
            entries += struct.pack("<16s16sQQQ72x", uuid.UUID(kind).bytes_le, bytes([number]) * 16, first, last, 0)
            if number != 4:
                disk[first * 512:first * 512 + 16] = b"neither of these"
        entries = entries.ljust(128 * 128, b"\0")
        fields = [b"EFI PART", 0x10000, 92, 0, 1, len(disk) // 512 - 1, 34, len(disk) // 512 - 34, bytes(16), 2, 128,
                  128, zlib.crc32(entries)]
        form = "<8sIII4xQQQQ16sQIII"
        fields[3] = zlib.crc32(struct.pack(form, *fields))
        disk[512:604] = struct.pack(form, *fields)
        disk[1024:1024 + len(entries)] = entries
        path = self.write("joined.img", disk)
        told = strict_json(ntfs("info", "--format", "json", path, status=0).stdout)
        self.assertEqual({number: row["holds"] for number, row in enumerate(told["partitions"], 1)},
                         {1: "storage_pool", 2: "unknown", 3: "unknown", 4: "ntfs_volume"})
        self.assertEqual([(finding["code"], finding["count"], finding["first_offset"],
                           finding["text"].split(" belongs")[0]) for finding in told["findings"]],
                         [("partition-storage-space", 1, 1024, "partition 1"),
                          ("partition-dynamic", 2, 1024 + 128, "partition 2")])
        text = ntfs("info", path, status=0).stdout.decode()
        self.assertIn("a part of a storage pool (Storage Spaces)", text)
        _, lines, _ = self.rows(path, status=0)
        self.assertLessEqual({"partition-storage-space", "partition-dynamic"},
                             {finding["code"] for finding in lines[-1]["findings"]})

    def test_a_volume_behind_a_lost_partition_table_is_found(self):
        for before in (63 * 512, 1 << 20):
            raw, damaged, *_ = self.lost(before=before)
            self.check(raw, damaged, before=before)

    def test_a_volume_that_cannot_be_opened_is_in_the_findings(self):
        good = self.volume("-c", "4096").read_bytes()
        bad = bytearray(good)
        for cluster in struct.unpack_from("<QQ", good, 48):  # of $MFT and $MFTMirr
            bad[cluster * 4096:cluster * 4096 + 4] = b"XXXX"
        table = bytearray(512)
        for i in range(2):
            struct.pack_into("<B3xB3xII", table, 446 + 16 * i, 0, 7, 1 + i * (len(good) // 512),
                             len(good) // 512)
        table[510:] = b"\x55\xaa"
        disk = self.write("two.dd", bytes(table) + good + bytes(bad))
        snapshot = ntfs("snapshot", disk, status=1)
        summary = strict_json(snapshot.stdout.splitlines()[-1])
        document = strict_json(ntfs("info", "--format", "json", disk, status=1).stdout)
        for findings in summary["findings"], document["findings"]:
            self.assertEqual([(one["count"], one["first_offset"]) for one in findings
                              if one["code"] == "volume-unopened"], [(1, 512 + len(good))])
        self.assertEqual([one["holds"] for one in document["partitions"]], ["ntfs_volume"] * 2)

        for command in ("info", "snapshot"):
            done = ntfs(command, disk, status=1)
            self.assertRegex(done.stderr.decode(), rf"two\.dd: warning: volume-unopened at "
                                                   rf"{512 + len(good):#x}: partition 2: ")
            self.assertNotIn(b"coldtrace: ", done.stderr)
            ntfs(command, "--tolerate", "volume-unopened", disk, status=0)
            self.assertEqual(ntfs(command, "-q", disk, status=1).stderr, b"")
            # Where nothing can be opened there is no answer.
            done = ntfs(command, "--tolerate", "volume-unopened", "--partition", "2", disk,
                        status=2)
            self.assertIn(b"partition 2: ", done.stderr)

    def test_a_place_that_is_told_and_holds_no_volume_is_named(self):
        content = self.volume().read_bytes()
        table = bytearray(512)
        struct.pack_into("<B3xB3xII", table, 446, 0, 7, 1, len(content) // 512)
        table[510:] = b"\x55\xaa"
        disk = self.write("mbr.dd", bytes(table) + content)
        for command in ("info", "snapshot"):
            said = ntfs(command, "--mft-offset", 0, disk, status=2).stderr.decode()
            self.assertIn("no usable record 0 of $MFT is at 0x0, where --mft-offset says", said)
            ntfs(command, "--offset", 512, disk, status=0)
            said = ntfs(command, "--offset", 0, disk, status=2).stderr.decode()
            self.assertNotIn("an image of a disk or a volume", said)
            self.assertIn("at 0x0 is", said)
            for place in (disk.stat().st_size, 1 << 40):
                said = ntfs(command, "--offset", place, disk, status=2).stderr.decode()
                self.assertIn(f"--offset {place:#x} is beyond its end, at {disk.stat().st_size:#x}",
                              said)

    def test_a_size_of_clusters_that_is_not_used_is_told(self):
        volume = self.volume()
        boot = volume.read_bytes()[:512]
        size = boot[0x0d] * struct.unpack_from("<H", boot, 0x0b)[0]
        told = b"boot sector says that clusters have %d bytes; the given %d are not used"
        for command in ("info", "snapshot"):
            self.assertNotIn(b"clusters have", ntfs(command, "--cluster-size", size, volume, status=0).stderr)
            self.assertIn(told % (size, 2 * size),
                          ntfs(command, "--cluster-size", 2 * size, volume, status=1).stderr)
        *_, summary = ntfs("snapshot", "--cluster-size", 2 * size, volume, status=1).stdout.splitlines()
        self.assertIn("cluster-size-unused", {finding["code"] for finding in json.loads(summary)["findings"]})

    def test_the_place_can_be_told(self):
        raw, damaged, size, at = self.lost()
        self.check(raw, damaged, "--mft-offset", at)
        self.check(raw, damaged, "--mft-offset", at, "--cluster-size", size)

        def holds(*arguments):
            done = subprocess.run([COLDTRACE, "ntfs", "info", "--format", "json", *map(str, arguments)], capture_output=True)
            (partition,) = json.loads(done.stdout)["partitions"]
            return partition["holds"]
        for image, kind in ((raw, "ntfs_volume"), (damaged, "zeros")):
            self.assertEqual((holds(image), holds("--mft-offset", at, image)), (kind, kind))
        self.assertIn(b"not a power of two",
                      ntfs("info", "--cluster-size", 1000, damaged, status=2).stderr)
        for command in ("info", "snapshot"):
            done = ntfs(command, "--mft-offset", at + 512, damaged, status=2)
            self.assertEqual(done.stdout, b"")
            self.assertIn(f"no usable record 0 of $MFT is at {at + 512:#x}, where --mft-offset says"
                          .encode(), done.stderr)
            self.assertNotIn(b"no $MFT was found", done.stderr)

    def test_where_there_is_none_it_is_said(self):
        done = ntfs("info", self.write("zeros", bytes(1 << 20)), status=2)
        self.assertIn(b"no $MFT was found in its 1048576 bytes", done.stderr)

    def test_the_stored_bit_of_extended_attributes_has_their_name(self):
        """winnt.h has two names for 0x40000; that of files in a cloud is for directory queries alone."""
        volume = self.volume()
        content = bytearray(volume.read_bytes())
        cluster, mft = content[13] * 512, struct.unpack_from("<Q", content, 0x30)[0]
        record = mft * cluster + 4 * 1024  # $AttrDef: its first attribute is $STANDARD_INFORMATION
        at = record + struct.unpack_from("<H", content, record + 0x14)[0]
        self.assertEqual(struct.unpack_from("<I", content, at)[0], 0x10)
        flags = at + struct.unpack_from("<H", content, at + 0x14)[0] + 0x20
        struct.pack_into("<I", content, flags, 0x40000 | 6)
        volume.write_bytes(content)
        rows, *_ = self.rows(volume, status=0)
        self.assertEqual([row["attributes"] for row in rows if row["name"] == "$AttrDef"], [["hidden", "system", "ea"]])
        table = strict_csv(ntfs("snapshot", "--format", "mftecmd-csv", volume, status=0).stdout)
        self.assertEqual([row["SiFlags"] for row in table if row["FileName"] == "$AttrDef"], ["Hidden|System|HasEa"])
        found = strict_ndjson(ntfs("query", volume, "--where", 'attributes == "ea"', status=0).stdout)
        self.assertEqual([row["name"] for row in found if row.get("type") == "file"], ["$AttrDef"])

    def test_an_erased_log_is_named(self):
        log = self.write("LOG", b"\xff" * (2 << 20))
        for command in ("info", "snapshot", "journal"):
            self.assertIn("it is FF throughout, as Linux drivers leave a $LogFile; 'coldtrace ntfs logfile' reads one",
                          ntfs(command, log, status=2).stderr.decode())
        log.write_bytes(b"\xff" * ((2 << 20) - 1) + b"\0")
        self.assertIn(b"of unknown kind", ntfs("info", log, status=2).stderr)

    def test_of_a_volume_that_ends_before_its_mft_it_is_said_what_is_left(self):
        content = self.volume().read_bytes()
        mft, = struct.unpack_from("<Q", content, 0x30)
        mft *= content[13] * 512
        for left, words in ((512, "only its boot sector is here"), (2048, "only its first 2048 bytes are here")):
            said = ntfs("info", self.write("start", content[:left]), status=2).stderr.decode()
            self.assertIn(f"at 0x0 is an NTFS volume that was cut off: {words}, and not {mft:#x}, where its $MFT is; "
                          "no other one was found", said)

    def test_holes_are_not_read_and_the_end_of_the_search_is_said(self):
        sparse = self.here / "sparse"
        for size, words in ((15 << 30, f"in its {15 << 30} bytes"),
                            (20 << 30, "in its first 16 GiB, where the search ends")):
            with open(sparse, "wb") as file:
                file.truncate(size)
            trace = self.here / "trace"
            made_by("strace", "-V")
            done = subprocess.run(["strace", "-f", "-e", "trace=pread64", "-o", trace, COLDTRACE,
                                   "ntfs", "info", sparse], capture_output=True)
            if b"ptrace" in done.stderr:
                raise unittest.SkipTest("programs cannot be traced here")
            self.assertEqual(done.returncode, 2)
            self.assertIn(words.encode(), done.stderr)
            self.assertLess(len(trace.read_text().splitlines()), 1000)

    def test_a_volume_behind_a_hole_is_found(self):
        raw, damaged, *_ = self.lost()
        far = self.here / "far"
        with open(far, "wb") as file:
            file.seek(3 << 30)
            file.write(damaged.read_bytes())
        self.check(raw, far, before=3 << 30)


class Slack(Images):
    """Entries put into the unused bytes of the root's only index buffer."""

    def entry(self, name, size, record=None, sequence=3):
        parent = struct.pack("<Q", 5 << 0 | 5 << 48)
        stamps = struct.pack("<4Q", *(132000000000000000 + n for n in range(4)))
        key = (parent + stamps + struct.pack("<QQIIBB", 4096, size, 0x20, 0, len(name), 1)
               + name.encode("utf-16-le"))
        length = (16 + len(key) + 7) // 8 * 8
        if record is None:  # the end of the node has moved over the head
            head = struct.pack("<QHHI", 0, 16, 0, 2)
        else:
            head = struct.pack("<QHHI", record | sequence << 48, length, len(key), 0)
        return (head + key).ljust(length, b"\0")

    def make(self):
        volume = self.volume("-c", "4096")
        content = bytearray(volume.read_bytes())
        index = content.index(b"INDX")
        entries = [self.entry("gone.txt", 1234, 77), self.entry("gone.txt", 1234, 77),
                   self.entry("gone.txt", 1234), self.entry("lost.txt", 99)]
        for sector, entry in zip((4, 5, 6, 7), entries):
            content[index + sector * 512:index + sector * 512 + len(entry)] = entry
        volume.write_bytes(content)
        return volume, index

    def test_what_an_entry_says_is_in_its_row_and_copies_are_counted(self):
        volume, index = self.make()
        done = ntfs("snapshot", "--slack", volume, status=0)
        rows = {row["name"]: row for row in strict_ndjson(done.stdout)
                if row.get("state") == "slack"}
        self.assertEqual(set(rows), {"gone.txt", "lost.txt"})
        gone, lost = rows["gone.txt"], rows["lost.txt"]
        self.assertEqual((gone["record"], gone["sequence"]), (77, 3))
        self.assertEqual(gone["entry"], {"offset": index + 4 * 512, "size": 1234,
                                         "allocated": 4096, "attributes": ["archive"], "copies": 3})
        self.assertEqual((lost["record"], lost["sequence"]), (None, None))
        self.assertEqual(lost["entry"]["size"], 99)
        self.assertEqual(lost["entry"]["offset"], index + 7 * 512)
        live = next(row for row in strict_ndjson(done.stdout)
                    if row.get("name") == "$Boot")
        self.assertIsNone(live["entry"])

    def test_a_copied_mft_has_what_is_behind_its_records(self):
        volume = self.volume("-c", "4096")
        content = bytearray(volume.read_bytes())
        start = self.rows(volume, status=0)[1][0]["volume"]["mft_extents"][0]["offset"]
        root = start + 5 * 1024
        at = max(512, (struct.unpack_from("<I", content, root + 0x18)[0] + 7) // 8 * 8)
        self.assertLess(at + 250, 1022)
        boot = bytearray(self.entry("$Boot", 8192, 7, 7))
        boot[16 + 65] = 3  # a name of both namespaces, which is still there
        entries = self.entry("gone.txt", 1234, 77) + boot
        content[root + at:root + at + len(entries)] = entries
        volume.write_bytes(content)
        copied = self.write("$MFT", made_by("icat", volume, "0"))
        for path, base in ((volume, start), (copied, 0)):
            with self.subTest(path=path.name):
                rows, _, _ = self.rows(path, "--slack", status=0)
                (row,) = (row for row in rows if row["state"] == "slack")
                self.assertEqual((row["path"], row["record"], row["sequence"]), ("/gone.txt", 77, 3))
                self.assertEqual((row["entry"]["offset"], row["entry"]["size"]), (base + 5 * 1024 + at, 1234))
                self.assertEqual([row["path"] for row in rows if row["name"] == "$Boot"], ["/$Boot"])

    def test_csv_and_bodyfile_say_the_same(self):
        volume, index = self.make()
        done = ntfs("snapshot", "--slack", "--format", "csv", "--fields",
                    "name,record,entry", volume, status=0)
        rows = {row["name"]: row for row in strict_csv(done.stdout)}
        self.assertEqual(rows["gone.txt"]["entry_copies"], "3")
        self.assertEqual(rows["gone.txt"]["entry_offset"], str(index + 4 * 512))
        self.assertEqual(rows["lost.txt"]["record"], "")
        self.assertEqual(rows["$Boot"]["entry_size"], "")
        body = ntfs("snapshot", "--slack", "--format", "bodyfile", volume, status=0).stdout.decode()
        line = next(line for line in body.splitlines() if "gone.txt" in line)
        self.assertEqual(line.split("|")[6], "1234")


    def test_the_last_entry_that_was_removed_has_the_end_over_its_head(self):
        volume = self.volume("-c", "4096")
        made_by("ntfscp", "-f", volume, self.write("content", b"x"), "zulu")
        _, lines, _ = self.rows(volume, status=0)
        content = bytearray(volume.read_bytes())
        node = content.index(b"INDX") + 0x18
        at = node + struct.unpack_from("<I", content, node)[0]
        while not content[at + 12] & 2:
            last, at = at, at + struct.unpack_from("<H", content, at + 8)[0]
        self.assertEqual(content[last + 0x52:last + 0x5a].decode("utf-16-le"), "zulu")
        record, = struct.unpack_from("<I", content, last)
        content[last:last + 16] = content[at:at + 16]
        struct.pack_into("<I", content, node + 4, last + 16 - node)
        volume.write_bytes(content)
        # What a split leaves of a file that is still there is a copy.
        rows, *_ = self.rows(volume, "--slack", status=1)
        self.assertEqual([row["state"] for row in rows if row["name"] == "zulu"], ["unreachable"])
        content[lines[0]["volume"]["mft_extents"][0]["offset"] + record * 1024 + 0x16] = 0
        volume.write_bytes(content)
        rows, *_ = self.rows(volume, "--slack", status=0)
        gone, slack = (row for row in rows if row["name"] == "zulu")
        self.assertEqual((gone["state"], gone["record"]), ("deleted", record))
        self.assertEqual((slack["state"], slack["record"], slack["entry"]["offset"]),
                         ("slack", None, last))


class Records(Images):
    def test_records_that_were_never_used_are_not_deleted(self):
        rows, _, _ = self.rows(self.volume(), status=0)
        self.assertEqual([row["record"] for row in rows if row["state"] == "deleted"], [])

    def test_a_record_that_a_disk_check_marked_is_named(self):
        volume = self.volume()
        content = bytearray(volume.read_bytes())
        _, lines, _ = self.rows(volume, status=0)
        mft = lines[0]["volume"]["mft_extents"][0]["offset"]
        at = mft + 25 * 1024
        self.assertEqual(content[at:at + 4], b"FILE")
        content[at:at + 4] = b"BAAD"
        content[at + 0x14:at + 0x16] = b"\0\0"
        volume.write_bytes(content)
        done = ntfs("info", volume, status=1)
        self.assertRegex(done.stderr.decode(),
                         r"marked BAAD by a disk check: record 25 \(.*FirstAttribute")

    def test_all_records_that_a_disk_check_marked_are_counted_and_the_first_named(self):
        volume = self.volume()
        content = bytearray(volume.read_bytes())
        mft = self.rows(volume, status=0)[1][0]["volume"]["mft_extents"][0]["offset"]
        numbers = [n for n in range(6, 64) if content[mft + n * 1024:][:4] == b"FILE"]
        self.assertGreater(len(numbers), 17)
        for number in numbers:
            content[mft + number * 1024:mft + number * 1024 + 4] = b"BAAD"
        for marked in (numbers[:2], numbers):
            with self.subTest(count=len(marked)):
                changed = bytearray(content)
                for number in set(numbers) - set(marked):
                    changed[mft + number * 1024:mft + number * 1024 + 4] = b"FILE"
                broken = mft + marked[1] * 1024 + 0x14
                changed[broken:broken + 2] = b"\0\0"
                volume.write_bytes(changed)
                found = [f for f in self.rows(volume, status=1)[1][-1]["findings"]
                         if f["code"] == "record-bad"]
                self.assertEqual([f["count"] for f in found], [len(marked)])
                self.assertEqual(found[0]["first_offset"], mft + marked[0] * 1024)
                named = re.findall(r"(\d+) \((?:(read all the same)|[^)]*FirstAttribute[^)]*)\)",
                                   found[0]["text"])
                self.assertEqual(named, [(str(n), "" if n == marked[1] else "read all the same")
                                         for n in marked[:16]])
                self.assertEqual(f" and {len(marked) - 16} more" in found[0]["text"],
                                 len(marked) > 16)

    def test_a_mft_longer_than_the_image_is_told_by_both_sizes(self):
        volume = self.volume()
        _, lines, _ = self.rows(volume, status=0)
        mft = lines[0]["volume"]["mft_extents"][0]["offset"]
        size = mft + 8 * 1024
        with open(volume, "r+b") as file:
            file.truncate(size)
        said = ntfs("info", volume, status=1).stderr.decode()
        line = next(line for line in said.splitlines() if "mft-size" in line)
        self.assertIn(f"but the image has {size}", line)


class LongPaths(Images):
    def test_a_path_that_is_too_long_starts_at_a_directory(self):
        volume, mount = self.volume(), self.here / "mount"
        mount.mkdir()
        if not shutil.which("ntfs-3g") or not Path("/dev/fuse").exists():
            raise unittest.SkipTest("ntfs-3g or FUSE is not here")
        daemon = subprocess.Popen(["ntfs-3g", "-o", "no_detach", volume, mount],
                                  stderr=subprocess.DEVNULL)
        while not mount.is_mount():
            if daemon.poll() is not None:
                raise unittest.SkipTest("ntfs-3g may not mount here")
            time.sleep(0.01)
        folder = os.open(mount, os.O_DIRECTORY)
        levels = 96 * 1024 // 256 + 8
        try:
            for _ in range(levels):
                os.mkdir("d" * 255, dir_fd=folder)
                inner = os.open("d" * 255, os.O_DIRECTORY, dir_fd=folder)
                os.close(folder)
                folder = inner
        finally:
            os.close(folder)
            subprocess.run(["umount", mount], check=True)
            daemon.wait(60)
        rows, lines, _ = self.rows(volume, "--fields", "name", status=0)
        (finding,) = [f for f in lines[-1]["findings"] if f["code"] == "path-cut"]
        self.assertEqual(finding["severity"], "info")
        self.assertEqual([row["name"] for row in rows].count("d" * 255), levels)


class Columns(Images):
    def csv(self, volume, *options):
        done = ntfs("snapshot", "-v", "--format", "csv", *options, volume, status=0)
        return strict_csv(done.stdout), done.stderr.decode()

    def test_the_size_can_be_asked_for(self):
        volume = self.volume()
        table, _ = self.csv(volume, "--fields", "path,size")
        self.assertEqual(list(table[0]), ["path", "size", "path_utf16"])
        lines = strict_ndjson(
            ntfs("snapshot", "--fields", "path,size", volume, status=0).stdout)
        self.assertEqual({row["path"]: row["size"] for row in table},
                         {row["path"]: "" if row["size"] is None else str(row["size"])
                          for row in lines if row["type"] == "file"})
        boot = next(row for row in table if row["path"] == "/$Boot")
        self.assertEqual(boot["size"], "8192")

    def test_long_cells_can_be_left_out(self):
        volume = self.volume()
        whole, _ = self.csv(volume)
        cut, said = self.csv(volume, "--cell-limit", "60")
        longer = 0
        for before, after in zip(whole, cut):
            for key, value in before.items():
                longer += len(value.encode()) > 60
                self.assertEqual(after[key], "" if len(value.encode()) > 60 else value)
        self.assertGreater(longer, 0)
        self.assertIn(f"{longer} cells longer than 60 bytes are left empty", said)


class LostTables(Images):
    """Disks without a usable partition table, whose volumes are known."""

    def setUp(self):
        super().setUp()
        self.volumes = []
        for seed in (3, 4):
            volume, _ = usn_writer.volume(usn_writer.History(seed, 60), 1)
            path = self.write(f"alone{seed}", volume)
            usns = [row["usn"] for row in strict_ndjson(ntfs("journal", path, status=0).stdout) if row["type"] == "record"]
            self.volumes.append((bytes(volume), usns))

    def disk(self, *places, end=9 << 20, first=bytes(512)):
        disk = bytearray(end)
        disk[:512] = first
        for (volume, _), place in zip(self.volumes, places):
            disk[place:place + len(volume)] = volume
        disk[-8:] = b"the end."  # what a $J is known by, where a file starts with zeros, is its last page
        return disk

    def check(self, disk, *places):
        path = self.write("disk.dd", disk)
        lines = strict_ndjson(ntfs("journal", path, status=1).stdout)
        headers = [line for line in lines if line["type"] == "header"]
        self.assertEqual([(line["partition"]["number"], line["partition"]["offset"]) for line in headers],
                         list(enumerate(places, 1)))
        self.assertEqual({line["disk"]["table"] for line in headers}, {"lost"})
        self.assertEqual([row["usn"] for row in lines if row["type"] == "record"],
                         [usn for _, usns in self.volumes[:len(places)] for usn in usns])
        self.assertIn("partition-lost", {finding["code"] for finding in lines[-1]["findings"]})
        table = ntfs("journal", "--format", "l2tcsv", path, status=1).stdout.decode().splitlines()[1:]
        self.assertEqual([re.search("update_sequence_number: ([0-9]+).*; volume: (.*)", line).groups() for line in table],
                         [(str(usn), f"disk.dd partition {number}")
                          for number, (_, usns) in enumerate(self.volumes[:len(places)], 1) for usn in usns])
        for number, place in enumerate(places, 1):
            one = strict_ndjson(ntfs("journal", "--partition", number, path, status=1).stdout)
            self.assertEqual(one[0]["partition"]["offset"], place)

    def test_all_volumes_are_found(self):
        mebibyte, cylinder = 1 << 20, 255 * 63 * 512
        self.check(self.disk(mebibyte, 5 * mebibyte), mebibyte, 5 * mebibyte)
        self.check(self.disk(63 * 512, cylinder), 63 * 512, cylinder)
        noise = random.Random(5).randbytes(510) + b"\x55\xaa"
        self.check(self.disk(mebibyte, 2 * mebibyte + (-(-len(self.volumes[0][0]) // mebibyte) << 20), first=noise),
                   mebibyte, 2 * mebibyte + (-(-len(self.volumes[0][0]) // mebibyte) << 20))

    def test_at_64_kib_near_the_start_and_behind_a_volume(self):
        stripe, sizes = 1 << 16, [len(volume) for volume, _ in self.volumes]
        behind = -(-(stripe + sizes[0]) // stripe) * stripe
        for place in (behind, behind + 3 * stripe):
            self.check(self.disk(stripe, place), stripe, place)
        first, second = (1 << 20) + stripe - sizes[0], (4 << 20) + stripe - sizes[1]
        disk = self.disk(first, second)
        for place in (first, second):  # whose copies are left, at the ends
            disk[place:place + 512] = bytes(512)
        self.assertLess(first, 1 << 20)
        self.check(disk, first, second)
        disk = self.disk(stripe, behind)
        for place in (stripe, stripe + sizes[0] - 512):  # what is left of the first one is its $MFT
            disk[place:place + 512] = bytes(512)
        said = ntfs("info", self.write("both", disk), status=1).stderr.decode()
        self.assertNotIn("no boot sector is usable", said)

    def test_by_the_copy_of_a_boot_sector(self):
        place = (6 << 20) - len(self.volumes[1][0])
        disk = self.disk(1 << 20, place)
        disk[place:place + 512] = bytes(512)
        self.check(disk, 1 << 20, place)

    def test_a_boot_sector_alone_is_no_volume(self):
        disk = self.disk(1 << 20, 5 << 20)
        for place in (3 << 20, 8 << 20):  # of whose $MFT nothing is there
            disk[place:place + 512] = self.volumes[0][0][:512]
        self.check(disk, 1 << 20, 5 << 20)
        alone = self.write("alone", bytes(512) + self.volumes[0][0][512:])
        (header,) = (line for line in strict_ndjson(ntfs("journal", alone, status=1).stdout) if line["type"] == "header")
        self.assertEqual((header["disk"]["table"], header["partition"]["number"]), ("volume", None))


    @staticmethod
    def table(*entries):
        """A boot record with these first bytes and sizes of its partitions."""
        slots = b"".join(struct.pack("<4x4B2I", 7, 0, 0, 0, start // 512, size // 512) if size else bytes(16)
                         for start, size in entries)
        return bytes(446) + slots.ljust(64, b"\0") + b"\x55\xaa"

    @staticmethod
    def usns(lines):
        return [row["usn"] for row in lines if row["type"] == "record"]

    @staticmethod
    def warnings(lines):
        return [f["code"] for f in lines[-1]["findings"] if f["severity"] == "warning"]

    def test_an_offset_is_the_partition_that_begins_there(self):
        places, sizes = (1 << 20, 5 << 20), [len(volume) for volume, _ in self.volumes]
        whole = self.disk(*places, end=places[1] + sizes[1], first=self.table(*zip(places, sizes)))
        whole[-512:] = self.volumes[1][0][-512:]
        bare = bytearray(whole)
        bare[places[0]:places[0] + 512] = bytes(512)
        for name, disk in (("whole", whole), ("bare", bare)):
            path = self.write(name, disk)
            for i, place in enumerate(places):
                damaged = name == "bare" and i == 0
                lines = strict_ndjson(ntfs("journal", "--offset", place, path, status=damaged).stdout)
                self.assertEqual((self.usns(lines), self.warnings(lines)), (self.volumes[i][1], ["boot-sector"] * damaged))
                partition = lines[0]["partition"]
                self.assertEqual((partition["number"], partition["offset"], partition["size"], partition["type"]),
                                 (i + 1, place, sizes[i], "0x07"))
                other = 1 - i  # a byte of its $MFT
                for command, *more in (("journal",), ("journal", "--format", "text"), ("journal", "--format", "mftecmd-csv"),
                                       ("snapshot", "--state", "all"), ("snapshot", "--format", "bodyfile"),
                                       ("locate", "--format", "ndjson", places[other] + 4 * 4096)):
                    options, asked = [one for one in more if not isinstance(one, int)], [one for one in more if isinstance(one, int)]
                    by_offset, by_number = (subprocess.run([COLDTRACE, "ntfs", command, *options, choice, str(value), path, *map(str, asked)],
                                                           capture_output=True, timeout=120)
                                            for choice, value in (("--offset", place), ("--partition", i + 1)))
                    self.assertIn(by_number.returncode, (0, 1))
                    self.assertEqual((by_offset.returncode, by_offset.stdout), (by_number.returncode, by_number.stdout), command)
                    if command == "locate":
                        self.assertEqual(strict_ndjson(by_offset.stdout)[1]["holds"], "other_partition")

    def test_an_unlisted_volume_ends_where_a_partition_begins(self):
        places, sizes = (1 << 20, 5 << 20), [len(volume) for volume, _ in self.volumes]
        disk = self.disk(*places, end=places[1] + sizes[1], first=self.table((places[1], sizes[1])))
        path = self.write("disk", disk)
        lines = strict_ndjson(ntfs("journal", "--offset", places[0], path, status=0).stdout)
        self.assertEqual((lines[0]["partition"]["number"], lines[0]["partition"]["size"]), (None, places[1] - places[0]))
        located = strict_ndjson(ntfs("locate", "--format", "ndjson", "--offset", places[0], path, places[1] + 4 * 4096, status=0).stdout)
        self.assertEqual(located[1]["holds"], "other_partition")

    def test_the_copy_of_another_volume_is_not_used(self):
        """It ends where the image does, and its sector count says where it begins."""
        places, sizes = (1 << 20, 5 << 20), [len(volume) for volume, _ in self.volumes]
        listed = self.table((places[0], places[1] + sizes[1] - places[0]))
        for name, first, wiped in (("unlisted", bytes(512), places), ("listed", listed, places[:1])):
            disk = self.disk(*places, end=places[1] + sizes[1], first=first)
            disk[-512:] = self.volumes[1][0][-512:]
            for place in wiped:
                disk[place:place + 512] = bytes(512)
            lines = strict_ndjson(ntfs("journal", "--offset", places[0], self.write(name, disk), status=1).stdout)
            self.assertEqual((self.usns(lines), self.warnings(lines)), (self.volumes[0][1], ["geometry-inferred"]), name)
            self.assertEqual(lines[0]["disk"]["table"], "volume" if name == "unlisted" else "mbr")

    def test_an_entry_that_begins_before_its_volume(self):
        place, size = 1 << 20, len(self.volumes[0][0])
        for early in (512, 8 * 512):
            disk = self.disk(place, first=self.table((place - early, size + early)))
            path = self.write("early", disk)
            lines = strict_ndjson(ntfs("journal", path, status=1).stdout)
            self.assertEqual((self.usns(lines), self.warnings(lines)[0]), (self.volumes[0][1], "boot-sector"))
            self.assertEqual(lines[0]["partition"]["offset"], place - early)
            text, = (f["text"] for f in lines[-1]["findings"] if f["code"] == "boot-sector")
            self.assertIn(f"by which the volume starts at {place:#x}", text)
            # One that is named by where it starts starts there.
            self.assertEqual(self.usns(strict_ndjson(ntfs("journal", "--offset", place, path, status=0).stdout)), self.volumes[0][1])

    def test_an_entry_that_begins_behind_the_start_of_its_volume(self):
        place, size = 1 << 20, len(self.volumes[0][0])
        for late in (512, 8 * 512, 64 << 10):
            with self.subTest(late):
                # It ends where the volume does.
                path = self.write("late", self.disk(place, first=self.table((place + late, size - late))))
                lines = strict_ndjson(ntfs("journal", path, status=1).stdout)
                self.assertEqual((self.usns(lines), self.warnings(lines)), (self.volumes[0][1], ["boot-sector"]))
                text, = (f["text"] for f in lines[-1]["findings"] if f["code"] == "boot-sector")
                self.assertIn(f"by which the volume starts at {place:#x}", text)
                self.assertEqual(lines[0]["partition"]["offset"], place + late)
                rows = [line for line in lines if line["type"] == "record"]
                self.assertEqual({row["volume"]["start"] for row in rows}, {place})
                # All of it lies behind the volume by as much: where its last sectors end is none of the volume.
                if late == 512:
                    continue
                path = self.write("moved", self.disk(place, first=self.table((place + late, size))))
                said = ntfs("journal", path, status=2).stderr.decode()
                self.assertIn(f"an NTFS volume of {size} bytes starts here", said)
                self.assertEqual(self.usns(strict_ndjson(ntfs("journal", "--offset", place, path, status=0).stdout)),
                                 self.volumes[0][1])

    def test_a_volume_is_not_read_again_by_a_copy_that_another_partition_ends_with(self):
        place, size = 1 << 20, len(self.volumes[0][0])
        half = size // 2 // 512 * 512
        disk = self.disk(place, first=self.table((place, half), (place + half, size - half)))
        disk[place + half:place + half + 512] = bytes(512)
        lines = strict_ndjson(ntfs("journal", self.write("halves", disk), status=1).stdout)
        self.assertEqual(self.usns(lines), self.volumes[0][1])
        self.assertIn("volume-unopened", self.warnings(lines))

    def test_clusters_of_more_than_2_mib_are_none(self):
        volume, usns = self.volumes[0]
        alone = bytearray(volume)
        struct.pack_into("<HB", alone, 0x0b, 4096, 0xf6)  # 2^10 sectors of 4096 bytes
        lines = strict_ndjson(ntfs("journal", self.write("large", alone), status=1).stdout)
        self.assertEqual((self.usns(lines), self.warnings(lines)), (usns, ["boot-sector"]))
        finding, = (f for f in lines[-1]["findings"] if f["code"] == "boot-sector")
        self.assertIn("SectorsPerCluster", finding["text"])
        path = self.write("sound", volume)
        said = ntfs("journal", "--cluster-size", 1 << 22, path, status=2).stderr
        self.assertIn(b"4194304 is not a power of two from 512 to 2097152", said)
        ntfs("journal", "--cluster-size", 1 << 21, path, status=1)

    def test_the_copy_in_the_last_sector_of_any_size(self):
        volume, usns = self.volumes[0]
        for sector in (512, 1024, 2048, 4096):
            with self.subTest(sector):
                boot = bytearray(volume[:512])
                struct.pack_into("<HB", boot, 0x0b, sector, 4096 // sector)
                struct.pack_into("<Q", boot, 0x28, len(volume) // sector - 1)
                alone = bytearray(volume)
                alone[:512], alone[-512:] = bytes(512), bytes(512)
                alone[len(alone) - sector:len(alone) - sector + 512] = boot
                lines = strict_ndjson(ntfs("journal", self.write(f"sector{sector}", alone), status=1).stdout)
                self.assertEqual((self.usns(lines), self.warnings(lines)), (usns, ["boot-sector"]))
                self.assertEqual(lines[0]["volume"]["bytes_per_sector"], sector)
                lost = bytearray(9 << 20)  # no table, and the copy ends at a MiB
                place = (5 << 20) - len(alone)
                lost[place:place + len(alone)] = alone
                lines = strict_ndjson(ntfs("journal", self.write(f"lost{sector}", lost), status=1).stdout)
                self.assertEqual((self.usns(lines), lines[0]["partition"]["offset"], lines[0]["partition"]["size"]),
                                 (usns, place, len(alone)))

    def test_a_second_volume_without_its_boot_sector_or_its_entry(self):
        places, sizes = (1 << 20, 5 << 20), [len(volume) for volume, _ in self.volumes]
        whole = self.disk(*places, first=self.table(*zip(places, sizes)))
        lines = strict_ndjson(ntfs("journal", self.write("whole", whole), status=0).stdout)
        expected = [row["usn"] for row in lines if row["type"] == "record"]
        self.assertEqual(expected, [usn for _, usns in self.volumes for usn in usns])
        self.assertNotIn("partition-unlisted", {finding["code"] for finding in lines[-1]["findings"]})
        bare = bytearray(whole)
        bare[places[1]:places[1] + 512] = bytes(512)
        lines = strict_ndjson(ntfs("journal", self.write("bare", bare), status=1).stdout)
        self.assertEqual([row["usn"] for row in lines if row["type"] == "record"], expected)
        self.assertEqual([(f["code"], f["first_offset"]) for f in lines[-1]["findings"] if f["severity"] == "warning"],
                         [("boot-sector", places[1])])
        end = bytearray(whole[:places[1] + sizes[1]])  # where its copy is the last sector
        end[places[1]:places[1] + 512] = bytes(512)
        cut = whole[:places[1] + sizes[1] // 2]
        for name, disk, kept in (("entry", whole, 0), ("first", whole, 1), ("copy", end, 0), ("cut", cut, 0)):
            with self.subTest(name):
                disk = bytearray(disk)
                disk[:512] = self.table(*((place, size if i == kept else 0) for i, (place, size) in enumerate(zip(places, sizes))))
                path = self.write(name, disk)
                lines = strict_ndjson(ntfs("journal", path, status=1).stdout)
                told = [f for f in lines[-1]["findings"] if f["code"] == "partition-unlisted"]
                self.assertEqual([(f["first_offset"], f["count"]) for f in told], [(places[1 - kept], 1)])
                self.assertIn(f"an NTFS volume of {sizes[1 - kept]} bytes", told[0]["text"])
                self.assertEqual([row["usn"] for row in lines if row["type"] == "record"], self.volumes[kept][1])
                if name == "entry":
                    none = bytearray(disk)
                    none += whole[places[1]:places[1] + sizes[1]]
                    third = len(disk)
                    none[:512] = self.table((third, sizes[1]))
                    both = self.write("none", none)
                    lines = strict_ndjson(ntfs("journal", both, status=1).stdout)
                    told, = (f for f in lines[-1]["findings"] if f["code"] == "partition-unlisted")
                    self.assertEqual((told["first_offset"], told["count"]), (places[0], 2))
                    for part in (f"--offset {places[0]} reads it", f"others start at {places[1]} ({sizes[1]} bytes)"):
                        self.assertIn(part, told["text"])
                    lines = strict_ndjson(ntfs("journal", "--offset", places[0], both, status=1).stdout)
                    told, = (f for f in lines[-1]["findings"] if f["code"] == "partition-unlisted")
                    self.assertEqual((told["first_offset"], told["count"]), (places[1], 1))
                    self.assertNotIn("others", told["text"])
                if name != "cut":  # the volume is read, and so not told as one that is not
                    lost = ["boot-sector"] if name == "copy" else []
                    other = strict_ndjson(
                        ntfs("journal", "--offset", places[1 - kept], path, status=len(lost)).stdout)
                    self.assertEqual([row["usn"] for row in other if row["type"] == "record"], self.volumes[1 - kept][1])
                    self.assertEqual(
                        [f["code"] for f in other[-1]["findings"] if f["severity"] == "warning"], lost)

    def test_a_partition_that_leads_elsewhere_says_what_was_looked_at(self):
        volume = self.volumes[0][0]
        disk = bytearray(8 << 20)
        disk[1 << 20:(1 << 20) + len(volume)] = volume
        disk[510:512] = b"\x55\xaa"
        sectors = 1 << 20 >> 9
        for start, size, words in (
                (sectors + 1, sectors, f"no $MFT of a volume that starts here was found in its {1 << 20} bytes"),
                (sectors + 1, 1 << 20, f"no $MFT of a volume that starts here was found in its first {(7 << 20) - 512} bytes"),
                (1 << 20, sectors, f"partition 1 starts at {1 << 29:#x}, beyond the end of the image, and none of it was read")):
            struct.pack_into("<B7xII", disk, 446, 0, start, size)
            disk[450] = 7
            said = ntfs("info", self.write("elsewhere", disk), status=2).stderr.decode()
            self.assertIn(words, said)
            self.assertNotIn("no $MFT was found", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
