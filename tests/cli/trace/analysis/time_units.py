"""Durations in text have their unit, and counts commas, whichever command shows them.

usage: time_units.py COLDTRACE [unittest arguments]
"""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from strict import strict_json

COLDTRACE = Path(sys.argv[1]).resolve()
BARE = re.compile(r"(?<![^ (])-?\d+\.\d{7}(?!\d)")  # moments have a sign
DURATION = re.compile(r"(?<![^ +(-])(?:\d\d?\d?\.\d (us)|\d\d?\d?\.\d\d (ms)|[\d,]+\.\d{3} (s)|0 s)(?!\w)")
UNITS = {"us": 10, "ms": 10_000, "s": 10_000_000}  # in units of 100 ns


def run(*arguments, status=0):
    done = subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True, timeout=120)
    assert done.returncode == status, (arguments, done.stderr)
    return done.stdout


class TimeUnits(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def scenario(self, name):
        path = self.folder / f"{name}.ctrace"
        if not path.exists():
            run("synthesize", name, "-o", path)
        return path

    def test_durations_have_their_unit(self):
        switches, calls = ("boot", "priority-inversion", "disk-bursts"), ("system-calls", "vxd-services")
        for command, scenarios, least in (
                (("cpu",), switches, 60), (("schedule",), switches, 200), (("top",), (*switches, *calls), 50),
                (("priority",), switches[:2], 50), (("idle",), switches, 20), (("io",), switches[2:], 20),
                (("critical-path", "--thread", "1008"), ("server",), 20), (("graph", "wait-for"), ("server",), 4),
                (("services",), calls, 100), (("services", "--trees"), calls, 100)):
            found = 0
            for scenario in scenarios:
                text = run(*command, self.scenario(scenario)).decode()
                self.assertEqual(BARE.findall(text), [], (command, scenario))
                self.assertNotRegex(text, r"(?m)(?<!since) \(s\)", (command, scenario))
                found += len(DURATION.findall(text))
            self.assertGreaterEqual(found, least, command)

    def test_counts_have_commas(self):
        """All but ids, addresses and moments: here no id has five digits."""
        for scenario, commands in (("server", ("services", "services --trees", "top", "info", "cpu", "tree")),
                                   ("producer-consumer", ("priority", "schedule", "graph wait-for", "graph wait-for --format dot", "top"))):
            path = self.folder / f"long-{scenario}.ctrace"
            run("synthesize", scenario, "--rounds", "12000", "-o", path)
            for command in commands:
                text = run(*command.split(), path, "-q").decode()
                self.assertEqual(re.findall(r"(?m)(?<![\w.#+-])\d{5,}x?(?![\w.-])", text), [], (command, scenario))
                if command != "tree" and "cpu" not in command:
                    self.assertRegex(text, r"(?<![\d.,])\d{1,3},\d{3}x?(?![\d.,]\d)", (command, scenario))
            text = run("compare", self.scenario(scenario), path, status=1).decode()
            self.assertRegex(text, r"(?m)^changed +\d+ +\d\d,\d{3} ")
            self.assertEqual(re.findall(r"(?<![\w.#+-])\d{5,}(?![\w.-])", text), [])

    def test_durations_of_devices_are_those_of_json(self):
        path = self.scenario("disk-idle")
        text = run("idle", path).decode()
        answer = strict_json(run("idle", path, "--format", "json"))
        told = re.findall(r"^\w+ \d+: busy ([\d.]+) (\w+), idle ([\d.]+) (\w+) \((\d+) times?, p50 [\d.]+ \w+, longest "
                          r"([\d.]+) (\w+)\), unknown [\d.]+ \w+$", text, re.M)
        self.assertEqual(len(told), len(answer["devices"]))
        self.assertGreater(len(told), 1)
        for (busy, busy_unit, idle, idle_unit, times, longest, longest_unit), device in zip(told, answer["devices"]):
            self.assertEqual(int(times), sum(step["count"] for step in device["idle_times"]))
            for number, unit, value in ((busy, busy_unit, device["busy"]), (idle, idle_unit, device["idle"]),
                                        (longest, longest_unit, device["longest"][0]["duration"])):
                rounding = UNITS[unit] / 10 ** len(number.partition(".")[2])
                self.assertAlmostEqual(float(number) * UNITS[unit], value, delta=rounding, msg=device)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
