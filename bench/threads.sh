#!/usr/bin/env bash
# Ranks of several threads: predicted beside real runs, and in the same order.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/threads.sh [-o FOLDER] [--build DIR] [--sizes LIST] [--count CALLS] [--repetitions R]
       [--blas FILE] [--force]

Two cores used in three ways: 1x1 with 2 threads, 1x2 and 2x1 with 1 thread per rank. Calibrates this machine with 2
threads per rank and with 1, runs the real HPL (NB 128) for each N of LIST (3000,4000,5000,6000,7000), predicts the same,
and prints for each N the real and predicted Gflop/s of the three, their errors, and whether the three are in the order of
the real ones (ways that differ by less than the scatter of the runs count as equal). Calibration and runs take turns (a
slice of 32 s, a run of each, the next slice ...), because machines change their speed. FOLDER (threads-results) keeps
campaigns, runs and predictions; what is there is not measured again. CALLS: calls of dgemm of a campaign (300); R: real
runs of each (3). FILE: a BLAS in place of the OpenBLAS that HPL is linked with, for all that is measured
(/usr/lib/x86_64-linux-gnu/blis-pthread/libblis.so.4 of libblis4-pthread). --force: also with models that fit cluster
calls unusable, to try the script. Needs two cores that do nothing else, and a quarter of an hour.

Exit codes: 0 errors at most 3 % in the median and 7 % at worst, and every order right; 1 not; 2 wrong usage, 3 something is missing,
6 a measurement or a prediction failed.
HELP
}

fail() { local status=$1; shift; printf 'threads.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
out=threads-results build=$project/build sizes=3000,4000,5000,6000,7000 count=300 repetitions=3 blas= force=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --force) force=(--force); shift ;;
    -o | --build | --sizes | --count | --repetitions | --blas)
      [[ $# -ge 2 ]] || fail 2 "$1 needs a value"
      case $1 in -o) out=$2 ;; *) declare "${1#--}=$2" ;; esac
      shift 2 ;;
    *) fail 2 "unknown argument '$1'; see bench/threads.sh --help" ;;
  esac
done
[[ $sizes =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || fail 2 "--sizes is '$sizes'; expected orders such as 3000,5000"
for number in "$count" "$repetitions"; do [[ $number =~ ^[1-9][0-9]*$ ]] || fail 2 "found '$number'; expected a number from 1"; done
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "no $hplcast; build it (tools/build) or give --build"
(($(nproc) >= 2)) || fail 3 "this machine has one core; expected two"
mkdir -p "$out"
largest=$(tr , '\n' <<< "$sizes" | sort -n | tail -1)
middle=$((largest * 5 / 7)) small=$((largest * 2 / 7))

run() { "$hplcast" "$@" >> "$out/log.txt" 2>&1 || fail 6 "hplcast $1: $out/log.txt"; }

calibrate() {  # campaign, what to run it with: one that is interrupted goes on at the next call
  local name=$1 status=0 resume=()
  shift
  [[ ! -d $name.campaign ]] || resume=(--resume)
  [[ ! -s $name.zip ]] || return 0
  "$@" "$hplcast" calibrate "$name.yaml" --folder "$name.campaign" "${resume[@]}" -o "$name.zip" >> "$out/log.txt" 2>&1 || status=$?
  ((status == 0 || (status == 124 && $# > 0))) || fail 6 "hplcast calibrate: $out/log.txt"
}

campaign() {  # threads, ranks, grids of the runs that time kernels
  printf 'name: threads-%s\nwarm_up: 10s\nchunk: 8s\nthreads_per_rank: %s\nranks_per_host: %s\n' "$1" "$1" "$2"
  [[ -z $blas ]] || printf 'blas: %s\n' "$blas"
  printf 'steps:\n'
  printf '  - dgemm: {nb: 128, max_size: %s, count: %s, budget: 60s}\n  - kernels:\n      runs:\n' "$largest" "$count"
  local grid
  for grid in $3; do
    printf '        - {N: %s, NB: 128, P: %s, Q: %s, PFACT: 1}\n' "$small" "${grid%x*}" "${grid#*x}" "$middle" "${grid%x*}" "${grid#*x}"
  done
  (($2 == 1)) || printf '  - mpi: {max_bytes: 8MiB, count: 80, background: dgemm+iprobe}\n  - thresholds: {max_bytes: 1MiB}\n'
}

configurations() {  # grids
  local grid N
  echo N,NB,P,Q
  for grid in $1; do for N in ${sizes//,/ }; do echo "$N,128,${grid%x*},${grid#*x}"; done; done
}

one() {  # threads, ranks, grids of the kernels' runs, grids to compare
  local name=$out/threads-$1
  campaign "$1" "$2" "$3" > "$name.yaml"
  configurations "$4" > "$name.csv"
  local repetition
  for ((repetition = 1; repetition <= repetitions; ++repetition)); do
    calibrate "$name" timeout --signal INT 32
    run run-real "$name.csv" --threads "$1" --repetitions "$repetition" ${blas:+--blas "$blas"} -o "$name.runs.csv"
  done
  calibrate "$name"
  run fit cluster "$name.zip" --quiet "${force[@]}" -o "$name.json"
  run predict "$name.json" --configurations "$name.csv" -o "$name.predictions.json"
  run compare "$name.runs.csv" --predicted "$name.predictions.json" --json -o "$name.compare.json"
}

one 2 1 "1x1" "1x1"
one 1 2 "1x2 2x1" "1x2 2x1"

python3 - "$out" <<'TABLE'
import json, pathlib, statistics, sys
folder = pathlib.Path(sys.argv[1])
ways = {}
for threads in (2, 1):
    for row in json.loads((folder / f"threads-{threads}.compare.json").read_text())["rows"]:
        ways.setdefault(row["N"], {})[f"{row['P']}x{row['Q']} with {threads}"] = row
errors, wrong = [], 0
print("| N | ranks x threads | real [Gflop/s] | predicted | error |\n| --- | --- | --- | --- | --- |")
for N, rows in sorted(ways.items()):
    for way, row in rows.items():
        errors.append(abs(row["error"]))
        print(f"| {N} | {way} | {row['real_gflops']:.1f} | {row['predicted_gflops']:.1f} | {100 * row['error']:+.1f} % |")
    names = list(rows)
    for i, a in enumerate(names):
        for b in names[i + 1:]:
            real = rows[a]["real_gflops"] / rows[b]["real_gflops"] - 1
            predicted = rows[a]["predicted_gflops"] / rows[b]["predicted_gflops"] - 1
            told_apart = abs(real) > max(rows[a]["real_spread"], rows[b]["real_spread"])
            if told_apart and real * predicted < 0:
                wrong += 1
                print(f"N={N}: {a} is {100 * real:+.1f} % from {b}, predicted {100 * predicted:+.1f} %", file=sys.stderr)
median, worst = statistics.median(errors), max(errors)
print(f"\n{len(errors)} configurations: median {100 * median:.1f} %, worst {100 * worst:.1f} %, {wrong} pairs in the wrong order")
sys.exit(0 if median <= 0.03 and worst <= 0.07 and wrong == 0 else 1)
TABLE
