// SPDX-License-Identifier: Apache-2.0
// The integers of a captured launch: which of them decide how much it computes, and the launch with
// other values.
#pragma once

#include "driver/workload/derived/DerivedLaunch.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace kopt {

/// Keeps references to the arguments of its constructor.
class CapturedNumbers {
public:
  using Values = std::map<std::string, std::int64_t>; ///< integer arguments by name

  CapturedNumbers(const DerivationSource &source, const Launch &launch);

  const Values &all() const { return all_; }
  const Values &sizes() const { return sizes_; }   ///< at least 8, or they decide the grid
  const Values &others() const { return others_; } ///< neither sizes nor geometry
  const std::set<std::string> &deciding() const { return deciding_; } ///< they decide the grid
  /// Sizes that only say how often something is done: they decide neither the grid nor, as far as
  /// that is known, how many elements a buffer has. Empty if the size of a buffer is no product of
  /// arguments.
  std::set<std::string> counts() const;

  /// The launch with other integers, in the same memory. Its expressions give the new grid and
  /// block. Where these have no threads, as for a problem without elements, the program cannot
  /// launch it.
  Launch with(const Values &changed) const;

  /// The launch with larger integers, in memory that grows at least as much: a buffer that had as
  /// many elements as a product of arguments gets as many as their new product. Captured contents
  /// are repeated in it; sorted integers stay sorted, and permutations stay permutations. Outputs
  /// are filled with random numbers. Nothing if the grid does not follow the integers, or if parts
  /// of a buffer, or addresses in memory, would have to move.
  std::optional<Launch> larger(const Values &changed) const;

  /// All sizes divided by the same power of two, so that their proportions remain, minus one, so
  /// that blocks and vectors have tails. The smallest power of two for which the launch has at most
  /// `most` threads.
  std::optional<Values> divided(std::uint64_t most) const;

  /// All sizes halved, the largest first, until the launch has at most `most` threads. Nothing if
  /// one that decides the grid becomes too small.
  std::optional<Values> halved(std::uint64_t most) const;

  /// A host variable of unknown value that every launch site computes the block or its shared
  /// memory from, as `n` in `n / 4`: with other integers the block would have to be another. Empty
  /// if there is none, if the launch follows its launch site's expressions, or if the user's `arg`
  /// clauses compute the variable.
  std::string unknownInBlock() const;

  /// The axes of the grid that the program chooses by a host variable of unknown value which none
  /// of the kernel's integers is: the kernel has to do with any number of blocks there.
  std::map<std::size_t, std::string> freeAxes() const;

  bool areOther(const Values &values) const;

  /// `values`, in which a bool is 0 or 1; integers that were a product of two others are so again,
  /// or half or twice as much; and those that the user's `arg` clauses compute from others are
  /// computed.
  Values related(Values values) const;

  /// `values`, moved so that the user's requirements hold, and related().
  Values allowed(const Values &values) const;

private:
  void findFollowing();
  std::string declaredAs(const std::string &name) const;
  std::string computedAs(const std::string &name) const;
  bool isAtSite() const;
  std::map<std::string, std::int64_t> bindingsWith(const Values &integers) const;
  std::map<std::string, std::int64_t> declaredAt(const LaunchSite &site,
                                                 const Values &integers) const;
  void followBlock(const Values &integers, Launch &made) const;
  bool decidesGrid(const std::string &name, std::int64_t value) const;
  bool isOfItsOwn(const std::string &name) const;
  bool isGeometry(const std::string &name, std::int64_t value) const;
  std::optional<std::uint64_t> elementsOf(std::size_t buffer) const;
  std::uint64_t elementsWith(std::uint64_t elements, const Values &changed) const;
  Fill filled(std::size_t buffer, std::uint64_t bytes) const;

  const DerivationSource &source_;
  const Launch &launch_;
  Values all_, sizes_, others_;
  std::set<std::string> deciding_;
  std::map<std::string, std::string> following_; ///< integers, and what of others they are
  mutable std::map<std::size_t, std::optional<Fill>> drawn_; ///< of integers, by buffer
};

} // namespace kopt
