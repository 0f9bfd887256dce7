"""Writes shadow copies into images of volumes, from libvshadow's description of the format: what the tests of
--shadow and 'ntfs history' read, with what the volume was at each time beside it."""
import struct
import uuid

BLOCK = 0x4000
HEADER = 0x1E00
SECTOR = 512
GUID = uuid.UUID("3808876b-c176-4e48-b7ae-04046e6cc752").bytes_le
VOLUME = uuid.UUID(int=0x1111)
FORWARDER, OVERLAY, UNUSED = 1, 2, 4
START = 133_500_000_000_000_000  # FILETIME of the first copy


def identifier(kind, number):
    return uuid.UUID(int=kind << 64 | number)


def block_header(kind, relative, offset, following, size=0):
    return (GUID + struct.pack("<IIQQQQ", 1, kind, relative, offset, following, size)).ljust(128, b"\0")


def descriptor(original, relative=0, stored=0, flags=0, sectors=0):
    return struct.pack("<QQQII", original, relative, stored, flags, sectors)


class Store:
    """One copy: what is kept of it, as descriptors, in the order in which they were written."""

    def __init__(self, number, size, flags=0x40):
        self.number, self.size, self.flags = number, size, flags
        self.descriptors = []
        self.unused = None       # bits, or nothing: no bitmap
        self.previous = None
        self.in_volume = True    # the catalog says where its store is
        self.listed = True       # the catalog says what it is
        self.places = {}         # of its parts, once they are written


class Shadows:
    """The copies of one volume, whose blocks at `room` are free for what they need."""

    def __init__(self, image, room, offset=0):
        self.image, self.offset = bytearray(image), offset
        self.room = list(room)
        self.stores = []
        self.storage = VOLUME
        self.catalog = None
        self.scattered = False  # entries of one store do not stand together, nor in the order of age
        self.unused_first = True  # the catalog begins with an entry that is not used

    def allocate(self):
        return self.room.pop(0)

    def put(self, at, data):
        self.image[self.offset + at:self.offset + at + len(data)] = data

    def keep(self, content):
        """A block of the volume that has these bytes from now on."""
        at = self.allocate()
        self.put(at, content)
        return at

    def chain(self, kind, items, most):
        """Blocks with a header and items; the offset of the first, 0 without any."""
        parts = [items[i:i + most] for i in range(0, len(items), most)] or [[]]
        places = [self.allocate() for _ in parts]
        for i, part in enumerate(parts):
            following = places[i + 1] if i + 1 < len(places) else 0
            data = block_header(kind, i * BLOCK, places[i], following) + b"".join(part)
            self.put(places[i], data.ljust(BLOCK, b"\0"))
        return places[0]

    def bitmap(self, bits):
        if bits is None:
            return 0
        room = BLOCK - 128
        return self.chain(6, [bits[i:i + room] for i in range(0, len(bits), room)], 1)

    def write(self, most=10):
        """The image. `most` descriptors stand in one block of a list, so that small volumes have chains."""
        entries = []
        for store in self.stores:
            name = identifier(1, store.number).bytes_le
            if store.listed:
                entries.append(struct.pack("<QQ", 2, store.size) + name +
                               struct.pack("<QQQ", store.number, store.flags, START + store.number * 36_000_000_000))
            if not store.in_volume:
                continue
            machine = "MACHINE".encode("utf-16-le")
            header = self.allocate()
            information = (bytes(16) + identifier(2, store.number).bytes_le + identifier(3, store.number).bytes_le +
                           struct.pack("<IIIIH", 0xD, 0, 0x2001D, 0, len(machine)) + machine + struct.pack("<H", 0))
            self.put(header, (block_header(4, 0, header, 0, len(information)) + information).ljust(BLOCK, b"\0"))
            store.places = {"list": self.chain(3, store.descriptors, most), "header": header,
                            "ranges": self.chain(5, [], 1), "bitmap": self.bitmap(store.unused),
                            "previous": self.bitmap(store.previous)}
            entries.append(struct.pack("<QQ", 3, store.places["list"]) + name +
                           struct.pack("<QQQQQQ", header, store.places["ranges"], store.places["bitmap"], 0, BLOCK,
                                       store.places["previous"]))
        entries = [entry.ljust(128, b"\0") for entry in [struct.pack("<Q", 1)] * self.unused_first + entries]
        if self.scattered:
            entries.sort(key=lambda entry: entry[0] != 2, reverse=True)
        self.catalog = self.chain(2, entries, 126)
        start = GUID + struct.pack("<IIQQQQQ", 1, 1, HEADER, HEADER, 0, self.catalog, 0)
        self.put(HEADER, (start + VOLUME.bytes_le + self.storage.bytes_le).ljust(SECTOR, b"\0"))
        return bytes(self.image)


def differing(one, other, apart_from=frozenset()):
    """Offsets of blocks that differ."""
    return [at for at in range(0, len(one), BLOCK)
            if at not in apart_from and one[at:at + BLOCK] != other[at:at + BLOCK]]


def copy_on_write(states, room, before_volume=b""):
    """The last of these states of a volume with a copy for each before it, behind other bytes of its disk."""
    shadows = Shadows(before_volume + states[-1], room, len(before_volume))
    apart = set(room) | {0}  # the boot sector has the header behind it
    for number, (before, after) in enumerate(zip(states, states[1:]), 1):
        store = Store(number, len(before))
        for at in differing(before, after, apart):
            store.descriptors.append(descriptor(at, 0, shadows.keep(before[at:at + BLOCK])))
        # As written, never sorted.
        store.descriptors.reverse()
        shadows.stores.append(store)
    return shadows
