"""The sample volumes, unpacked once for all tests of a checkout: one is of a GB and has no holes."""
import atexit
import fcntl
import gzip
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def _folder():
    """Where ctest says; without it, a folder of this process's own."""
    if "COLDTRACE_TEST_VOLUMES" not in os.environ:
        os.environ["COLDTRACE_TEST_VOLUMES"] = folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder)
    folder = Path(os.environ["COLDTRACE_TEST_VOLUMES"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def sample_volume(packed):
    """The path of what a .gz file has. It is everybody's: nothing is written to it."""
    path = _folder() / packed.stem
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists() or path.stat().st_mtime_ns < packed.stat().st_mtime_ns:
            part = path.with_suffix(".part")
            with gzip.open(packed) as source, open(part, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            part.chmod(0o444)
            part.replace(path)
    return path


def sample_copy(packed, path):
    """A copy at a path, to be written to."""
    subprocess.run(["cp", "--no-preserve=mode", sample_volume(packed), path], check=True)
    return path
