"""Hashes of what every command says of every input: two builds are compared by a diff of two runs.

usage: output_hashes.py COLDTRACE FOLDER... > before.txt
       output_hashes.py COLDTRACE --complete
The folders are searched for images, PDBs, hook tables (.hooktab), volumes (.raw, .img), traces (.etl, .ctrace), hives,
profiles and schemas, also packed (.gz). Each line has the exit status, the SHA-256 of standard output and of what lies in the
file or folder of -o, that of standard error, and the command. Paths are relative to the folder, so that both runs may have
copies of their own. --complete asks whether these are the commands and formats of the program, and whether each is asked for.
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

import case

ALL_STATES = ("--state", "all")
# Commands for a kind of input, whose path takes the place of IN or stands last; OUT is a path to write to. Each is asked in all
# its formats.
IN, OUT = "IN", "OUT"
COMMANDS = {
    None: [  # without an input
        ("trace", "control", "list"), ("trace", "control", "explain", "0x0D"),
        ("trace", "schemas", "list"), ("trace", "schemas", "show", "Microsoft-Windows-Kernel-Process"),
        ("trace", "synthesize", "deadlock-2"), ("syscalls", "hash", "NtClose"),
        ("findings",), ("help", "ntfs", "snapshot"),
        ("batch", "--input", "/dev/null", "--out-dir", OUT, "--", "pe", "info"),
    ],
    "image": [
        ("pe", "info"), ("pe", "info", "--details"), ("pe", "exports"), ("pe", "imports"), ("pe", "sections"),
        ("pe", "compare", IN, IN), ("syscalls", "map"), ("syscalls", "map", "--explain"), ("syscalls", "compare", IN, IN),
        ("syscalls", "check", "--pe", IN, "--dump", IN), ("hooks", "tables"), ("hooks", "context-switch"), ("hooks", "iat"),
        ("hooks", "locate", "Nt*"), ("hooks", "derive", "SwapContext"), ("hooks", "table", "--kernel"),
        ("hooks", "plan", "--function", "SwapContext", "--kernel"), ("servicing", IN, IN),
        ("trace", "schemas", "build", "-o", OUT),
    ],
    "pdb": [
        ("pe", "symbols"),
        ("pe", "symbols", "--kind", "procedure,local_procedure,cold_part,global,data,constant,udt,annotation"),
        ("pe", "symbols", "--modules"), ("pe", "types"), ("pe", "isf"),
    ],
    "table": [
        ("hooks", "show"), ("hooks", "merge"), ("hooks", "verify", IN, IN),
        ("hooks", "export", "c-header"), ("hooks", "export", "edrsandblast"), ("hooks", "export", "isf"),
        ("hooks", "export", "j00ru"), ("hooks", "export", "kphdyn"), ("report", "-o", OUT),
    ],
    "volume": [
        ("ntfs", "info"), ("ntfs", "snapshot", *ALL_STATES), ("ntfs", "snapshot", "--slack", *ALL_STATES),
        ("ntfs", "journal"), ("ntfs", "logfile"), ("ntfs", "locate", IN, "0", "1MiB"),
        ("ntfs", "compare", IN, IN), ("ntfs", "query", "--where", "size > 0"), ("ntfs", "history", IN, "/"),
        ("report", "-o", OUT),
    ],
    "trace": [
        ("trace", "info"), ("trace", "decode"), ("trace", "decode", "--order", "file"),
        ("trace", "decode", "--event", "Process/*"), ("trace", "decode", "--provider", "Windows*", "--process", "4"),
        ("trace", "decode", "--stacks", "attach"), ("trace", "check", "--expect", "pid != 4"), ("trace", "compare", IN, IN),
        *(("trace", name) for name in (
            "cpu", "deadlocks", "idle", "io", "priority", "schedule", "services", "symbols", "top", "tree")),
        ("trace", "critical-path", "--thread", "4"), ("trace", "graph", "wait-for"), ("trace", "schemas", "check"),
        ("trace", "packets", "-o", OUT), ("report", "-o", OUT),
        *(("trace", "export", name) for name in (
            "chrome", "collapsed", "ecs", "firefox", "perfetto", "speedscope", "timesketch")),
        ("trace", "export", "ctf", "-o", OUT), ("trace", "export", "sqlite", "-o", OUT), ("trace", "pack", "-o", OUT),
        ("trace", "unpack", "-o", OUT),
    ],
    "hive": [("driver", "check", "--hive")],
    "profile": [("hooks", "profile", "show"), ("hooks", "profile", "check"), ("hooks", "profile", "expand")],
    "schema": [
        ("trace", "schema", "check"), ("trace", "schema", "show"), ("trace", "schema", "c-header"),
    ],
    "buffer": [("trace", "control", "decode", "0x0D", "--buffer")],
}
# Every command, by its formats, which are written down here and not taken from help: --complete compares them with it.
FORMATS = {
    "text json": (
        "batch", "driver check", "hooks context-switch", "hooks profile check", "hooks profile expand", "hooks profile show",
        "hooks verify", "ntfs info", "pe compare", "servicing", "syscalls check", "syscalls compare", "trace compare",
        "trace control decode", "trace control explain", "trace control list", "trace deadlocks", "trace info", "trace schema show",
        "trace schemas check", "trace schemas list", "trace schemas show", "trace top"),
    "text json csv": (
        "hooks derive", "hooks iat", "hooks locate", "hooks tables", "pe exports", "pe imports", "pe info", "pe sections",
        "pe symbols", "syscalls hash", "trace idle", "trace io", "trace priority", "trace schedule", "trace services"),
    "text json markdown": ("findings",),
    "text json junit": ("trace check",),
    "text json csv collapsed": ("trace cpu",),
    "text json csv c-header": ("pe types",),
    "text json csv c-header j00ru-csv sqlite": ("syscalls map",),
    "text json c-header csv hooktab sqlite": ("hooks table",),
    "text json c-header hooktab": ("hooks plan",),
    "text json c-header sqlite": ("hooks show",),
    "text json svg": ("trace critical-path",),
    "text json dot svg": ("trace graph wait-for", "trace tree"),
    "text json paths urls": ("trace symbols",),
    "text ndjson json": ("ntfs compare", "ntfs history", "ntfs locate"),
    "ndjson json csv text": ("ntfs logfile", "trace decode"),
    "ndjson json csv mftecmd-csv l2tcsv bodyfile text": ("ntfs journal",),
    "ndjson json csv bodyfile timeline l2tcsv timesketch ecs text": ("ntfs query",),
    "ndjson json csv mftecmd-csv bodyfile timeline l2tcsv timesketch ecs sqlite text": ("ntfs snapshot",),
    "ctrace json": ("trace synthesize",),
    "json-per-syscall json-per-system csv": ("hooks export j00ru",),
    "": (
        "help", "hooks export c-header", "hooks export edrsandblast", "hooks export isf", "hooks export kphdyn", "hooks merge",
        "pe isf", "report", "trace export chrome", "trace export collapsed", "trace export ctf", "trace export ecs",
        "trace export firefox", "trace export perfetto", "trace export speedscope", "trace export sqlite",
        "trace export timesketch", "trace pack", "trace packets", "trace schema c-header", "trace schema check",
        "trace schemas build", "trace unpack"),
}
FORMATS_OF = {tuple(name.split()): formats.split() for formats, names in FORMATS.items() for name in names}
KINDS = {
    ".dll": "image", ".exe": "image", ".sys": "image", ".raw": "volume", ".img": "volume",
    ".etl": "trace", ".ctrace": "trace", ".pdb": "pdb", ".hooktab": "table", ".hive": "hive", ".profile": "profile",
    ".schema": "schema", ".bin": "buffer",
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


def written(path):
    """What lies at OUT, a file or a folder."""
    if path.is_dir():
        return b"".join(str(file.relative_to(path)).encode() + file.read_bytes()
                        for file in sorted(path.rglob("*")) if file.is_file())
    return path.read_bytes() if path.exists() else b""


def line_of(program, path, folder, command):
    if path and IN not in command:
        command = (*command, IN)
    with tempfile.TemporaryDirectory(prefix="coldtrace-out-") as place:
        out = Path(place) / "out"
        asked = [{IN: path, OUT: out}.get(word, word) for word in command]
        done = subprocess.run([program, *asked], cwd=folder, capture_output=True, timeout=900, stdin=subprocess.DEVNULL)
        said, told = (hashlib.sha256(text).hexdigest()[:16] for text in (
            done.stdout + written(out), done.stderr.replace(os.fsencode(place), b"")))
    return f"{done.returncode} {said} {told} " + " ".join(str(path) if word == IN else word for word in command)


def command_of(row):
    return next((row[:length] for length in (3, 2, 1) if row[:length] in FORMATS_OF), row)


def rows_of(kind):
    """The rows of a kind, in each format."""
    for row in COMMANDS[kind]:
        command = command_of(row)
        rest = row[len(command):]
        formats = FORMATS_OF.get(command, [])
        # Binary formats are only written to a file.
        yield from ((*command, "--format", form, *(() if OUT in rest else ("-o", OUT)), *rest) for form in formats)
        if not formats:
            yield row


def complete(path):
    """Whether FORMATS has the commands and formats of the program, and each command is asked something."""
    program = case.Program(path)
    there = {command: program.formats_of(*command) for command in program.commands()}
    wrong = [f"{' '.join(command)}: help lists {there.get(command)}, expected {FORMATS_OF.get(command)}"
             for command in sorted({*there, *FORMATS_OF}) if there.get(command) != FORMATS_OF.get(command)]
    asked = {command_of(row) for rows in COMMANDS.values() for row in rows}
    wrong += [f"{' '.join(command)} is not asked" for command in sorted(FORMATS_OF.keys() - asked)]
    wrong += [f"{' '.join(row)} is no command" for row in sorted(asked - FORMATS_OF.keys())]
    if wrong:
        sys.exit("\n".join(wrong))


def main():
    program = Path(sys.argv[1]).resolve()
    if sys.argv[2:] == ["--complete"]:
        return complete(program)
    with tempfile.TemporaryDirectory(prefix="coldtrace-hashes-") as here:
        work = [(program, None, here, command) for command in rows_of(None)]
        work += [
            (program, path, place, command)
            for number, folder in enumerate(sys.argv[2:])
            for path, place, kind in inputs(Path(folder).resolve(), Path(here) / str(number))
            for command in rows_of(kind)
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for line in pool.map(lambda arguments: line_of(*arguments), work):
                print(line)


if __name__ == "__main__":
    main()
