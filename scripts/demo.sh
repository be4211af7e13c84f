#!/usr/bin/env bash
# Installs what is needed, builds teller, records a healthy run of the demo engine and one with a defect, and ends in the
# diagnosis of the second. Run it as often as you like. TELLER_MODEL names another model than models/default.
#   scripts/demo.sh                                       the default: attention is slow for one request
#   DEMO_FAULT=starve DEMO_REQUEST=req-7 scripts/demo.sh  none | starve | slow-op | memory, and the request it hits
source "$(dirname "$0")/lib.sh"

fault=${DEMO_FAULT:-slow-op}
request=${DEMO_REQUEST:-req-3}
runs=${TELLER_RUNS:-$root/runs}
teller=$build/src/cli/teller

case $fault in none|starve|slow-op|memory) ;; *) die "DEMO_FAULT is $fault: give none, starve, slow-op or memory" ;; esac
[[ $request =~ ^req-([0-9]|1[0-5])$ ]] || die "DEMO_REQUEST is $request: give req-0 to req-15"

install_packages
install_python
build_teller teller teller_collector teller_learn_library
cd "$root"

# record RUN SEED FAULT: one traced run of the demo engine, an unmodified PyTorch program, and its call chains.
record() {
  DEMO_FAULT=$3 DEMO_REQUEST=$request "$teller" trace --overwrite -o "$1" \
    --hooks examples/demo_engine/hooks.json -- "$python" -m examples.demo_engine --seed "$2"
  "$teller" reconstruct "$1" >/dev/null
}

say "recording a healthy run as baseline"
record "$runs/demo-healthy" 1 none
say "recording a run with DEMO_FAULT=$fault (request $request)"
record "$runs/demo-$fault" 2 "$fault"
say "comparing the two"
"$teller" slice "$runs/demo-$fault" --baseline "$runs/demo-healthy" >/dev/null
say "diagnosing the second"
"$teller" diagnose "$runs/demo-$fault" --baseline "$runs/demo-healthy" >/dev/null
say "the verdict, and what it rests on"
"$teller" report "$runs/demo-$fault"
echo "$runs/demo-$fault"
