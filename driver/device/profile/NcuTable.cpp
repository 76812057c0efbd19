// SPDX-License-Identifier: Apache-2.0
#include "driver/device/profile/NcuTable.h"

#include "driver/support/Text.h"
#include "runtime/runner/Protocol.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace kopt {
namespace {

bool hasAll(const NcuTable &table, const std::vector<std::string> &columns) {
  return std::all_of(columns.begin(), columns.end(),
                     [&](const std::string &name) { return table.column(name); });
}

} // namespace

std::vector<std::string> csvRecord(std::string_view text, std::size_t &at) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"') {
      fields.back() += '"';
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c == '\n' && !quoted) {
      ++at;
      break;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

std::optional<std::size_t> NcuTable::column(std::string_view name) const {
  const bool isPrefix = name.ends_with('*');
  if (isPrefix)
    name.remove_suffix(1);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (isPrefix ? std::string_view(columns[i]).starts_with(name) : columns[i] == name)
      return i;
  return std::nullopt;
}

std::optional<NcuTable> findNcuTable(std::string_view text,
                                     const std::vector<std::string> &columns) {
  // Other text may come before a table. A header begins a line, and its fields are quoted.
  for (std::size_t line = 0; line < text.size();) {
    const std::size_t end = std::min(text.find('\n', line), text.size());
    std::size_t at = line;
    line = end + 1;
    if (text[at] != '"')
      continue;
    const std::string_view head = text.substr(at, end - at);
    std::size_t inHead = 0;
    NcuTable table;
    table.columns = csvRecord(head, inHead);
    if (table.columns.size() > 1 && table.columns.back().empty())
      table.columns.pop_back(); // the line ends with a comma
    if (!hasAll(table, columns))
      continue;
    at = end + 1;
    while (at < text.size() &&
           (text[at] == '"' || std::isdigit(static_cast<unsigned char>(text[at])))) {
      std::vector<std::string> fields = csvRecord(text, at);
      // A row may end with a comma: a complete one, or one whose remaining columns are empty.
      if (fields.size() == table.columns.size() + 1 && fields.back().empty())
        fields.pop_back();
      else if (fields.size() < table.columns.size() && fields.size() > 1 && fields.back().empty())
        fields.resize(table.columns.size());
      if (fields == table.columns || fields.front() == "Kernel Name")
        break; // the next table
      if (fields.size() == table.columns.size())
        table.rows.push_back(std::move(fields));
      else
        ++table.torn;
    }
    return table;
  }
  return std::nullopt;
}

std::optional<double> ncuNumber(std::string text) {
  std::erase(text, ','); // thousands separators
  const auto value = runtime::protocol::parseNumber<double>(trim(text));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

} // namespace kopt
