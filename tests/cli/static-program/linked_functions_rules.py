"""What the program looks for in libraries that it loads, the program without shared libraries has in it
(cli/static-program/linked_functions.inc); nothing there is left over.

usage: linked_functions_rules.py PROJECT
"""
import re
import sys
from pathlib import Path

project = Path(sys.argv[1])
linked = dict.fromkeys(re.findall(r"^LINKED\((\w+), (\w+)\)", (project / "cli/static-program/linked_functions.inc").read_text(), re.M))
FILES = {"libewf": "ntfs/disk/libewf.cpp", "libarchive": "tracefile/packing/libarchive.cpp"}
wrong = 0
for library, path in FILES.items():
    text = (project / path).read_text()
    asked = set()
    for arguments, calls in re.findall(r"LoadedLibrary\{([^}]*)\}((?:\s*\.find\(\s*\"\w+\",[^)]*\))+)", text):
        prefix = re.search(r'"(\w+_)"', arguments)
        asked |= {(prefix[1] if prefix else "") + name for name in re.findall(r"\.find\(\s*\"(\w+)\"", calls)}
    has = {name for of, name in linked if of == library}
    for name in sorted(asked ^ has):
        print(f"{path}: {name} is {'not linked' if name in asked else 'linked and not asked for'}")
        wrong += 1
    if len(asked) < 10:
        sys.exit(f"{path}: {len(asked)} functions are asked for")
print(f"{len(linked)} functions are linked into the program without shared libraries")
sys.exit(bool(wrong))
