"""WPP messages get their texts and fields from TMF files and from annotations of PDBs.

usage: trace_messages.py COLDTRACE SHARED [unittest arguments]
"""
import gzip
import json
import re
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
from cli.trace.etl_writer import EtlWriter
from strict import strict_ndjson

COLDTRACE, SHARED = (Path(a).resolve() for a in sys.argv[1:3])
CASES = SHARED / "facts/etl-schema-cases.json"
CHECK_SCHEMA = json.loads((Path(__file__).resolve().parents[4] / "docs/schema/trace-schemas-check.schema.json").read_text())
FOLDER = Path(tempfile.mkdtemp(prefix="coldtrace-messages-"))
SOURCE, OTHER, THIRD, PDB = (uuid.UUID(f"5e0d3f0e-97a4-4ba7-9d4c-62d5b4b3e0{n}") for n in (11, 12, 13, 14))
SID = bytes([1, 2, 0, 0, 0, 0, 0, 5]) + struct.pack("<II", 32, 544)
FILE_TIME = 132223104001234567  # 2020-01-01T00:00:00.1234567Z
ENUMERATIONS = ["#enumv _STATE", "{", "Idle,0x0", "Busy,0x1", "Negative,-1", "}",
                "#enumv _MODES", "{", "Read,0x1", "Write,0x2", "}"]


def utf16(text):
    return text.encode("utf-16-le")


