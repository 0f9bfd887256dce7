"""Short names, targets of reparse points and names of extended attributes that are no valid text: what differs in their units or bytes
alone differs in every output.

usage: inexact_members.py COLDTRACE SOURCES [unittest arguments]
"""
import csv
import io
import json
import sqlite3
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from case import Case  # noqa: E402
from ntfs.written_volumes import Commands, needs_ntfs_3g, recipe_of  # noqa: E402

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
recipe = recipe_of(SOURCES)
commands = Commands(COLDTRACE, SOURCES)
run, lines_of = commands.run, commands.lines_of

# As they are stored before and after, by the file that has them.
TARGETS = {"junction": ("\\??\\C:\\J\ud800", "\\??\\C:\\J\udc01"), "symlink": ("..\\S\ud800", "..\\S\udc01"), "alias": ("C:\\A\ud800", "C:\\A\udc01")}
LINK = (b"/home/\xe9l", b"/home/\xe8l")
ATTRIBUTE = (b"EA\xe9", b"EA\xe8")
SHORT = ("SHORT\ud800.TXT", "SHORT\udc01.TXT")
MEMBERS = {**dict.fromkeys((*TARGETS, "linux"), "reparse"), "attributes": "ea", "a long name": "short_name"}


def stored(text):
    return text.encode("utf-16-le", "surrogatepass")


def shown(text):
    return "".join("\ufffd" if 0xd800 <= ord(letter) < 0xe000 else letter for letter in text)


def link_body(target, flags=b""):
    return struct.pack("<HHHH", 0, len(stored(target)), len(stored(target)), 0) + flags + stored(target)


