"""Reads Windows artefacts offline: NTFS volumes, event traces, system services, hook tables, and
types of PDB files.

    import coldtrace

    for volume in coldtrace.open_image("disk.E01").volumes():
        for file in volume.files(where='extension == "exe" and size > 1MiB'):
            modified = file.si.modified if file.si else None  # a damaged record may have none
            print(file.path, file.size, "-" if modified is None else coldtrace.time_text(modified))

Rows are named tuples. Times are nanoseconds since 1970 (UTC), as in os.stat(). What was odd,
damaged or skipped is in `findings` of the opened object. Errors are coldtrace.Error.
"""
from coldtrace._coldtrace import ByteRange as ByteRange
from coldtrace._coldtrace import ContextSwitch as ContextSwitch
from coldtrace._coldtrace import DiskImage as DiskImage
from coldtrace._coldtrace import Entry as Entry
from coldtrace._coldtrace import Error as Error
from coldtrace._coldtrace import Event as Event
from coldtrace._coldtrace import Export as Export
from coldtrace._coldtrace import ExtendedAttribute as ExtendedAttribute
from coldtrace._coldtrace import Extent as Extent
from coldtrace._coldtrace import File as File
from coldtrace._coldtrace import Finding as Finding
from coldtrace._coldtrace import HookMember as HookMember
from coldtrace._coldtrace import HookService as HookService
from coldtrace._coldtrace import HookTable as HookTable
from coldtrace._coldtrace import HookTableImage as HookTableImage
from coldtrace._coldtrace import JournalRow as JournalRow
from coldtrace._coldtrace import Partition as Partition
from coldtrace._coldtrace import PeImage as PeImage
from coldtrace._coldtrace import Reparse as Reparse
from coldtrace._coldtrace import Service as Service
from coldtrace._coldtrace import ShadowCopy as ShadowCopy
from coldtrace._coldtrace import Stream as Stream
from coldtrace._coldtrace import Times as Times
from coldtrace._coldtrace import Trace as Trace
from coldtrace._coldtrace import Type as Type
from coldtrace._coldtrace import TypeFile as TypeFile
from coldtrace._coldtrace import TypeMember as TypeMember
from coldtrace._coldtrace import Volume as Volume
from coldtrace._coldtrace import ZoneId as ZoneId
from coldtrace._coldtrace import __version__ as __version__
from coldtrace._coldtrace import build_hook_table as build_hook_table
from coldtrace._coldtrace import open_image as open_image
from coldtrace._coldtrace import open_pe as open_pe
from coldtrace._coldtrace import open_trace as open_trace
from coldtrace._coldtrace import open_types as open_types
from coldtrace._coldtrace import read_hook_tables as read_hook_tables
from coldtrace._coldtrace import time_text as time_text
