#!/usr/bin/env bash
# Does `hplcast explain` find faults? Real runs of this machine, predictions with faults planted in the model.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/explain.sh [--build DIR] [--runs N] CLUSTER.json

Runs HPL N times (20) on two ranks of this machine with `run-real --phases`, and explains each run with CLUSTER.json (of this machine) and with the same
model after each of these changes: dgemm 1.1 times too fast, dtrsm 1.5 times too fast, a third of the latency, twice the bandwidth, dtrsm and bandwidth
together. The share that a fault adds to its cause should be what it takes from the predicted time, within a fifth, and no other cause should change as
much. (Real runs differ from the unchanged model, too: so what counts is the difference between two explanations of one run. If the cores of this machine
differ, one core or the other counts as "most of the ranks"; so a kernel has what it has on all ranks and on one of them.) A last row has runs with
another program on the core of rank 1: the verdict must name that rank or messages that were held up. On a machine that does nothing else.

Exit codes: 0 all are found in 19 of 20 runs, 2 wrong usage, 3 something is missing or failed, 5 they are not.
HELP
}

fail() { local status=$1; shift; printf 'explain.sh: %s\n' "$*" >&2; exit "$status"; }

project=$(cd "$(dirname "$0")/.." && pwd)
build=$project/build runs=20 cluster=
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build | --runs) [[ $# -ge 2 ]] || fail 2 "$1 needs a value"; declare "${1#--}=$2"; shift 2 ;;
    -*) fail 2 "unknown option '$1'; see bench/explain.sh --help" ;;
    *) cluster=$1; shift ;;
  esac
done
[[ $runs =~ ^[1-9][0-9]*$ ]] || fail 2 "--runs is '$runs'; expected a number from 1"
[[ -f $cluster ]] || fail 2 "give the cluster.json of this machine"
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 - "$hplcast" "$cluster" "$work" "$runs" <<'PYTHON'
import collections, copy, json, os, subprocess, sys

