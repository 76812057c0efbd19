// SPDX-License-Identifier: Apache-2.0
// Reads built modules: enough of 64-bit little-endian ELF to name a cubin's kernels and to tell
// whether two modules are the same program.
#pragma once

#include "driver/support/Result.h"
#include "runtime/device/ElfFile.h"

#include <string>
#include <string_view>
#include <vector>

namespace kopt {

class ElfImage {
public:
  /// Keeps a view of `bytes`, which must outlive the image. Fails with Internal if they are not
  /// such a file.
  static Result<ElfImage> parse(std::string_view bytes);

  /// The entry points of a cubin, in the order of its symbol table.
  std::vector<std::string> kernels() const;

  /// The names of the functions and variables that it uses but does not define, sorted.
  std::vector<std::string> externals() const;

  /// A hash of everything that affects execution: the contents of every loaded section with code or
  /// data, register counts, and relocations. Names of symbols and files, debug information and
  /// notes do not affect it.
  std::string codeHash() const;

private:
  runtime::ElfFile file_;
};

} // namespace kopt
