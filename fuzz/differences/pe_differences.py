"""How tables of a mutated image differ, and which difference has an explanation (docs/trust.md has them)."""
import pe_tables as tables

EXPLANATIONS = {
    "refuses": "llvm-readobj gives the table up, or the image over another of its tables; coldtrace has it",
    "damage": "coldtrace has a finding, and takes what is damaged for less or more than llvm-readobj",
    "crashes": "llvm-readobj crashes",
    "aliases": "of several names of one ordinal llvm-readobj has the first; coldtrace has a row for each",
    "section name": "llvm-readobj finds resources by the name .rsrc; coldtrace by the directory, as the loader",
    "counted names": "llvm-readobj tells names from numbers by how many there are; coldtrace by each entry's highest bit",
    "no name": "of an import whose name is empty llvm-readobj shows the hint; coldtrace keeps the slot without a name",
    "two entries": "HIGHADJ takes the next entry for itself; llvm-readobj counts that too",
    "machine": "llvm-readobj takes names of an unknown machine's imports for ordinals or none; coldtrace goes by the header's format",
}


def explain(name, label, mine, other):
    """Of a difference over which coldtrace has no finding."""
    if label == "file.machine":
        return "machine"
    if name == "exports" and set(other) < set(mine) and {row[0] for row in other} == {row[0] for row in mine}:
        return "aliases"
    by_name = (label, bool(mine)) in (("section.name", True), ("optional.directories", False), ("directory resources.rva", False))
    if name == "resources" and by_name and not (mine and other):
        return "section name"
    if name == "resources" and label.startswith("resource ") and [row[-2:] for row in mine] == [row[-2:] for row in other]:
        return "counted names"
    if name == "imports" and len(mine) == len(other) and all(a == b or a[1] == 0 for a, b in zip(mine, other)):
        return "no name"
    if name == "relocations" and label == "relocation.entry" and other[0] - mine[0] == 1:
        return "two entries"
    return None


class Images:
    def __init__(self, program, path):
        self.program, self.path = program, str(path)

    def differences(self, label, data):
        """(reader, explanations, what has none) of all tables of a mutant."""
        with open(self.path, "wb") as file:
            file.write(data)
        ours, theirs = tables.coldtrace_tables(self.program, self.path), tables.llvm_tables(self.path)
        explained, unexplained = set(), []
        for name, (mine, codes) in ours.items():
            other, word = theirs[name]
            if mine is None and other is None:
                explained.add("both refuse")
            elif mine is None:
                unexplained.append((name, "coldtrace refuses: " + codes[-120:]))
            elif other is None:
                explained.add("crashes" if "Stack dump" in word else "refuses")
            elif mine != other:
                why = explain(name, label, mine, other)
                if codes or why:
                    explained.add("damage" if codes else why)
                else:
                    unexplained.append((name, [row for row in mine if row not in other][:2], [row for row in other if row not in mine][:2]))
        yield "llvm-readobj", explained, unexplained
