// SPDX-License-Identifier: Apache-2.0
// Reads what a built module holds: enough of 64-bit little-endian ELF to name a cubin's kernels and
// to tell whether two modules are the same program.
#pragma once

#include "driver/support/Result.h"
#include "runtime/device/ElfFile.h"

#include <string>
#include <string_view>
#include <vector>

namespace kopt {

class ElfImage {
public:
  /// Keeps a view: `bytes` must live as long. Fails with Internal on what is not such a file.
  static Result<ElfImage> parse(std::string_view bytes);

  /// Entry points of a cubin, in the order of its symbol table.
  std::vector<std::string> kernels() const;

  /// Names of the functions and variables that it needs and does not hold, sorted.
  std::vector<std::string> externals() const;

  /// Hash of what runs: contents of every loaded section with code or data, register counts, and
  /// relocations. Names of symbols, debug information, notes and file names do not count.
  std::string codeHash() const;

private:
  runtime::ElfFile file_;
};

} // namespace kopt
