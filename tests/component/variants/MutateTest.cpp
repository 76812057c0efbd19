// SPDX-License-Identifier: Apache-2.0
// Mutants are wrong: one launch with numbers that look like nothing special tells each from its
// original.
#include "Samples.h"

namespace kopt::frontend::test {
namespace {

class MutantsTest : public VariantsTest {
protected:
  MutationList mutantsOf(const Sample &sample) {
    MutateRequest request;
    request.source = sourceOf(sample);
    request.wanted.atMost = 1000;
    auto found = findMutants(request);
    if (!found) {
      ADD_FAILURE() << llvm::toString(found.takeError());
      return {};
    }
    return std::move(*found);
  }

  /// A mutant is noticed by what it computes or by what the emulated device finds. Those of kind
  /// `value` without a note must be; of the rest it is only asked that they run.
  void expectNoticed(const std::string &name, const std::set<std::string> &hidden = {}) {
    const Sample &sample = samples().at(name);
    const Outcome original = run(sample);
    ASSERT_TRUE(original.status.ok()) << original.status.detail;
    const MutationList list = mutantsOf(sample);
    EXPECT_GT(list.mutations.size(), 8u);
    std::set<std::string> unnoticed;
    for (const Mutation &mutant : list.mutations) {
      if (mutant.kind != MutantKind::Value || !mutant.mayBeEqual.empty())
        continue;
      Sample wrong = sample;
      wrong.slice = applyEdits(sample.slice, mutant.edits);
      const Outcome outcome = run(wrong);
      if (outcome.status.ok() && outcome.buffers == original.buffers)
        unnoticed.insert(mutant.op + ": " + mutant.title);
    }
    EXPECT_EQ(unnoticed, hidden) << sample.slice;
  }

  /// The emulated device finds what is wrong with every mutant of kind `schedule` but those named.
  void expectFindings(const std::string &name, std::size_t count,
                      const std::set<std::string> &hidden = {}) {
    const Sample &sample = samples().at(name);
    std::set<std::string> unnoticed;
    std::size_t tried = 0;
    for (const Mutation &mutant : mutantsOf(sample).mutations) {
      if (mutant.kind != MutantKind::Schedule)
        continue;
      ++tried;
      Sample wrong = sample;
      wrong.slice = applyEdits(sample.slice, mutant.edits);
      if (run(wrong).status.ok())
        unnoticed.insert(mutant.op + ": " + mutant.title);
    }
    EXPECT_EQ(tried, count);
    EXPECT_EQ(unnoticed, hidden);
  }
};

TEST_F(MutantsTest, OfSaxpy) { expectNoticed("saxpy"); }
TEST_F(MutantsTest, OfAReduction) { expectNoticed("reduction"); }
TEST_F(MutantsTest, OfASoftmax) {
  // Any number will do for the largest, as long as nothing overflows.
  expectNoticed("softmax", {"reduced-iterations: `s > 0` with half the limit at line 10"});
}
TEST_F(MutantsTest, OfATiledGemm) { expectNoticed("gemm"); }
TEST_F(MutantsTest, OfAStencil) { expectNoticed("stencil"); }
TEST_F(MutantsTest, OfASparseProduct) { expectNoticed("spmv"); }
TEST_F(MutantsTest, OfJacobiSweeps) { expectNoticed("jacobi"); }
TEST_F(MutantsTest, OfAHistogram) { expectNoticed("histogram"); }

TEST_F(MutantsTest, WithoutBarriersAreFound) { expectFindings("gemm", 2); }
TEST_F(MutantsTest, WithoutAtomicsAreFound) {
  // A plain read beside an atomic of another thread is no race to the emulated device.
  expectFindings("histogram", 4, {"removed-barrier: `__syncthreads()` removed at line 9"});
}

} // namespace
} // namespace kopt::frontend::test
