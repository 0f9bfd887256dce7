"""Every scenario of `trace synthesize` keeps the rules of a scheduler, and its answers are true.

usage: scenarios.py COLDTRACE SOURCES MAKE_SCENARIO_ETL [unittest arguments]
MAKE_SCENARIO_ETL writes the same runs as .etl files.
"""
import json
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
from cli.trace.analysis.scenario_reading import WAITING, Reading, ticks_of
from strict import strict_json, strict_ndjson

COLDTRACE, SOURCES, MAKE_ETL = (Path(a).resolve() for a in sys.argv[1:4])
SEEDS = 1, 2, 77
CSWITCH_VERSIONS = dict(zip(SEEDS, (2, 3, 4)))
FORMATS = "ctrace", "etl"
# Of these the file does not have everything.
INCOMPLETE = "losses", "wrapped"
SKIP = object()  # the trace has nothing of what the test is about


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def scenario_names():
    help_text = run(COLDTRACE, "trace", "synthesize", "--help").decode()
    return re.findall(r"^ {30}([a-z0-9-]+): ", help_text, re.M)


class Made:
    """A scenario's trace in one format, and what is true of it."""
    def __init__(self, name, seed, form, folder):
        self.name, self.seed, self.form = name, seed, form
        self.path = Path(folder) / f"{name}-{seed}.{form}"
        options = [name, "--seed", seed]
        self.answers = strict_json(run(COLDTRACE, "trace", "synthesize", *options,
                                       "--format", "json"))
        if form == "ctrace":
            run(COLDTRACE, "trace", "synthesize", *options, "-o", self.path)
        else:
            run(MAKE_ETL, name, seed, 0, CSWITCH_VERSIONS[seed], self.path)
        lines = strict_ndjson(run(COLDTRACE, "trace", "decode", self.path))
        self.summary = lines[-1]
        self.reading = Reading(lines, self.answers["elapsed"])

    def has(self, kind):
        return any(event.kind == kind for event in self.reading.events)

    def told(self, life):
        """What the answers have of a thread: of the same id, the one created then."""
        found = [thread for thread in self.answers["threads"]
                 if (thread["tid"], thread["created"]) == (life.tid, life.created)]
        assert len(found) == 1, (life.tid, life.created)
        return found[0]

    def switches(self):
        return sorted((event.time, event.cpu, event.is_["old"], event.is_["new"])
                      for event in self.reading.events if event.kind == "switch")


def first_numbers(path):
    """The number of the first buffer of each processor that a .ctrace file has; they count from 0."""
    content, numbers = path.read_bytes(), {}
    at = struct.unpack_from("<I", content, 12)[0]
    while at < len(content):
        signature, length, cpu, number = struct.unpack_from("<8s4xIHxxI", content, at)
        assert signature == b"CTBUFFER", at
        numbers.setdefault(cpu, number)
        at += 64 + length
    return numbers


def service_of(made, row):
    """What the events have of a service: its number or hash; an .etl file its address."""
    if made.form == "etl":
        by_name = {0xb74a2d8f: 0xfffff8030dfe2ac0}
        return hex(by_name.get(row["name_hash"], 0xfffff80002000000 + row["number"] * 0x80))
    return None if row["name_hash"] else row["number"], row["name_hash"]


def each(only=None, without=(), form=None):
    """The test takes one scenario's trace after the other."""
    def wrap(test):
        def of_all(self):
            count = 0
            for made in self.all:
                if made.name not in (only or self.names) or made.name in without:
                    continue
                if made.form == (form or made.form):
                    with self.subTest(trace=made.path.name):
                        count += test(self, made) is not SKIP
            self.assertGreater(count, 0)
        of_all.__doc__ = test.__doc__
        return of_all
    return wrap


