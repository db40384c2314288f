#!/usr/bin/env python3
"""Random absurd inputs: no command of hplcast may crash, hang, speak in the words of a library, accept numbers that no
machine has without a word, or leave anything behind that it does not name.

Each trial takes a command and a file that it reads from tests/cli/bad_inputs/base (or a campaign, a history, a sweep
made at the start), damages the file at random, and looks at what the command does. The same seed gives the same trials:
--only NUMBER repeats one and shows it."""
import argparse, json, os, pathlib, random, re, resource, shlex, shutil, signal, sqlite3, subprocess, sys, tempfile, time, warnings, zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASE = ROOT / "tests/cli/bad_inputs/base"
CPU_S, WALL_S = 5, 60  # of CPU time; others may use the machine, so much more of the clock
RAW = re.compile(r"basic_string|json\.exception|filesystem error|\bstd::|terminate called|bad_alloc|vector::|\bstoi\b|\bstod\b|"
                 r"map::at|yaml-cpp|bad conversion|regex_error|\bCLI::|Eigen|boost::|\[xbt|xbt_|what\(\):|Assertion|"
                 r"status 1[2-9][0-9]|Sanitizer|no such table|malformed|Unrecognized")
ABSURD = re.compile(r"(?<![\w.])[-+]?\d\.?\d*e\+?[1-9]\d\d(?!\d)|\bnan\b|\binf\b(?!ini)", re.IGNORECASE)

