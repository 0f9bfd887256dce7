"""How listings of a mutated volume differ, and which difference has an explanation (docs/trust.md has them)."""
import ntfs_listings as listings

EXPLANATIONS = {
    "refuses": "the other reader gives the volume up; coldtrace lists what is left",
    "loses": "coldtrace lists a name that the other loses, and has a finding",
    "loses, nothing odd": "coldtrace lists a name that the other loses over a field that says nothing of the name",
    "no attributes": "fls lists the name alone (record without attribute, size 0); coldtrace lists its attributes too",
    "damaged attribute": "coldtrace does not take what an attribute says that is damaged, and says so; the other takes it",
    "another state": "coldtrace lists the name as stale, unreachable or detached, with a finding; the other as live",
    "no name": "a name that coldtrace does not list at all, with a finding",
    "another name": "index and record have different names, which is a finding; coldtrace lists one of them",
    "times": "times outside of 1970 to 2106: fls has 32 bits, libfsntfs is a second off before 1970",
    "value": "sizes or times of damaged attributes, with a finding",
    "root": "fls does not list the root folder",
    "orphans": "fls lists names below $OrphanFiles that coldtrace lists in their folders",
}
# Fields that say nothing of names, sizes or times, over which another reader gives up.
SAYS_NOTHING = {
    "compression": "the compression unit of what is not compressed",
    "name_offset": "where the name of an attribute without one begins",
    "collation": "how a directory is sorted, which its order shows",
    "length": "garbage in the upper half of a length, as old volumes have it",
    "key_length": "the key of an entry that ends a node and has none",
    "name_length": "the name of an index that is not a directory's",
    "total_sectors": "the end of the volume, behind which the hole of $BadClus:$Bad goes on",
    "indexed": "whether an attribute that an index has says so",
}


def by_record(listing):
    return {(path, identity.split("-")[0]): value for (path, identity), value in listing.items()}


class Comparison:
    """Of one mutant with one other reader: counts of explanations, and what has none."""

    def __init__(self, label, codes, everywhere):
        self.label, self.codes, self.everywhere = label, codes, everywhere
        self.explained = set()
        self.unexplained = []

    def note(self, why, condition, row):
        if condition:
            self.explained.add(why)
        else:
            self.unexplained.append((why, row))

    def compare(self, ours, theirs, known):
        """`known` are the rows that differ on the sound volume too."""
        records = {row[1].split("-")[0] for row in self.everywhere}
        our_records = {(path, identity.split("-")[0]) for path, identity in ours}
        their_records = {(path, identity.split("-")[0]) for path, identity in theirs}
        for row in ours.keys() - theirs.keys() - known:
            record = row[0], row[1].split("-")[0]
            if row[0] == "/":
                self.explained.add("root")
            elif record in theirs:
                self.explained.add("no attributes")
            elif record in their_records:
                self.note("damaged attribute", self.codes, row)
            elif self.codes:
                self.explained.add("loses")
            else:
                self.note("loses, nothing odd", self.label.split(".")[-1] in SAYS_NOTHING, row)
        for row in theirs.keys() - ours.keys() - known:
            record = row[0], row[1].split("-")[0]
            if row[0].startswith("/$OrphanFiles"):
                self.note("orphans", record[1] in records or self.codes, row)
            elif "-" not in row[1] and any(path.startswith(row[0] + ":") for path, number in our_records if number == row[1]):
                self.explained.add("no attributes")
            elif record in our_records:
                if not any(ours_row[0] == row[0] for ours_row in ours.keys() - theirs.keys()):
                    self.note("damaged attribute", self.codes, row)
            elif record[1] in {identity for _, identity in our_records}:
                self.note("another name", self.codes, row)
            elif record[1] in records:
                self.note("another state", self.codes, row)
            else:
                self.note("no name", self.codes, row)
        for row in ours.keys() & theirs.keys() - known:
            (our_size, our_times), (size, times) = ours[row], theirs[row]
            if our_size == size and all(a == b or not 0 < a < 1 << 32 for a, b in zip(our_times, times)):
                if our_times != times:
                    self.explained.add("times")
            else:
                self.note("value", self.codes, (row, ours[row], theirs[row]))
        return self


class Volumes:
    """Asks all readers of a volume and of its mutants."""

    def __init__(self, program, path, data):
        self.program, self.path = program, str(path)
        path.write_bytes(data)
        ours, self.sleuthkit, self.libfsntfs = self.ask()
        self.known = {}
        for name, theirs in (("fls", self.sleuthkit[0]), ("libfsntfs", self.libfsntfs[0])):
            mine = ours[0] if name == "fls" else by_record(ours[0])
            self.known[name] = {row for row in mine.keys() | theirs.keys() if mine.get(row) != theirs.get(row)}

    def ask(self):
        return (listings.of_coldtrace(self.program, self.path), listings.of_sleuthkit(self.path),
                listings.of_libfsntfs(self.path))

    def differences(self, label, data):
        """(reader, explanations, what has none) of each other reader, or of coldtrace alone."""
        with open(self.path, "r+b") as file:
            file.write(data)
        (ours, codes), *others = self.ask()
        everywhere = ours and listings.of_coldtrace(self.program, self.path, "--state", "all")[0]
        for name, (theirs, word) in zip(("fls", "libfsntfs"), others):
            if ours is None and theirs is None:
                yield name, {"both refuse"}, []
            elif ours is None:
                yield name, set(), [("coldtrace refuses", codes.splitlines()[0][-120:])]
            elif theirs is None:
                yield name, {"refuses"}, []
            else:
                done = Comparison(label, codes, everywhere).compare(
                    ours if name == "fls" else by_record(ours), theirs, self.known[name])
                yield name, done.explained, done.unexplained
