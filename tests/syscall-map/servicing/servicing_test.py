"""coldtrace servicing: what an update changed, against what compiler and linker were told.

usage: servicing_test.py COLDTRACE SOURCES IMAGES CLANG LLD MAKE_SCHEMA_FILES [unittest arguments]
Modules are made here; what differs between them is read by a reader of this file, or is what was compiled. Where nothing can be
made the rest is skipped.
"""
import gzip
import json
import os
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import case
from code_image import code_image
from dos_programs import PROGRAMS
from strict import strict_json
from version_resource import version_resource

COLDTRACE, SOURCES, IMAGES = (Path(argument).resolve() for argument in sys.argv[1:4])
CLANG, LLD, MAKE = sys.argv[4:7]
SCHEMA = json_schema.of(
    json.loads((SOURCES / "docs/schema/servicing.schema.json").read_text()))
API_SETS = SOURCES / "fuzz/corpus/pe_image/api-set-schema-version-6"
STATES = ("survives", "moved", "unproved", "changed", "gone", "added")
# What the made-up kernels lack.
LACKING = "no-service-table,no-services,context-switch-not-found,thread-offset-missing,member-missing"


class Image:
    """Exports and imports of a PE32+ or PE32 file, by the structures of "PE Format"."""

    def __init__(self, path):
        self.data = data = path.read_bytes()
        pe = struct.unpack_from("<I", data, 60)[0]
        self.machine, sections = struct.unpack_from("<HH", data, pe + 4)
        optional = struct.unpack_from("<H", data, pe + 20)[0]
        self.wide = struct.unpack_from("<H", data, pe + 24)[0] == 0x20b
        self.directories = pe + 24 + (112 if self.wide else 96)
        self.sections = [struct.unpack_from("<IIII", data, pe + 24 + optional + 40 * i + 8)
                         for i in range(sections)]
        self.stamp = struct.unpack_from("<I", data, pe + 8)[0]

    def at(self, rva):
        for size, address, stored, offset in self.sections:
            if address <= rva < address + max(size, stored):
                return rva - address + offset
        raise AssertionError(hex(rva))

    def text(self, rva):
        at = self.at(rva)
        return self.data[at:self.data.index(b"\0", at)].decode()

    def number(self, rva, form="<I"):
        return struct.unpack_from(form, self.data, self.at(rva))[0]

    def exports(self):
        """Name (or ordinal) to ordinal, RVA and forwarder."""
        start, size = struct.unpack_from("<II", self.data, self.directories)
        if not start:
            return {}
        base, functions, names, at, name_at, ordinal_at = struct.unpack_from(
            "<6I", self.data, self.at(start) + 16)
        rows = {}
        named = {self.number(ordinal_at + 2 * i, "<H"): self.text(self.number(name_at + 4 * i))
                 for i in range(names)}
        for i in range(functions):
            rva = self.number(at + 4 * i)
            forwarder = self.text(rva) if start <= rva < start + size else None
            if rva:
                rows[named.get(i, i + base)] = (i + base, rva, forwarder)
        return rows

    def imports(self):
        """(DLL, name or ordinal, delayed)"""
        found = set()
        for directory, step, names, lookup in ((1, 20, 12, 0), (13, 32, 4, 16)):
            at = struct.unpack_from("<I", self.data, self.directories + 8 * directory)[0]
            while at and self.number(at + names):
                dll, slot = self.text(self.number(at + names)), self.number(at + lookup)
                form, step_slot = ("<Q", 8) if self.wide else ("<I", 4)
                while value := self.number(slot, form):
                    ordinal = value >> (63 if self.wide else 31)
                    found.add((dll.lower(), value & 0xffff if ordinal else self.text(value + 2),
                               directory == 13))
                    slot += step_slot
                at += step
        return found


class Case(case.Case):
    def call(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def servicing(self, status, *arguments, env=None):
        done = subprocess.run([COLDTRACE, "servicing", *map(str, arguments)], capture_output=True,
                              timeout=120, cwd=self.here)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def document(self, status, *arguments):
        document = strict_json(self.servicing(status, *arguments, "--format", "json").stdout)
        SCHEMA.validate(document)
        return document

    def folder(self, name, files):
        """A folder of these files: content by place."""
        for place, content in files.items():
            path = self.here / name / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read_bytes() if isinstance(content, Path) else content)
        return self.here / name

    def made(self):
        if "NOTFOUND" in CLANG + LLD:
            self.skipTest("no clang or lld-link")


def other_code(content):
    """The same image with another byte of code."""
    return content[:0x200] + bytes([content[0x200] ^ 1]) + content[0x201:]


