"""'ntfs locate' against bytes that say themselves whose they are, and against other readers.

usage: locate.py COLDTRACE SOURCES SHARED [unittest arguments]
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case, installed  # noqa: E402
from sample_volumes import sample_volume  # noqa: E402
from strict import strict_json, strict_ndjson  # noqa: E402

COLDTRACE, SOURCES, SHARED = (Path(argument).resolve() for argument in sys.argv[1:4])
SCHEMA = json_schema.of(
    json.loads((SOURCES / "docs/schema/ntfs-locate.schema.json").read_text()))
recipe = SourceFileLoader("recipe", str(SOURCES / "fixtures/recipes/make-ntfs-image.py")).load_module()
CLUSTER = 4096
PLACED = re.compile(rb"<(\d{2}) (\d{11})>")  # 16 bytes that say which file's and where in it


def locate(*arguments, given=None, status=0):
    done = subprocess.run([COLDTRACE, "ntfs", "locate", *map(str, arguments)], capture_output=True,
                          timeout=120, input=given)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done


def places(*arguments, **rest):
    lines = strict_ndjson(locate("--format", "ndjson", *arguments, **rest).stdout)
    for line in (*lines[:200], lines[-1]):
        SCHEMA.validate(line)
    assert (lines[0]["type"], lines[-1]["type"], lines[-1]["complete"]) == ("header", "summary", True)
    assert lines[-1]["counts"]["places"] == len(lines) - 2
    return lines[1:-1]


def can_mount():
    return (os.geteuid() == 0 and os.path.exists("/dev/fuse") and shutil.which("ntfs-3g")
            and shutil.which("mkntfs") and shutil.which("fuser"))


def marked(number, size):
    return b"".join(b"<%02d %011d>" % (number, at) for at in range(0, size, 16))[:size]


FILES = {1: ("a/large", 70000), 2: ("a/small", 320), 3: ("gone/large", 9000), 4: ("gone/small", 256),
         5: ("stream", 64), 6: ("stream:other", 30000), 7: ("pieces", 12 * CLUSTER), 8: ("stays", 5000)}

LINKS = ("/a/large", "/a/second name")  # in an order of ntfs-3g's own


def make(path):
    volume = recipe.Volume(path, 16 << 20, CLUSTER)
    with volume:
        for number, (name, size) in FILES.items():
            if number != 7:
                volume.write(name, marked(number, size))
        os.link(volume.root / "a/large", volume.root / "a/second name")
        with open(volume.write("pieces"), "ab", 0) as one, open(volume.write("between"), "ab", 0) as two:
            content = marked(7, FILES[7][1])
            for at in range(0, len(content), CLUSTER):
                one.write(content[at:at + CLUSTER])
                two.write(bytes(CLUSTER))
        for number in range(200):
            volume.write(f"many/a name that fills an index {number}")
        (volume.root / "packed").mkdir()
        volume.attribute("packed", "ntfs_attrib", struct.pack("<I", 0x800))
        volume.write("packed/text", b"all work and no play " * 9000)
    with volume:
        shutil.rmtree(volume.root / "gone")
    return Path(path)


def on_a_disk(*volumes):
    """An MBR with the volumes as partitions, and a sector between that is nobody's."""
    disk = bytearray(64 * 512)
    for number, (kind, volume) in enumerate(volumes):
        first = len(disk) // 512
        struct.pack_into("<B3xB3xII", disk, 446 + 16 * number, 0, kind, first, len(volume) // 512)
        disk += volume + bytes(512)
    disk[510:512] = b"\x55\xaa"
    return bytes(disk)


@unittest.skipUnless(can_mount(), "no FUSE, or not root")
class Made(Case):
    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.volume = make(Path(cls.folder.name) / "volume")
        cls.content = cls.volume.read_bytes()

    def test_marked_bytes_are_where_they_say(self):
        marks = list(PLACED.finditer(self.content))
        rows = places(self.volume, "--places", "-", given="\n".join(
            f"{mark.start() + 5:#x}" for mark in marks).encode())
        seen, passed = set(), 0
        for mark, row in zip(marks, rows, strict=True):
            number, position = int(mark[1]), int(mark[2]) + 5
            path, _, stream = ("/" + FILES[number][0]).partition(":")
            self.assertEqual(row["offset"], mark.start() + 5)
            if row["mft_record"]:
                self.assertEqual(row["holds"], "mft")
                # A record that was used again has remains behind its end.
                if row["mft_record"]["part"] in ("unused", "fixup"):
                    passed += 1
                    continue
                owner = row["mft_record"]["owner"]
                self.assertEqual((row["mft_record"]["part"], owner["type"]), ("value", "$DATA"))
            else:
                self.assertTrue(row["owners"], row)
                owner = row["owners"][0]
                gone = path.startswith("/gone")
                self.assertEqual((row["holds"], row["allocated"]), ("deleted", False) if gone else ("file", True))
            if number == 1:
                self.assertIn(owner["path"], LINKS)
                path = owner["path"]
            self.assertEqual((owner["path"], owner["stream"] or "", owner["position"], owner["size"]),
                             (path, stream, position, FILES[number][1]))
            self.assertEqual(owner["state"], "deleted" if path.startswith("/gone") else "live")
            self.assertEqual(owner["links"], 2 if number == 1 else 1)
            seen.add(number)
        self.assertEqual(seen, set(FILES))
        self.assertLess(passed, 40)

    def test_every_cluster_against_the_extents_of_the_snapshot_and_the_bitmap(self):
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "all", self.volume],
                              capture_output=True, check=True)
        owners = {}
        for row in strict_ndjson(done.stdout):
            if row["type"] != "file" or row["state"] in ("stale", "slack"):
                continue
            for stream in row["streams"] + row["other_streams"]:
                for extent in stream.get("extents", []):
                    for at in range(extent["clusters"] if extent["lcn"] is not None else 0):
                        owners.setdefault(extent["lcn"] + at, set()).add(
                            (row["record"], row["sequence"], stream["name"], stream["size"]))
        bitmap = subprocess.run(["icat", self.volume, "6"], capture_output=True, check=True).stdout \
            if installed(self, "icat") else None
        count = (len(self.content) - 512) // CLUSTER
        rows = places("--clusters", "--places", "-", self.volume, given="\n".join(map(str, range(count))).encode())
        self.assertEqual(len(rows), count)
        for row in rows:
            cluster = row["cluster"]
            self.assertEqual({(o["record"], o["sequence"], o["stream"], o["size"]) for o in row["owners"]},
                             owners.get(cluster, set()), row)
            if bitmap:
                self.assertEqual(row["allocated"], bool(bitmap[cluster // 8] >> cluster % 8 & 1), row)
        held = {row["holds"] for row in rows}
        self.assertEqual(held, {"file", "index", "system", "log", "mft", "deleted", "free"})

    def test_slack_index_and_what_was_never_written(self):
        end = self.content.index(b"<08 00000004976>") + 24
        index = self.content.index("a name that fills an index 77".encode("utf-16le"), 0)
        rows = places(self.volume, end - 1, end, end + 8, hex(index))
        self.assertEqual([row["holds"] for row in rows][:3], ["file", "slack", "slack"])
        owner = rows[2]["owners"][0]
        self.assertEqual((owner["path"], owner["part"], owner["position"], owner["size"]),
                         ("/stays", "slack", 5008, 5000))
        listing = [row for row in places(self.volume, *[
            hex(found.start()) for found in re.finditer("index 77".encode("utf-16le"), self.content)])
            if row["holds"] == "index"]
        self.assertTrue(listing)
        for row in listing:
            self.assertEqual((row["owners"][0]["path"], row["owners"][0]["type"], row["owners"][0]["stream"]),
                             ("/many", "$INDEX_ALLOCATION", "$I30"))
        snapshot = strict_ndjson(subprocess.run([COLDTRACE, "ntfs", "snapshot", self.volume],
                                                capture_output=True, check=True).stdout)
        by_path = {row["path"]: row["streams"][0] for row in snapshot if row["type"] == "file" and row["streams"]}
        packed = by_path["/packed/text"]
        row, = places(self.volume, packed["extents"][0]["offset"])
        self.assertEqual((row["owners"][0]["part"], row["owners"][0]["position"]), ("compressed", None))

    def test_what_was_never_written_reads_as_zeros(self):
        mark = self.content.index(b"<08 00000000000>")
        row, = places(self.volume, mark)
        record = next(place["offset"] for place in places(self.volume, *[
            hex(found.start()) for found in re.finditer(b"FILE", self.content)])
            if place["mft_record"] and place["mft_record"]["at"] == 0
            and place["mft_record"]["record"] == row["owners"][0]["record"])
        at = record + struct.unpack_from("<H", self.content, record + 20)[0]
        while struct.unpack_from("<I", self.content, at)[0] != 0x80:
            at += struct.unpack_from("<I", self.content, at + 4)[0]
        changed = bytearray(self.content)
        self.assertEqual(struct.unpack_from("<QQ", changed, at + 0x30), (5000, 5000))
        struct.pack_into("<Q", changed, at + 0x38, 100)
        rows = places(self.write("changed", changed), mark + 99, mark + 100, mark + 4999, mark + 5000)
        self.assertEqual([row["owners"][0]["part"] for row in rows],
                         ["content", "not_valid", "not_valid", "slack"])
        self.assertEqual([row["holds"] for row in rows], ["file"] * 3 + ["slack"])

    def test_other_programs_say_the_same(self):
        clusters = sorted({mark.start() // CLUSTER for mark in PLACED.finditer(self.content)})[::5]
        rows = places("--clusters", self.volume, *clusters)
        ifind, ntfscluster = (installed(self, program) for program in ("ifind", "ntfscluster"))
        for row in rows:
            numbers = {owner["record"] for owner in row["owners"]}
            if ifind:
                said = subprocess.run(["ifind", "-d", str(row["cluster"]), self.volume], capture_output=True,
                                      text=True, check=True).stdout
                self.assertIn(int(said.split("-")[0]), numbers, said)
            if ntfscluster and row["allocated"]:
                said = subprocess.run(["ntfscluster", "-f", "-c", str(row["cluster"]), self.volume],
                                      capture_output=True, text=True).stdout
                self.assertIn(f"Inode {row['owners'][0]['record']} ", said)

    def test_a_disk_with_two_volumes(self):
        disk = self.write("disk", on_a_disk((7, self.content), (0x83, bytes(8192)), (7, self.content)))
        length = len(self.content)
        second = (64 * 512) + length + 512 + 8192 + 512
        mark = self.content.index(b"<01 00000004096>")
        rows = places(disk, 64 * 512 + mark, f"s:{(second + mark) // 512}", 512, 64 * 512 + length + 600,
                      second + length - 100, second + length, second + length + 512, f"s:{2**60}", status=1)
        self.assertEqual([row["holds"] for row in rows],
                         ["file", "file", "unpartitioned", "other_partition", "outside_volume",
                          "unpartitioned", "outside_image", "outside_image"])
        self.assertEqual([row["volume"] for row in rows[:2]],
                         [{"image": "disk", "partition": 1, "start": 64 * 512, "shadow": None},
                          {"image": "disk", "partition": 3, "start": second, "shadow": None}])
        self.assertEqual([row["owners"][0]["record"] for row in rows[:2]],
                         [places(self.volume, mark)[0]["owners"][0]["record"]] * 2)
        self.assertEqual(rows[3]["partition_kind"], "zeros")
        self.assertEqual([row["volume"] for row in rows[3:6:2]], [None, None])
        # Clusters are those of one volume.
        done = locate(disk, "c:1", status=2)
        self.assertIn(b"of which volume? The image has 2", done.stderr)
        row, = places("--partition", 3, disk, f"c:{mark // CLUSTER}")
        self.assertEqual(row["offset"], second + mark)
        row, = places("--partition", 3, disk, "c:4096", status=1)
        self.assertEqual((row["holds"], row["offset"], row["cluster"]), ("outside_volume", None, None))

    def test_a_cluster_that_the_bitmap_denies(self):
        snapshot = subprocess.run([COLDTRACE, "ntfs", "snapshot", self.volume], capture_output=True, check=True)
        rows = {row["path"]: row for row in strict_ndjson(snapshot.stdout) if row["type"] == "file"}
        cluster = rows["/stays"]["streams"][0]["extents"][0]["lcn"]
        bitmap = next(stream for stream in rows["/$Bitmap"]["streams"] if stream["name"] is None)
        changed = bytearray(self.content)
        changed[bitmap["extents"][0]["offset"] + cluster // 8] ^= 1 << cluster % 8
        free = next(at for at in range(3000) if not any(changed[at * CLUSTER:(at + 1) * CLUSTER])
                    and places(self.volume, f"c:{at}")[0]["holds"] == "free")
        changed[bitmap["extents"][0]["offset"] + free // 8] |= 1 << free % 8
        image = self.write("changed", changed)
        done = locate("--format", "json", image, f"c:{cluster}", f"c:{free}", status=1)
        *_, row, other, summary = strict_json(done.stdout)
        self.assertEqual((row["holds"], row["allocated"], other["holds"]), ("file", False, "unclaimed"))
        self.assertEqual({finding["code"] for finding in summary["findings"]},
                         {"cluster-bitmap", "cluster-unclaimed"})

    def test_a_bitmap_that_cannot_be_read(self):
        mft = struct.unpack_from("<Q", self.content, 0x30)[0] * CLUSTER
        record = mft + 6 * 1024
        self.assertEqual(self.content[record:record + 4], b"FILE")
        changed = bytearray(self.content)
        changed[record:record + 1024] = bytes(1024)
        mark = self.content.index(b"<01 00000004096>")
        done = locate("--format", "json", self.write("no bitmap", changed), hex(mark), status=1)
        _, row, summary = strict_json(done.stdout)
        self.assertEqual((row["holds"], row["allocated"]), ("file", None))
        told = [finding["text"] for finding in summary["findings"] if finding["code"] == "bitmap-unread"]
        self.assertEqual([text.split(": ")[0] for text in told],
                         ["$Bitmap does not say whether the cluster of 1 place is in use"])
        self.assertIn(b"bitmap-unread", done.stderr)

    def test_a_parent_is_for_images_that_have_one(self):
        done = locate("--parent", self.volume, self.volume, 0, status=2)
        self.assertIn(b"--parent is for VHD, VHDX, QCOW2 and VMDK images, and this is a raw image", done.stderr)
        subprocess.run(["gzip", "-k", self.write("packed.img", self.content)], check=True)
        done = locate("--parent", self.volume, self.here / "packed.img.gz", 0, status=2)
        self.assertIn(b"and this is a raw image", done.stderr)

    def test_text_says_it_too(self):
        mark = self.content.index(b"<01 00000004096>")
        lines = locate(self.volume, hex(mark), 0).stdout.decode().splitlines()
        self.assertRegex(lines[0], rf"^{mark:#x} \(byte {mark:#x}, sector {mark // 512}, cluster {mark // CLUSTER}\): "
                         r"file: /a/(large|second name), byte 4096 of 70000, record \d+-1, 2 links$")
        self.assertIn("system: /$Boot, byte 0 of 8192", lines[1])

    def test_what_is_no_place(self):
        for text in ("", "x", "0x", "-1", "1k", "q:1", "s:", f"{2**64}", "s:-1"):
            with self.subTest(text):
                done = locate(self.volume, "--", text, status=2)
                self.assertEqual(done.stdout, b"")
        done = locate(self.volume, "--places", "-", given=b"# all\n\n 5 # here\n0x6\nsix\n", status=2)
        self.assertIn(b"-:5: 'six' is not a place", done.stderr)
        self.assertEqual(locate(self.volume, status=2).stderr, b"coldtrace: PLACE or --places is required\n"
                         b"Run 'coldtrace ntfs locate --help' for more information.\n")
        self.assertIn(b"given twice", locate("-", "--places", "-", given=b"5\n", status=2).stderr)
        rows = places(self.volume, 7, "--places", self.write("list", b"# all\n\n 5 # here\r\n0x6\ns:1\nb:9"), "--sectors")
        self.assertEqual([row["offset"] for row in rows], [3584, 2560, 3072, 512, 9])


class Real(Case):
    def test_samples_of_windows(self):
        samples = sorted((SHARED / "samples/ntfs").glob("*.raw.gz"))
        if not samples:
            self.skipTest("no samples beside the checkout")
        image = sample_volume(samples[0])
        rows = places("--clusters", image, "--places", "-", given="\n".join(map(str, range(64767))).encode())
        self.assertEqual({row["holds"] for row in rows}, {"free", "index", "log", "mft", "system"})
        self.assertTrue(all(bool(row["owners"]) == row["allocated"] for row in rows))
        for record in (0, 5, 9, 30):
            place = [row for row in rows if row["mft_record"] and row["mft_record"]["record"] == record // 4 * 4]
            row, = places(image, place[0]["offset"] + record % 4 * 1024)
            self.assertEqual((row["mft_record"]["record"], row["mft_record"]["at"], row["mft_record"]["part"]),
                             (record, 0, "header"))


@unittest.skipUnless(shutil.which("mkntfs"), "mkntfs is not here")
class Prepared(Case):
    def test_records_that_were_never_used_have_one_answer(self):
        """mkntfs prepares records 16 to 23, with a sequence that is their number; Windows others, without an attribute."""
        image = self.write("volume", b"")
        os.truncate(image, 4 << 20)
        subprocess.run(["mkntfs", "-F", "-q", "-Q", "-c", str(CLUSTER), image], check=True, capture_output=True)
        content = bytearray(image.read_bytes())
        mft, = struct.unpack_from("<Q", content, 0x30)

        def record(number):
            return content[mft * CLUSTER + number * 1024:][:1024]

        def attributes(number):
            at, = struct.unpack_from("<H", record(number), 0x14)
            while (kind := struct.unpack_from("<I", record(number), at)[0]) != 0xffffffff:
                yield kind
                at += struct.unpack_from("<I", record(number), at + 4)[0]
        bare, first = bytearray(record(16)), record(16)[0x14]
        struct.pack_into("<HH", bare, 0x10, 1, 0)
        struct.pack_into("<I", bare, 0x18, first + 8)
        struct.pack_into("<I", bare, 0x2c, 23)
        struct.pack_into("<II", bare, first, 0xffffffff, 0)
        content[mft * CLUSTER + 23 * 1024:mft * CLUSTER + 24 * 1024] = bare
        image.write_bytes(content)
        lines = strict_ndjson(subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "all", image], check=True,
                                             capture_output=True, timeout=120).stdout)
        heads = [number for number in range(lines[0]["volume"]["records"]) if record(number)[:4] == b"FILE"]
        prepared = [number for number in heads if not record(number)[0x16] & 1 and 0x30 not in attributes(number)]
        self.assertEqual(prepared, [*range(16, 24)])
        self.assertEqual(list(attributes(23)), [])
        self.assertFalse({line.get("record") for line in lines} & set(prepared))
        self.assertEqual(lines[-1]["counts"]["deleted"], 0)
        for place, number in zip(places(image, *(mft * CLUSTER + number * 1024 + 8 for number in prepared)), prepared):
            self.assertEqual(place["mft_record"], {"record": number, "at": 8, "part": "never_used", "owner": None})
        info = strict_json(subprocess.run([COLDTRACE, "ntfs", "info", "--format", "json", image], check=True,
                                          capture_output=True, timeout=120).stdout)
        self.assertEqual(info["partitions"][0]["counts"]["used"], len(heads) - len(prepared))

    def test_formatting_of_large_clusters_prepares_more_records(self):
        """As many as fit into the first cluster of $MFT, which Windows writes as it does those up to 23: with their number as sequence."""
        cluster = 64 << 10
        image = self.write("volume", b"")
        os.truncate(image, 64 << 20)
        subprocess.run(["mkntfs", "-F", "-q", "-Q", "-c", str(cluster), image], check=True, capture_output=True)
        content = bytearray(image.read_bytes())
        mft = struct.unpack_from("<Q", content, 0x30)[0] * cluster
        heads = [content[mft + number * 1024:][:1024] for number in range(cluster // 1024)]
        used = [number for number, head in enumerate(heads) if head[0x16] & 1]
        self.assertLess(max(used), 40)
        model = heads[16]
        self.assertEqual((model[:4], *struct.unpack_from("<HHHH", model, 0x10)[:2], model[0x16]), (b"FILE", 16, 0, 0))
        for number in range(max(used) + 1, len(heads)):
            prepared = bytearray(model)
            struct.pack_into("<H", prepared, 0x10, number)
            struct.pack_into("<I", prepared, 0x2c, number)
            content[mft + number * 1024:mft + (number + 1) * 1024] = prepared
        image.write_bytes(content)
        lines = strict_ndjson(subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "all", image], check=True,
                                             capture_output=True, timeout=120).stdout)
        self.assertEqual({line["record"] for line in lines if line["type"] == "file"} - set(used), set())
        self.assertEqual(lines[-1]["counts"]["deleted"], 0)
        (place,) = places(image, mft + 60 * 1024 + 8)
        self.assertEqual(place["mft_record"], {"record": 60, "at": 8, "part": "never_used", "owner": None})
        info = strict_json(subprocess.run([COLDTRACE, "ntfs", "info", "--format", "json", image], check=True,
                                          capture_output=True, timeout=120).stdout)
        self.assertEqual(info["partitions"][0]["counts"]["used"], len(used))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
