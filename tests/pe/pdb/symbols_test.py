"""coldtrace pe symbols against llvm-pdbutil, its schema, and what it promises.

usage: symbols_test.py COLDTRACE PDBUTIL IMAGES SOURCES [unittest arguments]
PDBs that no linker here could make are skipped, and comparisons without llvm-pdbutil too.
"""
import functools
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from strict import strict_csv, strict_json

COLDTRACE, PDBUTIL, IMAGES, SOURCES = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
SEEDS = sorted((SOURCES / "fuzz/corpus/pdb").iterdir())
LINKED = sorted(IMAGES.glob("*/*.pdb"))
# What llvm-pdbutil cannot show: a file without publics stream, and where code was moved to.
COMPARED = [*LINKED, *(path for path in SEEDS if path.name in ("scattered", "in-order", "moved"))]
SCHEMA = json.loads((SOURCES / "docs/schema/pe-symbols.schema.json").read_text())


def run(*arguments):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)


def document(*arguments):
    return strict_json(run("pe", "symbols", "--format", "json", "-q", *arguments).stdout)


once = functools.cache(document)


def file(path, *options):
    """What is said of it; of what the build made, to each question once."""
    only, = (once if path in COMPARED else document)(*options, path)["files"]
    return only


def pdbutil(*arguments):
    if not Path(PDBUTIL).is_file():
        raise unittest.SkipTest("llvm-pdbutil is not installed")
    return subprocess.run([PDBUTIL, *map(str, arguments)], capture_output=True, timeout=120,
                          check=True).stdout.decode("utf-8", "replace")


def image_of(path):
    return next(entry for entry in path.parent.iterdir() if entry.suffix in (".dll", ".exe", ".sys"))


def label(path):
    return str(path.relative_to(path.parents[1]))


class Case(case.Case):
    def linked(self):
        if not LINKED:
            self.skipTest("no linker made PDBs")
        return LINKED


