"""coldtrace hooks table --members: what a list asks of a kernel, against what its compiler says.

usage: members_test.py COLDTRACE SOURCES CLANG LLD [unittest arguments]
The kernels are made here: exported numbers of theirs are offsetof and sizeof as the compiler has them, exported
pointers the linker's addresses. Where no kernel can be made, all of it is skipped.
"""
import csv
import io
import json
import re
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
VERIFICATION = json.loads(
    (Path(SOURCES) / "docs/schema/hook-table-verification.schema.json").read_text())
TARGETS = {"x86_64": ("x64", 0x140000000), "i686": ("x86", 0x400000)}
# What such a kernel lacks beside members.
LACKING = "no-service-table,no-services,context-switch-not-found,thread-offset-missing,isf-type-twice"

SOURCE = """
typedef unsigned int u32; typedef unsigned long long u64; typedef unsigned char u8;
enum _LEVEL { Low = -2, Middle = 7, High = 0x7fffffff };
enum _WIDE { Top = 0x80000001u };
struct _LIST { struct _LIST *next, *before; };
union _ENTRY { u64 whole; struct { u64 lock : 1; u64 attributes : 19; u64 object : 44; }; };
struct _EPROCESS { u8 room[733]; void *Peb; struct _LIST links; void *Job; void *DebugPort;
  union { struct { u32 a; u32 State : 5; u32 more : 27; } s; u64 all; } u1; u8 name[15];
  union _ENTRY entry; enum _LEVEL level; volatile long ExitStatus; };
struct _KTHREAD { u8 room[99]; struct _EPROCESS *Process; };
struct _RTL_GENERIC_TABLE { void *root; struct _LIST ordered; void *pointer; u32 which; u32 NumberGenericTableElements; } g_table;
struct _RTL_AVL_TABLE { struct { void *parent, *left, *right; u8 balance; } root; void *pointer; u32 which; u32 NumberGenericTableElements; } g_avl;
struct _ERESOURCE { u8 room[43]; unsigned short NumberOfSharedWaiters; u8 more[3]; u32 NumberOfExclusiveWaiters; } g_resource;
struct _BASE_MCB { u32 MaximumPairCount, PairCount; } g_mcb;
struct _SHARED_CACHE_MAP { u8 room[77]; void *FileObject; } g_map; struct _BCB { u8 room[109]; struct _SHARED_CACHE_MAP *SharedCacheMap; } g_bcb;
struct _EPROCESS PsInitial; struct _KTHREAD g_thread; enum _WIDE g_wide;
u32 PsList = 3; static u32 hidden = 4;
#define EXPORT __declspec(dllexport)
EXPORT u32 PsExported = 5;
EXPORT void *PsGetProcessPeb(struct _EPROCESS *p) { return p->Peb; }
EXPORT void *PsGetProcessJob(struct _EPROCESS *p) { return p->JOB; }
EXPORT long PsGetProcessExitStatus(struct _EPROCESS *p) { return p->ExitStatus; }
EXPORT u32 RtlNumberGenericTableElements(struct _RTL_GENERIC_TABLE *t) { return t->NumberGenericTableElements; }
EXPORT u32 RtlNumberGenericTableElementsAvl(struct _RTL_AVL_TABLE *t) { return t->NumberGenericTableElements; }
EXPORT u32 ExGetSharedWaiterCount(struct _ERESOURCE *r) { return r->NumberOfSharedWaiters; }
EXPORT u32 ExGetExclusiveWaiterCount(struct _ERESOURCE *r) { return r->NumberOfExclusiveWaiters; }
EXPORT u32 FsRtlNumberOfRunsInBaseMcb(struct _BASE_MCB *m) { return m->PairCount; }
EXPORT void *CcGetFileObjectFromBcb(struct _BCB *b) { return b->SharedCacheMap->FileObject; }
__declspec(noinline) int KiRun(int x) { return x + (int)hidden; }
int entry(void) { return KiRun((int)PsList) + (int)g_wide + (int)PsInitial.level; }
#define OFFSET(name, type, member) EXPORT const u32 value_##name = __builtin_offsetof(struct type, member)
OFFSET(peb, _EPROCESS, Peb); OFFSET(links, _EPROCESS, links.before); OFFSET(job, _EPROCESS, Job);
OFFSET(port, _EPROCESS, DebugPort); OFFSET(u1, _EPROCESS, u1.s.a); OFFSET(entry, _EPROCESS, entry);
OFFSET(exit, _EPROCESS, ExitStatus); OFFSET(process, _KTHREAD, Process);
OFFSET(elements, _RTL_GENERIC_TABLE, NumberGenericTableElements); OFFSET(avl, _RTL_AVL_TABLE, NumberGenericTableElements);
OFFSET(shared, _ERESOURCE, NumberOfSharedWaiters); OFFSET(exclusive, _ERESOURCE, NumberOfExclusiveWaiters);
OFFSET(runs, _BASE_MCB, PairCount); OFFSET(cached, _SHARED_CACHE_MAP, FileObject);
EXPORT const u32 value_size = sizeof(struct _EPROCESS);
EXPORT const u32 value_name = sizeof(((struct _EPROCESS *)0)->name);
EXPORT const void *const place_list = &PsList; EXPORT const void *const place_run = (void *)KiRun;
EXPORT const void *const place_exported = &PsExported;
EXPORT const void *const place_getpeb = (void *)PsGetProcessPeb;
"""

