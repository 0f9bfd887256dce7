"""A read, a write, a thread or an allocation that fails, and a kill at any of them: what is promised holds.

usage: faults.py COLDTRACE PROJECT MAKE_TRACE DEMO [unittest arguments]
A library that is loaded into coldtrace counts its calls and lets one fail, or all from one on. COLDTRACE_FAULTS=all tries
each of them, and of allocations the first that the same twelve functions inside one another ask for; else a sample does,
spread over the run, with its beginning and end; and each allocation of small runs.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from cli.driver.hive_writer import Hive
from cli.trace.etl_writer import EtlWriter
from ntfs.bitlocker import bitlocker_writer
from ntfs.journal import usn_writer
from ntfs.shadow.shadow_writer import BLOCK, copy_on_write

COLDTRACE, PROJECT, MAKE_TRACE, DEMO = (Path(argument).resolve() for argument in sys.argv[1:5])
del sys.argv[1:5]
NDIS = uuid.UUID("2ed6006e-4729-4609-b423-3ee7bcd678ef")  # Microsoft-Windows-NDIS-PacketCapture
CORPUS = PROJECT / "fuzz/corpus"
EIO = os.strerror(5).encode()
ALL = os.environ.get("COLDTRACE_FAULTS") == "all"
TRIES = 10**9 if ALL else 30
SMALL = 200  # allocations of a run of which each is tried
NOTED = 200_000  # allocations of a run of which it is noted who asks for them


def warnings(said):
    """The codes of the warnings on standard error."""
    return set(re.findall(rb": warning: ([a-z0-9-]+)", said))


class Faults(case.Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("cc"):
            self.skipTest("no C compiler")
        self.probe = self.here / "probe.so"
        subprocess.run(["cc", "-O1", "-w", "-fno-builtin", "-shared", "-fPIC", "-o", self.probe,
                        PROJECT / "tests/cli/output/fault_probe.c", "-ldl"], check=True)
        self.results = self.here / "results"
        self.results.mkdir()

    def commands(self):
        """Commands over something of every reader, and how each writes."""
        volume = self.here / "volume.img"
        volume.write_bytes((CORPUS / "ntfs_volume/small.img").read_bytes())
        trace = self.here / "made.ctrace"
        subprocess.run([COLDTRACE, "trace", "synthesize", "deadlock-2", "-o", trace], check=True)
        subprocess.run([MAKE_TRACE, self.here], check=True)
        log = self.here / "busy.etl"
        packed = self.here / "made.etl.gz"
        packed.write_bytes(subprocess.run(["gzip", "-c", log], capture_output=True, check=True).stdout)
        yield ["pe", "info", CORPUS / "pe_image/x64"]
        yield ["pe", "types", "--format", "json", CORPUS / "pdb_types/members"]
        yield ["syscalls", "map", "--format", "json", CORPUS / "syscall_map/wine-x64"]
        yield ["ntfs", "snapshot", volume]
        yield ["ntfs", "snapshot", "--mft", "--slack", self.mft_with_slack()]
        yield ["ntfs", "locate", volume, "0x0", "0x4000"]
        yield ["trace", "decode", log]
        yield ["trace", "decode", packed]
        for each in log, trace:
            yield ["trace", "check", each, "--expect", "pid != 99999", "--format", "json"]
            yield ["trace", "compare", each, each, "--format", "json"]
            yield ["trace", "top", each]
        yield ["trace", "export", "sqlite", trace]
        yield ["trace", "export", "ecs", trace]
        yield ["hooks", "iat", CORPUS / "pe_image/x64"]
        snapshot = self.here / "snapshot.ndjson"
        subprocess.run([COLDTRACE, "ntfs", "snapshot", volume, "-q", "-o", snapshot], check=False)  # 1: it is damaged
        yield ["ntfs", "query", snapshot, "--where", "size >= 0"]
        table = self.here / "table.json"
        subprocess.run([COLDTRACE, "hooks", "show", CORPUS / "hook_table/two", "--format", "json", "-o", table], check=True)
        yield ["servicing", CORPUS / "pe_image/x64", CORPUS / "pe_image/x64", "--hook-table", table]
        yield ["trace", "packets", self.capture()]
        yield ["report", trace]
        if ALL:
            yield from self.more_commands(volume, trace, log)

    def more_commands(self, volume, trace, log):
        """Those that read with the same readers as one above."""
        image, kernel = CORPUS / "pe_image/x64", CORPUS / "syscall_map/wine-x64"
        for name in "exports", "imports", "sections":
            yield ["pe", name, image]
        yield ["pe", "symbols", CORPUS / "pdb_symbols/version-2"]
        yield ["pe", "isf", CORPUS / "pdb_types/members"]
        yield ["syscalls", "compare", kernel, kernel]
        yield ["ntfs", "info", volume]
        yield ["ntfs", "query", volume, "--where", "size >= 0"]
        yield ["ntfs", "compare", volume, volume]
        for name in "info", "cpu", "io", "schedule", "priority", "services", "tree", "idle":
            yield ["trace", name, trace]
        yield ["trace", "info", log]
        for name in "perfetto", "chrome":
            yield ["trace", "export", name, trace]

    def sound_commands(self):
        """Those of the other readers, over sound inputs: they end with 0."""
        demo = DEMO / "demo-disk.img"
        disk = demo.read_bytes()
        states = [disk[:0x140000] + bytes([number]) * BLOCK + disk[0x140000 + BLOCK:] for number in (1, 2, 3)]
        shadows = self.write("shadows.img", copy_on_write(states, range(0x180000, 0x180000 + 24 * BLOCK, BLOCK)).write())
        yield ["ntfs", "info", shadows]
        yield ["ntfs", "snapshot", shadows, "--shadow", "all,live"]
        yield ["ntfs", "history", demo, "/Users/alice/*", "--format", "ndjson"]
        yield ["ntfs", "snapshot", demo, "--zone-ids"]
        content = bytes(usn_writer.volume(usn_writer.History(20, 200), 4)[0])
        yield ["ntfs", "journal", self.write("journal.img", content), "--format", "ndjson"]
        used = -(-len(content) // 0x10000) * 0x10000
        locked = bitlocker_writer.Volume(content.ljust(used + 0x50000, b"\0"), used,
                                         [used + 0x10000 * number for number in (1, 2, 3)], used)
        locked.add_clear()
        yield ["ntfs", "journal", self.write("locked.img", locked.bytes()), "--format", "ndjson"]
        yield ["ntfs", "logfile", CORPUS / "ntfs_logfile/operations.bin", "--format", "ndjson"]
        if case.installed(self, "qemu-img"):
            for form in "qcow2", "vhdx", "vmdk", "vpc":
                converted = self.here / f"disk.{form}"
                subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", form, demo, converted], check=True)
                yield ["ntfs", "snapshot", converted]
        if case.installed(self, "ewfacquirestream"):
            with open(demo, "rb") as content:
                subprocess.run(["ewfacquirestream", "-q", "-t", self.here / "disk"], stdin=content, capture_output=True, check=True)
            yield ["ntfs", "snapshot", self.here / "disk.E01"]
        hive = Hive({"Select": {"Current": 1, "Default": 1, "Failed": 0, "LastKnownGood": 1},
                     "ControlSet001": {"Services": {"disk": {"Type": 1, "Start": 0, "ErrorControl": 1}}, "Control": {}}})
        yield ["driver", "check", "--hive", self.write("SYSTEM", hive.data), "--format", "json"]
        kernel, table = CORPUS / "service_tables/x64-kernel-rva32", self.here / "kernel.hooktab"
        make = ["hooks", "table", "--kernel", kernel, "--format", "hooktab", "--tolerate",
                "context-switch-not-found,thread-offset-missing,no-services"]
        yield make
        subprocess.run([COLDTRACE, *make, "-o", table], check=True, capture_output=True)
        yield ["hooks", "verify", table, kernel]
        yield ["hooks", "tables", kernel]
        yield ["hooks", "context-switch", CORPUS / "context_switch/7-x64"]

    def mft_with_slack(self):
        """A $MFT whose root directory has a name of before behind its attributes."""
        name = usn_writer.file_name(usn_writer.reference(5, 5), "gone.txt")
        size = (16 + len(name) + 7) // 8 * 8
        entry = struct.pack("<QHHI", usn_writer.reference(77, 3), size, len(name), 0) + name
        records = bytearray(usn_writer.mft([])[0])
        at = 5 * usn_writer.RECORD + 520
        records[at:at + len(entry)] = entry
        path = self.here / "MFT"
        path.write_bytes(records)
        return path

    def capture(self):
        """Frames of 20 miniports, which are interfaces of their own, in five buffers."""
        log, buffers = EtlWriter(1), []
        for number in range(20):
            frame = struct.pack("<III", number, 7, 600) + bytes(600)
            log.manifest(0, 10 * number, NDIS, 1001, 0, frame, keywords=0x2C0000001)
            if number % 4 == 3:
                buffers.append(log.take(0))
        path = self.here / "capture.etl"
        path.write_bytes(log.build(buffers))
        return path

    def test_the_document_says_what_is_sampled(self):
        fewer = len(list(self.commands())) - (len(list(self.more_commands(*[self.here] * 3))) if ALL else 0)
        more = len(list(self.more_commands(*[self.here] * 3)))
        text = " ".join((PROJECT / "docs/trust.md").read_text().split())
        self.assertIn(f"it samples: {fewer} of these {fewer + more} runs, the other {more} being", text)
        if case.installed(self, "qemu-img") and case.installed(self, "ewfacquirestream"):
            self.assertIn(f"Another {len(list(self.sound_commands()))} runs are over sound inputs", text)
        tries = 30
        self.assertIn(f"it tries {tries} to {2 * tries} that are spread evenly, the first among them, and the last four; of a run "
                      f"with up to {SMALL} allocations it tries each", text)
        if not ALL:
            self.assertEqual(TRIES, tries)
            for calls in 1, 5, 34, 59, 60, 61, 1000, 99999:
                tried = self.moments(calls, "read")
                self.assertLessEqual(min(tries, calls), len(tried))
                self.assertLessEqual(len(tried), 2 * tries + 4)
                self.assertLessEqual({1, *range(max(1, calls - 3), calls + 1)}, set(tried))
                if calls < 2 * tries:
                    self.assertEqual(len(tried), calls)
            self.assertEqual(self.moments(SMALL, "memory"), [*range(1, SMALL + 1)])

    def run_with(self, command, kind, first, last, output, noted=0):
        """What became of it, and how many calls there were."""
        count = self.here / "count"
        count.write_bytes(bytes(8 + 8 * noted))
        done = subprocess.run(
            [COLDTRACE, *map(str, command), *(["-o", output] if output else [])], capture_output=True,
            timeout=120, env={**os.environ, "LD_PRELOAD": str(self.probe), "FAULT_KIND": kind,
                              "FAULT_AT": str(first), "FAULT_LAST": str(last),
                              "FAULT_COUNT": str(count), "TMPDIR": str(self.results)})
        return done, int.from_bytes(count.read_bytes()[:8], "little")

    def moments(self, calls, kind):
        if kind == "memory" and ALL:
            callers = struct.unpack(f"<{NOTED}Q", (self.here / "count").read_bytes()[8:])[:calls]
            self.assertLess(calls, NOTED)
            return sorted({hash_of: call for call, hash_of in reversed(list(enumerate(callers, 1)))}.values())
        step = 1 if kind == "memory" and calls <= SMALL else max(1, calls // TRIES)
        return sorted({*range(1, calls + 1, step), *range(max(1, calls - 3), calls + 1)})

    def faults(self, kind, persistent, to_file, check, commands=None):
        tried = 0
        for command in commands or self.commands():
            output = self.results / "out" if to_file else None
            plain, calls = self.run_with(command, kind, 0, 0, output, NOTED if ALL else 0)
            self.assertIn(plain.returncode, (0, 1), plain.stderr)
            expected = output.read_bytes() if output else plain.stdout
            if kind == "thread" and calls == 0:
                continue  # all is done by the first one
            self.assertGreater(calls, 0, command)
            for at in self.moments(calls, kind):  # of the run just before
                with self.subTest(command=list(map(str, command)), kind=kind, at=at, of=calls):
                    if output:
                        output.write_bytes(expected)  # of an earlier run, which may be replaced
                    done, _ = self.run_with(command, kind, at, 10**12 if persistent else at, output)
                    check(done, plain, expected, output)
                    tried += 1
                    self.check_leftovers(kind, expected, output)
        self.assertGreater(tried, {"thread": 15, "kill": 200}.get(kind, 30))
        if ALL:
            print(f"{kind}: {tried} runs", file=sys.stderr)

    def check_leftovers(self, kind, expected, output):
        """Nothing is left beside the results, but by a kill in the moment that they get their name."""
        beside = {path for path in self.results.iterdir() if path != output}
        if kind == "kill":
            for path in beside:
                self.assertRegex(path.name, r"^out\.[0-9]+-0$|^coldtrace")
                path.unlink()
        else:
            self.assertEqual(beside, set())

    def check_told(self, done, plain, expected, output):
        """The results are those without the fault, or it is told."""
        self.assertGreaterEqual(done.returncode, 0, done.stderr)
        found = output.read_bytes() if output else done.stdout
        if done.returncode == 2:
            self.assertTrue(done.stderr.strip())
            if output:
                self.assertEqual(found, expected)
        elif (found, done.returncode) != (expected, plain.returncode):
            self.assertEqual(done.returncode, 1, (found, done.stderr))
            # Other numbers in what is said of any run tell nothing.
            self.assertTrue(EIO in done.stderr or warnings(done.stderr) - warnings(plain.stderr), done.stderr)

    def test_a_read_that_fails_is_told(self):
        self.faults("read", False, False, self.check_told)

    def test_a_read_of_a_sound_input_that_fails_is_told(self):
        for persistent in (False, True) if ALL else (False,):
            self.faults("read", persistent, persistent, self.check_told, self.sound())

    def test_what_is_read_a_second_time_is_told_as_what_it_is(self):
        """Its first read was sound: no other finding can say what is missing."""
        commands = {command[1]: command for command in self.sound_commands() if command[0] == "ntfs"
                    and (command[1] in ("journal", "logfile") or "--zone-ids" in command)}
        for name, code, missing in (("snapshot", b"zone-unread", rb'"zone":null'), ("journal", b"journal-settings", rb'"maximum_size":null'),
                                    ("logfile", b"log-unread", rb'"lost_records":[1-9]')):
            plain, calls = self.run_with(commands[name], "read", 0, 0, None)
            with self.subTest(command=commands[name]):
                self.assertNotRegex(plain.stdout, missing)
                told = 0
                for at in range(1, calls + 1):
                    done, _ = self.run_with(commands[name], "read", at, at, None)
                    if done.returncode == 1 and re.search(missing, done.stdout):
                        self.assertIn(code, warnings(done.stderr), (at, calls))
                        self.assertIn(EIO, done.stderr)
                        told += 1
                self.assertGreater(told, 0)

    def sound(self):
        for command in self.sound_commands():
            with self.subTest(command=command):
                done = subprocess.run([COLDTRACE, *command], capture_output=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
            yield command

    def test_reads_that_fail_from_some_moment_on_are_told(self):
        self.faults("read", True, True, self.check_told)

    @unittest.skipUnless(shutil.which("mkntfs"), "mkntfs is not here")
    def test_an_index_that_is_read_again_for_a_second_directory_is_told(self):
        """Both have the clusters of the root's: each buffer's bytes are read a second time for the second one."""
        volume = self.here / "claimed.img"
        with open(volume, "wb") as file:
            file.truncate(8 << 20)
        subprocess.run(["mkntfs", "-F", "-q", "-Q", volume], check=True, capture_output=True)
        content = bytearray(volume.read_bytes())
        start = struct.unpack_from("<Q", content, 0x30)[0] * content[13] * 512

        def places(number):
            """Where each attribute of a record is, by its type."""
            at = start + number * 1024 + struct.unpack_from("<H", content, start + number * 1024 + 0x14)[0]
            while (kind := struct.unpack_from("<I", content, at)[0]) != 0xffffffff:
                yield kind, at
                at += struct.unpack_from("<I", content, at + 4)[0]
            yield kind, at
        root, extend = dict(places(5)), dict(places(11))
        index = content[root[0x90]:root[0xffffffff] + 8]  # $INDEX_ROOT, $INDEX_ALLOCATION, $BITMAP and the end
        at = extend[0x90]
        record = start + 11 * 1024
        self.assertLess(at - record + len(index), 510)
        content[at:at + len(index)] = index
        struct.pack_into("<I", content, record + 0x18, at - record + len(index))
        volume.write_bytes(content)
        command = ["ntfs", "snapshot", "--state", "all", "--jobs", "1", volume]
        plain, calls = self.run_with(command, "read", 0, 0, None)
        names = b'"path":"/$Extend/'
        self.assertIn(names + b"$Boot", plain.stdout)
        for call in range(1, calls + 1):
            done, _ = self.run_with(command, "read", call, call, None)
            if done.stdout.count(names) < plain.stdout.count(names):
                self.assertIn(b"Input/output error", done.stderr, (call, calls))

    def test_a_full_disk_leaves_what_was_there(self):
        self.faults("write", True, True, self.check_told)

    def test_a_kill_leaves_the_old_results_or_the_new_ones(self):
        def check(done, plain, expected, output):
            self.assertIn(done.returncode, (-9, plain.returncode))
            self.assertEqual(output.read_bytes(), expected)
        self.faults("kill", False, True, check)

    def test_memory_that_is_not_there_ends_the_run_with_a_word(self):
        for persistent in False, True:
            self.faults("memory", persistent, True, self.check_told)

    def test_without_a_further_thread_all_is_done_by_those_there_are(self):
        def check(done, plain, expected, output):
            self.assertEqual((done.returncode, done.stderr), (plain.returncode, plain.stderr))
            self.assertEqual(output.read_bytes(), expected)
        self.faults("thread", True, True, check)


if __name__ == "__main__":
    unittest.main()
