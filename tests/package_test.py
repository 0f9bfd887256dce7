"""scripts/package packs what is built: the same bytes each time, and what is in the package runs.

usage: package_test.py COLDTRACE PROJECT BUILD [unittest arguments]
"""
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import case

COLDTRACE, PROJECT, BUILD = (Path(argument).resolve() for argument in sys.argv[1:4])
del sys.argv[1:4]


def words(*prefix):
    """All commands and groups, as the program's own help lists them."""
    text = subprocess.run([COLDTRACE, *prefix, "--help"], capture_output=True).stdout.decode()
    found = [prefix]
    if "\nCommands:\n" in text:
        rows = text.split("\nCommands:\n")[1].split("\n\n")[0]
        for name in re.findall(r"^  ([a-z][a-z0-9-]*)  ", rows, re.M):
            found += words(*prefix, name)
    return found


class Package(case.Case):
    def setUp(self):
        super().setUp()
        if not (shutil.which("dpkg-shlibdeps") and (PROJECT / ".git").exists()):
            raise unittest.SkipTest("no dpkg-dev, or no history")

    def package(self, name, umask):
        # Not compressed: that would take ten times the rest.
        done = subprocess.run([PROJECT / "scripts/package", BUILD, self.here / name], umask=umask,
                              capture_output=True, timeout=200,
                              env={**os.environ, "DPKG_DEB_COMPRESSOR_LEVEL": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return Path(done.stdout.decode().strip())

    def test_it_is_the_same_each_time_and_runs(self):
        package, again = self.package("one", 0o022), self.package("two", 0o077)
        content = package.read_bytes()
        self.assertTrue(content == again.read_bytes(), "two packages of one build differ")
        self.assertEqual((package.parent / "SHA256SUMS").read_text().split(),
                         [hashlib.sha256(content).hexdigest(), package.name])
        root = self.here / "root"
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)

        program = root / "usr/bin/coldtrace"
        for arguments in (["--version"], ["help", "pe"],
                          ["pe", "info", "--format", "json", PROJECT / "fuzz/corpus/pe_image/x64"]):
            said = [subprocess.run([each, *arguments], capture_output=True, env={}).stdout
                    for each in (program, COLDTRACE)]
            self.assertEqual(said[0], said[1])
            self.assertTrue(said[0])
        self.assertEqual((root / "usr/libexec/coldtrace/coldtrace-pe-details").exists(),
                         (BUILD / "libexec/coldtrace/coldtrace-pe-details").exists())

        pages = {path.name: gzip.decompress(path.read_bytes())
                 for path in (root / "usr/share/man/man1").iterdir()}
        self.assertEqual(set(pages), {"-".join(["coldtrace", *each]) + ".1.gz" for each in words()})
        self.assertTrue(all(b".TH " in page for page in pages.values()))
        for shell, place in (("bash", "bash-completion/completions/coldtrace"),
                             ("zsh", "zsh/vendor-completions/_coldtrace"),
                             ("fish", "fish/vendor_completions.d/coldtrace.fish")):
            expected = subprocess.run([COLDTRACE, "help", "--completion", shell], capture_output=True)
            self.assertEqual((root / "usr/share" / place).read_bytes(), expected.stdout)
        self.assertGreater(len(list((root / "usr/share/doc/coldtrace/licences").iterdir())), 5)

        version = subprocess.run(["dpkg-deb", "-f", package, "Version"], capture_output=True)
        self.assertRegex(version.stdout.decode(), r"^\d+\.\d+\.\d+(~git\d{12}\.[0-9a-f]{12})?\n$")
        if shutil.which("lintian"):
            done = subprocess.run(["lintian", "--allow-root", package], capture_output=True)
            self.assertEqual(done.stdout.decode(), "")


if __name__ == "__main__":
    unittest.main()
