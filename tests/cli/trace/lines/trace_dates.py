"""No field of an event is shown as a date that it does not say: dates are those of Python's calendar.

usage: trace_dates.py COLDTRACE [arguments of unittest]
"""
import calendar
import datetime
import json
import sqlite3
import struct
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from cli.trace.etl_writer import EtlWriter
from strict import strict_csv, strict_ndjson

COLDTRACE = Path(sys.argv[1]).resolve()
PROVIDER = uuid.UUID("5d0c8a8e-6c15-4b0e-9d0c-25d3f1a7b911")
MANIFEST = """<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="Dates" guid="{%s}" symbol="D" resourceFileName="d.dll" messageFileName="d.dll">
<events><event value="1" symbol="E" template="T"/></events><templates><template tid="T">
<data name="Time" inType="win:FILETIME"/>
<data name="Local" inType="win:SYSTEMTIME"/>
<data name="Utc" inType="win:SYSTEMTIME" outType="win:DateTimeUtc"/>
</template></templates></provider></events></instrumentation></instrumentationManifest>""" % PROVIDER
MOST = (1 << 63) - 1  # FileTimeToSystemTime refuses what lies behind it
GOOD = (2026, 3, 0, 29, 1, 2, 3, 4)
FILE_TIMES = {
    0: None,
    1: "1601-01-01T00:00:00.0000001Z",
    132223104001234567: "2020-01-01T00:00:00.1234567Z",
    MOST: "+30828-09-14T02:48:05.4775807Z",
    MOST + 1: "0x8000000000000000",
    (1 << 64) - 50_000_000: "0xfffffffffd050f80",  # five seconds from now, as a wait has it
    (1 << 64) - 1: "0xffffffffffffffff",
}


def system_time(year, month, weekday, day, hour, minute, second, millisecond):
    return struct.pack("<8H", year, month, weekday, day, hour, minute, second, millisecond)


def calendar_text(year, month, weekday, day, hour, minute, second, millisecond):
    """As Python says it; the calendar repeats after 400 years, and Python's ends with 9999."""
    if not 1601 <= year <= 30827:
        return None
    try:
        date = datetime.datetime(year if year <= 9999 else 2000 + year % 400, month, day, hour, minute, second,
                                 millisecond * 1000)
    except ValueError:
        return None
    return ("+" if year > 9999 else "") + f"{year:04}" + date.isoformat(timespec="milliseconds")[4:]


def system_times():
    yield GOOD
    for place, values in ((0, (0, 1600, 1601, 9999, 10000, 30827, 30828, 65535)), (1, (0, 1, 12, 13, 65535)),
                          (2, (6, 7, 65535)), (3, (0, 1, 31, 32)), (4, (23, 24)), (5, (59, 60)), (6, (59, 60)),
                          (7, (999, 1000))):
        for value in values:
            yield GOOD[:place] + (value,) + GOOD[place + 1:]
    for year in 1700, 1900, 2000, 2023, 2024, 10000, 10100, 30824:
        for month in range(1, 13):
            last = calendar.monthrange(2000 + year % 400, month)[1]
            for day in last, last + 1:
                yield year, month, 0, day, 0, 0, 0, 0
    yield 0, 3, 0, 5, 24, 0, 0, 0  # the last Sunday of March, at an hour that no clock has
    yield 0, 3, 7, 5, 2, 0, 0, 0  # on a weekday that no week has


class Dates(Case):
    def log(self, rows):
        log = EtlWriter()
        for time, (file_time, local) in enumerate(rows, 1):
            log.manifest(0, time, PROVIDER, 1, 0, struct.pack("<Q", file_time) + system_time(*local) * 2)
        (self.here / "dates.man").write_text(MANIFEST)
        return self.write("dates.etl", log.build())

    def run_on(self, trace, *words, status=0):
        done = subprocess.run([COLDTRACE, "trace", *words, trace, "--schemas", self.here / "dates.man"],
                              capture_output=True, timeout=100)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def fields(self, trace, *words):
        lines = strict_ndjson(self.run_on(trace, "decode", *words))
        return [line["fields"] for line in lines if line["type"] == "event" and line["provider"]["name"] == "Dates"]

    def test_file_times(self):
        trace = self.log((ticks, GOOD) for ticks in FILE_TIMES)
        shown = list(FILE_TIMES.values())
        self.assertEqual([fields["Time"] for fields in self.fields(trace)], shown)
        rows = [json.loads(row["fields"]) for row in strict_csv(self.run_on(trace, "decode", "--format", "csv"))
                if row["provider"] == "Dates"]
        self.assertEqual([row["Time"] for row in rows], shown)
        text = self.run_on(trace, "decode", "--format", "text").decode()
        self.assertNotIn("+60", text)
        database = self.here / "dates.sqlite"
        self.run_on(trace, "export", "sqlite", "-o", database)
        with sqlite3.connect(database) as opened:
            self.assertEqual([time for time, in opened.execute("SELECT Time FROM E ORDER BY rowid")], shown)

    def test_conditions_know_what_is_no_time(self):
        trace = self.log((ticks, GOOD) for ticks in FILE_TIMES)
        self.assertEqual([fields["Time"] for fields in self.fields(trace, "--where", "Time > 2020-01-02")],
                         [FILE_TIMES[MOST]])
        self.assertEqual([fields["Time"] for fields in self.fields(trace, "--where", "Time >= 0xfffffffffd050f80")],
                         ["0xfffffffffd050f80", "0xffffffffffffffff"])

    def test_system_times(self):
        times = list(system_times())
        told = 0
        for time, fields in zip(times, self.fields(self.log((1, time) for time in times)), strict=True):
            with self.subTest(time=time):
                date = calendar_text(*time)
                told += date is not None
                self.assertEqual(fields["Local"], date or system_time(*time).hex())
                self.assertEqual(fields["Utc"], date + "Z" if date else system_time(*time).hex())
        self.assertGreater(told, 100)

    def test_a_time_in_the_clock_of_the_session(self):
        log = EtlWriter(clock=1)  # ten million a second, as FILETIME
        counters = {log.first + 7: log.start + 7, log.first - log.start - 1: None,
                    MOST: None, log.first + MOST - log.start: MOST, log.first + MOST - log.start + 1: None}
        for counter in counters:
            log.dpc(0, counter % (1 << 64) - log.first, 20_000_000, 0xFFFFF80000001000)
        lines = strict_ndjson(self.run_on(self.write("dpc.etl", log.build()), "decode", status=None))
        times = [line["fields"]["InitialTime"] for line in lines
                 if line["type"] == "event" and "InitialTime" in line["fields"]]
        shown = {MOST: FILE_TIMES[MOST]}
        for time in counters.values():
            if time is not None and time != MOST:
                date = datetime.datetime(1601, 1, 1) + datetime.timedelta(microseconds=time // 10)
                shown[time] = date.isoformat(timespec="microseconds") + f"{time % 10}Z"
        self.assertEqual(times, [shown[time] if time is not None else f"{counter % (1 << 64):#x}"
                                 for counter, time in counters.items()])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
