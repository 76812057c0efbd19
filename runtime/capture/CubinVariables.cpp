// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/CubinVariables.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace kopt::runtime::capture {

namespace {

constexpr unsigned char kCudaEntry =
    0x10; ///< STO_CUDA_ENTRY in st_other: a kernel, not a device function

template <class T> bool readAt(std::string_view image, std::uint64_t offset, T &out) {
  if (offset > image.size() || sizeof out > image.size() - offset)
    return false;
  std::memcpy(&out, image.data() + offset, sizeof out);
  return true;
}

std::string_view part(std::string_view image, std::uint64_t offset, std::uint64_t size) {
  return offset > image.size() || size > image.size() - offset ? std::string_view()
                                                               : image.substr(offset, size);
}

std::string_view nameAt(std::string_view names, std::uint64_t offset) {
  if (offset >= names.size())
    return {};
  const std::string_view rest = names.substr(offset);
  const std::size_t end = rest.find('\0');
  return end == rest.npos ? std::string_view() : rest.substr(0, end);
}

} // namespace

CubinSymbols readCubinSymbols(std::string_view image) {
  CubinSymbols symbols;
  Elf64_Ehdr header{};
  if (!readAt(image, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize < sizeof(Elf64_Shdr))
    return symbols;
  const auto section = [&](std::size_t index, Elf64_Shdr &out) {
    return index < header.e_shnum &&
           readAt(image, header.e_shoff + std::uint64_t(index) * header.e_shentsize, out);
  };
  Elf64_Shdr nameSection{};
  const std::string_view sectionNames =
      section(header.e_shstrndx, nameSection)
          ? part(image, nameSection.sh_offset, nameSection.sh_size)
          : "";
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table{}, strings{};
    if (!section(i, table) || table.sh_type != SHT_SYMTAB || !section(table.sh_link, strings))
      continue;
    const std::string_view entries = part(image, table.sh_offset, table.sh_size);
    const std::string_view names = part(image, strings.sh_offset, strings.sh_size);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= entries.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol{};
      readAt(entries, at, symbol);
      const std::string_view name = nameAt(names, symbol.st_name);
      Elf64_Shdr home{};
      if (name.empty() || name.front() == '$' || name.front() == '.' ||
          !section(symbol.st_shndx, home))
        continue;
      const std::string_view homeName = nameAt(sectionNames, home.sh_name);
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_FUNC && (symbol.st_other & kCudaEntry))
        symbols.kernels.emplace_back(name);
      // User's variables lie in these; .nv.constant0 and others hold the compiler's own.
      else if (type == STT_OBJECT && symbol.st_size > 0 &&
               (homeName.starts_with(".nv.global") || homeName == ".nv.constant3"))
        symbols.variables.emplace_back(name);
    }
  }
  return symbols;
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