# Functions that read one member, and one that has two names.
READERS = """
struct _KMUTANT { u8 room[37]; struct { u8 more[5]; int SignalState; } Header; } g_mutant;
struct _KEVENT { u8 room[21]; struct { int SignalState; } Header; } g_event;
struct _ETHREAD { u8 room[301]; struct { void *UniqueProcess, *UniqueThread; } Cid; } g_ethread;
EXPORT int KeReadStateMutant(struct _KMUTANT *m) { return m->Header.SignalState; }
EXPORT int KeReadStateEvent(struct _KEVENT *e) { return e->Header.SignalState; }
EXPORT void *PsGetThreadProcess(struct _KTHREAD *t) { return t->Process; }
EXPORT void *IoThreadToProcess(struct _KTHREAD *t) { return t->Process; }
EXPORT void *PsGetThreadProcessId(struct _ETHREAD *t) { return t->Cid.UniqueProcess; }
EXPORT void *PsGetThreadId(struct _ETHREAD *t) { return t->Cid.UniqueThread; }
OFFSET(mutant, _KMUTANT, Header.SignalState); OFFSET(event, _KEVENT, Header.SignalState);
OFFSET(client_process, _ETHREAD, Cid.UniqueProcess); OFFSET(client_thread, _ETHREAD, Cid.UniqueThread);
"""
SECOND_READER = "EXPORT int KeReadStateMutex(struct _KMUTANT *m) { return m->Header.SignalState; }"
SECOND_NAME = '#pragma comment(linker, "/export:KeReadStateMutex=KeReadStateMutant")'

LIST = """
_EPROCESS.Peb
_EPROCESS.links.before
State = _EPROCESS.u1.s.State
bit Shift = _EPROCESS.entry.object
optional _EPROCESS.Nothing
Era = _EPROCESS.Gone | _NOTHING.x | _EPROCESS.ExitStatus
_EPROCESS.DebugPort
_KTHREAD.Process
size _EPROCESS
size Name = _EPROCESS.name
constant Low = _LEVEL.Low
constant High = _LEVEL.High
constant Top = _WIDE.Top
PsList
PsExported
function KiRun
function PsGetProcessPeb
optional function PsInitial2 = PsList
"""


