"""Numbers in the headers of events have the names that the trace itself, its manifests and the .NET
runtime's list give them.

TRACE_EVENT_INFO of real traces is read here again, from the bytes that `trace decode` shows of it.

usage: trace_header_names.py COLDTRACE SHARED [unittest arguments]
"""
import json
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

COLDTRACE, SHARED = (Path(a).resolve() for a in sys.argv[1:3])
LIST = SHARED / "facts" / "clr-events.tsv"
SAMPLES = SHARED / "samples" / "etl"
METADATA = uuid.UUID("bbccf6c1-6cd1-48c4-80ff-839482e37671")
SOURCE = uuid.UUID("11111111-2222-3333-4444-555555555555")
CLR = {name: uuid.UUID(guid) for name, guid in {
    "Runtime": "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
    "Rundown": "a669021c-c450-4609-a035-5af59af4df18",
    "Stress": "cc2bcbba-16b6-4cf3-8990-d74c2e8af500",
    "Private": "763fd754-7086-4dfe-95eb-c01a46faf4ca",
}.items()}
MEMBERS = "--fields", "provider,id,version,level,opcode,keywords,names,header"
LEVELS = ["LogAlways", "Critical", "Error", "Warning", "Informational", "Verbose"]


def decode(path, *options, status=0):
    ran = subprocess.run([COLDTRACE, "trace", "decode", path, *options], capture_output=True, timeout=300)
    if ran.returncode != status:
        raise AssertionError((ran.returncode, ran.stderr))
    # Lines of the same traces are held against a strict reader elsewhere.
    lines = map(json.loads, ran.stdout.splitlines()) if path.is_relative_to(SAMPLES) else strict_ndjson(ran.stdout)
    return [line for line in lines if line["type"] == "event"]


def without_prefix(name):
    return name.strip().removeprefix("win:")


class Info:
    """The names in one TRACE_EVENT_INFO, whose first 52 bytes are fields of their own."""

    def __init__(self, fields):
        self.data = bytes(52) + bytes.fromhex(fields["EventInfo"])
        self.key = fields["ProviderGuid"], fields["Id"], fields["Version"]
        self.numbers = tuple(fields[name] for name in ("Channel", "Level", "Opcode", "Task", "Keyword"))
        _, level, channel, keywords, task, opcode = struct.unpack_from("<6I", self.data, 52)
        self.names = {"task": self.text(task) if fields["Task"] else "", "opcode": self.text(opcode),
                      "level": self.text(level), "channel": self.text(channel)}
        self.names = {kind: without_prefix(name) for kind, name in self.names.items() if name}
        self.keywords = []
        while keywords and self.text(keywords):
            self.keywords.append(without_prefix(self.text(keywords)))
            keywords += 2 * len(self.text(keywords)) + 2

    def text(self, offset):
        end = offset
        while offset and self.data[end:end + 2] != b"\0\0":
            end += 2
        return self.data[offset:end].decode("utf-16-le")


class RealTraces(unittest.TestCase):
    def test_names_are_those_that_the_trace_embeds(self):
        if not SAMPLES.exists():
            self.skipTest("skipped: the sample traces are not here")
        seen, keywords = set(), 0
        for name in "pv_net.4.5.2.x64.etl", "dp_vsgc.etl":
            infos = {}
            for line in decode(SAMPLES / name, "--provider", str(METADATA)):
                if line["opcode"] == 32 and line["fields"]["DecodingSource"] == 0:
                    info = Info(line["fields"])
                    infos[info.key] = info
            providers = ",".join(sorted({guid for guid, _, _ in infos}))
            for line in decode(SAMPLES / name, "--provider", providers, *MEMBERS):
                info = infos.get((line["provider"]["guid"], line["id"], line["version"]))
                header = line["header"]
                numbers = (header["channel"], line["level"], line["opcode"], header["task"], line["keywords"])
                if info is None or numbers != info.numbers:
                    continue  # the event's own numbers go first
                names = dict(line.get("names", {}))
                own = names.pop("keywords", [])
                self.assertEqual([word for word in own if not word.startswith("0x")], info.keywords, line)
                for kind, wanted in info.names.items():
                    self.assertEqual(names.get(kind), wanted, (kind, line))
                seen.add(info.key)
                keywords += len(own)
        self.assertGreater(len(seen), 50)
        self.assertGreater(keywords, 100_000)

    def test_opcodes_of_the_runtime_are_those_of_another_list(self):
        if not SAMPLES.exists():
            self.skipTest("skipped: the sample traces are not here")
        known = {}
        for line in LIST.read_text().splitlines():
            cells = line.split("\t")
            if not line.startswith("#") and cells[0] in CLR:
                known[str(CLR[cells[0]]), int(cells[1]), int(cells[2])] = cells
        kinds = set()
        providers = ", ".join(f"{{{guid}}}" for guid in CLR.values())
        for name in "pv_net.4.5.2.x64.etl", "dp_vsgc.etl", "pv_gcevents.etl":
            for line in decode(SAMPLES / name, "--where", f"provider in ({providers})", *MEMBERS):
                key = line["provider"]["guid"], line["id"], line["version"]
                cells = known.get(key)
                if cells is None or line["opcode"] != int(cells[5]):
                    continue
                names = line["names"]
                self.assertEqual(names["opcode"], without_prefix(cells[4]), line)
                self.assertEqual(names["task"], cells[3], line)
                self.assertEqual(names["level"], LEVELS[line["level"]])
                # Every bit has a name, or is among the rest.
                bits = int(line["keywords"], 16) & (1 << 48) - 1
                words = names.get("keywords", [])
                rest = int(words[-1], 16) if words and words[-1].startswith("0x") else 0
                self.assertEqual(rest, 0, line)
                self.assertEqual(len(words), bin(bits).count("1"), line)
                kinds.add(key)
        self.assertGreater(len(kinds), 80)


