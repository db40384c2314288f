#!/usr/bin/env python3
"""What a source of detours costs the real HPL of this machine, beside what is predicted.

Blocks of HPL runs with and without the source come in random order, in pairs, so that a machine that drifts slows both.
The measured slow-down is the ratio of the mean times, its 90 % interval the bootstrap over the pairs. The predicted one
is the ratio of the means over seeds, with the detours that hplcast-measure-detours sees without the source and with it. Needs a machine where nothing else runs; as root, sources get real-time priority, so
that each detour comes whole and at its instant. Results of each case are kept in FOLDER and not made again.

Example: bench/detours-real.py --cluster build/quickstart/cluster.json -o detours-real --pairs 20"""
import argparse, csv, io, json, os, pathlib, random, re, shlex, signal, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Period, duration [s]: from many short detours to few long ones, of the same share of 2.5 or 5 %, and one of 1 %.
SOURCES = [(0.001, 25e-6), (0.01, 250e-6), (0.1, 2.5e-3), (0.1, 1e-3), (0.2, 10e-3)]
GRIDS = [(1, 2), (2, 1)]
LEVEL = 0.90

DAT = """HPLinpack benchmark input file
by hplcast
HPL.out
6
{count} # of problems
{sizes} Ns
1 # of NBs
{nb} NBs
0 PMAP
1 # of grids
{p} Ps
{q} Qs
16.0 threshold
1
1 PFACTs
1
4 NBMINs
1
2 NDIVs
1
1 RFACTs
1
1 BCASTs
1
1 DEPTHs
2 SWAP
64 threshold
0 L1
0 U
1 Equilibration
8 alignment
"""


def quantile(ordered, share):
    return ordered[min(len(ordered) - 1, max(0, round(share * (len(ordered) - 1))))]


def bootstrap(pairs, rng, draws=2000):
    """The ratio of the means of both columns, and its interval over the pairs."""
    def ratio(chosen):
        return sum(one[1] for one in chosen) / sum(one[0] for one in chosen)
    drawn = sorted(ratio(rng.choices(pairs, k=len(pairs))) for _ in range(draws))
    return ratio(pairs), quantile(drawn, (1 - LEVEL) / 2), quantile(drawn, (1 + LEVEL) / 2)


class Source:
    """A program beside HPL: runs inside `with`."""

    def __init__(self, words):
        self.words = words

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(0.3)
        if self.process.poll() is not None:
            sys.exit(f"detours-real.py: {shlex.join(self.words)} ended at once (status {self.process.returncode})")

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()


def write_dat(args, folder, n, p, q, runs):
    (folder / "HPL.dat").write_text(DAT.format(count=runs, sizes=" ".join([str(n)] * runs), nb=args.nb, p=p, q=q))