class Case(case.KernelCase):
    programs = CLANG, LLD
    made = {}

    def kernel(self, target, job="Job", more=""):
        """The paths of a kernel and its PDB, built once."""
        image, pdb = self.here / "ntoskrnl.exe", self.here / "ntoskrnl.pdb"
        if (target, job, more) not in self.made:
            path = self.write("kernel.c", (SOURCE.replace("JOB", job) + more).encode())
            self.call(CLANG, f"--target={target}-pc-windows-msvc", "-g", "-gcodeview", "-O2", "-w",
                      "-ffreestanding", "-c", path, "-o", self.here / "o.obj")
            self.call(LLD, "/nodefaultlib", "/entry:entry", "/subsystem:native", "/debug",
                      "/brepro", "/opt:noref", f"/machine:{TARGETS[target][0]}", f"/out:{image}",
                      f"/base:{TARGETS[target][1]:#x}", self.here / "o.obj")
            self.made[target, job, more] = image.read_bytes(), pdb.read_bytes()
        image.write_bytes(self.made[target, job, more][0])
        pdb.write_bytes(self.made[target, job, more][1])
        return image, pdb

    def table(self, status, image, *options, lists=LIST, tolerate=LACKING):
        chosen = ["--members", self.write("a.members", lists.encode())] if lists else []
        done = subprocess.run([COLDTRACE, "hooks", "table", "--tolerate", tolerate, "--kernel",
                               image, *chosen, *options], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def document(self, status, *arguments, **options):
        done = self.table(status, *arguments, "--format", "json", **options)
        document = strict_json(done.stdout)
        json_schema.validate(document, SCHEMA)
        return document["builds"][0]

    def members(self, status, *arguments, **options):
        build = self.document(status, *arguments, **options)
        return {member["name"]: member for member in build["members"]}

    def truth(self, image, target):
        """The numbers that the kernel exports, and the RVAs that its pointers lead to."""
        done = subprocess.run([COLDTRACE, "pe", "exports", "--format", "json", image],
                              capture_output=True, timeout=60)
        data, numbers = image.read_bytes(), {}
        form, base = ("<Q", TARGETS[target][1]) if target == "x86_64" else ("<I", TARGETS[target][1])
        for row in strict_json(done.stdout)["images"][0]["exports"]:
            if row["name"].startswith("value_"):
                numbers[row["name"][6:]] = struct.unpack_from("<I", data, row["file_offset"])[0]
            if row["name"].startswith("place_"):
                numbers[row["name"][6:]] = struct.unpack_from(form, data, row["file_offset"])[0] - base
        return numbers


class Values(Case):
    def test_every_value_is_the_compilers_or_the_linkers(self):
        for target in TARGETS:
            with self.subTest(target):
                image, pdb = self.kernel(target)
                truth = self.truth(image, target)
                found = self.members(0, image, "--pdb", pdb, tolerate=LACKING + ",member-place")
                expected = {"_EPROCESS.Peb": truth["peb"], "_EPROCESS.links.before": truth["links"],
                            "State": truth["u1"] + 4, "Shift": 20, "_EPROCESS.Nothing": None,
                            "Era": truth["exit"], "_EPROCESS.DebugPort": truth["port"],
                            "_KTHREAD.Process": truth["process"], "_EPROCESS": truth["size"],
                            "Name": truth["name"], "Low": -2, "High": 0x7fffffff,
                            "Top": -0x7fffffff, "PsList": truth["list"],
                            "PsExported": truth["exported"], "KiRun": truth["run"],
                            "PsGetProcessPeb": truth["getpeb"], "PsInitial2": None}
                self.assertEqual({name: row["value"] for name, row in found.items()}, expected)
                both = {"_EPROCESS.Peb", "Era", "PsExported", "PsGetProcessPeb"}
                for name, row in found.items():
                    sources = [] if expected[name] is None else \
                        ["pdb", "code"] if name in both else ["pdb"]
                    self.assertEqual(row["sources"], sources, name)
                    self.assertEqual(row["confidence"], "high" if sources else None)
                self.assertEqual((found["State"]["bit_position"], found["State"]["bit_length"],
                                  found["State"]["size"]), (0, 5, 4))
                self.assertEqual((found["Shift"]["bit_position"], found["Shift"]["bit_length"]),
                                 (20, 44))
                self.assertEqual(found["Era"]["expression"], "_EPROCESS.ExitStatus")
                self.assertEqual(found["_EPROCESS.Peb"]["size"], 8 if target == "x86_64" else 4)
                self.assertGreater(found["KiRun"]["size"], 2)

    def test_without_a_pdb_code_and_exports_speak_alone(self):
        image, _ = self.kernel("x86_64")
        truth = self.truth(image, "x86_64")
        found = self.members(1, image)
        known = {name: row["value"] for name, row in found.items() if row["value"] is not None}
        self.assertEqual(known, {"_EPROCESS.Peb": truth["peb"], "Era": truth["exit"],
                                 "PsExported": truth["exported"],
                                 "PsGetProcessPeb": truth["getpeb"]})
        for name in known:
            self.assertEqual(found[name]["sources"], ["code"])
        self.assertEqual(found["Era"]["confidence"], "low")
        missing = self.document(1, image)["findings"]
        missing = next(row for row in missing if row["code"] == "member-missing")
        self.assertIn("_EPROCESS.links.before, State, Shift", missing["text"])
        self.assertEqual(missing["severity"], "warning")
        self.table(1, image)
        self.members(0, image, tolerate=LACKING + ",member-missing")

    def test_confidence_is_as_many_functions_and_ways_as_say_it(self):
        expected = {"_KMUTANT.Header.SignalState": ("mutant", "medium", 2),
                    "_KEVENT.Header.SignalState": ("event", "low", 1),
                    "_KTHREAD.Process": ("process", "medium", 2),
                    "_ETHREAD.Cid.UniqueProcess": ("client_process", "high", 2),
                    "_ETHREAD.Cid.UniqueThread": ("client_thread", "high", 2)}
        for target in TARGETS:
            with self.subTest(target):
                image, _ = self.kernel(target, more=READERS + SECOND_READER)
                truth = self.truth(image, target)
                found = self.members(0, image, lists="\n".join(expected))
                self.assertEqual({name: (row["value"], row["confidence"], len(row["evidence"]))
                                  for name, row in found.items()},
                                 {name: (truth[value], *rest)
                                  for name, (value, *rest) in expected.items()})

    def test_two_names_of_one_function_say_no_more_than_one(self):
        image, _ = self.kernel("x86_64", more=READERS + SECOND_NAME)
        found, = self.members(0, image, lists="_KMUTANT.Header.SignalState").values()
        self.assertEqual((found["confidence"], len(found["evidence"])), ("low", 2))

    def test_members_that_other_parts_of_the_kernel_read(self):
        expected = {"_RTL_GENERIC_TABLE.NumberGenericTableElements": "elements", "_RTL_AVL_TABLE.NumberGenericTableElements": "avl",
                    "_ERESOURCE.NumberOfSharedWaiters": "shared", "_ERESOURCE.NumberOfExclusiveWaiters": "exclusive",
                    "_BASE_MCB.PairCount": "runs", "_SHARED_CACHE_MAP.FileObject": "cached"}
        for target in TARGETS:
            with self.subTest(target):
                image, _ = self.kernel(target)
                truth = self.truth(image, target)
                found = self.members(0, image, lists="\n".join(expected))
                self.assertEqual({name: (row["value"], row["sources"]) for name, row in found.items()},
                                 {name: (truth[value], ["code"]) for name, value in expected.items()})

    def test_a_missing_member_is_a_finding_and_never_0(self):
        image, pdb = self.kernel("i686")
        for text in ("_EPROCESS.Nothing", "_NOTHING.x", "bit _EPROCESS.Peb", "size _NOTHING",
                     "constant _LEVEL.Nothing", "constant _NOTHING.x", "Nothing",
                     "size _EPROCESS.Nothing", "_EPROCESS.links.nothing", "_EPROCESS.Peb.x"):
            with self.subTest(text):
                found, = self.members(1, image, "--pdb", pdb, lists=text).values()
                self.assertIsNone(found["value"])
                self.assertEqual(found["sources"], [])
                found, = self.members(0, image, "--pdb", pdb, lists="optional " + text).values()
                self.assertIsNone(found["value"])

    def test_a_function_outside_of_code_is_none(self):
        image, pdb = self.kernel("x86_64")
        build = self.document(1, image, "--pdb", pdb, lists="function PsList")
        self.assertIsNone(build["members"][0]["value"])
        self.assertLessEqual({"member-place", "member-missing"},
                             {row["code"] for row in build["findings"]})

    def test_code_that_contradicts_the_pdb_is_a_finding(self):
        for target in TARGETS:
            with self.subTest(target):
                image, pdb = self.kernel(target, job="DebugPort")
                truth = self.truth(image, target)
                build = self.document(1, image, "--pdb", pdb, lists="_EPROCESS.Job")
                found, = build["members"]
                self.assertEqual((found["value"], found["confidence"]), (truth["job"], "low"))
                self.assertIn("member-contradiction", {row["code"] for row in build["findings"]})
                self.assertTrue(any(f"at {truth['port']:#x}" in text for text in found["evidence"]))
                image, pdb = self.kernel(target)
                found, = self.members(0, image, "--pdb", pdb, lists="_EPROCESS.Job").values()
                self.assertEqual(found["sources"], ["pdb", "code"])

    def test_lists_are_built_in_or_files_and_errors_have_places(self):
        image, pdb = self.kernel("x86_64")
        for name in ("edr", "edrsandblast", "kphdyn", "phnt", "tracer"):
            found = self.members(1, image, "--pdb", pdb, "--members", name, lists=None)
            self.assertGreater(len(found), 10)
            used = self.members(1, image, "--pdb", pdb, lists="@" + name)
            self.assertEqual(used, found)
        done = self.table(2, image, lists="_EPROCESS.Peb\n  bit x")
        self.assertIn(b"a.members:2:7: ", done.stderr)
        done = self.table(2, image, "--members", self.here / "missing", lists=None)
        self.assertIn(b"missing: ", done.stderr)
        self.table(2, image, "--format", "csv", lists=None)


class SymbolTables(Case):
    """Of Volatility 3, made of the PDB: they stand for it."""

    def isf(self, image, pdb, name="table.json"):
        path = self.here / name
        packed = ["--xz"] if name.endswith(".xz") else []
        done = subprocess.run([COLDTRACE, "pe", "isf", "--pe", image, *packed, pdb, "-o", path],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_they_say_what_the_pdb_says(self):
        tolerate = LACKING + ",member-place"
        for target in TARGETS:
            with self.subTest(target):
                image, pdb = self.kernel(target)
                theirs = self.members(0, image, "--pdb", pdb, tolerate=tolerate)
                for name in ("table.json", "table.json.xz", "table.json.zst"):
                    found = self.members(0, image, "--pdb", self.isf(image, pdb, name),
                                         tolerate=tolerate)
                    self.assertEqual(list(found), list(theirs))
                    for member, row in found.items():
                        # How long functions are, procedures say alone.
                        same = [key for key in row if key != "evidence" and
                                (key != "size" or row["kind"] != "function")]
                        self.assertEqual({key: row[key] for key in same},
                                         {key: theirs[member][key] for key in same})
                    self.assertIn("the symbol table's types have it here",
                                  found["_EPROCESS.Peb"]["evidence"])

    def test_those_of_another_machine_are_refused(self):
        for target, own in (("x86_64", 0x8664), ("i686", 0x14c)):
            image, pdb = self.kernel(target)
            table = json.loads(self.isf(image, pdb).read_text())
            hybrid = (0xa641, 0xa64e) if target == "x86_64" else (0x3a64,)
            for machine in (own, 0, *hybrid, 0xaa64, 0x8664 ^ 0x14c ^ own):
                table["metadata"]["windows"]["pdb"]["machine_type"] = machine
                edited = self.write("edited.json", json.dumps(table).encode())
                wrong = machine not in (own, 0, *hybrid)
                build = self.document(int(wrong), image, "--pdb", edited,
                                      lists="_EPROCESS.DebugPort",
                                      tolerate=LACKING + ",isf-machine,member-missing")
                self.assertEqual("pdb-mismatch" in {row["code"] for row in build["findings"]}, wrong,
                                 hex(machine))
                self.assertEqual(build["members"][0]["value"] is None, wrong)

    def test_what_32_bits_do_not_hold_is_no_value_and_not_missing(self):
        image, pdb = self.kernel("x86_64")
        lists = "_EPROCESS.DebugPort\noptional _EPROCESS.links.before\nsize _EPROCESS\nsize Name = _EPROCESS.name\n"
        for bits, beyond in ((2 ** 32 - 9, False), (2 ** 32, True), (2 ** 64 - 8, True)):
            table = json.loads(self.isf(image, pdb).read_text())
            types = table["user_types"]
            types["_EPROCESS"]["fields"]["DebugPort"]["offset"] = bits
            types["_EPROCESS"]["fields"]["links"]["offset"] = bits  # "before" is behind it
            types["_EPROCESS"]["size"] = bits
            types["_EPROCESS"]["fields"]["name"]["type"]["count"] = bits
            forged = self.write("forged.json", json.dumps(table).encode())
            build = self.document(int(beyond), image, "--pdb", forged, lists=lists)
            told = [row for row in build["findings"] if row["severity"] == "warning" and row["code"] not in LACKING]
            self.assertEqual([row["code"] for row in told], ["pdb-type-range"] * beyond)
            values = {row["name"]: row["value"] for row in build["members"]}
            expected = {"_EPROCESS.DebugPort": bits, "_EPROCESS.links.before": bits + 8, "_EPROCESS": bits, "Name": bits}
            self.assertEqual(values, dict.fromkeys(expected) if beyond else expected)
            if beyond:
                for name in expected:
                    self.assertIn(name, told[0]["text"])

    def test_those_of_another_build_are_refused_as_its_pdb_is(self):
        other_image, other_pdb = self.kernel("i686")
        table = self.isf(other_image, other_pdb)
        other = self.write("other.pdb", other_pdb.read_bytes())
        image, _ = self.kernel("x86_64")
        answers = []
        for path in (other, table):
            build = self.document(1, image, "--pdb", path)
            codes = {row["code"] for row in build["findings"]}
            self.assertIn("pdb-mismatch", codes)
            answers.append((codes, [(row["name"], row["value"]) for row in build["members"]]))
        self.assertEqual(*answers)


class SeveralSources(Case):
    """All that the image asks for count, whatever their order."""

    LISTS = ("_EPROCESS.Peb\n_EPROCESS.DebugPort\nsize _EPROCESS\nbit Shift = _EPROCESS.entry.object\n"
             "constant Low = _LEVEL.Low\nPsList\nPsExported\nfunction KiRun\n")

    def isf(self, image, pdb, change=lambda table: None, name="other.json"):
        done = subprocess.run([COLDTRACE, "pe", "isf", "--pe", image, pdb], capture_output=True,
                              timeout=60)
        table = json.loads(done.stdout)
        change(table)
        return self.write(name, json.dumps(table).encode())

    def both_orders(self, status, image, pdb, other):
        for order in ((pdb, other), (other, pdb)):
            arguments = [part for path in order for part in ("--pdb", path)]
            build = self.document(status, image, *arguments, lists=self.LISTS)
            yield ({row["name"]: row for row in build["members"]},
                   {row["code"]: row["text"] for row in build["findings"]})

    def test_sources_that_agree_give_what_one_gives(self):
        for target in TARGETS:
            with self.subTest(target):
                image, pdb = self.kernel(target)
                alone = self.members(0, image, "--pdb", pdb, lists=self.LISTS)
                copy = self.write("copy.pdb", pdb.read_bytes())
                for other in (copy, self.isf(image, pdb)):
                    for found, codes in self.both_orders(0, image, pdb, other):
                        self.assertNotIn("pdb-contradiction", codes)
                        for name, row in found.items():
                            self.assertEqual({key: row[key] for key in row if key != "evidence"},
                                             {key: alone[name][key] for key in row
                                              if key != "evidence"})
                self.assertTrue(any(text == "PDB 2 names it"
                                    for text in found["PsList"]["evidence"]), found["PsList"])

    def test_a_contradiction_of_types_alone_says_nothing_of_symbols(self):
        def change(table):
            table["user_types"]["_EPROCESS"]["fields"]["DebugPort"]["offset"] += 8
        image, pdb = self.kernel("x86_64")
        for _, codes in self.both_orders(1, image, pdb, self.isf(image, pdb, change)):
            self.assertTrue(codes["pdb-contradiction"].endswith(" disagree: 1 type (_EPROCESS)"), codes["pdb-contradiction"])

    def test_a_contradiction_is_no_value_and_a_finding_and_leaves_the_others(self):
        def change(table):
            table["user_types"]["_EPROCESS"]["fields"]["DebugPort"]["offset"] += 8
            table["symbols"]["PsList"]["address"] += 4
            table["enums"]["_LEVEL"]["constants"]["Low"] = -3
        image, pdb = self.kernel("x86_64")
        alone = self.members(0, image, "--pdb", pdb, lists=self.LISTS)
        other = self.isf(image, pdb, change)
        for found, codes in self.both_orders(1, image, pdb, other):
            self.assertIn("1 symbol (PsList), 2 types (_EPROCESS, _LEVEL)",
                          codes["pdb-contradiction"])
            self.assertIn("_EPROCESS.DebugPort, Low, PsList", codes["member-contradiction"])
            for name, row in found.items():
                wrong = name in ("_EPROCESS.DebugPort", "Low", "PsList")
                self.assertEqual(row["value"], None if wrong else alone[name]["value"], name)
            port = alone["_EPROCESS.DebugPort"]["value"]
            self.assertEqual({text.split(",")[0] for text in found["_EPROCESS.DebugPort"]["evidence"]},
                             {f"at {port:#x}", f"at {port + 8:#x}"})

    def test_what_one_alone_has_is_no_contradiction(self):
        def change(table):
            del table["user_types"]["_EPROCESS"]["fields"]["DebugPort"]
            del table["symbols"]["PsList"]
        image, pdb = self.kernel("x86_64")
        alone = self.members(0, image, "--pdb", pdb, lists=self.LISTS)
        for found, codes in self.both_orders(0, image, pdb, self.isf(image, pdb, change)):
            self.assertNotIn("pdb-contradiction", codes)
            self.assertEqual({name: row["value"] for name, row in found.items()},
                             {name: row["value"] for name, row in alone.items()})

    def test_bits_in_doubt_are_absent(self):
        def change(table):
            table["user_types"]["_EPROCESS"]["fields"]["name"]["type"]["count"] = 14
        image, pdb = self.kernel("x86_64")
        arguments = ["--pdb", pdb, "--pdb", self.isf(image, pdb, change)]
        found, = self.members(1, image, *arguments, lists="_EPROCESS.name").values()
        alone, = self.members(0, image, "--pdb", pdb, lists="_EPROCESS.name").values()
        self.assertEqual((found["value"], found["size"], found["confidence"]),
                         (alone["value"], None, "low"))

    def test_one_that_no_kernel_asks_for_is_told(self):
        other = self.write("other.pdb", self.kernel("i686")[1].read_bytes())
        image, pdb = self.kernel("x86_64")
        done = self.table(1, image, "--pdb", pdb, "--pdb", other, lists=self.LISTS)
        self.assertIn(b"pdb-mismatch", done.stderr)
        self.assertIn(b"other.pdb", done.stderr)


class Formats(Case):
    def test_csv_text_and_header_have_the_values_of_the_json(self):
        image, pdb = self.kernel("x86_64")
        options = ["--pdb", pdb]
        tolerate = LACKING + ",member-place"
        found = self.members(0, image, *options, tolerate=tolerate)
        done = self.table(0, image, *options, "--format", "csv", tolerate=tolerate)
        rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
        self.assertEqual([row["name"] for row in rows], list(found))
        for row in rows:
            member = found[row["name"]]
            shown = lambda value: "" if value is None else str(value)
            for column in ("value", "size", "bit_position", "bit_length", "confidence"):
                self.assertEqual(row[column], shown(member[column]), row["name"])
            self.assertEqual(row["source"], "+".join(member["sources"]) if member["sources"] else "")
            self.assertEqual(row["optional"], str(member["optional"]).lower())
        text = self.table(0, image, *options, tolerate=tolerate).stdout.decode()
        self.assertIn(f"{len(found):,} member{'s' * (len(found) != 1)}\n", text)
        for name, member in found.items():
            if member["kind"] == "offset" and member["value"] is not None:
                self.assertRegex(text, rf"offset +{member['value']:#x} .*{re.escape(name)}")
        header = self.here / "kernels.h"
        self.table(0, image, *options, "--format", "c-header", "-o", header, tolerate=tolerate)
        checks = [f"coldtrace_kernels[0].member_count == {len(found)}"]
        for i, (name, member) in enumerate(found.items()):
            row = f"coldtrace_kernels[0].members[{i}]"
            value = (member["value"] or 0) & (1 << 64) - 1
            checks += [f"{row}.found == {int(member['value'] is not None)}",
                       f"{row}.value == {value & 0xffffffff}UL",
                       f"{row}.value_high == {value >> 32}UL",
                       f"same({row}.name, \"{name}\")"]
        source = self.write("main.c", (
            '#include "kernels.h"\n'
            "static int same(const char *a, const char *b) {\n"
            "  while (*a && *a == *b) { ++a; ++b; }\n  return *a == *b;\n}\n"
            "int main(void) {\n" + "".join(f"  if (!({check})) return {number + 1};\n"
                                            for number, check in enumerate(checks)) +
            "  return 0;\n}\n").encode())
        self.call(CLANG, "-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror", source, "-o",
                  self.here / "main")
        self.call(self.here / "main")

    def test_the_header_says_names_and_signs_exactly(self):
        image, pdb = self.kernel("x86_64")
        source = self.write("odd.c", b"")
        names = ["Gr\u00f6\u00dfe", "a\\n", "what??/", "\u202ex", "%s", "\u00e91"]
        lists = "".join(f'"{name}" = _EPROCESS.Peb\n' for name in names)
        lists += "constant Low = _LEVEL.Low\nconstant High = _LEVEL.High\n"
        header = self.here / "odd.h"
        self.table(0, image, "--pdb", pdb, "--format", "c-header", "-o", header, lists=lists)
        checks = []
        for i, name in enumerate(names):
            expected = ", ".join(str(byte) for byte in name.encode() + b"\0")
            checks.append(f"{{ static const unsigned char name[] = {{{expected}}};\n"
                          f"  if (differ(coldtrace_kernels[0].members[{i}].name, name)) return {i + 1}; }}")
        for i, negative in ((len(names), 1), (len(names) + 1, 0)):
            checks.append(f"if (coldtrace_kernels[0].members[{i}].negative != {negative}) return {i + 1};")
        source.write_text('#include "odd.h"\n'
                          "static int differ(const char *a, const unsigned char *b) {\n"
                          "  while (*a && (unsigned char)*a == *b) { ++a; ++b; }\n"
                          "  return (unsigned char)*a != *b;\n}\n"
                          "int main(void) {\n" + "\n".join(checks) + "\n  return 0;\n}\n")
        self.call(CLANG, "-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror", "-trigraphs", source,
                  "-o", self.here / "odd")
        self.call(self.here / "odd")

    def test_a_binary_table_has_them_and_verifies(self):
        image, pdb = self.kernel("i686")
        tolerate = LACKING + ",member-place"
        found = self.members(0, image, "--pdb", pdb, tolerate=tolerate)
        table = self.here / "a.hooktab"
        self.table(0, image, "--pdb", pdb, "--format", "hooktab", "-o", table, tolerate=tolerate)
        done = subprocess.run([COLDTRACE, "hooks", "show", "--format", "json", table],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = strict_json(done.stdout)
        json_schema.validate(shown, SCHEMA)
        self.assertEqual({row["name"]: row for row in shown["builds"][0]["members"]}, found)
        merged = self.here / "merged.hooktab"
        self.call(COLDTRACE, "hooks", "merge", "-o", merged, table)
        self.assertEqual(merged.read_bytes(), table.read_bytes())

        def verify(status, *options):
            done = subprocess.run(
                [COLDTRACE, "hooks", "verify", "--tolerate", tolerate, "--format", "json", table,
                 image, "--pdb", pdb, *options], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, status, done.stderr)
            document = strict_json(done.stdout)
            json_schema.validate(document, VERIFICATION)
            return {row["path"] for row in document["builds"][0]["differences"]}

        self.assertEqual(verify(0, "--members", self.here / "a.members"), set())
        self.assertIn("members", verify(1))
        other = self.write("b.members", LIST.replace("size _EPROCESS\n", "").encode())
        self.assertIn("members[_EPROCESS].value", verify(1, "--members", other))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
