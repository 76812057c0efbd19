#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo_without_toolkit.sh SOURCE BIN FOLDER: the demo on a machine that has no CUDA toolkit, as far as kopt can see.
# Only a PATH without nvcc hides a toolkit from programs that kopt starts; KOPT_CUDA_PATH=none hides it from kopt.
set -euo pipefail
source=$1 bin=$2 folder=$3

path=
IFS=: read -ra entries <<<"$PATH"
for entry in "${entries[@]}"; do
  [ -x "$entry/nvcc" ] || path=${path:+$path:}$entry
done
export PATH=$path KOPT_CUDA_PATH=none
unset CUDA_PATH CUDA_HOME
if command -v nvcc; then
  echo "nvcc is still in PATH: nothing is hidden" >&2
  exit 1
fi

# The tile is staged by the 14th trial and padded by the 18th.
KOPT_TRIALS=20 "$source/cmake/demo.sh" "$bin" "$folder" 2>&1 | tee "$folder.log"
expect() { grep -q -e "$1" "$folder.log" || { echo "the demo did not say: $1" >&2; exit 1; }; }
expect "Could not be checked on this machine:"
expect "no CUDA toolkit"
expect "modelled"
# The counters that explain the win, before and after.
expect "sectors"
expect "bank"
cd "$folder"
git diff | grep -q '^+.*STAGED = 1' || { echo "the patch does not stage the tile" >&2; exit 1; }
git diff | grep -Eq '^\+.*__shared__ float tile\[[^]]*\]\[[^]]*\+' || { echo "the patch does not pad the tile" >&2; exit 1; }
