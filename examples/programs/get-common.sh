# shellcheck shell=bash disable=SC2154
# Sourced by the get-* scripts of this folder: options, where sources come from, messages.
#
# The script sets `name` (its own), `what` (of whom the source is), `source_variable` (in which the user names a folder or
# tarball), `default_folder` (below --build), and defines print_help; options of its own: `own_option OPTION VALUE`,
# which is false for what it does not know.

readonly usage_error=2 bad_input=3 program_failed=6
export LC_ALL=C

say() { printf '%s: %s\n' "$name" "$*" >&2; }
fail() { local status=$1; shift; printf '%s: error: %s\n' "$name" "$*" >&2; exit "$status"; }
own_option() { return 1; }

# parse_options "$@": sets build, output, jobs, and work, a temporary folder.
parse_options() {
  build='' output='' jobs=2
  while (($# > 0)); do
    case $1 in --help | -h) print_help; exit 0 ;; esac
    [[ $1 == --?* ]] || fail $usage_error "unknown option '$1'; see $name --help"
    case $1 in
      --build) build=${2:-} ;;
      --output) output=${2:-} ;;
      --jobs) jobs=${2:-} ;;
      *) own_option "$1" "${2:-}" || fail $usage_error "unknown option '$1'; see $name --help" ;;
    esac
    [[ -n ${2:-} ]] || fail $usage_error "$1 needs a value; see $name --help"
    shift 2
  done
  [[ -n $build ]] || fail $usage_error "--build DIR is missing; see $name --help"
  [[ $jobs =~ ^[1-9][0-9]*$ ]] || fail $usage_error "--jobs takes a number, found '$jobs'"
  [[ -x $build/bin/hplcast-cc ]] ||
    fail $bad_input "$build/bin/hplcast-cc is not there; build hplcast first (./quickstart.sh)"
  build=$(cd "$build" && pwd)
  output=${output:-$build/$default_folder}
  mkdir -p "$output" || fail $bad_input "cannot make $output"
  output=$(cd "$output" && pwd)
  work=$(mktemp -d "${TMPDIR:-/tmp}/$name.XXXXXX")
  trap 'rm -rf "$work"' EXIT
}

# fetch_tarball URL SHA256: leaves $work/source.tar, checked.
fetch_tarball() {
  say "trying $1"
  command -v curl >/dev/null || { say "curl is not installed"; return 1; }
  curl -fsSL --connect-timeout 5 --speed-limit 1 --speed-time 10 --max-time 300 -o "$work/source.tar" "$1" 2>"$work/log" ||
    { say "not reachable: $(tail -n 1 "$work/log")"; return 1; }
  has_sum "$work/source.tar" "$2" "$1"
}

# fetch_debian PACKAGE FILE SHA256 [FILE SHA256]...: the source package of this machine's own Debian release; leaves
# $work/source.tar, which is one of these files. The whole state of apt is temporary, as in hpl-patches/get-hpl.
fetch_debian() {
  local package=$1 apt=$work/apt uri file
  shift
  command -v apt-get >/dev/null || { say "no apt-get here, so no Debian source package"; return 1; }
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
  local -a options=(-q -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State="$apt/state"
    -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)"
    -o Acquire::Languages=none -o Acquire::Retries=1 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10)
  # shellcheck disable=SC2016 # apt-get's own variables
  while read -r uri; do
    say "trying the source package $package of $uri"
    # trusted: what comes out is checked against our own sums, which is stricter than the archive's signature.
    echo "deb-src [trusted=yes] $uri" >"$apt/sources.list"
    if ! { apt-get "${options[@]}" update >"$work/log" 2>&1 &&
      (cd "$work" && apt-get "${options[@]}" --tar-only --download-only source "$package") >"$work/log" 2>&1; }; then
      say "no $package there: $(grep -m 1 '^[EW]:' "$work/log" || echo 'apt-get found nothing')"
      continue
    fi
    file=$(cd "$work" && echo "$package"_*.tar*)
    while (($# > 0)); do
      if [[ $1 == "$file" ]]; then
        has_sum "$work/$file" "$2" "$file of $uri" && mv "$work/$file" "$work/source.tar" && return 0
        return 1
      fi
      shift 2
    done
    say "$file is another version than those whose sums are known; not used"
    return 1
  done < <(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' 2>/dev/null |
    awk '$2 !~ /[-\/]/ && $3 ~ /^(main|universe)$/ && !seen[$0]++')
  return 1
}

# has_sum FILE SHA256 ORIGIN
has_sum() {
  local found; found=$(sha256sum <"$1" | cut -d' ' -f1)
  [[ $found == "$2" ]] || { say "wrong checksum of $3: expected $2, found $found; not used"; return 1; }
}

# fetch_commit URL COMMIT: leaves $work/source.tar. The name of a commit is a sum of all files in it.
fetch_commit() {
  say "trying $1, commit $2"
  command -v git >/dev/null || { say "git is not installed"; return 1; }
  local repository=$work/repository
  rm -rf "$repository"
  git init -q "$repository" && GIT_TERMINAL_PROMPT=0 timeout 300 git -C "$repository" \
    -c http.lowSpeedLimit=1 -c http.lowSpeedTime=10 fetch -q --depth 1 "$1" "$2" >"$work/log" 2>&1 ||
    { say "not reachable: $(tail -n 1 "$work/log")"; return 1; }
  git -C "$repository" archive --prefix=source/ -o "$work/source.tar" "$2"
}

# get_source FILE...: leaves the source in $work/source, with those files in it. Not the user's: fetch_source, of the
# script, leaves $work/source.tar or fails.
get_source() {
  local source=${!source_variable:-} file
  mkdir "$work/source"
  if [[ -z $source ]]; then
    fetch_source ||
      fail $program_failed "the source of $what could not be reached; set $source_variable to a folder or tarball with it"
    source=$work/source.tar
  fi
  [[ -e $source ]] || fail $bad_input "$source_variable=$source does not exist; give a folder or a tarball with $what"
  if [[ -d $source ]]; then
    cp -RL "$source/." "$work/source/"
  else
    tar -xf "$source" -C "$work/source" --strip-components 1 2>"$work/log" ||
      fail $bad_input "$source cannot be unpacked: $(head -n 1 "$work/log")"
  fi
  for file in "$@"; do
    [[ -e $work/source/$file ]] || fail $bad_input "$source does not hold $what: expected $file in it"
  done
}

# built LOG COMMAND...: runs it, or says what failed.
built() {
  local log=$1
  shift
  "$@" >>"$log" 2>&1 || fail $program_failed "$what could not be built: $(grep -m 1 -iE 'error' "$log"); see $log"
}

# Where hplcast/region.h is.
region_include() {
  if [[ -d $here/../../programs/include ]]; then printf '%s' "$here/../../programs/include"; else printf '%s' "$build/include"; fi
}
