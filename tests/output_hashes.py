"""Hashes of what every command says of every input: two builds are compared by a diff of two runs.

usage: output_hashes.py COLDTRACE FOLDER... > before.txt
The folders are searched for images, volumes (.raw, .img, also .gz) and traces (.etl, .ctrace). Each
line has the exit status, the SHA-256 of standard output, that of standard error, and the command.
Paths are relative to the folder, so that both runs may have copies of their own.
"""
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

JSON = ("--format", "json")
CSV = ("--format", "csv")
ALL_STATES = ("--state", "all")
COMMANDS = {
    "image": [
        ("pe", "info"), ("pe", "info", *JSON), ("pe", "info", "--details", *JSON),
        ("pe", "info", "--details"), ("pe", "exports"), ("pe", "exports", *JSON),
        ("pe", "exports", *CSV), ("pe", "imports"), ("pe", "imports", *JSON), ("pe", "sections"),
        ("pe", "sections", *JSON), ("syscalls", "map"), ("syscalls", "map", "--explain", *JSON),
        ("syscalls", "map", "--format", "c-header"), ("syscalls", "map", "--format", "j00ru-csv"),
        ("hooks", "tables"), ("hooks", "tables", *JSON), ("hooks", "context-switch"),
        ("hooks", "context-switch", *JSON), ("hooks", "iat", *JSON), ("hooks", "iat"),
        ("hooks", "locate", *JSON, "Nt*"), ("hooks", "table", *JSON, "--kernel"),
        ("hooks", "table", "--kernel"), ("hooks", "table", "--format", "c-header", "--kernel"),
        ("hooks", "table", "--format", "hooktab", "--kernel"),
        ("hooks", "plan", *JSON, "--function", "SwapContext", "--kernel"),
    ],
    "volume": [
        ("ntfs", "info"), ("ntfs", "info", *JSON), ("ntfs", "snapshot", *ALL_STATES),
        ("ntfs", "snapshot", "--slack", *ALL_STATES, *CSV),
        ("ntfs", "snapshot", "--slack", *ALL_STATES, "--format", "text"),
        ("ntfs", "snapshot", "--slack", *ALL_STATES, "--format", "bodyfile"),
    ],
    "trace": [
        ("trace", "info"), ("trace", "info", *JSON), ("trace", "decode"), ("trace", "decode", *CSV),
        ("trace", "decode", "--order", "file"), ("trace", "decode", *JSON, "--event", "Process/*"),
        ("trace", "decode", "--provider", "Windows*", "--process", "4"),
    ],
}
KINDS = {
    ".dll": "image", ".exe": "image", ".sys": "image", ".raw": "volume", ".img": "volume",
    ".etl": "trace", ".ctrace": "trace",
}


def inputs(folder, unpacked):
    """The path as it is told, the folder to run in, and the kind, of each input."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        if path.suffix == ".gz" and Path(path.stem).suffix in KINDS:
            plain = unpacked / path.relative_to(folder).with_suffix("")
            plain.parent.mkdir(parents=True, exist_ok=True)
            with gzip.open(path) as packed, plain.open("wb") as out:
                shutil.copyfileobj(packed, out)
            yield plain.relative_to(unpacked), unpacked, KINDS[plain.suffix]
        elif path.suffix in KINDS:
            yield path.relative_to(folder), folder, KINDS[path.suffix]


def line_of(program, path, folder, command):
    done = subprocess.run([program, *command, path], cwd=folder, capture_output=True, timeout=900,
                          stdin=subprocess.DEVNULL)
    out, err = (hashlib.sha256(text).hexdigest()[:16] for text in (done.stdout, done.stderr))
    return f"{done.returncode} {out} {err} {' '.join(command)} {path}"


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="coldtrace-hashes-") as here:
        work = [
            (program, path, place, command)
            for number, folder in enumerate(sys.argv[2:])
            for path, place, kind in inputs(Path(folder).resolve(), Path(here) / str(number))
            for command in COMMANDS[kind]
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for line in pool.map(lambda arguments: line_of(*arguments), work):
                print(line)


if __name__ == "__main__":
    main()
