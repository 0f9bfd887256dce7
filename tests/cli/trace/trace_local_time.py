"""What the local time of a trace's machine was: by the rules that Windows has for zones, against what the
time zone database says of the same places.

usage: trace_local_time.py COLDTRACE [arguments of unittest]
"""
import datetime
import struct
import subprocess
import sys
import unittest
import zoneinfo
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from case import Case
from cli.trace.etl_writer import EtlWriter
from strict import strict_json

COLDTRACE = Path(sys.argv[1]).resolve()
UTC = datetime.timezone.utc
MINUTE = datetime.timedelta(minutes=1)
NEVER = (0,) * 8
LAST = 5

# Of the registry of Windows 10 and 11: Bias, the date of standard time, DaylightBias, the date of daylight
# saving time; both as month, weekday, number of the weekday, hour. The last date is one millisecond early there.
ZONES = {
    "America/Los_Angeles": (480, (11, 0, 1, 2), -60, (3, 0, 2, 2)),
    "America/St_Johns": (210, (11, 0, 1, 2), -60, (3, 0, 2, 2)),
    "Atlantic/Azores": (60, (10, 0, LAST, 1), -60, (3, 0, LAST, 0)),
    "Europe/London": (0, (10, 0, LAST, 2), -60, (3, 0, LAST, 1)),
    "Europe/Berlin": (-60, (10, 0, LAST, 3), -60, (3, 0, LAST, 2)),
    "Europe/Helsinki": (-120, (10, 0, LAST, 4), -60, (3, 0, LAST, 3)),
    "Australia/Sydney": (-600, (4, 0, 1, 3), -60, (10, 0, 1, 2)),
    "Australia/Lord_Howe": (-630, (4, 0, 1, 2), -30, (10, 0, 1, 2)),
    "Pacific/Auckland": (-720, (4, 0, 1, 3), -60, (9, 0, LAST, 2)),
    "Asia/Tokyo": (-540, None, 0, None),
    "Asia/Kolkata": (-330, None, 0, None),
    "America/Phoenix": (420, None, 0, None),
}


def date(month, weekday, day, hour, minute=0, second=0, milliseconds=0, year=0):
    return year, month, weekday, day, hour, minute, second, milliseconds


def zone(bias, standard=NEVER, daylight_bias=0, daylight=NEVER, standard_bias=0):
    """TIME_ZONE_INFORMATION."""
    return struct.pack("<i64s8Hi64s8Hi", bias, "S".encode("utf-16-le"), *standard, standard_bias,
                       "D".encode("utf-16-le"), *daylight, daylight_bias)


def moment(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=UTC)


def ticks(when):
    return (when - datetime.datetime(1601, 1, 1, tzinfo=UTC)) // datetime.timedelta(microseconds=1) * 10


def minutes(delta):
    return delta // MINUTE


def changes(of, year):
    """When the offset of a zone changes in a year and the next one, to the second."""
    at, end = moment(f"{year}-01-01"), moment(f"{year + 2}-01-01")
    step = datetime.timedelta(days=1)
    while at < end:
        low, high = at, at + step
        at = high
        if low.astimezone(of).utcoffset() == high.astimezone(of).utcoffset():
            continue
        while high - low > datetime.timedelta(seconds=1):
            middle = (low + (high - low) / 2).replace(microsecond=0)
            if middle.astimezone(of).utcoffset() == low.astimezone(of).utcoffset():
                low = middle
            else:
                high = middle
        yield high


