// SPDX-License-Identifier: Apache-2.0
// The interface to sources of candidates. A proposer reads records and offers candidates; it never
// runs or judges one.
#pragma once

#include "driver/knowledge/Precedents.h"
#include "driver/model/KernelSpec.h"
#include "driver/search/Inbox.h"
#include "driver/search/SearchHistory.h"

#include <string>
#include <vector>

namespace kopt {

/// The subject of a search. The referenced records must outlive it.
struct SearchProblem {
  const KernelSpec &kernel;
  const Specialization &specialization;
  const Workload &workload;
  const std::string &sliceText; ///< the baseline's slice
  const DeviceInfo &device;
  Precedents precedents{};
};

/// What is asked, and what is known at this time.
struct ProposalContext {
  const SearchProblem &problem;
  const SearchHistory &history;
  const Ask &ask;

  /// The trial to improve.
  const Trial &parentTrial() const { return *history.find(ask.parents.front()); }
  const Candidate &parent() const { return parentTrial().candidate; }
};

/// The role of the proposer that asks a language model.
inline constexpr const char *kModelRole = "llm";
/// The role of the proposer of other values of tunables, and the technique of its candidates.
inline constexpr const char *kNumbersRole = "params";

/// The candidates of one answer. Each is asked here, and only here, whether it is worth a trial.
class Offers {
public:
  explicit Offers(const ProposalContext &context) : context_(context) {}

  bool isFull() const { return taken_.size() >= context_.ask.limit; }
  /// Takes a candidate, or says why it is not worth a trial: it is known, it is not of the
  /// technique that was asked for, it cannot be launched, or it cannot be written back to the
  /// user's source. A candidate that was made from the parent alone gets the parent's title before
  /// its own.
  std::optional<std::string> add(Candidate candidate);
  /// Counts a candidate that could be asked for later, if it is worth a trial.
  void leave(const Candidate &candidate);
  /// Counts candidates that were not made.
  void leave(const std::string &technique, std::uint64_t count);
  /// Takes a candidate, or leaves it if the offers are full or another technique was asked for. One
  /// that is not worth a trial is no loss.
  void offer(Candidate candidate);
  std::vector<Candidate> take() { return std::move(taken_); }
  std::map<std::string, int> takeLeft() { return std::move(left_); }

private:
  std::optional<std::string> refusal(const Candidate &candidate) const;

  const ProposalContext &context_;
  std::vector<Candidate> taken_;
  std::map<std::string, int> left_;
};

class Proposer {
public:
  virtual ~Proposer() = default;
  virtual std::string name() const = 0;
  /// Begins to answer context.ask. The inbox gets at most ask.limit new candidates, the most
  /// promising first; none if nothing more can be offered for these parents; or an error, which
  /// costs the proposer its turn and does not end the search. Called again for an ask that an
  /// earlier session of the run left without an answer. `inbox` outlives the proposer.
  virtual void start(const ProposalContext &context, Inbox &inbox) = 0;
  /// A reply that the proposer put into the inbox, on the search's own thread.
  virtual void heard(const ProposalContext &, Result<ChatReply>, Inbox &) {}
};

/// A proposer that answers at once, as a pure function of the context.
class ReadyProposer : public Proposer {
public:
  void start(const ProposalContext &context, Inbox &inbox) final;
  /// Adds candidates until the offers are full.
  virtual Status propose(const ProposalContext &context, Offers &offers) = 0;
};

} // namespace kopt