# Item type, conversion, bytes, field, text. The texts are those that tracefmt is said to make.
ITEMS = [
    ("ItemChar", "c", b"A", 65, "A"),
    ("ItemChar", "d", b"\xfe", -2, "-2"),
    ("ItemChar", "c", b"\x01", 1, "\\x01"),
    ("ItemUChar", "u", b"\xfe", 254, "254"),
    ("ItemShort", "d", struct.pack("<h", -3), -3, "-3"),
    ("ItemShort", "hu", struct.pack("<h", -3), 65533, "65533"),
    ("ItemUShort", "04x", struct.pack("<H", 0xbeef), "0xbeef", "beef"),
    ("ItemLong", "d", struct.pack("<i", -1000), -1000, "-1000"),
    ("ItemLong", "u", struct.pack("<I", 4000000000), 4000000000, "4000000000"),
    ("ItemLong", "s", struct.pack("<i", -7), -7, "-7"),
    ("ItemLong", "+d", struct.pack("<i", 7), 7, "+7"),
    ("ItemLong", "-6d", struct.pack("<i", 7), 7, "7     "),
    ("ItemLong", "6d", struct.pack("<i", -7), -7, "    -7"),
    ("ItemLong", "06d", struct.pack("<i", -7), -7, "-00007"),
    ("ItemLong", ".4d", struct.pack("<i", 7), 7, "0007"),
    ("ItemLong", "#x", struct.pack("<I", 0xab), "0xab", "0xab"),
    ("ItemLong", "hx", struct.pack("<I", 0x12345678), "0x12345678", "5678"),
    ("ItemLong", "hhd", struct.pack("<I", 0xff), 255, "-1"),
    ("ItemLong", "o", struct.pack("<I", 8), 8, "10"),
    ("ItemLong", "p", struct.pack("<I", 0xab), "0xab", "000000AB"),
    ("ItemULong", "s", struct.pack("<I", 0xffffffff), 0xffffffff, "4294967295"),
    ("ItemLongLong", "I64d", struct.pack("<q", -5000000000), -5000000000, "-5000000000"),
    ("ItemULongLong", "I64u", struct.pack("<Q", 2**64 - 1), 2**64 - 1, str(2**64 - 1)),
    ("ItemLongLongX", "I64x", struct.pack("<Q", 0xdeadbeef00), "0xdeadbeef00", "deadbeef00"),
    ("ItemLongLongXX", "I64X", struct.pack("<Q", 0xabcdef), "0xabcdef", "ABCDEF"),
    ("ItemLongLongO", "I64o", struct.pack("<Q", 0x1ff), 511, "777"),
    ("ItemQuad", "I64d", struct.pack("<q", -1), -1, "-1"),
    ("ItemFloat", "s", struct.pack("<f", 1.5), 1.5, "1.5"),
    ("ItemDouble", "s", struct.pack("<d", 3.140625), 3.140625, "3.14062"),
    ("ItemDouble", ".2f", struct.pack("<d", 3.140625), 3.140625, "3.14"),
    ("ItemDouble", "e", struct.pack("<d", 1234.5), 1234.5, "1.234500e+03"),
    ("ItemPtr", "p", struct.pack("<Q", 0x7ff0abcd), "0x7ff0abcd", "000000007FF0ABCD"),
    ("ItemString", "s", b"alpha\0", "alpha", "alpha"),
    ("ItemString", "8.3s", b"alpha\0", "alpha", "     alp"),
    ("ItemRString", "s", b"a\tb\0", "a\tb", "a b"),
    ("ItemWString", "s", utf16("gr\u00fcn\0"), "gr\u00fcn", "gr\u00fcn"),
    ("ItemWString", "-5.2s", utf16("gr\u00fcn\0"), "gr\u00fcn", "gr   "),
    ("ItemRWString", "s", utf16("a\nb\0"), "a\nb", "a b"),
    ("ItemPString", "s", b"\3\0abc", "abc", "abc"),
    ("ItemPWString", "s", b"\4\0" + utf16("ab"), "ab", "ab"),
    ("ItemHexDump", "s", b"\2\0\xca\xfe", "cafe", "cafe"),
    ("ItemHEXDump", "s", b"\2\0\xca\xfe", "cafe", "cafe"),
    ("ItemSid", "s", SID, "S-1-5-32-544", "S-1-5-32-544"),
    ("ItemGuid", "s", SOURCE.bytes_le, str(SOURCE), str(SOURCE)),
    ("ItemCLSID", "s", SOURCE.bytes_le, str(SOURCE), str(SOURCE)),
    ("ItemIID", "s", SOURCE.bytes_le, str(SOURCE), str(SOURCE)),
    ("ItemLIBID", "s", SOURCE.bytes_le, str(SOURCE), str(SOURCE)),
    ("ItemNTSTATUS", "s", struct.pack("<I", 0xC0000022), "0xc0000022", "0xc0000022(STATUS_ACCESS_DENIED)"),
    ("ItemNTSTATUS", "s", struct.pack("<I", 0xC0FFFFF0), "0xc0fffff0", "0xc0fffff0"),
    ("ItemNTSTATUS", "x", struct.pack("<I", 0xC0000022), "0xc0000022", "c0000022"),
    ("ItemNTerror", "s", struct.pack("<I", 0xC0000022), "0xc0000022", "0xc0000022(STATUS_ACCESS_DENIED)"),
    ("ItemHRESULT", "s", struct.pack("<I", 0x80070005), "0x80070005", "0x80070005(ERROR_ACCESS_DENIED)"),
    ("ItemWINERROR", "s", struct.pack("<I", 2), 2, "2(ERROR_FILE_NOT_FOUND)"),
    ("ItemNDIS_STATUS", "s", struct.pack("<I", 0x4001000b), "0x4001000b",
     "0x4001000b(NDIS_STATUS_MEDIA_CONNECT)"),
    ("ItemNDIS_STATUS", "s", struct.pack("<I", 0xC0FFFFF0), "0xc0fffff0", "0xc0fffff0"),
    ("ItemNDIS_OID", "s", struct.pack("<I", 0x1010E), "0x1010e", "0x0001010e(OID_GEN_CURRENT_PACKET_FILTER)"),
    ("ItemNDIS_OID", "s", struct.pack("<I", 0xFFFFFFF0), "0xfffffff0", "0xfffffff0"),
    ("ItemTimestamp", "s", struct.pack("<Q", FILE_TIME), "2020-01-01T00:00:00.1234567Z",
     "2020-01-01T00:00:00.1234567Z"),
    ("ItemWaitTime", "s", struct.pack("<Q", FILE_TIME), "2020-01-01T00:00:00.1234567Z",
     "2020-01-01T00:00:00.1234567Z"),
    ("ItemTimeDelta", "s", struct.pack("<q", 50000000), 50000000, "5.000s"),
    ("ItemTimeDelta", "s", struct.pack("<q", -15000000), -15000000, "-1.500s"),
    ("ItemIPAddr", "s", bytes([127, 0, 0, 1]), "127.0.0.1", "127.0.0.1"),
    ("ItemIPV6Addr", "s", bytes([0xfe, 0x80] + [0] * 13 + [1]), "fe80::1", "fe80::1"),
    ("ItemMACAddr", "s", bytes([0, 0x15, 0x5d, 1, 2, 3]), "00155d010203", "00-15-5d-01-02-03"),
    ("ItemPort", "s", b"\0\x50", 80, "80"),
    ("ItemChar4", "s", b"RGBA", "RGBA", "RGBA"),
    ("ItemListByte(Low,APC,DPC)", "s", b"\2", 2, "0x00000002(DPC)"),
    ("ItemListShort(a,b)", "s", b"\1\0", 1, "0x00000001(b)"),
    ("ItemListLong(false,true)", "s", b"\2\0\0\0", 2, "0x00000002"),
    ("ItemSetByte(a,b,c)", "s", b"\5", 5, "[a,c]"),
    ("ItemSetShort(a,b)", "s", b"\0\0", 0, "[]"),
    ("ItemSetLong(1,2,3)", "s", struct.pack("<I", 0x11), 17, "[1,0x10]"),
    ("ItemEnum(_STATE)", "s", b"\1\0\0\0", 1, "Busy"),
    ("ItemEnum(_STATE)", "s", b"\xff\xff\xff\xff", 0xffffffff, "Negative"),
    ("ItemEnum(_STATE)", "s", b"\7\0\0\0", 7, "0x7"),
    ("ItemEnum(_NOWHERE)", "s", b"\7\0\0\0", 7, "0x7"),
    ("ItemFlagsEnum(_MODES)", "s", b"\7\0\0\0", 7, "Read | Write(0x7)"),
    ("ItemFlagsEnum(_MODES)", "s", b"\4\0\0\0", 4, "0x4"),
]


