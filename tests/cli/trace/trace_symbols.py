"""Functions of a trace are named by the images and PDBs that were loaded, and by no others.

usage: trace_symbols.py COLDTRACE SOURCES SHARED MAKE_SYMBOL_FILES IMAGES [arguments of unittest]
What an address is called is decided here, from the files' own bytes.
"""
import bisect
import csv
import io
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import unittest
import uuid
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
from cli.trace.analysis.answers import answer_of, runner
import case
from strict import strict_json, strict_ndjson

COLDTRACE, SOURCES, SHARED, MAKE, IMAGES = (Path(a).resolve() for a in sys.argv[1:6])
FARTHEST = 0x10000
FOLDER = "\\Device\\HarddiskVolume1\\app\\"
BASE = 0x1_8000_0000
DRIVER = 0xffff_f880_0100_0000
GUID = bytes(range(16))
OTHER_GUID = bytes(range(1, 17))
SCHEMAS = {"tree": "tree", "cpu": "cpu", "services": "services", "deadlocks": "deadlocks",
           "critical-path": "critical-path", "wait-for": "wait-graph"}


class Pe:
    """What an image says of itself, by Microsoft's "PE Format"."""

    def __init__(self, data):
        self.data = data
        at = struct.unpack_from("<I", data, 0x3c)[0]
        self.machine, sections, self.stamp = struct.unpack_from("<HHI", data, at + 4)
        optional_size = struct.unpack_from("<H", data, at + 20)[0]
        optional = at + 24
        wide = struct.unpack_from("<H", data, optional)[0] == 0x20b
        self.size, _, self.checksum = struct.unpack_from("<III", data, optional + 56)
        self.directories = [struct.unpack_from("<II", data, optional + (112 if wide else 96) + 8 * i)
                            for i in range(16)]
        self.sections = []
        for i in range(sections):
            head = optional + optional_size + 40 * i
            size, rva, raw_size, raw = struct.unpack_from("<IIII", data, head + 8)
            flags = struct.unpack_from("<I", data, head + 36)[0]
            self.sections.append((rva, size or raw_size, raw, raw_size, flags))

    def offset(self, rva):
        for start, size, raw, raw_size, _ in self.sections:
            if start <= rva < start + max(size, raw_size):
                return raw + rva - start
        raise ValueError(hex(rva))

    def words(self, rva, form, count):
        return [struct.unpack_from("<" + form, self.data, self.offset(rva) + i * struct.calcsize(form))[0]
                for i in range(count)]

    def text(self, rva):
        at = self.offset(rva)
        return self.data[at:self.data.index(b"\0", at)].decode()

    def code(self, rva):
        """The section with code that has the address."""
        for start, size, _, _, flags in self.sections:
            if start <= rva < start + size and flags & 0x2000_0020:
                return start, start + size
        return None

    def exports(self):
        """RVA of code and its first name."""
        start, size = self.directories[0]
        if not start:
            return {}
        base, functions, names = self.words(start + 16, "I", 3)
        addresses, name_table, ordinals = self.words(start + 28, "I", 3)
        found, named = {}, set()
        table = self.words(addresses, "I", functions)
        for name, ordinal in zip(self.words(name_table, "I", names), self.words(ordinals, "H", names)):
            named.add(ordinal)
            if not start <= table[ordinal] < start + size:
                found.setdefault(table[ordinal], []).append(self.text(name))
        for ordinal, rva in enumerate(table):
            if rva and ordinal not in named and not start <= rva < start + size:
                found.setdefault(rva, []).append(f"#{ordinal + base}")
        return {rva: min(names) for rva, names in found.items() if self.code(rva)}

    def functions(self):
        """Start and end by .pdata, with the pieces that follow each other joined."""
        start, size = self.directories[3]
        if self.machine != 0x8664 or not start:
            return []
        found = []
        for i in range(size // 12):
            begin, end, unwind = self.words(start + 12 * i, "I", 3)
            if begin == end:
                continue
            chained = unwind & 1 or self.data[self.offset(unwind)] >> 3 & 4
            if chained and found and found[-1][1] == begin:
                found[-1][1] = end
            else:
                found.append([begin, end])
        return found


class Names:
    """What addresses of an image are called."""

    def __init__(self, image, publics=()):
        self.image = image
        self.symbols = {rva: (name, "by_exports") for rva, name in image.exports().items()}
        by_pdb = {}
        for rva, name in publics:
            if image.code(rva):
                by_pdb[rva] = min(name, by_pdb.get(rva, name), key=str.encode)
        self.symbols |= {rva: (name, "by_pdb") for rva, name in by_pdb.items()}
        self.starts = sorted(self.symbols)
        self.functions = image.functions()

    def find(self, rva):
        """(name, offset, source), or nothing."""
        at = bisect.bisect_right(self.starts, rva) - 1
        code = self.image.code(rva)
        if at < 0 or not code:
            return None
        start = self.starts[at]
        if start < code[0] or rva - start > FARTHEST:
            return None
        before = [function for function in self.functions if function[0] <= rva]
        if before:
            begin, end = before[-1]
            if start < (begin if rva < end else end):
                return None
        name, source = self.symbols[start]
        return name, rva - start, source

    def text(self, file, rva):
        found = self.find(rva)
        if not found:
            return f"{file}+{rva:#x}"
        return f"{file}!{found[0]}" + (f"+{found[1]:#x}" if found[1] else "")


run = runner(COLDTRACE, "trace")


def codes(document):
    return {finding["code"]: finding for finding in document["findings"]}


class Case(case.Case):
    def make(self, kind, name, lines):
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "trace":
            lines = sorted(lines, key=lambda line: int(line.split()[1]))
        subprocess.run([MAKE, kind, path], input="\n".join(lines).encode(), check=True, timeout=60)
        return path

    def image(self, name="a.dll", more=(), stamp=0x5000_0001, checksum=0x1111):
        lines = [f"stamp {stamp}", f"checksum {checksum}", "export 1 0x1010 first",
                 "export 2 0x1100 second", "export 3 0x1100 same", "export 4 0x1200",
                 "export 5 0x4000 data", "forward 6 OTHER.Name elsewhere", *more]
        return self.make("image", name, lines)

    def load(self, path, time=1_000_100, pid=100, base=BASE, version=2, kind="load", name=None, **other):
        image = Pe(path.read_bytes())
        size, stamp, checksum = (other.get(key, getattr(image, key))
                                 for key in ("size", "stamp", "checksum"))
        return (f"{kind} {time} {version} {pid} {base} {size} {stamp} {checksum} "
                f"{FOLDER}{name or path.name}")

    def threads(self, rvas, pid=100, base=BASE, time=1_000_200, first=1000):
        return [f"process 1000050 {pid} app.exe"] * (time < 1_000_300) + [
            f"thread {time + i} {pid} {first + i * 4} {base + rva}" for i, rva in enumerate(rvas)]

    def answer(self, command, *arguments, status=0):
        document = answer_of(run(*command.split(), *arguments, "--format", "json"),
                             *((0, 1) if status is None else (status,)))
        schema = SCHEMAS[command.split()[-1]]
        json_schema.validate(document, json.loads(
            (SOURCES / f"docs/schema/trace-{schema}.schema.json").read_text()))
        return document

    def functions(self, document):
        return [thread["function"] for thread in document["threads"] if thread["start_address"]]

    def check_names(self, trace, options, names, rvas, file="a.dll"):
        """The function of each thread, and how many functions have names from where."""
        document = self.answer("tree", trace, *options)
        self.assertEqual(self.functions(document), [names.text(file, rva) for rva in rvas])
        found = {names.find(rva)[::2] for rva in rvas if names.find(rva)}
        symbols = document["symbols"]
        for source in ("by_pdb", "by_exports"):
            expected = sum(1 for _, of in found if of == source)
            self.assertEqual(symbols[source], expected)
            self.assertEqual(sum(row[source] for row in symbols["files"]), expected)
        return document


class Exports(Case):
    RVAS = [0x1000, 0x100f, 0x1010, 0x10ff, 0x1100, 0x1234, 0x3fff, 0x4000, 0x4010]

    def test_addresses_have_the_names_of_exports(self):
        image = self.image("files/a.dll")
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads(self.RVAS)])
        names = Names(Pe(image.read_bytes()))
        self.assertEqual(names.symbols, {0x1010: ("first", "by_exports"), 0x1100: ("same", "by_exports"),
                                         0x1200: ("#4", "by_exports")})
        renamed = self.here / "renamed.bin"
        shutil.copy(image, renamed)
        for options in (["--pe", image], ["--pe", renamed], ["--dir", self.here]):
            document = self.check_names(trace, options, names, self.RVAS)
            self.assertEqual(document["findings"], [])
            row, = document["symbols"]["files"]
            self.assertEqual(row["name"], FOLDER + "a.dll")
            self.assertEqual(row["image"], str(options[1] if options[0] == "--pe" else image))
            self.assertIsNone(row["pdb"])
        text = run("tree", trace, "--pe", image, "--max-threads", 100).stdout.decode()
        for rva in self.RVAS:
            self.assertIn(names.text("a.dll", rva) + "\n", text.replace("  ", "\n"))
        self.assertIn("Functions named by PDBs: 0, by exports: 3; images without symbols: 0\n", text)
        for form in ("dot", "svg"):
            self.assertIn(b"a.dll!first", run("tree", trace, "--pe", image, "--format", form).stdout)

    def test_without_files_nothing_changes(self):
        image = self.image()
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads(self.RVAS)])
        document = self.answer("tree", trace)
        self.assertIsNone(document["symbols"])
        self.assertEqual(self.functions(document), [f"a.dll+{rva:#x}" for rva in self.RVAS])
        self.assertNotIn(b"Functions named", run("tree", trace).stdout)

    def test_functions_end_where_pdata_says(self):
        more = ["function 0x1010 0x1040 0", "function 0x1040 0x1080 1", "function 0x10a0 0x10c0 0",
                "function 0x1100 0x1110 0"]
        image = self.image(more=more)
        rvas = list(range(0x1008, 0x1128, 8))
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads(rvas)])
        names = Names(Pe(image.read_bytes()))
        self.assertEqual(names.find(0x1078), ("first", 0x68, "by_exports"))
        self.assertEqual(names.find(0x1090), None)
        self.assertEqual(names.find(0x10a8), None)
        self.check_names(trace, ["--pe", image], names, rvas)

    def test_another_build_of_the_name_is_not_used(self):
        image = self.image("files/a.dll")
        for what in ({"stamp": 7}, {"checksum": 7}, {"size": 0x9000}):
            trace = self.make("trace", "a.etl", [self.load(image, **what), *self.threads(self.RVAS)])
            for options, expected in ((["--pe", image], {"symbols-unmatched", "symbols-other-build"}),
                                      (["--dir", image.parent], {"symbols-other-build"})):
                with self.subTest(what=what, options=options):
                    document = self.answer("tree", trace, *options, status=1)
                    self.assertEqual(self.functions(document),
                                     [f"a.dll+{rva:#x}" for rva in self.RVAS])
                    self.assertEqual(set(codes(document)), expected)
                    self.assertIn(str(image), codes(document)["symbols-other-build"]["text"])
                    self.assertEqual(document["symbols"], {
                        "by_pdb": 0, "by_exports": 0, "images_without": 1, "files": []})

    def test_of_many_builds_the_loaded_one_is_found(self):
        for stamp in range(20, 60):
            self.image(f"files/{stamp}/A.DLL", stamp=stamp)
        image = self.image("files/31/b/a.dll", stamp=100, more=["export 7 0x1300 third"])
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads([0x1304])])
        document = self.answer("tree", trace, "--dir", self.here / "files")
        self.assertEqual(self.functions(document), ["a.dll!third+0x4"])
        self.assertEqual(document["symbols"]["files"][0]["image"], str(image))

    def test_a_build_that_is_not_said_is_not_guessed(self):
        image = self.image()
        lines = [self.load(image, version=1), *self.threads(self.RVAS)]
        trace = self.make("trace", "a.etl", lines)
        document = self.answer("tree", trace, "--dir", self.here, status=1)
        self.assertEqual(self.functions(document), [f"a.dll+{rva:#x}" for rva in self.RVAS])
        self.assertEqual(set(codes(document)), {"symbols-unproved"})
        # A merged trace says it in an event of its own.
        for time in (1_000_100, 1_000_900):
            info = f"info {time} 100 {BASE} 0x5000 {0x5000_0001} a.dll"
            end = [self.load(image, version=1, kind="end", time=1_000_900)]
            trace = self.make("trace", "b.etl", [*lines, *end, info])
            self.check_names(trace, ["--dir", self.here], Names(Pe(image.read_bytes())), self.RVAS)
        wrong = f"info 1000100 100 {BASE} 0x5000 77 a.dll"
        trace = self.make("trace", "c.etl", [*lines, wrong])
        self.assertIn("symbols-other-build",
                      codes(self.answer("tree", trace, "--dir", self.here, status=1)))

    def test_a_file_that_is_given_twice_is_one(self):
        image = self.image()
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads(self.RVAS)])
        document = self.answer("tree", trace, "--pe", image, "--pe", image, "--dir", self.here)
        self.assertEqual(set(codes(document)), {"image-twice"})
        self.assertEqual(len(document["symbols"]["files"]), 1)

    def test_files_of_no_image_are_told(self):
        image, other = self.image(), self.image("b.dll", stamp=5)
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads([0x1010])])
        document = self.answer("tree", trace, "--pe", image, "--pe", other, status=1)
        self.assertEqual(self.functions(document), ["a.dll!first"])
        self.assertIn("b.dll", codes(document)["symbols-unmatched"]["text"])
        # One of an image whose code is not shown belongs there.
        trace = self.make("trace", "b.etl", [self.load(image), self.load(other, base=2 * BASE),
                                             *self.threads([0x1010])])
        self.assertEqual(self.answer("tree", trace, "--pe", image, "--pe", other)["findings"], [])

    def test_images_at_one_address_are_told_apart(self):
        first = self.image("1/a.dll", stamp=1)
        second = self.image("2/a.dll", stamp=2, more=["export 7 0x1020 later"])
        third = self.image("3/b.dll", stamp=3, more=["export 7 0x1018 third"])
        trace = self.make("trace", "a.etl", [
            self.load(first), self.load(second, pid=200), *self.threads([0x1028]),
            *self.threads([0x1028], pid=200, first=2000),
            self.load(first, kind="unload", time=1_000_400), *self.threads([0x1028], time=1_000_450, first=3000),
            self.load(third, time=1_000_500), *self.threads([0x1028], time=1_000_600, first=4000)])
        expected = ["a.dll!first+0x18", "a.dll!later+0x8", f"{BASE + 0x1028:#x}", "b.dll!third+0x10"]
        document = self.answer("tree", trace, "--dir", self.here)
        self.assertEqual([t["function"] or t["start_address"] for t in document["threads"]
                          if t["start_address"]], expected)
        self.assertEqual(len(document["symbols"]["files"]), 3)


