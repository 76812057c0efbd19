// SPDX-License-Identifier: Apache-2.0
// What libkopt-capture.so is asked to do: a text file that kopt writes and names in
// KOPT_CAPTURE_CONFIG. One setting a line, its words separated by blanks; paths are
// percent-encoded.
//
//   trace PATH            folder of the trace, which exists
//   cupti PATH            a libcupti.so; the first that loads is used; may be repeated
//   timing 0|1            ask CUPTI for durations (default 1)
//   max-launches N        launches that are recorded in a process; further ones are counted
//   (default 1000000) max-log-bytes N       of a process's log (default 4 GiB) max-snapshot-bytes N
//   of memory that snapshots of a process store (default 2 GiB) depth N               pointers that
//   are followed from a captured buffer on (default 1) wait-seconds N        for a stream, before
//   and after a snapshot (default 60) params SYMBOL N,N,... sizes of the parameters, for drivers
//   that do not tell snapshot WHAT NAME HOW N   WHAT: symbol (mangled) or kernel (qualified name,
//   or its last part)
//                              HOW: first, every, class (N of each geometry) or launch (those of
//                              ordinal N,N,...)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::runtime::capture {

struct SnapshotRule {
  enum class How { First, Every, PerClass, Listed };
  bool bySymbol = true;
  std::string name;
  How how = How::First;
  std::uint64_t count = 1;
  std::vector<std::uint32_t> ordinals; ///< sorted
};

struct Config {
  std::string trace;
  std::vector<std::string> cupti;
  bool timing = true;
  std::uint64_t maxLaunches = 1'000'000;
  std::uint64_t maxLogBytes = 4ull << 30;
  std::uint64_t maxSnapshotBytes = 2ull << 30;
  unsigned depth = 1;
  double waitSeconds = 60;
  std::map<std::string, std::vector<std::uint32_t>> parameterSizes; ///< by symbol
  std::vector<SnapshotRule> rules;
};

/// False with `why` naming the line.
bool parseConfig(std::string_view text, Config &out, std::string &why);

/// `kernel` rules name "scale", "ns::scale": the demangled name without template arguments and
/// parameters.
bool namesKernel(const std::string &name, const std::string &symbol);

} // namespace kopt::runtime::capture
