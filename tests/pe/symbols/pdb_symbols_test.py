"""coldtrace pe symbols beyond public symbols, and pe types beyond members, against llvm-pdbutil.

usage: pdb_symbols_test.py COLDTRACE PDBUTIL CLANG LLD SOURCES [unittest arguments]
What needs a compiler is skipped where there is none; what is written here is not.
"""
import gzip
import json
import lzma
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from pe.pdb import pdb_writer
from pe.pdb.pdb_writer import symbol
from strict import strict_csv, strict_json

COLDTRACE, PDBUTIL, CLANG, LLD, SOURCES = sys.argv[1:6]
SYMBOLS, TYPES = (json.loads((Path(SOURCES) / f"docs/schema/{name}.schema.json").read_text())
                  for name in ("pe-symbols", "pdb-types"))
TARGETS = {"x86_64": "x64", "i686": "x86", "aarch64": "arm64"}
KINDS = {"S_GDATA32": "global", "S_LDATA32": "data", "S_GTHREAD32": "global", "S_LTHREAD32": "data",
         "S_CONSTANT": "constant", "S_UDT": "udt"}
PRIVATE = "global,data,constant,udt"

CPP = """
namespace room { struct base { virtual int area(int) = 0; virtual ~base(); int x; };
class shape : public base { public: int area(int) override; virtual int wider(short); static int count(int);
  int over(int); int over(short) const; static int over(long long); virtual int over(char); virtual int over(float) = 0;
 protected: void hidden(); private: int secret; void own(int); void own(char); }; }
typedef room::shape *shape_pointer; using number = unsigned long long;
enum class level : signed char { low = -3, high = 100 };
constexpr level start = level::low; static const int answer = 42; constexpr unsigned big = 40000;
constexpr double half = 0.5; constexpr long long deep = -5000000000;
struct holder { static constexpr int inside = -7; static int counter; };
int holder::counter = 3;
number g_number = 5; static shape_pointer s_shape; thread_local int g_thread = 4; static thread_local short s_thread = 2;
extern "C" int other(int);
int room::shape::area(int y) { typedef int local_type; static local_type calls = 1; return ++calls + x + y; }
room::base::~base() {} int room::shape::wider(short y) { return y; } int room::shape::over(int y) { return y; }
void operator delete(void *, decltype(sizeof(0))) noexcept {}
extern "C" int _purecall() { return 0; }
static int twice(int v) { return v * 2; }
extern "C" unsigned _tls_index = 0; extern "C" int _tls_used = 0; extern "C" int _fltused = 1;
extern "C" int entry() { static level kept = start; s_shape = nullptr;
  return twice((int)g_number) + answer + holder::inside + g_thread + s_thread + other((int)big) + (int)half + (int)kept + (int)deep; }
"""
C = """
typedef struct pair { short a, b; } PAIR; PAIR g_pair = {1, 2}; static const char text[] = "x"; enum { SEVEN = 7 };
int other(int v) { static PAIR inner; inner.a++; return v + g_pair.a + text[0] + SEVEN + inner.a; }
"""


def run(*arguments):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)


def symbols(path, *options, code=None):
    done = run("pe", "symbols", "--format", "json", "-q", *options, path)
    if code is not None:
        assert done.returncode == code, (done.returncode, done.stderr)
    answer = strict_json(done.stdout)
    jsonschema.validate(answer, SYMBOLS, jsonschema.Draft202012Validator)
    return answer["files"][0]


def types(path, *names):
    answer = strict_json(run("pe", "types", "--format", "json", "-q", path, *names).stdout)
    jsonschema.validate(answer, TYPES, jsonschema.Draft202012Validator)
    return answer["types"]


class Case(case.Case):
    made = {}

    def pdb(self, target="x86_64"):
        """A PDB of a C++ and a C file, built once."""
        if not all(Path(tool).is_file() for tool in (CLANG, LLD, PDBUTIL)):
            self.skipTest("no clang, lld-link or llvm-pdbutil")
        if target not in self.made:
            objects = []
            for name, source, flags in (("first.cpp", CPP, ["-std=c++20", "-fno-exceptions", "-fno-rtti", "-fstandalone-debug"]),
                                        ("second.c", C, [])):
                path = self.write(name, source.encode())
                objects.append(path.with_suffix(".obj"))
                self.call(CLANG, f"--target={target}-pc-windows-msvc", "-g", "-gcodeview", "-O0", "-w",
                          "-ffreestanding", *flags, "-c", path, "-o", objects[-1])
            self.call(LLD, "/nodefaultlib", "/entry:entry", "/subsystem:console", "/debug", "/brepro",
                      "/force:unresolved", f"/machine:{TARGETS[target]}", f"/out:{self.here}/o.exe",
                      f"/pdb:{self.here}/o.pdb", *objects)
            self.made[target] = (self.here / "o.pdb").read_bytes()
        return self.write(f"{target}.pdb", self.made[target])

    def call(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)


