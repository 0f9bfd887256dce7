"""'trace pack' writes zstd's seekable format, which other programs read, and 'trace unpack' the same bytes again.

usage: trace_pack.py COLDTRACE [unittest arguments]
"""
import random
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from case import Case, installed  # noqa: E402
from cli.trace.etl_writer import EtlWriter  # noqa: E402
from ntfs.journal import usn_writer as w  # noqa: E402

COLDTRACE = Path(sys.argv[1]).resolve()
FRAME = 1 << 20


class Packing(Case):
    def run_tool(self, *arguments, status=0):
        done = subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def frames(self, packed):
        """Of the seek table: packed and plain size of each frame."""
        count, flags, magic = struct.unpack("<IBI", packed[-9:])
        self.assertEqual((flags, magic), (0, 0x8F92EAB1))
        table = packed[-9 - 8 * count:-9]
        self.assertEqual(struct.unpack("<II", packed[-17 - 8 * count:-9 - 8 * count]), (0x184D2A5E, 8 * count + 9))
        return [struct.unpack_from("<II", table, 8 * i) for i in range(count)]

    def contents(self):
        source = random.Random(5)
        yield "empty", b""
        yield "byte", b"x"
        yield "frame", bytes(FRAME)
        yield "mixed", source.randbytes(FRAME + 17) + b"abc" * FRAME + bytes(3 * FRAME)

    def test_the_same_bytes_come_back_and_others_read_them(self):
        for name, content in self.contents():
            path, packed, again = self.write(name, content), self.here / (name + ".zst"), self.here / (name + ".out")
            self.run_tool("trace", "pack", path, "-o", packed)
            data = packed.read_bytes()
            self.assertEqual(data, self.run_tool("trace", "pack", "-j1", path).stdout)
            frames = self.frames(data)
            self.assertEqual([plain for _, plain in frames],
                             [min(FRAME, len(content) - at) for at in range(0, len(content), FRAME)])
            self.run_tool("trace", "unpack", packed, "-o", again)
            self.assertEqual(again.read_bytes(), content)
            if not content or not installed(self, "zstd"):
                continue
            self.assertEqual(subprocess.run(["zstd", "-dc", packed], capture_output=True, check=True).stdout, content)
            at = sum(size for size, _ in frames[:-1])  # each frame stands alone
            one = subprocess.run(["zstd", "-dc"], input=data[at:at + frames[-1][0]], capture_output=True, check=True)
            self.assertEqual(one.stdout, content[-frames[-1][1]:])
            other = self.here / "other.zst"
            subprocess.run(["zstd", "-qf", path, "-o", other], check=True)
            self.assertEqual(self.run_tool("trace", "unpack", other).stdout, content)

    def test_pipes_are_packed_and_unpacked(self):
        content = random.Random(7).randbytes(FRAME + 5)
        path = self.write("a", content)
        packed = subprocess.run([COLDTRACE, "trace", "pack", "-"], input=content, capture_output=True, check=True).stdout
        self.assertEqual(packed, self.run_tool("trace", "pack", path).stdout)
        done = subprocess.run([COLDTRACE, "trace", "unpack", "-"], input=packed, capture_output=True, check=True)
        self.assertEqual(done.stdout, content)

    def test_names_say_how_it_is_packed(self):
        done = self.run_tool("trace", "pack", self.write("a", b"x"), "-o", self.here / "a.gz", status=2)
        self.assertIn(b"-o: 'trace pack' writes zstd, not gzip: use a name that ends with .zst", done.stderr)
        self.assertFalse((self.here / "a.gz").exists())
        packed = self.here / "a.zst"
        self.run_tool("trace", "pack", self.here / "a", "-o", packed)
        for ending in ("xz", "bz2", "lz4", "zip", "7z", "CAB"):
            done = self.run_tool("trace", "pack", self.here / "a", "-o", self.here / f"q.{ending}", status=2)
            self.assertIn(f"-o: 'trace pack' writes zstd, not .{ending.lower()}:".encode(), done.stderr)
        for ending in ("gz", "ZST", "xz", "bz2", "lz4", "zip", "7z", "cab"):
            done = self.run_tool("trace", "unpack", packed, "-o", self.here / f"q.{ending}", status=2)
            self.assertIn(b"-o: 'trace unpack' does not compress", done.stderr)
        self.assertEqual(sorted(path.name for path in self.here.iterdir()), ["a", "a.zst"])

    def test_a_trace_is_no_part_of_an_image(self):
        trace, other = self.here / "run.etl", self.write("run.out", bytes(range(256)) * 4)
        writer = EtlWriter(1, clock=1)
        writer.call(0, 1, 0xfffff80000001000)
        trace.write_bytes(writer.build())
        done = self.run_tool("trace", "unpack", trace, "-o", other, status=2)
        self.assertNotIn(b"split image", done.stderr)
        self.assertIn(b"not text, which is never overwritten", done.stderr)
        parts = self.write("disk.aaa", random.Random(8).randbytes(4096)), self.write("disk.aab", bytes(range(256)) * 16)
        done = self.run_tool("trace", "pack", parts[0], "-o", parts[1], status=2)
        self.assertIn(b"a part of the split image", done.stderr)

    def test_an_earlier_result_is_no_part_of_an_image(self):
        for name in "t.txt", "list.abc":
            path, packed = self.write(name, b"hello\n"), self.here / name.replace(name[-3:], "zst")
            for _ in range(2):
                self.run_tool("trace", "pack", path, "-o", packed)
            self.assertEqual(self.run_tool("trace", "unpack", packed).stdout, b"hello\n")
        # What is never overwritten is refused for what it is.
        binary = self.write("disk.bin", bytes(range(8)) * 64)
        packed = self.here / "disk.zst"
        self.run_tool("trace", "pack", binary, "-o", packed)
        before = packed.read_bytes()
        said = self.run_tool("trace", "pack", binary, "-o", packed, status=2).stderr
        self.assertNotIn(b"split image", said)
        self.assertIn(b"which is never overwritten", said)
        # Where the image has parts of such names, it is one of them.
        self.write("disk.aaa", bytes(4096))
        said = self.run_tool("trace", "pack", self.here / "disk.aaa", "-o", packed, status=2).stderr
        self.assertIn(b"a part of the split image", said)
        self.assertEqual(packed.read_bytes(), before)

    def test_a_sparse_disk_says_what_brings_it_back(self):
        path, packed, again = self.here / "sparse", self.here / "sparse.zst", self.here / "again"
        size = 300 << 20
        with open(path, "wb") as file:
            file.truncate(size)
        told = self.run_tool("trace", "pack", path, "-o", packed).stderr.decode()
        self.assertIn(f"--unpacked-limit {size}", told)
        self.assertEqual(self.run_tool("trace", "pack", "-q", path).stderr, b"")
        self.run_tool("trace", "unpack", packed, "-o", again, status=2)
        self.assertFalse(again.exists())
        self.run_tool("trace", "unpack", "--unpacked-limit", size - 1, packed, "-o", again, status=2)
        self.run_tool("trace", "unpack", "--unpacked-limit", size, packed, "-o", again)
        self.assertEqual(again.stat().st_size, size)
        self.assertEqual(self.run_tool("trace", "pack", packed).stderr, b"")

    def test_packed_inputs_are_read_as_they_were(self):
        trace = self.here / "run.ctrace"
        self.run_tool("trace", "synthesize", "deadlock-5", "-o", trace)
        self.run_tool("trace", "pack", trace, "-o", self.here / "run.ctrace.zst")
        plain = self.run_tool("trace", "decode", trace).stdout
        self.assertGreater(len(plain), 10000)
        self.assertEqual(self.run_tool("trace", "decode", self.here / "run.ctrace.zst").stdout, plain)
        image, _ = w.volume(w.History(14, 300), 2)
        path = self.write("disk.img", image)
        self.run_tool("trace", "pack", path, "-o", self.here / "disk.img.zst")
        rows = self.run_tool("ntfs", "snapshot", "--state", "all", "--fields", "path,record,streams", path,
                             status=1).stdout
        packed = self.run_tool("ntfs", "snapshot", "--state", "all", "--fields", "path,record,streams",
                               self.here / "disk.img.zst", status=1).stdout
        self.assertGreater(rows.count(b"\n"), 50)
        self.assertEqual(packed.splitlines()[1:-1], rows.splitlines()[1:-1])
        snapshot = self.here / "files.ndjson"
        self.run_tool("ntfs", "snapshot", path, "-o", snapshot, status=1)
        self.run_tool("trace", "pack", snapshot, "-o", self.here / "packed.ndjson.zst")
        done = subprocess.run([COLDTRACE, "ntfs", "compare", "--format", "ndjson", snapshot,
                               self.here / "packed.ndjson.zst"], capture_output=True)
        self.assertIn(b'"same":true', done.stdout, done.stderr)

    def test_damage_leaves_nothing(self):
        content = random.Random(6).randbytes(3000) * 900
        packed = self.here / "a.zst"
        self.run_tool("trace", "pack", self.write("a", content), "-o", packed)
        data, out = packed.read_bytes(), self.here / "out"
        for name, damaged, message in (("cut", data[:len(data) // 2], b"cut off"),
                                       ("changed", data[:2000] + bytes([data[2000] ^ 1]) + data[2001:], b"damaged"),
                                       ("plain", content, b""), ("empty", b"", b"")):
            done = self.run_tool("trace", "unpack", self.write(name, damaged), "-o", out, status=2)
            self.assertIn(message, done.stderr)
            self.assertFalse(out.exists())
        trace = self.here / "a.ctrace"
        self.run_tool("trace", "synthesize", "deadlock-5", "-o", trace)
        done = self.run_tool("trace", "unpack", trace, "-o", out, status=2)
        self.assertRegex(done.stderr, rb"a\.ctrace: it is [^;]*, which is not compressed\n")
        self.assertFalse(out.exists())
        done = self.run_tool("trace", "unpack", "--unpacked-limit", "1000", packed, "-o", out, status=2)
        self.assertIn(b"--unpacked-limit", done.stderr)
        self.assertFalse(out.exists())

    def test_no_input_is_replaced(self):
        path = self.write("a", b"x" * 100)
        self.run_tool("trace", "pack", path, "-o", path, status=2)
        self.assertEqual(path.read_bytes(), b"x" * 100)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
