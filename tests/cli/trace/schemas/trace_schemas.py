"""Events that only coldtrace's own tables or their payloads describe: names of Windows' providers,
scenarios of PerfTrack, texts that end with their payload, headers with the wrong size of pointers.

Names are those that real traces themselves give; payloads are written here, or are another reader's
cases with answers.

usage: trace_schemas.py COLDTRACE SOURCES SHARED [unittest arguments]
"""
import json
import re
import struct
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from cli.trace.etl_writer import EtlWriter, utf16z
from strict import strict_ndjson

COLDTRACE, SOURCES, SHARED = (Path(a).resolve() for a in sys.argv[1:4])
SAMPLES = SHARED / "samples" / "etl"
CASES = SHARED / "facts" / "etl-schema-cases.json"
TABLE = SOURCES / "tracefile" / "providers" / "registered_provider_table.inc"
NETWORK = uuid.UUID("7dd42a49-5329-4832-8dfd-43d979153a88")
PERFTRACK = uuid.UUID("bf6ef1cb-89b5-490a-80ac-b180cfbcff0f")
PAGE_FAULT = uuid.UUID("3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c")
SOURCE = uuid.UUID("11111111-2222-3333-4444-555555555555")
METADATA = uuid.UUID("bbccf6c1-6cd1-48c4-80ff-839482e37671")


def units(text):
    return text.encode("utf-16-le", "surrogatepass")


def lznt1(plain):
    """Chunks that are stored as they are."""
    out = b""
    for at in range(0, len(plain), 4096):
        chunk = plain[at:at + 4096]
        out += struct.pack("<H", 0x3000 | len(chunk) - 1) + chunk
    return out


def manifest(provider, template):
    """A manifest of event 1 as an EventSource writes it, in one piece."""
    text = ("<instrumentationManifest><instrumentation><events>"
            f'<provider name="Made-Up" guid="{{{provider}}}"><events>'
            '<event value="1" version="0" symbol="One" template="T"/></events>'
            f'<templates><template tid="T">{template}</template></templates>'
            "</provider></events></instrumentation></instrumentationManifest>")
    return struct.pack("<BBBBHH", 1, 1, 0, 0x5B, 1, 0) + text.encode()


