"""A PE file, and the module that a loader makes of it."""
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from loaded_image import as_loaded

WRITABLE, EXECUTABLE = 0x80000000, 0x20000000


class Pe:
    """What a loader needs of a file. Offsets are those of the PE/COFF specification."""

    def __init__(self, path):
        self.path = path
        self.file = file = Path(path).read_bytes()
        self.header, = struct.unpack_from("<I", file, 60)
        count, optional_size = struct.unpack_from("<H12xH", file, self.header + 6)
        self.optional = self.header + 24
        self.wide = struct.unpack_from("<H", file, self.optional)[0] == 0x20b
        self.width = 8 if self.wide else 4
        self.word = "<Q" if self.wide else "<I"
        self.base_field = self.optional + (24 if self.wide else 28)
        self.base, = struct.unpack_from(self.word, file, self.base_field)
        self.size, = struct.unpack_from("<I", file, self.optional + 56)
        self.sections = []
        for index in range(count):
            at = self.optional + optional_size + 40 * index
            name, virtual, address, raw, offset, flags = struct.unpack_from("<8s4I12xI", file, at)
            self.sections.append((name.rstrip(b"\0").decode(), address, virtual or raw, offset, raw,
                                  flags))
        self.mapped = as_loaded(file)

    def directory(self, index):
        return struct.unpack_from("<II", self.file,
                                  self.optional + (112 if self.wide else 96) + 8 * index)

    def relocations(self):
        start, size = self.directory(5)
        at, end = start, start + size
        while at + 8 <= end:
            page, length = struct.unpack_from("<II", self.mapped, at)
            if length < 8:
                break
            for entry in struct.unpack_from(f"<{(length - 8) // 2}H", self.mapped, at + 8):
                if entry >> 12 in (3, 10):
                    yield page + (entry & 0xfff), "<I" if entry >> 12 == 3 else "<Q"
            at += length

    def slots(self):
        """RVA of each slot, by DLL."""
        at, size = self.directory(1)
        while size:
            lookup, _, _, name, table = struct.unpack_from("<5I", self.mapped, at)
            if not name:
                break
            slots, entry = [], lookup or table
            while struct.unpack_from(self.word, self.mapped, entry)[0]:
                slots.append(table + self.width * len(slots))
                entry += self.width
            yield slots
            at += 20

    def imports(self):
        """DLL, name and slot of each function that is imported by name."""
        at, size = self.directory(1)
        text = lambda rva: self.mapped[rva:self.mapped.index(b"\0", rva)].decode()
        for slots in self.slots():
            lookup, _, _, dll, table = struct.unpack_from("<5I", self.mapped, at)
            for number, slot in enumerate(slots):
                entry, = struct.unpack_from(self.word, self.mapped, (lookup or table) + self.width * number)
                if not entry >> 8 * self.width - 1:
                    yield text(dll), text(entry + 2), slot
            at += 20

    def exports(self):
        at, size = self.directory(0)
        if not size:
            return {}
        names, functions, name_table, ordinals = struct.unpack_from("<24x4I", self.mapped, at)[0], \
            *struct.unpack_from("<28x3I", self.mapped, at)
        found = {}
        for index in range(names):
            text, = struct.unpack_from("<I", self.mapped, name_table + 4 * index)
            ordinal, = struct.unpack_from("<H", self.mapped, ordinals + 2 * index)
            rva, = struct.unpack_from("<I", self.mapped, functions + 4 * ordinal)
            name = self.mapped[text:self.mapped.index(b"\0", text)].decode()
            if not at <= rva < at + size:
                found[name] = rva
        return found

    def load(self, base, modules=0x7ff000000000):
        """The module as memory has it."""
        memory = bytearray(self.mapped)
        for at, form in self.relocations():
            number, = struct.unpack_from(form, memory, at)
            mask = (1 << 8 * struct.calcsize(form)) - 1
            struct.pack_into(form, memory, at, (number + base - self.base) & mask)
        struct.pack_into(self.word, memory, self.base_field, base)
        if not self.wide:
            modules &= 0x7fffffff
            modules |= 0x70000000
        for index, slots in enumerate(self.slots()):
            for number, slot in enumerate(slots):
                struct.pack_into(self.word, memory, slot,
                                 modules + 0x100000 * index + 16 * number)
        return memory

    def section_at(self, rva):
        return next((section for section in self.sections
                     if section[1] <= rva < section[1] + section[2]), None)

    def fixed(self):
        """Bytes that nothing writes, by RVA, as ranges: not writable, no relocation, no slot."""
        taken = {at + i for at, form in self.relocations() for i in range(struct.calcsize(form))}
        taken |= {slot + i for slots in self.slots() for slot in slots for i in range(self.width)}
        for name, address, size, _, raw, flags in self.sections:
            if not flags & WRITABLE:
                for rva in range(address, address + min(size, raw)):
                    if rva not in taken:
                        yield rva
