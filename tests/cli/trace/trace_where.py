"""--where selects exactly the lines that a second reader of expressions selects from all lines, and
--fields has of them what is in the whole lines.

usage: trace_where.py COLDTRACE SHARED MAKE_TRACE MAKE_NAMED_TRACE MAKE_CTRACE [unittest arguments]
The second reader never parses: it makes expressions as trees, writes each as text for coldtrace and
asks its own predicate of every NDJSON line.
"""
import datetime
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema
from case import existing
from strict import strict_csv, strict_json, strict_ndjson

COLDTRACE, SHARED, MAKE_TRACE, MAKE_NAMED_TRACE, MAKE_CTRACE = (Path(a).resolve() for a in sys.argv[1:6])
SAMPLES = SHARED / "samples" / "etl"

MEMBERS_SCHEMA = json_schema.of(json.loads(
    (Path(__file__).parents[3] / "docs/schema/trace-members.schema.json").read_text()))
MEMBERS = ["time", "timestamp", "cpu", "pid", "tid", "process", "provider.guid", "provider.name", "name",
           "id", "opcode", "version", "level", "keywords", "activity", "stack", "decoded",
           "header.type", "header.buffer", "header.offset", "header.size", "header.payload_size",
           "header.pointer_size", "header.channel", "header.task", "header.kernel_time",
           "header.user_time", "header.processor_time"]
GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z")
HEX = re.compile(r"0x[0-9a-f]{1,16}")


def run(*arguments):
    return subprocess.run([COLDTRACE, "trace", "decode", *map(str, arguments)], capture_output=True,
                          timeout=300)


def ticks(text):
    """100 ns since 1601 of a time as lines have it."""
    whole = datetime.datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")
    seconds = (whole - datetime.datetime(1601, 1, 1)) // datetime.timedelta(seconds=1)
    return seconds * 10**7 + int(text[20:27])


def flatten(value):
    if isinstance(value, list):
        for element in value:
            yield from flatten(element)
    elif isinstance(value, dict) and ("text_utf16" in value or "text_bytes" in value):
        yield value.get("text", "")
    else:
        yield value


def leaves(value, path):
    """Whether it is there, and its values but null."""
    if isinstance(value, list) and path:
        found = [leaves(element, path) for element in value]
        return any(there for there, _ in found), [v for _, values in found for v in values]
    if path:
        if not isinstance(value, dict) or path[0] not in value:
            return False, []
        return leaves(value[path[0]], path[1:])
    if value is None:
        return False, []
    return True, [v for v in flatten(value) if v is not None and not isinstance(v, dict)]


class Values:
    """A member or field of one line: its values, and the names that they stand for."""

    def __init__(self, line, path):
        parts = path.split(".")
        if parts[0] == "fields":
            self.there, self.values = leaves(line["fields"], parts[1:])
            names = line.get("resolved", {}).get(".".join(parts[1:]))
        elif parts[0] == "resolved":
            self.there, self.values = leaves(line.get("resolved", {}), [path[len("resolved."):]])
            names = None
        else:
            self.there, self.values = leaves(line, parts)
            names = line.get("resolved", {}).get("stack") if path == "stack" else None
        self.names = [name for name in flatten(names) if name] if names is not None else []
        if path == "stack":
            self.numbers, self.texts = [int(v, 16) for v in self.values], self.values + self.names
            return
        if parts[0] == "resolved":
            self.texts, self.numbers, self.times, self.guids, self.booleans = self.values, [], [], [], []
            return
        self.numbers = [v for v in self.values if isinstance(v, (int, float)) and not isinstance(v, bool)]
        self.numbers += [int(v, 16) for v in self.values if isinstance(v, str) and HEX.fullmatch(v)]
        self.texts = [v for v in self.values if isinstance(v, str)] + self.names
        self.times = [ticks(v) for v in self.values if isinstance(v, str) and TIME.fullmatch(v)]
        self.guids = [v for v in self.values if isinstance(v, str) and GUID.fullmatch(v)]
        self.booleans = [v for v in self.values if isinstance(v, bool)]


