"""The examples are what a user of the installed libraries writes: built with CMake and by
pkg-config, they say what the program says.

usage: examples_test.py COLDTRACE BUILD SOURCES CMAKE CXX [unittest arguments]
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import uuid
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from case import installed
from cli.driver import hive_writer
from cli.trace.etl_writer import EtlWriter

COLDTRACE, BUILD, SOURCES, CMAKE, CXX = sys.argv[1:6]
BUILD, SOURCES = Path(BUILD), Path(SOURCES)
DEMO = BUILD / "demo"
MANIFEST = SOURCES / "tests/cli/trace/schemas/painter.man"
LIBRARIES = {
    "list_files": "ntfs",
    "list_exports": "pe",
    "list_drivers": "registry",
    "list_services": "syscall-map",
    "make_hook_table": "syscall-map",
    "count_events": "tracefile",
    "list_children": "trace_analysis",
    "list_providers": "schema_files",
    "decode_event": "schema_files",
    "trace_processes": "tracefile",
}
PAINTER = uuid.UUID("aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e011")


def painted(number):
    """An event of that provider, EVENT_HEADER by Windows SDK evntcons.h and UserData, in hex."""
    header = struct.pack("<HHHHIIQ16sHBBBBHQII16x", 80, 0, 0x40, 0, 1, 2, 3, PAINTER.bytes_le, number, 0, 0, 4, 0, 0, 0, 0, 0)
    return header.hex(), (struct.pack("<II", 2, 0xd) + "the hall".encode("utf-16-le") + b"\0\0").hex()


# What each is run with, once built by pkg-config; others with the demo's kernel.
ARGUMENTS = {
    "list_files": [DEMO / "demo-disk.img"],
    "count_events": [DEMO / "demo-trace.etl"],
    "list_children": [DEMO / "demo-trace.etl"],
    "list_providers": [MANIFEST],
    "decode_event": [MANIFEST, *painted(1)],
}


def run(*command, statuses=(0,), **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode not in statuses:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def status(*command):
    return subprocess.run([str(part) for part in command], capture_output=True).returncode


def asked(*command):
    """What the program says in JSON."""
    return json.loads(run(COLDTRACE, *command, "--format", "json", statuses=(0, 1)))


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = TemporaryDirectory(prefix="coldtrace-examples-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.here = Path(cls.folder.name)
        # The prefix moves after installation: nothing in it may name the place.
        if shutil.which("dh_python3") and (SOURCES / ".git").exists():
            package = run(SOURCES / "scripts/package", BUILD, cls.here, "libraries",
                          env={**os.environ, "DPKG_DEB_COMPRESSOR_LEVEL": "0"}).strip()
            run("dpkg-deb", "-x", package, cls.here / "package")
            cls.prefix = cls.here / "package/usr"
        else:
            run(CMAKE, "--install", BUILD, "--prefix", cls.here / "first", "--component", "libraries")
            cls.prefix = cls.here / "prefix"
            shutil.move(cls.here / "first", cls.prefix)
        run(CMAKE, "-S", SOURCES / "examples", "-B", cls.here / "built", "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={cls.prefix}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror -O0")
        run(CMAKE, "--build", cls.here / "built")

    def example(self, name, *arguments, statuses=(0, 1)):
        return run(self.here / "built" / name, *arguments, statuses=statuses).splitlines()

    def test_each_is_short(self):
        for name in LIBRARIES:
            lines = (SOURCES / "examples" / f"{name}.cpp").read_text().splitlines()
            self.assertLessEqual(len(lines), 30, name)

    def test_each_library_has_one(self):
        listed = re.search(r"^set\(coldtrace_libraries ([^)]*)\)", (SOURCES / "CMakeLists.txt").read_text(), re.M)[1]
        others = {"trace_analysis"}  # a part of tracefile
        self.assertEqual({library.replace("_", "-") for library in set(LIBRARIES.values()) - others},
                         set(listed.split()) - {"core"})  # which all of them use
        self.assertEqual({path.stem for path in (SOURCES / "examples").glob("*.cpp")}, set(LIBRARIES))

    def test_files(self):
        disk = DEMO / "demo-disk.img"
        rows = run(COLDTRACE, "ntfs", "snapshot", disk, "--format", "ndjson", "--state", "live",
                   statuses=(0, 1))
        expected = []
        for row in map(json.loads, rows.splitlines()):
            for stream in row.get("streams", []):
                if not stream.get("name") and stream.get("size") is not None:
                    expected.append(f"{stream['size']:12} {row['path']}")
        self.assertGreater(len(expected), 3)
        self.assertEqual(self.example("list_files", disk), expected)

    def test_exports(self):
        image = DEMO / "demo-ntdll.dll"
        document = asked("pe", "exports", image)["images"][0]
        expected = [f"{row['ordinal']:5} {row['rva']:#010x} {row['name']}"
                    for row in document["exports"]]
        lines = self.example("list_exports", image)
        self.assertGreater(len(expected), 50)
        self.assertEqual(lines[1:], expected)
        pdb = document["identity"]["pdb"]
        key = pdb["guid"].replace("-", "").upper() + f"{pdb['age']:X}"
        self.assertEqual(lines[0], f"{pdb['name']}/{key}/{pdb['name']}")

    def test_services(self):
        for name in ("demo-ntdll.dll", "demo-ntoskrnl.exe"):
            document = asked("syscalls", "map", DEMO / name)["images"][0]
            expected = [f"{row['number']:#06x} {row['name']}" for row in document["services"]]
            self.assertGreater(len(expected), 20)
            self.assertEqual(self.example("list_services", DEMO / name), expected)

    def test_hook_table(self):
        kernel = DEMO / "demo-ntoskrnl.exe"
        image = asked("syscalls", "map", kernel)["images"][0]
        (line,) = self.example("make_hook_table", kernel)
        stamp = image["identity"]["time_date_stamp"]
        self.assertIn(f", {stamp:#x}: {len(image['services'])} services, ", line)

    def test_events(self):
        trace = DEMO / "demo-trace.etl"
        events = run(COLDTRACE, "trace", "decode", trace, "--format", "ndjson", statuses=(0, 1))
        counted = Counter(
            event["provider"]["name"] or event["provider"]["guid"]
            for event in map(json.loads, events.splitlines())
            if event["type"] == "event"
        )
        expected = [f"{count:10} {name}" for name, count in sorted(counted.items())]
        self.assertEqual(self.example("count_events", trace), expected)

    def test_children(self):
        trace = self.here / "boot.ctrace"
        run(COLDTRACE, "trace", "synthesize", "boot", "-o", trace)
        rows = asked("trace", "tree", trace)["processes"]
        children = Counter(row["parent"] for row in rows if row["parent"] is not None)
        expected = [f"{row['pid']:6} {children[row['id']]:4} {row['image_name'] or ''}"
                    for row in rows]
        self.assertGreater(max(children.values()), 1)
        self.assertEqual(self.example("list_children", trace), expected)

    def test_providers(self):
        rows = asked("trace", "schemas", "list", "--schemas", MANIFEST)["providers"]
        expected = [f"{row['events']:6} {row['guid']} {row['name']}" for row in rows]
        self.assertEqual(len(expected), 2)
        self.assertEqual(sorted(self.example("list_providers", MANIFEST)), sorted(expected))

    def test_drivers(self):
        hive = self.hive()
        self.assertEqual(self.example("list_drivers", hive, statuses=(0,)),
                         ["0 disk \\SystemRoot\\disk.sys", "3 tracer "])

    def hive(self):
        services = {"disk": {"Start": 0, "ImagePath": "\\SystemRoot\\disk.sys"}, "tracer": {"Start": 3}, "group": {}}
        path = self.here / "SYSTEM"
        path.write_bytes(hive_writer.Hive({"ControlSet001": {"Services": services}}).data)
        return path

    def started(self):
        writer = EtlWriter()
        writer.process(0, 10, 4, "System")  # there already
        writer.process(0, 20, 4711, "first.exe", hook=0x0301)
        writer.process(0, 30, 815, "second.exe", hook=0x0301)
        trace = self.here / "started.etl"
        trace.write_bytes(writer.build())
        return trace

    def test_processes(self):
        self.assertEqual(self.example("trace_processes", self.started()), ["  4711 first.exe", "   815 second.exe"])

    def test_an_event_of_a_callback(self):
        """Schemas of a store that is opened for it, and of a manifest."""
        store = self.here / "painter.ctschemas"
        run(COLDTRACE, "trace", "schemas", "build", MANIFEST, "-o", store)
        program = self.here / "built/decode_event"
        header, payload = painted(1)
        for source in (store, MANIFEST):
            self.assertEqual(run(program, source, header, payload).splitlines(),
                             ["Manifest-Painter Paint/Brush", "Colour=2 Blue", "Sides=0xd Left|Right|0x8",
                              "Where=the hall"])
        self.assertEqual([status(program, *arguments) for arguments in
                          ((store, painted(999)[0], ""), (store, header, payload + "00"),
                           (store, header[2:], ""), (DEMO / "demo-trace.etl", header, ""))], [1, 1, 2, 2])

    def test_statuses(self):
        disk, trace = DEMO / "demo-disk.img", DEMO / "demo-trace.etl"
        image = DEMO / "demo-ntdll.dll"
        commands = {"list_files": ("ntfs", "snapshot"), "count_events": ("trace", "decode"),
                    "list_exports": ("pe", "exports"), "list_services": ("syscalls", "map")}
        seen = set()
        for name, whole in (("list_files", disk), ("count_events", trace), ("list_exports", image),
                            ("list_services", image)):
            bytes_ = whole.read_bytes()
            cut = self.here / f"cut-{whole.name}"
            cut.write_bytes(bytes_[:len(bytes_) // 8 * 7])
            empty = self.here / "empty"
            empty.write_bytes(b"")
            for path in (whole, cut, empty):
                with self.subTest(name=name, path=path.name):
                    expected = status(COLDTRACE, *commands[name], path)
                    self.assertEqual(status(self.here / "built" / name, path), expected)
                    seen.add(expected)
        self.assertEqual(seen, {0, 1, 2})

    def test_packages_whose_headers_are_included_are_named(self):
        """fmt, which is in the libraries and not linked, is found where it is: as a package and by its .pc."""
        own = self.here / "own"
        (own / "fmt").mkdir(parents=True)
        (own / "fmt/fmt-config.cmake").write_text(
            "add_library(fmt::fmt INTERFACE IMPORTED)\n"
            f"set_target_properties(fmt::fmt PROPERTIES INTERFACE_INCLUDE_DIRECTORIES {own}/headers)\n")
        (own / "fmt.pc").write_text(f"Name: fmt\nDescription: own\nVersion: 9\nLibs: -lown\nCflags: -I{own}/headers\n")
        (own / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(own CXX)\n"
            "find_package(coldtrace REQUIRED COMPONENTS pe)\n"
            "file(GENERATE OUTPUT folders CONTENT $<TARGET_PROPERTY:coldtrace::core,INTERFACE_INCLUDE_DIRECTORIES>)\n")
        run(CMAKE, "-S", own, "-B", own / "built", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-Dfmt_DIR={own}/fmt")
        self.assertIn(f"{own}/headers", (own / "built/folders").read_text().split(";"))
        if installed(self, "pkg-config"):
            folder = next(self.prefix.rglob("pkgconfig"))
            paths = {"PKG_CONFIG_PATH": f"{own}:{folder}", "PATH": "/usr/bin:/bin"}
            for library in ("core", "pe", "ntfs", "tracefile"):
                flags = run("pkg-config", "--cflags", "--libs", f"coldtrace-{library}", env=paths).split()
                self.assertIn(f"-I{own}/headers", flags)
                self.assertNotIn("-lown", flags)

    def test_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("no pkg-config here")
        folder = next(self.prefix.rglob("pkgconfig"))
        paths = {"PKG_CONFIG_PATH": str(folder), "PATH": "/usr/bin:/bin"}
        described = {file.stem for file in folder.iterdir()}
        archives = {"coldtrace-" + file.stem.removeprefix("libcoldtrace_")
                    for file in self.prefix.rglob("libcoldtrace_*.a")}
        self.assertEqual({name.replace("_", "-") for name in described},
                         {name.replace("_", "-") for name in archives})
        for name in described:
            run("pkg-config", "--exists", "--print-errors", name, env=paths)
        for library, name in {library: name for name, library in LIBRARIES.items()}.items():  # one of each library
            flags = run("pkg-config", "--cflags", "--libs", f"coldtrace-{library}", env=paths).split()
            program = self.here / f"{name}-by-pkg-config"
            run(CXX, "-std=c++20", SOURCES / "examples" / f"{name}.cpp", "-o", program, *flags)
            made = {"list_drivers": self.hive, "trace_processes": self.started}.get(name)
            arguments = [made()] if made else ARGUMENTS.get(name, [DEMO / "demo-ntoskrnl.exe"])
            self.assertEqual(run(program, *arguments, statuses=(0, 1)).splitlines(),
                             self.example(name, *arguments))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
