"""What the values of a trace stand for: maps, stacks, threads, images, statuses.

Schemas, maps, stack keys, threads and images of a trace are read a second time here, from the bytes
and numbers that `trace decode` shows of them, and what every event must show follows from that.

usage: trace_names.py COLDTRACE SHARED MAKE_NAMED_TRACE [unittest arguments]
"""
import bisect
import calendar
import collections
import hmac
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
from cli.trace.etl_writer import EtlWriter
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SHARED, MAKE_NAMED_TRACE = (Path(a).resolve() for a in sys.argv[1:4])
SAMPLES = SHARED / "samples" / "etl"
KERNEL_SPACE = 1 << 63


def run(*arguments):
    return subprocess.run([COLDTRACE, "trace", *map(str, arguments)], capture_output=True,
                          timeout=300)


def decode(path, *options):
    done = run("decode", path, *options)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr.decode())
    return strict_ndjson(done.stdout)


def events_of(path, *options):
    return [line for line in decode(path, *options) if line["type"] == "event"]


def event_lines(path, *options):
    """Just as they are written."""
    return [line for line in run("decode", path, *options).stdout.splitlines() if line.startswith(b'{"type":"event",')]


class Samples:
    """Decoded once for all tests, since this takes the most time."""
    kept = {}

    @classmethod
    def events(cls, name):
        path = SAMPLES / name
        if not path.exists():
            raise unittest.SkipTest("the sample traces are not here")
        if name not in cls.kept:
            cls.kept[name] = events_of(path, "--header-fields")
        return cls.kept[name]


def utf16z(data, at):
    end = at
    while end + 1 < len(data) and data[end:end + 2] != b"\0\0":
        end += 2
    return data[at:end].decode("utf-16-le").rstrip(" ")


def guid_bytes(text):
    return uuid.UUID(text).bytes_le


class Schemas(unittest.TestCase):
    def test_a_damaged_schema_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([MAKE_NAMED_TRACE, folder], check=True)
            (path,) = Path(folder).glob("maps.etl")
            whole = path.read_bytes()
            for count, codes in ((5, set()), (0xffff, {"schema-damaged"})):
                content = bytearray(whole)
                # TRACE_EVENT_INFO.PropertyCount, behind 16 bytes of zeros and the event's id.
                found, = re.finditer(rb"(?s)\0{16}\x05\0.{66}\x05\0\0\0\x04\0\0\0", content)
                struct.pack_into("<I", content, found.end() - 8, count)
                path.write_bytes(content)
                done = run("info", "--format", "json", path)
                self.assertEqual(done.returncode, 1 if codes else 0, done.stderr)
                self.assertEqual({row["code"] for row in strict_json(done.stdout)["findings"]
                                  if row["severity"] == "warning"}, codes)


