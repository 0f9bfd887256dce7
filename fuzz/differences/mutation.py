"""Files whose structures are known, and mutants of them: one number is another one.

A field is (label, offset, size): "record.$DATA.value_size" at a byte of the file. A mutant has one field
changed, so that a difference between readers has one cause.
"""
import random


class Field:
    def __init__(self, label, offset, size):
        self.label, self.offset, self.size = label, offset, size


def other_values(random_, old, size, most):
    """What the number becomes: near it, at the ends of its range, a bit of it, or anything up to `most`."""
    limit = 1 << 8 * size
    choices = [old + 1, old - 1, 0, limit - 1, limit >> 1, old ^ 1 << random_.randrange(8 * size), old * 2, old // 2,
               random_.randrange(limit), random_.randrange(min(limit, most)), 8 * random_.randrange(1, 1 + min(limit, most) // 8)]
    return random_.choice(choices) % limit


def mutants(data, fields, seed, most):
    """Forever: (label, description, bytes). Each kind of field is as likely, however often a file has it."""
    random_ = random.Random(seed)
    by_label = {}
    for field in fields:
        by_label.setdefault(field.label, []).append(field)
    labels = sorted(by_label)
    while True:
        field = random_.choice(by_label[random_.choice(labels)])
        old = int.from_bytes(data[field.offset:field.offset + field.size], "little")
        new = other_values(random_, old, field.size, most)
        if new == old:
            continue
        mutant = bytearray(data)
        mutant[field.offset:field.offset + field.size] = new.to_bytes(field.size, "little")
        yield field.label, f"{field.label} at {field.offset:#x}: {old:#x} became {new:#x}", mutant