class Lines(Case):
    """trace decode names what the analyses name, with module, function and source apart."""

    def decode(self, *arguments, status=0):
        result = run("decode", *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        lines = list(strict_ndjson(result.stdout))
        validator = json_schema.of(json.loads(
            (SOURCES / "docs/schema/trace.schema.json").read_text()))
        for line in lines:
            validator.validate(line)
        return lines

    def check_selection(self, trace, folder):
        """--where knows the names that lines show by files of symbols; without files there are others."""
        def names_of(line):
            frames = line["stack"] or []
            return [(frame.get("function"), frame.get("source")) for frame in frames if isinstance(frame, dict)]

        attached = self.decode(trace, "--dir", folder, "--stacks", "attach")
        plain = self.decode(trace, "--dir", folder)
        for lines, options, text, holds in (
                (attached, ["--stacks", "attach"], 'stack.function == "inner+0x10"',
                 lambda line: ("inner+0x10", "pdb") in names_of(line)),
                (attached, ["--stacks", "attach"], 'stack like "a.dll!inner*"',
                 lambda line: any((function or "").startswith("inner") for function, _ in names_of(line))),
                (attached, ["--stacks", "attach"], 'stack.source == "exports"',
                 lambda line: any(source == "exports" for _, source in names_of(line))),
                (plain, [], 'resolved.InstructionPointer like "*!first*"',
                 lambda line: "!first" in line.get("resolved", {}).get("InstructionPointer", "")),
                (plain, [], 'Win32StartAddr like "*a.dll!first"',
                 lambda line: line.get("resolved", {}).get("Win32StartAddr", "").endswith("a.dll!first")),
                (plain, [], 'Stack == "a.dll!inner+0x10"',
                 lambda line: "a.dll!inner+0x10" in line.get("resolved", {}).get("Stack", []))):
            with self.subTest(where=text):
                wanted = [line for line in lines if line["type"] == "event" and holds(line)]
                self.assertTrue(0 < len(wanted) < len(lines) - 2)
                found = self.decode(trace, "--dir", folder, *options, "--where", text)
                self.assertEqual([line for line in found if line["type"] == "event"], wanted)
                unnamed = run("decode", trace, *options, "--where", text).stdout
                self.assertNotIn(b'"type":"event"', unnamed)

    def test_samples_and_stacks_are_named(self):
        image = self.image("files/a.dll", more=[f"pdb {GUID.hex()} 3 a.pdb", "function 0x1100 0x1110 0"])
        pdb = self.make("pdb", "files/a.pdb", [f"pdb {GUID.hex()} 3", "public 0x1080 inner"])
        rvas = [0x1014, 0x1090, 0x1104, 0x1111, 0x3000]
        frames = " ".join(hex(BASE + rva) for rva in rvas)
        trace = self.make("trace", "a.etl", [
            self.load(image), "process 1000050 100 app.exe", f"thread 1000300 100 1000 {BASE + 0x1010}",
            f"sample 1000500 1000 {BASE + 0x1014}", f"stack 1000600 1000500 100 1000 {frames} 0x77"])
        exports = Names(Pe(image.read_bytes()))
        both = Names(Pe(image.read_bytes()), [(0x1080, "inner")])
        for options, names in ((["--pe", image], exports), (["--dir", image.parent], both), ([], None)):
            for jobs in ("1", "4"):
                lines = self.decode(trace, "--stacks", "attach", "--jobs", jobs, *options)
                sample = next(line for line in lines if line.get("name") == "PerfInfo/SampleProf")
                found = names.find(0x1014) if names else None
                self.assertEqual(sample["resolved"]["InstructionPointer"], FOLDER + (
                    f"a.dll!{found[0]}+{found[1]:#x}" if found else "a.dll+0x1014"))
                self.assertEqual((sample["process"], sample["tid"]), ("app.exe", 1000))
                expected = []
                for rva in rvas:
                    expected.append({"address": hex(BASE + rva), "module": "a.dll", "offset": hex(rva)})
                    if names and (found := names.find(rva)):
                        expected[-1] |= {"function": found[0] + (f"+{found[1]:#x}" if found[1] else ""),
                                         "source": found[2][3:]}
                self.assertEqual(sample["stack"], [*expected, {"address": "0x77"}])
                thread = next(line for line in lines if line.get("name") == "Thread/Start")
                self.assertEqual(thread["resolved"].get("Win32StartAddr"),
                                 FOLDER + ("a.dll!first" if names else "a.dll+0x1010"))
                if names:
                    named = {names.find(rva)[::2] for rva in [0x1010, *rvas] if names.find(rva)}
                    for source in ("by_pdb", "by_exports"):
                        self.assertEqual(lines[-1]["symbols"][source], sum(of == source for _, of in named))
                else:
                    self.assertNotIn("symbols", lines[-1])
        walk = next(line for line in self.decode(trace, "--dir", image.parent)
                    if line.get("name") == "StackWalk/Stack")
        self.assertEqual(walk["resolved"]["Stack"], [both.text("a.dll", rva) for rva in rvas] + [None])
        self.assertEqual(walk["stack"], None)
        self.check_selection(trace, image.parent)
        before = pdb.read_bytes()
        self.assertEqual(run("decode", trace, "--dir", image.parent, "-o", pdb).returncode, 2)
        self.assertEqual(pdb.read_bytes(), before)

    def test_files_of_no_image_are_told(self):
        trace = self.make("trace", "a.etl", [self.load(self.image()), *self.threads([0x1010])])
        lines = self.decode(trace, "--pe", self.image("b.dll", stamp=5), status=1)
        self.assertIn("symbols-unmatched", codes(lines[-1]))


class Pdbs(Case):
    PUBLICS = [(0x1010, "?first@@YAXXZ"), (0x1080, "inner"), (0x1500, "late")]
    RVAS = [0x1010, 0x1084, 0x1100, 0x1508]

    def pdb(self, name="a.pdb", guid=GUID, age=3):
        return self.make("pdb", name, [f"pdb {guid.hex()} {age}",
                                       *(f"public {rva} {name}" for rva, name in self.PUBLICS)])

    def asking(self, name="a.dll", guid=GUID, age=3):
        return self.image(name, more=[f"pdb {guid.hex()} {age} C:\\build\\a.pdb"])

    def test_public_symbols_go_before_exports(self):
        image, pdb = self.asking("files/a.dll"), self.pdb("files/deep/A.pdb")
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads(self.RVAS)])
        names = Names(Pe(image.read_bytes()), self.PUBLICS)
        for options in (["--pe", image, "--pdb", pdb], ["--dir", self.here],
                        ["--dir", image.parent, "--pdb", pdb]):
            document = self.check_names(trace, options, names, self.RVAS)
            self.assertEqual(document["findings"], [])
            self.assertEqual(document["symbols"]["files"][0]["pdb"], str(pdb))

    def test_the_trace_itself_asks_for_a_pdb(self):
        image, pdb = self.image("elsewhere/a.dll"), self.pdb("files/a.pdb")
        rsds = f"rsds 1000100 100 {BASE} {GUID.hex()} 3 a.pdb"
        trace = self.make("trace", "a.etl", [self.load(image), rsds, *self.threads(self.RVAS)])
        for options in (["--pdb", pdb], ["--dir", pdb.parent]):
            document = self.answer("tree", trace, *options)
            self.assertEqual(self.functions(document),
                             ["a.dll!?first@@YAXXZ", "a.dll!inner+0x4", "a.dll!inner+0x80", "a.dll!late+0x8"])
            self.assertEqual(document["symbols"]["by_pdb"], 3)
            self.assertIsNone(document["symbols"]["files"][0]["image"])

    def test_folders_of_pdbs_are_searched_by_name_and_identity(self):
        for age in range(1, 30):  # the store of a symbol server, with many builds
            folder = f"{uuid.UUID(bytes_le=GUID).hex.upper()}{age:X}"
            self.pdb(f"store/a.pdb/{folder}/a.pdb", age=age)
        (self.here / "store/a.pdb/junk").mkdir()
        (self.here / "store/a.pdb/junk/a.pdb").write_bytes(b"no PDB")
        stored = self.here / f"store/a.pdb/{uuid.UUID(bytes_le=GUID).hex.upper()}3/a.pdb"
        flat = self.pdb("flat/A.PDB")
        trace = self.make("trace", "a.etl", [
            self.load(self.image("elsewhere/a.dll")), *self.threads([0x1010]),
            f"rsds 1000100 100 {BASE} {GUID.hex()} 3 C:\\build\\a.pdb"])
        for folder, expected in ((self.here / "store", stored), (flat.parent, flat)):
            for option in ("--pdb", "--dir"):
                document = self.answer("tree", trace, option, folder)
                self.assertEqual(document["symbols"]["by_pdb"], 1)
                self.assertEqual(document["symbols"]["files"][0]["pdb"], str(expected))
                self.assertEqual(document["findings"], [])
        # Folders that have nothing for the trace are told.
        empty, other = self.here / "empty", self.here / "other"
        empty.mkdir()
        self.pdb("other/b.pdb")
        for options, folders in ((["--pdb", empty], [empty]), (["--dir", empty], [empty]),
                                 (["--dir", empty, "--pdb", flat], [empty]),
                                 (["--dir", empty, "--pdb", other], [empty, other])):
            found = codes(self.answer("tree", trace, *options, status=1))
            self.assertIn("no file in " + ", ".join(map(str, folders)) + " has the name of an image of the trace",
                          found["symbols-unmatched"]["text"])
        self.assertEqual(self.answer("tree", trace, "--dir", empty, "--pdb", flat.parent)["findings"], [])
        self.assertEqual(run("tree", trace, "--pdb", self.here / "none").returncode, 1)

    def test_an_image_that_asks_for_another_pdb_is_another_build(self):
        image = self.asking(guid=OTHER_GUID)
        rsds = f"rsds 1000100 100 {BASE} {GUID.hex()} 3 a.pdb"
        trace = self.make("trace", "a.etl", [self.load(image), rsds, *self.threads(self.RVAS)])
        document = self.answer("tree", trace, "--dir", self.here, status=1)
        self.assertEqual(self.functions(document), [f"a.dll+{rva:#x}" for rva in self.RVAS])
        self.assertEqual(set(codes(document)), {"symbols-other-build"})

    def test_a_pdb_of_another_build_is_not_used(self):
        image = self.asking("files/a.dll")
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads(self.RVAS)])
        names = Names(Pe(image.read_bytes()))
        expected = [names.text("a.dll", rva) for rva in self.RVAS]
        for number, (guid, age) in enumerate(((OTHER_GUID, 3), (GUID, 4))):
            pdb = self.pdb(f"pdbs{number}/a.pdb", guid, age)
            document = self.answer("tree", trace, "--pe", image, "--pdb", pdb, status=1)
            self.assertEqual(self.functions(document), expected)
            self.assertEqual(set(codes(document)), {"symbols-unmatched"})
            document = self.answer("tree", trace, "--pe", image, "--dir", pdb.parent, status=1)
            self.assertEqual(self.functions(document), expected)
            self.assertEqual(set(codes(document)), {"symbols-other-build"})
        # Nor one of a file that is not the loaded one.
        trace = self.make("trace", "b.etl", [self.load(image, stamp=9), *self.threads(self.RVAS)])
        document = self.answer("tree", trace, "--pe", image, "--pdb", self.pdb(), status=1)
        self.assertEqual(self.functions(document), [f"a.dll+{rva:#x}" for rva in self.RVAS])
        self.assertEqual(codes(document)["symbols-unmatched"]["count"], 2)


