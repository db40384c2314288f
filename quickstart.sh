#!/usr/bin/env bash
# From a fresh Debian 12 machine to a table of predicted and measured HPL Gflop/s: ./quickstart.sh
# Safe to run twice. Everything of the run lies in build/quickstart/. HPL_SOURCE=<folder or tarball> chooses the HPL.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly nb=128 max_n=7000 seed=1
readonly bin=build/bin results=build/quickstart work=build/quickstart.unfinished
export OPENBLAS_NUM_THREADS=1
[ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# step NUMBER SECONDS_LEFT TEXT: what happens now, and about how long it takes to the end (measured on two cores).
step() { printf '\n[%s/7] %s (%d s so far, about %d min left)\n' "$1" "$3" "$SECONDS" $((($2 + 59) / 60)) >&2; }
mpi() { mpirun -np "$ranks" --map-by core --bind-to core "$@"; }

# configurations FILE < lines of N P Q BCAST DEPTH: those that fit the cores of this machine.
configurations() {
  echo "N,NB,P,Q,BCAST,DEPTH" >"$1"
  awk -v nb="$nb" -v ranks="$ranks" 'NF == 5 && $2 * $3 <= ranks { print $1 "," nb "," $2 "," $3 "," $4 "," $5 }' >>"$1"
}

step 1 600 "setting up: Debian packages, HPL's source, the build"
tools/setup
tools/build programs
rm -rf "$work" # of a run that was interrupted
mkdir -p "$work"
ranks=$(nproc)
[ "$ranks" -lt 2 ] || ranks=2

step 2 420 "looking at the machine"
"$bin/hplcast" doctor
"$bin/hplcast" doctor --json -o "$work/machine.json"

step 3 415 "measuring dgemm, HPL's other kernels and MPI"
"$bin/hplcast" design dgemm --nb "$nb" --max-size "$max_n" --count 300 --budget 60s --no-common --seed "$seed" -o "$work/dgemm-design.csv"
mpi "$bin/hplcast-measure-dgemm" --design "$work/dgemm-design.csv" -o "$work/dgemm.csv"
configurations "$work/kernel-runs.csv" <<'END'
2000 1 1 1 1
5000 1 1 1 1
2000 1 2 1 1
5000 1 2 1 1
2000 2 1 1 1
5000 2 1 1 1
END
"$bin/hplcast-measure-kernels" --configurations "$work/kernel-runs.csv" -o "$work/kernels.csv"
if [ "$ranks" -eq 2 ]; then
  "$bin/hplcast" design mpi --max-bytes 8MiB --count 80 --seed "$seed" -o "$work/mpi-design.csv"
  mpi "$bin/hplcast-measure-mpi" --design "$work/mpi-design.csv" -o "$work/mpi.csv"
else
  echo "one core: no MPI to measure, the runs below are all 1x1" >&2
  cp tools/one-core-network.json "$work/network.json" # usual costs: no run below sends a message
fi

step 4 300 "fitting models: cluster.json"
"$bin/hplcast" fit kernel "$work/dgemm.csv" "$work/kernels.csv" --quiet -o "$work/kernels.json"
[ "$ranks" -lt 2 ] || "$bin/hplcast" fit network "$work/mpi.csv" -o "$work/network.json"
"$bin/hplcast" assemble --name "$(uname -n)" --hosts "$(uname -n)" --cores "$ranks" --kernel-fits "$work/kernels.json" \
  --network-fit "$work/network.json" --provenance "$work/machine.json" -o "$work/cluster.json"

step 5 290 "emitting platform.xml, hostfile and model.h; building the simulated HPL with them"
"$bin/hplcast" emit "$work/cluster.json" --platform "$work/platform.xml" --hostfile "$work/hostfile" --model-h "$work/model.h"
"$bin/hplcast-build-xhpl" --model "$work/model.h" -o "$work/xhpl-smpi"

step 6 280 "predicting HPL, then running the real one"
configurations "$work/runs.csv" <<'END'
3000 1 1 1 0
5000 1 1 1 1
7000 1 1 1 0
3000 1 2 1 1
5000 1 2 1 0
5000 1 2 3 1
7000 1 2 3 0
7000 1 2 1 1
3000 2 1 1 0
5000 2 1 1 1
5000 2 1 3 0
7000 2 1 3 1
END
"$bin/hplcast" predict "$work/cluster.json" --configurations "$work/runs.csv" --xhpl "$work/xhpl-smpi" --seed "$seed" \
  -o "$work/predictions.json" >/dev/null
"$bin/hplcast" run-real "$work/runs.csv" --repetitions 3 --seed "$seed" -o "$work/real.csv"

step 7 2 "comparing"
"$bin/hplcast" compare "$work/real.csv" --predicted "$work/predictions.json" --json -o "$work/compare.json"
"$bin/hplcast" report "$work" -o "$work/report.html"
rm -rf "$results"
mv "$work" "$results"
"$bin/hplcast" compare "$results/real.csv" --predicted "$results/predictions.json"
printf '\nAll of this run is in %s/; look at %s/report.html (%d s in all).\n' "$results" "$results" "$SECONDS" >&2
