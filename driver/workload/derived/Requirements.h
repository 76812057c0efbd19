// SPDX-License-Identifier: Apache-2.0
// What the user requires of a launch's numbers ("require n % 4 == 0"), and numbers that keep it.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/source/Expression.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace kopt {

/// Keeps references to the declaration's.
class Requirements {
public:
  /// None where it is null.
  explicit Requirements(const TuneDeclaration *declaration) {
    if (declaration)
      texts_ = declaration->requirements;
  }

  /// The first that does not hold; nothing where all do. One that names what has no value holds.
  std::optional<std::string> broken(const Bindings &bindings) const;

  /// `values` with as few numbers as possible moved, each as little as possible, so that all
  /// requirements hold over `known` with these in it: 252 or 260 for 255 and 257 where a multiple
  /// of 4 is required. A number that is larger than `base` has, or at most 1, is moved up if it can
  /// be. As they are where nothing within 4096 does.
  std::map<std::string, std::int64_t> moved(std::map<std::string, std::int64_t> values,
                                            const std::map<std::string, std::int64_t> &base,
                                            const Bindings &known) const;

private:
  std::span<const std::string> texts_;
};

} // namespace kopt
