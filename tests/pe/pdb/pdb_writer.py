"""Writes program databases for tests, from LLVM's documents of the format."""
import struct


def msf(streams, block=4096):
    """A multi-stream file of these streams, each in blocks one after another."""
    blocks = [b"", bytes(block), bytes(block)]

    def place(content):
        first = len(blocks)
        blocks.extend(content[at:at + block].ljust(block, b"\0")
                      for at in range(0, len(content), block))
        return range(first, len(blocks))
    lists = [place(stream) for stream in streams]
    directory = struct.pack("<I", len(streams)) + b"".join(
        struct.pack("<I", len(stream)) for stream in streams) + b"".join(
        struct.pack("<I", number) for numbers in lists for number in numbers)
    directory_blocks = place(directory)
    map_block, = place(b"".join(struct.pack("<I", number) for number in directory_blocks))
    blocks[0] = (b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0" + struct.pack(
        "<6I", block, 1, len(blocks), len(directory), 0, map_block)).ljust(block, b"\0")
    return b"".join(blocks)


def type_stream(records, version=20040203):
    """A TPI stream of these records, each from its kind on."""
    content = b"".join(
        struct.pack("<H", len(padded)) + padded for padded in (
            record + bytes(0xf0 + left for left in range(-(len(record) + 2) % 4, 0, -1))
            for record in records))
    return struct.pack("<5I2H2I6i", version, 56, 0x1000, 0x1000 + len(records), len(content),
                       0xffff, 0xffff, 4, 0x3ffff, 0, 0, 0, 0, 0, 0) + content


def pdb_of_types(records):
    """A PDB with these types and nothing else, as compilers write them."""
    info = struct.pack("<III", 20000404, 1, 1) + bytes(range(16)) + bytes(16)
    return msf([b"", info, type_stream(records)])


def symbol(kind, body):
    """A symbol record, with its length and padding."""
    padding = -(len(body) + 4) % 4
    return struct.pack("<HH", len(body) + 2 + padding, kind) + body + bytes(padding)


def section_header(rva, size, name=b".text"):
    return name.ljust(8, b"\0") + struct.pack("<IIII", size, rva, size, 0x400) + bytes(12) + struct.pack("<I", 0x60000020)


def pdb_of_symbols(records=b"", modules=(), types=(), ids=(), sections=((0x1000, 0x1000),), contributions=(),
                   original=(), moves=(), publics=None):
    """A PDB as linkers write them. `records` are those of the whole program; `modules` pairs of a name
    and records; `contributions` section, offset, size, module; `moves` OMAP entries, with the
    `original` sections; `publics` places of public symbols among `records`."""
    info = struct.pack("<III", 20000404, 1, 1) + bytes(range(16)) + bytes(16)
    streams = [b"", info, type_stream(types), b"", type_stream(ids), records,
               b"".join(section_header(*place) for place in sections)]
    headers = [0xffff] * 11
    headers[5] = 6
    if original:
        headers[10], headers[4] = len(streams), len(streams) + 1
        streams += [b"".join(section_header(*place) for place in original),
                    b"".join(struct.pack("<II", *move) for move in moves)]
    publics_stream = 0xffff
    if publics is not None:
        publics_stream = len(streams)
        places = b"".join(struct.pack("<I", place) for place in publics)
        streams.append(struct.pack("<II", 0, len(places)) + bytes(20) + places)
    listed = b""
    for name, content in modules:
        entry = bytes(34) + struct.pack("<HIIIHHIII", len(streams), len(content) + 4, 0, 0, 1, 0, 0, 0, 0)
        entry += name + b"\0" + b"lib of " + name + b"\0"
        listed += entry + bytes(-len(entry) % 4)
        streams.append(struct.pack("<I", 4) + content)
    placed = b"" if not contributions else struct.pack("<I", 0xf12eba2d) + b"".join(
        struct.pack("<HHIIIHHII", section, 0, offset, size, 0x60000020, module, 0, 0, 0)
        for section, offset, size, module in contributions)
    debug = struct.pack("<11H", *headers)
    streams[3] = struct.pack("<iIIHHHHHHiiiiiIiiHHI", -1, 19990903, 1, 0xffff, 0, publics_stream, 0, 5, 0,
                             len(listed), len(placed), 0, 0, 0, 0, len(debug), 0, 0, 0x8664, 0) + listed + placed + debug
    return msf(streams)
