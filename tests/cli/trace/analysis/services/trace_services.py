"""Pairs of events, periods, profiles and routines of `trace services`, against a reader of the events
that is written here.

usage: trace_services.py COLDTRACE SOURCES SHARED MAKE_SCENARIO_ETL MAKE_SERVICE_TRACES
           [arguments of unittest]
"""
import fnmatch
import functools
import itertools
import csv
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
from cli.trace.analysis.answers import answer_of, runner
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SOURCES, SHARED, MAKE_SCENARIO_ETL, MAKE_SERVICE_TRACES = (
    Path(a).resolve() for a in sys.argv[1:6])
SAMPLE = SHARED / "samples/etl/pv_net.4.5.2.x64.etl"
SUMS = ("calls", "open", "unmatched", "inclusive", "exclusive")


run = runner(COLDTRACE, "trace")


def lines_of(path):
    lines = strict_ndjson(run("decode", path).stdout)
    return lines[0]["session"], [line for line in lines if line["type"] == "event"]


def matches(text, glob):
    return fnmatch.fnmatchcase(text.lower(), glob.lower())


@functools.lru_cache(maxsize=None)
def is_kind(provider_name, own, wanted):
    provider, _, name = wanted.rpartition("!")
    return ((not provider or matches(provider_name, provider))
            and any(matches(one, name) for one in (own, own.split("/")[0])))


def is_event(event, wanted):
    return is_kind(event["provider"]["name"] or "", event["name"] or "", wanted)


def covered(intervals):
    """How long at least one of them lasts."""
    total, until = 0, None
    for begin, end in sorted(intervals):
        begin = begin if until is None else max(begin, until)
        if end > begin:
            total += end - begin
        until = end if until is None else max(until, end)
    return total


class Call:
    def __init__(self, pair, begin):
        self.pair, self.begin, self.end, self.outer = pair, begin, None, []
        self.inside = []  # others that began since
        self.unknown = None  # the last end without a begin in its thread
        self.ended = False

    def exclusive(self, time_of):
        """Without the time in which one that began inside was open, or may have been."""
        begin, end = time_of(self.begin), time_of(self.end)
        others = [(time_of(one.begin), time_of(one.end) if one.ended_before(self) else end)
                  for one in self.inside]
        if self.unknown:
            others.append((begin, time_of(self.unknown)))
        return end - begin - covered(others)

    def ended_before(self, other):
        return self.ended and self.ended < other.ended


def join(events, pairs):
    """The calls of pairs that ended, in the order of their ends, how many of each pair did not end, and
    the ends without a begin: an end belongs to the innermost open begin of its pair in its thread; the
    caller is the innermost other one that is open then."""
    parsed = []
    for pair in pairs:
        enter, _, exit_ = pair.partition("=")
        exit_, _, key = exit_.partition("@")
        parsed.append((enter, exit_, key))
    open_, keyed, done = defaultdict(list), {}, []
    order = itertools.count(1)
    never, unmatched = Counter(), []
    for event in events:
        for ends in True, False:
            for number, (enter, exit_, key) in enumerate(parsed):
                if not is_event(event, exit_ if ends else enter):
                    continue
                if key:
                    value = number, event["fields"][key]
                    if ends and value in keyed:
                        call = keyed.pop(value)
                        call.end = event
                        done.append(call)
                    elif ends:
                        unmatched.append((number, event))
                    else:
                        never[number] += value in keyed
                        keyed[value] = Call(number, event)
                    continue
                calls = open_[event["tid"] if event["tid"] else ("idle", event["cpu"])]
                if not ends:
                    begun = Call(number, event)
                    for call in calls:
                        call.inside.append(begun)
                    calls.append(begun)
                    continue
                mine = [call for call in calls if call.pair == number]
                if not mine:
                    unmatched.append((number, event))
                    for call in calls:
                        call.unknown = event
                    continue
                call = mine[-1]
                call.end, call.ended = event, next(order)
                call.outer = calls[:calls.index(call)]
                calls.remove(call)
                done.append(call)
        if event["name"] in ("Thread/End", "ThreadEnd"):
            tid = event["fields"].get("TThreadId", event["fields"].get("thread"))
            for call in open_.pop(tid, []):
                never[call.pair] += 1
    for call in [call for calls in open_.values() for call in calls] + list(keyed.values()):
        never[call.pair] += 1
    return done, never, unmatched


