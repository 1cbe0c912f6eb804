"""The compiler of the kernels, typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile a kernel; numba keeps it on disk, so only the first run ever compiles."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))
