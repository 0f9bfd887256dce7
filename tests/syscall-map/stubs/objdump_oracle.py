"""Compares the system call map of PE images with what LLVM's disassembler shows.

For each exported name the instructions at its address are read as text until the kernel is
entered; the number is whatever eax (the svc operand on ARM64, r12 on ARM) holds by then. Nothing
here knows the product's byte patterns.

    objdump_oracle.py --coldtrace PROGRAM FILE...   compare; exit code 1 if anything differs
    objdump_oracle.py FILE...                       print what the disassembler shows
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from strict import strict_json

# Windows' shared user page; at +0x300 XP keeps the way into the kernel, or a pointer to it.
SYSTEM_CALL = 0x7FFE0300
NUMBER_BITS = 0xFFFF
WIN32K_BIT = 0x1000
INSTRUCTION_LIMIT = 16
# ctest takes it for a skipped test.
SKIPPED = 77


@dataclass
class Service:
    number: int
    rva: int
    argument_bytes: int | None
    names: set = field(default_factory=set)


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


class Image:
    """Exports and disassembly of one file, as LLVM's tools print them."""

    def __init__(self, path, tools):
        self.path = path
        self.tools = tools
        headers = run(tools.readobj, "--file-headers", "--sections", path)
        self.machine = re.search(r"Machine: IMAGE_FILE_MACHINE_(\w+)", headers).group(1)
        self.base = int(re.search(r"ImageBase: 0x([0-9A-F]+)", headers).group(1), 16)
        self.sections = [
            tuple(int(value, 0) for value in row)
            for row in re.findall(
                r"VirtualSize: (\w+)\s+VirtualAddress: (\w+)\s+RawDataSize: (\w+)"
                r"\s+PointerToRawData: (\w+)(?:.|\n)*?Characteristics \[ \((\w+)\)",
                headers,
            )
        ]
        self.exports = collections.defaultdict(set)
        for name, rva in re.findall(
            r"Name: (\S+)\n\s+RVA: 0x([0-9A-F]+)", run(tools.readobj, "--coff-exports", path)
        ):
            self.exports[int(rva, 16)].add(name)
        self.lines = {} if self.machine == "ARMNT" else self.disassemble()

    def disassemble(self):
        """Address to (mnemonic, operands, next address), in one pass over all code."""
        text = run(self.tools.objdump, "-d", "--no-show-raw-insn", self.path)
        pattern = re.compile(r"^\s*([0-9a-f]+):[ \t]+(\S+)[ \t]*(.*?)(?:[ \t]+# .*)?$", re.M)
        rows = [(int(a, 16), m, o) for a, m, o in pattern.findall(text)]
        lines = {}
        for index, (address, mnemonic, operands) in enumerate(rows):
            following = rows[index + 1][0] if index + 1 < len(rows) else None
            lines[address] = (mnemonic, operands, following)
        return lines

    def instructions(self, rva):
        address = self.base + rva
        for _ in range(INSTRUCTION_LIMIT):
            if address not in self.lines:
                return
            mnemonic, operands, following = self.lines[address]
            yield address, mnemonic, operands
            address = following

    def code_bytes(self, rva, size):
        for virtual_size, start, raw_size, raw_offset, characteristics in self.sections:
            if characteristics & 0x20000000 and start <= rva < start + min(virtual_size, raw_size):
                with open(self.path, "rb") as file:
                    file.seek(raw_offset + rva - start)
                    return file.read(size)
        return b""


def number_in(text):
    match = re.match(r"[$#](-?(?:0x)?[0-9a-fA-F]+)$", text)
    return int(match.group(1), 0) if match else None


def read_x64(image, rva):
    eax = None
    for _, mnemonic, operands in image.instructions(rva):
        parts = operands.split(", ")
        if mnemonic == "movl" and parts[-1] == "%eax" and number_in(parts[0]) is not None:
            if eax is not None:
                return None
            eax = number_in(parts[0])
        elif mnemonic == "syscall":
            return None if eax is None else (eax, None)
        elif mnemonic == "jmp":
            # Only the kernel's stubs, which push a frame by hand, jump away with the number set.
            frame = [m for _, m, _ in image.instructions(rva)][:5]
            is_kernel_stub = frame == ["movq", "cli", "subq", "pushq", "pushfq"]
            return (eax, None) if is_kernel_stub and eax is not None else None
        elif mnemonic not in ("movq", "testb", "jne", "cli", "subq", "pushq", "pushfq", "leaq"):
            return None
        elif mnemonic in ("movq",) and operands not in ("%rcx, %r10", "%rsp, %rax"):
            return None
    return None


