"""Names of images that are not UTF-8, or empty: what llvm-readobj and objdump read is what the commands give.

usage: names_test.py COLDTRACE IMAGES SOURCES READOBJ [unittest arguments]
"""
import json
import os
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
import json_schema
from strict import strict_json
from table_image import FIRST, debug_table, export_table, import_table, table_image

COLDTRACE, IMAGES, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:4])
READOBJ = sys.argv[4]


def run(*arguments, status=0):
    done = subprocess.run([COLDTRACE, *map(os.fspath, arguments)], capture_output=True, timeout=120)
    assert done.returncode == status, done.stderr + done.stdout
    return done.stdout


def fffd(name):
    """Each byte that is not UTF-8 is one U+FFFD."""
    return re.sub("[\udc80-\udcff]", "\ufffd", name.decode("utf-8", "surrogateescape"))


class Case(case.Case):
    def document(self, command, path, status=0):
        document = strict_json(run("pe", command, "--format", "json", path, status=status))
        json_schema.validate(document, json.loads((SOURCES / f"docs/schema/pe-{command}.schema.json").read_text()))
        return document["images"][0]

    def readobj(self, path, *options):
        if "NOTFOUND" in READOBJ:
            self.skipTest("no llvm-readobj")
        return subprocess.run([READOBJ, *options, path], capture_output=True, check=True).stdout

    def beside(self, row, name="name"):
        """The bytes of a name: those beside it, else its own."""
        self.assertEqual(row.get(f"{name}_bytes") is not None, "\ufffd" in row[name])
        own = bytes.fromhex(row[f"{name}_bytes"]) if f"{name}_bytes" in row else row[name].encode()
        self.assertEqual(fffd(own), row[name])
        return own