@needs_ntfs_3g
class InexactMembers(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.before, cls.after = (Path(cls.folder.name) / name for name in ("before", "after"))
        with recipe.Volume(cls.before, 16 << 20, 4096) as volume:
            (volume.root / "junction").mkdir()
            for name in "symlink", "alias", "linux":
                volume.write(name)
            for name, value in (
                    ("junction", recipe.reparse(0xA0000003, link_body(TARGETS["junction"][0]))),
                    ("symlink", recipe.reparse(0xA000000C, link_body(TARGETS["symlink"][0], struct.pack("<I", 1)))),
                    ("alias", recipe.reparse(0x8000001B, struct.pack("<I", 3) + stored(f"P\0A\0{TARGETS['alias'][0]}\0"))),
                    ("linux", recipe.reparse(0xA000001D, struct.pack("<I", 2) + LINK[0]))):
                volume.attribute(name, "ntfs_reparse_data", value)
            volume.write("attributes", b"e")
            entry = struct.pack("<BBH", 0, 3, 4) + ATTRIBUTE[0] + b"\0" + bytes(4)
            entry += bytes(-len(entry) % 4)
            volume.attribute("attributes", "ntfs_ea", struct.pack("<I", len(entry) + 4) + entry)
            volume.write("a long name", b"n")
            volume.attribute("a long name", "ntfs_dos_name", b"SHORTQ.TXT")
        content = cls.before.read_bytes().replace(stored("SHORTQ.TXT"), stored(SHORT[0]))
        cls.before.write_bytes(content)
        for old, new in (*((stored(old), stored(new)) for old, new in (*TARGETS.values(), SHORT)), LINK, ATTRIBUTE):
            assert old in content
            content = content.replace(old, new)
        cls.after.write_bytes(content)
        cls.snapshots = []
        for image in cls.before, cls.after:
            cls.snapshots.append(image.with_suffix(".ndjson"))
            run("snapshot", image, "-o", cls.snapshots[-1])

    def test_comparisons_tell_them_apart(self):
        sides = [(self.before, self.snapshots[0]), (self.after, self.snapshots[1])]
        for before in sides[0]:
            for after in sides[1]:
                with self.subTest(before=before.name, after=after.name):
                    changed = {line["path"].lstrip("/"): (line["changes"], line["metadata"])
                               for line in lines_of("compare", before, after, status=1) if line["type"] == "file"}
                    self.assertEqual(changed, {name: (["metadata"], [member]) for name, member in MEMBERS.items()})
        for side in sides:
            self.assertEqual([line for line in lines_of("compare", *side) if line["type"] == "file"], [])

    def test_bytes_like_those_of_a_surrogate_are_bytes(self):
        """Of names in UTF-16 they would be one U+FFFD; as UTF-8 each of them is one."""
        link, attribute = b"/hom/\xed\xa0\x80", b"\xed\xa0\x80"
        image = self.write("image", self.before.read_bytes().replace(LINK[0], link).replace(ATTRIBUTE[0], attribute))
        snapshot = self.here / "rows.ndjson"
        run("snapshot", image, "-o", snapshot)
        for source in image, snapshot:
            with self.subTest(source=source.name):
                rows = {line["path"].lstrip("/"): line for line in lines_of("query", source) if line.get("path")}
                reparse = rows["linux"]["reparse"]
                self.assertEqual((reparse["target"], reparse["target_bytes"]), (link.decode("utf-8", "replace"), link.hex()))
                self.assertEqual(rows["attributes"]["ea"],
                                 [{"name": attribute.decode("utf-8", "replace"), "name_bytes": attribute.hex(), "size": 4}])

    def test_hashed_names_tell_them_apart(self):
        key = self.write("key", bytes(32))
        lines = lines_of("compare", "--names", "keyed-hash", "--key-file", key, self.before, self.after, status=1)
        self.assertEqual(sorted(line["metadata"][0] for line in lines if line["type"] == "file"), sorted(MEMBERS.values()))

    def test_rows_have_them(self):
        for side, image in enumerate((self.before, self.after)):
            for source in [["snapshot", image], ["query", image], ["query", self.snapshots[side]]]:
                with self.subTest(side=side, source=source[0]):
                    rows = {line["path"].lstrip("/"): line for line in lines_of(*source) if line.get("path")}
                    for name, targets in TARGETS.items():
                        reparse = rows[name]["reparse"]
                        self.assertEqual((reparse["target"], reparse["target_utf16"]), (shown(targets[side]), stored(targets[side]).hex()))
                        self.assertNotIn("target_bytes", reparse)
                    reparse = rows["linux"]["reparse"]
                    self.assertEqual((reparse["target"], reparse["target_bytes"]), ("/home/\ufffdl", LINK[side].hex()))
                    self.assertNotIn("target_utf16", reparse)
                    self.assertEqual(rows["attributes"]["ea"], [{"name": "EA\ufffd", "name_bytes": ATTRIBUTE[side].hex(), "size": 4}])
                    row = rows["a long name"]
                    self.assertEqual((row["short_name"], row["short_name_utf16"]), (shown(SHORT[side]), stored(SHORT[side]).hex()))

    def test_tables_and_text_have_them(self):
        for side, image in enumerate((self.before, self.after)):
            for source in [["snapshot", image], ["query", image], ["query", self.snapshots[side]]]:
                with self.subTest(side=side, source=source[0]):
                    rows = {row["path"].lstrip("/"): row for row in csv.DictReader(io.StringIO(run(*source, "--format", "csv").decode()))}
                    self.assertEqual({name: rows[name]["reparse_target_utf16"] for name in TARGETS},
                                     {name: stored(targets[side]).hex() for name, targets in TARGETS.items()})
                    self.assertEqual((rows["linux"]["reparse_target_bytes"], rows["linux"]["reparse_target_utf16"]), (LINK[side].hex(), ""))
                    self.assertEqual(rows["a long name"]["short_name_utf16"], stored(SHORT[side]).hex())
                    self.assertIn(f'"name_bytes":"{ATTRIBUTE[side].hex()}"', rows["attributes"]["ea"])
                    text = run(*source, "--format", "text").decode()
                    for targets in TARGETS.values():
                        self.assertIn(" -> " + targets[side].replace("\ud800", "\\ud800").replace("\udc01", "\\udc01") + "\n", text)
                    self.assertIn(f" -> /home/\\x{LINK[side][6]:02x}l\n", text)
            table = run("snapshot", "--format", "mftecmd-csv", image).decode()
            self.assertIn("C:\\J\\" + ("ud800", "udc01")[side], table)
            database = self.here / f"{side}.sqlite"
            run("snapshot", image, "-o", database)
            with sqlite3.connect(database) as connection:
                (found,), = connection.execute("SELECT short_name_utf16 FROM file WHERE path = '/a long name'")
            self.assertEqual(found, stored(SHORT[side]).hex())

    def test_queries_choose_by_them(self):
        for source in self.before, self.snapshots[0]:
            for where, name in ((f'reparse.target_utf16 == "{stored(TARGETS["symlink"][0]).hex()}"', "symlink"),
                                (f'reparse.target_bytes == "{LINK[0].hex()}"', "linux"), (f'ea.name_bytes == "{ATTRIBUTE[0].hex()}"', "attributes"),
                                (f'short_name_utf16 == "{stored(SHORT[0]).hex()}"', "a long name")):
                with self.subTest(source=source.name, where=where):
                    rows = [line["path"] for line in lines_of("query", "--where", where, source) if line["type"] == "file"]
                    self.assertEqual(rows, ["/" + name])

    def test_what_is_of_another_text_is_told(self):
        content = self.snapshots[0].read_bytes()
        for member, old, new in (("short_name_utf16", stored(SHORT[0]).hex(), stored("SHORT.TXT").hex()),
                                 ("reparse.target_utf16", stored(TARGETS["alias"][0]).hex(), stored("C:\\B\ud800").hex()),
                                 ("reparse.target_bytes", LINK[0].hex(), b"/home/\xe9m".hex()), ("ea.name_bytes", ATTRIBUTE[0].hex(), "zz")):
            path = self.write("forged.ndjson", content.replace(old.encode(), new.encode()))
            with self.subTest(member=member):
                for command in ("query", "--where", "record == 0", path), ("compare", self.snapshots[0], path):
                    told = [finding["text"].rpartition(": ")[2] for finding in lines_of(*command, status=1)[-1]["findings"]
                            if finding["code"] == "snapshot-value"]
                    self.assertEqual(told, [member])

    def test_names_of_streams(self):
        """A stream that one of two snapshots lacks."""
        rows = [json.loads(line) for line in self.snapshots[0].read_text().splitlines()]
        for row in rows:
            if row.get("name") == "attributes":
                row["streams"].append({**row["streams"][0], "name": "s\ufffd", "name_utf16": stored("s\ud800").hex()})
        path = self.write("streams.ndjson", "".join(json.dumps(row) + "\n" for row in rows).encode())
        line, = (line for line in lines_of("compare", self.snapshots[0], path, status=1) if line["type"] == "file")
        stream, = line["streams"]
        self.assertEqual((stream["name"], stream["name_utf16"], stream["change"]), ("s\ufffd", stored("s\ud800").hex(), "created"))
        self.assertIn("; :s\\ud800 created", run("compare", self.snapshots[0], path, status=1).decode())
        self.assertIn("  :s\\ud800\n", run("query", "--format", "text", "--where", "exists streams.name_utf16", path).decode())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