class Maps:
    """TRACE_EVENT_INFO and EVENT_MAP_INFO, by the structures of tdh.h."""

    def __init__(self, events):
        self.fields = {}  # (provider, id, version) -> {path: map name}
        self.maps = {}    # (provider, name) -> (bits, [(value, text)])
        for event in events:
            if event["name"] == "MetaData/EventInfo":
                self.add_schema(event["fields"])
            elif event["name"] == "MetaData/EventMapInfo":
                self.add_map(event["fields"])

    def add_schema(self, fields):
        head = guid_bytes(fields["ProviderGuid"]) + guid_bytes(fields["EventGuid"]) + struct.pack(
            "<HBBBBHQI", *(fields[name] for name in ("Id", "Version", "Channel", "Level", "Opcode",
                                                     "Task")), int(fields["Keyword"], 16),
            fields["DecodingSource"])
        blob = head + bytes.fromhex(fields["EventInfo"])
        count, top = struct.unpack_from("<II", blob, 100)
        key = (fields["ProviderGuid"], fields["Id"], fields["Version"])
        self.fields.setdefault(key, dict(self.walk(blob, 0, top, "")))

    def walk(self, blob, first, count, prefix):
        for index in range(first, first + count):
            at = 112 + 24 * index
            flags, name = struct.unpack_from("<II", blob, at)
            path = prefix + utf16z(blob, name)
            if flags & 1:
                start, members = struct.unpack_from("<HH", blob, at + 8)
                yield from self.walk(blob, start, members, path + ".")
            else:
                map_name, = struct.unpack_from("<I", blob, at + 12)
                if map_name:
                    yield path, utf16z(blob, map_name)

    def add_map(self, fields):
        blob = bytes.fromhex(fields["EventMapInfo"])  # offsets count from here
        name, flag, count = struct.unpack_from("<III", blob, 0)
        entries = []
        for index in range(count):
            text, value = struct.unpack_from("<II", blob, 16 + 8 * index)
            entries.append((value, utf16z(blob, text)))
        self.maps.setdefault((fields["ProviderGuid"], utf16z(blob, name)), (bool(flag & 2), entries))

    def name_of(self, provider, name, number):
        """The name of a value of the map, or None."""
        if (provider, name) not in self.maps or number is None:
            return None
        bits, entries = self.maps[provider, name]
        if not bits:
            return next((text for value, text in entries if value == number), None)
        texts = [text for value, text in sorted(entries) if value and number & value == value]
        if number == 0:
            texts = [text for value, text in entries if value == 0]
        rest = number
        for value, _ in entries:
            if number & value == value:
                rest &= ~value
        if texts and rest:
            texts.append(hex(rest))
        return "|".join(texts) or None

    def expected(self, event):
        """What `resolved` must have for the mapped fields, by path."""
        key = (event["provider"]["guid"], event["id"], event["version"])
        found = {}
        for path, name in self.fields.get(key, {}).items():
            values = event["fields"]
            for part in path.split("."):
                if isinstance(values, list):
                    values = [one[part] for one in values]
                else:
                    values = values.get(part)
                    if values is None:
                        break
            if isinstance(values, list):
                names = [self.name_of(key[0], name, number) for number in values]
                if any(names):
                    found[path] = names
            elif (text := self.name_of(key[0], name, values)) is not None:
                found[path] = text
        return found


def kernel_events(events, class_name):
    return [event for event in events if event["provider"]["name"] == "Windows Kernel" and
            event["name"].split("/")[0] == class_name]


class StackKeys:
    """A key means what the first KeyDelete or KeyRundown at or after the reference says."""

    def __init__(self, events):
        self.definitions = collections.defaultdict(list)
        for event in kernel_events(events, "StackWalk"):
            if event["name"] in ("StackWalk/KeyDelete", "StackWalk/KeyRundown"):
                fields = event["fields"]
                self.definitions[fields["Key"]].append((event["timestamp"], fields["StackFrame"]))
        for known in self.definitions.values():
            known.sort(key=lambda one: one[0])

    def find(self, key, timestamp):
        known = self.definitions.get(key, [])
        at = bisect.bisect_left(known, timestamp, key=lambda one: one[0])
        return known[at][1] if at < len(known) else None


class Images:
    """Who has an address when, by the events of loading."""

    def __init__(self, events):
        self.loaded = []  # [pid, base, end, from, to, name]
        records = sorted(kernel_events(events, "Image"), key=lambda event: event["timestamp"])
        for event in records:
            fields = event["fields"]
            if "ImageSize" not in fields:
                continue
            pid, base = fields["ProcessId"], int(fields["ImageBase"], 16)
            kind = event["name"].split("/")[1]
            mine = [one for one in self.loaded if one[:2] == [pid, base]]
            last = mine[-1] if mine else None
            open_ = last is not None and last[4] is None
            size = int(fields["ImageSize"], 16)
            if kind == "Load":
                if open_:
                    last[4] = event["timestamp"]
                self.loaded.append([pid, base, base + size, event["timestamp"], None,
                                    fields["FileName"]])
            elif kind in ("DCStart", "DCEnd", "Unload"):
                if not open_:
                    start = last[4] if last and kind != "DCStart" else -1
                    last = [pid, base, base + size, start, None, fields["FileName"]]
                    self.loaded.append(last)
                if kind == "Unload":
                    last[4] = event["timestamp"]
        self.by_owner = collections.defaultdict(list)
        for one in self.loaded:
            self.by_owner[one[0]].append(one)

    def find(self, pid, address, timestamp):
        owners = [pid] if pid is not None else []
        if address >= KERNEL_SPACE:
            owners += [0, 4]
        for owner in owners:
            for _, base, end, start, to, name in self.by_owner.get(owner, []):
                if base <= address < end and start <= timestamp and (to is None or timestamp < to):
                    return name, address - base
        return None


