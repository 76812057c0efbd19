// SPDX-License-Identifier: Apache-2.0
// Normalises PTX text: one kernel, with the functions and variables that it uses, in a form that is
// equal for two compilations of the same code. Pure: no processes, no Clang.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::frontend {

struct PtxStatement {
  std::string name; ///< of the function or variable that it defines; empty for directives
  bool isEntry = false;
  std::string text; ///< without comments and line information
};

/// The PTX of one compilation, split into statements.
class PtxModule {
public:
  explicit PtxModule(std::string_view ptx);
  PtxModule(const PtxModule &) = delete; // byName_ points into statements_
  PtxModule &operator=(const PtxModule &) = delete;

  /// Names of all kernels in the module, in order.
  std::vector<std::string> entries() const;

  /// The kernel and everything it uses, with comments, line information, linkage and the numbering
  /// of labels and of file-local names removed; nothing if there is no such kernel.
  std::optional<std::string> normalised(const std::string &entry) const;

private:
  std::vector<PtxStatement> statements_;
  std::map<std::string, std::vector<const PtxStatement *>> byName_;
};

/// The first line in which two normalised kernels differ, as one sentence; empty if they are equal.
std::string firstDifference(const std::string &original, const std::string &slice);

} // namespace kopt::frontend
