#!/usr/bin/env bash
# Installs what is needed, builds teller and passes all its tests. Run it as often as you like.
#   scripts/test.sh [CTEST-ARGUMENT…]     for example: scripts/test.sh -L unit
source "$(dirname "$0")/lib.sh"

install_packages
install_python
install_engines
build_teller
say "running the tests"
cd "$root"
ctest --preset dev -j "$jobs" "$@"
