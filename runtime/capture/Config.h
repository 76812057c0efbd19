// SPDX-License-Identifier: Apache-2.0
// The settings of libkopt-capture.so: a text file that kopt writes and names in
// KOPT_CAPTURE_CONFIG. Each line is one setting, its words separated by blanks; paths are
// percent-encoded.
//
//   trace PATH             folder of the trace, which must exist
//   cupti PATH             a libcupti.so; the first that loads is used; may be repeated
//   timing 0|1             ask CUPTI for durations (default 1)
//   code 0|1               record a hash of each kernel's machine code (default 0; with snapshots
//   1) max-launches N         launches to record in a process; more are only counted (default
//   1000000) max-log-bytes N        size limit of a process's log (default 4 GiB)
//   max-snapshot-bytes N   memory that the snapshots of a process store (default 2 GiB)
//   depth N                how far to follow pointers from a captured buffer (default 1)
//   wait-seconds N         how long to wait for a stream before and after a snapshot (default 60)
//   params SYMBOL N,N,...  sizes of the parameters, for drivers that do not report them
//   snapshot WHAT NAME HOW N
//                          WHAT: symbol (mangled name) or kernel (qualified name or its last part)
//                          HOW: first, every, class (N of each geometry) or launch (those with the
//                          ordinals N,N,...)
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
  bool timing = true, code = false;
  std::uint64_t maxLaunches = 1'000'000;
  std::uint64_t maxLogBytes = 4ull << 30;
  std::uint64_t maxSnapshotBytes = 2ull << 30;
  unsigned depth = 1;
  double waitSeconds = 60;
  std::map<std::string, std::vector<std::uint32_t>> parameterSizes; ///< by symbol
  std::vector<SnapshotRule> rules;
};

/// False if the text is malformed; `why` then names the line.
bool parseConfig(std::string_view text, Config &out, std::string &why);

/// True if `name`, for example "scale" or "ns::scale", is the demangled name of `symbol` without
/// template arguments and parameters, or the last part of that name.
bool namesKernel(const std::string &name, const std::string &symbol);

} // namespace kopt::runtime::capture
