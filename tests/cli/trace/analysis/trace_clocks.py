"""A run has the same answers whatever clock its trace counts in.

Each unit of a made-up run is one tick of the clock. With a clock of 100 ns the answers are ticks, so
that those with any other one are known: times and lengths are sums of ticks, converted once and
rounded down.

usage: trace_clocks.py COLDTRACE MAKE_SCENARIO_ETL [arguments of unittest]
"""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from cli.trace.analysis.scenario_reading import ticks_of
from strict import strict_json

COLDTRACE, MAKE_SCENARIO_ETL = (Path(a).resolve() for a in sys.argv[1:3])
UNITS = 10_000_000  # of 100 ns in a second
# Type, frequency, and ticks between samples, which are a whole number of units; 0: no samples.
CLOCKS = ((1, 2_500_000, 100), (1, 3_579_545, 0), (1, 25_000_000, 100), (2, 3_579_545, 100),
          (3, 1_000_000_000, 100), (3, 2_893_000_000, 0))
SYSTEM_TIME, CYCLES = 2, 3
UTC = re.compile(r"[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")
COMMANDS = (("schedule",), ("priority",), ("services",), ("cpu",), ("tree",), ("graph", "wait-for"),
            ("deadlocks",), ("idle",), ("io",), ("top",), ("critical-path",))
LENGTHS = {"elapsed", "busy", "idle", "unknown", "running", "ready", "waiting", "off", "swapped",
           "created", "longest", "p50", "p90", "p99", "inclusive", "exclusive", "on_processor",
           "mean", "shortest", "up_to", "duration", "changing", "sampled", "sampled_dpc",
           "sampled_isr", "difference", "sampled_idle", "dpc_time", "isr_time", "response", "service",
           "queue", "interval", "interrupted"}
# Of these commands a member with such a name is a number of something, or the value of an option.
COUNTS = {"graph": {"unknown"}, "idle": {"network_window"}}
BY_TIMEOUTS = {"savings", "optimum"}
BYTES = {"sizes"}
TEXT = {"text"}  # of findings


class Clocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def trace(self, scenario, kind, frequency, interval):
        path = self.folder / f"{scenario}-{kind}-{frequency}-{interval}.etl"
        if not path.exists():
            subprocess.run([MAKE_SCENARIO_ETL, scenario, "5", "0", "4", path, str(interval), str(kind),
                            str(frequency)], check=True)
        return path

    def ask(self, path, words):
        done = subprocess.run([COLDTRACE, "trace", *words, path, "--format", "json"],
                              capture_output=True, timeout=120)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return strict_json(done.stdout)

    def compare(self, got, ticks, rate, start, counts, path, skip):
        if path and path[-1] in skip:
            return
        if isinstance(ticks, dict):
            self.assertEqual(got.keys(), ticks.keys(), path)
            for name in ticks:
                self.compare(got[name], ticks[name], rate, start, counts, (*path, name), skip)
        elif isinstance(ticks, list):
            self.assertEqual(len(got), len(ticks), path)
            for i, one in enumerate(ticks):
                self.compare(got[i], one, rate, start, counts, (*path, i), skip)
        elif isinstance(ticks, str) and UTC.fullmatch(ticks):
            self.assertEqual(ticks_of(got), start + (ticks_of(ticks) - start) * UNITS // rate, path)
            self.seen["times"] += 1
        elif type(ticks) is int and path[-1] in LENGTHS - counts and not BYTES & set(path):
            sign = -1 if ticks < 0 else 1
            self.assertEqual(got, sign * (abs(ticks) * UNITS // rate), path)
            self.seen["lengths"] += ticks > 0
        else:
            self.assertEqual(got, ticks, path)

    def check(self, scenario, kind, frequency, interval):
        self.seen = {"times": 0, "lengths": 0}
        own = self.trace(scenario, kind, frequency, interval)
        plain = self.trace(scenario, SYSTEM_TIME, UNITS, interval)
        start = ticks_of(self.ask(plain, ("info",))["session"]["start_time"])
        rate = UNITS if kind == SYSTEM_TIME else frequency
        busiest = max((one for one in self.ask(plain, ("schedule",))["threads"] if one["tid"]),
                      key=lambda one: (one["turns"], one["tid"]))["tid"]
        for words in COMMANDS:
            if words[0] == "critical-path":
                words = *words, "--thread", str(busiest)
            with self.subTest(scenario=scenario, clock=kind, frequency=frequency, command=words[0]):
                skip = BY_TIMEOUTS | TEXT
                # Their response times are in another counter than that of the events.
                if kind in (SYSTEM_TIME, CYCLES):
                    if words[0] in ("io", "idle"):
                        continue
                    skip.add("disk")
                self.compare(self.ask(own, words), self.ask(plain, words), rate, start,
                             COUNTS.get(words[0], set()), (), skip)
        return self.seen

    def test_every_clock_gives_the_same_answers(self):
        for clock in CLOCKS:
            seen = self.check("server", *clock)
            self.assertGreater(seen["times"], 100)
            self.assertGreater(seen["lengths"], 400)

    def test_other_runs(self):
        for scenario, clock in (("disk-bursts", CLOCKS[1]), ("priority-inversion", CLOCKS[4]),
                                ("disk-idle", CLOCKS[2]), ("id-reuse", CLOCKS[1])):
            self.check(scenario, *clock)

    def test_response_times_of_disks_are_in_the_performance_counter(self):
        """Each is rounded to the counter by who logs it, and to a tick by who reads it."""
        plain = self.ask(self.trace("disk-bursts", SYSTEM_TIME, UNITS, 0), ("io",))["disk"]["disks"]
        self.assertGreater(len(plain), 0)
        for kind, frequency in ((SYSTEM_TIME, 3_579_545), (CYCLES, 2_893_000_000)):
            rate, counter = (UNITS, frequency) if kind == SYSTEM_TIME else (frequency, UNITS)
            disks = self.ask(self.trace("disk-bursts", kind, frequency, 0), ("io",))["disk"]["disks"]
            self.assertEqual(len(disks), len(plain))
            for got, ticks in zip(disks, plain):
                self.assertEqual((got["timed"], got["reads"]), (ticks["timed"], ticks["reads"]))
                expected = ticks["response"] * UNITS / rate
                most = got["timed"] * (UNITS / counter + UNITS / rate) + 1
                self.assertLessEqual(got["response"], expected)
                self.assertGreater(got["response"], expected - most)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
