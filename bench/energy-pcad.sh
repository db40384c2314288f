#!/usr/bin/env bash
# How well time and energy of three MPI programs on three small clusters are predicted that the fit did not see.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/energy-pcad.sh [options]

LULESH, CoMD and miniVite on the clusters cei, draco and poti of PCAD (reference data, pcad/README.md): their regions are observed here on one rank; one
factor per machine, program and size comes from published times on one node (sizes p and m), watts and joules from published energies of whole runs of all
programs and sizes but the one that is predicted. Size g, and all sizes on 2 and 4 nodes, are predicted, and compared with the published times and joules,
with the simulated times of others, and with the guess that 8 ranks take as long on several nodes as on one, with as many watts per node. Prints tables in
Markdown. What is in RESULTS already is not done again. 20 min; the observed runs need an idle machine.

  --build DIR    hplcast's build folder (default: build)
  --proxies DIR  made by examples/programs/get-proxies (default: proxies in the build folder; made if it is not there)
  --data DIR     reference data (default: $HPLCAST_REFERENCE_DATA, else ../shared/data)
  --repeats N    of each observed run (default 3)
  -o RESULTS     folder for archives, models and simulations (default: energy-pcad-results)

Exit codes: 0 fine, 2 wrong usage, 3 something is missing or failed, 5 mean |error| above 5, 15, 20 % (energy) or 3, 10, 20 % (time) of cei, draco, poti.
HELP
}

fail() { local status=$1; shift; printf 'energy-pcad.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
build=$project/build proxies='' results=energy-pcad-results repeats=3 data=${HPLCAST_REFERENCE_DATA:-$project/../shared/data}
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build | --proxies | --data | --repeats) [[ $# -ge 2 && -n $2 ]] || fail 2 "$1 needs a value"; declare "${1#--}=$2"; shift 2 ;;
    -o) [[ $# -ge 2 && -n $2 ]] || fail 2 "-o needs a folder"; results=$2; shift 2 ;;
    *) fail 2 "unknown argument '$1'; see bench/energy-pcad.sh --help" ;;
  esac
done
[[ $repeats =~ ^[1-9][0-9]*$ ]] || fail 2 "--repeats is '$repeats'; expected a number from 1"
[[ -f $data/pcad/means.csv ]] || fail 3 "$data/pcad/means.csv is missing: give the reference data by --data"
[[ -x $build/bin/hplcast ]] || fail 3 "$build/bin/hplcast is missing; build first"
proxies=${proxies:-$build/proxies}
[[ -x $proxies/minivite-smpi ]] || "$project/examples/programs/get-proxies" --build "$build" --output "$proxies" || fail 3 "the programs could not be built"
mkdir -p "$results" || fail 3 "cannot make $results"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
exec python3 "$project/bench/energy_pcad.py" "$build/bin/hplcast" "$(cd "$proxies" && pwd)" "$(cd "$data" && pwd)/pcad" "$(cd "$results" && pwd)" \
  "$project/examples/dahu-like.json" "$repeats"
