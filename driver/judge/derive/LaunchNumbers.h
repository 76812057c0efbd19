// SPDX-License-Identifier: Apache-2.0
// The integers of a launch: which of them decide how much it computes, and the launch with others.
// A declared launch is built anew from its clauses. A captured one is known by its bytes alone.
#pragma once

#include "driver/judge/derive/DerivedLaunch.h"
#include "driver/workload/Requirements.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace kopt {

/// Keeps references to the launch, and to what the source refers to.
class LaunchNumbers {
public:
  using Values = std::map<std::string, std::int64_t>; ///< integers by name

  virtual ~LaunchNumbers() = default;

  /// The integers that are given: by `arg` clauses, or as arguments.
  const Values &all() const { return all_; }
  /// Those that decide geometry or extents; of a captured launch also all from kSmallestSize on.
  const Values &sizes() const { return sizes_; }
  /// The other integers, except those that are the threads of a block: these are not part of the
  /// problem, and a kernel may support only some values.
  const Values &others() const { return others_; }
  /// Sizes that are known to decide how much is computed; of a captured launch, its grid.
  const std::set<std::string> &deciding() const { return deciding_; }
  bool areOther(const Values &values) const;

  /// Why there is no launch with other sizes; empty if there is.
  virtual std::string whySizesStay() const = 0;

  /// The launch with other integers; of a captured one in the same memory. Of a declared one as
  /// launch site `site` launches it; fills, roles and weight are those of the declared launch.
  /// Fails if the program cannot make it: a problem without elements has no threads.
  virtual Result<Launch> with(const Values &changed,
                              std::optional<std::size_t> site = std::nullopt) const = 0;
  /// The launch with larger integers, in as much more memory. Fails where it is not known how that
  /// grows.
  virtual Result<Launch> larger(const Values &changed) const = 0;

  /// False if there is no such launch in a captured launch's memory.
  virtual bool mayBecome(const std::string &name, std::int64_t value) const = 0;
  /// Sizes that only say how often something is done: they decide neither the grid nor, as far as
  /// that is known, how many elements a buffer has.
  virtual std::set<std::string> counts() const { return {}; }
  /// The axes of the grid that the program chooses by a host variable of unknown value which none
  /// of the kernel's integers is: the kernel has to do with any number of blocks there.
  virtual std::map<std::size_t, std::string> freeAxes() const { return {}; }

  /// `values`, in which a bool is 0 or 1, and integers that follow from others do so.
  virtual Values related(Values values) const;
  /// `values`, moved so that the user's requirements hold, and related().
  Values allowed(const Values &values) const;
  Requirements requirements() const;

  /// `values`, of which all but `kept` are halved, the largest first, but not below `smallest`,
  /// until the launch costs at most `most`; where that is impossible, as with a grid that does not
  /// follow them, until it costs least.
  Values shrunk(Values values, const std::string &kept, std::uint64_t most,
                std::int64_t smallest) const;
  /// The launch with `name` as in `values` and the others halved to kSmallestSize, or if necessary
  /// to 4, 2 or 1; nothing if it still costs more than `most`.
  std::optional<Launch> within(const std::string &name, Values values, std::uint64_t most) const;

protected:
  LaunchNumbers(const DerivationSource &source, const Launch &launch)
      : source_(source), launch_(launch) {}

  const DerivationSource source_;
  const Launch &launch_;
  Values all_, sizes_, others_;
  std::set<std::string> deciding_;
};

/// Of a launch that was captured from a program, or of a declared one.
std::unique_ptr<LaunchNumbers> capturedNumbers(const DerivationSource &source,
                                               const Launch &launch);
std::unique_ptr<LaunchNumbers> declaredNumbers(const DerivationSource &source,
                                               const Launch &launch);
inline std::unique_ptr<LaunchNumbers> numbersOf(const DerivationSource &source,
                                                const Launch &launch) {
  return isCaptured(launch) ? capturedNumbers(source, launch) : declaredNumbers(source, launch);
}

} // namespace kopt
