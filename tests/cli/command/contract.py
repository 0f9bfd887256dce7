"""What every command promises: help, exit codes, whole-or-nothing output, findings policy.

usage: contract.py COLDTRACE IMAGES SOURCES [unittest arguments]
Tests that need an assembled image skip where no compiler could build it.
"""
import gzip
import json
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from strict import strict_csv, strict_json

COLDTRACE, IMAGES, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:4])
LIBRARIES = ("core", "pe", "ntfs", "syscall-map", "tracefile", "schema-files", "registry")


def image(name):
    path = IMAGES / name
    if not path.exists():
        raise unittest.SkipTest(f"no compiler built {name}")
    return path


PROGRAM = case.Program(COLDTRACE)
run, help_of, commands = PROGRAM.run, PROGRAM.help_of, PROGRAM.commands


class Case(case.Case):
    def exits(self, status, *arguments, **options):
        done = run(*arguments, **options)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done


class Help(Case):
    def test_every_command_has_help_with_examples_and_its_exit_codes(self):
        found = commands()
        self.assertGreaterEqual(len(found), 4)
        for command in found:
            with self.subTest(command=command):
                text = help_of(*command)
                self.assertIn("Examples:\n  coldtrace " + " ".join(command), text)
                self.assertIn("Exit status:\n  0  ", text)
                self.assertIn("\n  2  ", text)
                self.assertIn("--fail-on", text)

    def test_version(self):
        self.assertRegex(self.exits(0, "--version").stdout.decode(),
                         r"^coldtrace \d+\.\d+\.\d+\ncommit ([0-9a-f]{12}(-dirty)?|unknown)\n"
                         r"E01 images: .+\n"
                         r"VHD and VHDX images: through libvhdi(, which is not installed)?\n"
                         r"QCOW2 images: through libqcow(, which is not installed)?\n"
                         r"VMDK images: through libvmdk(, which is not installed)?\n"
                         r"zstd output: through libzstd(, which is not installed)?\n"
                         r"compressed traces: .+\nSQLite databases: .+\nsymbol tables in xz: .+\n"
                         r"pe info --details: .+\nsandbox: .+\n$")

    def test_usage_errors_are_2_and_on_standard_error(self):
        for arguments in ([], ["nonsense"], ["syscalls"], ["syscalls", "map"],
                          ["syscalls", "map", "--format", "xml", "x"],
                          ["syscalls", "map", "--layout", "1", "x"],
                          ["syscalls", "map", "-j", "257", "x"],
                          ["syscalls", "map", "--fail-on", "no-such-code", "x"]):
            with self.subTest(arguments=arguments):
                done = self.exits(2, *arguments)
                self.assertEqual(done.stdout, b"")
                self.assertTrue(done.stderr)


