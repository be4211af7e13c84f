#!/usr/bin/env bash
# Checks CUPTI on a machine with an NVIDIA GPU, in some minutes: builds the collector and the tests' program, runs the tests
# that are labelled gpu, prints what a launch costs. Without a GPU the tests are skipped, and that is said.
#   scripts/check_gpu.sh [CTEST-ARGUMENT…]
# TELLER_PYTHON names a Python with pytest, and with PyTorch where its programs are to be checked (default: that of .venv, else
# python3).
source "$(dirname "$0")/lib.sh"

gpu_python=${TELLER_PYTHON:-}
if [ -z "$gpu_python" ]; then
  gpu_python=$python
  [ -x "$gpu_python" ] || gpu_python=$(command -v python3) || die "no Python: set TELLER_PYTHON"
fi
"$gpu_python" -c 'import pytest' 2>/dev/null || die "$gpu_python has no pytest: $gpu_python -m pip install pytest"

if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; then
  say "GPU: $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)"
else
  say "no GPU that nvidia-smi knows of: the tests will be skipped"
fi

# A build of its own: the model, which needs LibTorch and minutes, is no part of this.
build=$root/build/gpu
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
say "building"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTELLER_LEARN=OFF \
  -DTELLER_PYTHON="$gpu_python" "${launcher[@]}" >/dev/null
cmake --build "$build" --target teller teller_collector gpu_driver_program -- -j "$jobs" | tail -1
grep -q '^CUPTI_COMPILES.*=1' "$build/CMakeCache.txt" ||
  die "no CUPTI headers found: set CUPTI_ROOT, or TELLER_PYTHON to a Python beside NVIDIA's wheels"
say "testing"
ctest --test-dir "$build" -L gpu --verbose --no-tests=error "$@"
