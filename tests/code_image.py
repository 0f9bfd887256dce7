"""An image of code alone."""
import struct


def code_image(code):
    """A PE32+ image of x64 with one section, of this code, and nothing else."""
    stored = code + bytes(-len(code) % 0x200)
    optional = struct.pack("<HBBIIIII", 0x20b, 0, 0, len(stored), 0, 0, 0, 0x1000)
    optional += struct.pack("<QII6HIIIIHH4QII", 0x140000000, 0x1000, 0x200, *[0] * 6, 0,
                            0x1000 + (len(code) + 0xfff) // 0x1000 * 0x1000, 0x200, 0, 1, 0, 0, 0, 0,
                            0, 0, 16) + bytes(16 * 8)
    headers = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0"
    headers += struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, len(optional), 0x22) + optional
    headers += struct.pack("<8sIIIIIIHHI", b".text", len(code), 0x1000, len(stored), 0x200, 0, 0, 0,
                           0, 0x60000020)
    return headers.ljust(0x200, b"\0") + stored