class Findings(Case):
    def test_the_list_has_exactly_the_codes_of_the_sources(self):
        used = set()
        for library in (*LIBRARIES, "cli"):
            for source in (SOURCES / library).rglob("*.?pp"):
                used |= set(re.findall(r'(?:warning|info)\(\s*"([a-z0-9-]+)"', source.read_text()))
        listed = strict_json(self.exits(0, "findings", "--format", "json").stdout)["codes"]
        codes = [row["code"] for row in listed]
        self.assertEqual(codes, sorted(codes))
        self.assertEqual(used - set(codes), set(), "used and not listed")
        unused = {code for code in set(codes) - used
                  if not any(f'"{code}"' in source.read_text()
                             for library in LIBRARIES
                             for source in (SOURCES / library).rglob("*.?pp"))}
        self.assertEqual(unused, set(), "listed and not used")

    def test_fail_on_and_tolerate_change_the_exit_code(self):
        sound = image("windows10-x64/ntdll.dll")
        hooked = image("hooked-x64/ntdll.dll")
        self.exits(0, "syscalls", "map", sound)
        self.exits(1, "syscalls", "map", "--fail-on", "number-hole", sound)
        self.exits(1, "syscalls", "map", "--fail-on", "number-gap,number-hole", sound)
        self.exits(0, "syscalls", "map", "--fail-on", "number-gap", sound)
        done = self.exits(1, "syscalls", "map", hooked)
        codes = set(re.findall(r"warning: ([a-z-]+)", done.stderr.decode()))
        self.assertIn("hooked-stub", codes)
        self.exits(0, "syscalls", "map", "--tolerate", ",".join(codes), hooked)
        self.exits(1, "syscalls", "map", "--tolerate", "hooked-stub", hooked)

    def test_quiet_says_nothing_and_exits_the_same(self):
        done = self.exits(1, "syscalls", "map", "--quiet", image("hooked-x64/ntdll.dll"))
        self.assertEqual(done.stderr, b"")


    def test_informational_findings_are_one_line_unless_asked_for(self):
        sound = image("windows10-x64/ntdll.dll")
        quiet = self.exits(0, "syscalls", "map", *[sound] * 32)
        lines = quiet.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"^coldtrace: informational findings \(-v shows them\): .*"
                                   r"\b32 number-hole\b")
        loud = self.exits(0, "syscalls", "map", "-v", *[sound] * 32).stderr.decode().splitlines()
        self.assertGreaterEqual(len([line for line in loud if "info: number-hole" in line]), 32)
        self.assertEqual([line for line in loud if "-v shows them" in line], [])
        # What decides the exit status is told.
        told = self.exits(1, "syscalls", "map", "--fail-on", "number-hole", sound)
        self.assertIn(b"number-hole at", told.stderr)
        self.assertEqual(self.exits(0, "syscalls", "map", "-q", sound).stderr, b"")

    def options(self):
        """Of each command: its name, an option that takes a value, how its values are told, and
        what the help says of it."""
        for command in commands():
            text = help_of(*command)
            tables = re.findall(r"\n(?:Common o|O)ptions:\n(.*?\n)(?=\n)", text + "\n", re.S)
            rows = re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+) (\S[^\n]*(?:\n {10}[^\n]*)*)",
                              "".join(tables), re.M)
            self.assertTrue(rows, command)
            for option, described in rows:
                if not described.startswith("["):
                    yield command, option, described

    def test_options_take_as_many_values_as_the_help_says(self):
        """Given again, one after the other and with commas: none, one and several are tried."""
        forms = {"list": 0, "row": 0, "again": 0, "one": 0}
        for command, option, described in self.options():
            value = (re.findall(r"(?:^\{|\[one\s+of\s+)([^],}]+)", described) or ["1"])[0]
            value = {"TIME": "2024-02-29", "BYTES": "4096", "I/N": "1/2", "URL": "https://a",
                     "ENTER=EXIT[@FIELD]": "A=B"}.get(described.split()[0], value)
            kind = described.split()[0]
            usage = re.search(r"^Usage: .*", help_of(*command), re.M)[0]
            twice = run(*command, option, value, option, value).stderr
            once_only = f"{option} takes one value but is given more".encode() in twice
            with self.subTest(command=command, option=option):
                if "[,...]" in kind:
                    forms["list"] += 1
                    self.assertFalse(once_only, twice)
                    commas = run(*command, option, f"{value},{value}").stderr
                    self.assertEqual(commas, twice)
                elif re.match(r"\S+ \.\.\.", described):
                    forms["row"] += 1
                    self.assertIn("[repeatable]", described)
                    self.assertFalse(once_only, twice)
                    # No argument of any number behind it could be meant, and it takes all there are.
                    self.assertNotRegex(usage, r"\.\.\.")
                    arguments = ["x"] * len(re.findall(r" [A-Za-z]+(?= |$)",
                                                       usage.split("[OPTIONS]")[1] + " "))
                    done = run(*command, *arguments, option, value, value, value)
                    self.assertNotIn(b"not expected", done.stderr)
                elif "[repeatable]" in described:
                    forms["again"] += 1
                    self.assertFalse(once_only, twice)
                else:
                    forms["one"] += 1
                    self.assertNotIn("repeated", described)
                    self.assertTrue(once_only, (described, twice))
        for form, count in forms.items():
            self.assertGreater(count, 3, form)

    def test_arguments_stand_before_and_behind_two_dashes(self):
        weird = self.here / "--weird.ctrace"
        self.assertEqual(run("trace", "synthesize", "server", "-o", weird).returncode, 0)
        shutil.copy(weird, self.here / "plain.ctrace")
        for both, mixed in (
                (["findings", "--", "gap-events-lost", "no-match"], ["findings", "gap-events-lost", "--", "no-match"]),
                (["trace", "decode", "--where", "cpu == 0", "-q", "--", "plain.ctrace", "--weird.ctrace"],
                 ["trace", "decode", "plain.ctrace", "--where", "cpu == 0", "-q", "--", "--weird.ctrace"]),
                (["trace", "compare", "--format", "json", "--", "plain.ctrace", "--weird.ctrace"],
                 ["trace", "compare", "plain.ctrace", "--format=json", "--", "--weird.ctrace"])):
            one, other = run(*both, cwd=self.here), run(*mixed, cwd=self.here)
            with self.subTest(mixed=mixed):
                self.assertIn(one.returncode, (0, 1))
                self.assertEqual((other.returncode, other.stdout, other.stderr),
                                 (one.returncode, one.stdout, one.stderr))
        # Letters of one word, the last of which takes what is next; and options in front of the command.
        for words in (["pe", "info", "-qo", "out.txt", "--", "a.dll"], ["pe", "info", "-qo", "out.txt", "a.dll", "--", "b.dll"],
                      ["pe", "info", "-qoout.txt", "a.dll", "--", "b.dll"],
                      ["--no-sandbox", "pe", "info", "-q", "-o", "out.txt", "--", "a.dll", "b.dll"]):
            (self.here / "out.txt").unlink(missing_ok=True)
            for name in ("a.dll", "b.dll"):
                (self.here / name).write_bytes(b"MZ" + bytes(62))
            done = run(*words, cwd=self.here)
            with self.subTest(words=words):
                self.assertEqual(sorted(set(os.listdir(self.here)) - {"out.txt"}),
                                 ["--weird.ctrace", "a.dll", "b.dll", "plain.ctrace"])
                for name in ("a.dll", "b.dll"):
                    self.assertEqual(name.encode() in done.stderr, name in words, done.stderr)
        done = run("trace", "synthesize", "deadlock-2", "--", "server")
        self.assertIn(b"'server' is one argument too many", done.stderr)
        done = run("findings", "no-match", "--", "--quiet")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"no finding has the code '--quiet'", done.stderr)

    def test_several_values_select_what_each_of_them_does(self):
        trace = self.here / "a.ctrace"
        self.exits(0, "trace", "synthesize", "producer-consumer", "-o", trace)

        def rows(*options):
            lines = self.exits(0, "trace", "decode", *options, trace).stdout.splitlines()
            return [row for row in map(json.loads, lines) if row["type"] == "event"]
        every = rows()
        for option, member in (("--process", "pid"), ("--thread", "tid"), ("--event", "name")):
            one, other = sorted({str(row[member]) for row in every if row[member]})[:2]
            expected = [row for row in every if str(row[member]) in (one, other)]
            self.assertNotEqual(expected, rows(option, one))
            self.assertNotEqual(expected, rows(option, other))
            for form in ([option, f"{one},{other}"], [f"{option}={one},{other}"],
                         [option, one, option, other]):
                with self.subTest(form=form):
                    self.assertEqual(rows(*form), expected)
            # The second one is not a value but an input.
            done = self.exits(2, "trace", "decode", option, one, other)
            self.assertIn(f"{other}: ".encode(), done.stderr)


