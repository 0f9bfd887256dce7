"""coldtrace hooks export: rows as the projects read them whose layouts these are.

usage: export_test.py COLDTRACE CLANG LLD IMAGES SOURCES [unittest arguments]
The readers here are written from what those projects' own do: EDRSandblast's NtoskrnlOffsets.c (0710fad9) and System
Informer's DynData.cs (103cc43d). The values are what a compiler says of structures of its own. With a folder in
$COLDTRACE_PUBLISHED (NtoskrnlOffsets.csv, kphdyn.xml, README.md and symbols/ of JPCERTCC/Windows-Symbol-Tables) the values
that those projects have published are made again from symbol tables of the kernels.
"""
import csv
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import unittest
import uuid
from pathlib import Path
from xml.etree import ElementTree

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from strict import strict_json
from version_resource import version_resource

COLDTRACE, CLANG, LLD, IMAGES, SOURCES = sys.argv[1:6]
PUBLISHED = os.environ.get("COLDTRACE_PUBLISHED")

# Column and what it is: the symbols and fields of ExtractOffsets.py.
EDRSANDBLAST = [
    ("PspCreateProcessNotifyRoutine", None), ("PspCreateThreadNotifyRoutine", None),
    ("PspLoadImageNotifyRoutine", None), ("_EPROCESS_Protection", "_EPROCESS.Protection"),
    ("EtwThreatIntProvRegHandle", None), ("_ETW_REG_ENTRY_GuidEntry", "_ETW_REG_ENTRY.GuidEntry"),
    ("_ETW_GUID_ENTRY_ProviderEnableInfo", "_ETW_GUID_ENTRY.ProviderEnableInfo"),
    ("PsProcessType", None), ("PsThreadType", None),
    ("_OBJECT_TYPE_CallbackList", "_OBJECT_TYPE.CallbackList"), ("SeCiCallbacks", None)]
# Field and what its comment in kphdyn.h asks the debugger for.
KPHDYN = [line.split() for line in """
EgeGuid _ETW_GUID_ENTRY.Guid
EpObjectTable _EPROCESS.ObjectTable
EreGuidEntry _ETW_REG_ENTRY.GuidEntry
HtHandleContentionEvent _HANDLE_TABLE.HandleContentionEvent
OtName _OBJECT_TYPE.Name
OtIndex _OBJECT_TYPE.Index
ObDecodeShift _HANDLE_TABLE_ENTRY.ObjectPointerBits
ObAttributesShift _HANDLE_TABLE_ENTRY.Attributes
AlpcCommunicationInfo _ALPC_PORT.CommunicationInfo
AlpcOwnerProcess _ALPC_PORT.OwnerProcess
AlpcConnectionPort _ALPC_COMMUNICATION_INFO.ConnectionPort
AlpcServerCommunicationPort _ALPC_COMMUNICATION_INFO.ServerCommunicationPort
AlpcClientCommunicationPort _ALPC_COMMUNICATION_INFO.ClientCommunicationPort
AlpcHandleTable _ALPC_COMMUNICATION_INFO.HandleTable
AlpcHandleTableLock _ALPC_HANDLE_TABLE.Lock
AlpcAttributes _ALPC_PORT.PortAttributes
AlpcAttributesFlags _ALPC_PORT_ATTRIBUTES.Flags
AlpcPortContext _ALPC_PORT.PortContext
AlpcPortObjectLock _ALPC_PORT.PortObjectLock
AlpcSequenceNo _ALPC_PORT.SequenceNo
AlpcState _ALPC_PORT.u1.State
KtInitialStack _KTHREAD.InitialStack
KtStackLimit _KTHREAD.StackLimit
KtStackBase _KTHREAD.StackBase
KtKernelStack _KTHREAD.KernelStack
KtReadOperationCount _KTHREAD.ReadOperationCount
KtWriteOperationCount _KTHREAD.WriteOperationCount
KtOtherOperationCount _KTHREAD.OtherOperationCount
KtReadTransferCount _KTHREAD.ReadTransferCount
KtWriteTransferCount _KTHREAD.WriteTransferCount
KtOtherTransferCount _KTHREAD.OtherTransferCount
MmSectionControlArea _SECTION.u1.ControlArea
MmControlAreaListHead _CONTROL_AREA.ListHead
MmControlAreaLock _CONTROL_AREA.ControlAreaLock
EpSectionObject _EPROCESS.SectionObject
""".split("\n") if line]
SHIFTS = {"ObDecodeShift", "ObAttributesShift"}
GLOBALS = [name for name, path in EDRSANDBLAST if path is None]
# What such a kernel lacks beside members.
LACKING = ("no-service-table,no-services,context-switch-not-found,thread-offset-missing,"
           "isf-type-twice,member-place")


