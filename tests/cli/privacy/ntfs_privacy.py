"""'--names keyed-hash' leaves no name of a volume or journal in any output, and hashes are what HMAC says.

usage: ntfs_privacy.py COLDTRACE SOURCES SHARED [unittest arguments]
"""
import hashlib
import hmac
import json
import re
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case  # noqa: E402
from sample_volumes import sample_volume  # noqa: E402
from strict import strict_ndjson  # noqa: E402
from ntfs.journal import usn_writer as w  # noqa: E402

COLDTRACE, SOURCES, SHARED = (Path(a).resolve() for a in sys.argv[1:4])
KEY = bytes(range(7, 39))
FORMATS = ("ndjson", "json", "csv", "mftecmd-csv", "bodyfile", "timeline", "l2tcsv", "timesketch", "ecs", "sqlite",
           "text")
# Shorter ones are words and digits of outputs as well.
SHORTEST = 4


def hashed(name):
    return hmac.new(KEY, name.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]


def hashed_path(path):
    return "/".join(part if re.fullmatch(r"(<parent \d+-\d+>)?", part) else hashed(part)
                    for part in path.split("/"))


def exact(row, member):
    """The text of a member, by its units where it has them."""
    units = row.get(member + "_utf16")
    return bytes.fromhex(units).decode("utf-16-le", "surrogatepass") if units else row[member]


def forms(text):
    """The bytes that would give a text away: in UTF-8, UTF-16 and as their digits, escaped for JSON and URLs."""
    utf8, wide = text.encode("utf-8", "surrogatepass"), text.encode("utf-16-le", "surrogatepass")
    yield from (utf8, wide, text.encode("utf-16-be", "surrogatepass"), utf8.hex().encode(), wide.hex().encode(),
                json.dumps(text)[1:-1].encode(), "".join(f"\\x{b:02x}" for b in utf8).encode(),
                "".join(f"%{b:02x}" for b in utf8).encode())


