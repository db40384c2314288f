"""What bench/energy-pcad.sh does, which checks its arguments. Every simulation and observed run is kept under a name that says all it depends on."""
import collections, csv, hashlib, io, json, math, os, re, statistics, subprocess, sys, zipfile

hplcast, proxies, data, results, example, repeats = sys.argv[1:]
hplcast, repeats = os.path.abspath(hplcast), int(repeats)
os.chdir(results)
if os.geteuid() == 0:
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

MACHINES, PROGRAMS, SIZES, RANKS = ("cei", "draco", "poti"), ("lulesh", "comd", "minivite"), ("p", "m", "g"), 8
FITTED = ("p", "m")  # sizes whose times on one node are fitted; all others, and those on several nodes, are predicted
MOST_ERROR = {"cei": (3, 5), "draco": (10, 15), "poti": (20, 20)}  # percent: time, energy
EDGE = {"lulesh": {"p": 10, "m": 40, "g": 60}, "comd": {"p": 10, "m": 30, "g": 50}, "minivite": {"p": 50000, "m": 200000, "g": 300000}}
DETACHED_BYTES = 65536  # where Open MPI's messages over TCP begin to wait for their receiver
UNIT = {"cei": (124e-6, 1.25e9), "draco": (115e-6, 1.25e8)}  # [s], [bytes/s] of the factors of smpi_values.csv; those of poti are milliseconds
SETUP = {"minivite": ("pairs",)}  # regions before the part that the program times


def words_of(program, size, ranks):
    edge = str(EDGE[program][size])
    if program == "lulesh":
        return ["-s", edge, "-i", "100"]
    if program == "comd":
        return ["-N", "100", "-x", edge, "-y", edge, "-z", edge] + (["-i", "2", "-j", "2", "-k", "2"] if ranks == 8 else [])
    return ["-n", edge]


def work(program, size):
    """Goes with the time."""
    return float(EDGE[program][size]) ** (1 if program == "minivite" else 3)


def run(words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=3600)
    if done.returncode != 0:
        print("energy-pcad.sh: " + " ".join(words) + "\n" + done.stdout[-2000:] + done.stderr[-2000:], file=sys.stderr)
        sys.exit(3)
    return done.stdout


def rows(name):
    with open(os.path.join(data, name)) as file:
        return list(csv.DictReader(file))


def keep(path, text):
    """Complete or not at all."""
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


# --- regions, observed here on one rank ----------------------------------------------------------------------------------


def cpu_s(archive):
    with zipfile.ZipFile(archive) as files:
        text = files.read(next(name for name in files.namelist() if name.endswith(".times.csv"))).decode()
    return next(float(row["time_s"]) for row in csv.DictReader(io.StringIO(text)) if row["what"] == "total")


