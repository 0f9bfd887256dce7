"""A wheel is called what the Debian packages of the same commit are: its version is before and after the same others.

usage: wheel_test.py SOURCES [unittest arguments]
"""
import itertools
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from case import Case  # noqa: E402

SOURCES = Path(sys.argv[1]).resolve()
# Of scripts/package, in Debian's order.
VERSIONS = ("0.1.0~git202611280844.f00000000000", "0.1.0~git202611280845.012345678901", "0.1.0", "0.1.1~git202612010000.0a0000000000",
            "0.1.1")


class Wheel(Case):
    def wheel_of(self, version):
        """The name and version that a wheel has, as scripts/lib/package.bash asks for it."""
        module = self.here / "built/coldtrace"
        module.mkdir(parents=True, exist_ok=True)
        (module / "_coldtrace.cpython-311-x86_64-linux-gnu.so").touch()
        (self.here / "licences").mkdir(exist_ok=True)
        name = self.call("env", "SOURCE_DATE_EPOCH=1700000000", sys.executable, SOURCES / "python/make_wheel.py", module.parent,
                         self.here, version.split("~")[0], version.split("~")[-1], SOURCES / "LICENSE", self.here / "licences").strip()
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
