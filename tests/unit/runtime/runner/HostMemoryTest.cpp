// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/HostMemory.h"
#include "runtime/device/Parallel.h"
#include "runtime/runner/Fill.h"
#include "runtime/trace/Contents.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace kopt::runtime;

BufferSpec floats(std::uint64_t bytes) {
  BufferSpec spec;
  spec.bytes = bytes;
  spec.scalar = "f32";
  return spec;
}

TEST(ParallelFor, EveryPieceIsDoneOnce) {
  for (const std::uint64_t count : {0ull, 1ull, 999ull, 1000ull, 1001ull, 50'000ull})
    for (const unsigned threads : {1u, 2u, 5u, 16u}) {
      std::vector<std::atomic<int>> done(count);
      parallelFor(
          count, 1000,
          [&](std::uint64_t begin, std::uint64_t end) {
            EXPECT_EQ(begin % 1000, 0u);
            for (std::uint64_t i = begin; i < end; ++i)
              ++done[i];
          },
          threads);
      for (const std::atomic<int> &times : done)
        ASSERT_EQ(times, 1);
    }
}

TEST(ParallelFor, MayBeCalledFromWithin) {
  std::atomic<std::uint64_t> sum{0};
  parallelFor(
      8, 1,
      [&](std::uint64_t, std::uint64_t) {
        parallelFor(
            100, 10, [&](std::uint64_t begin, std::uint64_t end) { sum += end - begin; }, 4);
      },
      4);
  EXPECT_EQ(sum, 800u);
}

TEST(ParallelFor, UsesSeveralThreads) {
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  parallelFor(
      2, 1,
      [&](std::uint64_t, std::uint64_t) {
        ++inside;
        for (int i = 0; i < 5000 && !met; ++i) { // until the other one is here, or 5 s
          met = met || inside == 2;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      },
      2);
  EXPECT_TRUE(met);
}

TEST(FirstDifference, IsTheFirstWhateverTheThreads) {
  std::vector<unsigned char> a(9u << 20), b = a;
  EXPECT_EQ(firstDifference(a.data(), b.data(), a.size(), 4), a.size());
  b[8'000'000] = b[3'000'001] = b[3'000'007] = 1;
  for (const unsigned threads : {1, 2, 8})
    EXPECT_EQ(firstDifference(a.data(), b.data(), a.size(), threads), 3'000'001u);
}

TEST(Draw, ThreadsDoNotChangeTheBytes) {
  const BufferSpec spec = floats((3u << 20) + 2); // ends inside an element
  std::vector<std::byte> one(spec.bytes), many(spec.bytes);
  drawContents(spec, 3, 1, 0, one.size(), one.data());
  for (const unsigned threads : {1, 2, 7, 16}) {
    std::fill(many.begin(), many.end(), std::byte{0});
    drawContentsParallel(spec, 3, 1, 0, many.size(), many.data(), threads);
    EXPECT_TRUE(one == many) << threads;
  }
  drawPoison(3, 1, true, 0, one.size(), one.data());
  drawPoisonParallel(3, 1, true, 0, many.size(), many.data(), 5);
  EXPECT_TRUE(one == many);
}

TEST(HostMemory, KeepsWhatWasDrawnAndForgetsTheOldest) {
  HostMemory memory(3000);
  const BufferSpec spec = floats(1000);
  const HostMemory::Bytes first = memory.contents(spec, 1, 0);
  ASSERT_TRUE(first);
  std::vector<std::byte> wanted(1000);
  drawContents(spec, 1, 0, 0, wanted.size(), wanted.data());
  EXPECT_EQ(std::memcmp(first.get(), wanted.data(), 1000), 0);
  EXPECT_EQ(memory.contents(spec, 1, 0), first);
  EXPECT_EQ(memory.drawn(), 1u);
  BufferSpec other = spec;
  other.high = 2;
  memory.contents(other, 1, 0);
  memory.contents(spec, 2, 0);
  EXPECT_EQ(memory.drawn(), 3u);
  EXPECT_EQ(memory.kept(), 3000u);
  memory.contents(spec, 1, 0); // used again: not the oldest any more
  memory.contents(spec, 1, 1);
  EXPECT_EQ(memory.drawn(), 4u);
  EXPECT_EQ(memory.contents(spec, 1, 0), first);
  EXPECT_EQ(memory.drawn(), 4u);
  memory.contents(other, 1, 0);
  EXPECT_EQ(memory.drawn(), 5u);
  EXPECT_LE(memory.kept(), 3000u);
}

TEST(HostMemory, ANameOrARoleIsNoOtherContents) {
  HostMemory memory(1 << 20);
  BufferSpec spec = floats(1000);
  memory.contents(spec, 1, 0);
  spec.name = "other";
  spec.readOnly = true;
  memory.contents(spec, 1, 0);
  EXPECT_EQ(memory.drawn(), 1u);
}

/// A captured buffer of these numbers, in the folder.
template <class T>
BufferSpec captured(const std::string &folder, const std::vector<T> &numbers,
                    const std::string &scalar) {
  trace::ContentHash hash{};
  std::uint64_t written = 0;
  std::string why;
  EXPECT_TRUE(trace::storeContents(
      folder, numbers.size() * sizeof(T),
      [&](std::uint64_t offset, std::size_t size, std::byte *to, std::string &) {
        std::memcpy(to, reinterpret_cast<const std::byte *>(numbers.data()) + offset, size);
        return true;
      },
      hash, written, why))
      << why;
  BufferSpec spec;
  spec.bytes = numbers.size() * sizeof(T);
  spec.scalar = scalar;
  spec.fill = FillKind::Captured;
  spec.contents = folder + "/" + trace::contentsPath(hash);
  return spec;
}

std::string emptyFolder() {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("kopt-captured-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  return folder;
}

TEST(HostMemory, WhatIsCapturedFollowsALeadAlsoWhereItIsWidened) {
  const std::string folder = emptyFolder();
  BufferSpec spec = captured(folder, std::vector<float>{0.5f, -3.0f}, "f32");
  spec.lead = 4; // pointers one element further
  spec.bytes += spec.lead;
  HostMemory memory;
  const auto narrow = memory.contents(spec, 1, 0);
  ASSERT_TRUE(narrow);
  const float numbers[] = {0, 0.5f, -3.0f};
  EXPECT_EQ(std::memcmp(narrow.get(), numbers, sizeof numbers), 0);
  spec.drawnAs = std::exchange(spec.scalar, "f64");
  spec.bytes *= 2;
  const auto wide = memory.contents(spec, 1, 0);
  ASSERT_TRUE(wide);
  const double widened[] = {0, 0.5, -3.0};
  EXPECT_EQ(std::memcmp(wide.get(), widened, sizeof widened), 0);
  spec.bytes += 8;
  EXPECT_FALSE(memory.contents(spec, 1, 0)) << "the file holds less";
  std::filesystem::remove_all(folder);
}

TEST(HostMemory, CapturedIntegersAreTheSameForEverySeedAndMovement) {
  const std::string folder = emptyFolder();
  std::vector<std::uint64_t> numbers(1000, 7);
  numbers[3] = 8;
  std::string why;
  BufferSpec spec = captured(folder, numbers, "u64");
  HostMemory memory;
  const auto first = memory.contents(spec, 1, 0);
  ASSERT_TRUE(first);
  spec.jitter = 2;
  EXPECT_EQ(memory.contents(spec, 99, 3), first);
  spec.scalar = "f64"; // its numbers are moved
  EXPECT_NE(memory.contents(spec, 99, 3), first);
  // Repeated in a larger buffer, in whole or piece by piece.
  spec.scalar = "u64";
  spec.bytes *= 5;
  EXPECT_FALSE(memory.contents(spec, 1, 0)) << "the file holds less";
  spec.period = 8000;
  const auto repeated = memory.contents(spec, 1, 0);
  ASSERT_TRUE(repeated);
  for (std::uint64_t i = 0; i < 5; ++i)
    EXPECT_EQ(std::memcmp(repeated.get() + i * 8000, numbers.data(), 8000), 0) << i;
  const auto file = trace::ContentsFile::open(spec.contents, why);
  ASSERT_TRUE(file) << why;
  for (const std::uint64_t offset : {0ull, 24ull, 7992ull, 8000ull, 20008ull})
    for (const std::size_t size : {8u, 8000u, 8008u, 19992u}) {
      std::vector<std::byte> piece(size);
      ASSERT_TRUE(readCaptured(*file, spec, 1, 0, offset, size, piece.data()).ok());
      EXPECT_EQ(std::memcmp(piece.data(), repeated.get() + offset, size), 0)
          << offset << " " << size;
    }
  std::filesystem::remove_all(folder);
}

TEST(HostMemory, WhatIsTooLargeIsNotKept) {
  HostMemory memory(999);
  EXPECT_FALSE(memory.contents(floats(1000), 1, 0));
  EXPECT_EQ(memory.kept(), 0u);
}

TEST(HostMemory, AFileIsMappedUntilItIsAnother) {
  char pattern[] = "/tmp/kopt-map-XXXXXX";
  const std::string folder = mkdtemp(pattern), file = folder + "/file";
  HostMemory memory;
  std::byte *first = nullptr, *second = nullptr;
  ASSERT_TRUE(memory.map(file, 5000, first).ok());
  ASSERT_TRUE(memory.map(file, 5000, second).ok());
  EXPECT_EQ(first, second);
  first[4999] = std::byte{1};
  ASSERT_TRUE(memory.map(file, 6000, second).ok());
  EXPECT_EQ(second[4999], std::byte{1});
  EXPECT_EQ(std::filesystem::file_size(file), 6000u);
  std::filesystem::remove(file);
  ASSERT_TRUE(memory.map(file, 6000, second).ok());
  EXPECT_EQ(second[4999], std::byte{0});
  ASSERT_TRUE(memory.map(folder + "/empty", 0, second).ok());
  EXPECT_FALSE(memory.map(folder, 10, second).ok());
  std::filesystem::remove_all(folder);
}

bool isMapped(const void *address) {
  unsigned char resident;
  return mincore(reinterpret_cast<void *>(std::uintptr_t(address) & ~4095ull), 1, &resident) == 0;
}

TEST(HostMemory, WhatTheNextRequestDoesNotNameIsNoLongerMapped) {
  HostMemory memory;
  const int expected = memfd_create("expected", MFD_CLOEXEC),
            output = memfd_create("output", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(expected, 4096), 0);
  ASSERT_EQ(ftruncate(output, 4096), 0);
  std::byte *first = nullptr, *second = nullptr, *again = nullptr;
  memory.beginRequest({"/of/another/namespace/1"}, {dup(expected)});
  EXPECT_TRUE(memory.isAttached("/of/another/namespace/1"));
  ASSERT_TRUE(memory.map("/of/another/namespace/1", 4096, first).ok());
  first[7] = std::byte{9};
  memory.endRequest();
  EXPECT_FALSE(memory.isAttached("/of/another/namespace/1"));

  memory.beginRequest({"/of/another/namespace/2"}, {dup(output)});
  EXPECT_FALSE(isMapped(first)); // before anything of the next request runs
  ASSERT_TRUE(memory.map("/of/another/namespace/2", 4096, second).ok());
  EXPECT_FALSE(memory.map("/of/another/namespace/1", 4096, first).ok())
      << "its descriptor is closed";
  memory.endRequest();

  memory.beginRequest({"/of/another/namespace/2"}, {dup(output)});
  ASSERT_TRUE(memory.map("/of/another/namespace/2", 4096, again).ok());
  EXPECT_EQ(second, again); // named again: the mapping stays
  memory.endRequest();
  char byte = 0;
  EXPECT_EQ(pread(expected, &byte, 1, 7), 1);
  EXPECT_EQ(byte, 9);
  close(expected);
  close(output);
}

} // namespace