def returned_bytes(operands):
    return number_in(operands) if operands else 0


def read_x86(image, rva):
    eax = edx = None
    entered = False
    path = []
    for address, mnemonic, operands in image.instructions(rva):
        path.append(mnemonic)
        parts = operands.split(", ")
        if mnemonic == "retl":
            return (eax & NUMBER_BITS, returned_bytes(operands)) if entered else None
        if mnemonic == "movl" and parts[-1] in ("%eax", "%ecx", "%edx"):
            value = number_in(parts[0])
            if value is None or entered:
                return None
            if parts[-1] == "%eax":
                if eax is not None or len(path) > 1:
                    return None
                eax = value & 0xFFFFFFFF
            elif parts[-1] == "%edx":
                edx = value & 0xFFFFFFFF
        elif mnemonic == "int" and operands == "$46":
            entered = edx_at_arguments(path)
        elif mnemonic == "calll":
            entered = is_entry(image, address, operands, edx, path)
            if not entered and path[-2:] != ["movl", "calll"]:
                return None
        elif mnemonic not in ("leal", "xorl", "addl", "popl", "cmpb", "jne", "pushfl", "pushl"):
            return None
        if eax is None:
            return None
        if mnemonic == "addl" and not entered:
            return None
    return None


def edx_at_arguments(path):
    return path == ["movl", "leal", "int"]


def is_entry(image, address, operands, edx, path):
    """Does this call enter the kernel? The sysenter form and WOW64's odd stub call ahead."""
    if operands == "*%fs:192":
        return True
    if operands == "*(%edx)":
        return edx == SYSTEM_CALL
    if operands == "*%edx":
        return edx == SYSTEM_CALL or (
            edx is not None and leads_away(image, edx)
        )
    if path == ["movl", "leal", "pushfl", "pushl", "calll"]:
        return True
    match = re.match(r"0x([0-9a-f]+)", operands)
    if path == ["movl", "calll"] and match:
        target = int(match.group(1), 16)
        ahead = [m for _, m, _ in image.instructions(target - image.base)][:2]
        return ahead == ["movl", "sysenter"]
    return False


def leads_away(image, address):
    """The common thunk jumps through a pointer, on WOW64 and in Wine."""
    for _, mnemonic, operands in image.instructions(address - image.base):
        return mnemonic == "jmpl" and operands.startswith("*")
    return False


def read_arm64(image, rva):
    lines = [(m, o) for _, m, o in image.instructions(rva)][:2]
    if len(lines) == 2 and lines[0][0] == "svc" and lines[1][0] == "ret":
        return number_in(lines[0][1]), None
    return None


def read_arm(image, rva):
    # The lowest bit says Thumb; llvm-objdump takes it for a part of the address, llvm-mc does not.
    code = image.code_bytes(rva & ~1, 8)
    text = run(
        image.tools.mc,
        "--disassemble",
        "--triple=thumbv7-windows-msvc",
        text=" ".join(f"{byte:#x}" for byte in code),
    )
    match = re.search(r"movw\s+r12, #(\d+)\s+svc\s+#1\s+bx\s+lr", text)
    return (int(match.group(1)), None) if match else None


READERS = {"AMD64": read_x64, "I386": read_x86, "ARM64": read_arm64, "ARMNT": read_arm}


def services_shown(image):
    """Services by (number, RVA), from the disassembler."""
    services = {}
    for rva, names in image.exports.items():
        found = READERS[image.machine](image, rva)
        if found:
            start = rva & ~1 if image.machine == "ARMNT" else rva
            services[found[0], start] = Service(found[0], start, found[1], names)
    return services


def image_mapped(path, coldtrace):
    """The document's one image, from the product."""
    done = subprocess.run(
        [coldtrace, "syscalls", "map", "--format", "json", path], capture_output=True
    )
    if done.returncode not in (0, 1):
        sys.exit(f"coldtrace syscalls map: exit code {done.returncode}\n{done.stderr.decode()}")
    document = strict_json(done.stdout)
    if document["schema"] != "coldtrace.syscall-map/1" or len(document["images"]) != 1:
        sys.exit(f"unexpected document: {document['schema']}")
    return document["images"][0]


