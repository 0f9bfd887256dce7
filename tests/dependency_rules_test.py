"""The rules between the libraries see what breaks them, in whatever spelling, and nothing else.

usage: dependency_rules_test.py
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import dependency_rules as rules

# Files as the product has them, and an include of each forbidden kind: where, what, what is said of it.
TREE = {
    "core/text/CMakeLists.txt": "coldtrace_add_room(core SOURCES text.cpp HEADERS text.hpp)",
    "core/text/text.cpp": '#include "coldtrace/core/text.hpp"\n',
    "core/include/coldtrace/core/text.hpp": "#include <string>\n",
    "core/where/CMakeLists.txt": "coldtrace_add_room(where SOURCES where.cpp HEADERS where.hpp)",
    "core/where/where.cpp": '#include "coldtrace/where/where.hpp"\n',
    "core/include/coldtrace/where/where.hpp": '#include "coldtrace/core/text.hpp"\n',
    "ntfs/snapshot/CMakeLists.txt": "coldtrace_add_room(ntfs SOURCES row.cpp HEADERS row.hpp)",
    "ntfs/snapshot/row.cpp": '#include "ntfs/snapshot/names.hpp"\n',
    "ntfs/snapshot/names.hpp": "#pragma once\n#include <ntddk.h>\n",
    "ntfs/include/coldtrace/ntfs/row.hpp": '#include "coldtrace/core/text.hpp"\n',
    "ntfs/volume/CMakeLists.txt": "coldtrace_add_room(ntfs SOURCES volume.cpp)",
    "ntfs/volume/volume.cpp": '#include "ntfs/snapshot/names.hpp"\n',
    "pe/image/CMakeLists.txt": "coldtrace_add_room(pe SOURCES name.cpp)",
    "pe/image/name.cpp": "",
    "pe/image/name.hpp": "",
    "tracefile/etl/CMakeLists.txt": "coldtrace_add_room(tracefile HEADERS event.hpp)",
    "tracefile/include/coldtrace/tracefile/event.hpp": '#include "coldtrace/where/where.hpp"\n',
    "tracefile/control/CMakeLists.txt": "coldtrace_add_room(nt_trace_control SOURCES code.cpp)",
    "tracefile/control/code.cpp": '#include "coldtrace/core/text.hpp"\n',
    "cli/main.cpp": '#include "cli/version.hpp"\n#include "coldtrace/ntfs/row.hpp"\n#include <CLI/App.hpp>\n',
    "cli/version.hpp.in": "",
    "cli/text.hpp": "",
    "python/module.cpp": '#include "coldtrace/ntfs/row.hpp"\n',
    "fixtures/builder.hpp": "",
}
FORGED = (
    ("cli/main.cpp", "<ntfs/snapshot/names.hpp>", "angle"),
    ("cli/main.cpp", '"ntfs/snapshot/names.hpp"', "not public"),
    ("cli/main.cpp", '"../ntfs/snapshot/names.hpp"', "down from the top"),
    ("cli/main.cpp", '"text.hpp"', "from the top"),
    ("cli/main.cpp", '"cli/none.hpp"', "from the top"),
    ("cli/main.cpp", "<cli/none.hpp>", "from the top"),
    ("cli/main.cpp", "<coldtrace/ntfs/none.hpp>", "from the top"),
    ("cli/main.cpp", '"fixtures/builder.hpp"', "not part of the product"),
    ("cli/main.cpp", "MESSAGE", "no name"),
    ("python/module.cpp", '"cli/text.hpp"', "another program"),
    ("ntfs/volume/volume.cpp", "<ntfs/snapshot/names.hpp>", "angle"),
    ("ntfs/volume/volume.cpp", '"/usr/include/a.hpp"', "down from the top"),
    ("ntfs/snapshot/row.cpp", "<pe/image/name.hpp>", "angle"),
    ("ntfs/snapshot/row.cpp", '"pe/image/name.hpp"', "must not include"),
    ("ntfs/snapshot/row.cpp", "<cli/text.hpp>", "angle"),
    ("ntfs/snapshot/row.cpp", '"cli/text.hpp"', "must not include"),
    ("ntfs/snapshot/row.cpp", '"names.hpp"', "from the top"),
    ("ntfs/include/coldtrace/ntfs/row.hpp", "<ntfs/snapshot/names.hpp>", "angle"),
    ("ntfs/include/coldtrace/ntfs/row.hpp", '"ntfs/snapshot/names.hpp"', "a public header"),
    ("core/text/text.cpp", '"coldtrace/where/where.hpp"', "which is of where"),
    ("core/include/coldtrace/core/text.hpp", "<coldtrace/where/where.hpp>", "which is of where"),
    ("tracefile/control/code.cpp", '"coldtrace/tracefile/event.hpp"', "which is of tracefile"),
)

# Code that libraries must not have, and some that they may.
FORGED_CODE = (
    "std::wcerr << x;", "::write(1, x, n);", "write(STDERR_FILENO, x, n);", "fwrite(x, 1, n, stdout);", "fputc(c, stderr);",
    "syslog(1, x);", "std::fputs(x, file);", "fprintf(file, x);", "fmt::print(x);",
    "#  include <iostream>", "#include <cassert>", "assert(x);",
    "__builtin_trap();", "std::abort();", "raise(6);", "return s.at(9);", "map->at(key)", "names().at(key)", "std::stoi(s)",
    "f(x).value()", "std::regex r;", "throw x;", "dynamic_cast<const A&>(b)",
)
SOUND_CODE = (
    "static_assert(x);", "file.write(1, x);", "::write(file_, x, n);", "arena_->at(x)", "entry.error.value()", "x.value_or(0)",
    "out.puts(x);", "dynamic_cast<const A*>(b)", "state.raise(x);", "value(rva)",
)


class Rules(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.project = pathlib.Path(directory.name)
        for file, text in TREE.items():
            self.write(file, text)

    def write(self, file, text):
        (self.project / file).parent.mkdir(parents=True, exist_ok=True)
        (self.project / file).write_text(text)

    def broken(self, file):
        library = file.split("/")[0]
        return list(rules.check_file(self.project / file, library if library in rules.ALLOWED else None, self.project,
                                     rules.parts_of(self.project)))

    def test_includes_as_the_product_has_them(self):
        for file in TREE:
            if not file.endswith(".txt"):
                self.assertEqual(self.broken(file), [])
        self.assertEqual(list(rules.check_cycles(rules.project_includes(self.project))), [])

    def test_each_kind_of_include_that_is_forbidden(self):
        for file, spelled, said in FORGED:
            for directive in "#include ", "  #  include\t", "#include_next ", "#import ":
                with self.subTest(file=file, directive=directive, spelled=spelled):
                    self.write(file, f"{TREE[file]}{directive}{spelled} // {said}\n")
                    found = self.broken(file)
                    self.assertEqual(len(found), 1, found)
                    self.assertIn(said, found[0])
            self.write(file, TREE[file])

    def test_circles(self):
        circle = '#include "ntfs/volume/volume.hpp"\n'
        self.write("ntfs/volume/volume.hpp", "")
        for spelled in circle, circle.replace("#", "#  "), "#include <ntfs/volume/volume.hpp>\n":
            with self.subTest(spelled):
                self.write("ntfs/snapshot/names.hpp", spelled)
                found = list(rules.check_cycles(rules.project_includes(self.project)))
                self.assertEqual(len(found), 2, found)  # of rooms, and of units

    def test_what_libraries_must_not_do(self):
        for code in (*FORGED_CODE, *SOUND_CODE):
            with self.subTest(code):
                self.write("ntfs/snapshot/row.cpp", f"{code}\n")
                found = self.broken("ntfs/snapshot/row.cpp")
                self.assertEqual(bool(found), code in FORGED_CODE, found)


if __name__ == "__main__":
    unittest.main()
