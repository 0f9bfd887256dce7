"""coldtrace hooks locate and hooks plan use all that says where a function is.

usage: locate_test.py COLDTRACE IMAGES SOURCES PDBUTIL [unittest arguments]
The truth is the linker's: PDBs as llvm-pdbutil reads them. Images that no linker here could make
are skipped.
"""
import fnmatch
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
from code_image import code_image
from strict import strict_csv, strict_json

COLDTRACE, IMAGES, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:4])
PDBUTIL = sys.argv[4]


def image(name):
    for path in sorted((IMAGES / name).glob("*")):
        if path.suffix in (".exe", ".sys", ".dll"):
            return path
    raise unittest.SkipTest(f"no linker made {name}")


def symbols(path):
    """Name to RVA, without the underscore of x86."""
    if not Path(PDBUTIL).is_file():
        raise unittest.SkipTest("llvm-pdbutil is not installed")
    text = subprocess.run([PDBUTIL, "dump", "--publics", "--section-headers",
                           path.with_suffix(".pdb")], check=True,
                          capture_output=True).stdout.decode("utf-8", "replace")
    bases = [int(base, 16) for base in re.findall(r"^ *([0-9A-F]+) virtual address$", text, re.M)]
    return {name.removeprefix("_"): bases[int(section) - 1] + int(offset)
            for name, section, offset in
            re.findall(r"\| S_PUB32 \[size = \d+\] `(.*)`\n.*addr = (\d+):(\d+)", text)}


def sections(path):
    """RVA, size and whether it has code, of each section."""
    data = path.read_bytes()
    pe = struct.unpack_from("<I", data, 0x3C)[0]
    count, optional = struct.unpack_from("<H", data, pe + 6)[0], struct.unpack_from("<H", data, pe + 20)[0]
    for at in range(pe + 24 + optional, pe + 24 + optional + count * 40, 40):
        size, rva, stored = struct.unpack_from("<3I", data, at + 8)
        yield rva, max(size, stored), bool(struct.unpack_from("<I", data, at + 36)[0] & 0x20000000)


def is_code(path, rva):
    return any(code and start <= rva < start + size for start, size, code in sections(path))


def first_section(path, code):
    return next(start for start, _, has_code in sections(path) if has_code == code)


class Case(case.Case):
    def exits(self, status, *arguments):
        done = subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def json_of(self, status, schema, *arguments):
        document = strict_json(self.exits(status, *arguments, "--format", "json").stdout)
        text = (SOURCES / f"docs/schema/{schema}.schema.json").read_text()
        json_schema.validate(document, json.loads(text))
        return document

    def locate(self, status, name, *arguments):
        """RVA to sources, of the only file, and the codes of its findings."""
        document = self.json_of(status, "hook-locations", "hooks", "locate", name, *arguments)
        (shown,) = document["images"]
        self.assertEqual([row["rva"] for row in shown["locations"]],
                         sorted(row["rva"] for row in shown["locations"]))
        for row in shown["locations"]:
            for source in row["sources"]:
                self.assertTrue(source["evidence"])
        chosen = [row["rva"] for row in shown["locations"] if row["chosen"]]
        return ({row["rva"]: [source["source"] for source in row["sources"]]
                 for row in shown["locations"]}, chosen,
                [finding["code"] for finding in shown["findings"]])

    def plan(self, status, kernel, name, *arguments):
        document = self.json_of(status, "trace-plan", "hooks", "plan", "--kernel", kernel,
                                "--function", name, *arguments)
        (point,) = document["points"]
        return point, [finding["code"] for finding in document["findings"]]


def with_export_at(path, name, rva):
    """A copy's bytes in which an export leads elsewhere."""
    done = subprocess.run([COLDTRACE, "pe", "exports", "--format", "json", path],
                          capture_output=True, timeout=60)
    (row,) = (row for row in strict_json(done.stdout)["images"][0]["exports"]
              if row["name"] == name)
    content = bytearray(path.read_bytes())
    return bytes(content.replace(struct.pack("<I", row["rva"]), struct.pack("<I", rva)))


