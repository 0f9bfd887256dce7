"""Holds tracefile/providers/kernel_event_table.inc against an independent list of the kernel's classes.

usage: kernel_table.py SOURCES SHARED

Every class, version and opcode of the list is in the table, with the same fields of the same
width in the same order, but where files showed otherwise: CORRECTED says what, with its reason.
"""
import re
import sys
from pathlib import Path

SOURCES, SHARED = (Path(a).resolve() for a in sys.argv[1:3])
SKIPPED = 77
LIST = SHARED / "facts" / "kernel-events.tsv"

# How wide the table's types are, in the list's words.
WIDTHS = {
    "ptr": "PTR", "code": "PTR", "file": "PTR", "key": "PTR", "frame": "PTR", "ppid": "PTR",
    "ptid": "PTR", "size": "SizeT", "pid": "u32", "tid": "u32", "status": "u32", "exit": "i32",
    "time": "WmiTime", "filetime": "u64", "x64": "u64", "asz": "asz", "utf8z": "asz",
    "wsz": "wsz", "text": "wsz", "sid": "Sid", "port": "Port", "ip4": "IPAddrV4",
    "ip6": "IPAddrV6", "guid": "GUID", "bool8": "u8", "wchar": "wchar", "bytes": "u8",
    "pad": "u8", "systemtime": "SYSTEMTIME",
}


SAME = {"IPAddr": "IPAddrV4", "bool": "u8"}


def behind(*added):
    """A change that puts fields behind the others."""
    return lambda fields: fields + list(added)


def instead(name, *others):
    """A change that puts others in the place of a field."""
    return lambda fields: [one for field in fields
                           for one in (others if field[0] == name else [field])]


def both(first, second):
    return lambda fields: second(first(fields))


# What real payloads show, by class.
CORRECTED = {
    # Aligned: the time zone has 172 bytes.
    "EventTrace(_V[01])?_Header": instead("BootTime", ("Padding", "u32"), ("BootTime", "u64")),
    # As wide as a pointer, in every event seen.
    "(Tcp|Udp)Ip_(Send|TypeGroup).*": instead("connid", ("connid", "PTR")),
    # Arrays whose count is a field.
    "Header_ProviderBinaryPath_TypeGroup": instead("Guid", ("Guid", "GUID[]")),
    "KernelQueueDequeue": instead("Entries", ("Entries", "PTR[]")),
    "SystemConfig(_V4)?_PnP": both(instead("UpperFilters", ("UpperFilters", "wsz[]")),
                                   instead("LowerFilters", ("LowerFilters", "wsz[]"))),
    "SystemConfig_V2_ProcGroup": instead("Affinity", ("Affinity", "PTR[]")),
    # In the clock of the session, as the InitialTime of every other class is.
    "Registry_TypeGroup1": instead("InitialTime", ("InitialTime", "WmiTime")),
    # The bytes of a MAC address in their order, which a number would show the other way round.
    "SystemConfig(_V2)?_NIC": instead("PhysicalAddr", ("PhysicalAddr", "u8[8]")),
    # The texts of a processor stand the other way round: the shorter one is the last.
    "SystemConfig_V2_Processors": lambda fields: fields[:4] + fields[:3:-1],
    "PmcCounterConfig_V2": instead("CounterName", ("CounterName", "wsz[]")),
    "StackWalk_TypeGroup1": instead("StackFrame", ("StackFrame", "PTR[]")),
    # The class has as many fields as there may be frames.
    "StackWalk_Event": lambda fields: fields[:3] + [("Stack", "PTR[]")],
    # Windows 10 has the thread's name, with the version of before.
    "Thread_V3_TypeGroup1": behind(("ThreadName", "wsz")),
    # C padding, where the payload has it.
    "Thread_V1_TypeGroup1": behind(("Pad", "u8[3]")),
    "FileIo_ReadWrite": behind(("Pad", "u8[4]")),
    "AutoBoostEntryExhaustion": behind(("Pad", "u8[4]")),
    # Another decoder reads 16 bits and 16 reserved ones; the bytes are the same.
    "AutoBoostClearFloor": instead("BoostBitmap", ("BoostBitmap", "u16"), ("Reserved", "u16")),
}


def layout_fits(layout, fields):
    """Whether it has the same names, for a class without a GUID."""
    return [name for name, _ in table_fields(layout)] == [name for name, _ in fields]


def table_rows():
    """(GUID, version, opcode) -> (event name, layout)."""
    text = (SOURCES / "tracefile" / "providers" / "kernel_event_table.inc").read_text()
    text = re.sub(r"//.*", "", text)
    rows = {}
    guid = None
    for call, arguments in re.findall(r"KERNEL_(CLASS|EVENT)\((.*?)\)\s*(?=KERNEL_|$)", text, re.S):
        texts = ["".join(re.findall(r'"([^"]*)"', part))
                 for part in re.split(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', arguments)]
        if call == "CLASS":
            guid = texts[1]
            continue
        first, last = (int(n) for n in arguments.split(",")[:2])
        for named in texts[2].split(","):
            opcode, name = named.strip().split(" ", 1)
            for version in range(first, min(last, 7) + 1):
                rows[guid, version, int(opcode)] = (name, texts[3])
    return rows


def without_count(kind):
    """The same for every array whose length is not fixed."""
    return re.sub(r"\[[A-Za-z]*\]", "[]", kind)


def table_fields(layout):
    layout = re.sub(r":\{[^}]*\}", ":NoPrint", layout)
    fields = []
    for field in layout.split():
        name, kind = field.split(":")
        base, bracket, amount = kind.split("=")[0].rstrip("?").partition("[")
        fields.append((name, without_count(WIDTHS.get(base, base) + bracket + amount)))
    return fields


def list_rows():
    """Key, class, event, fields of each; no GUID or version where the class has none."""
    known = lambda text: None if text == "None" else text
    for line in LIST.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        _, guid, class_name, version, opcodes, names, *rest = line.split("\t")
        fields = []
        for field in (rest[0] if rest else "").split():
            name, kind = field.split(":", 1)
            fields.append((name, without_count(SAME.get(kind, kind))))
        for opcode, name in zip(opcodes.split(","), names.split(",")):
            yield known(guid), known(version), int(opcode), class_name, name, fields


def main():
    if not LIST.exists():
        print("skipped: the list of classes is not here")
        return SKIPPED
    rows = table_rows()
    compared = 0
    wrong = []
    used = set()
    for guid, version, opcode, class_name, name, fields in list_rows():
        mine = [layout for (row_guid, row_version, row_opcode), (_, layout) in rows.items()
                if row_opcode == opcode and guid in (None, row_guid) and
                version in (None, str(row_version)) and (guid or layout_fits(layout, fields))]
        if not mine:
            wrong.append(f"{class_name} version {version} opcode {opcode} ({name}) is missing")
        for layout in mine:
            compared += 1
            ours = table_fields(layout)
            if ours == fields:
                continue
            corrected = fields
            for pattern, change in CORRECTED.items():
                if re.fullmatch(pattern, class_name):
                    used.add(pattern)
                    corrected = change(list(fields))
            if ours != corrected:
                wrong.append(f"{class_name} version {version} opcode {opcode} ({name}):\n"
                             f"  list  {corrected}\n  table {ours}")
    wrong += [f"the correction of {pattern} is of nothing" for pattern in CORRECTED.keys() - used]
    print("\n".join(wrong))
    print(f"{compared} layouts compared, {len(wrong)} differ")
    return 1 if wrong or compared < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
