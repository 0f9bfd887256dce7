"""E01 images of many segments, with damage and strangers among them.

usage: ewf_segments.py COLDTRACE

The segments are written here from the description of the format.
"""
import hashlib
import os
import json
import re
import resource
import shutil
import struct
import subprocess
import sys
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case, installed  # noqa: E402
from strict import strict_json, strict_ndjson  # noqa: E402

COLDTRACE = Path(sys.argv[1]).resolve()
SCHEMA = json_schema.of(json.loads(
    (Path(__file__).resolve().parents[3] / "docs/schema/ntfs-info.schema.json").read_text()))
CHUNK = 32768


def section(kind, at, body=b"", link=None):
    size = 76 + len(body)
    head = kind.ljust(16, b"\0") + struct.pack("<QQ", at + size if link is None else link, size)
    return checked(head + bytes(40)) + body


def checked(data):
    return data + struct.pack("<I", zlib.adler32(data))


def volume_body(chunks, identifier):
    return checked(struct.pack("<IIIIQ", 1, chunks, CHUNK // 512, 512, chunks * CHUNK // 512)
                   + bytes(40) + identifier + bytes(968))


def extension(number):
    if number < 100:
        return f"E{number:02}"
    number -= 100
    return chr(69 + number // 676) + chr(65 + number // 26 % 26) + chr(65 + number % 26)


class Segments(Case):
    def setUp(self):
        super().setUp()
        if shutil.which("mkfs.ntfs") is None:
            self.skipTest("mkfs.ntfs is not installed")
        self.raw = self.write("raw.dd", bytes(8 << 20))
        subprocess.run(["mkfs.ntfs", "-q", "-F", "-f", self.raw], capture_output=True, check=True)

    def image(self, name, count, identifier=bytes(16), middle=b"", before=b""):
        """The raw image in so many segments; `middle`: sections before the last of each."""
        content = self.raw.read_bytes()
        chunks = [content[at:at + CHUNK] for at in range(0, len(content), CHUNK)]
        self.assertEqual(len(chunks) % count, 0)
        each = len(chunks) // count
        paths = []
        for number in range(1, count + 1):
            data = bytearray(b"EVF\x09\x0d\x0a\xff\0\1" + struct.pack("<HH", number, 0))
            if number == 1:
                data += before
            data += section(b"volume" if number == 1 else b"data", len(data),
                            volume_body(len(chunks), identifier))
            stored, entries = b"", b""
            for chunk in chunks[(number - 1) * each:number * each]:
                entries += struct.pack("<I", len(data) + 76 + len(stored) | 1 << 31)
                stored += zlib.compress(chunk)
            data += section(b"sectors", len(data), stored)
            table = checked(struct.pack("<IIQI", each, 0, 0, 0)) + checked(entries)
            data += section(b"table", len(data), table)
            data += section(b"table2", len(data), table)
            if middle:
                data += section(b"hash", len(data), middle)
            data += section(b"done" if number == count else b"next", len(data), link=len(data))
            paths.append(self.write(f"{name}.{extension(number)}", bytes(data)))
        return paths

    def rows(self, path, status, open_files=None):
        def limit():
            if open_files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))
        done = subprocess.run([COLDTRACE, "ntfs", "snapshot", "--state", "all", path],
                              capture_output=True, timeout=120, preexec_fn=limit)
        self.assertEqual(done.returncode, status, done.stderr)
        return ([line | {"volume": None} for line in strict_ndjson(done.stdout) if line["type"] == "file"],
                done.stderr.decode())

    def hashes(self, path, *options, status=0):
        done = subprocess.run([COLDTRACE, "ntfs", "info", "--format", "json", *options, path], capture_output=True,
                              timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        document = strict_json(done.stdout)
        SCHEMA.validate(document)
        return document["hashes"], [finding["code"] for finding in document["findings"]]

    def test_without_libewf_it_is_said_what_is_missing(self):
        """A library that cannot be loaded is one that is not there."""
        path, = self.image("absent", 1)
        self.assertTrue(path.read_bytes().startswith(b"EVF"))
        folder = self.here / "no-library"
        folder.mkdir()
        (folder / "libewf.so.2").write_bytes(b"")
        done = subprocess.run([COLDTRACE, "ntfs", "info", path], capture_output=True,
                              env={**os.environ, "LD_LIBRARY_PATH": str(folder)})
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"it is an E01 image, and libewf, which reads it, is not installed", done.stderr)

    def test_hashes_that_the_image_states(self):
        content = self.raw.read_bytes()
        md5, sha1 = hashlib.md5(content).hexdigest(), hashlib.sha1(content).hexdigest()
        if installed(self, "ewfacquirestream"):
            subprocess.run(["ewfacquirestream", "-q", "-d", "sha1", "-t", self.here / "acquired"], input=content,
                           capture_output=True, check=True)
            path = self.here / "acquired.E01"
            stated = [{"algorithm": name, "stored": value, "computed": None, "matches": None}
                      for name, value in (("md5", md5), ("sha1", sha1))]
            self.assertEqual(self.hashes(path), (stated, []))
            self.assertEqual(self.hashes(path, "--verify"),
                             ([one | {"computed": one["stored"], "matches": True} for one in stated], []))
            text = subprocess.run([COLDTRACE, "ntfs", "info", "--verify", path], capture_output=True, check=True).stdout
            for name, value in (("MD5", md5), ("SHA-1", sha1)):
                self.assertIn(f"\n  states the {name} {value}, which matches its bytes\n".encode(), text)
        if installed(self, "ewfacquire"):
            # EnCase's format has no place for a SHA-256, and of that of libewf's ewfx it is the text of a section.
            for form, name, value in (("encase6", "sha256", None), ("ewfx", "sha1", sha1),
                                      ("ewfx", "sha256", hashlib.sha256(content).hexdigest())):
                target = self.here / f"{form}-{name}"
                subprocess.run(["ewfacquire", "-u", "-q", "-f", form, "-d", name, "-t", target, self.raw],
                               capture_output=True, check=True)
                path, = self.here.glob(f"{form}-{name}.[Ee]01")
                said = subprocess.run(["ewfinfo", path], capture_output=True, check=True).stdout.decode()
                told = {kind.lower(): text for kind, text in re.findall(r"^\t(MD5|SHA1|SHA256):\s+(\w+)$", said, re.M)}
                self.assertEqual(told, {"md5": md5} | ({name: value} if value else {}))
                hashes, codes = self.hashes(path, "--verify")
                self.assertEqual(hashes, [{"algorithm": kind, "stored": text, "computed": text, "matches": True}
                                          for kind, text in told.items()])
                self.assertEqual(codes, [])
            data = path.read_bytes()
            at = data.rindex(b"xhash\0")
            size = int.from_bytes(data[at + 24:at + 32], "little") - 76
            text = zlib.decompress(data[at + 76:at + 76 + size])
            for changed, verdict in (((value[:-1] + ("0" if value[-1] != "0" else "1")).upper(), False), ("x" * 64, None)):
                made = zlib.compress(text.replace(value.encode(), changed.encode()), 9)
                head = data[at:at + 16] + (at + 76 + len(made)).to_bytes(8, "little") + (76 + len(made)).to_bytes(8, "little")
                head += bytes(40)
                done = b"done".ljust(16, b"\0") + (at + 76 + len(made)).to_bytes(8, "little") + bytes(48)
                path.write_bytes(data[:at] + head + zlib.adler32(head).to_bytes(4, "little") + made +
                                 done + zlib.adler32(done).to_bytes(4, "little"))
                hashes, codes = self.hashes(path, "--verify", status=1)
                self.assertEqual(codes, ["image-hash"])
                self.assertEqual([(one["algorithm"], one["stored"], one["matches"]) for one in hashes],
                                 [("md5", md5, True)] + [("sha256", changed.lower(), False)] * (verdict is False))
        wrong = bytes.fromhex(md5)[:-1] + b"\x5a"
        for value, matches in ((bytes.fromhex(md5), True), (wrong, False)):
            path, = self.image(f"made{matches}", 1, middle=checked(value + bytes(16)))
            self.assertEqual(self.hashes(path)[0][0]["stored"], value.hex())
            self.assertEqual(self.hashes(path, "--verify", status=int(not matches)),
                             ([{"algorithm": "md5", "stored": value.hex(), "computed": md5, "matches": matches}],
                              [] if matches else ["image-hash"]))
        # Nothing is told of a disk that cannot be read to its end, nor of one without a hash.
        paths = self.image("cut", 2, middle=checked(bytes.fromhex(md5) + bytes(16)))
        damaged = bytearray(paths[0].read_bytes())
        at = damaged.rindex(zlib.compress(content[128 * CHUNK - CHUNK:128 * CHUNK]))
        damaged[at + 5] ^= 0xff
        paths[0].write_bytes(damaged)
        (told,), codes = self.hashes(paths[0], "--verify", status=1)
        self.assertEqual((told["computed"], told["matches"]), (None, None))
        self.assertIn("image-hash", codes)
        for path in self.image("bare", 1)[0], self.raw:
            self.assertEqual(self.hashes(path), ([], []))
            self.assertEqual(self.hashes(path, "--verify", status=1), ([], ["image-hash-none"]))

    def test_more_segments_than_files_may_be_open(self):
        whole, _ = self.rows(self.raw, 0)
        paths = self.image("image", 128)
        self.assertEqual(self.rows(paths[0], 0, open_files=40)[0], whole)
        with open(paths[99], "r+b") as file:
            file.write(b"A")
        rows, said = self.rows(paths[0], 1, open_files=40)
        self.assertEqual(rows, whole)
        self.assertIn(f"segment 100, {paths[99].name}, has a damaged file header; no sectors are "
                      "lost by that", said)

    def test_over_a_thousand_segments_with_few_open_files(self):
        self.raw = self.write("large.dd", bytes(1100 * CHUNK))
        subprocess.run(["mkfs.ntfs", "-q", "-F", "-f", self.raw], capture_output=True, check=True)
        whole, _ = self.rows(self.raw, 0)
        paths = self.image("image", 1100)
        self.assertEqual(self.rows(paths[0], 0, open_files=64)[0], whole)

    def test_a_segment_of_another_image_is_named_and_costs_what_follows(self):
        paths = self.image("image", 8, identifier=b"A" * 16)
        whole, _ = self.rows(paths[0], 0)
        others = self.image("other", 8, identifier=b"B" * 16)
        paths[5].write_bytes(others[5].read_bytes())
        rows, said = self.rows(paths[0], 1)
        self.assertIn(f"segment 6, {paths[5].name}, belongs to another image: sectors 10240-16383",
                      said)
        self.assertEqual({row["path"] for row in rows}, {row["path"] for row in whole})

    def traced(self, calls, path):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        trace = self.here / "trace"
        done = subprocess.run(["strace", "-f", "-e", f"trace={calls}", "-o", trace, COLDTRACE,
                               "ntfs", "info", path], capture_output=True, timeout=300)
        if b"ptrace" in done.stderr:
            self.skipTest("programs cannot be traced here")
        return trace.read_text().splitlines()

    def test_many_damaged_segments_are_not_tried_one_by_one(self):
        paths = self.image("image", 64, middle=b"\1" * 36)
        first = bytearray(paths[0].read_bytes())
        # Of such chunks libewf makes no disk, however few segments it gets.
        struct.pack_into("<II", first, 13 + 76 + 8, 0, 0)
        first[13 + 76:13 + 76 + 1052] = checked(bytes(first[13 + 76:13 + 76 + 1048]))
        paths[0].write_bytes(first)
        opened = [line for line in self.traced("openat", paths[0]) if "/image." in line]
        self.assertGreater(len(opened), 64)
        self.assertLess(len(opened), 64 * 20)

    def test_damaged_case_notes_are_not_searched_again_and_again(self):
        notes = bytearray()
        for _ in range(500):
            notes += b"\xaa" * 76
            notes += section(b"header", 13 + len(notes))
        path, = self.image("image", 1, before=bytes(notes))
        read = sum(int(size) for line in self.traced("pread64", path)
                   for size in re.findall(r" = (\d+)$", line))
        self.assertGreater(read, 1000)
        self.assertLess(read, 16 << 20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
