// SPDX-License-Identifier: Apache-2.0
// Makes small ELF files that look like cubins.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <vector>

namespace kopt::fakes {

struct ElfSection {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  std::uint64_t flags = SHF_ALLOC;
  std::string content;
  std::uint32_t link = 0, info = 0;
};

template <class T> std::string bytesOf(const T &value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

/// Section 0 is the empty one and the names come last: `sections` begin at index 1.
inline std::string buildElf(std::vector<ElfSection> sections) {
  std::string names(1, '\0');
  sections.insert(sections.begin(), ElfSection{"", SHT_NULL, 0, "", 0, 0});
  sections.push_back({".shstrtab", SHT_STRTAB, 0, "", 0, 0});
  std::vector<std::uint32_t> nameAt;
  for (const ElfSection &section : sections) {
    nameAt.push_back(std::uint32_t(names.size()));
    names += section.name + '\0';
  }
  sections.back().content = names;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = std::uint16_t(sections.size());
  header.e_shstrndx = std::uint16_t(sections.size() - 1);
  std::string body, table;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Elf64_Shdr entry{};
    entry.sh_name = nameAt[i];
    entry.sh_type = sections[i].type;
    entry.sh_flags = sections[i].flags;
    entry.sh_offset = sizeof header + body.size();
    entry.sh_size = sections[i].content.size();
    entry.sh_link = sections[i].link;
    entry.sh_info = sections[i].info;
    table += bytesOf(entry);
    body += sections[i].content;
  }
  header.e_shoff = sizeof header + body.size();
  return bytesOf(header) + body + table;
}

/// A cubin of one kernel whose code section is section 1.
inline std::string buildCubin(const std::string &kernel, const std::string &code,
                              std::uint32_t registers = 16, const std::string &debug = "") {
  const std::string strings = std::string(1, '\0') + kernel + '\0';
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_other = 0x10;
  symbol.st_shndx = 1;
  return buildElf(
      {{".text." + kernel, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, code, 0, registers << 24 | 7},
       {".strtab", SHT_STRTAB, 0, strings, 0, 0},
       {".symtab", SHT_SYMTAB, 0, bytesOf(Elf64_Sym{}) + bytesOf(symbol), 2, 0},
       {".debug_line", SHT_PROGBITS, 0, debug, 0, 0}});
}

} // namespace kopt::fakes
