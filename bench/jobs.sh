#!/usr/bin/env bash
# How much faster a sweep is on two cores than on one: the same 64 predictions with --jobs 1 and --jobs 2.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/jobs.sh [-N ORDER] [--grid PxQ] [--jobs JOBS] [--build DIR]

Runs 64 exact predictions (8 seeds, NB 64 and 128, BCAST 0 to 3) of examples/dahu-like.json with --jobs 1 and with --jobs JOBS (default 2), prints both
wall times and their ratio, and compares the results, which must be the same. N (default 16000) and the grid (default 4x4) say how long a prediction
takes. The times mean something only if the machine does nothing else.

Exit codes: 0 fine, 2 wrong usage, 3 something is missing, 6 a sweep failed or results differ.
HELP
}

fail() { local status=$1; shift; printf 'jobs.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
build=$project/build N=16000 grid=4x4 jobs=2
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -N | --grid | --jobs | --build)
      [[ $# -ge 2 ]] || fail 2 "$1 needs a value"
      case $1 in -N) N=$2 ;; --grid) grid=$2 ;; --jobs) jobs=$2 ;; --build) build=$2 ;; esac
      shift 2 ;;
    *) fail 2 "unknown argument '$1'; see bench/jobs.sh --help" ;;
  esac
done
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/plan.yaml" <<PLAN
cluster: "$project/examples/dahu-like.json"
seeds: [1, 2, 3, 4, 5, 6, 7, 8]
fixed: {N: $N, grid: $grid, mode: exact}
factors:
  NB: [64, 128]
  BCAST: [0, 1, 2, 3]
PLAN

sweep() { # JOBS: sets wall_s
  local begin
  begin=$(date +%s.%N)
  "$hplcast" sweep "$work/plan.yaml" --database "$work/$1.db" --jobs "$1" 2> "$work/log" || { tail -5 "$work/log" >&2; fail 6 "a sweep failed"; }
  wall_s=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { printf "%.2f", b - a }')
  # Without what the predictions took: the last two columns.
  "$hplcast" sweep export "$work/$1.db" | cut -d, -f-$(($("$hplcast" sweep export "$work/$1.db" | head -1 | tr , '\n' | wc -l) - 2)) > "$work/$1.csv"
}

sweep 1
one_s=$wall_s
sweep "$jobs"
cmp -s "$work/1.csv" "$work/$jobs.csv" || fail 6 "the results of --jobs 1 and --jobs $jobs differ"
awk -v n="$(($(wc -l < "$work/1.csv") - 1))" -v a="$one_s" -v b="$wall_s" -v jobs="$jobs" \
  'BEGIN { printf "%d predictions: %.1f s with --jobs 1, %.1f s with --jobs %d: %.2f times as fast, same results\n", n, a, b, jobs, a / b }'
