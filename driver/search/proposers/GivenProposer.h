// SPDX-License-Identifier: Apache-2.0
// Offers the candidates that a person or an agent wrote and handed in as files.
#pragma once

#include "driver/search/Proposer.h"

#include <filesystem>
#include <functional>

namespace kopt {

/// What the files hold for one kernel.
struct GivenCandidates {
  std::vector<Candidate> candidates{};                  ///< in the order of the files
  std::map<std::string, std::filesystem::path> files{}; ///< of the candidates, by their hash
  std::vector<std::string> notes{}; ///< why a file gives none, with its place: one for each

  /// Empty: it is none of them.
  std::filesystem::path fileOf(const std::string &candidate) const {
    const auto known = files.find(candidate);
    return known == files.end() ? std::filesystem::path() : known->second;
  }
};

class GivenProposer final : public Proposer {
public:
  static constexpr const char *kName = "given";

  /// `given` must outlive the proposer. `tell` is told of a candidate that is not tried.
  GivenProposer(const GivenCandidates &given, std::function<void(const std::string &)> tell)
      : given_(given), tell_(std::move(tell)) {}

  std::string name() const override { return kName; }
  /// Offers them in the user's order, for the baseline only: they are changes of that.
  void start(const ProposalContext &context, Inbox &inbox) override;

private:
  const GivenCandidates &given_;
  std::function<void(const std::string &)> tell_;
};

} // namespace kopt
