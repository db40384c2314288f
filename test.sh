#!/usr/bin/env bash
# Installs what is missing, builds and runs the tests: ./test.sh [ctest options, for example -L unit or -R core]
# Tests labelled slow (validations of minutes) are left out: ctest --test-dir build -L slow.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

tools/setup
tools/build

status=0
ctest --test-dir build --output-on-failure -LE slow "$@" || status=$?
# ctest alone hides the output of programs that pass: what was skipped, and why, must be seen.
skipped=$(grep -hoE 'skipped: .*' build/Testing/Temporary/LastTest.log 2>/dev/null | sort | uniq -c) || true
[ -z "$skipped" ] || printf 'Skipped, and why:\n%s\n' "$skipped"
exit "$status"
