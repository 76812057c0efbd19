// SPDX-License-Identifier: Apache-2.0
// Reads the tables that Nsight Compute prints with --csv.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// A table: the names of the columns, and rows with that many fields.
struct NcuTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::size_t torn = 0; ///< rows with too few or too many fields, which are left out

  /// The first column with that name, or with that prefix if `name` ends with '*'.
  std::optional<std::size_t> column(std::string_view name) const;
};

/// The first table in the text whose header has all of these columns; nothing if there is none.
/// Fields may be quoted, and may contain doubled quotes and line ends. The table ends at another
/// header, at an empty line, or at the end of the text.
std::optional<NcuTable> findNcuTable(std::string_view text,
                                     const std::vector<std::string> &columns);

/// The fields of the record that begins at `at`; moves `at` past the record and its line end.
std::vector<std::string> csvRecord(std::string_view text, std::size_t &at);

/// The number in a text such as "1,048,576" or "34.6"; nothing for other text ("n/a").
std::optional<double> ncuNumber(std::string text);

} // namespace kopt
