"""'trace packets' writes the packets that events of NDIS and PktMon hold, read back by a strict reader
of pcapng and by Wireshark's programs.

usage: trace_packets.py COLDTRACE [unittest arguments]
"""
import datetime
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from case import Case
from cli.trace.etl_writer import EtlWriter, utf16z
from cli.trace.export.pcapng_reader import read_pcapng
from strict import strict_ndjson

COLDTRACE = Path(sys.argv[1]).resolve()
NDIS = uuid.UUID("2ed6006e-4729-4609-b423-3ee7bcd678ef")
PKTMON = uuid.UUID("4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac")
# Keywords of NDIS-PacketCapture, by its manifest.
ETHERNET, WWAN, WIFI, SWITCH = 1, 0x200, 0x10000, 0x1000000
START, END, SEND, RECEIVE = 0x40000000, 0x80000000, 0x100000000, 0x200000000
WHOLE = START | END
UNIX = 116_444_736_000_000_000
ETH = bytes.fromhex("02005e00000102005e000002")


def ip4(size, told=None):
    """An IPv4 packet of `size` bytes whose header tells another length."""
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size if told is None else told, 1, 0, 64, 17, 0,
                         bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2]))
    return (header + struct.pack(">HHHH", 12345, 9, size - 20, 0)).ljust(size, b"u")


def ip6(size, told=None):
    return (struct.pack(">IHBB", 6 << 28, size - 40 if told is None else told, 17, 64)
            + bytes(range(32))).ljust(size, b"v")


def wifi(protected=True):
    """A data frame of IEEE 802.11 with QoS, from the access point, in clear behind its header."""
    return bytes([0x88, 0x42 if protected else 0x02, 0x2c, 0]) + bytes(range(18)) + bytes(4) + \
        bytes.fromhex("aaaa030000000800") + ip4(40)


def fragment(data, lower=7, miniport=5, tail=b""):
    return struct.pack("<III", miniport, lower, len(data)) + data + tail


def appearance(group, data, component=30, number=1, count=1, direction=3, kind=1, edge=1, reason=0,
               location=0, original=None):
    size = len(data) if original is None else original
    return struct.pack("<QHHHHHHHIIHH", group, number, count, direction, kind, component, edge, 0, reason,
                       location, size, len(data)) + data


