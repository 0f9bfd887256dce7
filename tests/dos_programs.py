"""Programs that start with MZ as PE images do, and are none: of DOS, and of 16-bit Windows."""
import struct


def dos_program(code, header_size=32):
    """Relocations lie at 0x1c, where a header of a later format has none, and code from `header_size` on."""
    size = header_size + len(code)
    header = struct.pack("<2s13H", b"MZ", size % 512, -(-size // 512), 0, header_size // 16, 0, 0xffff, 0, 0x80, 0, 0, 0, 28, 0)
    return header.ljust(header_size, b"\0") + code


EXIT = b"\xb8\x00\x4c\xcd\x21"
PROGRAMS = {
    "small.exe": dos_program(EXIT),
    # 0x3c has instructions, which as an offset lead out of the file.
    "large.exe": dos_program(EXIT * 300),
    "page.exe": dos_program(EXIT * 96, 544),
    "win16.exe": struct.pack("<2s22xH34xI", b"MZ", 64, 64) + b"NE".ljust(64, b"\0"),
    "vxd.386": struct.pack("<2s22xH34xI", b"MZ", 64, 64) + b"LE".ljust(196, b"\0"),
}
