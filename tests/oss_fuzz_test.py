"""fuzz/oss-fuzz/ is what OSS-Fuzz expects of a project, as far as that can be told without its machines: the script
is run with a CMake that compiles nothing.

usage: oss_fuzz_test.py PROJECT [unittest arguments]
"""
import os
import re
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

import yaml

import case

PROJECT = Path(sys.argv[1]).resolve()
FOLDER = PROJECT / "fuzz/oss-fuzz"
TARGETS = {path.name.removesuffix(".cpp"): path for path in (PROJECT / "fuzz").rglob("*_fuzz.cpp")}

# What the build of a target leaves, by fuzz/CMakeLists.txt; its program is one that is there.
CMAKE = """#!/bin/bash
if [[ $1 == -S ]]; then
  echo "$*" >configured
  exit
fi
mkdir -p "$2/fuzz/targets"
for target in "${@:4}"; do
  corpora=("$SRC/coldtrace/fuzz/corpus/${target%_fuzz}")
  [[ -d ${corpora[0]} ]] || corpora=("$SRC/coldtrace/fuzz/corpus/where")
  printf '%s\\n' /bin/ls "${corpora[@]}" >"$2/fuzz/targets/${target%_fuzz}"
done
"""


class OssFuzz(case.Case):
    def test_the_script_leaves_each_target_with_what_it_needs(self):
        for name, text in ("cmake", CMAKE), ("patchelf", "#!/bin/bash\necho \"$*\" >>patched\n"):
            self.write(name, text.encode()).chmod(0o755)
        for folder in ("src", "out", "work"):
            (self.here / folder).mkdir()
        (self.here / "src/coldtrace").symlink_to(PROJECT)
        done = subprocess.run([FOLDER / "build.sh"], cwd=self.here, capture_output=True, timeout=120, env={
            "PATH": f"{self.here}:{os.environ['PATH']}", "SRC": str(self.here / "src"), "OUT": str(self.here / "out"),
            "WORK": str(self.here / "work"), "CXXFLAGS": "-O1 -stdlib=libc++ -fsanitize=address"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        out = self.here / "out"
        self.assertGreater(len(TARGETS), 40)
        self.assertEqual({path.name for path in out.iterdir()},
                         {"lib"} | {target + end for target in TARGETS for end in ("", ".options", "_seed_corpus.zip")})
        needed = re.findall(r"=> /\S*/(\S+)", subprocess.run(["ldd", "/bin/ls"], capture_output=True, text=True).stdout)
        self.assertEqual({path.name for path in (out / "lib").iterdir()}, {name for name in needed if name != "libc.so.6"})
        for target in TARGETS:
            seeds = zipfile.ZipFile(out / f"{target}_seed_corpus.zip").namelist()
            self.assertTrue([name for name in seeds if not name.endswith("/")], target)
            self.assertTrue(os.access(out / target, os.X_OK))
        self.assertEqual((self.here / "patched").read_text().count("$ORIGIN/lib"), len(TARGETS))
        options = re.findall(r"-D(COLDTRACE_\w+)=", (self.here / "configured").read_text())
        declared = (PROJECT / "CMakeLists.txt").read_text()
        for option in options:
            self.assertRegex(declared, rf"option\({option}\b")

    def test_the_image_has_what_a_build_needs(self):
        file = (FOLDER / "Dockerfile").read_text()
        scripts = (PROJECT / "scripts/lib/packages.bash").read_text()
        needed = set(re.search(r"product_packages=\((.*?)\)", scripts, re.S)[1].split())
        self.assertLessEqual(needed, set(file.replace("\\\n", " ").split()))
        project = yaml.safe_load((FOLDER / "project.yaml").read_text())
        self.assertEqual((project["language"], project["fuzzing_engines"]), ("c++", ["libfuzzer"]))
        self.assertIn(f"base-builder:{project['base_os_version']}", file)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
