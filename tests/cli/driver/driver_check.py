"""The configuration of drivers and tracers in registry hives: hives that are written here, from the specification, with what
is wrong put into them; dirty ones with logs; hostile ones. libhivex, where it is there, reads the same.

usage: driver_check.py COLDTRACE SOURCES [unittest arguments]
"""
import gzip
import hashlib
import json
import lzma
import os
import random
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
import hive_writer as writer
from case import Case, is_sanitized
from strict import strict_json

try:
    import hivex
except ImportError:
    hivex = None

COLDTRACE, SOURCES = sys.argv[1:3]
SANITIZED = is_sanitized(COLDTRACE)
SCHEMA = json_schema.of(json.loads((Path(SOURCES) / "docs/schema/driver-check.schema.json").read_text()))
DISK = "{4d36e967-e325-11ce-bfc1-08002be10318}"
KEYBOARD = "{4D36E96B-E325-11CE-BFC1-08002BE10318}"
INFRARED = "{6bdd1fc5-810f-11d0-bec7-08002be2092f}"
KERNEL_PROCESS = "{22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716}"  # Microsoft-Windows-Kernel-Process
UNKNOWN = "{01234567-89ab-cdef-0123-456789abcdef}"
SET = r"SYSTEM\ControlSet001"


def driver(start, **more):
    return {"Type": 1, "Start": start, "ErrorControl": 1, **more}


def system():
    """What nothing is wrong with."""
    return {
        "Select": {"Current": 1, "Default": 1, "Failed": 0, "LastKnownGood": 1},
        "DriverDatabase": {},
        "ControlSet001": {
            "Services": {
                "disk": driver(0, Group="SCSI Class"),
                "PartMgr": driver(0, ImagePath=writer.expand(r"\SystemRoot\System32\drivers\partmgr.sys")),
                "kbdclass": driver(3, ImagePath=r"system32\DRIVERS\kbdclass.sys"),
                "tracer": driver(0, ImagePath=r"\??\C:\Windows\Tools\..\Tools\trace.sys", Group="late"),
                "agent": {"Type": 0x10, "Start": 2,
                          "ImagePath": writer.expand(r'"%ProgramFiles%\Tracer\agent.exe" -run "a b"')},
                "hosted": {"Type": 0x20, "Start": 2,
                           "ImagePath": writer.expand(r"%SystemRoot%\system32\svchost.exe -k net")},
                "settings": {"Parameters": {"Start": 9}},
            },
            "Control": {
                "Class": {DISK: {"Class": "DiskDrive", "UpperFilters": ["PARTMGR"]},
                          KEYBOARD: {"Class": "Keyboard", "UpperFilters": ["kbdclass"]},
                          INFRARED: {"Class": "Infrared"}},
                "ServiceGroupOrder": {"List": ["early", "SCSI Class", "late"]},
                "Session Manager": {"KnownDLLs": {
                    "kernel32": "kernel32.dll", "_wow64": "wow64.dll",
                    "DllDirectory": writer.expand(r"%SystemRoot%\system32"),
                    "DllDirectory32": writer.expand(r"%SystemRoot%\SysWOW64")}},
                "WMI": {"Autologger": {"Boot": {
                    "Start": 1, "GUID": UNKNOWN, "FileName": writer.expand(r"%SystemRoot%\Traces\boot.etl"),
                    "LogFileMode": 2, KERNEL_PROCESS: {"Enabled": 1, "EnableLevel": 4,
                                                       "MatchAnyKeyword": (11, struct.pack("<Q", 1 << 63))}}}},
            },
            "Enum": {"IDE": {"Disk": {"0": {"ClassGUID": DISK, "Service": "disk"}}},
                     "ACPI": {"KBD": {"1": {"ClassGUID": KEYBOARD.lower(), "Service": "KBDCLASS"}}},
                     "ROOT": {"HAL": {"0": {"Service": r"\Driver\HAL"}}}},
        },
    }


def software():
    windows = {"AppInit_DLLs": "", "LoadAppInit_DLLs": 0, "RequireSignedAppInit_DLLs": 1}
    return {"Microsoft": {
        "Windows NT": {"CurrentVersion": {"CurrentVersion": "6.3", "SystemRoot": r"C:\Windows",
                                          "Windows": dict(windows)}},
        "Windows": {"CurrentVersion": {"WINEVT": {"Publishers": {KERNEL_PROCESS: {
            "": "The publisher's name", "ResourceFileName": writer.expand(r"%windir%\System32\kp.dll")}}}}}},
        "WOW6432Node": {"Microsoft": {"Windows NT": {"CurrentVersion": {"Windows": dict(windows)}}}}}


FILES = ["Windows/System32/drivers/disk.sys", "WINDOWS/system32/DRIVERS/PartMgr.sys",
         "Windows/System32/drivers/kbdclass.sys", "Windows/Tools/trace.sys", "Windows/System32/svchost.exe",
         "Windows/System32/kernel32.dll", "Windows/System32/kp.dll", "Windows/Traces/old.etl",
         "Program Files/Tracer/agent.exe"]


def at(tree, path):
    for name in path.split("\\"):
        tree = tree[name]
    return tree


