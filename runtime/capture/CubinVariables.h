// SPDX-License-Identifier: Apache-2.0
// Reads from a cubin its kernels and variables, from the symbol table, and a hash of the machine
// code of each kernel.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::runtime::capture {

struct CubinSymbols {
  std::vector<std::string> kernels, variables; ///< mangled
  std::map<std::string, std::string> code;     ///< by kernel: XXH3-128 of its instructions, in hex
};

/// Reads a 64-bit ELF file, which is not trusted. Empty if it is malformed.
CubinSymbols readCubinSymbols(std::string_view image);

/// For each kernel of the loaded modules: the variables of its module, and the hash of its machine
/// code.
class CubinVariables {
public:
  void add(const CubinSymbols &symbols);
  std::vector<std::string> of(const std::string &kernel) const;
  /// The hash of the kernel's machine code; empty if no module had the kernel. If several modules
  /// have a kernel of that name, such as static kernels of several files, all their hashes in
  /// order.
  std::string codeOf(const std::string &kernel) const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> variables_; ///< by kernel
  std::map<std::string, std::set<std::string>> code_;         ///< by kernel
};

} // namespace kopt::runtime::capture
