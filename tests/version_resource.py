"""A version resource as the file that linkers take."""
import struct


def version_resource(version):
    """A .res file with that file version; the version of the product is another."""
    words = [(major << 16 | minor) for major, minor in (version[:2], version[2:])]
    fixed = struct.pack("<13I", 0xfeef04bd, 0x10000, *words, 0x90009, 0x90009, 0x3f, 0, 0x40004,
                        1, 0, 0, 0)
    key = "VS_VERSION_INFO\0".encode("utf-16-le")
    data = struct.pack("<3H", 6 + len(key) + 2 + len(fixed), len(fixed), 0) + key + bytes(2) + fixed
    entry = lambda size, kind, name, flags, language: struct.pack(
        "<2I4HI2H2I", size, 32, 0xffff, kind, 0xffff, name, 0, flags, language, 0, 0)
    return entry(0, 0, 0, 0, 0) + entry(len(data), 16, 1, 0x30, 0x409) + data + \
        bytes(-len(data) % 4)
