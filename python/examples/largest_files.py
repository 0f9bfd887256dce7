"""Which files of an image are the largest?    largest_files.py IMAGE"""
import sys

import coldtrace

# %% An image without a volume that opens says why
image = coldtrace.open_image(sys.argv[1])
if not image.volumes():
    sys.exit("\n".join(finding.text for finding in image.findings) or "no NTFS volume in it")

# %% All files with contents, on every NTFS volume in it
files = [
    file
    for volume in image.volumes()
    for file in volume.files(where="directory == false and size > 0", states=["live"])
]

# %% The ten largest
for file in sorted(files, key=lambda file: (-(file.size or 0), file.path or ""))[:10]:
    print(file.size, file.path)
