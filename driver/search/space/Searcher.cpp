// SPDX-License-Identifier: Apache-2.0
#include "driver/search/space/Searcher.h"

#include <algorithm>

namespace kopt {
namespace {

constexpr int kDraws = 200;
constexpr std::uint64_t kListable = 1u << 16; ///< points that are looked through one after another

class RandomSearcher final : public Searcher {
public:
  RandomSearcher(const Searched &searched, std::uint64_t seed)
      : searched_(searched), random_(seed) {}
  std::optional<Point> ask() override { return drawUnknown(searched_, random_); }

private:
  const Searched &searched_;
  std::mt19937_64 random_;
};

} // namespace

void Searched::told(const Point &point, Outcome outcome) {
  known_.insert(point);
  trials_.push_back({point, outcome});
  if (outcome)
    ranked_.insert(
        std::ranges::upper_bound(ranked_, *outcome, {},
                                 [&](std::size_t trial) { return *trials_[trial].outcome; }),
        trials_.size() - 1);
}

std::optional<Point> drawUnknown(const Searched &searched, std::mt19937_64 &random) {
  if (searched.isExhausted())
    return std::nullopt;
  for (int draw = 0; draw < kDraws; ++draw)
    if (Point point = searched.space().draw(random); !searched.isKnown(point))
      return point;
  if (searched.space().size() > kListable)
    return std::nullopt;
  return unknownFrom(searched, std::uniform_int_distribution<std::uint64_t>(
                                   0, searched.space().size() - 1)(random));
}

std::optional<Point> unknownFrom(const Searched &searched, std::uint64_t first) {
  const std::uint64_t size = searched.space().size();
  for (std::uint64_t i = 0; i < size; ++i)
    if (Point point = searched.space().at((first + i) % size); !searched.isKnown(point))
      return point;
  return std::nullopt;
}

std::unique_ptr<Searcher> makeRandomSearcher(const Searched &searched, std::uint64_t seed) {
  return std::make_unique<RandomSearcher>(searched, seed);
}

} // namespace kopt
