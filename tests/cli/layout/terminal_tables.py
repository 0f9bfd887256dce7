"""Rows of tables keep what they are about on a narrow terminal: columns go, labels stay.

usage: terminal_tables.py COLDTRACE DEMO [unittest arguments]

What a pipe gets is whole, and names and numbers of JSON decide what labels there have to be.
"""
import os
import re
import struct
import subprocess
import sys
import unicodedata
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from cli.output.terminal import run_on_terminal
from cli.trace.etl_writer import EtlWriter, utf16z
from strict import strict_json

COLDTRACE, DEMO = (Path(argument).resolve() for argument in sys.argv[1:3])
# What the cells of a row are, and the label behind them.
ROW = re.compile(r"^ *((?:(?:appeared|disappeared|changed|slower|faster)\s+)?(?:[-+]?\d[\d.,]*(?: [KMGT]iB| bytes?|/s| ?[mun]?s)?|-)(?:\s+(?:[-+]?\d[\d.,]*(?: [KMGT]iB| bytes?|/s| [mun]?s)?|-))+)  (\S.*)$")
LEAST = 26  # columns of a label that stay, if it has as many


def run(*arguments):
    done = subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=60)
    assert done.returncode in (0, 1), (arguments, done.stderr)
    return done.stdout


def on_terminal(columns, *arguments, colors=False):
    environment = {name: value for name, value in os.environ.items() if name not in ("PAGER", "LC_ALL", "LC_CTYPE", "NO_COLOR")}
    environment |= {"LANG": "C.UTF-8", "TERM": "xterm"} | ({} if colors else {"NO_COLOR": "1"})
    text, _ = run_on_terminal([COLDTRACE, *arguments, "-q"], columns, environment)
    return text.splitlines()


def without_blanks(text):
    return "".join(text.split())


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def rows_of(lines):
    return [(found[1].split(), found[2]) for line in lines if (found := ROW.match(line))]


def keeps(shown, label):
    """Whether so much of a label is enough of it."""
    if shown == label:
        return True
    front, dots, end = shown.partition("…")
    return bool(dots) and label.startswith(front) and label.endswith(end) and width(shown) >= LEAST


def is_part(few, many):
    rest = iter(many)
    return all(one in rest for one in few)


