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

} // namespace kopt
