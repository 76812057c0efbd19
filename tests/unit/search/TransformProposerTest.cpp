// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/TransformProposer.h"
#include "clang_plugin/output/Variants.h"
#include "fakes/OffersOf.h"
#include "fakes/ScaleKernel.h"
#include "tests/fakes/Results.h"

#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

class TransformProposerTest : public ScaleKernel {
protected:
  std::vector<Candidate> propose(Frontend &frontend, const Candidate &parent = {}) {
    TransformProposer proposer(frontend, names_);
    const Workload work = workload();
    const DeviceInfo device;
    const SearchProblem problem{kernel_, specialization_, work, slice_, device, precedents_};
    return must(offersOf(proposer, problem, parent, {}, 10));
  }

  Precedents precedents_;

  std::vector<std::string> names_ = {"transform"};
};

/// Answers with two offers: one that edits the kernel, one that reaches outside of it.
class TwoOffers : public Frontend {
public:
  Result<ExtractionResult> extract(const ExtractRequest &) override { return ExtractionResult{}; }
  Result<std::vector<TransformOffer>> transforms(const std::string &slice, const std::string &,
                                                 const KernelSpec &,
                                                 const std::vector<LaunchShape> &) override {
    TransformOffer inside{"unroll", "inside the kernel", "", {}, {}},
        outside{"unroll", "outside", "", {}, {}};
    const auto at = slice.find("x[TILE]");
    inside.edits = {{{"slice", at, at + 7}, "x[0]"}};
    outside.edits = {{{"slice", 0, 8}, "#import "}};
    return std::vector<TransformOffer>{inside, outside};
  }
  Result<ChunkReply> guard(const RenderedSlice &, const RenderedSlice &, std::size_t,
                           const KernelSpec &, const BodyGuard &) override {
    return ChunkReply{"", "there is none here"};
  }
  Result<ChunkReply> specialize(const RenderedSlice &, std::size_t, const KernelSpec &,
                                bool) override {
    return ChunkReply{"", "there is none here"};
  }
  Result<HostText> hostText(const HostRequest &) override { return HostText(); }
  Result<ModelReply> modelOf(const std::string &, const std::string &, const KernelSpec &,
                             const std::vector<LaunchShape> &) override {
    return ModelReply();
  }
  Result<std::vector<CodeDigest>> codes(const std::vector<NamedText> &) override {
    return std::vector<CodeDigest>();
  }
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
    clone.slice = slice;
    return clone;
  }
};

TEST_F(TransformProposerTest, LeavesOutTheRewritesThatItIsToldTo) {
  TwoOffers frontend;
  EXPECT_EQ(propose(frontend).size(), 1u);
  names_.push_back("-unroll");
  EXPECT_TRUE(propose(frontend).empty());
}

TEST_F(TransformProposerTest, WhatOtherCodeUsesTooIsLeftAlone) {
  specialization_.chunks[1].users = {{"level", path_, 9, false}};
  TwoOffers frontend;
  EXPECT_TRUE(propose(frontend).empty());
}

/// Offers a change of what stands before the kernel.
class AChangedFunction : public TwoOffers {
public:
  Result<std::vector<TransformOffer>> transforms(const std::string &slice, const std::string &,
                                                 const KernelSpec &,
                                                 const std::vector<LaunchShape> &) override {
    TransformOffer offer{"arithmetic", "another value", "", {}, {}};
    const auto at = slice.find("32;");
    offer.edits = {{{"slice", at, at + 2}, "64"}};
    return std::vector<TransformOffer>{offer};
  }
};

TEST_F(TransformProposerTest, AFunctionThatOtherCodeUsesTooIsCopied) {
  SliceChunk &shared = specialization_.chunks[0];
  shared.role = ChunkRole::Function;
  shared.editable = true;
  shared.users = {{"level", path_, 9, false}};
  AChangedFunction frontend;
  const auto proposed = propose(frontend);
  ASSERT_EQ(proposed.size(), 1u);
  EXPECT_FALSE(proposed[0].chunks.contains(0)) << "the others' stays";
  ASSERT_EQ(proposed[0].declarations.size(), 1u);
  EXPECT_EQ(proposed[0].declarations[0].text, "constexpr int TILE2 = 64;");
  EXPECT_EQ(proposed[0].declarations[0].before, 1u);
  EXPECT_EQ(proposed[0].chunks.at(1), "__global__ void scale(float *x, int n) { x[TILE2] = n; }");
}

/// Offers a function before the kernel, and a change of it once it is there.
class AFunction : public TwoOffers {
public:
  Result<std::vector<TransformOffer>> transforms(const std::string &slice, const std::string &,
                                                 const KernelSpec &,
                                                 const std::vector<LaunchShape> &) override {
    TransformOffer offer{"specialise", "a function", "", {}, {}};
    const auto body = slice.find("{ return 1; }"), kernel = slice.find("__global__");
    if (body != slice.npos)
      offer.edits = {{{"slice", body, body + 13}, "{ return 2; }"}};
    else
      offer.edits = {{{"slice", kernel, kernel}, "__device__ int one() { return 1; }\n\n"},
                     {{"slice", slice.find("TILE]"), slice.find("TILE]") + 4}, "one()"}};
    return std::vector<TransformOffer>{offer};
  }
};

