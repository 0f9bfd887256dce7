"""Reads a page of `coldtrace report` as a browser would: its tables, its policy, and what its script is given."""
import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser


class Cell(str):
    """The text of a cell, with the figure that it is sorted by."""
    exact = None

    @property
    def figure(self):
        return float(self.exact) if "." in (self.exact or self) else int(self.exact or self.replace(",", ""))


class Page(HTMLParser):
    VOID = {"meta", "br", "rect", "path", "img", "input", "hr", "line", "polygon", "ellipse", "circle"}

    def __init__(self, content):
        super().__init__()
        self.bytes = content
        self.tables, self.captions, self.ids, self.scripts, self.styles = {}, {}, [], [], []
        self.tags, self.attributes, self.links, self.title, self.text = set(), set(), [], "", []
        self.open, self.cell, self.table, self.policy = [], None, None, None
        self.feed(content.decode())
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.add(tag)
        self.attributes |= set(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if attributes.get("http-equiv"):
            self.policy = attributes["content"]
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "table":
            self.table = self.tables.setdefault(attributes["id"], [])
            self.table_id = attributes["id"]
        if tag == "tr" and self.table is not None:
            self.table.append([])
        if tag in ("th", "td"):
            self.cell, self.exact = "", attributes.get("data-v")
        if tag == "script":
            self.scripts.append([attributes, ""])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()
        if tag in ("th", "td"):
            cell = Cell(self.cell)
            cell.exact = self.exact
            self.table[-1].append(cell)
            self.cell = None
        if tag == "table":
            self.table = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        if self.open[-1:] == ["script"]:
            self.scripts[-1][1] += data
        elif self.open[-1:] == ["style"]:
            self.styles.append(data)
        elif self.open[-1:] == ["title"]:
            self.title += data
        else:
            if self.open[-1:] == ["caption"]:
                self.captions[self.table_id] = data
            self.text.append(data)

    def rows(self, table):
        """Without the headings."""
        return self.tables[table][1:]

    def column(self, table, name):
        at = self.tables[table][0].index(name)
        return [row[at] for row in self.rows(table)]

    def figures(self, table, name):
        return [cell.figure for cell in self.column(table, name)]

    def hashes(self, kind):
        return re.findall(r"'(sha256-[^']+)'", re.search(rf"{kind}-src ([^;]*)", self.policy)[1])

    @staticmethod
    def hash_of(text):
        return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    def parts(self, kind=None):
        """What the scripts read."""
        return [(kind or Part)(zlib.decompress(base64.b64decode(text, validate=True), -15))
                for attributes, text in self.scripts if "type" in attributes]

    def data(self):
        """That of a trace."""
        return self.parts(Data)[0]


class Part:
    """JSON, then numbers as LEB128."""

    def __init__(self, content):
        self.content, self.at = content, 0
        size = self.number()
        self.facts = json.loads(content[self.at:self.at + size])
        self.at += size

    def left(self):
        return len(self.content) - self.at
    def number(self):
        value = shift = 0
        while True:
            byte = self.content[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def column(self, count):
        return [self.number() for _ in range(count)]


class Data(Part):
    """Its columns, all of them."""

    def __init__(self, content):
        super().__init__(content)
        self.lanes = [self.lane(count) for count in self.facts["lanes"]]
        self.requests = self.columns(self.facts["requests"], 7)
        self.flames = [(one, self.columns(one["count"], 3)) for one in self.facts["flames"]]
        assert self.left() == 0, "bytes behind the columns"

    def columns(self, count, width):
        return list(zip(*[self.column(count) for _ in range(width)])) if count else []

    def lane(self, count):
        gaps, lengths, threads, more = (self.column(count) for _ in range(4))
        busy = iter(self.column(sum(turns > 0 for turns in more)))
        slices, at = [], 0
        for gap, length, thread, turns in zip(gaps, lengths, threads, more):
            begin, at = at + gap, at + gap + length
            slices.append({"begin": begin, "end": at, "thread": thread, "turns": turns + 1,
                           "busy": next(busy) if turns else length if thread else 0})
        if self.facts["details"]:
            single = [one for one in slices if one["thread"] and one["turns"] == 1]
            names = "state", "reason", "latency", "waker", "priority", "buffer", "offset"
            for name in names:
                for one, value in zip(single, self.column(len(single))):
                    one[name] = value
            buffer = 0
            for one in single:
                for name in "priority", "buffer":
                    one[name] = -(one[name] + 1) // 2 if one[name] % 2 else one[name] // 2
                buffer += one["buffer"]
                one["buffer"] = buffer
        return slices
