"""What `trace top` puts on its page: every figure is that of the command that tells more, longest waits are
those of the turns, and what the simulator says of its runs.

usage: trace_top.py COLDTRACE SOURCES SHARED MAKE_SCENARIO_ETL MAKE_TOP_TRACES [arguments of unittest]
"""
import functools
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
import json_schema
from case import existing
from cli.trace.analysis.answers import answer_of, duration, runner, size
from cli.trace.etl_writer import EtlWriter, utf16z
from cli.trace.analysis.scenario_reading import ticks_of
from strict import strict_csv, strict_json

COLDTRACE, SOURCES, SHARED, MAKE_SCENARIO_ETL, MAKE_TOP_TRACES = (
    Path(a).resolve() for a in sys.argv[1:6])
SAMPLES = SHARED / "samples" / "etl"
REAL = "pv_net.4.5.2.x64.etl", "dp_vsgc.etl"
SECTIONS = "processor", "disk", "file_operations", "network", "waits", "services"


run = runner(COLDTRACE)


@functools.cache  # pages of several lengths are compared with the same answers
def answer(*arguments):
    return answer_of(run("trace", *arguments, "--format", "json"), 0, 1)


def who(row):
    return tuple(row[name] for name in ("pid", "process", "start"))


@functools.cache
def scenarios():
    text = run("trace", "synthesize", "--help").stdout.decode()
    return re.findall(r"^ {30}([a-z0-9-]+): ", text, re.M)


def setUpModule():
    Case.folder = Path(tempfile.mkdtemp())
    unittest.addModuleCleanup(shutil.rmtree, Case.folder)
    subprocess.run([MAKE_TOP_TRACES, Case.folder], check=True)


class Case(unittest.TestCase):
    folder = None  # of traces that all tests share

    def made_runs(self):
        """Each made-up run in both formats, with what is true of it."""
        for name in scenarios():
            path = self.folder / f"{name}.ctrace"
            etl = path.with_suffix(".etl")
            if not etl.exists():
                assert run("trace", "synthesize", name, "--seed", 3, "-o", path).returncode == 0
                subprocess.run([MAKE_SCENARIO_ETL, name, "3", "0", "4", etl, "100"], check=True)
            for one in path, etl:
                yield name, one

    def traces(self):
        for _, path in self.made_runs():
            yield path
        yield from existing(self, (SAMPLES / name for name in REAL))

    def need_samples(self):
        for name in REAL:
            if not (SAMPLES / name).exists():
                self.skipTest("the sample traces are not here")
            yield SAMPLES / name