class TerminalTables(case.Case):
    def scenario(self, name):
        path = self.here / f"{name}.ctrace"
        if not path.exists():
            run("trace", "synthesize", name, "-o", path)
        return path

    def check_table(self, command, least):
        piped = rows_of(run(*command, "-q").decode().splitlines())
        self.assertGreaterEqual(len(piped), least, command)
        for columns in (60, 80, 100, 400):
            with self.subTest(command=command[:2], columns=columns):
                lines = on_terminal(columns, *command)
                self.assertLessEqual(max(map(width, lines)), columns)
                whole = without_blanks("".join(lines))
                rows = rows_of(lines)
                self.assertEqual(len(rows), len(piped), lines)
                for (few, shown), (many, label) in zip(rows, piped):
                    goes_on = label.startswith(shown) and without_blanks(label) in whole
                    self.assertTrue(goes_on or keeps(shown, label), (shown, label))
                    self.assertTrue(is_part(few, many), (few, many))
                    self.assertGreater(len(few), 0)
                self.assertEqual(any(len(few) < len(many) for (few, _), (many, _) in zip(rows, piped)),
                                 any("left out" in line for line in lines))
                if columns == 400:
                    self.assertEqual([row[0] for row in rows], [row[0] for row in piped])

    def test_tables_of_analyses(self):
        boot, calls, bursts = map(self.scenario, ("boot", "system-calls", "disk-bursts"))
        inversion = self.scenario("priority-inversion")
        for command, least in ((("trace", "services", calls), 15), (("trace", "services", calls, "--every", "1"), 15),
                               (("trace", "schedule", boot), 15), (("trace", "cpu", boot), 20),
                               (("trace", "io", bursts), 5), (("trace", "priority", inversion), 4),
                               (("trace", "compare", boot, calls), 10)):
            self.check_table(command, least)

    def test_a_table_without_rows_lacks_no_columns(self):
        log = EtlWriter()
        log.process(0, 10, 100, "one.exe")
        trace = self.here / "none.etl"
        trace.write_bytes(log.build())
        for command in "schedule", "services":
            lines = on_terminal(60, "trace", command, trace)
            self.assertTrue(lines)
            self.assertEqual([line for line in lines if "left out" in line], [])

    def test_names_of_processes_come_before_bars(self):
        processes = strict_json(run("trace", "top", self.scenario("boot"), "--top", "100", "--format", "json"))["processor"]["processes"]
        labels = [f"{one['process']} ({one['pid']})" for one in processes if one["process"]]
        self.assertTrue(any(16 < len(label) <= LEAST for label in labels), labels)
        lines = on_terminal(80, "trace", "top", self.scenario("boot"), "--top", "100")
        for label in labels:
            if len(label) <= LEAST:
                self.assertTrue([line for line in lines if line.endswith(" " + label)], label)

    def test_labels_are_the_names_of_json(self):
        calls, boot = map(self.scenario, ("system-calls", "boot"))
        services = strict_json(run("trace", "services", calls, "--format", "json"))["services"]
        shown = on_terminal(80, "trace", "services", calls, "--top", "1000")
        for service in services:
            label = service["name"] or f"system call {service['number']:#x}"
            if service["kind"] == "system_call":
                self.assertTrue([line for line in shown if line.endswith("  " + label)], label)
        cpu = strict_json(run("trace", "cpu", boot, "--format", "json"))
        shown = on_terminal(80, "trace", "cpu", boot, "--top", "1000")
        for process in cpu["processes"]:
            label = f"{process['process']} ({process['pid']})"
            if process["process"] and len(label) <= LEAST:
                self.assertTrue([line for line in shown if line.endswith(label)], label)

    def test_names_of_providers_stay_where_their_guids_go(self):
        seen = set()
        for trace in self.scenario("boot"), DEMO / "demo-trace.etl":
            providers = strict_json(run("trace", "info", trace, "--format", "json"))["providers"]
            rows = [(one["name"], f"{one['name']} {one['guid']}") for one in providers if one["name"] is not None]
            piped = run("trace", "info", trace, "-q").decode().splitlines()
            for columns in (70, 80, 400):
                lines = on_terminal(columns, "trace", "info", trace)
                begin, = (line.index("provider, event") for line in lines if line.endswith("provider, event"))
                left_out = 0
                for name, row in rows:
                    self.assertTrue([line for line in piped if line.endswith("  " + row)], row)
                    has_room = begin + width(row) <= columns
                    shown = row if has_room else name
                    self.assertEqual(sum(line[begin:] == shown for line in lines), sum(
                        shown == (one if has_room else other) for other, one in rows), lines)
                    left_out += not has_room
                    seen.add((columns, has_room))
                self.assertEqual([line for line in lines if "left out" in line], [] if left_out == 0 else [
                    f"({left_out} GUID{'s' if left_out > 1 else ''} left out: a wider terminal, a pipe or a file has all)"])
        self.assertLessEqual({(70, False), (80, True), (400, True)}, seen)  # without bars, 80 are enough for some

    def test_a_hooked_stub_is_seen(self):
        lines = on_terminal(100, "syscalls", "map", DEMO / "demo-ntdll.dll")
        services = strict_json(run("syscalls", "map", DEMO / "demo-ntdll.dll", "--format", "json"))["images"][0]["services"]
        rows = [line for line in lines if line.startswith("0x")]
        self.assertEqual(len(rows), len(services))
        self.assertEqual({service["source"] for service in services}, {"read", "inferred"})
        for service in services:
            how = service["source"] + (", hooked" if service["hooked"] else "")
            self.assertTrue([line for line in rows if re.search(rf" {service['name']} .*  {how}", line)], service)

    def test_lines_of_facts_go_on_below(self):
        for command in (("pe", "info", DEMO / "demo-ntdll.dll"), ("ntfs", "info", DEMO / "demo-disk.img")):
            piped, lines = run(*command, "-q").decode(), on_terminal(60, *command)
            self.assertLessEqual(max(map(width, lines)), 60)
            shown = " ".join(lines).split()
            for line in piped.splitlines():
                if ", " in line and "LCN" not in line:
                    self.assertTrue(is_part(line.split(), shown), line)
        sha256 = strict_json(run("pe", "info", DEMO / "demo-ntdll.dll", "--format", "json"))["images"][0]["identity"]["sha256"]
        self.assertIn(sha256, " ".join(on_terminal(80, "pe", "info", DEMO / "demo-ntdll.dll")))

    def test_sentences_about_traces_go_on_below(self):
        log = EtlWriter()
        log.process(0, 10, 100, "one.exe")
        log.system(0, 0x030A, 2, 30, struct.pack("<QQIII", 0x1_8000_0000, 0x9000, 100, 1, 2) + bytes(28) +
                   utf16z("\\Device\\HarddiskVolume1\\" + "nested\\" * 12 + "one.dll"))
        guid = uuid.UUID("01234567-89ab-cdef-0123-456789abcdef")
        log.classic(0, 30, uuid.UUID("b3e675d7-2554-4f18-830b-2762732560de"), 36, 2,  # its PDB
                    struct.pack("<QI", 0x1_8000_0000, 100) + guid.bytes_le + struct.pack("<I", 27) + b"nested_names.pdb\0")
        trace = self.here / "symbols.etl"
        trace.write_bytes(log.build())
        producer, server = map(self.scenario, ("producer-consumer", "server"))
        for command in (("symbols", "--all", trace), ("critical-path", "--thread", "1008", server), ("tree", producer),
                        ("deadlocks", self.scenario("deadlock-2")), ("graph", "wait-for", server), ("idle", server),
                        ("schemas", "check", trace)):
            piped = run("trace", *command, "-q").decode().splitlines()
            for columns in 60, 80:
                with self.subTest(command=command[0], columns=columns):
                    lines = on_terminal(columns, "trace", *command)
                    self.assertLessEqual(max(map(width, lines)), columns)
                    shown = "".join("".join(lines).split())
                    for line in piped:
                        self.assertIn("".join(line.split()), shown)

    def test_a_terminal_has_the_first_symbols_and_says_how_many_more_there_are(self):
        log, wanted = EtlWriter(), []
        log.process(0, 10, 100, "one.exe")
        for number in range(1, 31):
            base, guid = 0x1_8000_0000 + number * 0x1_0000, uuid.uuid5(uuid.NAMESPACE_DNS, str(number))
            log.system(0, 0x030A, 2, 20 + number, struct.pack("<QQIII", base, 0x9000, 100, 1, 2) + bytes(28) + utf16z(f"\\{number}.dll"))
            log.classic(0, 20 + number, uuid.UUID("b3e675d7-2554-4f18-830b-2762732560de"), 36, 2,
                        struct.pack("<QI", base, 100) + guid.bytes_le + struct.pack("<I", 27) + f"{number}.pdb\0".encode())
            wanted.append(f"{guid} 27")
        trace = self.here / "many.etl"
        trace.write_bytes(log.build())
        command = "trace", "symbols", "--all", trace
        for options, top in (((), 20), (("--top", "5"), 5), (("--top", "30"), 30), (("--top", "29"), 29)):
            for columns in 40, 60, 80:
                lines = [line.strip() for line in on_terminal(columns, *command, *options)]
                self.assertEqual(sum(line.endswith(one) for line in lines for one in wanted), top, lines)
                more = [line for line in lines if re.search("more PDBs?$", line)]
                self.assertEqual(more, [] if top == 30 else ["1 more PDB"] if top == 29 else [f"{30 - top} more PDBs"])
        piped = run(*command, "-q").decode()
        self.assertEqual((sum(one in piped for one in wanted), "more" in piped), (30, False))
        piped = run(*command, "-q", "--top", "5").decode()
        self.assertEqual((sum(one in piped for one in wanted), "25 more PDBs" in piped), (5, True))

    def test_headings_and_sentences_around_rows_go_on_below(self):
        boot, bursts, inversion = map(self.scenario, ("boot", "disk-bursts", "priority-inversion"))
        for command, heading in ((("schedule", boot), "process, longest waits, priorities, state at the end"),
                                 (("priority", inversion), "process, time at each priority"),
                                 (("top", boot), "running turns share process (1 more)"),
                                 (("top", bursts), "response requests bytes read written process, file")):
            command = "trace", *command
            piped = [line for line in run(*command, "-q").decode().splitlines()
                     if not re.match(r" *[\d+]", line) and "(s)" not in line
                     and not line.lstrip().startswith("thread ") and not line.endswith("...")]
            self.assertGreater(len(piped), 3)
            told = strict_json(run(*command, "-q", "--format", "json"))["findings"] if "top" in command else []
            for columns in 60, 80:
                with self.subTest(command=command[1], columns=columns):
                    lines = on_terminal(columns, *command)
                    self.assertLessEqual(max(map(width, lines)), columns)
                    shown = without_blanks("".join(lines))
                    for sentence in [heading, *piped, *(one["text"] for one in told[:1])]:
                        self.assertIn(without_blanks(sentence), shown)

    def test_a_narrow_terminal_loses_nothing_of_events_by_kind(self):
        """All but the GUIDs behind names, which the last line counts."""
        guid = re.compile(r"(?<=\S) [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        for trace in DEMO / "demo-trace.etl", self.scenario("boot"):
            piped = run("trace", "info", trace, "-q").decode().splitlines()
            guids = sum(guid.search(line) is not None for line in piped)
            self.assertGreater(guids, 0)
            for columns in 60, 40, 33, 20:
                with self.subTest(trace=trace.name, columns=columns):
                    lines = on_terminal(columns, "trace", "info", trace)
                    self.assertLessEqual(max(map(width, lines)), columns)
                    shown = without_blanks("".join(lines))
                    for line in [*piped, f"({guids} GUID{'s' if guids > 1 else ''} left out: a wider terminal, a pipe or a file has all)"]:
                        self.assertIn(without_blanks(guid.sub("", line)), shown)

    def test_a_narrow_terminal_loses_no_name_of_the_page(self):
        log = EtlWriter()
        for pid, name in (10, "a process with a name that is as long as no column is.exe"), (20, "two.exe"):
            log.process(0, 0, pid, name)
            log.thread(0, 0, pid, pid + 1)
        for now in range(100, 1000, 100):
            log.switch(0, now, 11, 21)
            log.ready(0, now + 70, 11)
            log.switch(0, now + 80, 21, 11)
        path = "\\Device\\HarddiskVolume1\\" + "nested\\" * 12 + "one.dll"
        log.system(0, 0x0400, 2, 1000, struct.pack("<Q", 0x77) + utf16z(path))
        log.system(0, 0x0443, 3, 1010, struct.pack("<QQQQIII", 0, 1, 0x77, 0x77, 11, 512, 0), tid=11, pid=10)
        log.system(0, 0x044C, 3, 1020, struct.pack("<QQI", 1, 512, 0), tid=11, pid=10)
        trace = self.here / "page.etl"
        trace.write_bytes(log.build())
        page = strict_json(run("trace", "top", trace, "--format", "json"))
        names = [f"{one['process']} ({one['pid']})" for one in page["processor"]["processes"]]
        names += [f"{one['thread']['process']} ({one['thread']['pid']}) {one['thread']['tid']}" for one in page["waits"]["longest"]]
        names += [one["file"] for one in page["file_operations"]["files"]]
        self.assertGreater(len({name for name in names if len(name) > 40}), 2, names)
        for columns in 160, 100, 80, 60, 40, 33, 20:
            with self.subTest(columns=columns):
                lines = on_terminal(columns, "trace", "top", trace)
                self.assertLessEqual(max(map(width, lines)), columns)
                self.assertNotIn("...", "".join(lines))
                shown = without_blanks("".join(lines))
                for name in names:
                    self.assertIn(without_blanks(name), shown)

    def test_nothing_of_coloured_lines_is_lost(self):
        """Bars have other lengths, all else is the same."""
        def told(lines):
            return re.sub(r"[\u2581-\u258f]|\x1b\[\d+m|\s", "", "".join(lines))

        command = "trace", "idle", self.scenario("disk-bursts")
        whole = on_terminal(400, *command, colors=True)
        self.assertIn("\x1b[36m", "".join(whole))
        for columns in 100, 61, 40, 24, 9:
            with self.subTest(columns=columns):
                lines = on_terminal(columns, *command, colors=True)
                self.assertLessEqual(max(width(re.sub(r"\x1b\[\d+m", "", line)) for line in lines), columns)
                self.assertEqual(told(lines), told(whole))
                self.assertEqual([line for line in lines if line.count("\x1b[36m") != line.count("\x1b[0m")], [])

    def test_blanks_at_the_end_of_a_value(self):
        """Texts of resources are padded by installers: what is left of a line then is nothing."""
        said = "Demo of a native layer, with one hooked stub"
        kept = said[:22]
        content = (DEMO / "demo-ntdll.dll").read_bytes()
        padded = content.replace(said.encode("utf-16-le"), kept.ljust(len(said)).encode("utf-16-le"))
        self.assertNotEqual(padded, content)
        path = self.here / "padded.dll"
        path.write_bytes(padded)
        for columns in range(20, 81, 4):
            lines = on_terminal(columns, "pe", "info", path)
            self.assertLessEqual(max(map(width, lines)), columns)
            if columns >= 30:
                self.assertIn(kept, " ".join(" ".join(lines).split()))

    def test_several_files_are_shown_as_one_is(self):
        path = DEMO / "demo-ntdll.dll"
        for columns in 60, 80:
            one = on_terminal(columns, "pe", "info", path)
            for jobs in "1", "2":
                self.assertEqual(on_terminal(columns, "pe", "info", path, path, "--jobs", jobs), one + one)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