class Packets(Case):
    def setUp(self):
        super().setUp()
        self.log = EtlWriter(2)
        self.time = 0

    def ndis(self, data, keywords=ETHERNET | WHOLE | RECEIVE, cpu=0, time=None, event=1001, **options):
        self.time += 10
        self.log.manifest(cpu, self.time if time is None else time, NDIS, event, 0, data,
                          keywords=keywords, **options)

    def pktmon(self, event, data, time=None, pid=0, tid=0, cpu=0):
        self.time += 10
        self.log.manifest(cpu, self.time if time is None else time, PKTMON, event, 0, data,
                          keywords=0x10 if event >= 160 else 2, pid=pid, tid=tid)

    def convert(self, *options, status=0, content=None):
        """The packets of the trace so far, or of `content`; without either those of the last one."""
        path = self.here / "run.etl"
        if content or any(self.log.events):
            path.write_bytes(content or self.log.build())
        done = subprocess.run([COLDTRACE, "trace", "packets", path, *map(str, options)],
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        self.said = done.stderr.decode()
        self.file = done.stdout
        self.section, self.interfaces, packets = read_pcapng(done.stdout)
        return packets

    def codes(self):
        return set(re.findall(r"(?:info|warning): ([a-z-]+)", self.said))

    def test_a_packet_is_what_its_event_says(self):
        self.log.process(0, 1, 4321, "browser.exe")
        frame = ETH + b"\x08\x00" + ip4(40)
        self.ndis(fragment(frame), pid=4321, tid=99, time=1234567)
        self.ndis(fragment(frame[:30], tail=bytes(16)), ETHERNET | WHOLE | SEND, cpu=1, pid=0, tid=0)
        packets = self.convert()
        self.assertEqual([p["data"] for p in packets], [frame[:30], frame])  # in order of time
        short, whole = packets
        self.assertEqual(whole["ticks"], self.log.start + 1234567 - UNIX)
        self.assertEqual((whole["direction"], short["direction"]), ("in", "out"))
        self.assertEqual(whole["comment"], "logged in process 4321 (browser.exe), thread 99")
        self.assertEqual(short["comment"], "")
        self.assertEqual((whole["group"], whole["verdict"]), (None, None))
        (interface,) = self.interfaces
        self.assertEqual((interface["link"], interface["name"], interface["description"]),
                         (1, "interface 7", "above interface 5"))
        self.assertEqual(self.section[3], [b"Windows 10.0.19041"])
        self.assertTrue(self.section[4][0].startswith(b"coldtrace "))

    def connect(self, time, pid, local, remote, protocol="tcp", received=False, size=4):
        """An event of the kernel about data between two ends, each (address, port)."""
        # TcpIp tells the ends of the connection, UdpIp those of the packet.
        source, destination = (remote, local) if received and protocol == "udp" else (local, remote)
        opcode = (11 if received else 10) + (16 if size == 16 else 0)
        payload = struct.pack("<II", pid, 100) + destination[0] + source[0] + struct.pack(
            ">HH", destination[1], source[1])
        payload += struct.pack("<II", 1, 2) if protocol == "tcp" and not received else b""
        self.log.system(1, (0x0600 if protocol == "tcp" else 0x0800) | opcode, 2, time,
                        payload + struct.pack("<IQ", 3, 4))

    def test_the_owner_of_a_packet_is_that_of_its_connection(self):
        here, there, other = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2]), bytes([203, 0, 113, 9])

        def packet(source, destination, protocol, fragment=0):
            return ETH + b"\x08\x00" + struct.pack(">BBHHHBBH", 0x45, 0, 40, 1, fragment, 64, protocol, 0) + \
                source[0] + destination[0] + struct.pack(">HH", source[1], destination[1]) + bytes(16)

        def owners(comment):
            return re.findall(r"(sent|received) by process (\d+)(?: \((.*?)\))?, by its connection", comment)

        self.log.process(0, 1, 4321, "browser.exe")
        self.connect(100, 4321, (here, 50000), (there, 443))
        self.connect(150, 77, (here, 53), (there, 5353), "udp", received=True)
        self.connect(160, 5, (here, 60000), (here, 60001))   # both ends are here
        self.connect(170, 6, (here, 60001), (here, 60000))
        self.connect(5000, 88, (here, 50000), (there, 443))  # the port is another process's now
        six, seven = bytes(range(16)), bytes(range(16, 32))
        self.connect(180, 4321, (six, 80), (seven, 8080), size=16)
        self.ndis(fragment(packet((here, 50000), (there, 443), 6)), pid=0, tid=0, time=50)  # before all
        wanted = [[("sent", "4321", "browser.exe")]]
        for source, destination, protocol, expected in (
                ((here, 50000), (there, 443), 6, [("sent", "4321", "browser.exe")]),
                ((there, 443), (here, 50000), 6, [("received", "4321", "browser.exe")]),
                ((there, 443), (here, 50000), 17, []),
                ((there, 444), (here, 50000), 6, []),
                ((other, 443), (here, 50000), 6, []),
                ((there, 5353), (here, 53), 17, [("received", "77", "")]),
                ((here, 60000), (here, 60001), 6, [("sent", "5", ""), ("received", "6", "")])):
            self.ndis(fragment(packet(source, destination, protocol)), pid=0, tid=0, time=1000 + len(wanted))
            wanted.append(expected)
        self.ndis(fragment(packet((here, 50000), (there, 443), 6, fragment=100)), pid=0, tid=0, time=1100)
        wanted.append([])
        ipv6 = ETH + b"\x86\xdd" + struct.pack(">IHBB", 6 << 28, 20, 6, 64) + seven + six + \
            struct.pack(">HH", 8080, 80) + bytes(16)
        self.ndis(fragment(ipv6), pid=0, tid=0, time=1200)
        wanted.append([("received", "4321", "browser.exe")])
        ports = struct.pack(">HH", 8080, 80) + bytes(16)

        def six_with(first, headers, rest=ports):
            return ETH + b"\x86\xdd" + struct.pack(">IHBB", 6 << 28, len(headers) + len(rest), first, 64) + seven + \
                six + headers + rest

        hop, options = bytes([60, 0]) + bytes(6), bytes([6, 1]) + bytes(14)
        authentication = bytes([6, 4]) + bytes(22)
        for number, (first, headers, is_owned) in enumerate([
                (0, hop + options, True), (43, options, True), (51, authentication, True),
                (135, options, True), (44, bytes([6, 0, 0, 1]) + bytes(4), True),       # the first fragment
                (44, bytes([6, 0, 0, 9]) + bytes(4), False),                              # a later one
                (0, bytes([0, 255]) + bytes(6), False),                                   # beyond the packet
                (60, bytes([59, 0]) + bytes(6), False), (50, options, False)]):           # nothing, encrypted
            self.ndis(fragment(six_with(first, headers)), pid=0, tid=0, time=1300 + number)
            wanted.append([("received", "4321", "browser.exe")] if is_owned else [])
        self.ndis(fragment(six_with(0, hop, b"")), pid=0, tid=0, time=1350)
        wanted.append([])
        # Frames of 802.11: the IP packet stands behind LLC and SNAP.
        four = packet((there, 443), (here, 50000), 6)[14:]
        snap = bytes.fromhex("aaaa030000000800")
        short = b"\x08\x02" + bytes(22)
        for number, (frame, is_owned) in enumerate([
                (short + snap + four, True),
                (b"\x08\x03" + bytes(28) + snap + four, True),                          # four addresses
                (b"\x88\x42" + bytes(24) + snap + four, True),                          # QoS, decrypted
                (b"\x88\x82" + bytes(28) + snap + four, True),                          # with HT control
                (short + b"\xaa\xaa\x03\0\0\0\x86\xdd" + six_with(6, b"")[14:], True),
                (b"\x88\x02" + bytes(22) + b"\x80\0" + bytes(14) + snap + four, False),  # an aggregate
                (short[:22] + b"\1\0" + snap + four, False),                            # a later fragment
                (short + b"\xaa\xaa\x03\0\0\1\x08\0" + four, False),                   # of another organisation
                (b"\x80\x02" + bytes(22) + snap + four, False),                         # a beacon
                (short + snap, False), (short[:10], False)]):
            self.ndis(fragment(frame), WIFI | WHOLE | RECEIVE, pid=0, tid=0, time=1400 + number)
            wanted.append([("received", "4321", "browser.exe")] if is_owned else [])
        self.ndis(fragment(packet((here, 50000), (there, 443), 6)), pid=0, tid=0, time=6000)
        wanted.append([("sent", "88", "")])
        self.assertEqual([owners(p["comment"]) for p in self.convert()], wanted)

    def test_connections_beyond_those_remembered_are_told(self):
        for port in range(65_540):
            self.connect(10 + port, 4321, (bytes([10, 0, 0, 1]), port & 0xFFFF), (bytes([10, 0, 0, 2 + (port >> 16)]), 80))
        frame = ETH + b"\x08\x00" + ip4(40)
        self.ndis(fragment(frame), time=70_000)
        self.convert("-v", content=self.log.build(self.buffers()))
        self.assertIn("packet-owners", self.codes())
        self.assertIn("4 events of connections are beyond the 65536", self.said)

    def buffers(self):
        """The events of each processor so far, cut into buffers."""
        pieces = []
        for cpu, events in enumerate(self.log.events):
            at, held = 0, b""
            for event in events:
                if len(held) + len(event) > 60_000:
                    pieces.append((cpu, held))
                    held = b""
                held += event
            if held:
                pieces.append((cpu, held))
        return pieces

    def test_a_cut_packet_was_as_long_as_its_header_says(self):
        tagged = ETH + b"\x81\x00\x00\x05\x88\xa8\x00\x06"
        for frame, keywords, original in [
                (ETH + b"\x08\x00" + ip4(40, told=1400), ETHERNET, 1414),
                (ETH + b"\x86\xdd" + ip6(60, told=1000), ETHERNET, 1054),
                (tagged + b"\x08\x00" + ip4(40, told=900), ETHERNET, 922),
                (ETH + b"\x08\x06" + ip4(40, told=1400), ETHERNET, 54),    # no IP
                (ETH + b"\x08\x00" + ip4(40, told=0), ETHERNET, 54),       # to be segmented
                (ETH + b"\x08\x00" + ip4(40, told=30), ETHERNET, 54),      # padded
                (ETH + b"\x08\x00" + ip4(40, told=1400)[:19], ETHERNET, 33),
                (ip4(40, told=1400), WWAN, 1400),
                (ip6(60, told=1000), WWAN, 1040)]:
            with self.subTest(frame=frame.hex()):
                self.log = EtlWriter(1)
                self.ndis(fragment(frame), keywords | WHOLE)
                (packet,) = self.convert("-v")
                self.assertEqual(packet["original"], original)
                self.assertEqual(packet["data"], frame)
                self.assertEqual("packet-truncated" in self.codes(), original > len(frame))

    def test_each_medium_is_an_interface(self):
        self.log.manifest(0, 1, NDIS, 5101, 0, b"\1" + utf16z("Wi-Fi \u2460") + struct.pack("<IH", 7, 0))
        self.ndis(fragment(ETH + b"\x08\x00" + ip4(40)))
        self.ndis(fragment(wifi(protected=False)), WIFI | WHOLE)
        self.ndis(fragment(ip4(40)), WWAN | WHOLE)
        self.ndis(fragment(ip4(40), lower=8), WWAN | WHOLE)
        packets = self.convert()
        self.assertEqual([p["interface"]["link"] for p in packets], [1, 105, 101, 101])
        self.assertEqual([i["name"] for i in self.interfaces],
                         ["Wi-Fi \u2460 (interface 7)"] * 3 + ["interface 8"])

    def test_frames_in_clear_are_not_protected(self):
        receive = struct.pack("<HHIIIHHiB3xI", 1, 48, 0x11, 7, 2437, 3, 0, -48, 130, 0) + bytes(16)
        self.ndis(struct.pack("<III", 5, 7, len(receive)) + receive, WIFI, event=1002)
        self.ndis(fragment(wifi()), WIFI | WHOLE | RECEIVE)
        encrypted = wifi().replace(bytes.fromhex("aaaa03"), b"\x10\x20\x30")
        self.ndis(fragment(encrypted), WIFI | WHOLE | RECEIVE)
        first, second = self.convert("-v")
        self.assertEqual(first["data"], wifi(protected=False))
        self.assertEqual(second["data"], encrypted)
        self.assertIn("packet-decrypted", self.codes())
        self.assertEqual(first["comment"].splitlines()[-1],
                         "802.11: 2437 MHz, RSSI -48 dBm, data rate 130 of 500 kbit/s, PHY 7, 3 MPDUs, "
                         "receive flags 0x11")
        self.assertNotIn("802.11", second["comment"])

    def test_fragments_are_joined_by_interface(self):
        frame = ETH + b"\x08\x00" + ip4(400)
        other = ETH + b"\x86\xdd" + ip6(300)
        first = RECEIVE | ETHERNET
        self.ndis(fragment(frame[:100]), first | START)
        self.ndis(fragment(other[:50], lower=8), first | START)
        self.ndis(fragment(frame[100:200]), first)
        self.ndis(fragment(other[50:], lower=8), first | END)
        self.ndis(fragment(frame), SEND | WHOLE)  # the other direction
        self.ndis(fragment(frame[200:]), first | END)
        # Two processors whose idle threads log at once.
        self.ndis(fragment(frame[:9]), first | START, cpu=0, tid=0, pid=0)
        self.ndis(fragment(other[:9]), first | START, cpu=1, tid=0, pid=0)
        self.ndis(fragment(frame[9:]), first | END, cpu=0, tid=0, pid=0)
        self.ndis(fragment(other[9:]), first | END, cpu=1, tid=0, pid=0)
        packets = self.convert()
        self.assertEqual([p["data"] for p in packets], [other, frame, frame, frame, other])
        # A packet has the time of its first fragment.
        self.assertEqual(packets[2]["ticks"], self.log.start + 10 - UNIX)

    def test_fragments_that_miss_others_are_told(self):
        frame = ETH + b"\x08\x00" + ip4(400)
        self.ndis(fragment(frame[200:]), END | RECEIVE)           # starts nowhere
        self.ndis(fragment(frame[:100]), START | RECEIVE)         # another one starts
        self.ndis(fragment(frame), WHOLE | RECEIVE)
        self.ndis(fragment(frame[:150], lower=9), START)          # never ends
        packets = self.convert(status=1)
        self.assertEqual([p["data"] for p in packets], [frame[:100], frame, frame[:150]])
        self.assertEqual([p["original"] for p in packets], [len(frame)] * 3)
        self.assertEqual(["incomplete" in p["comment"] for p in packets], [True, False, True])
        warning = next(line for line in self.said.splitlines() if "packet-fragment" in line)
        self.assertRegex(warning, r"packet-fragment at 0x10000: .* \(the first of 3\)")

    def test_nothing_is_joined_over_a_gap(self):
        frame = ETH + b"\x08\x00" + ip4(400)
        buffers = []
        for part, keywords in (frame[:100], START), (frame[100:200], 0), (frame[200:], END):
            self.ndis(fragment(part), keywords | RECEIVE)
            buffers.append(self.log.take(0))
        del buffers[1]
        packets = self.convert(status=1, content=self.log.build(buffers, [1, 3]))
        self.assertEqual([p["data"] for p in packets], [frame[:100]])
        self.assertIn("packet-fragment", self.codes())

    def test_a_packet_is_as_long_as_wireshark_reads(self):
        parts = []
        for keywords in START, 0, 0, 0, 0, END:
            self.ndis(fragment(bytes(60_000)), keywords)
            parts.append(self.log.take(0))
        (packet,) = self.convert(status=1, content=self.log.build(parts))
        self.assertEqual(len(packet["data"]), 240_000)
        self.assertIn("packet-fragment", self.codes())

    def switch(self, data, port, destinations=0, vlan=0, pointer_size=8):
        oob = bytearray(10 * pointer_size)
        struct.pack_into("<I", oob, 4 * pointer_size, vlan << 4 | 5)
        payload = struct.pack("<III", 5, 7, port) + utf16z(f"Port {port}") + utf16z("NIC") + utf16z("External")
        payload += struct.pack("<I", destinations)
        for i in range(destinations):
            payload += struct.pack("<I", i) + utf16z("to") + utf16z("NIC") + utf16z("Internal")
        payload += struct.pack("<I", len(data)) + data + struct.pack("<I", len(oob)) + oob
        self.ndis(payload, SWITCH | WHOLE, event=1003, pointer_size=pointer_size)

    def test_ports_of_a_virtual_switch_are_interfaces(self):
        frame = ETH + b"\x08\x00" + ip4(40)
        self.switch(frame, 3, vlan=12)
        self.switch(frame, 4, destinations=2, pointer_size=4, vlan=13)
        first, second = self.convert()
        self.assertEqual([p["data"] for p in (first, second)], [frame, frame])
        self.assertEqual([i["name"] for i in self.interfaces],
                         ["port 3 of interface 7", "port 4 of interface 7"])
        self.assertEqual(self.interfaces[0]["description"], "Port 3, NIC, External, above interface 5")
        self.assertEqual([p["comment"].splitlines()[-1] for p in (first, second)], ["VLAN 12", "VLAN 13"])

    def test_appearances_are_one_packet(self):
        frame, radio = ETH + b"\x08\x00" + ip4(40), wifi(protected=False)
        group = 1 << 50 | 7
        self.pktmon(160, appearance(group, radio, 11, count=1, kind=2), time=100)
        self.pktmon(160, appearance(group, frame, 30, count=2, edge=2), time=103)
        self.pktmon(160, appearance(group, frame, 31, number=2, direction=4), time=104)  # another of the group
        self.pktmon(170, appearance(group, frame, 33, count=3, reason=9, location=0xe0001234), time=110)
        self.pktmon(160, appearance(group + 1, ip4(40), 34, kind=3, direction=0, original=1500), time=120)
        first, second, third = self.convert()
        self.assertEqual([p["data"] for p in (first, second, third)], [radio, frame, ip4(40)])
        self.assertEqual([p["group"] for p in (first, second, third)], [group, group, group + 1])
        self.assertEqual([p["direction"] for p in (first, second, third)], ["in", "out", None])
        self.assertEqual([p["interface"]["link"] for p in (first, second, third)], [105, 1, 101])
        self.assertEqual([p["original"] for p in (first, second, third)], [len(radio), len(frame), 1500])
        self.assertEqual(first["verdict"], b"\x02" + struct.pack("<Q", 1))
        self.assertEqual((second["verdict"], third["verdict"]), (None, None))
        self.assertEqual(first["comment"],
                         "dropped at component 33 edge 1: FilteredVLAN (9), location 0xe0001234\n"
                         "seen 3 times, component/edge +100 ns: 11/1 +0, 30/2 +3, 33/1 +10")
        self.assertEqual(first["ticks"], self.log.start + 100 - UNIX)
        everyone = self.convert("--every-appearance")
        self.assertEqual([p["interface"]["name"].split()[-1] for p in everyone], ["11", "30", "31", "33", "34"])
        self.assertEqual([p["ticks"] - self.log.start + UNIX for p in everyone], [100, 103, 104, 110, 120])
        self.assertEqual([p["verdict"] is not None for p in everyone], [False, False, False, True, False])
        self.assertIn("dropped: FilteredVLAN (9), location 0xe0001234", everyone[3]["comment"])
        dropped = self.convert("--where", "id == 170")
        self.assertEqual([p["group"] for p in dropped], [group])

    def test_a_packet_waits_a_second_for_its_next_appearance(self):
        frame = ETH + b"\x08\x00" + ip4(40)
        second = 10_000_000
        self.pktmon(160, appearance(1, frame, count=1), time=0)
        self.pktmon(160, appearance(1, frame, count=2), time=second)
        self.pktmon(160, appearance(2, frame, count=1), time=second + 1)
        self.pktmon(160, appearance(1, frame, count=3), time=2 * second + 1)
        packets = self.convert("-v")
        self.assertEqual([p["group"] for p in packets], [1, 2, 1])
        self.assertEqual([p["comment"].split(",")[0] for p in packets],
                         ["seen 2 times", "seen 1 time", "seen 1 time"])
        self.assertIn("packet-late", self.codes())

    def test_wifi_is_ethernet_where_the_same_bytes_were(self):
        frame = ETH + b"\x08\x00" + ip4(40)
        self.pktmon(160, appearance(5, frame, 40, count=1, direction=4))
        self.pktmon(160, appearance(5, frame, 40, count=2, direction=4, kind=2, edge=2))
        self.pktmon(160, appearance(5, wifi(), 41, count=3, direction=4, kind=2))
        packets = self.convert("--every-appearance")
        self.assertEqual([p["interface"]["link"] for p in packets], [1, 1, 105])

    def test_appearances_without_a_count_are_one_packet_by_what_they_carry(self):
        frame, radio = ETH + b"\x08\x00" + ip4(60), wifi(protected=False)[:-40] + ip4(60)
        way = [(radio, 13, 1, 2), (radio, 42, 2, 2), (frame, 40, 1, 1), (frame + bytes(4), 39, 1, 1),
               (frame + bytes(4), 39, 2, 2), (ip4(60), 98, 0, 3)]
        groups = iter(range(1, 100))

        def log(places, cpu=0, direction=3, **options):
            for data, component, edge, kind in places:
                event = 170 if edge == 0 else 160
                self.pktmon(event, appearance(cpu << 48 | next(groups), data, component, count=0, kind=kind,
                                              edge=edge, direction=direction, **options), cpu=cpu)
        log(way)
        log(way[:3])                                    # sent again
        log(way[:2], cpu=1)                             # seen by another adapter, on another processor
        log(way[2:4], direction=4)                      # the other way
        log([(ETH + b"\x08\x00" + ip4(61), 7, 1, 1)])   # another packet
        cut = ETH + b"\x08\x00" + ip4(400)
        log([(cut[:128], 5, 1, 1), (cut[:100], 6, 1, 1)], original=len(cut))
        log([(cut[:100], 8, 1, 1)], original=len(cut) + 1)  # tells the same length: padding
        log([(b"\x48\x01" + bytes(22), 13, 1, 2), (b"\x48\x01" + bytes(22), 42, 1, 2)])  # carries nothing
        packets = self.convert("-v")
        self.assertIn("packet-uncounted", self.codes())
        paths = [re.sub(r" \+\d+", "", p["comment"].splitlines()[-1].split(": ")[1]) for p in packets]
        self.assertEqual(paths, ["13/1, 42/2, 40/1, 39/1, 39/2, 98/0", "13/1, 42/2, 40/1", "13/1, 42/2",
                                 "40/1, 39/1", "7/1", "5/1, 6/1, 8/1", "13/1, 42/1"])
        self.assertEqual([p["group"] for p in packets], [1, 7, 1 << 48 | 10, 12, 14, 15, 18])
        self.assertEqual([p["verdict"] is not None for p in packets], [True] + [False] * 6)
        everyone = self.convert("--every-appearance")
        self.assertEqual([p["interface"]["link"] for p in everyone[:6]], [105, 105, 1, 1, 1, 101])
        self.assertEqual(everyone[2]["comment"], "packet 1 of its group, edge 1")

    def test_packets_without_a_count_that_are_alike_are_bounded(self):
        frame = ETH + b"\x08\x00" + ip4(40)
        pieces = []
        for number in range(20_000):
            self.pktmon(160, appearance(number, frame, 1, count=0), time=number)
            if number % 300 == 299:
                pieces.append(self.log.take(0))
        packets = self.convert(content=self.log.build([*pieces, self.log.take(0)]))
        self.assertEqual([p["group"] for p in packets], list(range(20_000)))

    def test_components_are_described(self):
        def named(component, name, description):
            self.pktmon(20, struct.pack("<HH", component, 2) + utf16z(name) + utf16z(description))
        self.pktmon(160, appearance(1, ETH + b"\x08\x00" + ip4(40), 30))
        self.pktmon(160, appearance(2, b"GET /", 31, kind=4))
        self.pktmon(160, appearance(3, ETH + b"\x08\x00" + ip4(40), 32))
        named(30, "nic.sys", "An adapter \u2460")  # behind the packets, as PktMon does it
        self.pktmon(30, struct.pack("<HHI", 30, 1, 16))
        self.pktmon(65, struct.pack("<HH", 30, 13) + bytes([192, 0, 2, 9]))
        self.pktmon(65, struct.pack("<HH", 30, 13) + bytes([192, 0, 2, 9]))
        self.pktmon(66, struct.pack("<HH", 30, 13) + bytes(range(16)))
        self.pktmon(70, struct.pack("<HHI", 30, 6, 6) + ETH[:6])
        named(31, "http.sys", "")
        packets = self.convert("-v")
        first, second, third = self.interfaces
        self.assertEqual((first["name"], first["description"]),
                         ("nic.sys (component 30)", "An adapter \u2460, Miniport, interface 16"))
        self.assertEqual(first["ipv4"], [bytes([192, 0, 2, 9]) + b"\xff" * 4])
        self.assertEqual(first["ipv6"], [bytes(range(16)) + b"\x80"])
        self.assertEqual(first["mac"], ETH[:6])
        self.assertEqual((second["name"], second["link"]), ("http.sys (component 31)", 147))
        self.assertEqual(third["name"], "component 32")
        self.assertEqual(packets[1]["comment"].splitlines()[0], "PacketType 4 HTTP")
        self.assertIn("packet-link-type", self.codes())

    def test_events_that_end_early_are_told_with_their_place(self):
        frame = ETH + b"\x08\x00" + ip4(40)
        for event, payload in (1001, fragment(frame)), (160, appearance(1, frame)):
            with self.subTest(event=event):
                self.log = EtlWriter(1)
                write = self.ndis if event == 1001 else lambda data: self.pktmon(160, data)
                write(payload)
                for size in range(len(payload)):
                    write(payload[:size])
                write(payload)
                packets = self.convert(status=1)
                self.assertEqual([p["data"] for p in packets], [frame] * (2 if event == 1001 else 1))
                self.assertRegex(self.said, rf"packet-damaged at 0x10000: event {event} of a packet capture, "
                                            r"at 0x[0-9a-f]+ of its buffer, ends inside a field "
                                            rf"\(the first of {len(payload)}\)")

    def test_layouts_that_are_not_known_are_told(self):
        self.log.manifest(0, 1, NDIS, 1001, 9, fragment(ETH), keywords=WHOLE)
        self.assertEqual(self.convert(status=1), [])
        self.assertIn("packet-layout", self.codes())

    def test_packets_without_time_are_told(self):
        self.ndis(fragment(ETH + b"\x08\x00" + ip4(40)))
        content = self.log.build()
        (packet,) = self.convert(status=1, content=bytes(65536) + content[65536:])
        self.assertEqual(packet["ticks"], 0)
        self.assertIn("packet-time", self.codes())
        self.assertNotIn(3, self.section)

    def test_packets_from_before_1970_are_told(self):
        self.ndis(fragment(ETH + b"\x08\x00" + ip4(40)), time=UNIX - self.log.start)
        self.assertEqual([packet["ticks"] for packet in self.convert()], [0])
        self.assertNotIn("packet-time", self.codes())
        self.ndis(fragment(ETH + b"\x08\x00" + ip4(40)), time=UNIX - self.log.start - 1)
        self.assertEqual([packet["ticks"] for packet in self.convert(status=1)], [0])
        self.assertIn("packet-time", self.codes())

    def test_no_more_interfaces_than_names_are_kept_of(self):
        parts = []
        for lower in range(65_540):
            self.ndis(fragment(b"", lower=lower))
            if lower % 400 == 399:
                parts.append(self.log.take(0))
        content = self.log.build([*parts, self.log.take(0)])
        packets = self.convert(status=1, content=content)
        self.assertEqual((len(packets), len(self.interfaces)), (65_536, 65_536))
        self.assertIn("packet-interfaces", self.codes())

    def test_a_trace_without_packets_is_said_to_have_none(self):
        self.log.process(0, 1, 4, "System")
        self.assertEqual(self.convert(status=1), [])
        self.assertIn("no-match", self.codes())

    def test_a_trace_of_coldtrace_s_format_has_the_version_of_windows(self):
        made = self.here / "made.ctrace"
        subprocess.run([COLDTRACE, "trace", "synthesize", "disk-bursts", "-o", made], check=True, timeout=60)
        version = struct.unpack_from("<3I", made.read_bytes(), 80)
        self.convert(status=1, content=made.read_bytes())
        self.assertEqual(self.section[3], ["Windows {}.{}.{}".format(*version).encode()])

    def test_times_select(self):
        for time in 100, 200, 300:
            self.ndis(fragment(ETH + b"\x08\x00" + ip4(40)), time=time)
        seconds, ticks = divmod(self.log.start - UNIX, 10_000_000)
        start = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
        packets = self.convert("--from", f"{start}.{ticks + 150:07}Z", "--to", f"{start}.{ticks + 250:07}Z")
        self.assertEqual([p["ticks"] - self.log.start + UNIX for p in packets], [200])

    def test_binary_goes_to_no_terminal_and_over_no_input(self):
        self.ndis(fragment(ETH + b"\x08\x00" + ip4(40)))
        path = self.write("run.etl", self.log.build())
        controller, terminal = os.openpty()
        done = subprocess.run([COLDTRACE, "trace", "packets", path], stdout=terminal, stderr=subprocess.PIPE)
        os.close(terminal)
        os.close(controller)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"terminal", done.stderr)
        before = path.read_bytes()
        done = subprocess.run([COLDTRACE, "trace", "packets", path, "-o", path], capture_output=True)
        self.assertEqual((done.returncode, path.read_bytes()), (2, before))

    def test_layouts_need_no_schemas(self):
        frame = ETH + b"\x08\x00" + ip4(40)
        self.ndis(fragment(frame, tail=struct.pack("<QQ", 3, 4)))
        self.pktmon(170, appearance(77, frame, reason=1204, direction=5))
        path = self.write("run.etl", self.log.build())
        done = subprocess.run([COLDTRACE, "trace", "decode", path], capture_output=True)
        ndis, drop = [line for line in strict_ndjson(done.stdout) if line.get("id") in (1001, 170)]
        self.assertEqual(ndis["fields"], {"MiniportIfIndex": 5, "LowerIfIndex": 7, "FragmentSize": len(frame),
                                          "Fragment": frame.hex(), "GftFlowEntryId": 3,
                                          "GftOffloadInformation": 4})
        self.assertEqual((drop["decoded"], drop["fields"]["Payload"]), ("exact", frame.hex()))
        self.assertEqual(drop["resolved"], {"DirTag": "Ingress", "PacketType": "Ethernet",
                                            "DropReason": "INET_EndpointNotFound"})

    def test_wireshark_reads_the_same(self):
        if not shutil.which("tshark") or not shutil.which("capinfos"):
            self.skipTest("tshark and capinfos are not here")
        frame = ETH + b"\x08\x00" + ip4(40)
        self.ndis(fragment(frame), time=1_234_567)
        self.ndis(fragment(wifi(), lower=8), WIFI | WHOLE | SEND, time=1_234_568)
        self.ndis(fragment(ip4(60, told=1400), lower=9), WWAN | WHOLE, time=1_234_569)
        self.pktmon(170, appearance(99, frame, reason=9), time=1_234_570)
        packets = self.convert()
        path = self.write("run.pcapng", self.file)
        count = subprocess.run(["capinfos", "-Tcr", path], capture_output=True, check=True).stdout
        self.assertEqual(count.split()[-1], b"4")
        names = ["time_epoch", "cap_len", "len", "interface_name", "packet_id", "packet_flags_direction",
                 "verdict.ebpf_xdp", "comment"]
        wanted = [option for name in names for option in ("-e", f"frame.{name}")]
        done = subprocess.run(["tshark", "-r", path, "-T", "fields", "-E", "occurrence=f", *wanted, "-e",
                               "_ws.malformed", "-e", "udp.dstport"], capture_output=True, check=True)
        rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
        for row, packet in zip(rows, packets, strict=True):
            ticks = int(row[0].replace(".", "")[:-2])
            self.assertEqual(ticks, packet["ticks"])
            self.assertEqual(row[1:4], [str(len(packet["data"])), str(packet["original"]),
                                        packet["interface"]["name"]])
            self.assertEqual(row[7].replace("\\n", "\n"), packet["comment"])
            self.assertEqual(row[8:], ["", "9"])
        self.assertEqual([row[4] for row in rows], ["", "", "", "99"])
        self.assertEqual([int(row[5] or "0", 16) for row in rows], [1, 2, 0, 1])
        self.assertEqual([row[6] for row in rows], ["", "", "", "1"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
