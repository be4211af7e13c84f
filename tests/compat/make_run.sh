#!/usr/bin/env bash
# Makes the run folder of the schema that this build writes: tests/compat/make_run.sh 1.0 (once per released schema;
# a committed folder is never made again).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build/dev}
run=$here/v$1.run
[ ! -e "$run" ] || { echo "$run is there already: released schemas are not made again" >&2; exit 1; }
"$build/tests/make_run" "$run" < "$here/small.jsonl"
"$build/src/cli/teller" reconstruct "$run" > /dev/null
"$build/src/cli/teller" slice "$run" > /dev/null
(cd "$here" && for artefact in events logs chains findings; do "$build/src/cli/teller" dump "v$1.run" "$artefact"; done > "v$1.dump.txt")
