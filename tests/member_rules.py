"""Each member of the JSON that commands print is explained in a document.

usage: member_rules.py PROJECT
"""
import json
import re
import sys
import unittest
from pathlib import Path

PROJECT = Path(sys.argv[1]).resolve()
DOCUMENTS = {path.name: path.read_text() for path in (PROJECT / "docs").rglob("*.md")}
FINDING_CODES = set(re.findall(r'^FINDING\("([a-z0-9-]+)"', (PROJECT / "cli/command/finding_codes.inc").read_text(),
                               re.M))
SCHEMAS = sorted((PROJECT / "docs/schema").glob("*.schema.json"))


def members(node):
    """The names of all properties, wherever they lie in the schema."""
    if isinstance(node, list):
        return {name for part in node for name in members(part)}
    if not isinstance(node, dict):
        return set()
    found = {name for part in node.values() for name in members(part)}
    return found | set(node["properties"]) if isinstance(node.get("properties"), dict) else found


def objects(node):
    """The members of each object, by name, wherever it lies in the schema."""
    if isinstance(node, list):
        return [found for part in node for found in objects(part)]
    if not isinstance(node, dict):
        return []
    found = [each for part in node.values() for each in objects(part)]
    return [*found, node["properties"]] if isinstance(node.get("properties"), dict) else found


# What one thing was called in one command and is called in all others.
FORMER = {"proven": "proved", "least": "shortest", "greatest": "longest", "why": "reason", "exit": "exit_status",
          "packing": "compression", "arguments_bytes": "command_line_bytes", "idle_processor": "idle_cpu",
          "begin": "from", "hash": "name_hash"}


def is_number(content, node):
    """Whether a value may be a number."""
    if "$ref" in node:
        return is_number(content, content["$defs"][node["$ref"].rpartition("/")[2]])
    return "integer" in node.get("type", ()) or any(
        is_number(content, part) for part in (*node.get("anyOf", ()), *node.get("oneOf", ())))


# Members that are hexadecimal text wherever they stand, those that are only where a trace recorded them, and those that are
# numbers wherever they stand; docs/commands/common-options.md, JSON.
MASKS = {"keywords", "log_file_mode"}
OF_FILES = {"trace-plan.schema.json", "trace-control-buffer.schema.json"}  # of no trace, whatever their names begin with
PEER = {"bytes_sent", "address"}  # whose address is one of a network
RECORDED = {"address", "start_address", "irp", "lock"}
COUNTED = r"(.*_)?(rva|offset|size|checksum|time_date_stamp|characteristics|lcn|clusters|record|ordinal|address|base)"


def is_hexadecimal(content, node):
    if "$ref" in node:
        return is_hexadecimal(content, content["$defs"][node["$ref"].rpartition("/")[2]])
    return node.get("pattern", "").startswith("^0x") or any(
        is_hexadecimal(content, part) for part in (*node.get("anyOf", ()), *node.get("oneOf", ())))


def explained(schema):
    """Documents that name the schema, what holds for all commands, and what these refer to."""
    first = [name for name, text in DOCUMENTS.items()
             if re.search(rf"(?<![\w-]){re.escape(schema.name)}", text)]
    named = {name for document in {*first, "common-options.md"}
             for name in re.findall(r"([\w-]+\.md)\b", DOCUMENTS[document])}
    named.add("common-options.md")
    return first, "\n".join(DOCUMENTS[name] for name in {*first, *named} if name in DOCUMENTS)