class Commands(Case):
    def system(self):
        """Two threads of one image that wake each other, samples in it, DPCs of a driver."""
        image = self.image("files/a.dll")
        driver = self.image("files/d.sys", stamp=0x600, more=["export 7 0x1400 Dpc"])
        lines = ["process 1000050 100 app.exe", self.load(image), self.load(driver, pid=0, base=DRIVER),
                 *self.threads([0x1010, 0x1100])[1:]]
        for i in range(20):
            time = 1_001_000 + 1000 * i
            lines += [f"switch {time} 1000 {1004 if i else 0}", f"sample {time + 100} 1000 {BASE + 0x1010 + i}",
                      f"dpc {time + 300} {DRIVER + 0x1400}", f"ready {time + 400} 1004",
                      f"switch {time + 500} 1004 1000", f"sample {time + 600} 1004 {BASE + 0x1100 + 2 * i}",
                      *[f"ready {time + 700} 1000"] * (i < 19)]
        return self.make("trace", "system.etl", lines), ["--dir", self.here / "files"]

    def test_samples_are_of_functions(self):
        trace, options = self.system()
        plain = self.answer("cpu", trace)
        self.assertEqual(len(plain["functions"]), 40)
        document = self.answer("cpu", trace, *options)
        self.assertEqual({row["function"]: row["samples"] for row in document["functions"]},
                         {"a.dll!first": 20, "a.dll!same": 20})
        self.assertEqual(sum(row["sampled"] for row in document["functions"]),
                         sum(row["sampled"] for row in plain["functions"]))
        self.assertEqual(document["modules"], plain["modules"])
        self.assertEqual(document["drivers"], plain["drivers"])
        self.assertEqual([row["function"] for row in document["routines"]], ["d.sys!Dpc"])
        self.assertEqual(document["symbols"]["by_exports"], 3)
        rows = csv.DictReader(io.StringIO(run("cpu", trace, *options, "--format", "csv").stdout.decode()))
        self.assertEqual({row["function"] for row in rows if row["of"] in ("function", "routine")},
                         {"a.dll!first", "a.dll!same", "d.sys!Dpc"})
        text = run("cpu", trace, *options).stdout.decode()
        self.assertIn("a.dll!first", text)
        self.assertIn("by exports: 3; ", text)
        paths = run("cpu", trace, *options, "--format", "collapsed").stdout.decode().splitlines()
        self.assertEqual(sorted(path.rsplit(";")[-1].split()[0] for path in paths),
                         ["a.dll!first", "a.dll!same"])

    def test_services_are_named(self):
        trace, options = self.system()
        document = self.answer("services", trace, *options)
        self.assertEqual([row["name"] for row in document["services"]], ["d.sys!Dpc"])
        self.assertEqual(document["symbols"]["by_exports"], 1)
        chosen = self.answer("services", trace, *options, "--service", "DPC d.sys!*")
        self.assertEqual(len(chosen["services"]), 1)
        text = run("services", trace, *options).stdout.decode()
        self.assertIn("DPC d.sys!Dpc", text)
        self.assertIn("by exports: 1; ", text)

    def test_threads_are_named_everywhere(self):
        trace, options = self.system()
        for command, more in (("graph wait-for", []), ("deadlocks", []),
                              ("critical-path", ["--thread", 1000])):
            with self.subTest(command=command):
                document = self.answer(command, trace, *more, *options)
                named = {thread["tid"]: thread["function"] for thread in document["threads"]
                         if thread["function"]}
                expected = {1000: "a.dll!first", 1004: "a.dll!same"}
                self.assertEqual(named, {tid: name for tid, name in expected.items() if tid in named})
                self.assertGreater(len(named), 0)
                self.assertEqual(document["symbols"]["by_exports"], len(named))
                self.assertIsNone(self.answer(command, trace, *more)["symbols"])
        self.assertIn(b"Functions named by PDBs: 0, by exports: ",
                      run("critical-path", trace, "--thread", 1000, *options).stdout)
        for form in ("dot", "svg"):
            drawing = run("graph", "wait-for", trace, *options, "--format", form).stdout
            self.assertIn(b"a.dll!first", drawing)

    def test_a_ctrace_has_no_images(self):
        trace = self.here / "a.ctrace"
        subprocess.run([COLDTRACE, "trace", "synthesize", "producer-consumer", "-o", trace], check=True)
        image = self.image()
        plain, document = self.answer("tree", trace), self.answer("tree", trace, "--pe", image, status=1)
        self.assertEqual(plain["threads"], document["threads"])
        self.assertEqual(set(codes(document)), {"symbols-unmatched"})


