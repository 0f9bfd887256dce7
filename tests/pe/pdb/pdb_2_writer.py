"""Writes PDBs 2.00 for tests, from microsoft-pdb: MSF_HDR (msf.cpp), HDR_16t and HDR (tpi.h), DBIHdr and
NewDBIHdr (dbi.h), MODI50, and the records of cvinfo.h. A type is told once and written for either era:
16-bit indexes of Visual C++ 4, or the 32-bit ones of Visual C++ 5 and 6."""
import struct


def msf_2(streams, page=1024):
    """The container, its pages in falling order so that no stream lies in one piece."""
    sizes = [-(-len(stream) // page) for stream in streams]
    head = struct.pack("<HH", len(streams), 0) + b"".join(
        struct.pack("<II", len(stream), 0xbad) for stream in streams)
    directory_size = len(head) + 2 * sum(sizes)
    directory_pages = -(-directory_size // page)
    count = 2 + sum(sizes) + directory_pages
    free = iter(range(count - 1, 1, -1))
    pages = [bytes(page)] * count

    def place(content):
        numbers = []
        for at in range(0, len(content), page):
            numbers.append(next(free))
            pages[numbers[-1]] = content[at:at + page].ljust(page, b"\0")
        return numbers
    listed = [place(stream) for stream in streams]
    directory = head + b"".join(struct.pack("<H", number) for numbers in listed for number in numbers)
    pages[0] = (b"Microsoft C/C++ program database 2.00\r\n\x1aJG\0\0" + struct.pack(
        "<IHHII", page, 1, count, len(directory), 0) + b"".join(
            struct.pack("<H", number) for number in place(directory))).ljust(page, b"\0")
    return b"".join(pages)


def st(name):
    return struct.pack("<B", len(name)) + name


def number(value):
    if 0 <= value < 0x8000:
        return struct.pack("<H", value)
    return struct.pack("<Hi", 0x8003, value)


class Types:
    """Records in one era: `old` has indexes of 16 bits."""

    def __init__(self, old):
        self.old, self.records = old, []

    def ti(self, index):
        return struct.pack("<H" if self.old else "<I", index)

    def add(self, kinds, body):
        self.records.append(struct.pack("<H", kinds[0] if self.old else kinds[1]) + body)
        return 0x1000 + len(self.records) - 1

    def ordered(self, old, new):
        return b"".join(old if self.old else new)

    def modifier(self, index, flags):
        word = struct.pack("<H", flags)
        return self.add((1, 0x1001), self.ordered((word, self.ti(index)), (self.ti(index), word)))

    def pointer(self, index, attributes=0x0a):
        return self.add((2, 0x1002), self.ordered((struct.pack("<H", attributes), self.ti(index)),
                                                  (self.ti(index), struct.pack("<I", attributes))))

    def array(self, element, size):
        return self.add((3, 0x1003), self.ti(element) + self.ti(0x74) + number(size) + st(b""))

    def aggregate(self, what, name, members, fields, size, properties=0, shape=0):
        old, new = {"class": (4, 0x1004), "struct": (5, 0x1005), "union": (6, 0x1006)}[what]
        count, words = struct.pack("<H", members), struct.pack("<H", properties)
        tail = b"" if what == "union" else self.ti(0) + self.ti(shape)
        return self.add((old, new), self.ordered((count, self.ti(fields), words, tail),
                                                 (count, words, self.ti(fields), tail)) + number(size) + st(name))

    def enum(self, name, members, underlying, fields):
        count, words = struct.pack("<H", members), struct.pack("<H", 0)
        return self.add((7, 0x1007), self.ordered(
            (count, self.ti(underlying), self.ti(fields), words),
            (count, words, self.ti(underlying), self.ti(fields))) + st(name))

    def arguments(self, *types):
        return self.add((0x201, 0x1201), struct.pack("<H" if self.old else "<I", len(types)) +
                        b"".join(map(self.ti, types)))

    def procedure(self, returns, arguments, count):
        return self.add((8, 0x1008), self.ti(returns) + struct.pack("<BBH", 7, 0, count) + self.ti(arguments))

    def member_function(self, returns, of, this, arguments, count):
        return self.add((9, 0x1009), self.ti(returns) + self.ti(of) + self.ti(this) +
                        struct.pack("<BBH", 0xb, 0, count) + self.ti(arguments) + struct.pack("<i", 0))

    def bits(self, index, length, position):
        return self.add((0x206, 0x1205), self.ordered((struct.pack("<BB", length, position), self.ti(index)),
                                                      (self.ti(index), struct.pack("<BB", length, position))))

    def methods(self, *methods):
        body = b""
        for attributes, index, place in methods:
            body += struct.pack("<H", attributes) + (b"" if self.old else bytes(2)) + self.ti(index)
            body += b"" if place is None else struct.pack("<I", place)
        return self.add((0x207, 0x1206), body)

    def shape(self, slots):
        return self.add((0xa, 0xa), struct.pack("<H", slots) + b"\x55" * -(-slots // 2))

    def fields(self, *entries):
        body = b""
        for entry in entries:
            body += entry
            body += bytes(0xf0 + left for left in range(-(len(body) + 2) % 4, 0, -1))
        return self.add((0x204, 0x1203), body)

    # Entries of field lists.
    def entry(self, kinds, old, new):
        return struct.pack("<H", kinds[0] if self.old else kinds[1]) + self.ordered(old, new)

    def typed(self, kinds, index, attributes, rest):
        word = struct.pack("<H", attributes)
        return self.entry(kinds, (self.ti(index), word, rest), (word, self.ti(index), rest))

    def member(self, name, index, offset, attributes=3):
        return self.typed((0x406, 0x1405), index, attributes, number(offset) + st(name))

    def base(self, index, offset):
        return self.typed((0x400, 0x1400), index, 3, number(offset))

    def virtual_base(self, index, pointer, offset, slot):
        word, rest = struct.pack("<H", 3), number(offset) + number(slot)
        return self.entry((0x401, 0x1401), (self.ti(index), self.ti(pointer), word, rest),
                          (word, self.ti(index), self.ti(pointer), rest))

    def static(self, name, index):
        return self.typed((0x407, 0x1406), index, 3, st(name))

    def enumerator(self, name, value):
        return self.entry((0x403, 0x403), (struct.pack("<H", 3), number(value), st(name)),
                          (struct.pack("<H", 3), number(value), st(name)))

    def overloads(self, name, count, methods):
        parts = (struct.pack("<H", count), self.ti(methods), st(name))
        return self.entry((0x408, 0x1407), parts, parts)

    def method(self, name, index, attributes, place=None):
        parts = (struct.pack("<H", attributes), self.ti(index),
                 b"" if place is None else struct.pack("<I", place), st(name))
        return self.entry((0x40c, 0x140b), parts, parts)

    def padded(self, kinds, index, rest=b""):
        return self.entry(kinds, (self.ti(index), rest), (bytes(2), self.ti(index), rest))

    def nested(self, name, index):
        return self.padded((0x409, 0x1408), index, st(name))

    def friend(self, index):
        return self.padded((0x40b, 0x140a), index)

    def friend_function(self, name, index):
        return self.padded((0x404, 0x1403), index, st(name))

    def virtual_table(self, index):
        return self.padded((0x40a, 0x1409), index)

    def virtual_table_at(self, index, offset):
        return self.padded((0x40d, 0x140c), index, struct.pack("<I", offset))

    def more(self, index):
        return self.padded((0x405, 0x1404), index)

    def stream(self, version=None):
        content = b"".join(struct.pack("<H", len(record)) + record for record in self.records)
        last = 0x1000 + len(self.records)
        if self.old:
            return struct.pack("<IHHIHH", version or 19951122, 0x1000, last, len(content), 0xffff, 0) + content
        if version == 19960307:
            return struct.pack("<IIIIHH", version, 0x1000, last, len(content), 0xffff, 0) + content
        return struct.pack("<5I2H2I6i", version or 19961031, 56, 0x1000, last, len(content), 0xffff, 0xffff,
                           2, 0x1000, 0, 0, 0, 0, 0, 0) + content


class Symbols:
    """Symbol records in one era."""

    def __init__(self, old):
        self.old, self.content = old, b""

    def add(self, kinds, body):
        body += bytes(-(len(body) + 4) % 4)
        at = len(self.content)
        self.content += struct.pack("<HH", len(body) + 2, kinds[0] if self.old else kinds[1]) + body
        return at

    def placed(self, kinds, name, index, section, offset):
        place = struct.pack("<IH", offset, section)
        body = place + struct.pack("<H", index) if self.old else struct.pack("<I", index) + place
        return self.add(kinds, body + st(name))

    def reference(self, name, module, place):
        """To a procedure of a module, with its name behind the record."""
        body = struct.pack("<HHIIHH", 14, 0x400, 0, place, module, 0) + st(name)
        self.content += body + bytes(-len(body) % 4)

    def public(self, name, section, offset):
        return self.placed((0x203, 0x1009), name, 0, section, offset)

    def variable(self, name, index, section, offset, is_global=True, of_thread=False):
        kinds = {(False, False): (0x201, 0x1007), (True, False): (0x202, 0x1008),
                 (False, True): (0x20d, 0x100e), (True, True): (0x20e, 0x100f)}[is_global, of_thread]
        return self.placed(kinds, name, index, section, offset)

    def short(self, kinds, index, rest):
        return self.add(kinds, struct.pack("<H" if self.old else "<I", index) + rest)

    def constant(self, name, index, value):
        return self.short((3, 0x1002), index, number(value) + st(name))

    def user_type(self, name, index):
        return self.short((4, 0x1003), index, st(name))

    def procedure(self, name, index, section, offset, size, is_global=True):
        kinds = (0x205, 0x100b) if is_global else (0x204, 0x100a)
        place = struct.pack("<IH", offset, section)
        body = struct.pack("<6I", 0, 0, 0, size, 0, size)
        body += place + struct.pack("<H", index) if self.old else struct.pack("<I", index) + place
        return self.add(kinds, body + b"\0" + st(name))


def type_server(signature, age, name, user):
    """An entry of the map of other PDBs: TSM of microsoft-pdb."""
    entry = struct.pack("<IIII", 0, 0, signature, age) + name + b"\0" + user + b"\0"
    return entry + bytes(-len(entry) % 4)


def pdb_2(types, records=None, modules=(), contributions=(), publics=None, signature=0x560b9f0f, age=3,
          page=1024, version=None, tail=b"", dbi_age=None, servers=b"", dbi=19970606):
    """`records` are the Symbols of the program; `modules` pairs of a name and Symbols; `contributions` section,
    offset, size, module; `publics` places of public symbols among the records; `servers` the map of other PDBs;
    `dbi` the version of the DBI stream, before 19970606 that of Visual C++ 5."""
    old, short = types.old, types.old or dbi < 19970606
    info = struct.pack("<III", 19950814 if old else 19970604, signature, age)
    streams = [b"", info, types.stream(version) + tail]
    if records is None:
        return msf_2(streams, page)
    streams += [b"", records.content]
    publics_stream = 0xffff
    if publics is not None:
        publics_stream = len(streams)
        streams.append(struct.pack("<II", 0, 4 * len(publics)) + bytes(20) + struct.pack(f"<{len(publics)}I", *publics))
    listed = b""
    for name, symbols in modules:
        content = struct.pack("<I", 1 if old else 2) + symbols.content
        entry = bytes(4 + (20 if short else 28)) + struct.pack("<HH", 0, len(streams))
        entry += struct.pack("<IIIHHI", len(content), 0, 0, 1, 0, 0) + (b"" if short else bytes(8))
        entry += name + b"\0lib of " + name + b"\0"
        listed += entry + bytes(-len(entry) % 4)
        streams.append(content)
    placed = b""
    for section, offset, size, module in contributions:
        placed += struct.pack("<HHIIIHH", section, 0, offset, size, 0x60000020, module, 0)
        placed += b"" if short else bytes(8)
    if placed and not short:
        placed = struct.pack("<I", 0xf12eba2d) + placed
    if old:
        head = struct.pack("<HHHHIIII", 0xffff, publics_stream, 4, 0, len(listed), len(placed), 0, 0)
    else:
        head = struct.pack("<iIIHHHHHHiiiiiIiiHHI", -1, dbi, dbi_age or age, 0xffff, 0, publics_stream, 0, 4, 0,
                           len(listed), len(placed), 0, 0, len(servers), 0, 0, 0, 0, 0, 0)
    streams[3] = head + listed + placed + servers
    return msf_2(streams, page)
