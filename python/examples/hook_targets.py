"""What does a hook table say about its builds?    hook_targets.py TABLE [KERNEL]"""
import sys

import coldtrace

# %% An existing table, and that of a kernel
tables = coldtrace.read_hook_tables(sys.argv[1])
tables += [coldtrace.build_hook_table(coldtrace.open_pe(path)) for path in sys.argv[2:]]
for table in tables:
    (kernel,) = (image for image in table.images if image.role == "kernel")
    print(f"{kernel.time_date_stamp:#x}", len(table.services), "services")
    for service in table.services:
        print(service.number, *service.names)
