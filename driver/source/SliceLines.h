// SPDX-License-Identifier: Apache-2.0
// Which line of the user's files a line of a slice is.
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
  /// `text` is a slice as it was rendered, `places` the begin and end of each chunk of
  /// `specialization` in it, `declarations` those of what a candidate adds. Text that a candidate
  /// changed or added is looked for in `candidate`, the file it came from (empty: there is none):
  /// as a whole, or piece by piece between blank lines. Fails with Environment where a file of the
  /// user's cannot be read.
  static Result<SliceLines>
  make(const std::string &text, const std::vector<std::pair<std::uint64_t, std::uint64_t>> &places,
       const Specialization &specialization, const std::string &candidate = "",
       const std::vector<std::pair<std::uint64_t, std::uint64_t>> &declarations = {});

  /// Nothing for lines that are the slice's own, and for changed ones that were not found.
  std::optional<UserLine> at(unsigned sliceLine) const;

  /// A message with the user's lines for the slice's: "slice.cu:7" becomes "scale.cu:31", with the
  /// file's folder where the candidate's has the same name. Lines without a place in a file of the
  /// user's stay.
  std::string tell(std::string_view message) const;

private:
  std::vector<UserLine>
      lines_; ///< by line of the slice, from 0; without a file where it is not known
};

} // namespace kopt
