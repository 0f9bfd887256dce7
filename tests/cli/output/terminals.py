"""What results look like follows from where they go: rows are text on a terminal and lines of JSON in a
pipe, and the end of a file's name is a format, for all commands alike.

usage: terminals.py COLDTRACE DEMO [unittest arguments]
"""
import datetime
import gzip
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
import output_hashes
from cli.output.terminal import run_on_terminal
from cli.trace.etl_writer import EtlWriter
from strict import strict_json

os.environ.pop("COLUMNS", None)  # of whoever runs the tests
COLDTRACE, DEMO = (Path(argument).resolve() for argument in sys.argv[1:3])
DISK, TRACE, NTDLL, KERNEL = DEMO / "demo-disk.img", DEMO / "demo-trace.etl", DEMO / "demo-ntdll.dll", DEMO / "demo-ntoskrnl.exe"
TEXT = re.compile(rb"--format \{(?:[\w-]+,)*text[,}]|--format NAME[^\[]*\[one of [^\]]*text")
ROWS = (("trace", "decode", TRACE), ("ntfs", "snapshot", DISK), ("ntfs", "query", DISK, "--where", "size >= 0"))


def run(*arguments, **options):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=60, **options)


def on_terminal(*arguments, columns=80, **changes):
    """The lines that a terminal so wide gets, and the exit status."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PAGER", "LESS", "TZ", "LC_ALL", "LC_CTYPE")}
    text, done = run_on_terminal([COLDTRACE, *arguments], columns, environment | {"LANG": "C.UTF-8"} | changes)
    return text.splitlines(), done.returncode


def plain(line):
    """Without colors."""
    return re.sub(r"\x1b\[[\d;]*m", "", line)


def text_of(*command):
    """The lines of text of a run that writes to no terminal, with sizes as terminals have them."""
    human = ["--human"] if command[0] == "ntfs" else []
    return run(*command, "-q", "--format", "text", *human).stdout.decode().splitlines()


def rows_of(*arguments):
    """The events or files that the lines of JSON have."""
    lines = [strict_json(line) for line in run(*arguments, "--format", "ndjson").stdout.splitlines()]
    return [line for line in lines if line["type"] in ("event", "file")]


class Terminals(case.Case):
    def test_rows_are_text_on_a_terminal_and_json_in_a_pipe(self):
        for command in ROWS:
            with self.subTest(command=command):
                lines, status = on_terminal(*command, "-q", columns=1000)
                self.assertEqual(status, 0)
                self.assertRegex(lines[0], r"\((UTC)\)")
                self.assertEqual(len(lines) - 1, len(rows_of(*command)))
                self.assertFalse([line for line in lines if line.startswith("{")])
                piped = run(*command, "-q").stdout
                self.assertEqual(piped, run(*command, "-q", "--format", "ndjson").stdout)
                self.assertEqual(strict_json(piped.splitlines()[0])["type"], "header")
                # What is asked for by name is had on a terminal too, and what is for JSON alone.
                lines, status = on_terminal(*command, "-q", "--int64", "string", columns=1000)
                self.assertEqual((status, "\n".join(lines).encode()),
                                 (0, run(*command, "-q", "--int64", "string").stdout.rstrip(b"\n")))
                lines, _ = on_terminal(*command, "-q", "--format", "ndjson", columns=40)
                self.assertEqual("\n".join(lines).encode(), piped.rstrip(b"\n"))

    def test_lines_end_where_the_terminal_does(self):
        """What has no room goes on below."""
        for command in ROWS:
            whole = text_of(*command)
            # Narrow lines of events have other columns.
            for columns in (20, 61, 80, 1000) if command[1] != "decode" else (100, 1000):
                with self.subTest(command=command, columns=columns):
                    lines, _ = on_terminal(*command, "-q", columns=columns)
                    self.assertLessEqual(max(map(len, lines)), columns)
                    self.assertEqual("".join(" ".join(lines).split()), "".join(" ".join(whole).split()))
                    for line in whole:
                        if len(line) <= columns:
                            self.assertIn(line, lines)
        self.assertGreater(max(map(len, whole)), 80)

    def test_a_narrow_terminal_has_meanings_below_their_codes(self):
        codes = [line.split(maxsplit=2) for line in run("findings").stdout.decode().splitlines()]
        for columns in (37, 60):
            lines, status = on_terminal("findings", columns=columns)
            self.assertEqual(status, 0)
            lines, hint = lines[:lines.index("")], " ".join(lines[lines.index(""):])
            self.assertIn(f" {len(codes)} codes; 'coldtrace findings CODE' says", hint)
            self.assertIn("--pager", hint)
            self.assertFalse([line for line in lines if "…" in line])
            self.assertEqual(" ".join(lines).split(), " ".join(
                f"{code} ({severity}) {meaning}" for code, severity, meaning in codes).split())
            self.assertLess(len(lines), len(codes) * 180 // columns)

    def test_no_text_is_wider_than_the_terminal(self):
        """Every command with text, and what pipes and files get stays whole."""
        table, trace, listed = (self.here / name for name in ("k.hooktab", "made.ctrace", "coldtrace.profile"))
        run("hooks", "table", "-q", "--kernel", KERNEL, "-o", table)
        run("trace", "synthesize", "priority-inversion", "-o", trace)
        listed.write_text("NtClose\nNtCreateFile\n")
        inputs = {"image": (NTDLL,), "volume": (DISK,), "trace": (TRACE, trace), "table": (table,), "profile": (listed,)}
        tried, broken = set(), set()
        for kind, rows in output_hashes.COMMANDS.items():
            for row in rows:
                words = [word for word in row if word not in ("json", "csv", "--format", output_hashes.OUT, "-o")]
                if not TEXT.search(run(*words, "--help").stdout) or set(row) - set(words) - {"json", "--format"}:
                    continue
                for path in inputs.get(kind, (None,) if kind is None else ()):
                    command = [path if word == output_hashes.IN else word for word in words]
                    if path and output_hashes.IN not in words:
                        command.append(KERNEL if words[-1] == "--kernel" else path)
                    with self.subTest(command=command):
                        command += ["-q", "--format", "text"]
                        lines, status = on_terminal(*command)
                        whole = run(*command).stdout.decode().splitlines()
                        self.assertEqual(status, run(*command).returncode)
                        for line in map(plain, lines):
                            self.assertLessEqual(len(line), 80, line)
                        if max(map(len, whole), default=0) > 80 and len(whole) < len(lines):
                            broken.add(" ".join(words[:2]))
                        tried.add(" ".join(words[:2]))
        self.assertGreater(len(tried), 30)
        self.assertGreater(len(broken), 10, broken)
        lines, _ = on_terminal("findings")
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(" ".join(" ".join(lines[1:lines.index("")]).split()), " ".join(run("findings").stdout.decode().split()))
        # Colors take no columns and end where a line is broken.
        lines, _ = on_terminal("trace", "info", TRACE, "-q", "--color", "always", columns=50, TERM="xterm")
        self.assertTrue([line for line in lines if "\x1b[" in line])
        for line in lines:
            self.assertLessEqual(len(plain(line)), 50, line)
            self.assertRegex(line, r"^[^\x1b]*(\x1b\[[\d;]*m[^\x1b]*\x1b\[0?m[^\x1b]*)*$")

    def test_lines_are_broken_at_separators(self):
        """Where one is in reach: folders' names stay whole."""
        folders = ["Device", "HarddiskVolume1", "Windows", "Microsoft.NET", "assembly", "GAC_64", "mscorlib",
                   "v4.0_4.0.0.0__b77a5c561934e089", "mscorlib.dll"]
        # Below its PDB, the name of an image has at least half of the terminal.
        for has_pdb, widths in (False, (44, 60)), (True, (36, 40, 60, 80)):
            log = EtlWriter()
            log.process(0, 10, 100, "one.exe")
            log.system(0, 0x030A, 2, 20, struct.pack("<QQIII", 0x1_8000_0000, 0x9000, 100, 1, 2) + bytes(28) +
                       ("\\" + "\\".join(folders) + "\0").encode("utf-16-le"))
            if has_pdb:
                log.classic(0, 30, uuid.UUID("b3e675d7-2554-4f18-830b-2762732560de"), 36, 2,
                            struct.pack("<QI", 0x1_8000_0000, 100) + bytes(range(16)) + struct.pack("<I", 27) + b"one.pdb\0")
            trace = self.here / "paths.etl"
            trace.write_bytes(log.build())
            for columns in widths:
                lines, _ = on_terminal("trace", "symbols", "--all", trace, "-q", columns=columns)
                self.assertLessEqual(max(map(len, lines)), columns)
                self.assertEqual("one.pdb" in " ".join(lines), has_pdb)
                for folder in folders:
                    if not has_pdb or len(folder) < columns // 2:
                        self.assertTrue([line for line in lines if "\\" + folder in line], (folder, lines))

    def test_rows_that_go_on_below_keep_their_depth(self):
        """Names of a tree that have no room beside their columns are further in than those they lie in."""
        for columns, least in (80, 0), (60, 1), (30, 4):
            lines, _ = on_terminal("ntfs", "snapshot", DISK, "-q", columns=columns)
            below = {line.strip(): len(line) - len(line.lstrip()) for line in lines if re.match(" +[^ ]", line)}
            whole = {line[50:].strip(): len(line[50:]) - len(line[50:].lstrip())
                     for line in run("ntfs", "snapshot", DISK, "-q", "--format", "text").stdout.decode().splitlines()[1:]
                     if "[" not in line}
            shown = sorted((depth, below[name]) for name, depth in whole.items() if name in below)
            self.assertGreaterEqual(len({depth for depth, _ in shown}), least, lines)
            for depth, indent in shown:
                self.assertEqual(indent - shown[0][1], depth - shown[0][0], (columns, lines))

    def test_standard_input_that_is_a_terminal(self):
        """Of each command that reads one, at once."""
        told = 0
        for kind, rows in output_hashes.COMMANDS.items():
            for row in rows:
                words = [word for word in row if word not in ("json", "csv", "--format", output_hashes.OUT, "-o")]
                if kind not in ("volume", "trace", "table", "profile") or set(row) - set(words) - {"json", "--format"}:
                    continue
                command = ["-" if word == output_hashes.IN else word for word in words]
                command += [] if output_hashes.IN in words else ["-"]
                text, done = run_on_terminal([COLDTRACE, *command], 200, keys=b"", timeout=20)
                if "standard input is a terminal" in text:
                    told += 1
                    self.assertEqual((done.returncode, text), (
                        2, "coldtrace: -: standard input is a terminal; name a file, or give it one with '< FILE' or a pipe\n"))
                self.assertNotIn("seekable", text)
        self.assertGreater(told, 20)
        text, done = run_on_terminal([COLDTRACE, "trace", "decode", "/dev/stdin"], 200, keys=b"", timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/dev/stdin: standard input is a terminal", text)

    def test_a_narrow_terminal_shows_fields_of_events(self):
        events = rows_of("trace", "decode", TRACE)
        lines, _ = on_terminal("trace", "decode", TRACE, "-q")
        self.assertRegex(lines[0], r"^time \(UTC\) +process and id +event and fields$")
        rows = re.split(r"\n(?! )", "\n".join(lines[1:]))
        shown = 0
        for row, event in zip(rows, events, strict=True):
            self.assertTrue(row.startswith(event["time"][11:26] + "  "), row)
            name, pid = event["process"] or "", "-" if event["pid"] is None else str(event["pid"])
            self.assertEqual(row[17:].split("  ")[0], f"{name} {pid}".strip())
            self.assertIn(event["name"], row)
            shown += "=" in row
        self.assertGreater(shown, len(events) // 2)
        lines, _ = on_terminal("trace", "decode", TRACE, "-q", "--utc-offset", "+05:30")
        self.assertEqual(lines[1][:2], f"{(int(events[0]['time'][11:13]) + 5) % 24:02}")

    def test_a_narrow_terminal_shows_names_of_events(self):
        """Whole, with their providers."""
        log = EtlWriter()
        log.process(0, 10, 100, "one.exe")
        providers = (("Long-Company-Name-Product-Component", "Garbage/CollectionOfAllThatIsLeft"),
                     ("Self", "Self/Event"), ("Name", "E"), ("P" * 60, "E" * 60))
        for time, (provider, name) in enumerate(providers):
            log.trace_logging(0, 20 + time, uuid.uuid5(uuid.NAMESPACE_DNS, provider), provider, name)
        trace = self.here / "names.etl"
        trace.write_bytes(log.build())
        events = rows_of("trace", "decode", trace)
        self.assertEqual([(event["provider"]["name"], event["name"]) for event in events[-4:]], list(providers))
        for columns in 80, 120:
            lines, _ = on_terminal("trace", "decode", trace, "-q", columns=columns)
            shown = "".join("".join(lines).split())
            for provider, name in providers:
                self.assertIn(name if name.startswith(provider + "/") else f"{provider}/{name}", shown)

    def test_text_of_events_says_what_their_lines_say(self):
        lines = run("trace", "decode", TRACE, "--format", "text").stdout.decode().splitlines()[1:]
        events = rows_of("trace", "decode", TRACE)
        self.assertGreater(len(events), 5)
        for line, event in zip(lines, events, strict=True):
            with self.subTest(line=line):
                self.assertTrue(line.startswith(event["time"].rstrip("Z") + "  "))
                pid, tid = (("-" if event[name] is None else str(event[name])) for name in ("pid", "tid"))
                self.assertRegex(line[27:], rf"^ +{pid} {tid} +{re.escape(event['process'] or '')} *{event['name']} ")
                for name, value in event["fields"].items():
                    if isinstance(value, int):
                        self.assertRegex(line, rf" {name}={value}(\(| |$)")
                    if (event.get("resolved") or {}).get(name, value) != value:
                        self.assertIn(f"({event['resolved'][name]})", line)

    def test_text_of_files_has_sizes_in_bytes_and_with_units_where_asked(self):
        def with_unit(size):
            shown = subprocess.run(["numfmt", "--to=iec-i", "--format=%.1f", "--round=nearest", str(size)],
                                   capture_output=True, check=True, env=os.environ | {"LC_ALL": "C"}).stdout.decode().strip()
            return shown[:-2] + f" {shown[-2:]}B" if shown.endswith("i") else f"{size} bytes"

        files = rows_of("ntfs", "query", DISK, "--where", "size >= 0")
        self.assertGreater(max(row["size"] for row in files), 1024)
        for options, size_of in (((), str), (("--human",), with_unit)):
            lines = run("ntfs", "query", DISK, "--where", "size >= 0", "--format", "text",
                        *options).stdout.decode().splitlines()
            for line, row in zip(lines[1:], files, strict=True):
                self.assertRegex(line, rf"^ +{row['record']}-{row['sequence']} +{re.escape(size_of(row['size']))}  "
                                       rf"{row['si']['modified'][:19]}  (\[\w+\] )?{re.escape(row['path'])}")
            tree = run("ntfs", "snapshot", DISK, "--state", "all", "--format", "text", *options).stdout.decode().splitlines()
            rows = {f"{row['record']}-{row['sequence']}": row for row in files}
            checked = 0
            for line in tree[1:]:
                if row := rows.get(line.split()[0]):
                    self.assertRegex(line, rf"^ +\S+ +{re.escape(size_of(row['size']))}  {row['si']['modified'][:19]}  ")
                    checked += 1
                    for stream in row["streams"]:
                        if stream["name"]:
                            shown = with_unit(stream["size"]) if options else f"{stream['size']} bytes"
                            self.assertIn(f":{stream['name']} ({shown})", line)
            self.assertEqual(checked, len(files))
        for form in ("ndjson", "csv", "bodyfile", "timeline"):
            done = run("ntfs", "query", DISK, "--human", "--format", form)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"--human is for --format text", done.stderr)
        self.assertEqual(run("ntfs", "query", DISK, "--human").returncode, 2, "a pipe gets JSON, in bytes")
        for command in (("ntfs", "query", DISK, "--where", "size >= 0"), ("ntfs", "snapshot", DISK),
                        ("ntfs", "history", DISK, "/*")):
            with self.subTest(command=command):
                human = text_of(*command)
                self.assertTrue(any(" KiB" in line for line in human))
                for options in ((), ("--human",)):
                    lines, _ = on_terminal(*command, "-q", *options, columns=1000)
                    self.assertEqual([plain(line).split() for line in lines], [line.split() for line in human])

    def test_times_are_of_the_zone_that_is_asked_for(self):
        def shown(*options, **changes):
            lines, status = on_terminal("trace", "decode", TRACE, "-q", *options, columns=1000, **changes)
            self.assertEqual(status, 0)
            return lines[0], [line[:26] for line in lines[1:]]

        utc = [datetime.datetime.fromisoformat(event["time"][:26]) for event in rows_of("trace", "decode", TRACE)]
        for offset, minutes in (("+05:30", 330), ("-08:00", -480), ("02:00", 120), ("+14:00", 840)):
            moved = [(time + datetime.timedelta(minutes=minutes)).isoformat(timespec="microseconds") for time in utc]
            heading, times = shown("--utc-offset", offset)
            self.assertEqual(times, moved)
            self.assertIn(f"(UTC{offset if offset[0] in '+-' else '+' + offset})", heading)
            hours, rest = divmod(abs(minutes), 60)  # POSIX counts to the west
            zone = f"XXX{'-' if minutes > 0 else '+'}{hours}:{rest:02}"
            heading, times = shown("--local", TZ=zone)
            self.assertIn("(local)", heading)
            self.assertEqual(times, moved)
        for wrong in ("5:30", "+05:60", "+15:00", "UTC", "+0530"):
            done = run("trace", "decode", TRACE, "--format", "text", "--utc-offset", wrong)
            self.assertEqual((done.returncode, done.stdout), (2, b""), wrong)
        self.assertEqual(run("trace", "decode", TRACE, "--local").returncode, 2, "a pipe gets JSON, in UTC")
        for zone, status in (("Foo/Bar", 2), (":/etc/passwd", 2), ("CET-1CEST,M3.5.0,M10.5.0/3", 0), ("<+05>-5", 0),
                             ("", 0)):
            done = run("trace", "decode", TRACE, "--format", "text", "--local", env=os.environ | {"TZ": zone})
            self.assertEqual(done.returncode, status, (zone, done.stderr))

    def test_text_of_summaries_has_times_of_the_zone_too(self):
        """All else in it is as in UTC."""
        def moved(text, minutes, zone):
            def shifted(found):
                time = datetime.datetime.fromisoformat(found[1]) + datetime.timedelta(minutes=minutes)
                return f"{time.isoformat()}{found[2]} ({zone})"
            return re.subn(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{7})Z", shifted, text)

        for command, least in ((("trace", "info", TRACE), 4), (("trace", "top", TRACE), 2), (("pe", "info", KERNEL), 1)):
            utc = run(*command, "-q", "--format", "text").stdout.decode()
            for options, minutes, zone, changes in ((("--utc-offset", "+05:30"), 330, "UTC+05:30", {}),
                                                    (("--utc-offset", "-08:00"), -480, "UTC-08:00", {}),
                                                    (("--local",), 330, "local", {"TZ": "XXX-5:30"})):
                expected, times = moved(utc, minutes, zone)
                self.assertGreaterEqual(times, least, utc)
                text = run(*command, "-q", "--format", "text", *options, env=os.environ | changes).stdout.decode()
                self.assertEqual(text, expected)
                self.assertEqual(run(*command, "--format", "json", *options).returncode, 2)

    def test_a_terminal_that_does_not_know_its_width_has_that_of_the_environment(self):
        """So has help in a pipe; text in a pipe is not cut."""
        command = ("trace", "decode", "--help")
        shown = {columns: on_terminal(*command, columns=columns)[0] for columns in (60, 70, 80, 120)}
        self.assertEqual(len({len(lines) for lines in shown.values()}), 4)
        for told, columns in (("60", 60), ("120", 120), ("", 80), ("0", 80), ("-60", 80), ("60x", 80), ("99999999999", 80)):
            piped = run(*command, env=os.environ | {"COLUMNS": told}).stdout.decode()
            self.assertEqual(piped.splitlines(), shown[columns], told)
            self.assertEqual(on_terminal(*command, columns=0, COLUMNS=told)[0], shown[columns], told)
            self.assertEqual(on_terminal(*command, columns=70, COLUMNS=told)[0], shown[70], told)
        whole = run("trace", "info", TRACE, "-q").stdout
        self.assertEqual(run("trace", "info", TRACE, "-q", env=os.environ | {"COLUMNS": "40"}).stdout, whole)

    def test_members_that_text_lacks_are_not_lost_on_a_terminal(self):
        for options in (("ntfs", "snapshot", DISK, "--fields", "path,size"), ("ntfs", "snapshot", DISK, "--zone-ids"),
                        ("ntfs", "query", DISK, "--fields", "path"), ("trace", "decode", TRACE, "--fields", "time,pid"),
                        ("trace", "decode", TRACE, "--header-fields")):
            with self.subTest(options=options):
                lines, status = on_terminal(*options, "-q")
                self.assertEqual(status, 0)
                self.assertEqual("\n".join(lines).encode(), run(*options, "-q").stdout.rstrip(b"\n"))

    def test_the_end_of_a_name_is_a_format(self):
        cases = ((("ntfs", "snapshot", DISK), {"csv": "csv", "json": "json", "ndjson": "ndjson", "jsonl": "ndjson",
                                               "body": "bodyfile", "bodyfile": "bodyfile", "txt": "text"}),
                 (("trace", "decode", TRACE), {"csv": "csv", "json": "json", "txt": "text", "log": "ndjson"}),
                 (("trace", "tree", TRACE), {"svg": "svg", "dot": "dot", "gv": "dot", "json": "json", "log": "text"}),
                 (("syscalls", "map", NTDLL), {"h": "c-header", "csv": "csv", "json": "json", "dat": "text"}),
                 (("trace", "check", TRACE, "--expect", "pid == 4"), {"xml": "junit", "json": "json"}),
                 (("findings", "hooked-stub"), {"md": "markdown", "json": "json"}))
        for command, endings in cases:
            for ending, form in endings.items():
                expected = run(*command, "--format", form).stdout
                self.assertTrue(expected)
                for name, unpack in ((f"x.{ending}", bytes), (f"x.{ending.upper()}.gz", gzip.decompress)):
                    with self.subTest(command=command, name=name):
                        self.assertIn(run(*command, "-o", name, cwd=self.here).returncode, (0, 1))
                        self.assertEqual(unpack((self.here / name).read_bytes()), expected)
                        (self.here / name).unlink()
        self.assertIn(run("syscalls", "map", NTDLL, "-o", "x.db", cwd=self.here).returncode, (0, 1))
        self.assertTrue((self.here / "x.db").read_bytes().startswith(b"SQLite format 3\0"))
        # --format has the last word.
        run("ntfs", "snapshot", DISK, "--format", "bodyfile", "-o", "x.csv", cwd=self.here)
        self.assertEqual((self.here / "x.csv").read_bytes(), run("ntfs", "snapshot", DISK, "--format", "bodyfile").stdout)

    def test_an_end_that_is_of_no_format_of_the_command_is_refused(self):
        for command, name, formats in ((("trace", "decode", TRACE), "t.sqlite", "ndjson, json, csv, text"),
                                       (("trace", "top", TRACE), "t.csv", "text, json"),
                                       (("pe", "exports", NTDLL), "t.NDJSON.gz", "text, json, csv"),
                                       (("trace", "export", "chrome", TRACE), "t.jsonl", "json"),
                                       (("trace", "export", "collapsed", TRACE), "t.json", "text"),
                                       (("report", TRACE), "t.json", "html")):
            with self.subTest(command=command):
                done = run(*command, "-o", name, cwd=self.here)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"this command writes {formats}\n".encode(), done.stderr)
                self.assertEqual(list(self.here.iterdir()), [])
        # What is packed may have any name.
        run("trace", "pack", TRACE, "-q", "-o", "t.json", cwd=self.here)
        self.assertTrue((self.here / "t.json").exists())
        self.assertEqual(run("trace", "top", TRACE, "-q", "--format", "text", "-o", "t.csv", cwd=self.here).returncode, 0)

    def test_a_pipe_that_a_name_leads_to_is_written(self):
        expected = run("findings").stdout
        for script in ('"$0" findings -o /dev/stdout | cat', '"$0" findings -o /dev/fd/1 | cat',
                       '"$0" findings -o >(cat); wait $!', '"$0" findings -o /dev/stderr 2>&1 | cat'):
            done = subprocess.run(["bash", "-o", "pipefail", "-c", script, COLDTRACE], capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, expected), (script, done.stderr))

    def test_what_is_for_programs_alone_is_not_shown_on_a_terminal(self):
        for command, what in ((("report", TRACE), "a page"), (("trace", "export", "chrome", TRACE), "JSON"),
                              (("trace", "export", "ecs", TRACE), "JSON")):
            text, done = run_on_terminal([COLDTRACE, *command], 80)
            self.assertEqual((text, done.returncode), ("", 2), command)
            self.assertIn(f"{what}", done.stderr.decode())
            self.assertIn(b"name a file with -o", done.stderr)
            self.assertTrue(run(*command, "-q").stdout)

    def test_small_files_are_read_from_standard_input(self):
        kernel = DEMO / "demo-ntoskrnl.exe"
        profile = b"NtClose\n"
        (self.here / "one.profile").write_bytes(profile)
        for command in (("hooks", "profile", "check", "PROFILE"),
                        ("hooks", "profile", "expand", "PROFILE", "--against", NTDLL),
                        ("hooks", "tables", NTDLL, "--profile", "PROFILE")):
            named = run(*[word if word != "PROFILE" else "one.profile" for word in command], cwd=self.here)
            piped = run(*[word if word != "PROFILE" else "-" for word in command], input=profile)
            self.assertEqual(piped.stdout.replace(b"-: ", b"one.profile: "), named.stdout, piped.stderr)
            self.assertEqual(piped.returncode, named.returncode)
        for option, content in (("--members", b"_EPROCESS.Token\n"), ("--profile", profile)):
            done = run("hooks", "table", "--kernel", kernel, option, "-", input=content)
            self.assertNotIn(b"No such file", done.stderr, option)
            self.assertIn(done.returncode, (0, 1), done.stderr)
        done = run("hooks", "locate", "SwapContext", NTDLL, "--signatures", "-", input=b"no signatures")
        self.assertRegex(done.stderr, rb"-:1:")
        key = bytes(range(32))
        (self.here / "key").write_bytes(key)
        hashed = ("ntfs", "snapshot", DISK, "--format", "ndjson", "--names", "keyed-hash", "--key-file")
        self.assertEqual(run(*hashed, "-", input=key).stdout, run(*hashed, self.here / "key").stdout)

    def test_a_dash_is_standard_input(self):
        def told(text):
            # The name of the file is all that may differ.
            self.assertNotIn("/dev/stdin", text)
            return re.sub(r"(?<![\w.])-(?=[:\s\"])", str(NTDLL), text)

        for command in (("pe", "info"), ("pe", "exports"), ("pe", "imports"), ("pe", "sections"), ("syscalls", "map"),
                        ("hooks", "tables"), ("hooks", "locate", "SwapContext"), ("hooks", "context-switch")):
            with self.subTest(command=command):
                named = run(*command, "-q", "--format", "json", NTDLL)
                piped = run(*command, "-q", "--format", "json", "-", input=NTDLL.read_bytes())
                self.assertEqual((piped.returncode, told(piped.stdout.decode())),
                                 (named.returncode, told(named.stdout.decode())))
        table = self.here / "k.hooktab"
        run("hooks", "table", "-q", "--kernel", DEMO / "demo-ntoskrnl.exe", "-o", table)
        self.assertEqual(run("hooks", "show", "-", "--format", "json", input=table.read_bytes()).stdout,
                         run("hooks", "show", table, "--format", "json").stdout)
        for command in (("pe", "compare", NTDLL, "-"), ("syscalls", "compare", NTDLL, "-")):
            done = run(*command, "-q", input=NTDLL.read_bytes())
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertTrue(done.stdout)
        for wrong in (("driver", "check", "--hive", "-"), ("pe", "types", "-"), ("trace", "control", "decode", "99", "--buffer", "-")):
            done = run(*wrong, input=b"no such thing")
            self.assertNotIn(b"No such file", done.stderr, wrong)

    def test_names_of_files_that_are_packed_otherwise_are_refused(self):
        for ending in ("xz", "bz2", "LZ4", "zip", "7z"):
            done = run("ntfs", "snapshot", DISK, "-o", f"x.ndjson.{ending}", cwd=self.here)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b".zst or .gz", done.stderr)
        self.assertEqual(list(self.here.iterdir()), [])

    def test_a_pager_gets_whole_lines_and_the_status_stays(self):
        whole = text_of("ntfs", "snapshot", DISK)
        lines, status = on_terminal("ntfs", "snapshot", DISK, "-q", "--pager", PAGER="sed 's/^/page: /'", columns=40)
        self.assertEqual((lines, status), (["page: " + line for line in whole], 0))
        lines, status = on_terminal("syscalls", "map", NTDLL, "--pager", PAGER="tail -n 1")
        self.assertEqual((len(lines), status), (1, 1))
        # A pager that ends, or is none, ends the run quietly.
        self.assertEqual(on_terminal("ntfs", "snapshot", DISK, "-q", "--pager", PAGER="true"), ([], 0))
        self.assertEqual(on_terminal("ntfs", "snapshot", DISK, "-q", "--pager", PAGER="/nonexistent/pager"), ([], 2))
        written = on_terminal("ntfs", "snapshot", DISK, "-q", "--pager", "-o", self.here / "files", PAGER="sed 's/^/page: /'")
        self.assertEqual(written, ([], 0))
        self.assertEqual(on_terminal("ntfs", "snapshot", DISK, "--pager", "--format", "ndjson")[1], 2)
        # In a pipe nothing is paged, nor is a program run.
        done = run("ntfs", "snapshot", DISK, "-q", "--pager", "--format", "text", env=os.environ | {"PAGER": "false"})
        self.assertEqual(done.stdout.decode().splitlines(), run("ntfs", "snapshot", DISK, "-q", "--format", "text").stdout.decode().splitlines())

    @unittest.skipUnless(shutil.which("less"), "less is not installed")
    def test_less_is_the_pager_where_none_is_named(self):
        lines, status = on_terminal("findings", "hooked-stub", "--pager", TERM="xterm")
        self.assertEqual(status, 0)
        self.assertIn("hooked-stub", re.sub(r"\x1b\[[\d;?]*\w|\r", "", "\n".join(lines)))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