class Identities(Case):
    NAMES = (b"plain.dll", "na\u00efve.dll".encode(), b"na\xefve.dll", b"\xff", b"a\xed\xa0\x80.dll")

    def test_bytes_stand_beside_a_name_that_is_no_utf_8(self):
        for name in self.NAMES:
            pdb = b"D:\\\xc4\xee\\" + name + b".pdb" if name != b"plain.dll" else b"plain.pdb"
            path = self.write("one.dll", table_image({0: export_table(name, [b"Alpha"]), 6: debug_table(pdb)}))
            told = re.search(rb"PDBFileName: (.*)\n", self.readobj(path, "--coff-debug-directory"))[1]
            exported = subprocess.run(["objdump", "-p", path], capture_output=True, check=True).stdout
            module = re.search(rb"^Name \t+[0-9a-f]+ (.*)$", exported, re.M)[1]
            for command in ("info", "exports", "imports", "sections"):
                with self.subTest(name=name, command=command):
                    identity = self.document(command, path)["identity"]
                    self.assertEqual(self.beside(identity), module)
                    self.assertEqual(self.beside(identity["pdb"]), told)

    def test_no_symbol_server_is_asked_for_such_a_name(self):
        path = self.write("one.dll", table_image({6: debug_table(b"D:\\\xc4\xee.pdb")}))
        image = self.document("info", path)
        self.assertIsNone(image["symbol_server_path"])
        (finding,) = (one for one in image["findings"] if one["code"] == "codeview-name")
        self.assertEqual((finding["severity"], finding["count"]), ("info", 1))
        self.assertIn(b"symbol server path    none: the file name is not UTF-8\n",
                      re.sub(rb"path +none", b"path    none", run("pe", "info", path)))
        # Characters beyond ASCII are not an obstacle.
        path = self.write("two.dll", table_image({6: debug_table("D:\\naïve.pdb".encode())}))
        image = self.document("info", path)
        self.assertEqual(image["symbol_server_path"], "naïve.pdb/030201000504070608090A0B0C0D0E0F1/naïve.pdb")
        self.assertNotIn("codeview-name", [one["code"] for one in image["findings"]])
        # Nor are folders that no server is asked for; in Shift-JIS 0x955c is one character.
        path = self.write("three.dll", table_image({6: debug_table("C:\\\u8868.pdb".encode("cp932"))}))
        self.assertIsNone(self.document("info", path)["symbol_server_path"])
        path = self.write("three.dll", table_image({6: debug_table(b"D:\\\xc4\xeer\\driver.pdb")}))
        image = self.document("info", path)
        self.assertEqual(image["symbol_server_path"], "driver.pdb/030201000504070608090A0B0C0D0E0F1/driver.pdb")
        self.assertEqual([one["text"] for one in image["findings"] if one["code"] == "codeview-name"],
                         ["the name of the PDB is not UTF-8: D:\\\ufffd\ufffdr\\driver.pdb"])

    def test_a_portable_pdb_is_kept_without_its_age(self):
        """Servers have FFFFFFFF in its place (SSQP). What llvm-readobj says of the entry decides which of them is one."""
        for version, key in (((0, 0), "1"), ((0x100, 0), "1"), ((0x100, 0x504d), "FFFFFFFF")):
            with self.subTest(version=version):
                path = self.write("one.dll", table_image({6: debug_table(b"/_/obj/one.pdb", version=version)}))
                image = self.document("info", path)
                self.assertEqual((image["identity"]["pdb"]["age"], image["findings"]), (1, []))
                self.assertEqual(image["symbol_server_path"], f"one.pdb/030201000504070608090A0B0C0D0E0F{key}/one.pdb")
                self.assertIn(image["symbol_server_path"].encode(), run("pe", "info", path))
                told = self.readobj(path, "--coff-debug-directory").decode()
                self.assertEqual("MinorVersion: 0x504D" in told, key == "FFFFFFFF")

    def test_a_hook_table_that_is_read_again_keeps_them(self):
        folders = sorted(IMAGES.glob("switch-10-x64"))
        if not folders:
            self.skipTest("no linker made a kernel")
        kernel = folders[0] / "ntoskrnl.exe"
        done = subprocess.run([COLDTRACE, "hooks", "table", "--kernel", kernel, "--format", "json"],
                              capture_output=True, timeout=120)
        document = strict_json(done.stdout)
        (image,) = (one for one in document["builds"][0]["images"] if one["role"] == "kernel")
        name = b"nt\xf6s.exe"
        image["identity"].update({"name": fffd(name), "name_bytes": name.hex()})
        image["identity"]["pdb"] = {"name": "\ufffd.pdb", "name_bytes": b"\xf6.pdb".hex(), "guid": None, "age": 1}
        json_schema.validate(document, json.loads((SOURCES / "docs/schema/hook-table.schema.json").read_text()))
        def serviced(document):
            table = self.write("table.json", json.dumps(document).encode())
            return subprocess.run([COLDTRACE, "servicing", kernel, kernel, "--hook-table", table],
                                  capture_output=True, timeout=120)
        done = serviced(document)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        page = run("report", self.here / "table.json")
        self.assertIn(b"kernel: nt\\xf6s.exe", page)
        for odd in ("", "f", "xy", 7, None):  # not as they are written
            image["identity"]["name_bytes"] = odd
            self.assertEqual(serviced(document).returncode, 2, odd)
        image["identity"].update({"name": "ntos.exe"})
        del image["identity"]["name_bytes"]
        # Of a service, and of the path of its file.
        path, name = b"/f\xf6/ntos.exe", b"NtWhat\xf6"
        service = {"number": 1, "table": "nt", "names": [], "image": "kernel", "target": 4096, "argument_bytes": 8,
                   "stack_argument_bytes": None, "name_hash": None, "confidence": "high", "verified": True, "evidence": []}
        document["builds"][0]["services"] = [service]
        image.update({"path": fffd(path), "path_bytes": path.hex()})
        service.update({"names": [fffd(name), "NtOther"], "names_bytes": [name.hex(), None]})
        json_schema.validate(document, json.loads((SOURCES / "docs/schema/hook-table.schema.json").read_text()))
        self.assertIn(serviced(document).returncode, (0, 1))
        self.assertIn(b"NtWhat\\xf6", run("report", self.here / "table.json"))
        for odd in ([None], [name.hex(), 7], ["", None], name.hex()):
            service["names_bytes"] = odd
            self.assertEqual(serviced(document).returncode, 2, odd)


