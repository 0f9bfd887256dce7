"""Events of manifests get their fields and names from the files that declare them.

usage: trace_schema_files.py COLDTRACE PROJECT SHARED MAKE_SCHEMA_FILES [unittest arguments]
"""
import errno
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
from dos_programs import PROGRAMS
from cli.trace.etl_writer import EtlWriter, utf16z
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, PROJECT, SHARED, MAKE = (Path(a).resolve() for a in sys.argv[1:5])
CASES = SHARED / "facts/etl-schema-cases.json"
FOLDER = Path(tempfile.mkdtemp(prefix="coldtrace-schema-files-"))


def setUpModule():
    subprocess.run([MAKE, FOLDER, *([CASES] if CASES.exists() else [])], check=True)


def tearDownModule():
    shutil.rmtree(FOLDER)


def run(*arguments, status=0):
    done = subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True, timeout=300,
                          cwd=FOLDER)
    if done.returncode != status:
        raise AssertionError((done.returncode, done.stderr.decode()))
    return done.stdout


def decode(*options, trace="painted.etl", status=0):
    lines = strict_ndjson(run("decode", trace, *options, status=status))
    validate(lines)
    events = [line for line in lines if line["type"] == "event"]
    return lines[0], [e for e in events if e["provider"]["guid"].startswith("aa0f3f0e")], lines[-1]


def validate(lines):
    schema = json.loads((PROJECT / "docs/schema/trace.schema.json").read_text())
    check = json_schema.of(schema)
    for line in lines:
        check.validate(line)


def codes(summary):
    return {finding["code"]: finding["count"] for finding in summary["findings"]}


