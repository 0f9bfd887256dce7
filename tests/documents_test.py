"""What documents link to and name is there.

usage: documents_test.py PROJECT
"""
import re
import sys
import unittest
from pathlib import Path

PROJECT = Path(sys.argv[1]).resolve()
DOCUMENTS = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"),
                    PROJECT / "fixtures/README.md"])
FOLDERS = "core|pe|ntfs|syscall-map|tracefile|schema-files|registry|python|cli|report|tests|fixtures|bench|fuzz|examples|docs|scripts|ci|cmake"


# Texts are in British English; names, also of options and commands, are as they are.
AMERICAN = re.compile(r"\b(?:re|un|mis)?(?:(?:recogn|organ|summar|optim|synchron|initial|serial|normal|minim)iz(?!ers?\b)|analyz(?!ers?\b)"
                      r"|neighbor|behavior|favor|colors?\b|labeled|labeling|misspelled)\w*", re.I)


class Documents(unittest.TestCase):
    def test_spelling_is_one(self):
        for document in DOCUMENTS:
            if document.name == "CHANGELOG.md":  # what was said is left as it is
                continue
            text = re.sub(r"^```.*?^```|^(?: {4}|\t).*?$|`[^`\n]*`|\]\([^)]*\)", "", document.read_text(), flags=re.S | re.M)
            with self.subTest(document=document.name):
                self.assertEqual(AMERICAN.findall(text), [])
        sentences = 0
        for source in sorted((PROJECT / "cli").rglob("*")):
            if source.suffix not in (".cpp", ".hpp", ".inc"):
                continue
            for literal in re.findall(r'^[^/\n]*?"((?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*)"', source.read_text(), re.M):
                if any(mark in literal for mark in "{}=<"):  # templates, styles, marks of pages
                    continue
                sentences += 1
                with self.subTest(source=source.name, literal=literal):
                    self.assertIsNone(AMERICAN.search(literal.replace("--color", "")))
        self.assertGreater(sentences, 1000)

    def test_links_lead_somewhere(self):
        count = 0
        for document in DOCUMENTS:
            for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text()):
                if "://" in link:
                    continue
                count += 1
                with self.subTest(document=document.name, link=link):
                    self.assertTrue((document.parent / link).exists())
        self.assertGreater(count, 40)

    def test_anchors_of_links_are_headings(self):
        """As myst and GitHub make them of headings; scripts/site tells the same where sphinx is installed."""
        def anchors(path):
            text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)
            return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")
                    for heading in re.findall(r"^#{1,4} (.+)$", text, re.M)}

        count = 0
        for document in DOCUMENTS:
            for link, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", document.read_text()):
                target = document.parent / link if link else document
                if "://" not in link and target.suffix == ".md":
                    count += 1
                    with self.subTest(document=document.name, link=link):
                        self.assertIn(anchor, anchors(target))
        self.assertGreater(count, 40)

    def test_files_they_name_are_there(self):
        count = 0
        for document in DOCUMENTS:
            for name in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", document.read_text()):
                count += 1
                with self.subTest(document=document.name, file=name):
                    # bench/x is the program of bench/x.cpp.
                    self.assertTrue((PROJECT / name).exists()
                                    or (PROJECT / f"{name}.cpp").exists())
        self.assertGreater(count, 100)

    def test_the_ways_lead_through_what_is_there(self):
        """A file without a folder lies beside one named before it in the same step; what is not a file is a name of the source's."""
        sources = "".join(path.read_text() for folder in FOLDERS.split("|") for path in (PROJECT / folder).rglob("*")
                          if path.suffix in (".hpp", ".cpp") and folder not in ("tests", "fuzz", "bench"))
        files = names = 0
        for step in re.split(r"\n(?=\d\. |#|\n)", (PROJECT / "docs/ways.md").read_text()):
            beside = set()
            for name in re.findall(r"`([^`\s]+)`", step):
                with self.subTest(step=step.split("\n")[0], name=name):
                    if "/" in name:
                        path = PROJECT / name
                        beside.add(path if path.is_dir() else path.parent)
                    elif re.fullmatch(r"[\w*]+\.(cpp|hpp|inc)", name):
                        self.assertTrue(any(list(folder.glob(name)) for folder in beside), sorted(map(str, beside)))
                        files += 1
                    elif re.fullmatch(r"[A-Z]\w+(::\w+)?|\w+\(\)", name):
                        for part in name.removesuffix("()").split("::"):
                            self.assertRegex(sources, rf"\b{part}\b")
                        names += 1
        self.assertGreater(files, 20)
        self.assertGreater(names, 4)

    def test_architecture_has_a_line_for_each_library(self):
        listed = re.search(r"^set\(coldtrace_libraries ([^)]*)\)", (PROJECT / "CMakeLists.txt").read_text(), re.M)[1]
        text = (PROJECT / "docs/architecture.md").read_text()
        rows = re.findall(r"^\| `([\w-]+)/` \| .+ \| (.+) \|$", text, re.M)
        self.assertEqual([row[0] for row in rows], listed.split())
        for library, way in rows:
            named = re.findall(r"`([^`]+)`", way)
            self.assertGreater(len(named), 2, library)
            for name in named:
                self.assertTrue((PROJECT / library / name).exists(), (library, name))

    def test_rooms_and_files_of_tests_can_be_chosen_as_contributing_says(self):
        text = (PROJECT / "CONTRIBUTING.md").read_text()
        rooms = {"-".join(path.relative_to(PROJECT / "tests").parts) for path in (PROJECT / "tests").rglob("*") if path.is_dir()}
        labels = re.findall(r"room-([\w-]+)", text)
        self.assertGreater(len(labels), 1)
        self.assertLessEqual(set(labels), rooms)
        files = re.findall(r"\[#([\w*]+)\]", text)
        self.assertGreater(len(files), 1)
        for file in files:
            self.assertTrue(list((PROJECT / "tests").rglob(f"{file}.cpp")), file)

    def test_documents_they_name_are_beside_them(self):
        for document in DOCUMENTS:
            text = document.read_text()
            for name in re.findall(r"(?<!\[)`([\w-]+\.md|schema/[\w.-]+)`", text):
                with self.subTest(document=document.name, name=name):
                    self.assertTrue((document.parent / name).exists() or (PROJECT / name).exists())

    def test_variables_of_the_environment_are_all_in_one_table(self):
        table = {name: set(re.findall("`([^`]+)`", files)) for name, files in re.findall(
            r"^\| `(COLDTRACE\w*)` \| (.*?) \|", (PROJECT / "CONTRIBUTING.md").read_text(), re.M)}
        calls = re.compile(r"""(?:getenv\(|environ(?:\.get\(|\[))["'](COLDTRACE\w*)""")
        shell = re.compile(r"\$\{?(COLDTRACE\w*)")
        read = {}
        folders = [one for one in PROJECT.iterdir() if one.is_dir() and one.name not in ("build", "docs", ".git")]
        for folder, path in ((folder.name, path) for folder in folders for path in folder.rglob("*") if path.is_file()):
            text = path.read_bytes().decode(errors="replace")
            for name in {*calls.findall(text), *(shell.findall(text) if folder in ("scripts", "ci") else [])}:
                read.setdefault(name, set()).add(str(path.relative_to(PROJECT)))
        self.assertEqual(sorted(read), sorted(table))
        for name, files in table.items():
            self.assertLessEqual(files, read[name], name)

    def test_the_readme_has_every_document_beside_it(self):
        text = (PROJECT / "README.md").read_text()
        for document in set(PROJECT.glob("*.md")) - {PROJECT / "README.md"}:
            self.assertIn(f"]({document.name})", text)

    def test_the_index_has_every_document(self):
        index = (PROJECT / "docs/README.md").read_text()
        for document in sorted((PROJECT / "docs").rglob("*.md")):
            if document.name != "README.md":
                with self.subTest(document=document.name):
                    self.assertIn(f"]({document.relative_to(PROJECT / 'docs')})", index)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
