// SPDX-License-Identifier: Apache-2.0
// Maps lines of a slice to lines of the user's files.
#pragma once

#include "driver/model/HotLines.h"
#include "driver/model/KernelSpec.h"
#include "driver/source/RenderSlice.h"

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

  /// The lines of a candidate's slice in the user's files as its patch leaves them; those of the
  /// baseline in the files as they are. Fails as writeBackEdits() and make().
  static Result<SliceLines> inPatchedFiles(const RenderedSlice &rendered, const KernelSpec &kernel,
                                           const Specialization &specialization,
                                           const Candidate &candidate);

  /// The user's line; nothing for lines that only the slice has, and for changed ones that were not
  /// found.
  std::optional<UserLine> at(unsigned sliceLine) const;

  /// Replaces lines of the slice in a message by the user's lines: "slice.cu:7" becomes
  /// "scale.cu:31", with the path if two files have the same name. Lines that the user's files do
  /// not have stay as they are.
  std::string tell(std::string_view message) const;

  /// Gives hot lines of the slice, whose name is `name`, their text in it and the user's place; the
  /// file is empty if the user has no such line. Lines of a file that the slice has as a whole,
  /// after `#line 1`, are the user's already, and only get their text.
  void tell(HotLines &hot, std::string_view sliceText, std::string_view name) const;

private:
  std::vector<UserLine> lines_; ///< by line of the slice, from 0; the file is empty if unknown
};

/// A message about a baseline, with the user's lines, as SliceLines::tell() has it.
std::string inUserLines(const Specialization &specialization, const std::string &sliceText,
                        std::string_view message);

} // namespace kopt
