// SPDX-License-Identifier: Apache-2.0
// What the user declares of the contents of a buffer: `fill NAME = ...`.
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

/// A scalar as the device holds it.
template <class T> std::string bytesOf(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// What is declared of the contents of a buffer, of which name, size and element type are known:
/// bounds and values evaluated; nothing where nothing is declared. Fails with Usage where one
/// cannot be evaluated or does not fit the element type, where the range is empty, and where
/// `values` or a file gives fewer elements than the buffer has.
Result<std::optional<Fill>> declaredFill(const TuneDeclaration &declaration, const Buffer &buffer,
                                         const std::map<std::string, std::int64_t> &bindings);

/// Fails with Usage where `values` or a file gives more elements than the only declared launch has
/// in that buffer.
Status checkAllValuesUsed(const TuneDeclaration &declaration, const Launch &launch);

} // namespace kopt