class Figures(Case):
    """Against the answers of the single commands."""

    def rows(self, told, name, expected, key):
        """The first rows of a table; of rows that weigh the same any can come first."""
        table, more = told[name], told["more_" + name]
        self.assertEqual(more, len(expected) - len(table), name)
        weights = sorted(map(key, expected), reverse=True)
        self.assertEqual([key(row) for row in table], weights[:len(table)], name)
        count = lambda rows: Counter(json.dumps(row, sort_keys=True) for row in rows)
        self.assertFalse(count(table) - count(expected), name)

    def compare(self, path, top, *options):
        page = answer("top", path, "--top", top, *options)
        alone = {name: answer(name, path, *options)
                 for name in ("cpu", "schedule", "io", "services", "deadlocks", "tree", "idle")}
        for one in alone.values():
            for name in "format", "first_event", "last_event", "events", "lost_stretches":
                self.assertEqual(page[name], one[name], name)
        self.assertLessEqual(page["records"], page["events"])
        self.assertEqual(page["elapsed"], alone["schedule"]["elapsed"])
        self.assertEqual(page["population"], {"processes": len(alone["tree"]["processes"]),
                                              "threads": len(alone["tree"]["threads"])})
        self.machine(page, answer("info", path)["session"])
        self.processor(page["processor"], alone["cpu"], alone["schedule"], alone["idle"], top)
        self.disk(page["disk"], alone["io"]["disk"], alone["idle"])
        self.files(page["file_operations"], alone["io"]["file_operations"])
        self.network(page["network"], alone["io"]["network"])
        self.deadlocks(page["waits"], alone["deadlocks"], alone["schedule"])
        self.services(page["services"], alone["services"], top)
        self.findings(page, alone)
        self.assertEqual([one["section"] for one in page["absent"]],
                         [name for name in SECTIONS if page[name] is None])
        for name in SECTIONS:
            for table, rows in (page[name] or {}).items():
                if isinstance(rows, list) and table != "commands":
                    self.assertLessEqual(len(rows), top * (2 if table == "slowest" else 1))
                    self.assertTrue(len(rows) >= min(top, 1000) or page[name]["more_" + table] == 0)
        return page

    def machine(self, page, session):
        missing = "buffers_missing" if "buffers_missing" in session else "buffers_lost"
        self.assertEqual(list(page["machine"].values()),
                         [session[name] for name in ("windows_version", "processors", "pointer_size")])
        for name, counted in ("events_lost", "events_lost"), ("buffers_lost", missing):
            self.assertEqual([page[name], page[f"{name}_at_least"]], [session[counted]] * 2)

    def processor(self, told, cpu, schedule, idle, top):
        there = (schedule["counts"]["switches"], cpu["sampling"]["samples"], len(cpu["routines"]))
        self.assertEqual(told is not None, any(there))
        if told is None:
            return
        count = len(cpu["processors"])
        self.assertEqual(told["processors"], count)
        devices = [one for one in idle["devices"] if one["device"] == "processor"]
        for name in "busy", "idle", "unknown":
            if not there[0]:
                self.assertIsNone(told[name])
                continue
            self.assertAlmostEqual(told[name], sum(one[name] for one in schedule["processors"])
                                   + (name == "unknown") * schedule["elapsed"] * (count - len(schedule["processors"])), delta=count)
            if len(devices) == len(schedule["processors"]):
                self.assertAlmostEqual(told[name], sum(one[name] for one in devices), delta=count)
        self.assertEqual(told["samples"], there[1])
        if there[1]:
            self.assertEqual(told["sampled"], cpu["sampling"]["sampled"])
            self.assertAlmostEqual(told["sampled_idle"],
                                   sum(one["sampled_idle"] for one in cpu["processors"]), delta=count)
        else:
            self.assertEqual((told["sampled"], told["sampled_idle"]), (None, None))
        expected, weight = self.processes(cpu)
        self.rows(told, "processes", expected, lambda row: row[weight])
        self.assertEqual(told["drivers"], cpu["drivers"][:top])
        self.assertEqual(told["more_drivers"], max(0, len(cpu["drivers"]) - top))

    @staticmethod
    def processes(cpu):
        """What processes used without their idle threads, all of which have the process of id 0."""
        weight = "sampled" if cpu["switches"]["count"] == 0 else "running"
        expected = []
        rows = [*cpu["processes"],
                {"pid": None, "process": None, "start": None, **cpu["unknown_process"]}]
        for row in rows:
            idle = [one for one in cpu["threads"]
                    if one["idle_cpu"] is not None and one["pid"] == row["pid"]]
            if idle and row["pid"] is not None:
                assert all(one["idle_cpu"] is not None for one in cpu["threads"]
                           if one["pid"] == row["pid"])
                continue
            times = {name: None if row[name] is None else
                     row[name] - sum(one[name] for one in idle) for name in ("running", "sampled", "turns", "samples")}
            if cpu["sampling"]["samples"] == 0:
                times["sampled"] = None
            if times["running"] or times["sampled"]:
                expected.append({**dict(zip(("pid", "process", "start"), who(row))), **times})
        return expected, weight

    def disk(self, told, disk, idle):
        self.assertEqual(told is not None, bool(disk["counts"]["requests"] or disk["open"]))
        if told is None:
            return
        sums = lambda row: {"requests": sum(row[n] for n in ("reads", "writes", "flushes", "others")),
                            **{n: row[n] for n in ("bytes_read", "bytes_written", "response")}}
        self.assertEqual(told["requests"], disk["counts"]["requests"])
        for name in "bytes_read", "bytes_written":
            self.assertEqual(told[name], sum(one[name] for one in disk["disks"]))
        self.assertEqual(told["open"], len(disk["open"]))
        busiest = max((one["busy"] for one in disk["disks"]), default=None)
        self.assertEqual(told["busiest"] and told["busiest"]["busy"], busiest)
        if busiest is not None:
            self.assertIn((told["busiest"]["disk"], busiest),
                          [(one["disk"], one["busy"]) for one in disk["disks"]])
            rest = [one["busy"] for one in idle["devices"]
                    if (one["device"], one["number"]) == ("disk", told["busiest"]["disk"])]
            self.assertEqual(rest, [busiest] * len(rest))
        key = lambda row: row["response"]
        self.rows(told, "processes", [{**dict(zip(("pid", "process", "start"), who(row))), **sums(row)}
                                      for row in disk["processes"]], key)
        self.rows(told, "files", [{"file": row["file"], **sums(row)} for row in disk["files"]], key)

    def files(self, told, files):
        self.assertEqual(told is not None, bool(files["processes"]))
        if told is None:
            return
        names = "operations", "bytes_read", "bytes_written", "duration"
        for name in names[:-1]:
            self.assertEqual(told[name], sum(one[name] for one in files["actions"]))
        self.assertAlmostEqual(told["duration"], sum(one["duration"] for one in files["actions"]),
                               delta=len(files["actions"]))
        self.assertEqual(told["open"], files["counts"]["open"])
        key = lambda row: row["duration"]
        of = lambda row, *more: {n: row[n] for n in (*more, *names)}
        self.rows(told, "processes", [of(row, "pid", "process", "start") for row in files["processes"]],
                  key)
        self.rows(told, "files", [of(row, "file") for row in files["files"]], key)

    def network(self, told, network):
        self.assertEqual(told is not None, bool(network["processes"]))
        if told is None:
            return
        self.assertEqual(told["open"], network["counts"]["open"])
        self.rows(told, "processes",
                  [{name: value for name, value in row.items() if name != "repeats"}
                   for row in network["processes"]],
                  lambda row: row["bytes_sent"] // 2 + row["bytes_received"] // 2)

    def deadlocks(self, told, deadlocks, schedule):
        self.assertEqual(told is not None,
                         bool(schedule["counts"]["switches"] or deadlocks["names_objects"]))
        if told is None:
            return
        self.assertEqual(told["deadlocks"],
                         {"names_objects": deadlocks["names_objects"],
                          "count": len(deadlocks["deadlocks"]),
                          "lasting": sum(one["end"] is None for one in deadlocks["deadlocks"]),
                          "inversions": len(deadlocks["inversions"]),
                          "suspects": len(deadlocks["suspects"])})

    def services(self, told, services, top):
        self.assertEqual(told is not None, bool(services["services"]))
        if told is None:
            return
        self.assertEqual(told["count"], len(services["services"]))
        names = "kind", "number", "name", "calls", "inclusive", "longest"
        rows = [{name: one[name] for name in names} for one in services["services"]
                if one["longest"] is not None]
        table, weights = told["slowest"], [one["longest"] for one in told["slowest"]]
        self.assertEqual(weights, sorted(weights, reverse=True))
        self.assertEqual(told["more_slowest"], len(rows) - len(table))
        count = lambda rows: Counter(json.dumps(row, sort_keys=True) for row in rows)
        self.assertFalse(count(table) - count(rows))
        for name in "longest", "inclusive":
            self.assertEqual(sorted((row[name] for row in table), reverse=True)[:top],
                             sorted((row[name] for row in rows), reverse=True)[:top])
        self.assertLessEqual(len(table), min(2 * top, len(rows)))

    def findings(self, page, alone):
        found = {one["code"]: one for one in page["findings"]}
        expected = {one["code"]: one for name in ("cpu", "schedule", "io", "services", "deadlocks")
                    for one in alone[name]["findings"]}
        if any(page[name] for name in SECTIONS) or any(page["population"].values()):
            expected.pop("no-match", None)
        self.assertEqual(set(found), set(expected))
        for code, one in found.items():
            if code not in ("no-match", "record-unreadable"):
                self.assertEqual(one, expected[code])

    def test_every_figure_is_that_of_the_command_that_tells_more(self):
        there, absent = Counter(), Counter()
        for path in self.traces():
            with self.subTest(trace=path.name):
                for top in 3, 10**6:
                    page = self.compare(path, top)
                    for name in SECTIONS:
                        (absent if page[name] is None else there)[name, path.suffix] += 1
        for name in SECTIONS:
            self.assertGreater(there[name, ".etl"] + there[name, ".ctrace"], 0, name)
            self.assertGreater(absent[name, ".etl"] + absent[name, ".ctrace"], 0, name)

    def test_figures_of_real_traces(self):
        pages = [self.compare(path, 5) for path in self.need_samples()]
        self.assertEqual(pages[0]["disk"]["requests"], 1231)
        self.assertEqual(pages[0]["processor"]["samples"], 79528)

    def test_a_part_of_the_time(self):
        for _, path in self.made_runs():
            with self.subTest(trace=path.name):
                if path.stem in ("server", "boot"):
                    page = answer("top", path)
                    begin = ticks_of(page["first_event"])
                    middle = answer("schedule", path)["threads"][0]["at_end"]["since"]
                    self.assertLess(begin, ticks_of(middle))
                    self.compare(path, 4, "--to", middle)


class Waits(Case):
    @staticmethod
    def expected(rows):
        """Waits of the rows of `trace schedule`, which have one for each turn: to the time at which the
        thread was made ready, or where the row does not tell that to the turn itself."""
        units = lambda text: int(Decimal(text) * 10**7)
        waits = []
        for row in rows:
            if row["New Thread Id"] == "0" or not row["Last Switch-Out Time (s)"]:
                continue
            since = units(row["Last Switch-Out Time (s)"])
            thread = row["New Thread Id"], row["New Process Id"]
            reason = row["New Prev Wait Reason"] or None
            if row["Waits (us)"]:
                if Decimal(row["Waits (us)"]) == 0:  # also of one that stayed ready
                    continue
                until = units(row["Ready Time (s)"])
                waker = row["Readying Thread Id"], row["Readying Process Id"]
                told = "waiting", waker if waker[0] else None, row["Readied In DPC"] == "1"
            elif row["Time Since Last (us)"] and row["New Prev State"] not in (
                    "Transition", "ProcessSwapped"):
                until, told = units(row["Switch-In Time (s)"]), ("off", None, False)
            else:
                continue
            if until > since:
                waits.append((until - since, since, thread, reason, *told))
        return sorted(waits, key=lambda wait: (-wait[0], wait[1]))

    @staticmethod
    def told(page):
        first = ticks_of(page["first_event"])
        text = lambda thread: thread and (str(thread["tid"]),
                                          "" if thread["pid"] is None else str(thread["pid"]))
        return [(wait["duration"], ticks_of(wait["since"]) - first, text(wait["thread"]), wait["reason"],
                 wait["state"], text(wait["waker"]), wait["interrupt"])
                for wait in (page["waits"] or {"longest": ()})["longest"]]

    def test_longest_waits_are_those_of_the_turns(self):
        states, wakers = Counter(), Counter()
        for path in self.traces():
            with self.subTest(trace=path.name):
                expected = self.expected(strict_csv(run("trace", "schedule", path, "--format",
                                                        "csv").stdout))
                for top in 1, 7, 1000, 10**6:
                    page = answer("top", path, "--top", top)
                    told = self.told(page)
                    self.assertEqual(len(told), min(len(expected), top, 1000))
                    self.assertEqual(page["waits"]["more_longest"] if page["waits"] else 0,
                                     len(expected) - len(told))
                    # Waits that begin and last the same are told in the order of their threads' numbers.
                    cut = expected[len(told) - 1][:2] if told else None
                    self.assertEqual([wait[:2] for wait in told],
                                     [wait[:2] for wait in expected[:len(told)]])
                    self.assertLessEqual(Counter(wait for wait in told if wait[:2] != cut),
                                         Counter(expected))
                    self.assertFalse(Counter(told) - Counter(expected))
                    states.update((path.suffix, wait[4]) for wait in told)
                    wakers.update((wait[5] is not None, wait[6]) for wait in told)
        for suffix in ".etl", ".ctrace":
            self.assertGreater(states[suffix, "waiting"], 500)
        self.assertGreater(states[".ctrace", "off"], 100)
        self.assertGreater(wakers[True, False], 500)
        self.assertGreater(wakers[False, True], 100)

    def test_they_add_up_to_what_the_simulator_has_counted(self):
        """Waits of threads that began and ended in the run, by thread and reason."""
        compared = Counter()
        for name, path in self.made_runs():
            with self.subTest(trace=path.name):
                if name in ("wrapped", "losses"):
                    continue
                answers = strict_json(run("trace", "synthesize", name, "--format", "json", "--seed",
                                          3).stdout)
                page = answer("top", path, "--top", 1000)
                if not page["waits"] or page["waits"]["more_longest"] or any(
                        wait["state"] == "off" for wait in page["waits"]["longest"]):
                    continue
                sums = defaultdict(Counter)
                for wait in page["waits"]["longest"]:
                    sums[wait["thread"]["tid"]][wait["reason"]] += wait["duration"]
                tids = Counter(thread["tid"] for thread in answers["threads"])
                for thread in answers["threads"]:
                    if None in (thread["created"], thread["ended"]) or tids[thread["tid"]] > 1:
                        continue
                    self.assertEqual(sorted(sums[thread["tid"]].values()),
                                     sorted(wait["duration"] for wait in thread["waits"] if wait["duration"]))
                    compared[path.suffix] += len(thread["waits"])
        self.assertGreater(compared[".etl"], 40)
        self.assertGreater(compared[".ctrace"], 10)

    def test_a_wait_over_a_loss_is_nobodys(self):
        """All waits that are told of a run with losses are waits of the run: none is longer."""
        answers = strict_json(run("trace", "synthesize", "losses", "--format", "json", "--seed",
                                  3).stdout)
        for name, path in self.made_runs():
            with self.subTest(trace=path.name):
                if name != "losses":
                    continue
                page = answer("top", path, "--top", 1000)
                self.assertGreater(page["lost_stretches"], 0)
                sums = Counter()
                for wait in page["waits"]["longest"]:
                    sums[wait["thread"]["tid"]] += wait["duration"]
                for thread in answers["threads"]:
                    self.assertLessEqual(sums[thread["tid"]], thread["wait"] + thread["ready"])

    def test_the_event_of_a_wait_ends_it(self):
        for name, path in self.made_runs():
            with self.subTest(trace=path.name):
                if name != "producer-consumer":
                    continue
                lines = [json.loads(line) for line in
                         run("trace", "decode", path, "--header-fields").stdout.splitlines()]
                events = {(one["header"]["buffer"], one["header"]["offset"]): one for one in lines
                          if one["type"] == "event"}
                for wait in answer("top", path, "--top", 20)["waits"]["longest"]:
                    event = events[wait["event"]["buffer"], wait["event"]["offset"]]
                    self.assertEqual(ticks_of(event["time"]) - ticks_of(wait["since"]), wait["duration"])


class Text(Case):
    def assert_line(self, lines, *cells):
        """Some line has these, in their order."""
        def has(line):
            at = 0
            for cell in (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells):
                at = line.find(cell, at)
                if at < 0:
                    return False
                at += len(cell)
            return True
        self.assertTrue(any(map(has, lines)), (cells, lines))

    def name_of(self, row):
        if row["pid"] is None:
            return "unknown" if row["process"] is None else row["process"]
        return f"{row['process'] or 'process'} ({row['pid']})"[-40:]

    def test_what_a_lost_header_counted_is_not_said_to_be_0(self):
        """Buffers with the flags of WMI_BUFFER_HEADER that say that events (2) or buffers (4) before them were lost."""
        log = EtlWriter()
        buffers = []
        for number in range(4):
            log.switch(0, 100 * number, 0, 1000, state=2)
            log.switch(0, 100 * number + 50, 1000, 0)
            buffers.append(log.take(0))
        content = bytearray(log.build(buffers))
        size = len(content) // 5
        for number, flags in (1, 2), (3, 2), (4, 2):
            struct.pack_into("<H", content, number * size + 0x34, 3 | flags)
        counts = {"events": 7, "buffers": 5}  # EventsLost and BuffersLost of TRACE_LOGFILE_HEADER
        for number, at in zip(counts.values(), (48, 276)):
            struct.pack_into("<I", content, 72 + 32 + at, number)
        path = self.folder / "header.etl"
        for is_lost in False, True:
            if is_lost:
                struct.pack_into("<H", content, 74, 0)  # the marker of the header event
            path.write_bytes(content)
            for command in ["top"], ["check", "--expect", "exists cpu"]:
                told = answer(*command, path)
                self.assertEqual([told[f"{name}_lost"] for name in counts], [None, None] if is_lost else [*counts.values()])
                self.assertEqual([told[f"{name}_lost_at_least"] for name in counts], [3, 0] if is_lost else [*counts.values()])
            answer.cache_clear()  # the file has other bytes
        top, check = (run("trace", *command, path).stdout.decode() for command in (["top"], ["check", "--expect", "exists cpu"]))
        self.assert_line(top.splitlines(), "Lost          at least 3 events, an unknown number of buffers, ")
        self.assertIn("events lost: unknown, at least 3, buffers lost: unknown\n", check)
        run("report", path, "-o", self.folder / "header.html")
        self.assertIn("By the trace's own count, at least 3 events and an unknown number of buffers are lost",
                      (self.folder / "header.html").read_text())

    def test_text_has_the_facts_of_json(self):
        for path in self.traces():
            with self.subTest(trace=path.name):
                page = answer("top", path)
                lines = run("trace", "top", path, "--top", 4).stdout.decode().splitlines()
                self.assert_line(lines, "Trace", page["format"], page["first_event"], page["last_event"],
                                 duration(page["elapsed"]))
                machine = page["machine"]
                self.assert_line(lines, "Machine", machine["windows_version"], machine["processors"],
                                 machine["pointer_size"] * 8)
                self.assert_line(lines, "Events", page["events"], page["records"])
                self.assert_line(lines, "Lost", page["events_lost"], page["buffers_lost"],
                                 page["lost_stretches"])
                self.assert_line(lines, "Population", page["population"]["processes"],
                                 page["population"]["threads"])
                for name in SECTIONS:
                    if page[name] is not None:
                        getattr(self, "check_" + name)(lines, page[name])
                        self.assert_line(lines, "More ", "coldtrace trace tree",
                                         *(", " + command.removeprefix("trace ")
                                           for command in page[name]["commands"]), " FILE")
                        for key, value in page[name].items():
                            if key.startswith("more_") and value:
                                self.assert_line(lines, f" ({value} more)")
                for one in page["absent"]:
                    self.assert_line(lines, "  ", ": ", ", ".join(one["needs"]))
                findings = sorted(page["findings"], key=lambda one: one["severity"] != "warning")
                for one in findings[:3]:
                    self.assert_line(lines, one["severity"], f"{one['count']:,}x", one["code"])
                if len(findings) > 3:
                    self.assert_line(lines, f"({len(findings) - 3} more)")

    def check_processor(self, lines, told):
        maybe = lambda units: "" if units is None else duration(units)
        self.assert_line(lines, "Processor", told["processors"])
        if told["busy"] is not None:
            whole = told["busy"] + told["idle"] + told["unknown"]
            self.assert_line(lines, *(f"{name} {100 * float(told[name]) / max(whole, 1):.1f} %"
                                      for name in ("busy", "idle", "unknown") if whole))
        if told["samples"]:
            self.assert_line(lines, "Samples", told["samples"], duration(told["sampled"]))
        for row in told["processes"]:
            count = lambda name, of: "" if row[of] is None else f"{row[name]:,}"
            self.assert_line(lines, maybe(row["running"]), count("turns", "running"), maybe(row["sampled"]),
                             count("samples", "sampled"), self.name_of(row))
        for row in told["drivers"]:
            self.assert_line(lines, duration(row["dpc_time"]), duration(row["isr_time"]),
                             row["dpcs"] + row["isrs"], (row["module"] or "unknown")[-40:])

    def check_disk(self, lines, told):
        self.assert_line(lines, "Disk", told["requests"], size(told["bytes_read"]), size(told["bytes_written"]),
                         told["open"])
        if told["busiest"]:
            self.assert_line(lines, "Disk", f"disk {told['busiest']['disk']} busy",
                             duration(told["busiest"]["busy"]))
        for row in told["processes"] + told["files"]:
            self.assert_line(lines, duration(row["response"]), row["requests"], size(row["bytes_read"]),
                             size(row["bytes_written"]), (row["file"] or "-")[-30:] if "file" in row
                             else self.name_of(row))

    def check_file_operations(self, lines, told):
        self.assert_line(lines, "Files", told["operations"], size(told["bytes_read"]),
                         size(told["bytes_written"]), told["open"], duration(told["duration"]))
        for row in told["processes"] + told["files"]:
            self.assert_line(lines, duration(row["duration"]), row["operations"], size(row["bytes_read"]),
                             size(row["bytes_written"]), (row["file"] or "-")[-30:] if "file" in row
                             else self.name_of(row))

    def check_network(self, lines, told):
        self.assert_line(lines, "Network", len(told["processes"]) + told["more_processes"],
                         told["open"])
        for row in told["processes"]:
            self.assert_line(lines, row["sends"], size(row["bytes_sent"]), row["receives"],
                             size(row["bytes_received"]), size(row["bytes_repeated"]), self.name_of(row))

    def check_waits(self, lines, told):
        dead = told["deadlocks"]
        if dead["names_objects"]:
            self.assert_line(lines, "Waits", dead["count"], dead["lasting"], dead["inversions"])
        else:
            self.assert_line(lines, "Waits", dead["suspects"])
        for row in told["longest"]:
            reason = (row["reason"] or "waiting") if row["state"] == "waiting" else "off"
            self.assert_line(lines, duration(row["duration"]), reason, f" {row['thread']['tid']}",
                             f" {row['waker']['tid']}" if row["waker"]
                             else "an interrupt" if row["interrupt"] else " -")

    def check_services(self, lines, told):
        self.assert_line(lines, "Services", told["count"])
        for row in told["slowest"]:
            self.assert_line(lines, duration(row["longest"]), duration(row["inclusive"]),
                             row["calls"], row["name"] or "")

    def full_trace(self):
        """Something of everything there is, with more rows than a page has lines."""
        log = EtlWriter()
        routine = 0xFFFFF80000000000
        for i in range(12):
            pid, tid, time = 100 + 4 * i, 1000 + 4 * i, 10000 * i
            log.process(0, time, pid, f"process-{i}.exe")
            log.thread(0, time, pid, tid)
            log.system(0, 0x1403, 2, time, struct.pack("<QQIIIIQIIII", routine + i * 0x10000, 0x10000, 4, 0, 0,
                                                       0, 0, 0, 0, 0, 0) + utf16z(f"\\driver-{i}.sys"))
            log.switch(0, time + 100, 0, tid, state=2)
            log.perfinfo(0, 0x0F2E, 2, time + 150, struct.pack("<QIHH", 0x1000, tid, 1, 0))
            log.system(0, 0x0443, 3, time + 200, struct.pack("<QQQQIII4x", 0, tid, 0x100 + i, 0x200 + i, tid,
                                                             512, 0), tid, pid)
            log.system(0, 0x044C, 3, time + 300, struct.pack("<QQI4x", tid, 512, 0), tid, pid)
            log.system(0, 0x010A, 3, time + 400, struct.pack("<IIIIQQQQI4x", 0, 0, 4096, 0, 0, 0x100 + i,
                                                             tid, 50, tid), tid, pid)
            log.system(0, 0x060A, 2, time + 500, struct.pack("<IIIIHHIIIQ", pid, 100, 1, 2, 3, 4, 0, 0, 0, 5))
            log.dpc(0, time + 510, time + 540, routine + i * 0x10000 + 8)
            log.call(0, time + 600, routine + i * 0x10000 + 64)
            log.call_return(0, time + 700)
            log.switch(0, time + 800, tid, 0)
            log.ready(0, time + 2000, tid, in_dpc=1)
            log.switch(0, time + 2100, 0, tid, state=2)
            log.switch(0, time + 2200, tid, 0)
        log.switch(0, 200000, 4, 0)                    # nobody had gone to 4
        log.call_return(0, 200100)                     # of nobody
        log.perfinfo(0, 0x0524, 4, 200200, b"\0" * 4)  # too short
        path = self.folder / "full.etl"
        path.write_bytes(log.build())
        return path

    def test_it_is_one_page_also_when_there_is_something_of_everything(self):
        path = self.full_trace()
        page = answer("top", path)
        self.assertEqual(page["absent"], [])
        self.assertGreater(len(page["findings"]), 3)
        lines = run("trace", "top", path).stdout.decode().splitlines()
        self.assertLessEqual(len(lines), 50)
        for title in "Processor", "Disk", "Files", "Network", "Waits", "Services":
            self.assertTrue(any(line.startswith(title) for line in lines), title)
        for name in "process-0.exe", "process-1.exe":
            self.assertGreaterEqual(sum(name in line for line in lines), 2)

    def test_it_is_one_page(self):
        for path in self.traces():
            with self.subTest(trace=path.name):
                lines = run("trace", "top", path).stdout.decode().splitlines()
                self.assertLessEqual(len(lines), 50)
                # One more row would not fit, or there is none.
                rows = next(n for n in range(10, 0, -1) if
                            run("trace", "top", path, "--top", n).stdout.decode().splitlines() == lines)
                if rows < 10:
                    self.assertGreater(len(run("trace", "top", path, "--top", rows + 1)
                                           .stdout.splitlines()), 50)
                for line in lines:
                    self.assertLessEqual(len(line), 100)
                    self.assertEqual(line, line.rstrip())

    def test_the_commands_that_it_names_are_there(self):
        commands = set()
        for _, path in self.made_runs():
            with self.subTest(trace=path.name):
                page = answer("top", path)
                commands |= {command for name in SECTIONS for command in (page[name] or {"commands": ()})
                             ["commands"]}
        self.assertGreater(len(commands), 4)
        for command in commands:
            self.assertEqual(run(*command.split(), "--help").returncode, 0, command)

    def test_hostile_names_are_escaped(self):
        path = self.folder / "hostile.etl"
        done = run("trace", "top", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.decode()
        for character in "\x1b\x07\u202e":
            self.assertNotIn(character, text)
        self.assertGreaterEqual(text.count(r"a\x1b[31m"), 2)
        self.assertIn(r"\x0ab\x07.exe (40)", text)
        page = answer("top", path)
        self.assertEqual(page["file_operations"]["files"][0]["duration"], 20)
        self.assertEqual(len(page["file_operations"]["files"][0]["file"]), 202 + 14)
        self.assertTrue(all(len(line) <= 100 for line in text.splitlines()))
        wait, = page["waits"]["longest"]
        self.assertEqual((wait["thread"]["tid"], wait["waker"]["tid"], wait["duration"]), (44, 48, 200))
        self.assertEqual(page["waits"]["more_longest"], 0)


class Contract(Case):
    def test_follows_its_schema(self):
        schema = json_schema.of(
            json.loads((SOURCES / "docs/schema/trace-top.schema.json").read_text()))
        for path in [*self.traces(), *(self.folder / name for name in
                                       ("empty.etl", "other.etl", "hostile.etl"))]:
            for options in [], ["--int64", "string"]:
                schema.validate(answer("top", path, *options))

    def test_a_trace_without_anything_to_tell_is_a_page_and_a_warning(self):
        for name in "empty.etl", "other.etl":
            path = self.folder / name
            done = run("trace", "top", path)
            self.assertEqual(done.returncode, 1)
            text = done.stdout.decode()
            self.assertIn("no-match", text)
            self.assertIn("Windows ", text)
            for flag in "CSWITCH", "DISK_IO", "FILE_IO", "NETWORK_TCPIP", "SYSTEMCALL":
                self.assertIn(flag, text)
            page = answer("top", path)
            self.assertEqual([one["section"] for one in page["absent"]], list(SECTIONS))
            self.assertEqual([one["code"] for one in page["findings"]], ["no-match"])
        self.assertEqual(page["events"], answer("schedule", path)["events"])

    def test_a_trace_of_processes_alone_is_told_as_its_report_is(self):
        path = self.folder / "processes.etl"
        log = EtlWriter(1)
        log.process(0, 5, 40, "a.exe", hook=0x0301)
        path.write_bytes(log.build())
        page = answer("top", path)
        self.assertGreater(page["population"]["processes"], 0)
        self.assertEqual([one["section"] for one in page["absent"]], list(SECTIONS))
        for name in path, *self.need_samples():
            status = {run("trace", "top", name).returncode, run("trace", "tree", name).returncode,
                      run("report", name, "-o", self.folder / "page.html").returncode}
            self.assertEqual(status, {0}, name)

    def test_a_time_without_events_is_told(self):
        _, path = next(self.made_runs())
        done = run("trace", "top", path, "--from", "2100-01-01T00:00:00Z")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no event of the trace is between --from and --to", done.stdout)
        self.assertIn(b"sets of events would log it", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
