"""Names that are not valid UTF-16, of files and of the directories in their paths: every output tells them apart.

usage: inexact_names.py COLDTRACE SOURCES [unittest arguments]
"""
import csv
import hashlib
import hmac
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from case import Case  # noqa: E402
from cli.report.page.page_reader import Page  # noqa: E402
from ntfs.written_volumes import Commands, needs_ntfs_3g, recipe_of  # noqa: E402
from strict import strict_ndjson  # noqa: E402

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
recipe = recipe_of(SOURCES)
commands = Commands(COLDTRACE, SOURCES)
run, lines_of = commands.run, commands.lines_of
FOLDERS = ("a\ud800\u00e9", "a\udc01\u00e9", "a\ud83d\ude00")  # the last one is a pair
SHOWN = "/a\ufffd\u00e9/same.txt"


def units(text):
    return text.encode("utf-16-le", "surrogatepass").hex()


def stored(text):
    """As ntfs-3g takes names: UTF-8, unpaired surrogates as if they were characters."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass").encode("utf-8", "surrogatepass")


@needs_ntfs_3g
class InexactNames(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.image, cls.later = (Path(cls.folder.name) / name for name in ("before", "after"))
        volume = recipe.Volume(cls.image, 16 << 20, 4096)
        with volume:
            for folder in FOLDERS:
                os.mkdir(os.fsencode(volume.root) + b"/" + stored(folder))
                volume.write(os.fsdecode(stored(folder)) + "/same.txt", b"x" * 3000)
                volume.write(os.fsdecode(stored(folder)) + "/gone.txt", b"y" * 3000)
            for folder in FOLDERS:
                os.unlink(os.fsencode(volume.root) + b"/" + stored(folder) + b"/gone.txt")
        shutil.copy(cls.image, cls.later)
        volume.path = cls.later
        with volume:
            root = os.fsencode(volume.root)
            os.rename(root + b"/" + stored(FOLDERS[0]) + b"/same.txt", root + b"/" + stored(FOLDERS[1]) + b"/moved.txt")
        cls.snapshot = Path(cls.folder.name) / "before.ndjson"
        run("snapshot", "--state", "all", cls.image, "-o", cls.snapshot)
        cls.rows = [row for row in strict_ndjson(cls.snapshot.read_bytes()) if row["type"] == "file"]

    def test_json_has_the_units_of_paths(self):
        lines = lines_of("snapshot", "--state", "all", self.image)
        found = {row["path_utf16"]: row["path"] for row in lines if row["type"] == "file" and "path_utf16" in row}
        self.assertEqual(found, {units(f"/{folder}{name}"): f"/{folder}{name}".encode("utf-16-le", "replace").decode("utf-16-le")
                                 .replace("?", "\ufffd") for folder in FOLDERS[:2] for name in ("", "/same.txt", "/gone.txt")})
        self.assertEqual(sum(row["path"] == SHOWN for row in self.rows), 2)
        pair, = (row for row in self.rows if row["path"] == f"/{FOLDERS[2].encode('utf-16', 'surrogatepass').decode('utf-16')}/same.txt")
        self.assertNotIn("path_utf16", pair)

    def test_queries_choose_by_them(self):
        wanted = units(f"/{FOLDERS[1]}/same.txt")
        for source in self.image, self.snapshot:
            for fields in ([], ["--fields", "path,record"]):
                lines = lines_of("query", *fields, "--where", f'path_utf16 == "{wanted}"', source)
                row, = (line for line in lines if line["type"] == "file")
                self.assertEqual((row["path"], row["path_utf16"]), (SHOWN, wanted))
            text = run("query", "--format", "text", "--where", 'name == "same.txt"', source).decode()
            self.assertIn("/a\\ud800\u00e9/same.txt\n", text)
            self.assertIn("/a\\udc01\u00e9/same.txt\n", text)
        self.assertEqual(*(run("query", "--format", "text", "--where", 'name like "*.txt"', source)
                           for source in (self.image, self.snapshot)))

    def test_tables_have_a_column(self):
        wanted = {units(f"/{folder}/same.txt") for folder in FOLDERS[:2]}
        for command in (["snapshot", self.image], ["query", self.image], ["query", self.snapshot]):
            table = csv.DictReader(io.StringIO(run(*command, "--format", "csv").decode()))
            self.assertEqual({row["path_utf16"] for row in table if row["path"] == SHOWN and row["state"] == "live"}, wanted)
        database = self.here / "files.sqlite"
        run("snapshot", self.image, "-o", database)
        with sqlite3.connect(database) as connection:
            self.assertEqual({row for row, in connection.execute("SELECT path_utf16 FROM file WHERE path = ?", (SHOWN,))}, wanted)

    def test_text_shows_surrogates(self):
        for form in "text", "bodyfile":
            text = run("snapshot", "--state", "all", "--format", form, self.image).decode()
            for escape in ("a\\ud800\u00e9", "a\\udc01\u00e9"):
                self.assertIn(f"/{escape}/gone.txt", text)
                self.assertIn(escape, text)
            self.assertNotIn("\ufffd", text)

    def test_timelines_of_other_programs(self):
        wanted = {units(f"/{folder}/same.txt") for folder in FOLDERS[:2]}
        escaped = {f"/a\\{unit}\u00e9/same.txt" for unit in ("ud800", "udc01")}
        lines = strict_ndjson(run("snapshot", "--format", "timesketch", self.image))
        found = [line for line in lines if line.get("filename") == SHOWN]
        self.assertEqual({line["filename_utf16"] for line in found}, wanted)
        self.assertEqual({line["message"].split(" ")[0] for line in found}, escaped)
        self.assertEqual({line["filename"] for line in lines if "filename_utf16" in line}, {SHOWN, SHOWN.rsplit("/", 1)[0]})
        lines = strict_ndjson(run("snapshot", "--format", "ecs", self.image))
        found = [line for line in lines if line["file"].get("path") == SHOWN]
        self.assertEqual({line["coldtrace"]["path_utf16"] for line in found}, wanted)
        self.assertEqual({line["message"].split(" ")[0] for line in found}, escaped)
        self.assertEqual({line["file"]["path"] for line in lines if "path_utf16" in line["coldtrace"]},
                         {SHOWN, SHOWN.rsplit("/", 1)[0]})

    def test_tables_of_other_programs(self):
        escaped = {f"/a\\{unit}\u00e9" for unit in ("ud800", "udc01")} | {"/a\U0001f600"}
        tables = {form: run("snapshot", "--format", form, self.image).decode() for form in ("timeline", "mftecmd-csv", "l2tcsv")}
        rows = {form: list(csv.DictReader(io.StringIO(text))) for form, text in tables.items()}
        for form, text in tables.items():
            self.assertNotIn("\ufffd", text, form)
        of_files = lambda form, column: {row[column] for row in rows[form] if "same.txt" in "".join(map(str, row.values()))}
        self.assertEqual(of_files("timeline", "path"), {f"{folder}/same.txt" for folder in escaped})
        self.assertEqual(of_files("mftecmd-csv", "ParentPath"), {"." + folder.replace("/", "\\") for folder in escaped})
        self.assertLess({folder[1:] for folder in escaped}, {row["FileName"] for row in rows["mftecmd-csv"]})
        self.assertEqual(of_files("l2tcsv", "filename"),
                         {"NTFS:" + f"{folder}/same.txt".replace("/", "\\") for folder in escaped})

    def test_pages_have_a_directory_for_each(self):
        """Sizes are those of the clusters of the three files, 3000 bytes in one of 4096."""
        for source in self.image, self.snapshot:
            page = self.here / "page.html"
            subprocess.run([COLDTRACE, "report", source, "-o", page], capture_output=True, timeout=120)
            text = page.read_text()
            for escape in "a\\ud800\u00e9", "a\\udc01\u00e9":
                with self.subTest(source=source.name, name=escape):
                    self.assertIn(f"/{escape}/same.txt", text)
            self.assertNotIn("a\ufffd", text)
            directories, names = {}, set()
            for part in Page(page.read_bytes()).parts():
                if "treemaps" in part.facts:
                    facts, = part.facts["treemaps"]
                    _, sizes = part.column(facts["count"]), part.column(facts["count"])
                    directories = dict(zip(facts["names"], sizes))
                elif part.facts.get("volumes", [{}])[0].get("id", "").endswith("-search"):
                    names.update(part.facts["volumes"][0]["directories"])
            with self.subTest(source=source.name):
                for escape in "a\\ud800\u00e9", "a\\udc01\u00e9", "a\U0001f600":
                    self.assertGreaterEqual(directories[escape], 4096)
                    self.assertLess(directories[escape], 3 * 4096)
                    self.assertIn("/" + escape, names)

    def test_comparisons_tell_them_apart(self):
        before, after = (f"/{FOLDERS[0]}/same.txt", f"/{FOLDERS[1]}/moved.txt")
        later = self.here / "after.ndjson"
        run("snapshot", self.later, "-o", later)
        for one, other in ((self.image, self.later), (self.snapshot, later), (self.image, later)):
            lines = lines_of("compare", one, other, status=1)
            row, = (line for line in lines if line["type"] == "file" and "moved" in line["changes"])
            self.assertEqual((row["path_before_utf16"], row["path_utf16"]), (units(before), units(after)))
            self.assertEqual((row["path_before"], row["path"]), (SHOWN, SHOWN.replace("same", "moved")))
            name, = row["names"]
            self.assertEqual((name["before_utf16"], name["after_utf16"]), (units(before), units(after)))
            text = run("compare", one, other, status=1).decode()
            self.assertIn("/a\\ud800\u00e9/same.txt -> /a\\udc01\u00e9/moved.txt", text)

    def test_other_streams_are_told_apart(self):
        """Of two snapshots that differ in the units of one name alone."""
        row = next(row for row in self.rows if row["state"] == "live" and row["name"] == "same.txt")
        paths = []
        for name in "s\ud800", "s\udc01":
            stream = {"type": "$LOGGED_UTILITY_STREAM", "name": "s\ufffd", "name_utf16": units(name), "id": 9, "resident": True,
                      "size": 1, "extents": []}
            lines = [json.loads(line) for line in self.snapshot.read_text().splitlines()]
            for line in lines:
                if line["type"] == "file" and line["record"] == row["record"]:
                    line["other_streams"].append(stream)
            paths.append(self.write(f"{len(paths)}.ndjson", "".join(json.dumps(line) + "\n" for line in lines).encode()))
        self.assertEqual([line for line in lines_of("compare", paths[0], paths[0]) if line["type"] == "file"], [])
        changed = [line for line in lines_of("compare", *paths, status=1) if line["type"] == "file"]
        self.assertEqual([(line["record"], line["changes"]) for line in changed], [(row["record"], ["metadata"])])

    def test_history_and_locate(self):
        for source in self.image, self.snapshot:
            lines = lines_of("history", source, "*/same.txt")
            self.assertEqual({line["file"].get("path_utf16") for line in lines if line["type"] == "version"},
                             {units(f"/{folder}/same.txt") for folder in FOLDERS[:2]} | {None})
            text = run("history", source, "*/same.txt").decode()
            for escape in ("/a\\ud800\u00e9/same.txt", "/a\\udc01\u00e9/same.txt"):
                self.assertIn(escape, text)
            row = next(row for row in self.rows if row.get("path_utf16") == units(f"/{FOLDERS[1]}/same.txt"))
            place = row["streams"][0]["extents"][0]["offset"]
            owner, = lines_of("locate", source, place)[1]["owners"]
            self.assertEqual((owner["path"], owner["path_utf16"]), (SHOWN, row["path_utf16"]))
            self.assertIn("/a\\udc01\u00e9/same.txt", run("locate", source, place).decode())

    def test_streams_of_such_names(self):
        """What their clusters hold is what was written to each."""
        names, image, snapshot = ("s\ud800", "s\udc01"), self.here / "image", self.here / "streams.ndjson"
        volume = recipe.Volume(image, 16 << 20, 4096)
        with volume:
            volume.write("two.txt")
            for letter, name in zip("AB", names):
                volume.write(os.fsdecode(b"two.txt:" + stored(name)), letter.encode() * 3000)
        run("snapshot", image, "-o", snapshot)
        row, = (line for line in strict_ndjson(snapshot.read_bytes()) if line.get("name") == "two.txt")
        streams = [stream for stream in row["streams"] if stream["name"]]
        self.assertEqual({stream["name_utf16"] for stream in streams}, set(map(units, names)))
        same = self.write("same.ndjson", snapshot.read_bytes().replace(
            *(json.dumps(stream["extents"], separators=(",", ":")).encode() for stream in streams[::-1])))
        for source in image, snapshot:
            for stream in streams:
                place = stream["extents"][0]["offset"]
                letter = "AB"[list(map(units, names)).index(stream["name_utf16"])]
                with self.subTest(source=source.name, letter=letter):
                    self.assertEqual(image.read_bytes()[place:place + 3000], letter.encode() * 3000)
                    owner, = lines_of("locate", source, place)[1]["owners"]
                    self.assertEqual((owner["stream"], owner["stream_utf16"]), ("s\ufffd", stream["name_utf16"]))
                    self.assertIn("/two.txt:s\\ud", run("locate", source, place).decode())
            text = run("history", source, "/two.txt").decode()
            for escape in "s\\ud800", "s\\udc01":
                self.assertIn(f":{escape} ", text)
        owners = lines_of("locate", same, streams[0]["extents"][0]["offset"])[1]["owners"]
        self.assertEqual([owner["stream_utf16"] for owner in owners], [stream["name_utf16"] for stream in streams])

    def test_hashes_tell_them_apart(self):
        """What is hashed is UTF-8, an unpaired surrogate in it as three bytes."""
        key = bytes(range(32))
        path = self.write("key", key)
        hashed = lambda name: hmac.new(key, name.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
                                       .encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]
        options = ("--names", "keyed-hash", "--key-file", path)
        wanted = {f"/{hashed(folder)}/{hashed('same.txt')}" for folder in FOLDERS}
        self.assertEqual(len(wanted), 3)
        rows = [line for line in lines_of("snapshot", "--state", "all", *options, self.image) if line["type"] == "file"]
        self.assertLess(wanted, {row["path"] for row in rows})
        self.assertLess({hashed(folder) for folder in FOLDERS}, {row["name"] for row in rows})
        for row, plain in zip(rows, self.rows):
            self.assertNotIn("path_utf16", row)
            if plain["name"] is not None and plain["path"] != "/":
                self.assertEqual(row["name"], hashed(bytes.fromhex(plain["name_utf16"]).decode("utf-16-le", "surrogatepass")
                                                     if "name_utf16" in plain else plain["name"]))
        for form in "csv", "bodyfile", "text":
            text = run("snapshot", "--format", form, *options, self.image).decode()
            for folder in FOLDERS:
                self.assertIn(hashed(folder), text)
        place = next(row for row in self.rows if row.get("path_utf16") == units(f"/{FOLDERS[1]}/same.txt"))["streams"][0]["extents"][0]["offset"]
        owner, = lines_of("locate", *options, self.image, place)[1]["owners"]
        self.assertEqual(owner["path"], f"/{hashed(FOLDERS[1])}/{hashed('same.txt')}")
        snapshot = self.here / "hashed.ndjson"
        run("snapshot", *options, self.image, "-o", snapshot)
        for before, after in ((snapshot, self.image), (self.snapshot, self.image), (self.snapshot, snapshot)):
            run("compare", *options, before, after)
        moved, = (line for line in lines_of("compare", *options, self.image, self.later, status=1)
                  if line["type"] == "file" and "moved" in line["changes"])
        self.assertEqual((moved["path_before"], moved["path"]),
                         (f"/{hashed(FOLDERS[0])}/{hashed('same.txt')}", f"/{hashed(FOLDERS[1])}/{hashed('moved.txt')}"))

    def test_units_of_another_path_are_not_taken(self):
        """Snapshots are files as others are: their own path is shown, whatever stands beside it, and it is told."""
        wanted = units(f"/{FOLDERS[1]}/same.txt")
        row = next(row for row in self.rows if row.get("path_utf16") == wanted)
        content = self.snapshot.read_text()
        self.assertEqual(content.count(f'"path_utf16":"{wanted}"'), 1)
        for other in "41", "410042", units("/other"), units(f"/{FOLDERS[0]}/same.txx"), "", "zz":
            path = self.write("forged.ndjson", content.replace(f'"path_utf16":"{wanted}"', f'"path_utf16":"{other}"').encode())
            with self.subTest(units=other):
                self.assertIn(f"{SHOWN}\n", run("query", "--format", "text", "--where", f"record == {row['record']}", path,
                                                status=1).decode())
                self.assertIn(SHOWN, run("history", path, "*/same.txt", status=1).decode())
                owner, = lines_of("locate", path, row["streams"][0]["extents"][0]["offset"], status=1)[1]["owners"]
                self.assertEqual((owner["path"], "path_utf16" in owner), (SHOWN, False))
                self.assertNotIn(f'"record":{row["record"]},',
                                 run("query", "--where", f'path_utf16 == "{other}"', path, status=1).decode())
                lines = lines_of("query", "--where", f"record == {row['record']}", path, status=1)
                self.assertEqual([(line["path"], "path_utf16" in line) for line in lines if line["type"] == "file"], [(SHOWN, False)])
                cell, = csv.DictReader(io.StringIO(run("query", "--format", "csv", "--where", f"record == {row['record']}", path,
                                                       status=1).decode()))
                self.assertEqual((cell["path"], cell["path_utf16"]), (SHOWN, ""))
                self.check_told(path, "path_utf16", row)

    def test_units_of_another_name_are_told(self):
        odd = {"name_utf16": units("\ud800\u00e9")}
        row = next(row for row in self.rows if "name_utf16" not in row and row["streams"] and row["record"] > 30)
        for member, value in (("name_utf16", odd["name_utf16"]), ("name_utf16", 5), ("path_utf16", odd["name_utf16"]),
                              ("streams", [dict(row["streams"][0], name="x", **odd)])):
            with self.subTest(member=member):
                path = self.write("forged.ndjson", self.snapshot.read_bytes().replace(
                    *(json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() for line in (row, dict(row, **{member: value})))))
                self.check_told(path, "streams.name_utf16" if member == "streams" else member, row)

    def check_told(self, path, member, row):
        """Every command that reads the snapshot says in which line, which the test finds itself."""
        content = path.read_bytes()
        place, = (at for at in (content.rindex(b"\n", 0, found) + 1 for found in
                                [content.index(f'"record":{row["record"]},"sequence":{row["sequence"]},'.encode())])
                  if content[at:].startswith(b'{"type":"file"'))
        for command, *arguments in (("query", "--where", "record == 0", path), ("history", path, "/*"), ("locate", path, "0"),
                                    ("compare", self.snapshot, path), ("compare", path, self.image)):
            told = [finding for finding in lines_of(command, *arguments, status=1)[-1]["findings"]
                    if finding["code"] == "snapshot-value"]
            self.assertEqual([(one["first_offset"], one["text"].rpartition(": ")[2]) for one in told],
                             [(place, member)], command)
        done = subprocess.run([COLDTRACE, "report", path, "-o", self.here / "page.html"], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"snapshot-value at {place:#x}: ".encode(), done.stderr)

    def test_bytes_that_are_no_text_are_shown_as_bytes(self):
        row = next(row for row in self.rows if row.get("path_utf16") == units(f"/{FOLDERS[1]}/same.txt"))
        told = f'"path":"{SHOWN}","path_utf16":"{row["path_utf16"]}"'.encode()
        content = self.snapshot.read_bytes()
        self.assertEqual(content.count(told), 1)
        for name, shown in ((b"a\xed\x7fAb", r"/a\xed\x7fAb"), (b"a\xc3(\xed\xa0\x80", r"/a\xc3(\xed\xa0\x80")):
            path = self.write("bytes.ndjson", content.replace(told, b'"path":"/' + name + b'"'))
            with self.subTest(name=name):
                self.assertIn(shown, run("locate", path, row["streams"][0]["extents"][0]["offset"]).decode())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
