"""Trace points in hook tables: hooks plan, show, verify and merge, and the C header.

usage: trace_tables_test.py COLDTRACE IMAGES SOURCES OBJDUMP CLANG WINE [unittest arguments]
"""
import subprocess
import sys
import unittest

from trace_case import CLANG, LACKING, Case, image, schema
import json_schema
from strict import strict_json


class Binary(Case):
    PLACES = ("NtOpenThing", "ZwOpenThing", "NtStart", "NtNoSuchThing", "0x1030", "NtPaged")

    def kernels(self):
        for name in ("trace-points-x64", "trace-points-x86"):
            with self.subTest(name):
                yield image(name)

    def binary(self, kernel, name="plan.hooktab", *more):
        path = self.here / name
        self.hooks(0, "plan", "--tolerate", LACKING, "--kernel", kernel, "--format", "hooktab",
                   "-o", path, *more, "--function", *self.PLACES)
        return path

    def plain(self, kernel):
        path = self.here / "plain.hooktab"
        self.hooks(0, "table", "--tolerate", LACKING, "--kernel", kernel, "--format", "hooktab",
                   "-o", path)
        return path

    def show(self, path):
        document = strict_json(self.hooks(0, "show", "--format", "json", path).stdout)
        json_schema.validate(document, schema("hook-table"))
        return document["builds"][0]["trace_points"]

    def verify(self, status, *arguments):
        done = self.hooks(status, "verify", "--format", "json", "--tolerate", LACKING, *arguments)
        document = strict_json(done.stdout)
        json_schema.validate(document, schema("hook-table-verification"))
        return document

    def test_a_table_has_the_points_of_the_plan(self):
        for kernel in self.kernels():
            self.assertEqual(self.show(self.binary(kernel)),
                             self.kept(self.points(kernel, self.PLACES)))
            text = self.hooks(0, "show", self.binary(kernel)).stdout
            self.assertIn(b"6 trace points\nNtOpenThing: rva", text)

    def test_only_a_table_with_trace_points_is_of_version_1_1(self):
        for kernel in self.kernels():
            for path, minor, sections in ((self.plain(kernel), 0, 18), (self.binary(kernel), 1, 19)):
                data = path.read_bytes()
                self.assertEqual((data[8], data[10], data[20]), (1, minor, sections))
                self.assertEqual(b"TPNT" in data, minor == 1)

    def test_verify_plans_again(self):
        for kernel in self.kernels():
            table = self.binary(kernel)
            self.assertTrue(self.verify(0, table, kernel)["builds"][0]["same"])
            data = bytearray(kernel.read_bytes())
            data[self.show(table)[0]["file_offset"]] = 0x90
            bent = self.write("ntoskrnl.exe", bytes(data))
            paths = {difference["path"] for difference in
                     self.verify(1, table, bent)["builds"][0]["differences"]}
            self.assertIn("trace_points[NtOpenThing].bytes", paths)
            self.assertNotIn("trace_points[NtPaged].bytes", paths)

    def test_names_of_a_pdb_and_of_ntdll_verify_with_these_alone(self):
        services = image("tables-x64-kernel-rva32")
        rows = [(kernel, "HiddenThing", ["--pdb", kernel.with_suffix(".pdb")], [])
                for kernel in self.kernels()]
        rows.append((services, "NtAllocateLocallyUniqueId", [], [image("windows10-x64", "ntdll.dll")]))
        for kernel, name, symbols, users in rows:
            with self.subTest(name):
                table = self.here / "named"
                given = [*symbols, *(["--ntdll", *users] if users else [])]
                self.hooks(0, "plan", "--tolerate", LACKING, "--kernel", kernel, *given, "--format",
                           "hooktab", "-o", table, "--function", name)
                point, = self.show(table)
                self.assertEqual([point], self.kept(self.points(kernel, [name], *given)))
                self.assertTrue(point["eligible"])
                self.verify(0, table, kernel, *users, *symbols)
                if symbols:
                    paths = {difference["path"] for difference in
                             self.verify(1, table, kernel)["builds"][0]["differences"]}
                    self.assertIn(f"trace_points[{name}].rva", paths)

    def test_merge_adds_the_points_to_a_table_that_has_none(self):
        for kernel in self.kernels():
            plan, plain = self.binary(kernel), self.plain(kernel)
            for order in ((plan, plain), (plain, plan)):
                merged = self.here / "merged"
                self.hooks(0, "merge", *order, "-o", merged)
                self.assertEqual(merged.read_bytes(), plan.read_bytes())
            other = self.here / "other.hooktab"
            self.hooks(0, "plan", "--tolerate", LACKING, "--kernel", kernel, "--format", "hooktab",
                       "-o", other, "--function", "NtPaged")
            done = self.hooks(1, "merge", plan, other, "-o", merged)
            self.assertIn(b"build-conflict", done.stderr)
            self.assertEqual(merged.read_bytes(), plan.read_bytes())

    def test_without_evidence_it_still_verifies(self):
        for kernel in self.kernels():
            small = self.binary(kernel, "small.hooktab", "--no-evidence", "--no-hash")
            self.assertLess(small.stat().st_size, self.binary(kernel).stat().st_size)
            self.verify(0, small, kernel)
            self.assertEqual(self.show(small)[0]["boundary"]["evidence"], [])

    def test_the_c_header_compiles_and_has_what_is_eligible(self):
        if "NOTFOUND" in CLANG:
            self.skipTest("no clang")
        for kernel in self.kernels():
            self.hooks(0, "plan", "--tolerate", LACKING, "--kernel", kernel, "--format", "c-header",
                       "-o", self.here / "plan.h", "--function", *self.PLACES)
            eligible = [point for point in self.points(kernel, self.PLACES) if point["eligible"]]
            identity = self.plan(kernel, self.PLACES)["kernel"]["identity"]
            prefix = "coldtrace_%s_%08x_%x_%x" % tuple(
                identity[field] for field in ("machine", "time_date_stamp", "size_of_image",
                                              "checksum"))
            source = self.write("main.c", ('#include "plan.h"\nint points(void);\nint points(void) '
                                           "{ return (int)coldtrace_kernels[0].trace_point_count; }\n"
                                           "char check[sizeof(%s_trace_points) == %d * sizeof(struct"
                                           " coldtrace_kernel_trace_point) ? 1 : -1];\n" % (
                                               prefix, len(eligible))).encode())
            done = subprocess.run([CLANG, "-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror",
                                   "-ffreestanding", "-fsyntax-only", source],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            header = (self.here / "plan.h").read_text()
            self.assertIn("/* no trace point for NtStart: it is in the section INIT", header)
            for point in eligible:
                self.assertIn('{"%s", %#xUL, ' % (point["requested"], point["rva"]), header)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[7:]])
