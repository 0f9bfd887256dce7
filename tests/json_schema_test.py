"""What tells sooner that a value is what a schema has agrees with jsonschema.

usage: json_schema_test.py SOURCES
"""
import json
import random
import re
import sys
import unittest
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parent))
import json_schema

PATHS = sorted(Path(sys.argv.pop(1)).glob("docs/schema/*.json"))
VALUES = [None, True, False, 0, 1, -1, 2, 1.0, 1.5, 2**64, "", "a", "ab", "aab", "1", "\U0001f600", [], [1], [1, 1],
          [1, True], [1, "a"], [[], []], [None], {}, {"a": 1}, {"a": "1"}, {"a": 1, "b": None}, {"b": {}},
          {"aa": 1, "b": {"b": {"b": 1}}}, {"a": {"a": {"a": {}}}}]
SMALL = [
    True, False, {}, *({"type": name} for name in ("null", "boolean", "string", "array", "object", "number", "integer")),
    {"type": ["string", "null"]}, {"type": ["integer", "boolean"], "minimum": 1}, {"minimum": 1}, {"maximum": 1},
    {"minimum": 0.5, "maximum": 1.5}, {"pattern": "^a"}, {"pattern": "b"}, {"minLength": 1}, {"maxLength": 1},
    {"enum": [1, "a", None]}, {"enum": [True]}, {"enum": [0, False]}, {"enum": [[1], {}]}, {"const": 1},
    {"const": True}, {"const": "a"}, {"const": {"a": 1}}, {"const": None}, {"minItems": 1}, {"maxItems": 1},
    {"uniqueItems": True}, {"uniqueItems": False}, {"items": {"type": "integer"}}, {"items": False},
    {"properties": {"a": {"type": "integer"}}}, {"properties": {"a": True, "b": False}},
    {"properties": {"a": {}}, "additionalProperties": False}, {"additionalProperties": False},
    {"additionalProperties": {"type": "integer"}}, {"required": ["a"]}, {"required": ["a", "b"]},
    {"properties": {"b": {}}, "additionalProperties": {"type": "string"}, "required": ["a"]},
    {"dependentRequired": {"a": ["b"]}}, {"minProperties": 1}, {"maxProperties": 1},
    {"propertyNames": {"maxLength": 1}}, {"propertyNames": {"enum": ["a"]}}, {"not": {"type": "string"}},
    {"anyOf": [{"type": "string"}, {"minimum": 1}]}, {"allOf": [{"type": "integer"}, {"minimum": 1}]},
    {"oneOf": [{"type": "integer"}, {"minimum": 1}]}, {"oneOf": [{}, {}]}, {"anyOf": [False]},
    {"if": {"type": "integer"}, "then": {"minimum": 1}, "else": {"type": "string"}},
    {"if": {"type": "object"}, "then": {"required": ["a"]}}, {"if": {"type": "object"}, "else": {"type": "null"}},
    {"$defs": {"x": {"type": "object", "additionalProperties": {"$ref": "#/$defs/x"}}}, "$ref": "#/$defs/x"},
    {"$defs": {"x": {"type": "integer"}}, "$ref": "#/$defs/x", "maximum": 1},
    {"properties": {"a": {"$ref": "#"}, "b": {"type": "null"}}, "additionalProperties": False},
    {"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": False},
    {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, {"contains": {"type": "string"}},
    {"multipleOf": 2}, {"exclusiveMinimum": 1}]

TEXTS = ("1", "0a", "a-b", "A", "0.1", "0.1.2", "0.0.0.1", "0x0", "0" * 32, "0" * 64, "0000", "STATUS_A", "[]", "S-1-5",
         "01234567-89ab-cdef-0123-456789abcdef", "2024-02-29T12:34:56.0000000Z", "coldtrace 0", "trace info")


def made(chance, schema, document):
    """A value that is mostly what the schema has."""
    if isinstance(schema, bool) or chance.random() < 0.002:
        return chance.choice(VALUES)
    if "$ref" in schema:
        target = document
        for name in schema["$ref"].split("/")[1:]:
            target = target[name]
        return made(chance, target, document)
    for word in "anyOf", "oneOf":
        if word in schema:
            return made(chance, chance.choice(schema[word]), document)
    if "enum" in schema or "const" in schema:
        return chance.choice(schema.get("enum") or [schema["const"]])
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    kind = kinds if isinstance(kinds, str) else chance.choice(kinds)
    if kind == "object":
        members = schema.get("properties", {})
        value = {name: made(chance, member, document) for name, member in members.items()
                 if chance.random() < (0.999 if name in schema.get("required", ()) else 0.3)}
        rest = schema.get("additionalProperties", True)
        if not isinstance(rest, bool) or chance.random() < 0.005:
            value[chance.choice(("x", "a b", "PF"))] = made(chance, rest, document)
        return value
    if kind == "array":
        count = chance.choice((0, 0, 1, 2)) if "minItems" not in schema else schema["minItems"]
        return [made(chance, schema.get("items", True), document) for _ in range(count)]
    if kind in ("integer", "number"):
        return chance.randrange(schema.get("minimum", 0), min(schema.get("maximum", 10**9), 10**9) + 1)
    if kind == "string":
        return next((text for text in TEXTS if re.search(schema.get("pattern", ""), text)), "")
    return {"null": None, "boolean": True}[kind]


class Schemas(unittest.TestCase):
    def test_each_keyword(self):
        for schema in SMALL:
            one = json_schema.Schema(schema)
            for value in VALUES:
                with self.subTest(schema=schema, value=value):
                    self.assertEqual(one.holds(value), one.judge.is_valid(value))
                    if not one.judge.is_valid(value):
                        with self.assertRaises(jsonschema.ValidationError):
                            one.validate(value)

    def test_a_schema_that_is_wrong_is_refused(self):
        for schema in {"type": "text"}, {"required": "a"}, {"minimum": "1"}:
            with self.assertRaises(jsonschema.SchemaError):
                json_schema.validate({}, schema)

    def test_schemas_of_the_documents(self):
        chance = random.Random(1)
        verdicts = {True: 0, False: 0}
        for path in PATHS:
            document = json.loads(path.read_text())
            one = json_schema.Schema(document)
            self.assertNotEqual(one.holds, one.judge.is_valid, "a keyword has no function")
            for _ in range(12):
                value = made(chance, document, document)
                verdict = one.judge.is_valid(value)
                verdicts[verdict] += 1
                self.assertEqual(one.holds(value), verdict, (path.name, value))
        self.assertGreater(min(verdicts.values()), 99, verdicts)


if __name__ == "__main__":
    unittest.main()
