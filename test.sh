#!/usr/bin/env bash
# Installs what is missing, builds and runs the tests: ./test.sh [ctest options, for example -L unit or -R core]
# One more at a time than there are cores, but for those that measure this machine: alone.
# Tests labelled slow (tests/slow.txt: an hour) and netns (two hosts, real HPL; needs an idle machine) are left out:
# ctest --test-dir build -L slow; ctest --test-dir build -L netns.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
case " $* " in *' --help '* | *' -h '*) sed -n '2,5s/^# //p' test.sh && exit ;; esac

tools/setup --tests
tools/build

# Messages stay in this host: Open MPI need not look for PSM and OFI networks, 0.2 s in each of hundreds of starts.
export OMPI_MCA_pml="${OMPI_MCA_pml:-^cm}"
logs=build/Testing/Temporary failed=build/Testing/Temporary/LastTestsFailed.log status=0 skipped=''
# ctest alone hides the output of programs that pass: what was skipped, and why, must be seen.
run() {
  rm -f "$failed"
  status=0
  ctest --test-dir build --no-tests=error --output-on-failure "$@" || status=$?
  skipped+=$(grep -hoE 'skipped: [^]].*' "$logs/LastTest.log" 2>/dev/null)$'\n' || true
}
# One more at a time than there are cores: many wait for the programs that they start.
run -j "$(($(nproc) + 1))" -LE 'slow|netns' "$@"
# Tests labelled mpi depend on what else this machine does. If no other one failed, they are tried once more, for all to see.
if [ -s "$failed" ]; then
  names="^($(sed 's/^[0-9]*://' "$failed" | paste -sd '|'))\$"
  if ctest --test-dir build -N -R "$names" -LE '^mpi$' | grep -q '^Total Tests: 0$'; then
    echo 'Only tests that depend on what else this machine does failed; once more, to tell that from a defect:'
    run -R "$names"
  fi
fi
skipped=$(sed '/^$/d' <<<"$skipped" | sort | uniq -c)
[ -z "$skipped" ] || printf 'Skipped, and why:\n%s\n' "$skipped"
exit "$status"
