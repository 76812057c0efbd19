// SPDX-License-Identifier: Apache-2.0
// The sections of a run's page, in the order in which they stand. Each writes nothing where its
// records are missing, or says in words what is.
#pragma once

#include "driver/report/html/Page.h"

namespace kopt::html {

void writeHeadline(Writer &writer, const PageFacts &facts);
void writeTimes(Writer &writer, const PageFacts &facts);
void writeInProgram(Writer &writer, const PageFacts &facts);
void writeChange(Writer &writer, const PageFacts &facts);
void writeCauses(Writer &writer, const PageFacts &facts);
void writeRoofline(Writer &writer, const PageFacts &facts);
void writeChecks(Writer &writer, const PageFacts &facts);
void writeSearch(Writer &writer, const PageFacts &facts);
void writeCandidates(Writer &writer, const PageFacts &facts);
void writeStory(Writer &writer, const PageFacts &facts);
void writeProvenance(Writer &writer, const PageFacts &facts);

/// A row of a table in which a gain in isolation stands beside the one in the program.
void writeWinsTable(Writer &writer, const std::vector<const SessionWin *> &wins, bool withKernel);
/// A unified diff, with line numbers and what changed within lines.
void writeDiff(Writer &writer, const std::string &diff);

} // namespace kopt::html
