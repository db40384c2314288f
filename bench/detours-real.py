#!/usr/bin/env python3
"""What a source of detours costs the real HPL of this machine, beside what is predicted.

Within one mpirun HPL runs again and again; the source goes on or is stopped between two runs, in pairs of random order,
so that a machine that drifts from second to second slows both alike. Between series of runs hplcast-measure-detours
watches the cores without the source and with it, in turns, so that it sees the same machine: with a loop that computes,
or one that reads the clock, or both. The measured slow-down is the ratio of the mean times, its 90 % interval the
bootstrap over rounds and the pairs of each: a round has phases of its own, which decide what sources of single cores
cost. The predicted one is the ratio of the means over seeds, with the detours that were seen with the source and
without it; what takes as much time of both is fitted from both (--beside). Needs a machine where nothing else runs; as
root, sources get real-time priority, so that each detour comes whole and at its instant.

All rounds are kept in FOLDER, a folder for each case: started again, the script goes on with the case that has the
fewest, so that short idle times add up. --seconds ends it; --evaluate predicts (also beside other work) and prints.

Example: bench/detours-real.py --cluster build/quickstart/cluster.json -o detours-real --most 10"""
import argparse, csv, json, math, os, pathlib, random, re, shlex, signal, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Period, duration [s]: from many short detours to few long ones, of the same share of 2.5 or 5 %, and one of 1 %.
SOURCES = [(0.001, 25e-6), (0.01, 250e-6), (0.1, 2.5e-3), (0.1, 1e-3), (0.2, 10e-3)]
GRIDS = [(1, 2), (2, 1)]
LEVEL = 0.90
SIDES = ("without", "with")
# How detours are watched.
WATCHES = {"clock": [], "dgemm": ["--work", "dgemm"]}
# [s] of watching with the source and without it; after a source was stopped or went on, and before it will be.
TURN, SETTLE = 0.5, 0.01