class Schemas(Case):
    def decode(self, path, *options, status=0):
        ran = subprocess.run([COLDTRACE, "trace", "decode", path, *options], capture_output=True,
                             timeout=300)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return strict_ndjson(ran.stdout)

    def decode_made(self, log, *options, status=0):
        lines = self.decode(self.write("made.etl", log.build()), *options, status=status)
        return [line for line in lines if line["type"] == "event"], lines[-1]

    def decode_one(self, template, payload, pointer_size=8):
        log = EtlWriter()
        log.manifest(0, 1, SOURCE, 1, 0, payload, pointer_size=pointer_size)
        log.manifest(0, 2, SOURCE, 0xFFFE, 0, manifest(SOURCE, template), opcode=0xFE)
        return next(line for line in self.decode_made(log)[0] if line["id"] == 1)

    def table(self):
        rows = re.findall(r'^PROVIDER\("([^"]+)",\s+"([^"]+)",\s+"[^"]*"\)$', TABLE.read_text(), re.M)
        self.assertGreater(len(rows), 1050)
        return dict(rows)

    def test_every_provider_of_the_table_has_its_name_without_a_schema(self):
        table = self.table()
        log = EtlWriter()
        buffers = []
        for at, guid in enumerate(table):
            log.manifest(0, at + 1, uuid.UUID(guid), 1, 0, b"\1")
            if at % 500 == 499:
                buffers.append(log.take(0))
        buffers.append(log.take(0))
        path = self.write("names.etl", log.build(buffers))
        names = {line["provider"]["guid"]: line["provider"]["name"] for line in self.decode(path)
                 if line["type"] == "event" and line["id"] == 1}
        self.assertEqual(names, table)

    def test_a_provider_is_chosen_by_its_name_without_a_schema(self):
        log = EtlWriter()
        log.manifest(0, 1, NETWORK, 10, 0, b"\1\2\3\4")
        log.manifest(0, 2, SOURCE, 10, 0, b"\1\2\3\4")
        path = self.write("two.etl", log.build())
        for name in ("Microsoft-Windows-Kernel-Network", "microsoft-windows-kernel-*", str(NETWORK)):
            events = [line for line in self.decode(path, "--provider", name) if line["type"] == "event"]
            self.assertEqual([line["provider"] for line in events],
                             [{"guid": str(NETWORK), "name": "Microsoft-Windows-Kernel-Network"}])
            self.assertEqual(events[0]["decoded"], "raw")

    def test_the_traces_own_name_of_a_provider_goes_before_the_tables(self):
        log = EtlWriter()
        log.manifest(0, 1, NETWORK, 10, 0, b"\1\2\3\4")
        log.manifest(0, 2, NETWORK, 0xFFFE, 0, manifest(NETWORK, ""), opcode=0xFE)
        events, _ = self.decode_made(log)
        self.assertEqual([line["provider"]["name"] for line in events if line["id"] == 10], ["Made-Up"])

    def test_names_are_those_that_real_traces_give(self):
        if not SAMPLES.exists():
            self.skipTest("skipped: the sample traces are not here")
        table, agree = self.table(), set()
        for name in ("dp_vsgc.etl", "pv_net.4.5.2.x64.etl"):
            ran = subprocess.run([COLDTRACE, "trace", "info", SAMPLES / name, "--format", "json"],
                                 capture_output=True, timeout=100)
            for provider in json.loads(ran.stdout)["providers"]:
                named_by_trace = any(kind["exact"] for kind in provider["kinds"])
                if provider["guid"] in table and provider["name"] and named_by_trace:
                    self.assertEqual(provider["name"], table[provider["guid"]])
                    agree.add(provider["guid"])
        self.assertGreaterEqual(len(agree), 2)
        lines = self.decode(SAMPLES / "tx_HTTP_Server.etl")
        found = {line["provider"]["name"] for line in lines
                 if line["type"] == "event" and line["id"] is not None}
        self.assertEqual(found, {"Microsoft-Windows-HttpService"})

    def test_shares_of_real_traces(self):
        """97 % of all events without a schema of the user's, 99.8 % of those that none of Windows' files are needed for."""
        if not SAMPLES.exists():
            self.skipTest("skipped: the sample traces are not here")
        all_events, exact, http = 0, 0, 0
        for path in sorted(SAMPLES.glob("*.etl")):
            ran = subprocess.run([COLDTRACE, "trace", "info", path, "--format", "json"], capture_output=True, timeout=100)
            for provider in json.loads(ran.stdout)["providers"]:
                for kind in provider["kinds"]:
                    all_events += kind["events"]
                    exact += kind["exact"]
                    http += kind["events"] if provider["name"] == "Microsoft-Windows-HttpService" else 0
        self.assertGreater(all_events, 260_000)
        self.assertGreaterEqual(exact / all_events, 0.97)
        self.assertGreaterEqual(exact / (all_events - http), 0.998)

    def test_scenarios_of_perftrack(self):
        document = '<PerfTrack><Scenario start="Ä" stop="2"/></PerfTrack>'
        plain = utf16z(document)
        log = EtlWriter()
        log.classic(0, 1, PERFTRACK, 33, 0, struct.pack("<I", len(plain)) + lznt1(plain))
        log.classic(0, 2, PERFTRACK, 33, 0, struct.pack("<I", len(plain)) + b"\x10\xb0\xff")
        log.classic(0, 3, PERFTRACK, 34, 0, b"\1")
        log.classic(0, 4, PERFTRACK, 33, 0, struct.pack("<I", len(plain) + 2) + lznt1(plain))  # cut between chunks
        events, _ = self.decode_made(log)
        events = [line for line in events if line["provider"]["guid"] == str(PERFTRACK)]
        self.assertEqual([(line["name"], line["decoded"]) for line in events],
                         [("PerfTrack/MetaData", "exact"), ("PerfTrack/MetaData", "partial"),
                          ("PerfTrack/Opcode34", "raw"), ("PerfTrack/MetaData", "partial")])
        self.assertEqual(events[0]["fields"], {"PlainSize": len(plain), "Document": document})

    def test_every_raw_event_says_why(self):
        log = EtlWriter()
        log.manifest(0, 1, NETWORK, 10, 0, b"\1")
        log.classic(0, 2, SOURCE, 7, 0, b"\1")
        log.classic(0, 3, PAGE_FAULT, 98, 99, b"\1")
        log.classic(0, 4, PAGE_FAULT, 98, 2, struct.pack("<QQII", 0x10000, 4096, 7, 1))
        path = self.write("raw.etl", log.build())
        lines = [line for line in self.decode(path) if line["type"] == "event"][1:]
        self.assertEqual([line.get("raw_reason") for line in lines],
                         ["no_schema", "unknown_class", "unknown_version", None])
        self.assertEqual([line["decoded"] for line in lines], ["raw"] * 3 + ["exact"])
        found = self.decode(path, "--where", 'raw_reason == "unknown_class"', "--fields", "raw_reason,opcode")
        self.assertEqual([(line["raw_reason"], line["opcode"]) for line in found if line["type"] == "event"],
                         [("unknown_class", 7)])

    def test_texts_that_end_with_their_payload(self):
        text = '<data name="Text" inType="win:UnicodeString"/>'
        after = text + '<data name="After" inType="win:UInt8"/>'
        narrow = '<data name="Text" inType="win:AnsiString"/>'
        for template, payload, decoded, fields, rest in (
                (text, "ab".encode("utf-16-le"), "exact", {"Text": "ab"}, None),
                (text, utf16z("ab"), "exact", {"Text": "ab"}, None),
                (text, "ab".encode("utf-16-le") + b"A", "trailing", {"Text": "ab"}, "41"),
                (text, b"A", "partial", {}, "41"),
                (narrow, b"ab", "exact", {"Text": "ab"}, None),
                (narrow, b"ab\0c", "trailing", {"Text": "ab"}, "63"),
                (after, "ab".encode("utf-16-le"), "partial", {"Text": "ab"}, ""),
        ):
            with self.subTest(payload=payload, template=template):
                line = self.decode_one(template, payload)
                self.assertEqual((line["decoded"], line["fields"]), (decoded, fields))
                self.assertEqual(line.get("trailing"), rest)

    def test_cases_with_answers(self):
        """Those whose types a manifest of an EventSource can name."""
        if not CASES.exists():
            self.skipTest("skipped: the cases are not here")
        checked = 0
        for case in json.loads(CASES.read_text())["events"]:
            if isinstance(case["schema"], dict) or "maps" in case:
                continue
            template = "".join(self.element(field) for field in case["schema"])
            if "Counted" in template:
                continue
            with self.subTest(case=case["id"]):
                line = self.decode_one(template, bytes.fromhex(case["payload"]), case["pointer_size"])
                self.assertEqual((line["decoded"], line["fields"]), (case["result"], case["expect"]))
                self.assertEqual(line.get("trailing", ""), case.get("trailing", ""))
                checked += 1
        self.assertGreaterEqual(checked, 25)

    def element(self, field):
        attributes = "".join(f' {name}="{field[name]}"' for name in
                             ("name", "inType", "outType", "length", "count")
                             if name in field and field[name] != "struct")
        if field["inType"] != "struct":
            return f"<data{attributes}/>"
        return f"<struct{attributes}>{''.join(map(self.element, field['fields']))}</struct>"

    TYPES = {"UInt8": "B", "UInt16": "H", "UInt32": "I", "UInt64": "Q"}

    def made(self, *fields):
        """A template, and a function that gives what it makes of a payload."""
        form = "<" + "".join(self.TYPES[kind] for _, kind in fields)
        names = [name for name, _ in fields]

        def read(payload):
            return dict(zip(names, struct.unpack_from(form, payload)))
        return "".join(f'<data name="{name}" inType="win:{kind}"/>' for name, kind in fields), read

    def test_every_process_has_its_own_manifest(self):
        """Builds of one provider in two processes; one of a third process fits the second's alone."""
        old, read_old = self.made(("A", "UInt32"), ("B", "UInt32"))
        new, read_new = self.made(("C", "UInt16"), ("D", "UInt16"), ("E", "UInt32"))
        long, _ = self.made(("C", "UInt64"), ("D", "UInt64"))
        payload = struct.pack("<HHI", 0x1234, 0x5678, 9)
        log = EtlWriter()
        for pid in (100, 200, 300):  # in front of all manifests
            log.manifest(0, 1, SOURCE, 1, 0, payload, pid=pid)
        for time, (pid, template) in enumerate(((100, old), (200, new), (201, new), (400, long)), 2):
            log.manifest(0, time, SOURCE, 0xFFFE, 0, manifest(SOURCE, template), opcode=0xFE, pid=pid)
        for pid, size in ((100, 8), (200, 8), (201, 8), (300, 8), (300, 16)):
            log.manifest(0, 9, SOURCE, 1, 0, payload * (size // 8), pid=pid)
        events, summary = self.decode_made(log)
        events = [line for line in events if line["id"] == 1]
        expected = [read_old, read_new, read_old, read_old, read_new, read_new, read_old]
        self.assertEqual([line["fields"] for line in events[:7]], [read(payload) for read in expected])
        self.assertEqual(events[7]["fields"], {"C": 0x0000000956781234, "D": 0x0000000956781234})
        self.assertEqual({line["decoded"] for line in events}, {"exact"})
        self.assertTrue(all(line["schema_buffer"] == 65536 and line["schema_file"] is None for line in events))
        counts = {one["code"]: (one["severity"], one["count"]) for one in summary["findings"]}
        self.assertEqual((counts["schema-processes"], counts["schema-other"]), (("info", 2), ("info", 1)))
        ran = subprocess.run([COLDTRACE, "trace", "info", self.here / "made.etl", "--format", "json"],
                             capture_output=True, timeout=100)
        kinds = [kind for provider in json.loads(ran.stdout)["providers"] for kind in provider["kinds"]
                 if kind.get("id") == 1]
        self.assertEqual([(kind["events"], kind["exact"]) for kind in kinds], [(8, 8)])

    def test_manifests_of_a_provider_are_bounded(self):
        log = EtlWriter()
        for pid in range(100, 166):
            template, _ = self.made((f"Field{pid}", "UInt32"))
            log.manifest(0, pid, SOURCE, 0xFFFE, 0, manifest(SOURCE, template), opcode=0xFE, pid=pid)
            log.manifest(0, pid, SOURCE, 1, 0, struct.pack("<I", pid), pid=pid)
        events, summary = self.decode_made(log, status=1)
        self.assertEqual([line["fields"] for line in events if line["id"] == 1],
                         [{f"Field{pid}": pid} for pid in range(100, 164)] + [{"Field100": 164}, {"Field100": 165}])
        counts = {one["code"]: one["count"] for one in summary["findings"]}
        self.assertEqual(counts["schema-limit"], 2)

    def test_what_in_the_text_of_a_manifest_is_no_text(self):
        """U+FFFD that an EventSource wrote is a character as any other; one that stands for damage is told."""
        for name, written, shown in (("valid", "A\ufffdB".encode(), "A\ufffdB"), ("bytes", b"A\xffB", "A\ufffdB"),
                                     ("reference", b"A&#xD800;B", "A\ufffdB")):
            with self.subTest(name=name):
                log = EtlWriter()
                log.manifest(0, 2, SOURCE, 0xFFFE, 0, manifest(SOURCE, "").replace(b"Made-Up", written), opcode=0xFE)
                log.manifest(0, 3, SOURCE, 1, 0, b"")
                events, summary = self.decode_made(log, status=int(name != "valid"))
                self.assertEqual(events[1]["provider"]["name"], shown)
                found = [one for one in summary["findings"] if one["code"] == "schema-damaged"]
                self.assertEqual([one["first_offset"] for one in found], [] if name == "valid" else [65536])

    def test_names_of_the_header_are_those_of_the_events_own_process(self):
        log = EtlWriter()
        for pid, name in ((100, "Draw"), (200, "Paint")):
            text = manifest(SOURCE, "").replace(
                b"<events><event value", f'<opcodes><opcode name="{name}" value="77"/></opcodes>'
                "<events><event value".encode())
            log.manifest(0, pid, SOURCE, 0xFFFE, 0, text, opcode=0xFE, pid=pid)
            log.manifest(0, 300, SOURCE, 1, 0, b"", opcode=77, pid=pid)
        events, _ = self.decode_made(log)
        self.assertEqual([line["names"]["opcode"] for line in events if line["id"] == 1], ["Draw", "Paint"])

    @staticmethod
    def event_info(fields, number=1):
        """TRACE_EVENT_INFO of an event, whose fields may have the name of a map; source: Windows SDK tdh.h."""
        blob = SOURCE.bytes_le + b"\0" * 16 + struct.pack("<HBBBBHQ", number, 0, 0, 4, 0, 0, 0)
        blob += struct.pack("<I", 0) + b"\0" * 48 + struct.pack("<III", len(fields), len(fields), 0)
        at, names = 112 + 24 * len(fields), b""
        for name, kind, *maps in fields:
            places = [at + len(names)]
            names += utf16z(name)
            for one in maps:
                places.append(at + len(names))
                names += units(one) + b"\0\0"
            blob += struct.pack("<IIHHIHHI", 0, places[0], kind, 0, *(places[1:] or [0]), 1, 0, 0)
        return blob + names

    @staticmethod
    def map_info(name, entries):
        """EVENT_MAP_INFO behind the GUID of its provider; source: Windows SDK tdh.h."""
        at, names = 16 + 8 * len(entries), units(name) + b"\0\0"
        blob = struct.pack("<IIII", at, 1, len(entries), 0)
        for value, text in entries.items():
            blob += struct.pack("<II", at + len(names), value)
            names += utf16z(text)
        return SOURCE.bytes_le + blob + names

    def test_two_embedded_schemas_of_an_event_conflict(self):
        log = EtlWriter()
        for fields in ([("A", 8)], [("A", 8)], [("B", 6), ("C", 10)]):
            log.classic(0, 1, METADATA, 32, 0, self.event_info(fields))
        for payload in (b"\1\0\0\0", struct.pack("<HQ", 2, 3), b"\1"):
            log.manifest(0, 2, SOURCE, 1, 0, payload)
        events, summary = self.decode_made(log, status=1)
        events = [line for line in events if line["id"] == 1]
        self.assertEqual([(line["fields"], line["decoded"]) for line in events],
                         [({"A": 1}, "exact"), ({"B": 2, "C": 3}, "exact"), ({}, "partial")])
        self.assertEqual([line.get("schema_buffer") for line in events], [None, 65536, None])
        counts = {one["code"]: (one["severity"], one["count"]) for one in summary["findings"]}
        self.assertEqual((counts["schema-conflict"], counts["schema-other"]), (("warning", 1), ("info", 1)))

    def test_maps_are_those_of_their_names_as_they_are_stored(self):
        for one, other in (("M\ud800", "M\udc00"), ("M", "M ")):
            log = EtlWriter()
            log.classic(0, 1, METADATA, 32, 0, self.event_info([("A", 8, one), ("B", 8, other)]))
            log.classic(0, 1, METADATA, 33, 0, self.map_info(one, {1: "One"}))
            log.classic(0, 1, METADATA, 33, 0, self.map_info(other, {1: "Uno"}))
            log.manifest(0, 2, SOURCE, 1, 0, struct.pack("<II", 1, 1))
            with self.subTest(names=(one, other)):
                events, _ = self.decode_made(log)
                self.assertEqual([line["resolved"] for line in events if line["id"] == 1], [{"A": "One", "B": "Uno"}])

    def test_two_schemas_of_an_event_that_differ_in_maps_alone_conflict(self):
        log = EtlWriter()
        for name in "One", "Two":
            log.classic(0, 1, METADATA, 32, 0, self.event_info([("A", 8, name)]))
            log.classic(0, 1, METADATA, 33, 0, self.map_info(name, {1: name}))
        log.manifest(0, 2, SOURCE, 1, 0, struct.pack("<I", 1))
        events, summary = self.decode_made(log, status=1)
        self.assertEqual([line["resolved"] for line in events if line["id"] == 1], [{"A": "One"}])
        self.assertIn("schema-conflict", [one["code"] for one in summary["findings"]])

    def test_a_schema_has_the_maps_of_its_own_file(self):
        paths = []
        for number, text in (1, "One"), (2, "Uno"):
            log = EtlWriter()
            log.classic(0, 1, METADATA, 32, 0, self.event_info([("A", 8, "M")], number))
            log.classic(0, 1, METADATA, 33, 0, self.map_info("M", {1: text}))
            log.manifest(0, 1 + number, SOURCE, number, 0, struct.pack("<I", 1))
            paths.append(self.write(f"{number}.etl", log.build()))
        lines = self.decode(*paths, status=1)
        self.assertEqual([line["resolved"] for line in lines if line["type"] == "event" and line["id"] in (1, 2)],
                         [{"A": "One"}, {"A": "Uno"}])
        self.assertIn("schema-conflict", [one["code"] for one in lines[-1]["findings"]])

    def allocations(self, log, header_size, payload_size, count):
        """Allocations of memory, whose headers and payloads may differ about pointers."""
        word = "Q" if payload_size == 8 else "I"
        for at in range(count):
            log.classic(0, at + 1, PAGE_FAULT, 98, 2, struct.pack(f"<{word}{word}II", 0x10000, 4096, 7, 1),
                        pointer_size=header_size)

    def test_headers_that_lie_about_pointers(self):
        for header_size, payload_size in ((4, 8), (8, 4)):
            log = EtlWriter()
            self.allocations(log, header_size, payload_size, 5)
            content = log.build()
            lines = self.decode(self.write("lies.etl", content), status=1)
            findings = [one for one in lines[-1]["findings"] if one["code"] == "pointer-size"]
            self.assertEqual(len(findings), 1, lines[-1])
            self.assertIn(f"--pointer-size {payload_size}", findings[0]["text"])
            lines = self.decode(self.write("lies.etl", content), "--pointer-size", str(payload_size))
            allocated = [line for line in lines if line.get("name") == "PageFault/VirtualAlloc"]
            self.assertEqual([line["decoded"] for line in allocated], ["exact"] * 5)
            self.assertEqual({line["fields"]["RegionSize"] for line in allocated}, {4096})

    def test_headers_of_events_of_the_runtime_that_lie_about_pointers(self):
        """FinalizeObject is PTR, PTR, u16 (ClrEtwAll.man)."""
        clr = uuid.UUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
        for header_size, payload_size in ((4, 8), (8, 4), (4, 4), (8, 8)):
            with self.subTest(header=header_size, payload=payload_size):
                log = EtlWriter()
                word = "Q" if payload_size == 8 else "I"
                for at in range(3):
                    log.manifest(0, at + 1, clr, 29, 0, struct.pack(f"<{word}{word}H", 0x10, 0x20, 7),
                                 pointer_size=header_size)
                lies = header_size != payload_size
                content = log.build()
                lines = self.decode(self.write("clr.etl", content), status=int(lies))
                findings = [one for one in lines[-1]["findings"] if one["code"] == "pointer-size"]
                self.assertEqual([f"3 manifest events whose headers claim pointers of {header_size}" in one["text"]
                                  for one in findings], [True] * lies)
                lines = self.decode(self.write("clr.etl", content), "--pointer-size", str(payload_size))
                events = [line for line in lines if line.get("id") == 29]
                self.assertEqual([line["decoded"] for line in events], ["exact"] * 3)
                self.assertEqual({line["fields"]["ObjectID"] for line in events}, {"0x20"})

    def test_headers_that_are_right_about_pointers_or_may_be(self):
        for size in (4, 8):
            log = EtlWriter()
            self.allocations(log, size, size, 5)
            self.decode_made(log)
        mixed = EtlWriter()
        self.allocations(mixed, 4, 8, 5)
        self.allocations(mixed, 4, 4, 1)
        self.decode_made(mixed)
        alone = EtlWriter()
        self.allocations(alone, 4, 8, 1)
        self.decode_made(alone)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
