"""Code of two machines: what machine, CHPE metadata and dynamic relocations say, and that they never contradict each other
without a word. llvm-readobj reads machine and metadata.

usage: hybrid_test.py COLDTRACE READOBJ [unittest arguments]
"""
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from strict import strict_json
from table_image import FIRST, table_image

COLDTRACE = Path(sys.argv[1]).resolve()
READOBJ = sys.argv[2]
X64, ARM64, ARM64EC, ARM64X, ARM = 0x8664, 0xaa64, 0xa641, 0xa64e, 0x1c4
METADATA = 0x180001800


def load_config(metadata, relocations, version=1):
    """Directory 10 of 0x140 bytes; behind it dynamic relocations, of these symbols without places."""
    def write(rva):
        config = bytearray(0x140)
        struct.pack_into("<I", config, 0, len(config))
        struct.pack_into("<Q", config, 200, metadata)
        table = b""
        if relocations is not None:
            struct.pack_into("<IH", config, 224, rva - FIRST + len(config), 1)
            table = b"".join(struct.pack("<QI", symbol, 0) for symbol in relocations)
            table = struct.pack("<II", version, len(table)) + table
        return bytes(config) + table, len(config)
    return write


class Hybrids(case.Case):
    def read(self, machine, config=None):
        path = self.write("one.dll", table_image({10: config} if config else {}, machine))
        done = subprocess.run([COLDTRACE, "pe", "info", "--format", "json", path], capture_output=True, timeout=120)
        (image,) = strict_json(done.stdout)["images"]
        findings = {one["code"]: one for one in image["findings"]}
        self.assertEqual(done.returncode, int("hybrid-machine" in findings), image["findings"])
        if case.installed(self, READOBJ):
            told = subprocess.run([READOBJ, "--file-headers", "--coff-load-config", path], capture_output=True).stdout.decode()
            self.assertRegex(re.search(r"Machine: .*", told)[0], rf"\b0x{machine:X}\b")
            if config:
                self.assertEqual(int(re.search(r"CHPEMetadataPointer: (\w+)", told)[1], 16),
                                 image["load_config"]["chpe_metadata"])
        return image, findings

    def test_what_agrees_is_no_contradiction(self):
        for machine, metadata, relocations, hybrid in ((X64, 0, None, "none"), (ARM64, 0, None, "none"), (X64, 0, [3], "none"),
                                                       (X64, METADATA, None, "arm64ec"), (ARM64, METADATA, [6], "arm64x"),
                                                       (ARM64, METADATA, [3, 6], "arm64x")):
            with self.subTest(machine=hex(machine), metadata=hex(metadata), relocations=relocations):
                image, findings = self.read(machine, load_config(metadata, relocations))
                self.assertEqual(image["hybrid"], hybrid)
                self.assertNotIn("hybrid-machine", findings)
                self.assertEqual("arm64x" in findings, hybrid != "none")

    def test_a_machine_that_contradicts_is_told_with_the_evidence(self):
        for machine, metadata, relocations, hybrid in (
                (ARM64X, METADATA, [6], "arm64x"), (ARM64EC, METADATA, None, "arm64ec"), (ARM, METADATA, [6], "none"),
                (0x1234, METADATA, [6], "none"), (X64, METADATA, [6], "arm64ec"), (X64, 0, [6], "none"),
                (ARM64, 0, [6], "none"), (ARM64X, 0, None, "none")):
            with self.subTest(machine=hex(machine), metadata=hex(metadata), relocations=relocations):
                image, findings = self.read(machine, load_config(metadata, relocations))
                self.assertEqual(image["hybrid"], hybrid)
                told = findings["hybrid-machine"]
                self.assertEqual(told["severity"], "warning")
                self.assertEqual(told["text"].count(f"{machine:#06x}"), 1)
                self.assertIn(f"CHPE metadata at {metadata:#x}" if metadata else "no CHPE metadata", told["text"])
                self.assertIn("dynamic relocations of ARM64X", told["text"])
                self.assertEqual("no dynamic relocations" in told["text"], relocations is None)

    def test_a_machine_of_objects_is_told_without_a_load_configuration(self):
        for machine in (ARM64X, ARM64EC):
            image, findings = self.read(machine)
            self.assertEqual(image["hybrid"], "none")
            told = findings["hybrid-machine"]
            self.assertIn("is one for objects, not for images: no CHPE metadata, no dynamic relocations of ARM64X",
                          told["text"])
            self.assertIsNone(told["first_offset"])

    def test_relocations_that_cannot_be_read_are_not_absent(self):
        for version, unread in ((1, False), (9, True)):
            _, findings = self.read(ARM64, load_config(METADATA, [6], version))
            self.assertEqual("dynamic relocations that are not read: " in findings["arm64x"]["text"], unread)
            self.assertEqual("no dynamic relocations of ARM64X" in findings["arm64x"]["text"], unread)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