class Check(Case):
    def run_check(self, *arguments):
        done = subprocess.run([COLDTRACE, "driver", "check", *map(str, arguments)], capture_output=True, timeout=120)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr.decode(errors="replace")[-2000:])
        self.assertNotRegex(done.stderr.decode(errors="replace"), "AddressSanitizer|runtime error")
        return done

    def check(self, tree, *arguments, status=None, name="SYSTEM"):
        """The document; text has the same problems, which is compared without sanitizers."""
        hive = self.write(name, tree if isinstance(tree, bytes) else writer.Hive(tree).data)
        return self.check_file(hive, *arguments, status=status)

    def check_file(self, hive, *arguments, status=None):
        done = self.run_check("--hive", hive, *arguments, "--format", "json")
        self.assertNotEqual(done.returncode, 2, done.stderr.decode())
        document = strict_json(done.stdout)
        SCHEMA.validate(document)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr.decode())
        if SANITIZED:
            return document
        plain = self.run_check("--hive", hive, *arguments).stdout.decode()
        told = re.findall(r"^(?:warning|info): ([a-z0-9-]+)$", plain, re.M)
        self.assertEqual(sorted(told), sorted(row["code"] for row in document["problems"]))
        for row in document["problems"]:
            if row["advice"].isprintable() and "\ufffd" not in row["advice"]:
                self.assertIn(row["advice"], plain)
        return document

    def rows(self, document):
        return {(row["code"], row["severity"], row["key"], row["value"], row["data"]) for row in document["problems"]}

    def codes(self, document, of="findings"):
        return {row["code"] for row in document[of]}

    def folder(self, files=FILES, name="volume"):
        for file in files:
            path = self.here / name / file
            # As a mounted volume is, in which case does not count, folders have one name.
            parts = path.relative_to(self.here / name).parts
            path = self.here / name / "/".join(
                {"windows": "Windows", "system32": "System32", "drivers": "drivers"}.get(p.lower(), p) for p in parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
        return self.here / name

    def snapshot(self, files=FILES, drop=(), counts=None, summary=True, directories=()):
        folders = {"/".join(file.split("/")[:i]) for file in files for i in range(1, file.count("/") + 1)}
        names = sorted(folders | set(files), key=lambda name: (name.lower(), name))
        unique = list({name.lower(): name for name in names}.values())
        lines = [{"type": "header", "schema": "coldtrace.ntfs-snapshot/1", "tool": "coldtrace 0"}]
        lines += [{"type": "file", "state": "live", "path": "/" + name, "name": name.split("/")[-1],
                   **({"directory": name in directories or name in folders} if directories else {})}
                  for name in unique if name not in drop]
        lines.append({"type": "file", "state": "deleted", "path": "/Windows/System32/drivers/gone.sys"})
        if summary:
            lines.append({"type": "summary", "complete": True, "findings": [],
                          "counts": {"volumes": 1, "live": len(unique) - len(drop) if counts is None else counts}})
        return self.write(f"files{counts}.ndjson", "".join(json.dumps(line) + "\n" for line in lines).encode())


class Rules(Check):
    def test_nothing_is_wrong(self):
        other = self.write("SOFTWARE", writer.Hive(software()).data)
        for files in ((), ("--files", self.folder()), ("--files", self.snapshot())):
            document = self.check(system(), "--hive", other, *files, status=0)
            self.assertEqual(document["problems"], [])
            self.assertEqual(document["findings"], [])
        self.assertTrue(all(row["file_exists"] for row in document["services"]))
        files = {row["name"]: row["file"] for row in document["services"]}
        self.assertEqual(files, {
            "disk": r"%SystemRoot%\system32\drivers\disk.sys", "PartMgr": r"%SystemRoot%\system32\drivers\partmgr.sys",
            "kbdclass": r"%SystemRoot%\system32\drivers\kbdclass.sys", "tracer": r"%SystemRoot%\tools\trace.sys",
            "agent": r"%SystemDrive%\program files\tracer\agent.exe",
            "hosted": r"%SystemRoot%\system32\svchost.exe"})
        session, = document["autologgers"]
        provider, = session["providers"]
        self.assertEqual((provider["name"], provider["keywords"], session["file"]),
                         ("The publisher's name", hex(1 << 63), r"%SystemRoot%\Traces\boot.etl"))
        alone = self.check(system())["autologgers"][0]["providers"][0]
        self.assertEqual(alone["name"], "Microsoft-Windows-Kernel-Process")

    def test_filters(self):
        tree = system()
        services = at(tree, r"ControlSet001\Services")
        services["off"] = driver(4)
        services["late"] = driver(3)
        services["text"] = {"Type": 1, "ErrorControl": 1, "Start": "0"}
        services["remains"] = {"Parameters": {}}
        classes = at(tree, r"ControlSet001\Control\Class")
        classes[DISK]["UpperFilters"] = ["PartMgr", "vtrace", "off", "late", "text"]
        classes[DISK]["LowerFilters"] = (1, writer.text("remains"))
        classes[INFRARED]["UpperFilters"] = ["irenum"]
        classes[KEYBOARD]["UpperFilters"] = (7, "kbdclass\0ctrl2cap".encode("utf-16-le"))  # without its end
        at(tree, r"ControlSet001\Enum\ACPI\KBD\1")["LowerFilters"] = ["own"]
        document = self.check(tree, status=1)
        disk, key = rf"{SET}\Control\Class\{DISK}", rf"{SET}\Control\Class\{KEYBOARD}"
        self.assertEqual(self.rows(document), {
            ("filter-service-missing", "warning", disk, "UpperFilters", "vtrace"),
            ("filter-service-disabled", "warning", disk, "UpperFilters", "off"),
            ("filter-start", "warning", disk, "UpperFilters", "late"),
            ("filter-start", "warning", disk, "UpperFilters", "text"),
            ("filter-service-missing", "warning", disk, "LowerFilters", "remains"),
            ("filter-service-missing", "info", rf"{SET}\Control\Class\{INFRARED}", "UpperFilters", "irenum"),
            ("filter-service-missing", "warning", key, "UpperFilters", "ctrl2cap"),
            ("filter-service-missing", "warning", rf"{SET}\Enum\ACPI\KBD\1", "LowerFilters", "own")})
        texts = {row["data"]: row["text"] for row in document["problems"]}
        self.assertIn("will not boot", texts["vtrace"])
        self.assertIn("no keyboard", texts["ctrl2cap"])
        self.assertNotIn("boot", texts["own"])

    def test_what_a_driver_that_does_not_start_costs(self):
        # MS Learn, "CreateServiceW", dwErrorControl: of the two that restart, only the last fails where the last known
        # good configuration is already in use.
        for control, words in ((0, "no error is reported"), (1, "the event log records an error"),
                               (2, "restarts with the last known good configuration, unless that is in use"),
                               (3, "restarts with the last known good configuration, or fails to start if that is in use")):
            tree = system()
            at(tree, r"ControlSet001\Services")["gone"] = driver(0, ErrorControl=control)
            problem, = self.check(tree, "--files", self.folder(FILES), status=1)["problems"]
            self.assertIn(words, problem["text"])

    def test_files_of_filters_and_services(self):
        tree = system()
        services = at(tree, r"ControlSet001\Services")
        services["gone"] = driver(3)
        services["elsewhere"] = driver(2, ImagePath=r"\??\D:\x.sys")
        services["variable"] = driver(2, ImagePath=writer.expand(r"%Tracer%\x.sys"))
        services["device"] = driver(2, ImagePath=r"\Device\HarddiskVolume3\x.sys")
        services["short"] = driver(2, ImagePath=r"\??\C:\PROGRA~1\x.sys")
        services["letters"] = driver(2, ImagePath="\\??\\C:\\\u0416\\x.sys")
        manager = at(tree, r"ControlSet001\Control\Session Manager\KnownDLLs")
        manager["DllDirectoryArm32"] = writer.expand(r"%SystemRoot%\SysArm32")
        gone = [file for file in FILES if "PartMgr" not in file and "agent" not in file]
        rows = {("filter-file-missing", "warning", rf"{SET}\Control\Class\{DISK}", "UpperFilters", "PARTMGR"),
                ("service-file-missing", "warning", rf"{SET}\Services\PartMgr", "ImagePath",
                 r"\SystemRoot\System32\drivers\partmgr.sys"),
                ("service-file-missing", "warning", rf"{SET}\Services\agent", "ImagePath",
                 r'"%ProgramFiles%\Tracer\agent.exe" -run "a b"'),
                ("service-file-missing", "info", rf"{SET}\Services\gone", "ImagePath", None)}
        for files in (self.folder(gone), self.snapshot(gone)):
            document = self.check(tree, "--files", files, status=1)
            self.assertEqual(self.rows(document), rows)
            unknown = {row["name"] for row in document["services"] if row["file_exists"] is None}
            self.assertEqual(unknown, {"elsewhere", "variable", "device", "short", "letters"})
        volume = self.folder(gone)
        drivers = next(path for path in volume.rglob("*") if path.name.lower() == "drivers")
        (drivers / "PartMgr.sys").symlink_to("/nonexistent/PartMgr.sys")
        self.assertEqual(self.rows(self.check(tree, "--files", volume, status=1)), rows)
        # A folder of the driver's name is not a driver.
        (drivers / "PartMgr.sys").unlink()
        (drivers / "PartMgr.sys").mkdir()
        self.assertEqual(self.rows(self.check(tree, "--files", volume, status=1)), rows)
        partmgr = next(file for file in FILES if "PartMgr" in file)
        listed = self.snapshot([*gone, partmgr], directories=[partmgr])
        self.assertEqual(self.rows(self.check(tree, "--files", listed, status=1)), rows)
        # Windows' own folder says nothing of the rest of the drive.
        document = self.check(tree, "--files", self.folder(gone) / "Windows")
        self.assertEqual({row["name"] for row in document["services"] if row["file_exists"] is None},
                         unknown | {"agent"})

    def test_counts_of_services_are_grouped_alike(self):
        tree = system()
        services = at(tree, r"ControlSet001\Services")
        services |= {f"made{number}": driver(3) for number in range(1234)}
        document = self.check(tree)
        starts = [row["start"] for row in document["services"]]
        hive = self.write("SYSTEM", writer.Hive(tree).data)
        line, = (line for line in self.run_check("--hive", hive).stdout.decode().splitlines() if line.startswith("services: "))
        names = dict(enumerate(("boot", "system", "automatic", "demand", "disabled")))
        self.assertGreater(starts.count(3), 1234)
        self.assertTrue(line.startswith(f"services: {len(starts):,}, "), line)
        self.assertTrue(line.endswith("; start: " + ", ".join(f"{starts.count(start):,} {name}" for start, name in names.items())), line)

    def test_a_filter_without_its_file_starts_too_late_all_the_same(self):
        tree = system()
        at(tree, r"ControlSet001\Services")["late"] = driver(3)
        at(tree, r"ControlSet001\Control\Class")[DISK]["UpperFilters"] = ["PartMgr", "late"]
        document = self.check(tree, "--files", self.folder(), status=1)
        self.assertEqual({row["code"] for row in document["problems"] if row["data"] == "late"},
                         {"filter-file-missing", "filter-start"})

    def test_folders_of_other_names_and_of_none(self):
        files = self.folder([file.replace("Windows", "WINNT").replace("WINDOWS", "WINNT") for file in FILES], "nt")
        tree = system()
        at(tree, r"ControlSet001\Services\tracer")["ImagePath"] = r"\??\c:\winnt\tools\trace.sys"
        document = self.check(tree, "--files", files, status=0)
        self.assertEqual(document["files"]["windows"], "WINNT")
        empty = self.here / "empty"
        empty.mkdir()
        document = self.check(system(), "--files", empty, status=1)
        self.assertEqual((self.codes(document), document["files"]["windows"]), ({"driver-files"}, None))

    def test_packed_snapshots(self):
        left = self.snapshot([file for file in FILES if "kbdclass" not in file])
        plain = self.check(system(), "--files", left, status=1)
        for pack in (gzip.compress, lzma.compress):
            packed = self.write("packed", pack(left.read_bytes()))
            document = self.check(system(), "--files", packed, status=1)
            self.assertEqual(document["problems"], plain["problems"])
        self.assertNotEqual(plain["problems"], [])
        for content, words in ((packed.read_bytes()[:-30], "damaged or cut off"),
                               (gzip.compress(b"text"), "neither a folder nor NDJSON")):
            done = self.run_check("--hive", self.here / "SYSTEM", "--files",
                                  self.write("packed", content))
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr.decode())

    def test_snapshots_that_lack_names_call_nothing_missing(self):
        left = [file for file in FILES if "kbdclass" not in file]
        for files, code in ((self.snapshot(left, summary=False), "snapshot-incomplete"),
                            (self.snapshot(left, counts=99), "snapshot-selection")):
            document = self.check(system(), "--files", files, status=1)
            self.assertEqual(self.codes(document), {code})
            self.assertNotIn(False, [row["file_exists"] for row in document["services"]])

    def test_several_snapshots_in_one_file_are_refused(self):
        """One after the other; each alone tells what its volume lacks."""
        other = self.snapshot().read_bytes()
        one = self.snapshot([file for file in FILES if "kbdclass" not in file]).read_bytes()
        tree = {"Select": {"Current": 1}, "ControlSet001": {"Services": {"disk": driver(0), "gone": driver(0)}}}
        self.assertEqual(self.rows(self.check(tree, "--files", self.snapshot(), status=1)),
                         {("service-file-missing", "warning", rf"{SET}\Services\gone", "ImagePath", None)})
        cut = other.rsplit(b"\n", 2)[0] + b"\n"
        vhd = other.replace(b'"schema"', b'"disk":{"container":"vhd"},"schema"', 1)
        for snapshots, words in (((other, other), "several snapshots, one after the other: give only one of them"),
                                 ((one, other), "several snapshots, one after the other: give only one of them"),
                                 ((cut, other), "several snapshots, one after the other: give only one of them"),
                                 ((other, vhd), "snapshots of several disks, one after the other: give only one of them")):
            files = self.write("several.ndjson", b"".join(snapshots))
            done = self.run_check("--hive", self.here / "SYSTEM", "--files", files)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(f"{files}: {words}\n", done.stderr.decode())

    def test_the_present_volume_of_a_snapshot_with_copies(self):
        """A driver that an old shadow copy has and the volume as it is has not."""
        left = [file for file in FILES if "kbdclass" not in file]
        parts = {name: [json.loads(line) for line in self.snapshot(files).read_bytes().splitlines()][:-1]
                 for name, files in (("old", FILES), ("now", left))}

        def snapshot(*volumes):
            lines = []
            for part, number, shadow in volumes:
                header = dict(parts[part][0], partition={"number": number, "shadow": shadow and {"number": shadow}})
                lines += [header, *parts[part][1:]]
            live = sum(line.get("state") == "live" for line in lines)
            lines.append({"type": "summary", "complete": True, "findings": [],
                          "counts": {"volumes": len(volumes), "live": live}})
            return self.write("volumes.ndjson", "".join(json.dumps(line) + "\n" for line in lines).encode())

        missing = self.rows(self.check(system(), "--files", self.snapshot(left), status=1))
        self.assertEqual({row[0] for row in missing}, {"filter-file-missing", "service-file-missing"})
        for volumes, rows, said in (
                ((("old", 2, 1), ("old", 2, 2), ("now", 2, None)), missing, None),
                ((("now", 2, None), ("old", 2, 1)), missing, None),
                ((("now", 2, 1), ("old", 2, 2)), set(), r"\\Windows of partition 2, as shadow copy 2 shows it; "
                 r"there are also \\Windows of partition 2, as shadow copy 1"),
                ((("now", 2, None), ("old", 3, None)), missing,
                 r"\\Windows of partition 2; there are also \\Windows of partition 3$")):
            document = self.check(system(), "--files", snapshot(*volumes))
            self.assertEqual(self.rows(document), rows, volumes)
            told = [row["text"] for row in document["findings"] if row["code"] == "windows-chosen"]
            self.assertEqual(len(told), said is not None)
            if said:
                self.assertRegex(told[0], "files are looked for in " + said)

    def test_what_cannot_be_read_is_not_called_missing(self):
        """Services with a key, a type of a service or all of it destroyed."""
        tree = system()
        at(tree, r"ControlSet001\Services\tracer")["DependOnService"] = ["PartMgr", "+SCSI Class"]
        hive = writer.Hive(tree)
        places = [hive.cells[rf"ControlSet001\Services{key}"] + writer.PAGE + 4 for key in ("", r"\PartMgr", r"\disk")]
        places.append(re.search(rb"vk\x04\0.{16}Type", hive.data, re.S).start())
        self.assertEqual(self.check(tree, status=0)["problems"], [])
        for place in places:
            data = bytearray(hive.data)
            self.assertIn(data[place:place + 2], (b"nk", b"vk"))
            data[place:place + 2] = bytes(2)
            with self.subTest(place):
                document = self.check(bytes(data), status=1)
                self.assertEqual(document["problems"], [])
                self.assertIn("hive-damaged", {row["code"] for row in document["hives"][0]["findings"]})
                text = self.run_check("--hive", self.here / "SYSTEM").stdout.decode()
                self.assertIn("damaged in", text)
                self.assertIn("Services has keys that cannot be read", text)
                self.assertNotRegex(text, "(?m)clean$|no service|[Rr]emove")

    def test_a_folder_that_cannot_be_listed_is_told(self):
        volume = self.folder()
        drivers = volume / "Windows/System32/drivers"
        drivers.rename(self.here / "elsewhere")
        drivers.symlink_to("drivers")
        document = self.check(system(), "--files", volume, status=1)
        self.assertEqual(document["problems"], [])
        told = [row["text"] for row in document["findings"] if row["code"] == "folder-unreadable"]
        self.assertEqual(len(told), 1, document["findings"])
        self.assertIn("System32/drivers: cannot be listed: ", told[0])
        exists = {row["name"]: row["file_exists"] for row in document["services"]}
        self.assertIsNone(exists["PartMgr"])

    def test_services(self):
        tree = system()
        services = at(tree, r"ControlSet001\Services")
        services["tracer"]["DependOnService"] = ["kbdclass", "+nobody"]
        services["disk"]["DependOnService"] = ["tracer"]
        services["agent"]["DependOnService"] = ["absent", "hosted"]
        services["demand"] = driver(3, DependOnService=["absent"])
        services["wrong"] = driver(7)
        services["early"] = {"Type": 0x10, "Start": 0, "ImagePath": "early.exe"}
        services["last"] = driver(1, Group="tracers")
        services["filtering"] = driver(0, Group="PNP Filter")  # as Windows' own
        services["asked"] = driver(3, Group="tracers")
        services["program"] = {"Type": 0x10, "Start": 2, "Group": "tracers", "ImagePath": "p.exe"}
        at(tree, r"ControlSet001\Enum\ROOT")["LEGACY_OLD"] = {"0000": {"Service": "old"}}
        document = self.check(tree, status=1)
        key = rf"{SET}\Services"
        self.assertEqual(self.rows(document), {
            ("service-order", "warning", rf"{key}\tracer", "DependOnService", "kbdclass"),
            ("service-dependency", "warning", rf"{key}\tracer", "DependOnGroup", "nobody"),
            ("service-order", "warning", rf"{key}\disk", "Group", "SCSI Class"),
            ("service-dependency", "warning", rf"{key}\agent", "DependOnService", "absent"),
            ("service-dependency", "info", rf"{key}\demand", "DependOnService", "absent"),
            ("service-start", "warning", rf"{key}\wrong", "Start", "7"),
            ("service-start", "warning", rf"{key}\early", "Start", "0"),
            ("service-group", "info", rf"{key}\last", "Group", "tracers"),
            ("device-service-missing", "info", rf"{SET}\Enum\ROOT\LEGACY_OLD\0000", "Service", "old")})

    def test_a_key_without_a_type_is_no_service(self):
        # It holds settings of others, whatever its Start says.
        tree = system()
        services = at(tree, r"ControlSet001\Services")
        services["settings"] = {"Start": 0, "Parameters": {}}
        services["disk"]["DependOnService"] = ["settings"]
        at(tree, rf"ControlSet001\Control\Class\{DISK}")["UpperFilters"] = ["PartMgr", "settings"]
        at(tree, r"ControlSet001\Enum\ROOT")["LEGACY_SET"] = {"0000": {"Service": "settings"}}
        document = self.check(tree, status=1)
        self.assertEqual({(code, data) for code, _, _, _, data in self.rows(document)},
                         {("service-dependency", "settings"), ("filter-service-missing", "settings"),
                          ("device-service-missing", "settings")})
        filters, = (row for row in document["filters"] if row["class_guid"] == DISK.lower() and row["value"] == "UpperFilters")
        self.assertEqual(filters["services"], [{"name": "PartMgr", "start": 0}, {"name": "settings", "start": None}])
        self.assertNotIn("settings", [row["name"] for row in document["services"]])
        plain = self.run_check("--hive", self.here / "SYSTEM").stdout.decode()
        self.assertIn(" settings (no service)", plain)

    def test_control_sets(self):
        def select(**numbers):
            tree = system()
            tree["Select"].update(numbers)
            return tree

        for tree, codes, status in (
                (select(Default=2), {"control-set-missing", "control-set-differs"}, 1),
                (select(Current=3), {"control-set-missing", "control-set-differs"}, 1),
                (select(Failed=2), {"control-set-failed"}, 1),
                (select(LastKnownGood=2), {"control-set-missing"}, 0)):
            with self.subTest(codes=codes):
                document = self.check(tree, status=status)
                self.assertEqual(self.codes(document), codes)
                self.assertEqual(document["control_set"]["name"], "ControlSet001")
        old = system()
        del old["DriverDatabase"]
        self.assertEqual(self.codes(self.check(old, status=0)), {"last-known-good"})
        none = system()
        del none["Select"]
        self.assertEqual(self.codes(self.check(none, status=1)), {"control-set-missing"})

    def test_dlls(self):
        tree = software()
        own = at(tree, r"Microsoft\Windows NT\CurrentVersion\Windows")
        own.update({"AppInit_DLLs": r"vtrace.dll,C:\PROGRA~1\x.dll kernel32.dll", "LoadAppInit_DLLs": 1})
        at(tree, r"WOW6432Node\Microsoft\Windows NT\CurrentVersion\Windows")["AppInit_DLLs"] = "old.dll"
        keys = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion\Windows", \
            r"SOFTWARE\WOW6432Node\Microsoft\Windows NT\CurrentVersion\Windows"
        known = system()
        manager = at(known, r"ControlSet001\Control\Session Manager")
        manager["ExcludeFromKnownDlls"] = ["ole32.dll"]
        manager["KnownDLLs"].update({"DllDirectory": r"C:\Evil", "gone": "gone.dll", "path": r"..\x.dll"})
        hive = self.write("SOFTWARE", writer.Hive(tree).data)
        document = self.check(known, "--hive", hive, "--files", self.folder(), status=1)
        manager_key = rf"{SET}\Control\Session Manager"
        self.assertEqual(self.rows(document), {
            ("appinit-dll", "warning", keys[0], "AppInit_DLLs", "vtrace.dll"),
            ("appinit-file-missing", "warning", keys[0], "AppInit_DLLs", "vtrace.dll"),
            ("appinit-dll", "warning", keys[0], "AppInit_DLLs", r"C:\PROGRA~1\x.dll"),
            ("appinit-dll", "warning", keys[0], "AppInit_DLLs", "kernel32.dll"),
            ("appinit-dll", "info", keys[1], "AppInit_DLLs", "old.dll"),
            ("appinit-file-missing", "warning", keys[1], "AppInit_DLLs", "old.dll"),
            ("known-dlls-excluded", "warning", manager_key, "ExcludeFromKnownDlls", "ole32.dll"),
            ("known-dlls-folder", "warning", rf"{manager_key}\KnownDLLs", "DllDirectory", r"C:\Evil"),
            ("known-dlls-folder", "warning", rf"{manager_key}\KnownDLLs", "path", r"..\x.dll"),
            ("known-dlls-file-missing", "warning", rf"{manager_key}\KnownDLLs", "gone", "gone.dll")})
        own["AppInit_DLLs"] = ""
        alone = self.check(tree, status=0, name="left")
        self.assertEqual(self.rows(alone) - {row for row in self.rows(alone) if row[0] == "appinit-dll"},
                         {("appinit-enabled", "info", keys[0], "LoadAppInit_DLLs", "1")})
        self.assertIsNone(alone["control_set"])
        # Before Vista there was no switch: a name alone is loaded.
        del own["LoadAppInit_DLLs"]
        own["AppInit_DLLs"] = "x.dll"
        for version, severity in (("5.1", "warning"), ("5.2", "warning"), ("6.0", "info"), ("6.3", "info")):
            at(tree, r"Microsoft\Windows NT\CurrentVersion")["CurrentVersion"] = version
            rows = self.rows(self.check(tree, status=int(severity == "warning"), name="xp"))
            self.assertEqual({row for row in rows if row[2] == keys[0]},
                             {("appinit-dll", severity, keys[0], "AppInit_DLLs", "x.dll")}, version)

    def test_windows_lies_where_its_version_says(self):
        tree = system()
        own, other = driver(0, ImagePath=r"\??\D:\WinNT\x.sys"), driver(0, ImagePath=r"\??\C:\Windows\x.sys")
        at(tree, r"ControlSet001\Services").update({"own": own, "other": other})
        version = software()
        for root, is_own, is_other in ((r"D:\WINNT", True, False), (r"C:\Windows", False, True)):
            at(version, r"Microsoft\Windows NT\CurrentVersion")["SystemRoot"] = root
            hive = self.write("SOFTWARE", writer.Hive(version).data)
            files = {row["name"]: row["file"] for row in self.check(tree, "--hive", hive)["services"]}
            self.assertEqual((files["own"] == r"%SystemRoot%\x.sys", files["other"] == r"%SystemRoot%\x.sys"),
                             (is_own, is_other), files)

    def test_sessions(self):
        tree = system()
        traces = at(tree, r"ControlSet001\Control\WMI")
        traces["GlobalLogger"] = {"Start": 1}
        traces["Autologger"].update({
            "Empty": {"Start": 1, UNKNOWN: {"Enabled": 0}},
            "Kernel": {"Start": 1, "EnableKernelFlags": bytes([0, 1])},
            "Off": {"Start": 0},
            "Strange": {"Start": 1, "Guid": "{}", "FileName": r"C:\VTrace\boot.etl", UNKNOWN: {"Enabled": 1}}})
        hive = self.write("SOFTWARE", writer.Hive(software()).data)
        files = self.folder([file for file in FILES if "kp.dll" not in file])
        document = self.check(tree, "--hive", hive, "--files", files, status=1)
        key = rf"{SET}\Control\WMI\Autologger"
        publisher = rf"SOFTWARE\Microsoft\Windows\CurrentVersion\WINEVT\Publishers\{KERNEL_PROCESS}"
        self.assertEqual(self.rows(document), {
            ("global-logger", "info", rf"{SET}\Control\WMI\GlobalLogger", "Start", "1"),
            ("autologger-empty", "info", rf"{key}\Empty", None, "Empty"),
            ("autologger-provider-unknown", "info", rf"{key}\Strange\{UNKNOWN}", "Enabled", UNKNOWN),
            ("autologger-folder-missing", "warning", rf"{key}\Strange", "FileName", r"C:\VTrace\boot.etl"),
            ("autologger-provider-file", "warning", publisher, "ResourceFileName", r"%windir%\System32\kp.dll")})


    def test_texts_that_are_empty_are_no_absent_ones(self):
        for text, shown in (("", ""), ([], ""), (7, None), (None, None)):
            tree, other = system(), software()
            boot = at(tree, r"ControlSet001\Control\WMI\Autologger\Boot")
            publisher = at(other, rf"Microsoft\Windows\CurrentVersion\WINEVT\Publishers\{KERNEL_PROCESS}")
            keyboard = at(tree, r"ControlSet001\Enum\ACPI\KBD\1")
            keyboard["UpperFilters"] = ["kbdclass"]
            changed = [(at(tree, r"ControlSet001\Services\disk"), "Group", "group"),
                       (at(tree, r"ControlSet001\Services\disk"), "ImagePath", "image_path"),
                       (at(tree, rf"ControlSet001\Control\Class\{DISK}"), "Class", "class"),
                       (keyboard, "ClassGUID", "class_guid"), (boot, "GUID", "guid"), (boot, "FileName", "file"),
                       (publisher, "ResourceFileName", "resource_file")]
            changed += [(at(tree, r"ControlSet001\Control\Session Manager\KnownDLLs"), name, member)
                        for name, member in (("DllDirectory", "directory"), ("DllDirectory32", "directory_32"))]
            for key, name, _ in changed:
                key.pop(name, None)
                if text is not None:
                    key[name] = text
            document = self.check(tree, "--hive", self.write("SOFTWARE", writer.Hive(other).data), status=0)
            device, = (row for row in document["filters"] if row["of_device"])
            rows = {"group": document["services"][0], "image_path": document["services"][0],
                    "class": document["filters"][0], "class_guid": device,
                    "directory": document["known_dlls"], "directory_32": document["known_dlls"],
                    "guid": document["autologgers"][0], "file": document["autologgers"][0],
                    "resource_file": document["autologgers"][0]["providers"][0]}
            with self.subTest(text):
                self.assertEqual({member: row[member] for member, row in rows.items()},
                                 dict.fromkeys([member for _, _, member in changed], shown))
                self.assertEqual(document["services"][0]["file"], r"%SystemRoot%\system32\drivers\disk.sys")
        # Of a problem too.
        tree = system()
        at(tree, r"ControlSet001\Services")["gone"] = driver(0, ImagePath="")
        document = self.check(tree, "--files", self.folder(), status=1)
        self.assertEqual(self.rows(document), {("service-file-missing", "warning", rf"{SET}\Services\gone", "ImagePath", "")})


