// SPDX-License-Identifier: Apache-2.0
// What models write, as text: blocks between fences, JSON with the liberties that people take, and
// comments in the place of code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kopt {

struct ReplyBlock {
  std::string info; ///< what follows the opening fence
  /// "cuda candidate=a chunk=f" names f of a; "cpp f", "chunk=f" and "f" name f.
  std::string candidate{}, chunk{};
  std::string text{};
  bool isClosed = false;
};

/// The blocks between fences of ``` or ~~~, longer ones and indented ones among them. A block that
/// is not closed ends where one labelled "chunk=" begins, or with the reply.
std::vector<ReplyBlock> blocksIn(std::string_view reply);

/// The JSON without comments and trailing commas, and with line ends in texts escaped. Empty where
/// it is nested more deeply than any that is meant.
std::string strictJson(std::string_view json);

/// The first line of `text` that stands for code left out ("// ... rest unchanged") and is not in
/// `original`; empty if there is none.
std::string findElision(std::string_view text, std::string_view original);

} // namespace kopt
