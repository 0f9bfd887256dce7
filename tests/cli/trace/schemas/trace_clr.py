"""The events of the .NET runtime, by coldtrace's own table, against another reader's list.

clr-events.tsv is read here again, from ../shared, and payloads are written by it: those that are made
up, of every event in both pointer sizes, and those of real traces from what `trace decode` shows of
them, whose bytes or checksums the traces and an independent walker's tables have.

usage: trace_clr.py COLDTRACE SHARED [unittest arguments]
"""
import collections
import gzip
import json
import random
import re
import struct
import subprocess
import sys
import unittest
import uuid
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from cli.trace.etl_writer import BUFFER, EtlWriter, utf16z
from strict import strict_ndjson

COLDTRACE, SHARED = (Path(a).resolve() for a in sys.argv[1:3])
LIST = SHARED / "facts" / "clr-events.tsv"
CASES = SHARED / "facts" / "etl-schema-cases.json"
SAMPLES = SHARED / "samples" / "etl"
GUIDS = {name: uuid.UUID(guid) for name, guid in {
    "Runtime": "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
    "Rundown": "a669021c-c450-4609-a035-5af59af4df18",
    "Stress": "cc2bcbba-16b6-4cf3-8990-d74c2e8af500",
    "Private": "763fd754-7086-4dfe-95eb-c01a46faf4ca",
}.items()}
SHORT = {str(guid): name for name, guid in GUIDS.items()}
SIZES = {"u8": "B", "i8": "b", "u16": "H", "u32": "I", "i32": "i", "u32x": "I", "u64": "Q", "i64": "q",
         "u64x": "Q", "f64": "d"}
# Bits that no manifest names: the tier of a method.
TIERS = {1: "MinOptJitted", 2: "Optimized", 3: "QuickJitted", 4: "OptimizedTier1",
         5: "OptimizedTier1OSR", 6: "InstrumentedTier", 7: "InstrumentedTierOptimized"}
# Has bytes that no resource mentions.
OPAQUE = ("Private", 4, 2)


class Field:
    """One field of the list: "Name:type[count]=Map" or "Name[count]{...}"."""

    def __init__(self, text):
        self.members, self.map, self.count = None, None, None
        structure = re.fullmatch(r"(\w+)\[(\w+)\]\{(.*)\}", text)
        if structure:
            self.name, self.count, self.type = structure[1], structure[2], "struct"
            self.members = fields_of(structure[3])
        elif text.startswith("<pad"):
            self.name, self.type = None, text
        else:
            self.name, self.type, self.count, self.length, self.map = re.fullmatch(
                r"(\w+):(\w+)(?:\[(\w+)\])?(?:\((\w+)\))?(?:=(\w+))?", text).groups()


def fields_of(text):
    depth, start, parts = 0, 0, []
    for at, char in enumerate(text + ","):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [Field(part) for part in parts if part]


class List:
    """Layouts by (provider, id, version), names of events and maps."""

    def __init__(self, path):
        self.layouts, self.names, self.maps = {}, {}, {}
        for line in path.read_text().splitlines():
            cells = line.split("\t")
            if line.startswith("#") or cells[0] in ("provider", "MonoProfiler"):
                continue
            if cells[0] == "MAP":
                entries = [entry.strip().split("=") for entry in cells[4].split(";")]
                self.maps[cells[1], cells[2]] = (
                    cells[3], {int(value, 0): name for value, name in entries})
                continue
            key = cells[0], int(cells[1]), int(cells[2])
            self.layouts[key] = fields_of(cells[9])
            opcode = cells[4].removeprefix("win:") if cells[4] != "win:Info" else ""
            self.names[key] = "/".join(part for part in (cells[3], opcode) if part) or None

    def resolve(self, provider, field, value):
        kind, entries = self.maps[provider, field.map]
        value = int(value, 16) if field.type.endswith("x") else value
        if kind == "values":
            return entries.get(value)
        names = [name for bits, name in entries.items() if bits and value & bits == bits]
        names += [entries[0]] if value == 0 and 0 in entries else []
        rest = value & ~sum(entries)
        if field.map == "MethodFlagsMap" and value >> 7 & 7:
            names.append(TIERS[value >> 7 & 7])
            rest &= ~0x380
        return "|".join(names + ([hex(rest)] if rest and names else [])) or None


