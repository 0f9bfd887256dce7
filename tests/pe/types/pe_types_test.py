"""coldtrace pe types against the compiler, llvm-pdbutil and the rules of the format.

usage: pe_types_test.py COLDTRACE PDBUTIL CLANG LLD SOURCES [unittest arguments]
Where no PDB can be made, all of it is skipped.
"""
import json
import re
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from pe.pdb import pdb_writer
from strict import strict_csv, strict_json

COLDTRACE, PDBUTIL, CLANG, LLD, SOURCES = sys.argv[1:6]
SCHEMA, COMPARISON = (json.loads((Path(SOURCES) / f"docs/schema/{name}.schema.json").read_text())
                      for name in ("pdb-types", "pdb-type-comparison"))
TARGETS = {"x86_64": 8, "i686": 4, "aarch64": 8}
MACHINES = {"x86_64": "x64", "i686": "x86", "aarch64": "arm64"}

C = """
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;
typedef unsigned long long u64;
enum level { LOW = -2, MIDDLE = 7, HIGH = 0x7fffffff };
enum large { LARGE_ONE = 1, LARGE_TOP = 0x80000001u };
struct chain { struct chain *next, *previous; };
struct unseen;
typedef long (__stdcall *handler)(struct unseen *self, void *context, const volatile u8 *bytes);
struct bits { u32 one : 1; u32 : 2; u32 three : 3; u32 rest : 26; u64 wide : 40; u64 top : 24; };
struct nested { u16 a; union { u32 whole; struct { u16 low, high; }; u8 each[4]; };
                struct { u32 x; u64 y; } place; u8 flag : 1; u8 other : 7; };
#pragma pack(push, 1)
struct tight { u8 a; u32 b; u64 c; u16 d[3]; struct nested n; };
#pragma pack(pop)
union shapes { u8 raw[24]; u64 number; struct { u32 first, second; } pair; struct bits b; double d; };
struct tables { u32 grid[3][5]; struct nested pieces[2]; u16 *names[7]; handler calls[4]; };
struct vast { u8 before[70000]; u32 after; };
struct marked { const u32 c; volatile u64 v; const volatile u8 *p; void *const q; enum level e;
                enum large f; struct chain link; handler h; struct unseen *u; int (*many)(int, ...); };
struct plain { char c; signed char s; short h; long l; long long ll; float f; double d; _Bool b;
               wchar_t_ w; void *p; };
struct all { struct tight t; union shapes s; struct tables *tables; struct vast *vast;
             struct marked m; struct plain p; } everything;
struct tables g_tables; struct vast g_vast;
int entry(void) { return (int)everything.m.c; }
""".replace("wchar_t_", "unsigned short")

CPP = """
using u32 = unsigned int; using u64 = unsigned long long;
namespace room {
struct first { virtual ~first(); virtual int run(int); u32 a; };
struct second { u64 b; };
class both : public first, private second {
 public:
  static int counter; enum class mode : unsigned char { off, on = 200 };
  struct part { mode m; u32 bits : 3; u32 more : 5; };
  int run(int) override; int over(int); int over(double) const;
 protected: u32 d; part p; const char *name; };
struct shared : virtual second { u32 v; };
template <class T, int N> struct row { T items[N]; T *begin; };
enum class wide : long long { least = (-9223372036854775807LL - 1), small = -40000, most = 9223372036854775807LL };
enum class tiny : signed char { below = -1, above = 1 }; enum class letter : char { low = -2 };
enum class byte : unsigned char { high = 0x80 }; enum class eight : unsigned long long { top = 0xffffffffffffffffULL };
}
struct nothing {}; struct built : nothing { u32 x; u32 &reference; u32 &&moved; decltype(nullptr) none;
  int room::both::*data; };
struct alignas(32) aligned { char c; };
int room::both::counter = 4;
room::first::~first() {} int room::first::run(int x) { return x; }
int room::both::run(int x) { return x + 1; } int room::both::over(int x) { return x; }
int room::both::over(double) const { return 1; }
void operator delete(void *, decltype(sizeof(0))) noexcept {}
room::row<u64, 4> g_row; room::wide g_wide = room::wide::small; room::tiny g_tiny; room::letter g_letter; room::byte g_byte; room::eight g_eight; aligned g_aligned; built *g_built;
room::shared *g_shared; room::both *g_both;
extern "C" int entry() { return g_both->over(1); }
extern "C" int _fltused = 1;
"""

# What C++ lays out: bases, virtual ones, static members, templates, nested, unnamed, packed, bits.
LAYOUTS = """
using u8 = unsigned char; using u16 = unsigned short; using u32 = unsigned int; using u64 = unsigned long long;
namespace room {
struct empty {}; struct other_empty {};
struct plain { u8 a; u64 b; u16 c; };
struct tail { u64 a; u8 b; };
struct no_virtual : tail { u8 c; };
struct two : plain, tail { u32 own; };
struct from_empty : empty { u8 x; u32 y; };
struct from_two_empty : empty, other_empty { u8 x; };
struct first { virtual ~first(); virtual void run(); u8 flag; };
struct second { virtual void walk(); u64 wide; };
struct both : first, second { void run() override; u16 last; };
struct late_table : plain { virtual void run(); u8 z; };
struct shared : virtual plain { u32 v; };
struct left : virtual first { u8 l; }; struct right : virtual first { u16 r; };
struct diamond : left, right { u32 d; };
class hidden { u8 a; protected: u32 b; public: u8 c; static u64 counter; static constexpr int fixed = 9; private: u16 d; };
template <class T, int N> struct row { T items[N]; u8 used; struct cell { T value; u8 mark; } cells[2]; };
template <class T> struct linked : row<T, 3> { linked *next; T T::*none; };
struct nested { struct inner { u8 a; u32 b; struct deep { u16 x; u64 y; } d; } i; union { u8 one; u64 eight; struct { u16 low; u32 high; }; };
                struct { u8 q; u32 w; } named; enum class mode : u16 { off, on } m; inner many[2][3]; };
#pragma pack(push, 1)
struct packed { u8 a; u64 b; u16 c; nested n; }; struct packed_base : packed { u32 d; };
#pragma pack(pop)
#pragma pack(push, 2)
struct packed2 { u8 a; u32 b; u64 c; };
#pragma pack(pop)
struct bits { u32 one : 1; u32 two : 2; u8 narrow : 3; u8 rest : 5; u64 wide : 33; u64 more : 31; int sign : 7; bool yes : 1; u16 : 0; u16 after : 4; };
struct more_bits : bits { u32 own : 9; };
struct alignas(64) wide { u8 a; alignas(16) u32 b; };
struct holds_wide { u8 a; wide w; };
union choice { u8 raw[12]; bits b; plain p; both *pointer; };
struct references { u8 a; u32 &r; u32 &&rr; int plain::*member; void (first::*method)(); void (both::*many)(); };
struct all { empty e; no_virtual nv; two t; from_empty fe; from_two_empty fte; both b; late_table lt; shared *s; diamond *d; hidden h;
             row<u16, 5> r; linked<plain> l; nested n; packed_base pb; packed2 p2; more_bits mb; holds_wide hw; choice c; references *refs;
             row<row<u8, 2>, 2> rr; };
u64 hidden::counter = 1; first::~first() {} void first::run() {} void second::walk() {} void both::run() {} void late_table::run() {}
}
void operator delete(void *, decltype(sizeof(0))) noexcept {}
room::all *g_all; room::shared *g_shared; room::diamond *g_diamond; room::references *g_references; room::both g_both; room::late_table g_late;
extern "C" int entry() { return (int)(g_all->n.m); }
extern "C" int _fltused = 1;
"""

