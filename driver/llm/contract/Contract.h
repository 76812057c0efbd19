// SPDX-License-Identifier: Apache-2.0
// The contract of a reply that changes code: a JSON header in a fenced block with candidates
// (knowledge/candidate.json), then the whole new text of each changed chunk in a block labelled
// with both. knowledge/prompts/system.md tells the model the same. Liberties of form are taken;
// what leaves the meaning open breaks one candidate, not the reply.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

inline constexpr std::size_t kMostCandidates = 4; ///< of a reply

/// What a reply may change.
struct CodeContract {
  std::map<std::string, std::string> chunks; ///< label and present text of each editable chunk
  std::set<std::string> constants;           ///< names whose value may be changed
};

/// A constant of the reply's own text that kopt may give each of these values.
struct ReplyTunable {
  std::string name;
  std::vector<std::int64_t> values;      ///< without duplicates
  std::int64_t value = 0;                ///< the one to begin with
  std::vector<std::string> requirements; ///< expressions
};

/// What a candidate is to do to a counter.
struct ReplyExpectation {
  std::string metric;
  double factor = 1; ///< the new value over the present one, above 0
};

struct ReplyCandidate {
  std::string id; ///< unique in its reply: as the model named it, or its place from 1
  std::string title, technique, rationale; ///< one line; lower-case-with-dashes or empty; prose
  std::vector<ReplyExpectation> expects;
  std::optional<std::array<std::string, 3>> block, grid; ///< expressions
  bool coverGrid = false; ///< the grid follows the block, which consists of numbers
  std::optional<std::string> sharedBytes;
  std::vector<ReplyTunable> tunables;
  std::map<std::string, std::int64_t> constants;
  std::map<std::string, std::string> chunks; ///< label and new text
};

/// What breaks the contract, in words made to be sent back to the model.
struct ReplyBreach {
  std::string candidate; ///< its id; empty: the reply as a whole
  std::string where;     ///< JSON pointer ("/candidates/1/launch/grid"), or the block's label
  std::string what;
};

struct CodeReply {
  std::vector<ReplyCandidate> candidates; ///< those without a breach
  std::vector<ReplyBreach> breaches;
  std::vector<std::string> plan;  ///< directions for later
  std::vector<std::string> notes; ///< what was passed over
  std::string stop;               ///< why the model has nothing more to offer
};

/// Never all empty but for notes: a reply that offers nothing and gives no reason is a breach.
CodeReply readReply(std::string_view reply, const CodeContract &contract);

/// A reply of this one candidate, which has its chunks inside it: {"chunks": {LABEL: text}}.
CodeReply readCandidate(const nlohmann::json &candidate, const CodeContract &contract);

/// The JSON schema of a candidate: knowledge/candidate.json.
const nlohmann::json &candidateSchema();

} // namespace kopt
