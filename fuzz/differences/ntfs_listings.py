"""What three readers list of a volume: coldtrace, The Sleuth Kit's fls, and libfsntfs.

A listing is {(path, record): (size, times)} of names that are live, or None where the reader refuses the volume;
its `word` is why, or what it warned of.
"""
import re
import subprocess

READ_WITH_LIBFSNTFS = """
import sys
import pyfsntfs
volume = pyfsntfs.volume()
volume.open(sys.argv[1])
def times(entry):
    def of(get):
        try:
            return get() // 10**7 - 11644473600
        except OSError:
            return None
    return [of(entry.get_access_time_as_integer), of(entry.get_modification_time_as_integer),
            of(entry.get_entry_modification_time_as_integer), of(entry.get_creation_time_as_integer)]
def walk(entry, path, depth):
    for i in range(entry.number_of_sub_file_entries):
        try:
            child = entry.get_sub_file_entry(i)
            name = child.name
            if name is None:
                continue
            below = path + "/" + name
            print(repr((below, child.file_reference & (1 << 48) - 1, child.size if child.has_default_data_stream() else None, times(child))))
        except (OSError, ValueError, UnicodeError) as error:
            print(repr((path, i, "lost", str(error).splitlines()[0])))
            continue
        if depth < 20 and child.has_directory_entries_index():
            walk(child, below, depth + 1)
walk(volume.get_root_directory(), "", 0)
"""


class Listing(dict):
    word = ""


def run(*command):
    try:
        done = subprocess.run(command, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        return None, b"", "it does not end"
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def of_body(lines):
    listing = Listing()
    for line in lines.decode(errors="replace").splitlines():
        fields = line.split("|")
        if len(fields) == 11 and not fields[1].endswith(" ($FILE_NAME)"):
            times = tuple(int(time.split(".")[0]) for time in fields[7:])
            listing[fields[1], fields[2]] = (int(fields[6]), times)
    return listing


def of_coldtrace(program, image, *options):
    status, out, err = run(program, "ntfs", "snapshot", "-v", "--format", "bodyfile", *options, image)
    if status not in (0, 1):
        return None, err.strip() or f"status {status}"
    return of_body(out), " ".join(sorted(set(re.findall(r"(?:warning|info): ([a-z0-9-]+)", err))))


def of_sleuthkit(image):
    status, out, err = run("fls", "-u", "-r", "-m", "/", image)
    if status != 0 and not out:
        return None, err.strip() or f"status {status}"
    return of_body(out), err.strip()


def of_libfsntfs(image):
    status, out, err = run("/usr/bin/python3", "-c", READ_WITH_LIBFSNTFS, image)
    if status != 0:
        return None, (err.strip().splitlines() or [f"status {status}"])[-1]
    listing, lost = Listing(), 0
    for line in out.decode(errors="replace").splitlines():
        path, record, size, times = eval(line)  # of our own repr
        if size == "lost":
            lost += 1
        else:
            listing[path, str(record)] = (size, tuple(times))
    return listing, f"{lost} lost" if lost else ""

