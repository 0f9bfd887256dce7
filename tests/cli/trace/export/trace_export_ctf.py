"""The CTF export, read by babeltrace2 and held against what the analyses say of the same traces, by the rules
that Trace Compass has for a trace of LTTng's kernel tracer.

usage: trace_export_ctf.py COLDTRACE SHARED MAKE_SCENARIO_ETL [arguments of unittest]
"""
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from cli.trace.analysis.answers import answer_of, runner
from cli.trace.etl_writer import NO_PER_PROCESSOR, EtlWriter
from case import Case

COLDTRACE, SHARED, MAKE_SCENARIO_ETL = (Path(a).resolve() for a in sys.argv[1:4])
SAMPLE = SHARED / "samples/etl/pv_net.4.5.2.x64.etl"
SCENARIOS = ("producer-consumer", "server", "disk-bursts", "migration", "losses", "id-reuse", "vxd-services")
LOST, NOT_SHOWN = 1, 2
STATES = {"Ready": 0, "Running": 0, "Standby": 0, "DeferredReady": 0, "Initialized": 0, "Waiting": 1,
          "GateWait": 1, "Transition": 2, "WaitingForProcessInSwap": 2, "Terminated": 64, "-": 1}

run = runner(COLDTRACE, "trace")


class Event:
    """A line of `babeltrace2 --clock-cycles --no-delta`."""
    LINE = re.compile(r"\[(\d+)\] (\w+): (?:\{ cpu_id = (\d+) \}, )?\{ (.*) \}$")
    FIELD = re.compile(r'(\w+) = ("(?:\\.|[^"\\])*"|-?\d+)(?:, |$)')

    def __init__(self, line):
        time, self.name, cpu, fields = self.LINE.match(line).groups()
        self.time, self.cpu = int(time), None if cpu is None else int(cpu)
        self.fields = {name: value[1:-1] if value.startswith('"') else int(value)
                       for name, value in self.FIELD.findall(fields)}


def packets(content):
    """Of each packet of a stream: of which stream class, times of its ends, lost events, processor."""
    at = 0
    while at < len(content):
        magic, _, stream, begin, end, size, whole, lost = struct.unpack_from("<I16sI5Q", content, at)
        assert magic == 0xC1FC1FC1 and size == whole and size % 8 == 0, at
        yield stream, begin, end, lost, struct.unpack_from("<I", content, at + 64)[0] if stream == 0 else None
        at += size // 8
    assert at == len(content)


