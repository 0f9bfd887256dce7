"""--sort: the rows of JSON and of CSV are sorted again here by their members, and those of text are in the order of JSON.

usage: row_order.py COLDTRACE SHARED MAKE_CPU_TRACES [unittest arguments]
"""
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from cli.trace.analysis.answers import answer_of, runner
from cli.trace.etl_writer import EtlWriter, utf16z
from strict import strict_csv

DURATION = r"[\d.,]+ (?:us|ms|s)"

COLDTRACE, SHARED, MAKE_CPU_TRACES = (Path(argument).resolve() for argument in sys.argv[1:4])
del sys.argv[1:4]
run = runner(COLDTRACE, "trace")


def microseconds(text):
    """Of a duration in text."""
    number, unit = text.split()
    return float(number.replace(",", "")) * {"us": 1, "ms": 10 ** 3, "s": 10 ** 6}[unit]


def requests(row):
    return row["reads"] + row["writes"] + row["flushes"] + row["others"]


def moved(row):
    return row["bytes_sent"] // 2 + row["bytes_received"] // 2


def packets(row):
    return row["sends"] + row["receives"]


def of_drivers(row):
    return row["dpc_time"] + row["isr_time"]


def interrupts(row):
    return row["dpcs"] + row["isrs"]


def used(row):
    return row["running"] if row["running"] is not None else row["sampled"]


def member(*names):
    return lambda row: [row[name] for name in names]


REAL = "pv_net.4.5.2.x64.etl"
# Tables of answers: what --sort time and --sort count have most of first.
SERVICES = {"services": (member("inclusive"), member("calls"))}
SCHEDULE = {"threads": (member("running"), member("turns"))}
USE = {name: (member("running"), member("samples", "turns")) for name in ("processes", "threads")}
CODE = {name: (member("sampled"), member("samples")) for name in ("modules", "functions")}
DRIVERS = {"drivers": (of_drivers, interrupts), "routines": (member("exclusive"), member("runs"))}
IO = {**{f"disk.{name}": (member("response"), requests) for name in ("files", "processes", "threads")},
      **{f"network.{name}": (moved, packets) for name in ("processes", "peers")}}


# Of the page of `trace top`, the rows of which are those of the tables above.
TOP_PROCESSOR = {"processor.processes": (used, member("samples", "turns"))}
TOP_DRIVERS = {"processor.drivers": (of_drivers, interrupts)}
TOP_DISK = {f"disk.{name}": (member("response"), member("requests")) for name in ("files", "processes")}
TOP_NETWORK = {"network.processes": (moved, packets)}
TOP_SERVICES = {"services.slowest": (member("longest"), member("calls"))}

FILES = {f"file_operations.{name}": (member("duration"), member("operations")) for name in ("files", "processes")}


def table_of(answer, path):
    for name in path.split("."):
        answer = answer[name]
    return answer


