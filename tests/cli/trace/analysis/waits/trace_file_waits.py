"""Which waits a thread's own file operations explain, against a reader of the events that is written here:
it has all of a trace before it and asks of each wait which operation it belongs to.

usage: trace_file_waits.py COLDTRACE SOURCES [arguments of unittest]
"""
import json
import random
import re
import struct
import subprocess
import sys
import unittest
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
import json_schema
from case import Case
from cli.trace.etl_writer import EtlWriter, utf16z
from strict import strict_json, strict_ndjson

COLDTRACE, SOURCES = (Path(a).resolve() for a in sys.argv[1:3])
NAME, READ, WRITE, END = 0x400, 0x443, 0x444, 0x44C
TENTH = 1000  # ticks in a tenth of a millisecond
NAMES = {0xAA00: "\\Device\\HarddiskVolume1\\a.txt", 0xBB00: "\\Device\\HarddiskVolume1\\b.txt"}


def ticks_of(time):
    """Of a moment within a minute."""
    seconds, ticks = re.match(r".*:(\d+)\.(\d{7})Z", time).groups()
    return int(seconds) * 10**7 + int(ticks)


def is_about(wait, request):
    return 0.8 * request - TENTH < wait < 1.2 * request + TENTH


def read(lines):
    """(tid, file, action): [waits, of these in operations that the thread ended, right after one, their time]."""
    turns, waits, operations, dpcs = defaultdict(list), defaultdict(list), [], defaultdict(list)
    names, runs, left, ready, irps = {}, {}, {}, {}, {}
    for order, line in enumerate(lines):
        name, fields, time, cpu = line["name"], line["fields"], line["timestamp"], line["cpu"]
        if name == "FileIo/Name":
            names[fields["FileObject"]] = fields["FileName"]
        elif name in ("FileIo/Read", "FileIo/Write"):
            irps[fields["IrpPtr"]] = {"tid": fields["TTID"], "begin": time, "action": name[7:].lower(),
                                      "file": names.get(fields["FileKey"])}
        elif name == "FileIo/OperationEnd" and fields["IrpPtr"] in irps:
            operations.append({**irps.pop(fields["IrpPtr"]), "end": time, "cpu": cpu, "order": order})
        elif name == "PerfInfo/DPC":
            # It is told at its end: what comes behind it in the file was not in it.
            dpcs[cpu].append((fields["InitialTime"], time, order))
        elif name == "Thread/ReadyThread":
            ready.setdefault(fields["TThreadId"], (time, cpu))
        elif name == "Thread/CSwitch":
            old, new = fields["OldThreadId"], fields["NewThreadId"]
            if old in runs:
                since, first = runs.pop(old)
                turns[old].append((since, time, cpu, first, order))
            left[old] = time, fields["OldThreadState"]
            ready.pop(old, None)
            if new in left and left[new][1] == 5 and new in ready:
                waits[new].append((left[new][0], *ready[new], time))
            runs[new] = time, order
    for tid, (since, first) in runs.items():
        turns[tid].append((since, lines[-1]["timestamp"], None, first, len(lines)))

    def ended_itself(one):
        # Of the turn that the trace ends in, the processor is that of the switch to it.
        at = next((turn for turn in turns[one["tid"]]
                   if turn[3] < one["order"] < turn[4] and one["cpu"] in (turn[2], lines[turn[3]]["cpu"])), None)
        in_dpc = any(begin <= one["end"] and one["order"] < order and at and order < at[4]
                     for begin, _, order in dpcs[one["cpu"]])
        return None if in_dpc else at

    found = defaultdict(lambda: [0, 0, 0, 0])

    def count(one, how, length):
        edge = found[one["tid"], one["file"], one["action"]]
        edge[0] += 1
        edge[3] += length
        if how:
            edge[how] += 1
    for tid, all_waits in waits.items():
        mine = [one for one in operations if one["tid"] == tid]
        own = [(one, ended_itself(one)) for one in mine]
        for since, readied, cpu, back in all_waits:
            inside = [one for one in mine if one["begin"] <= since <= one["end"] <= readied]
            right_after = [one for one in inside if one["cpu"] == cpu and readied - one["end"] <= TENTH]
            around = [(one, turn) for one, turn in own
                      if turn and one["begin"] <= since and turn[0] >= back]
            next_turn = [one for one, turn in around if turn[0] == back]
            alike = [one for one in inside if is_about(readied - since, one["end"] - one["begin"])]
            if right_after:
                count(right_after[-1], 2, readied - since)
            elif next_turn:
                count(next_turn[0], 1, readied - since)
            elif alike:
                count(alike[-1], 0, readied - since)
            elif around:
                count(around[0][0], 1, readied - since)
    return dict(found)


