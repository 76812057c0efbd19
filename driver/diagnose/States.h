// SPDX-License-Identifier: Apache-2.0
// The state of a kernel: a region of the space of counters that has a name, what binds it there,
// and what is left.
#pragma once

#include "driver/diagnose/CounterScope.h"
#include "driver/model/Diagnosis.h"

#include <optional>

namespace kopt {

/// A kernel that does what it has to do as fast as the device can.
struct RoofReached {
  std::string finding;
  std::vector<std::pair<std::string, double>> evidence;
};

/// The states, roofs and stops of knowledge/states.json. load() fails with Internal, naming the
/// key, if one is wrong.
class States {
public:
  static Result<States> load();
  /// Sets state, bound and headroom. They stay empty where no roof's counters are known.
  void addTo(Diagnosis &diagnosis, const Counters &counters) const;
  /// Nothing: something is left, or it is not known.
  std::optional<RoofReached> roofReached(const Counters &counters) const;
  /// A region of the counters.
  struct State {
    std::string id;
    CounterCondition when;
    std::string shownBy;             ///< on what it was seen
    std::vector<std::string> skills; ///< of what no rule sees: documents of knowledge/skills
    std::vector<std::string> ncu;    ///< what NVIDIA's rules say there, as of a rule
    std::vector<std::string> blames; ///< the classes of instructions (SassClass) that make it
  };
  const std::vector<State> &all() const { return states_; } ///< the one that is asked first first

private:
  /// A resource with a peak.
  struct Roof {
    std::string resource;
    BoundKind kind;
    std::vector<CounterValue>
        values; ///< "used", and "needed" where that is known: percent of the peak
  };
  struct Stop {
    CounterCondition when;
    std::vector<std::pair<std::string, Expression>> evidence;
  };

  std::vector<CounterValue> values_; ///< that all share
  std::vector<Roof> roofs_;
  std::vector<State> states_;
  std::vector<Stop> stops_;
};

/// "memory, DRAM at 91% of its peak; at most 1.10x as fast with the bytes that it has to move";
/// empty: not known.
std::string boundInWords(const Diagnosis &diagnosis);

} // namespace kopt
