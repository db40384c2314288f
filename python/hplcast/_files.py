"""Files of hplcast as frames: one row per prediction, configuration, call or observation."""
from __future__ import annotations

import csv
import json
import os
import pathlib
import re
import sqlite3
from typing import Any, Iterator, Union

import pandas

Path = Union[str, "os.PathLike[str]"]

# PRAGMA application_id and user_version of the databases (docs/formats).
SWEEP, SWEEP_VERSIONS = 0x68706C63, (1,)
HISTORY, HISTORY_VERSIONS = 0x68706C68, (1, 2)
PREDICTION_VERSION = 1

# Columns that are texts in any CSV of hplcast; all others are numbers, or empty.
TEXTS = {"kernel", "host", "node", "cpu", "core", "content", "error", "operation", "scope", "peer", "background", "source",
         "residual", "start", "power_sensors", "blas", "control_shape", "shape", "kind", "work", "date", "cluster",
         "model_sha256", "file", "mode", "cluster_name", "time", "sensor", "factor", "unit", "quantity"}
# A column that tells what a CSV is, and its name; the first that is there counts.
KINDS = [("real_gflops", "ledger"), ("error_95_s", "sweep"), ("operation", "messages"), ("m", "kernels"),
         ("round_trip_s", "control"), ("unit_s", "detours"), ("sensor", "sensors"), ("column", "progress"),
         ("ranks_per_host", "energy of runs"), ("power_w", "power"), ("repetition", "real runs"),
         ("gflops", "real runs"), ("time_s", "real runs"), ("size_bytes", "messages"), ("duration_s", "kernels"),
         ("nb", "configurations")]


class FormatError(ValueError):
    """A file that is none of hplcast's, of another version, or damaged."""


