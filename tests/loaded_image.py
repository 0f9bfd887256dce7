"""A PE image as a loader maps it, from its section table."""
import struct


def as_loaded(file):
    """The bytes in memory of the file's bytes. Offsets are those of the PE/COFF specification."""
    header, = struct.unpack_from("<I", file, 60)
    count, optional_size = struct.unpack_from("<H12xH", file, header + 6)
    size_of_image, size_of_headers = struct.unpack_from("<II", file, header + 24 + 56)
    loaded = bytearray(size_of_image)
    loaded[:size_of_headers] = file[:size_of_headers]
    for index in range(count):
        virtual_size, address, raw_size, raw_offset = struct.unpack_from(
            "<8x4I", file, header + 24 + optional_size + 40 * index)
        content = file[raw_offset:raw_offset + raw_size]
        content = content[:virtual_size] if virtual_size else content
        loaded[address:address + len(content)] = content
    return bytes(loaded)
