"""The commands of coldtrace's own trace format: synthesize, schema, and decode with names.

usage: ctrace.py COLDTRACE SOURCES IMAGES MAKE_CTRACE [unittest arguments]
MAKE_CTRACE writes traces with damage, keys and an event of ETW into a folder.
"""
import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from checksums import crc32c
import json_schema
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SOURCES, IMAGES, MAKE_CTRACE = (Path(a).resolve() for a in sys.argv[1:5])
GOLDEN = SOURCES / "tests/cli/trace/golden"
SCENARIOS = ("producer-consumer", "deadlock-2", "deadlock-5", "boot", "disk-idle", "system-calls")
BUILT_IN = ("vtrace", "wmk", "vxdmon", "dynamic_tracing")


def run(*arguments):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)


# pread() of a temporary file of coldtrace's fails.
FAILING_READS = b"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static ssize_t read_or_fail(const char* name, int file, void* bytes, size_t size, off64_t at) {
  char link[64], path[4096] = {0};
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (readlink(link, path, sizeof path - 1) > 0 && (strstr(path, "/#") || strstr(path, "/coldtrace.")) &&
      strstr(path, "(deleted)")) {
    errno = EIO;
    return -1;
  }
  ssize_t (*next)(int, void*, size_t, off64_t) = dlsym(RTLD_NEXT, name);
  return next(file, bytes, size, at);
}
ssize_t pread64(int file, void* bytes, size_t size, off64_t at) {
  return read_or_fail("pread64", file, bytes, size, at);
}
ssize_t pread(int file, void* bytes, size_t size, off_t at) {
  return read_or_fail("pread", file, bytes, size, at);
}
"""


def schema(name):
    return json_schema.of(
        json.loads((SOURCES / "docs/schema" / name).read_text()))


class Ctrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([MAKE_CTRACE, cls.folder], check=True)
        for scenario in SCENARIOS:
            path = cls.folder / f"{scenario}.ctrace"
            done = run("trace", "synthesize", scenario, "-o", path)
            assert done.returncode == 0, done.stderr

    def lines(self, path, *arguments, status=0):
        done = run("trace", "decode", path, *arguments)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return strict_ndjson(done.stdout)

    def codes(self, content):
        path = self.folder / "changed.ctrace"
        path.write_bytes(content)
        self.addCleanup(path.unlink, missing_ok=True)
        done = run("trace", "info", path, "--format", "json")
        return done.returncode, {row["code"] for row in json.loads(done.stdout)["findings"]}


class Sound(Ctrace):
    def test_scenarios_are_what_they_were(self):
        """Each scenario's lines; 'ctrace.py ... --rebase' as last argument writes them anew."""
        for scenario in SCENARIOS:
            with self.subTest(scenario=scenario):
                done = run("trace", "decode", self.folder / f"{scenario}.ctrace",
                           "--format", "csv")
                self.assertEqual(done.returncode, 0, done.stderr)
                golden = GOLDEN / f"{scenario}.csv"
                if REBASE:
                    golden.write_bytes(done.stdout)
                self.assertEqual(done.stdout.decode().splitlines(),
                                 golden.read_text().splitlines())

    def test_a_seed_makes_the_same_bytes_and_another_one_others(self):
        def made(*options):
            return run("trace", "synthesize", "system-calls", *options).stdout
        self.assertEqual(made(), made("--seed", 1))
        self.assertNotEqual(made(), made("--seed", 2))
        self.assertGreater(len(made("--rounds", 1000)), len(made()))

    def test_every_line_follows_the_schema(self):
        validator = schema("trace.schema.json")
        for path in sorted(self.folder.glob("*.ctrace")):
            for options in [], ["--int64", "string", "--header-fields", "--order", "file"]:
                with self.subTest(path=path.name, options=options):
                    done = run("trace", "decode", path, *options)
                    self.assertIn(done.returncode, (0, 1))
                    lines = strict_ndjson(done.stdout)
                    self.assertEqual(lines[0]["format"], "ctrace")
                    self.assertEqual(lines[-1]["type"], "summary")
                    for line in lines:
                        validator.validate(line)

    def test_info_follows_its_schema_and_counts_the_same(self):
        validator = schema("trace-info.schema.json")
        for path in sorted(self.folder.glob("*.ctrace")):
            with self.subTest(path=path.name):
                info = strict_json(run("trace", "info", path, "--format", "json").stdout)
                validator.validate(info)
                kinds = [kind for provider in info["providers"] for kind in provider["kinds"]]
                counts = strict_json(run("trace", "decode", path).stdout.splitlines()[-1])["counts"]
                for how in "exact", "trailing", "partial", "raw":
                    self.assertEqual(sum(kind[how] for kind in kinds), counts[how])
                self.assertIn(b"fully decoded", run("trace", "info", path).stdout)

    def test_a_version_that_the_tracer_does_not_state_is_none(self):
        """Zeros in the header, whose fields docs/formats/trace-format.md lists."""
        seen = set()
        for path in sorted(self.folder.glob("*.ctrace")):
            with self.subTest(path=path.name):
                header = path.read_bytes()[:384]
                version = struct.unpack_from("<III", header, 80)
                stated = ".".join(map(str, version)) if any(version) else None
                line = f"Machine       Windows {stated or '(version not stated)'}, "
                session = strict_json(run("trace", "info", path, "--format", "json").stdout)["session"]
                self.assertEqual(session["windows_version"], stated)
                self.assertIn(line, run("trace", "info", path).stdout.decode())
                self.assertIn(line, run("trace", "top", path).stdout.decode())
                machine = strict_json(run("trace", "top", path, "--format", "json").stdout)["machine"]
                self.assertEqual(machine["windows_version"], stated)
                for name, at in ("kernel", 128), ("ntdll", 256):
                    if session[name] is not None:
                        numbers = struct.unpack_from("<4H", header, at + 16)
                        self.assertEqual(session[name]["file_version"], ".".join(map(str, numbers)) if any(numbers) else None)
                        seen.add((name, any(numbers)))
                seen.add(stated is None)
        self.assertLessEqual({True, False, ("ntdll", False)}, seen)

    def test_formats_and_jobs_say_the_same(self):
        path = self.folder / "boot.ctrace"
        lines = self.lines(path)
        done = run("trace", "decode", path, "--format", "json")
        self.assertEqual(strict_json(done.stdout), lines)
        outputs = {run("trace", "decode", path, "--jobs", jobs).stdout for jobs in (1, 3)}
        self.assertEqual(len(outputs), 1)
        done = run("trace", "decode", path, "--format", "csv")
        rows = strict_csv(done.stdout)
        self.assertEqual(len(rows), len(lines) - 2)
        for row, line in zip(rows, lines[1:-1]):
            self.assertEqual(row["name"], line["name"])
            self.assertEqual(int(row["id"]), line["id"])
            self.assertEqual(strict_json(row["fields"].encode()), line["fields"])

    def test_services_of_drivers_have_the_names_that_the_trace_gives_them(self):
        done = run("trace", "services", self.folder / "vxd-names.ctrace", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(one["number"], one["name"], one["calls"], one["inclusive"], one["cycles"])
                          for one in strict_json(done.stdout)["services"]],
                         [(0x10003, "VMM:Get_VMM_Version", 1, 5, 1500), (0x10004, None, 1, 5, 1500)])
        text = run("trace", "services", self.folder / "vxd-names.ctrace").stdout.decode()
        self.assertIn("  VMM:Get_VMM_Version\n", text)

    def test_selection_takes_what_it_says(self):
        path = self.folder / "deadlock-5.ctrace"
        events = [line for line in self.lines(path) if line["type"] == "event"]
        first, last = events[20]["time"], events[40]["time"]
        for options, wanted in [
            (["--event", "ContextSwitch"], lambda e: e["name"] == "ContextSwitch"),
            (["--event", "517"], lambda e: e["id"] == 0x205),
            (["--provider", "WMK"], lambda e: True),
            (["--process", 3000], lambda e: e["pid"] == 3000),
            (["--from", first, "--to", last], lambda e: first <= e["time"] <= last),
        ]:
            with self.subTest(options=options):
                expected = [event for event in events if wanted(event)]
                self.assertTrue(expected)
                self.assertEqual([line for line in self.lines(path, *options)
                                  if line["type"] == "event"], expected)

    def test_the_deadlock_is_one(self):
        """Of the last waits of the threads each is for what another one holds."""
        for count in 2, 5:
            holder, waits = {}, {}
            for line in self.lines(self.folder / f"deadlock-{count}.ctrace"):
                if line.get("name") not in ("WaitBegin", "WaitSatisfied"):
                    continue
                fields = line["fields"]
                if line["resolved"]["object_type"] != "Mutant":
                    continue
                if line["name"] == "WaitBegin":
                    waits[line["tid"]] = fields["object"]
                else:
                    self.assertEqual(waits.pop(line["tid"]), fields["object"])
                    holder[fields["object"]] = line["tid"]
            self.assertEqual(len(waits), count)
            thread = next(iter(waits))
            seen = []
            while thread not in seen:
                seen.append(thread)
                thread = holder[waits[thread]]
            self.assertEqual(len(seen), count)

    def test_keys_stay_private(self):
        keys = [line for line in self.lines(self.folder / "disk-idle.ctrace")
                if line.get("name") == "KeyPress"]
        self.assertTrue(keys)
        for line in keys:
            self.assertEqual(line["fields"], {"key_id": 1, "key": "encrypted"})
        # Data that does not fit its schema, and of a version that is not in it, show nothing either.
        path = self.folder / "keys.ctrace"
        for options in [], ["--format", "csv"], ["--format", "json"], ["--header-fields"]:
            output = run("trace", "decode", path, *options).stdout
            self.assertNotIn(b"5ec2e75ec2e7", output)
            self.assertIn(b"shorter_than_schema" if not options else b"KeyPress", output)

    def test_an_entry_that_no_schema_has_is_of_no_provider(self):
        keys, other = self.folder / "keys.ctrace", self.folder / "etw.ctrace"
        told = run("trace", "info", keys).stdout.decode()
        self.assertRegex(told, r"(?m)^ +1 +0  - *$")
        providers = strict_json(run("trace", "info", keys, "--format", "json").stdout)["providers"]
        self.assertEqual([provider["guid"] for provider in providers if provider["name"] is None], [None])
        line, = (line for line in self.lines(keys) if line.get("version") == 7)
        self.assertEqual(line["provider"], {"guid": None, "name": None})
        row, = (row for row in strict_csv(run("trace", "decode", keys, "--format", "csv").stdout) if row["version"] == "7")
        self.assertEqual(row["provider_guid"], "")
        compared = run("trace", "compare", keys, other)
        self.assertIn(" - - (id 288)\n", compared.stdout.decode())
        guids = {row["provider"]["guid"] for row in
                 strict_json(run("trace", "compare", keys, other, "--format", "json").stdout)["kinds"]}
        self.assertIn(None, guids)
        self.assertNotIn("00000000-0000-0000-0000-000000000000", compared.stdout.decode())

    def test_an_event_of_etw_is_decoded_as_in_an_etl_file(self):
        line, = (line for line in self.lines(self.folder / "etw.ctrace")
                 if line.get("name") == "EtwEvent")
        self.assertEqual(line["etw"]["provider"]["name"], "Windows Kernel")
        self.assertEqual(line["etw"]["name"], "Process/Start")
        self.assertEqual(line["etw"]["decoded"], "exact")
        self.assertEqual(line["etw"]["fields"]["ImageFileName"], "etw.exe")

    def test_schemas_reach_the_event_that_etw_handed_over(self):
        trace, manifest = self.folder / "painted.ctrace", SOURCES / "tests/cli/trace/schemas/painter.man"

        def etw(*options, status=0):
            lines = self.lines(trace, *options, status=status)
            return lines, next(line["etw"] for line in lines if line.get("name") == "EtwEvent")

        self.assertEqual(etw()[1]["decoded"], "raw")
        lines, event = etw("--schemas", manifest, "--messages")
        self.assertEqual((event["name"], event["decoded"], event["fields"]),
                         ("Paint/Brush", "exact", {"Colour": 2, "Sides": "0xd", "Where": "the hall"}))
        self.assertEqual(event["message"], "Painted Blue on Left|Right|0x8 in the hall\n(100%)")
        self.assertEqual(lines[0]["schemas"][0]["providers"][0]["kinds"], 1)
        self.assertNotIn("message", etw("--schemas", manifest)[1])

    def test_logged_calls_of_nttracecontrol_are_explained(self):
        """Seed 002: 0x1D has no function; EtwStartLoggerCode wants 0xB0 bytes in and out."""
        names = self.folder / "nttracecontrol.json"
        identity = {"name": "ntdll.dll", "time_date_stamp": 1, "size_of_image": 2, "checksum": 3}
        names.write_text(json.dumps({
            "schema": "coldtrace.syscall-map/1",
            "images": [{"identity": identity,
                        "services": [{"number": 0x1b2, "name": "NtTraceControl"}]}]}))
        events = [line for line in self.lines(self.folder / "calls.ctrace", "--syscall-map", names)
                  if line["type"] == "event"]
        calls = [event.get("trace_control", "absent") for event in events]
        self.assertEqual(
            [(call["code"], call["name"], call["outcome"],
              [status["name"] for status in call["statuses"]]) for call in calls[:5]],
            [(0x1d, None, "fails", ["STATUS_INVALID_DEVICE_REQUEST"]),
             (1, "EtwStartLoggerCode", "fails", ["STATUS_INVALID_BUFFER_SIZE"]),
             (1, "EtwStartLoggerCode", "undecided", []),
             (0x16, "get trace GUID information", "passes", []),
             (1, "EtwStartLoggerCode", "undecided", [])])
        self.assertEqual(calls[5:7], [None, "absent"])
        # InBuffer is NULL: no input for a caller in user mode, no address for one in kernel mode.
        self.assertEqual((calls[7]["outcome"], [status["name"] for status in calls[7]["statuses"]]),
                         ("fails", ["STATUS_INVALID_BUFFER_SIZE", "STATUS_INVALID_PARAMETER"]))
        unnamed = [line for line in self.lines(self.folder / "calls.ctrace")
                   if line.get("name") == "SystemCallEnter"]
        self.assertNotIn("trace_control", unnamed[0])

    def test_system_calls_are_named_by_their_own_image_only(self):
        ntdll = IMAGES / "windows10-x64" / "ntdll.dll"
        other = IMAGES / "windows7-x64" / "ntdll.dll"
        trace = self.folder / "named.ctrace"
        self.assertEqual(run("trace", "synthesize", "system-calls", "--ntdll", ntdll,
                             "-o", trace).returncode, 0)
        mapped = self.folder / "map.json"
        run("syscalls", "map", "--format", "json", ntdll, "-o", mapped)
        services = {service["number"]: service["name"]
                    for service in json.loads(mapped.read_text())["images"][0]["services"]}
        strings, packed = self.folder / "strings.json", self.folder / "map.json.gz"
        run("syscalls", "map", "--format", "json", "--int64", "string", ntdll, "-o", strings)
        packed.write_bytes(gzip.compress(mapped.read_bytes()))
        for source in ntdll, mapped, strings, packed:
            named = 0
            for line in self.lines(trace, "--syscall-map", source):
                if line.get("name") != "SystemCall":
                    continue
                number = line["fields"]["number"]
                self.assertEqual(line.get("resolved", {}).get("number"), services.get(number))
                named += number in services
            self.assertGreater(named, 0)
        wrong = self.folder / "other.json"
        run("syscalls", "map", "--format", "json", other, "-o", wrong)
        for path, source in (trace, other), (trace, wrong), \
                (self.folder / "system-calls.ctrace", mapped):
            lines = self.lines(path, "--syscall-map", source, status=1)
            self.assertIn("syscall-map-unmatched",
                          [finding["code"] for finding in lines[-1]["findings"]])
            for line in lines:
                self.assertNotIn("number", line.get("resolved", {}))
        self.assertEqual(run("trace", "decode", trace, "--syscall-map", trace).returncode, 2)

    def test_name_hashes_are_resolved(self):
        mapped = self.folder / "hashes.json"
        identity = {"name": "x", "time_date_stamp": 1, "size_of_image": 1, "checksum": 1}
        mapped.write_text(json.dumps({
            "schema": "coldtrace.syscall-map/1",
            "images": [{"identity": identity,
                        "services": [{"number": 1, "name": "NtOpenKeyTransacted"}]}]}))
        lines = self.lines(self.folder / "system-calls.ctrace", "--syscall-map", mapped, status=1)
        entered = [line for line in lines if line.get("name") == "SystemServiceEnter"]
        self.assertTrue(entered)
        for line in entered:
            self.assertEqual(line["resolved"]["name_hash"], "NtOpenKeyTransacted")

    def test_the_sample_tracer_needs_the_kernel_alone(self):
        drivers = sorted(IMAGES.glob("driver-*/tracer.sys"))
        if not drivers:
            self.skipTest("no mingw-w64 with its DDK headers")
        for driver in drivers:
            done = run("pe", "imports", driver, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            imports = done.stdout.decode()
            self.assertIn("PsSetCreateProcessNotifyRoutine", imports)
            self.assertNotIn("msvcrt", imports.lower())

    def test_schema_errors_have_their_place(self):
        path = self.folder / "bad.schema"
        path.write_text("schema s {01234567-89ab-cdef-0123-456789abcdef};\n"
                        "event X = 1 {\n  u8 a\n}\n")
        done = run("trace", "schema", "check", path)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.decode(), f"{path}:4:1: expected ';'\n")
        done = run("trace", "schema", "show", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"bad.schema:4:1: expected ';'", done.stderr)
        done = subprocess.run([COLDTRACE, "trace", "schema", "check", "-"], input=path.read_bytes(), capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (1, b"-:4:1: expected ';'\n"))
        self.assertEqual(run("trace", "schema", "check", self.folder / "none").returncode, 2)
        self.assertEqual(run("trace", "schema", "check", *BUILT_IN).returncode, 0)
        self.assertEqual(run("trace", "schema", "check", "wmk", "wmk").returncode, 1)

    def test_show_follows_its_schema(self):
        validator = schema("trace-schema.schema.json")
        for source in *BUILT_IN, self.folder / "boot.ctrace":
            done = run("trace", "schema", "show", source, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            validator.validate(strict_json(done.stdout))
            self.assertEqual(run("trace", "schema", "show", source).returncode, 0)

    def test_c_structures_lie_as_the_decoder_reads(self):
        """Compilers for i686 and x86_64 find every member where the layout has it."""
        header = self.folder / "events.h"
        self.assertEqual(run("trace", "schema", "c-header", *BUILT_IN, "-o", header).returncode, 0)
        shown = strict_json(run("trace", "schema", "show", *BUILT_IN, "--format", "json").stdout)
        compared = 0
        for bits, compiler in (32, "i686-w64-mingw32-gcc"), (64, "x86_64-w64-mingw32-gcc"):
            lines = ['#include <stddef.h>', '#include "events.h"']

            def claim(condition):
                lines.append(f"typedef char claim_{len(lines)}[({condition}) ? 1 : -1];")
            for one in shown["schemas"]:
                for structure in one["structs"] + one["events"]:
                    fields = [field for field in structure["fields"]
                              if field[f"offset{bits}"] is not None
                              and field[f"size{bits}"] is not None]
                    name = structure["c_name"]
                    for field in fields:
                        claim(f"offsetof({name}, {field['member']}) == {field[f'offset{bits}']}")
                        claim(f"sizeof((({name}*)0)->{field['member']}) == {field[f'size{bits}']}")
                        compared += 1
                    if fields:
                        end = fields[-1][f"offset{bits}"] + fields[-1][f"size{bits}"]
                        claim(f"sizeof({name}) == {end}")
                    if "id" in structure:
                        claim(f"{name.upper()} == {structure['id']}")
            source = self.folder / f"layout{bits}.c"
            source.write_text("\n".join(lines) + "\n")
            done = subprocess.run(
                [compiler, "-std=c89", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-c",
                 "-I", SOURCES / "tracefile/include", source, "-o", self.folder / "layout.o"],
                capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(compared, 200)


class Damaged(Ctrace):
    def test_damage_is_lines_and_exit_1(self):
        lines = self.lines(self.folder / "damaged.ctrace", status=1)
        self.assertEqual({line["reason"] for line in lines if line["type"] == "gap"},
                         {"damaged", "buffers_missing", "events_lost", "not_a_buffer"})
        lost = [line for line in lines if line.get("reason") == "events_lost"]
        self.assertTrue(all(line["events"] > 0 for line in lost))
        self.assertEqual(lines[-1]["counts"]["gaps"],
                         sum(line["type"] == "gap" for line in lines))

    def test_a_damaged_magic_is_named_as_one(self):
        whole = (self.folder / "etw.ctrace").read_bytes()
        path = self.folder / "magic.ctrace"
        self.addCleanup(path.unlink, missing_ok=True)
        damages = [whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1:] for at in range(8)]
        damages += [bytes(8) + whole[8:], b"MZ" + whole[2:],
                    b"X" * 8 + whole[8:200] + b"\xff" + whole[201:]]  # and a name in the header
        for damaged in damages + [gzip.compress(damages[0])]:
            path.write_bytes(damaged)
            for command in ("info", "decode"):
                with self.subTest(start=damaged[:8], command=command):
                    done = run("trace", command, path)
                    self.assertEqual((done.returncode, done.stdout), (2, b""))
                    self.assertIn(b"a .ctrace file, by its header, whose magic is damaged: 0x0: ",
                                  done.stderr)
                    self.assertNotIn(b".etl", done.stderr)
        for no_header in (bytes(8) + whole[8:300], whole[:4] + whole, bytes(8) + bytes([9]) + whole[9:]):
            path.write_bytes(no_header)
            done = run("trace", "info", path)
            self.assertEqual(done.returncode, 2)
            self.assertNotIn(b"whose magic is damaged", done.stderr)

    def test_a_schema_text_with_an_error_is_told(self):
        whole = bytearray((self.folder / "etw.ctrace").read_bytes())
        size, = struct.unpack_from("<I", whole, 12)
        self.assertEqual(self.codes(whole), (0, set()))
        whole[384:388] = b"\"\"\"\""
        whole[16:20] = bytes(4)
        struct.pack_into("<I", whole, 16, crc32c(whole[:size]))
        self.assertEqual(self.codes(whole), (1, {"schema-text"}))

    def test_a_buffer_behind_a_later_one_of_its_processor_is_told(self):
        whole = (self.folder / "boot.ctrace").read_bytes()
        at, = struct.unpack_from("<I", whole, 12)
        buffers = []
        while at < len(whole):
            self.assertEqual(whole[at:at + 8], b"CTBUFFER")
            length, processor = struct.unpack_from("<IH", whole, at + 12)
            buffers.append((processor, whole[at:at + 64 + length]))
            at += 64 + length
        start = len(whole) - sum(len(content) for _, content in buffers)
        first = buffers[0][0]
        second = next(i for i, (processor, _) in enumerate(buffers) if i and processor == first)
        moved = [buffers[second], *buffers[1:second], buffers[0], *buffers[second + 1:]]
        status, codes = self.codes(whole[:start] + b"".join(content for _, content in moved))
        self.assertEqual(status, 1)
        # Its calibration pair is behind a later one, too.
        self.assertLessEqual({"buffer-order", "clock-pair"}, codes)

    def test_without_calibration_pairs_each_time_is_approximate_and_no_error_is_bounded(self):
        whole = (self.folder / "boot.ctrace").read_bytes()
        self.assertIsInstance(self.lines(self.folder / "boot.ctrace")[0]["session"]["clock"]["error_bound"], int)
        for kept in 0, 1:  # pairs of each processor
            content, seen = bytearray(whole), {}
            at, = struct.unpack_from("<I", content, 12)
            while at < len(content):
                length, processor = struct.unpack_from("<IH", content, at + 12)
                if processor != 0xFFFF and any(content[at + 40:at + 48]):
                    seen[processor] = seen.get(processor, 0) + 1
                    if seen[processor] > kept:
                        content[at + 40:at + 48] = bytes(8)
                content[at + 8:at + 12] = bytes(4)
                struct.pack_into("<I", content, at + 8, crc32c(content[at:at + 64 + length]))
                at += 64 + length
            path = self.folder / "pairless.ctrace"
            path.write_bytes(content)
            self.addCleanup(path.unlink, missing_ok=True)
            with self.subTest(kept=kept):
                first, *lines = self.lines(path, status=1)
                self.assertEqual((first["session"]["clock"]["pairs"], first["session"]["clock"]["error_bound"]), (kept * len(seen), None))
                schema("trace.schema.json").validate(first)
                exact = [line for line in lines if line["type"] == "event" and "time_quality" not in line]
                self.assertLessEqual(len(exact), kept * len(seen))  # at the pair itself
                info = run("trace", "info", path, "--format", "json")
                schema("trace-info.schema.json").validate(strict_json(info.stdout))
                self.assertNotIn(b"error at most", run("trace", "info", path).stdout)
        self.assertIn(b"error at most", run("trace", "info", self.folder / "boot.ctrace").stdout)

    def test_an_index_that_cannot_be_read_again_is_told(self):
        """A disk under the temporary file that fails: reads of it are refused from outside."""
        if shutil.which("cc") is None:
            self.skipTest("cc is not installed")
        shim = self.folder / "shim.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", shim, "-", "-ldl"], check=True,
                       input=FAILING_READS)
        whole = (self.folder / "boot.ctrace").read_bytes()
        size, = struct.unpack_from("<I", whole, 12)
        most_in_memory = 1 << 16
        content = bytearray(whole[:size])
        for sequence in range(most_in_memory + 10):
            header = struct.pack("<8sIIHBBIIIQQ", b"CTBUFFER", 0, 0, 0, 0, 0, sequence, 0, 0,
                                 10**6 + sequence, 0).ljust(64, b"\0")
            crc = crc32c(header)
            content += header[:8] + struct.pack("<I", crc) + header[12:]
        path = self.folder / "many.ctrace"
        path.write_bytes(content)
        self.addCleanup(path.unlink)
        found = []
        for preload in (None, shim):
            environment = {**os.environ, "TMPDIR": str(self.folder)}
            if preload:
                environment["LD_PRELOAD"] = str(preload)
            done = subprocess.run([COLDTRACE, "trace", "info", path, "--format", "json"],
                                  capture_output=True, timeout=120, env=environment)
            found.append((done.returncode, {row["code"]: row["count"]
                                            for row in strict_json(done.stdout)["findings"]}))
        (_, sound), (status, damaged) = found
        self.assertNotIn("index-lost", sound)
        self.assertEqual((status, damaged), (1, {**sound, "index-lost": 1}))

    def test_a_file_that_was_never_closed_is_read(self):
        lines = self.lines(self.folder / "open.ctrace", status=1)
        codes = {finding["code"] for finding in lines[-1]["findings"]}
        self.assertLessEqual({"trace-not-closed", "entry-uncommitted"}, codes)
        self.assertFalse(lines[0]["session"]["closed"])
        self.assertEqual(lines[0]["session"]["uncommitted"], 1)


if __name__ == "__main__":
    REBASE = "--rebase" in sys.argv
    unittest.main(argv=[sys.argv[0], *(a for a in sys.argv[5:] if a != "--rebase")])
