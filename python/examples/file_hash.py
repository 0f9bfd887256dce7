"""What is the SHA-256 of a file in an image, read by its extents?    file_hash.py IMAGE PATH"""
import hashlib
import struct
import sys

import coldtrace

# %% The file, by an expression
image = coldtrace.open_image(sys.argv[1])
if not image.volumes():
    sys.exit("\n".join(finding.text for finding in image.findings) or "no NTFS volume in it")
(volume,) = image.volumes()
file = next(iter(volume.files(where=f'path == "{sys.argv[2]}"', states=["live"])), None)
if file is None:
    sys.exit(f"{sys.argv[2]}: no such file in the image")
stream = next((stream for stream in file.streams if stream.name is None), None)
if stream is None:
    sys.exit(f"{file.path}: it has no stream that can be read")

# %% Compressed and encrypted streams are not hashed
by_windows = any(other.name == "WofCompressedData" for other in file.streams)
if stream.encrypted or by_windows or (stream.compressed and not stream.resident):
    sys.exit(f"{file.path}: it is encrypted or compressed: the bytes on the disk are not its own")

# %% Inside the FILE record, which keeps the last two bytes of each 512 in an array at its start
content = bytearray()
if stream.resident_offset is not None and stream.size is not None and file.record_offset is not None:
    content += image.read(stream.resident_offset, stream.size)
    array, record_size = struct.unpack("<4xH22xI", image.read(file.record_offset, 32))
    for position in stream.fixup_positions:
        sector, byte = divmod(stream.resident_offset + position - file.record_offset, 512)
        if not 0 <= sector < record_size // 512:
            sys.exit(f"{file.path}: its bytes are in another FILE record, whose start is not known")
        content[position] = image.read(file.record_offset + array + 2 + 2 * sector + byte - 510, 1)[0]

# %% Or in its clusters: zeros in holes, and after the valid data
elif volume.cluster_size is None or volume.offset is None or stream.size is None or "stream-gap" in file.findings:
    sys.exit(f"{file.path}: where all of its bytes are is not known")
else:
    for extent in stream.extents:
        size = extent.clusters * volume.cluster_size
        content += bytes(size) if extent.lcn is None else image.read(volume.offset + extent.lcn * volume.cluster_size, size)
    valid = min(stream.valid or 0, stream.size)
    if len(content) < valid:
        sys.exit(f"{file.path}: it has fewer clusters than bytes")
    content = content[:valid].ljust(stream.size, b"\0")
print(hashlib.sha256(content).hexdigest(), file.path)
