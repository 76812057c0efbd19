// SPDX-License-Identifier: Apache-2.0
#include "driver/app/trial/TrialFlow.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

TrialOutcome outcome(const std::string &label, Verdict verdict) {
  TrialOutcome outcome;
  outcome.label = label;
  outcome.trial.verdict = verdict;
  return outcome;
}

TEST(TrialFlow, ARefusalOfOneSpecializationDecidesTheCandidate) {
  CandidateTrials trials;
  trials.outcomes = {outcome("k<float>", Verdict::Faster), outcome("k<double>", Verdict::Slower),
                     outcome("k<int>", Verdict::WrongResult)};
  EXPECT_EQ(trials.worst().label, "k<int>");
  trials.outcomes.pop_back();
  EXPECT_EQ(trials.worst().label, "k<double>");
}

TEST(TrialFlow, OfEqualVerdictsTheFirstIsTheWorst) {
  CandidateTrials trials;
  trials.outcomes = {outcome("k<float>", Verdict::Rejected), outcome("k<int>", Verdict::RunFailed)};
  EXPECT_EQ(trials.worst().label, "k<float>");
}

TEST(TrialFlow, SeverityGrowsFromAGainToAFailure) {
  EXPECT_LT(severityOf(Verdict::Faster), severityOf(Verdict::Same));
  EXPECT_LT(severityOf(Verdict::Same), severityOf(Verdict::Ambiguous));
  EXPECT_LT(severityOf(Verdict::Ambiguous), severityOf(Verdict::Slower));
  for (const Verdict verdict : {Verdict::Rejected, Verdict::BuildFailed, Verdict::WrongResult,
                                Verdict::RunFailed, Verdict::TimedOut, Verdict::Suspect})
    EXPECT_GT(severityOf(verdict), severityOf(Verdict::Slower));
}

} // namespace
} // namespace kopt
