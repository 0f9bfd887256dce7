"""Names of processes in UTF-16 in a trace of coldtrace's own: its schema says how they are stored. Source: trace-format.md."""
import struct

from checksums import crc32c

SIZE = 16  # bytes, of ANSI and of UTF-16


def with_wide_names(content, before, names):
    """The bytes of a trace of the schema wmk, in which each of the names of `before` once becomes the one of `names`."""
    content = bytearray(content)

    def replace(old, new):
        at = content.index(old)
        content[at:at + len(old)] = new

    replace(b"ansi image_file_name[16]", b"utf16 image_file_name[8]")
    for old, new in zip(before, names, strict=True):
        replace(old.encode().ljust(SIZE, b"\0"), new.encode("utf-16-le", "surrogatepass").ljust(SIZE, b"\0"))
    size, = struct.unpack_from("<I", content, 12)
    crcs = [(16, 0, size)]  # of the header and of each buffer: where it is, and of what
    at = size
    while at < len(content):
        end = at + 64 + struct.unpack_from("<I", content, at + 12)[0]
        crcs.append((at + 8, at, end))
        at = end
    for place, begin, end in crcs:
        content[place:place + 4] = bytes(4)
        struct.pack_into("<I", content, place, crc32c(bytes(content[begin:end])))
    return bytes(content)
