"""The tables of a PE image as coldtrace and llvm-readobj 14 have them, in one form.

Each is a list, or None where the reader gives no such table; its second value is why, or the codes of findings.
"""
import json
import re
import subprocess

def run(*command):
    try:
        done = subprocess.run(command, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        return None, b"", "it does not end"
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip()


def coldtrace(program, command, image):
    status, out, err = run(program, "pe", command, "--format", "json", "--no-hash", image)
    if status not in (0, 1):
        return None, err or f"status {status}"
    found, = json.loads(out)["images"]
    return found, " ".join(sorted({finding["code"] for finding in found["findings"]}))


def coldtrace_tables(program, image):
    tables = {}
    sections, codes = coldtrace(program, "sections", image)
    tables["sections"] = sections and [(row["rva"], row["virtual_size"], row["file_offset"], row["raw_size"],
                                        row["characteristics"]) for row in sections["sections"]], codes
    exports, codes = coldtrace(program, "exports", image)
    tables["exports"] = exports and [(row["ordinal"], row["name"] or "", row["rva"]) for row in exports["exports"]], codes
    imports, codes = coldtrace(program, "imports", image)
    tables["imports"] = imports and [(module["name"] or "", function["name"] or function["ordinal"] or 0) for module in imports["modules"]
                                     for function in module["functions"]], codes
    info, codes = coldtrace(program, "info", image)
    tables["relocations"] = info and [info["counts"]["relocations"]], codes
    tables["resources"] = info and [(row["type"], row["name"], row["language"], row["rva"], row["size"])
                                    for row in info.get("resources") or []], codes
    return tables


def of_sections(text):
    rows = re.findall(r"VirtualSize: (\S+)\n\s+VirtualAddress: (\S+)\n\s+RawDataSize: (\S+)\n\s+PointerToRawData: (\S+)\n"
                      r"(?:.*\n){4}\s+Characteristics \[ \((\S+)\)", text)
    return [(int(rva, 0), int(size, 0), int(raw, 0), int(raw_size, 0), int(flags, 0)) for size, rva, raw_size, raw, flags in rows]


def of_exports(text):
    rows = re.findall(r"Ordinal: (\d+)\n\s+Name: (.*)\n\s+(?:RVA: (\S+)|ForwardedTo: (.*))", text)
    return [(int(ordinal), name, int(rva, 0) if rva else 0) for ordinal, name, rva, _ in rows if name or rva != "0x0"]


def of_imports(text):
    rows, module = [], None
    for line in text.splitlines():
        if match := re.match(r"  Name: (.*)", line):
            module = match[1]
        elif match := re.match(r"\s+Symbol: (.*?) ?\((\d+)\)$", line):
            rows.append((module, match[1].strip() or int(match[2])))
    return rows


def of_relocations(text):
    return [len(re.findall(r"Entry \{\n\s+Type: (?!ABSOLUTE)", text))]


def of_resources(text):
    rows, path = [], []
    for line in text.splitlines():
        if match := re.match(r"\s+(Type|Name|Language): (.*?) ?(?:\(ID (\d+)\) )?\[$", line):
            depth = ("Type", "Name", "Language").index(match[1])
            name = int(match[3]) if match[3] else match[2]
            path = path[:depth] + [name]
        elif match := re.match(r"\s+DataRVA: (\S+)", line):
            rva = int(match[1], 0)
        elif match := re.match(r"\s+DataSize: (\d+)", line):
            rows.append((*path, rva, int(match[1])))
    return rows


READERS = {"sections": ("--sections", of_sections), "exports": ("--coff-exports", of_exports),
           "imports": ("--coff-imports", of_imports), "relocations": ("--coff-basereloc", of_relocations),
           "resources": ("--coff-resources", of_resources)}


def llvm_tables(image):
    """It ends at the first thing that it does not take: then each table is asked for alone."""
    whole, out, _ = run("llvm-readobj-14", *(option for option, _ in READERS.values()), image)
    tables = {}
    for name, (option, read) in READERS.items():
        status, text, err = (0, out, "") if whole == 0 else run("llvm-readobj-14", option, image)
        tables[name] = (read(text.decode(errors="replace")) if status == 0 else None), err
    return tables
