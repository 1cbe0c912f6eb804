"""Read a request log or a public trace, whatever its format, into integer arrays."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from runtime.trace_csv import CSV_FORMATS, csv_format, read_csv
from runtime.trace_json import ROW_FORMATS, read_rows, read_vllm_result, row_keys
from runtime.trace_table import Trace, first_line
from theory.errors import InputError
from theory.instance_json import instance_from_dict, load_json, read_text

__all__ = ["FORMATS", "Trace", "read_trace", "trace_of_instance"]

#: Every format :func:`read_trace` knows, by name.
FORMATS = (*CSV_FORMATS, *ROW_FORMATS, "vllm", "instance")


def read_trace(path: str | os.PathLike[str], format: str | None = None) -> Trace:
    """Read a trace; its format is recognised from the header or the keys, unless it is given.

    Nothing is dropped here: rows that no audit can use are counted in ``Trace.dropped`` (zero output tokens,
    failed requests). Rows keep the order of the file, also when their arrivals do not ascend.

    ===========  ==========================================================================================
    format       what a row is
    ===========  ==========================================================================================
    azure        CSV ``TIMESTAMP,ContextTokens,GeneratedTokens``, UTC dates (2023 and 2024 traces)
    burstgpt     CSV ``Timestamp`` (s), ``Request tokens``, ``Response tokens``; 0 response tokens is a failure
    vidur        CSV ``num_prefill_tokens,num_decode_tokens``, optionally ``arrived_at`` (s)
    mooncake     JSONL ``timestamp`` (ms), ``input_length``, ``output_length`` (vLLM's ``timed_trace``)
    sharegpt     JSON array or JSONL with ``prompt_len, output_len`` or ``input_len, output_len`` or
                 ``prompt_tokens, completion_tokens``: lengths counted with your tokenizer; no arrivals
    vllm         result of ``vllm bench serve --save-result --save-detailed``
    geosched     JSONL or JSON array ``prompt``, ``output``, optionally ``arrival``, ``start``, ``finish`` (steps)
                 or ``arrival_seconds``, ``start_seconds``, ``finish_seconds``
    instance     ``{"memory": M, "requests": [...]}``; its memory is not used
    ===========  ==========================================================================================

    Raises
    ------
    InputError
        Naming the file, the line, the column or key, the fault and the remedy.
    """
    source = os.fspath(path)
    if format is not None and format not in FORMATS:
        raise InputError("format", f"{format!r} is unknown", f"choose one of {', '.join(FORMATS)}")
    text = read_text(path)
    if first_line(text)[:1] not in ("{", "["):
        recognised = csv_format(text)
        if format is None and recognised is None:
            raise InputError(f"{source}: line 1", f"is {first_line(text)!r:.80}, a header of no known format", _KNOWN)
        chosen = format or recognised or ""
        if chosen not in CSV_FORMATS:
            raise InputError(source, f"is not JSON, as the format {chosen} would be", _KNOWN)
        return read_csv(source, text, chosen)
    if format in CSV_FORMATS:
        raise InputError(source, f"is JSON, not CSV as the format {format} would be", _KNOWN)
    return _read_json(source, text, format)


_KNOWN = (
    "give a CSV with the columns of azure, burstgpt or vidur, JSON lines with the keys of mooncake, sharegpt or "
    "geosched, a result of vllm bench serve, or an instance file"
)


def _read_json(source: str, text: str, format: str | None) -> Trace:
    first, lines = _first_value(source, text)
    chosen = format or _json_format(first)
    if chosen is None:
        keys = ", ".join(map(str, first)) if isinstance(first, dict) else type(first).__name__
        hint = (
            "; its conversations have no token counts: add prompt_len and output_len" if "conversations" in keys else ""
        )
        raise InputError(source, f"has rows of no known format ({keys:.80}){hint}", _KNOWN)
    if chosen == "vllm":
        return read_vllm_result(source, load_json(text, source))
    if chosen == "instance":
        return trace_of_instance(source, text)
    return read_rows(source, text, chosen, lines=lines)


def _first_value(source: str, text: str) -> tuple[Any, bool]:
    """The object that tells the format, and whether the text is JSON lines."""
    try:
        first = load_json(first_line(text), source)
    except InputError:  # a document over several lines, or a broken first line: then this tells where
        first = load_json(text, source)
    if isinstance(first, list):
        return (first[0] if first else None), False
    whole = isinstance(first, dict) and (_is_result(first) or _is_instance(first))
    return first, not whole


def _is_result(value: dict[str, Any]) -> bool:
    return "input_lens" in value or {"completed", "total_input_tokens"} <= value.keys()


def _is_instance(value: dict[str, Any]) -> bool:
    return "requests" in value


def _json_format(first: Any) -> str | None:
    if not isinstance(first, dict):
        return None
    if _is_result(first):
        return "vllm"
    if _is_instance(first):
        return "instance"
    return next((name for name in ROW_FORMATS if row_keys(first, name)), None)


def trace_of_instance(source: str, text: str) -> Trace:
    """The requests of an instance file as a trace, arrivals in steps.

    Raises
    ------
    InputError
        If the text is not an instance.
    """
    requests = instance_from_dict(load_json(text, source), source).requests
    prompt, output, arrival = (
        np.array([getattr(r, name) for r in requests], np.int64) for name in ("prompt", "output", "arrival")
    )
    return Trace(source, "instance", prompt, output, "steps", arrival)
