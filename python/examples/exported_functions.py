"""What does a DLL export?    exported_functions.py DLL"""
import sys

import coldtrace

# %% Each function, by ordinal
image = coldtrace.open_pe(sys.argv[1])
for function in image.exports():
    print(function.ordinal, f"{function.rva:#x}", function.name)