class Limits(Case):
    # What a built-in signature of SwapContext for x64 matches, more often than is looked at.
    CODE = bytes.fromhex("4883ec3848896c2430884c2428") * 4200

    def test_a_search_that_is_given_up_is_said_once(self):
        kernel = self.write("kernel.exe", code_image(self.CODE))
        for command in (["hooks", "locate", "SwapContext"], ["hooks", "locate", "Swap*"],
                        ["hooks", "plan", "--function", "SwapContext", "--kernel"],
                        ["hooks", "plan", "--function", "Swap*", "--function", "SwapContext",
                         "--function", "SwapContext+4", "--kernel"]):
            with self.subTest(command=command):
                document = strict_json(self.exits(1, *command, kernel, "--format", "json").stdout)
                findings = document.get("findings") or document["images"][0]["findings"]
                self.assertEqual([row["count"] for row in findings
                                  if row["code"] == "signature-limit"], [1])

    def test_an_image_of_few_such_places_has_no_limit(self):
        kernel = self.write("kernel.exe", code_image(self.CODE[:13 * 40]))
        done = self.exits(1, "hooks", "plan", "--function", "SwapContext", "--kernel", kernel)
        self.assertNotIn(b"signature-limit", done.stderr)


class Sources(Case):
    def test_an_export_is_found_without_a_signature_or_a_pdb(self):
        kernel = image("switch-7-x86")
        rva = symbols(kernel)["KiDispatchInterrupt"]
        found, chosen, codes = self.locate(0, "KiDispatchInterrupt", kernel)
        self.assertEqual((found[rva][0], chosen), ("export", [rva]))
        point, _ = self.plan(0, kernel, "KiDispatchInterrupt")
        self.assertEqual((point["source"], point["rva"]), ("export", rva))
        self.assertTrue(point["source_evidence"])

    def test_a_service_is_found_by_the_table_and_by_the_name_that_ntdll_gives_it(self):
        kernel, ntdll = image("tables-x86-kernel"), image("xp-sp2-x86")
        truth = symbols(kernel)
        done = self.exits(0, "hooks", "tables", "--format", "json", "--ntdll", ntdll, kernel)
        entries = strict_json(done.stdout)["images"][0]["tables"][0]["entries"]
        by_table = 0
        for entry in entries:
            name = entry["name"]
            from_ntdll = entry["name_source"] in ("user", "other_revision")
            sources = ("--ntdll", ntdll) if from_ntdll else ()
            with self.subTest(name=name, source=entry["name_source"]):
                found, chosen, codes = self.locate(0, name, *sources, kernel)
                self.assertEqual(chosen, [truth[name]])
                self.assertIn("service_table", found[truth[name]])
                point, _ = self.plan(0, kernel, name, *sources)
                self.assertEqual(point["rva"], truth[name])
                if found[truth[name]][0] == "service_table":
                    self.assertEqual(point["source"], "service_table")
                    by_table += 1
        self.assertGreater(by_table, 5)

    def test_a_context_switch_is_found_by_structure_alone(self):
        for name in ("switch-8-x86", "switch-11-x64"):
            kernel = image(name)
            truth = symbols(kernel)
            twin = truth.get("EnlightenedSwapContext", truth.get("second_switch"))
            for function, rva in (("SwapContext", truth["SwapContext"]),
                                  ("EnlightenedSwapContext", twin)):
                with self.subTest(name=name, function=function):
                    found, chosen, codes = self.locate(0, function, kernel)
                    self.assertEqual(found, {rva: ["structure"]})
                    point, _ = self.plan(0, kernel, function)
                    self.assertEqual((point["source"], point["rva"]), ("structure", rva))

    def test_all_sources_that_agree_are_named_in_their_order(self):
        kernel = image("switch-7-x86")
        rva = symbols(kernel)["SwapContext"]
        found, chosen, codes = self.locate(0, "SwapContext", "--pdb",
                                           kernel.with_suffix(".pdb"), kernel)
        self.assertEqual(found, {rva: ["symbol", "signature", "structure"]})
        text = self.exits(0, "hooks", "locate", "SwapContext", kernel).stdout.decode()
        self.assertIn("  structure\n", text)
        rows = strict_csv(self.exits(0, "hooks", "locate", "SwapContext", "--format", "csv",
                                     kernel).stdout)
        self.assertEqual([(row["sources"], row["chosen"]) for row in rows],
                         [("signature structure", "true")])

    def test_sources_that_disagree_are_a_warning_and_the_first_counts(self):
        kernel = image("tables-x86-kernel")
        truth = symbols(kernel)
        done = self.exits(0, "hooks", "tables", "--format", "json", kernel)
        entries = strict_json(done.stdout)["images"][0]["tables"][0]["entries"]
        done = self.exits(0, "pe", "exports", "--format", "json", kernel)
        exported = {row["name"]: row["rva"]
                    for row in strict_json(done.stdout)["images"][0]["exports"]}
        name = next(entry["name"] for entry in entries
                    if entry["name"] in exported and entry["name_source"] == "stub")
        elsewhere = exported[name] + 1
        bent = self.write("ntoskrnl.exe", with_export_at(kernel, name, elsewhere))
        found, chosen, codes = self.locate(1, name, bent)
        self.assertEqual(chosen, [elsewhere])
        self.assertEqual(found, {elsewhere: ["export"], truth[name]: ["service_table"]})
        self.assertIn("sources-disagree", codes)
        _, codes = self.plan(1, bent, name)
        self.assertIn("sources-disagree", codes)

    def test_a_pdb_that_disagrees_with_a_signature_is_a_warning(self):
        kernel = image("switch-twice-x86")
        pdb = kernel.with_suffix(".pdb")
        rva = symbols(kernel)["SwapContext"]
        found, chosen, codes = self.locate(1, "SwapContext", "--pdb", pdb, kernel)
        self.assertEqual(chosen, [rva])
        self.assertIn("symbol-disagrees", codes)
        self.assertNotIn("function-ambiguous", codes)

    def test_two_places_are_two(self):
        kernel = image("switch-twice-x86")
        found, chosen, codes = self.locate(1, "SwapContext", kernel)
        self.assertEqual(len(chosen), 2)
        self.assertIn("function-ambiguous", codes)
        point, _ = self.plan(1, kernel, "SwapContext")
        self.assertEqual([refusal["code"] for refusal in point["refusals"]], ["ambiguous"])

    def test_what_nothing_has_is_a_warning_with_names_that_are_near(self):
        kernel = image("switch-7-x86")
        done = self.exits(1, "hooks", "locate", "KiDispatchInterupt", kernel)
        self.assertIn(b"warning: no-match: function: nothing matches 'KiDispatchInterupt'; did you "
                      b"mean 'KiDispatchInterrupt'", done.stderr)

    def test_what_is_proposed_is_there_and_not_what_was_asked_for(self):
        kernel = image("tables-x86-kernel")
        for name in ("SwapContext", "EnlightenedSwapContext", "SwapContxt", "KiFastCallEntri"):
            error = self.exits(1, "hooks", "locate", name, kernel).stderr.decode()
            self.assertIn(f"nothing matches '{name}'", error)
            for proposed in re.findall("(?:did you mean|or) '(.*?)'", error):
                with self.subTest(name=name, proposed=proposed):
                    self.assertNotEqual(proposed, name)
                    self.exits(0, "hooks", "locate", proposed, kernel)
        misspelt = self.exits(1, "hooks", "locate", "SwapContxt", image("switch-7-x86"))
        self.assertIn(b"did you mean 'SwapContext'", misspelt.stderr)

    def test_text_has_the_sources_in_the_order_in_which_they_count(self):
        signs = {"export": "  export", "service_table": "  service-table",
                 "symbol": "  public symbol ", "signature": "  signature ",
                 "structure": "  structure"}
        kernel = image("switch-7-x86")
        found, chosen, _ = self.locate(0, "SwapContext", "--pdb", kernel.with_suffix(".pdb"), kernel)
        self.assertEqual(found[chosen[0]], ["symbol", "signature", "structure"])
        text = self.exits(0, "hooks", "locate", "SwapContext", "--pdb", kernel.with_suffix(".pdb"),
                          kernel).stdout.decode()
        shown = [source for line in text.splitlines() for source, sign in signs.items()
                 if line.startswith(sign)]
        self.assertEqual(shown, found[chosen[0]])


