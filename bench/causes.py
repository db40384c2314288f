#!/usr/bin/env python3
"""What the instructions of a simulation are spent on, by cause, and how many there are against another build."""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
HPL = "--pfact 1 --rfact 2 --nbmin 2 --bcast 2 --depth 1"
DAHU = PROJECT / "examples/dahu-like.json"
FLY = "--add-nodes 96 --ranks-per-node 8 --dragonfly 8,1;1,1;8,1;2 --routing"  # 128 hosts, 1024 ranks
FLY_HPL = "-N 2000 --nb 64 -P 32 -Q 32 --swap 0 --mode"
CASES = {  # small ones of the shape of the large ones: callgrind takes 50 times as long; the third: for `transform`
    "all-panels": (DAHU, "-N 6000 --nb 128 -P 16 -Q 16 --swap 0 --mode fast"),
    "long-swap": (DAHU, "-N 5000 --nb 128 -P 16 -Q 16 --swap 1 --mode fast"),
    "exact": (DAHU, "-N 4000 --nb 128 -P 16 -Q 16 --swap 0 --mode exact"),
    "all-panels-32": (DAHU, "-N 8000 --nb 128 -P 32 -Q 32 --swap 0 --mode fast"),
    "start-4096": (PROJECT / "examples/many-ranks/torus-20480.json", "-N 1536 --nb 512 -P 64 -Q 64 --swap 0 --mode fast"),
    **{f"dragonfly-{routing}-{mode}": (DAHU, f"{FLY_HPL} {mode}", f"{FLY} {routing}")
       for mode in ("exact", "fast") for routing in ("static", "adaptive")},
}
# The first that fits "function [object]" counts.
CAUSES = [
    ("draws, kernels", r"random_bits|::draw\(|uniforms|Kernels::|DurationLaw|PiecewiseLaw|Polynomial|Monomial|duration_s|libm\.|__ieee754|__cos|__sin|_fma"),
    ("flows", r"FairFlows|NetworkFlows|Transfer::|NetworkFlow"),
    ("meetings of fast mode", r"ColumnMeetings|exchange_column|Exchange|SampledExchanges"),
    ("memory", r"malloc|free|operator new|operator delete|memset|memcpy|memmove|_int_|realloc|tsearch|tdelete|tfind"),
    ("scheduling", r"libsimgrid|port::|resource::Model|Bell|Alarms?::|tls_get_addr"),
    ("messages, probes", r"Messages::|Matching|Mail|Probe|matches|SentMessage|MessageRequest|NetworkCosts|SegmentedLaw|message_flow|SendingNumbers"),
    ("HPL and its replacements", r"xhpl-smpi"),
    ("own time, counts, phases", r"libhplcast"),
    ("start of the process", r"ld-linux|_dl_|python|bash|dash"),
]
OPTION = re.compile(r"Configuration change: Set '([^']+)' to '([^']*)'")
OF_SMPIRUN = {"smpi/np", "smpi/hostfile", "smpi/tmpdir", "network/model"}


def fail(status, text):
    sys.exit(print(f"causes.py: {text}", file=sys.stderr) or status)


