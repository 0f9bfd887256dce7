"""The pe commands on real images: schemas, CSV, layouts, and agreement with other programs.

usage: commands_test.py COLDTRACE IMAGES WINE SOURCES SANITIZED [unittest arguments]
Images that no compiler here could build and programs that are not installed are skipped.
"""
import json
import re
import resource
import shutil
import struct
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from loaded_image import as_loaded
from strict import strict_csv, strict_json

COLDTRACE, IMAGES, WINE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:5])
SANITIZED = sys.argv[5] == "1"
COMMANDS = ("info", "exports", "imports", "sections")
SEEDS = SOURCES / "fuzz" / "corpus"
GOOD = sorted([*IMAGES.glob("reader-*/reader.dll"), *WINE.glob("*/*.dll"), *WINE.glob("*/*.exe")])


def run(*arguments, program=COLDTRACE, **options):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=120,
                          **options)


def document(command, path, *options):
    done = run("pe", command, "--format", "json", "-q", *options, path)
    return strict_json(done.stdout)


def image(command, path, *options):
    return document(command, path, *options)["images"][0]


def tool(name):
    path = shutil.which(name)
    if not path:
        raise unittest.SkipTest(f"{name} is not installed")
    return path


def listing(*command):
    return subprocess.run(command, capture_output=True, timeout=120).stdout.decode(
        "utf-8", "replace")


def label(path):
    return str(path.relative_to(path.parents[1]))


class Case(case.Case):
    def good_images(self):
        if not GOOD:
            self.skipTest("no images")
        return GOOD


class Schemas(Case):
    def check(self, command, answer):
        schema = json.loads((SOURCES / f"docs/schema/pe-{command}.schema.json").read_text())
        json_schema.validate(answer, schema)

    def test_good_images(self):
        for path in self.good_images():
            with self.subTest(image=label(path)):
                for command in COMMANDS:
                    self.check(command, document(command, path))

    def test_seeds_in_both_layouts_and_with_details(self):
        for path in sorted((SEEDS / "pe_image").iterdir()):
            for command in COMMANDS:
                for layout in ("file", "memory"):
                    done = run("pe", command, "--format", "json", "-q", "--layout", layout,
                               "--int64", "string", path)
                    if done.returncode != 2:
                        self.check(command, strict_json(done.stdout))
            self.check("info", document("info", path, "--details"))

    def test_every_documented_field_is_in_the_documentation(self):
        text = (SOURCES / "docs/commands/pe.md").read_text()
        for command in COMMANDS:
            schema = json.loads((SOURCES / f"docs/schema/pe-{command}.schema.json").read_text())
            for name in schema["properties"]["images"]["items"]["properties"]:
                if not name.endswith("_bytes"):
                    self.assertRegex(text, rf"\b{name}\b")


class Formats(Case):
    def rows(self, command, path):
        done = run("pe", command, "--format", "csv", "-q", path)
        return strict_csv(done.stdout)

    def test_csv_has_the_rows_of_the_json(self):
        for path in self.good_images():
            with self.subTest(image=label(path)):
                exports = image("exports", path)["exports"]
                rows = self.rows("exports", path)
                self.assertEqual([(int(row["ordinal"]), row["name"], int(row["rva"]),
                                   row["forwarder"]) for row in rows],
                                 [(entry["ordinal"], entry["name"] or "", entry["rva"],
                                   entry["forwarder"] or "") for entry in exports])
                modules = image("imports", path)["modules"]
                self.assertEqual([int(row["slot_rva"]) for row in self.rows("imports", path)],
                                 [entry["slot_rva"] for module in modules
                                  for entry in module["functions"]])
                sections = image("sections", path)["sections"]
                self.assertEqual([row["name"] for row in self.rows("sections", path)],
                                 [entry["name"] or "" for entry in sections])
                row, = self.rows("info", path)
                self.assertEqual(row["sha256"], image("info", path)["identity"]["sha256"])
                self.assertNotIn(None, row)

    def test_csv_columns_are_documented(self):
        text = (SOURCES / "docs/commands/pe.md").read_text()
        for command in COMMANDS:
            header = run("pe", command, "--format", "csv", "-q", SEEDS / "pe_image/x64").stdout
            columns = header.decode().splitlines()[0].split(",")
            self.assertIn(f"| `{command}` | " + ", ".join(columns) + " |", text)

    def test_text_says_the_same(self):
        for path in self.good_images():
            with self.subTest(image=label(path)):
                text = run("pe", "exports", "-q", path).stdout.decode()
                for entry in image("exports", path)["exports"][:50]:
                    self.assertIn(entry["name"] or "-", text)
                self.assertIn(image("info", path)["identity"]["machine"],
                              run("pe", "info", "-q", path).stdout.decode())

    def test_a_bad_file_among_good_ones_is_named_and_the_others_are_read(self):
        good = SEEDS / "pe_image/x64"
        done = run("pe", "info", "--format", "json", good, "/bin/sh", good)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(strict_json(done.stdout)["images"]), 2)
        self.assertIn("/bin/sh: it is an ELF file", done.stderr.decode())


