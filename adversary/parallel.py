"""Chunks of work on one or many processes or machines, results in order."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from theory.errors import InputError

T = TypeVar("T")
R = TypeVar("R")

#: Back ends of joblib, with the module that registers each.
BACKENDS = {"loky": None, "ray": "ray.util.joblib", "dask": "dask.distributed"}


def run_chunks(work: Callable[[T], R], chunks: Sequence[T], jobs: int, backend: str = "loky") -> Iterable[R]:
    """Apply `work` to every chunk and return the results in the order of the chunks.

    Parameters
    ----------
    work : callable
        A function of a module, so that it can be sent to another process.
    chunks : sequence
    jobs : int
        Number of workers; 1 stays in this process.
    backend : {"loky", "ray", "dask"}
        Where the workers are: processes of this machine, or a Ray or Dask cluster.

    Raises
    ------
    InputError
        If the number of workers is below 1, or the back end is unknown or not installed.
    """
    if jobs < 1:
        raise InputError("--jobs", f"is {jobs}", "give 1 or more workers")
    if backend not in BACKENDS:
        raise InputError("--backend", f"is {backend!r}", f"give one of {', '.join(BACKENDS)}")
    if backend == "loky" and jobs == 1:
        return map(work, chunks)
    _register(backend)
    joblib = _import("joblib", backend)
    with joblib.parallel_config(backend=backend, n_jobs=jobs):
        return list(joblib.Parallel()(joblib.delayed(work)(chunk) for chunk in chunks))


def _register(backend: str) -> None:
    """Tell joblib of a back end that is not its own."""
    if backend == "ray":
        _import("ray.util.joblib", backend).register_ray()
    elif backend == "dask":
        _import("dask.distributed", backend).Client.current(allow_global=True)


def _import(module: str, backend: str):  # type: ignore[no-untyped-def]
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.split(".")[0]
        raise InputError(
            "--backend", f"{backend} needs the package {package}, which is not installed", f"pip install {package}"
        ) from None