def dump(path, *options):
    return subprocess.run([PDBUTIL, "dump", *options, path], capture_output=True, text=True, timeout=120,
                          check=True).stdout


def data_symbols(text):
    """Kind, name, type, place or value, whether of a thread."""
    found = []
    for kind, name, body in re.findall(
            r"\| (S_[GL](?:DATA|THREAD)32|S_CONSTANT|S_UDT) \[size = \d+\] `(.*)`\n +(.*)$", text, re.M):
        type_ = re.search(r"type = 0x([0-9A-F]+)", body)  # else "<no type>"
        type_ = int(type_[1], 16) if type_ else None
        place = re.search(r"addr = (\d+):(\d+)", body)
        value = re.search(r"value = (-?\d+)", body)
        found.append((KINDS[kind], name, type_, (int(place[1]), int(place[2])) if place else None,
                      int(value[1]) if value else None, "THREAD" in kind if place else None))
    return found


class Data(Case):
    def test_every_variable_constant_and_type_name(self):
        total = 0
        for target in TARGETS:
            with self.subTest(target):
                path = self.pdb(target)
                program, modules = data_symbols(dump(path, "-globals")), data_symbols(dump(path, "-symbols"))
                theirs = program + [row for row in modules if row not in program]
                rows = symbols(path, "--kind", PRIVATE)["symbols"]
                by_key = lambda row: (row[0], row[1], row[2], str(row[3:]))
                floating = {row["name"] for row in rows if row["type"] == "const Double"}
                self.assertEqual(floating, {"half"})
                theirs = [(*row[:4], None if row[1] in floating else row[4], row[5]) for row in theirs]
                mine = [(row["kind"], row["name"], row["type_index"],
                         (row["section"], row["offset"]) if row["section"] is not None else None,
                         row["value"], row["thread_local"]) for row in rows]
                self.assertEqual(sorted(mine, key=by_key), sorted(theirs, key=by_key))
                names = {row["name"]: row for row in rows}
                self.assertEqual((names["g_number"]["type"], names["g_number"]["size"]), ("Uint8B", 8))
                self.assertEqual((names["answer"]["value"], names["holder::inside"]["value"],
                                  names["big"]["value"], names["deep"]["value"]), (42, -7, 40000, -5000000000))
                self.assertEqual(names["SEVEN"]["kind"], "constant")
                self.assertEqual((names["PAIR"]["type"], names["g_pair"]["size"]), ("pair", 4))
                self.assertIn("room::shape::area::calls", names)  # of a function
                self.assertTrue(names["s_thread"]["thread_local"])
                total += len(mine)
        print(f"{total} data symbols compared", file=sys.stderr)

    def test_each_kind_alone_is_its_part_of_all(self):
        path = self.pdb()
        rows = symbols(path, "--kind", PRIVATE)["symbols"]
        for kind in PRIVATE.split(","):
            self.assertEqual(symbols(path, "--kind", kind)["symbols"],
                             [row for row in rows if row["kind"] == kind])

    def test_procedures_have_their_types(self):
        for target in TARGETS:
            path = self.pdb(target)
            theirs = dict(re.findall(r"\| S_[GL]PROC32 \[.*\] `(.*)`\n.*\n +type = `0x([0-9A-F]+)", dump(path, "-symbols")))
            rows = symbols(path, "--kind", "procedure,local_procedure")["symbols"]
            self.assertEqual({row["name"]: row["type_index"] for row in rows},
                             {name: int(index, 16) for name, index in theirs.items()})
            twice, = (row for row in rows if row["name"] == "twice")
            self.assertEqual(twice["type"], "Int4B (Int4B)")

    def test_csv_and_text_say_the_same(self):
        path = self.pdb()
        rows = symbols(path, "--kind", PRIVATE + ",public")["symbols"]
        table = strict_csv(run("pe", "symbols", "--format", "csv", "--kind", PRIVATE + ",public", "-q", path).stdout)
        cell = lambda value: "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        for member in ("name", "kind", "section", "size", "module", "type", "type_index", "value", "thread_local"):
            self.assertEqual([row[member] for row in table], [cell(row[member]) for row in rows], member)
        text = run("pe", "symbols", "--kind", PRIVATE, "-q", path).stdout.decode()
        self.assertRegex(text, r"\n-  +-  +-  +-  +constant +- +deep : const Int8B = -5000000000\n")
        self.assertRegex(text, r"global +0x8 +g_number : Uint8B  \[.*first\.obj\]\n")


