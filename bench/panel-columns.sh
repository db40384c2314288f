#!/usr/bin/env bash
# What does a column of HPL's panel factorisation take here, beside what published models of kernels have?
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/panel-columns.sh [--build DIR] [--rows M] [--repetitions R]

Observes the real HPL (xhpl-instrumented) with the parameters of dahu's runs (NB 128, NBMIN 2, binary exchange, DEPTH 1) on this machine:
one rank with the other core idle, one rank while a second HPL runs on the other core, and 1x2 and 2x1 grids; with M rows of the
matrix per process (1562, as N=50,000 has on 32 process rows). For each grid and panel factorisation it prints, in microseconds per column of the
matrix and as the median of R runs (15), what the factorisation and the row swap take in
  update rate  dgemm, if its flop took as long as in the update of the trailing matrix
  dgemm more   dgemm, what it took beyond that: its matrices have few columns there
  published    other kernels that the published models of dahu give a duration
  free there   kernels that they take as free
  messages     MPI calls, waiting for the other rank included
  own code     HPL's code between kernels and calls, and the observation
Two cores that do nothing else; one minute.

Exit codes: 0 printed, 2 wrong usage, 3 something is missing or failed.
HELP
}

fail() { local status=$1; shift; printf 'panel-columns.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
build=$project/build rows=1562 repetitions=15
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build | --rows | --repetitions) [[ $# -ge 2 ]] || fail 2 "$1 needs a value"; declare "${1#--}=$2"; shift 2 ;;
    *) fail 2 "unknown argument '$1'; see bench/panel-columns.sh --help" ;;
  esac
done
[[ $rows =~ ^[1-9][0-9]*$ ]] || fail 2 "--rows is '$rows'; expected a number from 1"
[[ $repetitions =~ ^[1-9][0-9]*$ ]] || fail 2 "--repetitions is '$repetitions'; expected a number from 1"
xhpl=$(realpath "$build")/bin/xhpl-instrumented
[[ -x $xhpl ]] || fail 3 "$xhpl is missing: build first"
(($(nproc) >= 2)) || fail 3 "this machine has one core; expected two"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OPENBLAS_NUM_THREADS=1
[ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

python3 - "$xhpl" "$work" "$rows" "$repetitions" <<'PYTHON'
import collections, os, pathlib, statistics, subprocess, sys, time

xhpl, work, rows, repetitions = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
# Kernels with a duration in the published models of dahu (../shared/data/models/dahu); all others cost nothing there.
PUBLISHED = {"dtrsm", "dgemv", "dscal", "idamax", "daxpy", "dtrsv", "dlacpy", "dlatcpy", "dlaswp01T", "dlaswp02N",
             "dlaswp03T", "dlaswp04T"}
PFACT = {0: "left", 1: "Crout", 2: "right"}


def write_input(folder, p, q, pfact, n):
    lines = ["title", "title", "HPL.out", 6, 1, n, 1, 128, 0, 1, p, q, 16.0, 1, pfact, 1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 0, 128, 0, 0, 1, 8]
    folder.mkdir(exist_ok=True)
    (folder / "HPL.dat").write_text("\n".join(map(str, lines)) + "\n")


def start(folder, ranks, cores, observed):
    environment = dict(os.environ)
    if observed:
        environment["HPLCAST_ACTIVITY"] = "run"
    # Cores are given by taskset: two independent mpirun would both bind to the first one.
    command = ["mpirun", "--bind-to", "none", "-np", str(ranks), "sh", "-c",
               'exec taskset -c "$(echo "$1" | cut -d, -f$((OMPI_COMM_WORLD_RANK + 1)))" "$2"', "sh", cores, xhpl]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def columns_of(folder, ranks):
    """Seconds of all ranks by (phase, kind), and of the free kernels by name."""
    sums, flop = collections.Counter(), collections.Counter()
    for rank in range(ranks):
        for line in (folder / f"run-{rank}.activity").read_text().splitlines():
            field = line.split(",")
            if field[0] == "phase":
                sums[field[1], "all"] += float(field[2])
                sums[field[1], "own code"] += float(field[2])
            elif field[0] in ("kernel", "mpi"):
                phase, name, seconds = field[1], field[2], float(field[4])
                kind = "messages" if field[0] == "mpi" else "dgemm" if name == "dgemm" else "published" if name in PUBLISHED else "free there"
                sums[phase, kind] += seconds
                sums[phase, "own code"] -= seconds
                if kind == "dgemm":
                    flop[phase] += float(field[5])
                if kind == "free there":
                    sums[phase, "free: " + name] += seconds
    per_flop = sums["update", "dgemm"] / flop["update"]
    for phase in PHASES:
        sums[phase, "update rate"] = flop[phase] * per_flop
        sums[phase, "dgemm more"] = sums[phase, "dgemm"] - sums[phase, "update rate"]
    return sums


def observe(p, q, pfact):
    """Microseconds per column: of the P ranks that factor a column, or of the P Q that swap its rows, the mean."""
    folder = work / "observed"
    write_input(folder, p, q, pfact, rows * p)
    run = start(folder, p * q, "0,1", True)
    error = run.communicate()[1]
    if run.returncode != 0:
        sys.exit("panel-columns.sh: xhpl-instrumented failed: " + error.strip()[-300:])
    ranks_at_a_column = {"factorisation": p, "swap": p * q}
    return {key: seconds / ranks_at_a_column[key[0]] / (rows * p) * 1e6 for key, seconds in columns_of(folder, p * q).items()
            if key[0] in PHASES}


PHASES, KINDS = ("factorisation", "swap"), ("all", "update rate", "dgemm more", "published", "free there", "messages", "own code")
print(f"microseconds per column, medians of {repetitions} runs; {rows} rows per process")
print(f"{'grid':5} {'PFACT':6} {'neighbour':10} {'phase':14}" + "".join(f"{kind:>12}" for kind in KINDS) + "   the largest free ones")
for p, q, neighbour in ((1, 1, False), (1, 1, True), (1, 2, False), (2, 1, False)):
    with_neighbour = None
    if neighbour:
        write_input(work / "neighbour", 1, 1, 2, 30000)
        with_neighbour = start(work / "neighbour", 1, "1", False)
        time.sleep(5)  # its matrix is being made
    for pfact in PFACT:
        runs = [observe(p, q, pfact) for _ in range(repetitions)]
        median = {key: statistics.median(run.get(key, 0) for run in runs) for key in set().union(*runs)}
        for phase in PHASES:
            free = sorted((key for key in median if key[0] == phase and key[1].startswith("free: ")), key=lambda key: -median[key])
            print(f"{p}x{q:<3} {PFACT[pfact]:6} {'busy' if neighbour or p * q > 1 else 'idle':10} {phase:14}"
                  + "".join(f"{median.get((phase, kind), 0):12.2f}" for kind in KINDS)
                  + "   " + ", ".join(f"{key[1][6:]} {median[key]:.2f}" for key in free[:3]), flush=True)
    if with_neighbour:
        with_neighbour.kill()
        with_neighbour.communicate()
PYTHON
