// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/cache/Manifest.h"

#include "clang_plugin/output/RecordJson.h"
#include "unit/clang_plugin/cache/Folder.h"

#include <fcntl.h>

namespace kopt::frontend {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMinute = 60'000'000'000;

class ManifestTest : public Folder {
protected:
  static SeenFile read(const std::string &text) {
    return {SeenFile::Read, text.size(), contentHash(text)};
  }
  /// As it is after a while: no file was touched near the start of the work.
  static Manifest later() { return Manifest(nowInNanoseconds() + kMinute); }

  static bool holds(Manifest manifest, bool *wasTouched = nullptr) {
    std::vector<FileFact> files;
    EXPECT_EQ(readDocument(toJson(manifest.files()), files), "");
    Manifest again(files);
    bool touched = false;
    bool answer = again.holds(touched);
    if (wasTouched)
      *wasTouched = touched;
    return answer;
  }

  void setTime(const std::string &name, std::int64_t seconds) const {
    const timespec times[2] = {{seconds, 5}, {seconds, 5}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path(name).c_str(), times, 0), 0);
  }
};

TEST_F(ManifestTest, HoldsUntilAFileChanges) {
  write("include/a.h", "int a;");
  write("include/b.h", "int b;");
  for (bool settled : {true, false}) {
    Manifest manifest = settled ? later() : Manifest(nowInNanoseconds());
    manifest.add(path("include/a.h"), read("int a;"));
    manifest.add(path("include/b.h"), read("int b;"));
    EXPECT_TRUE(manifest.isSound());
    EXPECT_TRUE(holds(manifest));
    write("include/b.h", "int c;"); // of the same size
    EXPECT_FALSE(holds(manifest));
    write("include/b.h", "int b;"); // newer, but the same
    bool touched = false;
    EXPECT_TRUE(holds(manifest, &touched));
    EXPECT_EQ(touched, settled);
    fs::remove(path("include/b.h"));
    EXPECT_FALSE(holds(manifest));
    write("include/b.h", "int b;");
  }
}

TEST_F(ManifestTest, IsNotFooledByATimeThatIsSetBack) {
  write("a.h", "int a;");
  setTime("a.h", 1'000'000'000);
  Manifest manifest = later();
  manifest.add(path("a.h"), read("int a;"));
  EXPECT_TRUE(holds(manifest));
  write("a.h", "int b;");
  setTime("a.h", 1'000'000'000);
  EXPECT_FALSE(holds(manifest));
}

TEST_F(ManifestTest, LooksIntoAFileThatWasJustWritten) {
  write("a.h", "int a;");
  Manifest manifest(nowInNanoseconds());
  manifest.add(path("a.h"), read("int a;"));
  ASSERT_EQ(manifest.files().size(), 1u);
  EXPECT_FALSE(manifest.files()[0].isSettled);
  Manifest old = later();
  old.add(path("a.h"), read("int a;"));
  EXPECT_TRUE(old.files()[0].isSettled);
}

TEST_F(ManifestTest, NoticesAFileThatAppears) {
  Manifest manifest = later();
  manifest.add(path("nearer/a.h"), SeenFile{SeenFile::Absent, 0, ""});
  EXPECT_TRUE(holds(manifest));
  write("nearer/a.h", "");
  EXPECT_FALSE(holds(manifest));
}

TEST_F(ManifestTest, NoticesAFolderThatGoesOrGetsNames) {
  write("include/a.h", "");
  Manifest there = later(), listed = later();
  there.add(path("include"), SeenFile{SeenFile::Exists, 0, ""});
  listed.add(path("include"), SeenFile{SeenFile::Listed, 0, listingHash(path("include"))});
  EXPECT_TRUE(holds(there));
  EXPECT_TRUE(holds(listed));
  write("include/b.h", "");
  EXPECT_TRUE(holds(there));
  EXPECT_FALSE(holds(listed));
  fs::remove_all(path("include"));
  EXPECT_FALSE(holds(there));
}

TEST_F(ManifestTest, NoticesAnotherTool) {
  write("nvcc", "old");
  Manifest manifest = later();
  manifest.addTool(path("nvcc"));
  manifest.addTool(path("cicc")); // not there
  EXPECT_TRUE(holds(manifest));
  setTime("nvcc", 1'000'000'000);
  EXPECT_FALSE(holds(manifest));
  Manifest again = later();
  again.addTool(path("cicc"));
  write("cicc", "");
  EXPECT_FALSE(holds(again));
}

TEST_F(ManifestTest, DoesNotTrustWhatChangedDuringTheWork) {
  write("a.h", "int a;");
  Manifest longer = later();
  longer.add(path("a.h"), read("int a; // before"));
  EXPECT_FALSE(longer.isSound());
  Manifest twice = later(); // two passes read different things
  twice.add(path("a.h"), SeenFile{SeenFile::Read, 6, ""});
  EXPECT_FALSE(twice.isSound());
  Manifest appeared = later();
  appeared.add(path("a.h"), SeenFile{SeenFile::Absent, 0, ""});
  EXPECT_FALSE(appeared.isSound());
  Manifest gone = later();
  gone.add(path("b.h"), read(""));
  EXPECT_FALSE(gone.isSound());
}

TEST_F(ManifestTest, TrustsWhatOthersReadOnlyIfItIsOlder) {
  write("a.h", "int a;");
  Manifest fresh(nowInNanoseconds()), old = later();
  fresh.addReadByOthers(path("a.h"));
  EXPECT_FALSE(fresh.isSound());
  old.addReadByOthers(path("a.h"));
  EXPECT_TRUE(old.isSound());
  EXPECT_TRUE(holds(old));
  write("a.h", "int b;");
  EXPECT_FALSE(holds(old));
  Manifest absent = later();
  absent.addReadByOthers(path("b.h"));
  EXPECT_FALSE(absent.isSound());
}

} // namespace
} // namespace kopt::frontend
