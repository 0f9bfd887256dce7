"""Each value of the Python module is the program's of the same input, and its objects keep to what Python asks of objects.

usage: module_values.py BUILD SOURCES SHARED [unittest arguments]
"""
import copy
import gc
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import unittest
import weakref
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from case import Case  # noqa: E402
from cli.trace.ctrace_names import with_wide_names  # noqa: E402
from loaded_image import as_loaded  # noqa: E402

BUILD, SOURCES, SHARED = (Path(argument).resolve() for argument in sys.argv[1:4])
del sys.argv[1:4]
CORPUS = SOURCES / "fuzz/corpus"
MODULES, COLDTRACE, DEMO = BUILD / "python", BUILD / "cli/coldtrace", BUILD / "demo"
sys.path.insert(0, str(MODULES))
sys.dont_write_bytecode = True
import coldtrace  # noqa: E402

# winnt.h's FILE_ATTRIBUTE_*
ATTRIBUTES = {1: "read_only", 2: "hidden", 4: "system", 0x10: "directory", 0x20: "archive", 0x40: "device", 0x80: "normal",
              0x100: "temporary", 0x200: "sparse", 0x400: "reparse_point", 0x800: "compressed", 0x1000: "offline",
              0x2000: "not_indexed", 0x4000: "encrypted", 0x20000000: "view_index"}
# Of a line of 'trace decode', as docs/python.md says; `payload` and `trailing` are `rest`.
NOT_IN_EVENTS = {"time_quality", "thread_source", "names", "schema_file", "schema_file_version", "schema_buffer",
                 "schema_version", "message_pdb", "resolved", "trace_control", "etw", "raw_reason", "extended", "header"}


