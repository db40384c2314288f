#!/usr/bin/env bash
# The pictures of docs/pictures/, made of the examples.
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: bench/pictures.sh [--build DIR] [-o DIR] [NAME ...]

Makes the pictures of the pages (default: all) as compact SVG in DIR (default: docs/pictures), most of them from examples/. Names:
  sampled   a sampled prediction: windows and the curve between them
  time      where the time goes, in the fastest and the slowest configuration of a sweep
  sweep     Gflop/s over a factor of that sweep
  kernel    the fit of dgemm
  network   the fit of ping-pongs between hosts
  detours   detours as measured, and their sources
  power     the power of a host, as measured and as fitted
  energy    power over time of a predicted run
  generative  CPUs that differ, and the law that clusters are drawn from
  top500    where the time goes in the three predictions of docs/start/top500-run.md
  doubts    the offers of docs/start/two-offers.md with half of the bandwidth, and with slower cores
  follow    what each line of progress of examples/follow/HPL.out lets expect
  history   the verdicts on all CPUs of examples/watch
  interval  what the interval of a prediction is made of
  quick     the closed form of `quick` over N, beside simulations
  modes     fast mode over N, beside exact mode
  tune      the rounds of a search of 90 s
  explain   from the predicted to the real time of a run on two cores of this machine, predicted from a guess; wants an idle machine
  accelerators  where the time of examples/accelerators goes
  log       what is left of the HPL of a log, column by column, beside the cluster.json that is made of that log
  control   the control on two cores of this machine, while another program takes one of them for some seconds
  program   where the time of docs/start/own-program.md goes on 16 ranks; observes two cores of this machine
All but tune, explain, control and program are the same on any machine with the same SimGrid; all together take some minutes.

Exit codes: 0 fine, 2 wrong usage, 3 something is missing, 6 a command failed.
Example: bench/pictures.sh sweep time
HELP
}

