#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) over src/ and preload/, or over the files that are named. Needs the compile commands of the
# preset dev: cmake --preset dev.
#   scripts/check_tidy.sh [FILE.cpp…]
set -euo pipefail
cd "$(dirname "$0")/.."
tidy=${CLANG_TIDY:-$(command -v clang-tidy-22 || echo clang-tidy-19)}
command -v "$tidy" >/dev/null || { echo "error: $tidy is not here (apt install clang-tidy-22)" >&2; exit 1; }
commands=build/dev/compile_commands.json
[ -f "$commands" ] || { echo "error: $commands is not here; first run cmake --preset dev" >&2; exit 1; }

# Only what is built here has compile commands: the collector's CUPTI files, for one, may not be.
if [ $# -eq 0 ]; then
  mapfile -t files < <(grep -oE '"file": "[^"]+"' "$commands" | cut -d'"' -f4 | grep -E "^$PWD/(src|preload)/" | sort -u)
else
  files=("$@")
fi
[ ${#files[@]} -gt 0 ] || { echo "error: $commands names no file of src/ or preload/" >&2; exit 1; }
# g++ knows warnings that clang does not; and libstdc++ uses within itself what it calls deprecated.
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$(nproc)" -n 1 "$tidy" -p build/dev --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations 2>/dev/null || {
  echo "clang-tidy found what is above" >&2
  exit 1
}
echo "clang-tidy: ${#files[@]} files, nothing found"
