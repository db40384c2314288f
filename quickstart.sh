#!/usr/bin/env bash
# From a fresh Debian 12 machine to a table of predicted and measured HPL Gflop/s: ./quickstart.sh
# Safe to run twice. Everything of the run lies in build/quickstart/; HPL_SOURCE=<folder or tarball> chooses the HPL.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly nb=128 max_n=7000 seed=${HPLCAST_QUICKSTART_SEED:-1}
readonly run=build/quickstart bin=build/bin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

started=$SECONDS
# step NUMBER SECONDS_LEFT TEXT: what happens now, and about how long the rest takes (measured on two cores).
step() { printf '\n[%s/7] %s (%d s so far, about %d min left)\n' "$1" "$3" $((SECONDS - started)) $((($2 + 59) / 60)) >&2; }

mpi() { # mpi RANKS PROGRAM ...: one rank a core, one thread a rank
  local ranks=$1
  shift
  mpirun -np "$ranks" --bind-to core --map-by core "$@"
}

# HPL.dat for the instrumented runs: instrumented N P Q
instrumented() {
  local name="n$1-$2x$3"
  mkdir -p "$work/$name"
  "$bin/hplcast" predict --help >/dev/null
  printf '%s\n' "HPLinpack benchmark input file" "written by quickstart.sh" "HPL.out file" "6 stdout" "1 Ns" "$1 N" "1 NBs" "$nb NB" \
    "0 PMAP" "1 grids" "$2 P" "$3 Q" "-1.0 threshold" "1 PFACTs" "1 PFACT" "1 NBMINs" "4 NBMIN" "1 NDIVs" "2 NDIV" \
    "1 RFACTs" "1 RFACT" "1 BCASTs" "1 BCAST" "1 DEPTHs" "1 DEPTH" "1 SWAP" "64 swapping threshold" "0 L1" "0 U" \
    "1 equilibration" "8 alignment" >"$work/$name/HPL.dat"
  (cd "$work/$name" && HPLCAST_KERNEL_TRACE="$work/kernels-$name" mpi $(($2 * $3)) "$OLDPWD/$bin/xhpl-instrumented" >xhpl.log)
}

step 1 600 "setting up: packages, HPL's source, build"
tools/setup
tools/build programs

# A run that was interrupted leaves its work folder behind: the next one starts clean.
work=$PWD/$run.tmp
rm -rf "$work"
mkdir -p "$work"

step 2 420 "looking at the machine"
"$bin/hplcast" doctor
"$bin/hplcast" doctor --json -o "$work/machine.json" 2>/dev/null
ranks=$(nproc)
[ "$ranks" -lt 2 ] || ranks=2

step 3 415 "measuring: dgemm, HPL's other kernels, MPI"
"$bin/hplcast" design dgemm --nb "$nb" --max-size "$max_n" --count 400 --budget 60 --seed "$seed" -o "$work/dgemm-design.csv"
mpi "$ranks" "$bin/hplcast-measure-dgemm" --design "$work/dgemm-design.csv" -o "$work/dgemm.csv"
instrumented 2000 1 1
instrumented 5000 1 1
if [ "$ranks" -eq 2 ]; then
  instrumented 2000 1 2
  instrumented 5000 1 2
  instrumented 2000 2 1
  instrumented 5000 2 1
fi
