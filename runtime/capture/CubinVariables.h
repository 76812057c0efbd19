// SPDX-License-Identifier: Apache-2.0
// What a cubin has of its kernels: the variables next to them, from its symbol table, and a hash of
// the machine code of each.
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

/// Reads a 64-bit ELF file; nothing in it is trusted. Empty if it is not one.
CubinSymbols readCubinSymbols(std::string_view image);

/// The variables that belong to each kernel of the loaded modules, and its machine code.
class CubinVariables {
public:
  void add(const CubinSymbols &symbols);
  std::vector<std::string> of(const std::string &kernel) const;
  /// The hash of the kernel's machine code; empty where no module had it. Of several modules with a
  /// kernel of that name, as static kernels of several files are: all their hashes, in order.
  std::string codeOf(const std::string &kernel) const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> variables_; ///< by kernel
  std::map<std::string, std::set<std::string>> code_;         ///< by kernel
};

} // namespace kopt::runtime::capture
