"""coldtrace hooks profile check, expand and show, and hooks table --profile.

usage: hook_profile.py COLDTRACE IMAGES SOURCES [unittest arguments]
What is selected is compared with Python's own sets and fnmatch. Images that no compiler here could
build are skipped.
"""
import fnmatch
import gzip
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
import case
from strict import strict_json

COLDTRACE, IMAGES, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:4])
SCHEMAS = SOURCES / "docs" / "schema"
# What the made-up kernels without a context switch and accessors lack.
LACKING = "context-switch-not-found,thread-offset-missing"


def image(name):
    path = IMAGES / name
    if not path.exists():
        raise unittest.SkipTest(f"no compiler built {name}")
    return path


NTDLL, WIN32U = "windows10-x64/ntdll.dll", "windows10-x64-win32u/win32u.dll"
KERNEL, WIN32K = "tables-x64-kernel-rva32/ntoskrnl.exe", "tables-x64-win32k-rva32/win32k.sys"


class Case(case.Case):
    def hooks(self, status, *arguments, **options):
        done = subprocess.run([COLDTRACE, "hooks", *map(str, arguments)], capture_output=True,
                              timeout=120, **options)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def profile(self, status, command, *arguments):
        return self.hooks(status, "profile", command, *arguments)

    def document(self, status, command, *arguments):
        done = self.profile(status, command, "--format", "json", *arguments)
        document = strict_json(done.stdout)
        name = document["schema"].removeprefix("coldtrace.").removesuffix("/1")
        json_schema.validate(document, json.loads((SCHEMAS / f"{name}.schema.json").read_text()))
        return document

    def text(self, name, content):
        return self.write(name, content.encode())

    def names(self, path):
        done = subprocess.run([COLDTRACE, "syscalls", "map", "--format", "json", path],
                              capture_output=True, timeout=60)
        services = strict_json(done.stdout)["images"][0]["services"]
        return {service["name"] for service in services}


