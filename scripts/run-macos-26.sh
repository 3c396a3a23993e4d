#!/usr/bin/env bash
# Plays the release suite on macOS 26 and says whether it is a pass. Success only if the program ended with 0 and its
# summary says the same; both are needed. Building may fetch crates; the run opens nothing.
#
# macOS denies, and does not count: the summary has no number of attempts then, and the strength of the guard is the
# evidence that none succeeded. It is said aloud.
#
# usage: scripts/run-macos-26.sh [OUTPUT_FOLDER]
# The program is FAULTLAB if that is set; else cargo builds it, if there is cargo and the source; else it is the one beside
# the project's files, or on the PATH.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
out="${1:-$root/lab-output}"

fail() {
  printf 'FAIL: %s\n' "$*"
  exit 1
}

program="${FAULTLAB:-}"
if [[ -z "$program" && -f "$root/Cargo.toml" ]] && command -v cargo >/dev/null; then
  (cd "$root" && cargo build --locked --release --bin faultlab) || fail "the program cannot be built"
  program="${CARGO_TARGET_DIR:-$root/target}/release/faultlab"
elif [[ -z "$program" && -x "$root/faultlab" ]]; then
  program="$root/faultlab"
elif [[ -z "$program" ]]; then
  program="$(command -v faultlab || true)"
fi
[[ -n "$program" && -x "$program" ]] || fail "neither a program called faultlab nor cargo was found"

code=0
"$program" --out-dir "$out" || code=$?
summary="$out/summary.json"
[[ -f "$summary" ]] || fail "the program ended with $code and left no summary"

# One value of the summary, by its path; `absent` if it is not there. Both tools come with the system.
value() {
  if command -v plutil >/dev/null; then
    plutil -extract "$1" raw -o - "$summary" 2>/dev/null || printf 'absent\n'
  else
    # shellcheck disable=SC2016 # the dollars are JavaScript's
    osascript -l JavaScript -e 'function run(argv) {
      ObjC.import("Foundation");
      const text = $.NSString.stringWithContentsOfFileEncodingError($(argv[0]), 4, null).js;
      const found = argv[1].split(".").reduce((at, key) => (at === undefined ? at : at[key]), JSON.parse(text));
      return found === undefined ? "absent" : String(found);
    }' "$summary" "$1"
  fi
}

scope="$(value acceptance.scope)"
passed="$(value acceptance.passed)"
failed="$(value acceptance.failed)"
total="$(value acceptance.total)"
complete="$(value complete)"
attempts="$(value outbound_attempts)"
strength="$(value guard_strength)"

if [[ "$failed" != 0 ]]; then
  # A JSON document of one key a line: the detail of a failed check stands in the lines around its verdict.
  grep -B 3 -A 1 '"verdict": "failed"' "$summary" || true
fi
if ((code != 0)); then
  printf 'FAIL: the program ended with %s\n' "$code"
  exit "$code"
fi
[[ "$complete" == true ]] || fail "the run is not complete"
[[ "$scope" == suite ]] || fail "scope is $scope: no release pass"
[[ "$failed" == 0 && "$total" != 0 && "$passed" == "$total" ]] || fail "$passed of $total checks passed"
# The counters are somebody's word; the checks are what was counted. A JSON document of one key a line.
listed="$(sed -n '/^    "checks": \[$/,/^    \]/p' "$summary" | grep -c '"verdict": "passed"' || true)"
[[ "$listed" == "$total" ]] || fail "the checks are not $total that passed"
case "$strength" in
  enforced | enforced-counted | enforced-counted-self) ;;
  *) fail "guard strength is $strength" ;;
esac
[[ "$attempts" == absent || "$attempts" == 0 ]] || fail "outbound network attempts: $attempts"

if [[ "$attempts" == absent ]]; then
  printf 'guard strength: %s; every attempt is denied, and none is counted: 0 is what succeeded\n' "$strength"
else
  printf 'guard strength: %s\n' "$strength"
fi
printf 'PASS: %s/%s checks; outbound network attempts: 0\n' "$passed" "$total"
