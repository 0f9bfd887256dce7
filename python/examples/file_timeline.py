"""What was changed when, on a volume?    file_timeline.py IMAGE"""
import sys

import coldtrace

# %% Each file once, with the last change of its data
rows = [
    (file.si.modified, file.path)
    for volume in coldtrace.open_image(sys.argv[1]).volumes()
    for file in volume.files(states=["live"])
    if file.si and file.si.modified and file.path
]

# %% In time order
for modified, path in sorted(rows):
    print(modified // 1_000_000_000, coldtrace.time_text(modified), path)