class Check(Case):
    def test_a_correct_profile_is_0_and_an_error_is_1_with_its_place(self):
        self.text("common.profile", "group files { Nt*File }\n")
        good = self.text("good.profile", 'include "common.profile"\n@files -NtOpenFile\n')
        done = self.profile(0, "check", good)
        self.assertEqual(done.stdout.decode(), f"{good}: 3 rules, 1 group, 2 files\n")
        document = self.document(0, "check", good)
        self.assertEqual((document["valid"], document["error"], document["unmatched"]),
                         (True, None, None))
        rows = {"NtClose,": ("1:8", "expected"), "@none": ("1:1", "no group 'none'"),
                "\ngroup a { @a }": ("2:11", "part of itself: @a -> @a"),
                'include "bad.profile"': ("1:9", "includes itself"),
                'include "none"': ("1:9", "No such file"), 'include "."': ("1:9", "regular file")}
        for text, (place, message) in rows.items():
            with self.subTest(text):
                bad = self.text("bad.profile", text)
                done = self.profile(1, "check", bad)
                self.assertIn(f"{bad}:{place}: ", done.stdout.decode())
                self.assertIn(message, done.stdout.decode())
                error = self.document(1, "check", bad)["error"]
                self.assertEqual(f"{error['line']}:{error['column']}", place)
                self.assertIn(message, error["message"])
                for command in ("expand", "show"):
                    done = self.profile(2, command, bad)
                    self.assertIn(f"{bad}:{place}: ".encode(), done.stderr)
                    self.assertEqual(done.stdout, b"")

    def test_names_without_a_service_are_warnings_with_their_places(self):
        path = self.text("a.profile", "NtClose\n  NtNothing -Zz*\n")
        done = self.profile(1, "check", path, "--against", image(NTDLL))
        self.assertIn(f"{path}:2:3: no service matches NtNothing\n".encode(), done.stdout)
        self.assertIn(f"{path}:2:13: no service matches -Zz*\n".encode(), done.stdout)
        self.assertIn(b"no-match", done.stderr)
        document = self.document(1, "check", path, "--against", image(NTDLL))
        self.assertEqual([rule["rule"] for rule in document["unmatched"]], ["NtNothing", "-Zz*"])
        self.assertEqual(document["services"], len(self.names(image(NTDLL))))
        self.profile(0, "check", "--tolerate", "no-match", path, "--against",
                     image(NTDLL))
        nothing = self.text("nothing.profile", "-NtClose")
        done = self.profile(1, "check", nothing, "--against", image(NTDLL))
        self.assertIn(b"profile-empty", done.stderr)

    def test_a_group_that_nothing_uses_is_for_information(self):
        path = self.text("a.profile", "group a { NtClose }\nNtClose\n")
        self.assertIn(b"a.profile:1: group 'a' is unused", self.profile(0, "check", path)
                      .stdout)
        self.profile(1, "check", "--fail-on", "profile-group-unused", path)

    def test_includes_start_at_the_folder_of_their_file(self):
        (self.here / "sub").mkdir()
        self.text("main.profile", 'include "sub/one.profile"')
        self.text("sub/one.profile", 'include "two.profile" include "../three.profile"')
        self.text("sub/two.profile", "two")
        self.text("three.profile", "three")
        done = self.hooks(0, "profile", "expand", "main.profile", cwd=self.here)
        self.assertEqual(done.stdout, b"two\nthree\n")
        document = strict_json(self.hooks(0, "profile", "check", "--format", "json", "main.profile",
                                          cwd=self.here).stdout)
        self.assertEqual(document["files"], ["main.profile", "sub/one.profile", "sub/two.profile",
                                             "sub/../three.profile"])

    def test_a_file_under_another_name_is_still_the_same(self):
        self.text("a.profile", 'x\ninclude "b.profile"')
        os.symlink("a.profile", self.here / "b.profile")
        done = self.profile(1, "check", self.here / "a.profile")
        self.assertIn(b"a.profile:2:9: the file includes itself", done.stdout)

    def test_a_pipe_is_not_waited_for(self):
        os.mkfifo(self.here / "pipe")
        path = self.text("a.profile", 'include "pipe"')
        self.assertIn(b"not a regular file", self.profile(1, "check", path).stdout)

    def test_files_that_are_made_when_they_are_read_are_empty(self):
        path = self.text("a.profile", 'NtClose\ninclude "/proc/self/maps"\n')
        self.assertEqual(self.profile(0, "expand", path).stdout, b"NtClose\n")

    def test_what_cannot_be_read_is_2(self):
        path = self.text("a.profile", "NtClose")
        large = self.text("large.profile", " " * ((1 << 20) + 1))
        self.profile(2, "check", self.here / "missing")
        self.profile(2, "check", self.here)
        self.profile(2, "check", large)
        rows = {"missing": b"No such file", ".": b"directory", "json": b"neither JSON",
                "elf": b"ELF", "groups": b"no groups", "globs": b"only names"}
        self.text("json", '{"schema": "other"}')
        shutil.copy(COLDTRACE, self.here / "elf")
        self.text("groups", "group a { }")
        self.text("globs", "Nt*")
        for name, message in rows.items():
            for command in ("check", "expand", "show"):
                done = self.profile(2, command, path, "--against", self.here / name)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, b"")
        self.here.joinpath("image.gz").write_bytes(gzip.compress(image(NTDLL).read_bytes()))
        self.assertIn(b"compressed, and its content is not a list", self.profile(2, "check", path, "--against",
                                                                            self.here / "image.gz").stderr)
        # Standard input is a list of services as a file is, packed too, and no image.
        self.text("list", "NtOpenFile NtClose")
        given = {"list": 0, "image.gz": 2}
        self.here.joinpath("list.gz").write_bytes(gzip.compress(self.here.joinpath("list").read_bytes()))
        for name, status in {**given, "list.gz": 0}.items():
            with self.here.joinpath(name).open("rb") as stream:
                done = subprocess.run([COLDTRACE, "hooks", "profile", "expand", path, "--against", "-"], stdin=stream,
                                      capture_output=True)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(done.stdout, b"" if status else self.profile(
                0, "expand", path, "--against", self.here / "list").stdout)
        # One of several is a finding.
        done = self.profile(1, "expand", path, "--against", self.here / "json", "--against", path)

    def test_a_table_may_begin_with_a_byte_order_mark(self):
        path = self.text("a.profile", "NtClose")
        table = subprocess.run([COLDTRACE, "syscalls", "map", image(NTDLL), "--format", "json"], capture_output=True,
                               check=False).stdout
        marked = self.here / "marked"
        marked.write_bytes(b"\xef\xbb\xbf" + table)
        self.assertEqual(self.profile(0, "expand", path, "--against", marked).stdout, b"NtClose\n")


