"""The documentation's pages are all there and lead to each other; where sphinx is installed they are built, can
be searched and fetch nothing.

usage: site_test.py COLDTRACE PROJECT [unittest arguments]
"""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COLDTRACE, PROJECT = (Path(argument).resolve() for argument in sys.argv[1:3])
HAS_SPHINX = all(importlib.util.find_spec(name) for name in ("sphinx", "furo", "myst_parser"))


class OtherFolders(unittest.TestCase):
    def test_a_folder_with_other_files_is_refused_and_keeps_them(self):
        with tempfile.TemporaryDirectory() as folder:
            own = Path(folder) / "own"
            (own / "below").mkdir(parents=True)
            for kept in own / "below/thesis.txt", Path(folder) / "file", Path(folder) / "own.source/notes.txt":
                kept.parent.mkdir(exist_ok=True)
                kept.write_text("years")
            (Path(folder) / "link").symlink_to(own)
            before = sorted(Path(folder).rglob("*"))
            for name in "own", "own/", "file", "link", "own/below":
                done = subprocess.run([PROJECT / "scripts/site", COLDTRACE], capture_output=True, text=True, timeout=900, cwd=folder,
                                      env=os.environ | {"COLDTRACE_SITE": name})
                self.assertEqual((done.returncode, sorted(Path(folder).rglob("*"))), (2, before), done.stderr)
                self.assertIn("has files and is no site", done.stderr)


@unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
class Site(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)

    def test_each_document_code_and_command_has_a_page(self):
        subprocess.run([sys.executable, PROJECT / "scripts/lib/site_pages.py", COLDTRACE, PROJECT, self.here], check=True)
        pages = {str(page.relative_to(self.here)) for page in self.here.rglob("*.md")}
        documents = {str(path.relative_to(PROJECT / "docs")) for path in (PROJECT / "docs").rglob("*.md")}
        self.assertEqual(documents - pages, {"README.md"})
        listed = subprocess.run([COLDTRACE, "findings", "--format", "json"], capture_output=True, check=True).stdout
        codes = {row["code"] for row in json.loads(listed)["codes"]}
        self.assertEqual({Path(page).stem for page in pages if page.startswith("findings/")}, codes)
        self.assertLessEqual({f"manual/coldtrace-{name}.md" for name in ("pe-info", "trace-export-perfetto", "report")},
                             pages)
        for page in pages:
            for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", (self.here / page).read_text()):
                if "://" not in link:
                    with self.subTest(page=page, link=link):
                        self.assertTrue((self.here / page).parent.joinpath(link).exists())

    @unittest.skipUnless(HAS_SPHINX, "python3-sphinx, furo or python3-myst-parser is not installed")
    def test_pages_can_be_searched_and_fetch_nothing(self):
        site = self.here / "site"
        notes = self.here / "site.source/notes.txt"
        notes.parent.mkdir()
        notes.write_text("of the user")
        site.mkdir()
        for name in ".buildinfo", "left.html":
            (site / name).write_text("of an earlier site")
        done = subprocess.run([PROJECT / "scripts/site", COLDTRACE], capture_output=True, text=True, timeout=900,
                              env=os.environ | {"COLDTRACE_SITE": str(site)})
        self.assertEqual((done.returncode, done.stdout), (0, f"{site}/index.html\n"), done.stderr)
        self.assertEqual({path.name for path in self.here.iterdir()}, {"site", "site.source"})
        self.assertFalse((site / "left.html").exists())
        self.assertTrue(notes.exists())
        index = (site / "searchindex.js").read_text()
        self.assertTrue(index.startswith("Search.setIndex("))
        self.assertIn('"findings/hooked-stub"', index)
        for page in site.rglob("*.html"):
            text = page.read_text()
            fetched = re.findall(r'<(?:script|img|iframe)[^>]* src="([^"]+)"|<link[^>]* href="([^"]+)"', text)
            for address in map("".join, fetched):
                with self.subTest(page=page.name, address=address):
                    self.assertNotRegex(address, r"^(?:[a-z]+:|/)")
        for sheet in site.rglob("*.css"):
            for address in re.findall(r"url\(\s*['\"]?([^)'\"]+)|@import\s+['\"]([^'\"]+)", sheet.read_text()):
                address = "".join(address)
                with self.subTest(sheet=sheet.name, address=address):
                    self.assertTrue(address.startswith(("data:", "#")) or (sheet.parent / re.sub("[?#].*", "", address)).is_file())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
