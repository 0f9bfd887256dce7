"""coldtrace hooks table --derive-from, hooks derive of members: offsets carried from a build with a PDB to one without.

usage: member_derivation_test.py COLDTRACE SOURCES CLANG LLD [unittest arguments]
Both kernels are made here of one source, in which structures of the later one have more members; what offsetof says
there, it exports. Where no kernel can be made, all of it is skipped.
"""
import csv
import io
import json
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from strict import strict_json

COLDTRACE, SOURCES, CLANG, LLD = sys.argv[1:5]
SCHEMA = json.loads((Path(SOURCES) / "docs/schema/hook-table.schema.json").read_text())
DERIVED = json.loads((Path(SOURCES) / "docs/schema/derived-members.schema.json").read_text())
MACHINES = {"x86_64": "x64", "i686": "x86", "aarch64": "arm64"}
# What such a kernel lacks beside members.
LACKING = "no-service-table,no-services,context-switch-not-found,thread-offset-missing"

SOURCE = """
typedef unsigned int u32; typedef unsigned long long u64; typedef unsigned char u8;
#ifdef LATER
#define MORE(type, name) type name
#else
#define MORE(type, name)
#endif
struct _LIST_ENTRY { struct _LIST_ENTRY *Flink, *Blink; };
struct _EX_FAST_REF { union { void *Object; __SIZE_TYPE__ Value; struct { __SIZE_TYPE__ RefCnt : 4; }; }; };
struct _PLACE { MORE(u64, before;) u32 first; u32 second; };
struct _SINGLE { MORE(u64, fresh;) void *only; };
struct _TOKEN { void *source; MORE(u64 room[5];, ) u32 TokenType; u32 level; };
struct _KTHREAD { void *links[4]; MORE(void *, more;) signed char Priority; u32 Runs; };
struct _ETHREAD { struct _KTHREAD Tcb; struct _EPROCESS *Owner; MORE(u8, room[300];) u32 ExitStatus; };
struct _EPROCESS { void *links[3]; MORE(u64, room[7];) void *UniqueProcessId; struct _ETHREAD *First;
  u32 Flags; MORE(u32, other[3];) struct _TOKEN *Token; void *Peb; u32 low : 7; u32 Bits : 9;
  MORE(u64, last[9];) u32 ExitStatus; u32 Alone; u32 Session; u64 gap[20]; u32 Hidden;
  struct _PLACE Place; struct _LIST_ENTRY Links; struct _EX_FAST_REF Fast; struct _SINGLE Single; };
#define API __declspec(dllexport) __declspec(noinline)
#define OWN static __declspec(noinline)
#define INNER __declspec(noinline)
volatile u32 sink;
void Sum(u32 number) { sink += number * 3; }
OWN u32 PspCount(struct _EPROCESS *p, u32 step) {
  for (u32 i = 0; i < step; ++i) Sum(p->Flags + p->Session);
  p->ExitStatus ^= step; return p->First->ExitStatus + p->Token->TokenType; }
OWN void PspMark(u32 how, struct _EPROCESS *p) {
  p->Flags |= how; p->Session = how; Sum(how); p->First->Tcb.Priority = p->Flags; }
OWN u32 PspBits(struct _EPROCESS *p) { Sum(p->Bits); return p->Bits; }
API void *PsGetProcessId(struct _EPROCESS *p) { return p->UniqueProcessId; }
API void *PsGetProcessPeb(struct _EPROCESS *p) { Sum(p->Flags); return p->PEB; }
API u32 PsGetProcessExitStatus(struct _EPROCESS *p) { return p->ExitStatus; }
API u32 PsGetProcessSessionId(struct _EPROCESS *p) { return p->Session; }
API u32 PsGetProcessBits(struct _EPROCESS *p) { return p->Bits + PspBits(p); }
API void PsSetProcessFlags(struct _EPROCESS *p, u32 f) { PspMark(f + 1, p); Sum(p->Flags);
  if (p->Peb) Sum(f); }
API u32 PsSetProcessPriority(struct _EPROCESS *p, u32 f) { u32 x = PspCount(p, f); Sum(x);
  p->UniqueProcessId = p->Peb; return x + p->Alone; }
API u32 PsIsSystemProcess(struct _EPROCESS *p) { return p->UniqueProcessId == p->Peb; }
API u32 PsGetThreadExitStatus(struct _ETHREAD *t) { return t->ExitStatus; }
API u32 PsIsThreadTerminating(struct _ETHREAD *t) { Sum(t->Tcb.Runs); return t->ExitStatus & 1; }
API int KeQueryPriorityThread(struct _KTHREAD *t) { return t->Priority; }
API int KeSetPriorityThread(struct _KTHREAD *t, int n) { int old = t->Priority; t->Priority = n; return old + (int)t->Runs; }
API void *PsReferencePrimaryToken(struct _EPROCESS *p) { Sum(p->Token->level); return p->Token; }
INNER u32 PsGetProcessHidden(struct _EPROCESS *p) {
  for (u32 i = 0; i < 3; ++i) Sum(p->Hidden ^ i);
  return p->Hidden * 5; }
INNER u32 PsSetProcessHidden(struct _EPROCESS *p, u32 how) {
  u32 old = p->Hidden; p->Hidden = how + 11; Sum(old); return old * 7; }
u32 (*volatile hidden_get)(struct _EPROCESS *) = PsGetProcessHidden;
u32 (*volatile hidden_set)(struct _EPROCESS *, u32) = PsSetProcessHidden;
API u64 PsGetProcessPlace(struct _EPROCESS *p) { Sum(p->Place.first); Sum(p->Fast.Value + 3);
  return p->Place.first + (u64)p->Links.Flink; }
API u64 PsSetProcessPlace(struct _EPROCESS *p, u32 x) { Sum(x * 5); p->Place.first = x; Sum(x ^ 9);
  p->Links.Flink = (void *)(u64)x; Sum(x); return p->Fast.Value; }
API __SIZE_TYPE__ PsGetProcessSingle(struct _EPROCESS *p) { return (__SIZE_TYPE__)p->Single.only * 3 + 7; }
API __SIZE_TYPE__ PsGetProcessOnly(struct _EPROCESS *p) { return (__SIZE_TYPE__)p->Single.only ^ 0x55; }
API u32 SeTokenType(struct _TOKEN *t) { return t->TokenType; }
API u32 SeTokenIsAdmin(struct _TOKEN *t) { Sum(t->TokenType); return t->level; }
int entry(void) { return (int)sink; }
#define OFFSET(name, type, member) \
  __declspec(dllexport) const u32 value_##name = __builtin_offsetof(struct type, member)
OFFSET(UniqueProcessId, _EPROCESS, UniqueProcessId); OFFSET(Flags, _EPROCESS, Flags);
OFFSET(Token, _EPROCESS, Token); OFFSET(Peb, _EPROCESS, Peb); OFFSET(Exit, _EPROCESS, ExitStatus);
OFFSET(Session, _EPROCESS, Session); OFFSET(Hidden, _EPROCESS, Hidden); OFFSET(First, _EPROCESS, First);
OFFSET(ThreadExit, _ETHREAD, ExitStatus); OFFSET(Priority, _KTHREAD, Priority);
OFFSET(Type, _TOKEN, TokenType); OFFSET(Level, _TOKEN, level); OFFSET(Runs, _KTHREAD, Runs);
OFFSET(Inner, _EPROCESS, Place.first); OFFSET(Links, _EPROCESS, Links); OFFSET(Fast, _EPROCESS, Fast);
OFFSET(Only, _EPROCESS, Single.only); OFFSET(Single, _EPROCESS, Single);
""".replace("MORE(u64 room[5];, )", "MORE(u64, room[5];)")

