"""BitLocker volumes give what the volume inside gives; bdeinfo, cryptsetup and dislocker open what is written here.

Defects of these programs that the tests step around: libbde 20190102 opens no AES-XTS 256-bit; cryptsetup 2.6.1 and
dislocker 0.7.3 take no password with other characters than ASCII.

usage: bitlocker.py COLDTRACE SOURCES [unittest arguments]
"""
import json
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import bitlocker_writer as b  # noqa: E402
from ntfs.journal import usn_writer as w  # noqa: E402
from case import Case  # noqa: E402
from strict import strict_json, strict_ndjson  # noqa: E402

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
INFO = jsonschema.Draft202012Validator(json.loads((SOURCES / "docs/schema/ntfs-info.schema.json").read_text()))
PASSWORD, RECOVERY = "Schlüssel 1!", "042647-302313-590458-071500-554323-116567-412181-516978"
CONTENT, _ = w.volume(w.History(20, 700, start=1 << 30), 4)
USED = -(-len(CONTENT) // 0x10000) * 0x10000
KEPT, COPIES, BITMAPS = USED, [USED + 0x10000, USED + 0x20000, USED + 0x30000], USED + 0x40000
PLAIN = bytes(CONTENT) + bytes(USED + 0x50000 - len(CONTENT))
STATUS = {"snapshot": 1, "journal": 0}  # no directory lists the files of the volume, which snapshots tell
ALL = {"snapshot": ("--state", "all"), "journal": ()}


def ntfs(command, *arguments, status):
    done = subprocess.run([COLDTRACE, "ntfs", command, *map(str, arguments)], capture_output=True, timeout=120)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done


def program(test, *command, **given):
    """What another program says, or None where it is not installed, which the test says."""
    path = shutil.which(command[0]) or shutil.which(command[0], path="/usr/sbin:/sbin")
    if path is None:
        with test.subTest(missing=command[0]):
            test.skipTest(f"{command[0]} is not installed")
        return None
    return subprocess.run([path, *map(str, command[1:])], capture_output=True, timeout=120, text=True, **given)


def rows(command, path, *options, status=None):
    done = ntfs(command, *ALL[command], *options, path, status=STATUS[command] if status is None else status)
    lines = strict_ndjson(done.stdout)
    for line in lines:
        if line["type"] in ("file", "record") and line["volume"]:
            line["volume"].pop("image")
    codes = {finding["code"]: finding for finding in lines[-1]["findings"]}
    return [line for line in lines if line["type"] in ("file", "record")], codes


class BitLocker(Case):
    @classmethod
    def setUpClass(cls):
        cls.expected = {}

    def setUp(self):
        super().setUp()
        plain = self.write("plain", PLAIN)
        for command in STATUS:
            if command not in self.expected:
                self.expected[command], _ = rows(command, plain)
        self.assertGreater(len(self.expected["snapshot"]), 20)
        self.password = self.write("password", PASSWORD.encode())
        self.recovery = self.write("recovery", RECOVERY.encode())

    def volume(self, **given):
        return b.Volume(PLAIN, USED, COPIES, KEPT, **given)

    def check(self, image, *options, told=frozenset({"bitlocker-opened"}), status=None):
        for command, expected in self.expected.items():
            with self.subTest(image.name, command=command, options=options):
                found, codes = rows(command, image, *options, status=status)
                self.assertEqual(found, expected)
                self.assertEqual({code for code in codes if code.startswith("bitlocker")}, set(told))

    def info(self, image, *options, status):
        document = strict_json(ntfs("info", "--format", "json", *options, image, status=status).stdout)
        INFO.validate(document)
        return document

    def test_every_method_gives_what_the_volume_gives(self):
        for method, name in b.METHODS.items():
            volume = self.volume(method=method)
            identity = volume.add_password(PASSWORD)
            recovery = volume.add_recovery(RECOVERY)
            image = self.write(f"{method:x}", volume.bytes())
            self.check(image, "--password-file", self.password)
            told = self.info(image, "--password-file", self.password, status=0)["partitions"][0]
            self.assertEqual(told["holds"], "ntfs_volume")
            told = told["bitlocker"]
            self.assertEqual((told["encryption"], told["id"], told["opened"]), (name, str(volume.identity), True))
            self.assertEqual([(one["type"], one["id"], one["opened"]) for one in told["protectors"]],
                             [("password", str(identity), True), ("recovery password", str(recovery), False)])
            if method != 0x8005 and (done := program(self, "bdeinfo", "-p", PASSWORD, image)) is not None:
                self.assertIn(name.replace("with diffuser", "with Diffuser"), done.stdout)
                self.assertNotIn("Unable to unlock", done.stdout + done.stderr)
            if method >= 0x8002 and (done := program(self, "cryptsetup", "bitlkDump", "--batch-mode", "--dump-volume-key",
                                                     "--key-file", self.recovery, image)) is not None:
                dump = done.stdout.split("dump:")[1].split()
                self.assertEqual("".join(dump), volume.key.hex(), done.stderr)

    def test_every_protector(self):
        volume = self.volume()
        volume.add(b.TPM, properties=b.datum(0, 6, bytes(60)))
        volume.add_password(PASSWORD)
        recovery = volume.add_recovery(RECOVERY)
        startup, file = volume.add_startup()
        image = self.write("image", volume.bytes())
        bek = self.write("KEY.BEK", file)
        # As Windows prints it.
        printed = self.write("printed.txt", b"\xff\xfe" + f"Recovery Key:\r\n\r\n\t{RECOVERY}\r\n".encode("utf-16-le"))
        for options in (("--password-file", self.password), ("--recovery-key-file", self.recovery),
                        ("--recovery-key-file", printed), ("--startup-key", bek)):
            self.check(image, *options)
        wrong = self.write("wrong", b"Schluessel 1!")
        self.check(image, "--password-file", wrong, "--startup-key", bek, told={"bitlocker-opened", "bitlocker-key"})
        _, codes = rows("journal", image, "--recovery-key-file", self.recovery)
        self.assertIn(f"recovery password {recovery}", codes["bitlocker-opened"]["text"])
        for options in (("-p", PASSWORD), ("-r", RECOVERY), ("-s", bek)):
            if (done := program(self, "bdeinfo", *options, image)) is not None:
                self.assertNotIn("Unable to unlock", done.stdout + done.stderr)
        # Without one it is said what is needed, with the names of the options and of the protectors.
        for options, words in (((), "no key was given"), (("--password-file", wrong), "none of the given keys")):
            done = ntfs("snapshot", *options, image, status=2)
            self.assertEqual(done.stdout, b"")
            text = done.stderr.decode()
            for word in (words, "AES-XTS 128-bit", "TPM", "--password-file", f"recovery password {recovery} (--recovery-key-file)",
                         f"startup key {startup} (--startup-key)"):
                self.assertIn(word, text)
        document = self.info(image, status=1)
        self.assertEqual([one["type"] for one in document["partitions"][0]["bitlocker"]["protectors"]],
                         ["TPM", "password", "recovery password", "startup key"])
        self.assertEqual([finding["code"] for finding in document["findings"]], ["bitlocker-locked"])
        self.assertIn("recovery password", ntfs("info", image, status=1).stdout.decode())
        ntfs("info", "--password-file", wrong, image, status=2)

    def test_a_clear_key_opens_by_itself(self):
        volume = self.volume(method=0x8002)
        volume.add_password(PASSWORD)
        volume.add_clear()
        image = self.write("image", volume.bytes())
        self.check(image)
        _, codes = rows("journal", image)
        self.assertIn("clear key", codes["bitlocker-opened"]["text"])

    def test_other_forms(self):
        for name, given, told in (
                ("to-go", {"to_go": True}, ()), ("4k", {"sector": 4096}, ()), ("vista", {"vista": True, "method": 0x8000}, ()),
                ("in part", {"state": 5, "next_state": 1, "encrypted": USED // 2}, ("bitlocker-conversion",))):
            volume = self.volume(**given)
            volume.add_clear()
            self.check(self.write(name, volume.bytes()), told={"bitlocker-opened", *told})
        image = self.write("decrypted", self.volume(state=1, next_state=1, encrypted=0).bytes())
        self.check(image, told={"bitlocker-conversion"})

    def test_a_volume_that_is_encrypted_in_pieces(self):
        chunk, lists = 0x8000, [BITMAPS, BITMAPS + 0x1000]
        chunks = [at // chunk % 3 != 1 for at in range(0, len(PLAIN), chunk)]
        volume = self.volume(method=0x8005)
        volume.bitmap, volume.bitmap_lists = lambda at: chunks[at // chunk], lists
        volume.add_clear()
        out = volume.bytes()
        b.with_bitmap(volume, out, lists, BITMAPS + 0x2000, chunk, chunks)
        self.check(self.write("pieces", out), told={"bitlocker-opened", "bitlocker-conversion"})
        out[BITMAPS + 8] ^= 1  # the other copy of the list counts
        self.check(self.write("pieces", out), told={"bitlocker-opened", "bitlocker-conversion"})
        out[BITMAPS + 0x1008] ^= 1
        done = ntfs("journal", self.write("pieces", out), status=2)
        self.assertIn(b"cannot be read", done.stderr)

    def test_a_disk_with_several_volumes(self):
        """One BitLocker volume, one that stays locked and one that is none: each is told."""
        opened, locked = self.volume(), self.volume(seed=b"other")
        opened.add_password(PASSWORD)
        locked.add_recovery(RECOVERY)
        parts = [opened.bytes(), PLAIN, locked.bytes()]
        mbr, disk, at = bytearray(512), bytearray(1 << 20), 1 << 20
        for i, part in enumerate(parts):
            struct.pack_into("<BBBBBBBBII", mbr, 446 + 16 * i, 0, 0, 0, 0, 7, 0, 0, 0, at // 512, len(part) // 512)
            disk += part
            at += len(part)
        mbr[510:] = b"\x55\xaa"
        disk[:512] = mbr
        image = self.write("disk", disk)
        found, codes = rows("snapshot", image, "--password-file", self.password)
        by_partition = {}
        for row in found:
            by_partition.setdefault(row["volume"]["partition"], []).append(row["path"])
        paths = [row["path"] for row in self.expected["snapshot"]]
        self.assertEqual(by_partition, {1: paths, 2: paths})
        self.assertIn("partition 3 is a BitLocker volume", codes["bitlocker-locked"]["text"])
        _, codes = rows("journal", image, "--password-file", self.password, "--partition", "1")
        self.assertNotIn("bitlocker-locked", codes)
        found, _ = rows("journal", image, "--password-file", self.password, "--offset", str(1 << 20))
        self.assertEqual([row["usn"] for row in found], [row["usn"] for row in self.expected["journal"]])
        done = ntfs("snapshot", "--partition", "3", "--password-file", self.password, image, status=2)
        self.assertIn(b"none of the given keys", done.stderr)
        ntfs("snapshot", "--offset", str(at - len(parts[2])), image, status=2)

    def test_damaged_metadata(self):
        volume = self.volume()
        volume.add_clear()
        sound = volume.bytes()
        damaged = bytearray(sound)
        for copy in COPIES[:2]:
            damaged[copy + 0x90] ^= 0xff
        self.check(self.write("two", damaged), told={"bitlocker-opened", "bitlocker-metadata"}, status=1)
        # With all three changed in the same way the checksum is told, and that the volume's own key says another thing.
        damaged = bytearray(sound)
        for copy in COPIES:
            damaged[copy + 0x7a] ^= 1  # the description
        _, codes = rows("journal", self.write("three", damaged), status=1)
        self.assertEqual(codes["bitlocker-metadata"]["count"], 4)
        for name, at in (("signature", 0), ("version", 10), ("size", 8)):
            damaged = bytearray(sound)
            for copy in COPIES:
                damaged[copy + at:copy + at + 2] = b"\0\0"
            self.assertIn(b"BitLocker", ntfs("snapshot", self.write(name, damaged), status=2).stderr)
        for cut in (100, 512, COPIES[0] + 100):
            ntfs("snapshot", self.write("cut", sound[:cut]), status=2)

    def test_files_that_are_no_keys(self):
        volume = self.volume()
        volume.add_clear()
        image = self.write("image", volume.bytes())
        for option, content, words in (
                ("--password-file", b"\n", "no password in it"), ("--recovery-key-file", b"123", "no recovery key"),
                ("--recovery-key-file", RECOVERY.replace("302313", "302314").encode(), "group 2"),
                ("--startup-key", bytes(156), "not a BitLocker startup key"), ("--password-file", None, "No such file")):
            path = self.write("key", content) if content is not None else self.here / "absent"
            done = ntfs("snapshot", option, path, image, status=2)
            self.assertEqual(done.stdout, b"")
            self.assertIn(words, done.stderr.decode())

    def test_keys_that_open_nothing_are_told(self):
        volume = self.volume()
        volume.add_recovery(RECOVERY)
        image = self.write("image", volume.bytes())
        both = {"bitlocker-opened", "bitlocker-key"}
        big = self.write("big", b"\xfe\xff" + RECOVERY.encode("utf-16-be"))
        _, codes = rows("journal", image, "--recovery-key-file", big)
        self.assertNotIn("bitlocker-key", codes)
        _, codes = rows("journal", image, "--password-file", self.password, "--recovery-key-file", big)
        self.assertLessEqual(both, set(codes))
        self.assertIn("1 of 2 given keys", codes["bitlocker-key"]["text"])

    def test_a_password_with_the_high_byte_first(self):
        volume = self.volume()
        volume.add_password(PASSWORD)
        big = self.write("big", b"\xfe\xff" + PASSWORD.encode("utf-16-be") + b"\0\r\0\n")
        rows("journal", self.write("image", volume.bytes()), "--password-file", big)

    def test_keys_of_an_image_without_a_locked_volume(self):
        plain = self.write("plain", PLAIN)
        done = ntfs("info", "--format", "json", "--password-file", self.password, plain, status=0)
        told = json.loads(done.stdout)
        self.assertEqual([(one["code"], one["severity"]) for one in told["findings"]], [("bitlocker-key", "info")])
        mft = told["partitions"][0]["volume"]["mft_extents"][0]["offset"]
        done = ntfs("info", "--format", "json", "--password-file", self.password, "--mft-offset", mft, plain, status=1)
        self.assertIn("bitlocker-key", {one["code"] for one in json.loads(done.stdout)["findings"]})
        # One that stays locked beside another one: exit status 1.
        volume, locked = self.volume(), self.volume()
        volume.add_recovery(RECOVERY)
        locked.add_startup()
        one, other = volume.bytes(), locked.bytes()
        disk = bytearray(1 << 20)
        at = 1 << 20
        for number, part in enumerate((one, other)):
            struct.pack_into("<B3xB3xII", disk, 446 + 16 * number, 0, 7, at // 512, len(part) // 512)
            at += len(part)
        disk[510:512] = b"\x55\xaa"
        done = ntfs("info", "--format", "json", "--recovery-key-file", self.recovery, "--password-file", self.password,
                    self.write("disk", bytes(disk) + one + other), status=1)
        found = {one["code"]: one["severity"] for one in json.loads(done.stdout)["findings"]}
        self.assertEqual((found["bitlocker-key"], found["bitlocker-locked"]), ("warning", "warning"))

    def test_a_public_reader_gives_the_volume(self):
        volume = self.volume()
        volume.add_recovery(RECOVERY)
        image, out = self.write("image", volume.bytes()), self.here / "out"
        done = program(self, "dislocker-file", "-r", "-V", image, f"-p{RECOVERY}", "--", out)
        if done is not None:
            self.assertEqual(out.read_bytes()[:USED], PLAIN[:USED], done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
