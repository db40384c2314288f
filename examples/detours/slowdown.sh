#!/usr/bin/env bash
# Table of slow-downs from a sweep of examples/detours: time with detours over time without, means over the seeds.
set -euo pipefail
if (($# == 0)) || [[ $1 == -h || $1 == --help ]]; then
  cat <<'HELP'
Usage: hplcast sweep export STUDY.db | examples/detours/slowdown.sh -
       examples/detours/slowdown.sh STUDY.csv...

Reads what `hplcast sweep export` wrote of a plan with the factor add-detours and prints, per N, grid and level, the mean slow-down over the seeds, its standard error, and the number of seeds. Exit codes: 0 fine,
3 no such columns, or no runs without detours.
HELP
  exit 0
fi
awk -F, '
  FNR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    if (!("add-detours" in column) || !("time_s" in column)) { print "slowdown.sh: no columns add-detours and time_s; expected the CSV of `hplcast sweep export`" > "/dev/stderr"; exit 3 }
    next
  }
  {
    run = $column["N"] " " $column["P"] "x" $column["Q"]
    time[run, $column["add-detours"], $column["seed"]] = $column["time_s"]
    runs[run] = $column["P"] * $column["Q"]; levels[$column["add-detours"]]; seeds[$column["seed"]]
  }
  END {
    for (run in runs) for (level in levels) {
      if (level == "none") continue
      n = sum = squares = 0
      for (seed in seeds) if ((run, level, seed) in time && (run, "none", seed) in time) {
        ratio = time[run, level, seed] / time[run, "none", seed]
        ++n; sum += ratio; squares += ratio * ratio
      }
      if (n == 0) continue
      found = 1
      error = n > 1 ? sqrt((squares - sum * sum / n > 0 ? squares - sum * sum / n : 0) / (n - 1) / n) : 0
      printf "%6d  %-14s  %-18s  %.3f +- %.3f  (%d)\n", runs[run], run, level, sum / n, error, n | "sort -n -k1,1 -k4,4"
    }
    if (!found) { print "slowdown.sh: no run with detours has its run without" > "/dev/stderr"; exit 3 }
  }' "$@"
