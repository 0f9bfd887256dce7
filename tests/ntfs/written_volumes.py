"""Volumes that ntfs-3g writes, and what commands say of them by the documented schema."""
import json
import os
import shutil
import subprocess
import unittest
from importlib.machinery import SourceFileLoader

import json_schema
from strict import strict_ndjson

needs_ntfs_3g = unittest.skipUnless(
    os.geteuid() == 0 and os.path.exists("/dev/fuse") and all(map(shutil.which, ("ntfs-3g", "mkntfs", "fuser"))),
    "no FUSE, or not root")


def recipe_of(sources):
    return SourceFileLoader("recipe", str(sources / "fixtures/recipes/make-ntfs-image.py")).load_module()


class Commands:
    def __init__(self, coldtrace, sources):
        self.coldtrace, self.sources = coldtrace, sources

    def run(self, command, *arguments, status=0):
        done = subprocess.run([self.coldtrace, "ntfs", command, *map(str, arguments)], capture_output=True, timeout=120)
        assert done.returncode == status, (done.returncode, done.stderr)
        return done.stdout

    def lines_of(self, command, *arguments, status=0):
        name = "snapshot" if command == "query" else command
        schema = json_schema.of(json.loads((self.sources / f"docs/schema/ntfs-{name}.schema.json").read_text()))
        lines = strict_ndjson(self.run(command, "--format", "ndjson", *arguments, status=status))
        for line in lines:
            schema.validate(line)
        return lines
