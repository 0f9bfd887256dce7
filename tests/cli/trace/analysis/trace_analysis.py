"""What the trace commands answer, against readers of the events that are written here.

usage: trace_analysis.py COLDTRACE SOURCES SHARED MAKE_SWITCH_TRACES MAKE_SCENARIO_ETL MAKE_WAIT_TRACES
           [arguments of unittest]
"""
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import uuid
import xml.etree.ElementTree
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
from case import installed
from cli.trace.analysis.answers import answer_of, duration, runner
from cli.trace.etl_writer import EtlWriter
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SOURCES, SHARED, MAKE_SWITCH_TRACES, MAKE_SCENARIO_ETL, MAKE_WAIT_TRACES = (
    Path(a).resolve() for a in sys.argv[1:7])
SAMPLES = SHARED / "samples" / "etl"
SCENARIOS = ("producer-consumer", "deadlock-2", "deadlock-5", "boot", "disk-idle", "system-calls")


run = runner(COLDTRACE, "trace")


def exit_text(status):
    number = f"{status['value']:#010x}"
    return f"exit {status['name']} ({number})" if status["name"] else f"exit {number}"


def schema(name):
    return json_schema.of(json.loads((SOURCES / "docs/schema" / name).read_text()))


def sample(name):
    path = SAMPLES / name
    if not path.exists():
        raise unittest.SkipTest("the sample traces are not here")
    return path


def events_of(path, *options):
    lines = strict_ndjson(run("decode", path, "--header-fields", *options).stdout)
    return [line for line in lines if line["type"] == "event"]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([MAKE_SWITCH_TRACES, cls.folder], check=True)
        for scenario in SCENARIOS:
            assert run("synthesize", scenario, "-o", cls.scenario(scenario)).returncode == 0

    @classmethod
    def scenario(cls, name):
        return cls.folder / f"{name}.ctrace"

    def answer(self, *arguments, status=0):
        return answer_of(run(*arguments, "--format", "json"), status)


    def made_runs(self):
        """Each made-up run in both formats, with what is true of it."""
        help_text = run("synthesize", "--help").stdout.decode()
        for name in re.findall(r"^ {30}([a-z0-9-]+): ", help_text, re.M):
            answers = strict_json(run("synthesize", name, "--format", "json", "--seed", 3).stdout)
            path = self.folder / f"{name}-3.ctrace"
            self.assertEqual(run("synthesize", name, "--seed", 3, "-o", path).returncode, 0)
            yield name, answers, path
            etl = path.with_suffix(".etl")
            subprocess.run([MAKE_SCENARIO_ETL, name, "3", "0", "4", etl], check=True)
            yield name, answers, etl


