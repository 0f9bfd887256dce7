"""The shell steps of ci/: run as GitHub's and GitLab's runners run them, on traces and hook tables,
good, bad and hostile.

usage: ci_templates.py COLDTRACE IMAGES PROJECT [unittest arguments]
"""
import json
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from ci_steps import Steps
from strict import strict_ndjson

COLDTRACE, IMAGES, PROJECT = (Path(argument).resolve() for argument in sys.argv[1:4])
STEPS = Steps(PROJECT)
ACTION, JOB = STEPS.action, STEPS.job


def coldtrace(*arguments, status=0):
    done = subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)
    assert done.returncode == status, (arguments, done.stderr)
    return done


class Templates(case.Case):
    first, second = "a b.hooktab", "-o.hooktab"

    def setUp(self):
        super().setUp()
        coldtrace("trace", "synthesize", "deadlock-5", "-o", self.here / "run 1.ctrace")
        coldtrace("trace", "synthesize", "losses", "-o", self.here / "lost.ctrace")
        lines = strict_ndjson(coldtrace("trace", "decode", self.here / "run 1.ctrace").stdout)
        self.events = [line for line in lines if line["type"] == "event"]

    def action(self, **inputs):
        return STEPS.run_action(self.here, {name.replace("_", "-"): value for name, value in inputs.items()})

    def job(self, **variables):
        return STEPS.run_job(self.here, variables)

    def test_both_run_the_same_script(self):
        scripts = [step["run"] for step in ACTION["runs"]["steps"] if step.get("id") == "coldtrace"]
        self.assertEqual(scripts, JOB["script"])
        given = ACTION["runs"]["steps"][1]["env"]
        self.assertEqual(set(given), set(JOB["variables"]))
        for name, text in given.items():
            wanted = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)[1]
            self.assertEqual(ACTION["inputs"][wanted]["default"], JOB["variables"][name])
        self.assertEqual(JOB["artifacts"]["paths"], ["$COLDTRACE_OUTPUT/"])
        self.assertEqual(JOB["artifacts"]["reports"], {"junit": "$COLDTRACE_OUTPUT/check.xml"})
        used = set(re.findall(r"\$\{?(COLDTRACE\w*)", scripts[0]))
        self.assertEqual(used, set(given))

    def test_a_trace_as_expected_passes_and_leaves_its_results(self):
        cpu0 = sum(event["cpu"] == 0 for event in self.events)
        check = f"--expect cpu == 0\n--min {cpu0}\n--max {cpu0}\n\n  --expect cpu == 77\n--none\n"
        done, outputs, summary = self.action(coldtrace=str(COLDTRACE), trace="run 1.ctrace", check=check,
                                             decode="--order time")
        self.assertEqual((done.returncode, outputs), (0, {"status": "0"}), done.stderr)
        results = self.here / "coldtrace-results"
        cases = xml.etree.ElementTree.parse(results / "check.xml").findall(".//testcase")
        self.assertEqual([case.find("failure") for case in cases], [None, None])
        self.assertIn(f"cpu == 0: {cpu0} events".encode(), done.stdout)
        self.assertIn(f"    ok     cpu == 0: {cpu0} events", summary)
        lines = strict_ndjson((results / "events.ndjson").read_bytes())
        self.assertEqual([line for line in lines if line["type"] == "event"], self.events)
        self.assertTrue((results / "report.html").read_bytes().lower().startswith(b"<!doctype html>"))

    def test_rules_fail_the_step(self):
        for arguments, status in (({"check": "--expect cpu == 77"}, 1),
                                  ({"check": "--expect cpu ==="}, 2),
                                  ({"check": "--expect cpu == 0", "trace": "none.ctrace"}, 2),
                                  ({"trace": "lost.ctrace", "decode": "--order time"}, 1),
                                  ({"trace": "", "check": "--expect cpu == 0"}, 2),
                                  ({"trace": "\n", "decode": "--order time"}, 2),
                                  ({"trace": "run 1.ctrace"}, 2),  # with nothing to do
                                  ({"report": "yes", "check": "--expect cpu == 0"}, 2),
                                  ({"report": "True"}, 2),
                                  ({"report": ""}, 2),
                                  ({"decode": "--format csv"}, 2),
                                  ({"decode": "--format ndjson\n-o x"}, 2),
                                  ({"check": "--expect cpu == 0\n--format json"}, 2)):
            with self.subTest(arguments=arguments):
                arguments = {"trace": "run 1.ctrace", "report": "false"} | arguments
                done, outputs, _ = self.action(coldtrace=str(COLDTRACE), **arguments)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual(outputs, {"status": str(status)})
                variables = {"COLDTRACE_" + name.upper(): value for name, value in arguments.items()}
                self.assertEqual(self.job(COLDTRACE=str(COLDTRACE), **variables).returncode, status)

    def test_what_is_asked_of_a_trace_needs_one(self):
        """An output of another step that is empty is no trace; the tables are not for that."""
        kernel = next((IMAGES / "windows10-x64-kernel").glob("*.exe"))
        coldtrace("hooks", "table", "--kernel", kernel, "--format", "hooktab", "-o", self.here / "a.hooktab", status=1)
        for asked in ({"check": '--expect name == "never"'}, {"check": "--bogus"}, {"decode": "--order time"}):
            done, outputs, _ = self.action(coldtrace=str(COLDTRACE), tables="a.hooktab", **asked)
            self.assertEqual((done.returncode, outputs), (2, {"status": "2"}), done.stderr)
            self.assertIn(b"coldtrace: no trace is given to check or decode\n", done.stderr)
        done, _, _ = self.action(coldtrace=str(COLDTRACE), tables="a.hooktab")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_names_and_values_keep_their_blanks(self):
        for name in (" lead.ctrace", "end ", "\ttab .ctrace"):
            (self.here / name).write_bytes((self.here / "run 1.ctrace").read_bytes())
        given = {"COLDTRACE": str(COLDTRACE), "COLDTRACE_REPORT": "false"}
        for name in (" lead.ctrace", "end ", "\ttab .ctrace"):
            done = self.job(**given, COLDTRACE_TRACE=f"{name}\n  \n", COLDTRACE_CHECK="  --expect cpu == 0 \n--min 1\n \n--quiet  ")
            self.assertEqual(done.returncode, 0, done.stderr)
        (self.here / "echo").write_text("#!/bin/bash\nprintf '<%s>' \"$@\" >>said\n")
        (self.here / "echo").chmod(0o755)
        self.job(**given | {"COLDTRACE": str(self.here / "echo")}, COLDTRACE_TRACE="t",
                 COLDTRACE_DECODE="--schemas  a b \n\t--where=name == \"x\" \n--none \n-j\t3")
        self.assertIn('<decode><--schemas>< a b ><--where=name == "x" ><--none><-j><3><--format>', (self.here / "said").read_text())

    def test_the_folder_of_the_results_may_begin_like_an_option(self):
        done, outputs, _ = self.action(coldtrace=str(COLDTRACE), trace="run 1.ctrace", check="--expect cpu == 0", output="-x",
                                       decode="--order time")
        self.assertEqual((done.returncode, outputs), (0, {"status": "0"}), done.stderr)
        self.assertEqual({path.name for path in (self.here / "-x").iterdir()},
                         {"check.xml", "check.txt", "events.ndjson", "report.html"})

    def test_findings_decide_as_the_policy_says(self):
        lost = {"COLDTRACE": str(COLDTRACE), "COLDTRACE_TRACE": "lost.ctrace", "COLDTRACE_DECODE": "--order time"}
        done = self.job(**lost)
        codes = set(re.findall(r"^lost\.ctrace: warning: ([a-z-]+)", done.stderr.decode(), re.M))
        self.assertTrue(codes)
        for between in ",", ", ", "\n", " ,\n":
            done = self.job(**lost, COLDTRACE_TOLERATE=between.join(["name-absent", *codes]) + "\n")
            self.assertEqual(done.returncode, 0, done.stderr)
        for listed, status in (("\n", 0), (f"{min(codes)}\nname-absent\n", 0), ("no-code\nname-absent", 2)):
            done = self.job(**lost | {"COLDTRACE_TRACE": "run 1.ctrace"}, COLDTRACE_FAIL_ON=listed)
            self.assertEqual(done.returncode, status, done.stderr)
        sound = lost | {"COLDTRACE_TRACE": "run 1.ctrace"}
        self.assertEqual(self.job(**sound).returncode, 0)

    def test_a_program_that_is_none_or_dies_is_status_2(self):
        done = self.job(COLDTRACE="/none/coldtrace", COLDTRACE_TRACE="run 1.ctrace")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"no program '/none/coldtrace'", done.stderr)
        dying = self.write("dying", b"#!/bin/bash\nkill -SEGV $$\n")
        dying.chmod(0o755)
        done = self.job(COLDTRACE=str(dying), COLDTRACE_TRACE="run 1.ctrace")
        self.assertEqual(done.returncode, 2)

    def test_the_output_is_there_however_the_step_ends(self):
        self.write("file", b"")
        for arguments, said in (({"coldtrace": "/none/coldtrace", "trace": "run 1.ctrace"}, b"no program"),
                                ({"coldtrace": str(COLDTRACE)}, b"neither a trace nor tables"),
                                ({"coldtrace": str(COLDTRACE), "trace": "run 1.ctrace", "output": "file/in"}, b"mkdir")):
            done, outputs, _ = self.action(**arguments)
            self.assertEqual((done.returncode, outputs), (2, {"status": "2"}), done.stderr)
            self.assertIn(said, done.stderr)

    def test_results_of_an_earlier_step_are_not_shown_as_this_one_s(self):
        results = self.here / "coldtrace-results"
        done, _, summary = self.action(coldtrace=str(COLDTRACE), trace="run 1.ctrace", check="--expect cpu == 0",
                                       decode="--order time")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cpu == 0", summary)
        self.write("coldtrace-results/merged.hooktab", b"an input")
        self.write("coldtrace-results/table-7.txt", b"")
        self.write("coldtrace-results/kept.txt", b"of another")
        for arguments in {"coldtrace": "/none/coldtrace", "check": "--schemas coldtrace-results/merged.hooktab"}, \
                         {"trace": "", "tables": "coldtrace-results/merged.hooktab"}, {"trace": "none.ctrace", "check": "--expect cpu == 0"}:
            with self.subTest(arguments=arguments):
                for name in "check.xml", "check.txt", "events.ndjson", "report.html", "tables.diff":
                    self.write(f"coldtrace-results/{name}", b"of an earlier step")
                is_input = "merged" in str(arguments)
                done, _, summary = self.action(**{"coldtrace": str(COLDTRACE), "trace": "run 1.ctrace"} | arguments)
                self.assertEqual((done.returncode, summary), (2, ""), done.stderr)
                self.assertNotIn(b"earlier", done.stdout)
                self.assertEqual({path.name for path in results.iterdir()},
                                 {"kept.txt", "merged.hooktab"} if is_input else {"kept.txt"})

    def test_inputs_and_files_of_others_stay(self):
        """What the step would remove if they were not: values behind '=' too, and names that only look like its own."""
        kept = "table-of-contents.txt", "table-.txt", "table-1.txt.txt", "table-1x.txt", "mytable-1.txt"
        for name in (*kept, "table-0.txt", "table-12.txt", "merged.hooktab", "check.xml"):
            self.write(name, b"of the project")
        check = "--expect cpu == 0\n--schemas=./merged.hooktab"
        done, _, _ = self.action(coldtrace=str(COLDTRACE), trace="run 1.ctrace", check=check, output=".", report="false")
        self.assertEqual(done.returncode, 1, done.stderr)  # it is read, and none that declares events
        self.assertIn(b"schema-file: ./merged.hooktab: not a PE file", done.stderr)
        there = {path.name for path in self.here.iterdir()}
        self.assertLessEqual({*kept, "merged.hooktab"}, there)
        self.assertFalse({"table-0.txt", "table-12.txt"} & there)
        self.assertNotEqual((self.here / "check.xml").read_bytes(), b"of the project")
        # What cannot be removed is no result of this step.
        (self.here / "report.html").mkdir()
        done, outputs, _ = self.action(coldtrace=str(COLDTRACE), trace="run 1.ctrace", output=".")
        self.assertEqual((done.returncode, outputs), (2, {"status": "2"}), done.stderr)

    def test_one_of_several_tables_that_cannot_be_read(self):
        kernel = next((IMAGES / "windows10-x64-kernel").glob("*.exe"))
        coldtrace("hooks", "table", "--kernel", kernel, "--format", "hooktab", "-o", self.here / "a.hooktab", status=1)
        self.write("broken.hooktab", b"none")
        for tables, status in (("a.hooktab\nmissing.hooktab", 1), ("broken.hooktab\na.hooktab", 1),
                               ("missing.hooktab\nbroken.hooktab", 2), ("missing.hooktab", 2)):
            with self.subTest(tables=tables):
                done, outputs, _ = self.action(coldtrace=str(COLDTRACE), tables=tables)
                self.assertEqual((done.returncode, outputs), (status, {"status": str(status)}), done.stderr)
                self.assertNotIn(b"diff: ", done.stderr)
                self.assertFalse((self.here / "coldtrace-results/tables.diff").exists())
                shown = {path.name for path in (self.here / "coldtrace-results").glob("table-*")}
                self.assertEqual(shown, {f"table-{n}.txt" for n, name in enumerate(tables.split("\n")) if name[0] == "a"})

    def test_one_of_several_files_that_cannot_be_read(self):
        """Status 1, as docs/ci.md says, and an error among the tests; of the only one there are none."""
        document = (PROJECT / "docs/ci.md").read_text()
        self.assertIn("one of several files cannot be read", document)
        self.write("broken.ctrace", b"no trace")
        check = {"check": "--expect cpu == 0", "report": "false"}
        done, outputs, _ = self.action(coldtrace=str(COLDTRACE), trace="run 1.ctrace\nbroken.ctrace", **check)
        self.assertEqual((done.returncode, outputs), (1, {"status": "1"}), done.stderr)
        cases = xml.etree.ElementTree.parse(self.here / "coldtrace-results/check.xml").findall(".//testcase")
        self.assertEqual(sum(case.find("error") is not None for case in cases), 1)
        done, _, _ = self.action(coldtrace=str(COLDTRACE), trace="broken.ctrace", **check)
        self.assertEqual(done.returncode, 2)
        self.assertFalse((self.here / "coldtrace-results/check.xml").exists())

    def test_a_check_that_was_not_made_has_no_lines(self):
        done = self.job(COLDTRACE=str(COLDTRACE), COLDTRACE_TRACE="run 1.ctrace", COLDTRACE_REPORT="false",
                        COLDTRACE_CHECK="--expect cpu ===")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn(b"check.txt", done.stderr)

    def test_inputs_are_never_read_as_a_script(self):
        evil = "$(touch evil) `touch evil`; touch evil #\" ' \\ ${HOME}"
        for name in ACTION["inputs"]:
            if name not in ("coldtrace", "artifact", "output"):
                self.action(**{"coldtrace": str(COLDTRACE), "trace": "run 1.ctrace",
                               name.replace("-", "_"): evil})
        self.action(coldtrace=str(COLDTRACE), trace="run 1.ctrace",
                    check="--expect name == \"$(touch evil)\"\n--none")
        self.assertFalse((self.here / "evil").exists())

    def test_hook_tables_that_differ_fail(self):
        kernel = next((IMAGES / "windows10-x64-kernel").glob("*.exe"))
        ntdll = IMAGES / "windows10-x64/ntdll.dll"
        for name, more in ((self.first, []), (self.second, ["--ntdll", ntdll])):
            made = subprocess.run([COLDTRACE, "hooks", "table", "--kernel", kernel, *more, "--format",
                                   "hooktab", "-o", self.here / name], capture_output=True, timeout=120)
            self.assertIn(made.returncode, (0, 1), made.stderr)
        done, _, summary = self.action(coldtrace=str(COLDTRACE), tables=f"{self.first}\n{self.second}")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"warning: build-conflict: ", done.stderr)
        shown = subprocess.run([COLDTRACE, "hooks", "show", "--", self.second], cwd=self.here,
                               capture_output=True, timeout=120).stdout.decode().splitlines()
        added = [line[1:] for line in (self.here / "coldtrace-results/tables.diff").read_text()
                 .splitlines() if re.match(r"\+(?!\+\+ )", line)]
        self.assertTrue(added)
        self.assertLessEqual(set(added), set(shown))
        self.assertIn("### tables.diff", summary)
        same, _, _ = self.action(coldtrace=str(COLDTRACE), tables=f"{self.first}\n{self.first}")
        self.assertEqual(same.returncode, 0, same.stderr)

    def test_the_problem_matcher_knows_each_line_of_ours(self):
        matchers = json.loads((PROJECT / "ci/github/problem-matcher.json").read_text())["problemMatcher"]

        def match(line):
            found = []
            for matcher in matchers:
                pattern = matcher["pattern"][0]
                if hit := re.search(pattern["regexp"], line):
                    part = lambda name: hit[pattern[name]] if name in pattern else None
                    found.append((part("file"), part("severity") or matcher.get("severity"), part("code"),
                                  part("message")))
            return found
        # An .etl whose end is cut off, one that is none, and expectations that are not met.
        lost = coldtrace("trace", "decode", self.here / "lost.ctrace", status=1).stderr.decode()
        warnings = [line for line in lost.splitlines() if ": warning: " in line]
        self.assertTrue(warnings)
        for line in warnings:
            (file, severity, code, message), = match(line)
            self.assertEqual((file, severity), (str(self.here / "lost.ctrace"), "warning"))
            self.assertIn(f"{code}", line)
            self.assertTrue(line.endswith(message))
        done = coldtrace("pe", "info", self.here / "run 1.ctrace", status=2).stderr.decode().splitlines()
        (file, severity, _, message), = match(done[0])
        self.assertEqual((file, severity), (str(self.here / "run 1.ctrace"), "error"))
        self.assertIn(message, done[0])
        failed = coldtrace("trace", "check", self.here / "run 1.ctrace", "--expect", "cpu == 77", status=1)
        line = failed.stdout.decode().splitlines()[0]
        self.assertEqual([one[1] for one in match(line)], ["error"])
        told = coldtrace("pe", "info", IMAGES / "windows10-x64/ntdll.dll").stderr.decode().splitlines()
        self.assertEqual([match(line) for line in told if "informational" in line], [[]] * len(told))

    def test_an_option_is_no_file_to_the_problem_matcher(self):
        matchers = {one["owner"]: one["pattern"][0] for one in
                    json.loads((PROJECT / "ci/github/problem-matcher.json").read_text())["problemMatcher"]}
        pattern = matchers["coldtrace-failure"]
        for words, file in ((("trace", "check", "x", "--expect", "cpu ==="), None), (("pe", "info", "x", "--jobs", "9999"), None),
                            (("pe", "info", "x", "--format"), None), (("pe", "info", "none.dll"), "none.dll")):
            line = coldtrace(*words, status=2).stderr.decode().splitlines()[0]
            hit = re.search(pattern["regexp"], line)
            self.assertEqual((hit[pattern["file"]], hit[pattern["message"]]), (file, line.removeprefix("coldtrace: ")))

    def test_problem_matchers_watch_no_other_step(self):
        owners = {one["owner"] for one in json.loads((PROJECT / "ci/github/problem-matcher.json").read_text())["problemMatcher"]}
        for inputs in {"check": "--expect cpu == 0"}, {"check": "--expect cpu == 77"}, {"coldtrace": "/none/coldtrace"}:
            self.action(**{"coldtrace": str(COLDTRACE), "trace": "run 1.ctrace"} | inputs)
            self.assertEqual((STEPS.matchers, STEPS.left), (owners, set()))

    def test_the_scripts_are_sound_bash(self):
        for step in ACTION["runs"]["steps"]:
            if "run" in step:
                path = self.write("step.sh", b"#!/bin/bash\n" + step["run"].encode())
                done = subprocess.run(["bash", "-n", path], capture_output=True)
                self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