class Inputs(Case):
    def test_what_is_no_image_is_named(self):
        rows = {
            "a directory": (self.here, b"directory"),
            "an empty file": (self.write("empty", b""), b"empty"),
            "a missing file": (self.here / "missing", b"No such file"),
            "an ELF file": (Path("/proc/self/exe"), b"ELF"),
            "text": (self.write("text", b"#!/bin/sh\n"), b"text"),
        }
        for why, (path, sentence) in rows.items():
            with self.subTest(why):
                done = self.exits(2, "syscalls", "map", path)
                self.assertIn(str(path).encode(), done.stderr)
                self.assertIn(sentence, done.stderr)
                self.assertEqual(done.stdout, b"")

    def test_a_pipe_without_a_byte_is_said(self):
        for command in (("ntfs", "snapshot"), ("ntfs", "info")):
            done = self.exits(2, *command, "/dev/stdin", stdin=subprocess.PIPE)
            self.assertIn(b"it is empty", done.stderr)

    def test_one_bad_input_of_several_is_a_finding(self):
        good = image("windows10-x64/ntdll.dll")
        done = self.exits(1, "syscalls", "map", "--format", "json", self.here, good)
        self.assertEqual(len(strict_json(done.stdout)["images"]), 1)
        self.assertIn(str(self.here).encode(), done.stderr)

    def test_every_truncation_of_an_image_ends_with_an_answer(self):
        content = image("windows10-x64/ntdll.dll").read_bytes()
        path = self.here / "cut.dll"
        for size in sorted({*range(0, 1024, 64), *range(1024, len(content), 512)}):
            path.write_bytes(content[:size])
            done = run("syscalls", "map", "--format", "json", path)
            self.assertIn(done.returncode, (0, 1, 2), size)
            if done.returncode < 2:
                strict_json(done.stdout)

    def test_names_cannot_talk_to_the_terminal_or_break_json(self):
        content = image("windows10-x64/ntdll.dll").read_bytes()
        bent = content.replace(b"NtAccessCheck\0", b"Nt\x1b[31m\xff\"\\A\n\0")
        self.assertNotEqual(bent, content)
        path = self.write(os.fsdecode(b"\xff,bent.dll"), bent)
        for form in ("text", "csv", "json", "c-header", "j00ru-csv"):
            with self.subTest(form):
                explained = ["--explain"] if form == "text" else []
                done = run("syscalls", "map", "--format", form, *explained, path)
                self.assertNotIn(b"\x1b", done.stderr)
                if form in ("text", "c-header"):
                    self.assertNotIn(b"\x1b", done.stdout)
                if form == "json":
                    self.assertTrue(strict_json(done.stdout))
                if form in ("csv", "j00ru-csv"):
                    self.assertTrue(strict_csv(done.stdout))
        for command in (["pe", "info"], ["pe", "exports"], ["pe", "sections"], ["pe", "imports"],
                        ["hooks", "locate", "*"], ["hooks", "tables"], ["hooks", "iat"]):
            with self.subTest(command):
                strict_csv(run(*command, "--format", "csv", path).stdout)
                strict_json(run(*command, "--format", "json", path).stdout)


