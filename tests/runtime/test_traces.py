"""Trace readers: every format read right, every fault told with its place, the fast readers equal to the slow."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime import trace_csv, trace_json
from runtime.traces import FORMATS, Trace, read_trace
from theory.errors import InputError
from theory.model import MAX_TOKENS

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
BURSTGPT = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
VIDUR = "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n"
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def writer(text: str) -> Path:
        path = tmp_path / "trace"
        path.write_bytes(text.encode())
        return path

    return writer


def rows(trace: Trace) -> list[tuple[int, int]]:
    return list(zip(trace.prompt.tolist(), trace.output.tolist(), strict=True))


def arrivals(trace: Trace) -> list[int]:
    assert trace.arrival is not None
    return list(map(int, trace.arrival))


def message(path: Path, format: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        read_trace(path, format)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(str(path), "FILE")


VLLM: dict[str, Any] = {
    "completed": 2,
    "total_input_tokens": 30,
    "input_lens": [10, 20, 7],
    "output_lens": [3, 1, 0],
    "start_times": [100.5, 100.0, 101.0],
    "ttfts": [0.5, 0.25, 0.0],
    "itls": [[0.125, 0.25], [], []],
    "errors": ["", "", "timed out"],
}

GOOD = {
    "azure": (
        AZURE + "2023-11-16 18:17:04.0000001,5,2\n2023-11-16 18:17:03.9,7,0\n",
        [(5, 2), (7, 0)],
        [100_000_100, 0],
    ),
    "burstgpt": (
        BURSTGPT + "5,ChatGPT,472,18,490,Conversation log\n45.5,GPT-4,8,3,11,API log\n",
        [(472, 18), (8, 3)],
        [0, 40_500_000_000],
    ),
    "vidur": (VIDUR + "3772,54,3826,69.85\n", [(3772, 54)], None),
    "mooncake": (
        '{"timestamp": 27, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}\n'
        '{"timestamp": 30.5, "input_length": 1, "output_length": 2, "hash_ids": []}\n',
        [(6758, 500), (1, 2)],
        [0, 3_500_000],
    ),
    "sharegpt": (
        '[{"id": "x", "prompt_len": 4, "output_len": 9},\n {"id": "y", "prompt_len": 5, "output_len": 1}]',
        [(4, 9), (5, 1)],
        None,
    ),
    "geosched": (
        '{"prompt": 4, "output": 9, "arrival": 3}\n{"output": 1, "prompt": 0, "arrival": 2}\n',
        [(4, 9), (0, 1)],
        [3, 2],
    ),
    "vllm": (json.dumps(VLLM), [(10, 3), (20, 1), (7, 0)], [500_000_000, 0, 1_000_000_000]),
    "instance": (
        '{"memory": 9,\n "requests": [{"prompt": 1, "output": 2}, {"prompt": 0, "output": 1, "arrival": 4}]}',
        [(1, 2), (0, 1)],
        [0, 4],
    ),
}


def test_every_format_has_an_example_here() -> None:
    assert set(GOOD) == set(FORMATS)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "dress", [str, lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n"), str.rstrip]
)
def test_a_good_file_is_recognised_and_read_with_any_line_ends(
    format: str, dress: Callable[[str], str], write: Write
) -> None:
    text, lengths, times = GOOD[format]
    for given_format in (None, format):
        trace = read_trace(write(dress(text)), given_format)
        assert trace.format == format
        assert rows(trace) == lengths
        assert trace.arrival is None if times is None else arrivals(trace) == times
        assert trace.prompt.dtype == trace.output.dtype == np.int64


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_file_and_a_missing_file_and_a_folder_are_refused(format: str, write: Write, tmp_path: Path) -> None:
    assert "is empty" in message(write(" \n"), format)
    assert "cannot be read" in message(tmp_path / "missing", format)
    assert "cannot be read" in message(tmp_path, format)


def test_compressed_and_binary_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    path.write_bytes(gzip.compress(GOOD["azure"][0].encode()))
    assert "gzip" in message(path)
    path.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in message(path)


@pytest.mark.parametrize("header", [AZURE, BURSTGPT, VIDUR])
def test_a_header_without_rows_is_refused(header: str, write: Write) -> None:
    assert message(write(header)) == "FILE: has a header and no rows; give at least one row"
    assert "no rows" in message(write(header.rstrip()))


def test_an_unknown_header_names_what_is_known(write: Write) -> None:
    assert "line 1: is 'a,b', a header of no known format; give a CSV with the columns of azure" in message(
        write("a,b\n1,2\n")
    )
    assert "no known format (foo)" in message(write('{"foo": 1}\n'))
    assert "not JSON" in message(write("a,b\n1,2\n"), "mooncake")
    assert "is JSON, not CSV" in message(write('{"foo": 1}\n'), "azure")
    assert 'lacks the column "ContextTokens"' in message(write("a,b\n1,2\n"), "azure")
    assert "choose one of azure" in message(write("a"), "parquet")
    for format in ("mooncake", "sharegpt", "geosched"):
        assert f"is not a row of the format {format}; rows have the keys" in message(write('{"foo": 1}\n'), format)
    assert "--save-detailed" in message(write('{"foo": 1}'), "vllm")


CSV_FAULTS = [
    ("", "is missing"),
    ("-5", "is -5; give 0 or more"),
    ("3.5", "is '3.5', not a whole number"),
    ("nan", "is 'nan', not a whole number"),
    ("1_0", "is '1_0', not a whole number"),
    ("\u0663", "not a whole number"),
    ("1e3", "is '1e3', not a whole number"),
    (str(MAX_TOKENS + 1), "is larger than"),
    ("9" * 40, "not a whole number"),
]


@pytest.mark.parametrize(("bad", "fault"), CSV_FAULTS)
@pytest.mark.parametrize("column", [1, 2])
def test_a_bad_length_in_a_csv_is_told_with_line_and_column(bad: str, fault: str, column: int, write: Write) -> None:
    cells = ["2023-11-16 18:17:04", "5", "2"]
    cells[column] = bad
    good = "2023-11-16 18:17:03,5,2\n"
    said = message(write(AZURE + good + "\n" + good + ",".join(cells) + "\n" + good))
    assert said.startswith(f"FILE: line 5, column {AZURE.strip().split(',')[column]}: ")
    assert fault in said


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "now",
        "NaT",
        "2023-11-16",
        "2023-13-16 18:17:03",
        "2023-11-16 18:17:03+02:00",
        "1969-11-16 18:17:03",
        "2300-11-16 18:17:03",
        "2023-11-16 24:17:03.5",
        "12",
    ],
)
def test_a_bad_date_is_told_with_line_and_column(bad: str, write: Write) -> None:
    said = message(write(f"{AZURE}2023-11-16 18:17:03,5,2\n{bad},5,2\n"))
    assert said.startswith("FILE: line 3, column TIMESTAMP: is ")


@pytest.mark.parametrize("bad", ["", "-1", "nan", "inf", "x", "1e30", "1e999999"])
def test_bad_seconds_are_told_with_line_and_column(bad: str, write: Write) -> None:
    said = message(write(f"{BURSTGPT}5,a,1,1,2,b\n{bad},a,1,1,2,b\n"))
    assert said.startswith("FILE: line 3, column Timestamp: is ")


def test_ragged_rows_are_told_even_when_the_cells_add_up(write: Write) -> None:
    assert message(write(VIDUR + "1,2,3,4\n1,2,3\n5,6,7,8,9\n")).startswith("FILE: line 3: has 3 columns; give the 4")
    assert message(write(VIDUR + "1\n2,3,4\n")).startswith("FILE: line 2: has 1 columns; give the 4")
    assert "line 2: is not valid CSV" in message(write(VIDUR + '1,2,3,"4\n'))
    assert "names a column twice" in message(write(VIDUR.strip() + ",pd_ratio\n1,2,3,4,5\n"))


@pytest.mark.parametrize("second", ["1", "2"])
def test_a_key_twice_in_one_row_is_told_with_its_line(second: str, write: Write) -> None:
    row = '{"prompt": 1, "output": 1'
    rows = row + "}\n" + row + f', "output": {second}}}\n'
    assert message(write(rows)).startswith('FILE: line 2, key "output": appears twice')
    assert 'key "output": appears twice' in message(write("[" + rows.strip().replace("\n", ",") + "]"))


JSON_FAULTS: list[tuple[Any, str]] = [
    (None, "is missing"),
    (-5, "is -5; give 0 or more"),
    (3.5, "is 3.5, not a whole number"),
    (3.0, "is 3.0, not a whole number"),
    ("3", "not a whole number"),
    (True, "is True, not a whole number"),
    (float("nan"), "is nan, not a whole number"),
    (MAX_TOKENS + 1, "is larger than"),
    (10**400, "is larger than"),
    ([1], "not a whole number"),
]


@pytest.mark.parametrize(("bad", "fault"), JSON_FAULTS)
@pytest.mark.parametrize("key", ["input_length", "output_length"])
def test_a_bad_length_in_json_lines_is_told_with_line_and_key(bad: Any, fault: str, key: str, write: Write) -> None:
    good = {"timestamp": 0, "input_length": 1, "output_length": 2}
    text = "\n".join(map(json.dumps, [good, good, good | {key: bad}, good]))
    said = message(write(text))
    assert said.startswith(f"FILE: line 3, {key}: ")
    assert fault in said
    said = message(write(text.replace("\n", "\n\n")))
    assert said.startswith(f"FILE: line 5, {key}: ")


@pytest.mark.parametrize("bad", [None, -1, float("nan"), float("inf"), "1", True, [], 1e300, 10**30])
def test_a_bad_time_in_json_lines_is_told_with_line_and_key(bad: Any, write: Write) -> None:
    good = {"prompt": 1, "output": 2, "arrival_seconds": 0}
    said = message(write("\n".join(map(json.dumps, [good, good | {"arrival_seconds": bad}]))))
    assert said.startswith("FILE: line 2, arrival_seconds: is ")
    said = message(
        write(
            "\n".join(
                map(
                    json.dumps,
                    [{"prompt": 1, "output": 2, "arrival": 0}, {"prompt": 1, "output": 2, "arrival": bad}],
                )
            )
        )
    )
    assert said.startswith("FILE: line 2, arrival: is ")


def test_a_broken_line_is_told_with_line_and_column(write: Write) -> None:
    good = '{"prompt": 1, "output": 2}\n'
    assert message(write(good * 2 + '{"prompt": 1, "out')).startswith("FILE: line 3 column 15: is not valid JSON")
    assert "line 1 column" in message(write('{"prompt": 1, "out'))
    assert "line 2: is not a JSON object" in message(write(good + "7\n"))
    assert "[1]" in message(write('[{"prompt": 1, "output": 2}, 7]'))
    assert message(write("[]")).startswith("FILE: has rows of no known format")


def test_keys_of_our_own_format_are_not_read_past(write: Write) -> None:
    assert "no known format" in message(write('{"prompt": 1, "output": 2, "arival": 3}\n'))
    said = message(write('{"prompt": 1, "output": 2}\n{"prompt": 1, "output": 2, "arrival": 3}\n'))
    assert said.startswith('FILE: line 2: has the key "arrival", which the first row does not have')
    assert "start or a finish and no arrival" in message(write('{"prompt": 1, "output": 2, "finish": 3}\n'))


def test_conversations_without_token_counts_are_refused_with_the_remedy(write: Write) -> None:
    text = '[{"id": "a", "conversations": [{"from": "human", "value": "hello"}]}]'
    assert "add prompt_len and output_len" in message(write(text))
    assert "add prompt_len and output_len" in message(write(text), "sharegpt")


def test_times_of_a_log_are_read_and_must_be_in_order(write: Write) -> None:
    row = {"prompt": 1, "output": 2, "arrival_seconds": 7, "start_seconds": 7.5, "finish_seconds": 8}
    trace = read_trace(write(json.dumps(row)))
    assert trace.unit == "ns"
    assert trace.start is not None and trace.finish is not None
    assert (int(trace.start[0]), int(trace.finish[0])) == (500_000_000, 1_000_000_000)
    steps = {"prompt": 1, "output": 2, "arrival": 7, "start": 8, "finish": 9}
    trace = read_trace(write(json.dumps(steps)))
    assert trace.unit == "steps"
    assert trace.start is not None
    assert (arrivals(trace), int(trace.start[0])) == ([7], 8)
    for fault in ({"start": 6}, {"finish": 7}):
        assert message(write(json.dumps(steps) + "\n" + json.dumps(steps | fault))).startswith("FILE: row 2, ")


def test_a_result_of_vllm_bench_serve_gives_lengths_times_and_failures(write: Write) -> None:
    trace = read_trace(write(json.dumps(VLLM)))
    assert trace.dropped == {"request failed": 1}
    assert trace.first_token is not None and trace.finish is not None
    assert list(map(int, trace.first_token)) == [1_000_000_000, 250_000_000, 1_000_000_000]
    assert list(map(int, trace.finish)) == [1_375_000_000, 250_000_000, 1_000_000_000]
    without = {key: value for key, value in VLLM.items() if key != "start_times"}
    assert read_trace(write(json.dumps(without))).arrival is None
    brief = {"completed": 3, "total_input_tokens": 30, "mean_ttft_ms": 4.5}
    assert "--save-detailed" in message(write(json.dumps(brief)))
    for key, bad in {
        "output_lens": [1],
        "itls": 7,
        "ttfts": ["0", 0, 0],
        "start_times": [-1, 0, 0],
        "input_lens": [1.5, 1, 1],
    }.items():
        assert message(write(json.dumps(VLLM | {key: bad}))).startswith(f"FILE: {key}")
    assert message(write(json.dumps(VLLM | {"itls": [[0.1, -1.0], [], []]}))).startswith("FILE: itls[0][1]: is -1.0")


LENGTHS = st.integers(0, MAX_TOKENS)


@given(st.lists(st.tuples(LENGTHS, LENGTHS, st.integers(0, 10**15)), min_size=1, max_size=20))
def test_the_fast_and_the_slow_csv_reader_agree(table: list[tuple[int, int, int]]) -> None:
    body = ""
    for prompt, output, ns in table:
        date = str(np.datetime64("2023-11-16T18:17:03", "ns") + np.timedelta64(ns, "ns")).replace("T", " ")
        body += f"{date[: 19 + ns % 11]},{prompt},{output}\n".replace(".,", ",")
    fast = trace_csv._fast_columns(AZURE + body, 3, [1, 2, 0], "date")
    assert fast is not None
    slow = trace_csv._slow_columns("x", AZURE + body, AZURE.strip().split(","), [1, 2, 0], "date")
    assert [column.tolist() for column in fast] == [column.tolist() for column in slow]
    assert list(zip(*(column.tolist() for column in fast[:2]), strict=True)) == [row[:2] for row in table]


@given(st.lists(st.tuples(LENGTHS, LENGTHS, st.integers(0, 10**9) | st.floats(0, 1e9)), min_size=1, max_size=20))
def test_the_fast_and_the_slow_json_reader_agree(table: list[tuple[int, int, float]]) -> None:
    text = "\n".join(json.dumps({"prompt": s, "output": o, "arrival_seconds": a}) for s, o, a in table)
    keys = trace_json.row_keys({"prompt": 0, "output": 0, "arrival_seconds": 0}, "geosched")
    assert keys is not None
    fast = trace_json._fast_rows(text, keys, lines=True)
    assert fast is not None
    slow = trace_json._slow_rows("x", text, keys, lines=True)
    assert [column.tolist() for column in fast] == [column.tolist() for column in slow]


@given(
    lines=st.lists(st.text('0123456789,-. \n\r"eE+:TZ{}[]\0', max_size=30), max_size=6),
    header=st.sampled_from([AZURE, BURSTGPT, VIDUR, "", "["]),
)
def test_no_text_makes_a_reader_fail_otherwise_than_by_an_input_error(
    lines: list[str], header: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_text(header + "\n".join(lines), newline="")
    try:
        trace = read_trace(path)
    except InputError:
        return
    assert len(trace) >= 1
    assert int(trace.prompt.min()) >= 0 and int(trace.output.min()) >= 0


@pytest.mark.bounds
@pytest.mark.traces
@pytest.mark.parametrize(
    ("file", "format", "count", "first"),
    [
        ("azure_2023_conv.csv", "azure", 19366, (374, 44)),
        ("azure_2023_code.csv", "azure", 8819, (4808, 10)),
        ("arxiv_summarization_lengths.csv", "vidur", 28257, (3772, 54)),
        ("mooncake_conversation.jsonl", "mooncake", 12031, (6758, 500)),
        ("mooncake_synthetic.jsonl", "mooncake", 3993, (40160, 6)),
    ],
)
def test_the_public_traces_are_read_whole(
    file: str, format: str, count: int, first: tuple[int, int], traces: Path
) -> None:
    trace = read_trace(traces / file)
    assert (trace.format, len(trace), rows(trace)[0]) == (format, count, first)
    assert (trace.arrival is None) == (format == "vidur")
