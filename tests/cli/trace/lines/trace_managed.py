"""Managed methods are named by what the .NET runtime says of them, against a reader of these events that is written
here: which method had an address at a time.

usage: trace_managed.py COLDTRACE SOURCES SHARED [arguments of unittest]
"""
import bisect
import json
import random
import struct
import subprocess
import sys
import unittest
import uuid
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
from case import Case
from cli.trace.etl_writer import EtlWriter, utf16z

COLDTRACE, SOURCES, SHARED = (Path(a).resolve() for a in sys.argv[1:4])
RUNTIME = uuid.UUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
RUNDOWN = uuid.UUID("a669021c-c450-4609-a035-5af59af4df18")
LOAD, UNLOAD, DC_START, DC_END = (RUNTIME, 143), (RUNTIME, 144), (RUNDOWN, 143), (RUNDOWN, 144)
CODE = 0x7FF8_0000_0000
FOREVER = 1 << 62
TIERS = ["", "MinOptJitted", "Optimized", "QuickJitted", "OptimizedTier1", "OptimizedTier1OSR", "InstrumentedTier",
         "InstrumentedTierOptimized"]


def run(*arguments):
    result = subprocess.run([COLDTRACE, "trace", *arguments], capture_output=True, timeout=300)
    assert result.returncode in (0, 1), result.stderr
    return result.stdout


class Methods:
    """Who had the code at an address: told event by event, in the order of time."""

    def __init__(self):
        self.lives = defaultdict(list)  # by process and start: [size, from, to, name]
        self.starts = None

    def tell(self, kind, time, pid, start, size, name):
        lives = self.lives[pid, start]
        is_open = bool(lives) and lives[-1][2] == FOREVER
        if kind == LOAD:
            if is_open:
                lives[-1][2] = time
            lives.append([size, time, FOREVER, name])
        elif kind == UNLOAD and is_open:
            lives[-1][2] = time
        elif kind != DC_START and kind != DC_END or not is_open:
            lives.append([size, lives[-1][2] if lives else -FOREVER, time if kind == UNLOAD else FOREVER, name])

    def find(self, pid, address, time):
        """(name, offset), or nothing: methods do not overlap here."""
        if self.starts is None:
            self.starts = defaultdict(list)
            for process, start in sorted(self.lives):
                self.starts[process].append(start)
        at = bisect.bisect_right(self.starts[pid], address) - 1
        if at < 0:
            return None
        start = self.starts[pid][at]
        for size, begin, end, name in self.lives[pid, start]:
            if begin <= time < end and address < start + size:
                return name, address - start
        return None


def text(module, found):
    return f"{module}!{found[0]}" + (f"+{found[1]:#x}" if found[1] else "")


class Managed(Case):
    def writer(self, pid=4, tid=8):
        writer = EtlWriter()
        writer.process(0, 10, pid, "app.exe")
        writer.thread(0, 20, pid, tid)
        self.events = []
        return writer

    def method(self, writer, kind, time, start, size, name, *, flags=8, module=0x10, pid=4, version=2, cut=None):
        provider, number = kind
        payload = struct.pack("<QQQIII", start ^ 0x77, module, start, size, 0x600_0001, flags)
        payload += utf16z("Space.Type") + utf16z(name) + utf16z("void  (int32)")
        payload += struct.pack("<H", 9) * (version > 0) + struct.pack("<Q", 0) * (version > 1)
        writer.manifest(0, time, provider, number, version, payload[:cut], pid=pid)

    def module(self, writer, time, path, number=154, provider=RUNDOWN, module=0x10, pid=4):
        payload = struct.pack("<QQII", module, 0, 0, 0) + utf16z(path) + utf16z("") + struct.pack("<H", 9)
        writer.manifest(0, time, provider, number, 1, payload, pid=pid)

    def sample(self, writer, time, address, tid=8):
        writer.perfinfo(0, 0x0F2E, 2, time, struct.pack("<QIHH", address, tid, 1, 0x40))

    def save(self, writer, buffers=None):
        path = self.here / "a.etl"
        path.write_bytes(writer.build(buffers))
        return path

    def lines(self, path, *options):
        lines = [json.loads(line) for line in run("decode", *options, path).splitlines()]
        validator = json_schema.of(json.loads(
            (SOURCES / "docs/schema/trace.schema.json").read_text()))
        for line in lines[-30:]:
            validator.validate(line)
        return lines

    def names(self, path, *options):
        return [(line.get("resolved") or {}).get("InstructionPointer") for line in self.lines(path, *options)
                if line.get("name") == "PerfInfo/SampleProf"]