class Tree(Case):
    def test_follows_its_schema(self):
        validator = schema("trace-tree.schema.json")
        for path in [*map(self.scenario, SCENARIOS), sample("dp_vsgc.etl")]:
            for options in [], ["--int64", "string"]:
                with self.subTest(path=path.name, options=options):
                    done = run("tree", path, "--format", "json", *options)
                    self.assertIn(done.returncode, (0, 1))
                    tree = strict_json(done.stdout)
                    tree["threads"] = tree["threads"][:100] + tree["threads"][-100:]
                    validator.validate(tree)

    def test_processes_of_a_real_trace_are_those_of_its_events(self):
        """Starts, ends, creators and parents of 18,850 threads and 124 processes, most of whose ids
        were used before."""
        path = sample("dp_vsgc.etl")
        events = events_of(path, "--event", "Thread,Process")
        tree = self.answer("tree", path)
        threads, processes = tree["threads"], tree["processes"]
        place = lambda event: {k: event["header"][k] for k in ("buffer", "offset")}
        key = lambda where: (where["buffer"], where["offset"])
        by_start = {key(t["start_event"]): t for t in threads if t["start"]}
        starts = [e for e in events if e["name"] == "Thread/Start"]
        self.assertEqual(len(starts), 18850)
        self.assertEqual(len(by_start), len(starts))
        remote = 0
        for event in starts:
            thread = by_start[key(place(event))]
            self.assertEqual(thread["tid"], event["fields"]["TThreadId"])
            self.assertEqual(thread["start"], event["time"])
            self.assertEqual(thread["start_address"], event["fields"]["Win32StartAddr"])
            self.assertEqual(processes[thread["process"]]["pid"], event["fields"]["ProcessId"])
            creator = threads[thread["creator_thread"]]
            self.assertEqual(creator["tid"], event["tid"])
            self.assertEqual(processes[creator["process"]]["pid"], event["pid"])
            remote += creator["process"] != thread["process"]
            # Whoever creates is there: it did not end before, and began before.
            self.assertLessEqual(creator["start"] or "", thread["start"])
            self.assertGreaterEqual(creator["end"] or "9", thread["start"])
        self.assertEqual(remote, 1226)
        ends = [e for e in events if e["name"] == "Thread/End"]
        self.assertEqual({key(t["end_event"]): t["tid"] for t in threads if t["end"]},
                         {key(place(e)): e["fields"]["TThreadId"] for e in ends})
        for thread in threads:
            if thread["end"] and thread["start"]:
                self.assertLessEqual(thread["start"], thread["end"])
        # An id that was used again is another thread, and the one before it ended first.
        listed = {e["fields"]["TThreadId"] for e in events if e["name"] == "Thread/DCStart"}
        seen, again, among_starts = set(listed), 0, 0
        started = set()
        for event in starts:
            tid = event["fields"]["TThreadId"]
            again += tid in seen
            among_starts += tid in started
            seen.add(tid)
            started.add(tid)
        self.assertEqual(among_starts, 10247)
        pids = Counter(e["fields"]["ProcessId"] for e in events
                       if e["name"] in ("Process/Start", "Process/DCStart"))
        self.assertEqual(tree["reused_ids"], again + sum(pids.values()) - len(pids))

        process_starts = {key(place(e)): e for e in events if e["name"] == "Process/Start"}
        self.assertEqual(len(process_starts), 124)
        for process in processes:
            if not process["start"]:
                continue
            event = process_starts.pop(key(process["start_event"]))
            fields = event["fields"]
            self.assertEqual((process["pid"], process["image_name"], process["command_line"] or ""),
                             (fields["ProcessId"], fields["ImageFileName"], fields["CommandLine"]))
            self.assertEqual(process["stated_parent_pid"], fields["ParentId"])
            self.assertEqual(processes[process["parent"]]["pid"], event["pid"])
            self.assertEqual(threads[process["creator_thread"]]["tid"], event["tid"])
        self.assertFalse(process_starts)
        # The rundown has the order in which they began: who is listed later is not a parent. smss.exe, which had
        # started these, was gone, and svchost.exe had its id.
        listed = [e["fields"] for e in events if e["name"] == "Process/DCStart"]
        order = {fields["ProcessId"]: i for i, fields in enumerate(listed)}
        orphans = [(f["ImageFileName"], f["ProcessId"]) for f in listed
                   if order.get(f["ParentId"], -1) > order[f["ProcessId"]]]
        self.assertEqual(orphans, [("csrss.exe", 1088), ("winlogon.exe", 1216)])
        for process in processes:
            if (process["image_name"], process["pid"]) in orphans and not process["start"]:
                self.assertIsNone(process["parent"])
                self.assertEqual(process["stated_parent_pid"], 1072)
        ended = {e["fields"]["ProcessId"]: e["fields"]["ExitStatus"] for e in events
                 if e["name"] == "Process/End"}
        for process in processes:
            if process["end"]:
                self.assertEqual(process["exit_status"]["value"], ended[process["pid"]] & 0xffffffff)

    def test_text_has_every_process_under_the_one_that_started_it(self):
        path = sample("dp_vsgc.etl")
        tree = self.answer("tree", path)
        text = run("tree", path, "--max-threads", 0).stdout.decode().split("\n\n", 1)[1]
        stack, parents = [], Counter()
        for line in text.splitlines():
            found = re.match(r"( *)(.+?) \((\d+)\)", line)
            if not found or re.match(r" *[\d,]+ threads?$", line):
                continue
            depth = len(found[1]) // 2
            del stack[depth:]
            parents[(int(found[3]), stack[-1] if stack else None)] += 1
            stack.append(int(found[3]))
        expected = Counter(
            (p["pid"], None if p["parent"] is None else tree["processes"][p["parent"]]["pid"])
            for p in tree["processes"])
        self.assertEqual(parents, expected)

    def test_drawings_have_the_nodes_and_edges_of_the_answer(self):
        for path in map(self.scenario, ("producer-consumer", "boot", "deadlock-5")):
            with self.subTest(path=path.name):
                tree = self.answer("tree", path)
                processes, threads = tree["processes"], tree["threads"]
                dot = run("tree", path, "--format", "dot").stdout.decode()
                nodes = dict(re.findall(r"^  (n\d+) \[shape=(\w+)", dot, re.M))
                self.assertEqual(Counter(nodes.values()),
                                 Counter(ellipse=len(processes), box=len(threads)))
                edges = re.findall(r"^  n\d+ -> n\d+$", dot, re.M)
                roots = sum(p["parent"] is None and p["creator_thread"] is None for p in processes)
                self.assertEqual(len(edges), len(nodes) - roots)
                svg = xml.etree.ElementTree.fromstring(run("tree", path, "--format", "svg").stdout)
                name = lambda tag: f".//{{http://www.w3.org/2000/svg}}{tag}"
                self.assertEqual(len(svg.findall(name("ellipse"))), len(processes))
                self.assertEqual(len(svg.findall(name("g"))), len(nodes))
                self.assertEqual(len([p for p in svg.findall(name("path")) if "marker-end" in p.keys()]),
                                 len(edges))

    def test_a_thread_lies_below_its_process_or_names_it(self):
        """In SVG a dotted line leads from a process to its threads below, past no other node; a thread whose process
        lies elsewhere has the process in its label. What is not in boxes is in their tooltips."""
        lines = named = 0
        for name in "id-reuse", "server":
            run("synthesize", name, "-o", self.scenario(name))
        etl = self.folder / "tree.etl"
        subprocess.run([MAKE_SCENARIO_ETL, "id-reuse", "1", "0", "4", etl], check=True)
        for path in [*map(self.scenario, ("boot", "id-reuse", "server")), etl]:
            with self.subTest(path=path.name):
                tree = self.answer("tree", path)
                root = xml.etree.ElementTree.fromstring(run("tree", path, "--format", "svg").stdout)
                tag = lambda one: f"{{http://www.w3.org/2000/svg}}{one}"
                nodes = {}
                for group in root.iter(tag("g")):
                    first = group.find(tag("text"))
                    nodes[float(first.get("x")), float(first.get("y"))] = group
                shown = "\n".join(group.find(tag("title")).text for group in root.iter(tag("g")))
                for process in tree["processes"]:
                    if process["command_line"]:
                        self.assertIn(process["command_line"], shown)
                    if process["end"] and process["exit_status"] is not None:
                        self.assertIn(exit_text(process['exit_status']), shown)
                for one in root.findall(tag("path")):
                    if one.get("stroke-dasharray") is None:
                        continue
                    lines += 1
                    x, top, right, bottom = map(float, re.findall(r"-?[\d.]+", one.get("d")))
                    self.assertEqual(x, right)
                    between = [group for (at, y), group in nodes.items() if at == x and top + 20 < y < bottom - 20]
                    home = next(group for (at, y), group in nodes.items() if at == x and abs(y - top) < 20)
                    pid = home.findall(tag("text"))[1].text
                    self.assertIsNotNone(home.find(tag("ellipse")))
                    for group in between:
                        self.assertIn(f"in {pid}", group.find(tag("text")).text)
                pids = {process["id"]: process["pid"] for process in tree["processes"]}
                threads = {thread["id"]: thread for thread in tree["threads"]}
                foreign = [f"{thread['tid']:#010x} in {pids[thread['process']]:#010x}" for thread in tree["threads"]
                           if thread["creator_thread"] is not None and thread["process"] is not None
                           and threads[thread["creator_thread"]]["process"] != thread["process"]]
                texts = [one.text for one in root.iter(tag("text"))]
                self.assertEqual(sorted(one for one in texts if " in 0x" in one), sorted(foreign))
                named += len(foreign)
        self.assertGreater(lines, 10)
        self.assertGreater(named, 10)

    def test_a_drawing_that_is_too_large_says_what_is_left_out(self):
        path = sample("dp_vsgc.etl")
        tree = self.answer("tree", path)
        dot = run("tree", path, "--format", "dot", "--nodes", 600).stdout.decode()
        drawn = re.findall(r"shape=(ellipse|box), label=\"([^\"]*)\"", dot)
        more = [int(label.split()[0].replace(",", "")) for _, label in drawn if "more thread" in label]
        self.assertEqual(len(drawn) - len(more), 600)
        unknown = sum(t["process"] is None for t in tree["threads"])
        self.assertEqual(sum(more) + 600 + unknown, len(tree["processes"]) + len(tree["threads"]))
        few = run("tree", path, "--format", "dot", "--nodes", 10).stdout.decode()
        self.assertIn(f'{len(tree["processes"]) - 10} more processes', few)
        for text in (dot, few) if installed(self, "dot") else ():
            subprocess.run(["dot", "-Tplain"], input=text.encode(), check=True,
                           stdout=subprocess.DEVNULL, timeout=120)

    def test_events_that_are_cut_are_told(self):
        tree = self.answer("tree", self.folder / "cut.etl", status=1)
        self.assertEqual([(f["code"], f["count"]) for f in tree["findings"]],
                         [("record-unreadable", 1)])
        self.assertEqual([t["tid"] for t in tree["threads"]], [0, 11])

    def test_a_trace_without_processes_is_told(self):
        done = run("tree", self.scenario("disk-idle"), "--from", "2030-01-01", "--format", "json")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match", done.stderr)


