// SPDX-License-Identifier: Apache-2.0
// One declared launch with other numbers: which integers decide sizes, which do not, and the launch
// with other values.
#pragma once

#include "driver/workload/derived/DerivedLaunch.h"

#include <map>
#include <optional>
#include <string>

namespace kopt {

inline constexpr std::int64_t kSmallestSize = 8; ///< sizes are not halved below this

/// Keeps references to the arguments of its constructor.
class LaunchFamily {
public:
  using Values =
      std::map<std::string, std::int64_t>; ///< the declaration's independent integers, by name

  LaunchFamily(const DerivationSource &source, const Launch &launch);

  const Values &sizes() const { return sizes_; } ///< integers that decide geometry or extents
  /// The other integers, except those that are the threads of a block: these are not part of the
  /// problem, and a kernel may support only some values.
  const Values &others() const { return others_; }

  /// `values`, moved so that the requirements hold (Requirements::moved()). `base` are the values
  /// that they were made from.
  Values allowed(Values values, const Values &base) const;

  /// `values`, of which all but `name` are moved so that the requirements hold.
  Values around(const std::string &name, Values values) const;

  /// The launch with other values, as launch site `site` launches it; fills, roles and weight are
  /// those of the declared launch. Fails as buildLaunch() does.
  Result<Launch> with(const Values &changed, std::optional<std::size_t> site = std::nullopt) const;

  /// Sizes halved, the largest first, until the launch costs at most `most`; where that is
  /// impossible, as with a grid that does not follow them, until it costs least.
  Values smaller(std::uint64_t most) const;

  /// Sizes doubled, the smallest first, until a buffer has more elements than `least`; nothing if
  /// that costs more than `most`, or if the launch itself has as many.
  std::optional<Values> larger(std::uint64_t least, std::uint64_t most) const;

  /// The launch with `name` as in `values` and the others halved to kSmallestSize, or if necessary
  /// to 4, 2 or 1; nothing if it still costs more than `most`.
  std::optional<Launch> within(const std::string &name, Values values, std::uint64_t most) const;

  /// `value` limited to the range of the parameter of that name: at least 0, and 0 or 1 for a bool.
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

} // namespace kopt