class Modules(Case):
    def contributions(self, path):
        found = {}
        for module, section, offset, size in re.findall(
                r"SC\[.*\] +\| mod = (\d+), (\d+):(\d+), size = (\d+)", dump(path, "-section-contribs")):
            found.setdefault(int(module), []).append((int(section), int(offset), int(size)))
        return found

    def test_modules_their_objects_and_contributions(self):
        for target in TARGETS:
            with self.subTest(target):
                path = self.pdb(target)
                text = dump(path, "-modules")
                theirs = re.findall(r"Mod (\d+) \| `(.*)`:[^`]*?\n +Obj: `(.*)`:[^#]*# files: (\d+)",
                                    re.sub(r"(?m)^ *SC\[.*\n.*\n(?: +IMAGE.*\n)*", "", text).replace("\nObj", "\n Obj"))
                rows = symbols(path, "--modules", code=0)["modules"]
                self.assertEqual([(row["index"], row["name"], row["object"] or "", row["source_files"]) for row in rows],
                                 [(int(number), name, object_, int(files)) for number, name, object_, files in theirs])
                self.assertEqual(len(rows), 3)
                parts = self.contributions(path)
                self.assertEqual({row["index"]: sorted((one["section"], one["offset"], one["size"])
                                                       for one in row["contributions"])
                                  for row in rows if row["contributions"]},
                                 {number: sorted(places) for number, places in parts.items() if number < len(rows)})
                self.assertGreater(sum(map(len, parts.values())), 3)

    def test_what_compiled_them_and_how(self):
        for target in TARGETS:
            with self.subTest(target):
                path = self.pdb(target)
                text = dump(path, "-symbols")
                theirs = re.findall(r"Ver = (.*), language = (.*)\n +frontend = (.*), backend = (.*)", text)
                rows = symbols(path, "--modules")["modules"]
                self.assertEqual([(row["compiler"]["version"], row["compiler"]["language"],
                                   row["compiler"]["front_end"], row["compiler"]["back_end"]) for row in rows], theirs)
                self.assertEqual([row["compiler"]["language"] for row in rows], ["c++", "c", "link"])
                builds = re.findall(r"LF_BUILDINFO .*\n((?: +0x.*\n)+)", dump(path, "-ids"))
                texts = [[part or None for part in re.findall(r"0x[0-9A-F]+: `(.*)`", build)] for build in builds]
                self.assertEqual([list(row["build"].values()) for row in rows if row["build"]], texts)
                self.assertIn('"-cc1"', rows[0]["build"]["command_line"])

    def test_the_module_of_a_symbol_is_that_of_its_bytes(self):
        for target in TARGETS:
            with self.subTest(target):
                path = self.pdb(target)
                names = [row["name"] for row in symbols(path, "--modules")["modules"]]
                parts = [(section, offset, size, names[number])
                         for number, places in self.contributions(path).items() if number < len(names)
                         for section, offset, size in places]
                named = 0
                for row in symbols(path, "--kind", "public,global,data")["symbols"]:
                    holders = {name for section, offset, size, name in parts if section == row["section"]
                               and offset <= row["offset"] < offset + size}
                    if holders:
                        self.assertEqual({row["module"]}, holders, row["name"])
                        named += 1
                    elif row["kind"] == "public":
                        self.assertIsNone(row["module"])
                self.assertGreater(named, 10)

    def test_names_choose_and_formats_agree(self):
        path = self.pdb()
        row, = symbols(path, "--modules", "--name", "*second.obj")["modules"]
        self.assertEqual(row["index"], 1)
        done = run("pe", "symbols", "--modules", "--name", "*third*", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no-match", done.stderr)
        table = strict_csv(run("pe", "symbols", "--modules", "--format", "csv", "-q", path).stdout)
        rows = symbols(path, "--modules")["modules"]
        self.assertEqual([(row["index"], row["name"], row["section"], row["offset"], row["rva"], row["size"]) for row in table],
                         [(str(row["index"]), row["name"] or "", *(str(one[key]) for key in ("section", "offset", "rva", "size")))
                          if one else (str(row["index"]), row["name"] or "", "", "", "", "")
                          for row in rows for one in row["contributions"] or [None]])
        text = run("pe", "symbols", "--modules", "-q", path).stdout.decode()
        self.assertIn("3 modules\n", text)
        self.assertRegex(text, r"\n0001 .*second\.obj\n     c, Debian|\n0001 .*second\.obj\n     c, .*clang")
        self.assertIn(rows[0]["build"]["command_line"], text)

    def test_modules_take_no_kind(self):
        done = run("pe", "symbols", "--modules", "--kind", "public", self.written())
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--modules", done.stderr)

    def written(self):
        return self.write("w.pdb", pdb_writer.pdb_of_symbols(modules=[(b"a.obj", b"")]))


class TypeDetails(Case):
    def test_each_overload_has_its_signature_access_and_kind(self):
        """By the method lists and attributes that llvm-pdbutil reads."""
        words = {"": "plain", "virtual": "virtual", "static": "static", "intro virtual": "introducing_virtual",
                 "pure": "pure_virtual", "pure intro": "pure_introducing_virtual", "pure intro virtual": "pure_introducing_virtual"}
        for target in TARGETS:
            with self.subTest(target):
                path = self.pdb(target)
                text = dump(path, "-types")
                lists = {int(index, 16): re.findall(r"- Method \[type = 0x([0-9A-F]+), vftable offset = (-?\d+), attrs = (.*?)\]", body)
                         for index, body in re.findall(r"0x([0-9A-F]+) \| LF_METHODLIST .*\n((?: +- .*\n)+)", text)}
                self.assertGreaterEqual(len(lists), 2)
                theirs = {}
                for several, name, index in re.findall(r"LF_METHOD \[name = `(.*?)`, # overloads = (\d+), overload list = 0x([0-9A-F]+)\]", text):
                    rows = []
                    for type_, offset, attributes in lists[int(index, 16)]:
                        access, _, kind = attributes.replace(" compiler-generated", "").partition(" ")
                        rows.append((int(type_, 16), access, words[kind], None if int(offset) < 0 else int(offset)))
                    theirs[several] = rows
                self.assertEqual({name: len(rows) for name, rows in theirs.items()}, {"over": 5, "own": 2})
                shape, = (entry for entry in types(path) if entry["name"] == "room::shape" and entry["defined"])
                mine = {}
                for row in shape["members"]:
                    self.assertNotEqual(row["kind"], "overloads")
                    if row["name"] in theirs:
                        self.assertEqual(row["kind"], "method")
                        mine.setdefault(row["name"], []).append(
                            (row["type_index"], row["access"], row["method"]["kind"], row["method"]["vtable_offset"]))
                self.assertEqual(mine, theirs)
                self.assertEqual({row["name"]: (row["access"], row["method"]["kind"]) for row in shape["members"]
                                  if row["kind"] == "method" and row["name"] in ("area", "wider", "count", "hidden")},
                                 {"area": ("public", "virtual"), "wider": ("public", "introducing_virtual"),
                                  "count": ("public", "static"), "hidden": ("protected", "plain")})
                text = run("pe", "types", path, "room::shape").stdout.decode()
                self.assertIn("   (method) over : Int4B (Int2B), public\n", text)
                self.assertIn("   (method) count : Int4B (Int4B), public static\n", text)

    def test_tables_of_virtual_functions_have_their_shape(self):
        for target in TARGETS:
            with self.subTest(target):
                path = self.pdb(target)
                parts = re.split(r"^ +0x([0-9A-F]{4,}) \| ", dump(path, "-types", "-type-data"), flags=re.M)[1:]
                shapes, named = {}, {}
                for index, body in zip(parts[::2], parts[1::2]):
                    if count := re.match(r"LF_VTSHAPE .*\n +Bytes \(\n +0000: [0-9A-F]{4}0A00 ([0-9A-F]{4})", body):
                        shapes[int(index, 16)] = int(count[1][2:] + count[1][:2], 16)
                    elif body.startswith(("LF_STRUCTURE", "LF_CLASS")) and (shape := re.search(r"vtable: 0x([0-9A-F]+)", body)):
                        named[int(index, 16)] = int(shape[1], 16)
                self.assertTrue(shapes)
                found = {entry["index"]: entry["vtable_shape"] for entry in types(path) if entry["vtable_shape"]}
                self.assertEqual({index: shape["index"] for index, shape in found.items()},
                                 named)
                self.assertEqual(sorted(shapes[shape] for shape in named.values()), [2, 5])
                for shape in found.values():
                    self.assertEqual(len(shape["slots"]), shapes[shape["index"]])
                    even = len(shape["slots"]) // 2 * 2  # clang 14 leaves the last of an odd number 0
                    self.assertEqual(set(shape["slots"][:even]), {"near"})

    def test_types_have_the_place_in_the_source(self):
        for target in TARGETS:
            with self.subTest(target):
                path = self.pdb(target)
                ids = dump(path, "-ids")
                texts = {int(index, 16): text for index, text in re.findall(r"0x([0-9A-F]+) \| LF_STRING_ID .*String: (.*)\n", ids)}
                lines = {int(udt, 16): (texts[int(file)], int(line)) for udt, file, line in
                         re.findall(r"LF_UDT_SRC_LINE .*\n +udt = 0x([0-9A-F]+), file = (\d+), line = (\d+)", ids)}
                found = {entry["index"]: (entry["source"]["file"], entry["source"]["line"])
                         for entry in types(path) if entry["source"]}
                self.assertEqual(found, {index: place for index, place in lines.items() if index in found})
                self.assertGreaterEqual(len(found), 3)
                pair, = types(path, "pair")
                self.assertTrue(pair["source"]["file"].endswith("second.c"))
                self.assertEqual(pair["source"]["line"], 2)
        text = run("pe", "types", "--sources", path, "pair").stdout.decode()
        self.assertRegex(text, r"struct pair, 2 elements, 0x4 bytes\n   // .*second\.c:2\n")
        for refused in (("--format", "csv"), ("--format", "c-header"), ("--compare", path)):
            self.assertEqual(run("pe", "types", "--sources", *refused, path).returncode, 2)


def data(kind, type_, offset, section, name):
    return symbol(kind, struct.pack("<IIH", type_, offset, section) + name)


def text_id(text, parts=0):
    return struct.pack("<HI", 0x1605, parts) + text + b"\0"


class Written(Case):
    """What no linker here writes: old forms, identifiers, lists of texts, damage."""

    def test_names_with_a_length(self):
        records = b"".join((data(0x1008, 0x74, 4, 1, b"\x08old_data"), data(0x1007, 0x75, 8, 1, b"\x05local"),
                            data(0x100f, 0x74, 12, 1, b"\x06thread"), symbol(0x1002, struct.pack("<IHh", 0x11, 0x8001, -300) + b"\x05count"),
                            symbol(0x1003, struct.pack("<I", 0x77) + b"\x04word")))
        rows = symbols(self.write("old.pdb", pdb_writer.pdb_of_symbols(records)), "--kind", PRIVATE)["symbols"]
        self.assertEqual([(row["kind"], row["name"], row["type"], row["rva"], row["value"], row["thread_local"]) for row in rows],
                         [("global", "old_data", "Int4B", 0x1004, None, False), ("data", "local", "Uint4B", 0x1008, None, False),
                          ("global", "thread", "Int4B", 0x100c, None, True), ("constant", "count", "Int2B", None, -300, None),
                          ("udt", "word", "Uint8B", None, None, None)])

    def test_constants_of_each_leaf(self):
        leaves = ((struct.pack("<H", 5), 0x74, 5), (struct.pack("<Hb", 0x8000, -1), 0x20, 255), (struct.pack("<Hb", 0x8000, -1), 0x74, -1),
                  (struct.pack("<HI", 0x8004, 0xffffffff), 0x74, -1), (struct.pack("<HI", 0x8004, 0xffffffff), 0x75, 0xffffffff),
                  (struct.pack("<HQ", 0x800a, 2 ** 64 - 1), 0x77, 2 ** 64 - 1), (struct.pack("<Hq", 0x8009, -2 ** 63), 0x76, -2 ** 63),
                  (struct.pack("<Hd", 0x8006, 1.5), 0x41, None), (struct.pack("<Hf", 0x8005, 1.5), 0x40, None),
                  (struct.pack("<H", 0x8007) + bytes(10), 0x42, None), (struct.pack("<H", 0x8017) + bytes(16), 0x78, None))
        records = b"".join(symbol(0x1107, struct.pack("<I", type_) + leaf + b"c%d\0" % number)
                           for number, (leaf, type_, _) in enumerate(leaves))
        rows = symbols(self.write("leaves.pdb", pdb_writer.pdb_of_symbols(records)), "--kind", "constant")["symbols"]
        self.assertEqual([(row["name"], row["value"]) for row in rows],
                         [(f"c{number}", value) for number, (_, _, value) in enumerate(leaves)])

    def test_annotations(self):
        body = struct.pack("<IHH", 0x20, 1, 3) + b"TMF:\0one\0two \xff\0"
        modules = [(b"a.obj", symbol(0x1019, body) + symbol(0x1019, struct.pack("<IHH", 0x30, 1, 1) + b"note\0")),
                   (b"b.obj", symbol(0x1019, struct.pack("<IHH", 0x10, 1, 1) + b"last\0"))]
        path = self.write("notes.pdb", pdb_writer.pdb_of_symbols(modules=modules))
        rows = symbols(path, "--kind", "annotation")["symbols"]
        self.assertEqual([(row["name"], row["texts"], row["rva"], row["module"]) for row in rows],
                         [("last", ["last"], 0x1010, "b.obj"), ("TMF:", ["TMF:", "one", "two \ufffd"], 0x1020, "a.obj"),
                          ("note", ["note"], 0x1030, "a.obj")])
        self.assertEqual([row.get("texts_bytes") for row in rows], [None, [None, None, b"two \xff".hex()], None])
        only, = symbols(path, "--kind", "annotation", "--name", "TMF:")["symbols"]
        self.assertEqual(only["section"], 1)
        self.assertIn("TMF: | one | two", run("pe", "symbols", "--kind", "annotation", path).stdout.decode("utf-8", "replace"))

    def test_functions_by_identifier(self):
        """Objects name a record of the IPI stream where a linker leaves the type's."""
        arguments, function = struct.pack("<HII", 0x1201, 1, 0x75), struct.pack("<HIBBHI", 0x1008, 0x74, 0, 0, 1, 0x1000)
        ids = [struct.pack("<HII", 0x1601, 0, 0x1001) + b"f\0", struct.pack("<HII", 0x1602, 0x1001, 0x1001) + b"m\0"]
        body = lambda id_, offset, name: struct.pack("<7IIHB", 0, 0, 0, 16, 0, 0, id_, offset, 1, 0) + name
        modules = [(b"a.obj", symbol(0x1147, body(0x1000, 0, b"f\0")) + symbol(0x1146, body(0x1001, 16, b"m\0"))
                    + symbol(0x1147, body(0x1fff, 32, b"lost\0")))]
        path = self.write("ids.pdb", pdb_writer.pdb_of_symbols(modules=modules, types=[arguments, function], ids=ids))
        rows = symbols(path, "--kind", "procedure,local_procedure")["symbols"]
        self.assertEqual([(row["kind"], row["name"], row["type_index"], row["type"]) for row in rows],
                         [("procedure", "f", 0x1001, "Int4B (Uint4B)"), ("local_procedure", "m", 0x1001, "Int4B (Uint4B)"),
                          ("procedure", "lost", None, None)])

    def test_texts_of_lists(self):
        ids = [text_id(b"-a"), text_id(b" -b"), struct.pack("<HIII", 0x1604, 2, 0x1000, 0x1001), text_id(b" -c", 0x1002),
               text_id(b"C:\\dir"), text_id(b"x.c"), struct.pack("<HH5I", 0x1603, 5, 0x1004, 0, 0x1005, 0x1fff, 0x1003)]
        compile2 = symbol(0x1116, struct.pack("<I7H", 3, 0xd0, 1, 2, 3, 4, 5, 6) + b"Assembler\0\0")
        modules = [(b"a.obj", compile2 + symbol(0x114c, struct.pack("<I", 0x1006))), (b"b.obj", symbol(0x114c, struct.pack("<I", 0x1000)))]
        first, second = symbols(self.write("texts.pdb", pdb_writer.pdb_of_symbols(modules=modules, ids=ids, publics=[])), "--modules", code=0)["modules"]
        self.assertEqual(first["build"], {"directory": "C:\\dir", "tool": None, "source": "x.c", "type_file": None, "command_line": "-a -b -c"})
        self.assertEqual(first["compiler"], {"language": "masm", "version": "Assembler", "front_end": "1.2.3.0", "back_end": "4.5.6.0"})
        self.assertEqual((first["object"], second["build"], second["compiler"]), ("lib of a.obj", None, None))

    def test_a_list_that_is_part_of_itself_ends(self):
        ids = [struct.pack("<HI40I", 0x1604, 40, *[0x1001] * 40), text_id(b"x" * 60, 0x1000), struct.pack("<HHI", 0x1603, 1, 0x1001)]
        modules = [(b"a.obj", symbol(0x114c, struct.pack("<I", 0x1002)))]
        row, = symbols(self.write("self.pdb", pdb_writer.pdb_of_symbols(modules=modules, ids=ids)), "--modules")["modules"]
        self.assertLessEqual(len(row["build"]["directory"]), 1 << 16)

    def test_sources_in_the_table_of_texts(self):
        """As Microsoft's linker has them: places in the stream /names."""
        structure = struct.pack("<HHHIIIH", 0x1505, 0, 0, 0, 0, 0, 4) + b"s\0"
        ids = [struct.pack("<HIIIH", 0x1607, 0x1000, 1, 77, 3), struct.pack("<HIIIH", 0x1607, 0x1001, 99, 1, 3)]
        content = pdb_writer.type_stream([structure, structure.replace(b"s\0", b"t\0")])
        texts = b"\0c:\\s.h\0"
        names = struct.pack("<III", 0xeffeeffe, 1, len(texts)) + texts + struct.pack("<II", 0, 0)
        info = struct.pack("<III", 20000404, 1, 1) + bytes(range(16))
        info += struct.pack("<I", 7) + b"/names\0" + struct.pack("<IIIIIIII", 1, 1, 1, 1, 0, 0, 5, 0)
        path = self.write("names.pdb", pdb_writer.msf([b"", info, content, b"", pdb_writer.type_stream(ids), names]))
        self.assertEqual([(entry["name"], entry["source"]) for entry in types(path)],
                         [("s", {"file": "c:\\s.h", "line": 77}), ("t", None)])

    def test_overloads_that_cannot_be_read_stay_one_row(self):
        fields = struct.pack("<HHHI", 0x1203, 0x150f, 2, 0x1000) + b"f\0\xf2\xf1"
        structure = struct.pack("<HHHIIIH", 0x1505, 1, 0, 0x1001, 0, 0, 4) + b"s\0"
        path = self.write("lists.pdb", pdb_writer.pdb_of_types([struct.pack("<HI", 0x1206, 0)[:5], fields, structure]))
        path = self.write("lists.pdb", pdb_writer.pdb_of_types([struct.pack("<HH", 0x1001, 0) + bytes(4), fields, structure]))
        done = run("pe", "types", path, "s")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"pdb-type-unknown", done.stderr)
        self.assertIn(b"(overloads) f", done.stdout)

    def test_damage_is_told_and_costs_itself_alone(self):
        good = data(0x110d, 0x74, 4, 1, b"good\0")
        endless = data(0x110d, 0x74, 8, 1, b"endless!")
        for records, code, names in ((good + endless[:-2] + b"!!" + good, "pdb-data", ["good", "good"]),
                                     (good + struct.pack("<HH", 0xfff0, 0x110d), "pdb-data", ["good"]),
                                     (good + struct.pack("<HH", 1, 0), "pdb-data", ["good"])):
            file = symbols(self.write("cut.pdb", pdb_writer.pdb_of_symbols(records)), "--kind", "global", code=1)
            self.assertIn(code, {finding["code"] for finding in file["findings"]})
            self.assertEqual([row["name"] for row in file["symbols"]], names)
        modules = [(b"a.obj", endless[:-2] + b"!!"), (b"b.obj", good)]
        file = symbols(self.write("cut.pdb", pdb_writer.pdb_of_symbols(modules=modules)), "--kind", "global", code=1)
        self.assertIn("pdb-procedures", {finding["code"] for finding in file["findings"]})
        self.assertEqual([(row["name"], row["module"]) for row in file["symbols"]], [("good", "b.obj")])

    def test_contributions_that_lie(self):
        content = pdb_writer.pdb_of_symbols(modules=[(b"a.obj", b"")], contributions=[(1, 0, 16, 0), (1, 16, 16, 9)], publics=[])
        file = symbols(self.write("lie.pdb", content), "--modules", code=1)
        self.assertIn("pdb-stream", {finding["code"] for finding in file["findings"]})
        self.assertEqual(len(file["modules"][0]["contributions"]), 1)
        at = content.index(struct.pack("<I", 0xf12eba2d))
        broken = content[:at] + b"\1\2\3\4" + content[at + 4:]
        file = symbols(self.write("lie.pdb", broken), "--modules", code=1)
        self.assertEqual(file["modules"][0]["contributions"], [])

    def test_output_is_bounded(self):
        """Long names of types and modules that every record shares."""
        structure = struct.pack("<HHHIIIH", 0x1505, 0, 0, 0, 0, 0, 4) + b"\x01" * 1000 + b"\0"
        modules = [(b"\x01" * 1020, symbol(0x1108, struct.pack("<I", 0x1000) + b"\0") * 1 + b"".join(
            symbol(0x1108, struct.pack("<I", 0x1000) + b"%d\0" % number) for number in range(3000)))]
        path = self.write("long.pdb", pdb_writer.pdb_of_symbols(modules=modules, types=[structure]))
        done = run("pe", "symbols", "--kind", "udt", "--format", "json", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"symbol-limit", done.stderr)
        self.assertLess(len(done.stdout), 200 * path.stat().st_size + (256 << 10))