TEST_F(TransformProposerTest, WhatStandsBeforeAChunkIsADeclaration) {
  AFunction frontend;
  const auto first = propose(frontend);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].declarations,
            (std::vector<CandidateDeclaration>{{"__device__ int one() { return 1; }", 1, ""}}));
  EXPECT_TRUE(first[0].chunks.at(1).starts_with("__global__"));
  // The next rewrite may change it.
  const auto second = propose(frontend, first[0]);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].declarations.at(0).text, "__device__ int one() { return 2; }");
  EXPECT_EQ(second[0].chunks, first[0].chunks);
}

/// Offers blocks of 64 and 128 threads.
class TwoBlocks : public TwoOffers {
public:
  Result<std::vector<TransformOffer>> transforms(const std::string &, const std::string &,
                                                 const KernelSpec &,
                                                 const std::vector<LaunchShape> &) override {
    std::vector<TransformOffer> offers;
    for (const std::uint32_t threads : {64u, 128u}) {
      offers.push_back({"block-size", "another block", "", {}, {}});
      offers.back().launch.block = {{std::to_string(threads), "1", "1"}};
      offers.back().launch.grid = coveringGrid({threads, 1, 1});
    }
    return offers;
  }
};

TEST_F(TransformProposerTest, ANewBlockIsWrittenAsAPersonWould) {
  kernel_.launches[0].grid[0] = "(((n + TILE) - 1) / TILE)";
  TwoBlocks frontend;
  const auto first = propose(frontend);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ((*first.front().launch.grid)[0], "(n + 63) / 64");
  // The next block replaces it.
  const auto next = propose(frontend, first.front());
  EXPECT_EQ((*next.back().launch.grid)[0], "(n + 127) / 128");
  EXPECT_EQ((*next.back().launch.block)[0], "128");
}

/// Offers four times the blocks, and blocks of a fourth of the threads.
class OtherWork : public TwoOffers {
public:
  Result<std::vector<TransformOffer>> transforms(const std::string &, const std::string &,
                                                 const KernelSpec &,
                                                 const std::vector<LaunchShape> &) override {
    std::vector<TransformOffer> offers(2, {"remap", "other work", "", {}, {}});
    offers[0].launch.grid = {{"gridDim.x * 4", "gridDim.y", "gridDim.z"}};
    offers[1].launch.block = {{"blockDim.x / 4", "blockDim.y", "blockDim.z"}};
    return offers;
  }
};

TEST_F(TransformProposerTest, ALaunchIsChangedOnTopOfTheParents) {
  kernel_.launches[0].grid[0] = "(n + 255) / 256";
  kernel_.launches[0].block[0] = "256";
  OtherWork work;
  const auto first = propose(work);
  ASSERT_EQ(first.size(), 2u);
  const auto grown = propose(work, first[0]);
  EXPECT_EQ((*grown[0].launch.grid)[0], "(gridDim.x * 4) * 4");
  EXPECT_EQ((*grown[1].launch.grid)[0], "gridDim.x * 4");
  EXPECT_EQ((*grown[1].launch.block)[0], "blockDim.x / 4");
  // A block that covers the same threads covers those of the smaller block.
  TwoBlocks blocks;
  const auto covered = propose(blocks, first[1]);
  EXPECT_EQ((*covered.back().launch.grid)[0], "(gridDim.x * (blockDim.x / 4) + 127) / 128");
  // A part of another block is a number.
  const auto part = propose(work, propose(blocks).back());
  EXPECT_EQ((*part[1].launch.block)[0], "32");
  EXPECT_EQ((*part[1].launch.grid)[0], "(n + 127) / 128");
}

TEST_F(TransformProposerTest, ABlockIsChosenForExchangedAxes) {
  kernel_.launches[0].grid = {"(TILE + 15) / 16", "(n + 7) / 8", "1"};
  kernel_.launches[0].block = {"16", "8", "1"};
  Candidate exchanged;
  exchanged.launch.grid = {{"gridDim.y", "gridDim.x", "gridDim.z"}};
  exchanged.launch.block = {{"blockDim.y", "blockDim.x", "blockDim.z"}};
  TwoBlocks blocks;
  const auto first = propose(blocks, exchanged);
  ASSERT_EQ(first.size(), 2u);
  for (const Candidate &candidate : {first.back(), propose(blocks, first.front()).back()}) {
    EXPECT_EQ((*candidate.launch.grid)[0], "(n + 127) / 128");
    EXPECT_EQ((*candidate.launch.grid)[1], "TILE");
    EXPECT_EQ((*candidate.launch.block)[0], "128");
  }
}

