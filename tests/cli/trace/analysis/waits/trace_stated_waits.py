"""Who waited for whom, where events name both, against a reader of the events that is written here: the
sequences are the ones that a client and a server log, in every order of receiving and waiting.

usage: trace_stated_waits.py COLDTRACE SOURCES [arguments of unittest]
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
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
import json_schema
from case import Case
from cli.trace.etl_writer import EtlWriter
from strict import strict_json, strict_ndjson

COLDTRACE, SOURCES = (Path(a).resolve() for a in sys.argv[1:3])
SEND, RECEIVE, WAIT, UNWAIT, COLLISION = 0x1A21, 0x1A22, 0x1A23, 0x1A25, 0x1722
FLOOR, READ, WRITE, READ_INIT = 0x542, 0x10A, 0x10B, 0x10C


def read(lines):
    """(kind, tid, tid of the other, lock): [count, timed, time]; one log line after the other."""
    found = defaultdict(lambda: [0, 0, 0])
    got, waits = {}, {}  # by message: who has it; by thread: message, since, whom it waits for
    for line in lines:
        name, tid, fields, time = line["name"], line["tid"], line["fields"], line["timestamp"]
        if name == "ALPC/ALPC-Send-Message":
            got.pop(fields["MessageID"], None)
        elif name == "ALPC/ALPC-Receive-Message":
            got[fields["MessageID"]] = tid
        elif name == "ALPC/ALPC-Wait-For-Reply":
            # One thread waits for a message: the last one that says so.
            waits = {other: wait for other, wait in waits.items() if wait[0] != fields["MessageID"]}
            waits[tid] = [fields["MessageID"], time, None]
        elif name == "CritSec/Collision":
            owner = int(str(fields["OwningThread"]), 0)
            if owner != tid:
                found["critical_section", tid, owner, fields["CritSecAddr"]][0] += 1
        for waiter, wait in waits.items():
            other = got.get(wait[0])
            if wait[2] is None and other not in (None, waiter):
                wait[2] = other
                found["reply", waiter, other, None][0] += 1
        if name == "ALPC/ALPC-Unwait" and tid in waits:
            message, since, other = waits.pop(tid)
            got.pop(message, None)
            if other is not None:
                found["reply", tid, other, None][1] += 1
                found["reply", tid, other, None][2] += time - since
    return dict(found)


class StatedWaits(Case):
    def log(self):
        log = EtlWriter()
        for pid, tids in (100, (1000, 1004)), (200, (2000, 2004)):
            log.process(0, 0, pid, f"{pid}.exe")
            for tid in tids:
                log.thread(0, 0, pid, tid)
        return log

    def message(self, log, time, hook, tid, number=0):
        log.system(0, hook, 2, time, struct.pack("<I", number), tid, tid // 1000 * 100)

    def ask(self, content, *options, status=0):
        path = self.write("trace.etl", content)
        done = subprocess.run([COLDTRACE, "trace", "graph", "wait-for", path, *options],
                              capture_output=True, timeout=100)
        self.assertEqual(done.returncode, status, done.stderr)
        return path, done.stdout

    def compare(self, content, status=0):
        path, out = self.ask(content, "--format", "json", status=status)
        answer = strict_json(out)
        json_schema.of(json.loads(
            (SOURCES / "docs/schema/trace-wait-graph.schema.json").read_text())).validate(answer)
        tids = {one["id"]: one["tid"] for one in answer["threads"]}
        self.check_locks(answer, tids, path)
        got = {(one["kind"], tids[one["thread"]], tids[one["other"]], one["lock"]):
               [one["count"], one["timed"], one["duration"]] for one in answer["stated"]}
        decoded = subprocess.run([COLDTRACE, "trace", "decode", path], capture_output=True, timeout=100)
        events = [line for line in strict_ndjson(decoded.stdout) if line["type"] == "event"]
        self.assertEqual(got, read(events))
        return got

    def check_locks(self, answer, tids, path):
        """Boosts of owners, from the events again."""
        decoded = subprocess.run([COLDTRACE, "trace", "decode", path, "--event", "Thread/AutoBoostSetFloor"],
                                 capture_output=True, timeout=100)
        want = defaultdict(int)
        for line in strict_ndjson(decoded.stdout):
            if line["type"] == "event":
                fields = line["fields"]
                want[fields["Lock"], fields["ThreadId"], line["tid"]] += 1
        self.assertEqual({(one["lock"], tids[one["thread"]], tids[one["by"]]): one["count"]
                          for one in answer["lock_owners"]}, dict(want))

    def boost(self, log, time, lock, owner, by):
        log.system(0, FLOOR, 2, time, struct.pack("<QIBBBB", lock, owner, 12, 8, 0, 1), by, by // 1000 * 100)

    def test_a_lock_whose_owner_is_boosted_has_that_owner(self):
        log = self.log()
        for time, lock, owner, by in (100, 0xFFFFA00000001000, 1000, 2000), (200, 0xFFFFA00000001000, 1000, 2000), \
                (300, 0xFFFFA00000002000, 1000, 2004), (400, 0xFFFFA00000001000, 2000, 2004):
            self.boost(log, time, lock, owner, by)
        content = log.build()
        self.assertEqual(self.compare(content), {})
        _, text = self.ask(content)
        self.assertIn(b"thread 1000 of 100.exe (100) owned the lock 0xffffa00000001000, for which its priority was "
                      b"raised 2x by thread 2000 of 200.exe (200), last +", text)
        _, out = self.ask(content, "--process", "200", "--format", "json")
        self.assertEqual(len(strict_json(out)["lock_owners"]), 1)
        _, dot = self.ask(content, "--format", "dot")
        dot = dot.decode()
        locks = dict(re.findall(r'(n\d+) \[shape=diamond, label="Lock\\n(0x[0-9a-f]+)"', dot))
        boxes = dict(re.findall(r'(n\d+) \[shape=box, label="0x0*([0-9a-f]+)', dot))
        self.assertEqual(sorted((locks[a], int(boxes[b], 16), label)
                                for a, b, label in re.findall(r'(n\d+) -> (n\d+) \[label="([^"]*)"', dot)),
                         [("0xffffa00000001000", 1000, "owner, boosted 2x"),
                          ("0xffffa00000001000", 2000, "owner, boosted 1x"),
                          ("0xffffa00000002000", 1000, "owner, boosted 1x")])

    def requests(self, *options, rest=()):
        """Thread 1000 reads from disk 3 for 50,000 ticks and is away for `away` of them."""
        log = self.log()
        log.switch(0, 50, 0, 1000)
        for begin, away, response, in_dpc, tid in rest:
            log.system(0, READ_INIT, 3, begin - 10, struct.pack("<QI", 0xF00 + begin, tid), tid, 100)
            log.switch(0, begin, 1000, 0)
            if response is not None:
                log.system(0, READ, 3, begin - 10 + response, struct.pack(
                    "<IIIIQQQQI", 3, 0, 4096, 0, 8192, 0xAA00, 0xF00 + begin, response, tid))
                log.ready(0, begin + away, 1000, in_dpc)
                log.switch(0, begin + away + 20, 0, 1000, 2)
        return self.ask(log.build(), *options)

    def test_waits_that_a_request_explains(self):
        cases = {  # begin of the wait, its length, response of the request, made ready by a DPC, whose request
            "in the DPC of its end": ((1000, 50_000, 50_005, 1, 1000), (1, 1, 50_000)),
            "as long as it": ((1000, 50_000, 45_000, 0, 1000), (1, 0, 50_000)),
            "a tenth of a millisecond longer": ((1000, 4_900, 3_500, 0, 1000), (1, 0, 4_900)),
            "far longer": ((1000, 50_000, 20_000, 0, 1000), None),
            "long after its end": ((1000, 50_000, 20_000, 1, 1000), None),
            "that of another": ((1000, 50_000, 50_005, 1, 1004), None),
        }
        for why, (one, want) in cases.items():
            with self.subTest(why):
                _, out = self.requests("--format", "json", rest=[one])
                answer = strict_json(out)
                json_schema.of(json.loads(
                    (SOURCES / "docs/schema/trace-wait-graph.schema.json").read_text())).validate(answer)
                tids = {one["id"]: one["tid"] for one in answer["threads"]}
                self.assertEqual([(tids[edge["thread"]], edge["disk"], edge["action"], edge["count"],
                                   edge["by_interrupt"], edge["duration"], edge["longest"], edge["open_since"])
                                  for edge in answer["requests"]],
                                 [(1000, 3, "read", want[0], want[1], want[2], want[2], None)] if want else [])
        two = [(1000, 50_000, 50_005, 1, 1000), (70_000, 20_000, 20_005, 1, 1000), (100_000, 0, None, 0, 1000)]
        _, text = self.requests(rest=two)
        self.assertIn(b"thread 1000 of 100.exe (100) likely waited 2x for its own requests to disk 3 (read), "
                      b"7.00 ms, longest 5.00 ms since +0.0001000, 2 of them ended right after\n", text)
        self.assertRegex(text, rb"thread 1000 of 100.exe \(100\) has been waiting since \+0.0100000[ s]* \(event at \S+\), while its request to a disk "
                               rb"\(read\) is under way\n")
        _, dot = self.requests("--format", "dot", rest=two)
        self.assertRegex(dot.decode(), r'shape=diamond, label="Disk 3\\nread"')
        self.assertIn('label="2x, 7.00 ms"', dot.decode())
        self.assertIn('label="still waits"', dot.decode())

    def test_a_reply_is_waited_for_from_who_has_the_message(self):
        for before in True, False:
            log = self.log()
            self.message(log, 100, SEND, 1000, 7)
            self.message(log, 200 if before else 400, RECEIVE, 2000, 7)
            self.message(log, 300, WAIT, 1000, 7)
            self.message(log, 900, UNWAIT, 1000)
            if not before:  # the file has the order of time
                events = log.events[0]
                events[-3], events[-2] = events[-2], events[-3]
            with self.subTest(received_before_the_wait=before):
                self.assertEqual(self.compare(log.build()), {("reply", 1000, 2000, None): [1, 1, 600]})

    def test_a_message_that_nobody_received_says_nothing(self):
        log = self.log()
        self.message(log, 100, RECEIVE, 2000, 7)  # an older one with the same id
        self.message(log, 200, SEND, 1000, 7)
        self.message(log, 300, WAIT, 1000, 7)
        self.message(log, 400, UNWAIT, 1000)
        self.assertEqual(self.compare(log.build(), status=1), {})  # the trace tells of no wait

    def test_an_id_may_mean_another_message_behind_a_gap(self):
        """What is lost is that 1000 sends another message with the id."""
        log = self.log()
        self.message(log, 100, SEND, 1000, 7)
        self.message(log, 200, RECEIVE, 2000, 7)
        first = log.take(0)
        self.message(log, 900, WAIT, 1000, 7)
        self.message(log, 950, UNWAIT, 1000)
        last = log.take(0)
        for numbers, edges in ([1, 2], 1), ([1, 3], 0):
            _, out = self.ask(log.build([first, last], numbers), "--format", "json", status=1 - edges)
            self.assertEqual(len(strict_json(out)["stated"]), edges)

    def test_a_section_is_owned_by_whom_the_event_names(self):
        log = self.log()
        for time, owner, lock in (100, 1004, 0x7FF0001000), (200, 1004, 0x7FF0001000), (300, 1000, 0x7FF0001000), \
                (400, 1004, 0x7FF0002000):
            log.system(0, COLLISION, 2, time, struct.pack("<IIQQ", 1, 0, owner, lock), 1000, 100)
        content = log.build()
        self.assertEqual(self.compare(content), {
            ("critical_section", 1000, 1004, "0x7ff0001000"): [2, 0, 0],
            ("critical_section", 1000, 1004, "0x7ff0002000"): [1, 0, 0]})
        _, text = self.ask(content)
        self.assertIn(b"contended 2x for the critical section 0x7ff0001000, which thread 1004 of 100.exe (100) owned", text)

    def test_a_process_has_its_own(self):
        log = self.log()
        for time, client, server, number in (100, 1000, 2000, 1), (200, 2004, 1004, 2):
            self.message(log, time, SEND, client, number)
            self.message(log, time + 10, RECEIVE, server, number)
            self.message(log, time + 20, WAIT, client, number)
            self.message(log, time + 50, UNWAIT, client)
        content = log.build()
        self.assertEqual(len(self.compare(content)), 2)
        _, out = self.ask(content, "--process", "100", "--format", "json")
        answer = strict_json(out)
        tids = {one["id"]: one["tid"] for one in answer["threads"]}
        self.assertEqual([tids[one["thread"]] for one in answer["stated"]], [1000])
        _, text = self.ask(content)
        self.assertIn(b"thread 1000 of 100.exe (100) waited 1x for a reply from thread 2000 of 200.exe (200), "
                      b"3.0 us in 1, last +", text)

    def test_drawings_have_the_edges(self):
        log = self.log()
        self.message(log, 100, SEND, 1000, 7)
        self.message(log, 200, RECEIVE, 2000, 7)
        self.message(log, 300, WAIT, 1000, 7)
        self.message(log, 900, UNWAIT, 1000)
        log.system(0, COLLISION, 2, 950, struct.pack("<IIQQ", 1, 0, 1004, 0x7FF0001000), 2004, 200)
        content = log.build()
        _, dot = self.ask(content, "--format", "dot")
        boxes = dict(re.findall(r'(n\d+) \[shape=box, label="0x0*([0-9a-f]+)', dot.decode()))
        edges = {(int(boxes[a], 16), int(boxes[b], 16), label)
                 for a, b, label in re.findall(r'(n\d+) -> (n\d+) \[label="([^"]*)"', dot.decode())}
        self.assertEqual(edges, {(1000, 2000, "reply, 1x, 60.0 us"),
                                 (2004, 1004, "critical section 0x7ff0001000, 1x")})
        _, svg = self.ask(content, "--format", "svg")
        titles = [one.text for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]
        self.assertLessEqual({label for _, _, label in edges}, set(titles))
        # Two of four are shown: the edge between them, and how many are left out.
        _, dot = self.ask(content, "--format", "dot", "--nodes", "2")
        self.assertIn(b"2 more threads", dot)
        self.assertEqual(dot.count(b"->"), 1)

    def test_any_order(self):
        for seed in range(30):
            chance, log, edges = random.Random(seed), self.log(), 0
            for time in range(100, 30_000, 100):
                hook = chance.choice((SEND, RECEIVE, WAIT, UNWAIT))
                self.message(log, time, hook, chance.choice((1000, 1004, 2000, 2004)), chance.randrange(6))
            with self.subTest(seed=seed):
                self.compare(log.build())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