class Payload:
    """Writes values as the list has them, and says how `trace decode` shows them."""

    def __init__(self, known, provider, pointer_size):
        self.known, self.provider, self.pointer = known, provider, pointer_size
        self.bytes, self.resolved = b"", collections.defaultdict(list)

    def write(self, fields, values, path=""):
        for field in fields:
            if field.name is None:
                room = (4 if self.pointer == 8 else 0) if "ptr" in field.type else int(field.type[4:-1])
                self.bytes += b"\0" * room
                continue
            value = values[field.name]
            if field.members:
                for element in value:
                    self.write(field.members, element, f"{path}{field.name}.")
            elif field.count:
                for element in value:
                    self.write_one(field, element)
            else:
                self.write_one(field, value)
                if field.map:
                    self.resolved[path + field.name].append(
                        self.known.resolve(self.provider, field, value))

    def write_one(self, field, value):
        if field.type == "ptr":
            self.bytes += struct.pack("<Q" if self.pointer == 8 else "<I", int(value, 16))
        elif field.type in SIZES:
            number = int(value, 16) if field.type.endswith("x") else value
            self.bytes += struct.pack("<" + SIZES[field.type], number)
        elif field.type == "bool32":
            self.bytes += struct.pack("<I", value)
        elif field.type == "wsz":
            self.bytes += utf16z(value)
        elif field.type == "asz":
            self.bytes += value.encode() + b"\0"
        elif field.type == "guid":
            self.bytes += uuid.UUID(value).bytes_le
        elif field.type == "bin":
            self.bytes += bytes.fromhex(value)
        else:
            raise AssertionError(field.type)

    def expected_names(self):
        """A value by itself is a text, those of an array are a list."""
        names = {}
        for path, found in self.resolved.items():
            if any(found):
                names[path] = found if "." in path else found[0]
        return names


class Maker:
    """Random values for a layout."""

    def __init__(self, seed, pointer_size):
        self.random, self.pointer = random.Random(seed), pointer_size

    def values(self, fields):
        made, counts = {}, {}
        for field in fields:
            if field.name is None:
                continue
            refers = [other for other in fields
                      if field.name in (other.count, getattr(other, "length", None))]
            if refers:
                made[field.name] = counts[field.name] = self.random.randrange(4)
            elif field.count:
                count = counts[field.count] if field.count in counts else int(field.count)
                made[field.name] = [self.values(field.members) if field.members else self.one(field)
                                    for _ in range(count)]
            elif field.type == "bin":
                made[field.name] = self.random.randbytes(counts[field.length]).hex()
            else:
                made[field.name] = self.one(field)
        return made

    def one(self, field):
        if field.type == "ptr":
            return hex(self.random.getrandbits(8 * self.pointer))
        if field.type == "bool32":
            return bool(self.random.getrandbits(1))
        if field.type == "f64":
            return self.random.randrange(-1000, 1000) / 8
        if field.type in ("wsz", "asz"):
            return "".join(self.random.choices("ab.<>`", k=self.random.randrange(5)))
        if field.type == "guid":
            return str(uuid.UUID(bytes=self.random.randbytes(16)))
        size = 8 * struct.calcsize("<" + SIZES[field.type])
        number = self.random.getrandbits(min(size, 5 if field.map and size < 32 else size))
        if field.map and self.random.getrandbits(1):
            number &= 0x3FF
        if field.type.startswith("i"):
            number -= 1 << size - 1
        return hex(number) if field.type.endswith("x") else number


