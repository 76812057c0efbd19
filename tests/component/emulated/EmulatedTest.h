// SPDX-License-Identifier: Apache-2.0
// Compiles short kernels for the emulated device and launches them there.
#pragma once

#include "clang_plugin/emulate/Emulate.h"
#include "runtime/device/Device.h"

#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace kopt::runtime {

MATCHER(isOk, "is no failure") {
  *result_listener << arg.detail;
  return arg.ok();
}
MATCHER_P2(endsAs, code, detail,
           "has code " + std::to_string(int(code)) + " and a detail that " +
               testing::DescribeMatcher<const std::string &>(detail)) {
  *result_listener << "which has code " << int(arg.code) << ": " << arg.detail;
  return arg.code == code && testing::Matches(detail)(arg.detail);
}

class EmulatedTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string why;
    device_ = openEmulatedDevice(std::string(KOPT_SOURCE_DIR) + "/knowledge/gpus/H200.txt", why);
    ASSERT_TRUE(device_) << why;
  }
  void TearDown() override {
    device_.reset();
    for (const std::string &file : files_)
      std::filesystem::remove(file);
  }

  EmulateReply compile(const std::string &source, const std::string &expression = "k",
                       std::vector<std::string> flags = {}) {
    EmulateRequest request;
    request.slice = source;
    request.expression = expression;
    request.flags = std::move(flags);
    request.directory = std::filesystem::temp_directory_path();
    request.output = request.directory + "/kopt-emulated-" + std::to_string(::getpid()) + "-" +
                     std::to_string(files_.size()) + ".so";
    files_.push_back(request.output);
    return frontend::emulate::emulate(request);
  }

  /// Compiles and loads; the launch request names the module.
  LaunchRequest kernel(const std::string &source, const std::string &expression = "k",
                       std::vector<std::string> flags = {}) {
    EmulateReply reply = compile(source, expression, std::move(flags));
    EXPECT_TRUE(reply.ok) << reply.log;
    LaunchRequest request;
    if (!reply.ok)
      return request;
    Status status = device_->load(files_.back(), reply.symbol, module_);
    EXPECT_TRUE(status.ok()) << status.detail;
    request.module = module_.module;
    return request;
  }

  template <class T> Address upload(const std::vector<T> &values) {
    Address address = 0;
    EXPECT_TRUE(device_->allocate(values.size() * sizeof(T), address).ok());
    EXPECT_TRUE(device_->write(address, values.data(), values.size() * sizeof(T)).ok());
    return address;
  }
  template <class T> Address space(std::size_t count) {
    Address address = 0;
    EXPECT_TRUE(device_->allocate(count * sizeof(T), address).ok());
    return address;
  }
  template <class T> std::vector<T> download(Address address, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(device_->read(values.data(), address, count * sizeof(T)).ok());
    return values;
  }
  template <class T> static void pass(LaunchRequest &request, const T &value) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    request.arguments.emplace_back(bytes, bytes + sizeof value);
  }
  template <class... T>
  Status launch(LaunchRequest &request, unsigned grid, unsigned block, const T &...arguments) {
    request.grid = {grid, 1, 1};
    request.block = {block, 1, 1};
    request.arguments.clear();
    (pass(request, arguments), ...);
    return device_->launch(request);
  }

  std::unique_ptr<Device> device_;
  ModuleProperties module_;
  std::vector<std::string> files_;
};

} // namespace kopt::runtime
