"""'coldtrace batch' and '--out-dir': results are those of plain runs, whatever else happens to the run.

usage: batch.py COLDTRACE SOURCES [unittest arguments]
Plain runs of the program on one input each, hashlib and a percent encoding of its own decide.
"""
import ctypes.util
import fcntl
import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
from ntfs.journal import usn_writer
from case import Case, Program
from strict import strict_json, strict_ndjson

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
SCHEMAS = {name: json_schema.of(json.loads((SOURCES / f"docs/schema/{name}.schema.json").read_text()))
           for name in ("batch", "batch-manifest")}
# The volumes here have no indexes, so that no file of them is reachable.
SNAPSHOT = "ntfs", "snapshot", "--tolerate", "file-unreachable"
PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".encode()
HOSTILE = [b"-o", b"--help", b".hidden", b"_under", b"a b", b"a\nb", b"a'\"`$(touch x)", b"%41", b"kind=x", b"a\\b", b"a;b",
           "\u00e4\u4e2d\u202e".encode(), b"\xff\xfe\x80", b"~", b"a~0123456789abcdef", b"x" * 250, b"y" * 249 + b" ",
           b"\x1b[31m", b"{}", b"b\xf6se"]


def run(*arguments, status=None, **options):
    done = subprocess.run([COLDTRACE, *arguments], capture_output=True, timeout=120, **options)
    if status is not None and done.returncode != status:
        raise AssertionError((arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
    return done


def named(name):
    """What the name of an input becomes: character by character its spelling in a path, and the end."""
    text = name.decode("utf-8", "replace")
    characters = [(one, one if one.encode() in map(bytes, zip(PLAIN)) or (one in ".-_" and at > 0)
                   else "".join(f"%{byte:02X}" for byte in one.encode())) for at, one in enumerate(text)]
    if sum(len(spelled) for _, spelled in characters) <= 200 and text.encode() == name:
        return characters, ""
    while sum(len(spelled) for _, spelled in characters) > 180:
        characters.pop()
    return characters, "~" + hashlib.sha256(name).hexdigest()[:16]


def escaped(name):
    characters, end = named(name)
    return "".join(spelled for _, spelled in characters) + end


def decoded(name):
    """The value of a partition."""
    characters, end = named(name)
    return "".join(one for one, _ in characters) + end


def tree(folder):
    """Each file's bytes, but for locks."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.startswith("lock-")}


def children(process):
    try:
        return [int(child) for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def runs(process):
    """Whether it has not ended; where nobody waits for orphans, as in some containers, they stay as zombies."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


class Batch(Case):
    @classmethod
    def setUpClass(cls):
        cls.volumes = [bytes(usn_writer.volume(usn_writer.History(seed, 20), 2)[0]) for seed in range(3)]

    def setUp(self):
        super().setUp()
        self.images, self.out = self.here / "images", self.here / "out"
        self.images.mkdir()

    def add(self, name, content=None):
        path = os.fsencode(self.images) + b"/" + (name if isinstance(name, bytes) else name.encode())
        with open(path, "wb") as file:
            file.write(self.volumes[len(os.listdir(self.images)) % 3] if content is None else content)
        return path

    def fill(self, count=20):
        for number in range(count):
            self.add(f"{number:02}.img")

    def hold(self, name="hold.img"):
        """An input at which a worker stays until it is killed, or the pipe is opened."""
        os.mkfifo(self.images / name)
        return self.images / name

    def batch(self, *options, status=None, command=SNAPSHOT, out=None, **more):
        done = run("batch", "--input", self.images, "--out-dir", out or self.out, "--format", "json", *options, "--",
                   *command, status=status, **more)
        if done.returncode == 2:
            return done
        summary = strict_json(done.stdout)
        SCHEMAS["batch"].validate(summary)
        return summary

    def manifest(self, kind="ntfs-snapshot", out=None):
        rows = list(strict_ndjson(((out or self.out) / "_batch" / kind / "manifest.ndjson").read_bytes()))
        for row in rows:
            SCHEMAS["batch-manifest"].validate(row)
        return rows[0], {row["name"]: row for row in rows[1:-1]}, rows[-1]

    def start(self, *options, **more):
        process = subprocess.Popen([COLDTRACE, "batch", "--out-dir", self.out, *options, "--", *SNAPSHOT],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process


class Results(Batch):
    def mixed(self):
        for name in HOSTILE:
            self.add(name)
        (self.images / "below").mkdir()
        while len(os.listdir(self.images)) < 46:
            self.add(f"image {len(os.listdir(self.images))}.dd")
        self.add("below/deeper.img")
        return {self.add("cut.img", self.volumes[0][:700]), self.add("text.img", b"no image\n" * 99),
                self.add("empty.img", b""), self.add("program.exe", b"MZ" + bytes(5000))}

    def expected(self, bad, *command):
        """Of each name: what a plain run writes, its exit status and what it counts."""
        expected = {}
        for folder, _, names in os.walk(os.fsencode(self.images)):
            for name in names:
                path = os.path.join(folder, name)
                below = os.path.relpath(path, os.fsencode(self.images))
                target = self.here / "plain.ndjson"
                done = run(*command, "-q", "-o", target, path)
                if path in bad:
                    self.assertEqual(done.returncode, 2)
                    continue
                rows = list(strict_ndjson(target.read_bytes()))
                counts = {}
                for finding in (each for row in rows if row["type"] == "summary" for each in row["findings"]):
                    key = finding["code"], finding["severity"]
                    counts[key] = counts.get(key, 0) + finding["count"]
                expected[escaped(below)] = target.read_bytes(), done.returncode, counts
        return expected

    def test_hostile_names_and_bad_inputs_among_fifty(self):
        bad = self.mixed()
        expected = self.expected(bad, *SNAPSHOT)
        self.assertEqual(len(expected) + len(bad), 50)
        summary = self.batch("--jobs", "3", status=1)
        found = tree(self.out)
        header, rows, end = self.manifest()
        del found["_batch/ntfs-snapshot/manifest.ndjson"]
        self.assertEqual(found, {f"{name}.ndjson": content for name, (content, _, _) in expected.items()})
        self.assertEqual((header["command"], header["format"], header["layout"]), (list(SNAPSHOT), "ndjson", "plain"))
        self.assertEqual(list(rows), sorted(rows))
        self.assertEqual(end["counts"], {"inputs": 50, "done": 46, "failed": 4, "not_named": 0})
        for name, (content, status, counts) in expected.items():
            row = rows[name]
            path = bytes.fromhex(row["input_bytes"]) if "input_bytes" in row else row["input"].encode()
            facts = os.stat(path)
            self.assertEqual((row["state"], row["exit_status"], row["signal"], row["error"]), ("done", status, None, None))
            self.assertEqual(row["output"], {"path": f"{name}.ndjson", "size": len(content),
                                             "sha256": hashlib.sha256(content).hexdigest()})
            self.assertEqual((row["identity"]["size"], row["identity"]["inode"]), (facts.st_size, facts.st_ino))
            self.assertEqual(row["identity"]["mtime"], time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(facts.st_mtime_ns // 10**9))
                             + f".{facts.st_mtime_ns % 10**9 // 100:07}Z")
            self.assertEqual({(each["code"], each["severity"]): each["count"] for each in row["findings"]}, counts)
        self.assertEqual({os.fsencode(each["input"]) for each in summary["failed"]}, bad)
        for each in summary["failed"]:
            self.assertEqual((each["state"], each["exit_status"]), ("failed", 2))
            plain = run("ntfs", "snapshot", each["input"]).stderr.decode()
            self.assertIn(each["error"], plain)
        self.assertEqual(summary["counts"], {
            "inputs": 50, "done": 46, "kept": 0, "with_findings": sum(status for _, status, _ in expected.values()),
            "failed": 4, "not_named": 0, "later_parts": 0, "links": 0, "repeated": 0,
            "result_bytes": sum(len(content) for content, _, _ in expected.values())})

        # The same through a list, from the command itself, and packed.
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(os.fsencode(self.images)) for name in names
                 if b"below" not in folder]
        other = self.here / "other"
        run("batch", "--list", "-", "--null", "--out-dir", other, "--", *SNAPSHOT, status=1,
            input=b"\0".join(random.Random(1).sample(paths, len(paths))))
        self.assertEqual({name: content for name, content in tree(other).items() if "_batch" not in name},
                         {name: content for name, content in found.items() if "below" not in name})
        third = self.here / "third"
        done = run(*SNAPSHOT, "--out-dir", third, self.images, status=1)
        self.assertIn(b"50 inputs: 46 done (0 of an earlier run", done.stdout)
        self.assertEqual(tree(third), tree(self.out))
        self.batch("--compression", "zstandard", status=1, out=self.here / "packed")
        name = "below%2Fdeeper.img.ndjson"
        target = self.here / "plain.ndjson.zst"
        run("ntfs", "snapshot", "-q", "-o", target, self.images / "below/deeper.img")
        self.assertEqual((self.here / "packed" / f"{name}.zst").read_bytes(), target.read_bytes())

    def test_other_commands_formats_and_arguments(self):
        self.fill(3)
        self.batch(status=0, command=("ntfs", "info", "--format", "json"))
        self.batch(status=0, command=(*SNAPSHOT, "--format=csv"), out=self.here / "csv")
        # These volumes have no $Bitmap.
        self.batch(status=1, command=("ntfs", "locate", "--format", "json", "0", "0x1000"), out=self.here / "locate")
        for folder, ending, command in (
                (self.out, "json", ("ntfs", "info", "--format", "json")),
                (self.here / "csv", "csv", (*SNAPSHOT, "--format", "csv")),
                (self.here / "locate", "json", ("ntfs", "locate", "--format", "json"))):
            for number in range(3):
                target = self.here / "plain"
                run(*command, "-q", "-o", target, self.images / f"{number:02}.img",
                    *(["0", "0x1000"] if "locate" in command else []), status=1 if "locate" in command else 0)
                self.assertEqual((folder / f"{number:02}.img.{ending}").read_bytes(), target.read_bytes())

    def test_a_run_that_could_read_no_input_leaves_the_folder_to_other_commands(self):
        self.add("text.img", b"no image\n" * 99)
        self.batch(status=2)
        self.assertEqual([path.name for path in self.out.iterdir()], ["_batch"])
        (self.images / "text.img").write_bytes(self.volumes[0])
        self.batch(status=0, command=("ntfs", "info"))
        done = self.batch(status=2)
        self.assertIn(b"already has results of 'ntfs-info'", done.stderr)

    def test_jobs_are_where_out_dir_is(self):
        """In each help; of commands with one thread they are for it alone, and not what a process of a batch gets."""
        alone = []
        for command in Program(COLDTRACE).commands():
            text = " ".join(run(*command, "--help").stdout.decode().split())
            if "--out-dir DIR" in text:
                self.assertIn("-j,--jobs N", text, command)
                self.assertIn("Inputs at a time (0: one per CPU); " if command == ("batch",) else "in its own process, --jobs at a time, ", text, command)
                alone += [command] if "Inputs that --out-dir reads at a time (" in text else []
        self.assertGreater(len(alone), 15)
        self.assertIn(("pe", "symbols"), alone)
        names = [str(SOURCES / "fuzz/corpus/pdb" / name) for name in ("in-order", "moved", "scattered")]
        plain = {Path(name).name + ".json": run("pe", "symbols", "--format", "json", name).stdout for name in names}
        for jobs in ("-j", "1"), ("-j2",), ("--jobs=0",), ():
            with self.subTest(jobs=jobs):
                out = self.here / f"out{len(list(self.here.iterdir()))}"
                run("pe", "symbols", "--format", "json", "--out-dir", out, *jobs, *names)
                self.assertEqual({path.name: path.read_bytes() for path in out.glob("*.json")}, plain)
        run("batch", "--out-dir", self.out, "-j", "2", *(word for name in names for word in ("--input", name)), "--",
            "pe", "symbols", "--format", "json")
        self.assertEqual({path.name: path.read_bytes() for path in self.out.glob("*.json")}, plain)
        for words, told in ((("-j", "2", *names), b"--out-dir"), (("-j", "257", "--out-dir", self.out, *names), b"'257' is not a number from 0 to 256")):
            done = run("pe", "symbols", *words, status=2)
            self.assertEqual(done.stdout, b"")
            self.assertIn(told, done.stderr)

    def test_an_empty_name_of_an_input_leaves_nothing(self):
        self.fill(1)
        for words in (("",), (self.images / "00.img", ""), ("", self.images / "00.img")):
            done = run("ntfs", "info", "--out-dir", self.out, *words, status=2)
            self.assertEqual((done.stdout, done.stderr), (b"", b"coldtrace: an empty argument names no file\n"))
            self.assertFalse(self.out.exists())

    def test_out_dir_belongs_to_commands_that_read_one_kind_of_file(self):
        for command, has in ((("ntfs", "snapshot"), True), (("ntfs", "info"), True), (("ntfs", "journal"), True),
                             (("trace", "decode"), True), (("pe", "info"), True), (("syscalls", "map"), True),
                             (("ntfs", "locate"), True), (("ntfs", "history"), True),
                             (("ntfs", "compare"), False), (("servicing",), False), (("findings",), False)):
            self.assertEqual(b"--out-dir DIR" in run(*command, "--help").stdout, has, command)
        self.fill(3)
        run(*SNAPSHOT, "-j", "2", "--state", "all", self.images / "00.img", "--out-dir=" + str(self.out),
            self.images / "01.img", "-q", status=0)
        header, rows, _ = self.manifest()
        self.assertEqual((header["command"], list(rows)), ([*SNAPSHOT, "--state", "all", "-q"], ["00.img", "01.img"]))
        run("ntfs", "snapshot", "--out-dir", self.out, "--out-dir", self.out, self.images / "00.img", status=2)
        run("ntfs", "snapshot", "--out-dir", self.out, status=2)
        done = run("batch", "--out-dir", self.out, self.images, "--", "ntfs", "info", "--format", "json", status=2)
        self.assertIn(f"'{self.images}' stands before '--'".encode(), done.stderr)
        self.assertIn(b"no-such", run("ntfs", "snapshot", "--no-such", "--out-dir", self.out, self.images, status=2).stderr)

    def test_pairs_are_each_input_and_one_file_more(self):
        self.fill(2)
        after = self.write("after", self.volumes[2])
        run("batch", "--input", self.images, "--out-dir", self.out, "--", "ntfs", "compare", "--format", "json", after, status=1)
        plain = {f"{path.name}.json": run("ntfs", "compare", "--format", "json", path, after, status=1).stdout
                 for path in self.images.iterdir()}
        self.assertEqual(plain, {path.name: path.read_bytes() for path in self.out.iterdir() if path.is_file()})
        self.assertEqual(len(set(plain.values())), 2)

    def test_out_dir_of_commands_with_further_arguments(self):
        self.fill(3)
        for words, code in ((("locate", "0", "s:8", "c:4"), 1), (("history", "/$MFT", "/*"), None)):
            command = ("ntfs", words[0], "--format", "json")
            plain = {path.name: run(*command, path, *words[1:], status=code) for path in sorted(self.images.iterdir())}
            for first, names in ((self.images, list(plain)), (self.images / "01.img", ["01.img"])):
                out = self.here / f"{words[0]} {len(names)}"
                run(*command, "--out-dir", out, first, *words[1:], status=max(plain[name].returncode for name in names))
                results = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
                self.assertEqual(results, {f"{name}.json": plain[name].stdout for name in names})
        self.assertIn(b"is not a place", run("ntfs", "locate", "--out-dir", self.out, self.images / "00.img",
                                          self.images / "01.img", status=2).stderr)

    def test_parts_of_an_image_are_one_input(self):
        volume = self.volumes[0]
        for number in range(4):
            self.add(f"split.{number + 1:03}", volume[number * len(volume) // 4:(number + 1) * len(volume) // 4])
        for name in ("case.E01", "case.E02", "case.EAA"):
            self.add(name, b"EVF\x09\x0d\x0a\xff\0" + bytes(100))
        summary = self.batch(status=1)
        self.assertEqual((summary["counts"]["inputs"], summary["counts"]["later_parts"]), (2, 5))
        _, rows, _ = self.manifest()
        self.assertEqual(rows["split.001"]["identity"]["size"], len(volume))
        os.utime(self.images / "split.003", ns=(2 * 10**18, 2 * 10**18))
        self.assertEqual(self.batch(status=1)["counts"]["kept"], 0)

    def test_data_of_a_vmdk_is_read_with_its_descriptor(self):
        volume = self.volumes[0] + bytes(-len(self.volumes[0]) % 512)
        half = len(volume) // 1024 * 512
        for number, part in enumerate((volume[:half], volume[half:])):
            self.add(f"disk-f00{number + 1}.vmdk", part)
        self.add("other-flat.vmdk", volume)
        self.add("disk.vmdk", ("# Disk DescriptorFile\nversion=1\nCID=12345678\nparentCID=ffffffff\n"
                               'createType="twoGbMaxExtentFlat"\n' + "".join(
                                   f'RW {size // 512} FLAT "disk-f00{number}.vmdk" 0\n'
                                   for number, size in ((1, half), (2, len(volume) - half)))).encode())
        (self.images / "link.img").symlink_to("other-flat.vmdk")
        counts = self.batch(status=0)["counts"]
        self.assertEqual((counts["inputs"], counts["later_parts"], counts["links"]), (2, 2, 1))
        self.assertIn("disk.vmdk", self.manifest()[1])

    def test_descriptors_are_read_as_the_command_reads_them(self):
        volume = self.volumes[0] + bytes(-len(self.volumes[0]) % 512)
        self.add("DISK-flat.VMDK", volume)
        self.add("DISK.VMDK", ("# Disk DescriptorFile\nversion=1\nCID=12345678\nparentCID=ffffffff\n"
                               f'  RW {len(volume) // 512} FLAT "DISK-flat.VMDK" 0\n').encode())
        # Two that name each other are not data of each other.
        for one, other in ("ab", "ba"):
            self.add(f"{one}.vmdk", f'# Disk DescriptorFile\nversion=1\nRW 8 FLAT "{other}.vmdk" 0\n'.encode())
        counts = self.batch(status=1)["counts"]
        self.assertEqual((counts["inputs"], counts["later_parts"]), (3, 1))
        self.assertEqual(self.manifest()[1]["DISK.VMDK"]["identity"]["size"],
                         len(volume) + (self.images / "DISK.VMDK").stat().st_size)
        counts = self.batch("--include", "*-flat.vmdk", status=0, out=self.here / "other")["counts"]
        self.assertEqual((counts["inputs"], counts["later_parts"]), (1, 0))

    @unittest.skipUnless(shutil.which("qemu-img") and ctypes.util.find_library("qcow"), "qemu-img or libqcow")
    def test_a_parent_that_changed_is_read_again(self):
        self.add("base", self.volumes[0] + bytes(-len(self.volumes[0]) % 512))
        away = self.here / "away"
        away.mkdir()
        for options, folder in (((), self.images), (("--parent", away / "base.qcow2"), away)):
            shutil.rmtree(self.out, ignore_errors=True)
            base, child = folder / "base.qcow2", self.images / "child.qcow2"
            subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", self.images / "base", base], check=True)
            if not options:
                subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", "base.qcow2", child], check=True)
            command = *SNAPSHOT, *options
            self.batch("--include", "child.*", status=0, command=command)
            self.assertEqual(self.batch("--include", "child.*", status=0, command=command)["counts"]["kept"], 1)
            os.utime(base, ns=(2 * 10**18, 2 * 10**18))
            self.assertEqual(self.batch("--include", "child.*", status=0, command=command)["counts"]["kept"], 0)

    def test_a_path_that_a_list_has_twice_is_read_once(self):
        self.fill(2)
        first, second = self.images / "00.img", self.images / "01.img"
        listed = self.here / "list"
        listed.write_text(f"{first}\n{second}\n{first}\n")
        done = run("batch", "--list", listed, "--out-dir", self.out, "--", *SNAPSHOT, status=0)
        self.assertIn(b"1 line of the list with a repeated path: read once", done.stdout)
        self.assertEqual(list(self.manifest()[1]), ["00.img", "01.img"])

    def test_the_folder_of_results_may_be_a_link(self):
        self.fill(2)
        (self.here / "disk").mkdir()
        self.out.symlink_to(self.here / "disk")
        self.batch(status=0)
        self.assertEqual(sorted(path.name for path in (self.here / "disk").iterdir()),
                         ["00.img.ndjson", "01.img.ndjson", "_batch"])
        (self.here / "disk/_batch").rename(self.here / "elsewhere")
        (self.here / "disk/_batch").symlink_to(self.here / "elsewhere")
        self.assertIn(b"Not a directory", self.batch(status=2).stderr)

    def test_include_chooses_files_of_folders(self):
        self.fill(3)
        self.add("note.txt")
        self.assertEqual(self.batch("--include", "*.IMG", status=0)["counts"]["inputs"], 3)

    def test_a_tree_of_partitions(self):
        for name in ("a b.img", "c.img"):
            self.add(name)
        self.batch("--out-layout", "hive", status=0)
        self.batch("--out-layout", "hive", status=0, command=("ntfs", "journal"))
        self.assertEqual({name for name in tree(self.out) if "_batch" not in name}, {
            f"kind=ntfs-{kind}/image={name}/part.ndjson.zst" for kind in ("snapshot", "journal")
            for name in ("a%20b.img", "c.img")})


class Resuming(Batch):
    def test_a_second_run_does_what_is_left_and_no_more(self):
        self.fill(6)
        self.add("bad.img", b"no image\n" * 99)
        self.batch(status=1)
        whole = tree(self.out)
        before = {path.name: path.stat().st_mtime_ns for path in self.out.glob("*.ndjson")}
        self.assertEqual(self.batch(status=1)["counts"]["kept"], 6)
        self.assertEqual(tree(self.out), whole)
        self.assertEqual({path.name: path.stat().st_mtime_ns for path in self.out.glob("*.ndjson")}, before)
        # A result that is gone, one that was changed, inputs that were.
        (self.out / "00.img.ndjson").unlink()
        with open(self.out / "01.img.ndjson", "ab") as file:
            file.write(b"x")
        self.add("02.img", self.volumes[1] + bytes(512))
        os.utime(self.images / "03.img", ns=(2 * 10**18, 2 * 10**18))
        summary = self.batch(status=1)
        self.assertEqual((summary["counts"]["kept"], [each["code"] for each in summary["findings"]]), (2, ["result-changed"]))
        self.assertEqual((self.out / "01.img.ndjson").read_bytes(), whole["01.img.ndjson"])
        self.assertEqual((self.out / "00.img.ndjson").read_bytes(), whole["00.img.ndjson"])
        shutil.rmtree(self.out)
        resumed = self.batch(status=1)
        self.assertEqual(resumed["findings"], [])

    def test_inputs_that_became_unreadable_have_no_result_any_more(self):
        self.fill(2)
        self.batch(status=0)
        self.add("01.img", b"gone\n")
        self.batch(status=1)
        self.assertEqual([path.name for path in self.out.glob("*.ndjson")], ["00.img.ndjson"])

    def test_hashes_tell_what_size_and_time_do_not(self):
        self.fill(3)
        self.batch("--compare-contents", status=0)
        _, rows, _ = self.manifest()
        self.assertEqual(rows["00.img"]["identity"]["sha256"], hashlib.sha256((self.images / "00.img").read_bytes()).hexdigest())
        facts = (self.images / "00.img").stat()
        changed = bytearray((self.images / "00.img").read_bytes())
        changed[-1] ^= 1
        with open(self.images / "00.img", "r+b") as file:
            file.write(changed)
        os.utime(self.images / "00.img", ns=(facts.st_mtime_ns, facts.st_mtime_ns))
        self.assertEqual(self.batch(status=0)["counts"]["kept"], 3)
        self.assertEqual(self.batch("--compare-contents", status=0)["counts"]["kept"], 2)
        os.utime(self.images / "01.img", ns=(2 * 10**18, 2 * 10**18))
        self.assertEqual(self.batch("--compare-contents", status=0)["counts"]["kept"], 3)

    def test_failed_inputs_are_tried_again_when_asked(self):
        self.add("bad.img", b"no image\n" * 99)
        self.add("good.img")
        real = self.batch(status=1)["failed"][0]["error"]
        path = self.out / "_batch/ntfs-snapshot/manifest.ndjson"
        path.write_text(path.read_text().replace(real, "as before"))
        self.assertEqual(self.batch(status=1)["failed"][0]["error"], "as before")
        self.assertEqual(self.batch("--retry-failed", status=1)["failed"][0]["error"], real)

    def test_a_manifest_that_ends_in_a_line(self):
        self.fill(4)
        self.batch(status=0)
        whole = tree(self.out)
        path = self.out / "_batch/ntfs-snapshot/manifest.ndjson"
        lines = path.read_bytes().splitlines(keepends=True)
        for length in (1, 20, len(lines[2]) - 1):
            path.write_bytes(b"".join(lines[:2]) + lines[2][:length])
            for number in (1, 2, 3):  # the kill came before they had their names
                (self.out / f"{number:02}.img.ndjson").unlink()
            self.assertEqual(self.batch(status=0)["findings"], [])
            self.assertEqual(tree(self.out), whole)
        path.write_bytes(lines[0] + b"garbage\n" + b"".join(lines[2:]))
        self.assertIn(b"not a result that the manifest lists", self.batch(status=2).stderr)
        (self.out / "00.img.ndjson").unlink()
        self.assertEqual([each["code"] for each in self.batch(status=1)["findings"]], ["manifest-damaged"])
        self.assertEqual(tree(self.out), whole)
        path.write_bytes(b"garbage\n")
        self.assertIn(b"not a batch manifest", self.batch(status=2).stderr)

    def test_a_manifest_without_bytes(self):
        self.fill(2)
        self.batch(status=0)
        whole = tree(self.out)
        path = self.out / "_batch/ntfs-snapshot/manifest.ndjson"
        path.write_bytes(b"")
        self.assertIn(b"00.img.ndjson: not a result that the manifest lists", self.batch(status=2).stderr)
        for result in self.out.glob("*.ndjson"):
            result.unlink()
        summary = self.batch(status=1)
        self.assertEqual([(each["code"], each["text"]) for each in summary["findings"]],
                         [("manifest-damaged", f"{path}: it is empty")])
        self.assertEqual(tree(self.out), whole)

    def test_results_of_inputs_that_are_not_named_are_not_counted(self):
        self.fill(3)
        self.batch(status=0)
        (self.images / "01.img").unlink()
        (self.out / "01.img.ndjson").unlink()
        counts = self.batch(status=0)["counts"]
        self.assertEqual((counts["inputs"], counts["done"], counts["kept"], counts["not_named"]), (2, 2, 2, 1))
        _, rows, end = self.manifest()
        self.assertEqual((len(rows), end["counts"]), (3, {"inputs": 2, "done": 2, "failed": 0, "not_named": 1}))
        text = run("batch", "--input", self.images, "--out-dir", self.out, "--", *SNAPSHOT, status=0).stdout
        self.assertIn(b"1 result of inputs that were not given this time: neither checked nor counted", text)

    def test_a_folder_that_cannot_be_read_is_in_the_summary_and_the_manifest(self):
        self.fill(1)
        at = os.open(self.images, os.O_RDONLY)
        for _ in range(20):  # a path longer than the system takes
            os.mkdir("d" * 250, dir_fd=at)
            below = os.open("d" * 250, os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = below
        os.close(at)
        summary = self.batch(status=1)
        self.assertEqual([(each["code"], each["count"]) for each in summary["findings"]], [("folder-unreadable", 1)])
        self.assertIn("File name too long", summary["findings"][0]["text"])
        self.assertEqual(summary["counts"]["done"], 1)
        _, _, end = self.manifest()
        self.assertEqual((end["complete"], end["findings"]), (False, summary["findings"]))
        shutil.rmtree(self.images / ("d" * 250))
        self.assertEqual(self.batch(status=0)["findings"], [])
        self.assertTrue(self.manifest()[2]["complete"])

    def test_results_of_another_command_line_stay(self):
        self.fill(2)
        self.batch(status=0)
        whole = tree(self.out)
        for command, options in (((*SNAPSHOT, "--state", "all"), ()), (("ntfs", "info"), ()),
                                 (SNAPSHOT, ("--compression", "gzip"))):
            self.assertIn(b"name another folder", self.batch(*options, status=2, command=command).stderr)
        self.assertEqual(tree(self.out), whole)

    def test_each_moment_of_a_kill_leaves_whole_results_and_the_rest_is_done_later(self):
        self.fill(30)
        self.batch(status=0)
        whole = tree(self.out)
        shutil.rmtree(self.out)
        begun = time.monotonic()
        self.batch("--jobs", "2", status=0)
        span = time.monotonic() - begun
        shutil.rmtree(self.out)
        interrupted = 0
        for number in range(24):
            process = self.start("--input", self.images, "--jobs", "2")
            time.sleep(span * (number % 12) / 12)
            workers = children(process)
            how = signal.SIGKILL if number % 3 else signal.SIGINT
            process.send_signal(how)
            process.communicate()
            interrupted += process.returncode == -how
            wait_until(lambda: not any(map(runs, workers)))
            if not self.out.exists():
                continue
            for path in self.out.glob("*.ndjson"):
                self.assertEqual(path.read_bytes(), whole[path.name])
            if how == signal.SIGINT:
                self.assertEqual(list(self.out.glob("_batch/*/work-*")), [])
            if number % 12 == 11:
                self.batch(status=0)
                self.assertEqual(tree(self.out), whole)
                shutil.rmtree(self.out)
        self.assertGreater(interrupted, 3)
        self.batch(status=0)
        self.assertEqual(tree(self.out), whole)


class Workers(Batch):
    def test_a_killed_worker_costs_its_input_alone(self):
        self.fill(12)
        for how in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
            held = self.hold()
            process = self.start("--input", self.images, "--list", self.write("list", os.fsencode(held)), "--jobs", "2")
            wait_until(lambda: len(list(self.out.glob("*.ndjson"))) == 12 and len(children(process)) == 1)
            os.kill(children(process)[0], how)
            _, messages = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, messages)
            self.assertIn(f"hold.img: ended by signal {int(how)}".encode(), messages)
            _, rows, _ = self.manifest()
            self.assertEqual((rows["hold.img"]["state"], rows["hold.img"]["signal"], rows["hold.img"]["exit_status"]),
                             ("crashed", int(how), None))
            held.unlink()
        self.add("hold.img", self.volumes[0])
        self.batch(status=0)
        crashed = tree(self.out)
        shutil.rmtree(self.out)
        self.batch(status=0)
        self.assertEqual(crashed, tree(self.out))

    def test_an_input_may_take_so_long_and_no_longer(self):
        self.fill(2)
        held = self.hold()
        done = run("batch", "--list", self.write("list", os.fsencode(held)), "--input", self.images, "--out-dir", self.out,
                   "--timeout", "1", "--format", "json", "--", *SNAPSHOT, status=1)
        self.assertEqual([(each["state"], each["error"]) for each in strict_json(done.stdout)["failed"]],
                         [("timed_out", "not done in 1 second")])

    def test_of_two_runs_one_works(self):
        self.fill(4)
        held = self.hold()
        listed = self.write("list", os.fsencode(held))
        first = self.start("--list", listed, "--input", self.images, "--jobs", "2")
        wait_until(lambda: len(list(self.out.glob("*.ndjson"))) == 4)
        before = tree(self.out)
        for options in ((), ("--shard", "1/2"), ("--shard", "2/3")):
            self.assertIn(b"another run works", self.batch(*options, status=2).stderr)
        self.assertEqual(tree(self.out), before)
        waiting = self.start("--input", self.images, "--wait")
        time.sleep(0.3)
        self.assertIsNone(waiting.poll())
        os.kill(children(first)[0], signal.SIGKILL)
        first.communicate()
        output, messages = waiting.communicate(timeout=60)
        self.assertEqual((waiting.returncode, b"4 done (4 of an earlier run" in output), (0, True), messages)

    def test_shards_together_are_the_whole(self):
        self.fill(20)
        self.batch(status=0)
        whole = tree(self.out)
        shutil.rmtree(self.out)
        runs = [self.start("--input", self.images, "--shard", f"{number}/3", "--jobs", "1") for number in (1, 2, 3)]
        for each in runs:
            output, messages = each.communicate(timeout=120)
            self.assertEqual(each.returncode, 0, messages)
        self.assertEqual(sorted(path.name for path in self.out.glob("_batch/*/manifest*")),
                         [f"manifest-{number}-of-3.ndjson" for number in (1, 2, 3)])
        names = [row["name"] for path in self.out.glob("_batch/*/manifest*") for row in strict_ndjson(path.read_bytes())
                 if row["type"] == "result"]
        self.assertEqual(sorted(names), [f"{number:02}.img" for number in range(20)])
        self.assertEqual(self.batch(status=0)["counts"]["kept"], 20)
        self.assertEqual(tree(self.out), whole)


class Refusals(Batch):
    def refused(self, words, *options, command=SNAPSHOT):
        done = self.batch(*options, status=2, command=command)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, b"")

    def test_names_that_collide_are_told_before_anything_is_written(self):
        self.fill(2)
        (self.here / "more").mkdir()
        shutil.copy(self.images / "00.img", self.here / "more/00.img")
        self.refused(b"both results would be called '00.img'; --named-by path", "--input", self.here / "more")
        self.refused(b"named twice", "--input", self.images / "00.img", "--input", self.images / "00.img", "--input",
                     self.images)
        self.assertFalse(self.out.exists())
        self.batch("--named-by", "path", "--input", self.here / "more", status=0)
        self.assertIn(escaped(os.fsencode(self.here / "more/00.img")[1:]) + ".ndjson", tree(self.out))

    def test_evidence_in_the_place_of_a_result_stays(self):
        self.fill(2)
        self.out.mkdir()
        target = self.out / "01.img.ndjson"
        target.write_bytes(self.volumes[0])
        self.refused(b"not a result that the manifest lists")
        self.assertEqual(tree(self.out), {target.name: self.volumes[0]})
        target.unlink()
        os.link(self.images / "00.img", target)
        self.refused(b"the same file as the input")
        target.unlink()
        target.symlink_to(self.images / "00.img")
        self.refused(b"not a regular file, and in the place of a result")
        target.unlink()
        target.mkdir()
        self.refused(b"not a regular file, and in the place of a result")
        target.rmdir()
        target.write_bytes(b"precious\n")
        self.refused(b"01.img.ndjson: not a result that the manifest lists, and in the place of one")
        self.assertEqual(tree(self.out), {target.name: b"precious\n"})
        target.unlink()
        self.batch(status=0)
        target.write_bytes(self.volumes[0])
        self.refused(b"which is never overwritten")

    def test_another_case_does_not_take_a_results_name(self):
        for case, volume in (("a", 0), ("b", 1)):
            (self.here / case).mkdir()
            (self.here / case / "disk.img").write_bytes(self.volumes[volume])
        words = b"a/disk.img and " + os.fsencode(self.here / "b/disk.img") + b": both results would be called 'disk.img'"

        def batch(*options, status):
            return run("batch", "--out-dir", self.out, *options, "--", *SNAPSHOT, status=status)
        batch("--input", self.here / "a", status=0)
        whole = tree(self.out)
        for options in ((), ("--shard", "1/1"), ("--compare-contents",)):
            self.assertIn(words, batch("--input", self.here / "b", *options, status=2).stderr)
        self.assertIn(words, run(*SNAPSHOT, "--out-dir", self.out, self.here / "b/disk.img", status=2).stderr)
        self.assertEqual(tree(self.out), whole)
        for same in (self.here / "a/../a", self.here / "a/disk.img"):  # the same file by another path
            batch("--input", same, status=0)
        batch("--input", self.here / "b", "--named-by", "path", status=0)
        shutil.rmtree(self.out)
        batch("--input", self.here / "absent/disk.img", status=2)  # a wrong path has no name for ever
        batch("--input", self.here / "a", status=0)
        shutil.rmtree(self.out)
        # Of shards, where each knows the manifests of the others.
        batch("--input", self.here / "a", "--shard", "1/2", status=0)
        whole = tree(self.out)
        self.fill(1)
        self.assertIn(words, batch("--input", self.images, "--input", self.here / "b", "--shard", "2/2", status=2).stderr)
        self.assertEqual(tree(self.out), whole)
        # Where two were at work at once, the run that joins their manifests tells.
        first = self.out / "_batch/ntfs-snapshot/manifest-1-of-2.ndjson"
        (first.parent / "manifest-2-of-2.ndjson").write_bytes(
            first.read_bytes().replace(os.fsencode(self.here / "a/disk.img"), os.fsencode(self.here / "b/disk.img")))
        whole = tree(self.out)
        self.assertIn(words, batch("--input", self.here / "a", status=2).stderr)
        self.assertEqual(tree(self.out), whole)

    def test_a_case_that_was_moved_goes_on_by_relative_paths(self):
        old, new = self.here / "old", self.here / "new"
        for case in (old, self.here / "other"):
            (case / "images").mkdir(parents=True)
            for i in range(2):
                (case / "images" / f"{i}.img").write_bytes(self.volumes[i])
        line = ("batch", "--out-dir", "out", "--input", "images", "--", *SNAPSHOT)
        run(*line, status=0, cwd=old)
        run("batch", "--out-dir", self.here / "other/out", "--input", self.here / "other/images", "--", *SNAPSHOT, status=0)
        whole = tree(old / "out")
        made = {path: path.stat().st_mtime_ns for path in (old / "out").glob("*.ndjson")}
        self.assertEqual(len(made), 2)
        old.rename(new)
        run(*line, status=0, cwd=new)
        self.assertEqual(tree(new / "out"), whole)
        self.assertEqual({old / path.relative_to(new): path.stat().st_mtime_ns for path in (new / "out").glob("*.ndjson")}, made)
        # By absolute paths it is said why not.
        (self.here / "other").rename(self.here / "moved")
        done = run("batch", "--out-dir", self.here / "moved/out", "--input", self.here / "moved/images", "--", *SNAPSHOT, status=2)
        self.assertIn(os.fsencode(self.here / "other/images/0.img") + b", which no longer exists; if the files were moved", done.stderr)

    def test_files_that_the_command_line_names_are_no_places_of_results(self):
        self.add("base.img")
        self.add("t.etl", b"no trace")
        self.out.mkdir()
        for name, content, options, command in (
                ("base.img.ndjson", os.fsencode(self.images / "base.img") + b"\n", ("--list",), SNAPSHOT),
                ("base.img.ndjson", bytes(range(64)), (), (*SNAPSHOT, "--names", "keyed-hash", "--key-file")),
                ("t.etl.ndjson", b"{}\n", (), ("trace", "decode", "--schemas"))):
            target = self.out / name
            for is_link in (False, True):
                named = self.here / "named" if is_link else target
                (self.here / "named").unlink(missing_ok=True)
                target.unlink(missing_ok=True)
                named.write_bytes(content)
                if is_link:
                    os.link(named, target)
                inputs = () if options else ("--input", self.images)
                done = run("batch", *inputs, *options, *([named] if options else []), "--out-dir", self.out, "--",
                           *command, *([] if options else [named]), status=2)
                self.assertIn(b"the same file as the input", done.stderr)
                self.assertEqual(tree(self.out), {name: content})
            target.unlink()

    def test_the_summary_is_no_result_and_no_manifest(self):
        self.fill(2)
        for times in range(2):
            for name in ("00.img.ndjson", "_batch/ntfs-snapshot/manifest.ndjson", "_batch/new"):
                self.refused(b"a file of the batch, which its summary never overwrites", "-o", self.out / name)
            if times == 0:
                self.assertFalse(self.out.exists())
                self.batch(status=0)
        (self.images / "00.img").unlink()
        self.refused(b"a file of the batch", "-o", self.out / "00.img.ndjson")
        self.batch("--out-layout", "hive", status=0, out=self.here / "tree")
        (self.here / "link").symlink_to(self.here / "tree/kind=ntfs-snapshot")
        self.assertEqual(run("batch", "--input", self.images, "--out-dir", self.here / "tree", "--out-layout", "hive", "-o",
                             self.here / "link/image=01.img/part.ndjson.zst", "--", *SNAPSHOT).returncode, 2)
        with open(self.out / "01.img.ndjson", "ab") as output:
            done = subprocess.run([COLDTRACE, "batch", "--input", self.images, "--out-dir", self.out, "--", *SNAPSHOT],
                                  stdout=output, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, b"writes its summary" in done.stderr), (2, True))
        run("batch", "--input", self.images, "--out-dir", self.out, "-o", self.out / "summary.txt", "--", *SNAPSHOT, status=0)

    def test_of_two_commands_that_begin_at_once_one_has_the_folder(self):
        self.fill(1)
        (self.out / "_batch").mkdir(parents=True)
        with open(self.out / "_batch/lock-commands", "w") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            process = self.start("--input", self.images)
            time.sleep(0.3)
            self.assertIsNone(process.poll())
            (self.out / "_batch/ntfs-info").mkdir()
            with open(self.out / "_batch/ntfs-info/lock-1-of-1", "w") as own:
                fcntl.lockf(own, fcntl.LOCK_EX)
                fcntl.lockf(lock, fcntl.LOCK_UN)
                _, messages = process.communicate(timeout=60)
        self.assertEqual((process.returncode, b"already has results of 'ntfs-info'" in messages), (2, True), messages)
        self.assertEqual([path.name for path in (self.out / "_batch").iterdir() if path.is_dir()], ["ntfs-info"])
        self.batch(status=0, command=("ntfs", "info"))

    def test_help_and_the_version_are_no_runs(self):
        self.fill(1)
        for command in (("--version",), ("--help",), ("ntfs", "snapshot", "--help"), ("ntfs", "snapshot", "-h"),
                        ("ntfs", "--help")):
            self.refused(command[-1].encode() + b": reads no input", command=command)
        self.assertFalse(self.out.exists())
        self.assertIn(b"Examples:", run("ntfs", "snapshot", "--out-dir", self.out, "--help", status=0).stdout)

    def test_lists_whose_lines_end_with_a_carriage_return(self):
        path = self.add("a.img") + b"\r\n"
        done = run("batch", "--list", self.write("list", path), "--out-dir", self.out, "--", *SNAPSHOT, status=2)
        self.assertIn(b"list: a line ends with a carriage return", done.stderr)
        self.assertFalse(self.out.exists())
        self.add("a.img\r")
        run("batch", "--list", self.write("list", path), "--out-dir", self.out, "--", *SNAPSHOT, status=0)

    def test_inputs_that_lie_in_the_folder_of_results(self):
        self.fill(1)
        done = self.batch(status=2, out=self.images)
        self.assertIn(b"images: is the folder of results, whose files are not inputs", done.stderr)
        self.assertEqual(os.listdir(self.images), ["00.img"])

    def test_the_folder_of_results_is_no_input(self):
        self.out = self.images / "out"
        self.fill(2)
        self.batch(status=0)
        self.assertEqual(self.batch(status=0)["counts"], {**self.batch(status=0)["counts"], "inputs": 2, "kept": 2})

    def test_command_lines_that_cannot_be_run(self):
        self.fill(1)
        for words, command in ((b"is not a command", ("nonsense",)), (b"--no-such", ("ntfs", "snapshot", "--no-such")),
                               (b"a batch names each result", ("ntfs", "snapshot", "-o", "x")),
                               (b"not another batch", ("batch", "--out-dir", "x")),
                               (b"does not read its first argument", ("syscalls", "hash")), (b"", ("ntfs",))):
            self.refused(words, command=command)
        for options in (("--shard", "0/2"), ("--shard", "3/2"), ("--shard", "2"), ("--out-layout", "flat"), ("--compression", "xz")):
            self.refused(options[1].encode(), *options)
        self.assertFalse(self.out.exists())
        run("batch", "--out-dir", self.out, "--", "ntfs", "snapshot", status=2)
        self.assertIn(b"no input could", b"no input could" if self.batch(
            "--input", self.here / "absent", "--include", "no*", status=2).stderr else b"")

    def test_a_folder_that_cannot_grow(self):
        """Files of a limited size stand for a full disk: neither is written on."""
        import resource
        self.fill(3)
        self.batch(status=0)
        whole = tree(self.out)
        shutil.rmtree(self.out)
        for limit in (0, 600, 1000, len(whole["00.img.ndjson"]) - 1):
            done = self.batch(status=2, restore_signals=False, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertIn(b"cannot write: File too large", done.stderr)
            for name, content in tree(self.out).items():
                if "_batch" not in name:
                    self.assertEqual(content, whole[name])
        self.batch(status=0)
        self.assertEqual(tree(self.out), whole)

    def test_a_folder_that_cannot_grow_whatever_it_is_called(self):
        import resource
        self.fill(2)
        self.batch(status=0)
        whole = tree(self.out)
        limit = min(len(content) for name, content in whole.items() if "_batch" not in name) - 1
        link = self.here / "link"
        link.symlink_to("out")
        for out in Path("out"), Path("images/../out"), link:
            with self.subTest(out=str(out)):
                shutil.rmtree(self.out)
                self.out.mkdir()
                done = self.batch(status=2, out=out, cwd=self.here, restore_signals=False, preexec_fn=lambda:
                                  resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                self.assertEqual(done.stderr.splitlines()[-1], f"coldtrace: {out}: cannot write: File too large".encode())
                self.assertEqual(self.batch(status=0, out=out, cwd=self.here)["counts"]["done"], 2)
                self.assertEqual(tree(self.out), whole)

    def test_temporary_files_that_cannot_be_made_cost_no_input(self):
        self.add("packed.img.gz", gzip.compress(self.volumes[0], mtime=0))
        done = self.batch(status=2, env={**os.environ, "TMPDIR": str(self.here / "none")})
        self.assertIn(b"(TMPDIR) cannot be created: No such file or directory", done.stderr.splitlines()[-1])
        self.assertEqual(self.batch(status=0)["counts"]["done"], 1)

    def test_a_full_disk(self):
        self.fill(8)
        self.batch(status=0)
        whole = tree(self.out)
        shutil.rmtree(self.out)
        self.out.mkdir()
        # The pages of three results and of the manifest: two are made at a time, and eight are wanted.
        size = (3 * -(-max(map(len, whole.values())) // 4096) + 3) * 4096
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", self.out], capture_output=True).returncode:
            self.skipTest("no tmpfs can be mounted here")
        try:
            self.assertIn(b"cannot write: No space left on device", self.batch("--jobs", "2", status=2).stderr)
            found = tree(self.out)
            self.assertGreater(len(found), 1)
            for name, content in found.items():
                if "_batch" not in name:
                    self.assertEqual(content, whole[name])
            subprocess.run(["mount", "-o", "remount,size=64m", self.out], check=True)
            self.batch(status=0)
            self.assertEqual(tree(self.out), whole)
        finally:
            subprocess.run(["umount", self.out], check=True)


QUERY = """
const {DuckDBInstance} = require('@duckdb/node-api');
(async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const files = "read_json('" + process.argv[2].replace(/'/g, "''") + "/**/*.ndjson.zst', " +
      "format='newline_delimited', hive_partitioning=true, union_by_name=true)";
  const reader = await connection.runAndReadAll(
      "select kind, image, count(*)::int as lines from " + files + " where type = 'file' group by all order by all");
  console.log(JSON.stringify(reader.getRowObjects()));
})().catch(error => { console.error(error); process.exit(1); });
"""


class DuckDb(Batch):
    def setUp(self):
        super().setUp()
        if not shutil.which("node") or subprocess.run(["node", "-e", "require('@duckdb/node-api')"], capture_output=True).returncode:
            self.skipTest("node or @duckdb/node-api is not there (npm install, NODE_PATH)")

    def test_partitions_are_columns(self):
        names = ["a b.img", "c.img", "\u00e4\u4e2d.img", "100%.img", "k=v.img", os.fsdecode(b"b\xf6se.img"), "b%F6se.img",
                 *[start + "\u00fc" * 110 for start in ("", "a", "ab", "abc")], "a" + "\u65e5" * 75, "ab" + "\U0001f600" * 55]
        for name in names:
            self.add(os.fsencode(name))
        self.batch("--out-layout", "hive", status=0)
        script = self.write("query.js", QUERY.encode())
        done = subprocess.run(["node", script, self.out], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)
        expected = []
        for name in names:
            lines = run("ntfs", "snapshot", "-q", self.images / name).stdout.splitlines()
            expected.append({"kind": "ntfs-snapshot", "image": decoded(os.fsencode(name)),
                             "lines": sum(json.loads(line)["type"] == "file" for line in lines)})
        self.assertEqual(sorted(rows, key=str), sorted(expected, key=str))


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