def shown(text):
    """As JSON has text with unpaired surrogates, and its units; these are null where there are none."""
    odd = any("\ud800" <= letter <= "\udfff" for letter in text)
    return (re.sub("[\ud800-\udfff]", "\ufffd", text), text.encode("utf-16-le", "surrogatepass").hex() if odd else None)


class InexactTexts(Check):
    """What differs in unpaired surrogates alone is different."""

    ONE, OTHER = "odd\ud800", "odd\udc01"

    def both(self, row, name):
        return row[name], row.get(f"{name}_utf16")

    def test_names_of_keys(self):
        tree = system()
        services = at(tree, r"ControlSet001\Services")
        services[self.ONE] = driver(0, ImagePath=self.ONE + ".sys", Group=self.OTHER)
        services["needs"] = driver(0, DependOnService=[self.ONE, self.OTHER], Group="late")
        at(tree, rf"ControlSet001\Control\Class\{DISK}")["UpperFilters"] = ["PartMgr", self.ONE, self.OTHER, "odd\ufffd"]
        document = self.check(tree, status=1)
        found = next(row for row in document["services"] if row["name"].startswith("odd"))
        self.assertEqual({name: self.both(found, name) for name in ("name", "image_path", "group", "file")},
                         {"name": shown(self.ONE), "image_path": shown(self.ONE + ".sys"), "group": shown(self.OTHER),
                          "file": shown(rf"%SystemRoot%\{self.ONE}.sys")})
        chosen, = (row for row in document["filters"] if row["class"] == "DiskDrive")
        self.assertEqual([(*self.both(row, "name"), row["start"]) for row in chosen["services"]],
                         [("PartMgr", None, 0), (*shown(self.ONE), 0), (*shown(self.OTHER), None), ("odd\ufffd", None, None)])
        missing = [self.both(row, "data") for row in document["problems"] if row["code"] == "filter-service-missing"]
        self.assertEqual(missing, [shown(self.OTHER), ("odd\ufffd", None)])
        depends = [self.both(row, "data") for row in document["problems"] if row["code"] == "service-dependency"]
        self.assertEqual(depends, [shown(self.OTHER)])
        key, = (row for row in document["problems"] if row["code"] == "service-group")
        self.assertEqual(self.both(key, "key"), shown(rf"{SET}\Services\{self.ONE}"))
        text = self.run_check("--hive", self.here / "SYSTEM").stdout.decode()
        self.assertIn(r" odd\ud800 (boot) odd\udc01 (no service) odd" + "\ufffd (no service)\n", text)

    def test_names_and_texts_of_values(self):
        tree, other = system(), software()
        known = at(tree, r"ControlSet001\Control\Session Manager\KnownDLLs")
        known.update({self.ONE: f"{self.OTHER}.dll", self.OTHER: "plain.dll", "DllDirectory32": self.OTHER})
        at(tree, r"ControlSet001\Control\Session Manager")["ExcludeFromKnownDlls"] = ["one.dll", self.ONE, self.OTHER]
        at(tree, r"ControlSet001\Control\WMI\Autologger")[self.ONE] = {"Start": 1, "FileName": self.OTHER, "GUID": self.ONE}
        at(other, r"Microsoft\Windows NT\CurrentVersion\Windows")["AppInit_DLLs"] = f"{self.ONE}.dll plain.dll"
        document = self.check(tree, "--hive", self.write("SOFTWARE", writer.Hive(other).data))
        dlls = document["known_dlls"]
        self.assertEqual([(*self.both(row, "name"), *self.both(row, "dll")) for row in dlls["entries"]
                          if row["name"].startswith("odd")],
                         [(*shown(self.ONE), *shown(f"{self.OTHER}.dll")), (*shown(self.OTHER), "plain.dll", None)])
        self.assertEqual(self.both(dlls, "directory_32"), shown(self.OTHER))
        self.assertEqual(list(zip(dlls["excluded"], dlls["excluded_utf16"])),
                         [shown("one.dll"), shown(self.ONE), shown(self.OTHER)])
        view = document["appinit"][0]
        self.assertEqual(list(zip(view["dlls"], view["dlls_utf16"])), [shown(f"{self.ONE}.dll"), shown("plain.dll")])
        session = document["autologgers"][-1]
        self.assertEqual([self.both(session, name) for name in ("key", "name", "guid", "file")],
                         [shown(rf"{SET}\Control\WMI\Autologger\{self.ONE}"), shown(self.ONE), shown(self.ONE),
                          shown(self.OTHER)])
        text = self.run_check("--hive", self.here / "SYSTEM", "--hive", self.here / "SOFTWARE").stdout.decode()
        for escaped in (r"odd\ud800=odd\udc01.dll", r"odd\udc01=plain.dll", r"excluded: odd\ud800", r"excluded: odd\udc01"):
            self.assertIn(escaped, text)

    def test_files_of_such_names(self):
        tree = system()
        for name in self.ONE, self.OTHER:
            at(tree, r"ControlSet001\Services")[f"of {name}"] = driver(0, ImagePath=rf"System32\drivers\{name}.sys")
        folder = "/Windows/System32/drivers/"
        files = self.snapshot(counts=len({"/".join(file.split("/")[:i]).lower() for file in FILES
                                          for i in range(1, file.count("/") + 2)}) + 1)
        lines = files.read_text().splitlines()
        path, units = shown(f"{folder}{self.ONE}.sys")
        name, name_units = shown(f"{self.ONE}.sys")
        lines.insert(1, json.dumps({"type": "file", "state": "live", "path": path, "name": name, "path_utf16": units,
                                    "name_utf16": name_units}))
        document = self.check(tree, "--files", self.write("files.ndjson", "".join(f"{line}\n" for line in lines).encode()),
                              status=0)
        self.assertEqual({self.both(row, "name"): row["file_exists"] for row in document["services"]
                          if row["name"].startswith("of ")},
                         {shown(f"of {self.ONE}"): True, shown(f"of {self.OTHER}"): None})  # its case may differ


