#!/usr/bin/env bash
# What detours cost MPI_Barrier, MPI_Allreduce and MPI_Alltoall over the number of ranks, by simulation.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: examples/detours/collectives.sh [--build DIR] [--cluster CLUSTER.json] [--ranks LIST] [--detours PERIOD:DURATION:PER]... [--work SECONDS] [--seconds SECONDS]

Simulates series of collective operations with work between them (collectives.c) on CLUSTER.json (examples/dahu-like.json), with and without detours, and prints a table of slow-downs: time of a step with detours
over time without. --ranks: 16,64,256; --detours: 1s:10ms:core, 1s:10ms:host and 1s:10ms:cluster, as for `hplcast transform --add-detours`; --work: 1e-4 s before each operation; --seconds: simulated time of a
series without detours, at least 20 steps (2). SMPICC and SMPIRUN: those of SimGrid, else those of PATH.

Exit codes: 0 fine, 2 wrong usage, 3 something is missing or a simulation failed.
HELP
}

fail() { local status=$1; shift; printf 'collectives.sh: %s\n' "$*" >&2; exit "$status"; }

here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
build=$project/build cluster=$project/examples/dahu-like.json ranks=16,64,256 work=1e-4 seconds=2 detours=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build | --cluster | --ranks | --work | --seconds | --detours)
      [[ $# -ge 2 ]] || fail 2 "$1 needs a value"
      case $1 in
        --detours) detours+=("$2") ;;
        *) printf -v "${1#--}" %s "$2" ;;
      esac
      shift 2 ;;
    *) fail 2 "unknown argument '$1'; see examples/detours/collectives.sh --help" ;;
  esac
done
((${#detours[@]} > 0)) || detours=(1s:10ms:core 1s:10ms:host 1s:10ms:cluster)
[[ $ranks =~ ^[0-9]+(,[0-9]+)*$ ]] || fail 2 "--ranks: found '$ranks'; expected numbers, such as 16,64"
number='^[0-9.]+(e-?[0-9]+)?$'
[[ $work =~ $number && $seconds =~ $number ]] || fail 2 "--work and --seconds: found '$work' and '$seconds'; expected seconds"
hplcast=$build/bin/hplcast smpicc=${SMPICC:-smpicc} smpirun=${SMPIRUN:-smpirun}
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"
[[ -r $cluster ]] || fail 3 "$cluster cannot be read"
command -v "$smpicc" >/dev/null && command -v "$smpirun" >/dev/null || fail 3 "smpicc and smpirun of SimGrid are missing; set SMPICC and SMPIRUN"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$smpicc" -O2 "-I$project/smpi-models/include" "-I$project/core/include" "$here/collectives.c" -o "$folder/collectives" "-L$build/lib" -lhplcast-smpi "-Wl,-rpath,$build/lib" ||
  fail 3 "collectives.c does not compile"
cp "$cluster" "$folder/none.json"
for one in "${detours[@]}"; do
  "$hplcast" transform "$cluster" --add-detours "$one" -o "$folder/$one.json" || fail 2 "--detours $one"
done

# Seconds of a step: step CLUSTER RANKS OPERATION BYTES COUNT
step() {
  echo "{\"schema_version\": 1, \"cluster\": \"$1.json\"}" > "$folder/settings"
  HPLCAST_SIMULATION=$folder/settings "$smpirun" -np "$2" -platform "$build/lib/libhplcast-platform.so" -hostfile "$folder/hosts-$2" --log=root.thresh:warning \
    --cfg=smpi/simulate-computation:no --cfg=smpi/host-speed:1f --cfg=smpi/privatization:no --cfg=smpi/grow-injected-times:no \
    --cfg=surf/precision:1e-12 --cfg=maxmin/precision:1e-9 "$folder/collectives" "$3" "$4" "$work" "$5" 2>"$folder/log" || fail 3 "a simulation failed: $(tail -n 3 "$folder/log")"
}

printf '%s' "operation      bytes  ranks    step [us]"
for one in "${detours[@]}"; do printf '  %16s' "$one"; done
printf '\n'
for what in barrier:1 allreduce:2048 alltoall:2048; do
  operation=${what%:*} bytes=${what#*:}
  for count in ${ranks//,/ }; do
    "$hplcast" emit "$cluster" --hostfile "$folder/hosts-$count" --ranks "$count" --quiet >/dev/null || fail 3 "--ranks $count: not on this cluster"
    clean=$(step none "$count" "$operation" "$bytes" 1)
    steps=$(awk -v all="$seconds" -v one="$clean" 'BEGIN { n = int(all / one); print n < 20 ? 20 : n }')
    clean=$(step none "$count" "$operation" "$bytes" "$steps")
    printf '%-10s %9s %6s %12s' "$operation" "$bytes" "$count" "$(awk -v s="$clean" 'BEGIN { printf "%.1f", 1e6 * s }')"
    for one in "${detours[@]}"; do
      slow=$(step "$one" "$count" "$operation" "$bytes" "$steps")
      printf '  %16s' "$(awk -v a="$slow" -v b="$clean" 'BEGIN { printf "%.3f", a / b }')"
    done
    printf '\n'
  done
done
