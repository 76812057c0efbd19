// SPDX-License-Identifier: Apache-2.0
// The user's requirements on a launch's numbers ("require n % 4 == 0"), and how to change numbers
// so that they hold.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/source/Expression.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kopt {

/// Floating-point numbers by name.
using Reals = std::map<std::string, double>;

/// Refers to the declaration's requirements.
class Requirements {
public:
  /// No requirements if `declaration` is null. The values in `reals` take precedence over bindings,
  /// which may hold them as integers.
  explicit Requirements(const TuneDeclaration *declaration, Reals reals = {})
      : reals_(std::move(reals)) {
    if (declaration)
      texts_ = declaration->requirements;
  }

  /// The first requirement that does not hold; nothing if all hold. A requirement with a name that
  /// has no value holds.
  std::optional<std::string> broken(const Bindings &bindings) const;

  /// `values` with numbers moved, each as little as possible, so that all requirements hold over
  /// `known` and the values: 252 and 260 for 255 and 257 if a multiple of 4 is required. A number
  /// that is larger than in `base`, or at most 1, is preferably moved up. Returns `values`
  /// unchanged if no change of at most 4096 is enough.
  std::map<std::string, std::int64_t> moved(std::map<std::string, std::int64_t> values,
                                            const std::map<std::string, std::int64_t> &base,
                                            const Bindings &known) const;

  /// For each of the values the last ones that the requirements allow, the others as they are: 256
  /// for `shift <= 256`, as far as numbers in the requirements or other values tell.
  std::vector<std::pair<std::string, std::int64_t>>
  ends(const std::map<std::string, std::int64_t> &values, const Bindings &known) const;

private:
  bool holds(const std::string &text, const Bindings &bindings) const;

  std::span<const std::string> texts_;
  Reals reals_;
};

} // namespace kopt
