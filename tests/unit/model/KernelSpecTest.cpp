// SPDX-License-Identifier: Apache-2.0
#include "driver/model/KernelSpec.h"

#include "tests/fakes/Results.h"
#include "unit/model/ExtractionSample.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::HasSubstr;

std::string problem(const nlohmann::json &document) {
  auto result = parseExtraction(document);
  EXPECT_FALSE(result.has_value());
  if (result)
    return "";
  EXPECT_EQ(result.error().code, ErrorCode::Internal);
  return result.error().what;
}

TEST(ParseExtraction, WhatAKernelNeedsOfItsLaunch) {
  nlohmann::json document = extractionSample();
  nlohmann::json &specialization = document["kernels"][0]["specializations"][0];
  ASSERT_TRUE(parseExtraction(document)->kernels[0].specializations[0].needs.empty());
  specialization["needs"] = {
      {{"kind", "texture"}, {"name", "image.pixels"}, {"file", "/src/image.cuh"}, {"line", 12}}};
  const auto result = must(parseExtraction(document));
  const LaunchNeed &need = result.kernels[0].specializations[0].needs.at(0);
  EXPECT_EQ(need.kind, NeedKind::Texture);
  EXPECT_EQ(need.name, "image.pixels");
  EXPECT_EQ(need.file, "/src/image.cuh");
  EXPECT_EQ(need.line, 12u);
  specialization["needs"][0]["kind"] =
      "moonlight"; // of a front end that knows more: nothing is tried
  EXPECT_THAT(problem(document), HasSubstr("moonlight"));
}

TEST(ParseExtraction, ReadsEveryMember) {
  auto result = must(parseExtraction(extractionSample()));
  ASSERT_EQ(result.kernels.size(), 1u);
  const KernelSpec &kernel = result.kernels[0];
  EXPECT_EQ(kernel.name, "ns::stencil");
  EXPECT_EQ(kernel.line, 7u);
  EXPECT_TRUE(kernel.annotated);
  EXPECT_EQ(kernel.clauses.at(0).text, "param R in {1, 2}");
  EXPECT_EQ(kernel.clauses.at(0).line, 6u);
  EXPECT_EQ(kernel.compileFlags, (std::vector<std::string>{"-O3", "-arch=sm_90"}));
  EXPECT_EQ(kernel.directory, "/src");

  const Specialization &specialization = kernel.specializations.at(0);
  EXPECT_EQ(specialization.symbol, "_ZN2ns7stencilIfLi2EEEvPKfPfi");
  EXPECT_EQ(specialization.templateArgs.at(1).value, "2");
  EXPECT_TRUE(specialization.templateArgs.at(1).integral);
  EXPECT_EQ(specialization.templateArgs.at(1).range->begin, 400u);
  EXPECT_FALSE(specialization.templateArgs.at(0).range.has_value());
  const KernelParam &in = specialization.params.at(0);
  EXPECT_EQ(in.kind, ParamKind::Pointer);
  EXPECT_EQ(in.scalar, "f32");
  EXPECT_EQ(in.pointeeSize, 4u);
  EXPECT_TRUE(in.pointeeConst);
  EXPECT_FALSE(in.restrict);
  EXPECT_EQ(specialization.params.at(1).kind, ParamKind::Scalar);
  EXPECT_EQ(specialization.chunks.at(1).role, ChunkRole::Kernel);
  EXPECT_TRUE(specialization.chunks.at(1).editable);
  EXPECT_EQ(specialization.kernelChunk, 1u);
  EXPECT_TRUE(specialization.proven);

  const LaunchSite &site = kernel.launches.at(0);
  EXPECT_EQ(site.grid[0], "(n + 255) / 256");
  EXPECT_EQ(site.args.at(1), "n");
  EXPECT_EQ(site.pointers.at(0).root, "d_in");
  EXPECT_EQ(site.pointers.at(0).offset, "4");
  EXPECT_TRUE(kernel.launches.at(1).pointers.empty());
  EXPECT_EQ(site.gridRange->end, 420u);
  EXPECT_FALSE(site.sharedRange.has_value());
  EXPECT_EQ(site.variables, std::vector<std::string>{"n"});
  EXPECT_EQ(kernel.launches.at(1).geometry, GeometryKind::Unresolved);
  EXPECT_EQ(kernel.launches.at(1).grid[0], "");
  EXPECT_EQ(kernel.launches.at(1).reason, "the grid depends on a call of 'power'");
  EXPECT_EQ(kernel.constants.at(0).value, -3);
  EXPECT_TRUE(kernel.constants.at(0).usedByLaunch);
  EXPECT_EQ(result.fileHashes.at("/src/a.cu"), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(result.notes.size(), 1u);
}

TEST(ParseExtraction, NamesThePlaceOfAProblem) {
  nlohmann::json document = extractionSample();
  document["kernels"][0]["specializations"][0]["params"][1]["size"] = -4;
  EXPECT_THAT(problem(document),
              HasSubstr("integer out of range at /kernels/0/specializations/0/params/1/size"));

  document = extractionSample();
  document["kernels"][0].erase("launches");
  EXPECT_THAT(problem(document), HasSubstr("missing 'launches' at /kernels/0"));

  document = extractionSample();
  document["kernels"][0]["launches"][1]["lines"] = 3;
  EXPECT_THAT(problem(document), HasSubstr("unknown 'lines' at /kernels/0/launches/1"));

  document = extractionSample();
  document["file_hashes"]["/src/a.cu"] = 7;
  EXPECT_THAT(problem(document), HasSubstr("expected a text at /file_hashes/~1src~1a.cu"));

  document = extractionSample();
  document["kernels"][0]["specializations"][0]["route"] = "overlay";
  EXPECT_THAT(problem(document),
              HasSubstr("unknown name 'overlay' at /kernels/0/specializations/0/route"));

  document = extractionSample();
  document["kernels"][0]["launches"][0]["grid"] = {"1"};
  EXPECT_THAT(problem(document), HasSubstr("expected an array of 3 at /kernels/0/launches/0/grid"));

  document = extractionSample();
  document["kernels"][0]["specializations"][0]["kernel_chunk"] = 9;
  EXPECT_THAT(problem(document),
              HasSubstr("a kernel_chunk that is not a chunk at /kernels/0/specializations/0"));

  document = extractionSample();
  document["kernels"][0]["line"] = 1e12;
  EXPECT_THAT(problem(document), HasSubstr("expected an integer at /kernels/0/line"));

  document = extractionSample();
  document["kernels"][0]["constants"][0]["value"] = 18446744073709551615u;
  EXPECT_THAT(problem(document), HasSubstr("out of range at /kernels/0/constants/0/value"));
}

TEST(ParseExtraction, RefusesAnotherSchemaAndOtherDocuments) {
  nlohmann::json document = extractionSample();
  document["schema_version"] = 2;
  EXPECT_THAT(problem(document), HasSubstr("schema version 2 instead of 1"));
  EXPECT_THAT(problem(nlohmann::json::array()), HasSubstr("expected an object"));
}

TEST(ParseExtraction, RefusesChunksThatOverlap) {
  nlohmann::json document = extractionSample();
  document["kernels"][0]["specializations"][0]["chunks"][1]["slice_begin"] = 10;
  EXPECT_THAT(problem(document), HasSubstr("overlap"));
}

} // namespace
} // namespace kopt
