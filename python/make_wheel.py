"""Makes a wheel of the module: the same files give the same bytes, by SOURCE_DATE_EPOCH.

usage: make_wheel.py FOLDER OUTPUT VERSION REST LICENSE LICENCES

REST is the rest of Debian's version, "gitDATE.COMMIT", or VERSION: what Debian sorts before VERSION by its '~', PEP 440 does as
a development release. LICENSE is our own, LICENCES a folder with those of bundled code. The module's name
tells the version of Python. The tag is linux, not manylinux: the module uses the system's libre2 and others, those of Debian 12.
"""
import base64
import hashlib
import os
import re
import sys
import time
import zipfile
from pathlib import Path

folder, output, version, rest, own_licence, licences = sys.argv[1:]
folder, output = Path(folder), Path(output)
(extension,) = (folder / "coldtrace").glob("*.so")
python = re.search(r"\.cpython-(3\d+)-", extension.name)[1]
if rest != version:
    date, commit = re.fullmatch(r"git(\d+)\.([0-9a-f]+)", rest).groups()
    version += f".dev{date}+g{commit}"
machine = os.uname().machine
tag = f"cp{python}-cp{python}-linux_{machine}"
information = f"coldtrace-{version}.dist-info"
contents = {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted((folder / "coldtrace").iterdir()) if path.is_file()}
contents[f"{information}/LICENSE"] = Path(own_licence).read_bytes()
for path in sorted(Path(licences).iterdir()):
    contents[f"{information}/licences/{path.name}"] = path.read_bytes()
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
