"""pe info --details against other programs: signatures, hashes, overlay, entropy.

usage: details_test.py COLDTRACE IMAGES WINE SOURCES [unittest arguments]
osslsigncode makes the signatures, with keys made here.
"""
import collections
import datetime
import functools
import hashlib
import math
import re
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
import case
from table_image import import_table, table_image
from strict import strict_json

try:
    import pefile
except ImportError:
    pefile = None

COLDTRACE, IMAGES, WINE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:5])
SEED = SOURCES / "fuzz/corpus/pe_image/x64"
GOOD = sorted([*IMAGES.glob("reader-*/reader.dll"), *WINE.glob("*/*.dll"), *WINE.glob("*/*.exe")])


def info(path, *options):
    done = subprocess.run([COLDTRACE, "pe", "info", "--format", "json", "-q", "--details", *options,
                           path], capture_output=True, timeout=120)
    return strict_json(done.stdout)["images"][0]


def text_of(path, *options):
    return subprocess.run([COLDTRACE, "pe", "info", "-q", *options, path], capture_output=True,
                          timeout=120).stdout.decode()


def codes(answer):
    return [finding["code"] for finding in answer["findings"]]


def tool(*names):
    found = next(filter(None, map(shutil.which, names)), None)
    if not found:
        raise unittest.SkipTest(f"{names[0]} is not installed")
    return found


def layout_of(file):
    """Offsets of optional header, checksum and certificate directory, and that directory."""
    header, = struct.unpack_from("<I", file, 60)
    optional = header + 24
    magic, = struct.unpack_from("<H", file, optional)
    directories = optional + (112 if magic == 0x20b else 96)
    return optional, optional + 64, directories + 32, struct.unpack_from("<II", file,
                                                                        directories + 32)


def authenticode(file, algorithm):
    """Read from Microsoft's description of the format, and nothing else."""
    _, checksum, place, (table, size) = layout_of(file)
    digest = hashlib.new(algorithm)
    digest.update(file[:checksum])
    digest.update(file[checksum + 4:place])
    digest.update(file[place + 8:table or len(file)])
    digest.update(file[table + size:] if table else b"")
    return digest.hexdigest()


# AlgorithmIdentifier of RFC 5754 and RFC 8017: SEQUENCE of OID and NULL.
SHA256 = bytes.fromhex("300d06096086480165030402010500")
RSA = bytes.fromhex("300d06092a864886f70d0101010500")
OID_NESTED = bytes.fromhex("060a2b060104018237020401")  # 1.3.6.1.4.1.311.2.4.1
OID_TIME_STAMP = bytes.fromhex("060a2b060104018237030301")  # 1.3.6.1.4.1.311.3.3.1

TIME_STAMPING = """
[req]
distinguished_name = name
[name]
[extensions]
extendedKeyUsage = critical, timeStamping
[tsa]
default_tsa = clock
[clock]
serial = serial
crypto_device = builtin
signer_cert = tsa.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
clock_precision_digits = 6
"""


def der(tag, content):
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    width = (size.bit_length() + 7) // 8
    return bytes([tag, 0x80 | width]) + size.to_bytes(width, "big") + content


def contents(data):
    """The contents of the first element, and how many bytes it takes."""
    head, size = 2, data[1]
    if size >= 0x80:
        head += size - 0x80
        size = int.from_bytes(data[2:head], "big")
    return data[head:head + size], head + size


def append(data, depth, addition):
    """The element with `addition` at the end of the last element of the last ... of it."""
    inner, _ = contents(data)
    if depth > 1:
        last = 0
        while last + contents(inner[last:])[1] < len(inner):
            last += contents(inner[last:])[1]
        inner = inner[:last] + append(inner[last:], depth - 1, addition)
    else:
        inner += addition
    return der(data[0], inner)


