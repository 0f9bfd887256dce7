"""'trace check' counts what the lines of 'trace decode' have.

usage: trace_check.py COLDTRACE SOURCES MAKE_TRACE [unittest arguments]
"""
import json
import math
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
from strict import strict_json, strict_ndjson

COLDTRACE, SOURCES, MAKE_TRACE = (Path(a).resolve() for a in sys.argv[1:4])


def run(*arguments):
    return subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True,
                          timeout=120)


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([MAKE_TRACE, cls.folder], check=True)
        cls.ctrace = cls.folder / "deadlock.ctrace"
        subprocess.run([COLDTRACE, "trace", "synthesize", "deadlock-5", "-o", cls.ctrace], check=True)

    def lines(self, path):
        return strict_ndjson(run("decode", path).stdout)

    def check(self, *arguments, status):
        done = run("check", *arguments)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stdout

    def test_what_is_counted_is_what_lines_have(self):
        schema = json.loads((SOURCES / "docs/schema/trace-check.schema.json").read_text())
        validator = json_schema.of(schema)
        for path in [*sorted(self.folder.glob("*.etl")), self.ctrace]:
            with self.subTest(path=path.name):
                header, *lines, summary = self.lines(path)
                events = [line for line in lines if line["type"] == "event"]
                cpus = sum(event["cpu"] == 0 for event in events)
                named = sum(event["name"] is not None for event in events)
                done = run("check", path, "--format", "json", "--expect", "cpu == 0", "--min", cpus,
                           "--max", cpus, "--expect", "exists name", "--max", named,
                           "--expect", "exists cpu and not exists cpu", "--none")
                self.assertEqual(done.returncode, run("decode", path).returncode)
                answer = strict_json(done.stdout)
                validator.validate(answer)
                self.assertEqual([e["events"] for e in answer["expectations"]], [cpus, named, 0])
                self.assertEqual([(e["min"], e["max"]) for e in answer["expectations"]],
                                 [(cpus, cpus), (0, named), (0, 0)])
                self.assertTrue(answer["met"])
                counts = summary["counts"]
                self.assertEqual(answer["events"], counts["events"])
                self.assertEqual(answer["undecoded"], counts["events"] - counts["exact"])
                self.assertEqual(answer["undecoded_ppm"],
                                 math.ceil(1_000_000 * (counts["events"] - counts["exact"]) / counts["events"]))
                self.assertEqual(answer["gaps"], counts["gaps"])
                self.assertEqual(answer["events_lost"], header["session"]["events_lost"])
                counted = "buffers_missing" if path == self.ctrace else "buffers_lost"
                self.assertEqual(answer["buffers_lost"], header["session"][counted])
                self.assertEqual(answer["findings"], summary["findings"])

    def test_bounds_belong_to_the_expectation_before_them(self):
        events = sum(line["type"] == "event" for line in self.lines(self.ctrace))
        everything = "exists cpu or not exists cpu"
        nothing = "cpu == 65535"
        for arguments, met in (
                ([everything], True), ([nothing], False), ([nothing, "--none"], True),
                ([everything, "--none"], False), ([nothing, "--max", 0], True),
                ([everything, "--min", events], True), ([everything, "--min", events + 1], False),
                ([everything, "--max", events], True), ([everything, "--max", events - 1], False),
                ([nothing, "--none", "--expect", everything], True),
                ([everything, "--expect", nothing, "--none"], True),
                ([everything, "--none", "--expect", nothing], False)):
            with self.subTest(arguments=arguments):
                self.check(self.ctrace, "--expect", *arguments, status=0 if met else 1)

    def test_text_has_a_line_for_each(self):
        text = self.check(self.ctrace, "--expect", "cpu == 65535", "--expect", "cpu == 65535", "--none",
                          status=1).decode().splitlines()
        self.assertEqual(text[0], "FAILED cpu == 65535: 0 events, expected at least 1")
        self.assertEqual(text[1], "ok     cpu == 65535: 0 events, expected none")
        self.assertTrue(text[2].startswith("1 of 2 expectations met; "), text[2])

    def test_junit_has_a_case_for_each(self):
        wrong = "name like '<\"&\x01>*'"
        content = self.check(self.ctrace, "--expect", wrong, "--expect", "exists cpu", "--format", "junit",
                             status=1)
        root = xml.etree.ElementTree.fromstring(content)
        suite = root.find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))
        cases = suite.findall("testcase")
        self.assertEqual([case.get("name") for case in cases], [wrong.replace("\x01", "\\x01"), "exists cpu"])
        self.assertEqual([len(case.findall("failure")) for case in cases], [1, 0])
        self.assertEqual(cases[0].find("failure").get("message"), "0 events, expected at least 1")
        properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
        counts = self.lines(self.ctrace)[-1]["counts"]
        self.assertEqual(properties["events"], str(counts["events"]))
        percent = math.ceil(1_000_000 * (counts["events"] - counts["exact"]) / counts["events"]) / 10_000
        self.assertEqual(properties["undecoded_percent"], f"{percent:.4f} %")
        text = self.check(self.ctrace, "--expect", "exists cpu", status=0).decode()
        self.assertIn(f" of them ({percent:.4f} %) not fully decoded", text)

    def test_what_is_not_compared_is_not_counted(self):
        field = next(name for line in self.lines(self.ctrace) if line["type"] == "event"
                     for name, value in line["fields"].items()
                     if type(value) is int and name not in line.get("resolved", {}))
        for relation in "==", "!=":
            text = self.check(self.ctrace, "--expect", f"{field} {relation} 'x'", status=1).decode()
            self.assertTrue(text.startswith(f"FAILED {field} {relation} 'x': 0 events, expected at least 1"), text)

    def test_a_misspelt_field_is_never_met_in_silence(self):
        done = run("check", self.ctrace, "--expect", "NoSuchField == 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-match: --expect: nothing matches 'NoSuchField'", done.stderr.decode())
        for tolerated, met in ((), False), (("--tolerate", "no-match"), True):
            said = lambda form: self.check(self.ctrace, "--expect", "NoSuchField == 1", "--min", 0, "--max", 0, "--expect",
                                           "NoSuchField == 1", "--min", 1 - met, "--max", 1, "--format", form,
                                           *tolerated, status=0 if met else 1)
            answer = strict_json(said("json"))
            self.assertEqual(answer["met"], met)
            self.assertEqual([(one["no_match"], one["met"]) for one in answer["expectations"]],
                             [(True, True), (True, met)])
            suite = xml.etree.ElementTree.fromstring(said("junit")).find("testsuite")
            self.assertEqual(suite.get("failures"), "0" if met else "1")

    def test_what_no_event_has_is_what_none_expects(self):
        """As docs/ci.md says of a trace without a Status; the nearest name is told."""
        for bounds in ["--none"], ["--max", 3]:
            done = run("check", self.ctrace, "--expect", "Status == 0xc0000005", *bounds, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            answer = strict_json(done.stdout)
            self.assertEqual([(one["no_match"], one["met"]) for one in answer["expectations"]], [(True, True)])
            self.assertEqual([(one["code"], one["severity"]) for one in answer["findings"]], [("name-absent", "info")])
        text = self.check(self.ctrace, "--expect", "new_thred == 1", "--none", "-v", status=0).decode()
        self.assertTrue(text.startswith("ok     new_thred == 1: 0 events, expected none; it names what no event has\n"))
        content = self.check(self.ctrace, "--expect", "new_thred == 1", "--none", "--expect", "cpu == 1000", "--none", "--format", "junit",
                             status=0)
        misspelt, other = xml.etree.ElementTree.fromstring(content).iter("testcase")
        self.assertEqual(misspelt.findtext("system-out"), "0 events, expected none; it names what no event has")
        self.assertEqual(list(other), [])
        done = run("check", self.ctrace, "--expect", "new_thred == 1", "--none", "-v")
        self.assertIn("name-absent: --expect: nothing matches 'new_thred'; did you mean 'new_thread'", done.stderr.decode())

    def test_of_no_event_no_share_is_decoded(self):
        whole = self.ctrace.read_bytes()
        path = self.folder / "empty.ctrace"
        path.write_bytes(whole[:struct.unpack_from("<I", whole, 12)[0]])  # the header alone
        options = ["--expect", "exists cpu", "--none"]
        answer = strict_json(run("check", path, *options, "--format", "json").stdout)
        self.assertEqual((answer["events"], answer["undecoded_ppm"]), (0, None))
        self.assertIn(b"0 events, 0 of them (-) not fully decoded", run("check", path, *options).stdout)
        self.assertIn(b'name="undecoded_percent" value="-"', run("check", path, *options, "--format", "junit").stdout)

    def test_loss_is_counted_and_fails_a_case(self):
        """`trace synthesize losses` leaves a stretch of each of its two processors out, a buffer each."""
        path = self.folder / "losses.ctrace"
        subprocess.run([COLDTRACE, "trace", "synthesize", "losses", "-o", path], check=True)
        answer = strict_json(self.check(path, "--expect", "exists cpu", "--format", "json", status=1))
        self.assertEqual((answer["buffers_lost"], answer["gaps"], answer["met"]), (2, 2, True))
        content = self.check(path, "--expect", "exists cpu", "--format", "junit", status=1)
        suite = xml.etree.ElementTree.fromstring(content).find("testsuite")
        self.assertEqual([suite.get(name) for name in ("tests", "failures", "errors")], ["2", "1", "0"])
        failed, = (case for case in suite.findall("testcase") if case.find("failure") is not None)
        self.assertEqual((failed.get("classname"), failed.get("name"), failed.find("failure").get("message")),
                         ("coldtrace.trace.finding", "gap-buffers-missing", answer["findings"][0]["text"]))
        content = self.check(path, "--expect", "exists cpu", "--format", "junit", "--tolerate", "gap-buffers-missing",
                             status=0)
        self.assertEqual(xml.etree.ElementTree.fromstring(content).find("testsuite").get("failures"), "0")

    def test_junit_is_xml_whatever_an_expectation_contains(self):
        """XML 1.0, 2.2: no U+FFFE and U+FFFF, and of the control characters three."""
        for characters in ("\ufffe", "\uffff", "\x01\x1f\x7f", "<&>\u2028", "\ud7ff\ue000\U0010ffff"):
            content = self.check(self.ctrace, "--expect", f'name == "a{characters}b"', "--none", "--format", "junit", status=0)
            name = xml.etree.ElementTree.fromstring(content).find(".//testcase").get("name")
            self.assertRegex(name, r'^name == "a.+b"$')

    def test_junit_has_no_two_cases_of_one_name(self):
        asked = [word for text in ("exists cpu", "exists pid", "exists cpu", "exists cpu")
                 for word in ("--expect", text)]
        content = self.check(self.ctrace, *asked, "--format", "junit", status=0)
        names = [case.get("name") for case in xml.etree.ElementTree.fromstring(content).iter("testcase")]
        self.assertEqual(names, ["exists cpu", "exists pid", "exists cpu (2)", "exists cpu (3)"])

    def test_what_an_expectation_asks_twice_is_told_once(self):
        done = run("check", self.ctrace, "--expect", "NoSuchField == 1 or NoSuchField == 2")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.decode().endswith("no-match: --expect: nothing matches 'NoSuchField'\n"),
                        done.stderr.decode())

    def test_usage(self):
        for arguments, message in ((["--none", "--expect", "pid == 1"], "--none must follow"),
                                   (["--expect", "pid == 1", "--min", 3, "--max", 2], "--min is greater"),
                                   (["--expect", "pid == 1", "--min", "x"], "'x' is not a number"),
                                   (["--expect", "pid = 1"], "--expect: 1:5: expected"),
                                   ([], "--expect is required")):
            with self.subTest(arguments=arguments):
                done = run("check", self.ctrace, *arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, done.stderr.decode())
                self.assertEqual(done.stdout, b"")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
