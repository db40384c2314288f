#!/usr/bin/env bash
# The public ledger: every real set that hplcast was compared with, with its predicted intervals.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/ledger.sh [-o LEDGER.csv] [--work FOLDER] [--build DIR] [--data DIR] [--orders N,N,...] [QUICKSTART ...]

Adds to LEDGER.csv (default: docs/measurements/ledger/ledger.csv) what it does not have yet:

  dahu        March 2019, 32 x 32: the mean of the real runs of each order, and predictions by bench/dahu.sh in WORK (default:
              dahu-results; orders: 50,000 to 500,000)
  README      the table of its quickstart: medians, predicted without an interval
  QUICKSTART  folders of ./quickstart.sh: real.csv and predictions.json

Then prints how many lie inside. The data (default: $HPLCAST_REFERENCE_DATA, else ../shared/data beside the project) are not
part of the project; without them dahu is left out. All 14 orders take about an hour on one core.
HELP
}

fail() { local status=$1; shift; printf 'ledger.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
out=$project/docs/measurements/ledger/ledger.csv work=dahu-results build=$project/build orders=() quickstarts=()
data=${HPLCAST_REFERENCE_DATA:-$project/../shared/data}
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -o | --work | --build | --data | --orders)
      [[ $# -ge 2 ]] || fail 2 "$1 needs a value"
      case $1 in -o) out=$2 ;; --work) work=$2 ;; --build) build=$2 ;; --data) data=$2 ;; --orders) orders=(--orders "$2") ;; esac
      shift 2 ;;
    -*) fail 2 "unknown option '$1'; see bench/ledger.sh --help" ;;
    *) quickstarts+=("$1"); shift ;;
  esac
done
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"

add() { # DATE REAL PREDICTIONS...
  local date=$1 real=$2 predicted=()
  shift 2
  for file in "$@"; do predicted+=(--predicted "$file"); done
  "$hplcast" compare "$real" "${predicted[@]}" --append-to-ledger "$out" --ledger-date "$date" > /dev/null || fail 6 "compare failed"
}

# The published runs stay where they are: the ledger has their mean per order, without the two on nodes that were not warm.
add_dahu() {
  [[ -d $data/models/dahu ]] || { echo "ledger.sh: skipped: no reference data ($data)" >&2; return 0; }
  "$project/bench/dahu.sh" -o "$work" --build "$build" --data "$data" "${orders[@]}" assemble sizes
  local predicted
  predicted=$(cd "$work" && echo fast-*.json)
  awk -F, -v OFS=, -v predicted=" $predicted " 'NR == 1 { for (i = 1; i <= NF; ++i) c[$i] = i; head = $0; next }
    !$c["first_run_outlier"] && index(predicted, " fast-" $c["N"] ".json ") { N = $c["N"]; row[N] = $0; t[N] += $c["time_s"]; g[N] += $c["gflops"]; ++n[N] }
    END { print head; for (N in row) { $0 = row[N]; $c["time_s"] = t[N] / n[N]; $c["gflops"] = g[N] / n[N]; print } }' \
    "$data/hpl-reality/dahu-2019-03.csv" > "$work/real-means.csv"
  add 2019-03 "$work/real-means.csv" "$work"/fast-*.json
}

# The files of that quickstart are not kept: rows are made of the table. Columns as in the ledger.
add_readme() {
  [[ -e $out ]] || fail 3 "$out is missing: the table of README needs its header; add dahu or a quickstart first"
  ! grep -q '^[^,]*,README' "$out" || return 0
  awk -F' *\\| *' -v header="$(head -1 "$out")" 'BEGIN { n = split(header, name, ",") }
    $3 ~ /^[0-9]+x[0-9]+$/ && NF > 8 {
      split($3, grid, "x")
      v["date"] = "2026-11"; v["cluster"] = "README"; v["kind"] = "plain"; v["N"] = $2; v["NB"] = 128; v["P"] = grid[1]; v["Q"] = grid[2]
      v["PMAP"] = v["L1"] = v["U"] = 0; v["PFACT"] = v["RFACT"] = v["SWAP"] = v["EQUIL"] = 1; v["NBMIN"] = 4; v["NDIV"] = 2
      v["swap_threshold"] = 64; v["ALIGN"] = 8; v["BCAST"] = $4; v["DEPTH"] = $5; v["real_gflops"] = $6; v["predicted_gflops"] = $8
      line = v[name[1]]; for (i = 2; i <= n; ++i) line = line "," v[name[i]]
      print line }' "$project/README.md" >> "$out"
}

add_dahu
for folder in "${quickstarts[@]}"; do
  [[ -e $folder/real.csv && -e $folder/predictions.json ]] || fail 3 "$folder has no real.csv and predictions.json: run ./quickstart.sh"
  add "$(date -u -r "$folder/real.csv" +%Y-%m-%dT%H:%M)" "$folder/real.csv" "$folder/predictions.json"
done
add_readme

awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) c[$i] = i; next }
  { if (match($0, /"[^"]*"/)) { name = substr($0, RSTART + 1, RLENGTH - 2); gsub(/,/, "", name); sub(/"[^"]*"/, name) }
    k = $c["cluster"]; ++n[k]; r = $c["real_gflops"]; e = $c["predicted_gflops"] / r - 1; s[k] += e; a[k] += e < 0 ? -e : e
    if ($c["low_gflops"] != "") { ++i_n[k]; if ($c["low_gflops"] <= r && r <= $c["high_gflops"]) ++inside[k] } }
  END { print "| cluster | rows | mean error | mean abs. error | inside the interval |\n| --- | --- | --- | --- | --- |"
    for (k in n) printf "| %s | %d | %+.1f %% | %.1f %% | %s |\n", k, n[k], 100 * s[k] / n[k], 100 * a[k] / n[k],
      i_n[k] ? sprintf("%d of %d", inside[k], i_n[k]) : "no interval" }' "$out"
