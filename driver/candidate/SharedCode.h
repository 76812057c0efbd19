// SPDX-License-Identifier: Apache-2.0
// What a candidate has to leave alone because code that is no part of its kernel's slice stands on it, too.
#pragma once

#include "driver/candidate/Candidate.h"
#include "driver/config/TuneDeclaration.h"

namespace kopt {

struct SharedText {
  std::string name, user;               ///< "'reference' (a.cu:12)"
  std::uint64_t begin = 0, end = 0;     ///< in the baseline's slice
  std::uint64_t newBegin = 0, newEnd = 0; ///< in the candidate's
};

struct SharedName {
  std::string name, user;
  bool isDeclared = false; ///< OutsideNamed's
};

struct SharedCode {
  std::vector<SharedText> texts;
  std::vector<SharedName> names;
};

/// Declared tunables may change wherever they are used: the user said so. A constant that the launch is computed from may have
/// another value for the candidate's launches, so host code alone does not forbid that.
SharedCode sharedCode(const KernelSpec &kernel, const Specialization &specialization, const Candidate &candidate,
                      const RenderedSlice &rendered, const std::vector<TunableParam> &tunables);

} // namespace kopt
