"""coldtrace pe isf: the rules of Volatility's format, and what llvm-pdbutil says of the same PDB.

usage: pe_isf_test.py COLDTRACE PDBUTIL CLANG LLD SOURCES [unittest arguments]
Volatility is not a package of Debian: the rules of its schema 6.2.0 and of its loader are written here
again. With its source tree in $VOL3 its own schema and loader are asked too.
"""
import bz2
import gzip
import json
import lzma
import os
import re
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from pe.types import pe_types_test as types
from pe.types.pe_types_test import LLD, Case, Pdbutil, run
from strict import strict_json
from version_resource import version_resource

SOURCE = """
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned long ulong;
enum sign { MINUS = -1, MANY = -40000, PLUS = 7 };
struct list { struct list *next; void *context; };
struct unseen;
union either { u8 bytes[8]; unsigned long long whole; struct { unsigned low, high; } parts; };
struct vast { u8 before[70000]; u16 after; };
struct inner { const volatile int number; unsigned a : 3, b : 5; enum sign sign; };
struct all { struct inner inner[2]; union either either; struct list list; long (*call)(int);
             struct unseen *unseen; u16 grid[2][3]; char c; long l; ulong ul; float f; double d;
             unsigned short *wide; struct { int x; } place; union { int first; float second; }; };
struct all g_all; struct vast g_vast; int g_last = 7;
int __stdcall decorated(int x) { return x; }
int entry(void) { return decorated(g_last); }
"""

VERSION = ("major", "minor", "revision", "build")
BASE = {"size": int, "signed": bool, "kind": str, "endian": str}
BASE_KINDS = {"void", "int", "float", "char", "bool"}


class Rules:
    """What schema 6.2.0 takes, and what the loader needs besides."""

    def __init__(self, table):
        self.table = table
        self.undefined = set()
        self.wrong = []
        self.check(table.keys() == {"metadata", "base_types", "user_types", "enums", "symbols"},
                   "top")
        metadata = table["metadata"]
        self.check(metadata.keys() == {"format", "producer", "windows"}, "metadata")
        self.check(metadata["format"] == "6.2.0", "format")
        pdb = metadata["windows"]["pdb"]
        image = metadata["windows"].get("pe", dict.fromkeys(VERSION, 0))
        self.check(metadata["windows"].keys() <= {"pdb", "pe"}, "windows")
        self.check({key: type(value) for key, value in image.items()} ==
                   dict.fromkeys(VERSION, int), "pe")
        self.check({key: type(value) for key, value in pdb.items()} ==
                   {"GUID": str, "age": int, "database": str, "machine_type": int}, "pdb")
        self.check(re.fullmatch("[0-9A-F]{32}", pdb["GUID"]), "GUID")
        for name, base in table["base_types"].items():
            self.check({key: type(value) for key, value in base.items()} == BASE, name)
            self.check(base["kind"] in BASE_KINDS and base["endian"] == "little", name)
        for name, user in table["user_types"].items():
            self.check(user.keys() == {"kind", "size", "fields"}, name)
            self.check(user["kind"] in ("struct", "union", "class"), name)
            for field, content in user["fields"].items():
                self.check(content.keys() == {"offset", "type"}, f"{name}.{field}")
                self.type(content["type"], f"{name}.{field}")
        for name, enum in table["enums"].items():
            self.check(enum.keys() == {"size", "base", "constants"}, name)
            self.check(enum["base"] in table["base_types"], name)
            self.check(all(type(value) is int for value in enum["constants"].values()), name)
        for name, symbol in table["symbols"].items():
            self.check(symbol.keys() <= {"address", "linkage_name"} and "address" in symbol, name)

    def check(self, holds, where):
        if not holds:
            self.wrong.append(where)

    def type(self, type_, where):
        kind = type_.get("kind")
        keys = {"base": {"name"}, "struct": {"name"}, "union": {"name"}, "class": {"name"},
                "enum": {"name"}, "function": set(), "pointer": {"subtype"},
                "array": {"count", "subtype"},
                "bitfield": {"bit_position", "bit_length", "type"}}.get(kind)
        self.check(keys is not None and type_.keys() - {"base"} == keys | {"kind"}, where)
        if kind == "base":
            self.check(type_["name"] in self.table["base_types"], where)
            self.check(not type_["name"].startswith("pointer"), where)  # needs a subtype
        if kind == "pointer":
            self.check(type_.get("base", "pointer") in self.table["base_types"], where)
        if kind in ("struct", "union", "class") and type_["name"] not in self.table["user_types"]:
            self.undefined.add(type_["name"])
        if kind == "bitfield":
            self.check(type_["type"]["kind"] in ("base", "enum"), where)
        for inner in ("subtype", "type"):
            if inner in type_:
                self.type(type_[inner], where)