class Results(Case):
    def test_output_files_are_whole_or_not_there(self):
        target = self.here / "map.json"
        sound = image("windows10-x64/ntdll.dll")
        done = self.exits(0, "syscalls", "map", "--format", "json", sound, "-o", target)
        self.assertEqual(done.stdout, b"")
        self.assertTrue(json.loads(target.read_text())["images"])
        target.write_text("old")
        self.exits(2, "syscalls", "map", self.here / "missing", "-o", target)
        self.assertEqual(target.read_text(), "old")
        self.assertEqual(os.listdir(self.here), ["map.json"])
        self.exits(2, "syscalls", "map", sound, "-o", self.here / "no" / "such" / "place")
        self.exits(2, "syscalls", "map", sound, "-o", self.here)

    def test_a_killed_run_leaves_nothing_behind(self):
        try:
            os.close(os.open(self.here, os.O_TMPFILE | os.O_WRONLY))
        except OSError:
            self.skipTest("this file system has no files without a name")
        pipe = self.here / "pipe"
        os.mkfifo(pipe)
        target = self.here / "info.json"
        target.write_text("old")
        process = subprocess.Popen([COLDTRACE, "pe", "info", pipe, "-o", target])
        with open(pipe, "wb"):  # returns when the program waits for its input
            process.kill()
            process.wait(60)
        self.assertEqual(sorted(os.listdir(self.here)), ["info.json", "pipe"])
        self.assertEqual(target.read_text(), "old")

    def test_a_full_disk_is_2(self):
        sound = image("windows10-x64/ntdll.dll")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([COLDTRACE, "syscalls", "map", sound], stdout=full,
                                  stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"No space left", done.stderr)
        self.exits(2, "syscalls", "map", sound, "-o", "/dev/full")

    def test_a_closed_pipe_ends_quietly_with_0(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([COLDTRACE, "syscalls", "map", "-q", image("windows10-x64/ntdll.dll")],
                              stdout=writer, stderr=subprocess.PIPE, timeout=60)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_closed_pipe_with_a_name_ends_quietly_with_0(self):
        pipe = self.here / "pipe"
        os.mkfifo(pipe)
        # As a reader that stays until the writer has it open, and reads nothing.
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        process = subprocess.Popen([COLDTRACE, "syscalls", "map", "-q", "--format", "json",
                                    *[image("windows10-x64/ntdll.dll")] * 8, "-o", pipe],
                                   stderr=subprocess.PIPE)
        select.select([reader], [], [], 60)
        os.close(reader)
        _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said), (0, b""))

    def test_the_same_input_gives_the_same_bytes(self):
        sound = image("windows10-x64/ntdll.dll")
        for form in ("text", "json", "csv", "c-header", "j00ru-csv"):
            first = self.exits(0, "syscalls", "map", "--format", form, sound)
            second = self.exits(0, "syscalls", "map", "--format", form, sound, cwd="/")
            self.assertEqual(first.stdout, second.stdout)


