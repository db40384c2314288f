#!/usr/bin/env bash
# The same four nodes of 32 cores as 32 x 1, 4 x 8, 2 x 16 and 1 x 32 ranks x threads, N and NB alike: study.sh [N]
# Clusters and predictions go to the present folder. The efficiencies of threaded dgemm are assumptions: measure yours.
set -euo pipefail
n=${1:-40000}

# study RANKS_PER_NODE THREADS:EFFICIENCY P Q
study() {
  local name=${1}x${2%%:*}
  hplcast quick --nodes 4 --cores 32 --gflops-per-core 30 --bandwidth 100Gb/s --latency 1us --memory 192GiB --nb 192 \
    --threads "$2" --name "$name" -o "$name.json" >/dev/null
  hplcast predict "$name.json" -N "$n" --nb 192 -P "$3" -Q "$4" --depth 1 -o "$name-predicted.json" >/dev/null 2>&1
  awk -v name="$name" -v grid="$3x$4" -F '[:,]' '
    /"gflops":/ && !rate { rate = $2 } /"low_gflops":/ { low = $2 } /"high_gflops":/ { high = $2 }
    END { printf "%-6s %5s %8.0f   %.0f to %.0f\n", name, grid, rate, low, high }' "$name-predicted.json"
}

echo "ranks x threads, grid, Gflop/s, 90 % of runs; N=$n"
study 32 1 8 16
study 4 8:0.97 4 4
study 2 16:0.95 2 4
study 1 32:0.92 2 2
