// SPDX-License-Identifier: Apache-2.0
// The integers of a captured launch: which of them decide how much it computes, and the launch that
// follows from others.
#pragma once

#include "driver/workload/derived/DerivedLaunches.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt {

/// Keeps references to what it is made from.
class CapturedNumbers {
public:
  using Values = std::map<std::string, std::int64_t>; ///< of integer arguments, by name

  CapturedNumbers(const DerivationSource &source, const Launch &launch);

  const Values &all() const { return all_; }
  const Values &sizes() const { return sizes_; }   ///< 8 and more, or decide the grid
  const Values &others() const { return others_; } ///< neither a size nor a block
  const std::set<std::string> &deciding() const { return deciding_; } ///< these decide the grid

  /// The launch with other integers, in the same memory. The grid is what its expressions give;
  /// where they give none, as of a problem of no elements, it stays.
  Launch with(const Values &changed) const;

  /// The launch with larger integers, in memory that is larger by as much as these have grown, or
  /// more: a buffer that had as many elements as a product of arguments has as many as their
  /// product now. What was captured is repeated in it; sorted integers stay sorted, and
  /// permutations permutations. Outputs hold other numbers than they would get. Nothing where the
  /// grid does not follow them, or where parts of one buffer, or addresses in memory, would have to
  /// be moved.
  std::optional<Launch> larger(const Values &changed) const;

  bool areOther(const Values &values) const;

  /// Moved so that the user's requirements hold.
  Values allowed(const Values &values) const;

private:
  std::optional<std::int64_t> integerAt(std::size_t argument) const;
  bool isAtSite() const;
  std::map<std::string, std::int64_t> bindingsWith(const Values &integers) const;
  bool decidesGrid(const std::string &name, std::int64_t value) const;
  bool isGeometry(const std::string &name, std::int64_t value) const;
  std::uint64_t elementsWith(std::uint64_t elements, const Values &changed) const;
  Fill filled(std::size_t buffer, std::uint64_t bytes) const;

  const DerivationSource &source_;
  const Launch &launch_;
  Values all_, sizes_, others_;
  std::set<std::string> deciding_;
  mutable std::map<std::size_t, std::optional<Fill>> drawn_; ///< of integers, by buffer
};

} // namespace kopt
