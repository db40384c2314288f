#!/usr/bin/env bash
# One job per node of a partition, then one that adds all campaigns and checks: slurm.sh FOLDER PARTITION [sbatch options]
# FOLDER is on a file system that all nodes share. Nodes whose job fails, or never ends, are findings.
set -euo pipefail
folder=$(realpath "${1:?usage: slurm.sh FOLDER PARTITION [sbatch options]}") partition=${2:?usage: slurm.sh FOLDER PARTITION}
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
campaign=${WATCH_CAMPAIGN:-$here/campaign.yaml}
run=$folder/$(date -u +%Y-%m-%dT%H%M%S) date=$(date -u '+%Y-%m-%d %H:%M:%S')
mkdir -p "$run"
logs=${run//%/%%}  # Slurm fills in names of logs
quoted() { # for sh, in any locale
  local word
  for word; do printf "'%s' " "${word//\'/\'\\\'\'}"; done
}

jobs=
for node in $(sinfo --noheader --Node --partition "$partition" --format %n | sort -u); do
  echo "$node" >>"$run/nodes"
  # A node that is down keeps its job waiting: --begin and --deadline end that after two hours.
  job=$(sbatch --parsable --partition "$partition" --nodelist "$node" --nodes 1 --exclusive --time 20 --deadline now+2hours \
    --job-name "watch-$node" --output "$logs/$node.log" "$@" \
    --wrap "$(quoted hplcast calibrate "$campaign" --folder "$run/$node.campaign" -o "$run/$node.zip")")
  jobs=$jobs:$job
done
[ -n "$jobs" ] || { echo "slurm.sh: partition $partition has no nodes" >&2; exit 3; }
sbatch --parsable --partition "$partition" --dependency "afterany$jobs" --job-name watch-check --output "$logs/check.log" "$@" \
  --wrap "$(quoted "$here/add_all.sh" "$run" "$folder/history.db" "$date")" >/dev/null
echo "$run/check.log will have the findings"
