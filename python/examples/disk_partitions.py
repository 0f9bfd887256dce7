"""What is on a disk?    disk_partitions.py IMAGE"""
import sys

import coldtrace

# %% Its partitions
image = coldtrace.open_image(sys.argv[1])
for partition in image.partitions:
    print(partition.number, partition.offset, partition.size, partition.holds)

# %% What was odd
for finding in image.findings:
    print(finding.severity, finding.code, finding.text)
