"""No output of any command replaces what the run reads, a disk, or a file of evidence beside it.

usage: evidence.py COLDTRACE [unittest arguments]
Which options name inputs is asked of each command's help, so that no new one is forgotten.
"""
import errno
import gzip
import os
import pty
import random
import re
import shutil
import sqlite3
import stat
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case

COLDTRACE = Path(sys.argv.pop(1)).resolve()
PROJECT = Path(__file__).resolve().parents[3]

# What a command needs beside files.
NEEDED = {
    ("hooks", "derive"): ["NtClose"],
    ("hooks", "locate"): ["SwapContext"],
    ("hooks", "plan"): ["--function", "NtClose"],
    ("trace", "check"): ["--expect", "pid == 4"],
    ("trace", "control", "decode"): ["0x0B"],
    ("trace", "critical-path"): ["--thread", "4"],
    ("trace", "schemas", "show"): ["Example-Provider"],
    ("trace", "synthesize"): ["deadlock-2"],
}
# What an option needs beside it.
WITH = {(("trace", "schemas", "build"), name): ["--image", "spare.bin"]
        for name in ("--parent", "--password-file", "--recovery-key-file", "--startup-key")}
# And after its inputs.
BEHIND = {("batch",): ["ntfs", "info"], ("ntfs", "history"): ["a.txt"]}

PROGRAM = case.Program(COLDTRACE)
run, help_of, commands = PROGRAM.run, PROGRAM.help_of, PROGRAM.commands


def path_options(command):
    """(name, whether required, kind) of the options and arguments that take a path."""
    kinds = ("FILE", "IMAGE", "DIR", "TABLE", "PROFILE", "FILE|DIR", "BEFORE", "AFTER", "DUMP")
    text = help_of(*command)
    found = [(name, not optional, name) for optional, name in
             re.findall(r" (\[?)([A-Z|]+)(?:\.\.\.)?\]?(?= |$)",
                        re.search(r"^Usage: .*", text, re.M)[0]) if name in kinds]
    for name, kind, rest in re.findall(
            r"^  ([-\w,]+) ([A-Z|]+)\b(.*(?:\n {10}.*)*)", text, re.M):
        if name.startswith("-") and kind in kinds and name != "-o,--output":
            found.append((name, "[required]" in rest, kind))
    return found


def option(name):
    return [name.split(",")[-1]] if name.startswith("-") else []


