"""Writes BitLocker volumes, with libcrypto. Sources: libbde, "BitLocker Drive Encryption (BDE) format", 0.0.16; checksums,
the hash and the bitmaps behind them: cryptsetup, lib/bitlk, and dissect.fve, and images that both publish."""
import ctypes
import ctypes.util
import functools
import hashlib
import struct
import unittest
import uuid
import zlib

SIGNATURE = b"-FVE-FS-"
RECOGNITION = uuid.UUID("4967d63b-2e29-4ad8-8399-f6a339e3d001").bytes_le
CONVERSION = uuid.UUID("92a84d3b-dd80-4d0e-9e4e-b1e3284eaed8").bytes_le
METHODS = {0x8000: "AES-CBC 128-bit with diffuser", 0x8001: "AES-CBC 256-bit with diffuser", 0x8002: "AES-CBC 128-bit",
           0x8003: "AES-CBC 256-bit", 0x8004: "AES-XTS 128-bit", 0x8005: "AES-XTS 256-bit"}
TIME = 132_000_000_000_000_000
ROOM = 0x10000  # of each copy of the metadata
KEPT = 0x2000   # bytes at the start of the volume that are kept elsewhere
CLEAR, TPM, STARTUP, RECOVERY, PASSWORD = 0, 0x100, 0x200, 0x800, 0x2000

if ctypes.util.find_library("crypto") is None:
    raise unittest.SkipTest("libcrypto is not installed")
crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
for function in ("EVP_CIPHER_CTX_new", "EVP_aes_128_ecb", "EVP_aes_256_ecb", "EVP_aes_128_cbc", "EVP_aes_256_cbc",
                 "EVP_aes_128_xts", "EVP_aes_256_xts", "EVP_aes_256_ccm"):
    getattr(crypto, function).restype = ctypes.c_void_p
pointer = ctypes.c_void_p


def encrypt(cipher, key, vector, data):
    context, size = pointer(crypto.EVP_CIPHER_CTX_new()), ctypes.c_int()
    out = ctypes.create_string_buffer(len(data) + 16)
    assert crypto.EVP_EncryptInit_ex(context, pointer(getattr(crypto, f"EVP_{cipher}")()), None, key, vector) == 1
    crypto.EVP_CIPHER_CTX_set_padding(context, 0)
    assert crypto.EVP_EncryptUpdate(context, out, ctypes.byref(size), data, len(data)) == 1
    crypto.EVP_CIPHER_CTX_free(context)
    return out.raw[:size.value]


def sealed(key, counter, data):
    """AES-CCM: nonce, authentication code, ciphertext."""
    nonce = struct.pack("<QI", TIME, counter)
    context, size = pointer(crypto.EVP_CIPHER_CTX_new()), ctypes.c_int()
    assert crypto.EVP_EncryptInit_ex(context, pointer(crypto.EVP_aes_256_ccm()), None, None, None) == 1
    assert crypto.EVP_CIPHER_CTX_ctrl(context, 9, 12, None) == 1   # EVP_CTRL_AEAD_SET_IVLEN
    assert crypto.EVP_CIPHER_CTX_ctrl(context, 17, 16, None) == 1  # EVP_CTRL_AEAD_SET_TAG
    assert crypto.EVP_EncryptInit_ex(context, None, None, key, nonce) == 1
    assert crypto.EVP_EncryptUpdate(context, None, ctypes.byref(size), None, len(data)) == 1
    out, code = ctypes.create_string_buffer(len(data)), ctypes.create_string_buffer(16)
    assert crypto.EVP_EncryptUpdate(context, out, ctypes.byref(size), data, len(data)) == 1
    assert crypto.EVP_CIPHER_CTX_ctrl(context, 16, 16, code) == 1  # EVP_CTRL_AEAD_GET_TAG
    crypto.EVP_CIPHER_CTX_free(context)
    return nonce + code.raw + out.raw


def datum(role, kind, data, flags=1):
    return struct.pack("<HHHH", 8 + len(data), role, kind, flags) + data


def key_datum(method, key):
    return datum(0, 1, struct.pack("<I", method) + key)


@functools.cache
def stretched(start, salt):
    last, rest = bytes(32), start + salt
    for count in range(0x100000):
        last = hashlib.sha256(last + rest + count.to_bytes(8, "little")).digest()
    return last


def password_hash(password):
    return hashlib.sha256(hashlib.sha256(password.encode("utf-16-le")).digest()).digest()


