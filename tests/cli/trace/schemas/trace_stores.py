"""Stores of schemas give events what the files that they were built from give them.

usage: trace_stores.py COLDTRACE PROJECT SHARED COMPILE_MANIFEST MAKE_SCHEMA_FILES [unittest arguments]
"""
import collections
import functools
import hashlib
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import json_schema
from cli.trace.etl_writer import EtlWriter, utf16z
from checksums import crc32c
from strict import strict_json, strict_ndjson

COLDTRACE, PROJECT, SHARED, COMPILE, MAKE = (Path(a).resolve() for a in sys.argv[1:6])
FOLDER = Path(tempfile.mkdtemp(prefix="coldtrace-stores-"))
CASES = SHARED / "facts/etl-schema-cases.json"
MANIFEST = (PROJECT / "tests/cli/trace/schemas/painter.man").read_text()
GUIDS = [f"aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e0{n}" for n in ("01", "02", "11", "12")]


def setUpModule():
    subprocess.run([MAKE, FOLDER, *([CASES] if CASES.exists() else [])], check=True)
    (FOLDER / "man").mkdir()
    (FOLDER / "man/painter.man").write_text(MANIFEST)
    run("schemas", "build", "new", "old", "other", "man", "-o", "all.ctschemas")


def tearDownModule():
    shutil.rmtree(FOLDER)


def run(*arguments, status=0, **environment):
    done = subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True, timeout=300,
                          cwd=FOLDER, env=os.environ | environment)
    if done.returncode != status:
        raise AssertionError((done.returncode, done.stderr.decode()))
    return done.stdout


@functools.cache
def schema(name):
    return json_schema.of(json.loads((PROJECT / f"docs/schema/{name}.schema.json").read_text()))


def validate(value, name):
    schema(name).validate(value)


def decode(*options, trace="painted.etl", status=0, **environment):
    lines = strict_ndjson(run("decode", trace, *options, status=status, **environment))
    for line in lines:
        validate(line, "trace")
    events = [line for line in lines if line["type"] == "event" and
              line["provider"]["guid"].startswith("aa0f3f0e")]
    return lines[0], events, lines[-1]


def ask(command, *options, status=0):
    answer = strict_json(run("schemas", command, *options, "--format", "json", status=status))
    validate(answer, f"trace-schemas-{command}")
    return answer


def codes(summary):
    return {finding["code"]: finding["count"] for finding in summary["findings"]}


class Store:
    """A reader of its own, from the document alone."""

    def __init__(self, data):
        magic, version, crc, size, at, length, directory_crc, providers, files, row = struct.unpack_from(
            "<8sIIQQQIIII", data)
        assert (magic, version, size, row) == (b"CTSCHEMA", 3, len(data), 20)
        assert crc == crc32c(data[16:56]) and directory_crc == crc32c(data[at:at + length])
        directory = data[at:at + length]
        texts = directory[56 * providers + 20 * files:]

        def text(offset):
            size = struct.unpack_from("<H", texts, offset)[0]
            return texts[offset + 2:offset + 2 + size].decode()

        rows = [tuple(map(text, struct.unpack_from("<5I", directory, 56 * providers + 20 * i)))
                for i in range(files)]
        self.files = [row[:4] for row in rows]
        self.languages = {row[0]: row[4] for row in rows}
        self.providers, self.bases = [], []
        for i in range(providers):
            guid, offset, packed, plain, crc, file, events, name, flags, base = struct.unpack_from(
                "<16sQ8I", directory, 56 * i)
            record = data[offset:offset + packed]
            assert crc32c(record) == crc and base <= providers
            record = zlib.decompress(record)
            assert len(record) == plain
            self.providers.append((str(uuid.UUID(bytes_le=guid)), text(name), self.files[file], events,
                                   bool(flags & 1), record))
            self.bases.append(base - 1 if base else None)


def numbers(record):
    value = shift = 0
    for byte in record:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


