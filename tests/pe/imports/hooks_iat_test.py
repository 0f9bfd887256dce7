"""Import plans: schema, formats, and agreement with the linker's map, readobj and objdump.

usage: hooks_iat_test.py COLDTRACE IMAGES WINE SOURCES READOBJ [unittest arguments]
Images that no compiler here could build and programs that are not installed are skipped.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from strict import strict_csv, strict_json

COLDTRACE, IMAGES, WINE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:5])
READOBJ = sys.argv[5]
SEEDS = SOURCES / "fuzz" / "corpus" / "pe_image"
SCHEMA = json.loads((SOURCES / "docs/schema/iat-plan.schema.json").read_text())
DOCUMENT = (SOURCES / "docs/commands/iat-plan.md").read_text()
PROCESSORS = ("x86_64", "i686")


def run(*arguments, **options):
    return subprocess.run([COLDTRACE, "hooks", "iat", *map(str, arguments)], capture_output=True,
                          timeout=120, **options)


def listing(*command):
    return subprocess.run(command, capture_output=True, timeout=120, check=True).stdout.decode(
        "utf-8", "replace")


def symbols_of(linker_map):
    """Public symbols of an lld map: name to address. i386 has an underscore before each."""
    rows = re.findall(r"^ [0-9a-f]{4}:[0-9a-f]{8} +(\S+) +([0-9a-f]{16}) ",
                      linker_map.read_text(), re.M)
    return {name: int(address, 16) for name, address in rows}


class Case(case.Case):
    def plan(self, *arguments, status=None):
        done = run("--format", "json", *arguments)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        plan = strict_json(done.stdout)
        json_schema.validate(plan, SCHEMA)
        return plan

    def linked(self, processor, schema=None):
        """A folder with the program and its DLLs."""
        folder = self.here / f"{processor}-{schema}"
        folder.mkdir()
        for name in ("base.dll", "middle.dll", "late.dll", "program.exe"):
            path = IMAGES / f"imports-{Path(name).stem}-{processor}" / name
            if not path.exists():
                self.skipTest(f"no compiler built {path.name}")
            shutil.copy(path, folder)
        if schema:
            shutil.copy(SEEDS / f"api-set-schema-version-{schema}", folder / "apisetschema.dll")
        return folder

    def module(self, plan, name):
        module, = [entry for entry in plan["modules"] if entry["name"] == name]
        return module

    def target(self, plan, module, function):
        slot, = [slot for slot in self.module(plan, module)["slots"]
                 if function in (slot["function"]["name"], slot["function"]["ordinal"])]
        return slot["target"]


class Linked(Case):
    def test_slots_are_where_the_linker_put_them(self):
        for processor in PROCESSORS:
            folder = self.linked(processor)
            plan = self.plan(folder / "program.exe", status=1)
            for name in ("program.exe", "middle.dll", "late.dll"):
                with self.subTest(processor=processor, module=name):
                    stem = Path(name).stem
                    symbols = symbols_of(IMAGES / f"imports-{stem}-{processor}" / f"{stem}.map")
                    underscore = "_" if processor == "i686" else ""
                    expected = {
                        symbol.removeprefix("__imp_" + underscore): address
                        for symbol, address in symbols.items()
                        if symbol.startswith("__imp_" + underscore)}
                    module = self.module(plan, name)
                    found = {slot["function"]["name"] or "base_without_name": slot["slot_address"]
                             for slot in module["slots"]}
                    self.assertTrue(expected)
                    self.assertEqual(found, expected)
                    self.assertEqual([slot["slot_rva"] for slot in module["slots"]],
                                     sorted(address - module["image_base"]
                                            for address in expected.values()))
                    self.assertEqual({slot["function"]["name"] for slot in module["slots"]
                                      if slot["delayed"]},
                                     {"LateOne", "LateTwo"} if stem == "program" else set())

    def test_the_bytes_at_the_file_offset_are_the_import(self):
        for processor in PROCESSORS:
            folder = self.linked(processor)
            plan = self.plan(folder / "program.exe")
            module = self.module(plan, "program.exe")
            content = (folder / "program.exe").read_bytes()
            for slot in module["slots"]:
                if slot["delayed"]:
                    continue
                at, size = slot["slot_file_offset"], module["pointer_size"]
                thunk = int.from_bytes(content[at:at + size], "little")
                if slot["function"]["ordinal"] is not None:
                    self.assertEqual(thunk, 1 << (size * 8 - 1) | slot["function"]["ordinal"])
                else:
                    # The slot and its name are in one section.
                    name = thunk - slot["slot_rva"] + at + 2
                    self.assertEqual(content[name:].split(b"\0")[0].decode(),
                                     slot["function"]["name"])

    def test_targets_are_what_readobj_says_of_the_exports(self):
        if not Path(READOBJ).exists():
            self.skipTest("llvm-readobj is not installed")
        for processor in PROCESSORS:
            folder = self.linked(processor)
            plan = self.plan(folder / "program.exe")
            exports = {}
            for name in ("base.dll", "middle.dll", "late.dll"):
                text = listing(READOBJ, "--coff-exports", folder / name)
                for block in text.split("Export {")[1:]:
                    ordinal = int(re.search(r"Ordinal: (\d+)", block)[1])
                    found = re.search(r"Name: *(\S*)", block)[1] or None
                    rva = re.search(r"RVA: 0x([0-9A-F]+)", block)
                    exports[name, ordinal] = (found, rva and int(rva[1], 16))
            checked = 0
            for function in plan["functions"]:
                if function["outcome"] != "resolved":
                    continue
                name, rva = exports[function["module"], function["ordinal"]]
                self.assertEqual((function["name"], function["rva"]), (name, rva))
                checked += 1
            self.assertEqual(checked, 6)

    def test_every_kind_of_import_is_followed(self):
        for processor in PROCESSORS:
            with self.subTest(processor=processor):
                plan = self.plan(self.linked(processor) / "program.exe")

                def target(function):
                    found = self.target(plan, "program.exe", function)
                    return (found["outcome"], found["module"] or found["dll"],
                            found["name"] or found["ordinal"])

                self.assertEqual(target("MiddleOwn"), ("resolved", "middle.dll", "MiddleOwn"))
                self.assertEqual(target("MiddleAllocate"), ("resolved", "base.dll", "BaseAllocate"))
                self.assertEqual(target("MiddleOrdinal"), ("resolved", "base.dll", 7))
                self.assertEqual(target(7), ("resolved", "base.dll", 7))
                self.assertEqual(target("MiddleLost"), ("no_module", "absent.dll", "Nothing"))
                self.assertEqual(target("MiddleLoop"),
                                 ("forwarder_loop", "middle.dll", "MiddleLoop"))
                self.assertEqual(target("GetProcAddress"),
                                 ("no_module", "kernel32.dll", "GetProcAddress"))
                self.assertEqual(target("BaseRelease")[0], "api_set_no_schema")
                self.assertEqual({entry["code"]: entry["count"] for entry in plan["findings"]},
                                 {"forwarder-loop": 1, "import-unresolved": 4})

    def test_api_sets_are_followed_with_a_schema_of_each_version(self):
        for version in (2, 4, 6):
            with self.subTest(version=version):
                plan = self.plan(self.linked("x86_64", version) / "program.exe")
                self.assertEqual(plan["api_set_schema"]["version"], version)
                self.assertEqual(plan["api_set_schema"]["sets"], 2)
                found = self.target(plan, "program.exe", "BaseRelease")
                self.assertEqual((found["outcome"], found["module"], found["name"]),
                                 ("resolved", "base.dll", "BaseRelease"))

    def test_hosts_that_differ_in_unpaired_surrogates_differ(self):
        hosts = []
        for unit in "\ud800", "\udc01":
            folder = self.linked("x86_64", 6)
            schema = folder / "apisetschema.dll"
            name = "base.dll".encode("utf-16-le")
            self.assertIn(name, schema.read_bytes())
            schema.write_bytes(schema.read_bytes().replace(name, (unit + "ase.dll").encode("utf-16-le", "surrogatepass")))
            plan = self.plan(folder / "program.exe", status=1)
            slot, = [slot for slot in self.module(plan, "program.exe")["slots"] if slot["function"]["name"] == "BaseRelease"]
            self.assertEqual(slot["target"]["outcome"], "no_module")
            shown = [(step["api_set_host"], step["api_set_host_utf16"]) for step in (slot, *slot["forwarders"]) if step["api_set_host"]]
            self.assertEqual(shown, [("\ufffdase.dll", (unit + "ase.dll").encode("utf-16-le", "surrogatepass").hex())])
            hosts.append((plan["modules"], slot["target"]))
            self.assertIn("\\u%04xase.dll" % ord(unit), run("--format", "csv", folder / "program.exe").stdout.decode())
            shutil.rmtree(folder)
        self.assertNotEqual(*hosts)

    def test_who_reaches_a_function_through_others_is_told(self):
        folder = self.linked("x86_64")
        plan = self.plan(folder / "program.exe", "--function", "BaseFree", status=0)
        function, = plan["functions"]
        self.assertEqual((function["module"], function["name"]), ("base.dll", "BaseFree"))
        self.assertEqual(function["importers"], ["middle.dll"])
        self.assertEqual(function["indirect"],
                         [{"module": "late.dll", "path": ["late.dll", "middle.dll"]},
                          {"module": "program.exe", "path": ["program.exe", "middle.dll"]}])
        self.assertEqual([entry["name"] for entry in plan["modules"]], ["base.dll", "middle.dll"])
        self.assertEqual([entry["module"] for entry in plan["run_time_lookups_elsewhere"]],
                         ["program.exe"])

    def test_what_slots_miss_is_told(self):
        plan = self.plan(self.linked("x86_64") / "program.exe")
        program = self.module(plan, "program.exe")["misses"]
        self.assertEqual([entry["name"] for entry in program["run_time_lookups"]],
                         ["GetProcAddress", "LoadLibraryW"])
        self.assertIsNone(program["while_loaded"])
        middle = self.module(plan, "middle.dll")["misses"]
        symbols = symbols_of(IMAGES / "imports-middle-x86_64/middle.map")
        self.assertEqual(middle["while_loaded"],
                         {"entry_point_rva": symbols["middle_entry"] - 0x180000000,
                          "tls_callbacks": 0})
        self.assertEqual([entry["name"] for entry in middle["own_functions"]], ["MiddleOwn"])
        self.assertIsNone(self.module(plan, "late.dll")["misses"]["while_loaded"])

    def test_protection_follows_the_section(self):
        if not Path(READOBJ).exists():
            self.skipTest("llvm-readobj is not installed")
        folder = self.linked("x86_64")
        plan = self.plan(folder / "program.exe")
        text = listing(READOBJ, "--sections", folder / "program.exe")
        writable = {re.search(r"Name: (\S+)", block)[1]: "IMAGE_SCN_MEM_WRITE" in block
                    for block in text.split("Section {")[1:]}
        sections = set()
        for slot in self.module(plan, "program.exe")["slots"]:
            self.assertEqual(slot["writable"], writable[slot["section"]])
            self.assertEqual(slot["must_unprotect"], not slot["writable"])
            sections.add(slot["section"])
        self.assertEqual(sections, {".rdata", ".data"})


class Folders(Case):
    def test_a_program_takes_only_what_it_leads_to(self):
        folder = self.linked("x86_64")
        shutil.copy(SEEDS / "x64", folder / "unrelated.dll")
        names = {entry["name"] for entry in self.plan(folder / "program.exe")["modules"]}
        self.assertNotIn("unrelated.dll", names)
        names = {entry["name"] for entry in self.plan("--dir", folder)["modules"]}
        self.assertIn("unrelated.dll", names)
        by_name = self.plan("--dir", folder, folder / "program.exe", status=1)["modules"]
        with open(folder / "program.exe", "rb") as program:
            done = run("--format", "json", "--dir", folder, "-", stdin=program)
        self.assertEqual(done.returncode, 1, done.stderr)
        unnamed = {"name": None, "path": None}
        self.assertEqual(*([module | unnamed if module["name"] in ("program.exe", "stdin") else module for module in modules]
                           for modules in (by_name, strict_json(done.stdout)["modules"])))

    def test_dlls_come_from_the_folders_in_their_order(self):
        folder = self.linked("x86_64")
        apart, first = self.here / "apart", self.here / "first"
        for new in (apart, first):
            new.mkdir()
        (folder / "program.exe").rename(apart / "program.exe")
        outcomes = lambda plan: {function["outcome"] for function in plan["functions"]}
        self.assertNotIn("resolved", outcomes(self.plan(apart / "program.exe")))
        plan = self.plan(apart / "program.exe", "--dir", folder)
        self.assertIn("resolved", outcomes(plan))
        shutil.copy(folder / "base.dll", first / "BASE.dll")
        plan = self.plan(apart / "program.exe", "--dir", first, "--dir", folder)
        self.assertEqual(self.module(plan, "BASE.dll")["path"], str(first / "BASE.dll"))
        self.assertIn("module-twice", [entry["code"] for entry in plan["findings"]])

    def test_names_of_files_match_without_regard_to_case(self):
        folder = self.linked("x86_64")
        (folder / "middle.dll").rename(folder / "MIDDLE.DLL")
        self.assertEqual(self.target(self.plan(folder / "program.exe"), "program.exe",
                                     "MiddleOwn")["module"], "MIDDLE.DLL")

    def test_what_cannot_be_read_is_counted_and_the_others_are_planned(self):
        folder = self.linked("x86_64")
        content = (folder / "base.dll").read_bytes()
        (folder / "cut.dll").write_bytes(content[:100])
        (folder / "nowhere.dll").symlink_to(folder / "gone")
        (folder / "text.txt").write_text("MZ is not all")
        (folder / "notes.txt").write_text("not a module")
        (folder / "vxd.386").write_bytes(b"MZ".ljust(60, b"\0") + b"\x40\0\0\0LE" + bytes(200))
        os.mkfifo(folder / "pipe")
        (folder / "folder.dll").mkdir()
        plan = self.plan("--dir", folder, status=1)
        self.assertEqual({Path(entry["path"]).name for entry in plan["unreadable"]},
                         {"cut.dll", "nowhere.dll"})
        self.assertEqual(plan["counts"]["modules"], 4)
        self.assertEqual(plan["counts"]["unreadable"], 2)
        self.assertEqual(plan["counts"]["other_files"], 3)
        finding, = [entry for entry in plan["findings"] if entry["code"] == "module-unreadable"]
        self.assertEqual(finding["count"], 2)

    def test_exit_codes(self):
        folder = self.linked("x86_64")
        self.assertEqual(run("--dir", folder, "--tolerate", "forwarder-loop").returncode, 0)
        self.assertEqual(run("--dir", folder, "--function", "Unheard*").returncode, 1)
        self.assertEqual(run("--dir", folder, "--function", "BaseFree").returncode, 0)
        for arguments, words in (((), b"--dir"), (("/bin/sh",), b"ELF"),
                                 ((folder / "gone.exe",), b"No such file"),
                                 (("--dir", folder / "gone"), b"No such file"),
                                 (("--dir", self.here), b"no module")):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, b"")


class Formats(Case):
    def test_csv_has_the_slots_of_the_json(self):
        folder = self.linked("x86_64", 6)
        rows = strict_csv(run("--dir", folder, "--format", "csv").stdout)
        plan = self.plan("--dir", folder)
        self.assertEqual(
            [(row["path"], int(row["slot_rva"]), row["outcome"], row["target_function"],
              row["writable"]) for row in rows],
            [(module["path"], slot["slot_rva"], slot["target"]["outcome"],
              slot["target"]["name"] or "", str(slot["writable"]).lower())
             for module in plan["modules"] for slot in module["slots"]])
        self.assertEqual({row["way"] for row in rows if row["function"] == "BaseRelease"},
                         {"base.dll"})
        self.assertEqual({row["way"] for row in rows if row["function"] == "MiddleAllocate"},
                         {"middle.dll!MiddleAllocate"})

    def test_csv_columns_and_fields_are_documented(self):
        header = run("--dir", SEEDS, "--format", "csv", "-q").stdout.decode().splitlines()[0]
        self.assertIn("`" + header.replace(",", ", ") + "`", re.sub(r"\s+", " ", DOCUMENT))

        def names(schema):
            for name, inner in schema.get("properties", {}).items():
                yield name
                yield from names(inner)
            for inner in schema.get("anyOf", ()):
                yield from names(inner)
            yield from names(schema["items"]) if "items" in schema else ()

        for name in set(names(SCHEMA)):
            if not name.endswith("_bytes"):
                self.assertRegex(DOCUMENT, rf"\b{name}\b")
        for outcome in SCHEMA["properties"]["functions"]["items"]["properties"]["outcome"]["enum"]:
            self.assertIn(f"`{outcome}`", DOCUMENT)

    def test_text_says_what_matters(self):
        text = run(self.linked("x86_64") / "program.exe").stdout.decode()
        for words in ("middle.dll!MiddleAllocate -> base.dll!BaseAllocate",
                      "late.dll!LateOne, at the first call",
                      "KERNEL32.dll!GetProcAddress: no_module",
                      "missed: functions that it finds at run time with GetProcAddress, LoadLibraryW",
                      "missed: calls while it is loaded (entry point",
                      "missed: its own calls of MiddleOwn"):
            self.assertIn(words, text)

    def test_the_same_files_give_the_same_bytes(self):
        folder = self.linked("x86_64")
        for arguments in (("--format", "json"), ("--format", "csv"), ("--function", "*")):
            one, other = (run("--dir", folder, *arguments) for _ in range(2))
            self.assertEqual((one.stdout, one.stderr), (other.stdout, other.stderr))

    def test_hostile_images_give_plans_that_follow_the_schema(self):
        for layout in ("file", "memory"):
            self.plan("--dir", SEEDS, "--layout", layout, "--int64", "string", "-q")

    def test_every_truncation_ends_with_an_answer(self):
        folder = self.linked("x86_64")
        content = (folder / "middle.dll").read_bytes()
        for size in range(0, len(content), 61):
            (folder / "middle.dll").write_bytes(content[:size])
            self.assertIn(run("--dir", folder, "-q", "--no-hash").returncode, (0, 1))


class Agreement(Case):
    """objdump -p of Wine's files gives the same functions at the same slots."""

    def test_objdump_imports(self):
        objdump = shutil.which("objdump")
        if not objdump:
            self.skipTest("objdump is not installed")
        checked = 0
        for architecture in ("amd64", "i386"):
            folder = WINE / architecture
            if not (folder / "user32.dll").exists():
                continue
            plan = self.plan("--dir", folder, "-q")
            for name in ("user32.dll", "kernel32.dll", "gdi32.dll", "win32u.dll", "ntoskrnl.exe"):
                with self.subTest(architecture=architecture, module=name):
                    theirs = []
                    text = listing(objdump, "-p", folder / name)
                    table = text.partition("The Import Tables")[2]
                    tables = re.findall(
                        r"^ [0-9a-f]+\t[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)\n"
                        r"\n\tDLL Name: (\S+)\n(.*?)\n\n", table, re.M | re.S)
                    size = 8 if architecture == "amd64" else 4
                    for thunk, dll, rest in tables:
                        for index, line in enumerate(rest.splitlines()[1:]):
                            found = re.match(r"\t([0-9a-f]+)\t *(\d+) +(\S+)", line)
                            ordinal = found[3] == "<none>" or int(found[1], 16) >> 31
                            theirs.append((int(thunk, 16) + index * size, dll,
                                           None if ordinal else found[3],
                                           int(found[2]) if ordinal else None))
                    mine = [(slot["slot_rva"], slot["dll"], slot["function"]["name"],
                             slot["function"]["ordinal"])
                            for module in plan["modules"] if module["name"] == name
                            for slot in module["slots"] if not slot["delayed"]]
                    self.assertEqual(mine, sorted(theirs, key=lambda row: row[0]))
                    checked += len(mine)
        if checked == 0:
            self.skipTest("Wine's files are not there")
        self.assertGreater(checked, 4000)

    def test_resolved_functions_are_exports_of_their_module(self):
        for architecture in ("amd64", "i386"):
            folder = WINE / architecture
            if not (folder / "user32.dll").exists():
                self.skipTest("Wine's files are not there")
            plan = self.plan("--dir", folder, "-q", "--no-hash")
            exports = {}
            resolved = 0
            for function in plan["functions"]:
                if function["outcome"] != "resolved":
                    continue
                name = function["module"]
                if name not in exports:
                    done = subprocess.run([COLDTRACE, "pe", "exports", "--format", "json", "-q",
                                           folder / name], capture_output=True, timeout=120)
                    exports[name] = {(entry["name"], entry["rva"])
                                     for entry in strict_json(done.stdout)["images"][0]["exports"]}
                self.assertIn((function["name"], function["rva"]), exports[name])
                resolved += 1
            self.assertGreater(resolved, 500)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