def make_source(seed, without=()):
    """Structures with the members in some order, and what the compiler makes of them as exports."""
    dice = random.Random(seed)
    paths = [path for _, path in EDRSANDBLAST if path]
    paths += [path for name, path in KPHDYN if name not in SHIFTS]
    types = {}
    for path in dict.fromkeys(paths):
        types.setdefault(path.split(".")[0], []).append(path.partition(".")[2])
    text, exports = "", ""
    for name, members in types.items():
        dice.shuffle(members)
        body = ""
        for i, member in enumerate(members):
            body += f" char room{i}[{dice.randrange(1, 90)}];"
            outer, _, inner = member.partition(".")
            if f"{name}.{member}" in without:
                continue
            body += f" struct {{ char r[{dice.randrange(1, 9)}]; void *{inner}; }} {outer};" \
                if inner else f" void *{outer};"
            exports += (f"EXPORT const unsigned value_{name}__{member.replace('.', '__')} = "
                        f"__builtin_offsetof(struct {name}, {member});\n")
        text += f"struct {name} {{{body} }}; struct {name} g{name};\n"
    text += ("union _HANDLE_TABLE_ENTRY { unsigned long long Whole; struct { unsigned long long "
             f"Unlocked : 1, Attributes : {dice.randrange(3, 9)}, ObjectPointerBits : 44; }}; }};\n"
             "union _HANDLE_TABLE_ENTRY g_entry;\n")
    for name in GLOBALS:
        if name not in without:
            text += f"int {name}[{dice.randrange(1, 99)}] = {{1}};\n"
            exports += f"EXPORT const void *const place_{name} = {name};\n"
    return ("#define EXPORT __declspec(dllexport)\n" + text + exports +
            "int entry(void) { return 0; }\n")


def read_edrsandblast(text, version):
    """As LoadNtoskrnlOffsetsFromFile does: the values of that version, or none."""
    for line in text.splitlines(keepends=True):
        assert len(line) < 2048
        if not line.startswith("ntoskrnl"):
            break
        key, *cells = [cell for cell in line.split(",") if cell]  # strtok passes over empty ones
        if key == version:
            return [int(re.match("[0-9a-fA-F]*", cell)[0] or "0", 16) for cell in cells]
    return None


def read_kphdyn(text):
    """As GenerateConfig does: fields by class, machine, stamp and size."""
    root = ElementTree.fromstring(text)
    assert root.tag == "dyn"
    fields = {int(one.get("id")): {row.get("name"): int(row.get("value")[2:], 16) for row in one}
              for one in root.findall("fields")}
    files = {"ntoskrnl.exe": 0, "ntkrla57.exe": 1, "lxcore.sys": 2}
    machines = {"amd64": 0x8664, "arm64": 0xaa64}
    found = {}
    for row in root.findall("data"):
        key = (files[row.get("file")], machines[row.get("arch")], int(row.get("timestamp")[2:], 16),
               int(row.get("size")[2:], 16))
        own = fields[int(row.text)]
        if key[0] < 2:
            struct.pack("<35H", *(own.get(name, 0xffff) for name, _ in KPHDYN))
            assert own.keys() <= {name for name, _ in KPHDYN}
        found[key] = (own, row)
    return found


