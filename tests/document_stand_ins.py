"""Files and folders that stand in for those which documents name in their commands: of the kind that the name says, made
of the demo's files, the images of the tests and what other tests write."""
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

from cli.driver.hive_writer import Hive
from loaded_image import as_loaded
from ntfs.bitlocker import bitlocker_writer
from ntfs.journal import usn_writer
from ntfs.shadow.shadow_writer import BLOCK, copy_on_write

DEMO_FILES = ("demo-disk.img", "demo-trace.etl", "demo-ntdll.dll", "demo-ntdll-updated.dll", "demo-ntoskrnl.exe")
# What scripts/demo makes beside them.
CORPUS_FILES = {"switch-ntoskrnl.exe": "context_switch/xp-x86", "table-ntoskrnl.exe": "service_tables/x64-kernel-rva32"}
# By what a name ends in, without a packing behind it.
STAND_INS = {
    "ntdll.dll": "demo-ntdll.dll", "ntoskrnl.exe": "kernel.exe", "ntoskrnl.dump": "kernel.dump", ".dump": "made.dump",
    ".etl": "demo-trace.etl", ".zip": "demo-trace.etl", ".ctrace": "made.ctrace", ".img": "made.disk",
    ".E01": "made.disk", ".vhdx": "made.disk", "/dev/sdb": "made.disk", ".exe": "program.exe",
    "tracer.sys": "tracer.sys", ".sys": "demo-ntoskrnl.exe", ".dll": "demo-ntdll.dll", ".hooktab": "made.hooktab",
    ".ndjson": "made.ndjson", "provider.dll": "painter.man", ".json": "made.isf", ".ctschemas": "made.ctschemas",
    ".profile": "made.profile", ".key": "made.key", ".schema": "made.schema", ".pdb": "types.pdb",
    "ntkrnlmp.pdb": "made.isf", "$MFT": "made.mft", "$J": "made.journal", "SYSTEM": "made.hive",
    "Recovery Key 3FD763F9.TXT": "made.recovery", "password.txt": "made.password", ".BEK": "made.startup",
    "old/ntoskrnl.exe": "old.exe", "old/ntkrnlmp.pdb": "old.pdb", "old/GUID-1.json": "old.isf",
    "new/ntoskrnl.exe": "new.exe"}
MODULES = {"ntdll.dll": "demo-ntdll.dll", "ntoskrnl.exe": "kernel.exe", "tracer.sys": "tracer.sys"}
FOLDERS = {
    **dict.fromkeys(("system32", "builds", "old", "new", "old/System32", "new/System32", "baseline", "update"), MODULES),
    **dict.fromkeys(("/mnt/c/Windows", "/mnt/c/Windows/System32", "Windows/System32"), {"painter.man": "painter.man"}),
    "app": {"program.exe": "program.exe"}, "images": {"disk.img": "demo-disk.img"}, "formats": {},
    "symbols": {"ntkrnlmp.pdb": "old.pdb"}, "recording/": {"run.etl": "demo-trace.etl"}}
IMAGES = {"kernel.exe": "tables-x64-kernel-rva32/ntoskrnl.exe", "kernel.pdb": "tables-x64-kernel-rva32/ntoskrnl.pdb",
          "types.pdb": "switch-types-x64/ntoskrnl.pdb", "old.exe": "derived-x64-1/derived.exe",
          "old.pdb": "derived-x64-1/derived.pdb", "new.exe": "derived-x64-2/derived.exe",
          "program.exe": "imports-program-x86_64/program.exe", "tracer.sys": "trace-driver-yes/tracer.sys"}
CLUSTER = 4096
GROUPS = ("driver", "hooks", "ntfs", "pe", "syscalls", "trace")  # commands that have commands
OUTPUTS = {"-o", "--output", "--out-dir"}
PASSWORD, RECOVERY = "password", "042647-302313-590458-071500-554323-116567-412181-516978"


def with_files(folder, demo, project):
    """What a reader has in build/demo/demo."""
    for name in DEMO_FILES:
        shutil.copy(demo / name, folder)
    for name, entry in CORPUS_FILES.items():
        shutil.copy(project / "fuzz/corpus" / entry, Path(folder, name))


