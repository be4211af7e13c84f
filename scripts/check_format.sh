#!/usr/bin/env bash
# Checks the layout of every C++ file with clang-format 14; `scripts/check_format.sh --fix` mends it.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run -Werror)
[ "${1:-}" = --fix ] && mode=(-i)
find include src preload tests -name '*.h' -o -name '*.cpp' | sort | xargs clang-format-14 "${mode[@]}"
