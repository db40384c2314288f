#!/usr/bin/env python3
"""Kills the long commands of hplcast at random moments, or has them run out of disk, and runs them again.

Each command (calibrate, predict with windows, sweep, tune, history add, run-real, observe, follow, a program on
accelerators, offer with simulations) runs undisturbed once. Then it is ended by SIGKILL, by SIGTERM or by a full disk, --times each, at random moments of that time (a full
disk: at a random size). After each: no process of it runs, nothing temporary stays that its messages do not name, and
the next run, which resumes where the command can, ends with the result of the undisturbed one. Full disks are small
file systems in memory, which root can mount; others get a limit of file sizes."""
import argparse, csv, io, json, os, pathlib, random, shutil, signal, sqlite3, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLUSTER = ROOT / "examples/dahu-like.json"
MARK = f"HPLCAST_KILLS={os.getpid()}"
UNTIL_NOTHING_RUNS_S = 15  # guards give programs 2 s to end by themselves; others use the machine, too

TINY = ("name: tiny\nwarm_up: 0\ncontrol: false\nchunk: 100ms\nranks_per_host: 2\nsteps:\n"
        "  - dgemm: {nb: 16, max_size: 120, count: 40, rate: 1e8, options: [--footprint, 1MB, --warm-up, 10ms]}\n"
        "  - kernels: {runs: [{N: 60, NB: 16, P: 1, Q: 2}], aliased: false}\n"
        "  - mpi: {max_bytes: 4KiB, count: 12, repetitions: 2, operations: [send, recv, pingpong], background: none}\n")


OFFERS = ("offers:\n" + "".join(f"  - {{name: {name}, nodes: 2, cores: 2, gflops-per-core: {rate}, bandwidth: 100 Gb/s, latency: 1 us, memory: 64 MiB}}\n"
                                for name, rate in (("A", 30), ("B", 28))))


def text(path):
    return path.read_text(errors="replace") if path.exists() else ""


def predicted(folder):
    """Without what differs between two equal predictions."""
    return [{key: value for key, value in one.items() if key not in ("wall_s", "peak_pss_bytes")}
            for one in json.loads(text(folder / "p.json"))]


def of_sweep(folder):
    with sqlite3.connect(f"file:{folder / 's.db'}?mode=ro", uri=True) as database:
        return sorted(database.execute("select run, factors from points")) + list(database.execute("select count(*) from executions"))


def of_campaign(folder):
    return {path.name: text(path).count("\n") for path in sorted((folder / "c/measurements").glob("*.csv"))}


def of_history(folder):
    with sqlite3.connect(f"file:{folder / 'h.db'}?mode=ro", uri=True) as database:
        return [list(database.execute(f"select count(*) from {table}")) for table in ("campaigns", "observations", "sources")]


def of_real(folder):
    rows = list(csv.DictReader(io.StringIO(text(folder / "r.csv"))))
    return sorted((row["N"], row["NB"], row["P"], row["Q"]) for row in rows)


class Command:
    def __init__(self, name, words, result, prepare=lambda folder: None, words_again=None, fine=(0,)):
        self.name, self.words, self.result, self.prepare, self.fine = name, words, result, prepare, fine
        self.words_again = words_again or (lambda folder: self.words)


