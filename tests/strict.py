"""Strict readers of what commands write, apart from the code that writes it: JSON as RFC 8259 has
it and CSV as RFC 4180 has it, both in UTF-8 alone. Whatever is refused is a ValueError."""
import gc
import json
import math
import re

# Millions of values are read that live on and have no cycles; to look for some as often as usual takes as long as reading.
gc.set_threshold(500_000, 50, 100)

_PLAIN = re.compile(r'[^,"\r\n]*')  # of a cell


def _refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def _finite(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number that a reader can hold")
    return number


def _without_repetition(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"a member is there twice: {sorted(n for n in names if names.count(n) > 1)}")
    return value


def _refuse_surrogates(value):
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, list):
        for element in value:
            _refuse_surrogates(element)
    elif isinstance(value, dict):
        for name, member in value.items():
            _refuse_surrogates(name)
            _refuse_surrogates(member)


_decode = json.JSONDecoder(strict=True, object_pairs_hook=_without_repetition, parse_constant=_refuse_constant,
                           parse_float=_finite).decode


def strict_json(content):
    """The value of one JSON text: UTF-8 without a mark, no member twice, no NaN, no surrogate."""
    text = content.decode("utf-8")
    if text.startswith("\ufeff"):
        raise ValueError("a byte order mark")
    value = _decode(text)
    if r"\ud" in text or r"\uD" in text:  # UTF-8 has them as escapes alone
        _refuse_surrogates(value)
    return value


def strict_ndjson(content, known=None):
    """The values of lines that each end in one newline. Those in `known`, values by line, are not read again; it gets the others."""
    if not content:
        return []
    if not content.endswith(b"\n"):
        raise ValueError("the last line does not end")
    values = []
    for number, line in enumerate(content[:-1].split(b"\n"), 1):
        if not line.startswith(b"{") or not line.endswith(b"}"):
            raise ValueError(f"line {number} is not an object alone: {line[:60]!r}")
        value = None if known is None else known.get(line)
        try:
            values.append(value or strict_json(line))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}: {line[:2000]!r}") from error
        if known is not None:
            known[line] = values[-1]
    return values


def _cells(text):
    """Rows of cells, each with what ended its line."""
    at, row = 0, []
    while at < len(text):
        if text[at] == '"':
            cell, at = "", at + 1
            while True:
                end = text.find('"', at)
                if end < 0:
                    raise ValueError("a quoted cell does not end")
                cell += text[at:end]
                at = end + 1
                if text[at:at + 1] != '"':
                    break
                cell, at = cell + '"', at + 1
        else:
            cell = _PLAIN.match(text, at)[0]
            at += len(cell)
        row.append(cell)
        if text[at:at + 1] == ",":
            at += 1
            if at == len(text):
                raise ValueError("the last line does not end")
            continue
        ending = "\r\n" if text[at:at + 2] == "\r\n" else "\n"
        if text[at:at + len(ending)] != ending:
            raise ValueError(f"{text[at:at + 1]!r} behind the cell {cell[:60]!r}")
        at += len(ending)
        yield row, ending
        row = []


def strict_csv(content, columns=None):
    """Rows as dictionaries. The header has `columns` where they are given, every row has as many
    cells, and all lines end alike."""
    rows, endings = [], set()
    for row, ending in _cells(content.decode("utf-8")):
        rows.append(row)
        endings.add(ending)
    if not rows:
        raise ValueError("no header")
    if len(endings) != 1:
        raise ValueError("lines end in two ways")
    header = rows[0]
    if len(set(header)) != len(header) or (columns is not None and header != list(columns)):
        raise ValueError(f"the header is {header}")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells of {len(header)}")
    return [dict(zip(header, row)) for row in rows[1:]]
