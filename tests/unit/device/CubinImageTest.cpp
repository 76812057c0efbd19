// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/CubinImage.h"
#include "tests/fakes/Results.h"
#include "unit/device/ElfBuilder.h"

#include <gtest/gtest.h>

namespace {

using namespace kopt;
using namespace kopt::fakes;

std::string hashOf(const std::string &bytes) {
  const auto image = ElfImage::parse(bytes);
  EXPECT_TRUE(image);
  return image ? image->codeHash() : "";
}

TEST(CubinImage, NamesItsKernels) {
  const std::string bytes = buildCubin("_Z4scalPf", "code");
  const auto image = must(ElfImage::parse(bytes));
  EXPECT_EQ(image.kernels(), std::vector<std::string>{"_Z4scalPf"});
}

TEST(CubinImage, EqualCodeIsEqualWhateverItIsCalled) {
  EXPECT_EQ(hashOf(buildCubin("_Z4tileILi16EEvPf", "code", 16, "line 1")),
            hashOf(buildCubin("_Z4tileILi8EEvPf", "code", 16, "line 2")));
}

TEST(CubinImage, CodeRegistersAndConstantsCount) {
  const std::string base = hashOf(buildCubin("k", "code"));
  EXPECT_NE(base, hashOf(buildCubin("k", "c0de")));
  EXPECT_NE(base, hashOf(buildCubin("k", "code", 17)));
  const auto withConstants = [](const std::string &values) {
    return hashOf(buildElf({{".text.k", SHT_PROGBITS, SHF_ALLOC, "code", 0, 0},
                            {".nv.constant3", SHT_PROGBITS, SHF_ALLOC, values, 0, 0}}));
  };
  EXPECT_NE(withConstants("12"), withConstants("13"));
}

TEST(CubinImage, NamesWhatItNeedsFromOutside) {
  const std::string bytes = buildCubin("_Z4scalPf", "code");
  const auto image = must(ElfImage::parse(bytes));
  EXPECT_TRUE(image.externals().empty()); // its own kernel is inside

  const std::string strings = std::string(1, '\0') + "malloc" + '\0';
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_shndx = SHN_UNDEF;
  const std::string other =
      buildElf({{".text.k", SHT_PROGBITS, SHF_ALLOC, "code", 0, 0},
                {".strtab", SHT_STRTAB, 0, strings, 0, 0},
                {".symtab", SHT_SYMTAB, 0, bytesOf(Elf64_Sym{}) + bytesOf(symbol), 2, 0}});
  const auto withMalloc = must(ElfImage::parse(other));
  EXPECT_EQ(withMalloc.externals(), std::vector<std::string>{"malloc"});
}

TEST(CubinImage, RelocationsCountByPlace) {
  const auto withSymbol = [](std::uint64_t value, const std::string &name) {
    Elf64_Sym symbol{};
    symbol.st_name = 1;
    symbol.st_shndx = 2;
    symbol.st_value = value;
    Elf64_Rela relocation{};
    relocation.r_info = ELF64_R_INFO(1, 2);
    return hashOf(
        buildElf({{".text.k", SHT_PROGBITS, SHF_ALLOC, "code", 0, 0},
                  {".nv.constant3", SHT_PROGBITS, SHF_ALLOC, "12", 0, 0},
                  {".strtab", SHT_STRTAB, 0, std::string(1, '\0') + name + '\0', 0, 0},
                  {".symtab", SHT_SYMTAB, 0, bytesOf(Elf64_Sym{}) + bytesOf(symbol), 3, 0},
                  {".rela.text.k", SHT_RELA, 0, bytesOf(relocation), 4, 1}}));
  };
  EXPECT_EQ(withSymbol(0, "a"), withSymbol(0, "b"));
  EXPECT_NE(withSymbol(0, "a"), withSymbol(1, "a")); // another constant
}

TEST(CubinImage, BrokenFilesAreErrors) {
  const std::string good = buildCubin("k", "code");
  for (const std::string &bytes :
       {std::string(), std::string("hello"), good.substr(0, 40), good.substr(0, good.size() - 70)})
    EXPECT_FALSE(ElfImage::parse(bytes)) << bytes.size();
  // A section beyond the end of the file.
  std::string torn = good;
  Elf64_Ehdr header;
  std::memcpy(&header, torn.data(), sizeof header);
  Elf64_Shdr section;
  char *at = torn.data() + header.e_shoff + sizeof section;
  std::memcpy(&section, at, sizeof section);
  section.sh_offset = ~std::uint64_t(0) - 1;
  std::memcpy(at, &section, sizeof section);
  EXPECT_FALSE(ElfImage::parse(torn));
}

} // namespace
