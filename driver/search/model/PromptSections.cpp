// SPDX-License-Identifier: Apache-2.0
#include "driver/search/model/PromptSections.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

constexpr int kNeverCut = 100;

struct SectionPlan {
  std::string_view id, title;
  int priority = kNeverCut; ///< the least important is cut first
  std::size_t limit = 0;    ///< bytes of its text that are left where it is shortened
  bool keepsEnd = false;    ///< these are its end, and not its beginning
};

constexpr SectionPlan kSections[] = {
    // Of the system prompt.
    {"contract", ""},
    {"techniques", "Techniques", 60, 2000},
    {"catalogue", "Knowledge", 50, 4000},
    // The same in every task of a run.
    {"subject", "Kernel"},
    {"launches", "Launches", 95, 6000},
    {"device", "Device", 60, 1000},
    {"context", "Read-only context", 70, 8000, true},
    // Of the version that is to be changed.
    {"kernel", "The present version"},
    {"bound", "What bounds the present version", 90, 2000},
    {"rules", "Rules that fired", 75, 3000},
    {"skills", "Documents of kopt that bear on it", 40, 8000},
    // Of what was tried.
    {"contrast", "Counters", 65, 4000},
    {"attempts", "Your earlier attempts", 80, 8000, true},
    {"differences", "What they changed", 55, 6000, true},
    {"evidence", "What came of it", 98, 24000},
    {"task", "Task"},
};

const SectionPlan &planOf(const PromptSection &section) {
  return *std::ranges::find(kSections, section.id, &SectionPlan::id);
}

/// The part that `keep` bytes allow, of whole lines where it has some.
std::string partOf(const std::string &text, std::size_t keep, bool isEnd) {
  const std::size_t begin = isEnd ? text.size() - keep : 0;
  const std::size_t line = isEnd ? text.find('\n', begin - 1) : text.rfind('\n', keep);
  if (line == text.npos || line + 1 == text.size())
    return validUtf8(text.substr(begin, keep));
  return isEnd ? text.substr(line + 1) : text.substr(0, line + 1);
}

std::string rendered(const PromptSection &section, const std::string &remark = {}) {
  const std::string title =
      section.title.empty() ? std::string(planOf(section).title) : section.title;
  return (title.empty() ? "" : "# " + title + "\n\n") +
         (section.text.empty() || section.info.empty() ? section.text
                                                       : fenced(section.text, section.info)) +
         remark + "\n";
}

} // namespace

Result<Prompt> fit(std::vector<PromptSection> sections, std::size_t budget,
                   const std::set<std::string> &without) {
  std::vector<std::string> known;
  for (const SectionPlan &plan : kSections)
    if (plan.priority < kNeverCut)
      known.emplace_back(plan.id);
  for (const std::string &id : without)
    if (std::ranges::find(known, id) == known.end())
      return makeError(ErrorCode::Usage, fmt::format("no section '{}' can be left out", id),
                       "known are " + join(known, ", "));
  std::erase_if(sections, [&](const PromptSection &section) {
    return section.text.empty() || without.contains(std::string(section.id));
  });
  std::vector<std::string> texts;
  std::vector<std::size_t> order; // the least important first
  std::size_t size = 0;
  for (const PromptSection &section : sections) {
    order.push_back(texts.size());
    size += texts.emplace_back(rendered(section)).size();
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return planOf(sections[i]).priority; });
  for (const bool isLeftOut : {false, true})
    for (const std::size_t i : order) {
      const auto &[id, title, priority, limit, keepsEnd] = planOf(sections[i]);
      std::string &text = sections[i].text;
      const std::size_t whole = text.size(), keep = isLeftOut ? 0 : limit;
      if (size <= budget || priority == kNeverCut || whole <= keep)
        continue;
      text = keep > 0 ? partOf(text, keep, keepsEnd) : "";
      size -= texts[i].size();
      texts[i] = rendered(sections[i], text.empty() ? "[left out: there is no room for it]\n"
                                                    : fmt::format("[only its {}: {} of {} bytes]\n",
                                                                  keepsEnd ? "end" : "beginning",
                                                                  text.size(), whole));
      size += texts[i].size();
    }
  Prompt prompt;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    prompt.text += texts[i];
    prompt.sections[std::string(sections[i].id)] = long(texts[i].size());
  }
  return prompt;
}

std::string fenced(std::string_view text, std::string_view info) {
  std::size_t longest = 2, run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, info, text,
                     text.empty() || text.back() != '\n' ? "\n" : "", fence);
}

std::string quoted(std::string text, std::size_t limit) {
  std::replace(text.begin(), text.end(), '`', ' ');
  text = std::string(trim(withoutControls(std::move(text))));
  return text.size() > limit ? validUtf8(text.substr(0, limit)) + "…" : text;
}

std::string head(const std::string &text, std::size_t limit) {
  return text.size() > limit ? partOf(text, limit, false) + "[the rest is left out]" : text;
}

} // namespace kopt
