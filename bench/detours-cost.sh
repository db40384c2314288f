#!/usr/bin/env bash
# What detours cost a prediction: CPU time of simulations with them over that of simulations without.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/detours-cost.sh [--build DIR] [--rounds COUNT] [HPL OPTIONS...]

Predicts HPL on examples/dahu-like.json in turns without detours, with agents of 1 Hz x 10 ms, and with ticks of 250 Hz whose durations are drawn (exponential, mean 5 us), and prints the
ratios of the CPU times, summed over all rounds (5). HPL options: those of `hplcast predict`; by default -N 40000 --nb 256 -P 16 -Q 16 --mode fast --windows off, a few seconds each.

Exit codes: 0 fine, 2 wrong usage, 3 something is missing or a prediction failed, 5 agents cost more than 10 %, or ticks more than 60 %.
HELP
}

fail() { local status=$1; shift; printf 'detours-cost.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
build=$project/build rounds=5
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build) [[ $# -ge 2 ]] || fail 2 "$1 needs a value"; build=$2; shift 2 ;;
    --rounds) [[ ${2:-} =~ ^[1-9][0-9]{0,3}$ ]] || fail 2 "--rounds needs a number from 1 to 9999"; rounds=$2; shift 2 ;;
    *) break ;;
  esac
done
options=("$@")
((${#options[@]} > 0)) || options=(-N 40000 --nb 256 -P 16 -Q 16 --mode fast --windows off)
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$project/examples/dahu-like.json" "$folder/none.json"
"$hplcast" transform "$folder/none.json" --add-detours 1s:10ms:core -o "$folder/agents.json"
"$hplcast" transform "$folder/none.json" --add-detours 4ms:5us:core -o "$folder/ticks.json"
sed -i 's/"law": "constant"/"law": "exponential"/' "$folder/ticks.json"
grep -q '"law": "exponential"' "$folder/ticks.json" || fail 3 "cluster.json is not written as this script expects"

TIMEFORMAT='%U %S'
declare -A seconds=([none]=0 [agents]=0 [ticks]=0)
for ((round = 1; round <= rounds; ++round)); do
  for what in none agents ticks; do
    used=$({ time "$hplcast" predict "$folder/$what.json" "${options[@]}" --quiet >"$folder/log" 2>&1; } 2>&1) ||
      fail 3 "a prediction failed: $(cat "$folder/log")"
    seconds[$what]=$(awk -v a="${seconds[$what]}" -v b="$used" 'BEGIN { split(b, c, " "); print a + c[1] + c[2] }')
  done
done
awk -v none="${seconds[none]}" -v agents="${seconds[agents]}" -v ticks="${seconds[ticks]}" 'BEGIN {
  printf "CPU time of the predictions: %.1f s without detours\n", none
  printf "agents of 1 Hz x 10 ms: %+.1f %%\nticks of 250 Hz, drawn durations: %+.1f %%\n", 100 * (agents / none - 1), 100 * (ticks / none - 1)
  exit agents > 1.1 * none || ticks > 1.6 * none ? 5 : 0 }'
