"""Progress is shown on a terminal, and nowhere else.

usage: progress.py COLDTRACE IMAGES [unittest arguments]
Standard error is a pseudo-terminal. The reader of the results waits, so that the run takes its time, or opening a file
takes some.
"""
import fcntl
import os
import pty
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from cli.trace.etl_writer import EtlWriter
from ntfs.journal import usn_writer

COLDTRACE, IMAGES = (Path(a).resolve() for a in sys.argv[1:3])
LINE = re.compile(rb"decoding (\d+) %, ([\d.]+ [MK]iB) of ([\d.]+ [MK]iB), [\d.]+ [MK]iB/s, ([\d,]+) events"
                  rb"(, \d+ (s|min) left)?")


def long_trace():
    writer, pieces = EtlWriter(1, clock=1), []
    for number in range(120_000):
        writer.call(0, number, 0xfffff80000001000)
        if number % 1_000 == 999:
            pieces.append(writer.take(0))
    return writer.build(pieces)


SLOW_FILES = b"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int open64(const char* path, int flags, ...) {
  int (*next)(const char*, int, ...) = dlsym(RTLD_NEXT, "open64");
  if (strstr(path, ".dll")) usleep(7000);
  return next(path, flags, 0600);
}
int open(const char* path, int flags, ...) { return open64(path, flags, 0600); }
"""


class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.path = cls.folder / "long.etl"
        cls.path.write_bytes(long_trace())

    def on_terminal(self, *arguments, output=subprocess.PIPE, wait=1.5, environment=None, statuses=(0,), columns=0, piped=None):
        """Standard error of a run on a terminal, and its results. `piped` comes through a pipe, half of it late."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        said = []

        def listen():
            try:
                while data := os.read(ours, 65536):
                    said.append(data)
            except OSError:  # the other end is closed
                pass

        listener = threading.Thread(target=listen)
        listener.start()
        output = theirs if output == "terminal" else output
        process = subprocess.Popen([COLDTRACE, *map(str, arguments)], stdout=output, stderr=theirs,
                                   stdin=subprocess.DEVNULL if piped is None else subprocess.PIPE, env=environment)
        os.close(theirs)
        if piped is not None:
            process.stdin.write(piped[:len(piped) // 2])
            process.stdin.flush()
            time.sleep(wait)
            process.stdin.write(piped[len(piped) // 2:])
            process.stdin.close()
        time.sleep(wait)
        results = process.stdout.read() if process.stdout else b""
        self.assertIn(process.wait(timeout=120), statuses, b"".join(said)[-300:])
        if process.stdout:
            process.stdout.close()
        listener.join()
        os.close(ours)
        return b"".join(said), results

    def test_a_terminal_gets_it_and_keeps_nothing(self):
        said, results = self.on_terminal("trace", "decode", self.path, "--jobs", 1)
        self.assertEqual(results.count(b'"type":"event"'), 120_001)
        lines = LINE.findall(said)
        self.assertTrue(lines, said[:400])
        percents = [int(line[0]) for line in lines]
        self.assertEqual(percents, sorted(percents))
        self.assertTrue(all(0 <= percent <= 100 for percent in percents))
        self.assertEqual({line[2] for line in lines},
                         {f"{self.path.stat().st_size / 2**20:.1f} MiB".encode()})
        self.assertTrue(any(line[4] for line in lines))
        # Each line takes the place of the one before, and the end is an empty one.
        self.assertTrue(said.endswith(b"\r\x1b[K"), said[-200:])
        self.assertNotIn(b"\n", said)

    def test_a_narrow_terminal_breaks_no_line_of_it(self):
        """What has no room is left out, and nothing of it is cut."""
        for columns, parts in ((60, 3), (40, 2), (20, 1)):
            said, _ = self.on_terminal("trace", "decode", self.path, "--jobs", 1, columns=columns)
            lines = [line for line in said.decode().replace("\x1b[K", "").split("\r") if line]
            self.assertTrue(lines)
            for line in lines:
                self.assertLess(len(line), columns, line)
                self.assertRegex(line, r"^decoding \d+ %(, [\d.]+ [MK]iB of [\d.]+ [MK]iB)?(, [\d.]+ [MK]iB/s)?(, \d+ s left)?$")
                self.assertLessEqual(line.count(", "), parts, line)
            self.assertEqual(max(line.count(", ") for line in lines) > 0, columns > 20, lines)
        self.assertTrue(said.endswith(b"\r\x1b[K"), said[-200:])

    def test_a_pipe_shows_what_has_come(self):
        image = (IMAGES / "windows10-x64" / "ntdll.dll").read_bytes().ljust(8 << 20, b"\0")
        trace = self.path.read_bytes()
        for piped, arguments, statuses in ((trace, ("trace", "decode", "-"), (0,)), (trace, ("trace", "pack", "-"), (0,)),
                                           (image, ("ntfs", "snapshot", "-"), (2,))):
            with self.subTest(command=arguments):
                said, _ = self.on_terminal(*arguments, piped=piped, wait=0.8, statuses=statuses)
                shown = re.findall(rb"reading a pipe ([\d.]+) MiB, [\d.]+ [MK]iB/s\r", said)
                self.assertTrue(shown, said[:300])
                self.assertTrue(all(0 < float(size) <= len(piped) / 2**20 + 0.1 for size in shown), shown)
                said, _ = self.on_terminal(*arguments, "-q", piped=piped, wait=0.8, statuses=statuses)
                self.assertNotIn(b"reading", said)

    def test_exports_of_rows_show_it_too(self):
        said, results = self.on_terminal("trace", "export", "ecs", self.path)
        self.assertEqual(results.count(b"\n"), 120_001)
        self.assertTrue(re.search(rb"exporting \d+ %, [\d.]+ [MK]iB of [\d.]+ [MK]iB, [\d.]+ [MK]iB/s, [\d,]+ events", said), said[:400])
        self.assertTrue(said.endswith(b"\r\x1b[K"), said[-200:])

    def test_journals_show_their_bytes(self):
        journal = usn_writer.Journal()
        for number in range(40_000):
            journal.add(2, 64 + number, 5, usn_writer.CREATE, f"file{number}.txt")
        path = self.folder / "J"
        path.write_bytes(journal.data)
        said, results = self.on_terminal("ntfs", "journal", path, "--jobs", 1, columns=120)
        self.assertEqual(results.count(b'"type":"record"'), 40_000)
        lines = re.findall(rb"reading the journal (\d+) %, [\d.]+ [MK]iB of ([\d.]+ MiB), [\d.]+ [MK]iB/s, ([\d,]+) rows(, \d+ s left)?", said)
        self.assertTrue(lines, said[:400])
        self.assertEqual({line[1] for line in lines}, {f"{path.stat().st_size / 2**20:.1f} MiB".encode()})
        for percent, _, rows, _ in lines:
            self.assertAlmostEqual(int(percent) / 100, int(rows.replace(b",", b"")) / 40_000, delta=0.02)
        self.assertTrue(any(line[3] for line in lines), lines)

    def test_packing_shows_its_bytes(self):
        data = random.Random(1).randbytes(5 << 20)
        plain, packed = self.folder / "plain", self.folder / "packed.zst"
        plain.write_bytes(data)
        said, results = self.on_terminal("trace", "pack", plain, "--jobs", 1, wait=0.8)
        packed.write_bytes(results)
        line = rb"packing \d+ %, \d\.0 MiB of 5\.0 MiB, [\d.]+ [MK]iB/s(, \d+ s left)?\r"
        self.assertTrue(re.search(line, said), said[:400])
        said, results = self.on_terminal("trace", "unpack", packed, wait=0.8)
        self.assertEqual(results, data)
        self.assertTrue(re.search(rb"unpacking \d+ %, \d\.0 MiB of 5\.0 MiB, [\d.]+ [MK]iB/s", said), said[:400])
        said, results = self.on_terminal("trace", "synthesize", "system-calls", "--rounds", 3000, wait=0.8)
        self.assertGreater(len(results), 200_000)
        self.assertTrue(re.search(rb"synthesizing [\d.]+ [MK]iB, [\d.]+ [MK]iB/s", said), said[:400])

    def test_folders_show_their_files(self):
        shim, number = self.folder / "slow.so", 120
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", shim, "-ldl"], check=True, input=SLOW_FILES)
        slowly = {**os.environ, "LD_PRELOAD": str(shim)}
        tops = [self.folder / name for name in ("old", "new")]
        image = (IMAGES / "windows10-x64" / "ntdll.dll").read_bytes()
        for top in tops:
            top.mkdir()
            for index in range(number):
                (top / f"{index}.dll").write_bytes(image + bytes([index, top == tops[0]]))
        images, out = sorted(tops[1].iterdir()), self.folder / "out"
        for shown, arguments in (
                ((b"reading", b"files"), ("trace", "schemas", "build", tops[0])),
                ((b"reading", b"files", b"comparing", b"modules"), ("servicing", *tops, "--jobs", 1)),
                ((b"reading", b"files"), ("pe", "info", *images, "--jobs", 1)),
                ((b"reading", b"files"), ("syscalls", "map", *images, "--jobs", 1)),
                ((b"reading", b"files"), ("hooks", "table", "--dir", tops[1])),
                ((b"reading", b"files"), ("hooks", "tables", *images))):
            out.unlink(missing_ok=True)
            said, _ = self.on_terminal(*arguments, "--no-sandbox", "-o", out, environment=slowly, wait=0,
                                       statuses=(0, 1, 2))
            for what, items in zip(shown[::2], shown[1::2]):
                with self.subTest(command=arguments[:2], what=what):
                    lines = re.findall(rb"%b (\d+) %%, [\d.]+ [KM]?i?B of ([\d.]+ [KM]iB), [\d.]+ [KM]?i?B/s, (\d+) %b"
                                       rb"(, \d+ s left)?\r" % (what, items), said)
                    self.assertTrue(lines, said[-600:])
                    self.assertEqual(len({size for _, size, _, _ in lines}), 1)
                    for percent, _, done, _ in lines:
                        self.assertAlmostEqual(int(percent) / 100, int(done) / number, delta=0.03)

    def test_messages_take_its_place(self):
        cut = self.folder / "cut.etl"
        cut.write_bytes(self.path.read_bytes()[:-1000])
        said, _ = self.on_terminal("trace", "decode", cut, "--tolerate", "trace-truncated,buffer-count",
                                   "--jobs", 1)
        self.assertTrue(LINE.search(said))
        messages = said[said.index(b"\r\x1b[K" + bytes(str(cut), "ascii")):]
        self.assertIn(b"warning: trace-truncated", messages)
        self.assertNotIn(b"decoding", messages)

    def test_nobody_else_gets_it(self):
        self.assertEqual(self.on_terminal("trace", "decode", self.path, "-q")[0], b"")
        said, _ = self.on_terminal("trace", "decode", self.path, "--limit", 3, output="terminal", wait=0)
        self.assertNotIn(b"decoding", said)
        process = subprocess.Popen([COLDTRACE, "trace", "decode", self.path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        time.sleep(1.5)
        self.assertEqual(process.communicate()[1], b"")

    def test_results_are_the_same(self):
        _, results = self.on_terminal("trace", "decode", self.path, wait=0)
        done = subprocess.run([COLDTRACE, "trace", "decode", self.path], capture_output=True)
        self.assertEqual(results, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
