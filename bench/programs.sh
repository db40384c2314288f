#!/usr/bin/env bash
# How well programs other than HPL are predicted: observed at small sizes here, predicted at larger ones, against real runs.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/programs.sh [options] CLUSTER.json

ScaLAPACK's LU, Cholesky, QR and product of matrices: observed at the small sizes on each grid, predicted at the large ones on the same grids, compared
with the medians of real runs. With --nas and --hpcc also: NAS EP, class S to W; LU.W, 2 ranks to 4; HPC Challenge's HPL, against real runs and `predict`.
All real runs, observed or not, in random order. Prints tables in Markdown. What is in RESULTS already is not done again, so it can be stopped and
started anew. On a machine that does nothing else; CLUSTER.json is of this machine.

  --build DIR       hplcast's build folder (default: build)
  --scalapack DIR   made by get-scalapack (default: scalapack in the build folder)
  --nas DIR         made by get-nas, twice: --class S and --class W
  --hpcc DIR        made by get-hpcc
  -o RESULTS        folder for archives, outputs and predictions (default: programs-results)
  --routines LIST   default getrf,potrf,geqrf,gemm
  --sizes LIST      of predictions, default 2000,3000,4000
  --observed LIST   sizes of observed runs, default 500,1000,1500
  --grids LIST      default 1x1,1x2,2x1
  --rest LIST       default zero,model,bench
  --repeats N       of each real run; the third of it (at least 1) of each observed run (default 5)
  --clock NAME      time: what the program prints as such (default); cpu: CPU time of its first rank, for a busy machine and 1x1

Exit codes: 0 median |error| of ScaLAPACK with --rest model at most 7 %, worst 15 %; 2 wrong usage, 3 something is missing or failed, 5 more.
HELP
}

fail() { local status=$1; shift; printf 'programs.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
build=$project/build scalapack='' nas='' hpcc='' results=programs-results cluster=''
routines=getrf,potrf,geqrf,gemm sizes=2000,3000,4000 observed=500,1000,1500 grids=1x1,1x2,2x1 rest=zero,model,bench repeats=5 clock=time
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build | --scalapack | --nas | --hpcc | --routines | --sizes | --observed | --grids | --rest | --repeats | --clock)
      [[ $# -ge 2 && -n $2 ]] || fail 2 "$1 needs a value"; declare "${1#--}=$2"; shift 2 ;;
    -o) [[ $# -ge 2 && -n $2 ]] || fail 2 "-o needs a folder"; results=$2; shift 2 ;;
    -*) fail 2 "unknown option '$1'; see bench/programs.sh --help" ;;
    *) cluster=$1; shift ;;
  esac
done
[[ $routines =~ ^(getrf|potrf|geqrf|gemm)(,(getrf|potrf|geqrf|gemm))*$ ]] || fail 2 "--routines is '$routines'; expected some of getrf,potrf,geqrf,gemm"
[[ $sizes =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || fail 2 "--sizes is '$sizes'; expected numbers with commas"
[[ $observed =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || fail 2 "--observed is '$observed'; expected numbers with commas"
[[ $grids =~ ^[1-9][0-9]*x[1-9][0-9]*(,[1-9][0-9]*x[1-9][0-9]*)*$ ]] || fail 2 "--grids is '$grids'; expected 1x1,1x2 ..."
[[ $rest =~ ^(zero|model|bench)(,(zero|model|bench))*$ ]] || fail 2 "--rest is '$rest'; expected some of zero,model,bench"
[[ $repeats =~ ^[1-9][0-9]*$ ]] || fail 2 "--repeats is '$repeats'; expected a number from 1"
[[ $clock =~ ^(time|cpu)$ ]] || fail 2 "--clock is '$clock'; expected time or cpu"
[[ -f $cluster ]] || fail 2 "give the cluster.json of this machine"
scalapack=${scalapack:-$build/scalapack}
for file in "$build/bin/hplcast" "$scalapack/scalapack_bench" "$scalapack/scalapack_bench-smpi" \
  ${nas:+"$nas/ep.S" "$nas/ep.W" "$nas/ep.W-smpi" "$nas/lu.W" "$nas/lu.W-smpi"} ${hpcc:+"$hpcc/hpcc" "$hpcc/hpcc-smpi" "$hpcc/hpccinf.txt"}; do
  [[ -x $file || -f $file ]] || fail 3 "$file is missing; see examples/programs/README.md"
done
mkdir -p "$results" || fail 3 "cannot make $results"

exec python3 "$project/bench/programs.py" "$build/bin/hplcast" "$(readlink -f "$cluster")" "$(cd "$results" && pwd)" "$(cd "$scalapack" && pwd)" \
  "${nas:+$(cd "$nas" && pwd)}" "${hpcc:+$(cd "$hpcc" && pwd)}" "$routines" "$sizes" "$observed" "$grids" "$rest" "$repeats" "$clock"
