// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Event.h"

#include "driver/model/Json.h"

#include <fmt/format.h>

namespace kopt {

std::string Ask::inWords() const {
  return fmt::format("ask '{}' for up to {} candidates{}", role, limit,
                     technique.empty() ? "" : " of technique " + technique);
}

std::string Stop::inWords() const {
  switch (reason) {
  case StopReason::Exhausted:
    return "no proposer has anything left to try";
  case StopReason::Target:
    return fmt::format("the target of {:.2f}x is reached", limit);
  case StopReason::Rounds:
    return fmt::format("{:.0f} rounds are done", limit);
  case StopReason::Trials:
    return fmt::format("{:.0f} trials are done", limit);
  case StopReason::Seconds:
    return fmt::format("the time budget of {:.0f} s is used up", limit);
  case StopReason::Patience:
    return fmt::format("{:.0f} rounds brought nothing better", limit);
  case StopReason::ProposersFailed:
    return "every proposer failed";
  case StopReason::AtRoof:
    return fmt::format("the kernel is at its roof: at most {:.2f}x is left, and '--roof ignore' "
                       "tries all the same",
                       limit);
  case StopReason::WaitsForReplies:
    return "nothing else is left to try until the model's replies are there";
  }
  return {};
}

std::string Offered::inWords() const {
  std::string text = fmt::format("'{}' offers {} candidates", role, candidates.size());
  for (const std::string &note : notes)
    text += "; " + note;
  return text;
}

std::string ProposerFailure::inWords() const {
  return fmt::format("'{}' failed{}: {}", role, givenUp ? " and is not asked again" : "", error);
}

std::string Accept::inWords() const {
  return fmt::format("'{}' is the new incumbent: {:.3f}x", title, speedup);
}

std::string Compare::inWords() const {
  return fmt::format("'{}' runs {:.3f}x [{:.3f}, {:.3f}] as fast as '{}'", candidateTitle, estimate,
                     low, high, otherTitle);
}

std::string TimedInProgram::inWords() const {
  std::string text = "in runs of the program, to choose what to confirm:";
  for (const TimedCandidate &one : times)
    text += fmt::format("{} {} {}", &one == &times.front() ? "" : ";", one.title,
                        one.speedup ? fmt::format("{:.3f}x", *one.speedup) : "not timed");
  return text;
}

std::string Confirm::inWords() const {
  return fmt::format("'{}' on fresh samples: {}", title, reason);
}

std::string Spent::inWords() const {
  std::string text;
  for (const auto *stages : {&session, &kernel})
    for (const auto &[name, seconds] : *stages)
      text += fmt::format("{}{} {:.1f} s", text.empty() ? "" : ", ", name, seconds);
  return text;
}

const char *kindOf(const Event &event) {
  return std::visit(
      [](const auto &what) {
        if constexpr (requires { what.kind(); })
          return what.kind();
        else
          return what.kName;
      },
      event.what);
}

bool isOfSearch(const Event &event) {
  return std::visit(
      []<class What>(const What &) {
        return std::is_same_v<What, Ask> || std::is_same_v<What, Offered> ||
               std::is_same_v<What, ProposerFailure> || std::is_same_v<What, Judged> ||
               std::is_same_v<What, Profiled> || std::is_same_v<What, Accept> ||
               std::is_same_v<What, Stop>;
      },
      event.what);
}

std::string describe(const Event &event) {
  return std::visit([](const auto &what) { return what.inWords(); }, event.what);
}

std::string identityOf(const Event &event) {
  const std::string what = std::visit(
      [](const auto &kind) {
        if constexpr (requires { kind.identity(); })
          return kind.identity();
        else
          return canonicalJson(kind);
      },
      event.what);
  return fmt::format("{}/{}/{}", event.round, kindOf(event), what);
}

} // namespace kopt
