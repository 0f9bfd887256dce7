"""CRC-32C (RFC 3720, appendix B.4), which the tests compute for themselves."""


def _remainder(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    return byte


_TABLE = [_remainder(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff
