// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/PlacedTask.h"
#include "fakes/Results.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;

TEST(PathMap, FlagsLeadToTheFilesWhereTheyAre) {
  const PathMap paths("/root", {{"/home/me/project/include/a.h"}, {"/opt/lib/b.h"}});
  EXPECT_EQ(paths.flag("-I/home/me/project/include"), "-I/root/home/me/project/include");
  EXPECT_EQ(paths.flag("-I/home/me/project/include/"), "-I/root/home/me/project/include/");
  EXPECT_EQ(paths.flag("/home/me/project/include/a.h"), "/root/home/me/project/include/a.h");
  EXPECT_EQ(paths.flag("-Xcompiler=-I/opt,-I/opt/lib"), "-Xcompiler=-I/root/opt,-I/root/opt/lib");
  EXPECT_EQ(paths.flag("-I/usr/local/cuda/include"), "-I/usr/local/cuda/include");
  EXPECT_EQ(paths.flag("-I../include"), "-I../include");
  EXPECT_EQ(paths.flag("-DPATH=\"/home/me\""), "-DPATH=\"/root/home/me\"");
  EXPECT_EQ(paths.there("/root/opt/lib/b.h:1: error: /rooted"), "/opt/lib/b.h:1: error: /rooted");
}

TEST(PlacedTask, TheSubjectReadsWhatIsHere) {
  JudgeTask task;
  task.kernel.directory = "/home/me/build";
  task.kernel.compileFlags = {"-I/home/me/include"};
  task.kernel.file = "/home/me/a.cu";
  task.workload.launches.resize(1);
  task.workload.launches[0].buffers.resize(2);
  task.workload.launches[0].buffers[0].fill.path = "/home/me/contents";
  task.files = {{"/home/me/include/a.h"}, {"/home/me/contents"}};
  const Subject subject = placed(task, PathMap("/root", task.files));
  EXPECT_EQ(subject.kernel.directory, "/root/home/me/build");
  EXPECT_THAT(subject.kernel.compileFlags, ElementsAre("-I/root/home/me/include"));
  EXPECT_EQ(subject.kernel.file, "/home/me/a.cu") << "messages name the user's file";
  EXPECT_EQ(subject.workload.launches[0].buffers[0].fill.path, "/root/home/me/contents");
  EXPECT_EQ(subject.workload.launches[0].buffers[1].fill.path, "");
}

TEST(JudgeTask, ARoundTripIsExact) {
  JudgeTask task;
  task.specialization.slice = "/a/slice.cu";
  task.specialization.chunks.resize(1);
  task.sliceText = "text";
  task.options.checks = must(CheckSwitches::without({"fresh", "sizes"}));
  task.options.cache = "/a/folder";
  task.options.weights = {0.25, 0.75};
  task.declaration.emplace();
  const auto again = must(fromJson<JudgeTask>(nlohmann::json::parse(toJson(task).dump())));
  EXPECT_EQ(toJson(again), toJson(task));
  EXPECT_FALSE(again.options.checks.on(CheckId::Fresh));
}

} // namespace
} // namespace kopt