class Made(Case):
    def names(self, log, *options):
        path = self.write("made.etl", log.build())
        return [line.get("names") for line in decode(path, *options) if line["id"] not in (None, 0xFFFE)]

    def test_the_runtime(self):
        log = EtlWriter()
        clr = struct.pack("<H", 7)
        self.event(log, 1, CLR["Runtime"], 3, 1, clr, opcode=132, task=1, keywords=0x1)
        self.event(log, 2, CLR["Runtime"], 8, 1, clr, opcode=137, task=1, keywords=0x80000010001)
        self.event(log, 3, CLR["Rundown"], 146, 1, clr, opcode=15, task=1, keywords=0x30)
        self.event(log, 4, CLR["Runtime"], 3, 1, clr, opcode=132, task=99, keywords=0x100)
        self.assertEqual(self.names(log), [
            {"task": "GarbageCollection", "opcode": "GCRestartEEEnd", "level": "Informational",
             "keywords": ["GCKeyword"]},
            {"task": "GarbageCollection", "opcode": "GCSuspendEEEnd", "level": "Informational",
             "keywords": ["GCKeyword", "ThreadingKeyword", "AllocationSamplingKeyword"]},
            {"task": "CLRMethodRundown", "opcode": "DCEndComplete", "level": "Informational",
             "keywords": ["JitRundownKeyword", "NGenRundownKeyword"]},
            {"level": "Informational"}])

    def event(self, log, time, provider, number, version, payload, opcode, task, keywords):
        record = struct.pack("<HBBHHIIQ", 80 + len(payload), 19, 0xC0, 0, 0, 8, 4, time + log.first)
        record += provider.bytes_le + struct.pack("<HBBBBHQII", number, version, 0, 4, opcode, task,
                                                  keywords, 11, 22) + bytes(16) + payload
        log._add(0, record)

    def test_manifests_of_event_sources(self):
        text = ("<instrumentationManifest><instrumentation><events>"
                f'<provider name="Made-Up" guid="{{{SOURCE}}}">'
                '<tasks><task name="Brew" value="7"/></tasks>'
                '<opcodes><opcode name="Pour" value="40"/></opcodes>'
                '<keywords><keyword name="Hot" mask="0x1"/><keyword name="Black" mask="0x10"/></keywords>'
                '<events><event value="1" version="0" symbol="One" task="Brew"/></events>'
                "</provider></events></instrumentation></instrumentationManifest>")
        log = EtlWriter()
        log.manifest(0, 1, SOURCE, 0xFFFE, 1, struct.pack("<BBBBHH", 1, 1, 0, 0x5B, 1, 0) + text.encode(),
                     opcode=0xFE)
        self.event(log, 2, SOURCE, 1, 0, b"", 40, 7, 0x13)
        self.assertEqual(self.names(log), [{"task": "Brew", "opcode": "Pour", "level": "Informational",
                                            "keywords": ["Hot", "Black", "0x2"]}])

    def info(self, keywords, names):
        """A TRACE_EVENT_INFO of event 5 of SOURCE without fields; `names` are those of the keywords."""
        head = bytearray(112)
        head[0:16] = SOURCE.bytes_le
        struct.pack_into("<HBBBBHQ", head, 32, 5, 0, 16, 4, 50, 3, keywords)
        texts = b""
        for at, text in ((52, "Made-Up"), (56, "win:Informational "), (60, "Made-Up/Log"), (68, "Task "),
                         (72, "Opcode")):
            struct.pack_into("<I", head, at, len(head) + len(texts))
            texts += utf16z(text)
        if names is not None:
            struct.pack_into("<I", head, 64, len(head) + len(texts))
            texts += b"".join(map(utf16z, names)) + b"\0\0"
        return bytes(head) + texts

    def test_schemas_that_a_trace_embeds(self):
        common = {"task": "Task", "opcode": "Opcode", "level": "Informational"}
        for mask, names, wanted in (
                (0x8000000000000005, ["First", "Third"], ["First", "Third"]),
                (0x1000000000002, ["Second", "win:ResponseTime "], ["Second", "ResponseTime"]),
                (0x1000000000002, ["Second"], ["Second", "ResponseTime"]),
                (0x7, ["One", "Two"], None),  # which bit has none is not known
                (0x1, None, None), (0, [], None)):
            with self.subTest(mask=mask, names=names):
                log = EtlWriter()
                log.classic(0, 1, METADATA, 32, 0, self.info(mask, names))
                self.event(log, 2, SOURCE, 5, 0, b"", 50, 3, mask)
                found = self.names(log)[0]
                self.assertEqual(found, {**common, "keywords": wanted} if wanted else common)
        for cut in range(1, 60):  # names that end with the blob
            log = EtlWriter()
            log.classic(0, 1, METADATA, 32, 0, self.info(0x3, ["First", "Second"])[:-cut])
            self.event(log, 2, SOURCE, 5, 0, b"", 50, 3, 0x3)
            self.assertEqual(len(self.names(log)), 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
