"""What the Python module says of a volume beyond its files: BitLocker, shadow copies, change journals, and members of files
that few have. Values are those of programs that write them, and of other readers.

usage: volume_parts.py BUILD SOURCES [unittest arguments]
"""
import gc
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from case import Case, installed  # noqa: E402
from ntfs.bitlocker import bitlocker_writer  # noqa: E402
from ntfs.journal import usn_writer  # noqa: E402
from ntfs.shadow.shadow_writer import BLOCK, copy_on_write, identifier  # noqa: E402

try:
    import pyvshadow
except ImportError:
    pyvshadow = None

BUILD, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
del sys.argv[1:3]
sys.path.insert(0, str(BUILD / "python"))
sys.dont_write_bytecode = True
import coldtrace  # noqa: E402

# The Windows SDK's winioctl.h, those that the writer has.
REASONS = {"file_create": usn_writer.CREATE, "file_delete": usn_writer.DELETE, "data_extend": usn_writer.EXTEND,
           "rename_old_name": usn_writer.OLD, "rename_new_name": usn_writer.NEW, "close": usn_writer.CLOSE}


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode()


def codes(findings):
    return {finding.code: finding for finding in findings}


class Written(Case):
    """A volume with a journal that is written here."""

    def setUp(self):
        super().setUp()
        self.history = usn_writer.History(20, 300, start=1 << 30)
        self.content, _ = usn_writer.volume(self.history, 4)
        self.image = self.write("volume", self.content)

    def volume(self, path=None, **given):
        (volume,) = coldtrace.open_image(path or self.image, **given).volumes()
        return volume

    def test_a_journal_is_what_happened(self):
        volume = self.volume()
        rows = list(volume.journal())
        self.assertEqual([(row.usn, row.path, row.record, row.sequence, sum(REASONS[name] for name in row.reasons))
                          for row in rows], self.history.truth)
        self.assertEqual({row.version for row in rows}, {2})
        self.assertEqual({(row.sources, row.security_id, row.extents, row.first_usn, row.closed) for row in rows},
                         {((), 0, (), None, None)})
        for row in rows[::50]:
            name = row.name.encode("utf-16-le")
            at = row.offset + 60
            self.assertEqual((self.content[at:at + len(name)], row.path.rpartition("/")[2]), (name, row.name))
            self.assertEqual(struct.unpack_from("<Q", self.content, row.offset + 32)[0],
                             row.time // 100 + 116_444_736_000_000_000)
        self.assertEqual(list(volume.journal(jobs=2)), rows)
        found = codes(volume.findings)
        self.assertNotIn("journal-none", found)

    def test_events_are_those_of_the_tool(self):
        done = subprocess.run([BUILD / "cli/coldtrace", "ntfs", "journal", "--events", "-q", self.image], capture_output=True)
        told = [row for row in map(json.loads, done.stdout.splitlines()) if row["type"] == "event"]
        rows = list(self.volume().journal(events=True))
        self.assertGreater(len(rows), 100)
        self.assertTrue(any(row.old_path for row in rows))
        same = "usn", "path", "first_usn", "records", "closed", "old_path", "record", "offset"
        self.assertEqual([[getattr(row, name) for name in same] for row in rows], [[row[name] for name in same] for row in told])
        for row, one in zip(rows, told):
            self.assertEqual((list(row.reasons), coldtrace.time_text(row.first_time)), (one["reasons"], one["first_time"]))

    def test_paths_that_are_not_valid_utf16(self):
        history, root, folder, file = usn_writer.History(1, 5), *(usn_writer.reference(*one) for one in ((5, 5), (100, 1), (203, 1)))
        history.journal = usn_writer.Journal()
        history.journal.add(2, folder, root, usn_writer.CREATE | usn_writer.CLOSE, "a\ud800".encode("utf-16-le", "surrogatepass"),
                            attributes=usn_writer.DIRECTORY)
        for reason, name in ((usn_writer.CREATE | usn_writer.CLOSE, "two"), (usn_writer.OLD, "two"), (usn_writer.NEW | usn_writer.CLOSE, "three")):
            history.journal.add(2, file, folder, reason, name)
        rows = list(self.volume(self.write("surrogates", usn_writer.volume(history, 1)[0])).journal(events=True))
        self.assertEqual((rows[-1].path, rows[-1].old_path), ("/a\ufffd/three", "/a\ufffd/two"))

    def test_what_is_not_there_is_told(self):
        image = self.write("none", usn_writer.volume(usn_writer.History(1, 5), 4)[0].replace("$UsnJrnl".encode("utf-16-le"),
                                                                                            "$UsnJrnx".encode("utf-16-le")))
        volume = self.volume(image)
        self.assertEqual(list(volume.journal()), [])
        self.assertIn("journal-none", codes(volume.findings))
        self.assertEqual(volume.shadow_copies(), [])
        with self.assertRaisesRegex(coldtrace.Error, "there is no shadow copy 1"):
            volume.open_shadow(1)

    def test_jobs_change_nothing(self):
        image = self.write("many", usn_writer.volume(usn_writer.History(3, 9000), 4)[0])
        for asked in {}, {"where": 'name matches "[02468]"'}, {"where": "record & 1", "fields": ["path", "si", "findings"]}:
            told = []
            for jobs in 1, 2, 7, 256:
                volume = self.volume(image)
                told.append((list(volume.files(jobs=jobs, **asked)), volume.findings))
            self.assertGreater(len(told[0][0]), 1000)
            self.assertEqual(told[1:], told[:1] * 3, asked)

    def test_what_is_left_half_way_has_no_threads(self):
        volume = self.volume(self.write("many", usn_writer.volume(usn_writer.History(3, 9000), 4)[0]))
        rows = list(volume.files(where="record > 0"))
        files = volume.files(where="record > 0", jobs=8)
        self.assertEqual(next(files), rows[0])
        self.assertEqual(len(os.listdir("/proc/self/task")), 1)
        # So another process goes on with it as this one does.
        child = os.fork()
        if child == 0:
            os._exit(0 if list(files) == rows[1:] else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(list(files), rows[1:])

    def test_rows_cost_the_collector_of_garbage_nothing(self):
        """It goes through all that it is told of, again and again, and rows cannot hold a cycle."""
        volume = self.volume()
        rows = [*volume.files(), *volume.files(fields=["path", "streams"])]
        streams = [stream for row in rows for stream in (row.streams if isinstance(row, coldtrace.File) else row[1])]
        self.assertGreater(len(streams), 20)
        parts = [*streams, *(stream.extents for stream in streams), *(stream.fixup_positions for stream in streams)]
        self.assertGreater(sum(map(len, parts)), len(streams) * len(streams[0]))
        self.assertEqual([each for each in (*rows, *parts) if gc.is_tracked(each)], [])

    def test_bitlocker_volumes_are_what_was_encrypted(self):
        used = -(-len(self.content) // 0x10000) * 0x10000
        plain = bytes(self.content).ljust(used + 0x50000, b"\0")
        made = bitlocker_writer.Volume(plain, used, [used + 0x10000, used + 0x20000, used + 0x30000], used)
        password, recovery = "Schlüssel 1!", "042647-302313-590458-071500-554323-116567-412181-516978"
        made.add_password(password)
        made.add_recovery(recovery)
        _, startup = made.add_startup()
        image = self.write("locked", made.bytes())
        keys = {"password_files": self.write("password", f"{password}\r\n".encode()),
                "recovery_key_files": self.write("printed", b"\xff\xfe" + f"Key:\r\n{recovery}\r\n".encode("utf-16-le")),
                "startup_keys": self.write("KEY.BEK", startup)}
        expected = list(self.volume().files(fields=["path", "record", "state", "si"]))
        self.assertGreater(len(expected), 20)
        for name, path in keys.items():
            disk = coldtrace.open_image(image, **{name: [path]})
            self.assertEqual(disk.read(0, used), plain[:used], name)
            (volume,) = disk.volumes()
            self.assertEqual(list(volume.files(fields=["path", "record", "state", "si"])), expected)
            self.assertEqual(len(list(volume.journal())), len(self.history.truth))
            self.assertIn("bitlocker-opened", codes(disk.findings))
        if installed(self, "bdeinfo"):
            self.assertNotIn("Unable to unlock", run("bdeinfo", "-r", recovery, image))
        wrong = self.write("wrong", b"Schluessel 1!")
        for given, words in (({}, "no key was given"), ({"password_files": [wrong]}, "none of the given keys")):
            disk = coldtrace.open_image(image, **given)
            self.assertEqual(disk.volumes(), [])
            text = codes(disk.findings)["bitlocker-locked"].text
            self.assertRegex(text, words + r".*\(password_files\).*\(recovery_key_files\).*\(startup_keys\)")
            self.assertEqual("bitlocker-key" in codes(disk.findings), bool(given))
        for name, content in (("password_files", b""), ("recovery_key_files", b"000001"), ("startup_keys", b"no")):
            with self.assertRaisesRegex(coldtrace.Error, "/bad: .* not? "):
                coldtrace.open_image(image, **{name: [self.write("bad", content)]})
        with self.assertRaisesRegex(coldtrace.Error, "/missing: "):
            coldtrace.open_image(image, startup_keys=[self.here / "missing"])


class Made(Case):
    """Volumes that mkntfs and ntfscp write."""

    def setUp(self):
        super().setUp()
        for program in "mkntfs", "ntfscp", "istat", "ifind":
            if not shutil.which(program):
                self.skipTest(f"no {program}")
        self.image = self.here / "volume"
        with self.image.open("wb") as file:
            file.truncate(8 << 20)
        run("mkntfs", "-F", "-q", "-s", "512", "-c", "4096", "-p", "0", "-H", "16", "-S", "63", self.image)

    def copy(self, name, content, *options):
        run("ntfscp", "-q", *options, self.image, self.write("content", content), name)

    def file(self, name, **options):
        (volume,) = coldtrace.open_image(self.image).volumes()
        (found,) = volume.files(where=f'name == "{name}"', **options)
        return found

    def change_record(self, number_at, change):
        with self.image.open("r+b") as file:
            file.seek(number_at)
            record = bytearray(file.read(1024))
            change(record)
            file.seek(number_at)
            file.write(record)

    def add_attribute(self, name, kind, content):
        def change(record):
            end = struct.unpack_from("<I", record, 24)[0]
            added = usn_writer.attribute(kind, content, 40 + (kind >> 4))
            record[end - 8:end - 8 + len(added) + 8] = added + record[end - 8:end]
            struct.pack_into("<I", record, 24, end + len(added))
            assert end + len(added) < 510
        self.change_record(self.file(name).record_offset, change)

    def test_members_that_few_files_have(self):
        for name in "link", "tagged":
            self.copy(name, b"x")
        target = "C:\\Windows".encode("utf-16-le")
        # [MS-FSCC] 2.1.2.4: where the names are, how long, flags; the names.
        link = struct.pack("<HHHHI", 0, len(target), len(target), len(target), 0) + target * 2
        self.add_attribute("link", 0xC0, struct.pack("<IHH", 0xA000000C, len(link), 0) + link)
        value = b"\1\2\3\0value"
        # [MS-FSCC] 2.4.16, FILE_FULL_EA_INFORMATION.
        entry = struct.pack("<BBH", 0, 5, len(value)) + b"WSLXX\0" + value
        size = (4 + len(entry) + 3) // 4 * 4
        self.add_attribute("tagged", 0xE0, struct.pack("<I", size) + entry.ljust(size - 4, b"\0"))
        file = self.file("link")
        self.assertEqual((file.reparse.tag, file.reparse.kind, file.reparse.target), (0xA000000C, "symlink", "C:\\Windows"))
        self.assertEqual([(one.name, one.value) for one in self.file("tagged").ea], [("WSLXX", value)])
        self.assertIn("$REPARSE_POINT", run("istat", self.image, file.record))
        self.copy("plain", b"y")
        other = self.file("plain")
        self.assertEqual((other.reparse, other.ea, other.entry, other.other_streams, other.zone_id), (None, (), None, (), None))

    def test_other_streams_are_those_of_the_sleuth_kit(self):
        # "Type: $INDEX_ALLOCATION (160-2)   Name: $I30   Non-Resident   size: 4096  init_size: 4096"
        (volume,) = coldtrace.open_image(self.image).volumes()
        tried = 0
        for file in volume.files(states=["live"]):
            told = re.findall(r"^Type: (\$\S+) \((\d+)-(\d+)\)\s+Name: (\S+)\s+Non-Resident.*?size: (\d+)",
                              run("istat", self.image, file.record), re.M)
            expected = sorted((kind, int(number), name, int(size)) for kind, code, number, name, size in told if code != "128")
            self.assertEqual(sorted((stream.type, stream.id, stream.name or "N/A", stream.size)
                                    for stream in file.other_streams), expected, file.path)
            self.assertEqual({stream.type for stream in file.streams} - {"$DATA"}, set())
            tried += len(expected)
        self.assertGreater(tried, 2)

    def test_zone_ids_are_what_the_stream_says(self):
        self.copy("loaded", b"z")
        self.copy("loaded", b"[ZoneTransfer]\r\nZoneId=3\r\nReferrerUrl=https://a.example/\r\nHostUrl=https://b.example/c\r\n",
                  "-N", "Zone.Identifier")
        self.assertIsNone(self.file("loaded").zone_id)
        zone = self.file("loaded", zone_ids=True).zone_id
        self.assertEqual(tuple(zone), (3, "https://a.example/", "https://b.example/c", True))
        self.assertEqual(self.file("loaded", fields=["zone_id"]), (zone,))

    def test_entries_without_a_record_say_where_they_are(self):
        self.copy("forgotten name", b"12345" * 700)
        before = self.file("forgotten name")

        def forget(record):
            struct.pack_into("<H", record, 16, struct.unpack_from("<H", record, 16)[0] + 1)  # of another file by now
            struct.pack_into("<H", record, 22, 0)
        self.change_record(before.record_offset, forget)
        (volume,) = coldtrace.open_image(self.image).volumes()
        (stale,) = volume.files(where='name == "forgotten name" and state == "stale"')
        content = self.image.read_bytes()
        name = "forgotten name".encode("utf-16-le")
        self.assertEqual(content[stale.entry.offset + 82:][:len(name)], name)
        self.assertEqual(struct.unpack_from("<QQI", content, stale.entry.offset + 56),
                         (stale.entry.allocated, stale.entry.size, stale.entry.attributes))
        self.assertEqual((stale.entry.size, stale.entry.copies, stale.streams), (3500, 1, ()))

    def test_shadow_copies_are_the_volume_of_their_time(self):
        self.copy("room", b"".join((b"room %08d" % number).ljust(4096, b".") for number in range(1024)))
        states = []
        for name in "first", "second", "third":
            self.copy(name, name.encode() * 5000)
            states.append(self.image.read_bytes())
        room = [at for at in range(0, len(states[0]), BLOCK)
                if all(states[0][at + cluster:at + cluster + 5] == b"room " for cluster in range(0, BLOCK, 4096))]
        image = self.write("image", copy_on_write(states, room).write())
        (live,) = coldtrace.open_image(image).volumes()
        copies = live.shadow_copies()
        self.assertEqual([(copy.number, copy.store_id, copy.volume_size, copy.deleted) for copy in copies],
                         [(number, str(identifier(1, number)), len(states[0]), False) for number in (1, 2)])
        if pyvshadow is not None:
            reader = pyvshadow.volume()
            reader.open(str(image))
            stores = [reader.get_store(number) for number in range(reader.number_of_stores)]
            self.assertEqual([copy.created // 100 + 116_444_736_000_000_000 for copy in copies],
                             [store.get_creation_time_as_integer() for store in stores])
            reader.close()
        for copy, state in zip(copies, states):
            volume = live.open_shadow(copy.number)
            (plain,) = coldtrace.open_image(self.write("plain", state)).volumes()
            fields = ["path", "record", "size", "si", "streams"]
            self.assertEqual(list(volume.files(fields=fields)), list(plain.files(fields=fields)))
            self.assertEqual((volume.shadow, volume.offset, volume.size), (copy.number, live.offset, live.size))
        self.assertIsNone(live.shadow)
        for number in (0, 3, 1 << 31):
            with self.assertRaisesRegex(coldtrace.Error, f"there is no shadow copy {number}"):
                live.open_shadow(number)


if __name__ == "__main__":
    unittest.main()
