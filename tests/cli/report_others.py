"""What `coldtrace report` writes of disks and hook tables: the figures are those that Python makes of the lines of
`ntfs snapshot` and of the JSON of `hooks show`.

usage: report_others.py COLDTRACE SHARED IMAGES [arguments of unittest]
"""
import gzip
import json
import shutil
import sys
import tempfile
import unittest
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import browser
from answers import runner
from cli.page_reader import Page
from strict import strict_json

COLDTRACE, SHARED, IMAGES = (Path(a).resolve() for a in sys.argv[1:4])

run = runner(COLDTRACE)


def images(folder):
    """The sample images, unpacked."""
    for packed in sorted((SHARED / "samples/ntfs").glob("*.raw.gz")):
        image = folder / packed.stem
        with gzip.open(packed) as file, open(image, "wb") as out:
            shutil.copyfileobj(file, out)
        yield image


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.here = Path(self.directory.name)


def shown(self, path):
    one = browser.start()
    if one is None:
        self.skipTest("no Chromium is here that starts")
    self.addCleanup(one.close)
    page = one.page(path)
    page.wait_for("document.body && document.body.dataset.ready === '1'")
    for width in 390, 1280:
        page.resize(width, 844)
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"),
                             page.evaluate("document.documentElement.clientWidth"))
    self.assertEqual(page.complaints(), [])
    return page


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
        met, files, directories = set(), [], defaultdict(int)
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
        largest = sorted((-size, path) for state, path, size, _ in files if state == "live")[:250]
        self.assertEqual(page.figures(f"{prefix}-largest", "On disk"), [-size for size, _ in largest])
        if f"{prefix}-fragmented" in page.tables:
            pieces = sorted((-pieces for state, _, _, pieces in files if state == "live" and pieces > 1))[:250]
            self.assertEqual(page.figures(f"{prefix}-fragmented", "Extents"), [-one for one in pieces])

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
        named = told[0].removeprefix("Not in this page, as they could not be read: ").removesuffix(".")
        self.assertEqual(sorted(named.split(", ")), sorted(path.name for path in broken))
        # A path is the machine's own matter.
        self.assertNotIn(str(self.here), answer.stdout.decode())

    def test_a_browser_shows_the_treemap(self):
        for image in list(images(self.here))[:1]:
            path = self.here / "disk.html"
            if run("report", image, "-o", path).returncode == 2:
                continue
            page = shown(self, path)
            self.assertGreater(page.evaluate("document.querySelectorAll('.map g').length"), 1)


class Hooks(Case):
    def tables(self):
        found = 0
        for folder in sorted(IMAGES.glob("*")):
            for kernel in folder.glob("*krnl*.exe"):
                path = self.here / f"{found}.hooktab"
                done = run("hooks", "table", "--kernel", kernel, "--format", "hooktab", "-o", path)
                if done.returncode != 2 and path.exists():
                    found += 1
                    yield path
                if found == 3:
                    return

    def test_numbers_are_those_of_the_tables(self):
        tables = list(self.tables())
        if not tables:
            self.skipTest("no kernels were built")
        path = self.here / "hooks.html"
        self.assertIn(run("report", *tables, "-o", path).returncode, (0, 1))
        page = Page(path.read_bytes())
        builds = [build for table in tables
                  for build in strict_json(run("hooks", "show", table, "--format", "json").stdout)["builds"]]
        for number, build in enumerate(builds):
            named = {service["names"][0]: service["number"] for service in build["services"] if service["names"]}
            told = {row[0]: int(row[1 + number].exact) for row in page.rows("matrix") if row[0] in named}
            self.assertEqual(told, named)
            rows = page.rows(f"build-{number}-services")
            self.assertEqual(len(rows), min(250, len(build["services"])))
            for row, service in zip(rows, build["services"]):
                self.assertEqual(row[2].exact, str(service["target"]) if service["target"] is not None else "-1")
                self.assertEqual(row[5].startswith("yes"), service["target"] is not None)
        shown(self, path)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
