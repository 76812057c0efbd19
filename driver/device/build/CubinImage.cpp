// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/CubinImage.h"

#include "driver/support/Hash.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <set>

namespace kopt {

namespace {

constexpr unsigned char kCudaEntry = 0x10; ///< STO_CUDA_ENTRY in a symbol's st_other

template <class T> bool readAt(std::string_view bytes, std::uint64_t offset, T &out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

std::string_view stringAt(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size())
    return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

/// ".text" of ".text._Z6kernelPf": what kind of section it is, without whose.
std::string_view sectionKind(std::string_view name) {
  if (name.rfind(".nv.", 0) == 0)
    return name.substr(0, name.find('.', 4));
  return name.substr(0, name.find('.', 1));
}

} // namespace

Result<ElfImage> ElfImage::parse(std::string_view bytes) {
  const auto broken = [](const char *what) {
    return makeError(ErrorCode::Internal, std::string("the built module is broken: ") + what);
  };
  Elf64_Ehdr header{};
  if (!readAt(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return broken("it is not a 64-bit ELF file");
  ElfImage image;
  std::vector<Elf64_Shdr> headers(header.e_shnum);
  for (std::size_t i = 0; i < headers.size(); ++i)
    if (!readAt(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), headers[i]))
      return broken("its section table is cut short");
  if (header.e_shstrndx >= headers.size())
    return broken("it has no section names");
  for (const Elf64_Shdr &section : headers) {
    Section &out = image.sections_.emplace_back();
    out.type = section.sh_type;
    out.link = section.sh_link;
    out.info = section.sh_info;
    out.flags = section.sh_flags;
    out.size = section.sh_size;
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL)
      continue;
    if (section.sh_offset > bytes.size() || section.sh_size > bytes.size() - section.sh_offset)
      return broken("a section lies outside the file");
    out.content = bytes.substr(section.sh_offset, section.sh_size);
  }
  const std::string_view names = image.sections_[header.e_shstrndx].content;
  for (std::size_t i = 0; i < headers.size(); ++i)
    image.sections_[i].name = stringAt(names, headers[i].sh_name);
  return image;
}

std::vector<ElfImage::Symbol> ElfImage::symbols(const Section &table) const {
  std::vector<Symbol> all;
  const std::string_view names =
      table.link < sections_.size() ? sections_[table.link].content : std::string_view{};
  Elf64_Sym symbol{};
  for (std::uint64_t at = 0; readAt(table.content, at, symbol); at += sizeof symbol)
    all.push_back({stringAt(names, symbol.st_name), symbol.st_info, symbol.st_other,
                   symbol.st_shndx, symbol.st_value});
  return all;
}

std::vector<std::string> ElfImage::externals() const {
  std::set<std::string> names;
  for (const Section &section : sections_)
    if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM)
      for (const Symbol &symbol : symbols(section))
        if (symbol.section == SHN_UNDEF && !symbol.name.empty())
          names.emplace(symbol.name);
  return {names.begin(), names.end()};
}

std::vector<std::string> ElfImage::kernels() const {
  std::vector<std::string> names;
  for (const Section &section : sections_)
    if (section.type == SHT_SYMTAB)
      for (const Symbol &symbol : symbols(section))
        if (ELF64_ST_TYPE(symbol.info) == STT_FUNC && (symbol.other & kCudaEntry) != 0)
          names.emplace_back(symbol.name);
  return names;
}

/// By place, not by name: names hold file hashes and template arguments. An external one has only
/// its name.
std::string ElfImage::describeSymbol(const std::vector<Symbol> &all, std::uint64_t index) const {
  if (index >= all.size())
    return "?";
  const Symbol &symbol = all[index];
  if (symbol.section == SHN_UNDEF || symbol.section >= sections_.size())
    return std::string(symbol.name);
  return std::string(sectionKind(sections_[symbol.section].name)) + "+" +
         std::to_string(symbol.value);
}

std::string ElfImage::codeHash() const {
  std::vector<std::string> parts;
  for (const Section &section : sections_) {
    const std::string kind(sectionKind(section.name));
    const bool isCodeOrData = (section.type == SHT_PROGBITS || section.type == SHT_NOBITS ||
                               section.type == SHT_INIT_ARRAY) &&
                              (section.flags & SHF_ALLOC) != 0 && kind != ".note" &&
                              kind != ".eh_frame" && kind != ".eh_frame_hdr" && kind != ".interp";
    if (isCodeOrData) {
      // The upper byte of a cubin code section's sh_info is its register count, the rest a symbol's
      // number.
      const std::uint32_t registers = kind == ".text" ? section.info >> 24 : 0;
      parts.push_back(hashFields(kind, std::to_string(section.size), std::to_string(registers),
                                 section.content));
    }
    if (section.type != SHT_RELA && section.type != SHT_REL)
      continue;
    const std::size_t step = section.type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    if (section.info >= sections_.size() ||
        ((section.flags & SHF_ALLOC) == 0 && (sections_[section.info].flags & SHF_ALLOC) == 0))
      continue; // relocates debug information
    const std::vector<Symbol> named =
        section.link < sections_.size() ? symbols(sections_[section.link]) : std::vector<Symbol>{};
    std::string text;
    Elf64_Rela entry{};
    for (std::uint64_t at = 0; at + step <= section.content.size(); at += step) {
      entry.r_addend = 0;
      std::memcpy(&entry, section.content.data() + at, step);
      text += std::to_string(entry.r_offset) + " " + std::to_string(ELF64_R_TYPE(entry.r_info)) +
              " " + describeSymbol(named, ELF64_R_SYM(entry.r_info)) + " " +
              std::to_string(entry.r_addend) + ";";
    }
    parts.push_back(hashFields(kind, text));
  }
  // The order of sections follows names, which do not count.
  std::sort(parts.begin(), parts.end());
  std::string joined;
  for (const std::string &part : parts)
    joined += part;
  return hashHex(joined);
}

} // namespace kopt
