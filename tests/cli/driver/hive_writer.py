"""Registry hives and their logs, written from M. Suhanov's "Windows registry file format specification".

A key is a dictionary: subkeys are dictionaries, values anything else: texts are REG_SZ, lists REG_MULTI_SZ, integers REG_DWORD,
bytes REG_BINARY, and (type, bytes) what it says.
"""
import struct

MASK = 0xFFFFFFFF
PAGE = 4096


def text(value):
    return value.encode("utf-16-le", "surrogatepass") + b"\0\0"


def multi(values):
    return b"".join(text(value) for value in values) + b"\0\0"


def expand(value):
    return (2, text(value))


def typed(value):
    if isinstance(value, str):
        return 1, text(value)
    if isinstance(value, list):
        return 7, multi(value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, bytes):
        return 3, value
    return value


def checksum(sector):
    result = 0
    for word in struct.unpack_from("<127I", sector):
        result ^= word
    return {MASK: MASK - 1, 0: 1}.get(result, result)


def base_block(sequences, root, bins_size, kind=0, name="SYSTEM", written=0x01D5000000000000, minor=5):
    block = bytearray(512)
    struct.pack_into("<4sIIQ6II", block, 0, b"regf", *sequences, written, 1, minor, kind, 1, root, bins_size, 1)
    block[48:48 + 2 * len(name)] = name.encode("utf-16-le")
    struct.pack_into("<I", block, 508, checksum(block))
    return block


class Hive:
    """The file's bytes as `data`; `cells` has the offset of each key's node by its path."""

    def __init__(self, tree, sequences=(7, 7), list_kind="lh", minor=5, name="SYSTEM", written=0x01D5000000000000):
        self.bins, self.cells, self.list_kind, self.minor = bytearray(), {}, list_kind, minor
        self.bin_start = self.free = self.bin_end = 0
        self.written = written
        root = self.key("", tree, 0, "", 0x2C)
        self.close_bin()
        block = base_block(sequences, root, len(self.bins), name=name, written=written, minor=minor)
        self.data = bytes(block) + bytes(PAGE - 512) + bytes(self.bins)

    def close_bin(self):
        if self.bin_end > self.free:
            struct.pack_into("<i", self.bins, self.free, self.bin_end - self.free)
            self.free = self.bin_end

    def cell(self, content):
        """Where the cell lies that holds it; returns its offset."""
        size = (len(content) + 4 + 7) // 8 * 8
        if self.bin_end - self.free < size:
            self.close_bin()
            length = (size + 32 + PAGE - 1) // PAGE * PAGE
            self.bin_start = len(self.bins)
            self.bins += struct.pack("<4sII8xQI", b"hbin", self.bin_start, length, self.written, 0)
            self.bins += bytes(length - 32)
            self.free, self.bin_end = self.bin_start + 32, self.bin_start + length
        at, self.free = self.free, self.free + size
        struct.pack_into("<i", self.bins, at, -size)
        self.bins[at + 4:at + 4 + len(content)] = content
        return at

    @staticmethod
    def name_bytes(name):
        try:
            return name.encode("latin-1"), True
        except UnicodeEncodeError:
            return name.encode("utf-16-le", "surrogatepass"), False

    def value(self, name, value):
        kind, data = typed(value)
        raw, plain = self.name_bytes(name)
        size = len(data)
        if size <= 4:
            place, size = struct.unpack("<I", data.ljust(4, b"\0"))[0], size | 0x80000000
        elif size > 16344 and self.minor > 3:
            parts = [self.cell(data[i:i + 16344]) for i in range(0, size, 16344)]
            listed = self.cell(struct.pack(f"<{len(parts)}I", *parts))
            place = self.cell(struct.pack("<2sHI", b"db", len(parts), listed))
        else:
            place = self.cell(data)
        return self.cell(struct.pack("<2sHIIIHH", b"vk", len(raw), size, place, kind, int(plain), 0) + raw)

    def subkeys(self, cells):
        """A list of them; of many an index root of lists."""
        if len(cells) > 200 or self.list_kind == "ri":
            parts = [self.leaf(cells[i:i + 200]) for i in range(0, len(cells), 200)]
            return self.cell(struct.pack(f"<2sH{len(parts)}I", b"ri", len(parts), *parts))
        return self.leaf(cells)

    def leaf(self, cells):
        if self.list_kind == "li":
            return self.cell(struct.pack(f"<2sH{len(cells)}I", b"li", len(cells), *cells))
        kind = b"lf" if self.list_kind == "lf" else b"lh"
        elements = [number for cell in cells for number in (cell, 0)]
        return self.cell(struct.pack(f"<2sH{len(elements)}I", kind, len(cells), *elements))

    def key(self, name, tree, parent, path, flags=0):
        raw, plain = self.name_bytes(name)
        at = self.cell(bytes(76) + raw)
        self.cells[path] = at
        names = [name for name, value in tree.items() if isinstance(value, dict)]
        keys = [self.key(name, tree[name], at, f"{path}\\{name}".strip("\\")) for name in names]
        listed = self.subkeys(keys) if keys else MASK
        values = [self.value(name, value) for name, value in tree.items() if not isinstance(value, dict)]
        value_list = self.cell(struct.pack(f"<{len(values)}I", *values)) if values else MASK
        node = struct.pack("<2sHQ15I2H", b"nk", flags | (0x20 if plain else 0), 0, 0, parent, len(keys), 0, listed, MASK,
                           len(values), value_list, MASK, MASK, 0, 0, 0, 0, 0, len(raw), 0)
        self.bins[at + 4:at + 4 + len(node)] = node
        return at


