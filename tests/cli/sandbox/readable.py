"""What a run may read although nobody named it: what it finds is the same as without the sandbox.

usage: readable.py COLDTRACE PROJECT [unittest arguments]
"""
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from cli.sandbox import probes

COLDTRACE, PROJECT = (Path(argument).resolve() for argument in sys.argv[1:3])
del sys.argv[1:3]
CORPUS = PROJECT / "fuzz/corpus"
MANIFEST = PROJECT / "tests/cli/trace/schemas/painter.man"
MOST_LISTED = 65_536  # entries of folders that are looked through for links


class Readable(case.Case):
    @classmethod
    def setUpClass(cls):
        probes.require(lambda active: "Landlock ABI" in active, COLDTRACE)

    def run_in(self, *words, status=(0, 1), **options):
        done = subprocess.run([COLDTRACE, *map(str, words)], capture_output=True, timeout=120, cwd=self.here, **options)
        self.assertIn(done.returncode, status, done.stderr)
        return done

    def same(self, *words, **options):
        """The results of the run, with which one without the sandbox agrees."""
        done, free = self.run_in(*words, **options), self.run_in(*words, "--no-sandbox", **options)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (free.stdout, free.stderr, free.returncode))
        return done.stdout.decode()

    def rows(self, image):
        """What is on it, by whatever name."""
        return self.same("ntfs", "snapshot", image, "--format", "csv", "-q").replace(f",{Path(image).name},", ",,")

    def make(self, name, content):
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def test_parts_of_a_split_image(self):
        image = (CORPUS / "ntfs_volume/small.img").read_bytes()
        half = (len(image) // 512 + 1) // 2 * 512
        self.make("a/disk.001", image[:half])
        self.make("a/disk.002", image[half:])
        (self.here / "disk.001").symlink_to("a/disk.001")
        self.make("whole.img", image)
        for name in "a/disk.001", "disk.001":
            self.assertEqual(self.rows(name), self.rows("whole.img"))

    def test_parents_and_extents_of_virtual_disks(self):
        if not case.installed(self, "qemu-img"):
            return
        shutil.copyfile(CORPUS / "ntfs_volume/small.img", self.here / "small.img")
        self.call("qemu-img", "convert", "-O", "vmdk", "-o", "subformat=twoGbMaxExtentFlat", self.here / "small.img",
                  self.here / "flat.vmdk")
        self.call("qemu-img", "create", "-q", "-f", "qcow2", "-b", self.here / "small.img", "-F", "raw",
                  self.here / "child.qcow2")
        for name in "flat.vmdk", "child.qcow2":
            self.assertEqual(self.rows(name), self.rows("small.img"))

    def test_segments_of_an_encase_image(self):
        if not case.installed(self, "ewfacquire"):
            return
        self.make("noise.img", (CORPUS / "ntfs_volume/small.img").read_bytes() + os.urandom(4 << 20))
        self.call("ewfacquire", "-u", "-q", "-t", self.here / "disk", "-S", "1MiB", self.here / "noise.img")
        self.assertGreater(len(list(self.here.glob("disk.E*"))), 2)
        self.assertIn("$MFT", self.same("ntfs", "snapshot", "disk.E01", "--format", "csv", "-q"))
        self.same("ntfs", "info", "--verify", "disk.E01")
        for name in "disk.E02", "disk.E03":
            self.assertEqual(self.rows(name), self.rows("disk.E01"))

    def test_what_hook_profiles_include(self):
        self.make("all/names.profile", b"include \"../more/files.profile\"\n")
        self.make("more/files.profile", b"enable NtCreateFile\n")
        names = self.make("names.txt", b"NtCreateFile\nNtClose\n")
        text = self.same("hooks", "profile", "expand", "all/names.profile", "--against", names)
        self.assertIn("NtCreateFile", text)
        # From standard input, they are those of the current folder.
        self.make("here.profile", b"include \"more/files.profile\"\n")
        with open(self.here / "here.profile") as profile:
            done = self.run_in("hooks", "profile", "expand", "-", "--against", names, stdin=profile)
        self.assertIn(b"NtCreateFile", done.stdout)

    def test_what_a_hook_profile_from_a_pipe_may_not_include(self):
        """It is told what to do, and that helps."""
        elsewhere = self.make("more/files.profile", b"enable NtCreateFile\n")
        (self.here / "work").mkdir()
        names = self.make("names.txt", b"NtCreateFile\nNtClose\n")
        text = f'include "{elsewhere}"\n'
        self.make("work/saved.profile", text.encode())

        def expand(*words):
            return subprocess.run([COLDTRACE, "hooks", "profile", "expand", *map(str, words), "--against", names], capture_output=True,
                                  input=text.encode(), timeout=120, cwd=self.here / "work")
        for name in "-", "/dev/stdin":
            with self.subTest(name=name):
                done = expand(name)
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"save it as a file and name that, or use --no-sandbox", done.stderr)
                self.assertIn(b"NtCreateFile", expand("--no-sandbox", name).stdout)
        self.assertIn(b"NtCreateFile", expand("saved.profile").stdout)

    def test_dlls_beside_a_program(self):
        self.make("app/program.exe", (CORPUS / "pe_image/x64").read_bytes())
        shutil.copyfile(CORPUS / "syscall_map/wine-x64", self.here / "app/ntdll.dll")
        beside = self.same("hooks", "iat", "app/program.exe")
        self.assertIn("ntdll.dll", beside)
        with open(self.here / "app/program.exe") as program:
            done = subprocess.run([COLDTRACE, "hooks", "iat", "-"], stdin=program, capture_output=True, cwd=self.here / "app")
        self.assertIn(b"ntdll.dll", done.stdout)

    def test_one_file_makes_no_walk_of_its_folder(self):
        """Of what lies beside it, the folders of languages are opened, and no others."""
        self.make("a/one.man", MANIFEST.read_bytes())
        self.make("a/en-US/one.man.mui", b"")
        secret = self.make("a/deep/secret.man", MANIFEST.read_bytes())
        trace = self.here / "run.ctrace"
        self.run_in("trace", "synthesize", "deadlock-2", "-o", trace)
        if not case.installed(self, "strace"):
            return
        self.call("strace", "-f", "-e", "trace=openat", "-o", self.here / "calls", COLDTRACE, "trace", "info", trace,
                  "--schemas", self.here / "a/one.man", "--tolerate", "schema-unused")
        calls = (self.here / "calls").read_text()
        self.assertIn(str(self.here / "a/en-US"), calls)
        self.assertNotIn(str(secret.parent), calls)

    def test_what_links_below_a_folder_lead_to(self):
        self.make("elsewhere/deep/one.man", MANIFEST.read_bytes())
        self.make("further/two.dll", (CORPUS / "pe_image/x64").read_bytes())
        (self.here / "given/below").mkdir(parents=True)
        (self.here / "given/below/linked.man").symlink_to("../../elsewhere/deep/one.man")
        (self.here / "elsewhere/circle").symlink_to("..")
        (self.here / "given/folder").symlink_to("../further")
        (self.here / "given/nowhere").symlink_to("../nothing")
        (self.here / "given/up").symlink_to(".")
        self.assertIn("Painter", self.same("trace", "schemas", "list", "--schemas", "given", "-v"))
        self.assertIn("seed.dll", self.same("hooks", "iat", "--dir", "given/folder", "--format", "json"))

    def test_a_folder_with_too_many_entries_leaves_reading_as_it_is(self):
        folder = self.here / "many"
        folder.mkdir()
        other = self.make("elsewhere/one.dll", (CORPUS / "pe_image/x64").read_bytes())
        (folder / "a.dll").symlink_to(other)
        for number in range(MOST_LISTED):
            os.symlink("nothing", folder / str(number))
        self.assertIn("seed.dll", self.same("hooks", "iat", "--dir", folder, "--format", "json"))

    def test_standard_input_and_pipes(self):
        image = CORPUS / "pe_image/x64"
        for line in (f"{COLDTRACE} pe info - < {image}", f"cat {image} | {COLDTRACE} pe info -",
                     f"{COLDTRACE} pe info <(cat {image})", f"{COLDTRACE} pe info /dev/stdin < {image}"):
            with self.subTest(line=line):
                done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("seed.dll", done.stdout)

    def test_schemas_that_the_environment_names(self):
        named = self.make("store/names.man", MANIFEST.read_bytes())
        text = self.same("trace", "schemas", "list", env={**os.environ, "COLDTRACE_SCHEMAS": str(named)})
        self.assertIn("Painter", text)


if __name__ == "__main__":
    unittest.main()