class Isf(Case):
    def test_volatility_is_asked(self):
        if "VOL3" not in os.environ:
            self.skipTest("VOL3 names no source tree of Volatility 3, whose schema and loader read tables else")

    def table(self, path, *options):
        done = run("pe", "isf", *options, path)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        table = strict_json(done.stdout)
        rules = Rules(table)
        self.assertEqual(rules.wrong, [])
        if "VOL3" in os.environ:
            schema = Path(os.environ["VOL3"]) / "volatility3/schemas/schema-6.2.0.json"
            jsonschema.validate(table, json.loads(schema.read_text()))
            self.load(table)
        return table, rules

    def load(self, table, user_types=None):
        """What Volatility's own loader makes of it."""
        sys.path.insert(0, os.environ["VOL3"])
        from volatility3.framework import contexts
        from volatility3.framework.symbols import intermed
        path = self.write("loaded.json", json.dumps(table).encode())
        context = contexts.Context()
        loaded = intermed.IntermediateSymbolTable(context, "isf", "nt", path.as_uri(), validate=False)
        context.symbol_space.append(loaded)
        for name, user in (user_types or table["user_types"]).items():
            type_ = context.symbol_space.get_type(f"nt!{name}")
            self.assertEqual(type_.size, user["size"])
            for field, content in user["fields"].items():
                self.assertEqual(type_.relative_child_offset(field), content["offset"])
        for name, symbol in table["symbols"].items():
            self.assertEqual(loaded.get_symbol(name).address, symbol["address"])
        for name, enum in table["enums"].items():
            self.assertEqual(loaded.get_enumeration(name).size, enum["size"])

    def size_of(self, table, type_):
        kind = type_["kind"]
        if kind == "base":
            return table["base_types"][type_["name"]]["size"]
        if kind == "pointer":
            return table["base_types"][type_.get("base", "pointer")]["size"]
        if kind == "array":
            return type_["count"] * self.size_of(table, type_["subtype"])
        if kind == "bitfield":
            return self.size_of(table, type_["type"])
        return table["enums" if kind == "enum" else "user_types"][type_["name"]]["size"]

    def test_members_and_symbols_are_those_of_llvm_pdbutil(self):
        members = 0
        for target, pointer in types.TARGETS.items():
            with self.subTest(target=target):
                path = self.pdb(target, source=SOURCE)
                table, rules = self.table(path)
                self.assertEqual(rules.undefined, {"unseen"})
                self.assertEqual(table["base_types"]["pointer"]["size"], pointer)
                theirs = Pdbutil(path)
                for index, (kind, name, size, rows) in theirs.types.items():
                    if kind == "ENUM" or "<" in name:
                        continue
                    mine = table["user_types"][name]
                    self.assertEqual((mine["kind"], mine["size"]), (types.NAMES[kind], size))
                    rows = {row[1]: row for row in rows if row[0] == "LF_MEMBER"}
                    self.assertEqual({field: content["offset"]
                                      for field, content in mine["fields"].items()},
                                     {field: row[2] for field, row in rows.items()})
                    for field, content in mine["fields"].items():
                        bits = theirs.bits(rows[field][3])
                        self.assertEqual((content["type"].get("bit_position"),
                                          content["type"].get("bit_length")), bits)
                        members += 1
                self.symbols(path, table)
        self.assertGreater(members, 70)

    def symbols(self, path, table):
        text = subprocess.run([types.PDBUTIL, "dump", "--publics", "--section-headers", path],
                              capture_output=True, text=True, check=True, timeout=60).stdout
        bases = [int(base, 16) for base in
                 re.findall(r"^ *([0-9A-F]+) virtual address$", text.partition("Original")[0], re.M)]
        theirs = {name: bases[int(section) - 1] + int(offset) for name, section, offset in
                  re.findall(r"`(.*)`\n.*addr = (\d+):(\d+)", text) if int(section) <= len(bases)}
        self.assertGreater(len(theirs), 2)
        self.assertEqual({content.get("linkage_name", name): content["address"]
                          for name, content in table["symbols"].items()}, theirs)
        # What plugins ask for is without decoration, whatever the machine.
        for name in ("g_all", "g_last", "decorated", "entry"):
            self.assertIn(name, table["symbols"])

    def test_every_size_follows_from_the_parts(self):
        for target, language in (("x86_64", "c"), ("i686", "c"), ("x86_64", "cpp")):
            table, _ = self.table(self.pdb(target, language, SOURCE if language == "c" else None))
            for name, user in table["user_types"].items():
                for field, content in user["fields"].items():
                    self.assertLessEqual(content["offset"] + self.size_of(table, content["type"]),
                                         user["size"], f"{name}.{field}")

    def test_types_have_the_names_that_plugins_know(self):
        table, _ = self.table(self.pdb("x86_64", source=SOURCE))
        fields = table["user_types"]["all"]["fields"]

        def base(name):
            return {"kind": "base", "name": name}
        for field, type_ in {
                "inner": {"kind": "array", "count": 2,
                          "subtype": {"kind": "struct", "name": "inner"}},
                "either": {"kind": "union", "name": "either"},
                "call": {"kind": "pointer", "subtype": {"kind": "function"}},
                "unseen": {"kind": "pointer", "subtype": {"kind": "struct", "name": "unseen"}},
                "grid": {"kind": "array", "count": 2, "subtype": {
                    "kind": "array", "count": 3, "subtype": base("unsigned short")}},
                "c": base("char"), "l": base("long"), "ul": base("unsigned long"),
                "f": base("f32"), "d": base("double"),
                "wide": {"kind": "pointer", "subtype": base("unsigned short")}}.items():
            self.assertEqual(fields[field]["type"], type_, field)
        inner = table["user_types"]["inner"]["fields"]
        self.assertEqual(inner["number"]["type"], base("int"))
        self.assertEqual(inner["b"]["type"], {"kind": "bitfield", "bit_position": 3,
                                              "bit_length": 5, "type": base("unsigned int")})
        self.assertEqual(table["enums"]["sign"], {"size": 4, "base": "int", "constants": {
            "MINUS": -1, "MANY": -40000, "PLUS": 7}})
        # Unnamed ones: flattened where the source has no name for the member either.
        self.assertEqual(fields["first"]["offset"], fields["second"]["offset"])
        self.assertRegex(fields["place"]["type"]["name"], "^__unnamed_1[0-9a-f]{3}$")

    def test_anonymous_members_are_those_that_the_pdb_has(self):
        source = """
struct outer { int before; union { long low; struct { short x, y; union { char c; long long wide; }; }; };
               union { struct { unsigned a : 3, b : 5; }; unsigned all; } named; int after; };
struct outer g_outer; int entry(void) { return g_outer.x; }
"""
        for target in types.TARGETS:
            with self.subTest(target=target):
                path = self.pdb(target, source=source)
                table, _ = self.table(path)
                self.assertNotIn("anonymous", json.dumps(table).replace("__anonymous_", ""))
                of_pdb = self.places(path)
                self.assertEqual({name for name, *_ in of_pdb},
                                 {"before", "low", "x", "y", "c", "wide", "named", "after"})
                flat = self.write("flat.json", json.dumps(table).encode())
                self.assertEqual(self.places(flat), of_pdb)
                # With the unions as members that have no name, as tables made of DWARF have them.
                nested = json.loads(json.dumps(table))
                self.nest(nested, "outer", {"low", "x", "y", "c", "wide"})
                inner, = (name for name, user in nested["user_types"].items()
                          if user["fields"].keys() == {"x", "y", "c", "wide"})
                self.nest(nested, inner, {"c", "wide"})
                self.assertEqual(len(nested["user_types"]["outer"]["fields"]), 4)
                edited = self.write("nested.json", json.dumps(nested).encode())
                self.assertEqual(self.places(edited), of_pdb)
                self.assertEqual(run("pe", "isf", edited).stdout, run("pe", "isf", flat).stdout)
                if "VOL3" in os.environ:
                    schema = Path(os.environ["VOL3"]) / "volatility3/schemas/schema-6.2.0.json"
                    jsonschema.validate(nested, json.loads(schema.read_text()))
                    self.load(nested, {"outer": table["user_types"]["outer"]})

    def places(self, path):
        """Members of `outer`, by name: a table has no order, in which a PDB has those of a union."""
        done = run("pe", "types", "--format", "json", path, "outer")
        self.assertEqual(done.returncode, 0, done.stderr)
        type_, = strict_json(done.stdout)["types"]
        return sorted((row["name"], row["offset"], row["size"]) for row in type_["members"] if row["kind"] == "member")

    def nest(self, table, name, members):
        """In place of the members the unnamed type that has them."""
        fields = table["user_types"][name]["fields"]
        inner, = (other for other, user in table["user_types"].items() if user["fields"].keys() == members)
        first = min(fields[member]["offset"] for member in members)
        table["user_types"][name]["fields"] = {}
        for field, content in fields.items():
            if field not in members:
                table["user_types"][name]["fields"][field] = content
            elif "unnamed" not in table["user_types"][name]["fields"]:
                table["user_types"][name]["fields"]["unnamed"] = {
                    "offset": first, "anonymous": True,
                    "type": {"kind": table["user_types"][inner]["kind"], "name": inner}}

    def test_names_of_unnamed_types_that_tell_them_apart_stay(self):
        """As pdbconv.py has it, which renames `<unnamed-tag>`; llvm-pdbutil says how types are called."""
        source = """
struct holder { enum { First, Second } one; union { int a; float b; } u; };
holder g_holder; extern "C" int entry() { return g_holder.one; }
"""
        for target in types.TARGETS:
            with self.subTest(target=target):
                path = self.pdb(target, "cpp", source)
                dump = subprocess.run([types.PDBUTIL, "dump", "-types", path], capture_output=True, text=True, check=True).stdout
                names = set(re.findall(r"LF_(?:ENUM|UNION) .*`(holder::.*)`", dump))
                kept = {name for name in names if not name.endswith("-tag>")}
                self.assertEqual((len(names), len(kept)), (2, 1))
                table, _ = self.table(path)
                self.assertEqual({name for name in {**table["enums"], **table["user_types"]} if "holder::" in name}, kept)
                self.assertEqual([name.rstrip("0123456789abcdef") for name in table["enums"]], ["__unnamed_"])

    def test_pointers_that_are_no_addresses_are_their_bytes(self):
        source = """
struct room { int a, b; int run(int); };
struct held { int room::*data; char after; int (room::*method)(int); char *address; char end; };
held g_held; int room::run(int x) { return x; }
extern "C" int entry() { return g_held.after; }
"""
        for target, pointer in types.TARGETS.items():
            with self.subTest(target=target):
                fields = self.table(self.pdb(target, "cpp", source))[0]["user_types"]["held"]["fields"]
                # How large it is, where the next member lies tells.
                size = fields["after"]["offset"] - fields["data"]["offset"]
                byte = {"kind": "base", "name": "unsigned char"}
                self.assertEqual(fields["data"]["type"],
                                 {"kind": "array", "count": size, "subtype": byte})
                self.assertEqual(fields["method"]["type"],
                                 {"kind": "array", "count": pointer, "subtype": byte})
                self.assertEqual(fields["address"]["type"]["kind"], "pointer")

    def test_a_table_whose_machine_is_not_its_pointers_is_told(self):
        path = self.pdb("x86_64", source=SOURCE)
        table, _ = self.table(path)
        for machine, status in ((0x8664, 0), (0xaa64, 0), (0, 0), (0x1234, 0), (0x14c, 1)):
            table["metadata"]["windows"]["pdb"]["machine_type"] = machine
            edited = self.write("edited.json", json.dumps(table).encode())
            for command in ("types", "symbols"):
                done = run("pe", command, edited)
                self.assertEqual(done.returncode, status, (machine, done.stderr))
                self.assertEqual(b"isf-machine" in done.stderr, status == 1)

    def test_procedures_of_a_table_are_told_to_be_none(self):
        path = self.pdb("x86_64", source=SOURCE)
        table = self.write("table.json", json.dumps(self.table(path)[0]).encode())
        for kinds in ("procedure", "public,cold_part"):
            done = run("pe", "symbols", "--kind", kinds, table)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"no-match", done.stderr)
        self.assertEqual(run("pe", "symbols", table).returncode, 0)
        done = run("pe", "symbols", "--kind", "cold_part", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match", done.stderr)
        self.assertEqual(run("pe", "symbols", "--kind", "procedure", path).returncode, 0)

    def test_bases_give_their_members(self):
        table, _ = self.table(self.pdb("x86_64", "cpp"))
        both = table["user_types"]["room::both"]["fields"]
        self.assertEqual({name: both[name]["offset"] for name in ("a", "b", "d")},
                         {"a": 8, "b": 16, "d": 24})

    def test_it_is_where_and_what_volatility_looks_for(self):
        path = self.pdb("x86_64", source=SOURCE)
        answer = types.document(path)["file"]
        store = self.here / "symbols"
        done = run("pe", "isf", "--store", store, "--database", "Some.pdb", "--xz", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        guid = answer["guid"].replace("-", "").upper()
        packed = store / f"windows/Some.pdb/{guid}-{answer['age']}.json.xz"
        table = strict_json(lzma.decompress(packed.read_bytes()))
        self.assertEqual(table["metadata"]["windows"]["pdb"],
                         {"GUID": guid, "age": answer["age"], "database": "Some.pdb",
                          "machine_type": 0x8664})
        plain, _ = self.table(path, "--database", "Some.pdb")
        self.assertEqual(plain, table)
        self.assertEqual(self.table(path)[0]["metadata"]["windows"]["pdb"]["database"], path.name)

    def test_what_it_packs_is_read_as_the_plain_one(self):
        path = self.pdb("x86_64", source=SOURCE)
        plain, _ = self.table(path, "--database", "Some.pdb")
        for ending, options in ((".gz", ()), (".zst", ()), (".xz", ("--xz",))):
            packed = self.here / ("own.json" + ending)
            done = run("pe", "isf", "--database", "Some.pdb", *options, path, "-o", packed)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.table(packed)[0], plain, ending)

    def test_help_names_all_compressions(self):
        for command in (("pe", "types"), ("pe", "symbols"), ("pe", "isf"), ("hooks", "table"), ("hooks", "plan"),
                        ("hooks", "verify"), ("hooks", "derive"), ("trace", "decode")):
            said = " ".join(run(*command, "--help").stdout.decode().split())
            self.assertIn("plain or compressed (.xz, .gz, .bz2, .zst)", said, command)

    def test_a_packed_pdb_is_called_as_the_plain_one(self):
        path = self.pdb("x86_64", source=SOURCE)
        answer = types.document(path)["file"]
        place = f"windows/{path.name}/{answer['guid'].replace('-', '').upper()}-{answer['age']}.json"
        plain = self.table(path)[0]
        for ending, pack in ((".gz", gzip.compress), (".xz", lzma.compress), (".BZ2", bz2.compress)):
            packed = self.write(path.name + ending, pack(path.read_bytes()))
            store = self.here / ("store" + ending)
            done = run("pe", "isf", "--store", store, packed)
            self.assertEqual(done.returncode, 0, done.stderr)
            found, = (file for file in store.rglob("*") if file.is_file())
            self.assertEqual((found.relative_to(store).as_posix(), strict_json(found.read_bytes())), (place, plain))
        # A name that is none of a PDB is not a name of a table; a pipe is read as the file.
        other = self.write("symbols.zip", b"")
        with zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(path, path.name)
        done = run("pe", "isf", other)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"symbols.zip: its name is not that of a PDB; give that of the PDB with --database", done.stderr)
        expected = run("pe", "symbols", path).stdout.split(b": guid", 1)[1]
        table = self.write("table.json", json.dumps(plain).encode())
        for source in (packed, other, table):
            done = subprocess.run([types.COLDTRACE, "pe", "symbols", "-"], input=source.read_bytes(), capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            if source is not table:
                self.assertEqual(done.stdout.split(b": guid", 1)[1], expected)

    def test_a_packed_pdb_that_is_too_large_says_what_is_read(self):
        start = self.pdb("x86_64", source=SOURCE).read_bytes()
        path = self.write("vast.pdb.xz", lzma.compress(start) + lzma.compress(bytes(32 << 20), preset=0) * 12)
        allowed = (256 << 20) + 1032 * path.stat().st_size
        done = run("pe", "symbols", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"it unpacks to more than {allowed} bytes, more than is read of {path.stat().st_size} compressed; "
                      "unpack it first".encode(), done.stderr)

    def test_names_that_say_another_compression_are_refused(self):
        path = self.pdb("x86_64", source=SOURCE)
        for options, name, said in (((), "t.json.xz", b"--xz"), (("--xz",), "t.json", b"end in .xz"),
                                    (("--xz",), "t.json.gz", b"end in .xz"), (("--xz",), "t.ZST", b"end in .xz")):
            done = run("pe", "isf", *options, "-o", self.here / name, path)
            self.assertEqual((done.returncode, said in done.stderr), (2, True), done.stderr)
            self.assertFalse((self.here / name).exists())
        self.assertNotIn(b"7.00 or 2.00", run("pe", "isf", "--help").stdout)

    def test_an_own_packed_table_is_replaced_and_no_other(self):
        first, second = (self.pdb(target, source=SOURCE) for target in ("x86_64", "i686"))
        packed = self.here / "table.json.xz"
        for path in (first, first, second):
            done = run("pe", "isf", "--xz", "-o", packed, path)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(strict_json(lzma.decompress(packed.read_bytes())), self.table(second)[0])
        own = packed.read_bytes()
        others = {"another program's": lzma.compress(b'{"metadata":{"format":"6.2.0","producer":'
                                                     b'{"name":"pdbconv","version":"1"}}}'),
                  "cut": own[:20], "damaged": own[:30] + bytes(len(own) - 30),
                  "vast": lzma.compress(lzma.decompress(own), preset=9)}
        for what, data in others.items():
            packed.write_bytes(data)
            done = run("pe", "isf", "--xz", "-o", packed, first)
            self.assertEqual(done.returncode, 2, what)
            self.assertEqual(packed.read_bytes(), data, what)
        # Into a store as well, as often as one likes.
        for _ in range(2):
            done = run("pe", "isf", "--xz", "--store", self.here / "store", first)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_image_says_its_version(self):
        self.build("x86_64", "c", SOURCE)
        version = (10, 3, 19041, 65535)
        self.call(LLD, "/nodefaultlib", "/entry:entry", "/subsystem:console", "/debug", "/brepro",
                  f"/out:{self.here}/v.exe", f"/pdb:{self.here}/v.pdb", self.here / "o.obj",
                  self.write("v.res", version_resource(version)))
        image = self.here / "v.exe"
        windows = self.table(self.here / "v.pdb", "--pe", image)[0]["metadata"]["windows"]
        self.assertEqual(windows["pe"], dict(zip(VERSION, version)))
        other = self.pdb("i686", source=SOURCE)
        for options in ((), ("--pe", image)):
            self.assertNotIn("pe", self.table(other, *options)[0]["metadata"]["windows"])

    def test_the_image_says_the_name(self):
        path = self.pdb("i686", source=SOURCE)
        image = self.write("image.exe", self.images[path.read_bytes()])
        table, _ = self.table(path, "--pe", image)
        self.assertEqual(table["metadata"]["windows"]["pdb"]["database"], "o.pdb")
        other = self.pdb("x86_64", source=SOURCE)
        done = run("pe", "isf", "--pe", image, other)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"pdb-mismatch", done.stderr)

    def test_two_of_one_name_are_told(self):
        records = [types.structure(b"twice", 0, 4, 0), types.structure(b"twice", 0, 8, 0)]
        path = self.write("twice.pdb", types.pdb_writer.pdb_of_types(records))
        done = run("pe", "isf", "-v", "--tolerate", "pdb-publics", path)
        self.assertIn(b"isf-type-twice", done.stderr)
        self.assertEqual(sorted(strict_json(done.stdout)["user_types"]), ["twice", "twice_1001"])

    def test_what_is_refused(self):
        path = self.pdb("x86_64", source=SOURCE)
        before = path.read_bytes()
        self.assertEqual(run("pe", "isf", path, "-o", path).returncode, 2)
        self.assertEqual(path.read_bytes(), before)
        for name in ("..", "a/b.pdb"):
            done = run("pe", "isf", "--store", self.here / "s", "--database", name, path)
            self.assertEqual(done.returncode, 2)
        self.assertEqual(run("pe", "isf", "/bin/sh").returncode, 2)

    def test_one_name_of_the_database_is_taken(self):
        path = self.pdb("x86_64", source=SOURCE)
        image = self.write("image.exe", self.images[path.read_bytes()])
        for options in (("--pe", image, "--database", "a.pdb"), ("--database", "")):
            done = run("pe", "isf", *options, path)
            self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
            self.assertIn(b"--database", done.stderr)

    def test_a_store_and_another_name_are_not_both_taken(self):
        path = self.pdb("x86_64", source=SOURCE)
        store, other = self.here / "store", self.here / "t.json"
        for options, said in ((("--store", store, "-o", other), b"--store names the file"),
                              (("--store", store, "-o", "-"), b"--store names the file"),
                              (("--store", ""), b"no folder has an empty name")):
            done = run("pe", "isf", *options, path)
            self.assertEqual((done.returncode, done.stdout, said in done.stderr), (2, b"", True), done.stderr)
            self.assertFalse(other.exists() or any(store.rglob("*.json*")))

    def test_standard_input_has_no_name(self):
        path = self.pdb("x86_64", source=SOURCE)
        before = path.read_bytes()
        done = subprocess.run([types.COLDTRACE, "pe", "isf", "-"], input=before, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--database", done.stderr)
        for command in "types", "symbols":
            done = subprocess.run([types.COLDTRACE, "pe", command, "-"], input=before, capture_output=True)
            self.assertTrue(done.stdout.startswith(b"-: guid "), done.stdout[:80])
        done = subprocess.run([types.COLDTRACE, "pe", "isf", "--database", path.name, "-"], input=before, capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, run("pe", "isf", path).stdout))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