# File, command; {} in it is the damaged file. What a command may leave: names after -o, --database, --folder.
COMMANDS = [
    ("cluster.json", "check-cluster {}"),
    ("cluster.json", "predict {} -N 100 -P 1 -Q 2 --estimate"),
    ("cluster.json", "predict {} -N 60 --nb 16 -P 1 -Q 2 -o out.json"),
    ("cluster.json", "emit {} --hostfile h"),
    ("cluster.json", "transform {} -o out.json --scale-latency 2"),
    ("cluster.json", "generate generative.json --base {} --hosts node-[1-4] --seed 1 -o out.json"),
    ("detours.json", "check-cluster {}"),
    ("generative.json", "generate {} --base cluster.json --hosts node-[1-4] --seed 1 -o out.json"),
    ("kernels.json", "assemble --kernel-fits {} --network-fit network.json --name x --hosts node-[1-2] --cores 2 -o out.json"),
    ("network.json", "assemble --kernel-fits kernels.json --network-fit {} --name x --hosts node-[1-2] --cores 2 -o out.json"),
    ("HPL.dat", "predict cluster.json {} --estimate"),
    ("runs.csv", "predict cluster.json {} --estimate"),
    ("ledger.csv", "predict cluster.json -N 100 --estimate --ledger {}"),
    ("HPL.out", "compare {} predictions.json"),
    ("HPL.out", "import {} --hpl -o out.csv"),
    ("predictions.json", "compare HPL.out {} --json"),
    ("predictions.json", "report {} -o r.html"),
    ("explained.json", "report predictions.json {} -o r.html"),
    ("follow.out", "follow {} --timeout 0"),
    ("follow.out", "import {} --hpl -o out.csv"),
    ("observed.csv", "explain {} observed-prediction.json --cluster cluster.json --counterfactuals off"),
    ("observed-prediction.json", "explain observed.csv {} --cluster cluster.json --counterfactuals off --json"),
    ("observed.csv.d/0001-N64/run-0.activity", "explain observed.csv observed-prediction.json --cluster cluster.json --counterfactuals off"),
    ("observed.csv.d/0001-N64/phases.json", "explain observed.csv observed-prediction.json --cluster cluster.json --counterfactuals off"),
    ("dgemm.csv", "fit kernel {} --kernel dgemm --json"),
    ("dgemm.csv", "fit kernel {} --by host --json"),
    ("mpi.csv", "fit segmented {} --where operation=send"),
    ("mpi.csv", "fit network {}"),
    ("pingpong.csv", "fit network {} --detached 64KiB -o out.json"),
    ("pingpong.csv", "fit segmented {} --objective ols --noise mixture"),
    ("pairs.csv", "fit topology {}"),
    ("pairs.csv", "fit topology {} --json"),
    ("samples.csv", "fit power {}"),
    ("watts.csv", "fit power {} --application ep --pstates 2.3GHz,2.1GHz,1.9GHz,1.7GHz"),
    ("gaps.csv", "fit detours {}"),
    ("selfish.dat", "fit detours {}"),
    ("osnoise.txt", "fit detours {}"),
    ("history.csv", "history import {} --database h.db"),
    ("changes.csv", "history import --changes {} --database h.db"),
    ("outliers.csv", "history import --outliers {} --database h.db"),
    ("plan.yaml", "sweep {} --dry-run"),
    ("campaign.yaml", "calibrate {} -o out.zip"),
    ("program.txt", "compare {} --predicted program-run.json --time-from 'time (.*) s'"),
    ("program-run.json", "compare program.txt --predicted {} --time-from 'time (.*) s'"),
    ("made.db", "check {}"),
    ("made.db", "history site {} -o site"),
    ("made.db", "history export {} -o out.csv"),
    ("sweep.db", "sweep status {}"),
    ("sweep.db", "sweep export {} -o out.csv"),
    ("sweep.db", "report {} -o r.html"),
    ("campaign.zip", "fit cluster {} -o out.json"),
    ("campaign.zip", "history add {} --database h.db"),
    ("campaign.zip", "compare {} predictions.json"),
    ("offers.yaml", "offer {}"),
    ("offers.yaml", "offer {} --json -o page.html"),
    ("cluster.json", "offer offers.yaml"),
    ("hpl-one-node.out", "offer logs.yaml"),
    ("osu_latency.txt", "offer logs.yaml"),
    ("hpl-one-node.out", "fit imported {} --osu osu_latency.txt --nodes 4 --memory 64GiB -o out.json"),
    ("osu_latency.txt", "import {} --scope remote -o out.csv"),
    ("perflog.log", "import {} --perflog -o out.csv"),
    ("predictions.json", "export reframe {}"),
    ("ledger.csv", "compare HPL.out predictions.json --append-to-ledger {} --ledger-date 2026-11-26"),
    ("accelerated.json", "check-cluster {}"),
    ("accelerated.json", "transform {} -o out.json --scale-latency 2"),
    ("accelerated.json", "run ./lu-smpi --cluster {} -np 2 -o out.json -- 200 50 1 2"),
    ("fat_tree.json", "check-cluster {}"),
    ("fat_tree.json", "emit {} --platform platform.xml"),
    ("dragonfly.json", "predict {} -N 100 -P 1 -Q 2 --estimate"),
    ("torus.json", "transform {} -o out.json --nodes 4"),
    ("made.db", "fit generative {} --parameters mnk -o out.json"),
    ("observed.zip", "fit program {} --cluster cluster.json -o out.json"),
    ("pairs.zip", "fit topology {}"),
    ("mixed.json", "check-cluster {}"),
    ("mixed.json", "predict {} -N 60 --nb 16 -P 2 -Q 2 --energy -o out.json"),
    ("mixed.json", "predict {} -N 100 -P 3 -Q 4 --estimate"),
    ("mixed.json", "emit {} --hostfile h --ranks 12"),
    ("mixed.json", "transform {} -o out.json --remove-nodes 1 --sort-nodes slowest"),
    ("mixed.json", "transform {} -o out.json --replace-nodes 1:first:cluster.json"),
    ("cluster.json", "transform {} -o out.json --replace-nodes 2:last:newer.json"),
    ("newer.json", "transform cluster.json -o out.json --replace-nodes 2:slowest:{}"),
    ("newer.json", "transform mixed.json -o out.json --replace-nodes 3:first:{} --ranks-per-node 1"),
    ("energy.json", "export green500 {}"),
    ("energy.json", "export reframe {}"),
    ("trace.json", "export goal {} -o out.goal"),
    ("fitted.json", "predict {} -N 100 -P 1 -Q 2 --estimate --interval 95"),
    ("fitted.json", "predict {} -N 60 --nb 16 -P 1 -Q 2 --control control.csv -o out.json"),
    ("control.csv", "predict fitted.json -N 60 --nb 16 -P 1 -Q 2 --control {} -o out.json"),
    ("control.csv", "predict fitted.json -N 100 -P 1 -Q 2 --estimate --control {}"),
    ("fitted.json", "predict {} -N 60 --nb 16 -P 1 -Q 2 --day random --interval 99 -o out.json"),
    ("campaign.zip", "fit cluster {} --kind new=$(hostname) -o out.json"),
    ("campaign.zip:surroundings/", "fit cluster {} --kind new=$(hostname) -o out.json"),
    ("campaign.zip:control", "fit cluster {} -o out.json"),
    ("offers.yaml", "offer {} --picture p.svg -o page.html"),
    ("mixed.json", "offer offers-mixed.yaml --json -o page.html"),
    ("ramble.json", "import {} --ramble -o out.csv"),
    ("sacct.txt", "import {} --sacct -o out.csv"),
    ("groups.json", "check-cluster {}"),
    ("groups.json", "predict {} -N 60 --nb 16 -P 2 -Q 2 -o out.json"),
    ("groups.json", "transform {} -o out.json --replace-nodes 1:last:newer.json"),
    ("adaptive.json", "check-cluster {}"),
    ("adaptive.json", "predict {} -N 60 --nb 16 -P 2 -Q 2 -o out.json"),
    ("accelerator.csv", "fit accelerator {} --cluster cluster.json -o out.json"),
    ("accelerator.csv", "fit accelerator {} --cluster accelerated.json -o out.json"),
    ("pairs.csv", "fit topology {} --cluster cluster.json -o out.json"),
    ("rails.json", "check-cluster {}"),
    ("rails.json", "predict {} -N 60 --nb 16 -P 4 -Q 2 -o out.json"),
    ("rails.json", "predict {} -N 100 -P 4 -Q 2 --estimate"),
    ("rails.json", "emit {} --platform platform.xml --hostfile h"),
    ("rails.json", "transform {} -o out.json --rails-use bound --replace-nodes 1:last:newer.json"),
    ("rails.json", "transform {} -o out.json --ranks-per-node 2 --scale-messages 2:remote"),
    ("rails.yaml", "calibrate {} -o out.zip"),
    ("rails-plan.yaml", "sweep {} --dry-run"),
    ("rails-plan.yaml", "sweep {} --database s.db"),
    ("spinning.json", "check-cluster {}"),
    ("spinning.json", "predict {} -N 60 --nb 16 -P 1 -Q 2 --energy -o out.json"),
    ("states.json", "check-cluster {}"),
    ("states.json", "predict {} -N 60 --nb 16 -P 1 -Q 2 --energy -o out.json"),
    ("newer.json", "assemble --kernel-fits kernels.json --network-fit network.json --name x --hosts node-[1-4] --cores 2 --kind 2:last:{} -o out.json"),
    ("kernels.json", "assemble --kernel-fits {} --network-fit network.json --name x --hosts node-[1-4] --cores 2 --kind 2:last:newer.json -o out.json"),
    ("small.json", "fit program power.zip --cluster program.json --messages-from {} -o out.json"),
    ("small.json", "compare power.zip --predicted {} --time-from run"),
    ("program.json", "fit program power.zip --cluster {} --messages-from small.json -o out.json"),
    ("program.json", "run ./power-smpi --cluster {} -np 2 --phases -o out.json -- 60 2"),
    ("power.zip:rank-", "fit program {} --cluster program.json --messages-from small.json -o out.json"),
    ("counted.csv", "fit program power.zip --cluster program.json --counts {} -o out.json"),
    ("quick.json", "check-cluster {}"),
    ("quick.json", "predict {} -N 100 -P 2 -Q 4 --estimate --interval 90"),
    ("energy.json", "follow follow.out --predicted {} --timeout 0"),
    ("energy.json", "compare HPL.out {} --json"),
    ("energy.json", "compare HPL.out {} --append-to-ledger new.csv"),
    ("ledger.csv", "predict cluster.json -N 60 --nb 16 -P 1 -Q 2 --ledger {} --interval 80 -o out.json"),
    ("trace.json", "report {} -o r.html"),
    # Cells of databases: SQL=.
    ("made.db:SQL", "check {} --all --least-runs 2"),
    ("made.db:SQL", "history site {} -o site"),
    ("made.db:SQL", "history export {} -o out.json"),
    ("made.db:SQL", "fit generative {} --parameters mnk -o out.json"),
    ("made.db:SQL", "history change --date 2025-02-21 x --database {}"),
    ("sweep.db:SQL", "sweep export {} -o out.csv"),
    ("sweep.db:SQL", "sweep status {}"),
    ("sweep.db:SQL", "report {} -o r.html"),
    ("sweep.db:SQL", "sweep small.yaml --database {}"),
    # Only members of an archive whose names have this in them.
    ("campaign.zip:surroundings/", "fit cluster {} -o out.json"),
    ("campaign.zip:surroundings/", "history add {} --database h.db"),
    ("campaign.zip:surroundings/", "report {} -o r.html"),
    ("campaign.zip:control", "report {} -o r.html"),
    ("campaign.zip:monitoring/", "report {} -o r.html"),
    ("campaign.zip:-alone", "fit cluster {} -o out.json"),
    ("pairs.zip:-pairs", "fit topology {} --json"),
    ("observed.zip:rank-", "fit program {} --cluster cluster.json -o out.json"),
]

