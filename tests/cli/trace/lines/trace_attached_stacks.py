"""trace decode --stacks attach: each stack at its event, against a join of the lines that have stacks as events of
their own, which is written here.

usage: trace_attached_stacks.py COLDTRACE SOURCES SHARED [arguments of unittest]
"""
import csv
import io
import json
import struct
import subprocess
import sys
import unittest
import uuid
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
from case import Case
from cli.trace.etl_writer import EtlWriter
from strict import strict_ndjson

COLDTRACE, SOURCES, SHARED = (Path(a).resolve() for a in sys.argv[1:4])
RUNTIME = uuid.UUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
WALKS = ("StackWalk/Stack", "StackWalk/StackKeyKernel", "StackWalk/StackKeyUser")
KERNEL = 0xFFFF_F800_0000_0000
WAITING = 1 << 15


def run(*arguments):
    return subprocess.run([COLDTRACE, "trace", "decode", *arguments], capture_output=True, timeout=300)


def place(line):
    return line["header"]["buffer"], line["header"]["offset"]


def join(lines):
    """Stacks by the place of their event, and places of stacks: a stack of the kernel by time and thread, one of
    the .NET runtime by the order of its provider's events on a thread."""
    events, stacks, used = defaultdict(list), defaultdict(lambda: ([], [])), set()
    for line in lines:
        if line["name"] in WALKS or line["provider"]["name"] == "ImageID":
            continue
        switch = line["name"] == "Thread/CSwitch"
        events[line["timestamp"], line["fields"]["NewThreadId"] if switch else line["tid"]].append(line)
    last = {}
    for line in lines:
        fields, runtime = line["fields"], line["provider"]["guid"] == str(RUNTIME)
        if line["name"] in WALKS:
            at, frames = events.get((fields["EventTimeStamp"], fields["StackThread"])), \
                fields.get("Stack") or line["stack"]
            at = at[0] if at else None
        elif runtime and line["id"] == 82:
            at, frames = last.pop(line["tid"], None), fields["Stack"]
        else:
            if runtime:
                last[line["tid"]] = line
            continue
        if at and frames:
            stacks[place(at)][int(frames[0], 16) < KERNEL].extend(frames)
            used.add(place(line))
    return {where: kernel + user for where, (kernel, user) in stacks.items()}, used