class Documents(Case):
    def test_the_example_is_a_profile(self):
        text = (SOURCES / "docs/languages/hook-profiles.md").read_text()
        example = text.split("```\n")[1]
        self.assertTrue(example.startswith("# tracer.profile\n"))
        path = self.text("tracer.profile", example)
        self.text("common.profile", "group quiet { NtQuery* Nt*Cursor }")
        self.profile(0, "check", path)
        services = self.text("services.dat", "nt!NtReadFile nt!NtQueryInformationFile "
                                             "nt!NtQueryEaFile nt!NtFlushBuffersFile "
                                             "win32u!NtUserShowCursor win32u!NtUserGetDC")
        done = self.profile(0, "expand", path, "--against", services)
        self.assertEqual(done.stdout, b"NtReadFile\nNtQueryInformationFile\nNtUserGetDC\n")


class Expand(Case):
    def test_the_list_is_what_sets_and_fnmatch_give(self):
        path = self.text("a.profile", "group quiet { NtQuery* NtOpen* -NtOpenKey }\n"
                                      "Nt*File Nt*Key* NtClose\n-@quiet\nwin32u!*C*\n")
        names, user = self.names(image(NTDLL)), self.names(image(WIN32U))
        match = lambda pattern, of: {name for name in of if fnmatch.fnmatchcase(name, pattern)}
        everywhere = names | user
        quiet = match("NtQuery*", everywhere) | match("NtOpen*", everywhere)
        quiet -= {"NtOpenKey"}
        expected = match("Nt*File", everywhere) | match("Nt*Key*", everywhere) | {"NtClose"}
        expected = (expected - quiet) | match("*C*", user)
        done = self.profile(0, "expand", path, "--against", image(NTDLL), "--against",
                            image(WIN32U))
        self.assertEqual(set(done.stdout.decode().splitlines()), expected)
        self.assertGreater(len(expected), 5)
        # The list is a profile, which is expanded to itself.
        again = self.text("again.profile", done.stdout.decode())
        self.assertEqual(self.profile(0, "expand", again, "--against", image(NTDLL), "--against",
                                      image(WIN32U)).stdout, done.stdout)
        document = self.document(0, "expand", path, "--against", image(NTDLL), "--against",
                                 image(WIN32U))
        self.assertEqual({service["names"][0] for service in document["services"]}, expected)

    def test_every_kind_of_list_gives_the_same(self):
        path = self.text("a.profile", "Zw*File -nt!NtClose NtUser*")
        ntdll, kernel = image(NTDLL), image(KERNEL)
        for name, form in (("table.json", "json"), ("table.hooktab", "hooktab")):
            self.hooks(0, "table", "--tolerate", LACKING, "--kernel", kernel, "--ntdll", ntdll,
                       "--win32u", image(WIN32U), "--format", form, "-o", self.here / name)
        subprocess.run([COLDTRACE, "syscalls", "map", "-q", "--format", "json", ntdll,
                        image(WIN32U), "-o", self.here / "map.json"], timeout=60)
        names = sorted(self.names(ntdll) | self.names(image(WIN32U)))
        self.text("names.dat", "\ufeff" + "\r\n".join(names))
        self.hooks(0, "table", "--tolerate", LACKING, "--kernel", kernel, "--ntdll", ntdll, "--win32u", image(WIN32U),
                   "--format", "json", "--int64", "string", "-o", self.here / "strings.json")
        for name in "table.json", "strings.json", "table.hooktab", "map.json", "names.dat":
            self.here.joinpath(f"{name}.gz").write_bytes(gzip.compress(self.here.joinpath(name).read_bytes()))
        lists = [["table.json"], ["table.hooktab"], ["map.json"], [ntdll, image(WIN32U)],
                 ["names.dat"], ["strings.json"], ["table.json.gz"], ["strings.json.gz"], ["table.hooktab.gz"],
                 ["map.json.gz"], ["names.dat.gz"]]
        found = []
        for files in lists:
            against = [part for file in files for part in ("--against", self.here / file)]
            tolerated = "no-match" if files[0] in ("names.dat", "names.dat.gz") else LACKING
            done = self.profile(0, "expand", "--tolerate", tolerated, path, *against)
            found.append(set(done.stdout.decode().splitlines()))
        self.assertTrue(found[0])
        for one, files in zip(found, lists):
            self.assertEqual(one, found[0], files)

    def test_without_a_list_names_are_enough_and_globs_are_not(self):
        plain = self.text("profile.dat", "Get_VMM_Version # VxDMon's\nVMM!Get_Cur_VM_Handle\n")
        done = self.profile(0, "expand", plain)
        self.assertEqual(done.stdout, b"Get_VMM_Version\nGet_Cur_VM_Handle\n")
        groups = self.text("groups.profile", "a @g d group h { c } group g { b @h x -x } group i { y }")
        self.assertEqual(self.profile(0, "expand", groups).stdout, b"a\nb\nc\nd\n")
        globs = self.text("globs.profile", "NtClose NtOpenFile Nt* -NtClose")
        done = self.profile(1, "expand", globs)
        self.assertEqual(done.stdout, b"NtOpenFile\n")
        self.assertIn(b"profile-globs", done.stderr)

    def test_a_name_of_two_modules_has_its_module_where_it_must(self):
        services = self.text("services.dat", "VMM!Begin VPICD!Begin VMM!End VPICD!End")
        path = self.text("a.profile", "vmm!* VPICD!End")
        done = self.profile(0, "expand", path, "--against", services)
        self.assertEqual(done.stdout, b"VMM!Begin\nEnd\n")

    def test_the_file_is_whole_or_not_there(self):
        path = self.text("a.profile", "NtClose")
        out = self.here / "out.profile"
        self.profile(0, "expand", path, "-o", out)
        self.assertEqual(out.read_text(), "NtClose\n")
        self.profile(2, "expand", self.here / "missing", "-o", self.here / "never")
        self.assertFalse((self.here / "never").exists())