class Recovery(Check):
    def setUp(self):
        super().setUp()
        self.old = writer.Hive(system()).data
        tree = system()
        services = at(tree, r"ControlSet001\Services")
        for number in range(40):
            services[f"new{number}"] = driver(3, ImagePath=rf"\??\C:\Users\x\new{number}.sys")
        self.new = writer.Hive(tree).data

    def lay(self, hive, **logs):
        """A folder of its own with the hive and its logs."""
        folder = self.here / f"case{len(list(self.here.iterdir()))}"
        folder.mkdir()
        for name, content in {"SYSTEM": hive, **{f"SYSTEM.{name}": log for name, log in logs.items()}}.items():
            (folder / name).write_bytes(content)
        return folder / "SYSTEM"

    def entries(self, first=7):
        """What makes the new hive of the old one, one entry for each page."""
        size = len(self.new) - writer.PAGE
        return [writer.log_entry(first + i, size, [page])
                for i, page in enumerate(writer.changed_pages(self.old, self.new))]

    def services(self, document):
        return [row["name"] for row in document["services"]]

    def checked(self, hive, codes, status, whole):
        before = {path: hashlib.sha256(path.read_bytes()).digest() for path in hive.parent.iterdir()}
        document = self.check_file(hive, status=status)
        state = document["hives"][0]
        self.assertEqual({row["code"] for row in state["findings"]}, codes)
        names = self.services(document)
        if whole is not None:
            self.assertEqual(len([name for name in names if name.startswith("new")]), 40 if whole else 0)
        self.assertEqual(before, {path: hashlib.sha256(path.read_bytes()).digest() for path in hive.parent.iterdir()})
        return state

    def test_entries_of_two_logs_whichever_is_older(self):
        entries = self.entries()
        self.assertGreater(len(entries), 3)
        first, second = writer.entry_log(7, entries[:2]), writer.entry_log(9, entries[2:])
        for logs in ({"LOG1": first, "LOG2": second}, {"log1": second, "Log2": first, "LOG": b"of setup"}):
            dirty = self.lay(writer.with_sequences(self.old, 8, 7), **logs)
            state = self.checked(dirty, {"hive-log-applied"}, 0, True)
            self.assertEqual((state["entries"], state["pages"]), (len(entries), len(entries)))
            self.assertEqual([log["sequence"] for log in state["logs"]], [7, 9])
            self.assertEqual((state["dirty"], state["complete"]), (True, True))
            text, = (row["text"] for row in state["findings"])
            named = re.fullmatch(r".* of (\S+), (\S+) were applied in memory", text)
            self.assertEqual({name.upper() for name in named.groups()}, {"SYSTEM.LOG1", "SYSTEM.LOG2"}, text)

    def test_a_broken_base_block_is_that_of_the_log(self):
        root, size = struct.unpack_from("<2I", self.new, 36)
        hive = self.lay(writer.with_sequences(self.old, 1, 1, good_checksum=False),
                        LOG1=writer.entry_log(7, self.entries(), root, size))
        state = self.checked(hive, {"hive-log-applied"}, 0, True)
        self.assertFalse(state["checksum_valid"])

    def test_old_and_foreign_logs_are_left(self):
        entries = self.entries()
        hive = self.lay(writer.with_sequences(self.old, 8, 7), LOG1=writer.entry_log(7, entries),
                        LOG2=writer.entry_log(3, [writer.log_entry(3, writer.PAGE, [(0, bytes(4096))])]))
        state = self.checked(hive, {"hive-log-applied"}, 0, True)
        self.assertIn("older", state["logs"][0]["left"])
        self.assertRegex(state["findings"][0]["text"], r" pages of SYSTEM\.LOG1 were applied in memory$")
        # Behind the entries stand those of an earlier round.
        stale = writer.log_entry(5, writer.PAGE, [(0, bytes(4096))])
        hive = self.lay(writer.with_sequences(self.old, 8, 7), LOG1=writer.entry_log(7, [*entries, stale]))
        self.checked(hive, {"hive-log-applied"}, 0, True)
        hive = self.lay(writer.with_sequences(self.old, 8, 7), LOG1=writer.entry_log(7, entries, name="SOFTWARE"),
                        LOG2=b"no log at all" * 99)
        self.checked(hive, {"hive-log-other", "hive-dirty"}, 1, False)

    def test_logs_beside_a_link_and_ones_that_cannot_be_read(self):
        entries = self.entries()
        hive = self.lay(writer.with_sequences(self.old, 8, 7), LOG1=writer.entry_log(7, entries))
        link = self.here / "link"
        link.symlink_to(hive)
        self.assertEqual(self.check_file(link, status=0)["hives"][0]["entries"], len(entries))
        (hive.parent / "SYSTEM.LOG2").mkdir()
        document = self.check_file(hive, status=1)["hives"][0]
        self.assertEqual(self.codes(document), {"hive-log-applied", "hive-log-other"})
        self.assertRegex(document["logs"][0]["left"], "directory")
        (hive.parent / "SYSTEM.LOG2").rmdir()
        os.mkfifo(hive.parent / "SYSTEM.LOG2")  # nobody writes to it
        document = self.check_file(hive, status=1)["hives"][0]
        self.assertEqual(self.codes(document), {"hive-log-applied", "hive-log-other"})

    def test_no_output_is_a_log(self):
        """A log is read though no option names it; what lies where one would be, the next run reads."""
        for content in (b"", bytes(4096), writer.entry_log(7, self.entries())):
            hive = self.lay(writer.with_sequences(self.old, 8, 7), LOG1=content, log=b"of setup")
            names = sorted(hive.parent.iterdir())
            for log in ("SYSTEM.LOG1", "SYSTEM.LOG2", "system.log2", "SYSTEM.LOG", "SYSTEM.log"):
                for command in ("-o", hive.parent / log), ("--format", "json", "-o", hive.parent / "." / log):
                    done = self.run_check("--hive", hive, *command)
                    self.assertEqual(done.returncode, 2, (log, done.stderr))
            self.assertEqual(sorted(hive.parent.iterdir()), names)
            self.assertEqual((hive.parent / "SYSTEM.LOG1").read_bytes(), content)

    def test_a_clean_hive_and_one_without_logs(self):
        state = self.checked(self.lay(self.old, LOG1=writer.entry_log(7, self.entries())), set(), 0, False)
        self.assertEqual((state["dirty"], state["entries"]), (False, 0))
        state = self.checked(self.lay(writer.with_sequences(self.old, 8, 7)), {"hive-dirty"}, 1, False)
        self.assertFalse(state["complete"])

    def test_damage_and_gaps_end_it(self):
        old_size, size = len(self.old) - writer.PAGE, len(self.new) - writer.PAGE
        same = [writer.log_entry(number, old_size, [(0, self.old[writer.PAGE:2 * writer.PAGE])]) for number in (7, 8)]
        last = writer.log_entry(9, size, writer.changed_pages(self.old, self.new))
        torn = bytearray(last)
        torn[-1] ^= 1  # of the last page, which the first hash is of
        other = bytearray(last)
        other[16] ^= 0x10  # of the header, which the second hash is of
        for entries, codes, whole in (([*same, last], set(), True), ([*same, torn], {"hive-log-damaged"}, False),
                                      ([*same, other], {"hive-log-damaged"}, False),
                                      ([*same, last[:-512]], {"hive-log-damaged"}, False),
                                      ([same[0], last], {"hive-log-gap"}, False)):
            hive = self.lay(writer.with_sequences(self.old, 8, 7), LOG1=writer.entry_log(7, entries))
            state = self.checked(hive, codes | {"hive-log-applied"}, 1 if codes else 0, whole)
            self.assertEqual(state["entries"], 3 if whole else len(entries) - 1)
        hive = self.lay(writer.with_sequences(self.old, 8, 7), LOG1=writer.entry_log(7, same),
                        LOG2=writer.entry_log(10, [writer.log_entry(10, size, [])]))
        self.checked(hive, {"hive-log-gap", "hive-log-applied"}, 1, False)
        # A page beyond the bins, and bins that no log has bytes for.
        for entry in (writer.log_entry(7, writer.PAGE, [(writer.PAGE, bytes(4096))]),
                      writer.log_entry(7, 1 << 31, [(0, bytes(4096))]),
                      writer.log_entry(7, 4097, [(0, bytes(1))])):
            hive = self.lay(writer.with_sequences(self.old, 8, 7), LOG1=writer.entry_log(7, [entry]))
            self.checked(hive, {"hive-log-damaged", "hive-dirty"}, 1, False)

    def test_logs_of_the_old_format(self):
        dirty = writer.with_sequences(self.old, 8, 7)
        log = writer.page_log(self.old, self.new)
        state = self.checked(self.lay(dirty, LOG1=log), {"hive-log-applied"}, 0, True)
        self.assertEqual(state["pages"], len(writer.changed_pages(self.old, self.new, 512)))
        self.checked(self.lay(writer.with_sequences(self.old, 8, 7, good_checksum=False), LOG=log),
                     {"hive-log-applied"}, 0, True)
        # Of a broken base block the time counts, or that of the first bin: one of both is the log's.
        for base_moves, bin_moves in ((0, 9), (9, 0), (9, 9)):
            broken = bytearray(writer.with_sequences(self.old, 8, 7, good_checksum=False))
            for at, moves in ((12, base_moves), (4096 + 20, bin_moves)):
                struct.pack_into("<Q", broken, at, struct.unpack_from("<Q", broken, at)[0] + moves)
            broken = writer.with_sequences(bytes(broken), 8, 7, good_checksum=False)
            whole = base_moves + bin_moves < 18
            codes = {"hive-log-applied"} if whole else {"hive-dirty"}
            self.checked(self.lay(broken, LOG1=log), codes, 0 if whole else 1, whole)
        self.checked(self.lay(dirty, LOG1=log[:-1]), {"hive-log-damaged", "hive-dirty"}, 1, False)
        other = writer.page_log(writer.Hive(system(), written=5).data, self.new)
        self.checked(self.lay(dirty, LOG1=other), {"hive-dirty"}, 1, False)
        self.checked(self.lay(dirty, LOG1=writer.page_log(self.old, self.new, (8, 7))),
                     {"hive-log-damaged", "hive-dirty"}, 1, False)


