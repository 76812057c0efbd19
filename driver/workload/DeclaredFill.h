// SPDX-License-Identifier: Apache-2.0
// The contents of a buffer as the user declares them: `fill NAME = ...`.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>

namespace kopt {

/// The bytes of a scalar on the device.
template <class T> std::string bytesOf(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// The bytes of a number as f16, bf16, f32 or f64; empty for other types.
std::string realBytes(const std::string &scalar, double value);

/// The declared fill of a buffer, with bounds and values evaluated; nothing if none is declared.
/// The buffer's name, size and element type must be set. Fails with Usage if a bound or value
/// cannot be evaluated or does not fit the element type, if the range is empty, or if `values` or a
/// file gives fewer elements than the buffer has.
Result<std::optional<Fill>> declaredFill(const TuneDeclaration &declaration, const Buffer &buffer,
                                         const std::map<std::string, std::int64_t> &bindings);

/// Fails with Usage if there is one declared launch only, and `values` or a file gives more
/// elements than its buffer has.
Status checkAllValuesUsed(const TuneDeclaration &declaration, const Launch &launch);

} // namespace kopt
