// SPDX-License-Identifier: Apache-2.0
// Reads knowledge/policy.json: the settings of the strategies by their names, and gates, which set
// others where their condition holds.
#pragma once

#include "driver/diagnose/CounterScope.h"
#include "driver/model/Json.h"

namespace kopt {

/// Which techniques are asked for.
enum class Only { Any, Untried /* in this run */, Same /* that the parent has in it */ };
constexpr auto spellings(Only) {
  return std::to_array<std::string_view>({"any", "untried", "same"});
}

/// How a portfolio decides.
struct PolicySettings {
  std::string id, what;
  std::size_t width = 4;    ///< parents beside the baseline
  bool baseline = true;     ///< it is a parent
  bool families = false;    ///< each of the others has another set of techniques in it
  double priorWeight = 0.5; ///< trials that what was learnt elsewhere counts for; 0: it does not
  double explore = 1;       ///< deviations of what is expected that are added to it
  double recommended = 2;   ///< factor of the odds of what a rule recommends for the parent
  Only only = Only::Any;
  bool gates = false; ///< they may set others
};
KOPT_FIELDS(PolicySettings, id, what, width, baseline, families, priorWeight, explore, recommended,
            only, gates)

/// A condition over the signals of a search, and the settings that it sets. Signals: "gained"
/// (trials that did), "stale" (trials since the best candidate), "untried" (techniques without a
/// trial), "left" (candidates left for the best one), "new_state" (1 if its state is another than
/// that of what it was made from), "log_speedup" of it, and "target" (the logarithm of the target
/// speedup; 0: none).
struct PolicyGate {
  std::string id;
  CounterCondition when;
  nlohmann::json set;
};

class PolicyBook {
public:
  /// Fails with Internal, naming the key, if the file is wrong.
  static Result<PolicyBook> load();
  /// The settings of a preset; null if there is none of that name.
  const PolicySettings *find(const std::string &preset) const;
  const std::vector<PolicyGate> &gates() const { return gates_; }

private:
  std::vector<PolicySettings> presets_;
  std::vector<PolicyGate> gates_;
};

/// The first gate whose condition holds; null: none.
const PolicyGate *firstOf(const std::vector<PolicyGate> &gates, const Counters &signals);
/// "width 4, with the baseline, prior weight 0.5, …": how it decides, for people.
std::string inWords(const PolicySettings &settings);

/// The settings with others in `set`, by their names.
Result<PolicySettings> changed(const PolicySettings &settings, const nlohmann::json &set);

} // namespace kopt
