// SPDX-License-Identifier: Apache-2.0
// Small drawings that sections share: lines and texts of charts, intervals, bars, marks.
#pragma once

#include "driver/model/Trial.h"
#include "driver/report/html/Scale.h"
#include "driver/report/html/Writer.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt::html {

/// Draws a line of a chart, and writes text beside a point of it.
void writeLine(Writer &writer, const std::string &style, double x1, double y1, double x2,
               double y2);
void writeText(Writer &writer, double x, double y, Literal anchor, const std::string &text,
               Literal style = "");

/// The axes of a chart, and the room around them for words.
struct Axes {
  double width, height, left, right, top, bottom;
  Scale x{}, y{};

  double end() const { return width - right; }
  double floor() const { return height - bottom; }
  /// Opens the chart.
  Writer::Element open(Writer &writer, const std::string &label) const;
  /// Draws the axes, with lines at the ticks, and the words below them. `unit` follows the numbers
  /// of the y axis.
  void draw(Writer &writer, const std::string &words, const char *unit = "") const;
};

/// A small drawing in a table, hidden from screen readers.
Writer::Element openStrip(Writer &writer, const std::string &style, double width, double height);
/// A scale for strips of these speedups; it always contains 1.
Scale stripScale(const std::vector<Speedup> &speedups);
/// Draws an interval with its estimate, on a scale that all rows of a table share. The numbers
/// beside it say the same, so it is hidden from screen readers.
void writeStrip(Writer &writer, const Scale &scale, const Speedup &speedup);
/// Draws the marks of that scale, for the head of the column.
void writeStripAxis(Writer &writer, const Scale &scale);

/// Draws shares of a whole as bars, one above the other; a share that is not known has none. The
/// numbers beside them say the same.
struct Bar {
  Literal style;
  std::optional<double> share;
};
void writeBars(Writer &writer, double width, const std::vector<Bar> &bars);

/// The CSS class of a proposer: "params", "transform", "llm" or "other".
std::string proposerClass(const std::string &proposer);
/// Draws the mark of a proposer, which has its own colour and shape, inside an <svg>. `title`, if
/// any, is shown on hover.
void writeMark(Writer &writer, const std::string &proposer, double x, double y, double size,
               const std::string &title = {}, bool isHollow = false);
/// Writes the mark and the name of a proposer, for a table or a legend.
void writeProposer(Writer &writer, const std::string &proposer);

} // namespace kopt::html
