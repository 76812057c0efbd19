// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Subjects.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kopt;

namespace {

using testing::AllOf;
using testing::HasSubstr;

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

SelectionRequest named(const std::string &glob) {
  SelectionRequest request;
  request.globs = {glob};
  return request;
}

TEST(Subjects, WithoutAMarkedKernelTheMessageListsTheKernelsAndTheWayOut) {
  EXPECT_THAT(selectSubjects(oneKernel(false), {}),
              fails({.code = ErrorCode::Usage,
                     .hint = AllOf(HasSubstr("transpose (t.cu:3)"), HasSubstr("--kernel"))}));
}

TEST(Subjects, AMisspelledKernelNameIsGuessed) {
  EXPECT_THAT(selectSubjects(oneKernel(true), named("transpoes")),
              fails({.hint = HasSubstr("did you mean 'transpose'")}));
}

TEST(Subjects, AKernelIsNamedWithOrWithoutItsNamespace) {
  ExtractionResult extraction = oneKernel(false);
  extraction.kernels.front().name = "smooth::transpose";
  for (const char *glob :
       {"transpose", "smooth::transpose", "trans*", "smooth::*", "tr[ab]nspose"}) {
    EXPECT_THAT(selectSubjects(extraction, named(glob)), fails({.code = ErrorCode::BaselineFailed}))
        << glob; // found; it has no specialization
  }
  EXPECT_EQ(selectSubjects(extraction, named("smooth")).error().code, ErrorCode::Usage);
}

TEST(Subjects, ATunableThatIsAMacroOfTheFlagsIsToBeDefinedInTheSource) {
  KernelSpec kernel;
  kernel.name = "transpose";
  kernel.compileFlags = {"-O3", "-DNDEBUG,TILE=16"};
  TuneDeclaration declaration;
  declaration.params.emplace_back().name = "TILE";
  EXPECT_THAT(
      checkTunables(declaration, kernel, {}),
      fails({.what = HasSubstr("(-DTILE=16)"), .hint = HasSubstr("'constexpr int TILE = 16;'")}));
}

/// transpose<float> and transpose<double>, which can neither be lifted out nor edited in place: the
/// error names the first one that is selected.
ExtractionResult twoInstantiations() {
  ExtractionResult extraction = oneKernel(false);
  for (const auto &[symbol, expression] : {std::pair("_Z9transposeIfEvPT_", "transpose<float>"),
                                           {"_Z9transposeIdEvPT_", "transpose<double>"}}) {
    Specialization specialization;
    specialization.symbol = symbol;
    specialization.expression = expression;
    specialization.route = Route::InPlace;
    specialization.reason = std::string("of ") + expression;
    extraction.kernels.front().specializations.push_back(specialization);
  }
  return extraction;
}

TEST(Subjects, AnInstantiationIsSelectedByItself) {
  for (const auto &[glob, first] : {std::pair("transpose", "float"),
                                    {"transpose<float>", "float"},
                                    {"transpose<d*", "double"},
                                    {"tr*<[de]ouble>", "double"}}) {
    EXPECT_THAT(selectSubjects(twoInstantiations(), named(glob)),
                fails({.what = HasSubstr(std::string("of transpose<") + first)}))
        << glob;
  }
  EXPECT_THAT(selectSubjects(twoInstantiations(), named("transpose<int>")),
              fails({.what = "no kernel is named 'transpose<int>'"}));
}

TEST(Subjects, SymbolsSelectExactlyWhatTheyMean) {
  ExtractionResult extraction = twoInstantiations();
  extraction.kernels.front().annotated = true;
  SelectionRequest request;
  request.globs = {"no such kernel"};
  request.symbols = {"_Z9transposeIdEvPT_", "_Z9transposeIfEvPT_", "_Z4goneIiEvPT_"};
  const auto chosen = must(selectInstances(extraction, request));
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].specialization->expression, "transpose<double>");
  // What a file keeps to itself: the symbol of its own compiler is the better one.
  std::vector<Specialization> &all = extraction.kernels.front().specializations;
  all[0].symbol = "_ZN12_GLOBAL__N_13ownEPf";
  all[1].symbol = "_ZN43_GLOBAL__N__00000000_7_main_cu_11111111_2223ownEPf";
  for (const Specialization &one : all) {
    request.symbols = {one.symbol};
    const auto own = must(selectInstances(extraction, request));
    ASSERT_EQ(own.size(), 1u);
    EXPECT_EQ(own[0].specialization->symbol, one.symbol);
  }
}