LIST = """
UniqueProcessId = _EPROCESS.UniqueProcessId
Flags = _EPROCESS.Flags
Token = _EPROCESS.Token
Peb = _EPROCESS.Peb
Exit = _EPROCESS.ExitStatus
Session = _EPROCESS.Session
First = _EPROCESS.First
ThreadExit = _ETHREAD.ExitStatus
Priority = _KTHREAD.Priority
Runs = _ETHREAD.Tcb.Runs
Type = _TOKEN.TokenType
Level = _TOKEN.level
Inner = _EPROCESS.Place.first
Links = _EPROCESS.Links
Fast = _EPROCESS.Fast
Only = _EPROCESS.Single.only
optional Single = _EPROCESS.Single
optional Place = _EPROCESS.Place
optional Alone = _EPROCESS.Alone
optional Bits = _EPROCESS.Bits
optional Gone = _EPROCESS.Gone
"""


class Derivation(case.KernelCase):
    programs = CLANG, LLD

    def kernel(self, target, *defines, peb="Peb"):
        """The paths of a kernel and its PDB, in a folder of their own."""
        folder = self.here / "-".join((target, peb, *defines))
        image = folder / "ntoskrnl.exe"
        if not folder.exists():
            folder.mkdir()
            source = folder / "kernel.c"
            source.write_text(SOURCE.replace("->PEB", f"->{peb}"))
            self.call(CLANG, f"--target={target}-pc-windows-msvc", "-g", "-gcodeview", "-O2", "-w",
                      "-ffreestanding", *(f"-D{define}" for define in defines), "-c", source, "-o",
                      folder / "o.obj")
            self.call(LLD, "/nodefaultlib", "/entry:entry", "/subsystem:native", "/debug",
                      "/brepro", "/opt:noref,noicf", f"/machine:{MACHINES[target]}",
                      f"/out:{image}", folder / "o.obj")
        return image, folder / "ntoskrnl.pdb"

    def truth(self, image):
        done = subprocess.run([COLDTRACE, "pe", "exports", "--format", "json", image],
                              capture_output=True, timeout=60)
        data = image.read_bytes()
        return {row["name"][6:]: struct.unpack_from("<I", data, row["file_offset"])[0]
                for row in strict_json(done.stdout)["images"][0]["exports"]
                if row["name"].startswith("value_")}

    def table(self, status, image, known, pdb, *options, tolerate=LACKING):
        members = self.write("a.members", LIST.encode())
        done = subprocess.run(
            [COLDTRACE, "hooks", "table", "--tolerate", tolerate, "--kernel", image, "--members",
             members, "--derive-from", known, "--derive-pdb", pdb, *options],
            capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done.stdout

    def build(self, status, *arguments, **options):
        document = strict_json(self.table(status, *arguments, "--format", "json", **options))
        json_schema.validate(document, SCHEMA)
        return document["builds"][0]

    def test_offsets_are_those_of_the_compiler(self):
        for target in MACHINES:
            with self.subTest(target):
                known, pdb = self.kernel(target)
                later, _ = self.kernel(target, "LATER")
                truth = self.truth(later)
                self.assertNotEqual(self.truth(known), truth)
                del truth["Hidden"]  # in functions without names there
                found = {row["name"]: row for row in self.build(0, later, known, pdb)["members"]}
                # Code shows where a member of these is, which lies elsewhere in them now.
                self.assertEqual(truth.pop("Single"), truth["Only"] - 8)
                expected = truth | {"Place": None, "Single": None, "Alone": None, "Bits": None,
                                    "Gone": None}
                self.assertEqual({name: row["value"] for name, row in found.items()}, expected)
                for name, value in truth.items():
                    self.assertIn("inferred", found[name]["sources"], name)
                    self.assertNotEqual(found[name]["confidence"], "high")
                    proofs = [text for text in found[name]["evidence"] if "inferred in" in text]
                    self.assertGreaterEqual(len(proofs), 2, name)
                    for proof in proofs:
                        self.assertIn(f"with {value:#x}, which in {known} at 0x", proof)
                self.assertEqual(found["Session"]["confidence"], "medium")
                if target != "aarch64":
                    for name in ("Peb", "Flags"):
                        self.assertEqual(found[name]["sources"], ["inferred"])
                    for name in ("Type", "Priority"):
                        self.assertEqual(found[name]["sources"], ["code", "inferred"])

    def test_a_symbol_table_stands_for_the_pdb(self):
        known, pdb = self.kernel("x86_64")
        later, _ = self.kernel("x86_64", "LATER")
        table = self.here / "table.json"
        self.call(COLDTRACE, "pe", "isf", "--pe", known, pdb, "-o", table)
        self.assertEqual(self.build(0, later, known, table)["members"],
                         self.build(0, later, known, pdb)["members"])

    def test_code_that_contradicts_gives_no_value(self):
        for target in MACHINES:
            with self.subTest(target):
                known, pdb = self.kernel(target)
                later, _ = self.kernel(target, "LATER", peb="Token")
                truth = self.truth(later)
                build = self.build(1, later, known, pdb)
                found = {row["name"]: row for row in build["members"]}
                self.assertNotIn(found["Peb"]["value"], (truth["Peb"],))
                finding = next(row for row in build["findings"]
                               if row["code"] == "member-contradiction")
                self.assertIn("Peb", finding["text"])
                for name in ("Peb", "Token"):
                    self.assertTrue(any(f"at {truth[name]:#x}: " in text
                                        for text in found["Peb"]["evidence"]))
                for name in truth.keys() - {"Hidden", "Single"}:
                    if name != "Peb":
                        self.assertEqual(found[name]["value"], truth[name])

    def test_every_format_has_them(self):
        known, pdb = self.kernel("x86_64")
        later, _ = self.kernel("x86_64", "LATER")
        truth = self.truth(later)
        rows = csv.DictReader(io.StringIO(self.table(0, later, known, pdb, "--format",
                                                     "csv").decode()))
        row, = (row for row in rows if row["name"] == "Flags")
        self.assertEqual((int(row["value"]), row["source"]), (truth["Flags"], "inferred"))
        header = self.table(0, later, known, pdb, "--format", "c-header").decode()
        self.assertRegex(header, rf'"Flags", {truth["Flags"]:#x}UL, .*, 4, [01]}}')
        path = self.here / "a.hooktab"
        self.table(0, later, known, pdb, "--format", "hooktab", "-o", path)
        done = self.call(COLDTRACE, "hooks", "show", path, "--format", "json")
        shown = {row["name"]: row for row in json.loads(done)["builds"][0]["members"]}
        self.assertEqual((shown["Flags"]["value"], shown["Flags"]["sources"]),
                         (truth["Flags"], ["inferred"]))
        self.assertIn(f"{truth['Flags']:#x}", self.table(0, later, known, pdb).decode())
        members = self.here / "a.members"
        self.call(COLDTRACE, "hooks", "verify", path, later, "--members", members, "--derive-from",
                  known, "--derive-pdb", pdb)
        done = subprocess.run([COLDTRACE, "hooks", "verify", path, later, "--members", members,
                               "--format", "json"], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        differences = {row["path"]: (row["table"], row["files"])
                       for row in strict_json(done.stdout)["builds"][0]["differences"]}
        self.assertEqual(differences["members[Flags].value"], (f"{truth['Flags']:#x}", None))

    def derive(self, status, member, known, pdb, *arguments, form="json"):
        done = subprocess.run([COLDTRACE, "hooks", "derive", member, "--derive-from", known,
                               "--derive-pdb", pdb, "--format", form, *arguments],
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        if form != "json":
            return done.stdout.decode()
        document = strict_json(done.stdout)
        json_schema.validate(document, DERIVED)
        self.assertEqual((document["member"], document["derived_from"]), (member, [str(known)]))
        return document["images"]

    def test_hooks_derive_of_one_member(self):
        for target in MACHINES:
            with self.subTest(target):
                known, pdb = self.kernel(target)
                later, later_pdb = self.kernel(target, "LATER")
                truth = self.truth(later)
                image, itself = self.derive(0, "_EPROCESS.Flags", known, pdb, later, known)
                self.assertEqual([image["path"], itself["path"]], [str(later), str(known)])
                row, = image["members"]
                self.assertEqual((row["value"], row["sources"]), (truth["Flags"], ["inferred"]))
                self.assertIn(f"with {truth['Flags']:#x}, which in {known} at 0x", row["evidence"][0])
                self.assertEqual(itself["members"][0]["value"], self.truth(known)["Flags"])
                table = self.build(0, later, known, pdb)
                self.assertEqual(row, next(r for r in table["members"] if r["name"] == "Flags") |
                                 {"name": "_EPROCESS.Flags"})
                text = self.derive(0, "_EPROCESS.Flags", known, pdb, later, form="text")
                self.assertIn(f"\n_EPROCESS.Flags at {truth['Flags']:#x}, inferred, ", text)
                line, = csv.DictReader(io.StringIO(
                    self.derive(0, "_EPROCESS.Flags", known, pdb, later, form="csv")))
                self.assertEqual(int(line["value"]), truth["Flags"])
                image, = self.derive(0, "_EPROCESS.Flags", known, pdb, later, "--pdb", later_pdb)
                self.assertEqual(image["members"][0]["sources"], ["pdb", "inferred"])
                for lost in ("_EPROCESS.Alone", "_EPROCESS.Single", "_EPROCESS.Gone", "_GONE.Gone"):
                    image, = self.derive(1, lost, known, pdb, later)
                    self.assertEqual([row["code"] for row in image["findings"]], ["member-missing"])
                    self.assertIsNone(image["members"][0]["value"])

    def test_hooks_derive_of_all_members_of_a_structure(self):
        known, pdb = self.kernel("x86_64")
        later, _ = self.kernel("x86_64", "LATER")
        truth = self.truth(later)
        image, = self.derive(0, "_EPROCESS.*", known, pdb, later)
        names = ("UniqueProcessId", "Flags", "Token", "Peb", "ExitStatus", "Session", "First", "Links", "Fast")
        self.assertEqual({row["name"]: row["value"] for row in image["members"]},
                         {f"_EPROCESS.{name}": truth["Exit" if name == "ExitStatus" else name]
                          for name in names})
        image, = self.derive(0, "_*.Session", known, pdb, later)
        self.assertEqual([row["value"] for row in image["members"]], [truth["Session"]])
        for member, code in (("_EPROCESS.Z*", "no-match"), ("_EPROCESS.Alon?", "member-missing")):
            image, = self.derive(1, member, known, pdb, later)
            self.assertEqual(([], [code]), (image["members"],
                                            [row["code"] for row in image["findings"]]))

    def test_functions_that_signatures_find(self):
        for target in ("x86_64", "i686"):
            with self.subTest(target):
                known, pdb = self.kernel(target)
                later, later_pdb = self.kernel(target, "LATER")
                truth = self.truth(later)
                self.derive(1, "_EPROCESS.Hidden", known, pdb, later)
                signatures = self.here / f"{target}.sig"
                signatures.write_text("".join(
                    self.call(COLDTRACE, "hooks", "derive", f"Ps{verb}ProcessHidden", "--at-least",
                              "8", "--pdb", pdb, "--pdb", later_pdb, known, later)
                    for verb in ("Get", "Set")))
                image, = self.derive(0, "_EPROCESS.Hidden", known, pdb, later,
                                     "--derive-signatures", signatures)
                row, = image["members"]
                self.assertEqual((row["value"], row["sources"]), (truth["Hidden"], ["inferred"]))
                self.assertRegex(row["evidence"][0], r"Ps.etProcessHidden \(found by a signature\)")

    def test_a_hook_table_stands_for_the_pdb(self):
        known, pdb = self.kernel("x86_64")
        later, _ = self.kernel("x86_64", "LATER")
        members = self.write("sized.members", b"size _EPROCESS\n_EPROCESS.Flags\n")
        table, symbols = self.here / "known.hooktab", self.here / "known.json"
        self.call(COLDTRACE, "hooks", "table", "--tolerate", LACKING, "--kernel", known, "--pdb", pdb,
                  "--members", members, "--format", "hooktab", "-o", table)
        self.call(COLDTRACE, "hooks", "export", "isf", table, "-o", symbols)
        image, = self.derive(0, "_EPROCESS.*", known, symbols, later)
        self.assertEqual([(row["name"], row["value"]) for row in image["members"]],
                         [("_EPROCESS.Flags", self.truth(later)["Flags"])])

    def test_what_cannot_be_derived_from_is_said(self):
        known, pdb = self.kernel("x86_64")
        later, other = self.kernel("x86_64", "LATER")
        x86, x86_pdb = self.kernel("i686")
        base = [COLDTRACE, "hooks", "table", "--kernel", later]
        lists = ["--members", "edr"]
        members = self.write("a.sig", b"nothing")
        for options, message in (
                ([*lists, "--derive-from", known], "needs --derive-pdb"),
                ([*lists, "--derive-pdb", pdb], "needs --derive-from"),
                (["--derive-from", known, "--derive-pdb", pdb], "give --members"),
                ([*lists, "--derive-from", known, "--derive-pdb", other], "no --derive-pdb has"),
                ([*lists, "--derive-from", known, "--derive-pdb", pdb, "--derive-pdb", other],
                 "no --derive-from asks for it"),
                ([*lists, "--derive-from", x86, "--derive-pdb", x86_pdb], "machine")):
            done = subprocess.run([*base, *options], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
        member = ["_EPROCESS.Flags", "--derive-from", known, "--derive-pdb", pdb]
        for options, message in (
                ([*member, "--at", "4096", later], "--at and --at-least are for a function"),
                (["Flags", *member[1:], later], "NAME is a member"),
                (["_EPROCESS.", *member[1:], later], "NAME is a member"),
                (["_EPROCESS.Flags", "--derive-signatures", members, later], "needs --derive-from"),
                ([*member, "--derive-signatures", members, later], "a.sig:1:1"),
                (["PsGetProcessId", "--format", "csv", later], "give --derive-from"),
                ([*member, x86], "machine")):
            done = subprocess.run([COLDTRACE, "hooks", "derive", *options], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
