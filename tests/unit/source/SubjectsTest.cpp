// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Subjects.h"

#include <gtest/gtest.h>

using namespace kopt;

namespace {

TEST(Subjects, GlobsMatchWholeQualifiedNames) {
  EXPECT_TRUE(matchesGlob("ns::*", "ns::transpose"));
  EXPECT_TRUE(matchesGlob("*pose", "transpose"));
  EXPECT_TRUE(matchesGlob("t?anspose", "transpose"));
  EXPECT_TRUE(matchesGlob("*", ""));
  EXPECT_FALSE(matchesGlob("trans", "transpose"));
  EXPECT_FALSE(matchesGlob("", "transpose"));
  EXPECT_TRUE(matchesGlob("*a*b", "xaxbxb"));
}

ExtractionResult oneKernel(bool annotated) {
  KernelSpec kernel;
  kernel.name = "transpose";
  kernel.file = "t.cu";
  kernel.line = 3;
  kernel.annotated = annotated;
  ExtractionResult extraction;
  extraction.kernels = {kernel};
  return extraction;
}

TEST(Subjects, WithoutAMarkedKernelTheMessageListsTheKernelsAndTheWayOut) {
  const auto subjects = selectSubjects(oneKernel(false), {});
  ASSERT_FALSE(subjects);
  EXPECT_EQ(subjects.error().code, ErrorCode::Usage);
  EXPECT_NE(subjects.error().hint.find("transpose (t.cu:3)"), std::string::npos);
  EXPECT_NE(subjects.error().hint.find("--kernel"), std::string::npos);
}

TEST(Subjects, AMisspelledKernelNameIsGuessed) {
  SelectionRequest request;
  request.globs = {"transpoes"};
  const auto subjects = selectSubjects(oneKernel(true), request);
  ASSERT_FALSE(subjects);
  EXPECT_NE(subjects.error().hint.find("did you mean 'transpose'"), std::string::npos)
      << subjects.error().hint;
}

TEST(Subjects, AKernelIsNamedWithOrWithoutItsNamespace) {
  ExtractionResult extraction = oneKernel(false);
  extraction.kernels.front().name = "smooth::transpose";
  for (const char *glob : {"transpose", "smooth::transpose", "trans*", "smooth::*"}) {
    SelectionRequest request;
    request.globs = {glob};
    const auto subjects = selectSubjects(extraction, request);
    ASSERT_FALSE(subjects);
    EXPECT_EQ(subjects.error().code, ErrorCode::BaselineFailed)
        << glob; // found; it has no specialization
  }
  SelectionRequest request;
  request.globs = {"smooth"};
  EXPECT_EQ(selectSubjects(extraction, request).error().code, ErrorCode::Usage);
}

TEST(Subjects, ATemplateNobodyLaunchesCannotBeTuned) {
  const auto subjects = selectSubjects(oneKernel(true), {});
  ASSERT_FALSE(subjects);
  EXPECT_EQ(subjects.error().code, ErrorCode::BaselineFailed);
  EXPECT_EQ(subjects.error().where, "t.cu:3");
}

TEST(Subjects, AKernelWithoutAProvenSliceIsNotTunedOnSomethingElse) {
  ExtractionResult extraction = oneKernel(true);
  Specialization specialization;
  specialization.expression = "transpose";
  specialization.route = "in-place";
  specialization.reason = "PTX differs at line 3";
  extraction.kernels.front().specializations = {specialization};
  const auto subjects = selectSubjects(extraction, {});
  ASSERT_FALSE(subjects);
  EXPECT_EQ(subjects.error().code, ErrorCode::BaselineFailed);
  EXPECT_NE(subjects.error().what.find("PTX differs at line 3"), std::string::npos);
  EXPECT_NE(subjects.error().what.find("nor edited in its file"), std::string::npos);
}

} // namespace
