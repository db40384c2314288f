#!/usr/bin/env bash
# The validation on dahu (March 2019) and the limits of time and memory: runs what is not there yet and writes a table.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/dahu.sh [-o FOLDER] [--build DIR] [--data DIR] [--orders N,N,...] [PART ...]

Parts (default: all but sampled, sampled-exact, geometry, large and ratio, in this order):
  assemble   cluster.json of dahu and of the rungs of the ladder, from the published coefficients
  sizes      14 matrix orders, 50,000 to 500,000, fast mode
  sampled    the same orders, sampled where that is the default, two windows at a time
  sampled-exact  likewise, those that are sampled in exact mode
  exact      N = 50,000 and 100,000, exact mode
  ladder     model levels, from one homogeneous linear model to one per CPU with noise, N = 100,000 and 300,000
             (--orders: other matrix orders for sizes and ladder)
  geometry   960 ranks, N = 50,000 on five process grids and N = 20,000 on 60 x 16, the network as measured under load in 2020
  large      4096 ranks on a fat tree, N = 4,000,000 (examples/stampede-like.json)
  ratio      bench/ratio.sh at 8 x 8 and 32 x 32 (at most an hour each)
  table      FOLDER/table.md of all that is there

A prediction whose file is in FOLDER (default: dahu-results) is not made again: after an interruption start the same command again; to repeat one,
remove its file. Times and memory in the table mean something only if the machine did nothing else.
The data (default: $HPLCAST_REFERENCE_DATA, else ../shared/data beside the project) are not part of the project.

Exit codes: 0 fine, 2 wrong usage, 3 something is missing, 6 a prediction failed.
HELP
}

fail() { local status=$1; shift; printf 'dahu.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
orders=(50000 75000 100000 125000 150000 175000 200000 225000 250000 300000 350000 400000 450000 500000)
ladder_orders=(100000 300000)
out=dahu-results build=$project/build data=${HPLCAST_REFERENCE_DATA:-$project/../shared/data} parts=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -o | --build | --data | --orders)
      [[ $# -ge 2 ]] || fail 2 "$1 needs a value"
      case $1 in -o) out=$2 ;; --build) build=$2 ;; --data) data=$2 ;; --orders) IFS=, read -ra orders <<< "$2"; ladder_orders=("${orders[@]}") ;; esac
      shift 2 ;;
    assemble | sizes | sampled | sampled-exact | exact | ladder | geometry | large | ratio | table) parts+=("$1"); shift ;;
    *) fail 2 "unknown part '$1'; see bench/dahu.sh --help" ;;
  esac
