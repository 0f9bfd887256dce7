"""How is a structure laid out?    structure_layout.py PDB NAME..."""
import sys

import coldtrace

# %% Members with offsets, sizes and bits
for kind in coldtrace.open_types(sys.argv[1]).types(*sys.argv[2:]):
    print(kind.kind, kind.name, kind.size)
    for member in kind.members:
        if member.kind == "enumerator":
            print(" ", member.value, member.name)
        else:
            print(" ", member.offset, member.size, member.name, member.bit_position, member.bit_length)
