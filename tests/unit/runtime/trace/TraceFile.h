// SPDX-License-Identifier: Apache-2.0
// A log in a folder of its own, for tests.
#pragma once

#include "runtime/trace/LogReader.h"
#include "runtime/trace/LogWriter.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kopt::test {

class TraceFolder : public ::testing::Test {
protected:
  void SetUp() override {
    const auto *info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             ("kopt-trace-" + std::to_string(getpid()) + "-" + info->name());
    std::filesystem::create_directories(folder);
    file = (folder / "launches.klog").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::unique_ptr<runtime::trace::LogFile> create(std::uint64_t maxBytes = 1u << 30) {
    std::string why;
    auto log = runtime::trace::LogFile::create(file, maxBytes, why);
    EXPECT_TRUE(log) << why;
    return log;
  }
  runtime::trace::ProcessTrace read() {
    runtime::trace::ProcessTrace trace;
    std::string why;
    EXPECT_TRUE(runtime::trace::readLogFile(file, trace, why)) << why;
    return trace;
  }
  std::string bytes() const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder;
  std::string file;
};

/// The payload of a launch record.
inline void putLaunch(runtime::trace::RecordPayload &payload, std::uint32_t function,
                      std::uint32_t gridX, std::uint32_t correlation,
                      const std::string &arguments = {}) {
  for (const std::uint32_t word : {function, 0u, gridX, 1u, 1u, 128u, 1u, 1u, 0u, correlation})
    payload.put(word);
  payload.put(std::uint64_t(7));
  payload.put(std::uint64_t(1));
  payload.put(std::uint32_t(arguments.size()));
  payload.putBytes(arguments.data(), arguments.size());
}

} // namespace kopt::test
