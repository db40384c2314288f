#!/usr/bin/env bash
# From a fresh Debian 12 or 13 machine to a table of predicted and measured HPL Gflop/s: ./quickstart.sh
# Safe to run twice. Everything of the run lies in build/quickstart/. HPL_SOURCE=<folder or tarball> chooses the HPL.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if [ "$#" -gt 0 ]; then
  usage='Usage: ./quickstart.sh    (no options; HPL_SOURCE=FOLDER or TARBALL chooses the HPL; build/quickstart/ has all results)
Measures this machine, predicts HPL, runs it, compares both: 3 min, and about 3 more (on two cores) where it has to be built.'
  if [ "$*" = --help ] || [ "$*" = -h ]; then echo "$usage" && exit; fi
  printf 'quickstart.sh: no options are taken, found "%s"\n%s\n' "$*" "$usage" >&2
  exit 2
fi

readonly nb=128 max_n=7000 seed=1
readonly bin=build/bin results=build/quickstart work=build/quickstart.unfinished
readonly ledger=build/quickstart-ledger.csv # of all quickstarts here: errors of earlier ones tell how far to trust this one
export OPENBLAS_NUM_THREADS=1
unset "${!SLURM_@}" # inside a job, too, this is about one host
[ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# All messages stay in this host: Open MPI need not look for PSM and OFI networks, 0.2 s in each of some 140 starts.
export OMPI_MCA_pml="${OMPI_MCA_pml:-^cm}"

# step NUMBER SECONDS_LEFT TEXT: what happens now, and about how long it takes to the end (measured on two cores).
step() { printf '\n[%s/6] %s (%d s so far, about %d min left)\n' "$1" "$3" "$SECONDS" $((($2 + 59) / 60)) >&2; }

# campaign: what is measured, by as many ranks as the largest of the runs below has.
campaign() {
  cat <<END
name: quickstart
ranks_per_host: $ranks
seed: $seed
warm_up: 5s
chunk: 10s
steps:
  - dgemm: {nb: $nb, max_size: $max_n, count: 300, budget: 60s, common: false, alone: false}
  - kernels:
      runs:
END
  # Three times: a shared machine changes its speed within seconds, memory's more than that of dgemm, and pieces of all
  # steps are measured in random order. Once with the largest order of all, so that no kernel is extrapolated. Those of
  # one rank tell how much faster it is without the other, so that dgemm needs no calls alone.
  for grid in '1 1 5000' '1 2 5000' '2 1 5000' '1 1 5000' '1 2 5000' '2 1 5000' "1 1 $max_n" "1 2 $max_n" "2 1 $max_n"; do
    read -r p q n <<<"$grid"
    [ $((p * q)) -le "$ranks" ] || continue
    # Crout and right-looking panel factorisations call different kernels, or the same with other sizes.
    for run in '2000, PFACT: 2' "$n, PFACT: 1"; do echo "        - {N: $run, NB: $nb, P: $p, Q: $q, BCAST: 1, DEPTH: 1}"; done
  done
  # One core has no messages to measure: all runs are 1x1.
  [ "$ranks" -lt 2 ] || printf '  - %s\n' 'mpi: {max_bytes: 8MiB, count: 80}' 'thresholds: {max_bytes: 1MiB}'
}

# configurations FILE < lines of N P Q BCAST DEPTH: those that fit the cores of this machine.
configurations() {
  echo "N,NB,P,Q,BCAST,DEPTH" >"$1"
  awk -v nb="$nb" -v ranks="$ranks" 'NF == 5 && $2 * $3 <= ranks { print $1 "," nb "," $2 "," $3 "," $4 "," $5 }' >>"$1"
}

step 1 480 "setting up: Debian packages, HPL's source, the build"
tools/setup
tools/build quickstart_programs
rm -rf "$work" # of a run that was interrupted
mkdir -p "$work"
# Cores: two hardware threads may share one.
ranks=$("$bin/hplcast" doctor --json | sed -n 's/^ *"cores": \([0-9]*\),$/\1/p')
[ "$ranks" -lt 2 ] || ranks=2

step 2 220 "looking at the machine"
"$bin/hplcast" doctor

step 3 215 "measuring dgemm, HPL's other kernels and MPI"
campaign >"$work/campaign.yaml"
"$bin/hplcast" calibrate "$work/campaign.yaml" --folder "$work/campaign" -o "$work/campaign.zip"

step 4 120 "fitting models: cluster.json"
"$bin/hplcast" fit cluster "$work/campaign.zip" --quiet --force -o "$work/cluster.json"

step 5 115 "predicting HPL, then running the real one"
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
earlier=()
[ ! -s "$ledger" ] || earlier=(--ledger "$ledger")
"$bin/hplcast" predict "$work/cluster.json" --configurations "$work/runs.csv" --seed "$seed" "${earlier[@]}" \
  -o "$work/predictions.json" >/dev/null
"$bin/hplcast" run-real "$work/runs.csv" --repetitions 3 --seed "$seed" -o "$work/real.csv"

step 6 15 "comparing, and explaining the worst prediction"
"$bin/hplcast" compare "$work/real.csv" --predicted "$work/predictions.json" --json -o "$work/compare.json" --worst "$work/worst.csv"
explained=$work/explained
mkdir "$explained"
"$bin/hplcast" run-real "$work/worst.csv" --repetitions 1 --seed "$seed" --phases --trace "$explained/traces" -o "$explained/observed.csv" >/dev/null
"$bin/hplcast" predict "$work/cluster.json" --configurations "$work/worst.csv" --seed "$seed" --phases -o "$explained/prediction.json" >/dev/null
"$bin/hplcast" explain "$explained/observed.csv" "$explained/prediction.json" --cluster "$work/cluster.json" \
  -o "$work/explained.json" --picture "$explained/both.svg" --trace "$explained/both.json" >/dev/null
"$bin/hplcast" report "$work" -o "$work/report.html"
rm -rf "$results"
mv "$work" "$results"
"$bin/hplcast" compare "$results/real.csv" --predicted "$results/predictions.json" \
  --append-to-ledger "$ledger" --ledger-date "$(date -u +%Y-%m-%dT%H:%M)"
printf '\nAll of this run is in %s/; look at %s/report.html (%d s in all).\n' "$results" "$results" "$SECONDS" >&2
