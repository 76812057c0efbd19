// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/CubinImage.h"

#include "driver/support/Hash.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <set>

namespace kopt {

using runtime::ElfFile;
using runtime::ElfSection;
using runtime::ElfSymbol;

namespace {

/// The kind of a section, without the name of its function: ".text" for ".text._Z6kernelPf".
std::string_view sectionKind(std::string_view name) {
  if (name.rfind(".nv.", 0) == 0)
    return name.substr(0, name.find('.', 4));
  return name.substr(0, name.find('.', 1));
}

/// Describes a symbol by its place, because names contain file hashes and template arguments; an
/// external symbol by its name.
std::string describeSymbol(const ElfFile &file, const std::vector<ElfSymbol> &all,
                           std::uint64_t index) {
  if (index >= all.size())
    return "?";
  const ElfSymbol &symbol = all[index];
  if (symbol.section == SHN_UNDEF || symbol.section >= file.sections().size())
    return std::string(symbol.name);
  return std::string(sectionKind(file.sections()[symbol.section].name)) + "+" +
         std::to_string(symbol.value);
}

} // namespace

Result<ElfImage> ElfImage::parse(std::string_view bytes) {
  ElfImage image;
  const char *why = "";
  if (!image.file_.read(bytes, why))
    return makeError(ErrorCode::Internal, std::string("the built module is broken: ") + why);
  return image;
}

std::vector<std::string> ElfImage::externals() const {
  std::set<std::string> names;
  for (const ElfSection &section : file_.sections())
    if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM)
      for (const ElfSymbol &symbol : file_.symbols(section))
        if (symbol.section == SHN_UNDEF && !symbol.name.empty())
          names.emplace(symbol.name);
  return {names.begin(), names.end()};
}

std::vector<std::string> ElfImage::kernels() const {
  std::vector<std::string> names;
  for (const ElfSection &section : file_.sections())
    if (section.type == SHT_SYMTAB)
      for (const ElfSymbol &symbol : file_.symbols(section))
        if (symbol.isKernel())
          names.emplace_back(symbol.name);
  return names;
}

std::string ElfImage::codeHash() const {
  const std::vector<ElfSection> &sections = file_.sections();
  std::vector<std::string> parts;
  for (const ElfSection &section : sections) {
    const std::string kind(sectionKind(section.name));
    const bool isCodeOrData = (section.type == SHT_PROGBITS || section.type == SHT_NOBITS ||
                               section.type == SHT_INIT_ARRAY) &&
                              (section.flags & SHF_ALLOC) != 0 && kind != ".note" &&
                              kind != ".eh_frame" && kind != ".eh_frame_hdr" && kind != ".interp";
    if (isCodeOrData) {
      // The upper byte of sh_info of a cubin's code section is its register count, the rest is a
      // symbol's index.
      const std::uint32_t registers = kind == ".text" ? section.info >> 24 : 0;
      parts.push_back(hashFields(kind, std::to_string(section.size), std::to_string(registers),
                                 section.content));
    }
    if (section.type != SHT_RELA && section.type != SHT_REL)
      continue;
    const std::size_t step = section.type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    if (section.info >= sections.size() ||
        ((section.flags & SHF_ALLOC) == 0 && (sections[section.info].flags & SHF_ALLOC) == 0))
      continue; // it relocates debug information
    const std::vector<ElfSymbol> named = section.link < sections.size()
                                             ? file_.symbols(sections[section.link])
                                             : std::vector<ElfSymbol>{};
    std::string text;
    Elf64_Rela entry{};
    for (std::uint64_t at = 0; at + step <= section.content.size(); at += step) {
      entry.r_addend = 0;
      std::memcpy(&entry, section.content.data() + at, step);
      text += std::to_string(entry.r_offset) + " " + std::to_string(ELF64_R_TYPE(entry.r_info)) +
              " " + describeSymbol(file_, named, ELF64_R_SYM(entry.r_info)) + " " +
              std::to_string(entry.r_addend) + ";";
    }
    parts.push_back(hashFields(kind, text));
  }
  // The order of sections depends on names, which must not matter.
  std::sort(parts.begin(), parts.end());
  std::string joined;
  for (const std::string &part : parts)
    joined += part;
  return hashHex(joined);
}

} // namespace kopt
