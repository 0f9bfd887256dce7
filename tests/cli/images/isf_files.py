"""Symbol tables of Volatility 3 (ISF) as input: what a table says, read here from its JSON, and what is wrong with
one, told.

usage: isf_files.py COLDTRACE SOURCES [unittest arguments]
"""
import bz2
import copy
import gzip
import json
import lzma
import random
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
from case import Case
from strict import strict_csv, strict_json

COLDTRACE, SOURCES = sys.argv[1:3]
SCHEMAS = {name: json.loads((Path(SOURCES) / f"docs/schema/{name}.schema.json").read_text())
           for name in ("pdb-types", "pe-symbols")}
GUID = "00112233445566778899AABBCCDDEEFF"


def zstd(data):
    """Skips what follows in the test where the program is missing."""
    if not shutil.which("zstd"):
        raise unittest.SkipTest("zstd is not installed")
    return subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout


def outside_of_comments(header, *words):
    """Which of them a compiler sees."""
    return [word for word in words if word in re.sub(rb"/\*.*?\*/", b"", header, flags=re.S)]


def integer(size, signed, kind="int"):
    return {"size": size, "signed": signed, "kind": kind, "endian": "little"}


def base(name):
    return {"kind": "base", "name": name}


def member(offset, type_):
    return {"offset": offset, "type": type_}


# Written by hand from schema 6.2.0: what coldtrace writes itself is another test's matter.
TABLE = {
    "metadata": {"format": "6.2.0", "producer": {"name": "hand", "version": "1"},
                 "windows": {"pdb": {"GUID": GUID, "age": 3, "database": "some.pdb",
                                     "machine_type": 0x8664}}},
    "base_types": {"pointer": integer(8, False), "pointer32": integer(4, False),
                   "void": integer(0, True, "void"), "char": integer(1, True, "char"),
                   "unsigned char": integer(1, False, "char"),
                   "long": integer(4, True), "unsigned long": integer(4, False),
                   "own name": integer(8, False), "double": integer(8, True, "float"),
                   "wchar": integer(2, True), "bool": integer(1, False, "bool")},
    "user_types": {
        "_LIST": {"kind": "struct", "size": 16, "fields": {
            "next": member(0, {"kind": "pointer", "subtype": {"kind": "struct", "name": "_LIST"}}),
            "call": member(8, {"kind": "pointer", "subtype": {"kind": "function"}})}},
        "_BITS": {"kind": "union", "size": 8, "fields": {
            "low": member(0, {"kind": "bitfield", "bit_position": 0, "bit_length": 3,
                              "type": base("own name")}),
            "high": member(0, {"kind": "bitfield", "bit_position": 44, "bit_length": 20,
                               "type": base("own name")}),
            "mode": member(0, {"kind": "bitfield", "bit_position": 4, "bit_length": 2,
                               "type": {"kind": "enum", "name": "_MODE"}})}},
        "_ALL": {"kind": "class", "size": 70008, "fields": {
            "grid": member(8, {"kind": "array", "count": 3, "subtype": {
                "kind": "array", "count": 5, "subtype": base("unsigned long")}}),
            "lists": member(72, {"kind": "array", "count": 2, "subtype": {
                "kind": "struct", "name": "_LIST"}}),
            "bits": member(104, {"kind": "union", "name": "_BITS"}),
            "mode": member(112, {"kind": "enum", "name": "_MODE"}),
            "short": member(116, {"kind": "pointer", "base": "pointer32",
                                  "subtype": base("void")}),
            "unseen": member(120, {"kind": "pointer", "subtype": {
                "kind": "struct", "name": "_UNSEEN"}}),
            "text": member(128, base("wchar")), "flag": member(130, base("bool")),
            "far": member(70000, base("double")), "none": member(140, {
                "kind": "array", "count": 0, "subtype": base("char")})}}},
    "enums": {"_MODE": {"size": 4, "base": "long", "constants": {
        "Low": -2, "Zero": 0, "High": 0x7fffffff}},
              "_TOP": {"size": 8, "base": "own name", "constants": {"Most": 2 ** 64 - 1}}},
    "symbols": {"KeRun": {"address": 4096}, "plain": {"address": 8, "linkage_name": "_plain@8"},
                "last": {"address": 2 ** 32 - 1}},
}


