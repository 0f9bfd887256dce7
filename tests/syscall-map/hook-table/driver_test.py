"""The reader of hook tables as drivers compile it, and the sample driver.

usage: driver_test.py COLDTRACE IMAGES SOURCES CLANG GCC_I686 GCC_X86_64 [unittest arguments]
Compilers that are not installed are skipped.
"""
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from strict import strict_json

COLDTRACE, IMAGES, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:4])
CLANG, *MINGW = sys.argv[4:7]
READER = SOURCES / "fixtures" / "driver" / "reader.c"
INCLUDE = SOURCES / "syscall-map" / "include"


class Reader(case.Case):
    def compiles(self, compiler, *options):
        if "NOTFOUND" in compiler:
            raise unittest.SkipTest(f"no {compiler}")
        # By its name alone: in cl's mode an absolute path looks like an option.
        done = subprocess.run([compiler, *options, READER.name], cwd=READER.parent,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")

    def test_mingw_takes_it_as_freestanding_c89(self):
        for compiler in MINGW:
            for level in ("-O0", "-O2"):
                with self.subTest(compiler=compiler, level=level):
                    self.compiles(compiler, "-std=c89", "-pedantic", "-ffreestanding", "-Wall",
                                  "-Wextra", "-Wconversion", "-Wshadow", "-Werror", level, f"-I{INCLUDE}",
                                  "-c", "-o", str(self.here / "reader.o"))

    def test_it_goes_with_the_trace_writer_in_one_source(self):
        writer = SOURCES / "tracefile" / "include"
        source = self.write("both.c", b"#include <coldtrace/hook_table.h>\n"
                                      b"#include <coldtrace/trace_writer.h>\n"
                                      b"int both(void);\nint both(void) { return 0; }\n")
        for compiler in (*MINGW, CLANG):
            if not case.installed(self, compiler):
                continue
            with self.subTest(compiler=compiler):
                done = subprocess.run([compiler, "-std=c89", "-pedantic", "-ffreestanding", "-Wall",
                                       "-Wextra", "-Werror", f"-I{INCLUDE}", f"-I{writer}",
                                       "-fsyntax-only", source],
                                      capture_output=True, text=True, timeout=120)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_clang_takes_it_as_cl_would(self):
        for target in ("i686", "x86_64", "aarch64"):
            with self.subTest(target=target):
                self.compiles(CLANG, "--driver-mode=cl", f"--target={target}-windows-msvc", "/W4",
                              "/WX", "/c", f"/I{INCLUDE}", f"/Fo{self.here / 'reader.obj'}", "/TC")
                self.compiles(CLANG, "--driver-mode=cl", f"--target={target}-windows-msvc", "/W4",
                              "/WX", "/c", f"/I{INCLUDE}", f"/Fo{self.here / 'reader.obj'}", "/TP")

    def test_clang_has_nothing_at_all_to_say(self):
        self.compiles(CLANG, "-std=c89", "-Weverything", "-Wno-padded", "-Werror",
                      "-ffreestanding", "-fsyntax-only", f"-I{INCLUDE}")


class Driver(case.Case):
    def imports(self, processor):
        path = IMAGES / f"driver-{processor}" / "driver.sys"
        if not path.exists():
            raise unittest.SkipTest(f"no compiler built {path.parent.name}")
        done = subprocess.run([COLDTRACE, "pe", "imports", "--format", "json", path],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return strict_json(done.stdout)["images"][0]

    def test_the_driver_imports_the_kernel_and_nothing_else(self):
        for processor in ("i686", "x86_64"):
            with self.subTest(processor=processor):
                modules = self.imports(processor)["modules"]
                self.assertEqual([module["name"] for module in modules], ["ntoskrnl.exe"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[7:]])
