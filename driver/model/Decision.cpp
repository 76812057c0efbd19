// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Decision.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kopt {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Evidence, what, trial, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ask, role, parents, technique, limit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Stop, reason, limit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Offered, role, candidates)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ProposerFailure, role, error, givenUp)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Accept, candidate, title, speedup)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Compare, candidate, other, candidateTitle, otherTitle, low,
                                   estimate, high)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Confirm, candidate, title, held, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Checked, check, shown, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Spent, kernel, session, limit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Note, about, text)

namespace {

template <class... Ts> struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts> Overloaded(Ts...) -> Overloaded<Ts...>;

template <class T> Decision decisionOf(const nlohmann::json &json) {
  Decision decision;
  decision.what = json.at("what").get<T>();
  decision.evidence = json.at("evidence").get<std::vector<Evidence>>();
  return decision;
}

} // namespace

std::string describe(const Stop &stop) {
  switch (stop.reason) {
  case StopReason::Exhausted:
    return "no proposer has anything left to try";
  case StopReason::Target:
    return fmt::format("the target of {:.2f}x is reached", stop.limit);
  case StopReason::Rounds:
    return fmt::format("{:.0f} rounds are done", stop.limit);
  case StopReason::Trials:
    return fmt::format("{:.0f} trials are done", stop.limit);
  case StopReason::Seconds:
    return fmt::format("the time budget of {:.0f} s is used up", stop.limit);
  case StopReason::Patience:
    return fmt::format("{:.0f} rounds brought nothing better", stop.limit);
  case StopReason::ProposersFailed:
    return "every proposer failed";
  }
  return {};
}

const char *kindOf(const Decision &decision) {
  return std::visit(
      Overloaded{[](const Note &) { return "note"; }, [](const Ask &) { return "ask"; },
                 [](const Stop &) { return "stop"; }, [](const Offered &) { return "propose"; },
                 [](const ProposerFailure &) { return "failed"; },
                 [](const Accept &) { return "accept"; }, [](const Compare &) { return "compare"; },
                 [](const Confirm &confirm) { return confirm.held ? "confirm" : "reject"; },
                 [](const Checked &checked) { return checked.shown ? "verified" : "unchecked"; },
                 [](const Spent &) { return "time"; }},
      decision.what);
}

std::string describe(const Decision &decision) {
  return std::visit(
      Overloaded{
          [](const Note &note) { return note.text; },
          [](const Ask &ask) {
            return fmt::format("ask '{}' for up to {} candidates{}", ask.role, ask.limit,
                               ask.technique.empty() ? "" : " of technique " + ask.technique);
          },
          [](const Stop &stop) { return describe(stop); },
          [](const Offered &offer) {
            return fmt::format("'{}' offers {} candidates", offer.role, offer.candidates);
          },
          [](const ProposerFailure &failure) {
            return fmt::format("'{}' failed{}: {}", failure.role,
                               failure.givenUp ? " and is not asked again" : "", failure.error);
          },
          [](const Accept &accept) {
            return fmt::format("'{}' is the new incumbent: {:.3f}x", accept.title, accept.speedup);
          },
          [](const Compare &compare) {
            return fmt::format("'{}' runs {:.3f}x [{:.3f}, {:.3f}] as fast as '{}'",
                               compare.candidateTitle, compare.estimate, compare.low, compare.high,
                               compare.otherTitle);
          },
          [](const Confirm &confirm) {
            return fmt::format("'{}' on fresh samples: {}", confirm.title, confirm.reason);
          },
          [](const Checked &checked) { return checked.text; },
          [](const Spent &spent) {
            std::string text;
            for (const auto *stages : {&spent.session, &spent.kernel})
              for (const auto &[name, seconds] : *stages)
                text += fmt::format("{}{} {:.1f} s", text.empty() ? "" : ", ", name, seconds);
            return text;
          }},
      decision.what);
}

std::string identityOf(const Decision &decision) {
  const std::string what =
      std::visit(Overloaded{[](const Note &note) { return note.about; },
                            [](const Ask &ask) { return nlohmann::json(ask).dump(); },
                            [](const Stop &stop) { return std::string(toString(stop.reason)); },
                            [](const Offered &offer) {
                              return fmt::format("{}/{}", offer.role, offer.candidates);
                            },
                            [](const ProposerFailure &failure) { return failure.role; },
                            [](const Accept &accept) { return accept.candidate; },
                            [](const Compare &compare) {
                              return fmt::format("{}/{}", compare.candidate, compare.other);
                            },
                            [](const Confirm &confirm) { return confirm.candidate; },
                            [](const Checked &checked) { return checked.check; },
                            [](const Spent &spent) { return nlohmann::json(spent).dump(); }},
                 decision.what);
  return fmt::format("{}/{}/{}", decision.round, kindOf(decision), what);
}

nlohmann::json toJson(const Decision &decision) {
  return {
      {"what", std::visit([](const auto &what) { return nlohmann::json(what); }, decision.what)},
      {"evidence", decision.evidence}};
}

Result<Decision> decisionFromJson(const std::string &kind, const nlohmann::json &json) {
  static const std::map<std::string, Decision (*)(const nlohmann::json &)> kReaders = {
      {"note", decisionOf<Note>},
      {"ask", decisionOf<Ask>},
      {"stop", decisionOf<Stop>},
      {"propose", decisionOf<Offered>},
      {"failed", decisionOf<ProposerFailure>},
      {"accept", decisionOf<Accept>},
      {"compare", decisionOf<Compare>},
      {"confirm", decisionOf<Confirm>},
      {"reject", decisionOf<Confirm>},
      {"time", decisionOf<Spent>},
      {"verified", decisionOf<Checked>},
      {"unchecked", decisionOf<Checked>}};
  try {
    if (const auto reader = kReaders.find(kind); reader != kReaders.end())
      return reader->second(json);
  } catch (const nlohmann::json::exception &problem) {
    return makeError(ErrorCode::Internal,
                     fmt::format("a stored decision '{}' cannot be read: {}", kind, problem.what()),
                     "report this with the database");
  }
  return makeError(ErrorCode::Internal, fmt::format("unknown kind of decision '{}'", kind),
                   "the database may come from a newer kopt");
}

} // namespace kopt
