#!/usr/bin/env bash
# Calibrates this machine, fits it, and compares predictions with real runs of HPL: bench/laptop.sh [CAMPAIGN.yaml]
# Needs an idle machine and about seven minutes; fails if the median |error| is above 6 %. Everything is in build/laptop/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly campaign=${1:-examples/campaign-laptop.yaml} bin=build/bin work=build/laptop
tools/build programs >/dev/null
rm -rf "$work"
mkdir -p "$work"

"$bin/hplcast" calibrate "$campaign" --folder "$work/campaign" -o "$work/campaign.zip"
"$bin/hplcast" fit cluster "$work/campaign.zip" --quiet --for-hpl 7000,128,1,2 -o "$work/cluster.json"
"$bin/hplcast-build-xhpl" -o "$work/xhpl-smpi"
"$bin/hplcast" predict "$work/cluster.json" --configurations examples/laptop-runs.csv --xhpl "$work/xhpl-smpi" \
  -o "$work/predictions.json" >/dev/null
"$bin/hplcast" run-real examples/laptop-runs.csv --repetitions 3 -o "$work/real.csv"
"$bin/hplcast" compare "$work/real.csv" --predicted "$work/predictions.json"
"$bin/hplcast" compare "$work/real.csv" --predicted "$work/predictions.json" --json -o "$work/compare.json"
awk -F: '/median_abs_error/ { found = $2 + 0 } END { exit !(found <= 0.06) }' "$work/compare.json" || {
  echo "bench/laptop.sh: the median |error| is above 6 % (was the machine idle?)" >&2
  exit 5
}
