"""What tests of the sandbox share: whether it is active here, and libraries that are loaded into coldtrace."""
import shutil
import subprocess
import unittest
from pathlib import Path


def active(program):
    """What of the sandbox the kernel has, as --version says it."""
    text = subprocess.run([program, "--version"], capture_output=True).stdout.decode()
    return text.split("\nsandbox: ")[1].rstrip("\n")


def require(is_enough, program):
    text = active(program)
    if not is_enough(text):
        raise unittest.SkipTest(f"sandbox: {text}")
    if not shutil.which("cc"):
        raise unittest.SkipTest("no C compiler")


def build_probe(folder, name):
    probe = folder / "probe.so"
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", probe, Path(__file__).with_name(name), "-ldl"], check=True)
    return probe