# As DWARF has them: the names of anonymous ones mean nothing, and may be there twice.
ANONYMOUS = {
    "_OUT": {"kind": "struct", "size": 28, "fields": {
        "before": member(0, base("long")),
        "u1": member(8, {"kind": "union", "name": "_CHOICE"}) | {"anonymous": True},
        "u2": member(20, {"kind": "struct", "name": "_LAST"}) | {"anonymous": True},
        "after": member(24, base("long"))}},
    "_CHOICE": {"kind": "union", "size": 12, "fields": {
        "low": member(0, base("long")),
        "u1": member(4, {"kind": "class", "name": "_PAIR"}) | {"anonymous": True}}},
    "_PAIR": {"kind": "class", "size": 8, "fields": {"x": member(0, base("long")), "y": member(4, base("long"))}},
    "_LAST": {"kind": "struct", "size": 4, "fields": {"z": member(0, base("long"))}},
}


class Reader:
    """The sizes and places that a table says."""

    def __init__(self, table):
        self.table = table

    def size(self, type_):
        kind = type_["kind"]
        if kind == "base":
            return self.table["base_types"][type_["name"]]["size"]
        if kind == "pointer":
            return self.table["base_types"][type_.get("base", "pointer")]["size"]
        if kind == "array":
            return type_["count"] * self.size(type_["subtype"])
        if kind == "bitfield":
            return self.size(type_["type"])
        if kind == "function":
            return None
        if kind == "enum":
            return self.size(base(self.table["enums"][type_["name"]]["base"]))
        return self.table["user_types"][type_["name"]]["size"]

    def members(self):
        for name, user in self.table["user_types"].items():
            for field, content in user["fields"].items():
                type_ = content["type"]
                yield (name, field, content["offset"], self.size(type_),
                       type_.get("bit_position"), type_.get("bit_length"))

    def constants(self):
        for name, enum in self.table["enums"].items():
            for constant, value in enum["constants"].items():
                yield name, constant, value


def run(*arguments, timeout=120):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=timeout)


class Isf(Case):
    def table(self, table, name="t.json"):
        return self.write(name, json.dumps(table).encode())

    def types(self, path, *options):
        done = run("pe", "types", "--format", "json", *options, path)
        answer = strict_json(done.stdout)
        json_schema.validate(answer, SCHEMAS["pdb-types"])
        return done, answer, {finding["code"] for finding in answer["findings"]}

    def rows(self, answer):
        """Members and enumerators as Reader has them."""
        members, constants = set(), set()
        for type_ in answer["types"]:
            for row in type_["members"]:
                if row["kind"] == "enumerator":
                    constants.add((type_["name"], row["name"], row["value"]))
                    continue
                first = row["layers"][0]
                bits = (first["position"], first["length"]) if first["kind"] == "bit_field" else \
                    (None, None)
                members.add((type_["name"], row["name"], row["offset"], row["size"], *bits))
        return members, constants


