"""Shadow copies: what is read of them is what the volume was, by images of it at each time, and by libvshadow.

usage: shadow.py COLDTRACE SOURCES [unittest arguments]
"""
import copy
import csv
import io
import json
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime, timedelta
from importlib.machinery import SourceFileLoader
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case  # noqa: E402
from shadow_writer import (BLOCK, FORWARDER, HEADER, OVERLAY, SECTOR, START, UNUSED, Shadows, Store,  # noqa: E402
                           copy_on_write, descriptor, differing, identifier)
from strict import strict_json, strict_ndjson  # noqa: E402

try:
    import pyvshadow
except ImportError:
    pyvshadow = None

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
recipe = SourceFileLoader("recipe", str(SOURCES / "fixtures/recipes/make-ntfs-image.py")).load_module()
SIZE = 16 << 20
ROOM = 4 << 20  # bytes of a file whose clusters the stores take


def schema(name):
    return json_schema.of(json.loads((SOURCES / f"docs/schema/{name}.schema.json").read_text()))


SCHEMAS = {name: schema(f"ntfs-{name}")
           for name in ("snapshot", "history", "info", "compare", "journal", "logfile", "locate")}
SCHEMAS["query"] = SCHEMAS["snapshot"]


def run(command, *arguments, status=0):
    done = subprocess.run([COLDTRACE, "ntfs", command, *map(str, arguments)], capture_output=True, timeout=120)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done


def lines_of(command, *arguments, status=0):
    lines = strict_ndjson(run(command, "--format", "ndjson", *arguments, status=status).stdout)
    for line in lines:
        SCHEMAS[command].validate(line)
    assert lines[-1]["type"] == "summary"
    return lines


def info(image, status=0):
    document = strict_json(run("info", "--format", "json", image, status=status).stdout)
    SCHEMAS["info"].validate(document)
    return document


def codes(line):
    return {finding["code"]: finding["count"] for finding in line["findings"]}


def rows(lines, kind="file"):
    """Without what says where they were read."""
    return [{key: value for key, value in line.items() if key != "volume"} for line in lines if line["type"] == kind]


def can_mount():
    return (os.geteuid() == 0 and os.path.exists("/dev/fuse") and shutil.which("ntfs-3g")
            and shutil.which("mkntfs") and shutil.which("fuser"))


