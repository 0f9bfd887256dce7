"""Which options are for which formats, names of results that promise a format, and words for values
that are none.

usage: formats.py COLDTRACE DEMO [unittest arguments]
"""
import functools
import os
import re
import resource
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case

COLDTRACE, DEMO = (Path(argument).resolve() for argument in sys.argv[1:3])
TRACE = DEMO / "demo-trace.etl"

PROGRAM = case.Program(COLDTRACE)
run = functools.partial(PROGRAM.run, stdin=subprocess.DEVNULL)
help_of, commands = PROGRAM.help_of, PROGRAM.commands


class Formats(case.Case):
    def refused(self, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, b""), (arguments, done.stderr))
        return done.stderr.decode()

    def test_an_option_of_one_format_is_refused_with_others(self):
        """Each option whose help begins with the format that it is for, with each other format."""
        tried = set()
        for command in commands():
            formats = PROGRAM.formats_of(*command)
            for option, value, where in re.findall(
                    r"^ +(--[a-z-]+)((?: [A-Z]+)?)\s+In (text|drawings|lists of paths and\s+URLs)\b",
                    help_of(*command), re.M):
                own = {"text": ["text"], "drawings": ["dot", "svg"]}.get(where, ["paths", "urls"])
                self.assertLessEqual(set(own), set(formats), (command, option))
                given = [option, *(["1"] if value else [])]
                more = ["--thread", "1"] if command[-1] == "critical-path" else []
                for form in formats:
                    with self.subTest(command=command, option=option, form=form):
                        done = run(*command, self.here / "none", *more, *given, "--format", form)
                        says = f"{option} is for --format {', '.join(own)}".encode()
                        self.assertEqual(says in done.stderr, form not in own, done.stderr)
                        self.assertEqual(done.returncode, 2)
                        tried.add((command[-1], option))
        self.assertLessEqual({("io", "--top"), ("cpu", "--top"), ("schedule", "--top"), ("priority", "--top"),
                              ("services", "--trees"), ("critical-path", "--hops"), ("tree", "--max-threads"),
                              ("tree", "--nodes"), ("wait-for", "--nodes"), ("symbols", "--images")}, tried)

    def test_other_options_that_would_change_nothing_are_refused(self):
        for says, *arguments in (
                ("--server is for --format json, urls", "trace", "symbols", TRACE, "--server", "http://a"),
                ("--color is for --format text", "trace", "info", TRACE, "--color", "always", "--format", "json"),
                ("--pager is for --format text", "trace", "info", TRACE, "--pager", "--format", "json"),
                ("--int64 is for --format json", "trace", "info", TRACE, "--int64", "string"),
                ("--int64 is for --format json", "trace", "io", TRACE, "--int64", "string", "--format", "csv"),
                *((f"{option[0]} is for --format text, json, csv", "pe", "types", TRACE, "X", *option, "--format", "c-header")
                  for option in (["--depth", "1"], ["--depth", "0"], ["--expand"])),
                *(("--no-evidence is for --format hooktab", "hooks", "table", "--kernel", TRACE, "--no-evidence", "--format", form)
                  for form in ("text", "json", "c-header", "csv", "sqlite")),
                *(("--no-evidence is for --format hooktab", "hooks", "plan", "--function", "X", "--kernel", TRACE, "--no-evidence",
                   "--format", form) for form in ("text", "json", "c-header")),
                ("--explain is for --format text", "syscalls", "map", TRACE, "--explain", "--format", "json"),
                *(("--int64 is for --format ndjson, json, csv", "ntfs", "snapshot", TRACE, "--int64", "string", "--format", form)
                  for form in ("bodyfile", "timeline", "l2tcsv", "timesketch", "ecs", "sqlite", "mftecmd-csv", "text"))):
            self.assertIn(says, self.refused(*arguments))
        made = self.here / "a.ctrace"
        run("trace", "synthesize", "deadlock-2", "-o", made)
        self.assertIn("--pointer-size is for .etl files", self.refused("trace", "info", made, "--pointer-size", "4"))
        self.assertEqual(run("trace", "info", made).returncode, 0)

    def test_commands_without_json_of_their_own_have_no_int64(self):
        lack = {command for command in commands() if "--int64" not in help_of(*command)}
        self.assertEqual(lack, {
            ("help",), ("hooks", "export", "c-header"), ("hooks", "export", "edrsandblast"), ("hooks", "export", "isf"),
            ("hooks", "export", "kphdyn"), ("hooks", "merge"), ("pe", "isf"), ("report",), *(("trace", "export", name) for name in (
                "chrome", "collapsed", "ctf", "firefox", "perfetto", "speedscope", "sqlite")),
            ("trace", "pack"), ("trace", "packets"), ("trace", "schema", "c-header"), ("trace", "schema", "check"),
            ("trace", "schemas", "build"), ("trace", "unpack")})
        for command in lack:
            self.assertIn("'--int64' is not an option of", self.refused(*command, TRACE, "--int64", "string"))

    def test_a_name_that_promises_another_format_is_refused_everywhere(self):
        for command, end, of in ((("trace", "export", "ecs", TRACE), "csv", "csv"),
                                 (("trace", "export", "timesketch", TRACE), "json", "json"),
                                 (("trace", "decode", TRACE), "pcapng", "pcapng"),
                                 (("pe", "info", DEMO / "demo-ntdll.dll"), "ctrace", "ctrace"),
                                 (("trace", "synthesize", "deadlock-2"), "pcapng", "pcapng"),
                                 (("ntfs", "info", DEMO / "demo-disk.img"), "pftrace", "pftrace"),
                                 (("trace", "export", "chrome", TRACE), "perfetto-trace", "pftrace"),
                                 (("trace", "schemas", "list"), "ctschemas", "ctschemas"),
                                 (("trace", "export", "collapsed", TRACE), "json", "json"),
                                 (("trace", "export", "perfetto", TRACE), "csv", "csv"),
                                 (("trace", "schemas", "build", DEMO), "csv", "csv"),
                                 (("hooks", "export", "kphdyn", DEMO / "ntoskrnl.exe"), "json", "json"),
                                 (("trace", "synthesize", "deadlock-2"), "svg", "svg"),
                                 (("help",), "csv", "csv")):
            with self.subTest(command=command):
                for name in (f"x.{end}", f"x.{end.upper()}", f"x.{end}.zst"):
                    self.assertIn(f", which is {of}, but this command writes ", self.refused(*command, "-o", self.here / name))
        self.assertEqual(os.listdir(self.here), [])
        for command, name in ((("trace", "export", "ecs", TRACE), "x.jsonl"), (("trace", "export", "ecs", TRACE), "x.ndjson"),
                              (("trace", "export", "ecs", TRACE), "x.JSON"), (("trace", "export", "ecs", TRACE), "x.json.gz"),
                              (("trace", "export", "perfetto", TRACE), "x.perfetto-trace"),
                              (("trace", "export", "collapsed", TRACE, "--of", "events"), "x.folded"),
                              (("trace", "export", "collapsed", TRACE, "--of", "events"), "x.txt"),
                              (("help", "--man"), "x.1"), (("trace", "pack", TRACE), "x.json")):
            with self.subTest(command=command, name=name):
                self.assertLess(run(*command, "-o", self.here / name).returncode, 2)
                self.assertTrue((self.here / name).exists())

    def test_a_file_that_may_not_grow_is_told(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it

        target = self.here / "x.ndjson"
        done = run("trace", "decode", TRACE, "-o", target, preexec_fn=limit)
        self.assertEqual((done.returncode, target.exists()), (2, False), done.stderr)
        self.assertIn(b"cannot write: File too large", done.stderr)

    def test_values_that_are_none_are_told_in_words(self):
        for says, *options in (("--format takes one value but is given more", "--format", "json", "--format", "csv"),
                               ("'abc' is not a size; expected one like 65536", "--names-limit", "abc"),
                               ("'5' is neither 4 nor 8\n", "--pointer-size", "5")):
            self.assertIn(says, self.refused("trace", "decode", TRACE, *options))

    def test_what_is_no_trace_is_told_in_words(self):
        whole = TRACE.read_bytes()
        cut = self.write("cut.etl", whole[:300])
        # WMI_BUFFER_HEADER has 0x48 bytes; the size of the record behind it is at its byte 4.
        needed = int.from_bytes(whole[0x4c:0x4e], "little")
        self.assertGreater(needed, 300 - 0x48)
        self.assertIn(f"it is cut off: 0x48: trace header.Size: truncated: {needed} bytes needed, {300 - 0x48} available",
                      self.refused("trace", "info", cut))
        self.assertIn("-: it is empty", self.refused("trace", "decode", "-"))
        self.assertIn("/dev/null: it is empty", self.refused("trace", "decode", "/dev/null"))
        closed = subprocess.run(["bash", "-c", '"$0" trace decode - <&-', COLDTRACE], capture_output=True, timeout=60)
        self.assertEqual((closed.returncode, closed.stderr), (2, b"coldtrace: -: it is empty\n"))

    def test_a_trace_beside_its_packed_form_is_no_part_of_an_image(self):
        trace = self.write("d.etl", TRACE.read_bytes())
        run("trace", "pack", trace, "-o", self.here / "d.zst")
        said = self.refused("trace", "unpack", self.here / "d.zst", "-o", trace)
        self.assertNotIn("split image", said)
        self.assertIn("which is never overwritten", said)

    def test_an_interval_without_events_is_named(self):
        done = run("trace", "symbols", TRACE, "--from", "2051-01-01")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"between --from and --to", done.stderr)

    def test_a_tracer_without_flags_is_not_told_of_them(self):
        made = self.here / "a.ctrace"
        run("trace", "synthesize", "deadlock-2", "-o", made)
        said = run("trace", "io", made, "-v").stderr
        self.assertIn(b"no requests to disks, file systems or the network\n", said)
        self.assertNotIn(b"kernel's flags", said)
        self.assertIn(b"the trace has no samples (PROFILE of the kernel's flags)\n",
                      run("trace", "cpu", TRACE, "--format", "collapsed").stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