# As "dt" shows them: %P is the pointer's size in bits.
SHOWN = {
    ("chain", "next"): "Ptr%P chain",
    ("tight", "c"): "Uint8B",
    ("tight", "d"): "[3] Uint2B",
    ("tight", "n"): "nested",
    ("bits", "three"): "Pos 3, 3 Bits",
    ("bits", "one"): "Pos 0, 1 Bit",
    ("tables", "grid"): "[3] [5] Uint4B",
    ("tables", "pieces"): "[2] nested",
    ("tables", "names"): "[7] Ptr%P Uint2B",
    ("marked", "c"): "const Uint4B",
    ("marked", "v"): "volatile Uint8B",
    ("marked", "p"): "Ptr%P const volatile UChar",
    ("marked", "q"): "const Ptr%P Void",
    ("marked", "e"): "level",
    ("marked", "h"): "Ptr%P Int4B (Ptr%P unseen, Ptr%P Void, Ptr%P const volatile UChar)",
    ("marked", "many"): "Ptr%P Int4B (Int4B, ...)",
    ("plain", "c"): "Char",
    ("plain", "l"): "Int4B",
    ("plain", "b"): "Bool",
    ("plain", "d"): "Double",
}


def run(*arguments):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)


def document(*arguments):
    done = run("pe", "types", "--format", "json", "-q", *arguments)
    answer = strict_json(done.stdout)
    json_schema.validate(answer, SCHEMA)
    return answer


def types_by_name(answer):
    return {entry["name"]: entry for entry in answer["types"]}