done
((${#parts[@]} > 0)) || parts=(assemble sizes exact ladder table)
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"
[[ -d $data/models/dahu ]] || { echo "dahu.sh: skipped: no reference data ($data)" >&2; exit 0; }
mkdir -p "$out"

readonly real=$data/hpl-reality/dahu-2019-03.csv
# HPL.dat of the real runs.
readonly geometries=('20000 60 16' '50000 30 32' '50000 16 60' '50000 8 120' '50000 120 8' '50000 60 16')
readonly hpl=(--nb 128 -P 32 -Q 32 --pfact crout --rfact right --nbmin 2 --ndiv 2 --bcast 2ring --depth 1 --swap bin-exch --swap-threshold 128)

cluster() { # NAME MODEL_ID KERNEL_SET [MIXTURES]
  [[ -e $out/$1.cluster.json ]] && return
  local mixtures=()
  [[ $# -lt 4 ]] || mixtures=(--mixtures "$data/models/dahu/$4")
  "$hplcast" assemble --hosts 'dahu-[1-32]' --cores 32 --cpus 2 --rank-to-cpu cyclic --name "dahu, $1" \
    --dgemm "$data/models/dahu/dgemm_models.csv" --model-id "$2" \
    --kernels "$data/models/dahu/kernel_models.csv" --kernel-set "$3" \
    --network "$data/models/dahu/network_models.json" --network-id 2019-03-08_optimistic "${mixtures[@]}" \
    -o "$out/$1.cluster.json" || fail 6 "assemble failed"
}

# All parts but the sampled ones simulate all panels.
panels=(--windows off)

predict() { # NAME CLUSTER N OPTION...
  local name=$1 file=$2 N=$3
  shift 3
  [[ ! -e $out/$name.json ]] || return 0
  echo "dahu.sh: $name" >&2
  "$hplcast" predict "$file" -N "$N" "$@" "${panels[@]}" -o "$out/$name.json" > /dev/null || fail 6 "prediction $name failed"
}

part_assemble() {
  cluster dahu 2019-04-05_poly_12d0551 full_model network_stochastic_2019-03.json
  cluster linear 2019-04-05_lin_312df21 full_model
  cluster homogeneous 2019-03-16_hom_lin_4ba6437 simple_model
}

part_sizes() {
  for N in "${orders[@]}"; do predict "fast-$N" "$out/dahu.cluster.json" "$N" "${hpl[@]}" --mode fast; done
}

part_sampled() {
  panels=(--windows auto --windows-jobs 2)
  for N in "${orders[@]}"; do predict "sampled-$N" "$out/dahu.cluster.json" "$N" "${hpl[@]}" --mode fast; done
  panels=(--windows off)
}

# Where all panels are simulated exact mode would take long.
part_sampled-exact() {
  local mode estimate
  panels=(--windows auto --windows-jobs 2)
  for N in "${orders[@]}"; do
    mode=fast
    estimate=$("$hplcast" predict "$out/dahu.cluster.json" -N "$N" "${hpl[@]}" --mode exact --estimate 2>&1) || fail 6 "estimate of N=$N failed: $estimate"
    [[ $estimate != *' sampled: '* ]] || mode=exact
    predict "sampled-exact-$N" "$out/dahu.cluster.json" "$N" "${hpl[@]}" --mode "$mode"
  done
  panels=(--windows off)
}

part_exact() {
  for N in 50000 100000; do predict "exact-$N" "$out/dahu.cluster.json" "$N" "${hpl[@]}" --mode exact; done
}

# The published order: what each part of the model adds. With all of them it is the prediction of "sizes".
part_ladder() {
  for N in "${ladder_orders[@]}"; do
    predict "ladder-1-$N" "$out/homogeneous.cluster.json" "$N" "${hpl[@]}" --mode fast --noise off
    predict "ladder-2-$N" "$out/dahu.cluster.json" "$N" "${hpl[@]}" --mode fast --per-cpu off --noise off --network-noise off
    predict "ladder-3-$N" "$out/linear.cluster.json" "$N" "${hpl[@]}" --mode fast --noise off
    predict "ladder-4-$N" "$out/dahu.cluster.json" "$N" "${hpl[@]}" --mode fast --noise off --network-noise off
    predict "ladder-5-$N" "$out/dahu.cluster.json" "$N" "${hpl[@]}" --mode fast --network-noise off
    predict "fast-$N" "$out/dahu.cluster.json" "$N" "${hpl[@]}" --mode fast
  done
}

# Single flows of this network are slower than the card: what matters is how messages share a link.
part_geometry() {
  [[ -e $out/realistic.cluster.json ]] || "$hplcast" assemble --hosts 'dahu-[1-30]' --cores 32 --cpus 2 --rank-to-cpu cyclic --name "dahu, realistic" \
    --dgemm "$data/models/dahu/dgemm_models.csv" --model-id 2020-07-08_poly_k128_277bbf0 \
    --kernels "$data/models/dahu/kernel_models.csv" --kernel-set full_model \
    --network "$data/models/dahu/network_models.json" --network-id 2020-08-20_realistic -o "$out/realistic.cluster.json" || fail 6 "assemble failed"
  local grid
  for grid in "${geometries[@]}"; do
    IFS=' ' read -r N P Q <<< "$grid"
    predict "geometry-$N-${P}x$Q" "$out/realistic.cluster.json" "$N" --nb 128 -P "$P" -Q "$Q" --pfact crout --rfact right --nbmin 2 --ndiv 2 --bcast 2ring \
      --depth 1 --swap bin-exch --swap-threshold 128 --mode fast
  done
}

part_large() {
  predict large-4000000 "$project/examples/stampede-like.json" 4000000 --nb 1024 -P 64 -Q 64 --pfact crout --rfact right --bcast 2ring \
    --depth 1 --swap bin-exch --mode fast --force
}

part_ratio() {
  [[ -e $out/ratio.csv ]] || "$project/bench/ratio.sh" "$out/dahu.cluster.json" --build "$build" --limit 3600 20000:8:8 20000:32:32 > "$out/ratio.csv.part"
  [[ ! -e $out/ratio.csv.part ]] || mv "$out/ratio.csv.part" "$out/ratio.csv"
}

# --- the table --------------------------------------------------------------------------------------------------------

field() { # FILE NAME: a number at the top level of a prediction.json
  sed -n "s/^  \"$2\": \([-0-9.e+]*\),*$/\1/p" "$1" | head -1
}

# Mean of the real Gflop/s at N, without the two runs on nodes that were not hot yet.
real_mean() {
  awk -F, -v N="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) c[$i] = i }
    NR > 1 && $c["N"] == N && !$c["first_run_outlier"] { s += $c["gflops"]; ++n } END { if (n) print s / n }' "$real"
}

row() { # LABEL NAME N [unknown]: label, N, real (if known), predicted, error, took, memory
  local file=$out/$2.json
  [[ -e $file ]] || return 0
  awk -v label="$1" -v N="$3" -v r="${4+0}$([[ $# -ge 4 ]] || real_mean "$3")" -v p="$(field "$file" gflops)" -v w="$(field "$file" wall_s)" \
    -v m="$(field "$file" peak_pss_bytes)" 'BEGIN {
      e = r > 0 ? sprintf("%+.2f", 100 * (p - r) / r) : ""
      real = r > 0 ? sprintf("%.0f", r) : ""
      printf "| %s | %d | %s | %.0f | %s | %.0f | %.0f |\n", label, N, real, p, e, w, m / 1e6 }'
}

summary() { # WHAT MEAN_LIMIT WORST_LIMIT ROWS
  awk -F'|' -v what="$1" -v mean="$2" -v worst="$3" 'NF > 6 { e = $6 < 0 ? -$6 : +$6; s += e; if (e > m) m = e; ++n }
    END { if (n) printf "\n%s: mean |error| %.2f %% (limit %s), worst %.2f %% (limit %s), %d orders.\n", what, s / n, mean, m, worst, n }' "$4"
}

readonly header='| what | N | real [Gflop/s] | predicted | error [%] | took [s] | PSS [MB] |
| --- | --- | --- | --- | --- | --- | --- |'

part_table() {
  {
    echo "# dahu, $(date -u +%Y-%m-%d), $(git -C "$project" rev-parse --short HEAD 2> /dev/null || echo 'no git')"
    printf '\n## Matrix order, fast mode, and exact mode\n\n%s\n' "$header"
    for N in "${orders[@]}"; do row fast "fast-$N" "$N"; done | tee "$out/sizes.part"
    for N in "${orders[@]}"; do row sampled "sampled-$N" "$N"; done
    for N in "${orders[@]}"; do row 'sampled, exact' "sampled-exact-$N" "$N"; done | tee "$out/exact.part"
    for N in 50000 100000; do row exact "exact-$N" "$N"; done
    summary 'Fast mode' 1.7 3.5 "$out/sizes.part"
    summary 'Sampled, in exact mode where it applies' 1.6 3.2 "$out/exact.part"
    rm -f "$out/sizes.part" "$out/exact.part"
    printf '\n## Ladder of models\n\n%s\n' "$header"
    for N in "${ladder_orders[@]}"; do
      row 'one linear model, simple kernels, no noise' "ladder-1-$N" "$N"
      row 'one polynomial, the mean over the CPUs, no noise' "ladder-2-$N" "$N"
      row 'linear per CPU, no noise' "ladder-3-$N" "$N"
      row 'polynomial per CPU, no noise' "ladder-4-$N" "$N"
      row 'polynomial per CPU, noise' "ladder-5-$N" "$N"
      row 'the same, and noise of the network' "fast-$N" "$N"
    done
    printf '\n## Process grids of 960 ranks, realistic network\n\n%s\n' "$header"
    for grid in "${geometries[@]}"; do
      IFS=' ' read -r N P Q <<< "$grid"
      row "$P x $Q" "geometry-$N-${P}x$Q" "$N" unknown
    done
    printf '\n## Large\n\n%s\n' "$header"
    row '4096 ranks, fat tree' large-4000000 4000000
    if [[ -e $out/ratio.csv ]]; then
      printf '\n## Against the same without techniques\n\n'
      sed '1 { h; s/^/| /; s/,/ | /g; s/$/ |/; p; g; s/[^,]*/ --- /g; s/,/|/g; s/^/|/; s/$/|/; p; d }; s/^/| /; s/,/ | /g; s/$/ |/' "$out/ratio.csv"
    fi
  } > "$out/table.md.part"
  mv "$out/table.md.part" "$out/table.md"
  cat "$out/table.md"
}

for part in "${parts[@]}"; do "part_$part"; done
