"""Compares coldtrace with the mounted volume and with other programs, on real images.

usage: real_images.py COLDTRACE SOURCES SHARED

Images are made with mkntfs and ntfs-3g; where nothing can be mounted (no FUSE, not root) these
tests skip. Where SHARED has images made by Windows, they are compared with The Sleuth Kit and
libfsntfs. Defects of these programs that the tests step around:
  The Sleuth Kit 4.11: refuses clusters above 64 KiB; ends at 129 levels; shows control
    characters and unpaired surrogates as '^'; lists no root; gives every link of a file the
    $FILE_NAME that comes first; shows a time that is not set as one of 2076.
  libfsntfs 20200921: loses large directories where clusters are not 4096 bytes; wrong UTF-8 for
    surrogate pairs.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import installed  # noqa: E402
from sample_volumes import sample_volume  # noqa: E402
from strict import strict_csv, strict_json, strict_ndjson  # noqa: E402

COLDTRACE, SOURCES, SHARED = (Path(argument).resolve() for argument in sys.argv[1:4])
MAKE = SOURCES / "fixtures/recipes/make-ntfs-image.py"


def run(*arguments, status=0):
    done = subprocess.run([COLDTRACE, "ntfs", *map(str, arguments)], capture_output=True, timeout=120)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stdout


def rows(image, *options):
    return [row for row in strict_ndjson(run("snapshot", *options, image))
            if row["type"] == "file"]


def ticks(text):
    """FILETIME of a time as coldtrace writes it."""
    if text is None:
        return 0
    year, rest = re.fullmatch(r"\+?(\d+)(-.*)Z", text).groups()
    month, day, hour, minute, second, fraction = map(int, re.split(r"[-T:.]", rest[1:]))
    year = int(year)
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 584694
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 10**7 + fraction


class Mounted:
    """What the file system itself says."""

    def __init__(self, image):
        self.root = Path(str(image) + ".check")
        self.root.mkdir()
        subprocess.run(["ntfs-3g", "-o", "ro,show_sys_files,streams_interface=windows,noatime",
                        str(image), str(self.root)], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", str(self.root)], check=True)
        self.root.rmdir()

    def walk(self):
        """(path, place relative to a descriptor, status), whatever the length of the path."""
        stack = [("", os.open(self.root, os.O_RDONLY))]
        while stack:
            above, folder = stack.pop()
            for name in os.listdir(folder):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                path = f"{above}/{name}"
                yield path, f"/proc/self/fd/{folder}/{name}", status
                if status.st_mode >> 12 == 4:
                    stack.append((path, os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)))
            os.close(folder)


def body_ids(image):
    """Sizes by id of the bodyfile's lines; an id has one size."""
    sizes = {}
    for line in run("snapshot", "--state", "all", "--format", "bodyfile", image).decode().splitlines():
        fields = line.split("|")
        size = sizes.setdefault(fields[2], int(fields[6]))
        assert size == int(fields[6]), line
    return sizes


def check_with_icat(case, image, sizes, *options):
    for identity, size in sizes.items():
        done = subprocess.run(["icat", *options, image, identity], capture_output=True)
        case.assertEqual((done.returncode, len(done.stdout)), (0, size), identity)


def can_mount():
    return (os.geteuid() == 0 and os.path.exists("/dev/fuse") and shutil.which("ntfs-3g")
            and shutil.which("mkntfs") and shutil.which("fuser"))


