// SPDX-License-Identifier: Apache-2.0
// Tables as Nsight Compute prints them with --csv.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// One table: names of columns and rows of as many fields.
struct NcuTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::size_t torn = 0; ///< rows of too few or too many fields, left out

  /// The first column of that name, or whose name begins so where it ends with '*'.
  std::optional<std::size_t> column(std::string_view name) const;
};

/// The first table in the text whose header has all of these columns; nothing if there is none.
/// Fields may be quoted, hold doubled quotes and line ends. It ends where another head follows, an
/// empty line or the text.
std::optional<NcuTable> findNcuTable(std::string_view text,
                                     const std::vector<std::string> &columns);

/// The fields of the record that begins at `at`, which is moved behind it and its line end.
std::vector<std::string> csvRecord(std::string_view text, std::size_t &at);

/// "1,048,576", "34.6"; nothing for other text ("n/a").
std::optional<double> ncuNumber(std::string text);

} // namespace kopt
