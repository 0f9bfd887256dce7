"""Charts beside text are for terminals alone, and show the figures that stand beside them.

usage: pictures.py COLDTRACE SOURCES SHARED [arguments of unittest]
"""
import math
import os
import re
import shutil
import struct
import sys
import tempfile
import unicodedata
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
from cli.output.terminal import run_on_terminal
from cli.trace.analysis.answers import answer_of, runner
from cli.trace.etl_writer import EtlWriter
from sample_volumes import sample_volume

COLDTRACE, SOURCES, SHARED = (Path(a).resolve() for a in sys.argv[1:4])
HEIGHTS = " ▁▂▃▄▅▆▇█"
LENGTHS = " ▏▎▍▌▋▊▉█"
SHADES = "·░▒▓█"
DRAWN = set(HEIGHTS + LENGTHS + SHADES) - {" ", "·"}
ESCAPE = re.compile("\x1b\\[[0-9]*m")
WIDE = "プロセス管理サーバー的長名前.exe"  # what the processes of the made-up trace are called

run = runner(COLDTRACE)


def environment(**changes):
    kept = {name: value for name, value in os.environ.items()
            if name not in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "TERM", "COLUMNS")}
    return kept | {"TERM": "xterm-256color", "LANG": "C.UTF-8"} | changes


def on_terminal(*arguments, columns=100, **changes):
    """What a terminal so wide gets."""
    text, done = run_on_terminal([COLDTRACE, *arguments], columns, environment(**changes))
    assert done.returncode in (0, 1), done.stderr
    return text


