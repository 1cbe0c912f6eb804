"""The Rocq proofs of :mod:`theory`, built once, and files checked against them.

The proofs lie in ``theory/proofs``. Their products are taken from ``_build`` there if it holds a finished build of
these very sources; otherwise a copy is built in the user's cache folder (about a minute and a half, once).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import theory

PROOFS = Path(theory.__file__).parent / "proofs"
_TOOLS = ("coqc", "coqdep", "coqchk", "sh")
_CLOSED = "Closed under the global context"


class NotCheckedError(Exception):
    """Nothing was decided: a tool is missing or the time ran out. The message says which."""


class ProofError(Exception):
    """Rocq rejects the proofs or a file. The message is its complaint."""


def built_proofs(time_limit: float = 600.0, cache: Path | None = None) -> Path:
    """Folder with the compiled proofs, each accepted by ``coqc`` and re-checked by ``coqchk``.

    Parameters
    ----------
    time_limit : float
        Seconds that a build may take.
    cache : Path, optional
        Where to build if need be; by default ``geosched`` in ``$XDG_CACHE_HOME`` or ``~/.cache``.

    Raises
    ------
    NotCheckedError
        If Rocq is missing or the time is over.
    ProofError
        If the build fails.
    """
    if missing := [tool for tool in _TOOLS if shutil.which(tool) is None]:
        raise NotCheckedError(f"{', '.join(missing)} not found on the path: install Rocq (the package coq)")
    sources = sorted(PROOFS.glob("*.v"))
    if _is_build_of(PROOFS / "_build", sources):
        return PROOFS / "_build"
    root = cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "geosched"
    kept = root / f"rocq-{_digest(sources)}"
    if _is_build_of(kept / "_build", sources):
        return kept / "_build"
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix="building-") as scratch:
        folder = Path(scratch) / "proofs"
        folder.mkdir()
        for source in (*sources, PROOFS / "build.sh", PROOFS / "theorems.txt"):
            shutil.copy(source, folder)
        code, output = _run(["sh", "build.sh"], folder, time_limit)
        if code != 0:
            raise ProofError(_complaint(output))
        shutil.rmtree(kept, ignore_errors=True)
        try:
            folder.rename(kept)
        except OSError:  # another process was faster
            if not _is_build_of(kept / "_build", sources):
                raise
    return kept / "_build"


def closed_theorems(names: Sequence[str], built: Path, time_limit: float = 120.0) -> dict[str, str | None]:
    """Ask Rocq what theorems rest on.

    Parameters
    ----------
    names : sequence of str
        As ``File.theorem``.
    built : Path
        From :func:`built_proofs`.

    Returns
    -------
    dict
        For each name None if it is a theorem that rests on no axiom, else what Rocq says.

    Raises
    ------
    NotCheckedError
        If the time is over.
    """
    try:
        output = check_source(_listed(names), built, time_limit)
        if output.strip() == _CLOSED:
            return dict.fromkeys(names)
    except ProofError:
        pass  # one of them is to blame: ask for each
    found: dict[str, str | None] = {}
    for name in names:
        try:
            output = check_source(_listed([name]), built, time_limit).strip()
            found[name] = None if output == _CLOSED else _complaint(output)
        except ProofError as error:
            found[name] = str(error)
    return found


def check_source(source: str, built: Path, time_limit: float = 120.0) -> str:
    """Compile the text of a Rocq file against the proofs and return what Rocq prints.

    Raises
    ------
    ProofError
        If Rocq rejects it.
    NotCheckedError
        If the time is over.
    """
    with tempfile.TemporaryDirectory(prefix="geosched-") as scratch:
        folder = Path(scratch)
        (folder / "Checked.v").write_text(source, encoding="utf-8")
        code, output = _run(["coqc", "-q", "-R", str(built), "Burst", "Checked.v"], folder, time_limit)
    if code != 0:
        raise ProofError(_complaint(output))
    return output


def _listed(names: Sequence[str]) -> str:
    """A Rocq file that prints what these theorems rest on, taken together."""
    if bad := [name for name in names if not re.fullmatch(r"\w+\.\w+", name)]:
        raise ValueError(f"not of the form File.theorem: {bad}")
    files = " ".join(sorted({name.partition(".")[0] for name in names}))
    tuple_of = "".join(f"  @Burst.{name},\n" for name in names)
    return f"From Burst Require {files}.\nDefinition listed := (\n{tuple_of}  tt). Print Assumptions listed.\n"


def _is_build_of(folder: Path, sources: Sequence[Path]) -> bool:
    """Whether the folder holds a finished build of exactly these sources (the build script copies them there)."""
    if not (folder / "verified").is_file():
        return False
    copies = {file.name for file in folder.glob("*.v")} - {"listed.v"}
    return copies == {source.name for source in sources} and all(
        (folder / source.name).read_bytes() == source.read_bytes() and (folder / f"{source.stem}.vo").is_file()
        for source in sources
    )


def _digest(sources: Sequence[Path]) -> str:
    """Identify sources, build script and Rocq version."""
    version = subprocess.run(["coqc", "--version"], capture_output=True, check=False).stdout
    found = hashlib.sha256(version)
    for source in (*sources, PROOFS / "build.sh"):
        found.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def _run(command: Sequence[str], folder: Path, seconds: float) -> tuple[int, str]:
    """Run a command; when the time is over end it with all that it started."""
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=max(seconds, 0.0))
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise NotCheckedError(f"the time limit of {seconds:.0f} s is over") from None
            raise
    return process.returncode, output


def _complaint(output: str) -> str:
    """The last complaint of a tool, in one line: where, and the end of what."""
    text = " ".join(output.split())
    text = text[max(text.rfind('File "'), 0) :]
    return (text if len(text) <= 400 else f"{text[:80]} ... {text[-300:]}") or "no message"