def span(call):
    return call.begin["timestamp"], call.end["timestamp"]


def sums_of(done, never, unmatched, number, frequency):
    """What `trace services` should say of a pair."""
    sums = Counter(open=never[number], unmatched=sum(one == number for one, _ in unmatched))
    inclusive = exclusive = 0
    for call in done:
        if call.pair != number:
            continue
        begin, end = span(call)
        sums["calls"] += 1
        exclusive += call.exclusive(lambda event: event["timestamp"])
        # One inside another one that ends is part of its time.
        if not any(outer.pair == number and outer.ended for outer in call.outer):
            inclusive += end - begin
    sums["inclusive"] = inclusive * 10**7 // frequency
    sums["exclusive"] = exclusive * 10**7 // frequency
    return {name: sums[name] for name in SUMS}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([MAKE_SERVICE_TRACES, cls.folder], check=True)

    def answer(self, path, *options, status=0):
        return answer_of(run("services", path, "--format", "json", *options), status)

    def both(self, scenario, seed=1):
        """A made-up run as .ctrace and .etl."""
        ctrace = self.folder / f"{scenario}-{seed}.ctrace"
        self.assertEqual(run("synthesize", scenario, "--seed", seed, "-o", ctrace).returncode, 0)
        etl = ctrace.with_suffix(".etl")
        subprocess.run([MAKE_SCENARIO_ETL, scenario, str(seed), "0", "4", etl], check=True)
        return ctrace, etl

    def truth(self, scenario, seed=1):
        return strict_json(run("synthesize", scenario, "--seed", seed, "--format", "json").stdout)

    def sample(self):
        if not SAMPLE.exists():
            self.skipTest("the sample traces are not here")
        return SAMPLE

    def pairs_of(self, answer):
        return {one["number"]: one for one in answer["services"] if one["kind"] == "event_pair"}

    def hold_against_events(self, path, pairs, status=0):
        """The answer's pairs have the sums and callers that its events have."""
        answer = self.answer(path, *(word for pair in pairs for word in ("--pair", pair)),
                             status=status)
        session, events = lines_of(path)
        frequency = session["clock"]["frequency"]
        done, never, unmatched = join(events, pairs)
        found = self.pairs_of(answer)
        for number, pair in enumerate(pairs):
            with self.subTest(path=path.name, pair=pair):
                one = found[number]
                self.assertEqual(one["name"], pair)
                self.assertEqual({name: one[name] for name in SUMS},
                                 sums_of(done, never, unmatched, number, frequency))
                self.assertEqual(sum(step["count"] for step in one["histogram"]), one["calls"])
                lengths = [(e - b) * 10**7 // frequency
                           for b, e in (span(call) for call in done if call.pair == number)]
                self.assertEqual((one["shortest"], one["longest"]),
                                 (min(lengths), max(lengths)) if lengths else (None, None))
        ids = {one["id"]: number for number, one in found.items()}
        edges = Counter((call.outer[-1].pair, call.pair) for call in done if call.outer)
        self.assertEqual({(ids[one["caller"]], ids[one["callee"]]): one["calls"]
                          for one in answer["calls"] if one["caller"] in ids}, edges)
        return answer, done, edges


