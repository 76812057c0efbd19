// SPDX-License-Identifier: Apache-2.0
// The sections of a run's report. If a section's records are missing, it has no blocks, or says
// what is missing.
#pragma once

#include "driver/report/document/Document.h"
#include "driver/report/facts/RunStory.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace kopt {

/// A run, with what is computed once for all sections.
struct RunFacts {
  explicit RunFacts(const RunHistory &history);

  /// True for what the search tried; the baseline and confirmations are no candidates.
  bool isCandidate(const Trial &trial) const;

  const RunHistory &history;
  RunStory story;
  nlohmann::json device;
  const Trial *baseline, *winner;
  const Trial *measured;            ///< the confirmation, else the winner; null if nothing won
  bool modelled;                    ///< times of the device are modelled
  std::set<std::string> accepted{}; ///< hashes of the candidates that became the incumbent
};

/// A document with the answer and the most important facts, yet without sections.
Document headOf(const RunFacts &facts);

Section timesSection(const RunFacts &facts);
Section programSection(const RunFacts &facts);
Section changeSection(const RunFacts &facts);
Section causesSection(const RunFacts &facts);
Section hotLinesSection(const RunFacts &facts);
Section rooflineSection(const RunFacts &facts);
Section checksSection(const RunFacts &facts);
Section searchSection(const RunFacts &facts);
Section candidatesSection(const RunFacts &facts);
Section storySection(const RunFacts &facts);
Section provenanceSection(const RunFacts &facts);

/// The gain of each win in isolation and in the program.
Table winsTable(const std::vector<const SessionWin *> &wins);
/// How the program was built and run, and what came out.
List programList(const SessionRecord &session, const std::vector<const SessionWin *> &wins);
/// "program: ./app 10"; adds nothing if there is no value.
void addFact(List &list, const std::string &name, const std::string &value);

/// Columns and cells for a speedup and its drawing, on the scale that all rows share.
void addSpeedupColumns(Table &table, const std::string &name, const std::vector<Speedup> &all);
void addSpeedupCells(Row &row, const std::vector<Speedup> &all, const Speedup &speedup);

} // namespace kopt
