"""What bench/programs.sh does, which checks its arguments. Each step is a function that leaves one file in the folder of
results, and is skipped if that file is there."""
import csv, io, json, os, random, re, statistics, subprocess, sys, zipfile

(hplcast, cluster, results, scalapack, nas, hpcc, routines, sizes, observed, grids, rests, repeats, clock) = sys.argv[1:]
hplcast = os.path.abspath(hplcast)
os.chdir(results)
routines, grids, rests = routines.split(","), grids.split(","), rests.split(",")
sizes, observed, repeats = [int(n) for n in sizes.split(",")], [int(n) for n in observed.split(",")], int(repeats)
observations = max(1, repeats // 3)
NB = 64
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", HPCC_TESTS="HPL")
if os.geteuid() == 0:
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(words, folder=".", warns=False):
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=3600)
    if done.returncode != 0:
        print("programs.sh: " + " ".join(words) + "\n" + done.stdout[-2000:] + done.stderr[-2000:], file=sys.stderr)
        sys.exit(3)
    if warns:  # a run that others disturbed must not pass for an error of the method
        print(done.stderr, end="", file=sys.stderr)
    return done.stdout


def keep(path, text):
    """Complete or not at all."""
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


def ranks_of(grid):
    p, q = grid.split("x")
    return int(p) * int(q)


def seconds(text):
    """Of scalapack_bench."""
    return float(re.search(clock + r" ([0-9.]+) s", text).group(1))


def older(path, *sources):
    return not os.path.exists(path) or any(os.path.getmtime(path) < os.path.getmtime(one) for one in sources)


def observe(archive, ranks, words, folder=".", extra=()):
    run([hplcast, "observe", "-np", str(ranks), *extra, "--quiet", "-o", os.path.abspath("new-" + archive), "--", *words], folder)
    os.replace("new-" + archive, archive)


def fit(model, archives, of=cluster):
    if older(model, *archives):
        run([hplcast, "fit", "program", *archives, "--cluster", of, "--quiet", "-o", model], warns=True)


def simulate(path, model, program, ranks, words=(), rest="zero", folder="."):
    """The JSON of a run, which has what the program printed."""
    path = os.path.abspath(path)
    if older(path, model, program):
        run([hplcast, "run", program, "--cluster", os.path.abspath(model), "-np", str(ranks), "--noise", "off", "--rest", rest, "--quiet",
             "-o", path, *(["--", *words] if words else [])], folder)
    with open(path) as file:
        return json.load(file)


def percent(ratio):
    return f"{100 * (ratio - 1):+.1f} %"


def spread(values, digits=4):
    return f"{statistics.median(values):.{digits}g} ({min(values):.{digits}g} to {max(values):.{digits}g})"


# --- real runs, all of them in random order ------------------------------------------------------------------------------

steps = []  # (file, function that makes it)


def step(path, function):
    steps.append((path, function))
    return path


def real_scalapack(path, routine, n, grid):
    p, q = grid.split("x")
    words = ["mpirun", "-np", str(ranks_of(grid)), "--bind-to", "core", scalapack + "/scalapack_bench", routine, str(n), str(NB), p, q]
    keep(path, run(words))


def observed_scalapack(path, routine, n, grid):
    observe(path, ranks_of(grid), [scalapack + "/scalapack_bench", routine, str(n), str(NB), *grid.split("x")])


real_files, archives = {}, {}
for routine in routines:
    for grid in grids:
        for n in sizes:
            for i in range(repeats):
                path = step(f"real-{routine}-{n}-{grid}-{i}.txt", lambda path, r=routine, n=n, g=grid: real_scalapack(path, r, n, g))
                real_files.setdefault((routine, n, grid), []).append(path)
        for n in observed:
            for i in range(observations):
                path = step(f"observed-{routine}-{n}-{grid}-{i}.zip", lambda path, r=routine, n=n, g=grid: observed_scalapack(path, r, n, g))
                archives.setdefault((routine, grid), []).append(path)


def archives_of_nas(name, ranks):
    extra = ["--oversubscribe"] if ranks > (os.cpu_count() or 1) else []
    return [step(f"observed-{name}-{ranks}-{i}.zip", lambda path: observe(path, ranks, [f"{nas}/{name}"], extra=extra)) for i in range(repeats)]


