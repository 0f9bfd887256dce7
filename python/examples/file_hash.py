"""What is the SHA-256 of a file in an image, read by its extents?    file_hash.py IMAGE PATH"""
import hashlib
import sys

import coldtrace

# %% The file, by an expression
image = coldtrace.open_image(sys.argv[1])
(volume,) = image.volumes()
(file,) = volume.files(where=f'path == "{sys.argv[2]}"', states=["live"])

# %% Its bytes: inside of the FILE record, or where its clusters are
(stream,) = (stream for stream in file.streams if stream.name is None)
if stream.resident_offset is not None:
    content = image.read(stream.resident_offset, stream.size or 0)
else:
    content = b"".join(
        bytes(extent.clusters * volume.cluster_size) if extent.lcn is None
        else image.read(volume.offset + extent.lcn * volume.cluster_size, extent.clusters * volume.cluster_size)
        for extent in stream.extents
    )[: stream.size]
print(hashlib.sha256(content).hexdigest(), file.path)