def partitioned(*volumes):
    """A disk with these volumes in its partitions."""
    disk = bytearray(1 << 20)
    disk[510:512] = b"\x55\xaa"
    for number, volume in enumerate(volumes):
        sectors = -(-len(volume) // 512)
        struct.pack_into("<B3sB3sII", disk, 446 + 16 * number, 0, b"\0\2\0", 7, b"\0\2\0", len(disk) // 512, sectors)
        disk += volume.ljust(sectors * 512, b"\0")
    return bytes(disk)


class StandIns:
    """Files of each kind in one folder, which lines of documents get links to by the names that they have there."""

    def __init__(self, base, coldtrace, project, demo, images):
        self.base, self.coldtrace = base, coldtrace
        with_files(base, demo, project)
        for name, path in IMAGES.items():
            shutil.copy(images / path, base / name)
        shutil.copy(project / "tests/cli/trace/schemas/painter.man", base)
        shutil.copy(project / "fuzz/corpus/schema_language/wmk.schema", base / "made.schema")
        (base / "made.profile").write_text("Nt*\n")
        (base / "made.key").write_bytes(bytes(range(32)))
        (base / "made.dump").write_bytes(as_loaded((base / "demo-ntdll.dll").read_bytes()))
        (base / "kernel.dump").write_bytes(as_loaded((base / "kernel.exe").read_bytes()))
        (base / "made.hive").write_bytes(Hive({
            "Select": {"Current": 1, "Default": 1, "Failed": 0, "LastKnownGood": 1},
            "ControlSet001": {"Services": {"disk": {"Type": 1, "Start": 0, "ErrorControl": 1}}, "Control": {}}}).data)
        self.make_disks()
        self.make_symbols()
        for line in ("trace synthesize deadlock-5 -o made.ctrace", "ntfs snapshot made.disk -o made.ndjson",
                     "hooks table --kernel kernel.exe --pdb made.isf --members edr --members edrsandblast --members kphdyn"
                     " --format hooktab -o made.hooktab",
                     "trace pack demo-trace.etl -o demo-trace.etl.zst", "trace schemas build painter.man -o made.ctschemas"):
            self.run(line)
        for name in {*STAND_INS.values(), *(name for names in FOLDERS.values() for name in names.values())}:
            assert (base / name).exists(), name

    def run(self, line):
        return subprocess.run([self.coldtrace, *line.split()], cwd=self.base, capture_output=True, timeout=60)

    def with_manifest(self, disk):
        """The demo's disk whose report.docx has a manifest for contents."""
        rows = map(json.loads, self.run("ntfs snapshot demo-disk.img").stdout.splitlines())
        file, = (row for row in rows if row.get("name") == "report.docx")
        stream = file["streams"][0]
        content, disk = (self.base / "painter.man").read_bytes().ljust(stream["allocated"], b"\n"), bytearray(disk)
        for extent in stream["extents"]:
            part = content[extent["vcn"] * CLUSTER:(extent["vcn"] + extent["clusters"]) * CLUSTER]
            disk[extent["offset"]:extent["offset"] + len(part)] = part
        return bytes(disk)

    def make_disks(self):
        """One with the demo's volume and two with journals, one with a BitLocker volume, one with shadow copies."""
        demo = self.with_manifest((self.base / "demo-disk.img").read_bytes())
        history = usn_writer.History(20, 200)
        journal, _ = usn_writer.volume(history, 4)
        (self.base / "made.mft").write_bytes(usn_writer.mft(history.records())[0])
        (self.base / "made.journal").write_bytes(history.journal.data)
        (self.base / "made.disk").write_bytes(partitioned(demo, journal, journal))
        used = -(-len(journal) // 0x10000) * 0x10000
        content = bytes(journal).ljust(used + 0x50000, b"\0")
        locked = bitlocker_writer.Volume(content, used, [used + 0x10000 * i for i in (1, 2, 3)], used)
        locked.add_password(PASSWORD)
        locked.add_recovery(RECOVERY)
        _, startup = locked.add_startup()
        (self.base / "made.password").write_text(PASSWORD)
        (self.base / "made.recovery").write_text(RECOVERY)
        (self.base / "made.startup").write_bytes(startup)
        (self.base / "made.locked").write_bytes(partitioned(demo, journal, locked.bytes()))
        room = range(0x180000, 0x180000 + 24 * BLOCK, BLOCK)
        states = [demo[:0x140000] + bytes([number]) * BLOCK + demo[0x140000 + BLOCK:] for number in (1, 2, 3)]
        (self.base / "made.shadows").write_bytes(copy_on_write(states, room).write())

    def make_symbols(self):
        """A symbol table of the kernel with types of another one and what the exports to other projects want."""
        table, types = (json.loads(self.run(f"pe isf {name}").stdout) for name in ("kernel.pdb", "types.pdb"))
        table.update({name: types[name] for name in ("base_types", "user_types", "enums")})
        table["user_types"]["_EPROCESS"]["fields"]["Protection"] = {
            "offset": 0x300, "type": {"kind": "base", "name": "unsigned char"}}
        (self.base / "made.isf").write_text(json.dumps(table))
        (self.base / "old.isf").write_bytes(self.run("pe isf old.pdb").stdout)

    def find(self, word, words):
        """The file that stands in for one of this name in a line of these words."""
        if word in DEMO_FILES:
            return self.base / word
        plain, packing = re.fullmatch(r"(.*?)(\.gz|\.zst|\.xz)?", word).groups()
        ends = [end for end in STAND_INS if plain.endswith(end)]
        if not ends:
            return None
        name = STAND_INS[max(ends, key=len)]
        if name == "made.disk" and "--before-shadow" in words:
            name = "made.shadows"
        elif name == "made.disk" and {"--password-file", "--recovery-key-file", "--startup-key"} & set(words):
            name = "made.locked"
        path = self.base / name
        if not packing:
            return path
        packed = path.with_name(path.name + packing)
        if not packed.exists():  # any packing will do: what a file is, its contents say
            packed.write_bytes(gzip.compress(path.read_bytes()))
        return packed

    def put(self, words, folder):
        """The words with what they name in the folder: a path from the root is one in it."""
        put = list(words)
        for at, (before, word) in enumerate(zip(words, words[1:]), 1):
            option, _, word = word.rpartition("=") if re.match(r"--[\w-]+=", word) else ("", "", word)
            found = FOLDERS.get(word, self.find(word, words))
            path = folder / word.removeprefix("/")
            if before in GROUPS and at == 2:
                continue  # the name of a command
            if before in OUTPUTS:
                path.parent.mkdir(parents=True, exist_ok=True)
            elif before in ("--list", "--places"):
                listed = "8704" if "batch" not in words else "run.etl" if "trace" in words else "disk.img"
                path.write_text(listed + ("\0" if "--null" in words else "\n"))
                self.put(("", listed), folder)
            elif word == "-":
                os.link(self.base / "demo-trace.etl", path)
            elif found is None:
                continue
            elif not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(found, dict):
                    path.mkdir()
                    for name, made in found.items():
                        os.link(self.base / made, path / name)
                else:
                    os.link(found, path)
            if word.startswith("/"):
                put[at] = (option + "=" if option else "") + str(path)
        return put
