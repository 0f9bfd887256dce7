"""Events get their fields and names from instrumentation manifests, as from the DLLs that they become.

usage: trace_manifests.py COLDTRACE PROJECT SHARED COMPILE_MANIFEST [unittest arguments]
"""
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid
import xml.sax.saxutils
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from cli.trace.etl_writer import EtlWriter, utf16z
from strict import strict_ndjson

COLDTRACE, PROJECT, SHARED, COMPILE = (Path(a).resolve() for a in sys.argv[1:5])
CASES = SHARED / "facts/etl-schema-cases.json"
FOLDER = Path(tempfile.mkdtemp(prefix="coldtrace-manifests-"))
PAINTER, HELPER, CASE = (uuid.UUID(f"aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e0{n}") for n in (11, 12, 13))
MANIFEST = (PROJECT / "tests/cli/trace/schemas/painter.man").read_text()

WALL = struct.pack("<II", 2, 0xd) + utf16z("the hall")
ROWS = (struct.pack("<HB", 2, 1) + "k".encode("utf-16-le") + b"\2" + "vv".encode("utf-16-le") +
        b"\3abc" + b"\2" + struct.pack("<HH", 5, 6) + struct.pack("<hh", -1, 2) + b"\x08\x09" +
        b"xyz" + struct.pack("<I", 2) + b"\xca\xfe")
TYPES = (struct.pack("<bIIH", -2, 0xC0000022, 4711, 0xBB01) + bytes([192, 168, 1, 20]) + PAINTER.bytes_le +
         bytes([1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0]) + struct.pack("<QQfI", 132223104001234567, 0x1234, 1.5, 7) +
         b"\1" + struct.pack("<H", 4) + "ok".encode("utf-16-le"))
FIELDS = [
    {"Colour": 2, "Sides": "0xd", "Where": "the hall"},
    {"Count": 2, "Rows": [{"Size": 1, "Key": "k"}, {"Size": 2, "Key": "vv"}], "Size": 3, "Data": "616263",
     "Size_2": 2, "More": [5, 6], "Point": {"X": -1, "Y": 2}, "Pair": [8, 9], "Fixed": "xyz",
     "__binLength": 2, "Tail": "cafe"},
    {"Int8": -2, "Code": "0xc0000022", "Pid": 4711, "Port": 443, "Address": "192.168.1.20",
     "Id": str(PAINTER), "User": "S-1-5-18", "Time": "2020-01-01T00:00:00.1234567Z", "Pointer": "0x1234",
     "Float": 1.5, "Flag": True, "Byte": True, "Counted": "ok"},
    {},
    {"Hand": 9}]


def write(name, content):
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def compile_manifest(manifest, module, *arguments):
    (FOLDER / module).parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([COMPILE, FOLDER / manifest, FOLDER / module, *arguments], check=True)
    return module


def setUpModule():
    log = EtlWriter()
    for time, (provider, number, version, payload, opcode, keywords) in enumerate((
            (PAINTER, 1, 0, WALL, 40, 0x1000000000011), (PAINTER, 2, 1, ROWS, 1, 0x10),
            (PAINTER, 3, 0, TYPES, 0, 0), (PAINTER, 4, 0, b"", 34, 0),
            (HELPER, 1, 0, struct.pack("<I", 9), 0, 0))):
        log.manifest(0, time, provider, number, version, payload, opcode, keywords=keywords)
    write("painted.etl", log.build())
    write("painter.man", MANIFEST)
    compile_manifest("painter.man", "painter.dll")


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
    events = [line for line in lines if line["type"] == "event" and
              line["provider"]["guid"].startswith("aa0f3f0e")]
    return lines[0], events, lines[-1]


def codes(summary):
    return {finding["code"]: finding["count"] for finding in summary["findings"]}


