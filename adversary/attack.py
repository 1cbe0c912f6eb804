"""One attack from start to finish: search, simplify, certify, keep; what ``geosched attack`` calls."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from adversary.evaluate import Evaluator
from adversary.genome import Genome
from adversary.records import keep, read_record, record_path
from adversary.regime import Regime
from adversary.search import Archive, search
from adversary.simplify import simplified
from adversary.witness import Witness, make_witness
from theory.errors import InputError
from theory.instance_json import load_json, read_text, write_text


@dataclass(frozen=True, slots=True)
class AttackResult:
    """The worst witness of an attack, where it is, and whether it is the worst known there."""

    witness: Witness
    certificate: Path
    is_record: bool
    seed: int
    rounds: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The result as the command line prints it with ``--json``."""
        witness, bound = self.witness, self.witness.bound
        return {
            "policy": witness.regime.policy,
            "admission": witness.regime.admission,
            "fit": witness.regime.fit,
            "alpha": [*witness.regime.alpha.as_integer_ratio()],
            "instance": str(witness.genome),
            "requests": witness.genome.size,
            "latency": witness.latency,
            "upper_bound": witness.best,
            "status": "optimal" if witness.optimal else "bounded",
            "ratio": [*witness.ratio.as_integer_ratio()],
            "proved": None if bound is None else {"theorem": bound[0], "bound": [*bound[1].as_integer_ratio()]},
            "certificate": str(self.certificate),
            "record": self.is_record,
            "checkable": witness.regime.certifiable,
            "seed": self.seed,
            "rounds": self.rounds,
            "seconds": round(self.seconds, 1),
        }


def attack(
    regime: Regime,
    *,
    seed: int,
    seconds: float | None = 60.0,
    rounds: int | None = None,
    jobs: int = 1,
    backend: str = "loky",
    out: Path = Path("."),
    resume: bool = False,
    report: Callable[[str], None] | None = None,
) -> AttackResult:
    """Find an instance on which the policy is bad, and keep it as a certificate in the folder `out`.

    The state of the search is saved in ``out/search`` after every round: a run that is killed loses the round in
    progress (some seconds), and with `resume` ends where an undisturbed run would have ended. The certificate is
    replaced only by a worse instance of the same regime.

    Parameters
    ----------
    regime : Regime
    seed : int
    seconds, rounds
        Budget, at least one; no new round starts after `seconds`.
    jobs, backend
        See :func:`adversary.parallel.run_chunks`.
    out : Path
        Folder of certificate and state.
    resume : bool
        Go on from the state and the record in `out`; without it the search starts from nothing.
    report : callable, optional
        Gets a line of progress per round.

    Raises
    ------
    InputError
        If an option or the saved state is at fault, or nothing is found at all.
    """
    begin = time.monotonic()
    state = out / "search" / f"{regime.slug}-seed-{seed}.json"
    archive, done = _restore(state, regime) if resume and state.exists() else (Archive(), 0)
    start = []
    if resume and record_path(out, regime).exists():
        start.append(read_record(record_path(out, regime))[1])

    def checkpoint(number: int, current: Archive) -> None:
        nonlocal done
        done = number
        _save(state, number, current)
        best = current.best()
        if report is not None and best is not None:
            report(f"round {number}: ratio {float(best[0]):.4f}, {best[1]}")

    found = search(
        regime, seed, seconds=seconds, rounds=rounds, jobs=jobs, backend=backend, start=start, archive=archive,
        first_round=done, report=checkpoint,
    ).best()  # fmt: skip
    if found is None:
        raise InputError("attack", "found no instance with a ratio above 1", "give more seconds or a wider regime")
    witness = make_witness(regime, simplified(found[1], Evaluator(regime)))
    elapsed = time.monotonic() - begin
    how = f"search with seed {seed}, {done} rounds, {elapsed:.0f} s; simplified from {found[1]}"
    path, is_record = keep(out, witness, how)
    return AttackResult(witness, path, is_record, seed, done, elapsed)


def _save(path: Path, rounds: int, archive: Archive) -> None:
    """Write the state of a search."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(path.parent), f"cannot be made ({error.strerror})", "give a writable --out") from None
    cells = [[*ratio.as_integer_ratio(), *genome] for ratio, genome in archive.ranked()]
    write_text(path, json.dumps({"rounds": rounds, "archive": cells}) + "\n")


def _restore(path: Path, regime: Regime) -> tuple[Archive, int]:
    """Read the state of a search."""
    data, archive = load_json(read_text(path), str(path)), Archive()
    try:
        for num, den, memory, groups, rounds in data["archive"]:
            archive.add(Genome(memory, tuple((s, o, c) for s, o, c in groups), rounds), Fraction(num, den))
        return archive, int(data["rounds"])
    except (KeyError, TypeError, ValueError):
        raise InputError(str(path), "is not the state of a search", f"remove it ({regime.slug})") from None
