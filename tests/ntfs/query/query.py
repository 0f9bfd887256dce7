"""'ntfs query' answers what a second reader of expressions selects from the lines of 'ntfs snapshot', and
the same of an image and of its snapshot.

usage: query.py COLDTRACE SOURCES SHARED [unittest arguments]
The second reader never parses: it makes expressions as trees, writes each as text for coldtrace and asks
its own predicate of every NDJSON line.
"""
import bz2
import gzip
import json
import lzma
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from importlib.machinery import SourceFileLoader
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case  # noqa: E402
from sample_volumes import sample_volume  # noqa: E402
from strict import strict_csv, strict_json, strict_ndjson  # noqa: E402
from ntfs.journal import usn_writer as w  # noqa: E402

COLDTRACE, SOURCES, SHARED = (Path(argument).resolve() for argument in sys.argv[1:4])
SCHEMA = json_schema.of(
    json.loads((SOURCES / "docs/schema/ntfs-snapshot.schema.json").read_text()))
STATES = ("live", "deleted", "detached", "unreachable", "stale", "slack", "unnamed")
SAMPLES = sorted((SHARED / "samples/ntfs").glob("*.raw.gz"))
recipe = SourceFileLoader("recipe", str(SOURCES / "fixtures/recipes/make-ntfs-image.py")).load_module()

SETS = ("si", "fn", "index")
TIMES = ("created", "modified", "changed", "accessed")
STREAM = {"name": "text", "name_utf16": "text", "id": "number", "resident": "flag", "resident_offset": "number", "size": "number",
          "allocated": "number", "valid": "number", "compressed": "flag", "encrypted": "flag", "sparse": "flag",
          "extents.vcn": "number", "extents.lcn": "number", "extents.clusters": "number",
          "extents.offset": "number"}
MEMBERS = {
    "path": "text", "path_utf16": "text", "name": "text", "name_utf16": "text", "extension": "text", "record": "number",
    "sequence": "number", "parent.record": "number", "parent.sequence": "number", "state": "text",
    "directory": "flag", "links": "number", "short_name": "text", "attributes": "text",
    **{time: "time" for time in TIMES}, **{f"{each}.{time}": "time" for each in SETS for time in TIMES},
    "owner_sid": "text", "security_id": "number", "usn": "number", "object_id": "guid", "reparse.tag": "number",
    "reparse.kind": "text", "reparse.target": "text", "ea.name": "text", "ea.size": "number",
    "record_offset": "number", "entry.offset": "number", "entry.size": "number", "entry.allocated": "number",
    "entry.attributes": "text", "entry.copies": "number", "size": "number",
    **{f"streams.{name}": kind for name, kind in STREAM.items()},
    **{f"other_streams.{name}": kind for name, kind in STREAM.items()}, "other_streams.type": "text",
    "findings.code": "text", "findings.severity": "text", "findings.text": "text",
    "partition.number": "number", "partition.offset": "number", "partition.shadow": "number"}


def run(command, *arguments, status=0, given=None):
    done = subprocess.run([COLDTRACE, "ntfs", command, *map(str, arguments)], capture_output=True, timeout=120,
                          input=given)
    assert done.returncode == status, (arguments, done.returncode, done.stdout[-500:], done.stderr)
    return done


def query(image, *arguments, status=(0, 1)):
    done = subprocess.run([COLDTRACE, "ntfs", "query", "-q", image, *map(str, arguments)], capture_output=True,
                          timeout=120)
    assert done.returncode in status, (arguments, done.returncode, done.stderr)
    return done.stdout


def files(ndjson):
    """Each row with the header of its volume."""
    found, header = [], None
    for line in strict_ndjson(ndjson):
        header = line if line["type"] == "header" else header
        if line["type"] == "file":
            found.append((header, line))
    return found


def follow(value, path):
    for name in path:
        if isinstance(value, list):
            value = [element[name] for element in value if element.get(name) is not None]
            value = [part for element in value for part in (element if isinstance(element, list) else [element])]
        else:
            value = value.get(name)
            if value is None:
                return []
    return value if isinstance(value, list) else [value]


def values(pair, member):
    """All that a row has of a member."""
    header, row = pair
    if member == "extension":
        head, dot, tail = (row["name"] or "").rpartition(".")
        return [tail] if dot and tail else []
    if member in TIMES:
        return [value for each in SETS for value in follow(row, [each, member])]
    if member.startswith("partition."):
        return follow(header, member.split("."))
    return follow(row, member.split("."))


def fold(text):
    return re.sub("[A-Z]", lambda match: match[0].lower(), text)


def quoted(text):
    return "'" + text.replace("'", "''") + "'" if "#" in text or '"' in text else '"' + text + '"'


