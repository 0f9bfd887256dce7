"""Writes the sources of the documentation's pages for sphinx.

usage: site_pages.py COLDTRACE PROJECT FOLDER
"""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

COLDTRACE, PROJECT, FOLDER = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
ABOUT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
# Pages reached by a list: in the tree of each page, hundreds of them would be most of it.
OF_LIST = "---\norphan: true\n---\n\n"


def said(*arguments, text=None):
    return subprocess.run(arguments, input=text, capture_output=True, text=True, check=True).stdout


def commands(*prefix):
    """Every command, as the lists in the help name them."""
    listed = re.search(r"\nCommands:\n(.*?)\n\n", said(COLDTRACE, *prefix, "--help"), re.S)
    if not listed:
        return [prefix]
    names = re.findall(r"^  ([a-z][a-z0-9-]*)  ", listed[1], re.M)
    return [command for name in names for command in commands(*prefix, name)]


def toctree(caption, pages, depth=1):
    rows = "\n".join(pages)
    return f"```{{toctree}}\n:caption: {caption}\n:maxdepth: {depth}\n\n{rows}\n```\n\n"


def write(name, text):
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def relocated(text, document):
    """Links as they are among the pages; what has none is named by its place in the project."""
    def change(match):
        label, target, anchor = match[1], match[2], match[3] or ""
        place = (PROJECT / document).parent / target
        if "://" in target or target.startswith("#") or not place.exists():
            return match[0]
        inside = place.resolve().relative_to(PROJECT.resolve())
        if inside.suffix in (".md", ".png") and (inside.parts[0] == "docs" or str(inside) in ABOUT):
            page = inside.relative_to("docs") if inside.parts[0] == "docs" else inside
            up = "../" * (len(Path(document).parts) - (2 if document.startswith("docs/") else 1))
            if str(page) == "README.md":
                page = Path("index.md")
            if str(page) == "findings.md" and anchor:
                return f"{label}({up}findings/{anchor[1:]}.md)"
            return f"{label}({up}{page}{anchor})"
        return f"{label[1 if label.startswith('!') else 0:].strip('![]')} (`{inside}`)"
    return re.sub(r"(!?\[[^\]]*\])\(([^)#\s]+)(#[^)\s]*)?\)", change, text)


def write_findings():
    rows = json.loads(said(COLDTRACE, "findings", "--format", "json"))["codes"]
    for row in rows:
        write(f"findings/{row['code']}.md",
              f"{OF_LIST}# {row['code']}\n\n`{row['severity']}`: {row['meaning']}.\n\n{row['cause']}\n\n"
              f"**What to do:** {row['advice']}\n")
    intro = (PROJECT / "docs/findings.md").read_text().split("\n## ")[0]
    listed = "".join(f"| [{row['code']}](findings/{row['code']}.md) | {row['severity']} | {row['meaning']} |\n"
                     for row in rows).replace("\\", "\\\\")
    write("findings.md", f"{relocated(intro, 'docs/findings.md')}\n\n| code | severity | meaning |\n|---|---|---|\n"
                         f"{listed}")


def write_manual():
    names = []
    for command in commands():
        name = "-".join(("coldtrace", *command))
        page = said("mandoc", "-T", "html", "-O", "fragment", text=said(COLDTRACE, "help", "--man", *command))
        write(f"manual/{name}.md", f"{OF_LIST}# {' '.join(('coldtrace', *command))}\n\n```{{raw}} html\n{page}\n```\n")
        names.append(f"- [{' '.join(('coldtrace', *command))}](manual/{name}.md)\n")
    write("manual.md", "# Manual pages\n\nWhat `man` shows of each command where coldtrace is installed.\n\n" + "".join(names))


def main():
    documents = sorted((PROJECT / "docs").rglob("*.md"))
    for document in documents:
        name = document.relative_to(PROJECT / "docs")
        if str(name) not in ("README.md", "findings.md"):
            text = document.read_text().replace("```mermaid", "```text")
            write(name, relocated(text, f"docs/{name}"))
    for name in ABOUT:
        write(name, relocated((PROJECT / name).read_text(), name))
    shutil.copytree(PROJECT / "docs/pictures", FOLDER / "pictures")
    write_findings()
    write_manual()
    rooms = {}
    for document in documents:
        name = document.relative_to(PROJECT / "docs").with_suffix("")
        if str(name) not in ("README", "findings"):
            rooms.setdefault(name.parts[0] if len(name.parts) > 1 else "", []).append(str(name))
    index = relocated((PROJECT / "README.md").read_text(), "README.md")
    order = [("Tutorials", rooms.pop("tutorials", [])), ("Commands", [*rooms.pop("commands", []), "findings", "manual"]),
             ("Languages", rooms.pop("languages", [])), ("Formats", rooms.pop("formats", [])),
             ("Performance", rooms.pop("performance", [])),
             ("About", [*rooms.pop("", []), *(name.removesuffix(".md") for name in ABOUT)])]
    assert not rooms, rooms
    trees = "".join(toctree(caption, pages).replace(":maxdepth", ":hidden:\n:maxdepth") for caption, pages in order if pages)
    write("index.md", f"{index}\n{trees}")


main()
