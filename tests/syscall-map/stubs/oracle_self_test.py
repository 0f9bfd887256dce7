"""Shows that objdump_oracle.py notices each kind of mistake: a comparison that always agrees
would prove nothing.

    oracle_self_test.py COLDTRACE IMAGE [arguments of the oracle]
"""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from strict import strict_json

SKIPPED = 77
ORACLE = pathlib.Path(__file__).with_name("objdump_oracle.py")


def wrong_number(services):
    services[3]["number"] += 1


def missing_service(services):
    del services[5]


def invented_service(services):
    services.append({**services[-1], "number": services[-1]["number"] + 1, "name": "NtInvented"})


def wrong_name(services):
    services[2]["name"] = "NtSomethingElse"


def missing_alias(services):
    services[4]["aliases"] = []


def wrong_address(services):
    services[1]["rva"] += 16


def wrong_argument_bytes(services):
    services[6]["argument_bytes"] = (services[6]["argument_bytes"] or 0) + 4


def wrong_table(services):
    services[0]["table"] = "win32k"


MISTAKES = (
    wrong_number,
    missing_service,
    invented_service,
    wrong_name,
    missing_alias,
    wrong_address,
    wrong_argument_bytes,
    wrong_table,
)


def oracle_says(document, image, arguments, folder):
    """The oracle's exit code for a program that prints this document."""
    (folder / "document.json").write_text(json.dumps(document))
    program = folder / "coldtrace"
    program.write_text(f'#!/bin/sh\ncat "{folder}/document.json"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return subprocess.run(
        [sys.executable, ORACLE, "--coldtrace", program, *arguments, image], capture_output=True
    ).returncode


def main():
    coldtrace, image, *arguments = sys.argv[1:]
    if not os.path.exists(image):
        print(f"skipped: {image} is missing")
        sys.exit(SKIPPED)
    text = subprocess.run(
        [coldtrace, "syscalls", "map", "--format", "json", image], capture_output=True, check=True
    ).stdout
    failed = False
    with tempfile.TemporaryDirectory() as name:
        for mistake in (None, *MISTAKES):
            document = strict_json(text)
            if mistake:
                mistake(document["images"][0]["services"])
            code = oracle_says(document, image, arguments, pathlib.Path(name))
            if code == SKIPPED:
                sys.exit(SKIPPED)
            expected = 1 if mistake else 0
            label = mistake.__name__ if mistake else "no mistake"
            print(f"{label}: exit code {code}, expected {expected}")
            failed = failed or code != expected
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
