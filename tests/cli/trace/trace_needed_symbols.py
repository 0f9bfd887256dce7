"""Which PDBs a trace needs, and how much of it: against a reader of its events that is written here.

usage: trace_needed_symbols.py COLDTRACE SOURCES SHARED [arguments of unittest]
"""
import json
import struct
import subprocess
import sys
import unittest
import uuid
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
from case import Case
from cli.trace.etl_writer import EtlWriter, utf16z
from strict import strict_json

COLDTRACE, SOURCES, SHARED = (Path(a).resolve() for a in sys.argv[1:4])
IMAGE_ID = uuid.UUID("b3e675d7-2554-4f18-830b-2762732560de")
GUID = uuid.UUID("01234567-89ab-cdef-0123-456789abcdef")
BASE, DRIVER = 0x1_8000_0000, 0xFFFF_F880_0100_0000
MICROSOFT = "https://msdl.microsoft.com/download/symbols/"


def run(*arguments):
    return subprocess.run([COLDTRACE, "trace", *arguments], capture_output=True, timeout=300)


def number(text):
    return text if isinstance(text, int) else int(text, 0)


class Reader:
    """Counts the addresses of a trace by the PDB of the image that they are in."""

    def __init__(self, lines):
        self.lives = defaultdict(list)  # by process: [base, size, from, to, PDB]
        lines = [line for line in lines if line["type"] == "event"]
        for line in lines:
            self.read_image(line)
        for line in lines:
            if line["name"] == "ImageID/RSDS":
                self.read_pdb(line)
        self.known = {}
        self.counts = defaultdict(Counter)
        for line in lines:
            self.count(line)

    def read_image(self, line):
        kind = line["name"]
        if kind not in ("Image/Load", "Image/DCStart", "Image/Unload", "Image/DCEnd"):
            return
        fields, time = line["fields"], line["timestamp"]
        base, size = number(fields["ImageBase"]), number(fields["ImageSize"])
        lives = self.lives[fields["ProcessId"]]
        open_one = next((life for life in lives if life[0] == base and life[3] is None), None)
        begins = kind in ("Image/Load", "Image/DCStart")
        if begins and not (open_one and kind == "Image/DCStart"):
            lives.append([base, size, time if kind == "Image/Load" else 0, None, None])
            if open_one:
                open_one[3] = time
        elif not begins and not open_one:
            before = max((life[3] for life in lives if life[0] == base), default=0)
            lives.append([base, size, before, time if kind == "Image/Unload" else None, None])
        elif kind == "Image/Unload":
            open_one[3] = time

    def read_pdb(self, line):
        fields, time = line["fields"], line["timestamp"]
        for life in self.lives[fields["ProcessId"]]:
            if life[0] == number(fields["ImageBase"]) and life[2] <= time and \
                    (life[3] is None or time <= life[3]):
                life[4] = (fields["GuidSig"], fields["Age"])

    def find(self, pid, address, time):
        if (pid, address) not in self.known:
            kernel = address >> 63 or 1 << 31 <= address < 1 << 32
            self.known[pid, address] = [life for process in [pid, *((0, 4) if kernel else ())]
                                        for life in self.lives.get(process, ())
                                        if life[0] <= address < life[0] + life[1]]
        for _, _, begin, end, pdb in self.known[pid, address]:
            if begin <= time and (end is None or time < end):
                return pdb or "none"
        return "elsewhere"

    def count(self, line):
        fields, where = line["fields"], lambda a: self.counts[self.find(line["pid"], number(a), line["timestamp"])]
        for address in (line["stack"] or []) + (fields["Stack"] if line["name"] in
                                                ("StackWalk/Stack", "CLRStack/CLRStackWalk") else []):
            if number(address):
                where(address)["frames"] += 1
        if line["name"] == "PerfInfo/SampleProf":
            where(fields["InstructionPointer"])["samples"] += 1


