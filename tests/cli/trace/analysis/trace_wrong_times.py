"""An event with a time that cannot be its own makes answers unknown, and no longer: each trace here is
one thread and the idle thread in turn, 1 ms each, with one time that is wrong.

usage: trace_wrong_times.py COLDTRACE [arguments of unittest]
"""
import json
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from cli.trace.etl_writer import EtlWriter
from strict import strict_json

COLDTRACE = Path(sys.argv[1]).resolve()
MS = 10_000
SWITCHES = 40
ROUTINE = 0xFFFFF80000001000
START = 132_000_000_000_000_000  # FILETIME of what EtlWriter begins with: 2019-04-17T18:40:00Z
EARLY = 530_000_000


class WrongTimes(Case):
    """Switch i is at i ms; the thread comes with those of odd numbers."""

    def log(self, moved=None, by=0, ready=None, dpc=None, **clock):
        log = EtlWriter(clock=1, **clock)
        log.first = 1_000_000_000
        log.process(0, 1, 100, "a.exe")
        log.thread(0, 2, 100, 104)
        log.thread(0, 3, 0, 0)
        buffers = []
        for i in range(1, SWITCHES + 1):
            at = i * MS
            if i % 2:
                log.ready(0, at - 5 + (by if i == ready else 0), 104)
            then = at + (by if i == moved else 0)
            log.switch(0, then, *((0, 104) if i % 2 else (104, 0)), state=2 if i % 2 else 5)
            if dpc is not None and i == 20:
                log.dpc(0, dpc - log.first, at + 100, ROUTINE)
            if i % 4 == 0:
                buffers.append(log.take(0))
        return log.build(buffers)

    def run_on(self, content, *words):
        trace = self.write("trace.etl", content)
        ran = subprocess.run([COLDTRACE, "trace", *words, trace], capture_output=True, timeout=100)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        return ran

    def ask(self, content, *words, status):
        ran = self.run_on(content, *words, "--format", "json")
        self.assertEqual(ran.returncode, status, ran.stderr)
        strict_json(ran.stdout)
        return json.loads(ran.stdout)

    def codes(self, answer):
        return {one["code"] for one in answer["findings"]}

    def schedule(self, content, status):
        answer = self.ask(content, "schedule", status=status)
        processor, = answer["processors"]
        self.assertEqual(processor["busy"] + processor["idle"] + processor["unknown"], answer["elapsed"])
        return answer, processor, {one["tid"]: one for one in answer["threads"]}

    def test_sound(self):
        answer, processor, threads = self.schedule(self.log(), 0)
        self.assertEqual((answer["elapsed"], processor["busy"], processor["idle"], processor["unknown"]),
                         (40 * MS, 20 * MS, 19 * MS, MS))
        self.assertEqual(threads[104]["running"], 20 * MS)

    # Switch 11 is early: nothing is known from switch 10 to 12, a stay of each. Where its time lies
    # within the stay that switch 8 begins, an event may be missing from that one too.
    def test_an_early_switch_breaks_the_stays_around_it(self):
        for by, idle in ((EARLY, 18 * MS), (2 * MS + MS // 2, 17 * MS)):
            content = self.log(moved=11, by=-by)
            with self.subTest(by=by):
                answer, processor, threads = self.schedule(content, 1)
                elapsed = 40 * MS + max(0, by - 11 * MS)
                self.assertEqual((answer["elapsed"], processor["busy"], processor["idle"]),
                                 (elapsed, 19 * MS, idle))
                self.assertEqual(processor["unknown"], elapsed - 19 * MS - idle)
                self.assertEqual(threads[104]["running"], 19 * MS)
                self.assertLess(threads[0]["ready"], 20 * MS)
                self.assertIn("switch-order", self.codes(answer))
                session = self.ask(content, "info", status=0)["session"]
                self.assertEqual((answer["first_event"], answer["last_event"]),
                                 (session["first_event"], session["last_event"]))

    def test_every_analysis_says_the_same_of_an_early_switch(self):
        content = self.log(moved=11, by=-EARLY)
        use = self.ask(content, "cpu", status=1)
        self.assertEqual([one["running"] for one in use["threads"] if one["tid"] == 104], [19 * MS])
        one, = self.ask(content, "priority", status=1)["priorities"]
        known = sum(level["duration"] for level in one["levels"]) + one["changing"]
        self.assertLessEqual(known, 37 * MS)
        self.assertEqual(known + one["unknown"], 39 * MS)
        for words in (("top",), ("services",), ("critical-path", "--thread", "104")):
            answer = self.ask(content, *words, status=1)
            self.assertIn("switch-order", self.codes(answer), words)

    def test_exports_have_no_stay_across_an_early_switch(self):
        content = self.log(moved=11, by=-EARLY)
        done = self.run_on(content, "export", "chrome")
        slices = [one for one in json.loads(done.stdout)["traceEvents"] if one.get("cat") == "sched"]
        self.assertEqual((len(slices), sum(one["dur"] for one in slices)), (19, 19_000))
        self.assertTrue(all(0 <= one["ts"] <= (EARLY + 40 * MS) / 10 for one in slices))
        path = self.here / "out.sqlite"
        self.run_on(content, "export", "sqlite", "-o", path)
        with sqlite3.connect(path) as database:
            rows = database.execute("SELECT max(dur), min(dur), count(dur) FROM sched").fetchall()
        self.assertEqual(rows, [(1_000_000, 1_000_000, 37)])

    def test_exports_tell_what_analyses_tell(self):
        chain = EtlWriter(clock=1)
        for tid in 104, 108:
            chain.thread(0, 2, 100, tid)
        for i in range(1, 20):
            chain.switch(0, i * MS, *((0, 104) if i % 2 else (108 if i == 10 else 104, 0)), state=2 if i % 2 else 5)
        overlap = EtlWriter(2, clock=1)
        for tid in 104, 108:
            overlap.thread(0, 2, 100, tid)
        for cpu in 0, 1:
            overlap.switch(cpu, MS + cpu, 0, 104)
        overlap.switch(0, 2 * MS, 104, 0)
        overlap.switch(1, 2 * MS, 104, 0)
        first = 1_000_000_000
        for code, content, words in (("switch-order", self.log(moved=11, by=-EARLY), ("schedule",)),
                                     ("switch-chain", chain.build(), ("schedule",)),
                                     ("switch-overlap", overlap.build(), ("schedule",)),
                                     ("interrupt-time", self.log(dpc=first + 19 * MS), ("services",))):
            self.assertIn(code, self.codes(self.ask(content, *words, status=1)))
            for kind in "chrome", "ctf", "firefox", "perfetto":
                with self.subTest(code=code, kind=kind):
                    told = self.run_on(content, "export", kind, "-o", self.here / f"{code}.{kind}")
                    self.assertEqual(told.returncode, 1)
                    self.assertIn(f"warning: {code}: ".encode(), told.stderr)
            path = self.here / f"{code}.sqlite"
            told = self.run_on(content, "export", "sqlite", "-o", path)
            with sqlite3.connect(path) as database, self.subTest(code=code, kind="sqlite"):
                has_interrupts = code == "interrupt-time"  # which have no table
                self.assertEqual(told.returncode, 0 if has_interrupts else 1)
                rows = database.execute("SELECT severity FROM finding WHERE code = ?", [code]).fetchall()
                self.assertEqual(rows, [] if has_interrupts else [("warning",)])

    def test_a_late_event_takes_nobody_more_time(self):
        answer, processor, threads = self.schedule(self.log(ready=19, by=1_000_000_000), 1)
        self.assertGreater(answer["elapsed"], 1_000_000_000)
        self.assertLessEqual(processor["busy"], 20 * MS)
        self.assertLessEqual(processor["idle"], 19 * MS)
        self.assertEqual(threads[104]["running"], processor["busy"])
        self.assertIn("switch-order", self.codes(answer))

    def test_a_time_after_its_buffer_was_written(self):
        log = EtlWriter(clock=1)
        log.flush = 100
        for time, pid in ((1, 100), (2, 101), (10_000_000, 102), (4, 103), (5, 104), (100, 105)):
            log.process(0, time, pid, "a.exe")
        own = log.take(0)
        log.process(0, 3, 200, "b.exe")
        other = log.take(0)
        log.process(0, 1_000, 300, "c.exe")  # alone in its buffer
        content = log.build([own, other, log.take(0)])
        places = {}
        at = 65536 + 72
        for pid in (100, 101, 102):
            places[pid] = at
            at += content[at + 4] + content[at + 5] * 256 + 7 & ~7
        done = self.run_on(content, "decode")
        self.assertEqual(done.returncode, 1)
        *lines, summary = [json.loads(line) for line in done.stdout.splitlines()]
        late, = summary["findings"]
        self.assertEqual((late["code"], late["severity"], late["count"], late["first_offset"]),
                         ("event-late", "warning", 2, places[102]))
        shown = [(one["fields"]["ProcessId"], one["timestamp"] - log.first) for one in lines
                 if one["type"] == "event" and "ProcessId" in one["fields"]]
        self.assertEqual(shown, [(100, 1), (101, 2), (102, 10_000_000), (200, 3), (103, 4), (104, 5),
                                 (105, 100), (300, 1_000)])
        last = self.ask(content, "info", status=1)["session"]["last_event"]
        self.assertEqual(last, "2019-04-17T18:40:01.0000000Z")
        for selection, pids in ((("--from", last), [102]), (("--to", "2019-04-17T18:40:00.0000050Z"),
                                                            [100, 101, 200, 103, 104])):
            lines = [json.loads(line) for line in self.run_on(content, "decode", *selection).stdout.splitlines()]
            self.assertEqual([one["fields"]["ProcessId"] for one in lines
                              if one["type"] == "event" and "ProcessId" in one["fields"]], pids)
        log.flush = 0  # not known
        self.assertNotIn(b"event-late", self.run_on(log.build([own]), "decode").stdout)

    def test_an_interrupt_spans_no_switch_and_begins_in_the_trace(self):
        first = 1_000_000_000
        for begin, untimed, status in ((first + 20 * MS + 40, 0, 0), (0, 1, 1), (first + 19 * MS, 1, 1)):
            content = self.log(dpc=begin)
            with self.subTest(begin=begin):
                answer = self.ask(content, "cpu", status=status)
                routine, = answer["routines"]
                self.assertEqual((routine["untimed"], routine["runs"]), (untimed, 1 - untimed))
                self.assertEqual(answer["processors"][0]["dpc_time"], 0 if untimed else 60)
                self.assertEqual("interrupt-time" in self.codes(answer), bool(untimed))
                services = self.ask(content, "services", status=status)
                self.assertEqual("interrupt-time" in self.codes(services), bool(untimed))

    def test_an_interrupt_of_before_the_trace_is_untimed(self):
        log = EtlWriter()
        log.dpc(0, -50, 100, ROUTINE)
        log.dpc(0, 150, 210, ROUTINE)
        answer = self.ask(log.build(), "cpu", status=0)
        routine, = answer["routines"]
        self.assertEqual((routine["untimed"], routine["runs"], routine["inclusive"]), (1, 1, 60))

    def test_a_time_before_1601_is_none(self):
        log = EtlWriter()
        log.process(0, 2**64 - 5 - log.first, 100, "a.exe")
        log.process(0, 1, 200, "b.exe")
        content = log.build()
        lines = [json.loads(line) for line in self.run_on(content, "decode").stdout.splitlines()]
        times = {one["timestamp"]: one["time"] for one in lines if one["type"] == "event"}
        self.assertEqual(times, {-5: None, START: "2019-04-17T18:40:00.0000000Z",
                                 START + 1: "2019-04-17T18:40:00.0000001Z"})
        for words in (("--from", "2019-01-01"), ("--where", "time >= 2019-01-01")):
            lines = [json.loads(line) for line in self.run_on(content, "decode", *words).stdout.splitlines()]
            self.assertEqual(sum(one["type"] == "event" for one in lines), 2, words)
        self.assertNotIn(b"+60056", self.run_on(content, "top", "--format", "json").stdout)
        chrome = json.loads(self.run_on(content, "export", "chrome").stdout)
        self.assertIsNone(chrome["otherData"]["start"])

    def test_a_clock_without_a_frequency_is_told(self):
        for frequency, known in ((10_000_000, True), (0, False), (2**64 - 5, False)):
            answer = self.ask(self.log(frequency=frequency), "info", status=0 if known else 1)
            with self.subTest(frequency=frequency):
                self.assertEqual(answer["session"]["clock"]["time_quality"], "exact" if known else "approximate")
                self.assertEqual("clock-rate" in self.codes(answer), not known)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
