"""A terminal that a program writes to."""
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading


def run_on_terminal(command, columns, environment=None, timeout=120, keys=None, folder=None):
    """What a terminal so wide gets, and what became of the run. `keys` are pressed on it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    got = []

    def listen():
        try:
            while data := os.read(ours, 65536):
                got.append(data)
        except OSError:  # the other end is closed
            pass

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    if keys is not None:
        os.write(ours, keys)
    try:
        done = subprocess.run(list(map(str, command)), stdout=theirs, stderr=subprocess.PIPE if keys is None else theirs,
                              stdin=subprocess.DEVNULL if keys is None else theirs, env=environment, cwd=folder,
                              timeout=timeout)
    finally:
        os.close(theirs)
    listener.join(30)
    os.close(ours)
    return b"".join(got).decode().replace("\r\n", "\n"), done
