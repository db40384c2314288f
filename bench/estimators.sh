#!/usr/bin/env bash
# The figures of docs/measurements/estimators.md, measured again: figure, range, measured, ok or MISSED.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/estimators.sh [-o FOLDER] [--build DIR] [--seeds N] [--tests N] [tests] [sampled]

Prints a line for each figure of docs/measurements/estimators.md: its range, what was measured, ok or MISSED. Parts (default: both):

  tests    those that print figures, with N repetitions each (default 200), and more of what they draw than ./test.sh does
  sampled  seven cases of examples/dahu-like.json in fast mode, N seeds each (default 10), in windows and with all panels; FOLDER (default:
           estimators-results) keeps the predictions, and what is there is not simulated again

About 15 min on one core. The tests must have been built (./test.sh).

Exit codes: 0 all figures are within their ranges, 1 one is not, 2 wrong usage, 3 something is missing, 6 a prediction failed.
HELP
}

fail() { local status=$1; shift; printf 'estimators.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
out=estimators-results build=$project/build seeds=10 tests=200 parts=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -o | --build | --seeds | --tests)
      [[ $# -ge 2 ]] || fail 2 "$1 needs a value"
      case $1 in -o) out=$2 ;; --build) build=$2 ;; --seeds) seeds=$2 ;; --tests) tests=$2 ;; esac
      shift 2 ;;
    tests | sampled) parts+=("$1"); shift ;;
    *) fail 2 "unknown argument '$1'; see bench/estimators.sh --help" ;;
  esac
done
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"
mkdir -p "$out"
: > "$out/figures.txt"
((${#parts[@]} > 0)) || parts=(tests sampled)

measure_tests() {
  local program
  for program in fit_stats fit_series fit_kernel fit_segmented fit_detours study_sampling; do
    [[ -x $build/tests/${program}_test ]] || fail 3 "$build/tests/${program}_test is missing: ninja -C $build ${program}_test"
    echo "estimators.sh: $program" >&2
    HPLCAST_SEEDS=$tests "$build/tests/${program}_test" --gtest_filter='*Figures*:FalseAlarms.OfMedians*:Findings.AreFew*' > "$out/$program.log" || true
    grep -h '^figure:' "$out/$program.log" >> "$out/figures.txt" || true
  done
}

list=$(seq -s, 1 "$seeds")
run() { # LABEL WINDOWS OPTION...
  local label=$1 windows=$2 rule
  shift 2
  for rule in off "$windows"; do
    local to=$out/$label-$rule.json
    [[ $rule != off || ! -e $out/${label%-3}-off.json ]] || continue
    [[ -e $to ]] || "$hplcast" predict "$project/examples/dahu-like.json" --mode fast --seed "$list" --windows "$rule" --quiet -o "$to" "$@" > /dev/null ||
      fail 6 "prediction of $label failed"
  done
  echo "estimators.sh: $label" >&2
}
measure_sampled() {
  run 16 5 -P 4 -Q 4 -N 25600 --nb 64
  run 16-large 5 -P 4 -Q 4 -N 51200 --nb 64
  run 32 5 -P 4 -Q 8 -N 32000 --nb 64
  run 32-3 3 -P 4 -Q 8 -N 32000 --nb 64
  run 64 5 -P 8 -Q 8 -N 50000 --nb 128
  run 64-depth0 5 -P 8 -Q 8 -N 50000 --nb 128 --depth 0
  run 64-long 5 -P 8 -Q 8 -N 26000 --nb 64 --bcast 2ringM --swap long

  python3 - "$out" <<'PYTHON' | tee -a "$out/figures.txt" > /dev/null
import glob, json, math, sys
out, z, own = sys.argv[1], [], []
def times(path):
    found = json.load(open(path))
    return found["predictions"] if isinstance(found, dict) and "predictions" in found else found if isinstance(found, list) else [found]
print("label | sd of full runs | rms error | mean bar | rms z | inside bar", file=sys.stderr)
for path in sorted(glob.glob(out + "/*-[35].json")):
    label = path[len(out) + 1:-7]
    full = [one["time_s"] for one in times(out + "/" + (label[:-2] if label.endswith("-3") else label) + "-off.json")]
    mean = sum(full) / len(full)
    sd = math.sqrt(sum((t - mean) ** 2 for t in full) / (len(full) - 1))
    errors = [(one["time_s"] - mean, one["error_95_s"]) for one in times(path)]
    mine = [2.3 * error / bar for error, bar in errors]
    rms = lambda list: math.sqrt(sum(x * x for x in list) / len(list))
    # The mean of the full runs is off, too, and all errors of a case by the same.
    own += [sd * sd / len(full) / (bar / 2.3) ** 2 for _, bar in errors]
    print(f"{label} | {100 * sd / mean:.2f} % | {100 * rms([e for e, _ in errors]) / mean:.2f} % | {100 * sum(b for _, b in errors) / len(errors) / mean:.2f} % | "
          f"{rms(mine):.2f} | {100 * sum(abs(x) <= 2.3 for x in mine) / len(mine):.0f} %", file=sys.stderr)
    z += mine
def figure(name, least, most, measured):
    print(f"figure: {name} | {least:.4g} to {most:.4g} | {measured:.4g} | {'ok' if least <= measured <= most else 'MISSED'}")
n = len(z)  # the review's figures (the bar: what it says) with three standard errors of n independent errors
figure("sampled: rms of error / sd", 1.04 - 3 * 1.04 / math.sqrt(2 * n), 1.04 + 3 * 1.04 / math.sqrt(2 * n), math.sqrt(sum(x * x - o for x, o in zip(z, own)) / n))
figure("sampled: errors within 1.96 sd", 0.944 - 3 * math.sqrt(0.944 * 0.056 / n), 1, sum(abs(x) <= 1.96 for x in z) / n)
figure("sampled: errors inside the bar", 0.95 - 3 * math.sqrt(0.95 * 0.05 / n), 1, sum(abs(x) <= 2.3 for x in z) / n)
PYTHON
}

for part in "${parts[@]}"; do "measure_$part"; done
sed 's/^figure: //' "$out/figures.txt"
! grep -q 'MISSED$' "$out/figures.txt"