class Globs(Case):
    def functions(self, status, glob, *arguments):
        document = self.json_of(status, "hook-locations", "hooks", "locate", glob, *arguments)
        (shown,) = document["images"]
        return [(row["function"], row["rva"]) for row in shown["locations"]], shown["findings"]

    def test_a_glob_is_all_functions_of_the_pdb_that_match_as_a_shell_matches(self):
        """The symbols are llvm-pdbutil's, the matching is Python's."""
        for name in ("switch-7-x86", "switch-11-x64"):
            kernel = image(name)
            truth = symbols(kernel)
            for glob in ("*Swap*", "?wapContext", "*"):
                with self.subTest(name=name, glob=glob):
                    pdb = kernel.with_suffix(".pdb")
                    found, _ = self.functions(0, glob, "--pdb", pdb, kernel)
                    wanted = {(symbol, rva) for symbol, rva in truth.items()
                              if fnmatch.fnmatchcase(symbol, glob) and is_code(kernel, rva)}
                    self.assertTrue(wanted)
                    self.assertLessEqual(wanted, set(found))
                    self.assertTrue(all(fnmatch.fnmatchcase(one, glob) for one, _ in found))
                    self.assertEqual(found, sorted(found, key=lambda row: (row[1], row[0])))

    def test_a_glob_finds_what_its_names_find(self):
        """Exports, services and what code alone shows, as each name for itself."""
        for name, glob in (("switch-8-x86", "*SwapContext"), ("tables-x86-kernel", "*")):
            kernel = image(name)
            done = self.exits(0, "hooks", "locate", glob, "--format", "csv", kernel)
            rows = strict_csv(done.stdout)
            names = sorted({row["function"] for row in rows})
            self.assertGreater(len(names), 1)
            for function in names:
                own = strict_csv(self.exits(0, "hooks", "locate", function, "--format", "csv",
                                            kernel).stdout)
                self.assertEqual(own, [row for row in rows if row["function"] == function])
            exported = strict_json(self.exits(0, "pe", "exports", "--format", "json",
                                              kernel).stdout)["images"][0]["exports"]
            self.assertLessEqual({row["name"] for row in exported
                                  if fnmatch.fnmatchcase(row["name"], glob) and
                                  is_code(kernel, row["rva"])}, set(names))

    def test_a_glob_is_no_data_and_a_name_written_out_is(self):
        kernel = image("switch-7-x86")
        name, data = "IoGetInitialStack", first_section(kernel, code=False)
        bent = self.write("ntoskrnl.exe", with_export_at(kernel, name, data))
        before, _ = self.functions(0, "Io*", kernel)
        found, _ = self.functions(0, "Io*", bent)
        self.assertEqual(found, [row for row in before if row[0] != name])
        self.assertEqual(len(found), len(before) - 1)
        self.assertEqual([point["requested"] for point in self.plan(0, bent, "Io*")["points"]],
                         [function for function, _ in found])
        self.assertEqual(self.functions(0, name, bent)[0], [(name, data)])
        refusals = self.plan(1, bent, name)["points"][0]["refusals"]
        self.assertEqual([refusal["code"] for refusal in refusals], ["not_executable"])

    def test_a_glob_that_matches_nothing_is_said_with_what_is_near(self):
        kernel = image("switch-7-x86")
        found, (finding,) = self.functions(1, "KiDispatchInterup*", kernel)
        self.assertEqual((found, finding["code"]), ([], "no-match"))
        self.assertIn("nothing matches 'KiDispatchInterup*'; did you mean 'KiDispatchInterrupt'",
                      finding["text"])
        self.exits(0, "hooks", "locate", "KiDispatchInterup*", "--tolerate", "no-match", kernel)

    def plan(self, status, kernel, *functions):
        return self.json_of(status, "trace-plan", "hooks", "plan", "--kernel", kernel,
                            "--function", *functions)

    def test_a_plan_has_a_point_for_each_place_that_a_glob_means(self):
        kernel = image("switch-7-x86")
        found, _ = self.functions(0, "*SwapContext", kernel)
        for offset in (0, 2):
            globs = [f"*SwapContext+{offset:#x}"] if offset else ["*SwapContext"]
            names = [f"{one}+{offset:#x}" if offset else one for one, _ in found]
            plan = self.plan(0, kernel, *globs)
            self.assertEqual(sorted((point["requested"], point["rva"]) for point in plan["points"]),
                             sorted((name, rva + offset) for name, (_, rva) in zip(names, found)))
            one_by_one = self.plan(0, kernel, *sorted(names))
            self.assertEqual(plan["points"], one_by_one["points"])

    def test_a_plan_says_what_matches_nothing(self):
        kernel = image("switch-7-x86")
        for wanted in ("KiDispatchInterup", "KiDispatchInterup*"):
            with self.subTest(wanted):
                plan = self.plan(1, kernel, wanted)
                self.assertIn("no-match", [finding["code"] for finding in plan["findings"]])
                self.assertIn("KiDispatchInterrupt", plan["points"][0]["refusals"][0]["text"])

    def test_what_is_near_is_what_the_command_takes(self):
        """`hooks locate` finds data whose name is given exactly; `hooks plan` refuses it."""
        kernel = image("switch-7-x86")
        name, data = "IoGetInitialStack", first_section(kernel, code=False)
        bent = self.write("ntoskrnl.exe", with_export_at(kernel, name, data))
        (place,), _ = self.functions(0, name, bent)
        self.assertEqual(place, (name, data))
        for wanted in ("IoGetInitialStac", "IoGetInitialStak*"):
            for file, is_code in ((kernel, True), (bent, False)):
                with self.subTest(wanted, is_code=is_code):
                    _, (finding,) = self.functions(1, wanted, file)
                    self.assertEqual(finding["code"], "no-match")
                    self.assertIn(f"'{name}'", finding["text"])
                    plan = self.plan(1, file, wanted)
                    self.assertEqual(name in plan["points"][0]["refusals"][0]["text"], is_code)

    def test_a_plan_is_never_longer_than_a_table_may_be(self):
        kernel = image("tables-x86-kernel")
        once = len(self.plan(0, kernel, "Nt*")["points"])
        done = self.exits(1, "hooks", "plan", "--kernel", kernel, "--format", "json", "--quiet",
                          "--function", *["Nt*"] * (16384 // once + 1))
        plan = strict_json(done.stdout)
        self.assertEqual(len(plan["points"]), 16384)
        self.assertIn("a plan has at most 16384",
                      " ".join(finding["text"] for finding in plan["findings"]))


class Types(Case):
    def test_offsets_that_only_the_pdb_gives_are_sure(self):
        """The accessors under other names: what is left is the PDB."""
        for name in ("switch-types-x86", "switch-types-x64"):
            kernel = image(name)
            content = kernel.read_bytes()
            for prefix in (b"PsGet", b"IoGet", b"IoThreadTo", b"KeGetCurrent"):
                content = content.replace(b"\0" + prefix, b"\0" + prefix[:-1] + b"_")
            bent = self.write("ntoskrnl.exe", content)
            pdb = kernel.with_suffix(".pdb")
            with self.subTest(name):
                with_accessors = self.offsets(kernel, pdb)
                alone = self.offsets(bent, pdb)
                self.assertEqual({key: row["offset"] for key, row in alone.items()},
                                 {key: row["offset"] for key, row in with_accessors.items()})
                for row in alone.values():
                    self.assertEqual(row["evidence"][0], "the PDB's types have it here")
                    self.assertNotIn("reads", " ".join(row["evidence"]))
                    self.assertEqual(row["confidence"], "high")
                self.assertEqual(self.offsets(bent), {})

    def offsets(self, kernel, pdb=None):
        done = subprocess.run([COLDTRACE, "hooks", "context-switch", "--quiet", "--format", "json",
                               *(["--pdb", pdb] if pdb else []), kernel], capture_output=True,
                              timeout=60)
        return {(row["structure"], row["field"]): row
                for row in strict_json(done.stdout)["images"][0]["thread_offsets"]}


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
