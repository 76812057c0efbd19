// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/TransformProposer.h"
#include "fakes/ScaleKernel.h"

#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using TransformProposerTest = ScaleKernel;

/// Answers with two offers: one that edits the kernel, one that reaches outside of it.
class TwoOffers : public Frontend {
public:
  Result<ExtractionResult> extract(const ExtractRequest &) override { return ExtractionResult{}; }
  Result<std::vector<TransformOffer>> transforms(const std::string &slice, const std::string &,
                                                 const KernelSpec &, const Workload &) override {
    TransformOffer inside{"unroll", "inside the kernel", {}, {}},
        outside{"unroll", "outside", {}, {}};
    const auto at = slice.find("x[TILE]");
    inside.edits = {{{"slice", at, at + 7}, "x[0]"}};
    outside.edits = {{{"slice", 0, 8}, "#import "}};
    return std::vector<TransformOffer>{inside, outside};
  }
  Result<GuardReply> guard(const RenderedSlice &, const RenderedSlice &, std::size_t,
                           const KernelSpec &, const BodyGuard &) override {
    return GuardReply{"", "there is none here"};
  }
  Result<HostText> hostText(const HostRequest &) override { return HostText(); }
  Result<std::vector<Finding>> screen(const std::string &, const std::string &, const KernelSpec &,
                                      const std::string &, const SharedCode &) override {
    return std::vector<Finding>{};
  }
  Result<MutantSet> mutants(const std::string &, const std::string &, const KernelSpec &,
                            const MutantRequest &) override {
    return MutantSet{};
  }
  Result<ReferenceClone> referenceClone(const std::string &, const std::string &,
                                        const KernelSpec &) override {
    ReferenceClone clone;
    clone.refusals = {{"none", "there is none here", 0}};
    return clone;
  }
  Result<CoverageClone> coverageClone(const std::string &slice, const std::string &,
                                      const KernelSpec &) override {
    CoverageClone clone;
    clone.sliceText = slice;
    return clone;
  }
};

TEST_F(TransformProposerTest, WhatOtherCodeUsesTooIsLeftAlone) {
  specialization_.chunks[1].users = {{"level", path_, 9, false}};
  TwoOffers frontend;
  TransformProposer proposer(frontend);
  const Workload work = workload();
  const Trial parentTrial;
  const Diagnosis diagnosis;
  const std::vector<Trial> history;
  const DeviceInfo device;
  const SearchProblem problem{kernel_, specialization_, work, slice_, device};
  const auto proposed = proposer.propose({problem, {{parentTrial, diagnosis}}, history, 0}, 10);
  ASSERT_TRUE(proposed);
  EXPECT_TRUE(proposed->empty());
}

TEST_F(TransformProposerTest, TransformOffersBecomeChunkTextsAndOnlyInsideEditableChunks) {
  TwoOffers frontend;
  TransformProposer proposer(frontend);
  const Workload work = workload();
  Trial parentTrial;
  parentTrial.candidate.constants["TILE"] = 16;
  const Diagnosis diagnosis;
  const std::vector<Trial> history;
  const DeviceInfo device;
  const SearchProblem problem{kernel_, specialization_, work, slice_, device};
  const ProposalContext context{problem, {{parentTrial, diagnosis}}, history, 0};
  const auto proposed = proposer.propose(context, 10);
  ASSERT_TRUE(proposed);
  ASSERT_EQ(proposed->size(), 1u);
  const Candidate &candidate = proposed->front();
  EXPECT_EQ(candidate.constants.at("TILE"), 16); // the parent's change is kept
  ASSERT_TRUE(candidate.chunks.contains(1));
  EXPECT_EQ(candidate.chunks.at(1), "__global__ void scale(float *x, int n) { x[0] = n; }");
}

} // namespace
