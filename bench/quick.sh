#!/usr/bin/env bash
# hplcast quick against sampled simulations of the clusters that it writes (docs/measurements/quick.md).
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/quick.sh [-o FOLDER] [--build DIR] [--only NAMES]

Estimates HPL by `hplcast quick` on 24 machines of 16 to 4096 ranks, simulates the same cluster.json at the same N (fast mode, windows of panels), and
prints a row for each: Gflop/s of both, error of the estimate, error bar of the sampling, whether the interval of quick holds the simulation; then the
median and the worst error. About an hour on one idle core, most of it for the machines of more than 2000 ranks.
FOLDER (default: quick-results) keeps the results; what is there is not simulated again (start with an empty folder after a change of quick).
NAMES: such as `v1,v5`: only these machines.

Exit codes: 0 the median is at most 4 %, the worst at most 10 %, and nine of ten intervals hold; 1 they are not; 2 wrong usage, 3 something is missing,
6 a prediction failed.
HELP
}

fail() { local status=$1; shift; printf 'quick.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
out=quick-results build=$project/build only=
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -o | --build | --only)
      [[ $# -ge 2 ]] || fail 2 "$1 needs a value"
      case $1 in -o) out=$2 ;; --build) build=$2 ;; --only) only=,$2, ;; esac
      shift 2 ;;
    *) fail 2 "unknown argument '$1'; see bench/quick.sh --help" ;;
  esac
done
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "no $hplcast; build it (tools/build) or give --build"
mkdir -p "$out"

# name, nodes, cores, Gflop/s per core, bandwidth, latency, memory, NB, other options
machines() {
  cat <<'MACHINES'
v1 1 16 35 - - 64GiB 192
v2 4 8 20 25Gb/s 3us 32GiB 128
v3 6 8 60 100Gb/s 1us 96GiB 256
v4 16 4 40 10Gb/s 30us 8GiB 128
v5 2 31 25 100Gb/s 1us 128GiB 192
v6 7 13 32 50Gb/s 2us 26GiB 160
v7 3 40 36 200Gb/s 1.5us 128GiB 256
v8 64 32 35 100Gb/s 1.2us 128GiB 384 --threads 16:0.95
v9 20 10 15 25Gb/s 5us 20GiB 128
v10 16 16 8 10Gb/s 10us 128GiB 192
v11 12 24 45 100Gb/s 1us 48GiB 256
v12 64 6 30 40Gb/s 1.5us 12GiB 128
v13 32 16 20 100Gb/s 2us 256GiB 256
v14 64 128 40 200Gb/s 1us 512GiB 384 --threads 16:0.9
v15 40 16 28 25Gb/s 25us 64GiB 192
v16 96 8 55 200Gb/s 0.8us 32GiB 256
v17 32 32 30 100Gb/s 1us 192GiB 192
v18 1024 48 40 200Gb/s 1.5us 256GiB 512 --threads 48:0.9
v19 56 24 18 50Gb/s 3us 96GiB 256
v20 64 32 38 200Gb/s 1us 256GiB 256
v21 100 28 25 100Gb/s 1.5us 128GiB 224
v22 128 32 40 100Gb/s 1us 128GiB 256
v23 512 8 30 100Gb/s 1.2us 64GiB 256
v24 8 64 40 200Gb/s 1us 64GiB 128
MACHINES
}

while read -r name nodes cores rate bandwidth latency memory nb more; do
  [[ -z $only || $only == *",$name,"* ]] || continue
  machine=(--nodes "$nodes" --cores "$cores" --gflops-per-core "$rate" --memory "$memory" --nb "$nb" --name "$name")
  [[ $bandwidth == - ]] || machine+=(--bandwidth "$bandwidth" --latency "$latency")
  # shellcheck disable=SC2086
  "$hplcast" quick "${machine[@]}" $more --json -o "$out/$name.json" > "$out/$name.quick.json" 2> "$out/$name.log" || fail 6 "quick: $out/$name.log"
  [[ -s $out/$name.simulated.json ]] && continue
  run=$(python3 -c 'import json, sys
p = json.load(open(sys.argv[1]))["parameters"]
print("-N", p["N"], "--nb", p["NB"], "-P", p["P"], "-Q", p["Q"])' "$out/$name.quick.json")
  # shellcheck disable=SC2086
  "$hplcast" predict "$out/$name.json" $run --mode fast --interval off --json > "$out/$name.part" 2>> "$out/$name.log" || fail 6 "predict: $out/$name.log"
  mv "$out/$name.part" "$out/$name.simulated.json"
done < <(machines)

python3 - "$out" <<'TABLE'
import json, pathlib, statistics, sys
folder = pathlib.Path(sys.argv[1])
errors, inside = [], 0
print("| machine | P x Q | NB | N | simulated [Gflop/s] | quick | interval | error | sampling +- |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
names = sorted((f.name[:-len(".simulated.json")] for f in folder.glob("*.simulated.json")), key=lambda n: (len(n), n))
for name in names:
    estimate = json.loads((folder / (name + ".quick.json")).read_text())
    simulated = json.loads((folder / (name + ".simulated.json")).read_text())
    p, (low, high) = estimate["parameters"], estimate["gflops_interval"]
    error = estimate["gflops"] / simulated["gflops"] - 1
    errors.append(abs(error))
    inside += low <= simulated["gflops"] <= high
    sampling = simulated.get("error_95_s", 0) / simulated["time_s"]
    print(f"| {name} | {p['P']} x {p['Q']} | {p['NB']} | {p['N']} | {simulated['gflops']:.0f} | {estimate['gflops']:.0f} | "
          f"{low:.0f} to {high:.0f} | {100 * error:+.1f} % | {100 * sampling:.1f} % |")
median, worst = statistics.median(errors), max(errors)
print(f"\n{len(errors)} machines: median {100 * median:.1f} %, worst {100 * worst:.1f} %, {inside} inside of the interval")
sys.exit(0 if median <= 0.04 and worst <= 0.1 and inside >= 0.9 * len(errors) else 1)
TABLE
