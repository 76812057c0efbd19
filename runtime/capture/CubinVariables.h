// SPDX-License-Identifier: Apache-2.0
// Which variables a cubin has next to which kernels, from its symbol table.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::runtime::capture {

struct CubinSymbols {
  std::vector<std::string> kernels, variables; ///< mangled
};

/// Reads a 64-bit ELF file; nothing in it is trusted. Empty if it is not one.
CubinSymbols readCubinSymbols(std::string_view image);

/// The variables that belong to each kernel of the loaded modules.
class CubinVariables {
public:
  void add(const CubinSymbols &symbols);
  std::vector<std::string> of(const std::string &kernel) const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> variables_; ///< by kernel
};

} // namespace kopt::runtime::capture
