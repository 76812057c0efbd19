// SPDX-License-Identifier: Apache-2.0
// The in-place route: a kernel that could not be lifted out is edited where it stands, in a copy of
// the file that its project compiles.
#pragma once

#include "driver/model/KernelSpec.h"

namespace kopt {

/// What takes the place of a slice.
struct InPlaceSource {
  std::string text;              ///< of the whole file, with a #line directive before it
  Specialization specialization; ///< its chunks lie in `text`; its slice is the original's path
  std::vector<std::string>
      compileFlags; ///< the kernel's, and what finds "headers" beside the original
};

/// For a specialization whose route is in-place. Only what stands in the compiled file itself can
/// be edited. Fails with BaselineFailed where the kernel's definition does not, or nvcc names it
/// after the file; with StaleInput where the file is no longer what `fileHashes` says.
Result<InPlaceSource> editInPlace(const KernelSpec &kernel, const Specialization &specialization,
                                  const std::map<std::string, std::string> &fileHashes);

/// Flags that find the quoted headers of `file` for a copy of it that lies elsewhere.
std::vector<std::string> headersBeside(const std::string &file);

} // namespace kopt