class Agreement(Case):
    def test_every_public_symbol(self):
        total = 0
        for path in COMPARED:
            with self.subTest(pdb=label(path)):
                text = pdbutil("dump", "--publics", path)
                theirs = []
                for name, flags, section, offset in re.findall(
                        r"\| S_PUB32 \[size = \d+\] `(.*)`\n +flags = ([a-z| ]+), "
                        r"addr = (\d+):(\d+)", text):
                    flags = [] if flags == "none" else flags.split(" | ")
                    theirs.append((int(section), int(offset), name, flags))
                self.assertEqual(len(theirs), text.count("S_PUB32"))
                self.assertGreater(len(theirs), 0)
                mine = [(row["section"], row["offset"], row["name"], row["flag_names"])
                        for row in file(path)["symbols"]]
                self.assertEqual(sorted(mine), sorted(theirs))
                total += len(theirs)
        print(f"{total} symbols of {len(COMPARED)} files compared", file=sys.stderr)

    def test_rvas_follow_the_section_headers(self):
        for path in COMPARED:
            if path.name == "moved":
                continue
            with self.subTest(pdb=label(path)):
                text = pdbutil("dump", "--section-headers", path).partition("Original Section")[0]
                bases = [int(base, 16) for base in
                         re.findall(r"^ *([0-9A-F]+) virtual address$", text, re.M)]
                self.assertGreater(len(bases), 0)
                rows = file(path)["symbols"]
                for row in rows:
                    base = bases[row["section"] - 1] if row["section"] <= len(bases) else None
                    self.assertEqual(row["rva"], None if base is None else base + row["offset"])
                rvas = [row["rva"] for row in rows if row["rva"] is not None]
                self.assertEqual(rvas, sorted(rvas))

    def test_every_procedure(self):
        total = 0
        for path in LINKED:
            with self.subTest(pdb=label(path)):
                theirs, module = [], None
                for line in pdbutil("dump", "--symbols", path).splitlines():
                    if found := re.match(r" *Mod \d+ \| `(.*)`:", line):
                        module = found[1]
                    elif found := re.search(r"\| S_([GL])PROC32(?:_ID)? \[.*\] `(.*)`$", line):
                        kind, name = found.groups()
                    elif found := re.match(r" +parent = .*, addr = (\d+):(\d+), code size = (\d+)",
                                           line):
                        theirs.append(("procedure" if kind == "G" else "local_procedure", name,
                                       int(found[1]), int(found[2]), int(found[3]), module))
                mine = [(row["kind"], row["name"], row["section"], row["offset"], row["size"],
                         row["module"]) for row in
                        file(path, "--kind", "procedure,local_procedure")["symbols"]]
                self.assertEqual(sorted(mine), sorted(theirs))
                total += len(theirs)
        self.assertGreater(total, 5)
        print(f"{total} procedures compared", file=sys.stderr)

    def test_names_choose(self):
        path = LINKED[0]
        rows = file(path)["symbols"]
        name = rows[len(rows) // 2]["name"]
        self.assertEqual(file(path, "--name", name)["symbols"],
                         [row for row in rows if row["name"] == name])
        self.assertEqual(file(path, "--name", name[:3] + "*", "--name", name)["symbols"],
                         [row for row in rows if row["name"].startswith(name[:3])])
        # What is not a file is a name, before and behind files.
        for arguments in ((path, name), (name, path), (path, "--name", name)):
            answer = strict_json(run("pe", "symbols", "--format", "json", *arguments).stdout)
            self.assertEqual([one["path"] for one in answer["files"]], [str(path)])
            self.assertEqual([row["name"] for row in answer["files"][0]["symbols"]], [name])
        self.assertEqual([row["name"] for row in file(path, name[:3] + "*", name[:2])["symbols"]],
                         [row["name"] for row in rows if row["name"].startswith(name[:3])])
        for arguments, said in (((name,), name), ((path.with_name("absent.pdb"), name), "absent.pdb"),
                                (("absent.pdb", name), "absent.pdb"), (("./" + name, name), name)):
            done = run("pe", "symbols", *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(said, done.stderr.decode())
            self.assertIn("o such file", done.stderr.decode())
        done = run("pe", "symbols", "absent.pdb", path, name)
        self.assertEqual(done.returncode, 1)
        self.assertIn("absent.pdb: No such file", done.stderr.decode())
        done = run("pe", "symbols", "--name", name + "x", path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), f"no-match.*{re.escape(name)}")

    def test_guid_ages_signature_and_machine(self):
        machines = {"Amd64": "x64", "x86": "x86", "Arm64": "arm64", "ArmNT": "arm32"}
        for path in COMPARED:
            with self.subTest(pdb=label(path)):
                text = pdbutil("pdb2yaml", "--pdb-stream", "--dbi-stream", path)
                mine = file(path)
                stream, dbi = text.split("DbiStream:")
                self.assertEqual(mine["guid"],
                                 re.search(r"Guid: +'\{(.*)\}'", stream)[1].lower())
                self.assertEqual(mine["info_age"], int(re.search(r"Age: +(\d+)", stream)[1]))
                self.assertEqual(mine["age"], int(re.search(r"Age: +(\d+)", dbi)[1]))
                self.assertEqual(mine["signature"],
                                 int(re.search(r"Signature: +(\d+)", stream)[1]))
                machine = re.search(r"MachineType: +(\w+)", dbi)[1]
                self.assertEqual(mine["machine"], machines[machine])

    def test_exports_have_the_addresses_of_their_symbols(self):
        """The image says where its exports are, without any PDB."""
        compared = 0
        for path in self.linked():
            with self.subTest(pdb=label(path)):
                image = image_of(path)
                done = run("pe", "exports", "--format", "json", "-q", "--no-hash", image)
                exports = {row["name"]: row for row in
                           strict_json(done.stdout)["images"][0]["exports"]
                           if row["name"] and not row["is_forwarder"]}
                symbols = {}
                for row in file(path, "--pe", image)["symbols"]:
                    # x86 C names: _Name, _Name@8
                    plain = re.sub(r"^_([^@]+)(@\d+)?$", r"\1", row["name"])
                    for name in {row["name"], plain}:
                        symbols.setdefault(name, set()).add((row["rva"], row["file_offset"]))
                # Exports of ARM32 have the Thumb bit, symbols do not.
                thumb = int("arm32" in label(path))
                for name, row in exports.items():
                    # One export of the trace points' kernels has the name of another function.
                    if name in symbols and name != "NtMoved":
                        self.assertIn((row["rva"] - thumb, row["file_offset"] - thumb),
                                      symbols[name], name)
                        compared += 1
        self.assertGreater(compared, 100)


class Output(Case):
    def check(self, answer):
        json_schema.validate(answer, SCHEMA)

    def test_schema(self):
        for path in [*LINKED, *SEEDS]:
            with self.subTest(pdb=label(path)):
                self.check(document(path))
                self.check(document("--int64", "string", path))
        for path in LINKED:
            self.check(document("--pe", image_of(path), path))

    def test_every_field_and_column_is_documented(self):
        text = (SOURCES / "docs/commands/pe.md").read_text().partition("### pe symbols")[2]
        properties = SCHEMA["properties"]["files"]["items"]["properties"]
        for name in [*properties, *properties["symbols"]["anyOf"][0]["items"]["properties"]]:
            if not name.endswith("_bytes"):
                self.assertRegex(text, rf"\b{name}\b")
        header = run("pe", "symbols", "--format", "csv", SEEDS[0]).stdout.decode().splitlines()[0]
        self.assertIn("| `symbols` | " + header.replace(",", ", ") + " |", text)

    def test_csv_and_text_have_the_rows_of_the_json(self):
        for path in COMPARED:
            with self.subTest(pdb=label(path)):
                rows = file(path)["symbols"]
                table = run("pe", "symbols", "--format", "csv", "-q", path).stdout
                self.assertEqual(
                    [(row["name"], row["rva"], row["section"], row["offset"], row["flags"])
                     for row in strict_csv(table)],
                    [(row["name"], "" if row["rva"] is None else str(row["rva"]),
                      str(row["section"]), str(row["offset"]), str(row["flags"]))
                     for row in rows])
                text = run("pe", "symbols", "-q", path).stdout.decode()
                for row in rows:
                    self.assertRegex(text, rf"{row['section']:04x}:{row['offset']:08x} .*"
                                           + re.escape(row["name"]))

    def test_names_that_are_not_utf_8_keep_their_bytes(self):
        content = next(path for path in SEEDS if path.name == "moved").read_bytes()
        path = self.write("file.pdb", content.replace(b"first", b"fir\xfft"))
        self.check(document(path))
        row, = (row for row in file(path)["symbols"] if "name_bytes" in row)
        self.assertEqual((row["name"], row["name_bytes"]), ("fir\ufffdt", b"fir\xfft".hex()))


class Matching(Case):
    def test_every_pdb_matches_its_own_image_and_no_other(self):
        linked = self.linked()
        for path, other in zip(linked, [*linked[1:], linked[0]]):
            with self.subTest(pdb=label(path)):
                done = run("pe", "symbols", "--pe", image_of(path), "--tolerate",
                           "number-hole", path)
                self.assertIn(b"matches the image", done.stdout)
                self.assertTrue(file(path, "--pe", image_of(path))["matches_image"])
                wrong = run("pe", "symbols", "--pe", image_of(other), path)
                self.assertEqual(wrong.returncode, 1)
                self.assertIn(b"pdb-mismatch", wrong.stderr)
                answer = file(path, "--pe", image_of(other))
                self.assertFalse(answer["matches_image"])
                self.assertEqual({row["file_offset"] for row in answer["symbols"]}, {None})

    def test_an_image_without_a_pdb_matches_none(self):
        done = run("pe", "symbols", "--pe", SOURCES / "fuzz/corpus/pe_image/empty-x64", SEEDS[0])
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"the image names no PDB", done.stderr)

    def test_an_age_that_is_not_the_images_does_not_match(self):
        path = self.linked()[0]
        image = image_of(path)
        content = image.read_bytes()
        at = content.index(b"RSDS") + 20
        changed = self.write("aged.dll", content[:at] + b"\2" + content[at + 1:])
        self.assertEqual(run("pe", "symbols", "-q", "--pe", changed, path).returncode, 1)


