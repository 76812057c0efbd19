// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kopt {

std::string hashHex(std::string_view bytes) {
  // The canonical form is big-endian with the high 64 bits first, so that the text does not depend
  // on the machine.
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * sizeof canonical.digest);
  for (unsigned char byte : canonical.digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::uint64_t seedFrom(std::string_view text) {
  return std::stoull(hashHex(text).substr(0, 15), nullptr, 16);
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t index) {
  const auto finalized = [](std::uint64_t bits) {
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
  };
  return finalized(finalized(seed) + (index + 1) * 0x9e3779b97f4a7c15u);
}

} // namespace kopt