class Made(Case):
    def make(self, writer):
        path = self.here / "a.etl"
        path.write_bytes(writer.build())
        return path

    def lines(self, *arguments, status=0):
        result = run("--stacks", "attach", "--header-fields", *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        lines = strict_ndjson(result.stdout)
        schema = json.loads((SOURCES / "docs/schema/trace.schema.json").read_text())
        validator = json_schema.of(schema)
        for line in lines[-40:]:
            validator.validate(line)
        return lines

    def stacks(self, lines):
        return [(line["name"], [frame["address"] for frame in line["stack"]]) for line in lines
                if line["type"] == "event" and line["stack"]]

    def sample(self, writer, time, tid=8, address=KERNEL + 1):
        writer.perfinfo(0, 0x0F2E, 2, time, struct.pack("<QIHH", address, tid, 1, 0x40))

    def writer(self):
        writer = EtlWriter(2)
        writer.process(0, 10, 100, "app.exe")
        for tid in (8, 12):
            writer.thread(0, 20 + tid, 100, tid)
        return writer

    def test_parts_of_the_kernel_and_of_users_are_one_stack(self):
        writer = self.writer()
        self.sample(writer, 100)
        self.sample(writer, 110, tid=12)
        writer.stack(0, 111, 100, 100, 8, [KERNEL + 1, KERNEL + 2])
        writer.stack(1, 150, 110, 100, 12, [0x4000, 0x5000])  # user frames first, and another processor
        writer.stack(0, 160, 110, 100, 12, [KERNEL + 3])
        writer.stack(0, 900, 100, 100, 8, [0x1000, 0x2000])
        lines = self.lines(self.make(writer))
        self.assertEqual(self.stacks(lines), [
            ("PerfInfo/SampleProf", [hex(KERNEL + 1), hex(KERNEL + 2), "0x1000", "0x2000"]),
            ("PerfInfo/SampleProf", [hex(KERNEL + 3), "0x4000", "0x5000"])])
        self.assertFalse([line for line in lines if line.get("name") in WALKS])
        self.assertEqual(lines[-1]["stacks"], {"attached": 4, "events": 2, "unattached": 0})
        self.assertEqual(lines[-1]["counts"]["events"], len(lines) - 2)

    def test_expressions_ask_for_attached_stacks(self):
        writer = self.writer()
        for time, tid in (100, 8), (110, 12), (120, 8):
            self.sample(writer, time, tid=tid)
        writer.stack(0, 111, 100, 100, 8, [KERNEL + 1, 0x1000])
        writer.stack(0, 112, 110, 100, 12, [KERNEL + 2, 0x2000])
        trace = self.make(writer)
        for where, wanted in (("stack == 0x1000", [100]), ("stack >= 0x1000 and tid == 12", [110]),
                              ("not exists stack and exists InstructionPointer", [120])):
            lines = self.lines(trace, "--where", where)
            self.assertEqual([line["timestamp"] - writer.first for line in lines if line["type"] == "event"], wanted)
        # As events of their own they have the stacks as fields.
        plain = run("--where", "fields.Stack == 0x1000", trace)
        self.assertEqual([json.loads(line)["name"] for line in plain.stdout.splitlines()[1:-1]], ["StackWalk/Stack"])

    def test_the_stack_of_a_switch_is_of_the_thread_that_goes_on(self):
        writer = self.writer()
        writer.switch(0, 100, old=8, new=12)
        self.sample(writer, 100, tid=8)
        writer.stack(0, 101, 100, 100, 12, [KERNEL + 5])
        self.assertEqual(self.stacks(self.lines(self.make(writer))), [("Thread/CSwitch", [hex(KERNEL + 5)])])

    def test_of_two_events_at_one_tick_each_has_a_part(self):
        writer = self.writer()
        for _ in range(2):
            self.sample(writer, 100)
        for frame in (1, 2, 3):
            writer.stack(0, 100 + frame, 100, 100, 8, [KERNEL + frame])
        lines = self.lines(self.make(writer))
        self.assertEqual(self.stacks(lines), [("PerfInfo/SampleProf", [hex(KERNEL + i)]) for i in (1, 2)])
        self.assertEqual(lines[-1]["stacks"], {"attached": 2, "events": 2, "unattached": 1})

    def test_a_stack_of_no_event_stays_one(self):
        writer = self.writer()
        self.sample(writer, 100)
        writer.stack(0, 101, 99, 100, 8, [KERNEL + 1])
        writer.stack(0, 102, 100, 100, 12, [KERNEL + 1])
        writer.stack(0, 103, 100, 100, 8, [])
        writer.perfinfo(0, 0x1820, 2, 104, b"\1" * 11)  # cut
        lines = self.lines(self.make(writer))
        self.assertEqual(sum(line.get("name") == "StackWalk/Stack" for line in lines), 4)
        self.assertEqual(lines[-1]["stacks"], {"attached": 0, "events": 0, "unattached": 4})
        self.assertEqual([finding["code"] for finding in lines[-1]["findings"]], ["stack-unattached"])

    def test_what_comes_too_late_is_an_event(self):
        for between in (WAITING - 2, WAITING + 2):
            writer, buffers = self.writer(), []
            self.sample(writer, 100)
            for i in range(between):
                if i % 1000 == 999:
                    buffers.append(writer.take(0))
                self.sample(writer, 200 + i, tid=12)
            writer.stack(0, 300 + between, 100, 100, 8, [KERNEL + 1])
            buffers.append(writer.take(0))
            path = self.here / "late.etl"
            path.write_bytes(writer.build(buffers))
            lines = self.lines(path)
            attached = between < WAITING
            self.assertEqual(lines[-1]["stacks"], {"attached": int(attached), "events": int(attached),
                                                   "unattached": int(not attached)})
            self.assertEqual(lines[-1]["counts"]["events"], between + 6 - attached)

    def test_selection_is_of_events_with_their_stacks(self):
        writer = self.writer()
        for i in range(10):
            self.sample(writer, 100 + 10 * i)
        for i in range(10):
            writer.stack(0, 500 + i, 100 + 10 * i, 100, 8, [KERNEL + i])
        path = self.make(writer)
        expected = [("PerfInfo/SampleProf", [hex(KERNEL + i)]) for i in range(10)]
        lines = self.lines(path, "--event", "PerfInfo/SampleProf")
        self.assertEqual(self.stacks(lines), expected)
        self.assertEqual(len(lines), 12)
        start = self.lines(path)[0]["session"]["start_time"][:-1]
        to = start[:-7] + f"{int(start[-7:]) + 140:07}Z"
        lines = self.lines(path, "--to", to, "--event", "PerfInfo/*")
        self.assertEqual(self.stacks(lines), expected[:5])
        self.assertEqual(lines[-1]["counts"]["events"], 5)
        self.assertEqual(self.stacks(self.lines(path, "--limit", "5"))[-1:], expected[0:1])
        rows = list(csv.DictReader(io.StringIO(
            run("--stacks", "attach", "--format", "csv", "--event", "PerfInfo/*", path).stdout.decode())))
        self.assertEqual([json.loads(row["details"])["stack"][0]["address"] for row in rows],
                         [hex(KERNEL + i) for i in range(10)])
        chosen = run("--stacks", "attach", "--fields", "stack", "--event", "PerfInfo/*", path).stdout.splitlines()
        self.assertEqual(json.loads(chosen[1])["stack"], [{"address": hex(KERNEL)}])
        self.assertEqual(run("--stacks", "attach", "--order", "file", path).returncode, 0)

    def runtime_stack(self, writer, time, *frames, count=None):
        payload = struct.pack(f"<HBBI{len(frames)}Q", 1, 0, 0, count or len(frames), *frames)
        writer.manifest(0, time, RUNTIME, 82, 0, payload)

    def test_stacks_of_the_runtime_are_of_the_event_before(self):
        writer = self.writer()
        for i in range(3):
            writer.manifest(0, 100 + 10 * i, RUNTIME, 1, 0, struct.pack("<II", i, 0))
            if i != 1:
                self.runtime_stack(writer, 105 + 10 * i, 0x1000 + i, 0x2000, count=2 + 1000 * i)
        self.runtime_stack(writer, 300, 0x9000)  # two in a row: of no event
        lines = self.lines(self.make(writer))
        self.assertEqual([frames for _, frames in self.stacks(lines)], [["0x1000", "0x2000"], ["0x1002", "0x2000"]])
        self.assertEqual(lines[-1]["stacks"], {"attached": 2, "events": 2, "unattached": 1})
        self.assertEqual(sum(line.get("id") == 82 for line in lines), 1)

    def test_hostile_stacks_end(self):
        writer, buffers = self.writer(), []
        for i in range(3000):
            self.sample(writer, 100)
            if i % 1000 == 999:
                buffers.append(writer.take(0))
        writer.stack(0, 100, 100, 100, 8, [KERNEL] * 3000)
        path = self.here / "a.etl"
        path.write_bytes(writer.build([*buffers, writer.take(0)]))
        lines = self.lines(path)
        self.assertEqual(lines[-1]["stacks"]["attached"], 1)
        self.assertEqual(len(self.stacks(lines)[0][1]), 3000)


class Samples(Case):
    MEMBERS = ("name,timestamp,tid,provider.guid,provider.name,id,header.buffer,header.offset,stack,EventTimeStamp,"
               "StackThread,NewThreadId,Stack")

    def read(self, trace, *options):
        """Lines as they would be whole, with these members, and the summary."""
        lines = []
        for line in strict_ndjson(run("--fields", self.MEMBERS, *options, trace).stdout):
            if line["type"] != "event":
                summary = line
                continue
            lines.append({name: line[name] for name in ("name", "timestamp", "tid", "id", "stack")} | {
                "provider": {"guid": line["provider.guid"], "name": line["provider.name"]},
                "header": {"buffer": line["header.buffer"], "offset": line["header.offset"]},
                "fields": {name: line[name] for name in self.MEMBERS.split(",")[-4:]}})
        return lines, summary

    def test_real_traces_are_joined_as_here(self):
        for name, attached in (("pv_net.4.5.2.x64.etl", 24_342), ("dp_vsgc.etl", 0)):
            trace = SHARED / "samples/etl" / name
            if not trace.exists():
                self.skipTest("the shared samples are not here")
            plain, _ = self.read(trace)
            joined, summary = self.read(trace, "--stacks", "attach")
            stacks, used = join(plain)
            self.assertEqual(summary["stacks"],
                             {"attached": attached, "events": len(stacks), "unattached": 0})
            self.assertEqual(len(used), attached)
            self.assertEqual([place(line) for line in joined],
                             [place(line) for line in plain if place(line) not in used])
            own = {place(line): line["stack"] for line in plain if line["stack"]}
            for line in joined:
                expected = own.get(place(line)) or stacks.get(place(line))
                found = [frame["address"] for frame in line["stack"]] if line["stack"] else None
                self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main(argv=["trace_attached_stacks", *sys.argv[4:]])
