// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/Contrast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::ElementsAre;

const char *const kDramShare = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
const char *const kSharedConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
const char *const kBytesRead = "dram__bytes_read.sum";
const char *const kRegisterCount = "launch__registers_per_thread";

std::vector<std::string> countersOf(const Contrast &contrast) {
  std::vector<std::string> names;
  for (const ContrastRow &row : contrast.rows)
    names.push_back(row.counter);
  return names;
}

class ContrastTest : public testing::Test {
protected:
  const Counters parent_{{kDramShare, 33},
                         {kSharedConflicts, 9e5},
                         {kBytesRead, 1.00e8},
                         {kRegisterCount, 32},
                         {"launch__block_size", 256}};
  const Counters present_{{kDramShare, 61},
                          {kSharedConflicts, 0},
                          {kBytesRead, 1.03e8},
                          {kRegisterCount, 32},
                          {"launch__block_size", 256}};
  const Counters attempt_{{kDramShare, 62.5},
                          {kSharedConflicts, 0},
                          {kBytesRead, 1.02e8},
                          {kRegisterCount, 48},
                          {"launch__block_size", 256}};
  Diagnosis conflicts_ = [] {
    Diagnosis diagnosis;
    diagnosis.state = "bank-conflicts";
    diagnosis.bound = {BoundKind::Latency, "DRAM", 33};
    diagnosis.headroom = 3;
    diagnosis.hits = {
        {"shared-bank-conflicts-loads", "high", "", "", {}, {}, {{kSharedConflicts, 9e5}}}};
    return diagnosis;
  }();
  Diagnosis silent_;
};

TEST_F(ContrastTest, HasWhatBindsAndWhatMoved) {
  const Contrast contrast =
      contrastOf({{"present", present_, silent_}, {"parent", parent_, conflicts_}});
  // Bytes read differ by no more than they do from run to run; registers do not differ.
  EXPECT_THAT(countersOf(contrast), ElementsAre(kSharedConflicts, kDramShare));
  EXPECT_TRUE(contrast.rows[0].binds);
  EXPECT_FALSE(contrast.rows[1].binds);
  EXPECT_EQ(contrast.rows[1].values[0], 61);
  EXPECT_EQ(contrast.rows[1].values[1], 33);
}

TEST_F(ContrastTest, APercentageMovesByMoreThanTwoPoints) {
  const Contrast contrast =
      contrastOf({{"present", present_, silent_}, {"attempt", attempt_, silent_}});
  EXPECT_THAT(countersOf(contrast), ElementsAre(kRegisterCount));
}

TEST_F(ContrastTest, IsATableOfThreeVersions) {
  const std::string text = inText(contrastOf({{"present", present_, silent_},
                                              {"parent", parent_, conflicts_},
                                              {"attempt", attempt_, silent_}}));
  EXPECT_EQ(text, "                                  present          parent  attempt\n"
                  "state                             unknown  bank-conflicts  unknown\n"
                  "* bank conflicts of shared loads        0          900000        0\n"
                  "DRAM throughput of its peak           61%             33%    62.5%\n"
                  "registers per thread                   32              32       48\n"
                  "bound of parent: latency, nothing is busy: the busiest resource is DRAM at 33% "
                  "of its peak; at most 3.00x as fast with the bytes that it has to "
                  "move\n"
                  "* a rule that fires rests on it\n");
}

TEST_F(ContrastTest, OfOneVersionHasAllThatHaveALabel) {
  EXPECT_EQ(contrastOf({{"present", parent_, conflicts_}}).rows.size(), parent_.size());
  EXPECT_EQ(inText(contrastOf({})), "");
}

TEST_F(ContrastTest, WhatOneLacksIsUnknown) {
  Counters most = parent_;
  most.erase(kBytesRead);
  const Contrast contrast =
      contrastOf({{"present", most, silent_}, {"parent", parent_, conflicts_}});
  EXPECT_THAT(countersOf(contrast), ElementsAre(kSharedConflicts, kBytesRead));
  EXPECT_FALSE(contrast.rows[1].values[0]);
}

} // namespace
} // namespace kopt
