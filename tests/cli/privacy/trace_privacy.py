"""'trace decode' with hashes instead of names, and encrypted key presses shown with their key.

usage: trace_privacy.py COLDTRACE SOURCES SHARED [unittest arguments]
"""
import ctypes
import ctypes.util
import hashlib
import hmac
import json
import re
import struct
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import json_schema  # noqa: E402
from case import Case, installed  # noqa: E402
from cli.trace.etl_writer import EtlWriter  # noqa: E402
from checksums import crc32c  # noqa: E402
from strict import strict_csv, strict_ndjson  # noqa: E402

COLDTRACE, SOURCES, SHARED = (Path(a).resolve() for a in sys.argv[1:4])
KEY = bytes(range(3, 35))
KEY_PRESS = 0x0120


def hashed(name):
    return hmac.new(KEY, name.encode(), hashlib.sha256).hexdigest()[:32]


def hashed_text(text):
    return "".join(part if part in "/\\" or not part else hashed(part) for part in re.split(r"([/\\])", text))


def run(*arguments, status=(0, 1)):
    done = subprocess.run([COLDTRACE, *map(str, arguments)], capture_output=True, timeout=120)
    assert done.returncode in status, done.stderr
    return done


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


# What is not a name: numbers, times, days of changes of the clock, GUIDs.
PLAIN = re.compile(r"(\w+ \w+day of [A-Z][a-z]+ [\d:.]+|0x[0-9a-f]+|[-+]?[0-9.]+|\d{4}-\d\d-\d\dT[\d:.]+Z?|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?")


class Texts(Case):
    def test_texts_that_are_not_valid_have_hashes_of_their_own(self):
        """Of UTF-16 an unpaired surrogate is hashed as three bytes, of bytes each as it is."""
        provider = uuid.UUID("aa0f3f0e-97a4-4ba7-9d4c-62d5b4b3e099")
        manifest = self.write("texts.man", f"""<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
            xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><instrumentation><events>
            <provider name="Texts" guid="{{{provider}}}" symbol="T" resourceFileName="t" messageFileName="t"><templates>
            <template tid="t"><data name="Wide" inType="win:UnicodeString"/><data name="Narrow" inType="win:AnsiString"/></template>
            </templates><events><event value="1" template="t" symbol="E"/></events></provider></events></instrumentation>
            </instrumentationManifest>""".encode())
        key = self.write("key", KEY)
        log = EtlWriter()
        texts = [("C:\\\ud800", b"d/\xe9"), ("C:\\\udc01", b"d/\xe8"), ("C:\\\ud83d\ude00", "d/\u00e9".encode())]
        for time, (wide, narrow) in enumerate(texts):
            log.manifest(0, time, provider, 1, 0, wide.encode("utf-16-le", "surrogatepass") + b"\0\0" + narrow + b"\0")
        trace = self.write("texts.etl", log.build())
        lines = strict_ndjson(run("trace", "decode", trace, "--schemas", manifest, "--names", "keyed-hash", "--key-file", key).stdout)
        digest = lambda name: hmac.new(KEY, name, hashlib.sha256).hexdigest()[:32]
        self.assertEqual([line["fields"] for line in lines if line["type"] == "event" and line["provider"]["guid"] == str(provider)],
                         [{"Wide": digest(b"C:") + "\\" + digest(wide[3:].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
                                                                 .encode("utf-8", "surrogatepass")),
                           "Narrow": digest(b"d") + "/" + digest(narrow[2:])} for wide, narrow in texts])


    def test_the_recipe_of_the_document_tests_a_hash_with_any_key(self):
        """That of docs/privacy.md, as a shell runs it, with the shortest key and the longest."""
        document = (SOURCES / "docs/privacy.md").read_text()
        recipe, = re.findall(r"`(printf %s NAME [^`]*)`", document)
        if not all(installed(self, program) for program in ("openssl", "xxd")):
            return
        self.assertIn("16 to 4,096 bytes", document)
        trace = self.here / "run.ctrace"
        run("trace", "synthesize", "deadlock-2", "-o", trace)
        plain = list(strict_ndjson(run("trace", "decode", trace).stdout))
        at, name = next((at, line["process"]) for at, line in enumerate(plain) if line.get("process"))
        for size in 16, 30, 256, 257, 400, 4096:
            key = self.write("case.key", (bytes(range(255, 0, -5)) * 81)[:size - 1] + b"\n")
            lines = list(strict_ndjson(run("trace", "decode", trace, "--names", "keyed-hash", "--key-file", key).stdout))
            done = subprocess.run(["bash", "-c", recipe.replace("NAME", f"'{name}'")], cwd=self.here, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), size)
            self.assertEqual(done.stdout.split()[-1][:32], lines[at]["process"])