class Case(case.Case):
    def call(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def run_hooks(self, status, *arguments):
        done = subprocess.run([COLDTRACE, "hooks", *map(str, arguments)], capture_output=True,
                              timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def link(self, name, target, source, version):
        """A kernel and its PDB."""
        if "NOTFOUND" in CLANG + LLD:
            self.skipTest("no clang or lld-link")
        machine = {"x86_64": "x64", "i686": "x86", "aarch64": "arm64"}[target]
        folder = self.here / name
        folder.mkdir()
        (folder / "k.c").write_text(source)
        self.call(CLANG, f"--target={target}-pc-windows-msvc", "-g", "-gcodeview", "-O1", "-w",
                  "-ffreestanding", "-c", folder / "k.c", "-o", folder / "o.obj")
        (folder / "v.res").write_bytes(version_resource(version) if version else b"")
        self.call(LLD, "/nodefaultlib", "/entry:entry", "/subsystem:native", "/debug", "/brepro",
                  "/opt:noref", f"/machine:{machine}", f"/out:{folder}/ntoskrnl.exe",
                  folder / "o.obj", *([folder / "v.res"] if version else []))
        return folder / "ntoskrnl.exe", folder / "ntoskrnl.pdb"

    def hooktab(self, name, image, pdb, *options, members=("edrsandblast", "kphdyn"), tolerate=LACKING):
        path = self.here / f"{name}.hooktab"
        lists = [part for one in members for part in ("--members", one)]
        self.run_hooks(0, "table", "--tolerate", tolerate, "--kernel", image, "--pdb", pdb, *lists,
                       "--format", "hooktab", "-o", path, *options)
        return path

    def truth(self, image):
        """Offsets and RVAs by the image's own exports."""
        done = subprocess.run([COLDTRACE, "pe", "exports", "--format", "json", image],
                              capture_output=True, timeout=60)
        data, found = image.read_bytes(), {}
        base, = struct.unpack_from("<Q", data, struct.unpack_from("<I", data, 0x3c)[0] + 24 + 24)
        for row in strict_json(done.stdout)["images"][0]["exports"]:
            if row["name"].startswith("value_"):
                path = row["name"][6:].replace("__", ".")
                found[path] = struct.unpack_from("<I", data, row["file_offset"])[0]
            if row["name"].startswith("place_"):
                found[row["name"][6:]] = struct.unpack_from("<Q", data, row["file_offset"])[0] - base
        return found


def headers_of(image):
    data = image.read_bytes()
    at = struct.unpack_from("<I", data, 0x3c)[0]
    machine, _, stamp = struct.unpack_from("<HHI", data, at + 4)
    return machine, stamp, struct.unpack_from("<I", data, at + 24 + 56)[0]


class Rows(Case):
    def test_edrsandblast_reads_what_the_compiler_says(self):
        tables, truths = [], {}
        for seed, (build, revision) in enumerate(((22621, 2506), (19041, 4), (19041, 30))):
            image, pdb = self.link(f"k{seed}", "x86_64", make_source(seed), (10, 0, build, revision))
            tables.append(self.hooktab(f"k{seed}", image, pdb))
            truths[f"ntoskrnl_{build}-{revision}.exe"] = self.truth(image)
        text = self.run_hooks(0, "export", "edrsandblast", *tables).stdout.decode()
        header, *rows = csv.reader(io.StringIO(text))
        self.assertEqual(header, ["ntoskrnlVersion"] + [name for name, _ in EDRSANDBLAST])
        self.assertEqual([row[0] for row in rows], ["ntoskrnl_19041-4.exe", "ntoskrnl_19041-30.exe",
                                                    "ntoskrnl_22621-2506.exe"])
        for version, truth in truths.items():
            expected = [truth[path or name] for name, path in EDRSANDBLAST]
            self.assertEqual(read_edrsandblast(text, version), expected)
            self.assertEqual(len(set(expected)), len(expected))
        self.assertIsNone(read_edrsandblast(text, "ntoskrnl_19041-5.exe"))
        self.assertEqual(text, self.run_hooks(0, "export", "edrsandblast", *tables[::-1]).stdout.decode())

    def test_kphdyn_reads_what_the_compiler_says(self):
        tables, images = [], []
        for name, target, seed, version in (("a", "x86_64", 1, (10, 0, 19041, 4)),
                                            ("b", "aarch64", 1, (10, 0, 26100, 1)),
                                            ("c", "x86_64", 2, (10, 0, 22000, 7)),
                                            ("d", "x86_64", 2, None)):
            image, pdb = self.link(name, target, make_source(seed) + f"int d_{name};", version)
            tables.append(self.hooktab(name, image, pdb))
            images.append((image, version))
        text = self.run_hooks(0, "export", "kphdyn", *tables).stdout.decode()
        self.assertIn("not signed", text)
        found = read_kphdyn(text)
        self.assertEqual(len(found), 4)
        for image, version in images:
            own, row = found[(0, *headers_of(image))]
            truth = self.truth(image)
            expected = {name: truth[path] for name, path in KPHDYN if name not in SHIFTS}
            bits = int(re.search(r"Attributes : (\d)", make_source(1 if image.parent.name in "ab" else 2))[1])
            expected.update(ObAttributesShift=1, ObDecodeShift=1 + bits)
            self.assertEqual(own, expected)
            self.assertEqual(row.get("version"), version and ".".join(map(str, version)))
            self.assertRegex(row.get("hash"), "^[0-9a-f]{64}$")
        # Kernels with the same values share a set.
        self.assertEqual(len(ElementTree.fromstring(text).findall("fields")), 2)

    def test_what_is_missing_is_told_and_is_each_formats_own_word(self):
        gone = ("_ETW_REG_ENTRY.GuidEntry", "EtwThreatIntProvRegHandle", "_ALPC_PORT.SequenceNo")
        image, pdb = self.link("k", "x86_64", make_source(3, gone), (10, 0, 10240, 16384))
        table = self.hooktab("k", image, pdb, tolerate=LACKING + ",member-missing")
        done = self.run_hooks(1, "export", "edrsandblast", table)
        self.assertIn(b"hook-value", done.stderr)
        values = read_edrsandblast(done.stdout.decode(), "ntoskrnl_10240-16384.exe")
        truth = self.truth(image)
        self.assertEqual(values, [0 if (path or name) in gone else truth[path or name]
                                  for name, path in EDRSANDBLAST])
        done = self.run_hooks(1, "export", "kphdyn", table)
        self.assertIn(b"hook-value", done.stderr)
        # All that is missing of a build is one finding, which names it.
        for name in (b"EreGuidEntry", b"AlpcSequenceNo"):
            self.assertIn(name, done.stderr)
        self.assertNotIn(b"times", done.stderr)
        (own, _), = read_kphdyn(done.stdout.decode()).values()
        self.assertEqual({name for name, _ in KPHDYN} - own.keys(), {"EreGuidEntry", "AlpcSequenceNo"})
        self.run_hooks(0, "export", "kphdyn", "--tolerate", "hook-value", table)

    def test_builds_that_a_format_has_no_place_for_are_told(self):
        image, pdb = self.link("k", "x86_64", make_source(4), (10, 0, 19041, 1))
        good = self.hooktab("good", image, pdb)
        for name, target, seed, version, lists, other in (
                ("x86", "i686", 5, (10, 0, 19041, 2), ("edrsandblast", "kphdyn"), True),
                ("unversioned", "x86_64", 5, None, ("edrsandblast", "kphdyn"), False),
                ("namesake", "x86_64", 6, (10, 0, 19041, 1), ("edrsandblast", "kphdyn"), False),
                ("memberless", "x86_64", 6, (10, 0, 19041, 7), ("phnt",), True)):
            image, pdb = self.link(name, target, make_source(seed), version)
            table = self.hooktab(name, image, pdb, members=lists, tolerate=LACKING + ",member-missing")
            done = self.run_hooks(1, "export", "edrsandblast", good, table)
            self.assertIn(b"hook-row", done.stderr, name)
            self.assertEqual(done.stdout, self.run_hooks(0, "export", "edrsandblast", good).stdout, name)
            done = self.run_hooks(1 if other else 0, "export", "kphdyn", good, table)
            self.assertEqual(b"hook-row" in done.stderr, other, name)
            # With nothing left a result that is there stays.
            kept = self.write("kept.csv", b"mine")
            if name != "namesake":
                self.run_hooks(2, "export", "edrsandblast", table, "-o", kept)
                self.assertEqual(kept.read_bytes(), b"mine")

    def test_messages_say_what_the_table_lacks(self):
        image, pdb = self.link("k", "x86_64", make_source(4), (10, 0, 19041, 1))
        bare = self.here / "bare.hooktab"
        self.run_hooks(0, "table", "--tolerate", LACKING, "--kernel", image, "--format", "hooktab", "-o", bare)
        other = self.hooktab("other", image, pdb, members=("phnt",), tolerate=LACKING + ",member-missing")
        blind = self.here / "blind.hooktab"
        self.run_hooks(0, "table", "--tolerate", LACKING + ",member-missing", "--kernel", image, "--members", "kphdyn",
                       "--format", "hooktab", "-o", blind)
        for table, kind, message in (
                (bare, "kphdyn", b"made without a member list; make it with --members kphdyn"),
                (bare, "isf", b"made without a member list"),
                (other, "kphdyn", b"has different members than the format; make it with --members kphdyn"),
                (blind, "kphdyn", b"make the table with the PDB of the kernel"),
                (blind, "isf", b"no reliable value")):
            self.assertIn(message, self.run_hooks(2, "export", kind, table).stderr, (table, kind))

    def test_contradicted_values_are_not_exported(self):
        image, pdb = self.link("k", "x86_64", make_source(7), (10, 0, 19041, 1))
        done = subprocess.run([COLDTRACE, "pe", "isf", pdb], capture_output=True, timeout=60)
        edited = json.loads(done.stdout)
        edited["user_types"]["_EPROCESS"]["fields"]["Protection"]["offset"] += 8
        other = self.write("other.json", json.dumps(edited).encode())
        table = self.hooktab("k", image, pdb, "--pdb", other,
                             tolerate=LACKING + ",pdb-contradiction,member-contradiction,isf-machine")
        done = self.run_hooks(1, "export", "edrsandblast", table)
        self.assertIn(b"_EPROCESS_Protection", done.stderr)
        self.assertEqual(read_edrsandblast(done.stdout.decode(), "ntoskrnl_19041-1.exe")[3], 0)

    def test_an_isf_has_what_the_list_asked_for(self):
        image, pdb = self.link("k", "x86_64", make_source(8), (10, 0, 19041, 1))
        lists = self.write("a.members", b"size _EPROCESS\nToken = _EPROCESS.Protection\n"
                                        b"_KTHREAD.InitialStack\n_ALPC_PORT.u1.State\nsize _ALPC_PORT\n"
                                        b"bit _HANDLE_TABLE_ENTRY.Attributes\nPsProcessType\n"
                                        b"optional _EPROCESS.Nothing\nsize _HANDLE_TABLE_ENTRY\n"
                                        b"offset At = _HANDLE_TABLE_ENTRY.Attributes\n")
        table = self.hooktab("k", image, pdb, members=(lists,))
        done = self.run_hooks(1, "export", "isf", table)
        self.assertIn(b"hook-value", done.stderr)
        made, truth = strict_json(done.stdout), self.truth(image)
        whole = json.loads(subprocess.run([COLDTRACE, "pe", "isf", "--pe", image, pdb],
                                          capture_output=True, timeout=60).stdout)
        self.assertEqual(made["metadata"]["windows"]["pdb"], whole["metadata"]["windows"]["pdb"])
        self.assertEqual(set(made["user_types"]), {"_EPROCESS", "_ALPC_PORT", "_HANDLE_TABLE_ENTRY"})
        for name, type_ in made["user_types"].items():
            self.assertEqual(type_["size"], whole["user_types"][name]["size"])
        self.assertEqual(made["user_types"]["_ALPC_PORT"]["fields"], {})
        field, = made["user_types"]["_EPROCESS"]["fields"].items()
        self.assertEqual(field, ("Protection", {"offset": truth["_EPROCESS.Protection"], "type":
                                                {"kind": "base", "name": "unsigned long long"}}))
        theirs = whole["user_types"]["_HANDLE_TABLE_ENTRY"]["fields"]["Attributes"]
        mine = made["user_types"]["_HANDLE_TABLE_ENTRY"]["fields"]["Attributes"]
        self.assertEqual([(mine["offset"], mine["type"]["bit_position"], mine["type"]["bit_length"])],
                         [(theirs["offset"], theirs["type"]["bit_position"], theirs["type"]["bit_length"])])
        self.assertEqual(made["symbols"], {"PsProcessType": {"address": truth["PsProcessType"]}})
        # Without the offset nothing tells the bit field, nor the size of a member.
        for line in (b"bit Bits = _HANDLE_TABLE_ENTRY.Attributes", b"size Wide = _EPROCESS.Protection"):
            alone = self.write("alone.members", b"size _EPROCESS\nsize _HANDLE_TABLE_ENTRY\n" + line + b"\n")
            told = self.run_hooks(1, "export", "isf", self.hooktab("k", image, pdb, members=(alone,)))
            self.assertRegex(told.stderr.decode(), r"hook-value.*\b(Bits|Wide)\b.*the offset of its member")
            self.assertFalse(any(type_["fields"] for type_ in strict_json(told.stdout)["user_types"].values()))
        # It serves as an input again, and gives the same values.
        isf = self.write("again.json", done.stdout)
        again = self.run_hooks(0, "table", "--tolerate", LACKING, "--kernel", image, "--pdb", isf,
                               "--members", self.write("b.members", b"_EPROCESS.Protection\nPsProcessType\n"
                                                                    b"size _EPROCESS\n"),
                               "--format", "json")
        values = [row["value"] for row in strict_json(again.stdout)["builds"][0]["members"]]
        self.assertEqual(values, [truth["_EPROCESS.Protection"], truth["PsProcessType"],
                                  whole["user_types"]["_EPROCESS"]["size"]])
        image, pdb = self.link("other", "x86_64", make_source(9), (10, 0, 19041, 2))
        self.run_hooks(2, "export", "isf", table, self.hooktab("other", image, pdb))

    def test_enumerations_of_an_isf_are_enumerations(self):
        source = make_source(8) + ("enum _STATE { Below = -3, Waiting = 5 }; enum _STATE g_state;\n"
                                   "enum _WIDE : unsigned char { Top = 255 }; enum _WIDE g_wide;\n"
                                   "enum _ALONE { Lone = 1 }; enum _ALONE g_alone;\n")
        image, pdb = self.link("k", "x86_64", source, (10, 0, 19041, 1))
        lists = self.write("a.members", b"size _STATE\nsize _WIDE\nsize _ALONE\nsize _KTHREAD\n"
                                        b"constant Low = _STATE.Below\nconstant _STATE.Waiting\n"
                                        b"constant Again = _STATE.Waiting\nconstant _WIDE.Top\n")
        table = self.hooktab("k", image, pdb, members=(lists,))
        done = self.run_hooks(0, "export", "isf", table)
        made = strict_json(done.stdout)
        whole = json.loads(subprocess.run([COLDTRACE, "pe", "isf", "--pe", image, pdb],
                                          capture_output=True, timeout=60).stdout)
        self.assertEqual(made["user_types"], {"_KTHREAD": {
            "kind": "struct", "size": whole["user_types"]["_KTHREAD"]["size"], "fields": {}}})
        self.assertEqual({name: (row["size"], row["constants"]) for name, row in made["enums"].items()},
                         {"_STATE": (4, {"Below": -3, "Waiting": 5}), "_WIDE": (1, {"Top": 255}),
                          "_ALONE": (4, {})})
        for name, row in made["enums"].items():
            base = made["base_types"][row["base"]]
            self.assertEqual((base["kind"] in ("int", "char"), base["size"], base["signed"]),
                             (True, row["size"], name == "_STATE"))
        self.check_with_volatility(made)
        # It serves as an input again: as enumerations, and with the same values.
        isf = self.write("again.json", done.stdout)
        again = self.hooktab("again", image, isf, members=(lists,))
        self.assertEqual(strict_json(self.run_hooks(0, "export", "isf", again).stdout), made)
        # Without its size nothing says how large a constant's enumeration is.
        alone = self.write("alone.members", b"size _KTHREAD\nconstant _STATE.Waiting\n")
        told = self.run_hooks(1, "export", "isf", self.hooktab("alone", image, pdb, members=(alone,)))
        self.assertIn(b"the size of its enumeration is not asked for", told.stderr)
        self.assertEqual(strict_json(told.stdout)["enums"], {})

    def test_volatility_is_asked(self):
        if "VOL3" not in os.environ:
            self.skipTest("VOL3 names no source tree of Volatility 3, whose schema and loader read tables else")

    def check_with_volatility(self, table):
        """Its own schema and loader, where its source tree is at hand."""
        if "VOL3" not in os.environ:
            return
        schema = Path(os.environ["VOL3"]) / "volatility3/schemas/schema-6.2.0.json"
        jsonschema.validate(table, json.loads(schema.read_text()))
        sys.path.insert(0, os.environ["VOL3"])
        from volatility3.framework import contexts
        from volatility3.framework.symbols import intermed
        path = self.write("loaded.json", json.dumps(table).encode())
        loaded = intermed.IntermediateSymbolTable(contexts.Context(), "isf", "nt", path.as_uri(),
                                                  validate=False)
        for name, row in table["enums"].items():
            found = loaded.get_enumeration(name)
            self.assertEqual((found.size, found.choices), (row["size"], row["constants"]))

    def test_headers_of_several_tables_are_that_of_the_merged_one(self):
        tables = []
        for seed in (1, 2):
            image, pdb = self.link(f"k{seed}", "x86_64", make_source(seed), (10, 0, 19041, seed))
            tables.append(self.hooktab(f"k{seed}", image, pdb))
        merged = self.here / "merged.hooktab"
        self.run_hooks(0, "merge", *tables, "-o", merged)
        self.assertEqual(self.run_hooks(0, "export", "c-header", merged).stdout,
                         self.run_hooks(0, "show", "--format", "c-header", merged).stdout)
        text = self.run_hooks(0, "export", "c-header", *tables).stdout.decode()
        self.assertEqual(text.count("_members[] ="), 2)

    def test_what_is_no_table_is_refused(self):
        for what in ("edrsandblast", "kphdyn", "isf", "j00ru", "c-header"):
            self.run_hooks(2, "export", what, self.write("a.hooktab", b"nothing"))
            self.run_hooks(2, "export", what, self.here)
            self.run_hooks(2, "export", what)


@unittest.skipUnless(PUBLISHED, "COLDTRACE_PUBLISHED names no folder")
class Published(Case):
    """Values that the projects have published, from symbol tables of the same kernels."""

    def test_published_values_are_made_again(self):
        folder = Path(PUBLISHED)
        versions = {guid.upper(): version for version, guid in
                    re.findall(r"^\| ([0-9.]+) +\| ([0-9A-Fa-f]{33})", (folder / "README.md").read_text(), re.M)}
        image, _ = self.link("k", "x86_64", "int entry(void) { return 0; }", (1, 2, 3, 4))
        template = image.read_bytes()
        tables, stamps = [], {}
        for path in sorted((folder / "symbols").rglob("ntkrnlmp.pdb/*.json.xz")):
            guid, _, age = path.name.partition(".")[0].partition("-")
            version = versions.get(guid + age)
            if version is None:
                continue
            data = bytearray(template)
            at = struct.unpack_from("<I", data, 0x3c)[0]
            stamps[len(tables) + 1] = version
            struct.pack_into("<I", data, at + 8, len(tables) + 1)
            struct.pack_into("<I", data, at + 24 + 56, 0x1800000)
            rsds = data.index(b"RSDS")
            data[rsds + 4:rsds + 20] = uuid.UUID(guid).bytes_le
            struct.pack_into("<I", data, rsds + 20, int(age))
            fixed = data.index(struct.pack("<I", 0xfeef04bd))
            numbers = [int(part) for part in version.split(".")]
            struct.pack_into("<4H", data, fixed + 8, numbers[1], numbers[0], numbers[3], numbers[2])
            kernel = self.write(f"{len(tables)}.exe", bytes(data))
            tables.append(self.hooktab(str(len(tables)), kernel, path,
                                       members=("edr", "kphdyn", "phnt"), tolerate=LACKING))
        done = self.run_hooks(1, "export", "edrsandblast", "--tolerate", "hook-row", *tables)
        mine = done.stdout.decode()
        theirs = (folder / "NtoskrnlOffsets.csv").read_text()
        compared = kernels = 0
        for version in stamps.values():
            key = "ntoskrnl_" + "-".join(version.split(".")[2:]) + ".exe"
            expected = read_edrsandblast(theirs, key)
            if expected is None:
                continue
            self.assertEqual(read_edrsandblast(mine, key), expected, key)
            kernels, compared = kernels + 1, compared + len(expected)
        print(f"EDRSandblast: {compared} values of {kernels} kernels", file=sys.stderr)
        self.assertEqual((compared, kernels), (1452, 132))
        text = subprocess.run([COLDTRACE, "hooks", "export", "kphdyn", *tables], capture_output=True,
                              timeout=600).stdout.decode()
        published = {row.get("version"): own for own, row in
                     read_kphdyn((folder / "kphdyn.xml").read_text()).values()
                     if row.get("file") == "ntoskrnl.exe" and row.get("arch") == "amd64"}
        compared = kernels = 0
        for (_, _, stamp, _), (own, row) in read_kphdyn(text).items():
            expected = published.get(stamps[stamp])
            if expected is None:
                continue
            self.assertEqual(row.get("version"), stamps[stamp])
            self.assertEqual({name: own.get(name) for name in expected}, expected, stamps[stamp])
            kernels, compared = kernels + 1, compared + len(expected)
        print(f"kphdyn: {compared} values of {kernels} kernels", file=sys.stderr)
        self.assertEqual((compared, kernels), (6090, 174))

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
