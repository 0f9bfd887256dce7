"""What was changed when, on a volume?    file_timeline.py IMAGE"""
import sys

import coldtrace

# %% An image without a volume that opens says why
image = coldtrace.open_image(sys.argv[1])
if not image.volumes():
    sys.exit("\n".join(finding.text for finding in image.findings) or "no NTFS volume in it")

# %% Each file once, with the last change of its data
rows = [
    (file.si.modified, file.path)
    for volume in image.volumes()
    for file in volume.files(states=["live"])
    if file.si and file.si.modified and file.path
]

# %% In time order
for modified, path in sorted(rows):
    print(modified // 1_000_000_000, coldtrace.time_text(modified), path)