class Show(Case):
    def test_modules_are_wholly_partly_or_not_at_all_selected(self):
        services = self.text("services.dat", "VMM!a VMM!b VPICD!a VPICD!b VTD!a loose")
        path = self.text("a.profile", "group pic { VPICD!a }\nVMM!*\n@pic\n")
        document = self.document(0, "show", path, "--against", services)
        self.assertEqual([(module["name"], module["state"], module["selected"],
                           len(module["services"])) for module in document["modules"]],
                         [("VMM", "all", 2, 2), ("VPICD", "some", 1, 2), ("VTD", "none", 0, 1),
                          (None, "none", 0, 1)])
        text = self.profile(0, "show", path, "--against", services).stdout.decode()
        self.assertIn("VPICD: some, 1 of 2 services\n"
                      f"  + a  @pic ({path}:3), VPICD!a ({path}:1)\n  - b\n", text)

    def test_each_service_has_the_rules_that_decide(self):
        path = self.text("a.profile", "Nt*File\n-NtOpenFile\nNtClose -NtClose\n")
        document = self.document(0, "show", path, "--against", image(NTDLL))
        (module,) = document["modules"]
        self.assertEqual((module["name"], module["state"]), ("nt", "some"))
        services = {service["names"][0]: service for service in module["services"]}
        self.assertEqual(set(services), self.names(image(NTDLL)))
        place = lambda name: [(rule["line"], rule["column"], rule["rule"])
                              for rule in services[name]["reason"]]
        self.assertEqual(place("NtCreateFile"), [(1, 1, "Nt*File")])
        self.assertEqual(place("NtOpenFile"), [(2, 1, "-NtOpenFile")])
        self.assertEqual(place("NtClose"), [(3, 9, "-NtClose")])
        self.assertEqual(place("NtYieldExecution"), [])
        self.assertTrue(services["NtCreateFile"]["selected"])
        self.assertFalse(services["NtOpenFile"]["selected"])

    def test_names_cannot_talk_to_the_terminal(self):
        table = {"schema": "coldtrace.hook-table/1", "builds": [{"services": [
            {"number": 0, "names": ["Nt\x1b[31m\"\n"]}, {"number": 1, "names": []}]}]}
        against = self.text("table.json", json.dumps(table))
        path = self.text("a.profile", "*")
        self.assertNotIn(b"\x1b", self.profile(0, "show", path, "--against", against).stdout)
        done = self.profile(0, "expand", "-v", path, "--against", against)
        self.assertEqual(done.stdout, b"")
        self.assertIn(b"2 of 2 selected services have no name that can be written", done.stderr)

    def test_services_without_a_number_are_no_list(self):
        path = self.text("a.profile", "*")
        for number in ({}, {"number": -1}, {"number": 65536}):
            services = [{"number": 0, "names": ["NtClose"]}, {**number, "names": ["NtOpenFile"]}]
            against = self.text("table.json", json.dumps({"schema": "coldtrace.hook-table/1", "builds": [{"services": services}]}))
            done = self.profile(2, "show", path, "--against", against)
            self.assertIn(b"1 of its services has no number", done.stderr)


