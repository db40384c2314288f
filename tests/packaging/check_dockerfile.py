"""Looks at the Dockerfile without Docker: what it copies, runs and starts must be there.

usage: check_dockerfile.py SOURCE_FOLDER
"""

import fnmatch
import json
import re
import subprocess
import sys
from pathlib import Path

KNOWN = {"FROM", "COPY", "WORKDIR", "RUN", "USER", "ENTRYPOINT", "CMD"}


def instructions(dockerfile):
    """(instruction, rest) with continued lines joined, without comments."""
    lines = [line for line in dockerfile.read_text().splitlines() if line and not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", "").splitlines():
        yield line.split(None, 1)


def problems_of_run(command, source, presets):
    if subprocess.run(["sh", "-n", "-c", command], capture_output=True).returncode != 0:
        yield f"sh cannot read: {command}"
    folders = {preset["binaryDir"].replace("${sourceDir}/", "") for preset in presets["configurePresets"]}
    names = {kind: {one["name"] for one in presets[kind + "Presets"]} for kind in ("configure", "build")}
    for build, name in re.findall(r"cmake (--build )?--preset (\S+)", command):
        if name not in names["build" if build else "configure"]:
            yield f"there is no preset {name}"
    for folder in re.findall(r"cmake --install (\S+)", command):
        if folder not in folders:
            yield f"no preset builds in {folder}"
    for script in re.findall(r"(?<!\S)((?:tools|packaging)/\S+)", command):
        if not (source / script).is_file():
            yield f"there is no {script}"


def main(source):
    presets = json.loads((source / "CMakePresets.json").read_text())
    problems, last = [], {}
    for name, rest in instructions(source / "packaging/Dockerfile"):
        last[name] = rest
        if name not in KNOWN:
            problems.append(f"unknown instruction {name}")
        if name == "FROM" and not re.fullmatch(r"debian:1[23](-slim)?( AS build)?", rest):
            problems.append(f"{rest} is not a Debian that hplcast is tested on (12 or 13)")
        if name == "RUN":
            problems += problems_of_run(rest, source, presets)
        if name in ("ENTRYPOINT", "CMD") and not all(isinstance(word, str) for word in json.loads(rest)):
            problems.append(f"{name} is no list of words")
    ignored = (source / ".dockerignore").read_text().split("\n")
    for folder in {preset["binaryDir"].replace("${sourceDir}/", "") for preset in presets["configurePresets"]}:
        if not any(fnmatch.fnmatch(folder, one) for one in ignored):
            problems.append(f"it copies the build in {folder}: see .dockerignore")
    if last.get("USER", "root") == "root":
        problems.append("it runs as root, and MPI refuses to")
    if json.loads(last["ENTRYPOINT"]) != ["hplcast"]:
        problems.append("it does not start hplcast")
    for one in problems:
        print("packaging/Dockerfile:", one, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(Path(sys.argv[1])))
