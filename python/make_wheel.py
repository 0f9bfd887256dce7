"""Makes a wheel of the module: the same files give the same bytes, by SOURCE_DATE_EPOCH.

usage: make_wheel.py FOLDER OUTPUT VERSION REST LICENSE LICENCES

REST is the rest of Debian's version, "gitDATE.COMMIT", or VERSION: what Debian sorts before VERSION by its '~', PEP 440 does as
a development release. LICENSE is our own, LICENCES a folder with those of bundled code. The module's name
tells the version of Python. Libraries that manylinux does not take for granted are in coldtrace.libs/, where the module looks
for them, with the licences of their Debian packages.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

# PEP 600: what every system with this version of the C library has, and the newest versions of symbols there. Source: auditwheel,
# manylinux-policy.json. The oldest such system is Ubuntu 22.04.
PLATFORM = "manylinux_2_35"
LIBRARIES = re.compile(r"lib(stdc\+\+|gcc_s|c|m)\.so\.\d+|ld-linux-[\w.-]+")
NEWEST = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}


def say(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout


def libraries_of(module):
    """Those to be bundled, by name, and the Debian package that each is of."""
    found = {}
    for name, path in re.findall(r"^\s+(\S+) => (\S+) \(", say("ldd", module), re.M):
        if not LIBRARIES.fullmatch(name):
            path = Path(path).resolve()
            found[name] = path, say("dpkg-query", "-S", path).split(":")[0]
    return found


def check(binary, bundled):
    """Ends where it needs what neither the platform nor the wheel has."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", say("readelf", "--dynamic", "--wide", binary))
    beyond = [name for name in needed if name not in bundled and not LIBRARIES.fullmatch(name)]
    for version in re.findall(r"Name: (\S+)  Flags:", say("readelf", "--version-info", "--wide", binary)):
        family, _, numbers = version.partition("_")
        found = tuple(map(int, re.findall(r"\d+", numbers)))
        if not found or found > NEWEST.get(family, ()):
            beyond.append(version)
    if beyond:
        sys.exit(f"{binary}: {PLATFORM} does not have {', '.join(beyond)}")


folder, output, version, rest, own_licence, licences = sys.argv[1:]
folder, output = Path(folder), Path(output)
(extension,) = (folder / "coldtrace").glob("*.so")
python = re.search(r"\.cpython-(3\d+)-", extension.name)[1]
if rest != version:
    date, commit = re.fullmatch(r"git(\d+)\.([0-9a-f]+)", rest).groups()
    version += f".dev{date}+g{commit}"
libraries = libraries_of(extension)
for binary in extension, *(path for path, _ in libraries.values()):
    check(binary, libraries)
tag = f"cp{python}-cp{python}-{PLATFORM}_{os.uname().machine}"
information = f"coldtrace-{version}.dist-info"
contents = {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted((folder / "coldtrace").iterdir()) if path.is_file()}
contents |= {f"coldtrace.libs/{name}": path.read_bytes() for name, (path, _) in sorted(libraries.items())}
contents[f"{information}/LICENSE"] = Path(own_licence).read_bytes()
texts = {path.name: path for path in Path(licences).iterdir()}
texts |= {package: Path(f"/usr/share/doc/{package}/copyright") for _, package in libraries.values()}
for name, path in sorted(texts.items()):
    contents[f"{information}/licences/{name}"] = path.read_bytes()
contents[f"{information}/METADATA"] = (
    f"Metadata-Version: 2.1\nName: coldtrace\nVersion: {version}\n"
    "Summary: Reads Windows artefacts offline: NTFS, event traces, system calls, PDB types\n"
    f"License: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: =={python[0]}.{python[1:]}.*\n").encode()
contents[f"{information}/WHEEL"] = (
    f"Wheel-Version: 1.0\nGenerator: coldtrace\nRoot-Is-Purelib: false\nTag: {tag}\n").encode()


def line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(content)}\n"


record = f"{information}/RECORD"
contents[record] = "".join(line(*item) for item in contents.items()).encode() + f"{record},,\n".encode()
when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
name = f"coldtrace-{version}-{tag}.whl"
with zipfile.ZipFile(output / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for path, content in contents.items():
        entry = zipfile.ZipInfo(path, when)
        entry.external_attr = 0o644 << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, content)
print(name)
