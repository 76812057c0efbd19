// SPDX-License-Identifier: Apache-2.0
// Built modules: the bytes of an ELF file.
#include "driver/device/build/CubinImage.h"
#include "tests/fuzz/Fuzz.h"

using kopt::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const auto image = kopt::ElfImage::parse(kopt::fuzz::textOf(data, size));
  if (!image)
    return 0;
  for (const std::string &kernel : image->kernels())
    require(kernel.find('\0') == kernel.npos && kernel.size() <= size,
            "a kernel's name comes from the file");
  const std::string hash = image->codeHash();
  require(hash.size() == 32 && hash == image->codeHash(), "the same file has the same hash");
  return 0;
}
