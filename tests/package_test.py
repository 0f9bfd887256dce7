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
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import case

COLDTRACE, PROJECT, BUILD = (Path(argument).resolve() for argument in sys.argv[1:4])
del sys.argv[1:4]


words = case.Program(COLDTRACE).tree  # all commands and groups


class Package(case.Case):
    def setUp(self):
        super().setUp()
        if not (shutil.which("dh_python3") and (PROJECT / ".git").exists()):
            raise unittest.SkipTest("no debhelper with dh-python, or no history")

    def pack(self, name, umask):
        # Not compressed: that would take ten times the rest.
        done = subprocess.run([PROJECT / "scripts/package", BUILD, self.here / name], umask=umask,
                              capture_output=True, timeout=500,
                              env={**os.environ, "DPKG_DEB_COMPRESSOR_LEVEL": "0",
                                   "COLDTRACE_XZ_LEVEL": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return {re.match("[a-z0-9]+(-[a-z]+)?", path.name)[0] + path.suffix: path
                for path in map(Path, done.stdout.decode().splitlines())}

    def unpack(self, package):
        root = self.here / package.name.split("_")[0]
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        return root

    def test_the_script_installs_what_it_needs_from_lists_that_there_are(self):
        named = set(re.findall(r"\$\{(\w+_packages)\[@\]\}", (PROJECT / "scripts/package").read_text()))
        self.assertEqual(named, {"product_packages", "static_packages", "python_packages"})
        for name in named:
            done = subprocess.run(["bash", "-c", f'source scripts/lib/packages.bash; echo "${{{name}[@]}}"'], cwd=PROJECT,
                                  capture_output=True, check=True)
            self.assertTrue(done.stdout.split(), name)

    def test_wheels_are_of_other_pythons_than_debians(self):
        """Two interpreters of one version, as one of pyenv is, would make wheels of one name."""
        python = 'exec /usr/bin/python3 -c "import sysconfig; sysconfig.get_config_vars().update({}); $2"'
        headers = self.here / "include/python{}.{}".format(*sys.version_info)
        headers.mkdir(parents=True)
        (headers / "Python.h").touch()
        there = f"installed_base='{self.here}'"
        for name, changed in (("python3.90", f"SOABI='cpython-390', {there}"), ("python3.91", f"SOABI='cpython-390', {there}"),
                              ("python3.92", there), ("python3.93", "SOABI='cpython-393', installed_base='/nowhere'"),
                              ("python3.94", "no Python")):
            self.write(name, f"#!/bin/sh\n{python.format(changed)}\n".encode()).chmod(0o755)
        ask = "source scripts/lib/pythons.bash; other_pythons"

        def found(**given):
            return subprocess.run(["bash", "-c", ask], cwd=PROJECT, capture_output=True, text=True, check=True,
                                  env={"PATH": f"{self.here}:/usr/bin:/bin", **given}).stdout

        self.assertEqual(found(), str(self.here / "python3.90"))
        self.assertEqual(found(COLDTRACE_PYTHONS="python3.92 python3.91"), str(self.here / "python3.91"))
        self.assertEqual(found(COLDTRACE_PYTHONS=""), "")

    def test_they_are_the_same_each_time_and_the_program_runs(self):
        packages, again = self.pack("one", 0o022), self.pack("two", 0o077)
        self.assertLessEqual({"coldtrace.deb", "libcoldtrace-dev.deb"}, set(packages))
        self.assertEqual(set(packages), set(again))
        sums = {}
        for name, package in packages.items():
            content = package.read_bytes()
            self.assertTrue(content == again[name].read_bytes(), f"two packages {name} of one build differ")
            sums[package.name] = hashlib.sha256(content).hexdigest()
        package = packages["coldtrace.deb"]
        said = [line.split() for line in (package.parent / "SHA256SUMS").read_text().splitlines()]
        self.assertEqual({name: digest for digest, name in said}, sums)
        root = self.unpack(package)

        program = root / "usr/bin/coldtrace"
        for arguments in (["--version"], ["help", "pe"],
                          ["pe", "info", "--format", "json", PROJECT / "fuzz/corpus/pe_image/x64"]):
            said = [subprocess.run([each, *arguments], capture_output=True, env={}).stdout
                    for each in (program, COLDTRACE)]
            self.assertEqual(said[0], said[1])
            self.assertTrue(said[0])
        self.assertEqual((root / "usr/libexec/coldtrace/coldtrace-pe-details").exists(),
                         (BUILD / "libexec/coldtrace/coldtrace-pe-details").exists())

        documents = root / "usr/share/doc/coldtrace"
        for folder, top, names in (("docs", PROJECT / "docs", "*"), ("examples", BUILD / "demo", "demo-*")):
            files = [path for path in top.rglob(names) if path.is_file()]
            self.assertGreater(len(files), 4)
            for path in files:
                self.assertEqual((documents / folder / path.relative_to(top)).read_bytes(), path.read_bytes())
        # Nothing that they link to is missing, but for what is about the sources.
        for page in (documents / "docs").rglob("*.md"):
            for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
                if not (page.parent / link).exists():
                    self.assertIn(Path(os.path.normpath(page.parent / link)).relative_to(documents).parts[0],
                                  {"README.md", "CONTRIBUTING.md", "SECURITY.md", "fuzz"}, (page.name, link))

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
        debs = [path for name, path in packages.items() if name.endswith(".deb")]
        if case.installed(self, "lintian"):
            self.check_debs(debs, b"".join(pages.values()))
        if "libcoldtrace-dev.deb" in packages:
            self.check_libraries(packages["libcoldtrace-dev.deb"])
        if "python3-coldtrace.deb" in packages:
            self.check_module(packages["python3-coldtrace.deb"], packages["coldtrace.whl"])

    def check_debs(self, debs, pages):
        """lintian has nothing to say, nor man of the manual pages: it is given all at once, since lintian starts it for
        each, which takes most of its time."""
        (self.here / "bin").mkdir()
        self.write("bin/man", b"#!/bin/sh\n").chmod(0o755)
        done = subprocess.run(["lintian", "--allow-root", *debs], capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.here / 'bin'}:{os.environ['PATH']}"})
        self.assertEqual(done.stdout, "")
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", self.write("pages.1", pages)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "120"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def check_libraries(self, package):
        """Who builds against them has what their headers include, and the licences of what is in them."""
        root = self.unpack(package)
        headers = b"".join(path.read_bytes() for path in (root / "usr/include").rglob("*.hpp"))
        needed = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True).stdout
        for folder, library in ((b"boost", b"libboost-dev"), (b"fmt", b"libfmt-dev"), (b"tl", b"libexpected-dev")):
            self.assertEqual(b"#include <" + folder + b"/" in headers, library in needed, library)
        licences = root / "usr/share/doc/libcoldtrace-dev/licences"
        self.assertEqual({path.name for path in licences.iterdir()}, {"libboost-dev", "libexpected-dev", "libfmt-dev"})

    def check_module(self, package, wheel):
        """Both have the module, with its types, and it is imported from where they put it."""
        root = self.unpack(package) / "usr/lib/python3/dist-packages"
        modules = self.here / "wheel"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(modules)
        binary, = (path.name for path in (root / "coldtrace").glob("*.so"))
        names = {path.name: path.read_bytes() for path in (root / "coldtrace").iterdir()}
        self.assertLessEqual({"__init__.py", "_coldtrace.pyi", "py.typed"}, set(names))
        found = {path.name: path.read_bytes() for path in (modules / "coldtrace").iterdir()}
        self.assertEqual(found.keys(), names.keys())
        self.assertEqual({name for name in names if found[name] != names[name]}, {binary})  # it is linked otherwise
        self.check_libraries_of_wheel(modules, binary)
        information, = modules.glob("*.dist-info")
        self.assertEqual((information / "LICENSE").read_bytes(), (PROJECT / "LICENSE").read_bytes())
        texts = {path.name: path.read_bytes() for path in (information / "licences").iterdir()}
        licences = {path.name: path.read_bytes() for path in (self.unpack(package) / "usr/share/doc/python3-coldtrace/licences").iterdir()}
        self.assertEqual({name: text for name, text in texts.items() if name in licences}, licences)
        self.assertGreater(len(licences), 3)
        # Those that Debian's package needs of others are in the wheel, but for the C library and that of C++.
        depends = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, check=True).stdout.decode()
        needed = set(re.findall(r"\blib[a-z0-9.+-]+", depends)) - {"libc6", "libgcc-s1", "libstdc++6"}
        self.assertIn("libre2-9", needed)
        self.assertEqual(texts.keys() - licences.keys(), needed)
        for folder in root, modules:
            done = subprocess.run(["/usr/bin/python3", "-c", "import coldtrace; print(coldtrace.__version__)"],
                                  capture_output=True, env={"PYTHONPATH": str(folder)})
            self.assertRegex(done.stdout.decode(), r"^\d+\.\d+\.\d+\n$", done.stderr)

    def check_libraries_of_wheel(self, modules, binary):
        """The module finds its own libraries beside it, and needs no others than PEP 600 has for all."""
        own = {path.name for path in (modules / "coldtrace.libs").iterdir()}
        for path in modules / "coldtrace" / binary, *(modules / "coldtrace.libs").iterdir():
            said = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
            self.assertLessEqual(set(re.findall(r"NEEDED.*\[(.*)\]", said)) - own,
                                 {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2"})
        loaded = subprocess.run(["/usr/bin/python3", "-c", "import coldtrace; print(open('/proc/self/maps').read())"],
                                capture_output=True, text=True, env={"PYTHONPATH": str(modules)}).stdout
        for name in own:
            self.assertEqual(set(re.findall(rf"\S+/{re.escape(name)}$", loaded, re.M)), {str(modules / "coldtrace.libs" / name)})


if __name__ == "__main__":
    unittest.main()