class PackedResults(Case):
    """A name that ends with .gz or .zst has what gzip and zstd read."""
    PROGRAMS = {"gz": ("gzip", "-dc"), "zst": ("zstd", "-qdc"), "ZST": ("zstd", "-qdc")}

    def setUp(self):
        super().setUp()
        for program in ("gzip", "zstd"):
            if shutil.which(program) is None:
                self.skipTest(f"{program} is not installed")

    def unpacked(self, path):
        program = self.PROGRAMS[path.name.rsplit(".", 1)[1]]
        done = subprocess.run(program, input=path.read_bytes(), capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def test_programs_unpack_what_would_have_been_written(self):
        for command in (["findings", "--format", "json"], ["findings", "--format", "markdown"],
                        ["trace", "synthesize", "deadlock-2"]):
            plain = self.here / "plain"
            if run(*command, "-o", plain).returncode != 0:
                self.fail(command)
            for suffix in self.PROGRAMS:
                with self.subTest(command=command, suffix=suffix):
                    path = self.here / f"a.{suffix}"
                    done = self.exits(0, *command, "-o", path)
                    self.assertEqual(done.stdout, b"")
                    self.assertLess(path.stat().st_size, plain.stat().st_size)
                    self.assertEqual(self.unpacked(path), plain.read_bytes())
            plain.unlink()

    def test_much_is_the_same_bytes_each_time_and_an_input_again(self):
        trace = self.here / "a.ctrace.zst"
        self.exits(0, "trace", "synthesize", "system-calls", "--rounds", 8000, "-o", trace)
        text = self.exits(0, "trace", "decode", trace).stdout
        self.assertGreater(len(text), 9 << 20, "more than two pieces that threads pack")
        for suffix in ("gz", "zst"):
            packed = []
            for jobs in (1, 2, 5):
                path = self.here / f"{jobs}.ndjson.{suffix}"
                self.exits(0, "trace", "decode", trace, "-j", jobs, "-o", path)
                packed.append(path.read_bytes())
            self.assertEqual(len(set(packed)), 1)
            self.assertEqual(self.unpacked(path), text)

    def test_a_full_disk_and_a_closed_pipe_are_what_they_are(self):
        for suffix in ("gz", "zst"):
            full = self.here / f"full.{suffix}"
            full.symlink_to("/dev/full")
            self.assertIn(b"No space left", self.exits(2, "findings", "-o", full).stderr)
            pipe = self.here / f"pipe.{suffix}"
            os.mkfifo(pipe)
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            process = subprocess.Popen([COLDTRACE, "findings", "--format", "json", "-o", pipe],
                                       stderr=subprocess.PIPE)
            select.select([reader], [], [], 60)
            os.close(reader)
            _, said = process.communicate(timeout=60)
            self.assertEqual((process.returncode, said), (0, b""))

    def test_results_are_replaced_and_nothing_else_that_is_packed(self):
        pack = {"gz": gzip.compress,
                "zst": lambda text: subprocess.run(["zstd", "-qc"], input=text, check=True,
                                                   capture_output=True).stdout}
        for suffix, function in pack.items():
            path = self.here / f"a.{suffix}"
            for command in (["findings"], ["findings", "--format", "json"], ["findings"],
                            ["trace", "synthesize", "deadlock-2"], ["trace", "synthesize", "deadlock-5"]):
                self.exits(0, *command, "-o", path)
            self.exits(2, "findings", "-o", path)
            for content in (b"MZ" + bytes(1000), bytes(5000), os.urandom(3000), b"",
                            b"PK\3\4" + bytes(60)):
                packed = function(content)
                for whole in (packed, packed[:-5], packed[:9]):
                    path.write_bytes(whole)
                    done = self.exits(2, "findings", "-o", path)
                    self.assertIn(b"which is never overwritten", done.stderr)
                    self.assertEqual(path.read_bytes(), whole)
            # Of another name it is not a result of the kind.
            other = self.write("a.txt", function(b"text"))
            self.exits(2, "findings", "-o", other)
            # An input, whatever it holds.
            path.unlink()
            self.exits(0, "trace", "synthesize", "deadlock-2", "-o", path)
            before = path.read_bytes()
            done = self.exits(2, "trace", "decode", path, "-o", path)
            self.assertIn(b"the same file as the input", done.stderr)
            self.assertEqual(path.read_bytes(), before)

    def test_nothing_is_left_of_a_run_without_results(self):
        self.exits(2, "trace", "decode", self.here / "missing", "-o", self.here / "a.zst")
        # A library that cannot be loaded is one that is not there.
        self.write("libzstd.so.1", b"")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.here)}
        done = self.exits(2, "findings", "-o", self.here / "a.zst", env=environment)
        self.assertIn(b"libzstd", done.stderr)
        self.assertEqual(os.listdir(self.here), ["libzstd.so.1"])