class Reader:
    """Makes comparisons of a member of values that rows have, with predicates."""

    def __init__(self, rows, seed):
        self.rows = rows
        self.random = random.Random(seed)

    def some(self, member):
        found = [value for pair in self.rows for value in values(pair, member)]
        return self.random.choice(found) if found else None

    def literal(self, kind, value):
        if kind == "flag":
            return "true" if value else "false"
        if kind == "number":
            return self.random.choice([str(value), hex(value)])
        if kind == "time":
            return self.random.choice([value, f'"{value}"'])
        if kind == "guid":
            return self.random.choice(["{" + value.upper() + "}", f'"{value}"'])
        return quoted(value)

    def comparison(self, member):
        kind = MEMBERS[member]
        value = self.some(member)
        choice = self.random.random()
        if value is None or choice < 0.1:
            return f"exists {member}", lambda pair: bool(values(pair, member))
        text = self.literal(kind, value)
        same = (lambda a, b: fold(a) == fold(b)) if kind == "text" else (lambda a, b: a == b)
        if choice < 0.3:
            return f"{member} == {text}", lambda pair: any(same(one, value) for one in values(pair, member))
        if choice < 0.45:
            return f"{member} != {text}", lambda pair: bool(values(pair, member)) and not any(
                same(one, value) for one in values(pair, member))
        if kind in ("number", "time"):
            sign, holds = self.random.choice([("<", lambda a, b: a < b), ("<=", lambda a, b: a <= b),
                                              (">", lambda a, b: a > b), (">=", lambda a, b: a >= b)])
            if choice < 0.7:
                return f"{member} {sign} {text}", lambda pair: any(holds(one, value)
                                                                   for one in values(pair, member))
            if choice < 0.9 or kind == "time":
                first, last = sorted([value, self.some(member)])
                return (f"{member} in {self.literal(kind, first)}..{self.literal(kind, last)}",
                        lambda pair: any(first <= one <= last for one in values(pair, member)))
            bits = self.random.getrandbits(6) | 1
            return f"{member} & {bits}", lambda pair: any(one & bits for one in values(pair, member))
        if kind != "text":
            return f"{member} == {text}", lambda pair: any(same(one, value) for one in values(pair, member))
        if choice < 0.65:
            other = self.some(member)
            return (f"{member} in ({text}, {quoted(other)})",
                    lambda pair: any(same(one, each) for one in values(pair, member) for each in (value, other)))
        part = value[:self.random.randint(1, 6)]
        if choice < 0.85 and not re.search(r"[*?\[]", part):
            return (f"{member} like {quoted(part + '*')}",
                    lambda pair: any(fold(one).startswith(fold(part)) for one in values(pair, member)))
        return (f"{member} matches {quoted('^' + re.escape(part))}",
                lambda pair: any(one.startswith(part) for one in values(pair, member)))

    def tree(self, depth):
        choice = self.random.random()
        if depth == 0 or choice < 0.3:
            return self.comparison(self.random.choice(list(MEMBERS)))
        text, holds = self.tree(depth - 1)
        if choice < 0.45:
            return f"not ({text})", lambda pair: not holds(pair)
        other, also = self.tree(depth - 1)
        if choice < 0.75:
            return f"({text}) and ({other})", lambda pair: holds(pair) and also(pair)
        return f"({text}) or ({other})", lambda pair: holds(pair) or also(pair)


def can_mount():
    return (os.geteuid() == 0 and os.path.exists("/dev/fuse") and shutil.which("ntfs-3g")
            and shutil.which("mkntfs") and shutil.which("fuser"))


def make_volume(path):
    """Files with every kind of member that the samples lack."""
    with recipe.Volume(path, 16 << 20, 4096, clock="2024-02-29 12:34:56") as volume:
        for name, size in (("a.TXT", 10), ("b.txt", 5000), ("no extension", 0), ("dot.", 3), (".hidden", 4),
                           ("\u00e4\u00f6.dat", 200000), ("quote ' and #.log", 7), ("gone.exe", 6000)):
            volume.write(name, b"x" * size)
        volume.write("a.TXT:Zone.Identifier", b"[ZoneTransfer]")
        volume.write("b.txt:big", b"s" * 30000)
        (volume.root / "folder/deep").mkdir(parents=True)
        os.link(volume.root / "b.txt", volume.root / "folder/deep/link.txt")
        os.symlink("b.txt", volume.root / "symlink")
        (volume.root / "gone.exe").unlink()


