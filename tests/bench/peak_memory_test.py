"""The peak of memory that the comparisons in bench/ print is the program's, not Python's.

usage: peak_memory_test.py SOURCES
"""
import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(sys.argv[1]) / "bench"))
import peak_memory

MEBIBYTE = 1 << 20


class PeakMemory(unittest.TestCase):
    def setUp(self):
        if not os.access(peak_memory.TIME, os.X_OK):
            self.skipTest("GNU time is not installed")

    def test_a_small_program_started_by_a_large_python(self):
        ballast = b"\1" * (200 * MEBIBYTE)
        self.assertLess(peak_memory.Run(["true"]).mebibytes, 50)
        self.assertEqual(len(ballast), 200 * MEBIBYTE)

    def test_a_large_program(self):
        code = f"print(len(b'1' * {150 * MEBIBYTE}))"
        run = peak_memory.Run([sys.executable, "-c", code])
        self.assertEqual(run.status, 0)
        self.assertGreater(run.mebibytes, 150)

    def test_the_status_is_the_programs(self):
        self.assertEqual(peak_memory.Run(["sh", "-c", "exit 3"]).status, 3)

    def test_no_comparison_asks_wait4_for_memory(self):
        paths = list((Path(sys.argv[1]) / "bench").glob("compare-*"))
        self.assertGreater(len(paths), 0)
        for path in paths:
            self.assertNotIn("ru_maxrss", path.read_text(), path.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
