"""What `coldtrace report` writes of hook tables and system call maps: the figures are those of the JSON of `hooks show`
and `syscalls map`.

usage: report_hooks.py COLDTRACE IMAGES [arguments of unittest]
"""
import gzip
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from cli.trace.analysis.answers import runner
from cli.report.page.page_reader import Page
from cli.report.page.shown_page import shown
from strict import strict_json

COLDTRACE, IMAGES = (Path(a).resolve() for a in sys.argv[1:3])

run = runner(COLDTRACE)


class Hooks(Case):
    def tables(self):
        """The first of a build with services; those of other kernels have none."""
        found = 0
        whole = IMAGES / "tables-x64-kernel-rva32"
        for folder in sorted(IMAGES.glob("*"), key=lambda folder: (folder != whole, folder)):
            for kernel in folder.glob("*krnl*.exe"):
                path = self.here / f"{found}.hooktab"
                ntdll = ("--ntdll", IMAGES / "windows10-x64" / "ntdll.dll") if folder == whole else ()
                done = run("hooks", "table", "--kernel", kernel, *ntdll, "--format", "hooktab", "-o", path)
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
        self.assertTrue(builds[0]["services"])
        for number, build in enumerate(builds):
            named = {service["names"][0]: service["number"] for service in build["services"] if service["names"]}
            told = {row[0]: int(row[1 + number].exact) for row in page.rows("matrix") if row[0] in named}
            self.assertEqual(told, named)
            rows = page.rows(f"build-{number}-services")
            self.assertEqual(len(rows), min(250, len(build["services"])))
            for row, service in zip(rows, build["services"]):
                self.assertEqual(row[2].exact, str(service["target"]) if service["target"] is not None else "-1")
                self.assertEqual(row[5].startswith("yes"), service["target"] is not None)
                self.assertEqual(row[4], service["confidence"])
        shown(self, path)
        # The JSON of the same says the same.
        documents = []
        for number, table in enumerate(tables):
            documents.append(self.here / f"{number}.json")
            run("hooks", "show", table, "--format", "json", "-o", documents[-1])
        again = Page(run("report", *documents).stdout)
        self.assertEqual(again.tables, page.tables)
        # A value that is not there is none that can be shown.
        for member in "confidence", "verified", "target", "number":
            document = json.loads(documents[0].read_bytes())
            document["builds"][0]["services"][0].pop(member)
            other = self.write("other.json", json.dumps(document).encode())
            done = run("report", other)
            self.assertEqual((done.returncode, done.stdout), (2, b""), member)
            self.assertIn(b"1 of its rows is not as 'hooks table' writes them", done.stderr)
        packed = [self.here / f"{path.name}.gz" for path in (*documents, *tables)]
        for path in packed:
            path.write_bytes(gzip.compress((self.here / path.stem).read_bytes()))
        for files in packed[:len(documents)], packed[len(documents):]:
            done = run("report", *files)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertEqual(Page(done.stdout).tables, page.tables)

    def test_maps_are_shown_beside_each_other(self):
        stubs = [path for folder in sorted(IMAGES.glob("*")) for path in folder.glob("ntdll.dll")][:3]
        if not stubs:
            self.skipTest("no images were built")
        path = self.here / "maps.json"
        run("syscalls", "map", *stubs, "--format", "json", "-o", path)
        maps = strict_json(path.read_bytes())["images"]
        page = Page(run("report", path).stdout)
        for number, one in enumerate(maps):
            named = {service["name"]: service["number"] for service in one["services"] if service["name"]}
            self.assertTrue(named)
            told = {row[0]: int(row[1 + number].exact) for row in page.rows("matrix") if row[0] in named}
            self.assertEqual(told, named)
            self.assertEqual(set(page.column(f"build-{number}-services", "Can be hooked")), {"not in a system call map"})
            # A map says nothing of it.
            self.assertNotIn("confidence", one["services"][0])
            self.assertEqual(set(page.column(f"build-{number}-services", "Confidence")), {"-"})
        other = self.here / "other.json"
        other.write_text('{"schema":"coldtrace.trace-info/1","tool":"coldtrace 1"}')
        self.assertEqual(run("report", other).returncode, 2)
        # What cannot be shown is not left out in silence.
        for number in (-1, 65536, "x", None):
            document = json.loads(path.read_bytes())
            document["images"][0]["services"][1]["number"] = number
            other.write_text(json.dumps(document))
            done = run("report", other)
            self.assertEqual((done.returncode, done.stdout), (2, b""), number)
            self.assertIn(b"1 of its services has no number", done.stderr)
        other.write_text('{"schema":"coldtrace.syscall-map/1","images":[]}')
        self.assertIn(b"it has no build", run("report", other).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