class Case(case.Case):
    made = {}  # PDBs by target, language and source: what they hold
    images = {}  # by their PDB

    @classmethod
    def setUpClass(cls):
        if not all(Path(tool).is_file() for tool in (CLANG, LLD, PDBUTIL)):
            raise unittest.SkipTest("no clang, lld-link or llvm-pdbutil")

    def pdb(self, target, language="c", source=None):
        """A PDB of the source, built once."""
        source = source or (C if language == "c" else CPP)
        key = target, language, source
        if key not in self.made:
            self.made[key] = self.build(target, language, source)
        return self.write(f"{target}-{list(self.made).index(key)}.pdb", self.made[key])

    def build(self, target, language, source):
        path = self.write(f"source.{language}", source.encode())
        flags = ["-x", "c"] if language == "c" else ["-x", "c++", "-std=c++20", "-fno-exceptions",
                                                     "-fno-rtti", "-fstandalone-debug"]
        self.call(CLANG, f"--target={target}-pc-windows-msvc", "-g", "-gcodeview", "-O0", "-w",
                  "-ffreestanding", "-funwind-tables", "-fno-builtin", "-c", *flags, path, "-o", self.here / "o.obj")
        self.call(LLD, "/nodefaultlib", "/entry:entry", "/subsystem:console", "/debug", "/brepro",
                  "/force:unresolved", f"/machine:{MACHINES[target]}", f"/out:{self.here}/o.exe",
                  f"/pdb:{self.here}/o.pdb", self.here / "o.obj")
        pdb = (self.here / "o.pdb").read_bytes()
        self.images[pdb] = (self.here / "o.exe").read_bytes()
        return pdb

    def call(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def pdbs(self):
        for target in TARGETS:
            for language in ("c", "cpp"):
                yield target, language, self.pdb(target, language)


class Pdbutil:
    """Types as llvm-pdbutil dumps them."""

    def __init__(self, path):
        text = subprocess.run([PDBUTIL, "dump", "-types", path], capture_output=True, text=True,
                              timeout=120, check=True).stdout
        records = re.split(r"^ +0x([0-9A-F]{4,}) \| ", text, flags=re.M)[1:]
        self.records = {int(index, 16): body for index, body in zip(records[::2], records[1::2])}
        self.types, self.underlying = {}, {}
        for index, body in self.records.items():
            head = re.match(r"LF_(STRUCTURE|CLASS|UNION|ENUM) \[size = \d+\] `(.*)`\n", body)
            if head and "forward ref" not in body:
                size = re.search(r"sizeof (\d+)", body)
                self.types[index] = (head[1], head[2], int(size[1]) if size else None,
                                     self.list_of(body))
                if head[1] == "ENUM":
                    self.underlying[index] = int(re.search(r"underlying type: 0x([0-9A-F]+)", body)[1], 16)

    def list_of(self, body):
        found = re.search(r"field list: (?:0x([0-9A-F]+)|<no type>)", body)
        return self.entries(int(found[1], 16)) if found and found[1] else []

    def entries(self, index):
        """Each entry of a field list: kind, name, offset or number, type."""
        rows = []
        for entry in re.split(r"^ +- ", self.records[index], flags=re.M)[1:]:
            kind = entry.split(None, 1)[0]
            name = re.search(r"name = `(.*?)`[],]", entry)
            type_ = re.search(r"(?:[tT]ype|overload list|parent|base) = 0x([0-9A-F]+)", entry)
            offset = re.search(r"(?<!vftable )offset = (\d+)", entry)
            number = re.match(r"LF_ENUMERATE \[(\S+) = (-?\d+)\]", entry)
            if number:
                rows.append((kind, number[1], int(number[2]), None))
            elif kind == "LF_METHOD":  # each function of the name is a row
                rows += [("LF_ONEMETHOD", name[1], None, int(one, 16)) for one in
                         re.findall(r"- Method \[type = 0x([0-9A-F]+)", self.records[int(type_[1], 16)])]
            else:
                rows.append((kind, name[1] if name else None,
                             int(offset[1]) if offset else None,
                             int(type_[1], 16) if type_ else None))
        return rows

    def bits(self, index):
        found = re.search(r"LF_BITFIELD .*\n +type = .*, bit offset = (\d+), # bits = (\d+)",
                          self.records.get(index, ""))
        return (int(found[1]), int(found[2])) if found else (None, None)


KINDS = {"LF_MEMBER": "member", "LF_BCLASS": "base", "LF_VBCLASS": "virtual_base",
         "LF_IVBCLASS": "virtual_base", "LF_STMEMBER": "static", "LF_ONEMETHOD": "method", "LF_NESTTYPE": "nested", "LF_VFUNCTAB": "virtual_table",
         "LF_ENUMERATE": "enumerator"}
# Microsoft, microsoft-pdb, cvinfo.h: T_CHAR, T_SHORT, T_LONG, T_QUAD, T_INT1, T_RCHAR, T_INT2, T_INT4, T_INT8.
SIGNED = {0x10, 0x11, 0x12, 0x13, 0x68, 0x70, 0x72, 0x74, 0x76}
NAMES = {"STRUCTURE": "struct", "CLASS": "class", "UNION": "union", "ENUM": "enum"}


def bits_of(member):
    first = member["layers"][0]
    return ((first["position"], first["length"]) if first["kind"] == "bit_field"
            else (None, None))


class Agreement(Case):
    negative = unsigned = 0  # values of enumerators: below zero, and with the highest bit of an unsigned type

    def test_everything_is_as_llvm_pdbutil_has_it(self):
        members = 0
        for target, language, path in self.pdbs():
            with self.subTest(target=target, language=language):
                theirs = Pdbutil(path)
                mine = {entry["index"]: entry for entry in document(path)["types"]
                        if entry["defined"]}
                self.assertEqual(set(mine), set(theirs.types))
                for index, (kind, name, size, rows) in theirs.types.items():
                    entry = mine[index]
                    self.assertEqual((entry["kind"], entry["name"]), (NAMES[kind], name))
                    if size is not None:
                        self.assertEqual(entry["size"], size, name)
                    self.assertEqual(len(entry["members"]), len(rows), name)
                    for row, member in zip(rows, entry["members"]):
                        self.compare(theirs, entry, row, member)
                        members += 1
        self.assertGreater(members, 250)
        # Of each target: LOW, least, small, below and low; on = 200, high and top.
        self.assertGreaterEqual(self.negative, 5 * len(TARGETS))
        self.assertGreaterEqual(self.unsigned, 3 * len(TARGETS))
        print(f"{members} members compared", file=sys.stderr)

    def compare(self, theirs, entry, row, member):
        kind, name, number, type_ = row
        where = f"{entry['name']}.{name}"
        self.assertEqual((member["kind"], member["name"]), (KINDS[kind], name or None), where)
        if kind == "LF_ENUMERATE":
            # Stored in any width: what the integer's own bits are is what counts.
            mask = (1 << entry["size"] * 8) - 1
            self.assertEqual(member["value"] & mask, number & mask, where)
            signed = theirs.underlying[entry["index"]] in SIGNED
            self.assertEqual(member["value"] < 0, signed and number & mask > mask >> 1, where)
            self.negative += member["value"] < 0
            self.unsigned += not signed and number & mask > mask >> 1
            return
        self.assertEqual(member["type_index"], type_, where)
        if kind in ("LF_MEMBER", "LF_BCLASS"):
            self.assertEqual(member["offset"], number, where)
        if kind == "LF_MEMBER":
            self.assertEqual(bits_of(member), theirs.bits(type_), where)

    def test_the_compiler_has_the_members_there(self):
        """clang computes offsetof and sizeof of the source anew."""
        for target in TARGETS:
            with self.subTest(target=target):
                checks = []
                for entry in document(self.pdb(target))["types"]:
                    tag = f"{entry['kind']} {entry['name']}"
                    if entry["kind"] == "enum" or not entry["defined"] or "<" in tag:
                        continue
                    checks.append(f'_Static_assert(sizeof({tag}) == {entry["size"]}, "{tag}");')
                    checks += [f"_Static_assert(__builtin_offsetof({tag}, {member['name']}) == "
                               f"{member['offset']}, \"{tag}.{member['name']}\");\n"
                               f"_Static_assert(sizeof((({tag} *)0)->{member['name']}) == "
                               f"{member['size']}, \"{tag}.{member['name']} size\");"
                               for member in entry["members"] if member["kind"] == "member"
                               and bits_of(member) == (None, None)]
                self.assertGreater(len(checks), 50)
                path = self.write("checks.c", (C + "\n".join(checks)).encode())
                self.call(CLANG, f"--target={target}-pc-windows-msvc", "-fsyntax-only", "-w", path)

    def test_c_plus_plus_lies_where_the_compiler_and_llvm_pdbutil_have_it(self):
        """Each size and place, those of base classes by their members, as clang computes them anew."""
        placed = 0
        for target in TARGETS:
            with self.subTest(target=target):
                path = self.pdb(target, "cpp", LAYOUTS)
                entries = {entry["index"]: entry for entry in document(path)["types"] if entry["defined"]}
                theirs = Pdbutil(path)
                self.assertEqual(set(entries), set(theirs.types))
                for index, (_, name, size, rows) in theirs.types.items():
                    self.assertEqual(len(entries[index]["members"]), len(rows), name)
                    for row, member in zip(rows, entries[index]["members"]):
                        self.compare(theirs, entries[index], row, member)
                checks = []
                for entry in entries.values():
                    name = entry["name"]
                    if entry["kind"] == "enum" or "unnamed" in name or not name.startswith("room::"):
                        continue
                    checks.append(f'static_assert(sizeof({name}) == {entry["size"]}, "{name}");')
                    for member, offset, size in self.places(entries, entry):
                        checks.append(f'static_assert(__builtin_offsetof({name}, {member}) == {offset}, "{name}.{member}");')
                        if size is not None:
                            checks.append(f'static_assert(sizeof((({name} *)0)->{member}) == {size}, "{name}.{member} size");')
                self.assertGreater(len(checks), 250)
                placed += len(checks)
                source = self.write("checks.cpp", (LAYOUTS + "\n".join(checks)).encode())
                flags = (f"--target={target}-pc-windows-msvc", "-std=c++20", "-fno-access-control", "-fno-exceptions", "-fno-rtti",
                         "-ffreestanding", "-fsyntax-only", "-w")
                self.call(CLANG, *flags, source)
                wrong = self.write("checks.cpp", (LAYOUTS + checks[-1].replace("== ", "== 1 + ")).encode())
                done = subprocess.run([CLANG, *flags, wrong], capture_output=True)
                self.assertNotEqual(done.returncode, 0)  # so that the checks do check
        print(f"{placed} sizes and places of C++ compared", file=sys.stderr)

    def places(self, entries, entry, base=0, seen=()):
        """Members that have a place of their own, those of base classes too; not what a virtual base has."""
        names = set(seen)
        for member in entry["members"]:
            if member["kind"] == "member" and bits_of(member) == (None, None) and member["name"] not in names:
                reference = member["type"].startswith(("Ref", "RvalueRef"))
                yield member["name"], base + member["offset"], None if reference else member["size"]
                names.add(member["name"])
        for member in entry["members"]:
            if member["kind"] == "base":
                inner = entries[member["layers"][-1]["index"]]
                if not any(row["kind"] == "virtual_base" for row in inner["members"]):
                    # Of two bases with one name neither is meant.
                    own = {row["name"] for row in inner["members"]}
                    others = {row["name"] for other in entry["members"] if other["kind"] == "base" and other is not member
                              for row in entries[other["layers"][-1]["index"]]["members"]}
                    yield from self.places(entries, inner, base + member["offset"], names | (own & others))

    def test_types_are_written_as_the_debugger_does(self):
        for target, size in TARGETS.items():
            types = types_by_name(document(self.pdb(target)))
            for (name, member), text in SHOWN.items():
                with self.subTest(target=target, name=name, member=member):
                    found, = (row for row in types[name]["members"] if row["name"] == member)
                    self.assertEqual(found["type"], text.replace("%P", str(size * 8)))

    def test_what_c_plus_plus_adds(self):
        types = types_by_name(document(self.pdb("x86_64", "cpp")))
        both = types["room::both"]
        self.assertEqual((both["kind"], both["unique_name"]), ("class", ".?AVboth@room@@"))
        base, other = (row for row in both["members"] if row["kind"] == "base")
        self.assertEqual((base["type"], base["offset"], base["access"]),
                         ("room::first", 0, "public"))
        self.assertEqual((other["type"], other["offset"], other["access"]),
                         ("room::second", 16, "private"))
        built = {row["name"]: row["type"] for row in types["built"]["members"] if row["name"]}
        self.assertEqual(built, {"x": "Uint4B", "reference": "Ref64 Uint4B",
                                 "moved": "RvalueRef64 Uint4B", "none": "nullptr_t",
                                 "data": "MemberPtr32 Int4B"})
        self.assertEqual([(row["name"], row["value"]) for row in types["room::wide"]["members"]],
                         [("least", -2 ** 63), ("small", -40000), ("most", 2 ** 63 - 1)])
        self.assertTrue(types["room::both::part"]["nested"])

    def test_what_is_only_declared_says_so(self):
        entry, = document(self.pdb("x86_64"), "unseen")["types"]
        self.assertEqual((entry["defined"], entry["size"], entry["members"]), (False, None, []))
        self.assertIn(b"struct unseen, only declared", run("pe", "types", self.pdb("i686"),
                                                           "unseen").stdout)


class Levels(Case):
    """Members of members, from what each level alone says."""

    def flat(self, types, entry, base=0, prefix=""):
        for member in entry["members"]:
            if member["kind"] not in ("member", "base"):
                continue
            last = member["layers"][-1] if len(member["layers"]) == 1 or all(
                layer["kind"] == "modifier" for layer in member["layers"][:-1]) else {}
            name = prefix + member["name"] if member["kind"] == "member" else prefix
            inner = types.get(last.get("index"))
            if inner and inner["kind"] != "enum":
                yield from self.flat(types, inner, base + member["offset"],
                                     name + "." if member["kind"] == "member" else prefix)
            elif member["kind"] == "member":
                yield name, base + member["offset"], member["type"]

    def test_whole_paths(self):
        for _, _, path in self.pdbs():
            types = {entry["index"]: entry for entry in document(path)["types"]}
            for entry in document("--expand", path)["types"]:
                if entry["kind"] == "enum":
                    continue
                mine = [(row["name"], row["offset"], row["type"]) for row in entry["members"]]
                self.assertEqual(mine, list(self.flat(types, types[entry["index"]])))

    def test_levels_of_paths_end_at_the_depth(self):
        path = self.pdb("x86_64")
        plain, = document(path, "all")["types"]
        all_levels, = document(path, "all", "--expand")["types"]
        own, = document(path, "all", "--expand", "--depth", "0")["types"]
        names = [row["name"] for row in own["members"]]
        self.assertEqual(names, [row["name"] for row in plain["members"] if row["name"]])
        self.assertTrue(any("." in row["name"] for row in all_levels["members"]))

    def test_members_are_not_asked_of_a_list_of_types(self):
        path = self.pdb("x86_64")
        for options in (("--expand",), ("--depth", "1"), ("--depth", "0")):
            done = run("pe", "types", *options, path)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"'*' is all types", done.stderr)
            self.assertEqual(run("pe", "types", *options, path, "*").returncode, 0)

    def test_levels_follow_their_member(self):
        path = self.pdb("x86_64")
        entry, = document(path, "all", "--depth", "2")["types"]
        rows = [(row["level"], row["name"], row["offset"]) for row in entry["members"]]
        at = rows.index((0, "t", 0))
        self.assertEqual(rows[at:at + 8], [(0, "t", 0), (1, "a", 0), (1, "b", 1), (1, "c", 5),
                                           (1, "d", 13), (1, "n", 19), (2, "a", 19),
                                           (2, "whole", 23)])
        self.assertNotIn(3, {row[0] for row in rows})
        text = run("pe", "types", path, "all", "--depth", "1").stdout.decode()
        self.assertIn("\n   +0x000 t                : tight\n      +0x000 a                : UChar\n"
                      "      +0x001 b                : Uint4B\n", text)


