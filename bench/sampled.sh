#!/usr/bin/env bash
# Sampled predictions of 64 ranks against simulations of all panels: 19 cases, four seeds each (docs/measurements/sampled.md).
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/sampled.sh [-o FOLDER] [--build DIR] [--data DIR] [--jobs N]

Simulates 19 cases of HPL on 64 ranks of dahu (grids, broadcasts, swaps, look-ahead, blocks, a slow node) in fast mode with four seeds, all panels and
five windows of them, and prints the errors of the windows against the mean of the four simulations of all panels, as a table. 4 min on one core.
FOLDER (default: sampled-results) keeps the predictions; what is there is not simulated again (start with an empty folder after a change of the cases).
The data (default: $HPLCAST_REFERENCE_DATA, else ../shared/data beside the project) are not part of the project.

Exit codes: 0 the error is at most 0.5 % (root mean square), 1.5 % (worst), 0.15 % (mean), and the 95 % error covers 90 %; 1 it is not;
2 wrong usage, 3 something is missing, 6 a prediction failed.
HELP
}

fail() { local status=$1; shift; printf 'sampled.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
out=sampled-results build=$project/build data=${HPLCAST_REFERENCE_DATA:-$project/../shared/data} jobs=1
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -o | --build | --data | --jobs)
      [[ $# -ge 2 ]] || fail 2 "$1 needs a value"
      case $1 in -o) out=$2 ;; --build) build=$2 ;; --data) data=$2 ;; --jobs) jobs=$2 ;; esac
      shift 2 ;;
    *) fail 2 "unknown argument '$1'; see bench/sampled.sh --help" ;;
  esac
done
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"
[[ -d $data/models/dahu ]] || { echo "sampled.sh: skipped: no reference data ($data)" >&2; exit 0; }
"$project/bench/dahu.sh" -o "$out" --build "$build" --data "$data" assemble
cluster=$out/dahu.cluster.json slow=$out/slow-node.cluster.json

# dgemm on one of the two nodes takes 1.6 times as long.
python3 - "$cluster" "$slow" <<'PYTHON'
import json, sys
cluster = json.load(open(sys.argv[1]))
for law in cluster["kernels"]["dgemm"]["overrides"]:
    if law["host"] == 1:
        for part in ("mu", "sigma"):
            law[part] = {term: 1.6 * value for term, value in law[part].items()}
json.dump(cluster, open(sys.argv[2], "w"))
PYTHON

case_number=0
run() { # LABEL CLUSTER N OPTION...
  local label=$1 file=$2 N=$3 rule
  shift 3
  case_number=$((case_number + 1))
  echo "sampled.sh: $label" >&2
  for rule in off 5; do
    local to=$out/$case_number-$rule.json
    [[ -e $to ]] || "$hplcast" predict "$file" -N "$N" --pfact crout --rfact right --nbmin 2 --ndiv 2 --mode fast --seed 1,2,3,4 --windows "$rule" \
      --jobs "$jobs" --quiet -o "$to" "$@" > /dev/null || fail 6 "prediction of $label failed"
  done
  printf '%s\t%s\n' "$case_number" "$label" >> "$out/cases.part"
}

rm -f "$out/cases.part"
common=(--nb 128 --depth 1 --bcast 2ring)
square=("${common[@]}" -P 8 -Q 8 --swap bin-exch)
run '8 x 8, DEPTH 1, 2ring, binary exchange' "$cluster" 50000 "${square[@]}"
run 'same, DEPTH 0' "$cluster" 50000 --nb 128 -P 8 -Q 8 --bcast 2ring --swap bin-exch --depth 0
run 'same, DEPTH 2' "$cluster" 50000 --nb 128 -P 8 -Q 8 --bcast 2ring --swap bin-exch --depth 2
for bcast in 1ring long longM; do run "same, $bcast" "$cluster" 50000 --nb 128 -P 8 -Q 8 --depth 1 --swap bin-exch --bcast "$bcast"; done
run 'same, SWAP long' "$cluster" 50000 "${common[@]}" -P 8 -Q 8 --swap long
run 'same, SWAP mix (threshold 1500)' "$cluster" 50000 "${common[@]}" -P 8 -Q 8 --swap mix --swap-threshold 1500
for grid in '2 32 100000' '32 2 100000' '4 16 50000' '16 4 50000' '7 9 50000' '6 10 50000'; do
  IFS=' ' read -r P Q N <<< "$grid"
  run "$P x $Q" "$cluster" "$N" "${common[@]}" -P "$P" -Q "$Q" --swap bin-exch
done
run 'NB 64, 469 panels' "$cluster" 30000 --nb 64 --depth 1 --bcast 2ring -P 8 -Q 8 --swap bin-exch
run 'NB 256, 430 panels' "$cluster" 110000 --nb 256 --depth 1 --bcast 2ring -P 8 -Q 8 --swap bin-exch
run 'DEPTH 2, long, SWAP long' "$cluster" 50000 --nb 128 -P 8 -Q 8 --depth 2 --bcast long --swap long
run '7 x 9, NB 64, DEPTH 0, 1ringM, SWAP mix' "$cluster" 30000 --nb 64 -P 7 -Q 9 --depth 0 --bcast 1ringM --swap mix
run 'one node 1.6 times slower' "$slow" 50000 "${square[@]}"
mv "$out/cases.part" "$out/cases"

python3 - "$out" <<'PYTHON'
import json, math, sys
out = sys.argv[1]
all_errors, covered = [], 0
print("| case | errors of four seeds [%] | 95 % errors [%] |\n| --- | --- | --- |")
for line in open(out + "/cases"):
    number, label = line.rstrip("\n").split("\t")
    by_seed = lambda rule: sorted(json.load(open("%s/%s-%s.json" % (out, number, rule))), key=lambda one: one["seed"])
    full = [one["time_s"] for one in by_seed("off")]
    mean = sum(full) / len(full)
    errors = [100 * (one["time_s"] / mean - 1) for one in by_seed("5")]
    bars = [100 * one["error_95_s"] / mean for one in by_seed("5")]
    covered += sum(abs(error) <= bar for error, bar in zip(errors, bars))
    all_errors += errors
    print("| %s | %s | %s |" % (label, ", ".join("%+.2f" % e for e in errors), ", ".join("%.2f" % b for b in bars)))
n = len(all_errors)
rms, worst, mean = math.sqrt(sum(e * e for e in all_errors) / n), max(map(abs, all_errors)), sum(all_errors) / n
print("\nRoot mean square %.2f %% (limit 0.5), worst %.2f %% (1.5), mean %+.3f %% (0.15); the 95 %% error covers %d of %d (90 %%)."
      % (rms, worst, mean, covered, n))
sys.exit(0 if rms <= 0.5 and worst <= 1.5 and abs(mean) <= 0.15 and covered >= 0.9 * n else 1)
PYTHON