class Building(unittest.TestCase):
    def test_events_are_as_from_the_files(self):
        for options, status in ((("new",), 0), (("new", "old"), 1), (("other",), 0), (("man", "other"), 0)):
            with self.subTest(options):
                run("schemas", "build", *options, "-o", "some.ctschemas")
                named = [part for option in options for part in ("--schemas", option)]
                files, store = (decode(*schemas, "--messages", "--schema-files", status=status)
                                for schemas in (named, ("--schemas", "some.ctschemas")))
                self.assertEqual(store[1], files[1])
                self.assertEqual(store[2], files[2])
                for line in store[0]["schemas"]:
                    self.assertEqual(line.pop("store"), "some.ctschemas")
                    self.assertEqual(line["sha256"],
                                     hashlib.sha256((FOLDER / line["file"]).read_bytes()).hexdigest())
                    line["sha256"] = line["store"] = None
                self.assertEqual(store[0]["schemas"], files[0]["schemas"])

    @unittest.skipUnless(CASES.exists(), "the payloads with answers are not here")
    def test_every_payload_of_the_cases(self):
        run("schemas", "build", "cases.dll", "compiled.dll", "-o", "cases.ctschemas")
        for trace, module in (("cases.etl", "cases.dll"), ("compiled.etl", "compiled.dll")):
            store, files = (run("decode", trace, "--schemas", schemas, "--messages").splitlines()[1:]
                            for schemas in ("cases.ctschemas", module))
            self.assertEqual(store, files)

    def test_the_format_is_as_documented(self):
        store = Store((FOLDER / "all.ctschemas").read_bytes())
        self.assertEqual([row[0] for row in store.providers], [GUIDS[0], GUIDS[0], *GUIDS[1:]])
        listed = ask("list", "--schemas", "all.ctschemas")["providers"]
        self.assertEqual(sorted((row["guid"], row["name"], row["events"], row["recreated"], row["file"],
                                 row["file_version"] or "", row["sha256"]) for row in listed),
                         sorted((guid, name, events, recreated, file[0], file[1], file[3])
                                for guid, name, file, events, recreated, _ in store.providers))
        self.assertEqual([f[:3] for f in store.files], [
            ("new/painter.dll", "6.1.7601.17514", "new/en-US/painter.dll.mui"),
            ("old/readme.txt", "6.1.7601.17514", ""), ("other/deep/second.sys", "6.1.7601.17514", ""),
            ("man/painter.man", "", "")])
        record = store.providers[0][5]
        self.assertIn(b"Painted %1 on %2 in %3!s!%n(100%%)", record)
        self.assertEqual(record.count(b"Colour"), 2)  # the field, and the map Colours: texts are there once
        count = next(numbers(record))
        texts, at = [], 1
        for _ in range(count):
            texts.append(record[at + 1:at + 1 + record[at]])
            at += 1 + record[at]
        self.assertEqual(texts[0], b"Fixture-Schemas")
        self.assertEqual(len(set(texts)), count)

    def test_what_is_the_same_is_kept_once(self):
        shutil.copytree(FOLDER / "new", FOLDER / "copies/a/new")
        shutil.copytree(FOLDER / "new", FOLDER / "copies/b/new")
        run("schemas", "build", "copies", "-o", "copies.ctschemas")
        self.assertEqual(len(Store((FOLDER / "copies.ctschemas").read_bytes()).files), 1)
        for number, version in enumerate(("10.0.1.1", "10.0.2.1", "10.0.3.1")):
            compiled("man/painter.man", f"versions/v{number}.dll", version)
        run("schemas", "build", "versions", "-o", "versions.ctschemas")
        data = (FOLDER / "versions.ctschemas").read_bytes()
        store = Store(data)
        self.assertEqual([f[1] for f in store.files], ["10.0.1.1", "10.0.2.1", "10.0.3.1"])
        self.assertEqual(len(store.providers), 6)
        self.assertEqual(len({struct.unpack_from("<Q", data, data.index(uuid.UUID(row[0]).bytes_le) + 16)
                              for row in store.providers}), 2)  # records

    def test_a_provider_that_changed_keeps_what_is_new(self):
        text = MANIFEST.replace("Painted %1 on %2", "Brushed %1 on %2", 1)
        self.assertNotEqual(text, MANIFEST)
        (FOLDER / "man/brushed.man").write_text(text)
        self.addCleanup((FOLDER / "man/brushed.man").unlink)
        compiled("man/painter.man", "changed/a.dll", "10.0.1.1")
        compiled("man/brushed.man", "changed/b.dll", "10.0.2.1")
        run("schemas", "build", "changed", "-o", "changed.ctschemas")
        data = (FOLDER / "changed.ctschemas").read_bytes()
        store = Store(data)
        at = [i for i, row in enumerate(store.providers) if row[0] == GUIDS[2]]
        self.assertEqual([store.bases[i] for i in at], [None, at[0]])
        first, second = (store.providers[i][5] for i in at)
        self.assertEqual((first.count(b"Colours"), second.count(b"Colours")), (1, 0))
        self.assertIn(b"Brushed", second)
        self.assertLess(len(second), len(first) // 2)
        kept = {row["file"]: row["events"] for row in
                ask("show", "manifest-p*", "--schemas", "changed.ctschemas")["providers"]}
        for name in "ab":
            own, = ask("show", "manifest-p*", "--schemas", f"changed/{name}.dll")["providers"]
            self.assertEqual(kept[f"changed/{name}.dll"], own["events"])
        # A base that is not a base, of another provider or beyond all rows makes no store.
        directory, length = struct.unpack_from("<QQ", data, 24)
        for base in (at[1] + 1, 1 + next(i for i, row in enumerate(store.providers) if row[0] != GUIDS[2]), 99):
            bad = bytearray(data)
            struct.pack_into("<I", bad, directory + 56 * at[1] + 52, base)
            struct.pack_into("<I", bad, 40, crc32c(bad[directory:directory + length]))
            struct.pack_into("<I", bad, 12, crc32c(bad[16:56]))
            (FOLDER / "bad.ctschemas").write_bytes(bad)
            self.assertEqual(codes(decode("--schemas", "bad.ctschemas", status=1)[2]).get("schema-file"), 1)
        run("schemas", "build", "changed.ctschemas", "-o", "again.ctschemas")
        self.assertEqual((FOLDER / "again.ctschemas").read_bytes(), data)

    def test_stores_become_one_and_it_does_not_matter_how_often(self):
        for name, source in (("a", "new"), ("b", "man"), ("two", ("new", "man"))):
            run("schemas", "build", *([source] if isinstance(source, str) else source), "-o", f"{name}.ctschemas")
        run("schemas", "build", "a.ctschemas", "b.ctschemas", "-o", "merged.ctschemas")
        run("schemas", "build", "merged.ctschemas", "a.ctschemas", "-o", "again.ctschemas")
        one, other, third = ((FOLDER / f"{name}.ctschemas").read_bytes() for name in ("two", "merged", "again"))
        self.assertEqual(one, other)
        self.assertEqual(one, third)

    def test_languages(self):
        run("schemas", "build", "new", "--language", "de-DE", "-o", "german.ctschemas")
        header, events, summary = decode("--schemas", "german.ctschemas", "--messages")
        self.assertEqual(events[3]["message"], "In the hall auf Links|Rechts|0x8: Blau")
        self.assertEqual(header["schemas"][0]["language_file"], "new/de-DE/PAINTER.dll.mui")

    def trace_of(self, source):
        """One with an event that the source declares."""
        if source != "man":
            return "painted.etl"
        log = EtlWriter()
        log.manifest(0, 1, uuid.UUID(GUIDS[2]), 1, 0, struct.pack("<II", 2, 0xd) + utf16z("the hall"))
        (FOLDER / "man.etl").write_bytes(log.build())
        return "man.etl"

    def test_the_language_of_texts_is_kept(self):
        """As the files themselves tell it: a manifest's own and that of a folder of .mui files."""
        for source, language, kept in (("man", "de-DE", "de-DE"), ("man", "fr-FR", "en-US"), ("new", "de-DE", "de-DE")):
            with self.subTest(source=source, language=language):
                run("schemas", "build", source, "--language", language, "-o", "some.ctschemas",
                    status=int(language == "fr-FR"))
                self.assertEqual(set(Store((FOLDER / "some.ctschemas").read_bytes()).languages.values()), {kept})
                for asked, found in ((kept, {}), (kept.lower(), {}), ("fr-FR", {"no-match": 1})):
                    summary = decode("--schemas", "some.ctschemas", "--language", asked, status=int(bool(found)),
                                     trace=self.trace_of(source))[2]
                    self.assertEqual(codes(summary), found)
                run("schemas", "build", "some.ctschemas", "-o", "copy.ctschemas")
                self.assertEqual((FOLDER / "copy.ctschemas").read_bytes(), (FOLDER / "some.ctschemas").read_bytes())

    def test_stores_of_versions_1_and_2_are_read(self):
        for source, language, found in (("man", "fr-FR", {}), ("new", "fr-FR", {"no-match": 1}), ("new", "en-US", {})):
            run("schemas", "build", source, "-o", "some.ctschemas")
            data = (FOLDER / "some.ctschemas").read_bytes()
            trace = self.trace_of(source)
            wanted = decode("--schemas", "some.ctschemas", "--messages", trace=trace)[1]
            (FOLDER / "old.ctschemas").write_bytes(data[:8] + b"\2" + data[9:])  # nothing has a base
            self.assertEqual(decode("--schemas", "old.ctschemas", "--messages", trace=trace)[1], wanted)
            at, length, providers, files = struct.unpack_from("<QQ4xII", data, 24)
            rows = at + 56 * providers
            old = bytearray(data[:rows] + b"".join(data[rows + 20 * i:rows + 20 * i + 16] for i in range(files)) +
                            data[rows + 20 * files:])
            struct.pack_into("<I", old, 8, 1)
            struct.pack_into("<QQQ", old, 16, len(old), at, length - 4 * files)
            struct.pack_into("<II", old, 40, crc32c(old[at:]), providers)
            struct.pack_into("<I", old, 52, 0)
            struct.pack_into("<I", old, 12, crc32c(old[16:56]))
            (FOLDER / "old.ctschemas").write_bytes(old)
            self.assertEqual(decode("--schemas", "old.ctschemas", "--messages", trace=trace)[1], wanted)
            summary = decode("--schemas", "old.ctschemas", "--language", language, status=int(bool(found)),
                             trace=trace)[2]
            self.assertEqual(codes(summary), found)

    def test_folders_of_nothing_and_damage(self):
        (FOLDER / "empty").mkdir()
        run("schemas", "build", "empty", "-o", "none.ctschemas", status=2)
        run("schemas", "build", "nowhere", "-o", "none.ctschemas", status=2)
        self.assertFalse((FOLDER / "none.ctschemas").exists())
        run("schemas", "build", "damaged", "-o", "damaged.ctschemas", status=1)
        self.assertEqual([e["decoded"] for e in decode("--schemas", "damaged.ctschemas")[1]][2:5],
                         ["raw", "exact", "exact"])
        run("schemas", "build", "all.ctschemas", "-o", "all.ctschemas", status=2)  # an input


def compiled(manifest, module, version):
    subprocess.run([COMPILE, FOLDER / manifest, FOLDER / module, "en-US", "5", version], check=True)


class Choosing(unittest.TestCase):
    """Builds of one file that declare an event otherwise; the trace is of 10.0.19041."""

    @classmethod
    def setUpClass(cls):
        def declare(name, version, *fields):
            data = "".join(f'<data name="{name}" inType="win:{kind}"/>' for name, kind in fields)
            (FOLDER / f"{name}.man").write_text(
                '<instrumentationManifest><instrumentation><events><provider name="Fixture-Schemas" guid="{' +
                GUIDS[0] + f'}}"><templates><template tid="t">{data}</template></templates><events>'
                '<event value="1" template="t"/></events></provider></events></instrumentation>'
                '</instrumentationManifest>')
            compiled(f"{name}.man", f"builds/{name}.dll", version)

        (FOLDER / "builds").mkdir()
        declare("a", "10.0.22000.7", ("A", "UInt32"), ("B", "UInt32"), ("C", "UInt32"))
        declare("b", "10.0.17763.1", ("Old", "UInt32"), ("Old", "UInt32"))
        declare("c", "10.0.18362.9", ("Count", "UInt64"))
        declare("d", "10.0.19041.3", ("Count", "UInt32"))
        declare("e", "6.1.19041.3", ("Wrong", "UInt32"))

    def first(self, *builds, status=0):
        store = "".join(builds) + ".ctschemas"
        run("schemas", "build", *(f"builds/{name}.dll" for name in builds), "-o", store)
        answers = []
        for options in (["--schemas", store], [part for name in builds for part in ("--schemas", f"builds/{name}.dll")]):
            header, events, summary = decode(*options, "--schema-files", status=status)
            answers.append([(e["schema_file"].removeprefix("builds/"), e["schema_file_version"], e["fields"], e["decoded"])
                            for e in events[:3]] + [codes(summary)])
        self.assertEqual(*answers)
        return answers[0]

    def test_the_own_build_goes_first_and_others_explain_the_rest(self):
        one, two, three, found = self.first("a", "b", "c", "d", "e")
        self.assertEqual(one, ("d.dll", "10.0.19041.3", {"Count": 5}, "exact"))
        self.assertEqual(two, ("c.dll", "10.0.18362.9", {"Count": 5 | 6 << 32}, "exact"))
        self.assertEqual(three, ("a.dll", "10.0.22000.7", {"A": 5, "B": 6, "C": 7}, "exact"))
        self.assertEqual(found, {"schema-builds": 4, "schema-other": 1})

    def test_then_the_nearest_build_before_it(self):
        self.assertEqual(self.first("a", "b", "c")[1][0], "c.dll")
        self.assertEqual(self.first("a", "b")[1][:3], ("b.dll", "10.0.17763.1", {"Old": 5, "Old_2": 6}))

    def test_else_the_first_and_that_is_a_conflict(self):
        found = self.first("a", "e", status=1)
        self.assertEqual(found[2][0], "a.dll")
        self.assertEqual(found[3], {"schema-conflict": 1, "schema-other": 1})


class Asking(unittest.TestCase):
    def test_list_of_files_and_stores_is_the_same(self):
        store, files = (ask("list", *options)["providers"] for options in (
            ("--schemas", "all.ctschemas"), ("--schemas", "new", "--schemas", "old", "--schemas", "other", "--schemas", "man")))
        for row in store:
            self.assertEqual(row.pop("store"), "all.ctschemas")
            self.assertRegex(row.pop("sha256"), "^[0-9a-f]{64}$")
        for row in files:
            self.assertEqual((row.pop("store"), row.pop("sha256")), (None, None))
        self.assertEqual(store, files)
        text = run("schemas", "list", "--schemas", "all.ctschemas").decode()
        for row in store:
            self.assertRegex(text, f"{row['guid']}  {row['name']} +{row['events']} events?  {row['file']}")

    def test_show(self):
        answer = ask("show", "manifest-p*", "--schemas", "all.ctschemas")
        provider, = answer["providers"]
        self.assertEqual((provider["guid"], provider["file"], provider["recreated"]), (GUIDS[2], "man/painter.man", False))
        paint, rows, types, rest = provider["events"]
        self.assertEqual({k: paint[k] for k in paint if k not in ("fields", "message")}, {
            "id": 1, "version": 0, "name": "Paint/Brush", "channel": 17, "channel_name": "Manifest-Painter/Operational",
            "level": 4, "level_name": "Informational", "opcode": 40, "opcode_name": "Brush", "task": 7,
            "task_name": "Paint", "keywords": "0x1000000000011", "keyword_names": ["Walls", "Doors", "ResponseTime"]})
        self.assertEqual(paint["message"], "Painted %1 on %2 in %3!s!%n(100%%)")
        self.assertEqual(paint["fields"][0], {
            "name": "Colour", "type": "win:UInt32", "shown_as": "xs:unsignedInt", "length": None, "count": None,
            "map": {"name": "Colours", "bits": False, "entries": [{"value": 1, "text": "Green"}, {"value": 2, "text": "Blue"}]}})
        self.assertEqual([(f["name"], f["type"], f["length"], f["count"]) for f in rows["fields"]], [
            ("Count", "win:UInt16", None, None), ("Rows", "struct", None, "Count"), ("Size", "win:UInt8", None, None),
            ("Data", "win:Binary", "Size", None), ("Size_2", "win:UInt8", None, None), ("More", "win:UInt16", None, "Size_2"),
            ("Point", "struct", None, None), ("Pair", "win:UInt8", None, 2), ("Fixed", "win:AnsiString", 3, None),
            ("__binLength", "win:UInt32", None, None), ("Tail", "win:Binary", "__binLength", None)])
        self.assertEqual([f["name"] for f in rows["fields"][1]["fields"]], ["Size", "Key"])
        self.assertEqual((rows["level"], rows["level_name"], rows["opcode"], rows["channel"]), (16, "Loud", 1, 16))
        self.assertEqual((rest["opcode"], rest["message"]), (34, None))
        for written in (GUIDS[2], f"{{{GUIDS[2]}}}", GUIDS[2].upper(), GUIDS[2].replace("-", "")):  # with braces as in a manifest
            self.assertEqual(ask("show", written, "--schemas", "all.ctschemas"), answer)
        text = run("schemas", "show", "Manifest-Painter", "--schemas", "all.ctschemas").decode()
        for line in ("1 version 0  Paint/Brush  Informational Walls Doors ResponseTime", "struct Rows[Count]",
                     "  win:UnicodeString Key length Size as xs:string", "win:UInt32 Colour as xs:unsignedInt named by Colours"):
            self.assertIn(line, text)

    def test_show_compares_the_compiled_with_the_manifest(self):
        compiled("man/painter.man", "painter.dll", "")
        one, other = (ask("show", "Manifest-*", "--schemas", name)["providers"] for name in ("man", "painter.dll"))
        self.assertEqual([p["events"] for p in one], [p["events"] for p in other])

    def test_a_provider_that_is_not_there(self):
        answer = ask("show", "Manifest-Painted", "--schemas", "all.ctschemas", status=1)
        self.assertEqual(codes(answer), {"no-match": 1})
        self.assertIn("Manifest-Painter", answer["findings"][0]["text"])
        self.assertEqual(answer["providers"], [])

    def test_check(self):
        answer = ask("check", "painted.etl", "--schemas", "new", "--schemas", "all.ctschemas", "--tolerate",
                     "schema-conflict", status=1)
        self.assertFalse(answer["complete"])
        first, second = answer["providers"]
        self.assertEqual((first["guid"], first["events"], first["kinds"], first["missing_events"]), (GUIDS[0], 6, 4, 1))
        self.assertEqual(first["missing"], [{"id": 4, "version": 0, "events": 1}])
        self.assertEqual(first["sources"], [{"file": "new/painter.dll", "file_version": "6.1.7601.17514"}])
        self.assertEqual([f["file"] for f in first["declared_by"]], ["new/painter.dll", "new/painter.dll", "old/readme.txt"])
        self.assertEqual([f["store"] for f in first["declared_by"]], [None, "all.ctschemas", "all.ctschemas"])
        self.assertEqual((second["missing"], second["sources"][0]["file"]), ([], "other/deep/second.sys"))
        bare = ask("check", "painted.etl", status=1)
        self.assertEqual([(len(p["missing"]), p["declared_by"]) for p in bare["providers"]], [(4, []), (1, [])])
        self.assertEqual([p["windows_files"] for p in bare["providers"]], [[], []])

    def test_files_of_windows_are_a_hint(self):
        """As the registry of Windows has them: HttpService in the driver, Kernel-Process in another DLL since 8.1."""
        log = EtlWriter()
        for time, guid in enumerate(("dd5ef90a-6398-47a4-ad34-4dcecdef795f", "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716")):
            log.manifest(0, time, uuid.UUID(guid), 1, 9, b"")
        (FOLDER / "windows.etl").write_bytes(log.build())
        found = ask("check", "windows.etl", status=1)
        self.assertEqual({p["name"]: p["windows_files"] for p in found["providers"]},
                         {"Microsoft-Windows-HttpService": ["http.sys"],
                          "Microsoft-Windows-Kernel-Process": ["microsoft-windows-system-events.dll", "advapi32.dll"]})
        text = run("schemas", "check", "windows.etl", status=1).decode()
        self.assertIn("declares the provider; on Windows http.sys does\n", text)
        self.assertIn("; on Windows microsoft-windows-system-events.dll or advapi32.dll does\n", text)
        text = run("schemas", "check", "painted.etl", "--schemas", "other", status=1).decode()
        self.assertIn("MISSING  " + GUIDS[0], text)
        self.assertIn("none of the given files declares the provider", text)
        self.assertIn("ok       " + GUIDS[1], text)
        self.assertIn("1 of 2 providers lacks schemas", text)

    def test_the_environment_names_files_too(self):
        environment = {"COLDTRACE_SCHEMAS": f"::{FOLDER}/other:all.ctschemas"}
        header, events, summary = decode(status=1, **environment)
        self.assertEqual(events[3]["name"], "Paint/Start")
        self.assertEqual([f["file"] for f in header["schemas"]], [f"{FOLDER}/other/deep/second.sys", "new/painter.dll", "old/readme.txt"])
        header = decode("--schemas", "new", status=1, **environment)[0]
        self.assertEqual(header["schemas"][0]["file"], "new/painter.dll")
        self.assertIsNone(header["schemas"][0]["store"])
        # What a trace does not need is not a finding then.
        self.assertEqual(codes(decode(COLDTRACE_SCHEMAS="man")[2]), {})
        self.assertEqual(decode(COLDTRACE_SCHEMAS="")[0].get("schemas"), None)
        self.assertIn(b"Fixture-Schemas", run("schemas", "list", COLDTRACE_SCHEMAS="new"))
        run("schemas", "list", status=2, COLDTRACE_SCHEMAS="")


class Hostile(unittest.TestCase):
    def try_store(self, data, status=1):
        (FOLDER / "bad.ctschemas").write_bytes(data)
        return decode("--schemas", "bad.ctschemas", status=status)

    def repaired(self, data):
        """With checksums that are right again."""
        data = bytearray(data)
        at, length = struct.unpack_from("<QQ", data, 24)
        if at + length <= len(data):
            struct.pack_into("<I", data, 40, crc32c(data[at:at + length]))
        struct.pack_into("<I", data, 12, crc32c(data[16:56]))
        return bytes(data)

    def test_every_cut_is_refused(self):
        run("schemas", "build", "new", "-o", "small.ctschemas")
        whole = (FOLDER / "small.ctschemas").read_bytes()
        for size in [*range(8, 64), *range(64, len(whole), 97), len(whole) - 1]:
            summary = self.try_store(whole[:size])[2]
            self.assertEqual(codes(summary), {"schema-file": 1, "schema-unused": 1})
            self.assertIn("bad.ctschemas: a schema store that cannot be used: ", summary["findings"][0]["text"])

    def test_a_changed_byte_is_noticed(self):
        whole = (FOLDER / "small.ctschemas").read_bytes() if (FOLDER / "small.ctschemas").exists() else (
            run("schemas", "build", "new", "-o", "small.ctschemas"), (FOLDER / "small.ctschemas").read_bytes())[1]
        places = random.Random(19).sample(range(8, len(whole)), 64)
        for at in (8, 12, 16, 24, 40, 44, 48, *places):
            data = bytearray(whole)
            data[at] ^= 0x41
            with self.subTest(at):
                self.assertTrue(set(codes(self.try_store(bytes(data))[2])) & {"schema-file", "schema-damaged"})

    def test_a_later_version_says_so(self):
        data = bytearray((FOLDER / "all.ctschemas").read_bytes())
        data[8] = 4
        text = self.try_store(bytes(data))[2]["findings"][0]["text"]
        self.assertIn("schema store.version: not supported: expected 0x3, found 0x4", text)

    def test_numbers_that_lead_elsewhere_are_refused(self):
        whole = (FOLDER / "all.ctschemas").read_bytes()
        at, length = struct.unpack_from("<QQ", whole, 24)
        for place, value in ((44, 0xFFFFFFFF), (48, 0xFFFFFFFF), (32, 1 << 40), (24, 1 << 60), (at + 16, 1 << 60),
                             (at + 24, 0xFFFFFFFF), (at + 28, 0xFFFFFFFF), (at + 36, 99), (at + 44, 0xFFFFFFF)):
            data = bytearray(whole)
            struct.pack_into("<Q" if value > 0xFFFFFFFF else "<I", data, place, value)
            with self.subTest(place=place, value=value):
                self.assertEqual(codes(self.try_store(self.repaired(data))[2]), {"schema-file": 1, "schema-unused": 1})
        data = bytearray(whole)  # GUIDs out of order
        data[at:at + 56], data[at + 112:at + 168] = whole[at + 112:at + 168], whole[at:at + 56]
        self.assertEqual(codes(self.try_store(self.repaired(data))[2])["schema-file"], 1)

    def test_records_of_any_bytes_cost_their_provider(self):
        whole = (FOLDER / "all.ctschemas").read_bytes()
        at, length = struct.unpack_from("<QQ", whole, 24)
        good = Store(whole).providers[0][5]
        dice = random.Random(1)
        bombs = [b"", b"\0", b"\xff" * 20, b"\0" * 5_000_000, b"\1\1", b"\2\3ab", good[:-1], good + b"\0"]
        for _ in range(60):
            bent = bytearray(good)
            for _ in range(dice.randrange(1, 4)):
                bent[dice.randrange(len(bent))] = dice.randrange(256)
            bombs.append(bytes(bent))
        refused = 0
        for record in bombs:
            packed = zlib.compress(record)
            directory = bytearray(whole[at:at + length])
            struct.pack_into("<QIII", directory, 16, at, len(packed), len(record), crc32c(packed))
            data = bytearray(whole[:at] + packed + directory)
            struct.pack_into("<QQ", data, 16, len(data), at + len(packed))
            (FOLDER / "bad.ctschemas").write_bytes(self.repaired(data))
            done = subprocess.run([COLDTRACE, "trace", "decode", "painted.etl", "--schemas", "bad.ctschemas", "--messages"],
                                  cwd=FOLDER, capture_output=True, timeout=60)
            self.assertIn(done.returncode, (0, 1))
            summary = strict_ndjson(done.stdout)[-1]
            refused += "schema-damaged" in codes(summary)
        self.assertGreaterEqual(refused, 8)

    def test_checks_ask_for_fields_and_names_of_files(self):
        _, events, _ = decode("--schemas", "new")
        counts = collections.Counter(event["name"] for event in events if event["name"])
        fields = collections.Counter(name for event in events for name in event["fields"] or ()
                                     if re.fullmatch(r"\w+", name))
        self.assertGreater(min(len(counts), len(fields)), 1)
        expected = [*((f'name == "{name}"', count) for name, count in counts.items()),
                    *((f"exists fields.{name}", count) for name, count in fields.items())]
        line = [part for text, count in expected for part in ("--expect", text, "--min", count, "--max", count)]
        for named, environment in ((["--schemas", "new"], {}), ([], {"COLDTRACE_SCHEMAS": "new"})):
            answer = strict_json(run("check", "painted.etl", *named, *line, "--format", "json", **environment))
            self.assertEqual([row["events"] for row in answer["expectations"]], [count for _, count in expected])
        answer = strict_json(run("check", "painted.etl", *line, "--format", "json", status=1))
        self.assertEqual({row["events"] for row in answer["expectations"]}, {0})

    def test_no_output_replaces_a_file_of_schemas(self):
        folder = FOLDER / "read"
        (folder / "below").mkdir(parents=True)
        shutil.copy(FOLDER / "man/painter.man", folder / "below")
        shutil.copy(FOLDER / "all.ctschemas", folder / "all.store")
        (folder / "damaged.store").write_bytes((FOLDER / "all.ctschemas").read_bytes()[:200])
        (folder / "notes").write_text("of no use")
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        lines = (["decode", "painted.etl"], ["info", "painted.etl"],
                 ["check", "painted.etl", "--expect", "id == 1"], ["schemas", "check", "painted.etl"],
                 ["schemas", "list"], ["schemas", "show", "*"])
        for output in ("below/painter.man", "all.store", "damaged.store"):
            for line in lines:
                for named, environment in ((["--schemas", "read"], {}), ([], {"COLDTRACE_SCHEMAS": "man:read"})):
                    with self.subTest(output=output, line=line, named=named):
                        self.refused([*line, *named, "-o", folder / output], environment)
            self.refused(["schemas", "build", "read", "-o", folder / output])
        # By its usual name no other command writes one.
        store = Path(shutil.copy(FOLDER / "all.ctschemas", folder))
        before[store] = store.read_bytes()
        self.refused(["schemas", "build", "read", "-o", store])
        for line in lines:
            self.refused([*line, "--schemas", "read", "-o", store], words=b"its name ends in .ctschemas")
        self.assertEqual({path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}, before)
        # What is not a schema is written: a result of yesterday's.
        run("schemas", "list", "--schemas", "read/below", "-o", folder / "notes")
        self.assertIn(b"Painter", (folder / "notes").read_bytes())

    def refused(self, line, environment={}, words=b"the same file as the input"):
        done = subprocess.run([COLDTRACE, "trace", *map(str, line)], capture_output=True, timeout=60,
                              cwd=FOLDER, env=os.environ | environment)
        self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
        self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
