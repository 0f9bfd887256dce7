"""Processes in the pages of `coldtrace report`: the flame graphs give each the time of all its threads, as
`trace cpu --format collapsed` has it, and names stand in tables and texts as the trace has them, escaped once.

usage: report_processes.py COLDTRACE SHARED [arguments of unittest]
"""
import struct
import sys
import unittest
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from cli.report.page.page_reader import Page
from cli.trace.analysis.answers import runner
from cli.trace.etl_writer import EtlWriter

COLDTRACE, SHARED = (Path(a).resolve() for a in sys.argv[1:3])
REAL = "pv_net.4.5.2.x64.etl", "dp_vsgc.etl"
MOST = 4000  # parts of a graph
INTERVAL = 10_000  # of samples, in units of 100 ns

run = runner(COLDTRACE)


def page_of(path):
    done = run("report", path)
    assert done.returncode in (0, 1), done.stderr.decode()
    return Page(done.stdout)


class Samples:
    """A trace of samples, one at a time, in as many buffers as they need."""

    def __init__(self):
        self.log, self.pieces, self.time, self.written = EtlWriter(1), [], 0, 0
        self.sample(0, 0x9000)  # nothing says how long the first one stands for

    def room(self):
        self.written += 1
        if self.written % 400 == 0:
            self.pieces.append(self.log.take(0))

    def process(self, pid, name, tids):
        self.log.process(0, 0, pid, name)
        for tid in tids:
            self.log.thread(0, 0, pid, tid)
            self.room()

    def sample(self, tid, address):
        self.time += INTERVAL
        self.log.perfinfo(0, 0x0F2E, 2, self.time, struct.pack("<QIHH", address, tid, 1, 0x40))
        self.room()

    def build(self):
        return self.log.build([*self.pieces, self.log.take(0)])