def hpcc_folder(n, grid):
    """With the input, from that of get-hpcc."""
    folder = f"hpcc-{n}-{grid}"
    os.makedirs(folder, exist_ok=True)
    p, q = grid.split("x")
    words = {"Ns": n, "NBs": NB, "Ps": p, "Qs": q}
    with open(hpcc + "/hpccinf.txt") as file:
        lines = file.read().split("\n")
    for i, line in enumerate(lines):
        for word, value in words.items():
            if re.fullmatch(r"[0-9]+ +" + word, line.strip()):
                lines[i] = f"{value} {word}"
    keep(folder + "/hpccinf.txt", "\n".join(lines))
    return folder


def hpl_gflops(folder):
    """Of the last run there; its output is removed, because HPC Challenge adds to it."""
    with open(folder + "/hpccoutf.txt") as file:
        rate = [float(line.split()[6]) for line in file if line.startswith("WR")][-1]
    os.remove(folder + "/hpccoutf.txt")
    return rate


def real_hpcc(path, n, grid):
    folder = hpcc_folder(n, grid)
    run(["mpirun", "-np", str(ranks_of(grid)), "--bind-to", "core", hpcc + "/hpcc"], folder)
    keep(path, str(hpl_gflops(folder)))


def observed_hpcc(path, n, grid):
    folder = hpcc_folder(n, grid)
    observe(path, ranks_of(grid), [hpcc + "/hpcc"], folder)
    hpl_gflops(folder)


if nas:
    nas_archives = {(name, ranks): archives_of_nas(name, ranks) for name, ranks in (("ep.S", 1), ("ep.W", 2), ("lu.W", 2), ("lu.W", 4))}
hpcc_archives, hpcc_real = {}, {}
for grid in grids if hpcc else []:
    for n in observed:
        hpcc_archives.setdefault(grid, []).append(
            step(f"observed-hpcc-{n}-{grid}.zip", lambda path, n=n, g=grid: observed_hpcc(path, n, g)))
    for n in sizes:
        for i in range(repeats):
            hpcc_real.setdefault((n, grid), []).append(
                step(f"real-hpcc-{n}-{grid}-{i}.txt", lambda path, n=n, g=grid: real_hpcc(path, n, g)))

random.Random(1).shuffle(steps)
for number, (path, function) in enumerate(steps):
    if os.path.exists(path):
        continue
    print(f"programs.sh: {number + 1} of {len(steps)}: {path}", file=sys.stderr)
    function(path)

# --- ScaLAPACK -----------------------------------------------------------------------------------------------------------

print(f"ScaLAPACK, NB = {NB}, observed at N = {', '.join(map(str, observed))} ({observations} runs each), {clock} in seconds of {repeats} real runs: median (range)\n")
print("| routine | N | grid | real | " + " | ".join(f"--rest {rest}" for rest in rests) + " |")
print("| --- | ---: | --- | --- |" + " --- |" * len(rests))
errors = {}
for routine in routines:
    for grid in grids:
        model = f"model-{routine}-{grid}.json"
        fit(model, archives[routine, grid])
        for n in sizes:
            real_s = []
            for path in real_files[routine, n, grid]:
                with open(path) as file:
                    real_s.append(seconds(file.read()))
            cells = []
            for rest in rests:
                words = [routine, str(n), str(NB), *grid.split("x")]
                result = simulate(f"predicted-{routine}-{n}-{grid}-{rest}.json", model, scalapack + "/scalapack_bench-smpi", ranks_of(grid), words, rest)
                ratio = seconds(result["output"]) / statistics.median(real_s)
                errors.setdefault((routine, rest), []).append(abs(ratio - 1))
                cells.append(percent(ratio))
            print(f"| {routine} | {n} | {grid} | {spread(real_s)} | " + " | ".join(cells) + " |")

print("\n| routine | " + " | ".join(f"--rest {rest}: median, worst" for rest in rests) + " |")
print("| --- |" + " --- |" * len(rests))
for routine in [*routines, "all"]:
    cells = []
    for rest in rests:
        of_rest = [e for (one, its_rest), list_of in errors.items() if its_rest == rest and routine in (one, "all") for e in list_of]
        cells.append(f"{100 * statistics.median(of_rest):.1f} %, {100 * max(of_rest):.1f} %")
    print(f"| {routine} | " + " | ".join(cells) + " |")

