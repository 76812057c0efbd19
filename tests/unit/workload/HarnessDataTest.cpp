// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/HarnessData.h"

#include "driver/support/FileSystem.h"
#include "runtime/trace/Contents.h"
#include "unit/workload/TraceSample.h"

#include <fstream>
#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class HarnessDataTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = TemporaryDirectory::create("kopt-harness-data");
    ASSERT_TRUE(made) << made.error().what;
    scratch = std::move(*made);
    fs::create_directories(trace());
    // Two buffers of 16 bytes: `out` is written, `in` holds the address of the last byte of `out`
    // and one of no buffer.
    launch().name = "grid 2 block 64 (launch 5)";
    launch().grid = {2, 1, 1};
    launch().block = {64, 1, 1};
    launch().sharedBytes = 512;
    const std::uint64_t words[] = {test::kOut + 15, 0x1234};
    const std::string inputs(reinterpret_cast<const char *>(words), sizeof words);
    addBuffer("out", "f32", test::kOut, std::string(16, '\1'), std::string(16, '\2'));
    addBuffer("in", "", test::kIn, inputs, inputs);
    launch().buffers[1].readOnly = launch().buffers[1].holdsPointers = true;
    launch().arguments = {BufferArg{0, 4}, ValueArg{std::string("\xff\0\0\x10", 4), {}},
                          ValueArg{std::string(16, '\0'), {{8, 1, 16}}}};
    specialization.params.resize(3);
    specialization.params[0].name = "out";
    specialization.params[2].name = "span";
  }

  Launch &launch() { return captured.launch; }

  std::string store(const std::string &contents) {
    runtime::trace::ContentHash hash{};
    std::uint64_t written = 0;
    std::string why;
    EXPECT_TRUE(runtime::trace::storeContents(
        trace().string(), contents.size(),
        [&](std::uint64_t offset, std::size_t size, std::byte *to, std::string &) {
          std::memcpy(to, contents.data() + offset, size);
          return true;
        },
        hash, written, why))
        << why;
    return (trace() / runtime::trace::contentsPath(hash)).string();
  }

  void addBuffer(const char *name, const char *scalar, std::uint64_t address,
                 const std::string &before, const std::string &after) {
    Buffer buffer;
    buffer.name = name;
    buffer.scalar = scalar;
    buffer.bytes = before.size();
    buffer.address = address;
    buffer.fill.path = store(before);
    launch().buffers.push_back(buffer);
    captured.after.push_back(store(after));
    captured.notAfter.emplace_back();
  }

  std::string write(std::size_t index = 1) {
    const Status written = writeHarnessLaunch(captured, specialization, tolerance, index, folder());
    EXPECT_TRUE(written) << written.error().what;
    return readFile(folder() / ("launch-" + std::to_string(index) + ".txt")).value_or("");
  }

  std::size_t files() const {
    return std::size_t(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()));
  }

  fs::path trace() const { return scratch->path() / "trace"; }
  fs::path folder() const { return scratch->path() / "data"; }

  std::optional<TemporaryDirectory> scratch;
  CapturedLaunch captured;
  Specialization specialization;
  Tolerance tolerance;
};

TEST_F(HarnessDataTest, ALaunchWithItsValuesAndBuffers) {
  const std::string text = write();
  EXPECT_THAT(text, HasSubstr("\nlaunch grid 2 block 64 (launch 5)\ngrid 2 1 1\nblock 64 1 1\n"
                              "shared 512\nstack 0\ncooperative no\ntolerance default\n"));
  EXPECT_THAT(text, HasSubstr("\nparameter out = buffer 0 offset 4\n"
                              "parameter unnamed1 = bytes ff000010\n"
                              "parameter span = bytes 00000000000000000000000000000000\n"
                              "pointer 8 -> buffer 1 offset 16\n"));
  EXPECT_THAT(text, HasSubstr("\nbuffer out\nbytes 16\ntype f32\noutput yes\n"));
  EXPECT_THAT(text, HasSubstr("\nbuffer in\nbytes 16\ntype \noutput no\n"));
}

TEST_F(HarnessDataTest, AddressesOfTheProgramAreToBeRelocated) {
  const std::string text = write();
  EXPECT_THAT(text, HasSubstr("addresses yes\npointer 0 -> buffer 0 offset 15\n"));
  EXPECT_THAT(text, Not(HasSubstr("pointer 8 -> buffer 0"))) << "0x1234 is none";
}

TEST_F(HarnessDataTest, EachContentIsWrittenOnce) {
  write();
  EXPECT_EQ(files(), 4u)
      << "the text, and three contents: what is read only is the same afterwards";
  write(2);
  EXPECT_EQ(files(), 5u);
  const fs::path after = folder() / (fs::path(captured.after[0]).stem().string() + ".bin");
  EXPECT_EQ(readFile(after).value_or(""), std::string(16, '\2'));
}

TEST_F(HarnessDataTest, WhatIsNotKnownAfterwardsIsSaid) {
  captured.after[0].clear();
  captured.notAfter[0] = "it is no longer allocated";
  EXPECT_THAT(write(), HasSubstr("# not known afterwards: it is no longer allocated\n"));
}

TEST_F(HarnessDataTest, TheUsersTolerance) {
  tolerance = {TolerancePolicy::User, 1e-3, 0.5};
  EXPECT_THAT(write(), HasSubstr("tolerance relative=0.001 absolute=0.5\n"));
  tolerance = {TolerancePolicy::Strict, 0, 0};
  EXPECT_THAT(write(), HasSubstr("tolerance strict\n"));
}

TEST_F(HarnessDataTest, ADamagedTraceIsAnError) {
  std::ofstream(launch().buffers[0].fill.path) << "no contents";
  const Status written = writeHarnessLaunch(captured, specialization, tolerance, 1, folder());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::StaleInput);
  EXPECT_FALSE(fs::exists(folder() / "launch-1.txt"));
}

} // namespace
