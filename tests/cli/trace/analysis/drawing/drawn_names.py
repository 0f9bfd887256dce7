"""Names in drawings: what another program that draws them shows is what the trace has, names of files can be told
apart, and a drawing of nothing says so.

usage: drawn_names.py COLDTRACE [arguments of unittest]
"""
import html
import re
import struct
import subprocess
import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
from case import Case, installed
from cli.trace.analysis.answers import runner
from cli.trace.etl_writer import EtlWriter, utf16z

COLDTRACE = Path(sys.argv[1]).resolve()
SVG = "{http://www.w3.org/2000/svg}"
NAMES = "&lt;&amp;&#x41;.exe", "R&D.exe", "a\"b<c>.exe", "Zürich&uuml;.exe"

run = runner(COLDTRACE, "trace")


def svg_of(*arguments):
    done = run(*arguments, "--format", "svg")
    assert done.returncode in (0, 1), done.stderr
    return xml.etree.ElementTree.fromstring(done.stdout)


def texts(root):
    return {"".join(one.itertext()) for one in root.iter(f"{SVG}text")}


class Drawings(Case):
    def named_trace(self, names=NAMES):
        log = EtlWriter(1)
        for number, name in enumerate(names):
            pid, tid = 100 * (number + 1), 100 * (number + 1) + 1
            log.system(0, 0x0303, 4, 0, struct.pack("<QIIIIQII", 0x1000 + pid, pid, 4, 1, 259, 0x1000, 0, 0) +
                       name.encode() + b"\0" + utf16z(f"\"{name}\" &eacute;") + utf16z("") * 2)
            log.thread(0, 0, pid, tid)
        tids = [100 * (i + 1) + 1 for i in range(len(names))]
        for i in range(2 * len(tids)):
            log.ready(0, 1000 * i + 500, tids[(i + 1) % len(tids)])
            log.switch(0, 1000 * (i + 1), tids[i % len(tids)], tids[(i + 1) % len(tids)])
        return self.write("names.etl", log.build())

    def test_what_is_left_out_is_counted_as_everywhere(self):
        log, buffers = EtlWriter(1), []
        for number in range(1, 1237):
            log.process(0, 0, 4 * number, "one.exe")
            if number % 300 == 0:
                buffers.append(log.take(0))
        trace = self.write("many.etl", log.build([*buffers, log.take(0)]))
        for left_out, text in (1234, "1,234 more processes"), (1, "1 more process"):
            drawn = {label for label in texts(svg_of("tree", trace, "--nodes", str(1236 - left_out))) if "more" in label}
            self.assertEqual(drawn, {text})

    def test_other_programs_draw_the_names_of_the_trace(self):
        for command in ["tree"], ["graph", "wait-for"]:
            dot = run(*command, self.named_trace(), "--format", "dot").stdout.decode()
            # Entities are decoded behind the escapes of the quoted string.
            labels = [html.unescape(re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], label))
                      for label in re.findall(r'label="((?:[^"\\]|\\.)*)"', dot)]
            for name in NAMES:
                self.assertTrue(any(name in label for label in labels), (name, labels))
            if installed(self, "dot"):
                drawn = subprocess.run(["dot", "-Tsvg"], input=dot.encode(), capture_output=True, check=True).stdout
                root = xml.etree.ElementTree.fromstring(drawn)
                shown = texts(root)
                titles = {value for one in root.iter() for name, value in one.attrib.items() if name.endswith("title")}
                for name in NAMES:
                    self.assertTrue(any(name in text for text in shown), (name, shown))
                    if command == ["tree"]:
                        self.assertTrue(any(f"\"{name}\" &eacute;" in title for title in titles), (name, titles))

    def test_files_are_told_apart(self):
        folder = "\\Device\\HarddiskVolume2\\Windows\\System32\\"
        files = {0xAA00: folder + "kernel32.dll", 0xBB00: folder + "ntdll.dll", 0xCC00: "\\short.txt",
                 0xDD00: folder + "ä" * 40 + ".dll"}
        log = EtlWriter(1)
        log.process(0, 0, 100, "100.exe")
        for tid in 1000, 1004:
            log.thread(0, 0, 100, tid)
        for key, name in files.items():
            log.system(0, 0x400, 2, 1, struct.pack("<Q", key) + utf16z(name))
        for number, key in enumerate(files):
            at, irp = 100_000 * (number + 1), 0x9000 + number
            log.switch(0, at, 1004, 1000)
            log.system(0, 0x443, 3, at + 100, struct.pack("<QQQQIIII", 0, irp, key + 1, key, 1000, 4096, 0, 0), 1000, 100)
            log.switch(0, at + 200, 1000, 1004)
            log.system(0, 0x44C, 2, at + 50_000, struct.pack("<QQI", irp, 4096, 0))
            log.ready(0, at + 50_010, 1000)
            log.switch(0, at + 50_100, 1004, 1000)
            log.switch(0, at + 50_200, 1000, 1004)
        path = self.write("files.etl", log.build())
        root = svg_of("graph", "wait-for", path)
        shown = texts(root)
        for label in "…Windows\\System32\\kernel32.dll", "\\short.txt":
            self.assertIn(label, shown)
        titles = {one.text for one in root.iter(f"{SVG}title")}
        for name in files.values():
            self.assertIn(f"File\n{name}", titles)
            label = next(text for text in shown if text == name or (text[0] == "…" and name.endswith(text[1:])))
            self.assertLessEqual(len(label.removeprefix("…").encode()), 30)

    def test_long_names_keep_both_ends(self):
        """What tells one from another may be at either."""
        names = ["service-host-of-the-network-group-1.exe", "service-host-of-the-network-group-2.exe",
                 "another-host-of-the-network-group-2.exe"]
        path = self.named_trace(names)
        each = [(100 * number + 1, 100 * number, name) for number, name in enumerate(names, 1)]
        for command, whole in (
                (["tree", path], names), (["graph", "wait-for", path], [f"{tid:#010x}  {name}" for tid, _, name in each]),
                (["critical-path", "--thread", 101, path], [f"thread {tid} of {name} ({pid})" for tid, pid, name in each])):
            root = svg_of(*command)
            labels = {"".join([one.text or "", *(child.tail or "" for child in one)]) for one in root.iter(f"{SVG}text")}
            shown = {label for label in labels if "…" in label}
            titles = "\n".join(one.text for one in root.iter(f"{SVG}title"))
            for name in whole:
                with self.subTest(command, name=name):
                    self.assertIn(name, titles)
                    (label,) = [text for text in shown if name.startswith(text.split("…")[0]) and
                                name.endswith(text.split("…")[1])]
                    front, end = label.split("…")
                    self.assertGreaterEqual(min(len(front), len(end)), 14)
                    shown.remove(label)
            self.assertFalse(shown)

    def test_a_path_that_is_not_there_is_told_in_the_drawing(self):
        path = self.named_trace()
        for options in ["--thread", 99999], ["--thread", 101, "--from", "2200-01-01T00:00:00Z"]:
            done = run("critical-path", path, *options, "--format", "svg")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"no-match", done.stderr)
            root = xml.etree.ElementTree.fromstring(done.stdout)
            self.assertEqual(texts(root), {"No event of the trace shows what delayed the thread."})
            self.assertGreaterEqual(float(root.get("width")), 340)
            self.assertGreaterEqual(float(root.get("height")), 34)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
