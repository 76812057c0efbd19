// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/CubinVariables.h"

#include "runtime/device/ElfFile.h"

#include <algorithm>

namespace kopt::runtime::capture {

CubinSymbols readCubinSymbols(std::string_view image) {
  CubinSymbols found;
  ElfFile file;
  const char *why = "";
  if (!file.read(image, why))
    return found;
  for (const ElfSection &table : file.sections()) {
    if (table.type != SHT_SYMTAB)
      continue;
    for (const ElfSymbol &symbol : file.symbols(table)) {
      if (symbol.name.empty() || symbol.name.front() == '$' || symbol.name.front() == '.' ||
          symbol.section >= file.sections().size())
        continue;
      const std::string_view home = file.sections()[symbol.section].name;
      if (symbol.isKernel())
        found.kernels.emplace_back(symbol.name);
      // User's variables lie in these; .nv.constant0 and others hold the compiler's own.
      else if (symbol.type() == STT_OBJECT && symbol.size > 0 &&
               (home.starts_with(".nv.global") || home == ".nv.constant3"))
        found.variables.emplace_back(symbol.name);
    }
  }
  return found;
}

void CubinVariables::add(const CubinSymbols &symbols) {
  if (symbols.variables.empty())
    return;
  const std::lock_guard lock(mutex_);
  for (const std::string &kernel : symbols.kernels) {
    std::vector<std::string> &known = variables_[kernel];
    for (const std::string &variable : symbols.variables)
      if (std::find(known.begin(), known.end(), variable) == known.end())
        known.push_back(variable);
  }
}

std::vector<std::string> CubinVariables::of(const std::string &kernel) const {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(kernel);
  return found == variables_.end() ? std::vector<std::string>{} : found->second;
}

} // namespace kopt::runtime::capture
