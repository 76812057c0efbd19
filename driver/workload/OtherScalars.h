// SPDX-License-Identifier: Apache-2.0
// Other values of scalar arguments, for declared and captured launches.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"
#include "driver/workload/Requirements.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt {

/// What launches are derived from. For captured launches only the declaration's requirements,
/// `arg` clauses and fills matter; it may be null.
struct DerivationSource {
  const KernelSpec &kernel;
  const Specialization &specialization;
  const TuneDeclaration *declaration = nullptr;
  std::set<std::string> readAcross{}; ///< as ModelReply::readAcross
};

/// True if the launch was captured from a program.
bool isCaptured(const Launch &launch);

/// "n = 3, m = 4"
std::string describe(const std::map<std::string, std::int64_t> &values);
/// The same with the numbers that the launch binds the names to.
std::string describeIn(const Launch &launch, std::map<std::string, std::int64_t> values);

/// The floating-point scalars of a launch, by the kernel's names for them and by the launch sites',
/// without those that its bindings hold as they are.
Reals realsOf(const DerivationSource &source, const Launch &launch);

/// The first of the user's requirements that does not hold for the launch; nothing if all hold.
/// `values` are the launch's bindings, or these and others. A pointer's name stands for its
/// address: its distance from the beginning of its buffer, which is aligned to 256 bytes.
std::optional<std::string> brokenRequirement(const DerivationSource &source, const Launch &launch,
                                             Bindings values);

/// The scalar parameter of this name, or the one for which a launch site passes the host variable
/// of this name; null if there is none.
const KernelParam *scalarNamed(const DerivationSource &source, const std::string &name);

/// The values that the kernel compares the parameter with, at most a dozen.
std::vector<std::int64_t> modesOf(const DerivationSource &source, const std::string &name);

/// Factors for scaleScalars(): negative, smaller, and none. The second is no fraction of a power of
/// two, so that what is exact for the launch's own scalars may not be exact for the product.
inline constexpr double kScalarFactors[] = {-1.375, 0.4371, 0.0};

/// Multiplies every floating-point scalar by `factor(its index)`, where 0 counts as 1, so that a
/// term that it switches off comes back. Returns "factor = -2.0625", or nothing if there is no such
/// scalar.
std::string scaleScalars(const DerivationSource &source, Launch &launch,
                         const std::function<double(std::size_t)> &factor);

} // namespace kopt
