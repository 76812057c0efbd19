// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/TerminalObserver.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

class Lines final : public Terminal {
public:
  void status(std::string_view text) override { shown = text; }
  void line(std::string_view text) override { said = text; }
  void clear() override {}
  std::string paint(Style style, std::string_view text) const override {
    return fmt::format("<{}>{}</>", int(style), text);
  }
  std::string shown, said;
};

Trial judged(const std::string &hash, Verdict verdict, double speedup,
             std::vector<std::string> parents = {}) {
  Trial trial;
  trial.candidateHash = hash;
  trial.candidate.title = "an idea";
  trial.candidate.parents = std::move(parents);
  trial.verdict = verdict;
  if (speedup > 0)
    trial.speedup = Speedup{speedup, speedup, speedup};
  return trial;
}

TEST(TerminalObserver, TheStatusSaysWhatMattersIn80Columns) {
  Lines terminal;
  VerdictCounts counts;
  TerminalObserver observer(terminal, "12/16 ", "red::reduceSum<float, double, 256>", counts,
                            [] { return 1141.2; });
  observer.judged(judged("a", Verdict::Faster, 1.3));
  observer.judged(judged("b", Verdict::Faster, 1.2));
  Candidate candidate;
  candidate.title = "launch in blocks of 64 + unroll by 4, line 2314: for (int c = 0; c < n; ++c)";
  observer.judging({}, candidate);
  EXPECT_EQ(terminal.shown.substr(0, 79),
            "12/16 red::reduc...uble, 256>: best 1.30x, 1141 s left: unroll by 4, line 2314:");
}

TEST(TerminalObserver, VerdictsHaveColoursAndAreCounted) {
  Lines terminal;
  VerdictCounts counts;
  TerminalObserver observer(terminal, "", "scale", counts, {});
  observer.judged(judged("a", Verdict::Faster, 2));
  EXPECT_THAT(terminal.said, testing::StartsWith("<4>Faster     </> an idea "));
  observer.judged(judged("b", Verdict::Faster, 1.5, {"a"}));
  EXPECT_THAT(terminal.said, testing::HasSubstr("(0.750x of its parent)"));
  observer.judged(judged("c", Verdict::Slower, 0.5));
  EXPECT_THAT(terminal.said, testing::StartsWith("<5>Slower"));
  observer.judged(judged("d", Verdict::WrongResult, 0));
  EXPECT_THAT(terminal.said, testing::StartsWith("<3>WrongResult"));
  EXPECT_EQ(counts,
            (VerdictCounts{{Verdict::Faster, 2}, {Verdict::Slower, 1}, {Verdict::WrongResult, 1}}));
}

} // namespace
} // namespace kopt