class LocalTime(Case):
    def trace(self, zone, when):
        log = EtlWriter()
        log.start = log.first = ticks(when)
        log.zone = zone
        log.process(0, 100, 100, "a.exe")
        return self.write("trace.etl", log.build())

    def info(self, path, *options):
        ran = subprocess.run([COLDTRACE, "trace", "info", path, *options], capture_output=True, timeout=100)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def local(self, zone, when):
        return strict_json(self.info(self.trace(zone, when), "--format", "json"))["session"]["local_time"]

    def text(self, zone, when):
        line, = [line for line in self.info(self.trace(zone, when)).decode().splitlines() if line.startswith("Boot ")]
        return line.split("Z, ", 1)[1]

    def test_zones_are_as_the_time_zone_database_has_them(self):
        for name, (bias, standard, daylight_bias, daylight) in ZONES.items():
            try:
                there = zoneinfo.ZoneInfo(name)
            except zoneinfo.ZoneInfoNotFoundError:
                self.skipTest("no time zone database is here")
            rules = zone(bias, date(*standard), daylight_bias, date(*daylight)) if standard else zone(bias)
            for year in (2013, 2022):
                turns = list(changes(there, year))
                self.assertEqual(len(turns), 4 if standard else 0)
                second = datetime.timedelta(seconds=1)
                moments = [moment(f"{year}-01-01"), moment(f"{year}-07-01"), moment(f"{year}-12-31T23:59:59"),
                           *(one for turn in turns[:2] for one in (turn - second, turn))]
                for when in moments:
                    local = when.astimezone(there)
                    next_turn = next((turn for turn in turns if turn > when), None)
                    with self.subTest(zone=name, when=when):
                        self.assertEqual(self.local(rules, when), {
                            "offset_minutes": minutes(local.utcoffset()),
                            "daylight_saving": bool(local.dst()),
                            "until": next_turn and next_turn.strftime("%Y-%m-%dT%H:%M:%S.0000000Z")})

    def test_a_change_is_in_the_tick_that_the_rule_says(self):
        # Chile: at the end of a Saturday, a millisecond before midnight.
        end = (23, 59, 59, 999)
        rules = zone(240, date(4, 6, 1, *end), -60, date(9, 6, 1, *end))
        to_standard = moment("2022-04-03T03:00:00") - datetime.timedelta(milliseconds=1)
        for before, offset in ((datetime.timedelta(microseconds=1), -180), (datetime.timedelta(0), -240)):
            self.assertEqual(self.local(rules, to_standard - before)["offset_minutes"], offset)

    def test_a_change_at_new_year_is_of_the_year_that_it_begins(self):
        # Standard time from 2012-01-01 00:00 of daylight saving time on, which is 23:00 of standard time.
        rules = zone(-180, date(1, 0, 1, 0), -60, date(3, 0, LAST, 2))
        turn = moment("2012-01-01") - 240 * MINUTE  # a Sunday
        for when, offset in ((turn - MINUTE, 240), (turn, 180), (turn + 60 * MINUTE, 180)):
            self.assertEqual(self.local(rules, when)["offset_minutes"], offset, when)

    def test_the_bias_of_standard_time_counts_where_a_date_goes_with_it(self):
        rules = date(10, 0, LAST, 3), -60, date(3, 0, LAST, 2)
        self.assertEqual(self.local(zone(-60, *rules, standard_bias=-5), moment("2022-01-01"))["offset_minutes"], 65)
        self.assertEqual(self.local(zone(-60, standard_bias=-5), moment("2022-01-01")),
                         {"offset_minutes": 60, "daylight_saving": False, "until": None})

    def test_dates_with_a_year_come_once(self):
        rules = zone(-60, date(10, 0, 30, 3, year=2022), -60, date(3, 0, 27, 2, year=2022))
        for when, daylight, until in (("2021-07-01", False, "2022-03-27T01:00:00.0000000Z"),
                                      ("2022-07-01", True, "2022-10-30T01:00:00.0000000Z"),
                                      ("2023-07-01", False, None)):
            self.assertEqual(self.local(rules, moment(when)), {"offset_minutes": 120 if daylight else 60,
                                                               "daylight_saving": daylight, "until": until})

    def test_dates_that_are_none_say_nothing(self):
        good = date(3, 0, LAST, 2)
        bad = [date(13, 0, 1, 2), date(10, 7, 1, 2), date(10, 0, 0, 2), date(10, 0, 6, 2), date(10, 0, 1, 24),
               date(10, 0, 1, 2, 60), date(10, 0, 1, 2, 0, 60), date(10, 0, 1, 2, 0, 0, 1000), NEVER,
               date(2, 0, 30, 2, year=2022), date(10, 0, 30, 3, year=2022)]
        for one in bad:
            for rules in (zone(-60, one, -60, good), zone(-60, good, -60, one)):
                with self.subTest(date=one):
                    self.assertIsNone(self.local(rules, moment("2022-07-01")))
                    self.assertEqual(self.text(rules, moment("2022-07-01")), "standard time UTC+01:00")
        for rules in zone(100_000), zone(-60, good, 2**31 - 1, good):
            self.assertIsNone(self.local(rules, moment("2022-07-01")))

    def test_text_says_which_time_it_was_and_what_it_became(self):
        bias, standard, daylight_bias, daylight = ZONES["America/St_Johns"]
        rules = zone(bias, date(*standard), daylight_bias, date(*daylight))
        turn = moment("2022-11-06T04:30:00")
        self.assertEqual(self.text(zone(-330), turn), "local time UTC+05:30")
        self.assertEqual(self.text(rules, turn), "local time UTC-03:30")
        # The session runs for a minute.
        self.assertEqual(self.text(rules, turn - 2 * MINUTE), "local time UTC-02:30, daylight saving time")
        self.assertEqual(self.text(rules, turn - MINUTE / 2), "local time UTC-02:30, daylight saving time, "
                                                              "UTC-03:30 from 2022-11-06T04:30:00.0000000Z on")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