fail() { local status=$1; shift; printf 'pictures.sh: %s\n' "$*" >&2; exit "$status"; }

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build out=$here/../docs/pictures examples=$here/../examples
all=(sampled time sweep kernel network detours power energy generative top500 doubts follow history interval quick modes tune accelerators log explain control program) names=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build) [[ $# -ge 2 ]] || fail 2 "--build needs a folder"; build=$2; shift 2 ;;
    -o) [[ $# -ge 2 ]] || fail 2 "-o needs a folder"; out=$2; shift 2 ;;
    *) [[ " ${all[*]} " == *" $1 "* ]] || fail 2 "unknown picture '$1'; known: ${all[*]}"; names+=("$1"); shift ;;
  esac
done
((${#names[@]} > 0)) || names=("${all[@]}")
hplcast=$build/bin/hplcast
[[ -x $hplcast ]] || fail 3 "$hplcast is missing: build first"
[[ -n $(type -P jq) && -n $(type -P perl) ]] || fail 3 "jq or perl is missing"
hplcast=$(readlink -f "$hplcast") out=$(mkdir -p "$out" && cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

run() { "$hplcast" "$@" --quiet >out.log 2>err.log || { cat err.log >&2; fail 6 "hplcast $* failed"; }; }

# keep FILE NAME [DECIMALS]: of coordinates; a tenth of a pixel is enough.
keep() {
  DECIMALS=${3:-1} perl -pe 's{\b(d|x|y|transform)="([^"]*)"}{my ($n, $v) = ($1, $2);
    $v =~ s/(\d+\.\d+)/sprintf("%.*f", $ENV{DECIMALS}, $1)/ge; $v =~ s/\.0\b//g; "$n=\"$v\""}ge' "$1" >"$out/$2.svg"
  printf '%s: %s bytes\n' "$out/$2.svg" "$(stat -c %s "$out/$2.svg")"
}

sweep() {
  [[ -d sweep ]] && return
  run sweep "$examples/sweep/plan.yaml" --database sweep.db --seed 1,2,3
  run report sweep.db -o sweep.html --pictures sweep
}

explain() {
  export OPENBLAS_NUM_THREADS=1
  ((EUID != 0)) || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  run quick --nodes 1 --cores 2 --gflops-per-core 35 --memory 4GiB -o cluster.json
  printf 'N,NB,P,Q\n4000,128,1,2\n' >HPL.csv
  run run-real HPL.csv --phases -o observed.csv
  run predict cluster.json --hpl-dat HPL.csv --phases -o prediction.json
  run explain observed.csv prediction.json --cluster cluster.json --counterfactuals on -o explained.json
  run report prediction.json observed.csv explained.json -o explained.html --pictures explain
}

# beside PREDICTIONS REAL NAME HEADING: Gflop/s over N, where REAL is no real run, and has its own NAME: a report compares
# the same quantities.
beside() {
  rm -rf beside
  run report "$1" "$2" -o beside.html --pictures beside
  sed "s/predicted (line: median)/simulated/; s/measured (median, smallest to largest)/$3/; s/>P x Q = [0-9x ]*</>$4</" \
    beside/rate-*.svg >beside.svg
}

quick() {
  local machine=(--nodes 4 --cores 8 --gflops-per-core 30 --bandwidth 25Gb/s --latency 2us --memory 8GiB --nb 128) share
  echo N,NB,P,Q,time_s >real.csv
  for share in 0.005 0.01 0.02 0.05 0.1 0.2 0.4 0.8; do
    run quick "${machine[@]}" --memory-fraction $share --json -o cluster.json
    jq -r '[.parameters.N, .parameters.NB, .parameters.P, .parameters.Q, .time_s] | @csv' out.log >>real.csv
  done
  cut -d, -f1-4 real.csv >N.csv
  run predict cluster.json N.csv --interval off --mode fast -o quick.json
  beside quick.json real.csv "closed form" "closed form and simulation, 4 x 8 ranks"
}

modes() {
  printf 'N,NB,P,Q\n' >N.csv
  printf '%s,128,4,4\n' 1000 2000 3000 4000 6000 8000 10000 >>N.csv
  run predict "$examples/dahu-like.json" N.csv --interval off --mode fast -o fast.json
  run predict "$examples/dahu-like.json" N.csv --interval off --mode exact -o exact.json
  (echo N,NB,P,Q,time_s && jq -r '.[] | [.parameters.N, .parameters.NB, .parameters.P, .parameters.Q, .time_s] | @csv' exact.json) >exact.csv
  beside fast.json exact.csv "exact mode" "fast and exact mode, 4 x 4 ranks"
  sed -i 's/>simulated</>fast mode</' beside.svg
}

# What is left at every fourth line of progress: the panel before it, too (docs/models/log-cluster.md).
log() {
  run import "$examples/import/hpl-one-node.out" --hpl -o progress.csv
  run fit imported "$examples/import/hpl-one-node.out" -o cluster.json
  awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    { N = $at["N"]; NB = $at["NB"]; column[++lines] = $at["column"]; elapsed[lines] = $at["elapsed_s"] }
    END { print "N,NB,P,Q,PFACT,SWAP,time_s"; print N, NB, 1, 1, 2, 2, elapsed[lines]
      for (i = 4; column[i] < 0.9 * N; i += 4)
        print N - column[i] + NB, NB, 1, 1, 2, 2, elapsed[lines] - elapsed[i] }' progress.csv >real.csv
  cut -d, -f1-6 real.csv >N.csv
  run predict cluster.json N.csv --interval off -o log.json
  beside log.json real.csv "what is left in the log" "a log of one node, and the cluster.json made of it"
}

# The slowest rank of each control; the other program runs from the first to the last of `busy`.
control() {
  local i other=
  ((EUID != 0)) || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OPENBLAS_NUM_THREADS=1
  for ((i = 0; i < 36; ++i)); do
    ((i != 13)) || { taskset -c 0 yes >/dev/null & other=$!; }
    ((i != 25)) || kill "$other"
    mpirun -np 2 --bind-to hwthread "$(dirname "$hplcast")/hplcast-measure-dgemm" --control >one.csv
    awk -F, -v start="$EPOCHREALTIME" -v busy="$((i >= 13 && i < 25))" 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
      $at["wall_s"] > wall { wall = $at["wall_s"]; cpu = $at["cpu_s"] }
      END { printf "%.3f %g %g %d\n", start, 1e3 * wall, 1e3 * cpu, busy }' one.csv >>controls
  done
  awk -v style="$(sed -n '/<style>/,/<\/style>/p' "$here/../docs/pictures/quick.svg")" '
    { x[NR] = $1 - first; if (NR == 1) { first = $1; x[1] = 0 } wall[NR] = $2; cpu[NR] = $3; busy[NR] = $4 }
    $2 > most { most = $2 } !best || $2 < best { best = $2 }
    function to_x(s) { return 62 + 344 * s / x[NR] } function to_y(ms) { return 270 - 230 * ms / (1.05 * most) }
    function path(class, d) { printf "<path class=\"%s\" d=\"%s\"/>\n", class, d }
    function curve(class, of,  i, d) {
      for (i = 1; i <= NR; ++i) d = d (i == 1 ? "M" : "L") to_x(x[i]) " " to_y(of[i])
      path(class, d)
    }
    function words(at_x, at_y, anchor, text) {
      printf "<text x=\"%g\" y=\"%g\" text-anchor=\"%s\">%s</text>\n", at_x, at_y, anchor, text
    }
    END {
      print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"444\" height=\"420\" viewBox=\"0 0 444 420\">\n" style
      print "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
      print "<text x=\"12\" y=\"26\" style=\"font-size:15px;font-weight:bold\">the control beside another program</text>"
      print "<svg x=\"12\" y=\"36\" width=\"432\" height=\"384\">"
      for (i = 1; i <= NR && !busy[i]; ++i) {}; for (j = i; busy[j]; ++j) {}
      path("band", "M" to_x(x[i]) " 40V270H" to_x(x[j]) "V40Z")
      step = most > 40 ? 20 : most > 20 ? 10 : 5
      for (ms = 0; ms < 1.05 * most; ms += step) { path("grid", "M62 " to_y(ms) "H406"); words(55, to_y(ms) + 4, "end", ms) }
      for (s = 0; s < x[NR]; s += x[NR] > 30 ? 10 : 5) words(to_x(s), 287, "middle", s)
      path("axis", "M62 40V270H406"); path("change", "M62 " to_y(1.1 * best) "H406")
      curve("s2-line", cpu); curve("s1-line", wall)
      words(234, 308, "middle", "time [s]"); words(4, 30, "start", "ms per call, slowest rank")
      path("s1-line", "M4 330h20"); words(30, 334, "start", "wall time")
      path("s2-line", "M204 330h20"); words(230, 334, "start", "processor time")
      path("change", "M4 350h20"); words(30, 354, "start", "10 % above the best: pieces above are set aside")
      path("band", "M4 362h20v12h-20z"); words(30, 374, "start", "another program takes one of the cores")
      print "</svg>\n</svg>" }' controls >control.svg
}

# overview PAGE: the verdicts on all CPUs as they stand in a page, which stretches them, with the colours of other pictures.
overview() {
  STYLE=$(sed -n '/<style>/,/<\/style>/p' follow.svg) perl -0777 -ne '
    m{<svg id="verdicts"(.*?)</svg></div>}s or die "no verdicts\n";
    my $plot = $1; $plot =~ s{style="height:(\d+)px"}{x="104" y="32" width="324" height="$1" overflow="visible"};
    my $end = $1 + 44;  # below the dates
    $plot =~ s{</?a\b[^>]*>}{}g; $plot =~ s{class="between"}{opacity="0"}g;
    $plot =~ s{<path }{<path vector-effect="non-scaling-stroke" }g; $plot =~ s{preserveA}{overflow="visible" preserveA};
    my ($style) = $ENV{STYLE} =~ m{(<style>.*</style>)}s;
    my $height = $end + 42, my $next = $end + 22;
    print qq{<svg xmlns="http://www.w3.org/2000/svg" width="444" height="$height" viewBox="0 0 444 $height">\n$style\n},
      qq{<rect width="100%" height="100%" fill="#ffffff"/>\n},
      qq{<text x="12" y="22" style="font-size:15px;font-weight:bold">dgemm_gflops of all CPUs</text>\n<svg$plot</svg>\n},
      qq{<text x="12" y="$end">Green: as expected. Blue: slower. Grey: not tested yet.</text>\n},
      qq{<text x="12" y="$next">Pale: unlikely, not flagged. Dashed: a logged change.</text>\n</svg>\n}' "$1"
}

# The commands of the page, with this program.
program() {
  PATH=$(dirname "$hplcast"):$PATH
  export OPENBLAS_NUM_THREADS=1 PATH
  ((EUID != 0)) || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  ln -sfn "$examples" examples
  awk '/^```sh test$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$here/../docs/start/own-program.md" |
    sed '/two.txt$/,$d' >commands
  bash -euo pipefail commands >out.log 2>err.log || { cat err.log >&2; fail 6 "the page does not run"; }
  hplcast run ./power_method-smpi --cluster power.json -np 16 --picture program.svg --quiet -- 4000
}

for name in "${names[@]}"; do
  case $name in
    sampled)
      run predict "$examples/dahu-like.json" -N 60000 --nb 256 -P 4 -Q 4 --mode fast --windows 6 -o sampled.json
      run report sampled.json -o sampled.html --pictures sampled
      keep sampled/windows-1.svg sampled ;;
    time) sweep; keep sweep/time.svg time ;;
    sweep) sweep; keep sweep/factor-BCAST.svg sweep ;;
    kernel)
      run fit kernel "$examples/fit-library/dgemm.csv" --kernel dgemm --level M2 --noise N2 --plot kernel.svg -o kernel.json
      keep kernel.svg kernel ;;
    network)
      run fit network "$examples/fit-library/mpi.csv" --plot network.svg -o network.json
      keep network-remote-pingpong.svg network ;;
    detours)
      run fit detours "$examples/detours/gaps.csv" --plot detours.svg -o detours.json
      keep detours.svg detours 0 ;;
    power)
      run fit power "$examples/power/samples.csv" --plot power.svg -o power.json
      keep power.svg power ;;
    energy)
      run predict "$examples/dahu-like.json" -N 8000 -P 4 -Q 8 --power-trace energy.svg --bin 10ms
      keep energy.svg energy ;;
    generative)
      run fit generative "$examples/generative/daily.csv" --find-kinds --plot generative.svg -o generative.json
      keep generative.svg generative ;;
    top500)
      printf 'N,NB,P,Q,BCAST,DEPTH\n10000,128,8,8,1ringM,1\n10000,128,8,8,long,1\n10000,256,8,8,1ringM,1\n' >top500.csv
      run predict "$examples/dahu-like.json" top500.csv -o top500.json
      run report top500.json -o top500.html --pictures top500
      keep top500/time.svg top500 ;;
    doubts)
      sed -n "/^cat > doubts.yaml/,/^END/p" "$here/../docs/start/two-offers.md" | sed '1d;$d' >doubts.yaml
      while read -r line; do run $line; done < <(sed -n '/^hplcast quick/,/-o .*json$/p' "$here/../docs/start/two-offers.md" |
        sed -z 's/\\\n *//g' | sed 's/^hplcast //')
      run sweep doubts.yaml --database doubts.db
      run report doubts.db -o doubts.html --pictures doubts
      keep doubts/factor-scale-bandwidth.svg doubts ;;
    follow) run follow "$examples/follow/HPL.out" --picture follow.svg; keep follow.svg follow ;;
    history)
      run history import "$examples/watch/runs.csv" --changes "$examples/watch/changes.csv" \
        --outliers "$examples/watch/outliers.csv" --database watch.db
      run history site watch.db -o site
      run follow "$examples/follow/HPL.out" --picture follow.svg
      overview site/overview-demo-dgemm_gflops.html >history.svg
      keep history.svg history ;;
    interval)
      run predict "$examples/dahu-like.json" -N 20000 --nb 128 -P 4 -Q 8 -o interval.json
      run report interval.json -o interval.html --pictures interval
      keep interval/interval.svg interval ;;
    quick) quick; keep beside.svg quick ;;
    modes) modes; keep beside.svg modes ;;
    tune)
      run tune "$examples/dahu-like.json" --grid 4x4 -N 12000 --budget 90 --picture tune.svg
      keep tune.svg tune ;;
    accelerators)
      run fit accelerator "$examples/accelerators/calls.csv" --cluster "$examples/dahu-like.json" --per-host 8 \
        --same pack_rows=gather_rows:0,1 --same unpack_rows=scatter_rows:0,1 --same order_rows=scatter_rows:0,1 \
        --same fill=copy_block:0,1 -o some.json
      run transform some.json --ranks-per-node accelerators -o accelerators.json
      "$(dirname "$hplcast")/hplcast-hipcc" -O2 "$examples/accelerators/block_lu.cpp" -lrocblas -o block_lu-smpi
      "$hplcast" run ./block_lu-smpi --cluster accelerators.json -np 16 --picture accelerators.svg --quiet -- 32768 512 4 4 >out.log
      keep accelerators.svg accelerators ;;
    log) log; keep beside.svg log ;;
    explain) explain; keep explain/causes-1.svg explain ;;
    control) control; keep control.svg control ;;
    program) program; keep program.svg program ;;
  esac
done
