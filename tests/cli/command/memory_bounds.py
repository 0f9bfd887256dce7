"""Memory is bounded by the input: no number of a small file makes a command take much of it.

usage: memory_bounds.py COLDTRACE SOURCES [unittest arguments]
Of small files of each kind four bytes after the other become a large number, all over the head and at some places behind
it. Each command reads them with an address space that holds the program and what such a file can justify; of those that
read the same file each has other ones, where they are many.
"""
import os
import random
import shutil
import subprocess
import sys
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import case

COLDTRACE, SOURCES = (Path(argument).resolve() for argument in sys.argv[1:3])
del sys.argv[1:3]
CORPUS = SOURCES / "fuzz/corpus"
PROGRAM = case.Program(COLDTRACE)
SANITIZED = b"built with sanitizers" in PROGRAM.run("--version").stdout
LIMIT = 256 << 20  # bytes of addresses; the program, its libraries and a stack are half of it
HEAD = 64  # bytes of which each number becomes large
ELSEWHERE = 8  # numbers behind them
BLOCK, BLOCKS = 512, 24  # and the first number of blocks, where structures begin
SHARES = 3  # of the numbers, to commands that read the same file
LARGE = (0x7FFFFFF0, 0x0FFFFFFF)  # an allocation of either, or of as many bytes times eight, is over the limit

HIVE, HIVE_AT = "hive/system", 9  # behind what the fuzz target reads itself
# The command with {} for the file and {out} for results, and the files.
IMAGE, PDB, TRACE, CTRACE = "pe_image/x64", "pdb_types/members", "trace/names", "ctrace/etw.ctrace"
NTDLL, KERNEL, VOLUME, TABLE = "syscall_map/wine-x64", "syscall_map/windows10-x64-kernel", "ntfs_volume/small.img", "hook_table/three"
ANALYSES = ("cpu", "critical-path --thread 4", "deadlocks", "graph wait-for", "idle", "io", "packets", "priority", "schedule", "services",
            "symbols", "top", "tree", "info", "decode", "check {} --expect pid==4", "compare {} {}", "schemas check", "export chrome",
            "export collapsed", "export ctf {} -o {out}", "export ecs", "export firefox", "export perfetto", "export speedscope",
            "export sqlite {} -o {out}", "export timesketch", "pack {} -o {out}")
COMMANDS = (
    *((f"pe {name}", (IMAGE, NTDLL)) for name in ("info", "exports", "imports", "sections", "compare {} {}")),
    ("pe symbols", (PDB, "pdb_symbols/version-2")), ("pe types", (PDB,)), ("pe isf", (PDB,)),
    *((f"syscalls {name}", (NTDLL, KERNEL)) for name in ("map", "compare {} {}")),
    *((f"trace {name}", (TRACE, CTRACE)) for name in ANALYSES), ("trace unpack {} -o {out}", ("packed/zstd",)),
    *((f"ntfs {name}", (VOLUME,)) for name in ("snapshot", "info", "locate {} 0x4000", "compare {} {}", "query {} --where size>=0",
                                               "history {} {}")),
    ("ntfs journal", ("usn_journal/history.bin",)), ("ntfs logfile", ("ntfs_logfile/operations.bin",)),
    *((f"hooks {name}", (KERNEL,)) for name in ("context-switch", "derive X {} --at 0x1040", "iat", "locate SwapContext {}",
                                                "plan --function NtClose --kernel {}", "table --kernel {}", "tables")),
    *((f"hooks {name}", (TABLE,)) for name in ("show", "merge {} -o {out}", "export c-header")),
    ("driver check --hive", (HIVE,)), ("servicing {} {}", (IMAGE,)), ("report {} -o {out}", (CTRACE, VOLUME, TABLE)),
)
# Those of texts, of which no number says how much there is of anything; that read what one above reads, and more beside it;
# or that read no file.
OTHERS = {"syscalls check", "syscalls hash", "trace control list", "trace control explain", "trace control decode",
          "trace schema check", "trace schema show", "trace schema c-header", "trace schemas build", "trace schemas list",
          "trace schemas show", "trace synthesize", "hooks export edrsandblast", "hooks export isf", "hooks export j00ru",
          "hooks export kphdyn", "hooks profile check", "hooks profile expand", "hooks profile show", "hooks verify", "findings", "batch",
          "help"}


def sample(name):
    data = (CORPUS / name).read_bytes()
    return data[HIVE_AT:] if name == HIVE else data


