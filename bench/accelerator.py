#!/usr/bin/env python3
"""Programs on accelerators, predicted and measured on this machine: the block LU of examples/accelerators on the fake
accelerator, whose streams are threads of the CPU, on one and two ranks, three sizes each.

usage: bench/accelerator.py [--sizes 3000,4500,6000] [--grids 1x1,1x2,2x1] [--nb 120] [--repetitions 5] [--kernels]
                            [--quick] [--build DIR] [--output DIR]

Measures messages (hplcast calibrate; not again if they are there) and calls (hplcast-measure-accelerator, as many at once as
ranks, half of them before the real runs and half behind, because machines change their speed), fits them, simulates, and
prints both. Everything is in build/accelerator/ (--output). Exit code 5 if the median error is above 5 % or the largest above
10 %. NB is no power of two, because columns a multiple of 4096 bytes apart share a set of the cache, and those of the
measured calls do not. Needs an idle machine of two cores and ten minutes. --kernels: also the time of each kernel in one
more real run, beside the predicted one. --quick: one small size, to try it.
"""
import argparse
import collections
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
WORK = BUILD / "accelerator"
HPLCAST = BUILD / "bin/hplcast"
SOURCES = ROOT / "examples/accelerators"
# One thread of BLAS per stream; a rank that waits for a message leaves its core to its streams.
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_pml": "ob1",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
CAMPAIGN = """name: fake accelerators
steps:
  - dgemm: {nb: 128, max_size: 2000, count: 40, budget: 10s}
  - mpi: {max_bytes: 8MiB, count: 160, background: none}  # ranks with accelerators leave their own caches alone
  - thresholds: {max_bytes: 1MiB}
"""
# Kernels of block_lu that do as measured ones, and the places of their sizes.
SAME = ["pack_rows=gather_rows:0,1", "unpack_rows=scatter_rows:0,1", "order_rows=order_rows:0,1", "fill=copy_block:0,1"]


