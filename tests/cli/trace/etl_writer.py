"""Writes .etl files of kernel events as the tests of analyses need them. Sources: evntrace.h, the
kernel's MOF classes; offsets as the shared facts have measured them."""
import struct

BUFFER = 65536
HEADER = 72
NO_PER_PROCESSOR = 0x10000000  # of LogFileMode: processors share buffers, evntrace.h


def utf16z(text):
    return text.encode("utf-16-le") + b"\0\0"


def utf8z(text):
    return text.encode() + b"\0"


class EtlWriter:
    """Events by processor; times are ticks since the start. `mode` is LogFileMode, `most` MaximumFileSize."""

    def __init__(self, processors=1, clock=2, frequency=10_000_000, mode=1, most=0):
        self.processors, self.clock, self.frequency, self.mode, self.most = processors, clock, frequency, mode, most
        self.flush = 0  # when buffers say that they are written
        self.start = 132_000_000_000_000_000
        self.first = self.start if clock == 2 else 1_000_000
        self.events = [[] for _ in range(processors)]
        self.zone = b"\0" * 172  # TIME_ZONE_INFORMATION

    def perfinfo(self, cpu, hook, version, time, payload):
        self._add(cpu, struct.pack("<HBBHHQ", version, 17, 0xC0, 16 + len(payload), hook,
                                   time + self.first) + payload)

    def system(self, cpu, hook, version, time, payload, tid=8, pid=4):
        self._add(cpu, struct.pack("<HBBHHIIQII", version, 2, 0xC0, 32 + len(payload), hook, tid, pid,
                                   time + self.first, 11, 22) + payload)

    def manifest(self, cpu, time, provider, number, version, payload, opcode=0, pointer_size=8,
                 keywords=0, tid=8, pid=4):
        """An event of a manifest, an EventSource or the .NET runtime; `provider` is a uuid.UUID."""
        self._add(cpu, struct.pack("<HBBHHIIQ", 80 + len(payload), 19 if pointer_size == 8 else 18, 0xC0,
                                   0, 0, tid, pid, time + self.first) + provider.bytes_le +
                  struct.pack("<HBBBBHQII", number, version, 0, 4, opcode, 0, keywords, 11, 22) +
                  b"\0" * 16 + payload)

    def trace_logging(self, cpu, time, provider, provider_name, name):
        """An event that has its names with it, and no fields. Source: evntcons.h, TraceLoggingProvider.h."""
        items = b""
        for kind, data, is_last in ((12, utf8z(provider_name), False), (11, b"\0" + utf8z(name), True)):
            data = struct.pack("<H", 2 + len(data)) + data
            pad = -len(data) % 8
            items += struct.pack("<HHHH", 8 + len(data) + pad, kind, not is_last, len(data)) + data + b"\0" * pad
        self._add(cpu, struct.pack("<HBBHHIIQ", 80 + len(items), 19, 0xC0, 1, 0, 8, 4, time + self.first) +
                  provider.bytes_le + struct.pack("<HBBBBHQII", 0, 0, 11, 4, 0, 0, 0, 11, 22) + b"\0" * 16 + items)

    def classic(self, cpu, time, provider, opcode, version, payload, pointer_size=8):
        """An event of a class of its own, with its GUID."""
        self._add(cpu, struct.pack("<HBBBBHIIQ", 48 + len(payload), 20 if pointer_size == 8 else 10, 0xC0,
                                   opcode, 0, version, 8, 4, time + self.first) + provider.bytes_le +
                  struct.pack("<II", 11, 22) + payload)

    def _add(self, cpu, record):
        self.events[cpu].append(record + b"\0" * (-len(record) % 8))

    def switch(self, cpu, time, old, new, state=5, reason=6):
        self.perfinfo(cpu, 0x0524, 4, time,
                      struct.pack("<IIbbBBBBBBII", new, old, 8, 8, 0, 0, reason, 0, state, 0, 0, 0))

    def ready(self, cpu, time, tid, in_dpc=0):
        self.perfinfo(cpu, 0x0532, 2, time, struct.pack("<IBBBB", tid, 0, 0, in_dpc, 0))

    def call(self, cpu, time, address):
        self.perfinfo(cpu, 0x0F33, 2, time, struct.pack("<Q", address))

    def call_return(self, cpu, time):
        self.perfinfo(cpu, 0x0F34, 2, time, struct.pack("<I", 0))

    def dpc(self, cpu, begin, end, routine):
        self.perfinfo(cpu, 0x0F44, 2, end, struct.pack("<QQ", begin + self.first, routine))

    def stack(self, cpu, time, of, pid, tid, frames):
        self.perfinfo(cpu, 0x1820, 2, time,
                      struct.pack(f"<QII{len(frames)}Q", of + self.first, pid, tid, *frames))

    def process(self, cpu, time, pid, name, hook=0x0303):
        self.system(cpu, hook, 4, time, struct.pack("<QIIIIQII", 0x1000 + pid, pid, 4, 1, 259, 0x1000,
                                                    0, 0) + name.encode() + b"\0" + utf16z("") * 3)

    def thread(self, cpu, time, pid, tid, hook=0x0503):
        self.system(cpu, hook, 3, time, struct.pack("<II7QIBBBB", pid, tid, 0, 0, 0, 0, 0,
                                                    0x7FF600001000, 0, 0, 8, 5, 2, 0) + utf16z(""))

    def take(self, cpu):
        """The events of a processor so far, as a buffer for build()."""
        events, self.events[cpu] = self.events[cpu], []
        return cpu, b"".join(events)

    def build(self, buffers=None, sequences=None):
        """The file; `buffers` as take() gives them, by default one for each processor."""
        if buffers is None:
            buffers = [self.take(cpu) for cpu in range(self.processors) if self.events[cpu]]
        sequences = sequences or list(range(1, len(buffers) + 1))
        header = struct.pack("<IBBBBII", BUFFER, 10, 0, 2, 0, 19041, self.processors)
        header += struct.pack("<QIIII", self.start + 600_000_000, 156250, self.most, self.mode, max(sequences) + 1)
        header += struct.pack("<IIII", 1, 8, 0, 2000) + b"\0" * 16 + self.zone + b"\0" * 4
        header += struct.pack("<QQQII", self.start - 1, self.frequency, self.start, self.clock, 0)
        header += utf16z("NT Kernel Logger") + utf16z("x.etl")
        record = struct.pack("<HBBHHIIQII", 2, 2, 0xC0, 32 + len(header), 0, 1, 4, self.first, 11, 22)
        record += header
        record += b"\0" * (-len(record) % 8)
        return b"".join([self._buffer(0, record, 0, 4),
                         *(self._buffer(cpu, body, sequence, 0)
                           for (cpu, body), sequence in zip(buffers, sequences))])

    def _buffer(self, cpu, body, sequence, kind):
        filled = HEADER + len(body)
        assert filled <= BUFFER
        head = struct.pack("<IIIIQQQBBHIIHH", BUFFER, filled, filled, 0, self.first + self.flush, sequence, 0, cpu,
                           8, 3, 3, filled, 0, kind) + b"\0" * 16
        return head + body + b"\xff" * (BUFFER - filled)
