"""The peak memory of a program.

wait4 does not give it for children of Python: until the child becomes the program it has Python's
memory, and the kernel keeps that peak. GNU time is small and avoids this.
"""
import os
import subprocess
import sys
import tempfile
import time

TIME = "/usr/bin/time"


class Run:
    """A program that has ended: its status, wall and processor seconds, and MiB at the peak."""

    def __init__(self, command, output=subprocess.DEVNULL):
        if not os.access(TIME, os.X_OK):
            sys.exit(f"{TIME} (package time) is missing")
        with tempfile.NamedTemporaryFile("r") as peak:
            wrapped = [TIME, "-q", "-f", "%M", "-o", peak.name, *map(str, command)]
            start = time.perf_counter()
            child = subprocess.Popen(wrapped, stdout=output, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            self.wall = time.perf_counter() - start
            child.returncode = self.status = os.waitstatus_to_exitcode(status)
            self.processor = usage.ru_utime + usage.ru_stime  # of the children, too
            self.mebibytes = int(peak.read()) / 1024
