"""The loader takes directories by their address alone, and so does llvm-readobj: a size of zero hides nothing.

usage: directory_sizes_test.py COLDTRACE IMAGES [unittest arguments]
"""
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from case import Case  # noqa: E402

COLDTRACE, IMAGES = (Path(argument).resolve() for argument in sys.argv[1:3])
SIZED = (0, 1, 2)  # exports, imports, resources; llvm-readobj needs that of delay-loaded imports


def ask(command, path):
    done = subprocess.run([COLDTRACE, "pe", command, "--format", "json", "-q", "--no-hash", path], capture_output=True, timeout=60)
    return json.loads(done.stdout)["images"][0]


def without_sizes(path):
    data = bytearray(path.read_bytes())
    header, = struct.unpack_from("<I", data, 0x3c)
    wide = struct.unpack_from("<H", data, header + 24)[0] == 0x20b
    for index in SIZED:
        struct.pack_into("<I", data, header + 24 + (112 if wide else 96) + 8 * index + 4, 0)
    return data


class Sizes(Case):
    def test_directories_of_no_size_are_read_as_llvm_reads_them(self):
        readobj = next(filter(None, map(shutil.which, ("llvm-readobj-14", "llvm-readobj"))), None)
        images = sorted(IMAGES.glob("reader-*/reader.dll"))
        if not readobj or not images:
            self.skipTest("no llvm-readobj, or no images")
        for path in images:
            with self.subTest(path.parent.name), tempfile.NamedTemporaryFile() as file:
                file.write(without_sizes(path))
                file.flush()
                listed = subprocess.run([readobj, "--coff-exports", "--coff-imports", "--coff-resources", file.name],
                                        capture_output=True, timeout=60).stdout.decode()
                exports = re.findall(r"Ordinal: (\d+)\n  Name: (.*)\n  RVA: 0x([1-9A-F][0-9A-F]*)", listed)
                mine = {}
                for row in ask("exports", file.name)["exports"]:  # llvm-readobj has one name of each
                    mine.setdefault(row["ordinal"], (row["name"] or "", row["rva"]))
                self.assertEqual(mine, {int(ordinal): (name, int(rva, 16)) for ordinal, name, rva in exports})
                modules = [(module["name"], len(module["functions"]), module["delayed"]) for module in ask("imports", file.name)["modules"]]
                blocks = re.findall(r"^(Delay)?Import \{\n  Name: (.*)\n((?:  .*\n)*)\}", listed, re.M)
                self.assertEqual(modules, [(name, block.count("Symbol: "), bool(delayed)) for delayed, name, block in blocks])
                self.assertTrue("mingw" in path.parent.name or any(delayed for *_, delayed in modules))
                info = ask("info", file.name)
                self.assertEqual(info["findings"], ask("info", path)["findings"])
                self.assertEqual([row["rva"] for row in info["resources"]],
                                 [int(rva, 16) for rva in re.findall(r"DataRVA: 0x([0-9A-F]+)", listed)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=1)