def recovery_hash(recovery):
    parts = [int(part) // 11 for part in recovery.split("-")]
    return hashlib.sha256(struct.pack("<8H", *parts)).digest()


def diffused(sector, back):
    """The diffusers, B behind A; `back` undoes them."""
    words = list(struct.unpack(f"<{len(sector) // 4}I", sector))
    count = len(words)

    def turn(word, bits):
        return (word << bits | word >> (32 - bits)) & 0xFFFFFFFF

    def run(cycles, turns, near, far):
        for _ in range(cycles):
            for i in (range(count) if back else reversed(range(count))):
                other = words[(i + near) % count] ^ turn(words[(i + far) % count], turns[i % 4])
                words[i] = (words[i] + other if back else words[i] - other) & 0xFFFFFFFF

    diffusers = [(5, (9, 0, 13, 0), -2, -5), (3, (0, 10, 0, 25), 2, 5)]
    for diffuser in (reversed(diffusers) if back else diffusers):
        run(*diffuser)
    return struct.pack(f"<{count}I", *words)


class Volume:
    """`content` as a BitLocker volume: its first sectors at `kept`, metadata at each of `copies`, where it has to be zeros.
    Zeros behind the first `used` bytes are not encrypted: nobody reads them."""

    def __init__(self, content, used, copies, kept, *, method=0x8004, sector=512, state=4, next_state=4, encrypted=None, to_go=False,
                 vista=False, description="HOST F: 1/1/2024", seed=b"seed"):
        self.content, self.used, self.copies, self.kept = bytes(content), used, copies, kept
        self.method, self.sector, self.to_go, self.vista = method, sector, to_go, vista
        self.state, self.next_state, self.description = state, next_state, description
        self.encrypted = len(content) if encrypted is None else encrypted
        self.bits = 256 if method & 1 else 128
        self.counter = 1
        self.seed = seed
        self.master = self.random(32)
        size = self.bits // 8
        pair = self.random(size), self.random(size)
        if method < 0x8002:
            self.key = pair[0].ljust(32, b"\0") + pair[1].ljust(32, b"\0")
        else:
            self.key = pair[0] if method < 0x8004 else pair[0] + pair[1]
        self.pair = pair
        self.protectors = []
        self.bitmap = None

    def random(self, size):
        self.seed = hashlib.sha512(self.seed).digest()
        return self.seed[:size]

    def seal(self, key, data, role=0):
        self.counter += 1
        return datum(role, 5, sealed(key, self.counter, data))

    def add(self, kind, key=None, properties=b"", name=None, flags=1):
        """A protector; `key` opens it."""
        identity = uuid.UUID(bytes_le=self.random(16))
        data = identity.bytes_le + struct.pack("<QHH", TIME, 0, kind)
        if name:
            data += datum(0, 2, (name + "\0").encode("utf-16-le"))
        data += properties
        if key is not None:
            data += self.seal(key, key_datum(0x2003, self.master))
        self.protectors.append(datum(2, 8, data, flags))
        return identity

    def add_clear(self):
        key = self.random(32)
        return self.add(CLEAR, key, key_datum(0x2000, key), flags=3)

    def add_stretched(self, kind, start, method):
        salt = hashlib.md5(start).digest()  # the same for all volumes: a key takes a second
        key = stretched(start, salt)
        inner = self.seal(self.master, key_datum(0x2002, key))
        return self.add(kind, key, datum(0, 3, struct.pack("<I", method) + salt + inner))

    def add_password(self, password):
        return self.add_stretched(PASSWORD, password_hash(password), 0x1001)

    def add_recovery(self, recovery):
        return self.add_stretched(RECOVERY, recovery_hash(recovery), 0x1000)

    def add_startup(self):
        """The protector's identity, and the file with its key."""
        key = self.random(32)
        identity = self.add(STARTUP, key, datum(0, 4, struct.pack("<I", 0x2002)), "ExternalKey")
        inner = datum(0, 2, "ExternalKey\0".encode("utf-16-le")) + key_datum(0x2002, key)
        data = datum(6, 9, identity.bytes_le + struct.pack("<Q", TIME) + inner)
        size = 48 + len(data)
        return identity, struct.pack("<IIII16sIIQ", size, 1, 48, size, identity.bytes_le, 1, 0, TIME) + data

    def encrypted_sector(self, offset, data):
        place = struct.pack("<QQ", offset, 0)
        first, second = self.pair
        if self.method >= 0x8004:
            return encrypt(f"aes_{self.bits}_xts", first + second, struct.pack("<QQ", offset // self.sector, 0), data)
        if self.method < 0x8002:
            last = bytearray(place)
            last[15] = 0x80
            key = encrypt(f"aes_{self.bits}_ecb", second, None, place + bytes(last))
            data = bytes(byte ^ key[i % 32] for i, byte in enumerate(data))
            data = diffused(data, back=False)
        vector = encrypt(f"aes_{self.bits}_ecb", first, None, place)
        return encrypt(f"aes_{self.bits}_cbc", first, vector, data)

    def stored(self, offset, data):
        """What stands at a place of the volume for plain data."""
        if self.state == 1 or offset >= self.encrypted or (self.bitmap and not self.bitmap(offset)):
            return data
        return self.encrypted_sector(offset, data)

    def metadata(self, mirror):
        datums = datum(7, 2, (self.description + "\0").encode("utf-16-le")) + b"".join(self.protectors)
        if self.state != 1:
            datums += self.seal(self.master, key_datum(self.method, self.key), role=3)
        if not self.vista:
            datums += datum(15, 15, struct.pack("<QQ", self.kept, KEPT))
        size = 48 + len(datums)
        whole = -(-(64 + size) // 16) * 16
        head = struct.pack("<8sHHHHQIIQQQQ", SIGNATURE, whole if self.vista else whole // 16, 1 if self.vista else 2,
                           self.state, self.next_state, self.encrypted if not self.vista else 0, 0,
                           0 if self.vista else KEPT // self.sector, *self.copies, mirror if self.vista else self.kept)
        self.identity = uuid.UUID(bytes_le=self.random(16))
        head += struct.pack("<IIII16sIHHQ", size, 1, 48, size, self.identity.bytes_le, self.counter + 2,
                            self.method if self.state != 1 else 0, 0, TIME)
        block = (head + datums).ljust(whole, b"\0")
        check = self.seal(self.master, key_datum(0x2005, hashlib.sha256(block).digest()))
        return block + struct.pack("<HHI", 8 + len(check), 1 if self.vista else 2, zlib.crc32(block)) + check

    def bytes(self):
        size = self.sector
        out = bytearray(len(self.content))
        for at in range(0, len(self.content), size):
            data = self.content[at:at + size]
            out[at:at + size] = self.stored(at, data) if at < self.used or any(data) else data
        mirror = struct.unpack_from("<Q", self.content, 0x38)[0]
        if self.vista:
            out[:KEPT] = self.content[:KEPT]
            out[3:11] = SIGNATURE
            struct.pack_into("<Q", out, 0x38, self.copies[0] // (self.sector * self.content[13]))
        else:
            for at in range(0, KEPT, size):
                out[self.kept + at:self.kept + at + size] = self.stored(self.kept + at, self.content[at:at + size])
            out[:KEPT] = self.first_sector().ljust(KEPT, b"\0")
        block = self.metadata(mirror)
        for copy in self.copies:
            assert not any(self.content[copy:copy + (0x4000 if self.vista else ROOM)])
            out[copy:copy + len(block)] = block
        return out

    def first_sector(self):
        sector = bytearray(512)
        sector[:3] = b"\xeb\x58\x90"
        sector[3:11] = b"MSWIN4.1" if self.to_go else SIGNATURE
        struct.pack_into("<HB", sector, 11, self.sector, 8)
        sector[0x52:0x5a] = b"FAT32   "
        at = 0x1A8 if self.to_go else 0xA0
        sector[at:at + 16] = CONVERSION if self.bitmap else RECOGNITION
        struct.pack_into("<3Q", sector, at + 16, *self.copies)
        if self.bitmap:
            struct.pack_into("<2Q", sector, at + 40, *self.bitmap_lists)
        sector[510:] = b"\x55\xaa"
        return bytes(sector)


def with_bitmap(volume, out, lists, place, chunk, chunks):
    """Lays the bitmap of a volume that is encrypted in pieces, and its list twice, over free bytes of `out`."""
    bits = bytearray(-(-len(chunks) // 8))
    for i, chunk_is in enumerate(chunks):
        bits[i // 8] |= chunk_is << i % 8

    def summed(data, at):
        struct.pack_into("<I", data, at, zlib.crc32(bytes(data)))
        return bytes(data)

    head = summed(bytearray(struct.pack("<10sHIIQQQIIII", b"FVE-EOWBM\0", 60, 0x600, 0, 0, len(volume.content),
                                        place + 0x1000, 0x200, 0x400, 0x200, 0).ljust(0x200, b"\0")), 56)
    records = b""
    for number, record in ((7, bytes(bits)), (6, b"\xff" * len(bits))):  # the first one is newer
        data = bytearray(struct.pack("<10sHIIQII", b"FVE-EOWBR\0", 36, 0x200, len(chunks), number, 2, 0) + record)
        records += summed(data.ljust(0x200, b"\0"), 32)
    out[place:place + 0x600] = head + records
    info = bytearray(struct.pack("<8sHHIIIIIIIQQQ", b"FVE-EOW\0", 0x38, 0x40, 512, 512, chunk, 0x1000, 0, 1, 0, *lists, place))
    for at in lists:
        out[at:at + len(info)] = summed(bytearray(info), 0x24) if at == lists[0] else out[lists[0]:lists[0] + len(info)]
