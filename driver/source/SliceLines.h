// SPDX-License-Identifier: Apache-2.0
// Maps lines of a slice to lines of the user's files.
#pragma once

#include "driver/model/KernelSpec.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kopt {

struct UserLine {
  std::string file;
  unsigned line = 0; ///< from 1
};

class SliceLines {
public:
  /// `text` is a rendered slice, `places` has the begin and end of each chunk of `specialization`
  /// in it, and `declarations` those of the candidate's declarations. Text that the candidate
  /// changed or added is looked up in `candidate`, the file that it came from (empty: none), as a
  /// whole or piece by piece between blank lines. Fails with Environment if one of the user's files
  /// cannot be read.
  static Result<SliceLines>
  make(const std::string &text, const std::vector<std::pair<std::uint64_t, std::uint64_t>> &places,
       const Specialization &specialization, const std::string &candidate = "",
       const std::vector<std::pair<std::uint64_t, std::uint64_t>> &declarations = {});

  /// The user's line; nothing for lines that only the slice has, and for changed ones that were not
  /// found.
  std::optional<UserLine> at(unsigned sliceLine) const;

  /// Replaces lines of the slice in a message by the user's lines: "slice.cu:7" becomes
  /// "scale.cu:31", with the path if two files have the same name. Lines that the user's files do
  /// not have stay as they are.
  std::string tell(std::string_view message) const;

private:
  std::vector<UserLine> lines_; ///< by line of the slice, from 0; the file is empty if unknown
};

} // namespace kopt
