"""The NDJSON of 'ntfs snapshot' where an image may stand: 'info', 'locate' and 'history' tell what its rows have.

usage: snapshot_inputs.py COLDTRACE SOURCES [unittest arguments]
"""
import gzip
import json
import struct
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case, installed  # noqa: E402
from ntfs.journal import usn_writer as w  # noqa: E402
from strict import strict_csv, strict_json, strict_ndjson  # noqa: E402

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
SCHEMAS = {name: json_schema.of(json.loads((SOURCES / f"docs/schema/ntfs-{name}.schema.json").read_text()))
           for name in ("history", "info", "locate")}


class Inputs(Case):
    def setUp(self):
        super().setUp()
        self.history = w.History(11, 400, start=8 * w.PAGE)
        volume, self.places = w.volume(self.history, 3)
        self.image = self.write("disk.img", volume)
        self.clusters = len(volume) // w.PAGE
        self.snapshot = self.take("files.ndjson")
        self.lines = strict_ndjson(self.snapshot.read_bytes())
        self.files = [line for line in self.lines if line["type"] == "file"]

    def take(self, name, *options):
        path = self.here / name
        self.run_ntfs("snapshot", "--state", "all", self.image, "-o", path, *options)
        return path

    # No directory of the volume lists its files, which is damage.
    def run_ntfs(self, *arguments, status=(0, 1), **given):
        done = subprocess.run([COLDTRACE, "ntfs", *map(str, arguments)], capture_output=True, timeout=60, **given)
        self.assertIn(done.returncode, status if isinstance(status, tuple) else (status,), done.stderr)
        return done

    def told(self, command, *arguments, **rest):
        lines = strict_ndjson(self.run_ntfs(command, "--format", "ndjson", *arguments, **rest).stdout)
        for line in lines:
            SCHEMAS[command].validate(line)
        return lines

    def packed(self):
        """The snapshot as it is, packed, and from a pipe."""
        yield self.snapshot, {}
        yield self.write("files.ndjson.gz", gzip.compress(self.snapshot.read_bytes())), {}
        if installed(self, "zstd"):
            subprocess.run(["zstd", "-q", "-f", self.snapshot, "-o", self.here / "files.ndjson.zst"], check=True)
            yield self.here / "files.ndjson.zst", {}
        yield "-", {"input": self.snapshot.read_bytes()}

    def test_help_says_where_a_snapshot_may_stand(self):
        for command, *asked in (("info",), ("locate", "0"), ("history", "/"), ("query",), ("snapshot",), ("journal",), ("logfile",)):
            with self.subTest(command):
                done = subprocess.run([COLDTRACE, "ntfs", command, self.snapshot, *asked], capture_output=True, timeout=60)
                described = " ".join(self.run_ntfs(command, "--help", status=0).stdout.decode().split())
                self.assertEqual("or a snapshot (.ndjson, .ndjson.zst)" in described, done.returncode != 2, done.stderr)

    def test_info_is_of_the_header_and_counts_rows(self):
        states = Counter(row["state"] for row in self.files)
        self.assertGreater(len(states), 1)
        whole = strict_json(self.run_ntfs("info", "--format", "json", self.image).stdout)
        for path, given in self.packed():
            document = strict_json(self.run_ntfs("info", "--format", "json", path, **given).stdout)
            SCHEMAS["info"].validate(document)
            (partition,), (of_image,) = document["partitions"], whole["partitions"]
            self.assertEqual({key: partition[key] for key in ("partition", "holds", "volume")},
                             {key: of_image[key] for key in ("partition", "holds", "volume")})
            self.assertEqual(document["disk"], whole["disk"])
            rows = partition["rows"]
            self.assertEqual({key: count for key, count in rows.items() if count}, dict(states))
            self.assertEqual((document["snapshot"]["complete"], document["snapshot"]["names"]), (True, None))
            self.assertEqual((partition["counts"], partition["shadow_copies"]), (None, None))
        text = self.run_ntfs("info", self.snapshot).stdout.decode()
        for part in ("snapshot by coldtrace", "NTFS 3.1, label 'TEST'", "1122334455667788",
                     f"{states['unreachable']} unreachable"):
            self.assertIn(part, text)

    def test_a_snapshot_that_is_cut_is_told(self):
        cut = self.write("cut.ndjson", self.snapshot.read_bytes().rsplit(b"\n", 2)[0] + b"\n")
        document = strict_json(self.run_ntfs("info", "--format", "json", cut, status=1).stdout)
        self.assertFalse(document["snapshot"]["complete"])
        for command, more in (("locate", ("0",)), ("history", ("/*",))):
            line = self.told(command, cut, *more, status=1)[-1]
            self.assertIn("snapshot-incomplete", {finding["code"] for finding in line["findings"]})

    def test_locate_is_of_the_extents_of_rows(self):
        owners = {}
        for row in self.files:
            for stream in row["streams"] + row["other_streams"]:
                for extent in stream["extents"]:
                    for at in range(extent["clusters"] if extent["lcn"] is not None else 0):
                        owners.setdefault(extent["lcn"] + at, set()).add((row["path"], row["record"], stream["name"]))
        self.assertGreater(len(owners), 10)
        asked = "\n".join(map(str, range(self.clusters))).encode()
        whole = self.told("locate", "--clusters", "--places", "-", self.image, input=asked)[1:-1]
        for path in (self.snapshot, self.write("files.ndjson.gz", gzip.compress(self.snapshot.read_bytes()))):
            lines = self.told("locate", "--clusters", "--places", "-", path, input=asked)
            places = lines[1:-1]
            self.assertEqual(len(places), self.clusters)
            for place, of_image in zip(places, whole):
                self.assertEqual({(o["path"], o["record"], o["stream"]) for o in place["owners"]},
                                 owners.get(place["cluster"], set()))
                # Without the indexes of directories, which locate does not read, these are live.
                self.assertEqual([dict(o, state=o["state"].replace("unreachable", "live")) for o in place["owners"]],
                                 of_image["owners"])
                if of_image["holds"] not in ("free", "unclaimed", "unknown"):
                    self.assertEqual(place["holds"], of_image["holds"])
                self.assertIsNone(place["allocated"])
            self.assertEqual({place["holds"] for place in places}, {"mft", "journal", "unknown", "outside_volume"})
        # A record of $MFT is the row's of this number; of names that are deleted too.
        for row in self.files:
            place, = self.told("locate", self.snapshot, row["record_offset"] + 8)[1:-1]
            record = place["mft_record"]
            self.assertEqual((record["record"], record["at"], record["part"], record["owner"]["path"]),
                             (row["record"], 8, "unknown", row["path"]))
        last = self.told("locate", self.snapshot, self.clusters * w.PAGE - 1)[1]
        self.assertEqual(last["holds"], "outside_volume")

    def with_volume(self, name, change):
        header = json.loads(json.dumps(self.lines[0]))
        change(header["volume"])
        return self.write(name, json.dumps(header).encode() + b"\n" + self.snapshot.read_bytes().split(b"\n", 1)[1])

    def test_a_volume_begins_where_its_mft_says(self):
        """As of one that was found behind a boot sector that is lost, in a partition that begins before it."""
        behind = 3 * 512

        def move(volume):
            for extent in volume["mft_extents"]:
                extent["offset"] += behind
        moved = self.with_volume("moved.ndjson", move)
        for row in self.files:
            place, = self.told("locate", moved, row["record_offset"] + behind + 8)[1:-1]
            self.assertEqual((place["mft_record"]["record"], place["mft_record"]["at"]), (row["record"], 8))

    def test_clusters_that_cannot_be_are_none(self):
        for member, value in (("cluster_size", 1 << 31), ("cluster_size", 0), ("clusters", 1 << 62)):
            forged = self.with_volume("forged.ndjson", lambda volume: volume.update({member: value}))
            self.assertIn("does not say where on the disk", self.run_ntfs("locate", forged, 0, status=2).stderr.decode())
            self.assertIn(member, self.report_of(forged))

    def report_of(self, snapshot):
        """What a page of it tells beside its rows."""
        done = subprocess.run([COLDTRACE, "report", snapshot, "-o", self.here / "page.html"], capture_output=True, timeout=60)
        return done.stderr.decode()

    def test_history_has_the_rows(self):
        for path, given in self.packed():
            lines = self.told("history", path, "/*", **given)
            versions = [line for line in lines if line["type"] == "version"]
            self.assertEqual(len(versions), sum(row["state"] not in ("unnamed", "stale", "slack") for row in self.files))
            self.assertEqual(versions, [dict(line, volume=dict(line["volume"], image=Path(path).name)) for line in
                                        self.told("history", self.image, "/*") if line["type"] == "version"])
        name = next(row["path"] for row in self.files if row["state"] == "unreachable" and row["record"] > 29)
        self.assertIn(name, self.run_ntfs("history", self.snapshot, name).stdout.decode())
        self.assertEqual(self.run_ntfs("history", self.snapshot, name).stdout,
                         self.run_ntfs("history", self.image, name).stdout)
        self.assertIn(b"no row of the snapshot has such a path", self.run_ntfs("history", self.snapshot, "/never", status=1).stderr)

    def test_history_of_an_image_tells_what_is_wrong_with_its_files(self):
        expected = {finding["code"]: (finding["severity"], finding["count"], finding["first_offset"])
                    for finding in self.lines[-1]["findings"]}
        # No directory has entries, so that each file with a name in one is unreachable.
        names = sum(row["state"] == "unreachable" for row in self.files)
        self.assertGreater(names, 100)
        self.assertEqual(expected["file-unreachable"][:2], ("warning", names))
        key = self.write("key", b"k" * 32)
        for path, options in (("/*", ()), ("/*", ("--jobs", 3)), ("/*", ("--names", "keyed-hash", "--key-file", key))):
            told = self.told("history", *options, self.image, path, status=1)[-1]["findings"]
            self.assertEqual({finding["code"]: (finding["severity"], finding["count"], finding["first_offset"])
                              for finding in told}, expected)
        self.assertIn(b"file-unreachable", self.run_ntfs("history", self.image, "/*", status=1).stderr)

    def test_a_volume_behind_the_start_of_its_place_has_one_start(self):
        """Without boot sectors and table it is found by its $MFT, a MiB behind the start of the image."""
        start, volume = 1 << 20, bytearray(self.image.read_bytes())
        volume[:512], volume[-512:] = bytes(512), b"the end.".rjust(512, b"\0")
        image = self.write("behind.img", bytes(start) + volume)
        snapshot = self.here / "behind.ndjson"
        for options in (), ("--mft-offset", str(start + 4 * w.PAGE)):
            self.run_ntfs("snapshot", "--state", "all", *options, image, "-o", snapshot)
            lines = strict_ndjson(snapshot.read_bytes())
            self.assertEqual((lines[0]["partition"]["offset"], lines[0]["volume"]["mft_extents"][0]["offset"]),
                             (0, start + 4 * w.PAGE))
            for asked, at in ((start + 4 * w.PAGE, start + 4 * w.PAGE), ("c:4", start + 4 * w.PAGE)):
                for path, more in ((image, options), (snapshot, ())):
                    place, = self.told("locate", *more, path, asked)[1:-1]
                    self.assertEqual((place["offset"], place["mft_record"]["record"], place["volume"]["start"]), (at, 0, start))
            for path, more in ((image, options), (snapshot, ())):
                versions = [line for line in self.told("history", *more, path, "/*") if line["type"] == "version"]
                self.assertEqual({line["volume"]["start"] for line in versions}, {start})
            header = strict_ndjson(self.run_ntfs("compare", "--format", "ndjson", snapshot, snapshot).stdout)[0]
            self.assertEqual({header[side]["volume"]["start"] for side in ("before", "after")}, {start})
        header = strict_ndjson(self.run_ntfs("compare", "--format", "ndjson", image, snapshot).stdout)[0]
        self.assertEqual({header[side]["volume"]["start"] for side in ("before", "after")}, {start})

    def test_text_of_a_history_says_which_volume(self):
        volume = self.image.read_bytes()
        places = [63 * 512 + number * (len(volume) + 512) for number in range(2)]
        disk = bytearray(places[1] + len(volume))
        for number, place in enumerate(places):
            struct.pack_into("<B3xB3xII", disk, 446 + 16 * number, 0, 7, place // 512, len(volume) // 512)
            disk[place:place + len(volume)] = volume
        disk[510:512] = b"\x55\xaa"
        image, snapshot = self.write("disk.img", disk), self.here / "disk.ndjson"
        self.run_ntfs("snapshot", "--state", "all", image, "-o", snapshot)
        name = next(row["path"] for row in self.files if row["state"] == "unreachable" and row["record"] > 29)
        alone = self.run_ntfs("history", self.snapshot, name).stdout.decode()
        zone, rest = alone.split("\n", 1)
        self.assertNotIn("partition", alone)
        one = "".join(f"partition {number} at {place:#x}\n{{}}" for number, place in enumerate(places, 1))
        for path in image, snapshot:
            text = self.run_ntfs("history", path, name).stdout.decode()
            heads = [line for line in text.splitlines() if line.startswith("partition")]
            self.assertEqual(heads, [line for line in one.format("", "").splitlines()])
            self.assertTrue(text.startswith(f"{zone}\n{heads[0]}\nrecord "), text)
            self.assertEqual(text.count(f": [unreachable] {name}\n"), 2)

    def test_what_a_snapshot_cannot_tell_is_refused(self):
        for command in ("journal", "logfile", "snapshot"):
            said = self.run_ntfs(command, self.snapshot, status=2).stderr.decode()
            self.assertIn("'ntfs query', 'info', 'locate', 'history' and 'compare' take a snapshot", said)
        for command, more in (("locate", ("0",)), ("history", ("/*",)), ("info", ())):
            said = self.run_ntfs(command, self.snapshot, *more, "--offset", "0", status=2).stderr.decode()
            self.assertIn("are for images, and this is a snapshot", said)
            said = self.run_ntfs(command, self.snapshot, *more, "--partition", "7", status=2).stderr.decode()
            self.assertIn("partition 7", said)
        few = self.take("few.ndjson", "--fields", "path,name")
        self.assertIn("record sequence state streams",
                      self.run_ntfs("locate", few, 0, status=2).stderr.decode())
        self.assertIn("record sequence state", self.run_ntfs("history", few, "/*", status=2).stderr.decode())
        other = self.write("other.ndjson", self.snapshot.read_bytes() + self.snapshot.read_bytes().replace(
            b'"container":"raw"', b'"container":"vhd"'))
        cut = self.snapshot.read_bytes().rsplit(b"\n", 2)[0] + b"\n"
        for command, more in (("locate", ("0",)), ("history", ("/*",)), ("info", ())):
            self.assertIn("several disks", self.run_ntfs(command, other, *more, status=2).stderr.decode())
            for first in (self.snapshot.read_bytes(), cut):
                twice = self.write("twice.ndjson", first + self.snapshot.read_bytes())
                self.assertIn("several snapshots", self.run_ntfs(command, twice, *more, status=2).stderr.decode())

    def test_what_a_snapshot_leaves_out_is_told(self):
        states = Counter(row["state"] for row in self.files)
        state, count = max(states.items(), key=lambda each: each[1])
        partial = self.write("partial.ndjson", "".join(
            json.dumps(line) + "\n" for line in self.lines if line.get("state") != state).encode())
        for command, more in (("history", ("/*",)), ("locate", ("0",)), ("query", ())):
            said = self.run_ntfs(command, partial, *more).stderr.decode()
            self.assertIn(f"not in the snapshot: {count} {state}; 'ntfs snapshot --state all' lists them", said)
            self.assertNotIn(f"{count} {state}", self.run_ntfs(command, self.snapshot, *more).stderr.decode())
            self.assertNotIn("not in the snapshot", self.run_ntfs(command, partial, *more, "--quiet").stderr.decode())
            for snapshot, told in ((partial, [f"not in the snapshot: {count} {state}"]), (self.snapshot, [])):
                *_, last = map(json.loads, self.run_ntfs(command, "--format", "ndjson", "--quiet", snapshot, *more).stdout.splitlines())
                self.assertEqual([finding["text"] for finding in last["findings"]
                                  if finding["code"] == "snapshot-left-out"], told, command)
        self.assertIn(b"not in the snapshot: shadow copies", self.run_ntfs("history", partial, "/*").stderr)
        lost = next(line for line in reversed(self.lines) if line.get("state") == state)
        less = self.write("less.ndjson", "".join(json.dumps(line) + "\n" for line in self.lines if line is not lost).encode())
        for command, more in (("history", ("/*",)), ("locate", ("0",))):
            line = self.told(command, less, *more, status=1)[-1]
            text, = (each["text"] for each in line["findings"] if each["code"] == "snapshot-selection")
            self.assertIn(f"{count - 1} of {count} {state}", text)
        added = self.write("added.ndjson", "".join(
            json.dumps(line) + "\n" for line in (*self.lines[:-1], lost, self.lines[-1])).encode())
        for command, more in (("history", ("/*",)), ("locate", ("0",)), ("query", ()), ("info", ())):
            for snapshot, rows in (less, count - 1), (added, count + 1):
                said = self.run_ntfs(command, snapshot, *more, status=1).stderr.decode()
                self.assertIn("snapshot-selection", said)
                self.assertIn(f"{rows} of {count} {state}", said)
        # Of two views, one lacks the row of a file: it is absent there where nothing else is left out.
        then = dict(self.lines[0], partition=dict(self.lines[0]["partition"],
                    shadow={"number": 1, "created": "2024-01-01T00:00:00.0000000Z"}))
        row = next(row for row in self.files if row["state"] == "unreachable" and row["record"] > 29)
        for stated, absent in ((1, True), (2, False)):
            counts = dict(self.lines[-1]["counts"], volumes=2, **{each: 0 for each in states} | {"unreachable": stated})
            two = self.write("two.ndjson", "".join(json.dumps(line) + "\n" for line in (
                then, row, self.lines[0], dict(self.lines[-1], counts=counts))).encode())
            version, = (line for line in self.told("history", two, row["path"]) if line["type"] == "version")
            self.assertEqual((version["shadows"], version["live"], version["absent_live"]), ([1], False, absent))

    def test_rows_without_states_are_not_counted(self):
        few = self.take("few.ndjson", "--fields", "path")
        document = strict_json(self.run_ntfs("info", "--format", "json", few).stdout)
        SCHEMAS["info"].validate(document)
        self.assertIsNone(document["partitions"][0]["rows"])
        self.assertIn(b"rows: states unknown", self.run_ntfs("info", few).stdout)

    def test_what_a_record_keeps_elsewhere_is_a_fixup(self):
        places = [row["record_offset"] + at for row in self.files for at in (509, 510, 511, 1021, 1022, 1023)]
        asked = "\n".join(map(str, places)).encode()
        whole, lines = (self.told("locate", "--places", "-", path, input=asked)[1:-1] for path in (self.image, self.snapshot))
        for place, of_image in zip(lines, whole, strict=True):
            part, expected = place["mft_record"], of_image["mft_record"]
            self.assertEqual(part["part"] == "fixup", expected["part"] == "fixup", place)
            if part["part"] == "fixup":
                self.assertEqual(part["owner"], dict(expected["owner"], state=part["owner"]["state"]))
        self.assertEqual(sum(place["mft_record"]["part"] == "fixup" for place in lines), len(places) * 2 // 3)

    def test_a_header_that_counts_for_none_hides_no_rows(self):
        lines = self.snapshot.read_bytes().splitlines(keepends=True)
        nested = json.loads(lines[0])
        nested["volume"]["deep"] = json.loads("[" * 64 + "]" * 64)
        place = next(at for at, line in enumerate(self.lines) if line["type"] == "file")
        (self.here / "nested").mkdir()
        changed = self.write("nested/files.ndjson", b"".join(lines[:place]) + json.dumps(nested).encode() + b"\n" + b"".join(lines[place:]))
        rows = [line for line in self.told("history", self.snapshot, "/*") if line["type"] == "version"]
        self.assertTrue(rows)
        self.assertEqual([line for line in self.told("history", changed, "/*", status=1) if line["type"] == "version"], rows)
        asked = "\n".join(map(str, range(self.clusters))).encode()
        owners = [[place["owners"] for place in self.told("locate", "--clusters", "--places", "-", path, input=asked)[1:-1]]
                  for path in (self.snapshot, changed)]
        self.assertTrue(any(owners[0]))
        self.assertEqual(*owners)

    def test_hostile_rows_end(self):
        header = self.lines[0]
        row = dict(self.files[0], record=77, state="live")
        extent = {"vcn": 0, "lcn": 0, "clusters": self.clusters - 1, "offset": 0}
        stream = dict(name=None, id=1, resident=False, resident_offset=None, fixup_positions=[], size=2**63,
                      allocated=None, valid=None, compressed=False, encrypted=False, sparse=False)
        rows = [dict(row, record=number, streams=[dict(stream, extents=[extent] * 50)]) for number in range(30, 130)]
        rows += [dict(row, streams=[dict(stream, extents=[dict(extent, lcn=2**64 - 1, clusters=2**64 - 1)])]),
                 dict(row, streams=[dict(stream, resident_offset=2**64 - 1, size=2**64 - 1, extents=[])]),
                 dict(row, streams=[dict(stream, extents="x")]), dict(row, streams=7)]
        path = self.write("hostile.ndjson", "".join(json.dumps(line) + "\n" for line in
                                                    (header, *rows, self.lines[-1])).encode())
        lines = self.told("locate", "--clusters", path, *range(5, 10), status=1)
        for place in lines[1:-1]:
            self.assertEqual((len(place["owners"]), place["more_owners"]), (16, True))
        self.assertIn("snapshot-value", {finding["code"] for finding in lines[-1]["findings"]})
        for geometry in ({"cluster_size": 0}, {"cluster_size": 2**32 - 1, "clusters": 2**64 - 1}, {"record_size": 0},
                         {"mft_extents": [{"vcn": 2**64 - 1, "lcn": 0, "clusters": 9, "offset": 0}]}):
            bad = dict(header, volume=dict(header["volume"], **geometry))
            path = self.write("bad.ndjson", "".join(json.dumps(line) + "\n" for line in (bad, row, self.lines[-1])).encode())
            done = subprocess.run([COLDTRACE, "ntfs", "locate", path, "4096", "0xffffffffffffffff"], capture_output=True)
            self.assertIn(done.returncode, (1, 2), done.stderr)

    def test_rows_with_values_that_are_none_are_told(self):
        for member, value in (("record", -5), ("record", 2**48), ("sequence", 65536), ("state", "weird"), ("state", 7),
                              ("path", 3), ("streams", 7), ("streams", [7])):
            row = dict(self.files[0], **{member: value})
            path = self.write("bad.ndjson", "".join(json.dumps(line) + "\n" for line in
                                                    (self.lines[0], row, *self.files[1:], self.lines[-1])).encode())
            lines = self.run_ntfs("history", "--format", "ndjson", path, "/*", status=1).stdout.splitlines()
            findings = {command: json.loads(line)["findings"] for command, line in (
                ("history", lines[-1]),
                ("locate", self.run_ntfs("locate", "--format", "ndjson", path, "4096", status=(0, 1)).stdout.splitlines()[-1]),
                ("info", self.run_ntfs("info", "--format", "json", path, status=(0, 1)).stdout))}
            for command in ({"history", "locate", "info"} if member not in ("path", "streams") else {"history"}):
                said = [finding["text"] for finding in findings[command] if finding["code"] == "snapshot-value"]
                self.assertEqual([text.rpartition(":")[2].split() for text in said], [[member]], (command, member, value))

    def test_csv_has_names_that_are_no_text_exactly(self):
        row = next(row for row in self.files if row["record"] > 29 and len(row["name"]) > 2)
        data, name = bytearray(self.image.read_bytes()), row["name"].encode("utf-16-le")
        place = data.index(name, row["record_offset"], row["record_offset"] + w.RECORD)
        odd = name[:-2] + b"\x00\xd8"
        data[place:place + len(name)] = odd
        self.image.write_bytes(data)
        lines = self.take("lines.ndjson")
        for command, given in (("snapshot", self.image), ("query", self.image), ("query", lines)):
            options = ("--state", "all") if command == "snapshot" else ()
            cells = strict_csv(self.run_ntfs(command, "--format", "csv", *options, given).stdout)
            self.assertEqual(tuple(cells[0])[-6:], ("name_utf16", "reparse_kind", "path_utf16", "short_name_utf16",
                                                    "reparse_target_utf16", "reparse_target_bytes"))
            self.assertEqual({cell["name_utf16"] for cell in cells if cell["record"] == str(row["record"])}, {odd.hex()})
            self.assertEqual({cell["name_utf16"] for cell in cells}, {"", odd.hex()})

    def test_further_inputs_and_folders_have_a_way(self):
        for command in ("info", "snapshot", "journal", "logfile", "query"):
            said = self.run_ntfs(command, self.image, self.image, status=2).stderr.decode()
            self.assertIn("is one input too many; --out-dir DIR takes many inputs and folders", said)
            said = self.run_ntfs(command, self.here, status=2).stderr.decode()
            self.assertIn("it is a folder; 'coldtrace batch', or --out-dir", said)
        results = self.here / "results"
        self.run_ntfs("info", self.image, self.snapshot, "--out-dir", results)
        self.assertEqual(len([path for path in results.iterdir() if path.is_file()]), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