class Packed(Case):
    def test_a_packed_file_is_what_it_holds(self):
        content = pdb_writer.pdb_of_symbols(data(0x110d, 0x74, 4, 1, b"g\0"), types=[struct.pack("<HHHIIIH", 0x1505, 0, 0, 0, 0, 0, 4) + b"s\0"])
        plain = self.write("a.pdb", content)
        packed = [self.write("a.pdb.gz", gzip.compress(content)), self.write("a.pdb.xz", lzma.compress(content))]
        if case.installed(self, "zstd"):
            subprocess.run(["zstd", "-q", plain, "-o", self.here / "a.pdb.zst"], check=True, timeout=60)
            packed.append(self.here / "a.pdb.zst")
        for path in packed:
            with self.subTest(path.suffix):
                mine, known = symbols(path, "--kind", "global"), symbols(plain, "--kind", "global")
                self.assertEqual({**mine, "path": ""}, {**known, "path": ""})
                self.assertEqual(types(path), types(plain))
                cut = self.write("cut" + path.suffix, path.read_bytes()[:-9])
                done = run("pe", "symbols", cut)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                other = self.write("other" + path.suffix, gzip.compress(b"no symbols"))
                self.assertEqual(run("pe", "symbols", other).returncode, 2)


class Documents(Case):
    def test_fields_and_columns_are_documented(self):
        text = (Path(SOURCES) / "docs/commands/pe.md").read_text().partition("### pe symbols")[2]
        file = SYMBOLS["properties"]["files"]["items"]["properties"]
        module = file["modules"]["anyOf"][0]["items"]["properties"]
        nested = [name for part in ("compiler", "build") for name in module[part]["anyOf"][0]["properties"]]
        for name in [*module, *nested, *module["contributions"]["items"]["properties"]]:
            if not name.endswith("_bytes"):
                self.assertRegex(text, rf"\b{name}\b")
        header = run("pe", "symbols", "--modules", "--format", "csv", Modules.written(self)).stdout.decode().splitlines()[0]
        self.assertIn("| `symbols --modules` | " + header.replace(",", ", ") + " |", text)
        text = (Path(SOURCES) / "docs/commands/pe-types.md").read_text()
        for name in ("vtable_shape", "slots", "source", "method", "vtable_offset"):
            self.assertRegex(text, rf"\b{name}\b")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