def lines(*command):
    done = subprocess.run([COLDTRACE, *command], capture_output=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


def document(*command):
    done = subprocess.run([COLDTRACE, *command, "--format", "json"], capture_output=True, timeout=120)
    return json.loads(done.stdout)


def time_text(ns):
    return None if ns is None else coldtrace.time_text(ns)


def told(*findings):
    """Of findings of either, by code."""
    return sorted((finding["code"], finding["severity"], finding["count"]) if isinstance(finding, dict)
                  else (finding.code, finding.severity, finding.count) for finding in findings)


def plain(value):
    """As JSON has it, but that addresses and other hexadecimal texts are numbers."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, str):
        value = re.sub("[\ud800-\udfff]", "\ufffd", value)
        return int(value, 16) if re.fullmatch("0x[0-9a-f]+", value) else value
    return value


def members(row, *names):
    return {name: plain(getattr(row, name)) for name in names}


class Values(Case):
    def samples(self, folder, *names):
        return [path for path in (SHARED / "samples" / folder / name for name in names) if path.exists()]

    def same(self, line, found, names, where):
        self.assertEqual({name: plain(line[name]) for name in names}, members(found, *names), where)

    def same_stream(self, line, stream, where):
        names = set(line) - {"extents", "type", "name_utf16", "path_utf16"}
        self.same(line, stream, names, where)
        self.assertEqual((line.get("type", "$DATA"), [[extent[name] for name in extent if name != "offset"]
                                                      for extent in line["extents"]]),
                         (stream.type, [list(extent) for extent in stream.extents]), where)

    def same_file(self, line, file):
        where = line["path"]
        self.same(line, file, ("path", "name", "record", "sequence", "state", "directory", "links", "short_name", "owner_sid",
                               "record_offset", "size", "security_id", "usn", "object_id"), where)
        self.assertEqual(line["parent"] and tuple(line["parent"].values()),
                         None if file.parent_record is None else (file.parent_record, file.parent_sequence), where)
        for name in "si", "fn", "index":
            times = getattr(file, name)
            self.assertEqual(line[name] and list(line[name].values()), times and [*map(time_text, times)], where)
        if line["attributes"] is not None:
            bits = [ATTRIBUTES.get(1 << bit, hex(1 << bit)) for bit in range(32) if file.attributes >> bit & 1]
            self.assertEqual(line["attributes"], bits, where)
        for name in "streams", "other_streams":
            for told_of, stream in zip(line[name], getattr(file, name), strict=True):
                self.same_stream(told_of, stream, where)
        self.assertEqual([finding["code"] for finding in line["findings"]], list(file.findings), where)
        self.assertEqual([attribute["name"] for attribute in line["ea"]], [each.name for each in file.ea], where)
        self.assertEqual(line["entry"] is None, file.entry is None, where)
        self.assertEqual(line["reparse"] and plain([line["reparse"][name] for name in ("tag", "kind", "target")]),
                         file.reparse and list(file.reparse), where)

    def test_of_files(self):
        for path in DEMO / "demo-disk.img", *self.samples("ntfs", "ntfs-ptrn.raw.gz", "ntfs-lastaccess.raw.gz"):
            *rows, summary = lines("ntfs", "snapshot", "--state", "all", "--slack", path)
            image = coldtrace.open_image(path)
            (volume,) = image.volumes()
            (header, *files) = [row for row in rows if row["type"] in ("header", "file")]
            for line, file in zip(files, volume.files(slack=True), strict=True):
                self.same_file(line, file)
            self.assertEqual((header["disk"]["container"], header["disk"]["size"]), (image.container, image.size))
            self.assertEqual(header["volume"]["cluster_size"], volume.cluster_size)
            self.assertEqual(told(*summary["findings"]), told(*image.findings, *volume.findings))

    def test_of_events(self):
        names = ("timestamp", "cpu", "pid", "tid", "process", "name", "id", "opcode", "version", "level", "keywords",
                 "activity", "decoded", "fields")
        more = set()
        for path in DEMO / "demo-trace.etl", CORPUS / "ctrace/keys.ctrace", *self.samples("etl", "tx_HTTP_Server.etl", "tx_CrossMachineHTTP.etl",
                                                           "pv_primitive-types.etl", "pv_gcevents.etl"):
            *rows, summary = lines("trace", "decode", path)
            trace = coldtrace.open_trace(path)
            for line, event in zip([row for row in rows if row["type"] == "event"], trace.events(), strict=True):
                self.same(line, event, names, path)
                self.assertEqual((line["time"], *line["provider"].values()),
                                 (time_text(event.time), event.provider_guid, event.provider))
                self.assertEqual(line.get("payload", line.get("trailing", "")), (event.rest or b"").hex())
                self.assertEqual(plain(line["stack"] or []), list(event.stack))
                more |= set(line) - set(names) - {"type", "time", "provider", "payload", "trailing", "stack"}
            self.assertEqual(told(*summary["findings"]), told(*trace.findings))
        self.assertLessEqual(more, NOT_IN_EVENTS)
        described = re.search(r"Lines have more of events:(.*?)\.\n", (SOURCES / "docs/python.md").read_text(), re.S)[1]
        self.assertEqual(set(re.findall(r"`(\w+)`", described)), NOT_IN_EVENTS)

    def test_names_of_processes_keep_lone_surrogates(self):
        path = self.here / "boot.ctrace"
        subprocess.run([COLDTRACE, "trace", "synthesize", "boot", "-o", path], check=True, timeout=120)
        started = [line["fields"]["image_file_name"] for line in lines("trace", "decode", path) if line.get("name") == "ProcessCreate"]
        names = ["p.exe"] * (len(started) - 2) + ["sv\ud800.exe", "sv\udc00.exe"]
        trace = coldtrace.open_trace(self.write("names.ctrace", with_wide_names(path.read_bytes(), started, names)))
        self.assertLessEqual(set(names), {event.process for event in trace.events()})

    def kernel(self, change):
        """That of the demonstration, of which `change` is given the bytes and where its data directories are."""
        content = bytearray((DEMO / "demo-ntoskrnl.exe").read_bytes())
        head, = struct.unpack_from("<I", content, 0x3c)
        change(content, head + 0x18 + 0x70)
        return self.write("changed.exe", content)

    def nameless_kernel(self):
        """Without exports and resources, which have its name."""
        def clear(content, directories):
            content[directories:directories + 8] = content[directories + 16:directories + 24] = bytes(8)
        return self.kernel(clear)

    def kernel_with_fewer_names(self):
        """Its last ten exports, ZwX, have lost their names."""
        def shorten(content, directories):
            address, = struct.unpack_from("<I", content, directories)
            sections, = struct.unpack_from("<H", content, directories - 0x82)
            for row in range(directories + 0x80, directories + 0x80 + 40 * sections, 40):
                start, size, place = struct.unpack_from("<III", content, row + 12)
                if start <= address < start + size:
                    count = place + address - start + 0x18
                    struct.pack_into("<I", content, count, struct.unpack_from("<I", content, count)[0] - 10)
        return self.kernel(shorten)

    def test_of_images(self):
        for path in DEMO / "demo-ntdll.dll", DEMO / "demo-ntoskrnl.exe", self.kernel_with_fewer_names():
            image = coldtrace.open_pe(path)
            (line,) = document("pe", "exports", path)["images"]
            self.same(line["identity"], image, ("name", "machine", "file_version", "time_date_stamp", "size_of_image",
                                                "checksum"), path)
            for row, export in zip(line["exports"], image.exports(), strict=True):
                self.same(row, export, export.__match_args__, path)
            (line,) = document("syscalls", "map", path)["images"]
            for row, service in zip(line["services"], image.services(), strict=True):
                self.same(row, service, service.__match_args__, path)
            image.exports()  # what is read again is not found again
            self.assertEqual(told(*line["findings"]), told(*image.findings))
        self.assertIn("unnamed-services", [finding.code for finding in image.findings])

    def test_a_damaged_export_directory_is_an_error_with_its_place(self):
        def lead_outside(content, directories):
            struct.pack_into("<II", content, directories, 0x7000000, 40)
        path = self.kernel(lead_outside)
        image = coldtrace.open_pe(path)
        (line,) = document("pe", "exports", path)["images"]
        finding, = (row for row in line["findings"] if row["code"] == "export-directory")
        for _ in range(2):  # what is read again is not found again
            with self.assertRaises(coldtrace.Error) as raised:
                image.exports()
            self.assertEqual(str(raised.exception), f"{path}: {finding['first_offset']:#x}: {finding['text']}")
        self.assertEqual(told(*line["findings"]), told(*image.findings))

    def test_of_hook_tables(self):
        dump = self.write("dump.exe", as_loaded((DEMO / "demo-ntoskrnl.exe").read_bytes()))
        for path in DEMO / "demo-ntoskrnl.exe", dump, self.nameless_kernel():
            (line,) = document("hooks", "table", "--kernel", path)["builds"]
            table = coldtrace.build_hook_table(coldtrace.open_pe(path))
            for name in "images", "services", "members":
                for row, found in zip(line[name], getattr(table, name), strict=True):
                    self.same(row | row.get("identity", {}), found, found.__match_args__, path)
            self.assertEqual(told(*line["findings"]), told(*table.findings))
            self.assertEqual("layout-memory" in [finding.code for finding in table.findings], path == dump)
        self.assertIsNone(table.images[0].name)

    def test_of_types(self):
        """One has a function of two forms, of which each is a method."""
        for path in sorted(CORPUS.glob("pdb_types/*")):
            types = list(coldtrace.open_types(path).types())
            for line, found in zip(document("pe", "types", path)["types"], types, strict=True):
                self.same(line, found, ("name", "kind", "index", "defined", "size"), path)
                for row, member in zip(line["members"], found.members, strict=True):
                    self.same(row, member, {*member.__match_args__} & {*row}, path)
            self.assertNotIn("overloads", [member.kind for found in types for member in found.members])


class Objects(Case):
    def setUp(self):
        super().setUp()
        (self.volume,) = coldtrace.open_image(DEMO / "demo-disk.img").volumes()
        self.trace = coldtrace.open_trace(DEMO / "demo-trace.etl")

    def test_rows_can_be_copied_and_kept_and_what_is_open_cannot(self):
        for rows in list(self.volume.files()), list(self.trace.events()):
            self.assertGreater(len(rows), 5)
            for again in pickle.loads(pickle.dumps(rows)), copy.deepcopy(rows):
                self.assertEqual(again, rows)
                self.assertEqual({*map(type, again)}, {type(rows[0])})
        for opened in self.volume, self.trace, coldtrace.open_pe(DEMO / "demo-ntdll.dll"):
            for keep in pickle.dumps, copy.copy:
                self.assertRaises(TypeError, keep, opened)
        self.assertIs(weakref.ref(self.volume)(), self.volume)

    def test_equal_times_are_one_number(self):
        sets = [times for file in self.volume.files() for times in (file.si, file.fn) if times]
        self.assertEqual([len({*map(id, times)}) for times in sets], [len({*times}) for times in sets])
        self.assertLess(min(len({*times}) for times in sets), 4)

    def test_cycles_are_found(self):
        class Mark:
            pass

        event = next(self.trace.events())
        event.fields.update(event=event, mark=Mark())
        mark = weakref.ref(event.fields["mark"])
        del event
        gc.collect()
        self.assertIsNone(mark())

    def test_a_program_ends_while_its_threads_read(self):
        program = self.write("ends.py", b"""
import sys, threading, time
import coldtrace

def read():
    while True:
        for volume in coldtrace.open_image(sys.argv[1]).volumes():
            list(volume.files())

for _ in range(4):
    threading.Thread(target=read, daemon=True).start()
time.sleep(0.1)
""")
        for _ in range(5):
            done = subprocess.run([sys.executable, program, DEMO / "demo-disk.img"], capture_output=True, text=True,
                                  timeout=60, env={"PYTHONPATH": str(MODULES), "PYTHONDONTWRITEBYTECODE": "1"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_thousand_openings_leave_nothing(self):
        page = os.sysconf("SC_PAGE_SIZE")

        def memory():
            gc.collect()
            return int(Path("/proc/self/statm").read_text().split()[1]) * page

        def refused(path):
            for opener in coldtrace.open_image, coldtrace.open_trace, coldtrace.open_pe, coldtrace.open_types:
                self.assertRaises(coldtrace.Error, opener, path)

        text = self.write("text", b"neither of these\n" * 100)
        for read in (lambda: [list(volume.files(slack=True, where="size > 1")) for volume
                              in coldtrace.open_image(DEMO / "demo-disk.img").volumes()],
                     lambda: next(coldtrace.open_trace(DEMO / "demo-trace.etl").events()),
                     lambda: coldtrace.open_pe(DEMO / "demo-ntdll.dll").services(),
                     lambda: refused(text)):
            for _ in range(100):
                read()
            before, files = memory(), len(os.listdir("/proc/self/fd"))
            for _ in range(1000):
                read()
            self.assertLess(memory() - before, 1 << 20)
            self.assertEqual(len(os.listdir("/proc/self/fd")), files)


if __name__ == "__main__":
    unittest.main()