def read(path: Path) -> pandas.DataFrame:
    """The frame of a file: predictions, comparisons, sweeps, offers, measurements, real runs, ledgers, histories.

    The kind of the file is told by its content, and is `frame.attrs["kind"]`. Raises FormatError, and OSError for files
    that cannot be opened.
    """
    name = os.fspath(path)
    with open(name, "rb") as file:
        begin = file.read(16)
    if begin == b"SQLite format 3\0":
        return _database(name)
    try:
        text = pathlib.Path(name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: not UTF-8, and no database; archives are read by `hplcast fit cluster`") from error
    return frame_of_text(text, name)


def frame_of_text(text: str, name: str) -> pandas.DataFrame:
    """The same of a text; `name` is for messages."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise FormatError(f"{name}: damaged JSON: {error}") from error
        return _frame_of_json(content, name)
    return _frame_of_csv(text, name)


def _named(frame: pandas.DataFrame, kind: str, **more: Any) -> pandas.DataFrame:
    frame.attrs.update(kind=kind, **more)
    return frame


def _prediction_row(one: dict[str, Any], name: str) -> dict[str, Any]:
    version = one.get("schema_version")
    if version != PREDICTION_VERSION:
        raise FormatError(f"{name}: a prediction of version {version}; this package reads {PREDICTION_VERSION}")
    row = dict(one["parameters"])
    row.update({key: value for key, value in one.items() if not isinstance(value, (dict, list))})
    del row["schema_version"]
    for part in ("interval", "energy"):
        row.update({key: value for key, value in one.get(part, {}).items() if not isinstance(value, (dict, list))})
    return row


def _frame_of_json(content: Any, name: str) -> pandas.DataFrame:
    if isinstance(content, dict) and "verdict" in content and "offers" in content:
        rows = []
        for offer in content["offers"]:
            row = dict(offer["parameters"])
            row.update({key: value for key, value in offer.items() if not isinstance(value, (dict, list))})
            row["low_gflops"], row["high_gflops"] = offer["gflops_interval"]
            rows.append(row)
        return _named(pandas.DataFrame(rows), "offers", verdict=content["verdict"], reasons=content["reasons"])
    if isinstance(content, dict) and "rows" in content and "mean_abs_error" in content:
        summary = {key: value for key, value in content.items() if not isinstance(value, (dict, list))}
        rows = []
        for one in content["rows"]:
            row = {key: value for key, value in one.items() if not isinstance(value, (dict, list))}
            for part in ("parameters", "energy", "interval", "parts"):
                row.update(one.get(part) or {})
            if one.get("error_interval"):
                row["low_error"], row["high_error"] = one["error_interval"]
            rows.append(row)
        return _named(pandas.DataFrame(rows), "comparison", summary=summary)
    predictions = content if isinstance(content, list) else [content]
    if not all(isinstance(one, dict) and "model_sha256" in one and "parameters" in one for one in predictions):
        raise FormatError(f"{name}: JSON, but neither predictions nor a comparison nor offers")
    return _named(pandas.DataFrame([_prediction_row(one, name) for one in predictions]), "predictions")


def _records(text: str, separator: str, name: str) -> Iterator[list[str]]:
    """The rows of a CSV as the program reads them: no comments and empty lines, and fields in quotes may have line ends."""
    whole, first, width = "", 0, 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if not whole and (not line.strip() or line.startswith("#")):
            continue
        first, whole = (first, f"{whole}\n{line}") if whole else (number, line)
        if whole.count('"') % 2:
            continue
        fields = next(csv.reader([whole], delimiter=separator, skipinitialspace=True))
        width = width or len(fields)
        if len(fields) != width:
            raise FormatError(f"{name}: line {first}: {len(fields)} fields; expected {width} as in the header")
        yield [field.strip() for field in fields]
        whole = ""
    if whole:
        raise FormatError(f"{name}: line {first}: a quoted field does not end")


def _frame_of_csv(text: str, name: str) -> pandas.DataFrame:
    head = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), None)
    if head is None:
        raise FormatError(f"{name}: empty")
    records = _records(text, max(",;\t", key=re.sub('"[^"]*"', "", head).count), name)
    header = next(records)
    columns = {column.lower() for column in header}
    kind = next((kind for column, kind in KINDS if column in columns), None)
    if columns >= {"n", "nb", "time_s"} and kind in ("energy of runs", "power", "progress"):
        kind = "real runs"  # with columns of their own
    if kind is None or len(header) < 2 or (kind == "real runs" and not columns >= {"n", "time_s"}):
        raise FormatError(f"{name}: neither JSON, a database nor a CSV of hplcast; its first line is `{head[:80]}`")
    if len(set(header) - {""}) < sum(column != "" for column in header):
        raise FormatError(f"{name}: the header names a column twice")
    frame = pandas.DataFrame(list(records), columns=header, dtype=object)
    frame = frame.loc[:, frame.columns != ""]
    frame = frame.mask(frame == "")
    for column in frame.columns:
        if column.lower() in TEXTS:
            continue
        try:
            frame[column] = pandas.to_numeric(frame[column].mask(frame[column].isin(["NA", "nan", "NaN", "null"])))
        except (ValueError, TypeError) as error:
            if kind == "sweep" or frame[column].str.contains(r"[A-Za-z]").all():
                continue  # a factor whose levels are names, or a column of others
            raise FormatError(f"{name}: column `{column}`: {error}; expected numbers with a decimal point") from error
    return _named(frame, kind)


def _database(name: str) -> pandas.DataFrame:
    address = pathlib.Path(name).absolute().as_uri() + "?mode=ro"
    database = sqlite3.connect(address, uri=True)
    try:
        kind = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        for known, versions, what, frame_of in ((SWEEP, SWEEP_VERSIONS, "sweep", _sweep),
                                                (HISTORY, HISTORY_VERSIONS, "history", _history)):
            if kind != known:
                continue
            if version not in versions:
                raise FormatError(f"{name}: a {what} of version {version}; this package reads {max(versions)}")
            return _named(frame_of(database), what)
        raise FormatError(f"{name}: an SQLite database, but neither of a sweep nor a history")
    except sqlite3.DatabaseError as error:
        raise FormatError(f"{name}: {error}") from error
    finally:
        database.close()


def _sweep(database: sqlite3.Connection) -> pandas.DataFrame:
    """A row per point: its factors, then what was predicted."""
    rows = []
    points = ("SELECT points.factors, runs.prediction, executions.wall_s, executions.peak_pss_bytes FROM points JOIN runs "
              "ON points.run = runs.id JOIN executions ON executions.run = runs.id")
    for factors, prediction, wall_s, peak_pss_bytes in database.execute(points):
        levels = {key: _number(value) for key, value in json.loads(factors).items()}
        row = {**levels, **_prediction_row(json.loads(prediction), "a prediction of the sweep"), "wall_s": wall_s,
               "peak_pss_bytes": peak_pss_bytes}
        if "cluster" in levels:  # the file; its name, which several may have, as in `sweep export`
            row.update(cluster=levels["cluster"], cluster_name=row["cluster"])
        rows.append(row)
    return pandas.DataFrame(rows)


def _number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def _history(database: sqlite3.Connection) -> pandas.DataFrame:
    """A row per observation of a factor at a host or CPU."""
    frame = pandas.read_sql_query(
        "SELECT places.cluster, places.host, places.cpu, factors.name AS factor, observations.time_s, campaigns.job, "
        "observations.value FROM observations JOIN places ON places.id = observations.place JOIN factors ON "
        "factors.id = observations.factor JOIN campaigns ON campaigns.id = observations.campaign "
        "ORDER BY factors.name, places.cluster, places.host, places.cpu, observations.time_s", database)
    frame["time"] = pandas.to_datetime(frame["time_s"], unit="s", utc=True)
    return frame
