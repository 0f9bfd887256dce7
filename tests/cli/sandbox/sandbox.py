"""What a run gives up before it reads an input: a library that is loaded into coldtrace tries it.

usage: sandbox.py COLDTRACE PROJECT [unittest arguments]
With --no-sandbox the same attempts succeed, so that each of them can fail.
"""
import ctypes
import hashlib
import os
import shutil
import socket
import stat
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from cli.sandbox import probes
from sample_volumes import sample_volume

COLDTRACE, PROJECT = (Path(argument).resolve() for argument in sys.argv[1:3])
del sys.argv[1:3]
PROGRAM = PROJECT / "fuzz/corpus/pe_image/x64"
VOLUME = PROJECT / "../shared/samples/ntfs/ntfs-ptrn.raw.gz"

ATTEMPTS = {
    "open-write", "open-append", "open-both", "open-empty", "open-create", "open-exclusive",
    "open-input", "reopen-input", "open-device", "open-memory", "truncate", "unlink", "rename",
    "symlink", "mkdir", "mkfifo", "chmod-input", "fchmod-input", "chown-input", "fchown-input",
    "touch-input", "touch-open-input", "chdir", "socket", "socket-unix", "socketpair-datagram",
    "connect", "sendto", "bind", "exec", "kill", "tgkill", "limits-of-another", "priority",
    "signals-to-another", "unshare", "write-and-run", "written-then-run", "ptrace",
    "read-another", "list-another", "read-by-proc", "read-environment",
} | ({"mount", "chroot"} if os.geteuid() == 0 else set())
FILES = ("open-write", "open-append", "open-both", "open-empty", "truncate", "unlink", "rename")


def run(*arguments, **options):
    return subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120,
                          **options)


def state(path):
    """All that may be changed of a file."""
    status = os.lstat(path)
    content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
    return (status.st_ino, status.st_mode, status.st_uid, status.st_gid, status.st_nlink,
            status.st_mtime_ns, status.st_size, content)