class NeededSymbols(Case):
    def trace(self, *, pdb_name="a.pdb", stamp=0x5000_0001, size=0x9000, message_pdb=None, image="a.dll", beside=()):
        writer = EtlWriter()
        writer.process(0, 10, 100, "app.exe")
        writer.thread(0, 20, 100, 8)
        for pid, base in ((100, BASE), (0, DRIVER)):
            name = utf16z("\\Device\\HarddiskVolume1\\app\\" + image)
            writer.system(0, 0x030A, 2, 30, struct.pack("<QQIII", base, size, pid, 0x1111, stamp) +
                          b"\0" * 28 + name)
        writer.classic(0, 30, IMAGE_ID, 36, 2, struct.pack("<QI", BASE, 100) + GUID.bytes_le +
                       struct.pack("<I", 0x1B) + pdb_name.encode() + b"\0")
        for opcode, values in beside:
            writer.classic(0, 30, IMAGE_ID, opcode, 2, struct.pack("<QI", BASE, 100) + values)
        if message_pdb:
            writer.system(0, 0x0040, 2, 40, GUID.bytes_le + struct.pack("<I", 2) + message_pdb + b"\0")
        for i in range(5):
            writer.perfinfo(0, 0x0F2E, 2, 100 + i, struct.pack("<QIHH", BASE + 0x1000, 8, 1, 0x40))
        writer.stack(0, 200, 104, 100, 8, [DRIVER + 1, DRIVER + 2, BASE + 3, BASE + 4, BASE + 5, 0x7777, 0])
        return self.save(writer)

    def save(self, writer, name="a.etl"):
        path = self.here / name
        path.write_bytes(writer.build())
        return path

    def answer(self, *arguments, status=0):
        result = run("symbols", "--format", "json", *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        document = strict_json(result.stdout)
        json_schema.validate(document, json.loads(
            (SOURCES / "docs/schema/trace-symbols.schema.json").read_text()))
        return document

    def test_a_portable_pdb_is_kept_without_its_age(self):
        """As traces of .NET say it: the version of each entry of the debug directory follows the PDBs of an image, and a precompiled
        image has one of its IL too, which is the portable one."""
        il = uuid.uuid4().bytes_le + struct.pack("<I", 1) + b"a.il.pdb\0"
        portable, native = (struct.pack("<II", 0x12345678, version) for version in (0x504d0100, 0x100))
        for beside, key in (((), "1b"), ([(38, native)], "1b"), ([(38, portable)], "FFFFFFFF"),
                            ([(37, il), (38, portable), (38, native)], "1b")):
            with self.subTest(beside=[opcode for opcode, _ in beside], key=key):
                pdb, = self.answer(self.trace(beside=beside))["pdbs"]
                self.assertEqual((pdb["guid"], pdb["age"], pdb["path"]),
                                 (str(GUID), 0x1B, f"a.pdb/{GUID.hex.upper()}{key}/a.pdb"))

    def test_addresses_are_counted_where_they_are(self):
        trace = self.trace()
        document = self.answer(trace)
        pdb, = document["pdbs"]
        key = f"{GUID.hex.upper()}1b"
        self.assertEqual({name: pdb[name] for name in ("name", "guid", "age", "messages", "samples", "frames",
                                                       "addresses", "path", "url")},
                         {"name": "a.pdb", "guid": str(GUID), "age": 0x1B, "messages": False, "samples": 5,
                          "frames": 3, "addresses": 0, "path": f"a.pdb/{key}/a.pdb",
                          "url": f"{MICROSOFT}a.pdb/{key}/a.pdb"})
        self.assertEqual([(image["image"], image["path"]) for image in pdb["images"]],
                         [("\\Device\\HarddiskVolume1\\app\\a.dll", "a.dll/500000019000/a.dll")])
        other, = document["images_without_pdb"]
        self.assertEqual((other["samples"], other["frames"], other["checksum"]), (0, 2, 0x1111))
        self.assertEqual(document["elsewhere"], {"samples": 0, "frames": 1, "addresses": 1})
        text = run("symbols", trace).stdout.decode().splitlines()
        self.assertEqual(text[1].split(), ["5", "3", "0", "a.pdb", str(GUID), "27"])
        self.assertIn(["0", "2", "0", "no", "PDB", "is", "named:"], [line.split()[:7] for line in text])
        early = self.answer(trace, "--to", "2019-04-17T18:40:00.0000102Z")
        self.assertEqual(early["pdbs"][0]["samples"], 3)

    def test_lists_are_for_download_tools(self):
        trace = self.trace(pdb_name="C:\\build\\a b+ü.pdb")
        path = f"a b+ü.pdb/{GUID.hex.upper()}1b/a b+ü.pdb"
        self.assertEqual(run("symbols", trace, "--format", "paths").stdout.decode(), path + "\n")
        url = run("symbols", trace, "--format", "urls", "--server", "http://mirror/x//").stdout.decode()
        self.assertNotIn(" ", url)
        self.assertTrue(url.isascii())
        self.assertEqual(unquote(url), "http://mirror/x/" + path + "\n")
        lines = run("symbols", trace, "--format", "paths", "--images").stdout.decode().splitlines()
        self.assertEqual(lines, [path, "a.dll/500000019000/a.dll"])

    def test_a_server_is_one_of_the_web(self):
        for server in "", "ftp://mirror", "mirror":
            done = run("symbols", "missing.etl", "--format", "urls", "--server", server)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(f"'{server}' begins with neither https:// nor http://", done.stderr.decode())

    def test_lists_lead_nowhere_else(self):
        for name in ("..", "C:\\x\\..", "a\nb.pdb", "a\x1b[31m.pdb", "x\\", "y" * 300, "."):
            with self.subTest(name=name):
                trace = self.trace(pdb_name=name)
                document = self.answer(trace, status=1)
                self.assertEqual([finding["code"] for finding in document["findings"]], ["symbol-name"])
                self.assertIsNone(document["pdbs"][0]["path"])
                self.assertEqual(run("symbols", trace, "--format", "paths").stdout, b"")
        trace = self.trace(pdb_name="..\\..\\etc/a.pdb", image="..")
        lines = run("symbols", trace, "--format", "paths", "--images").stdout.decode().splitlines()
        self.assertEqual(lines, [f"a.pdb/{GUID.hex.upper()}1b/a.pdb"])

    def test_pdbs_with_texts_of_messages_are_named(self):
        trace = self.trace(message_pdb=b"D:\\x\\wpp.pdb")
        pdb = next(pdb for pdb in self.answer(trace)["pdbs"] if pdb["name"] == "wpp.pdb")
        self.assertEqual((pdb["messages"], pdb["age"], pdb["images"]), (True, 2, []))
        self.assertIn("message texts", run("symbols", trace).stdout.decode())

    def test_what_no_address_lies_in_is_told_when_asked_for(self):
        writer = EtlWriter()
        writer.process(0, 10, 100, "app.exe")
        writer.system(0, 0x030A, 2, 30, struct.pack("<QQIII", BASE, 0x1000, 100, 1, 2) + b"\0" * 28 +
                      utf16z("b.dll"))
        trace = self.save(writer)
        empty = self.answer(trace, status=1)
        self.assertEqual([finding["code"] for finding in empty["findings"]], ["no-match"])
        image, = self.answer(trace, "--all")["images_without_pdb"]
        self.assertEqual((image["image"], image["frames"], image["path"]), ("b.dll", 0, "b.dll/000000021000/b.dll"))

    def test_what_each_rundown_repeats_of_images_is_kept_once(self):
        load, unload, there, still_there = 0x030A, 0x1402, 0x1403, 0x1404
        writer, buffers, pid = EtlWriter(), [], 100
        time = 100

        def tell(hook, number, file):
            name = utf16z(f"\\Device\\HarddiskVolume1\\app\\{file}.dll")
            base = BASE + number * 0x1_0000
            writer.system(0, hook, 2, time, struct.pack("<QQIII", base, 0x9000, pid, 0x1111, 7 + file) +
                          b"\0" * 28 + name)
            writer.classic(0, time, IMAGE_ID, 36, 2, struct.pack("<QI", base, pid) + uuid.UUID(int=file).bytes_le +
                           struct.pack("<I", 1) + f"{file}.pdb".encode() + b"\0")

        writer.process(0, 10, pid, "app.exe")
        writer.thread(0, 20, pid, 8)
        samples = Counter()
        for _ in range(60):
            for hook in (there, still_there):
                for number in range(1, 51):
                    tell(hook, number, number)
                time += 100
            buffers.append(writer.take(0))
        tell(unload, 7, 7)
        time += 100
        tell(load, 7, 1007)
        time += 100
        tell(unload, 7, 1007)
        time += 100
        tell(load, 7, 7)
        # Where another file was at one of the addresses for a while, and nothing before and behind it.
        for at, file in ((150, 7), (time - 350, 7), (time - 250, None), (time - 150, 1007), (time - 50, None), (time + 50, 7)):
            writer.perfinfo(0, 0x0F2E, 2, at, struct.pack("<QIHH", BASE + 7 * 0x1_0000 + 0x100, 8, 1, 0x40))
            samples[file] += 1
        path = self.write("repeated.etl", writer.build([*buffers, writer.take(0)]))
        answer = self.answer(path, "--all", "--names-limit", "256KiB")
        self.assertNotIn("names-limit", [finding["code"] for finding in answer["findings"]])
        self.assertEqual({row["name"]: row["samples"] for row in answer["pdbs"]},
                         {f"{file}.pdb": samples[file] for file in (*range(1, 51), 1007)})

    def test_other_files_are_no_traces(self):
        path = self.here / "x"
        path.write_bytes(b"x" * 100)
        self.assertEqual(run("symbols", path).returncode, 2)
        self.assertEqual(run("symbols", self.here / "none").returncode, 2)

    def test_a_real_trace_is_counted_as_a_second_reader_does(self):
        for name in ("pv_net.4.5.2.x64.etl",):
            trace = SHARED / "samples/etl" / name
            if not trace.exists():
                self.skipTest("the shared samples are not here")
            lines = [json.loads(line) for line in run("decode", trace).stdout.splitlines()]
            reader = Reader(lines)
            result = run("symbols", trace, "--format", "json", "--all")
            document = strict_json(result.stdout)
            found = {(pdb["guid"], pdb["age"]): pdb for pdb in document["pdbs"]}
            for kind in ("samples", "frames"):
                expected = {pdb: count[kind] for pdb, count in reader.counts.items()
                            if isinstance(pdb, tuple) and count[kind]}
                self.assertEqual({key: pdb[kind] for key, pdb in found.items() if pdb[kind]}, expected)
                self.assertEqual(document["elsewhere"][kind] + document["methods"][kind],
                                 reader.counts["elsewhere"][kind])
            self.assertGreater(found["72482100-1c1c-4a03-aed8-c4c71c2e8d1d", 2]["samples"], 70_000)
            rsds = {(line["fields"]["GuidSig"], line["fields"]["Age"]) for line in lines
                    if line.get("name") == "ImageID/RSDS"}
            self.assertLessEqual(set(found), rsds)


if __name__ == "__main__":
    unittest.main(argv=["trace_needed_symbols", *sys.argv[4:]])
