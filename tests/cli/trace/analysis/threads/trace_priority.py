"""What `trace priority` answers, against a second reader of the events and against what is true of
made-up runs.

usage: trace_priority.py COLDTRACE SOURCES SHARED MAKE_SCENARIO_ETL MAKE_KERNEL_TRACE
           [arguments of unittest]
"""
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
import json_schema
from cli.trace.analysis.answers import answer_of, duration, runner
from cli.trace.analysis.scenario_reading import ticks_of
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SOURCES, SHARED, MAKE_SCENARIO_ETL, MAKE_KERNEL_TRACE = (
    Path(a).resolve() for a in sys.argv[1:6])
SAMPLES = SHARED / "samples" / "etl"
# With priorities in their switches, and nothing lost.
SCENARIOS = ("producer-consumer", "deadlock-2", "deadlock-5", "boot", "priority-inversion",
             "lock-convoy", "server", "migration", "id-reuse", "system-calls")
LOSSY = "losses", "wrapped"
WAITING = 5
CSWITCH, READY, SET, SET_BASE, STARVED, FLOOR = 0x524, 0x532, 0x530, 0x531, 0x53c, 0x542
AFFINITY = 0x535
DC_START = 0x503


run = runner(COLDTRACE, "trace")


class Reader:
    """Priorities from the events of a trace without loss: of each thread what shows one, in order.

    Between two of these that show the same priority it is that; when a boost that an event of
    ReadyThread states (a wait that has ended, where the format does not) lies between, it begins
    there; else nobody knows when it changed."""
    def __init__(self, path):
        lines = strict_ndjson(run("decode", path, "--header-fields").stdout)
        self.events = [line for line in lines if line["type"] == "event"]
        self.numbers, self.sights, self.bases, self.boosts = {}, {}, {}, {}
        running, ended = {}, {}
        for line in self.events:
            name, fields, cpu = line["name"], line["fields"], line["cpu"]
            time, place = ticks_of(line["time"]), tuple(line["header"][n] for n in ("buffer", "offset"))
            if name in ("Thread/Start", "ThreadCreate"):
                tid = fields.get("TThreadId", fields.get("new_thread"))
                self.numbers[tid] = self.numbers.get(tid, 0) + 1
                if "BasePriority" in fields:
                    self.base(tid, fields["BasePriority"])
            elif name in ("Thread/DCStart", "Thread/DCEnd", "Thread/End") and "BasePriority" in fields:
                self.base(fields["TThreadId"], fields["BasePriority"])
            elif name in ("Thread/CSwitch", "ContextSwitch"):
                low = {key.lower().replace("_", ""): value for key, value in fields.items()}
                get = lambda *names: next(low[n] for n in names if n in low)
                old, new = get("oldthreadid", "oldthread"), get("newthreadid", "newthread")
                if old:
                    if cpu in running:
                        self.tell(old, "out", time, place, cpu,
                                  priority=get("oldthreadpriority", "oldpriority"),
                                  state=get("oldthreadstate", "oldstate"))
                    else:
                        self.tell(old, "unseen out", time, place, cpu,
                                  state=get("oldthreadstate", "oldstate"))
                if new:
                    self.tell(new, "in", time, place, cpu, priority=get("newthreadpriority", "newpriority"))
                running[cpu] = new
            elif name == "Thread/ReadyThread":
                increment = fields["AdjustIncrement"] if fields["AdjustReason"] in (1, 2) else 0
                cause = {1: "unwait", 2: "boost"}.get(fields["AdjustReason"]) if increment > 0 else None
                self.tell(fields["TThreadId"], "ready", time, place, cpu, cause=cause, stated=True,
                          increment=increment)
                if cause:
                    self.boosts.setdefault(self.life(fields["TThreadId"]), Counter()).update(
                        {cause: 1, cause + " levels": increment})
            elif name == "WaitSatisfied" and running.get(cpu) != fields["thread"]:
                self.tell(fields["thread"], "ready", time, place, cpu, cause="unwait", stated=False,
                          increment=None)
            elif name in ("Thread/SetPriority", "Thread/SetBasePriority", "Thread/AutoBoostSetFloor",
                          "Thread/AntiStarvationBoost"):
                self.tell(fields["ThreadId"], name, time, place, cpu,
                          before=fields.get("OldPriority", fields.get("OldCpuPriority")),
                          now=fields.get("NewPriority", fields.get("NewCpuPriorityFloor")))
        for sights in self.sights.values():
            self.untangle(sights)

    def life(self, tid):
        return tid, self.numbers.get(tid, 0)

    def base(self, tid, base):
        self.tell(tid, "base", None, None, None, base=base)

    def tell(self, tid, what, time, place, cpu, **more):
        self.sights.setdefault(self.life(tid), []).append(
            {"what": what, "time": time, "place": place, "cpu": cpu, **more})

    @staticmethod
    def untangle(sights):
        """Within a tick a thread leaves one processor before it enters another."""
        where = None
        for i, sight in enumerate(sights):
            if sight["what"] == "in" and where is not None:
                out = next(j for j in range(i + 1, len(sights))
                           if sights[j]["what"] == "out" and sights[j]["cpu"] == where)
                assert sights[out]["time"] == sight["time"]
                sights.insert(i, sights.pop(out))
            if sights[i]["what"] in ("in", "out"):
                where = sights[i]["cpu"] if sights[i]["what"] == "in" else None

    def steps(self, life):
        """Steps (time, before, now, cause, place of the event that shows it, increment), and the sums
        of times by priority; "changing" where nobody knows."""
        steps, times = [], Counter()
        last = base = unboosted = ready = waits = None
        new_base = starved = unseen = False
        for sight in self.sights[life]:
            what, time = sight["what"], sight["time"]
            if what == "base":
                base = sight["base"]
            elif what == "Thread/SetBasePriority":
                base, new_base = sight["now"], True
            elif what == "Thread/AntiStarvationBoost":
                starved = True
            elif what == "unseen out":
                waits, ready = sight["state"] == WAITING, None
                unseen = last is not None and time > last[1]
            elif what == "ready":
                if waits and ready is None:
                    ready = sight
            if "priority" not in sight and what not in ("Thread/SetPriority", "Thread/AutoBoostSetFloor"):
                continue
            if what == "Thread/AutoBoostSetFloor" and sight["now"] <= sight["before"]:
                continue
            now = sight["priority"] if "priority" in sight else sight["before"]
            if last is not None:
                before, since = last
                told = cause = None
                if now > before:
                    if unseen:
                        cause = "not_told"
                    elif what != "out" and ready and ready["cause"] and ready["time"] >= since:
                        told, cause = ready["time"], ready["cause"]
                    else:
                        cause = "base_set" if new_base else "starvation" if starved else "not_told"
                elif now < before:
                    falls_back = unboosted is not None and now >= unboosted
                    cause = "not_told" if unseen else "base_set" if new_base else \
                        "decay" if falls_back or (base is not None and now >= base) else "not_told"
                if cause:
                    steps.append((told or time, before, now, cause, sight["place"],
                                  ready["increment"] if told else None))
                    if cause in ("unwait", "boost", "starvation"):
                        unboosted = before if unboosted is None else unboosted
                    elif unboosted is not None and now <= unboosted:
                        unboosted = None
                if told:
                    times[before] += told - since
                    times[now] += time - told
                else:
                    times["unknown" if unseen else now if now == before else "changing"] += time - since
            if what in ("Thread/SetPriority", "Thread/AutoBoostSetFloor"):
                cause = "set" if what == "Thread/SetPriority" else "auto_boost"
                if sight["now"] != now:
                    steps.append((time, now, sight["now"], cause, sight["place"], None))
                    if cause == "set":
                        unboosted = None
                    elif unboosted is None:
                        unboosted = now
                now = sight["now"]
            if what == "out":
                waits, ready = sight["state"] == WAITING, None
            new_base = starved = unseen = False
            last = now, time
        return steps, times


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def answer(self, path, *options, status=0):
        return answer_of(run("priority", path, "--format", "json", *options), status)

    def made(self, name, seed=3, suffix="ctrace"):
        path = self.folder / f"{name}-{seed}.{suffix}"
        if not path.exists():
            if suffix == "etl":
                subprocess.run([MAKE_SCENARIO_ETL, name, str(seed), "0", "4", path], check=True)
            else:
                self.assertEqual(run("synthesize", name, "--seed", seed, "-o", path).returncode, 0)
        return path

    def truth(self, name, seed=3):
        return strict_json(run("synthesize", name, "--seed", seed, "--format", "json").stdout)

    def kernel_trace(self, events, name="kernel.etl"):
        """Of (processor, time, hook, version, payload)."""
        path = self.folder / name
        first = 1_000_000  # of the session
        text = "".join(f"{cpu:x} {first + time:x} {hook:x} {version:x} {payload.hex()}\n"
                       for cpu, time, hook, version, payload in events)
        subprocess.run([MAKE_KERNEL_TRACE, path], input=text.encode(), check=True)
        return path


