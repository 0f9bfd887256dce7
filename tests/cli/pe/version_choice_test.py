"""Which of several version resources is read, and what is said of the others.

usage: version_choice_test.py COLDTRACE [unittest arguments]
"""
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
from strict import strict_json
from table_image import resource_tree, table_image, version_block

COLDTRACE = Path(sys.argv[1]).resolve()
VERSION, GERMAN, ENGLISH, BRITISH, NEUTRAL = 16, 0x407, 0x409, 0x809, 0


def expected(resources):
    """The ID 1, then the neutral language, English of the United States, the lowest: as KB 169483 has it."""
    order = lambda one: (one[0] != 1, {NEUTRAL: 0, ENGLISH: 1}.get(one[1], 2))
    return min(resources, key=order)


class Versions(case.Case):
    def read(self, resources):
        """Resources are (ID, language, numbers)."""
        tree = resource_tree([(VERSION, name, language, version_block(numbers, [("OriginalFilename", f"{name}-{language:x}.dll")]))
                              for name, language, numbers in resources])
        path = self.write("one.dll", table_image({2: tree}))
        done = subprocess.run([COLDTRACE, "pe", "info", "--format", "json", path], capture_output=True, timeout=120)
        (image,) = strict_json(done.stdout)["images"]
        codes = {one["code"]: one for one in image["findings"] if one["code"].startswith("version-")}
        self.assertEqual(done.returncode, int(any(one["severity"] == "warning" for one in codes.values())), done.stderr)
        self.assertEqual([(one["name"], one["language"]) for one in image["resources"]],
                         [(name, language) for name, language, _ in resources])
        return image, codes

    def test_one_is_read_without_a_word(self):
        for language in (GERMAN, ENGLISH, NEUTRAL):
            image, codes = self.read([(1, language, (1, 2, 3, 4))])
            self.assertEqual((image["identity"]["file_version"], codes), ("1.2.3.4", {}))

    def test_a_last_string_may_count_padding_that_is_not_there(self):
        """csc counts the padding behind each string; the table of strings ends with the last one's NUL."""
        strings = [("CompanyName", "Microsoft Corporation"), ("Assembly Version", "10.0.0.0")]
        block = bytearray(version_block((10, 0, 10586, 0), strings))
        last = block.index("Assembly Version".encode("utf-16-le")) - 6
        length, = struct.unpack_from("<H", block, last)
        self.assertEqual((last + length, length % 4), (len(block), 2))
        for counted, read, codes in ((length, 2, []), (length + 2, 2, []), (length + 4, 1, ["version-node"])):
            with self.subTest(counted=counted):
                struct.pack_into("<H", block, last, counted)
                path = self.write("one.dll", table_image({2: resource_tree([(VERSION, 1, NEUTRAL, bytes(block))])}))
                done = subprocess.run([COLDTRACE, "pe", "info", "--format", "json", "-q", path], capture_output=True, timeout=120)
                (image,) = strict_json(done.stdout)["images"]
                self.assertEqual([(one["key"], one["value"]) for one in image["version"]["strings"]], strings[:read])
                self.assertEqual([one["code"] for one in image["findings"]], codes)
                self.assertEqual(done.returncode, int(bool(codes)))

    def test_the_one_that_windows_takes_is_read(self):
        rows = (
            [(1, GERMAN, (1, 0, 0, 1)), (1, ENGLISH, (1, 0, 0, 2)), (1, BRITISH, (1, 0, 0, 3))],
            [(1, GERMAN, (1, 0, 0, 1)), (1, BRITISH, (1, 0, 0, 3))],
            [(1, NEUTRAL, (1, 0, 0, 4)), (1, ENGLISH, (1, 0, 0, 2))],
            [(1, GERMAN, (1, 0, 0, 1)), (2, NEUTRAL, (9, 0, 0, 1))],
            [(2, GERMAN, (9, 0, 0, 1)), (2, ENGLISH, (9, 0, 0, 2)), (3, NEUTRAL, (9, 0, 0, 3))],
        )
        for resources in rows:
            with self.subTest(resources=resources):
                image, codes = self.read(resources)
                name, language, numbers = expected(resources)
                self.assertEqual(image["identity"]["file_version"], ".".join(map(str, numbers)))
                self.assertEqual(image["version"]["file_version"], ".".join(map(str, numbers)))
                self.assertEqual(image["identity"]["name"], f"{name}-{language:x}.dll")
                told = codes["version-several"]
                self.assertEqual(told["severity"], "warning")
                self.assertIn(f"{len(resources)} version resources, of which ID {name}, language {language:#06x}", told["text"])
                self.assertEqual("version-id" in codes, name != 1)

    def test_translations_are_told_as_information(self):
        image, codes = self.read([(1, GERMAN, (1, 2, 3, 4)), (1, ENGLISH, (1, 2, 3, 4))])
        self.assertEqual(image["identity"]["name"], "1-409.dll")
        self.assertEqual({code: one["severity"] for code, one in codes.items()}, {"version-several": "info"})
        self.assertIn("the others have the same numbers", codes["version-several"]["text"])

    def test_another_id_alone_is_a_warning(self):
        image, codes = self.read([(7, ENGLISH, (1, 2, 3, 4))])
        self.assertEqual(image["identity"]["file_version"], "1.2.3.4")
        self.assertEqual({code: one["severity"] for code, one in codes.items()}, {"version-id": "warning"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
