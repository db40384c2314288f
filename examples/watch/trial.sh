#!/usr/bin/env bash
# Tries a history on this machine in some minutes: trial.sh FOLDER [NORMAL SLOW]
# Six quick campaigns, then two while a busy process takes half of a core: check must be silent before and find it after.
# The machine must be idle otherwise.
set -euo pipefail
folder=${1:?usage: trial.sh FOLDER [NORMAL SLOW]} normal=${2:-6} slow=${3:-2}
here=$(dirname "${BASH_SOURCE[0]}")
mkdir -p "$folder"
# With so few campaigns: five earlier ones are enough, only single runs are tested, twice in a row, with less confidence.
check=(hplcast check "$folder/history.db" --least-runs 5 --window 1 --confidence 0.999 --factors dgemm_gflops --min-effect 5%)

measure() {
  for ((i = 0; i < $1; ++i)); do
    hplcast calibrate "$here/quick.yaml" --folder "$folder/$2$i.campaign" -o "$folder/$2$i.zip" 2>"$folder/$2$i.log" ||
      { tail "$folder/$2$i.log" >&2; exit 3; }
    hplcast history add "$folder/$2$i.zip" --database "$folder/history.db"
  done
}

measure "$normal" normal
"${check[@]}" || { echo "trial.sh: found something without a cause: was the machine idle?" >&2; exit 1; }
taskset -c 0 sh -c 'while :; do :; done' &
busy=$!
trap 'kill "$busy"' EXIT
measure "$slow" slow
status=0
"${check[@]}" || status=$?
[ "$status" = 5 ] || { echo "trial.sh: the busy core was not found: was the machine idle before?" >&2; exit 1; }