@unittest.skipUnless(SAMPLES, "no samples")
class Query(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.images = list(map(sample_volume, SAMPLES))
        if can_mount():
            cls.images.append(Path(folder.name) / "made")
            make_volume(cls.images[-1])
        cls.snapshots = {}
        for image in cls.images:
            done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "-q", "--state", "all", "--slack", image],
                                  capture_output=True, timeout=120)
            cls.snapshots[image] = Path(folder.name) / f"{image.stem}.ndjson"
            cls.snapshots[image].write_bytes(done.stdout)

    def check(self, image, text, holds, rows):
        expected = [row for _, row in rows if holds((_, row))]
        answer = query(image, "--slack", "--where", text)
        lines = strict_ndjson(answer)
        for line in lines[:3] + lines[-1:]:
            SCHEMA.validate(line)
        self.assertEqual([line for line in lines if line["type"] == "file"], expected)
        self.assertEqual(lines[-1]["counts"]["matched"], len(expected))
        codes = {finding["code"] for finding in lines[-1]["findings"]}
        self.assertEqual("no-match" in codes, not expected)
        of_lines = strict_ndjson(query(self.snapshots[image], "--where", text))
        self.assertEqual([line for line in of_lines if line["type"] != "summary"],
                         [line for line in lines if line["type"] != "summary"])
        self.assertEqual(of_lines[-1]["counts"], lines[-1]["counts"])
        return bool(expected) and len(expected) < len(rows)

    def test_each_member_is_compared_as_another_reader_does(self):
        told, seen = 0, set()
        for image in self.images:
            rows = files(self.snapshots[image].read_bytes())
            reader = Reader(rows, image.name)
            for member in MEMBERS:
                seen |= {member for pair in rows if values(pair, member)}
                text, holds = reader.comparison(member)
                with self.subTest(image=image.name, where=text):
                    told += self.check(image, text, holds, rows)
        self.assertGreater(told, 40)
        self.assertGreater(len(seen), 45)

    def test_trees_of_comparisons(self):
        told = 0
        for image in self.images:
            rows = files(self.snapshots[image].read_bytes())
            reader = Reader(rows, 7)
            for _ in range(40):
                text, holds = reader.tree(3)
                with self.subTest(image=image.name, where=text):
                    told += self.check(image, text, holds, rows)
        self.assertGreater(told, 20)

    def test_every_format_has_the_same_rows_from_both(self):
        for image in self.images:
            where = 'state == "live" and (streams.size > 100 or directory == true)'
            for name in ("ndjson", "json", "csv", "text"):
                options = ("--format", name, "--where", where)
                with self.subTest(image=image.name, format=name):
                    one = query(image, *options)
                    other = query(self.snapshots[image], *options)
                    if name in ("csv", "text"):
                        self.assertEqual(one, other)
                    else:
                        parse = strict_json if name == "json" else strict_ndjson
                        self.assertEqual(parse(one)[:-1], parse(other)[:-1])
            csv = list(strict_csv(query(image, "--format", "csv", "--where", where)))
            rows = files(query(image, "--where", where))
            self.assertEqual(len(csv), len(rows))
            text = query(image, "--format", "text", "--where", where).decode().splitlines()
            self.assertEqual(len(text), len(rows) + 1)
            for line, (_, row) in zip(text[1:], rows):
                if row["path"].isascii():
                    self.assertIn(row["path"], line)
            chosen = query(image, "--fields", "path,size", "--where", where)
            self.assertEqual([row for _, row in files(chosen)],
                             [{"type": "file", "path": row["path"], "size": row["size"]} for _, row in rows])
            self.assertEqual(chosen.splitlines()[1:-1],
                             query(self.snapshots[image], "--fields", "path,size", "--where",
                                   where).splitlines()[1:-1])
            body = query(image, "--format", "bodyfile", "--where", where).splitlines()
            whole = run("snapshot", "-q", "--format", "bodyfile", image, status=0).stdout.splitlines()
            self.assertTrue(body)
            self.assertLessEqual(set(body), set(whole))
            run("query", self.snapshots[image], "--format", "bodyfile", status=2)

    def test_the_order_is_that_of_the_member(self):
        for image in self.images:
            rows = files(self.snapshots[image].read_bytes())
            for member in ("size", "path", "si.modified", "streams.size", "findings.code", "directory", "object_id"):
                for descending in (False, True):
                    order = member + (":desc" if descending else "")
                    pick = max if descending else min
                    kind = MEMBERS[member]

                    def key(pair):
                        found = [(fold(value), value) if kind == "text" else value
                                 for value in values(pair, member)]
                        return pick(found) if found else None

                    given = [pair for pair in rows if key(pair) is not None]
                    if kind == "text":
                        encode = lambda text: text.encode("utf-8")  # noqa: E731
                        given.sort(key=lambda pair: tuple(map(encode, key(pair))), reverse=descending)
                    else:
                        given.sort(key=key, reverse=descending)
                    if descending:  # rows with the same value stay in their order
                        given = self.stable(given, rows, key)
                    expected = [row for _, row in given + [pair for pair in rows if key(pair) is None]]
                    for limit in (None, 0, 1, 7):
                        options = ("--sort", order, *(() if limit is None else ("--limit", limit)))
                        with self.subTest(image=image.name, options=options):
                            answers = [query(image, "--slack", *options), query(self.snapshots[image], *options)]
                            for answer in answers:
                                self.assertEqual([row for _, row in files(answer)], expected[:limit])
                                self.assertEqual(strict_ndjson(answer)[-1]["counts"]["matched"], len(rows))

    @staticmethod
    def stable(given, rows, key):
        places = {id(pair): place for place, pair in enumerate(rows)}
        result = []
        for pair in given:
            if result and key(result[-1][0]) == key(pair):
                result[-1].append(pair)
            else:
                result.append([pair])
        return [pair for group in result for pair in sorted(group, key=lambda pair: places[id(pair)])]

    def test_more_rows_than_a_limit_keeps(self):
        line = json.loads(files_line(self.snapshots[self.images[0]]))
        header = self.snapshots[self.images[0]].read_bytes().splitlines()[0]
        generator = random.Random(1)
        sizes = [generator.randrange(1000) for _ in range(6000)]
        lines = [json.dumps(line | {"record": place, "size": size}).encode() for place, size in enumerate(sizes)]
        path = self.write("many.ndjson", b"\n".join([header, *lines, b'{"type":"summary","complete":true,"counts":{}}']))
        answer = files(query(path, "--sort", "size:desc", "--limit", 50))
        expected = sorted(range(len(sizes)), key=lambda place: (-sizes[place], place))[:50]
        self.assertEqual([row["record"] for _, row in answer], expected)

    def test_what_is_wrong_with_an_expression_has_a_place(self):
        image = self.images[0]
        for text, message in (
                ("size > ", "1:8: expected a number, text in quotes, a {GUID}, a time, 'true' or 'false'"),
                ("siz > 1", "1:1: no member 'siz'; did you mean 'size'?"),
                ("size == 1 and\n  name == 4", "2:11: 'name' is text"),
                ("si.created > 5s", "1:14: 'si.created' is a time, and there is no start from which a duration could count"),
                ("directory == 1", "1:14: 'directory' is true or false"),
                ("size == true", "1:9: 'size' is a number"),
                ("object_id like 'a*'", "1:16: 'object_id' is a GUID, not text"),
                ("name matches '('", "1:14: regular expression: missing ): ("),
                ("fields.size == 1", "1:1: no member 'fields.size'")):
            for given in (image, self.snapshots[image]):
                done = run("query", given, "--where", text, status=2)
                self.assertEqual(done.stdout, b"")
                said = done.stderr.decode().splitlines()
                self.assertTrue(said[0].startswith(f"coldtrace: --where: {message}"), said)
                self.assertTrue(said[2].endswith("^"), said)
        self.assertIn(b"did you mean 'size'?", run("query", image, "--sort", "sise", status=2).stderr)
        for wrong, member in ("sise", "size"), ("si.modified", "si"), ("streams.sise", "streams"):
            told = run("query", image, "--where", "size > 5", "--fields", wrong, status=2).stderr
            self.assertIn(f"did you mean '{member}'?".encode(), told)

    def test_what_no_name_is_fails(self):
        for given in (self.images[0], self.snapshots[self.images[0]]):
            done = run("query", given, "--where", "name == 'is not there'", status=1)
            self.assertIn(b"no-match", done.stderr)

    def test_evidence_is_not_written_over(self):
        for given in (self.images[0], self.snapshots[self.images[0]]):
            before = given.read_bytes()
            run("query", given, "-o", given, status=2)
            self.assertEqual(given.read_bytes(), before)

    def test_standard_input_and_two_volumes(self):
        content = self.snapshots[self.images[0]].read_bytes()
        done = run("query", "-", "--where", "record == 5", given=content)
        self.assertEqual([row["path"] for _, row in files(done.stdout)][:1], ["/"])
        lines = content.splitlines()
        second = json.loads(lines[0])
        second["partition"]["number"] = 2
        both = self.write("both.ndjson", b"\n".join(
            [*lines[:-1], json.dumps(second).encode(), *lines[1:-1], self.with_counts(lines[-1], volumes=2)]))
        every = "record == 5 and state == 'live'"
        self.assertEqual(len(files(query(both, "--where", every))), 2)
        for options in (("--where", every + " and partition.number == 2"), ("--partition", 2, "--where", every)):
            (header, _), = files(query(both, *options))
            self.assertEqual(header["partition"]["number"], 2)
        # Counts are of what is chosen, and null where rows do not say them.
        def double(rows):
            return b"\n".join([lines[0], *rows, json.dumps(second).encode(), *rows, self.with_counts(
                lines[-1], volumes=2, **{state: 2 * told[state] for state in STATES})])
        states = Counter(json.loads(line)["state"] for line in lines[1:-1] if json.loads(line)["type"] == "file")
        told = json.loads(lines[-1])["counts"]
        self.assertGreater(len(states), 1)
        *_, summary = strict_ndjson(query(self.write("all.ndjson", double(lines[1:-1])), "--partition", 2))
        SCHEMA.validate(summary)
        self.assertEqual(summary["counts"], {
            "volumes": 1, "matched": sum(states.values()), **{state: states[state] for state in STATES},
            "gaps": sum(json.loads(line)["type"] == "gap" for line in lines),
            "stale_reasons": {reason: None if states["stale"] else 0 for reason in told["stale_reasons"]}})
        part = self.write("live.ndjson", double([line for line in lines[1:-1] if json.loads(line).get("state") == "live"]))
        *_, summary = strict_ndjson(query(part, "--partition", 2))
        SCHEMA.validate(summary)
        self.assertEqual({state: summary["counts"][state] for state in STATES},
                         {state: None if state != "live" and told[state] else told[state] for state in STATES})
        page = subprocess.run([COLDTRACE, "report", self.write("answer.ndjson", query(part, "--partition", 2))],
                              capture_output=True, timeout=120)
        self.assertNotIn(b"counts", page.stderr)
        one, two = ([row for _, row in files(query(path, "--sort", "path", "--limit", 3))] for path in (self.snapshots[self.images[0]], both))
        self.assertEqual(two, [one[0], one[0], one[1]])
        self.assertEqual(len(files(query(both, "--limit", 5))), 5)
        run("query", both, "--partition", 7, status=2)

    @staticmethod
    def with_counts(summary, **counts):
        line = json.loads(summary)
        return json.dumps(line | {"counts": line["counts"] | counts}).encode()

    def test_several_snapshots_in_one_file(self):
        lines = self.snapshots[self.images[0]].read_bytes().splitlines()
        counts = json.loads(lines[-1])["counts"]
        whole, cut = [lines, lines[:-1]]
        every = "record == 5 and state == 'live'"

        def ask(lines, status):
            done = run("query", self.write("several.ndjson", b"\n".join(lines)), "--where", every, status=status)
            return strict_ndjson(done.stdout), done.stderr

        answer, said = ask([*whole, *whole], 0)
        self.assertEqual(len([line for line in answer if line["type"] == "file"]), 2)
        self.assertNotIn(b"not in the snapshot", said)

        def twice(value):
            return {name: twice(each) for name, each in value.items()} if isinstance(value, dict) else 2 * value

        self.assertEqual(answer[-1]["counts"] | {"matched": 2}, twice(counts) | {"matched": 2})
        for part in ([*cut, *whole], [*whole, *cut], [*lines[:3], *whole], [lines[0], *whole], [*whole, lines[0]],
                     [*whole, *lines[1:3]], [*whole, *lines[1:]], [*whole, lines[-1]]):
            answer, said = ask(part, 1)
            self.assertIn(b"snapshot-incomplete", said)
            self.assertNotEqual(answer[-1]["type"], "summary")

    def test_rows_that_a_whole_snapshot_lost_are_told(self):
        lines = self.snapshots[self.images[0]].read_bytes().splitlines()
        rows = [line for line in lines if b'"state":"live"' in line]
        lost = [line for line in lines if line != rows[-1]]
        path = self.write("lost.ndjson", b"\n".join(lost))
        done = run("query", path, "--where", "path == '/'", status=1)
        self.assertEqual([each["code"] for each in strict_ndjson(done.stdout)[-1]["findings"]], ["snapshot-selection"])
        self.assertIn(f"{len(rows) - 1} of {len(rows)} live".encode(), done.stderr)
        self.assertNotIn(b"--state all", done.stderr)
        partition = json.loads(lines[0])["partition"]["number"]
        done = run("query", path, "--partition", partition, "--where", "path == '/'", status=1)
        self.assertIn(f"{len(rows) - 1} of {len(rows)} live".encode(), done.stderr)
        # Rows that were added, and a line that is none of a snapshot.
        for more, code, words in ((rows[-1], "snapshot-selection", f"{len(rows) + 1} of {len(rows)} live"),
                                  (b'{"type":"files"}', "snapshot-incomplete", "could not be read: 1")):
            path = self.write("more.ndjson", b"\n".join([*lines[:-1], more, lines[-1]]))
            done = run("query", path, "--where", "path == '/'", status=1)
            self.assertEqual([each["code"] for each in strict_ndjson(done.stdout)[-1]["findings"] if each["severity"] == "warning"],
                             [code])
            self.assertIn(words.encode(), done.stderr)
        # An answer of a query is not asked for more than it found.
        answer = self.write("answer.ndjson", run("query", path, "--where", "path == '/'", status=1).stdout)
        self.assertNotIn(b"lacks names that its last line counts", run("query", answer, status=1).stderr)

    def test_every_comparison_of_different_types_is_false(self):
        for where, told in (("size != 'x'", "'size' is a number"), ("name != 5", "'name' is text"),
                            ("directory != 0", "'directory' is true or false"), ("created != 5", "'created' is a time")):
            self.assertIn(told, run("query", self.images[0], "--where", where, status=2).stderr.decode())
        lines = list(map(json.loads, self.snapshots[self.images[0]].read_text().splitlines()))
        sized = [line for line in lines if line["type"] == "file" and line["size"] is not None]
        sized[0]["size"] = "none"
        path = self.write("types.ndjson", "\n".join(map(json.dumps, lines)).encode())
        rows = [line for line in lines if line["type"] == "file"]
        for where, wanted in (("size != 1", [r["path"] for r in sized[1:] if r["size"] != 1]),
                              ("not (size == 1)", [r["path"] for r in rows if r["size"] != 1])):
            found = strict_ndjson(run("query", path, "--where", where, status=1).stdout)
            self.assertEqual([line["path"] for line in found if line["type"] == "file"], wanted)

    def test_packed_snapshots(self):
        lines = self.snapshots[self.images[0]].read_bytes()
        where = ("--where", "size > 1000", "--format", "csv")
        expected = run("query", self.snapshots[self.images[0]], *where).stdout
        packed = {"a.gz": gzip.compress(lines), "a.xz": lzma.compress(lines), "a.bz2": bz2.compress(lines)}
        for name, content in packed.items():
            done = run("query", self.write(name, content), *where)
            self.assertEqual((done.stdout, done.stderr), (expected, b""))
        self.assertEqual(run("query", "-", *where, given=packed["a.gz"]).stdout, expected)
        cut = run("query", self.write("cut.gz", packed["a.gz"][:-len(packed["a.gz"]) // 3]), *where, status=1)
        for code in b"packed-damaged", b"snapshot-incomplete":
            self.assertIn(code, cut.stderr)
        done = run("query", self.here / "a.gz", *where, "--unpacked-limit", len(lines) // 2, status=1)
        self.assertIn(b"packed-limit", done.stderr)

    def test_lines_that_lack_members_are_told(self):
        lacking = self.write("few.ndjson", run("snapshot", "-q", "--fields", "path,size", self.images[0]).stdout)
        done = run("query", lacking, "--where", "si.created > 2000-01-01 or size > 0", status=1)
        self.assertIn(b"query-members", done.stderr)
        self.assertNotIn(b"query-members", run("query", lacking, "--where", "size > 0").stderr)
        # Within what rows have: nothing of these is left out by 'ntfs snapshot'.
        whole = self.snapshots[self.images[0]]
        for member, take in (("si.modified", lambda row: row["si"].pop("modified")),
                             ("modified", lambda row: row["si"].pop("modified")),
                             ("parent.record", lambda row: row["parent"].clear()),
                             ("streams.size", lambda row: row["streams"][0].pop("size")),
                             ("streams.extents.lcn", lambda row: row["streams"][0]["extents"][0].pop("lcn"))):
            lines, done = [], False
            for line in whole.read_bytes().splitlines():
                row = json.loads(line)
                if not done and row["type"] == "file" and any(one.get("extents") for one in row["streams"][:1]):
                    take(row)
                    done = True
                lines.append(json.dumps(row))
            self.assertTrue(done)
            edited = self.write("edited.ndjson", "\n".join(lines).encode() + b"\n")
            test = f"{member} {'> 2000-01-01' if 'modified' in member else '>= 0'}"
            done = run("query", edited, "--where", test, status=1)
            self.assertRegex(done.stderr.decode(), f"query-members: .*: {re.escape(member)}")
            self.assertNotIn(b"query-members", run("query", whole, "--where", test).stderr)

    def test_members_that_are_shown_and_lacking_are_told(self):
        lacking = self.write("few.ndjson", run("snapshot", "-q", "--fields", "path,size", self.images[0]).stdout)
        whole = self.snapshots[self.images[0]]
        for options, names in ((("--fields", "path,size"), ""), ((), ""), (("--fields", "path,links,usn"), "links usn"),
                               (("--format", "csv", "--fields", "size,state"), "state"),
                               (("--format", "json", "--fields", "fn"), "fn"),
                               (("--format", "text"), "directory findings record reparse sequence si state streams"),
                               (("--where", "size > 0", "--sort", "si.created", "--fields", "usn"), "si.created usn")):
            with self.subTest(options):
                done = run("query", lacking, *options, status=1 if names else 0)
                told = re.search(rb"have no value for them: ([^\n\[]*)", done.stderr)
                self.assertEqual(told[1].split() if told else [], sorted(names.encode().split()))
                self.assertNotIn(b"query-members", run("query", whole, *options).stderr)
        self.assertIn(b"record", run("query", lacking, "--format", "csv", status=1).stderr)

    def test_what_is_not_in_a_snapshot_is_counted(self):
        lines = [json.loads(line) for line in run("snapshot", "-q", self.images[0]).stdout.splitlines()]
        rows = [line for line in lines if line["type"] == "file"]
        states = {state: count for state, count in lines[-1]["counts"].items()
                  if state in ("deleted", "detached", "unreachable", "stale", "slack", "unnamed") and count}
        self.assertTrue(states)

        def told(lines):
            path = self.write("some.ndjson", "\n".join(map(json.dumps, lines)).encode())
            return run("query", path, "--where", "path == '/'", "--fields", "path").stderr.decode()

        said = re.search(r"not in the snapshot: (.*);", told(lines))[1]
        self.assertEqual(dict(reversed(part.split()) for part in said.split(", ")),
                         {state: str(count) for state, count in states.items()})
        stateless = [{name: value for name, value in line.items() if name != "state"} for line in lines]
        self.assertIn(f"not in the snapshot: {sum(states.values())} names;", told(stateless))
        stateless[-1]["counts"] = {"live": len(rows)}
        self.assertNotIn("not in the snapshot", told(stateless))

    def test_times_in_text_at_both_ends_of_their_range(self):
        lines = [json.loads(line) for line in run("snapshot", "-q", self.images[0]).stdout.splitlines()]
        line = next(line for line in lines if line["type"] == "file" and line["si"])
        for time, offset, shown in (("1601-01-01T00:30:00.0000000Z", "-08:00", "1600-12-31T16:30:00"),
                                    ("1601-01-01T13:59:59.9999999Z", "-14:00", "1600-12-31T23:59:59"),
                                    ("1601-01-01T14:00:00.0000000Z", "-14:00", "1601-01-01T00:00:00"),
                                    ("1601-01-01T00:30:00.0000000Z", "+05:30", "1601-01-01T06:00:00")):
            line["si"]["modified"] = time
            path = self.write("early.ndjson", "".join(json.dumps(each) + "\n"
                                                      for each in (lines[0], line, lines[-1])).encode())
            done = run("query", "-q", "--format", "text", f"--utc-offset={offset}", path, status=1)  # rows are missing
            self.assertIn(shown.encode(), done.stdout, (time, offset))

    def test_days_as_ends_of_ranges_and_late_years(self):
        lines = [json.loads(line) for line in run("snapshot", "-q", self.images[0]).stdout.splitlines()]
        line = next(line for line in lines if line["type"] == "file" and line["si"])
        times = ("2026-11-25T23:59:59.9999999Z", "2026-11-26T00:00:00.0000000Z", "2026-11-26T23:59:59.9999999Z",
                 "2026-11-27T00:00:00.0000000Z", "+10000-01-01T00:00:00.0000000Z", "+30828-09-14T02:48:05.4775807Z",
                 "+60056-05-28T05:36:10.9551615Z")
        rows = [line | {"record": 1000 + i, "si": line["si"] | {"modified": time}} for i, time in enumerate(times)]
        path = self.write("late.ndjson", "\n".join(map(json.dumps, (lines[0], *rows, lines[-1]))).encode())
        for text, expected in (("in 2026-11-26..2026-11-26", [1, 2]), ("in '2026-11-26'..'2026-11-26'", [1, 2]),
                               ("in 2026-11-25..2026-11-26T00:00", [0, 1]), ("== 2026-11-26", [1]),
                               ("<= 2026-11-26", [0, 1]), ("> 9999-12-31", [4, 5, 6]), ("in (+10000-01-01)", [4]),
                               ("== '+30828-09-14T02:48:05.4775807Z'", [5]), ("> +30828-09-14T02:48:05", [5, 6]),
                               ("in 2026-11-27..+60056-05-28", [3, 4, 5, 6])):
            with self.subTest(text):
                found = [row["record"] - 1000 for _, row in files(query(path, "--where", "si.modified " + text))]
                self.assertEqual(found, expected)
        for text in ("2026-11-26T12:00:60", "+60056-05-28T05:36:10.9551616", "+09999-01-01"):
            self.assertIn(b"invalid time", run("query", path, "--where", f"si.modified > {text}", status=2).stderr)

    def test_zones_stay_in_rows(self):
        written = run("snapshot", "-q", "--zone-ids", "--state", "all", self.images[0]).stdout.splitlines()
        rows = [json.loads(line) for line in written]
        for row in rows[1:-1:2]:
            if "zone_id" in row:
                row["zone_id"] = {"zone": 3, "referrer_url": None, "host_url": "http://a/", "resident": True}
        path = self.write("zones.ndjson", "\n".join(map(json.dumps, rows)).encode())
        asked = [line for _, line in files(query(path))]
        self.assertEqual([list(line.items()) for line in asked],
                         [list(row.items()) for row in rows if row["type"] == "file"])
        self.assertTrue(any(line["zone_id"] for line in asked))
        self.assertFalse([line for _, line in files(query(path, "--fields", "path,findings")) if "zone_id" in line])
        # One that says no zone, as where it is not read, is one.
        there = [row for row in rows if row.get("zone_id")]
        for row in there[::2]:
            row["zone_id"] = {"zone": None, "referrer_url": None, "host_url": None, "resident": False}
        path = self.write("zones.ndjson", "\n".join(map(json.dumps, rows)).encode())
        for where, expected in (("exists zone_id", there), ("exists zone_id.zone", there[1::2]),
                                ("not exists zone_id", [row for row in rows if row["type"] == "file" and not row.get("zone_id")])):
            self.assertEqual([line for _, line in files(query(path, "--where", where))], expected, where)
        # What was not looked for is not what no file has.
        without = self.snapshots[self.images[0]]
        for options in (), ("--format", "csv"), ("--format", "json", "--fields", "path"):
            self.assertNotIn(b"query-members", run("query", path, "--zone-ids", *options).stderr)
            self.assertRegex(run("query", without, "--zone-ids", *options, status=1).stderr.decode(),
                             "query-members: .*have no value for them: zone_id")

    def test_values_of_other_types_are_told(self):
        lines = [json.loads(line) for line in self.snapshots[self.images[0]].read_bytes().splitlines()]
        place = next(i for i, line in enumerate(lines) if line["type"] == "file" and line["streams"] and line["si"])
        for member, value, where, options in (
                ("size", "many", "size > 0", ()), ("size", -1, "size > 0", ()), ("size", 1.5, "size > 0", ()),
                ("si", {"created": "yesterday"}, "si.created > 2000-01-01", ()),
                ("si", {"created": 5}, "created > 2000-01-01", ()), ("si", [], "created > 2000-01-01", ()),
                ("directory", "true", "directory == true", ()), ("name", 7, "extension == 'x'", ()),
                ("streams", [5], "streams.size > 0", ()), ("streams", [{"size": "x"}], "streams.size > 0", ()),
                ("object_id", "x", "exists object_id", ()), ("attributes", [1], "attributes == 'hidden'", ()),
                ("parent", "x", None, ("--format", "csv")), ("reparse", {"tag": "x"}, None, ("--format", "csv")),
                ("si", 5, None, ("--fields", "si")), ("links", [], None, ("--fields", "links")),
                ("state", 5, None, ("--format", "text")), ("state", "lively", None, ()), ("state", 5, None, ()),
                ("state", "lively", "state == 'lively'", ()), ("attributes", ["archiv"], "attributes == 'archiv'", ()),
                # Texts of digits are numbers above 2^53 alone, as --int64 string writes them.
                ("size", "5", "size > 0", ()), ("size", str(2**53), "size > 0", ()), ("record", "30", None, ()),
                ("size", str(2**53 + 1).zfill(20), "size > 0", ()), ("size", str(2**64), "size > 0", ()),
                ("streams", [{"size": "5"}], "streams.size > 0", ()), ("streams", [{"size": "5"}], None, ()),
                ("findings", ["x"], None, ()), ("ea", [5], None, ("--format", "json")),
                ("links", "1", None, ("--format", "csv")), ("parent", {"record": "5"}, "parent.record == 5", ())):
            edited = [*lines[:place], lines[place] | {member: value}, *lines[place + 1:]]
            path = self.write("edited.ndjson", "\n".join(map(json.dumps, edited)).encode())
            with self.subTest(member=member, value=value):
                options = (*options, *(("--where", where) if where else ()))
                done = subprocess.run([COLDTRACE, "ntfs", "query", path, *options], capture_output=True, timeout=120)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"snapshot-value", done.stderr)
                self.assertIn(b"count as absent: " + member.encode(), done.stderr)
                sound = subprocess.run([COLDTRACE, "ntfs", "query", self.snapshots[self.images[0]], *options],
                                       capture_output=True, timeout=120)
                self.assertNotIn(b"count as absent", sound.stderr)

    def test_numbers_that_int64_string_writes_as_texts(self):
        lines = [json.loads(line) for line in self.snapshots[self.images[0]].read_bytes().splitlines()]
        place = next(i for i, line in enumerate(lines) if line["type"] == "file" and line["streams"])
        for size in 2**53 + 1, 2**64 - 1:
            row = lines[place] | {"size": str(size)}
            path = self.write("texts.ndjson", "\n".join(map(json.dumps, [*lines[:place], row, *lines[place + 1:]])).encode())
            done = run("query", path, "--where", f"size == {size}", "--int64", "string")
            self.assertNotIn(b"snapshot-value", done.stderr)
            self.assertEqual([json.loads(line)["path"] for line in done.stdout.splitlines() if b'"file"' in line[:14]],
                             [row["path"]])

    def test_a_header_with_texts_for_numbers_is_told(self):
        lines = [json.loads(line) for line in self.snapshots[self.images[0]].read_bytes().splitlines()]
        for member in "number", "offset":
            header = dict(lines[0], partition={"number": 1, "offset": 0, "size": 5} | {member: "1"})
            path = self.write("header.ndjson", "\n".join(map(json.dumps, [header, *lines[1:]])).encode())
            done = run("query", path, "--where", "path == '/'", status=1)
            self.assertIn(b"count as absent: partition", done.stderr)

    def test_a_last_line_that_says_it_is_not_complete(self):
        lines = self.snapshots[self.images[0]].read_bytes().splitlines()
        summary = json.loads(lines[-1])
        for value in (False, None, "true", 1):
            path = self.write("cut.ndjson", b"\n".join(
                [*lines[:-1], json.dumps(summary | {"complete": value}).encode()]))
            done = run("query", path, "--where", "path == '/'", status=1)
            self.assertIn(b"snapshot-incomplete", done.stderr)
            self.assertNotIn(b'"summary"', done.stdout)
            array = strict_json(run("query", path, "--where", "path == '/'", "--format", "json", status=1).stdout)
            self.assertEqual(array[-1]["type"], "file")
        path.write_bytes(b"\n".join([*lines[:-1], b'{"type":"summary","complete":true}']))
        strict_json(run("query", path, "--where", "path == '/'", "--format", "json", status=1).stdout)

    def test_rows_say_which_volume_they_are_of(self):
        volume = w.volume(w.History(3, 50, start=1 << 30), 2)[0]
        volume += bytes(-len(volume) % 4096)
        sectors = len(volume) // 512
        second = 64 + sectors
        disk = bytearray(512)
        for number, start in enumerate((64, second)):
            struct.pack_into("<B3xB3xII", disk, 446 + 16 * number, 0, 7, start, sectors)
        disk[510:512] = b"\x55\xaa"
        name = 'two "volumes", one disk'
        both = self.here / name
        with both.open("wb") as file:
            for at, part in ((0, disk), (64 * 512, volume), (second * 512, volume)):
                file.seek(at)
                file.write(part)
        alone = self.write("alone", volume)
        expected = {1: {"image": name, "partition": 1, "start": 64 * 512, "shadow": None},
                    2: {"image": name, "partition": 2, "start": second * 512, "shadow": None}}
        rows = files(run("snapshot", "-q", "--state", "all", both, status=1).stdout)
        self.assertEqual({header["partition"]["number"] for header, _ in rows}, {1, 2})
        for header, row in rows:
            self.assertEqual(row["volume"], expected[header["partition"]["number"]])
        paths = [[row["path"] for _, row in rows if row["volume"] == each] for each in expected.values()]
        self.assertEqual(paths[0], paths[1])
        for line in strict_ndjson(run("snapshot", "-q", both, "--fields", "volume", status=1).stdout)[:20]:
            SCHEMA.validate(line)

        def snapshot(form, image=both):  # which no directory lists its files of is a warning
            return run("snapshot", "-q", "--state", "all", "--format", form, image, status=1).stdout

        cells = [(row["path"], {"image": row["volume_image"], "partition": int(row["volume_partition"]),
                                "start": int(row["volume_start"]), "shadow": None}) for row in strict_csv(snapshot("csv"))]
        self.assertEqual(cells, [(row["path"], row["volume"]) for _, row in rows])
        for form, kind in (("ndjson", "record"), ("csv", None)):
            output = run("journal", "-q", "--format", form, both).stdout
            rows = ([line["volume"] for line in strict_ndjson(output) if line["type"] == kind] if kind else
                    [{"image": row["volume_image"], "partition": int(row["volume_partition"]),
                      "start": int(row["volume_start"]), "shadow": None} for row in strict_csv(output)])
            half = len(rows) // 2
            self.assertGreater(half, 49)
            self.assertEqual(rows, [expected[1]] * half + [expected[2]] * half)
        for form in "bodyfile", "text":
            output = run("journal", "-q", "--format", form, both).stdout
            self.assertEqual(output.count(b"/partition1/"), output.count(b"/partition2/"))
            self.assertEqual(output.count(b"/partition1/"), half)
        lone = files(snapshot("ndjson", alone))[0][1]["volume"]
        self.assertEqual(lone, {"image": "alone", "partition": None, "start": 0, "shadow": None})
        self.assertEqual({row["volume_partition"] for row in strict_csv(snapshot("csv", alone))}, {""})
        # In a bodyfile two equal volumes differ in what paths start with.
        body = snapshot("bodyfile").splitlines()
        half = len(body) // 2
        for number, lines in ((1, body[:half]), (2, body[half:])):
            prefix = b"0|/partition%d" % number
            self.assertTrue(all(line.startswith(prefix + b"/") for line in lines))
            self.assertEqual([b"0|" + line.removeprefix(prefix) for line in lines],
                             snapshot("bodyfile", alone).splitlines())
        text = snapshot("text").decode()
        self.assertEqual(re.findall(r"(/partition./)$", text, re.M), ["/partition1/", "/partition2/"])
        lines = self.write("both.ndjson", snapshot("ndjson"))
        for options in (("--format", "text"), ("--format", "csv"), ("--fields", "path,volume"), ()):
            with self.subTest(options):
                one, other = (query(each, "--where", "record == 5", *options) for each in (both, lines))
                if not options or "--fields" in options:
                    one, other = (files(each) for each in (one, other))
                    self.assertEqual([row["volume"] for _, row in one], list(expected.values()))
                elif "text" in options:
                    self.assertEqual(re.findall(rb"  (/\S*)", one), [b"/partition1/", b"/partition2/"])
                self.assertEqual(one, other)
        for form, find in (("timesketch", lambda line: {member: line.get(f"volume_{member}") for member in lone}),
                           ("ecs", lambda line: {"shadow": None} | line["coldtrace"]["volume"])):
            found = [find(json.loads(line)) for line in snapshot(form).splitlines()]
            self.assertEqual([volume for at, volume in enumerate(found) if volume not in found[:at]],
                             list(expected.values()))

    def test_damage_that_a_snapshot_tells_of_is_told(self):
        lines = self.snapshots[self.images[0]].read_bytes().splitlines()
        summary = json.loads(lines[-1])
        summary["findings"] = [{"code": "torn-fixup", "severity": "warning", "count": 2, "first_offset": 1, "text": "x"},
                               {"code": "healthy", "severity": "info", "count": 1, "first_offset": 1, "text": "x"}]
        told = self.write("told.ndjson", b"\n".join([*lines[:-1], json.dumps(summary).encode()]) + b"\n")
        for form in "ndjson", "csv", "text":
            done = run("query", told, "--where", "record == 0", "--format", form, status=1)
            self.assertIn(b"snapshot-findings", done.stderr)
            self.assertIn(b"torn-fixup (2). What", done.stderr)
        done = run("query", told, "--where", "record == 0", "--format", "ndjson", status=1)
        self.assertEqual([each["code"] for each in strict_ndjson(done.stdout)[-1]["findings"]], ["snapshot-findings"])

    def test_hostile_lines(self):
        header = self.snapshots[self.images[0]].read_bytes().splitlines()[0]
        row = json.loads(files_line(self.snapshots[self.images[0]]))
        summary = b'{"type":"summary","complete":true,"counts":{"live":1}}'
        good = json.dumps(row | {"name": "good"}).encode()
        path = self.here / "hostile.ndjson"

        def ask(*lines, where="name == 'good'", status=(0, 1)):
            path.write_bytes(b"\n".join(lines))
            answer = query(path, "--where", where, "--format", "ndjson", status=status)
            for other in ("csv", "text", "json"):
                query(path, "--where", where, "--format", other, status=status)
            return answer

        deep = b'{"type":"file","name":' + b"[" * 500_000 + b"]" * 500_000 + b"}"
        for bad in (b"[1]", b"{", b'"text"', deep, b'{"type":"file"', b'{"type":"other"}', b"\xff\xfe", b'{"type":1}',
                    b'{"type":"file","size":1e999}'):
            answer = ask(header, bad, good, summary)
            self.assertEqual([found["name"] for _, found in files(answer)], ["good"], bad[:40])
            self.assertIn("snapshot-incomplete", {each["code"] for each in strict_ndjson(answer)[-1]["findings"]})
        for member in ("name", "size", "streams", "si", "attributes", "findings", "parent", "reparse", "entry", "ea"):
            for value in (None, 1, -1, 1.5, "x", True, [], {}, [[1]], [None], [{}], {"a": [1]}, "\ud800", "\0"):
                odd = json.dumps(row | {member: value}).encode()
                answer = ask(header, odd, good, summary,
                             where="size > 0 or streams.size > 0 or si.created > 2000-01-01 or name == 'good'"
                                   " or attributes == 'x' or entry.size > 1 or not exists findings.code")
                self.assertIn("good", [found["name"] for _, found in files(answer)])
        # Without its last line it is not complete, and neither is the answer.
        self.assertNotIn(b'"summary"', ask(header, good))
        self.assertEqual(len(files(ask(header, good))), 1)
        late = row | {"si": {"created": "+60056-05-28T05:36:10.9551615Z"}, "name": "late"}
        answer = ask(header, json.dumps(late).encode(), good, summary, where="si.created > 9999-12-31")
        self.assertEqual([found["name"] for _, found in files(answer)], ["late"])
        for nothing in (b"{}", b"", b"[]\n[]", good + b"\n" + header):
            path.write_bytes(nothing)
            run("query", path, status=2)


def files_line(snapshot):
    return next(line for line in snapshot.read_bytes().splitlines() if line.startswith(b'{"type":"file"'))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
