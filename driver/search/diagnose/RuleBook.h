// SPDX-License-Identifier: Apache-2.0
// Evaluates rules over counters: they say what bounds a kernel, with the evidence and the skills
// that treat it.
#pragma once

#include "driver/model/Counters.h"
#include "driver/model/Diagnosis.h"
#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

struct Rule;

/// The rules of knowledge/rules/*.json. load() fails with Internal, naming file and key, if one is
/// wrong.
class RuleBook {
public:
  static Result<RuleBook> load();
  Diagnosis diagnose(const Counters &counters) const;
  /// All metrics that the rules read, sorted: those to request from a profiler.
  std::vector<std::string> metrics() const;
  /// The text of a skill document; empty if there is none.
  static std::string skill(const std::string &name);
  /// Names of the skill documents, with their texts.
  static std::vector<std::pair<std::string, std::string>> skills();
  /// One line for each skill, for a prompt: "- name: signal".
  static std::string skillCatalogue();
  RuleBook(RuleBook &&) noexcept;
  RuleBook &operator=(RuleBook &&) noexcept;
  ~RuleBook();

private:
  RuleBook();
  std::vector<Rule> rules_;
};

} // namespace kopt
