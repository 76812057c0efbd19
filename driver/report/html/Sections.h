// SPDX-License-Identifier: Apache-2.0
// The sections of a run's page, in their order. If a section's records are missing, it writes
// nothing or says what is missing.
#pragma once

#include "driver/report/html/Page.h"

namespace kopt::html {

void writeHeadline(Writer &writer, const PageFacts &facts);
void writeTimes(Writer &writer, const PageFacts &facts);
void writeInProgram(Writer &writer, const PageFacts &facts);
void writeChange(Writer &writer, const PageFacts &facts);
void writeCauses(Writer &writer, const PageFacts &facts);
void writeHotLines(Writer &writer, const PageFacts &facts);
void writeRoofline(Writer &writer, const PageFacts &facts);
void writeChecks(Writer &writer, const PageFacts &facts);
void writeSearch(Writer &writer, const PageFacts &facts);
void writeCandidates(Writer &writer, const PageFacts &facts);
void writeStory(Writer &writer, const PageFacts &facts);
void writeProvenance(Writer &writer, const PageFacts &facts);

/// Writes a table with the gain of each win in isolation and in the program.
void writeWinsTable(Writer &writer, const std::vector<const SessionWin *> &wins, bool withKernel);
/// Writes a unified diff with line numbers, and marks changes within lines.
void writeDiff(Writer &writer, const std::string &diff);

} // namespace kopt::html