class Names(Managed):
    def test_samples_stacks_and_functions_have_methods(self):
        writer = self.writer()
        self.method(writer, LOAD, 100, CODE, 0x40, "Run")
        for time, offset in ((50, 0), (100, 0), (200, 0x3F), (300, 0x40)):
            self.sample(writer, time + 50, CODE + offset)
        writer.stack(0, 400, 250, 4, 8, [0xFFFF_F800_0000_0001, CODE + 8, CODE + 0x41])
        self.module(writer, 900, "C:\\app\\My.App.dll")
        path = self.save(writer)
        self.assertEqual(self.names(path), ["My.App.dll!Space.Type.Run"] * 2 + [
            "My.App.dll!Space.Type.Run+0x3f", None])
        sample = [line for line in self.lines(path, "--stacks", "attach") if line.get("stack")][0]
        self.assertEqual(sample["stack"], [
            {"address": "0xfffff80000000001"},
            {"address": hex(CODE + 8), "module": "My.App.dll", "function": "Space.Type.Run+0x8", "source": "method"},
            {"address": hex(CODE + 0x41)}])
        self.assertEqual(sample["tid"], 8)
        functions = {row["function"]: row for row in json.loads(run("cpu", "--format", "json", path))["functions"]}
        self.assertEqual(functions["My.App.dll!Space.Type.Run"]["samples"], 3)
        self.assertEqual(functions["My.App.dll!Space.Type.Run"]["module"], "C:\\app\\My.App.dll")
        collapsed = run("cpu", "--format", "collapsed", path).decode()
        self.assertIn(";0x7ff800000041;My.App.dll!Space.Type.Run;", collapsed)

    def test_parts_and_tiers_are_told(self):
        writer = self.writer()
        self.module(writer, 30, "a.dll", number=152, provider=RUNTIME)
        for tier in range(8):
            self.method(writer, LOAD, 100 + tier, CODE + 0x100 * tier, 0x80, "Hot", flags=8 | tier << 7)
            self.method(writer, LOAD, 100 + tier, CODE + 0x100_000 + 0x100 * tier, 0x10, "Hot",
                        flags=8 | tier << 7 | 1 << 28)
        self.sample(writer, 500, CODE)
        writer.stack(0, 501, 500, 4, 8, [base + 0x100 * i + 4 for i in range(8) for base in (CODE, CODE + 0x100_000)])
        stack = [line for line in self.lines(self.save(writer), "--stacks", "attach") if line.get("stack")][0]["stack"]
        self.assertEqual([frame.get("tier", "") for frame in stack], [tier for tier in TIERS for _ in "hc"])
        self.assertEqual([frame.get("part") for frame in stack], [None, "cold"] * 8)
        self.assertEqual({frame["function"] for frame in stack}, {"Space.Type.Hot+0x4"})
        functions = json.loads(run("cpu", "--format", "json", self.here / "a.etl"))["functions"]
        self.assertEqual([row["function"] for row in functions], ["a.dll!Space.Type.Hot"])

    def test_addresses_are_used_again(self):
        pick = random.Random(19)
        for round_number in range(6):
            writer, methods, buffers = self.writer(), Methods(), []
            events = []
            for _ in range(600):
                kind = pick.choice((LOAD, LOAD, UNLOAD, "sample", "sample", "sample"))
                events.append((pick.randrange(1000, 50_000), kind, pick.randrange(24)))
            events += [(999, DC_START, slot) for slot in range(0, 24, 3)]
            events += [(60_000 + slot, DC_END, slot) for slot in range(0, 24, 2)]
            expected, names = [], {}
            for number, (time, kind, slot) in enumerate(sorted(events, key=lambda event: event[0])):
                start, pid = CODE + 0x1000 * slot, 4
                if number % 100 == 99:
                    buffers.append(writer.take(0))
                if kind == "sample":
                    expected.append((time, start + pick.randrange(0x500)))
                    self.sample(writer, *expected[-1])
                    continue
                size = pick.choice((0x100, 0x400))
                name = f"M{number}" if kind in (LOAD, DC_START) else names.get(slot, f"M{number}")
                names[slot] = name
                self.method(writer, kind, time, start, size, name, pid=pid, version=number % 3)
                methods.tell(kind, time, pid, start, size, f"Space.Type.{name}")
            found = self.names(self.save(writer, [*buffers, writer.take(0)]))
            self.assertEqual(len(found), len(expected))
            wanted = [methods.find(4, address, time) for time, address in expected]
            self.assertGreater(sum(one is not None for one in wanted), 50)
            self.assertEqual(found, [one and text("", one)[1:] for one in wanted])

    def test_processes_have_code_of_their_own(self):
        writer = self.writer()
        writer.process(0, 21, 200, "b.exe")
        writer.thread(0, 22, 200, 12)
        self.method(writer, DC_END, 900, CODE, 0x40, "First")
        self.method(writer, DC_END, 901, CODE, 0x40, "Second", pid=200, module=0x20)
        self.module(writer, 902, "a.dll")
        self.module(writer, 903, "b.dll", pid=200)
        for tid in (8, 12, 16):
            self.sample(writer, 100 + tid, CODE + 4, tid=tid)
        self.assertEqual(self.names(self.save(writer)), ["a.dll!Space.Type.First+0x4", "Space.Type.Second+0x4", None])

    def test_a_process_with_the_id_of_another_has_other_code(self):
        writer = self.writer()
        self.method(writer, LOAD, 100, CODE, 0x40, "First")
        self.sample(writer, 150, CODE)
        writer.process(0, 200, 4, "app.exe", hook=0x0302)
        self.sample(writer, 210, CODE)
        writer.process(0, 300, 4, "other.exe", hook=0x0301)
        self.sample(writer, 350, CODE)
        self.method(writer, LOAD, 400, CODE, 0x40, "Second")
        self.sample(writer, 450, CODE)
        self.assertEqual(self.names(self.save(writer)), ["Space.Type.First"] * 2 + [None, "Space.Type.Second"])

    def test_methods_without_names_hide_none_of_before(self):
        writer = self.writer()
        self.method(writer, LOAD, 100, CODE, 0x40, "Old")
        writer.manifest(0, 200, RUNTIME, 141, 1, struct.pack("<QQQIIIH", 1, 0x10, CODE, 0x40, 1, 8, 9))
        for time in (150, 250):
            self.sample(writer, time, CODE + 1)
        self.assertEqual(self.names(self.save(writer)), ["Space.Type.Old+0x1", None])

    def entry_point(self, writer, time, address, name, *, pid=4, cut=None):
        payload = struct.pack("<Q", address ^ 0x77) + utf16z("Space.Type") + utf16z(name) + utf16z("void  (int32)")
        payload += struct.pack("<QH", address, 9)
        writer.manifest(0, time, RUNTIME, 159, 0, payload[:cut], pid=pid)

    def test_entry_points_name_code_up_to_the_next_in_their_image(self):
        writer = self.writer()
        image = 0x7FF9_0000_0000
        for base, name in ((image, "Precompiled.dll"), (image + 0x9000, "other.dll")):
            writer.system(0, 0x1403, 2, 30, struct.pack("<QQIIIIQIIII", base, 0x8000, 4, 0, 0, 0, base, 0, 0, 0, 0)
                          + utf16z("\\Device\\" + name))
        self.entry_point(writer, 100, image + 0x1000, "First")
        self.entry_point(writer, 101, image + 0x1400, "Second")
        self.entry_point(writer, 102, image + 0x1000, "First")  # asked for again
        self.method(writer, LOAD, 103, image + 0x2000, 0x40, "Loaded")
        self.entry_point(writer, 104, image + 0x2000, "Loaded")
        self.entry_point(writer, 105, image + 0x2000 - 1, "Cut", cut=-4)
        self.entry_point(writer, 106, CODE, "Nowhere")
        addresses = [image + offset for offset in (0xFFF, 0x1000, 0x13FF, 0x1400, 0x1FFF, 0x2000, 0x203F, 0x2040, 0x9000)]
        addresses += [CODE, CODE + 1]
        for number, address in enumerate(addresses):
            self.sample(writer, 200 + number, address)
        writer.stack(0, 300, 201, 4, 8, [image + 0x1404])
        path = self.save(writer)
        device = "\\Device\\Precompiled.dll"
        self.assertEqual(self.names(path), [
            device + "+0xfff", "Precompiled.dll!Space.Type.First", "Precompiled.dll!Space.Type.First+0x3ff",
            "Precompiled.dll!Space.Type.Second", "Precompiled.dll!Space.Type.Second+0xbff", "Space.Type.Loaded",
            "Space.Type.Loaded+0x3f", device + "+0x2040", "\\Device\\other.dll+0x0", "Space.Type.Nowhere", None])
        frames = [line["stack"] for line in self.lines(path, "--stacks", "attach") if line.get("stack")]
        self.assertEqual(frames, [[{"address": hex(image + 0x1404), "module": "Precompiled.dll", "offset": "0x1404",
                                    "function": "Space.Type.Second+0x4", "source": "entry_point"}]])
        rows = json.loads(run("cpu", "--format", "json", path))["functions"]
        self.assertEqual({row["function"]: row["samples"] for row in rows if "Space" in row["function"]}, {
            "Precompiled.dll!Space.Type.First": 2, "Precompiled.dll!Space.Type.Second": 2, "Space.Type.Loaded": 2,
            "Space.Type.Nowhere": 1})

    def test_a_real_trace_is_named_as_a_second_reader_does(self):
        trace = SHARED / "samples/etl/pv_net.4.5.2.x64.etl"
        if not trace.exists():
            self.skipTest("the shared samples are not here")
        members = ("name,timestamp,pid,MethodStartAddress,MethodSize,MethodNamespace,MethodName,ModuleID,ModuleILPath,"
                   "InstructionPointer,resolved.InstructionPointer,Stack,resolved.Stack")
        lines = [json.loads(line) for line in run("decode", "--fields", members, trace).splitlines()]
        lines = [line for line in lines if line["type"] == "event"]
        kinds = {"CLRMethod/MethodLoadVerbose": LOAD, "CLRMethod/MethodUnloadVerbose": UNLOAD,
                 "CLRMethodRundown/MethodDCEndVerbose": DC_END}
        methods, paths = Methods(), {}
        for line in lines:
            if line["ModuleILPath"]:
                paths[line["pid"], line["ModuleID"]] = line["ModuleILPath"].split("\\")[-1]
        for line in lines:
            if kind := kinds.get(line["name"]):
                path = paths.get((line["pid"], line["ModuleID"]), "")
                methods.tell(kind, line["timestamp"], line["pid"], int(line["MethodStartAddress"], 16),
                             int(line["MethodSize"], 16), (path and path + "!") + ".".join(
                                 filter(None, (line["MethodNamespace"], line["MethodName"]))))
        frames, samples = Counter(), Counter()
        for line in lines:
            pairs = zip(line["Stack"] or [], line["resolved.Stack"] or [None] * 1000) \
                if line["name"] == "CLRStack/CLRStackWalk" else []
            if line["name"] == "PerfInfo/SampleProf":
                pairs = [(line["InstructionPointer"], line["resolved.InstructionPointer"])]
            for address, name in pairs:
                found = methods.find(line["pid"], int(address, 16), line["timestamp"])
                if found:
                    self.assertEqual(name, text("", found)[1:])
                    frames[name] += line["name"] == "CLRStack/CLRStackWalk"
                    samples[found[0]] += line["name"] == "PerfInfo/SampleProf"
                else:
                    self.assertNotIn("!", name or "")
        print(f"{frames.total()} frames, {samples.total()} samples in methods", file=sys.stderr)
        self.assertGreater(frames.total(), 20_000)
        self.assertEqual(json.loads(run("symbols", "--format", "json", trace))["methods"]["samples"], samples.total())
        rows = json.loads(run("cpu", "--format", "json", trace))["functions"]
        self.assertEqual({row["function"]: row["samples"] for row in rows if "!" in row["function"]}, +samples)


class Hostile(Managed):
    def test_hostile_methods_end(self):
        writer, buffers = self.writer(), []
        for i in range(3000):  # all over each other, and beyond the end of all addresses
            self.method(writer, LOAD, 100 + i, CODE + i, 0xFFFF_FFFF, "X" * (i % 50))
            if i % 150 == 149:
                buffers.append(writer.take(0))
        self.method(writer, LOAD, 4000, (1 << 64) - 8, 0xFFFF_FFFF, "End")
        for cut in range(0, 90, 7):
            self.method(writer, LOAD, 4001 + cut, CODE - 0x1000, 0x10, "Cut", cut=cut)
        self.sample(writer, 5000, CODE + 2999)
        self.sample(writer, 5001, CODE - 0x1001)
        self.sample(writer, 5002, (1 << 64) - 4)
        self.assertEqual(self.names(self.save(writer, [*buffers, writer.take(0)])), [
            "Space.Type." + "X" * (2999 % 50), None, None])


if __name__ == "__main__":
    unittest.main(argv=["trace_managed", *sys.argv[4:]])