class Syscalls(Case):
    def every_image(self):
        found = [path for path in sorted(IMAGES.glob("*/*")) if path.suffix in (".dll", ".exe")]
        if not found:
            self.skipTest("no compiler built the images")
        return found

    def validate(self, document, schema):
        text = (SOURCES / "docs/schema" / f"{schema}.schema.json").read_text()
        json_schema.validate(document, json.loads(text))

    def test_threads_change_nothing(self):
        images = self.every_image() + ["missing.dll", SOURCES]
        for command in (["pe", "info"], ["pe", "exports"], ["pe", "imports"], ["pe", "sections"],
                        ["syscalls", "map"]):
            for form in ("text", "json", "csv"):
                with self.subTest(command=command, format=form):
                    one, three = (run(*command, "--format", form, "--jobs", jobs, *images)
                                  for jobs in (1, 3))
                    self.assertEqual(one.returncode, 1)
                    self.assertIn(b"missing.dll", one.stderr)
                    self.assertEqual((one.returncode, one.stdout, one.stderr),
                                     (three.returncode, three.stdout, three.stderr))

    def test_json_follows_its_schema(self):
        for path in self.every_image():
            with self.subTest(path=path):
                document = strict_json(run("syscalls", "map", "--format", "json", path).stdout)
                self.validate(document, "syscall-map")
                numbers = [s["number"] for s in document["images"][0]["services"]]
                self.assertEqual(numbers, sorted(numbers))

    def test_csv_has_a_row_for_each_service(self):
        import csv
        sound = image("windows10-wow64/ntdll.dll")
        rows = strict_csv(run("syscalls", "map", "--format", "csv", sound).stdout)
        services = strict_json(run("syscalls", "map", "--format", "json",
                                  sound).stdout)["images"][0]["services"]
        self.assertEqual(len(rows), len(services))
        for row, service in zip(rows, services):
            self.assertEqual(int(row["number"]), service["number"])
            self.assertEqual(row["name"], service["name"])
            self.assertEqual(int(row["argument_bytes"]), service["argument_bytes"])

    def test_the_c_header_compiles_and_is_indexed_by_number(self):
        sound = image("windows10-x64/ntdll.dll")
        kernel = image("windows10-x64-win32u/win32u.dll")
        header = self.here / "services.h"
        self.exits(0, "syscalls", "map", "--format", "c-header", sound, kernel, sound, "-o", header)
        document = strict_json(run("syscalls", "map", "--format", "json", sound, kernel).stdout)
        checks = []
        for entry in document["images"]:
            identity = entry["identity"]
            for service in entry["services"]:
                checks.append(f'check({identity["time_date_stamp"]}u, {identity["size_of_image"]}u, '
                              f'{identity["checksum"]}u, {service["number"]}, '
                              f'"{service["name"]}");')
        program = self.write("program.c", f"""
#include <stdio.h>
#include <string.h>
#include "services.h"
static int failed;
static void check(unsigned long stamp, unsigned long size, unsigned long checksum, int number,
                  const char *name) {{
    const struct coldtrace_service_table *table = coldtrace_service_tables;
    while (table->services && (table->time_date_stamp != stamp || table->size_of_image != size ||
                               table->checksum != checksum || table->machine != 0x8664))
        ++table;
    if (!table->services || number < table->first || number - table->first >= table->count ||
        strcmp(table->services[number - table->first].name, name) != 0) {{
        printf("%d %s\\n", number, name);
        failed = 1;
    }}
}}
int main(void) {{
    {" ".join(checks)}
    return failed;
}}
""".encode())
        binary = self.here / "program"
        subprocess.run(["cc", "-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror", program, "-o",
                        binary], check=True, cwd=self.here)
        done = subprocess.run([binary], capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, b""))

    def with_headers(self, path, name, checksum=0, stamp=0, machine=None):
        """A copy whose CheckSum and TimeDateStamp are higher by so much."""
        content = bytearray(path.read_bytes())
        header = struct.unpack_from("<I", content, 0x3c)[0]
        for at, more in ((header + 8, stamp), (header + 24 + 64, checksum)):
            value = struct.unpack_from("<I", content, at)[0]
            struct.pack_into("<I", content, at, (value + more) & 0xffffffff)
        return self.write(name, bytes(content))

    def test_no_image_is_left_out_of_a_table_in_silence(self):
        first = image("windows10-x64/ntdll.dll")
        bent = self.write("bent.dll", first.read_bytes().replace(b"NtClose\0", b"NtClosf\0")
                          .replace(b"ZwClose\0", b"ZwClosf\0"))
        images = [first, self.with_headers(bent, "second.dll", checksum=1),
                  self.with_headers(first, "third.dll", stamp=1),
                  image("windows10-x64-win32u/win32u.dll"), image("xp-sp2-x86/ntdll.dll")]
        done = self.exits(0, "syscalls", "map", "--format", "c-header", *images)
        rows = re.findall(r"^    \{(0x\w+)UL, (0x\w+)UL, (0x\w+)UL, (0x\w+), .* (\w+)\},$",
                          done.stdout.decode(), re.M)
        expected = []
        for path in images:
            content = path.read_bytes()
            header = struct.unpack_from("<I", content, 0x3c)[0]
            expected.append((struct.unpack_from("<I", content, header + 8)[0],
                             *(struct.unpack_from("<I", content, header + 24 + at)[0]
                               for at in (56, 64)),
                             struct.unpack_from("<H", content, header + 4)[0]))
        self.assertEqual([tuple(int(word, 16) for word in row[:4]) for row in rows], expected)
        self.assertEqual(len({row[4] for row in rows}), len(images))
        self.assertEqual(done.stdout.count(b'"NtClosf"'), 1)
        titles = self.exits(0, "syscalls", "map", "--format", "j00ru-csv",
                            *images).stdout.decode().splitlines()[0].split(",")
        self.assertEqual(titles[0], "System call")
        self.assertEqual(len(set(titles)), 1 + len(images))

    def test_an_image_that_is_there_twice_is_said(self):
        first = image("windows10-x64/ntdll.dll")
        again = self.write("again.dll", first.read_bytes())
        other = self.write("other.dll", first.read_bytes().replace(b"NtClose\0", b"NtClosf\0")
                           .replace(b"ZwClose\0", b"ZwClosf\0"))
        for form in ("c-header", "j00ru-csv"):
            with self.subTest(form):
                alone = self.exits(0, "syscalls", "map", "--format", form, first).stdout
                done = self.exits(0, "syscalls", "map", "-v", "--format", form, first, again)
                self.assertEqual(done.stdout, alone)
                self.assertIn(b"again.dll: info: image-twice", done.stderr)
                done = self.exits(1, "syscalls", "map", "--format", form, first, other)
                self.assertEqual(done.stdout, alone)
                self.assertIn(b"other.dll: warning: image-conflict", done.stderr)

    def test_several_images_give_the_familiar_table(self):
        old, new = image("windows7-x64/ntdll.dll"), image("windows10-x64/ntdll.dll")
        lines = self.exits(0, "syscalls", "map", "--format", "j00ru-csv", old,
                           new).stdout.decode().splitlines()
        self.assertEqual(lines[0].count(","), 2)
        self.assertTrue(any(re.fullmatch(r"NtClose,0x[0-9a-f]{4},0x[0-9a-f]{4}", line)
                            for line in lines))

    def test_compare_is_0_for_the_same_and_1_for_a_difference(self):
        x64 = image("windows10-x64/ntdll.dll")
        self.exits(0, "syscalls", "compare", x64, x64)
        content = x64.read_bytes()
        bent = content.replace(b"NtClose\0", b"NtClosf\0").replace(b"ZwClose\0", b"ZwClosf\0")
        done = self.exits(1, "syscalls", "compare", x64, self.write("bent.dll", bent))
        self.assertIn(b"NtClose removed", done.stdout)
        self.assertIn(b"NtClosf inserted", done.stdout)
        document = self.exits(1, "syscalls", "compare", "--format", "json", x64,
                              self.here / "bent.dll").stdout
        self.validate(strict_json(document), "syscall-comparison")
        self.exits(2, "syscalls", "compare", x64, image("reader-x64/reader.dll"))
        self.exits(2, "syscalls", "compare", x64, self.here / "missing")

    def test_hashes_are_the_same_in_all_formats(self):
        names = ("NtCreateFile", "OpenKeyTransacted", "\x1b")
        answer = strict_json(self.exits(0, "syscalls", "hash", "--format", "json", *names).stdout)
        self.validate(answer, "service-name-hashes")
        hashes = [row["name_hash"] for row in answer["hashes"]]
        self.assertEqual(hashes[:2], [0xa97a4dd7, 0xb74a2d8f])
        rows = self.exits(0, "syscalls", "hash", "--format", "csv", *names).stdout.decode()
        self.assertEqual([int(row.split(",")[-1]) for row in rows.splitlines()[1:]], hashes)
        text = self.exits(0, "syscalls", "hash", *names).stdout.decode()
        self.assertEqual([int(row.split()[0], 16) for row in text.splitlines()], hashes)
        self.assertNotIn("\x1b", text)

    def test_check_holds_an_ntdll_against_a_kernel(self):
        ntdll, kernel = image("windows10-x64/ntdll.dll"), image("windows10-x64-kernel/ntoskrnl.exe")
        done = run("syscalls", "check", "--format", "json", "--ntdll", ntdll, "--kernel", kernel)
        document = strict_json(done.stdout)
        self.validate(document, "syscall-check")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(document["trusted"])
        self.assertEqual(document["disagreements"], [])
        self.assertTrue(document["named"])
        self.exits(2, "syscalls", "check", "--ntdll", image("hooked-x64/ntdll.dll"), "--kernel",
                   image("windows7-x86-kernel/ntoskrnl.exe"))


