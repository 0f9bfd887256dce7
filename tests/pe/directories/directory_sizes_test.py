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
from table_image import import_table, table_image  # noqa: E402

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

    def test_tls_of_no_size_is_read_as_with_one(self):
        def tls(rva):
            at = 0x180000000 + rva
            return struct.pack("<4Q2I3Q", at, at + 8, at + 16, at + 40, 24, 0, at + 4, at + 5, 0), 40
        image = bytearray(table_image({9: tls}))
        answers = []
        with tempfile.NamedTemporaryFile() as file:
            for size in (40, 0):
                struct.pack_into("<I", image, 64 + 24 + 112 + 8 * 9 + 4, size)
                file.seek(0)
                file.write(image)
                file.flush()
                answers.append(ask("info", file.name)["tls"])
        at = 0x180001000
        self.assertEqual(answers, [{"raw_data_start": at, "raw_data_end": at + 8, "index_address": at + 16, "callbacks_address": at + 40,
                                    "zero_fill_size": 24, "characteristics": 0, "callbacks": [at + 4, at + 5]}] * 2)


class Lookups(Case):
    """What leads to the lookup table in files of Borland's linkers and of packers, for which the loader takes the slots."""

    def test_a_lookup_table_in_the_headers_or_behind_the_image_is_none(self):
        names = (b"GetProcAddress", b"LoadLibraryA")
        image = bytearray(table_image({1: import_table(b"kernel32.dll", names)}))
        for place in (1, 0x11, 0x1f8, 0x2000, 0x7fffffff, 0xffffffff):
            with self.subTest(place=hex(place)), tempfile.NamedTemporaryFile() as file:
                struct.pack_into("<I", image, 0x200, place)
                file.write(image)
                file.flush()
                answer = ask("imports", file.name)
                self.assertEqual([row["name"] for row in answer["modules"][0]["functions"]], [name.decode() for name in names])
                self.assertEqual(answer["findings"], [])
                self.assertEqual(ask("info", file.name)["counts"]["imports"], 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=1)
