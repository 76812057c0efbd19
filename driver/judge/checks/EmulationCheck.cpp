// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/EmulationCheck.h"
#include "driver/judge/derive/DerivedLaunches.h"

#include <fmt/format.h>
#include <future>
#include <memory>
#include <optional>
#include <utility>

namespace kopt {
namespace {

/// How many bytes of each captured buffer are tried, in turn, and the most bytes of all buffers
/// together.
constexpr std::uint64_t kPieces[] = {256 << 10, 4 << 20, 256 << 20};
constexpr std::size_t kMostWhole = 2;             ///< most launches of a whole grid
constexpr std::uint64_t kFewerBlocks[] = {4, 16}; ///< divisors of a part's number of blocks
constexpr std::uint64_t kMostBytes = std::uint64_t(1) << 30;

class EmulationCheck final : public Check {
public:
  EmulationCheck(std::shared_ptr<DerivedReplays> replays, Emulation *emulation)
      : replays_(std::move(replays)), emulation_(emulation) {}
  CheckId id() const override { return CheckId::Emulated; }

  void compileAhead(const CompileAhead &ahead) override {
    if (emulation_)
      emulation_->compileAhead(ahead);
  }

  /// The emulated device learns on its own thread, while the GPU's checks learn and run.
  Status learn(CheckContext &context, Trial &baseline) override {
    KOPT_CHECK(replays_->learnAll(context, baseline));
    if (emulation_)
      thread_.add([this, launches = launchesToTry(context)] {
        if (!launches.empty())
          static_cast<void>(emulation_->learn(launches));
      });
    return {};
  }

  void begin(CheckContext &context, const Examination &seen) override {
    pending_.reset();
    if (emulation_)
      pending_ = question(context, seen);
  }

  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    if (!emulation_)
      return notRun(record, "there is no emulated device");
    const StageTimer timer(seen.trial, "verify/emulated");
    Question asked = pending_ && pending_->freshSeed == seen.freshSeed
                         ? *std::exchange(pending_, std::nullopt)
                         : question(context, seen);
    KOPT_TRY(const Emulation::Answer answer, asked.answer.get());
    if (!answer.why.empty())
      return notRun(record, answer.why);
    if (answer.failure)
      return Failure{id(), answer.failure->verdict,
                     "on the emulated device: " + answer.failure->reason};
    record.detail = "launch '" + answer.launch + "' and others like it";
    return std::nullopt;
  }

private:
  /// A question that the emulated device's thread answers.
  struct Question {
    std::uint64_t freshSeed = 0;
    std::shared_future<Result<Emulation::Answer>> answer;
  };

  Question question(CheckContext &context, const Examination &seen) {
    auto answer = thread_.call([this, launches = launchesToTry(context), candidate = seen.candidate,
                                freshSeed = seen.freshSeed]() -> Result<Emulation::Answer> {
      if (launches.empty())
        return Emulation::Answer{"no launch is small enough", std::nullopt, ""};
      KOPT_TRY(std::string unable, emulation_->learn(launches));
      if (!unable.empty())
        return Emulation::Answer{std::move(unable), std::nullopt, ""};
      return emulation_->judge(candidate, freshSeed);
    });
    return {seen.freshSeed, answer.share()};
  }

  /// The launch itself or other small ones, the largest first, and parts of a grid with fewer and
  /// fewer blocks, for kernels whose threads have much to do. If memory was captured, each launch
  /// is tried with only a part of it first: memory that the original does not reach need not be
  /// copied.
  std::vector<DerivedLaunch> launchesToTry(const CheckContext &context) const {
    std::vector<DerivedLaunch> launches;
    const Launch &base = replays_->base(context);
    if (isCaptured(base) && base.threads() <= DerivedReplays::kSmallThreads)
      addPieces({{}, Derivation::Sizes, "", base}, launches);
    std::size_t asTheyAre = 0, parts = 0;
    for (const DerivedLaunch *one : replays_->smallOnes()) {
      if (&one->launch == &base || (one->isPart ? ++parts > 1 : ++asTheyAre > kMostWhole))
        continue;
      if (!isCaptured(one->launch)) {
        launches.push_back(*one);
        continue;
      }
      addPieces(*one, launches);
      for (const std::uint64_t divisor : kFewerBlocks) {
        const std::uint64_t blocks = std::max<std::uint64_t>(2, one->launch.grid.count() / divisor);
        auto fewer = one->isPart ? withFirstBlocks(one->launch, blocks) : std::nullopt;
        if (!fewer)
          continue;
        DerivedLaunch part = *one;
        part.launch = std::move(*fewer);
        part.launch.name += fmt::format(", only {} of these", part.launch.grid.count());
        addPieces(part, launches);
      }
    }
    return launches;
  }

  static void addPieces(const DerivedLaunch &whole, std::vector<DerivedLaunch> &launches) {
    std::uint64_t known = 0;
    for (const std::uint64_t most : kPieces) {
      DerivedLaunch piece = whole;
      piece.launch = withLessMemory(whole.launch, most);
      const std::uint64_t bytes = memoryOf(piece.launch);
      if (bytes <= kMostBytes && bytes != std::exchange(known, bytes))
        launches.push_back(std::move(piece));
    }
  }

  std::shared_ptr<DerivedReplays> replays_;
  Emulation *emulation_;
  std::optional<Question> pending_; ///< asked, and not waited for yet
  JobQueue thread_{1};              ///< the only one that uses the emulated device
};

} // namespace

std::unique_ptr<Check> makeEmulationCheck(std::shared_ptr<DerivedReplays> replays,
                                          Emulation *emulation) {
  return std::make_unique<EmulationCheck>(std::move(replays), emulation);
}

} // namespace kopt