class Manifests(unittest.TestCase):
    def test_names_fields_and_messages(self):
        header, events, summary = decode("--schemas", "painter.man", "--messages")
        self.assertEqual([e["fields"] for e in events], FIELDS)
        self.assertEqual({e["decoded"] for e in events}, {"exact"})
        self.assertEqual(events[0]["resolved"], {"Colour": "Blue", "Sides": "Left|Right|0x8"})
        self.assertEqual(events[0]["message"], "Painted Blue on Left|Right|0x8 in the hall\n(100%)")
        self.assertEqual([e["name"] for e in events],
                         ["Paint/Brush", "Rest/Start", "Types", "Rest/Roll", "Help"])
        # By the numbers of the header, which is of no task: its own opcode of Paint is not of all.
        self.assertEqual(events[0]["names"], {"level": "Informational",
                                              "keywords": ["Walls", "Doors", "ResponseTime"]})
        self.assertEqual(events[3]["names"]["opcode"], "Roll")
        self.assertEqual({e["provider"]["name"] for e in events}, {"Manifest-Painter", "Manifest-Helper"})
        self.assertIsNone(events[3]["message"])  # a string that is missing
        for where, wanted in (("message like 'Painted*'", [events[0]]), ("exists message", [e for e in events if e["message"]]),
                              ("message matches 'the (hall|attic)' and id == 1", [events[0]]),
                              ("resolved.Colour == 'blue'", [events[0]]), ("resolved.Colour == '2'", [])):
            self.assertEqual(decode("--schemas", "painter.man", "--messages", "--where", where,
                                    status=0 if wanted else 1)[1], wanted)  # no-match
        self.assertEqual(codes(summary), {})
        self.assertEqual(header["schemas"], [
            {"file": "painter.man", "file_version": None, "language_file": None, "store": None,
             "sha256": None, "providers": [
                {"guid": str(PAINTER), "name": "Manifest-Painter", "recreated": False, "kinds": 4, "behind": 0},
                {"guid": str(HELPER), "name": "Manifest-Helper", "recreated": False, "kinds": 1, "behind": 0}]}])

    def test_the_dll_that_it_becomes_says_the_same(self):
        for version in ("5", "3"):
            compile_manifest("painter.man", f"v{version}/painter.dll", "en-US", version)
            ours, theirs = (decode("--schemas", name, "--messages")[1]
                            for name in ("painter.man", f"v{version}/painter.dll"))
            for event in (*ours, *theirs) if version == "3" else ():
                event["provider"].pop("name")  # 3.1 has none for the second
            self.assertEqual(ours, theirs)

    def test_both_at_once_are_no_conflict(self):
        header, events, summary = decode("--schemas", "painter.man", "--schemas", "painter.dll")
        self.assertEqual([f["file"] for f in header["schemas"]], ["painter.man"])
        self.assertEqual(codes(summary), {})

    def test_languages(self):
        events = decode("--schemas", "painter.man", "--messages", "--language", "DE-de")[1]
        self.assertEqual(events[0]["message"], "the hall: Blau auf Left|Right|0x8")  # the rest is English
        events, summary = decode("--schemas", "painter.man", "--messages", "--language", "fr", status=1)[1:]
        self.assertEqual(events[0]["resolved"]["Colour"], "Blue")
        self.assertEqual(codes(summary), {"no-match": 1})

    def test_known_by_content_in_folders_and_every_encoding(self):
        wanted = decode("--schemas", "painter.man")[1]
        prefixed = re.sub(r"<(/?)([a-zA-Z])", r"<\1e:\2", MANIFEST).replace(
            'xmlns="http://schemas', 'xmlns:e="http://schemas')
        assembly = MANIFEST.replace("<instrumentationManifest", "<assembly").replace(
            "</instrumentationManifest", "</assembly")
        for number, content in enumerate((MANIFEST, "\ufeff" + MANIFEST,
                                          MANIFEST.replace("UTF-8", "UTF-16").encode("utf-16"),
                                          MANIFEST.replace("UTF-8", "UTF-16").encode("utf-16-be"),
                                          prefixed, assembly)):
            with self.subTest(number):
                write(f"folder{number}/deep/readme.txt", content)
                write(f"folder{number}/notes.xml", "<notes><instrumentationManifest/></notes>")
                write(f"folder{number}/torn.xml", MANIFEST[:3000])
                header, events, summary = decode("--schemas", f"folder{number}", status=1)
                self.assertEqual(codes(summary), {"schema-file": 1})
                self.assertEqual(events, wanted)
                self.assertEqual([f["file"] for f in header["schemas"]], [f"folder{number}/deep/readme.txt"])

    def show(self, content, status=0):
        """Names of the first provider and of its first field, and where text was damaged."""
        write("text.man", content)
        shown = json.loads(run("schemas", "show", str(PAINTER), "--schemas", "text.man", "--format", "json", status=status))
        provider, = shown["providers"]
        return (provider["name"], provider["events"][0]["fields"][0]["name"],
                {finding["first_offset"] for finding in shown["findings"] if finding["code"] == "schema-damaged"})

    def test_encodings_as_another_reader_has_them(self):
        named = MANIFEST.replace("Manifest-Painter", "M\u00e9nifest\u20ac\U0001f600").replace('name="Colour"', 'name="F\u00e4rbe"', 1)
        western = MANIFEST.replace("Manifest-Painter", "M\u00e9nifest\u20ac\u201c").replace('name="Colour"', 'name="F\u00e4rbe"', 1)
        latin = western.replace("\u20ac\u201c", "")
        self.assertTrue(MANIFEST.startswith('<?xml version="1.0" encoding="UTF-8"?>'))
        declare = lambda text, encoding: text.replace("UTF-8", encoding, 1)
        bare = "\r\n " + named.split("?>", 1)[1]
        for why, content in (
                ("no mark", named.encode()), ("a mark", named.encode("utf-8-sig")),
                ("little, a mark", declare(named, "UTF-16").encode("utf-16")),
                ("big, a mark", b"\xfe\xff" + declare(named, "utf-16").encode("utf-16-be")),
                ("little, declared", declare(named, "UTF-16").encode("utf-16-le")),
                ("big, declared", declare(named, "UTF-16").encode("utf-16-be")),
                ("little, nothing but blanks first", bare.encode("utf-16-le")), ("big, the same", bare.encode("utf-16-be")),
                ("Latin", declare(latin, "ISO-8859-1").encode("latin-1")), ("Western", declare(western, "windows-1252").encode("cp1252"))):
            with self.subTest(why):
                root = ElementTree.fromstring(content)
                wanted = next(e for e in root.iter() if e.tag.endswith("}provider") and e.get("guid", "").strip("{}") == str(PAINTER))
                field = next(e for e in wanted.iter() if e.tag.endswith("}data"))
                self.assertEqual(self.show(content), (wanted.get("name"), field.get("name"), set()))

    def test_what_is_no_text_is_told(self):
        """What Python's decoders refuse is told with its place, and does not vanish."""
        def refused(content, encoding, mark):
            with self.assertRaises(UnicodeDecodeError) as refusal:
                content[mark:].decode(encoding)
            return {mark + refusal.exception.start}
        for why, name, encoding, mark in (
                ("a high surrogate", "Manifest-\ud800Painter", "utf-16-le", b"\xff\xfe"),
                ("a low surrogate", "Manifest-\udc01Painter", "utf-16-le", b"\xff\xfe"),
                ("in the other order", "Manifest-\udc01Painter", "utf-16-be", b"\xfe\xff"),
                ("without a mark", "Manifest-\ud800Painter", "utf-16-le", b"")):
            text = MANIFEST.replace("UTF-8", "UTF-16", 1).replace("Manifest-Painter", name)
            content = mark + text.encode(encoding, "surrogatepass")
            with self.subTest(why):
                shown = self.show(content, status=1)
                self.assertEqual((shown[0], shown[2]), ("Manifest-\ufffdPainter", refused(content, encoding, len(mark))))
        latin = MANIFEST.replace("Manifest-Painter", "Manifest-\u00e9Painter").encode("latin-1")
        for content in latin, latin.replace(b"UTF-8", b"koi8-r", 1):
            shown = self.show(content, status=1)
            self.assertEqual((shown[0], shown[2]), ("Manifest-\ufffdPainter", refused(content, "utf-8", 0)))
        begins_as_a_mark = latin.replace(b"\xe9", b"\xef\xbf", 1)
        self.assertEqual(self.show(begins_as_a_mark, status=1)[2], refused(begins_as_a_mark, "utf-8", 0))
        content = MANIFEST.encode("utf-16") + b"\n"
        self.assertEqual(self.show(content, status=1)[2], {len(content) - 1})

    def test_references_to_what_is_no_character_are_told(self):
        """Those that expat refuses for what they name."""
        def is_refused(reference):
            try:
                expat.ParserCreate().Parse(f"<a>{reference}</a>".encode(), True)
            except expat.ExpatError as error:
                return error.code == expat.errors.codes[expat.errors.XML_ERROR_BAD_CHAR_REF]
            return False

        for encoding, mark, size in (("utf-8", b"", 1), ("utf-16-le", b"\xff\xfe", 2)):
            for reference in ("&#xD800;", "&#xdfff;", "&#55296;", "&#0;", "&#x0000;", "&#x110000;", "&#99999999999999999999;"):
                text = MANIFEST.replace("Manifest-Painter", f"Manifest-{reference}Painter")
                self.assertTrue(is_refused(reference), reference)
                with self.subTest(reference, encoding=encoding):
                    shown = self.show(mark + text.encode(encoding), status=1)
                    self.assertEqual((shown[0], shown[2]), ("Manifest-\ufffdPainter", {len(mark) + size * text.index(reference)}))
            for kept, what in (("&#xe9;", "\u00e9"), ("&#x1F600;", "\U0001f600"), ("&#xD7FF;", "\ud7ff"), ("&#xE000;", "\ue000")):
                text = MANIFEST.replace("Manifest-Painter", f"Manifest-{kept}Painter")
                self.assertFalse(is_refused(kept), kept)
                self.assertEqual(self.show(mark + text.encode(encoding))[::2], (f"Manifest-{what}Painter", set()))
        # Where there are no references.
        for nothing in "<!-- &#xD800; -->", "<?painter &#xD800;?>", "<!-- < --><!-- &#0; -->":
            self.assertEqual(self.show(MANIFEST.replace("<events>", nothing + "<events>", 1).encode())[2], set())

    def test_the_place_of_an_error_is_one_of_the_file(self):
        text = MANIFEST.replace("</events>", "</event>", 1)
        for encoding, mark, size in (("utf-8", b"", 1), ("utf-16-le", b"\xff\xfe", 2), ("utf-16-be", b"\xfe\xff", 2)):
            write("damaged.man", mark + text.encode(encoding))
            done = subprocess.run([COLDTRACE, "trace", "schemas", "list", "--schemas", "damaged.man"], capture_output=True, cwd=FOLDER, text=True)
            with self.subTest(encoding):
                place = int(re.search(r"(0x[0-9a-f]+): event manifest", done.stderr)[1], 16)
                self.assertEqual((place - len(mark)) % size, 0)
                self.assertEqual(text[:(place - len(mark)) // size].count("\n"), text[:self.error_of(text)].count("\n"))

    @staticmethod
    def error_of(text):
        """Where Python's reader finds it."""
        parser = expat.ParserCreate()
        try:
            parser.Parse(text.encode("utf-8"), True)
        except expat.ExpatError:
            return len(text.encode()[:parser.ErrorByteIndex].decode())
        raise AssertionError("well-formed")

    def test_types_and_names_have_any_prefix_that_is_declared(self):
        wanted = decode("--schemas", "painter.man", "--messages")[1]
        self.assertIn('xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"', MANIFEST)
        other = MANIFEST.replace('"win:', '"w.1:').replace(" win:", " w.1:").replace("xmlns:win", "xmlns:w.1")
        other = other.replace('"xs:', '"xsd:').replace("xmlns:xs=", "xmlns:xsd=")
        self.assertNotIn("win:", other)
        self.assertEqual(decode("--schemas", write("prefix.man", other), "--messages")[1], wanted)
        undeclared = other.replace("xmlns:w.1=", "xmlns:w.2=")
        events = decode("--schemas", write("prefix.man", undeclared), "--messages")[1]
        self.assertEqual(events[0]["decoded"], "trailing")

    def test_one_that_was_re_created_goes_last_and_says_so(self):
        lossy = MANIFEST.replace('resourceFileName="painter.dll" messageFileName="painter.dll"',
                                 'resourceFileName="Manifest-Painter" messageFileName="Manifest-Painter"', 1)
        lossy = re.sub(r' outType="[^"]*"', "", lossy).replace(
            'name="Data" inType="win:Binary" length="Size"', 'name="Data" inType="win:Binary"').replace(
            'name="Float" inType="win:Float"', 'name="Float" inType="win:28"')
        write("lossy.man", lossy)
        header, events, summary = decode("--schemas", "lossy.man")
        self.assertEqual(codes(summary), {"schema-lossy": 1, "schema-incomplete": 2})
        self.assertEqual([p["recreated"] for p in header["schemas"][0]["providers"]], [True, False])
        self.assertEqual(events[1]["fields"], {k: v for k, v in FIELDS[1].items() if k in ("Count", "Rows", "Size")})
        self.assertEqual(events[1]["decoded"], "trailing")
        self.assertEqual(events[1]["trailing"], ROWS[ROWS.index(b"abc"):].hex())
        self.assertEqual(events[0]["fields"]["Sides"], 0xd)  # no outType
        header, events, summary = decode("--schemas", "lossy.man", "--schemas", "painter.man", status=1)
        self.assertEqual([e["fields"] for e in events], FIELDS)
        # Other output types alone are not a conflict, other fields are.
        self.assertEqual(codes(summary), {"schema-conflict": 2, "schema-lossy": 1, "schema-incomplete": 2})

    def test_names_and_messages_that_contradict_each_other_are_told(self):
        def other(text, by):
            self.assertIn(text, MANIFEST)
            return write("other.man", MANIFEST.replace(text, by))
        for told, text, by, count in (
                ("gives the name Other-Painter to the provider", 'name="Manifest-Painter"', 'name="Other-Painter"', 1),
                ("has a different message", "Painted %1", "Brushed %1", 1),
                ("has a different name of a value", 'value="Blue"', 'value="Bleu"', 1),
                ("have different names", 'name="Walls"', 'name="Walls2"', 1)):
            with self.subTest(told):
                events, summary = decode("--schemas", "painter.man", "--schemas", other(text, by), "--messages")[1:]
                self.assertEqual(events, decode("--schemas", "painter.man", "--messages")[1])
                self.assertEqual(codes(summary), {"schema-texts": count})
                self.assertIn(told, summary["findings"][0]["text"])

    def test_a_trace_that_has_the_schema_itself_goes_first_and_contradictions_are_told(self):
        own = ('<instrumentationManifest><instrumentation><events><provider name="Manifest-Helper" '
               f'guid="{{{HELPER}}}"><events><event value="1" version="0" template="t"/></events><templates>'
               '<template tid="t"><data name="NAME" inType="win:UInt32"/></template></templates></provider>'
               '</events></instrumentation></instrumentationManifest>')
        for name, found in (("Hand", {}), ("Foot", {"schema-precedence": 1})):
            log = EtlWriter()
            log.manifest(0, 1, HELPER, 0xFFFE, 0, struct.pack("<BBBBHH", 1, 1, 0, 0x5B, 1, 0) +
                         own.replace("NAME", name).encode(), opcode=0xFE)
            log.manifest(0, 2, HELPER, 1, 0, struct.pack("<I", 9))
            write("own.etl", log.build())
            header, events, summary = decode("--schemas", "painter.man", trace="own.etl")
            self.assertEqual(events[1]["fields"], {name: 9})
            self.assertEqual(codes(summary), found)
            self.assertEqual([(p["kinds"], p["behind"]) for p in header["schemas"][0]["providers"]], [(1, 1)])

    def test_the_table_of_the_runtime_goes_first_and_contradictions_are_told(self):
        """GCEnd: u32 Count, u32 Depth, u16 ClrInstanceID (dotnet/runtime, ClrEtwAll.man); the file has other names."""
        clr = uuid.UUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
        text = ('<instrumentationManifest><instrumentation><events><provider name="Microsoft-Windows-DotNETRuntime" '
                f'guid="{{{clr}}}"><events><event value="2" version="1" template="t"/></events><templates>'
                '<template tid="t"><data name="A" inType="win:UInt64"/><data name="B" inType="win:UInt16"/></template>'
                '</templates></provider></events></instrumentation></instrumentationManifest>')
        log = EtlWriter()
        log.manifest(0, 1, clr, 2, 1, struct.pack("<IIH", 1, 2, 3))
        write("clr.etl", log.build())
        lines = strict_ndjson(run("decode", "clr.etl", "--schemas", write("clr.man", text)))
        event = next(line for line in lines if line.get("id") == 2)
        self.assertEqual(event["fields"], {"Count": 1, "Depth": 2, "ClrInstanceID": 3})
        self.assertEqual(codes(lines[-1]), {"schema-precedence": 1})
        self.assertIn("coldtrace's own table", lines[-1]["findings"][0]["text"])

    def test_what_is_no_manifest_is_told(self):
        for content, text in ((MANIFEST[:3000], "event manifest has no well-formed XML"),
                              ("<instrumentationManifest/>", "event manifest has no provider with a GUID"),
                              ("<a/>", "not a PE file, an instrumentation manifest"),
                              (" " * (1 << 24) + MANIFEST, "not a PE file"),
                              (MANIFEST + " " * (1 << 24), "0x1000000")):
            with self.subTest(text):
                summary = decode("--schemas", write("bad.man", content), status=1)[2]
                self.assertEqual(codes(summary), {"schema-file": 1, "schema-unused": 1})
                self.assertIn(text, summary["findings"][0]["text"])

    def test_of_a_folder_manifests_that_cannot_be_read_are_told_and_other_files_are_not(self):
        """expat decides what is well-formed, and where it is not."""
        (FOLDER / "some").mkdir()
        write("some/painter.man", MANIFEST)
        broken = {"cut.xml": MANIFEST[:3000], "tag.man": MANIFEST.replace("</templates>", "</template>", 1),
                  "prefix.man": '<a:instrumentationManifest xmlns:a="b"><a:x></a:y>'}
        others = {"counters.man": "<instrumentationManifest><instrumentation/></instrumentationManifest>",
                  "page.html": "<p>&lt;instrumentationManifest> is the root<br></p>", "text.txt": "<<< instrumentationManifest"}
        for name, content in {**broken, **others}.items():
            write(f"some/{name}", content)
        summary = decode("--schemas", "some", status=1)[2]
        self.assertEqual(codes(summary), {"schema-file": len(broken)})
        for name, content in broken.items():
            with self.subTest(name):
                with self.assertRaises(expat.ExpatError):
                    expat.ParserCreate().Parse(content, True)
                write(f"alone-{name}/{name}", content)
                told = subprocess.run([COLDTRACE, "trace", "schemas", "list", "--schemas", f"alone-{name}"],
                                      capture_output=True, cwd=FOLDER)
                self.assertEqual(told.returncode, 2)
                self.assertRegex(told.stderr.decode(), rf"{name}: 0x[0-9a-f]+: event manifest has no well-formed XML")
        run("schemas", "build", "some", "-o", "some.ctschemas", status=1)
        self.assertEqual(codes(decode("--schemas", "some.ctschemas")[2]), {})

    def test_references_that_lead_nowhere_cost_their_event(self):
        write("lost.man", MANIFEST.replace('template="rows"', 'template="nothing"')
              .replace('map="Sides"', 'map="nothing"').replace('task="Paint"', 'task="Nowhere"'))
        events, summary = decode("--schemas", "lost.man", status=1)[1:]
        self.assertEqual([e["decoded"] for e in events], ["exact", "raw", "exact", "exact", "exact"])
        self.assertEqual(codes(summary), {"schema-damaged": 1})
        self.assertIn("lost.man: ", summary["findings"][0]["text"])
        self.assertEqual(events[0]["name"], "Nowhere/Brush")

    def test_hostile_manifests_are_bounded(self):
        body = re.search(r"<template tid=\"wall\">.*?</template>", MANIFEST, re.S)[0]
        deep = "<template tid=\"wall\">" + "<struct name=\"s\">" * 50_000 + "</struct>" * 50_000 + "</template>"
        wide = "<template tid=\"wall\">" + "<data name=\"n\" inType=\"win:UInt8\"/>" * 50_000 + "</template>"
        long = body.replace("Where", "W" * 100_000)
        many = MANIFEST.replace("</events>\n      </provider>", "".join(
            f'<event value="{n}" version="7" template="wall"/>' for n in range(60_000)) + "</events></provider>", 1)
        bomb = MANIFEST.replace("<instrumentationManifest", "<!DOCTYPE a [<!ENTITY b \"" + "c" * 1000 +
                                "\">]><instrumentationManifest", 1).replace("$(string.painted)", "&b;" * 1000)
        nested = "<a>" * 300_000 + "instrumentationManifest"
        for name, content, first, found in (
                ("deep", MANIFEST.replace(body, deep), "trailing", {"schema-incomplete"}),
                ("wide", MANIFEST.replace(body, wide), "partial", {"schema-incomplete"}),
                ("long", MANIFEST.replace(body, long), "exact", {"schema-name"}),
                ("many", many, "exact", set()), ("bomb", bomb, "exact", set()),
                ("nested", nested, "raw", {"schema-file", "schema-unused"})):
            with self.subTest(name):
                status = 1 if found & {"schema-name", "schema-file"} else 0
                events, summary = decode("--schemas", write(f"{name}.man", content), status=status)[1:]
                self.assertEqual(events[0]["decoded"], first)
                self.assertLessEqual(set(codes(summary)), found | {"resolved-limit"})


@unittest.skipUnless(CASES.exists(), "the payloads with answers are not here")
class Cases(unittest.TestCase):
    """Payloads made by hand from documented layouts, decoded by a second decoder."""

    @classmethod
    def setUpClass(cls):
        cls.cases = {number: case for number, case in enumerate(json.loads(CASES.read_text())["events"])
                     if isinstance(case["schema"], list)}
        log = EtlWriter()
        for number, case in cls.cases.items():
            log.manifest(0, number, CASE, number, 0, bytes.fromhex(case["payload"]),
                         pointer_size=case["pointer_size"])
        write("cases.etl", log.build())
        write("cases.man", cls.manifest())

    @classmethod
    def manifest(cls):
        def quoted(value):
            return xml.sax.saxutils.quoteattr(str(value))

        def items(fields):
            for field in fields:
                attributes = "".join(f" {key}={quoted(value)}" for key, value in field.items()
                                     if key not in ("fields", "inType"))
                if field["inType"] == "struct":
                    yield f"<struct{attributes}>{''.join(items(field['fields']))}</struct>"
                else:
                    yield f"<data inType={quoted(field['inType'])}{attributes}/>"

        maps, templates, events, strings = [], [], [], []
        for number, case in cls.cases.items():
            for name, one in case.get("maps", {}).items():
                tag = "bitMap" if one["kind"] == "bits" else "valueMap"
                rows = []
                for value, text in one["entries"].items():
                    strings.append(f"<string id=\"s{len(strings)}\" value={quoted(text)}/>")
                    rows.append(f"<map value=\"{value}\" message=\"$(string.s{len(strings) - 1})\"/>")
                maps.append(f"<{tag} name={quoted(name)}>{''.join(rows)}</{tag}>")
            templates.append(f"<template tid=\"t{number}\">{''.join(items(case['schema']))}</template>")
            events.append(f"<event value=\"{number}\" template=\"t{number}\"/>")
        return ("<instrumentationManifest><instrumentation><events><provider name=\"Cases\" guid=\"{" +
                str(CASE) + "}\" resourceFileName=\"c.dll\"><maps>" + "".join(maps) + "</maps><templates>" +
                "".join(templates) + "</templates><events>" + "".join(events) +
                "</events></provider></events></instrumentation><localization><resources culture=\"en-US\">"
                "<stringTable>" + "".join(strings) + "</stringTable></resources></localization>"
                "</instrumentationManifest>")

    def test_every_payload(self):
        events = decode("--schemas", "cases.man", trace="cases.etl")[1]
        self.assertEqual(len(events), len(self.cases))
        self.assertGreater(len(events), 28)
        for event in events:
            case = self.cases[event["id"]]
            with self.subTest(case["id"], why=case["why"]):
                self.assertEqual(event["fields"], case["expect"])
                self.assertEqual(event["decoded"], case["result"])
                self.assertEqual(event.get("trailing") or None, case.get("trailing"))
                for name, wanted in case.get("resolved", {}).items():
                    names = "|".join(wanted) if isinstance(wanted, list) else wanted
                    self.assertEqual(event.get("resolved", {}).get(name), names)

    def test_compiled_they_are_the_same(self):
        compile_manifest("cases.man", "cases.dll")
        self.assertEqual(*(decode("--schemas", name, trace="cases.etl")[1] for name in ("cases.man", "cases.dll")))


class HttpServer(unittest.TestCase):
    """A log of Windows 7's HTTP server, against what Windows exported of it. The types of the fields are ours: that
    every value agrees, and every payload ends with its last field, says that they are right."""

    UNSIGNED = {2: "UInt16", 4: "UInt32", 8: "UInt64"}
    # By event; a number is an unsigned integer of so many bytes.
    FIELDS = {
        1: (("RequestId", 8), ("ConnectionId", 8), ("RemoteAddrLength", 4), ("RemoteAddr", "Binary")),
        3: (("RequestObj", "Pointer"), ("RequestId", 8), ("SiteId", 4), ("RequestQueueName", "UnicodeString"),
            ("Url", "UnicodeString"), ("Status", 4)),
        4: (("RequestId", 8), ("ConnectionId", 8), ("StatusCode", 2), ("Verb", "AnsiString"), ("HeaderLength", 4),
            ("EntityChunkCount", 2), ("CachePolicy", 4)),
        5: (("RequestId", 8),),
        10: (("RequestId", 8), ("HttpStatus", 2)),
        21: (("ConnectionObj", "Pointer"), ("LocalAddrLength", 4), ("LocalAddr", "Binary"), ("RemoteAddrLength", 4),
             ("RemoteAddr", "Binary")),
        22: (("RequestId", 8), ("ConnectionId", 8), ("ConnectionObj", "Pointer")),
        51: (("Status", 4), ("Handle", "Pointer"), ("Type", 4), ("Group", 4), ("Format", 4), ("ResType", "AnsiString"),
             ("SiteId", 4)),
    }
    FIELDS |= {8: FIELDS[4], 9: FIELDS[5], 12: FIELDS[10]}

    def manifest(self, guid):
        def field(name, kind):
            length = f' length="{name}Length"' if kind == "Binary" else ""
            return f'<data name="{name}" inType="win:{self.UNSIGNED.get(kind, kind)}"{length}/>'
        templates = "".join(f'<template tid="t{event}">{"".join(field(*one) for one in fields)}</template>'
                            for event, fields in self.FIELDS.items())
        events = "".join(f'<event value="{event}" version="0" symbol="e{event}" template="t{event}"/>'
                         for event in self.FIELDS)
        return ('<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>'
                f'<provider name="Microsoft-Windows-HttpService" guid="{{{guid}}}" symbol="H" resourceFileName="h.sys" '
                f'messageFileName="h.sys"><templates>{templates}</templates><events>{events}</events></provider>'
                "</events></instrumentation></instrumentationManifest>")

    def test_every_field_is_what_windows_exported(self):
        samples = SHARED / "samples/etl"
        if not samples.exists():
            self.skipTest("skipped: the sample traces are not here")
        records = json.loads((samples / "tx_HTTP_Server.expected.json").read_text())["events"]
        write("http.man", self.manifest(records[0]["provider"]))
        lines = strict_ndjson(run("decode", samples / "tx_HTTP_Server.etl", "--schemas", "http.man"))
        ours = {}
        for line in lines:
            if line["type"] == "event" and line["id"] in self.FIELDS:
                self.assertEqual(line["decoded"], "exact")
                ours.setdefault((line["time"][:26], line["id"], line["pid"], line["tid"]), []).append(line["fields"])
        compared = 0
        for record in records:
            if record["id"] not in self.FIELDS:  # 2, of which Windows exported no fields
                continue
            key = (record["time"][:26], record["id"], record["pid"], record["tid"])
            fields = {name: self.exported(value, dict(self.FIELDS[record["id"]])[name]) for name, value in record["data"]}
            self.assertIn(fields, ours[key])
            ours[key].remove(fields)
            compared += len(fields)
        self.assertEqual(compared, 7873)
        self.assertFalse(any(ours.values()))

    @staticmethod
    def exported(text, kind):
        if isinstance(kind, int):
            return int(text)
        return text.lower() if kind in ("Binary", "Pointer") else text


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
