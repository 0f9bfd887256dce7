"""Exports of traces for other tools, read by programs that did not write them and held against what
the analyses say of the same traces.

usage: trace_export.py COLDTRACE SOURCES SHARED MAKE_SCENARIO_ETL [arguments of unittest]
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from checksums import crc32c
from cli.trace.analysis.answers import answer_of, runner
from cli.trace.etl_writer import NO_PER_PROCESSOR, EtlWriter
from strict import strict_json

COLDTRACE, SOURCES, SHARED, MAKE_SCENARIO_ETL = (Path(a).resolve() for a in sys.argv[1:5])
PROTO = SOURCES / "tests/cli/trace/export/perfetto.proto"
SAMPLE = SHARED / "samples/etl/pv_net.4.5.2.x64.etl"
KERNEL = 0xFFFFF80000000000
LOST, NOT_SHOWN = 1, 2  # ids of threads that Perfetto is told where the processor's is not known
SCENARIOS = ("producer-consumer", "server", "disk-bursts", "migration", "losses", "id-reuse",
             "system-calls", "vxd-services")

run = runner(COLDTRACE, "trace")


def need(program):
    if shutil.which(program) is None:
        raise unittest.SkipTest(f"{program} is not installed")


def npm(path):
    """A file of an npm package: COLDTRACE_NPM is a folder with node_modules."""
    for folder in (os.environ.get("COLDTRACE_NPM", SOURCES), "/usr", "/usr/lib", "/usr/local/lib"):
        file = Path(folder) / "node_modules" / path
        if file.exists():
            return file
    return None


class TextMessage(defaultdict):
    """What protoc prints of a message: field: values, each a text, a number or a message."""

    def __init__(self):
        super().__init__(list)

    def one(self, name, default=None):
        values = self.get(name)
        return values[0] if values else default


def text_value(text):
    if not text.startswith('"'):
        return int(text)
    octal = re.sub(rb"\\([0-7]{3}|.)", lambda m: bytes([int(m[1], 8)]) if m[1].isdigit()
                   else {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(m[1], m[1]), text[1:-1].encode())
    return octal


def text_format(text):
    """Parses the text format of protocol buffers, line by line."""
    top = TextMessage()
    stack = [top]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            message = TextMessage()
            stack[-1][line[:-1].strip()].append(message)
            stack.append(message)
        elif line == "}":
            stack.pop()
        else:
            name, _, value = line.partition(": ")
            stack[-1][name].append(text_value(value))
    return top


def protoc(content):
    done = subprocess.run(["protoc", f"--proto_path={PROTO.parent}", "--decode=Trace", PROTO.name],
                          input=content, capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    packets = text_format(done.stdout.decode())["packet"]
    unpacked = []
    for packet in packets:
        # A number in place of a name is a field that the messages do not have.
        assert not any(re.fullmatch(r"\d+", name) for name in packet), packet
        if "compressed_packets" in packet:
            packed = packet.one("compressed_packets")
            assert len(packed) < 512 * 1024
            unpacked += protoc(zlib.decompress(packed))
        else:
            unpacked.append(packet)
    return unpacked


class Perfetto:
    """A trace as Perfetto's importer takes it. Source: google/perfetto, etw_parser.cc,
    thread_state_tracker.cc, track_event_parser.cc; what it counts as an error is a mismatch here."""

    STATES = {0: "Initialized", 1: "Ready", 2: "Running", 3: "Standby", 4: "Terminated", 5: "Waiting",
              6: "Transition", 7: "DeferredReady"}

    def __init__(self, content):
        packets = protoc(content)
        self.runs = []  # cpu, tid, begin, end, end state
        self.states = defaultdict(list)  # by tid: state, begin, end, waker, reason
        self.mismatched = self.unknown_states = 0
        self.size = len(content)
        events = [event for packet in packets for bundle in packet["etw_events"]
                  for event in bundle["event"]]
        self.switches = sum("c_switch" in event for event in events)
        # Stable, as the importer sorts.
        self.schedule(sorted(events, key=lambda event: event.one("timestamp")))
        self.read_tracks(packets)
        self.names = {thread.one("tid"): (thread.one("name", b"").decode(), thread.one("tgid"))
                      for packet in packets for tree in packet["process_tree"]
                      for thread in tree["threads"]}
        self.processes = {process.one("pid"): process.one("cmdline", b"").decode()
                          for packet in packets for tree in packet["process_tree"]
                          for process in tree["processes"]}
        self.clocks = [{clock.one("clock_id"): clock.one("timestamp") for clock in snapshot["clocks"]}
                       for packet in packets for snapshot in packet["clock_snapshot"]]

    def schedule(self, events):
        pending = {}  # by processor: tid, begin
        for event in events:
            time = event.one("timestamp")
            if "c_switch" in event:
                self.switch(event.one("cpu"), time, event.one("c_switch"), pending)
            else:
                ready = event.one("ready_thread")
                self.wake(ready.one("t_thread_id"), time, event.one("thread_id"))
        for cpu, (tid, begin) in pending.items():
            self.runs.append((cpu, tid, begin, None, None))

    def switch(self, cpu, time, fields, pending):
        old, new = fields.one("old_thread_id"), fields.one("new_thread_id")
        state = fields.one("old_thread_state_int")
        self.unknown_states += state not in self.STATES
        if cpu in pending:
            if pending[cpu][0] != old:
                self.mismatched += 1
            self.runs.append((cpu, pending[cpu][0], pending[cpu][1], time, self.STATES.get(state)))
        pending[cpu] = new, time
        self.enter(old, self.STATES.get(state), time,
                   reason=fields.one("old_thread_wait_reason_int") if state == 5 else None)
        self.enter(new, "Running", time)

    def enter(self, tid, state, time, waker=None, reason=None):
        rows = self.states[tid]
        if rows and rows[-1]["end"] is None:
            rows[-1]["end"] = time
        rows.append({"state": state, "begin": time, "end": None, "waker": waker, "reason": reason})

    def wake(self, tid, time, waker):
        rows = self.states.get(tid)
        # A wake-up of one that runs or is ready changes nothing.
        if rows and rows[-1]["state"] not in ("Waiting", "Initialized", "Transition"):
            return
        self.enter(tid, "R", time, waker=waker)

    def read_tracks(self, packets):
        interned = {name.one("iid"): name.one("name") for packet in packets
                    for data in packet["interned_data"] for name in data["event_names"]}
        self.tracks = {d.one("uuid"): d for packet in packets for d in packet["track_descriptor"]}
        self.slices, self.counters = defaultdict(list), defaultdict(list)
        self.unclosed = self.unopened = self.undescribed = 0
        open_slices = defaultdict(list)
        flagged = False
        for packet in packets:
            if packet.one("sequence_flags") == 1:
                flagged = True
        assert flagged or not interned
        ordered = sorted((packet for packet in packets if "track_event" in packet),
                         key=lambda packet: packet.one("timestamp"))
        for packet in ordered:
            time, event = packet.one("timestamp"), packet.one("track_event")
            track = event.one("track_uuid")
            self.undescribed += track not in self.tracks
            if event.one("type") == 4:
                self.counters[track].append((time, event.one("counter_value")))
            elif event.one("type") == 1:
                name = event.one("name") or interned[event.one("name_iid")]
                open_slices[track].append((name.decode(), time, {
                    a.one("name").decode(): a.one("string_value", a.one("uint_value"))
                    for a in event["debug_annotations"]}))
            elif not open_slices[track]:
                self.unopened += 1
            else:
                name, begin, arguments = open_slices[track].pop()
                self.slices[track].append((name, begin, time, arguments))
        self.unclosed = sum(map(len, open_slices.values()))

    def slices_of(self, wanted):
        return [one for track, slices in self.slices.items() if wanted(self.tracks[track])
                for one in slices]

    def running(self):
        sums = Counter()
        for cpu, tid, begin, end, _ in self.runs:
            if end is not None:
                sums[tid if tid else -1 - cpu] += end - begin
        return sums


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        cls.traces = {}
        for scenario in SCENARIOS:
            ctrace = cls.path / f"{scenario}.ctrace"
            done = run("synthesize", scenario, "-o", ctrace)
            assert done.returncode == 0, done.stderr
            cls.traces[f"{scenario}.ctrace"] = ctrace
            if scenario == "vxd-services":
                continue
            etl = cls.path / f"{scenario}.etl"
            subprocess.run([MAKE_SCENARIO_ETL, scenario, "1", "20", "4", etl], check=True, timeout=60)
            cls.traces[f"{scenario}.etl"] = etl

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def export(self, form, trace, *options):
        done = run("export", form, trace, "-q", *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(run("export", form, trace, "-q", *options).stdout, done.stdout)
        return done.stdout

    def written(self, name, log):
        trace = self.path / name
        trace.write_bytes(log.build())
        return trace

    def chrome(self, trace, *options):
        answer = strict_json(self.export("chrome", trace, *options))
        for event in answer["traceEvents"]:
            self.assertIsInstance(event["name"], str)
        return answer["traceEvents"]

    def schedule(self, trace):
        return answer_of(run("schedule", trace, "--format", "json"), 0, 1)

    # Those whose id one has; of idle threads, which have none, by processor.
    def running_of(self, schedule):
        sums = Counter()
        for one in schedule["threads"]:
            sums[one["tid"] if one["idle_cpu"] is None
                 else -1 - one["idle_cpu"]] += one["running"] * 100
        return +sums

    def test_chrome_has_the_turns_and_calls_that_the_analyses_have(self):
        for name, trace in self.traces.items():
            with self.subTest(name=name):
                events = self.chrome(trace)
                sums = Counter()
                for event in events:
                    if event.get("cat") == "sched":
                        sums[event["args"]["tid"]] += round(event["dur"] * 1000)
                expected = self.running_of(self.schedule(trace))
                self.assertEqual(+sums, Counter({tid: time for tid, time in expected.items() if tid > 0}))
                services = answer_of(run("services", trace, "--format", "json"), 0, 1)["services"]
                kinds = Counter()
                for one in services:
                    kinds[one["kind"]] += one["calls"]
                seen = Counter(event["cat"] for event in events if event["ph"] == "X")
                for kind, calls in kinds.items():
                    self.assertEqual(seen[kind], calls, kind)
                asynchronous = Counter(event["ph"] for event in events if event["ph"] in "be")
                self.assertEqual(asynchronous["b"], asynchronous["e"])

    def test_another_program_reads_chrome(self):
        need("jq")
        done = subprocess.run(["jq", "-e", '.traceEvents | length'], capture_output=True,
                              input=self.export("chrome", self.traces["server.etl"]), timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(int(done.stdout), len(self.chrome(self.traces["server.etl"])))

    def perfetto(self, trace, *options):
        trace = Perfetto(self.export("perfetto", trace, *options))
        self.assertEqual((trace.mismatched, trace.unknown_states), (0, 0))
        self.assertEqual((trace.unclosed, trace.unopened, trace.undescribed), (0, 0, 0))
        return trace

    def test_perfetto_has_the_turns_and_states_of_the_schedule(self):
        need("protoc")
        for name, trace in self.traces.items():
            with self.subTest(name=name):
                read = self.perfetto(trace)
                schedule = self.schedule(trace)
                running = read.running()
                for pseudo in LOST, NOT_SHOWN:
                    running.pop(pseudo, None)
                self.assertEqual(+running, self.running_of(schedule))
                if schedule["counts"]["switches"]:
                    self.assertEqual(read.clocks[0][6], 0)
                # What no loss makes doubtful is as long in both.
                if schedule["lost_stretches"] or schedule["counts"]["broken"] or "id-reuse" in name:
                    continue
                for one in schedule["threads"]:
                    if one["idle_cpu"] is not None or one["unknown"] or one["off"] or one["created"]:
                        continue
                    sums = Counter()
                    for row in read.states[one["tid"]]:
                        if row["end"] is not None:
                            sums[row["state"]] += row["end"] - row["begin"]
                    ends = one["at_end"]["state"]
                    if ends in ("running", "ended") and not one["swapped"]:
                        self.assertEqual(sums["Waiting"], one["waiting"] * 100, one["tid"])

    def test_perfetto_has_no_processor_where_a_ready_event_has_none(self):
        """Its importer takes those below 1024 and uses none of a ready event; 1023 stands for none."""
        need("protoc")
        for mode, cpu in (1, 1), (1 | NO_PER_PROCESSOR, 1023):
            with self.subTest(mode=mode):
                log = EtlWriter(2, mode=mode)
                log.thread(1, 0, 100, 104)
                log.ready(1, 50, 104)
                packets = protoc(self.export("perfetto", self.written("ready.etl", log)))
                self.assertEqual([event.one("cpu") for packet in packets for bundle in packet["etw_events"]
                                  for event in bundle["event"] if "ready_thread" in event], [cpu])

    def test_perfetto_has_wakers_and_wait_reasons(self):
        need("protoc")
        read = self.perfetto(self.traces["server.etl"])
        wakers = Counter(row["waker"] for rows in read.states.values() for row in rows
                         if row["waker"] is not None)
        self.assertGreater(sum(wakers.values()), 10)
        self.assertTrue(set(wakers) <= set(read.names) | {0})
        reasons = Counter()
        for one in self.schedule(self.traces["server.etl"])["threads"]:
            for wait in one["waits"]:
                reasons[wait["reason"]] += wait["count"]
        self.assertGreater(len(reasons), 1)
        seen = {row["reason"] for rows in read.states.values() for row in rows} - {None}
        self.assertGreaterEqual(len(seen), len(reasons))

    def test_perfetto_has_calls_and_requests(self):
        need("protoc")
        for name in "server.etl", "system-calls.ctrace", "disk-bursts.etl", "vxd-services.ctrace":
            with self.subTest(name=name):
                trace = self.traces[name]
                read = self.perfetto(trace)
                services = answer_of(run("services", trace, "--format", "json"), 0, 1)["services"]
                calls = read.slices_of(lambda track: "thread" in track
                                       or b"interrupts" in track.one("name", b""))
                self.assertEqual(len(calls), sum(one["calls"] for one in services))
                disks = answer_of(run("io", trace, "--format", "json"), 0, 1)["disk"]["disks"]
                requests = read.slices_of(lambda track: track.one("name", b"").startswith(b"disk "))
                timed = sum(end - begin for _, begin, end, _ in requests)
                self.assertEqual(timed, 100 * sum(one["response"] for one in disks))
                for track, values in read.counters.items():
                    self.assertIn("counter", read.tracks[track])
                    self.assertGreaterEqual(min(value or 0 for _, value in values), 0)
                queues = [values for track, values in read.counters.items()
                          if b"requests of disk" in read.tracks[track].one("name")]
                self.assertEqual(len(queues), len({a["disk"] for a in disks}) if disks else 0)
                for values in queues:
                    self.assertEqual(values[-1][1], 0)

    def test_nested_calls_keep_their_order(self):
        need("protoc")
        log = EtlWriter(1)
        log.process(0, 5, 40, "a.exe", hook=0x0301)
        log.thread(0, 6, 40, 44, hook=0x0501)
        log.switch(0, 10, 0, 44, state=2)
        # Both begin in one tick, and end in one.
        log.call(0, 20, KERNEL + 0x100)
        log.call(0, 20, KERNEL + 0x200)
        log.call_return(0, 30)
        log.call(0, 30, KERNEL + 0x300)
        log.call_return(0, 40)
        log.call_return(0, 40)
        log.switch(0, 50, 44, 0)
        read = self.perfetto(self.written("nested.etl", log))
        calls = sorted(read.slices_of(lambda track: "thread" in track), key=lambda one: one[0])
        self.assertEqual([(name[-3:], end - begin) for name, begin, end, _ in calls],
                         [("100", 2000), ("200", 1000), ("300", 1000)])

    # Between two switches of a processor one is missing: who ran then nobody knows.
    def test_what_is_lost_is_drawn_as_nobody(self):
        need("protoc")
        log = EtlWriter(1)
        log.switch(0, 10, 0, 100, state=2)
        log.switch(0, 20, 100, 200)
        log.switch(0, 50, 300, 400)  # from a thread that it had not gone to
        log.switch(0, 60, 400, 0)
        read = self.perfetto(self.written("broken.etl", log))
        runs = {(tid, begin // 100, end // 100) for _, tid, begin, end, _ in read.runs if end is not None}
        self.assertEqual(runs, {(100, 10, 20), (200, 20, 20), (LOST, 20, 50), (300, 50, 50),
                                (400, 50, 60)})
        self.assertEqual(read.processes[LOST], "[events are missing]")

    def test_only_threads_that_are_chosen_are_shown(self):
        need("protoc")
        trace = self.traces["server.etl"]
        threads = [one for one in self.schedule(trace)["threads"] if one["idle_cpu"] is None]
        pid = Counter(one["pid"] for one in threads).most_common(1)[0][0]
        tids = {one["tid"] for one in threads if one["pid"] == pid}
        expected = {tid: time for tid, time in self.running_of(self.schedule(trace)).items() if tid in tids}
        running = self.perfetto(trace, "--process", pid).running()
        running.pop(NOT_SHOWN)
        self.assertEqual(+running, Counter(expected))
        events = self.chrome(trace, "--process", pid)
        self.assertEqual({event["args"]["pid"] for event in events if event.get("cat") == "sched"}, {pid})
        one = min(tids)
        events = self.chrome(trace, "--thread", one)
        self.assertEqual({event["args"]["tid"] for event in events if event.get("cat") == "sched"}, {one})

    def test_requests_to_a_disk_that_nothing_tells_are_on_no_other(self):
        """In the schema that the trace carries the member `disk` has another name, which no analysis looks for."""
        whole = bytearray(self.traces["disk-bursts.ctrace"].read_bytes())
        size, = struct.unpack_from("<I", whole, 12)
        at = whole.index(b" disk;", whole.index(b"DiskRequest"), size)
        whole[at:at + 5] = b" dusk"
        whole[16:20] = bytes(4)
        struct.pack_into("<I", whole, 16, crc32c(whole[:size]))
        trace = self.path / "dusk.ctrace"
        trace.write_bytes(whole)
        names, rows = {}, set()
        for event in self.chrome(trace):
            if event.get("cat") == "disk" and event["ph"] == "b":
                self.assertIsNone(event["args"]["disk"])
                rows.add((event["pid"], event["tid"]))
            elif event["name"] == "thread_name":
                names[event["pid"], event["tid"]] = event["args"]["name"]
        self.assertEqual([names[row] for row in rows], ["unknown disk"])
        self.assertNotIn("disk 0", names.values())
        packets = self.export("perfetto", trace)
        for name, count in (b"unknown disk", 1), (b"requests of unknown disk", 1), (b"disk 0", 0):
            self.assertEqual(bool(packets.count(name)), bool(count), name)

    def test_only_events_that_are_chosen_are_shown(self):
        trace = self.traces["disk-bursts.etl"]
        all_events = self.chrome(trace)
        expected = Counter(event["cat"] for event in all_events if event.get("cat") == "disk")
        for options in (["--where", 'name like "DiskIo/*"'], ["--event", "DiskIo"]):
            events = self.chrome(trace, *options)
            self.assertEqual(Counter(event["cat"] for event in events if "cat" in event), expected)
        done = run("export", "chrome", trace, "--event", "NoSuchEvent")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match", done.stderr)

    def test_compressed_packets_say_the_same(self):
        need("protoc")
        trace = self.traces["server.etl"]
        plain, packed = (self.export("perfetto", trace, *options) for options in ((), ("--compress-packets",)))
        self.assertLess(len(packed), len(plain) // 2)
        self.assertEqual(protoc(packed), protoc(plain))

    def test_hostile_names_stay_text(self):
        names = ['a"b\\.exe', "</script><script>alert(1)</script>", "x;y z", "tab\tend"]
        log = EtlWriter(1)
        for number, name in enumerate(names):
            log.process(0, number + 1, 40 + 4 * number, name, hook=0x0301)
            log.thread(0, number + 1, 40 + 4 * number, 400 + 4 * number, hook=0x0501)
        for number in range(len(names)):
            log.switch(0, 20 + 10 * number, 400 + 4 * (number - 1) if number else 0, 400 + 4 * number,
                       state=2)
        log.switch(0, 100, 400 + 4 * (len(names) - 1), 0)
        trace = self.written("hostile.etl", log)
        shown = [name.replace("\t", "\\x09") for name in names]
        events = self.chrome(trace)
        for name in shown:
            self.assertTrue(any(e.get("cat") == "sched" and e["name"].startswith(name) for e in events),
                            name)
        need("protoc")
        self.assertTrue(set(shown) <= set(self.perfetto(trace).processes.values()))

    def test_regions_of_providers_have_their_fields(self):
        need("protoc")
        provider = uuid.UUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")  # the .NET runtime
        log = EtlWriter(1)
        # GCStart_V1 (Count, Depth, Reason, Type, ClrInstanceID) and GCEnd_V1 (Count, Depth, ...)
        log.manifest(0, 10, provider, 1, 1, struct.pack("<IIIIH", 7, 2, 1, 0, 9), opcode=1)
        log.manifest(0, 30, provider, 2, 1, struct.pack("<IIH", 7, 2, 9), opcode=2)
        trace = self.written("region.etl", log)
        regions = self.perfetto(trace).slices_of(lambda track: track.one("name") == b"regions")
        self.assertEqual([(end - begin, arguments["Count"], arguments["Depth"])
                          for _, begin, end, arguments in regions], [(2000, b"7", b"2")])
        pairs = [event for event in self.chrome(trace) if event.get("cat") == "region"]
        self.assertEqual([event["ts"] for event in pairs], [1, 3])
        self.assertEqual(pairs[0]["args"]["Count"], "7")

    def collapsed(self, trace, *options, command=("export", "collapsed")):
        done = run(*command, trace, "-q", *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        sums = Counter()
        for line in done.stdout.decode().splitlines():
            path, _, weight = line.rpartition(" ")
            sums[path] += int(weight)
        return sums

    def sampled(self):
        etl = self.path / "sampled.etl"
        if not etl.exists():
            subprocess.run([MAKE_SCENARIO_ETL, "server", "1", "20", "4", etl, "50"], check=True, timeout=60)
        return etl

    def test_collapsed_stacks_are_those_of_trace_cpu(self):
        for stacks in "running", "waiting":
            of_cpu = run("cpu", self.sampled(), "--format", "collapsed", "--of", stacks)
            exported = run("export", "collapsed", self.sampled(), "--of", stacks)
            self.assertEqual(exported.stdout, of_cpu.stdout)
            self.assertGreater(len(exported.stdout), 100)

    def test_stacks_of_requests_and_of_events_add_up(self):
        trace = self.traces["disk-bursts.etl"]
        disks = answer_of(run("io", trace, "--format", "json"))["disk"]["disks"]
        sums = self.collapsed(trace, "--of", "disk")
        self.assertEqual(sum(sums.values()), 100 * sum(one["response"] for one in disks))
        self.assertTrue(all(path.endswith(("[disk: read]", "[disk: write]")) for path in sums))
        lines = [json.loads(line) for line in run("decode", trace, "--event", "DiskIo/Read").stdout.splitlines()]
        reads = [line for line in lines if line["type"] == "event"]
        self.assertGreater(len(reads), 10)
        for options, expected in (([], len(reads)), (["--weight", "TransferSize"], sum(
                line["fields"]["TransferSize"] for line in reads))):
            sums = self.collapsed(trace, "--of", "events", "--event", "DiskIo/Read", *options)
            self.assertEqual(sum(sums.values()), expected)
        done = run("export", "collapsed", trace, "--of", "events", "--event", "DiskIo/Read",
                   "--weight", "NoSuchField")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"weight-missing", done.stderr)
        self.assertEqual(run("export", "collapsed", trace, "--event", "DiskIo").returncode, 2)

    def test_speedscope_has_what_collapsed_stacks_have(self):
        for trace, stacks in ((self.sampled(), "running"), (self.sampled(), "waiting"),
                              (self.traces["disk-bursts.etl"], "disk")):
            with self.subTest(stacks=stacks):
                answer = strict_json(self.export("speedscope", trace, "--of", stacks))
                names = [frame["name"] for frame in answer["shared"]["frames"]]
                sums = Counter()
                for profile in answer["profiles"]:
                    self.assertEqual(len(profile["samples"]), len(profile["weights"]))
                    self.assertEqual(profile["endValue"], sum(profile["weights"]))
                    for stack, weight in zip(profile["samples"], profile["weights"]):
                        path = [names[frame] for frame in stack]
                        self.assertEqual(path[0], profile["name"])
                        sums[";".join([path[0].replace(", ", ";", 1)] +
                                      [one.replace(";", ":") for one in path[1:]])] += weight
                self.assertEqual(+sums, +self.collapsed(trace, "--of", stacks))

    def test_speedscope_is_as_its_own_schema_has_it(self):
        schema = npm("speedscope/dist/release/file-format-schema.json")
        if not schema:
            self.skipTest("npm's speedscope is not here (COLDTRACE_NPM)")
        for trace, stacks in ((self.sampled(), "running"), (self.traces["disk-bursts.etl"], "disk")):
            content = self.export("speedscope", trace, "--of", stacks)
            jsonschema.validate(json.loads(content), json.loads(schema.read_text()))

    def firefox(self, trace, *options):
        profile = strict_json(self.export("firefox", trace, *options))
        shared = profile["shared"]
        texts = shared["stringArray"]

        def bounded(values, count):
            for value in values:
                if value is not None and value != -1:
                    self.assertTrue(0 <= value < count, value)
        tables = [table for name, table in shared.items() if name != "stringArray"]
        for thread in profile["threads"]:
            tables += [thread["samples"], thread["markers"]]
            bounded(thread["samples"]["stack"], shared["stackTable"]["length"])
            bounded(thread["markers"]["name"], len(texts))
            self.assertEqual(thread["samples"]["time"], sorted(thread["samples"]["time"]))
            self.assertIsInstance(thread["pid"], str)
        for table in tables:
            for column in table.values():
                if isinstance(column, list):
                    self.assertEqual(len(column), table["length"])
        bounded(shared["stackTable"]["frame"], shared["frameTable"]["length"])
        bounded(shared["frameTable"]["func"], shared["funcTable"]["length"])
        bounded(shared["funcTable"]["name"], len(texts))
        bounded(shared["funcTable"]["resource"], shared["resourceTable"]["length"])
        bounded(shared["resourceTable"]["lib"], len(profile["libs"]))
        for number, prefix in enumerate(shared["stackTable"]["prefix"]):
            self.assertTrue(prefix is None or prefix < number)
        types = {schema["name"] for schema in profile["meta"]["markerSchema"]}
        for thread in profile["threads"]:
            self.assertTrue({data["type"] for data in thread["markers"]["data"]} <= types)
        return profile

    def stack_of(self, profile, number):
        shared, names = profile["shared"], []
        while number is not None:
            function = shared["frameTable"]["func"][shared["stackTable"]["frame"][number]]
            names.append(shared["stringArray"][shared["funcTable"]["name"][function]])
            number = shared["stackTable"]["prefix"][number]
        return names[::-1]

    def test_firefox_has_the_samples_of_collapsed_stacks(self):
        trace = self.sampled()
        profile = self.firefox(trace)
        sums = Counter()
        for thread in profile["threads"]:
            for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
                names = [name.replace(";", ":") for name in self.stack_of(profile, stack)]
                sums[thread["tid"] if thread["pid"] != "interrupts" else "interrupts",
                     ";".join(names)] += round(weight * 1e6)
        expected = Counter()
        for path, weight in self.collapsed(trace).items():
            top, *rest = path.split(";")
            if top in ("[DPC]", "[ISR]", "[unknown thread]"):
                expected["interrupts", ";".join(rest)] += weight
            else:
                expected[int(re.match(r"thread (\d+)", rest[0])[1]), ";".join(rest[1:])] += weight
        self.assertEqual(+sums, +expected)
        # Each delta is how long the thread ran since its sample before.
        deltas = {thread["tid"]: sum(value or 0 for value in thread["samples"]["threadCPUDelta"] or [])
                  for thread in profile["threads"]}
        running = self.running_of(self.schedule(trace))
        self.assertGreater(sum(deltas.values()), 0)
        for tid, delta in deltas.items():
            if tid:
                self.assertLessEqual(delta, running[tid])

    def test_firefox_has_all_that_threads_ran_in_less_than_a_microsecond(self):
        for sampled in False, True:
            log = EtlWriter(1)
            for begin in range(0, 20_000, 100):
                log.switch(0, begin, 0, 1000)
                if sampled:
                    log.perfinfo(0, 0x0F2E, 2, begin + 5, struct.pack("<QIHH", KERNEL, 1000, 1, 0x40))
                log.switch(0, begin + 9, 1000, 0)
            with self.subTest(sampled=sampled):
                profile = self.firefox(self.written("short.etl", log))
                self.assertEqual(profile["meta"]["sampleUnits"]["threadCPUDelta"], "ns")
                deltas, = (thread["samples"]["threadCPUDelta"] for thread in profile["threads"] if thread["tid"] == 1000)
                self.assertEqual(deltas, [None] + [900] * 199 if sampled else [0, 900] * 200)

    def test_firefox_has_waits_and_requests(self):
        for name in "server.etl", "server.ctrace", "disk-bursts.etl":
            with self.subTest(name=name):
                trace = self.traces[name]
                profile = self.firefox(trace)
                kinds = Counter(data["type"] for thread in profile["threads"]
                                for data in thread["markers"]["data"])
                disks = answer_of(run("io", trace, "--format", "json"), 0, 1)["disk"]["disks"]
                self.assertEqual(kinds["DiskRequest"], sum(one["timed"] for one in disks))
                schedule = self.schedule(trace)
                # Without samples each turn is one.
                sums = {thread["tid"]: round(sum(thread["samples"]["weight"]) * 1e6)
                        for thread in profile["threads"] if thread["samples"]["length"]}
                self.assertEqual(sums, {tid: time for tid, time in self.running_of(schedule).items()
                                        if tid > 0})
                waits = Counter()
                for thread in profile["threads"]:
                    markers = thread["markers"]
                    for begin, end, data in zip(markers["startTime"], markers["endTime"], markers["data"]):
                        if data["type"] == "Wait":
                            waits[thread["tid"]] += round((end - begin) * 1e6)
                for one in schedule["threads"]:
                    if one["at_end"]["state"] == "running" and one["idle_cpu"] is None:
                        self.assertEqual(waits[one["tid"]], one["waiting"] * 100)

    def test_mozillas_own_program_reads_firefox_profiles(self):
        program = npm("@firefox-devtools/profiler-cli/dist/profiler-cli.js")
        if not program or shutil.which("node") is None:
            self.skipTest("npm's @firefox-devtools/profiler-cli or node is not here (COLDTRACE_NPM)")
        profile = self.path / "server.json"
        profile.write_bytes(self.export("firefox", self.traces["server.etl"]))
        home = {**os.environ, "HOME": str(self.path)}

        def ask(*words):
            return subprocess.run(["node", program, *words], capture_output=True, timeout=60, env=home)
        try:
            done = ask("load", profile)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            info = ask("profile", "info").stdout.decode()
            self.assertIn("server.exe", info)
        finally:
            ask("stop")

    # The time of the first event is that of the session's header.
    def test_what_began_before_the_first_event_is_left_out_and_told(self):
        log = EtlWriter(1)
        log.dpc(0, -50, 10, KERNEL)
        log.dpc(0, 20, 30, KERNEL)
        trace = self.written("early.etl", log)
        for form in "chrome", "perfetto":
            done = run("export", form, "-v", trace)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"timeline-start", done.stderr)
        self.assertEqual([event["dur"] for event in self.chrome(trace) if event["ph"] == "X"], [1.0])

    # More at one time than Perfetto's rows are given.
    def test_requests_beyond_the_most_rows_are_told(self):
        log, buffers = EtlWriter(1), []
        for number in range(1100):
            end = 10_000 + number
            log.perfinfo(0, 0x010A, 3, end, struct.pack("<IIIIQQQQI", 0, 0, 512, 0, 512 * number, 0,
                                                        0x1000 + number, end - 100, 8))
            if number % 500 == 499:
                buffers.append(log.take(0))
        buffers.append(log.take(0))
        trace = self.path / "many.etl"
        trace.write_bytes(log.build(buffers))
        done = run("export", "perfetto", trace)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"76 requests are beyond", done.stderr)
        self.assertIn(b"export-limit", done.stderr)

    def test_a_sample_of_windows(self):
        if not SAMPLE.exists():
            self.skipTest("the sample traces are not here")
        need("protoc")
        read = self.perfetto(SAMPLE)
        requests = read.slices_of(lambda track: track.one("name", b"").startswith(b"disk "))
        disks = answer_of(run("io", SAMPLE, "--format", "json"), 0, 1)["disk"]["disks"]
        self.assertEqual(len(requests), sum(one["timed"] for one in disks))
        self.assertGreater(len(requests), 1000)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