class Flames(Case):
    def collapsed(self, path, kind):
        """Of each process that stands below the root its time, in units of 100 ns, and the number of its paths."""
        times, paths = defaultdict(int), defaultdict(int)
        for line in run("trace", "cpu", path, "--format", "collapsed", "--of", kind).stdout.decode().splitlines():
            frames, time = line.rsplit(" ", 1)
            times[frames.split(";")[0]] += int(time)
            paths[frames.split(";")[0]] += 1
        return {name: (time // 100, paths[name]) for name, time in times.items()}

    def compare(self, path):
        graphs = page_of(path).data().flames
        for facts, nodes in graphs:
            told = self.collapsed(path, facts["id"].removeprefix("flame-"))
            names = [facts["names"][name].replace(";", ":") for _, name, _ in nodes]
            drawn = {names[i]: nodes[i][2] for i in range(1, len(nodes)) if nodes[i][0] == 0}
            self.assertEqual(len(drawn), sum(parent == 0 for parent, _, _ in nodes[1:]))
            self.assertLessEqual(set(drawn), set(told))
            least = min((total for _, _, total in nodes[1:]), default=0)
            for name, (time, paths) in told.items():
                with self.subTest(trace=path.name, graph=facts["id"], process=name):
                    if name in drawn:
                        self.assertAlmostEqual(drawn[name], time, delta=paths + 1)
                    else:
                        self.assertLessEqual(time, least + paths + 1)
            self.assertLessEqual(len(nodes), MOST)
            self.assertTrue(drawn)
        return graphs

    def test_processes_have_the_time_of_all_their_threads(self):
        traces = [SHARED / "samples/etl" / name for name in REAL]
        if not all(trace.exists() for trace in traces):
            self.skipTest("the sample traces are not here")
        self.assertEqual(sum(len(self.compare(trace)) for trace in traces), 1)

    def test_a_process_of_many_small_threads_is_drawn(self):
        count = 5000
        samples = Samples()
        tids = [8 + 4 * i for i in range(count)]
        samples.process(1000, "many.exe", tids)
        samples.process(1004, "one.exe", [4])
        for i, tid in enumerate(tids):
            samples.sample(tid, 0x1000)
            if i < count - 40:
                samples.sample(4, 0x2000 + i % 50)
        (facts, nodes), = self.compare(self.write("many.etl", samples.build()))
        self.assertEqual(len(nodes), MOST)  # of many threads alike the first are drawn
        totals = {facts["names"][name]: total for _, name, total in nodes}
        self.assertEqual(totals["many.exe (1000)"], count * INTERVAL)
        self.assertEqual(totals["one.exe (1004)"], (count - 40) * INTERVAL)
        text = " ".join(page_of(self.here / "many.etl").text)
        parts = 1 + 2 + 2 * count + 1 + 50  # the root, processes, threads and what is sampled in them
        self.assertIn(f"{parts - MOST:,} parts are too small to be drawn", text)

    def test_what_is_below_an_idle_thread_is_no_part(self):
        samples = Samples()
        samples.process(1000, "one.exe", [4])
        for i in range(60):
            samples.sample(0, 0x5000 + i)
            samples.sample(4, 0x2000)
        path = self.write("idle.etl", samples.build())
        (facts, nodes), = self.compare(path)
        self.assertEqual(len(nodes), 4)
        self.assertNotIn("too small to be drawn", " ".join(page_of(path).text))

    def test_a_semicolon_is_a_part_of_a_name(self):
        samples = Samples()
        for pid, name in (1000, "a;x.exe"), (1004, "a;y.exe"):
            samples.process(pid, name, [pid + 1])
        for tid in 1001, 1005, 1005:
            samples.sample(tid, 0x1000)
        (facts, nodes), = self.compare(self.write("names.etl", samples.build()))
        top = [(facts["names"][name], total) for parent, name, total in nodes[1:] if parent == 0]
        self.assertEqual(top, [("a;x.exe (1000)", INTERVAL), ("a;y.exe (1004)", 2 * INTERVAL)])


class Names(Case):
    NAME, SHOWN = "new\nline\u202e.exe", "new\\x0aline\\u202e.exe (10)"

    def trace(self):
        log = EtlWriter(1)
        log.system(0, 0x0303, 4, 0, struct.pack("<QIIIIQII", 0x1010, 10, 4, 1, 259, 0x1000, 0, 0) +
                   self.NAME.encode() + b"\0" * 7)
        for tid in 101, 102:
            log.thread(0, 0, 10, tid)
        for i in range(1, 6):
            log.switch(0, 1000 * i, 102 - i % 2, 101 + i % 2)
        log.system(0, 0x010a, 3, 9000, struct.pack("<IIIIQQQQI", 0, 0, 4096, 0, 65536, 0, 0x5000, 10, 101))
        log.call(0, 9100, 0xfffff80001000000)
        return self.write("names.etl", log.build())

    def test_names_are_escaped_once(self):
        page = page_of(self.trace())
        for table, column in (("processes-table", "Process"), ("threads-table", "Thread"), ("waits-table", "Thread"),
                              ("disk-by-process", "Process")):
            self.assertTrue(any(cell.startswith(self.SHOWN) for cell in page.column(table, column)), table)
        self.assertIn(self.SHOWN.encode() + b" used the most", page.bytes)
        self.assertIn(b"thread 101 of " + self.SHOWN.encode(), page.bytes)  # in what waits to the end
        self.assertIn(b"<li>" + self.SHOWN.encode(), page.bytes)
        self.assertNotIn(b"\\\\", page.bytes.partition(b"<script")[0])
        self.assertNotIn(self.NAME.encode(), page.bytes)

    def test_texts_of_terminals_are_as_they_were(self):
        for command in ["top"], ["tree"], ["deadlocks"]:
            text = run("trace", *command, self.trace(), "--format", "text").stdout.decode()
            self.assertIn("new\\x0aline\\u202e.exe", text)
            self.assertNotIn("\\\\", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
