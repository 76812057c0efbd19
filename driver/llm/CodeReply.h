// SPDX-License-Identifier: Apache-2.0
// The contract of a reply that changes code: one JSON header in a fenced block, then the whole new
// text of each changed chunk in a fenced block labelled with the chunk's name.
// knowledge/prompts/system.md tells the model the same.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace kopt {

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

struct CodeReply {
  std::string title, technique, rationale; ///< one line; lower-case-with-dashes; prose
  std::string stop; ///< why the model has nothing to offer; everything else is empty then
  std::optional<std::array<std::string, 3>> block, grid; ///< expressions
  bool coverGrid = false; ///< the grid follows the block, which consists of numbers
  std::optional<std::string> sharedBytes;
  std::vector<ReplyTunable> tunables;
  std::map<std::string, std::int64_t> constants;
  std::map<std::string, std::string> chunks; ///< label and new text
};

/// The reply, or in words what breaks the contract, made to be sent back to the model.
tl::expected<CodeReply, std::string> parseCodeReply(std::string_view reply,
                                                    const CodeContract &contract);

/// The first line of `text` that stands for code left out ("// ... rest unchanged") and is not in
/// `original`; empty if there is none.
std::string findElision(std::string_view text, std::string_view original);

} // namespace kopt
