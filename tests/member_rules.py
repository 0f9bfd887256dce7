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
SCHEMAS = sorted((PROJECT / "docs/schema").glob("*.schema.json"))


def members(node):
    """The names of all properties, wherever they lie in the schema."""
    if isinstance(node, list):
        return {name for part in node for name in members(part)}
    if not isinstance(node, dict):
        return set()
    found = {name for part in node.values() for name in members(part)}
    return found | set(node["properties"]) if isinstance(node.get("properties"), dict) else found


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


class Members(unittest.TestCase):
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