class Formats(Case):
    def test_text_and_csv_have_the_rows_of_the_json(self):
        for target, language, path in self.pdbs():
            with self.subTest(target=target, language=language):
                entries = document(path)["types"]
                rows = [(entry["name"], member["kind"], member["name"] or "",
                         str(member["offset"]) if member.get("offset") is not None else "",
                         str(member["value"]) if "value" in member else "",
                         member.get("type", ""))
                        for entry in entries for member in entry["members"]]
                table = strict_csv(run("pe", "types", "--format", "csv", "-q", path).stdout)
                self.assertEqual([(row["type"], row["kind"], row["name"], row["offset"],
                                   row["value"], row["member_type"]) for row in table], rows)
                text = run("pe", "types", "-q", path, "*").stdout.decode()
                shown = re.findall(r"^   \+0x([0-9a-f]+) (\S+) +: (.*)$", text, re.M)
                self.assertEqual(
                    [(int(offset, 16), name, type_) for offset, name, type_ in shown
                     if not name.startswith("(")],
                    [(member["offset"], member["name"], member["type"]) for entry in entries
                     for member in entry["members"] if member["kind"] == "member"])
                listed = run("pe", "types", "-q", path).stdout.decode().splitlines()[2:]
                self.assertEqual([int(line.split()[0], 16) for line in listed],
                                 [entry["index"] for entry in entries])

    def test_the_header_compiles_with_every_place_checked(self):
        for target, language, path in self.pdbs():
            with self.subTest(target=target, language=language):
                header = self.here / "types.h"
                self.assertEqual(run("pe", "types", "--format", "c-header", path, "-o",
                                     header).returncode, 0)
                text = header.read_text()
                entries = [entry for entry in document(path)["types"]
                           if entry["kind"] != "enum" and entry["size"]]
                self.assertEqual(text.count("CHECK(sizeof("), len(entries))
                plain = sum(1 for entry in entries for member in entry["members"]
                            if member["kind"] == "member" and bits_of(member) == (None, None))
                self.assertGreaterEqual(text.count("CHECK(COLDTRACE_OFFSET("), plain)
                source = self.write("use.c", b'#include "types.h"\n')
                self.call(CLANG, f"--target={target}-pc-windows-msvc", "-fsyntax-only", "-w", source)
                broken = re.sub(r"(CHECK\(COLDTRACE_OFFSET\(.*) == 0x1\)", r"\1 == 0x2)", text)
                if broken != text:  # so that the checks do check
                    header.write_text(broken)
                    done = subprocess.run([CLANG, f"--target={target}-pc-windows-msvc", "-w",
                                           "-fsyntax-only", source], capture_output=True)
                    self.assertNotEqual(done.returncode, 0)

    def test_bit_fields_of_the_header_lie_where_those_of_the_source_do(self):
        """Compiled again, the header's types are what llvm-pdbutil saw the first time."""
        for target in TARGETS:
            path = self.pdb(target)
            text = run("pe", "types", "--format", "c-header", path, "all", "vast").stdout.decode()
            again = self.build(target, "c", text + "\nstruct all everything; struct vast g_vast;\n"
                               "int entry(void) { return 0; }\n")
            compared = 0
            before, after = (self.places(found) for found in
                             (path, self.write("again.pdb", again)))
            for name in ("all", "tight", "bits", "nested", "shapes", "marked", "plain", "vast"):
                self.assertEqual(before[name], {key: value for key, value in after[name].items()
                                                if "padding_" not in key and "whole_" != key})
                compared += len(before[name])
            self.assertGreater(compared, 50)

    def places(self, path):
        theirs = Pdbutil(path)
        return {name: {row[1]: (row[2], *theirs.bits(row[3])) for row in rows
                       if row[0] == "LF_MEMBER"}
                for _, name, _, rows in theirs.types.values()}