def observe():
    """One size per program, that of a rank of 8 in size m, so that regions go with their sizes (elements, atoms, edges, pairs): what else a size does to
    a machine is in its factors. Large allocations are kept: what a page costs when it is touched for the first time is that of this machine. Of repeated
    runs the one with the median of the CPU time counts."""
    os.environ.update(MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_="8000000000", MALLOC_TOP_PAD_="268435456")
    asked = [("lulesh", ["-s", "40", "-i", "10"]), ("comd", ["-N", "20", "-x", "15", "-y", "15", "-z", "15"]), ("minivite", ["-n", "25000"])]
    archives = collections.defaultdict(list)
    for program, words in asked:
        paths = [f"{program}-{repetition}.zip" for repetition in range(repeats)]
        for path in paths:
            if not os.path.exists(path):
                run([hplcast, "observe", "-np", "1", "--quiet", "-o", "new-" + path, "--", f"{proxies}/{program}", *words])
                os.replace("new-" + path, path)
        archives[program].append(sorted(paths, key=cpu_s)[(repeats - 1) // 2])
    for name in [name for name in os.environ if name.startswith("MALLOC_")]:
        del os.environ[name]
    with open(example) as file:
        local = json.load(file)["network"]["local"]
    keep("here.json", json.dumps(cluster_of("here", 1, RANKS, 1, 1e-4, 1e8, ping_and_stream(1e-4, 1e8), local)))
    models = {}
    for program in PROGRAMS:
        path = f"observed-{program}.json"
        if not os.path.exists(path):
            run([hplcast, "fit", "program", *archives[program], "--cluster", "here.json", "--quiet", "-o", path])
        with open(path) as file:
            models[program] = json.load(file)["program"]
    return models, local


def segment(min_bytes, intercept_s, slope):
    return {"min_bytes": min_bytes, "intercept_s": intercept_s, "slope_s_per_byte": slope}


def ping_and_stream(latency_s, bytes_per_s):
    """Costs of messages that say what a ping and a stream say, and no more."""
    line = lambda intercept_s, slope: [segment(0, intercept_s, slope)]
    return {"send": line(0, 0), "isend": line(0, 0), "recv": line(0, 0), "transfer": line(latency_s, 1 / bytes_per_s)}


def as_mpi_sends(machine):
    """Costs of messages that the authors measured with MPI; an idle node answers a ping later. Segments that begin at more than twice what a longer one does are
    left out: calls that were disturbed."""
    values = collections.defaultdict(dict)
    for row in rows("smpi_values.csv"):
        if row["partition"] == machine and row["min_size_bytes"]:
            values[row["parameter"]][int(float(row["min_size_bytes"]))] = row
    latency_s, bytes_per_s = UNIT[machine]
    lines = {name: [segment(at, float(row["intercept_s"]), float(row["slope_s_per_byte"])) for at, row in sorted(values[column].items())]
             for name, column in (("send", "os"), ("isend", "ois"), ("recv", "or"))}
    lines["transfer"] = [segment(at, latency_s * float(row["value"]), 1 / (bytes_per_s * float(values["bw-factor"][at]["value"])))
                         for at, row in sorted(values["lat-factor"].items())]
    for name, line in lines.items():
        kept, least_s = [], math.inf
        for one in reversed([one for one in line if one["min_bytes"] < DETACHED_BYTES or name == "transfer"]):
            begins_s = one["intercept_s"] + one["slope_s_per_byte"] * one["min_bytes"]
            if begins_s <= 2 * least_s:
                kept.insert(0, one)
                least_s = min(least_s, begins_s)
        lines[name] = kept
    return lines


def cluster_of(name, hosts, cores, cpus, latency_s, bytes_per_s, operations, local):
    remote = {"bandwidth_bytes_per_s": bytes_per_s, "capacity": {"bytes_per_s": bytes_per_s, "origin": "given"}, "latency_s": latency_s, "operations": operations}
    return {"schema_version": 4, "name": name, "hosts": {"names": f"{name}-[1-{hosts}]", "cores": cores, "cpus": cpus, "rank_to_cpu": "block"}, "kernels": {},
            "network": {"local": local, "remote": remote, "thresholds": {"async_small_bytes": DETACHED_BYTES, "detached_bytes": DETACHED_BYTES}, "iprobe_s": 2e-7, "test_s": 5e-7,
                        "wtime_s": 1e-7, "topology": {"kind": "single_switch"}}, "provenance": {}}


def scaled(model, factor):
    """Times a factor, wherever a model of a region has seconds."""
    if isinstance(model, dict):
        return {key: {name: factor * value for name, value in inner.items()} if key in ("mu", "sigma") else scaled(inner, factor) for key, inner in model.items()}
    return [scaled(one, factor) for one in model] if isinstance(model, list) else model


# --- simulations ---------------------------------------------------------------------------------------------------------

models, local = observe()
network = {}
for machine in MACHINES:
    round_trips = [float(row["round_trip_s"]) for row in rows("ping.csv") if row["partition"] == machine]
    rates = [float(row["bytes_per_s"]) for row in rows("iperf3.csv") if row["partition"] == machine]
    ping = (statistics.median(round_trips) / 2, statistics.median(rates))
    network[machine] = (*ping, as_mpi_sends(machine) if machine in UNIT else ping_and_stream(*ping))


def simulate(machine, program, size, nodes, ranks, factor, setup_factor, power=None):
    """Times that the program prints, and joules from begin to end."""
    model = json.loads(json.dumps(models[program]))
    for name, region in model["regions"].items():
        region["model"] = scaled(region["model"], setup_factor if name in SETUP.get(program, ()) else factor)
    cluster = cluster_of(machine, nodes, ranks // nodes, 1, *network[machine], local)
    cluster["program"] = model
    if power:
        cluster["power"] = power
    text = json.dumps(cluster)
    key = f"{machine}-{program}-{size}-{nodes}x{ranks // nodes}-" + hashlib.sha256(text.encode()).hexdigest()[:12]
    if not os.path.exists(key + ".json"):
        keep(key + ".cluster", text)
        run([hplcast, "run", f"{proxies}/{program}-smpi", "--cluster", key + ".cluster", "-np", str(ranks), "--noise", "off", "--quiet", "-o", key + ".new",
             *(["--energy"] if power else []), "--", *words_of(program, size, ranks)])
        os.replace(key + ".new", key + ".json")
        os.remove(key + ".cluster")
    with open(key + ".json") as file:
        result = json.load(file)
    output, setup_s = result["output"], 0.0
    if program == "lulesh":
        time_s = float(re.search(r"Elapsed time = ([0-9.e+-]+)", output).group(1))
    elif program == "comd":
        found = re.findall(r"^total +[0-9].*$", output, re.MULTILINE)[-1].split()
        time_s = float(found[2] if ranks == 1 else found[-2])
    else:
        time_s = float(re.search(r"Average total time .*: ([0-9.e+-]+),", output).group(1))
        setup_s = float(re.search(r"Time to generate .*: ([0-9.e+-]+)", output).group(1))
    return {"time_s": time_s, "setup_s": setup_s, "energy_j": result["energy"]["energy_j"] if power else 0}


# --- published numbers ---------------------------------------------------------------------------------------------------

real = {}  # (campaign, machine, nodes, program, size)
for row in rows("means.csv"):
    if row["partition"] in MACHINES:
        real[row["campaign"], row["partition"], int(row["nodes"]), row["program"], row["size"]] = row
february = collections.defaultdict(list)  # (machine, nodes, ranks, program, size): runs
for row in rows("runs.csv"):
    if row["threads"] == "1":
        february[row["partition"], int(row["nodes"]), int(row["ranks"]), row["program"], row["size"]].append(row)
others = {}
for row in rows("simulated.csv"):
    if row["campaign"] in ("2026-03-01", "2026-03-03") and row["threads"] == "1":
        others.setdefault((row["partition"], int(row["nodes"]), row["program"], row["size"]), float(row["time_mean_s"]))


def of_february(column, *key):
    values = [float(run_[column]) for run_ in february.get(key, []) if run_[column]]
    return statistics.median(values) if values else None


def real_s(machine, nodes, program, size):
    values = [float(real[campaign, machine, nodes, program, size]["time_mean_s"]) for campaign in "ab" if (campaign, machine, nodes, program, size) in real]
    return statistics.mean(values) if values else None


# --- factors of the machines ---------------------------------------------------------------------------------------------

factors = {}  # (machine, program, ranks of one node, size): of the timed part, from that configuration alone
setup_factors = {}  # (machine, program, size)


def find_factors(machine, program, size):
    setup_s = of_february("setup_s", machine, 1, RANKS, program, size) if program in SETUP else None
    setup = 1.0
    if setup_s:
        setup = setup_factors[machine, program, size] = setup_s / simulate(machine, program, size, 1, RANKS, 1.0, 1.0)["setup_s"]
    for ranks, wanted_s in ((1, of_february("time_s", machine, 1, 1, program, size)), (RANKS, real_s(machine, 1, program, size))):
        if not wanted_s:
            continue
        factor = 1.0
        for _ in range(3 if ranks > 1 else 1):  # messages and waiting do not go with the factor
            factor *= wanted_s / simulate(machine, program, size, 1, ranks, factor, setup if ranks > 1 else 1.0)["time_s"]
        factors[machine, program, ranks, size] = factor


def at_size(known, program, size):
    """Between two sizes along the logarithm of the work; beyond them that of the nearest."""
    known = sorted((math.log(work(program, one)), math.log(factor)) for one, factor in known.items())
    at = math.log(work(program, size))
    if not known:
        return None
    if at <= known[0][0] or len(known) == 1:
        return math.exp(known[0][1])
    for (low, below), (high, above) in zip(known, known[1:]):
        if at <= high:
            return math.exp(below + (above - below) * (at - low) / (high - low))
    return math.exp(known[-1][1])


def factor_of(machine, program, nodes, size):
    """Of one rank per node and of all ranks on one, and between them by the ranks of a node, which share its memory."""
    one, all_ = (at_size({other: factors[machine, program, ranks, other] for other in FITTED if (machine, program, ranks, other) in factors}, program, size)
                 for ranks in (1, RANKS))
    setup = at_size({other: setup_factors[machine, program, other] for other in FITTED if (machine, program, other) in setup_factors}, program, size)
    if one is None or all_ is None:
        return one or all_, setup or 1.0
    return one + (all_ - one) * (RANKS / nodes - 1) / (RANKS - 1), setup or 1.0


# --- watts ---------------------------------------------------------------------------------------------------------------


def fit_watts(machine, program_out, size_out):
    """From the energy of all runs but those of one program and size, and of idle nodes."""
    wrap_j = next(row["rapl_wrap_j"] for row in rows("machines.csv") if row["partition"] == machine)
    table = ["configuration,hosts,ranks_per_host,time_s,setup_s,energy_j,energy_sd_j,runs,wrap_j"]
    for (campaign, of, nodes, program, size), row in sorted(real.items()):
        if of != machine or (program, size) == (program_out, size_out):
            continue
        setup_s = 0.0
        if program in SETUP:
            setup_s = factor_of(machine, program, nodes, size)[1] * simulate(machine, program, size, 1, RANKS, 1.0, 1.0)["setup_s"]
        # Wrapped runs were added to the mean by the data's author; what is left is the rounding.
        sd_j = float(row["energy_sd_j"]) if row["energy_sd_j"] else float(row["energy_rounding_j"]) * math.sqrt(float(row["runs"]))
        table.append(f"{campaign}-{program}-{size}-{nodes},{nodes},{RANKS // nodes},{row['time_mean_s']},{setup_s:.6g},{row['energy_mean_j']},{sd_j:.6g},{row['runs']},{wrap_j}")
    for row in rows("gaps.csv"):
        if row["partition"] == machine:
            # The readings lie 1 to 2 s closer together than the times of day.
            table.append(f",1,0,{float(row['gap_s']) - 1.5},0,{float(row['package0_j']) + float(row['package1_j'] or 0):.6g},,1,")
    path = f"runs-{machine}-without-{program_out}-{size_out}.csv"
    keep(path, "\n".join(table) + "\n")
    return json.loads(run([hplcast, "fit", "power", path, "--quiet", "--fit-setup"]))


# --- tables --------------------------------------------------------------------------------------------------------------


def percent(ratio):
    return f"{100 * (ratio - 1):+.1f} %"


def compared(predicted, measured, digits=3):
    return f"{predicted:.{digits}g} | " + (percent(predicted / measured) if measured else "")


for machine in MACHINES:
    for program in PROGRAMS:
        for size in FITTED:
            find_factors(machine, program, size)

errors = collections.defaultdict(list)  # (machine, what)
watts = {(machine, program, size): fit_watts(machine, program, size) for machine in MACHINES for program in PROGRAMS for size in SIZES}
main, blind = [], []
for machine in MACHINES:
    most_nodes = max(nodes for (_, of, nodes, _, _) in real if of == machine)
    for program in PROGRAMS:
        for size in SIZES:
            for nodes in [n for n in (1, 2, 4) if n <= most_nodes]:
                factor, setup = factor_of(machine, program, nodes, size)
                if factor is None:
                    continue
                fit = watts[machine, program, size]
                report = fit["report"]
                result = simulate(machine, program, size, nodes, RANKS, factor, setup * report["setup_factor"]["value"], fit["power"])
                energy_j = result["energy_j"] + nodes * report["start_j_per_host"][""]["value"]
                guess_s = real_s(machine, 1, program, size) if nodes > 1 else None
                if nodes == 1:
                    single_s = of_february("time_s", machine, 1, 1, program, size)
                    guess_s = single_s / (1 if program == "lulesh" else RANKS) if single_s else None
                measured = [(campaign, real[campaign, machine, nodes, program, size]) for campaign in "ab" if (campaign, machine, nodes, program, size) in real]
                name = f"| {machine} | {program} {size} | {nodes} |"
                if not measured:
                    blind.append(f"{name} {result['time_s']:.3g} | {energy_j:.3g} |")
                for campaign, row in measured:
                    time_s, measured_j = float(row["time_mean_s"]), float(row["energy_mean_j"])
                    other_s = others.get((machine, nodes, program, size))
                    at_one = real.get((campaign, machine, 1, program, size))
                    guess_j = nodes * float(at_one["energy_mean_j"]) if nodes > 1 and at_one else None
                    fitted = nodes == 1 and (machine, program, RANKS, size) in factors
                    for what, guess, truth in (("time", None if fitted else result["time_s"], time_s), ("energy", energy_j, measured_j), ("others", other_s, time_s),
                                               ("guess", guess_s, time_s), ("guessed energy", guess_j, measured_j)):
                        if guess is not None and not (fitted and what in ("others", "guess")):
                            errors[machine, what].append(abs(guess / truth - 1))
                    cells = " | ".join(percent(value / truth) if value else "" for value, truth in ((other_s, time_s), (guess_s, time_s), (guess_j, measured_j)))
                    main.append(f"{name} {campaign} | {time_s:.3g} | {compared(result['time_s'], time_s) if not fitted else 'fitted |'} | {measured_j:.4g} | {compared(energy_j, measured_j)} | {cells} |")

print("Mean and worst error, without sign, of configurations that the fit did not see:\n")
print("| machine | time | energy | others' time | guessed time | guessed energy |\n| --- | --- | --- | --- | --- | --- |")
failed = False
for machine in MACHINES:
    cells = []
    for what in ("time", "energy", "others", "guess", "guessed energy"):
        of = errors[machine, what]
        cells.append(f"{100 * statistics.mean(of):.1f}, {100 * max(of):.1f} % of {len(of)}" if of else "")
    failed = failed or any(100 * statistics.mean(errors[machine, what]) > most for what, most in zip(("time", "energy"), MOST_ERROR[machine]))
    print(f"| {machine} | " + " | ".join(cells) + " |")
print("\nEach configuration (real: mean of the campaign's runs; errors are predicted / real - 1):\n")
print("| machine | program | nodes | run | real [s] | predicted | error | real [J] | predicted | error | others | guess | J |")
print("| --- | --- | ---: | --- | ---: | ---: | --- | ---: | ---: | --- | --- | --- | --- |\n" + "\n".join(main))
print("\nPredicted, but not in the data here:\n\n| machine | program | nodes | s | J |\n| --- | --- | ---: | ---: | ---: |\n" + "\n".join(blind))
print("\nFitted numbers:\n\n| machine | without | idle [W] | awake [W] | per core [W] | start [J] | factor of set-up | scatter |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
for (machine, program, size), fit in watts.items():
    report = fit["report"]
    number = lambda key: f"{key['value']:.3g} (+- {key['standard_error'] or 0:.2g})"
    print(f"| {machine} | {program} {size} | {number(report['idle_w'])} | {number(report['awake_w'])} | {number(report['core_w'])} | {number(report['start_j_per_host'][''])} | "
          f"{number(report['setup_factor'])} | {100 * report['scatter']:.1f} % |")
sys.exit(5 if failed else 0)
