// SPDX-License-Identifier: Apache-2.0
// Which derived launches are tried on the original, and which are not worth it.
#pragma once

#include "driver/judge/replays/Replay.h"

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace kopt {

/// Launches that wait to be tried, in the order in which they are given, and what the tries so far
/// tell of the others.
class LaunchTries {
public:
  /// `isCostly`: only as many are tried as a candidate has time for.
  void begin(std::vector<DerivedLaunch> launches, bool isCostly);

  struct Limits {
    std::size_t most = 0; ///< launches that a candidate runs on, without parts of a grid
    double seconds = 0;   ///< of a GPU
    bool isLast = false;  ///< what is left then is not tried at all; parts of a grid are
  };
  /// Tries launches, which were derived from `base`, within the limits with `take`, which answers
  /// why the launch is not a test. Those that are none are added to `missing`.
  Status run(CheckContext &context, const Launch &base, const Limits &limits,
             const std::function<Result<std::optional<NotATest>>(DerivedLaunch)> &take,
             std::vector<NotDerived> &missing);

  /// A launch of this kind is known already.
  void know(Derivation kind) { kinds_.insert(kind); }
  std::size_t taken() const { return taken_; } ///< without parts of a grid
  const std::deque<DerivedLaunch> &left() const { return left_; }

private:
  /// How a derived launch differs from the one it is derived from.
  struct Change {
    Derivation kind = Derivation::Scalars;
    /// Indices of the arguments passed by value that differ, and whether one is a greater integer.
    std::set<std::pair<std::size_t, bool>> scalars;
    bool operator==(const Change &) const = default;
  };
  struct Failed {
    Change change;
    std::string title; ///< of the launch
    bool isHang = false;
  };
  static Change changeOf(const Specialization &specialization, const Launch &from,
                         const DerivedLaunch &derived);
  static bool isAlike(const Change &change, const Change &hung);
  std::string whyNot(const DerivedLaunch &launch, const Change &change, bool isModelled,
                     bool isLate) const;

  bool isCostly_ = false;
  std::deque<DerivedLaunch> left_;
  std::size_t taken_ = 0;
  std::set<Derivation> kinds_;      ///< of the launches that were taken
  std::map<Derivation, int> tries_; ///< of each kind
  std::vector<Failed> failed_;      ///< launches on which the original hangs or, on a GPU, crashes
};

/// Why a launch larger than the workload's heaviest takes too long to run for each candidate; empty
/// if it does not. If the estimate from the number of elements is too high, the original's actual
/// number of instructions on the emulated device decides.
Result<std::string> whyTooMuch(CheckContext &context, const Launch &launch);

} // namespace kopt
