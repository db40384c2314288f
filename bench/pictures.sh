#!/usr/bin/env bash
# The pictures of docs/pictures/, made of the examples.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/pictures.sh [--build DIR] [-o DIR] [NAME ...]

Makes the pictures of the pages (default: all) as compact SVG in DIR (default: docs/pictures), most of them from examples/. Names:
  sampled   a sampled prediction: windows and the curve between them
  time      where the time goes, in the fastest and the slowest configuration of a sweep
  sweep     Gflop/s over a factor of that sweep
  kernel    the fit of dgemm
  network   the fit of ping-pongs between hosts
  detours   detours as measured, and their sources
  power     the power of a host, as measured and as fitted
  energy    power over time of a predicted run
  generative  CPUs that differ, and the law that clusters are drawn from
  top500    where the time goes in the three predictions of docs/start/top500-run.md
  doubts    the offers of docs/start/two-offers.md with half of the bandwidth, and with slower cores
  explain   from the predicted to the real time of a run on two cores of this machine, predicted from a guess; wants an idle machine
All but explain are the same on any machine with the same SimGrid; all together take some minutes.

Exit codes: 0 fine, 2 wrong usage, 3 something is missing, 6 a command failed.
Example: bench/pictures.sh sweep time
HELP
}

fail() { local status=$1; shift; printf 'pictures.sh: %s\n' "$*" >&2; exit "$status"; }

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build out=$here/../docs/pictures examples=$here/../examples
all=(sampled time sweep kernel network detours power energy generative top500 doubts explain) names=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build) [[ $# -ge 2 ]] || fail 2 "--build needs a folder"; build=$2; shift 2 ;;
    -o) [[ $# -ge 2 ]] || fail 2 "-o needs a folder"; out=$2; shift 2 ;;
    *) [[ " ${all[*]} " == *" $1 "* ]] || fail 2 "unknown picture '$1'; known: ${all[*]}"; names+=("$1"); shift ;;
  esac
done
((${#names[@]} > 0)) || names=("${all[@]}")
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"
hplcast=$(readlink -f "$hplcast") out=$(mkdir -p "$out" && cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

run() { "$hplcast" "$@" --quiet >out.log 2>err.log || { cat err.log >&2; fail 6 "hplcast $* failed"; }; }

# keep FILE NAME [DECIMALS]: of coordinates; a tenth of a pixel is enough.
keep() {
  DECIMALS=${3:-1} perl -pe 's{\b(d|x|y|transform)="([^"]*)"}{my ($n, $v) = ($1, $2);
    $v =~ s/(\d+\.\d+)/sprintf("%.*f", $ENV{DECIMALS}, $1)/ge; $v =~ s/\.0\b//g; "$n=\"$v\""}ge' "$1" >"$out/$2.svg"
  printf '%s: %s bytes\n' "$out/$2.svg" "$(stat -c %s "$out/$2.svg")"
}

sweep() {
  [[ -d sweep ]] && return
  run sweep "$examples/sweep/plan.yaml" --database sweep.db --seed 1,2,3
  run report sweep.db -o sweep.html --pictures sweep
}

explain() {
  export OPENBLAS_NUM_THREADS=1
  ((EUID != 0)) || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  run quick --nodes 1 --cores 2 --gflops-per-core 35 --memory 4GiB -o cluster.json
  printf 'N,NB,P,Q\n4000,128,1,2\n' >HPL.csv
  run run-real HPL.csv --phases -o observed.csv
  run predict cluster.json --hpl-dat HPL.csv --phases -o prediction.json
  run explain observed.csv prediction.json --cluster cluster.json --counterfactuals on -o explained.json
  run report prediction.json observed.csv explained.json -o explained.html --pictures explain
}

for name in "${names[@]}"; do
  case $name in
    sampled)
      run predict "$examples/dahu-like.json" -N 60000 --nb 256 -P 4 -Q 4 --mode fast --windows 6 -o sampled.json
      run report sampled.json -o sampled.html --pictures sampled
      keep sampled/windows-1.svg sampled ;;
    time) sweep; keep sweep/time.svg time ;;
    sweep) sweep; keep sweep/factor-BCAST.svg sweep ;;
    kernel)
      run fit kernel "$examples/fit-library/dgemm.csv" --kernel dgemm --level M2 --noise N2 --plot kernel.svg -o kernel.json
      keep kernel.svg kernel ;;
    network)
      run fit network "$examples/fit-library/mpi.csv" --plot network.svg -o network.json
      keep network-remote-pingpong.svg network ;;
    detours)
      run fit detours "$examples/detours/gaps.csv" --plot detours.svg -o detours.json
      keep detours.svg detours 0 ;;
    power)
      run fit power "$examples/power/samples.csv" --plot power.svg -o power.json
      keep power.svg power ;;
    energy)
      run predict "$examples/dahu-like.json" -N 8000 -P 4 -Q 8 --power-trace energy.svg --bin 10ms
      keep energy.svg energy ;;
    generative)
      run fit generative "$examples/generative/daily.csv" --find-kinds --plot generative.svg -o generative.json
      keep generative.svg generative ;;
    top500)
      printf 'N,NB,P,Q,BCAST,DEPTH\n10000,128,8,8,1ringM,1\n10000,128,8,8,long,1\n10000,256,8,8,1ringM,1\n' >top500.csv
      run predict "$examples/dahu-like.json" top500.csv -o top500.json
      run report top500.json -o top500.html --pictures top500
      keep top500/time.svg top500 ;;
    doubts)
      sed -n "/^cat > doubts.yaml/,/^END/p" "$here/../docs/start/two-offers.md" | sed '1d;$d' >doubts.yaml
      while read -r line; do run $line; done < <(sed -n '/^hplcast quick/,/-o .*json$/p' "$here/../docs/start/two-offers.md" |
        sed -z 's/\\\n *//g' | sed 's/^hplcast //')
      run sweep doubts.yaml --database doubts.db
      run report doubts.db -o doubts.html --pictures doubts
      keep doubts/factor-scale-bandwidth.svg doubts ;;
    explain) explain; keep explain/causes-1.svg explain ;;
  esac
done