def commands(made):
    def write(name, content):
        return lambda folder: (folder / name).write_text(content)

    plan = f"cluster: {CLUSTER}\nname: k\nfixed: {{N: 1500}}\nseeds: [1, 2]\nfactors:\n  NB: [32, 64]\n  grid: [2x4, 3x2]\n"
    calibrate = ["calibrate", "tiny.yaml", "--folder", "c", "-o", "c.zip"]
    return [
        Command("calibrate", calibrate, of_campaign, write("tiny.yaml", TINY),
                lambda folder: calibrate + (["--resume"] if (folder / "c/campaign.yaml").exists() else [])),
        Command("predict", ["predict", CLUSTER, "--hpl-dat", "runs.csv", "--windows", "3", "--seed", "1,2", "-o", "p.json", "--resume"],
                predicted, write("runs.csv", "N,NB,P,Q\n6000,64,2,4\n6000,64,4,2\n")),
        Command("sweep", ["sweep", "plan.yaml", "--database", "s.db", "--jobs", "2"], of_sweep, write("plan.yaml", plan)),
        # What a budget allows depends on the machine, and may be no answer: it is a whole one, or none.
        Command("tune", ["tune", CLUSTER, "--grid", "2x2", "-N", "500", "--budget", "4", "--jobs", "2", "-o", "HPL.dat"],
                lambda folder: text(folder / "HPL.dat").count("\n") in (0, 31), fine=(0, 5)),
        Command("history add", ["history", "add", made / "c.zip", "--database", "h.db"], of_history),
        Command("run-real", ["run-real", "one.csv", "--repetitions", "2", "--control", "off", "-o", "r.csv"], of_real,
                write("one.csv", "N,NB,P,Q\n1000,64,1,2\n1200,64,1,2\n")),
        Command("observe", ["observe", "-np", "2", "--reach", "1MB", "-o", "o.zip", "--", made / "xhpl"],
                lambda folder: (folder / "o.zip").exists(), lambda folder: shutil.copy(made / "HPL.dat", folder)),
        Command("run", ["run", made / "lu-smpi", "--cluster", made / "accelerated.json", "-np", "2", "-o", "run.json", "--", "4000", "50", "1", "2"],
                lambda folder: json.loads(text(folder / "run.json"))["time_s"]),
        Command("offer", ["offer", "offers.yaml", "--simulate", "-o", "offer.html"], lambda folder: len(text(folder / "offer.html")) > 1000,
                write("offers.yaml", OFFERS)),
        # A file that does not grow: it waits, and is ended by the kill or, with status 3, after 2 s.
        Command("follow", ["follow", "HPL.out", "--timeout", "2"], lambda folder: None,
                lambda folder: (folder / "HPL.out").write_text("\n".join(text(ROOT / "examples/follow/HPL.out").split("\n")[:60]) + "\n"), fine=(0, 3)),
    ]


def marked_processes():
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and MARK.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(entry.name + " " + (entry / "comm").read_text().strip())
        except OSError:
            pass
    return found


