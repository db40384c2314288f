#!/usr/bin/env bash
# Adds the archives of a run of slurm.sh, logs the nodes without one, and checks: add_all.sh RUN HISTORY DATE
set -euo pipefail
run=$1 history=$2 date=$3
while read -r node; do
  if [ -e "$run/$node.zip" ]; then
    hplcast history add "$run/$node.zip" --database "$history" || echo "add_all.sh: $node.zip was not added" >&2
  else # a node that no campaign knows yet is refused
    hplcast history failed --date "$date" --hosts "$node" --database "$history" || true
  fi
done <"$run/nodes"
hplcast check "$history" --record
