"""coldtrace hooks table, merge, show and verify on the kernels that clang and lld made.

usage: hook_table_test.py COLDTRACE IMAGES SOURCES DEMO CLANG [unittest arguments]
Images and compilers that are not there are skipped.
"""
import bz2
import csv
import gzip
import io
import json
import lzma
import re
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
import case
from dos_programs import PROGRAMS
from loaded_image import as_loaded
from strict import strict_json

COLDTRACE, IMAGES, SOURCES, DEMO = (Path(argument).resolve() for argument in sys.argv[1:5])
CLANG = sys.argv[5]
SCHEMAS = SOURCES / "docs" / "schema"
# What the made-up kernels without a context switch and accessors lack.
LACKING = "context-switch-not-found,thread-offset-missing"


def image(name):
    for path in sorted((IMAGES / name).glob("*")):
        if path.suffix in (".exe", ".sys", ".dll"):
            return path
    raise unittest.SkipTest(f"no linker made {name}")


X86 = ("tables-x86-kernel", "xp-sp2-x86")
X64 = ("tables-x64-kernel-rva32", "windows10-x64")


class Case(case.Case):
    def hooks(self, status, *arguments):
        done = subprocess.run([COLDTRACE, "hooks", *map(str, arguments)], capture_output=True,
                              timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def table(self, kernel, ntdll, *more, status=0):
        return self.hooks(status, "table", "--tolerate", LACKING, "--kernel", image(kernel),
                          "--ntdll", image(ntdll) if isinstance(ntdll, str) else ntdll, *more)

    def document(self, *arguments, **options):
        document = strict_json(self.table(*arguments, "--format", "json", **options).stdout)
        json_schema.validate(document, json.loads((SCHEMAS / "hook-table.schema.json").read_text()))
        return document

    def binary(self, name, *arguments):
        path = self.here / name
        self.table(*arguments, "--format", "hooktab", "-o", path)
        return path

    def show(self, path):
        document = strict_json(self.hooks(0, "show", "--format", "json", path).stdout)
        json_schema.validate(document, json.loads((SCHEMAS / "hook-table.schema.json").read_text()))
        return document

    def verify(self, status, *arguments):
        done = self.hooks(status, "verify", "--tolerate", LACKING, "--format", "json", *arguments)
        document = strict_json(done.stdout)
        json_schema.validate(document, json.loads(
            (SCHEMAS / "hook-table-verification.schema.json").read_text()))
        return document


def without_run(document):
    """What a binary table keeps: not the paths and findings, which belong to the run."""
    for build in document["builds"]:
        build["findings"] = []
        for entry in build["images"]:
            entry["path"], entry["findings"] = None, []
    document["findings"] = []
    return document


def by_number(document):
    return {service["number"]: service for service in document["builds"][0]["services"]}


class Table(Case):
    def test_services_are_those_of_the_commands_that_look_at_one_side(self):
        for kernel, ntdll in (X86, X64):
            with self.subTest(kernel):
                services = by_number(self.document(kernel, ntdll))
                done = self.hooks(0, "tables", "--format", "json", "--ntdll", image(ntdll),
                                  image(kernel))
                entries = strict_json(done.stdout)["images"][0]["tables"][0]["entries"]
                self.assertEqual(len(services), len(entries))
                for entry in entries:
                    service = services[entry["number"]]
                    self.assertEqual(service["target"], entry["rva"])
                    self.assertEqual(service["names"][:1], [entry["name"]])
                    self.assertEqual(service["image"], "kernel")

    def test_x86_arguments_are_what_the_stubs_of_ntdll_remove(self):
        services = by_number(self.document(*X86))
        done = subprocess.run([COLDTRACE, "syscalls", "map", "--format", "json", image(X86[1])],
                              capture_output=True, timeout=60)
        for stub in strict_json(done.stdout)["images"][0]["services"]:
            service = services[stub["number"]]
            self.assertEqual(service["argument_bytes"], stub["argument_bytes"], stub["name"])
            self.assertTrue(any("removes as many" in text for text in service["evidence"]))

    def test_x64_arguments_are_counted_by_the_services_tab(self):
        document = self.document(*X64)
        services = by_number(document)
        counted = 0
        for record in document["builds"][0]["services_tab"]["records"]:
            if len(record["numbers"]) != 1 or record["name"] is None:
                continue
            service = services[record["numbers"][0]]
            counted += 1
            self.assertEqual(service["argument_bytes"], 8 * record["argument_count"])
            self.assertEqual(service["stack_argument_bytes"],
                             8 * max(0, record["argument_count"] - 4))
            self.assertEqual(service["name_hash"], record["name_hash"])
        self.assertGreater(counted, 30)

    def test_findings_are_of_the_file_whose_offsets_they_have(self):
        kernel, ntdll = DEMO / "demo-ntoskrnl.exe", DEMO / "demo-ntdll.dll"
        done = self.hooks(1, "table", "--kernel", kernel, "--ntdll", ntdll, "--format", "json")
        document = strict_json(done.stdout)
        json_schema.validate(document, json.loads((SCHEMAS / "hook-table.schema.json").read_text()))
        build = document["builds"][0]
        findings = {image["role"]: image["findings"] for image in build["images"]}
        hooked = [one for one in findings["ntdll"] if one["code"] == "hooked-stub"]
        self.assertEqual(len(hooked), 1)
        # E9: a jump stands there in ntdll, and in the kernel's file it does not.
        at = hooked[0]["first_offset"]
        self.assertEqual((ntdll.read_bytes()[at], kernel.read_bytes()[at] == 0xe9), (0xe9, False))
        self.assertNotIn("hooked-stub", [one["code"] for one in build["findings"] + findings["kernel"]])
        line = f"demo-ntdll.dll: warning: hooked-stub at {at:#x}: ".encode()
        self.assertIn(line, done.stderr)
        self.assertEqual(done.stderr.count(b"hooked-stub"), 1)
        self.assertIn(line, self.hooks(1, "locate", "Nt*", image(X64[0]), "--ntdll", ntdll).stderr)

    def test_symbols_name_the_records_of_the_services_tab(self):
        folder = image(X64[0]).parent
        document = strict_json(self.hooks(1, "table", "--kernel", folder / "ntoskrnl.exe", "--pdb",
                                          folder / "ntoskrnl.pdb", "--format", "json").stdout)
        build = document["builds"][0]
        records = build["services_tab"]["records"]
        symbols = subprocess.run([COLDTRACE, "pe", "symbols", folder / "ntoskrnl.pdb"], capture_output=True, timeout=60)
        names = {}
        for name in re.findall(r" (Nt[A-Z]\w+) ", symbols.stdout.decode()):
            hashed = 0
            for character in name[2:].encode():
                mixed = 1025 * (hashed + character) & 0xffffffff
                hashed = mixed >> 6 ^ mixed
            names[hashed] = name
        self.assertEqual([record["name"] for record in records], [names.get(record["name_hash"]) for record in records])
        self.assertEqual(sum(record["name"] is not None for record in records), 42)  # one is of a name that nothing has

    def test_a_kernel_for_ntdll_and_the_other_way_round_are_refused(self):
        """The demo's images have no names of their own that would tell."""
        kernel, ntdll = DEMO / "demo-ntoskrnl.exe", DEMO / "demo-ntdll.dll"
        for arguments in (("hooks", "table", "--kernel", ntdll, "--ntdll", kernel),
                          ("hooks", "table", "--kernel", ntdll), ("syscalls", "check", "--ntdll", kernel, "--kernel", ntdll),
                          ("hooks", "tables", kernel, "--ntdll", kernel),
                          ("hooks", "locate", "NtClose", kernel, "--ntdll", kernel)):
            with self.subTest(arguments=arguments):
                done = subprocess.run([COLDTRACE, *arguments], capture_output=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertRegex(done.stderr.decode(), "its system call stubs are those of an? [a-z0-9 ]+; it is not an? ")
        self.assertEqual(subprocess.run([COLDTRACE, "syscalls", "check", "--ntdll", ntdll, "--kernel", kernel, "--tolerate",
                                         "hooked-stub"], capture_output=True, timeout=60).returncode, 0)

    def test_what_shares_no_name_is_not_compared(self):
        """Wine's kernel has no stubs, and no driver has any."""
        done = subprocess.run([COLDTRACE, "syscalls", "check", "--ntdll", image(X64[1]), "--kernel", image("driver-x86_64")],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"nothing could be compared\n", done.stdout)
        self.assertNotIn(b"below", done.stdout)

    def test_names_that_a_table_lacks_are_the_only_differences(self):
        folder = image(X64[0]).parent
        kernel, pdb = folder / "ntoskrnl.exe", folder / "ntoskrnl.pdb"
        for made, verified, lacks in ((["--pdb", pdb], [], "files"), ([], ["--pdb", pdb], "table")):
            with self.subTest(lacks=lacks):
                table = self.here / "names.hooktab"
                self.hooks(1, "table", "--kernel", kernel, *made, "--format", "hooktab", "-o", table)
                differences = self.verify(1, table, kernel, *verified)["builds"][0]["differences"]
                numbers = {}
                for one in differences:
                    if match := re.match(r"services\[(0x[0-9a-f]{4})( [A-Za-z0-9]+)?\]\.(.*)", one["path"]):
                        numbers.setdefault(match[1], []).append((match[2], match[3]))
                self.assertTrue(numbers)
                for number, found in numbers.items():
                    self.assertEqual(len({name for name, _ in found}), 1, number)
                    values = [value for _, value in found]
                    self.assertEqual(len(values), len(set(values)))
                    self.assertNotIn("target", values)
                    self.assertNotIn("argument_bytes", values)

    def test_another_builds_ntdll_is_a_warning_and_names_nothing(self):
        own = self.document("tables-x64-kernel-va64", X64[1])
        done = self.table("tables-x64-kernel-va64", DEMO / "demo-ntdll.dll", "--format", "json",
                          status=1)
        self.assertIn(b"service-names-other-build", done.stderr)
        for number, service in by_number(strict_json(done.stdout)).items():
            self.assertIn(service["names"], ([], by_number(own)[number]["names"]))
        self.assertLess(sum(bool(service["names"]) for service in
                            by_number(strict_json(done.stdout)).values()), 43)

    def test_arguments_that_contradict_the_stub_are_a_warning_and_no_number(self):
        kernel = bytearray(image(X86[0]).read_bytes())
        arguments = self.document(*X86)["builds"][0]["service_tables"][0]["arguments"]
        done = subprocess.run([COLDTRACE, "pe", "sections", "--format", "json", image(X86[0])],
                              capture_output=True, timeout=60)
        section = max((row for row in strict_json(done.stdout)["images"][0]["sections"]
                       if row["rva"] <= arguments), key=lambda row: row["rva"])
        kernel[arguments - section["rva"] + section["file_offset"]] += 4  # of service 0
        done = self.hooks(1, "table", "--tolerate", LACKING, "--format", "json", "--kernel",
                          self.write("ntoskrnl.exe", bytes(kernel)), "--ntdll", image(X86[1]))
        self.assertIn(b"argument-bytes-differ", done.stderr)
        services = by_number(strict_json(done.stdout))
        self.assertIsNone(services[0]["argument_bytes"])
        self.assertIsNotNone(services[1]["argument_bytes"])

    def test_win32k_services_follow_those_of_the_kernel(self):
        document = self.document(*X64, "--win32u", image("windows10-x64-win32u"),
                                 "--win32k", image("tables-x64-win32k-rva32"))
        numbers = [service["number"] for service in document["builds"][0]["services"]]
        self.assertEqual(numbers, sorted(set(numbers)))
        win32k = [service for service in document["builds"][0]["services"]
                  if service["number"] & 0x1000]
        self.assertEqual({service["image"] for service in win32k}, {"win32k"})
        self.assertEqual(len(win32k), 38)

    def test_usage_errors_are_2(self):
        for arguments in ([], ["--kernel", image(X86[0]), "--dir", self.here],
                          ["--dir", self.here], ["--kernel", self.here]):
            self.hooks(2, "table", *arguments)

    def test_the_c_header_compiles_and_has_every_service(self):
        if "NOTFOUND" in CLANG:
            self.skipTest("no clang")
        header = self.here / "kernels.h"
        self.table(*X86, "--format", "c-header", "-o", header)
        source = self.here / "main.c"
        source.write_text('#include "kernels.h"\n'
                          "int services(void) { return (int)coldtrace_kernels[0].service_count; }\n"
                          "char check[sizeof(coldtrace_x86_%08x_%x_%x_services) ==\n"
                          "           43 * sizeof(struct coldtrace_kernel_service) ? 1 : -1];\n" % (
                              lambda identity: (identity["time_date_stamp"],
                                                identity["size_of_image"], identity["checksum"]))(
                              self.document(*X86)["builds"][0]["images"][0]["identity"]))
        done = subprocess.run([CLANG, "-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror",
                               "-ffreestanding", "-Wno-missing-prototypes", "-fsyntax-only",
                               source], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)


class Switch(Case):
    """Kernels with a context switch, which have no service table."""

    def build(self, name, *options):
        done = subprocess.run([COLDTRACE, "hooks", "table", "--quiet", *options, "--kernel",
                               image(name)], capture_output=True, timeout=60)
        self.assertLess(done.returncode, 2, done.stderr)
        return done.stdout

    def symbols(self, name):
        pdb = image(name).with_suffix(".pdb")
        return ["--pdb", pdb] if pdb.exists() else []

    def test_it_is_what_the_command_for_it_says(self):
        found = 0
        for name in ("switch-7-x86", "switch-10-x64", "switch-twice-x86", "switch-none-x64",
                     "switch-types-x64"):
            for options in ([], self.symbols(name)):
                with self.subTest(name, options=options):
                    document = strict_json(self.build(name, "--format", "json", *options))
                    done = subprocess.run([COLDTRACE, "hooks", "context-switch", "--quiet",
                                           "--format", "json", *options, image(name)],
                                          capture_output=True, timeout=60)
                    own = strict_json(done.stdout)["images"][0]
                    for field in ("context_switch", "thread_offsets", "supported_interfaces"):
                        self.assertEqual(document["builds"][0][field], own[field])
                    found += len(own["context_switch"]["candidates"])
        self.assertGreater(found, 4)

    def test_rivals_for_one_name_are_one_witness_of_a_member(self):
        """Two places that could each be SwapContext keep the stack pointer at one offset; two functions of two names do so
        independently of each other."""
        members = self.write("members", b"_KTHREAD.KernelStack\n")
        for name, names in (("switch-twice-x86", ["SwapContext"] * 2),
                            ("switch-8-x86", ["SwapContext", "EnlightenedSwapContext"])):
            with self.subTest(name):
                code = self.call("objdump", "-d", image(name))
                (offset,) = {int(one, 16) for one in re.findall(r"mov +%esp,0x([0-9a-f]+)\(%e[a-z]+\)", code)}
                (build,) = strict_json(self.build(name, "--format", "json", "--members", members))["builds"]
                candidates = build["context_switch"]["candidates"]
                self.assertEqual([(one["name"], one["kernel_stack_offset"]) for one in candidates],
                                 [(one, offset) for one in names])
                (member,) = build["members"]
                witnesses = sorted(set(names), reverse=True)
                self.assertEqual((member["value"], member["confidence"]), (offset, "low" if len(witnesses) == 1 else "medium"))
                self.assertEqual(sorted(member["evidence"], reverse=True),
                                 [f"{one} keeps the stack pointer there" for one in witnesses])

    def test_a_binary_table_has_all_of_it_and_verifies(self):
        for name in ("switch-7-x86", "switch-10-x64"):
            with self.subTest(name):
                path = self.here / "table"
                options = self.symbols(name)
                self.build(name, "--format", "hooktab", "-o", path, *options)
                self.assertEqual(self.show(path), without_run(strict_json(
                    self.build(name, "--format", "json", *options))))
                done = subprocess.run([COLDTRACE, "hooks", "verify", "--quiet", *options, path,
                                       image(name)], capture_output=True, timeout=60)
                self.assertIn(b"as in the table", done.stdout)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_c_header_compiles(self):
        if "NOTFOUND" in CLANG:
            self.skipTest("no clang")
        for name in ("switch-7-x86", "switch-twice-x86", "switch-10-x64"):
            header = self.here / "kernels.h"
            self.build(name, "--format", "c-header", "-o", header)
            source = self.write("main.c", b'#include "kernels.h"\nunsigned long count(void);\n'
                                          b"unsigned long count(void) {\n"
                                          b"  return coldtrace_kernels[0].switch_count;\n}\n")
            done = subprocess.run([CLANG, "-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror",
                                   "-ffreestanding", "-fsyntax-only", source],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)


class From(Case):
    def folder(self, **builds):
        for name, images in builds.items():
            (self.here / "all" / name).mkdir(parents=True)
            for number, source in enumerate(images):
                shutil.copy(source, self.here / "all" / name / f"{number}-{source.name}")
        return self.here / "all"

    def paired(self, status, folder, *options):
        done = self.hooks(status, "table", "--tolerate", LACKING, "--format", "json", "--dir",
                          folder, *options)
        document = strict_json(done.stdout)
        json_schema.validate(document, json.loads((SCHEMAS / "hook-table.schema.json").read_text()))
        return document

    def test_every_build_has_what_lies_beside_its_kernel(self):
        folder = self.folder(xp=[image(name) for name in X86], ten=[image(name) for name in X64])
        (folder / "xp" / "readme.txt").write_text("MZ is not an image")
        document = self.paired(0, folder)
        self.assertEqual([[entry["role"] for entry in build["images"]]
                          for build in document["builds"]], [["kernel", "ntdll"]] * 2)
        self.assertEqual(document["unpaired"], [])

    def test_images_that_are_cut_off_are_told_and_programs_of_dos_are_not(self):
        folder = self.folder(xp=[image(name) for name in X86])
        for name, program in PROGRAMS.items():
            (folder / name).write_bytes(program)
        whole = self.paired(0, folder)
        kernel = image(X86[0]).read_bytes()
        header, = struct.unpack_from("<I", kernel, 60)
        before = "it is a DOS program, or cut off before its PE header, not a PE image\n"
        for end, text in ((2, "it is cut off inside its DOS header, not a PE image\n"), (63, "it is cut off inside its DOS header, not a PE image\n"),
                          (64, before), (header, before), (header + 3, before), (header + 4, ""), (header + 100, "")):
            cut = folder / "xp" / f"cut{end}.exe"
            cut.write_bytes(kernel[:end])
            done = self.hooks(1, "table", "--tolerate", LACKING, "--format", "json", "--dir", folder)
            self.assertIn(f"coldtrace: {cut}: {text}", done.stderr.decode())
            self.assertEqual(strict_json(done.stdout)["builds"], whole["builds"])
            cut.unlink()

    def test_modules_dumped_from_memory_are_paired_as_their_files(self):
        folder = self.folder(xp=[image(name) for name in X86], ten=[image(name) for name in X64])
        files = self.paired(0, folder)
        for path in folder.glob("*/*"):
            path.write_bytes(as_loaded(path.read_bytes()))
        for options in ((), ("--layout", "memory")):
            dumps = self.paired(0, folder, *options)
            self.assertEqual(dumps["unpaired"], [])
            for build, dumped in zip(files["builds"], dumps["builds"], strict=True):
                self.assertEqual([entry["role"] for entry in dumped["images"]],
                                 ["kernel", "ntdll"])
                self.assertEqual([(service["number"], service["names"], service["target"])
                                  for service in dumped["services"]],
                                 [(service["number"], service["names"], service["target"])
                                  for service in build["services"]])

    def test_several_dumps_are_told_apart_by_their_numbers(self):
        """Which of two is taken is decided by a closer look at both."""
        folder = self.folder(one=[image(X64[0]), image(X64[1])])
        for path in folder.glob("*/*"):
            path.write_bytes(as_loaded(path.read_bytes()))
        demo = as_loaded((DEMO / "demo-ntdll.dll").read_bytes())
        (folder / "one" / "2-demo.dll").write_bytes(
            demo.replace(b"demo-ntdll.dll\0", b"ntdll.dll\0\0\0\0\0\0"))
        build, = self.paired(1, folder)["builds"]
        self.assertEqual([Path(entry["path"]).name for entry in build["images"]],
                         ["0-ntoskrnl.exe", "1-ntdll.dll"])

    def test_a_file_of_the_same_version_elsewhere_is_taken_and_another_machines_is_not(self):
        folder = self.folder(kernel=[image(X64[0])], user=[image(X64[1])],
                             wow64=[image("windows10-wow64")])
        document = self.paired(1, folder)
        self.assertEqual([entry["identity"]["machine"]
                          for entry in document["builds"][0]["images"]], ["x64", "x64"])
        self.assertEqual([(entry["role"], entry["identity"]["machine"])
                          for entry in document["unpaired"]], [("ntdll", "x86")])

    def test_of_two_the_ntdll_that_agrees_with_the_kernel_is_taken(self):
        folder = self.folder(one=[image(X64[0]), image(X64[1])])
        demo = (DEMO / "demo-ntdll.dll").read_bytes()
        (folder / "one" / "0-another-ntdll.dll").write_bytes(
            demo.replace(b"demo-ntdll.dll\0", b"ntdll.dll\0\0\0\0\0\0"))
        document = self.paired(1, folder)
        self.assertEqual([entry["identity"]["name"] for entry in document["builds"][0]["images"]],
                         ["ntoskrnl.exe", "ntdll.dll"])
        self.assertEqual([Path(entry["path"]).name for entry in document["unpaired"]],
                         ["0-another-ntdll.dll"])

    def test_a_copy_of_a_kernel_is_one_build(self):
        folder = self.folder(a=[image(name) for name in X86], b=[image(name) for name in X86])
        document = self.paired(0, folder)
        self.assertEqual(len(document["builds"]), 1)
        self.assertEqual({(entry["role"], entry["reason"]) for entry in document["unpaired"]},
                         {(entry["role"], f"it is the same image as {entry['path']}")
                          for entry in document["builds"][0]["images"]})
        self.assertEqual([(finding["code"], finding["count"]) for finding in document["findings"]],
                         [("image-twice", 2)])

    def test_a_file_with_the_headers_of_another_and_other_bytes_is_a_warning(self):
        folder = self.folder(a=[image(name) for name in X86], b=[image(X86[0])])
        (copy,) = (folder / "b").iterdir()
        content = bytearray(copy.read_bytes())
        content[-1] ^= 1
        copy.write_bytes(bytes(content))
        document = self.paired(1, folder)
        self.assertEqual([finding["code"] for finding in document["findings"]], ["image-conflict"])
        self.assertEqual([entry["path"] for entry in document["unpaired"]], [str(copy)])

    def another_revision(self, path, number_of=None):
        """The bytes of an ntdll of another file version; of one service with another number."""
        content = bytearray(path.read_bytes())
        fixed = content.index(struct.pack("<I", 0xfeef04bd))  # VS_FIXEDFILEINFO
        struct.pack_into("<I", content, fixed + 12, struct.unpack_from("<I", content,
                                                                       fixed + 12)[0] + 1)
        if number_of:
            done = subprocess.run([COLDTRACE, "syscalls", "map", "--format", "json", path],
                                  capture_output=True, timeout=60)
            (stub,) = (row for row in strict_json(done.stdout)["images"][0]["services"]
                       if row["name"] == number_of)
            struct.pack_into("<I", content, stub["file_offset"] + 1, 0x3f0)
        return bytes(content)

    def shared_names(self, kernel, ntdll):
        done = subprocess.run([COLDTRACE, "syscalls", "check", "--format", "json", "--kernel",
                               image(kernel), "--ntdll", image(ntdll)], capture_output=True,
                              timeout=60)
        return strict_json(done.stdout)

    def test_an_ntdll_of_another_revision_names_services_where_every_number_agrees(self):
        for kernel, ntdll in (X86, ("windows7-x86-kernel", X86[1])):
            with self.subTest(kernel):
                folder = self.here / kernel
                (folder / "kernel").mkdir(parents=True)
                (folder / "user").mkdir()
                shutil.copy(image(kernel), folder / "kernel")
                (folder / "user" / "ntdll.dll").write_bytes(self.another_revision(image(ntdll)))
                done = self.hooks(0, "table", "--tolerate", LACKING + ",no-service-table",
                                  "--format", "json", "--dir", folder)
                document = strict_json(done.stdout)
                self.assertEqual(document["unpaired"], [])
                self.assertEqual([finding["code"] for finding in document["findings"]],
                                 ["ntdll-other-revision"])
                (build,) = document["builds"]
                self.assertEqual([entry["role"] for entry in build["images"]],
                                 ["kernel", "ntdll"])
                self.assertNotIn("unnamed-services",
                                 [finding["code"] for finding in build["findings"]])
                check = self.shared_names(kernel, ntdll)
                self.assertGreaterEqual(check["shared"], 16)
                borrowed = [service for service in build["services"]
                            if any("the same number for" in sentence
                                   for sentence in service["evidence"])]
                self.assertTrue(borrowed)
                for service in borrowed:
                    self.assertEqual(service["confidence"], "low")
                    self.assertIn(f"{check['shared']} of {check['shared']} shared names" if
                                  kernel != X86[0] else "of another version",
                                  " ".join(service["evidence"]))

    def test_an_ntdll_of_another_revision_with_one_other_number_names_nothing(self):
        check = self.shared_names(*X86)
        shared = check["shared"]
        done = subprocess.run([COLDTRACE, "pe", "exports", "--format", "json", image(X86[0])],
                              capture_output=True, timeout=60)
        exported = next(row["name"] for row in strict_json(done.stdout)["images"][0]["exports"]
                        if row["name"] and row["name"].startswith("Zw"))
        folder = self.folder(kernel=[image(X86[0])], user=[image(X86[1])])
        (ntdll,) = (folder / "user").iterdir()
        ntdll.write_bytes(self.another_revision(image(X86[1]), "Nt" + exported[2:]))
        document = self.paired(1, folder)
        self.assertEqual([entry["role"] for entry in document["builds"][0]["images"]], ["kernel"])
        reasons = {entry["role"]: entry["reason"] for entry in document["unpaired"]}
        self.assertEqual(set(reasons), {"kernel", "ntdll"})
        for reason in reasons.values():
            self.assertIn(f"{shared - 1} of {shared} shared names", reason)
        self.assertIn("unnamed-services", [finding["code"] for finding in
                                           document["builds"][0]["findings"]])
        done = self.hooks(1, "table", "--tolerate", LACKING, "--dir", folder)
        for entry in document["unpaired"]:
            self.assertIn(f"unpaired {entry['role']} {entry['path']}: {entry['reason']}\n",
                          done.stdout.decode())


class Roles(Case):
    """An image of another role or machine than it is given for is refused, with a sentence."""

    def refused(self, sentence, *arguments):
        done = subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, b""), arguments)
        self.assertIn(sentence, done.stderr.decode(), arguments)

    def test_swapped_roles(self):
        kernel, ntdll = (image(name) for name in X86)
        sentence = "it is a kernel, not an ntdll"
        self.refused(sentence, "syscalls", "check", "--ntdll", kernel, "--kernel", kernel)
        self.refused("it is an ntdll, not a kernel", "syscalls", "check", "--ntdll", ntdll,
                     "--kernel", ntdll)
        self.refused(sentence, "hooks", "table", "--kernel", kernel, "--ntdll", kernel)
        self.refused("it is an ntdll, not a kernel", "hooks", "table", "--kernel", ntdll)
        self.refused(sentence, "hooks", "tables", "--ntdll", kernel, kernel)
        self.refused("not a win32u", "hooks", "tables", "--win32u", ntdll, kernel)
        self.refused(sentence, "hooks", "plan", "--kernel", kernel, "--ntdll", kernel,
                     "--function", "NtClose")
        self.refused("not a kernel", "hooks", "plan", "--kernel", ntdll, "--function", "NtClose")
        self.refused("not a part of win32k", "hooks", "table", "--kernel", kernel, "--win32k",
                     ntdll)
        self.refused(sentence, "hooks", "locate", "NtClose", "--ntdll", kernel, kernel)

    def test_another_machine(self):
        kernel, ntdll = image(X86[0]), image(X64[1])
        sentence = "it is for x64, but"
        self.refused(sentence, "syscalls", "check", "--ntdll", ntdll, "--kernel", kernel)
        self.refused(sentence, "syscalls", "compare", ntdll, image(X86[1]))
        self.refused(sentence, "hooks", "table", "--kernel", kernel, "--ntdll", ntdll)
        self.refused(sentence, "hooks", "tables", "--ntdll", ntdll, kernel)
        self.refused(sentence, "hooks", "plan", "--kernel", kernel, "--ntdll", ntdll,
                     "--function", "NtClose")
        self.refused(sentence, "hooks", "locate", "NtClose", "--ntdll", ntdll, kernel)
        self.refused("it is for x86, but", "hooks", "table", "--kernel", image(X64[0]),
                     "--win32k", image("tables-x86-win32k"))

    def test_one_image_for_two_places(self):
        win32k = image("tables-x64-win32k-rva32")
        self.refused("was already given", "hooks", "table", "--kernel", image(X64[0]), "--win32k",
                     win32k, "--win32k", win32k)

    def test_services_that_were_named_are_not_said_to_have_no_name(self):
        kernel, ntdll = image("windows7-x86-kernel"), image(X86[1])
        done = subprocess.run([COLDTRACE, "syscalls", "check", "--kernel", kernel, "--ntdll",
                               ntdll], capture_output=True, timeout=60)
        self.assertIn(b"kernel stubs that no export names:", done.stdout)
        self.assertNotIn(b"unnamed-services", done.stderr)
        done = self.table("windows7-x86-kernel", X86[1], "--tolerate", "no-service-table")
        self.assertNotIn(b"unnamed-services", done.stderr)
        done = subprocess.run([COLDTRACE, "hooks", "table", "--kernel", kernel],
                              capture_output=True, timeout=60)
        self.assertIn(b"unnamed-services", done.stderr)