class Decoding(unittest.TestCase):
    def test_without_files_nothing_is_known(self):
        header, events, summary = decode()
        self.assertNotIn("schemas", header)
        self.assertEqual({e["decoded"] for e in events}, {"raw"})
        self.assertFalse(any("names" in e or "schema_file" in e for e in events))

    def test_fields_names_maps_and_header_names(self):
        header, events, summary = decode("--schemas", "new")
        paint = events[3]
        self.assertEqual(paint["provider"]["name"], "Fixture-Schemas")
        self.assertEqual(paint["name"], "Paint/Start")  # as declared
        self.assertEqual(paint["fields"], {"Colour": 2, "Sides": "0xd", "Where": "the hall"})
        self.assertEqual(paint["resolved"], {"Colour": "Blue", "Sides": "Left|Right|0x8"})
        self.assertEqual(paint["decoded"], "exact")
        # By the numbers of the header, which is of no channel.
        self.assertEqual(paint["names"], {"task": "Paint", "opcode": "Own", "level": "Informational",
                                          "keywords": ["Walls"]})
        self.assertEqual(events[0]["names"]["opcode"], "Start")
        self.assertEqual(header["schemas"], [
            {"file": "new/painter.dll", "file_version": "6.1.7601.17514",
             "language_file": "new/en-US/painter.dll.mui", "store": None, "sha256": None,
             "providers": [{"guid": paint["provider"]["guid"], "name": "Fixture-Schemas", "recreated": False,
                            "kinds": 3, "behind": 0}]}])

    def test_records_of_the_old_event_log_are_left_out(self):
        events = decode("--schemas", "new")[1]
        self.assertEqual((events[5]["id"], events[5]["decoded"]), (4, "raw"))
        self.assertEqual((events[4]["name"], events[4]["fields"]), ("Alone", {}))

    def test_a_file_is_known_by_its_content_alone(self):
        header, events, summary = decode("--schemas", "old/readme.txt")
        self.assertEqual([e["decoded"] for e in events[:3]], ["exact", "trailing", "trailing"])
        self.assertEqual(header["schemas"][0]["file"], "old/readme.txt")
        self.assertEqual(events[3]["resolved"]["Colour"], "Blue")  # its own message table

    def test_the_first_file_goes_first_and_the_other_explains_the_rest(self):
        header, events, summary = decode("--schemas", "new", "--schemas", "old", status=1)
        self.assertEqual([e["decoded"] for e in events[:3]], ["exact", "exact", "trailing"])
        self.assertEqual(events[0]["fields"], {"Count": 5})
        self.assertEqual(events[0]["schema_file"], "old/readme.txt")
        self.assertEqual(events[1]["fields"], {"Count": 5, "Size": 6})
        self.assertNotIn("schema_file", events[1])
        self.assertEqual(events[2]["trailing"], "07000000")
        self.assertEqual(codes(summary)["schema-conflict"], 1)
        self.assertEqual(codes(summary)["schema-other"], 1)
        self.assertEqual([f["file"] for f in header["schemas"]], ["new/painter.dll", "old/readme.txt"])
        other = decode("--schemas", "old", "--schemas", "new", status=1)[1]
        self.assertEqual([e["decoded"] for e in other[:3]], ["exact", "exact", "trailing"])
        self.assertEqual(other[1]["schema_file"], "new/painter.dll")

    def test_the_file_of_each_schema_is_told_when_asked_for(self):
        events = decode("--schemas", "new", "--schema-files")[1]
        self.assertEqual({e["schema_file"] for e in events[:5]}, {"new/painter.dll"})
        self.assertIsNone(events[5]["schema_file"])

    def test_folders_are_searched_and_the_name_of_3_1_is_that_of_its_channel(self):
        header, events, summary = decode("--schemas", "other", "--schemas", "new")
        self.assertEqual(events[6]["fields"]["Colour"], 2)
        self.assertEqual(events[6]["provider"]["name"], "Fixture-Schemas")
        self.assertEqual({f["file"] for f in header["schemas"]},
                         {"other/deep/second.sys", "new/painter.dll"})

    def test_links_in_a_circle_and_special_files_do_no_harm(self):
        folder = FOLDER / "links"
        folder.mkdir()
        (folder / "up").symlink_to(FOLDER)
        (folder / "self").symlink_to(folder)
        (folder / "gone").symlink_to("nowhere")
        os.mkfifo(folder / "pipe")
        shutil.copy(FOLDER / "new/painter.dll", folder)
        header, events, summary = decode("--schemas", "links")
        self.assertEqual([f["file"] for f in header["schemas"]], ["links/painter.dll"])

    def test_what_is_no_such_file_is_told(self):
        for path, text in (("nothing", "nothing: No such file or directory"),
                           ("other/notes.dll", "other/notes.dll: "),
                           ("painted.etl", "painted.etl: not a PE file, an instrumentation manifest or a schema store"),
                           ("other/none.dll", "WEVT_TEMPLATE")):
            with self.subTest(path=path):
                header, events, summary = decode("--schemas", path, status=1)
                self.assertEqual(header["schemas"], [])
                self.assertEqual(codes(summary), {"schema-file": 1, "schema-unused": 1})
                self.assertIn(text, summary["findings"][0]["text"])
        self.assertEqual(codes(decode("--schemas", "other", trace="painted.etl", status=0)[2]), {})
        for command in (("list",), ("show", "*")):
            done = subprocess.run([COLDTRACE, "trace", "schemas", *command, "--schemas", "nothing"], capture_output=True)
            self.assertIn(b"--schemas: warning: schema-file: nothing: No such file or directory\n", done.stderr)
            self.assertIn(b"coldtrace: nothing: no file declares event providers\n", done.stderr)
            self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_a_module_of_a_folder_that_ends_early_is_told(self):
        whole = (FOLDER / "new/painter.dll").read_bytes()
        place = whole.index(b"CRIM")
        size, = struct.unpack_from("<I", whole, place + 4)
        headers, = struct.unpack_from("<I", whole, 60)
        folder = FOLDER / "cut"
        folder.mkdir()
        shutil.copy(FOLDER / "old/readme.txt", folder)
        for end in (2, 40, 63, 64, headers - 1, headers + 3, headers + 4, headers + 8, headers + 100, headers + 250, 1024, place - 200, place - 1, place + 10, place + 30, place + size // 2,
                    place + size - 1):
            with self.subTest(end=end):
                (folder / "painter.dll").write_bytes(whole[:end])
                done = subprocess.run([COLDTRACE, "trace", "schemas", "list", "--schemas", folder], capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn("readme.txt", done.stdout)
                self.assertIn("cut/painter.dll", done.stderr)
                done = subprocess.run([COLDTRACE, "trace", "schemas", "build", folder, "-o", FOLDER / "cut.ctschemas"], capture_output=True,
                                      text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn("cut/painter.dll", done.stderr)
        # A DOS program starts as a PE file does, and is none.
        for program in (b"MZ is the start of a text", b"MZ" + bytes(62), *PROGRAMS.values()):
            (folder / "painter.dll").write_bytes(program)
            self.assertEqual(run("schemas", "list", "--schemas", folder).count(b"readme.txt"), 1)

    def test_a_missing_file_of_messages_is_told(self):
        summary = decode("--tmf", "nothing", status=1)[2]
        self.assertIn("nothing: No such file or directory",
                      " ".join(f["text"] for f in summary["findings"] if f["code"] == "schema-file"))

    def test_more_files_of_one_provider_than_are_read_are_told(self):
        folder = FOLDER / "many"
        folder.mkdir()
        for number in range(257):
            shutil.copy(FOLDER / "new/painter.dll", folder / f"{number:03}.dll")
        header, events, summary = decode("--schemas", "many", status=1)
        self.assertEqual(codes(summary), {"schema-limit": 1})
        self.assertEqual([f["file"] for f in header["schemas"]], ["many/000.dll"])

    def test_a_damaged_template_costs_its_events_alone(self):
        events, summary = decode("--schemas", "damaged", status=1)[1:]
        self.assertEqual([e["decoded"] for e in events[:5]], ["raw", "raw", "raw", "exact", "exact"])
        self.assertEqual(codes(summary), {"schema-damaged": 1})
        self.assertIn("damaged/painter.dll", summary["findings"][0]["text"])

    def test_another_file_stands_in_for_a_damaged_one(self):
        events = decode("--schemas", "damaged", "--schemas", "old", status=1)[1]
        self.assertEqual(events[0]["decoded"], "exact")

    def test_messages_have_their_values_in_the_language_asked_for(self):
        events = decode("--schemas", "new", "--messages")[1]
        self.assertEqual(events[3]["message"], "Painted Blue on Left|Right|0x8 in the hall\n(100%)")
        self.assertEqual(events[4]["message"], "Nothing more.")
        self.assertIsNone(events[0]["message"])
        header, events, summary = decode("--schemas", "new", "--messages", "--language", "xx,de-DE")
        self.assertEqual(events[3]["message"], "In the hall auf Links|Rechts|0x8: Blau")
        self.assertEqual(header["schemas"][0]["language_file"], "new/de-DE/PAINTER.dll.mui")
        self.assertEqual(codes(summary), {})

    def test_a_language_that_no_file_has_is_told(self):
        header, events, summary = decode("--schemas", "new", "--messages", "--language", "fr", status=1)
        self.assertEqual(events[4]["message"], "Nothing more.")
        self.assertEqual(codes(summary), {"no-match": 1})
        self.assertIn("no schema file has texts in fr; the first is new/painter.dll, whose texts are "
                      "from new/en-US/painter.dll.mui", summary["findings"][0]["text"])
        # The own table of a file is in no language that is known.
        summary = decode("--schemas", "old", "--language", "de-DE", status=1)[2]
        self.assertIn("old/readme.txt, whose texts are from the file itself", str(summary["findings"]))
        summary = decode("--schemas", "new", "--schemas", "other", "--language", "de-DE")[2]
        self.assertEqual(codes(summary), {"schema-language": 1})
        self.assertIn("1 of 2 files has no texts in de-DE", summary["findings"][0]["text"])
        # Without texts nothing is missing; and nobody asked.
        self.assertEqual(codes(decode("--schemas", "new")[2]), {})

    def test_parameters_of_messages_are_those_of_another_file(self):
        log = EtlWriter()
        for time, text in enumerate(("%%2952790016 and %%2952790017%%7", "%%", "100%%%2952790016",
                                     "%%99999999999999", "%%2952790020")):
            log.manifest(0, time, uuid.UUID("aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e001"), 2, 0,
                         struct.pack("<II", 2, 0xd) + utf16z(text), opcode=33)
        (FOLDER / "parameters.etl").write_bytes(log.build())
        front, back = "Painted Blue on Left|Right|0x8 in ", "\n(100%)"

        def messages(*options, status=0):
            events, summary = decode("--schemas", "new", "--messages", *options, trace="parameters.etl",
                                     status=status)[1:]
            return [event["message"].removeprefix(front).removesuffix(back) for event in events], summary

        self.assertEqual(messages()[0][0], "%%2952790016 and %%2952790017%%7")
        self.assertEqual(messages("--parameters", "other/none.dll")[0], [
            "Green and Blue%%7", "%%", "100%Green", "%%99999999999999",
            "Painted %1 on %2 in %3!s!%n(100%%)"])
        self.assertEqual(messages("--parameters", "new/painter.dll", "--language", "de-DE")[0][0],
                         "In Gr\u00fcn and Blau%%7 auf Links|Rechts|0x8: Blau")
        found = decode("--schemas", "new", "--parameters", "other/none.dll", "--where",
                       "message like '*Green and Blue*'", trace="parameters.etl")[1]
        self.assertEqual(len(found), 1)
        summary = messages("--parameters", "other/none.dll", "--parameters", "painted.etl", status=1)[1]
        self.assertEqual(set(codes(summary)), {"schema-file"})

    def test_damaged_messages_are_told(self):
        folder = FOLDER / "torn"
        shutil.copytree(FOLDER / "new", folder)
        path = folder / "en-US/painter.dll.mui"
        data = bytearray(path.read_bytes())
        at = data.index("Green\r\n".encode("utf-16-le")) - 4
        data[at:at + 2] = b"\xff\xff"
        path.write_bytes(data)
        events, summary = decode("--schemas", "torn", status=1)[1:]
        self.assertEqual(events[3]["fields"]["Colour"], 2)
        self.assertEqual(set(codes(summary)), {"schema-messages"})
        told, = summary["findings"]
        self.assertIsNone(told["first_offset"])  # in the other file
        self.assertIn(f"en-US/painter.dll.mui: at {at:#x}: message ", told["text"])

    def test_messages_that_are_not_stored_have_no_place(self):
        folder = FOLDER / "lacking"
        shutil.copytree(FOLDER / "new", folder)
        path = folder / "en-US/painter.dll.mui"
        data = bytearray(path.read_bytes())
        text = data.index("Green\r\n".encode("utf-16-le"))
        address, raw = struct.unpack_from("<I4xI", data, data.index(b".rsrc\0\0\0") + 12)
        entry, = (at for at in range(raw, raw + 0x100, 4) for rva, size in [struct.unpack_from("<II", data, at)]
                  if rva >= address and rva - address + raw <= text < rva - address + raw + size)
        struct.pack_into("<I", data, entry, 0x700000)
        path.write_bytes(data)
        told, = decode("--schemas", "lacking", status=1)[2]["findings"]
        self.assertEqual((told["code"], told["first_offset"]), ("schema-messages", None))
        self.assertIn("en-US/painter.dll.mui: the file stores nothing of its message table at RVA 0x700000", told["text"])

    def test_a_file_of_texts_that_cannot_be_opened_is_told_by_its_name(self):
        folder = FOLDER / "unopened"
        shutil.copytree(FOLDER / "new", folder)
        path = folder / "en-US/painter.dll.mui"
        for content, why in (None, f"cannot read: {os.strerror(errno.ELOOP)}"), (b"MZ and no image", ""):
            with self.subTest(content=content):
                path.unlink()
                if content is None:
                    path.symlink_to(path.name)
                else:
                    path.write_bytes(content)
                events, summary = decode("--schemas", "unopened/painter.dll", status=1)[1:]
                self.assertEqual(events[3]["fields"]["Colour"], 2)
                self.assertEqual(codes(summary).get("schema-file"), 1)
                self.assertNotIn("schema-messages", codes(summary))
                told, = (row["text"] for row in summary["findings"] if row["code"] == "schema-file")
                self.assertTrue(told.startswith(f"unopened/en-US/painter.dll.mui: {why}"), told)

    def test_damage_in_both_files_of_texts_is_counted_twice(self):
        folder = FOLDER / "neither"
        shutil.copytree(FOLDER / "new", folder)
        shutil.copy(FOLDER / "old/readme.txt", folder / "painter.dll")  # with texts of its own
        for path in folder / "painter.dll", folder / "en-US/painter.dll.mui":
            data = bytearray(path.read_bytes())
            at = data.index("Green\r\n".encode("utf-16-le")) - 4
            data[at:at + 2] = b"\xff\xff"
            path.write_bytes(data)
        summary = decode("--schemas", "neither/painter.dll", status=1)[2]
        self.assertEqual(codes(summary)["schema-messages"], 2)

    def test_folders_of_texts_that_cannot_be_listed_are_told_where_they_are_looked_into(self):
        folder = FOLDER / "unlisted"
        shutil.copytree(FOLDER / "new", folder)
        shutil.rmtree(folder / "en-US")
        (folder / "en-US").symlink_to("en-US")
        module = "unlisted/painter.dll"
        for language, status, found in ("en-US", 1, {"folder-unreadable": 1}), ("de-DE", 0, {}):
            with self.subTest(language=language):
                events, summary = decode("--schemas", module, "--language", language, status=status)[1:]
                self.assertEqual(events[3]["fields"]["Colour"], 2)
                self.assertEqual({code: count for code, count in codes(summary).items() if code != "no-match"}, found)
        summary = decode("--schemas", module, status=1)[2]
        self.assertEqual(codes(summary), {"folder-unreadable": 1})
        told, = (row["text"] for row in summary["findings"])
        self.assertEqual(told, f"{module}: unlisted/en-US: cannot be listed: {os.strerror(errno.ELOOP)}")
        (folder / "en-US").unlink()
        self.assertEqual(codes(decode("--schemas", module)[2]), {})

    def test_an_unknown_element_is_passed_over(self):
        folder = FOLDER / "element"
        folder.mkdir()
        data = bytearray((FOLDER / "new/painter.dll").read_bytes())
        at = data.index(b"WEVT")
        self.assertEqual(data[at + 16], 5)  # CHAN is the first
        data[at + 16] = 9
        (folder / "painter.dll").write_bytes(data)
        self.assertEqual(codes(decode("--schemas", "element")[2]), {"schema-element": 1})

    def test_selection_and_csv_know_the_names(self):
        rows = strict_csv(run("decode", "painted.etl", "--schemas", "new", "--provider", "Fixture-S*",
                              "--event", "Paint/Start", "--format", "csv"))
        self.assertEqual([row["name"] for row in rows], ["Paint/Start"])
        details = json.loads(rows[0]["details"])
        self.assertEqual(details["names"]["level"], "Informational")

    def test_jobs_do_not_matter(self):
        one, four = (run("decode", "painted.etl", "--schemas", "new", "--schemas", "old", "--jobs", n,
                         "--messages", "--schema-files", status=1) for n in (1, 4))
        self.assertEqual(one, four)


class Info(unittest.TestCase):
    def test_it_says_which_providers_have_a_schema(self):
        info = strict_json(run("info", "painted.etl", "--schemas", "new", "--format", "json"))
        by_guid = {p["guid"]: p for p in info["providers"] if p["guid"].startswith("aa0f3f0e")}
        first, second = (by_guid[g] for g in sorted(by_guid))
        self.assertEqual(first["schema_files"], ["new/painter.dll"])
        self.assertEqual(second["schema_files"], [])
        self.assertEqual(first["name"], "Fixture-Schemas")
        self.assertEqual([(k["id"], k["exact"], k["raw"]) for k in first["kinds"]],
                         [(1, 1, 0), (2, 1, 0), (3, 1, 0), (4, 0, 1)])
        self.assertEqual(info["schemas"][0]["file"], "new/painter.dll")
        text = run("info", "painted.etl", "--schemas", "new").decode()
        self.assertIn("new/painter.dll", text)
        plain = strict_json(run("info", "painted.etl", "--format", "json"))
        self.assertNotIn("schemas", plain)
        self.assertNotIn("schema_files", plain["providers"][0])

    def test_it_counts_what_decode_counts(self):
        for options in ([], ["--schemas", "new"], ["--schemas", "old", "--schemas", "new"]):
            status = 1 if len(options) == 4 else 0
            info = strict_json(run("info", "painted.etl", *options, "--format", "json", status=status))
            counts = decode(*options, status=status)[2]["counts"]
            for how in ("exact", "trailing", "partial", "raw"):
                self.assertEqual(sum(k[how] for p in info["providers"] for k in p["kinds"]),
                                 counts[how], (options, how))


@unittest.skipUnless(CASES.exists(), "the payloads with answers are not here")
class Cases(unittest.TestCase):
    """Payloads made by hand from documented layouts, decoded by a second decoder."""

    def test_what_microsofts_compiler_made(self):
        lines = strict_ndjson(run("decode", "compiled.etl", "--schemas", "compiled.dll", "--messages"))
        event = [line for line in lines if line["type"] == "event"][-1]
        wanted = json.loads(CASES.read_text())["resource"]["expect"]
        self.assertEqual(event["provider"]["guid"], wanted["providers"][0]["guid"])
        self.assertEqual(event["fields"], {"name": "nail", "value": -2})
        self.assertEqual(event["message"], wanted["messages"]["0xb0010001"].rstrip("\r\n"))

    def test_every_payload(self):
        cases = json.loads(CASES.read_text())["events"]
        events = {e["id"]: e for e in decode("--schemas", "cases.dll", trace="cases.etl")[1]}
        self.assertEqual(len(events), sum(isinstance(case["schema"], list) for case in cases))
        for number, event in events.items():
            case = cases[number]
            with self.subTest(case["id"], why=case["why"]):
                self.assertEqual(event["fields"], case["expect"])
                self.assertEqual(event["decoded"], case["result"])
                if "trailing" in case:
                    self.assertEqual(event["trailing"], case["trailing"])
                for name, wanted in case.get("resolved", {}).items():
                    names = "|".join(wanted) if isinstance(wanted, list) else wanted
                    self.assertEqual(event.get("resolved", {}).get(name), names)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
