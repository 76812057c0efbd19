// SPDX-License-Identifier: Apache-2.0
// A prompt as a list of sections that fits into a budget. What others wrote (source, compilers,
// devices, other runs) stands in fences that it cannot close.
#pragma once

#include "driver/support/Result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// A part of a prompt. A table in PromptSections.cpp has the title, the priority and the limit of
/// each.
struct PromptSection {
  std::string_view id;
  std::string text;          ///< empty: there is no such section
  std::string info = "text"; ///< of the fence around it; empty: it is kopt's own, or has its fences
  std::string title{};       ///< empty: that of the table
};

struct Prompt {
  std::string text;
  std::map<std::string, long> sections; ///< bytes of each in the text, by id
};

/// The sections in their order, without those of `without`. If they are more than `budget`, they
/// are shortened to their limits, the least important first, and then left out, until the rest
/// fits; a line says so. What is never cut may exceed the budget. Fails with Usage if `without` has
/// an id that no section has, or that of one that is never cut.
Result<Prompt> fit(std::vector<PromptSection> sections, std::size_t budget,
                   const std::set<std::string> &without);

/// The text as a fenced block, with fences that the text cannot close.
std::string fenced(std::string_view text, std::string_view info = "text");

/// The text as one line without backquotes, of at most `limit` bytes, so that a quoted title cannot
/// close a fence or add lines.
std::string quoted(std::string text, std::size_t limit);

/// The beginning of a long text, because the first diagnostic matters most.
std::string head(const std::string &text, std::size_t limit);

} // namespace kopt