def marvin32(data):
    def rotate(value, bits):
        return (value << bits | value >> 32 - bits) & MASK

    low, high = 0x7A4E55C5, 0x82EF4D88
    padded = data + b"\x80" + bytes(-(len(data) + 1) % 4) + bytes(4)
    for (word,) in struct.iter_unpack("<I", padded):
        low = low + word & MASK
        high ^= low
        low = rotate(low, 20) + high & MASK
        high = rotate(high, 9) ^ low
        low = rotate(low, 27) + high & MASK
        high = rotate(high, 19)
    return struct.pack("<II", low, high)


def bins_of(data):
    return data[PAGE:]


def changed_pages(old, new, size=PAGE):
    """(offset, bytes) of what differs in the bins, and of all that is new."""
    old, new = bins_of(old), bins_of(new)
    return [(at, new[at:at + size]) for at in range(0, len(new), size) if old[at:at + size] != new[at:at + size]]


def log_entry(sequence, bins_size, pages):
    body = b"".join(struct.pack("<II", at, len(page)) for at, page in pages) + b"".join(page for _, page in pages)
    size = (40 + len(body) + 511) // 512 * 512
    body = body.ljust(size - 40, b"\0")
    head = struct.pack("<4s5I", b"HvLE", size, 0, sequence, bins_size, len(pages)) + marvin32(body)
    return head + marvin32(head) + body


def entry_log(first, entries, root=32, bins_size=PAGE, name="SYSTEM"):
    return bytes(base_block((first, first), root, bins_size, kind=6, name=name)) + b"".join(entries)


def page_log(old, new, sequences=(7, 7)):
    """A log of the old format: what makes `new` of `old`."""
    written, = struct.unpack_from("<Q", old, 12)
    root, bins_size = struct.unpack_from("<II", new, 36)
    pages = changed_pages(old, new, 512)
    bitmap = bytearray(bins_size // PAGE)
    for at, _ in pages:
        bitmap[at // PAGE] |= 1 << at // 512 % 8
    dirty = b"DIRT" + bitmap
    return (bytes(base_block(sequences, root, bins_size, kind=1, written=written))
            + dirty.ljust((len(dirty) + 511) // 512 * 512, b"\0") + b"".join(page for _, page in pages))


def with_sequences(data, primary, secondary, good_checksum=True):
    block = bytearray(data[:512])
    struct.pack_into("<II", block, 4, primary, secondary)
    struct.pack_into("<I", block, 508, checksum(block) ^ (not good_checksum))
    return bytes(block) + data[512:]
