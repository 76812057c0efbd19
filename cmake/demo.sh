#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh BIN FOLDER: tunes the transpose example with the kopt in BIN on the emulated device, in a fresh repository
# in FOLDER (which is emptied), applies the winning patch with git, and checks of the result what this machine can.
# Called by bootstrap.sh demo and by the tests, which set KOPT_TRIALS.
set -euo pipefail

[ $# -eq 2 ] || { echo "usage: demo.sh BIN FOLDER" >&2; exit 1; }
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=$(cd "$1" && pwd)
folder=$2
readonly top bin folder
unchecked=()

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'demo: %s\n' "$*" >&2; exit 1; }

# The nvcc that kopt itself uses; nothing where there is none.
find_nvcc() { { "$bin/kopt" doctor || true; } | sed -n 's/^ok  *nvcc  *nvcc [0-9.]* (\(.*\))$/\1/p'; }

git_here() { git -c user.name=demo -c user.email=demo@localhost -c init.defaultBranch=main "$@"; }

# build_and_check NAME: what nvcc and a GPU say of transpose.cu as it is now.
build_and_check() {
  "$nvcc" -std=c++17 -arch=sm_90 -I "$top/runtime/include" -o "transpose-$1" transpose.cu ||
    fail "nvcc does not compile transpose.cu ($1)"
  local status=0
  "./transpose-$1" || status=$?
  case $status in
  0) say "$1: compiled by nvcc; its own check passes on this machine's GPU" ;;
  77) say "$1: compiled by nvcc; no GPU here to run it on" ;;
  *) fail "transpose-$1 ended with status $status" ;;
  esac
  run_status=$status
}

rm -rf "$folder"
mkdir -p "$folder"
cp "$top"/examples/transpose/{transpose.cu,CMakeLists.txt,README.md} "$folder"
cd "$folder"
printf 'kopt.out/\n.kopt/\ntranspose-*\n' >.gitignore
git_here init -q
git_here add .
git_here commit -q -m "The transpose example"

say "Tuning transpose.cu on the emulated device; times are modelled for an H200, never measured"
"$bin/kopt" tune transpose.cu --device emulated --model-gpu H200 --proposers params,transform --trials "${KOPT_TRIALS:-25}" -- \
  -std=c++17 -arch=sm_90 -I "$top/runtime/include"

say "The report"
"$bin/kopt" report --run-id latest

patch=$(find "$PWD/kopt.out" -name winner.patch -print -quit)
[ -n "$patch" ] || fail "no candidate was accepted, so there is no patch; see the report above"
say "The patch, applied with git apply"
git_here apply --check "$patch"
git_here apply "$patch"
git_here --no-pager diff --stat
git_here --no-pager diff
# The program around the kernel is the user's: nothing but the .cu file may have changed.
[ "$(git_here diff --name-only)" = transpose.cu ] || fail "the patch changed other files than transpose.cu"

nvcc=$(find_nvcc)
if [ -n "$nvcc" ]; then
  build_and_check patched
  if [ "$run_status" -eq 77 ]; then
    unchecked+=("that the patched program's own check passes, and any measured speed: no GPU answers here")
  fi
else
  unchecked+=("that nvcc compiles the patched file, and that its PTX for the unpatched kernel equals the slice's: no CUDA toolkit"
    "that the patched program's own check passes, and any measured speed: it was not built")
fi

say "Demo finished: a kernel was found, extracted, tuned, verified, patched and reported in $folder"
if [ ${#unchecked[@]} -gt 0 ]; then
  echo "Could not be checked on this machine:"
  printf '  - %s\n' "${unchecked[@]}"
fi
echo "Next: kopt tune on a machine with a GPU, without --device, measures the win."