def message(guid, number, payload, tid=7, pid=9, options=0xAA):
    """A record of WPP; the writer puts the time into it."""
    body = guid.bytes_le + b"\0" * 8 + struct.pack("<II", tid, pid) + payload
    return struct.pack("<HBBHH", 8 + len(body), 0, 0x90, number, options) + body


def trace(name, records):
    """`records` are messages with GUID, time, thread and process; each gets a time of its own."""
    log = EtlWriter()
    for time, record in enumerate(records):
        if record[2:4] == b"\0\x90":
            record = record[:24] + struct.pack("<Q", log.first + time) + record[32:]
        log._add(0, record)
    (FOLDER / name).write_bytes(log.build())
    return name


def tmf(name, *lines):
    (FOLDER / name).parent.mkdir(exist_ok=True, parents=True)
    (FOLDER / name).write_text("".join(line + "\n" for line in lines))
    return name


def block(guid, number, text, *arguments, comment="LEVEL=L1 FLAGS=F1 FUNC=Main", component="painter"):
    return [f"{guid} {component} // SRC=paint.c MJ= MN=", f'#typev paint_c{number} {number} "{text}" //   {comment}',
            "{", *arguments, "}"]


def run(*arguments, status=0):
    done = subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True, timeout=300,
                          cwd=FOLDER)
    if done.returncode != status:
        raise AssertionError((done.returncode, done.stderr.decode()))
    return done.stdout


def decode(*options, status=0):
    lines = strict_ndjson(run("decode", *options, status=status))
    events = [line for line in lines if line["type"] == "event" and line["header"]["type"] == "message"]
    return lines[0], events, lines[-1]


def decode_messages(*options, status=0):
    return decode(*options, "--header-fields", status=status)


def codes(summary):
    return {finding["code"]: finding["count"] for finding in summary["findings"]}


# A PDB as LLVM's documents have it: MSF 7.00 with blocks of 512 bytes.
def pdb(name, annotations, enumerations=(), guid=PDB, age=3):
    records = b""
    for texts in annotations:
        if isinstance(texts, bytes):  # a whole record
            records += texts
            continue
        body = struct.pack("<HIHH", 0x1019, 0x100, 1, len(texts)) + b"".join(t.encode() + b"\0" for t in texts)
        body += b"\0" * (-(len(body) + 2) % 4)
        records += struct.pack("<H", len(body)) + body
    symbols = struct.pack("<I", 4) + records
    module = struct.pack("<I", 0) + b"\0" * 28 + struct.pack("<HHIIIHHIII", 0, 4, len(symbols), 0, 0, 0, 0, 0, 0, 0)
    module += b"paint.obj\0paint.obj\0"
    module += b"\0" * (-len(module) % 4)
    dbi = struct.pack("<iII", -1, 19990903, age) + struct.pack("<HHHHHH", 0xffff, 0, 0xffff, 0, 0xffff, 0)
    dbi += struct.pack("<IiiiiIiiHHI", len(module), 0, 0, 0, 0, 0, 0, 0, 0, 0x8664, 0) + module
    types = b""
    for number, (enum, values) in enumerate(enumerations):
        fields = struct.pack("<H", 0x1203)
        for value, text in values:
            leaf = struct.pack("<H", value) if 0 <= value < 0x8000 else struct.pack("<Hi", 0x8003, value)
            fields += struct.pack("<HH", 0x1502, 3) + leaf + text.encode() + b"\0"
            fields += bytes(range(0xf0 + -len(fields) % 4, 0xf0, -1))
        enum_record = struct.pack("<HHHII", 0x1507, len(values), 0, 0x74, 0x1000 + number * 2) + enum.encode() + b"\0"
        enum_record += bytes(range(0xf0 + -(len(enum_record) + 2) % 4, 0xf0, -1))
        for record in (fields, enum_record):
            record += bytes(range(0xf0 + -(len(record) + 2) % 4, 0xf0, -1))
            types += struct.pack("<H", len(record)) + record
    tpi = struct.pack("<IIIII", 20040203, 56, 0x1000, 0x1000 + 2 * len(enumerations), len(types))
    tpi += struct.pack("<HHII", 0xffff, 0xffff, 4, 0x3ffff) + b"\0" * 24 + types
    info = struct.pack("<III", 20000404, 0, 1) + guid.bytes_le
    streams = [b"", info, tpi, dbi, symbols]
    blocks = [b"", b"\0" * 512, b"\0" * 512]
    lists = b""
    for stream in streams:
        for at in range(0, len(stream), 512):
            lists += struct.pack("<I", len(blocks))
            blocks.append(stream[at:at + 512].ljust(512, b"\0"))
    directory = struct.pack("<I", len(streams)) + b"".join(struct.pack("<I", len(s)) for s in streams) + lists
    directory_blocks = []
    for at in range(0, len(directory), 512):
        directory_blocks.append(len(blocks))
        blocks.append(directory[at:at + 512].ljust(512, b"\0"))
    blocks.append(b"".join(struct.pack("<I", b) for b in directory_blocks).ljust(512, b"\0"))
    blocks[0] = (b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0" +
                 struct.pack("<IIIIII", 512, 1, len(blocks), len(directory), 0, len(blocks) - 1)).ljust(512, b"\0")
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(b"".join(blocks))
    return name


