// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace kopt::frontend {

/// Tests with a folder of their own.
class Folder : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::canonical(std::filesystem::temp_directory_path()) /
              ("kopt-cache-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string &name) const { return (folder_ / name).string(); }

  void write(const std::string &name, const std::string &text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary | std::ios::trunc) << text;
  }

  std::filesystem::path folder_;
};

} // namespace kopt::frontend