class Choice(Case):
    def test_names_globs_and_numbers(self):
        path = self.pdb("x86_64")
        self.assertEqual([entry["name"] for entry in document(path, "t*", "chain")["types"]],
                         ["chain", "tables", "tight"])
        index = document(path, "tight")["types"][0]["index"]
        self.assertEqual([entry["name"] for entry in document(path, f"{index:#x}")["types"]],
                         ["tight"])

    def test_what_is_not_there_is_named_with_the_nearest(self):
        done = run("pe", "types", self.pdb("x86_64"), "tigth", "chain")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-match", done.stderr.decode())
        self.assertIn("tight", done.stderr.decode())
        self.assertIn(b"struct chain", done.stdout)


class Comparison(Case):
    OLD = """struct kept { int a; }; struct gone { int a; };
    struct changed { int first; short moved; struct { int x; } inner; unsigned bits : 3; char less[8]; int other; };
    enum numbers { ONE = 1, TWO = 2 };
    struct kept k; struct gone g; struct changed c; enum numbers n; int entry(void) { return 0; }"""
    NEW = """struct kept { int a; }; struct fresh { int a; };
    struct changed { int first; int extra; short moved; struct { int x; short y; } inner; unsigned bits : 4; char less[4]; float other; };
    enum numbers { ONE = 1, TWO = 3 };
    struct kept k; struct fresh f; struct changed c; enum numbers n; int entry(void) { return 0; }"""

    def compare(self, *arguments):
        done = run("pe", "types", "--format", "json", "-q", "--compare", *arguments)
        answer = strict_json(done.stdout)
        json_schema.validate(answer, COMPARISON)
        return done.returncode, answer

    def test_what_the_sources_changed(self):
        old, new = (self.pdb("x86_64", source=source) for source in (self.OLD, self.NEW))
        code, answer = self.compare(old, new)
        self.assertEqual(code, 1)
        self.assertEqual(answer["counts"], {"same": 1, "changed": 2, "added": 1, "removed": 1})
        self.assertEqual({entry["name"]: entry["change"] for entry in answer["types"]},
                         {"changed": "changed", "fresh": "added", "gone": "removed",
                          "numbers": "changed"})
        changed, = (entry for entry in answer["types"] if entry["name"] == "changed")
        self.assertEqual((changed["size_before"], changed["size_after"]), (28, 32))
        self.assertEqual(
            {row["name"]: (row["before"] is not None, row["after"] is not None, row["moved"],
                           row["resized"], row["retyped"]) for row in changed["members"]},
            {"moved": (True, True, True, False, False), "inner": (True, True, True, True, True),
             "bits": (True, True, True, True, False), "less": (True, True, True, True, True),
             "other": (True, True, True, False, True),
             "extra": (False, True, False, False, False)})
        moved, = (row for row in changed["members"] if row["name"] == "moved")
        self.assertEqual((moved["before"]["offset"], moved["after"]["offset"]), (4, 8))
        numbers, = (entry for entry in answer["types"] if entry["name"] == "numbers")
        two, = numbers["members"]
        self.assertEqual((two["name"], two["before"]["value"], two["after"]["value"]),
                         ("TWO", 2, 3))
        text = run("pe", "types", "--compare", old, new).stdout.decode()
        self.assertIn("1 type is the same, 2 changed, 1 added, 1 removed", text)
        self.assertRegex(text, r"changed struct changed, 0x1c -> 0x20 bytes\n")
        self.assertRegex(text, r"   moved    moved +\+0x004 -> \+0x008\n")

    def test_a_pdb_does_not_differ_from_its_own_symbol_table(self):
        counts = {}
        for target, language, path in self.pdbs():
            table = self.here / "own.json"
            self.assertEqual(run("pe", "isf", "-q", path, "-o", table).returncode, 0)
            named = {entry["name"] for entry in document(path)["types"] if entry["defined"]}
            for sides in ((path, table), (table, path)):
                code, answer = self.compare(*sides)
                self.assertEqual((code, answer["types"]), (0, []), (target, language))
                self.assertEqual({finding["code"] for finding in answer["findings"]}, {"types-reduced"})
                self.assertGreater(answer["counts"]["same"], 10)
                self.assertLessEqual(answer["counts"]["same"], len(named))
                self.assertEqual({side: answer[side]["format"] for side in ("before", "after")},
                                 dict(zip(("before", "after"), ("pdb", "isf") if sides[0] == path else ("isf", "pdb"))))
            table.unlink()
        # What it does differ in is told as of two PDBs.
        old, new = (self.pdb("x86_64", source=source) for source in (self.OLD, self.NEW))
        run("pe", "isf", "-q", new, "-o", self.here / "new.json")
        told = lambda answer: {(entry["name"], entry["change"], member["name"], member["moved"], member["resized"], member["retyped"])
                               for entry in answer["types"] for member in entry["members"] or [{"name": None, "moved": 0, "resized": 0, "retyped": 0}]}
        both, mixed = self.compare(old, new), self.compare(old, self.here / "new.json")
        self.assertEqual((mixed[0], mixed[1]["counts"]), (1, both[1]["counts"]))
        self.assertEqual(told(mixed[1]), told(both[1]))
        self.assertIn("<unnamed> {", run("pe", "types", "--compare", old, new).stdout.decode())

    def test_the_same_types_of_two_builds_are_no_difference(self):
        # Records have other numbers, and unnamed types other names.
        more = "struct ahead { struct { int q; } w; } a;\n"
        old = self.pdb("x86_64", source=self.OLD)
        new = self.pdb("x86_64", source=more + self.OLD)
        self.assertEqual(self.compare(old, old)[0], 0)
        code, answer = self.compare(old, new)
        self.assertEqual((code, [entry["name"] for entry in answer["types"]]), (1, ["ahead"]))
        self.assertEqual(self.compare(old, new, "changed", "numbers")[0], 0)

    def test_overloads_and_tables_are_compared_by_what_they_hold(self):
        # Their records have no names, and other numbers in each build.
        source = """struct base { virtual int run(int x); virtual int run(short x); int plain; };
        struct derived : base { int run(int x) override; int add(int x); int add(OTHER x); };
        int base::run(int x) { return x; } int base::run(short x) { return x; }
        int derived::run(int x) { return x + add(x); } int derived::add(int x) { return x; }
        int derived::add(OTHER x) { return 1; }
        derived d; extern "C" int entry() { return d.run(d.plain); }"""
        ahead = "struct ahead { int (*f)(int, struct ahead *); } a;\n"
        old, new, other = (self.pdb("x86_64", "cpp", text) for text in (
            source.replace("OTHER", "short"), ahead + source.replace("OTHER", "short"),
            source.replace("OTHER", "long long")))
        derived, = document(self.write("old.pdb", old) if isinstance(old, bytes) else old, "derived")["types"]
        self.assertEqual([(row["name"], row["type"], row["access"]) for row in derived["members"] if row["kind"] == "method"],
                         [("run", "Int4B (Int4B)", "public"), ("add", "Int4B (Int4B)", "public"), ("add", "Int4B (Int2B)", "public")])
        self.assertEqual([entry["name"] for entry in self.compare(old, new)[1]["types"]], ["ahead"])
        changed, = self.compare(old, other, "derived", "base")[1]["types"]
        member, = changed["members"]
        self.assertEqual((changed["name"], member["name"], member["kind"], member["retyped"]),
                         ("derived", "add", "overloads", True))
        self.assertIn("Int2B", member["before"]["type"])
        self.assertIn("Int8B", member["after"]["type"])

    def test_what_cannot_be_compared(self):
        path = self.pdb("x86_64")
        self.assertEqual(run("pe", "types", "--compare", "/bin/sh", path).returncode, 2)
        done = run("pe", "types", "--format", "csv", "--compare", path, path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--compare", done.stderr)
        for option in (("--expand",), ("--depth", "1")):
            done = run("pe", "types", *option, "--compare", path, path)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"neither --depth nor --expand", done.stderr)


