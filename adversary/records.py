"""Records: the worst witness known of every regime, as certificate files that only ever get worse for the policy.

A record is a certificate of kind ``witness`` (``geosched check`` accepts it as it is). Its remarks tell how it was
found, and hold genome and regime for whoever wants to search on.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from adversary.genome import Genome
from adversary.regime import Regime, regime_from_dict
from adversary.witness import Witness
from lp_bounds.certificate import read_certificate, write_certificate
from theory.errors import InputError

#: The project's own records.
FOLDER = Path(__file__).resolve().parent / "records"


def record_path(folder: Path, regime: Regime) -> Path:
    """Where the record of a regime is kept."""
    return folder / f"{regime.slug}.json"


def record_ratio(path: Path) -> Fraction:
    """Ratio of a record; 0 if there is none."""
    return Fraction(*read_certificate(path)["ratio"]) if path.exists() else Fraction(0)


def read_record(path: Path) -> tuple[Regime, Genome, Fraction]:
    """Regime, genome and ratio of a record.

    Raises
    ------
    InputError
        If the file is not a record.
    """
    certificate = read_certificate(path)
    try:
        remarks = certificate["hypotheses"]
        memory, groups, rounds = json.loads(remarks["genome"])
        genome = Genome(memory, tuple((s, o, c) for s, o, c in groups), rounds)
        return regime_from_dict(json.loads(remarks["regime"])), genome, Fraction(*certificate["ratio"])
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(str(path), f"is not a record ({error})", "give a file that an attack wrote") from None


def keep(folder: Path, witness: Witness, found: str) -> tuple[Path, bool]:
    """Write a witness as the record of its regime unless the record there is as bad; say whether it was written.

    Parameters
    ----------
    folder : Path
        Made if missing.
    witness : Witness
    found : str
        How it was found.

    Raises
    ------
    InputError
        If the folder cannot be made or the file not written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(folder), f"cannot be made ({error.strerror})", "give a writable folder") from None
    path = record_path(folder, witness.regime)
    if record_ratio(path) >= witness.ratio:
        return path, False
    remarks = {
        "instance": str(witness.genome),
        "found": found,
        "genome": json.dumps(witness.genome),
        "regime": json.dumps(witness.regime.to_dict()),
    }
    write_certificate(path, witness.certificate(remarks))
    return path, True