def ticks(time):
    """Of 100 ns, in the day of a time such as 2024-02-29T12:34:56.1234567Z."""
    hours, minutes, seconds = time.split("T")[1].rstrip("Z").split(":")
    whole, part = seconds.split(".")
    return ((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 10_000_000 + int(part)


def scheduler_events(path):
    """Switches and readied threads of either format, as (time, processor, old, new, state, reason)
    and (time, thread)."""
    for event in events_of(path):
        time, fields = ticks(event["time"]), event["fields"]
        if event["name"] == "Thread/CSwitch":
            yield (time, event["cpu"], fields["OldThreadId"], fields["NewThreadId"],
                   fields["OldThreadState"], fields["OldThreadWaitReason"])
        elif event["name"] == "ContextSwitch" and event["provider"]["name"] == "wmk":
            yield (time, event["cpu"], fields["old_thread"], fields["new_thread"],
                   fields["old_state"], fields["old_wait_reason"])
        elif event["name"] == "Thread/ReadyThread":
            yield time, fields["TThreadId"]
        elif event["name"] == "WaitSatisfied":
            yield time, fields["thread"], event["cpu"]


def sums_of(path):
    """Where time went, by the rules of Microsoft's "CPU Analysis" alone: a wait lasts from
    switch-out to ready, ready from there to switch-in, a run from there to the next switch-out. For
    traces without loss."""
    current, since, left, readied = {}, {}, {}, {}
    processors = {}
    threads = {}
    for record in scheduler_events(path):
        if len(record) < 4:
            time, tid = record[:2]
            if len(record) == 2 or current.get(record[2]) != tid:
                readied.setdefault(tid, time)
            continue
        time, cpu, old, new, state, reason = record
        sums = processors.setdefault(cpu, Counter())
        if cpu in current:
            assert current[cpu] == old, "a trace with loss"
            sums["busy" if old else "idle"] += time - since[cpu]
            if old:
                threads.setdefault(old, Counter())["running"] += time - since[cpu]
        if old:
            readied.pop(old, None)
            left[old] = time, state, reason
        if new:
            one = threads.setdefault(new, Counter())
            was = left.pop(new, None)
            ready = readied.pop(new, None)
            if was and was[1] in (1, 2, 3, 7):
                one["ready"] += time - was[0]
            elif ready is not None:
                one["ready"] += time - ready
                if was:
                    one["waiting"] += ready - was[0]
                    one["waits"] += 1
        current[cpu], since[cpu] = new, time
    return processors, threads


class Schedules(Case):
    def sound(self):
        """Traces that keep the rules of a scheduler and have its events."""
        return [self.folder / "random.etl",
                *(self.scenario(name) for name in SCENARIOS
                  if name not in ("disk-idle", "system-calls"))]

    def test_follows_its_schema(self):
        validator = schema("trace-schedule.schema.json")
        for path in [*map(self.scenario, SCENARIOS), *self.sound(), self.folder / "cut.etl"]:
            for options in [], ["--int64", "string"]:
                with self.subTest(path=path.name, options=options):
                    done = run("schedule", path, "--format", "json", *options)
                    self.assertIn(done.returncode, (0, 1))
                    validator.validate(strict_json(done.stdout))

    def test_time_goes_where_the_rules_say(self):
        for path in self.sound():
            with self.subTest(path=path.name):
                answer = self.answer("schedule", path)
                processors, threads = sums_of(path)
                self.assertGreater(len(threads), 1)
                elapsed = ticks(answer["last_event"]) - ticks(answer["first_event"])
                self.assertEqual(answer["elapsed"], elapsed)
                for one in answer["processors"]:
                    sums = processors[one["cpu"]]
                    self.assertEqual((one["busy"], one["idle"]), (sums["busy"], sums["idle"]))
                    self.assertEqual(one["busy"] + one["idle"] + one["unknown"], elapsed)
                    # Exactly what lies between its first and its last switch.
                    span = ticks(one["last_switch"]) - ticks(one["first_switch"])
                    self.assertEqual(one["busy"] + one["idle"], span)
                found = {one["tid"]: one for one in answer["threads"] if one["tid"]}
                for tid, sums in threads.items():
                    one = found[tid]
                    for what in "running", "ready", "waiting":
                        self.assertEqual(one[what], sums[what], (tid, what))
                    self.assertEqual(sum(w["count"] for w in one["waits"]), sums["waits"])
                    self.assertEqual(sum(w["duration"] for w in one["waits"]), one["waiting"])
                self.assertEqual(sum(one["running"] for one in answer["threads"]),
                                 sum(one["busy"] + one["idle"] for one in answer["processors"]))

    def test_turns_are_the_rows_of_wpa(self):
        for path in self.sound():
            with self.subTest(path=path.name):
                done = run("schedule", path, "--format", "csv")
                rows = strict_csv(done.stdout)
                answer = self.answer("schedule", path)
                self.assertEqual(len(rows), sum(one["turns"] for one in answer["threads"]))
                units = lambda cell: round(float(cell) * 10)
                seconds = lambda cell: round(float(cell) * 10_000_000)
                usage, waits = Counter(), Counter()
                for row in rows:
                    if row["Next Switch-Out Time (s)"]:
                        run_time = (seconds(row["Next Switch-Out Time (s)"])
                                    - seconds(row["Switch-In Time (s)"]))
                        self.assertEqual(units(row["CPU Usage (us)"]), run_time)
                        usage[int(row["New Thread Id"])] += run_time
                    if row["Waits (us)"]:
                        self.assertEqual(units(row["Waits (us)"]) + units(row["Ready (us)"]),
                                         units(row["Time Since Last (us)"]))
                        self.assertEqual(units(row["Time Since Last (us)"]),
                                         seconds(row["Switch-In Time (s)"])
                                         - seconds(row["Last Switch-Out Time (s)"]))
                        waits[int(row["New Thread Id"])] += units(row["Waits (us)"])
                    self.assertEqual(row["Count:Waits"], "0" if row["New Thread Id"] == "0" else "1")
                for one in answer["threads"]:
                    if one["tid"]:
                        self.assertEqual((usage[one["tid"]], waits[one["tid"]]),
                                         (one["running"], one["waiting"]))

    def test_made_up_runs_have_the_times_that_their_simulator_counted(self):
        compared = Counter()
        for name, answers, path in self.made_runs():
            if name == "wrapped":  # begins in the middle of what the answers count
                continue
            done = run("schedule", path, "--format", "json")
            self.assertIn(done.returncode, (0, 1))
            answer = strict_json(done.stdout)
            states = path.suffix == ".etl" or any(one["waits"] for one in answer["threads"])
            start = ticks(answers["start"])
            told = {(one["tid"], ticks(one["start"]) - start): one
                    for one in answer["threads"] if one["start"]}
            for number, thread in enumerate(answers["threads"]):
                one = told.get((thread["tid"], thread["created"]))
                if thread["created"] is None or thread["ended"] is None or one is None:
                    continue
                with self.subTest(path=path.name, tid=thread["tid"]):
                    if one["unknown"] or answers["losses"]:
                        self.assertTrue(answers["losses"])
                        self.assertLessEqual(one["running"], thread["run"] + 1000)
                        self.assertLessEqual(one["waiting"], thread["wait"])
                        compared["lossy"] += 1
                        continue
                    self.assertEqual(one["at_end"]["state"], "ended")
                    # A thread runs on from its end to the switch away from it.
                    tail = ticks(one["at_end"]["since"]) - start - thread["ended"]
                    self.assertGreaterEqual(tail, 0)
                    self.assertEqual(one["running"], thread["run"] + tail)
                    self.assertEqual(one["turns"], thread["switches"])
                    rest = one["ready"] + one["waiting"] + one["off"] + one["created"]
                    self.assertEqual(rest, thread["ready"] + thread["wait"])
                    if states and not one["off"]:
                        self.assertEqual(one["waiting"], thread["wait"])
                        self.assertEqual(
                            sorted((wait["count"], wait["duration"]) for wait in one["waits"]),
                            sorted((wait["count"], wait["duration"]) for wait in thread["waits"]))
                        compared["waits", path.suffix] += len(one["waits"])
                    compared[path.suffix] += 1
        self.assertGreater(compared[".etl"], 60)
        self.assertGreater(compared[".ctrace"], 60)
        self.assertGreater(compared["waits", ".etl"], 40)
        self.assertGreater(compared["lossy"], 2)

    def test_text_has_the_same_sums(self):
        path = self.folder / "random.etl"
        answer = self.answer("schedule", path)
        lines = run("schedule", path).stdout.decode().splitlines()
        cells = {line.split()[0]: line.split() for line in lines if re.match(r" +\d", line)}
        for one in answer["threads"]:
            if one["tid"]:
                self.assertEqual(" ".join(cells[str(one["tid"])][1:11]), " ".join(
                    duration(one[what]) for what in ("running", "ready", "waiting", "off", "unknown")))

    def test_what_breaks_the_rules_is_told(self):
        codes = lambda path, status: {f["code"] for f in
                                      self.answer("schedule", path, status=status)["findings"]}
        self.assertIn("switch-chain", codes(self.without_a_switch(), 1))
        self.assertIn("switch-overlap", codes(self.folder / "overlap.etl", 1))
        self.assertIn("no-match", codes(sample("dp_vsgc.etl"), 1))

    def test_without_switches_nothing_is_said_of_threads(self):
        answer = self.answer("schedule", sample("dp_vsgc.etl"), status=1)
        self.assertEqual(answer["threads"], [])  # 18,850 began, of which no event says that they did not run

    def test_an_end_is_when_the_event_says(self):
        log = EtlWriter()
        log.process(0, 0, 100, "a.exe")
        log.thread(0, 100, 100, 1000, hook=0x0501)  # it begins
        log.switch(0, 200, 0, 2000)
        log.thread(0, 5000, 100, 1000, hook=0x0502)
        log.switch(0, 6000, 2000, 0)
        path = self.folder / "ended.etl"
        path.write_bytes(log.build())
        answer = self.answer("schedule", path)
        one, = (one for one in answer["threads"] if one["tid"] == 1000)
        self.assertEqual(one["at_end"]["state"], "ended")
        self.assertEqual(one["at_end"]["since"][-8:], "0005000Z")

    def test_without_ready_events_waiting_is_not_told_from_ready(self):
        both = self.answer("schedule", self.folder / "random.etl")
        switches = self.answer("schedule", self.folder / "switches.etl")
        self.assertEqual([f["code"] for f in switches["findings"]], ["no-ready-events"])
        self.assertEqual(both["findings"], [])
        running = lambda answer: {(one["tid"], one["idle_cpu"]): one["running"]
                                  for one in answer["threads"]}
        self.assertEqual(running(switches), running(both))
        self.assertEqual(sum(one["waiting"] for one in switches["threads"]), 0)
        self.assertGreater(sum(one["off"] for one in switches["threads"]), 0)

    def without_a_switch(self):
        """random.etl without the events of one stretch of one processor: its bytes are one event."""
        data = bytearray((self.folder / "random.etl").read_bytes())
        path = self.folder / "hole.etl"
        switch = self.place_of_switch(data)
        data[switch + 16:switch + 20] = (0xfffc).to_bytes(4, "little")
        path.write_bytes(data)
        return path

    def place_of_switch(self, data):
        """Of the twentieth context switch: an event of the type and hook that Windows gives it."""
        at = -1
        for _ in range(20):
            at = data.index(b"\x24\x05", at + 1)
        return at - 6


WAIT_SCENARIOS = ("producer-consumer", "deadlock-2", "deadlock-5", "boot", "disk-idle", "any-wait",
                  "priority-inversion", "inversion-chain", "lock-convoy", "server", "disk-bursts", "migration",
                  "id-reuse")


def waits_of(events):
    """Who waited for what, from the lines of `trace decode`, by (thread, address), where a thread is
    its id and how often that began: number of waits, their time; the begins of open ones; owners."""
    starts, waits, open_waits, owners = Counter(), {}, {}, {}
    for event in events:
        name, fields = event["name"], event["fields"]
        if name == "ThreadCreate":
            starts[fields["new_thread"]] += 1
        elif name == "ThreadStart":
            starts[fields["thread"]] += 1
        if name not in ("WaitBegin", "WaitSatisfied", "WaitEnd", "ThreadEnd", "ThreadStop"):
            continue
        thread = (fields["thread"], starts[fields["thread"]])
        if name == "WaitBegin":
            one = {"object": fields.get("object"), "kind": fields.get("object_type")}
            for one in fields.get("objects", [one]):
                wait = waits.setdefault((thread, one["object"]),
                                        {"count": 0, "duration": 0, "kind": one["kind"]})
                wait["count"] += 1
                open_waits.setdefault(thread, {})[one["object"]] = event
        elif name in ("WaitSatisfied", "WaitEnd"):
            ended, status = open_waits.get(thread, {}), int(fields["status"], 16)
            addresses = [fields["object"]] if "object" in fields else list(ended)
            for address in addresses:
                wait = waits[thread, address]
                wait["duration"] += ticks(event["time"]) - ticks(ended.pop(address)["time"])
                if wait["kind"] == 2 and status < 64 and addresses[status] == address:
                    owners[address] = thread
        else:
            open_waits.pop(thread, None)
            owners = {address: owner for address, owner in owners.items() if owner != thread}
    still = {(thread, address): event for thread, ones in open_waits.items()
             for address, event in ones.items()}
    return waits, still, owners


def place_of(event):
    return {name: event["header"][name] for name in ("buffer", "offset")}


class WaitGraphs(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in WAIT_SCENARIOS:
            assert run("synthesize", name, "-o", cls.scenario(name)).returncode == 0

    def graph(self, name, *options):
        return self.answer("graph", "wait-for", self.scenario(name), *options)

    def test_follows_its_schema(self):
        validator = schema("trace-wait-graph.schema.json")
        etl = self.scenario_etl("deadlock-2")
        for path in [*map(self.scenario, WAIT_SCENARIOS), etl]:
            for options in [], ["--int64", "string"]:
                with self.subTest(path=path.name, options=options):
                    validator.validate(self.answer("graph", "wait-for", path, *options))

    def scenario_etl(self, name):
        path = self.folder / f"{name}.etl"
        subprocess.run([MAKE_SCENARIO_ETL, name, "1", "0", "4", path], check=True)
        return path

    def test_edges_are_the_waits_of_the_events(self):
        for name in WAIT_SCENARIOS:
            with self.subTest(scenario=name):
                graph = self.graph(name)
                expected, still, owners = waits_of(events_of(self.scenario(name)))
                threads = {thread["id"]: thread for thread in graph["threads"]}
                objects = {one["id"]: one for one in graph["objects"]}
                # Ids in the order of their starts: `id` counts up.
                order = {}
                for thread in sorted(threads.values(), key=lambda one: one["id"]):
                    order.setdefault(thread["tid"], []).append(thread["id"])
                starts = Counter(tid for (tid, _), _ in expected)
                found = {}
                for wait in graph["waits"]:
                    key = (wait["thread"], objects[wait["object"]]["address"])
                    self.assertNotIn(key, found)
                    found[key] = wait
                    self.assertEqual(wait["unknown"], 0)
                by_id = {}
                for (thread, address), wait in expected.items():
                    generations = sorted({one for one, _ in expected if one[0] == thread[0]})
                    waiting = [i for i in order[thread[0]]
                               if any(edge["thread"] == i for edge in graph["waits"])]
                    by_id[waiting[generations.index(thread)], address] = (wait, thread)
                self.assertEqual(set(by_id), set(found))
                for key, (wait, thread) in by_id.items():
                    edge = found[key]
                    begun = still.get((thread, key[1]))
                    self.assertEqual((edge["count"], edge["duration"], edge["open"]),
                                     (wait["count"], wait["duration"], int(begun is not None)))
                    self.assertEqual(edge["open_since"], begun and begun["time"])
                    self.assertEqual(edge["open_event"], begun and place_of(begun))
                    # vtrace does not tell the addresses of thread objects.
                    is_thread = wait["kind"] == 6 and not name.startswith("disk-")
                    waited = objects[edge["object"]]
                    self.assertEqual(waited["thread"] is not None, is_thread)
                    if is_thread:
                        self.assertEqual(threads[waited["thread"]]["object"], waited["address"])
                self.assertEqual({objects[owner["object"]]["address"]: threads[owner["thread"]]["tid"]
                                  for owner in graph["owners"]},
                                 {address: owner[0] for address, owner in owners.items()})
                wanted = {address for (thread, address) in still
                          if owners.get(address, thread) != thread}
                for owner in graph["owners"]:
                    self.assertEqual(owner["strength"] == "proved",
                                     objects[owner["object"]]["address"] in wanted)

    def test_edges_are_what_the_simulator_counted(self):
        for name in WAIT_SCENARIOS:
            with self.subTest(scenario=name):
                graph = self.graph(name)
                answers = strict_json(run("synthesize", name, "--format", "json").stdout)
                end = answers["elapsed"]
                addresses = {one["id"]: one["address"] for one in graph["objects"]}
                tids = {one["id"]: one["tid"] for one in graph["threads"]}
                found, expected = Counter(), Counter()
                for wait in graph["waits"]:
                    found[tids[wait["thread"]], addresses[wait["object"]]] += wait["count"]
                for wait in answers["object_waits"]:
                    expected[answers["threads"][wait["thread"]]["tid"], wait["object"]] += wait["count"]
                self.assertEqual(found, expected)
                if name == "id-reuse":
                    continue
                known = {(tids[w["thread"]], addresses[w["object"]]): w for w in graph["waits"]}
                for wait in answers["object_waits"]:
                    edge = known[answers["threads"][wait["thread"]]["tid"], wait["object"]]
                    # To the end where it is open; vtrace logs the end when the thread runs again.
                    if not edge["open"] and edge["strength"] == "exact" and name not in (
                            "any-wait", "disk-idle", "disk-bursts"):
                        self.assertEqual(edge["duration"], wait["duration"])
                        self.assertLessEqual(edge["duration"], end)

    def test_the_figure_of_the_paper(self):
        """Producer and consumer wait for one mutant, each for a semaphore of local procedure calls,
        and main for both."""
        graph = self.graph("producer-consumer", "--process", "PRODCONS*")
        main, producer, consumer = (thread["id"] for thread in sorted(
            graph["threads"], key=lambda thread: thread["tid"]))
        objects = {one["id"]: one for one in graph["objects"]}
        edges = {(wait["thread"], objects[wait["object"]]["type"], objects[wait["object"]]["calls"],
                  objects[wait["object"]]["thread"]) for wait in graph["waits"]}
        self.assertEqual(edges, {(main, "Thread", None, producer), (main, "Thread", None, consumer),
                                 (producer, "Mutant", None, None), (consumer, "Mutant", None, None),
                                 (producer, "Semaphore", "WrLpcReply", None),
                                 (consumer, "Semaphore", "WrLpcReply", None)})
        self.assertEqual(len([one for one in objects.values() if one["type"] == "Mutant"]), 1)
        self.assertEqual(len([one for one in objects.values() if one["calls"]]), 2)
        dot = run("graph", "wait-for", self.scenario("producer-consumer"), "--process", 2000,
                  "--format", "dot").stdout.decode()
        self.assertEqual(Counter(re.findall(r"shape=(\w+)", dot)), Counter(box=3, diamond=3))
        for thread in graph["threads"]:
            self.assertRegex(dot, rf'label="{thread["tid"]:#010x}  prodcons.exe\\n'
                                  rf'{thread["function"]}\\n{thread["object"]}"')

    def test_drawings_have_the_nodes_and_edges_of_the_answer(self):
        for name in WAIT_SCENARIOS:
            with self.subTest(scenario=name):
                graph = self.graph(name)
                arguments = "graph", "wait-for", self.scenario(name), "--format"
                dot = run(*arguments, "dot").stdout.decode()
                diamonds = [one for one in graph["objects"] if one["thread"] is None]
                edges = len(graph["waits"]) + len(graph["owners"])
                self.assertEqual(Counter(re.findall(r"shape=(\w+)", dot)),
                                 Counter(box=len(graph["threads"]), diamond=len(diamonds)))
                self.assertEqual(len(re.findall(r"^  n\d+ -> n\d+ ", dot, re.M)), edges)
                svg = xml.etree.ElementTree.fromstring(run(*arguments, "svg").stdout)
                tag = lambda one: f".//{{http://www.w3.org/2000/svg}}{one}"
                self.assertEqual(len(svg.findall(tag("polygon"))), len(diamonds))
                self.assertEqual(len(svg.findall(tag("g/*[@marker-end]"))), edges)
                if installed(self, "dot"):
                    plain = subprocess.run(["dot", "-Tplain"], input=dot.encode(), check=True,
                                           capture_output=True, timeout=120).stdout.decode()
                    kinds = Counter(line.split()[0] for line in plain.splitlines())
                    self.assertEqual((kinds["node"], kinds["edge"]),
                                     (len(graph["threads"]) + len(diamonds), edges))

    def test_a_drawing_that_is_too_large_says_what_is_left_out(self):
        for name in ("boot", "lock-convoy"):
            graph = self.graph(name)
            total = len(graph["threads"]) + len([o for o in graph["objects"] if o["thread"] is None])
            for nodes in (0, 1, 5, total - 1):
                with self.subTest(scenario=name, nodes=nodes):
                    dot = run("graph", "wait-for", self.scenario(name), "--format", "dot", "--nodes",
                              nodes).stdout.decode()
                    labels = re.findall(r'label="([^"]*)", style=(\w+)', dot)
                    left = [int(label.split()[0]) for label, style in labels if style == "dashed"]
                    self.assertEqual(sum(left) + len(labels) - len(left), total)
                    self.assertEqual(len(labels) - len(left), nodes)

    def test_lines_and_labels_lie_apart(self):
        """By the pictures' own numbers: labels of 5 by 9 units a character, boxes, and where lines end."""
        labels = 0
        for path in [*map(self.scenario, WAIT_SCENARIOS), *map(self.scenario_etl, ("server", "id-reuse"))]:
            with self.subTest(path=path.name):
                root = xml.etree.ElementTree.fromstring(run("graph", "wait-for", path, "--format", "svg").stdout)
                tag = lambda one: f"{{http://www.w3.org/2000/svg}}{one}"
                number = lambda one, name: float(one.get(name))
                texts, boxes, sides, used = [], [], [], set()
                for group in root.iter(tag("g")):
                    line, text = group.find(tag("path")), group.find(tag("text"))
                    if line is not None:
                        width = 5 * len(text.text)
                        left = number(text, "x") - (width if text.get("text-anchor") == "end" else 0)
                        texts.append((left, number(text, "y") - 7, left + width, number(text, "y")))
                        ends = [float(one) for one in re.findall(r"-?[\d.]+(?:e-?\d+)?", line.get("d"))]
                        sides.append((ends[:2], ends[-2:]))
                        used.add(line.get("marker-end"))
                    elif (box := group.find(tag("rect"))) is not None:
                        x, y = number(box, "x"), number(box, "y")
                        boxes.append((x, y, x + number(box, "width"), y + number(box, "height")))
                    else:
                        points = [tuple(map(float, one.split(",")))
                                  for one in group.find(tag("polygon")).get("points").split()]
                        boxes.append((min(x for x, _ in points), min(y for _, y in points),
                                      max(x for x, _ in points), max(y for _, y in points)))
                for some in texts, boxes:
                    for i, one in enumerate(some):
                        for other in some[:i]:
                            self.assertTrue(one[2] <= other[0] or other[2] <= one[0] or
                                            one[3] <= other[1] or other[3] <= one[1], (one, other))
                labels += len(texts)
                touches = lambda point: any(x - 1 <= point[0] <= right + 1 and y <= point[1] <= bottom
                                            for x, y, right, bottom in boxes)
                self.assertTrue(all(touches(start) and touches(end) for start, end in sides))
                # The legend has a line of each kind that there is, and no other.
                legend = [one for one in root.findall(tag("path"))]
                self.assertEqual([one.get("marker-end") for one in legend],
                                 [one for one in dict.fromkeys(one.get("marker-end") for one in legend) if one in used])
                self.assertEqual({one.get("marker-end") for one in legend}, used)
                width, height = (float(root.get(name)) for name in ("width", "height"))
                self.assertTrue(all(right <= width and bottom <= height for _, _, right, bottom in boxes))
        self.assertGreater(labels, 100)

    def test_pictures_can_be_read_in_light_and_in_dark(self):
        """The colours of attributes, and those that the style puts in their place: by WCAG 2's contrast."""
        def light_of(colour):
            parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
            linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        def contrast(one, other):
            one, other = sorted((light_of(one), light_of(other)))
            return (other + 0.05) / (one + 0.05)

        seen = set()
        paths = [*map(self.scenario, WAIT_SCENARIOS), self.scenario_etl("server")]
        for path, command in itertools.product(paths, (("graph", "wait-for"), ("tree",))):
            text = run(*command, path, "--format", "svg").stdout.decode()
            root = xml.etree.ElementTree.fromstring(text)
            tag = lambda one: f"{{http://www.w3.org/2000/svg}}{one}"
            style = root.find(tag("style")).text
            self.assertEqual(re.findall(r"@media[^{]*", style), ["@media screen and (prefers-color-scheme: dark) "])
            rules = {(name, light): dark for name, light, dark in
                     re.findall(r'\.coldtrace-drawing \[(fill|stroke)="(#\w+)"\] \{ \1: (#\w{6}); \}', style)}
            ink = re.search(r"\.coldtrace-drawing \{ fill: (#\w{6}); \}", style)[1]
            self.assertEqual(root.get("class"), "coldtrace-drawing")
            for dark in False, True:
                def colour(one, name):
                    value = one.get(name)
                    if value in (None, "none"):
                        return (ink if dark else "#000000") if name == "fill" and value is None else None
                    return rules[name, value] if dark else value
                paper = colour(root.find(tag("rect")), "fill")
                self.assertEqual(light_of(paper) < 0.05, dark)
                for group in [root, *root.iter(tag("g"))]:
                    boxes = [one for shape in ("rect", "polygon", "ellipse") for one in group.findall(tag(shape))]
                    ground = paper if group is root or not boxes else colour(boxes[0], "fill")
                    for one in group.findall(tag("text")):
                        self.assertGreaterEqual(contrast(colour(one, "fill"), ground), 4.5)
                        self.assertIn(colour(one, "stroke"), (None, ground))
                    for one in [*boxes, *group.findall(tag("path"))]:
                        if one.get("stroke"):
                            self.assertGreaterEqual(contrast(colour(one, "stroke"), paper), 3)
                            seen.add(one.get("stroke"))
                for one in root.iter(tag("marker")):
                    self.assertGreaterEqual(contrast(colour(one.find(tag("path")), "fill"), paper), 3)
        self.assertGreater(len(seen), 3)

    def test_waits_that_began_before_are_counted_in_text(self):
        path, counts = self.scenario("lock-convoy"), set()
        times = [event["time"] for event in events_of(path)]
        for start in times[::len(times) // 12]:
            count = self.answer("graph", "wait-for", path, "--from", start)["ends_without_begin"]
            text = run("graph", "wait-for", path, "--from", start).stdout.decode()
            words = {0: "", 1: "1 wait ended that began earlier, or whose begin is missing\n"}.get(
                count, f"{count} waits ended that began earlier, or whose begin is missing\n")
            self.assertEqual("".join(line + "\n" for line in text.splitlines() if " ended that began " in line), words)
            counts.add(count)
        self.assertGreater(len(counts), 1)

    def test_a_picture_of_nothing_says_so(self):
        path = self.folder / "vxd-services.ctrace"
        run("synthesize", "vxd-services", "-o", path)
        for name, words in ("graph wait-for", b"No event of the trace shows waits."), \
                ("tree", b"No event of the trace shows processes or threads."):
            for drawing in "svg", "dot":
                done = run(*name.split(), path, "--format", drawing)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stdout)

    def test_a_process_that_is_not_there_is_told(self):
        done = run("graph", "wait-for", self.scenario("boot"), "--process", "smsss.exe")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match", done.stderr)
        self.assertIn(b"smss.exe", done.stderr)
        self.assertEqual(done.stdout, b"")

    def test_an_etl_trace_tells_only_who_woke_whom(self):
        path = self.scenario_etl("producer-consumer")
        graph = self.answer("graph", "wait-for", path)
        self.assertEqual((graph["waits"], graph["objects"], graph["owners"]), ([], [], []))
        self.assertFalse(graph["names_objects"])
        self.assertIn("wait-unnamed", [finding["code"] for finding in graph["findings"]])
        off, expected = {}, Counter()
        for event in events_of(path):
            fields = event["fields"]
            if event["name"] == "Thread/CSwitch":
                off.pop(fields["NewThreadId"], None)
                if fields["OldThreadState"] == 5:
                    off[fields["OldThreadId"]] = event
            elif event["name"] == "Thread/ReadyThread" and off.pop(fields["TThreadId"], None):
                in_dpc = fields["Flag"] & 1 or not event["tid"]
                expected[fields["TThreadId"], None if in_dpc else event["tid"]] += 1
        tids = {one["id"]: one["tid"] for one in graph["threads"]}
        found = Counter({(tids[one["thread"]], tids.get(one["waker"])): one["count"]
                         for one in graph["woken_by"]})
        self.assertEqual(found, expected)
        self.assertGreater(len(expected), 5)
        text = run("graph", "wait-for", path).stdout.decode()
        self.assertNotIn("waited", text)
        dot = run("graph", "wait-for", path, "--format", "dot").stdout.decode()
        self.assertNotIn("diamond", dot)
        self.assertEqual(len(re.findall("label=\"woken by", dot)), len(expected))

    def test_more_objects_than_are_kept_are_told(self):
        subprocess.run([MAKE_WAIT_TRACES, self.folder], check=True)
        graph = self.answer("graph", "wait-for", self.folder / "many-objects.ctrace", status=1)
        self.assertEqual(len(graph["waits"]), 1 << 18)
        limit, = (one for one in graph["findings"] if one["code"] == "wait-limit")
        self.assertIn("64 waits", limit["text"])

    def test_a_trace_without_waits_is_told(self):
        done = run("graph", "wait-for", sample("dp_vsgc.etl"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match", done.stderr)


class ServiceCalls(Case):
    def test_follows_its_schema(self):
        validator = schema("trace-services.schema.json")
        for name, _, path in self.made_runs():
            for options in [], ["--int64", "string"]:
                with self.subTest(path=path.name, options=options):
                    done = run("services", path, "--format", "json", *options)
                    self.assertIn(done.returncode, (0, 1))
                    validator.validate(strict_json(done.stdout))

    def test_calls_cost_what_the_simulator_counted(self):
        """Of each service and routine; nested, recursive and open calls, on another processor too."""
        compared = Counter()
        for name, answers, path in self.made_runs():
            if name in ("wrapped", "losses") or not answers["services"] + answers["routines"]:
                continue
            answer = strict_json(run("services", path, "--format", "json").stdout)
            with self.subTest(path=path.name):
                found = [one for one in answer["services"] if one["kind"] not in ("isr", "dpc", "timer_dpc")]
                has_calls = bool(found)
                on_processor = lambda one: one["on_processor"] if one["calls"] else 0
                # Services of drivers are not of a thread.
                knows_threads = all(one["on_processor"] is not None for one in found if one["calls"])
                sums = lambda one: (one["calls"], one["inclusive"], one["exclusive"],
                                    on_processor(one) if knows_threads else None, one["open"])
                if has_calls:
                    self.assertEqual(sorted(map(sums, found), key=str),
                                     sorted(map(sums, answers["services"]), key=str))
                    compared["services", path.suffix] += len(found)
                    compared["open"] += sum(one["open"] for one in found)
                    for one in found:
                        self.assertEqual(sum(step["count"] for step in one["histogram"]), one["calls"])
                        self.assertEqual(one["unmatched"] + one["untimed"], 0)
                    self.assertEqual(answer["unmatched_returns"], 0)
                if path.suffix == ".ctrace" and has_calls and name != "vxd-services":
                    number = lambda one: one["number"]
                    self.assertEqual({one["number"] for one in found},
                                     {one["name_hash"] or one["number"] for one in answers["services"]})
                routines = [one for one in answer["services"] if one not in found]
                if routines:
                    self.assertEqual(
                        sorted((one["number"], one["calls"], one["inclusive"], one["exclusive"])
                               for one in routines),
                        sorted((int(one["address"], 16), one["count"], one["inclusive"],
                                one["exclusive"]) for one in answers["routines"]))
                    compared["routines"] += len(routines)
        self.assertGreater(compared["services", ".ctrace"], 10)
        self.assertGreater(compared["services", ".etl"], 8)
        self.assertGreater(compared["routines"], 20)
        self.assertGreater(compared["open"], 0)

    def test_who_called_whom_is_what_the_events_say(self):
        """Of services whose events name the caller."""
        path = self.folder / "vxd.ctrace"
        self.assertEqual(run("synthesize", "vxd-services", "-o", path).returncode, 0)
        events = events_of(path)
        edges, cycles = Counter(), Counter()
        for event in events:
            fields = event["fields"]
            key = fields["vxd"] << 16 | fields["service"]
            if event["name"] == "ServiceReturn":
                cycles[key] += fields["cycles"]
            elif fields["caller_vxd"]:
                edges[fields["caller_vxd"] << 16 | fields["caller_service"], key] += 1
        answer = self.answer("services", path)
        numbers = {one["id"]: one["number"] for one in answer["services"]}
        self.assertEqual({(numbers[one["caller"]], numbers[one["callee"]]): one["calls"]
                          for one in answer["calls"]}, edges)
        self.assertEqual({one["number"]: one["cycles"] for one in answer["services"]}, cycles)

    def test_a_return_without_a_call_and_a_call_without_a_return_are_counted(self):
        path = self.scenario("system-calls")
        events = [e for e in events_of(path) if e["name"] in ("SystemCall", "SystemCallReturn")]
        whole = self.answer("services", path)
        # From the middle of a call on, and up to the middle of another one.
        inside = next(e for e, after in zip(events, events[1:]) if e["name"] == "SystemCall"
                      and after["name"] == "SystemCallReturn" and after["time"] > e["time"])
        later = events[events.index(inside) + 1]["time"]
        part = self.answer("services", path, "--from", later)
        self.assertGreater(sum(one["unmatched"] for one in part["services"]), 0)
        part = self.answer("services", path, "--to", inside["time"])
        self.assertGreater(sum(one["open"] for one in part["services"]), 0)
        self.assertLess(sum(one["calls"] for one in part["services"]),
                        sum(one["calls"] for one in whole["services"]))

    def test_calls_of_threads_that_nobody_names_are_counted(self):
        """The kernel's events of calls have no thread: it is known from the first switch on."""
        path = self.folder / "server.etl"
        subprocess.run([MAKE_SCENARIO_ETL, "server", "1", "0", "4", path], check=True)
        events = events_of(path)
        switched = {event["time"] for event in events if event["name"] == "Thread/CSwitch"}
        middle = next(event["time"] for event in events[len(events) // 2:]
                      if event["name"].startswith("PerfInfo/SysCl") and event["time"] not in switched)
        known, unknown = set(), 0
        for event in events:
            if event["time"] < middle:
                continue
            if event["name"] == "Thread/CSwitch":
                known.add(event["cpu"])
            elif event["name"].startswith("PerfInfo/SysCl") and event["cpu"] not in known:
                unknown += 1
        answer = self.answer("services", path, "--from", middle)
        self.assertEqual(answer["without_thread"], unknown)
        self.assertGreater(unknown, 0)
        self.assertIn("call-without-thread", [f["code"] for f in answer["findings"]])

    def test_all_formats_say_the_same(self):
        path = self.scenario("system-calls")
        answer = self.answer("services", path)
        rows = strict_csv(run("services", path, "--format", "csv").stdout)
        self.assertEqual(len(rows), len(answer["services"]))
        for row, one in zip(rows, answer["services"]):
            for name in ("kind", "number", "calls", "open", "unmatched", "untimed", "inclusive",
                         "exclusive", "on_processor", "cycles", "mean", "shortest", "p50", "p90", "p99",
                         "longest"):
                self.assertEqual(row[name], "" if one[name] is None else str(one[name]))
        text = run("services", path, "--top", 100).stdout.decode().splitlines()[1:]
        self.assertEqual([tuple(line.split()[:2]) for line in text],
                         [(str(one["calls"]), str(one["open"])) for one in answer["services"]])

    def test_a_service_is_chosen_by_its_name(self):
        path = self.scenario("system-calls")
        chosen = self.answer("services", path, "--service", "*with hash*")
        self.assertEqual({one["kind"] for one in chosen["services"]}, {"hashed_system_call"})
        done = run("services", path, "--service", "nothing")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match", done.stderr)
        trees = run("services", path, "--trees", "--service", "*with hash*").stdout.decode()
        self.assertIn("system call with hash", trees)


class TimeLimits(Case):
    COMMANDS = (["tree"], ["schedule"], ["services"], ["cpu"], ["cpu", "--format", "collapsed"],
                ["cpu", "--format", "collapsed", "--of", "waiting"], ["graph", "wait-for"],
                ["deadlocks"], ["io"], ["idle"])

    def told(self, command, path, *options):
        """What the warning says that nothing was found."""
        done = run(*command, path, *options)
        self.assertEqual(done.returncode, 1, done.stderr.decode())
        warning, = re.findall("warning: no-match: (.*)", done.stderr.decode())
        return warning

    def test_what_has_to_be_logged_is_said_by_every_command(self):
        """EnableFlags of EVENT_TRACE_PROPERTIES, EVENT_TRACE_FLAG_... in evntrace.h: those of the events that each asks for."""
        log = EtlWriter()
        log.manifest(0, 100, uuid.UUID("12345678-9abc-def0-1234-56789abcdef0"), 7, 0, b"", tid=0xFFFFFFFF, pid=0xFFFFFFFF)
        path = self.folder / "no-kernel.etl"
        path.write_bytes(log.build())
        for flags, *commands in ((("PROCESS", "THREAD"), ["tree"]), (("CSWITCH",), ["schedule"], ["priority"]),
                                 (("SYSTEMCALL", "DPC", "INTERRUPT"), ["services"]),
                                 (("PROFILE", "CSWITCH", "DPC", "INTERRUPT"), ["cpu"]),
                                 (("CSWITCH", "DISPATCHER"), ["deadlocks"], ["graph", "wait-for"]),
                                 (("CSWITCH", "DISK_IO", "NETWORK_TCPIP"), ["idle"]),
                                 (("DISK_IO", "FILE_IO_INIT", "FILE_IO", "NETWORK_TCPIP"), ["io"]),
                                 (("CSWITCH", "SYSTEMCALL", "DPC", "INTERRUPT", "DISK_IO", "FILE_IO_INIT", "FILE_IO"),
                                  ["export", "chrome"])):
            for command in commands:
                with self.subTest(command=command):
                    self.assertTrue(self.told(command, path).endswith(
                        f" ({', '.join(flags[:-1])}{' and ' if len(flags) > 1 else ''}{flags[-1]} of the kernel's flags)"))

    def test_that_no_event_lies_between_is_said_by_every_command(self):
        for command in self.COMMANDS:
            for limits in (["--from", "2031-01-01"], ["--to", "1999-01-01"],
                           ["--from", "2031-01-01", "--to", "2032-01-01"]):
                with self.subTest(command=command, limits=limits):
                    self.assertIn("no event of the trace is between --from and --to",
                                  self.told(command, self.scenario("boot"), *limits))

    def test_that_none_of_those_between_is_of_use(self):
        """Events there are, and none that the command asks for."""
        vxds = self.folder / "vxds.ctrace"
        self.assertEqual(run("synthesize", "vxd-services", "-o", vxds).returncode, 0)
        for command in self.COMMANDS:
            path = self.scenario("disk-idle") if command == ["services"] else vxds
            with self.subTest(command=command):
                told = self.told(command, path)
                limited = self.told(command, path, "--from", "1999-01-01")
                self.assertNotIn("--from", told)
                self.assertEqual(limited, told + " between --from and --to")


class DeadlocksFound(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([MAKE_WAIT_TRACES, cls.folder], check=True)

    def made(self, name, seed):
        path = self.folder / f"{name}-{seed}.ctrace"
        self.assertEqual(run("synthesize", name, "--seed", seed, "-o", path).returncode, 0)
        return path, strict_json(run("synthesize", name, "--seed", seed, "--format", "json").stdout)

    def test_follows_its_schema(self):
        validator = schema("trace-deadlocks.schema.json")
        etl = self.folder / "deadlock.etl"
        subprocess.run([MAKE_SCENARIO_ETL, "deadlock-5", "1", "0", "4", etl], check=True)
        for path in [self.made("deadlock-5", 1)[0], self.made("any-wait", 1)[0],
                     self.folder / "broken.ctrace", etl]:
            for options in [], ["--int64", "string"]:
                with self.subTest(path=path.name, options=options):
                    validator.validate(self.answer("deadlocks", path, *options))

    def test_deadlocks_are_those_of_the_simulator(self):
        found = Counter()
        for name in WAIT_SCENARIOS:
            for seed in (1, 2, 3) if "deadlock" in name or name == "any-wait" else (1,):
                with self.subTest(scenario=name, seed=seed):
                    path, truth = self.made(name, seed)
                    answer = self.answer("deadlocks", path)
                    tids = {one["id"]: one["tid"] for one in answer["threads"]}
                    start = ticks(truth["start"])
                    self.assertEqual(
                        [({tids[member["thread"]] for member in one["members"]},
                          {tids[victim["thread"]] for victim in one["victims"]},
                          ticks(one["closed"]) - start, one["end"], one["proved"])
                         for one in answer["deadlocks"]],
                        [({truth["threads"][thread]["tid"] for thread in one["threads"]},
                          {truth["threads"][thread]["tid"] for thread in one["victims"]},
                          one["closed"], None, True) for one in truth["deadlocks"]])
                    for one in answer["deadlocks"]:
                        found[name, one["shape"], len(one["members"])] += 1
                        self.hold_against_events(path, one, answer)
        self.assertEqual(found, {("deadlock-2", "cycle", 2): 3, ("deadlock-5", "cycle", 5): 3,
                                 ("any-wait", "knot", 3): 3})

    def hold_against_events(self, path, deadlock, answer):
        """The places are those of events that say so; the last WaitBegin of its threads closes it."""
        events = {tuple(place_of(event).values()): event for event in events_of(path)}
        at = lambda place: events[place["buffer"], place["offset"]]
        tids = {one["id"]: one["tid"] for one in answer["threads"]}
        addresses = {one["id"]: one["address"] for one in answer["objects"]}
        members = {tids[member["thread"]] for member in deadlock["members"]}
        begins = [event for event in events.values()
                  if event["name"] == "WaitBegin" and event["fields"]["thread"] in members]
        last = max(begins, key=lambda event: event["time"])
        self.assertEqual(at(deadlock["closed_event"]), last)
        self.assertEqual(tids[deadlock["members"][0]["thread"]], last["fields"]["thread"])
        for member in deadlock["members"]:
            begun = at(member["event"])
            self.assertEqual((begun["name"], begun["fields"]["thread"], begun["time"]),
                             ("WaitBegin", tids[member["thread"]], member["since"]))
            waited = {one["object"] for one in begun["fields"].get("objects", [begun["fields"]])}
            for step in member["waits_for"]:
                self.assertIn(addresses[step["object"]], waited)
                self.assertIn(tids[step["owner"]], members)
                taken = at(step["owned_event"])
                self.assertIn(taken["name"], ("WaitSatisfied", "WaitEnd"))
                self.assertEqual((taken["fields"]["thread"], taken["time"]),
                                 (tids[step["owner"]], step["owned_since"]))
        if deadlock["shape"] == "cycle":
            order = [tids[member["thread"]] for member in deadlock["members"]]
            self.assertEqual([tids[member["waits_for"][0]["owner"]]
                              for member in deadlock["members"]], order[1:] + order[:1])

    def test_orders_of_mutants_are_told_with_their_witnesses(self):
        for name, size in (("deadlock-2", 2), ("deadlock-5", 5)):
            with self.subTest(scenario=name):
                path, _ = self.made(name, 1)
                answer = self.answer("deadlocks", path)
                inversion, = answer["inversions"]
                self.assertTrue(inversion["deadlocked"])
                witnesses = inversion["witnesses"]
                self.assertEqual(len({one["thread"] for one in witnesses}), size)
                self.assertEqual([one["taken"] for one in witnesses],
                                 [one["held"] for one in witnesses[1:] + witnesses[:1]])
                events = {tuple(place_of(event).values()): event for event in events_of(path)}
                tids = {one["id"]: one["tid"] for one in answer["threads"]}
                addresses = {one["id"]: one["address"] for one in answer["objects"]}
                for one in witnesses:
                    self.assertLess(one["taken_at"], answer["deadlocks"][0]["closed"])
                    for object_, event in (("held", "held_event"), ("taken", "taken_event")):
                        taken = events[tuple(one[event].values())]
                        self.assertEqual(
                            (taken["name"], taken["fields"]["thread"], taken["fields"]["object"]),
                            ("WaitSatisfied", tids[one["thread"]], addresses[one[object_]]))
        for name in ("producer-consumer", "lock-convoy", "boot", "server"):
            self.assertEqual(self.answer("deadlocks", self.made(name, 1)[0])["inversions"], [])

    def test_one_that_a_timeout_breaks(self):
        answer = self.answer("deadlocks", self.folder / "broken.ctrace")
        tids = {one["id"]: one["tid"] for one in answer["threads"]}
        deadlock, = answer["deadlocks"]
        self.assertEqual((deadlock["shape"], deadlock["proved"]), ("cycle", True))
        self.assertEqual((tids[deadlock["end"]["thread"]], deadlock["end"]["status"]),
                         (16, {"name": "STATUS_TIMEOUT", "value": 0x102}))
        # Between the WaitBegin and the WaitSatisfied lies the switch: 2 of 100 ns.
        self.assertEqual(deadlock["duration"], 2)
        # The second one was gone before thread 16 left its processor.
        self.assertEqual(answer["passing"], 1)
        self.assertIn("deadlock-unproved", [one["code"] for one in answer["findings"]])
        text = run("deadlocks", self.folder / "broken.ctrace").stdout.decode()
        self.assertIn("it was broken at +0.0000012", text)
        self.assertIn("the wait of thread 16 of process (8) ended with STATUS_TIMEOUT", text)

    def test_text_tells_the_story(self):
        path, _ = self.made("deadlock-2", 1)
        answer = self.answer("deadlocks", path)
        text = run("deadlocks", path).stdout.decode()
        start = ticks(answer["first_event"])
        since = lambda time: "+{}.{:07}".format(*divmod(ticks(time) - start, 10**7))
        deadlock, = answer["deadlocks"]
        self.assertIn(f"Deadlock 1: a cycle of 2 threads, closed at {since(deadlock['closed'])} "
                      f"(event at {deadlock['closed_event']['buffer']:#x}+"
                      f"{deadlock['closed_event']['offset']:#x})", text)
        for member in deadlock["members"]:
            self.assertIn(f" has waited since {since(member['since'])} ", text)
        self.assertIn("It lasts to the end of the trace", text)
        self.assertIn("Behind it, thread", text)
        self.assertIn("Two mutants taken in opposite orders, which led to a deadlock above", text)
        text = run("deadlocks", self.made("producer-consumer", 1)[0]).stdout.decode()
        self.assertEqual(text, "No deadlock was found.\n")

    def test_an_etl_trace_has_only_suspects(self):
        for name in ("deadlock-5", "boot"):
            with self.subTest(scenario=name):
                path = self.folder / f"{name}.etl"
                subprocess.run([MAKE_SCENARIO_ETL, name, "1", "0", "4", path], check=True)
                answer = self.answer("deadlocks", path)
                self.assertEqual((answer["deadlocks"], answer["inversions"]), ([], []))
                self.assertFalse(answer["names_objects"])
                self.assertIn("wait-unnamed", [one["code"] for one in answer["findings"]])
                off = {}
                for event in events_of(path):
                    fields = event["fields"]
                    if event["name"] == "Thread/CSwitch":
                        off.pop(fields["NewThreadId"], None)
                        if fields["OldThreadState"] == 5:
                            off[fields["OldThreadId"]] = event
                    elif event["name"] in ("Thread/ReadyThread", "Thread/End"):
                        off.pop(fields["TThreadId"], None)
                tids = {one["id"]: one["tid"] for one in answer["threads"]}
                self.assertEqual(
                    [(tids[one["thread"]], one["since"], one["event"]) for one in answer["suspects"]],
                    [(tid, event["time"], place_of(event))
                     for tid, event in sorted(off.items(), key=lambda one: one[1]["time"])])
                self.assertGreater(len(off), 5)
                text = run("deadlocks", path).stdout.decode()
                self.assertIn("no deadlocks can be found", text)
                self.assertNotIn("Deadlock 1", text)

    def test_what_is_not_looked_at_is_told(self):
        answer = self.answer("deadlocks", self.folder / "long-chain.ctrace", status=1)
        self.assertIn("deadlock-limit", [one["code"] for one in answer["findings"]])
        self.assertEqual(answer["deadlocks"], [])

    def test_a_trace_without_waits_is_told(self):
        done = run("deadlocks", sample("dp_vsgc.etl"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match", done.stderr)
        self.assertTrue(done.stdout.endswith(b" 0 threads wait to the end of the trace.\n"), done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[7:]])
