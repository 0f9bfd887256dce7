"""Pages of hostile traces, volumes and snapshots open in a browser that has nothing to complain of: names that look like markup,
times without sense, numbers at their ends, bytes that are no longer what they were, files that end early.

usage: report_hostile.py COLDTRACE SHARED [--pages COUNT] [arguments of unittest]
COUNT pages are looked at, 8 where it is not given; the same ones each time.
"""
import io
import json
import os
import random
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import browser
from cli.trace.analysis.answers import runner
from cli.trace.etl_writer import EtlWriter
from sample_volumes import sample_copy, sample_volume

COLDTRACE, SHARED = (Path(a).resolve() for a in sys.argv[1:3])
ARGUMENTS = sys.argv[3:]
PAGES = int(ARGUMENTS.pop(0)) if ARGUMENTS[:1] == ["--pages"] and ARGUMENTS.pop(0) else 8

run = runner(COLDTRACE)

NAMES = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'><svg/onload=alert(1)>", "__proto__",
         "constructor", "\u202egpj.exe", "a" * 3000, "\ud83d.exe", "-->", "]]>", "&lt;b&gt;", "${alert(1)}",
         "javascript:alert(1)", "", " ", "x\x1b[31m", "\u0000end", "プロセス.exe", "NaN", "0", "</textarea>", "\u2028\u2029"]
SCENARIOS = "server", "deadlock-2", "inversion-chain", "disk-bursts"


class Made:
    """One file of each number, always the same."""

    def __init__(self, folder):
        self.folder = folder
        self.runs, self.images, self.snapshots = [], [], []
        for name in SCENARIOS:
            path = folder / f"{name}.ctrace"
            if run("trace", "synthesize", name, "--seed", 1, "-o", path).returncode == 0:
                self.runs.append(path.read_bytes())
        for packed in sorted((SHARED / "samples/ntfs").glob("*.raw.gz")):
            self.images.append(packed)
            done = run("ntfs", "snapshot", "--state", "all", sample_volume(packed))
            if done.stdout:
                self.snapshots.append(done.stdout.splitlines())

    def make(self, number):
        chance = random.Random(number)
        kinds = [self.trace, self.damaged_run, self.damaged_etl] + [self.damaged_image] * bool(self.images)
        kinds += [self.damaged_snapshot] * bool(self.snapshots)
        suffix, content = kinds[number % len(kinds)](chance)
        path = self.folder / f"hostile-{number}{suffix}"
        content.replace(path) if isinstance(content, Path) else path.write_bytes(content)
        return path

    def trace(self, chance):
        writer = EtlWriter(chance.choice((1, 2, 5)), clock=chance.choice((1, 2)))
        pids = [chance.choice((0, 4, 10, 11, 0xffffffff)) for _ in range(chance.randrange(1, 6))]
        for pid in pids:
            name = chance.choice(NAMES)
            writer.system(0, 0x0303, 4, self.moment(chance), struct.pack(
                "<QIIIIQII", chance.getrandbits(64), pid, chance.choice(pids), 1, 259, 0x1000, 0, 0)
                + name.encode("utf-8", "replace")[:200].replace(b"\0", b"") + b"\0"
                + name.encode("utf-16-le", "surrogatepass") + b"\0\0" + chance.choice(NAMES).replace("\0", "").encode("utf-16-le", "surrogatepass") + b"\0" * 4)
            writer.thread(0, self.moment(chance), pid, chance.choice((0, 5, 6, 0xfffffffe)))
        for _ in range(chance.choice((0, 5, 200))):
            cpu, time = chance.randrange(writer.processors), self.moment(chance)
            kind = chance.randrange(6)
            if kind < 2:
                writer.switch(cpu, time, chance.randrange(8), chance.randrange(8), chance.randrange(12), chance.randrange(60))
            elif kind == 2:
                writer.ready(cpu, time, chance.randrange(8), chance.randrange(2))
            elif kind == 3:
                writer.call(cpu, time, chance.getrandbits(64))
            elif kind == 4:
                writer.dpc(cpu, min(time, self.moment(chance)), time, chance.getrandbits(64))
            else:
                writer.system(cpu, chance.choice((0x010a, 0x010b)), 3, time, struct.pack(
                    "<IIIIQQQQI", chance.choice((0, 1, 0xffffffff)), 0, chance.getrandbits(32), 0,
                    chance.getrandbits(64), 0, chance.getrandbits(8), chance.getrandbits(40), chance.randrange(8)))
        return ".etl", writer.build()

    @staticmethod
    def moment(chance):
        return chance.choice((chance.randrange(1000), chance.randrange(10**7), chance.getrandbits(50)))

    @staticmethod
    def damage_file(chance, file, first=0):
        size = file.seek(0, os.SEEK_END)
        for _ in range(chance.choice((1, 8, 60))):
            file.seek(chance.randrange(first, size - 8))
            file.write(chance.choice((b"\0" * 4, b"\xff" * 4, chance.randbytes(4))))
        file.truncate(chance.choice((size, size, chance.randrange(size))))

    def damage(self, chance, content, first=0):
        file = io.BytesIO(content)
        self.damage_file(chance, file, first)
        return file.getvalue()

    def damaged_run(self, chance):
        return ".ctrace", self.damage(chance, chance.choice(self.runs), 512)

    def damaged_etl(self, chance):
        return ".etl", self.damage(chance, self.trace(chance)[1])

    def damaged_snapshot(self, chance):
        lines = list(chance.choice(self.snapshots))
        for _ in range(chance.choice((1, 10, 100))):
            at = chance.randrange(len(lines)) if chance.random() < 0.9 else 0
            line = json.loads(lines[at])
            self.spoil(chance, line)
            lines[at] = json.dumps(line).encode()
        content = b"\n".join(lines) + b"\n"
        return ".ndjson", self.damage(chance, content, 200) if chance.random() < 0.3 else content

    def spoil(self, chance, value):
        """Puts something else in the place of a member, or of one within."""
        places = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not places:
            return
        place = chance.choice(places)
        if isinstance(value[place], (dict, list)) and chance.random() < 0.8:
            self.spoil(chance, value[place])
        elif place not in ("type", "schema"):
            value[place] = chance.choice((
                chance.choice(NAMES), chance.choice(NAMES), 0, 1, -1, 2**63, 2**64 - 1, 1e300, None, True, [], {},
                chance.getrandbits(40), "live", "9999-12-31T23:59:59.9999999Z", "+30828-01-01T00:00:00.0000000Z",
                "/" + "a/" * 500, ["x"] * 50, [{"vcn": 0, "lcn": 2**63, "clusters": 2**63}]))

    def damaged_image(self, chance):
        path = sample_copy(chance.choice(self.images), self.folder / "volume.img")
        with open(path, "r+b") as file:
            self.damage_file(chance, file)
        return ".img", path