# Fields that say whose event it is, by the classes' descriptions (MS Learn), and those that say so
# of a rundown.
THREADS = {
    "PerfInfo/SampleProf": (None, "ThreadId"), "PageFault/HardFault": (None, "TThreadId"),
    "DiskIo/Read": (None, "IssuingThreadId"), "DiskIo/Write": (None, "IssuingThreadId"),
    "DiskIo/ReadInit": (None, "IssuingThreadId"), "DiskIo/WriteInit": (None, "IssuingThreadId"),
    "DiskIo/FlushBuffers": (None, "IssuingThreadId"),
    "Thread/CSwitch": (None, "OldThreadId"), "Thread/SetName": ("ProcessId", "ThreadId"),
    "StackWalk/Stack": ("StackProcess", "StackThread"),
    "StackWalk/StackKeyKernel": ("StackProcess", "StackThread"),
    "StackWalk/StackKeyUser": ("StackProcess", "StackThread"),
    "FileIo/MapFileDCStart": ("ProcessId", None), "FileIo/MapFileDCEnd": ("ProcessId", None),
    **{f"{protocol}/{what}{version}": ("PID", None) for protocol in ("TcpIp", "UdpIp")
       for version in ("IPV4", "IPV6") for what in ("Send", "Recv", "Connect", "Disconnect",
                                                    "Retransmit", "Accept", "Reconnect",
                                                    "TCPCopy")},
    **{f"{class_name}/{what}": ("ProcessId", None) for class_name in ("Process", "Image")
       for what in ("DCStart", "DCEnd", "Defunct", "PerfCtr", "PerfCtrRundown", "Load", "Unload")},
}


