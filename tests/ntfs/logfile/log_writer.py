"""Writes $LogFiles from the description of the format: restart pages, pages of records, and what NTFS does in them."""
import struct

PAGE, HEADER, DATA = 4096, 48, 64
INITIALIZE, DEALLOCATE, UPDATE_RESIDENT, UPDATE_NONRESIDENT = 2, 3, 7, 8
ADD_ROOT, DELETE_ROOT, ADD, DELETE, FORGET = 12, 13, 14, 15, 27


def protect(page, start):
    """Fixups of a page with its update sequence array at `start`."""
    page = bytearray(page)
    struct.pack_into("<HH", page, 4, start, len(page) // 512 + 1)
    struct.pack_into("<H", page, start, 7)
    for stride in range(len(page) // 512):
        at = stride * 512 + 510
        page[start + 2 + 2 * stride:start + 4 + 2 * stride] = page[at:at + 2]
        struct.pack_into("<H", page, at, 7)
    return bytes(page)


def restart_page(lsn, size, flags=2, bits=45, version=(1, 1), magic=b"RSTR", oldest=0, page_size=PAGE):
    client = struct.pack("<QQHHHHIII", oldest, lsn, 0xffff, 0xffff, 0, 0, 0, 8, 0)[:32] + "NTFS".encode("utf-16-le")
    area = struct.pack("<QHHHHIHHQIHHI", lsn, 1, 0xffff, 0, flags, bits, 224, 64, size, 0, HEADER, DATA, 0)
    area = area.ljust(64, b"\0") + client.ljust(160, b"\0")
    page = magic + struct.pack("<HHQIIHHH", 0, 0, 0, PAGE, page_size, 0x30, version[1], version[0])
    return protect((page.ljust(0x30, b"\0") + area).ljust(PAGE, b"\0"), 0x1e)


def action(redo, undo, redo_data=b"", undo_data=b"", file=0, record_offset=0, attribute_offset=0):
    """The data of a record, about a FILE record of 1024 bytes on clusters of 4096."""
    redo_at = 40
    undo_at = redo_at + (len(redo_data) + 7) // 8 * 8
    head = struct.pack("<HHHHHHHHHHHHQ", redo, undo, redo_at, len(redo_data), undo_at, len(undo_data), 0, 1,
                       record_offset, attribute_offset, file % 4 * 2, 2, file // 4)
    return (head.ljust(redo_at, b"\0") + redo_data).ljust(undo_at, b"\0") + undo_data


def index_entry(file, name_value):
    size = (16 + len(name_value) + 7) // 8 * 8
    return (struct.pack("<QHHI", file, size, len(name_value), 0) + name_value).ljust(size, b"\0")


class Log:
    """Records one after the other, through the circular part again and again."""

    def __init__(self, pages, bits=45, version=(1, 1), sequence=3):
        self.size, self.bits, self.version = pages * PAGE, bits, version
        self.first = 4 if version[0] < 2 else 34
        self.pages = {}
        self.at = (self.first * PAGE) + DATA
        self.sequence = sequence
        self.lsn = 0
        self.numbers = []

    def page(self, offset):
        return self.pages.setdefault(offset, bytearray(PAGE))

    def next_page(self, offset):
        offset += PAGE
        if offset < self.size:
            return offset
        self.sequence += 1
        return self.first * PAGE

    def add(self, data, transaction=0x18, kind=1):
        if self.at % PAGE == 0 or PAGE - self.at % PAGE < HEADER + 32:
            offset = self.next_page((self.at - 1) // PAGE * PAGE)
            self.pages.pop(offset, None)
            self.at = offset + DATA
        self.lsn = self.sequence << (64 - self.bits) | self.at >> 3
        self.numbers.append(self.lsn)
        head = struct.pack("<QQQIIIIH6x", self.lsn, 0, 0, len(data), 0, kind, transaction, 0)
        offset, at = self.at // PAGE * PAGE, self.at % PAGE
        left = head + data
        while True:
            page = self.page(offset)
            part = left[:PAGE - at]
            page[at:at + len(part)] = part
            struct.pack_into("<Q", page, 8, self.lsn)
            struct.pack_into("<Q", page, 0x20, self.lsn)
            left = left[len(part):]
            if not left:
                break
            offset, at = self.next_page(offset), DATA
            self.pages.pop(offset, None)
        self.at = offset + (at + len(part) + 7) // 8 * 8
        return self.lsn

    def data(self, flags=2, copies=()):
        """The bytes; `copies` are pages by their number, with the page that each stands for."""
        out = bytearray(self.size)
        out[:2 * PAGE] = restart_page(self.lsn, self.size, flags, self.bits, self.version) * 2
        for offset, page in self.pages.items():
            out[offset:offset + PAGE] = self.finish(page)
        for number, (target, page) in copies:
            page = bytearray(page)
            if self.version[0] < 2:
                struct.pack_into("<Q", page, 8, target)
            else:
                struct.pack_into("<I", page, 0x3c, target)
            out[number * PAGE:(number + 1) * PAGE] = self.finish(page)
        return bytes(out)

    @staticmethod
    def finish(page):
        page = bytearray(page)
        page[:4] = b"RCRD"
        return protect(page, 0x28)
