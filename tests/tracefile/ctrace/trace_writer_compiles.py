"""The trace writer compiles as a driver's compiler would: freestanding, without a warning, and needs
no library.

usage: trace_writer_compiles.py INCLUDE SOURCE...
"""
import subprocess
import sys
import tempfile
from pathlib import Path

GCC = ["-std=c89", "-pedantic", "-ffreestanding", "-Wall", "-Wextra", "-Werror",
       "-Wdeclaration-after-statement", "-O2", "-c"]
CL = ["clang-14", "--driver-mode=cl", "/W4", "/WX", "/O2", "/c"]


def main():
    include, sources = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "object.o"
        for source in sources:
            for command in (
                ["i686-w64-mingw32-gcc", *GCC, "-I", include, source, "-o", output],
                ["x86_64-w64-mingw32-gcc", *GCC, "-I", include, source, "-o", output],
                ["clang-14", *GCC, "--target=aarch64-linux-gnu", "-I", include, source, "-o",
                 output],
                *([*CL, f"--target={machine}-pc-windows-msvc", "-I", include, f"/Fo{output}", "--",
                   source] for machine in ("i686", "x86_64")),
            ):
                output.unlink(missing_ok=True)
                done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
                if done.returncode != 0 or not output.exists():
                    sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
                needed = subprocess.run(["llvm-nm-14", "-u", output], capture_output=True,
                                        text=True, check=True).stdout
                # MSVC's /GS puts a cookie into functions with arrays, which every driver links.
                names = {line.split()[-1] for line in needed.splitlines() if line.strip()}
                others = {name for name in names if "security_c" not in name}
                if others:
                    sys.exit(f"{command[0]}: {source} needs {sorted(others)}")
    print(f"{len(sources)} sources, 5 compilers each")


main()
