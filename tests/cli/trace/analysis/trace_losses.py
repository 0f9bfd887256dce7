"""What is missing from a trace makes answers unknown, and nobody's: each trace here is written event
by event, so that what is true of it is known.

usage: trace_losses.py COLDTRACE [arguments of unittest]
"""
import json
import sqlite3
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from cli.trace.etl_writer import BUFFER, HEADER, NO_PER_PROCESSOR, EtlWriter
from strict import strict_json

COLDTRACE = Path(sys.argv[1]).resolve()
KERNEL = 0xFFFFF80000000000


class Losses(Case):
    def ask(self, content, *words, status=None):
        trace = self.write("trace.etl", content)
        ran = subprocess.run([COLDTRACE, "trace", *words, trace, "--format", "json"],
                             capture_output=True, timeout=100)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        if status is not None:
            self.assertEqual(ran.returncode, status, ran.stderr)
        strict_json(ran.stdout)
        return json.loads(ran.stdout)

    def threads(self, content, **options):
        """(tid, process): the thread's times, from `trace schedule`."""
        answer = self.ask(content, "schedule", **options)
        for one in answer["processors"]:
            self.assertEqual(one["busy"] + one["idle"] + one["unknown"], answer["elapsed"])
        return {(one["tid"], one["process"]): one for one in answer["threads"]}

    def services(self, content, **options):
        answer = self.ask(content, "services", **options)
        return {one["number"]: one for one in answer["services"]}, answer

    # 1000 runs on processor 1 from 500 to 1000, then on processor 0 from 2100 to 3000, then on 1 again
    # from 5100 to 6000.
    def two_runs_elsewhere(self):
        log = EtlWriter(2)
        log.switch(1, 500, 0, 1000, state=2)
        log.switch(1, 1000, 1000, 0)
        first = log.take(1)
        log.switch(0, 1900, 0, 2000, state=2)
        log.ready(0, 2000, 1000)
        log.switch(0, 2100, 2000, 1000)
        log.switch(0, 3000, 1000, 0)
        between = log.take(0)
        log.switch(1, 4900, 0, 3000, state=2)
        log.ready(1, 5000, 1000)
        log.switch(1, 5100, 3000, 1000)
        log.switch(1, 6000, 1000, 0)
        last = log.take(1)
        return log, [first, between, last]

    def test_what_is_whole_is_told(self):
        log, buffers = self.two_runs_elsewhere()
        one = self.threads(log.build(buffers), status=0)[1000, None]
        self.assertEqual((one["running"], one["waiting"], one["ready"], one["unknown"]),
                         (500 + 900 + 900, 1000 + 2000, 100 + 100, 0))

    # Of processor 0 nothing is left, or not its beginning: the file says where, but not when.
    def test_a_gap_without_a_time_is_a_loss(self):
        log, buffers = self.two_runs_elsewhere()
        whole = log.build(buffers)
        body = len(buffers[1][1])
        for damaged in (body, 40):
            content = bytearray(whole)
            at = 2 * BUFFER + HEADER
            content[at:at + damaged] = b"\x55" * damaged
            with self.subTest(damaged=damaged):
                one = self.threads(bytes(content), status=1)[1000, None]
                self.assertEqual(one["waiting"], 0)
                self.assertLessEqual(one["running"], 2300)
                woken = self.ask(bytes(content), "graph", "wait-for")["woken_by"]
                self.assertEqual([edge["duration"] for edge in woken], [0] * len(woken))

    def test_before_the_first_buffer_that_a_circular_file_kept_all_is_lost(self):
        log, buffers = self.two_runs_elsewhere()
        log.mode = 2
        log.switch(0, 4000, 0, 3000, state=2)  # what is left of processor 0
        log.switch(0, 4100, 3000, 0)
        kept = [buffers[0], log.take(0), buffers[2]]
        content = log.build(kept, [15, 16, 17])
        one = self.threads(content, status=1)[1000, None]
        self.assertEqual((one["waiting"], one["running"]), (0, 1400))
        for sequences, status in (([15, 16, 17], 1), ([1, 2, 3], 0)):
            content = log.build(kept, sequences)
            for words in (["info"], ["decode"], ["schedule"], ["priority"], ["tree"], ["cpu"], ["idle"],
                          ["deadlocks"], ["graph", "wait-for"], ["critical-path", "--thread", 1000],
                          ["top"]):
                with self.subTest(words=words, sequences=sequences):
                    answer = self.ask(content, *map(str, words), status=status)
                    findings = (answer[-1] if words == ["decode"] else answer)["findings"]
                    self.assertEqual([one["code"] for one in findings].count("buffers-overwritten"), status)

    def test_a_file_that_was_cut_between_two_buffers_has_lost_its_end(self):
        log, buffers = self.two_runs_elsewhere()
        whole = log.build(buffers)
        for missing, text in (1, "the last buffer is"), (2, "the last 2 buffers are"):
            content = whole[:-missing * BUFFER]
            with self.subTest(missing=missing):
                lines = self.ask(content, "decode", status=1)
                gap = lines[-2]
                last = max(line["timestamp"] for line in lines if line["type"] == "event")
                self.assertEqual({member: gap[member] for member in ("type", "reason", "offset", "length", "buffers", "cpu", "timestamp")},
                                 {"type": "gap", "reason": "buffers_missing", "offset": len(content), "length": 0,
                                  "buffers": missing, "cpu": None, "timestamp": last})
                for words in ["info"], ["schedule"], ["check", "--expect", "exists cpu"], ["top"], ["cpu"], ["deadlocks"]:
                    answer = self.ask(content, *words, status=1)
                    found = {one["code"]: one["text"] for one in answer["findings"]}
                    self.assertEqual(found["gap-buffers-missing"], f"{text} missing")
                    self.assertIn("buffer-count", found)
                self.assertEqual(self.ask(content, "check", "--expect", "exists cpu")["gaps"], 1)
                self.assertEqual(self.ask(content, "schedule")["lost_stretches"], 1)
        # The buffer may have been of processor 1, from its last event on.
        one = self.threads(whole[:-BUFFER], status=1)[1000, None]
        self.assertEqual((one["running"], one["waiting"], one["at_end"]["state"]), (500 + 900, 0, "unknown"))
        # Overwritten ones are not part of a circular file; its newest are.
        log.mode = 2
        for cut, code in (0, {"buffers-overwritten"}), (1, {"buffer-count", "gap-buffers-missing"}):
            found = self.ask(log.build(buffers, [30, 31, 32])[:len(whole) - cut * BUFFER], "info", status=1)["findings"]
            self.assertEqual({one["code"] for one in found}, code)

    # What cannot be read at the start is the header's buffer, which has number 0, and those behind it.
    def test_buffers_that_cannot_be_read_at_the_start_are_not_missing_at_the_end(self):
        log, buffers = self.two_runs_elsewhere()
        whole = bytearray(log.build(buffers))
        for unread in 1, 2:
            whole[(unread - 1) * BUFFER:(unread - 1) * BUFFER + HEADER] = bytes(HEADER)
            for cut in 0, 1:
                content = bytes(whole[:len(whole) - cut * BUFFER])
                with self.subTest(unread=unread, cut=cut):
                    gaps = [line for line in self.ask(content, "decode", status=1) if line["type"] == "gap"]
                    self.assertEqual(sorted((gap["offset"], gap["reason"], gap.get("buffers")) for gap in gaps),
                                     [(0, "not_a_buffer", None), (len(content), "buffers_missing", 1)][:1 + cut])
                    found = {one["code"]: one["text"] for one in self.ask(content, "info", status=1)["findings"]}
                    self.assertEqual(found.get("gap-buffers-missing"), "the last buffer is missing" if cut else None)
                    self.assertEqual(found["buffer-count"],
                                     f"the header counts 4 buffers, the file has {4 - unread - cut}")
        # A session that goes on with new files numbers their buffers on.
        log.mode = 8
        whole = bytearray(log.build(buffers, [30, 31, 32]))
        struct.pack_into("<I", whole, HEADER + 32 + 36, 4)  # buffers written: of this file
        whole[:HEADER] = bytes(HEADER)
        for cut in 0, 1:
            content = bytes(whole[:len(whole) - cut * BUFFER])
            found = {one["code"]: one["text"] for one in self.ask(content, "info", status=1)["findings"]}
            self.assertEqual(found.get("gap-buffers-missing"), "the last buffer is missing" if cut else None)

    def test_what_the_header_alone_counts_as_lost_may_lie_anywhere(self):
        log, buffers = self.two_runs_elsewhere()
        whole = log.build(buffers)
        for at, reason, member in (48, "events_lost", "events"), (276, "buffers_lost", "buffers"):
            content = bytearray(whole)
            struct.pack_into("<I", content, 72 + 32 + at, 7)
            with self.subTest(reason=reason):
                self.assertEqual(self.ask(bytes(content), "check", "--expect", "exists cpu", status=1)["gaps"], 1)
                gap, = (line for line in self.ask(bytes(content), "decode", status=1) if line["type"] == "gap")
                self.assertEqual((gap["reason"], gap["time"], gap["cpu"], gap["offset"], gap[member]),
                                 (reason, None, None, 0, 7))
                one = self.threads(bytes(content), status=1)[1000, None]
                self.assertEqual((one["waiting"], one["ready"]), (0, 0))
                trace = self.write("lost.etl", bytes(content))
                database = trace.with_name(f"{reason}.db")
                subprocess.run([COLDTRACE, "trace", "export", "sqlite", trace, "-o", database],
                               capture_output=True, timeout=100)
                with sqlite3.connect(database) as connection:
                    self.assertEqual(connection.execute("SELECT reason FROM gap").fetchall(), [(reason,)])

    def test_a_record_of_a_type_that_no_file_has_is_told_by_its_type(self):
        for kind in 0, 14:
            log = EtlWriter()
            log.switch(0, 500, 0, 1000, state=2)
            content = bytearray(log.build())
            content[BUFFER + HEADER + 2] = kind
            with self.subTest(kind=kind):
                findings = self.ask(bytes(content), "info", status=1)["findings"]
                self.assertEqual([(one["first_offset"], one["text"]) for one in findings if one["code"] == "buffer-damaged"],
                                 [(BUFFER + HEADER + 2, f"trace header.HeaderType: bad value: found {kind:#x}")])

    def test_who_leaves_in_a_state_that_nobody_runs_in_waits_nowhere(self):
        """Deadlocks and schedule say the same of the end."""
        for state, where in ((5, "waiting"), (8, "waiting"), (0, "unknown")):
            log = EtlWriter(1)
            log.switch(0, 500, 0, 1000, state=2)
            log.switch(0, 1000, 1000, 0, state=state)
            with self.subTest(state=state):
                content = log.build()
                self.assertEqual(self.threads(content)[1000, None]["at_end"]["state"], where)
                answer = self.ask(content, "deadlocks")
                self.assertEqual([one["tid"] for one in answer["threads"]], [1000] if where == "waiting" else [])
                self.assertEqual(len(answer["suspects"]), len(answer["threads"]))

    # 2 MiB are 32 of its buffers.
    def test_a_circular_file_that_was_never_full_has_overwritten_nothing(self):
        log, buffers = self.two_runs_elsewhere()
        log.mode = 2
        for most, sequences, code in ((100, [2, 3, 4], "gap-buffers-missing"), (2, [28, 29, 30], "gap-buffers-missing"),
                                      (2, [30, 31, 32], "buffers-overwritten"), (0, [2, 3, 4], "buffers-overwritten")):
            with self.subTest(most=most, sequences=sequences):
                log.most = most
                answer = self.ask(log.build(buffers, sequences), "check", "--expect", "exists cpu", status=1)
                # What was overwritten the header counts, and nobody misses.
                self.assertEqual([one["code"] for one in answer["findings"]],
                                 [code] if code == "buffers-overwritten" else ["buffer-count", code])
                self.assertEqual(answer["gaps"], 1 if code == "gap-buffers-missing" else 0)

    # Whose switches those of a damaged processor are nothing tells: all may lack them.
    def test_a_processor_that_the_session_does_not_have_is_a_loss(self):
        log, buffers = self.two_runs_elsewhere()
        content = bytearray(log.build(buffers))
        self.assertEqual(content[2 * BUFFER + 0x28], 0)
        content[2 * BUFFER + 0x28] = 9
        one = self.threads(bytes(content), status=1)[1000, None]
        self.assertEqual(one["waiting"], 0)
        self.assertLessEqual(one["running"], 2300)

    def decoded(self, content):
        """What `trace decode` says of the events behind the header: time, processor, thread."""
        trace = self.write("trace.etl", content)
        ran = subprocess.run([COLDTRACE, "trace", "decode", "-q", trace], capture_output=True, timeout=100)
        lines = [strict_json(line) for line in ran.stdout.splitlines()]
        return {line["timestamp"]: (line["cpu"], line["tid"]) for line in lines
                if line["type"] == "event"}, lines[-1]["findings"]

    # A switch itself says who ran until then.
    def test_threads_of_switches_end_where_switches_may_be_missing(self):
        log = EtlWriter(2, clock=1)
        at = log.first

        def buffer(cpu, begin, old, new):
            log.call(cpu, begin, KERNEL)
            log.switch(cpu, begin + 100, old, new)
            log.call(cpu, begin + 200, KERNEL)
            return log.take(cpu)
        buffers = [buffer(0, 1000, 7, 10), buffer(1, 1050, 8, 20), buffer(0, 2000, 10, 30),
                   buffer(1, 2050, 20, 40), buffer(0, 3000, 30, 50), buffer(1, 3050, 40, 60)]
        ran = {1000: (0, None), 1100: (0, 7), 1200: (0, 10), 2000: (0, 10), 2100: (0, 10),
               2200: (0, 30), 3000: (0, 30), 3100: (0, 30), 3200: (0, 50),
               1050: (1, None), 1150: (1, 8), 1250: (1, 20), 2050: (1, 20), 2150: (1, 20),
               2250: (1, 40), 3050: (1, 40), 3150: (1, 40), 3250: (1, 60)}

        def told(changed, but, code):
            events, findings = self.decoded(bytes(changed))
            self.assertEqual([one["code"] for one in findings], code.split())
            self.assertEqual({time - at: ids for time, ids in events.items() if time != at},
                             {time: ids for time, ids in {**ran, **but}.items() if ids})
            return findings
        whole = log.build(buffers)
        told(whole, {}, "")
        # A buffer that is missing may be of either processor.
        told(log.build(buffers[:2] + buffers[3:], [1, 2, 4, 5, 6]),
             {2000: None, 2100: None, 2200: None, 2050: (1, None), 3000: (0, None)},
             "buffer-count gap-buffers-missing")
        # So may be one of a processor that is none; its number stays.
        nowhere = bytearray(whole)
        nowhere[3 * BUFFER + 0x28] = 200
        found, = told(nowhere, {2000: (200, None), 2100: (200, 10), 2200: (200, None),
                                2050: (1, None), 3000: (0, None)}, "buffer-processor")
        self.assertEqual(found["first_offset"], 3 * BUFFER)
        self.assertIn("200", found["text"])
        # And one of the other processor, whose buffers have this time.
        other = bytearray(whole)
        other[3 * BUFFER + 0x28] = 1
        found, = told(other, {2000: (1, None), 2100: (1, 10), 2200: (1, None),
                              2050: (1, None), 2250: (1, None),
                              3000: (0, None), 3050: (1, None)}, "buffer-processor")
        # Damage in the middle, or at the end, of one buffer.
        body = 3 * BUFFER + HEADER
        middle = bytearray(whole)
        middle[body + 24:body + 32] = b"\x55" * 8
        told(middle, {2100: None, 2200: (0, None), 3000: (0, None)}, "buffer-damaged")
        end = bytearray(whole)
        end[body + 24 + 40:body + 24 + 48] = b"\x55" * 8
        told(end, {2200: None, 3000: (0, None)}, "buffer-damaged")

    # Lost: 1000 leaves its call, and 2000 runs.
    def test_who_ran_before_a_gap_did_not_do_what_comes_behind_it(self):
        log = EtlWriter()
        log.process(0, 0, 100, "a.exe")
        for tid in (1000, 2000, 3000):
            log.thread(0, 0, 100, tid)
        log.switch(0, 500, 0, 3000, state=2)
        log.switch(0, 900, 3000, 0)
        log.switch(0, 1000, 0, 1000, state=2)
        log.call(0, 1100, KERNEL + 0x1000)
        first = log.take(0)
        log.ready(0, 5000, 3000)
        log.call(0, 5100, KERNEL + 0x2000)
        log.call_return(0, 5200)
        log.switch(0, 6000, 2000, 3000)
        log.switch(0, 7000, 3000, 0)
        content = log.build([first, log.take(0)], [1, 3])
        woken = self.ask(content, "graph", "wait-for", status=1)
        tids = {one["id"]: one["tid"] for one in woken["threads"]}
        self.assertNotIn(1000, [tids.get(edge["waker"]) for edge in woken["woken_by"]])
        services, answer = self.services(content, status=1)
        self.assertEqual(answer["calls"], [])
        self.assertEqual(services, {})
        self.assertEqual(answer["without_thread"], 3)

    # Lost: the switch from 1000 to 2000 at 2000. Nothing but the next switch tells.
    def test_a_missing_switch_leaves_calls_without_a_caller_and_a_time(self):
        log = EtlWriter()
        log.process(0, 0, 100, "a.exe")
        for tid in (1000, 2000):
            log.thread(0, 0, 100, tid)
        log.switch(0, 500, 0, 1000, state=2)
        log.call(0, 600, KERNEL + 0x1000)
        log.switch(0, 700, 1000, 0)
        log.switch(0, 1000, 0, 1000, state=2)
        log.call(0, 2500, KERNEL + 0x2000)
        log.call_return(0, 2600)
        log.ready(0, 2700, 3000)
        log.switch(0, 3000, 2000, 0)
        log.switch(0, 5000, 0, 1000, state=2)
        log.call_return(0, 5600)
        log.switch(0, 6000, 1000, 0)
        content = log.build()
        services, answer = self.services(content, status=1)
        self.assertEqual(answer["calls"], [])
        self.assertEqual(list(services), [KERNEL + 0x1000])
        self.assertEqual((services[KERNEL + 0x1000]["calls"], services[KERNEL + 0x1000]["untimed"]),
                         (0, 1))
        self.assertEqual(answer["without_thread"], 2)
        for words in (["graph", "wait-for"], ["deadlocks"], ["idle"], ["cpu"], ["schedule"],
                      ["services"]):
            codes = [one["code"] for one in self.ask(content, *words, status=1)["findings"]]
            self.assertIn("switch-chain", codes, words)

    # 1000 of old.exe ends; the start of 1000 of new.exe is lost, or not.
    def test_an_id_that_is_used_again_is_somebody_else_even_without_a_start(self):
        for lost in (False, True):
            log = EtlWriter()
            log.process(0, 0, 100, "old.exe")
            log.process(0, 0, 200, "new.exe")
            log.thread(0, 0, 100, 1000)
            log.switch(0, 1000, 0, 1000, state=2)
            log.thread(0, 1900, 100, 1000, hook=0x0502)
            log.switch(0, 2000, 1000, 0, state=4, reason=0)
            if not lost:
                log.thread(0, 3000, 200, 1000, hook=0x0501)
            log.ready(0, 3500, 1000, in_dpc=1)
            log.switch(0, 4000, 0, 1000, state=2)
            log.switch(0, 9000, 1000, 0)
            log.thread(0, 9500, 200, 1000, hook=0x0504)
            with self.subTest(lost=lost):
                threads = self.threads(log.build())
                self.assertEqual(threads[1000, "old.exe"]["running"], 1000)
                self.assertEqual(threads[1000, "new.exe"]["running"], 5000)
                self.assertEqual(threads[1000, "new.exe"]["ready"], 500)

    def test_a_time_that_is_too_late_is_nobodys(self):
        log = EtlWriter()
        log.process(0, 0, 100, "a.exe")
        log.switch(0, 1000, 0, 1000, state=2)
        log.switch(0, 50000, 1000, 2000)  # at 2000, as it happened
        log.switch(0, 3000, 2000, 0)
        log.switch(0, 4000, 0, 1000, state=2)
        log.switch(0, 5000, 1000, 0)
        log.process(0, 6000, 100, "a.exe", hook=0x0304)
        threads = self.threads(log.build())
        running = [one["running"] for (tid, _), one in threads.items() if tid == 1000]
        self.assertEqual(running, [1000])

    # Within a tick a thread is switched in on one processor and out on another.
    def test_a_thread_that_moves_runs_on(self):
        for before, after in ((0, 1), (1, 0)):
            log = EtlWriter(2)
            log.switch(after, 500, 0, 2000, state=2)
            log.switch(after, 900, 2000, 0)
            log.switch(before, 1000, 0, 1000, state=2)
            log.call(before, 1500, KERNEL)
            log.switch(after, 2000, 0, 1000, state=2)
            log.switch(before, 2000, 1000, 0, state=1, reason=32)
            log.call_return(after, 3000)
            log.switch(after, 3500, 1000, 0)
            log.switch(before, 4000, 0, 2000, state=2)
            with self.subTest(before=before):
                services, _ = self.services(log.build(), status=0)
                self.assertEqual(services[KERNEL]["on_processor"], 1500)

    def test_a_switch_of_a_thread_to_itself_forgets_no_interrupt(self):
        log = EtlWriter()
        log.process(0, 0, 100, "a.exe")
        log.thread(0, 0, 100, 1000)
        log.switch(0, 1000, 0, 1000, state=2)
        log.dpc(0, 1100, 1400, KERNEL)
        log.switch(0, 2000, 1000, 1000, state=2, reason=30)
        log.dpc(0, 2100, 2200, KERNEL)
        log.switch(0, 3000, 1000, 0)
        log.switch(0, 3100, 0, 1000, state=2)
        thread = next(one for one in self.ask(log.build(), "cpu")["threads"] if one["tid"] == 1000)
        self.assertEqual(thread["interrupted"], 300 + 100)

    # Two switches of processor 0 are missing: 1000 ran there from 2100 to 3000.
    def test_nobody_is_said_to_have_waited_where_switches_are_missing(self):
        log = EtlWriter(2)
        log.switch(1, 500, 0, 1000, state=2)
        log.switch(1, 1000, 1000, 0)
        log.switch(0, 1900, 0, 2000, state=2)
        log.ready(0, 2000, 1000)
        log.switch(0, 3100, 0, 3000, state=2)
        log.switch(0, 3200, 3000, 0)
        log.switch(1, 4900, 0, 3000, state=2)
        log.ready(1, 5000, 1000)
        log.switch(1, 5100, 3000, 1000)
        log.switch(1, 6000, 1000, 0)
        thread = self.threads(log.build(), status=1)[1000, None]
        self.assertEqual((thread["waiting"], thread["ready"], thread["running"]), (0, 0, 1400))

    def test_what_is_lost_within_a_tick_is_lost(self):
        log = EtlWriter()
        log.process(0, 0, 100, "a.exe")
        log.switch(0, 5000, 0, 2000, state=2)
        log.switch(0, 10000, 2000, 1000)
        log.call(0, 10000, KERNEL)
        first = log.take(0)
        log.process(0, 10000, 200, "b.exe")
        log.call_return(0, 11000)
        log.switch(0, 12000, 1000, 0)
        content = log.build([first, log.take(0)], [1, 3])
        self.assertEqual(self.threads(content, status=1)[1000, None]["running"], 0)
        services, _ = self.services(content, status=1)
        self.assertEqual([one["calls"] for one in services.values()], [0] * len(services))

    def test_a_call_that_never_returned_takes_no_time_from_others(self):
        log = EtlWriter()
        log.switch(0, 10, 0, 1000, state=2)
        log.call(0, 20, KERNEL)
        for i in range(100):
            log.call(0, 100 + 10 * i, KERNEL)
            log.call_return(0, 105 + 10 * i)
        log.switch(0, 5000, 1000, 0)
        services, _ = self.services(log.build(), status=0)
        one = services[KERNEL]
        self.assertEqual((one["calls"], one["open"], one["inclusive"], one["exclusive"],
                          one["on_processor"]), (100, 1, 500, 500, 500))

    def test_calls_deeper_than_is_followed_are_those_that_never_returned(self):
        log = EtlWriter()
        log.switch(0, 10, 0, 1000, state=2)
        for i in range(1100):
            log.call(0, 20 + i, KERNEL)
        for i in range(10):
            log.call(0, 2000 + 10 * i, KERNEL + 0x100)
            log.call_return(0, 2005 + 10 * i)
        log.switch(0, 5000, 1000, 0)
        services, _ = self.services(log.build())
        never, ever = services[KERNEL], services[KERNEL + 0x100]
        self.assertEqual((never["calls"], never["open"]), (0, 1100))
        self.assertEqual((ever["calls"], ever["open"], ever["inclusive"]), (10, 0, 50))

    # What a buffer says of its processor means nothing there. Source: evntrace.h.
    def test_gaps_where_processors_share_buffers_are_of_none(self):
        for mode, cpu in (1, 1), (1 | NO_PER_PROCESSOR, None):
            log = EtlWriter(2, mode=mode)
            log.switch(1, 500, 0, 1000, state=2)
            log.switch(1, 1000, 1000, 0)
            content = bytearray(log.build())
            struct.pack_into("<H", content, BUFFER + 52, 2 | 4)  # flags: lost events, lost buffers
            content[BUFFER + HEADER:BUFFER + HEADER + 8] = b"\x55" * 8
            with self.subTest(mode=mode):
                gaps = [line for line in self.ask(bytes(content), "decode", status=1) if line["type"] == "gap"]
                self.assertEqual({gap["reason"]: gap["cpu"] for gap in gaps},
                                 dict.fromkeys(("events_lost", "buffers_lost", "damaged"), cpu))

    # Wakers with long stacks, whose threads never run: more frames than are kept.
    def test_stacks_of_many_wakers_are_bounded(self):
        log = EtlWriter()
        buffers = []
        log.switch(0, 10, 0, 1000, state=2)
        for i in range(2200):
            log.ready(0, 100 + i, 4000 + 4 * i)
            log.stack(0, 100 + i, 100 + i, 100, 1000, [KERNEL + 8 * n for n in range(500)])
            if i % 15 == 14:
                buffers.append(log.take(0))
        log.switch(0, 9000, 1000, 0)
        buffers.append(log.take(0))
        trace = self.write("trace.etl", log.build(buffers))
        ran = subprocess.run([COLDTRACE, "trace", "cpu", trace, "--format", "collapsed", "--of",
                              "waiting"], capture_output=True, timeout=100)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
