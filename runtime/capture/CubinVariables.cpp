// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/CubinVariables.h"

#include "runtime/device/ElfFile.h"
#include "runtime/trace/Contents.h"

#include <algorithm>

namespace kopt::runtime::capture {

namespace {

/// A kernel's instructions are in the section ".text." followed by its name.
constexpr std::string_view kCodeSection = ".text.";

} // namespace

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
      // These sections hold the user's variables; .nv.constant0 and others hold the compiler's.
      else if (symbol.type() == STT_OBJECT && symbol.size > 0 &&
               (home.starts_with(".nv.global") || home == ".nv.constant3"))
        found.variables.emplace_back(symbol.name);
    }
  }
  for (const ElfSection &section : file.sections())
    if (section.name.starts_with(kCodeSection) && !section.content.empty())
      found.code[std::string(section.name.substr(kCodeSection.size()))] =
          trace::hexOf(trace::hashContents(
              reinterpret_cast<const std::byte *>(section.content.data()), section.content.size()));
  return found;
}

void CubinVariables::add(const CubinSymbols &symbols) {
  const std::lock_guard lock(mutex_);
  for (const auto &[kernel, hash] : symbols.code)
    code_[kernel].insert(hash);
  if (symbols.variables.empty())
    return;
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

std::string CubinVariables::codeOf(const std::string &kernel) const {
  const std::lock_guard lock(mutex_);
  const auto found = code_.find(kernel);
  std::string all;
  if (found != code_.end())
    for (const std::string &hash : found->second)
      all += (all.empty() ? "" : " ") + hash;
  return all;
}

} // namespace kopt::runtime::capture