class Names(Case):
    TRACES = ("tx_HTTP_Server.etl", "pv_gcevents.etl", "tx_CrossMachineHTTP.etl")

    def setUp(self):
        super().setUp()
        self.key = self.write("key", KEY)
        self.traces = [SHARED / "samples/etl" / name for name in self.TRACES]
        if not all(trace.exists() for trace in self.traces):
            self.skipTest("the sample traces are not here")

    def hash(self, *arguments):
        return run("trace", "decode", *arguments, "--names", "keyed-hash", "--key-file", self.key)

    def secrets(self, trace):
        """What payloads and rundowns say of files, processes, users, hosts."""
        found = set()
        for line in strict_ndjson(run("trace", "decode", trace).stdout):
            if line["type"] == "header":
                found |= {line["session"]["logger_name"], line["session"]["log_file_name"]}
            if line["type"] != "event":
                continue
            found.add(line["process"])
            mapped = set()
            for name, value in line.get("resolved", {}).items():
                if isinstance(line["fields"].get(name), str) and "\\" in str(value):
                    found |= set(strings(value))
                else:
                    mapped |= set(strings(value))
            found |= {text for text in strings(line["fields"]) if not PLAIN.fullmatch(text)} - mapped
            found |= set(strings(line.get("extended", {}).get("sid", None)))
        return {text for text in found - {None} if len(text) >= 6}

    def test_no_name_is_left(self):
        total = 0
        for trace in self.traces:
            secrets = self.secrets(trace)
            total += len(secrets)
            for options in ([], ["--format", "json"], ["--format", "csv"], ["--format", "text"],
                            ["--stacks", "attach"], ["--header-fields"]):
                done = self.hash(trace, *options)
                plain = run("trace", "decode", trace, *options).stdout
                shown = 0
                for text in sorted(secrets):
                    for form in (text.encode(), json.dumps(text)[1:-1].encode(), text.encode("utf-16-le"),
                                 text.encode("utf-16-le").hex().encode(), text.encode().hex().encode(),
                                 text.replace("\\", "\\\\").replace('"', '""').encode()):
                        # Names of events and providers are schemas', and stay.
                        if form in plain and form not in done.stdout:
                            shown += 1
                        names = {line["name"] for line in ()} if form not in done.stdout else self.schema_names(trace)
                        self.assertTrue(form not in done.stdout + done.stderr or
                                        any(text in name for name in names), (trace.name, options, text))
                self.assertTrue(shown or not secrets, (trace.name, options))
        self.assertGreater(total, 10)

    def schema_names(self, trace):
        names = {str(trace)}
        for line in strict_ndjson(run("trace", "decode", trace).stdout):
            if line["type"] == "event":
                names |= {line["name"] or "", line["provider"]["name"] or "", *line["fields"]}
                names |= set(strings(line.get("names", {})))
                names |= {text for text in strings(line.get("resolved", {})) if "\\" not in text}
        return names

    def test_hashes_are_what_hmac_says(self):
        compared = 0
        schema = json_schema.of(
            json.loads((SOURCES / "docs/schema/trace.schema.json").read_text()))
        for trace in self.traces:
            plain = strict_ndjson(run("trace", "decode", trace).stdout)
            lines = strict_ndjson(self.hash(trace).stdout)
            for line in (*lines[:20], lines[-1]):
                schema.validate(line)
            self.assertEqual(lines[0]["names"]["key_check"], hashed(""))
            self.assertEqual(len(lines), len(plain))
            for line, row in zip(lines, plain):
                if row["type"] != "event":
                    continue
                self.assertEqual(line["process"], row["process"] and hashed(row["process"]))
                for member in ("time", "cpu", "pid", "tid", "provider", "name", "id", "decoded"):
                    self.assertEqual(line[member], row[member])
                for name in {"message", "payload", "trailing"} & set(line):
                    self.fail(name)
                for name, value in row["fields"].items():
                    shown = line["fields"].get(name)
                    if isinstance(value, (int, float, bool)) or value is None:
                        self.assertEqual(shown, value)
                    elif isinstance(value, str):
                        plain_or_not = {value} if PLAIN.fullmatch(value) else set()
                        self.assertIn(shown, plain_or_not | {hashed_text(value), hashed(value)})
                        compared += shown != value
        self.assertGreater(compared, 10)

    def test_names_that_nothing_has_are_hashed_in_findings(self):
        run_trace = self.here / "run.ctrace"
        run("trace", "synthesize", "server", "-o", run_trace)
        log = EtlWriter(1)
        for pid, name in (100, "accounts-payable.exe"), (104, "explorer.exe"):
            log.process(0, 0, pid, name)
            log.thread(0, 0, pid, pid + 1)
            log.system(0, 0x0501, 3, 1000, struct.pack("<II", pid, pid + 1), pid + 1, pid)
        for trace in (self.write("made.etl", log.build()), run_trace):
            names = {line["process"] for line in strict_ndjson(run("trace", "decode", trace).stdout)
                     if line["type"] == "event" and line["process"]}
            name = max(names, key=len)
            wanted = name.rsplit(".", 1)[0]
            self.assertIn(f"nothing matches '{wanted}'; did you mean '{name}'",
                          run("trace", "decode", trace, "--process", wanted, status=(1,)).stderr.decode())
            for form in "ndjson", "json", "csv", "text":
                for folder in False, True:
                    options = ["--process", wanted, "--format", form]
                    results = self.here / f"{trace.name}-{form}-results"
                    done = self.hash(trace, *options, *(["--out-dir", results] if folder else []))
                    written = b"".join(path.read_bytes() for path in sorted(results.rglob("*"))
                                       if path.is_file() and "_batch" not in path.parts) if folder else done.stdout
                    with self.subTest(trace=trace.name, form=form, folder=folder):
                        self.assertEqual(done.returncode, 1)
                        self.assertTrue(written or form == "text", results)
                        for text in (wanted, *names):
                            self.assertNotIn(f"'{text}'", (written + done.stderr).decode())
                        said = f"--process: nothing matches '{hashed(wanted)}'; did you mean '{hashed(name)}'"
                        if not folder:  # a batch tells of its findings in its results
                            self.assertIn(said, done.stderr.decode())
                        if form in ("ndjson", "json"):
                            self.assertIn(said, written.decode())
            said = self.hash(trace, "--process", 999999, "--event", "Nothing").stderr.decode()
            self.assertIn("--process: nothing matches '999999'", said)
            self.assertIn("--event: nothing matches 'Nothing'", said)
            said = self.hash(trace, "--process", wanted, "--keep-extensions").stderr.decode()
            self.assertIn(f"did you mean '{hashed(name)}.exe'", said)

    def test_what_would_name_more_is_refused(self):
        for options in (["--messages"], ["--pdb", self.here]):
            done = run("trace", "decode", self.traces[0], *options, "--names", "keyed-hash", "--key-file", self.key,
                       status=(2,))
            self.assertIn(b"--names plain", done.stderr)


