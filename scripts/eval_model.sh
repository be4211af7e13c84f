#!/usr/bin/env bash
# Judges a model on fresh simulated runs of the three stacks, each compared with a fresh healthy run of its stack.
#   scripts/eval_model.sh [-m models/default] [-w WORK-FOLDER] [-n RUNS-PER-STACK] [-s SEED] [-- EVAL-OPTION…]
source "$(dirname "$0")/lib.sh"

model=$root/models/default work=$root/build/eval runs=40 seed=50000
while getopts m:w:n:s: option; do
  case $option in
    m) model=$OPTARG ;;
    w) work=$OPTARG ;;
    n) runs=$OPTARG ;;
    s) seed=$OPTARG ;;
    *) die "usage: scripts/eval_model.sh [-m MODEL] [-w WORK] [-n RUNS-PER-STACK] [-s SEED] [-- EVAL-OPTION…]" ;;
  esac
done
shift $((OPTIND - 1))
teller=${TELLER_BIN:-$build/src/cli/teller}
[ -x "$teller" ] || die "$teller is not there: build first (cmake --preset dev && cmake --build --preset dev)"
export teller work model

healthy_runs=3
mkdir -p "$work"
rm -rf "$work"/healthy-* "$work"/test-*
for stack in demo vllm-v1 fsdp; do
  seed=$((seed + 1))
  "$teller" simulate --data-set "$work/healthy-$stack" --runs $healthy_runs --seed $((seed + 700)) --stacks "$stack" --faulty-share 0 >/dev/null 2>&1
  for run in "$work/healthy-$stack"/run-*; do "$teller" reconstruct "$run" >/dev/null; done
  "$teller" simulate --data-set "$work/test-$stack" --runs "$runs" --seed "$seed" --stacks "$stack" >/dev/null 2>&1
done
prepare() {
  local run=$1 stack
  stack=$(basename "$(dirname "$run")"); stack=${stack#*-}
  "$teller" reconstruct "$run" >/dev/null &&
    "$teller" slice "$run" --baseline "$work/healthy-$stack/run-000$((10#${run##*-} % 3))" >/dev/null &&
    "$teller" encode "$run" --vocab "$model/tpe.json" >/dev/null
}
export -f prepare
ls -d "$work"/test-*/run-* | xargs -P "$jobs" -I{} bash -c 'prepare {}'
"$teller" eval "$work"/test-*/run-* --model "$model" "$@"
