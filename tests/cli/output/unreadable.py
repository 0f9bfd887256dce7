"""A file that is there and cannot be read is told as that, whoever looks at it, and taken for no other file.

usage: unreadable.py COLDTRACE PROJECT MAKE_TRACE [unittest arguments]
A library that is loaded into coldtrace makes a range of one file unreadable.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from cli.trace.etl_writer import BUFFER, EtlWriter
from ntfs.journal import usn_writer
from ntfs.shadow.shadow_writer import BLOCK, HEADER, SECTOR, copy_on_write

COLDTRACE, PROJECT, MAKE_TRACE = (Path(argument).resolve() for argument in sys.argv[1:4])
del sys.argv[1:4]
CORPUS = PROJECT / "fuzz/corpus"
PAGE = 4096
EIO = os.strerror(5)


class Unreadable(case.Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("cc"):
            self.skipTest("no C compiler")
        self.probe = self.here / "probe.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", self.probe,
                        PROJECT / "tests/cli/output/bad_file_probe.c", "-ldl"], check=True)

    def run_with(self, bad, first, end, *command):
        return subprocess.run([COLDTRACE, *map(str, command)], capture_output=True, timeout=120,
                              env={**os.environ, "LD_PRELOAD": str(self.probe), "BAD_FILE": str(bad),
                                   "BAD_FROM": str(first), "BAD_TO": str(end)})

    def folder(self, name, **files):
        folder = self.here / name
        folder.mkdir()
        for file, content in files.items():
            (folder / file.replace("_", ".", 1)).write_bytes(content)
        return folder

    def trace(self):
        folder = self.here / "made"
        folder.mkdir()
        self.call(MAKE_TRACE, folder)
        return (folder / "busy.etl").read_bytes()

    def manifest(self, name):
        """An XML document of 20 KB, most of it in front of what it declares."""
        text = ('<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><!--' + "a" * 20000
                + '--><instrumentation><events><provider name="' + name + '" symbol="Some" '
                f'guid="{{{uuid.uuid5(uuid.NAMESPACE_DNS, name)}}}" resourceFileName="a" messageFileName="a">'
                '<events><event value="1" version="0"/></events></provider></events></instrumentation>'
                '</instrumentationManifest>')
        return text.encode()

    def snapshot(self):
        rows = self.here / "volume.ndjson"
        subprocess.run([COLDTRACE, "ntfs", "snapshot", "-q", CORPUS / "ntfs_volume/small.img", "-o", rows], timeout=120)
        return rows

    def check_told(self, done, exit_status, bad):
        self.assertEqual(done.returncode, exit_status, done.stderr + done.stdout)
        told = [line for line in done.stderr.decode().splitlines() if bad.name in line and EIO in line]
        self.assertTrue(told, done.stderr)

    def test_a_module_of_a_folder(self):
        image = (CORPUS / "pe_image/x64").read_bytes()
        old, new = (self.folder(name, ntdll_dll=image, other_dll=image) for name in ("old", "new"))
        bad = new / "other.dll"
        for command, status in ((["servicing", old, new], 1), (["hooks", "iat", "--dir", new], 1)):
            with self.subTest(command=command[0]):
                done = self.run_with(bad, 0, PAGE, *command, "--format", "json")
                self.check_told(done, status, bad)
                document = json.loads(done.stdout)
                if command[0] == "servicing":
                    self.assertEqual([row["file"] for row in document["after"]["unreadable"]], [str(bad)])
                    self.assertEqual(document["counts"], {"same": 1, "changed": 0, "added": 0, "removed": 0})
                else:
                    self.assertEqual([row["path"] for row in document["unreadable"]], [str(bad)])

    def test_a_trace_of_a_folder(self):
        log = self.trace()
        folder = self.folder("traces", a_etl=log, **{"z_etl.gz": gzip.compress(log, 0, mtime=0)}, noname=log)
        for name, first in ("a.etl", 0), ("a.etl", PAGE), ("z.etl.gz", 0), ("z.etl.gz", PAGE), ("noname", 0):
            for command in ["info"], ["decode", "--format", "ndjson"]:
                with self.subTest(name=name, first=first, command=command):
                    done = self.run_with(folder / name, first, first + PAGE, "trace", *command, folder)
                    self.check_told(done, done.returncode, folder / name)
                    if done.returncode == 2 and first > 0:  # all are copies, and this one differs
                        self.assertIn(b"both have buffer", done.stderr)
                    elif done.returncode == 2:  # without its header it is not known to be of the same run
                        self.assertIn(b"the header of one is lost", done.stderr)

    def kernel_log(self):
        """The buffer of the header, and two of events that take more than a page."""
        writer = EtlWriter(2)
        for time in range(1000):
            writer.switch(time % 2, time, 11, 0)
        return writer.build()

    def refused(self, bad, first, *files):
        done = self.run_with(bad, first, first + PAGE, "trace", "info", *files)
        self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
        return done.stderr.decode()

    def test_copies_of_a_trace_one_of_which_has_a_bad_page(self):
        made = self.here / "made.ctrace"
        self.call(COLDTRACE, "trace", "synthesize", "server", "-o", made)
        for kind, log, pages in (("etl", self.kernel_log(), (BUFFER, BUFFER + PAGE, 2 * BUFFER, 2 * BUFFER + PAGE)),
                                 ("ctrace", made.read_bytes(), (4 * PAGE, 8 * PAGE))):
            good, bad = (self.write(f"{name}.{kind}", log) for name in ("good", "bad"))
            for first in pages:
                for files in (good, bad), (bad, good):
                    with self.subTest(kind=kind, first=first, files=files):
                        said = self.refused(bad, first, *files)
                        self.assertIn("both have buffer", said)
                        self.assertIn(f"({bad}: {first:#x}: cannot read: {EIO})", said)
                        self.assertEqual(said.count(EIO), 1)
        # The only buffer of both: it has its number and its time, and is no other one.
        good, bad = (self.write(name, self.kernel_log()[:2 * BUFFER]) for name in ("good", "bad"))
        self.assertIn("both have buffer 1 of one session", self.refused(bad, BUFFER + PAGE, good, bad))

    def test_a_damaged_header_is_not_blamed_on_the_disk(self):
        good = self.write("good.etl", self.kernel_log())
        damaged = bytearray(good.read_bytes())
        damaged[74:76] = b"\0\0"  # HeaderType and Flags of the header event
        bad = self.write("bad.etl", damaged)
        lost = f"the header of one is lost ({bad}: 0x4b: trace header.Flags: bad magic: expected 0xc0, found 0x0"
        self.assertIn(lost + ")", self.refused(bad, len(damaged), good, bad))
        for first in PAGE, BUFFER, 2 * BUFFER + PAGE:
            with self.subTest(first=first):
                self.assertIn(lost + ")", self.refused(bad, first, good, bad))
        self.assertIn(f"the header of one is lost ({bad}: cannot read: {EIO})", self.refused(bad, 0, good, bad))

    def test_the_header_of_a_trace(self):
        log = self.write("one.etl", self.trace())
        for first in 0, PAGE:
            done = self.run_with(log, first, first + PAGE, "trace", "info", log)
            self.assertTrue(done.stdout.startswith(b"Session "), done.stdout)
            self.assertEqual(b"the header is lost" in done.stdout, first == 0)
            self.check_told(done, 1, log)

    def test_a_manifest_of_a_folder(self):
        folder = self.folder("schemas", one_man=self.manifest("One"), two_man=self.manifest("Two"))
        bad = folder / "two.man"
        self.assertIn("Two", self.call(COLDTRACE, "trace", "schemas", "list", "--schemas", folder))
        for first in 0, 2 * PAGE, 4 * PAGE:
            with self.subTest(first=first):
                done = self.run_with(bad, first, first + PAGE, "trace", "schemas", "list", "--schemas", folder)
                self.check_told(done, 1, bad)

    def test_message_formats_of_a_folder(self):
        log = self.write("log.etl", self.trace())
        pdb = (CORPUS / "pdb_types/members").read_bytes()
        text = ("11111111-2222-3333-4444-555555555555 painter // SRC=paint.c MJ= MN=\n"
                '#typev paint_c10 10 "%0gone" //   LEVEL=L1\n{\n}\n').encode()
        folder = self.folder("formats", one_tmf=text, two_pdb=pdb, **{"three_pdb.gz": gzip.compress(pdb, mtime=0)})
        for option, names in ("--tmf", ("one.tmf", "two.pdb", "three.pdb.gz")), ("--pdb", ("two.pdb",)):
            for name in names:
                with self.subTest(option=option, name=name):
                    done = self.run_with(folder / name, 0, PAGE, "trace", "decode", log, option, folder)
                    self.check_told(done, 1, folder / name)
        # Behind the page that says that it is packed.
        packed = self.write("formats/large.pdb.gz", gzip.compress(pdb + os.urandom(3 * PAGE), 0, mtime=0))
        self.check_told(self.run_with(packed, PAGE, 2 * PAGE, "trace", "decode", log, "--tmf", folder), 1, packed)

    def test_the_cause_of_a_file_that_is_named(self):
        image = self.write("image.exe", (CORPUS / "pe_image/x64").read_bytes())
        ntdll = self.write("ntdll.dll", (CORPUS / "syscall_map/wine-x64").read_bytes())
        table = CORPUS / "hook_table/two"
        pdb = self.write("types.pdb", (CORPUS / "pdb_types/members").read_bytes())
        log = self.trace()
        packed = self.write("log.etl.gz", gzip.compress(log, mtime=0))
        rows = self.snapshot()
        for bad, first, command in (
                (image, 0, ["pe", "info", image]),
                (ntdll, 0, ["syscalls", "map", ntdll]),
                (ntdll, 0, ["hooks", "verify", table, ntdll]),
                (pdb, 0, ["pe", "types", pdb]),
                (pdb, 0, ["pe", "symbols", pdb]),
                (packed, 0, ["trace", "info", packed]),
                (rows, 0, ["ntfs", "query", rows, "--where", "size >= 0"]),
                (rows, 0, ["ntfs", "info", rows])):
            with self.subTest(command=command, first=first):
                self.check_told(self.run_with(bad, first, first + PAGE, *command), 2, bad)

    def test_no_file_is_deleted_since_it_cannot_be_read(self):
        """Of two equal volumes, one of which has a bad page, wherever it is."""
        before = CORPUS / "ntfs_volume/small.img"
        after = self.write("after.img", before.read_bytes())
        unknown = 0
        for first in range(0, after.stat().st_size, PAGE):
            with self.subTest(first=first):
                done = self.run_with(after, first, first + PAGE, "ntfs", "compare", before, after, "--format", "ndjson")
                if done.returncode == 2:
                    self.assertIn(EIO.encode(), done.stderr)
                    continue
                *rows, summary = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertTrue(done.returncode == 1 or summary["counts"]["unknown"] == 0)
                self.assertEqual([row for row in rows if {"created", "deleted"} & {*row.get("changes", ())}], [])
                unknown += summary["counts"]["unknown"]
        self.assertGreater(unknown, 10)

    def without_rights(self, path, *command):
        """The program where a file may not be opened, as another user where root may open all."""
        path.chmod(0)
        self.here.chmod(0o755)
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            done = subprocess.run([COLDTRACE, *map(str, command)], capture_output=True, timeout=120, **other)
        except PermissionError:
            self.skipTest("another user may not run the program")
        path.chmod(0o644)
        return done

    def test_the_files_of_a_disk(self):
        """It is told which of them cannot be read, and of none that is there that it is missing."""
        volume, base, child, flat = (self.here / name for name in ("volume.img", "base.qcow2", "child.qcow2", "flat.vmdk"))
        volume.write_bytes((CORPUS / "ntfs_volume/small.img").read_bytes().ljust(1 << 20, b"\0"))
        if case.installed(self, "qemu-img"):
            self.call("qemu-img", "convert", "-f", "raw", "-O", "qcow2", volume, base)
            self.call("qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", base, child)
            self.call("qemu-img", "convert", "-f", "raw", "-O", "vmdk", "-o", "subformat=monolithicFlat", volume, flat)
            data = self.here / "flat-flat.vmdk"
            for done, name, why in (
                    (self.run_with(base, 0, PAGE, "ntfs", "info", child), base.name, EIO),
                    (self.run_with(base, 0, PAGE, "ntfs", "info", "--parent", base, child), base.name, EIO),
                    (self.without_rights(base, "ntfs", "info", child), base.name, os.strerror(13)),
                    (self.without_rights(base, "ntfs", "info", "--parent", base, child), base.name, os.strerror(13)),
                    (self.without_rights(data, "ntfs", "info", flat), data.name, os.strerror(13))):
                with self.subTest(command=done.args, why=why):
                    said = done.stderr.decode()
                    self.assertEqual(done.returncode, 2, said)
                    self.assertRegex(said, f"{name}, which cannot be read: .*{why}")
                    self.assertNotIn("beside", said)
        if case.installed(self, "ewfacquirestream"):
            subprocess.run(["ewfacquirestream", "-q", "-t", self.here / "e", "-S", "1.4M"], input=os.urandom(3 << 20),
                           capture_output=True, check=True)
            second = self.here / "e.E02"
            for done, why in ((self.run_with(second, 0, PAGE, "ntfs", "info", self.here / "e.E01"), EIO),
                              (self.without_rights(second, "ntfs", "info", self.here / "e.E01"), os.strerror(13))):
                with self.subTest(why=why):
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertRegex(done.stderr.decode(), f"segment 2, e.E02, cannot be read: .*{why}")
                    self.assertNotRegex(done.stderr.decode(), f"coldtrace: .*{why}")

    def test_a_block_of_a_virtual_disk_is_told_as_one_of_a_raw_disk(self):
        """Its library reads it in a process of its own."""
        if not case.installed(self, "qemu-img"):
            return
        volume = self.write("volume.img", (CORPUS / "ntfs_volume/small.img").read_bytes().ljust(1 << 20, b"\0"))
        disk = self.here / "disk.vmdk"
        self.call("qemu-img", "convert", "-f", "raw", "-O", "vmdk", volume, disk)
        size = disk.stat().st_size
        plain, told = self.run_with(disk, size, size, "ntfs", "snapshot", disk), 0
        for first in range(0, size, 4 * PAGE):
            done = self.run_with(disk, first, first + 4 * PAGE, "ntfs", "snapshot", disk)
            if done.returncode != 2 and done.stdout != plain.stdout:
                with self.subTest(first=first):
                    self.assertRegex(done.stderr, rb"warning: unreadable-range.*cannot read: " + EIO.encode())
                    told += 1
        self.assertGreater(told, 0)

    def test_a_table_of_a_virtual_disk_that_its_library_needs(self):
        """Why the library does not open the disk, and where, as of a raw one: pages of its file, one after the other."""
        if not case.installed(self, "qemu-img"):
            return
        volume = self.write("volume.img", (CORPUS / "ntfs_volume/small.img").read_bytes().ljust(1 << 20, b"\0"))
        for form, version in ("vhdx", []), ("vmdk", []), ("vpc", []), ("qcow2", []), ("qcow2", ["-o", "compat=0.10"]):
            disk = self.here / f"disk.{form}"
            self.call("qemu-img", "convert", "-f", "raw", "-O", form, *version, volume, disk)
            refused, end = 0, min(disk.stat().st_size - PAGE, 4 << 20)
            # What it is, the first page says.
            for first in (*range(PAGE, 16 * PAGE, 4 * PAGE), *range(16 * PAGE, end, 16 * PAGE)):
                done = self.run_with(disk, first, first + PAGE, "ntfs", "info", disk)
                if done.returncode == 2:
                    with self.subTest(form=form, first=first):
                        self.assertRegex(done.stderr.decode(), f"coldtrace: .*(: {first:#x}: |at 0x).*{EIO}")
                        self.assertNotIn("cannot open", done.stderr.decode())
                        refused += 1
            if form == "vhdx":
                self.assertGreater(refused, 3)

    def test_no_shadow_copy_is_missing_without_a_word(self):
        """Each sector of what says that there are two, one after the other."""
        content = bytes(usn_writer.volume(usn_writer.History(20, 200), 4)[0])
        end = -(-len(content) // BLOCK) * BLOCK
        states = [content.ljust(end, b"\0") + bytes([number]) * BLOCK + bytes(16 * BLOCK) for number in (1, 2, 3)]
        shadows = copy_on_write(states, range(end + BLOCK, end + 17 * BLOCK, BLOCK))
        volume = self.write("shadows.img", shadows.write())
        places = [HEADER, *(at for start in (shadows.catalog, *(store.places["header"] for store in shadows.stores))
                            for at in range(start, start + BLOCK, SECTOR))]
        for first in places:
            with self.subTest(first=first):
                done = self.run_with(volume, first, first + SECTOR, "ntfs", "info", volume, "--format", "json")
                self.check_told(done, 1, volume)
                codes = {row["code"] for row in json.loads(done.stdout)["findings"]}
                self.assertIn("unreadable-range", codes)
                self.assertTrue({"shadow-catalog", "shadow-store"} & codes, codes)
        whole = json.loads(self.call(COLDTRACE, "ntfs", "info", volume, "--format", "json"))
        self.assertEqual(len(whole["partitions"][0]["shadow_copies"]["copies"]), 2)

    def test_rows_before_what_cannot_be_read(self):
        rows = self.snapshot()
        lines = rows.read_bytes().splitlines(keepends=True)
        half = len(b"".join(lines[:len(lines) // 2])) + 3  # inside a line
        done = self.run_with(rows, half, half + 1, "ntfs", "query", rows, "--where", "size >= 0", "--format", "ndjson")
        self.assertEqual(done.returncode, 1, done.stderr)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertIn(b"snapshot-incomplete", done.stderr)
        listed = sum(row["type"] == "file" for row in found)
        whole = sum(json.loads(line)["type"] == "file" for line in lines)
        self.assertTrue(0 < listed < whole, (listed, whole))


if __name__ == "__main__":
    unittest.main()