def columns_of(text):
    """Columns that a line takes, by Python's tables."""
    return sum(0 if unicodedata.category(c) in ("Mn", "Me") else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def eighths(bar):
    """How long a bar is."""
    return sum(LENGTHS.index(c) for c in bar)


def lengths(amounts, full, steps):
    return [0 if amount <= 0 or full <= 0 else min(max(math.ceil(amount / full * steps - 1e-9), 1), steps)
            for amount in amounts]


def uneven_trace():
    """Four buffers of one processor, which has two threads: 200 events in the first second of eight, none in the
    next two, 100 in the fourth, 50 in the last."""
    writer, pieces = EtlWriter(1), []
    for pid in range(1, 4):
        writer.system(0, 0x0303, 4, 0, struct.pack("<QIIIIQII", 0x1000 + pid, 10 * pid, 4, 1, 259, 0x1000, 0, 0) +
                      (WIDE + str(pid)).encode() + b"\0" * 7)
        writer.thread(0, 0, 10 * pid, 100 + pid)
    second = 10_000_000
    for begin, end, count in (0, 1, 200), (3, 4, 100), (7, 8, 50):
        for number in range(count):
            time = begin * second + (end - begin) * second * number // (count - 1)
            old, new = (101 + number % 3, 101 + (number + 1) % 3)
            writer.switch(0, time, old, new)
        pieces.append(writer.take(0))
    return writer.build(pieces)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.trace = cls.folder / "uneven.etl"
        cls.trace.write_bytes(uneven_trace())
        cls.made = cls.folder / "made.ctrace"
        assert run("trace", "synthesize", "disk-bursts", "--seed", 3, "-o", cls.made).returncode == 0
        cls.commands = [("trace", command, trace) for command in ("info", "top", "idle")
                        for trace in (cls.trace, cls.made)]
        if (SHARED / "samples/ntfs").is_dir():
            cls.image = sample_volume(SHARED / "samples/ntfs/ntfs-ptrn.raw.gz")
            cls.commands.append(("ntfs", "info", cls.image))


class Where(Case):
    def test_pipes_and_files_get_text_alone(self):
        for command in self.commands:
            with self.subTest(command=command[:2]):
                plain = run(*command).stdout
                self.assertFalse(DRAWN & set(plain.decode()))
                self.assertNotIn(b"\x1b", plain)
                self.assertEqual(run(*command, "--color", "never").stdout, plain)
                file = self.folder / "out.txt"
                self.assertEqual(on_terminal(*command, "-o", file), "")
                self.assertEqual(file.read_bytes(), plain)
                # JSON has no charts wherever it goes.
                self.assertEqual(on_terminal(*command, "--format", "json").encode(),
                                 run(*command, "--format", "json").stdout)

    def test_terminals_get_charts_and_colors(self):
        for command in self.commands:
            with self.subTest(command=command[:2]):
                drawn = on_terminal(*command)
                self.assertTrue(DRAWN & set(drawn))
                self.assertIn("\x1b[36m", drawn)
                self.assertEqual(drawn.count("\x1b[36m"), drawn.count("\x1b[0m"))
                colorless = ESCAPE.sub("", drawn)
                self.assertNotIn("\x1b", colorless)
                for without in on_terminal(*command, NO_COLOR="1"), on_terminal(*command, "--color", "never"):
                    self.assertEqual(without, colorless)
                self.assertEqual(on_terminal(*command, NO_COLOR=""), drawn)  # as no-color.org has it
                piped = run(*command, "--color", "always").stdout.decode()
                self.assertIn("\x1b[36m", piped)
                self.assertTrue(DRAWN & set(piped))

    def test_terminals_that_cannot_show_them_get_text(self):
        for command in self.commands[:1] + self.commands[-1:]:
            plain = run(*command).stdout.decode()
            for changes in ({"TERM": "dumb"}, {"LC_ALL": "de_DE.ISO-8859-1"}, {"LANG": "ja_JP.eucJP"}, {"LC_ALL": "C"}):
                with self.subTest(command=command[:2], changes=changes):
                    self.assertEqual(on_terminal(*command, columns=1000, **changes), plain)
            self.assertTrue(DRAWN & set(on_terminal(*command, LANG="ja_JP.UTF-8", LC_CTYPE="")))

    def test_other_words_are_refused(self):
        self.assertEqual(run("trace", "info", self.trace, "--color", "sometimes").returncode, 2)


class Figures(Case):
    def test_activity_is_that_of_the_events(self):
        text = on_terminal("trace", "info", self.trace, "--color", "never", columns=94)
        activity = re.search("^Activity      (.{80})$", text, re.M).group(1)
        eighth = 80 // 8
        for second, count in enumerate((200, 0, 0, 100, 0, 0, 0, 50)):
            cells = activity[second * eighth:(second + 1) * eighth]
            # The first cell has the events of the header and of processes too.
            expected = HEIGHTS[lengths([count], 206, 8)[0]]
            self.assertLessEqual(set(cells[1:-1]), {expected}, (second, activity))

    def test_bars_of_kinds_are_their_counts(self):
        text = on_terminal("trace", "info", self.made, "--color", "never")
        rows = re.findall(r"^ +(\d+) +\d+  ([ %s]{10})    " % LENGTHS, text, re.M)
        counts = [int(count) for count, _ in rows]
        self.assertGreater(len(counts), 3)
        self.assertEqual([eighths(bar) for _, bar in rows], lengths(counts, max(counts), 80))

    def test_bars_of_processes_are_their_shares(self):
        for trace in self.trace, self.made:
            answer = answer_of(run("trace", "top", trace, "--format", "json"), 0, 1)["processor"]
            whole = answer["busy"] + answer["idle"] + answer["unknown"]
            text = on_terminal("trace", "top", trace, "--color", "never", "--top", 4, columns=120)
            part = text.split("\nProcessor ")[1].split("\n\n")[0]
            bars = re.findall(r"^ *[\d.,]+ [um]?s .* [\d.]+ %%  ([%s]{20})  " % LENGTHS, part, re.M)
            self.assertEqual(len(bars), len(answer["processes"]))
            self.assertEqual([eighths(bar) for bar in bars],
                             lengths([row["running"] for row in answer["processes"]], whole, 160))

    def test_busy_is_what_ran(self):
        text = on_terminal("trace", "top", self.trace, "--color", "never", columns=94)
        busy = re.search("^Busy          (.{80})$", text, re.M).group(1)
        for second, ran in enumerate((1, 0, 0, 1, 0, 0, 0, 1)):
            # What runs when one part of the trace ends and the next begins is not known.
            self.assertEqual(set(busy[10 * second + 2:10 * second + 8]), {HEIGHTS[8 * ran]}, busy)
        schedule = answer_of(run("trace", "schedule", self.made, "--format", "json"), 0, 1)
        text = on_terminal("trace", "top", self.made, "--color", "never", columns=94)
        busy = re.search("^Busy          (.{80})$", text, re.M).group(1)
        ran = sum(one["busy"] for one in schedule["processors"])
        share = ran / schedule["elapsed"] / len(schedule["processors"])
        # Each cell is rounded up to an eighth.
        drawn = sum(map(HEIGHTS.index, busy)) / (8 * 80)
        self.assertTrue(share <= drawn <= share + 1 / 8, (share, drawn))

    def test_idle_times_are_those_of_the_text(self):
        # Wide enough for the longest line of text.
        text = on_terminal("trace", "idle", self.made, "--color", "never", columns=200)
        parts = text.split("\n\n")[1:]
        self.assertGreater(len(parts), 1)
        for part in parts:
            for what in "idle times", "busy times":
                told = re.search(f"^  {what}: (.*)$", part, re.M).group(1)
                drawn = re.search(f"^  {what}  (.+) up to", part, re.M)
                counts = [int(count) for count in re.findall(r": (\d+)", told)]
                if not counts:
                    self.assertIsNone(drawn)
                    continue
                heights = [HEIGHTS.index(c) for c in drawn.group(1) if c != " "]
                self.assertEqual(heights, lengths(counts, max(counts), 8))
            shares = re.findall(r"^  (?:busy|idle|unknown) +([%s]{40}) +([\d.]+) %%$" % LENGTHS, part, re.M)
            self.assertEqual(len(shares), 3)
            self.assertAlmostEqual(sum(float(share) for _, share in shares), 100, delta=0.2)
            for bar, share in shares:
                self.assertAlmostEqual(eighths(bar) / 320, float(share) / 100, delta=1 / 250)

    def test_records_in_use_are_those_of_the_mft(self):
        if len(self.commands) < 7:
            self.skipTest("the sample images are not here")
        one = answer_of(run("ntfs", "info", self.image, "--format", "json"), 0, 1)["partitions"][0]
        size, clusters = one["volume"]["record_size"], one["volume"]["mft_extents"]
        cluster = one["volume"]["cluster_size"]
        image, used = self.image.read_bytes(), []
        for extent in clusters:
            for at in range(extent["offset"], extent["offset"] + extent["clusters"] * cluster, size):
                used.append(image[at:at + 4] == b"FILE" and image[at + 0x16] & 1)
        used = used[:one["volume"]["records"]] if "records" in one["volume"] else used
        # Beside 18 columns of labels, from 20 to 80 columns wide.
        for columns, width in (38, 20), (78, 60), (100, 80), (160, 80):
            with self.subTest(columns=columns):
                cells, step = [0.0] * width, len(used) / width
                for number, in_use in enumerate(used):
                    for cell in range(width):
                        shared = min(number + 1, (cell + 1) * step) - max(number, cell * step)
                        cells[cell] += in_use * max(shared, 0)
                text = on_terminal("ntfs", "info", self.image, "--color", "never", columns=columns)
                drawn = re.search("^  records in use  (.*)$", text, re.M).group(1)
                self.assertEqual(len(drawn), width, drawn)
                near = [abs(HEIGHTS.index(c) - height) for c, height in zip(drawn, lengths(cells, step, 8))]
                self.assertLessEqual(max(near), 0, drawn)
                where = re.search("^  \\$MFT on volume  (.*)$", text, re.M).group(1)
                self.assertEqual(len(where), width, where)
                per_cell = one["volume"]["clusters"] / width
                for cell, shade in enumerate(where):
                    touched = any(extent["lcn"] < (cell + 1) * per_cell and
                                  extent["lcn"] + extent["clusters"] > cell * per_cell for extent in clusters)
                    self.assertEqual(shade != "·", touched, (cell, where))


class Widths(Case):
    def test_rows_have_room_whatever_names_are(self):
        for columns in 60, 72, 80, 100, 132, 200:
            with self.subTest(columns=columns):
                text = on_terminal("trace", "top", self.trace, "--color", "never", columns=columns)
                rows = [line for line in text.split("\n") if line.startswith("  ") and ".exe" in line]
                self.assertTrue(rows)
                wide = [line for line in rows if "前" in line]
                self.assertTrue(wide, rows)
                for line in rows:
                    if not re.match(r" +[\d.]+ +\+", line):  # waits have more columns than 60
                        self.assertLessEqual(columns_of(line), columns, line)
                if columns >= 100:
                    self.assertTrue(all(columns_of(line) <= columns for line in rows), rows)

    def test_tables_are_those_of_unicode(self):
        if unicodedata.unidata_version != "14.0.0":
            self.skipTest("Python has another version of Unicode")
        text = (SOURCES / "core/text/display_width.inc").read_text()
        tables = {}
        for name, body in re.findall(r"(\w+)\[\] = \{(.*?)\};", text, re.S):
            ranges = [(int(a, 16), int(b, 16)) for a, b in re.findall(r"\{0x(\w+), 0x(\w+)\}", body)]
            self.assertEqual(ranges, sorted(ranges))
            tables[name] = {c for first, last in ranges for c in range(first, last + 1)}
        assigned = [c for c in range(0x110000) if unicodedata.category(chr(c)) != "Cn"]
        self.assertEqual([c for c in assigned if c in tables["wide"]],
                         [c for c in assigned if unicodedata.east_asian_width(chr(c)) in "WF"])
        self.assertEqual([c for c in assigned if c in tables["no_columns"]],
                         [c for c in assigned if unicodedata.category(chr(c)) in ("Mn", "Me")
                          or 0x1160 <= c <= 0x11ff])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