# Runs of one size, 400 at most, without the check of their residuals.
DAT = """HPLinpack benchmark input file
by hplcast
HPL.out
6
20 # of problems
{sizes} Ns
20 # of NBs
{blocks} NBs
0 PMAP
1 # of grids
{p} Ps
{q} Qs
-16.0 threshold
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


def bootstrap(rounds, rng, draws=1000):
    """The ratio of the means of both columns of all pairs, and its interval over rounds and the pairs of each."""
    def ratio(chosen):
        pairs = [pair for one in chosen for pair in one]
        return sum(pair[1] for pair in pairs) / sum(pair[0] for pair in pairs)
    drawn = sorted(ratio(rng.choices(one, k=len(one)) for one in rng.choices(rounds, k=len(rounds)))
                   for _ in range(draws))
    return ratio(rounds), quantile(drawn, (1 - LEVEL) / 2), quantile(drawn, (1 + LEVEL) / 2)


class Source:
    """A program beside HPL, stopped but where it is told to go on."""

    def __init__(self, words):
        self.words, self.goes_on = words, True

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True)
        time.sleep(1)
        self.go_on(False)
        return self

    def go_on(self, wanted):
        if self.process.poll() is not None:
            sys.exit(f"detours-real.py: {shlex.join(self.words)} ended (status {self.process.returncode})")
        if wanted != self.goes_on:
            os.killpg(self.process.pid, signal.SIGCONT if wanted else signal.SIGSTOP)
        self.goes_on = wanted

    def __exit__(self, *_):
        for number in (signal.SIGTERM, signal.SIGCONT):
            os.killpg(self.process.pid, number)
        self.process.wait()


def write_dat(args, folder, case):
    sizes, blocks = " ".join([str(case["N"])] * 20), " ".join([str(args.nb)] * 20)
    (folder / "HPL.dat").write_text(DAT.format(sizes=sizes, blocks=blocks, p=case["P"], q=case["Q"]))


def real_pairs(args, case, source, rng):
    """[s] of runs without the source and with it, for args.round seconds. The first run warms up."""
    pairs, states, times = [], [False], []
    with tempfile.TemporaryDirectory() as folder:
        write_dat(args, pathlib.Path(folder), case)
        words = ["mpirun", "-np", str(case["P"] * case["Q"]), "--map-by", "core", "--bind-to", "core",
                 str(args.build / "bin/xhpl")]
        hpl = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        end = time.monotonic() + args.round
        text = []
        for line in hpl.stdout:
            text.append(line)
            found = re.match(r"hplcast: time_s=(\S+)", line)
            if not found:
                continue
            times.append(float(found[1]))
            if len(times) % 2 == 1:
                if len(times) > 1:
                    pairs.append(tuple(times[-2 + states[-2:].index(side)] for side in (False, True)))
                if time.monotonic() > end:
                    break
                states.append(rng.random() < 0.5)
            else:
                states.append(not states[-1])
            source.go_on(states[-1])
        source.go_on(False)
        if not pairs:
            sys.exit(f"detours-real.py: {shlex.join(words)} failed:\n{''.join(text)[-2500:]}")
        hpl.terminate()
        hpl.stdout.read()
        hpl.wait()
    return pairs


def watch(args, source, work, paths, host, rng):
    """Writes the detours that are seen without the source and with it, in turns of half a second. Each round is a host
    of its own: a source that is started again has another phase."""
    turns = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "gaps.csv"
        words = [str(args.build / "bin/hplcast-measure-detours"), "--for", f"{args.watch}s", "-o", str(path)]
        watching = subprocess.Popen(words + WATCHES[work], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while watching.poll() is None:
            for running in rng.sample((False, True), 2):
                source.go_on(running)
                begin = time.time() + SETTLE
                time.sleep(TURN)
                turns.append((running, begin, begin + TURN - 2 * SETTLE))  # before this script wakes up
        source.go_on(False)
        rows = list(csv.DictReader(path.open()))
    epoch = next(float(row["start_s"]) for row in rows if row["kind"] == "epoch")
    for running, path in zip((False, True), paths):
        kept = [row for row in rows if row["kind"] == "epoch"]
        for _, begin, end in (one for one in turns if one[0] == running):
            begin, end = begin - epoch, end - epoch
            watched = set()  # cores whose window has more than the first moment of this turn
            for row in sorted(rows, key=lambda row: row["kind"] != "window"):
                start, stop = float(row["start_s"]), float(row["start_s"]) + float(row["duration_s"] or 0)
                first, last = max(start, begin), min(stop, end)
                if row["kind"] == "window" and first + SETTLE < last:
                    watched.add(row["core"])
                elif row["kind"] != "gap" or row["core"] not in watched or not begin <= start < end:
                    continue
                kept.append({**row, "host": host, "start_s": f"{first:.9f}", "duration_s": f"{last - first:.9f}"})
        with path.open("w") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(kept)


def source_words(args, case):
    """Words that start the source of a case."""
    if args.agent:
        return shlex.split(args.agent)
    words = [str(args.build / "bin/hplcast-noise-source"), "--period", f"{case['period_s']:g}s",
             "--duration", f"{case['duration_s']:g}s", "--cores", f"0-{case['P'] * case['Q'] - 1}", "--for", "3600s"]
    real_time = ["chrt", "-f", "10"] if os.geteuid() == 0 else []
    return real_time + words + (["--synchronous"] if case["synchronous"] else [])


def measure_round(args, case, folder, rng):
    folder.mkdir(parents=True, exist_ok=True)
    number = len(list(folder.glob("pairs-*.csv")))
    with Source(source_words(args, case)) as source:
        for work in args.loops:
            paths = [folder / f"gaps-{number}-{work}-{side}.csv" for side in SIDES]
            watch(args, source, work, paths, f"round{number}", rng)
        pairs = real_pairs(args, case, source, rng)
    path = folder / f"pairs-{number}.csv"
    path.with_suffix(".new").write_text("without_s,with_s\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    path.with_suffix(".new").replace(path)


def rounds_of(folder):
    """Pairs of each round."""
    return [[(float(row["without_s"]), float(row["with_s"])) for row in csv.DictReader(path.open())]
            for path in sorted(folder.glob("pairs-*.csv"))]


def run(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"detours-real.py: {shlex.join(words)} failed: {done.stderr}")
    return done.stdout


def predicted_times(args, case, folder, work, side):
    """[s] of each seed with the detours that were seen on one side, and their share of the time. Nothing of no file."""
    files, beside = ([str(path) for path in sorted(folder.glob(f"gaps-*-{work}-{name}.csv"))
                      if (folder / f"pairs-{path.name.split('-')[1]}.csv").exists()]
                     for name in (side, SIDES[1 - SIDES.index(side)]))
    if not files:
        return [], 0
    cluster, report = folder / f"cluster-{work}-{side}.json", folder / f"detours-{work}-{side}.json"
    fit = [args.hplcast, "fit", "detours", *files, *(f"--beside={path}" for path in beside), "--quiet"]
    run(fit + ["-o", str(report)])
    run(fit + ["--cluster", args.cluster, "-o", str(cluster)])
    seeds = round(args.seeds * (max(map(int, args.sizes.split(","))) / case["N"]) ** 2)  # short runs scatter more
    found = json.loads(run([args.hplcast, "predict", str(cluster), "-N", str(case["N"]), "--nb", str(args.nb),
                            "-P", str(case["P"]), "-Q", str(case["Q"]), "--swap", "2", "--mode", "exact",
                            "--windows", "off", "--interval", "off", "--json",
                            "--seed", ",".join(str(i + 1) for i in range(seeds))]))
    times = [one["time_s"] for one in (found if isinstance(found, list) else [found])]
    return times, json.loads(report.read_text())["report"]["lost_share"]


def evaluate(args, case, folder, rng):
    rounds = rounds_of(folder)
    pairs = [pair for one in rounds for pair in one]
    ratio, low, high = bootstrap(rounds, rng)
    result = {**case, "rounds": len(rounds), "pairs": len(pairs),
              "time_s": round(statistics.fmean(pair[0] for pair in pairs), 4),
              "real": round(ratio, 4), "low": round(low, 4), "high": round(high, 4)}
    for work in args.loops:
        without, lost_without = predicted_times(args, case, folder, work, SIDES[0])
        with_it, lost_with = predicted_times(args, case, folder, work, SIDES[1])
        predicted = statistics.fmean(with_it) / statistics.fmean(without) if with_it else math.nan
        ratios = [b / a for a, b in zip(without, with_it)]
        error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0
        result.update({work: round(predicted, 4), f"{work}_se": round(error, 4),
                       f"{work}_lost_without": round(lost_without, 4), f"{work}_lost_with": round(lost_with, 4),
                       f"{work}_inside": int(low <= predicted <= high)})
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cluster", required=True, help="model of this machine (build/quickstart/cluster.json)")
    parser.add_argument("-o", dest="folder", default="detours-real", type=pathlib.Path,
                        help="folder of results (default: %(default)s)")
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path, help="build folder")
    parser.add_argument("--rounds", type=int, default=16, help="rounds per case (default: %(default)s)")
    parser.add_argument("--round", type=float, default=4, help="seconds of HPL per round (default: %(default)s)")
    parser.add_argument("--sizes", default="1500,2500,4000", help="orders of the matrix (default: %(default)s)")
    parser.add_argument("--nb", type=int, default=128)
    parser.add_argument("--seeds", type=int, default=40,
                        help="predictions per case of the largest size, more of smaller ones (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of cases")
    parser.add_argument("--loops", nargs="+", choices=list(WATCHES), default=["dgemm"],
                        help="which loops watch the cores, one after the other (default: dgemm)")
    parser.add_argument("--watch", type=float, default=8,
                        help="seconds of watching per round and loop, half with the source (default: %(default)s)")
    parser.add_argument("--agent", help="instead of sources: a command line that is started beside HPL")
    parser.add_argument("--most", type=int, help="measure this many cases only, in random order")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no round that would end later than this")
    parser.add_argument("--evaluate", action="store_true",
                        help="measure nothing: predict and print the cases that have been measured")
    args = parser.parse_args()
    args.build = args.build.resolve()
    args.hplcast, args.cluster = str(args.build / "bin/hplcast"), str(pathlib.Path(args.cluster).resolve())
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMPI_MCA_pml="ob1", OMPI_MCA_btl="self,vader")
    if os.geteuid() == 0:
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    sources = [{"period_s": source[0], "duration_s": source[1], "synchronous": int(synchronous)}
               for source in SOURCES for synchronous in (False, True)]
    cases = {}
    for source in [{"source": "agent"}] if args.agent else sources:
        for p, q in GRIDS:
            for n in map(int, args.sizes.split(",")):
                case = {**source, "P": p, "Q": q, "N": n}
                cases[args.folder / "-".join(str(value) for value in case.values())] = case
    names = list(cases)
    random.Random(args.seed).shuffle(names)
    chosen = names[: args.most]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # sources end with this script
    begin, rng = time.monotonic(), random.Random()
    while not args.evaluate:
        folder = min(chosen, key=lambda name: len(list(name.glob("pairs-*.csv"))))
        left_s = args.seconds - (time.monotonic() - begin)
        needed_s = 1.2 * args.round + len(args.loops) * args.watch + 4
        if len(list(folder.glob("pairs-*.csv"))) >= args.rounds or left_s < needed_s:
            break
        measure_round(args, cases[folder], folder, rng)
        rounds = rounds_of(folder)
        ratio, low, high = bootstrap(rounds, rng)
        print(f"{folder.name}: {len(rounds)} rounds, real {ratio:.4f} ({low:.4f} to {high:.4f})", flush=True)
    if not args.evaluate and args.seconds < math.inf:
        return
    done = [evaluate(args, case, folder, random.Random(args.seed)) for folder, case in cases.items()
            if list(folder.glob("pairs-*.csv"))]
    if not done:
        sys.exit(f"detours-real.py: no round is in {args.folder}")
    with (args.folder / ("agent.csv" if args.agent else "sources.csv")).open("w") as out:
        for stream in (out, sys.stdout):
            writer = csv.DictWriter(stream, list(done[0]))
            writer.writeheader()
            writer.writerows(done)
    for work in args.loops:
        inside = [one[f"{work}_inside"] for one in done if not math.isnan(one[work])]
        print(f"{work}: {sum(inside)} of {len(inside)} predictions are inside the {LEVEL:.0%} interval of the real one")


if __name__ == "__main__":
    main()
