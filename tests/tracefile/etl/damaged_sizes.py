"""A damaged size of an event costs that event: what was not touched is still decoded, byte for byte.

usage: damaged_sizes.py COLDTRACE SAMPLE [unittest arguments]
What the sample holds is told by a walker of this test's own.
"""
import random
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from strict import strict_json

COLDTRACE, SAMPLE = (Path(sys.argv.pop(1)).resolve() for _ in range(2))


def walk(data):
    """(buffer's end of events, [(place, size, place of the size)]) of each buffer."""
    buffers, at = [], 0
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        end = at + struct.unpack_from("<I", data, at + 0x30)[0]
        events, place = [], at + 72
        while place < end:
            kind, flags = data[place + 2], data[place + 3]
            where = place + (4 if flags & 0xF0 != 0x90 and kind in (1, 2, 3, 4, 16, 17) else 0)
            length, = struct.unpack_from("<H", data, where)
            events.append((place, length, where))
            place += length + 7 & ~7
        buffers.append((end, events))
        at += size
    return buffers


def lines_of(path):
    done = subprocess.run([COLDTRACE, "trace", "decode", "--header-fields", "--order", "file", path],
                          capture_output=True, timeout=120)
    lines = [strict_json(line) for line in done.stdout.splitlines()]
    events = {line["header"]["buffer"] + line["header"]["offset"]: line
              for line in lines if line["type"] == "event"}
    return done, events, [line for line in lines if line["type"] == "gap"], lines[-1]


@unittest.skipUnless(SAMPLE.exists(), f"{SAMPLE} is not beside the checkout")
class DamagedSizes(case.Case):
    @classmethod
    def setUpClass(cls):
        cls.data = SAMPLE.read_bytes()
        cls.buffers = walk(cls.data)
        done, cls.events, gaps, _ = lines_of(SAMPLE)
        places = [event[0] for _, events in cls.buffers for event in events]
        assert (done.returncode, gaps, sorted(cls.events)) == (0, [], places)

    def check(self, event, behind, size):
        """The size of `event`, behind which another or the end is, is damaged."""
        place, _, where = event
        changed = bytearray(self.data)
        struct.pack_into("<H", changed, where, size)
        done, events, gaps, summary = lines_of(self.write("changed.etl", changed))
        expected = {at: line for at, line in self.events.items() if at != place}
        self.assertEqual([at for at in expected if events.get(at) != expected[at]], [])
        self.assertEqual([at for at in events if at not in expected], [])
        self.assertEqual(done.returncode, 1)
        (gap,) = gaps
        self.assertEqual((gap["reason"], gap["offset"], gap["length"]),
                         ("damaged", place, behind - place))
        (finding,) = summary["findings"]
        self.assertEqual((finding["code"], finding["first_offset"]), ("buffer-damaged", place))

    def neighbours(self):
        for end, events in self.buffers:
            places = [event[0] for event in events] + [end]
            for i, event in enumerate(events):
                yield event, places[i + 1], places[i + 2:]

    def test_events_inside_a_damaged_size_are_read(self):
        rows = {event[0]: (event, behind) for event, behind, _ in self.neighbours()}
        for place, size in ((82512, 1552), (82512, 272), (85192, 1088), (82512, 126)):
            with self.subTest(place=place, size=size):
                self.check(*rows[place], size)

    def test_any_size_that_takes_in_others(self):
        chosen = random.Random(1)
        rows = [row for row in self.neighbours() if row[2]]
        for event, behind, later in chosen.sample(rows, 12):
            up_to_one = chosen.choice(later) - event[0]
            for size in (up_to_one, up_to_one - 8 * chosen.randrange(1, 8), behind - event[0] + 8):
                if behind - event[0] < size <= 0xFFFF:
                    with self.subTest(place=event[0], size=size):
                        self.check(event, behind, size)

    def test_an_event_that_a_size_may_take_in_is_told(self):
        """One that is older than the event around it may be a payload that was logged."""
        def place_of_time(place):
            return place + (8 if self.data[place + 2] in (16, 17) else 16)
        chosen = random.Random(2)
        rows = [row for row in self.neighbours() if row[2]]
        for (place, _, where), inner, later in chosen.sample(rows[1:], 12):
            with self.subTest(place=place):
                time, = struct.unpack_from("<q", self.data, place_of_time(place))
                changed = bytearray(self.data)
                struct.pack_into("<q", changed, place_of_time(inner), time - 5)
                done, _, gaps, _ = lines_of(self.write("older.etl", changed))
                self.assertEqual((done.returncode, gaps), (0, []))
                struct.pack_into("<H", changed, where, later[0] - place)
                done, events, gaps, summary = lines_of(self.write("changed.etl", changed))
                self.assertEqual((done.returncode, gaps), (1, []))
                finding, = (one for one in summary["findings"] if one["severity"] == "warning")
                self.assertEqual((finding["code"], finding["first_offset"]), ("event-size", place))
                self.assertIn(f"from its byte {inner - place} on", finding["text"])
                self.assertEqual(set(self.events) - set(events), {inner})


if __name__ == "__main__":
    unittest.main()