class Scenarios(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.names = scenario_names()
        cls.all = [Made(name, seed, form, folder.name)
                   for name in cls.names for seed in SEEDS for form in FORMATS]

    @each()
    def test_the_rules_hold(self, made):
        """The chain of switches, one processor a thread, events of the thread that runs."""
        self.assertEqual(made.reading.problems, [])

    @each()
    def test_answers_follow_their_schema(self, made):
        validator = json_schema.of(json.loads(
            (SOURCES / "docs/schema/trace-answers.schema.json").read_text()))
        validator.validate(made.answers)
        self.assertEqual(ticks_of(made.answers["start"]), made.reading.start)

    @each()
    def test_every_thread_has_one_processor_at_a_time(self, made):
        for life in made.reading.lives:
            runs = sorted((since, to) for _, since, to in life.runs)
            for (_, end), (begin, _) in zip(runs, runs[1:]):
                self.assertLessEqual(end, begin, life.tid)

    @each(without=INCOMPLETE)
    def test_runs_and_idle_are_the_time(self, made):
        if not made.has("switch"):
            return SKIP
        for cpu, told in enumerate(made.answers["processors"]):
            turns = made.reading.processors[cpu]
            idle = sum(to - since for since, to, tid in turns if tid == 0)
            busy = sum(to - since for since, to, tid in turns if tid != 0)
            self.assertEqual(idle + busy, made.answers["elapsed"])
            self.assertEqual((busy, idle), (told["busy"], told["idle"]))
            self.assertEqual(len(turns) - 1, told["switches"])

    @each(only=INCOMPLETE)
    def test_what_a_trace_lost_is_less(self, made):
        self.assertTrue(made.reading.lost or made.name == "wrapped")
        missed = 0
        for cpu, told in enumerate(made.answers["processors"]):
            turns = made.reading.processors[cpu]
            busy = sum(to - since for since, to, tid in turns if tid != 0)
            missed += told["switches"] - (len(turns) - 1)
            if made.name == "losses":
                lost = sum(loss["to"] - loss["from"]
                           for loss in made.answers["losses"] if loss["cpu"] == cpu)
                self.assertLessEqual(abs(told["busy"] - busy), lost + 10_000)
        self.assertGreater(missed, 0)

    @each(only=["wrapped"])
    def test_processors_of_a_wrapped_trace_begin_at_different_times(self, made):
        first = {}
        for event in made.reading.events:
            if event.name != "EventTrace/Header":
                first.setdefault(event.cpu, event.time)
        self.assertGreater(abs(first[0] - first[1]), 10_000)

    @each(form="ctrace")
    def test_what_a_file_has_overwritten_is_lost(self, made):
        if made.name == "losses":
            return SKIP
        first = {}
        for event in made.reading.events:
            first.setdefault(event.cpu, event.time)
        overwritten = [{"cpu": cpu, "from": 0, "to": first[cpu]}
                       for cpu, number in sorted(first_numbers(made.path).items()) if number]
        self.assertEqual(made.answers["losses"], overwritten)
        self.assertEqual(bool(overwritten), made.name == "wrapped")

    @each(without=INCOMPLETE)
    def test_times_of_threads_are_true(self, made):
        if not made.has("switch"):
            return SKIP
        self.assertEqual(len(made.reading.lives), len(made.answers["threads"]))
        for life in made.reading.lives:
            told = made.told(life)
            with self.subTest(tid=life.tid, created=life.created):
                self.assertEqual(sum(to - since for _, since, to in life.runs), told["run"])
                self.assertEqual(len(life.runs), told["switches"])
                end = made.answers["elapsed"]
                off = sum((back if back is not None else end) - out
                          for out, state, _, _, back in life.outs if state != 4)
                if life.ended is None or life.outs[-1][1] == 4:  # vtrace does not say so
                    self.assertEqual(off, told["ready"] + told["wait"])
                if made.form == "etl":
                    waited = sum((end if ready is None else ready) - out
                                 for out, state, _, ready, _ in life.outs if state == WAITING)
                    self.assertEqual(waited, told["wait"])

    @each(without=INCOMPLETE)
    def test_waits_end_with_a_cause(self, made):
        """By wmk: a wait for an object ends when it is satisfied, one for a time with no event. In
        an .etl file somebody makes the thread ready."""
        if not made.has("satisfied") and made.form != "etl":
            return SKIP
        ended = 0
        for life in made.reading.lives:
            told = made.told(life)
            waits = defaultdict(lambda: [0, 0])
            for out, state, reason, ready, back in life.outs:
                if state != WAITING:
                    continue
                self.assertTrue(ready is not None or back is None
                                or (reason == 4 and made.form == "ctrace"), (life.tid, out))
                ended += back is not None
                end = ready if ready is not None else made.answers["elapsed"]
                waits[reason][0] += 1
                waits[reason][1] += end - out
            for wait in told["waits"]:
                count, time = waits[wait["reason"]]
                self.assertEqual(count, wait["count"])
                if wait["reason"] != 4 or made.form == "etl":
                    self.assertEqual(time, wait["duration"])
            last = life.outs[-1]
            is_open = last[1] == WAITING and last[4] is None
            self.assertEqual(told["open_wait"],
                             {"reason": last[2], "since": last[0]} if is_open else None)
        return ended or SKIP

    @each(without=INCOMPLETE)
    def test_waits_for_objects_are_true(self, made):
        if not made.has("satisfied"):
            return SKIP
        threads = made.answers["threads"]
        expected = {}
        for wait in made.answers["object_waits"]:
            thread = threads[wait["thread"]]
            expected[thread["tid"], thread["created"], wait["object"]] = \
                [wait["count"], wait["duration"]]
        for life, objects in made.reading.open_waits.items():
            for name, (began, _) in objects.items():
                made.reading.waits[life, name][1] += made.answers["elapsed"] - began
        self.assertEqual({(life.tid, life.created, name): sums
                          for (life, name), sums in made.reading.waits.items()}, expected)

    @each(without=INCOMPLETE)
    def test_the_last_owner_hands_a_mutant_over(self, made):
        """When a thread waited, WaitSatisfied is logged by the one that had the mutant."""
        handed, owner, waits, current = 0, {}, {}, {}
        for event in made.reading.in_causal_order():
            if event.kind == "switch":
                current[event.cpu] = event.is_["new"]
            elif event.kind == "wait" and event.is_["type"] == 2:
                waits[event.tid] = event.time
            elif event.kind == "satisfied" and event.fields["object_type"] == 2:
                if event.time > waits[event.tid]:
                    self.assertEqual(current[event.cpu], owner[event.is_["object"]])
                    handed += 1
                owner[event.is_["object"]] = event.tid
        return handed or SKIP

    @each(without=INCOMPLETE)
    def test_deadlocks_are_true(self, made):
        """Who waits for whom at the end, by the last waits and the last owners."""
        if not made.has("satisfied"):
            return SKIP
        owner, waits = {}, {}
        for event in made.reading.events:
            if event.kind == "wait" and event.is_["type"] == 2:
                waits[event.tid] = (event.is_["object"], event.time)
            elif event.kind == "satisfied" and event.fields["object_type"] == 2:
                waits.pop(event.tid)
                owner[event.is_["object"]] = event.tid
        cycles = set()
        for thread in waits:
            path = []
            while thread in waits and thread not in path:
                path.append(thread)
                thread = owner[waits[thread][0]]
            if thread in path:
                cycles.add(frozenset(path[path.index(thread):]))
        told = {frozenset(made.answers["threads"][i]["tid"] for i in deadlock["threads"]):
                deadlock for deadlock in made.answers["deadlocks"]}
        self.assertEqual(cycles, set(told))
        for cycle in cycles:
            self.assertEqual(told[cycle]["closed"], max(waits[tid][1] for tid in cycle))
            self.assertIsNone(told[cycle]["ended"])

    @each(only=["any-wait"], form="ctrace")
    def test_an_any_wait_is_a_deadlock_only_when_nobody_can_end_it(self, made):
        deadlock, = made.answers["deadlocks"]
        threads = made.answers["threads"]
        members = {threads[i]["tid"] for i in deadlock["threads"]}
        begun, any_waits = {}, 0
        for event in made.reading.events:
            if event.kind == "begin":
                begun[event.tid] = event
                any_waits += len(event.is_["objects"]) == 2
            elif event.kind == "end":
                begun.pop(event.tid)
        self.assertGreater(any_waits, 1)
        self.assertEqual(len(members), 3)
        self.assertLess(members, set(begun))
        self.assertEqual(deadlock["closed"], max(begun[tid].time for tid in members))
        self.assertEqual([threads[i]["tid"] for i in deadlock["victims"]],
                         [tid for tid in begun if len(begun[tid].is_["objects"]) == 3])

    @each(without=INCOMPLETE)
    def test_who_created_whom(self, made):
        threads, processes = made.answers["threads"], made.answers["processes"]

        def creator(one):
            return threads[one["creator"]]["tid"]
        told = sorted([(creator(one), one["pid"], None) for one in processes
                       if one["creator"] is not None]
                      + [(creator(one), None, one["tid"]) for one in threads
                         if one["creator"] is not None], key=str)
        found = sorted(made.reading.creations, key=str)
        if any(event.name == "ThreadStart" for event in made.reading.events):  # vtrace: the thread that runs is not told
            found = [(None, *row[1:]) for row in found]
            told = [(None, *row[1:]) for row in told]
        self.assertEqual(sorted(found, key=str), sorted(told, key=str))

    @each(only=["id-reuse"])
    def test_ids_are_used_again(self, made):
        tids = [life.tid for life in made.reading.lives]
        self.assertGreater(len(tids), len(set(tids)) + 5)
        pids = {process["pid"] for process in made.answers["processes"]}
        self.assertTrue(pids & set(tids))

    @each(without=INCOMPLETE)
    def test_calls_are_true(self, made):
        if not made.has("switch"):
            return SKIP
        told = {service_of(made, row):
                [row["calls"], row["inclusive"], row["exclusive"], row["on_processor"]]
                for row in made.answers["services"] if row["calls"]}
        self.assertEqual(dict(made.reading.services), told)
        opened = sum(len(life.calls) for life in made.reading.lives)
        self.assertEqual(opened, sum(row["open"] for row in made.answers["services"]))

    @each(only=["vxd-services"], form="ctrace")
    def test_services_of_drivers_are_true(self, made):
        """VxDMon's events name the caller and count cycles, of which 10 are 100 ns."""
        stack, sums = [], defaultdict(lambda: [0, 0])
        for event in made.reading.events:
            fields = event.fields
            service = fields["vxd"] << 16 | fields["service"]
            if event.name == "ServiceReturn":
                self.assertEqual(stack.pop(), service)
                sums[service][0] += 1
                sums[service][1] += fields["cycles"] // 10
            caller = fields["caller_vxd"] << 16 | fields["caller_service"]
            self.assertEqual(caller, stack[-1] if stack else 0)
            if event.name == "ServiceCall":
                stack.append(service)
        self.assertEqual({row["number"]: [row["calls"], row["inclusive"]]
                          for row in made.answers["services"]}, dict(sums))

    @each()
    def test_disk_requests_are_true(self, made):
        if not made.has("disk"):
            return SKIP
        told = [(int(row["irp"], 16), row["start"], row["end"],
                 made.answers["threads"][row["thread"]]["tid"])
                for row in made.answers["disk_requests"]]
        self.assertEqual(sorted(made.reading.disk), sorted(told))
        self.assertGreater(len(told), 10)

    @each(only=["priority-inversion"])
    def test_a_convoy_and_an_inversion_are_there(self, made):
        # The high thread waits longer for the mutant than the low one computes with it.
        threads = {thread["tid"]: thread for thread in made.answers["threads"]}
        high = max((life for life in made.reading.lives if life.pid == 2800),
                   key=lambda life: life.tid)
        waits = [wait for wait in made.answers["object_waits"] if wait["type"] == 2
                 and made.answers["threads"][wait["thread"]] is threads[high.tid]]
        self.assertGreater(waits[0]["duration"], 5 * 60_000)

    @each(form="etl")
    def test_interrupts_are_true(self, made):
        """Nested ones too: the event of each comes at its end, and has its begin."""
        if made.name in INCOMPLETE:
            return SKIP
        self.assertEqual({(row["kind"], row["address"]):
                          [row["count"], row["inclusive"], row["exclusive"]]
                          for row in made.answers["routines"]}, dict(made.reading.routines))
        if made.name == "server":
            self.assertTrue(any(row["exclusive"] < row["inclusive"]
                                for row in made.answers["routines"]))

    @each(form="etl")
    def test_both_formats_tell_the_same_story(self, made):
        other = next(one for one in self.all if one.form == "ctrace"
                     and (one.name, one.seed) == (made.name, made.seed))
        if made.name == "wrapped" or not other.has("switch"):
            return SKIP
        self.assertEqual(made.switches(), other.switches())

    @each()
    def test_everything_is_decoded(self, made):
        counts = made.summary["counts"]
        self.assertEqual(counts["exact"], counts["events"])
        lost = {"losses": {"gap-buffers-missing", *(["buffers-lost"] if made.form == "etl" else [])},
                "wrapped": {"buffers-overwritten"}}
        self.assertEqual({finding["code"] for finding in made.summary["findings"]},
                         lost.get(made.name, set()))

    @each(only=["migration"])
    def test_a_thread_migrates_within_a_tick(self, made):
        moves = sum(one[0] != two[0] and one[2] == two[1] for life in made.reading.lives
                    for one, two in zip(life.runs, life.runs[1:]))
        self.assertGreater(moves, 3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