class WaitKinds(Case):
    KERNEL = ["KeWaitForSingleObject", "NtWaitForSingleObject", "NtReadFile", "NtUserGetMessage",
              "ExAcquireResourceSharedLite", "MmAccessFault", "NtWaitForAlertByThreadId", "NtWaitForKeyedEvent",
              "KeWaitForMultipleObjects", "ZwDelayExecution", "NotOne"]
    USER = ["NtWaitForSingleObject", "RtlEnterCriticalSection", "RtlAcquireSRWLockExclusive",
            "KiUserCallbackDispatcher", "RtlWaitOnAddress", "NtDelayExecution"]

    def trace(self, stacks, kernel="ntoskrnl.exe", user="NTDLL.DLL"):
        """Thread 1000 waits once for each stack, of names innermost first, 100 ticks longer each time."""
        images, addresses = {}, {}
        for file, base, pid, names in ((kernel, DRIVER, 0, self.KERNEL), (user, BASE, 100, self.USER)):
            exports = [f"export {i + 10} {0x1400 + 0x40 * i:#x} {name}" for i, name in enumerate(names)]
            images[file] = self.image(f"files/{file}", stamp=base & 0xFFFF_FFFF | 1, more=exports)
            for i, name in enumerate(names):
                addresses[file.lower().split(".")[0], name] = base + 0x1400 + 0x40 * i + 7
        lines = ["process 1000050 100 app.exe", self.load(images[kernel], pid=0, base=DRIVER),
                 self.load(images[user]), *self.threads([0x1010])[1:], "switch 1000900 1000 0"]
        time = 1_001_000
        for i, stack in enumerate(stacks):
            back = time + 1000 + 100 * i
            frames = [addresses[tuple(frame.split("!"))] for frame in stack]
            lines += [f"switch {time} 0 1000", f"ready {back - 10} 1000", f"switch {back} 1000 0"]
            for part in [f for f in frames if f >= DRIVER], [f for f in frames if f < DRIVER]:
                if part:
                    lines.append(f"stack {back + 20} {back} 100 1000 " + " ".join(map(str, part)))
            time = back + 1000
        lines.append(f"switch {time} 0 1000")
        return self.make("trace", "kinds.etl", lines), ["--dir", self.here / "files"]

    def kinds(self, trace, options):
        document = self.answer("graph wait-for", trace, *options)
        return {(one["kind"], one["function"]): [one["count"], one["duration"], one["longest"]]
                for one in document["kinds"]}

    def test_stacks_tell_what_kind_of_thing_was_waited_for(self):
        k = "ntoskrnl!"
        cases = [  # what the stack is, what it says
            ([k + "KeWaitForSingleObject", k + "NtWaitForSingleObject", "ntdll!NtWaitForSingleObject",
              "ntdll!RtlEnterCriticalSection"], ("critical_section", "NTDLL.DLL!RtlEnterCriticalSection")),
            ([k + "KeWaitForSingleObject", k + "NtWaitForSingleObject", "ntdll!NtWaitForSingleObject"],
             ("object", "NTDLL.DLL!NtWaitForSingleObject")),
            ([k + "KeWaitForSingleObject", k + "ExAcquireResourceSharedLite", k + "NtReadFile"],
             ("resource", "ntoskrnl.exe!ExAcquireResourceSharedLite")),
            ([k + "KeWaitForSingleObject", k + "NtReadFile"], ("file", "ntoskrnl.exe!NtReadFile")),
            ([k + "KeWaitForSingleObject", k + "MmAccessFault", "ntdll!RtlEnterCriticalSection"],
             ("page", "ntoskrnl.exe!MmAccessFault")),
            ([k + "NtWaitForAlertByThreadId", "ntdll!RtlAcquireSRWLockExclusive"],
             ("srw_lock", "NTDLL.DLL!RtlAcquireSRWLockExclusive")),
            ([k + "NtWaitForAlertByThreadId", "ntdll!RtlWaitOnAddress"],
             ("address", "NTDLL.DLL!RtlWaitOnAddress")),
            ([k + "KeWaitForMultipleObjects"], ("objects", "ntoskrnl.exe!KeWaitForMultipleObjects")),
            ([k + "KeWaitForSingleObject", k + "NtWaitForKeyedEvent"],
             ("keyed_event", "ntoskrnl.exe!NtWaitForKeyedEvent")),
            ([k + "ZwDelayExecution"], ("time", "ntoskrnl.exe!ZwDelayExecution")),
            ([k + "NotOne"], None), ([], None),
        ]
        trace, options = self.trace([stack for stack, _ in cases])
        want = {said: [1, 990 + 100 * i, 990 + 100 * i] for i, (_, said) in enumerate(cases) if said}
        self.assertEqual(self.kinds(trace, options), want)
        text = run("graph", "wait-for", trace, *options).stdout.decode()
        self.assertIn("thread 1000 of app.exe (100) waited 1x for a critical section, by its stack "
                      "(NTDLL.DLL!RtlEnterCriticalSection), 99.0 us, longest 99.0 us since +", text)
        dot = run("graph", "wait-for", trace, *options, "--format", "dot").stdout.decode()
        node, = re.findall(r'(n\d+) \[shape=diamond, label="an SRW lock"', dot)
        self.assertRegex(dot, rf'n\d+ -> {node} \[label="1x, 149\.0 us"')
        svg = run("graph", "wait-for", trace, *options, "--format", "svg").stdout
        self.assertIn(b"an executive resource", svg)
        # Without symbols nothing is known.
        self.assertEqual(self.answer("graph wait-for", trace)["kinds"], [])

    def test_functions_of_other_images_say_nothing(self):
        trace, options = self.trace([["driver!NtReadFile"], ["app!RtlEnterCriticalSection"]], "driver.sys", "app.dll")
        self.assertEqual(self.kinds(trace, options), {})

    def test_a_callback_is_a_border(self):
        """Who calls a window procedure back does not wait for what that waits for."""
        trace, options = self.trace([["ntdll!NtWaitForSingleObject", "ntdll!KiUserCallbackDispatcher",
                                      "ntdll!RtlEnterCriticalSection"]])
        self.assertEqual(self.kinds(trace, options), {("object", "NTDLL.DLL!NtWaitForSingleObject"): [1, 990, 990]})

    def test_waits_of_one_kind_are_one_edge(self):
        one, other = ["ntdll!NtDelayExecution"], ["ntoskrnl!ZwDelayExecution"]
        trace, options = self.trace([one, other, one])
        self.assertEqual(self.kinds(trace, options),
                         {("time", "NTDLL.DLL!NtDelayExecution"): [3, 990 + 1090 + 1190, 1190]})