TEST(Subjects, BlanksDoNotCount) {
  ExtractionResult extraction = twoInstantiations();
  extraction.kernels.front().specializations[0].expression = "transpose<float, 4>";
  for (const char *glob : {"transpose<float,4>", "transpose< float , 4 >", "transpose<float, 4>"}) {
    const auto chosen = must(selectInstances(extraction, named(glob)));
    EXPECT_EQ(chosen.size(), 1u);
  }
}

TEST(Subjects, ClausesOfTheConfigurationSelectWhatTheirPatternMeans) {
  ExtractionResult extraction = twoInstantiations();
  extraction.kernels.front().name = "ns::transpose";
  const auto whatOf = [&](const std::string &pattern) {
    SelectionRequest request;
    request.clauses = {{pattern, {{"nonsense", "kopt.toml", 3}}}};
    return selectSubjects(extraction, request).error();
  };
  for (const char *pattern :
       {"transpose", "ns::transpose", "ns::*", "t[qr]anspose", "transpose<d*"})
    EXPECT_EQ(whatOf(pattern).where, "kopt.toml:3") << pattern;
  EXPECT_EQ(whatOf("other").what, "no kernel is marked for tuning");
}

TEST(Subjects, AClauseForANameThatThereIsNotIsAnErrorAtItsPlace) {
  ExtractionResult extraction = oneKernel(true);
  Specialization specialization;
  specialization.expression = "transpose";
  specialization.route = Route::InPlace; // which fails later, with another message
  specialization.params = {
      {"in", "const float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, true, false},
      {"n", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false}};
  KernelSpec &kernel = extraction.kernels.front();
  kernel.specializations = {specialization};
  LaunchSite site;
  site.variables = {"blocks"};
  kernel.launches = {site};
  const auto errorFor = [&](const std::string &clause) {
    kernel.clauses = {{"arg n = 16", "t.cu", 1}, {clause, "t.cu", 2}};
    return selectSubjects(extraction, {}).error();
  };
  const Error extent = errorFor("extent inn = n");
  EXPECT_EQ(extent.what, "extent inn: kernel 'transpose' has no pointer parameter of that name");
  EXPECT_EQ(extent.hint, "did you mean 'in'?");
  EXPECT_EQ(extent.where, "t.cu:2");
  EXPECT_EQ(errorFor("fill count = zero").hint, "known names: in");
  EXPECT_EQ(errorFor("arg block = 3").hint, "did you mean 'blocks'?");
  EXPECT_EQ(errorFor("launch L: m=3").where, "t.cu:2");
  for (const char *clause : {"arg blocks = 3", "extent in = n", "launch L: n=3"})
    EXPECT_EQ(errorFor(clause).code, ErrorCode::BaselineFailed) << clause;
  // Another clause may refer to it.
  kernel.clauses = {{"arg m = 16", "t.cu", 1}, {"extent in = m * n", "t.cu", 2}};
  EXPECT_EQ(selectSubjects(extraction, {}).error().code, ErrorCode::BaselineFailed);
  // Clauses of a glob serve several kernels.
  kernel.clauses.clear();
  SelectionRequest request;
  request.clauses = {{"trans*", {{"extent inn = 3", "kopt.toml", 3}}}};
  EXPECT_EQ(selectSubjects(extraction, request).error().code, ErrorCode::BaselineFailed);
  request.clauses.front().pattern = "transpose";
  EXPECT_EQ(selectSubjects(extraction, request).error().where, "kopt.toml:3");
}

TEST(Subjects, ATemplateNobodyLaunchesCannotBeTuned) {
  EXPECT_THAT(selectSubjects(oneKernel(true), {}),
              fails({.code = ErrorCode::BaselineFailed, .where = "t.cu:3"}));
}

TEST(Subjects, AKernelWithoutAProvenSliceIsNotTunedOnSomethingElse) {
  ExtractionResult extraction = oneKernel(true);
  Specialization specialization;
  specialization.expression = "transpose";
  specialization.route = Route::InPlace;
  specialization.reason = "PTX differs at line 3";
  extraction.kernels.front().specializations = {specialization};
  EXPECT_THAT(selectSubjects(extraction, {}),
              fails({.code = ErrorCode::BaselineFailed,
                     .what = AllOf(HasSubstr("PTX differs at line 3"),
                                   HasSubstr("nor edited in its file"))}));
}

} // namespace
