"""Which system calls does an ntdll have, and where are their stubs?    system_calls.py NTDLL"""
import sys

import coldtrace

# %% Services whose stubs nobody has changed
image = coldtrace.open_pe(sys.argv[1])
for service in image.services():
    if service.source == "read" and not service.hooked:
        print(service.number, service.file_offset, service.name)
