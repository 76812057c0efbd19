// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/DeclaredChecks.h"

#include <fmt/format.h>

namespace kopt {
namespace {

/// The declared launches with the inputs that the baseline's results are kept for, on two poisons:
/// what depends on stale memory or on luck differs.
class OutputsGate final : public Check {
public:
  std::string name() const override { return "outputs"; }
  Status learn(CheckContext &, Trial &) override { return {}; }
  Result<std::optional<Failure>> check(CheckContext &bench, Examination &seen,
                                       CheckRecord &record) override {
    for (std::size_t i = 0; i < seen.built.launches.size(); ++i)
      for (const std::uint64_t poison : {kPoison, kOtherPoison}) {
        const RunOptions options =
            bench.options(bench.expected[i].inputSeed, poison, i, fmt::format("run-{}", i));
        KOPT_TRY(auto failure, bench.compare(seen.built, seen.built.launches[i], bench.expected[i],
                                             options, name(), seen.trial));
        if (failure)
          return failure;
      }
    record.detail = fmt::format("{} launches on two poisons", seen.built.launches.size());
    return std::nullopt;
  }
};

/// The declared launches with inputs drawn from the frozen candidate's own hash: no candidate can
/// have been made for them.
class FreshGate final : public Check {
public:
  std::string name() const override { return "fresh"; }
  Status learn(CheckContext &, Trial &) override { return {}; }
  Result<std::optional<Failure>> check(CheckContext &bench, Examination &seen,
                                       CheckRecord &record) override {
    for (int draw = 0; draw < seen.strength.freshDraws; ++draw)
      for (std::size_t i = 0; i < seen.built.launches.size(); ++i) {
        const std::uint64_t seed = seen.freshSeed + i + std::uint64_t(draw) * 0x10001;
        KOPT_TRY(const Expected fresh,
                 bench.expect(bench.baseline().launches[i],
                              bench.options(seed, kPoison, i, fmt::format("fresh-{}", i))));
        addStages(seen.trial, "verify", fresh.seconds, fresh.stages);
        const RunOptions options = bench.options(seed, kOtherPoison, i, fmt::format("run-{}", i));
        KOPT_TRY(auto failure, bench.compare(seen.built, seen.built.launches[i], fresh, options,
                                             name(), seen.trial));
        if (failure)
          return failure;
      }
    record.detail = fmt::format("{} launches",
                                seen.built.launches.size() * std::size_t(seen.strength.freshDraws));
    return std::nullopt;
  }
};

} // namespace

std::unique_ptr<Check> makeOutputsCheck() { return std::make_unique<OutputsGate>(); }
std::unique_ptr<Check> makeFreshCheck() { return std::make_unique<FreshGate>(); }

} // namespace kopt
