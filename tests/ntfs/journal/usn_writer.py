"""Writes change journals, $MFTs and volumes with both, from the description of the format: what the tests of
'ntfs journal' read, with the true paths beside it."""
import random
import struct

PAGE = 4096
RECORD = 1024
DIRECTORY = 0x10
CREATE, DELETE, EXTEND, OLD, NEW, BASIC, LINK, CLOSE = (0x100, 0x200, 2, 0x1000, 0x2000, 0x8000, 0x10000,
                                                        0x80000000)
START = 133_500_000_000_000_000  # FILETIME of the first record


def reference(number, sequence):
    return number | sequence << 48


def usn_record(version, file, parent, usn, reason, name="", time=START, source=0, security=0, attributes=0x20,
               high=(0, 0), extents=(), left=0):
    """One record; references as 64-bit numbers, `high` the upper halves of versions 3 and 4."""
    ids = (struct.pack("<QQ", file, parent) if version == 2 else
           struct.pack("<QQQQ", file, high[0], parent, high[1]))
    if version == 4:
        body = ids + struct.pack("<QIIIHH", usn, reason, source, left, len(extents), 16)
        body += b"".join(struct.pack("<QQ", *extent) for extent in extents)
    else:
        text = name if isinstance(name, bytes) else name.encode("utf-16-le")
        fixed = 8 + len(ids) + 32 + 4
        body = ids + struct.pack("<QQIIIIHH", usn, time, reason, source, security, attributes, len(text), fixed) + text
    size = (8 + len(body) + 7) // 8 * 8
    return (struct.pack("<IHH", size, version, 0) + body).ljust(size, b"\0")


class Journal:
    """Records one after the other from `start` on, none across the end of a page."""

    def __init__(self, start=0):
        self.start = self.usn = start
        self.data = bytearray()

    def add(self, version, file, parent, reason, name="", **rest):
        """Returns the record's number."""
        size = len(usn_record(version, file, parent, 0, reason, name, **rest))
        room = -self.usn % PAGE
        if 0 < room < size:
            self.data += bytes(room)
            self.usn += room
        usn = self.usn
        self.data += usn_record(version, file, parent, usn, reason, name, **rest)
        self.usn += size
        return usn


class History:
    """A made-up life of a volume: what each record of its journal should be listed as, and the $MFT at its end."""

    def __init__(self, seed, operations, start=0, renames=0.3, first=30):
        self.random = random.Random(seed)
        self.journal = Journal(start)
        self.truth = []  # (usn, path, record, sequence, reasons)
        self.names = {5: (5, "", True)}  # in use: number to (parent, name, directory)
        self.sequences = {5: 5}
        self.gone = {}  # number to (parent's reference, name, directory)
        self.free = []
        self.others, self.directories, self.children = [], [5], {}
        self.next = first
        self.time = START
        self.count = 0
        for _ in range(operations):
            self.step(renames)

    def path(self, number):
        parts = []
        while number != 5:
            parent, name, _ = self.names[number]
            parts.append(name)
            number = parent
        return "".join("/" + part for part in reversed(parts))

    def reference(self, number):
        return reference(number, self.sequences[number])

    def log(self, number, reason):
        parent, name, directory = self.names[number]
        self.time += self.random.randrange(0, 3) * 12345
        usn = self.journal.add(2, self.reference(number), self.reference(parent), reason, name, time=self.time,
                               attributes=DIRECTORY if directory else 0x20)
        self.truth.append((usn, self.path(number), number, self.sequences[number], reason))

    def name(self):
        self.count += 1
        return f"n{self.count}" + "x" * self.random.randrange(0, 30)

    def directory(self):
        return self.random.choice(self.directories)

    def create(self):
        parent = self.directory()
        if self.free and self.random.random() < 0.7:
            number = self.free.pop(self.random.randrange(len(self.free)))
            self.gone.pop(number)
        else:
            number = self.next
            self.next += 1
            self.sequences[number] = 1
        self.names[number] = (parent, self.name(), self.random.random() < 0.4)
        self.children[parent] = self.children.get(parent, 0) + 1
        self.others.append(number)
        if self.names[number][2]:
            self.directories.append(number)
        for reason in (CREATE, CREATE | CLOSE):
            self.log(number, reason)

    def rename(self, number):
        self.log(number, OLD)
        parent, _, directory = self.names[number]
        target = self.directory()
        if self.inside(target, number):
            target = parent
        self.children[parent] -= 1
        self.children[target] = self.children.get(target, 0) + 1
        self.names[number] = (target, self.name(), directory)
        for reason in (NEW, NEW | CLOSE):
            self.log(number, reason)

    def inside(self, number, directory):
        while number not in (5, directory):
            number = self.names[number][0]
        return number == directory

    def delete(self, number):
        self.log(number, DELETE | CLOSE)
        parent, name, directory = self.names.pop(number)
        self.children[parent] -= 1
        self.others.remove(number)
        if directory:
            self.directories.remove(number)
        self.gone[number] = (self.reference(parent), name, directory)
        self.sequences[number] += 1
        self.free.append(number)

    def step(self, renames):
        draw = self.random.random()
        number = self.random.choice(self.others) if self.others else None
        if number is None or draw < 0.4:
            self.create()
        elif draw < 0.4 + renames:
            self.rename(number)
        elif draw < 0.5 + renames and self.children.get(number, 0) == 0:
            self.delete(number)
        else:
            for reason in (EXTEND, EXTEND | CLOSE):
                self.log(number, reason)

    def records(self):
        """What file_record() takes of each number."""
        for number, (parent, name, directory) in self.names.items():
            if number != 5:
                yield number, self.sequences[number], self.reference(parent), name, directory, True
        for number, (parent, name, directory) in self.gone.items():
            yield number, self.sequences[number], parent, name, directory, False


