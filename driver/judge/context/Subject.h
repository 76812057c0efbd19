// SPDX-License-Identifier: Apache-2.0
// What is judged: a kernel with its launches, and builds of its versions.
#pragma once

#include "driver/device/Runner.h"
#include "driver/device/Toolchain.h"
#include "driver/model/SlicedKernel.h"
#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt {

/// The kernel under test, as it was declared or captured. All members describe the baseline; what
/// its measurement learns of the launches is in the baseline's Built.
struct Subject : SlicedKernel {
  Workload workload;
  /// The clauses that the workload was made from. For captured launches only the tolerance, fills,
  /// `arg` clauses and those requirements apply that all of them keep.
  std::optional<TuneDeclaration> declaration;
  /// The program's launches, where the workload was derived from them; otherwise empty.
  std::vector<Launch> program{};
  /// As ModelReply::readAcross.
  std::set<std::string> readAcross{};
};

/// The error of a kernel that cannot be judged as the user wrote it.
inline tl::unexpected<Error> baselineFailed(const Subject &subject, std::string what,
                                            std::string hint = "") {
  return makeError(ErrorCode::BaselineFailed, std::move(what), std::move(hint),
                   placeOf(subject.kernel));
}

/// A compiled kernel, the launches it asks for, and its module once it is loaded.
struct Built {
  std::filesystem::path path;
  std::string symbol;
  std::string hash;                   ///< hash of the machine code
  std::vector<std::string> externals; ///< functions that it calls but does not define
  ModuleId module = 0;
  std::vector<Launch> launches;          ///< of the baseline: with what was learned of them
  BuildFault fault = BuildFault::Source; ///< as BuildOutcome::fault
};

} // namespace kopt