class LibCrypto:
    """AES-256-GCM of another program."""

    def __init__(self):
        name = ctypes.util.find_library("crypto")
        if name is None:
            raise unittest.SkipTest("libcrypto is not here")
        self.library = ctypes.CDLL(name)
        for function in ("EVP_aes_256_gcm", "EVP_CIPHER_CTX_new"):
            getattr(self.library, function).restype = ctypes.c_void_p

    def seal(self, key, nonce, plain):
        library, context = self.library, ctypes.c_void_p(self.library.EVP_CIPHER_CTX_new())
        cipher = ctypes.c_void_p(library.EVP_aes_256_gcm())
        out, tag, size = ctypes.create_string_buffer(len(plain) + 16), ctypes.create_string_buffer(16), ctypes.c_int()
        assert library.EVP_EncryptInit_ex(context, cipher, None, key, nonce) == 1
        assert library.EVP_EncryptUpdate(context, out, ctypes.byref(size), plain, len(plain)) == 1
        written = size.value
        assert library.EVP_EncryptFinal_ex(context, out, ctypes.byref(size)) == 1
        assert library.EVP_CIPHER_CTX_ctrl(context, 0x10, 16, tag) == 1  # EVP_CTRL_AEAD_GET_TAG
        return nonce + out.raw[:written] + tag.raw