class Modules(Case):
    LIBRARIES = {"k": "Plain\nSecond\nLast @5 NONAME", "late": "Late", "fresh": "NewOne"}
    SOURCE = """
int Plain(void); int Second(void); int Last(void); int Late(void); int NewOne(void);
void *__delayLoadHelper2(void *a, void *b) { return a ? b : 0; }
int Kept(int x) { return x + Plain(); }
int Moved(int x) { return x * 3; }
#ifdef AFTER
int Fresh(void) { return NewOne() + Late() + Last(); }
#else
int Padding(int x) { for (int i = 0; i < x; ++i) x ^= i * 77; return x; }
int Gone(void) { return Second() + Late(); }
#endif
int Nameless(void) { return 9; }
"""
    BEFORE = "EXPORTS\nKept @7\nMoved @8\nGone @9\nNameless @20 NONAME\nThere=k.Plain\nPadding\n"
    AFTER = "EXPORTS\nKept @7\nMoved @18\nFresh @9\nNameless @20 NONAME\nThere=k.Second\nPadding=k.Plain\n"

    def libraries(self):
        source = self.write("all.c", b"".join(f"int {name}(void) {{ return 1; }}\n".encode() for name in (
            "Plain", "Second", "Last", "Late", "NewOne")))
        self.call(CLANG, "--target=x86_64-pc-windows-msvc", "-w", "-ffreestanding", "-c", source, "-o",
                  self.here / "all.obj")
        for name, exports in self.LIBRARIES.items():
            definition = self.write(name + ".def", f"LIBRARY {name}.dll\nEXPORTS\n{exports}\n".encode())
            self.call(LLD, "/dll", "/noentry", "/nodefaultlib", f"/def:{definition}",
                      f"/out:{self.here / name}.dll", f"/implib:{self.here / name}.lib", self.here / "all.obj")
            yield self.here / (name + ".lib")

    def build(self, name, after, version):
        source = self.write("m.c", self.SOURCE.encode())
        definition = self.write("m.def", (self.AFTER if after else self.BEFORE).encode())
        resource = self.write("v.res", version_resource(version))
        self.call(CLANG, "--target=x86_64-pc-windows-msvc", "-O1", "-w", "-ffreestanding",
                  *(["-DAFTER"] if after else []), "-c", source, "-o", self.here / "m.obj")
        self.call(LLD, "/dll", "/noentry", "/nodefaultlib", "/debug", "/brepro", "/machine:x64",
                  f"/def:{definition}", f"/out:{self.here / name}", "/delayload:late.dll",
                  self.here / "m.obj", resource, *self.libraries())
        return self.here / name

    def test_exports_imports_and_identity_are_what_another_reader_reads(self):
        self.made()
        old = self.folder("old", {"drivers/m.dll": self.build("m.dll", False, (10, 0, 1, 5))})
        new = self.folder("new", {"drivers/M.DLL": self.build("m.dll", True, (10, 0, 1, 7))})
        before, after = Image(old / "drivers/m.dll"), Image(new / "drivers/M.DLL")
        document = self.document(0, old, new)
        module, = document["modules"]
        self.assertEqual((module["change"], module["paired_by"], module["name"], module["role"]),
                         ("changed", "path", "M.DLL", None))
        self.assertEqual(document["counts"], {"same": 0, "changed": 1, "added": 0, "removed": 0})
        for side, image in (("before", before), ("after", after)):
            self.assertEqual(module[side]["identity"]["time_date_stamp"], image.stamp)
            self.assertEqual(module[side]["file_size"], len(image.data))
            self.assertEqual(document[side]["modules"], 1)
        self.assertEqual([module[side]["identity"]["file_version"] for side in ("before", "after")],
                         ["10.0.1.5", "10.0.1.7"])
        self.assertLessEqual({"file_version", "pdb", "time_date_stamp"},
                             set(module["identity_changes"]))

        was, now = before.exports(), after.exports()
        self.assertIn("Gone", was)
        expected = {}
        for key in was.keys() | now.keys():
            sides = [dict(zip(("ordinal", "rva", "forwarder"), row)) if row else None
                     for row in (was.get(key), now.get(key))]
            if sides[0] != sides[1]:
                expected[key] = sides
        exports = module["exports"]
        found = {change["name"] or (change["before"] or change["after"])["ordinal"]:
                 [change["before"], change["after"]] for change in exports["changes"]}
        # That the text of a forwarder lies elsewhere is not a change.
        self.assertEqual(found, expected)
        self.assertLessEqual({"Fresh", "Gone", "Moved", "Padding", "There"}, set(found))
        self.assertEqual((exports["before"], exports["after"]), (len(was), len(now)))
        self.assertEqual((exports["added"], exports["removed"], exports["renumbered"],
                          exports["redirected"]),
                         (1, 1, sum(row[0]["ordinal"] != row[1]["ordinal"] for row in found.values()
                                    if row[0] and row[1]), 2))
        self.assertEqual(exports["moved"],
                         sum(row[0]["rva"] != row[1]["rva"] for row in found.values()
                             if row[0] and row[1] and not row[0]["forwarder"] and
                             not row[1]["forwarder"]))

        was, now = before.imports(), after.imports()
        self.assertIn(("late.dll", "Late", True), was)
        self.assertIn(("k.dll", 5, False), now)
        imports = module["imports"]
        listed = lambda side: {(dll["dll"], row["name"] or row["ordinal"], row["delayed"])
                               for dll in imports["dlls"] for row in dll[side]}
        self.assertEqual(listed("added"), now - was)
        self.assertEqual(listed("removed"), was - now)
        self.assertEqual((imports["before"], imports["after"], imports["added"], imports["removed"]),
                         (len(was), len(now), len(now - was), len(was - now)))
        self.assertEqual([dll["dll"] for dll in imports["dlls"] if dll["before"] == 0], ["fresh.dll"])

        text = self.servicing(0, old, new).stdout.decode()
        self.assertIn("changed drivers/m.dll -> drivers/M.DLL x64 10.0.1.5 -> 10.0.1.7\n", text)
        self.assertIn("    - Gone\n", text)
        self.assertIn("    ~ There: k.Plain -> k.Second\n", text)
        self.assertIn("    fresh.dll (new)\n      + NewOne\n", text)
        self.assertEqual(self.document(0, old, old)["counts"],
                         {"same": 1, "changed": 0, "added": 0, "removed": 0})
        for jobs in ("1", "3"):
            self.assertEqual(self.document(0, old, new, "-j", jobs), document)

    def test_modules_are_paired_by_place_then_by_names_that_are_there_once(self):
        one, two, three = (code_image(bytes([byte])) for byte in (0xc3, 0x90, 0xcc))
        small = bytearray(one)
        small[68:70] = b"\xaa\x64"  # another machine
        struct.pack_into("<H", small, 68, 0xaa64)
        old = self.folder("old", {
            "same.dll": one, "Case.dll": one, "a/both.dll": one, "b/both.dll": two,
            "x/moved.dll": one, "store/1/many.dll": one, "store/2/many.dll": two,
            "machine.dll": one, "gone.dll": one, "text.txt": b"MS", "none.dll": b"", "far/same.dll": three})
        new = self.folder("new", {
            "same.dll": one, "case.DLL": two, "a/both.dll": two, "b/both.dll": two,
            "y/moved.dll": two, "store/3/many.dll": one, "store/4/many.dll": two,
            "machine.dll": bytes(small), "fresh.dll": one, "text.txt": b"hello", "far/same.dll": three})
        document = self.document(0, "-v", old, new)
        found = sorted((row["change"], (row["before"] or {}).get("place"),
                        (row["after"] or {}).get("place"), row["paired_by"])
                       for row in document["modules"])
        self.assertEqual({row[0:3] for row in found}, {
            ("changed", "Case.dll", "case.DLL"), ("changed", "a/both.dll", "a/both.dll"),
            ("changed", "x/moved.dll", "y/moved.dll"),
            ("removed", "store/1/many.dll", None), ("removed", "store/2/many.dll", None),
            ("added", None, "store/3/many.dll"), ("added", None, "store/4/many.dll"),
            ("removed", "machine.dll", None), ("added", None, "machine.dll"),
            ("removed", "gone.dll", None), ("added", None, "fresh.dll")})
        self.assertEqual({row[1]: row[3] for row in found if row[0] == "changed"},
                         {"Case.dll": "path", "a/both.dll": "path", "x/moved.dll": "file_name"})
        self.assertEqual(document["counts"], {"same": 3, "changed": 3, "added": 4, "removed": 4})
        self.assertEqual([document[side]["other_files"] for side in ("before", "after")], [2, 1])
        self.assertIn("servicing-ambiguous", {row["code"] for row in document["findings"]})
        order = [(row["after"] or row["before"])["place"].lower() for row in document["modules"]]
        self.assertEqual(order, sorted(order))
        # Without hashes the bytes tell, and nothing else changes.
        bare = self.document(0, "--no-hash", old, new)
        self.assertEqual(bare["counts"], document["counts"])
        self.assertIsNone(bare["modules"][0]["after"]["identity"]["sha256"])

    def test_two_images_are_compared_as_they_are_named(self):
        one = self.write("one.dll", code_image(b"\xc3"))
        two = self.write("two.dll", code_image(b"\x90\xc3"))
        module, = self.document(0, one, two)["modules"]
        self.assertEqual((module["paired_by"], module["name"]), ("given", "two.dll"))
        self.assertEqual(self.document(0, one, one)["modules"], [])
        ntdll = IMAGES / "windows10-x64/ntdll.dll"
        kernel = IMAGES / "tables-x64-kernel-rva32/ntoskrnl.exe"
        other = IMAGES / "xp-sp2-x86/ntdll.dll"
        if not (ntdll.exists() and kernel.exists() and other.exists()):
            self.skipTest("no compiler built the images")
        document = self.document(0, ntdll, kernel)
        self.assertIn("servicing-names", {row["code"] for row in document["findings"]})
        self.servicing(2, ntdll, other)

    def test_api_sets_are_told_by_their_hosts(self):
        content = API_SETS.read_bytes()
        host = "kernelbase.dll".encode("utf-16-le")
        if host not in content:
            host = next(name.encode("utf-16-le") for name in ("kernel32.dll", "base.dll", "middle.dll")
                        if name.encode("utf-16-le") in content)
        at = content.index(host)
        changed = content[:at] + "q".encode("utf-16-le") + content[at + 2:]
        old = self.folder("old", {"apisetschema.dll": content})
        new = self.folder("new", {"apisetschema.dll": changed})
        sets = self.document(0, old, new)["modules"][0]["api_sets"]
        self.assertEqual((sets["version_before"], sets["added"], sets["removed"], sets["comparable"]),
                         (6, 0, 0, True))
        self.assertGreater(sets["changed"], 0)
        name = host.decode("utf-16-le")
        hosts = [{row["dll"] for row in sets["changes"][0][side]} for side in ("before", "after")]
        self.assertIn(name, hosts[0])
        self.assertIn("q" + name[1:], hosts[1])
        earlier = self.folder("earlier", {
            "apisetschema.dll": API_SETS.with_name("api-set-schema-version-4")})
        sets = self.document(0, earlier, old)["modules"][0]["api_sets"]
        self.assertEqual((sets["comparable"], sets["changes"], sets["version_before"]),
                         (False, [], 4))

    def test_hosts_that_differ_in_unpaired_surrogates_differ(self):
        content = API_SETS.read_bytes()
        host = next(name for name in ("kernelbase.dll", "kernel32.dll", "base.dll", "middle.dll") if name.encode("utf-16-le") in content)
        names = [surrogate + host[1:] for surrogate in ("\ud800", "\udc01")]
        units = [name.encode("utf-16-le", "surrogatepass") for name in names]
        folders = [self.folder(f"{side}", {"apisetschema.dll": content.replace(host.encode("utf-16-le"), one)}) for side, one in enumerate(units)]
        sets = self.document(0, *folders)["modules"][0]["api_sets"]
        self.assertGreater(sets["changed"], 0)
        for side, one in zip(("before", "after"), units):
            self.assertIn(("\ufffd" + host[1:], one.hex()), [(row["dll"], row.get("dll_utf16")) for row in sets["changes"][0][side]])
        text = self.servicing(0, *folders).stdout
        for escape in "\\ud800", "\\udc01":
            self.assertIn(escape + host[1:], text if isinstance(text, str) else text.decode())

    def test_declared_events_are_those_of_the_files_writer(self):
        """make_schema_files gives the newer file a field more."""
        files = self.here / "schemas"
        subprocess.run([MAKE, files], check=True, timeout=60)
        document = self.document(0, files / "old/readme.txt", files / "new/painter.dll")
        providers = document["modules"][0]["providers"]
        self.assertEqual({key: providers[key] for key in providers if key != "changes"},
                         {"before": 1, "after": 1, "added": 0, "removed": 0, "changed": 1,
                          "events_added": 0, "events_removed": 0, "events_changed": 1})
        change, = providers["changes"]
        self.assertEqual((change["guid"], change["name_before"], change["events_before"]),
                         ("aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e001", "Fixture-Schemas", 3))
        event, = change["events"]
        self.assertEqual((event["id"], event["version"], event["change"]), (1, 0, "changed"))
        self.assertEqual(event["members"], [
            {"member": "fields", "before": "Count", "after": "Count, Size"},
            {"member": "fields.Size", "before": None, "after": "win:UInt32 as xs:unsignedInt"}])
        # What small files have differently without end is cut.
        done = self.servicing(1, files / "limit/old.dll", files / "limit/new.dll", "--format", "json")
        self.assertLess(len(done.stdout), 40 << 20)
        findings = strict_json(done.stdout)["modules"][0]["after"]["findings"]
        self.assertIn("servicing-limit", {row["code"] for row in findings})
        # Another provider: all of it is new, and the first is gone.
        other = self.document(0, files / "new/painter.dll", files / "other/deep/second.sys")
        providers = other["modules"][0]["providers"]
        self.assertEqual([row["change"] for row in providers["changes"]], ["removed", "added"])
        damaged = self.document(1, files / "new/painter.dll", files / "damaged/painter.dll")
        self.assertIn("schema-damaged",
                      {row["code"] for row in damaged["modules"][0]["after"]["findings"]})


