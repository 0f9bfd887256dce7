"""Traces that are packed, in archives, or come from pipes are the traces that they hold.

usage: trace_packed.py COLDTRACE SOURCES MAKE_TRACE [unittest arguments]
Packed by Python's gzip, bz2, lzma and zipfile, and by zstd, 7-Zip and gcab.
"""
import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

COLDTRACE, SOURCES, MAKE_TRACE = (Path(a).resolve() for a in sys.argv[1:4])
HAS_LIBRARY = b"gzip alone" not in subprocess.run([COLDTRACE, "--version"],
                                                  capture_output=True).stdout


def run(*arguments, **options):
    return subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True,
                          timeout=120, **options)


def needs(program):
    if not shutil.which(program):
        raise unittest.SkipTest(f"{program} is not installed")


def zipped(members, compression=zipfile.ZIP_DEFLATED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return packed.getvalue()


@unittest.skipUnless(HAS_LIBRARY, "built without libarchive")
class Packed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        made = cls.folder / "made"
        made.mkdir()
        subprocess.run([MAKE_TRACE, made], check=True)
        cls.path = made / "names.etl"
        cls.bytes = cls.path.read_bytes()
        cls.plain = run("decode", cls.path)

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def program(self, *arguments):
        done = subprocess.run([str(a) for a in arguments], capture_output=True, cwd=self.path.parent)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def same(self, path, others=False):
        done = run("decode", path)
        self.assertEqual(done.returncode, self.plain.returncode, done.stderr)
        answers = [text.splitlines() for text in (done.stdout, self.plain.stdout)]
        if others:  # which the summary tells
            self.assertIn(b"packed-others", answers[0][-1])
            answers = [lines[:-1] for lines in answers]
        self.assertEqual(*answers)

    def refused(self, path, *texts, command="decode"):
        done = run(command, path)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        for text in texts:
            self.assertIn(text, done.stderr.decode())

    def test_every_packing_by_content(self):
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w") as archive:
            archive.add(self.path, "folder/names.etl")
        for name, data in [
                ("a.etlgz", gzip.compress(self.bytes)),
                ("b.etl.gz", gzip.compress(self.bytes[:99]) + gzip.compress(self.bytes[99:])),
                ("c.txt", lzma.compress(self.bytes)),
                ("d", bz2.compress(self.bytes)),
                ("e.etl.zip", zipped([("x/y.bin", self.bytes)])),
                ("f.etl", zipped([("y.bin", self.bytes)], zipfile.ZIP_STORED)),
                ("g.diagsession", zipped([("metadata.xml", b"<a/>"), ("s.etl", self.bytes)])),
                ("h.zip", zipped([("z", self.bytes)], zipfile.ZIP_LZMA)),
                ("i.tar.gz", gzip.compress(tar.getvalue())),
                ("j.tar.xz", lzma.compress(tar.getvalue()))]:
            with self.subTest(name=name):
                self.same(self.write(name, data), others="diagsession" in name)
                self.assertEqual(run("info", self.folder / name).stdout,
                                 run("info", self.path).stdout)
        check = ["--expect", 'name == "Process/Start"', "--format", "json"]
        packed = self.write("k.xz", lzma.compress(self.bytes))
        self.assertEqual(run("check", packed, *check).stdout, run("check", self.path, *check).stdout)
        self.assertEqual(run("top", packed).stdout, run("top", self.path).stdout)

    def test_packings_of_other_programs(self):
        for tool, arguments, name in [
                ("zstd", ["zstd", "-q", "-f", self.path, "-o"], "a.zst"),
                ("7zz", ["7zz", "a", "-bso0"], "a.7z"),
                ("gcab", ["gcab", "-c", "-z"], "a.cab")]:
            with self.subTest(tool=tool):
                needs(tool)
                packed = self.folder / name
                self.program(*arguments, packed, *([] if tool == "zstd" else ["names.etl"]))
                self.same(packed)

    def test_frames_that_are_skipped_come_first(self):
        needs("zstd")
        packed = subprocess.run(["zstd", "-qc", self.path], check=True, capture_output=True).stdout
        frame = struct.pack("<II", 0x184D2A50, 4) + struct.pack("<I", len(packed))  # as pzstd writes it
        for start in (frame, frame + struct.pack("<II", 0x184D2A5F, 0)):
            path = self.write("p.etl.zst", start + packed + frame)
            self.same(path)
            done = run("info", self.path, "-o", path)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"which is never overwritten", done.stderr)
            self.assertEqual(path.read_bytes(), start + packed + frame)

    def test_archives_in_archives_up_to_a_depth(self):
        data = self.bytes
        for depth in range(1, 7):
            data = zipped([(f"{depth}.zip" if depth > 1 else "names.etl", data)])
            path = self.write("nested.zip", data)
            if depth <= 4:
                self.same(path)
            else:
                self.refused(path, "ZIP archive without a trace", "zip")

    def test_an_archive_without_a_trace_says_what_it_holds(self):
        members = [(f"{n}.txt", b"text") for n in range(12)]
        self.refused(self.write("none.zip", zipped(members)), "it is a ZIP archive without a trace",
                     "0.txt, 1.txt", "and 4 others")
        self.refused(self.write("empty.zip", zipped([])), "a ZIP archive that holds nothing")
        self.refused(self.write("text.xz", lzma.compress(b"text " * 99)), "text")
        done = run("decode", self.write("mixed.zip", zipped(members + [("a.etl", self.bytes)])), "-v")
        self.assertEqual(done.stdout.count(b'"type":"event"'), self.plain.stdout.count(b'"type":"event"'))
        self.assertIn(b"packed-others", done.stderr)
        self.assertIn(b"12 members are not read: 0.txt", done.stderr)

    def test_a_member_is_a_trace_by_content_or_by_name_where_its_start_is_damaged(self):
        damaged = b"\xff" * 72 + self.bytes[72:]
        alone = run("decode", self.write("damaged.etl", damaged))
        packed = run("decode", self.write("damaged.zip", zipped([("A.ETL", damaged)])))
        self.assertEqual((packed.returncode, packed.stdout), (1, alone.stdout))
        self.refused(self.write("other.zip", zipped([("a.bin", damaged)])), "without a trace")

    def test_names_of_members_name_the_input_and_are_never_written(self):
        for name in "../../up.etl", "/etc/coldtrace.etl", "\u00fcn\u00ef\u4e16.etl", "a\x1b[2Jb.etl":
            path = self.write("hostile.zip", zipped([(name, self.bytes[:-9])]))
            before = {p for p in self.folder.rglob("*")}
            done = run("decode", path, cwd=self.folder)
            self.assertEqual(done.returncode, 1)
            self.assertEqual({p for p in self.folder.rglob("*")}, before)
            shown = name.replace("\x1b", "\\x1b")
            self.assertIn(f"hostile.zip!{shown}: ", done.stderr.decode())

    def test_names_of_7_zip_are_unicode(self):
        needs("7zz")
        (self.path.parent / "\u4e16.etl").write_bytes(self.bytes[:-9])
        self.addCleanup((self.path.parent / "\u4e16.etl").unlink)
        self.program("7zz", "a", "-bso0", self.folder / "names.7z", "\u4e16.etl")
        self.assertIn("names.7z!\u4e16.etl: ", run("decode", self.folder / "names.7z").stderr.decode())

    def test_damage_keeps_what_came_before_it(self):
        whole = self.plain.stdout.count(b'"type":"event"')
        for name, data in [("cut.gz", gzip.compress(self.bytes)), ("cut.xz", lzma.compress(self.bytes)),
                           ("cut.bz2", bz2.compress(self.bytes, 1)),
                           ("cut.zip", zipped([("a.etl", self.bytes)]))]:
            with self.subTest(name=name):
                # The archive's directory is lost with its end.
                done = run("decode", self.write(name, data[:-len(data) // 8]))
                self.assertIn(b"packed-damaged", done.stderr)
                if done.returncode == 2:  # xz and bzip2 hand out whole blocks
                    self.assertIn(name[-3:], (".xz", "bz2"))
                    self.assertIn(b"it is damaged", done.stderr)
                    continue
                self.assertEqual(done.returncode, 1)
                self.assertLessEqual(done.stdout.count(b'"type":"event"'), whole)
                self.assertGreater(done.stdout.count(b'"type":"event"'), 0)
        data = bytearray(zipped([("a.etl", self.bytes)], zipfile.ZIP_STORED))
        at = data.index(self.bytes) + len(self.bytes) - 9
        data[at] ^= 1
        done = run("decode", self.write("crc.zip", bytes(data)))
        self.assertIn(b"packed-damaged", done.stderr)
        self.assertEqual(done.stdout.count(b'"type":"event"'), whole)
        for data in b"PK\x03\x04" + bytes(99), b"7z\xbc\xaf\x27\x1c" + bytes(99), b"MSCF" + bytes(99):
            self.refused(self.write("bad", data), "it is a")
        cut = self.write("nothing.gz", gzip.compress(self.bytes)[:15])
        for command in "decode", "info":
            self.refused(cut, "it is compressed with gzip; it is damaged: it is cut off", command=command)

    def test_what_no_format_takes_is_told(self):
        """Signatures of archives over bytes that libarchive takes for none."""
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            archive.addfile(tarfile.TarInfo("a.etl"), io.BytesIO())
        torn = bytearray(tar.getvalue())
        torn[0:100] = b"\xff" * 100  # against the checksum
        for name, content in (("a.cab", b"MSCF\0\0\1\0" + bytes(600)), ("a.tar", bytes(torn)),
                              ("a.tar.gz", gzip.compress(bytes(torn))), ("a.cab.gz", gzip.compress(b"MSCF\1\1\1\1" + bytes(99)))):
            with self.subTest(name=name):
                done = run("info", self.write(name, content))
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"{name}: ".encode(), done.stderr)

    def test_messages_of_libarchive_are_one_line(self):
        """Some of its own end with a line break."""
        packed = zipped([("a.etl", self.bytes)])
        told = set()
        for place in range(60, len(packed) - 100, max(1, len(packed) // 70)):
            flipped = bytearray(packed)
            flipped[place] ^= 0xFF
            done = run("decode", self.write("flipped.zip", flipped))
            self.assertNotIn(b"\\x0a", done.stderr)
            for line in done.stdout.splitlines():
                for found in json.loads(line).get("findings", []):
                    self.assertEqual(found["text"], " ".join(found["text"].split()))
                    if found["code"] == "packed-damaged":
                        told.add(found["text"].partition(" plain bytes: ")[2].partition(" (")[0])
        self.assertIn("ZIP uncompressed data is wrong size", told)

    def test_cuts_end_without_harm(self):
        small = self.bytes[:4096]
        for data in gzip.compress(small), lzma.compress(small), zipped([("a.etl", small)]):
            for end in range(1, len(data), max(1, len(data) // 25)):
                self.assertIn(run("info", self.write("cut", data[:end])).returncode, (1, 2))

    def test_bombs_stop_at_a_limit(self):
        zeros = bytes(16 << 20)
        bomb = self.bytes + zeros * 20
        path = self.write("bomb.bz2", bz2.compress(bomb))
        self.assertLess(path.stat().st_size, len(bomb) // 1032)
        done = run("info", path)
        self.assertIn(b"packed-limit", done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn(b"packed-limit", run("info", path, "--unpacked-limit", "1gb").stderr)
        for name, data in ("a.gz", gzip.compress(self.bytes)), ("a.zip", zipped([("a.etl", self.bytes)])):
            done = run("decode", self.write(name, data), "--unpacked-limit", "4KiB")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"packed-limit", done.stderr)
        many = zipped([(f"{n}", b"") for n in range(65_540)], zipfile.ZIP_STORED)
        self.assertIn(b"packed-limit", run("info", self.write("many.zip", many)).stderr)

    def test_encrypted_members_are_named(self):
        needs("7zz")
        advice = "unpack it with its password first"
        for name, options, kind in (("p.7z", [], "a 7-Zip archive"), ("h.7z", ["-mhe=on"], "a 7-Zip archive"),
                                    ("p.zip", ["-tzip"], "a ZIP archive")):
            with self.subTest(name=name, options=options):
                path = self.folder / name
                self.program("7zz", "a", "-bso0", "-psecret", *options, path, "names.etl")
                hidden = "-mhe=on" in options  # the names too
                why = f"it is {kind}, and encrypted{'' if hidden else ': names.etl'}; {advice}\n"
                self.refused(path, f"{name}: warning: packed-encrypted: {'what it holds' if hidden else repr('names.etl')} "
                             f"is encrypted and not read: {advice}\n", f"{name}: {why}")
                self.assertNotIn(b"packed-damaged", run("decode", path).stderr)
                table = subprocess.run([COLDTRACE, "hooks", "verify", path, path], capture_output=True)
                self.assertEqual((table.returncode, table.stdout), (2, b""))
                self.assertIn(why.encode(), table.stderr)
                outer = self.write("outer.zip", zipped([("open.etl", self.bytes), (name, path.read_bytes())]))
                done = run("decode", outer)
                self.assertEqual((done.returncode, done.stdout.count(b'"type":"event"')),
                                 (1, self.plain.stdout.count(b'"type":"event"')))
                inner = name if hidden else f"{name}!names.etl"
                self.assertIn(f"packed-encrypted: '{inner}' is encrypted and not read: {advice}\n".encode(), done.stderr)
        path = self.folder / "partly.zip"
        self.program("7zz", "a", "-bso0", "-tzip", "-psecret", path, "names.etl")
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("open.etl", self.bytes)
        done = run("decode", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"packed-encrypted", done.stderr)
        self.assertIn(b"'names.etl' is encrypted", done.stderr)
        self.assertEqual(done.stdout.count(b'"type":"event"'), self.plain.stdout.count(b'"type":"event"'))

    def test_pipes_and_standard_input(self):
        for data in self.bytes, gzip.compress(self.bytes), zipped([("a.etl", self.bytes)]):
            done = run("decode", "-", input=data)
            self.assertEqual(done.stdout, self.plain.stdout)
            fifo = self.folder / "fifo"
            os.mkfifo(fifo)
            writer = subprocess.Popen([sys.executable, "-c", "import sys; open(sys.argv[1], 'wb')"
                                       ".write(sys.stdin.buffer.read())", fifo], stdin=subprocess.PIPE)
            writer.stdin.write(data)
            writer.stdin.close()
            self.assertEqual(run("decode", fifo).stdout, self.plain.stdout)
            writer.wait()
            fifo.unlink()
        with self.path.open("rb") as file:
            self.assertEqual(run("decode", "-", stdin=file).stdout, self.plain.stdout)
        # What ends early is what a file is that is cut off there.
        early = self.bytes[:-1000]
        cut = run("decode", self.write("early.etl", early))
        done = run("decode", "-", input=early)
        self.assertEqual((done.returncode, done.stdout), (cut.returncode, cut.stdout))
        self.assertIn(b"packed-limit", run("decode", "-", "--unpacked-limit", "4KiB", input=self.bytes).stderr)
        self.assertEqual(run("decode", "-", input=b"").returncode, 2)
        with open("/dev/zero", "rb") as endless:
            self.assertEqual(run("decode", "-", stdin=endless).returncode, 2)
        self.assertEqual(run("decode", "-", stdin=os.open(self.folder, os.O_RDONLY)).returncode, 2)

    def test_no_temporary_file_stays_and_a_full_one_is_told(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        path = self.write("t.gz", gzip.compress(self.bytes))
        run("decode", path, env={**os.environ, "TMPDIR": str(temporary)})
        self.assertEqual(list(temporary.iterdir()), [])
        done = run("decode", path, env={**os.environ, "TMPDIR": str(self.folder / "none")})
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"a temporary file in {self.folder / 'none'} (TMPDIR) cannot be created: No such file or directory",
                      done.stderr.decode())

    def test_the_output_never_replaces_the_archive(self):
        for name, data in ("o.gz", gzip.compress(self.bytes)), ("o.zip", zipped([("a.etl", self.bytes)])):
            path = self.write(name, data)
            self.assertEqual(run("decode", path, "-o", path).returncode, 2)
            self.assertEqual(path.read_bytes(), data)
        path = self.write("in.etl", self.bytes)
        with path.open("rb") as file:
            done = run("decode", "-", "-o", path, stdin=file)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"the same file as the input", done.stderr)
        self.assertEqual(path.read_bytes(), self.bytes)


class Without(unittest.TestCase):
    def test_version_says_which_packings_are_read(self):
        text = subprocess.run([COLDTRACE, "--version"], capture_output=True).stdout.decode()
        self.assertRegex(text, "(?m)^compressed traces: gzip")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