class Lists(Case):
    """Arrays of names, and paths: what stands beside them has the bytes of those that are not UTF-8 alone."""

    def test_paths_of_images(self):
        path = self.write("plain", table_image({0: export_table(b"one.dll", [b"Alpha"])}))
        odd = os.fsencode(self.here) + b"/n\xefve.dll"
        os.rename(path, odd)
        for command in ("info", "exports", "imports", "sections"):
            self.assertEqual(self.beside(self.document(command, odd), "path"), odd)
        for schema, *command in (("syscall-map", "syscalls", "map"), ("service-tables", "hooks", "tables"),
                                 ("hook-locations", "hooks", "locate", "Alpha")):
            done = subprocess.run([COLDTRACE, *command, "--format", "json", odd], capture_output=True, timeout=120)
            document = strict_json(done.stdout)
            json_schema.validate(document, json.loads((SOURCES / f"docs/schema/{schema}.schema.json").read_text()))
            self.assertEqual(self.beside(document["images"][0], "path"), odd)

    def test_names_of_an_ordinal(self):
        names = [b"Al\xffpha", b"Beta"]
        table, size = export_table(b"odd.dll", names)(FIRST)
        at = 40 + 4 * 2 + 4 * 2  # behind functions and names: both names are of the first function
        table = table[:at] + struct.pack("<HH", 0, 0) + table[at + 4:]
        self.write("odd.dll", table_image({0: lambda rva: (table, size)}))
        program = self.write("one.dll", table_image({1: import_table(b"odd.dll", [1, b"Beta", b"Al\xffpha"])}))
        done = subprocess.run([COLDTRACE, "hooks", "iat", "--format", "json", program], capture_output=True, timeout=120)
        plan = strict_json(done.stdout)
        json_schema.validate(plan, json.loads((SOURCES / "docs/schema/iat-plan.schema.json").read_text()))
        (module,) = (one for one in plan["modules"] if one["name"] == "one.dll")
        by_ordinal, by_name, by_odd_name = sorted(module["slots"], key=lambda slot: slot["slot_rva"])
        expected = ["Al\ufffdpha", "Beta"], [names[0].hex(), None]
        self.assertEqual((by_ordinal["function"]["names_of_ordinal"], by_ordinal["function"]["names_of_ordinal_bytes"]), expected)
        for slot in (by_ordinal, by_name, by_odd_name):
            self.assertEqual((slot["target"]["names"], slot["target"]["names_bytes"]), expected)
        self.assertEqual(self.beside(by_odd_name["function"]), names[0])
        self.assertNotIn("names_of_ordinal_bytes", by_name["function"])


