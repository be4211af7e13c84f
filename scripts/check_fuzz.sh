#!/usr/bin/env bash
# Builds the fuzz targets (clang-19, libFuzzer, address and undefined-behaviour sanitizers) and runs each over its seeds and
# what it makes of them. A crash, a hang or a broken promise fails, and the input that did it is kept under build/fuzz/found/.
#   scripts/check_fuzz.sh [SECONDS] [TARGET…]     20 s a target unless SECONDS says otherwise; TARGET is kineto, nsys, …
#   FUZZ_MERGE=1 scripts/check_fuzz.sh …          afterwards adds what reached new code, 4 KiB at most each, to tests/fuzz/corpus/
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-20}
[[ $seconds =~ ^[0-9]+$ ]] || { echo "error: '$seconds' is no number of seconds" >&2; exit 2; }
shift || true
command -v clang++-19 >/dev/null || { echo "error: clang++-19 is not here (apt install clang-19)" >&2; exit 1; }

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(grep -oE '^teller_add_fuzz_target\([a-z_]+' tests/fuzz/CMakeLists.txt | cut -d'(' -f2)
fi
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
mkdir -p build
log=build/fuzz.log
if ! { cmake --preset fuzz "${launcher[@]}" && cmake --build --preset fuzz --target "${targets[@]/#/fuzz_}"; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "error: the build of the fuzz targets failed; all of it is in $log" >&2
  exit 1
fi

# Adds to the seeds of target $1 those of its inputs that reach code which no seed reaches. libFuzzer keeps files as they are
# that are in its first folder, and puts into it what the others add: as few as cover every edge, however often it is taken.
merge() {
  local before after
  before=$(find "tests/fuzz/corpus/$1" -type f | wc -l)
  if ! "build/fuzz/tests/fuzz/fuzz_$1" -set_cover_merge=1 -use_counters=0 -max_len=4096 -timeout=20 -rss_limit_mb=2048 "tests/fuzz/corpus/$1" "build/fuzz/work/$1" \
      >"build/fuzz/$1.merge.log" 2>&1; then
    echo "error: merging the inputs of $1 failed; see build/fuzz/$1.merge.log" >&2
    return 1
  fi
  after=$(find "tests/fuzz/corpus/$1" -type f | wc -l)
  echo "$1: $((after - before)) seeds added to $before ($(du -sh "tests/fuzz/corpus/$1" | cut -f1))"
}

# A leak would be found at exit; what is slow on purpose (sanitizers) must not look like a hang.
options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 -verbosity=1)
failed=()
for target in "${targets[@]}"; do
  binary=build/fuzz/tests/fuzz/fuzz_$target
  seeds=tests/fuzz/corpus/$target
  work=build/fuzz/work/$target
  found=build/fuzz/found/$target
  mkdir -p "$work" "$found"
  words=()
  if [ -f "tests/fuzz/$target.dict" ]; then words=(-dict="tests/fuzz/$target.dict"); fi
  out=build/fuzz/$target.log
  if "$binary" "${options[@]}" "${words[@]}" -artifact_prefix="$found/" "$work" "$seeds" >"$out" 2>&1; then
    runs=$(grep -oE 'number_of_executed_units: [0-9]+' "$out" | grep -oE '[0-9]+' || echo '?')
    echo "$target: $runs inputs in ${seconds} s, nothing found"
  else
    failed+=("$target")
    echo "$target: FOUND something; the input is in $found, the report at the end of $out:" >&2
    grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse|INITED)' "$out" | tail -n 40 >&2
  fi
  if [ "${FUZZ_MERGE:-0}" = 1 ]; then merge "$target" || failed+=("$target merge"); fi
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'error: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