class Table(Case):
    def table(self, status, *arguments, form="json"):
        return self.hooks(status, "table", "--tolerate", LACKING, "--format", form, *arguments)

    def build(self):
        return ["--kernel", image(KERNEL), "--ntdll", image(NTDLL), "--win32u", image(WIN32U),
                "--win32k", image(WIN32K)]

    def test_services_alone_are_left_out_and_counted(self):
        path = self.text("a.profile", "nt!Nt*File win32k!* -NtOpenFile")
        whole = strict_json(self.table(0, *self.build()).stdout)
        done = self.table(0, "-v", *self.build(), "--profile", path)
        kept = strict_json(done.stdout)
        json_schema.validate(kept, json.loads((SCHEMAS / "hook-table.schema.json").read_text()))
        (before,), (after,) = whole["builds"], kept["builds"]
        expected = [service for service in before["services"]
                    if service["table"] == "win32k" or service["names"] and
                    fnmatch.fnmatchcase(service["names"][0], "Nt*File") and
                    service["names"][0] != "NtOpenFile"]
        self.assertEqual(after["services"], expected)
        left_out = len(before["services"]) - len(expected)
        self.assertIn(f"services-left-out: {left_out} of {len(before['services'])} services"
                      .encode(), done.stderr)
        for part in set(before) - {"services", "findings"}:
            self.assertEqual(after[part], before[part], part)

    def test_all_formats_have_the_same_services(self):
        path = self.text("a.profile", "NtClose NtUser*")
        document = strict_json(self.table(0, *self.build(), "--profile", path).stdout)
        services = document["builds"][0]["services"]
        binary = self.here / "a.hooktab"
        self.table(0, *self.build(), "--profile", path, "-o", binary, form="hooktab")
        shown = strict_json(self.hooks(0, "show", "--format", "json", binary).stdout)
        self.assertEqual(shown["builds"][0]["services"], services)
        text = self.table(0, *self.build(), "--profile", path, form="text").stdout.decode()
        self.assertIn(f"\n{len(services)} services\n", text)
        header = self.table(0, *self.build(), "--profile", path, form="c-header").stdout.decode()
        self.assertEqual(header.count('{"Nt'), len(services))
        # Such a table is verified with its profile.
        files = self.build()[1::2]
        self.hooks(1, "verify", "-q", binary, *files)
        self.hooks(0, "verify", "--tolerate", LACKING, "--profile", path, binary, *files)
        self.assertEqual({module["state"] for module in self.document(
            0, "show", path, "--against", binary)["modules"]}, {"all"})

    def test_a_name_is_unmatched_only_where_no_build_has_it(self):
        for name, files in (("a", [image(KERNEL), image(NTDLL)]),
                            ("b", [image("tables-x86-kernel/ntoskrnl.exe"),
                                   image("xp-sp2-x86/ntdll.dll")])):
            (self.here / name).mkdir()
            for file in files:
                shutil.copy(file, self.here / name)
        found = []
        for build in strict_json(self.table(0, "--dir", self.here).stdout)["builds"]:
            found.append({name for service in build["services"] for name in service["names"]})
        only = sorted(found[0] ^ found[1])
        name = only[0] if only else "NtClose"
        path = self.text("a.profile", f"NtClose {name}")
        kept = strict_json(self.table(0, "--dir", self.here, "--profile", path).stdout)
        self.assertEqual([{n for service in build["services"] for n in service["names"]} - {"NtClose"}
                          for build in kept["builds"]],
                         [{name} & names - {"NtClose"} for names in found])
        path = self.text("a.profile", f"NtClose NtNothing {name}")
        done = self.table(1, "--dir", self.here, "--profile", path)
        document = strict_json(done.stdout)
        self.assertEqual([one["code"] for one in document["findings"]], ["no-match"])
        self.assertIn(b"nothing matches 'NtNothing'", done.stderr)

    def test_a_wrong_profile_is_2_and_nothing_is_written(self):
        path = self.text("a.profile", "NtClose,")
        out = self.here / "never"
        done = self.table(2, *self.build(), "--profile", path, "-o", out)
        self.assertIn(b"a.profile:1:8: expected", done.stderr)
        self.assertFalse(out.exists())
        self.table(2, *self.build(), "--profile", self.here / "missing")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