class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not can_mount():
            raise unittest.SkipTest("ntfs-3g cannot mount here; images built in memory stand in")
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)

    def make(self, kind, *arguments):
        image = Path(self.directory.name) / f"{kind}-{'-'.join(map(str, arguments))}.img"
        if image.exists():
            return image
        done = subprocess.run([sys.executable, MAKE, kind, image, *map(str, arguments)],
                              capture_output=True)
        if done.returncode != 0:
            raise unittest.SkipTest(f"cannot make the image: {done.stderr.decode()[-300:]}")
        return image

    def compare(self, image):
        found = {row["path"]: row for row in rows(image)}
        seen = set()
        with open(image, "rb") as content, Mounted(image) as mounted:
            for path, place, status in mounted.walk():
                if any("\udc80" <= c <= "\udcff" for c in path):  # ntfs-3g's unpaired surrogates
                    continue
                self.assertIn(path, found)
                seen.add(path)
                row = found[path]
                self.assertEqual(row["record"], status.st_ino, path)
                stored = os.getxattr(place, "system.ntfs_times", follow_symlinks=False)
                self.assertEqual([ticks(row["si"][key]) for key in
                                  ("created", "modified", "accessed", "changed")],
                                 list(struct.unpack("<4Q", stored)), path)
                if status.st_mode >> 12 == 8 and not path.startswith("/$"):
                    self.check_content(row, place, status, content)
        extra = {path for path in found if path not in seen and "\ufffd" not in path}
        self.assertLessEqual(extra, {"/", "/$MFT"})
        return found

    def check_content(self, row, place, status, content):
        stream = next(s for s in row["streams"] if s["name"] is None)
        self.assertEqual(stream["size"], status.st_size, row["path"])
        if stream["compressed"] or status.st_size == 0:
            return
        with open(place, "rb") as file:
            expected = file.read(1 << 20)
        if stream["resident"]:
            content.seek(stream["resident_offset"])
            stored = content.read(stream["size"])
            for index, (a, b) in enumerate(zip(stored, expected)):
                if index not in stream["fixup_positions"]:
                    self.assertEqual(a, b, (row["path"], index))
            return
        size = self.cluster_size
        for extent in stream["extents"]:
            start = extent["vcn"] * size
            if start >= len(expected):
                break
            wanted = expected[start:min(start + 512, stream["valid"])]
            if extent["offset"] is None:
                self.assertFalse(any(wanted), row["path"])
            else:
                content.seek(extent["offset"])
                self.assertEqual(content.read(len(wanted)), wanted, row["path"])

    def test_all_names_times_places_and_contents(self):
        for cluster, sector in ((4096, 512), (512, 512), (65536, 512), (2 << 20, 512), (4096, 4096)):
            with self.subTest(cluster=cluster, sector=sector):
                self.cluster_size = cluster
                image = self.make("odd", cluster, sector)
                found = self.compare(image)
                self.assertEqual(found["/links/first"]["links"], 3)
                self.assertEqual(found["/meta/Long Name One.text"]["short_name"], "LONGNA~1.TEX")
                self.assertEqual(found["/reparse/junction"]["reparse"]["target"], "\\??\\C:\\Users")
                self.assertEqual(found["/reparse/symlink"]["reparse"]["target"], "..\\links\\first")
                self.assertEqual(len(found["/streams/many"]["streams"]), 41)
                lone = [row for row in found.values() if "name_utf16" in row]
                self.assertEqual([row["name"] for row in lone], ["lone \ufffd surrogate"])
                for name, size in (("small", 4), ("large", 3000)):
                    self.assertEqual(found[f"/meta/{name} ea"]["ea"],
                                     [{"name": "$LXUID", "size": size}])
                self.check_own_times(image, found)
                if (cluster, sector) == (4096, 512):
                    self.check_deleted(image)
                    with self.subTest("istat"):
                        self.check_clusters(image, found)
                    self.check_schema(image)
                    self.check_body(image)
                    self.check_ids(image, found)

    def check_own_times(self, image, found):
        """The times of $MFT are as its record has them; ntfs-3g sets them to 0, "not set", and
        The Sleuth Kit shows 0 as the year 2076."""
        row = found["/$MFT"]
        with open(image, "rb") as content:
            content.seek(row["record_offset"])
            record = content.read(1024)
        at = struct.unpack_from("<H", record, 0x14)[0]
        self.assertEqual(struct.unpack_from("<I", record, at)[0], 0x10)
        stored = struct.unpack_from("<4Q", record, at + 0x18)
        self.assertEqual(tuple(ticks(row["si"][key]) for key in
                               ("created", "modified", "changed", "accessed")), stored)

    def check_deleted(self, image):
        gone = {row["path"] for row in rows(image, "--state", "deleted")}
        for number in range(0, 20, 3):
            self.assertIn(f"/deleted/file {number}", gone)
        self.assertIn("/deleted/folder/kid 7", gone)

    def check_clusters(self, image, found):
        if not shutil.which("istat"):
            self.skipTest("sleuthkit is not installed")
        for path in ("/pieces/one", "/pieces/hundreds", "/holes/some", "/compressed/random"):
            row = found[path]
            text = subprocess.run(["istat", image, str(row["record"])], capture_output=True,
                                  text=True).stdout
            part = re.search(r"Type: \$DATA \(128-\d+\)   Name: N/A.*?\n((?:[\d ]+\n?)*)", text)
            theirs = [int(n) for n in part.group(1).split()]
            stream = next(s for s in row["streams"] if s["name"] is None)
            ours = [0 if e["lcn"] is None else e["lcn"] + i
                    for e in stream["extents"] for i in range(e["clusters"])]
            # istat leaves out holes behind the last cluster.
            while ours and ours[-1] == 0:
                ours.pop()
            while theirs and theirs[-1] == 0:
                theirs.pop()
            self.assertEqual(ours, theirs, path)

    def check_schema(self, image):
        schema = json.loads((SOURCES / "docs/schema/ntfs-snapshot.schema.json").read_text())
        check = json_schema.of(schema)
        lines = strict_ndjson(run("snapshot", "--state", "all", "--slack", image))
        for line in lines[:150] + lines[-150:]:
            check.validate(line)
        self.assertEqual(lines[-1]["type"], "summary")
        array = strict_json(run("snapshot", "--format", "json", "--state", "all", "--slack", image))
        self.assertEqual(array, lines)
        table = strict_csv(run("snapshot", "--state", "all", "--slack", "--format", "csv", image))
        files = [line for line in lines if line["type"] == "file"]
        self.assertEqual(len(table), len(files))
        for cells, line in zip(table, files):
            self.assertEqual((cells["path"], cells["name"]),
                             (line["path"] or "", line["name"] or ""))
            self.assertEqual((cells["name_utf16"], cells["reparse_kind"]),
                             (line.get("name_utf16", ""), (line["reparse"] or {}).get("kind") or ""))
            for nested in ("streams", "other_streams", "findings", "ea"):
                self.assertEqual(strict_json(cells[nested].encode()), line[nested])
            for kind in ("si", "fn", "index"):
                self.assertEqual([cells[f"{kind}_{key}"] for key in
                                  ("created", "modified", "changed", "accessed")],
                                 [(line[kind] or {}).get(key) or "" for key in
                                  ("created", "modified", "changed", "accessed")])

    def check_body(self, image):
        body = run("snapshot", "--format", "bodyfile", image).decode()
        for line in body.splitlines():
            self.assertEqual(line.count("|"), 10, line)
        self.assertIn("0|/names/a\\x7cb|", body)
        if installed(self, "fls"):
            named = " ($FILE_NAME)"
            listed = subprocess.run(["fls", "-r", "-u", "-m", "/", image], capture_output=True,
                                    text=True, errors="replace").stdout
            theirs = {tuple(line.split("|")[1:3]) + (line.split("|")[6],)
                      for line in listed.splitlines() if named in line and line.count("|") == 10}
            ours = {tuple(line.split("|")[1:3]) + (line.split("|")[6],)
                    for line in body.splitlines() if named in line}
            # Names with escapes differ, and of a file with many names it shows the first each time.
            theirs = {line for line in theirs if re.fullmatch(r"[ -\[\]-{}~]*", line[0])
                      and not re.search(r"\^|\$OrphanFiles|^/links/", line[0])}
            self.assertGreater(len(theirs), 1500)
            self.assertEqual(sorted(theirs - ours)[:3], [])
        last = next(line for line in body.splitlines() if "|/times/last|" in line)
        self.assertEqual(last.split("|")[-1], "910692730085.4775807")

    def check_ids(self, image, found):
        """icat takes the ids of the bodyfile, and they are those of single attributes."""
        if not shutil.which("icat"):
            self.skipTest("icat is not installed")
        far = {str(found[path]["record"]) for path in ("/streams/many", "/links/first")}
        sizes = body_ids(image)
        chosen = [i for i in sizes if i.split("-")[0] in far] + list(sizes)[::40]
        self.assertGreater(sum(i.startswith(f"{found['/streams/many']['record']}-128-")
                               for i in chosen), 40)
        check_with_icat(self, image, {i: sizes[i] for i in chosen})

    def test_a_fragmented_mft(self):
        self.cluster_size = 1024
        image = self.make("fragmented")
        info = strict_json(run("info", "--format", "json", image))
        extents = info["partitions"][0]["volume"]["mft_extents"]
        self.assertGreater(len(extents), 20)
        self.compare(image)

    def test_output_does_not_depend_on_jobs(self):
        self.cluster_size = 4096
        image = self.make("odd", 4096, 512)
        one = run("snapshot", "--state", "all", "--slack", "--jobs", "1", image)
        self.assertEqual(one, run("snapshot", "--state", "all", "--slack", "--jobs", "3", image))


