"""Reading and writing instances as JSON, with errors that name the file, the place and the remedy.

The format is ``{"memory": M, "requests": [{"prompt": s, "output": o, "arrival": a}, ...]}``; `arrival` defaults
to 0. Optional keys: ``"memory_model": {"lag": 0, "block": 1}``, ``"name"`` and ``"comment"`` (not interpreted).
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from theory.errors import InputError
from theory.model import PAPER, Instance, MemoryModel, Request

_INSTANCE_KEYS = {"memory", "requests", "memory_model", "name", "comment"}
_REQUEST_KEYS = {"prompt", "output", "arrival"}
_SHAPE = 'give {"memory": M, "requests": [{"prompt": s, "output": o, "arrival": a}, ...]}'


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a UTF-8 text file (a byte order mark is dropped, CRLF is kept).

    Raises
    ------
    InputError
        If the file cannot be read, is empty, is compressed or is not UTF-8 text.
    """
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(name, f"cannot be read ({error.strerror or error})", "give a readable file") from None
    if data[:2] == b"\x1f\x8b":
        raise InputError(name, "is gzip-compressed", "decompress it first (gunzip)")
    if not data.strip():
        raise InputError(name, "is empty", "give a file with content")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: byte {error.start}", "is not UTF-8 text", "save the file as UTF-8") from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file as a whole or not at all (temporary file in the same folder, then rename).

    Raises
    ------
    InputError
        If the file cannot be written there.
    """
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(os.fspath(path), f"cannot be written ({error.strerror})", "give a writable place") from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build the dict of one JSON object (an ``object_pairs_hook``); a key that appears twice is refused."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise InputError(f'key "{key}"', "appears twice in one object", "keep one of the two")
        result[key] = value
    return result


def _no_constant(text: str) -> NoReturn:
    raise InputError(f"value {text}", "is not a number that JSON or this format has", "give a whole number")


def load_json(text: str, name: str) -> Any:
    """Parse strict JSON: no duplicate keys, no NaN or Infinity, no numbers of thousands of digits.

    Raises
    ------
    InputError
        With `name` and the place of the fault.
    """
    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=_no_constant)
    except InputError as error:
        raise InputError(f"{name}: {error.where}", error.fault, error.remedy) from None
    except json.JSONDecodeError as error:
        place = f"{name}: line {error.lineno} column {error.colno}"
        raise InputError(place, f"is not valid JSON ({error.msg})", "mend or complete the file") from None
    except RecursionError:
        raise InputError(name, "is nested too deeply", _SHAPE) from None
    except ValueError:
        raise InputError(name, "holds a number with thousands of digits", "give smaller numbers") from None


def _check_keys(where: str, value: Any, required: set[str], allowed: set[str]) -> None:
    if not isinstance(value, dict):
        raise InputError(where, f"is a JSON {_kind(value)}, not an object", _SHAPE)
    for key in sorted(required - value.keys()):
        raise InputError(where, f'lacks the key "{key}"', _SHAPE)
    for key in sorted(value.keys() - allowed):
        raise InputError(where, f'has the unknown key "{key}"', f"known keys: {', '.join(sorted(allowed))}")


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    kinds = {dict: "object", list: "array", str: "string", int: "number", float: "number", type(None): "null"}
    return kinds[type(value)]


def instance_from_dict(data: Any, name: str) -> Instance:
    """Build an instance from parsed JSON; `name` (the file) begins every error message.

    Raises
    ------
    InputError
        Naming the file, the request index and the field.

    Examples
    --------
    >>> instance_from_dict({"memory": 4, "requests": [{"prompt": 1, "output": 2}]}, "x").peak
    3
    """
    _check_keys(name, data, {"memory", "requests"}, _INSTANCE_KEYS)
    model = PAPER
    try:
        if "memory_model" in data:
            _check_keys("memory_model", data["memory_model"], set(), {"lag", "block"})
            model = MemoryModel(**data["memory_model"])
        if not isinstance(data["requests"], list):
            raise InputError("requests", f"is a JSON {_kind(data['requests'])}, not an array", _SHAPE)
        if not data["requests"]:
            raise InputError("requests", "is an empty array", "give at least one request")
        requests = []
        for i, entry in enumerate(data["requests"]):
            _check_keys(f"requests[{i}]", entry, {"prompt", "output"}, _REQUEST_KEYS)
            try:
                requests.append(Request(**entry))
            except InputError as error:
                raise InputError(f"requests[{i}].{error.where}", error.fault, error.remedy) from None
        return Instance(data["memory"], requests, model)
    except InputError as error:
        raise InputError(f"{name}: {error.where}", error.fault, error.remedy) from None


def instance_to_dict(instance: Instance) -> dict[str, Any]:
    """The JSON form of an instance: plain dicts, lists and integers."""
    data: dict[str, Any] = {"memory": instance.memory}
    if instance.memory_model != PAPER:
        data["memory_model"] = {"lag": instance.memory_model.lag, "block": instance.memory_model.block}
    burst = instance.is_burst
    data["requests"] = [
        {"prompt": r.prompt, "output": r.output} | ({} if burst else {"arrival": r.arrival}) for r in instance.requests
    ]
    return data


def read_instance(path: str | os.PathLike[str]) -> Instance:
    """Read an instance file.

    Raises
    ------
    InputError
        If the file or anything in it is at fault.
    """
    name = os.fspath(path)
    return instance_from_dict(load_json(read_text(path), name), name)


def write_instance(path: str | os.PathLike[str], instance: Instance) -> None:
    """Write an instance file, whole or not at all."""
    write_text(path, json.dumps(instance_to_dict(instance)) + "\n")
