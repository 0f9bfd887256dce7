"""Several .ctrace files are one trace: what one file was cut into is the whole again.

usage: trace_ctrace_files.py COLDTRACE SOURCES [unittest arguments]
The files are cut here, by the format's document, buffer by buffer.
"""
import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
from cli.trace.etl_writer import EtlWriter
from checksums import crc32c
from strict import strict_json, strict_ndjson

COLDTRACE, SOURCES = (Path(a).resolve() for a in sys.argv[1:3])
# Offsets in the file header.
CRC, PROCESSORS, FREQUENCY, BOOT_TIME, SESSION, BOOT_ID, VERSION, POINTER = 16, 28, 32, 48, 56, 72, 80, 24


def run(*arguments):
    return subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True, timeout=120)


def with_crc(data, at):
    """The bytes with their CRC, which lies at an offset."""
    data = bytearray(data)
    struct.pack_into("<I", data, at, 0)
    struct.pack_into("<I", data, at, crc32c(data))
    return bytes(data)


def changed(header, offset, value):
    data = bytearray(header)
    data[offset:offset + len(value)] = value
    return with_crc(data, CRC)


def parts_of(data):
    """The header, and the buffers."""
    at = struct.unpack_from("<I", data, 12)[0]
    header, buffers = data[:at], []
    while at < len(data):
        size = 64 + struct.unpack_from("<I", data, at + 12)[0]
        buffers.append(data[at:at + size])
        at += size
    return header, buffers


def processor_of(buffer):
    return struct.unpack_from("<H", buffer, 16)[0]


def sequence_of(buffer):
    return struct.unpack_from("<I", buffer, 20)[0]


def is_end(buffer):
    return buffer[18] == 1