class Pairs(Case):
    def test_follows_its_schema(self):
        validator = json_schema.of(
            json.loads((SOURCES / "docs/schema/trace-services.schema.json").read_text()))
        for path in (*self.both("server"), self.folder / "vxds.ctrace", self.folder / "moved.etl"):
            for options in ([], ["--every", 3], ["--moment", "2022-06-18T04:26:40.01Z"],
                            ["--pair", "*Begin=*Satisfied", "--int64", "string"]):
                with self.subTest(path=path.name, options=options):
                    done = run("services", path, "--format", "json", *options)
                    self.assertIn(done.returncode, (0, 1))
                    validator.validate(strict_json(done.stdout))

    def test_pairs_that_nest_overlap_and_lack_an_end(self):
        pairs = ["WaitBegin=WaitSatisfied", "SystemCall=SystemCallReturn", "wmk!SystemCall=WaitBegin",
                 "SystemCall=SystemCall", "WaitBegin=WaitSatisfied@object"]
        answer, done, edges = self.hold_against_events(self.folder / "overlaps.ctrace", pairs)
        # The trace is one where all of this happens.
        found = self.pairs_of(answer)
        self.assertGreater(min(found[number]["unmatched"] for number in (0, 1, 2, 4)), 10)
        self.assertGreater(min(one["open"] for one in found.values()), 0)
        self.assertGreater(len(edges), 8)
        crossing = sum(any(span(other)[0] < span(call)[0] < span(other)[1] < span(call)[1]
                           for other in done if other.begin["tid"] == call.begin["tid"])
                       for call in done)
        self.assertGreater(crossing, 100)

    def test_one_run_says_the_same_in_both_formats(self):
        """The calls of the system as pairs, without their numbers: as many and as long as the
        simulator knows, and alike in both formats."""
        for seed in 1, 2:
            ctrace, etl = self.both("server", seed)
            services = self.truth("server", seed)["services"]
            answers = [
                self.hold_against_events(ctrace, ["wmk!SystemCall=wmk!SystemCallReturn"])[0],
                self.hold_against_events(
                    etl, ["Windows Kernel!PerfInfo/SysClEnter=PerfInfo/SysClExit"])[0]]
            ones = [self.pairs_of(answer)[0] for answer in answers]
            for name in (*SUMS, "on_processor", "shortest", "longest", "p90", "mean"):
                with self.subTest(seed=seed, name=name):
                    self.assertEqual(ones[0][name], ones[1][name])
            self.assertEqual(ones[0]["calls"], sum(one["calls"] for one in services))
            self.assertEqual(ones[0]["exclusive"], sum(one["exclusive"] for one in services))

    def test_a_field_joins_what_two_threads_do(self):
        """Requests to disks, which other threads complete than issue them."""
        ctrace, etl = self.both("disk-bursts")
        requests = self.truth("disk-bursts")["disk_requests"]
        self.assertGreater(len(requests), 10)
        for path, pairs in ((ctrace, ["vtrace!DiskRequest=DiskCompletion@irp"]),
                            (etl, ["DiskIo/ReadInit=DiskIo/Read@Irp",
                                   "DiskIo/WriteInit=DiskIo/Write@Irp"])):
            answer, _, edges = self.hold_against_events(path, pairs)
            self.assertEqual(sum(one["calls"] + one["open"] for one in self.pairs_of(answer).values()),
                             len(requests))
            self.assertFalse(edges)
            for one in self.pairs_of(answer).values():
                self.assertEqual(one["inclusive"], one["exclusive"])
                self.assertIsNone(one["on_processor"])

    def test_a_real_trace(self):
        """Collections of the .NET runtime, requests to disks, threads."""
        runtime = "Microsoft-Windows-DotNETRuntime!GarbageCollection/"
        answer, done, _ = self.hold_against_events(
            self.sample(), [f"{runtime}Start={runtime}Stop", f"{runtime}Start={runtime}Stop@Count",
                            "DiskIo/ReadInit=DiskIo/Read@Irp", "DiskIo/WriteInit=DiskIo/Write@Irp"])
        calls = Counter(call.pair for call in done)
        self.assertGreater(calls[0], 100)
        self.assertGreater(calls[2] + calls[3], 1000)

    def test_events_that_are_not_there_are_told(self):
        path, _ = self.both("server")
        done = run("services", path, "--pair", "SystemCal=SystemCallReturn")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--pair: nothing matches 'SystemCal'; did you mean 'SystemCall'", done.stderr)
        empty, _ = self.both("boot")
        for options, text in (([], b"--pair: nothing matches 'SystemCall'"),
                              (["--from", "2031-01-01"], b"no event of the trace is between")):
            done = run("services", empty, "--pair", "SystemCall=SystemCallReturn", *options)
            self.assertEqual(done.returncode, 1)
            self.assertIn(text, done.stderr)
        done = run("services", path, "--pair", "SystemCall=SystemCallReturn@irp", "--format", "json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("record-unreadable",
                      [one["code"] for one in strict_json(done.stdout)["findings"]])
        for text in "SystemCall", "=", "a=", "=b", "a=b@", "p!=b":
            with self.subTest(text=text):
                done = run("services", path, "--pair", text)
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"is not a pair of events", done.stderr)