def structure(name, fields, size=8, count=1, kind=0x1505):
    return struct.pack("<HHHIIIH", kind, count, 0, fields, 0, 0, size) + name + b"\0"


def member(name, type_=0x75, offset=0):
    return (struct.pack("<HHIH", 0x150d, 3, type_, offset) + name + b"\0").ljust(
        (len(name) + 14) // 4 * 4, b"\xf1")


class Hostile(Case):
    def types(self, records, *options, names=()):
        path = self.write("hostile.pdb", pdb_writer.pdb_of_types(records))
        done = run("pe", "types", "--format", "json", "-q", *options, path, *names)
        answer = strict_json(done.stdout)
        json_schema.validate(answer, SCHEMA)
        return done, answer, {finding["code"] for finding in answer["findings"]}

    def test_a_list_that_many_share_is_cut(self):
        fields = struct.pack("<H", 0x1203) + b"".join(
            member(b"m%04d" % number) for number in range(1500))
        records = [fields] + [structure(b"s%05d" % number, 0x1000) for number in range(3000)]
        for options in ((), ("--format", "csv"), ("--format", "c-header"), ("--expand",)):
            path = self.write("shared.pdb", pdb_writer.pdb_of_types(records))
            done = run("pe", "types", *options, path, "*")
            self.assertEqual(done.returncode, 1, options)
            self.assertIn(b"pdb-type-limit", done.stderr)
            self.assertLess(len(done.stdout), 100 * path.stat().st_size + (4 << 20))

    def test_structures_in_structures_are_cut(self):
        """Each has the one before it thirty times: all paths would be 30 to the power of 12."""
        records = []
        for level in range(12):
            inner = 0x75 if level == 0 else 0x1000 + 2 * level - 1
            records.append(struct.pack("<H", 0x1203) + b"".join(
                member(b"m%02d" % number, inner) for number in range(30)))
            records.append(structure(b"s%02d" % level, 0x1000 + 2 * level))
        done, _, codes = self.types(records, "--expand")
        self.assertIn("pdb-type-limit", codes)
        self.assertEqual(done.returncode, 1)
        self.types(records)

    def test_a_structure_in_itself_ends(self):
        declared = struct.pack("<HHHIIIH", 0x1505, 0, 0x80, 0, 0, 0, 0) + b"me\0"
        records = [declared, struct.pack("<H", 0x1203) + member(b"i", 0x1000),
                   structure(b"me", 0x1001)]
        done, _, _ = self.types(records, "--expand")
        self.assertEqual(done.returncode, 0)
        path = self.here / "hostile.pdb"
        header = run("pe", "types", "--format", "c-header", path).stdout
        source = self.write("use.c", header)
        self.call(CLANG, "-fsyntax-only", "-w", source)

    def test_what_the_header_leaves_out_stands_in_it(self):
        """Members of a type that is only declared, bits that are none, what reaches too far, and empty structures."""
        declared = struct.pack("<HHHIIIH", 0x1505, 0, 0x80, 0, 0, 0, 0) + b"unseen\0"
        bits = struct.pack("<HIBB", 0x1205, 0x75, 40, 0)
        list_of = lambda *members: struct.pack("<H", 0x1203) + b"".join(members)
        empty = structure(b"empty", 0, 0, 0)
        octet = struct.pack("<HIBB", 0x1205, 0x14, 5, 3)  # of T_OCT, 16 bytes
        good = [member(b"first"), member(b"last", offset=12)]
        cases = {
            "lost unseen: left out, its size is not known": (member(b"lost", 0x1000, 4), 0, {"pdb-type-size"}),
            "wide Pos 0, 40 Bits: left out, its bits lie outside its integer": (member(b"wide", 0x1001, 4), 1, {"pdb-type-range"}),
            "far Uint4B: left out, it reaches beyond the type": (member(b"far", offset=30), 1, {"pdb-type-range"}),
            "none empty: left out, it has no bytes": (member(b"none", 0x1002, 4), 0, set()),
            "octo Pos 3, 5 Bits: left out, no integer type of C fits": (member(b"octo", 0x1003, 16), 0, set())}
        for kind in (0x1505, 0x1506):  # structure, union
            for said, (odd, status, codes) in cases.items():
                name = said.split()[0]
                place = {"far": 30, "octo": 16}.get(name, 4)
                fields = list_of(good[0], odd, good[1])
                outer = (structure(b"outer", 0x1004, 32, 3) if kind == 0x1505 else
                         struct.pack("<HHHIH", kind, 3, 0, 0x1004, 32) + b"outer\0")
                records = [declared, bits, empty, octet, fields, outer]
                with self.subTest(said, kind=kind):
                    _, answer, _ = self.types(records, names=["outer"])
                    self.assertIn((name, place), [(row["name"], row["offset"]) for row in answer["types"][0]["members"]])
                    done = run("pe", "types", "-v", "--format", "c-header", self.here / "hostile.pdb", "outer")
                    told = {code for code in ("pdb-type-size", "pdb-type-range") if code.encode() in done.stderr}
                    self.assertEqual((done.returncode, told), (status, codes), done.stderr)
                    self.assertIn(f"  /* +{place:#05x} {said} */\n", done.stdout.decode())
                    if codes:
                        self.assertIn(b"outer", done.stderr)
                    self.call(CLANG, "-fsyntax-only", "-w", self.write("use.c", done.stdout))
                    if kind == 0x1505:
                        self.assertEqual(re.findall(rb"OFFSET\(struct outer, (\w+)\) == (\w+)", done.stdout),
                                         [(b"first", b"0x0"), (b"last", b"0xc")])

    def test_zero_length_arrays_at_one_place_take_no_room(self):
        source = """struct tail { unsigned count; unsigned char keys[0]; unsigned values[0]; } tail;
struct front { unsigned char keys[0]; unsigned short values[0]; unsigned count; } front;
struct middle { unsigned char count; unsigned char keys[0]; char values[0]; unsigned char last; } middle;
struct inner { char keys[0]; char values[0]; unsigned char count; };
union both { unsigned char first; struct inner second; } both;
int entry(void) { return tail.count + front.count + middle.count + both.first; }
"""
        sizes = {"struct tail": 4, "struct front": 4, "struct middle": 2, "union both": 1}
        use = b'#include "types.h"\n' + b"".join(
            b'_Static_assert(sizeof(%s) == %d, "%s");\n' % (name.encode(), size, name.encode())
            for name, size in sizes.items())
        use += (b'_Static_assert(__builtin_offsetof(struct tail, keys) == 4, "keys");\n'
                b'_Static_assert(__builtin_offsetof(struct tail, values) == 4, "values");\n')
        for target in TARGETS:
            with self.subTest(target):
                header = self.here / "types.h"
                done = run("pe", "types", "--format", "c-header", self.pdb(target, "c", source), "-o", header)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                for system in ("windows-msvc", "linux-gnu"):
                    self.call(CLANG, f"--target={target}-pc-{system}", "-fsyntax-only", "-w",
                              self.write("use.c", use))

    def test_structures_that_headers_of_mingw_have_too_are_defined_once(self):
        """Their <stddef.h> declares localeinfo_struct, as the C runtime of Windows does."""
        compilers = {"x86_64": "x86_64-w64-mingw32-gcc", "i686": "i686-w64-mingw32-gcc"}
        source = """struct localeinfo_struct { void *locinfo; void *mbcinfo; int more; } g;
int entry(void) { return g.more; }
"""
        for target, compiler in compilers.items():
            with self.subTest(target):
                if not shutil.which(compiler):
                    self.skipTest(f"no {compiler}")
                done = run("pe", "types", "--format", "c-header", self.pdb(target, "c", source),
                           "localeinfo_struct")
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.call(compiler, "-fsyntax-only", self.write("use.c", done.stdout))

    def test_two_empty_base_classes_are_no_damage(self):
        """The second lies behind the only byte of the class: as clang's own layout has it."""
        source = self.write("bases.cpp", b"struct E1 {}; struct E2 {}; struct F : E1, E2 {}; F f; F *use() { return &f; }\n")
        self.call(CLANG, "--target=x86_64-pc-windows-msvc", "-g", "-gcodeview", "-O0", "-w", "-c", source, "-o", self.here / "bases.obj")
        self.call(LLD, "/dll", "/noentry", "/nodefaultlib", "/debug", f"/pdb:{self.here / 'bases.pdb'}",
                  f"/out:{self.here / 'bases.dll'}", self.here / "bases.obj", "/export:?use@@YAPEAUF@@XZ")
        layout = subprocess.run([CLANG, "--target=x86_64-pc-windows-msvc", "-fsyntax-only", "-Xclang", "-fdump-record-layouts-complete", source],
                                capture_output=True, text=True).stdout
        self.assertRegex(layout, r"\s0 \| +struct E1 \(base\) \(empty\)\n\s+1 \| +struct E2 \(base\) \(empty\)\n +\| \[sizeof=1")
        done = run("pe", "types", "--format", "c-header", self.here / "bases.pdb", "F")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"  /* +0x001 E2: left out, it is an empty base class */\n", done.stdout)
        self.call(CLANG, "-fsyntax-only", "-w", self.write("use.c", done.stdout))

    def test_members_of_base_classes_beyond_64_bits_are_left_out(self):
        """LF_BCLASS at 2^64 - 4 of a class with members at 0 and 8: the second would lie at 4."""
        far = 2 ** 64 - 4
        inner = struct.pack("<H", 0x1203) + member(b"first") + member(b"second", offset=8)
        base = struct.pack("<HHHIHQ", 0x1203, 0x1400, 3, 0x1001, 0x800a, far)
        records = [inner, structure(b"inner", 0x1000, 12, 2), base, structure(b"outer", 0x1002)]
        for options in (("--depth", "1"), ("--expand",)):
            done, answer, codes = self.types(records, *options, names=["outer"])
            self.assertEqual((done.returncode, codes), (1, {"pdb-type-range"}))
            places = {row["name"]: row["offset"] for row in answer["types"][0]["members"]}
            self.assertEqual(places.get("first"), far)
            self.assertNotIn("second", places)
        done = run("pe", "isf", "--database", "h.pdb", self.here / "hostile.pdb")
        self.assertEqual((done.returncode, b"pdb-type-range" in done.stderr), (1, True))
        fields = strict_json(done.stdout)["user_types"]["outer"]["fields"]
        self.assertEqual({name: field["offset"] for name, field in fields.items()}, {"first": far})

    def test_an_unknown_member_is_a_finding(self):
        fields = struct.pack("<H", 0x1203) + member(b"a") + struct.pack("<HHI", 0x15ff, 0, 0)
        _, answer, codes = self.types([fields, structure(b"s", 0x1000)])
        self.assertIn("pdb-type-unknown", codes)
        self.assertEqual([row["name"] for row in answer["types"][0]["members"]], ["a"])

    def test_a_definition_that_cannot_be_read_is_told(self):
        """Its name may be of a type that is declared; records behind it are read."""
        declared = structure(b"s", 0, count=0)[:4] + struct.pack("<H", 0x80) + structure(b"s", 0)[6:]
        fields = struct.pack("<H", 0x1203) + member(b"a")
        for broken in (structure(b"s", 0x1001)[:16], struct.pack("<HHHI", 0x1507, 1, 0, 0x74),
                       struct.pack("<HH", 0x15fe, 0)):
            records = [declared, fields, broken, structure(b"t", 0x1001)]
            for name, told in ("", True), ("s", True), ("t", False), ("*", True):
                done, answer, codes = self.types(records, names=[name] if name else ())
                self.assertEqual(("pdb-type-unknown" in codes, done.returncode), (told, int(told)), (broken, name))
                self.assertEqual([row["name"] for row in answer["types"]], [name] if name in ("s", "t") else ["s", "t"])
            isf = run("pe", "isf", "--database", "h.pdb", "-q", self.here / "hostile.pdb")
            self.assertEqual(isf.returncode, 1)
            self.assertIn("t", strict_json(isf.stdout)["user_types"])
        _, _, codes = self.types([declared, fields, structure(b"s", 0x1001)])
        self.assertNotIn("pdb-type-unknown", codes)

    def test_functions_of_functions_stay_short(self):
        records = []
        for level in range(20):
            inner = 0x74 if level == 0 else 0x1000 + 2 * level - 1
            records.append(struct.pack("<HI", 0x1201, 30) + struct.pack("<I", inner) * 30)
            records.append(struct.pack("<HIBBHI", 0x1008, 3, 0, 0, 30, 0x1000 + 2 * level))
        records.append(struct.pack("<H", 0x1203) + member(b"f", 0x1000 + len(records) - 1))
        records.append(structure(b"s", 0x1000 + len(records) - 1))
        _, answer, _ = self.types(records)
        text = answer["types"][0]["members"][0]["type"]
        self.assertLess(len(text), 1100)
        self.assertTrue(text.endswith("..."))

    def test_a_record_that_counts_none_has_what_it_lists(self):
        fields = struct.pack("<H", 0x1203) + member(b"a") + member(b"b")
        self.types([fields, structure(b"s", 0x1000, count=0)])
        path = self.here / "hostile.pdb"
        self.assertIn(b"struct s, 2 elements, 0x8 bytes", run("pe", "types", path, "s").stdout)
        self.assertRegex(run("pe", "types", path).stdout, rb"0x1001 +struct +0x8 +2  s")

    def compared(self, old, new):
        paths = [self.write(name, pdb_writer.pdb_of_types(records)) for name, records in (("old.pdb", old), ("new.pdb", new))]
        done = run("pe", "types", "--format", "json", "-q", "--compare", *paths)
        answer = strict_json(done.stdout)
        json_schema.validate(answer, COMPARISON)
        return done.returncode, answer, {finding["code"] for finding in answer["findings"]}

    def test_a_size_that_is_not_known_is_no_other_one(self):
        # Of a structure that one side only declares.
        declared = struct.pack("<HHHIIIH", 0x1505, 0, 0x80, 0, 0, 0, 0) + b"inner\0"
        of = lambda inner: [struct.pack("<H", 0x1203) + member(b"x"), inner, struct.pack("<H", 0x1203) + member(b"i", 0x1001),
                            structure(b"s", 0x1002, 16)]
        status, answer, _ = self.compared(of(declared), of(structure(b"inner", 0x1000, 16)))
        self.assertEqual([(entry["name"], entry["change"]) for entry in answer["types"]], [("inner", "added")])
        self.assertEqual((status, answer["counts"]["same"]), (1, 1))

    def test_what_a_pdb_without_types_lacks_is_not_proved_to_be_gone(self):
        types = [struct.pack("<H", 0x1203) + member(b"a"), structure(b"s", 0x1000)]
        for old, new, count in (types, [], "removed"), ([], types, "added"):
            status, answer, codes = self.compared(old, new)
            self.assertEqual((status, answer["counts"][count], codes), (1, 1, {"pdb-no-types", "types-unproved"}))
        self.assertEqual(self.compared([], [])[::2], (0, {"pdb-no-types"}))

    def test_one_without_types_says_so(self):
        done, answer, codes = self.types([])
        self.assertEqual((done.returncode, answer["types"], codes), (0, [], {"pdb-no-types"}))

    def test_every_block_may_be_the_end(self):
        content = self.pdb("i686").read_bytes()
        for size in range(0, len(content), 4096 * 4 + 512):
            done = run("pe", "types", "--format", "json", self.write("cut", content[:size]))
            self.assertIn(done.returncode, (1, 2), size)
            if done.returncode == 1:
                json_schema.validate(strict_json(done.stdout), SCHEMA)