def pair_of(buffer):
    return struct.unpack_from("<QQ", buffer, 32)


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, header, buffers):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(header + b"".join(buffers))
        return path

    def made(self, scenario, *options, name=None):
        path = self.folder / (name or f"{scenario}.ctrace")
        self.assertEqual(run("synthesize", scenario, *options, "-o", path).returncode, 0)
        return path

    def cuts(self, path):
        """Ways to cut a file, each a list of lists of buffers."""
        header, buffers = parts_of(path.read_bytes())
        processors = sorted({processor_of(b) for b in buffers if not is_end(b)})
        chance = random.Random(5)
        third = len(buffers) // 3
        yield "by time", header, [buffers[:third], buffers[third:2 * third], buffers[2 * third:]]
        yield "by processor", header, [[b for b in buffers if processor_of(b) == p and not is_end(b)] for p in processors]
        scattered = [[], [], []]
        for buffer in buffers:
            scattered[chance.randrange(3)].append(buffer)
        yield "anyhow", header, scattered

    def events(self, *paths, status=0):
        """Events but for their places, and the other lines."""
        done = run("decode", *paths)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        lines = strict_ndjson(done.stdout)
        events = [{k: v for k, v in line.items() if k != "file"} for line in lines if line["type"] == "event"]
        return events, [line for line in lines if line["type"] != "event"], done.stdout

    @staticmethod
    def without_places(answer):
        """An answer of an analysis but for where its events lie and what was found."""
        if isinstance(answer, dict):
            return {k: Files.without_places(v) for k, v in answer.items()
                    if k not in ("findings", "tool") and k != "event" and not k.endswith("_event")
                    or isinstance(v, str)}
        return [Files.without_places(one) for one in answer] if isinstance(answer, list) else answer

    def answer(self, command, *paths):
        done = run(*command.split(), *paths, "--format", "json")
        self.assertIn(done.returncode, (0, 1), done.stderr.decode())
        return self.without_places(strict_json(done.stdout))

    def test_the_parts_of_a_trace_are_the_whole(self):
        schema = json_schema.of(json.loads((SOURCES / "docs/schema/trace.schema.json").read_text()))
        cut = 0
        for scenario in ("server", "boot", "disk-bursts"):
            whole = self.made(scenario, *(["--rounds", 400] if scenario == "server" else []))
            wanted, _, _ = self.events(whole)
            self.assertGreater(len(wanted), 100)
            counts = lambda info: [(p["guid"], p["events"]) for p in info["providers"]]
            kinds = counts(strict_json(run("info", whole, "--format", "json").stdout))
            commands = [] if scenario == "boot" else ["schedule", "graph wait-for", "io"] if scenario == "server" else ["io"]
            answers = {command: self.answer(command, whole) for command in commands}
            for how, header, pieces in self.cuts(whole):
                with self.subTest(scenario=scenario, how=how):
                    paths = [self.write(f"{how} {i}.ctrace", header, piece) for i, piece in enumerate(pieces)]
                    got, others, output = self.events(*paths)
                    self.assertEqual(len(got), len(wanted))
                    self.assertTrue(got == wanted, next((a, b) for a, b in zip(got, wanted) if a != b) if got != wanted else "")
                    # A cut loses nothing, and nobody says that it did.
                    if how != "by processor":  # there the mark of the end is left out
                        self.assertEqual([f["code"] for f in others[-1]["findings"]], [])
                    self.assertEqual([line["file"] for line in others[:-1]], [str(path) for path in paths])
                    self.assertEqual(sum(line["session"]["events"] for line in others[:-1]), len(wanted))
                    for line in others:
                        schema.validate(line)
                    for order in paths[::-1], [paths[1], paths[0], *paths[2:]]:
                        self.assertTrue(run("decode", *order).stdout == output)
                    self.assertTrue(run("decode", *paths, "--jobs", 3).stdout == output)
                    self.assertEqual(counts(strict_json(run("info", *paths, "--format", "json").stdout)), kinds)
                    for command, answer in answers.items():
                        self.assertEqual(self.answer(command, *paths), answer)
                    cut += 1
        self.assertEqual(cut, 9)

    def test_events_name_their_file_and_files_follow_each_other_in_file_order(self):
        whole = self.made("server", "--rounds", 400)
        header, buffers = parts_of(whole.read_bytes())
        paths = [self.write("b.ctrace", header, buffers[len(buffers) // 2:]),
                 self.write("a.ctrace", header, buffers[:len(buffers) // 2])]
        lines = strict_ndjson(run("decode", *paths, "--order", "file", "--header-fields").stdout)
        places = [(line["file"], line["header"]["buffer"], line["header"]["offset"]) for line in lines if line["type"] == "event"]
        self.assertEqual(places, sorted(places))
        counts = [sum(place[0] == str(path) for place in places) for path in paths]
        alone = [sum(line["type"] == "event" for line in strict_ndjson(run("decode", path).stdout)) for path in paths]
        self.assertEqual(counts, alone)
        self.assertTrue(all(counts))
        # A folder holds the same.
        self.write("set/a.ctrace", header, buffers[:len(buffers) // 2])
        self.write("set/b.ctrace", header, buffers[len(buffers) // 2:])
        self.assertEqual(self.events(self.folder / "set")[0], self.events(whole)[0])
        info = run("info", *paths).stdout.decode()
        for path, count in zip(paths, alone):
            self.assertIn(f"File          {path}, {count:,} events\n", info)

    def test_what_is_missing_between_files_is_told_of_the_file_behind_it(self):
        whole = self.made("server", "--rounds", 400)
        header, buffers = parts_of(whole.read_bytes())
        entries = [b for b in buffers if not is_end(b)]
        processor = max(set(map(processor_of, entries)), key=[processor_of(b) for b in entries].count)
        own = [b for b in entries if processor_of(b) == processor and len(b) > 64]
        lost = own[len(own) // 2]
        at = buffers.index(lost)
        first, second = self.write("a.ctrace", header, buffers[:at]), self.write("b.ctrace", header, buffers[at + 1:])
        done = run("decode", first, second)
        self.assertEqual(done.returncode, 1)
        lines = strict_ndjson(done.stdout)
        gaps = [line for line in lines if line["type"] == "gap"]
        self.assertEqual([(gap["file"], gap["cpu"], gap["buffers"]) for gap in gaps], [(str(second), processor, 1)])
        self.assertEqual([finding["code"] for finding in lines[0]["findings"]], [])
        self.assertIn(f"a buffer of processor {processor} missing before buffer {sequence_of(lost) + 1}",
                      [f["text"] for f in lines[1]["findings"] if f["code"] == "gap-buffers-missing"][0])
        self.assertIn(f"{second}: warning: gap-buffers-missing", done.stderr.decode())

    def test_what_is_not_of_one_run_of_one_machine_is_refused(self):
        first = self.made("server", name="a.ctrace")
        header, buffers = parts_of(self.made("server", "--seed", 2, name="other.ctrace").read_bytes())
        boot = struct.unpack_from("<Q", header, BOOT_TIME)[0]
        number, = struct.unpack_from("<I", header, PROCESSORS)
        rate, = struct.unpack_from("<Q", header, FREQUENCY)
        moved = []
        for buffer in buffers:
            cycles, time = pair_of(buffer)
            one = bytearray(buffer)
            if not is_end(buffer):
                struct.pack_into("<Q", one, 32, cycles + 100 * rate)
                at = 64
                while at + 16 <= len(one):
                    struct.pack_into("<Q", one, at, struct.unpack_from("<Q", one, at)[0] + 100 * rate)
                    at += 16 + (struct.unpack_from("<I", one, at + 12)[0] + 7) // 8 * 8
            moved.append(with_crc(one, 8))
        session = bytes([0xf0] * 16)  # behind the other
        first_events = self.events(first)[0]
        self.assertTrue(any(event["process"] for event in first_events))
        for what, offset, value, piece in [
                (f"number of processors {number} and {number + 1}", PROCESSORS, struct.pack("<I", number + 1), buffers),
                ("Windows ", VERSION, struct.pack("<I", 77), buffers),
                (f"frequency {rate} and {rate + 5}", FREQUENCY, struct.pack("<Q", rate + 5), buffers),
                ("boot time ", BOOT_TIME, struct.pack("<Q", boot + 10**9), buffers),
                ("the counter of processor 0 counts ", SESSION, session, moved)]:
            with self.subTest(what=what):
                other = changed(changed(header, SESSION, session), offset, value)
                second = self.write("b.ctrace", other, piece)
                done = run("decode", first, second)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn("are not from one boot of one machine: " + what, done.stderr.decode())
                for command in "schedule", "info", "export sqlite":
                    self.assertEqual(run(*command.split(), first, second, *(["-o", self.folder / "x"] if "sqlite" in command else [])).returncode, 2)
                forced = run("decode", first, second, "--force")
                self.assertEqual(forced.returncode, 1, forced.stderr.decode())
                self.assertEqual(forced.stdout, run("decode", second, first, "--force").stdout)
                lines = strict_ndjson(forced.stdout)
                events = [line for line in lines if line["type"] == "event"]
                self.assertIn("processors are numbered separately", {f["code"]: f["text"] for f in lines[-1]["findings"]}["trace-mismatch"])
                # Each event is what its file alone has, but for processor and names.
                names = [line["file"] for line in lines[:2]]
                for path, alone in (first, first_events), (second, self.events(second)[0]):
                    mine = [line for line in events if line["file"] == str(path)]
                    self.assertEqual([(e["time"], e["name"], e["fields"]) for e in mine],
                                     [(e["time"], e["name"], e["fields"]) for e in alone])
                    base = 0 if names[0] == str(path) else min(e["cpu"] for e in mine) - min(e["cpu"] for e in alone)
                    self.assertEqual([e["cpu"] - base for e in mine], [e["cpu"] for e in alone])
                cpus = [{e["cpu"] for e in events if e["file"] == name} for name in names]
                self.assertFalse(cpus[0] & cpus[1])
                self.assertEqual({e.get("process") for e in events}, {None})
                self.assertEqual([e["time"] for e in events], sorted(e["time"] for e in events))
                # What needs to know who is who is refused.
                for command in "schedule", "graph wait-for", "top", "priority", "export perfetto":
                    done = run(*command.split(), first, second, "--force", *(["-o", self.folder / "x"] if "export" in command else []))
                    self.assertEqual((done.returncode, done.stdout), (2, b""))
                    self.assertIn("files of several machines or boots", done.stderr.decode())
        # A time service moves the boot time by less than a second.
        near = changed(changed(header, SESSION, session), BOOT_TIME, struct.pack("<Q", boot + 9_000_000))
        self.assertEqual(run("decode", first, self.write("b.ctrace", near, buffers)).returncode, 0)

    def test_what_is_no_one_trace_is_refused_even_with_force(self):
        first = self.made("server", name="a.ctrace")
        header, buffers = parts_of(first.read_bytes())
        refused = lambda *paths: self.refused_text(*paths)
        # A part beside the whole would have its events twice.
        half = self.write("half.ctrace", header, buffers[:len(buffers) // 2])
        self.assertRegex(refused(first, half), r"both have buffer \d+ of processor \d+ of one session")
        # A copy is told and left out.
        copy = self.write("copy.ctrace", header, buffers)
        done = run("decode", first, copy)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"a copy of {first}, which is read", done.stderr.decode())
        self.assertEqual([l["type"] for l in strict_ndjson(done.stdout)].count("event"), len(self.events(first)[0]))
        # Other pointers, and other events with the same numbers.
        other = changed(header, POINTER, bytes([4]))
        self.assertIn("pointers of 8 and 4 bytes", refused(first, self.write("b.ctrace", other, buffers[:1])))
        text = header[384:].replace(b"ContextSwitch", b"ContextSwatch").replace(b"new_thread", b"old_throad")
        self.assertNotEqual(text, header[384:])
        other = with_crc(header[:384] + text, CRC)
        self.assertIn("declare their events differently", refused(first, self.write("b.ctrace", other, buffers[:1])))
        # Another kind of trace.
        writer = EtlWriter(2, clock=1)
        writer.process(0, 10, 100, "p.exe")
        etl = self.folder / "c.etl"
        etl.write_bytes(writer.build())
        for paths in ((first, etl), (etl, first), (etl, first, half)):
            self.assertIn(f"{etl} is an .etl file and {first} a .ctrace file: traces of two kinds are not read together",
                          refused(*paths))

    def refused_text(self, *paths):
        texts = []
        for options in [], ["--force"]:
            done = run("decode", *paths, *options)
            self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr.decode())
            texts.append(done.stderr.decode())
        self.assertEqual(texts[0], texts[1])
        return texts[0]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
