#!/usr/bin/env bash
# The published HPL series of taurus (Heinrich et al. 2017), whose energy was underestimated on larger grids: what waiting ranks draw.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/taurus-energy.sh [--build DIR] [--data DIR] [-N N] [--rate RATE] [PxQ ...]

Predicts HPL (N=20,000, NB=120) on 1x1, 4x1, 8x1, 12x1, 12x4, 12x8 and 12x12 ranks of a model of taurus: nodes of 12 cores at 2.3 GHz, network as measured in 2016, dgemm at
RATE (16.5Gflop/s: 90 % of the nominal peak, not measured), power of node 8 as published. Each grid twice: waiting and messages free, as in the published model, and as expensive as dgemm.
Prints a table in Markdown: shares of the time of a rank, mean power, and how much of the power is missing if waiting is free.

--data: the reference data (default: $HPLCAST_REFERENCE_DATA, ../shared/data). Exit codes: 0 fine, 2 wrong usage, 3 something is missing, 6 a prediction failed.
HELP
}

fail() { local status=$1; shift; printf 'taurus-energy.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
build=$project/build data=${HPLCAST_REFERENCE_DATA:-$project/../shared/data} N=20000 rate=16.5Gflop/s
grids=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build) [[ $# -ge 2 ]] || fail 2 "$1 needs a folder"; build=$2; shift 2 ;;
    --data) [[ $# -ge 2 ]] || fail 2 "$1 needs a folder"; data=$2; shift 2 ;;
    -N) [[ ${2:-} =~ ^[1-9][0-9]{0,6}$ ]] || fail 2 "-N needs a number"; N=$2; shift 2 ;;
    --rate) [[ $# -ge 2 ]] || fail 2 "$1 needs a rate"; rate=$2; shift 2 ;;
    *) [[ $1 =~ ^[1-9][0-9]*x[1-9][0-9]*$ ]] || fail 2 "unknown argument '$1'; see bench/taurus-energy.sh --help"; grids+=("$1"); shift ;;
  esac
done
((${#grids[@]} > 0)) || grids=(1x1 4x1 8x1 12x1 12x4 12x8 12x12)
hplcast=$build/bin/hplcast watts=$data/power/taurus_watt_per_state.csv
for file in "$hplcast" "$watts" "$data/mpi-calibration/taurus/PingPong.csv" "$data/mpi-calibration/taurus-loopback/PingPong.csv"; do
  [[ -e $file ]] || fail 3 "$file is missing"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$hplcast" quick --nodes 16 --cores 12 --gflops-per-core "$rate" --bandwidth 10Gb/s --latency 24us --memory 32GiB --nb 120 -o "$work/quick.json" > "$work/log" 2>&1 ||
  fail 6 "$(cat "$work/log")"
for scope in '' -loopback; do
  "$hplcast" fit network "$data/mpi-calibration/taurus$scope" --published --breakpoints 1420,33500,65536,320000 --async-small 65536 --detached 320000 \
    --bandwidth 1.25GBps --latency 24us -o "$work/network$scope.json" > "$work/log" 2>&1 || fail 6 "$(cat "$work/log")"
done

# One cluster for each price of waiting.
python3 - "$work" "$watts" <<'PYTHON'
import csv, json, sys
work, watts = sys.argv[1:]
cluster = json.load(open(work + "/quick.json"))
network = json.load(open(work + "/network.json"))
inside = json.load(open(work + "/network-loopback.json"))
for key in ("smpi", "report"):
    network.pop(key, None)
network["local"] = inside["remote"] if "remote" in inside else inside["local"]
network["local"].pop("capacity", None)
# Both directions of the link of a node at the rate of its card.
network["remote"]["capacity"] = {"bytes_per_s": 1.25e9, "origin": "given"}
cluster["network"] = network
rows = [row for row in csv.DictReader(open(watts)) if row["application"] == "hpl" and row["node"] == "8"]
fastest, second = rows[0], rows[1]
one, every = float(fastest["watt_one_core"]), float(fastest["watt_all_cores"])
idle = float(second["watt_idle"])  # of the fastest state the file has 115 W, which nobody measured
core = (every - one) / 11
for name, waiting in (("free", 0.0), ("dgemm", core)):
    cluster["power"] = {"idle_w": idle, "awake_w": one - core - idle, "states": {"default": core, "polling": waiting, "blocked": waiting, "messages": waiting}}
    json.dump(cluster, open(f"{work}/{name}.json", "w"))
print(f"Node 8: idle {idle} W, awake {one - core:.2f} W, a core {core:.2f} W", file=sys.stderr)
PYTHON

echo "| grid | time [s] | kernels | messages | polling | blocked | W per node, waiting free | as EP | as dgemm | missing |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
for grid in "${grids[@]}"; do
  for power in free dgemm; do
    "$hplcast" predict "$work/$power.json" -N "$N" --nb 120 -P "${grid%x*}" -Q "${grid#*x}" --windows off --energy -o "$work/$power-p.json" > "$work/log" 2>&1 ||
      fail 6 "$(cat "$work/log")"
  done
  python3 - "$grid" "$work/free-p.json" "$work/dgemm-p.json" <<'PYTHON'
import json, sys
grid, *files = sys.argv[1:]
free, dgemm = (json.load(open(file)) for file in files)
assert free["time_s"] == dgemm["time_s"]
states = {name: state["time_s"] / free["time_s"] for name, state in free["energy"]["states"].items()}
waiting = ("messages", "polling", "blocked")
kernels = sum(share for name, share in states.items() if name not in waiting)
p, q = map(int, grid.split("x"))
nodes = (p * q + 11) // 12
a, b = (one["energy"]["mean_power_w"] / nodes for one in (free, dgemm))
core_w, ep_w = (91.75 / 11, 59.76 / 11)  # (all - one)/11 of node 8 at 2.3 GHz in HPL and in NAS EP
ep = b - p * q / nodes * (1 - kernels) * (core_w - ep_w)  # energy is linear in what waiting costs
shares = " | ".join(f"{share:.3f}" for share in (kernels, *(states.get(name, 0) for name in waiting)))
print(f"| {grid} | {free['time_s']:.2f} | {shares} | {a:.1f} | {ep:.1f} | {b:.1f} | {100 * (1 - a / ep):.1f} to {100 * (1 - a / b):.1f} % |")
PYTHON
done