class Good(Isf):
    def test_what_the_table_says_is_what_is_shown(self):
        done, answer, codes = self.types(self.table(TABLE))
        self.assertEqual((done.returncode, codes), (0, set()), done.stderr)
        reader = Reader(TABLE)
        members, constants = self.rows(answer)
        self.assertEqual(members, set(reader.members()))
        self.assertEqual(constants, set(reader.constants()))
        file = answer["file"]
        self.assertEqual((file["format"], file["guid"].replace("-", "").upper(), file["age"],
                          file["machine"], file["pointer_size"], file["info_age"], file["version"]),
                         ("isf", GUID, 3, "x64", 8, None, None))
        shown = {(type_["name"], row["name"]): row["type"] for type_ in answer["types"]
                 for row in type_["members"] if row["kind"] == "member"}
        for key, text in {("_LIST", "next"): "Ptr64 _LIST", ("_LIST", "call"): "Ptr64 function",
                          ("_ALL", "grid"): "[3] [5] Uint4B", ("_ALL", "mode"): "_MODE",
                          ("_ALL", "short"): "Ptr32 Void", ("_ALL", "unseen"): "Ptr64 _UNSEEN",
                          ("_ALL", "text"): "Wchar", ("_BITS", "high"): "Pos 44, 20 Bits",
                          ("_ALL", "far"): "Double"}.items():
            self.assertEqual(shown[key], text, key)
        kinds = {type_["name"]: (type_["kind"], type_["defined"], type_["packed"])
                 for type_ in answer["types"]}
        self.assertEqual(kinds["_BITS"], ("union", True, None))
        self.assertEqual(kinds["_UNSEEN"], ("struct", False, None))

    def test_the_order_of_its_parts_is_all_the_same(self):
        expected = self.rows(self.types(self.table(TABLE))[1])
        turn = lambda value: {key: turn(value[key]) for key in reversed(value)} \
            if isinstance(value, dict) else value
        turned = turn(TABLE)
        turned["more"] = {"user_types": {"no": [1, {"fields": {}}]}}
        turned["user_types"]["_LIST"]["methods"] = [{"type": {"kind": "none"}}]
        self.assertEqual(self.rows(self.types(self.table(turned))[1]), expected)
        indented = self.write("i.json", json.dumps(TABLE, indent=2).encode())
        self.assertEqual(self.rows(self.types(indented)[1]), expected)

    def test_packed_ones_are_what_they_hold(self):
        plain = self.table(TABLE)
        expected = self.rows(self.types(plain)[1])
        for name, pack in (("t.json.xz", lzma.compress), ("t.json.gz", gzip.compress),
                           ("t.json.bz2", bz2.compress), ("t.json.zst", zstd)):
            path = self.write(name, pack(plain.read_bytes()))
            done, answer, _ = self.types(path)
            self.assertEqual((done.returncode, self.rows(answer)), (0, expected), name)
            symbols = [run("pe", "symbols", "--format", "json", table).stdout for table in (plain, path)]
            self.assertEqual(*(strict_json(text)["files"][0]["symbols"] for text in symbols))

    def test_symbols_have_the_names_of_the_linker(self):
        path = self.table(TABLE)
        done = run("pe", "symbols", "--format", "json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = strict_json(done.stdout)
        json_schema.validate(answer, SCHEMAS["pe-symbols"])
        file, = answer["files"]
        self.assertEqual([(row["name"], row["rva"]) for row in file["symbols"]],
                         [("_plain@8", 8), ("KeRun", 4096), ("last", 2 ** 32 - 1)])
        for row in file["symbols"]:
            self.assertEqual((row["section"], row["offset"], row["flags"], row["kind"]),
                             (None, None, None, "public"))
        self.assertEqual((file["format"], file["moved"], file["stripped"]), ("isf", None, None))
        row = list(strict_csv(run("pe", "symbols", "--format", "csv", path).stdout)[0].values())
        self.assertEqual(row[1:7], ["_plain@8", "8", "", "", "", ""])
        self.assertIn(b"0x00001000  -           -              -         public",
                      run("pe", "symbols", path).stdout)

    def test_a_table_made_of_it_says_the_same(self):
        path = self.table(TABLE)
        done = run("pe", "isf", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        again = strict_json(done.stdout)
        self.assertEqual(set(Reader(again).members()), set(Reader(TABLE).members()))
        self.assertEqual(set(Reader(again).constants()), set(Reader(TABLE).constants()))
        self.assertEqual(again["symbols"], TABLE["symbols"])
        self.assertEqual(again["metadata"]["windows"], TABLE["metadata"]["windows"])
        second = run("pe", "isf", self.write("again.json", done.stdout))
        self.assertEqual(second.stdout, done.stdout)

    def test_long_lists_are_whole(self):
        table = copy.deepcopy(TABLE)
        table["user_types"]["_LONG"] = {"kind": "struct", "size": 12000, "fields": {
            f"member_{'x' * 60}_{number}": member(number * 4, base("long"))
            for number in range(3000)}}
        table["enums"]["_MANY"] = {"size": 4, "base": "long", "constants": {
            f"constant_{number}": number - 2000 for number in range(4000)}}
        done, answer, codes = self.types(self.table(table))
        self.assertEqual((done.returncode, codes), (0, set()))
        reader = Reader(table)
        self.assertEqual(self.rows(answer), (set(reader.members()), set(reader.constants())))

    def test_members_of_anonymous_ones_are_those_of_the_type_around(self):
        table = copy.deepcopy(TABLE)
        table["user_types"].update(ANONYMOUS)
        flat = copy.deepcopy(table)
        fields = {name: member(offset, base("long")) for name, offset in (
            ("before", 0), ("low", 8), ("x", 12), ("y", 16), ("z", 20), ("after", 24))}
        flat["user_types"]["_OUT"]["fields"] = fields
        flat["user_types"]["_CHOICE"]["fields"] = {name: member(fields[name]["offset"] - 8, base("long"))
                                                   for name in ("low", "x", "y")}
        done, answer, codes = self.types(self.table(table))
        self.assertEqual((done.returncode, codes), (0, set()), done.stderr)
        self.assertEqual(self.rows(answer)[0], set(Reader(flat).members()))
        order = [row["name"] for type_ in answer["types"] if type_["name"] == "_OUT" for row in type_["members"]]
        self.assertEqual(order, list(fields))
        # Written again they are members of the type, as Volatility has them of both.
        again = strict_json(run("pe", "isf", self.table(table)).stdout)
        self.assertEqual(again["user_types"]["_OUT"]["fields"], fields)
        # What is not anonymous has its name.
        for value in (False, None, 0, "true"):
            plain = copy.deepcopy(table)
            plain["user_types"]["_OUT"]["fields"]["u1"]["anonymous"] = value
            _, answer, _ = self.types(self.table(plain))
            self.assertIn(("_OUT", "u1", 8), {row[:3] for row in self.rows(answer)[0]}, value)

    def test_builds_are_compared_without_the_numbers_of_unnamed_types(self):
        def with_unnamed(number, offset):
            table = copy.deepcopy(TABLE)
            name = f"__unnamed_{number}"
            table["user_types"][name] = {"kind": "struct", "size": 8, "fields": {
                "inner": member(offset, base("long"))}}
            table["user_types"]["_OUTER"] = {"kind": "struct", "size": 8, "fields": {
                "u": member(0, {"kind": "struct", "name": name})}}
            return self.table(table, f"{number}-{offset}.json")
        old = with_unnamed("1a2b", 0)
        self.assertEqual(run("pe", "types", "--compare", old, with_unnamed("2c3d", 0)).returncode, 0)
        done = run("pe", "types", "--compare", old, with_unnamed("2c3d", 4))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"changed struct _OUTER", done.stdout)


class Wrong(Isf):
    def changed(self, change):
        table = copy.deepcopy(TABLE)
        change(table)
        return self.table(table)

    def test_files_that_are_no_table_are_refused(self):
        for content, text in {
                b"{}": b"no object 'metadata'",
                b"[1, 2]": b"no object",
                b'{"metadata": {}': b"not valid JSON, at byte",
                json.dumps(TABLE).encode() + b"x": b"not valid JSON",
                json.dumps(TABLE).encode() + b"\0x": b"",
                json.dumps(TABLE).encode().replace(b"_LIST", b"_L\xff\xfe"): b"not a PDB",
                b"{" + b" " * 100_000 + json.dumps(TABLE).encode()[1:].replace(
                    b"_LIST", b"_L\xff\xfe"): b"not valid JSON",
                b"{" * 10: b"not valid JSON",
                json.dumps(dict(TABLE, symbols=[])).encode(): b"no object 'symbols'"}.items():
            path = self.write("bad.json", content)
            for command in (("pe", "types"), ("pe", "symbols"), ("pe", "isf")):
                done = run(*command, path)
                self.assertEqual(done.returncode, 2, content[:40])
                self.assertIn(text, done.stderr, content[:40])
        for content in (lzma.compress(b"no JSON"), lzma.compress(b""),
                        lzma.compress(json.dumps(TABLE).encode())[:-40]):
            done = run("pe", "types", self.write("bad.xz", content))
            self.assertEqual(done.returncode, 2)
        done = run("pe", "symbols", self.write("bad.xz", lzma.compress(b"no JSON")))
        self.assertIn(b"it is compressed with xz, and contains no JSON", done.stderr)

    def test_tables_that_name_no_pdb_are_refused(self):
        pdb = lambda table: table["metadata"]["windows"]["pdb"]
        for change, text in (
                (lambda table: table["metadata"].update(format="5.0.0"), b"format 6"),
                (lambda table: table["metadata"].pop("format"), b"format 6"),
                (lambda table: table["metadata"].update(
                    windows={}, linux={"symbols": []}), b"which Windows PDB"),
                (lambda table: pdb(table).update(GUID=GUID[1:]), b"GUID or age"),
                (lambda table: pdb(table).update(GUID=GUID[:-1] + "g"), b"GUID or age"),
                (lambda table: pdb(table).update(age=-1), b"GUID or age"),
                (lambda table: pdb(table).update(age=2 ** 32), b"GUID or age"),
                (lambda table: pdb(table).update(age="3"), b"GUID or age"),
                (lambda table: pdb(table).pop("GUID"), b"GUID or age")):
            done = run("pe", "types", self.changed(change))
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)

    def test_entries_that_are_wrong_are_told_and_the_others_stay(self):
        fields = lambda table: table["user_types"]["_ALL"]["fields"]
        type_of = lambda table, name: fields(table)[name]["type"]
        lost = {  # the change, and what of _ALL is not as it was
            "no offset": (lambda table: fields(table)["mode"].pop("offset"), {"mode"}),
            "negative offset": (lambda table: fields(table)["mode"].update(offset=-4), {"mode"}),
            "offset 1.5": (lambda table: fields(table)["mode"].update(offset=1.5), {"mode"}),
            "no object": (lambda table: fields(table).update(mode=5), {"mode"}),
            "no name": (lambda table: fields(table).update(
                {"": fields(table).pop("mode")}), {"mode"}),
            "long name": (lambda table: fields(table).update(
                {"n" * 5000: fields(table).pop("mode")}), {"mode"}),
            "NUL": (lambda table: fields(table).update(
                {"mo\0de": fields(table).pop("mode")}), {"mode"})}
        kept = {  # the place stays, and what is said of the type does not
            "no type": (lambda table: fields(table)["mode"].pop("type"), {"mode"}),
            "no such kind": (lambda table: type_of(table, "mode").update(kind="x"), {"mode"}),
            "no such base": (lambda table: type_of(table, "text").update(name="x"), {"text"}),
            "vast": (lambda table: type_of(table, "grid").update(count=2 ** 62), {"grid"}),
            "negative count": (lambda table: type_of(table, "grid").update(count=-1), {"grid"}),
            "no subtype": (lambda table: type_of(table, "grid").pop("subtype"), {"grid"}),
            "of functions": (lambda table: type_of(table, "none").update(
                subtype={"kind": "function"}), {"none"})}
        whole = {row for row in Reader(TABLE).members()}
        for what, (change, names) in (lost | kept).items():
            with self.subTest(what):
                done, answer, codes = self.types(self.changed(change))
                self.assertEqual((done.returncode, codes), (1, {"isf-entry"}), done.stderr)
                if what not in ("NUL", "no name", "long name"):
                    self.assertIn(answer["findings"][0]["text"].split("': ")[0],
                                  {f"'_ALL.{name}" for name in names})
                members, _ = self.rows(answer)
                expected = {row for row in whole if row[0] != "_ALL" or row[1] not in names}
                self.assertEqual({row for row in members if row[3] is not None} & whole, expected)
                places = {row[1]: row[2] for row in members if row[0] == "_ALL"}
                for name in names:
                    self.assertEqual(name in places, what in kept, places)
                    if what in kept:
                        self.assertEqual(places[name], TABLE["user_types"]["_ALL"]["fields"]
                                         [name]["offset"])

    def test_bits_outside_of_their_integer_are_told(self):
        for position, length in ((61, 4), (0, 0), (0, 65), (-1, 2), (2 ** 63, 2 ** 63)):
            def change(table):
                table["user_types"]["_BITS"]["fields"]["low"]["type"].update(
                    bit_position=position, bit_length=length)
            done, _, codes = self.types(self.changed(change))
            self.assertEqual((done.returncode, codes), (1, {"isf-entry"}), (position, length))

    def test_whole_entries_that_are_wrong(self):
        for change in (
                lambda table: table["user_types"]["_ALL"].update(kind="what"),
                lambda table: table["user_types"]["_ALL"].pop("size"),
                lambda table: table["enums"]["_TOP"]["constants"].update(Most=1.5),
                lambda table: table["enums"]["_TOP"].update(base="nothing"),
                lambda table: table["base_types"]["own name"].update(size=3),
                lambda table: table["base_types"]["own name"].update(endian="big"),
                lambda table: table["base_types"]["pointer32"].update(size=3)):
            done, answer, codes = self.types(self.changed(change))
            self.assertEqual((done.returncode, codes), (1, {"isf-entry"}), done.stderr)
            self.assertRegex(answer["findings"][0]["text"], r"^'_[A-Z]+(\.\w+)?': ")
        for address in (-1, 2 ** 32, "4096", None, [], True):
            path = self.changed(lambda table: table["symbols"]["KeRun"].update(address=address))
            done = run("pe", "symbols", "--format", "json", path)
            file, = strict_json(done.stdout)["files"]
            self.assertEqual({finding["code"] for finding in file["findings"]}, {"isf-entry"})
            self.assertNotIn("KeRun", {row["name"] for row in file["symbols"]})

    def test_constants_that_do_not_fit_their_integer_are_left_out(self):
        wrong = {"above": 2 ** 40, "below": -2 ** 31 - 1, "just above": 2 ** 32}
        right = {"least": -2 ** 31, "most": 2 ** 31 - 1}
        # pdbconv.py writes what is below 0 without a sign: the enumerator is what its bits are.
        bits = {"minus one": (2 ** 32 - 1, -1)}

        def change(table):
            constants = table["enums"]["_MODE"]["constants"]
            constants.update(wrong | right | {name: written for name, (written, _) in bits.items()})
        done, answer, codes = self.types(self.changed(change))
        self.assertEqual((done.returncode, codes), (1, {"isf-entry"}), done.stderr)
        self.assertEqual(sum(finding["count"] for finding in answer["findings"]), len(wrong))
        self.assertEqual(answer["findings"][0]["text"],
                         "'_MODE.above': the constant does not fit in the integer of its enumeration")
        expected = TABLE["enums"]["_MODE"]["constants"] | right | {name: value for name, (_, value) in bits.items()}
        self.assertEqual({name: value for type_, name, value in self.rows(answer)[1] if type_ == "_MODE"}, expected)

    def test_entries_without_their_lists_are_left_out(self):
        for kind, name, members in (("user_types", "_LIST", "fields"), ("enums", "_TOP", "constants")):
            for what, change in {
                    "none": lambda entry: {key: entry[key] for key in entry if key != members},
                    "list": lambda entry: entry | {members: []}, "null": lambda entry: entry | {members: None},
                    "number": lambda entry: 5, "text": lambda entry: "x", "no entry": lambda entry: [],
                    "truth": lambda entry: True, "nothing": lambda entry: None}.items():
                with self.subTest(kind, what=what):
                    table = copy.deepcopy(TABLE)
                    table[kind][name] = change(table[kind][name])
                    done, answer, codes = self.types(self.table(table))
                    self.assertEqual((done.returncode, codes), (1, {"isf-entry"}), done.stderr)
                    self.assertNotIn(name, {type_["name"] for type_ in answer["types"] if type_["defined"]})
            table = copy.deepcopy(TABLE)
            table[kind][name][members] = {}
            self.assertEqual(self.types(self.table(table))[0].returncode, 0)

    def test_an_enumeration_has_the_size_of_its_base(self):
        for size in (3, 8, -4, "4", None):
            done, answer, codes = self.types(self.changed(lambda table: table["enums"]["_MODE"].update(size=size)))
            self.assertEqual((done.returncode, codes), (1, {"isf-entry"}), size)
            self.assertEqual({type_["size"] for type_ in answer["types"] if type_["name"] == "_MODE" and type_["defined"]}, {4})

    def test_places_beyond_64_bits_are_left_out_of_every_output(self):
        """_LIST has next at 0 and call at 8: of one that ends at 2^64 call lies at 0 again, were it not told."""
        far = 2 ** 64 - 8
        path = self.changed(lambda table: table["user_types"]["_ALL"]["fields"].update(
            over=member(far, {"kind": "struct", "name": "_LIST"})))
        for options, call in ((("--depth", "1"), "call"), (("--expand",), "over.call")):
            done, answer, codes = self.types(path, *options)
            self.assertEqual((done.returncode, codes), (1, {"pdb-type-range"}))
            places = [(row["name"], row["offset"]) for type_ in answer["types"] if type_["name"] == "_ALL"
                      for row in type_["members"]]
            self.assertIn((call.replace("call", "next"), far), places)
            self.assertNotIn(call, {name for name, _ in places})
            for form in ("text", "csv"):
                done = run("pe", "types", "--format", form, path, "_ALL", *options)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"pdb-type-range", done.stderr)
                self.assertNotIn(call.encode(), done.stdout)
        # What is outside of the type is told where the offsets alone are shown, and no compiler could have it.
        done = run("pe", "types", "--format", "c-header", path, "_ALL")
        self.assertEqual((done.returncode, outside_of_comments(done.stdout, b"over")), (1, []))
        self.assertIn(b"pdb-type-range", done.stderr)
        # Offsets of one level have 64 bits: nothing is wrong with one where it says that it is.
        self.assertEqual(run("pe", "types", self.table(TABLE), "_ALL", "--expand").returncode, 0)

    def test_headers_have_what_a_compiler_takes(self):
        for size, wrong in ((2 ** 61 - 1, False), (2 ** 61, True), (2 ** 64 - 1, True)):
            path = self.changed(lambda table: table["user_types"]["_LIST"].update(size=size))
            done = run("pe", "types", "--format", "c-header", path, "_LIST")
            self.assertEqual((done.returncode, b"pdb-type-range" in done.stderr), (int(wrong), wrong), size)
            self.assertEqual(b"struct _LIST {" in done.stdout, not wrong)
        # What begins in its type and ends behind it.
        path = self.changed(lambda table: table["user_types"]["_LIST"].update(size=12))
        done = run("pe", "types", "--format", "c-header", path, "_LIST")
        self.assertEqual((done.returncode, b"pdb-type-range" in done.stderr), (1, True))
        self.assertEqual(outside_of_comments(done.stdout, b"next", b"call"), [b"next"])
        self.assertIn(b"/* +0x008 call Ptr64 function: left out, it reaches beyond the type */", done.stdout)

    def test_anonymous_members_that_are_wrong_are_told(self):
        def out(table):
            return table["user_types"]["_OUT"]["fields"]
        lost = {  # the change, and what _OUT has not of _CHOICE
            "no such type": (lambda table: out(table)["u1"]["type"].update(name="_NONE"), {"low", "x", "y"}),
            "an enumeration": (lambda table: out(table)["u1"].update(
                type={"kind": "enum", "name": "_MODE"}), {"low", "x", "y"}),
            "an integer": (lambda table: out(table)["u1"].update(type=base("long")), {"low", "x", "y"}),
            "no type": (lambda table: out(table)["u1"].pop("type"), {"low", "x", "y"}),
            "no offset": (lambda table: out(table)["u1"].pop("offset"), {"low", "x", "y"}),
            "beyond 64 bits": (lambda table: out(table)["u1"].update(offset=2 ** 64 - 4), {"x", "y"}),
            "no fields": (lambda table: table["user_types"]["_PAIR"].pop("fields"), {"x", "y"}),
            "in itself": (lambda table: table["user_types"]["_CHOICE"]["fields"]["u1"]["type"].update(
                name="_CHOICE"), {"x", "y"})}
        for what, (change, names) in lost.items():
            with self.subTest(what):
                table = copy.deepcopy(TABLE)
                table["user_types"].update(copy.deepcopy(ANONYMOUS))
                change(table)
                done, answer, codes = self.types(self.table(table))
                self.assertEqual((done.returncode, codes - {"pdb-type-range"}), (1, {"isf-entry"}), done.stderr)
                found = {row[1] for row in self.rows(answer)[0] if row[0] == "_OUT"}
                self.assertEqual(found, {"before", "low", "x", "y", "z", "after"} - names)
        # The first of one name counts, whichever type it comes from.
        table = copy.deepcopy(TABLE)
        table["user_types"].update(copy.deepcopy(ANONYMOUS))
        table["user_types"]["_LAST"]["fields"]["low"] = member(0, base("char"))
        done, answer, codes = self.types(self.table(table))
        self.assertEqual((done.returncode, codes), (1, {"isf-entry"}))
        self.assertIn(("_OUT", "low", 8), {row[:3] for row in self.rows(answer)[0]})

    def test_the_first_of_one_name_counts(self):
        text = json.dumps(TABLE)
        for old, new in (('"mode": {"offset": 112', '"mode": {"offset": 112, "type": {"kind": "base", '
                          '"name": "char"}}, "mode": {"offset": 9'),
                         ('"_LIST": {"kind": "struct", "size": 16',
                          '"_LIST": {"kind": "struct", "size": 7, "fields": {}}, '
                          '"_LIST": {"kind": "struct", "size": 16')):
            self.assertIn(old, text)
            done, answer, codes = self.types(self.write("twice.json", text.replace(old, new).encode()))
            self.assertEqual((done.returncode, codes), (1, {"isf-entry"}))
            types = {type_["name"]: type_ for type_ in answer["types"]}
            places = {row["name"]: row["offset"] for row in types["_ALL"]["members"]}
            self.assertEqual(places["mode"], 112)