class Documents(Case):
    def test_columns_are_documented(self):
        text = (Path(SOURCES) / "docs/commands/pe-types.md").read_text()
        header = run("pe", "types", "--format", "csv", "-q", self.pdb("x86_64"), "chain").stdout
        self.assertIn(header.decode().splitlines()[0].replace(",", ", "), text)


class Functions(Case):
    """Those of .pdata by llvm-readobj, and which of them a PDB names."""
    SOURCE = """
#define INNER static __attribute__((noinline))
int sink(const int *numbers, int count) { int sum = 0; while (count) sum += numbers[--count]; return sum; }
#define FUNCTION(n) \\
  INNER int inner_##n(int x) { int a[8] = { x, n }; return sink(a, 8); } \\
  int outer_##n(int x) { int a[4] = { x, n, inner_##n(x) }; return sink(a, 4); }
#define MANY(n) FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3) FUNCTION(n##4)
MANY(1) MANY(2) MANY(3) MANY(4)
int entry(void) { return outer_10(1) + outer_44(2); }
"""

    def test_all_have_names(self):
        readobj = shutil.which("llvm-readobj-14") or shutil.which("llvm-readobj")
        if not readobj:
            self.skipTest("no llvm-readobj")
        for target in ("x86_64", "aarch64"):
            with self.subTest(target):
                pdb = self.pdb(target, source=self.SOURCE)
                image = self.write("functions.exe", self.images[pdb.read_bytes()])
                unwind = subprocess.run([readobj, "--unwind", image], capture_output=True, text=True,
                                        timeout=60, check=True).stdout
                starts = {int(start, 16) - 0x140000000 for start in re.findall(
                    r"^    (?:  )?(?:StartAddress|Function): .*?\(?(0x[0-9A-Fa-f]+)\)?$", unwind, re.M)}
                self.assertGreaterEqual(len(starts), 41)
                done = run("pe", "symbols", "--format", "json", "--pe", image, "--kind",
                           "public,procedure,local_procedure,cold_part", pdb)
                rows = strict_json(done.stdout)["files"][0]["symbols"]
                self.assertEqual(starts - {row["rva"] for row in rows}, set())
                public = {row["rva"] for row in rows if row["kind"] == "public"}
                self.assertEqual(len(starts - public), 20)  # the inner ones


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
