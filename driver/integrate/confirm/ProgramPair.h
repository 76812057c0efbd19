// SPDX-License-Identifier: Apache-2.0
// The user's program as it is and as a patch makes it: what confirming asks, behind an interface so
// that it is tested without a GPU and without a build.
#pragma once

#include "driver/integrate/patch/Patch.h"
#include "driver/support/Result.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt {

enum class Side { Old, New };

/// One kernel in one run of a program.
struct KernelSample {
  std::string symbol;         ///< mangled
  std::set<std::string> code; ///< hashes of the machine code that was launched; empty: not known
  std::set<std::string> geometries; ///< "grid 8 block 128"
  std::uint64_t launches = 0;
  double seconds = 0;                  ///< of all launches; 0: not known
  std::vector<double> launchSeconds{}; ///< in order; empty where one is not known
};

struct ProgramSample {
  int exitCode = 0;
  std::string failure;     ///< empty: it ran to its end and was recorded
  std::string out;         ///< standard output
  double seconds = 0;      ///< wall time
  std::string programHash; ///< of the executables
  std::vector<KernelSample> kernels;

  const KernelSample *kernel(const std::string &symbol) const;
};

class ProgramPair {
public:
  virtual ~ProgramPair() = default;
  /// How the copies of the project are seen, for the report.
  virtual std::string describe() const = 0;
  /// Builds the program as it is; `patch` says which files will be edited. Fails with
  /// BaselineFailed, with the build's last output in the hint, or with Environment.
  virtual Status buildOld(const Patch &patch) = 0;
  /// Builds it with the patch, in the same way. Fails as buildOld().
  virtual Status buildNew(const Patch &patch) = 0;
  struct Built {
    Status old, fresh; ///< fresh: of no meaning where the old one could not be built
  };
  /// Builds both, at the same time where the new one takes nothing that the old one's build made.
  virtual Built buildBoth(const Patch &patch) {
    Built built{buildOld(patch), {}};
    if (built.old)
      built.fresh = buildNew(patch);
    return built;
  }
  /// One run under the capture library; that it fails is data. Fails with Environment where nothing
  /// can be recorded here.
  virtual Result<ProgramSample> run(Side side) = 0;
  /// The project's tests: empty where they pass, else what failed; nothing where none are
  /// configured or they cannot be run.
  virtual Result<std::optional<std::string>> test(Side side) = 0;
};

} // namespace kopt
