"""What used the processors of a trace, against sums that are made here from its events.

usage: trace_cpu.py COLDTRACE SOURCES SHARED MAKE_CPU_TRACES MAKE_SCENARIO_ETL [arguments of unittest]
"""
import bisect
import functools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
import json_schema
from case import existing
from cli.trace.analysis.answers import answer_of, duration, runner
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SOURCES, SHARED, MAKE_CPU_TRACES, MAKE_SCENARIO_ETL = (
    Path(a).resolve() for a in sys.argv[1:6])
SAMPLE = SHARED / "samples/etl/pv_net.4.5.2.x64.etl"
KERNEL = 1 << 63
# Between samples of scenarios, in units of 100 ns: less than 100 where threads run for less than that
# at a time.
INTERVALS = {"deadlock-5": 20, "producer-consumer": 10, "id-reuse": 10}


run = runner(COLDTRACE, "trace")


def need_sample():
    if not SAMPLE.exists():
        raise unittest.SkipTest("the sample traces are not here")
    return SAMPLE


def units(time):
    """100 ns since midnight of a UTC text."""
    hours, minutes, seconds = time.split("T")[1].rstrip("Z").split(":")
    whole, part = seconds.split(".")
    return ((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 10_000_000 + int(part)


class Images:
    """Which image has an address when, from the events that load and list images."""

    def __init__(self, events):
        self.spans = defaultdict(list)  # by process: base, end, from, to, name
        for event in events:
            kind = event["name"] or ""
            if kind not in ("Image/Load", "Image/Unload", "Image/DCStart", "Image/DCEnd"):
                continue
            fields = event["fields"]
            base = int(fields["ImageBase"], 16)
            size = fields["ImageSize"]
            size = int(size, 16) if isinstance(size, str) else size
            spans = self.spans[fields["ProcessId"]]
            open_span = next((s for s in spans if s[0] == base and s[3] is None), None)
            if kind in ("Image/Load", "Image/DCStart"):
                if open_span and kind == "Image/Load":
                    open_span[3] = event["timestamp"]
                    open_span = None
                if not open_span:
                    begin = event["timestamp"] if kind == "Image/Load" else -1
                    spans.append([base, base + size, begin, None, fields["FileName"]])
            elif kind == "Image/Unload":
                if open_span:
                    open_span[3] = event["timestamp"]
                else:
                    spans.append([base, base + size, -1, event["timestamp"], fields["FileName"]])
            elif kind == "Image/DCEnd" and not open_span:
                ended = [s[3] for s in spans if s[0] == base]
                spans.append([base, base + size, max(ended, default=-1), None, fields["FileName"]])

    def find(self, pid, address, time):
        for owner in [pid] if address < KERNEL else [pid, 0, 4]:
            for base, end, begin, until, name in self.spans.get(owner, ()):
                if base <= address < end and begin <= time and (until is None or time < until):
                    return name, address - base
        return None


class Methods:
    """Which managed method has an address when. In the sample methods do not overlap, and each start has one name."""

    def __init__(self, events):
        self.spans = defaultdict(dict)  # by process and start: size, from, to, path of the module, name
        paths = {(e["pid"], e["fields"]["ModuleID"]): e["fields"]["ModuleILPath"] for e in events
                 if "ModuleILPath" in e["fields"]}
        for event in events:
            fields, kind, time = event["fields"], event["name"] or "", event["timestamp"]
            if not {"MethodNamespace", "MethodStartAddress"} <= set(fields):
                continue
            spans, start = self.spans[event["pid"]], int(fields["MethodStartAddress"], 16)
            if kind.endswith("MethodUnloadVerbose"):
                spans[start][2] = time
            elif start not in spans:
                name = ".".join(filter(None, (fields["MethodNamespace"], fields["MethodName"])))
                begin = time if kind.endswith("MethodLoadVerbose") else -1
                spans[start] = [int(fields["MethodSize"], 16), begin, 1 << 62,
                                paths.get((event["pid"], fields["ModuleID"])), name]
        self.starts = {pid: sorted(spans) for pid, spans in self.spans.items()}

    def find(self, pid, address, time):
        """(path of the module, "file!name"), or nothing."""
        starts = self.starts.get(pid, [])
        at = bisect.bisect_right(starts, address) - 1
        if at < 0:
            return None
        size, begin, end, path, name = self.spans[pid][starts[at]]
        if begin <= time < end and address < starts[at] + size:
            return path, (path.rsplit(chr(92))[-1] + "!" if path else "") + name
        return None


MANAGED = ",CLRMethod,CLRMethodRundown,CLRLoader,CLRLoaderRundown"


class Threads:
    """Whose a thread is at a time, and when it began, from the events of its life."""

    def __init__(self, events):
        self.lives = defaultdict(list)  # by id: begin, process, start
        for event in events:
            kind = event["name"]
            if kind not in ("Thread/Start", "Thread/DCStart", "Thread/DCEnd", "Thread/End"):
                continue
            tid, pid = event["fields"]["TThreadId"], event["fields"]["ProcessId"]
            lives = self.lives[tid]
            if kind == "Thread/Start":
                lives.append((event["timestamp"], pid, event["time"]))
            elif not lives:
                lives.append((-1, pid, None))

    def find(self, tid, time):
        found = None
        for begin, pid, start in self.lives.get(tid, ()):
            if begin <= time:
                found = pid, start
        return found


def samples_of(events):
    """Each sample with the time that it stands for, of a trace without losses."""
    interval = next((e["fields"]["OldInterval"] for e in events
                     if e["name"] in ("PerfInfo/CollectionStart", "PerfInfo/SetInterval")
                     and e["fields"].get("Source") == 0), None)
    last = {}
    for event in events:
        if event["name"] != "PerfInfo/SampleProf":
            continue
        time = event["timestamp"]
        before = last.get(event["cpu"])
        last[event["cpu"]] = time
        yield event, interval if before is None else time - before


class Sums(Counter):
    def add(self, key, event, weight):
        flags = event["fields"].get("Reserved", 0)
        self[key, "samples"] += 1
        self[key, "sampled"] += weight
        self[key, "sampled_isr"] += weight if flags & 2 else 0
        self[key, "sampled_dpc"] += weight if flags & 3 == 1 else 0

    def of(self, key):
        return tuple(self[key, part] for part in ("samples", "sampled", "sampled_dpc", "sampled_isr"))


def sampled(row):
    return tuple(row[part] for part in ("samples", "sampled", "sampled_dpc", "sampled_isr"))


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([MAKE_CPU_TRACES, cls.folder], check=True)

    def answer(self, path, *options, status=0):
        return answer_of(run("cpu", path, "--format", "json", *options), status)

    def made(self, name):
        return self.folder / f"{name}.etl"

    def scenario(self, name, interval=None, version=4):
        interval = INTERVALS.get(name, 100) if interval is None else interval
        path = self.folder / f"{name}-{interval}-{version}.etl"
        if not path.exists():
            subprocess.run([MAKE_SCENARIO_ETL, name, "3", "0", str(version), path,
                            *([str(interval)] if interval else [])], check=True)
        return path

    def events(self, path):
        lines = strict_ndjson(run("decode", path).stdout)
        return [line for line in lines if line["type"] == "event"]


@functools.cache
def real_events():
    """Read once: that takes seconds."""
    wanted = "PerfInfo,Image,Thread,Process,StackWalk" + MANAGED
    return [e for e in strict_ndjson(run("decode", need_sample(), "--event", wanted).stdout) if e["type"] == "event"]


class RealTrace(Case):
    """8 processors, 10 s, a sample each millisecond."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = need_sample()
        done = run("cpu", path, "--format", "json")
        assert done.returncode == 0, done.stderr
        cls.told = strict_json(done.stdout)
        cls.lines = real_events()
        cls.weighed = list(samples_of(cls.lines))

    def test_no_sample_is_lost(self):
        self.assertEqual(len(self.weighed), 79528)
        self.assertEqual(self.told["sampling"]["samples"], 79528)
        self.assertEqual(self.told["sampling"]["sampled"], sum(w for _, w in self.weighed))
        for part in "processors", "threads", "modules", "functions":
            self.assertEqual(sum(row["samples"] for row in self.told[part]), 79528, part)
            self.assertEqual(sum(row["sampled"] for row in self.told[part]),
                             self.told["sampling"]["sampled"], part)
        processes = self.told["processes"] + [self.told["unknown_process"]]
        self.assertEqual(sum(row["samples"] for row in processes), 79528)
        self.assertIsNone(processes[0]["running"])
        self.assertIsNone(processes[0]["difference"])

    def test_a_processor_is_sampled_from_its_first_to_its_last_sample_and_one_interval(self):
        times, idle = defaultdict(list), Counter()
        for event, weight in self.weighed:
            times[event["cpu"]].append(event["timestamp"])
            idle[event["cpu"]] += weight if event["fields"]["ThreadId"] == 0 else 0
        self.assertEqual(len(times), 8)
        for row in self.told["processors"]:
            mine = times[row["cpu"]]
            self.assertEqual(row["sampled"], mine[-1] - mine[0] + 10_000)
            self.assertEqual(row["samples"], len(mine))
            self.assertEqual(row["sampled_idle"], idle[row["cpu"]])

    def test_threads_and_processes_have_their_samples(self):
        threads, sums = Threads(self.lines), Sums()
        for event, weight in self.weighed:
            tid = event["fields"]["ThreadId"]
            pid, start = threads.find(tid, event["timestamp"]) if tid else (0, None)
            sums.add(("process", pid), event, weight)
            sums.add(("thread", tid, start, event["cpu"] if tid == 0 else None), event, weight)
        told = {("process", row["pid"]): sampled(row) for row in self.told["processes"]}
        told |= {("thread", row["tid"], row["start"], row["idle_cpu"]): sampled(row)
                 for row in self.told["threads"]}
        self.assertEqual(told, {key: sums.of(key) for key, _ in sums})
        self.assertGreater(len(told), 100)

    def test_modules_and_functions_have_their_samples(self):
        threads, images, sums = Threads(self.lines), Images(self.lines), Sums()
        methods = Methods(self.lines)
        for event, weight in self.weighed:
            tid, time = event["fields"]["ThreadId"], event["timestamp"]
            pid = threads.find(tid, time)[0] if tid else 0
            address = int(event["fields"]["InstructionPointer"], 16)
            found = images.find(pid, address, time)
            module = found[0] if found else None
            name = f"{module.rsplit(chr(92))[-1]}+{found[1]:#x}" if found else f"{address:#x}"
            if method := methods.find(pid, address, time):
                module, name = method
            sums.add(("module", module), event, weight)
            sums.add(("function", module, name), event, weight)
        told = {("module", row["module"]): sampled(row) for row in self.told["modules"]}
        told |= {("function", row["module"], row["function"]): sampled(row)
                 for row in self.told["functions"]}
        self.assertEqual(told, {key: sums.of(key) for key, _ in sums})
        self.assertGreater(len(self.told["modules"]), 50)
        self.assertGreater(len(self.told["functions"]), 1000)

    def test_no_two_modules_have_one_name_in_text(self):
        table = run("cpu", need_sample(), "--top", "100").stdout.decode().split("  module\n")[1].split("\n\n")[0]
        paths = [row["module"] or "unknown" for row in self.told["modules"][:100]]
        files = Counter(path.rsplit("\\", 1)[-1] for path in paths)
        self.assertEqual(files["clr.dll"], 2)
        for path in paths:
            file = path.rsplit("\\", 1)[-1]
            names = [path] if files[file] > 1 else [file, path]  # another may have only interrupts
            self.assertTrue(any(line.endswith("  " + name) for line in table.splitlines() for name in names), path)

    def test_a_part_of_the_time_has_its_samples(self):
        begin, end = "2020-07-29T00:07:03Z", "2020-07-29T00:07:04Z"
        told = self.answer(SAMPLE, "--from", begin, "--to", end)
        self.assertEqual(told["sampling"]["samples"],
                         sum(begin[:-1] <= e["time"] < end[:-1] for e, _ in self.weighed))


class Simulated(Case):
    """Runs whose times are known, with a sample each 10 us or less."""
    NAMES = ("producer-consumer", "server", "boot", "lock-convoy", "disk-bursts", "migration",
             "priority-inversion", "id-reuse", "deadlock-5")

    def test_follows_its_schema(self):
        validator = json_schema.of(
            json.loads((SOURCES / "docs/schema/trace-cpu.schema.json").read_text()))
        paths = [self.scenario("server"), self.scenario("boot", 0), self.made("drivers")]
        for path in (*paths, *existing(self, [SAMPLE])):
            for options in [], ["--int64", "string"]:
                with self.subTest(path=path.name, options=options):
                    validator.validate(self.answer(path, *options))

    def test_samples_and_switches_agree(self):
        """A turn of a processor is met by samples within one interval of its length."""
        threads = 0
        for name in self.NAMES:
            path = self.scenario(name)
            told = self.answer(path)
            interval = INTERVALS.get(name, 100)
            self.assertEqual(told["sampling"]["interval"], interval)
            for row in told["threads"]:
                with self.subTest(name=name, tid=row["tid"]):
                    self.assertEqual(row["difference"], row["sampled"] - row["running"])
                    # At either end of the trace a turn is open, and no switch tells how long.
                    self.assertLessEqual(abs(row["difference"]), interval * (row["turns"] + 2))
                    if row["samples"] >= 100:
                        self.assertLessEqual(abs(row["difference"]), 0.02 * row["sampled"])
                        threads += 1
                    elif row["samples"] >= 20:
                        self.assertLessEqual(abs(row["difference"]), 0.16 * row["sampled"])
            for part in "samples", "sampled", "running", "interrupted", "difference", "turns":
                rows = told["processes"] + [told["unknown_process"]]
                self.assertEqual(sum(row[part] for row in rows),
                                 sum(row[part] for row in told["threads"]), part)
            self.assertEqual(sum(row["samples"] for row in told["processors"]),
                             told["sampling"]["samples"])
        self.assertGreater(threads, 25)

    def test_threads_ran_as_long_as_the_simulator_says(self):
        """In all formats, with what the thread did from its end to the switch away from it."""
        compared = Counter()
        for name in self.NAMES:
            answers = strict_json(run("synthesize", name, "--format", "json", "--seed", 3).stdout)
            ctrace = self.folder / f"{name}.ctrace"
            self.assertEqual(run("synthesize", name, "--seed", 3, "-o", ctrace).returncode, 0)
            start = units(answers["start"])
            for path in self.scenario(name), self.scenario(name, 0, 2), ctrace:
                told = {(row["tid"], units(row["start"]) - start): row
                        for row in self.answer(path)["threads"] if row["start"]}
                rows = strict_json(run("schedule", path, "--format", "json").stdout)["threads"]
                ends = {(row["tid"], units(row["start"]) - start): row["at_end"]
                        for row in rows if row["start"]}
                for thread in answers["threads"]:
                    key = thread["tid"], thread["created"]
                    if thread["created"] is None or thread["ended"] is None or key not in told:
                        continue
                    with self.subTest(path=path.name, tid=thread["tid"]):
                        tail = units(ends[key]["since"]) - start - thread["ended"]
                        self.assertEqual(told[key]["running"], thread["run"] + tail)
                        self.assertEqual(told[key]["turns"], thread["switches"])
                        compared[path.suffix] += 1
                        if path == ctrace:
                            self.assertEqual(told[key]["samples"], 0)
                            self.assertIsNone(told[key]["difference"])
        self.assertGreater(compared[".etl"], 100)
        self.assertGreater(compared[".ctrace"], 40)

    def test_processors_are_those_of_the_schedule(self):
        for name in self.NAMES:
            path = self.scenario(name)
            schedule = strict_json(run("schedule", path, "--format", "json").stdout)
            told = self.answer(path)
            for row, other in zip(told["processors"], schedule["processors"], strict=True):
                for part in "busy", "idle", "unknown":
                    self.assertEqual(row[part], other[part])
                self.assertEqual(row["busy"] + row["idle"] + row["unknown"], told["elapsed"])

    def test_interrupts_count_to_their_thread_and_to_their_routine(self):
        for name in "server", "disk-bursts":
            path = self.scenario(name)
            routines, interrupted, processors = self.interrupts_of(self.events(path))
            told = self.answer(path)
            self.assertEqual({(row["kind"], int(row["address"], 16)):
                              (row["runs"], row["inclusive"], row["exclusive"])
                              for row in told["routines"]}, routines)
            self.assertEqual({row["tid"]: row["interrupted"] for row in told["threads"]
                              if row["interrupted"] and row["tid"]}, interrupted)
            for row in told["processors"]:
                self.assertEqual((row["dpc_time"], row["isr_time"]),
                                 processors[row["cpu"]])
            self.assertEqual(sum(row["dpc_time"] + row["isr_time"] for row in told["drivers"]),
                             sum(map(sum, processors.values())))

    def interrupts_of(self, events):
        """Routines, threads that were interrupted while they ran, and processors: by a look at
        every pair of interrupts of a processor."""
        kinds = {"PerfInfo/ISR": "isr", "PerfInfo/DPC": "dpc", "PerfInfo/TimerDPC": "timer_dpc"}
        switches = defaultdict(list)
        spans = defaultdict(list)
        for event in events:
            if event["name"] == "Thread/CSwitch":
                switches[event["cpu"]].append((event["timestamp"], event["fields"]["NewThreadId"]))
            elif event["name"] in kinds:
                spans[event["cpu"]].append((event["fields"]["InitialTime"], event["timestamp"],
                                            kinds[event["name"]],
                                            int(event["fields"]["Routine"], 16)))
        first = events[0]
        ticks_of = lambda value: units(value) - units(first["time"]) + first["timestamp"]
        routines, threads, processors = defaultdict(lambda: (0, 0, 0)), Counter(), {}
        for cpu in sorted(set(switches) | set(spans)):
            times = [0, 0]
            for i, (begin, end, kind, address) in enumerate(spans[cpu]):
                begin = ticks_of(begin)
                inside = [(ticks_of(b), e) for b, e, *_ in spans[cpu][:i] if ticks_of(b) >= begin]
                outermost = [(b, e) for k, (b, e) in enumerate(inside)
                             if not any(b2 <= b and e <= e2 for b2, e2 in inside[k + 1:])]
                exclusive = end - begin - sum(e - b for b, e in outermost)
                runs, inclusive, own = routines[kind, address]
                routines[kind, address] = runs + 1, inclusive + end - begin, own + exclusive
                times[kind == "isr"] += exclusive
                before = [tid for time, tid in switches[cpu] if time <= begin]
                after = [tid for time, tid in switches[cpu] if time > begin]
                if before and after and before[-1]:
                    threads[before[-1]] += exclusive
            processors[cpu] = tuple(times)
        return dict(routines), +threads, processors

    def test_all_formats_say_the_same(self):
        path = self.scenario("server")
        told = self.answer(path)
        rows = strict_csv(run("cpu", path, "--format", "csv").stdout)
        header = list(rows[0])
        parts = {"processor": "processors", "process": "processes", "thread": "threads",
                 "module": "modules", "function": "functions", "routine": "routines"}
        for of, part in parts.items():
            table = [row for row in rows if row["of"] == of]
            self.assertEqual(len(table), len(told[part]), of)
            for row, other in zip(table, told[part]):
                for name in set(other) & set(header) - {"process", "module"}:
                    want = "" if other[name] is None else str(other[name])
                    self.assertEqual(row[name], want, (of, name))
                for name in set(other) & {"process", "module"}:
                    self.assertEqual(row[name], other[name] or "", (of, name))
        text = run("cpu", path, "--top", "1000").stdout.decode()
        for row in told["threads"]:
            line = next(l for l in text.splitlines() if re.search(
                rf"  {'idle %s' % row['idle_cpu'] if row['tid'] == 0 else row['tid']}  ", l))
            self.assertRegex(line, rf"^ +{duration(row['running'])} +{duration(row['interrupted'])} "
                                   rf"+{duration(row['sampled'])} +{row['samples']:,} ")
        for row in told["functions"]:
            self.assertRegex(text, rf"(?m)^ +{duration(row['sampled'])} +{row['samples']:,} .*"
                                   rf"{re.escape(row['function'])}$")
        self.assertIn("1 more\n", run("cpu", path, "--top", str(len(told["threads"]) - 1)).stdout.decode())


class Collapsed(Case):
    def lines(self, path, *options, status=0):
        """Each path with its time in units of 100 ns, as readers of flame graphs see them."""
        done = run("cpu", path, "--format", "collapsed", *options)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        found = Counter()
        for line in done.stdout.decode().splitlines():
            path, time = line.rsplit(" ", 1)
            self.assertEqual(int(time) % 100, 0)
            found[tuple(path.split(";"))] += int(time) // 100
        return found, done.stderr.decode()

    def test_stacks_of_a_real_trace(self):
        """Each stack that a key or an event tells of a sample is that of its line."""
        path = need_sample()
        events = real_events()
        told, _ = self.lines(path)
        threads, images, methods = Threads(events), Images(events), Methods(events)
        walks = defaultdict(dict)
        for event in events:
            if event["name"] not in ("StackWalk/Stack", "StackWalk/StackKeyKernel",
                                     "StackWalk/StackKeyUser"):
                continue
            frames = event["fields"].get("Stack") or event["stack"]
            fields = event["fields"]
            if frames:
                frames = [int(frame, 16) for frame in frames]
                walks[fields["EventTimeStamp"], fields["StackThread"],
                      event["cpu"] if fields["StackThread"] == 0 else None].setdefault(
                          frames[0] >= KERNEL, frames)
        want, joined = Counter(), 0
        for event, weight in samples_of(events):
            tid, time = event["fields"]["ThreadId"], event["timestamp"]
            flags, address = event["fields"]["Reserved"], int(event["fields"]["InstructionPointer"], 16)
            pid = threads.find(tid, time)[0] if tid else 0
            parts = walks.get((time, tid, event["cpu"] if tid == 0 else None), {})
            frames = parts.get(True, []) + parts.get(False, [])
            joined += bool(frames)
            if not frames or frames[0] != address:
                frames = [address, *frames]
            found = [images.find(pid, frame, time) for frame in frames]
            names = [f"{f[0].rsplit(chr(92))[-1]}+{f[1]:#x}" if f else f"{frame:#x}"
                     for f, frame in zip(found, frames)]
            managed = [methods.find(pid, frame, time) for frame in frames]
            names = [method[1] if method else name for method, name in zip(managed, names)]
            if flags & 3:
                top = "[ISR]" if flags & 2 else "[DPC]",
            elif tid:
                top = pid, tid
            else:
                continue
            want[(*top, *reversed(names))] += weight
        # The names of processes are not compared here.
        by_ids = Counter()
        for frames, time in told.items():
            if not frames[0].startswith("["):
                frames = (int(frames[0].rsplit("(", 1)[1][:-1]), int(frames[1].split()[1]), *frames[2:])
            by_ids[frames] += time
        self.assertEqual(by_ids, want)
        self.assertGreater(joined, 5000)
        self.assertGreater(len(want), 1200)
        idle, _ = self.lines(path, "--process", "0")
        self.assertEqual({frames[0] for frames in idle}, {"Idle (0)"})
        self.assertEqual(sum(idle.values()) + sum(told.values()),
                         self.answer(path)["sampling"]["sampled"])

    def labels(self, path):
        """(tid, start): process and thread as lines have them; those with an id that others had, with
        their start."""
        tree = strict_json(run("tree", path, "--format", "json").stdout)
        pids = Counter(one["pid"] for one in tree["processes"])
        tids = Counter(one["tid"] for one in tree["threads"])
        first = units(tree["first_event"])

        def mark(count, start):
            if count == 1 or start is None:
                return ""
            return " since +{}.{:07}".format(*divmod(units(start) - first, 10**7))

        processes = {one["id"]: f"{one['image_name']} ({one['pid']})" + mark(pids[one["pid"]], one["start"])
                     for one in tree["processes"]}
        return {(one["tid"], one["start"]): (processes.get(one["process"]), f"thread {one['tid']}"
                                             + mark(tids[one["tid"]], one["start"]))
                for one in tree["threads"]}

    def test_two_lives_of_an_id_are_two(self):
        path = self.scenario("id-reuse")
        labels = self.labels(path)
        self.assertEqual(len(set(labels.values())), len(labels))
        self.assertGreater(sum("since" in thread for _, thread in labels.values()), 2)
        told, _ = self.lines(path)
        use = self.answer(path)
        want = Counter()
        for row in use["threads"]:
            if row["tid"]:
                want[labels[row["tid"], row["start"]]] += row["sampled"] or 0
        sums = Counter()
        for frames, time in told.items():
            sums[frames[:2]] += time
        self.assertEqual(sums, +want)

    def test_waits_add_up_to_the_schedule(self):
        reasons = 0
        for name in Simulated.NAMES:
            path = self.scenario(name)
            told, _ = self.lines(path, "--of", "waiting")
            sums, waits = Counter(), Counter()
            for frames, time in told.items():
                state = next(f for f in frames[2:] if f.startswith("["))
                sums[frames[:2], state.strip("[]").split(":")[0]] += time
                if state.startswith("[waiting: "):
                    waits[frames[:2], state[10:-1]] += time
            want, want_waits = Counter(), Counter()
            labels = self.labels(path)
            for row in strict_json(run("schedule", path, "--format", "json").stdout)["threads"]:
                if row["tid"] == 0:
                    continue
                who = labels[row["tid"], row["start"]]
                for state in "waiting", "ready", "created":
                    want[who, state] += row[state]
                want[who, "off the processor"] += row["off"]
                want[who, "swapped out"] += row["swapped"]
                for wait in row["waits"]:
                    want_waits[who, wait["reason"]] += wait["duration"]
            self.assertEqual(sums, +want, name)
            self.assertEqual(waits, +want_waits, name)
            reasons += len(waits)
        self.assertGreater(reasons, 30)

    def test_a_wait_has_the_stack_of_its_end_and_who_ended_it(self):
        """Stacks of the writer: a thread waits below its start address, and readies others there."""
        answers = strict_json(run("synthesize", "producer-consumer", "--format", "json", "--seed",
                                  3).stdout)
        path = self.scenario("producer-consumer")
        told, _ = self.lines(path, "--of", "waiting")
        wait, wake = ["0xfffff80001002400", "0xfffff80001001200"], "0xfffff80001003600"
        starts = {f"thread {e['fields']['TThreadId']}": e["fields"]["Win32StartAddr"]
                  for e in self.events(path) if e["name"] in ("Thread/Start", "Thread/DCStart")}
        whole = by_threads = 0
        for frames, time in told.items():
            at = next(i for i, f in enumerate(frames) if i > 1 and f.startswith("["))
            if frames[2:at] == (starts[frames[1]], *wait):
                whole += 1
            if len(frames) > at + 1 and frames[at + 1] != "[readied by an interrupt]":
                waker = "thread " + frames[at + 1].rstrip("]").rsplit(" ", 1)[1]
                self.assertIn(frames[at + 2:], [(starts[waker], wake),
                                                (starts[waker], *wait)])
                by_threads += 1
        self.assertGreater(whole, 0.8 * len(told))
        self.assertGreater(by_threads, 5)
        wakers = {(f"thread {t['tid']}") for t in answers["threads"] if t["wait"]}
        self.assertLessEqual({frames[1] for frames in told if "waiting" in str(frames)},
                             wakers | set(starts))
        one, _ = self.lines(path, "--of", "waiting", "--process", "prodcons*")
        self.assertEqual(one, Counter({f: t for f, t in told.items()
                                       if f[0].startswith("prodcons.exe")}))
        self.assertLess(len(one), len(told))

    def test_a_wait_that_a_disk_ended_says_so(self):
        """A reader of its own: a completion of the thread's request, then a DPC that makes it ready at once.
        In these runs threads wait as executives for nothing but the disk."""
        actions = Counter()
        for name in "disk-bursts", "producer-consumer":
            path = self.scenario(name)
            told, _ = self.lines(path, "--of", "waiting")
            got, executive = Counter(), Counter()
            for frames, time in told.items():
                request = next((f for f in frames if f.startswith("[disk: ")), None)
                if request:
                    got[frames[1], request] += time
                    at = frames.index(request)
                    self.assertTrue(frames[at - 1].startswith("[waiting: "), frames)
                if "[waiting: Executive]" in frames:
                    executive[frames[1], bool(request)] += time
            want, left, ended, readied = Counter(), {}, {}, {}
            for event in self.events(path):
                fields, time = event["fields"], event["timestamp"]
                if event["name"] in ("DiskIo/Read", "DiskIo/Write"):
                    ended[fields["IssuingThreadId"]] = (event["name"].split("/")[1].lower(), time, event["cpu"])
                elif event["name"] == "Thread/ReadyThread":
                    tid = fields["TThreadId"]
                    action, end, cpu = ended.get(tid, (None, None, None))
                    if tid in left and fields["Flag"] & 1 and action and cpu == event["cpu"] \
                            and left[tid] <= end and time - end <= 1000:
                        readied[tid] = action, time - left[tid]
                elif event["name"] == "Thread/CSwitch":
                    if fields["NewThreadId"] in readied:
                        action, wait = readied.pop(fields["NewThreadId"])
                        want[f"thread {fields['NewThreadId']}", f"[disk: {action}]"] += wait
                    left.pop(fields["NewThreadId"], None)
                    if fields["OldThreadState"] == 5:
                        left[fields["OldThreadId"]] = time
            graph = answer_of(run("graph", "wait-for", path, "--format", "json"), 0)
            tids = {one["id"]: one["tid"] for one in graph["threads"]}
            with self.subTest(name):
                self.assertEqual(got, want)
                self.assertEqual({(f"thread {tids[edge['thread']]}", f"[disk: {edge['action']}]"): edge["duration"]
                                  for edge in graph["requests"] if edge["by_interrupt"] == edge["count"]},
                                 dict(want))
                self.assertFalse([one for one in executive if not one[1]])
            actions += Counter(action for _, action in want)
        self.assertEqual(set(actions), {"[disk: read]", "[disk: write]"})

    def test_stacks_that_are_strange(self):
        told, errors = self.lines(self.made("stacks"), status=1)
        who = ("a:b\\x0ac d.exe (40)", "thread 44")
        deep = tuple(f"{0x5000 + i:#x}" for i in reversed(range(512)))
        self.assertEqual(told, {
            (*who, "0x1000", "0x2000", "x:y.sys+0x0", "x:y.sys+0x1"): 1000,
            (*who, "0x1000", "0x2000", "x:y.sys+0x2"): 1000,
            ("[DPC]", "x:y.sys+0x3"): 1000, ("[ISR]", "x:y.sys+0x3"): 1000,
            (*who, *deep): 1000, ("[unknown thread]", "x:y.sys+0x4"): 1000})
        self.assertIn("stacks-cut", errors)

    def test_more_paths_than_are_kept(self):
        told, errors = self.lines(self.made("paths"), status=1)
        self.assertEqual(sum(told.values()), self.answer(self.made("paths"))["sampling"]["sampled"])
        # Of 2^18 steps the root and the thread are two, each path has 251 of its own, and the first
        # sample has no time. One path is kept in part, and 155 not at all.
        self.assertEqual(Counter(frames[-1] == "[other]" for frames in told),
                         {False: 1043, True: 2})
        self.assertRegex(errors, "stacks-cut: 156 stacks")

    def test_a_trace_without_samples_or_switches_is_told(self):
        for stacks in "running", "waiting":
            _, errors = self.lines(self.made("drivers"), "--of", stacks, status=1)
            self.assertIn("no-match", errors)


class Made(Case):
    def findings(self, told):
        return [finding["code"] for finding in told["findings"]]

    def test_what_only_stacks_obey_is_refused_elsewhere(self):
        for words in (["--process", "x.exe"], ["--of", "waiting"]):
            for form in ("text", "json", "csv"):
                refused = run("cpu", self.made("drivers"), *words, "--format", form)
                self.assertEqual(refused.returncode, 2)
                self.assertEqual(refused.stdout, b"")
                self.assertIn(b"collapsed", refused.stderr)

    def test_a_routine_is_in_the_driver_that_had_its_address_then(self):
        told = self.answer(self.made("drivers"))
        rows = {(row["module"], row["dpcs"], row["dpc_time"], row["isrs"], row["isr_time"])
                for row in told["drivers"]}
        self.assertEqual(rows, {("\\old\\first.sys", 1, 100, 0, 0), (None, 1, 10, 0, 0),
                                ("\\new\\second.sys", 1, 70, 1, 30)})
        routines = {(row["kind"], row["function"]): (row["runs"], row["untimed"], row["inclusive"])
                    for row in told["routines"]}
        # One ends before it begins: it is counted, and has no time.
        self.assertEqual(routines, {("dpc", "first.sys+0x40"): (1, 0, 100),
                                    ("dpc", "0xfffff88001000040"): (1, 0, 10),
                                    ("isr", "second.sys+0x80"): (1, 0, 30),
                                    ("dpc", "second.sys+0x40"): (1, 1, 100)})
        self.assertEqual(told["processors"][0]["isr_time"], 30)

    def test_samples_by_what_is_known_of_them(self):
        told = self.answer(self.made("samples"))
        # The first sample of each processor: 900, told only later, and 500, told before.
        self.assertEqual(told["sampling"],
                         {"interval": 900, "samples": 6, "sampled": 3600 + 500, "sampled_dpc": 400,
                          "sampled_isr": 1200, "low_power": 1, "threadless": 1, "unweighted": 0})
        self.assertEqual(sampled(told["unknown_process"]), (5, 3600, 400, 1200))
        self.assertEqual({row["tid"]: sampled(row) for row in told["threads"]},
                         {8: (4, 2700, 400, 1200), 0: (1, 500, 0, 0)})
        self.assertEqual([row["sampled_idle"] for row in told["processors"]], [0, 500])
        self.assertNotIn("record-unreadable", self.findings(told))

    def test_the_interval_is_that_in_force_also_when_it_was_set_before_the_part_that_is_read(self):
        path = self.scenario("server")
        events = [e for e in strict_ndjson(run("decode", path).stdout) if e["type"] == "event"]
        interval = next(e["fields"]["NewInterval"] for e in events
                        if e["name"] in ("PerfInfo/CollectionStart", "PerfInfo/SetInterval"))
        part = events[len(events) // 2:]
        part = [e for e in part if e["time"] > part[0]["time"]]
        weights, last = 0, {}
        for event in part:
            if event["name"] == "PerfInfo/SampleProf":
                time = units(event["time"])
                weights += time - last.get(event["cpu"], time - interval)
                last[event["cpu"]] = time
        self.assertGreater(len(last), 1)
        told = self.answer(path, "--from", part[0]["time"])["sampling"]
        self.assertEqual((told["interval"], told["sampled"], told["unweighted"]), (interval, weights, 0))
        lines = run("cpu", path, "--from", part[0]["time"], "--format", "collapsed").stdout.decode()
        whole = self.answer(path, "--from", part[0]["time"])
        idle = sum(row["sampled_idle"] for row in whole["processors"])
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines.splitlines()),
                         100 * (weights - idle))

    def test_first_samples_without_an_interval_have_no_time(self):
        told = self.answer(self.made("no-interval"))
        self.assertEqual(told["sampling"]["unweighted"], 1)
        self.assertEqual((told["sampling"]["samples"], told["sampling"]["sampled"]), (2, 1000))
        self.assertIsNone(told["sampling"]["interval"])
        self.assertEqual(self.findings(told), ["sample-interval"])

    def test_no_sample_stands_for_a_time_that_was_lost(self):
        told = self.answer(self.made("gap"), status=1)
        self.assertEqual({row["tid"]: row["sampled"] for row in told["threads"]},
                         {8: 2000, 12: 2000})
        self.assertEqual(told["lost_stretches"], 1)

    def test_a_missing_buffer_can_be_of_any_processor(self):
        told = self.answer(self.made("gap-of-one"), status=1)
        self.assertEqual({row["tid"]: row["sampled"] for row in told["threads"]},
                         {8: 4000, 12: 2000})

    def test_more_functions_than_are_kept_are_others(self):
        told = self.answer(self.made("functions"), status=1)
        self.assertEqual(len(told["functions"]), 0x20000 + 1)
        self.assertEqual(sum(row["samples"] for row in told["functions"]),
                         told["sampling"]["samples"])
        other = next(row for row in told["functions"] if row["function"] == "[other]")
        self.assertEqual(other["samples"], told["sampling"]["samples"] - 0x20000)
        self.assertIn("function-limit", self.findings(told))

    def test_a_trace_that_tells_nothing_is_told(self):
        told = self.answer(self.made("cut"), status=1)
        self.assertEqual(self.findings(told), ["record-unreadable", "no-match"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