class Routines(Case):
    def test_code_that_was_loaded_where_other_code_was_is_another_service(self):
        answer = self.answer(self.folder / "moved.etl")
        found = {(one["kind"], one["name"], one["module"]): one["calls"]
                 for one in answer["services"]}
        images = [("first.sys+0x2040", "\\d\\first.sys"), ("first.sys+0x1040", "\\d\\first.sys"),
                  ("second.sys+0x2040", "\\d\\second.sys")]
        expected = {(kind, *image): 1 for kind in ("dpc", "system_call_address") for image in images}
        expected["system_call_address", None, None] = 1
        self.assertEqual(found, expected)
        self.assertEqual(len({one["number"] for one in answer["services"]}), 1)
        routines = strict_json(run("cpu", self.folder / "moved.etl", "--format", "json").stdout)
        self.assertEqual({one["function"]: one["runs"] for one in routines["routines"]},
                         {name: 1 for name, _ in images})


class Profiles(Case):
    def profile(self, text):
        path = self.folder / "a.profile"
        path.write_text(text)
        return path

    def names(self, path, profile, *options, status=0):
        answer = self.answer(path, "--profile", self.profile(profile), *options, status=status)
        return {one["name"] for one in answer["services"]}, answer

    def test_a_profile_selects_services_of_vxds(self):
        path = self.folder / "vxds.ctrace"
        everything = {"VMM:Get_VMM_Version", "VMM:Get_System_Time", "IFSMgr:IFSMgr_Ring0_FileIO", None}
        for profile, expected in (
                ("*", everything), ("VMM!*", {"VMM:Get_VMM_Version", "VMM:Get_System_Time"}),
                ("Get_*_Version", {"VMM:Get_VMM_Version"}), ("* -VMM!*", everything - {
                    "VMM:Get_VMM_Version", "VMM:Get_System_Time"}),
                ("group io { ifsmgr.vxd!* } @io", {"IFSMgr:IFSMgr_Ring0_FileIO"})):
            with self.subTest(profile=profile):
                names, answer = self.names(path, profile)
                self.assertEqual(names, expected)
                # What is left out is still what is shown was called by, or has called.
                whole = self.answer(path)
                self.assertEqual(answer["services"],
                                 [one for one in whole["services"] if one["name"] in expected])
                left_out = [one for one in answer["findings"] if one["code"] == "services-left-out"]
                self.assertEqual(len(left_out), expected != everything)
        names, answer = self.names(path, "Get_System_Time Get_Nothing VMM!Nothing_*")
        self.assertEqual(names, {"VMM:Get_System_Time"})
        self.assertIn("2 rules of", next(one["text"] for one in answer["findings"]
                                         if one["code"] == "profile-uncalled"))
        names, answer = self.names(path, "Get_Nothing", status=1)
        self.assertEqual(names, set())
        self.assertIn("profile-empty", [one["code"] for one in answer["findings"]])

    def test_several_profiles_and_services_by_name(self):
        path = self.folder / "vxds.ctrace"
        other = self.folder / "b.profile"
        other.write_text("IFSMgr!*\n")
        names, _ = self.names(path, "Get_System_Time", "--profile", other)
        self.assertEqual(names, {"VMM:Get_System_Time", "IFSMgr:IFSMgr_Ring0_FileIO"})
        names, _ = self.names(path, "VMM!*", "--service", "*Time")
        self.assertEqual(names, {"VMM:Get_System_Time"})

    def test_who_is_called_or_calls_is_named_also_when_it_is_not_chosen(self):
        """By the answer about all services."""
        compared = 0
        for path in (*self.both("server"), self.folder / "vxds.ctrace"):
            whole = self.answer(path)
            by_id = {one["id"]: one for one in whole["services"]}
            self.assertEqual(whole["others"], [])
            for edge in whole["calls"][:3]:
                label = next(row["service"] for row in strict_csv(
                    run("services", path, "--format", "csv").stdout)
                    if (row["kind"], int(row["number"])) == tuple(
                        by_id[edge["caller"]][name] for name in ("kind", "number")))
                answer = self.answer(path, "--service", label)
                chosen = {one["id"] for one in answer["services"]}
                named = {one[end] for one in answer["calls"] for end in ("caller", "callee")}
                self.assertEqual({one["id"] for one in answer["others"]}, named - chosen)
                for one in answer["others"]:
                    self.assertEqual(one, {name: by_id[one["id"]][name] for name in
                                           ("id", "kind", "number", "name", "module")})
                    compared += 1
        self.assertGreater(compared, 0)

    def test_a_profile_selects_system_calls_and_routines(self):
        path, _ = self.both("system-calls")
        hashes = [one["number"] for one in self.answer(path)["services"]
                  if one["kind"] == "hashed_system_call"]
        self.assertGreater(len(hashes), 0)
        names = self.names(path, "nt!*")[1]["services"]
        self.assertEqual(names, self.answer(path)["services"])
        path = self.folder / "moved.etl"
        self.assertEqual(self.names(path, "second.sys!*")[0], {"second.sys+0x2040"})
        self.assertEqual(self.names(path, '"first.sys+0x2040"')[0], {"first.sys+0x2040"})

    def test_a_wrong_profile_is_told(self):
        done = run("services", self.folder / "vxds.ctrace", "--profile", self.profile("group {"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"a.profile:1:", done.stderr)
        done = run("services", self.folder / "vxds.ctrace", "--profile", self.folder / "none")
        self.assertEqual(done.returncode, 2)


def hundreds(time):
    """Units of 100 ns in the day of a UTC text."""
    hours, minutes, seconds = time.split("T")[1].rstrip("Z").split(":")
    whole, _, part = seconds.partition(".")
    return ((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 10**7 + int(part.ljust(7, "0") or 0)


class Periods(Case):
    PAIRS = {".ctrace": "SystemCall=SystemCallReturn",
             ".etl": "PerfInfo/SysClEnter=PerfInfo/SysClExit"}

    def expected(self, path, number_of):
        """Of the pair, by period: calls, those begun in an earlier one, time without and with those
        inside another one; by the events alone."""
        _, events = lines_of(path)
        done, _, _ = join(events, [self.PAIRS[path.suffix]])
        rows = defaultdict(Counter)
        for call in done:
            begin, end = hundreds(call.begin["time"]), hundreds(call.end["time"])
            row = rows[number_of(end)]
            row["calls"] += 1
            row["begun_before"] += number_of(begin) < number_of(end)
            if not call.outer:
                row["inclusive"] += end - begin
            row["exclusive"] += call.exclusive(lambda event: hundreds(event["time"]))
        return rows

    def rows_of(self, answer):
        pair = self.pairs_of(answer)[0]["id"]
        for period in answer["periods"]:
            for row in period["services"]:
                if row["service"] == pair:
                    yield period, row

    def hold(self, path, options, number_of, border_of):
        answer = self.answer(path, "--pair", self.PAIRS[path.suffix], *options)
        expected = self.expected(path, number_of)
        borders = {}
        for number in expected:
            borders[border_of(number)] = number
        found = {}
        for period, row in self.rows_of(answer):
            limits = tuple(None if time is None else hundreds(time)
                           for time in (period["from"], period["to"]))
            found[borders[limits]] = {name: row[name] for name in
                                      ("calls", "begun_before", "inclusive", "exclusive")}
        self.assertEqual(found, {number: {name: row[name] for name in
                                          ("calls", "begun_before", "inclusive", "exclusive")}
                                 for number, row in expected.items()})
        # All periods together are the whole.
        sums = defaultdict(Counter)
        for period in answer["periods"]:
            for row in period["services"]:
                for name in "calls", "unmatched", "untimed", "inclusive", "exclusive":
                    sums[row["service"]][name] += row[name]
        for one in answer["services"]:
            for name in "calls", "unmatched", "untimed", "inclusive", "exclusive":
                self.assertEqual(sums[one["id"]][name], one[name])
        return answer, found

    def test_counts_since_the_period_before(self):
        """VxDMon's "Zero Statistics on Update"."""
        spanning = 0
        found = {}
        for path in self.both("server"):
            first = hundreds(self.answer(path)["first_event"])
            every = 3 * 10**4
            _, found[path.suffix] = self.hold(
                path, ["--every", 3], lambda time: (time - first) // every,
                lambda number: (first + number * every, first + (number + 1) * every))
            spanning += sum(row["begun_before"] for row in found[path.suffix].values())
        self.assertGreater(len(found[".etl"]), 5)
        self.assertEqual(found[".ctrace"], found[".etl"])
        self.assertGreater(spanning, 10)

    def test_the_difference_of_two_moments(self):
        for path in self.both("server"):
            answer = self.answer(path)
            first, last = hundreds(answer["first_event"]), hundreds(answer["last_event"])
            moments = [first + (last - first) // 3, first + (last - first) // 2]
            text = [f"2022-06-18T04:26:{(t // 10**7) % 60:02}.{t % 10**7:07}Z" for t in moments]
            self.assertTrue(answer["first_event"].startswith("2022-06-18T04:26:"))
            limits = [None, *moments, None]
            answer, found = self.hold(
                path, ["--moment", ",".join(reversed(text))],
                lambda time: sum(time >= moment for moment in moments),
                lambda number: (limits[number], limits[number + 1]))
            self.assertEqual(set(found), {0, 1, 2})
            # --compare-to has its own time, as --to has; a period ends before the next one begins.
            before = [f"2022-06-18T04:26:{(t // 10**7) % 60:02}.{t % 10**7:07}Z" for t in (moments[0] - 1, moments[1] - 1)]
            for options, cuts, number in ((["--compare-from", text[0], "--compare-to", before[1]], text, 1),
                                          (["--compare-from", text[1]], text[1:], 1), (["--compare-to", before[0]], text[:1], 0)):
                with self.subTest(options=options):
                    whole = self.answer(path, "--moment", ",".join(cuts))
                    only = self.answer(path, *options)
                    self.assertEqual(only["services"], whole["services"])
                    self.assertEqual(only["periods"], whole["periods"][number:][:1])
                    table = strict_csv(run("services", path, *options, "--format", "csv").stdout)
                    self.assertEqual([(row["from"], row["to"]) for row in table],
                                     [(only["periods"][0]["from"] or "", only["periods"][0]["to"] or "")] *
                                     len(only["periods"][0]["services"]))
                    self.assertEqual(run("services", path, *options).stdout.count(b"\nfrom "), 1)
            # --from and --to instead would lose what was open then.
            cut = self.answer(path, "--pair", self.PAIRS[path.suffix], "--from", text[0], "--to",
                              text[1])
            self.assertLess(self.pairs_of(cut)[0]["calls"], found[1]["calls"])

    def test_both_ends_are_compared(self):
        """A return at the very time that --compare-from or --compare-to says, and an event at that of --from or --to."""
        for path in self.both("server"):
            _, events = lines_of(path)
            done, _, _ = join(events, [self.PAIRS[path.suffix]])
            ends = sorted(call.end["time"] for call in done)
            low, high = ends[len(ends) // 3], ends[len(ends) // 2]
            self.assertLess(low, high)

            def calls(*options):
                answer = self.answer(path, "--pair", self.PAIRS[path.suffix], *options)
                return sum(row["calls"] for _, row in self.rows_of(answer))
            for first, last in ((low, high), (low, low), (None, high), (low, None)):
                options = [*(["--compare-from", first] if first else []), *(["--compare-to", last] if last else [])]
                with self.subTest(options=options):
                    self.assertEqual(calls(*options), sum((first or "") <= end <= (last or "3") for end in ends))
            lines = strict_ndjson(run("decode", path, "--from", low, "--to", low).stdout)
            self.assertEqual([line for line in lines if line["type"] == "event"],
                             [event for event in events if event["time"] == low])

    def test_a_moment_outside_the_trace_is_told(self):
        for path in self.both("server"):
            answer = self.answer(path)
            # A period that --compare-to ends has its time: at the first event it has that, and at the last one all.
            for moment, outside in (("2031-01-01T00:00:00Z", None), ("1999-01-01T00:00:00Z", None),
                                    (answer["first_event"], "--compare-to"), (answer["last_event"], "--moment --compare-from")):
                for option in "--moment", "--compare-from", "--compare-to":
                    if option in (outside or "").split():
                        self.assertEqual(run("services", path, option, moment).returncode, 0)
                        continue
                    done = run("services", path, option, moment)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(f"no-match: {option}: {moment} is not between".encode(), done.stderr)

    def test_all_formats_say_the_same(self):
        path, _ = self.both("server")
        answer = self.answer(path, "--every", 3)
        rows = [(period, row) for period in answer["periods"] for row in period["services"]]
        services = {one["id"]: one for one in answer["services"]}
        table = strict_csv(run("services", path, "--every", 3, "--format", "csv").stdout)
        self.assertEqual(len(table), len(rows))
        for cells, (period, row) in zip(table, rows):
            self.assertEqual((cells["from"], cells["to"]), (period["from"], period["to"]))
            self.assertEqual(cells["number"], str(services[row["service"]]["number"]))
            for name in ("calls", "begun_before", "unmatched", "untimed", "inclusive", "exclusive",
                         "on_processor", "cycles", "mean"):
                self.assertEqual(cells[name], "" if row[name] is None else str(row[name]))
        text = run("services", path, "--every", 3, "--top", 100).stdout.decode()
        blocks = text.split("\nfrom ")[1:]
        self.assertEqual(len(blocks), len(answer["periods"]))
        for block, period in zip(blocks, answer["periods"]):
            self.assertEqual(sorted(tuple(int(cell.replace(",", "")) for cell in line.split()[:2]) for line in block.splitlines()[2:]),
                             sorted((row["calls"], row["begun_before"]) for row in period["services"]))
        self.assertIsNone(self.answer(path)["periods"])

    def test_more_rows_than_are_kept_are_told(self):
        done = run("services", self.folder / "rows.etl", "--every", 1, "--service", "nothing")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"period-limit", done.stderr)
        self.assertIn(b"56 calls and returns", done.stderr)
        done = run("services", self.folder / "rows.etl", "--every", 2, "--service", "nothing")
        self.assertNotIn(b"period-limit", done.stderr)

    def test_periods_that_are_none_are_refused(self):
        path, _ = self.both("server")
        for options in (["--every", 0], ["--every", 1, "--moment", "2022-06-18T04:26:40Z"],
                        ["--moment", "yesterday"], ["--compare-from", "2022-06-18T04:26:40Z", "--every", 1],
                        ["--compare-from", "2022-06-18T04:26:41Z", "--compare-to", "2022-06-18T04:26:40Z"]):
            with self.subTest(options=options):
                self.assertEqual(run("services", path, *options).returncode, 2)


class Text(Case):
    def test_has_what_vxdmon_counted(self):
        """Calls, cycles and cycles of a call, by the tracer's own measure."""
        path = self.folder / "vxds.ctrace"
        answer = self.answer(path)
        heading, *lines = run("services", path).stdout.decode().splitlines()
        self.assertRegex(heading, " cycles +cycles/call +shortest cycles +p50 cycles +p90 cycles +p99 cycles +longest cycles +service$")
        rows = {int(row["number"]): row for row in csv.DictReader(
            run("services", path, "--format", "csv").stdout.decode().splitlines())}
        _, events = lines_of(path)
        cycles = defaultdict(list)
        for event in events:
            if event["name"] == "ServiceReturn":
                fields = event["fields"]
                cycles[fields["vxd"] << 16 | fields["service"]].append(fields["cycles"])
        self.assertEqual(len(lines), len(cycles))
        for line, one in zip(lines, answer["services"]):
            measured = cycles[one["number"]]
            self.assertEqual(one["cycles"], sum(measured))
            width = len(heading[:heading.rindex("cycles/call")])
            cells = line[:width + 11].split()
            self.assertEqual([int(cell.replace(",", "")) for cell in (cells[0], cells[-2], cells[-1])],
                             [len(measured), sum(measured), sum(measured) // len(measured)])
            # How the single calls are spread: exactly, but for percentiles, which are within 1/32.
            told, row = one["cycles_of_calls"], rows[one["number"]]
            self.assertEqual([told["calls"], told["mean"], told["shortest"], told["longest"]],
                             [len(measured), sum(measured) // len(measured), min(measured), max(measured)])
            for percent in 50, 90, 99:
                true = sorted(measured)[(percent * len(measured) + 99) // 100 - 1]
                self.assertTrue(true <= told[f"p{percent}"] <= true * 33 / 32, (told, true))
                self.assertEqual(int(row[f"p{percent}_cycles"]), told[f"p{percent}"])
            self.assertEqual([int(row[name + "_cycles"]) for name in ("mean", "shortest", "longest")],
                             [told[name] for name in ("mean", "shortest", "longest")])
            below = 0
            for step in told["histogram"]:
                below += step["count"]
                self.assertEqual(below, sum(value <= step["up_to"] for value in measured))
            spread = line[width + 11:].split()[:5]
            self.assertEqual([int(cell.replace(",", "")) for cell in spread],
                             [told[name] for name in ("shortest", "p50", "p90", "p99", "longest")])
            self.assertTrue(line.endswith(one["name"] or "VxD 0x48b service 7"))
        # A control-flow window: who called it, and what it called.
        trees = run("services", path, "--trees").stdout.decode()
        lasted = sorted(sum(int(count.replace(",", "")) for count in re.findall(r": ([\d,]*\d)", line))
                        for line in re.findall(r"(?m)^  lasted (.*)$", trees))
        services = strict_json(run("services", path, "--format", "json").stdout)["services"]
        counts = [sum(step["count"] for step in one["histogram"]) for one in services]
        self.assertEqual(lasted, sorted(count for count in counts if count))
        self.assertGreater(len(lasted), 2)
        self.assertIn("IFSMgr:IFSMgr_Ring0_FileIO\n  calls\n    VMM:Get_VMM_Version  10x", trees)
        self.assertIn("VMM:Get_VMM_Version\n  called by\n    IFSMgr:IFSMgr_Ring0_FileIO  10x", trees)

    def test_columns_that_have_nothing_are_left_out(self):
        path = self.folder / "overlaps.ctrace"
        heading = run("services", path, "--pair", "WaitBegin=WaitSatisfied").stdout.decode()
        self.assertIn("unmatched", heading.splitlines()[0])
        self.assertNotIn("cycles", heading.splitlines()[0])
        heading = run("services", self.folder / "vxds.ctrace").stdout.decode().splitlines()[0]
        self.assertNotIn("unmatched", heading)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