class MemoryBounds(case.Case):
    def setUp(self):
        super().setUp()
        if SANITIZED:
            self.skipTest("AddressSanitizer needs more address space than the limit leaves")

    def out(self, path):
        return path.with_name(f"{path.name}.out")

    def arguments(self, command, path):
        words = command if "{}" in command else f"{command} {{}}"
        return [word.replace("{}", str(path)).replace("{out}", str(self.out(path))) for word in words.split()]

    def limited(self, command, path, limit=LIMIT):
        # One heap for all threads: others reserve 64 MiB each of what is limited. A preexec_fn would copy Python's pages each time.
        return subprocess.run(["prlimit", f"--as={limit}", COLDTRACE, *self.arguments(command, path), "-q"], capture_output=True,
                              timeout=120, env={**os.environ, "MALLOC_ARENA_MAX": "1", "TMPDIR": str(self.here)})

    def read(self, command, path):
        done = self.limited(command, path)
        path.unlink()
        out = self.out(path)
        if out.is_dir():
            shutil.rmtree(out)
        out.unlink(missing_ok=True)
        return command, path.name, done

    def forged(self, name, share=0, shares=1):
        """Files with one large number each; one of the shares of all."""
        data = sample(name)
        places = {*range(0, min(HEAD, len(data) - 4), 4), *random.Random(21).sample(range(0, len(data) - 4, 4), ELSEWHERE)}
        blocks = range(0, len(data) - 4, BLOCK)
        places |= {*random.Random(21).sample(blocks, min(BLOCKS, len(blocks)))}
        for at in sorted(places)[share::shares]:
            for number in LARGE[:1 if at % 8 else 2]:
                yield at, data[:at] + number.to_bytes(4, "little") + data[at + 4:]

    def test_every_command(self):
        tried = 0
        readers = Counter(name for _, names in COMMANDS for name in names)
        seen = Counter()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for command, names in COMMANDS:
                jobs = []
                for number, name in enumerate(names):
                    shares = min(SHARES, readers[name])
                    seen[name] += 1
                    for at, data in self.forged(name, seen[name] % shares, shares):
                        path = self.write(f"{len(jobs)}-{number}-{at:x}{Path(name).suffix}", data)
                        jobs.append(pool.submit(self.read, command, path))
                for job in jobs:
                    _, path, done = job.result()
                    with self.subTest(command=command, path=path):
                        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                        self.assertNotIn(b"out of memory", done.stderr)
                        tried += 1
        print(f"{tried} runs", file=sys.stderr)

    def test_the_files_are_read_as_they_are(self):
        """Else a bound would be kept by commands that refuse them."""
        for command, names in COMMANDS:
            for number, name in enumerate(names):
                path = self.write(f"{number}-file{Path(name).suffix}", sample(name))
                with self.subTest(command=command, file=name):
                    _, _, done = self.read(command, path)
                    self.assertIn(done.returncode, (0, 1), done.stderr)

    def test_the_limit_is_one(self):
        """A large file whose bytes are all needed."""
        path = self.write("image", (CORPUS / IMAGE).read_bytes())
        with open(path, "r+b") as file:
            file.truncate(2 * LIMIT)
        _, _, done = self.read("pe sections --format json", path)
        self.assertEqual(done.returncode, 2)

    def snapshot(self, headers):
        """Of that many volumes of one disk, and one summary."""
        lines = (f'{{"type":"header","schema":"coldtrace.ntfs-snapshot/1","partition":{{"number":{number},"offset":{number * 512},'
                 '"shadow":null}}\n' for number in range(1, headers + 1))
        return self.write(f"{headers}.ndjson", ("".join(lines) + '{"type":"summary","complete":true,"counts":{},"findings":[]}\n').encode())

    def test_headers_of_a_snapshot_without_end(self):
        """Of as many volumes as a disk can have each is known again; of more none takes more memory."""
        query = "ntfs query {} --where size>=0"
        known, more = self.snapshot(70_000), self.snapshot(300_000)
        enough, least = LIMIT, 0
        while enough - least > 2 << 20:
            tried = (enough + least) // 2
            if self.limited(query, known, tried).returncode in (0, 1):
                enough = tried
            else:
                least = tried
        done = self.limited(query, more, enough + (6 << 20))
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_no_command_is_left_out(self):
        def name(command):
            return [words for words in PROGRAM.commands() if command.split()[:len(words)] == list(words)]
        covered = {" ".join(found) for command, _ in COMMANDS for found in name(command)}
        self.assertEqual({" ".join(words) for words in PROGRAM.commands()} - covered, OTHERS)


if __name__ == "__main__":
    unittest.main()