class Vast(Isf):
    def test_deep_ones_end(self):
        deep = lambda levels: {"kind": "pointer", "subtype": deep(levels - 1)} if levels else \
            base("char")
        for levels, status in ((20, 0), (50, 0), (70, 2)):
            table = copy.deepcopy(TABLE)
            table["user_types"]["_LIST"]["fields"]["next"]["type"] = deep(levels)
            done = run("pe", "types", self.table(table), "_LIST")
            self.assertEqual(done.returncode, status, done.stderr)
        path = self.write("deep.json", b'{"metadata":' + b"[" * 5_000_000)
        done = run("pe", "types", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"nested deeper than 64", done.stderr)

    def test_types_in_themselves_end(self):
        table = copy.deepcopy(TABLE)
        inner = {"kind": "array", "count": 2 ** 31, "subtype": {"kind": "struct", "name": "_LIST"}}
        table["user_types"]["_LIST"]["fields"] = {"a": member(0, inner), "b": member(
            0, {"kind": "struct", "name": "_ALL"})}
        table["user_types"]["_ALL"]["fields"] = {"c": member(0, {"kind": "struct",
                                                                 "name": "_LIST"})}
        path = self.table(table)
        for options in (("--expand",), ("--depth", "32"), ("--format", "c-header"), ()):
            done = run("pe", "types", *options, path, "*")
            self.assertIn(done.returncode, (0, 1), options)
            self.assertLess(len(done.stdout), 4 << 20)
        self.assertIn(run("pe", "isf", path).returncode, (0, 1))

    def test_anonymous_ones_that_multiply_end(self):
        """Twelve levels, each with ten of the next: 10^12 members, or as many visits to types without any."""
        for leaf in ({"x": member(0, base("char"))}, {}):
            table = copy.deepcopy(TABLE)
            for level in range(12):
                table["user_types"][f"_L{level}"] = {"kind": "struct", "size": 8, "fields": {
                    f"u{number}": member(0, {"kind": "struct", "name": f"_L{level + 1}"}) | {"anonymous": True}
                    for number in range(10)}}
            table["user_types"]["_L12"] = {"kind": "struct", "size": 8, "fields": leaf}
            done = run("pe", "types", "--format", "json", self.table(table))
            self.assertEqual(done.returncode, 1)
            findings = strict_json(done.stdout)["findings"]
            self.assertEqual({finding["code"] for finding in findings}, {"isf-entry"})

    def test_bombs_are_not_unpacked(self):
        packer = lzma.LZMACompressor()
        start = json.dumps(TABLE).encode()
        packed = packer.compress(start)
        for _ in range(80):
            packed += packer.compress(b" " * (1 << 20))
        path = self.write("bomb.json.xz", packed + packer.flush())
        self.assertLess(path.stat().st_size, 1 << 20)
        done = run("pe", "types", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"unpacks to more than 67108864 bytes", done.stderr)
        vast = self.write("vast.json", start + b" " * (65 << 20))
        done = run("pe", "types", vast)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"more than 67108864 bytes", done.stderr)
        done = run("pe", "types", self.write("bomb.json.zst", zstd(start + b" " * (80 << 20))))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"unpacks to more than 67108864 bytes", done.stderr)

    def test_more_entries_than_any_kernel_has_are_refused(self):
        more = ",".join(f'"{number:x}":{{}}' for number in range((1 << 20) + 1))
        text = json.dumps(dict(TABLE, symbols={})).replace('"symbols": {}',
                                                           '"symbols": {%s}' % more)
        done = run("pe", "symbols", self.write("many.json", text.encode()))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"more than 1048576 entries", done.stderr)

    def test_changed_bytes_never_end_it_otherwise(self):
        text = json.dumps(TABLE).encode()
        chance = random.Random(1)
        pieces = [b'"', b"{", b"}", b"[", b",", b":", b"-", b"9", b"null", b"\\u0000", b"\xff",
                  b'"kind"', b'"subtype"', b"{}", b"1e9", b"18446744073709551616"]
        statuses = set()
        for number in range(60):
            changed = bytearray(text)
            for _ in range(chance.randint(1, 4)):
                at = chance.randrange(len(changed))
                changed[at:at + chance.randint(0, 12)] = chance.choice(pieces)
            path = self.write("changed.json", bytes(changed))
            command = (("pe", "types", "--format", "json"), ("pe", "symbols"), ("pe", "isf"))[number % 3]
            done = run(*command, path)
            self.assertIn(done.returncode, (0, 1, 2), bytes(changed))
            statuses.add(done.returncode)
        self.assertLessEqual({1, 2}, statuses)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
