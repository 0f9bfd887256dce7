"""JSON is held against JSON schemas: jsonschema says what is wrong, what is right is told sooner.

A schema becomes functions once; only a value that these refuse is shown to jsonschema, which takes a hundred
times as long. A schema with a keyword that is not here is jsonschema's alone. json_schema_test.py has the two
judge the same values.
"""
import json
import re

import jsonschema

_TELL_NOTHING = {"$schema", "$id", "$comment", "$defs", "title", "description", "additionalProperties", "then", "else"}


def _number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_TYPES = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "number": _number,
    "integer": lambda value: _number(value) and (isinstance(value, int) or value.is_integer()),
}


def _key(value):
    """Equal where JSON has the values as equal: true is not 1."""
    if isinstance(value, (dict, list)):
        raise KeyError("a constant with members")
    return isinstance(value, bool), value


class _Functions:
    """Of a schema: a function for it, and one for each that it refers to."""

    def __init__(self, document):
        self.document, self.referred = document, {}

    def of(self, schema):
        if isinstance(schema, bool):
            return lambda value: schema
        made = [getattr(self, f"{word.removeprefix('$')}_", self.unknown)(schema[word], schema)
                for word in schema if word not in _TELL_NOTHING]
        if "additionalProperties" in schema and "properties" not in schema:
            made.append(self.properties_({}, schema))
        return made[0] if len(made) == 1 else lambda value: all([one(value) for one in made])

    @staticmethod
    def unknown(_, schema):
        raise KeyError(f"a keyword of {list(schema)}")

    def ref_(self, target, _):
        place, *names = target.split("/")
        if place != "#":
            raise KeyError(target)
        if target not in self.referred:
            self.referred[target] = None  # it may refer to itself
            schema = self.document
            for name in names:
                schema = schema[name]
            self.referred[target] = self.of(schema)
        return lambda value: self.referred[target](value)

    def type_(self, names, _):
        kinds = [_TYPES[name] for name in ([names] if isinstance(names, str) else names)]
        return kinds[0] if len(kinds) == 1 else lambda value: any([kind(value) for kind in kinds])

    def properties_(self, members, schema):
        known = {name: self.of(member) for name, member in members.items()}
        rest = self.of(schema.get("additionalProperties", True))
        return lambda value: not isinstance(value, dict) or all(
            [known.get(name, rest)(member) for name, member in value.items()])

    def propertyNames_(self, names, _):
        name_of = self.of(names)
        return lambda value: not isinstance(value, dict) or all([name_of(name) for name in value])

    def required_(self, names, _):
        names = frozenset(names)
        return lambda value: not isinstance(value, dict) or names <= value.keys()

    def dependentRequired_(self, needed, _):
        return lambda value: not isinstance(value, dict) or all(
            [value.keys() >= set(names) for name, names in needed.items() if name in value])

    def minProperties_(self, least, _):
        return lambda value: not isinstance(value, dict) or len(value) >= least

    def maxProperties_(self, most, _):
        return lambda value: not isinstance(value, dict) or len(value) <= most

    def items_(self, items, _):
        one = self.of(items)
        return lambda value: not isinstance(value, list) or all([one(item) for item in value])

    def minItems_(self, least, _):
        return lambda value: not isinstance(value, list) or len(value) >= least

    def maxItems_(self, most, _):
        return lambda value: not isinstance(value, list) or len(value) <= most

    def uniqueItems_(self, unique, _):
        judge = jsonschema.Draft202012Validator({"uniqueItems": unique})
        return judge.is_valid

    def minimum_(self, least, _):
        return lambda value: not _number(value) or value >= least

    def maximum_(self, most, _):
        return lambda value: not _number(value) or value <= most

    def pattern_(self, pattern, _):
        search = re.compile(pattern).search
        return lambda value: not isinstance(value, str) or search(value) is not None

    def minLength_(self, least, _):
        return lambda value: not isinstance(value, str) or len(value) >= least

    def maxLength_(self, most, _):
        return lambda value: not isinstance(value, str) or len(value) <= most

    def enum_(self, values, _):
        keys = set(map(_key, values))
        return lambda value: not isinstance(value, (dict, list)) and _key(value) in keys

    def const_(self, constant, schema):
        return self.enum_([constant], schema)

    def anyOf_(self, schemas, _):
        those = [self.of(schema) for schema in schemas]
        return lambda value: any(one(value) for one in those)

    def allOf_(self, schemas, _):
        those = [self.of(schema) for schema in schemas]
        return lambda value: all([one(value) for one in those])

    def oneOf_(self, schemas, _):
        those = [self.of(schema) for schema in schemas]
        return lambda value: sum([one(value) for one in those]) == 1

    def not_(self, schema, _):
        one = self.of(schema)
        return lambda value: not one(value)

    def if_(self, schema, whole):
        condition, then, other = (self.of(one) for one in (schema, whole.get("then", True), whole.get("else", True)))
        return lambda value: (then if condition(value) else other)(value)


class Schema:
    def __init__(self, document):
        kind = jsonschema.validators.validator_for(document, jsonschema.Draft202012Validator)
        kind.check_schema(document)
        self.judge = kind(document)
        self.holds = self.judge.is_valid
        if kind is jsonschema.Draft202012Validator:
            try:
                self.holds = _Functions(document).of(document)
            except KeyError:
                pass

    def validate(self, value):
        if not self.holds(value):
            self.judge.validate(value)


_known = {}


def of(document):
    """The schema that a document is: what can validate values."""
    text = json.dumps(document)
    if text not in _known:
        _known[text] = Schema(document)
    return _known[text]


def validate(value, document):
    """Raises jsonschema.ValidationError where the value is not what the schema has."""
    of(document).validate(value)
