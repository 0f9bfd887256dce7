"""Symbol tables of Volatility as input: objects of JSON have no order, so a table means the same in any, as in
that of names, in which pdbconv.py writes all (sort_keys=True).

usage: isf_order_test.py COLDTRACE PDBUTIL CLANG LLD SOURCES [unittest arguments]
"""
import json
import random
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from pe.types import pe_types_test as types
from pe.types.pe_types_test import CLANG, Case, run
from strict import strict_csv, strict_json

# Names go down where offsets, bits and values go up.
SOURCE = """
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
struct list { struct list *next; void *back; };
enum sign { ZERO, MINUS = -1, MANY = -40000, PLUS = 7, ALSO = 7 };
struct parts { u32 zeta; u32 yes; union { u64 whole; struct { u32 low, high; }; struct { u16 m, l; u8 k[4]; }; };
               struct list tail; union { struct list all[2]; struct { u8 fill[12]; u32 behind; }; struct { u8 gap[20]; u8 far; }; }; u32 a; };
struct flags { u8 type; union { u8 control; struct { u8 wake : 1, run : 1, rest : 6; }; struct { u8 third : 2, fourth : 6; }; };
               union { u32 word; struct { u16 z : 3, y : 13; u8 x, w; }; struct { u8 fine; u8 b[3]; }; }; struct list *at; };
union large { struct { u32 low; int high; }; struct { u32 low; int high; } u; long long quad; };
struct outer { int z; union { u32 whole; struct { u32 d : 5, c : 3, b : 24; } bits; struct { u16 second, first; } parts; } slot;
               enum { SECOND = 2, FIRST = 1, LAST = -1 } kind; struct { struct { u8 two, one; } in; union { u64 w; u32 v[2]; } either; } held; };
struct list g_list; struct parts g_parts; struct flags g_flags; union large g_large; struct outer g_outer; enum sign g_sign;
int entry(void) { return g_outer.z; }
"""


def shuffled(value, order):
    """The same, with the members of all objects in another order."""
    if not isinstance(value, dict):
        return value
    items = [(key, shuffled(inner, order)) for key, inner in value.items()]
    order.shuffle(items)
    return dict(items)


def without_indexes(value):
    """Numbers of records are those that reading the table gives."""
    if isinstance(value, list):
        return [without_indexes(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {key: without_indexes(inner) for key, inner in value.items() if key not in ("index", "type_index")}


def place(content):
    return content["offset"], content["type"].get("bit_position", 0)


class Order(Case):
    def tables(self, target):
        """The PDB, its table as JSON, the file of it, and files of the same in other orders."""
        pdb = self.pdb(target, source=SOURCE)
        done = run("pe", "isf", pdb)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = strict_json(done.stdout)
        others = [self.write("sorted.json", json.dumps(table, sort_keys=True).encode())]
        for seed in range(4):
            other = shuffled(table, random.Random(seed))
            self.assertNotEqual([*other["user_types"]["parts"]["fields"]], [*table["user_types"]["parts"]["fields"]])
            others.append(self.write(f"shuffled-{seed}.json", json.dumps(other).encode()))
        return pdb, table, self.write("plain.json", done.stdout), others

    def test_nothing_changed_but_the_order(self):
        for target in types.TARGETS:
            pdb, table, plain, others = self.tables(target)
            # Those without a name are compared where they are members.
            named = [name for name in (*table["user_types"], *table["enums"]) if not name.startswith("__")]
            self.assertGreaterEqual(len(named), 6)
            self.assertGreater(len(table["user_types"]) + len(table["enums"]), len(named))
            for other in others:
                for before, after in ((pdb, other), (other, pdb), (plain, other), (other, plain)):
                    with self.subTest(target, before=before.name, after=after.name):
                        done = run("pe", "types", "--compare", before, after, "--format", "json")
                        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
                        self.assertEqual(strict_json(done.stdout)["counts"],
                                         {"same": len(named), "changed": 0, "added": 0, "removed": 0})

    def test_members_come_by_offset_and_constants_by_value(self):
        for target in types.TARGETS:
            _, table, plain, others = self.tables(target)
            expected = without_indexes(types.document(plain)["types"])
            for entry in expected:
                rows = entry["members"]
                if entry["kind"] == "enum":
                    constants = table["enums"][entry["name"]]["constants"]
                    self.assertEqual([row["value"] for row in rows], sorted(constants.values()))
                    self.assertEqual({row["name"]: row["value"] for row in rows}, constants)
                else:
                    fields = table["user_types"][entry["name"]]["fields"]
                    self.assertEqual([place(fields[row["name"]]) for row in rows], sorted(map(place, fields.values())))
                    self.assertEqual({row["name"]: row["offset"] for row in rows},
                                     {name: field["offset"] for name, field in fields.items()})
            places = [(entry["name"], row["name"]) for entry in expected for row in entry["members"]]
            for other in others:
                with self.subTest(target, other=other.name):
                    self.assertEqual(without_indexes(types.document(other)["types"]), expected)
                    rows = strict_csv(run("pe", "types", "--format", "csv", other).stdout)
                    self.assertEqual([(row["type"], row["name"]) for row in rows], places)
                    text = run("pe", "types", other, "parts").stdout
                    self.assertEqual(re.findall(rb"^   \+0x\w+ (\w+)", text, re.M),
                                     [name.encode() for of, name in places if of == "parts"])
                    self.assertEqual(run("pe", "isf", other).stdout, run("pe", "isf", plain).stdout)

    def test_a_compiler_has_the_members_where_the_table_has_them(self):
        for target in types.TARGETS:
            _, table, _, others = self.tables(target)
            places = {(name.encode(), field.encode(), content["offset"])
                      for name, user in table["user_types"].items() if not name.startswith("__")
                      for field, content in user["fields"].items() if content["type"]["kind"] != "bitfield"}
            bits = {(field, content["type"]["bit_position"], content["type"]["bit_length"])
                    for user in table["user_types"].values() for field, content in user["fields"].items()
                    if content["type"]["kind"] == "bitfield"}
            for other in others:
                with self.subTest(target, other=other.name):
                    header = run("pe", "types", "--format", "c-header", other).stdout
                    checked = {(name, field, int(offset, 16)) for name, field, offset in
                               re.findall(rb"OFFSET\(\w+ (\w+), (\w+)\) == (0x\w+)", header)}
                    self.assertEqual(places - checked, set())
                    self.assertEqual({(field.decode(), int(first), int(length)) for field, length, first in
                                      re.findall(rb" (\w+) : (\d+); /\* \+0x\w+ Pos (\d+) \*/", header)}, bits)
                    self.call(CLANG, f"--target={target}-pc-windows-msvc", "-fsyntax-only",
                              self.write("use.c", header))
                    # Nothing of it overlaps: no union explains it.
                    own = run("pe", "types", "--format", "c-header", other, "list").stdout
                    self.assertNotRegex(own, b"union|padding")
                    # What overlaps is in one place of the structure, and the rest is as it was.
                    own = run("pe", "types", "--format", "c-header", other, "flags").stdout
                    self.assertRegex(own, rb"struct flags \{\n  unsigned char type;")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
