"""coldtrace hooks derive, and what PDBs say to hooks derive and hooks locate.

usage: derive_test.py COLDTRACE PDBUTIL IMAGES WINE SOURCES [unittest arguments]
What no linker here could make is skipped. Places are those of llvm-pdbutil, or of the export table;
matches are counted with Python's own regular expressions.
"""
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from strict import strict_json

COLDTRACE, PDBUTIL = sys.argv[1], sys.argv[2]
IMAGES, WINE, SOURCES = (Path(argument).resolve() for argument in sys.argv[3:6])


def run(*arguments):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)


def build(machine, number):
    folder = IMAGES / f"derived-{machine}-{number}"
    if not (folder / "derived.exe").exists():
        raise unittest.SkipTest("no linker made the images")
    return folder / "derived.exe", folder / "derived.pdb"


def symbols(pdb):
    """From a public symbol's name to its RVA, by llvm-pdbutil."""
    if not Path(PDBUTIL).is_file():
        raise unittest.SkipTest("llvm-pdbutil is not installed")
    text = subprocess.run([PDBUTIL, "dump", "--publics", "--section-headers", pdb], check=True,
                          capture_output=True).stdout.decode("utf-8", "replace")
    bases = [int(base, 16) for base in re.findall(r"^ *([0-9A-F]+) virtual address$", text, re.M)]
    return {name: bases[int(section) - 1] + int(offset) for name, section, offset in
            re.findall(r"\| S_PUB32 \[size = \d+\] `(.*)`\n.*addr = (\d+):(\d+)", text)}


def code_of(path):
    """RVA and bytes of the executable sections."""
    document = strict_json(run("pe", "sections", "--format", "json", "-q", "--no-hash", path).stdout)
    content = path.read_bytes()
    for section in document["images"][0]["sections"]:
        if section["characteristics"] & 0x20000000:
            start, size = section["file_offset"], section["raw_size"]
            yield section["rva"], content[start:start + size]


def places(path, pattern):
    """RVAs where a pattern of whole bytes and ?? matches."""
    expression = b"(?=" + b"".join(
        b"." if word == "??" else re.escape(bytes([int(word, 16)])) for word in pattern.split()) + b")"
    return [rva + found.start() for rva, code in code_of(path)
            for found in re.finditer(expression, code, re.S)]


def shorter(pattern):
    words = pattern.split()[:-1]
    while words and words[-1] == "??":
        words.pop()
    return " ".join(words)


