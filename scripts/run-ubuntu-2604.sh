#!/usr/bin/env bash
# Plays the release suite on Ubuntu 26.04 (or any Linux) and says whether it is a pass. Success only if the program
# ended with 0 and its summary says the same; both are needed. Building may fetch crates; the run opens nothing.
#
# usage: scripts/run-ubuntu-2604.sh [OUTPUT_FOLDER]
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
command -v python3 >/dev/null || fail "python3 is needed to read the summary"

code=0
"$program" --out-dir "$out" || code=$?

# The file is read by somebody else than who wrote it.
verdict=0
python3 - "$out/summary.json" "$code" <<'PYTHON' || verdict=$?
import json
import sys

path, code = sys.argv[1], int(sys.argv[2])
STRENGTHS = ("enforced-counted", "enforced-counted-self")


def fail(text):
    print("FAIL: " + text)
    sys.exit(1)


try:
    with open(path, encoding="utf-8") as file:
        summary = json.load(file)
except (OSError, ValueError) as problem:
    fail("the program ended with %d and left no summary: %s" % (code, problem))

acceptance = summary["acceptance"]
for check in acceptance["checks"]:
    if check["verdict"] != "passed":
        name = "/".join(part for part in (check.get("scenario"), check["name"]) if part)
        print("failed: %s: %s" % (name, check.get("detail", "no detail")))

if code != 0:
    fail("the program ended with %d" % code)
if summary["complete"] is not True:
    fail("the run is not complete")
if acceptance["scope"] != "suite":
    fail("scope is %s: no release pass" % acceptance["scope"])
if acceptance["failed"] != 0 or acceptance["total"] == 0 or acceptance["passed"] != acceptance["total"]:
    fail("%d of %d checks passed" % (acceptance["passed"], acceptance["total"]))
# The counters are somebody's word; the checks are what was counted.
if sum(check["verdict"] == "passed" for check in acceptance["checks"]) != acceptance["total"]:
    fail("the checks are not %d that passed" % acceptance["total"])
if summary.get("guard_strength") not in STRENGTHS:
    fail("guard strength is %s" % summary.get("guard_strength"))
if summary.get("outbound_attempts") != 0:
    fail("outbound network attempts: %s" % summary.get("outbound_attempts", "not counted"))

print("guard strength: %s" % summary["guard_strength"])
print("PASS: %d/%d checks; outbound network attempts: 0" % (acceptance["passed"], acceptance["total"]))
PYTHON

if ((verdict != 0)); then
  ((code != 0)) && exit "$code"
  exit 1
fi
