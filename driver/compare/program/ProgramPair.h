// SPDX-License-Identifier: Apache-2.0
// The user's program without and with edits of its files. An interface, so that the confirmation
// can be tested without a GPU and without a build.
#pragma once

#include "driver/model/Run.h"
#include "driver/support/Result.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt {

enum class Side { Old, New };

/// The edits that make the new program of the old one, by file.
using ProgramEdits = std::vector<FileEdits>;

/// One kernel in one run of a program.
struct KernelSample {
  std::string symbol;               ///< mangled
  std::set<std::string> code;       ///< hashes of the launched machine code; empty: not known
  std::set<std::string> geometries; ///< "grid 8 block 128"
  std::uint64_t launches = 0;
  double seconds = 0;                  ///< total of all launches; 0: not known
  std::vector<double> launchSeconds{}; ///< in order; empty if any is not known
};

/// One run of a program by one command.
struct ProgramSample {
  std::string command{}; ///< for messages, if there are several
  int exitCode = 0;
  std::string failure;     ///< empty: the program ended normally and was recorded
  std::string out;         ///< standard output
  double seconds = 0;      ///< wall time
  std::string programHash; ///< of the executables
  std::vector<KernelSample> kernels;

  const KernelSample *kernel(const std::string &symbol) const;
};

class ProgramPair {
public:
  virtual ~ProgramPair() = default;
  /// Describes how the copies of the project are used, for the report.
  virtual std::string describe() const = 0;
  /// Builds the unchanged program; `edits` tells which files will be edited. Fails with
  /// BaselineFailed, with the last output of the build in the hint, or with Environment.
  virtual Status buildOld(const ProgramEdits &edits) = 0;
  /// Builds the program with each of the edits, in the same way, in copies of their own and at the
  /// same time, in place of those of an earlier call. The old program need not be built before.
  /// Each result fails as buildOld().
  virtual std::vector<Status> buildNew(const std::vector<ProgramEdits> &edits) = 0;
  struct Built {
    Status old, fresh; ///< fresh: without meaning if `old` failed
  };
  /// Builds both; at the same time if the new program's build does not use results of the old
  /// one's.
  virtual Built buildBoth(const ProgramEdits &edits) = 0;
  /// Runs the program once by each of its commands, always in the same order, with the capture
  /// library; of those of the last buildNew() the one with this index. A program that fails is
  /// data, not an error. Fails with Environment if nothing can be recorded on this machine.
  virtual Result<std::vector<ProgramSample>> run(Side side, std::size_t index = 0) = 0;
  /// Runs the project's tests. Empty text if they pass, else what failed; nothing if no tests are
  /// configured or they cannot be run.
  virtual Result<std::optional<std::string>> test(Side side) = 0;
};

} // namespace kopt
