#!/usr/bin/env bash
# Makes the model of models/default: simulates healthy and faulty runs, encodes them, trains. Minutes on two cores. All data are
# made from seeds, so the same version gives the same model on the same machine.
#   scripts/make_model.sh [-o models/default] [-w WORK-FOLDER] [-n RUNS] [-x MECHANISM,…] [-- TRAIN-OPTION…]
# -x leaves mechanisms out of the training runs, for tests on mechanisms that the model has not seen.
source "$(dirname "$0")/lib.sh"

output=$root/models/default work=$root/build/model runs=720 without=()
while getopts o:w:n:x: option; do
  case $option in
    o) output=$OPTARG ;;
    w) work=$OPTARG ;;
    n) runs=$OPTARG ;;
    x) without=(--without "$OPTARG") ;;
    *) die "usage: scripts/make_model.sh [-o MODEL] [-w WORK] [-n RUNS] [-x MECHANISM,…] [-- TRAIN-OPTION…]" ;;
  esac
done
shift $((OPTIND - 1))
teller=${TELLER_BIN:-$build/src/cli/teller}
[ -x "$teller" ] || die "$teller is not there: build first (cmake --preset dev && cmake --build --preset dev)"
export teller work

healthy_runs=8
stacks=(demo vllm-v1 fsdp)
mkdir -p "$work"

# Healthy runs: each serves as baseline of some training runs; all together become the bundle's baseline.
say "healthy runs of each stack"
rm -rf "$work"/healthy-* "$work"/train-* "$work/baseline.json"
seed=9000
for stack in "${stacks[@]}"; do
  seed=$((seed + 100))
  "$teller" simulate --data-set "$work/healthy-$stack" --runs $healthy_runs --seed $seed --stacks "$stack" --faulty-share 0 >/dev/null 2>&1
  for run in "$work/healthy-$stack"/run-*; do "$teller" reconstruct "$run" >/dev/null; done
  first=$work/healthy-$stack/run-0000
  others=()
  for run in "$work/healthy-$stack"/run-*; do [ "$run" = "$first" ] || others+=(--baseline "$run"); done
  "$teller" slice "$first" "${others[@]}" --save-baseline "$work/baseline.json" --baseline-name "$stack" >/dev/null
done

# Training runs: half of them the demo's, the rest in equal parts. Each is compared with one healthy run of its stack, as a
# user would, or with all of them.
say "training runs"
"$teller" simulate --data-set "$work/train-demo" --runs $((runs / 2)) --seed 1 --stacks demo "${without[@]}" >/dev/null 2>&1
"$teller" simulate --data-set "$work/train-vllm-v1" --runs $((runs / 4)) --seed 2 --stacks vllm-v1 "${without[@]}" >/dev/null 2>&1
"$teller" simulate --data-set "$work/train-fsdp" --runs $((runs / 4)) --seed 3 --stacks fsdp "${without[@]}" >/dev/null 2>&1
prepare() {
  local run=$1 number stack baseline
  number=$((10#${run##*-}))
  stack=$(basename "$(dirname "$run")"); stack=${stack#*-}
  baseline=$work/healthy-$stack/run-000$((number % 9))
  [ $((number % 9)) -lt 8 ] || baseline=$work/baseline.json
  "$teller" reconstruct "$run" >/dev/null && "$teller" slice "$run" --baseline "$baseline" >/dev/null
}
export -f prepare
ls -d "$work"/train-*/run-* | xargs -P "$jobs" -I{} bash -c 'prepare {}'

say "vocabulary and tokens"
"$teller" tpe-train "$work"/train-*/run-* -o "$work/tpe.json" --vocab-size 512
ls -d "$work"/train-*/run-* | xargs -P "$jobs" -I{} "$teller" encode {} --vocab "$work/tpe.json" >/dev/null

say "training"
"$teller" train "$work"/train-*/run-* --vocab "$work/tpe.json" --baseline "$work/baseline.json" -o "$output" "$@"
