// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/versions/TouchedKernels.h"

#include "driver/support/FileSystem.h"
#include "tests/fakes/FakeBench.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::ElementsAre;
using testing::IsEmpty;

/// Two extractions, made of kernels with a slice of one chunk each.
class TouchedKernelsTest : public testing::Test {
protected:
  struct Kernel {
    std::string name, file, text;
    std::string param = "int";
    std::string block = "256";
    std::string expression{}; ///< empty: the name
  };

  ExtractionResult version(const std::string &folder, const std::vector<Kernel> &kernels) {
    ExtractionResult result;
    for (const Kernel &kernel : kernels) {
      const std::string expression = kernel.expression.empty() ? kernel.name : kernel.expression;
      Specialization specialization;
      specialization.symbol = expression + "(" + kernel.param + ")";
      specialization.expression = expression;
      specialization.params = {
          {"n", kernel.param, ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false}};
      specialization.slice =
          (folder_.path() / folder / (std::to_string(slices_++) + ".cu")).string();
      EXPECT_TRUE(writeFileAtomically(specialization.slice, kernel.text));
      SliceChunk chunk;
      chunk.sliceEnd = kernel.text.size();
      chunk.role = ChunkRole::Kernel;
      specialization.chunks = {chunk};
      LaunchSite site;
      site.symbol = specialization.symbol;
      site.grid = {"n", "1", "1"};
      site.block = {kernel.block, "1", "1"};
      KernelSpec spec;
      spec.name = kernel.name;
      spec.file = kernel.file;
      spec.specializations = {specialization};
      spec.launches = {site};
      result.kernels.push_back(spec);
    }
    return result;
  }

  /// "CHANGE base->head" of each that is touched.
  std::vector<std::string> compare(const std::vector<Kernel> &base,
                                   const std::vector<Kernel> &head) {
    const ExtractionResult before = version("base", base), now = version("head", head);
    const auto name = [](const std::filesystem::path &path) { return path.string(); };
    const auto touched = touchedKernels(frontend_, {before, name}, {now, name});
    EXPECT_TRUE(touched) << touched.error().what;
    std::vector<std::string> list;
    for (const TouchedKernel &kernel : touched->kernels)
      list.push_back(std::string(toString(kernel.change)) + " " +
                     (kernel.base ? kernel.base->specialization->expression : "") + "->" +
                     (kernel.head ? kernel.head->specialization->expression : ""));
    unchanged_ = touched->unchanged;
    return list;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("kopt-touched"));
  fakes::FakeFrontend frontend_;
  int slices_ = 0;
  std::size_t unchanged_ = 0;
};

TEST_F(TouchedKernelsTest, AKernelIsWhatItsSliceSays) {
  EXPECT_THAT(
      compare({{"f", "a.cu", "void f(int n) { n; }"}, {"g", "a.cu", "void g(int n);"}},
              {{"f", "a.cu", "void f(int n) { n; }"}, {"g", "a.cu", "void g(int n) { 1; }"}}),
      ElementsAre("modified g->g"));
  EXPECT_EQ(unchanged_, 1u);
}

TEST_F(TouchedKernelsTest, WhatTheKernelIsCompiledWithCounts) {
  const auto touches = [&](const std::string &before, const std::string &now,
                           const std::string &flag = "-DA=1") {
    ExtractionResult base = version("base", {{"f", "a.cu", "f"}}),
                     head = version("head", {{"f", "a.cu", "f"}});
    for (auto [one, text] : {std::pair(&base, before), std::pair(&head, now)}) {
      const auto file = folder_.path() / (one == &base ? "base" : "head") / "r.h";
      EXPECT_TRUE(writeFileAtomically(file, text));
      one->kernels[0].projectFiles = {{file.string(), ""}};
      one->kernels[0].compileFlags = {"-DA=1", "-I" + file.parent_path().string()};
    }
    head.kernels[0].compileFlags[0] = flag;
    head.kernels[0].projectFiles["/elsewhere/options.rsp"] = ""; // the base's flags have it inside
    const auto name = [](const std::filesystem::path &path) { return path.filename().string(); };
    return touchedKernels(frontend_, {base, name}, {head, name})->kernels.size();
  };
  EXPECT_EQ(touches("#define R 1\n", "#define R 1\n"), 0u);
  EXPECT_EQ(touches("#define R 1\n", "#define R 3\n"), 1u);
  EXPECT_EQ(touches("#define R 1\n", "#define R 1\n", "-DA=3"), 1u);
}

TEST_F(TouchedKernelsTest, AnotherLaunchIsAnotherKernel) {
  EXPECT_THAT(compare({{"f", "a.cu", "f"}}, {{"f", "a.cu", "f", "int", "128"}}),
              ElementsAre("modified f->f"));
}

TEST_F(TouchedKernelsTest, MovedChangedRenamedNewAndRemovedAreToldApart) {
  EXPECT_THAT(compare({{"moved", "a.cu", "void moved() { 1; }"},
                       {"signed", "a.cu", "void signed() { 2; }"},
                       {"old", "a.cu", "void old() { 3; old; }"},
                       {"gone", "a.cu", "void gone() { 4; }"}},
                      {{"moved", "b.cu", "void moved() { 1; }"},
                       {"signed", "a.cu", "void signed() { 2; }", "long"},
                       {"renamed", "c.cu", "void renamed() { 3; renamed; }"},
                       {"added", "a.cu", "void added() { 5; }"}}),
              ElementsAre("moved moved->moved", "signature signed->signed", "renamed old->renamed",
                          "new ->added", "removed gone->"));
}

TEST_F(TouchedKernelsTest, TheSameNameInTwoFilesIsTwoKernels) {
  EXPECT_THAT(
      compare({{"f", "a.cu", "1"}, {"f", "b.cu", "2"}}, {{"f", "b.cu", "2"}, {"f", "a.cu", "3"}}),
      ElementsAre("modified f->f"));
  EXPECT_EQ(unchanged_, 1u);
}

TEST_F(TouchedKernelsTest, OtherTemplateArgumentsAreAnotherSignature) {
  EXPECT_THAT(compare({{"f", "a.cu", "1", "int", "256", "f<4>"}},
                      {{"f", "a.cu", "1", "int", "256", "f<8>"}}),
              ElementsAre("signature f<4>->f<8>"));
  // Of several nobody knows which became which.
  EXPECT_THAT(compare({{"f", "a.cu", "1", "int", "256", "f<4>"}},
                      {{"f", "a.cu", "1", "int", "256", "f<8>"},
                       {"f", "a.cu", "1", "int", "256", "f<16>"}}),
              testing::SizeIs(2));
}

TEST_F(TouchedKernelsTest, NothingIsTouchedWhereNothingIs) {
  EXPECT_THAT(compare({}, {}), IsEmpty());
  EXPECT_THAT(compare({{"f", "a.cu", "1"}}, {{"f", "a.cu", "1"}}), IsEmpty());
}

} // namespace
