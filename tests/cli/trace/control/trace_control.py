"""coldtrace trace control list, explain, decode: schemas, exit codes, fields.

usage: trace_control.py COLDTRACE SOURCES [unittest arguments]
"""
import json
import struct
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
import case
from strict import strict_json

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
CODES = [*range(0x01, 0x06), *range(0x0B, 0x1D), *range(0x1E, 0x23)]


def schema(name):
    return json.loads((SOURCES / "docs/schema" / f"{name}.schema.json").read_text())


class Case(case.Case):
    def exits(self, status, *arguments):
        done = subprocess.run([COLDTRACE, "trace", "control", *map(str, arguments)],
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def codes(self, status, *arguments):
        document = strict_json(self.exits(status, *arguments, "--format", "json").stdout)
        json_schema.validate(document, schema("trace-control"))
        return document

    def decode(self, status, code, content, *arguments):
        path = self.write("buffer", content)
        done = self.exits(status, "decode", code, "--buffer", path, *arguments, "--format", "json")
        document = strict_json(done.stdout)
        json_schema.validate(document, schema("trace-control-buffer"))
        self.assertEqual(document["size"], len(content))
        text = self.exits(status, "decode", code, "--buffer", path, *arguments).stdout.decode()
        for field in document["fields"]:
            self.assertIn(f'{field["offset"]:#06x}  {field["name"]} = ', text)
        return document

    def outcome(self, *arguments):
        expectation = self.decode(*arguments)["expectation"]
        return expectation["outcome"], [row["name"] for row in expectation["statuses"]]


class Codes(Case):
    def test_list_has_every_code_of_every_version(self):
        document = self.codes(0, "list")
        self.assertEqual([row["code"] for row in document["codes"]], CODES)
        self.assertIsNone(document["version"])
        counts = {version: len(self.codes(0, "list", "--windows", version)["codes"])
                  for version in ("6.0", "6.1", "6.2", "6.3", "10.0")}
        self.assertEqual(counts, {"6.0": 19, "6.1": 19, "6.2": 21, "6.3": 22, "10.0": 28})
        heading, *lines = self.exits(0, "list").stdout.decode().splitlines()
        self.assertEqual(heading.split(), ["code", "Windows", "name"])
        self.assertEqual(len(lines), len(CODES))
        self.assertEqual(lines[-1], "0x22  10.0 and higher  get disallow list")

    def test_every_code_is_explained_with_its_section_and_its_layouts(self):
        for code in CODES:
            with self.subTest(code=code):
                document = self.codes(0, "explain", f"{code:#x}", "--windows", "10.0")
                (row,) = document["codes"]
                self.assertTrue(row["section"])
                names = {layout["name"] for layout in document["layouts"]}
                for layout in document["layouts"]:
                    self.assertEqual(layout["versions"]["last"], "10.0")
                for direction in ("input", "output"):
                    if structure := row[direction]["structure"]:
                        self.assertIn(structure, names)
                text = self.exits(0, "explain", code).stdout.decode()
                self.assertTrue(text.startswith(f"0x{code:02X} {row['name']}"))
                self.assertIn(f'section "{row["section"]}"', text)
                for check in row["checks"]:
                    self.assertIn(check["text"], text)

    def test_a_name_is_as_good_as_its_number(self):
        for name in ("0x0D", "13", "EtwWdiScenarioCode"):
            self.assertEqual(self.codes(0, "explain", name)["codes"][0]["code"], 13)

    def test_codes_that_are_not_there_are_1_and_what_is_no_code_is_2(self):
        for code in ("0", "6", "0x0A", "0x1d", "0x23", "4294967295"):
            document = self.codes(1, "explain", code)
            self.assertEqual(document["codes"], [])
            self.assertEqual(document["findings"][0]["code"], "control-code")
            self.assertIn("STATUS_INVALID_DEVICE_REQUEST", document["findings"][0]["text"])
        self.exits(1, "explain", "0x19", "--windows", "6.1")
        self.exits(0, "explain", "0x19", "--windows", "6.1", "--tolerate", "control-code")
        self.exits(0, "explain", "0x19", "--windows", "6.2")
        for code in ("", "x", "0x", "-1", "0x100000000", "1 ", "etwstartloggercode"):
            done = self.exits(2, "explain", "--", code) if code.startswith("-") else \
                self.exits(2, "explain", code)
            self.assertEqual(done.stdout, b"")
        self.exits(2, "explain", "1", "--windows", "5.1")


class Buffers(Case):
    def test_a_scenario_is_decoded_and_passes(self):
        activity = uuid.uuid5(uuid.NAMESPACE_DNS, "activity")
        content = struct.pack("<QHBBBBHQ", 0x1234, 7, 1, 2, 3, 4, 5, 1 << 63) + \
            activity.bytes_le + struct.pack("<II", 10, 0)
        document = self.decode(0, "0x0D", content, "--output-length", "0")
        fields = {field["name"]: field["value"] for field in document["fields"]}
        self.assertEqual(fields["registration handle"], 0x1234)
        self.assertEqual(fields["event descriptor.Task"], 5)
        self.assertEqual(fields["event descriptor.Keyword"], 1 << 63)
        self.assertEqual(fields["activity ID"], str(activity))
        self.assertEqual(document["expectation"]["outcome"], "passes")
        self.assertEqual(document["expectation"]["assumed"][0]["statuses"][0]["name"],
                         "STATUS_NO_MEMORY")
        self.assertEqual(self.outcome(0, "13", content), ("undecided", []))
        self.assertEqual(self.outcome(1, "13", content, "--output-length", "1"),
                         ("fails", ["STATUS_INVALID_PARAMETER"]))

    def test_a_call_that_fails_is_a_finding(self):
        for length, codes in ((0, []), (1, ["control-status"])):
            document = self.decode(1 if codes else 0, "13", bytes(0x30), "--output-length",
                                   length)
            self.assertEqual([row["code"] for row in document["findings"]
                              if row["severity"] == "warning"], codes)

    def test_integers_above_2_53_may_be_strings(self):
        path = self.write("connect", struct.pack("<IIQ", 1, 2, 1 << 60) + bytes(0x50))
        done = self.exits(0, "decode", "0x0b", "--buffer", path, "--int64", "string", "--format",
                          "json", "--output-length", "0x60")
        values = {field["name"]: field["value"] for field in strict_json(done.stdout)["fields"]}
        self.assertEqual(values["ReservedBufferSpace"], str(1 << 60))

    def test_a_logger_is_checked_in_the_documents_order(self):
        def logger(size, flags, length=0xB0):
            return (struct.pack("<I", size) + bytes(0x28) + struct.pack("<I", flags)).ljust(
                length, b"\0")
        long = ("--output-length", "0xb0")
        self.assertEqual(self.outcome(0, 1, logger(0xB0, 0x20000), *long), ("passes", []))
        size, parameter = ["STATUS_INVALID_BUFFER_SIZE"], ["STATUS_INVALID_PARAMETER"]
        self.assertEqual(self.outcome(1, 1, logger(0xAF, 0), *long), ("fails", size))
        self.assertEqual(self.outcome(1, 2, logger(0xB1, 0), *long), ("fails", parameter))
        self.assertEqual(self.outcome(1, 3, logger(0xB1, 0x20000), *long), ("fails", size))
        self.assertEqual(self.outcome(0, 4, logger(0xB1, 0x20000, 0xB1), *long), ("passes", []))
        self.assertEqual(self.outcome(1, 5, logger(0xB0, 0x20000, 0xAF), *long), ("fails", size))

    def test_where_the_list_is_missing_the_answer_is_unknown(self):
        for code in (0x0F, 0x10, 0x11, 0x12, 0x1B, 0x1F):
            self.assertEqual(self.outcome(0, code, bytes(0xA0), "--output-length", "0xA0"),
                             ("unknown", []))
        security = uuid.UUID("54849625-5478-4994-a5ba-3e3b0328c30d").bytes_le
        self.assertEqual(self.outcome(1, 0x0F, security.ljust(0xA0, b"\0")),
                         ("fails", ["STATUS_INVALID_PARAMETER", "STATUS_ACCESS_DENIED"]))

    def test_what_was_returned_has_no_expectation(self):
        document = self.decode(0, "0x19", struct.pack("<qq", -1, 5), "--returned")
        self.assertIsNone(document["expectation"])
        self.assertEqual([field["value"] for field in document["fields"]], [-1, 5])

    def test_other_versions_are_marked(self):
        document = self.decode(0, "0x0e", bytes(8), "--windows", "6.0", "--output-length", "0")
        self.assertEqual([f["code"] for f in document["findings"]], ["control-unstated"])
        self.assertFalse(document["expectation"]["stated"])

    def test_bad_inputs(self):
        self.decode(1, "0x1C", struct.pack("<II", 0, 2) + bytes(0x10))
        self.decode(1, "0x06", b"")
        self.decode(1, "0x19", bytes(4), "--windows", "6.0", "--output-length", "16")
        self.exits(2, "decode", "1", "--buffer", self.here / "missing")
        self.exits(2, "decode", "1", "--buffer", self.here)
        self.exits(2, "decode", "1")
        self.exits(2, "decode", "1", "--buffer", self.write("b", b""), "--output-length", "-1")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
