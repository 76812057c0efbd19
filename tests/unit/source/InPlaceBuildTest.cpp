// SPDX-License-Identifier: Apache-2.0
#include "driver/source/InPlaceBuild.h"
#include "driver/device/build/Toolchains.h"

#include "driver/device/Toolchain.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char *kText =
    "#include \"scale.h\"\n"
    "constexpr int kSteps = 4;\n"
    "int before = __COUNTER__;\n"
    "__global__ void other(float *p) { *p = SCALE; }\n"
    "__global__ void howMany(float *p) { *p = __COUNTER__ * SCALE * kSteps; }\n"
    "void run(float *p) { howMany<<<1, 1>>>(p); }\n";

/// A project with one file, as the front end describes it.
class InPlaceBuildTest : public testing::Test {
protected:
  void SetUp() override {
    auto folder = must(TemporaryDirectory::create("in-place"));
    folder_.emplace(std::move(folder));
    kernel_.name = "howMany";
    kernel_.file = kernel_.unit = (folder_->path() / "app.cu").string();
    kernel_.line = 5;
    kernel_.directory = "/";
    kernel_.constants = {{"kSteps", ConstantKind::Constexpr, 4, range("4", "4;"), 2, true, false}};
    specialization_.route = Route::InPlace;
    specialization_.reason = "PTX differs at line 3";
    specialization_.symbol = "_Z7howManyPf";
    specialization_.expression = "howMany";
    specialization_.chunks = {
        {{"/usr/include/other.h", 0, 10}, 0, 10, ChunkRole::Function, "far", true, {}},
        {range("__global__ void howMany", "}\nvoid"),
         10,
         60,
         ChunkRole::Kernel,
         "howMany",
         true,
         {}}};
    specialization_.kernelChunk = 1;
    write(kText);
    ASSERT_TRUE(
        writeFileAtomically(folder_->path() / "scale.h", "#define SCALE 2.0f\n").has_value());
  }

  /// From where `first` stands to the first character of where `last` stands, and that character.
  SourceRange range(const std::string &first, const std::string &last) const {
    const std::string text = kText;
    return {kernel_.unit, text.find(first), text.find(last) + 1};
  }
  void write(const std::string &text) {
    ASSERT_TRUE(writeFileAtomically(kernel_.unit, text).has_value());
    hashes_ = {{kernel_.unit, hashHex(text)}};
  }
  Error problem() {
    const auto inPlace = editInPlace(kernel_, specialization_, hashes_);
    EXPECT_FALSE(inPlace.has_value());
    return inPlace ? Error{} : inPlace.error();
  }

  std::optional<TemporaryDirectory> folder_;
  KernelSpec kernel_;
  Specialization specialization_;
  std::map<std::string, std::string> hashes_;
};

TEST_F(InPlaceBuildTest, CandidatesChangeTheKernelAndConstantsWhereTheyStand) {
  const auto inPlace = must(editInPlace(kernel_, specialization_, hashes_));
  const Specialization &own = inPlace.specialization;
  ASSERT_EQ(own.chunks.size(), 2u) << "what stands in another file is not changed";
  EXPECT_EQ(own.chunks[0].name, "kSteps");
  EXPECT_EQ(own.kernelChunk, 1u);

  Candidate candidate;
  candidate.constants["kSteps"] = 8;
  candidate.chunks[1] = "__global__ void howMany(float *p) { *p = 1; }";
  const auto rendered = must(renderSlice(inPlace.text, kernel_, own, candidate));
  std::string expected = "#line 1 \"" + kernel_.unit + "\"\n" + kText;
  expected.replace(expected.find("kSteps = 4"), 10, "kSteps = 8");
  const std::string kernel =
      "__global__ void howMany(float *p) { *p = __COUNTER__ * SCALE * kSteps; }";
  expected.replace(expected.find(kernel), kernel.size(), candidate.chunks[1]);
  EXPECT_EQ(rendered.text, expected);

  const auto edits = must(writeBackEdits(kernel_, own, candidate));
  EXPECT_EQ(edits.size(), 2u);
  for (const SourceEdit &edit : edits)
    EXPECT_EQ(edit.range.file, kernel_.unit);
}

TEST_F(InPlaceBuildTest, FindsHeadersBesideTheOriginal) {
  EXPECT_THAT(editInPlace(kernel_, specialization_, hashes_)->compileFlags,
              ElementsAre("-Xcompiler", "-iquote," + folder_->path().string()));
}

TEST_F(InPlaceBuildTest, BuildsWithNvcc) {
  const auto processes = makeProcessRunner();
  const auto toolchain = makeNvccToolchain(*processes, CudaToolkit::find());
  if (!toolchain)
    GTEST_SKIP() << toolchain.error().what;
  const auto inPlace = must(editInPlace(kernel_, specialization_, hashes_));
  ASSERT_TRUE(createDirectories(folder_->path() / "scratch").has_value());
  BuildRequest request{inPlace.text,
                       "howMany",
                       specialization_.symbol,
                       "sm_90",
                       inPlace.compileFlags,
                       kernel_.directory,
                       folder_->path() / "scratch" / "module"};
  const auto built = must((*toolchain)->build(request));
  EXPECT_TRUE(built.ok) << built.log;
  request.sliceText += "int wrong = nothing;\n";
  const auto broken = must((*toolchain)->build(request));
  EXPECT_THAT(broken.log, HasSubstr(kernel_.unit + "(7): error"))
      << "errors name the user's own file";
}

TEST_F(InPlaceBuildTest, AFileThatChangedIsStale) {
  ASSERT_TRUE(writeFileAtomically(kernel_.unit, "// changed\n").has_value());
  EXPECT_EQ(problem().code, ErrorCode::StaleInput);
}

TEST_F(InPlaceBuildTest, AKernelInAHeaderIsRefusedByName) {
  specialization_.chunks[1].source.file = "/src/kernels.cuh";
  EXPECT_EQ(problem().code, ErrorCode::BaselineFailed);
  EXPECT_THAT(problem().what, HasSubstr("defined in /src/kernels.cuh"));
}

TEST_F(InPlaceBuildTest, AKernelNamedAfterItsFileIsRefused) {
  specialization_.fileLocal = true;
  EXPECT_THAT(problem().what, HasSubstr("the file's own name"));
}

TEST_F(InPlaceBuildTest, ARefusedKernelHasNoInPlaceSource) {
  specialization_.route = Route::Refused;
  EXPECT_THAT(problem().what, HasSubstr("its route is refused"));
}

} // namespace
} // namespace kopt
