"""Who reads the results and goes away changes no verdict, and hides nothing that is known by then.

usage: reader_gone.py COLDTRACE DEMO [unittest arguments]
"""
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case

COLDTRACE, DEMO = (Path(argument).resolve() for argument in sys.argv[1:3])
PIPE_SIZE = 1 << 16  # of Linux: what is written before a reader is missed


def without_reader(*arguments):
    """The status, and what is said, where nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([COLDTRACE, *map(str, arguments)], stdout=writer, stderr=subprocess.PIPE,
                          timeout=120)
    os.close(writer)
    return done.returncode, done.stderr


def with_reader(*arguments):
    done = subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)
    return done.returncode, done.stderr, done.stdout


class NamedPipes(case.Case):
    def test_a_named_pipe_is_opened_once(self):
        """The writer ends after one opening: a run that opened it again would wait for ever."""
        image, disk = DEMO / "demo-ntdll.dll", DEMO / "demo-disk.img"
        for number in range(4):  # a writer may be quick enough to find the second opening
            for source, *words in ((image, "pe", "info"), (image, "syscalls", "map"), (disk, "report"),
                                   (disk, "ntfs", "info"), (disk, "ntfs", "query")):
                pipe, out = self.here / "pipe", self.here / "out"
                os.mkfifo(pipe)
                writer = subprocess.Popen(["sh", "-c", 'exec cat "$1" > "$2"', "sh", source, pipe],
                                          stderr=subprocess.DEVNULL)
                with self.subTest(words=words, number=number):
                    try:
                        done = subprocess.run([COLDTRACE, *words, pipe, "-o", out], capture_output=True, timeout=20)
                        self.assertIn(done.returncode, (0, 1), done.stderr)
                        self.assertGreater(out.stat().st_size, 0)
                    finally:
                        writer.kill()
                        writer.wait()
                        pipe.unlink()
                        out.unlink(missing_ok=True)


class ReaderGone(case.Case):
    def test_the_exit_status_of_a_verdict_is_that_of_the_verdict(self):
        trace, image, updated = (DEMO / f"demo-{name}" for name in ("trace.etl", "ntdll.dll", "ntdll-updated.dll"))
        packed = self.here / "same.etl"
        packed.write_bytes(trace.read_bytes())
        # So many expectations that the answer is larger than a pipe.
        many = [word for number in range(1500) for word in ("--expect", f'name == "no such event {number}"')]
        for status, arguments in ((1, ("trace", "check", trace, "--expect", 'name == "x"')),
                                  (0, ("trace", "check", trace, "--expect", "exists name")),
                                  (1, ("trace", "check", trace, *many)),
                                  (0, ("trace", "compare", trace, packed)),
                                  (1, ("syscalls", "compare", image, updated)),
                                  (0, ("syscalls", "compare", image, image)),
                                  (0, ("servicing", image, updated))):
            with self.subTest(arguments=arguments[:4]):
                read = with_reader(*arguments, "--tolerate", "hooked-stub,buffers-lost,gap-buffers-missing")
                self.assertEqual(read[0], status, read[1])
                if len(arguments) > 100:
                    self.assertGreater(len(read[2]), PIPE_SIZE)
                for _ in range(3):
                    self.assertEqual(without_reader(*arguments, "--tolerate",
                                                    "hooked-stub,buffers-lost,gap-buffers-missing"), read[:2])

    def test_rows_stop_and_tell_what_is_known(self):
        whole = self.here / "whole.ctrace"
        subprocess.run([COLDTRACE, "trace", "synthesize", "system-calls", "--rounds", "2000", "-o", whole],
                       check=True)
        self.assertEqual(without_reader("trace", "decode", whole, "-q"), (0, b""))
        cut = self.here / "cut.ctrace"
        cut.write_bytes(whole.read_bytes()[:-5000])
        read = with_reader("trace", "decode", cut)
        self.assertGreater(len(read[2]), PIPE_SIZE)
        status, said = without_reader("trace", "decode", cut)
        self.assertEqual((read[0], status), (1, 1))
        self.assertIn(b"warning", said)
        self.assertLessEqual(set(line for line in said.splitlines() if b": warning: " in line),
                             set(read[1].splitlines()))
        self.assertEqual(without_reader("trace", "decode", cut, "-q"), (1, b""))

    def test_little_that_is_cut_off_is_told_in_full(self):
        cut = self.write("cut.etl", (DEMO / "demo-trace.etl").read_bytes()[:-100])
        for arguments in (("trace", "info", cut), ("trace", "decode", cut, "--limit", "1")):
            with self.subTest(arguments=arguments):
                status, said, _ = with_reader(*arguments)
                self.assertEqual(status, 1)
                self.assertEqual(without_reader(*arguments), (status, said))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
