"""CSV traces: Azure, BurstGPT and Vidur columns, a million rows in about a second.

Two readers do the same work. The fast one slices the whole file with numpy and gives up at the first oddity; the
slow one goes row by row, takes every form that is allowed, and says where the fault is.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runtime.trace_table import NS, Clock, Ints, Trace, finish_trace, first_line, parse_time, parse_tokens
from theory.errors import InputError
from theory.model import MAX_TOKENS


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns of a format hold what; other columns are not read."""

    prompt: str
    output: str
    arrival: str
    clock: Clock
    arrival_optional: bool = False


#: CSV formats by name: the Azure LLM inference traces of 2023 and 2024 [splitwise]_, BurstGPT [burstgpt]_, and the
#: processed traces of Vidur [vidur]_ (whose arrivals are optional).
#:
#: .. [splitwise] Patel et al., "Splitwise: Efficient Generative LLM Inference Using Phase Splitting", ISCA 2024.
#: .. [burstgpt] Wang et al., "BurstGPT: A Real-World Workload Dataset to Optimize LLM Serving Systems", KDD 2025.
#: .. [vidur] Agrawal et al., "Vidur: A Large-Scale Simulation Framework for LLM Inference", MLSys 2024.
CSV_FORMATS = {
    "azure": Columns("ContextTokens", "GeneratedTokens", "TIMESTAMP", "date"),
    "burstgpt": Columns("Request tokens", "Response tokens", "Timestamp", "s"),
    "vidur": Columns("num_prefill_tokens", "num_decode_tokens", "arrived_at", "s", arrival_optional=True),
}
_NEWLINE, _COMMA, _QUOTE, _POINT, _ZERO, _NINE = b'\n,".09'


def _header(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(",")]


def csv_format(text: str) -> str | None:
    r"""The format whose columns the first line names, or None.

    Examples
    --------
    >>> csv_format("TIMESTAMP,ContextTokens,GeneratedTokens\n")
    'azure'
    """
    header = _header(first_line(text))
    for name, columns in CSV_FORMATS.items():
        needed = {columns.prompt, columns.output} | (set() if columns.arrival_optional else {columns.arrival})
        if needed <= set(header):
            return name
    return None


def read_csv(source: str, text: str, format: str) -> Trace:
    """Read the rows of a CSV text in a known format.

    Raises
    ------
    InputError
        With file, line and column, if a column or a value is missing or at fault, or if there is no row.
    """
    text = text.replace("\r\n", "\n")
    columns, header = CSV_FORMATS[format], _header(first_line(text))
    for name in (columns.prompt, columns.output, columns.arrival):
        if name not in header and not (name == columns.arrival and columns.arrival_optional):
            known = f"a {format} file has {columns.arrival},{columns.prompt},{columns.output}"
            raise InputError(f"{source}: line 1", f'lacks the column "{name}"', known)
    if len(set(header)) != len(header):
        raise InputError(f"{source}: line 1", "names a column twice", "name each column once")
    has_times = columns.arrival in header
    wanted = [header.index(name) for name in (columns.prompt, columns.output)]
    wanted += [header.index(columns.arrival)] if has_times else []
    table = _fast_columns(text, len(header), wanted, columns.clock)
    if table is None:
        table = _slow_columns(source, text, header, wanted, columns.clock)
    if not len(table[0]):
        raise InputError(source, "has a header and no rows", "give at least one row")
    trace = Trace(source, format, table[0], table[1])
    if has_times:
        trace = Trace(source, format, table[0], table[1], unit="ns", arrival=table[2])
    return finish_trace(trace, lambda row: f"{source}: row {row}")


def _slow_columns(source: str, text: str, header: list[str], wanted: list[int], clock: Clock) -> list[Ints]:
    """The wanted columns, row by row; the reference for :func:`_fast_columns`."""
    rows: list[list[int]] = []
    for line, cells in _rows(source, text):
        if not cells:
            continue
        if len(cells) != len(header):
            remedy = f"give the {len(header)} columns {','.join(header)}"
            raise InputError(f"{source}: line {line}", f"has {len(cells)} columns", f"{remedy:.120}")
        try:
            values = [parse_tokens(header[i], cells[i]) for i in wanted[:2]]
            values += [parse_time(header[i], cells[i], clock) for i in wanted[2:]]
        except InputError as error:
            place = f"{source}: line {line}, column {error.where}"
            raise InputError(place, error.fault, error.remedy) from None
        rows.append(values)
    return list(np.array(rows, np.int64).reshape(len(rows), len(wanted)).T)


def _rows(source: str, text: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        next(reader)
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(f"{source}: line {reader.line_num}", f"is not valid CSV ({error})", "mend the line") from None


def _fast_columns(text: str, width: int, wanted: list[int], clock: Clock) -> list[Ints] | None:
    """The wanted columns if every row is in the plain form, else None."""
    rest = text.partition("\n")[2].rstrip("\n")
    body = (rest.replace("+00:00", "") if clock == "date" else rest).encode() + b"\n"
    if len(body) == 1:
        return [np.zeros(0, np.int64) for _ in wanted]
    data = np.frombuffer(body, np.uint8)
    breaks = np.flatnonzero((data == _COMMA) | (data == _NEWLINE))
    if len(breaks) % width or (data == _QUOTE).any():
        return None
    ends = breaks.reshape(-1, width)
    if (data[ends[:, -1]] != _NEWLINE).any() or (data[ends[:, :-1]] != _COMMA).any():
        return None
    starts = np.concatenate(([0], breaks[:-1] + 1)).reshape(-1, width)
    table: list[Ints] = []
    for nth, i in enumerate(wanted):
        start, end = starts[:, i], ends[:, i]
        if nth < 2:
            column = _whole_numbers(data, start, end)
            if column is not None and column.max() > MAX_TOKENS:
                return None
        elif clock == "date":
            column = _dates(data, start, end)
        else:
            column = _whole_numbers(data, start, end)
            column = None if column is None or column.max() > 2**31 else column * NS[clock]
        if column is None:
            return None
        table.append(column)
    return table


def _whole_numbers(data: npt.NDArray[np.uint8], start: Ints, end: Ints) -> Ints | None:
    """The fields ``data[start:end]`` as integers if all are one to twelve plain digits, else None."""
    digits = end - start
    if digits.min() < 1 or digits.max() > 12:
        return None
    total = np.zeros(len(start), np.int64)
    for place in range(int(digits.max())):
        at = end - 1 - place
        inside = at >= start
        digit = np.where(inside, data[at] - np.uint8(_ZERO), 0)
        if (digit > 9).any():
            return None
        total += digit.astype(np.int64) * 10**place
    return total


def _dates(data: npt.NDArray[np.uint8], start: Ints, end: Ints) -> Ints | None:
    """The fields as nanoseconds since 1970 if all are dates with a time of day, in UTC, else None."""
    width = end - start
    longest = int(width.max())
    if width.min() < 19 or longest > 29:
        return None
    year = _whole_numbers(data, start, start + 4)
    if year is None or year.min() < 1970 or year.max() > 2100:
        return None
    padded = np.concatenate((data, np.zeros(longest, np.uint8)))
    fields = np.lib.stride_tricks.sliding_window_view(padded, longest)[start]
    fields[np.arange(longest) >= width[:, None]] = 0
    tail = fields[:, 19:]
    if not ((tail == 0) | (tail == _POINT) | ((tail >= _ZERO) & (tail <= _NINE))).all():
        return None  # a time zone, which numpy would apply with a warning
    try:
        return fields.view(f"S{longest}").ravel().astype("datetime64[ns]").astype(np.int64)
    except ValueError:
        return None