class Signatures(case.Case):
    def setUp(self):
        super().setUp()
        self.osslsigncode, openssl = tool("osslsigncode"), tool("openssl")
        subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                        self.here / "key", "-out", self.here / "certificate", "-days", "99", "-subj",
                        "/O=Tests/CN=Signer, of \u00e4 test", "-utf8"], check=True,
                       capture_output=True)
        if info(SEED)["details"]["signatures"] is None:
            self.skipTest("the helper program is not built")

    def sign(self, source, name, *options):
        path = self.here / name
        path.unlink(missing_ok=True)
        subprocess.run([self.osslsigncode, "sign", "-certs", self.here / "certificate", "-key",
                        self.here / "key", *options, "-in", source, "-out", path], check=True,
                       capture_output=True)
        return path

    def verify(self, path):
        text = subprocess.run([self.osslsigncode, "verify", "-in", path],
                              capture_output=True).stdout.decode("utf-8", "replace")
        return [digest.lower() for digest in
                re.findall(r"Current message digest *: ([0-9A-F]+)", text)], [
                    digest.lower() for digest in
                    re.findall(r"Calculated message digest *: ([0-9A-F]+)", text)]

    @unittest.skipUnless(GOOD, "no image was built, and Wine's are not here")
    def test_each_algorithm_on_each_kind_of_image(self):
        for source in GOOD[:4]:
            for algorithm in ("sha1", "sha256", "sha384", "sha512"):
                with self.subTest(image=source.parent.name, algorithm=algorithm):
                    path = self.sign(source, "signed.dll", "-h", algorithm, "-n", "A pr\u00f6gram",
                                     "-i", "https://example.org/more")
                    answer = info(path)
                    signature, = answer["details"]["signatures"]
                    self.assertEqual(signature["digest_algorithm"], algorithm)
                    self.assertEqual(signature["digest"], authenticode(path.read_bytes(), algorithm))
                    self.assertEqual(signature["file_digest"], signature["digest"])
                    self.assertIs(signature["digest_agrees"], True)
                    self.assertIs(signature["signature_valid"], True)
                    stored, calculated = self.verify(path)
                    self.assertEqual(([signature["digest"]], [signature["file_digest"]]),
                                     (stored, calculated))
                    self.assertEqual(signature["program_name"], "A pr\u00f6gram")
                    self.assertEqual(signature["more_info"], "https://example.org/more")
                    self.assertIn("Signer\\, of \u00e4 test", signature["signer"]["issuer"])
                    self.assertEqual(len(signature["certificates"]), 1)
                    self.assertNotIn("authenticode-mismatch", codes(answer))
                    self.assertRegex(text_of(path, "--details"),
                                     rf"  signature +{algorithm} digest agrees")

    def test_a_changed_byte_is_noticed(self):
        path = self.sign(SEED, "signed.dll", "-h", "sha256")
        good = path.read_bytes()
        optional, checksum, place, (table, _) = layout_of(good)
        for at, agrees in ((optional + 2, False), (checksum, True), (table - 1, False),
                           (len(SEED.read_bytes()) // 2, False)):
            with self.subTest(at=at):
                changed = bytearray(good)
                changed[at] ^= 1
                answer = info(self.write("changed.dll", bytes(changed)))
                signature, = answer["details"]["signatures"]
                self.assertIs(signature["digest_agrees"], agrees)
                self.assertIs(signature["signature_valid"], True)
                self.assertEqual("authenticode-mismatch" in codes(answer), not agrees)
                self.assertEqual(signature["file_digest"], authenticode(bytes(changed), "sha256"))

    def test_a_changed_digest_is_no_longer_signed(self):
        path = self.sign(SEED, "signed.dll", "-h", "sha256")
        file = path.read_bytes()
        digest = bytes.fromhex(info(path)["details"]["signatures"][0]["digest"])
        self.assertEqual(file.count(digest), 1)
        changed = file.replace(digest, bytes(32))
        signature, = info(self.write("changed.dll", changed))["details"]["signatures"]
        self.assertEqual(signature["digest"], "00" * 32)
        self.assertIs(signature["signature_valid"], False)

    def test_a_signature_of_another_file_is_none_of_this(self):
        """Its digest is put right, as who moves a signature would."""
        path = self.sign(SEED, "signed.dll", "-h", "sha256")
        file = bytearray(path.read_bytes())
        digest = bytes.fromhex(info(path)["details"]["signatures"][0]["digest"])
        file[len(SEED.read_bytes()) // 2] ^= 1
        mine = bytes.fromhex(authenticode(bytes(file), "sha256"))
        answer = info(self.write("moved.dll", bytes(file).replace(digest, mine)))
        signature, = answer["details"]["signatures"]
        self.assertIs(signature["digest_agrees"], True)
        self.assertIs(signature["signature_valid"], False)
        self.assertIn("authenticode-invalid", codes(answer))
        self.assertEqual(subprocess.run([COLDTRACE, "pe", "info", "--details",
                                         self.here / "moved.dll"], capture_output=True).returncode,
                         1)

    def test_nested_signatures(self):
        first = self.sign(SEED, "first.dll", "-h", "sha1")
        path = self.sign(first, "both.dll", "-h", "sha256", "-nest")
        signatures = info(path)["details"]["signatures"]
        self.assertEqual([(entry["nested"], entry["digest_algorithm"], entry["digest_agrees"])
                          for entry in signatures],
                         [(False, "sha1", True), (True, "sha256", True)])

    def time_stamp(self):
        """A time stamp token of RFC 3161, and the GeneralizedTime that OpenSSL reads in it."""
        openssl = tool("openssl")
        (self.here / "tsa.conf").write_text(TIME_STAMPING)
        run = functools.partial(subprocess.run, cwd=self.here, check=True, capture_output=True)
        run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "tsa.key", "-out",
             "tsa.pem", "-days", "99", "-subj", "/CN=Clock", "-config", "tsa.conf", "-extensions",
             "extensions"])
        run([openssl, "ts", "-query", "-data", SEED, "-sha256", "-no_nonce", "-out", "query"])
        run([openssl, "ts", "-reply", "-queryfile", "query", "-config", "tsa.conf", "-token_out",
             "-out", "token"])
        run([openssl, "ts", "-reply", "-in", "token", "-token_in", "-token_out", "-text", "-out",
             "token.text"])
        said = re.search(r"Time stamp: (\w+ +\d+ [\d:]+)(\.\d+)? (\d+) GMT",
                         (self.here / "token.text").read_text())
        whole = datetime.datetime.strptime(f"{said[1]} {said[3]}", "%b %d %H:%M:%S %Y")
        return (self.here / "token").read_bytes(), f"{whole.isoformat()}{said[2] or ''}Z"

    def test_times_have_their_fractions(self):
        token, time = self.time_stamp()
        path = self.sign(SEED, "signed.dll", "-h", "sha256")
        file = path.read_bytes()
        _, _, place, (table, size) = layout_of(file)
        length, = struct.unpack_from("<I", file, table)
        attribute = der(0x30, OID_TIME_STAMP + der(0x31, token))
        # ContentInfo, [0], SignedData, signerInfos, SignerInfo: the last of each.
        blob = append(file[table + 8:table + length], 5, der(0xa1, attribute))
        entry = struct.pack("<IHH", 8 + len(blob), 0x200, 2) + blob
        entry += bytes(-len(entry) % 8)
        stamped = bytearray(file[:table] + entry)
        struct.pack_into("<II", stamped, place, table, len(entry))
        signature, = info(self.write("stamped.dll", bytes(stamped)))["details"]["signatures"]
        self.assertIs(signature["signature_valid"], True)
        self.assertEqual((signature["signing_time"], signature["signing_time_source"]),
                         (time, "rfc3161"))
        self.assertIn(".", time)

    def with_certificates(self, signed, blobs):
        """The signed file with other signatures, each in a certificate of its own."""
        place, (table, _) = layout_of(signed)[2:]
        entries = b""
        for blob in blobs:
            entry = struct.pack("<IHH", 8 + len(blob), 0x200, 2) + blob
            entries += entry.ljust((len(entry) + 7) & ~7, b"\0")
        made = bytearray(signed[:table] + entries)
        struct.pack_into("<II", made, place, table, len(entries))
        return bytes(made)

    @staticmethod
    def blob_of(signed):
        """The signature without its padding, by its own DER length."""
        table = layout_of(signed)[3][0]
        return signed[table + 8:table + 8 + contents(signed[table + 8:])[1]]

    def test_bytes_behind_a_signature_are_told(self):
        signed = self.sign(SEED, "signed.dll", "-h", "sha256").read_bytes()
        blob = self.blob_of(signed)
        for behind in 0, 7, 8, 480:
            with self.subTest(behind=behind):
                path = self.write("behind.dll",
                                  self.with_certificates(signed, [blob + b"!" * behind]))
                answer = info(path)
                signature, = answer["details"]["signatures"]
                self.assertEqual(signature["bytes_behind"], behind)
                self.assertIs(signature["digest_agrees"], True)
                self.assertIs(signature["signature_valid"], True)
                self.assertEqual("authenticode-behind" in codes(answer), behind > 7)
                text = text_of(path, "--details")
                self.assertIn("sha256 digest agrees", text)

    def test_zeros_behind_a_signature_are_padding(self):
        signed = self.sign(SEED, "signed.dll", "-h", "sha256").read_bytes()
        blob = self.blob_of(signed)
        for behind, data in ((b"\0" * 8, False), (b"\0" * 480, False),
                             (b"\0" * 479 + b"!", True), (b"!" + b"\0" * 479, True)):
            with self.subTest(behind=behind):
                answer = info(self.write("behind.dll",
                                         self.with_certificates(signed, [blob + behind])))
                signature, = answer["details"]["signatures"]
                self.assertEqual((signature["bytes_behind"], signature["behind_is_zero"]),
                                 (len(behind), not data))
                self.assertEqual("authenticode-behind" in codes(answer), data)

    def test_zeros_behind_the_last_certificate_are_padding(self):
        signed = self.sign(SEED, "signed.dll", "-h", "sha256").read_bytes()
        _, _, place, (table, size), *_ = layout_of(signed)
        for rest, damaged in ((b"\0" * 8, False), (b"\0" * 504, False), (b"\0" * 503 + b"!", True)):
            with self.subTest(rest=rest):
                made = bytearray(signed + rest)
                struct.pack_into("<I", made, place + 4, size + len(rest))
                answer = info(self.write("rest.dll", made))
                self.assertEqual(len(answer["details"]["signatures"]), 1)
                self.assertEqual("certificate-table" in codes(answer), damaged)

    def test_more_signatures_than_are_read_are_told(self):
        signed = self.sign(SEED, "signed.dll", "-h", "sha256").read_bytes()
        blob = self.blob_of(signed)
        for count in 64, 65:
            with self.subTest(count=count):
                answer = info(self.write("many.dll", self.with_certificates(signed, [blob] * count)))
                self.assertEqual(len(answer["details"]["certificates"]), count)
                self.assertEqual(len(answer["details"]["signatures"]), 64)
                limits = [row for row in answer["findings"] if row["code"] == "authenticode-limit"]
                self.assertEqual([row["first_offset"] for row in limits],
                                 [answer["details"]["certificates"][64]["file_offset"]]
                                 if count > 64 else [])

    def test_signatures_nested_too_deep_are_told(self):
        signed = self.sign(SEED, "signed.dll", "-h", "sha256").read_bytes()
        blob = innermost = self.blob_of(signed)
        for depth in range(1, 10):
            # ContentInfo, [0], SignedData, signerInfos, SignerInfo: the last of each.
            attribute = der(0x30, OID_NESTED + der(0x31, blob))
            blob = append(innermost, 5, der(0xa1, attribute))
            answer = info(self.write("nested.dll", self.with_certificates(signed, [blob])))
            signatures = answer["details"]["signatures"]
            self.assertEqual([entry["nested"] for entry in signatures], [False] + [True] * depth)
            problems = [entry["problem"] for entry in signatures]
            self.assertEqual(problems[:9], [None] * min(depth + 1, 9))
            self.assertEqual("authenticode-unread" in codes(answer), depth > 8)
            self.assertEqual(problems[9:], ["it is nested too deeply"] if depth > 8 else [])

    def test_damage_to_the_signature(self):
        """Each byte counts, but for the certificate, which is not checked, and what no signature
        covers: versions and the names of algorithms around it."""
        path = self.sign(SEED, "signed.dll", "-h", "sha256")
        good = path.read_bytes()
        table, size = layout_of(good)[3]
        intact = info(path)["details"]
        certificate = subprocess.run(
            [tool("openssl"), "x509", "-in", self.here / "certificate", "-outform", "DER"],
            check=True, capture_output=True).stdout
        start = good.index(certificate)
        behind = start + len(certificate)
        # Behind the SET and SEQUENCE that follow it, of four bytes each, is a version.
        unchecked = {*range(start, behind), *range(behind + 8, behind + 11)}
        for name, find in ((SHA256, good.index), (SHA256, good.rindex), (RSA, good.rindex)):
            start = find(name, table)
            # Around the first is a SET, and a version in front of that.
            unchecked |= {*range(start - 5, start + len(name))}
        end = table + 8 + len(self.blob_of(good))
        for at in range(table, end, 7):
            changed = bytearray(good)
            changed[at] ^= 0x55
            answer = info(self.write("changed.dll", bytes(changed)))
            signatures = answer["details"]["signatures"]
            self.assertIsNotNone(signatures)
            with self.subTest(at=at - table):
                if not signatures or signatures[0]["problem"]:
                    self.assertTrue({"certificate-table", "authenticode-unread"} & set(codes(answer))
                                    or answer["details"]["certificates"][0]["type"] != 2)
                elif at not in unchecked:
                    self.assertTrue({"authenticode-invalid", "authenticode-mismatch"}
                                    & set(codes(answer)) or answer["details"] != intact)

    def test_a_cut_signature_is_not_none(self):
        good = self.sign(SEED, "signed.dll", "-h", "sha256").read_bytes()
        table, size = layout_of(good)[3]
        self.assertEqual(len(good), table + size)
        path = self.here / "cut.dll"
        for stored in (0, 1, 7, 8, 9, size // 2, size - 1):
            with self.subTest(stored=stored):
                path.write_bytes(good[:table + stored])
                for options in ([], ["--details"]):
                    answer = strict_json(subprocess.run(
                        [COLDTRACE, "pe", "info", "--format", "json", "-q", *options, path],
                        capture_output=True).stdout)["images"][0]
                    found, = [row for row in answer["findings"]
                              if row["code"] == "certificate-table"]
                    self.assertEqual((found["count"], found["first_offset"]), (1, table))
                    self.assertRegex(text_of(path, *options),
                                     rf"(?m)^  signature +CUT OFF: {size:,} bytes at {table:#x}, "
                                     rf"of which the file has only {stored}$")
        # A second one, of which nothing is left; the first is whole.
        place = layout_of(good)[2]
        two = bytearray(good)
        struct.pack_into("<II", two, place, table, size + 64)
        path.write_bytes(bytes(two))
        answer = info(path)
        self.assertEqual([row["count"] for row in answer["findings"]
                          if row["code"] == "certificate-table"], [1])
        self.assertRegex(text_of(path, "--details"), "signature +sha256 digest .*; CUT OFF: ")
        # Longer than the table itself says: that is damage beside the cut.
        two[table:table + 4] = struct.pack("<I", size + 65)
        path.write_bytes(bytes(two))
        self.assertEqual([row["count"] for row in info(path)["findings"]
                          if row["code"] == "certificate-table"], [2])
        short = bytearray(good)
        short[table:table + 4] = struct.pack("<I", 7)
        path.write_bytes(bytes(short))
        self.assertRegex(text_of(path), rf"signature +DAMAGED: {size:,} bytes at {table:#x}\n")

    def test_who_signed(self):
        path = self.sign(SEED, "signed.dll", "-h", "sha256")
        subject = subprocess.run(
            [tool("openssl"), "x509", "-in", self.here / "certificate", "-noout", "-subject",
             "-nameopt", "RFC2253,-esc_msb"], capture_output=True,
            check=True).stdout.decode().strip().removeprefix("subject=")
        self.assertIn("Signer", subject)
        signature, = info(path)["details"]["signatures"]
        self.assertEqual(signature["signer"]["subject"], subject)
        self.assertIn("  signature           sha256 digest agrees, signed by "
                      + subject + ", chain not checked\n",
                      text_of(path, "--details"))
        # Another serial number: the certificate beside the signature is no longer the signer's.
        serial = bytes.fromhex(signature["signer"]["serial_number"])
        file = path.read_bytes()
        self.assertEqual(file.count(serial), 2)
        at = file.rindex(serial) + len(serial) - 1  # the first byte must stay minimal DER
        path.write_bytes(file[:at] + bytes([file[at] ^ 1]) + file[at + 1:])
        changed, = info(path)["details"]["signatures"]
        self.assertIsNone(changed["signer"]["subject"])
        self.assertIn("sha256 digest agrees, signature NOT VALID\n", text_of(path, "--details"))

    def test_texts_in_utf_16(self):
        """As Microsoft's tools write them: BMPStrings, whose bytes are those that were signed here as ASCII."""
        for name, units in (("a\U0001f600b", None), ("a\ud800bc", "610000d862006300")):
            big = name.encode("utf-16-be", "surrogatepass")
            shown = big.decode("utf-16-be", "replace") if units else name
            path = self.sign(SEED, "signed.dll", "-h", "sha256", "-n", "12345678")
            file = path.read_bytes()
            self.assertEqual((len(big), file.count(b"\x81\x0812345678")), (8, 1))
            file = file.replace(b"\x81\x0812345678", b"\x80\x08" + big)
            path.write_bytes(file)
            with self.subTest(name=ascii(name)):
                signature, = info(path)["details"]["signatures"]
                self.assertEqual((signature["program_name"], signature.get("program_name_utf16")), (shown, units))

    def test_no_signature(self):
        answer = info(SEED)
        self.assertEqual(answer["details"]["signatures"], [])
        self.assertEqual(answer["details"]["certificates"], [])
        self.assertIn("none in the file", text_of(SEED))


def rich(entries, start=0x80):
    """The bytes that a linker of Microsoft writes, of (id, build, count), and the DOS part."""
    stub = b"\x0e\x1f stub ".ljust(start - 0x40, b"$")[:start - 0x40]
    dos = bytearray(b"MZ".ljust(0x40, b"\x90") + stub)
    struct.pack_into("<I", dos, 0x3c, 0)

    def rotated(value, count):
        count %= 32
        return (value << count | value >> (32 - count)) & 0xffffffff
    key = start + sum(rotated(byte, at) for at, byte in enumerate(dos))
    key = (key + sum(rotated(tool << 16 | build, count) for tool, build, count in entries))
    key &= 0xffffffff
    words = [0x536e6144, 0, 0, 0]
    for tool, build, count in entries:
        words += [tool << 16 | build, count]
    clear = struct.pack(f"<{len(words)}I", *words)
    hidden = b"".join(struct.pack("<I", word ^ key) for word in words)
    return dos, hidden + b"Rich" + struct.pack("<I", key), clear, key


class RichHeader(case.Case):
    ENTRIES = [(0x105, 27412, 1), (0x103, 30795, 12), (1, 0, 201), (0x102, 30795, 1)]

    def build(self, entries, behind=b"", start=0x80):
        """The seed with another DOS part: its headers behind a Rich header and `behind`."""
        dos, header, clear, key = rich(entries, start)
        header += behind
        source = SEED.read_bytes()
        at, = struct.unpack_from("<I", source, 60)
        front = bytes(dos) + header
        front += bytes(-len(front) % 8)
        new = len(front)
        struct.pack_into("<I", dos, 60, new)
        sections, size = struct.unpack_from("<H12xH", source, at + 6)
        headers = source[at:at + 24 + size + sections * 40]
        first = min(struct.unpack_from("<I", headers, 24 + size + 40 * i + 20)[0]
                    for i in range(sections))
        self.assertLessEqual(new + len(headers), first)
        file = (bytes(dos) + header).ljust(new, b"\0") + headers
        return file.ljust(first, b"\0") + source[first:], clear, key

    def test_entries_in_file_order_and_the_known_hash(self):
        file, clear, key = self.build(self.ENTRIES)
        answer = info(self.write("rich.dll", file))
        found = answer["details"]["rich_header"]
        self.assertEqual([tuple(entry.values()) for entry in found["entries"]], self.ENTRIES)
        self.assertEqual((found["file_offset"], found["key"], found["computed_key"]),
                         (0x80, key, key))
        self.assertEqual(found["md5"], hashlib.md5(clear).hexdigest())
        self.assertNotIn("rich-header", codes(answer))

    def test_wherever_it_starts(self):
        for start in range(0x40, 0x60, 4):
            with self.subTest(start=start):
                file, clear, key = self.build(self.ENTRIES, start=start)
                answer = info(self.write("rich.dll", file))
                found = answer["details"]["rich_header"]
                self.assertNotIn("rich-header", codes(answer))
                self.assertEqual((found["file_offset"], found["key"], found["computed_key"]),
                                 (start, key, key))
                self.assertEqual([tuple(entry.values()) for entry in found["entries"]],
                                 self.ENTRIES)

    def test_a_changed_stub_is_noticed(self):
        file, _, key = self.build(self.ENTRIES)
        changed = bytearray(file)
        changed[0x48] ^= 1
        answer = info(self.write("rich.dll", bytes(changed)))
        self.assertIn("rich-header", codes(answer))
        self.assertEqual(answer["details"]["rich_header"]["key"], key)

    def test_none(self):
        self.assertIsNone(info(SEED)["details"]["rich_header"])

    def test_damage_is_never_none(self):
        file, clear, key = self.build(self.ENTRIES)
        end = 0x80 + len(clear)
        self.assertEqual(file[end:end + 8], b"Rich" + struct.pack("<I", key))
        for at in range(0x80, end + 8):
            # The checksum takes counts modulo 32.
            if 0x90 <= at < end and (at - 0x90) % 8 > 4:
                continue
            with self.subTest(at=at):
                changed = bytearray(file)
                changed[at] ^= 0x5f
                answer = info(self.write("rich.dll", bytes(changed)))
                self.assertIn("rich-header", codes(answer))
                has_both_ends = 0x84 <= at < end
                self.assertEqual(answer["details"]["rich_header"] is not None, has_both_ends)
                if not has_both_ends:
                    self.assertIn("Rich header       damaged, not read\n",
                                  text_of(self.here / "rich.dll", "--details"))

    def test_the_key_is_cut_off_or_a_count(self):
        file, clear, key = self.build(self.ENTRIES)
        end = 0x80 + len(clear)
        without_key = file[:end + 4] + bytes(4) + file[end + 8:]
        self.assertIn("rich-header", codes(info(self.write("rich.dll", without_key))))
        without_count = file[:end - 4] + b"Rich" + struct.pack("<I", key) + bytes(4) + file[end + 8:]
        answer = info(self.write("rich.dll", without_count))
        finding, = [row for row in answer["findings"] if row["code"] == "rich-header"]
        self.assertEqual(finding["count"], 2)  # and its key is of four entries
        self.assertEqual(len(answer["details"]["rich_header"]["entries"]), 3)

    def test_a_word_behind_it_hides_nothing(self):
        file, _, key = self.build(self.ENTRIES, b"Richard!")
        answer = info(self.write("rich.dll", file))
        self.assertEqual(answer["details"]["rich_header"]["key"], key)
        self.assertNotIn("rich-header", codes(answer))


class Whole(case.Case):
    """What is computed of the whole file, computed again."""

    def test_entropy_and_overlay(self):
        for path in GOOD[:6] + [SEED]:
            for appended in (b"", b"something behind the end"):
                with self.subTest(image=path.parent.name, appended=appended):
                    file = path.read_bytes() + appended
                    at, = struct.unpack_from("<I", file, 60)
                    count, size = struct.unpack_from("<H12xH", file, at + 6)
                    rows = [struct.unpack_from("<8sIIII", file, at + 24 + size + 40 * i)
                            for i in range(count)]
                    details = info(self.write("file", file))["details"]
                    for row, section in zip(rows, details["sections"], strict=True):
                        stored = file[row[4]:row[4] + row[3]]
                        entropy = -sum(n / len(stored) * math.log2(n / len(stored))
                                       for n in collections.Counter(stored).values())
                        self.assertAlmostEqual(section["entropy"], entropy, delta=0.001)
                    end = max(row[4] + row[3] for row in rows if row[4] and row[3])
                    self.assertEqual(details["overlay"],
                                     {"file_offset": end, "size": len(file) - end}
                                     if end < len(file) else None)

    def test_bytes_of_a_section_that_are_not_loaded_count(self):
        hidden = bytes(range(256)) * 64
        image = bytearray(table_image({1: import_table(b"ntdll.dll", (b"NtClose",))}))
        count_at = image.index(b".rdata") + 16
        raw, start = struct.unpack_from("<II", image, count_at)
        struct.pack_into("<I", image, count_at, raw + len(hidden))
        image += hidden
        stored = collections.Counter(image[start:])
        entropy = -sum(n / len(image[start:]) * math.log2(n / len(image[start:])) for n in stored.values())
        details = info(self.write("hidden.dll", image))["details"]
        self.assertAlmostEqual(details["sections"][0]["entropy"], entropy, delta=0.001)
        self.assertIsNone(details["overlay"])

    def test_the_longest_version_of_metadata(self):
        """ECMA-335, II.24.2.1: up to 255 bytes with the NUL, in a multiple of four that is stated."""
        for length, known in ((10, True), (250, True), (253, True), (254, True), (258, False)):
            version = b"v" * length
            allocated = (length + 4) // 4 * 4

            def table(rva):
                header = struct.pack("<IHHIII", 72, 2, 5, rva + 72, 16 + allocated, 1).ljust(72, b"\0")
                root = struct.pack("<4sHHII", b"BSJB", 1, 1, 0, allocated) + version.ljust(allocated, b"\0")
                return header + root, 72

            with self.subTest(length=length):
                dotnet = info(self.write("managed.dll", table_image({14: table})))["details"]["dotnet"]
                self.assertEqual(dotnet, {"runtime_version": "2.5", "metadata_version": version.decode() if known else None, "flags": 1})

    def test_import_hash_leaves_out_what_pefile_takes_for_no_name(self):
        names = (b"_A.b?@$()<>9", b"@System@%DelphiInterface$t17System@IInterface%", b"Sp ace", b"F\xc3\xbc", b"Last")
        for module, shown in ((b"vcl.bpl", "vcl.bpl"), (b"Odd#Name.DLL", "odd#name"), (b"no blank.dll", "*invalid*")):
            with self.subTest(module=module):
                path = self.write("names.dll", table_image({1: import_table(module, names)}))
                text = f"{shown}._a.b?@$()<>9,{shown}.last"
                hashed = info(path)["details"]["imphash"]
                self.assertEqual(hashed, hashlib.md5(text.encode()).hexdigest())
                if pefile:
                    self.assertEqual(hashed, pefile.PE(str(path)).get_imphash())

    @unittest.skipUnless(GOOD, "no image was built, and Wine's are not here")
    def test_import_hash(self):
        objdump = tool("objdump")
        for path in GOOD:
            if "arm" in path.parent.name:
                continue
            with self.subTest(image=path.parent.name):
                text = subprocess.run([objdump, "-p", path], capture_output=True).stdout.decode()
                parts = []
                for block in text.split("\tDLL Name: ")[1:]:
                    name, _, rest = block.partition("\n")
                    for line in rest.split("\n\n")[0].splitlines()[1:]:
                        hint, function = re.match(r"\t[0-9a-f]+\t *(\d+) +(\S+)", line).groups()
                        function = f"ord{int(hint)}" if function == "<none>" else function
                        parts.append(re.sub(r"\.(dll|sys|ocx)$", "", name.lower()) + "."
                                     + function.lower())
                expected = hashlib.md5(",".join(parts).encode()).hexdigest() if parts else None
                self.assertEqual(info(path)["details"]["imphash"], expected)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