class Ctf(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if shutil.which("babeltrace2") is None:
            raise unittest.SkipTest("babeltrace2 is not installed")
        cls.traces, cls.folder = {}, Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for name in SCENARIOS:
            ctrace = cls.folder / f"{name}.ctrace"
            subprocess.run([COLDTRACE, "trace", "synthesize", name, "-q", "-o", ctrace], check=True, timeout=60)
            cls.traces[ctrace.name] = ctrace
            if name != "vxd-services":
                etl = cls.folder / f"{name}.etl"
                subprocess.run([MAKE_SCENARIO_ETL, name, "1", "20", "2", etl, "50"], check=True, timeout=60)
                cls.traces[etl.name] = etl

    def export(self, trace, *options):
        folder = self.here / f"out-{len(list(self.here.iterdir()))}"
        done = run("export", "ctf", trace, "-o", folder, *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(list(self.here.glob("out-*.*")), [])
        return folder

    def read(self, folder):
        done = subprocess.run(["babeltrace2", "--clock-cycles", "--no-delta", folder], capture_output=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [Event(line) for line in done.stdout.decode().splitlines()]

    def running(self, events):
        """Of each thread, from the switch to it to the next one of that processor; no switch contradicts."""
        at, sums = {}, Counter()
        for event in events:
            if event.name != "sched_switch":
                continue
            fields = event.fields
            if event.cpu in at:
                tid, since = at[event.cpu]
                self.assertEqual(fields["prev_tid"], tid)
                sums[tid] += event.time - since
            self.assertEqual(fields["prev_state"], STATES[fields["prev_windows_state"]])
            if fields["next_tid"] == 0:
                self.assertEqual(fields["next_comm"], "idle")
            at[event.cpu] = fields["next_tid"], event.time
        return sums

    def test_processors_are_those_of_the_analyses(self):
        kinds = Counter()
        for name, trace in self.traces.items():
            with self.subTest(name=name):
                events = self.read(self.export(trace))
                kinds += Counter(event.name for event in events)
                schedule = answer_of(run("schedule", trace, "--format", "json"), 0, 1)
                told = Counter()
                for thread in schedule["threads"]:
                    if thread["idle_cpu"] is None:
                        told[thread["tid"]] += thread["running"] * 100
                sums = self.running(events)
                for special in 0, LOST, NOT_SHOWN:
                    sums.pop(special, None)
                self.assertEqual(+sums, +told)
                counts = schedule["counts"]
                self.assertEqual(sum(event.name == "sched_waking" for event in events),
                                 counts["readied"] - counts["superfluous"])
                self.services(trace, events)
                disks = answer_of(run("io", trace, "--format", "json"), 0, 1)["disk"]["disks"]
                self.assertEqual(sum(event.name == "windows_disk_request" for event in events),
                                 sum(one["timed"] for one in disks))
                self.population(trace, events)
        self.assertGreater(min(kinds[name] for name in (
            "sched_switch", "sched_waking", "irq_handler_entry", "softirq_entry", "windows_call",
            "windows_disk_request", "windows_file_operation")), 5 if "windows_file_operation" in kinds else 0)

    def services(self, trace, events):
        """Interrupts are nested in each processor; calls are as many and as long as in `trace services`."""
        services = answer_of(run("services", trace, "--format", "json"), 0, 1)["services"]
        told = {kind: [0, 0] for kind in ("isr", "dpc", "call")}
        for one in services:
            kind = {"isr": "isr", "dpc": "dpc", "timer_dpc": "dpc", "io_timer": "dpc"}.get(one["kind"], "call")
            told[kind][0] += one["calls"]
            told[kind][1] += one["inclusive"] * 100 if kind != "call" else 0
        open_, found = defaultdict(list), {kind: [0, 0] for kind in told}
        for event in events:
            if event.name in ("irq_handler_entry", "softirq_entry"):
                open_[event.cpu].append(event)
            elif event.name in ("irq_handler_exit", "softirq_exit"):
                entry = open_[event.cpu].pop()
                number = "irq" if event.name.startswith("irq") else "vec"
                self.assertEqual(entry.fields[number], event.fields[number])
                kind = found["isr" if number == "irq" else "dpc"]
                kind[0] += 1
                kind[1] += event.time - entry.time
            elif event.name == "sched_switch":
                self.assertFalse(open_[event.cpu])
            elif event.name == "windows_call":
                found["call"][0] += 1
        self.assertFalse(any(open_.values()))
        self.assertEqual(found, told)

    def population(self, trace, events):
        tree = answer_of(run("tree", trace, "--format", "json"), 0, 1)
        told = Counter((one["pid"], one["pid"], -1 if one["stated_parent_pid"] is None else one["stated_parent_pid"])
                       for one in tree["processes"] if one["pid"])
        pids = {one["id"]: one["pid"] for one in tree["processes"]}
        told += Counter((one["tid"], pids[one["process"]], pids[one["process"]]) for one in tree["threads"]
                        if one["idle_cpu"] is None and one["process"] is not None)
        self.assertEqual(Counter((event.fields["tid"], event.fields["pid"], event.fields["ppid"]) for event in events
                                 if event.name == "lttng_statedump_process_state"), told)
        self.assertEqual(sum(event.name == "sched_process_exit" for event in events),
                         sum(one["end"] is not None and one["process"] is not None for one in tree["threads"]))

    def test_files_are_as_their_packets_say(self):
        folder = self.export(self.traces["losses.etl"])
        self.assertIn('domain = "kernel"', (folder / "metadata").read_text())
        self.assertTrue((folder / "metadata").read_text().startswith("/* CTF 1.8 */\n"))
        lost = 0
        for file in folder.glob("channel_*"):
            last = 0
            for stream, begin, end, missing, cpu in packets(file.read_bytes()):
                self.assertEqual((stream, cpu), (0, int(file.name.split("_")[1])))
                self.assertTrue(last <= begin <= end)
                last, previous = end, missing
            lost += previous
        self.assertGreater(lost, 0)
        events = self.read(folder)
        self.assertTrue(any(event.fields.get("next_comm") == "[events are missing]" for event in events))

    def test_a_ready_event_of_no_known_processor(self):
        for mode, cpu in (1, 1), (1 | NO_PER_PROCESSOR, None):
            with self.subTest(mode=mode):
                log = EtlWriter(2, mode=mode)
                log.thread(1, 0, 100, 104)
                log.ready(1, 50, 104)
                trace = self.here / "ready.etl"
                trace.write_bytes(log.build())
                waking = [event for event in self.read(self.export(trace)) if event.name == "sched_waking"]
                self.assertEqual([(event.cpu, event.fields["target_cpu"], event.fields["tid"]) for event in waking],
                                 [(cpu, -1 if cpu is None else cpu, 104)])

    def test_a_selection_hides_the_others(self):
        trace = self.traces["server.etl"]
        whole, one = self.read(self.export(trace)), self.read(self.export(trace, "--thread", "1008"))
        self.assertEqual(self.running(one)[1008], self.running(whole)[1008])
        self.assertEqual(set(self.running(one)) - {0, NOT_SHOWN}, {1008})
        self.assertEqual({event.fields["tid"] for event in one if event.name == "windows_call"}, {1008})

    def test_the_folder_is_new_and_whole(self):
        trace = self.traces["server.etl"]
        first, again = self.export(trace), self.export(trace)
        for file in first.iterdir():
            self.assertEqual(file.read_bytes(), (again / file.name).read_bytes())
        for target in first, self.here / "file":
            if not target.exists():
                target.write_text("mine")
            before = sorted(self.here.rglob("*"))
            done = run("export", "ctf", trace, "-o", target)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"cannot write: File exists; the output must be a new folder", done.stderr)
            self.assertEqual(sorted(self.here.rglob("*")), before)
        self.assertEqual((self.here / "file").read_text(), "mine")
        done = run("export", "ctf", trace)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"with -o", done.stderr)
        done = run("export", "ctf", trace, "-o", self.here / "no/such/folder")
        self.assertEqual(done.returncode, 2)

    def test_times_are_utc(self):
        folder = self.export(self.traces["server.etl"])
        seconds, rest = re.search(r"offset_s = (\d+); offset = (\d+); absolute = TRUE",
                                  (folder / "metadata").read_text()).groups()
        first = answer_of(run("schedule", self.traces["server.etl"], "--format", "json"))["first_event"]
        line = subprocess.run(["babeltrace2", "--clock-gmt", "--clock-date", folder], capture_output=True,
                              timeout=60).stdout.decode().splitlines()[0]
        self.assertTrue(line.startswith(f"[{first[:10]} {first[11:27]}"), (line, first))
        self.assertEqual(int(rest) // 100 % 10**7, int(first[20:27]))

    def test_a_real_trace(self):
        if not SAMPLE.exists():
            self.skipTest("the sample traces are not beside the checkout")
        events = self.read(self.export(SAMPLE))
        disks = answer_of(run("io", SAMPLE, "--format", "json"))["disk"]["disks"]
        requests = [event.fields for event in events if event.name == "windows_disk_request"]
        self.assertEqual(len(requests), 1231)
        self.assertEqual(sum(one["duration"] for one in requests) // 100, sum(one["response"] for one in disks))
        self.assertEqual(sum(one["bytes"] for one in requests if one["action"] == "read"), 19564544)
        names = {event.fields["name"] for event in events if event.name == "lttng_statedump_process_state"}
        self.assertTrue({"Test.x64.exe", "PerfView.exe", "System"} <= names)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