class Hostile(Case):
    def test_folders_with_anything_in_them(self):
        one = code_image(b"\xc3")
        new = self.folder("new", {"one.dll": other_code(one), "sub/deep/x.bin": b"x" * 5000,
                                  "short.dll": one[:0x80] + bytes(8), "cut.dll": one[:0x100],
                                  "early.dll": one[:0x43], "header.dll": one[:50], "text.txt": b"MZ is a text", **PROGRAMS,
                                  "empty": b"", "old.exe": b"MZ" + bytes(58) + struct.pack("<I", 64) + b"NE" + bytes(62),
                                  "evil\n\x1b[31m\udcff.dll": one})
        old = self.folder("old", {"one.dll": one})
        os.mkfifo(new / "pipe.dll")
        (new / "loop").symlink_to(new)
        (new / "out.dll").symlink_to("/etc/passwd")
        (new / "nowhere.dll").symlink_to(new / "nothing")
        done = self.servicing(1, old, new, "--format", "json")
        document = strict_json(done.stdout)
        SCHEMA.validate(document)
        self.assertEqual({Path(row["file"]).name for row in document["after"]["unreadable"]},
                         {"short.dll", "cut.dll", "early.dll", "header.dll", "nowhere.dll"})
        self.assertEqual({(row["change"], row["name"]) for row in document["modules"]},
                         {("changed", "one.dll"), ("added", "evil\n\x1b[31m\ufffd.dll")})
        self.assertEqual(document["after"]["other_files"], 6 + len(PROGRAMS))
        self.assertIn("servicing-links", {row["code"] for row in document["findings"]})
        evil, = (row for row in document["modules"] if row["change"] == "added")
        name = os.fsencode("evil\n\x1b[31m\udcff.dll")
        self.assertEqual((bytes.fromhex(evil["name_bytes"]), bytes.fromhex(evil["after"]["place_bytes"]),
                          bytes.fromhex(evil["after"]["path_bytes"])),
                         (name, name, os.fsencode(new) + b"/" + name))
        text = self.servicing(1, old, new).stdout
        self.assertIn(b"evil\\x0a\\x1b[31m", text)
        self.assertNotIn(b"\x1b", text)

    def test_nothing_to_compare_is_2(self):
        empty = self.folder("empty", {"a.txt": b"text"})
        old = self.folder("old", {"one.dll": code_image(b"\xc3")})
        for arguments in ([old, empty], [empty, old], [old, old / "one.dll"], [old, self.here / "no"],
                          [empty / "a.txt", old / "one.dll"], [old],
                          [self.folder("bad", {"bad.dll": code_image(b"\xc3")[:0x100]}), old]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.servicing(2, *arguments).stdout, b"")
        os.mkfifo(self.here / "pipe")  # nobody writes to it
        for arguments in ([self.here / "pipe", old / "one.dll"], [old / "one.dll", self.here / "pipe"]):
            self.assertIn(b"save it to a file first", self.servicing(2, *arguments).stderr)

    def test_outputs_go_nowhere_near_the_modules(self):
        old = self.folder("old", {"one.dll": code_image(b"\xc3")})
        new = self.folder("new", {"one.dll": code_image(b"\x90")})
        content = (new / "one.dll").read_bytes()
        self.servicing(2, old, new, "-o", new / "one.dll")
        self.assertEqual((new / "one.dll").read_bytes(), content)
        self.servicing(0, old, new, "-o", new / "answer.txt")
        text = (new / "answer.txt").read_bytes()
        self.assertIn(b"new: 1 module, 0 other files\n", text)
        # What is there already stays, whatever it is and whatever leads to it.
        (self.here / "link").symlink_to(new / "answer.txt")
        (new / "out").symlink_to(self.write("outside.txt", b"kept"))
        for output in (new / "answer.txt", self.here / "link", old / "../new/answer.txt", new / "out"):
            self.assertIn(b"which is never overwritten", self.servicing(2, old, new, "-o", output).stderr)
        self.assertEqual((new / "answer.txt").read_bytes(), text)
        self.assertEqual((self.here / "outside.txt").read_bytes(), b"kept")
        self.servicing(0, old, new, "-o", self.here / "outside.txt")

    def test_programs_of_dos_are_other_files(self):
        program = struct.pack("<14H", 0x5a4d, 502, 1, 0, 2, 16, 0xffff, 0, 256, 0, 0, 0, 28, 0) + bytes(4)
        program += b"\xb4\x09\xba\x0e\x00 a text that is longer than the header of a program of today"
        program = program.ljust(502, b"\x90")
        one = code_image(b"\xc3")
        old = self.folder("old", {"one.dll": one})
        new = self.folder("new", {"one.dll": one, "MEM.EXE": program,
                                  "tiny.exe": struct.pack("<2H", 0x5a4d, 40) + program[4:40]})
        self.assertEqual(self.document(0, old, new)["after"]["other_files"], 2)
        (new / "MEM.EXE").write_bytes(program[:-1])
        unreadable = self.document(1, old, new)["after"]["unreadable"]
        self.assertEqual([Path(row["file"]).name for row in unreadable], ["MEM.EXE"])

    def test_many_files_take_no_time_each(self):
        one = code_image(b"\xc3")
        old = self.folder("old", {f"{i % 40}/{i}.dll": one for i in range(2000)})
        new = self.folder("new", {f"{i % 40}/{i}.dll": one if i % 100 else other_code(one)
                                  for i in range(2000)})
        self.assertEqual(self.document(0, old, new)["counts"],
                         {"same": 1980, "changed": 20, "added": 0, "removed": 0})


