// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Exchange.h"

#include "driver/model/Json.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace kopt {
namespace {

/// Of a line. Raise it when the records in it change.
constexpr int kFormat = 2;

struct ExchangeLine {
  int format = kFormat;
  std::string id;
  Experience experience;
  std::optional<Candidate> edits{};
};
KOPT_FIELDS(ExchangeLine, format, id, experience, edits)

/// What is wrong with a line; empty: nothing.
std::string readLine(const std::string &text, ExchangeLine &line) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object())
    return "this is no JSON object";
  if (const auto format = document.find("format"); format != document.end() && *format != kFormat)
    return fmt::format("its format is {} instead of {}", format->dump(), kFormat);
  if (std::string problem = readDocument(document, line); !problem.empty())
    return problem;
  if (line.id != idOf(line.experience))
    return "it was changed after it was exported: its id is another";
  if (line.edits && line.edits->contentHash() != line.experience.candidate)
    return "its edits were changed after they were exported";
  return "";
}

} // namespace

Result<Exported> exportExperience(ExperienceBase &base, bool withSource) {
  KOPT_TRY(std::vector<Remembered> rows, base.find({}, std::numeric_limits<std::size_t>::max()));
  std::ranges::sort(rows, {}, &Remembered::id);
  Exported exported{"", rows.size()};
  for (Remembered &row : rows) {
    ExchangeLine line{kFormat, row.id, std::move(row.experience)};
    if (withSource)
      line.edits = std::move(row.edits);
    nlohmann::json json = toJson(line);
    if (!line.edits)
      json.erase("edits");
    exported.text += dumpJson(json) + "\n";
  }
  return exported;
}

Result<Imported> importExperience(ExperienceBase &base, const std::string &text,
                                  const std::string &file, const std::string &source) {
  std::vector<Lesson> lessons;
  std::size_t number = 0;
  for (const std::string &each : split(text, '\n')) {
    ++number;
    if (trim(each).empty())
      continue;
    ExchangeLine line;
    if (const std::string problem = readLine(each, line); !problem.empty())
      return makeError(ErrorCode::Usage, "cannot import: " + problem,
                       "give a file of 'kopt kb export' of this version; nothing was imported",
                       fmt::format("{}:{}", file, number));
    lessons.push_back({std::move(line.experience), std::move(line.edits)});
  }
  KOPT_TRY(const std::size_t added, base.add(lessons, source));
  return Imported{added, lessons.size() - added};
}

} // namespace kopt
