"""JSON and JSONL traces: Mooncake, ShareGPT with lengths, our own logs, and results of ``vllm bench serve``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from runtime.trace_table import MAX_NS, NS, Clock, Ints, Trace, finish_trace, first_line, parse_time, parse_tokens
from theory.errors import InputError
from theory.instance_json import load_json, unique_keys
from theory.model import MAX_STEPS, MAX_TOKENS


@dataclass(frozen=True, slots=True)
class Keys:
    """Which keys of a row's object hold what."""

    prompt: str
    output: str
    times: tuple[tuple[str, str], ...] = ()  # (name in Trace, key)
    clock: Clock = "steps"
    strict: bool = False  # refuse any other key, so that a mistyped one is not read past


_SCHEDULE = ("arrival", "start", "finish")
#: Row formats by name, each with the key sets it may come in. Mooncake's is vLLM's ``timed_trace`` [mooncake]_.
#:
#: .. [mooncake] Qin et al., "Mooncake: Trading More Storage for Less Computation", FAST 2025.
ROW_FORMATS: dict[str, tuple[Keys, ...]] = {
    "mooncake": (Keys("input_length", "output_length", (("arrival", "timestamp"),), "ms"),),
    "geosched": (
        Keys("prompt", "output", tuple((name, name) for name in _SCHEDULE), strict=True),
        Keys("prompt", "output", tuple((name, f"{name}_seconds") for name in _SCHEDULE), "s", strict=True),
    ),
    "sharegpt": (
        Keys("prompt_len", "output_len"),
        Keys("input_len", "output_len"),
        Keys("prompt_tokens", "completion_tokens"),
    ),
}


def row_keys(first: dict[str, Any], format: str) -> Keys | None:
    """The keys that rows of a format have, going by the first one, or None if it is of another format."""
    for keys in ROW_FORMATS[format]:
        present = tuple((name, key) for name, key in keys.times if key in first)
        if format == "mooncake" and not present:
            continue
        foreign = first.keys() - {keys.prompt, keys.output} - {key for _, key in present}
        if keys.prompt in first and keys.output in first and not (keys.strict and foreign):
            return Keys(keys.prompt, keys.output, present, keys.clock, keys.strict)
    return None


def read_rows(source: str, text: str, format: str, *, lines: bool) -> Trace:
    """Read a JSONL text (`lines`), or a JSON array, of objects with one request each.

    Raises
    ------
    InputError
        With file, line (or index) and key, if a value is missing or at fault.
    """
    first = _first_row(source, text, lines)
    keys = row_keys(first, format) if isinstance(first, dict) else None
    at = f"{source}: {'line 1' if lines else '[0]'}"
    if keys is None:
        raise InputError(at, f"is not a row of the format {format}", _remedy(format, first))
    table = _fast_rows(text, keys, lines)
    if table is None:
        table = _slow_rows(source, text, keys, lines)
    times: dict[str, Any] = {name: column for (name, _), column in zip(keys.times, table[2:], strict=True)}
    if times and "arrival" not in times:
        raise InputError(at, "has a start or a finish and no arrival", "give the arrival too, on the same clock")
    if times:
        times["unit"] = "steps" if keys.clock == "steps" else "ns"
    trace = Trace(source, format, table[0], table[1], **times)
    return finish_trace(trace, lambda row: f"{source}: {f'row {row + 1}' if lines else f'[{row}]'}")


def _remedy(format: str, first: Any) -> str:
    if format == "sharegpt" and isinstance(first, dict) and "conversations" in first:
        return "count the tokens with your model's tokenizer and add prompt_len and output_len to every row"
    choices = (
        f"{{{keys.prompt}, {keys.output}{''.join(f', {key}' for _, key in keys.times)}}}"
        for keys in ROW_FORMATS[format]
    )
    return f"rows have the keys {' or '.join(choices)}"


def _first_row(source: str, text: str, lines: bool) -> Any:
    if lines:
        return load_json(first_line(text), source)
    rows = load_json(text, source)
    if not isinstance(rows, list) or not rows:
        raise InputError(source, "is not an array of rows", "give [{...}, ...] with at least one row")
    return rows[0]


def _fast_rows(text: str, keys: Keys, lines: bool) -> list[Ints] | None:
    """The columns of `keys` if every row has them in the plain form, else None."""
    time = int if keys.clock == "steps" else int | float
    fields = [(key, int) for key in (keys.prompt, keys.output)] + [(key, time) for _, key in keys.times]
    names = [(f"f{i}", kind) for i, (_, kind) in enumerate(fields)]
    row = msgspec.defstruct(
        "Row",
        names,
        rename={f"f{i}": key for i, (key, _) in enumerate(fields)},
        gc=False,
        forbid_unknown_fields=keys.strict,
    )
    try:
        if lines:
            rows: list[Any] = msgspec.json.Decoder(row).decode_lines(text)
        else:
            rows = msgspec.json.Decoder(list[row]).decode(text)  # type: ignore[valid-type]
        table = [np.array(list(map(attrgetter(name), rows))) for name, _ in names]
    except (msgspec.MsgspecError, OverflowError):
        return None
    if any(text.count(f'"{key}"') != len(rows) for key, _ in fields):
        return None  # a key twice in one row, of which msgspec takes the last
    for i, column in enumerate(table):
        scale = NS[keys.clock] if i >= 2 and keys.clock in NS else 1
        bound = MAX_TOKENS if i < 2 else MAX_STEPS if keys.clock == "steps" else MAX_NS // scale - 1
        if not (column.min() >= 0 and column.max() <= bound):
            return None
        whole = np.floor(column).astype(np.int64)
        table[i] = whole * scale + np.rint((column - whole) * scale).astype(np.int64)
    return table