class Hostile(Check):
    def test_forms_of_lists_and_data(self):
        tree = system()
        services = at(tree, r"ControlSet001\Services")
        services.update({f"s{i}": driver(3) for i in range(450)})
        services["n\u00e4me"] = driver(3)
        services["\u540d"] = driver(3, Group="\u7d44")
        services["filters"] = driver(3, DependOnService=["disk"] * 6000)  # 60 kB: segments
        wanted = None
        for kind in ("lf", "lh", "li", "ri"):
            document = self.check(writer.Hive(tree, list_kind=kind).data, status=0)
            wanted = wanted or document["services"]
            self.assertEqual(document["services"], wanted)
            self.assertEqual(document["hives"][0]["findings"], [])
        self.assertEqual(self.check(writer.Hive(tree, minor=3).data)["services"], wanted)
        self.assertEqual({row["name"] for row in wanted},
                         {name for name in services if name != "settings"})

    @unittest.skipUnless(hivex, "no python3-hivex")
    def test_libhivex_reads_the_same(self):
        tree = system()
        at(tree, r"ControlSet001\Services").update({f"s{i}": driver(i % 5, Group=f"g{i}") for i in range(450)})
        document = self.check(tree)
        hive = hivex.Hivex(str(self.here / "SYSTEM"))
        node = hive.root()
        for name in ("ControlSet001", "Services"):
            node = hive.node_get_child(node, name)
        own = {}
        for child in hive.node_children(node):
            values = {hive.value_key(value): value for value in hive.node_values(child)}
            if "Type" in values:
                own[hive.node_name(child)] = (hive.value_dword(values["Start"]),
                                              hive.value_string(values["Group"]) if "Group" in values else None)
        self.assertEqual({row["name"]: (row["start"], row["group"]) for row in document["services"]}, own)

    def test_circles_and_shared_lists(self):
        hive = writer.Hive(system())
        data = bytearray(hive.data)
        services, sets = (hive.cells[rf"ControlSet001{path}"] + writer.PAGE + 4 for path in (r"\Services", ""))
        # The list of the control set is that of its parent's child: its own.
        list_of = {}
        for name, place in (("services", services), ("set", sets)):
            list_of[name], = struct.unpack_from("<I", data, place + 28)
        struct.pack_into("<I", data, services + 28, list_of["set"])
        document = self.check(bytes(data), status=1)
        self.assertIn("hive-damaged", {row["code"] for row in document["hives"][0]["findings"]})
        self.assertEqual(document["services"], [])
        # Many keys that share one long list.
        wide = {"Select": {"Current": 1}, "ControlSet001": {"Enum": {"bus": {f"d{i}": {"0": {}} for i in range(3000)},
                                                                     "more": {f"x{i}": {} for i in range(3000)}}}}
        hive = writer.Hive(wide, list_kind="ri")
        data = bytearray(hive.data)
        long, = struct.unpack_from("<I", data, hive.cells[r"ControlSet001\Enum\more"] + writer.PAGE + 4 + 28)
        for i in range(3000):
            place = hive.cells[rf"ControlSet001\Enum\bus\d{i}"] + writer.PAGE + 4
            struct.pack_into("<I", data, place + 28, long)
        document = self.check(bytes(data), status=1)
        self.assertIn("hive-limit", {row["code"] for row in document["hives"][0]["findings"]})

    def test_sizes_and_signatures(self):
        hive = writer.Hive(system())
        for path, offset, number in ((r"ControlSet001\Services\disk", 72, 0xFFFF),  # the name's length
                                     (r"ControlSet001\Services\disk", 40, 0xFFFFFFF0),
                                     (r"ControlSet001\Services\disk", 36, 0xFFFFFFF),
                                     (r"ControlSet001\Services", 20, 3),  # fewer subkeys than their list has
                                     (r"ControlSet001\Services\disk", 0, 0x6B6B),
                                     (r"ControlSet001\Services\disk", 16, 0x1234),
                                     (r"ControlSet001\Services\disk", -4, 0x7FFFFFFF),
                                     (r"ControlSet001\Services\disk", -4, 0x80000000)):
            data = bytearray(hive.data)
            width = "<H" if offset in (0, 72) else "<I"
            struct.pack_into(width, data, hive.cells[path] + writer.PAGE + 4 + offset, number)
            with self.subTest(offset=offset, number=number):
                document = self.check(bytes(data), status=1)
                self.assertEqual({row["code"] for row in document["hives"][0]["findings"]}, {"hive-damaged"})
        data = bytearray(hive.data)
        data[writer.PAGE * 2:writer.PAGE * 2 + 4] = b"hbiN"
        found = self.check(bytes(data), status=1)["hives"][0]["findings"]
        self.assertEqual([(row["code"], row["first_offset"]) for row in found], [("hive-damaged", writer.PAGE * 2)])

    def test_a_damaged_size_of_data_costs_its_value_alone(self):
        hive = writer.Hive(system())
        value = re.search(rb"vk\x09\0.{16}ImagePath", hive.data, re.S).start()
        whole = self.check(hive.data, status=0)
        self.assertNotEqual(whole["filters"], [])
        for size in (len(hive.data) * 4 + 1, 0x7FFFFFFF):
            for minor in (3, 5):
                data = bytearray(hive.data)
                struct.pack_into("<I", data, 24, minor)
                struct.pack_into("<I", data, 508, writer.checksum(data[:512]))
                struct.pack_into("<I", data, value + 4, size)
                with self.subTest(size=size, minor=minor):
                    document = self.check(bytes(data), status=1)
                    self.assertEqual(self.codes(document["hives"][0]), {"hive-damaged"})
                    lost = [row["name"] for row, other in zip(document["services"], whole["services"]) if row != other]
                    self.assertEqual(lost, ["PartMgr"])
                    for member in ("filters", "known_dlls", "autologgers"):
                        self.assertEqual(document[member], whole[member])

    def test_a_count_of_no_subkeys_beside_their_list(self):
        """What the list has is read, as with every other wrong count."""
        hive = writer.Hive(system())
        whole = self.check(hive.data, status=0)
        self.assertNotEqual((whole["services"], whole["filters"]), ([], []))
        for path in (r"ControlSet001\Services", r"ControlSet001\Control\Class", "ControlSet001"):
            place = hive.cells[path] + writer.PAGE
            data = bytearray(hive.data)
            struct.pack_into("<I", data, place + 24, 0)
            with self.subTest(path):
                document = self.check(bytes(data), status=1)
                found = document["hives"][0]["findings"]
                self.assertEqual([(row["code"], row["first_offset"]) for row in found], [("hive-damaged", place)])
                for member in ("services", "filters", "known_dlls", "autologgers", "problems"):
                    self.assertEqual(document[member], whole[member])
        # A list where no cell can be: at the head of the first bin.
        struct.pack_into("<I", data, place + 32, 0)
        self.assertEqual(self.codes(self.check(bytes(data), status=1)["hives"][0]), {"hive-damaged"})

    def test_a_count_of_no_values_beside_their_list(self):
        hive = writer.Hive(system())
        whole = self.check(hive.data, status=0)
        for path in (r"ControlSet001\Services\tracer", rf"ControlSet001\Control\Class\{DISK}", "Select",
                     r"ControlSet001\Control\Session Manager\KnownDLLs", r"ControlSet001\Control\WMI\Autologger\Boot"):
            place = hive.cells[path] + writer.PAGE
            data = bytearray(hive.data)
            struct.pack_into("<I", data, place + 40, 0)
            with self.subTest(path):
                document = self.check(bytes(data), status=1)
                found = document["hives"][0]["findings"]
                self.assertEqual([(row["code"], row["first_offset"], row["text"]) for row in found],
                                 [("hive-damaged", place, "key node has no NumberOfKeyValues")])
                for member in ("control_set", "services", "filters", "known_dlls", "autologgers", "problems"):
                    self.assertEqual(document[member], whole[member])
        # Whether the list has lost some nobody knows: no file is made up of what it lacks.
        struct.pack_into("<I", data, place + 40, struct.unpack_from("<I", hive.data, place + 40)[0])
        struct.pack_into("<I", data, hive.cells[r"ControlSet001\Services\disk"] + writer.PAGE + 40, 0)
        disk, = (row for row in self.check(bytes(data), status=1)["services"] if row["name"] == "disk")
        self.assertEqual((disk["group"], disk["start"], disk["file"]), ("SCSI Class", 0, None))
        # A list where no cell can be, and one that is a key: nothing is made up.
        struct.pack_into("<I", data, place + 40, 0)
        other = hive.cells[r"ControlSet001\Services"]
        for number in (0, other):
            struct.pack_into("<I", data, place + 44, number)
            document = self.check(bytes(data), status=1)
            self.assertEqual(self.codes(document["hives"][0]), {"hive-damaged"})
            self.assertEqual(document["autologgers"][0]["start"], None)

    def test_data_beyond_the_limit_costs_its_value_alone(self):
        """Values that share most of the hive; then what is small is still read."""
        for minor in (3, 5):
            tree = system()
            services = at(tree, r"ControlSet001\Services")
            # One that is first in the list of services, so that all others come after it.
            tree["ControlSet001"]["Services"] = {"a": {"Long": "x" * 100000} | {f"Q{i}": "x" * 40 for i in range(9)}, **services}
            hive = writer.Hive(tree, minor=minor)
            whole = self.check(hive.data, status=0)
            data = bytearray(hive.data)
            long = re.search(rb"vk\x04\0(.{8}).{8}Long", hive.data, re.S)[1]
            shared = list(re.finditer(rb"vk\x02\0.{16}Q[0-9]", hive.data, re.S))
            self.assertEqual(len(shared), 9)
            for value in shared:
                data[value.start() + 4:value.start() + 12] = long
            with self.subTest(minor):
                document = self.check(bytes(data), status=1)
                self.assertIn("hive-limit", self.codes(document["hives"][0]))
                for member in ("control_set", "services", "filters", "known_dlls", "autologgers", "problems"):
                    self.assertEqual(document[member], whole[member], member)

    def test_segments_that_are_listed_twice_are_no_data(self):
        """They would cost the limit of all other values."""
        tree = system()
        services = at(tree, r"ControlSet001\Services")
        tree["ControlSet001"]["Services"] = {"a": {"Long": "x" * 200000}, **services}
        hive = writer.Hive(tree)
        whole = self.check(hive.data, status=0)
        data = bytearray(hive.data)
        value = re.search(rb"vk\x04\0.{16}Long", hive.data, re.S).start()
        block = struct.unpack_from("<I", data, value + 8)[0] + writer.PAGE + 4
        count, listed = struct.unpack_from("<HI", data, block + 2)
        place = listed + writer.PAGE + 4
        data[place + 4:place + 4 * count] = data[place:place + 4] * (count - 1)
        document = self.check(bytes(data), status=1)
        self.assertEqual([(row["code"], row["first_offset"]) for row in document["hives"][0]["findings"]],
                         [("hive-damaged", place + 4)])
        self.assertEqual(document["services"], whole["services"])

    def test_data_that_many_values_share(self):
        """In one cell, and in segments."""
        tree = system()
        at(tree, r"ControlSet001\Services").update({f"s{i}": driver(3, ImagePath="short.sys") for i in range(450)})
        for length in (8000, 30000):
            at(tree, r"ControlSet001\Services")["disk"]["Long"] = "x" * length
            hive = writer.Hive(tree)
            data = bytearray(hive.data)
            self.assertEqual(self.check(hive.data, status=0)["hives"][0]["findings"], [])
            long = re.search(rb"vk\x04\0(.{8}).{8}Long", hive.data, re.S)[1]
            for value in re.finditer(rb"vk\x09\0.{16}ImagePath", hive.data, re.S):
                data[value.start() + 4:value.start() + 12] = long
            with self.subTest(length):
                self.assertIn("hive-limit", self.codes(self.check(bytes(data), status=1)["hives"][0]))

    def test_cut_and_changed_hives(self):
        data = writer.Hive(system()).data
        for size in (*range(0, 4200, 300), *range(4096, len(data), 1500)):
            hive = self.write("SYSTEM", data[:size])
            done = self.run_check("--hive", hive, "--format", "json")
            self.assertNotEqual(done.returncode, 0)
            if done.returncode == 1:
                self.assertIn("hive-truncated", self.codes(strict_json(done.stdout)["hives"][0]))
            elif size >= writer.PAGE:
                self.assertIn(f"the hive ends after {size - writer.PAGE} of its {len(data) - writer.PAGE} bytes of bins",
                              done.stderr.decode())
        pick = random.Random(7)
        for _ in range(60):
            changed = bytearray(data)
            for _ in range(20):
                changed[pick.randrange(4096, len(data))] = pick.randrange(256)
            done = self.run_check("--hive", self.write("SYSTEM", bytes(changed)), "--format", "json")
            if done.returncode != 2:
                SCHEMA.validate(strict_json(done.stdout))

    def test_more_problems_than_a_machine_has(self):
        tree = system()
        at(tree, rf"ControlSet001\Control\Class\{DISK}")["UpperFilters"] = ["x"] * 20000
        hive = self.write("SYSTEM", writer.Hive(tree).data)
        done = self.run_check("--hive", hive, "--format", "json")
        document = strict_json(done.stdout)
        self.assertEqual(len(document["problems"]), 16384)
        self.assertEqual(self.codes(document), {"filter-service-missing", "driver-problem-limit"})
        # A name that is longer than Windows allows would stand in the path of each key below.
        tree = system()
        tree["ControlSet001"]["Enum"]["x" * 600] = {"y": {"z": {}}}
        document = self.check(tree, status=1, name="long")
        self.assertEqual({row["code"] for row in document["hives"][0]["findings"]}, {"hive-damaged"})

    def test_names_that_are_no_text(self):
        tree = system()
        at(tree, rf"ControlSet001\Control\Class\{DISK}")["UpperFilters"] = [
            "PartMgr", "\x1b[31mred", "\u202eevil"]
        document = self.check(tree, status=1)
        self.assertEqual({row["data"] for row in document["problems"]}, {"\x1b[31mred", "\u202eevil"})
        plain = self.run_check("--hive", self.here / "SYSTEM").stdout
        self.assertNotIn(b"\x1b", plain)
        self.assertNotIn("\u202e".encode(), plain)

    def test_what_is_no_hive(self):
        good = self.write("good", writer.Hive(system()).data)
        for content, words in ((b"", "empty"), (b"text\n" * 900, "text"),
                               (writer.entry_log(7, []), "log of a hive"),
                               (writer.Hive({"Some": {}}).data, "neither a SYSTEM"),
                               (good.read_bytes()[:600], "root key")):
            done = self.run_check("--hive", self.write("input", content))
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr.decode())
            self.assertEqual(done.stdout, b"")
        for arguments in (("--hive", self.here), ("--hive", self.here / "none"), (), ("--hive", good, "--hive", good),
                          ("--hive", good, "--files", self.here / "none"), ("--hive", good, "--files", good),
                          ("--hive", good, "-o", good)):
            self.assertEqual(self.run_check(*arguments).returncode, 2, arguments)
        self.assertEqual(good.read_bytes(), writer.Hive(system()).data)

    def test_no_output_replaces_a_file_of_the_folder_that_is_looked_at(self):
        good, volume = self.write("good", writer.Hive(system()).data), self.here / "volume"
        driver = volume / "Windows/System32/drivers/tracer.sys"
        driver.parent.mkdir(parents=True)
        driver.write_bytes(b"")
        link = self.here / "link.json"
        link.symlink_to(driver)
        for output in (driver, link):
            done = self.run_check("--hive", good, "--files", volume, "-o", output)
            self.assertEqual((done.returncode, driver.read_bytes()), (2, b""))
            self.assertIn("which is never overwritten", done.stderr.decode())
        self.run_check("--hive", good, "--files", volume, "-o", volume / "new.txt")
        self.assertIn("tracer", (volume / "new.txt").read_text())


