"""'ntfs compare' against histories that the test made itself.

usage: compare.py COLDTRACE SOURCES [unittest arguments]
"""
import collections
import copy
import gzip
import json
import lzma
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case  # noqa: E402
from strict import strict_json, strict_ndjson  # noqa: E402

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
SCHEMA = json_schema.of(
    json.loads((SOURCES / "docs/schema/ntfs-compare.schema.json").read_text()))
recipe = SourceFileLoader("recipe", str(SOURCES / "fixtures/recipes/make-ntfs-image.py")).load_module()


def run(command, *arguments, status=0, given=None):
    done = subprocess.run([COLDTRACE, "ntfs", command, *map(str, arguments)], capture_output=True, timeout=120,
                          input=given)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done


def compare(*arguments, status=1, **rest):
    lines = strict_ndjson(run("compare", "--format", "ndjson", *arguments, status=status, **rest).stdout)
    for line in lines:
        SCHEMA.validate(line)
    summary = lines[-1]
    assert (lines[0]["type"], summary["type"], summary["complete"]) == ("header", "summary", True)
    rows = [line for line in lines if line["type"] == "file"]
    counts = collections.Counter(change for row in rows for change in row["changes"])
    assert {name: count for name, count in summary["counts"]["changes"].items() if count} == counts
    assert summary["same"] == (not rows)
    return rows, summary


def can_mount():
    return (os.geteuid() == 0 and os.path.exists("/dev/fuse") and shutil.which("ntfs-3g")
            and shutil.which("mkntfs") and shutil.which("fuser"))


def fill(volume):
    for name in ("a", "b", "dir/below"):
        (volume.root / name).mkdir(parents=True)
    for name, size in (("a/renamed", 10), ("a/moved", 20), ("a/both", 30), ("dir/below/kid", 40), ("over", 50000),
                       ("grows", 100), ("shrinks", 60000), ("gone", 5000), ("gone small", 5), ("linked", 70),
                       ("a/two", 80), ("streams", 90), ("touched", 100), ("flags", 110), ("same", 120), ("object", 130), ("tagged", 140),
                       ("elsewhere", 40000), ("swap one", 1), ("swap two", 2), ("again", 3000)):
        volume.write(name, b"x" * size)
    os.link(volume.root / "a/two", volume.root / "b/two")
    volume.write("streams:gone", b"g" * 10)
    volume.write("streams:grows", b"g" * 10)
    volume.write("streams:same", b"g" * 10)


def change(volume):
    root = volume.root
    (root / "a/renamed").rename(root / "a/new name")
    (root / "a/moved").rename(root / "b/moved")
    (root / "a/both").rename(root / "b/other name")
    (root / "dir").rename(root / "directory")
    with open(root / "over", "r+b") as file:
        file.write(b"y" * 50000)
    with open(root / "grows", "ab") as file:
        file.write(b"z" * 9000)
    os.truncate(root / "shrinks", 30000)
    (root / "gone").unlink()
    (root / "gone small").unlink()
    os.link(root / "linked", root / "b/link")
    (root / "b/two").unlink()
    volume.write("streams:new", b"n" * 7)
    (root / "streams:gone").unlink()
    with open(root / "streams:grows", "ab") as file:
        file.write(b"g" * 5)
    os.utime(root / "touched", ns=(10**18, 10**18))
    volume.attribute("flags", "ntfs_attrib", struct.pack("<I", 0x3))
    volume.attribute("object", "ntfs_object_id", bytes(range(16)))
    volume.attribute("tagged", "ntfs_ea", struct.pack("<IBBH", 16, 0, 3, 2) + b"TAG\0" + b"xy\0\0")
    os.truncate(root / "elsewhere", 0)
    volume.write("in its place", b"p" * 40000)
    with open(root / "elsewhere", "r+b") as file:
        file.write(b"e" * 40000)
    (root / "swap one").rename(root / "swap")
    (root / "swap two").rename(root / "swap one")
    (root / "swap").rename(root / "swap two")
    (root / "again").unlink()
    volume.write("again", b"a" * 3000)
    volume.write("created", b"c" * 5)
    (root / "new folder").mkdir()


# By path, those of files that changed; "again" was deleted, and is another file since.
TRUTH = {
    "/a/new name": {"renamed"}, "/b/moved": {"moved"}, "/b/other name": {"moved"}, "/directory": {"renamed"},
    "/over": set(), "/grows": {"resized", "relocated"}, "/shrinks": {"resized"}, "/gone": {"deleted"},
    "/gone small": {"deleted"}, "/linked": {"linked"}, "/a/two": {"unlinked"},
    "/streams": {"stream_created", "stream_deleted", "resized"}, "/touched": set(), "/flags": {"attributes"},
    "/object": {"metadata"}, "/tagged": {"metadata"},
    "/elsewhere": {"relocated"}, "/in its place": {"created"}, "/swap one": {"renamed"}, "/swap two": {"renamed"},
    "/created": {"created"}, "/new folder": {"created"}}


