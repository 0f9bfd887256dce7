"""PDB 2.00: what is written from the specification is read back, as a reader of its own reads it.

usage: pdb_2_test.py COLDTRACE SOURCES [unittest arguments]
COLDTRACE_PDBS_2 names a folder with PDBs of Visual C++ 4 to 6, which are compared with that reader too.
"""
import json
import os
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
import pdb_2_reader
import pdb_2_writer as writer
from strict import strict_json

COLDTRACE, SOURCES = sys.argv[1], Path(sys.argv[2])
FOLDER = os.environ.get("COLDTRACE_PDBS_2")
SCHEMAS = {command: json.loads((SOURCES / f"docs/schema/{name}.schema.json").read_text())
           for command, name in (("types", "pdb-types"), ("symbols", "pe-symbols"))}
STAMP, AGE = 0x560b9f0f, 3


def run(*arguments):
    return subprocess.run([COLDTRACE, "pe", *map(str, arguments)], capture_output=True, timeout=60)


def hooks(*arguments):
    done = subprocess.run([COLDTRACE, "hooks", *map(str, arguments), "--format", "json"], capture_output=True, timeout=60)
    return strict_json(done.stdout)


def sections_of(data, table, pe):
    """Size, RVA, size in the file and place there of each."""
    return [struct.unpack_from("<IIII", data, table + 40 * i + 8) for i in range(struct.unpack_from("<H", data, pe + 6)[0])]


def document(command, *arguments, status=0):
    done = run(command, "--format", "json", *arguments)
    if done.returncode != status:
        raise AssertionError((done.returncode, done.stderr.decode()))
    found = strict_json(done.stdout)
    json_schema.validate(found, SCHEMAS[command])
    return found


def codes(findings):
    return [finding["code"] for finding in findings]


def all_kinds(old):
    """Every record and every entry of a field list."""
    types = writer.Types(old)
    declared = types.aggregate("struct", b"node", 0, 0, 0, 0x80)
    pointer = types.pointer(declared)
    three, rest = types.bits(0x75, 3, 0), types.bits(0x75, 29, 3)
    letters = types.array(0x70, 40000)
    kinds = types.enum(b"color", 3, 0x74, types.fields(types.enumerator(b"red", -1), types.enumerator(b"green", 7),
                                                       types.enumerator(b"blue", 0x12345)))
    steady = types.modifier(0x22, 3)
    handler = types.pointer(types.procedure(0x03, types.arguments(0x74, pointer, 0), 3))
    later = types.fields(types.member(b"kind", kinds, 40016), types.member(b"steady", steady, 40020),
                         types.member(b"call", handler, 40024))
    types.aggregate("struct", b"node", 7, types.fields(
        types.member(b"next", pointer, 0), types.member(b"flag", three, 4), types.member(b"rest", rest, 4),
        types.member(b"text", letters, 8), types.more(later)), 40028)
    types.aggregate("union", b"either", 2, types.fields(types.member(b"word", 0x22, 0),
                                                        types.member(b"bytes", types.array(0x20, 4), 0)), 4)
    base = types.aggregate("class", b"base", 1, types.fields(types.virtual_table(0x403), types.member(b"a", 0x74, 4)), 8)
    forward = types.aggregate("class", b"derived", 0, 0, 0, 0x80)
    function = types.member_function(0x74, forward, types.pointer(forward), types.arguments(0x74), 1)
    several = types.methods((3, function, None), (0x13, function, 8))
    types.aggregate("class", b"derived", 10, types.fields(
        types.base(base, 0), types.virtual_base(base, pointer, 4, 1), types.static(b"shared", 0x74),
        types.overloads(b"run", 2, several), types.method(b"stop", function, 3),
        types.method(b"start", function, 0x13, 4), types.nested(b"inner", declared), types.friend(base),
        types.friend_function(b"helper", function), types.virtual_table_at(0x403, 12),
        types.member(b"b", base, 16)), 24, shape=types.shape(3))
    return types