def attribute(kind, content, number, name="", resident=True):
    text = name.encode("utf-16-le")
    if resident:
        start = (0x18 + len(text) + 7) // 8 * 8
        head = struct.pack("<IIBBHHHIHH", kind, 0, 0, len(name), 0x18, 0, number, len(content), start, 0)
        data = (head + text).ljust(start, b"\0") + content
    else:
        runs, clusters, size, allocated, sparse = content
        fixed = 0x48 if sparse else 0x40
        start = (fixed + len(text) + 7) // 8 * 8
        head = struct.pack("<IIBBHHHQQHHIQQQ", kind, 0, 1, len(name), fixed, 0x8000 if sparse else 0, number, 0,
                           clusters - 1, start, 0, 0, clusters * PAGE, size, size)
        head += struct.pack("<Q", allocated) if sparse else b""
        data = (head + text).ljust(start, b"\0") + runs
    data = data.ljust((len(data) + 7) // 8 * 8, b"\0")
    return data[:4] + struct.pack("<I", len(data)) + data[8:]


def file_record(number, sequence, attributes, in_use=True, directory=False):
    used = b"".join(attributes) + b"\xff\xff\xff\xff\0\0\0\0"
    head = struct.pack("<4sHHQHHHHIIQHHI", b"FILE", 0x30, 3, 0, sequence, 1, 0x38,
                       (1 if in_use else 0) | (2 if directory else 0), 0x38 + len(used), RECORD, 0, len(attributes),
                       0, number)
    data = bytearray((head.ljust(0x38, b"\0") + used).ljust(RECORD, b"\0"))
    assert len(data) == RECORD
    struct.pack_into("<H", data, 0x30, 1)
    for stride in (1, 2):
        data[0x30 + stride * 2:0x32 + stride * 2] = data[stride * 512 - 2:stride * 512]
        struct.pack_into("<H", data, stride * 512 - 2, 1)
    return bytes(data)


def file_name(parent, name, directory=False):
    text = name.encode("utf-16-le")
    return struct.pack("<QQQQQQQIIBB", parent, *[START] * 4, 0, 0, 0x10000000 if directory else 0x20, 0,
                       len(name), 3) + text


def standard_information(usn=0):
    return struct.pack("<QQQQ", *[START] * 4).ljust(0x40, b"\0") + struct.pack("<Q", usn)


INDEX_ROOT = struct.pack("<IIIBBBBIIIIQHHHH", 0x30, 1, 4096, 1, 0, 0, 0, 16, 32, 32, 0, 0, 16, 0, 2, 0)


def plain_record(number, sequence, parent, name, directory, in_use=True, more=(), usn=0):
    attributes = [attribute(0x10, standard_information(usn), 0), attribute(0x30, file_name(parent, name, directory), 1)]
    if directory:
        attributes.append(attribute(0x90, INDEX_ROOT, 2, "$I30"))
    elif not more:
        attributes.append(attribute(0x80, b"", 2))
    return file_record(number, sequence, [*attributes, *more], in_use, directory)


def run(length, step):
    """One pair of a run list: clusters and the distance to the last run; None for a hole."""
    size = (length.bit_length() + 8) // 8
    if step is None:
        return bytes([size]) + length.to_bytes(size, "little")
    width = (step.bit_length() + 8) // 8
    return bytes([size | width << 4]) + length.to_bytes(size, "little") + step.to_bytes(width, "little", signed=True)


def mft(records, data_runs=b"", clusters=1, usns={}):
    """The bytes of a $MFT with these records beside the system's; `usns` are what they state of the journal."""
    found = {number: plain_record(number, sequence, parent, name, directory, in_use, usn=usns.get(number, 0))
             for number, sequence, parent, name, directory, in_use in records}
    count = max([*found, 31]) + 1
    count = (count + 3) // 4 * 4
    root = reference(5, 5)
    size = count * RECORD
    found[0] = plain_record(0, 1, root, "$MFT", False, more=[
        attribute(0x80, (data_runs or run(size // 4096, 4) + b"\0", size // 4096, size, size, False), 2,
                  resident=False)])
    found[3] = plain_record(3, 3, root, "$Volume", False, more=[
        attribute(0x60, "TEST".encode("utf-16-le"), 2), attribute(0x70, bytes(8) + b"\3\1\0\0", 3),
        attribute(0x80, b"", 4)])
    found[5] = plain_record(5, 5, root, ".", True)
    found[11] = plain_record(11, 11, root, "$Extend", True)
    return b"".join(found.get(number, file_record(number, 1, [], in_use=False)) for number in range(count)), found


def volume(history, pieces, settings=struct.pack("<QQQQ", 0x2000000, 0x800000, START, 0), in_use=True, journal_record=27):
    """A volume with the history's $MFT and its journal: a hole up to the journal's start, then its pages in
    `pieces` runs. Returns its bytes and the byte of the image of each page."""
    start, data = history.journal.start, bytes(history.journal.data)
    assert start % PAGE == 0
    pages = [data[at:at + PAGE].ljust(PAGE, b"\0") for at in range(0, len(data), PAGE)]
    records, _ = mft(history.records())
    first = 4 + len(records) // 4096 + 4
    each = -(-len(pages) // pieces)
    groups = [pages[at:at + each] for at in range(0, len(pages), each)]
    runs = run(start // PAGE, None) if start else b""
    places, image, cluster, last = [], {}, first, 0
    for group in reversed(groups):  # on the disk in the other order
        places.insert(0, cluster)
        for page in group:
            image[cluster] = page
            cluster += 1
        cluster += 3
    for place, group in zip(places, groups):
        runs += run(len(group), place - last)
        last = place
    clusters = start // PAGE + len(pages)
    stream = attribute(0x80, (runs + b"\0", clusters, start + len(data), len(pages) * PAGE, True), 2, "$J",
                       resident=False)
    limits = attribute(0x80, settings, 3, "$Max")
    journal = plain_record(journal_record, 2, reference(11, 11), "$UsnJrnl", False, in_use, [stream, limits])
    records = records[:journal_record * RECORD] + journal + records[(journal_record + 1) * RECORD:]
    total = cluster + 8
    boot = bytearray(512)
    boot[:11] = b"\xeb\x52\x90NTFS    "
    struct.pack_into("<HB", boot, 0x0b, 512, 8)
    boot[0x15] = 0xf8
    struct.pack_into("<QQQ", boot, 0x28, total * 8 - 1, 4, 2)
    boot[0x40], boot[0x44] = 0xf6, 1
    struct.pack_into("<Q", boot, 0x48, 0x1122334455667788)
    boot[510:] = b"\x55\xaa"
    out = bytearray(total * PAGE)
    out[:512] = out[-512:] = boot
    out[2 * PAGE:3 * PAGE] = records[:PAGE]
    out[4 * PAGE:4 * PAGE + len(records)] = records
    where = []
    for place, group in zip(places, groups):
        for i, page in enumerate(group):
            out[(place + i) * PAGE:(place + i + 1) * PAGE] = page
            where.append((place + i) * PAGE)
    return out, where