def lower(text):
    return text.encode("utf-8", "surrogatepass").lower()  # ASCII letters alone


def glob(pattern, text):
    regular = b"".join(b".*" if c == b"*" else b"." if c == b"?" else re.escape(c)
                       for c in (bytes([b]) for b in lower(pattern)))
    return re.fullmatch(regular, lower(text), re.DOTALL) is not None


def quoted(text, quote='"'):
    return quote + text.replace(quote, quote * 2) + quote


ORDER = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
         ">=": lambda a, b: a >= b, "==": lambda a, b: a == b}


class Maker:
    """Random expressions about what a trace has."""

    def __init__(self, lines, start, seed, paths_of=None):
        self.random = random.Random(seed)
        self.start = start
        self.known = {}
        for line in lines:
            paths = paths_of(line) if paths_of else [*MEMBERS, *self.fields(line["fields"], "fields")]
            for path, values in [(path, Values(line, path)) for path in paths]:
                pool = self.known.setdefault(path, [])
                if values.there and (len(pool) < 20 or self.random.random() < 0.02):
                    pool.append(values)
        self.paths = sorted(self.known)

    def fields(self, value, path):
        for name, member in value.items():
            if not re.fullmatch(r"[A-Za-z_]\w*", name) or re.search("_(utf16|bytes)$", name):
                continue
            yield f"{path}.{name}"
            inner = member[0] if isinstance(member, list) and member else member
            if isinstance(inner, dict) and "text_utf16" not in inner and "text_bytes" not in inner:
                yield from self.fields(inner, f"{path}.{name}")

    def expression(self, depth):
        """Its text, and its predicate of a line."""
        kind = self.random.choice(["test", "test", "not", "and", "or"]) if depth else "test"
        if kind == "test":
            return self.test()
        if kind == "not":
            text, holds = self.expression(depth - 1)
            return f"not ({text})", lambda line: not holds(line)
        parts = [self.expression(depth - 1) for _ in range(self.random.randint(2, 3))]
        text = f" {kind} ".join(f"({text})" for text, _ in parts)
        whole = all if kind == "and" else any
        return text, lambda line: whole(holds(line) for _, holds in parts)

    def test(self):
        path = self.random.choice(self.paths)
        pool = self.known[path]
        shown = path
        if path.startswith("fields.") and "." not in path[7:] and path[7:] not in (
                "and", "or", "not", "in", "like", "matches", "exists", "true", "false", "fields",
                "type", "time_quality", "names", "schema_file", "message", "thread_source", "resolved", "etw", "header", "trace_control",
                "payload", "trailing", "extended", "provider", *MEMBERS) and self.random.random() < .5:
            shown = path[7:]
        if not pool or self.random.random() < 0.1:
            return f"exists {shown}", lambda line: Values(line, path).there
        sample = self.random.choice(pool)
        if path.startswith("fields.") and self.random.random() < 0.15:  # of any type
            others = [other for other in self.paths if other.startswith("fields.")]
            sample = self.random.choice(self.known[self.random.choice(others)] or pool)
        makers = [maker for values, maker in (
            (path != "time" and not path.endswith("guid") and path != "activity" and sample.texts
             and path != "keywords", self.text_test),
            (sample.numbers, self.number_test)) if values]
        if path != "stack":
            makers += [maker for values, maker in (
                (sample.times, self.time_test), (sample.guids, self.guid_test),
                (sample.booleans, self.boolean_test)) if values]
        if not makers:
            return f"exists {shown}", lambda line: Values(line, path).there
        return self.random.choice(makers)(shown, path, sample)

    def compared(self, shown, path, relation, literal, of, equal, comparable=None):
        """The text of a test and its predicate; `equal` is of one value. What can be compared are the
        values that `of` gives, or `comparable`."""
        text = f"{shown} {relation} {literal}"
        if relation == "!=":
            return text, lambda line: (lambda v: v.there and not any(map(equal, of(v))) and (
                not v.values or bool((comparable or of)(v))))(Values(line, path))
        return text, lambda line: any(map(equal, of(Values(line, path))))

    def number_test(self, shown, path, sample):
        def of(values):
            return values.numbers
        number = self.random.choice(sample.numbers)
        if number != number:
            return f"exists {shown}", lambda line: Values(line, path).there
        if isinstance(number, int):
            number = max(-2**63, min(2**64 - 1, number + self.random.choice([-1, 0, 0, 0, 1])))
        literal = repr(number)
        if isinstance(number, int) and self.random.random() < 0.3:
            literal = hex(number)
        if isinstance(number, float) and not re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", literal):
            return f"exists {shown}", lambda line: Values(line, path).there
        relation = self.random.choice(["==", "!=", "<", "<=", ">", ">=", "in", "&", "range"])
        if relation == "&" and isinstance(number, int):
            return self.compared(shown, path, "&", literal, of,
                                 lambda v: isinstance(v, int) and v % 2**64 & number % 2**64 != 0)
        if relation in ("in", "range", "&"):
            other = self.random.choice(self.random.choice(self.known[path]).numbers or [number])
            other = other if isinstance(other, int) else number
            low, high = min(number, other), max(number, other)
            if relation == "range":
                return self.compared(shown, path, "in", f"{low!r}..{high!r}", of,
                                     lambda v: low <= v <= high)
            return self.compared(shown, path, "in", f"({literal}, {other!r}..{other!r})", of,
                                 lambda v: v in (number, other))
        holds = ORDER["==" if relation == "!=" else relation]
        return self.compared(shown, path, relation, literal, of, lambda v: holds(v, number))

    def time_test(self, shown, path, sample):
        def of(values):
            return values.times
        time = self.random.choice(sample.times)
        moment = datetime.datetime(1601, 1, 1) + datetime.timedelta(seconds=time // 10**7)
        literal = f"{moment:%Y-%m-%dT%H:%M:%S}.{time % 10**7:07}Z"
        if self.start is not None and self.random.random() < 0.5:
            literal = f"{(time - self.start) * 100}ns"
        relation = self.random.choice(["==", "!=", "<", "<=", ">", ">="])
        holds = ORDER["==" if relation == "!=" else relation]
        return self.compared(shown, path, relation, literal, of, lambda v: holds(v, time))

    def guid_test(self, shown, path, sample):
        guid = self.random.choice(sample.guids)
        literal = self.random.choice([f"{{{guid}}}", quoted(guid.upper()), quoted(f"{{{guid}}}"),
                                      f"{{{guid.replace('-', '')}}}"])
        relation = self.random.choice(["==", "!="])
        return self.compared(shown, path, relation, literal, lambda v: v.guids, lambda v: v == guid,
                             (lambda v: v.texts) if literal[0] == '"' else None)

    def boolean_test(self, shown, path, sample):
        boolean = self.random.choice(sample.booleans)
        return self.compared(shown, path, self.random.choice(["==", "!="]), str(boolean).lower(),
                             lambda v: v.booleans, lambda v: v == boolean)

    def text_test(self, shown, path, sample):
        text = self.random.choice(sample.texts)[:200]
        if "\0" in text or "\n" in text or GUID.fullmatch(text) or TIME.fullmatch(text):
            return f"exists {shown}", lambda line: Values(line, path).there

        def of(values):
            return values.texts
        relation = self.random.choice(["==", "!=", "in", "like", "matches"])
        changed = self.random.choice([text, text.upper(), text[:-1]])
        if relation == "in":
            return self.compared(shown, path, "in", f"({quoted(changed)}, 'x')", of,
                                 lambda v: lower(v) in (lower(changed), b"x"))
        if relation == "like":
            at = self.random.randint(0, len(text))
            pattern = self.random.choice([text[:at] + "*", "*" + text[at:], text[:at] + "?*"])
            return self.compared(shown, path, "like", quoted(pattern, "'"), of,
                                 lambda v: glob(pattern, v))
        if relation == "matches":
            pattern = self.random.choice(["^", "", "(?i)"]) + re.escape(changed[:40])
            return self.compared(shown, path, "matches", quoted(pattern), of,
                                 lambda v: re.search(pattern, v, re.ASCII) is not None)
        return self.compared(shown, path, relation, quoted(changed), of,
                             lambda v: lower(v) == lower(changed))


def named_paths(line):
    """What values stand for, texts of events, and what headers have beside the members of all."""
    yield "message"
    for name in line.get("resolved", {}):
        if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", name) and name != "stack":
            yield f"resolved.{name}"
    for name in line.get("extended", {}):
        yield f"extended.{name}"


class Traces(unittest.TestCase):
    known = {}  # lines that were read, which a trace has in all results

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for maker in MAKE_TRACE, MAKE_NAMED_TRACE:
            subprocess.run([maker, cls.folder], check=True)
        cls.ctrace = cls.folder / "deadlock.ctrace"
        subprocess.run([COLDTRACE, "trace", "synthesize", "deadlock-5", "-o", cls.ctrace], check=True)

    def traces(self):
        yield from sorted(self.folder.glob("*.etl"))
        yield self.ctrace
        names = "pv_primitive-types", "tx_BondEtwSample", "tx_HTTP_Server", "pv_smallEtlFile"
        yield from existing(self, (SAMPLES / f"{name}.etl" for name in names))

    def lines(self, path, *options):
        done = run(path, *options)
        self.assertIn(done.returncode, (0, 1), done.stderr.decode())
        return strict_ndjson(done.stdout, self.known)

    def events(self, path, *options):
        return [line for line in self.lines(path, *options) if line["type"] == "event"]


class Where(Traces):
    def test_random_expressions_select_what_a_second_reader_selects(self):
        selected = 0
        for path in self.traces():
            header, *lines = self.lines(path, "--header-fields")
            lines = [line for line in lines if line["type"] == "event"]
            start = header["session"].get("start_time")
            maker = Maker(lines, ticks(start) if start else None, path.name)
            for _ in range(40 if lines else 0):
                text, holds = maker.expression(2)
                with self.subTest(path=path.name, where=text):
                    wanted = [line for line in lines if holds(line)]
                    self.assertEqual(self.events(path, "--header-fields", "--where", text), wanted)
                    selected += 0 < len(wanted) < len(lines)
        self.assertGreater(selected, 100)

    def test_names_texts_and_extended_members(self):
        selected = {"resolved": 0, "extended": 0}
        for path in self.traces():
            lines = self.events(path, "--messages")
            maker = Maker(lines, None, path.name, named_paths)
            for _ in range(20 if maker.paths else 0):
                text, holds = maker.expression(1)
                with self.subTest(path=path.name, where=text):
                    wanted = [line for line in lines if holds(line)]
                    self.assertEqual(self.events(path, "--messages", "--where", text), wanted)
                    for name in selected:
                        selected[name] += name in text and 0 < len(wanted) < len(lines)
        self.assertGreater(min(selected.values()), 5, selected)
        for text, error in (("extended.a.b == 1", "no member 'extended.a.b'"), ("resolved.X == 1", "is text"),
                            ("resolved == 1", "is an object; its members have values")):
            done = run(self.ctrace, "--where", text)
            self.assertEqual((done.returncode, error in done.stderr.decode()), (2, True), done.stderr)

    def test_it_composes_with_the_other_options(self):
        events = self.events(self.ctrace)
        pid = next(e["pid"] for e in events if e["pid"])
        name = next(e["name"] for e in events if e["pid"] == pid)
        self.assertEqual(
            self.events(self.ctrace, "--process", pid, "--event", name, "--where", "cpu == 0", "--limit", 3),
            [e for e in events if e["pid"] == pid and e["name"] == name and e["cpu"] == 0][:3])
        other = next(e["pid"] for e in events if e["pid"] not in (None, pid))
        self.assertEqual(self.events(self.ctrace, "--process", f"{pid}, {other}"),
                         [e for e in events if e["pid"] in (pid, other)])
        some = sorted({e["process"] for e in events if e["process"]})[:2]
        self.assertEqual(self.events(self.ctrace, "--process", f" {some[0]} ,\t{some[-1]}"),
                         [e for e in events if e["process"] in some])
        for jobs in 1, 3:
            self.assertEqual(self.events(self.ctrace, "--where", f"pid != {pid}", "--jobs", jobs),
                             [e for e in events if e["pid"] not in (None, pid)])

    def test_names_are_read_where_an_event_is_wanted(self):
        """The last event, too, has the names of its line; gaps and findings are those of the trace, but of names."""
        def told(lines):
            return [line for line in lines if line["type"] == "gap"], [
                one for one in lines[-1]["findings"] if one["code"] not in ("no-match", "stack-limit", "resolved-limit")]

        for path in self.traces():
            lines = self.lines(path)
            events = [line for line in lines if line["type"] == "event"]
            last = [e for e in events if None not in (e["cpu"], e["opcode"], e["level"])][-1:] or events[-1:]
            kind = [(member, last[0][member]) for member in ("cpu", "opcode", "level") if last[0][member] is not None]
            for jobs in 1, 3:
                with self.subTest(path=path.name, jobs=jobs):
                    found = self.lines(path, "--jobs", jobs, "--where", " and ".join(f"{m} == {v}" for m, v in kind))
                    self.assertEqual([line for line in found if line["type"] == "event"],
                                     [e for e in events if all(e[m] == v for m, v in kind)])
                    self.assertEqual(told(found), told(lines))
                    none = self.lines(path, "--jobs", jobs, "--where", "cpu == 4095")
                    self.assertEqual(none[-1]["counts"]["events"], 0)
                    self.assertEqual(told(none), told(lines))
                    if path != self.ctrace:
                        self.assertEqual(none[-1]["counts"]["names"], 0)
                        self.assertEqual(found[-1]["counts"]["names"], lines[-1]["counts"]["names"])

    def test_what_is_not_there(self):
        events = self.events(self.ctrace)
        field = next(iter(next(e for e in events if e["fields"])["fields"]))
        having = [e for e in events if e["fields"].get(field) is not None]
        self.assertEqual(self.events(self.ctrace, "--where", f"exists {field}"), having)
        self.assertEqual(self.events(self.ctrace, "--where", f"{field} == 1 or {field} != 1"), having)
        self.assertEqual(self.events(self.ctrace, "--where", f"not ({field} == 'no such text')"), events)

    def test_comparisons_of_different_types_are_false(self):
        tried = {}
        for path in self.traces():
            events = self.events(path)
            values = {}
            for event in events:
                for name, value in event["fields"].items():
                    if re.fullmatch(r"[A-Z]\w*", name) and value is not None:
                        values.setdefault(name, []).append((value, name in event.get("resolved", {})))
            most = {True: 1, False: 1}  # of numbers and of texts
            for name, found in values.items():
                numbers = all(type(value) is int and not resolved for value, resolved in found)
                texts = all(type(value) is str and re.match(r"[A-Z\\]", value) and not TIME.fullmatch(value)
                            for value, _ in found)
                if not (numbers or texts) or most[numbers] == 0:
                    continue
                most[numbers] -= 1
                literals = ['"x"', "true", "{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}"] if numbers else ["5", "true"]
                for literal in literals:
                    tried[numbers, literal] = tried.get((numbers, literal), 0) + 1
                    with self.subTest(path=path.name, name=name, literal=literal):
                        for where in f"{name} != {literal}", f"{name} == {literal}", f"{name} in ({literal}, {literal})":
                            done = run(path, "--where", where)
                            lines = strict_ndjson(done.stdout)
                            self.assertEqual([line for line in lines if line["type"] == "event"], [])
                            self.assertEqual(done.returncode, 1)
                            self.assertIn(f"--where: no value of '{name}' is of the type that it is compared with",
                                          [f["text"] for f in lines[-1]["findings"] if f["code"] == "no-match"])
                        for where, wanted in ((f"not ({name} != {literal})", events), (f"not ({name} == {literal})", events),
                                              (f"{name} != {literal} or cpu == 0", [e for e in events if e["cpu"] == 0]),
                                              (f"cpu == 0 and {name} != {literal}", [])):
                            jobs = 1 + 2 * (tried[numbers, literal] % 2)
                            self.assertEqual(self.events(path, "--where", where, "--jobs", jobs), wanted)
        self.assertEqual(len(tried), 5, tried)

    def test_a_field_that_no_event_has_is_told(self):
        field = next(name for e in self.events(self.ctrace) for name in e["fields"])
        done = run(self.ctrace, "--where", f"{field}x == 1 or exists cpu")
        self.assertEqual(done.returncode, 1)
        summary = strict_ndjson(done.stdout)[-1]
        found = next(f for f in summary["findings"] if f["code"] == "no-match")
        self.assertIn(f"--where: nothing matches '{field}x'; did you mean '{field}'", found["text"])
        text_field = next(name for e in self.events(self.ctrace) for name, value in e["fields"].items()
                          if isinstance(value, int) and not isinstance(value, bool)
                          and name not in e.get("resolved", {}))
        done = run(self.ctrace, "--where", f"exists cpu or {text_field} == true")
        self.assertEqual(done.returncode, 0, done.stderr)  # decided without it
        done = run(self.ctrace, "--where", f"{text_field} == true or exists cpu")
        self.assertIn(done.returncode, (0, 1))

    def test_fields_exist_as_other_objects_do(self):
        events = self.events(self.ctrace)
        for where, has in (("exists fields", True), ("not exists fields", False)):
            with self.subTest(where=where):
                self.assertEqual(len(self.events(self.ctrace, "--where", where)),
                                 sum(("fields" in event) == has for event in events))

    def test_errors_show_their_place(self):
        done = run(self.ctrace, "--where", "cpu == 0 and\n  pid == 'é' or tid = 1")
        self.assertEqual(done.returncode, 2)
        message = done.stderr.decode()
        self.assertIn("2:10: 'pid' is a number\n    pid == 'é' or tid = 1\n" + " " * 11 + "^", message)
        message = run(self.ctrace, "--where", "name == \"abc").stderr.decode()
        self.assertIn("1:9: the text has no closing \"\n  name == \"abc\n" + " " * 10 + "^", message)
        message = run(self.ctrace, "--where", "keywords == '0x1'").stderr.decode()
        self.assertIn("'keywords' is a number", message)
        message = run(self.ctrace, "--where", "process == 'é' or tid = 1").stderr.decode()
        self.assertIn("1:24: expected '=='", message)
        self.assertIn("\n  process == 'é' or tid = 1\n" + " " * 24 + "^", message)


def spelled(parts):
    """A path as an expression has it."""
    return ".".join([parts[0], *(part if re.fullmatch(r"[A-Za-z_]\w*", part) else quoted(part) for part in parts[1:])])


def leaf_paths(value, parts=()):
    """Paths of a line's members that have values; the paths of `resolved` are names with dots."""
    if isinstance(value, dict) and parts != ("resolved",):
        for name, member in value.items():
            yield from leaf_paths(member, (*parts, name))
    elif isinstance(value, dict):
        for name, names in value.items():
            path = ("resolved", *name.split("."))
            yield from ((path, one) for one in flatten(names) if one)
    elif isinstance(value, list):
        for element in value:
            yield from leaf_paths(element, parts)
    elif value is not None:
        yield parts, value


def equal_to(parts, value):
    """A comparison with one value, and its predicate of a line; nothing where texts of expressions cannot say it."""
    def values(line):
        if parts[0] == "resolved":
            return leaves(line.get("resolved", {}), [".".join(parts[1:])])[1]
        found = leaves(line, parts)[1]
        names = line.get("resolved", {}).get(".".join(parts[1:])) if parts[0] == "fields" else None
        return found + [name for name in flatten(names) if name]

    if isinstance(value, float) or isinstance(value, str) and (
            "\0" in value or len(value) > 2000 or value in ("NaN", "Infinity", "-Infinity")):
        return f"exists {spelled(parts)}", lambda line: leaves(line, parts)[0]
    if isinstance(value, bool) or not isinstance(value, str):
        literal = str(value).lower()
        return f"{spelled(parts)} == {literal}", lambda line: any(
            type(v) is type(value) and v == value for v in values(line))
    literal = value if parts == ("keywords",) else quoted(value)
    return f"{spelled(parts)} == {literal}", lambda line: any(
        isinstance(v, str) and lower(v) == lower(value) for v in values(line))


class Members(Traces):
    """Every member that a line shows can be asked for: by its path, with a value that it has."""

    ALL = "--header-fields", "--schema-files", "--messages"

    def check(self, trace, *options, seen, only=None):
        lines = self.events(trace, *options)
        found = {}
        for line in lines:
            for parts, value in leaf_paths(line):
                if parts not in seen and parts[:1] != ("type",):
                    found.setdefault(parts, []).append(value)
        for parts, values in found.items():
            if only and parts[0] != only:
                continue
            seen.add(parts)
            text, holds = equal_to(parts, values[len(values) // 2])
            with self.subTest(trace=Path(trace).name, where=text):
                wanted = [line for line in lines if holds(line)]
                self.assertTrue(wanted)
                self.assertEqual(self.events(trace, *options, "--where", text), wanted)

    def test_each_path_of_each_line(self):
        seen = set()
        own = self.folder / "own"
        own.mkdir()
        subprocess.run([MAKE_CTRACE, own], check=True)
        for trace in (*self.traces(), *(own / f"{name}.ctrace" for name in ("calls", "etw", "vxd-names"))):
            self.check(trace, *self.ALL, seen=seen)
            self.check(trace, *self.ALL, "--stacks", "attach", seen=seen, only="stack")
        self.assertLessEqual({"names", "payload", "thread_source", "time_quality", "trace_control", "resolved", "extended"},
                             {parts[0] for parts in seen})
        self.assertLessEqual({("etw", "provider", "guid"), ("etw", "fields", "ImageFileName"), ("stack", "module"), ("trace_control", "statuses", "name"), ("names", "keywords")}, seen)


    def test_names_of_attached_stacks_are_no_part_of_a_line_and_exist(self):
        trace = SAMPLES / "pv_net.4.5.2.x64.etl"
        if not trace.exists():
            self.skipTest("no sample")
        lines = self.events(trace, "--stacks", "attach", "--where", "cpu == 0")
        chosen = self.events(trace, "--stacks", "attach", "--where", "cpu == 0 and exists resolved")
        self.assertEqual([line for line in chosen if line.get("resolved")], [line for line in lines if line.get("resolved")])
        lacking = [line for line in chosen if not line.get("resolved")]
        self.assertTrue(lacking)
        self.assertTrue(all(any("module" in frame for frame in line["stack"]) for line in lacking))


class Fields(Traces):
    """--fields: members of the whole line, by their paths."""

    def test_chosen_members_are_those_of_whole_lines(self):
        for path in self.traces():
            header, *lines, summary = self.lines(path, "--header-fields")
            paths = {m for m in MEMBERS + ["provider", "fields", "extended.sid", "resolved", "trailing"]}
            for line in lines:
                if line["type"] == "event":
                    paths.update(self.paths(line["fields"], "fields"))
                    paths.update(f"resolved.{name}" for name in line.get("resolved", {}))
            paths = sorted(p for p in paths if "," not in p)
            order = random.Random(path.name).sample(paths, min(len(paths), 40))
            with self.subTest(path=path.name, fields=order):
                wanted = [{"type": line["type"], **{p: self.chosen(line, p) for p in order}}
                          for line in lines if line["type"] == "event"]
                chosen = self.lines(path, "--fields", ",".join(order))
                self.assertEqual([line for line in chosen if line["type"] == "event"], wanted)
                self.assertEqual([list(line) for line in chosen if line["type"] == "event"],
                                 [["type", *order]] * len(wanted))
                self.assertEqual(chosen[0], {**header, "schema": "coldtrace.trace-members/1"})
                for line in [*chosen[:20], chosen[-1]]:
                    MEMBERS_SCHEMA.validate(line)
                self.assertEqual([line for line in chosen[1:-1] if line["type"] == "gap"],
                                 [line for line in lines if line["type"] == "gap"])
                array = run(path, "--fields", ",".join(order), "--format", "json")
                self.assertEqual(strict_json(array.stdout), chosen)
                rows = strict_csv(run(path, "--fields", ",".join(order), "--format", "csv").stdout,
                                  ["type", *order])
                self.assertEqual(len(rows), len(lines))
                for row, line in zip(rows, lines):
                    for name in order:
                        self.check_cell(row[name], self.chosen(line, name))

    def paths(self, fields, path):
        for name, value in fields.items():
            if "." not in name and name:
                yield f"{path}.{name}"
                inner = value[0] if isinstance(value, list) and value else value
                if isinstance(inner, dict):
                    yield from self.paths(inner, f"{path}.{name}")

    def chosen(self, line, path):
        parts = path.split(".")
        if parts[0] == "resolved" and len(parts) > 1:
            parts = ["resolved", path[9:]]

        def of(value, parts):
            if not parts:
                return value
            if isinstance(value, list):
                return [of(element, parts) for element in value]
            if not isinstance(value, dict) or parts[0] not in value:
                return None
            return of(value[parts[0]], parts[1:])
        return of(line, parts)

    def check_cell(self, cell, value):
        if value is None or isinstance(value, str):
            self.assertEqual(cell, value or "")
        else:
            self.assertEqual(strict_json(cell.encode()), value)

    def test_bare_names_are_fields(self):
        event = next(e for e in self.events(self.ctrace) if e["fields"])
        field, value = next(iter(event["fields"].items()))
        chosen = self.events(self.ctrace, "--fields", f"{field},name")
        self.assertIn({"type": "event", field: value, "name": event["name"]}, chosen)
        twice = run(self.ctrace, "--fields", "pid,name,pid")
        self.assertEqual(twice.stdout, run(self.ctrace, "--fields", "pid,name").stdout)

    def test_unknown_names_are_told(self):
        for name, message in (("header.tsk", "no member 'header.tsk'; did you mean 'header.task'?"),
                              ("extended.relatd_activity", "no member 'extended.relatd_activity'; did you mean "
                               "'extended.related_activity'?"),
                              ("extended.sid.x", "no member 'extended.sid.x'"),
                              ("type", "'type' always comes first"), ("a..b", "'a..b' is not a name"),
                              ("stack.modul", "no member 'stack.modul'; did you mean 'stack.module'?"),
                              *((name, f"no member '{name}'") for name in (
                                  "names.nope", "etw.nope", "etw.provider.nope", "trace_control.nope", "message_pdb.nope",
                                  "trace_message.nope", "trailing.x", "payload.x", "schema_file.x", "time.x",
                                  "thread_source.x", "decoded.x"))):
            done = run(self.ctrace, "--fields", name)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--fields: {message}", done.stderr.decode())
        done = run(self.ctrace, "--fields", "procss")
        self.assertEqual(done.returncode, 1)
        found = strict_ndjson(done.stdout)[-1]["findings"]
        self.assertIn("--fields: nothing matches 'procss'; did you mean 'process'",
                      " ".join(f["text"] for f in found if f["code"] == "no-match"))
        self.assertEqual(run(self.ctrace, "--fields", "procss", "--limit", 1).returncode, 0)
        done = run(self.ctrace, "--fields", "resolved.procss")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"nothing matches 'resolved.procss'", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
