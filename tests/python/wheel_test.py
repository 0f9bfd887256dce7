"""A wheel is called what the Debian packages of the same commit are: its version is before and after the same others. It contains
the libraries that its platform does not have, with their licences.

usage: wheel_test.py SOURCES [unittest arguments]
"""
import base64
import hashlib
import itertools
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from case import Case, installed  # noqa: E402

SOURCES = Path(sys.argv[1]).resolve()
# Of scripts/package, in Debian's order.
VERSIONS = ("0.1.0~git202611280844.f00000000000", "0.1.0~git202611280845.012345678901", "0.1.0", "0.1.1~git202612010000.0a0000000000",
            "0.1.1")


class Wheel(Case):
    def setUp(self):
        super().setUp()
        if not installed(self, "cc"):
            self.skipTest("no compiler")
        self.module = self.here / "built/coldtrace/_coldtrace.cpython-311-x86_64-linux-gnu.so"
        self.module.parent.mkdir(parents=True)
        (self.here / "licences").mkdir()
        self.write("licences/own", b"a licence")
        self.build("int module;")

    def build(self, source, *libraries):
        """The module, of this source."""
        self.call("cc", "-shared", "-o", self.module, self.write("module.c", source.encode()), "-Wl,--no-as-needed", *libraries)

    def make(self, version):
        """As scripts/lib/package.bash does it."""
        return "env", "SOURCE_DATE_EPOCH=1700000000", sys.executable, SOURCES / "python/make_wheel.py", self.here / "built", \
            self.here, version.split("~")[0], version.split("~")[-1], SOURCES / "LICENSE", self.here / "licences"

    def wheel_of(self, version):
        """The version that a wheel has."""
        name = self.call(*self.make(version)).strip()
        with zipfile.ZipFile(self.here / name) as archive:
            (metadata,) = (each for each in archive.namelist() if each.endswith("/METADATA"))
            lines = archive.read(metadata).decode().splitlines()
        (found,) = (line.removeprefix("Version: ") for line in lines if line.startswith("Version: "))
        self.assertEqual(name.split("-")[:2], ["coldtrace", found])
        self.assertEqual(metadata.split(".dist-info")[0], f"coldtrace-{found}")
        return found

    def test_versions_are_in_the_order_of_debians(self):
        try:
            from packaging.version import Version
        except ImportError:
            self.skipTest("no packaging")
        for one, other in itertools.combinations(VERSIONS, 2):
            self.call("dpkg", "--compare-versions", one, "lt", other)
            self.assertLess(Version(self.wheel_of(one)), Version(self.wheel_of(other)))

    def test_versions_are_as_pep_440_writes_them(self):
        found = [self.wheel_of(version) for version in VERSIONS]
        self.assertEqual(found, ["0.1.0.dev202611280844+gf00000000000", "0.1.0.dev202611280845+g012345678901", "0.1.0",
                                 "0.1.1.dev202612010000+g0a0000000000", "0.1.1"])

    def test_libraries_that_the_platform_lacks_are_in_it_with_their_licences(self):
        self.build("int module;", "-l:libre2.so.9", "-lstdc++")
        wheel = self.here / self.call(*self.make("0.1.0")).strip()
        with zipfile.ZipFile(wheel) as archive:
            (library,) = (name for name in archive.namelist() if ".libs/" in name)
            self.assertEqual(library, "coldtrace.libs/libre2.so.9")
            self.assertIn(archive.read(library), [path.read_bytes() for path in Path("/usr/lib").glob("*/libre2.so.9")])
            information = "coldtrace-0.1.0.dist-info"
            self.assertEqual(archive.read(f"{information}/licences/libre2-9"), Path("/usr/share/doc/libre2-9/copyright").read_bytes())
            self.assertEqual(archive.read(f"{information}/licences/own"), b"a licence")
            self.assertIn("\nTag: cp311-cp311-manylinux_2_35_", archive.read(f"{information}/WHEEL").decode())
            for line in archive.read(f"{information}/RECORD").decode().splitlines():
                name, digest, _ = line.split(",")
                if digest:
                    found = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).decode().rstrip("=")
                    self.assertEqual(digest, f"sha256={found}", name)
        self.assertEqual(wheel.name.split("-", 2)[2].rpartition("_x86_64")[0], "cp311-cp311-manylinux_2_35")

    def test_what_needs_a_newer_system_is_no_wheel(self):
        self.build("unsigned arc4random(void); unsigned module(void) { return arc4random(); }")  # since glibc 2.36
        done = subprocess.run([str(part) for part in self.make("0.1.0")], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("manylinux_2_35 does not have GLIBC_2.36", done.stderr)
        self.assertEqual([*self.here.glob("*.whl")], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
