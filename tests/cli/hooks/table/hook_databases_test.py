"""coldtrace hooks table, hooks show and syscalls map --format sqlite: what the JSON has, and answers to docs/queries.md.

usage: hook_databases_test.py COLDTRACE IMAGES SOURCES DEMO CLANG [unittest arguments]
"""
import contextlib
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest

import hook_table_test
from hook_table_test import COLDTRACE, LACKING, SOURCES, X64, X86, image
from strict import strict_json


class Databases(hook_table_test.Case):
    """--format sqlite has what the JSON has, and docs/queries.md asks it."""

    @classmethod
    def setUpClass(cls):
        text = (SOURCES / "docs/queries.md").read_text()
        cls.queries = {name: sql for name, sql in
                       re.findall(r"^## ((?:Tables|Maps) \d+)\. .*?```sql\n(.*?)```", text, re.M | re.S)}

    def tables(self):
        """A database of two builds, and the document of the same."""
        folder = self.here / "builds"
        for number, (kernel, ntdll) in enumerate((X86, X64)):
            (folder / str(number)).mkdir(parents=True)
            for name in kernel, ntdll:
                path = image(name)
                shutil.copy(path, folder / str(number) / path.name)
        arguments = "table", "--tolerate", LACKING, "--dir", folder
        database = self.here / "builds.sqlite"
        status = subprocess.run([COLDTRACE, "hooks", *map(str, arguments), "--format", "json"], capture_output=True)
        done = subprocess.run([COLDTRACE, "hooks", *map(str, arguments), "--format", "sqlite", "-o", database],
                              capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (status.returncode, status.stderr))
        self.assertIn(done.returncode, (0, 1))
        return database, strict_json(status.stdout)

    @staticmethod
    def asked(database, sql):
        with contextlib.closing(sqlite3.connect(database)) as one:
            return one.execute(sql).fetchall()

    def test_rows_are_those_of_the_document(self):
        database, document = self.tables()
        ask = lambda sql: self.asked(database, sql)
        builds = list(enumerate(document["builds"], 1))
        self.assertEqual(len(builds), 2)
        identity = lambda one: (one["name"], one["machine"], one["file_version"], one["time_date_stamp"], one["size_of_image"],
                                one["checksum"], *([one["pdb"][name] for name in ("name", "guid", "age")] if one["pdb"] else [None] * 3),
                                one["sha256"], int(one["wine"]))
        self.assertEqual(ask("SELECT * FROM image ORDER BY rowid"),
                         [(number, one["role"], one["path"], *identity(one["identity"])) for number, build in builds for one in build["images"]])
        self.assertEqual(
            ask("SELECT build, number, service_table, name, image, target, argument_bytes, stack_argument_bytes, name_hash, "
                "confidence, verified FROM service ORDER BY id"),
            [(number, one["number"], one["table"], (one["names"] or [None])[0], one["image"], one["target"], one["argument_bytes"],
              one["stack_argument_bytes"], one["name_hash"], one["confidence"], int(one["verified"]))
             for number, build in builds for one in build["services"]])
        self.assertEqual(ask("SELECT name FROM service_name ORDER BY rowid"),
                         [(name,) for _, build in builds for one in build["services"] for name in one["names"]])
        entries = [(one["name"], entry["number"], entry["rva"], entry["argument_bytes"], entry["import_module"], entry["import_name"])
                   for _, build in builds for one in build["service_tables"] for entry in one["entries"]]
        self.assertTrue(entries)
        self.assertEqual(ask("SELECT service_table.name, number, service_table_entry.rva, argument_bytes, import_module, import_name "
                             "FROM service_table_entry JOIN service_table ON service_table.id = service_table_entry.service_table "
                             "ORDER BY service_table_entry.rowid"), entries)
        for kind, rows in (("service", [one["evidence"] for _, build in builds for one in build["services"]]),
                           ("service_table", [one["evidence"] for _, build in builds for one in build["service_tables"]])):
            self.assertEqual(ask(f"SELECT id, sentence FROM evidence WHERE owner = '{kind}' ORDER BY rowid"),
                             [(number, sentence) for number, sentences in enumerate(rows, 1) for sentence in sentences])
        self.assertEqual(ask("SELECT build, name, purpose, exported, imported, rva, note FROM supported_interface ORDER BY rowid"),
                         [(number, one["name"], one["purpose"], int(one["exported"]), int(one["imported"]), one["rva"], one["note"])
                          for number, build in builds for one in build["supported_interfaces"]])
        self.assertEqual(ask("SELECT build, image, code, severity, count, first_offset, text FROM build_finding ORDER BY rowid"),
                         [(number, role, *(one[name] for name in ("code", "severity", "count", "first_offset", "text")))
                          for number, build in builds
                          for role, findings in [*((image["role"], image["findings"]) for image in build["images"]),
                                                 ("kernel", build["findings"])] for one in findings])
        self.assertEqual(dict(ask("SELECT * FROM meta")),
                         {"schema": "coldtrace.hook-table-sqlite/1", "tool": document["tool"]})
        self.assertEqual({row[0] for row in ask("SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'")}, {1})
        self.assertEqual(ask("PRAGMA integrity_check"), [("ok",)])

    def test_questions_to_tables(self):
        database, document = self.tables()
        builds = list(enumerate(document["builds"], 1))
        answer = {name: self.asked(database, sql) for name, sql in self.queries.items() if name.startswith("Tables")}
        self.assertEqual(sorted(answer), [f"Tables {number}" for number in range(1, 8)])
        kernels = [(number, next(one["identity"] for one in build["images"] if one["role"] == "kernel")) for number, build in builds]
        self.assertEqual(answer["Tables 1"], [(number, one["name"], one["machine"], one["file_version"], f"{one['time_date_stamp']:08x}")
                                              for number, one in kernels])
        services = [(number, one) for number, build in builds for one in build["services"]]
        self.assertEqual(answer["Tables 2"], sorted((number, one["number"]) for number, one in services if "NtClose" in one["names"]))
        self.assertTrue(answer["Tables 2"])
        numbers = {}
        for number, one in services:
            if one["names"]:
                numbers.setdefault(one["names"][0], []).append((number, one["number"]))
        span = lambda found: (min(one for _, one in found), max(one for _, one in found), len({build for build, _ in found}))
        self.assertEqual(answer["Tables 3"], sorted((name, *span(found)) for name, found in numbers.items() if span(found)[0] != span(found)[1]))
        self.assertEqual(answer["Tables 4"], sorted((name, span(found)[2]) for name, found in numbers.items() if span(found)[2] < 2))
        self.assertEqual(answer["Tables 5"], sorted(((number, one["number"], (one["names"] or [None])[0]) for number, one in services
                                                     if one["target"] is None), key=lambda row: row[:2]))
        self.assertEqual(answer["Tables 6"], [(number, one["number"], sentence) for number, one in services
                                              if one["names"][:1] == ["NtClose"] for sentence in one["evidence"]])
        self.assertEqual([row[:4] for row in answer["Tables 7"]],
                         [(number, one["name"], option["method"], int(option["safe"])) for number, build in builds
                          for one in build["context_switch"]["candidates"] for option in one["plan"]["options"]])

    def test_what_a_binary_table_has(self):
        table = self.binary("one.hooktab", *X86)
        database = self.here / "shown.sqlite"
        self.hooks(0, "show", table, "--format", "sqlite", "-o", database)
        (build,) = self.show(table)["builds"]
        self.assertEqual(self.asked(database, "SELECT number, target FROM service ORDER BY id"),
                         [(one["number"], one["target"]) for one in build["services"]])
        before = table.read_bytes()
        self.hooks(2, "show", table, "--format", "sqlite", "-o", table)
        self.assertEqual(table.read_bytes(), before)

    def test_questions_to_maps(self):
        paths = [image(name) for name in (X86[1], X64[1], "hooked-x64", "hooked-x86")]
        junk = self.here / "junk.dll"
        junk.write_bytes(b"junk")
        database = self.here / "maps.sqlite"
        arguments = [COLDTRACE, "syscalls", "map", *map(str, (*paths, paths[0], junk))]
        done = subprocess.run([*arguments, "--format", "sqlite", "-o", database], capture_output=True)
        plain = subprocess.run([*arguments, "--format", "json"], capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (plain.returncode, plain.stderr))
        images = strict_json(plain.stdout)["images"]
        answer = {name: self.asked(database, sql) for name, sql in self.queries.items() if name.startswith("Maps")}
        self.assertEqual(sorted(answer), [f"Maps {number}" for number in range(1, 5)])
        self.assertEqual(len(images), 5)
        self.assertEqual(answer["Maps 1"], [(one["path"], len(one["services"]), sum(service["hooked"] for service in one["services"]))
                                            for one in images])
        self.assertEqual(answer["Maps 2"], [(one["path"], service["number"], service["name"]) for one in images
                                            for service in one["services"] if service["source"] != "read"])
        self.assertEqual(answer["Maps 3"], [(one["path"], service["number"], service["name"], service["hook"]) for one in images
                                            for service in one["services"] if service["hooked"]])
        self.assertTrue(answer["Maps 3"])
        self.assertEqual(sorted(answer["Maps 4"]), sorted((one["path"], left["name"], left["reason"]) for one in images
                                                          for left in one["rejected"]))
        ask = lambda sql: self.asked(database, sql)
        self.assertEqual(ask("SELECT number, name, service_table, rva, file_offset, argument_bytes, shape, raw_immediate, source, verified "
                             "FROM service ORDER BY id"),
                         [(*(service[name] for name in ("number", "name", "table", "rva", "file_offset", "argument_bytes", "shape",
                                                        "raw_immediate", "source")), int(service["verified"]))
                          for one in images for service in one["services"]])
        self.assertEqual(ask("SELECT name FROM service_alias ORDER BY rowid"),
                         [(name,) for one in images for service in one["services"] for name in service["aliases"]])
        self.assertEqual(ask("SELECT sentence FROM service_evidence ORDER BY rowid"),
                         [(text,) for one in images for service in one["services"] for text in service["evidence"]])
        self.assertEqual(ask("SELECT code, severity, count, first_offset, text FROM image_finding ORDER BY rowid"),
                         [tuple(finding[name] for name in ("code", "severity", "count", "first_offset", "text"))
                          for one in images for finding in one["findings"]])
        self.assertEqual([row[0] for row in ask("SELECT file FROM failed_input")], [str(junk)])
        self.assertEqual(ask("SELECT sha256 FROM image ORDER BY id"), [(one["identity"]["sha256"],) for one in images])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
