// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/Contents.h"
#include "unit/runtime/trace/TraceFile.h"

using namespace kopt::runtime::trace;

namespace {

class ContentsTest : public kopt::test::TraceFolder {
protected:
  ContentHash store(const std::vector<std::byte> &bytes, std::uint64_t *written = nullptr) {
    ContentHash hash{};
    std::uint64_t size = 0;
    std::string why;
    EXPECT_TRUE(storeContents(
        folder.string(), bytes.size(),
        [&](std::uint64_t offset, std::size_t count, std::byte *to, std::string &) {
          std::copy_n(bytes.begin() + std::ptrdiff_t(offset), count, to);
          return true;
        },
        hash, size, why))
        << why;
    if (written)
      *written = size;
    return hash;
  }
  std::filesystem::path pathOf(const ContentHash &hash) const {
    return folder / contentsPath(hash);
  }

  static std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = std::byte((i / 1000) * 7);
    return bytes;
  }
};

TEST_F(ContentsTest, AnyPartCanBeRead) {
  const std::vector<std::byte> bytes = pattern(2 * kPieceBytes + 12345);
  const ContentHash hash = store(bytes);
  EXPECT_EQ(hash, hashContents(bytes.data(), bytes.size()));
  std::string why;
  const auto file = ContentsFile::open(pathOf(hash).string(), why);
  ASSERT_TRUE(file) << why;
  EXPECT_EQ(file->bytes(), bytes.size());
  EXPECT_TRUE(file->verify(why)) << why;
  const std::pair<std::uint64_t, std::size_t> parts[] = {
      {0, bytes.size()},     {5, 100}, {kPieceBytes - 3, 7}, {kPieceBytes, kPieceBytes},
      {bytes.size() - 1, 1}, {9, 0}};
  for (const auto &[offset, size] : parts) {
    std::vector<std::byte> part(size);
    ASSERT_TRUE(file->read(offset, size, part.data(), why)) << why;
    EXPECT_TRUE(std::equal(part.begin(), part.end(), bytes.begin() + std::ptrdiff_t(offset)));
  }
  std::byte none;
  EXPECT_FALSE(file->read(bytes.size(), 1, &none, why));
  EXPECT_LT(std::filesystem::file_size(pathOf(hash)), bytes.size() / 10);
}

TEST_F(ContentsTest, TheSameContentsAreStoredOnce) {
  std::uint64_t first = 0, second = 1;
  EXPECT_EQ(store(pattern(5000), &first), store(pattern(5000), &second));
  EXPECT_GT(first, 0u);
  EXPECT_EQ(second, 0u);
  EXPECT_NE(store(pattern(5001)), store(pattern(5000)));
}

TEST_F(ContentsTest, WhatDoesNotCompressIsStoredAsItIs) {
  std::vector<std::byte> bytes(100000);
  std::uint64_t state = 1;
  for (std::byte &byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = std::byte(state >> 56);
  }
  std::string why;
  const auto file = ContentsFile::open(pathOf(store(bytes)).string(), why);
  ASSERT_TRUE(file) << why;
  EXPECT_TRUE(file->verify(why)) << why;
  EXPECT_TRUE(ContentsFile::open(pathOf(store({})).string(), why))
      << "a buffer of no bytes: " << why;
}

TEST_F(ContentsTest, AFailingSourceLeavesNoFile) {
  ContentHash hash{};
  std::uint64_t written = 0;
  std::string why;
  EXPECT_FALSE(storeContents(
      folder.string(), 10,
      [](std::uint64_t, std::size_t, std::byte *, std::string &reason) {
        reason = "the device is gone";
        return false;
      },
      hash, written, why));
  EXPECT_EQ(why, "the device is gone");
  // Memory that changes between the two readings has no name.
  int calls = 0;
  EXPECT_FALSE(storeContents(
      folder.string(), 10,
      [&](std::uint64_t, std::size_t size, std::byte *to, std::string &) {
        std::fill_n(to, size, std::byte(calls++));
        return true;
      },
      hash, written, why));
  EXPECT_NE(why.find("changed"), std::string::npos);
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
}

TEST_F(ContentsTest, DamageIsNoticed) {
  const std::vector<std::byte> bytes = pattern(3000);
  const std::filesystem::path path = pathOf(store(bytes));
  std::ifstream in(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const auto opens = [&](const std::string &content, std::string &why) {
    const std::string other = (folder / "other.kbuf").string();
    std::ofstream(other, std::ios::binary | std::ios::trunc) << content;
    const auto file = ContentsFile::open(other, why);
    if (!file || !file->verify(why))
      return false;
    // A bit that means nothing to zstd may change: what is read may not.
    std::vector<std::byte> found(file->bytes());
    EXPECT_TRUE(file->read(0, found.size(), found.data(), why)) << why;
    EXPECT_EQ(found, bytes);
    return true;
  };
  std::string why;
  EXPECT_TRUE(opens(good, why)) << why;
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(opens(good.substr(0, size), why));
    EXPECT_NE(why.find("other.kbuf: byte"), std::string::npos) << why;
  }
  EXPECT_FALSE(opens(good + "x", why));
  std::size_t noticed = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string flipped = good;
    flipped[i] = char(flipped[i] ^ 0x11);
    noticed += !opens(flipped, why);
  }
  EXPECT_GE(noticed + 2, good.size());
}

} // namespace