class Evidence(case.Case):
    def victim(self, name="evidence.bin", content=None):
        return self.write(name, content or b"MZ" + bytes(510) + b"evidence")

    def refused(self, arguments, kept, *words):
        before = [(path.read_bytes(), os.lstat(path).st_mtime_ns) for path in kept]
        names = sorted(os.listdir(self.here))
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, (arguments, done.stderr))
        self.assertEqual(done.stdout, b"")
        self.assertEqual([(path.read_bytes(), os.lstat(path).st_mtime_ns) for path in kept], before)
        self.assertEqual(sorted(os.listdir(self.here)), names)
        for word in words:
            self.assertIn(word, done.stderr)

    def arguments(self, command, chosen, path):
        """The command with `path` for the chosen option, and other files where it needs more."""
        spare = self.here / "spare.bin"
        spare.write_bytes(b"spare")
        line = [*command, *NEEDED.get(command, [])]
        for name, required, _ in path_options(command):
            if name == chosen:
                line += [*option(name), path, *(self.here / word if word == "spare.bin" else word
                                                for word in WITH.get((command, name), []))]
            elif required:
                line += [*option(name), spare]
        return line + BEHIND.get(command, [])

    def test_every_input_of_every_command_is_safe_from_its_output(self):
        tried = 0
        for command in commands():
            for name, _, kind in path_options(command):
                if kind == "DIR":
                    continue
                victim = self.victim()
                symbolic, hard = self.here / "symbolic", self.here / "hard"
                for link in (symbolic, hard):
                    link.unlink(missing_ok=True)
                symbolic.symlink_to(victim)
                os.link(victim, hard)
                for output in (victim, symbolic, hard, self.here / "." / victim.name):
                    with self.subTest(command=command, option=name, output=output.name):
                        line = self.arguments(command, name, victim)
                        self.refused([*line, "-o", output], [victim, hard],
                                     b"the same file as the input")
                        self.refused([*self.arguments(command, name, symbolic), "-o", output],
                                     [victim, hard], b"the same file as the input")
                        tried += 1
        self.assertGreater(tried, 4 * 35)

    def test_images_of_a_folder_that_is_read_are_safe(self):
        folder = self.here / "folder"
        folder.mkdir()
        image = folder / "ntoskrnl.exe"
        image.write_bytes(b"MZ" + bytes(100))
        for line in (["hooks", "table", "--dir", folder], ["hooks", "iat", "--dir", folder],
                     ["hooks", "iat", image]):
            self.refused([*line, "-o", image], [image], str(image).encode())

    def test_included_profiles_are_safe(self):
        common = self.write("common.profile", b"group a { NtClose }\n")
        profile = self.write("a.profile", b'include "common.profile"\n@a\n')
        for verb in ("check", "show"):
            self.refused(["hooks", "profile", verb, profile, "-o", common], [common, profile],
                         b"the same file as the input")

    def test_segments_of_an_image_are_safe(self):
        head = b"EVF\x09\x0d\x0a\xff\x00" + bytes(100)
        first, second = self.victim("disk.E01", head), self.victim("disk.E02", head)
        self.refused(["ntfs", "info", first, "-o", second], [first, second], b"it is an E01 disk image")
        for names in ("disk.001", "disk.002"), ("raw.aa", "raw.ab"):
            one, two = (self.victim(name, b"raw") for name in names)
            self.refused(["ntfs", "snapshot", one, "-o", two], [one, two],
                         b"a part of the split image")
            with open(two, "ab") as output:
                done = subprocess.run([COLDTRACE, "ntfs", "snapshot", one], stdout=output,
                                      stderr=subprocess.PIPE, timeout=60)
            self.assertEqual((done.returncode, two.read_bytes()), (2, b"raw"), done.stderr)
            self.refused(["ntfs", "snapshot", two, "-o", one], [one, two],
                         b"a part of the split image")
        # Every part, not only the one behind it.
        third = self.victim("raw.ac", b"raw")
        for first, second in (("raw.ab", "raw.ac"), ("raw.aa", "raw.ac"), ("raw.ac", "raw.aa")):
            self.refused(["ntfs", "info", self.here / first, "-o", self.here / second],
                         [self.here / "raw.aa", self.here / "raw.ab", third],
                         b"a part of the split image")
        # A new file that the next run would take for a part.
        for one, new in (("disk.E01", "disk.E03"), ("disk.E01", "disk.EAA"), ("disk.001", "disk.003"),
                         ("raw.ab", "raw.ad")):
            done = run("ntfs", "info", self.here / one, "-o", self.here / new)
            self.assertIn(b"it is named like a part of the split image", done.stderr)
            self.assertEqual((done.returncode, (self.here / new).exists()), (2, False))
        snapshot = self.write("snap.001", b'{"type":"header","schema":"coldtrace.ntfs-snapshot/1"}\n')
        self.assertNotIn(b"split image", run("ntfs", "query", snapshot, "-o", self.here / "snap.002", "--format",
                                             "csv").stderr)
        for one, new in (("disk.E01", "disk.csv"), ("disk.E01", "other.E03"), ("disk.001", "disk.csv")):
            self.assertNotIn(b"split image", run("ntfs", "info", self.here / one, "-o", self.here / new).stderr)
        # What merely has a like name is not part.
        listing = self.write("disk.csv", b"old")
        self.assertNotIn(b"a part of the split", run("ntfs", "info", self.here / "disk.001", "-o",
                                             listing).stderr)

    def test_parts_behind_links_are_safe(self):
        for folder in ("real", "other", "linked"):
            (self.here / folder).mkdir()
        first, far = self.victim("real/image.001", b"raw"), self.victim("other/part2.bin", b"raw")
        third = self.victim("real/image.003", b"raw")
        (self.here / "real/image.002").symlink_to("../other/part2.bin")
        (self.here / "folder").symlink_to("real")
        (self.here / "file").symlink_to("folder/image.001")
        (self.here / "linked/disk.001").symlink_to("../real/image.001")
        (self.here / "linked/disk.002").symlink_to("../real/image.003")
        outputs = ("real/image.002", "other/part2.bin", "folder/image.002", "real/image.003",
                   "folder/image.003", "folder//image.003", "linked/disk.002")
        for given in ("real/image.001", "folder/image.001", "file", "linked/disk.001"):
            for output in outputs:
                with self.subTest(given=given, output=output):
                    self.refused(["ntfs", "info", self.here / given, "-o", self.here / output],
                                 [first, far, third], b"a part of the split image")
        for given in ("image.001", "./image.001", "../folder/image.001"):
            done = run("ntfs", "info", given, "-o", "image.003", cwd=self.here / "real")
            self.assertEqual((done.returncode, third.read_bytes()), (2, b"raw"), done.stderr)
            self.assertIn(b"a part of the split image", done.stderr)

    def test_parts_without_the_first_are_safe(self):
        for given, output in (("vol.002", "vol.003"), ("vol.100", "vol.101"),
                              ("x.0000001", "x.0000002"), ("y.0000003", "y.0000004")):
            with self.subTest(given=given):
                first, second = self.victim(given, b"raw"), self.victim(output, b"raw")
                self.refused(["ntfs", "info", first, "-o", second], [first, second],
                             b"a part of the split image")

    def test_parts_in_a_folder_that_cannot_be_listed_are_safe(self):
        (self.here / "closed").mkdir()
        first = self.victim("closed/i.001", b"raw")
        second = self.victim("closed/i.002", b"raw")
        (self.here / "closed").chmod(0o733)
        self.addCleanup((self.here / "closed").chmod, 0o755)
        self.here.chmod(0o755)
        second.chmod(0o666)

        def give_up_rights():
            os.setgid(65534)
            os.setuid(65534)

        if os.geteuid() != 0:
            self.skipTest("only root can become nobody")
        done = subprocess.run([COLDTRACE, "ntfs", "info", first, "-o", second],
                              capture_output=True, preexec_fn=give_up_rights)
        self.assertEqual((done.returncode, second.read_bytes()), (2, b"raw"), done.stderr)
        self.assertIn(b"a part of the split image", done.stderr)

    def test_numbers_that_count_no_parts_are_written(self):
        for given, output in (("case.20241121", "case.20241122"), ("win.10", "win.11"),
                              ("disk.2023", "disk.2024"), ("image.dd", "image.de")):
            with self.subTest(given=given):
                self.victim(given, b"raw")
                old = self.victim(output, b"an old result\n")
                self.assertNotIn(b"a part of", run("ntfs", "info", self.here / given, "-o",
                                                   old).stderr)

    def test_bytes_that_may_be_a_part_are_safe(self):
        for given, output in (("win.10", "win.11"), ("image.ab", "image.ac"), ("x.7z.10", "x.7z.12")):
            first, other = self.victim(given, b"raw"), self.victim(output, b"\x81\0\xfe" * 999)
            self.refused(["ntfs", "info", first, "-o", other], [first, other],
                         b"a part of the split image")

    def test_a_part_that_starts_like_a_text_is_safe(self):
        log = b"2024-02-29 12:34:56 all is well\n"
        part = (log * 300)[:8192] + b"\0\x80\xff\xfe" * 256
        for given, output, content in (("win.10", "win.11", part), ("image.ab", "image.ac", log * 16),
                                       ("odd.10", "odd.11", log * 3),
                                       ("x.10", "x.12", b"[1]".ljust(1024))):
            with self.subTest(given=given):
                self.assertTrue(len(content) % 512 == 0 or given.startswith("odd"))
                first = self.victim(given, b"raw".ljust(len(content), b"\x81"))
                other = self.victim(output, content)
                self.refused(["ntfs", "info", first, "-o", other], [first, other],
                             b"a part of the split image")

    def test_the_last_part_of_odd_size_that_starts_like_a_text_is_safe(self):
        log = b"2024-02-29 12:34:56 all is well\n" * 300
        for behind in (b"\0\x80\xff\xfe" * 256 + b"\1", b"\0", log * 70 + bytes(9000) + log):
            first = self.victim("win.10", b"\x81" * 65536)
            last = self.victim("win.11", log[:8192] + behind)
            self.assertNotEqual(last.stat().st_size % 512, 0)
            self.refused(["ntfs", "info", first, "-o", last], [first, last],
                         b"a part of the split image")

    def test_no_output_replaces_evidence(self):
        dos = b"MZ".ljust(60, b"\0") + (64).to_bytes(4, "little")
        rows = {"a PE image": dos + b"PE\0\0", "an NE file": dos + b"NE",
                "an LE file": dos + b"LE", "a DOS program (MZ": dos + b"PX\0\0",
                "cut off inside its DOS header": b"MZ",
                "an E01 disk image": b"EVF\x09\x0d\x0a\xff\0", "an Ex01 disk image": b"EVF2\r\n\x81\0",
                "an NTFS volume": b"\xeb\x52\x90NTFS    \0\x02\x08".ljust(510, b"\0") + b"\x55\xaa",
                "an event log (.evtx)": b"ElfFile\0".ljust(128, b"\0"),
                "compressed with gzip": b"\x1f\x8b\x08".ljust(20, b"\0"),
                "a PDB": b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0",
                "an L01 evidence file": b"LVF\x09\x0d\x0a\xff\0", "an L01": b"LEF2\r\n\x81\0"}
        for kind, content in rows.items():
            with self.subTest(kind=kind):
                image = self.write("evidence", content)
                self.refused(["findings", "-o", image], [image], b"it is " + kind.encode())
        for content in (b"", b"ZIP", b"evidence", b"EVF\x09\x0d\x0a\xfe\0"):
            with self.subTest(content=content):
                self.assertEqual(run("findings", "-o", self.write("result", content)).returncode, 0)

    def test_an_empty_name_is_no_output(self):
        done = run("findings", "-o", "")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"no file has an empty name", done.stderr)

    def test_an_option_without_its_value_takes_no_input(self):
        """Of a script's variable that is empty, and of lists that have nothing between commas."""
        first, second = self.write("i1.json", b"{}"), self.write("i2.json", b"{}")
        for command, *options in ((("pe", "symbols"), "--output=", "--fail-on=", "--kind ,", "--kind ,,"),
                                  (("trace", "decode"), "--where=", "--limit=", "--process ,", "--event ,,",
                                   "--fields ,", "--tolerate=,", "--process= ,", "--format="),
                                  (("pe", "info"), "--fail-on ,", "--jobs=", "--out-dir=")):
            for option in options:
                name, *value = option.split()
                with self.subTest(command=command, option=option):
                    self.refused([*command, name, *value, first, second], [first, second],
                                 name.split("=")[0].encode() + b" needs a value: ")
        self.refused(["findings", ","], [], b"CODE needs a value: CODE")
        for value in ("", " ", "4, "):
            self.refused(["trace", "decode", "--process", value, first], [first], b"--process: ")
        for option, told in (("--out-dir", b"no folder has an empty name"),
                             ("--utc-offset", b"an empty text is no UTC offset")):
            self.refused(["trace", "info", option, "", first], [first], option.encode() + b": " + told)
        # What follows '--' is an argument, and what follows an option its value.
        for words, told in ((["pe", "info", "--", "--output="], b"--output=: No such file"),
                            (["trace", "decode", "--provider", "--output=", "none"], b"none: No such file")):
            done = run(*words, cwd=self.here)
            self.assertEqual(done.returncode, 2)
            self.assertIn(told, done.stderr)

    def test_a_file_of_a_given_descriptor_is_written_on(self):
        """By '-o /dev/stdout' as by '-o -': what was there stays, and what comes is behind it."""
        wanted = run("findings", "--format", "json").stdout
        file = self.here / "f.txt"
        (self.here / "link").symlink_to("/dev/stdout")
        for name, number in (("/dev/stdout", 1), ("/dev/fd/1", 1), ("/proc/self/fd/1", 1), ("link", 1),
                             ("/dev/fd/7", 7), ("/dev/stderr", 2)):
            for script, expected in (
                    (f'printf x > f.txt; "$@" -o {name} {number}>> f.txt', b"x" + wanted),
                    (f'exec {number}> f.txt; echo a >&{number}; "$@" -o {name}; echo b >&{number}',
                     b"a\n" + wanted + b"b\n")):
                with self.subTest(script=script):
                    file.write_bytes(b"")
                    inode = file.stat().st_ino
                    done = subprocess.run(["bash", "-c", script, "bash", COLDTRACE, "findings", "--format", "json"],
                                          cwd=self.here, timeout=60)
                    self.assertEqual((done.returncode, file.stat().st_ino), (0, inode))
                    self.assertEqual(file.read_bytes(), expected)
        self.assertEqual(sorted(os.listdir(self.here)), ["f.txt", "link"])

    def test_own_results_are_replaced_and_those_of_others_are_not(self):
        trace = self.here / "twice.ctrace"
        self.assertEqual(run("trace", "synthesize", "server", "-o", trace).returncode, 0)
        database = self.here / "twice.sqlite"  # an extension as long as the trace's
        for _ in range(2):
            done = run("trace", "export", "sqlite", trace, "-o", database)
            if b"without SQLite" in done.stderr:
                self.skipTest("built without SQLite")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
        whole = database.read_bytes()
        for content in whole[:-512], whole[:68] + b"else" + whole[72:]:
            database.write_bytes(content)
            self.refused(["trace", "export", "sqlite", trace, "-o", database], [trace, database],
                         b"it is a SQLite database, which is never overwritten")
        other = self.write("places.db", whole[:68] + b"else" + whole[72:])
        self.refused(["findings", "--format", "text", "-o", other], [other], b"it is a SQLite database")

    def test_evidence_whose_first_bytes_are_lost_is_not_replaced(self):
        volume = (PROJECT / "fuzz/corpus/ntfs_volume/small.img").read_bytes()
        for name, content in (("wiped.img", bytes(512) + volume[512:]), ("random.dd", bytes([1]) + volume[1:]),
                              ("zeros.dd", bytes(8192)), ("packets", b"\n\x05abc" + bytes(600))):
            victim = self.write(name, content)
            self.refused(["findings", "-o", victim], [victim], b"which is never overwritten")
        text = self.write("notes", "Zürich\n".encode("latin-1") * 90)
        self.assertEqual(run("findings", "-o", text).returncode, 0)

    def test_evidence_that_begins_as_text_is_not_replaced(self):
        """The first pages of a volume are what a file once left there; the last ones tell."""
        text = b"2024-02-29 12:34:56 all is well\n" * 256
        volume = (PROJECT / "fuzz/corpus/ntfs_volume/small.img").read_bytes()
        binary = random.Random(1).randbytes(70_000).replace(b"\0", b"\1")
        starts = {"a text file": text, "an XML file": b"<?xml version='1.0'?>" + text, "JSON": b"[1," + text,
                  "JSON that coldtrace wrote": b'{"schema":"coldtrace.findings.v1",' + text,
                  "a registry export (.reg)": b"REGEDIT4\n" + text}
        for kind, start in starts.items():
            for behind in (volume[8192:], binary, bytes(4096), text * 40 + b"\x7f" + bytes(16) + text):
                with self.subTest(kind=kind, size=len(behind)):
                    victim = self.write("victim", start + behind)
                    self.refused(["findings", "-o", victim], [victim],
                                 f"it is {kind} with bytes in it that no text has".encode())
        victim = self.write("log", text + volume[8192:])
        content = victim.read_bytes()
        for redirection in (">>", "2>>"):
            done = subprocess.run(["bash", "-c", f'"$@" {redirection} log', "bash", COLDTRACE, "findings", "--bogus"],
                                  cwd=self.here, capture_output=True, timeout=60)
            self.assertEqual((done.returncode, victim.read_bytes()), (2, content))
        # What a cell of CSV may have, or a log with colours; and a page may end inside of a character.
        latin_1 = "caf\xe9\n".encode("latin-1")
        for content in (text + b"\x01,\x1b[31m\0\n" * 3000, text + "\x1bä日本語𝄞".encode() * 4001, text + latin_1 * 999,
                        b"\xff\xfe" + text.decode().encode("utf-16-le") * 3):
            victim = self.write("victim", content)
            self.assertEqual(run("findings", "-o", victim).returncode, 0)
        # A log goes on where power was lost.
        log = self.write("log", text + bytes(5000) + text)
        done = subprocess.run(["bash", "-c", '"$@" 2>> log', "bash", COLDTRACE, "findings", "--bogus"], cwd=self.here, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--bogus", log.read_bytes())
        self.refused(["findings", "-o", log], [log], b"with bytes in it that no text has")

    def test_other_messages_like_those_of_perfetto_are_not_replaced(self):
        """Any message of protocol buffers whose one field is repeated looks like a trace of Perfetto."""
        some = random.Random(2)
        for content in (b"".join(b"\x0a\x10" + some.randbytes(16) for _ in range(3)),
                        b"\x0a\x81\x10" + some.randbytes(2049), b"\x0a\x04\x50\x02\x68\x01",
                        b"\x0a\x06\x92\x03\x04\x78\x9c\x00"):
            victim = self.write("messages", content)
            self.refused(["findings", "-o", victim], [victim], b"which is never overwritten")
        content = bytes.fromhex("0a0200010affffff7f") + bytes(range(256)) * 4096
        packed = self.write("messages.gz", gzip.compress(content))
        self.refused(["findings", "-o", packed], [packed], b"which is never overwritten")

    def test_binary_results_are_replaced_by_another_run(self):
        trace = self.here / "run.ctrace"
        for _ in range(2):
            self.assertEqual(run("trace", "synthesize", "server", "-o", trace).returncode, 0)
        self.refused(["trace", "decode", trace, "-o", self.write("other", trace.read_bytes())],
                     [trace, self.here / "other"], b"which is never overwritten")
        # So it is compressed, whoever compressed it; only what makes traces replaces one.
        self.assertEqual(run("trace", "pack", self.here / "other", "-o", self.here / "evidence.zst").returncode, 0)
        self.write("evidence.gz", gzip.compress(trace.read_bytes()))
        for name in ("evidence.zst", "evidence.gz"):
            for command in (["trace", "tree", trace], ["trace", "export", "perfetto", trace], ["findings"]):
                self.refused([*command, "-o", self.here / name], [trace, self.here / name], b"which is never overwritten")
            self.assertEqual(run("trace", "synthesize", "server", "-o", self.here / name).returncode, 0)
        victim = self.here / "evidence.zst"
        self.refused(["trace", "pack", trace, "-o", victim], [trace, victim], b"which is never overwritten")
        manifest = PROJECT / "tests/cli/trace/schemas/painter.man"
        for command in (["trace", "export", "perfetto", trace], ["trace", "schemas", "build", manifest],
                        ["trace", "export", "perfetto", "--compress-packets", trace]):
            target = self.here / f"results-{len(command)}"
            for _ in range(2):
                done = run(*command, "-o", target)
                self.assertEqual(done.returncode, 0, done.stderr)
        for command in (["trace", "export", "perfetto", trace], ["trace", "export", "sqlite", trace]):
            for ending in (".zst", ".gz"):
                target = self.here / f"packed-{command[2]}{ending}"
                for _ in range(2):
                    done = run(*command, "-o", target)
                    self.assertEqual(done.returncode, 0, done.stderr)
        # A database of somebody else's is none of ours, packed or not.
        other = sqlite3.connect(self.here / "other.sqlite")
        other.execute("CREATE TABLE t(x)")
        other.commit()
        other.close()
        packed = self.write("other.sqlite.gz", gzip.compress((self.here / "other.sqlite").read_bytes()))
        self.refused(["trace", "export", "sqlite", trace, "-o", packed], [packed], b"which is never overwritten")

    def test_where_a_link_leads_to_nothing_yet_that_is_made(self):
        (self.here / "folder").mkdir()
        (self.here / "link").symlink_to("folder/second")
        (self.here / "folder/second").symlink_to("new.json")
        for _ in range(2):
            done = run("findings", "--format", "json", "-o", self.here / "link")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((self.here / "folder/new.json").is_file())
            self.assertTrue((self.here / "link").is_symlink() and (self.here / "folder/second").is_symlink())

    def test_what_cannot_be_made_is_told_before_an_input_is_read(self):
        """By the folder that is missing, which a link may lead into."""
        (self.here / "link").symlink_to("second")
        (self.here / "second").symlink_to("none/new.json")
        (self.here / "loop").symlink_to("loop")
        self.write("file", b"text")
        missing = f"{self.here}/none: {os.strerror(errno.ENOENT)}"
        for name, why in (("none/new.json", missing), ("link", missing), ("loop", os.strerror(errno.ELOOP)),
                          ("file/new.json", os.strerror(errno.ENOTDIR))):
            for command in (["findings"], ["pe", "info", self.here / "no.exe"]):
                for sandbox in [], ["--no-sandbox"]:
                    with self.subTest(name=name, command=command, sandbox=sandbox):
                        before = sorted(self.here.iterdir())
                        done = run(*command, *sandbox, "-o", self.here / name)
                        self.assertEqual((done.returncode, done.stdout), (2, b""))
                        self.assertEqual(done.stderr.decode(), f"coldtrace: {self.here}/{name}: cannot write: {why}\n")
                        self.assertEqual(sorted(self.here.iterdir()), before)

    def test_without_proc_results_are_the_same(self):
        """As in a chroot: an empty file system lies over /proc."""
        inside = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else []), "sh", "-c",
                  'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if not shutil.which("unshare") or subprocess.run([*inside, "true"], capture_output=True).returncode:
            self.skipTest("no other namespace can be made")
        whole = run("findings", "--format", "json").stdout
        target = self.here / "new.json"
        (self.here / "link").symlink_to(target)
        for sandbox in [], ["--no-sandbox"]:
            for name in "new.json", "new.json", "link":  # which is there the second time
                with self.subTest(name=name, sandbox=sandbox):
                    done = subprocess.run([*inside, COLDTRACE, "findings", "--format", "json", *sandbox, "-o",
                                           self.here / name], capture_output=True, timeout=60)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    self.assertEqual(target.read_bytes(), whole)
                    self.assertEqual({path.name for path in self.here.iterdir()}, {"new.json", "link"})
            target.unlink()
        image = self.write("x.exe", (PROJECT / "fuzz/corpus/pe_image/x64").read_bytes())
        done = subprocess.run([*inside, COLDTRACE, "pe", "info", "--details", image], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"details-helper: --details needs the program coldtrace-pe-details", done.stderr)
        self.assertIn(b"which is found through /proc, and /proc is not mounted", done.stderr)
        if not shutil.which("qemu-img"):
            self.skipTest("all but a packed disk image: qemu-img is not installed")
        disk = self.write("disk.raw", bytes(1 << 20))
        subprocess.run(["qemu-img", "convert", "-O", "qcow2", disk, self.here / "disk.qcow2"], check=True)
        packed = self.write("disk.qcow2.gz", gzip.compress((self.here / "disk.qcow2").read_bytes()))
        done = subprocess.run([*inside, COLDTRACE, "ntfs", "info", packed], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"such an image is read through /proc, and /proc is not mounted; save it to a file, unpacked, first", done.stderr)

    def test_standard_input_is_one_input(self):
        done = subprocess.run([COLDTRACE, "syscalls", "compare", "-", "-"], input=b"MZ", capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"'-' is given twice", done.stderr)

    def test_own_captures_are_replaced_and_those_of_others_are_not(self):
        option = lambda code, value: struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)
        for application, status in ((b"coldtrace 0.1.0", 0), (b"dumpcap 4.0", 2), (b"", 2)):
            options = option(3, b"Linux") + (option(4, application) if application else b"") + bytes(4)
            size = struct.pack("<I", 28 + len(options))
            block = (b"\x0a\x0d\x0d\x0a" + size + struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1) + options + size)
            capture = self.write("packets", block)
            done = run("findings", "-o", capture)
            self.assertEqual(done.returncode, status, application)
            self.assertEqual(b"it is a packet capture (pcapng), which" in done.stderr, status == 2)

    def test_standard_output_that_is_the_input_is_refused(self):
        victim = self.victim()
        with open(victim, "ab") as output:
            done = subprocess.run([COLDTRACE, "pe", "info", victim], stdout=output,
                                  stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"the same file as the input", done.stderr)
        self.assertEqual(victim.read_bytes(), b"MZ" + bytes(510) + b"evidence")

    def test_messages_about_options_that_contradict_are_not_appended_to_evidence(self):
        program = self.write("x.exe", (PROJECT / "fuzz/corpus/pe_image/x64").read_bytes())
        for options in (["--csv-safe", "--format", "json"], ["--pager", "--format", "json"]):
            victim = self.victim()
            before = victim.read_bytes()
            with open(victim, "ab") as messages:
                done = subprocess.run([COLDTRACE, "pe", "info", program, *options], stderr=messages,
                                      stdout=subprocess.PIPE, timeout=60)
            self.assertEqual((done.returncode, done.stdout, victim.read_bytes()), (2, b"", before))

    def test_words_of_a_pager_are_not_appended_to_evidence(self):
        program = self.write("x.exe", (PROJECT / "fuzz/corpus/pe_image/x64").read_bytes())
        victim = self.victim()
        before = victim.read_bytes()
        ours, theirs = pty.openpty()
        try:
            with open(victim, "ab") as messages:
                done = subprocess.run([COLDTRACE, "pe", "info", program, "--pager"], stdout=theirs, stderr=messages,
                                      env=os.environ | {"PAGER": "echo words >&2; cat"}, timeout=60)
            self.assertEqual((done.returncode, victim.read_bytes()), (2, before))
            self.assertEqual(os.read(ours, 4096), b"words\r\n")
        finally:
            os.close(theirs)
            os.close(ours)

    def test_messages_are_not_appended_to_an_input(self):
        for line in (["pe", "info"], ["ntfs", "snapshot"], ["trace", "decode"], ["syscalls", "map"]):
            with self.subTest(line=line):
                victim = self.victim()
                before = victim.read_bytes()
                with open(victim, "ab") as messages:
                    done = subprocess.run([COLDTRACE, *line, victim], stdout=subprocess.PIPE,
                                          stderr=messages, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertEqual(victim.read_bytes(), before)
        log = self.write("log", b"log\n")
        with open(log, "ab") as messages:
            subprocess.run([COLDTRACE, "pe", "info", self.victim()], stderr=messages, timeout=60,
                           stdout=subprocess.DEVNULL)
        self.assertIn(b"evidence.bin", log.read_bytes())

    def loop_device(self, image, *options):
        if os.geteuid() != 0 or not shutil.which("losetup"):
            self.skipTest("only root can make loop devices, with losetup")
        done = subprocess.run(["losetup", *options, "-f", "--show", image], capture_output=True,
                              text=True)
        if done.returncode != 0:
            self.skipTest(f"no loop device can be made here: {done.stderr}")
        device = done.stdout.strip()
        self.addCleanup(subprocess.run, ["losetup", "-d", device], check=True)
        return device

    def test_an_image_behind_its_loop_device_is_safe(self):
        image, link = self.write("vol.001", bytes(1 << 20)), self.here / "link"
        second = self.write("vol.002", bytes(1 << 20))
        hard = self.here / "hard"
        os.link(image, hard)
        link.symlink_to(image)
        device = self.loop_device(image, "-r")
        device_link = self.here / "device"
        device_link.symlink_to(device)
        kept = [image, second, hard]
        for given in (device, device_link):
            for output in (image, link, hard):
                for command in ("info", "snapshot"):
                    self.refused(["ntfs", command, "-q", given, "-o", output], kept,
                                 f"the file behind the input {given}".encode())
            self.refused(["ntfs", "info", given, "-o", second], kept, b"a part of the split image",
                         f"vol.001, which is behind the input {given}".encode())
        with open(image, "ab") as output:
            done = subprocess.run([COLDTRACE, "ntfs", "snapshot", device], stdout=output,
                                  stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, image.stat().st_size), (2, 1 << 20), done.stderr)
        other = self.write("other", b"old")
        self.assertNotIn(b"behind", run("ntfs", "info", device, "-o", other).stderr)

    def test_an_image_behind_its_loop_device_is_safe_without_sysfs(self):
        image, other = self.write("vol.raw", b"words\n" * 4096), self.write("other", b"old")
        device = self.loop_device(image, "-r")
        for hidden in ("/sys", "/proc"), ("/sys",):
            hide = " && ".join(f"mount -t tmpfs none {folder}" for folder in hidden)
            for output, said in (image, f"the file behind the input {device}"), (other, ""):
                done = subprocess.run(["unshare", "-m", "sh", "-c", hide + ' && exec "$@"', "sh", COLDTRACE, "ntfs",
                                       "info", device, "-o", output], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, said in done.stderr, "behind" in done.stderr),
                                 (2, True, bool(said)), done.stderr)
        self.assertEqual(image.read_bytes(), b"words\n" * 4096)

    def redirected(self, redirect, *line):
        return subprocess.run(["sh", "-c", f'"$@" {redirect}', "sh", COLDTRACE, *map(str, line)],
                              capture_output=True, timeout=60)

    def test_messages_are_not_written_onto_a_disk(self):
        content = b"sector" * 4096
        image = self.write("disk", content)
        device = self.loop_device(image)
        for line in (["trace", "info", "missing"], ["findings"], ["bogus"], ["ntfs", "info", image],
                     ["ntfs", "snapshot", image, "--help"], ["--version"]):
            with self.subTest(line=line):
                done = self.redirected(f"2> {device}", *line)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, b"", b""))
                self.assertEqual(Path(device).read_bytes(), content)
        self.assertEqual(run("findings", "-o", device).returncode, 2)
        self.assertEqual(Path(device).read_bytes(), content)

    def test_messages_and_help_are_not_written_to_a_device(self):
        for line in (["trace", "info", "missing"], ["bogus"], ["--help"]):
            done = self.redirected("2> /dev/zero", *line)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertEqual(self.redirected("2> /dev/null", *line).returncode, run(*line).returncode)
        for line in (["--help"], ["--version"], ["ntfs", "snapshot", "x", "--help"]):
            done = self.redirected("> /dev/zero", *line)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"standard output: a device", done.stderr)

    def test_help_and_usage_errors_harm_nothing(self):
        image = self.write("disk.img", b"\xeb\x52\x90NTFS    ".ljust(510, b"\0") + b"\x55\xaa")
        raw = self.write("raw.bin", b"what nothing tells from a result" * 100)
        part = self.write("vol.002", b"raw")
        self.write("vol.001", b"raw")
        kept = {path: path.read_bytes() for path in (image, raw, part)}
        for line, onto, word in (
                (["--help"], image, b"it is an NTFS volume"),
                (["--version"], image, b"it is an NTFS volume"),
                (["ntfs", "snapshot", "x", "--help"], image, b"it is an NTFS volume"),
                (["ntfs", "snapshot", raw, "--help"], raw, b"the same file as the input"),
                (["ntfs", "--help", "snapshot", raw], raw, b"the same file as the input"),
                (["trace", "decode", f"--symbols={raw}", "--help"], raw, b"the same file as the input"),
                (["ntfs", "info", self.here / "vol.001", "--help"], part, b"a part of the split")):
            with self.subTest(line=line):
                done = self.redirected(f">> {onto}", *line)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(word, done.stderr)
                done = self.redirected(f"2>> {onto}", *line)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, b"", b""))
        for line, onto in ((["bogus"], image), (["ntfs", "inf", raw], raw), ([], image),
                           (["ntfs", "info", raw, "--bogus"], raw), (["ntfs", "info"], image),
                           (["ntfs", "info", raw, "--format", "none"], raw),
                           (["ntfs", "info", self.here / "vol.001", "--bogus"], part)):
            with self.subTest(line=line):
                done = self.redirected(f"2>> {onto}", *line)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual({path: path.read_bytes() for path in kept}, kept)
        log = self.write("log", b"log\n")
        self.assertEqual(self.redirected(f">> {log}", "ntfs", "info", raw, "--help").returncode, 0)
        self.assertEqual(self.redirected(f"2>> {log}", "ntfs", "info", raw, "--bogus").returncode, 2)
        self.assertIn(b"Usage", log.read_bytes())
        self.assertIn(b"--bogus", log.read_bytes())

    def test_standard_error_that_takes_nothing_changes_nothing(self):
        image = self.write("disk.img", bytes(1 << 20))
        text = self.write("text", b"text")
        for line in (["findings"], ["pe", "info", text], ["pe", "info", "missing"], ["nonsense"],
                     ["ntfs", "info", image], ["syscalls", "hash", "NtClose"]):
            usual = run(*line)
            saved = self.here / "saved"
            for redirect in ("2>/dev/full", "2>&-", "2>&- 0<&-"):
                with self.subTest(line=line, redirect=redirect):
                    saved.unlink(missing_ok=True)
                    command = ["sh", "-c", f'"$@" {redirect}', "sh", COLDTRACE, *map(str, line)]
                    done = subprocess.run(command, capture_output=True, timeout=60)
                    self.assertEqual((done.returncode, done.stdout),
                                     (usual.returncode, usual.stdout))
                    if line == ["nonsense"]:
                        continue
                    done = subprocess.run([*command, "-o", saved], capture_output=True, timeout=60)
                    self.assertEqual(done.returncode, usual.returncode)
                    if usual.returncode < 2:
                        self.assertEqual(saved.read_bytes(), usual.stdout)

    def test_standard_output_that_takes_nothing_is_told(self):
        for line in ("findings", "--help", "--version", "ntfs snapshot --help"):
            for redirect, status in ((">/dev/full", 2), (">&-", 2), ("| true", 0)):
                with self.subTest(line=line, redirect=redirect):
                    # Of a pipe that is closed before anything is written.
                    wait = "sleep 0.2; " if status == 0 else ""
                    done = subprocess.run(
                        ["bash", "-c", f'({wait}"{COLDTRACE}" {line}) {redirect}; '
                                       "exit ${PIPESTATUS[0]}"],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertEqual(done.stderr != b"", status == 2)

    def test_a_word_that_is_no_command_is_named(self):
        for line, word in ((["nonsense"], b"'nonsense' is not a command of 'coldtrace'"),
                           (["ntfs", "inf"], b"'inf' is not a command of 'coldtrace ntfs'"),
                           (["trace", "control", "x"], b"'x' is not a command of 'coldtrace trace control'"),
                           (["ntfs"], b"Usage: coldtrace ntfs [OPTIONS] COMMAND")):
            done = run(*line)
            self.assertEqual(done.returncode, 2)
            self.assertIn(word, done.stderr)

    def test_devices_are_refused_but_null(self):
        disk, tape = self.here / "disk", self.here / "tape"
        try:
            os.mknod(disk, stat.S_IFBLK | 0o600, os.makedev(7, 250))
            os.mknod(tape, stat.S_IFCHR | 0o600, os.makedev(9, 250))
            open(os.mknod(self.here / "null", stat.S_IFCHR | 0o600, os.makedev(1, 3)) or
                 self.here / "null", "wb").close()
        except OSError as error:
            self.skipTest(f"no devices can be made here: {error}")
        for device, word in ((disk, b"block device"), (tape, b"a device"),
                             (Path("/dev/zero"), b"a device")):
            done = run("findings", "-o", device)
            self.assertEqual(done.returncode, 2)
            self.assertIn(word, done.stderr)
            self.assertFalse(stat.S_ISREG(os.lstat(device).st_mode))
        self.assertEqual(run("findings", "-o", self.here / "null").returncode, 0)
        self.assertTrue(stat.S_ISCHR(os.lstat(self.here / "null").st_mode))

    def test_results_go_through_pipes_and_links_and_onto_terminals(self):
        expected = run("findings").stdout
        pipe = self.here / "pipe"
        os.mkfifo(pipe)
        process = subprocess.Popen([COLDTRACE, "findings", "-o", pipe])
        self.assertEqual(pipe.read_bytes(), expected)
        self.assertEqual(process.wait(60), 0)
        target, link = self.write("old", b"old"), self.here / "link"
        link.symlink_to(target)
        self.assertEqual(run("findings", "-o", link).returncode, 0)
        self.assertEqual(target.read_bytes(), expected)
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.on_terminal("findings", "--format", "json")[0], 0)

    def on_terminal(self, *arguments):
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        with os.fdopen(follower, "wb") as terminal:
            process = subprocess.Popen([COLDTRACE, *arguments], stdout=terminal,
                                       stderr=subprocess.PIPE)
        try:
            while os.read(leader, 65536):
                pass
        except OSError:  # the other side is closed
            pass
        error = process.communicate(timeout=60)[1]
        return process.returncode, error

    def test_binary_output_is_not_written_to_a_terminal(self):
        status, error = self.on_terminal("trace", "synthesize", "deadlock-2")
        self.assertEqual(status, 2)
        self.assertIn(b"terminal", error)
        status, error = self.on_terminal("hooks", "merge", "missing.hooktab")
        self.assertEqual(status, 2)
        self.assertIn(b"terminal", error)
        self.assertEqual(run("trace", "synthesize", "deadlock-2").returncode, 0)


if __name__ == "__main__":
    unittest.main()
