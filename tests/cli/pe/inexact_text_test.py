"""Text of images that is not valid UTF-16: what differs in unpaired surrogates alone is told apart.

usage: inexact_text_test.py COLDTRACE SOURCES [unittest arguments]
"""
import json
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case
import json_schema
from strict import strict_json
from table_image import resource_tree, table_image, version_block

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
ONE, OTHER, PAIR = "a\ud800b", "a\udc01b", "a\ud83d\ude00b"
SHOWN = "a\ufffdb"


def units(text):
    return text.encode("utf-16-le", "surrogatepass").hex()


def exact(text):
    """As other characters of that size are encoded in UTF-8."""
    return text.encode("utf-8", "surrogatepass")


class InexactText(case.Case):
    def image(self, table):
        path = self.write("one.dll", table_image({2: table}))
        done = subprocess.run([COLDTRACE, "pe", "info", "--format", "json", path], capture_output=True, timeout=120)
        document = strict_json(done.stdout)
        json_schema.validate(document, json.loads((SOURCES / "docs/schema/pe-info.schema.json").read_text()))
        text = subprocess.run([COLDTRACE, "pe", "info", path], capture_output=True, timeout=120).stdout.decode()
        return document["images"][0], text

    def details(self, table):
        """As LIEF reads it; without the helper program nothing."""
        path = self.write("one.dll", table_image({2: table}))
        done = subprocess.run([COLDTRACE, "pe", "info", "--details", "--format", "json", path], capture_output=True, timeout=120)
        document = strict_json(done.stdout)
        json_schema.validate(document, json.loads((SOURCES / "docs/schema/pe-info.schema.json").read_text()))
        return document["images"][0]["details"]

    def test_names_beyond_the_first_plane_in_details(self):
        def table(rva):
            name = struct.pack("<H", len(PAIR)) + PAIR.encode("utf-16-le", "surrogatepass")
            directory = lambda name, offset: struct.pack("<IIHHHH", 0, 0, 0, 0, name >> 31, 1 - (name >> 31)) + struct.pack("<II", name, offset)
            high, place = 1 << 31, 3 * 24 + 16
            whole = directory(high | place, high | 24) + directory(1, high | 48) + directory(0x409, 72) + struct.pack("<IIII", rva, 4, 0, 0) + name
            return whole, len(whole)
        details = self.details(table)
        if details["resources"] is None:
            self.skipTest("the helper program is not built")
        kind, = details["resources"]["children"]
        self.assertEqual(kind["id"], PAIR.encode("utf-16", "surrogatepass").decode("utf-16"))
        self.assertNotIn("id_utf16", kind)

    def version(self, strings):
        return self.image(resource_tree([(16, 1, 0x409, version_block((1, 2, 3, 4), strings))]))

    def test_version_strings(self):
        image, text = self.version([(ONE, OTHER), (OTHER, ONE), (PAIR, PAIR), (SHOWN, SHOWN)])
        valid = PAIR.encode("utf-16", "surrogatepass").decode("utf-16")
        self.assertEqual([(row["key"], row.get("key_utf16"), row["value"], row.get("value_utf16"))
                          for row in image["version"]["strings"]],
                         [(SHOWN, units(ONE), SHOWN, units(OTHER)), (SHOWN, units(OTHER), SHOWN, units(ONE)),
                          (valid, None, valid, None), (SHOWN, None, SHOWN, None)])
        lines = [line.split() for line in text.splitlines() if line.startswith("    a")]
        self.assertEqual(lines, [[r"a\ud800b", r"a\udc01b"], [r"a\udc01b", r"a\ud800b"], [valid, valid], [SHOWN, SHOWN]])

    def test_the_name_of_an_image(self):
        names = set()
        for name in ONE, OTHER:
            image, text = self.version([("OriginalFilename", name)])
            self.assertEqual(image["identity"]["name_bytes"], exact(name).hex())
            names.add(text.splitlines()[0].split(": ", 1)[1].split(" ")[0])
        self.assertEqual(names, {r"a\ud800b", r"a\udc01b"})

    def test_names_of_resources(self):
        """A tree with two types, each with one resource of the same name."""
        directory = lambda *entries: struct.pack("<IIHHHH", 0, 0, 0, 0, len(entries), 0) + b"".join(
            struct.pack("<II", *entry) for entry in entries)
        high = 1 << 31

        def table(rva):
            texts = [struct.pack("<H", len(name)) + name.encode("utf-16-le", "surrogatepass") for name in (ONE, OTHER)]
            types, names, languages, leaves = 0, 32, 32 + 2 * 24, 32 + 4 * 24
            place = [leaves + 2 * 16, leaves + 2 * 16 + len(texts[0])]
            whole = directory(*((high | place[i], high | names + 24 * i) for i in range(2)))
            whole += b"".join(directory((high | place[1 - i], high | languages + 24 * i)) for i in range(2))
            whole += b"".join(directory((0x409, leaves + 16 * i)) for i in range(2))
            whole += b"".join(struct.pack("<IIII", rva, 4, 0, 0) for _ in range(2)) + b"".join(texts)
            return whole, len(whole)

        details = self.details(table)
        if details["resources"] is not None:
            self.assertEqual([(row["id"], row["id_utf16"], row["children"][0]["id"], row["children"][0]["id_utf16"])
                              for row in details["resources"]["children"]],
                             [(SHOWN, units(ONE), SHOWN, units(OTHER)), (SHOWN, units(OTHER), SHOWN, units(ONE))])
        image, text = self.image(table)
        self.assertEqual([(row["type"], row["type_utf16"], row["name"], row["name_utf16"]) for row in image["resources"]],
                         [(SHOWN, units(ONE), SHOWN, units(OTHER)), (SHOWN, units(OTHER), SHOWN, units(ONE))])
        self.assertIn(r"1 a\ud800b (4 bytes), 1 a\udc01b (4 bytes)", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