def prepared(build, name, work):
    """smpirun of a case, without and with `wrapper`, which runs in its files below `work`; and its environment."""
    cluster, options, *changes = CASES[name]
    files = work / "files"
    if changes:
        changed = work / "cluster.json"
        subprocess.run([build / "bin/hplcast", "transform", cluster, *changes[0].split(), "-o", changed, "--quiet"], check=True)
        cluster = changed
    command = [build / "bin/hplcast", "predict", cluster, *HPL.split(), *options.split(), "--windows", "off", "--keep", files,
               "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail(3, f"{name}: {done.stderr.strip()}")
    chosen = {k: v for k, v in OPTION.findall((files / "simulation.log").read_text()) if k not in OF_SMPIRUN}

    def smpirun(wrapper):
        return ["smpirun", "-np", str(len((files / "hostfile").read_text().split())), *wrapper,
                "-platform", build / "lib/libhplcast-platform.so", "-hostfile", "hostfile",
                *[f"--cfg={key}:{value}" for key, value in chosen.items()], build / "bin/xhpl-smpi"]
    return smpirun, files, dict(os.environ, HPLCAST_SIMULATION=str(files / "settings.json"))


def instructions(build, name, keep):
    """Instructions by "function [object]" of a case."""
    with tempfile.TemporaryDirectory(prefix="causes-") as work:
        smpirun, files, environment = prepared(build, name, Path(work))
        profile = (keep or Path(work)) / f"{name}.callgrind"
        done = subprocess.run(smpirun(["-wrapper", f"valgrind --tool=callgrind --callgrind-out-file={profile.absolute()}"]),
                              cwd=files, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            fail(3, f"{name} under valgrind: {done.stdout[-500:]}{done.stderr[-500:]}")
        table = subprocess.run(["callgrind_annotate", "--threshold=100", "--show-percs=no", profile],
                               capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^ *([\d,]+) +[^:\n]*:(.+)$", table, re.M)
    return [(int(count.replace(",", "")), function) for count, function in rows if "PROGRAM TOTALS" not in function]


def cpu_seconds(build, names, rounds):
    """User seconds of each case, in alternation."""
    times = {name: [] for name in names}
    with tempfile.TemporaryDirectory(prefix="causes-") as work:
        runs = {}
        for name in names:
            (Path(work) / name).mkdir()
            runs[name] = prepared(build, name, Path(work) / name)
        for _ in range(rounds):
            for name, (smpirun, files, environment) in runs.items():
                before = os.times().children_user
                subprocess.run(smpirun([]), cwd=files, env=environment, capture_output=True, check=True)
                times[name].append(os.times().children_user - before)
    return times


def by_cause(rows):
    sums = {cause: 0 for cause, _ in CAUSES} | {"other": 0}
    for count, function in rows:
        sums[next((cause for cause, pattern in CAUSES if re.search(pattern, function)), "other")] += count
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__ + " Counts instructions by callgrind, so that other work on the "
                                     "machine does not matter; minutes per case. Prints a table in percent.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)} (default: the first three)")
    parser.add_argument("--build", type=Path, default=PROJECT / "build", metavar="DIR", help="with bin and lib")
    parser.add_argument("--before", type=Path, metavar="DIR", help="another build: also its instructions, and the ratio")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keeps the profiles there, for callgrind_annotate")
    parser.add_argument("--against", metavar="CASE", help="another case: its instructions, and the ratio to them")
    parser.add_argument("--rounds", type=int, default=0, metavar="N",
                        help="user seconds of the cases in alternation, N times, in place of instructions: on an idle machine")
    arguments = parser.parse_args()
    cases = arguments.cases or list(CASES)[:3]
    for name in cases + [arguments.against or cases[0]]:
        if name not in CASES:
            fail(2, f"unknown case '{name}'; expected one of {', '.join(CASES)}")
    if arguments.rounds:
        times = cpu_seconds(arguments.build.resolve(), cases + [arguments.against] * bool(arguments.against), arguments.rounds)
        for name, found in times.items():
            print(f"{name}: {statistics.median(found):.2f} s ({min(found):.2f} to {max(found):.2f})", end="")
            print(f", {statistics.median(found) / statistics.median(times[arguments.against]):.3f} of {arguments.against}"
                  if arguments.against else "")
        return
    sums = {name: by_cause(instructions(arguments.build.resolve(), name, arguments.keep)) for name in cases}
    print("| cause [%] | " + " | ".join(cases) + " |\n| --- |" + " --- |" * len(cases))
    total = {name: sum(sums[name].values()) for name in cases}
    for cause in [*dict(CAUSES), "other"]:
        print(f"| {cause} | " + " | ".join(f"{100 * sums[name][cause] / total[name]:.1f}" for name in cases) + " |")
    print("| instructions [10^9] | " + " | ".join(f"{total[name] / 1e9:.2f}" for name in cases) + " |")
    if arguments.against:
        other = sum(n for n, _ in instructions(arguments.build.resolve(), arguments.against, arguments.keep))
        print(f"| {arguments.against} [10^9] | " + f"{other / 1e9:.2f} | " * len(cases))
        print("| ratio | " + " | ".join(f"{total[name] / other:.3f}" for name in cases) + " |")
    if arguments.before:
        before = {name: sum(n for n, _ in instructions(arguments.before.resolve(), name, None)) for name in cases}
        print("| before [10^9] | " + " | ".join(f"{before[name] / 1e9:.2f}" for name in cases) + " |")
        print("| ratio | " + " | ".join(f"{total[name] / before[name]:.3f}" for name in cases) + " |")


if __name__ == "__main__":
    main()
