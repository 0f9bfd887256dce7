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
