#!/usr/bin/env bash
# Start of a simulation of many ranks: time and memory of three panels of HPL on the clusters of examples/many-ranks.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/many-ranks.sh [--build DIR] [RANKS...]

Predicts a matrix of three panels (NB 512) on 4096, 16384, 20480 and 74529 ranks, or those given, and prints what each took: nearly all of it is the
start of the ranks. 74529 ranks need 12 GB. The times mean something only if the machine does nothing else.

Exit codes: 0 fine, 2 wrong usage, 3 something is missing or a prediction failed.
HELP
}

fail() { local status=$1; shift; printf 'many-ranks.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
build=$project/build all=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build) [[ $# -ge 2 ]] || fail 2 "$1 needs a value"; build=$2; shift 2 ;;
    4096 | 16384 | 20480 | 74529) all+=("$1"); shift ;;
    *) fail 2 "unknown argument '$1'; expected 4096, 16384, 20480 or 74529; see bench/many-ranks.sh --help" ;;
  esac
done
((${#all[@]} > 0)) || all=(4096 16384 20480 74529)
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"
declare -A grid=([4096]="64 64" [16384]="128 128" [20480]="128 160" [74529]="273 273")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%8s %10s %12s\n' ranks 'took [s]' 'memory [MB]'
for ranks in "${all[@]}"; do
  cluster=torus-20480
  ((ranks <= 20480)) || cluster=fat-tree-74752
  read -r P Q <<< "${grid[$ranks]}"
  "$hplcast" predict "$project/examples/many-ranks/$cluster.json" -N 1536 --nb 512 -P "$P" -Q "$Q" --swap bin-exch --bcast 2ringM --depth 1 \
    --mode fast --quiet -o "$work/prediction.json" > "$work/out" 2>&1 || fail 3 "$ranks ranks: $(cat "$work/out")"
  python3 - "$work/prediction.json" "$ranks" <<'PYTHON'
import json, sys
p = json.load(open(sys.argv[1]))
print("%8s %10.1f %12.0f" % (sys.argv[2], p["wall_s"], p["peak_pss_bytes"] / 1e6))
PYTHON
done