class Privacy(Case):
    def setUp(self):
        super().setUp()
        self.key = self.write("key", KEY)

    def run_tool(self, *arguments, status=(0, 1)):
        done = subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120, cwd=self.here)
        self.assertIn(done.returncode, status, done.stderr)
        return done

    def hash(self, *arguments, **options):
        return self.run_tool(*arguments, "--names", "keyed-hash", "--key-file", self.key, **options)

    def image(self, name):
        packed = SHARED / "samples/ntfs" / name
        if not packed.exists():
            self.skipTest("the sample images are not here")
        return sample_volume(packed)

    def secrets(self, rows, header):
        """What of a plain snapshot must not be seen: names, and what says whose a file is."""
        found = set()
        for row in rows:
            found |= {row["name"], row["short_name"], row["owner_sid"], row["object_id"]}
            found |= {part for part in (row["path"] or "").split("/") if not re.fullmatch(r"<parent \d+-\d+>", part)}
            found |= {stream["name"] for stream in row["streams"] + row["other_streams"]}
            found |= {ea["name"] for ea in row["ea"]}
            found.add((row["reparse"] or {}).get("target"))
            found.add(row.get("name_utf16"))
        found |= {header["volume"]["label"], header["partition"]["name"]}
        found -= {None}
        return {text for text in found if len(text) >= SHORTEST}

    def assert_none_left(self, secrets, output, where):
        for text in sorted(secrets):
            for form in forms(text):
                self.assertFalse(form in output, (where, text))


    def check_image(self, image):
        lines = strict_ndjson(self.run_tool("ntfs", "snapshot", "--state", "all", "--slack", image).stdout)
        rows = [line for line in lines if line["type"] == "file"]
        secrets = self.secrets(rows, lines[0])
        self.assertGreater(len(secrets), 20)
        for form in FORMATS:
            output = self.here / "output"
            output.unlink(missing_ok=True)
            done = self.hash("ntfs", "snapshot", "--state", "all", "--slack", "--format", form, image, "-o", output)
            text = output.read_bytes()
            self.assert_none_left(secrets, text + done.stderr, form)
            # What the test can tell: plain outputs have names.
            output.unlink()
            self.run_tool("ntfs", "snapshot", "--state", "all", "--slack", "--format", form, image, "-o", output)
            plain = output.read_bytes()
            self.assertTrue(any(form_of in plain for secret in secrets for form_of in forms(secret)), form)

    def test_no_name_of_a_volume_is_left(self):
        for name in ("ntfs-lastaccess.raw.gz", "ntfs-ptrn.raw.gz"):
            self.check_image(self.image(name))

    def test_hashes_are_what_hmac_says(self):
        image = self.image("ntfs-lastaccess.raw.gz")
        arguments = ("ntfs", "snapshot", "--state", "all", "--slack", image)
        plain = strict_ndjson(self.run_tool(*arguments).stdout)
        lines = strict_ndjson(self.hash(*arguments).stdout)
        schema = json_schema.of(
            json.loads((SOURCES / "docs/schema/ntfs-snapshot.schema.json").read_text()))
        for line in (*lines[:30], lines[-1]):
            schema.validate(line)
        self.assertEqual(lines[0]["names"], {"method": "keyed_hash", "keep_extensions": False,
                                             "key_check": hashed("")})
        self.assertEqual(len(lines), len(plain))
        for line, row in zip(lines, plain):
            if row["type"] != "file":
                continue
            expected = dict(row, owner_sid=None, object_id=None)
            for units in ("name_utf16", "path_utf16"):
                expected.pop(units, None)
            if row["path"] is not None and row["path"] != "/":
                expected["path"] = hashed_path(exact(row, "path"))
                expected["name"] = hashed(exact(row, "name"))
            if row["short_name"] is not None:
                expected["short_name"] = hashed(row["short_name"])
            if row["reparse"]:
                expected["reparse"] = dict(row["reparse"], target=None)
            for member in ("streams", "other_streams"):
                expected[member] = [dict(s, name=s["name"] and hashed(s["name"])) for s in row[member]]
            expected["ea"] = [dict(ea, name=hashed(ea["name"])) for ea in row["ea"]]
            self.assertEqual(line, expected)

    def test_extensions_are_kept_where_asked_for(self):
        image = self.image("ntfs-lastaccess.raw.gz")
        plain = strict_ndjson(self.run_tool("ntfs", "snapshot", image).stdout)
        lines = strict_ndjson(self.hash("ntfs", "snapshot", image, "--keep-extensions").stdout)
        seen = 0
        for line, row in zip(lines, plain):
            if row["type"] != "file" or row["path"] == "/":
                continue
            extension = re.search(r"(?<=.)\.[0-9A-Za-z]{1,8}$", row["name"])
            seen += extension is not None
            self.assertEqual(line["name"], hashed(row["name"]) + (extension[0] if extension else ""))
        self.assertGreater(seen, 3)

    def test_no_name_of_a_journal_is_left(self):
        history = w.History(7, 400, renames=0.1)
        stream, mft = self.write("J", history.journal.data), self.write("MFT", w.mft(history.records())[0])
        plain = strict_ndjson(self.run_tool("ntfs", "journal", "--events", "--mft-file", mft, stream).stdout)
        secrets = {part for line in plain if line["type"] == "event"
                   for path in (line["path"], line["old_path"] or "") for part in path.split("/")}
        secrets = {text for text in secrets if len(text) >= 3 and not text.startswith("<parent ")}
        self.assertGreater(len(secrets), 50)
        for form in ("ndjson", "json", "csv", "mftecmd-csv", "l2tcsv", "bodyfile", "text"):
            arguments = ("ntfs", "journal", "--events", "--format", form, "--mft-file", mft, stream)
            done = self.hash(*arguments)
            words = re.findall(r"[\w.$~-]+", re.sub(r"[0-9a-f]{32}", "", done.stdout.decode()))
            self.assertEqual(secrets & set(words), set(), form)
            self.assertTrue(secrets & set(re.findall(r"[\w.$~-]+", self.run_tool(*arguments).stdout.decode())), form)
        lines = strict_ndjson(self.hash("ntfs", "journal", "--events", "--mft-file", mft, stream).stdout)
        for line, row in zip(lines, plain):
            if row["type"] == "event":
                self.assertEqual(line, dict(row, path=hashed_path(row["path"]), name=hashed(row["name"]),
                                            old_path=row["old_path"] and hashed_path(row["old_path"])))

    def test_queries_ask_what_is_true_and_tell_hashes(self):
        image = self.image("ntfs-lastaccess.raw.gz")
        rows = [line for line in strict_ndjson(self.run_tool("ntfs", "snapshot", image).stdout)
                if line["type"] == "file" and line["path"] != "/"]
        name = next(row["name"] for row in rows if not row["name"].startswith("$") and '"' not in row["name"])
        for form in ("ndjson", "csv", "bodyfile", "timesketch", "ecs", "text"):
            done = self.hash("ntfs", "query", image, "--where", f'name == "{name}"', "--format", form, status=(0,))
            self.assertIn(hashed(name).encode(), done.stdout)
            self.assertNotIn(name.encode(), done.stdout + done.stderr)

    def test_compare_of_hashed_and_plain_sides(self):
        image = self.image("ntfs-lastaccess.raw.gz")
        snapshot = self.write("hashed.ndjson", self.hash("ntfs", "snapshot", image).stdout)
        plain = self.write("plain.ndjson", self.run_tool("ntfs", "snapshot", image).stdout)
        for before, after in ((snapshot, image), (plain, image), (snapshot, plain), (snapshot, snapshot)):
            self.hash("ntfs", "compare", before, after, status=(0,))
        done = self.run_tool("ntfs", "compare", snapshot, plain, status=(1,))
        self.assertIn(b"names-key", done.stderr)
        # With extensions and without, one key gives names that are not comparable either.
        kept = self.write("kept.ndjson", self.hash("ntfs", "snapshot", image, "--keep-extensions").stdout)
        self.assertNotIn(b"names-key", self.run_tool("ntfs", "compare", kept, kept).stderr)
        self.assertIn(b"names-key", self.run_tool("ntfs", "compare", snapshot, kept, status=(1,)).stderr)
        changed = [json.loads(line) for line in plain.read_text().splitlines()]
        victim = next(line for line in changed if line["type"] == "file" and line["name"] not in (".", None) and
                      not line["name"].startswith("$"))
        name, victim["name"] = victim["name"], "another"
        victim["path"] = victim["path"].rsplit("/", 1)[0] + "/another"
        other = self.write("other.ndjson", "".join(json.dumps(line) + "\n" for line in changed).encode())
        for form in ("text", "ndjson"):
            done = self.hash("ntfs", "compare", image, other, "--format", form, status=(1,))
            self.assertIn(hashed("another").encode(), done.stdout)
            self.assertIn(hashed(name).encode(), done.stdout)
            self.assertNotIn(name.encode(), done.stdout)

    def test_no_name_is_left_in_what_other_commands_tell(self):
        image = self.image("ntfs-ptrn.raw.gz")
        lines = strict_ndjson(self.run_tool("ntfs", "snapshot", "--state", "all", image).stdout)
        rows = [line for line in lines if line["type"] == "file"]
        # "$MFT" and such are words of the outputs too.
        secrets = {text for text in self.secrets(rows, lines[0]) if not text.startswith("$")}
        places = [str(extent["offset"]) for row in rows for stream in row["streams"] + row["other_streams"]
                  for extent in stream["extents"] if extent["offset"] is not None][:400]
        places += [str(row["record_offset"] + 400) for row in rows if row["record_offset"]][:200]
        for command, more in (("info", ()), ("locate", places), ("history", ("*",)), ("logfile", ())):
            for form in {"info": ("text", "json"), "logfile": ("ndjson", "csv", "text")}.get(command, ("ndjson", "text")):
                arguments = ("ntfs", command, "--format", form, image, *more)
                plain, done = self.run_tool(*arguments), self.hash(*arguments)
                self.assert_none_left(secrets, done.stdout, (command, form))
                self.assertTrue(any(one in plain.stdout for secret in secrets for one in forms(secret)), (command, form))
                if form == "ndjson":
                    schema = json_schema.of(json.loads((SOURCES / f"docs/schema/ntfs-{command}.schema.json").read_text()))
                    told, known = strict_ndjson(done.stdout), strict_ndjson(plain.stdout)
                    self.assertEqual(told[0]["names"]["key_check"], hashed(""))
                    self.assertEqual(len(told), len(known))
                    for line, row in zip(told[:300], known):
                        schema.validate(line)
                        for owner, of in zip(line.get("owners", ()), row.get("owners", ())):
                            self.assertEqual(owner, dict(of, path=of["path"] and hashed_path(of["path"]),
                                                         stream=of["stream"] and hashed(of["stream"])))
                        if row["type"] == "operation":
                            self.assertEqual((line["name"], line["path"], line["lsn"]),
                                             (row["name"] and hashed(row["name"]), row["path"] and hashed_path(row["path"]),
                                              row["lsn"]))
                        if row["type"] == "version":
                            self.assertEqual(line["file"]["path"], hashed_path(row["file"]["path"]) if row["file"]["path"] != "/" else "/")

    def test_a_path_that_is_asked_for_and_not_found_is_hashed(self):
        image = self.image("ntfs-lastaccess.raw.gz")
        asked = ("/SECRETHARD.txt", r"\Users\alice\Secret Plan.docx", "alice*")
        for form in ("ndjson", "json", "text"):
            done = self.hash("ntfs", "history", "--format", form, image, *asked, status=(1,))
            self.assert_none_left({"SECRETHARD", "Users", "alice", "Secret Plan", "docx"}, done.stdout + done.stderr, form)
            for path in (asked[0], "/Users/alice/Secret Plan.docx", asked[2]):
                self.assertIn(f"{hashed_path(path)}: no file had".encode(), done.stderr)
        plain = self.run_tool("ntfs", "history", image, *asked, status=(1,))
        self.assertIn(b"/SECRETHARD.txt: no file had", plain.stderr)

    def test_compare_sees_what_is_not_shown(self):
        image = self.image("ntfs-lastaccess.raw.gz")
        plain = [json.loads(line) for line in self.run_tool("ntfs", "snapshot", image).stdout.splitlines()]
        changed = json.loads(json.dumps(plain))
        victims = [line for line in changed if line["type"] == "file" and line["owner_sid"] and line["name"][0] != "$"]
        owner = victims[0]["owner_sid"]
        victims[0]["owner_sid"] = "S-1-5-21-1-2-3-1001"
        victims[1]["object_id"] = "01234567-89ab-cdef-0123-456789abcdef"
        victims[2]["other_streams"] = [dict((plain[1]["other_streams"])[1], type="$LOGGED_UTILITY_STREAM", name="$EFS")]
        before, after = (self.write(name, "".join(json.dumps(line) + "\n" for line in lines).encode())
                         for name, lines in (("before", plain), ("after", changed)))
        for hide in (False, True):
            run = self.hash if hide else self.run_tool
            rows = {row["record"]: row for row in
                    strict_ndjson(run("ntfs", "compare", "--format", "ndjson", before, after, status=(1,)).stdout)
                    if row["type"] == "file"}
            shown = hashed if hide else str
            self.assertEqual(rows[victims[0]["record"]]["owner_sid"],
                             {"before": shown(owner), "after": shown("S-1-5-21-1-2-3-1001")})
            self.assertEqual(rows[victims[1]["record"]]["metadata"], ["object_id"])
            self.assertEqual(rows[victims[2]["record"]]["metadata"], ["other_streams"])
            self.assertEqual(len(rows), 3)
        # What a snapshot with hashes strips is not known, and no change.
        stripped = self.write("stripped", self.hash("ntfs", "snapshot", image).stdout)
        self.hash("ntfs", "compare", stripped, before, status=(0,))

    def test_keys_that_are_none_are_refused(self):
        image = self.write("image", bytes(512))
        for arguments, message in (
                (("--names", "keyed-hash"), b"--key-file"),
                (("--key-file", self.key), b"--names keyed-hash"),
                (("--keep-extensions",), b"--names keyed-hash"),
                (("--names", "keyed-hash", "--key-file", self.write("short", bytes(15))), b"16 to 4096 bytes"),
                (("--names", "keyed-hash", "--key-file", self.write("long", bytes(4097))), b"16 to 4096 bytes"),
                (("--names", "keyed-hash", "--key-file", "absent"), b"absent"),
                (("--names", "keyed-hash", "--key-file", self.key, "--zone-ids"), b"--names plain")):
            done = self.run_tool("ntfs", "snapshot", image, *arguments, status=(2,))
            self.assertIn(message, done.stderr)
        done = self.run_tool("ntfs", "snapshot", image, "--names", "keyed-hash", "--key-file", self.key, "-o",
                             self.key, status=(2,))
        self.assertEqual(self.key.read_bytes(), KEY)

    def test_a_database_has_hashes(self):
        image = self.image("ntfs-lastaccess.raw.gz")
        database = self.here / "files.sqlite"
        self.hash("ntfs", "snapshot", image, "-o", database)
        names = [name for name, in sqlite3.connect(database).execute("SELECT name FROM file WHERE path <> '/'")]
        self.assertGreater(len(names), 10)
        for name in names:
            self.assertRegex(name, "^[0-9a-f]{32}$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
