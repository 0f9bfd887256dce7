"""What `coldtrace report` writes of disks: the figures are those that Python makes of the lines of `ntfs snapshot`.

usage: report_disks.py COLDTRACE SHARED IMAGES [arguments of unittest]
"""
import datetime
import gzip
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys
import unittest
import zipfile
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case, installed
from cli.trace.analysis.answers import runner
from cli.trace.etl_writer import EtlWriter
from cli.report.page.page_reader import Page
from cli.report.page.shown_page import shown
from sample_volumes import sample_volume
from strict import strict_json

COLDTRACE, SHARED, IMAGES = (Path(a).resolve() for a in sys.argv[1:4])

run = runner(COLDTRACE)


def images(folder):
    """The sample images as links in the folder; what is edited is a copy."""
    for packed in sorted((SHARED / "samples/ntfs").glob("*.raw.gz")):
        image = folder / packed.stem
        if not image.exists():
            image.symlink_to(sample_volume(packed))
        yield image


def small_volume(path):
    """A volume of a few MB with nothing on it; nothing where there is no mkntfs."""
    if not shutil.which("mkntfs"):
        raise unittest.SkipTest("mkntfs is not here")
    path.write_bytes(b"")
    os.truncate(path, 4 << 20)
    subprocess.run(["mkntfs", "-F", "-q", "-Q", "-L", "small <b>", path], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def mft_of(image, path):
    """The volume's $MFT, copied out."""
    lines = [json.loads(line) for line in run("ntfs", "snapshot", image).stdout.splitlines()]
    cluster = lines[0]["volume"]["cluster_size"]
    table = next(row for row in lines if row.get("path") == "/$MFT")
    with open(image, "rb") as file, open(path, "wb") as out:
        for stream in table["streams"]:
            for extent in stream["extents"] if stream["name"] is None else ():
                file.seek(extent["offset"])
                out.write(file.read(extent["clusters"] * cluster))
    return path


class Disks(Case):
    def test_figures_are_those_of_the_rows(self):
        count = 0
        for image in images(self.here):
            done = run("ntfs", "snapshot", "--state", "all", image)
            if done.returncode == 2:
                continue
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            if sum(row["type"] == "header" for row in rows) != 1:
                continue
            count += 1
            with self.subTest(image=image.name):
                answer = run("report", image)
                self.assertIn(answer.returncode, (0, 1))
                self.compare(Page(answer.stdout), next(row for row in rows if row["type"] == "header")["volume"]["cluster_size"], [row for row in rows if row["type"] == "file"])
        if count == 0:
            self.skipTest("the sample images are not here")

    def compare(self, page, cluster, rows):
        prefix = next(name for name in page.tables if name.endswith("-states")).removesuffix("-states")
        told = dict(zip(page.column(f"{prefix}-states", "State"), page.figures(f"{prefix}-states", "Names")))
        self.assertEqual(told, dict(Counter(row["state"] for row in rows)))
        met, files, directories, sizes = set(), [], defaultdict(int), defaultdict(set)
        for row in rows:
            if row["record"] is None or row["record_offset"] is None or row["record"] in met and row["state"] in ("live", "deleted"):
                continue
            if row["state"] in ("stale", "slack"):
                continue
            met.add(row["record"])
            size = sum((stream["size"] or 0) if stream["resident"] else
                       sum(extent["clusters"] for extent in stream["extents"] if extent["lcn"] is not None) * cluster
                       for stream in row["streams"] or [])
            pieces = sum(extent.get("lcn") is not None for stream in row["streams"] or []
                         for extent in stream.get("extents") or [])
            files.append((row["state"], row["path"], size, pieces))
            sizes[row["path"]].add("-" if row["size"] is None else row["size"])
            if row["state"] == "live":
                path = row["path"] if row["directory"] else row["path"].rpartition("/")[0]
                while True:
                    path = path if path != "/" else ""
                    directories[path or "/"] += size
                    if not path:
                        break
                    path = path.rpartition("/")[0]
        if f"{prefix}-directories" in page.tables:
            for name, size in zip(page.column(f"{prefix}-directories", "Directory"),
                                  page.figures(f"{prefix}-directories", "Bytes")):
                self.assertEqual(size, directories[name], name)
        # The size that the row has, which is not that of its streams with names.
        for name in "largest", "fragmented", "deleted":
            if f"{prefix}-{name}" in page.tables:
                for path, cell in zip(page.column(f"{prefix}-{name}", "Path"), page.column(f"{prefix}-{name}", "Size")):
                    if path in sizes and "\\" not in path:
                        self.assertIn(cell if cell == "-" else cell.figure, sizes[path], path)
        largest = sorted((-size, path) for state, path, size, _ in files if state == "live")[:250]
        self.assertEqual(page.figures(f"{prefix}-largest", "On disk"), [-size for size, _ in largest])
        if f"{prefix}-fragmented" in page.tables:
            pieces = sorted((-pieces for state, _, _, pieces in files if state == "live" and pieces > 1))[:250]
            self.assertEqual(page.figures(f"{prefix}-fragmented", "Extents"), [-one for one in pieces])

    def test_the_map_ends_with_the_volume(self):
        """Also where its places have a number of clusters that does not divide those of the volume."""
        for clusters in 300, 512, 767, 1025, 5000:
            image = self.here / f"{clusters}.img"
            image.write_bytes(b"")
            os.truncate(image, clusters * 4096 + 512)
            if not shutil.which("mkntfs"):
                self.skipTest("mkntfs is not here")
            subprocess.run(["mkntfs", "-F", "-q", "-Q", "-c", "4096", image], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            sectors, = struct.unpack_from("<Q", image.read_bytes(), 0x28)
            self.assertEqual(sectors * 512 // 4096, clusters)
            page = Page(run("report", image).stdout)
            table = next(name for name in page.tables if name.endswith("-map"))
            each = -(-clusters // 512)
            self.assertEqual(page.figures(table, "From byte"), list(range(0, clusters * 4096, each * 4096)))
            self.assertEqual(sum(page.figures(table, "Free")) + sum(page.figures(table, "Used")), clusters)
            volume = next(one for part in page.parts() for one in part.facts.get("volumes", []))
            self.assertEqual(volume["clusters"], clusters)
            self.assertIn(f"<span>0</span><span>{clusters * 4096 / 2**20:.1f} MiB</span></p>".encode(), page.bytes)

    def test_volumes_whose_boot_sectors_are_lost(self):
        """By their copies of it, or their $MFT; packed and split too."""
        image = small_volume(self.here / "whole.img")
        tables = Page(run("report", image).stdout).tables
        content = image.read_bytes()
        lost = {"zeros.img": bytes(512) + content[512:], "name.img": content[:3] + b"XXXXXXXX" + content[11:],
                "both.img": bytes(512) + content[512:-512] + bytes(512)}
        lost["both.img.gz"] = gzip.compress(lost["both.img"])
        half = len(content) // 2
        lost["parts.000"], lost["parts.001"] = lost["both.img"][:half], lost["both.img"][half:]
        for name, changed in lost.items():
            (self.here / name).write_bytes(changed)
        for name in lost:
            if name == "parts.001":
                continue
            with self.subTest(name):
                done = run("report", self.here / name)
                self.assertEqual(done.returncode, 1, done.stderr)
                told = Page(done.stdout).tables
                for table in "disk-0-0-states", "disk-0-0-largest":
                    self.assertEqual(list(map(str, sum(told[table], []))), list(map(str, sum(tables[table], []))))

    def test_times_that_are_not_set_are_none(self):
        image = small_volume(self.here / "small.img")
        rows = [json.loads(line) for line in run("ntfs", "snapshot", image).stdout.splitlines()]
        at = next(row["record_offset"] for row in rows if row.get("path") == "/$LogFile")
        with open(image, "r+b") as file:
            file.seek(at)
            record = file.read(1024)
            (first,) = struct.unpack_from("<H", record, 20)
            (value,) = struct.unpack_from("<H", record, first + 20)  # of $STANDARD_INFORMATION
            file.seek(at + first + value)
            file.write(bytes(32))
        path = self.here / "files.ndjson"
        run("ntfs", "snapshot", image, "-o", path)
        for source in image, path:
            page = Page(run("report", source).stdout)
            (row,) = [row for row in page.tables["disk-0-0-largest"] if str(row[0]) == "/$LogFile"]
            self.assertEqual(str(row[-1]), "-")

    def test_a_page_names_what_could_not_be_read(self):
        image = next(images(self.here), None)
        if image is None:
            self.skipTest("the sample images are not here")
        whole = Page(run("report", image).stdout)
        self.assertNotIn("could not be read", " ".join(whole.text))
        # Nothing, ones without a kind, and the name of a script's end.
        broken = [self.here / name for name in ("empty.etl", "junk.raw", "<script>alert(1)<")]
        for path, content in zip(broken, (b"", b"\x5a" * 5000, b"\x00" * 4096)):
            path.write_bytes(content)
        answer = run("report", image, *broken)
        self.assertEqual(answer.returncode, 1)
        page = Page(answer.stdout)
        told = [text for text in page.text if "could not be read" in text]
        self.assertEqual(len(told), 1, told)
        named = told[0].removeprefix("Not in this page, because they could not be read: ").removesuffix(".")
        self.assertEqual(sorted(named.split(", ")), sorted(path.name for path in broken))
        # A path is the machine's own matter.
        self.assertNotIn(str(self.here), answer.stdout.decode())

    def test_of_a_copied_mft_no_sizes_on_the_disk_are_known(self):
        image = next(images(self.here), None)
        if image is None:
            self.skipTest("the sample images are not here")
        mft, lines = mft_of(image, self.here / "MFT"), self.here / "files.ndjson"
        run("ntfs", "snapshot", "--state", "all", mft, "-o", lines)
        whole = [json.loads(line) for line in run("ntfs", "snapshot", image).stdout.splitlines()]
        most = max((row for row in whole if row["type"] == "file"), key=lambda row: sum(
            extent["clusters"] for stream in row["streams"] for extent in stream["extents"] if extent["lcn"] is not None))
        for source in mft, lines:
            answer = run("report", source)
            self.assertEqual(answer.returncode, 0)
            page = Page(answer.stdout)
            text = "".join(page.text)
            self.assertIn("its size and that of its clusters are not known", text)
            self.assertNotIn("in clusters of", text)
            self.assertNotIn("Location on the volume", text)
            kinds = {name.rsplit("-", 1)[1]: [str(cell) for cell in rows[0]] for name, rows in page.tables.items()}
            self.assertFalse({"map", "directories"} & set(kinds))
            self.assertEqual(kinds["states"], ["State", "Names"])
            self.assertEqual(kinds["largest"], ["Path", "Size", "Extents", "Modified"])
            table = next(name for name in page.tables if name.endswith("-largest"))
            self.assertEqual(page.column(table, "Path")[0], most["path"])
            volume = next(one for part in page.parts() for one in part.facts.get("volumes", []))
            self.assertEqual((volume["clusters"], volume["clusterSize"]), (0, 0))
            self.assertFalse([part for part in page.parts() if "treemaps" in part.facts])

    def test_a_browser_shows_the_treemap(self):
        for image in list(images(self.here))[:1]:
            path = self.here / "disk.html"
            if run("report", image, "-o", path).returncode == 2:
                continue
            page = shown(self, path)
            self.assertGreater(page.evaluate("document.querySelectorAll('.map g').length"), 1)


def signed(number):
    return -(number + 1) // 2 if number % 2 else number // 2


class Names(Case):
    """The search over the names of a volume."""

    def told(self, page):
        for part in page.parts():
            number = part.number
            for volume in part.facts.get("volumes", []):
                count = volume["count"]
                directories = [volume["directories"][i] for i, size in
                               enumerate([number() for _ in volume["directories"]]) for _ in range(size)]
                column = lambda: part.column(count)
                flags, size, on_disk, *days, extents, kept = (column() for _ in range(9))
                end, places = 0, []
                for many in kept:
                    mine = []
                    for _ in range(many):
                        begin = end + signed(number())
                        mine.append((begin, number()))
                        end = sum(mine[-1])
                    places.append(mine)
                self.assertEqual(part.left(), 0)
                day = lambda one: None if one == 0 else one - 1 + volume["firstDay"]
                return volume, [
                    (f"{directories[i]}/{volume['names'][i]}", "deleted" if flags[i] & 1 else "live", bool(flags[i] & 2),
                     size[i] - 1 if size[i] else None, on_disk[i], [day(one[i]) for one in days], extents[i], places[i]) for i in range(count)]
        return None, []

    @staticmethod
    def rows(image):
        """What `ntfs snapshot` says."""
        lines = [json.loads(line) for line in run("ntfs", "snapshot", "--state", "live,deleted", image).stdout.splitlines()]
        cluster = lines[0]["volume"]["cluster_size"]
        for row in lines:
            if row["type"] != "file":
                continue
            streams = row["streams"] or []
            places = [(extent["lcn"], extent["clusters"]) for stream in streams for extent in stream.get("extents") or []
                      if extent["lcn"] is not None]
            on_disk = sum(count for _, count in places) * cluster
            on_disk += sum(stream["size"] or 0 for stream in streams if stream["resident"])
            yield row, row["size"], on_disk, places

    @staticmethod
    def day_of(text):
        """Since 1601; nothing of times of another age."""
        if text is None or not 1970 <= int(text[:4]) < 2200:
            return None
        return (datetime.date.fromisoformat(text[:10]) - datetime.date(1601, 1, 1)).days

    def test_names_are_those_of_the_rows(self):
        image = next(images(self.here), None)
        if image is None:
            self.skipTest("the sample images are not here")
        volume, names = self.told(Page(run("report", image).stdout))
        told = {(path, state): rest for path, state, *rest in names}
        many = Counter((path, state) for path, state, *_ in names)
        seen = 0
        for row, size, on_disk, places in self.rows(image):
            path = row["path"] if row["path"].startswith("/") else "/" + row["path"]
            if "\\" in path:  # controls, which a page escapes
                continue
            seen += 1
            directory, told_size, told_disk, days, extents, kept = told[path, row["state"]]
            if many[path, row["state"]] == 1:
                self.assertEqual((directory, told_size, told_disk, extents, kept),
                                 (bool(row["directory"]), size, on_disk, len(places), places[:64]), path)
                times = [row["si"] and row["si"][name] for name in ("created", "modified", "changed", "accessed")]
                self.assertEqual(days, [self.day_of(one) for one in times], path)
        self.assertGreater(seen, 10)
        self.assertEqual(volume["count"], len(names))

    def test_what_has_no_room_is_said(self):
        image = next(images(self.here), None)
        if image is None:
            self.skipTest("the sample images are not here")
        whole = run("report", image)
        volume, names = self.told(Page(whole.stdout))
        least, few = len(whole.stdout), []
        for part in 0.98, 0.95, 0.9, 0.8, 0.5:
            page = Page(run("report", image, "--size-limit", int(least * part)).stdout)
            few = self.told(page)[1]
            said = [text for text in page.text if "there is no room for the others" in text]
            self.assertEqual(len(said), len(few) < len(names), part)
            kept = {name[:2] for name in few}
            left = [name[4] for name in names if name[:2] not in kept]
            if few and left:
                self.assertGreaterEqual(min(name[4] for name in few), max(left))
        self.assertLess(len(few), len(names))

    def test_a_browser_searches_them(self):
        image = next(images(self.here), None)
        if image is None:
            self.skipTest("the sample images are not here")
        path = self.here / "names.html"
        run("report", image, "-o", path)
        volume, names = self.told(Page(path.read_bytes()))
        page = shown(self, path)
        home = f"document.getElementById('{volume['id']}')"
        status = f"{home}.querySelector('output').textContent"
        self.assertTrue(page.evaluate(status).startswith(f"{len(names):,} of {len(names):,} names"))
        page.evaluate(f"{home}.querySelector('input').focus()")
        page.type("$mft")
        wanted = [name for name in names if "$mft" in name[0].lower()]
        self.assertTrue(page.evaluate(status).startswith(f"{len(wanted)} of "), page.evaluate(status))
        page.evaluate(f"[...{home}.querySelectorAll('button')].find(one => one.textContent === '/$MFT').click()")
        mft = next(name for name in names if name[0] == "/$MFT")
        self.assertEqual(page.evaluate(f"{home}.querySelectorAll('.place rect').length"), len(mft[7]))
        clusters = page.evaluate(f"{home}.querySelector('.place rect').getAttribute('x')")
        self.assertAlmostEqual(float(clusters), 1000 * mft[7][0][0] / volume["clusters"], delta=0.01)
        # Days, by arrows: the last one that has a file, and back.
        page.evaluate(f"(() => {{ const one = {home}.querySelector('input'); one.value = '';"
                      "one.dispatchEvent(new Event('input')) })()")
        figure = "document.querySelector('[data-brush][data-kind=\"1\"] svg')"
        page.evaluate(f"{figure}.focus()")
        page.key("ArrowLeft")
        first, step, bins = (page.evaluate(f"Number({figure}.parentElement.dataset.{name})") for name in ("first", "step", "bins"))
        day = first + (bins - 1) * step
        count = sum(name[5][1] is not None and day <= name[5][1] < day + step for name in names)
        self.assertTrue(page.evaluate(status).startswith(f"{count:,} of "), (page.evaluate(status), count))
        self.assertIn("modified", page.evaluate(status))
        page.key("Escape")
        self.assertTrue(page.evaluate(status).startswith(f"{len(names):,} of "))
        self.assertEqual(page.complaints(), [])


class Volume:
    """Reads of a volume what says which clusters are used, by the documentation of linux-ntfs alone."""

    def __init__(self, content):
        self.content = content
        sector, = struct.unpack_from("<H", content, 0x0b)
        self.cluster = sector * content[0x0d]
        sectors, mft = struct.unpack_from("<QQ", content, 0x28)
        self.clusters = sectors // content[0x0d]
        size, = struct.unpack_from("<b", content, 0x40)
        self.record = size * self.cluster if size > 0 else 1 << -size
        self.sector, self.mft = sector, mft * self.cluster
        self.places = list(self.bytes_of_bitmap())  # where on the image each of its bytes lies

    def used(self, cluster):
        return self.content[self.places[cluster // 8]] >> cluster % 8 & 1

    def bytes_of_bitmap(self):
        record = bytearray(self.content[self.mft + 6 * self.record:][:self.record])
        fixups, count = struct.unpack_from("<HH", record, 4)
        for i in range(1, count):
            end = i * self.sector
            record[end - 2:end] = record[fixups + 2 * i:fixups + 2 * i + 2]
        at, = struct.unpack_from("<H", record, 0x14)
        while True:
            kind, length = struct.unpack_from("<II", record, at)
            if kind == 0x80:
                break
            at += length
        runs = at + struct.unpack_from("<H", record, at + 0x20)[0]
        left, = struct.unpack_from("<Q", record, at + 0x30)
        lcn = 0
        while record[runs] and left:
            low, high = record[runs] & 15, record[runs] >> 4
            count = int.from_bytes(record[runs + 1:runs + 1 + low], "little")
            lcn += int.from_bytes(record[runs + 1 + low:runs + 1 + low + high], "little", signed=True)
            many = min(left, count * self.cluster)
            yield from range(lcn * self.cluster, lcn * self.cluster + many)
            left -= many
            runs += 1 + low + high


class Free(Case):
    """The map of the disk says what $Bitmap says."""

    def check(self, image, content):
        volume = Volume(content)
        listed = set()
        done = run("ntfs", "snapshot", "--state", "all", image)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            if row["type"] != "file" or row["state"] in ("deleted", "stale", "slack"):
                continue
            for stream in (row["streams"] or []) + (row["other_streams"] or []):
                for extent in stream["extents"]:
                    if extent["lcn"] is not None:
                        listed.update(range(extent["lcn"], extent["lcn"] + extent["clusters"]))
        answer = run("report", image)
        page = Page(answer.stdout)
        table = next(name for name in page.tables if name.endswith("-map"))
        starts = page.figures(table, "From byte")
        ends = [*starts[1:], volume.clusters * volume.cluster]
        told = [page.figures(table, name) for name in ("Free", "Used", "Used, of no file")]
        self.assertEqual({len(one) for one in told}, {len(starts)})
        contradicted = 0
        for i, (begin, end) in enumerate(zip(starts, ends)):
            place = range(begin // volume.cluster, min(end // volume.cluster, volume.clusters))
            used = [cluster for cluster in place if volume.used(cluster)]
            self.assertEqual([one[i] for one in told],
                             [len(place) - len(used), len(used), sum(cluster not in listed for cluster in used)],
                             (image.name, begin))
            contradicted += sum(not volume.used(cluster) and cluster in listed for cluster in place)
        text = "".join(page.text)
        self.assertEqual("free according to $Bitmap, but a file" in text, contradicted > 0)
        self.assertEqual(b"cluster-bitmap" in answer.stderr, contradicted > 0)
        self.assertIn(f"Free clusters, according to $Bitmap: {sum(told[0]):,}", text)
        return volume, listed, sum(told[2])

    def test_what_is_free_is_what_the_bitmap_says(self):
        image = small_volume(self.here / "small.img")
        volume, listed, unlisted = self.check(image, image.read_bytes())
        # A free cluster that is marked, and one of a file that is not.
        edited = bytearray(volume.content)
        free = next(one for one in reversed(range(volume.clusters)) if not volume.used(one) and one not in listed)
        edited[volume.places[free // 8]] |= 1 << free % 8
        image.write_bytes(edited)
        self.assertEqual(self.check(image, bytes(edited))[2], unlisted + 1)
        taken = max(one for one in listed if volume.used(one))
        edited[volume.places[taken // 8]] &= ~(1 << taken % 8)
        image.write_bytes(edited)
        self.check(image, bytes(edited))

    def test_of_a_volume_that_windows_made(self):
        image = next(images(self.here), None)
        if image is None:
            self.skipTest("the sample images are not here")
        content = image.read_bytes()
        start, = struct.unpack_from("<I", content, 446 + 8)
        self.check(image, content[512 * start:])


class Snapshots(Case):
    """Pages of what `ntfs snapshot` wrote."""

    def setUp(self):
        super().setUp()
        self.images = list(images(self.here))
        if not self.images:
            self.skipTest("the sample images are not here")

    def snapshot(self, image, *options, name="files.ndjson"):
        path = self.here / name
        self.assertIn(run("ntfs", "snapshot", *options, image, "-o", path).returncode, (0, 1))
        return path

    @staticmethod
    def told(page, findings_left_out=()):
        """All that a page says, but for what is free and the findings of these codes."""
        tables = {}
        for name, rows in page.tables.items():
            if name.endswith("-map"):
                rows = [row[:3] for row in rows]
            if name.endswith("-findings"):
                rows = sorted(row for row in rows if row[0] not in findings_left_out)
            if not name.endswith("-all-findings") and len(rows) > name.endswith("-findings"):
                tables[name] = [[(str(cell), cell.exact) for cell in row] for row in rows]
        return tables, [text for attributes, text in page.scripts if "type" in attributes]

    def test_the_page_is_that_of_the_image(self):
        for image in self.images:
            if run("ntfs", "info", image).returncode == 2:
                continue
            with self.subTest(image=image.name):
                page = Page(run("report", image).stdout)
                own = [row[0] for name, rows in page.tables.items() if name.endswith("-all-findings") for row in rows[1:]]
                again = Page(run("report", self.snapshot(image, "--state", "all")).stdout)
                own += ["cluster-bitmap", "snapshot-findings"]
                self.assertEqual(self.told(again, own), self.told(page, own))
                self.assertIn("a snapshot does not record which clusters are free", " ".join(again.text))

    def test_packed_ones_are_taken(self):
        image = small_volume(self.here / "small.img")
        path = self.snapshot(image, "--state", "all")
        for source in image, path:
            whole = run("report", source)
            content, packed = source.read_bytes(), self.here / "packed"
            with zipfile.ZipFile(self.here / "packed.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("readme.txt", "what was taken")
                archive.writestr(source.name, content)
            forms = [gzip.compress(content), lzma.compress(content), (self.here / "packed.zip").read_bytes()]
            if installed(self, "zstd"):
                subprocess.run(["zstd", "-q", "-f", source, "-o", packed], check=True)
                forms.append(packed.read_bytes())
            for form in forms:
                packed.write_bytes(form)
                done = run("report", packed)
                if done.returncode == 2 and b"libarchive" in done.stderr:
                    continue
                self.assertEqual((done.returncode, self.told(Page(done.stdout), ["packed-others"])),
                                 (whole.returncode, self.told(Page(whole.stdout))), form[:4])
            packed.write_bytes(gzip.compress(content)[:-20])
            done = run("report", packed)
            self.assertIn(b"packed-damaged", done.stderr)
            self.assertIn(done.returncode, (1, 2))

    def test_what_it_leaves_out_is_said(self):
        image = self.images[0]
        totals = json.loads(self.snapshot(image).read_bytes().splitlines()[-1])["counts"]
        deleted = totals["deleted"]
        text = " ".join(Page(run("report", self.here / "files.ndjson").stdout).text)
        self.assertEqual(f"{deleted:,} deleted" in text, deleted > 0)
        self.assertEqual("Names that the snapshot leaves out" in text,
                         any(totals[state] for state in ("deleted", "stale", "detached", "unreachable", "unnamed")))
        # Without members.
        done = run("report", self.snapshot(image, "--fields", "path,size"))
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"Take the snapshot without --fields", done.stderr)
        done = run("report", self.snapshot(image, "--fields", "path,name,record,state,directory,si"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"report-members", done.stderr)
        page = Page(done.stdout)
        self.assertIn("report-members", page.column(next(n for n in page.tables if n.endswith("-findings")), "Code"))
        # A row less, and the end less.
        path = self.snapshot(image)
        lines = path.read_bytes().splitlines(keepends=True)
        rows = [i for i, line in enumerate(lines) if b'"type":"file"' in line]
        for cut, code in (lines[:rows[-1]] + lines[rows[-1] + 1:], b"snapshot-selection"), (lines[:-1], b"snapshot-incomplete"):
            path.write_bytes(b"".join(cut))
            done = run("report", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(code, done.stderr)
            self.assertIn("not as it was written", " ".join(Page(done.stdout).text))
        # A row without a usable state is not in the page; what is left out is what it was.
        changed = [json.loads(line) for line in lines]
        for state in ("gone", 7):
            other = [dict(line) for line in changed]
            other[rows[1]]["state"] = state
            path.write_text("".join(json.dumps(one) + "\n" for one in other))
            done = run("report", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{totals['live'] - 1} of {totals['live']} live. The others are not in the page".encode(), done.stderr)
            now = " ".join(Page(done.stdout).text)
            self.assertEqual([part in now for part in ("Names that the snapshot leaves out", f"{deleted:,} deleted")],
                             [part in text for part in ("Names that the snapshot leaves out", f"{deleted:,} deleted")])
        # Rows of one that is cut off are none of the next.
        path.write_bytes(b"".join(lines[:-1] + lines))
        done = run("report", path)
        self.assertIn(b"snapshot-incomplete", done.stderr)
        self.assertNotIn(b"more names than its last line counts", done.stderr)
        # A value of another type, an array, other lines.
        changed[rows[1]]["streams"] = 7
        path.write_text("".join(json.dumps(one) + "\n" for one in changed))
        self.assertIn(b"snapshot-value", run("report", path).stderr)
        path.write_text(json.dumps(changed))
        self.assertEqual(run("report", path).returncode, 2)
        path.write_text('{"type":"header","schema":"coldtrace.ntfs-snapshot/1"}\n')
        self.assertEqual(run("report", path).returncode, 2)

    def test_values_that_were_edited_are_told(self):
        lines = [json.loads(line) for line in self.snapshot(self.images[0], "--state", "all").read_bytes().splitlines()]
        row = next(i for i, line in enumerate(lines) if line.get("path") == "/$MFT")
        extent = next(stream for stream in lines[row]["streams"] if stream["extents"])["extents"][0]
        volume, summary = lines[0]["volume"], lines[-1]
        path = self.here / "edited.ndjson"

        def report(added=()):
            path.write_text("".join(json.dumps(one) + "\n" for one in [*lines[:-1], *added, summary]))
            return run("report", path)

        untouched = report()
        largest = max(size for name, rows in Page(untouched.stdout).tables.items() if name.endswith("-states")
                      for size in Page(untouched.stdout).figures(name, "Bytes"))
        edits = [(lines[row], "record", value) for value in ("x", -1, 1 << 64, 1.5, None)]
        edits += [(lines[row], "directory", value) for value in (1, "true")]
        edits += [(volume, "cluster_size", value) for value in ("x", 0, None, -1, 1 << 40)]
        edits += [(volume, "clusters", value) for value in ("x", None, (1 << 63) // volume["cluster_size"] + 1)]
        edits += [(extent, "clusters", 1 << 62), (extent, "lcn", volume["clusters"]), (summary, "counts", {})]
        for holder, name, value in edits:
            before, holder[name] = holder[name], value
            with self.subTest(member=name, value=value):
                done = report()
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"snapshot-value", done.stderr)
                page = Page(done.stdout)
                for table, rows in page.tables.items():
                    if table.endswith("-states") and "Bytes" in [str(cell) for cell in rows[0]]:
                        self.assertLessEqual(max(page.figures(table, "Bytes")), largest)
            holder[name] = before
        del volume["cluster_size"]
        done = report()
        self.assertIn(b"snapshot-value", done.stderr)
        self.assertNotIn("in clusters of", "".join(Page(done.stdout).text))
        volume["cluster_size"] = json.loads(self.snapshot(self.images[0]).read_bytes().splitlines()[0])["volume"]["cluster_size"]
        counts, summary["counts"] = summary["counts"], None
        self.assertIn(b"snapshot-incomplete", report().stderr)
        summary["counts"] = counts
        twice = report([lines[row]])
        self.assertEqual(twice.returncode, 1)
        self.assertIn(b"more names than its last line counts", twice.stderr)
        self.assertIn(b"snapshot-selection", twice.stderr)
        self.assertNotIn(b"snapshot-incomplete", twice.stderr)
        self.assertEqual(report().stderr, untouched.stderr)

    def test_several_volumes_have_sections_of_their_own(self):
        one = self.snapshot(self.images[0], "--state", "all").read_bytes()
        path = self.here / "two.ndjson"
        path.write_bytes(one * 2)
        page = Page(run("report", path).stdout)
        self.assertEqual(len(page.ids), len(set(page.ids)))
        states = [rows for name, rows in page.tables.items() if name.endswith("-states")]
        self.assertEqual(len(states), 2)
        self.assertEqual(states[0], states[1])
        lines = one.splitlines(keepends=True)
        header = json.loads(lines[0])
        for number in 1, 2:
            header["partition"]["shadow"] = {"number": number, "created": f"2024-01-0{number}T22:20:00.0000000Z"}
            path.write_bytes(path.read_bytes() + json.dumps(header).encode() + b"\n" + b"".join(lines[1:]))
        text = " ".join(Page(run("report", path).stdout).text)
        for number in 1, 2:
            self.assertIn(f", shadow copy {number} of 2024-01-0{number}T22:20:00", text)
        path.write_bytes(one.splitlines(keepends=True)[0] * 300)
        done = run("report", path)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"300 volumes", done.stderr)


class Both(Case):
    """A trace and the image of the disk that it was taken on."""

    def trace(self, requests):
        """Requests of disk 0: (action, offset, bytes)."""
        writer = EtlWriter(1)
        writer.process(0, 0, 10, "reader.exe")
        writer.thread(0, 0, 10, 101)
        for number, (action, offset, count) in enumerate(requests):
            hook = {"read": 0x010a, "write": 0x010b}[action]
            writer.system(0, hook, 3, 1000 * (number + 1),
                          struct.pack("<IIIIQQQQI", 0, 0, count, 0, offset, 0, 0x5000 + number, 10, 101))
        path = self.here / "run.etl"
        path.write_bytes(writer.build())
        return path

    def test_requests_lie_on_the_map_with_names(self):
        image = next(images(self.here), None)
        if image is None:
            self.skipTest("the sample images are not here")
        rows = [row for row in Names.rows(image) if row[0]["state"] == "live" and row[3]]
        offsets = [(self.name_of(row[0], stream), extent["offset"]) for row in rows for stream in row[0]["streams"]
                   for extent in stream.get("extents") or [] if extent["offset"] is not None][:12]
        self.assertGreater(len(offsets), 3)
        requests = [("write" if i % 3 == 2 else "read", offset, 512 * (i + 1)) for i, (_, offset) in enumerate(offsets)]
        trace = self.trace(requests)
        path = self.here / "both.html"
        self.assertIn(run("report", image, trace, "-o", path).returncode, (0, 1))
        page = Page(path.read_bytes())
        prefix = next(name for name in page.tables if name.endswith("-accessed-files")).removesuffix("-accessed-files")
        read, written = defaultdict(int), defaultdict(int)
        for (name, _), (action, _, count) in zip(offsets, requests):
            (read if action == "read" else written)[name] += count
        table = f"{prefix}-accessed-files"
        files = page.column(table, "File")
        self.assertEqual(set(page.column(table, "Named by")), {"the volume"})
        self.assertEqual(dict(zip(files, page.figures(table, "Bytes read"))), {name: read[name] for name, _ in offsets})
        self.assertEqual(dict(zip(files, page.figures(table, "Bytes written"))), {name: written[name] for name, _ in offsets})
        places = f"{prefix}-accessed-places"
        self.assertEqual(sum(page.figures(places, "Bytes read")), sum(read.values()))
        self.assertEqual(sum(page.figures(places, "Bytes written")), sum(written.values()))
        shown(self, path)
        # A snapshot of the image says the same.
        lines = self.here / "files.ndjson"
        run("ntfs", "snapshot", "--state", "all", image, "-o", lines)
        again = Page(run("report", trace, lines).stdout)
        for name in table, places:
            self.assertEqual(again.tables[name], page.tables[name])

    @staticmethod
    def name_of(row, stream):
        path = row["path"] or f"/<record {row['record']}>"
        return f"{path}:{stream['name']}" if stream["name"] else path

    def test_streams_have_the_names_that_trace_io_gives(self):
        image = next(images(self.here), None)
        if image is None:
            self.skipTest("the sample images are not here")
        lines = self.here / "files.ndjson"
        run("ntfs", "snapshot", "--state", "all", image, "-o", lines)
        places = {}
        for row in map(json.loads, lines.read_text().splitlines()):
            if row["type"] == "file":
                for stream in row["streams"] + row["other_streams"]:
                    for extent in stream.get("extents") or []:
                        if extent["offset"] is not None:
                            places.setdefault(extent["offset"], (row["state"], self.name_of(row, stream)))
        named = [(offset, name) for offset, (state, name) in sorted(places.items())
                 if state == "live" and ":" in name]
        self.assertTrue({"/$Secure:$SDS"} < {name for _, name in named})
        trace = self.trace([("read", offset, 512) for offset, _ in named])
        told = {row["file"]: row["reads"] for row in strict_json(
            run("trace", "io", trace, "--snapshot", lines, "--format", "json").stdout)["disk"]["files"]}
        wanted = defaultdict(int)
        for _, name in named:
            wanted[name] += 1
        self.assertEqual(told, wanted)
        for source in image, lines:
            page = Page(run("report", trace, source).stdout)
            table = next(name for name in page.tables if name.endswith("-accessed-files"))
            self.assertEqual(dict(zip(page.column(table, "File"), page.figures(table, "Reads"))), wanted)
            self.assertEqual(dict(zip(page.column("disk-by-file", "File"), page.figures("disk-by-file", "Number"))), wanted)

    def test_a_trace_of_another_disk_is_not_drawn(self):
        # A disk of one partition, which begins at sector 8.
        content, start = small_volume(self.here / "small.img").read_bytes(), 8 * 512
        sectors = (len(content) + 511) // 512
        table = bytearray(512)
        table[446:462] = struct.pack("<B3sB3sII", 0, b"\0" * 3, 7, b"\0" * 3, start // 512, sectors)
        table[510:] = b"\x55\xaa"
        disk = self.here / "disk.img"
        disk.write_bytes(table.ljust(start, b"\0") + content)
        lines = self.here / "files.ndjson"
        run("ntfs", "snapshot", "--state", "all", disk, "-o", lines)
        end = disk.stat().st_size
        said = "does not seem to be of this disk"
        for source in disk, lines:
            inside = run("report", source, self.trace([("read", end - 512, 512)]))
            self.assertNotIn(said, "".join(Page(inside.stdout).text))
            self.assertNotIn(b"snapshot-mismatch", inside.stderr)
            beyond = run("report", source, self.trace([("read", start, 512), ("write", end - 512, 1024)]))
            self.assertEqual(beyond.returncode, 1)
            self.assertIn(b"snapshot-mismatch", beyond.stderr)
            page = Page(beyond.stdout)
            self.assertIn(said, "".join(page.text))
            self.assertFalse([name for name in page.tables if "-accessed-" in name])
            # Where the image begins elsewhere it may be of it.
            self.assertNotIn(said, "".join(Page(run(
                "report", source, self.trace([("read", end, 512)]), "--snapshot-offset", 4096).stdout).text))
        # Of a volume alone nobody knows where its disk ends.
        alone = run("report", self.here / "small.img", self.trace([("read", 1 << 40, 512)]))
        self.assertIn("The trace has no request to this disk that lies on this volume.", "".join(Page(alone.stdout).text))
        self.assertNotIn(b"snapshot-mismatch", alone.stderr)

    def test_a_mft_alone_has_no_places(self):
        image = next(images(self.here), None)
        if image is None:
            self.skipTest("the sample images are not here")
        alone = mft_of(image, self.here / "MFT")
        done = run("report", alone, self.trace([("read", 4096, 512)]))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"snapshot-without-places", done.stderr)
        page = Page(done.stdout)
        self.assertFalse([name for name in page.tables if "-accessed-" in name])
        self.assertNotIn("The trace has no request to this disk", "".join(page.text))

    def test_of_another_disk_nothing_is_shown(self):
        image = next(images(self.here), None)
        if image is None:
            self.skipTest("the sample images are not here")
        trace = self.trace([("read", 0, 512)])
        page = Page(run("report", image, trace, "--snapshot-disk", 1).stdout)
        self.assertFalse([name for name in page.tables if name.endswith("-accessed-files")])
        self.assertIn("it has no request to disk 1, only to others: 0", "".join(page.text))
        both = Page(run("report", image, image, trace).stdout)
        self.assertIn("there are several images", "".join(both.text))

    def test_pipes_are_what_files_of_the_same_bytes_are(self):
        trace, pipe = self.trace([("read", 0, 512)]), self.here / "pipe"
        os.mkfifo(pipe)
        image = small_volume(self.here / "small.img")
        lines = self.here / "small.ndjson"
        self.assertEqual(run("ntfs", "snapshot", "-q", image, "-o", lines).returncode, 0)
        stubs = next(iter(sorted(IMAGES.glob("*/ntdll.dll"))))
        table = self.here / "map.json"
        self.assertIn(run("syscalls", "map", stubs, "--format", "json", "-o", table).returncode, (0, 1))

        def fed(path):
            with subprocess.Popen([COLDTRACE, "report", pipe], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
                with open(pipe, "wb") as out:  # once, and it ends
                    out.write(path.read_bytes())
                told = reader.communicate(timeout=60)
            return reader.returncode, *told

        def tables(page):
            return {name: [[str(cell) for cell in row] for row in rows] for name, rows in Page(page).tables.items()
                    if not name.endswith("findings")}

        packed = self.here / "small.ndjson.gz"
        packed.write_bytes(gzip.compress(lines.read_bytes()))
        for path in trace, image, lines, packed, table:
            with self.subTest(path=path.name):
                whole = run("report", path)
                self.assertIn(whole.returncode, (0, 1))
                status, page, told = fed(path)
                self.assertEqual((status, tables(page)), (whole.returncode, tables(whole.stdout)), told)
                with open(path, "rb") as given:
                    done = subprocess.run([COLDTRACE, "report", "-"], stdin=given, capture_output=True, timeout=60)
                self.assertEqual((done.returncode, tables(done.stdout)), (whole.returncode, tables(whole.stdout)))
        # With files, in any order.
        with open(lines, "rb") as given:
            both = subprocess.run([COLDTRACE, "report", trace, "-", table], stdin=given, capture_output=True, timeout=60)
        self.assertEqual(tables(both.stdout), tables(run("report", trace, lines, table).stdout))
        # Too much is told, and nothing of it is shown.
        with open(image, "rb") as given:
            done = subprocess.run([COLDTRACE, "report", "-", "--unpacked-limit", "4KiB"], stdin=given,
                                  capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr, b"coldtrace: -: more than the 4096 bytes that are read from a pipe\n")

    def test_an_empty_or_closed_input_is_empty(self):
        for command in ("report",), ("trace", "info"), ("trace", "decode"), ("ntfs", "info"), ("pe", "info"), ("hooks", "show"):
            with self.subTest(command=command):
                told = []
                for shell in ('"$@" </dev/null', '"$@" <&-', 'true | "$@"'):
                    done = subprocess.run(["bash", "-c", shell, "bash", COLDTRACE, *command, "-"], capture_output=True, timeout=60)
                    self.assertEqual((done.returncode, done.stdout), (2, b""))
                    told.append(done.stderr)
                self.assertEqual(told, [b"coldtrace: -: it is empty\n"] * 3)

    def test_a_trace_without_requests_is_told(self):
        trace = self.trace([])
        image = small_volume(self.here / "small.img")
        done = run("report", image, trace)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"snapshot-without-requests", done.stderr)
        text = "".join(Page(done.stdout).text)
        self.assertIn("The trace has no requests to any disk.", text)
        self.assertNotIn("The trace has no request to this disk", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
