#!/usr/bin/env bash
# How much faster the simulation is than the same HPL, platform and models without hplcast's techniques, side by side.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/ratio.sh CLUSTER.json [--build DIR] [--mode exact|fast] [--limit S] N:P:Q ...

For each N:P:Q predicts HPL (NB 128, DEPTH 1, SWAP 0, BCAST 2, as dahu was run) and simulates the same with the yardstick: kernels replaced by one
usleep per call, dlopen privatization, nothing else. Prints CSV: CPU seconds (user + system; wall-clock time means nothing on a machine
that does other things), peak memory, both results, and the ratio of the CPU seconds. After --limit CPU seconds (default: none) the yardstick is
stopped: naive_finished is then "no", and the ratio would be larger still.
Needs the targets hplcast_program, hplcast_platform, xhpl-smpi and xhpl-smpi-naive.

Exit codes: 0 fine, 2 wrong usage, 3 something is missing, 6 a simulation failed.
Example: bench/ratio.sh dahu.json 20000:8:8 20000:32:32
HELP
}

fail() { local status=$1; shift; printf 'ratio.sh: %s\n' "$*" >&2; exit "$status"; }

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build cluster='' mode=() limit=unlimited
cases=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build) [[ $# -ge 2 ]] || fail 2 "--build needs a folder"; build=$2; shift 2 ;;
    --mode) [[ $# -ge 2 ]] || fail 2 "--mode needs exact or fast"; mode=(--mode "$2"); shift 2 ;;
    --limit) [[ $# -ge 2 && $2 =~ ^[1-9][0-9]*$ ]] || fail 2 "--limit needs a whole number of CPU seconds"; limit=$2; shift 2 ;;
    *:*:*) cases+=("$1"); shift ;;
    *) [[ -z $cluster ]] || fail 2 "unknown argument '$1'; see bench/ratio.sh --help"; cluster=$1; shift ;;
  esac
done
[[ -n $cluster && ${#cases[@]} -gt 0 ]] || fail 2 "give a cluster.json and at least one N:P:Q; see bench/ratio.sh --help"
[[ -r $cluster ]] || fail 3 "$cluster cannot be read"
cluster=$(readlink -f "$cluster") build=$(cd "$build" && pwd)
for file in bin/hplcast bin/xhpl-smpi bin/xhpl-smpi-naive lib/libhplcast-platform.so; do
  [[ -e $build/$file ]] || fail 3 "$build/$file is missing: ninja -C $build hplcast_program hplcast_platform xhpl-smpi xhpl-smpi-naive"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs a command with its output in a file and sets cpu_s, rss_mb (GNU time: of the process and the children it waited for) and finished.
# LIMIT in CPU seconds, or unlimited.
measured() {
  local limit=$1 log=$2; shift 2
  finished=yes
  (ulimit -t "$limit"; exec /usr/bin/time -q -f '%U %S %M' -o "$work/time" "$@") > "$log" 2>&1 || finished=no
  read -r user system kib < "$work/time"
  cpu_s=$(awk -v u="$user" -v s="$system" 'BEGIN { printf "%.2f", u + s }')
  rss_mb=$((kib / 1024))
  [[ $finished == yes || ( $limit != unlimited && ${cpu_s%.*} -ge $limit ) ]] || { tail -5 "$log" >&2; fail 6 "failed: $*"; }
}
result() { sed -n 's/.*hplcast: time_s=[^ ]* gflops=\([0-9.e+-]*\).*/\1/p' "$1"; }

echo "N,P,Q,hplcast_cpu_s,naive_cpu_s,ratio,hplcast_rss_mb,naive_rss_mb,hplcast_gflops,naive_gflops,naive_finished"
for one in "${cases[@]}"; do
  IFS=: read -r N P Q <<< "$one"
  files=$work/$N-$P-$Q
  measured unlimited "$work/log" "$build/bin/hplcast" predict "$cluster" -N "$N" --nb 128 -P "$P" -Q "$Q" --pfact 1 --rfact 2 --nbmin 2 --bcast 2 \
    --depth 1 --swap 0 --swap-threshold 128 --keep "$files" "${mode[@]}"
  ours_s=$cpu_s ours_mb=$rss_mb ours=$(result "$files/simulation.log")
  cd "$files"
  grow=no
  ! grep -q '"growing_probes": true' cluster.json || grow=yes
  echo '{"schema_version": 1, "cluster": "cluster.json"}' > naive.json
  HPLCAST_SIMULATION=$files/naive.json measured "$limit" naive.log smpirun -np $((P * Q)) -platform "$build/lib/libhplcast-platform.so" -hostfile hostfile \
    --cfg=smpi/privatization:dlopen --cfg=smpi/simulate-computation:no --cfg=smpi/host-speed:1f --cfg=smpi/shared-malloc-blocksize:2097152 \
    --cfg=smpi/grow-injected-times:$grow "$build/bin/xhpl-smpi-naive"

  ratio=$(awk -v a="$cpu_s" -v b="$ours_s" 'BEGIN { printf "%.1f", a / b }')
  echo "$N,$P,$Q,$ours_s,$cpu_s,$ratio,$ours_mb,$rss_mb,$ours,$(result naive.log || true),$finished"
  cd "$work"
  rm -rf "$files"
done