class Types(case.Case):
    def made(self, old, name="a.pdb", **options):
        return self.write(name, writer.pdb_2(all_kinds(old), **options))

    def test_members_are_where_they_were_written(self):
        for old in (False, True):
            with self.subTest(old=old):
                path = self.made(old)
                found = document("types", path, "*")
                rows = {row["name"]: row for row in found["types"]}
                self.assertEqual({name: (row["kind"], row["size"]) for name, row in rows.items()},
                                 {"node": ("struct", 40028), "either": ("union", 4), "base": ("class", 8),
                                  "derived": ("class", 24), "color": ("enum", 4)})
                self.assertEqual([(member["name"], member["offset"]) for member in rows["node"]["members"]],
                                 [("next", 0), ("flag", 4), ("rest", 4), ("text", 8), ("kind", 40016),
                                  ("steady", 40020), ("call", 40024)])
                text = run("types", path, "*").stdout.decode()
                for line in ("flag             : Pos 0, 3 Bits", "rest             : Pos 3, 29 Bits",
                             "text             : [40000] Char", "next             : Ptr32 node",
                             "call             : Ptr32 Void (Int4B, Ptr32 node, ...)", "kind             : color"):
                    self.assertIn(line, text)
                self.assertEqual((found["file"]["guid"], found["file"]["signature"], found["file"]["age"],
                                  found["findings"]), (None, STAMP, AGE, []))

    def test_both_eras_say_the_same_of_everything(self):
        for arguments in (("--depth", "8"), ("--expand",)):
            old, new = (document("types", self.made(era), "*", *arguments) for era in (True, False))
            self.assertEqual((old["file"].pop("version"), new["file"].pop("version")), (19951122, 19961031))
            self.assertEqual(old, new)
        interim = document("types", self.made(False, version=19960307), "*")
        self.assertEqual(interim["types"], document("types", self.made(False), "*")["types"])
        for format_ in ("text", "csv", "c-header"):
            outputs = {run("types", self.made(era), "*", "--format", format_).stdout for era in (True, False)}
            self.assertEqual(len(outputs), 1, format_)
        outputs = [run("types", "--compare", self.made(True, "old.pdb"), self.made(False, "new.pdb"))]
        self.assertEqual(outputs[0].returncode, 0, outputs[0].stderr)
        self.assertIn(b"5 types are the same, 0 changed", outputs[0].stdout)

    def test_what_is_damaged_is_said(self):
        types = all_kinds(True)
        last = types.stream()
        path = self.write("a.pdb", writer.msf_2([b"", struct.pack("<III", 19950814, 1, 1),
                                                 last[:8] + struct.pack("<I", len(last) - 16 + 3) + last[12:] + b"\1\0\0"]))
        found = document("types", path, "node", status=1)
        self.assertEqual(codes(found["findings"]), ["pdb-types"])
        unknown = writer.Types(True)
        unknown.aggregate("struct", b"odd", 2, unknown.fields(unknown.member(b"a", 0x74, 0), b"\x99\x04" + bytes(8)), 8)
        done = run("types", self.write("a.pdb", writer.pdb_2(unknown)), "odd")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"+0x000 a", done.stdout)

    def test_cut_and_changed_files_end(self):
        whole = writer.pdb_2(all_kinds(True), *linked(True))
        for size in range(0, len(whole), 700):
            for command in ("types", "symbols"):
                self.assertIn(run(command, "-q", self.write("cut.pdb", whole[:size])).returncode, (1, 2), size)
        for at in range(44, 80):
            done = run("symbols", "-q", self.write("changed.pdb", whole[:at] + b"\xff" + whole[at + 1:]))
            self.assertIn(done.returncode, (0, 1, 2), at)


def linked(old):
    """Symbols of a program and of two modules, as pdb_2 takes them."""
    program = writer.Symbols(old)
    places = [program.public(b"_main", 1, 0x10), program.public(b"?f@@YAXXZ", 1, 0x40), program.public(b"_data", 2, 4)]
    program.reference(b"main", 1, 4)
    program.variable(b"shared", 0x22, 2, 8)
    program.user_type(b"NODE", 0x1000)
    program.constant(b"limit", 0x74, -5)
    one, two = writer.Symbols(old), writer.Symbols(old)
    one.procedure(b"main", 0x1003, 1, 0x10, 0x30)
    one.procedure(b"helper", 0x1003, 1, 0x80, 0x11, is_global=False)
    two.variable(b"local", 0x74, 2, 0x10, is_global=False)
    two.variable(b"each", 0x74, 3, 0, of_thread=True)
    return (program, ((b"one.obj", one), (b"two.obj", two)), ((1, 0x10, 0x70, 0), (1, 0x80, 0x20, 1)), places)