class Hostile(Case):
    def test_files_that_are_no_images_are_told(self):
        image = self.image("files/a.dll")
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads([0x1010])])
        other = self.here / "other"
        other.mkdir()
        (other / "a.dll").write_bytes(b"MZ" + b"no image" * 100)
        document = self.answer("tree", trace, "--dir", other, status=1)
        self.assertEqual(set(codes(document)), {"symbols-unreadable"})
        for options in (["--pe", other / "a.dll"], ["--pdb", image], ["--pe", self.here / "none"]):
            done = run("tree", trace, *options)
            self.assertEqual(done.returncode, 1, options)
            self.assertIn(b"a.dll+0x1010", done.stdout)
            self.assertIn(str(options[1]).encode(), done.stderr)
        done = run("tree", trace, "--dir", self.here / "none")
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_pipes_in_a_folder_are_not_opened(self):
        image = self.image("elsewhere/a.dll")
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads([0x1010])])
        folder = self.here / "files"
        folder.mkdir()
        os.mkfifo(folder / "a.dll")
        document = self.answer("tree", trace, "--dir", folder, status=1)
        self.assertEqual(self.functions(document), ["a.dll+0x1010"])
        self.assertEqual(set(codes(document)), {"symbols-unmatched"})

    def test_damaged_files_end_in_an_answer(self):
        chooser = random.Random(4)
        image = self.image("files/a.dll", more=[f"pdb {GUID.hex()} 3 a.pdb", "function 0x1010 0x1040 0"])
        pdb = self.make("pdb", "files/a.pdb", [f"pdb {GUID.hex()} 3", "public 0x1080 inner"])
        rsds = f"rsds 1000100 100 {BASE} {GUID.hex()} 3 a.pdb"
        trace = self.make("trace", "a.etl", [self.load(image), rsds, *self.threads(range(0x1000, 0x1200, 16))])
        whole = {path: path.read_bytes() for path in (image, pdb)}
        used = 0
        for _ in range(60):
            for path, content in whole.items():
                damaged = bytearray(content)
                # Behind the headers, so that the file is still the one that was loaded.
                low = 0x400 if path == image else 0x200
                for _ in range(chooser.randrange(1, 40)):
                    damaged[chooser.randrange(low, len(damaged))] = chooser.choice((0, 0xff, chooser.randrange(256)))
                path.write_bytes(damaged[:chooser.choice((len(damaged), chooser.randrange(len(damaged))))])
            done = run("tree", trace, "--dir", image.parent, "--format", "json")
            self.assertIn(done.returncode, (0, 1), done.stderr)
            used += len(strict_json(done.stdout)["symbols"]["files"])
        self.assertGreater(used, 10)

    def test_no_output_replaces_a_file_of_a_folder(self):
        image = self.image("files/a.dll")
        trace = self.make("trace", "a.etl", [self.load(image), *self.threads([0x1010])])
        before = image.read_bytes()
        for options in (["--dir", image.parent], ["--pe", image]):
            done = run("tree", trace, *options, "-o", image)
            self.assertEqual((done.returncode, image.read_bytes()), (2, before))


