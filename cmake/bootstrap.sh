#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a bare Debian 12 machine to a built kopt. Needs no GPU and no CUDA toolkit; uses them where they are.
#
#   cmake/bootstrap.sh demo      build kopt and tune the transpose example on the emulated device
#   cmake/bootstrap.sh test      build everything and run the tests that need no GPU, but for the long ones
#   cmake/bootstrap.sh test full the same with the long ones (label soak)
#   cmake/bootstrap.sh deps      install what building and testing need, nothing else
#   cmake/bootstrap.sh release   build the relocatable package and the .deb into dist/
#
# Environment: JOBS (default: processors, fewer where memory is short), KOPT_BUILD_DIR (default: build/dev),
# KOPT_DEMO_DIR (default: build/demo; is emptied), KOPT_CUDA_PATH=none to do without an installed CUDA toolkit.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly top
readonly build_packages=(
  cmake ninja-build git ca-certificates binutils
  clang-19 lld-19 llvm-19-dev libclang-19-dev libclang-cpp19-dev
  libcli11-dev libexpected-dev nlohmann-json3-dev libspdlog-dev libfmt-dev libsqlite3-dev
  libcurl4-openssl-dev libtomlplusplus-dev libboost-context-dev libxxhash-dev libzstd-dev zlib1g-dev
  libseccomp-dev bubblewrap
)
# Debian's static LLVM names Polly.
readonly release_packages=(libpolly-19-dev)
# Chromium (124 MB) opens the reports. Tests start servers of ssh and Slurm for themselves.
readonly test_packages=(
  libgtest-dev libgmock-dev llvm-19-tools clang-format-19 python3 python3-pip chromium fonts-dejavu-core
  openssh-client openssh-server slurm-wlm munge
)

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'bootstrap: %s\n' "$*" >&2; exit 6; }

# Installs those of the named Debian packages that are missing, and says which.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "This is not Debian, so install what kopt needs yourself. Debian 12 has these packages: $*"
    return
  fi
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    return
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "these packages are missing; install them as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -q || fail "apt-get update failed; see above"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install all of: ${missing[*]}; kopt is built on Debian 12, where they all exist"
  # This machine shall not serve anybody because it tests kopt.
  local service
  for service in openssh-server:ssh munge:munge slurm-wlm:slurmctld slurm-wlm:slurmd; do
    case " ${missing[*]} " in
    *" ${service%%:*} "*)
      if command -v systemctl >/dev/null; then
        "${as_root[@]}" systemctl disable --quiet --now "${service#*:}" || true # nothing started it
      fi
      ;;
    esac
  done
}

# Processors, but no more compilers at once than fit in memory at 1.5 GB each.
jobs() {
  local processors gigabytes
  processors=$(nproc)
  gigabytes=$(awk '/MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  if [ "$gigabytes" -lt 1 ]; then gigabytes=1; fi
  echo "${JOBS:-$((processors < gigabytes ? processors : gigabytes))}"
}

# configure PRESET FOLDER [cmake argument...]
configure() {
  local preset=$1 folder=$2
  shift 2
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
  fi
  say "Configuring $folder"
  (cd "$top" && cmake --preset "$preset" -B "$folder" --log-level=WARNING "${launcher[@]}" "$@")
}

build() {
  say "Building $(basename "$1") with $(jobs) jobs${2:+: ${*:2}}"
  ninja -C "$1" -j "$(jobs)" "${@:2}"
}

# run_tests [full]
run_tests() {
  local lane=${1:-fast} without='soak|device' status=0
  case $lane in
  fast) ;;
  full) without=device ;;
  *) fail "there are no tests named '$lane'; give 'full' or nothing" ;;
  esac
  install_packages "${build_packages[@]}" "${test_packages[@]}"
  local folder=${KOPT_BUILD_DIR:-$top/build/dev}
  configure dev "$folder" -DKOPT_BUILD_TESTS=ON
  build "$folder"
  # The official client of the Model Context Protocol; its test is skipped without.
  [ -d "$folder/tests/python/mcp" ] || python3 -m pip install -q --target "$folder/tests/python" mcp ||
    say "The package mcp could not be installed from PyPI"
  say "Testing: the $lane lane, without labels $without"
  # One more than there are processors: some tests wait for a time limit or another process.
  ctest --test-dir "$folder" -LE "$without" -j $(($(jobs) + 1)) --output-on-failure --output-junit "$folder/tests.xml" |
    tee "$folder/tests.log" || status=$?
  say "What took longest"
  python3 "$top/tests/cmake/slowest.py" "$folder/tests.xml" || true
  # ctest's summary is the last line, and its exit status this script's.
  grep -E '^[0-9]+% tests passed' "$folder/tests.log" || true
  return "$status"
}

make_release() {
  install_packages "${build_packages[@]}" "${release_packages[@]}"
  local folder=${KOPT_BUILD_DIR:-$top/build/release}
  configure release "$folder"
  build "$folder" package
  mkdir -p "$top/dist"
  cp "$folder"/kopt-*.tar.gz "$folder"/kopt_*.deb "$top/dist/"
  say "The packages"
  ls -l "$top"/dist/kopt-*.tar.gz "$top"/dist/kopt_*.deb
}

case "${1:-}" in
demo)
  install_packages "${build_packages[@]}"
  folder=${KOPT_BUILD_DIR:-$top/build/dev}
  if [ -f "$folder/CMakeCache.txt" ]; then
    configure dev "$folder"
  else
    configure dev "$folder" -DKOPT_BUILD_TESTS=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF
  fi
  build "$folder" kopt kopt-extract kopt-runner kopt-sandbox
  exec "$top/cmake/demo.sh" "$folder/bin" "${KOPT_DEMO_DIR:-$top/build/demo}"
  ;;
test) run_tests "${@:2}" ;;
deps) install_packages "${build_packages[@]}" "${test_packages[@]}" ;;
release) make_release ;;
*)
  sed -n '3,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 1
  ;;
esac
