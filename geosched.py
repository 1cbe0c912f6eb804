"""geosched: certified competitive ratios for KV-cache scheduling policies. The front door."""

from __future__ import annotations

from theory.errors import InputError
from theory.instance_json import read_instance, write_instance
from theory.model import PAPER, Instance, MemoryModel, Request, Schedule, vllm_memory

__all__ = [
    "PAPER",
    "InputError",
    "Instance",
    "MemoryModel",
    "Request",
    "Schedule",
    "read_instance",
    "vllm_memory",
    "write_instance",
]