def run(*command, **others):
    """The standard output of a command."""
    done = subprocess.run([str(word) for word in command], cwd=WORK, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, **others)
    if done.returncode != 0:
        sys.exit(f"bench/accelerator.py: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout


def compile_real(source, output):
    run("mpicxx", "-O2", "-std=c++17", f"-I{ROOT}/accelerators/include", f"-I{ROOT}/programs/include",
        SOURCES / source, f"-L{BUILD}/lib", "-lhplcast-fake-accelerator", "-lopenblas", "-pthread", "-o", output)


def measure(ranks, half, largest, nb, calls):
    """CSV of calls, by as many measuring programs at once as there are ranks, each on a core."""
    files = [f"calls-{ranks}-{half}-{core}.csv" for core in range(ranks)]
    programs = [subprocess.Popen(["taskset", "-c", str(core), str(BUILD / "bin/hplcast-measure-accelerator"), "--fake",
                                  "--max-size", str(largest), "--nb", str(nb), "--calls", str(calls), "--warm-up", "2s",
                                  "--seed", str(2 * half + core + 1), "-o", file], cwd=WORK, env=ENVIRONMENT,
                                 stderr=subprocess.DEVNULL) for core, file in enumerate(files)]
    if any([program.wait() != 0 for program in programs]):
        sys.exit("bench/accelerator.py: hplcast-measure-accelerator failed")
    return files


def gap_of(files):
    """From one kernel of a stream to the next: part of measured durations, and not of those that a real run writes."""
    return statistics.median(float(row["duration_s"]) for file in files for row in csv.DictReader((WORK / file).open())
                             if row["kernel"] == "gap")


def kernels(prefix, predicted, gap_s):
    """Prints calls and seconds of each kernel, of all ranks, in the real run of these files and in the simulated one,
    without the gaps between them."""
    real = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for file in WORK.glob(f"{prefix}-*.csv"):
        for row in csv.DictReader(file.open()):
            one = real[row["kernel"]]
            one[0], one[1], one[2] = one[0] + 1, one[1] + float(row["duration_s"]), one[2] + float(row["core_s"])
    print("    kernel            calls  measured [s]  on its core [s]  predicted calls       [s]   error")
    for name, (calls, duration_s, core_s) in sorted(real.items(), key=lambda one: -one[1][1]):
        use = predicted.get(name, {"calls": 0, "time_s": 0})
        time_s = use["time_s"] - gap_s * use["calls"]
        error = f"{time_s / duration_s - 1:+7.1%}" if use["calls"] else "      -"
        print(f"    {name:<15}{calls:8}{duration_s:14.4f}{core_s:17.4f}{use['calls']:17.0f}{time_s:10.4f} {error}")


def ranks_of(grid):
    rows, columns = map(int, grid.split("x"))
    return rows * columns


def time_s(text):
    found = re.search(r"time ([0-9.e+-]+) s", text)
    if not found:
        sys.exit(f"bench/accelerator.py: no time in: {text}")
    return float(found.group(1))


def main():
    global BUILD, WORK, HPLCAST
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="3000,4500,6000")
    parser.add_argument("--grids", default="1x1,1x2,2x1")
    parser.add_argument("--nb", type=int, default=120)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    BUILD, HPLCAST = options.build.resolve(), options.build.resolve() / "bin/hplcast"
    WORK = (options.output or BUILD / "accelerator").resolve()
    nb = options.nb
    sizes = [int(size) // nb * nb for size in options.sizes.split(",")] if not options.quick else [8 * nb]
    WORK.mkdir(parents=True, exist_ok=True)

    compile_real("block_lu.cpp", "block_lu")
    run(BUILD / "bin/hplcast-hipcc", "-O2", SOURCES / "block_lu.cpp", "-lrocblas", "-o", "block_lu-smpi")
    (WORK / "campaign.yaml").write_text(CAMPAIGN)
    if not (WORK / "network.json").exists():
        run(HPLCAST, "calibrate", "campaign.yaml", "--folder", "campaign", "-o", "campaign.zip", stderr=subprocess.DEVNULL)
        run(HPLCAST, "fit", "cluster", "campaign.zip", "--quiet", "-o", "network.json")

    errors = []
    print("ranks  P x Q     N   measured [s]  spread  predicted [s]   error")
    for ranks in (1, 2):
        grids = [grid for grid in options.grids.split(",") if ranks_of(grid) == ranks]
        calls, real = [], {}
        for half in (0, 1) if grids else ():
            calls += measure(ranks, half, max(sizes), nb, 5 if options.quick else 30)
            cases = [(grid, size) for grid in grids for size in sizes if half == 0]
            for repetition in range(options.repetitions + (1 if options.kernels else 0)):  # in turn: so are disturbances
                for grid, size in cases:
                    words = ["--bind-to", "core", "-np", ranks, "./block_lu", size, nb, *grid.split("x")]
                    if repetition < options.repetitions:
                        real.setdefault((grid, size), []).append(time_s(run("mpirun", *words)))
                        continue
                    for old in WORK.glob(f"real-{grid}-{size}-*.csv"):
                        old.unlink()
                    run("mpirun", "-x", f"HPLCAST_FAKE_CALLS=real-{grid}-{size}", *words)
        if grids:
            run(HPLCAST, "fit", "accelerator", *calls, "--per-host", ranks, *(word for one in SAME for word in ("--same", one)),
                "--cluster", "network.json", "--quiet", "-o", f"cluster-{ranks}.json")
        for (grid, size), times_s in real.items():
            predicted = time_s(run(HPLCAST, "run", "./block_lu-smpi", "--cluster", f"cluster-{ranks}.json", "-np", ranks, "-o",
                                   "predicted.json", "--", size, nb, *grid.split("x"), stderr=subprocess.DEVNULL))
            middle, spread_s = statistics.median(times_s), max(times_s) - min(times_s)
            errors.append(predicted / middle - 1)
            print(f"{ranks:5}  {grid:>5}  {size:5}  {middle:12.3f}  {spread_s / middle:6.1%}"
                  f"  {predicted:12.3f}  {errors[-1]:+7.1%}", flush=True)
            if options.kernels:
                kernels(f"real-{grid}-{size}", json.loads((WORK / "predicted.json").read_text())["accelerators"]["kernels"],
                        gap_of(calls))
    median, worst = statistics.median(map(abs, errors)), max(map(abs, errors))
    print(f"median |error| {median:.1%}, largest {worst:.1%}")
    if not options.quick and (median > 0.05 or worst > 0.10):
        sys.exit(5)


main()