class FileWaits(Case):
    def log(self, processors=1):
        log = EtlWriter(processors)
        log.process(0, 0, 100, "100.exe")
        for tid in 1000, 1004:
            log.thread(0, 0, 100, tid)
        for key, name in NAMES.items():
            log.system(0, NAME, 2, 1, struct.pack("<Q", key) + utf16z(name))
        return log

    def start(self, log, time, irp, tid=1000, key=0xAA00, hook=READ, cpu=0):
        log.system(cpu, hook, 3, time, struct.pack("<QQQQIIII", 0, irp, key + 1, key, tid, 4096, 0, 0), tid, 100)

    def end(self, log, time, irp, cpu=0):
        log.system(cpu, END, 2, time, struct.pack("<QQI", irp, 4096, 0))

    def ask(self, content, *options, status=0):
        path = self.write("trace.etl", content)
        done = subprocess.run([COLDTRACE, "trace", "graph", "wait-for", path, *options],
                              capture_output=True, timeout=100)
        self.assertEqual(done.returncode, status, done.stderr)
        return path, done.stdout

    def compare(self, content):
        path, out = self.ask(content, "--format", "json")
        answer = strict_json(out)
        json_schema.of(json.loads(
            (SOURCES / "docs/schema/trace-wait-graph.schema.json").read_text())).validate(answer)
        tids = {one["id"]: one["tid"] for one in answer["threads"]}
        got = {(tids[one["thread"]], one["file"], one["action"]):
               [one["count"], one["by_itself"], one["by_completion"], one["duration"]]
               for one in answer["file_operations"] if one["count"]}
        for one in answer["file_operations"]:
            self.assertLessEqual(one["longest"] or 0, one["duration"])
            self.assertEqual(one["strength"], "likely")
        decoded = subprocess.run([COLDTRACE, "trace", "decode", path], capture_output=True, timeout=100)
        events = [line for line in strict_ndjson(decoded.stdout) if line["type"] == "event"]
        first = EtlWriter().first
        for event in events:
            if event["name"] == "PerfInfo/DPC":
                event["fields"]["InitialTime"] = ticks_of(event["fields"]["InitialTime"]) - ticks_of(event["time"]) \
                    + event["timestamp"] - first
            event["timestamp"] -= first
        self.assertEqual(got, read(events))
        return got, answer

    def one_wait(self, begin=990, left=1000, ready=51_000, end=51_500, out=60_000, dpc=None, second=None):
        """Thread 1000 asks for a file at `begin`, is away from `left` on and runs again 20 ticks after `ready`;
        the operation is done at `end`. A second wait is (left, ready), both before `end`."""
        log = self.log()
        log.switch(0, 50, 0, 1000)
        rows = [(begin, lambda: self.start(log, begin, 0xF00)), (left, lambda: log.switch(0, left, 1000, 0)),
                (ready, lambda: log.ready(0, ready, 1000)), (ready + 20, lambda: log.switch(0, ready + 20, 0, 1000, 2)),
                (end, lambda: self.end(log, end, 0xF00))]
        if dpc:
            rows.append((dpc[1], lambda: log.dpc(0, *dpc, 0xFFFFF80000001000)))
        if second:
            rows += [(second[0], lambda: log.switch(0, second[0], 1000, 0)),
                     (second[1], lambda: log.ready(0, second[1], 1000)),
                     (second[1] + 20, lambda: log.switch(0, second[1] + 20, 0, 1000, 2))]
        if out:
            rows.append((out, lambda: log.switch(0, out, 1000, 0)))
        for _, write in sorted(rows, key=lambda row: row[0]):
            write()
        return log.build()

    def test_waits_that_an_operation_explains(self):
        a = 1000, NAMES[0xAA00], "read"
        cases = {
            "the thread ends it itself": ({}, {a: [1, 1, 0, 50_000]}),
            "and runs to the end of the trace": ({"out": None}, {a: [1, 1, 0, 50_000]}),
            "two waits in one": ({"second": (52_000, 58_000), "end": 59_000}, {a: [2, 2, 0, 56_000]}),
            "ended right before": ({"end": 50_900}, {a: [1, 0, 1, 50_000]}),
            "as long as it": ({"end": 45_000}, {a: [1, 0, 0, 50_000]}),
            "far longer": ({"end": 20_000}, {}),
            "an interrupt ends it while the thread runs": ({"dpc": (51_400, 51_600)}, {}),
            "an interrupt before that": ({"dpc": (51_300, 51_400)}, {a: [1, 1, 0, 50_000]}),
            "it began behind the wait": ({"begin": 51_100}, {}),
        }
        for why, (trace, want) in cases.items():
            with self.subTest(why):
                self.assertEqual(self.compare(self.one_wait(**trace))[0], want)

    def test_the_inner_one_of_two_has_its_waits(self):
        log = self.log()
        log.switch(0, 50, 0, 1000)
        self.start(log, 900, 0xF00)
        self.start(log, 950, 0xF08, key=0xBB00, hook=WRITE)
        for left, back in (1000, 6000), (7000, 9000):
            log.switch(0, left, 1000, 0)
            log.ready(0, back - 10, 1000)
            log.switch(0, back, 0, 1000, 2)
            self.end(log, back + 5, 0xF08 if left == 1000 else 0xF00)
        log.switch(0, 9500, 1000, 0)
        got, _ = self.compare(log.build())
        self.assertEqual(got, {(1000, NAMES[0xBB00], "write"): [1, 1, 0, 4990],
                               (1000, NAMES[0xAA00], "read"): [1, 1, 0, 1990]})

    def test_who_waits_at_the_end_with_one_under_way(self):
        log = self.log()
        log.switch(0, 50, 0, 1000)
        self.start(log, 900, 0xF00)
        log.switch(0, 1000, 1000, 0)
        log.switch(0, 2000, 0, 1004, 2)
        self.start(log, 2100, 0xF08, tid=1004, key=0xCC00)  # runs on
        content = log.build()
        _, answer = self.compare(content)
        one, = answer["file_operations"]
        self.assertEqual([one["count"], one["longest"], one["file"]], [0, None, NAMES[0xAA00]])
        self.assertIsNotNone(one["open_since"])
        _, text = self.ask(content)
        self.assertRegex(text.decode(), r"thread 1000 of 100\.exe \(100\) has been waiting since \+0\.0001000 "
                         r"\(event at \S+\), while its file operation \(read\) on \\Device\\HarddiskVolume1\\a\.txt is under way\n")

    def test_text_and_drawings_have_them(self):
        content = self.one_wait()
        _, text = self.ask(content)
        self.assertIn("thread 1000 of 100.exe (100) likely waited 1x for its own file operations (read) on "
                      "\\Device\\HarddiskVolume1\\a.txt, 5.00 ms, longest 5.00 ms since +0.0001000, "
                      "1 of them in operations that it ended itself, 0 ended right after\n", text.decode())
        _, dot = self.ask(content, "--format", "dot")
        file, = re.findall(r'(n\d+) \[shape=diamond, label="File\\n\\\\Device\\\\HarddiskVolume1\\\\a\.txt"', dot.decode())
        self.assertRegex(dot.decode(), rf'n\d+ -> {file} \[label="read, 1x, 5\.00 ms"')
        _, svg = self.ask(content, "--format", "svg")
        self.assertIn(b"<title>read, 1x, 5.00 ms</title>", svg)
        _, answer = self.ask(content, "--process", "999", "--format", "json", status=1)
        self.assertEqual(strict_json(answer)["file_operations"], [])

    def stacks(self, path):
        """Nanoseconds of each path of --of waiting."""
        done = subprocess.run([COLDTRACE, "trace", "cpu", path, "--format", "collapsed", "--of", "waiting"],
                              capture_output=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {tuple(path.split(";")): int(time) for path, time in
                (line.rsplit(" ", 1) for line in done.stdout.decode().splitlines())}

    def test_stacks_of_waits_name_the_file(self):
        path = self.write("one.etl", self.one_wait())
        frames, = (frames for frames in self.stacks(path) if "[file: read]" in frames)
        self.assertEqual(frames[2:], ("[waiting: UserRequest]", "[file: read]", NAMES[0xAA00],
                                      "[readied by an interrupt]"))
        log = self.log()  # nothing names this one
        log.switch(0, 50, 0, 1000)
        self.start(log, 900, 0xF00, key=0xCC00, hook=WRITE)
        log.switch(0, 1000, 1000, 0)
        log.ready(0, 2000, 1000)
        log.switch(0, 2010, 0, 1000, 2)
        self.end(log, 2020, 0xF00)
        log.switch(0, 2100, 1000, 0)
        told = self.stacks(self.write("two.etl", log.build()))
        self.assertEqual(sum(time for frames, time in told.items() if frames[3:5] == ("[file: write]", "[unknown file]")),
                         1000 * 100)

    def test_stacks_have_the_time_of_all_these_waits(self):
        for seed in range(20):
            with self.subTest(seed=seed):
                path, out = self.ask(self.random_log(random.Random(seed)), "--format", "json")
                expected = defaultdict(int)
                answer = strict_json(out)
                tids = {one["id"]: one["tid"] for one in answer["threads"]}
                for one in answer["file_operations"]:
                    if one["duration"]:
                        expected[tids[one["thread"]], one["action"], one["file"]] += one["duration"] * 100
                got = defaultdict(int)
                for frames, time in self.stacks(path).items():
                    at = next((i for i, frame in enumerate(frames) if frame.startswith("[file: ")), None)
                    if at is not None:
                        got[int(frames[1].split()[1]), frames[at][7:-1], frames[at + 1]] += time
                self.assertEqual(got, expected)

    def test_any_order(self):
        waits = 0
        for seed in range(60):
            with self.subTest(seed=seed):
                got, _ = self.compare(self.random_log(random.Random(seed)))
                waits += sum(edge[0] for edge in got.values())
        self.assertGreater(waits, 100)

    def random_log(self, chance):
        """Two threads of two processors that never move; interrupts now and then."""
        log, time = self.log(2), 100
        running, away = {0: 1000, 1: 1004}, {0: None, 1: None}
        under_way, irp = [], 0xF000
        for cpu, tid in running.items():
            log.switch(cpu, 50, 0, tid)
        for _ in range(300):
            time += chance.choice((7, 90, 700, 5000))
            cpu = chance.randrange(2)
            tid, other = running[cpu], 1 - cpu
            what = chance.random()
            if away[cpu] is None and what < 0.3:
                irp += 8
                under_way.append(irp)
                self.start(log, time, irp, tid, chance.choice((0xAA00, 0xBB00)), chance.choice((READ, WRITE)), cpu)
            elif under_way and what < 0.55:
                self.end(log, time, under_way.pop(chance.choice((-1, -1, 0))), cpu)
                if chance.random() < 0.2:
                    log.dpc(cpu, time - 3, time + 3, 0xFFFFF80000001000)
                    time += 3
            elif away[cpu] is None:
                log.switch(cpu, time, tid, 0)
                away[cpu] = "waits"
            elif away[cpu] == "waits":
                log.ready(chance.choice((cpu, other)), time, tid)
                away[cpu] = "ready"
            else:
                log.switch(cpu, time, 0, tid, 2)
                away[cpu] = None
        return log.build()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
