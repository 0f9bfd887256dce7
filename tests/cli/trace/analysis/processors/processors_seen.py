"""Processors of a trace are those that its events are of, whatever their numbers: each trace here is
written event by event, so that what is true of it is known.

usage: processors_seen.py COLDTRACE [arguments of unittest]
"""
import csv
import io
import re
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
from case import Case
from cli.trace.analysis.answers import answer_of, runner
from cli.trace.etl_writer import BUFFER, EtlWriter

run = runner(Path(sys.argv[1]).resolve(), "trace")
PROCESSOR_INDEX = 0x20  # of the flags of a buffer: 11 bits say whose it is
KERNEL = 0xFFFFF80000000000


class Seen(Case):
    def written(self, content):
        return self.write("trace.etl", content)

    def ask(self, command, trace, *statuses):
        return answer_of(run(command, trace, "--format", "json"), *statuses)

    def switched(self):
        """Of 0.1 ms the threads of processor 1 run for 0.04 ms, those of processor 5 for 0.01 ms."""
        log = EtlWriter(8)
        for cpu, tid, until in (1, 1000, 400), (5, 2000, 100):
            log.switch(cpu, 0, 0, tid)
            log.switch(cpu, until, tid, 0)
            log.switch(cpu, 1000, 0, tid)
        return log

    def test_processors_without_switches_are_in_no_table_and_no_share(self):
        trace = self.written(self.switched().build())
        for command in "schedule", "cpu":
            with self.subTest(command=command):
                self.assertEqual([(one["cpu"], one["busy"], one["idle"], one["unknown"])
                                  for one in self.ask(command, trace)["processors"]],
                                 [(1, 400, 600, 0), (5, 100, 900, 0)])
                text = run(command, trace).stdout.decode()
                column = r"^ +(\d+) .* 0$" if command == "schedule" else r"^ +[\d.]+ [um]?s .* - +(\d+)$"
                self.assertEqual(re.findall(column, text, re.M), ["1", "5"], text)
        rows = csv.DictReader(io.StringIO(run("cpu", trace, "--format", "csv").stdout.decode()))
        self.assertEqual([(row["cpu"], row["running"]) for row in rows if row["of"] == "processor"],
                         [("1", "400"), ("5", "100")])
        page = self.ask("top", trace)
        self.assertEqual(page["machine"]["processors"], 8)
        part = page["processor"]
        self.assertEqual((part["processors"], part["busy"], part["idle"], part["unknown"]), (2, 500, 1500, 0))
        self.assertIn("2 processors; busy 25.0 %", run("top", trace).stdout.decode())

    def test_one_with_samples_or_interrupts_alone_is_seen(self):
        log = self.switched()
        log.perfinfo(3, 0x0F2E, 2, 500, struct.pack("<QIHH", KERNEL, 8, 1, 0x40))
        log.dpc(6, 510, 520, KERNEL)
        log.dpc(7, -50, 530, KERNEL)  # begins before the trace: how long it took is not known
        trace = self.written(log.build())
        processors = self.ask("cpu", trace)["processors"]
        self.assertEqual([(one["cpu"], one["samples"], one["dpc_time"]) for one in processors],
                         [(1, 0, 0), (3, 1, 0), (5, 0, 0), (6, 0, 10), (7, 0, 0)])
        schedule = self.ask("schedule", trace)
        self.assertEqual([one["cpu"] for one in schedule["processors"]], [1, 5])
        # What no switch tells is unknown.
        elapsed = schedule["elapsed"]
        for one in processors:
            self.assertEqual(one["busy"] + one["idle"] + one["unknown"], elapsed, one["cpu"])
        part = self.ask("top", trace)["processor"]
        self.assertEqual((part["processors"], part["busy"] + part["idle"] + part["unknown"]), (5, 5 * elapsed))

    def test_a_number_beyond_all_is_one_processor(self):
        content = bytearray(self.switched().build())
        at = 2 * BUFFER  # the buffer of processor 5
        flags, = struct.unpack_from("<H", content, at + 0x34)
        struct.pack_into("<H", content, at + 0x28, 2047)
        struct.pack_into("<H", content, at + 0x34, flags | PROCESSOR_INDEX)
        trace = self.written(content)
        page = self.ask("top", trace, 1)
        self.assertIn("buffer-processor", {one["code"] for one in page["findings"]})
        self.assertLessEqual(page["processor"]["processors"], 2)
        for command in "schedule", "cpu":
            numbers = [one["cpu"] for one in self.ask(command, trace, 1)["processors"]]
            self.assertEqual(numbers[0], 1)
            self.assertLessEqual(len(numbers), 2, command)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