class NotSymbols(Case):
    def test_what_it_is_instead_is_said(self):
        image = SOURCES / "fuzz/corpus/pe_image/x64"
        for content, words in ((b"", "it is empty"), (image.read_bytes(), "a PE image, not a PDB"),
                               (b"\x7fELF", "an ELF file (Linux, BSD), not a PDB"),
                               (b"hello", "not a PDB"), (b"BSJB", "portable PDB"),
                               (b"Microsoft MSFZ Container\r\n\x1aALD\0\0", "compressed PDB"),
                               (b"Microsoft C/C++ program database 2.00\r\n", "MSF superblock"),
                               (SEEDS[0].read_bytes()[:600], "MSF")):
            with self.subTest(words=words):
                done = run("pe", "symbols", self.write("file", content))
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr.decode())
                self.assertEqual(done.stdout, b"")

    def test_a_bad_file_among_good_ones_is_named_and_the_others_are_read(self):
        done = run("pe", "symbols", "--format", "json", SEEDS[0], "/bin/sh", SEEDS[0])
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(strict_json(done.stdout)["files"]), 2)
        self.assertIn("/bin/sh: it is an ELF file", done.stderr.decode())

    def test_without_the_image_nothing_is_said(self):
        done = run("pe", "symbols", "--pe", "/bin/sh", SEEDS[0])
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, b"")

    def test_every_block_may_be_the_end(self):
        content = next(path for path in SEEDS if path.name == "scattered").read_bytes()
        for size in range(0, len(content), 256):
            done = run("pe", "symbols", "--format", "json", self.write("cut", content[:size]))
            self.assertIn(done.returncode, (1, 2), size)
            if done.returncode == 1:
                json_schema.validate(strict_json(done.stdout), SCHEMA)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