class Run:
    """A folder of a command, in which it runs again and again."""

    def __init__(self, command, hplcast, folder):
        self.command, self.hplcast = command, hplcast
        self.folder, self.temporary = folder / "work", folder / "tmp"
        for one in (self.folder, self.temporary):
            one.mkdir(parents=True)
        command.prepare(self.folder)
        self.log = ""

    def start(self, words, limit=None):
        env = {**os.environ, "TMPDIR": str(self.temporary), "OMPI_MCA_btl_vader_backing_directory": str(self.temporary),
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OPENBLAS_NUM_THREADS": "1"}
        name, value = MARK.split("=")
        env[name] = value
        shell = "exec \"$@\"" if limit is None else f"ulimit -f {limit}; exec \"$@\""
        self.output = tempfile.TemporaryFile()
        return subprocess.Popen(["/bin/sh", "-c", shell, "sh", str(self.hplcast), *map(str, words)], cwd=self.folder, env=env,
                                stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output)

    def end(self, process):
        status = process.wait()
        self.output.seek(0)
        self.log = self.output.read().decode(errors="replace")
        self.output.close()
        return status

    def left(self, is_failed):
        """What is there that should not be."""
        end = time.time() + UNTIL_NOTHING_RUNS_S
        while marked_processes() and time.time() < end:
            time.sleep(0.05)
        wrong = ["still runs: " + one for one in marked_processes()]
        while any(self.temporary.iterdir()) and time.time() < end and not self.log:
            time.sleep(0.05)
        wrong += ["left in TMPDIR: " + one.name for one in self.temporary.iterdir() if one.name not in self.log]
        wrong += ["left: " + str(one.relative_to(self.folder)) for one in self.folder.rglob("*")
                  if (".tmp" in one.name or ".work." in one.name) and one.name not in self.log]
        return wrong


def disturbed(run, how, whole_s, chance):
    """@returns what is wrong with how it ended."""
    if how == "disk":
        return full_disk(run, chance)
    process = run.start(run.command.words_again(run.folder))
    time.sleep(whole_s * chance.uniform(0.02, 0.95))
    number = signal.SIGKILL if how == "kill" else signal.SIGTERM
    process.send_signal(number)
    status = run.end(process)
    # Of shells: 128 + signal; 0 if it had ended before.
    wrong = [] if status in (*run.command.fine, -number, 128 + number) else [f"status {status} after signal {number}"]
    return wrong + run.left(True)


def full_disk(run, chance):
    need = sum(path.stat().st_size for path in run.whole.rglob("*") if path.is_file())
    room = int(need * chance.uniform(0.05, 0.9))
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={max(4096, room // 4096 * 4096)}", "tmpfs", run.folder], capture_output=True).returncode == 0
    wrong = []
    try:
        if mounted:
            try:
                run.command.prepare(run.folder)
            except OSError:
                return []
        status = run.end(run.start(run.command.words_again(run.folder), None if mounted else max(1, room // 512)))
        if status not in (3, 6, *run.command.fine):
            wrong.append(f"status {status} on a full disk")
        if status not in run.command.fine and not any(words in run.log for words in ("No space", "File too large", "full", "limit")):
            wrong.append("nothing said of the disk: " + run.log[-300:])
        wrong += run.left(True)
        if mounted:
            subprocess.run(["mount", "-o", "remount,size=1g", run.folder], check=True)
            wrong += again(run)
    finally:
        if mounted:
            subprocess.run(["umount", "-l", run.folder], check=True)
    return wrong


def again(run):
    """Runs it to its end. @returns what is wrong with that."""
    status = run.end(run.start(run.command.words_again(run.folder)))
    if status not in run.command.fine:
        return [f"status {status} of the next run"] + run.left(False)
    wrong = run.left(False)
    try:
        result = run.command.result(run.folder)
    except Exception as error:
        return wrong + [f"no result: {error}"]
    return wrong if result == run.expected else wrong + [f"another result: {str(result)[:300]} for {str(run.expected)[:300]}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20, help="disturbances of each command and kind (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments; how far a command has come depends on the machine (%(default)s)")
    parser.add_argument("--commands", default="", help="only these, with commas between them: sweep,tune")
    parser.add_argument("--how", default="kill,term,disk", help="only these (%(default)s)")
    parser.add_argument("--hplcast", default=ROOT / "build/bin/hplcast", help="the program (%(default)s)")
    options = parser.parse_args()
    hplcast, failed, begin = pathlib.Path(options.hplcast).absolute(), 0, time.time()
    with tempfile.TemporaryDirectory(prefix="kills.") as top:
        top, made = pathlib.Path(top), pathlib.Path(top) / "made"
        made.mkdir()
        (made / "tiny.yaml").write_text(TINY)
        env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        subprocess.run([hplcast, "calibrate", "tiny.yaml", "--quiet", "--folder", "c", "-o", "c.zip"], cwd=made, check=True, env=env)
        shutil.copy(hplcast.parent / "xhpl", made / "xhpl")
        shutil.copy(ROOT / "tests/cli/bad_inputs/base/HPL.dat", made)
        subprocess.run([hplcast.parent / "hplcast-hipcc", "-O2", ROOT / "examples/accelerators/block_lu.cpp", "-lrocblas", "-o",
                        made / "lu-smpi"], check=True)
        shutil.copy(ROOT / "tests/cli/bad_inputs/base/accelerated.json", made)
        for command in commands(made):
            if options.commands and command.name.replace(" ", "-") not in options.commands.split(","):
                continue
            calm = Run(command, hplcast, top / command.name / "calm")
            started = time.time()
            status = calm.end(calm.start(command.words))
            whole_s = time.time() - started
            if status not in command.fine:
                sys.exit(f"{command.name}: status {status}\n{calm.log}")
            expected = command.result(calm.folder)
            for how in options.how.split(","):
                if how == "disk" and command.name == "follow":
                    continue  # it writes nothing
                wrong_here, chance = 0, random.Random(f"{options.seed}/{command.name}/{how}")
                run = Run(command, hplcast, top / command.name / how)
                run.expected, run.whole = expected, calm.folder
                for number in range(options.times):
                    # Every other time it goes on with what the one before has left.
                    if number % 2 == 0:
                        shutil.rmtree(top / command.name / how)
                        run = Run(command, hplcast, top / command.name / how)
                        run.expected, run.whole = expected, calm.folder
                    wrong = disturbed(run, how, whole_s, chance)
                    told = run.log
                    if how != "disk" and (number % 2 == 1 or number == options.times - 1):
                        wrong += again(run)
                    if wrong:
                        wrong_here += 1
                        print(f"{command.name}, {how} {number + 1}: " + "; ".join(wrong) + "\n    " + told[-600:].replace("\n", "\n    "), flush=True)
                failed += wrong_here
                print(f"{command.name}: {how} {options.times} times, {wrong_here} wrong", flush=True)
    print(f"{failed} wrong, {time.time() - begin:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