def names(text):
    """What stands as code, word by word."""
    return {word for code in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", code)}


def is_explained(member, words):
    """A member for the bytes that no text is can be a rule for all: `name` and `_bytes`."""
    text, mark, suffix = member.rpartition("_")
    return member in words or (suffix in ("bytes", "utf16") and {text, mark + suffix} <= words)


def values(node, name=""):
    """(member, value) of all texts that a schema fixes, wherever they lie in it."""
    if isinstance(node, list):
        return {found for part in node for found in values(part, name)}
    if not isinstance(node, dict):
        return set()
    fixed = [*node.get("enum", []), *([node["const"]] if "const" in node else [])]
    found = {(name, value) for value in fixed if isinstance(value, str)}
    for member, part in node.items():
        if member == "properties":
            found |= {each for inner in part for each in values(part[inner], inner)}
        elif member not in ("enum", "const"):
            found |= values(part, name)
    return found


class Members(unittest.TestCase):
    def test_values_are_words_with_underscores(self):
        """docs/commands/common-options.md, JSON. Names that Windows and other tools gave stay theirs."""
        seen = 0
        for schema in SCHEMAS:
            for member, value in values(json.loads(schema.read_text())):
                if member == "schema" or member == "code" and value in FINDING_CODES:
                    continue
                seen += "_" in value
                self.assertNotRegex(value, r"^[a-z0-9]+(-[a-z0-9]+)+$", (schema.name, member))
        self.assertGreater(seen, 100)

    def test_one_thing_has_one_name(self):
        for schema in SCHEMAS:
            content = json.loads(schema.read_text())
            with self.subTest(schema=schema.name):
                self.assertFalse(members(content) & set(FORMER))
                self.assertFalse({value for _, value in values(content)} & {"proven", "qcow2"})
                for one in objects(content):  # the number of a processor is its `cpu`
                    self.assertFalse("processor" in one and is_number(content, one["processor"]))
                for steps in (one for one in objects(content) if "up_to" in one and len(one) == 2):
                    self.assertEqual(set(steps), {"up_to", "count"})
                for one in objects(content):  # how long something lasts is its `duration`, a `time` is a moment
                    for name in {"time", "duration"} & set(one):
                        self.assertEqual(is_number(content, one[name]), name == "duration", sorted(one))
                    self.assertFalse({"from", "length"} <= set(one))

    def test_numbers_are_numbers_and_masks_and_recorded_addresses_are_hexadecimal(self):
        texts, numbers = set(), set()
        for schema in SCHEMAS:
            content = json.loads(schema.read_text())
            traced = schema.name.startswith("trace") and schema.name not in OF_FILES
            for one in objects(content):
                frame = {"address", "module", "offset"} <= set(one)
                for member, node in one.items():
                    if "properties" in node or "items" in node:
                        continue
                    with self.subTest(schema=schema.name, member=member):
                        if member in MASKS or traced and member in RECORDED and not PEER <= set(one):
                            self.assertTrue(is_hexadecimal(content, node))
                            self.assertFalse(is_number(content, node))
                            texts.add(member)
                        elif re.fullmatch(COUNTED, member) and not frame:
                            self.assertFalse(is_hexadecimal(content, node))
                            numbers.update({member} if is_number(content, node) else ())
        self.assertEqual(texts, MASKS | RECORDED)
        self.assertGreater(len(numbers), 40)

    def test_bytes_of_a_text_stand_beside_it(self):
        """A text whose name ends so has the text beside it; a number of bytes has none, and a name of its own."""
        texts, numbers = set(), set()
        for schema in SCHEMAS:
            content = json.loads(schema.read_text())
            for one in objects(content):
                for member in (name for name in one if name.endswith("_bytes")):
                    text = member.removesuffix("_bytes")
                    kinds = [str(one[member]), *(str(content["$defs"][name])
                                                 for name in re.findall(r"#/\$defs/(\w+)", str(one[member])))]
                    if any("'integer'" in kind for kind in kinds):
                        numbers.add(text)
                        self.assertNotIn(text, one, schema.name)
                    elif member != "first_bytes":
                        texts.add(text)
                        self.assertIn(text, one, (schema.name, member))
        self.assertGreater(len(texts), 15)
        self.assertEqual(numbers & texts, set())

    def test_a_document_names_each_schema_and_all_its_members(self):
        self.assertGreater(len(SCHEMAS), 20)
        for schema in SCHEMAS:
            with self.subTest(schema=schema.name):
                found = members(json.loads(schema.read_text()))
                self.assertGreater(len(found), 5)
                documents, text = explained(schema)
                self.assertTrue(documents, "no document names it")
                words = names(text)
                unexplained = sorted(name for name in found if not is_explained(name, words))
                self.assertEqual(" ".join(unexplained), "", documents)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
