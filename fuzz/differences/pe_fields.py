"""The numbers of a PE image that a reader of its tables goes by, found from the description of the format."""
from mutation import Field

FILE = (("machine", 0, 2), ("sections", 2, 2), ("symbols", 8, 4), ("symbol_count", 12, 4), ("optional_size", 16, 2),
        ("characteristics", 18, 2))
OPTIONAL = (("magic", 0, 2), ("section_alignment", 32, 4), ("file_alignment", 36, 4), ("size_of_image", 56, 4),
            ("size_of_headers", 60, 4))
SECTION = (("name", 0, 8), ("virtual_size", 8, 4), ("rva", 12, 4), ("raw_size", 16, 4), ("raw_offset", 20, 4),
           ("characteristics", 36, 4))
EXPORTS = (("name", 12, 4), ("base", 16, 4), ("addresses", 20, 4), ("names", 24, 4), ("address_table", 28, 4),
           ("name_table", 32, 4), ("ordinal_table", 36, 4))
IMPORT = (("names", 0, 4), ("time", 4, 4), ("chain", 8, 4), ("name", 12, 4), ("slots", 16, 4))
DELAYED = (("attributes", 0, 4), ("name", 4, 4), ("slots", 12, 4), ("names", 16, 4))
DIRECTORIES = {0: "exports", 1: "imports", 2: "resources", 5: "relocations", 13: "delayed"}
RESOURCES = (("named", 12, 2), ("numbered", 14, 2))


class Image:
    def __init__(self, data):
        self.data = data
        self.fields = []
        self.seen = set()

    def number(self, offset, size):
        return int.from_bytes(self.data[offset:offset + size], "little")

    def add(self, prefix, known, at):
        self.fields += [Field(f"{prefix}.{name}", at + offset, size) for name, offset, size in known
                        if 0 <= at + offset and at + offset + size <= len(self.data)]

    def offset(self, rva):
        for at in self.sections:
            start, size, raw = (self.number(at + place, 4) for place in (12, 16, 20))
            if start <= rva < start + size:
                return raw + rva - start
        return None

    def all_fields(self):
        header = self.number(0x3c, 4) + 4
        self.add("dos", (("pe", 0x3c, 4),), 0)
        self.add("file", FILE, header)
        optional = header + 20
        self.wide = self.number(optional, 2) == 0x20b
        self.add("optional", OPTIONAL, optional)
        directories = optional + (112 if self.wide else 96)
        self.add("optional", (("directories", 0, 4),), directories - 4)
        table = optional + self.number(header + 16, 2)
        self.sections = [table + 40 * i for i in range(self.number(header + 2, 2))]
        for at in self.sections:
            self.add("section", SECTION, at)
        for index, name in DIRECTORIES.items():
            at = directories + 8 * index
            if rva := self.number(at, 4):
                self.add(f"directory {name}", (("rva", 0, 4), ("size", 4, 4)), at)
                getattr(self, "add_" + name)(self.offset(rva), self.number(at + 4, 4))
        return self.fields

    def add_exports(self, at, _):
        self.add("exports", EXPORTS, at)
        addresses, names = self.number(at + 20, 4), self.number(at + 24, 4)
        for label, place, count, size in (("address", 28, addresses, 4), ("name", 32, names, 4), ("ordinal", 36, names, 2)):
            table = self.offset(self.number(at + place, 4))
            for i in range(count if table else 0):
                self.add("export", ((label, 0, size),), table + size * i)

    def add_thunks(self, rva, prefix):
        at, size = self.offset(rva), 8 if self.wide else 4
        while at and self.number(at, size):
            self.add(prefix, (("thunk", 0, size),), at)
            at += size

    def add_imports(self, at, _):
        while self.number(at + 12, 4):
            self.add("import", IMPORT, at)
            self.add_thunks(self.number(at, 4) or self.number(at + 16, 4), "import")
            at += 20

    def add_delayed(self, at, _):
        while self.number(at + 4, 4):
            self.add("delayed", DELAYED, at)
            self.add_thunks(self.number(at + 16, 4), "delayed")
            at += 32

    def add_relocations(self, at, size):
        end = at + size
        while at + 8 <= end and (length := self.number(at + 4, 4)) >= 8:
            self.add("relocation block", (("page", 0, 4), ("size", 4, 4)), at)
            for entry in range(at + 8, at + length, 2):
                self.add("relocation", (("entry", 0, 2),), entry)
            at += length

    def add_resources(self, at, _, root=None):
        root = at if root is None else root
        if at in self.seen:
            return
        self.seen.add(at)
        self.add("resource directory", RESOURCES, at)
        for entry in range(at + 16, at + 16 + 8 * (self.number(at + 12, 2) + self.number(at + 14, 2)), 8):
            self.add("resource entry", (("name", 0, 4), ("place", 4, 4)), entry)
            place = self.number(entry + 4, 4)
            if place >> 31:
                self.add_resources(root + (place & 0x7fffffff), 0, root)
            else:
                self.add("resource", (("rva", 0, 4), ("size", 4, 4)), root + place)
