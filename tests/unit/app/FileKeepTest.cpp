// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/FileKeep.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "fakes/Results.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FileKeepTest : public testing::Test {
protected:
  TemporaryDirectory folder_ = must(TemporaryDirectory::create("kopt-test"));
  std::filesystem::path kept_ = folder_.path() / "sent";
};

TEST_F(FileKeepTest, AFileArrivesInPartsAndIsThereForTheNextWorker) {
  const std::string text = "some contents", digest = hashHex(text);
  {
    FileKeep keep(kept_, 100);
    EXPECT_THAT(keep.missing({digest}), ElementsAre(digest));
    ASSERT_TRUE(keep.put(digest, 0, text.size(), text.substr(0, 4)));
    EXPECT_THAT(keep.missing({digest}), ElementsAre(digest));
    ASSERT_TRUE(keep.put(digest, 4, text.size(), text.substr(4)));
  }
  const FileKeep next(kept_, 100);
  EXPECT_THAT(next.missing({digest}), IsEmpty());
  const auto path = folder_.path() / "a" / "b";
  ASSERT_TRUE(next.place(digest, path));
  EXPECT_EQ(must(readFile(path)), text);
}

TEST_F(FileKeepTest, WhatIsNotTheFileIsRefused) {
  FileKeep keep(kept_, 100);
  const std::string digest = hashHex("text");
  EXPECT_FALSE(keep.put(digest, 1, 4, "ext")) << "the beginning is missing";
  EXPECT_FALSE(keep.put(digest, 0, 4, "test")) << "another content";
  EXPECT_FALSE(keep.put(digest, 0, 2, "text")) << "more than there is";
  EXPECT_FALSE(keep.put("../../home/user/.profile", 0, 4, "text")) << "a path";
  EXPECT_THAT(keep.missing({digest, "../x"}), ElementsAre(digest, "../x"));
}

TEST_F(FileKeepTest, TheOldestGoWhereTheyAreTooMany) {
  for (const char *text : {"first.", "second"}) {
    FileKeep keep(kept_, 10);
    ASSERT_TRUE(keep.put(hashHex(text), 0, 6, text));
  }
  EXPECT_THAT(FileKeep(kept_, 10).missing({hashHex("first."), hashHex("second")}),
              ElementsAre(hashHex("first.")));
}

} // namespace
} // namespace kopt
