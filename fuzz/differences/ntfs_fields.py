"""The numbers of an NTFS volume that a reader goes by, found from the description of the format."""
import struct

from mutation import Field

NAMES = {0x10: "$STANDARD_INFORMATION", 0x20: "$ATTRIBUTE_LIST", 0x30: "$FILE_NAME", 0x50: "$SECURITY_DESCRIPTOR",
         0x60: "$VOLUME_NAME", 0x70: "$VOLUME_INFORMATION", 0x80: "$DATA", 0x90: "$INDEX_ROOT", 0xa0: "$INDEX_ALLOCATION",
         0xb0: "$BITMAP", 0xc0: "$REPARSE_POINT", 0xd0: "$EA_INFORMATION", 0xe0: "$EA"}
BOOT = (("bytes_per_sector", 0x0b, 2), ("sectors_per_cluster", 0x0d, 1), ("total_sectors", 0x28, 8), ("mft_lcn", 0x30, 8),
        ("mirror_lcn", 0x38, 8), ("record_size", 0x40, 1), ("index_size", 0x44, 1), ("oem", 3, 8), ("signature", 0x1fe, 2),
        ("reserved_sectors", 0x0e, 2), ("media", 0x15, 1))
RECORD = (("signature", 0, 4), ("fixup_offset", 4, 2), ("fixup_count", 6, 2), ("sequence", 0x10, 2), ("links", 0x12, 2),
          ("first_attribute", 0x14, 2), ("flags", 0x16, 2), ("used", 0x18, 4), ("allocated", 0x1c, 4), ("base", 0x20, 8))
ATTRIBUTE = (("type", 0, 4), ("length", 4, 4), ("nonresident", 8, 1), ("name_length", 9, 1), ("name_offset", 10, 2),
             ("flags", 12, 2), ("id", 14, 2))
RESIDENT = (("value_size", 16, 4), ("value_offset", 20, 2), ("indexed", 22, 1))
NONRESIDENT = (("first_vcn", 16, 8), ("last_vcn", 24, 8), ("runs_offset", 32, 2), ("compression", 34, 2), ("allocated", 40, 8),
               ("size", 48, 8), ("initialized", 56, 8))
STANDARD = (("created", 0, 8), ("modified", 8, 8), ("changed", 16, 8), ("accessed", 24, 8), ("attributes", 32, 4))
NAME = (("parent", 0, 6), ("parent_sequence", 6, 2), ("created", 8, 8), ("modified", 16, 8), ("changed", 24, 8),
        ("accessed", 32, 8), ("allocated", 40, 8), ("size", 48, 8), ("attributes", 56, 4), ("name_length", 64, 1),
        ("name_space", 65, 1), ("letter", 66, 2))
NODE = (("first_entry", 0, 4), ("used", 4, 4), ("allocated", 8, 4), ("flags", 12, 1))
ENTRY = (("record", 0, 6), ("sequence", 6, 2), ("length", 8, 2), ("key_length", 10, 2), ("flags", 12, 1))


def number(data, offset, size):
    return int.from_bytes(data[offset:offset + size], "little")


class Volume:
    def __init__(self, data):
        self.data = data
        self.sector = number(data, 0x0b, 2)
        self.cluster = number(data, 0x0d, 1) * self.sector
        stated = struct.unpack_from("b", data, 0x40)[0]
        self.record = stated * self.cluster if stated > 0 else 1 << -stated
        self.fields = []
        self.guarded = set()  # the last two bytes of sectors, which fixups stand for

    def all_fields(self):
        self.add("boot", BOOT, 0)
        start = number(self.data, 0x30, 8) * self.cluster
        for at in range(start, len(self.data) - self.record, self.record):
            if self.data[at:at + 4] != b"FILE":
                break
            self.add_record(at)
        for at in range(0, len(self.data), self.sector):
            if self.data[at:at + 4] == b"INDX":
                self.guard(at, number(self.data, at + 6, 2))
                self.add("INDX", RECORD[:3] + (("vcn", 16, 8),), at)
                self.add_node("INDX", at + 24)
        return [field for field in self.fields
                if not any(field.offset + i in self.guarded for i in range(field.size))]

    def guard(self, at, count):
        for stride in range(1, count):
            self.guarded |= {at + stride * 512 - 2, at + stride * 512 - 1}

    def add(self, prefix, known, at):
        self.fields += [Field(f"{prefix}.{name}", at + offset, size) for name, offset, size in known]

    def add_record(self, at):
        if not number(self.data, at + 0x16, 2) & 1:
            return
        self.guard(at, number(self.data, at + 6, 2))
        self.add("record", RECORD, at)
        place = at + number(self.data, at + 0x14, 2)
        while place < at + self.record - 8 and (kind := number(self.data, place, 4)) in NAMES:
            name = NAMES[kind]
            if kind == 0x80:
                name = "named $DATA" if self.data[place + 9] else "$DATA"
            self.add(name, ATTRIBUTE, place)
            if self.data[place + 8]:
                self.add(name, NONRESIDENT, place)
                runs = place + number(self.data, place + 32, 2)
                self.fields += [Field(f"{name}.run", runs + i, 1) for i in range(3)]
            else:
                self.add(name, RESIDENT, place)
                value = place + number(self.data, place + 20, 2)
                self.add_value(kind, name, value)
            place += number(self.data, place + 4, 4)

    def add_value(self, kind, name, value):
        if kind == 0x10:
            self.add(name, STANDARD, value)
        elif kind == 0x30:
            self.add(name, NAME, value)
        elif kind == 0x90:
            self.add(name, (("indexed_type", 0, 4), ("collation", 4, 4), ("buffer_size", 8, 4)), value)
            self.add_node(name, value + 16)

    def add_node(self, prefix, node):
        self.add(prefix + " node", NODE, node)
        place, end = node + number(self.data, node, 4), node + number(self.data, node + 4, 4)
        while place + 16 <= end:
            self.add("entry", ENTRY, place)
            if number(self.data, place + 10, 2) > 66:
                self.add("entry", tuple((f"key_{name}", 16 + offset, size) for name, offset, size in NAME), place)
            length = number(self.data, place + 8, 2)
            if length < 16 or number(self.data, place + 12, 1) & 2:
                break
            place += length
