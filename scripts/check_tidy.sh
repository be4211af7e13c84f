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
# Several files are one unit: most of the time goes into the headers that they share.
units=build/tidy
rm -rf "$units"
python3 scripts/tidy_units.py "$commands" "$units" "${files[@]}"

# g++ knows warnings that clang does not; and libstdc++ uses within itself what it calls deprecated.
run_tidy() { "$tidy" -p "$1" --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations "$2" 2>/dev/null; }

# A unit that is no valid program although its files are (the grouping knows C++ by its looks only) is checked file by file.
check_unit() {
  local out file failed=0
  if out=$(run_tidy "$units" "$1"); then return 0; fi
  if ! [[ $out == *clang-diagnostic-error* ]]; then printf '%s\n' "$out"; return 1; fi
  while IFS= read -r file; do run_tidy build/dev "$file" || failed=1; done < <(cut -d'"' -f2 "$1")
  return "$failed"
}
export -f run_tidy check_unit
export tidy units
find "$units" -name 'unit_*.cpp' -print0 | sort -zV |
  xargs -0 -P "$(nproc)" -I{} bash -c 'check_unit "$1"' check_tidy {} || {
  echo "clang-tidy found what is above" >&2
  exit 1
}
echo "clang-tidy: ${#files[@]} files, nothing found"
