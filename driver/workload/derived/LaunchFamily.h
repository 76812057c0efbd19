// SPDX-License-Identifier: Apache-2.0
// One declared launch with other numbers: what decides sizes, what does not, and the launch that
// follows from other values of either.
#pragma once

#include "driver/workload/derived/DerivedLaunches.h"

#include <map>
#include <optional>
#include <string>

namespace kopt {

inline constexpr std::int64_t kSmallestSize = 8; ///< no size is halved below it

/// Keeps references to what it is made from.
class LaunchFamily {
public:
  using Values =
      std::map<std::string, std::int64_t>; ///< of the declaration's independent integers, by name

  LaunchFamily(const DerivationSource &source, const Launch &launch);

  const Values &sizes() const { return sizes_; } ///< decide geometry or extents
  /// The rest, but for those that are the threads of a block: these are no part of the problem, and
  /// kernels are written for some values alone.
  const Values &others() const { return others_; }

  /// `values` moved so that the requirements hold (Requirements::moved()), where `base` are those
  /// that they were made from.
  Values allowed(Values values, const Values &base) const;

  /// The launch with other values, as launch site `site` has it; fills, roles and weight are the
  /// declared launch's. Fails as buildLaunch() does.
  Result<Launch> with(const Values &changed, std::optional<std::size_t> site = std::nullopt) const;

  /// Sizes halved, the largest first, until the launch costs at most `most`; nothing where it
  /// cannot.
  std::optional<Values> smaller(std::uint64_t most) const;

  /// Sizes doubled, the smallest first, until a buffer has more elements than `least`; nothing
  /// where that costs more than `most`, or the launch itself has as many.
  std::optional<Values> larger(std::uint64_t least, std::uint64_t most) const;

  /// The launch with `name` as `values` have it and the others halved, none below kSmallestSize, or
  /// then below 4, 2 and 1; nothing where it costs more than `most` all the same.
  std::optional<Launch> within(const std::string &name, Values values, std::uint64_t most) const;

  /// `value` limited to what the parameter of that name can be: not below 0, and 0 or 1 for a bool.
  std::int64_t inRange(const std::string &name, std::int64_t value) const;

  /// The type of a scalar parameter; empty if `name` is not one.
  std::string scalarOf(const std::string &name) const;

private:
  bool isSize(const std::string &name, std::int64_t value) const;
  bool isBlock(const std::string &name, std::int64_t value) const;
  Fill moved(const Buffer &known, const Fill &declared) const;

  const DerivationSource &source_;
  const Launch &launch_;
  Values values_, sizes_, others_;
};

bool isFloating(const std::string &scalar);

} // namespace kopt
