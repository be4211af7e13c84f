#!/usr/bin/env bash
# Builds the unit tests of what runs in threads with the thread sanitizer, and runs them: the collector's recorder, the
# recorder's forwarders, the sampler of the context, the threads of imports and of file writers, and writers of one manifest.
#   scripts/check_threads.sh [-j JOBS]
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
if [ "${1:-}" = -j ]; then jobs=$2; fi

tests=(base_threads_test preload_test capture_threads_test context_threads_test importers_threads_test run_folder_threads_test)
launcher=()
export CCACHE_DEPEND=1  # without a preprocessor's run of its own for what is not in the cache
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
mkdir -p build
log=build/tsan.log
if ! { cmake --preset tsan "${launcher[@]}" && cmake --build --preset tsan -j "$jobs" --target "${tests[@]}"; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "error: the build with the thread sanitizer failed; all of it is in $log" >&2
  exit 1
fi

# The sanitizer cannot map its memory where addresses are randomised too widely: then without randomisation.
run=()
if command -v setarch >/dev/null && setarch -R true 2>/dev/null; then run=(setarch -R); fi
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"
for test in "${tests[@]}"; do
  folder=${test%_test} folder=${folder%_threads}
  echo "== $test under the thread sanitizer"
  "${run[@]}" "build/tsan/tests/unit/$folder/$test" --gtest_brief=1
done
