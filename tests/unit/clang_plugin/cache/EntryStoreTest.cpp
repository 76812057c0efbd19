// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/cache/EntryStore.h"

#include "unit/clang_plugin/cache/Folder.h"

#include <chrono>

namespace kopt::frontend {
namespace {

namespace fs = std::filesystem;

class EntryStoreTest : public Folder {
protected:
  std::size_t files() const {
    std::error_code none;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path("kept"), none), {}));
  }
  void age(const std::string &name, int hours) const {
    fs::last_write_time(path("kept/" + name),
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }
};

TEST_F(EntryStoreTest, GivesBackWhatWasKept) {
  EntryStore store(path("kept"));
  EXPECT_FALSE(store.load("a"));
  std::string bytes("zero \0 inside\n", 14);
  store.save("a", bytes);
  store.save("b", "");
  EXPECT_EQ(store.load("a"), bytes);
  EXPECT_EQ(store.load("b"), "");
  store.save("a", "newer");
  EXPECT_EQ(EntryStore(path("kept")).load("a"), "newer");
  EXPECT_EQ(files(), 2u);
}

TEST_F(EntryStoreTest, KnowsADamagedEntryForOne) {
  EntryStore store(path("kept"));
  store.save("a", "some bytes that matter");
  const std::string entry = path("kept/a.entry");
  for (std::string text : {std::string(), std::string("short"), std::string(60, 'x')}) {
    std::ofstream(entry, std::ios::trunc) << text;
    EXPECT_FALSE(store.load("a")) << text;
  }
  store.save("a", "some bytes that matter");
  fs::resize_file(entry, fs::file_size(entry) - 1);
  EXPECT_FALSE(store.load("a"));
  store.save("a", "replaced");
  EXPECT_EQ(store.load("a"), "replaced");
}

TEST_F(EntryStoreTest, KeepsNothingWhereItCannot) {
  write("file", "");
  for (const std::string &folder : {std::string(), path("file/below"), std::string("/proc/kopt")}) {
    EntryStore store(folder);
    store.save("a", "b");
    EXPECT_FALSE(store.load("a")) << folder;
    store.trim(0);
  }
  // A full disk: the folder is there, the entry does not come to be.
  EntryStore store(path("kept"));
  fs::create_directories(path("kept/a.entry/in the way"));
  store.save("a", "b");
  EXPECT_FALSE(store.load("a"));
  EXPECT_EQ(files(), 1u);
}

TEST_F(EntryStoreTest, DropsWhatWasUsedLongestAgo) {
  EntryStore store(path("kept"));
  for (const char *name : {"old", "used", "new"})
    store.save(name, std::string(1000, 'x'));
  age("old.entry", 3);
  age("used.entry", 4);
  age("new.entry", 2);
  EXPECT_TRUE(store.load("used")); // now the youngest
  write("kept/half.1.2.tmp", "left by a killed process");
  age("half.1.2.tmp", 2);
  write("kept/other.1.3.tmp", "being written");
  write("kept/foreign", "not ours");
  store.trim(2100);
  EXPECT_FALSE(store.load("old"));
  EXPECT_TRUE(store.load("new"));
  EXPECT_TRUE(store.load("used"));
  EXPECT_FALSE(fs::exists(path("kept/half.1.2.tmp")));
  EXPECT_TRUE(fs::exists(path("kept/other.1.3.tmp")));
  EXPECT_TRUE(fs::exists(path("kept/foreign")));
  EntryStore(path("kept")).trim(0); // which saved nothing, and so looks at nothing
  EXPECT_TRUE(store.load("new"));
  store.trim(0);
  EXPECT_FALSE(store.load("new"));
}

} // namespace
} // namespace kopt::frontend