class Binary(Case):
    def test_what_was_written_is_shown(self):
        for build in (X86, X64):
            self.assertEqual(self.show(self.binary("a", *build)),
                             without_run(self.document(*build)))

    def test_packed_tables_are_read_as_plain_ones(self):
        table = self.binary("a", *X86)
        plain = self.show(table)
        for pack in (gzip.compress, lzma.compress, bz2.compress):
            packed = self.write("packed", pack(table.read_bytes()))
            self.assertEqual(self.show(packed), plain)
            self.verify(0, packed, *[image(name) for name in X86])
        self.hooks(0, "merge", packed, "-o", self.here / "again")
        self.assertEqual((self.here / "again").read_bytes(), table.read_bytes())
        for content, words in ((packed.read_bytes()[:-20], b"damaged or cut off"),
                               (gzip.compress(b""), b"nothing in it"),
                               (gzip.compress(b"{}"), b"it is JSON")):
            done = self.hooks(2, "show", self.write("broken", content))
            self.assertIn(words, done.stderr)

    def test_merged_tables_have_the_builds_of_both_whatever_the_order(self):
        a, b = self.binary("a", *X86), self.binary("b", *X64)
        self.hooks(0, "merge", a, b, "-o", self.here / "ab")
        self.hooks(0, "merge", b, a, a, "-o", self.here / "ba")
        self.assertEqual((self.here / "ab").read_bytes(), (self.here / "ba").read_bytes())
        self.assertEqual(len(self.show(self.here / "ab")["builds"]), 2)

    def test_two_tables_that_differ_on_a_build_are_a_warning_and_the_first_is_kept(self):
        own = self.binary("own", *X64)
        other = self.here / "other"
        self.hooks(0, "table", "--tolerate", LACKING, "--kernel", image(X64[0]), "--format",
                   "hooktab", "-o", other)
        done = self.hooks(1, "merge", own, other, "-o", self.here / "merged")
        self.assertIn(b"build-conflict", done.stderr)
        self.assertEqual((self.here / "merged").read_bytes(), own.read_bytes())

    def test_verify_agrees_with_the_files_and_names_what_was_changed(self):
        table = self.binary("a", *X86)
        files = [image(name) for name in X86]
        self.assertTrue(self.verify(0, table, *files)["builds"][0]["same"])
        kernel = bytearray(files[0].read_bytes())
        document = self.show(table)
        located = document["builds"][0]["service_tables"][0]
        kernel[located["file_offset"]] ^= 0x10  # the low byte of the first entry's address
        bent = self.write("ntoskrnl.exe", bytes(kernel))
        differences = self.verify(1, table, bent, files[1])["builds"][0]["differences"]
        self.assertIn("services[0x0000 NtAcceptConnectPort].target",
                      [difference["path"] for difference in differences])

    def test_verify_wants_all_images_of_a_build_and_no_others(self):
        table = self.binary("a", *X86)
        document = self.verify(1, table, image(X86[0]))
        self.assertEqual([difference["path"] for difference in
                          document["builds"][0]["differences"]], ["images[ntdll]"])
        document = self.verify(1, table, *[image(name) for name in X86], image(X64[1]))
        self.assertEqual(document["unmatched_files"], [str(image(X64[1]))])

    def test_verify_says_which_file_it_did_not_check(self):
        table = self.binary("a", *X86)
        files = [image(name) for name in X86]
        again = self.write("again.exe", files[0].read_bytes())
        done = self.hooks(0, "verify", "--tolerate", LACKING, table, *files, again)
        self.assertIn(b"image-twice", done.stderr)
        content = bytearray(files[0].read_bytes())
        content[-1] ^= 1
        other = self.write("other.exe", bytes(content))
        done = self.hooks(1, "verify", "--tolerate", LACKING, table, *files, other)
        self.assertIn(b"image-conflict", done.stderr)
        document = self.verify(1, table, *files, other)
        self.assertEqual(([finding["code"] for finding in document["findings"]],
                          document["builds"][0]["same"]), (["image-conflict"], True))

    def test_without_evidence_a_table_is_smaller_and_still_verifies(self):
        full = self.binary("full", *X86)
        small = self.binary("small", *X86, "--no-evidence", "--no-hash")
        self.assertLess(small.stat().st_size, full.stat().st_size // 2)
        self.verify(0, small, *[image(name) for name in X86])

    def test_what_is_no_table_is_named(self):
        later = bytearray(self.binary("a", *X86).read_bytes())
        later[8] = 2
        rows = {"a PE image": (image(X86[0]), b"a PE image"),
                "JSON": (self.write("json", b'{"schema":1}'), b"it is JSON"),
                "an empty file": (self.write("empty", b""), b"empty"),
                "a later version": (self.write("later", bytes(later)), b"version 2"),
                "a cut table": (self.write("cut", bytes(later[:400])), b"version 2"),
                "a missing file": (self.here / "missing", b"No such file")}
        for why, (path, sentence) in rows.items():
            with self.subTest(why):
                for command in (["show", path], ["merge", path, "-o", self.here / "never"],
                                ["verify", path, image(X86[0])]):
                    done = self.hooks(2, *command)
                    self.assertIn(sentence, done.stderr)
        self.assertFalse((self.here / "never").exists())

    def test_the_table_is_the_same_bytes_in_every_run(self):
        self.assertEqual(self.binary("a", *X86).read_bytes(), self.binary("b", *X86).read_bytes())


class Numbers(Case):
    """hooks export j00ru: the layout of windows-syscalls (8a6806ac), read by its three files' rules."""

    def read(self, text, layout):
        """{(family, version): {name: number}} of any of the layouts."""
        found = {}
        if layout == "csv":
            header, *rows = csv.reader(io.StringIO(text))
            self.assertEqual(header[0], "System call")
            self.assertEqual([row[0] for row in rows], sorted(row[0] for row in rows))
            systems = [re.fullmatch(r"(.+) \((.+)\)", cell).groups() for cell in header[1:]]
            for name, *cells in rows:
                self.assertEqual(len(cells), len(systems))
                for system, cell in zip(systems, cells):
                    if cell:
                        self.assertRegex(cell, "^0x[0-9a-f]{4}$")
                        found.setdefault(system, {})[name] = int(cell, 16)
            return found
        for outer, families in strict_json(text.encode()).items():
            for second, third in families.items():
                for inner, value in third.items():
                    if layout == "json-per-system":
                        found.setdefault((outer, second), {})[inner] = value
                    else:
                        found.setdefault((second, inner), {})[outer] = value
        return found

    def test_all_layouts_have_the_numbers_of_the_stubs(self):
        for (kernel, ntdll), system in ((X86, ("Windows XP", "5.1.2600.5512")),
                                        (X64, ("Windows 10", "10.0.19041.1"))):
            with self.subTest(kernel):
                table = self.binary("a.hooktab", kernel, ntdll)
                done = subprocess.run([COLDTRACE, "syscalls", "map", "--format", "json", image(ntdll)],
                                      capture_output=True, timeout=60)
                stubs = {row["name"]: row["number"] for row in strict_json(done.stdout)["images"][0]["services"]
                         if row["number"] < 0x1000}
                for layout in ("json-per-syscall", "json-per-system", "csv"):
                    # Those of the kernel that nothing names are left out, which is told.
                    done = self.hooks(0, "export", "j00ru", "--format", layout, "--tolerate",
                                      "hook-value", table)
                    found = self.read(done.stdout.decode(), layout)
                    self.assertEqual(list(found), [system])
                    unnamed = sum(not row["names"] or row["confidence"] == "low" for row in
                                  self.show(table)["builds"][0]["services"])
                    self.assertEqual(b"hook-value" in done.stderr, unnamed > 0)
                    known = found[system]
                    self.assertGreater(len(known), 5)
                    for name in stubs.keys() & known.keys():
                        self.assertEqual(known[name], stubs[name])
                    self.assertGreater(len(stubs.keys() & known.keys()), len(known) / 2)

    def test_builds_side_by_side(self):
        table = self.binary("a.hooktab", *X64)
        data = bytearray(image(X64[0]).read_bytes())
        fixed = data.index(struct.pack("<I", 0xfeef04bd))
        struct.pack_into("<4H", data, fixed + 8, 0, 10, 7, 22000)
        struct.pack_into("<I", data, struct.unpack_from("<I", data, 0x3c)[0] + 8, 77)
        later = self.write("later.exe", bytes(data))
        other = self.here / "b.hooktab"
        # Without its ntdll it has the names of its own stubs alone.
        self.hooks(0, "table", "--tolerate", LACKING + ",unnamed-services", "--kernel", later,
                   "--format", "hooktab", "-o", other)
        found = {}
        for layout in ("json-per-syscall", "json-per-system", "csv"):
            done = self.hooks(1, "export", "j00ru", "--format", layout, other, table)
            self.assertIn(b"hook-value", done.stderr)
            found[layout] = self.read(done.stdout.decode(), layout)
        self.assertEqual(found["csv"], found["json-per-system"])
        self.assertEqual(found["csv"], found["json-per-syscall"])
        early, late = (found["csv"][key] for key in (("Windows 10", "10.0.19041.1"),
                                                     ("Windows 11 and Server", "10.0.22000.7")))
        self.assertLess(late.keys(), early.keys())
        for name, number in late.items():
            self.assertEqual(early[name], number)
        # Another machine has a table of its own.
        x86 = self.binary("c.hooktab", *X86)
        done = self.hooks(1, "export", "j00ru", table, x86)
        self.assertIn(b"hook-row", done.stderr)
        self.assertEqual(done.stdout, self.hooks(0, "export", "j00ru", table).stdout)
        self.hooks(2, "export", "j00ru", "--table", "win32k", table)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
