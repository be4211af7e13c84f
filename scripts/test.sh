#!/usr/bin/env bash
# Installs what is needed, builds teller and passes all its tests. Run it as often as you like.
#   scripts/test.sh [CTEST-ARGUMENT…]     for example: scripts/test.sh -L unit
source "$(dirname "$0")/lib.sh"

install_packages
install_python
# The engines come over the network while the build has the processors; a group of its own, to be ended as one.
log=$root/engines.log
set -m
install_engines >"$log" 2>&1 &
engines=$!
set +m
trap 'kill -- -"$engines" 2>/dev/null || true' EXIT
build_teller
wait "$engines" || { tail -n 20 "$log" >&2; die "installing the real engines failed (TELLER_NO_ENGINES=1 leaves them out)"; }
trap - EXIT
install_engines
say "running the tests"
cd "$root"
ctest --preset dev -j "$jobs" "$@"
