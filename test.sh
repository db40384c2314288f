#!/usr/bin/env bash
# Installs what is missing, builds and runs the tests: ./test.sh [ctest options, for example -L unit or -R core]
# Tests labelled slow (validations of minutes) and netns (two hosts, real HPL; needs an idle machine) are left out:
# ctest --test-dir build -L slow; ctest --test-dir build -L netns.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

tools/setup
tools/build

status=0
ctest --test-dir build --output-on-failure -LE 'slow|netns' "$@" || status=$?
# ctest alone hides the output of programs that pass: what was skipped, and why, must be seen.
skipped=$(grep -hoE 'skipped: .*' build/Testing/Temporary/LastTest.log 2>/dev/null | sort | uniq -c) || true
[ -z "$skipped" ] || printf 'Skipped, and why:\n%s\n' "$skipped"
exit "$status"