def tearDownModule():
    shutil.rmtree(FOLDER)


class Messages(unittest.TestCase):
    @unittest.skipUnless(CASES.exists(), f"no {CASES}")
    def test_real_messages_have_the_texts_of_the_repository(self):
        cases = json.loads(CASES.read_text())["wpp"]["messages"]
        self.assertEqual(len(cases), 16)
        log = trace("cases.etl", [bytes.fromhex(case["message"]) for case in cases])
        for case in cases:
            tmf(f"cases/{case['id']}.txt", *case["tmf"])
        header, events, summary = decode_messages(log, "--tmf", "cases")
        self.assertEqual([(e["message"], e["tid"], e["pid"], e["id"], e["decoded"], e["trace_message"]["function"])
                          for e in events],
                         [(c["text"], c["tid"], c["pid"], c["number"], "exact", "main") for c in cases])
        self.assertEqual(sum(file["formats"] for file in header["message_files"]), 16)
        self.assertEqual(codes(summary), {})
        self.assertEqual(summary["counts"]["raw"], 0)

    def test_every_item_type(self):
        lines = []
        for number, (item, conversion, _, _, _) in enumerate(ITEMS, 10):
            lines += block(SOURCE, number, f"%0<%10!{conversion}!>", f"a, b(-- 1), {item} -- 10")
        tmf("items.tmf", *lines, *ENUMERATIONS)
        log = trace("items.etl", [message(SOURCE, number, item[2]) for number, item in enumerate(ITEMS, 10)])
        _, events, summary = decode_messages(log, "--tmf", "items.tmf")
        self.assertEqual(len(events), len(ITEMS))
        for event, (item, conversion, _, value, text) in zip(events, ITEMS):
            with self.subTest(item=item, conversion=conversion):
                self.assertEqual(event["fields"], {"a, b(-- 1)": value})
                self.assertEqual(event["message"], f"<{text}>")
                self.assertEqual(event["decoded"], "exact")
        self.assertEqual(codes(summary), {})

    def test_members(self):
        tmf("one.tmf", *block(SOURCE, 10, "%0[%1!s! %2!s! %3!d! %8!d!] %!FUNC! %!LEVEL!/%!FLAGS!: 100%% %11!d! of %10!d!%12!d!",
                              "a, ItemLong -- 10", "a, ItemLong -- 11",
                              comment="COMPNAME=Hall LEVEL=TRACE_INFO FLAGS=WALLS PNPEXPR=x.y(a) FUNC=operator="))
        log = trace("one.etl", [message(SOURCE, 10, struct.pack("<ii", 5, 3))])
        header, (event,), summary = decode_messages(log, "--tmf", "one.tmf")
        self.assertEqual(event["message"], "[painter paint_c10 7 9] operator= TRACE_INFO/WALLS: 100% 3 of 5%12!d!")
        self.assertEqual(event["fields"], {"a": 5, "a_2": 3})
        self.assertEqual((event["provider"], event["name"]), ({"guid": str(SOURCE), "name": "painter"}, "paint_c10"))
        self.assertEqual(event["trace_message"],
                         {"component": "painter", "source_file": "paint.c", "function": "operator=",
                          "level": "TRACE_INFO", "flags": "WALLS"})
        self.assertEqual(header["message_files"], [
            {"file": "one.tmf", "pdb": None, "formats": 1, "providers": [], "messages": [str(SOURCE)]}])
        # Fields can be asked for, and the text chosen.
        _, events, _ = decode_messages(log, "--tmf", "one.tmf", "--where", "a == 5 and name == 'paint_c10'")
        self.assertEqual(len(events), 1)
        for where, count in (("message matches '100% 3 of 5'", 1), ("extended.options == 0xaa and message != ''", 1),
                             ("message == 'x'", 0), ("extended.sequence == 1", 0)):
            _, events, _ = decode_messages(log, "--tmf", "one.tmf", "--where", where, status=0 if count else 1)
            self.assertEqual(len(events), count, where)
        lines = strict_ndjson(run("decode", log, "--tmf", "one.tmf", "--fields", "message"))
        self.assertEqual([line["message"] for line in lines if line["type"] == "event"][-1], event["message"])
        # Exports have it all.
        ecs = json.loads(run("export", "ecs", log, "--tmf", "one.tmf").splitlines()[-1])
        line = json.loads(run("export", "timesketch", log, "--tmf", "one.tmf").splitlines()[-1])
        self.assertEqual((ecs["coldtrace"]["message"], line["event_text"]), (event["message"], event["message"]))
        self.assertEqual((ecs["coldtrace"]["trace_message"], json.loads(line["trace_message"])),
                         (event["trace_message"], event["trace_message"]))
        self.assertEqual(ecs["winlog"]["event_data"], {"a": "5", "a_2": "3"})
        # 32-bit messages say so.
        tmf("pointer.tmf", *block(SOURCE, 11, "%0%10!p!", "p, ItemPtr -- 10"))
        log = trace("pointer.etl", [message(SOURCE, 11, b"\1\2\3\4", options=0x6A)])
        self.assertEqual(decode_messages(log, "--tmf", "pointer.tmf")[1][0]["message"], "04030201")

    def test_flags_have_other_marks_too(self):
        for number, (comment, flags) in enumerate((
                ("LEVEL=TRACE_INFO FLAG=WALLS FUNC=Main", "WALLS"),  # WPP_FLAG_LEVEL_LOGGER's parameter
                ("FLAG=DOORS FLAGS=WALLS FUNC=Main", "WALLS"),
                ("LEVEL=WALLS FUNC=Main", None), ("AREA=WALLS", None)), 10):
            tmf("marks.tmf", *block(SOURCE, number, "%0<%!FLAGS!>", comment=comment))
            log = trace("marks.etl", [message(SOURCE, number, b"")])
            _, (event,), _ = decode_messages(log, "--tmf", "marks.tmf")
            self.assertEqual((event["trace_message"]["flags"], event["message"]), (flags, f"<{flags or ''}>"), comment)

    def test_what_a_format_does_not_explain_stays(self):
        tmf("short.tmf", *block(SOURCE, 10, "%0%10!d! %11!d!", "a, ItemLong -- 10", "b, ItemLong -- 11"),
            *block(SOURCE, 11, "%0%10!d! %11!s! %12!d!", "a, ItemLong -- 10", "b, ItemRiddle -- 11", "c, ItemLong -- 12"),
            *block(SOURCE, 12, "%0none"))
        log = trace("short.etl", [message(SOURCE, 10, b"\1\0\0\0\2"), message(SOURCE, 11, b"\1\0\0\0\2\0\0\0"),
                                  message(SOURCE, 12, b"\7"), message(SOURCE, 13, b"\x08")])
        _, events, summary = decode_messages(log, "--tmf", "short.tmf")
        self.assertEqual([(e["message"] if "message" in e else None, e["decoded"], e.get("trailing"), e.get("payload"))
                          for e in events],
                         [("1 %11!d!", "partial", "02", None), ("1 %11!s! %12!d!", "trailing", "02000000", None),
                          ("none", "trailing", "07", None), (None, "raw", None, "08")])
        self.assertEqual(codes(summary), {"schema-element": 1})

    def test_files_are_known_by_content_and_in_any_encoding(self):
        lines = block(SOURCE, 10, "%0gr\u00fcn %10!d!", "a, ItemLong -- 10")
        text = "".join(line + "\r\n" for line in lines)
        log = trace("one.etl", [message(SOURCE, 10, struct.pack("<i", 5))])
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            (FOLDER / "deep/er").mkdir(parents=True, exist_ok=True)
            (FOLDER / "deep/er/any.thing").write_bytes(text.encode(encoding))
            (FOLDER / "deep/readme").write_text("no format")
            self.assertEqual(decode_messages(log, "--tmf", "deep")[1][0]["message"], "gr\u00fcn 5")
        # A text with lines of its own.
        tmf("lines.tmf", *block(SOURCE, 10, "%0first\n{ second }\nthird %10!d!", "a, ItemLong -- 10"))
        self.assertEqual(decode_messages(log, "--tmf", "lines.tmf")[1][0]["message"], "first\n{ second }\nthird 5")

    def test_conflicts_are_told_and_the_one_that_fits_is_taken(self):
        log = trace("one.etl", [message(SOURCE, 10, struct.pack("<i", 5)), message(SOURCE, 10, struct.pack("<q", 6))])
        tmf("a.tmf", *block(SOURCE, 10, "%0four %10!d!", "a, ItemLong -- 10"))
        tmf("b.tmf", *block(SOURCE, 10, "%0eight %10!I64d!", "a, ItemLongLong -- 10"))
        _, events, summary = decode_messages(log, "--tmf", "a.tmf", "--tmf", "b.tmf", status=1)
        self.assertEqual([e["message"] for e in events], ["four 5", "eight 6"])
        self.assertEqual(events[1]["schema_file"], "b.tmf")
        self.assertEqual(codes(summary), {"schema-conflict": 1, "schema-other": 1})
        self.assertEqual(codes(decode_messages(log, "--tmf", "a.tmf", "--tmf", "a.tmf")[2]), {})

    def test_output_never_replaces_a_file_that_is_read(self):
        log = trace("one.etl", [message(SOURCE, 10, struct.pack("<i", 5))])
        tmf("kept/one.tmf", *block(SOURCE, 10, "%0%10!d!", "a, ItemLong -- 10"))
        pdb("kept/one.pdb", [])
        for option, file in (("--tmf", "kept/one.tmf"), ("--tmf", "kept/one.pdb"), ("--pdb", "kept/one.pdb")):
            before = (FOLDER / file).read_bytes()
            run("decode", log, option, "kept", "-o", file, status=2)
            self.assertEqual((FOLDER / file).read_bytes(), before)


