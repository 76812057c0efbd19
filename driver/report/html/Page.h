// SPDX-License-Identifier: Apache-2.0
// What the sections of a page share.
#pragma once

#include "driver/report/facts/RunStory.h"
#include "driver/report/html/Scale.h"
#include "driver/report/html/Writer.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace kopt::html {

/// A run, with what is computed once for all sections.
struct PageFacts {
  PageFacts(const RunHistory &history, RunDiagnosis diagnosis);

  const RunHistory &history;
  RunDiagnosis diagnosis;
  RunStory story;
  nlohmann::json device, config;
  const Trial *baseline, *winner;
  const Trial *measured;            ///< the confirmation, else the winner; null if nothing won
  bool modelled;                    ///< times of the device are modelled
  std::set<std::string> accepted{}; ///< hashes of the candidates that became the incumbent
};

/// Writes the document up to the content of <main>, and its end.
void beginPage(Writer &writer, const std::string &title);
void endPage(Writer &writer);

/// A section with its heading, until it goes out of scope; the contents link to `id`.
class Section {
public:
  Section(Writer &writer, Literal id, Literal title);

private:
  Writer::Element section_;
};

/// A table that scrolls separately if the page is too narrow for it.
class Table {
public:
  Table(Writer &writer, Literal style, const std::string &label);

private:
  Writer::Element frame_, table_;
};

/// A heading cell of a table; the style is its CSS class.
struct Column {
  std::string name;
  Literal style = "";
};
/// Writes heading cells into the open row.
void writeHead(Writer &writer, const std::vector<Column> &columns);
/// Writes the head of a table: one row of heading cells.
void writeTableHead(Writer &writer, const std::vector<Column> &columns);

/// Writes a muted paragraph that says what is missing, or how to read a figure.
void writeNote(Writer &writer, std::string_view text);

/// "1.870x".
std::string factorInWords(double estimate);
/// "[1.840, 1.905]"; "modelled" if there is none.
std::string intervalInWords(const Speedup &speedup);

/// Draws a line of a chart, and writes text beside a point of it.
void writeLine(Writer &writer, Literal style, double x1, double y1, double x2, double y2);
void writeText(Writer &writer, double x, double y, Literal anchor, const std::string &text,
               Literal style = "");

/// A small drawing in a table, hidden from screen readers.
Writer::Element openStrip(Writer &writer, const std::string &style, double width, double height);
/// A scale for strips of these speedups; it always contains 1.
Scale stripScale(const std::vector<Speedup> &speedups);
/// Draws an interval with its estimate, on a scale that all rows of a table share. The numbers
/// beside it say the same, so it is hidden from screen readers.
void writeStrip(Writer &writer, const Scale &scale, const Speedup &speedup);
/// Draws the marks of that scale, for the head of the column.
void writeStripAxis(Writer &writer, const Scale &scale);

/// The CSS class of a proposer: "params", "transform", "llm" or "other".
std::string proposerClass(const std::string &proposer);
/// Draws the mark of a proposer, which has its own colour and shape, inside an <svg>. `title`, if
/// any, is shown on hover.
void writeMark(Writer &writer, const std::string &proposer, double x, double y, double size,
               const std::string &title = {}, bool isHollow = false);
/// Writes the mark and the name of a proposer, for a table or a legend.
void writeProposer(Writer &writer, const std::string &proposer);

} // namespace kopt::html