# --- NAS: CPU time outside of MPI, which does not need a core for each rank -------------------------------------------------


def executed_s(archive):
    """CPU time of all ranks outside of MPI, and what of it was in regions."""
    total_s = regions_s = 0
    with zipfile.ZipFile(archive) as files:
        for name in files.namelist():
            if name.endswith(".times.csv"):
                for row in csv.DictReader(io.StringIO(files.read(name).decode())):
                    total_s += float(row["time_s"]) * (row["what"] == "total")
                    regions_s += float(row["time_s"]) * (row["what"] == "region")
    return total_s, regions_s


def four_cores():
    """The cluster, with cores for the ranks of LU."""
    with open(cluster) as file:
        model = json.load(file)
    model["hosts"]["cores"] = max(4, model["hosts"]["cores"])
    keep("four-cores.json", json.dumps(model))
    return "four-cores.json"


if nas:
    print("\nNAS, CPU time of all ranks in regions, in seconds: median (range) of real runs; outside of MPI more was in no region\n")
    print("| program | observed | predicted | real | in no region | predicted s | error |\n| --- | --- | --- | --- | --- | --- | --- |")
    wide = four_cores()
    for program, seen, asked in (("ep.W", ("ep.S", 1), ("ep.W", 2)), ("lu.W", ("lu.W", 2), ("lu.W", 4))):
        model = f"model-{program}.json"
        fit(model, nas_archives[seen], wide)
        result = simulate(f"predicted-{program}.json", model, f"{nas}/{program}-smpi", asked[1])
        predicted_s = sum(region["time_s"] for region in result["regions"].values())
        real = [executed_s(archive) for archive in nas_archives[asked]]
        regions_s = [one[1] for one in real]
        outside = statistics.median((total - regions) / total for total, regions in real)
        print(f"| {program} | {seen[0]}, {seen[1]} ranks | {asked[1]} ranks | {spread(regions_s)} | {100 * outside:.1f} % | {predicted_s:.4g} | "
              f"{percent(predicted_s / statistics.median(regions_s))} |")

# --- HPC Challenge -------------------------------------------------------------------------------------------------------

if hpcc:
    print("\nHPL of HPC Challenge, Gflop/s: real runs, in the generic way (--rest model), by `predict`\n")
    print("| N | grid | real | generic | error | predict | generic to predict |\n| ---: | --- | --- | --- | --- | --- | --- |")
    for grid in grids:
        model = f"model-hpcc-{grid}.json"
        fit(model, hpcc_archives[grid])
        for n in sizes:
            folder, path = hpcc_folder(n, grid), f"predicted-hpcc-{n}-{grid}.txt"
            if older(path, model, hpcc + "/hpcc-smpi"):
                simulate(path + ".json", model, hpcc + "/hpcc-smpi", ranks_of(grid), (), "model", folder)
                keep(path, str(hpl_gflops(folder)))
            with open(path) as file:
                generic = float(file.read())
            p, q = grid.split("x")
            options = "--pfact 2 --nbmin 4 --ndiv 2 --rfact 1 --bcast 1 --depth 1 --swap 2 --swap-threshold 64".split()
            predicted = json.loads(run([hplcast, "predict", cluster, "-N", str(n), "--nb", str(NB), "-P", p, "-Q", q, *options, "--json", "--quiet"]))
            real = []
            for one in hpcc_real[n, grid]:
                with open(one) as file:
                    real.append(float(file.read()))
            print(f"| {n} | {grid} | {spread(real)} | {generic:.4g} | {percent(generic / statistics.median(real))} | {predicted['gflops']:.4g} | "
                  f"{percent(generic / predicted['gflops'])} |")

rest = "model" if "model" in rests else rests[0]
of_all = [e for (_, its_rest), list_of in errors.items() if its_rest == rest for e in list_of]
sys.exit(5 if statistics.median(of_all) > 0.07 or max(of_all) > 0.15 else 0)