class Real(Case):
    def test_samples_of_a_real_trace(self):
        """A PDB with the GUID and age that a merged trace has of the kernel, and names made up."""
        sample = SHARED / "samples/etl/pv_net.4.5.2.x64.etl"
        if not sample.exists():
            self.skipTest("the sample traces are not here")
        kernel, rsds, addresses = None, None, []
        for event in strict_ndjson(run("decode", sample).stdout):
            fields = event.get("fields") or {}
            if event.get("name") == "ImageID/RSDS" and fields["PdbFileName"] == "ntkrnlmp.pdb":
                rsds = fields
            elif event.get("name") == "Image/DCStart" and "ntoskrnl" in fields["FileName"]:
                kernel = int(fields["ImageBase"], 16), int(fields["ImageSize"], 16)
            elif event.get("name") == "PerfInfo/SampleProf":
                addresses.append(int(fields["InstructionPointer"], 16))
        base, size = kernel
        rvas = Counter(address - base for address in addresses if base <= address < base + size)
        self.assertGreater(len(rvas), 200)
        starts = sorted({rva & ~0xfff | 0x10 for rva in rvas if rva >= 0x1000 and rva >> 12 & 3})
        pdb = self.make("pdb", "x.pdb", [
            f"pdb {uuid.UUID(rsds['GuidSig']).bytes_le.hex()} {rsds['Age']}",
            *(f"public {start} Page{start:x}" for start in starts)])
        expected = Counter()
        for rva, count in rvas.items():
            at = bisect.bisect_right(starts, rva) - 1
            known = at >= 0 and rva - starts[at] <= FARTHEST
            expected[f"!Page{starts[at]:x}" if known else f"+{rva:#x}"] += count
        document = self.answer("cpu", sample, "--pdb", pdb, status=None)
        self.assertEqual({row["function"]: row["samples"] for row in document["functions"]
                          if (row["module"] or "").endswith("ntoskrnl.exe")},
                         {"ntoskrnl.exe" + name: count for name, count in expected.items()})
        self.assertNotIn("symbols-unmatched", codes(document))
        self.assertGreaterEqual(document["symbols"]["by_pdb"],
                                sum(1 for name in expected if name.startswith("!")))

    def check_image(self, path, publics=(), options=()):
        image = Pe(path.read_bytes())
        names = Names(image, publics)
        chooser = random.Random(path.name)
        near = [start + chooser.randrange(-40, 200) for start in chooser.choices(names.starts, k=400)]
        far = [chooser.randrange(image.size) for _ in range(200)]
        rvas = [rva for rva in near + far if 0 < rva < image.size]
        trace = self.make("trace", "real.etl", [self.load(path), *self.threads(rvas)])
        self.check_names(trace, ["--pe", path, *options], names, rvas, path.name)
        return len(rvas)

    def test_dlls_of_a_real_linker(self):
        paths = sorted(path for folder in ("/usr/lib/gcc/x86_64-w64-mingw32", "/usr/x86_64-w64-mingw32/lib",
                                           SOURCES / "build/wine")
                       for path in Path(folder).rglob("*.dll") if path.stat().st_size < 30 << 20)
        paths = [path for path in paths if Pe(path.read_bytes()).exports()][:12]
        if not paths:
            self.skipTest("no DLLs of mingw-w64 or Wine are here")
        checked = sum(self.check_image(path) for path in paths)
        print(f"{checked} addresses in {len(paths)} DLLs", file=sys.stderr)

    def test_private_names_of_a_real_compiler(self):
        """Functions that are in no table but the compiler's, against llvm-pdbutil."""
        tools = [shutil.which(f"{name}-14") or shutil.which(name)
                 for name in ("clang", "lld-link", "llvm-pdbutil")]
        if not all(tools):
            self.skipTest("clang, lld-link or llvm-pdbutil is not installed")
        clang, link, pdbutil = tools
        for part in "ab":
            (self.here / f"{part}.c").write_text("".join(
                f"__attribute__((noinline)) static int {part}{i}(int n) {{ volatile int s = n; "
                f"for (int k = 0; k < n; ++k) s += k * {i + 2}; return s; }}\n" for i in range(6)) +
                f"int use_{part}(int n) {{ return " + " + ".join(f"{part}{i}(n)" for i in range(6)) + "; }\n" +
                ("int _fltused; int use_b(int); int entry(void) { return use_a(3) + use_b(4); }\n" * (part == "a")))
            subprocess.run([clang, "--target=x86_64-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-c",
                            f"{part}.c", "-o", f"{part}.obj"], cwd=self.here, check=True, timeout=100)
        subprocess.run([link, "/dll", "/entry:entry", "/nodefaultlib", "/debug", "/export:entry", "/Brepro",
                        "/out:code.dll", "/pdb:code.pdb", "a.obj", "b.obj"], cwd=self.here, check=True, timeout=100)
        image, pdb = self.here / "code.dll", self.here / "code.pdb"
        text = subprocess.run([pdbutil, "dump", "--publics", "--symbols", pdb], capture_output=True,
                              check=True).stdout.decode()
        sections = Pe(image.read_bytes()).sections
        places = {name: (sections[int(section) - 1][0] + int(offset), int(size))
                  for name, section, offset, size in re.findall(
                      r"S_[GL]PROC32(?:_ID)? \[size = \d+\] `(.*)`\n.*\n?.*addr = (\d+):(\d+), code size = (\d+)",
                      text)}
        self.assertLessEqual({f"{part}{i}" for part in "ab" for i in range(6)}, set(places))
        rvas = [at + step for at, size in places.values() for step in (0, 1, size - 1)]
        trace = self.make("trace", "code.etl", [self.load(image), *self.threads(rvas)])
        document = self.answer("tree", trace, "--pe", image, "--pdb", pdb)
        self.assertEqual(self.functions(document), [
            f"code.dll!{name}" + (f"+{step:#x}" if step else "")
            for name, (_, size) in places.items() for step in (0, 1, size - 1)])
        self.assertEqual(document["symbols"]["by_pdb"], len(places))

    def test_pdbs_of_a_real_linker(self):
        pdbutil = shutil.which("llvm-pdbutil-14") or shutil.which("llvm-pdbutil")
        pdbs = sorted(IMAGES.glob("*/*.pdb"))
        if not pdbs or not pdbutil:
            self.skipTest("no linker made PDBs, or llvm-pdbutil is not installed")
        checked = 0
        for pdb in pdbs[:12]:
            image = next(path for path in pdb.parent.iterdir() if path.suffix in (".dll", ".exe", ".sys"))
            text = subprocess.run([pdbutil, "dump", "--publics", pdb], capture_output=True,
                                  check=True).stdout.decode("utf-8", "replace")
            sections = Pe(image.read_bytes()).sections
            publics = [(sections[int(section) - 1][0] + int(offset), name)
                       for name, section, offset in re.findall(
                           r"\| S_PUB32 \[size = \d+\] `(.*)`\n.*addr = (\d+):(\d+)", text)
                       if 0 < int(section) <= len(sections)]
            with self.subTest(pdb=pdb):
                checked += self.check_image(image, publics, ["--pdb", pdb])
        print(f"{checked} addresses in {len(pdbs[:12])} images with PDBs", file=sys.stderr)


if __name__ == "__main__":
    sys.argv[1:] = sys.argv[6:]
    unittest.main()
