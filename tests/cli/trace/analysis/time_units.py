"""Durations in text have their unit, beside them or in the heading of their column.

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
SECONDS = re.compile(r"(?<![^ ])-?\d+\.\d{7}(?!\d)")
UNITS = {"us": 10, "ms": 10_000, "s": 10_000_000}  # in units of 100 ns


def run(*arguments):
    done = subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True, timeout=120)
    assert done.returncode == 0, (arguments, done.stderr)
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

    def test_seconds_have_their_unit(self):
        """Columns end where their headings do."""
        switches, calls = ("boot", "priority-inversion", "disk-bursts"), ("system-calls", "vxd-services")
        for command, scenarios, least in (
                (("cpu",), switches, 60), (("schedule",), switches, 200), (("top",), (*switches, *calls), 50),
                (("priority",), switches[:2], 50), (("idle",), switches, 0),
                (("services",), calls, 100), (("services", "--trees"), calls, 100)):
            found = 0
            for scenario in scenarios:
                heading = ""
                for line in run(*command, self.scenario(scenario)).decode().splitlines():
                    if "(s)" in line:
                        heading = line
                    for number in SECONDS.finditer(line):
                        found += 1
                        self.assertTrue(line[number.end():].startswith(" s") or
                                        heading[:number.end()].endswith(" (s)"), (command, scenario, heading, line))
            self.assertGreaterEqual(found, least, command)

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