def buffer(kind, entries, sequence=0):
    head = struct.pack("<8sIIHBBIIIQQ", b"CTBUFFER", 0, len(entries), 0xffff if kind else 0, kind, 0, sequence, 0, 0,
                       0 if kind else 1_000_000, 0) + bytes(16)
    assert len(head) == 64
    return head[:8] + struct.pack("<I", crc32c(head + entries)) + head[12:] + entries


class KeyPresses(Case):
    PRESSES = [struct.pack("<HHHHI", 0, code, flags, 0, 0) for code, flags in ((0x1e, 0), (0x1e, 1), (0x30, 0))]

    def setUp(self):
        super().setUp()
        crypto = LibCrypto()
        self.sealed = [crypto.seal(KEY, struct.pack("<QI", number, 7), press) for number, press in enumerate(self.PRESSES)]
        self.key = self.write("key", KEY)

    def trace(self, keys):
        run("trace", "synthesize", "disk-idle", "-o", self.here / "made.ctrace")
        made = (self.here / "made.ctrace").read_bytes()
        entries = b""
        for number, key in enumerate(keys):
            data = struct.pack("<IH", int.from_bytes(hashlib.sha256(KEY).digest()[:4], "little"), len(key)) + key
            entries += struct.pack("<QHBBI", 1000 + number, KEY_PRESS, 0, 2 << 6, len(data))
            entries += data.ljust(-(-len(data) // 8) * 8, b"\0")
        size, = struct.unpack_from("<I", made, 12)
        return self.write("keys.ctrace", made[:size] + buffer(0, entries) + buffer(1, b""))

    def keys(self, trace, *options, status=(0, 1)):
        done = run("trace", "decode", "-q", trace, *options, status=status)
        return [line["fields"]["key"] for line in strict_ndjson(done.stdout) if line.get("name") == "KeyPress"]

    def test_the_key_shows_them(self):
        trace = self.trace(self.sealed)
        plain = [press.hex() for press in self.PRESSES]
        self.assertEqual(self.keys(trace), ["encrypted"] * 3)
        self.assertEqual(self.keys(trace, "--decryption-key-file", self.key), plain)
        rows = strict_csv(run("trace", "decode", "--format", "csv", trace, "--decryption-key-file", self.key).stdout)
        self.assertEqual([json.loads(row["fields"])["key"] for row in rows if row["name"] == "KeyPress"], plain)
        text = run("trace", "decode", "--format", "text", trace, "--decryption-key-file", self.key).stdout.decode()
        self.assertEqual(re.findall(r" key=([0-9a-f]+)", text), plain)
        # Results for others have none of them, and each key has an option of its own.
        self.assertEqual(self.keys(trace, "--names", "keyed-hash", "--key-file", self.key), ["encrypted"] * 3)
        for options, said in ((("--key-file", self.key), b"--key-file is for --names keyed-hash"),
                              (("--names", "keyed-hash", "--key-file", self.key, "--decryption-key-file", self.key),
                               b"--decryption-key-file are for --names plain")):
            self.assertIn(said, run("trace", "decode", trace, *options, status=(2,)).stderr)

    def test_another_key_and_changed_bytes_show_nothing(self):
        changed = [bytes([key[0] ^ 1]) + key[1:] for key in self.sealed]
        changed[1] = self.sealed[1][:-1] + bytes([self.sealed[1][-1] ^ 0x80])
        for keys, key in ((changed, self.key), (self.sealed, self.write("other", bytes(32))),
                          ([b"", b"short", bytes(28)], self.key)):
            trace = self.trace(keys)
            self.assertEqual(self.keys(trace, "--decryption-key-file", key), ["encrypted"] * 3)
            done = run("trace", "decode", trace, "--decryption-key-file", key)
            self.assertIn(b"sealed-field: 3 encrypted fields", done.stderr)
            for press in self.PRESSES:
                self.assertNotIn(press.hex().encode(), done.stdout)

    def test_a_key_has_32_bytes(self):
        trace = self.trace(self.sealed)
        for size in (0, 15, 16, 31, 33, 5000):
            done = run("trace", "decode", trace, "--decryption-key-file", self.write("wrong", bytes(size)), status=(2,))
            self.assertIn(b"32 bytes", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