class OnSamples(unittest.TestCase):
    """Against real traces."""
    LARGE = "pv_net.4.5.2.x64.etl"

    def test_every_mapped_value_has_the_name_that_the_file_gives_it(self):
        for name, least in (self.LARGE, 2000), ("dp_vsgc.etl", 5):
            with self.subTest(name=name):
                events = Samples.events(name)
                maps = Maps(events)
                self.assertTrue(maps.maps)
                expected = actual = 0
                for event in events:
                    wanted = maps.expected(event)
                    shown = event.get("resolved", {})
                    for path, names in wanted.items():
                        self.assertEqual(shown.get(path), names, (event["provider"], event["name"]))
                    expected += len(wanted)
                    mapped = maps.fields.get((event["provider"]["guid"], event["id"],
                                              event["version"]), {})
                    # Coldtrace's own table of the runtime names values that older maps do not.
                    runtime = event["provider"]["name"].startswith("Microsoft-Windows-DotNETRuntime")
                    actual += sum(path in shown for path in (wanted if runtime else mapped))
                self.assertEqual(actual, expected)
                self.assertGreater(expected, least)

    def test_every_stack_key_means_what_is_said_next_of_it(self):
        events = Samples.events(self.LARGE)
        keys = StackKeys(events)
        seen = 0
        for event in kernel_events(events, "StackWalk"):
            if "StackKey" not in event["fields"]:
                continue
            wanted = keys.find(event["fields"]["StackKey"], event["timestamp"])
            self.assertEqual(event["stack"], wanted)
            # The kind of the event, which the rule does not use, agrees.
            self.assertEqual(int(wanted[0], 16) >= KERNEL_SPACE, event["opcode"] == 37)
            seen += 1
        self.assertEqual(seen, 9107)

    def test_events_without_a_thread_get_that_of_their_payload(self):
        for name in self.LARGE, "dp_vsgc.etl":
            events = Samples.events(name)
            owners = collections.defaultdict(set)
            for event in kernel_events(events, "Thread"):
                if event["opcode"] in (1, 2, 3, 4):
                    owners[event["fields"]["TThreadId"]].add(event["fields"]["ProcessId"])
            found = 0
            for event in events:
                if not event["header"]["type"].startswith("perfinfo"):
                    self.assertNotIn("thread_source", event)
                    continue
                if event["name"] not in THREADS:
                    self.assertNotEqual(event.get("thread_source"), "payload", event["name"])
                    continue
                pid, tid = THREADS[event["name"]]
                self.assertEqual(event["thread_source"], "payload", event["name"])
                if tid:
                    self.assertEqual(event["tid"], event["fields"][tid])
                if pid:
                    self.assertEqual(event["pid"], event["fields"][pid])
                elif event["tid"] == 0:
                    self.assertEqual(event["pid"], 0)
                elif event["pid"] is not None:
                    self.assertIn(event["pid"], owners[event["tid"]])
                found += 1
            self.assertGreater(found, 3000)

    def test_a_process_is_selected_by_what_the_events_show(self):
        events = Samples.events(self.LARGE)
        pids = collections.Counter(event["pid"] for event in events if "thread_source" in event)
        pid = next(pid for pid, _ in pids.most_common() if pid)
        tid = next(event["tid"] for event in events if event["pid"] == pid and event["tid"])
        path = SAMPLES / self.LARGE
        lines = event_lines(path, "--header-fields")
        self.assertEqual(len(lines), len(events))
        for option, member, value in ("--process", "pid", pid), ("--thread", "tid", tid):
            wanted = [line for line, event in zip(lines, events) if event[member] == value]
            self.assertTrue(wanted)
            self.assertTrue(event_lines(path, "--header-fields", option, value) == wanted, option)

    def test_addresses_have_the_image_that_was_there(self):
        events = Samples.events(self.LARGE)
        images = Images(events)
        known = 0

        def check(event, address, shown, whole_path):
            nonlocal known
            if shown is not None and "!" in shown:
                return  # a managed method, which trace_managed.py reads as well
            found = images.find(event["pid"], int(address, 16), event["timestamp"])
            if found is None:
                self.assertIsNone(shown)
                return
            name = found[0] if whole_path else found[0].rsplit("\\", 1)[-1]
            self.assertEqual(shown, f"{name}+{found[1]:#x}")
            known += 1

        for event in events:
            resolved = event.get("resolved", {})
            if event["name"] == "PerfInfo/SampleProf":
                check(event, event["fields"]["InstructionPointer"],
                      resolved.get("InstructionPointer"), True)
            elif event["stack"]:
                names = resolved.get("stack", [None] * len(event["stack"]))
                self.assertEqual(len(names), len(event["stack"]))
                for address, name in zip(event["stack"], names):
                    check(event, address, name, False)
        self.assertGreater(known, 100_000)

    def test_the_identity_of_an_image_is_that_of_its_loading(self):
        """Its stamp is in Image events too, its size in FileVersion, its process in the header."""
        events = Samples.events(self.LARGE)
        loaded = {(event["fields"]["ProcessId"], event["fields"]["ImageBase"]): event["fields"]
                  for event in kernel_events(events, "Image") if "ImageSize" in event["fields"]}
        sizes = collections.defaultdict(set)
        for event in events:
            if event["name"] == "ImageID/FileVersion":
                sizes[event["fields"]["TimeDateStamp"]].add(event["fields"]["ImageSize"])
        compared = sized = 0
        for event in events:
            if event["name"] != "ImageID/Info":
                continue
            fields = event["fields"]
            self.assertEqual(fields["ProcessId"], event["pid"])
            image = loaded.get((fields["ProcessId"], fields["ImageBase"]))
            if image and image["TimeDateStamp"]:
                self.assertEqual(fields["TimeDateStamp"], image["TimeDateStamp"])
                compared += 1
            if fields["TimeDateStamp"] in sizes:
                self.assertIn(fields["ImageSize"], sizes[fields["TimeDateStamp"]])
                sized += 1
        self.assertGreater(compared, 300)
        self.assertGreater(sized, 1000)

    def test_the_first_thread_of_a_process_starts_in_its_first_image(self):
        """Its start is logged before the image that it starts in."""
        events = Samples.events(self.LARGE)
        loads = collections.defaultdict(list)
        for event in kernel_events(events, "Image"):
            if event["name"] == "Image/Load":
                loads[event["fields"]["ProcessId"]].append(event)
        begun = {event["fields"]["ProcessId"] for event in kernel_events(events, "Process")
                 if event["name"] == "Process/Start"}
        before = 0
        tree = strict_json(run("tree", SAMPLES / self.LARGE, "--format", "json").stdout)
        for event in kernel_events(events, "Thread"):
            fields = event["fields"]
            if event["name"] != "Thread/Start" or fields["ProcessId"] not in begun:
                continue
            of_process = loads[fields["ProcessId"]]
            if not of_process or of_process[0]["timestamp"] < event["timestamp"]:
                continue
            address = int(fields["Win32StartAddr"], 16)
            inside = [load["fields"] for load in of_process if 0 <= address - int(load["fields"]["ImageBase"], 16)
                      < int(load["fields"]["ImageSize"], 16)]
            place = f"{inside[0]['FileName']}+{address - int(inside[0]['ImageBase'], 16):#x}"
            functions = [thread["function"] for thread in tree["threads"] if thread["tid"] == fields["TThreadId"]]
            self.assertIn(place[place.rfind("\\") + 1:], functions)
            # Whoever started it has another process.
            self.assertNotEqual(event["pid"], fields["ProcessId"])
            self.assertEqual(event["resolved"]["Win32StartAddr"], place)
            for member in "Win32StartAddr", "resolved.Win32StartAddr":
                name = place[place.rfind("\\") + 1:]
                found = strict_ndjson(run("decode", SAMPLES / self.LARGE, "--where", f"{member} like '*{name}'").stdout)
                self.assertIn(event["timestamp"], [line.get("timestamp") for line in found])
            before += 1
        self.assertGreater(before, 0)

    def test_thread_states_and_process_flags_have_names(self):
        events = Samples.events(self.LARGE)
        flags = [event for event in kernel_events(events, "Process")
                 if event["fields"].get("Flags")]
        self.assertTrue(flags)
        names = {1: "PackageFullName", 2: "Wow64", 4: "Protected"}
        for event in flags:
            number = event["fields"]["Flags"]
            self.assertEqual(event["resolved"]["Flags"], "|".join(
                text for bit, text in names.items() if number & bit))


    def test_texts_of_a_processor_are_what_its_numbers_say(self):
        """The kernel words the identifier of the numbers that SystemConfig/CPU has; a text that begins inside
        of another one would have more than zeros behind its NUL, or the end of the other before it."""
        system = [event for event in Samples.events("dp_vsgc.etl") if event["name"].startswith("SystemConfig/")]
        self.assertEqual([(event["name"], name) for event in system for name in event["fields"]
                          if name.endswith("_utf16")], [])
        cpu, = (event["fields"] for event in system if event["name"] == "SystemConfig/CPU")
        processors = [event["fields"] for event in system if event["name"] == "SystemConfig/Processors"]
        self.assertEqual([one["ProcessorIndex"] for one in processors], list(range(cpu["NumberOfProcessors"])))
        model, stepping = divmod(cpu["ProcessorRevision"], 256)
        for one in processors:
            self.assertEqual((one["ProcessorIdentifier"], one["VendorIdentifier"]),
                             (f"Intel64 Family {cpu['ProcessorLevel']} Model {model} Stepping {stepping}",
                              "GenuineIntel"))

    def test_a_network_address_is_its_bytes_and_no_readable_number_where_names_are_hashed(self):
        path, key = SAMPLES / "dp_vsgc.etl", bytes(range(32))
        plain = [event["fields"] for event in Samples.events(path.name) if event["name"] == "SystemConfig/NIC"]
        # IEEE gave 00-15-5D to Microsoft, whose virtual adapters have it.
        self.assertEqual([one["PhysicalAddr"][:6] for one in plain if one["NICDescription"].startswith("Hyper-V")],
                         ["00155d"])
        with tempfile.NamedTemporaryFile() as file:
            file.write(key)
            file.flush()
            hashed = [event["fields"] for event in
                      events_of(path, "--event", "SystemConfig/NIC", "--names", "keyed-hash", "--key-file", file.name)]
        self.assertEqual([one["PhysicalAddr"] for one in hashed],
                         [hmac.new(key, one["PhysicalAddr"].encode(), "sha256").hexdigest()[:32] for one in plain])

    def test_times_of_the_kernel_s_events_are_times(self):
        runs = [event["fields"] for event in Samples.events("dp_vsgc.etl")
                if event["name"] == "SystemConfig/Defragmentation"]
        self.assertEqual([one["LastRunTime"] for one in runs], [None, None, "2022-06-03T22:37:31.6820000Z"])
        self.assertEqual([one["LastRunFullDefragTime"] for one in runs], [one["LastRunTime"] for one in runs])
        path = SAMPLES / "tx_HTTP_Server.etl"
        zone = path.read_bytes()[72 + 32 + 72:]
        shown = events_of(path, "--event", "EventTrace/Header")[0]["fields"]["TimeZoneInformation"]
        counts = ["first", "second", "third", "fourth", "last"]
        for name, at in ("StandardDate", 68), ("DaylightDate", 152):
            year, month, weekday, day, hour, minute, second, milliseconds = struct.unpack_from("<8H", zone, at)
            self.assertEqual(year, 0)
            weekday = calendar.day_name[(weekday - 1) % 7]
            self.assertEqual(shown[name], f"{counts[day - 1]} {weekday} of {calendar.month_name[month]} "
                                          f"{hour:02}:{minute:02}:{second:02}.{milliseconds:03}")

    def test_the_clock_of_a_registry_operation_and_a_date_that_is_not_set(self):
        log = EtlWriter(1)
        log.system(0, 0x090A, 2, 700, struct.pack("<qIIQ", log.start + 500, 0, 0, 0x1000) + "Key\0".encode("utf-16-le"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "registry.etl"
            path.write_bytes(log.build())
            header, registry = events_of(path)
        self.assertEqual((header["fields"]["TimeZoneInformation"]["StandardDate"], registry["name"]),
                         (None, "Registry/Create"))
        self.assertEqual((registry["fields"]["InitialTime"][-9:], registry["time"][-9:]), (".0000500Z", ".0000700Z"))


class OnMadeTraces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([MAKE_NAMED_TRACE, cls.folder], check=True)

    def events(self, name, *options):
        return events_of(self.folder / name, *options)

    def test_maps_name_values_bits_arrays_and_members(self):
        events = self.events("maps.etl")
        painted = [event for event in events if event["name"] == "Paint"]
        self.assertEqual([event.get("resolved") for event in painted], [
            {"Colour": "Green", "Switches": "One|Four", "List": ["Red", None, "Green"],
             "Row.Inner": "Red"},
            {"Switches": "One|Four|0x10"},
            {"Colour": "Red", "Switches": "None", "List": ["Green"] * 3, "Row.Inner": "Green"}])
        maps = Maps(events)
        for event in painted:
            self.assertEqual(event.get("resolved"), maps.expected(event))
        rows = strict_csv(run("decode", self.folder / "maps.etl", "--format", "csv").stdout)
        self.assertEqual([strict_json(row["details"].encode()).get("resolved") for row in rows
                          if row["name"] == "Paint"],
                         [event.get("resolved") for event in painted])

    def test_a_reused_stack_key_means_one_stack_at_a_time(self):
        references = [event for event in self.events("stacks.etl")
                      if "StackKey" in event["fields"]]
        self.assertEqual([event["stack"] for event in references], [
            ["0x11", "0x12"], ["0xfffff80000000021", "0xfffff80000000022"], None, None])

    def test_a_stack_of_more_frames_than_there_can_be_is_said(self):
        for frames, told in ((256, False), (257, True)):
            lines = decode(self.folder / f"stack-{frames}.etl")
            found = [one["code"] for one in lines[-1]["findings"]]
            self.assertEqual("stack-limit" in found, told, found)
            (reference,) = [line for line in lines if "StackKey" in line.get("fields", ())]
            expected = None if told else [hex(0xfffff80000000000 + i) for i in range(frames)]
            self.assertEqual(reference["stack"], expected)

    def test_names_that_an_event_is_too_small_for_are_said(self):
        for letters, told in ((10, False), (1000, True)):
            lines = decode(self.folder / f"name-{letters}.etl")
            found = [one["code"] for one in lines[-1]["findings"]]
            self.assertEqual("resolved-limit" in found, told, found)
            (walk,) = [line for line in lines if "StackThread" in line.get("fields", ())]
            names = walk["resolved"]["Stack"]
            self.assertEqual((len(names), None in names), (200, told))
            self.assertTrue(names[0].startswith("x" * letters + "+"))

    def test_what_may_have_been_dropped_is_no_other(self):
        """With less room for names than they need, those shown are still the right ones."""
        for name in "stacks.etl", "threads.etl":
            whole = self.events(name)
            shown = set()
            for limit in (*range(0, 4000, 64), *range(4000, 40000, 1000)):
                lines = decode(self.folder / name, "--names-limit", limit)
                events = [line for line in lines if line["type"] == "event"]
                for event, wanted in zip(events, whole, strict=True):
                    for member in "pid", "process", "stack":
                        self.assertIn(event[member], (None, wanted[member]))
                    for field, names in event.get("resolved", {}).items():
                        self.check_names(names, wanted["resolved"][field])
                if events != whole:
                    self.assertIn("names-limit", [one["code"] for one in lines[-1]["findings"]])
                shown.add(json.dumps(events))
            self.assertGreater(len(shown), 1)
            self.assertIn(json.dumps(whole), shown)

    def check_names(self, names, wanted):
        if isinstance(names, list):
            for name, whole in zip(names, wanted, strict=True):
                self.assertIn(name, (None, whole))
        else:
            self.assertEqual(names, wanted)

    def test_threads_and_images_of_events_without_a_thread(self):
        events = self.events("threads.etl")
        rows = [(event["name"], event["pid"], event["tid"], event["process"],
                 event.get("thread_source"), event.get("resolved")) for event in events
                if 1_000_000 < event["timestamp"] < 1_000_200]
        user, kernel = "\\Windows\\user.dll", "\\SystemRoot\\kernel.exe"
        self.assertEqual(rows, [
            ("PerfInfo/SampleProf", 22, 11, "late.exe", "payload",
             {"InstructionPointer": user + "+0x123"}),
            ("PerfInfo/SampleProf", None, 99, None, "payload",
             {"InstructionPointer": kernel + "+0x45"}),
            ("PerfInfo/SampleProf", None, 99, None, "payload", None),
            ("Thread/CSwitch", 22, 11, "late.exe", "payload",
             {"OldThreadWaitReason": "Executive", "OldThreadState": "Initialized"}),
            ("PerfInfo/SysClExit", 33, 12, None, "context_switch",
             {"SysCallNtStatus": "STATUS_ACCESS_DENIED"}),
            ("DiskIo/Read", 22, 11, "late.exe", "payload",
             {"IrpFlags": "NOCACHE|PAGING_IO|INPUT_OPERATION|PriorityNormal"}),
            ("TcpIp/SendIPV4", 22, None, "late.exe", "payload", None),
            ("StackWalk/Stack", 22, 11, "late.exe", "payload",
             {"Stack": ["kernel.exe+0x46", "user.dll+0x10", None]})])
        self.assertEqual(len(self.events("threads.etl", "--thread", 99)), 2)
        in_file = self.events("threads.etl", "--order", "file")
        self.assertEqual({event.get("thread_source") for event in in_file}, {None, "payload"})

    def test_image_identities_are_read_as_wide_as_they_are(self):
        identities = [(event["name"], event["fields"]) for event in self.events("threads.etl")
                      if event["name"].startswith("ImageID/")]
        whole = {"ImageBase": "0x400000", "ImageSize": 0x157000, "ProcessId": 22,
                 "TimeDateStamp": 0x5010ae7a, "OrigFileName": "ntdll.dll"}
        self.assertEqual(identities, [
            ("ImageID/Info", whole),
            ("ImageID/DBG", {"ImageBase": "0x400000", "ProcessId": 22, "ImageChecksum": 0x1234,
                             "TimeDateStamp": 0x5010ae7a, "ImageSize": 0x157000,
                             "DbgFileName": "ntdll.dbg"}),
            ("ImageID/Info", whole)])

    def test_an_event_that_is_one_text_is_read_as_one(self):
        shown = [(event["name"], event["decoded"], event["fields"])
                 for event in self.events("strings.etl")
                 if event["provider"]["name"] != "Windows Kernel"]
        self.assertEqual(shown, [
            ("EventWriteString", "exact", {"Message": 'Hello "world"'}),
            ("EventWriteString", "exact", {"Message": "Grüß Gott"}),
            (None, "raw", {}), (None, "raw", {}), (None, "raw", {}), (None, "raw", {})])

    def test_a_time_says_whether_it_is_utc(self):
        times = next(event for event in self.events("times.etl") if event["name"] == "Times")
        self.assertEqual(times["fields"], {"Local": "2024-02-29T12:34:56.789",
                                           "Utc": "2024-02-29T12:34:56.789Z"})

    def test_documents_of_winsat_are_named_for_their_root(self):
        shown = {event["name"]: event["fields"]["Document"] for event in self.events("times.etl")
                 if event["name"].startswith("WinSat/")}
        self.assertEqual(len(shown), 3)
        for name, document in shown.items():
            self.assertTrue(document.startswith(f"<{name.split('/')[1]}>"), (name, document))

    def test_a_kind_is_the_same_in_info_as_in_its_lines(self):
        for path in sorted(self.folder.glob("*.etl")):
            lines = decode(path)
            info = strict_json(run("info", path, "--format", "json").stdout)
            kinds = collections.Counter()
            for provider in info["providers"]:
                for kind in provider["kinds"]:
                    number = kind["opcode"] if "opcode" in kind else kind["id"]
                    kinds[provider["guid"], kind["name"], number, kind["version"]] += kind["events"]
            shown = collections.Counter()
            for event in lines:
                if event["type"] == "event":
                    number = event["id"] if event["id"] is not None else event["opcode"]
                    shown[event["provider"]["guid"], event["name"], number, event["version"]] += 1
            self.assertEqual(kinds, shown)
            for kind in lines[-1]["undecoded"]:
                number = kind["opcode"] if "opcode" in kind else kind["id"]
                self.assertIn((kind["provider"]["guid"], kind["name"], number, kind["version"]),
                              shown)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
