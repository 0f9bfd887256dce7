"""Reads PDBs 2.00 as a second opinion, from microsoft-pdb alone: types with their members, symbols, modules."""
import struct


def u16(data, at):
    return struct.unpack_from("<H", data, at)[0]


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def number(data, at):
    leaf = u16(data, at)
    if leaf < 0x8000:
        return leaf, at + 2
    code = {0x8000: "<b", 0x8001: "<h", 0x8002: "<H", 0x8003: "<i", 0x8004: "<I", 0x8009: "<q", 0x800a: "<Q"}[leaf]
    return struct.unpack_from(code, data, at + 2)[0], at + 2 + struct.calcsize(code)


def name(data, at):
    return data[at + 1:at + 1 + data[at]], at + 1 + data[at]


def streams(data):
    page, _, _, size = struct.unpack_from("<IHHI", data, 44)

    def joined(numbers, length):
        return b"".join(data[number * page:(number + 1) * page] for number in numbers)[:length]
    directory = joined(struct.unpack_from(f"<{-(-size // page)}H", data, 60), size)
    count, at, found = u16(directory, 0), 4, []
    sizes = [u32(directory, at + 8 * i) for i in range(count)]
    at += 8 * count
    for length in sizes:
        pages = 0 if length == 0xffffffff else -(-length // page)
        found.append(joined(struct.unpack_from(f"<{pages}H", directory, at), length if pages else 0))
        at += 2 * pages
    return found


class Types:
    def __init__(self, stream):
        version = u32(stream, 0)
        self.old = version < 19960307
        if self.old:
            self.first, at, size = u16(stream, 4), 16, u32(stream, 8)
        elif version == 19960307:
            self.first, at, size = u32(stream, 4), 20, u32(stream, 12)
        else:
            self.first, at, size = u32(stream, 8), u32(stream, 4), u32(stream, 16)
        self.records, end = [], at + size
        while at < end:
            self.records.append(stream[at + 2:at + 2 + u16(stream, at)])
            at += 2 + u16(stream, at)

    def record(self, index):
        place = index - self.first
        return self.records[place] if 0 <= place < len(self.records) else b"\0\0"

    def index(self, data, at):
        return (u16(data, at), at + 2) if self.old else (u32(data, at), at + 4)

    def bits(self, index):
        """Length and position of a bit field."""
        record = self.record(index)
        if self.old and u16(record, 0) == 0x206:
            return record[2], record[3]
        return (record[6], record[7]) if not self.old and u16(record, 0) == 0x1205 else None

    def aggregates(self):
        """Definitions: word, name, size, index of the list."""
        wanted = {4: "class", 5: "struct", 6: "union"} if self.old else {0x1004: "class", 0x1005: "struct", 0x1006: "union"}
        for record in self.records:
            word = wanted.get(u16(record, 0))
            if not word:
                continue
            if self.old:
                fields, properties, at = u16(record, 4), u16(record, 6), 8 if word == "union" else 12
            else:
                properties, fields, at = u16(record, 4), u32(record, 6), 10 if word == "union" else 18
            size, at = number(record, at)
            if not properties & 0x80:
                yield word, name(record, at)[0], size, fields

    def members(self, index):
        """Of data: name, offset, length and position of bits."""
        while index:
            record, at, index = self.record(index), 2, 0
            while at + 2 <= len(record):
                if record[at] >= 0xf0:
                    at += max(1, record[at] & 15)
                    continue
                kind, at = u16(record, at), at + 2
                kind = {0x400: 0x1400, 0x401: 0x1401, 0x402: 0x1402, 0x404: 0x1403, 0x405: 0x1404, 0x406: 0x1405,
                        0x407: 0x1406, 0x408: 0x1407, 0x409: 0x1408, 0x40a: 0x1409, 0x40b: 0x140a, 0x40c: 0x140b,
                        0x40d: 0x140c}.get(kind, kind)
                words = {0x1401: 2, 0x1402: 2, 0x403: 0}.get(kind, 1)
                attributes = 0
                if not self.old or kind in (0x403, 0x1407, 0x140b):
                    attributes, at = u16(record, at), at + 2
                of, _ = self.index(record, at)
                at += words * (2 if self.old else 4)
                if self.old and kind in (0x1400, 0x1401, 0x1402, 0x1405, 0x1406):
                    attributes, at = u16(record, at), at + 2
                if kind == 0x1405:
                    offset, at = number(record, at)
                    text, at = name(record, at)
                    yield text, offset, self.bits(of)
                elif kind in (0x1400,):
                    _, at = number(record, at)
                elif kind in (0x1401, 0x1402):
                    _, at = number(record, at)
                    _, at = number(record, at)
                elif kind == 0x403:
                    _, at = number(record, at)
                    _, at = name(record, at)
                elif kind == 0x1404:
                    index = of
                elif kind == 0x140c:
                    at += 4
                elif kind in (0x1409, 0x140a):
                    pass
                else:
                    if kind == 0x140b and attributes >> 2 & 7 in (4, 6):
                        at += 4
                    assert kind in (0x1403, 0x1406, 0x1407, 0x1408, 0x140b), hex(kind)
                    _, at = name(record, at)


class Pdb:
    def __init__(self, path):
        self.streams = streams(path.read_bytes())
        _, self.signature, self.age = struct.unpack_from("<III", self.streams[1], 0)
        self.types = Types(self.streams[2]) if self.streams[2] else None
        self.dbi = self.streams[3] if len(self.streams) > 3 else b""

    def symbols(self):
        """Of the program and of modules: kind, name, section, offset, size of code."""
        if not self.dbi:
            return
        new = u32(self.dbi, 0) == 0xffffffff
        at, version = (64, u32(self.dbi, 4)) if new else (24, 0)
        yield from records_of(self.streams[u16(self.dbi, 20 if new else 4)])
        size = u32(self.dbi, 24 if new else 8)
        short = version < 19970606
        end = at + size
        while at < end:
            stream, length = struct.unpack_from("<HI", self.dbi, at + (26 if short else 34))
            if stream != 0xffff and length > 4:
                yield from records_of(self.streams[stream][4:length])
            at = self.dbi.index(b"\0", self.dbi.index(b"\0", at + (48 if short else 64)) + 1) + 1
            at += -(at - (64 if new else 24)) % 4

    def publics(self):
        return sorted((text, section, offset) for kind, text, section, offset, _ in self.symbols()
                      if kind == "public")


def records_of(stream):
    at = 0
    while at + 4 <= len(stream):
        kind, data = u16(stream, at + 2), stream[at + 4:at + 2 + u16(stream, at)]
        at += 2 + u16(stream, at)
        if kind in (0x400, 0x401, 0x403):  # a name lies behind
            at += (stream[at] + 1 + 3) // 4 * 4
        if kind in (0x203, 0x201, 0x202, 0x1009, 0x1007, 0x1008):
            offset, section = struct.unpack_from("<IH", data, 0 if kind < 0x1000 else 4)
            word = {3: "public", 9: "public", 1: "data", 7: "data", 2: "global", 8: "global"}[kind & 15]
            yield word, name(data, 8 if kind < 0x1000 else 10)[0], section, offset, None
        elif kind in (0x204, 0x205, 0x100a, 0x100b):
            offset, section = struct.unpack_from("<IH", data, 24 if kind < 0x1000 else 28)
            word = "procedure" if kind in (0x205, 0x100b) else "local_procedure"
            yield word, name(data, 33 if kind < 0x1000 else 35)[0], section, offset, u32(data, 12)
