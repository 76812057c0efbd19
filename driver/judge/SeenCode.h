// SPDX-License-Identifier: Apache-2.0
// Machine code and launches that were judged already: judging them again would be a waste.
#pragma once

#include "driver/judge/context/Subject.h"
#include "driver/model/Trial.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kopt {

/// Two are the same if their machine code and their launches are, those of other arguments too.
/// Not for use by several threads at once.
class SeenCode {
public:
  /// Notes what a trial built, launched as `launches` say, unless it was seen before.
  void add(const Trial &trial, const std::vector<Launch> &launches);
  /// True, with the trial made a Duplicate, if this was seen before. As add() otherwise, if `adds`.
  bool isDuplicate(Trial &trial, const std::vector<Launch> &launches, bool adds = true);
  /// As add(), for a trial of an earlier judge: its launches are those of the candidate. One that
  /// was not built, or was a duplicate itself, is not noted.
  void remember(const Trial &trial, const KernelSpec &kernel, const std::vector<Launch> &baseline);

private:
  /// Hash and title of the first candidate with that code.
  std::map<std::string, std::pair<std::string, std::string>> seen_;
};

/// The baseline's launches as the candidate changes them; nothing if it cannot.
std::optional<std::vector<Launch>> launchesOf(const Candidate &candidate, const KernelSpec &kernel,
                                              const std::vector<Launch> &baseline);

} // namespace kopt
