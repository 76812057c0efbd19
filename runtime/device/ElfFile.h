// SPDX-License-Identifier: Apache-2.0
// The sections and symbols of a 64-bit little-endian ELF file, such as a cubin. Every offset is
// checked, because the file is not trusted. Header-only, so that the capture library needs nothing
// else.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string_view>
#include <vector>

namespace kopt::runtime {

struct ElfSection {
  std::string_view name, content; ///< content is empty if nothing is stored (NOBITS)
  std::uint32_t type = 0, link = 0, info = 0;
  std::uint64_t flags = 0, size = 0;
};

struct ElfSymbol {
  std::string_view name;
  unsigned char info = 0, other = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0, size = 0;

  unsigned type() const { return ELF64_ST_TYPE(info); }
  /// True for a kernel, false for a device function.
  bool isKernel() const { return type() == STT_FUNC && (other & kCudaEntry) != 0; }

  static constexpr unsigned char kCudaEntry = 0x10; ///< STO_CUDA_ENTRY
};

/// Views of the bytes that read() was given. The bytes must outlive this object.
class ElfFile {
public:
  /// False, with the reason in `why`, if the bytes are not such a file or are cut short.
  bool read(std::string_view bytes, const char *&why) {
    sections_.clear();
    Elf64_Ehdr header{};
    if (!readAt(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
      return fail("it is not a 64-bit ELF file", why);
    const std::uint64_t step = header.e_shentsize;
    if (header.e_shnum > 0 && (step < sizeof(Elf64_Shdr) || header.e_shoff > bytes.size() ||
                               header.e_shnum > (bytes.size() - header.e_shoff) / step))
      return fail("its section table is cut short", why);
    if (header.e_shstrndx >= header.e_shnum)
      return fail("it has no section names", why);
    std::vector<std::uint32_t> names;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section{};
      readAt(bytes, header.e_shoff + i * step, section);
      names.push_back(section.sh_name);
      ElfSection &out = sections_.emplace_back();
      out.type = section.sh_type;
      out.link = section.sh_link;
      out.info = section.sh_info;
      out.flags = section.sh_flags;
      out.size = section.sh_size;
      if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL)
        continue;
      if (section.sh_offset > bytes.size() || section.sh_size > bytes.size() - section.sh_offset)
        return fail("a section lies outside the file", why);
      out.content = bytes.substr(section.sh_offset, section.sh_size);
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      sections_[i].name = stringAt(sections_[header.e_shstrndx].content, names[i]);
    return true;
  }

  const std::vector<ElfSection> &sections() const { return sections_; }

  std::vector<ElfSymbol> symbols(const ElfSection &table) const {
    std::vector<ElfSymbol> all;
    const std::string_view names =
        table.link < sections_.size() ? sections_[table.link].content : std::string_view{};
    Elf64_Sym symbol{};
    for (std::uint64_t at = 0; readAt(table.content, at, symbol); at += sizeof symbol)
      all.push_back({stringAt(names, symbol.st_name), symbol.st_info, symbol.st_other,
                     symbol.st_shndx, symbol.st_value, symbol.st_size});
    return all;
  }

private:
  bool fail(const char *what, const char *&why) {
    sections_.clear();
    why = what;
    return false;
  }

  template <class T> static bool readAt(std::string_view bytes, std::uint64_t offset, T &out) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
      return false;
    std::memcpy(&out, bytes.data() + offset, sizeof(T));
    return true;
  }

  /// The text at `offset`; up to the end of the table if it is not terminated.
  static std::string_view stringAt(std::string_view table, std::uint64_t offset) {
    if (offset >= table.size())
      return {};
    const std::string_view rest = table.substr(offset);
    return rest.substr(0, rest.find('\0'));
  }

  std::vector<ElfSection> sections_;
};

} // namespace kopt::runtime