class Hooks(Case):
    def test_locate_follows_its_schema_and_exit_codes(self):
        kernel = image("windows7-x86-kernel/ntoskrnl.exe")
        done = self.exits(0, "hooks", "locate", "ZwStubRun", "--format", "json", kernel)
        document = strict_json(done.stdout)
        schema = (SOURCES / "docs/schema/hook-locations.schema.json").read_text()
        json_schema.validate(document, json.loads(schema))
        (location,) = document["images"][0]["locations"]
        services = strict_json(run("syscalls", "map", "--format", "json",
                                  kernel).stdout)["images"][0]["services"]
        self.assertEqual(location["rva"], services[0]["rva"])
        self.assertEqual(location["matches"][0]["signature"], "zw-stubs-x86")
        rows = self.exits(0, "hooks", "locate", "ZwStubRun", "--format", "csv",
                          kernel).stdout.decode().splitlines()
        self.assertEqual(len(rows), 2)
        self.assertIn(f",ZwStubRun,{location['rva']},", rows[1])
        missing = self.exits(1, "hooks", "locate", "SwapContext", "--format", "json", kernel)
        self.assertEqual(strict_json(missing.stdout)["images"][0]["locations"], [])
        self.assertIn(b"no-match", missing.stderr)
        self.exits(0, "hooks", "locate", "SwapContext", "--tolerate", "no-match", kernel)
        self.assertIn(b"no-match",
                      self.exits(1, "hooks", "locate", "Nothing", kernel).stderr)

    def switches(self, *arguments, status=0):
        done = self.exits(status, "hooks", "context-switch", "--format", "json", *arguments)
        document = strict_json(done.stdout)
        schema = (SOURCES / "docs/schema/context-switch.schema.json").read_text()
        json_schema.validate(document, json.loads(schema))
        return document["images"]

    def test_context_switch_follows_its_schema_and_exit_codes(self):
        kernel = image("switch-7-x86/ntoskrnl.exe")
        pdb = kernel.with_suffix(".pdb")
        (plain,) = self.switches("--no-hash", kernel)
        self.assertIsNone(plain["pdb"])
        candidates = plain["context_switch"]["candidates"]
        self.assertEqual([one["name"] for one in candidates],
                         ["SwapContext", "EnlightenedSwapContext"])
        (located,) = strict_json(self.exits(0, "hooks", "locate", "SwapContext", "--format", "json",
                                            kernel).stdout)["images"]
        self.assertEqual(located["locations"][0]["rva"], candidates[0]["rva"])
        (named,) = self.switches("--pdb", pdb, kernel)
        self.assertEqual(named["pdb"], str(pdb))
        self.assertEqual(named["context_switch"]["candidates"][0]["confidence"], "high")
        # The PDB of another image is said to be that.
        other = image("switch-xp-x86/ntoskrnl.exe")
        self.assertIsNone(self.switches("--pdb", pdb, other, status=1)[0]["pdb"])
        both = self.switches("--pdb", pdb, "--pdb", other.with_suffix(".pdb"), kernel, other)
        self.assertEqual([one["pdb"] is None for one in both], [False, False])
        twice = image("switch-twice-x86/ntoskrnl.exe")
        self.assertIn("context-switch-ambiguous",
                      [one["code"] for one in self.switches(twice, status=1)[0]["findings"]])
        none = image("switch-none-x64/ntoskrnl.exe")
        self.assertTrue(self.switches(none, status=1)[0]["context_switch"]["reasons"])
        for part in (b"SwapContext at rva 0x", b"entry_jump: not safe", b"inner_jump: safe",
                     b"_ETHREAD.Cid.UniqueThread at 0x1f0, confidence high"):
            self.assertIn(part, self.exits(0, "hooks", "context-switch", kernel).stdout)
        self.exits(2, "hooks", "context-switch", self.here / "missing")
        self.exits(2, "hooks", "context-switch", pdb)

    def test_signatures_of_a_file_say_where_they_are_wrong(self):
        kernel = image("windows7-x86-kernel/ntoskrnl.exe")
        text = b'signature a of F {\n machine x86; source "t", unverified;\n bytes 6A 08 E8 ??'
        bad = self.write("bad.sig", text)
        done = self.exits(2, "hooks", "locate", "F", "--signatures", bad, kernel)
        self.assertIn(f"{bad}:3:19: expected".encode(), done.stderr)
        good = self.write("good.sig", text.replace(b"6A 08 E8", b"B8 00 00 00 00 8D 54") + b";}")
        self.assertIn(b"unverified", self.exits(0, "hooks", "locate", "F", "--signatures", good,
                                                kernel).stdout)
        self.exits(2, "hooks", "locate", "F", "--signatures", self.here / "missing", kernel)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