class Tables(Case):
    """Kernels of which a compiler tells where everything is."""

    SOURCE = """
typedef unsigned int u32; typedef unsigned char u8;
enum _LEVEL { Low = -2 + UPDATED * 5, High = 9 };
struct _EPROCESS { u8 room[64]; void *Peb; PAD void *Job; u32 a : 3; u32 State : 5; u8 name[15 + UPDATED]; LAST };
struct _KTHREAD { u8 room[32]; struct _EPROCESS *Process; };
struct _EPROCESS PsInitial; struct _KTHREAD g_thread; enum _LEVEL g_level = Low;
#define EXPORT __declspec(dllexport)
EXPORT void *PsGetProcessPeb(struct _EPROCESS *p) { return p->Peb; }
EXPORT long PsSetCreateProcessNotifyRoutine(int x) { return x * MANY; }
#if !UPDATED
EXPORT long PsSetLoadImageNotifyRoutine(int x) { return x + 1; }
#endif
__declspec(noinline) int KiRun(int x) { return x * MANY; }
int entry(void) { return KiRun((int)PsInitial.State) + (int)g_level; }
EXPORT const u32 value_peb = __builtin_offsetof(struct _EPROCESS, Peb);
EXPORT const u32 value_job = __builtin_offsetof(struct _EPROCESS, Job);
EXPORT const u32 value_name = sizeof(((struct _EPROCESS *)0)->name);
EXPORT const u32 value_process = __builtin_offsetof(struct _KTHREAD, Process);
"""
    LIST = """
_EPROCESS.Peb
_EPROCESS.Job
Last = _EPROCESS.Last
State = _EPROCESS.State
size Name = _EPROCESS.name
constant Low = _LEVEL.Low
constant High = _LEVEL.High
optional _EPROCESS.Nothing
_KTHREAD.Process
"""
    built = {}

    def kernel(self, folder, updated, stays=False, more=""):
        self.made()
        key = (updated, stays, more)
        place = self.here / folder
        place.mkdir(exist_ok=True)
        if key not in self.built:
            pad = "int more[3];" if updated and not stays else ""
            path = self.write("kernel.c", (self.SOURCE + more).encode())
            self.call(CLANG, "--target=x86_64-pc-windows-msvc", "-g", "-gcodeview", "-O1", "-w",
                      "-ffreestanding", f"-DUPDATED={int(updated and not stays)}", f"-DPAD={pad}",
                      f"-DMANY={4711 if updated else 17}",
                      "-DLAST=" + ("" if updated and not stays else "int Last;"), "-c", path,
                      "-o", self.here / "o.obj")
            self.call(LLD, "/nodefaultlib", "/entry:entry", "/subsystem:native", "/debug", "/brepro",
                      "/opt:noref", f"/out:{place / 'ntoskrnl.exe'}", "/base:0x140000000",
                      self.here / "o.obj")
            self.built[key] = [(place / name).read_bytes()
                               for name in ("ntoskrnl.exe", "ntoskrnl.pdb")]
        for name, content in zip(("ntoskrnl.exe", "ntoskrnl.pdb"), self.built[key]):
            (place / name).write_bytes(content)
        return place

    def table(self, folder, form, *options):
        path = self.here / f"table.{form}"
        done = subprocess.run([COLDTRACE, "hooks", "table", "--kernel", folder / "ntoskrnl.exe",
                               "--pdb", folder / "ntoskrnl.pdb", "--tolerate", LACKING,
                               "--members", self.write("a.members", self.LIST.encode()),
                               "--format", form, "-o", path], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def rows(self, table):
        self.assertEqual(table["counts"], {state: sum(row["state"] == state for row in table["rows"])
                                           for state in STATES})
        return {(row["kind"], row["name"]): (row["state"], {
            value["member"]: (value["before"], value["after"]) for value in row["values"]})
            for row in table["rows"]}

    def test_rows_of_a_table_become_what_the_compiler_made_of_them(self):
        old, new = self.kernel("old", False), self.kernel("new", True)
        was, now = (Image(folder / "ntoskrnl.exe") for folder in (old, new))
        value = lambda image, name: image.number(image.exports()["value_" + name][1])
        expected = {
            "_EPROCESS.Peb": "survives", "_EPROCESS.Job": "moved", "Last": "gone", "State": "moved",
            "Name": "changed", "Low": "changed", "High": "survives", "_KTHREAD.Process": "survives"}
        for form in ("hooktab", "json"):
            with self.subTest(form):
                table = self.table(old, form)
                document = self.document(1, old, new, "--pdb", old, "--pdb", new, "--hook-table", table)
                packed = self.write("packed", gzip.compress(table.read_bytes()))
                again = self.document(1, old, new, "--pdb", old, "--pdb", new, "--hook-table", packed)
                self.assertEqual([row["counts"] for row in again["tables"]],
                                 [row["counts"] for row in document["tables"]])
                told, = document["tables"]
                self.assertFalse(told["covered"])
                rows = self.rows(told)
                self.assertEqual({name: state for (kind, name), (state, _) in rows.items()
                                  if kind == "member"}, expected)
                self.assertEqual(rows["member", "_EPROCESS.Job"][1]["value"],
                                 (value(was, "job"), value(now, "job")))
                self.assertEqual(rows["member", "Name"][1]["value"], (value(was, "name"), value(now, "name")))
                self.assertEqual(rows["member", "Low"][1]["value"], (-2, 3))
                self.assertEqual(rows["interface", "PsSetLoadImageNotifyRoutine"][0], "gone")
                places = [image.exports()["PsSetCreateProcessNotifyRoutine"][1] for image in (was, now)]
                self.assertEqual(rows["interface", "PsSetCreateProcessNotifyRoutine"][0],
                                 "survives" if places[0] == places[1] else "moved")
        codes = {row["code"]: row["count"] for row in document["findings"]}
        for code in ("servicing-moved", "servicing-changed", "servicing-gone", "servicing-unproved"):
            self.assertEqual(codes.get(code, 0), told["counts"][code.split("-")[1]])
        tolerated = "servicing-moved,servicing-changed,servicing-gone,servicing-unproved"
        self.servicing(0, old, new, "--pdb", old, "--pdb", new, "--hook-table", table, "--tolerate", tolerated)
        self.servicing(1, old, new, "--pdb", old, "--pdb", new, "--hook-table", table, "--tolerate",
                       tolerated.replace("servicing-gone", "servicing-table"))
        # Without a table nothing of that is a reason to fail, but that a list requires what is gone; what differs is
        # told all the same.
        plain = self.document(0, old, new, "--pdb", old, "--pdb", new, "--members", self.here / "a.members",
                              "--tolerate", "member-missing")
        build, = plain["builds"]
        self.assertEqual({row["name"]: row["state"] for row in build["rows"] if row["kind"] == "member"},
                         {name: state for name, state in expected.items() if state != "survives"})
        types = plain["modules"][0]["types"]
        self.assertEqual({row["name"]: row["change"] for row in types["types"]},
                         {"_EPROCESS": "changed", "_LEVEL": "changed"})
        text = self.servicing(1, old, new, "--pdb", old, "--pdb", new, "--hook-table", table).stdout.decode()
        self.assertIn(f"  moved    member _EPROCESS.Job: value {value(was, 'job'):#x} -> {value(now, 'job'):#x}\n", text)
        self.assertRegex(text, r"\n  gone     member Last: ")

    def test_a_table_survives_where_nothing_that_it_uses_changed(self):
        old, same = self.kernel("old", False), self.kernel("same", False)
        table = self.table(old, "hooktab")
        document = self.document(0, old, same, "--pdb", old, "--hook-table", table)
        told, = document["tables"]
        self.assertEqual(set(row["state"] for row in told["rows"]), {"survives"})
        self.assertTrue(told["covered"])
        # What a PDB alone shows is not called gone without one.
        document = self.document(1, old, same, "--hook-table", table)
        rows = self.rows(document["tables"][0])
        self.assertEqual(rows["member", "_EPROCESS.Job"][0], "unproved")
        self.assertEqual(rows["member", "_EPROCESS.Peb"][0], "unproved")  # of unknown size
        self.assertIn("servicing-unproved", {row["code"] for row in document["findings"]})

    def test_tables_that_say_nothing_of_the_old_system(self):
        old, new = self.kernel("old", False), self.kernel("new", True)
        table = self.table(new, "json")
        document = self.document(1, old, new, "--hook-table", table)
        self.assertEqual(document["tables"], [])
        self.assertIn("servicing-table", {row["code"] for row in document["findings"]})
        done = self.servicing(2, old, new, "--hook-table", self.write("t.json", b'{"schema":"coldtrace.hook-table/1"}'))
        self.assertIn(b"it has no build", done.stderr)
        broken = json.loads(table.read_text())
        broken["builds"][0]["members"][0]["kind"] = "nonsense"
        done = self.servicing(2, old, new, "--hook-table", self.write("b.json", json.dumps(broken).encode()))
        self.assertIn(b"1 of its rows is not as", done.stderr)
        self.servicing(2, old, new, "--hook-table", old / "ntoskrnl.exe")
        # A document without it would say that all of its rows survive.
        done = self.servicing(2, old, new, "--hook-table", table, "--hook-table", "none.hooktab", "--format", "json",
                              "-o", "none.json")
        self.assertIn(b"none.hooktab: No such file", done.stderr)
        self.assertFalse((self.here / "none.json").exists())
        # A kernel that the new system does not have.
        (new / "ntoskrnl.exe").write_bytes(code_image(b"\xc3"))
        document = self.document(1, old, new, "--hook-table", self.table(old, "hooktab"))
        self.assertEqual({row["state"] for row in document["tables"][0]["rows"]}, {"unproved"})

    def test_each_copy_of_the_kernel_is_compared_with_its_partner(self):
        kernels = [(self.kernel(name, after) / "ntoskrnl.exe").read_bytes()
                   for name, after in (("one", False), ("two", True))]
        pdbs = ("--pdb", self.here / "one", "--pdb", self.here / "two")
        table = self.table(self.here / "one", "hooktab")
        for changed in "ab":
            with self.subTest(changed):
                old = self.folder("old" + changed, {f"{name}/ntoskrnl.exe": kernels[0] for name in "ab"})
                new = self.folder("new" + changed, {f"{name}/ntoskrnl.exe": kernels[name == changed]
                                                    for name in "ab"})
                document = self.document(1, old, new, *pdbs, "--hook-table", table)
                self.assertEqual(
                    {(row["path_before"], row["path_after"],
                      row["counts"]["survives"] == len(row["rows"])) for row in document["tables"]},
                    {(str(old / name / "ntoskrnl.exe"), str(new / name / "ntoskrnl.exe"), name != changed)
                     for name in "ab"})
                for side, folder in (("before", old), ("after", new)):
                    self.assertEqual([build[side]["images"][0]["path"] for build in document["builds"]],
                                     [str(folder / name / "ntoskrnl.exe") for name in "ab"])
        text = self.servicing(1, old, new, *pdbs, "--hook-table", table).stdout.decode()
        self.assertIn(f"  kernel {old}/b/ntoskrnl.exe -> {new}/b/ntoskrnl.exe\n", text)
        # A copy that went with the update is no reason to fail.
        (new / "b/ntoskrnl.exe").unlink()
        self.assertEqual(len(self.document(0, old, new, *pdbs, "--hook-table", table)["tables"]), 1)

    def test_builds_that_the_old_system_lacks_are_told(self):
        old, new = self.kernel("old", False), self.kernel("new", True)
        tables = [self.table(folder, "hooktab").rename(self.here / f"{folder.name}.hooktab")
                  for folder in (old, new)]
        both = self.here / "both.hooktab"
        self.call(COLDTRACE, "hooks", "merge", *tables, "-o", both)
        options = (old, old, "--pdb", old, "--hook-table", both)
        document = self.document(0, *options)
        finding, = (row for row in document["findings"] if row["code"] == "servicing-table")
        self.assertEqual(finding["severity"], "info")
        self.assertIn("no kernel of 1 of its 2 builds", finding["text"])
        self.assertIn(f"\ntable {both}: 1 of its builds is not in the old system, and not compared\n",
                      self.servicing(0, *options).stdout.decode())

    def test_kernels_that_nothing_pairs_are_told(self):
        kernels = [(self.kernel(name, after) / "ntoskrnl.exe").read_bytes()
                   for name, after in (("one", False), ("two", True))]
        old = self.folder("old", {"a.exe": kernels[0], "ntoskrnl.exe": other_code(kernels[0])})
        new = self.folder("new", {"b.exe": kernels[1]})
        document = self.document(0, old, new)
        self.assertEqual(document["counts"], {"same": 0, "changed": 0, "added": 1, "removed": 2})
        finding, = (row for row in document["findings"] if row["code"] == "servicing-ambiguous")
        self.assertEqual(finding["count"], 1)
        self.assertIn("ntoskrnl.exe: 2 of the old and 1 of the new modules of this own name",
                      finding["text"])

    def test_a_pdb_of_one_side_is_not_one_of_another_build(self):
        old, new = self.kernel("old", False), self.kernel("new", True)
        for folder in (old, new):
            self.assertNotIn("symbols-other-build", {
                row["code"] for row in self.document(0, old, new, "--pdb", folder)["findings"]})
        third = self.kernel("third", True, stays=True)
        document = self.document(1, old, new, "--pdb", third)
        self.assertIn("symbols-other-build", {row["code"] for row in document["findings"]})

    def check_refused(self, old, table, edits):
        """Each edit of a build's JSON is refused, and nothing else of it is."""
        path = self.write("same.json", json.dumps(table).encode())
        self.document(0, old, old, "--pdb", old, "--hook-table", path)
        for name, edit in edits:
            with self.subTest(name):
                broken = json.loads(json.dumps(table))
                edit(broken["builds"][0])
                path = self.write("broken.json", json.dumps(broken).encode())
                done = self.servicing(2, old, old, "--pdb", old, "--hook-table", path)
                self.assertIn(b"1 of its rows is not as 'hooks table' writes them", done.stderr)

    def test_values_of_json_tables_are_of_their_types(self):
        old = self.kernel("old", False)
        table = json.loads(self.table(old, "json").read_text())
        edits = []
        for part, wrong in (("services", 5), ("services", {}), ("service_tables", 7), ("services_tab", 1),
                            ("context_switch", 5), ("thread_offsets", None), ("supported_interfaces", "x"),
                            ("members", 0), ("trace_points", False)):
            edits.append((part, lambda build, part=part, wrong=wrong: build.__setitem__(part, wrong)))
            edits.append((part + " absent", lambda build, part=part: build.pop(part)))
        for part, member, *values in (
                ("supported_interfaces", "rva", 99999999999, -1, "x"), ("supported_interfaces", "exported", 1),
                ("members", "value", 1.5, None, "x", []), ("members", "size", 5000000000, "x"),
                ("members", "expression", 5, None), ("members", "bit_length", 256),
                ("members", "confidence", "sure", None), ("members", "evidence", 4),
                ("members", "sources", [1]), ("supported_interfaces", "purpose", None),
                ("images", "path", 7), ("findings", "count", -1, "x")):
            for value in values:
                edits.append((f"{part}.{member} {value}", lambda build, part=part, member=member, value=value:
                              build[part][0].__setitem__(member, value)))
            edits.append((f"{part}.{member} absent", lambda build, part=part, member=member:
                          build[part][0].pop(member)))
        self.check_refused(old, table, edits)

    def test_a_kernel_is_known_by_its_headers(self):
        """Whatever its file is called, and itself."""
        old, new = self.kernel("old", False), self.kernel("new", True)
        for folder in (old, new):
            content = (folder / "ntoskrnl.exe").read_bytes()
            self.assertEqual(content.count(b"ntoskrnl.exe\0"), 1)
            (folder / "core.bin").write_bytes(content.replace(b"ntoskrnl.exe\0", b"somewhat.sys\0"))
            (folder / "ntoskrnl.exe").unlink()
        done = subprocess.run([COLDTRACE, "hooks", "table", "--kernel", old / "core.bin", "--pdb", old / "ntoskrnl.pdb",
                               "--tolerate", LACKING, "--members", self.write("a.members", self.LIST.encode()),
                               "--format", "hooktab", "-o", self.here / "core.hooktab"], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.document(0, old, new)["builds"], [])
        for places in ((old, new), (old / "core.bin", new / "core.bin")):
            document = self.document(1, *places, "--pdb", old, "--pdb", new, "--hook-table", self.here / "core.hooktab")
            told, = document["tables"]
            states = {row["name"]: row["state"] for row in told["rows"] if row["kind"] == "member"}
            self.assertEqual((states["_EPROCESS.Peb"], states["_EPROCESS.Job"], states["Last"]), ("survives", "moved", "gone"))
            self.assertNotIn("servicing-table", {row["code"] for row in document["findings"]})

    def test_where_a_trace_point_may_no_longer_be_needs_no_table(self):
        more = """
#if UPDATED
#define PLACED __attribute__((section("INIT")))
#else
#define PLACED
#endif
PLACED EXPORT long PsTraceable(int x) { return x * 5 + 3; }
"""
        old, new = self.kernel("old", False, more=more), self.kernel("new", True, more=more)
        found = self.document(0, old, new)["modules"]
        points = next(row["trace_points"] for row in found if row["name"] == "ntoskrnl.exe")
        place = lambda folder: Image(folder / "ntoskrnl.exe").exports()["PsTraceable"][1]
        change, = points["changes"]
        self.assertEqual((points["refused"], points["admitted"]), (1, 0))
        self.assertEqual((change["name"], change["before"], change["after"]), (
            "PsTraceable", {"rva": place(old), "eligible": True, "refusals": []},
            {"rva": place(new), "eligible": False, "refusals": ["init"]}))
        plan = subprocess.run([COLDTRACE, "hooks", "plan", "--kernel", new / "ntoskrnl.exe", "--function", "Ps*",
                               "--format", "json"], capture_output=True, timeout=60)
        eligible = {row["requested"]: row["eligible"] for row in strict_json(plan.stdout)["points"]}
        self.assertFalse(eligible["PsTraceable"])
        self.assertTrue(eligible["PsGetProcessPeb"])
        self.assertIn("    ~ PsTraceable: eligible -> init\n", self.servicing(0, old, new).stdout.decode())

    def test_symbols_are_found_packed_and_in_volatilitys_store(self):
        old, new = self.kernel("old", False), self.kernel("new", True)
        self.write("a.members", self.LIST.encode())
        options = ("--members", self.here / "a.members")
        missing = lambda document: [row["text"] for row in document["findings"] if row["code"] == "member-missing"]
        plain = self.document(1, old, new, "--pdb", old, "--pdb", new, *options)
        self.assertEqual(missing(plain), [f"for the new kernel, {new / 'ntoskrnl.exe'}, no given file shows Last"])
        self.assertEqual([plain["builds"][0][side]["missing_members"] for side in ("before", "after")], [[], ["Last"]])
        turned = self.document(1, new, old, "--pdb", old, "--pdb", new, *options)
        self.assertEqual(missing(turned), [f"for the old kernel, {new / 'ntoskrnl.exe'}, no given file shows Last"])
        store, packed = self.here / "store", self.here / "packed"
        packed.mkdir()
        for number, folder in enumerate((old, new)):
            done = subprocess.run([COLDTRACE, "pe", "isf", "--xz", "--store", store, "--pe", folder / "ntoskrnl.exe",
                                   folder / "ntoskrnl.pdb"], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            place = packed / str(number)
            place.mkdir()
            content = (folder / "ntoskrnl.pdb").read_bytes()
            (place / "ntoskrnl.pdb.gz").write_bytes(gzip.compress(content))
            (folder / "ntoskrnl.pdb").unlink()
        rows = lambda document: [(row["kind"], row["name"], row["state"], row["values"]) for row in document["builds"][0]["rows"]]
        again = self.document(1, old, new, "--pdb", packed, *options)
        self.assertEqual(rows(again), rows(plain))
        self.assertEqual(again["modules"][0]["types"]["counts"], plain["modules"][0]["types"]["counts"])
        found = self.document(1, old, new, "--pdb", store, *options)
        self.assertTrue(found["builds"][0]["before"]["pdb_file"].endswith(".json.xz"))
        self.assertEqual({row[1]: row[2] for row in rows(found) if row[0] == "member"},
                         {row[1]: row[2] for row in rows(plain) if row[0] == "member"})
        # Without PDBs nothing shows what the list requires, which is told.
        document = self.document(1, old, new, *options)
        self.assertEqual(document["builds"][0]["before"]["pdb_file"], None)
        told, = missing(document)
        before, after = told.split("; ")
        for side, folder, text in (("old", old, before), ("new", new, after)):
            self.assertTrue(text.startswith(f"for the {side} kernel, {folder / 'ntoskrnl.exe'}, "), text)
            for name in ("_EPROCESS.Job", "Last", "State", "Name", "Low", "High"):
                self.assertIn(name, text)
        self.assertNotIn("_EPROCESS.Nothing", told)  # optional

    def test_members_that_no_kernel_of_several_shows_are_told_of_each(self):
        required = [f"_EPROCESS.Member{number}" for number in range(12)]
        path = self.write("b.members", "\n".join(required).encode())
        folders = [self.kernel("old", False), self.kernel("new", True)]
        for folder in folders:
            (folder / "ntoskrnl.pdb").unlink()
            for number in range(1, 5):
                content = bytearray((folder / "ntoskrnl.exe").read_bytes())
                header, = struct.unpack_from("<I", content, 60)
                struct.pack_into("<I", content, header + 8, 0x5000 + number)  # another build
                (folder / f"ntkrnl{number}.exe").write_bytes(content)
        told, = (row for row in self.document(1, *folders, "--members", path)["findings"] if row["code"] == "member-missing")
        for folder, side in zip(folders, ("old", "new")):
            for name in ("ntkrnl1", "ntkrnl2", "ntkrnl3", "ntkrnl4"):
                self.assertIn(f"for the {side} kernel, {folder / name}.exe, no given file shows "
                              f"{', '.join(required[:8])} and 4 more", told["text"])
        self.assertTrue(told["text"].endswith("; and 2 more"), told["text"])
        builds = self.document(1, *folders, "--members", path)["builds"]
        self.assertEqual(len(builds), 5)
        for build in builds:
            for side in ("before", "after"):
                self.assertEqual(build[side]["missing_members"], required)
        text = self.servicing(1, *folders, "--members", path).stdout.decode()
        for name in required:
            for side in ("old", "new"):
                self.assertEqual(text.count(f"  missing  member {name}: no given file shows it for the {side} kernel\n"), 5)

    def test_a_pdb_without_types_is_no_evidence_of_types(self):
        old, new = self.kernel("old", False), self.kernel("new", True)
        table = self.table(old, "json")
        # The records of the new PDB's stream 2 are cut away: its header says that it has none.
        pdb = new / "ntoskrnl.pdb"
        content = bytearray(pdb.read_bytes())
        block, _, _, size, _, map_block = struct.unpack_from("<6I", content, 32)
        blocks = struct.unpack_from(f"<{-(-size // block)}I", content, map_block * block)
        directory = b"".join(content[number * block:][:block] for number in blocks)
        count, = struct.unpack_from("<I", directory)
        sizes = struct.unpack_from(f"<{count}I", directory, 4)
        first = sum(-(-length // block) for length in sizes[:2])
        self.assertGreater(sizes[2], 56)
        start = struct.unpack_from("<I", directory, 4 + 4 * count + 4 * first)[0] * block
        begin, = struct.unpack_from("<I", content, start + 8)
        struct.pack_into("<II", content, start + 12, begin, 0)
        pdb.write_bytes(content)
        document = self.document(1, old, new, "--pdb", old, "--pdb", new, "--hook-table", table)
        rows = self.rows(document["tables"][0])
        self.assertEqual({state for (kind, name), (state, _) in rows.items() if kind == "member" and name in ("Last", "_EPROCESS.Job")},
                         {"unproved"})
        module, = document["modules"]
        self.assertEqual(module["types"], None)
        self.assertLessEqual({"pdb-no-types", "types-unproved"}, {row["code"] for row in module["after"]["findings"]})

    def test_trace_points_are_planned_again(self):
        old, new = self.kernel("old", False), self.kernel("new", True)
        path = self.here / "points.hooktab"
        done = subprocess.run(
            [COLDTRACE, "hooks", "plan", "--kernel", old / "ntoskrnl.exe", "--pdb", old / "ntoskrnl.pdb",
             *[part for name in ("PsGetProcessPeb", "KiRun", "PsSetLoadImageNotifyRoutine")
               for part in ("--function", name)], "--format", "hooktab", "-o", path],
            capture_output=True, timeout=60)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        rows = self.rows(self.document(1, old, new, "--pdb", old, "--pdb", new, "--hook-table", path)["tables"][0])
        states = {name: state for (kind, name), (state, _) in rows.items() if kind == "trace_point"}
        places = [image.exports()["PsGetProcessPeb"][1]
                  for image in (Image(old / "ntoskrnl.exe"), Image(new / "ntoskrnl.exe"))]
        self.assertEqual(states["PsGetProcessPeb"], "survives" if places[0] == places[1] else "moved")
        self.assertEqual(states["PsSetLoadImageNotifyRoutine"], "gone")
        self.assertEqual(set(states), {"PsGetProcessPeb", "KiRun", "PsSetLoadImageNotifyRoutine"})


class Services(Case):
    """The kernels of the other tests, whose tables and stubs come from an assembler."""

    def image(self, name):
        for path in sorted((IMAGES / name).glob("*.[es][xy][es]")) + sorted((IMAGES / name).glob("*.dll")):
            return path
        self.skipTest(f"no linker made {name}")

    def documents(self, *folders):
        """What `hooks table` says of each."""
        for folder in folders:
            done = subprocess.run([COLDTRACE, "hooks", "table", "--dir", folder, "--format", "json"],
                                  capture_output=True, timeout=60)
            yield strict_json(done.stdout)["builds"][0]

    def test_services_are_followed_by_their_names(self):
        ntdll = self.image("windows10-x64")
        old = self.folder("old", {"ntoskrnl.exe": self.image("tables-x64-kernel-rva32"), "ntdll.dll": ntdll})
        new = self.folder("new", {"ntoskrnl.exe": self.image("tables-x64-kernel-extra-record"), "ntdll.dll": ntdll})
        table = self.here / "t.hooktab"
        subprocess.run([COLDTRACE, "hooks", "table", "--dir", old, "--format", "hooktab", "-q", "-o", table],
                       timeout=60)
        was, now = self.documents(old, new)
        document = self.document(1, old, new, "--hook-table", table)
        told, = document["tables"]
        rows = {row["name"]: row for row in told["rows"] if row["kind"] == "service" and row["name"]}
        later = {name: service for service in now["services"] for name in service["names"]}
        compared = 0
        for service in was["services"]:
            if not service["names"]:
                continue
            row, other = rows[service["names"][0]], later.get(service["names"][0])
            compared += 1
            if other is None:
                self.assertIn(row["state"], ("gone", "unproved"))
                continue
            places = any(service[key] != other[key] for key in ("number", "target"))
            contents = [key for key in ("image", "argument_bytes", "stack_argument_bytes", "name_hash")
                        if service[key] is not None]
            unknown = any(other[key] is None for key in contents)
            changed = any(other[key] not in (None, service[key]) for key in contents)
            self.assertEqual(row["state"], "changed" if changed else "unproved" if unknown else
                             "moved" if places else "survives", row)
        self.assertGreater(compared, 20)
        images = [{image["role"] for image in document["builds"][0][side]["images"]}
                  for side in ("before", "after")]
        self.assertEqual(images, [{"kernel", "ntdll"}] * 2)
        # Without the ntdll that named them, services are not called gone.
        (new / "ntdll.dll").unlink()
        told, = self.document(1, old, new, "--hook-table", table)["tables"]
        self.assertNotIn("gone", {row["state"] for row in told["rows"] if row["kind"] == "service"})

    def test_values_of_services_in_json_are_of_their_types(self):
        old = self.folder("old", {"ntoskrnl.exe": self.image("tables-x64-kernel-rva32"),
                                  "ntdll.dll": self.image("windows10-x64")})
        done = subprocess.run([COLDTRACE, "hooks", "table", "--dir", old, "--format", "json"],
                              capture_output=True, timeout=60)
        table = json.loads(done.stdout)
        number = json.loads(subprocess.run(
            [COLDTRACE, "hooks", "table", "--dir", old, "--format", "json", "--int64", "string"],
            capture_output=True, timeout=60).stdout)
        edits = []
        for part, member, *values in (
                ("services", "target", 5000000000, "x", -5, 1.5), ("services", "argument_bytes", 5000000000),
                ("services", "name_hash", 5000000000, True), ("services", "names", "NtClose", [5], None),
                ("services", "image", "foo", 7), ("services", "table", "x", None), ("services", "number", None),
                ("service_tables", "entries", 42, [1], [{}]), ("service_tables", "limit", "x"),
                ("services_tab", "records", 3), ("services_tab", "address", -1), ("services", "evidence", 4, [1]),
                ("services", "confidence", "x"), ("services", "verified", 0), ("services", "unknown", 1)):
            for value in values:
                def edit(build, part=part, member=member, value=value):
                    row = build[part] if part == "services_tab" else build[part][0]
                    row[member] = value
                edits.append((f"{part}.{member} {value}", edit))
        for member, *values in (("target", "x"), ("number", -1, "x", 30), ("import_module", -1), ("argument_bytes", 256)):
            for value in values:
                edits.append((f"entries[31].{member} {value}", lambda build, member=member, value=value:
                              build["service_tables"][0]["entries"][31].__setitem__(member, value)))
        edits.append(("entries[31].import_module absent",
                      lambda build: build["service_tables"][0]["entries"][31].pop("import_module")))
        Tables.check_refused(self, old, table, edits)
        for member, value in (("findings", 1 << 63), ("unpaired", [1]), ("tool", 4), ("extra", None)):
            path = self.write("broken.json", json.dumps({**table, member: value}).encode())
            done = self.servicing(2, old, old, "--hook-table", path)
            self.assertIn(b"1 of its rows is not as 'hooks table' writes them", done.stderr)
        self.document(0, old, old, "--hook-table", self.write("t.json", json.dumps(number).encode()))

    def test_json_of_the_former_version_is_read(self):
        """Members have other names since: `hash` of records, `proven` of branches."""
        old = self.folder("old", {"ntoskrnl.exe": self.image("tables-x64-kernel-rva32"),
                                  "ntdll.dll": self.image("windows10-x64")})
        done = subprocess.run([COLDTRACE, "hooks", "table", "--dir", old, "--format", "json"],
                              capture_output=True, timeout=60)
        table = json.loads(done.stdout)
        answer = self.document(0, old, old, "--hook-table", self.write("now.json", done.stdout))
        for record in table["builds"][0]["services_tab"]["records"]:
            record["hash"] = record.pop("name_hash")
        former = self.write("now.json", json.dumps(table).encode())
        self.assertEqual(self.document(0, old, old, "--hook-table", former), answer)
        table["builds"][0]["services_tab"]["records"][0]["name_hash"] = 1
        self.servicing(2, old, old, "--hook-table", self.write("both.json", json.dumps(table).encode()))

    def test_branches_of_json_of_the_former_version_are_read(self):
        kernel = self.write("ntoskrnl.exe", (SOURCES / "fuzz/corpus/context_switch/11-x64").read_bytes())
        now = subprocess.run([COLDTRACE, "hooks", "table", "--kernel", kernel, "--format", "json"],
                             capture_output=True, timeout=60).stdout
        self.assertGreater(now.count(b'"proved":'), 10)
        answers = [self.servicing(0, kernel, kernel, "--format", "json", "--hook-table", self.write("now.json", rows)).stdout
                   for rows in (now, now.replace(b'"proved":', b'"proven":'))]
        self.assertEqual(*answers)

    def test_numbers_of_stubs_are_those_of_syscalls_compare(self):
        one, two = self.image("windows7-x64"), self.image("windows10-x64")
        done = subprocess.run([COLDTRACE, "syscalls", "compare", "--format", "json", one, two],
                              capture_output=True, timeout=60)
        compared = strict_json(done.stdout)
        services = self.document(0, one, two)["modules"][0]["services"]
        for member in ("common", "renumbered", "changes", "shifts"):
            self.assertEqual(services[member], compared[member])
        self.assertEqual((services["before"], services["after"]),
                         (compared["before"]["services"], compared["after"]["services"]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[7:]])
