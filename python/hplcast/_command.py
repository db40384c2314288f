"""The program `hplcast` from Python: its answers are frames."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import warnings
from typing import Any, Iterable, Union

import pandas

from ._files import Path, frame_of_text, read

Value = Union[str, int, float, bool, "os.PathLike[str]", Iterable[Union[str, int, float]]]

HPL_PARAMETERS = ("N", "NB", "P", "Q", "PMAP", "PFACT", "NBMIN", "NDIV", "RFACT", "BCAST", "DEPTH", "SWAP",
                  "swap_threshold", "L1", "U", "EQUIL", "ALIGN")

# Options with the values on and off, or off alone: False is off, where that of others leaves them out.
SWITCHES = ("noise", "network_noise", "detours", "growing_probes", "per_cpu", "interval", "windows")


class CommandError(RuntimeError):
    """The program ended with an error: `message` is what it said, `status` its exit code."""

    def __init__(self, arguments: list[str], status: int, message: str):
        super().__init__(message.strip() or f"hplcast {' '.join(arguments)} ended with {status}")
        self.status = status
        self.message = message


def command() -> str:
    """The program: the variable HPLCAST, else `hplcast` in PATH."""
    found = os.environ.get("HPLCAST") or shutil.which("hplcast")
    if not found:
        raise FileNotFoundError("hplcast is not in PATH; install it, or name it in the variable HPLCAST")
    return found


def _plain(value: Any) -> Any:
    """A number of numpy as Python's."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _words(options: dict[str, Value]) -> list[str]:
    """`NB=128` is --nb 128, `P=2` -P 2, `memory_fraction=0.8` --memory-fraction 0.8, `energy=True` --energy,
    `noise=False` --noise off."""
    words: list[str] = []
    for name, value in options.items():
        value = _plain(value)
        if name in SWITCHES and isinstance(value, bool):
            value = "on" if value else "off"
        if name in HPL_PARAMETERS:
            option = "-" + name if len(name) == 1 and name != "U" else "--" + name.lower().replace("_", "-")
        else:
            option = "--" + name.replace("_", "-")
        if value is False or value is None:
            continue
        words.append(option)
        if value is True:
            continue
        several = isinstance(value, Iterable) and not isinstance(value, (str, os.PathLike))
        words.append(",".join(str(one) for one in value) if several else os.fspath(value)
                     if isinstance(value, os.PathLike) else str(value))
    return words


def _run(arguments: list[str], stdin: str | None = None) -> str:
    done = subprocess.run([command(), *arguments], input=stdin, capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise CommandError(arguments, done.returncode, done.stderr)
    for line in done.stderr.splitlines():
        if "warning: " in line:
            warnings.warn(line.split("warning: ", 1)[1], stacklevel=3)
    return done.stdout


def predict(cluster: Path | dict[str, Any], *, N: int | Iterable[int], **options: Value) -> pandas.DataFrame:
    """A row per configuration and seed (`hplcast predict`): HPL's parameters, time_s, gflops, the interval.

    `cluster`: path of a cluster.json, or its content. HPL's parameters have HPL's names; each may be several values, of
    which all combinations are predicted. Other options are those of the command: `seed=[1, 2]`, `energy=True`,
    `windows="off"`.
    """
    for name in options:
        if name not in HPL_PARAMETERS and name.upper() in HPL_PARAMETERS:
            raise TypeError(f"parameters have HPL's names: {name.upper()}, not {name}")
    plain = {name: _plain(value) for name, value in {"N": N, **options}.items() if name in HPL_PARAMETERS}
    grid = {name: list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
            for name, value in plain.items()}
    others = {name: value for name, value in options.items() if name not in HPL_PARAMETERS}
    rows = [""]
    for values in grid.values():
        rows = [f"{row}{',' if row else ''}{value}" for row in rows for value in values]
    with tempfile.TemporaryDirectory(prefix="hplcast-python-") as folder:
        where = os.path.join(folder, "cluster.json")
        if isinstance(cluster, dict):
            with open(where, "w", encoding="utf-8") as file:
                json.dump(cluster, file)
        else:
            where = os.fspath(cluster)
        configurations = os.path.join(folder, "configurations.csv")
        with open(configurations, "w", encoding="utf-8") as file:
            file.write("\n".join([",".join(grid), *rows]) + "\n")
        return frame_of_text(_run(["predict", where, configurations, "--json", *_words(others)]), "hplcast predict")


def sweep(plan: Path, database: Path, **options: Value) -> pandas.DataFrame:
    """Runs a plan (`hplcast sweep`), what its database does not have yet, and reads the database: a row per point."""
    _run(["sweep", os.fspath(plan), "--database", os.fspath(database), *_words(options)])
    return read(database)


def quick(**numbers: Value) -> pandas.Series:
    """N, P x Q and Gflop/s of a machine of a few numbers (`hplcast quick`): `nodes=32, cores=32, gflops_per_core=30,
    bandwidth="100Gb/s", latency="1us", memory="192GiB"`."""
    answer = json.loads(_run(["quick", "--json", *_words(numbers)]))
    row = {**answer["parameters"], **{key: value for key, value in answer.items() if isinstance(value, (int, float))}}
    row["low_gflops"], row["high_gflops"] = answer["gflops_interval"]
    return pandas.Series(row)


def offer(offers: Path, **options: Value) -> pandas.DataFrame:
    """A row per offer (`hplcast offer`), the best first; the verdict is `frame.attrs["verdict"]`."""
    return frame_of_text(_run(["offer", os.fspath(offers), "--json", *_words(options)]), "hplcast offer")
