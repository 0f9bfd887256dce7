"""What the tests of commands share: the program on a trace, and its answer as JSON."""
import functools
import subprocess

from strict import strict_json


def _run(program, timeout, *arguments):
    return subprocess.run([*program, *map(str, arguments)], capture_output=True, timeout=timeout)


def runner(*program, timeout=300):
    """A function that runs the program, or one group of its commands, with its arguments."""
    return functools.partial(_run, program, timeout)


def answer_of(done, *statuses):
    """The JSON of a run that ended with one of these exit codes: 0, where none is named."""
    if done.returncode not in (statuses or (0,)):
        raise AssertionError(f"exit code {done.returncode}: {done.stderr.decode()}")
    return strict_json(done.stdout)


def size(count):
    """Bytes, as texts have them."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count >= 1024 ** power:
            return f"{count / 1024 ** power:.1f} {unit}"
    return f"{count:,} byte" + "s" * (count != 1)


def duration(units):
    """As text has it, of units of 100 ns: at most three digits of a unit, or seconds."""
    if units == 0:
        return "0 s"
    for name, unit, digits in (("us", 10, 1), ("ms", 10 ** 4, 2)):
        text = f"{units / unit:.{digits}f}"
        if float(text) < 1000:
            return f"{text} {name}"
    return f"{units / 10 ** 7:,.3f} s"