TEST_F(TransformProposerTest, APartOfABlockIsAWholeOneAtEveryLaunch) {
  OtherWork work;
  kernel_.launches[0].block[0] = "TILE"; // 32
  EXPECT_EQ(propose(work).size(), 2u);
  kernel_.launches.push_back(kernel_.launches[0]);
  kernel_.launches[1].block[0] = "TILE + 2";
  EXPECT_EQ(propose(work).size(), 1u);
  kernel_.launches[1].block[0] = "threads"; // not known
  EXPECT_EQ(propose(work).size(), 1u);
}

TEST_F(TransformProposerTest, ATextThatDividesTheBlockWantsAMultipleAtEveryLaunch) {
  class InText : public OtherWork {
    Result<std::vector<TransformOffer>>
    transforms(const std::string &text, const std::string &expression, const KernelSpec &kernel,
               const std::vector<LaunchShape> &launches) override {
      auto offers = OtherWork::transforms(text, expression, kernel, launches);
      offers->front().blockMultiple = "16";
      return offers;
    }
  } work;
  kernel_.launches[0].block[0] = "TILE"; // 32
  EXPECT_EQ(propose(work).size(), 2u);
  kernel_.launches.push_back(kernel_.launches[0]);
  kernel_.launches[1].block[0] = "TILE - 8"; // a multiple of 4
  const auto proposed = propose(work);
  ASSERT_EQ(proposed.size(), 1u);
  EXPECT_TRUE(proposed.front().launch.block.has_value());
}

TEST_F(TransformProposerTest, OneOfSeveralLoopsHasItsLine) {
  TwoOffers frontend;
  const auto proposed = propose(frontend);
  ASSERT_EQ(proposed.size(), 1u);
  EXPECT_EQ(proposed.front().title, "inside the kernel, line 2");
}

TEST_F(TransformProposerTest, TransformOffersBecomeChunkTextsAndOnlyInsideEditableChunks) {
  TwoOffers frontend;
  Candidate parent;
  parent.constants["TILE"] = 16;
  const auto proposed = propose(frontend, parent);
  ASSERT_EQ(proposed.size(), 1u);
  const Candidate &candidate = proposed.front();
  EXPECT_EQ(candidate.constants.at("TILE"), 16); // the parent's change is kept
  ASSERT_TRUE(candidate.chunks.contains(1));
  EXPECT_EQ(candidate.chunks.at(1), "__global__ void scale(float *x, int n) { x[0] = n; }");
}

/// Offers the launch in three sizes of blocks, and a rewrite of the text.
class SeveralBlocks : public TwoOffers {
public:
  Result<std::vector<TransformOffer>> transforms(const std::string &slice, const std::string &expr,
                                                 const KernelSpec &kernel,
                                                 const std::vector<LaunchShape> &shapes) override {
    auto offers = TwoOffers::transforms(slice, expr, kernel, shapes);
    for (const char *size : {"64", "128", "256"}) {
      TransformOffer offer{"block-size", std::string("launch in blocks of ") + size, "", {}, {}};
      offer.launch.block = {{size, "1", "1"}};
      offers->push_back(offer);
    }
    return offers;
  }
};

TEST_F(TransformProposerTest, WhatLedOnBeforeComesFirst) {
  SeveralBlocks frontend;
  const auto titles = [&] {
    std::vector<std::string> all;
    for (const Candidate &each : propose(frontend))
      all.push_back(each.title);
    return all;
  };
  const std::string inside = "inside the kernel, line 2", block = "launch in blocks of ";
  EXPECT_EQ(titles(), (std::vector{inside, block + "64", block + "128", block + "256"}));
  precedents_.ofAKind[{"block-size", "launch 256"}].add(0.3, 1);
  precedents_.ofAKind[{"block-size", "launch 64"}].add(0, 1);
  EXPECT_EQ(titles(), (std::vector{block + "256", inside, block + "128", block + "64"}));
}

/// Offers edits of which three begin at one place.
class EditsAtOnePlace : public TwoOffers {
public:
  Result<std::vector<TransformOffer>> transforms(const std::string &slice, const std::string &,
                                                 const KernelSpec &,
                                                 const std::vector<LaunchShape> &) override {
    TransformOffer offer{"arithmetic", "three", "", {}, {}};
    const auto at = slice.find("x[TILE]");
    offer.edits = {
        {{"slice", at, at}, "1 + "}, {{"slice", at, at}, "("}, {{"slice", at, at + 7}, "x[1])"}};
    return std::vector<TransformOffer>{offer};
  }
};

TEST_F(TransformProposerTest, EditsAtOnePlaceKeepTheirOrder) {
  EditsAtOnePlace frontend;
  const auto proposed = propose(frontend);
  ASSERT_EQ(proposed.size(), 1u);
  EXPECT_EQ(proposed[0].chunks.at(1), "__global__ void scale(float *x, int n) { 1 + (x[1]) = n; }");
}

} // namespace
