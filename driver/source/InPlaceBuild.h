// SPDX-License-Identifier: Apache-2.0
// The in-place build: a kernel without a proven slice is edited in a copy of the file that its
// project compiles.
#pragma once

#include "driver/model/KernelSpec.h"

namespace kopt {

/// What is used in place of a slice.
struct InPlaceSource {
  std::string text;              ///< the whole file, after a #line directive
  Specialization specialization; ///< its chunks refer to `text`; its slice is the original's path
  std::vector<std::string>
      compileFlags; ///< the kernel's flags, and flags that find quoted headers beside the original
};

/// Makes the in-place source for a specialization whose route is in-place. Only text in the
/// compiled file itself can be edited. Fails with BaselineFailed if the kernel is defined
/// elsewhere, or if nvcc puts the file's name into its symbol, and with StaleInput if the file no
/// longer matches `fileHashes`.
Result<InPlaceSource> editInPlace(const KernelSpec &kernel, const Specialization &specialization,
                                  const std::map<std::string, std::string> &fileHashes);

/// Flags with which a copy of `file` in another folder finds its quoted headers.
std::vector<std::string> headersBeside(const std::string &file);

} // namespace kopt