@unittest.skipUnless("COLDTRACE_HIVES" in os.environ, "COLDTRACE_HIVES names no folder")
class PublicHives(Check):
    """SYSTEM hives of regipy's tests (mkorman90/regipy, regipy_tests/data), plain or packed. What was replayed is what regipy's own
    tests and yarp say of them."""

    def hive(self, name, *logs):
        for part in (name, *logs):
            path = Path(os.environ["COLDTRACE_HIVES"]) / part
            packed = path.with_name(part + ".xz")
            if not path.exists() and not packed.exists():
                self.skipTest(f"no {part}")
            self.write(part, path.read_bytes() if path.exists() else lzma.decompress(packed.read_bytes()))
        return self.here / name

    def test_a_driver_that_only_the_logs_have(self):
        hive = self.hive("SYSTEM_B", "SYSTEM_B.LOG1", "SYSTEM_B.LOG2")
        document = self.check_file(hive, status=0)
        state, = document["hives"]
        self.assertEqual((state["dirty"], state["complete"], state["entries"], state["pages"]), (True, True, 24, 315))
        driver, = (row for row in document["services"] if row["name"] == "ad_driver")
        self.assertTrue(driver["image_path"].startswith("\\??\\C:\\Users\\"))
        for log in ("SYSTEM_B.LOG1", "SYSTEM_B.LOG2"):
            (self.here / log).unlink()
        document = self.check_file(hive, status=1)
        self.assertIn("hive-dirty", self.codes(document["hives"][0]))
        self.assertNotIn("ad_driver", [row["name"] for row in document["services"]])

    def test_nothing_is_wrong_with_machines_that_run(self):
        for name, status in (("SYSTEM", 0), ("SYSTEM_2", 1), ("SYSTEM_WIN_10_1709", 1)):
            with self.subTest(name):
                document = self.check_file(self.hive(name), status=status)  # dirty ones without logs: 1
                self.assertEqual({row["severity"] for row in document["problems"]} - {"info"}, set())
                self.assertNotIn("service-group", {row["code"] for row in document["problems"]})
                self.assertGreater(len(document["services"]), 400)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
