"""A PE image as a loader maps it, from its section table."""
import struct


def as_loaded(file):
    """The bytes in memory of the file's bytes. Offsets are those of the PE/COFF specification."""
    header, = struct.unpack_from("<I", file, 60)
    count, optional_size = struct.unpack_from("<H12xH", file, header + 6)
    alignment, = struct.unpack_from("<I", file, header + 24 + 32)
    page = 0x1000 if alignment >= 0x1000 else 1
    size_of_image, size_of_headers = struct.unpack_from("<II", file, header + 24 + 56)
    loaded = bytearray(size_of_image)
    loaded[:size_of_headers] = file[:size_of_headers]
    for index in range(count):
        virtual_size, address, raw_size, raw_offset = struct.unpack_from(
            "<8x4I", file, header + 24 + optional_size + 40 * index)
        content = file[raw_offset:raw_offset + raw_size]
        # Whole pages are mapped, so that what is stored behind VirtualSize is there too.
        if virtual_size:
            content = content[:-(-virtual_size // page) * page]
        content = content[:max(size_of_image - address, 0)]
        loaded[address:address + len(content)] = content
    return bytes(loaded)