def real_times(args, n, p, q, folder):
    """[s] of each run of one block."""
    write_dat(args, folder, n, p, q, args.runs)
    words = ["mpirun", "-np", str(p * q), "--map-by", "core", "--bind-to", "core", str(args.build / "bin/xhpl")]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
    times = [float(one) for one in re.findall(r"^hplcast: time_s=(\S+)", done.stdout, re.M)]
    if done.returncode != 0 or len(times) != args.runs or "FAILED" in done.stdout:
        sys.exit(f"detours-real.py: {shlex.join(words)} failed:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return times


def measure(args, case, words, rng):
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for _ in range(args.pairs):
            with_first = rng.random() < 0.5
            sides = {}
            for disturbed in (with_first, not with_first):
                if disturbed:
                    with Source(words):
                        times = real_times(args, case["N"], case["P"], case["Q"], folder)
                else:
                    times = real_times(args, case["N"], case["P"], case["Q"], folder)
                sides[disturbed] = statistics.fmean(times)
            pairs.append((sides[False], sides[True]))
    return pairs


def predict(args, case, cluster, folder):
    """[s] of each seed."""
    write_dat(args, folder, case["N"], case["P"], case["Q"], 1)
    words = [args.hplcast, "predict", cluster, str(folder / "HPL.dat"), "--mode", "exact", "--windows", "off", "--interval", "off",
             "--seed", ",".join(str(i + 1) for i in range(args.seeds)), "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"detours-real.py: predict failed: {done.stderr}")
    found = json.loads(done.stdout)
    return [one["time_s"] for one in (found if isinstance(found, list) else [found])]


def source_words(args, case):
    """Words that start the source of a case."""
    words = [str(args.build / "bin/hplcast-noise-source"), "--period", f"{case['period_s']:g}s", "--duration", f"{case['duration_s']:g}s",
             "--cores", f"0-{case['P'] * case['Q'] - 1}", "--for", "600s"] + (["--synchronous"] if case["synchronous"] else [])
    return (["chrt", "-f", "10"] if os.geteuid() == 0 else []) + words


def measured_clusters(args, words, folder):
    """Clusters with the detours that are seen without the source and with it: switching to it and back takes time, too."""
    clusters = []
    for running in (False, True):
        path, cluster = folder / f"gaps-{running}.csv", folder / f"cluster-{running}.json"
        measure = [str(args.build / "bin/hplcast-measure-detours"), "--method", "gaps", "--for", args.watch, "-o", str(path)]
        if running:
            with Source(words):
                subprocess.run(measure, check=True, capture_output=True)
        else:
            subprocess.run(measure, check=True, capture_output=True)
        fitted = subprocess.run([args.hplcast, "fit", "detours", str(path), "--cluster", args.cluster, "-o", str(cluster), "--quiet"],
                                capture_output=True, text=True)
        if fitted.returncode != 0:
            sys.exit(f"detours-real.py: fit detours failed: {fitted.stderr}")
        clusters.append(str(cluster))
    return clusters


def result_of(case, pairs, without, with_it, rng):
    ratio, low, high = bootstrap(pairs, rng)
    predicted = statistics.fmean(with_it) / statistics.fmean(without)
    error = predicted * statistics.stdev([b / a for a, b in zip(without, with_it)]) / len(without) ** 0.5 if len(without) > 1 else 0
    return {**case, "pairs": len(pairs), "time_s": round(statistics.fmean(one[0] for one in pairs), 4), "real": round(ratio, 4),
            "low": round(low, 4), "high": round(high, 4), "predicted": round(predicted, 4), "predicted_se": round(error, 4),
            "inside": int(low <= predicted <= high)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cluster", required=True, help="model of this machine (build/quickstart/cluster.json)")
    parser.add_argument("-o", dest="folder", default="detours-real", help="folder of results (default: %(default)s)")
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path, help="build folder")
    parser.add_argument("--pairs", type=int, default=20, help="pairs of blocks per case (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="HPL runs per block (default: %(default)s)")
    parser.add_argument("--sizes", default="1500,2500,4000", help="orders of the matrix (default: %(default)s)")
    parser.add_argument("--nb", type=int, default=128)
    parser.add_argument("--seeds", type=int, default=30, help="predictions per case (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of cases and blocks")
    parser.add_argument("--watch", default="10s", help="time for which detours are measured without and with the source (default: %(default)s)")
    parser.add_argument("--agent", help="instead of sources: a command line that is started beside HPL")
    parser.add_argument("--most", type=int, help="stop after this many cases, taken in random order")
    args = parser.parse_args()
    args.build = args.build.resolve()
    args.hplcast, args.cluster = str(args.build / "bin/hplcast"), str(pathlib.Path(args.cluster).resolve())
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMPI_MCA_pml="ob1", OMPI_MCA_btl="self,vader")
    if os.geteuid() == 0:
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    sources = [("agent", None)] if args.agent else [(source, synchronous) for source in SOURCES for synchronous in (False, True)]
    cases = []
    for source, synchronous in sources:
        for p, q in GRIDS:
            for n in map(int, args.sizes.split(",")):
                known = {"source": "agent"} if args.agent else {"period_s": source[0], "duration_s": source[1], "synchronous": synchronous}
                cases.append({**known, "P": p, "Q": q, "N": n})
    rng = random.Random(args.seed)
    rng.shuffle(cases)
    results = pathlib.Path(args.folder)
    results.mkdir(parents=True, exist_ok=True)
    path = results / ("agent.csv" if args.agent else "sources.csv")
    done = list(csv.DictReader(path.open())) if path.exists() else []
    known = {tuple(str(one[key]) for key in cases[0]) for one in done}
    for number, case in enumerate(cases[: args.most]):
        if tuple(str(value) for value in case.values()) in known:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            words = shlex.split(args.agent) if args.agent else source_words(args, case)
            without, with_it = measured_clusters(args, words, folder)
            pairs = measure(args, case, words, rng)
            done.append(result_of(case, pairs, predict(args, case, without, folder), predict(args, case, with_it, folder), rng))
        text = io.StringIO()
        writer = csv.DictWriter(text, list(done[0]))
        writer.writeheader()
        writer.writerows(done)
        path.with_suffix(".new").write_text(text.getvalue())
        path.with_suffix(".new").replace(path)
        one = done[-1]
        print(f"[{number + 1}/{len(cases[: args.most])}] {case}: real {one['real']} ({one['low']} to {one['high']}), predicted {one['predicted']} "
              f"+- {one['predicted_se']}", flush=True)
    inside = sum(int(one["inside"]) for one in done)
    print(f"{inside} of {len(done)} predicted slow-downs lie inside the {LEVEL:.0%} interval of the measured one; {path}")


if __name__ == "__main__":
    main()
