"""Each case of ../shared/facts/pdb-cases.json through the program.

usage: pdb_cases_test.py COLDTRACE CLANG SOURCES SHARED [unittest arguments]
All of it skips where the cases are not beside the checkout; those of real files where the environment's
COLDTRACE_PDBS names no folder with them.
"""
import base64
import json
import lzma
import os
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from cli.driver import hive_writer
import pdb_writer
from strict import strict_json

COLDTRACE, CLANG, SOURCES, SHARED = sys.argv[1:5]
try:
    CASES = json.loads((Path(SHARED) / "facts/pdb-cases.json").read_text())
except FileNotFoundError:
    CASES = None
SIMPLE = {"void": "Void", "char": "Char", "signed char": "Char", "unsigned char": "UChar", "short": "Int2B",
          "unsigned short": "Uint2B", "int": "Int4B", "unsigned int": "Uint4B", "long": "Int4B", "unsigned long": "Uint4B",
          "__int64": "Int8B", "unsigned __int64": "Uint8B", "float": "Float", "double": "Double", "bool": "Bool",
          "wchar_t": "Wchar", "nullptr_t": "nullptr_t", "char16_t": "Char16", "char32_t": "Char32", "char8_t": "Char8"}


def run(*arguments):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)


def types(path, *names):
    done = run("pe", "types", "--format", "json", "-q", path, *names)
    return strict_json(done.stdout), done


def symbols(path, kinds, *options):
    done = run("pe", "symbols", "--format", "json", "-q", "--kind", kinds, *options, path)
    return strict_json(done.stdout)["files"][0]


