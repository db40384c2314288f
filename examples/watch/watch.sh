#!/usr/bin/env bash
# Measures this machine, adds the campaign to a history and checks it: watch.sh FOLDER [CAMPAIGN.yaml]
# For cron: 0 7 * * 1,3,5  .../watch.sh /var/lib/hplcast  (cron mails what it prints). Ends with 5 if something was found.
set -euo pipefail
folder=${1:?usage: watch.sh FOLDER [CAMPAIGN.yaml]}
campaign=${2:-$(dirname "${BASH_SOURCE[0]}")/campaign.yaml}
mkdir -p "$folder"
stamp=$(date -u +%Y-%m-%dT%H%M%S) date=$(date -u '+%Y-%m-%d %H:%M:%S')

if hplcast calibrate "$campaign" --folder "$folder/$stamp.campaign" -o "$folder/$stamp.zip" 2>"$folder/$stamp.log"; then
  hplcast history add "$folder/$stamp.zip" --database "$folder/history.db"
  rm -rf "$folder/$stamp.campaign" "$folder/$stamp.log"
else
  tail -n 20 "$folder/$stamp.log" >&2
  hplcast history failed --date "$date" --hosts "$(hostname)" --database "$folder/history.db"
fi
hplcast check "$folder/history.db" --record