class NotImages(Case):
    def test_what_it_is_instead_is_said(self):
        le = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"LE" + bytes(200)
        ne = le.replace(b"LE", b"NE")
        for content, words in ((b"", "it is empty"), (le, "VxD"), (ne, "NE file"),
                               (b"\x7fELF", "ELF"), (b"\x1f\x8b\x08", "gzip"),
                               (b"!<arch>\n", "archive"), (b"hello", "not a PE image")):
            with self.subTest(words=words):
                done = run("pe", "info", self.write("file", content))
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr.decode())
                self.assertEqual(done.stdout, b"")

    def test_a_directory_is_one(self):
        done = run("pe", "info", self.here)
        self.assertEqual(done.returncode, 2)
        self.assertIn("directory", done.stderr.decode())

    def test_a_damaged_header_is_told_with_its_place(self):
        content = bytearray((SEEDS / "pe_image/x64").read_bytes())
        header, = struct.unpack_from("<I", content, 60)
        content[header + 24] = 7
        done = run("pe", "info", self.write("file", content))
        self.assertEqual(done.returncode, 2)
        self.assertIn("IMAGE_OPTIONAL_HEADER.Magic", done.stderr.decode())


class Layouts(Case):
    def test_a_memory_dump_reads_as_its_file(self):
        for path in self.good_images():
            with self.subTest(image=label(path)):
                dump = self.write("dump", as_loaded(path.read_bytes()))
                for command, key in (("exports", "exports"), ("imports", "modules"),
                                     ("info", "resources")):
                    expected = image(command, path)[key]
                    found = image(command, dump, "--layout", "memory")[key]
                    for rows in (expected, found):
                        for row in rows:
                            for entry in (row, *row.get("functions", [])):
                                entry.pop("file_offset", None)
                                entry.pop("slot_file_offset", None)
                    self.assertEqual(found, expected)

    def test_the_layout_is_recognized(self):
        """A dump without being asked, and a wrong wish both ways."""
        moved = 0
        for path in [*self.good_images(), SEEDS / "pe_image/x64"]:
            with self.subTest(image=label(path)):
                loaded = as_loaded(path.read_bytes())
                tables = [row for row in image("info", path)["directories"] if row["name"] in
                          ("exports", "imports", "resources", "exceptions", "relocations", "debug")]
                if all(row["file_offset"] == row["rva"] for row in tables):
                    continue  # both layouts are one as far as tables go
                moved += 1
                dump = self.write("dump", loaded)

                def answer(file, *options):
                    found = image("sections", file, *options)
                    return found["layout"], [(entry["code"], entry["severity"])
                                             for entry in found["findings"]
                                             if entry["code"].startswith("layout")]
                self.assertEqual(answer(path), ("file", []))
                self.assertEqual(answer(dump), ("memory", [("layout-memory", "info")]))
                self.assertEqual(answer(path, "--layout", "file"), ("file", []))
                self.assertEqual(answer(dump, "--layout", "memory"), ("memory", []))
                self.assertEqual(answer(path, "--layout", "memory"),
                                 ("memory", [("layout-suspect", "warning")]))
                self.assertEqual(answer(dump, "--layout", "file"),
                                 ("file", [("layout-suspect", "warning")]))
                # Modules of a crash dump lack what was paged out or discarded at their end.
                self.assertEqual(answer(self.write("cut", loaded[:len(loaded) * 3 // 4]))[0],
                                 "memory")
        self.assertGreater(moved, 1)

    def dump_with(self, directory, rva, offset, table):
        """The seed as loaded, one directory moved to `rva`, and `table` where a file would have
        that directory: what the layout is, and the findings that say so."""
        dump = bytearray(as_loaded((SEEDS / "pe_image/x64").read_bytes()))
        header, = struct.unpack_from("<I", dump, 60)
        struct.pack_into("<II", dump, header + 24 + 112 + 8 * directory, rva, len(table))
        dump[offset:offset + len(table)] = table
        found = image("exports", self.write("dump", bytes(dump)))
        self.assertEqual(len(found["exports"]) > 0, found["layout"] == "memory")
        return found["layout"], sorted(entry["code"] for entry in found["findings"]
                                       if entry["code"].startswith("layout"))

    def test_what_resembles_a_table_does_not_make_a_file_of_a_dump(self):
        """A C++ FuncInfo in place of debug data, and functions that are none: the first entry
        alone would do."""
        for why, directory, table in (
                ("no file offset of the data",
                 6, struct.pack("<IIHHIIII", 0, 0x19930522, 0, 0, 5, 5, 0x7020, 3)),
                ("a second entry of no type",
                 6, struct.pack("<IIHHIIII", 0, 0, 0, 0, 2, 5, 0x7020, 0x1220) + bytes(28)),
                ("outside of code", 3, struct.pack("<3I", 0x7010, 0x7020, 0x7030)),
                ("descending", 3, struct.pack("<6I", 0x1010, 0x1020, 0x7000, 0x1000, 0x1008, 0x7000)),
                ("pages descending", 5, struct.pack("<IIIIII", 0x2000, 12, 0, 0x1000, 12, 0))):
            with self.subTest(why):
                self.assertEqual(self.dump_with(directory, 0x7080, 0x1280, table),
                                 ("memory", ["layout-memory"]))

    def test_a_table_on_both_sides_is_told(self):
        """The more tables decide, and a word says that one speaks against them."""
        good = struct.pack("<IIHHIIII", 0, 0, 0, 0, 2, 5, 0x7020, 0x1220)
        self.assertEqual(self.dump_with(6, 0x7080, 0x1280, good),
                         ("memory", ["layout-memory", "layout-suspect"]))

    def test_a_file_and_a_dump_are_compared(self):
        names = [path for path in GOOD if path.name == "ntdll.dll"] + sorted(
            IMAGES.glob("windows10-x64/*.dll"))
        if not names:
            self.skipTest("no ntdll")
        for path in names:
            with self.subTest(image=label(path)):
                dump = self.write("dump", as_loaded(path.read_bytes()))
                for first, second in ((path, dump), (dump, path), (dump, dump)):
                    done = run("syscalls", "compare", first, second)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertRegex(done.stdout.decode(), r"the same [\d,]+ services, with the same numbers")

    def test_text_without_a_hash_does_not_read_the_file(self):
        """Nor CSV: half a gigabyte behind an image does not fit into what memory there is."""
        if SANITIZED:
            self.skipTest("AddressSanitizer needs more address space than the limit leaves")
        path = self.write("large.dll", (SEEDS / "pe_image/x64").read_bytes())
        with path.open("r+b") as file:
            file.truncate(512 << 20)

        def narrow():
            resource.setrlimit(resource.RLIMIT_AS, (160 << 20, 160 << 20))
        for command in ("pe sections", "pe exports", "pe imports", "syscalls map", "hooks tables"):
            for form in ("text", "csv"):
                with self.subTest(command=command, format=form):
                    done = run(*command.split(), "--format", form, path, preexec_fn=narrow)
                    self.assertNotIn(b"memory", done.stderr)
                    self.assertLess(done.returncode, 2, done.stderr)
        whole = run("pe", "sections", "--format", "json", path, preexec_fn=narrow)
        self.assertNotEqual(whole.returncode, 0)


class Agreement(Case):
    """objdump, readpe and LIEF read the same, except where they are known to be wrong."""

    def test_objdump_exports(self):
        objdump = tool("objdump")
        for path in self.good_images():
            with self.subTest(image=label(path)):
                if "arm" in label(path):
                    continue  # binutils on amd64 does not know the machine
                text = listing(objdump, "-p", path)
                addresses = {int(index): int(rva, 16) for index, rva in re.findall(
                    r"^\t\[ *(\d+)\] \+base\[ *\d+\] +([0-9a-f]+) ", text, re.M)}
                names = text.partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
                named = re.findall(r"^\t\[ *(\d+)\](?: \+base\[ *\d+\] +[0-9a-f]+)? (\S+)$", names,
                                   re.M)
                mine = image("exports", path)
                base = mine["ordinal_base"] or 0
                self.assertEqual({entry["ordinal"] - base: entry["rva"]
                                  for entry in mine["exports"]}, addresses)
                self.assertEqual(sorted((entry["ordinal"] - base, entry["name"])
                                        for entry in mine["exports"] if entry["name"]),
                                 sorted((int(index), name) for index, name in named))

    def test_objdump_imports(self):
        objdump = tool("objdump")
        for path in self.good_images():
            with self.subTest(image=label(path)):
                if "arm" in label(path):
                    continue
                text = listing(objdump, "-p", path)
                theirs = []
                for block in text.split("\tDLL Name: ")[1:]:
                    name, _, rest = block.partition("\n")
                    for line in rest.split("\n\n")[0].splitlines()[1:]:
                        found = re.match(r"\t([0-9a-f]+)\t *(\d+) +(\S+)", line)
                        self.assertTrue(found, line)
                        by_ordinal = found[3] == "<none>" or int(found[1], 16) >> 31
                        theirs.append((name, None if by_ordinal else found[3],
                                       int(found[2]) if by_ordinal else None))
                mine = [(module["name"], entry["name"], entry["ordinal"])
                        for module in image("imports", path)["modules"] if not module["delayed"]
                        for entry in module["functions"]]
                self.assertEqual(mine, theirs)

    def test_objdump_functions_and_relocations(self):
        objdump = tool("objdump")
        for path in self.good_images():
            with self.subTest(image=label(path)):
                if "arm" in label(path):
                    continue
                text = listing(objdump, "-p", path)
                counts = image("info", path)["counts"]
                fixups = re.findall(r"^\treloc +\d+ offset +[0-9a-f]+ \[[0-9a-f]+\] (\w+)", text,
                                    re.M)
                self.assertEqual(counts["relocations"], sum(kind != "ABSOLUTE" for kind in fixups))
                if image("info", path)["identity"]["machine"] == "x64":
                    table = text.partition("The Function Table")[2].partition("\n\n")[0]
                    rows = re.findall(r"^ [0-9a-f]{16}:\t[0-9a-f]{16} ", table, re.M)
                    self.assertEqual(counts["functions"], len(rows))

    def test_readpe_headers_exports_and_sections(self):
        readpe = tool("readpe")
        for path in self.good_images():
            with self.subTest(image=label(path)):
                theirs = json.loads(listing(readpe, "-f", "json", "-A", path), strict=False)
                mine = image("info", path)
                optional = theirs["Optional/Image header"]

                def number(key):
                    return int(optional[key].split()[0], 0)

                headers = mine["headers"]
                for key, value in (("Entrypoint", headers["entry_point_rva"]),
                                   ("ImageBase", headers["image_base"]),
                                   ("Alignment of sections", headers["section_alignment"]),
                                   ("Alignment factor", headers["file_alignment"]),
                                   ("Size of image", mine["identity"]["size_of_image"]),
                                   ("Size of headers", headers["size_of_headers"]),
                                   ("Checksum", mine["identity"]["checksum"]),
                                   ("DLL characteristics", headers["dll_characteristics"])):
                    self.assertEqual(number(key), value, key)
                exports = sorted((int(entry["Ordinal"]), int(entry["Address"], 0),
                                  entry["Name"].partition(" -> ")[0])
                                 for module in theirs.get("Exported functions", [])
                                 for entry in module["Functions"])
                self.assertEqual(sorted({(entry["ordinal"], entry["rva"], entry["name"] or "")
                                         for entry in image("exports", path)["exports"]}),
                                 sorted(set(exports)))
                self.assertEqual(
                    [int(section["Virtual Address"], 0) for section in theirs["Sections"]],
                    [section["rva"] for section in image("sections", path)["sections"]])

    def test_llvm_readobj_symbol_file(self):
        readobj = next(filter(None, map(shutil.which, ("llvm-readobj-14", "llvm-readobj"))), None)
        if not readobj:
            self.skipTest("llvm-readobj is not installed")
        for path in self.good_images():
            with self.subTest(image=label(path)):
                text = listing(readobj, "--coff-debug-directory", path)
                # Before LLVM 15 as bytes in parentheses, later as a GUID in braces.
                stored = re.search(r"PDBGUID: \(([0-9A-F ]+)\)", text)
                printed = re.search(r"PDBGUID: \{([0-9A-F-]+)\}", text)
                guid = (str(uuid.UUID(bytes_le=bytes.fromhex(stored[1]))) if stored
                        else printed and printed[1].lower())
                pdb = image("info", path)["identity"]["pdb"]
                self.assertEqual(pdb and pdb["guid"], guid)
                if pdb:
                    self.assertIn(f"PDBFileName: {pdb['name']}\n", text)

    def test_lief_resources_and_tls(self):
        for path in self.good_images():
            with self.subTest(image=label(path)):
                mine = image("info", path, "--details")
                theirs = mine["details"]
                if theirs["signatures"] is None:
                    self.skipTest("LIEF is not installed")
                flat = []
                for kind in (theirs["resources"] or {"children": []})["children"]:
                    for name in kind["children"]:
                        for leaf in name["children"]:
                            flat.append((kind["id"], name["id"], leaf["id"], leaf["size"]))
                self.assertEqual([(entry["type"], entry["name"], entry["language"], entry["size"])
                                  for entry in mine["resources"]], flat)
                self.assertEqual(mine["tls"] and mine["tls"]["callbacks"],
                                 theirs["tls"] and theirs["tls"]["callbacks"])


class Text(Case):
    def test_info_leads_with_what_people_come_for(self):
        for path in self.good_images():
            with self.subTest(image=label(path)):
                mine = image("info", path)
                text = run("pe", "info", "-q", path).stdout.decode()
                lines = text.splitlines()
                self.assertRegex(lines[1], "^  version ")
                self.assertRegex(lines[2], f"^  machine +{mine['identity']['machine']} ")
                if pdb := mine["identity"]["pdb"]:
                    self.assertRegex(text, f"  PDB GUID and age +{pdb['guid']}, {pdb['age']}\n")
                    name = re.split(r"[/\\]", pdb["name"])[-1]
                    key = pdb["guid"].replace("-", "").upper() + f"{pdb['age']:x}"
                    self.assertEqual(mine["symbol_server_path"], f"{name}/{key}/{name}")
                    self.assertIn(f"  symbol server path  {name}/{key}/{name}\n", text)
                else:
                    self.assertIsNone(mine["symbol_server_path"])
                self.assertIn(f"  SHA-256             {mine['identity']['sha256']}\n", text)
                self.assertIn(f"  checksum            stored {mine['identity']['checksum']:#x}, "
                              f"computed {mine['headers']['computed_checksum']:#x}", text)
                for section in image("sections", path)["sections"]:
                    access = "".join(letter if name in section["flags"] else "-" for letter, name in
                                     (("r", "readable"), ("w", "writable"), ("x", "executable")))
                    self.assertRegex(text, rf"    {re.escape(section['name'])} +{access} +{section['rva']:#010x} ")
                # One line for all resources, however many there are.
                resource, = (line for line in lines if line.startswith("  resources"))
                self.assertEqual(sum(int(count.replace(",", "")) for count in
                                     re.findall(r"(\d[\d,]*) [^,()]+ \([\d,]+ bytes?\)", resource)),
                                 len(mine["resources"]))
                self.assertLess(len(lines), 60 + mine["counts"]["sections"])


class Details(Case):
    """Whatever the helper program does, coldtrace goes on."""

    def with_helper(self, script):
        """A coldtrace of its own whose helper is `script`, or absent."""
        program = self.here / "bin" / "coldtrace"
        program.parent.mkdir()
        shutil.copy(COLDTRACE, program)
        if script is not None:
            helper = self.here / "libexec" / "coldtrace" / "coldtrace-pe-details"
            helper.parent.mkdir(parents=True)
            helper.write_text("#!/bin/sh\n" + script + "\n")
            helper.chmod(0o755)
        # The sandbox would keep the script from running programs of its own.
        done = run("pe", "info", "--details", "--no-sandbox", "--format", "json", SEEDS / "pe_image/x64",
                   program=program)
        self.assertEqual(done.returncode, 1, done.stderr)
        only, = strict_json(done.stdout)["images"]
        for name in ("signatures", "tls", "resources"):
            self.assertIsNone(only["details"][name])
        self.assertEqual(len(only["details"]["sections"]), only["counts"]["sections"])
        finding, = [entry for entry in only["findings"] if entry["code"] == "details-helper"]
        return finding["text"]

    def test_absent(self):
        self.assertIn("not installed", self.with_helper(None))

    def test_crash(self):
        self.assertIn("signal 11", self.with_helper("kill -SEGV $$"))

    def test_refusal(self):
        self.assertIn("exit status 3", self.with_helper("exit 3"))

    def test_nonsense(self):
        self.assertIn("not the expected JSON", self.with_helper("echo '{\"signatures\":'"))

    def test_another_object(self):
        self.assertIn("not the expected JSON", self.with_helper("echo '{}'"))

    def test_depth(self):
        self.assertIn("not the expected JSON", self.with_helper(
            "printf '{\"signatures\":[],\"refused\":false,\"tls\":null,\"resources\":'"
            "; i=0; while [ $i -lt 1000 ]; do printf '{\"a\":'; i=$((i+1)); done"))

    def test_endless_answer(self):
        self.assertIn("more than", self.with_helper("while :; do echo aaaaaaaaaaaaaaaa; done"))

    def test_hang(self):
        self.assertRegex(self.with_helper("while :; do :; done"), "signal|in time")

    def test_lief_survives_the_seeds(self):
        for path in sorted((SEEDS / "pe_image").iterdir()):
            done = run("pe", "info", "--details", "--format", "json", path)
            self.assertIn(done.returncode, (0, 1), done.stderr)


class Hostile(Case):
    """Damaged headers under a limited address space: an answer, never a crash or a hang."""

    def setUp(self):
        super().setUp()
        if SANITIZED:
            self.skipTest("AddressSanitizer needs more address space than the limit leaves")

    def examine(self, content):
        path = self.write("file", content)
        limit = 160 << 20  # 64 MiB of data, and the program's own libraries

        def narrow():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        for command in COMMANDS:
            for layout in ("file", "memory"):
                done = run("pe", command, "--format", "json", "--layout", layout, path,
                           preexec_fn=narrow)
                self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                self.assertNotIn(b"bad_alloc", done.stderr)
                if done.returncode != 2:
                    strict_json(done.stdout)

    def test_header_fields(self):
        good = (SEEDS / "pe_image/x64").read_bytes()
        header, = struct.unpack_from("<I", good, 60)
        directories = header + 24 + 112
        sections = header + 24 + 240
        for why, at, value in (("65,535 sections", header + 6, b"\xff\xff"),
                               ("zero alignment", header + 24 + 32, bytes(8)),
                               ("all directories everywhere", directories, b"\xff" * 128),
                               ("exports in themselves", directories, good[directories:][:8]),
                               ("a section of 4 GiB", sections + 8, b"\xff" * 12),
                               ("a section that wraps", sections + 12, b"\xff\xf0\xff\xff"),
                               ("an image of 4 GiB", header + 24 + 56, b"\xff" * 4)):
            with self.subTest(why=why):
                self.examine(good[:at] + value + good[at + len(value):])

    def test_export_counts(self):
        good = bytearray((SEEDS / "pe_image/x64").read_bytes())
        at = image("info", SEEDS / "pe_image/x64")["directories"][0]["file_offset"]
        good[at + 20:at + 28] = b"\xff" * 8
        self.examine(bytes(good))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