class Sandbox(case.Case):
    @classmethod
    def setUpClass(cls):
        probes.require(lambda active: active.endswith("and seccomp"), COLDTRACE)

    def setUp(self):
        super().setUp()
        self.probe = probes.build_probe(self.here, "sandbox_probe.c")
        (self.here / "other").mkdir()
        self.other = self.write("other/file", b"secret")
        self.listener, self.box = self.here / "listener", self.here / "box"
        for kind, path in ((socket.SOCK_STREAM, self.listener), (socket.SOCK_DGRAM, self.box)):
            server = socket.socket(socket.AF_UNIX, kind)
            self.addCleanup(server.close)
            server.bind(str(path))
            if kind == socket.SOCK_STREAM:
                server.listen()

    def environment(self, folder, victim, report):
        return {**os.environ, "LD_PRELOAD": str(self.probe), "PROBE_FOLDER": str(folder),
                "PROBE_INPUT": str(victim), "PROBE_OTHER": str(self.other), "PROBE_LISTENER": str(self.listener),
                "PROBE_BOX": str(self.box), "PROBE_REPORT": str(report)}

    def attempts(self, name, command, source, *options, output=None, elsewhere=False):
        """Runs it with the probe, which must not change the results: what of the attempts was done,
        and whether something changed. What is attacked lies beside the output, in the folder for
        temporary files, or elsewhere."""
        folder = self.here / name
        (folder / "mount").mkdir(parents=True)
        for each in FILES:
            (folder / each).write_bytes(b"evidence")
        victim = folder / "input"
        shutil.copyfile(source, victim)
        # Times of an earlier day, so that a touch shows.
        for path in folder.iterdir():
            os.utime(path, ns=(10**18, 10**18))
        beside = self.here / f"{name}-results" if elsewhere else folder
        beside.mkdir(exist_ok=True)
        target, plain, report = beside / "results", self.here / "plain", self.here / "report"
        if output is not None:
            target.write_bytes(output)
        before = {path.name: state(path) for path in folder.iterdir() if path != target}
        expected = run(*command, victim, "-o", plain, "--no-sandbox")
        done = run(*command, victim, "-o", target, *options,
                   env={**self.environment(folder, victim, report), "TMPDIR": str(beside)})
        found = dict(row.split() for row in report.read_text().splitlines())
        self.assertEqual(found.pop("end"), "done")
        self.assertEqual(set(found), ATTEMPTS)
        self.assertEqual(done.returncode, expected.returncode, done.stderr)
        self.assertEqual((target.read_bytes(), done.stderr), (plain.read_bytes(), expected.stderr))
        after = {path.name: state(path) for path in folder.iterdir() if path != target}
        return {each for each, how in found.items() if how == "done"}, before != after

    def commands(self):
        """Commands with something that they read."""
        trace = self.here / "made.ctrace"
        self.assertEqual(run("trace", "synthesize", "deadlock-2", "-o", trace).returncode, 0)
        yield "pe", ["pe", "info", "--format", "json"], PROGRAM
        yield "trace", ["trace", "decode"], trace
        yield "sqlite", ["trace", "export", "sqlite"], trace

    def test_nothing_of_it_is_possible_and_the_results_are_the_same(self):
        for name, command, source in self.commands():
            with self.subTest(command=command):
                done, changed = self.attempts(name, command, source)
                if name == "sqlite":  # which sorts in files that have a name for a moment
                    self.assertEqual(done, {"open-exclusive", "unlink", "rename"})
                else:
                    self.assertEqual((done, changed), (set(), False))

    def may_mount(self):
        """Root in a container may not, in many."""
        folder = self.here / "mounted"
        folder.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "none", folder], capture_output=True).returncode == 0
        if mounted:
            subprocess.run(["umount", folder], check=True)
        return mounted

    def test_without_the_sandbox_all_of_it_is(self):
        possible = ATTEMPTS if self.may_mount() else ATTEMPTS - {"mount"}
        for name, command, source in self.commands():
            with self.subTest(command=command):
                self.assertEqual(self.attempts(name, command, source, "--no-sandbox"),
                                 (possible, True))

    def test_what_lies_elsewhere_stays_also_where_files_are_renamed(self):
        for name, command, source in self.commands():
            with self.subTest(command=command):
                self.assertEqual(self.attempts(name, command, source, output=b"before",
                                               elsewhere=True), (set(), False))

    def test_where_a_file_is_replaced_those_beside_it_are_not_written(self):
        done, _ = self.attempts("replaced", ["pe", "info"], PROGRAM, output=b"before")
        self.assertEqual(done, {"unlink", "rename"})

    def test_readers_of_virtual_disks_make_processes_but_run_no_programs(self):
        if not VOLUME.exists() or not shutil.which("qemu-img"):
            raise unittest.SkipTest("no sample volume, or no qemu-img")
        disk = self.here / "volume.qcow2"
        subprocess.run(["qemu-img", "convert", "-O", "qcow2", sample_volume(VOLUME), disk], check=True)
        self.assertEqual(self.attempts("disk", ["ntfs", "info"], disk), (set(), False))
        self.assertIn(b"NTFS", (self.here / "plain").read_bytes())

    def test_the_helper_is_the_only_program(self):
        command = ["pe", "info", "--details", "--format", "json"]
        self.assertEqual(self.attempts("details", command, PROGRAM),
                         (set(), False))
        self.assertNotIn(b"details-helper", (self.here / "plain").read_bytes())

    def test_it_is_left_out_by_a_word_before_the_command_too(self):
        for line, possible in ((["--no-sandbox", "pe", "info"], True),
                               (["pe", "info", "--no-sandbox"], True), (["pe", "info"], False)):
            with self.subTest(line=line):
                folder, report = self.here / "attacked", self.here / "report"
                folder.mkdir(exist_ok=True)
                victim = self.write("attacked/open-write", PROGRAM.read_bytes())
                run(*line, victim, env=self.environment(folder, victim, report))
                self.assertEqual("open-write done" in report.read_text(), possible)

    def test_threads_are_in_it(self):
        """Linux says of each thread of a process which filters it has."""
        pipe = self.here / "pipe"
        os.mkfifo(pipe)
        trace = self.here / "long.ctrace"
        run("trace", "synthesize", "system-calls", "--rounds", "20000", "-o", trace)
        with subprocess.Popen([COLDTRACE, "trace", "decode", "-j", "3", trace], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as decoding:
            decoding.stdout.read(1)  # and then nothing, so that it waits
            deadline, filters = time.monotonic() + 30, []
            while len(filters) < 3 and time.monotonic() < deadline:
                filters = []
                for task in Path(f"/proc/{decoding.pid}/task").iterdir():
                    status = dict(row.split(":\t", 1) for row in
                                  (task / "status").read_text().splitlines() if ":\t" in row)
                    filters.append((status["NoNewPrivs"], status["Seccomp"]))
            decoding.stdout.close()
            decoding.wait(60)
        self.assertGreaterEqual(len(filters), 3)
        self.assertEqual(set(filters), {("1", "2")})


def take_all_landlock_layers():
    """Linux has 16 for a process; each here only keeps it from making sockets in folders."""
    system, attributes = ctypes.CDLL(None).syscall, struct.pack("Q", 1 << 9)
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    while system(446, system(444, attributes, len(attributes), 0), 0) == 0:
        pass


def take_all_filter_instructions():
    """Linux has 32,768 for all filters of a thread; each here allows everything."""
    library = ctypes.CDLL(None)
    library.prctl(38, 1, 0, 0, 0)
    for length in 4096, 512, 64, 8, 1:
        code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000) * length)
        program = struct.pack("HxxxxxxQ", length, ctypes.addressof(code))
        while library.prctl(22, 2, program, 0, 0) == 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
            pass