class Damaged(unittest.TestCase):
    def test_what_is_of_no_use_is_told(self):
        log = trace("one.etl", [message(SOURCE, 10, struct.pack("<i", 5))])
        tmf("other.tmf", *block(OTHER, 10, "%0x"))
        self.assertEqual(codes(decode_messages(log, "--tmf", "other.tmf", status=1)[2]), {"schema-unused": 1})
        tmf("readme.txt", "nothing")
        self.assertEqual(codes(decode_messages(log, "--tmf", "readme.txt", status=1)[2]),
                         {"schema-file": 1, "schema-unused": 1})
        tmf("broken.tmf", *block(SOURCE, 10, "%0%10!d!", "a, ItemLong -- 10"), "#typev x", "what is this",
            "#enumv", "#enumv E", "{", "a", "}", f"{SOURCE} m", "#typev t 70000 \"x\" //", "{", "b", "}")
        _, events, summary = decode_messages(log, "--tmf", "broken.tmf", status=1)
        self.assertEqual(events[0]["message"], "5")
        # Each of the four parts that break a rule.
        self.assertEqual(codes(summary), {"schema-damaged": 4})

    def test_places_and_damage_of_utf_16(self):
        log = trace("one.etl", [message(SOURCE, 10, struct.pack("<i", 5))])
        lines = "".join(line + "\r\n" for line in block(SOURCE, 10, "%0gr\u00fcn %10!d!", "a, ItemLong -- 10"))
        for encoding, mark in (("utf-8", b""), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
            for text, wrong in ((lines + "what is this\r\n", "what"), (lines.replace("gr", "\ud800gr"), "\ud800")):
                if wrong == "\ud800" and encoding == "utf-8":
                    continue
                content = mark + text.encode(encoding, "surrogatepass")
                (FOLDER / "wide.tmf").write_bytes(content)
                _, events, summary = decode_messages(log, "--tmf", "wide.tmf", status=1)
                told, = summary["findings"]
                self.assertEqual((told["code"], told["first_offset"]),
                                 ("schema-damaged", content.index(wrong.encode(encoding, "surrogatepass"))))
                self.assertEqual(events[0]["message"], ("\ufffd" if wrong == "\ud800" else "") + "gr\u00fcn 5")

    def test_hostile_formats_stay_in_proportion(self):
        text = "%0" + "%10!500s!" * 1000
        tmf("hostile.tmf", *block(SOURCE, 10, text, "a, ItemString -- 10"),
            *block(SOURCE, 11, "%0%10!999999999999d!", "x" * 100000 + ", ItemLong -- 10"))
        log = trace("hostile.etl", [message(SOURCE, 10, b"x\0"), message(SOURCE, 11, b"\1\0\0\0")])
        _, events, summary = decode_messages(log, "--tmf", "hostile.tmf", status=1)
        self.assertLess(len(events[0]["message"]), 4 * len(text) + 4200)
        self.assertEqual(events[1]["message"], "1".rjust(512))
        self.assertEqual(codes(summary), {"resolved-limit": 1})


class Pdbs(unittest.TestCase):
    def setUp(self):
        self.log = trace("one.etl", [message(SOURCE, 10, struct.pack("<i", 5)),
                                     message(SOURCE, 11, struct.pack("<II", 1, 3))])
        self.lines = [["TMF:", *block(SOURCE, 10, "%0first\nsecond \"%10!d!\"", "Arg, ItemLong -- 10"), "PUBLIC_TMF:"],
                      ["Debug", "AssertFail", "x > 0"],
                      ["TMC:", str(OTHER), "PainterTrace", "WALLS"],
                      ["TMF:", *block(SOURCE, 11, "%0%10!s! %11!s!", "Arg, ItemEnum(_STATE) -- 10",
                                      "Arg, ItemFlagsEnum(_MODES) -- 11")]]

    def test_annotations(self):
        pdb("symbols/paint.pdb", self.lines + self.lines[:1],
            [("_STATE", [(0, "Idle"), (1, "Busy"), (-1, "Negative")]), ("_MODES", [(1, "Read"), (2, "Write")])])
        for option, path in (("--tmf", "symbols"), ("--pdb", "symbols"),
                             ("--tmf", "symbols/paint.pdb"), ("--pdb", "symbols/paint.pdb")):
            header, events, summary = decode_messages(self.log, option, path)
            self.assertEqual(events[0]["message"], "first\nsecond \"5\"")
            self.assertEqual(events[0]["decoded"], "exact")
            self.assertEqual(events[1]["message"], "Busy Read | Write(0x3)")  # names from the types of the PDB
            self.assertEqual(header["message_files"], [
                {"file": "symbols/paint.pdb", "pdb": {"guid": str(PDB), "age": 3}, "formats": 2, "messages": [str(SOURCE)],
                 "providers": [{"guid": str(OTHER), "name": "PainterTrace", "flags": ["WALLS"]}]}])
            self.assertEqual(codes(summary), {})
        plain = decode_messages(self.log, "--tmf", "symbols/paint.pdb")
        (FOLDER / "packed").mkdir(exist_ok=True)
        (FOLDER / "packed/paint.pdb.gz").write_bytes(gzip.compress((FOLDER / "symbols/paint.pdb").read_bytes()))
        for option, path in (("--tmf", "packed/paint.pdb.gz"), ("--tmf", "packed"), ("--pdb", "packed/paint.pdb.gz")):
            header, events, summary = decode_messages(self.log, option, path)
            self.assertEqual([event["message"] for event in events], [event["message"] for event in plain[1]])
            told, = header["message_files"]
            self.assertEqual(told, {**plain[0]["message_files"][0], "file": "packed/paint.pdb.gz"})
            self.assertEqual(codes(summary), {})
        # Of no message and no image of the trace.
        pdb("symbols/other.pdb", [], guid=THIRD)
        done = subprocess.run([COLDTRACE, "trace", "decode", self.log, "--pdb", "symbols/paint.pdb", "--pdb",
                               "symbols/other.pdb"], capture_output=True, cwd=FOLDER)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(re.findall(rb"symbols-unmatched: (\S+)", done.stderr), [b"symbols/other.pdb"])

    def test_flags_are_what_the_provider_of_the_pdb_calls_so(self):
        # DoTraceMessage has the flag as its LEVEL; a component may call it as it likes.
        for comment, flags in (("LEVEL=WALLS FUNC=Main", "WALLS"), ("AREA=DOORS LEVEL=TRACE_INFO", "DOORS"),
                               ("LEVEL=TRACE_INFO FUNC=WALLS", None), ("FLAGS=OTHER AREA=WALLS", "OTHER")):
            pdb("flags.pdb", [["TMF:", *block(SOURCE, 10, "%0<%!FLAGS!>", comment=comment)],
                              ["TMC:", str(OTHER), "PainterTrace", "DOORS", "WALLS"]])
            _, (event, _), _ = decode_messages(self.log, "--tmf", "flags.pdb")
            self.assertEqual((event["trace_message"]["flags"], event["message"]), (flags, f"<{flags or ''}>"), comment)

    def test_messages_are_those_of_the_provider_that_the_pdb_names(self):
        log = trace("two.etl", [message(SOURCE, 10, struct.pack("<i", 5)), message(THIRD, 1, b"")])
        pdb("owner.pdb", self.lines + self.lines[2:3])
        ask = ("decode", log, "--tmf", "owner.pdb", "--provider")
        for wanted in (str(OTHER), f"{{{OTHER}}}".upper(), "PainterTrace", "*ertrace", "painter", str(SOURCE)):
            lines = strict_ndjson(run(*ask, wanted))
            self.assertEqual([e["provider"]["guid"] for e in lines[1:-1]], [str(SOURCE)], wanted)
        both = strict_ndjson(run(*ask, f"{THIRD},PainterTrace"))[1:-1]
        self.assertEqual([e["provider"]["guid"] for e in both], [str(SOURCE), str(THIRD)])
        rows = run("export", "ecs", log, "--tmf", "owner.pdb", "--provider", "PainterTrace").splitlines()
        self.assertEqual([json.loads(row)["event"]["action"] for row in rows], ["paint_c10"])
        owners = {p["guid"]: p.get("message_provider") for p in json.loads(
            run("info", log, "--tmf", "owner.pdb", "--format", "json"))["providers"]}
        self.assertEqual((owners[str(SOURCE)], owners[str(THIRD)]), ({"guid": str(OTHER), "name": "PainterTrace"}, None))
        self.assertIn(f"messages of PainterTrace {OTHER}\n".encode(), run("info", log, "--tmf", "owner.pdb"))
        # Without the file, and of a PDB with two, nothing says whose they are.
        run("decode", log, "--provider", "PainterTrace", status=1)
        pdb("owner.pdb", [*self.lines, ["TMC:", str(THIRD), "Sculptor"], ["TMC:", "no GUID", "Nobody"], ["TMC:"]])
        lines = strict_ndjson(run(*ask, "PainterTrace", status=1))
        self.assertEqual([p["name"] for p in lines[0]["message_files"][0]["providers"]], ["PainterTrace", "Sculptor"])
        self.assertEqual(codes(lines[-1]), {"no-match": 1, "schema-damaged": 2})
        self.assertEqual(len(lines), 2)

    def test_check_says_which_messages_lack_a_format(self):
        named = struct.pack("<HBBHHIIQII", 2, 2, 0xC0, 32 + 20 + 10, 0x40, 8, 4, 132_000_000_000_000_000, 0, 0)
        named += PDB.bytes_le + struct.pack("<I", 3) + b"paint.pdb\0"
        log = trace("check.etl", [named, *[message(SOURCE, 10, struct.pack("<i", 5))] * 2, message(SOURCE, 12, b"")])
        pdb("check.pdb", self.lines)
        whole = json.loads(run("schemas", "check", log, "--format", "json", status=1))
        json_schema.of(CHECK_SCHEMA).validate(whole)
        self.assertFalse(whole["complete"])
        self.assertEqual(whole["message_pdbs"], [{"name": "paint.pdb", "guid": str(PDB), "age": 3}])
        (source,) = whole["providers"]
        self.assertEqual((source["guid"], source["class"], source["events"], source["missing_events"]),
                         (str(SOURCE), "message", 3, 3))
        self.assertEqual(source["missing"], [{"id": 10, "version": None, "events": 2}, {"id": 12, "version": None, "events": 1}])
        text = run("schemas", "check", log, "--tmf", "check.pdb", status=1).decode()
        self.assertIn(f"MISSING  {SOURCE} painter: 1 of 2 kinds, 1 of 3 events\n           from check.pdb\n"
                      "           WPP messages without a format (number): 12\n"
                      f"           the trace names the PDB paint.pdb {PDB} 3\n", text)
        done = run("schemas", "check", trace("whole.etl", [message(SOURCE, 10, struct.pack("<i", 5))]), "--tmf", "check.pdb")
        self.assertIn(f"ok       {SOURCE} painter: 1 kind, 1 event\n".encode(), done)
        self.assertTrue(done.endswith(b"0 of 1 provider lacks schemas\n"), done)

    @unittest.skipUnless(CASES.exists(), f"no {CASES}")
    def test_a_record_as_a_compiler_writes_it(self):
        case = json.loads(CASES.read_text())["annotation"]
        guid, number = uuid.UUID(case["strings"][1][:36]), int(case["strings"][2].split()[2])
        pdb("clang/demo.pdb", [bytes.fromhex(case["record"])])
        log = trace("clang.etl", [message(guid, number, struct.pack("<i", 5) + b"x\0")])
        _, (event,), summary = decode_messages(log, "--pdb", "clang")
        self.assertEqual(event["message"], "value=5 name=x")
        self.assertEqual(event["trace_message"]["function"], "f")
        self.assertEqual(codes(summary), {})

    def test_the_pdb_that_the_trace_names_goes_first(self):
        named = struct.pack("<HBBHHIIQII", 2, 2, 0xC0, 32 + 20 + 12, 0x40, 8, 4, 132_000_000_000_000_000, 0, 0)
        named += THIRD.bytes_le + struct.pack("<I", 7) + b"C:\\b\\hall.pdb"[:12]
        log = trace("named.etl", [named, message(SOURCE, 10, struct.pack("<i", 5))])
        header, events, _ = decode_messages(log)
        self.assertEqual(header["message_pdbs"], [{"name": "hall.pd", "guid": str(THIRD), "age": 7}])
        self.assertEqual(events[0]["message_pdb"], header["message_pdbs"][0])
        pdb("both/a.pdb", [["TMF:", *block(SOURCE, 10, "%0of another build %10!d!", "Arg, ItemLong -- 10")]])
        pdb("both/b.pdb", [["TMF:", *block(SOURCE, 10, "%0of the trace's %10!d!", "Arg, ItemLong -- 10")]],
            guid=THIRD, age=7)
        header, events, summary = decode_messages(log, "--pdb", "both")
        self.assertEqual(events[0]["message"], "of the trace's 5")
        self.assertNotIn("message_pdb", events[0])
        self.assertEqual([f["file"] for f in header["message_files"]], ["both/b.pdb"])
        self.assertEqual(codes(summary), {})

    def test_damaged_ones_end_quietly(self):
        whole = (FOLDER / pdb("whole.pdb", self.lines)).read_bytes()
        for number, at in enumerate(range(0, len(whole), 75)):
            damaged = whole[:at] + bytes([whole[at] ^ 0xff]) + whole[at + 1:]
            if number % 7 == 0:
                damaged = whole[:at]
            (FOLDER / "damaged.pdb").write_bytes(damaged)
            done = subprocess.run([COLDTRACE, "trace", "decode", self.log, "--tmf", "damaged.pdb"],
                                  capture_output=True, timeout=60, cwd=FOLDER)
            self.assertIn(done.returncode, (0, 1), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