def compare(image, shown, mapped):
    """The differences, as sentences."""
    differences = []
    seen = set()
    for service in mapped:
        names = {name for name in (service["name"], *service["aliases"]) if name}
        label = f"{service['name'] or 'unnamed'} ({service['number']:#x})"
        table = "win32k" if service["number"] & WIN32K_BIT else "nt"
        if service["table"] != table:
            differences.append(f"{label}: table is {service['table']}, the number says {table}")
        if service["source"] == "inferred":
            continue
        key = service["number"], service["rva"]
        seen.add(key)
        truth = shown.get(key)
        if truth is None and not names:
            found = READERS[image.machine](image, service["rva"])
            truth = Service(found[0], service["rva"], found[1]) if found else None
        if truth is None or truth.number != service["number"]:
            differences.append(f"{label} at {service['rva']:#x}: no such stub in the disassembly")
            continue
        if names != truth.names:
            differences.append(
                f"{label}: names {sorted(names)}, exported are {sorted(truth.names)}"
            )
        if truth.argument_bytes != service["argument_bytes"]:
            differences.append(
                f"{label}: argument_bytes {service['argument_bytes']},"
                f" the code returns {truth.argument_bytes}"
            )
    for key in sorted(shown.keys() - seen):
        differences.append(f"{sorted(shown[key].names)} ({key[0]:#x}) at {key[1]:#x}: not mapped")
    return differences


def compare_with_source(source, mapped):
    """What the assembler source says about stubs that no disassembler can give a number."""
    differences = []
    services = {service["name"]: service for service in mapped["services"]}
    left_out = {row["name"]: row["reason"] for row in mapped["rejected"]}
    with open(source, encoding="utf-8") as file:
        pattern = r"^(hooked|wrapper|import_thunk)(?:_\w+)? (\w+), (\d+)"
        rows = re.findall(pattern, file.read(), re.M)
    if not rows:
        differences.append(f"{source}: no overwritten stub found")
    for kind, name, number in rows:
        service = services.get(f"Nt{name}")
        if kind == "hooked":
            expected = (True, "inferred", int(number))
            found = service and (service["hooked"], service["source"], service["number"])
            if found != expected:
                differences.append(f"Nt{name}: hooked, source, number are {found}, not {expected}")
            continue
        if service:
            differences.append(f"Nt{name}: a {kind}, but mapped as a service")
        for alias in (f"Nt{name}", f"Zw{name}"):
            if kind.replace("_", " ") not in left_out.get(alias, ""):
                differences.append(f"{alias}: a {kind}, but left out as {left_out.get(alias)!r}")
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--coldtrace", help="the program to compare with")
    parser.add_argument("--objdump", default="llvm-objdump-14")
    parser.add_argument("--readobj", default="llvm-readobj-14")
    parser.add_argument("--mc", default="llvm-mc-14")
    parser.add_argument("--at-least", type=int, default=0, metavar="N",
                        help="fail when the disassembler shows fewer services in a file")
    parser.add_argument("--source", help="assembler source with the truth about overwritten stubs")
    options = parser.parse_args()

    failed = False
    for path in options.files:
        if not os.path.exists(path) or not all(
            shutil.which(tool) for tool in (options.objdump, options.readobj, options.mc)
        ):
            print(f"skipped: {path} or LLVM's tools are missing")
            sys.exit(SKIPPED)
        image = Image(path, options)
        shown = services_shown(image)
        if not options.coldtrace:
            for service in sorted(shown.values(), key=lambda s: (s.number, s.rva)):
                arguments = "" if service.argument_bytes is None else service.argument_bytes
                print(f"{service.number:#06x} {service.rva:#x} {arguments}"
                      f" {' '.join(sorted(service.names))}")
            print(f"{path}: {len(shown)} services")
            continue
        mapped = image_mapped(path, options.coldtrace)
        differences = compare(image, shown, mapped["services"])
        if options.source:
            differences += compare_with_source(options.source, mapped)
        if len(shown) < options.at_least:
            differences.append(f"the disassembler shows only {len(shown)} services")
        for difference in differences:
            print(f"{path}: {difference}")
        print(f"{path}: {len(shown)} services, {len(differences)} differences")
        failed = failed or bool(differences)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