class Case(case.Case):
    def exits(self, status, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def json_of(self, status, *arguments, schema="derived-signature"):
        document = strict_json(self.exits(status, "hooks", *arguments, "--format", "json").stdout)
        text = (SOURCES / f"docs/schema/{schema}.schema.json").read_text()
        json_schema.validate(document, json.loads(text))
        return document

    def derive(self, status, *arguments):
        """As short as can be, unless the test asks for more."""
        at_least = () if "--at-least" in arguments else ("--at-least", 1)
        return self.json_of(status, "derive", *arguments, *at_least)

    def check_unique(self, document, rvas):
        """That the signature is where it should be, alone, and that the counts are true."""
        pattern = document["signature"]["pattern"]
        self.assertEqual(len(pattern.split()), document["signature"]["size"])
        for image, rva in zip(document["images"], rvas):
            path = Path(image["path"])
            self.assertEqual(image["rva"], rva)
            self.assertEqual(places(path, pattern), [rva])
            self.assertEqual(image["matches"], 1)
            self.assertEqual(image["searched"], sum(len(code) for _, code in code_of(path)))
            less = shorter(pattern)
            if less:
                self.assertEqual(image["shorter_matches"], len(places(path, less)))
        return pattern


class Derive(Case):
    def test_each_function_of_each_build(self):
        twins = {"TwinOne", "TwinTwo"}
        for machine in ("x86", "x64"):
            for number in (1, 2, 3):
                path, pdb = build(machine, number)
                for decorated, rva in symbols(pdb).items():
                    name = re.sub(r"^[_@]([^@]+)(@\d+)?$", r"\1", decorated)
                    with self.subTest(machine=machine, build=number, name=name):
                        if name in twins:
                            document = self.derive(1, name, "--pdb", pdb, path)
                            self.assertIsNone(document["signature"])
                            self.assertIn("match at 2 places", document["findings"][0]["text"])
                            continue
                        document = self.derive(0, name, "--pdb", pdb, path)
                        self.check_unique(document, [rva])
                        (image,) = document["images"]
                        self.assertEqual((image["symbol"], image["place_from"]), (decorated, "pdb"))
                        # Nothing shorter would do: less is there twice, or has no two whole bytes.
                        less = shorter(document["signature"]["pattern"])
                        searchable = re.search(r"[0-9A-F]{2} [0-9A-F]{2}", less)
                        self.assertTrue(not searchable or len(places(path, less)) > 1)

    def test_what_the_image_exports_needs_no_place(self):
        tried = 0
        for folder in ("switch-7-x86", "trace-x64", "trace-x86"):
            path = IMAGES / folder / "ntoskrnl.exe"
            if not path.exists():
                continue
            rows = strict_json(run("pe", "exports", "--format", "json", path).stdout)["images"][0]["exports"]
            for row in rows:
                if row["is_forwarder"] or not row["name"]:
                    continue
                with self.subTest(folder=folder, name=row["name"]):
                    line = ("hooks", "derive", row["name"], "--format", "json", "--at-least", 1, path)
                    given = strict_json(run(*line, "--at", row["rva"]).stdout)
                    found = strict_json(run(*line).stdout)
                    self.assertEqual(found["signature"], given["signature"])
                    if not found["signature"]:
                        continue
                    (image,) = found["images"]
                    self.assertEqual((image["rva"], image["place_from"]), (row["rva"], "export"))
                    # What --at says counts before what is exported.
                    other = strict_json(run(*line, "--at", row["rva"] + 1).stdout)["images"][0]
                    self.assertIn((other["rva"], other["place_from"]),
                                  ((row["rva"] + 1, "option"), (None, None)))
                    tried += 1
        self.assertGreater(tried, 0)

    def test_what_the_linker_fills_in_is_open(self):
        """A whole function's signature of one build finds it in another, which lies elsewhere."""
        fixed = {("x86", "Stable"): 15, ("x64", "Stable"): 16, ("x86", "Switch"): 10,
                 ("x64", "Switch"): 16}
        for (machine, name), least in fixed.items():
            with self.subTest(machine=machine, name=name):
                first, pdb = build(machine, 1)
                second, other = build(machine, 2)
                document = self.derive(0, name, "--pdb", pdb, "--at-least", least, first)
                pattern = document["signature"]["pattern"]
                where = symbols(other)
                self.assertEqual(places(second, pattern), [where.get("_" + name, where.get(name))])
                text = self.write("one.sig", document["signature"]["text"].encode()
                                  .replace(b"version", b"#version"))
                found = self.json_of(0, "locate", name, "--signatures", text, second,
                                     schema="hook-locations")
                self.assertEqual(len(found["images"][0]["locations"]), 1)

    def test_fewer_than_sixteen_fixed_bytes_are_refused_unless_asked_for(self):
        asked, refused = 0, 0
        for machine in ("x86", "x64"):
            path, pdb = build(machine, 1)
            for decorated in symbols(pdb):
                name = re.sub(r"^[_@]([^@]+)(@\d+)?$", r"\1", decorated)
                if name.startswith("Twin"):
                    continue
                with self.subTest(machine=machine, name=name):
                    short = self.derive(0, name, "--pdb", pdb, path)["signature"]
                    done = run("hooks", "derive", name, "--pdb", pdb, path, "--format", "json")
                    signature = strict_json(done.stdout)["signature"]
                    if signature:
                        self.assertEqual(done.returncode, 0)
                        fixed = [word for word in signature["pattern"].split() if word != "??"]
                        self.assertGreaterEqual(len(fixed), 16)
                        self.assertTrue(signature["pattern"].startswith(short["pattern"]))
                        asked += 1
                    else:
                        self.assertEqual(done.returncode, 1)
                        self.assertIn(b"at least 16 must be", done.stderr)
                        refused += 1
        self.assertGreater(asked, 0)
        self.assertGreater(refused, 0)
        self.assertRegex(self.exits(0, "hooks", "derive", "--help").stdout.decode(),
                         r"\[default:\s+16\]")

    def test_several_files_give_one_signature(self):
        for machine in ("x86", "x64"):
            (first, pdb), (second, other) = build(machine, 1), build(machine, 2)
            where, elsewhere = symbols(pdb), symbols(other)
            name = "_Unique" if machine == "x86" else "Unique"
            rvas = [where[name], elsewhere[name]]
            with self.subTest(machine):
                by_symbol = self.derive(0, "Unique", "--pdb", pdb, "--pdb", other, first, second)
                pattern = self.check_unique(by_symbol, rvas)
                given = self.derive(0, "Unique", "--at", hex(rvas[0]), "--at", rvas[1], first, second)
                self.assertEqual(self.check_unique(given, rvas), pattern)
                found = self.derive(0, "Unique", "--at", rvas[0], first, second)
                self.assertEqual(self.check_unique(found, rvas), pattern)
                self.assertEqual([image["place_from"] for image in found["images"]],
                                 ["option", "other_image"])
                # Behind the call the constant differs, and the builds say so.
                wide = self.derive(0, "Unique", "--at", rvas[0], "--at-least", 12, first, second)
                self.check_unique(wide, rvas)
                self.assertIn("differences", {row["reason"] for row in wide["signature"]["open"]})

    def test_an_instruction_more_ends_what_is_common(self):
        for machine in ("x86", "x64"):
            (first, pdb), (third, other) = build(machine, 1), build(machine, 3)
            document = self.derive(1, "Unique", "--pdb", pdb, "--pdb", other, first, third)
            self.assertIsNone(document["signature"])
            self.assertIn("as far as the instructions have the same sizes",
                          document["findings"][0]["text"])

    def test_every_kind_of_open_byte(self):
        kinds = {"x86": {"relocation", "branch"}, "x64": {"address", "branch"}}
        for machine, expected in kinds.items():
            path, pdb = build(machine, 1)
            document = self.derive(0, "Stable", "--at-least", 14, "--pdb", pdb, path)
            self.assertEqual({row["reason"] for row in document["signature"]["open"]}, expected)

    def test_the_text_is_a_signature_file(self):
        path, pdb = build("x64", 1)
        target = self.here / "derived.sig"
        self.exits(0, "hooks", "derive", "Unique", "--at-least", 1, "--pdb", pdb, path, "-o", target)
        done = self.exits(0, "hooks", "locate", "Unique", "--signatures", target, path)
        self.assertIn(f"rva {symbols(pdb)['Unique']:#x}".encode(), done.stdout)
        # A name that is not a word stands in quotes, and finds its function too.
        self.exits(0, "hooks", "derive", "?f@@YAXXZ<b c>", "--at-least", 1, "--at",
                   symbols(pdb)["Unique"], path, "-o", target)
        self.exits(0, "hooks", "locate", "?f@@YAXXZ<b c>", "--signatures", target, path)

    def test_usage(self):
        path, pdb = build("x64", 1)
        self.exits(2, "hooks", "derive", "F", "--at", "0x1000", "--at", "0x1000", path)
        self.exits(2, "hooks", "derive", 'a"b', "--at", "0x1000", path)
        self.exits(2, "hooks", "derive", "F", "--at", "nowhere", path)
        self.exits(2, "hooks", "derive", "F", "--at", "0x1000", self.here / "missing")
        self.assertIn(b"not known in any image", self.exits(1, "hooks", "derive", "F", path).stdout)
        self.assertIn(b"no-match: exported function: nothing matches 'F'",
                      self.exits(1, "hooks", "derive", "F", path).stderr)
        self.assertIn(b"in no executable section",
                      self.exits(1, "hooks", "derive", "F", "--at", "0x3000", path).stdout)
        done = self.exits(1, "hooks", "derive", "Uniqe", "--pdb", pdb, path)
        self.assertIn(b"warning: no-match: ", done.stderr)
        self.assertRegex(done.stderr, b"nothing matches 'Uniqe'; did you mean '_?Unique")

    def test_an_at_that_contradicts_the_pdb_is_said(self):
        path, pdb = build("x64", 1)
        other = symbols(pdb)["Stable"]
        document = self.derive(1, "Unique", "--pdb", pdb, "--at", other, path)
        self.assertEqual(document["images"][0]["rva"], other)
        self.assertEqual(document["images"][0]["findings"][0]["code"], "symbol-disagrees")

    def test_exports_of_wine(self):
        """The property on real code: exported functions, a sample of them."""
        files = sorted(WINE.glob("*/*.dll"))
        if not files:
            self.skipTest("Wine's files are not here")
        derived = 0
        for path in files:
            rows = strict_json(run("pe", "exports", "--format", "json", "-q", "--no-hash",
                                  path).stdout)["images"][0]["exports"]
            rows = [row for row in rows if row["name"] and not row["is_forwarder"]]
            for row in rows[::max(1, len(rows) // 6)]:
                with self.subTest(path=path, name=row["name"]):
                    line = ("hooks", "derive", row["name"], "--format", "json", "-q", "--no-hash",
                            "--at-least", 1, path)
                    done = run(*line, "--at", row["rva"])
                    document = strict_json(done.stdout)
                    # What the image exports needs no --at.
                    exported = strict_json(run(*line).stdout)
                    self.assertEqual(exported["signature"], document["signature"])
                    if document["signature"]:
                        self.assertEqual(exported["images"][0]["rva"], row["rva"])
                        self.assertEqual(exported["images"][0]["place_from"], "export")
                    if document["signature"]:
                        self.check_unique(document, [row["rva"]])
                        derived += 1
                    else:
                        self.assertEqual(done.returncode, 1)
        self.assertGreater(derived, 10)


class Locate(Case):
    def signature_of(self, name, path, rva, function):
        text = self.exits(0, "hooks", "derive", function, "--at-least", 1, "--at", rva, path).stdout
        return self.write(name, text)

    def test_names_confirm_signatures_and_win_over_them(self):
        for machine in ("x86", "x64"):
            with self.subTest(machine):
                path, pdb = build(machine, 1)
                where = symbols(pdb)
                decorated = "_Unique" if machine == "x86" else "Unique"
                stable = where["_Stable" if machine == "x86" else "Stable"]
                right = self.signature_of("right.sig", path, where[decorated], "Unique")
                wrong = self.signature_of("wrong.sig", path, stable, "Unique")
                found = self.json_of(0, "locate", "Unique", "--pdb", pdb, "--signatures", right, path,
                                     schema="hook-locations")
                (location,) = found["images"][0]["locations"]
                self.assertEqual((location["rva"], location["symbol"], location["confirmed"]),
                                 (where[decorated], decorated, True))
                self.assertTrue(found["pdbs"][0]["matches_image"])
                found = self.json_of(1, "locate", "Unique", "--pdb", pdb, "--signatures", wrong, path,
                                     schema="hook-locations")
                named = [row for row in found["images"][0]["locations"] if row["symbol"]]
                self.assertEqual([(row["rva"], row["confirmed"]) for row in named],
                                 [(where[decorated], False)])
                self.assertEqual([row["code"] for row in found["images"][0]["findings"]],
                                 ["symbol-disagrees"])

    def test_a_name_without_signature_is_found_by_the_pdb(self):
        for machine, name in (("x86", "Stdcall"), ("x86", "Fastcall"), ("x86", "_Stdcall@8"),
                              ("x86", "Switch"), ("x64", "Fastcall")):
            with self.subTest(machine=machine, name=name):
                path, pdb = build(machine, 1)
                found = self.json_of(0, "locate", name, "--pdb", pdb, path, schema="hook-locations")
                (location,) = found["images"][0]["locations"]
                self.assertEqual(location["rva"], symbols(pdb)[location["symbol"]])
                self.assertEqual(location["matches"], [])
                rows = self.exits(0, "hooks", "locate", name, "--pdb", pdb, "--format", "csv",
                                  path).stdout.decode().splitlines()
                self.assertEqual(rows[0].count(","), rows[1].count(","))
                self.assertTrue(rows[1].endswith(location["symbol"] + ",symbol,true"))
                text = self.exits(0, "hooks", "locate", name, "--pdb", pdb, path).stdout
                self.assertIn(b"no signature finds it", text)

    def test_a_pdb_of_another_build_is_refused(self):
        (path, pdb), (_, other) = build("x64", 1), build("x64", 2)
        found = self.json_of(1, "locate", "Unique", "--pdb", other, path, schema="hook-locations")
        self.assertEqual(found["images"][0]["locations"], [])
        self.assertEqual([row["code"] for row in found["pdbs"][0]["findings"]], ["pdb-mismatch"])
        # With the right one beside it the place is known, and the wrong one still said.
        done = self.exits(1, "hooks", "locate", "Unique", "--pdb", other, "--pdb", pdb, path)
        self.assertIn(b"pdb-mismatch", done.stderr)
        self.assertIn(f"rva {symbols(pdb)['Unique']:#x}".encode(), done.stdout)
        self.exits(0, "hooks", "locate", "Unique", "--tolerate", "pdb-mismatch", "--pdb", other,
                   "--pdb", pdb, path)

    def test_two_files_of_symbols_that_disagree_give_no_place(self):
        path, pdb = build("x64", 1)
        table = self.here / "table.json"
        made = subprocess.run([COLDTRACE, "pe", "isf", pdb], capture_output=True, timeout=60)
        edited = json.loads(made.stdout)
        for change, status in ((0, 0), (16, 1)):
            edited["symbols"]["Unique"]["address"] += change
            table.write_text(json.dumps(edited))
            for files in (pdb, table), (table, pdb):
                options = [part for one in files for part in ("--pdb", one)]
                done = self.exits(status, "hooks", "locate", "Unique", *options, path)
                self.assertEqual(b"symbol-ambiguous" in done.stderr, status == 1, done.stderr)
                self.assertNotIn(b"pdb-mismatch", done.stderr)

    def test_what_is_no_pdb_is_named(self):
        path, pdb = build("x64", 1)
        done = self.exits(1, "hooks", "locate", "Unique", "--pdb", path, "--tolerate",
                          "no-match", path)
        self.assertIn(b"a PE image, not a PDB", done.stderr)
        self.exits(2, "hooks", "locate", "Unique", "--pdb", pdb, self.here / "missing")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