class Clr(Case):
    def setUp(self):
        super().setUp()
        if not LIST.exists():
            self.skipTest("skipped: the list of the runtime's events is not here")
        self.known = List(LIST)

    def decode(self, path, *options, status=0):
        ran = subprocess.run([COLDTRACE, "trace", "decode", path, *options], capture_output=True,
                             timeout=300)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return [line for line in strict_ndjson(ran.stdout) if line["type"] == "event"]

    def decode_made(self, events, *options, status=0):
        """Events as (provider, id, version, payload, pointer size), each decoded."""
        log, buffers, size = EtlWriter(), [], 0
        for at, (provider, number, version, payload, pointer_size) in enumerate(events):
            size += len(payload) + 88
            if size > BUFFER - 1000:
                buffers.append(log.take(0))
                size = len(payload) + 88
            log.manifest(0, at + 1, provider, number, version, payload, pointer_size=pointer_size)
        buffers.append(log.take(0))
        path = self.write("clr.etl", log.build(buffers))
        lines = [line for line in self.decode(path, *options, status=status) if line["id"] is not None]
        self.assertEqual(len(lines), len(events))
        return lines

    def test_every_event_of_the_list_in_both_pointer_sizes(self):
        events, wanted = [], []
        for key, layout in self.known.layouts.items():
            for pointer_size in (4, 8):
                values = Maker(f"{key} {pointer_size}", pointer_size).values(layout)
                payload = Payload(self.known, key[0], pointer_size)
                payload.write(layout, values)
                events.append((GUIDS[key[0]], *key[1:], payload.bytes, pointer_size))
                wanted.append((key, values, payload.expected_names()))
        self.assertEqual(len(self.known.layouts), 448)
        for (key, values, names), line in zip(wanted, self.decode_made(events)):
            with self.subTest(key=key):
                self.assertEqual(line["decoded"], "exact")
                self.assertEqual(list(line["fields"].items()), list(values.items()))
                self.assertEqual(line["name"], self.known.names[key])
                self.assertEqual(line["provider"]["name"].removeprefix("Microsoft-Windows-DotNETRuntime"),
                                 key[0].removeprefix("Runtime"))
                self.assertEqual({path: found for path, found in line.get("resolved", {}).items()}, names)
                self.assertNotIn("schema_version", line)

    def test_cases_with_answers(self):
        cases = [case for case in json.loads(CASES.read_text())["events"]
                 if isinstance(case["schema"], dict)]
        self.assertEqual(len(cases), 10)
        lines = self.decode_made([(GUIDS[case["schema"]["clr"][0]], *case["schema"]["clr"][1:],
                                   bytes.fromhex(case["payload"]), case["pointer_size"])
                                  for case in cases])
        for case, line in zip(cases, lines):
            with self.subTest(case=case["id"]):
                self.assertEqual(line["decoded"], case["result"])
                self.assertEqual(line["fields"], case["expect"])
                for field, names in case.get("resolved", {}).items():
                    if field == "tier":
                        names, field = [TIERS[names]], "MethodFlags"
                    for name in names if isinstance(names, list) else [names]:
                        self.assertIn(name, line["resolved"][field].split("|"))

    def test_versions_that_the_table_does_not_have(self):
        newest = {}
        for provider, number, version in self.known.layouts:
            newest[provider, number] = max(version, newest.get((provider, number), 0))
        events, wanted = [], []
        for (provider, number), version in newest.items():
            layout = self.known.layouts[provider, number, version]
            values = Maker(f"{provider} {number}", 8).values(layout)
            payload = Payload(self.known, provider, 8)
            payload.write(layout, values)
            events.append((GUIDS[provider], number, version + 2, payload.bytes + b"\x12\x34", 8))
            wanted.append((values, version))
        for (values, version), line in zip(wanted, self.decode_made(events)):
            self.assertEqual(line["decoded"], "trailing")
            self.assertEqual((line["fields"], line["trailing"]), (values, "1234"))
            self.assertEqual((line["version"], line["schema_version"]), (version + 2, version))
        rows = self.decode_made([(GUIDS["Runtime"], 60000, 0, b"\1\2\3\4\5\6\7\x08", 8)])
        self.assertEqual([(row["decoded"], row["provider"]["name"]) for row in rows],
                         [("raw", "Microsoft-Windows-DotNETRuntime")])

    def manifest_of(self, *events):
        """A manifest of the runtime's provider as an EventSource writes it; events as (id, version)."""
        rows = "".join(f'<event value="{number}" version="{version}" symbol="Other" template="T"/>'
                       for number, version in events)
        text = ("<instrumentationManifest><instrumentation><events>"
                f'<provider name="Other" guid="{{{GUIDS["Runtime"]}}}"><events>{rows}</events>'
                '<templates><template tid="T"><data name="Half" inType="win:UInt16"/></template>'
                "</templates></provider></events></instrumentation></instrumentationManifest>")
        return struct.pack("<BBBBHH", 1, 1, 0, 0x5B, 1, 0) + text.encode()

    def test_what_the_trace_says_goes_before_an_earlier_version_and_not_before_the_table(self):
        log = EtlWriter()
        stack = struct.pack("<HBBI3Q", 13, 0, 0, 3, 1, 2, 3)
        log.manifest(0, 1, GUIDS["Runtime"], 82, 0, stack)
        log.manifest(0, 2, GUIDS["Runtime"], 82, 1, b"\7\0")
        log.manifest(0, 3, GUIDS["Runtime"], 0xFFFE, 1, self.manifest_of((82, 0), (82, 1)), opcode=0xFE)
        lines = self.decode(self.write("both.etl", log.build()))
        lines = [line for line in lines if line["id"] == 82]
        self.assertEqual([(line["name"], line["decoded"], line["fields"]) for line in lines], [
            ("CLRStack/CLRStackWalk", "exact",
             {"ClrInstanceID": 13, "Reserved1": 0, "Reserved2": 0, "FrameCount": 3,
              "Stack": ["0x1", "0x2", "0x3"]}),
            ("Other", "exact", {"Half": 7})])

    def test_every_cut_of_a_payload_decodes_no_further_than_it_goes(self):
        key = "Runtime", 15, 0
        values = Maker("cuts", 8).values(self.known.layouts[key])
        payload = Payload(self.known, key[0], 8)
        payload.write(self.known.layouts[key], values)
        hostile = payload.bytes[:6] + b"\0" * 40
        hostile = struct.pack("<I", 0xFFFFFFFF) + hostile[4:]
        cuts = [payload.bytes[:cut] for cut in range(1, len(payload.bytes))] + [hostile]
        for cut, line in zip(cuts, self.decode_made([(GUIDS["Runtime"], 15, 0, cut, 8) for cut in cuts])):
            self.assertIn(line["decoded"], ("partial", "exact"))
            if line["decoded"] == "exact":
                self.assertTrue(cut.endswith(b"\0\0") or len(cut) % 2 == 0)

    def check_sample(self, name, payloads, least):
        """`payloads(line)` has the bytes of an event, or only their size, or None."""
        path = SAMPLES / name
        if not path.exists():
            self.skipTest("skipped: the sample traces are not here")
        counts = collections.Counter()
        for line in self.decode(path, "--header-fields"):
            provider = SHORT.get(line["provider"]["guid"])
            if provider is None or line["id"] is None or line["id"] == 0xFFFE:
                continue
            key = provider, line["id"], line["version"]
            counts[line["decoded"]] += 1
            if key == OPAQUE:  # nothing is known of it
                continue
            self.assertEqual(line["decoded"], "exact", line)
            self.assertEqual(line["name"], self.known.names[key])
            payload = Payload(self.known, provider, line["header"]["pointer_size"])
            payload.write(self.known.layouts[key], line["fields"])
            self.assertEqual(len(payload.bytes), line["header"]["payload_size"], line)
            if not any(field.type.startswith("<pad") for field in self.padded(key)):
                self.assertTrue(payloads(line, payload.bytes), line)
            names = {path: found for path, found in line.get("resolved", {}).items()
                     if path in payload.resolved}
            self.assertEqual(names, payload.expected_names())
        self.assertGreaterEqual(counts["exact"], least)
        self.assertGreaterEqual(counts["exact"] / sum(counts.values()), 0.97)

    def padded(self, key):
        for field in self.known.layouts[key]:
            yield from field.members or [field]

    def test_a_sample_whose_checksums_another_walker_has(self):
        table = SAMPLES / "dp_vsgc.tsv.gz"
        sums = collections.Counter()
        if table.exists():
            for row in gzip.open(table, "rt", encoding="utf-8"):
                cells = row.rstrip("\n").split("\t")
                sums[cells[11], cells[4], cells[6], cells[18]] += 1

        def known(line, payload):
            key = (str(line["timestamp"]), line["provider"]["guid"], str(line["id"]),
                   f"{zlib.crc32(payload):08x}")
            sums[key] -= 1
            return sums[key] >= 0

        self.check_sample("dp_vsgc.etl", known, 21_148)

    def test_a_sample_whose_bytes_lie_in_the_file(self):
        path = SAMPLES / "pv_gcevents.etl"
        content = path.read_bytes() if path.exists() else b""

        def known(line, payload):
            start = line["header"]["buffer"] + line["header"]["offset"]
            return content[start:start + line["header"]["size"]].endswith(payload)

        self.check_sample("pv_gcevents.etl", known, 69)

    def test_a_sample_whose_sizes_its_headers_have(self):
        self.check_sample("pv_net.4.5.2.x64.etl", lambda line, payload: True, 67_104)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