def _slow_rows(source: str, text: str, keys: Keys, lines: bool) -> list[Ints]:
    """The columns of `keys`, row by row; the reference for :func:`_fast_rows`."""
    objects = (
        _line_objects(source, text)
        if lines
        else [(f"{source}: [{i}]", row) for i, row in enumerate(load_json(text, source))]
    )
    rows = []
    known = {keys.prompt, keys.output, *(key for _, key in keys.times)}
    for at, row in objects:
        if not isinstance(row, dict):
            raise InputError(at, "is not a JSON object", "give one object for each request")
        for key in sorted(row.keys() - known if keys.strict else ()):
            raise InputError(
                at, f'has the key "{key}", which the first row does not have', "give every row the same keys"
            )
        try:
            values = [parse_tokens(key, _number(row.get(key))) for key in (keys.prompt, keys.output)]
            values += [parse_time(key, _number(row.get(key)), keys.clock) for _, key in keys.times]
        except InputError as error:
            raise InputError(f"{at}, {error.where}", error.fault, error.remedy) from None
        rows.append(values)
    return list(np.array(rows, np.int64).T)


def _number(value: Any) -> Any:
    """The value, with text shown as text: a JSON string is never a number."""
    return json.dumps(value) if isinstance(value, str) else value


def _line_objects(source: str, text: str) -> list[tuple[str, Any]]:
    objects = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                objects.append((f"{source}: line {number}", json.loads(line, object_pairs_hook=unique_keys)))
            except InputError as error:
                raise InputError(f"{source}: line {number}, {error.where}", error.fault, error.remedy) from None
            except (ValueError, RecursionError):
                load_json("\n" * (number - 1) + line, source)  # raises, with the line and column
                raise
    return objects


def read_vllm_result(source: str, data: Any) -> Trace:
    """Read the result file of ``vllm bench serve --save-result --save-detailed``.

    The finish of a request is its start time plus time to first token plus inter-token latencies, as vLLM's client
    measured them. Files without ``start_times`` give lengths only. Failed requests are marked.

    Raises
    ------
    InputError
        If per-request lists are missing, differ in length or hold something else than numbers.
    """
    remedy = "run vllm bench serve with --save-result --save-detailed"
    if not isinstance(data, dict) or "input_lens" not in data or "output_lens" not in data:
        raise InputError(source, "has no input_lens and output_lens", remedy)
    columns = {
        name: data[name]
        for name in ("input_lens", "output_lens", "start_times", "ttfts", "itls", "errors")
        if data.get(name) is not None
    }
    for name, column in columns.items():
        if not isinstance(column, list) or len(column) != len(data["input_lens"]):
            raise InputError(f"{source}: {name}", "is not a list as long as input_lens", remedy)
    if not data["input_lens"]:
        raise InputError(f"{source}: input_lens", "is empty", "give at least one request")
    prompt, output = (
        np.array([parse_tokens(f"{source}: {name}[{i}]", _number(x)) for i, x in enumerate(columns[name])], np.int64)
        for name in ("input_lens", "output_lens")
    )
    failed = np.array([bool(error) for error in columns.get("errors", [""] * len(prompt))], np.bool_)
    trace = Trace(source, "vllm", prompt, output, failed=failed)
    if not {"start_times", "ttfts", "itls"} <= columns.keys():
        return trace
    starts, firsts = (
        np.array([parse_time(f"{source}: {name}[{i}]", _number(x), "s") for i, x in enumerate(columns[name])], np.int64)
        for name in ("start_times", "ttfts")
    )
    decode = np.array([_span(f"{source}: itls[{i}]", itl) for i, itl in enumerate(columns["itls"])], np.int64)
    first_token = starts + firsts
    timed = Trace(source, "vllm", prompt, output, "ns", starts, None, first_token, first_token + decode, failed)
    return finish_trace(timed, lambda row: f"{source}: [{row}]")


def _span(where: str, gaps: Any) -> int:
    """Sum of a request's inter-token latencies in nanoseconds."""
    if not isinstance(gaps, list):
        raise InputError(where, "is not a list of seconds", "give the inter-token latencies of one request")
    if all(type(gap) is float and gap >= 0 for gap in gaps) and sum(gaps) < MAX_STEPS:
        return round(sum(gaps) * NS["s"])
    return sum(parse_time(f"{where}[{j}]", _number(gap), "s") for j, gap in enumerate(gaps))