class EmptyNames(Case):
    def plan(self, program):
        done = subprocess.run([COLDTRACE, "hooks", "iat", "--format", "json", program], capture_output=True, timeout=120)
        plan = strict_json(done.stdout)
        json_schema.validate(plan, json.loads((SOURCES / "docs/schema/iat-plan.schema.json").read_text()))
        return plan

    def test_an_empty_name_is_one(self):
        names, count = [b"", b"Alpha", b"Be\xffta"], 5
        path = self.write("one.dll", table_image({0: export_table(b"one.dll", names, count),
                                                  1: import_table(b"KERNEL32.dll", [b"", b"Sleep", 7])}))
        told = subprocess.run(["objdump", "-p", path], capture_output=True, check=True).stdout
        table = told[told.index(b"[Ordinal/Name Pointer] Table"):]
        named = {int(index) + 1: name for index, name in re.findall(rb"\[ *(\d+)\] (.*)\n", table)}
        self.assertEqual(named, dict(enumerate(names, 1)))
        exports = self.document("exports", path)["exports"]
        self.assertEqual({row["ordinal"]: self.beside(row) if row["name"] is not None else None for row in exports},
                         {ordinal: named.get(ordinal) for ordinal in range(1, count + 1)})
        (module,) = self.document("imports", path)["modules"]
        self.assertEqual([(row["name"], row["ordinal"]) for row in module["functions"]],
                         [("", None), ("Sleep", None), (None, 7)])
        self.assertEqual(re.findall(rb"^ +\d+  0x\w+  \S+ +(\S+)$", run("pe", "exports", path), re.M),
                         [b'""', b"Alpha", b"Be\\xffta", b"-", b"-"])
        self.assertIn(b'""', run("pe", "imports", path))

    def test_an_empty_name_of_a_module_is_one(self):
        path = self.write("one.dll", table_image({0: export_table(b"", [b"Alpha"]), 1: import_table(b"", [b"Sleep"])}))
        self.assertEqual(self.document("exports", path)["module_name"], "")
        (module,) = self.document("imports", path)["modules"]
        self.assertEqual(module["name"], "")
        self.assertIn(b'""', run("pe", "imports", path))
        self.assertIn(b'of ""', run("pe", "exports", path))

    def test_a_name_of_a_module_that_cannot_be_read_is_none(self):
        path = table_image({0: export_table(b"one.dll", [b"Alpha"]), 1: import_table(b"KERNEL32.dll", [b"Sleep"])})
        exports, imports = 0x200, path.index(b"KERNEL32.dll")
        descriptor = path.index(struct.pack("<I", 0x1000 - 0x200 + imports))
        for at in (exports + 12, descriptor):
            path = path[:at] + struct.pack("<I", 0x7fff_0000) + path[at + 4:]
        path = self.write("one.dll", path)
        self.assertIsNone(self.document("exports", path)["module_name"])
        (module,) = self.document("imports", path, status=1)["modules"]
        self.assertIsNone(module["name"])

    def test_an_empty_name_of_an_import_is_one_in_a_plan(self):
        """The slot of an empty name leads to the export of that name, as any other."""
        exporter = self.write("kernel32.dll", table_image({0: export_table(b"kernel32.dll", [b"", b"Sleep"])}))
        program = self.write("one.dll", table_image({1: import_table(b"KERNEL32.dll", [b"", b"Sleep", 2, 9])}))
        (module,) = [module for module in self.plan(program)["modules"] if module["name"] == "one.dll"]
        self.assertEqual([(slot["function"]["name"], slot["function"]["ordinal"], slot["target"]["name"],
                           slot["target"]["ordinal"], slot["target"]["outcome"]) for slot in module["slots"]],
                         [("", None, "", 1, "resolved"), ("Sleep", None, "Sleep", 2, "resolved"),
                          (None, 2, "Sleep", 2, "resolved"), (None, 9, None, 9, "no_function")])
        exporter.unlink()
        (module,) = [module for module in self.plan(program)["modules"] if module["name"] == "one.dll"]
        self.assertEqual([(slot["target"]["name"], slot["target"]["ordinal"]) for slot in module["slots"]],
                         [("", None), ("Sleep", None), (None, 2), (None, 9)])

    def test_a_name_that_cannot_be_read_is_none(self):
        content = table_image({1: import_table(b"KERNEL32.dll", [b"Sleep"])})
        lookup = 0x200 + 40
        content = content[:lookup] + struct.pack("<Q", 0x7fff_0000) + content[lookup + 8:]
        (module,) = self.document("imports", self.write("one.dll", content), status=1)["modules"]
        self.assertEqual([(row["name"], row["ordinal"]) for row in module["functions"]], [(None, None)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
