"""What the ntfs commands make of files that are no image, in part an image, or damaged ones.

usage: input_test.py COLDTRACE SHARED
"""
import gzip
import json
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from case import Case  # noqa: E402

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
    def volume(self, name="volume.dd", size=8 << 20):
        path = self.here / name
        path.write_bytes(bytes(size))
        made_by("mkfs.ntfs", "-q", "-F", "-f", path)
        return path


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

    def test_a_packed_image_is_named(self):
        packed = self.write("volume.gz", gzip.compress(self.volume().read_bytes()))
        self.refused(packed, "compressed with gzip", "unpack it first")

    def test_images_of_other_formats_are_named(self):
        raw = self.volume()
        for form, words in (("qcow2", "QCOW2"), ("vhdx", "VHDX"), ("vpc", "VHD"), ("vmdk", "VMDK"),
                            ("vdi", "VDI")):
            with self.subTest(form):
                image = self.here / form
                made_by("qemu-img", "convert", "-f", "raw", "-O", form, raw, image)
                self.refused(image, words, "qemu-img convert -O raw")

    def test_a_fixed_vhd_is_read_as_the_disk_it_is(self):
        image = self.here / "fixed.vhd"
        made_by("qemu-img", "convert", "-f", "raw", "-O", "vpc", "-o", "subformat=fixed",
                self.volume(), image)
        ntfs("snapshot", image, status=0)

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
        volume = self.write("windows.dd", gzip.decompress(packed.read_bytes()))
        self.refused(self.write("LogFile", made_by("icat", "-o", "128", volume, "2")), "a $LogFile")


class BareMft(Images):
    def test_it_is_read_without_being_asked(self):
        volume = self.volume()
        path = self.write("$MFT", made_by("icat", volume, "0"))
        asked = ntfs("snapshot", "--mft", path, status=0)
        found = ntfs("snapshot", path, status=0)
        self.assertEqual(found.stdout, asked.stdout)
        self.assertIn(b"mft-only", found.stderr)
        header = json.loads(found.stdout.splitlines()[0])
        self.assertEqual(header["volume"]["source"], "mft")
        names = {json.loads(line).get("name") for line in found.stdout.splitlines()}
        self.assertLessEqual({"$MFT", "$LogFile", "$Boot"}, names)
        self.assertEqual(ntfs("info", path, status=0).stdout,
                         ntfs("info", "--mft", path, status=0).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