@unittest.skipUnless(can_mount(), "no FUSE, or not root")
class Histories(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.after = Path(cls.folder.name) / "after"
        cls.before = Path(cls.folder.name) / "before"
        volume = recipe.Volume(cls.after, 16 << 20, 4096, clock="2024-02-29 12:34:56")
        with volume:
            fill(volume)
        shutil.copy(cls.after, cls.before)
        volume.environment = recipe.environment("2024-03-01 12:34:56")
        with volume:
            change(volume)

    def check(self, rows):
        found = collections.defaultdict(list)
        for row in rows:
            if row["record"] >= 24:
                found[row["path"] or row["path_before"]].append(row)
        again = found.pop("/again")
        self.assertEqual(sorted(change for row in again for change in row["changes"]), ["created", "deleted"])
        for path in ("/a", "/b"):
            row, = found.pop(path)
            self.assertEqual((row["changes"], row["directory"]), (["touched"], True))
        self.assertEqual(set(found), set(TRUTH))
        for path, (row,) in found.items():
            with self.subTest(path):
                changes = set(row["changes"])
                if not changes & {"created", "deleted"}:
                    # Of a file without another event it is the event.
                    if not TRUTH[path]:
                        self.assertIn("touched", changes)
                    changes.discard("touched")
                # Where the stream of a file lies when it grows or shrinks is the driver's.
                if path == "/shrinks":
                    changes.discard("relocated")
                self.assertEqual(changes, TRUTH[path])
        return {path: row for path, (row,) in found.items()}

    def test_exactly_what_was_done(self):
        rows, summary = compare(self.before, self.after)
        by_path = self.check(rows)
        self.assertEqual([(row["record"], row["sequence"]) for row in rows],
                         sorted((row["record"], row["sequence"]) for row in rows))
        names = {path: [(n["change"], n["before"], n["after"]) for n in row["names"]]
                 for path, row in by_path.items() if row["names"]}
        self.assertEqual(names, {
            "/a/new name": [("renamed", "/a/renamed", "/a/new name")],
            "/b/moved": [("moved", "/a/moved", "/b/moved")],
            "/b/other name": [("moved", "/a/both", "/b/other name")],
            "/directory": [("renamed", "/dir", "/directory")],
            "/linked": [("linked", None, "/b/link")], "/a/two": [("unlinked", "/b/two", None)],
            "/swap one": [("renamed", "/swap two", "/swap one")],
            "/swap two": [("renamed", "/swap one", "/swap two")]})
        sizes = {path: (row["size_before"], row["size"]) for path, row in by_path.items()}
        self.assertEqual((sizes["/grows"], sizes["/shrinks"], sizes["/gone"], sizes["/created"]),
                         ((100, 9100), (60000, 30000), (5000, None), (None, 5)))
        self.assertEqual({(s["name"], s["change"], s["size_before"], s["size"])
                          for s in by_path["/streams"]["streams"]},
                         {("new", "created", None, 7), ("gone", "deleted", 10, None), ("grows", "resized", 10, 15)})
        times = by_path["/touched"]["times"]
        self.assertEqual((times["modified"]["after"], times["created"]), ("2001-09-09T01:46:40.0000000Z", None))
        self.assertEqual(by_path["/flags"]["attributes"]["after"], ["readonly", "hidden"])
        self.assertEqual([by_path[path]["metadata"] for path in ("/object", "/tagged")], [["object_id"], ["ea"]])
        # What the system's own files have to change, and no more.
        self.assertLessEqual({row["path"] for row in rows if row["record"] < 24},
                             {"/", "/$MFT", "/$MFTMirr", "/$Bitmap", "/$LogFile", "/$Extend", "/$Secure"})
        self.assertEqual(summary["findings"], [])

    def test_snapshots_and_images_say_the_same(self):
        before, after = self.here / "before.ndjson", self.here / "after.ndjson"
        for image, path in ((self.before, before), (self.after, after)):
            run("snapshot", "--state", "all", image, "-o", path)
        rows, _ = compare(self.before, self.after)
        for one, other, given in ((before, after, None), (before, self.after, None), (self.before, after, None),
                                  ("-", after, before.read_bytes())):
            with self.subTest(str(one)):
                again, summary = compare(one, other, given=given)
                self.assertEqual([row | {"volume": None} for row in again], [row | {"volume": None} for row in rows])
                self.assertEqual(summary["findings"], [])
        # The other way round every event is the other way round.
        turned = {"created": "deleted", "deleted": "created", "linked": "unlinked", "unlinked": "linked",
                  "stream_created": "stream_deleted", "stream_deleted": "stream_created"}
        back, _ = compare(after, before)
        self.assertEqual([{turned.get(change, change) for change in row["changes"]} for row in back],
                         [set(row["changes"]) for row in rows])
        rows, summary = compare(self.after, after, status=0)
        self.assertEqual((rows, summary["same"]), ([], True))
        self.assertEqual(summary["counts"]["unchanged"], summary["counts"]["files"])

    def test_partitions_of_images_that_have_other_numbers(self):
        def disk(name, *volumes):
            table, rest = bytearray(1 << 20), b"".join(volume.read_bytes() for volume in volumes)
            at = len(table)
            for number, volume in enumerate(volumes):
                size = volume.stat().st_size
                table[446 + 16 * number:462 + 16 * number] = struct.pack("<4xB3xII", 7, at // 512, size // 512)
                at += size
            table[510:512] = b"\x55\xaa"
            return self.write(name, table + rest)

        old, new = disk("old", self.after, self.before), disk("new", self.after)
        rows, summary = compare("--before-partition", 2, "--after-partition", 1, old, new)
        expected, whole = compare(self.before, self.after)
        self.assertEqual([row | {"volume": None} for row in rows],
                         [row | {"volume": None} for row in expected])
        self.assertEqual((summary["counts"], {row["volume"]["partition"] for row in rows}), (whole["counts"], {1}))
        compare("--before-partition", 1, old, new, status=0)
        self.assertIn(b"there is no partition 2", run("compare", "--after-partition", 2, old, new, status=2).stderr)

    def test_text_and_json_say_it_too(self):
        lines = run("compare", self.before, self.after, status=1).stdout.decode().splitlines()
        rows, summary = compare(self.before, self.after)
        self.assertEqual(len(lines), len(rows) + 1)
        for line, row in zip(lines, rows):
            self.assertTrue(line.startswith(f"{','.join(row['changes'])}: {row['path'] or row['path_before']} "), line)
        counts = summary["counts"]
        files = counts["files_before"]
        self.assertEqual(lines[-1], f"{files:,} {'file' if files == 1 else 'files'} before, {counts['files']:,} after, "
                                    f"{counts['unchanged']:,} of them unchanged")
        self.assertEqual(strict_json(run("compare", "--format", "json", self.before, self.after, status=1).stdout)[1:-1],
                         rows)


def header(start=0, serial="0123456789abcdef", number=None):
    return {"type": "header", "schema": "coldtrace.ntfs-snapshot/1", "volume": {"serial_number": serial},
            "partition": {"number": number, "offset": start}}


def made_up(record, sequence=1, name=None, parent=(5, 5), size=1, extents=(), **rest):
    name = name or f"file {record}"
    return {"type": "file", "path": f"/{name}", "name": name, "record": record, "sequence": sequence,
            "parent": dict(zip(("record", "sequence"), parent)), "state": "live", "directory": False,
            "attributes": ["archive"], "si": dict.fromkeys(("created", "modified", "changed", "accessed")),
            "owner_sid": None, "findings": [], "short_name": None, "security_id": None, "object_id": None,
            "fn": dict.fromkeys(("created", "modified", "changed", "accessed")), "reparse": None, "ea": [], "other_streams": [],
            "streams": [{"name": None, "resident": not extents, "size": size, "extents": [
                dict(zip(("vcn", "lcn", "clusters"), extent)) for extent in extents]}]} | rest


SUMMARY = {"type": "summary", "complete": True}


class MadeUp(Case):
    def lines(self, name, *lines):
        return self.write(name, "".join(json.dumps(line) + "\n" for line in lines).encode())

    def differ(self, before, after, status=1):
        return compare(self.lines("a", header(), *before, SUMMARY), self.lines("b", header(), *after, SUMMARY),
                       status=status)

    def test_where_bytes_lie(self):
        for before, after, changes in (
                ([(0, 10, 4)], [(0, 10, 4), (4, 90, 2)], ["metadata"]),  # grew, without a size here
                ([(0, 10, 4)], [(0, 10, 2), (2, 12, 2)], []),          # the same in two runs
                ([(0, 10, 4)], [(0, 10, 2), (2, 50, 2)], ["relocated"]),
                ([(0, None, 2), (2, 10, 2)], [(0, 7, 2), (2, 10, 2)], ["metadata"]),   # a hole was filled
                ([(0, None, 2), (2, 10, 2)], [(0, 7, 2), (2, 11, 2)], ["relocated", "metadata"]),
                ([(0, 10, 4)], [(0, 10, 1), (1, None, 2), (3, 13, 1)], ["metadata"]),  # a hole was punched
                ([(0, 10, 1), (1, 20, 1), (2, 30, 1)], [(0, 10, 1), (1, 20, 2)], ["relocated"]),
                ([(0, 10, 4)], [], ["relocated"])):
            with self.subTest(before=before, after=after):
                rows, _ = self.differ([made_up(30, extents=before)], [made_up(30, extents=after)],
                                      status=int(bool(changes)))
                self.assertEqual([row["changes"] for row in rows], [changes] if changes else [])

    def test_metadata_by_member(self):
        target = {"tag": 0xa000000c, "kind": "symlink", "target": "\\??\\C:\\a"}
        attribute = {"name": "x", "size": 3}

        def stream(**rest):
            return [{"name": None, "resident": False, "size": 1, "valid": 1, "extents": [], "compressed": False,
                     "encrypted": False, "sparse": False} | rest]

        efs = {"type": "$LOGGED_UTILITY_STREAM", "name": "$EFS", "size": 600, "resident": True}
        for member, before, after, said in (
                ("short_name", None, "FILE~1", ["short_name"]), ("short_name", "FILE~1", "FILE~2", ["short_name"]),
                ("fn", made_up(30)["fn"], made_up(30)["fn"] | {"changed": "2024-02-29T00:00:00.0000001Z"}, ["fn"]),
                ("security_id", None, 256, ["security_id"]), ("security_id", 256, 257, ["security_id"]),
                ("object_id", None, "12345678-1234-1234-1234-123456789abc", ["object_id"]),
                ("reparse", None, target, ["reparse"]), ("reparse", target, target | {"tag": 0xa0000003}, ["reparse"]),
                ("reparse", target, target | {"target": "b"}, ["reparse"]), ("ea", [], [attribute], ["ea"]),
                ("ea", [attribute], [attribute | {"size": 4}], ["ea"]),
                ("ea", [attribute], [attribute | {"name": "y"}], ["ea"]),
                ("other_streams", [], [efs], ["other_streams"]), ("other_streams", [efs], [efs | {"size": 700}], ["other_streams"]),
                ("streams", stream(), stream(compressed=True), ["flags"]),
                ("streams", stream(), stream(encrypted=True), ["flags"]),
                ("streams", stream(), stream(sparse=True, valid=0), ["flags", "valid"])):
            for old, new in ((before, after), (after, before)):
                with self.subTest(member=member, old=old, new=new):
                    (row,), _ = self.differ([made_up(30, **{member: old})], [made_up(30, **{member: new})])
                    self.assertEqual((row["changes"], row["metadata"]), (["metadata"], said))
            self.differ([made_up(30, **{member: after})], [made_up(30, **{member: after})], status=0)
        # Of another size valid and clusters say nothing; a value outside the record may not have been read.
        (row,), _ = self.differ([made_up(30, streams=stream())], [made_up(30, streams=stream(size=5, valid=5))])
        self.assertEqual((row["changes"], row["metadata"]), (["resized"], []))
        self.differ([made_up(30, ea=[attribute])], [made_up(30, other_streams=[{"type": "$EA"}])], status=0)
        # A directory's index is another with each file.
        index = [{"type": "$INDEX_ALLOCATION", "name": "$I30", "size": 4096, "resident": False}]
        self.differ([made_up(30)], [made_up(30, other_streams=index)], status=0)

    def test_names_are_paired_as_people_would(self):
        def names(*names):
            return [made_up(40, name=name, parent=(parent, 1)) for parent, name in names]
        for before, after, expected in (
                ([(5, "a"), (6, "b")], [(5, "c"), (6, "b")], [("renamed", "/a", "/c")]),
                ([(5, "a"), (6, "b")], [(7, "a"), (6, "x")], [("renamed", "/b", "/x"), ("moved", "/a", "/a")]),
                ([(5, "a")], [(5, "a"), (6, "a")], [("linked", None, "/a")]),
                ([(5, "a"), (6, "a"), (7, "a")], [(6, "a")], [("unlinked", "/a", None)] * 2),
                ([(5, "a")], [(6, "b"), (7, "a")], [("moved", "/a", "/a"), ("linked", None, "/b")])):
            with self.subTest(before=before, after=after):
                (row,), _ = self.differ(names(*before), names(*after))
                self.assertEqual([(n["change"], n["before"], n["after"]) for n in row["names"]], expected)

    def test_random_histories_against_sets_in_python(self):
        chance = random.Random(5)
        for _ in range(20):
            before = {number: made_up(number, chance.randrange(3), size=chance.randrange(3))
                      for number in chance.sample(range(24, 400), 200)}
            after = copy.deepcopy(before)
            expected = {}
            for number, row in list(after.items()):
                key = number, row["sequence"]
                what = chance.randrange(8)
                if what == 0:
                    del after[number]
                    expected[key] = ["deleted"]
                elif what == 1:
                    row["sequence"] += 1
                    expected[key], expected[number, row["sequence"]] = ["deleted"], ["created"]
                elif what == 2:
                    row["streams"][0]["size"] += 1
                    row["owner_sid"] = "S-1-1-0"  # not known before: nothing to compare
                    expected[key] = ["resized"]
                elif what == 3:
                    row["si"]["accessed"] = "2024-02-29T00:00:00.0000001Z"
                    row["attributes"] = ["archive", "0x80000000"]
                    expected[key] = ["touched", "attributes"]
                elif what == 4:
                    row["path"] = "/elsewhere" + row["path"]  # a directory above has another name
            order = list(after.values())
            chance.shuffle(order)
            rows, summary = self.differ(before.values(), order, status=1)
            self.assertEqual({(row["record"], row["sequence"]): row["changes"] for row in rows}, expected)
            self.assertEqual(summary["counts"]["files_before"], len(before))
            self.assertEqual(summary["counts"]["files"], len(after))

    def test_names_that_are_no_text_are_told_apart(self):
        odd = [made_up(50, name="\ufffd", name_utf16=units) for units in ("00d8", "01d8")]
        (row,), _ = self.differ(odd[:1], odd[1:])
        self.assertEqual(row["changes"], ["renamed"])

    def test_what_is_not_known_is_not_compared_and_said(self):
        whole = made_up(60)
        bare = {name: value for name, value in whole.items() if name not in ("si", "attributes", "streams")}
        rows, summary = self.differ([whole], [bare])
        self.assertEqual(rows, [])
        self.assertEqual([f["code"] for f in summary["findings"]], ["compare-members"])
        self.assertIn("si attributes streams", summary["findings"][0]["text"])
        # Of a file with many names streams are told once.
        few = {name: value for name, value in whole.items() if name not in ("ea", "fn")}
        _, summary = self.differ([whole], [few])
        self.assertTrue(summary["findings"][0]["text"].endswith(" ea fn"), summary["findings"])
        left_out = made_up(60, name="second", streams=[], findings=[{"code": "streams-limit"}])
        rows, _ = self.differ([whole, left_out], [left_out, whole], status=0)
        self.assertEqual(rows, [])

    def test_all_numbers_of_the_text_are_grouped(self):
        rows = [made_up(record) for record in range(100, 2334)]
        before, after = (self.lines(name, header(), *some, SUMMARY) for name, some in (("a", rows[:1234]), ("b", rows)))
        self.assertEqual(run("compare", before, after, status=1).stdout.decode().splitlines()[-1],
                         "1,234 files before, 2,234 after, 1,234 of them unchanged")

    def test_names_that_a_selection_left_out_are_said(self):
        def selected(rows, live, name="b"):
            return self.lines(name, header(), *rows, SUMMARY | {"counts": {"live": live}})

        rows = [made_up(70), made_up(71, name="other")]
        whole = selected(rows, 2, "a")
        found, summary = compare(whole, selected(rows[:1], 2))
        self.assertEqual(([row["changes"] for row in found], [f["code"] for f in summary["findings"]]),
                         ([["deleted"]], ["snapshot-selection"]))
        self.assertIn("live names in the snapshot: 1, counted in its last line: 2;", summary["findings"][0]["text"])
        compare(whole, selected(rows, 2), status=0)

    def test_rows_of_which_the_file_is_not_known_are_refused(self):
        rows = [made_up(70), made_up(71, name="other")]
        whole = self.lines("a", header(), *rows, SUMMARY)
        for lacking in "path", "name", "record", "sequence", "parent", "state":
            bare = [{name: value for name, value in row.items() if name != lacking} for row in rows]
            for pair in ((whole, "b"), ("b", whole)):
                b = self.lines("b", header(), *bare, SUMMARY)
                error = run("compare", *(b if each == "b" else each for each in pair), status=2).stderr
                self.assertRegex(error, rb"lack members .*: %b\." % lacking.encode())
        for member, value in ("record", "70"), ("sequence", "1"), ("parent", {"record": "5", "sequence": 5}):
            _, summary = compare(whole, self.lines("c", header(), rows[0], made_up(71) | {member: value}, SUMMARY))
            self.assertEqual([f["code"] for f in summary["findings"]][0], "snapshot-incomplete")
        # One such row is damage of one row.
        _, summary = compare(whole, self.lines("c", header(), rows[0], {"type": "file", "state": "live"}, SUMMARY))
        self.assertEqual([f["code"] for f in summary["findings"]][0], "snapshot-incomplete")

    def test_values_of_other_types_are_told(self):
        for member, value in (("si", 5), ("si", {"created": 5}), ("si", {"modified": "x"}), ("attributes", "archive"),
                              ("attributes", [5]), ("owner_sid", 5), ("streams", {}), ("streams", [{"size": "x"}]),
                              ("streams", [5]), ("streams", [{"size": 1, "extents": 5}]), ("directory", 1),
                              ("streams", [{"resident": "x"}]), ("streams", [{"name": 5}]),
                              ("streams", [{"extents": ["zz"]}]), ("streams", [{"extents": [{"lcn": "zz"}]}]),
                              ("streams", [{"extents": [{"clusters": -5}]}]),
                              ("streams", [{"extents": [{"vcn": None}]}]), ("streams", [{"valid": "x"}]),
                              ("streams", [{"sparse": 1}]), ("short_name", 5), ("security_id", "x"), ("object_id", 5),
                              ("reparse", 5), ("reparse", {"tag": None}), ("ea", 5), ("ea", [5]), ("fn", 5),
                              ("security_id", "5"), ("streams", [{"size": "5"}]), ("streams", [{"extents": [{"lcn": "5"}]}]),
                              ("ea", [{"name": "x", "size": "5"}]), ("state", "lively"), ("state", 5)):
            with self.subTest(member=member, value=value):
                _, summary = self.differ([made_up(70)], [made_up(70) | {member: value}])
                told = {f["code"]: f["text"] for f in summary["findings"]}
                self.assertIn(": " + ("extents" if value == [{"size": 1, "extents": 5}] else
                                      "created" if value == {"created": 5} else member), told["snapshot-value"])
        _, summary = compare(self.lines("a", header(), made_up(70), SUMMARY),
                             self.lines("b", header(), made_up(70), SUMMARY | {"complete": False}))
        self.assertEqual([f["code"] for f in summary["findings"]], ["snapshot-incomplete"])

    def test_text_has_attributes_owners_and_late_times_of_before_and_after(self):
        late = "+60056-05-28T05:36:10.9551615Z"
        before = made_up(70, attributes=["hidden", "archive"], owner_sid="S-1-1-0")
        after = made_up(70, attributes=[], owner_sid="S-1-5-18", si={"created": late})
        paths = [self.lines(name, header(), row, SUMMARY) for name, row in (("a", before), ("b", after))]
        line = run("compare", *paths, status=1).stdout.decode().splitlines()[0]
        self.assertTrue(line.endswith(f"; created {late}; attributes hidden archive -> none; "
                                      "owner S-1-1-0 -> S-1-5-18"), line)

    def test_text_has_sizes_in_bytes_and_with_units_where_asked(self):
        paths = [self.lines(name, header(), made_up(70, size=size), SUMMARY) for name, size in (("a", 20344), ("b", 7 << 30))]
        for options, shown in (((), "20344 -> 7516192768"), (("--human",), "19.9 KiB -> 7.0 GiB")):
            line = run("compare", *options, *paths, status=1).stdout.decode().splitlines()[0]
            self.assertEqual(line, f"resized: /file 70 (record 70-1); size {shown}")
        run("compare", "--human", "--format", "ndjson", *paths, status=2)
        near = self.lines("c", header(), made_up(70, size=20350), SUMMARY)
        line = run("compare", "--human", paths[0], near, status=1).stdout.decode().splitlines()[0]
        self.assertEqual(line, "resized: /file 70 (record 70-1); size 20344 -> 20350 bytes")

    def test_text_names_the_zone_of_times(self):
        paths = [self.lines(name, header(), made_up(70, si={"modified": time, "accessed": accessed}), SUMMARY)
                 for name, time, accessed in (("a", None, None), ("b", "2024-02-29T20:00:00.1234567Z", None))]
        for options, shown in (((), "2024-02-29T20:00:00.1234567Z"),
                               (("--utc-offset", "+05:30"), "2024-03-01T01:30:00.1234567 (UTC+05:30)"),
                               (("--utc-offset", "-00:30"), "2024-02-29T19:30:00.1234567 (UTC-00:30)")):
            line = run("compare", *options, *paths, status=1).stdout.decode().splitlines()[0]
            self.assertEqual(line, f"touched: /file 70 (record 70-1); modified {shown}")
        line = run("compare", "--utc-offset", "+01:00", *reversed(paths), status=1).stdout.decode().splitlines()[0]
        self.assertTrue(line.endswith("; modified -"), line)

    def test_packed_snapshots(self):
        before = self.lines("a", header(), made_up(70), SUMMARY)
        after = self.lines("b", header(), made_up(70, size=2), SUMMARY)
        expected, _ = compare(before, after)
        self.assertEqual([row["changes"] for row in expected], [["resized"]])
        for pair in ((self.write("a.gz", gzip.compress(before.read_bytes())), after),
                     (before, self.write("b.xz", lzma.compress(after.read_bytes())))):
            rows, summary = compare(*pair)
            self.assertEqual([row | {"volume": None} for row in rows], [row | {"volume": None} for row in expected])
            self.assertEqual(summary["findings"], [])

    def test_several_snapshots_in_one_file_are_refused(self):
        one = header(), made_up(70), SUMMARY
        whole = self.lines("a", *one)
        other = one[0] | {"disk": {"size": 1 << 40}, "partition": {"number": 9, "offset": 9}}
        for lines, words in (((*one, *one), b"several snapshots"), ((*one[:-1], *one), b"several snapshots"),
                             ((*one[:-1], other, *one[1:]), b"snapshots of several disks")):
            for pair in (whole, self.lines("b", *lines)), (self.lines("b", *lines), whole):
                self.assertIn(words, run("compare", *pair, status=2).stderr)

    def test_a_part_of_a_snapshot_before_or_behind_another_is_told(self):
        row, last = made_up(70), SUMMARY | {"counts": {"volumes": 1, "live": 1}}
        whole = self.lines("a", header(), row, last)
        compare(whole, self.lines("b", header(), row, last), status=0)
        for lines in ((header(4096), made_up(71), header(), row, last), (header(4096), header(), row, last),
                      (header(), row, last, made_up(71)), (header(), row, {"type": "files"}, last), (header(), row, last, last)):
            with self.subTest(lines=[line["type"] for line in lines]):
                for pair in (whole, self.lines("b", *lines)), (self.lines("b", *lines), whole):
                    summary = compare(*pair, status=1)[1]
                    self.assertIn("snapshot-incomplete", [f["code"] for f in summary["findings"]])
        self.assertIn(b"several snapshots", run("compare", whole, self.lines("b", header(), row, last, header(), row),
                                                status=2).stderr)

    def test_paths_of_text_say_which_volume_they_are_of(self):
        paths = [self.lines(name, header(4096, "aa", 1), made_up(30, name=f"{name}1"), made_up(31),
                            header(8192, "bb", 2), made_up(30, name=f"{name}2"), *rest, SUMMARY)
                 for name, rest in (("a", ()), ("b", [made_up(31)]))]
        lines = run("compare", *paths, status=1).stdout.decode().splitlines()
        self.assertEqual(lines[:-1], ["renamed: /partition1/b1 (record 30-1); /partition1/a1 -> /partition1/b1",
                                      "renamed: /partition2/b2 (record 30-1); /partition2/a2 -> /partition2/b2",
                                      "created: /partition2/file 31 (record 31-1)"])

    def test_one_partition_of_snapshots(self):
        before, after = (self.lines(name, header(4096, "aa", 1), made_up(30, name=f"{name}1"), header(8192, "bb", 2),
                                    made_up(30, name="same"), *rest, SUMMARY)
                         for name, rest in (("a", ()), ("b", [made_up(31)])))
        for number, changes in ((1, [["renamed"]]), (2, [["created"]])):
            rows, summary = compare("--partition", number, before, after)
            self.assertEqual([row["changes"] for row in rows], changes)
            self.assertEqual(summary["counts"]["files_before"], 1)
        self.assertIn(b"no volume of partition 3", run("compare", "--partition", 3, before, after, status=2).stderr)

    def test_one_partition_of_a_snapshot_that_lacks_names(self):
        """The last line counts the names of all volumes, whichever is compared."""
        rows = header(4096, "aa", 1), made_up(30), made_up(31), header(8192, "bb", 2), made_up(30)
        whole = self.lines("whole", *rows, SUMMARY | {"counts": {"live": 3}})
        part = self.lines("part", *rows[:2], *rows[3:], SUMMARY | {"counts": {"live": 3}})
        for number, changes in ((1, [["deleted"]]), (2, [])):
            found, summary = compare("--partition", number, whole, part, status=1)
            self.assertEqual([row["changes"] for row in found], changes)
            self.assertEqual([finding["code"] for finding in summary["findings"]], ["snapshot-selection"])
            found, summary = compare("--partition", number, whole, whole, status=0)
            self.assertEqual((found, summary["findings"]), ([], []))

    def test_a_partition_of_each_side(self):
        def of(number, *rows):
            return [header(4096 * number, f"a{number}", number), *rows]

        # What was partition 1 became partition 2, behind a new one.
        before = self.lines("a", *of(1, made_up(30, name="old"), made_up(31, name="gone")), *of(3, made_up(30)), SUMMARY)
        after = self.lines("b", *of(1, made_up(77)), *of(2, made_up(30, name="new"), made_up(32)), SUMMARY)
        both = ("--before-partition", 1, "--after-partition", 2)
        rows, summary = compare(*both, before, after)
        self.assertEqual([(row["record"], row["changes"], row["volume"]["partition"]) for row in rows],
                         [(30, ["renamed"], 2), (31, ["deleted"], 2), (32, ["created"], 2)])
        self.assertEqual((summary["counts"]["files_before"], summary["counts"]["files"],
                          [finding["code"] for finding in summary["findings"]]), (2, 2, ["volume-other"]))
        self.assertEqual(run("compare", *both, before, after, status=1).stdout.decode().splitlines()[:-1],
                         ["renamed: /partition2/new (record 30-1); /partition1/old -> /partition2/new",
                          "deleted: /partition1/gone (record 31-1)", "created: /partition2/file 32 (record 32-1)"])
        # The other side is read whole: its only volume, or the one at that place.
        lone = self.lines("lone", header(0, "a1"), made_up(30, name="old"), SUMMARY)
        self.assertEqual([row["changes"] for row in compare("--before-partition", 1, before, lone)[0]], [["deleted"]])
        self.assertEqual([row["changes"] for row in compare("--after-partition", 2, lone, after)[0]],
                         [["renamed"], ["created"]])
        rows, summary = compare("--before-partition", 1, before, after)
        self.assertEqual(({row["volume"]["partition"] for row in rows}, summary["counts"]["files"]), ({1}, 1))
        self.assertEqual([finding["code"] for finding in summary["findings"]], ["volume-unmatched"])
        self.assertIn(b"have no volume in the same place",
                      run("compare", "--before-partition", 3, before, after, status=2).stderr)
        self.assertIn(b"no volume of partition 2", run("compare", "--before-partition", 2, before, after, status=2).stderr)
        for option in "--before-partition", "--after-partition":
            self.assertIn(b"--partition", run("compare", option, 1, "--partition", 1, before, after, status=2).stderr)

    def test_views_of_one_volume_are_compared_wherever_it_starts(self):
        def views(start, number, *names):
            for copy, name in enumerate(names):
                volume = header(start, "aa", number)
                volume["partition"]["shadow"] = {"number": copy, "created": None} if copy else None
                yield from (volume, made_up(30, name=name))

        before = self.lines("a", *views(4096, 1, "live", "first"), header(8192, "bb", 2), SUMMARY)
        after = self.lines("b", *views(0, None, "new", "first"), SUMMARY)
        (row,), summary = compare("--before-partition", 1, before, after)
        self.assertEqual((row["path_before"], row["path"], row["volume"]["shadow"], summary["findings"]),
                         ("/live", "/new", None, []))

    def test_damage_that_a_snapshot_tells_of_is_told(self):
        def told(name, *findings):
            return self.lines(name, header(), made_up(70), SUMMARY | {"findings": [
                {"code": code, "severity": severity, "count": 3} for code, severity in findings]})

        sound, info = told("a"), told("b", ("healthy", "info"))
        compare(sound, info, status=0)
        rows, summary = compare(sound, told("c", ("torn-fixup", "warning"), ("x\x1b" * 99, "warning")))
        self.assertEqual((rows, summary["same"]), ([], True))
        finding, = summary["findings"]
        self.assertEqual(finding["code"], "snapshot-findings")
        self.assertIn("torn-fixup (3), x", finding["text"])
        many = told("d", *((f"code-{i}", "warning") for i in range(1000)))
        finding, = compare(sound, many)[1]["findings"]
        self.assertIn(", and more", finding["text"])
        self.assertLess(len(finding["text"]), 400)

    def test_volumes_are_those_of_one_place(self):
        one, other = header(4096, "aa", 1), header(8192, "bb", 2)
        before = self.lines("a", one, made_up(30), other, made_up(30, name="x"), SUMMARY)
        after = self.lines("b", other, made_up(30, name="y"), one, made_up(30), SUMMARY)
        (row,), summary = compare(before, after)
        self.assertEqual((row["changes"], row["volume"]), (["renamed"], {"image": "b", "partition": 2, "start": 8192, "shadow": None}))
        rows, summary = compare(before, self.lines("c", one, made_up(30), header(9, "cc"), SUMMARY))
        self.assertEqual((rows, [(f["code"], f["count"]) for f in summary["findings"]]), ([], [("volume-unmatched", 2)]))
        copy = {"shadow": {"number": 1, "created": None}}
        shadows = [volume | {"partition": volume["partition"] | copy} for volume in (one, other)]
        rows, summary = compare(before, self.lines("s", shadows[0], made_up(30), shadows[1], made_up(30, name="x"), SUMMARY),
                                status=0)
        self.assertEqual((rows, summary["findings"], summary["counts"]["files"]), ([], [], 2))
        self.assertIn(b"no volume in the same place", run(
            "compare", before, self.lines("c", header(1), header(2), SUMMARY), status=2).stderr)
        rows, summary = compare(self.lines("c", header(1), SUMMARY), self.lines("d", header(2, "ff"), SUMMARY))
        self.assertEqual((rows, [f["code"] for f in summary["findings"]]), ([], ["volume-other"]))

    def test_damaged_and_other_inputs(self):
        whole = self.lines("a", header(), made_up(30), SUMMARY)
        for content in (json.dumps(header()).encode() + b"\n" + json.dumps(made_up(30)).encode() + b"\n",
                        whole.read_bytes().replace(b'"record": 30', b'"record": -1', 1),
                        whole.read_bytes().replace(b'"record": 30', b'"record": 281474976710656', 1),
                        whole.read_bytes() + b"{\n"):
            _, summary = compare(whole, self.write("b", content))
            self.assertIn("snapshot-incomplete", [f["code"] for f in summary["findings"]])
        for content in (b"", b"{}\n", b"[]", b"\0" * 4096, b'{"type":"header","schema":"other/1"}\n'):
            with self.subTest(content[:20]):
                done = run("compare", whole, self.write("b", content), status=2)
                self.assertEqual(done.stdout, b"")
        self.assertEqual(run("compare", "-", "-", status=2).stdout, b"")
        run("compare", whole, whole, "-o", whole, status=2)


@unittest.skipUnless(can_mount(), "no FUSE, or not root")
class Volumes(Case):
    def test_an_image_and_its_snapshot_both_tell_of_damage(self):
        volume = recipe.Volume(Path(self.here, "torn"), 16 << 20, 4096)
        with volume:
            volume.write("file", b"x" * 5000)
        sound = Path(self.here, "sound")
        shutil.copy(Path(self.here, "torn"), sound)
        data = bytearray(sound.read_bytes())
        at = max(i for i in range(0, len(data), 1024) if data[i:i + 4] == b"FILE" and b"f\0i\0l\0e\0" in data[i:i + 1024])
        data[at + 510] ^= 0xff
        torn = Path(self.here, "torn")
        torn.write_bytes(data)
        lines = Path(self.here, "torn.ndjson")
        run("snapshot", torn, "-q", "-o", lines, status=1)
        for each in torn, lines:
            done = run("compare", sound, each, status=1)
            self.assertIn(b"torn-fixup", done.stderr)

    def test_names_of_streams_that_are_no_text_are_told_apart(self):
        both, one = Path(self.here, "both"), Path(self.here, "one")
        volume = recipe.Volume(both, 16 << 20, 4096)
        names = [b"a\xed\xa0\x80b", b"a\xed\xa0\x81b"]  # U+D800 and U+D801
        units = ["610000d86200", "610001d86200"]
        with volume:
            volume.write("file", b"x")
            for size, name in enumerate(names, 1):
                volume.write("file:" + os.fsdecode(name), b"y" * size)
        shutil.copy(both, one)
        volume.path = one
        with volume:
            os.unlink(os.fsencode(volume.root / "file:") + names[0])
        for image in both, one:
            run("snapshot", image, "-q", "-o", f"{image}.ndjson")
        row, = (row for row in strict_ndjson(Path(f"{both}.ndjson").read_bytes()) if row.get("path") == "/file")
        self.assertEqual({stream.get("name_utf16"): (stream["name"], stream["size"]) for stream in row["streams"]},
                         {None: (None, 1), units[0]: ("a\ufffdb", 1), units[1]: ("a\ufffdb", 2)})
        for before, after in ((both, f"{both}.ndjson"), (f"{both}.ndjson", both)):
            self.assertEqual(compare(before, after, status=0)[0], [])
        for before, after in ((both, one), (f"{both}.ndjson", f"{one}.ndjson")):
            rows, _ = compare(before, after)
            row, = (row for row in rows if row["path"] == "/file")
            self.assertEqual(row["changes"], ["stream_deleted"] + (["touched"] if "touched" in row["changes"] else []))
            self.assertEqual([(stream["change"], stream["size_before"]) for stream in row["streams"]], [("deleted", 1)])
        # A hash is of the name, in a snapshot and in a comparison.
        key = self.write("key", bytes(range(32)))
        hashed = ["--names", "keyed-hash", "--key-file", key]
        snapshot = run("snapshot", both, "-q", *hashed).stdout
        shown = {stream["name"] for row in strict_ndjson(snapshot) if row["type"] == "file"
                 for stream in row["streams"] if stream["size"] == 1 and stream["name"]}
        rows, _ = compare(one, both, *hashed)
        self.assertLessEqual({stream["name"] for row in rows for stream in row["streams"]}, shown)

    def test_streams_of_a_packed_file_are_all_there(self):
        # ntfs-3g's attribute list of a packed file has its runs 8 bytes later than others.
        volume = recipe.Volume(Path(self.here, "few"), 16 << 20, 4096)
        names = [f"s{i}" for i in range(25)]
        with volume:
            (volume.root / "packed").mkdir()
            volume.attribute("packed", "ntfs_attrib", struct.pack("<I", 0x810))
            volume.write("packed/file", b"x")
            for name in names[:4]:
                volume.write(f"packed/file:{name}", b"y" * 100)
        shutil.copy(volume.path, Path(self.here, "many"))
        volume.path = Path(self.here, "many")
        with volume:
            for name in names[4:]:
                volume.write(f"packed/file:{name}", b"z" * 150)
        rows, summary = compare(Path(self.here, "few"), Path(self.here, "many"))
        row, = (row for row in rows if row["path"] == "/packed/file")
        created = {stream["name"]: stream["size"] for stream in row["streams"] if stream["change"] == "created"}
        self.assertEqual((created, summary["findings"]), (dict.fromkeys(names[4:], 150), []))
        # $ATTRIBUTE_LIST, 0x50 bytes, non-resident, without a name.
        self.assertIn(b"\x20\0\0\0\x50\0\0\0\x01\0\x48\0", Path(self.here, "many").read_bytes())


def record_places(image):
    """Where the records of a volume without fragments lie, by their numbers, as boot sector and records say."""
    sector, cluster, lcn = struct.unpack_from("<HB34xQ", image, 0x0b)
    place = {}
    for number, at in enumerate(range(lcn * cluster * sector, len(image), 1024)):
        if image[at:at + 4] != b"FILE" or struct.unpack_from("<I", image, at + 0x2c)[0] not in (0, number):
            return place
        place[number] = at
    return place


def attribute_places(image, at):
    """Type and place of each attribute of the record there."""
    place = at + struct.unpack_from("<H", image, at + 0x14)[0]
    while (kind := struct.unpack_from("<I", image, place)[0]) != 0xffffffff:
        yield kind, place
        place += struct.unpack_from("<I", image, place + 4)[0]


@unittest.skipUnless(can_mount(), "no FUSE, or not root")
class Damage(Case):
    """What cannot be read of one side is neither deleted nor created."""
    STATES = ("live", "deleted", "stale", "slack", "detached", "unreachable", "unnamed")

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.sound = Path(cls.folder.name) / "sound"
        volume = recipe.Volume(cls.sound, 16 << 20, 4096)
        with volume:
            (volume.root / "folder").mkdir()
            (volume.root / "many").mkdir()
            for name in ("file", "other", "gone", "folder/kid", "folder/brother"):
                volume.write(name, b"x" * 2000)
            os.link(volume.root / "file", volume.root / "folder/link")
            for number in range(200):
                volume.write(f"many/a file with a long name {number:03}", b"y")
            for name, size in (("one", 10), ("two", 20)):
                volume.write(f"other:{name}", b"z" * size)
        cls.rows = {row["path"]: row for row in strict_ndjson(run("snapshot", cls.sound).stdout) if row["type"] == "file"}
        cls.places = record_places(cls.sound.read_bytes())

    def number(self, path):
        return self.rows[path]["record"]

    def damaged(self, name, change):
        image = bytearray(self.sound.read_bytes())
        change(image)
        return self.write(name, bytes(image))

    def sides(self, image, *states):
        """An image, and snapshots of it, with files that no directory lists and without."""
        yield image
        for options in ([], ["--state", "live,unreachable,detached"]):
            path = Path(f"{image}{len(options)}.ndjson")
            run("snapshot", "-q", *options, image, "-o", path, status=1)
            yield path

    def compared(self, before, after):
        lines = strict_ndjson(run("compare", "--format", "ndjson", before, after, status=1).stdout)
        for line in lines:
            SCHEMA.validate(line)
        self.assertFalse(lines[-1]["same"])
        changes = {(row["path_before"] or row["path"], change) for row in lines[1:-1] for change in row["changes"]}
        return changes, lines[-1]["counts"]["unknown"]

    def check(self, image, unknown, changes=()):
        """Exactly so many files are unknown, whichever side is damaged."""
        for damaged in self.sides(image):
            for before, after in ((self.sound, damaged), (damaged, self.sound)):
                with self.subTest(damaged=damaged.name, first=before == damaged):
                    self.assertEqual(self.compared(before, after), (set(changes), unknown))
        text = run("compare", self.sound, image, status=1).stdout.decode()
        self.assertIn(f"{unknown} file{'s' * (unknown != 1)} of one side not compared: ", text)

    def test_a_record_that_cannot_be_used(self):
        self.assertIn(self.number("/gone"), self.places)
        at = self.places[self.number("/gone")]
        for name, what in (("magic", b"JUNK"), ("first attribute", None), ("BAAD", b"BAAD"), ("head", bytes(0x30)),
                           ("all", bytes(1024))):
            with self.subTest(name):
                def change(image, what=what):
                    if what:
                        image[at:at + len(what)] = what
                    if what in (None, b"BAAD"):
                        image[at + 0x14:at + 0x16] = b"\x03\xff"
                image = self.damaged(name, change)
                self.check(image, 1)
                lines = strict_ndjson(run("snapshot", image, status=1).stdout)
                gap, = (line for line in lines if line["type"] == "gap")
                self.assertEqual((gap["lost"], gap["offset"], gap["length"], gap["first_record"], gap["records"]),
                                 ("records", at, 1024, self.number("/gone"), 1))

    def test_records_one_behind_the_other_are_one_gap(self):
        first = self.number("/many/a file with a long name 050")
        for name, contents in (("several", [b"junk"] * 3), ("zeros", [bytes(1024)] * 3), ("both", [bytes(1024), b"junk", bytes(1024)])):
            with self.subTest(name):
                image = self.damaged(name, lambda image, contents=contents: [
                    image.__setitem__(slice(self.places[first + i], self.places[first + i] + len(what)), what)
                    for i, what in enumerate(contents)])
                lines = strict_ndjson(run("snapshot", image, status=1).stdout)
                gap, = (line for line in lines if line["type"] == "gap")
                self.assertEqual((gap["offset"], gap["first_record"], gap["records"], gap["length"]),
                                 (self.places[first], first, 3, 3 * 1024))
                self.assertEqual(lines[-1]["counts"]["gaps"], 1)
                self.check(image, 3)

    def files_from(self, first):
        return len({row["record"] for row in self.rows.values() if row["record"] >= first})

    def test_records_that_the_extents_of_mft_do_not_have(self):
        image = self.sound.read_bytes()
        at = self.places[0]
        data, = (place for kind, place in attribute_places(image, at) if kind == 0x80)
        records = struct.unpack_from("<Q", image, data + 0x30)[0] // 1024
        run_at = data + struct.unpack_from("<H", image, data + 0x20)[0]
        self.assertIn(image[run_at] & 15, (1, 2))
        first = self.number("/many/a file with a long name 100") // 4 * 4
        self.assertLess(self.number("/many"), first)

        def change(image):
            size = image[run_at] & 15
            image[run_at + 1:run_at + 1 + size] = (first // 4).to_bytes(size, "little")
            image[run_at + 1 + size + (image[run_at] >> 4)] = 0
        damaged = self.damaged("short", change)
        lines = strict_ndjson(run("snapshot", damaged, status=1).stdout)
        gap, = (line for line in lines if line["type"] == "gap")
        self.assertEqual(gap, {"type": "gap", "offset": at, "length": 1024, "lost": "records", "first_record": first,
                               "records": records - first})
        self.assertIn("mft-size", {finding["code"] for finding in lines[-1]["findings"]})
        self.check(damaged, self.files_from(first), [("/$MFT", "metadata")])
        # With the sound one as a shadow copy of it: the files are absent now only where no gap says otherwise.
        then, now = (strict_ndjson(run("snapshot", "-q", "--state", "all", image, status=status).stdout)
                     for image, status in ((self.sound, 0), (damaged, 1)))
        then[0]["partition"]["shadow"] = {"number": 1, "created": "2024-01-01T00:00:00.0000000Z"}
        rows = collections.Counter(line["state"] for line in then + now if line["type"] == "file")
        last = dict(now[-1], counts=now[-1]["counts"] | {state: 0 for state in now[-1]["counts"] if state in self.STATES} |
                    rows | {"volumes": 2})
        for absent in False, True:
            path = self.write("views.ndjson", "".join(json.dumps(line) + "\n" for line in (
                *then[:-1], *(line for line in now[:-1] if line["type"] != "gap" or not absent), last)).encode())
            versions = strict_ndjson(run("history", path, "--format", "ndjson", "/many/*", status=1).stdout)
            gone = [line for line in versions if line["type"] == "version" and not line["live"] and line["file"]["record"] >= first]
            self.assertEqual({line["file"]["record"] for line in gone},
                             {row["record"] for path, row in self.rows.items() if path.startswith("/many/") and row["record"] >= first})
            self.assertEqual({line["absent_live"] for line in gone}, {absent})

    def test_a_copied_mft_that_is_cut_off(self):
        image = self.sound.read_bytes()
        whole = b"".join(image[at:at + 1024] for at in self.places.values())
        data, = (place for kind, place in attribute_places(whole, 0) if kind == 0x80)
        records = struct.unpack_from("<Q", whole, data + 0x30)[0] // 1024
        whole += bytes(records * 1024 - len(whole))
        first = self.number("/many/a file with a long name 100")
        sound = self.write("mft", whole)
        for size in first * 1024, first * 1024 + 700:
            cut = self.write("cut", whole[:size])
            gap, = (line for line in strict_ndjson(run("snapshot", cut, status=1).stdout) if line["type"] == "gap")
            self.assertEqual((gap["lost"], gap["first_record"], gap["records"]), ("records", first, records - first))
            for before, after in ((sound, cut), (cut, sound)):
                self.assertEqual(self.compared(before, after), (set(), self.files_from(first)))

    def test_a_directory_whose_record_cannot_be_used(self):
        at = self.places[self.number("/folder")]
        # Its two files and itself; of the file with a link in it, whether that is there.
        image = self.damaged("directory", lambda image: image.__setitem__(slice(at, at + 4), b"JUNK"))
        with_all = [side for side in self.sides(image)]
        for damaged in (with_all[0], with_all[2]):
            for before, after in ((self.sound, damaged), (damaged, self.sound)):
                changes, unknown = self.compared(before, after)
                self.assertEqual((changes, unknown), (set(), 4))

    def test_an_index_that_cannot_be_used(self):
        buffers = [extent["offset"] for stream in self.rows["/many"]["other_streams"] if stream["type"] == "$INDEX_ALLOCATION"
                   for extent in stream["extents"]]
        found = [at for at in range(buffers[0], buffers[0] + 0x8000, 4096)
                 if self.sound.read_bytes()[at:at + 4] == b"INDX"]
        for name, where, what in (("buffer", 0, bytes(4096)), ("entries", 0x40, b"\xff" * 0x100)):
            with self.subTest(name):
                image = self.damaged(name, lambda image: image.__setitem__(
                    slice(found[0] + where, found[0] + where + len(what)), what))
                lines = strict_ndjson(run("snapshot", "--state", "all", image, status=1).stdout)
                lost = {row["record"] for row in lines if row["type"] == "file" and row["state"] == "unreachable"}
                self.assertTrue(lost)
                for gap in (line for line in lines if line["type"] == "gap"):
                    self.assertEqual((gap["lost"], gap["directory"]), ("index", self.number("/many")))
                    self.assertTrue(found[0] <= gap["offset"] < found[0] + 4096)
                for damaged in list(self.sides(image))[::2]:
                    for before, after in ((self.sound, damaged), (damaged, self.sound)):
                        self.assertEqual(self.compared(before, after), (set(), len(lost)))

    def torn(self, name, at, where, what):
        """An image with changed bytes in a structure whose last sector is of another write, by its update sequence number."""
        def change(image):
            image[where:where + len(what)] = what
            last = at + (struct.unpack_from("<H", image, at + 6)[0] - 1) * 512 - 2
            image[last] ^= 0x40
        return self.damaged(name, change)

    def check_torn(self, image, file, directory, at, size):
        lines = strict_ndjson(run("snapshot", "--state", "all", image, status=1).stdout)
        gap, = (line for line in lines if line["type"] == "gap")
        self.assertEqual((gap["lost"], gap["directory"], gap["offset"], gap["length"]), ("index", directory, at, size))
        self.assertEqual({(row["record"], row["path"]) for row in lines if row["type"] == "file" and row["state"] == "unreachable"},
                         {(self.number(file), file)})
        for damaged in list(self.sides(image))[::2]:
            for before, after in ((self.sound, damaged), (damaged, self.sound)):
                self.assertEqual(self.compared(before, after), (set(), 1))

    def test_an_index_that_was_not_written_as_a_whole(self):
        """Of what a torn buffer says, that counts with which records agree."""
        image = self.sound.read_bytes()
        start = next(extent["offset"] for stream in self.rows["/many"]["other_streams"] if stream["type"] == "$INDEX_ALLOCATION"
                     for extent in stream["extents"])
        # One whose last sector has no entries.
        at = next(at for at in range(start, start + 0x8000, 4096)
                  if image[at:at + 4] == b"INDX" and 0x18 + struct.unpack_from("<I", image, at + 0x1c)[0] < 0xe00)
        entry = at + 0x18 + struct.unpack_from("<I", image, at + 0x18)[0]
        units = image[entry + 0x10 + 0x40]
        name = image[entry + 0x52:entry + 0x52 + 2 * units].decode("utf-16-le")
        self.assertIn(f"/many/{name}", self.rows)
        other = struct.pack("<IHH", self.number("/gone"), 0, self.rows["/gone"]["sequence"])
        for kind, where, what in (("name", entry + 0x52, b"Z\0"), ("reference", entry, other),
                                  ("reference to nothing", entry, struct.pack("<IHH", 0xffffff, 0, 1))):
            with self.subTest(kind):
                self.assertNotEqual(image[where:where + len(what)], what)
                self.check_torn(self.torn(kind, at, where, what), f"/many/{name}", self.number("/many"), at, 4096)

    def test_an_index_in_a_record_that_was_not_written_as_a_whole(self):
        image, at = self.sound.read_bytes(), self.places[self.number("/folder")]
        root, = (place for kind, place in attribute_places(image, at) if kind == 0x90)
        name = image.index("kid".encode("utf-16-le"), root, at + 1024)
        self.check_torn(self.torn("root", at, name, b"K\0"), "/folder/kid", self.number("/folder"), at, 1024)

    def test_attributes_that_are_lost_with_a_part_of_a_record(self):
        at = self.places[self.number("/other")]
        data = [place for kind, place in attribute_places(self.sound.read_bytes(), at) if kind == 0x80]
        self.assertEqual(len(data), 3)
        # The length of the second one, a named stream, is impossible: it and the third are lost.
        image = self.damaged("attribute", lambda image: image.__setitem__(slice(data[1] + 4, data[1] + 8), b"\xff\xff\xff\x7f"))
        self.check(image, 1)

    def test_a_record_that_was_not_written_as_a_whole(self):
        at = self.places[self.number("/gone")]
        image = self.damaged("torn", lambda image: image.__setitem__(at + 1023, image[at + 1023] ^ 0x40))
        for damaged in self.sides(image):
            for before, after in ((self.sound, damaged), (damaged, self.sound)):
                counts = strict_ndjson(run("compare", "--format", "ndjson", before, after, status=1).stdout)[-1]["counts"]
                self.assertEqual((counts["changes"]["deleted"], counts["changes"]["created"]), (0, 0))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
