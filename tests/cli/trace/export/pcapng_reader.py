"""A strict reader of pcapng files: whatever the format does not allow is an error.

Source: draft-ietf-opsawg-pcapng."""
import struct

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6


def padded(size):
    return (size + 3) & ~3


def options_of(body):
    """Options by code, in a list each; the end of options must be there and be the last."""
    found, at = {}, 0
    while at < len(body):
        code, size = struct.unpack_from("<HH", body, at)
        value = body[at + 4:at + 4 + size]
        assert len(value) == size, "an option ends inside its block"
        assert not any(body[at + 4 + size:at + 4 + padded(size)]), "padding is zeros"
        at += 4 + padded(size)
        if code == 0:
            assert size == 0 and at == len(body), "options go on behind their end"
            return found
        found.setdefault(code, []).append(value)
    assert not body, "options without an end"
    return found


def read_pcapng(content):
    """The section's options, its interfaces and its packets, as dictionaries."""
    section, interfaces, packets, at = None, [], [], 0
    while at < len(content):
        kind, size = struct.unpack_from("<II", content, at)
        assert size % 4 == 0 and size >= 12 and at + size <= len(content), f"block at {at}"
        assert struct.unpack_from("<I", content, at + size - 4) == (size,), f"lengths at {at}"
        body = content[at + 8:at + size - 4]
        at += size
        assert (kind == SECTION) == (section is None), "one section, and first"
        if kind == SECTION:
            magic, major, minor, length = struct.unpack_from("<IHHq", body)
            assert (magic, major, minor, length) == (0x1A2B3C4D, 1, 0, -1)
            section = options_of(body[16:])
        elif kind == INTERFACE:
            link, reserved, snap = struct.unpack_from("<HHI", body)
            assert reserved == 0
            options = options_of(body[8:])
            for code, sizes in {4: {8}, 5: {17}, 6: {6}, 9: {1}}.items():
                assert all(len(value) in sizes for value in options.get(code, [])), code
            assert options[9] == [b"\x07"], "100 ns"
            interfaces.append({
                "link": link, "snap": snap, "name": options[2][0].decode(),
                "description": options.get(3, [b""])[0].decode(), "ipv4": options.get(4, []),
                "ipv6": options.get(5, []), "mac": options.get(6, [None])[0]})
        elif kind == PACKET:
            number, high, low, captured, original = struct.unpack_from("<5I", body)
            assert number < len(interfaces), "an interface that is not described yet"
            data = body[20:20 + captured]
            assert len(data) == captured <= original
            assert not any(body[20 + captured:20 + padded(captured)]), "padding is zeros"
            options = options_of(body[20 + padded(captured):])
            flags, = struct.unpack("<I", options.get(2, [bytes(4)])[0])
            packets.append({
                "interface": interfaces[number], "ticks": high << 32 | low, "data": data,
                "original": original, "direction": {0: None, 1: "in", 2: "out"}[flags],
                "group": struct.unpack("<Q", options[5][0])[0] if 5 in options else None,
                "verdict": options.get(7, [None])[0],
                "comment": options.get(1, [b""])[0].decode()})
        else:
            raise AssertionError(f"block type {kind}")
    assert section is not None
    return section, interfaces, packets