class Symbols(case.Case):
    kinds = "public,procedure,local_procedure,global,data,constant,udt"

    def rows(self, path, *options, status=0):
        found = document("symbols", path, "--kind", self.kinds, *options, status=status)
        only, = found["files"]
        return only

    def test_symbols_are_where_they_were_written(self):
        for old in (False, True):
            with self.subTest(old=old):
                path = self.write("a.pdb", writer.pdb_2(all_kinds(old), *linked(old)))
                found = self.rows(path)
                self.assertEqual((found["guid"], found["signature"], found["age"]), (None, STAMP, AGE))
                self.assertEqual(codes(found["findings"]), ["pdb-no-sections"])
                places = {(row["kind"], row["name"], row["section"], row["offset"]) for row in found["symbols"]}
                self.assertEqual(places, {
                    ("public", "_main", 1, 0x10), ("public", "?f@@YAXXZ", 1, 0x40), ("public", "_data", 2, 4),
                    ("global", "shared", 2, 8), ("udt", "NODE", None, None), ("constant", "limit", None, None),
                    ("data", "local", 2, 0x10), ("global", "each", 3, 0)})
                names = {row["name"]: row for row in found["symbols"]}
                self.assertEqual((names["limit"]["value"], names["NODE"]["type"], names["shared"]["size"],
                                  names["each"]["thread_local"], names["_main"]["module"], names["?f@@YAXXZ"]["module"],
                                  names["local"]["module"], names["_data"]["section"], names["_data"]["offset"]),
                                 (-5, "node", 4, True, "one.obj", "one.obj", "two.obj", 2, 4))
                modules = document("symbols", path, "--modules")["files"][0]["modules"]
                self.assertEqual([(row["name"], row["object"]) for row in modules],
                                 [("one.obj", "lib of one.obj"), ("two.obj", "lib of two.obj")])

    def test_both_eras_say_the_same(self):
        image = self.image()
        answers = []
        for old in (True, False):
            path = self.write("a.pdb", writer.pdb_2(all_kinds(old), *linked(old)))
            found = self.rows(path, "--pe", image)
            answers.append((found["symbols"], found["matches_image"]))
        self.assertEqual(answers[0], answers[1])
        path = self.write("a.pdb", writer.pdb_2(all_kinds(False), *linked(False), dbi=19960307))
        self.assertEqual(self.rows(path, "--pe", image)["symbols"], answers[1][0])

    def image(self, stamp=STAMP, age=AGE):
        """An image that asks for the PDB by NB10, in the place of its RSDS record."""
        data = bytearray((SOURCES / "fuzz/corpus/pe_image/x64").read_bytes())
        at = data.index(b"RSDS")
        data[at:at + 24] = struct.pack("<4sIII", b"NB10", 0, stamp, age) + b"old.pdb\0"
        return self.write("image.exe", bytes(data))

    def test_the_images_sections_place_symbols(self):
        path = self.write("a.pdb", writer.pdb_2(all_kinds(True), *linked(True)))
        image = self.image()
        data = image.read_bytes()
        pe = struct.unpack_from("<I", data, 60)[0]
        table = pe + 24 + struct.unpack_from("<H", data, pe + 20)[0]
        start = struct.unpack_from("<I", data, table + 12)[0]
        found = self.rows(path, "--pe", image)
        self.assertTrue(found["matches_image"])
        rows = {row["name"]: row for row in found["symbols"]}
        self.assertEqual(rows["_main"]["rva"], start + 0x10)
        self.assertEqual(rows["main"]["size"], 0x30)
        self.assertEqual(rows["helper"]["kind"], "local_procedure")
        for other in (self.image(stamp=STAMP + 1), self.image(age=AGE + 1)):
            found = self.rows(path, "--pe", other, status=1)
            self.assertEqual((found["matches_image"], found["symbols"][0]["rva"]), (False, None))
            finding, = (one for one in found["findings"] if one["code"] == "pdb-mismatch")
            self.assertIn(f"time stamp {STAMP:#010x} and age {AGE}", finding["text"])

    def test_the_images_sections_give_hook_commands_names(self):
        path = self.write("a.pdb", writer.pdb_2(all_kinds(False), *linked(False)))
        image = self.image()
        data = bytearray(image.read_bytes())
        pe = struct.unpack_from("<I", data, 60)[0]
        table = pe + 24 + struct.unpack_from("<H", data, pe + 20)[0]
        sections = sections_of(data, table, pe)
        code, second = sections[0][1], sections[1][1]
        # The image calls itself a kernel, in what is left of its headers.
        directory = struct.unpack_from("<I", data, pe + 24 + 112)[0]
        at, = (directory - address + offset for size, address, _, offset in sections
               if address <= directory < address + size)
        room = table + 40 * struct.unpack_from("<H", data, pe + 6)[0]
        self.assertEqual(data[room:room + 13], bytes(13))
        data[room:room + 13] = b"ntoskrnl.exe\0"
        struct.pack_into("<I", data, at + 12, room)
        image.write_bytes(data)
        located, = hooks("locate", "_main", image, "--pdb", path)["images"]
        self.assertEqual([row["rva"] for row in located["locations"]], [code + 0x10])
        members = self.write("a.members", b"function Main = _main\n_data\n")
        build, = hooks("table", "--kernel", image, "--pdb", path, "--members", members)["builds"]
        self.assertEqual({row["name"]: row["value"] for row in build["members"]},
                         {"Main": code + 0x10, "_data": second + 4})

    def test_types_of_the_compilers_pdb_have_no_text(self):
        entries = [writer.type_server(STAMP, AGE - 1, b"c:\\a\\a.pdb", b"c:\\a\\a.pdb"),
                   writer.type_server(0x55cd3900, 2, b"c:\\a\\vc50.pdb", b".\\main.obj"),
                   writer.type_server(0x55cd3900, 2, b"c:\\a\\vc50.pdb", b".\\other.obj")]
        servers = b"".join(entries)
        path = self.write("a.pdb", writer.pdb_2(all_kinds(False), *linked(False), servers=servers))
        found = self.rows(path)
        rows = {row["name"]: row for row in found["symbols"]}
        self.assertEqual((rows["NODE"]["type"], rows["NODE"]["type_index"], rows["shared"]["type"]),
                         (None, 0x1000, "Uint4B"))
        self.assertIn("pdb-types-elsewhere", codes(found["findings"]))
        for findings in (found["findings"], document("types", path)["findings"]):
            told, = (one["text"] for one in findings if one["code"] == "pdb-types-elsewhere")
            self.assertTrue(told.endswith(": c:\\a\\vc50.pdb (signature 0x55cd3900, age 2)"), told)
        whole = {sum(map(len, entries[:count])) - missing for count in (1, 2, 3)
                 for missing in range(len(entries[count - 1]) - len(entries[count - 1].rstrip(b"\0")))}  # of the padding
        for size in set(range(1, len(servers))) - whole:
            path = self.write("cut.pdb", writer.pdb_2(all_kinds(False), *linked(False), servers=servers[:size]))
            found = document("types", path, status=1)["findings"]
            self.assertEqual(codes(found), ["pdb-stream", "pdb-types-elsewhere"], size)
        many = b"".join(writer.type_server(i, 1, b"%d.pdb" % i, b"a.obj") for i in range(1, 12))
        path = self.write("a.pdb", writer.pdb_2(all_kinds(False), *linked(False), servers=many))
        told, = (one["text"] for one in document("types", path)["findings"])
        self.assertTrue(told.endswith(", 8.pdb (signature 0x00000008, age 1) and 3 more"), told)

    def test_volatility_finds_none(self):
        path = self.write("a.pdb", writer.pdb_2(all_kinds(True), *linked(True)))
        done = run("isf", path)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"no GUID", done.stderr)


if FOLDER:
    class Real(case.Case):
        def test_files_of_visual_c(self):
            members = symbols = 0
            paths = [path for path in sorted(Path(FOLDER).rglob("*.pdb"))
                     if path.read_bytes().startswith(b"Microsoft C/C++ program database 2.00")]
            for path in paths:
                with self.subTest(path=path):
                    other = pdb_2_reader.Pdb(path)
                    done = run("types", "--format", "json", path, "*")
                    self.assertIn(done.returncode, (0, 1))
                    found = strict_json(done.stdout)
                    mine = sorted((row["kind"], row["name"] or "", row["size"],
                                   [(member["name"], member["offset"]) for member in row["members"]
                                    if member["kind"] == "member"])
                                  for row in found["types"] if row["kind"] != "enum" and row["size"] is not None)
                    theirs = sorted((word, text.decode("utf-8", "replace"), size,
                                     [(member.decode("utf-8", "replace"), offset) for member, offset, _ in other.types.members(fields)])
                                    for word, text, size, fields in other.types.aggregates())
                    self.assertEqual(mine, theirs)
                    members += sum(len(row[3]) for row in mine)
                    if not other.dbi:
                        continue
                    done = run("symbols", "--format", "json", path)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    only, = strict_json(done.stdout)["files"]
                    self.assertEqual(sorted((row["name"], row["section"], row["offset"]) for row in only["symbols"]),
                                     sorted({(text.decode("utf-8", "replace"), section, offset)
                                             for text, section, offset in other.publics()}))
                    symbols += len(only["symbols"])
            print(f"{len(paths)} PDBs, {members} members and {symbols} public symbols are the same", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
