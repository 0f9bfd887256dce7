"""An image of tables: what data directories lead to, written field by field."""
import struct

FIRST = 0x1000


def table_image(tables, machine=0x8664):
    """A PE32+ image with one section. `tables` has for the number of a data directory a function that is given an
    RVA and returns the bytes there, and how many of them are the table."""
    section, directories = b"", [(0, 0)] * 16
    for number, table in tables.items():
        section += bytes(-len(section) % 16)
        content, size = table(FIRST + len(section))
        directories[number] = (FIRST + len(section), size)
        section += content
    stored = section + bytes(-len(section) % 0x200)
    pages = (len(section) + 0xfff) // 0x1000 * 0x1000
    optional = struct.pack("<HBBIIIII", 0x20b, 14, 0, 0, len(stored), 0, 0, 0)
    optional += struct.pack("<QII6HIIIIHH4QII", 0x180000000, 0x1000, 0x200, *[0] * 6, 0, FIRST + pages, 0x200, 0, 3, 0,
                            0, 0, 0, 0, 0, 16)
    optional += b"".join(struct.pack("<II", *one) for one in directories)
    headers = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0"
    headers += struct.pack("<HHIIIHH", machine, 1, 0x5f641e0f, 0, 0, len(optional), 0x2022) + optional
    headers += struct.pack("<8sIIIIIIHHI", b".rdata", len(section), FIRST, len(stored), 0x200, 0, 0, 0, 0, 0x40000040)
    return headers.ljust(0x200, b"\0") + stored


def export_table(module, names, functions=None):
    """Directory 0. `functions` have no bytes; ordinals count from 1, those beyond `names` have no name."""
    def write(rva):
        count = functions or len(names)
        table, at = struct.pack("<IIHHIII", 0, 0, 0, 0, 0, 1, count), rva + 40
        end = at + 4 * count + 6 * len(names)
        texts, places = b"", []
        for text in (module, *names):
            places.append(end + len(texts))
            texts += text + b"\0"
        table = table[:12] + struct.pack("<I", places[0]) + table[16:]
        table += struct.pack("<IIII", len(names), at, at + 4 * count, at + 4 * count + 4 * len(names))
        table += struct.pack(f"<{count}I", *range(FIRST + 0xe00, FIRST + 0xe00 + count))
        table += struct.pack(f"<{len(names)}I", *places[1:]) + struct.pack(f"<{len(names)}H", *range(len(names)))
        return table + texts, len(table + texts)
    return write


def import_table(module, functions):
    """Directory 1, of one DLL. A function is bytes of its name, or an ordinal."""
    def write(rva):
        slots = rva + 40
        size = 8 * (len(functions) + 1)
        texts, thunks = b"", []
        for function in functions:
            if isinstance(function, int):
                thunks.append(1 << 63 | function)
                continue
            thunks.append(slots + 2 * size + len(texts))
            texts += struct.pack("<H", 7) + function + b"\0"
            texts += bytes(len(texts) % 2)
        name = slots + 2 * size + len(texts)
        both = struct.pack(f"<{len(thunks) + 1}Q", *thunks, 0) * 2
        return struct.pack("<5I", slots, 0, 0, name, slots + size) + bytes(20) + both + texts + module + b"\0", 40
    return write


def debug_table(name, guid=bytes(range(16)), age=1, version=(0, 0)):
    """Directory 6, with the record of PDB 7.0 behind it; the version of the entry is 0x100, 0x504d for a portable PDB."""
    def write(rva):
        record = b"RSDS" + guid + struct.pack("<I", age) + name + b"\0"
        at = rva + 28
        return struct.pack("<IIHHIIII", 0, 0, *version, 2, len(record), at, at - FIRST + 0x200) + record, 28
    return write


def version_block(numbers, strings=()):
    """The content of a version resource; strings of language 0409 and code page 04b0, with unpaired surrogates or without."""
    def node(key, value=b"", text=False, children=()):
        head = key.encode("utf-16-le", "surrogatepass") + b"\0\0"
        body = head + bytes(-(6 + len(head)) % 4) + value
        for child in children:
            body += bytes(-(6 + len(body)) % 4) + child
        return struct.pack("<HHH", 6 + len(body), len(value) // 2 if text else len(value), int(text)) + body
    words = [numbers[0] << 16 | numbers[1], numbers[2] << 16 | numbers[3]]
    fixed = struct.pack("<13I", 0xfeef04bd, 0x10000, *words, *words, 0x3f, 0, 0x40004, 2, 0, 0, 0)
    rows = [node(key, (value + "\0").encode("utf-16-le", "surrogatepass"), True) for key, value in strings]
    children = [node("StringFileInfo", b"", True, [node("040904b0", b"", True, rows)])] if rows else []
    return node("VS_VERSION_INFO", fixed, False, children)


def resource_tree(resources):
    """Directory 2. `resources` are (type, name, language, content), all numbers, of one type."""
    def write(rva):
        (kind,) = {one[0] for one in resources}
        directory = lambda entries: struct.pack("<IIHHHH", 0, 0, 0, 0, 0, len(entries)) + b"".join(
            struct.pack("<II", *entry) for entry in entries)
        names = sorted({one[1] for one in resources})
        at = 24 + 16 + 8 * len(names)
        languages, leaves, tree = {}, [], []
        for name in names:
            languages[name] = [one for one in resources if one[1] == name]
        leaf = at + sum(16 + 8 * len(rows) for rows in languages.values())
        data = leaf + 16 * len(resources)
        contents = b""
        for name in names:
            entries = []
            for _, _, language, content in languages[name]:
                entries.append((language, leaf + 16 * len(leaves)))
                leaves.append(struct.pack("<IIII", rva + data + len(contents), len(content), 0, 0))
                contents += content + bytes(-len(content) % 4)
            tree.append(directory(entries))
        places = [at + sum(map(len, tree[:i])) for i in range(len(tree))]
        whole = (directory([(kind, 1 << 31 | 24)]) +
                 directory([(name, 1 << 31 | place) for name, place in zip(names, places)]) +
                 b"".join(tree) + b"".join(leaves) + contents)
        return whole, len(whole)
    return write
