"""What two runs have differently, counted again by a second reader of the decoded lines.

usage: trace_compare.py COLDTRACE SOURCES MAKE_TRACE [unittest arguments]
"""
import collections
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
from cli.trace.etl_writer import EtlWriter
from strict import strict_json, strict_ndjson

COLDTRACE, SOURCES, MAKE_TRACE = (Path(a).resolve() for a in sys.argv[1:4])
PROVIDER = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")
OTHER = uuid.UUID("abcdef00-9abc-def0-1234-56789abcdef0")


def run(*arguments):
    return subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True, timeout=120)


class Run:
    """A trace of manifest events, with tasks that start and stop."""

    def __init__(self):
        self.writer = EtlWriter(1, clock=1)

    def event(self, time, number, provider=PROVIDER, opcode=0, task=0, tid=8, activity=bytes(16)):
        record = struct.pack("<HBBHHIIQ", 80, 19, 0xC0, 0, 0, tid, 4, time + self.writer.first)
        record += provider.bytes_le + struct.pack("<HBBBBHQII", number, 1, 0, 4, opcode, task, 0, 0, 0)
        self.writer._add(0, record + activity)
        return self

    def write(self, path):
        path.write_bytes(self.writer.build())
        return path


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.validator = json_schema.of(
            json.loads((SOURCES / "docs/schema/trace-compare.schema.json").read_text()))

    def compare(self, a, b, *options, status=None):
        done = run("compare", a, b, "--format", "json", *options)
        answer = strict_json(done.stdout)
        self.validator.validate(answer)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return answer

    @staticmethod
    def kinds(path, *options):
        """By a second count: a kind has a provider and an id or opcode, or else a name."""
        counts, whole = collections.Counter(), 0
        for line in strict_ndjson(run("decode", path, *options).stdout):
            if line["type"] == "event":
                number = line["id"] if line["id"] is not None else line["opcode"]
                key = (line["provider"]["guid"], line["id"] is None, number,
                       line["name"] if number in (0, None) else None)
                counts[key] += 1
                whole += 1
        return counts, whole

    def check(self, a, b, *options):
        answer = self.compare(a, b, *options)
        (of_a, all_a), (of_b, all_b) = self.kinds(a, *options), self.kinds(b, *options)
        self.assertEqual((answer["before"]["events"], answer["after"]["events"]), (all_a, all_b))
        found = {}
        for kind in answer["kinds"]:
            number = kind.get("id", kind.get("opcode"))
            key = (kind["provider"]["guid"], "opcode" in kind, number,
                   kind["name"] if number in (0, None) else None)
            found[key] = (kind["before"]["events"], kind["after"]["events"])
            wanted = ("disappeared" if kind["after"]["events"] == 0 else
                      "appeared" if kind["before"]["events"] == 0 else "changed")
            self.assertEqual(kind["change"], wanted)
        wanted = {key: (of_a[key], of_b[key]) for key in of_a | of_b if of_a[key] != of_b[key]}
        self.assertEqual(found, wanted)
        self.assertEqual(answer["same_kinds"], sum(of_a[key] == of_b[key] for key in of_a | of_b))
        return answer

    def test_counts_are_those_of_a_second_reader(self):
        a, b = Run(), Run()
        for n in range(50):
            a.event(100 + n * 10, n % 7 + 1)
            b.event(100 + n * 10, n % 5 + 3, OTHER if n % 11 == 0 else PROVIDER)
        answer = self.check(a.write(self.folder / "a.etl"), b.write(self.folder / "b.etl"))
        self.assertEqual({k["change"] for k in answer["kinds"]}, {"appeared", "disappeared", "changed"})
        order = [("disappeared", "appeared", "changed").index(k["change"]) for k in answer["kinds"]]
        self.assertEqual(order, sorted(order))
        by = [(k["change"], abs(k["before"]["events"] - k["after"]["events"])) for k in answer["kinds"]]
        for change in "disappeared", "appeared", "changed":
            sizes = [size for which, size in by if which == change]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.check(self.folder / "a.etl", self.folder / "b.etl", "--where", "id in 3..5")

    def test_made_up_traces_of_all_classes(self):
        subprocess.run([MAKE_TRACE, self.folder], check=True)
        made = sorted(self.folder.glob("*.etl"))
        for one, other in zip(made, made[1:]):
            with self.subTest(one=one.name, other=other.name):
                self.compare(one, other)
        for scenario, seed in ("deadlock-5", 1), ("priority-inversion", 1):
            run("synthesize", scenario, "-o", self.folder / f"{scenario}.ctrace")
        self.compare(self.folder / "deadlock-5.ctrace", self.folder / "priority-inversion.ctrace", status=1)

    def test_a_trace_is_the_same_as_itself(self):
        path = Run().event(100, 1).event(200, 2).write(self.folder / "a.etl")
        answer = self.compare(path, path, status=0)
        self.assertTrue(answer["same"])
        self.assertEqual((answer["kinds"], answer["durations"]), ([], []))
        done = run("compare", path, path)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"unchanged: 3 kinds of events, 0 durations", done.stdout)

    def test_rates_and_thresholds(self):
        a, b = Run(), Run()
        for n in range(101):  # 10 a second for 10 s, and 20 s
            a.event(n * 1_000_000, 1)
        for n in range(201):
            b.event(n * 1_000_000, 1)
        one, other = a.write(self.folder / "a.etl"), b.write(self.folder / "b.etl")
        changed = self.compare(one, other, status=1)["kinds"]
        self.assertEqual([k["change"] for k in changed if k.get("id") == 1], ["changed"])
        kind = next(k for k in changed if k.get("id") == 1)
        self.assertEqual((kind["before"]["rate"], kind["after"]["rate"]), (10.1, 10.05))
        # The header event comes once in each, so half as often.
        by_rate = self.compare(one, other, "--by", "rate", "--threshold", 1, status=1)["kinds"]
        self.assertEqual([k.get("id") for k in by_rate], [None])
        self.assertTrue(self.compare(one, other, "--by", "rate", "--threshold", 50, status=0)["same"])
        self.assertEqual(len(self.compare(one, other, "--threshold", 99, status=1)["kinds"]), 1)
        self.assertTrue(self.compare(one, other, "--threshold", 100, status=0)["same"])

    def test_durations_from_start_to_stop(self):
        activity = uuid.uuid4().bytes
        a, b = Run(), Run()
        for run_, length in (a, 1000), (b, 3000):
            # Two threads whose stops cross, one nested pair, one by activity from thread to thread.
            run_.event(100, 1, opcode=1, task=5, tid=1).event(200, 1, opcode=1, task=5, tid=2)
            run_.event(100 + length, 2, opcode=2, task=5, tid=1).event(200 + length, 2, opcode=2, task=5, tid=2)
            run_.event(10_000, 3, opcode=1, task=6, tid=1).event(10_100, 3, opcode=1, task=6, tid=1)
            run_.event(10_200, 4, opcode=2, task=6, tid=1).event(10_400, 4, opcode=2, task=6, tid=1)
            run_.event(20_000, 5, opcode=1, task=7, tid=1, activity=activity)
            run_.event(20_000 + length * 2, 6, opcode=2, task=7, tid=2, activity=activity)
            run_.event(30_000, 6, opcode=2, task=7, tid=2).event(30_001, 5, opcode=1, task=8)  # without the other
        one, other = a.write(self.folder / "a.etl"), b.write(self.folder / "b.etl")
        answer = self.compare(one, other, status=1)
        self.assertEqual(answer["kinds"], [])
        found = {d["task"]: (d["before"], d["after"]) for d in answer["durations"]}
        pair = lambda *lengths: {"pairs": len(lengths), "total": sum(lengths),
                                 "mean": sum(lengths) // len(lengths), "longest": max(lengths)}
        self.assertEqual(found, {5: (pair(1000, 1000), pair(3000, 3000)), 7: (pair(2000), pair(6000))})
        self.assertEqual([d["task"] for d in answer["durations"]], [7, 5])
        self.assertEqual(answer["same_durations"], 1)
        text = run("compare", one, other).stdout.decode()
        self.assertIn("slower", text)
        self.assertIn("task 7", text)
        self.assertIn("faster", run("compare", other, one).stdout.decode())
        self.assertTrue(self.compare(one, other, "--threshold", 200, status=0)["same"])

    def test_durations_come_in_the_order_that_is_asked_for(self):
        """Of task 5 the mean differs more, of task 6 the number."""
        runs = []
        for name, lengths in ("a", {5: [1000], 6: [10], 7: [10]}), ("b", {5: [9000] * 2, 6: [20] * 5, 7: [10]}):
            made, now = Run(), 100
            for task, all_of_it in lengths.items():
                for length in all_of_it:
                    made.event(now, 1, opcode=1, task=task).event(now + length, 2, opcode=2, task=task)
                    now += length + 10
            runs.append(made.write(self.folder / f"{name}.etl"))
        plain = self.compare(*runs)
        difference = {"time": "mean", "count": "pairs"}
        for order, key in difference.items():
            wanted = sorted(plain["durations"], key=lambda one: abs(one["before"][key] - one["after"][key]), reverse=True)
            sorted_by = self.compare(*runs, "--sort", order)
            self.assertEqual(sorted_by["durations"], wanted)
            self.assertEqual(sorted_by["kinds"], plain["kinds"])
            text = run("compare", *runs, "--sort", order).stdout.decode()
            self.assertEqual(re.findall(r" task (\d)$", text, re.M), [str(one["task"]) for one in wanted])
        self.assertEqual([one["task"] for one in plain["durations"]], [5, 6])
        self.assertEqual([one["task"] for one in self.compare(*runs, "--sort", "count")["durations"]], [6, 5])

    def test_what_cannot_be_compared(self):
        path = Run().event(100, 1).write(self.folder / "a.etl")
        done = run("compare", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"AFTER is required", done.stderr)
        self.assertEqual(run("compare", path, path, path).returncode, 2)
        self.assertEqual(run("compare", path, self.folder / "missing").returncode, 2)
        self.assertEqual(run("compare", path, path, "--where", "id ==").returncode, 2)
        before = path.read_bytes()
        self.assertEqual(run("compare", path, path, "-o", path).returncode, 2)
        self.assertEqual(path.read_bytes(), before)
        cut = self.folder / "cut.etl"
        cut.write_bytes(before[:-1000])
        answer = self.compare(path, cut, status=1)
        self.assertIn("trace-truncated", [f["code"] for f in answer["after"]["findings"]])
        cut.write_bytes(before + b"x")
        told, = (f["text"] for f in self.compare(path, cut, status=1)["after"]["findings"] if f["code"] == "trace-truncated")
        self.assertEqual(told, "1 byte at the end is not a whole buffer header")
        done = run("compare", path, path, "--where", "nothing == 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match", done.stderr)

    def test_more_kinds_than_are_kept_are_told(self):
        many = Run()
        pieces = []
        for start in range(0, 65_536, 512):
            for number in range(start, start + 512):
                many.event(number, number).event(number, number, OTHER if number < 9 else PROVIDER)
            pieces.append(many.writer.take(0))
        path = self.folder / "many.etl"
        path.write_bytes(many.writer.build([piece for whole in pieces for piece in self.halves(whole)]))
        answer = self.compare(path, path, status=1)
        self.assertTrue(answer["same"])
        self.assertIn("compare-limit", [f["code"] for f in answer["before"]["findings"]])

    @staticmethod
    def halves(piece):
        """Of as many bytes as a buffer holds."""
        cpu, events = piece
        half = len(events) // 160 * 80
        return [(cpu, events[:half]), (cpu, events[half:])]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