class Pages(unittest.TestCase):
    def test_hostile_inputs_give_pages_that_open(self):
        one = browser.start()
        if one is None:
            self.skipTest("no Chromium is here that starts (chromium-headless-shell)")
        self.addCleanup(one.close)
        with tempfile.TemporaryDirectory() as folder:
            made = Made(Path(folder))
            opened = refused = 0
            while opened < PAGES:
                number = opened + refused
                self.assertLess(refused, 2 * PAGES + 20, "too many inputs give no page")
                path = made.make(number)
                target = path.with_suffix(".html")
                done = run("report", path, "-o", target)
                path.unlink()
                self.assertIn(done.returncode, (0, 1, 2), (number, done.stderr[-400:]))
                if done.returncode == 2:
                    self.assertFalse(target.exists(), number)
                    refused += 1
                    continue
                with self.subTest(input=path.name):
                    self.look(one, target)
                opened += 1
                target.unlink()
            print(f"{opened} pages opened, {refused} inputs gave none", file=sys.stderr)

    def look(self, one, target):
        page = one.page(target)
        try:
            page.wait_for("document.body && document.body.dataset.ready === '1'")
            blocks = page.evaluate("document.querySelectorAll('script[type]').length")
            self.assertEqual(page.evaluate("document.scripts.length"), blocks + 1)
            self.assertEqual(page.evaluate("document.images.length"), 0)
            page.resize(390, 844)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"),
                                 page.evaluate("document.documentElement.clientWidth"))
            self.assertEqual(page.complaints(), [])
        finally:
            page.close()
            one.events.clear()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *ARGUMENTS])
