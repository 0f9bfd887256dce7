"""What headers of events have beside their common members: PEBS indexes, performance counters, processor times.

Sources: TRACE_HEADER_PEBS_INDEX_FLAG of System Informer's ntwmi.h, EVENT_HEADER of the Windows SDK's evntcons.h.

usage: trace_headers.py COLDTRACE [unittest arguments]
"""
import struct
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from cli.trace.etl_writer import EtlWriter
from strict import strict_ndjson

COLDTRACE = Path(sys.argv[1]).resolve()
PROVIDER = uuid.UUID("11111111-2222-3333-4444-555555555555")
PRIVATE, NO_TIME, INDEX = 0x2, 0x10, 0x200
SECOND = 10_000_000


class Headers(Case):
    def events(self, trace, *options):
        done = subprocess.run([COLDTRACE, "trace", "decode", trace, "--tolerate", "no-match", *options],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line for line in strict_ndjson(done.stdout) if line["type"] == "event"]

    def test_a_pebs_index_is_no_counter(self):
        """Page faults (0x020a) with bits 8 to 10 of Version as the number of counters, bit 15 for the index."""
        index, counters = 0x1122334455, [170, 2 ** 40]
        for flag, values, expected in ((0, [], None), (0, counters, {"counters": counters}),
                                       (0x8000, [], {"pebs_index": index}),
                                       (0x8000, counters, {"pebs_index": index, "counters": counters})):
            with self.subTest(flag=flag, values=values):
                words = ([index] if flag else []) + values
                trace = EtlWriter()
                trace.perfinfo(0, 0x020A, 2 | len(values) << 8 | flag, SECOND,
                               struct.pack(f"<{len(words)}Q", *words) + struct.pack("<QQ", 0x7FF0, 0x7FF8))
                trace = self.write("a.etl", trace.build())
                event, = [one for one in self.events(trace, "--header-fields")
                          if one["header"]["type"].startswith("perfinfo")]
                self.assertEqual(event.get("extended"), expected)
                self.assertEqual(event["header"]["payload_size"], 16)
                selected = self.events(trace, "--where", f"extended.pebs_index == {index}")
                self.assertEqual(len(selected), 1 if flag else 0)

    def test_processor_time_stands_in_place_of_kernel_and_user_time(self):
        ticks = 0xB00000016
        low, high = ticks & 0xFFFFFFFF, ticks >> 32
        for flags, expected in ((0, (low, high, None)), (PRIVATE, (None, None, ticks)), (NO_TIME, (None,) * 3),
                                (PRIVATE | NO_TIME, (None,) * 3), (PRIVATE | INDEX, (None,) * 3)):
            with self.subTest(flags=flags):
                trace = EtlWriter()
                trace.manifest(0, SECOND, PROVIDER, 7, 0, b"")
                record = bytearray(trace.events[0][-1])
                struct.pack_into("<H", record, 4, flags)
                struct.pack_into("<Q", record, 56, ticks)
                trace.events[0][-1] = bytes(record)
                trace = self.write("a.etl", trace.build())
                event, = self.events(trace, "--header-fields", "--provider", str(PROVIDER))
                header = event["header"]
                self.assertEqual((header["kernel_time"], header["user_time"], header["processor_time"]), expected)
                selected = self.events(trace, "--where", f"header.processor_time == {ticks}")
                self.assertEqual(len(selected), 1 if expected[2] else 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
