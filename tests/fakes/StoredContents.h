// SPDX-License-Identifier: Apache-2.0
// Contents of captured buffers, for tests that need some without a program.
#pragma once

#include "runtime/trace/Contents.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kopt::fakes {

/// Stores the values in a folder as a trace does, and returns the path of their file.
template <class T>
std::string storeValues(const std::string &folder, const std::vector<T> &values) {
  runtime::trace::ContentHash hash{};
  std::uint64_t written = 0;
  std::string why;
  EXPECT_TRUE(runtime::trace::storeContents(
      folder, values.size() * sizeof(T),
      [&](std::uint64_t offset, std::size_t size, std::byte *to, std::string &) {
        std::memcpy(to, reinterpret_cast<const std::byte *>(values.data()) + offset, size);
        return true;
      },
      hash, written, why))
      << why;
  return folder + "/" + runtime::trace::contentsPath(hash);
}

} // namespace kopt::fakes