hplcast, cluster, work, runs = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3], int(sys.argv[4])
os.chdir(work)
os.environ["OPENBLAS_NUM_THREADS"] = "1"
if os.geteuid() == 0:
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(*words):
    done = subprocess.run([hplcast, *words, "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        print("explain.sh: " + done.stderr, file=sys.stderr)
        sys.exit(3)
    return done.stdout


def scaled(polynomial, factor):
    return {term: factor * value for term, value in polynomial.items()}


def faster_kernel(model, name, factor):
    def laws(part):
        for key in ("mu", "sigma"):
            if key in part:
                part[key] = scaled(part[key], 1 / factor)
        for inner in part.get("pieces", []) + part.get("overrides", []):
            laws(inner)
    laws(model["kernels"][name])


def scope(model):
    return model["network"]["remote"] if model["network"].get("remote") else model["network"]["local"]


def less_latency(model, factor):
    one = scope(model)
    one["latency_s"] /= factor
    for segment in one["operations"]["transfer"]:
        segment["intercept_s"] /= factor


def more_bandwidth(model, factor):
    one = scope(model)
    one["bandwidth_bytes_per_s"] *= factor
    if one.get("capacity"):
        for key in ("bytes_per_s", "low_bytes_per_s", "high_bytes_per_s"):
            if key in one["capacity"]:
                one["capacity"][key] *= factor
    for segment in one["operations"]["transfer"]:
        segment["slope_s_per_byte"] /= factor


def key(cause, planted):
    """A kernel on all ranks or on some of them, or latency, bandwidth, calls. Of several kernels the planted one, else
    that which differs most: what the others do is in both explanations. The small kernels together are one cause, of
    which the planted one may have been, and so are small parts of the network."""
    if cause["kind"] == "messages":
        return next((one for one in planted if not one.startswith("d")), "messages")
    if cause["kind"] not in ("kernel", "place"):
        return cause["kind"]
    kernels = [one for one in planted if one.startswith("d")]
    small = cause["kind"] == "kernel" and len(cause["kernels"]) > 1
    return next((one for one in kernels if small or one in cause["kernels"]), cause["kernels"][0])


def both(model):
    faster_kernel(model, "dtrsm", 1.5)
    more_bandwidth(model, 2)


faults = {
    "dgemm x 1.1": (lambda m: faster_kernel(m, "dgemm", 1.1), ["dgemm"]),
    "dtrsm x 1.5": (lambda m: faster_kernel(m, "dtrsm", 1.5), ["dtrsm"]),
    "latency x 3": (lambda m: less_latency(m, 3), ["latency"]),
    "bandwidth / 2": (lambda m: more_bandwidth(m, 2), ["bandwidth"]),
    "dtrsm and bandwidth": (both, ["dtrsm", "bandwidth"]),
}
with open("runs.csv", "w") as out:
    out.write("N,NB,P,Q\n4000,128,2,1\n")  # with P = 2 panels exchange pivots: latency counts
run("run-real", "runs.csv", "--phases", "--repetitions", str(runs), "-o", "observed.csv")
folders = sorted(os.path.join("observed.csv.d", name) for name in os.listdir("observed.csv.d"))

models = {"as it is": (json.load(open(cluster)), 0.0)}
files = {}
for name, (plant, _) in faults.items():
    model = copy.deepcopy(models["as it is"][0])
    plant(model)
    models[name] = (model, 0.0)
for number, (name, (model, _)) in enumerate(models.items()):
    path = "cluster-%d.json" % number
    json.dump(model, open(path, "w"))
    run("predict", path, "--hpl-dat", "runs.csv", "--phases", "-o", "prediction-%d.json" % number)
    files[name] = (path, "prediction-%d.json" % number)
times = {name: json.load(open(prediction))["time_s"] for name, (_, prediction) in files.items()}


def explained(real, name):
    path, prediction = files[name]
    return json.loads(run("explain", real, prediction, "--cluster", path, "--counterfactuals", "on", "--json"))


def changes(explanation, before, planted):
    """Seconds that the explanation has more than the one before, by key."""
    shares = collections.Counter()
    for cause in explanation["causes"]:
        shares[key(cause, planted)] += cause["simulated_s"]
    for cause in before["causes"]:
        shares[key(cause, planted)] -= cause["simulated_s"]
    return shares


print("%-20s %12s %12s %16s %12s" % ("fault", "planted [s]", "found [s]", "within a fifth", "most changed"))
bad = False
plain = [explained(folder, "as it is") for folder in folders]
for name, (_, causes) in faults.items():
    planted = times["as it is"] - times[name]
    if abs(planted) < 0.002 * times[name]:
        print("%-20s %12.5f   too small to be seen in such a run" % (name, planted))
        continue
    found, good, first = [], 0, 0
    for folder, before in zip(folders, plain):
        explanation = explained(folder, name)
        change = changes(explanation, before, causes)
        found.append(sum(change[cause] for cause in causes))
        good += abs(found[-1] - planted) <= abs(planted) / 5
        first += max(change, key=lambda cause: abs(change[cause])) in causes
    bad |= min(good, first) < 0.95 * runs
    found.sort()
    print("%-20s %12.5f %12.5f %13d/%d %9d/%d" % (name, planted, found[len(found) // 2], good, runs, first, runs))

core = sorted(os.sched_getaffinity(0))[1]
neighbour = subprocess.Popen(["taskset", "-c", str(core), "sh", "-c", "while :; do :; done"])
try:
    run("run-real", "runs.csv", "--phases", "--repetitions", str(runs), "-o", "disturbed.csv")
finally:
    neighbour.kill()
named = 0
for folder in sorted(os.listdir("disturbed.csv.d")):
    verdict = " ".join(explained(os.path.join("disturbed.csv.d", folder), "as it is")["verdict"])
    named += "rank 1" in verdict or "held up" in verdict
print("%-20s %12s %12s %16s %9d/%d" % ("busy neighbour", "", "", "", named, runs))
sys.exit(5 if bad or named < 0.95 * runs else 0)
PYTHON
