"""What the Python tests share: a case with a directory of its own, and the program with what it says of its commands."""
import atexit
import functools
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

# A run may read all of the folder for temporary files: the inputs of tests lie elsewhere, so that they show what else it may.
os.environ["TMPDIR"] = tempfile.mkdtemp()  # with which tempfile has chosen its own
atexit.register(shutil.rmtree, os.environ["TMPDIR"], ignore_errors=True)


def existing(test, paths):
    """Those of the paths that are here; of each of the others the test says that it is skipped."""
    for path in paths:
        if path.exists():
            yield path
        else:
            with test.subTest(missing=path.name):
                test.skipTest(f"{path.name} is not here")


def installed(test, program):
    """Whether it is; where it is not, the test says that what follows with it is skipped."""
    if shutil.which(program):
        return True
    with test.subTest(missing=program):
        test.skipTest(f"{program} is not installed")
    return False


def is_sanitized(program):
    """Whether AddressSanitizer judges what the program reads; what it writes is then for others to judge."""
    return b"built with sanitizers" in subprocess.run([program, "--version"], capture_output=True, check=True).stdout


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.here = Path(self.directory.name)

    def call(self, *command):
        """What another program says, which has to succeed."""
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done.stdout

    def write(self, name, content):
        path = self.here / name
        path.write_bytes(content)
        return path


class KernelCase(Case):
    """A case of kernels that are made here; skipped where a program that makes them is missing (CMake's NOTFOUND)."""
    programs = ()

    @classmethod
    def setUpClass(cls):
        if any("NOTFOUND" in program for program in cls.programs):
            raise unittest.SkipTest("no clang or lld-link")


class Program:
    def __init__(self, path):
        self.path = path

    def run(self, *arguments, timeout=120, **options):
        return subprocess.run([self.path, *map(str, arguments)], capture_output=True, timeout=timeout, **options)

    @functools.cache
    def help_of(self, *command):
        done = self.run(*command, "--help")
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    def formats_of(self, *command):
        """The values of --format that the help lists; none if the command has no such option."""
        offered = re.search(r"--format\s+(?:\{|[A-Z]+ [^\[]*\[one of )([^}\]]*)[}\]]",
                            re.sub(r"\n\s+", " ", self.help_of(*command)))
        return re.split(r",\s*", offered[1]) if offered else []

    def below(self, *prefix):
        """The names of the commands and groups right below a group."""
        listed = re.search(r"\nCommands:\n(.*?)\n\n", self.help_of(*prefix), re.S)
        return re.findall(r"^  ([a-z][a-z0-9-]*)  ", listed[1], re.M) if listed else []

    def tree(self, *prefix):
        """Every command and group, as the lists of commands in the help name them."""
        return [prefix, *(found for name in self.below(*prefix) for found in self.tree(*prefix, name))]

    def commands(self, *prefix):
        """The commands alone."""
        return [found for found in self.tree(*prefix) if not self.below(*found)]