def arguments_of(text):
    """What stands between the brackets of ptr(...), split at the commas of this level."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "(<" and 1 or letter in ")>" and -1 or 0
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def as_dt(notation, pointer):
    """The notation of the cases as `pe types` writes types."""
    notation = notation.removesuffix(" restrict")  # which debuggers do not show
    for word in ("const", "volatile"):
        if notation.endswith(") " + word):
            return f"{word} {as_dt(notation[:-len(word) - 1], pointer)}"
        if notation.startswith(word + " "):
            return f"{word} {as_dt(notation[len(word) + 1:], pointer)}"
    if found := re.fullmatch(r"bits\((\d+)@(\d+) of (.*)\)", notation):
        return f"Pos {found[2]}, {found[1]} Bit{'' if found[1] == '1' else 's'}"
    if found := re.fullmatch(r"(ptr|ref|rref)\((.*)\)", notation):
        word = {"ptr": "Ptr", "ref": "Ref", "rref": "RvalueRef"}[found[1]]
        return f"{word}{pointer} {as_dt(found[2], pointer)}"
    if found := re.fullmatch(r"array\((.*)\)", notation):
        count, element = found[1].split(", ", 1)
        return f"[{count}] {as_dt(element, pointer)}"
    if found := re.fullmatch(r"fn \w+\((.*)\)", notation):
        returned, _, taken = found[1].partition("; ") if not found[1].startswith("ptr(fn") else (None, None, None)
        if returned is None:  # a function that returns one
            depth = 0
            at = next(i for i, letter in enumerate(found[1])
                      if (depth := depth + (letter == "(") - (letter == ")")) == 0 and letter == ";")
            returned, taken = found[1][:at], found[1][at + 2:]
        inside = ", ".join(as_dt(part, pointer) for part in arguments_of(taken)) if taken.strip() else ""
        return f"{as_dt(returned, pointer)} ({inside})"
    for word in ("struct ", "class ", "union ", "enum "):
        if notation.startswith(word):
            return notation[len(word):]
    return SIMPLE.get(notation, notation)


@unittest.skipUnless(CASES, "no ../shared/facts/pdb-cases.json beside the checkout")
class Case(case.Case):
    def pdb(self, name):
        known = next(one for one in CASES["pdbs"] if one["name"] == name)
        return self.write(f"{name}.pdb", lzma.decompress(base64.b64decode(known["pdb_xz_base64"])))


class Pdbs(Case):
    def test_identity_types_and_members(self):
        compared = 0
        for known in CASES["pdbs"]:
            with self.subTest(known["name"]):
                expect = known["expect"]
                answer, done = types(self.pdb(known["name"]))
                file = answer["file"]
                pointer = file["pointer_size"] * 8
                self.assertEqual((file["guid"].upper(), file["age"], file["records"]),
                                 (expect["guid"], expect["age"], expect["type_records"]))
                self.assertEqual(file["machine"], {"0x8664": "x64", "0x14c": "x86"}[expect["machine"]])
                mine = {entry["index"]: entry for entry in answer["types"] if entry["defined"]}
                theirs = [(name, one) for name, listed in expect["types"].items()
                          for one in (listed if isinstance(listed, list) else [listed])]
                self.assertEqual(len(mine), len(theirs))
                self.assertEqual(sorted(entry["name"] for entry in answer["types"] if not entry["defined"]),
                                 sorted(name.split(" ", 1)[-1] for name in expect["declared_only"]))
                for name, one in theirs:
                    entry = mine[int(one["index"], 16)]
                    compared += self.compare(name, one, entry, pointer)
        self.assertGreater(compared, 250)

    def compare(self, name, one, entry, pointer):
        self.assertEqual((entry["name"], entry["kind"]), (name, one["kind"]))
        if one["kind"] == "enum":
            self.assertEqual({row["name"]: row["value"] for row in entry["members"]}, one["constants"])
            self.assertEqual(entry["underlying"], as_dt(one["underlying"], pointer))
            return len(entry["members"])
        self.assertEqual(entry["size"], one["size"])
        self.assertEqual(entry["unique_name"], one.get("unique"))
        self.assertEqual(entry["nested"], one.get("nested", False))
        by_kind = lambda *kinds: [row for row in entry["members"] if row["kind"] in kinds]
        members = by_kind("member")
        self.assertEqual([(row["name"], row["offset"]) for row in members],
                         [(member[0], member[1]) for member in one.get("members", [])])
        for row, member in zip(members, one.get("members", [])):
            if "member-ptr" not in member[2] and "method" not in member[2]:
                self.assertEqual(row["type"], as_dt(member[2], pointer), (name, member))
            if len(member) > 3:
                self.assertEqual(row["access"], member[3])
        self.assertEqual([(row["type"], row["offset"], row["access"]) for row in by_kind("base")],
                         [(as_dt(base[0], pointer), base[1], base[2] if len(base) > 2 else "public")
                          for base in one.get("bases", [])])
        self.assertEqual([(row["name"], row["type"]) for row in by_kind("static")],
                         [(static[0], as_dt(static[1], pointer)) for static in one.get("statics", [])])
        overloaded = {method[0]: int(method[1].split()[0]) for method in one.get("methods", []) if "overloads" in method[1]}
        rows = by_kind("method")
        for method, count in overloaded.items():
            self.assertEqual(sum(row["name"] == method for row in rows), count)
        plain = [row for row in rows if row["name"] not in overloaded]
        singles = [method for method in one.get("methods", []) if method[0] not in overloaded]
        self.assertEqual([row["name"] for row in plain], [method[0] for method in singles])
        for row, method in zip(plain, singles):
            place = re.search(r"vtable offset (\d+)", " ".join(method[1:]))
            self.assertEqual(row["method"]["vtable_offset"], int(place[1]) if place else None)
            self.assertEqual(row["method"]["kind"] == "static", "static" in method[1])
        self.assertEqual(bool(by_kind("virtual_table")), "vtable_pointer" in one)
        return len(entry["members"])

    def test_symbols(self):
        compared = 0
        for known in CASES["pdbs"]:
            with self.subTest(known["name"]):
                expect, path = known["expect"]["symbols"], self.pdb(known["name"])
                pointer = 32 if known["expect"]["machine"] == "0x14c" else 64
                rows = symbols(path, "public,procedure,local_procedure,global,data,constant,udt")["symbols"]
                by_kind = lambda *kinds: [row for row in rows if row["kind"] in kinds]
                same = lambda mine, theirs: self.assertEqual(sorted(map(repr, mine)), sorted(map(repr, theirs)))
                same([(row["name"], row["rva"]) for row in by_kind("public")], [tuple(one) for one in expect["publics"]])
                same([(row["name"], row["rva"], row["type"], "extern" if row["kind"] == "global" else "static")
                      for row in by_kind("global", "data")],
                     [(one[0], one[1], as_dt(one[2], pointer), one[3]) for one in expect["globals"]])
                same([(row["name"], row["rva"], row["size"], "extern" if row["kind"] == "procedure" else "static")
                      for row in by_kind("procedure", "local_procedure")], [tuple(one) for one in expect["procs"]])
                same([(row["name"], row["type"]) for row in by_kind("udt") if row["module"] is None],  # not of a function
                     [(one[0], as_dt(one[1], pointer)) for one in expect["udts"]])
                same([(row["name"], row["value"]) for row in by_kind("constant")],
                     [tuple(one) for one in expect.get("constants", [])])
                compared += len(rows)
        self.assertGreater(compared, 150)

    def test_the_hash_of_types_is_not_trusted(self):
        """The rule of the case is that of the files; what the stream says changes nothing that is shown."""
        self.assertEqual(set(CASES["tpi_hash"]), {"rule", "verified", "names"})
        content = self.pdb("c-x86_64").read_bytes()
        at = content.index(struct.pack("<II", 20040203, 56))
        path = self.write("c-x86_64.pdb", content[:at + 20] + b"\xff\xff\xff\xff" + bytes(8) + b"\xff" * 24 + content[at + 56:])
        changed, _ = types(path)
        self.assertEqual(changed, types(self.pdb("c-x86_64"))[0])
        self.assertEqual(changed["findings"], [])

    def test_32_bit_properties(self):
        patch = CASES["structure2_patch"]
        before, content = types(self.pdb(patch["pdb"]))[0], self.pdb(patch["pdb"]).read_bytes()
        at, old, new = patch["file_offset"], bytes.fromhex(patch["from_hex"]), bytes.fromhex(patch["to_hex"])
        self.assertEqual(content[at:at + len(old)], old)
        path = self.write(f"{patch['pdb']}.pdb", content[:at] + new + content[at + len(old):])
        self.assertEqual(types(path)[0], before)

    def test_the_symbol_table_of_the_plain_one(self):
        known = CASES["isf_of_plain_x86_64"]["expect"]
        path, out = self.pdb("plain-x86_64"), self.here / "plain.json"
        self.assertEqual(run("pe", "isf", path, "-o", out).returncode, 0)
        mine = strict_json(out.read_bytes())
        for part in ("base_types", "user_types", "enums"):
            self.assertEqual({name: mine[part].get(name) for name in known[part]}, known[part], part)
        self.assertEqual({name: row["address"] for name, row in mine["symbols"].items()},
                         {name: row["address"] for name, row in known["symbols"].items()})
        self.assertEqual(mine["metadata"]["format"], known["metadata"]["format"])
        self.assertEqual(mine["metadata"]["windows"], known["metadata"]["windows"])


FIRST = 0x1100  # of a case's record, behind what it refers to


class Records(Case):
    def around(self, record, behind=(), sizes=()):
        """A PDB with the record at FIRST, and structures or empty lists at all numbers below."""
        fillers = []
        for index in range(0x1000, FIRST):
            kind = dict(sizes).get(index, 4)
            fillers.append(struct.pack("<H", 0x1203) if kind is None else
                           struct.pack("<HHHIIIH", 0x1505, 0, 0, 0, 0, 0, kind) + b"t%x\0" % index)
        return self.write("record.pdb", pdb_writer.pdb_of_types([*fillers, record, *behind]))

    def test_records(self):
        driven = 0
        for known in CASES["records"]:
            with self.subTest(known["id"]):
                record, expect = bytes.fromhex(known["hex"])[2:], known["expect"]
                kind, = struct.unpack_from("<H", record)
                if kind == 0x1203:
                    self.field_list(record, expect)
                elif "kind" in expect and "name" in expect:
                    self.definition(record, expect)
                else:
                    self.part(record, expect)
                driven += 1
        self.assertEqual(driven, 26)

    def definition(self, record, expect):
        lists = [(int(str(expect.get("fields") or "0"), 16), None)]
        path = self.around(record, sizes=lists)
        entry, = types(path, f"{FIRST:#x}")[0]["types"]
        self.assertEqual((entry["kind"], entry["name"]), (expect["kind"], expect["name"]))
        self.assertEqual(entry["defined"], not expect.get("forward", False))
        if "size" in expect and entry["defined"]:
            self.assertEqual(entry["size"], expect["size"])
        if "unique" in expect:
            self.assertEqual(entry["unique_name"], expect["unique"])
        self.assertEqual(entry["packed"], expect.get("packed", entry["packed"]))
        if "count" in expect:
            text = run("pe", "types", path, f"{FIRST:#x}").stdout.decode()
            self.assertIn(f"{expect['count']:,} element", text)
        if "underlying" in expect:
            self.assertEqual(entry["underlying"], "Int4B")

    def field_list(self, record, expect):
        is_enum = all(len(row) == 2 and isinstance(row[1], int) for row in expect)
        integer = 0x76 if is_enum and any(not -2 ** 31 <= row[1] < 2 ** 31 for row in expect) else 0x74
        structure = (struct.pack("<HHHII", 0x1507, len(expect), 0, integer, FIRST) + b"s\0" if is_enum else
                     struct.pack("<HHHIIIH", 0x1505, len(expect), 0, FIRST, 0, 0, 100) + b"s\0")
        continued = [(0x1000, None)] if ["INDEX", "0x1000"] in expect else []
        entry, = types(self.around(record, [structure], continued), "s")[0]["types"]
        rows = entry["members"]
        if is_enum:
            mask = lambda value: value & 2 ** 64 - 1
            self.assertEqual([(row["name"], mask(row["value"])) for row in rows], [(name, mask(value)) for name, value in expect])
            return
        words = {"MEMBER": "member", "ENUMERATE": "enumerator", "VFUNCTAB": "virtual_table", "ONEMETHOD": "method",
                 "BCLASS": "base", "VBCLASS": "virtual_base", "IVBCLASS": "virtual_base", "FRIENDCLS": "friend",
                 "VFUNCOFF": "virtual_table", "STMEMBER": "static", "METHOD": None, "NESTTYPE": "nested"}
        expect = [row for row in expect if row[0] != "INDEX"]
        self.assertEqual(len([row for row in rows if row["kind"] != "overloads"]) +
                         sum(row["kind"] == "overloads" for row in rows), len(expect))
        for row, wanted in zip(rows, expect):
            word = words.get(wanted[0])
            if word:
                self.assertEqual(row["kind"], word, wanted)
            if wanted[0] in ("MEMBER", "ENUMERATE"):
                self.assertEqual(row["name"], wanted[1])
            if wanted[0] == "MEMBER":
                self.assertEqual((row["type_index"], row["offset"]), (int(wanted[2], 16), wanted[3]))
            elif wanted[0] == "ENUMERATE":
                self.assertEqual(row["value"], wanted[2])
            elif wanted[0] == "ONEMETHOD":
                self.assertEqual((row["name"], row["type_index"]), (wanted[1], int(wanted[2], 16)))
                place = re.search(r"vtable offset (\d+)", wanted[3]) if len(wanted) > 3 else None
                self.assertEqual(row["method"]["vtable_offset"], int(place[1]) if place else None)
            if "private" in wanted:
                self.assertEqual(row["access"], "private")

    def part(self, record, expect):
        """A type that has no name: a member of it."""
        kind, = struct.unpack_from("<H", record)
        behind, last = [], FIRST
        if "args" in expect:
            behind, last = [struct.pack("<HIBBHI", 0x1008, 0x74, 0, 0, 2, FIRST)], FIRST + 1
        fields = struct.pack("<HHHIH", 0x1203, 0x150d, 3, last, 0) + b"m\0"
        structure = struct.pack("<HHHIIIH", 0x1505, 1, 0, last + 1, 0, 0, 100) + b"s\0"
        sizes = [(int(expect["element"], 16), expect["element_size"])] if "element_size" in expect else []
        entry, = types(self.around(record, [*behind, fields, structure], sizes), "s")[0]["types"]
        member, = entry["members"]
        first = member["layers"][0]
        if kind == 0x1205:
            self.assertEqual((first["position"], first["length"]), (expect["position"], expect["length"]))
            self.assertEqual(member["layers"][1]["name"], "Uint4B")
        elif "args" in expect:
            self.assertEqual(member["type"], f"Int4B (t{int(expect['args'][0], 16):x}, ...)")
        elif kind == 0x1503:
            self.assertEqual((first["size"], first["count"]), (expect["size"], expect["count"]))
        else:
            self.assertEqual(first["kind"], "pointer")
            self.assertEqual(first["size"], expect["size"])
            if "const" in expect:
                self.assertEqual(first["const"], expect["const"])
            if "of_class" in expect:
                self.assertIn(first["mode"], ("data_member", "method"))
            else:
                self.assertEqual(first["mode"], expect["mode"])
            if int(expect["to"], 16) >= 0x1000:
                self.assertEqual(member["layers"][1]["index"], int(expect["to"], 16))

    def test_hostile_records(self):
        driven = 0
        for known in CASES["hostile_records"]:
            with self.subTest(known["id"]):
                raw, expect = bytes.fromhex(known["hex"]), known["expect"]
                kind = struct.unpack_from("<H", raw, 2)[0] if len(raw) >= 4 else 0
                listed = kind == 0x1203
                fields = raw[2:] if listed else struct.pack("<HHHIH", 0x1203, 0x150d, 3, 0x1000, 0) + b"m\0"
                structure = struct.pack("<HHHIIIH", 0x1505, 1, 0, 0x1000 if listed else 0x1001, 0, 0, 8) + b"s\0"
                records = [fields, structure] if listed else [raw[2:], fields, structure]
                content = pdb_writer.pdb_of_types(records)
                if kind == 0:  # the record itself says how short it is
                    whole = pdb_writer.pdb_of_types([struct.pack("<HI", 0x1201, 0), fields, structure])
                    at = whole.index(struct.pack("<HHI", 6, 0x1201, 0))
                    content = whole[:at] + raw + whole[at + len(raw):]
                answer, done = types(self.write("hostile.pdb", content), "*")
                codes = {finding["code"] for finding in answer["findings"]}
                entries = {entry["name"]: entry for entry in answer["types"]}
                if kind == 0:
                    self.assertIn("pdb-types", codes)
                    self.assertEqual(entries, {})
                elif "cannot be read" in expect:
                    self.assertNotIn("r", entries)
                    self.assertNotIn("ab", entries)
                elif "goes on in itself" in known["id"]:
                    self.assertIn("pdb-type-unknown", codes)
                elif listed:
                    self.assertEqual((entries["s"]["members"], codes), ([], set()))
                else:
                    member, = entries["s"]["members"]
                    self.assertIsNone(member["layers"][0].get("count"))
                    if "size 16" not in expect and kind == 0x1001:
                        self.assertIsNone(member["size"])
                    if "size 16" in expect:
                        self.assertEqual(member["layers"][0]["size"], 16)
                self.assertIn(done.returncode, (0, 1))
                driven += 1
        self.assertEqual(driven, 8)

    def test_symbol_records(self):
        driven = 0
        for known in CASES["symbol_records"]:
            with self.subTest(known["id"]):
                raw, expect = bytes.fromhex(known["hex"]), known["expect"]
                if "without the length field" in expect.get("note", "") + known.get("note", ""):
                    raw = struct.pack("<H", len(raw)) + raw
                raw += bytes(-len(raw) % 4)
                raw = struct.pack("<H", len(raw) - 2) + raw[2:]
                self.one_symbol(known["id"], raw, expect)
                driven += 1
        self.assertEqual(driven, 9)

    def one_symbol(self, name, raw, expect):
        sections = [(0x1000 * number, 0x10000) for number in range(1, 5)]
        of_module = any(word in name for word in ("LPROC32", "ANNOTATION", "SEPCODE"))
        module = raw
        if "SEPCODE" in name:  # of a function that the module has
            body = struct.pack("<7IIHB", 0, 0, 0, 16, 0, 0, 0, expect["parent_offset"], expect["parent_section"], 0)
            module = pdb_writer.symbol(0x1110, body + b"whole\0") + raw
        path = self.write("symbol.pdb", pdb_writer.pdb_of_symbols(
            b"" if of_module else raw, modules=[(b"a.obj", module)] if of_module else [], sections=sections,
            publics=[0] if "PUB32" in name else []))
        kinds = "public,procedure,local_procedure,cold_part,global,data,udt,annotation"
        rows = symbols(path, kinds)["symbols"]
        if "PROCREF" in name:  # no address, and no public symbol
            self.assertEqual(rows, [])
            return
        row = next(row for row in rows if row["kind"] == ("cold_part" if "SEPCODE" in name else row["kind"]))
        for theirs, mine in (("name", "name"), ("section", "section"), ("offset", "offset"), ("flags", "flags"),
                             ("length", "size")):
            if theirs in expect:
                self.assertEqual(row[mine], expect[theirs], theirs)
        if "type" in expect:
            self.assertEqual(row["type_index"], int(expect["type"], 16))
        if "SEPCODE" in name:
            self.assertEqual(row["name"], "whole")
        if "ANNOTATION" in name:
            self.assertEqual((len(row["texts"]), row["texts"][0], row["texts"][-1]),
                             (expect["strings"], "TMF:", "PUBLIC_TMF:"))

    def test_moved_addresses(self):
        known = CASES["omap"]
        symbol = known["symbol"]
        places = [rva for rva, _ in known["lookups"]]
        records = b"".join(pdb_writer.symbol(0x110e, struct.pack("<IIH", 0, rva, 1) + b"at%x\0" % rva) for rva in places)
        starts = [at for at in range(0, len(records), len(records) // len(places))]
        path = self.write("moved.pdb", pdb_writer.pdb_of_symbols(
            records, original=[(0, 0x7fffffff)], moves=known["entries"], publics=starts))
        found = {row["offset"]: row["rva"] for row in symbols(path, "public")["symbols"]}
        self.assertEqual(found, {rva: answer for rva, answer in known["lookups"]})
        # The one that is published whole: its section's start follows from the rule.
        start, moved = 0x400000, known["symbol"]["rva"]
        record = pdb_writer.symbol(0x110e, struct.pack("<IIH", 2, symbol["offset"], symbol["section"]) + symbol["name"].encode() + b"\0")
        path = self.write("one.pdb", pdb_writer.pdb_of_symbols(
            record, original=[(0x1000 * number, 0x1000) for number in range(1, 12)] + [(start, 0x100000)],
            moves=[(0, 0), (start, moved - symbol["offset"])], publics=[0]))
        row, = symbols(path, "public")["symbols"]
        self.assertEqual((row["name"], row["rva"]), (symbol["name"], symbol["rva"]))


class Lists(Case):
    def test_built_in_lists_have_what_the_programs_ask_for(self):
        lists = {name: (Path(SOURCES) / f"syscall-map/member-lists/lists/{name}.members").read_text()
                 for name in ("kphdyn", "edrsandblast")}
        for field, path in CASES["member_lists"]["kphdyn_v16"]["fields"]:
            self.assertRegex(lists["kphdyn"], rf"(?m)\b{field} = .*{re.escape(path)}\b")
        names = CASES["member_lists"]["edrsandblast"]["NtoskrnlOffsets"][1:]
        for name in names:
            self.assertRegex(lists["edrsandblast"].replace(".", "_"), rf"\b{name}\b")

    def test_bit_fields_that_overlap_become_a_header(self):
        known = CASES["c_header_hard_case"]
        if not Path(CLANG).is_file():
            self.skipTest("no clang")
        records, entries = [], b""
        for number, (name, offset, notation) in enumerate(known["members"]):
            length, position = re.match(r"bits\((\d+)@(\d+)", notation).groups()
            records.append(struct.pack("<HIBB", 0x1205, 0x21, int(length), int(position)))
            entry = struct.pack("<HHIH", 0x150d, 3, 0x1000 + number, offset) + name.encode() + b"\0"
            entries += entry + bytes(0xf0 + left for left in range(-len(entry) % 4, 0, -1))
        records.append(struct.pack("<H", 0x1203) + entries)
        records.append(struct.pack("<HHHIIIH", 0x1505, 3, 0, 0x1000 + len(records) - 1, 0, 0, 2) + b"hard\0")
        header = self.write("hard.h", run("pe", "types", "--format", "c-header", self.write(
            "hard.pdb", pdb_writer.pdb_of_types(records)), "hard").stdout)
        source = self.write("use.c", b'#include "hard.h"\n_Static_assert(sizeof(struct hard) == 2, "size");\n'
                            b"int f(struct hard *h) { h->a = 1; h->bridge_retry = 1; return h->function_reset; }\n")
        done = subprocess.run([CLANG, "--target=x86_64-pc-windows-msvc", "-fsyntax-only", "-w", source], capture_output=True)
        self.assertEqual(done.returncode, 0, (done.stderr, header.read_text()))

    def test_logs_of_hives_by_their_hash(self):
        """The vectors hold for the writer of the tests, whose logs the program then reads or refuses."""
        known = CASES["hive_logs"]["marvin32"]
        for text, digest in known["vectors"].items():
            self.assertEqual(hive_writer.marvin32(text.encode()).hex(), digest)
        changed = hive_writer.log_entry(7, hive_writer.PAGE, [(0, bytes(hive_writer.PAGE))])
        self.assertEqual(hive_writer.marvin32(changed[40:]), changed[24:32])


class RealFiles(Case):
    def real(self):
        """PDBs of the folder by their GUID."""
        folder = os.environ.get("COLDTRACE_PDBS")
        if not folder:
            self.skipTest("COLDTRACE_PDBS names no folder with Microsoft's PDBs")
        found = {}
        for path in sorted(Path(folder).glob("*.pdb")):
            answer = strict_json(run("pe", "symbols", "--format", "json", "-q", path).stdout)
            found[answer["files"][0]["guid"].upper()] = path
        return found

    def test_members_and_counts(self):
        found, compared = self.real(), 0
        for known in CASES["real_files"]:
            path = found.get(known["guid"].upper())
            if not path:
                print(f"not there: {known['path']} of {known['repo']}", file=sys.stderr)
                continue
            with self.subTest(path.name):
                answer, _ = types(path)
                self.assertEqual((answer["file"]["age"], answer["file"]["records"]),
                                 (known["dbi_age"], known["type_records"]))
                rows = symbols(path, "public,procedure,local_procedure,annotation")["symbols"]
                count = lambda *kinds: sum(row["kind"] in kinds for row in rows)
                self.assertEqual(count("public"), known["publics"])
                self.assertEqual(count("procedure", "local_procedure"), known["procrefs"] + known["lprocrefs"])
                self.assertEqual(count("annotation"), known["annotationrefs"])
                paths = {}
                for entry in strict_json(run("pe", "types", "--format", "json", "-q", "--depth", "3", path,
                                             *{name.split(".")[0] for name in known.get("offsets", {})}).stdout)["types"]:
                    above = []
                    for member in entry["members"]:
                        del above[member["level"]:]
                        above.append(member["name"] or "")
                        bits = member.get("layers", [{}])[0] if member.get("layers") else {}
                        value = [member.get("offset"), bits["position"], bits["length"]] if bits.get("kind") == "bit_field" else member.get("offset")
                        paths.setdefault(".".join([entry["name"], *above]), value)
                for name, offset in known.get("offsets", {}).items():
                    self.assertEqual(paths.get(name), offset, name)
                    compared += 1
        self.assertGreater(compared, 0)

    def test_what_an_update_changed(self):
        found, known = self.real(), CASES["servicing_diff_ntdll"]
        old, new = found.get(known["old"]), found.get(known["new"])
        if not old or not new:
            self.skipTest("both builds of ntdll.pdb are not there")
        answer = strict_json(run("pe", "types", "--format", "json", "-q", "--compare", old, new).stdout)
        changed = {entry["name"]: entry for entry in answer["types"]}
        self.assertEqual(sorted(changed), sorted(name.removeprefix("enum ") for name in known["types_changed"]))
        index, = (row for row in changed["_KTHREAD"]["members"] if row["name"] == "ResourceIndex")
        self.assertEqual((index["before"]["offset"], index["after"]["offset"]), (649, 1032))
        self.assertIn("MitigationFlags3", [row["name"] for row in changed["_EPROCESS"]["members"]])
        names = [{row["name"] for row in symbols(path, "public")["symbols"]} for path in (old, new)]
        self.assertEqual(sorted(names[1] - names[0]), sorted(known["publics_added"]))
        self.assertEqual(len(names[0] - names[1]), known["publics_removed"])

    def test_what_volatility_asks_for_stays_in_a_symbol_table(self):
        """Of a kernel: each name that its PDB has, its symbol table has as well."""
        found = self.real()
        path = found.get(CASES["real_files"][0]["guid"].upper())
        if not path:
            self.skipTest("no kernel's PDB")
        out = self.here / "kernel.json"
        self.assertIn(run("pe", "isf", path, "-o", out).returncode, (0, 1))
        table = strict_json(out.read_bytes())
        public = {re.sub(r"^[_@]|@\d+$", "", row["name"]) for row in symbols(path, "public")["symbols"]}
        defined = {entry["name"] for entry in types(path)[0]["types"] if entry["defined"]}
        for name in CASES["member_lists"]["volatility3_symbols"]:
            self.assertEqual(name in table["symbols"], name in public, name)
        for name in CASES["member_lists"]["volatility3_types"]:
            self.assertEqual(name in table["user_types"], name in defined, name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