# Numbers that are certainly of another unit: file, command, where, factors. Without a warning they passed.
MEANING = [
    ("cluster.json", "check-cluster {}", ["kernels", "dgemm", "mu", "mnk"], [1e3, 1e-3, 1e6, 1e-6, 1e9, -1]),
    ("cluster.json", "predict {} -N 60 --nb 16 -P 1 -Q 2 --estimate", ["kernels", "dgemm", "mu", "mnk"], [1e3, 1e-3, -1]),
    ("cluster.json", "check-cluster {}", ["kernels", "dgemm", "sigma", "mnk"], [1e4, -1]),
    ("cluster.json", "check-cluster {}", ["kernels", "dgemm", "overrides", 0, "mu", "mnk"], [1e3, 1e-3]),
    ("cluster.json", "check-cluster {}", ["kernels", "dlacpy", "mu", "mn"], [1e6, 1e-6, -1]),
    ("cluster.json", "check-cluster {}", ["network", "remote", "latency_s"], [1e6, 1e9, 1e-6]),
    ("cluster.json", "check-cluster {}", ["network", "local", "latency_s"], [1e6, 1e9]),
    ("cluster.json", "check-cluster {}", ["network", "remote", "bandwidth_bytes_per_s"], [1e-9, 1e-6, 1e6]),
    ("cluster.json", "check-cluster {}", ["network", "local", "capacity", "bytes_per_s"], [1e-4, 1e6]),
    ("cluster.json", "check-cluster {}", ["network", "local", "operations", "send", 0, "intercept_s"], [1e6, -1]),
    ("accelerated.json", "check-cluster {}", ["accelerators", "launch_s"], [1e6, 1e3, -1]),
    ("accelerated.json", "check-cluster {}", ["accelerators", "sync_s"], [1e6, -1]),
    ("accelerated.json", "check-cluster {}", ["accelerators", "memory_bytes"], [1e-9, 1e-6, 1e6, -1]),
    ("accelerated.json", "check-cluster {}", ["accelerators", "to_device", "bytes_per_s"], [1e-9, 1e-3, 1e3, -1]),
    ("accelerated.json", "check-cluster {}", ["accelerators", "within_device", "latency_s"], [1e6, -1]),
    ("accelerated.json", "check-cluster {}", ["accelerators", "kernels", "dgemm", "model", "mu", "mnk"], [1e-3, 1e6]),
    ("predictions.json", "compare HPL.out {}", ["time_s"], [1e3, 1e-3]),
    ("predictions.json", "compare HPL.out {}", ["gflops"], [1e3, 1e-3]),
]
COLUMNS = [  # file, command, column, factors
    ("dgemm.csv", "fit kernel {} --kernel dgemm", "duration_s", [1e3, 1e6, 1e-6, 1e9]),
    ("dgemm.csv", "fit kernel {} --kernel dgemm", "m", [1e6, -1, 0]),
    ("pingpong.csv", "fit network {} --detached 64KiB", "duration_s", [1e6, 1e9, 1e-6, -1, 0]),
    ("pingpong.csv", "fit network {} --detached 64KiB", "size_bytes", [1e9, -1]),
    ("samples.csv", "fit power {}", "power_w", [1e6, 1e-6, -1]),
    ("history.csv", "history import {} --database h.db", "start_time", [1e9, -1]),
]
# Values of options: between < and >, one of them is another. Files are named as they are in the folder.
OPTIONS = [
    "transform cluster.json -o out.json --rails <2> --rails-use <bound>",
    "transform cluster.json -o out.json --rails <4> --rails-use <striped> --ranks-per-node <2>",
    "transform rails.json -o out.json --rails <1>",
    "transform rails.json -o out.json --replace-nodes <1:last:newer.json> --fat-tree <2:2>",
    "transform cluster.json -o out.json --scale-messages <2:local>",
    "transform states.json -o out.json --state-frequency <1.2GHz:blocked,polling>",
    "transform states.json -o out.json --frequency <1.5GHz> --power-cap <125W:cpu>",
    "transform cluster.json -o out.json --threads-per-rank <2:0.95:spin>",
    "transform cluster.json -o out.json --ranks-per-node <2> --threads-per-rank <2:0.95:sleep>",
    "transform cluster.json -o out.json --replace-nodes <2:last:newer.json>",
    "transform mixed.json -o out.json --replace-nodes <2:slowest:newer.json>",
    "transform fat_tree.json -o out.json --routing <adaptive> --fail-links <0,1;1,0>",
    "transform cluster.json -o out.json --generate <generative.json;seed=1;day=2;hosts=node-[1-4];spatial=0.5;temporal=2>",
    "transform cluster.json -o out.json --add-detours <1s:10ms:host:0-1>",
    "assemble --kernel-fits kernels.json --network-fit network.json --name <x> --hosts <node-[1-4]> --cores <2> --cpus <2> --memory <1GiB> --kind <1:last:newer.json> -o out.json",
    "run ./lu-smpi --cluster accelerated.json -np <2> --seed <1> --timeout 4s -o out.json -- 200 50 1 2",
    "run ./lu-smpi --cluster accelerated.json -np 2 --trace out.json --trace-ranks <0-1> --trace-time <0s:1s> -- 200 50 1 2",
    "run ./power-smpi --cluster program.json -np <2> --rest <counted> --share-above <1MiB> --collectives <mpich> -o out.json -- 60 2",
    "run ./lu-smpi --cluster accelerated.json -np 2 --energy --power-trace out.csv --bin <1ms> -- 200 50 1 2",
    "quick --nodes <4> --accelerators <4> --tflops-per-accelerator <20Tflop/s> --accelerator-memory <64GiB> --accelerator-bandwidth <1600GB/s> "
    "--bandwidth <100Gb/s> --latency <1us> --split <0.3> --nb <512> -N <100000> --memory-fraction <0.9> --json -o out.json",
    "quick --nodes <4> --cores <8> --gflops-per-core <30> --bandwidth <100Gb/s> --latency <1us> --memory <64GiB> --threads <2:0.9> "
    "--watts-idle <100> --watts-full <300> --fat-tree <2:2:1> --json -o out.json",
    "follow follow.out --timeout <0> --abort-below <100> -N <60000> --json",
    "follow follow.out --predicted <energy.json> --timeout <0>",
    "export reframe energy.json --system <dahu:compute> --variable <Gflops> --unit <Gflop/s>",
    "predict fitted.json -N 100 -P 1 -Q 2 --estimate --interval <95> --day <random> --ledger <ledger.csv> --interval-elasticities <default>",
    "predict fitted.json -N <60> --nb <16> -P <1> -Q <2> --control <control.csv> --interval <95> --seed <1> --jobs <1> --timeout 4s -o out.json",
    "predict cluster.json -N 200 --nb 16 -P 1 -Q 2 --windows <2:1:1> --target-error <5%> --windows-jobs <1> -o out.json",
    "predict cluster.json -N 60 --nb 16 -P 1 -Q 2 --energy --power-trace out.csv --bin <1ms> -o out.json",
    "compare HPL.out predictions.json --append-to-ledger <ledger.csv> --ledger-date <2026-11-26> --max-error <20%>",
    "compare program.txt --predicted program-run.json --time-from <time (.*) s> --match-from <N=([0-9]+)>",
    "fit program power.zip --cluster <program.json> --messages-from <small.json> -o out.json",
    "fit program power.zip --cluster program.json --counts <counted.csv> -o out.json",
    "fit imported hpl-one-node.out --osu osu_latency.txt --nodes <4> --memory <64GiB> --threads <1> -o out.json",
    "fit accelerator accelerator.csv --cluster cluster.json --memory <16GiB> --per-host <2> -o out.json",
    "fit cluster campaign.zip --kind <new=node-1> --messages <idle> -o out.json",
    "check made.db --confidence <0.999> --least-runs <2>",
    "history change --date <2025-02-21> <text> --database made.db",
    "import osu_latency.txt --scope <remote> -o out.csv",
    "generate generative.json --base cluster.json --hosts <node-[1-4]> --seed <1> --day <2> -o out.json",
    "emit cluster.json --hostfile h --ranks <4> --platform platform.xml",
    "tune cluster.json --grid <1x2> -N 60 --budget 2s --nb <16,32> --jobs <1> --json -o H.dat",
]
WORDS = ["0", "-1", "1e300", "-1e300", "1e-300", "nan", "inf", "99999999999999999999", "2147483648", "-2147483648", "",
         "x", "1e3", "0x10", "1,5", "true", "null", "[]", "{}", "\"", "'", "../../etc/passwd", "a" * 5000, "\xe9", "\x00",
         "%s%n", "$(touch pwned)", "`touch pwned`", "; touch pwned", "&a [*a]", "!!python/object:x", "- -", "\t", "<script>"]