class RowOrder(Case):
    def scenario(self, name):
        path = self.here / f"{name}.ctrace"
        self.call(COLDTRACE, "trace", "synthesize", name, "-o", path)
        return path

    def sample(self, name):
        path = SHARED / "samples/etl" / name
        if not path.exists():
            raise unittest.SkipTest("no sample traces")
        return path

    def answer(self, command, path, *options):
        return answer_of(run(command, path, "-q", "--format", "json", *options), 0, 1)

    def check(self, command, path, tables, differing, *options):
        """Each has its rows in both orders, and so many tables differ between them."""
        told = {order: self.answer(command, path, *options, *(["--sort", order] if order else ())) for order in ("", "time", "count")}
        self.assertEqual(told[""], told["time"])
        differ = 0
        for name, keys in tables.items():
            rows = [table_of(told[order], name) for order in ("time", "count")]
            self.assertGreater(len(rows[0]), 1, name)
            self.assertCountEqual(map(str, rows[0]), map(str, rows[1]))
            for table, key in zip(rows, keys):
                self.assertEqual([key(row) for row in table], sorted(map(key, table), reverse=True), (command, name))
            differ += rows[0] != rows[1]
        self.assertGreaterEqual(differ, differing, command)
        return told

    def lines(self, command, path, order, pattern):
        text = run(command, path, "-q", "--format", "text", "--top", 1_000_000, "--sort", order).stdout.decode()
        return re.findall(pattern, text, re.M)

    def test_services(self):
        path = self.scenario("system-calls")
        told = self.check("services", path, SERVICES, 1)
        for order in "time", "count":
            calls = [f"{row['calls']:,}" for row in told[order]["services"]]
            self.assertEqual(self.lines("services", path, order, rf"^ +([\d,]+) +\d+ +{DURATION} "), calls)
            cells = strict_csv(run("services", path, "-q", "--format", "csv", "--sort", order).stdout)
            self.assertEqual([f"{int(row['calls']):,}" for row in cells], calls)

    def test_services_of_a_period(self):
        path = self.scenario("system-calls")
        for order, column in (("time", 3), ("count", 0)):
            text = run("services", path, "-q", "--every", 1, "--top", 1000, "--sort", order).stdout.decode()
            periods = [re.findall(rf"^ +([\d,]+) +(\d+) +({DURATION}) ", part, re.M) for part in text.split("\nfrom ")[1:]]
            values = [[microseconds(row[2]) if column else int(row[0].replace(",", "")) for row in rows] for rows in periods]
            self.assertTrue(any(len(set(rows)) > 1 for rows in values))
            self.assertEqual(values, [sorted(rows, reverse=True) for rows in values])

    def test_schedule(self):
        path = self.scenario("boot")
        told = self.check("schedule", path, SCHEDULE, 1)
        for order in "time", "count":
            threads = [str(row["tid"]) for row in told[order]["threads"] if row["idle_cpu"] is None]
            self.assertEqual(self.lines("schedule", path, order, rf"^ +(\d+) +{DURATION} +{DURATION} +{DURATION} .*priority"),
                             threads)
        done = run("schedule", path, "--sort", "count", "--format", "csv")
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_processors(self):
        subprocess.run([MAKE_CPU_TRACES, self.here], check=True)
        self.check("cpu", self.scenario("boot"), USE, 0)
        self.check("cpu", self.here / "stacks.etl", CODE, 0)
        self.check("cpu", self.here / "drivers.etl", DRIVERS, 0)
        path = self.sample(REAL)
        told = self.check("cpu", path, {**USE, **CODE}, 3)
        for order in "time", "count":
            samples = [f"{row['samples']:,}" for name in ("modules", "functions") for row in told[order][name]]
            self.assertEqual(self.lines("cpu", path, order, rf"^ +{DURATION} +([\d,]+) +{DURATION} +{DURATION}  "), samples)

    def test_requests(self):
        path = self.sample(REAL)
        told = self.check("io", path, IO, 3)
        for order in "time", "count":
            peers = [(str(row["sends"]), str(row["receives"]), row["address"]) for row in told[order]["network"]["peers"]]
            self.assertEqual(self.lines("io", path, order, r"^ +(\d+) +\S+ \w+ +(\d+) .* (?:tcp|udp) (\S+)$"), peers)

    def test_file_operations(self):
        """One long read by a process, and two short ones by another."""
        trace, now = EtlWriter(), 0
        for pid, name, lengths in (10, "one.txt", [1000]), (20, "two.txt", [10, 10]):
            trace.process(0, now, pid, f"{pid}.exe")
            trace.thread(0, now, pid, pid + 1)
            trace.system(0, 0x0400, 2, now, struct.pack("<Q", pid) + utf16z("\\" + name))
            for length in lengths:
                trace.system(0, 0x0443, 3, now + 1, struct.pack("<QQQQIII", 0, 1, pid, pid, pid + 1, 512, 0), tid=pid + 1, pid=pid)
                now += length + 1
                trace.system(0, 0x044C, 3, now, struct.pack("<QQI", 1, 512, 0), tid=pid + 1, pid=pid)
        path = self.write("files.etl", trace.build())
        told = self.check("io", path, FILES, 2)
        for order, first in (("time", 10), ("count", 20)):
            self.assertEqual([row["pid"] for row in told[order]["file_operations"]["processes"]], [first, 30 - first])
            self.assertEqual(self.lines("io", path, order, r"  \\(one|two)\.txt$"),
                             ["one", "two"] if first == 10 else ["two", "one"])

    def test_a_page(self):
        whole = "--top", 1_000_000
        subprocess.run([MAKE_CPU_TRACES, self.here], check=True)
        self.check("top", self.here / "drivers.etl", TOP_DRIVERS, 0, *whole)
        self.check("top", self.scenario("system-calls"), TOP_SERVICES, 1, *whole)
        boot = self.scenario("boot")
        self.check("top", boot, TOP_PROCESSOR, 1, *whole)
        path = self.sample(REAL)
        told = self.check("top", path, {**TOP_PROCESSOR, **TOP_DISK, **TOP_NETWORK}, 3, *whole)
        for order in "time", "count":
            rows = [f"{row['requests']:,}" for name in ("processes", "files") for row in told[order]["disk"][name]]
            text = run("top", path, "-q", *whole, "--sort", order).stdout.decode()
            disk = text[text.index("\nDisk"):text.index("\nNetwork")]
            self.assertEqual(re.findall(rf"^ +{DURATION} +([\d,]+) ", disk, re.M), rows)
        # The first rows of the whole table, not of those that used most time.
        few = self.answer("top", path, "--top", 2, "--sort", "count")
        self.assertEqual(few["disk"]["files"], told["count"]["disk"]["files"][:2])
        self.assertNotEqual(few["disk"]["files"], told["time"]["disk"]["files"][:2])
        text = run("top", boot, "-q", *whole, "--sort", "count").stdout.decode()
        turns = [f"{row['turns']:,}" for row in self.answer("top", boot, *whole, "--sort", "count")["processor"]["processes"]]
        self.assertEqual(re.findall(rf"^ +{DURATION} +([\d,]+) +\d+\.\d %  ", text, re.M), turns)

    def test_what_ended_idle_times(self):
        path = self.sample(REAL)
        told = {order: self.answer("idle", path, *(["--sort", order] if order else ())) for order in ("", "time", "count")}
        self.assertEqual(told[""], told["time"])
        differ = 0
        for plain, counted in zip(told["time"]["devices"], told["count"]["devices"]):
            rows = plain.pop("ended_by"), counted.pop("ended_by")
            self.assertEqual(plain, counted)
            self.assertCountEqual(map(str, rows[0]), map(str, rows[1]))
            for table, key in zip(rows, ("duration", "count")):
                values = [row[key] for row in table]
                self.assertEqual(values, sorted(values, reverse=True))
            differ += rows[0] != rows[1]
            plain["ended_by"], counted["ended_by"] = rows
        self.assertGreater(differ, 0)
        for order in "time", "count":
            counts = [f"{row['count']:,}" for device in told[order]["devices"] for row in device["ended_by"]]
            self.assertEqual(self.lines("idle", path, order, r"^  ended ([\d,]+)x "), counts)

    def test_waits(self):
        path = self.scenario("server")
        told = {order: self.answer("graph", "wait-for", path, *(["--sort", order] if order else ())) for order in ("", "time", "count")}
        self.assertEqual(told[""], told["time"])
        self.assertCountEqual(map(str, told["time"]["waits"]), map(str, told["count"]["waits"]))
        counts = [one["count"] for one in told["count"]["waits"]]
        self.assertEqual(counts, sorted(counts, reverse=True))
        self.assertNotEqual(counts, [one["count"] for one in told["time"]["waits"]])
        text = run("graph", "wait-for", path, "-q", "--format", "text", "--sort", "count").stdout.decode()
        self.assertEqual(re.findall(r" waited (\d+)x for ", text), list(map(str, counts)))
        # Few nodes are those of the first rows.
        first = told["count"]["waits"][0]
        tid = next(one["tid"] for one in told["count"]["threads"] if one["id"] == first["thread"])
        draw = lambda order: run("graph", "wait-for", path, "-q", "--format", "dot", "--nodes", 2, "--sort", order).stdout.decode()
        self.assertIn(f"{tid:#010x}", draw("count"))
        self.assertNotIn(f"{tid:#010x}", draw("time"))

    def test_who_woke_whom(self):
        """A thread that is woken once after long, and one that is woken often."""
        trace, now = EtlWriter(), 10
        for pid, tid in (20, 21), (30, 31), (40, 41):
            trace.process(0, 0, pid, f"{pid}.exe")
            trace.thread(0, 0, pid, tid)
        trace.switch(0, now, 21, 41)
        for woken in 31, 31, 31, 21:
            trace.switch(0, now + 1, 41, 31)
            trace.switch(0, now + 2, 31, 41)
            trace.ready(0, now + 4, woken)
            trace.switch(0, now + 5, 41, woken)
            trace.switch(0, now + 6, woken, 41)
            now += 10
        path = self.write("woken.etl", trace.build())
        told = {order: self.answer("graph", "wait-for", path, "--sort", order)["woken_by"] for order in ("time", "count")}
        self.assertCountEqual(map(str, told["time"]), map(str, told["count"]))
        for order, key in ("time", "duration"), ("count", "count"):
            values = [row[key] for row in told[order]]
            self.assertEqual(values, sorted(values, reverse=True))
        self.assertNotEqual(told["time"], told["count"])

    def test_other_orders_are_refused(self):
        for command in "services", "io", "cpu", "schedule", "top", "idle", "priority":
            done = run(command, "trace.etl", "--sort", "name")
            self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_rows_that_are_written_while_the_trace_is_read_have_the_order_of_time(self):
        for command in "idle", "priority":
            done = run(command, "trace.etl", "--sort", "count", "--format", "csv")
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"--sort", done.stderr)


if __name__ == "__main__":
    unittest.main()