class Windows(unittest.TestCase):
    def image(self, name):
        packed = SHARED / "samples/ntfs" / name
        if not packed.exists() or not shutil.which("fls") or not shutil.which("fsntfsinfo"):
            self.skipTest("no images made by Windows here, or no programs to compare with")
        return sample_volume(packed)

    def test_live_records_extents_and_times_are_those_of_other_programs(self):
        for name in ("ntfs-ptrn.raw.gz", "ntfs-lastaccess.raw.gz"):
            with self.subTest(name=name):
                image = self.image(name)
                found = {row["path"]: row for row in rows(image)}
                listed = subprocess.run(["fls", "-o", "128", "-r", "-p", "-u", image],
                                        capture_output=True, text=True).stdout
                theirs = {"/" + re.sub(r":[^/]*$", "", line.split("\t", 1)[1]):
                          int(re.search(r" \*? ?(\d+)-", line).group(1))
                          for line in listed.splitlines() if "OrphanFiles" not in line}
                ours = {path: row["record"] for path, row in found.items() if path != "/"}
                self.assertEqual(ours, theirs)
                for path, row in found.items():
                    self.compare_record(image, path, row)
                self.compare_bodies(image, found)

    def test_ids_of_the_bodyfile_are_those_of_the_sleuth_kit(self):
        for name in ("ntfs-ptrn.raw.gz", "ntfs-lastaccess.raw.gz"):
            with self.subTest(name=name):
                image = self.image(name)
                listed = subprocess.run(["fls", "-o", "128", "-r", "-m", "/", image],
                                        capture_output=True, text=True).stdout
                theirs = {line.split("|")[2]: int(line.split("|")[6])
                          for line in listed.splitlines() if "OrphanFiles" not in line}
                ours = body_ids(image)
                self.assertEqual({i: ours.get(i) for i in theirs}, theirs)
                # fls lists neither the root nor the unnamed records that NTFS keeps.
                self.assertEqual({i.split("-")[0] for i in ours.keys() - theirs.keys()},
                                 {"5", "12", "13", "14", "15"})
                # icat leaves out the one hole of $BadClus:$Bad.
                check_with_icat(self, image, {i: size for i, size in ours.items()
                                              if not i.startswith("8-128-")}, "-o", "128")

    def compare_record(self, image, path, row):
        text = subprocess.run(["istat", "-o", "128", image, str(row["record"])],
                              capture_output=True, text=True).stdout
        for stream in row["streams"]:
            if stream["resident"] or stream["size"] > 1 << 26:
                continue
            part = re.search(rf"Type: \$DATA \(128-{stream['id']}\).*\n((?:[\d ]+\n?)*)", text)
            theirs = [int(n) for n in part.group(1).split()]
            ours = [0 if e["lcn"] is None else e["lcn"] + i
                    for e in stream["extents"] for i in range(e["clusters"])]
            self.assertEqual(ours, theirs, path)

    def compare_bodies(self, image, found):
        with tempfile.TemporaryDirectory() as here:
            body = Path(here) / "body"
            subprocess.run(["fsntfsinfo", "-o", "65536", "-H", "-B", body, image],
                           capture_output=True)
            lines = [line.split("|") for line in body.read_text().splitlines()]
        compared = 0
        for fields in lines:
            path = fields[1].replace("\\\\", "/")
            row = found.get(path)
            if row is None or path.endswith(" ($FILE_NAME)"):
                continue
            theirs = [round(float(fields[i].split(".")[0])) for i in (7, 8, 9, 10)]
            ours = [ticks(row["si"][key]) // 10**7 - 11644473600
                    for key in ("accessed", "modified", "changed", "created")]
            self.assertEqual(ours, theirs, path)
            compared += 1
        self.assertGreater(compared, 20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
