"""Instance files: what is written is read back, and each fault is told in one line with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.errors import InputError
from theory.instance_json import instance_from_dict, instance_to_dict, load_json, read_instance, write_instance
from theory.model import Instance, MemoryModel, Request

requests = st.lists(st.builds(Request, st.integers(0, 9), st.integers(1, 9), st.integers(0, 5)), min_size=1)
models = st.builds(MemoryModel, st.sampled_from([0, 1]), st.integers(1, 4))


@given(requests, models)
def test_what_is_written_is_read_back(rs: list[Request], model: MemoryModel) -> None:
    inst = Instance(40, rs, model)
    assert instance_from_dict(load_json(json.dumps(instance_to_dict(inst)), "x"), "x") == inst


GOOD = '{"memory": 9, "requests": [{"prompt": 1, "output": 2}, {"prompt": 1, "output": 2, "arrival": 3}]}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("  \r\n", "is empty"),
        ("[]", "array, not an object"),
        ("7", "number, not an object"),
        (GOOD[:40], "line 1 column"),
        (GOOD.replace('"memory": 9', '"memory": 0'), "memory: is 0"),
        (GOOD.replace('"memory": 9', '"memory": 2'), r"requests\[0\]: holds 3 tokens"),
        (GOOD.replace('"memory": 9', '"memory": 9, "memory": 8'), 'key "memory": appears twice'),
        (GOOD.replace('"memory": 9', '"memory": 1e400'), "memory: is inf"),
        (GOOD.replace('"memory": 9', '"memory": null'), "memory: is None"),
        (GOOD.replace('"memory": 9', '"memory": ' + "9" * 5000), "thousands of digits"),
        (GOOD.replace('"memory": 9', '"mem": 9'), 'lacks the key "memory"'),
        (GOOD.replace('"output": 2}', '"output": 0}', 1), r"requests\[0\].output: is 0"),
        (GOOD.replace('"output": 2}', '"output": 2.5}', 1), r"requests\[0\].output: is 2.5, not an integer"),
        (GOOD.replace('"output": 2}', '"output": NaN}', 1), "NaN"),
        (GOOD.replace('"output": 2}', '"output": "2"}', 1), r"requests\[0\].output: is '2'"),
        (GOOD.replace('"output": 2}', '"output": true}', 1), r"requests\[0\].output: is True"),
        (GOOD.replace('"arrival": 3', '"arrival": -3'), r"requests\[1\].arrival: is -3"),
        (GOOD.replace('"arrival": 3', '"arival": 3'), 'unknown key "arival"'),
        (GOOD.replace('"prompt": 1', '"prompt": -1', 1), r"requests\[0\].prompt: is -1"),
        (GOOD.replace('{"prompt": 1, "output": 2}', "5", 1), r"requests\[0\]: is a JSON number"),
        ('{"memory": 9, "requests": []}', "empty array"),
        ('{"memory": 9, "requests": {}}', "object, not an array"),
        ("[" * 100000, "nested too deeply"),
        (GOOD[:-1] + ', "memory_model": {"lag": 2}}', "memory_model.lag"),
        (GOOD[:-1] + ', "memory_model": {"size": 2}}', "unknown key"),
    ],
)
def test_each_fault_is_one_line_that_names_file_and_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_instance(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_crlf_and_a_byte_order_mark_are_harmless(tmp_path: Path) -> None:
    path = tmp_path / "windows.json"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace(",", ",\r\n").encode())
    assert len(read_instance(path)) == 2


def test_unreadable_compressed_and_binary_files_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_instance(tmp_path / "missing.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_instance(tmp_path)
    for data, word in ((b"\x1f\x8b\x08\x00", "gzip"), (b"\xff\xfe{\x00", "not UTF-8")):
        (tmp_path / "x").write_bytes(data)
        with pytest.raises(InputError, match=word):
            read_instance(tmp_path / "x")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    inst = Instance(4, [Request(1, 2)])
    write_instance(tmp_path / "a.json", inst)
    assert read_instance(tmp_path / "a.json") == inst
    with pytest.raises(InputError, match="cannot be written"):
        write_instance(tmp_path / "no" / "a.json", inst)
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