class Trial:
    def __init__(self, number, seed, made, options_share):
        self.random, self.made, self.members = random.Random(f"{seed}/{number}"), made, ""
        kind = self.random.random()
        if kind < 0.12:
            self.file, self.command, where, factors = self.random.choice(MEANING)
            self.damage = lambda path: self.scale_json(path, where, factors)
            self.must_tell = True
        elif kind < 0.2:
            self.file, self.command, column, factors = self.random.choice(COLUMNS)
            self.damage = lambda path: self.scale_column(path, column, factors)
            self.must_tell = True
        elif kind < 0.2 + options_share:
            self.file, self.command, self.must_tell = "-", self.with_option(), False
        else:
            self.file, self.command = self.random.choice(COMMANDS)
            self.file, _, self.members = self.file.partition(":")
            self.damage = self.cell if self.members == "SQL" else self.member if self.members else self.any_damage
            self.must_tell = False
        self.what = ""

    def with_option(self):
        """A command with another value of one of its options: all of it, or one part."""
        r, command = self.random, self.random.choice(OPTIONS)
        values = list(re.finditer(r"<([^>]*)>", command))
        one = r.choice(values)
        value = one.group(1)
        parts = re.split(r"([:;,=x-])", value)
        if len(parts) > 1 and r.random() < 0.5:
            parts[r.randrange(len(parts))] = r.choice(WORDS)
            other = "".join(parts)
        elif value[:1].isdigit() and r.random() < 0.4:
            number = re.match(r"[\d.]+", value).group()
            other = f"{float(number) * r.choice([-1, 0, 1e-9, 1e-3, 1e3, 1e6, 1e9, 1e30]):.9g}" + value[len(number):]
        else:
            other = r.choice(WORDS + ["cluster.json", ".", "HPL.out", "/dev/zero", "1:2:3:4:5", "a=b", "x" * 200, "1s", "1GiB", "1e9GiB", "100%"])
        other = other.replace("\x00", "\x01")
        return "".join(piece if i % 2 == 0 else shlex.quote(other if i == 2 * values.index(one) + 1 else piece)
                       for i, piece in enumerate(re.split(r"<([^>]*)>", command)))

    def scale_json(self, path, where, factors):
        tree = json.loads(path.read_text())
        node = tree
        for key in where[:-1]:
            node = node[key]
        factor = self.random.choice(factors)
        node[where[-1]] *= factor
        self.what = f"{'/'.join(map(str, where))} times {factor:g}"
        path.write_text(json.dumps(tree, indent=1))

    def scale_column(self, path, name, factors):
        lines = path.read_text().splitlines()
        column, factor = lines[0].split(",").index(name), self.random.choice(factors)
        for i in range(1, len(lines)):
            cells = lines[i].split(",")
            cells[column] = f"{float(cells[column]) * factor:.9g}"
            lines[i] = ",".join(cells)
        self.what = f"column {name} times {factor:g}"
        path.write_text("\n".join(lines) + "\n")

    def any_damage(self, path):
        r = self.random
        binary = path.suffix in (".zip", ".db")
        kinds = ["cut", "bytes", "flip", "place"] + ([] if binary else ["word"] * 6 + ["line", "line", "key", "scale"])
        if path.suffix == ".json":
            kinds += ["tree"] * 4
        if path.suffix == ".zip":
            kinds += ["member"] * 6
        kind = r.choice(kinds)
        data = path.read_bytes()
        self.what = kind
        if kind == "cut":
            path.write_bytes(data[:r.randrange(len(data))])
        elif kind == "bytes":
            at = r.randrange(len(data))
            path.write_bytes(data[:at] + r.randbytes(r.choice([1, 4, 100, 5000])) + data[at + r.choice([0, 1, 50]):])
        elif kind == "flip":
            changed = bytearray(data)
            for _ in range(r.choice([1, 1, 5, 50])):
                changed[r.randrange(len(changed))] ^= 1 << r.randrange(8)
            path.write_bytes(changed)
        elif kind == "place":
            self.place(path)
        elif kind in ("word", "scale", "key"):
            pattern = rb"-?\d[\d.]*(?:e[-+]?\d+)?" if kind != "key" else rb"[A-Za-z_]{2,}"
            found = list(re.finditer(pattern, data))
            if not found:
                return path.write_bytes(b"")
            one = r.choice(found)
            if kind == "scale":
                word = b"%.9g" % (float(one.group()) * r.choice([-1, 1e3, 1e-3, 1e6, 1e9, 1e-9, 1e30])) if one.group().count(b".") < 2 else b"0"
            elif kind == "key":
                word = one.group() + b"x" if r.random() < 0.5 else one.group().upper()
            else:
                word = r.choice(WORDS).encode("latin1")
            self.what += f" {one.group()[:20]!r} => {word[:30]!r}"
            path.write_bytes(data[:one.start()] + word + data[one.end():])
        elif kind == "line":
            lines = data.split(b"\n")
            i, j = r.randrange(len(lines)), r.randrange(len(lines))
            how = r.choice(["remove", "twice", "swap", "many"])
            self.what += f" {how} {i + 1} {j + 1}"
            if how == "remove":
                del lines[i]
            elif how == "twice":
                lines.insert(j, lines[i])
            elif how == "swap":
                lines[i], lines[j] = lines[j], lines[i]
            else:
                lines[i:i] = [lines[i]] * 20000
            path.write_bytes(b"\n".join(lines))
        elif kind == "tree":
            self.tree(path)
        elif kind == "member":
            self.member(path)

    def place(self, path):
        how = self.random.choice(["missing", "folder", "loop", "device", "empty", "long", "zeros"])
        self.what += " " + how
        path.unlink()
        if how == "folder":
            path.mkdir()
        elif how == "loop":
            path.symlink_to(path.name)
        elif how == "device":
            path.symlink_to(self.random.choice(["/dev/zero", "/dev/urandom", "/dev/full", "/dev/null"]))
        elif how == "empty":
            path.write_bytes(b"")
        elif how == "long":
            path.write_bytes(b"x" * 3000000)
        elif how == "zeros":
            with open(path, "wb") as file:
                file.truncate(300 << 20)

    def tree(self, path):
        tree, r = json.loads(path.read_text()), self.random
        nodes = []

        def walk(node):
            for key in node if isinstance(node, dict) else range(len(node)):
                nodes.append((node, key))
                if isinstance(node[key], (dict, list)):
                    walk(node[key])

        walk(tree)
        node, key = r.choice(nodes)
        how = r.choice(["value", "remove", "deep", "many", "scale"])
        self.what += f" {how} {str(key)[:30]}"
        if how == "remove":
            del node[key]
        elif how == "deep":
            for _ in range(200):
                node[key] = [node[key]]
        elif how == "many":
            node[key] = [node[key]] * 50000
        elif how == "scale" and isinstance(node[key], (int, float)):
            node[key] *= r.choice([-1, 0, 1e3, 1e-3, 1e6, 1e9, 1e30, 1e300])
        else:
            node[key] = r.choice([None, True, -1, 0, 1e300, -1e300, 2**63, 2**31, 1.5, "", "x" * 5000, "\ud800", "../..", [], {}, [[]], {"a": 1}])
            self.what += f" = {str(node[key])[:30]!r}"
        path.write_text(json.dumps(tree, indent=1))

    @staticmethod
    def write_zip(path, members, twice):
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            warnings.simplefilter("ignore")
            for one, data in members.items():
                archive.writestr(one, data)
            if twice:
                archive.writestr(twice, b"x")

    def member(self, path):
        """Another file in the archive, or one that is damaged."""
        r = self.random
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()}
        name = r.choice([one for one in members if self.members in one])
        how = r.choice(["remove", "name", "damage", "damage", "damage", "twice", "huge"])
        self.what += f" {how} {name}"
        if how == "remove":
            del members[name]
        elif how == "name":
            members[r.choice(["../../../outside", "/tmp/outside", "x" * 3000, "a/b/../../../c", "\xe9", "a\nb"])] = members.pop(name)
        elif how == "damage":
            one = path.parent / ("member" + pathlib.PurePath(name).suffix)
            one.write_bytes(members[name])
            if one.suffix != ".zip" and members[name]:
                self.any_damage(one)
            members[name] = one.read_bytes() if one.is_file() and not one.is_symlink() else b""
            shutil.rmtree(one) if one.is_dir() else one.unlink(missing_ok=True)
        elif how == "huge":
            members[name] = b"0,\n" * 30000000
        self.write_zip(path, members, name if how == "twice" else "")

    def cell(self, path):
        """Another value in a table of a database, or a table that lacks something."""
        r = self.random
        with sqlite3.connect(path) as database:
            tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")]
            for _ in range(r.choice([1, 1, 3])):
                table = r.choice(tables)
                column = r.choice([row[1] for row in database.execute(f"pragma table_info({table})")])
                all_rows = list(database.execute(f"select * from {table}"))
                names = [row[1] for row in database.execute(f"pragma table_info({table})")]
                one = r.choice(all_rows) if all_rows and r.random() < 0.7 else None  # tables may have no rowid
                rows = "" if one is None else " where " + " and ".join(f"{name} is ?" for name in names)
                how = r.choice(["value"] * 6 + ["delete", "drop", "rename"])
                value = r.choice([None, -1, 0, 1e300, -1e300, 1e-300, float("inf"), 2**62, -2**62, 2**31, 1.5, "", "x", "1e999", "{}", "[",
                                  b"\x00\xff", "\xe9" * 3, "x" * 100000, "../..", "<script>"])
                self.what += f" {how} {table}.{column} {str(value)[:20]!r}{rows[:6]}"
                try:
                    if how == "value":
                        database.execute(f"update {table} set {column} = ?{rows}", (value, *(one or ())))
                    elif how == "delete":
                        database.execute(f"delete from {table}{rows}", one or ())
                    elif how == "drop":
                        database.execute(f"drop table {table}")
                    else:
                        database.execute(f"alter table {table} rename column {column} to {column}x")
                except sqlite3.Error as error:
                    self.what += f" ({error})"
                if how == "drop":
                    break
        database.close()

    def run(self, hplcast, folder):
        """@returns what is wrong, and all that was printed."""
        work, temporary = folder / "work", folder / "tmp"
        shutil.copytree(self.made, work)
        temporary.mkdir()
        if self.file != "-":
            self.damage(work / self.file)
        before = set(files_below(work))
        words = "exec " + str(hplcast) + " " + self.command.replace("{}", self.file)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(["/bin/sh", "-c", words], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)}, start_new_session=True)
        try:
            out, err = process.communicate(timeout=WALL_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return [f"no end in {WALL_S} s"], ""
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        out, err = out.decode(errors="replace"), err.decode(errors="replace")
        return self.judged(process.returncode, cpu_s, out, err, before, work, temporary), f"exit {process.returncode}\n{err}{out}"

    def judged(self, status, cpu_s, out, err, before, work, temporary):
        wrong = []
        if status not in (0, 2, 3, 4, 5, 6):
            wrong.append(f"exit status {status}")
        if cpu_s > CPU_S:
            wrong.append(f"{cpu_s:.1f} s of CPU time")
        raw = RAW.search(err) or RAW.search(out)
        if raw:
            wrong.append(f"words of a library: {raw.group()}")
        if status not in (0, 5) and "hplcast" not in err:
            wrong.append("no message")
        if len(err) > 20000:
            wrong.append(f"a message of {len(err)} bytes")
        if self.must_tell and status == 0 and "warning" not in out + err:
            wrong.append("absurd numbers, and nothing said")
        new = [name for name in files_below(work) if name not in before]
        asked = re.findall(r"(?:-o|--database|--hostfile|--folder|--picture|--platform|--trace|--power-trace|--append-to-ledger) (\S+)", self.command)
        for name in new:
            mine = name in [one + ".lock" for one in asked + [self.file]] or any(name == one or name.startswith(one + "/") for one in asked)
            if not (mine and status in (0, 4, 5)) and name.split("/")[0] not in err:
                wrong.append(f"left behind: {name}")
        wrong += [f"left in TMPDIR: {name}" for name in os.listdir(temporary) if name not in err]
        results = out + "".join((work / name).read_text(errors="replace") for name in new
                                if name.endswith((".json", ".csv")) and (work / name).is_file())
        if status == 0 and "warning" not in err and ABSURD.search(results):
            wrong.append(f"a result with {ABSURD.search(results).group()}")
        if status == 0 and re.search(r"\"(bic|rss|time_s|gflops|slope|intercept|mean_s|error)\": null", results):
            wrong.append("a result with null")
        return wrong


def files_below(folder):
    return [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if not path.is_dir() or path.is_symlink()]


def make_inputs(hplcast, folder):
    """The base, and files that only hplcast itself makes."""
    shutil.copytree(BASE, folder)

    def run(*words):
        subprocess.run([hplcast, "--quiet", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    run("history", "import", "history.csv", "--database", "made.db")
    (folder / "small.yaml").write_text("name: small\ncluster: cluster.json\nfixed: {N: 60, grid: 1x2}\nfactors: {NB: [16, 32]}\n")
    run("sweep", "small.yaml", "--database", "sweep.db")
    (folder / "tiny.yaml").write_text(
        "name: tiny\nwarm_up: 0\nchunk: 1s\nranks_per_host: 2\nsteps:\n"
        "  - dgemm: {nb: 16, max_size: 120, count: 20, rate: 1e8, options: [--footprint, 1MB, --warm-up, 10ms]}\n"
        "  - mpi: {max_bytes: 4KiB, count: 12, repetitions: 2, operations: [send, recv, pingpong], background: none}\n")
    run("calibrate", "tiny.yaml", "--folder", "c", "-o", "campaign.zip")
    run("fit", "cluster", "campaign.zip", "--force", "-o", "fitted.json")
    with zipfile.ZipFile(folder / "campaign.zip") as archive:
        control = next(name for name in archive.namelist() if name.endswith("control.csv"))
        (folder / "control.csv").write_bytes(archive.read(control))
    run("transform", "cluster.json", "--scale-dgemm", "1.5", "-o", "newer.json")
    newer = json.loads((folder / "newer.json").read_text())
    newer["name"] = "newer"
    newer["hosts"].update({"names": "new-[1-2]", "cores": 6, "cpus": 3, "memory_bytes": 3.2e10})
    (folder / "newer.json").write_text(json.dumps(newer, indent=1))
    run("transform", "cluster.json", "--replace-nodes", "2:last:newer.json", "-o", "mixed.json")
    run("predict", "cluster.json", "-N", "60", "--nb", "16", "-P", "1", "-Q", "2", "--energy", "-o", "energy.json")
    run("predict", "cluster.json", "-N", "60", "--nb", "16", "-P", "1", "-Q", "2", "--mode", "exact", "--trace", "trace.json", "-o", "p.json")
    (folder / "p.json").unlink()
    groups = json.loads((folder / "cluster.json").read_text())
    groups["network"]["topology"] = {"kind": "host_groups", "groups": [0, 0, 1, 1], "extra_latency_s": 1e-6, "bandwidth_share": 0.7}
    (folder / "groups.json").write_text(json.dumps(groups, indent=1))
    run("transform", "cluster.json", "--fat-tree", "2:2", "--routing", "adaptive", "-o", "adaptive.json")
    shutil.copy(ROOT / "examples/accelerators/calls.csv", folder / "accelerator.csv")
    (folder / "offers-mixed.yaml").write_text("offers:\n  - {name: A, cluster: mixed.json, memory: 1 GiB, price: 900}\n"
                                              "  - {name: B, cluster: cluster.json, memory: 1 GiB, price: 800}\n")
    (folder / "ramble.json").write_text(json.dumps({"experiments": [
        {"name": "hpl.n1", "RAMBLE_STATUS": "SUCCESS", "CONTEXTS": [
            {"name": "problem-name", "display_name": "N-NB-P-Q = 3000-128-1-2", "foms": [
                {"name": "Time", "value": "0.50", "units": "s", "origin": "hpl"},
                {"name": "GFlops", "value": 36.0, "units": "GFLOP/s", "origin": "hpl"}]}]}]}, indent=1))
    (folder / "sacct.txt").write_text("JobID|JobName|NNodes|Elapsed|ConsumedEnergyRaw|State\n12|hpl|2|1-00:00:10||COMPLETED\n"
                                      "12.extern|extern|2|00:01:40|18446744073709551614|COMPLETED\n12.0|xhpl|2|1-01:01:40|50000|COMPLETED\n")
    for name in ("tiny.yaml", "sweep.db.lock"):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / "c")
    for name in ("hpl-one-node.out", "osu_latency.txt"):
        shutil.copy(ROOT / "examples/import" / name, folder)
    (folder / "logs.yaml").write_text(
        "offers:\n  - {name: A, nodes: 4, logs: [hpl-one-node.out], osu: osu_latency.txt, memory: 64 GiB}\n"
        "  - {name: B, cluster: cluster.json, memory: 1 GiB}\n")
    subprocess.run([hplcast.parent / "hplcast-hipcc", "-O2", ROOT / "examples/accelerators/block_lu.cpp", "-lrocblas", "-o",
                    folder / "lu-smpi"], check=True)
    for kind, shape in (("fat-tree", "2:2"), ("dragonfly", "2,1;1,1;2,1;1"), ("torus", "2x2x1")):
        run("transform", "cluster.json", f"--{kind}", shape, "-o", kind.replace("-", "_") + ".json")
    (folder / "pairs.yaml").write_text(
        "name: pairs\nwarm_up: 0\nranks_per_host: 4\nallow_oversubscription: true\nsteps:\n"
        "  - pairs: {bytes: 64KiB, repetitions: 2, scope: local, background: none}\n")
    run("calibrate", "pairs.yaml", "--folder", "c", "-o", "pairs.zip")
    run("observe", "-np", "2", "--oversubscribe", "--reach", "0", "-o", "observed.zip", "--", hplcast.parent / "xhpl")
    (folder / "pairs.yaml").unlink()
    shutil.rmtree(folder / "c")
    run("transform", "cluster.json", "--rails", "2", "--rails-use", "striped", "-o", "rails.json")
    (folder / "rails.yaml").write_text(
        "name: rails\nlauncher: /nonexistent/mpirun\nhosts: [a, b]\nranks_per_host: 2\nsteps:\n"
        "  - rails: {bytes: 64KiB, repetitions: 2, pairs: 2, background: none, seed: 3}\n")
    (folder / "rails-plan.yaml").write_text(
        "name: rails\ncluster: cluster.json\nfixed: {N: 60, NB: 16, grid: 2x2}\n"
        "factors: {rails: [2], rails-use: [bound, striped], scale-messages: ['2:local', 1]}\n")
    states = json.loads((folder / "cluster.json").read_text())
    states["power"] = {"idle_w": 95, "awake_w": 15.7, "off_w": 10, "states": {"default": [-3.9, 1.8, 1.6], "dgemm": {"ghz": [2.3, 1.2], "w": [8.3, 3.0]},
                       "polling": 5.4, "blocked": 5.4, "messages": 6},
                       "frequency": {"hz": 2.3e9, "states_hz": [2.3e9, 1.2e9], "scaling": {"default": 0.6, "dgemm": 0.97}}}
    states["schema_version"] = 8
    (folder / "states.json").write_text(json.dumps(states, indent=1))
    run("transform", "states.json", "--threads-per-rank", "2:0.95:spin", "-o", "spinning.json")
    run("quick", "--nodes", "4", "--cores", "8", "--gflops-per-core", "30", "--bandwidth", "100Gb/s", "--latency", "1us", "--memory", "64GiB", "-o", "quick.json")
    for compiler, output, libraries in ((hplcast.parent / "hplcast-cc", "power-smpi", ["--count", "-lblas"]), ("mpicc", "power", ["-lopenblas"])):
        subprocess.run([compiler, "-O2", ROOT / "examples/programs/power_method.c", *libraries, "-lm", "-o", folder / output], check=True)
    run("observe", "-np", "2", "--oversubscribe", "--reach", "0", "-o", "power.zip", "--", "./power", "60", "2")
    run("run", "./power-smpi", "--cluster", "fitted.json", "-np", "2", "--count", "counted.csv", "-o", "small.json", "--", "60", "2")
    run("fit", "program", "power.zip", "--cluster", "fitted.json", "--counts", "counted.csv", "-o", "program.json")
    run("run", "./power-smpi", "--cluster", "program.json", "-np", "2", "--rest", "counted", "--phases", "-o", "small.json", "--", "60", "2")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1000, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the trials (%(default)s)")
    parser.add_argument("--only", type=int, help="the trial of this number, with what it prints")
    parser.add_argument("--options-share", type=float, default=0.25, help="share of trials that change an option, not a file (%(default)s)")
    parser.add_argument("--made", type=pathlib.Path, help="keep the made inputs in this folder, and take them from there if it exists")
    parser.add_argument("--hplcast", default=ROOT / "build/bin/hplcast", help="the program (%(default)s)")
    options = parser.parse_args()
    hplcast = pathlib.Path(options.hplcast).absolute()
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    failed, begin = 0, time.time()
    with tempfile.TemporaryDirectory(prefix="absurd.") as top:
        made = options.made or pathlib.Path(top) / "made"
        if not made.exists():
            make_inputs(hplcast, made)
        numbers = range(1, options.trials + 1) if options.only is None else [options.only]
        for number in numbers:
            with tempfile.TemporaryDirectory(dir=top) as folder:
                trial = Trial(number, options.seed, made, options.options_share)
                wrong, printed = trial.run(hplcast, pathlib.Path(folder))
            if wrong or options.only is not None:
                failed += bool(wrong)
                print(f"{number}: hplcast {trial.command} | {trial.file}: {trial.what} | " + "; ".join(wrong), flush=True)
                print("    " + printed[:100000 if options.only is not None else 400].replace("\n", "\n    "), flush=True)
    print(f"{len(numbers)} trials, {failed} wrong, {time.time() - begin:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