class Refused(case.Case):
    """A kernel that has a part of the sandbox and does not give it."""

    def test_the_run_ends_and_without_the_sandbox_it_does_not(self):
        for part, exhaust in (("Landlock", take_all_landlock_layers),
                              ("seccomp", take_all_filter_instructions)):
            with self.subTest(part=part):
                if part not in probes.active(COLDTRACE) or "no " in probes.active(COLDTRACE):
                    self.skipTest(f"sandbox: {probes.active(COLDTRACE)}")
                done = run("pe", "info", PROGRAM, preexec_fn=exhaust)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(f"the kernel has {part} and refused it".encode(), done.stderr)
                out = self.here / f"{part}.ctf"
                trace = self.here / "made.ctrace"
                run("trace", "synthesize", "deadlock-2", "-o", trace)
                done = run("trace", "export", "ctf", trace, "-o", out, preexec_fn=exhaust)
                self.assertEqual((done.returncode, out.exists()), (2, False))
                done = run("pe", "info", "--no-sandbox", PROGRAM, preexec_fn=exhaust)
                self.assertEqual(done.returncode, 0, done.stderr)


class Outputs(case.Case):
    """What is done about outputs is the same with the sandbox and without."""

    def both(self):
        for number, options in enumerate(([], ["--no-sandbox"])):
            folder = self.here / str(number)
            folder.mkdir()
            yield options, folder

    def test_a_folder_of_a_run_that_failed_is_not_left(self):
        trace = self.here / "made.ctrace"
        run("trace", "synthesize", "deadlock-2", "-o", trace)
        for options, folder in self.both():
            for bad in self.here / "nothing", PROGRAM:
                done = run("trace", "export", "ctf", bad, "-o", folder / "out", *options)
                self.assertEqual((done.returncode, list(folder.iterdir())), (2, []))
            self.assertEqual(run("trace", "export", "ctf", trace, "-o", folder / "out", *options).returncode, 0)
            self.assertEqual([path.name for path in folder.iterdir()], ["out"])

    def test_a_file_that_came_meanwhile_stays_and_nothing_is_left_beside_it(self):
        trace = self.here / "made.ctrace"
        run("trace", "synthesize", "deadlock-2", "-o", trace)
        for options, folder in self.both():
            with subprocess.Popen([COLDTRACE, "trace", "decode", "-", "-o", "out", *options], cwd=folder,
                                  stdin=subprocess.PIPE, stderr=subprocess.PIPE) as going:
                time.sleep(0.3)  # until it waits for its input
                (folder / "out").write_bytes(b"mine")
                _, told = going.communicate(trace.read_bytes(), timeout=60)
            self.assertEqual(going.returncode, 2)
            self.assertIn(b"File exists", told)
            self.assertEqual({path.name: path.read_bytes() for path in folder.iterdir()}, {"out": b"mine"})

    def test_the_folder_of_windows_symbols_may_be_a_link(self):
        pdb = PROJECT / "fuzz/corpus/pdb_types"
        given = next(path for path in sorted(pdb.iterdir())
                     if run("pe", "isf", path, "-o", "/dev/null").returncode == 0)
        for options, folder in self.both():
            (folder / "elsewhere").mkdir()
            (folder / "store").mkdir()
            (folder / "store/windows").symlink_to("../elsewhere")
            done = run("pe", "isf", given, "--store", folder / "store", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(list((folder / "elsewhere").glob("*/*.json"))), 1)

    def test_a_folder_below_windows_symbols_may_be_a_link(self):
        pdb = PROJECT / "fuzz/corpus/pdb_types"
        given = next(path for path in sorted(pdb.iterdir())
                     if run("pe", "isf", path, "-o", "/dev/null").returncode == 0)
        for options, folder in self.both():
            (folder / "elsewhere").mkdir()
            (folder / "store/windows").mkdir(parents=True)
            (folder / "store/windows/a.pdb").symlink_to("../../elsewhere")
            for name, place in ("a.pdb", folder / "elsewhere"), ("b.pdb", folder / "store/windows/b.pdb"):
                done = run("pe", "isf", given, "--store", folder / "store", "--database", name, *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(len(list(place.glob("*.json"))), 1)


class Version(case.Case):
    def test_it_says_what_the_kernel_has(self):
        text = probes.active(COLDTRACE)
        self.assertRegex(text, r"^(Landlock ABI \d+( and seccomp| \(.+\))|seccomp \(.+\)|none \(.+\))$")
        listed = Path("/sys/kernel/security/lsm")
        if listed.exists() and "none (built" not in text:
            self.assertEqual("landlock" in listed.read_text().split(","), "Landlock ABI" in text)

    def test_a_run_without_a_sandbox_says_so(self):
        built_without = case.is_sanitized(COLDTRACE)
        for words in (["--no-sandbox", "--version"], ["--version", "--no-sandbox"], ["-V", "--no-sandbox"]):
            line = run(*words).stdout.decode().split("\nsandbox: ")[1]
            self.assertEqual(line, "none (built with sanitizers)\n" if built_without else "none (--no-sandbox)\n")
        self.assertNotIn("--no-sandbox", probes.active(COLDTRACE))


if __name__ == "__main__":
    unittest.main()
