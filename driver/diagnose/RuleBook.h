// SPDX-License-Identifier: Apache-2.0
// Says what bounds a kernel by its counters: its state, and the rules that fire, with the evidence
// and the skills that treat it.
#pragma once

#include "driver/diagnose/StallSlices.h"
#include "driver/diagnose/States.h"
#include "driver/model/Device.h"

namespace kopt {

struct Rule;

/// What a state, rule or skill was seen on.
struct Proof {
  std::string kind; ///< "state", "rule" or "skill"
  std::string id;
  std::string shownBy; ///< of a skill: the states and rules that name it and were seen

  bool isProven() const { return shownBy.find("unproven") == std::string::npos; }
};

/// The rules of knowledge/rules/*.json and the states of knowledge/states.json. load() fails with
/// Internal, naming file and key, if one is wrong.
class RuleBook {
public:
  static Result<RuleBook> load();
  /// `known` is what stands beside the counters of a launch (Known.h).
  Diagnosis diagnose(const Counters &counters, const Counters &known = {}) const;
  /// As States::roofReached().
  std::optional<RoofReached> roofReached(const Counters &counters, const Counters &known) const;
  /// Of all states, rules and skills.
  std::vector<Proof> proofs() const;
  /// Of the state and the rules that fired, those that say what this message of Nsight Compute's
  /// says.
  std::vector<std::string> agreeing(const Diagnosis &diagnosis,
                                    const NcuReport::Advice &advice) const;
  /// Moves the stalls for what its state blames to the front: where warps start anew all the time,
  /// most are found at the first lines.
  void putBlamedFirst(const Diagnosis &diagnosis, std::vector<StallSlice> &stalls) const;
  /// The names of the skills that bear on it, those of its state first.
  std::vector<std::string> skillsFor(const Diagnosis &diagnosis) const;
  /// The text of a skill document; empty if there is none.
  static std::string skill(const std::string &name);
  /// Names of the skill documents, with their texts; at the end of each, what the rules that name
  /// it find.
  std::vector<std::pair<std::string, std::string>> documents() const;
  /// One line for each skill, for a prompt: "- name: signal".
  static std::string skillCatalogue();
  RuleBook(RuleBook &&) noexcept;
  RuleBook &operator=(RuleBook &&) noexcept;
  ~RuleBook();

private:
  explicit RuleBook(States states);
  States states_;
  std::vector<Rule> rules_;
};

} // namespace kopt
