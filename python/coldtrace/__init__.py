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
from coldtrace._coldtrace import (
    ByteRange as ByteRange,
    ContextSwitch as ContextSwitch,
    DiskImage as DiskImage,
    Entry as Entry,
    Error as Error,
    Event as Event,
    Export as Export,
    ExtendedAttribute as ExtendedAttribute,
    Extent as Extent,
    FailedInput as FailedInput,
    File as File,
    Finding as Finding,
    HookMember as HookMember,
    HookService as HookService,
    HookTable as HookTable,
    HookTableImage as HookTableImage,
    JournalRow as JournalRow,
    MessagePdb as MessagePdb,
    Partition as Partition,
    PeImage as PeImage,
    Reparse as Reparse,
    Service as Service,
    ShadowCopy as ShadowCopy,
    Stream as Stream,
    Times as Times,
    Trace as Trace,
    TraceMessage as TraceMessage,
    Type as Type,
    TypeFile as TypeFile,
    TypeMember as TypeMember,
    Volume as Volume,
    ZoneId as ZoneId,
    __version__ as __version__,
    build_hook_table as build_hook_table,
    open_image as open_image,
    open_pe as open_pe,
    open_trace as open_trace,
    open_types as open_types,
    read_hook_tables as read_hook_tables,
    time_text as time_text,
)