def fill(volume):
    # Each cluster of the room says which it is, so that it is found without any reader.
    volume.write("System Volume Information/room",
                 b"".join((b"room %08d" % number).ljust(4096, b".") for number in range(ROOM // 4096)))
    volume.write("a.txt", b"first")
    volume.write("folder/large", b"l" * 300_000)
    volume.write("folder/gone", b"g" * 9000)
    for number in range(200):
        volume.write(f"many/file {number:03}", b"m" * (number * 11))


def first_change(volume):
    (volume.root / "a.txt").rename(volume.root / "b.txt")
    (volume.root / "folder/gone").unlink()
    volume.write("b.txt:stream", b"s" * 20_000)
    for number in range(0, 100, 3):
        (volume.root / f"many/file {number:03}").unlink()


def second_change(volume):
    (volume.root / "b.txt").unlink()
    volume.write("a.txt", b"another file")
    volume.write("folder/large", b"L" * 500_000)
    for number in range(150):
        volume.write(f"new/file {number:03}", b"n" * 2000)


def room_of(image):
    """Blocks that only clusters of the room lie in."""
    return [at for at in range(0, len(image), BLOCK)
            if all(image[at + cluster:at + cluster + 5] == b"room " for cluster in range(0, BLOCK, 4096))]


@unittest.skipUnless(can_mount(), "no FUSE, or not root")
class Copies(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.there = Path(cls.folder.name)
        volume = recipe.Volume(cls.there / "volume", SIZE, 4096, clock="2024-02-29 12:34:56")
        cls.states = []
        for day, change in enumerate((fill, first_change, second_change), 1):
            volume.environment = recipe.environment(f"2024-03-{day:02} 12:34:56")
            with volume:
                change(volume)
            cls.states.append((cls.there / "volume").read_bytes())
        cls.room = room_of(cls.states[-1])
        cls.plain = [cls.there / f"plain{number}" for number in range(3)]
        for path, state in zip(cls.plain, cls.states):
            path.write_bytes(state)
        cls.snapshots = [rows(lines_of("snapshot", "--state", "all", path)) for path in cls.plain]
        cls.shadows = copy_on_write(cls.states, cls.room)
        cls.image = cls.there / "image"
        cls.image.write_bytes(cls.shadows.write())

    def written(self, shadows, **rest):
        return self.write("image", shadows.write(**rest))

    def check_bytes(self, image, number, state, apart=()):
        """By libvshadow each block of the copy is as it was, but what the stores themselves need."""
        if pyvshadow is None:
            self.skipTest("no python3-libvshadow")
        volume = pyvshadow.volume()
        volume.open(str(image))
        read = volume.get_store(number - 1).read_buffer_at_offset(len(state), 0)
        volume.close()
        self.assertEqual(differing(read, state, {0, *self.room, *apart}), [])

    def test_each_copy_is_the_volume_at_its_time(self):
        self.assertGreater(len(self.shadows.stores[0].descriptors), 10, "the lists have several blocks")
        for number in (1, 2):
            with self.subTest(number):
                lines = lines_of("snapshot", "--state", "all", "--shadow", number, self.image)
                self.assertEqual(rows(lines), self.snapshots[number - 1])
                self.assertNotEqual(rows(lines), self.snapshots[2])
                self.assertEqual(lines[0]["partition"]["shadow"]["number"], number)
                self.assertEqual({line["volume"]["shadow"] for line in lines if line["type"] == "file"}, {number})
        live = lines_of("snapshot", "--state", "all", self.image)
        self.assertEqual(rows(live), self.snapshots[2])
        self.assertEqual((live[0]["partition"]["shadow"], live[1]["volume"]["shadow"]), (None, None))

    def test_libvshadow_agrees(self):
        for number in (1, 2):
            self.check_bytes(self.image, number, self.states[number - 1])

    def test_all_and_live_come_in_order(self):
        for asked, numbers in ((["all"], [1, 2]), (["live", "2"], [2, None]), (["2,1"], [1, 2]),
                               (["all,live"], [1, 2, None]), (["002"], [2])):
            with self.subTest(asked):
                options = [word for text in asked for word in ("--shadow", text)]
                lines = lines_of("snapshot", "--state", "all", *options, self.image)
                headers = [line["partition"]["shadow"] for line in lines if line["type"] == "header"]
                self.assertEqual([header and header["number"] for header in headers], numbers)
                self.assertEqual(rows(lines), [row for number in numbers
                                               for row in self.snapshots[number - 1 if number else 2]])
                self.assertEqual(lines[-1]["counts"]["volumes"], len(numbers))

    def test_other_formats_name_the_copy(self):
        table = list(csv.DictReader(io.StringIO(run("snapshot", "--format", "csv", "--shadow", "all,live",
                                                    self.image).stdout.decode())))
        self.assertEqual({row["volume_shadow"] for row in table}, {"1", "2", ""})
        text = run("snapshot", "--format", "bodyfile", "--shadow", "1", self.image).stdout.decode()
        self.assertIn("|/shadow1/a.txt|", text)
        database = self.here / "all.sqlite"
        run("snapshot", "--format", "sqlite", "--shadow", "all,live", self.image, "-o", database)
        with sqlite3.connect(database) as connection:
            self.assertEqual(connection.execute("SELECT shadow FROM volume ORDER BY id").fetchall(),
                             [(1,), (2,), (None,)])

    def test_info_lists_them(self):
        copies = info(self.image)["partitions"][0]["shadow_copies"]
        self.assertEqual(copies["volume_id"], copies["storage_id"])
        self.assertEqual([{key: each[key] for key in ("number", "store_id", "copy_id", "set_id", "volume_size",
                                                      "in_volume", "deleted", "machine", "attributes")}
                          for each in copies["copies"]],
                         [{"number": number, "store_id": str(identifier(1, number)), "copy_id": str(identifier(2, number)),
                           "set_id": str(identifier(3, number)), "volume_size": SIZE, "in_volume": True,
                           "deleted": False, "machine": "MACHINE",
                           "attributes": ["persistent", "client_accessible", "no_auto_release", "no_writers",
                                          "differential"]} for number in (1, 2)])
        created = [each["created"] for each in copies["copies"]]
        text = run("info", self.image).stdout.decode()
        self.assertIn("2 shadow copies:", text)
        for each in created:
            self.assertIn(each, text)
        self.assertIn(f"({SIZE:,} bytes), copy ", text)
        moved = run("info", "--utc-offset", "+05:30", self.image).stdout.decode()
        for each in created:
            time = datetime.fromisoformat(each[:19]) + timedelta(hours=5, minutes=30)
            self.assertIn(f"{time.isoformat()}{each[19:-1]} (UTC+05:30)", moved)
        self.assertEqual(info(self.plain[0])["partitions"][0]["shadow_copies"], None)
        if pyvshadow is None:
            self.skipTest("no python3-libvshadow")
        volume = pyvshadow.volume()
        volume.open(str(self.image))
        stores = [volume.get_store(number) for number in range(volume.number_of_stores)]
        self.assertEqual([(store.identifier, store.copy_identifier, store.copy_set_identifier, store.volume_size)
                          for store in stores],
                         [(each["store_id"], each["copy_id"], each["set_id"], each["volume_size"])
                          for each in copies["copies"]])
        self.assertEqual([store.get_creation_time_as_integer() for store in stores],
                         [START + number * 36_000_000_000 for number in (1, 2)])
        self.assertEqual([text[:19] for text in created],
                         [store.get_creation_time().isoformat()[:19] for store in stores])
        volume.close()

    def test_a_copy_of_a_partition(self):
        offset = 1 << 20
        table = bytearray(offset)
        table[446:462] = struct.pack("<8xII", offset // 512, SIZE // 512)
        table[446 + 4], table[510], table[511] = 7, 0x55, 0xAA
        image = self.write("disk", copy_on_write(self.states, self.room, bytes(table)).write())
        plain = self.write("plain", bytes(table) + self.states[0])
        expected = lines_of("snapshot", plain)
        found = lines_of("snapshot", "--shadow", "1", image)
        self.assertEqual(rows(found), rows(expected))
        self.assertEqual(found[1]["volume"] | {"image": ""}, {"image": "", "partition": 1, "start": offset, "shadow": 1})
        self.assertIn("/partition1/shadow1/a.txt",
                      run("snapshot", "--format", "bodyfile", "--shadow", "1", image).stdout.decode())

    def test_a_copy_of_a_volume_that_does_not_start_where_its_partition_does(self):
        start = 1 << 20
        for shift in (-0x10000, 0x10000):
            with self.subTest(shift=shift):
                table = bytearray(start)
                table[446:462] = struct.pack("<8xII", (start + shift) // 512, (SIZE - shift) // 512)
                table[446 + 4], table[510], table[511] = 7, 0x55, 0xAA
                image = self.write("disk", copy_on_write(self.states, self.room, bytes(table)).write())
                plain = self.write("plain", bytes(table) + self.states[0])
                expected = lines_of("snapshot", "--state", "all", plain, status=1)
                self.assertEqual([row["path"] for row in rows(expected)], [row["path"] for row in self.snapshots[0]])
                found = lines_of("snapshot", "--state", "all", "--shadow", "1", image, status=1)
                self.assertEqual(rows(found), rows(expected))
                self.assertEqual(found[1]["volume"] | {"image": ""},
                                 {"image": "", "partition": 1, "start": start, "shadow": 1})
                self.assertEqual(codes(found[-1]), {"boot-sector": 1})
                copies = info(image, status=1)["partitions"][0]["shadow_copies"]
                self.assertEqual([copy["number"] for copy in copies["copies"]], [1, 2])
                self.assertEqual(lines_of("history", image, "/many/file 003", status=1)[1]["shadows"], [1])

    def test_query_journal_logfile_and_locate_read_it_too(self):
        asked = "--where", "path like \"/many/*\""
        self.assertEqual(rows(lines_of("query", *asked, "--shadow", "1", self.image)),
                         rows(lines_of("query", *asked, self.plain[0])))
        found = lines_of("query", "--where", "partition.shadow == 2 and name == \"b.txt\"", "--shadow", "all,live",
                         self.image)
        self.assertEqual([line["volume"]["shadow"] for line in found if line["type"] == "file"], [2])
        snapshot = self.here / "all.ndjson"
        run("snapshot", "--shadow", "all,live", self.image, "-o", snapshot)
        again = lines_of("query", "--where", "partition.shadow == 2 and name == \"b.txt\"", snapshot)
        self.assertEqual(rows(again), rows(found))
        self.assertIn("/shadow2/b.txt", run("query", "--where", "name == \"b.txt\"", "--format", "text", "--shadow", "2",
                                            self.image).stdout.decode())
        log = lines_of("logfile", "--shadow", "1", self.image)
        self.assertEqual(log[0]["partition"]["shadow"]["number"], 1)
        self.assertEqual(log[1:], lines_of("logfile", self.plain[0])[1:])
        self.assertIn(b"none of its volumes has a change journal", run("journal", "--shadow", "1", self.image, status=2).stderr)
        place = next(row for row in self.snapshots[0] if row["path"] == "/folder/gone")["streams"][0]["extents"][0]["offset"]
        answers = [line for line in lines_of("locate", "--shadow", "all,live", self.image, place) if line["type"] == "place"]
        alone = [line for path in self.plain for line in lines_of("locate", path, place) if line["type"] == "place"]
        self.assertEqual([line["volume"]["shadow"] for line in answers], [1, 2, None])
        self.assertEqual(rows(answers, "place"), rows(alone, "place"))
        self.assertEqual(answers[0]["owners"][0]["path"], "/folder/gone")
        self.assertIn(", shadow copy 1", run("locate", "--shadow", "1", self.image, place).stdout.decode())

    def test_compare_of_two_copies(self):
        def of(lines):
            return [{key: value for key, value in line.items() if key != "volume"} for line in lines
                    if line["type"] == "file"]
        for options, before, after in ((["--before-shadow", 1, "--after-shadow", 2], 0, 1), (["--before-shadow", 2], 1, 2),
                                       (["--after-shadow", 1], 2, 0)):
            with self.subTest(options):
                lines = lines_of("compare", *options, self.image, self.image, status=1)
                self.assertEqual(of(lines), of(lines_of("compare", self.plain[before], self.plain[after], status=1)))
        self.assertEqual((lines[0]["before"]["volume"]["shadow"], lines[0]["after"]["volume"]["shadow"]), (None, 1))
        snapshot = self.here / "two.ndjson"
        run("snapshot", "--shadow", "all", self.image, "-o", snapshot)
        lines_of("compare", snapshot, snapshot, status=0)
        self.assertIn(b"it is a snapshot", run("compare", "--before-shadow", 1, snapshot, self.image, status=2).stderr)
        for text in ("0", "all", "live", "x"):
            self.assertIn(f"'{text}' is not the number of a shadow copy (1 or higher)".encode(),
                          run("compare", "--before-shadow", text, self.image, self.image, status=2).stderr)

    def test_compare_of_several_views_takes_each_once(self):
        three = self.here / "three.ndjson"
        run("snapshot", "--shadow", "all,live", self.image, "-o", three)

        def views(lines):
            return [(line["before"]["volume"]["shadow"], line["after"]["volume"]["shadow"])
                    for line in lines if line["type"] == "header"]

        for pair in (self.image, three), (three, self.image):
            lines = lines_of("compare", *pair, status=1)
            self.assertEqual((views(lines), codes(lines[-1]), lines[-1]["same"]),
                             ([(None, None)], {"volume-unmatched": 2}, True))
            self.assertEqual(lines[-1]["counts"]["files"], lines[-1]["counts"]["files_before"])
            done = run("compare", *pair, status=1)
            self.assertEqual(done.stdout.decode().splitlines()[0], f"{pair[0].name} live -> {pair[1].name} live")
            self.assertIn(b"three.ndjson shadow copy 1, which starts at 0x0, has no counterpart in image", done.stderr)
        for shadow in 1, 2:
            lines = lines_of("compare", "--before-shadow", shadow, self.image, three, status=1)
            self.assertEqual((views(lines), codes(lines[-1]), lines[-1]["same"]),
                             ([(shadow, shadow)], {"volume-unmatched": 2}, True))
        self.assertEqual(views(lines_of("compare", three, three)), [(1, 1), (2, 2), (None, None)])
        # No view is in both.
        copies = self.here / "copies.ndjson"
        run("snapshot", "--shadow", "all", self.image, "-o", copies)
        self.assertIn(b"no volume in the same place", run("compare", self.image, copies, status=2).stderr)
        # One view of the volume in each: they are compared whatever they are.
        one = self.here / "one.ndjson"
        run("snapshot", "--shadow", "2", self.image, "-o", one)
        self.assertEqual(views(lines_of("compare", one, self.image, status=1)), [(2, None)])
        self.assertEqual(run("compare", one, self.image, status=1).stdout.decode().splitlines()[0],
                         "one.ndjson shadow copy 2 -> image live")

    def test_history_of_a_file_under_all_its_names(self):
        for asked in ("/a.txt", "A.TXT", "\\a.txt"):
            with self.subTest(asked):
                lines = lines_of("history", self.image, asked)
                versions = [line for line in lines if line["type"] == "version"]
                first = next(row for row in self.snapshots[0] if row["path"] == "/a.txt")
                found = [(line["file"]["path"], line["file"]["state"], line["shadows"], line["live"],
                          line["absent_shadows"], line["absent_live"]) for line in versions
                         if (line["record"], line["sequence"]) == (first["record"], first["sequence"])]
                self.assertEqual(found[:2], [("/a.txt", "live", [1], False, [], found[0][5]),
                                             ("/b.txt", "live", [2], False, [], found[0][5])])
                other = [line for line in versions if line["live"] and line["file"]["state"] == "live"]
                self.assertEqual([(line["file"]["path"], line["shadows"], line["absent_shadows"]) for line in other],
                                 [("/a.txt", [], [1, 2])])
                # Each version is the row that the plain image of its time has.
                for line in versions:
                    for view in [number - 1 for number in line["shadows"]] + [2] * line["live"]:
                        same = [row for row in self.snapshots[view]
                                if all(row.get(key) == value for key, value in line["file"].items())]
                        self.assertEqual(len(same), 1)

    def test_equal_versions_are_one(self):
        lines = lines_of("history", self.image, "/System Volume Information/room", "/many/file 001")
        versions = [line for line in lines if line["type"] == "version"]
        self.assertEqual(sorted((line["file"]["path"], line["shadows"], line["live"], line["absent_shadows"],
                                 line["absent_live"]) for line in versions),
                         [("/System Volume Information/room", [1, 2], True, [], False),
                          ("/many/file 001", [1, 2], True, [], False)])
        self.assertEqual(lines[-1]["counts"], {"files": 2, "versions": 2})
        self.assertEqual([view["partition"]["shadow"] and view["partition"]["shadow"]["number"]
                          for view in lines[0]["views"]], [1, 2, None])
        document = strict_json(run("history", "--format", "json", self.image, "/many/file 001",
                                   "/System Volume Information/room").stdout)
        self.assertEqual(sorted(json.dumps(line) for line in document[1:-1]),
                         sorted(json.dumps(line) for line in versions))
        text = run("history", self.image, "/many/file 001").stdout.decode()
        self.assertTrue(text.startswith("times (UTC)\nshadow copy 1: "), text)
        text_of_zone = run("history", "--utc-offset", "+05:30", self.image, "/many/file 001").stdout.decode()
        self.assertTrue(text_of_zone.startswith("times (UTC+05:30)\nshadow copy 1: "), text_of_zone)
        self.assertIn("  in 1, 2, live: /many/file 001\n", text)
        size = next(line["file"]["size"] for line in versions if line["file"]["path"] == "/many/file 001")
        self.assertIn(f"\n      {size} bytes, ", text)
        human = run("history", "--human", self.image, "/System Volume Information/room").stdout.decode()
        room = next(line["file"]["size"] for line in versions if line["file"]["path"].endswith("/room"))
        self.assertGreater(room, 1 << 20)
        self.assertIn(f"\n      {room / (1 << 20):.1f} MiB, ", human)
        run("history", "--human", "--format", "json", self.image, "/many/file 001", status=2)
        text = run("history", self.image, "/many/file 003", "/new/file 001").stdout.decode()
        self.assertIn("  in 1: /many/file 003\n", text)
        self.assertIn("  not in 1, 2\n", text)

    def test_history_of_a_file_whose_record_is_damaged_in_a_view(self):
        row = next(row for row in self.snapshots[0] if row["path"] == "/many/file 001")
        for damaged, there in ((2, ([1, 2], False)), (0, ([2], True)), (1, ([1], True))):
            with self.subTest(damaged):
                states = list(map(bytearray, self.states))
                at = row["record_offset"]
                self.assertEqual((states[damaged][at:at + 4], struct.unpack_from("<I", states[damaged], at + 0x2c)),
                                 (b"FILE", (row["record"],)))
                states[damaged][at:at + 4] = b"JUNK"
                image = self.write("image", copy_on_write(list(map(bytes, states)), self.room).write())
                snapshot = self.here / "snapshot.ndjson"
                run("snapshot", "-q", "--shadow", "all,live", "--state", "all", image, "-o", snapshot, status=1)
                for source in image, snapshot:
                    line, = (line for line in lines_of("history", source, "/many/file 001", status=1)
                             if line["type"] == "version")
                    self.assertEqual((line["shadows"], line["live"]), there)
                    self.assertEqual((line["absent_shadows"], line["absent_live"]), ([], False))
                    text = run("history", source, "/many/file 001", status=1).stdout.decode()
                    self.assertNotIn("not in", text)

    def test_history_of_what_is_nowhere(self):
        done = run("history", self.image, "/a.txt", "/never", status=1)
        self.assertIn(b"/never: no file had such a path at any time", done.stderr)
        self.assertEqual(codes(lines_of("history", self.plain[0], "/never", status=1)[-1]), {"no-match": 1})
        self.assertEqual([line["live"] for line in lines_of("history", self.plain[0], "/a.txt")
                          if line["type"] == "version"], [True])

    def test_there_is_no_such_copy(self):
        self.assertIn(b"none of its volumes has shadow copies", run("snapshot", "--shadow", "1", self.plain[0], status=2).stderr)
        self.assertIn(b"their numbers are 1 to 2", run("snapshot", "--shadow", "3", self.image, status=2).stderr)
        self.assertIn("no-match", codes(lines_of("snapshot", "--shadow", "1,3", self.image, status=1)[-1]))
        absent, = lines_of("snapshot", "--shadow", "1,007", self.image, status=1)[-1]["findings"]
        self.assertIn("--shadow: there is no shadow copy 7: their numbers are 1 to 2", absent["text"])
        for text in ("0", "x", "-1", ""):
            run("snapshot", "--shadow", text, self.image, status=2)
        lines = self.here / "lines.ndjson"
        run("snapshot", self.image, "-o", lines)
        self.assertIn(b"--shadow", run("query", "--shadow", "1", lines, status=2).stderr)

    def test_blocks_that_moved(self):
        """The old content of blocks went to others, which the second store then keeps."""
        first, second, last = self.states
        shadows = Shadows(last, self.room)
        one, two = Store(1, SIZE), Store(2, SIZE)
        shadows.stores = [one, two]
        apart = {0, *self.room}
        changed = differing(first, second, apart)
        self.assertGreater(len(changed), 6)
        for index, at in enumerate(changed):
            content = first[at:at + BLOCK]
            if index % 3 == 0:  # moved, and where it went it still is
                target = shadows.keep(content)
                one.descriptors.append(descriptor(at, target, 0, FORWARDER))
            elif index % 3 == 1:  # moved, and then overwritten there before the second copy
                target = shadows.keep(b"overwritten".ljust(BLOCK, b"!"))
                one.descriptors += [descriptor(at, target, 0, FORWARDER), descriptor(target, 0, shadows.keep(content))]
            else:  # moved, and overwritten after the second copy, which kept it
                target = shadows.keep(b"overwritten".ljust(BLOCK, b"?"))
                one.descriptors.append(descriptor(at, target, 0, FORWARDER))
                two.descriptors.append(descriptor(target, 0, shadows.keep(content)))
        for at in differing(second, last, apart):
            two.descriptors.append(descriptor(at, 0, shadows.keep(second[at:at + BLOCK])))
        image = self.written(shadows)
        for number in (1, 2):
            self.assertEqual(rows(lines_of("snapshot", "--state", "all", "--shadow", number, image)),
                             self.snapshots[number - 1])
        for number in (1, 2):
            self.check_bytes(image, number, self.states[number - 1])

    def test_a_block_that_moved_back_is_where_it_was(self):
        shadows = copy_on_write(self.states, self.room)
        same = next(at for at in range(BLOCK, SIZE, BLOCK) if b"FILE" in self.states[2][at:at + BLOCK] and
                    all(state[at:at + BLOCK] == self.states[2][at:at + BLOCK] for state in self.states))
        target = shadows.keep(bytes(BLOCK))
        shadows.stores[1].descriptors += [descriptor(same, target, 0, FORWARDER), descriptor(target, same, 0, FORWARDER)]
        image = self.written(shadows)
        self.assertEqual(rows(lines_of("snapshot", "--state", "all", "--shadow", "2", image)), self.snapshots[1])

    def test_overlays_are_of_their_copy_alone(self):
        shadows = copy_on_write(self.states, self.room)
        second = shadows.stores[1]
        changed = differing(self.states[1], self.states[2], {0, *self.room})
        garbage = random.Random(3).randbytes(BLOCK)
        second.descriptors = []
        for index, at in enumerate(changed):
            before, now = self.states[1][at:at + BLOCK], self.states[2][at:at + BLOCK]
            sectors = [n for n in range(32) if before[n * SECTOR:][:SECTOR] != now[n * SECTOR:][:SECTOR]]
            bits = sum(1 << n for n in sectors)
            part = bytearray(garbage)
            for n in sectors:
                part[n * SECTOR:(n + 1) * SECTOR] = before[n * SECTOR:(n + 1) * SECTOR]
            second.descriptors.append(descriptor(at, 1, shadows.keep(bytes(part)), OVERLAY, bits))
        # The first copy looks through the second, whose overlays are not of it.
        shadows.stores = [Store(1, SIZE), second]
        image = self.written(shadows)
        self.assertEqual(rows(lines_of("snapshot", "--state", "all", "--shadow", "2", image)), self.snapshots[1])
        self.assertEqual(rows(lines_of("snapshot", "--state", "all", "--shadow", "1", image)), self.snapshots[2])
        self.check_bytes(image, 2, self.states[1])

    def test_descriptors_that_are_not_used_any_more(self):
        shadows = copy_on_write(self.states, self.room)
        for store in shadows.stores:
            at = int.from_bytes(store.descriptors[0][:8], "little")
            store.descriptors.append(descriptor(at, 0, self.room[0], UNUSED))
        image = self.written(shadows)
        for number in (1, 2):
            self.assertEqual(rows(lines_of("snapshot", "--state", "all", "--shadow", number, image)),
                             self.snapshots[number - 1])
            self.check_bytes(image, number, self.states[number - 1])

    def test_what_was_not_in_use_is_zeros_only_where_the_copy_says_so(self):
        # A block of FILE records that no store has, and a bitmap that says it was not in use.
        same = next(at for at in range(BLOCK, SIZE, BLOCK) if at not in self.room
                    and self.states[1][at:at + BLOCK] == self.states[2][at:at + BLOCK]
                    and all(self.states[2][place:place + 4] == b"FILE" for place in range(at, at + BLOCK, 1024)))
        bits = bytearray(SIZE // BLOCK // 8)
        bits[same // BLOCK // 8] |= 1 << same // BLOCK % 8
        records = {row["record"] for row in self.snapshots[1] if same <= (row["record_offset"] or 0) < same + BLOCK}
        self.assertTrue(records)
        for flags, previous, zero in ((0x40, None, False), (0x440, None, True), (0x440, bytes(len(bits)), False),
                                      (0x440, bytes(bits), True)):
            with self.subTest(flags=flags, previous=previous):
                shadows = copy_on_write(self.states, self.room)
                shadows.stores[1].flags, shadows.stores[1].unused = flags, bytes(bits)
                shadows.stores[1].previous = previous
                image = self.written(shadows)
                done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "all", "--shadow", "2", image],
                                      capture_output=True, timeout=60)
                found = rows(strict_ndjson(done.stdout))
                self.assertEqual({row["record"] for row in found if row["record_offset"]} >= records, not zero)
                if not zero:
                    self.assertEqual(found, self.snapshots[1])

    def test_entries_of_the_catalog_may_stand_anywhere(self):
        shadows = copy_on_write(self.states, self.room)
        shadows.scattered = True
        image = self.written(shadows)
        for number in (1, 2):
            self.assertEqual(rows(lines_of("snapshot", "--state", "all", "--shadow", number, image)),
                             self.snapshots[number - 1])

    def test_stores_on_another_volume(self):
        shadows = copy_on_write(self.states, self.room)
        shadows.storage = identifier(9, 9)
        for store in shadows.stores:
            store.in_volume = False
        image = self.written(shadows)
        copies = info(image)["partitions"][0]["shadow_copies"]
        self.assertEqual([each["in_volume"] for each in copies["copies"]], [False, False])
        self.assertEqual(copies["storage_id"], str(identifier(9, 9)))
        message = run("snapshot", "--shadow", "1", image, status=2).stderr.decode()
        self.assertIn(f"is on another volume, which has the id {identifier(9, 9)}", message)
        self.assertIn(f"{{{identifier(1, 1)}}}{{3808876b-c176-4e48-b7ae-04046e6cc752}}", message)
        self.assertIn("store 00000000-0000-0001-0000-000000000001 on another volume", run("info", image).stdout.decode())
        lines = lines_of("snapshot", "--shadow", "all,live", image, status=1)
        self.assertEqual((rows(lines), codes(lines[-1])), (rows(lines_of("snapshot", self.plain[2])), {"volume-unopened": 2}))

    def test_stores_of_copies_of_another_volume(self):
        """As Windows writes them: the entry of a store follows that of its copy, but here there is none to follow."""
        shadows = copy_on_write(self.states, self.room)
        for number in 7, 8:
            shadows.stores.append(copy.copy(shadows.stores[1]))
            shadows.stores[-1].number, shadows.stores[-1].listed = number, False
        image = self.written(shadows)
        document = info(image)
        self.assertEqual(codes(document), {"shadow-other": 2})
        self.assertEqual([each["store_id"] for each in document["partitions"][0]["shadow_copies"]["copies"]],
                         [str(identifier(1, 1)), str(identifier(1, 2))])
        for number in (1, 2):
            self.assertEqual(rows(lines_of("snapshot", "--state", "all", "--shadow", number, image)),
                             self.snapshots[number - 1])
        # A volume may have no copies of its own.
        shadows = copy_on_write(self.states, self.room)
        for store in shadows.stores:
            store.listed = False
        for shadows.unused_first in False, True:
            document = info(self.written(copy.deepcopy(shadows)))
            self.assertEqual((codes(document), document["partitions"][0]["shadow_copies"]["copies"]),
                             ({"shadow-other": 2}, []))

    def test_a_deleted_copy_and_a_larger_volume(self):
        shadows = copy_on_write(self.states, self.room)
        shadows.stores[0].flags = 0x140
        shadows.stores[0].size = SIZE + (1 << 20)
        image = self.written(shadows)
        self.assertEqual([each["deleted"] for each in info(image)["partitions"][0]["shadow_copies"]["copies"]], [True, False])
        self.assertIn(", deleted", run("info", image).stdout.decode())
        lines = lines_of("snapshot", "--state", "all", "--shadow", "1", image)
        self.assertEqual((rows(lines), codes(lines[-1])["shadow-size"]), (self.snapshots[0], 1))

    def damaged(self, *edits, shadows=None):
        shadows = shadows or copy_on_write(self.states, self.room)
        data = bytearray(shadows.write())
        for edit in edits:
            edit(shadows, data)
        return self.write("damaged", bytes(data))

    def test_damage_of_each_part_is_told(self):
        def put(place, at, value):
            def edit(shadows, data):
                base = shadows.catalog if place == "catalog" else shadows.stores[1].places[place]
                data[base + at:base + at + len(value)] = value
            return edit

        def number(value):
            return value.to_bytes(8, "little")
        far = number(1 << 60)
        for edit, code, said in ((put("list", 0, b"\0"), "shadow-list", "is damaged"),
                                 (put("list", 20, b"\7"), "shadow-list", "is damaged"),
                                 (put("list", 32, number(7)), "shadow-list", "is damaged"),
                                 (put("list", 40, far), "shadow-list", "out of bounds"),
                                 (put("list", 128, far), "shadow-block", "cannot be where"),
                                 (put("list", 128 + 16, far), "shadow-block", "cannot be where"),
                                 (put("list", 128 + 24, b"\3"), "shadow-block", "cannot be where"),
                                 (put("list", 128 + 24, b"\0\1"), "shadow-block", "cannot be where"),
                                 (put("catalog", 40, number(1)), "shadow-catalog", "is damaged"),
                                 (put("catalog", 128, b"\x09"), "shadow-catalog", "has the unknown type 9"),
                                 (put("header", 128 + 64, b"\xff\xff"), "shadow-store", "OperatingMachine"),
                                 (put("header", 0, b"\0"), "shadow-store", "cannot be read")):
            with self.subTest(code=code, said=said):
                image = self.damaged(edit)
                lines = lines_of("snapshot", "--shadow", "all,live", image, status=1)
                finding = next(each for each in lines[-1]["findings"] if each["code"] == code)
                self.assertIn(said, finding["text"])
                self.assertIsNotNone(finding["first_offset"])

    def test_loops_end(self):
        def loop(place, back):
            def edit(shadows, data):
                base = shadows.catalog if place == "catalog" else shadows.stores[1].places[place]
                data[base + 40:base + 48] = back(shadows, base).to_bytes(8, "little")
            return edit
        for place in ("list", "catalog"):
            lines = lines_of("snapshot", "--shadow", "all", self.damaged(loop(place, lambda _, base: base)), status=1)
            self.assertIn(f"shadow-{place}", codes(lines[-1]))
        # Two stores that share a list.
        image = self.damaged(loop("list", lambda shadows, _: shadows.stores[0].places["list"]))
        self.assertIn("shadow-list", codes(lines_of("snapshot", "--shadow", "1", image, status=1)[-1]))
        shadows = copy_on_write(self.states, self.room)
        shadows.stores[1].flags, shadows.stores[1].unused = 0x440, bytes(SIZE // BLOCK // 8)

        def bitmap(shadows, data):
            base = shadows.stores[1].places["bitmap"]
            data[base + 40:base + 48] = base.to_bytes(8, "little")
        lines = lines_of("snapshot", "--shadow", "2", self.damaged(bitmap, shadows=shadows), status=1)
        self.assertIn("shadow-bitmap", codes(lines[-1]))

    def test_an_entry_without_its_other_half(self):
        shadows = copy_on_write(self.states, self.room)
        shadows.stores[0].in_volume = False
        image = self.written(shadows)
        document = info(image, status=1)
        self.assertEqual(codes(document), {"shadow-store": 1})
        # It is in this volume all the same, and no other is named.
        self.assertEqual([(each["in_volume"], each["copy_id"] is None)
                          for each in document["partitions"][0]["shadow_copies"]["copies"]], [(True, True), (True, False)])
        text = run("info", image, status=1).stdout.decode()
        self.assertIn("store 00000000-0000-0001-0000-000000000001 in this volume, at a location that the catalog does not give", text)
        self.assertNotIn("another volume", text)
        message = run("snapshot", "--shadow", "1", image, status=2).stderr.decode()
        self.assertIn(f"shadow copy 1: the catalog of shadow copies does not say where its store {identifier(1, 1)} is",
                      message)
        self.assertNotIn("another volume", message)
        shadows = copy_on_write(self.states, self.room)
        shadows.stores.append(copy.copy(shadows.stores[1]))
        self.assertIn("shadow-catalog", codes(info(self.written(shadows), status=1)))

        # The store behind the first copy is another's.
        def edit(shadows, data):
            at = shadows.catalog + 128 + 256 + 16
            self.assertEqual(data[at:at + 16], identifier(1, 1).bytes_le)
            data[at:at + 16] = identifier(1, 9).bytes_le
        document = info(self.damaged(edit), status=1)
        self.assertEqual(codes(document), {"shadow-catalog": 1, "shadow-store": 1})
        self.assertIn(f"has the store {identifier(1, 9)} and no entry that says what it is",
                      {each["code"]: each["text"] for each in document["findings"]}["shadow-catalog"])
        self.assertEqual([(each["number"], each["store_id"]) for each in document["partitions"][0]["shadow_copies"]["copies"]],
                         [(1, str(identifier(1, 1))), (2, str(identifier(1, 2)))])

    def test_versions_and_types_that_are_not_known_are_told_and_read(self):
        def put(place, at, value):
            def edit(shadows, data):
                base = {"start": HEADER, "catalog": shadows.catalog}.get(place) or shadows.stores[1].places[place]
                data[base + at:base + at + len(value)] = value
            return edit

        # Behind an unused entry: a copy and its store.
        copy_type, store_type = 128 + 128, 128 + 256
        for edit, code, said in ((put("start", 16, b"\3"), "shadow-catalog", "the unknown version 3"),
                                 (put("start", 16, b"\0"), "shadow-catalog", "the unknown version 0"),
                                 (put("catalog", 16, b"\2"), "shadow-catalog", "the unknown version 2"),
                                 (put("header", 16, b"\2"), "shadow-store", "the unknown version 2"),
                                 (put("list", 16, b"\2"), "shadow-list", "the unknown version 2"),
                                 (put("catalog", copy_type + 5, b"\1"), "shadow-catalog", "unknown bits: 0x10000000002"),
                                 (put("catalog", store_type + 4, b"\1"), "shadow-catalog", "unknown bits: 0x100000003")):
            with self.subTest(code=code, said=said):
                lines = lines_of("snapshot", "--state", "all", "--shadow", "2", self.damaged(edit), status=1)
                self.assertEqual(codes(lines[-1]).get(code), 1)
                finding = next(each for each in lines[-1]["findings"] if each["code"] == code)
                self.assertIn(said, finding["text"])
                self.assertEqual(rows(lines), self.snapshots[1])
        # Version 2 is of Windows 8, and the byte behind the type of a copy its priority.
        for edit in put("start", 16, b"\2"), put("catalog", copy_type + 4, b"\7"):
            self.assertEqual(rows(lines_of("snapshot", "--state", "all", "--shadow", "2", self.damaged(edit))),
                             self.snapshots[1])

    def test_any_damage_ends_well(self):
        chance = random.Random(7)
        shadows = copy_on_write(self.states, self.room)
        shadows.stores[1].flags, shadows.stores[1].unused = 0x440, bytes(SIZE // BLOCK // 8)
        data = shadows.write()
        places = [HEADER, shadows.catalog, *(place for store in shadows.stores for place in store.places.values() if place)]
        path = self.here / "any"
        for _ in range(60):
            damaged = bytearray(data)
            for _ in range(chance.randrange(1, 5)):
                at = chance.choice(places) + chance.randrange(400)
                damaged[at] = chance.choice((0, 1, 0xFF, chance.randrange(256)))
            path.write_bytes(damaged)
            for command in (["info"], ["snapshot", "--shadow", "all,live", "-o", "/dev/null"]):
                done = subprocess.run([COLDTRACE, "ntfs", *command, path], capture_output=True, timeout=60)
                self.assertIn(done.returncode, (0, 1, 2), done.stderr)


@unittest.skipUnless(can_mount(), "no FUSE, or not root")
class Many(Case):
    def test_a_history_of_too_much_is_cut(self):
        volume = recipe.Volume(self.here / "volume", 64 << 20, 4096)
        with volume:
            (volume.root / "d").mkdir()
            for number in range(10_001):
                (volume.root / f"d/{number}").touch()
        lines = lines_of("history", self.here / "volume", "/d/*", status=1)
        self.assertEqual((codes(lines[-1])["history-limit"], lines[-1]["counts"]["versions"]), (1, 10_000))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