def switch(cpu, time, old, new, old_priority, new_priority, state=WAITING):
    return cpu, time, CSWITCH, 4, struct.pack("<IIbbBbbbbbII", new, old, new_priority, old_priority, 0,
                                              0, 6, 0, state, 0, 0, 0)


def ready(cpu, time, tid, reason, increment):
    return cpu, time, READY, 2, struct.pack("<Ibbbb", tid, reason, increment, 0, 0)


def listed(time, tid, base, affinity=3):
    return 0, time, DC_START, 3, struct.pack("<II6QQIBBBB", 4, tid, *[0] * 4, affinity, 0, 0, 0, base,
                                             5, 2, 0)


def place_of(event):
    return None if event is None else (event["buffer"], event["offset"])


class Priorities(Case):
    def compare(self, path, answer=None):
        """The answer with the second reader's. Returns the causes of the steps."""
        answer = answer or self.answer(path)
        reader = Reader(path)
        tids = {thread["id"]: thread for thread in answer["threads"]}
        numbers, lives = Counter(), {}
        for thread in answer["threads"]:
            if thread["idle_cpu"] is None:
                numbers[thread["tid"]] += 1 if thread["start"] or numbers[thread["tid"]] else 0
                lives[thread["id"]] = (thread["tid"], numbers[thread["tid"]])
        causes = Counter()
        steps = {}
        for step in answer["steps"]:
            steps.setdefault(step["thread"], []).append(step)
        compared = 0
        for one in answer["priorities"]:
            life = lives[one["thread"]]
            expected, times = reader.steps(life)
            got = steps.get(one["thread"], [])
            with self.subTest(path=path.name, thread=life):
                self.assertEqual(
                    [(ticks_of(s["time"]), s["before"], s["now"], s["cause"],
                      place_of(s["shown_event"]), s["increment"]) for s in got], expected)
                self.assertEqual({level["priority"]: level["duration"] for level in one["levels"]
                                  if level["duration"]},
                                 {p: t for p, t in times.items()
                                  if p not in ("changing", "unknown") and t})
                self.assertEqual((one["changing"], one["unknown"]), (times["changing"], times["unknown"]))
                self.assertEqual(one["changes"], len(expected))
                if one["first"]:
                    span = ticks_of(one["last"]) - ticks_of(one["first"])
                    self.assertEqual(sum(level["duration"] for level in one["levels"])
                                     + one["changing"] + one["unknown"], span)
                sums = {cause["cause"]: cause for cause in one["causes"]}
                for cause, events in reader.boosts.get(life, Counter()).items():
                    key = cause.removesuffix(" levels")
                    self.assertEqual(sums[key]["increments" if key != cause else "events"], events)
                for cause, count in Counter(s[3] for s in expected).items():
                    self.assertEqual(sums[cause]["steps"], count)
                    self.assertEqual(sums[cause]["levels"],
                                     sum(abs(s[2] - s[1]) for s in expected if s[3] == cause))
            causes.update(s[3] for s in expected)
            compared += 1
        self.assertGreater(compared, 0)
        return causes

    def test_follows_its_schema(self):
        validator = json_schema.of(json.loads(
            (SOURCES / "docs/schema/trace-priority.schema.json").read_text()))
        for name in (*SCENARIOS, *LOSSY, "any-wait"):
            for suffix in "ctrace", "etl":
                for options in [], ["--int64", "string"]:
                    with self.subTest(name=name, suffix=suffix):
                        done = run("priority", self.made(name, suffix=suffix), "--format", "json",
                                   *options)
                        self.assertIn(done.returncode, (0, 1))
                        validator.validate(strict_json(done.stdout))

    def test_steps_are_those_of_another_reader(self):
        causes = {"ctrace": Counter(), "etl": Counter()}
        for name in SCENARIOS:
            for seed in 3, 4, 5:
                for suffix in causes:
                    causes[suffix] += self.compare(self.made(name, seed, suffix))
        for counted in causes.values():
            self.assertGreater(counted["unwait"], 40)
            self.assertGreater(counted["decay"], 0)

    def test_times_are_true(self):
        """A thread had a priority at least as long as is said, and no others."""
        compared, told, whole = 0, 0, 0
        for name in (*SCENARIOS, *LOSSY):
            truth = self.truth(name)
            start = ticks_of(truth["start"])
            of = {(one["tid"], one["created"]): one for one in truth["threads"]}
            for suffix in "ctrace", "etl":
                done = run("priority", self.made(name, suffix=suffix), "--format", "json")
                answer = strict_json(done.stdout)
                threads = {one["id"]: one for one in answer["threads"]}
                for one in answer["priorities"]:
                    thread = threads[one["thread"]]
                    key = thread["tid"], thread["start"] and ticks_of(thread["start"]) - start
                    if key not in of:
                        continue
                    true = {row["priority"]: row["duration"] for row in of[key]["priorities"]}
                    with self.subTest(name=name, suffix=suffix, thread=key):
                        for level in one["levels"]:
                            self.assertLessEqual(level["duration"], true.get(level["priority"], 0))
                            told += level["duration"] if name not in LOSSY else 0
                    # In others threads wait to the end, and no event shows their priority then.
                    if name in ("priority-inversion", "lock-convoy", "server", "migration"):
                        whole += sum(true.values())
                    if suffix == "etl" and name not in LOSSY and of[key]["created"] is not None:
                        boosts = {c["cause"]: c for c in one["causes"]}.get(
                            "unwait", {"events": 0, "increments": 0})
                        self.assertEqual((boosts["events"], boosts["increments"]),
                                         (of[key]["boosts"], of[key]["increments"]))
                    compared += 1
        self.assertGreater(compared, 100)
        self.assertGreater(told, whole * 0.9)

    def test_priorities_that_are_set_and_floors_and_starvation(self):
        path = self.kernel_trace([
            listed(1000, 8, 8), listed(1000, 12, 8),
            switch(0, 1100, 0, 8, 0, 8), switch(0, 1200, 8, 12, 8, 9),
            (0, 1210, SET, 3, struct.pack("<IBBH", 8, 8, 12, 0)),
            (0, 1220, SET_BASE, 3, struct.pack("<IBBH", 12, 8, 10, 0)),
            ready(0, 1230, 8, 1, 0), switch(0, 1300, 12, 8, 10, 12, 1),
            (0, 1310, FLOOR, 2, struct.pack("<QIBBBB", 0xfffffa8000001000, 8, 14, 12, 0, 0)),
            switch(0, 1400, 8, 12, 12, 10), ready(0, 1410, 8, 2, 3),
            switch(0, 1420, 12, 8, 10, 15, 1), (0, 1430, STARVED, 2, struct.pack("<IHBB", 12, 0, 15, 0)),
            switch(0, 1500, 8, 12, 12, 15), switch(0, 1600, 12, 0, 13, 0)])
        causes = self.compare(path)
        self.assertEqual(causes, {"set": 1, "base_set": 1, "auto_boost": 1, "decay": 3, "boost": 1,
                                  "starvation": 1})
        answer = self.answer(path)
        tids = {one["id"]: one["tid"] for one in answer["threads"]}
        by = {(tids[s["thread"]], s["cause"]): s["by"] and tids[s["by"]] for s in answer["steps"]}
        self.assertEqual(by[8, "set"], 12)
        of = {tids[one["thread"]]: one for one in answer["priorities"]}
        self.assertEqual((of[12]["base"], of[12]["bases"]), (10, [8, 10]))

    def test_a_priority_that_is_set_after_what_nobody_saw(self):
        """Thread 8 was on processor 1, whose first switch is the one that it leaves by; 12 was raised
        before its priority was set."""
        set_to = lambda time, tid, before, now: (0, time, SET, 3, struct.pack("<IBBH", tid, before, now, 0))
        path = self.kernel_trace([
            switch(0, 1100, 0, 8, 0, 8), switch(0, 1110, 8, 12, 8, 8), switch(1, 1140, 8, 0, 9, 0),
            set_to(1150, 8, 8, 12), switch(0, 1160, 12, 8, 8, 12), ready(0, 1170, 12, 1, 2),
            set_to(1180, 12, 10, 13), switch(0, 1190, 8, 12, 12, 13), switch(0, 1200, 12, 0, 13, 0)])
        self.assertEqual(self.compare(path), {"set": 2, "unwait": 1})
        answer = self.answer(path)
        tids = {one["id"]: one["tid"] for one in answer["threads"]}
        self.assertEqual({tids[one["thread"]]: one["unknown"] for one in answer["priorities"]},
                         {8: 40, 12: 0})

    def test_more_changes_than_are_kept(self):
        """What is beyond 256 changes between two switches is unknown, and told."""
        sets = [(0, 1200 + i, SET, 3, struct.pack("<IBBH", 8, 8 + i % 2, 9 - i % 2, 0)) for i in range(300)]
        answer = self.answer(self.kernel_trace([switch(0, 1100, 0, 8, 0, 8), *sets,
                                                switch(0, 2000, 8, 0, 8, 0)]), status=1)
        self.assertIn("priority-limit", [one["code"] for one in answer["findings"]])
        self.assertEqual((len(answer["steps"]), answer["more_steps"]), (256, 44))
        one, = answer["priorities"]
        self.assertEqual({level["priority"]: level["duration"] for level in one["levels"]},
                         {8: 100 + 127, 9: 128})
        self.assertEqual((one["changing"], one["unknown"]), (0, 2000 - 1455))

    def test_real_payloads_of_such_events_are_read(self):
        vectors = SAMPLES / "kernel-payload-vectors.json"
        if not vectors.exists():
            self.skipTest("the sample payloads are not here")
        opcodes = {48: "set", 49: "base_set", 66: "auto_boost"}
        chosen = [one for one in json.loads(vectors.read_text())["vectors"]
                  if one["category"] == "Thread" and one["opcode"] in opcodes and one["pointer_size"] == 8]
        self.assertEqual(len(chosen), 3)
        for one in chosen:
            fields = {field["name"]: field["value"] for field in one["fields"]}
            tid = fields["ThreadId"]
            before = fields.get("OldPriority", fields.get("OldCpuPriority"))
            now = fields.get("NewPriority", fields.get("NewCpuPriorityFloor"))
            with self.subTest(vector=one["test"]):
                answer = self.answer(self.kernel_trace([
                    switch(0, 1100, 0, tid, 0, before),
                    (0, 1200, 0x500 | one["opcode"], one["version"], bytes.fromhex(one["payload_hex"])),
                    switch(0, 1300, tid, 0, now, 0)]))
                step, = answer["steps"]
                self.assertEqual((step["before"], step["now"], step["cause"]),
                                 (before, now, opcodes[one["opcode"]]))

    def test_base_priorities_of_a_real_trace(self):
        path = SAMPLES / "dp_vsgc.etl"
        if not path.exists():
            self.skipTest("the sample traces are not here")
        answer = self.answer(path, status=1)
        self.assertIn("no-match", [one["code"] for one in answer["findings"]])
        lives, of = [], {}
        for event in strict_ndjson(run("decode", path, "--event", "Thread/*").stdout):
            fields = event.get("fields", {})
            if "BasePriority" not in fields or fields["TThreadId"] == 0:
                continue
            tid = fields["TThreadId"]
            if event["name"] == "Thread/Start" or tid not in of:
                of[tid] = set()
                lives.append(of[tid])
            of[tid].add(fields["BasePriority"])
        self.assertGreater(len(lives), 18850)
        self.assertEqual(Counter(tuple(one["bases"]) for one in answer["priorities"]),
                         Counter(tuple(sorted(bases)) for bases in lives))
        self.assertEqual(answer["steps"], [])

    def test_rows_are_the_steps(self):
        for name in "priority-inversion", "server":
            for suffix in "ctrace", "etl":
                path = self.made(name, suffix=suffix)
                answer = self.answer(path)
                start = ticks_of(answer["first_event"])
                threads = {one["id"]: one for one in answer["threads"]}
                cell = lambda value: "" if value is None else str(value)
                seconds = lambda time: "{}.{:07}".format(*divmod(ticks_of(time) - start, 10**7))
                expected = Counter(
                    (seconds(s["time"]), str(threads[s["thread"]]["tid"]), cell(threads[s["thread"]]["pid"]),
                     str(s["before"]), str(s["now"]), cell(s["base"]), s["cause"], cell(s["increment"]),
                     s["shown_by"], seconds(s["shown_at"]), seconds(s["before_at"]),
                     *map(str, place_of(s["shown_event"])),
                     cell(s["by"] is not None and threads[s["by"]]["tid"] or None))
                    for s in answer["steps"])
                rows = strict_csv(run("priority", path, "--format", "csv").stdout)
                got = Counter(tuple(row[n] for n in (
                    "time", "tid", "pid", "before", "now", "base", "cause", "increment", "shown_by",
                    "shown_at", "before_at", "buffer", "offset", "by_tid")) for row in rows)
                self.assertEqual(got, expected)
                self.assertGreater(len(rows), 0)

    def test_a_focus_leaves_the_rest_out(self):
        path = self.made("server", suffix="etl")
        whole = self.answer(path)
        tids = {one["id"]: one for one in whole["threads"]}
        busiest = max(whole["priorities"], key=lambda one: one["changes"])
        thread = tids[busiest["thread"]]
        only = self.answer(path, "--thread", thread["tid"])
        self.assertEqual(only["priorities"], [one for one in whole["priorities"]
                                              if tids[one["thread"]]["tid"] == thread["tid"]])
        self.assertEqual(only["steps"], [step for step in whole["steps"]
                                         if tids[step["thread"]]["tid"] == thread["tid"]])
        rows = strict_csv(run("priority", path, "--process", thread["process"].upper(), "--format",
                              "csv").stdout)
        self.assertEqual(len(rows), sum(tids[step["thread"]]["process"] == thread["process"]
                                        for step in whole["steps"]))
        for options in ["--thread", 999999], ["--process", "nobody.exe"]:
            answer = self.answer(path, *options, status=1)
            self.assertEqual((answer["priorities"], answer["steps"]), ([], []))
            self.assertIn("no-match", [one["code"] for one in answer["findings"]])

    def test_what_is_lost_is_unknown(self):
        for suffix in "ctrace", "etl":
            answer = self.answer(self.made("losses", suffix=suffix), status=1)
            self.assertGreater(sum(one["unknown"] for one in answer["priorities"]), 0)
            for one in answer["priorities"]:
                if one["first"]:
                    self.assertEqual(sum(level["duration"] for level in one["levels"])
                                     + one["changing"] + one["unknown"],
                                     ticks_of(one["last"]) - ticks_of(one["first"]))

    def test_traces_without_priorities_are_told(self):
        done = run("priority", self.made("disk-idle"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match: no event of the trace shows a priority", done.stderr)

    def test_impossible_priorities_are_told(self):
        answer = self.answer(self.kernel_trace([switch(0, 1100, 0, 8, 0, 77),
                                                switch(0, 1200, 8, 0, 8, 0)]), status=1)
        self.assertIn("priority-impossible", [one["code"] for one in answer["findings"]])

    def test_text_has_the_same(self):
        path = self.made("priority-inversion", suffix="etl")
        answer = self.answer(path)
        lines = run("priority", path, "--top", 1000).stdout.decode().splitlines()
        tids = {one["id"]: one["tid"] for one in answer["threads"]}
        cells = {line.split()[0]: line.split() for line in lines[1:lines.index("")]}
        for one in answer["priorities"]:
            row = cells[str(tids[one["thread"]])]
            self.assertEqual(row[1], "-" if one["base"] is None else str(one["base"]))
            self.assertEqual(int(row[2]), one["changes"])
            steps = {cause["cause"]: cause["steps"] for cause in one["causes"]}
            of = lambda *causes: sum(steps.get(cause, 0) for cause in causes)
            self.assertEqual([int(cell) for cell in row[3:7]],
                             [of("unwait", "boost", "auto_boost", "starvation"), of("decay"),
                              of("set", "base_set"), of("not_told")])
            self.assertEqual(row[7:11], f"{duration(one['changing'])} {duration(one['unknown'])}".split())


    def test_text_has_bases_causes_and_changes(self):
        increments = 0
        for path in self.made("priority-inversion", suffix="etl"), self.made("server", suffix="etl"), \
                self.made("deadlock-2"):
            answer = self.answer(path)
            tids = {one["id"]: one["tid"] for one in answer["threads"]}
            start = ticks_of(answer["first_event"])
            since = lambda time: "+{}.{:07}".format(*divmod(ticks_of(time) - start, 10**7))
            expected = set()
            for one in answer["priorities"]:
                block = f"{tids[one['thread']]:>7}  base {', '.join(map(str, one['bases'])) or '-'}"
                if one["first"]:
                    block += f"; {one['first_priority']} at {since(one['first'])}, {one['last_priority']} at {since(one['last'])}"
                for cause in one["causes"]:
                    block += "\n         {cause}: changes {steps}, levels {levels}, events {events}, increments {increments}".format(**cause)
                    increments += cause["increments"]
                expected.add(block)
            text = run("priority", path, "--top", 1000).stdout.decode()
            part = text.split("first and last priority, and causes:\n")[1].split("\n\n")[0]
            self.assertEqual(set(re.split(r"\n(?= {0,6}\d+  base )", part)), expected)
            self.assertNotIn("Changes:", text)

            busiest = max(answer["priorities"], key=lambda one: one["changes"])["thread"]
            only = self.answer(path, "--thread", tids[busiest])
            self.assertGreater(len(only["steps"]), 0)
            numbers = {one["id"]: one["tid"] for one in only["threads"]}
            at = lambda event: f"{event['buffer']:#x}+{event['offset']:#x}"
            lines = run("priority", path, "--thread", tids[busiest]).stdout.decode().split("Changes:\n")[1].split("\n\n")[0]
            found = [re.fullmatch(r" *(\S+)  thread (\d+) .*?: (\d+) to (\d+), base (\S+), (\w+)(?:, increment (-?\d+))?"
                                  r"(?:, by thread (\d+).*?)?(?:, recorded at \S+ \(event at (\S+)\))?, \d+ last at (\S+), "
                                  r"\d+ shown by (\w+) (\S+) \(event at (\S+)\)", line).groups()
                     for line in lines.splitlines()]
            text_of = lambda value: None if value is None else str(value)
            self.assertEqual(found, [
                (since(s["time"]), str(numbers[s["thread"]]), str(s["before"]), str(s["now"]),
                 "-" if s["base"] is None else str(s["base"]), s["cause"], text_of(s["increment"]),
                 None if s["by"] is None else str(numbers[s["by"]]), s["told_event"] and at(s["told_event"]),
                 since(s["before_at"]), s["shown_by"], since(s["shown_at"]), at(s["shown_event"]))
                for s in only["steps"]])
        self.assertGreater(increments, 0)


class Inversions(Case):
    def told(self, name, seed):
        path = self.made(name, seed)
        return path, self.answer(path), self.truth(name, seed)

    def test_inversions_are_those_of_the_simulator(self):
        found = chains = 0
        for name in ("priority-inversion", "inversion-chain", "lock-convoy", "producer-consumer", "server",
                     "deadlock-5"):
            for seed in (1, 2, 3, 4) if "inversion" in name else (1,):
                with self.subTest(scenario=name, seed=seed):
                    path, answer, truth = self.told(name, seed)
                    tids = {one["id"]: one["tid"] for one in answer["threads"]}
                    addresses = {one["id"]: one["address"] for one in answer["objects"]}
                    start = ticks_of(truth["start"])
                    tid = lambda place: truth["threads"][place]["tid"]
                    got = [(tids[one["high"]], tids[one["low"]],
                            [tids[owner["thread"]] for owner in one["between"]], addresses[one["object"]],
                            ticks_of(one["from"]) - start, one["duration"],
                            {tids[m["thread"]]: m["duration"] for m in one["middles"]})
                           for one in answer["inversions"]]
                    expected = [(tid(one["high"]), tid(one["low"]), [tid(owner) for owner in one["between"]],
                                 one["object"], one["from"],
                                 one["duration"], {tid(m["thread"]): m["duration"] for m in one["middles"]})
                                for one in truth["inversions"] if one["duration"]]
                    self.assertEqual(got, expected)
                    found += len(got)
                    chains += sum(1 for one in answer["inversions"] if one["between"])
                    for one in answer["inversions"]:
                        self.hold_against_events(path, one, answer)
        self.assertGreater(found, 20)
        self.assertGreater(chains, 10)

    def hold_against_events(self, path, one, answer):
        events = {tuple(event["header"][n] for n in ("buffer", "offset")): event
                  for event in Reader(path).events}
        tids = {thread["id"]: thread["tid"] for thread in answer["threads"]}
        begun = events[place_of(one["wait_event"])]
        self.assertEqual((begun["name"], begun["fields"]["thread"], begun["time"]),
                         ("WaitBegin", tids[one["high"]], one["waits_since"]))
        # Who has what the one before waits for, down to who could run.
        waited = begun["fields"]["object"]
        for owner in *one["between"], {**one, "thread": one["low"]}:
            taken = events[place_of(owner["owned_event"])]
            self.assertEqual((taken["name"], taken["fields"]["thread"], taken["time"]),
                             ("WaitSatisfied", tids[owner["thread"]], owner["owned_since"]))
            self.assertEqual(taken["fields"]["object"], waited)
            begun = events[place_of(owner["wait_event"])]
            waited = begun["fields"]["object"]
            if "high" not in owner:
                self.assertEqual((begun["name"], begun["fields"]["thread"], begun["time"]),
                                 ("WaitBegin", tids[owner["thread"]], owner["waits_since"]))
        pushed = events[place_of(one["ready_event"])]
        self.assertEqual((pushed["fields"]["old_thread"], pushed["fields"]["old_priority"]),
                         (tids[one["low"]], one["low_priority"]))
        self.assertNotEqual(pushed["fields"]["old_state"], WAITING)
        for middle in one["middles"]:
            into = events[place_of(middle["event"])]
            self.assertEqual((into["fields"]["new_thread"], into["fields"]["new_priority"], into["cpu"],
                              into["time"]), (tids[middle["thread"]], middle["priority"],
                                              middle["cpu"], middle["since"]))
            self.assertLess(one["low_priority"], middle["priority"])
            self.assertLess(middle["priority"], one["high_priority"])
            self.assertLessEqual(middle["duration"], one["duration"])

    def test_text_tells_the_story(self):
        path, answer, _ = self.told("priority-inversion", 1)
        text = run("priority", path).stdout.decode()
        start = ticks_of(answer["first_event"])
        since = lambda time: "+{}.{:07}".format(*divmod(ticks_of(time) - start, 10**7))
        one = answer["inversions"][0]
        tids = {thread["id"]: thread["tid"] for thread in answer["threads"]}
        self.assertIn(f"Inversion 1: thread {tids[one['high']]} of inversion.exe (2800) (priority 12) "
                      "waited for Mutant 0x", text)
        self.assertIn(f"  It has waited since {since(one['waits_since'])} (event at "
                      f"{one['wait_event']['buffer']:#x}+{one['wait_event']['offset']:#x}) until "
                      f"{since(one['waits_until'])}\n", text)
        self.assertIn(f"  The owner, thread {tids[one['low']]} of inversion.exe (2800), took it at "
                      f"{since(one['owned_since'])} ", text)
        for middle in one["middles"]:
            self.assertIn(f" on processor {middle['cpu']} since {since(middle['since'])} ", text)
        self.assertIn("No priority inversion was found.",
                      run("priority", self.made("producer-consumer")).stdout.decode())

    def test_a_focus_keeps_inversions_that_it_is_in(self):
        path, answer, _ = self.told("priority-inversion", 1)
        tids = {thread["id"]: thread["tid"] for thread in answer["threads"]}
        one = answer["inversions"][0]
        for thread in one["high"], one["low"], one["middles"][0]["thread"]:
            only = self.answer(path, "--thread", tids[thread])
            self.assertEqual(
                [(o["from"], o["high"]) for o in only["inversions"]],
                [(o["from"], o["high"]) for o in answer["inversions"]
                 if thread in (o["high"], o["low"], *(m["thread"] for m in o["middles"]))])

    def test_an_etl_trace_names_no_owner(self):
        path = self.made("priority-inversion", suffix="etl")
        answer = self.answer(path)
        self.assertEqual((answer["inversions"], answer["names_objects"]), ([], False))
        self.assertIn("wait-unnamed", [one["code"] for one in answer["findings"]])
        text = run("priority", path).stdout.decode()
        self.assertIn("no inversions can be found", text)
        self.assertNotIn("Inversion 1", text)

    def test_ready_while_a_lower_one_ran(self):
        """By the definition, from the turns of processors and the affinity of each thread."""
        events = [listed(1000, 8, 8, 1), listed(1000, 12, 8, 3),
                  switch(0, 1010, 8, 0, 8, 0), switch(1, 1010, 12, 0, 8, 0),
                  switch(0, 1100, 0, 4, 0, 6), switch(1, 1100, 0, 16, 0, 9),
                  ready(1, 1110, 8, 1, 0), ready(1, 1120, 12, 1, 0),
                  switch(1, 1150, 16, 20, 9, 7), switch(1, 1180, 20, 12, 7, 8),
                  switch(0, 1190, 4, 8, 6, 8, 1), switch(0, 1250, 8, 0, 8, 0),
                  switch(1, 1260, 12, 0, 8, 0)]
        answer = self.answer(self.kernel_trace(events))
        tids = {thread["id"]: thread["tid"] for thread in answer["threads"]}
        of = {tids[one["thread"]]: one["lower_ran"] for one in answer["priorities"]}
        start = ticks_of(answer["first_event"])
        # Thread 8 may use processor 0 alone, where thread 4 with 6 runs all the time.
        self.assertEqual((of[8]["count"], of[8]["duration"], tids[of[8]["other"]], of[8]["cpu"],
                          of[8]["other_priority"], of[8]["priority"]), (1, 80, 4, 0, 6, 8))
        self.assertEqual(of[12]["duration"], 60)
        self.assertIsNone(of[4])

    def test_threads_come_in_the_order_that_is_asked_for(self):
        """Thread 8 waits for a lower one once and long, thread 12 twice and short; thread 16 changes most often."""
        events = [listed(1000, 8, 8, 1), listed(1000, 12, 8, 2), listed(1000, 16, 8, 2),
                  switch(0, 1010, 8, 0, 8, 0), switch(1, 1010, 12, 0, 8, 0),
                  switch(0, 1020, 0, 4, 0, 6), switch(1, 1020, 0, 20, 0, 7),
                  ready(1, 1030, 8, 1, 0), ready(1, 1040, 12, 1, 0), switch(1, 1045, 20, 12, 7, 8),
                  switch(1, 1050, 12, 20, 8, 7), ready(1, 1060, 12, 1, 0), switch(1, 1065, 20, 12, 7, 9),
                  switch(1, 1070, 12, 16, 9, 8), switch(1, 1075, 16, 0, 9, 0), switch(1, 1080, 0, 16, 0, 10),
                  switch(1, 1085, 16, 0, 11, 0), switch(0, 1190, 4, 8, 6, 8, 1), switch(0, 1250, 8, 0, 8, 0)]
        path = self.kernel_trace(events, "order.etl")
        plain = self.answer(path)
        tids = {thread["id"]: thread["tid"] for thread in plain["threads"]}
        rows = plain["priorities"]
        self.assertEqual([row["thread"] for row in rows], sorted(row["thread"] for row in rows))
        changes = lambda row: (row["changes"], row["last"] or "")
        lower = lambda row: row["lower_ran"]["duration"] if row["lower_ran"] else 0
        asked = {"count": sorted(rows, key=changes, reverse=True),
                 "time": sorted(rows, key=lambda row: (lower(row), *changes(row)), reverse=True)}
        self.assertEqual([tids[asked[order][0]["thread"]] for order in ("count", "time")], [16, 8])
        kept = [row for row in rows if row["lower_ran"]]
        below = {order: sorted(kept, key=lambda row: row["lower_ran"][key], reverse=True)
                 for order, key in (("count", "count"), ("time", "duration"))}
        self.assertEqual([[tids[row["thread"]] for row in below[order]] for order in ("count", "time")], [[12, 8], [8, 12]])
        shown = lambda rows: [str(tids[row["thread"]]) for row in rows]
        for order, first, second in ((None, "count", "time"), ("count", "count", "count"), ("time", "time", "time")):
            options = () if order is None else ("--sort", order)
            text = run("priority", path, "-q", "--format", "text", *options).stdout.decode().split("\nReady while")
            tables = [re.findall(r"^ +(\d+) ", part.split("\n\n")[0], re.M) for part in text]
            self.assertEqual(tables, [shown(asked[first]), shown(below[second])])
            self.assertEqual(self.answer(path, *options)["priorities"], rows if order is None else asked[order])

    def test_priorities_at_both_ends_bound_what_ran_below(self):
        """Who is pushed off with one priority and comes back with another had either all the time."""
        for came_with, told in ((10, (100, 10)), (12, (100, 10)), (9, (100, 9)), (8, None), (6, None)):
            with self.subTest(came_with=came_with):
                events = [listed(1000, 8, 8, 1), switch(0, 1100, 0, 8, 0, 10), switch(0, 1150, 8, 4, 10, 8, 1),
                          switch(0, 1250, 4, 8, 8, came_with, 1), switch(0, 1300, 8, 0, came_with, 0)]
                answer = self.answer(self.kernel_trace(events))
                tids = {thread["id"]: thread["tid"] for thread in answer["threads"]}
                lower = {tids[one["thread"]]: one["lower_ran"] for one in answer["priorities"]}[8]
                self.assertEqual(lower and (lower["duration"], lower["priority"]), told)

    def test_a_thread_may_use_the_processors_that_it_was_last_given(self):
        """The same turns, of which thread 8 may use others from some time on."""
        turns = [listed(1000, 8, 8, 3), switch(0, 1010, 8, 0, 8, 0), switch(0, 1050, 0, 4, 0, 6), switch(1, 1060, 0, 16, 0, 9),
                 ready(1, 1110, 8, 1, 0), switch(1, 1150, 16, 20, 9, 7), switch(0, 1190, 4, 8, 6, 8, 1),
                 switch(1, 1195, 20, 0, 7, 0), switch(0, 1250, 8, 0, 8, 0)]
        given = lambda time, mask, group=0: (0, time, AFFINITY, 2, struct.pack("<QIHH", mask, 8, group, 0))
        # While it is ready processor 0 has thread 4 with 6 all the time, processor 1 thread 20 with 7
        # from 1150 on.
        for changes, duration in (([], 80), ([given(1105, 2)], 40), ([given(1105, 1)], 80),
                                  ([given(1105, 4)], None), ([given(1160, 2)], 40),
                                  ([given(1105, 2), given(1170, 1)], None), ([given(1195, 4)], 80),
                                  # Of another group nothing says which ones these are: all have to.
                                  ([given(1105, 2, 1)], 40)):
            with self.subTest(changes=[(one[1], one[4].hex()) for one in changes]):
                answer = self.answer(self.kernel_trace(sorted(turns + changes, key=lambda one: one[1])))
                tids = {one["id"]: one["tid"] for one in answer["threads"]}
                lower = {tids[one["thread"]]: one["lower_ran"] for one in answer["priorities"]}[8]
                self.assertEqual(lower and lower["duration"], duration)

    def test_text_says_who_was_ready(self):
        self.test_ready_while_a_lower_one_ran()
        text = run("priority", self.folder / "kernel.etl").stdout.decode()
        self.assertIn("Ready while a processor that they may use ran a thread of lower priority", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
