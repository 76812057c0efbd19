// SPDX-License-Identifier: Apache-2.0
// What the sections of a page share.
#pragma once

#include "driver/report/facts/RunStory.h"
#include "driver/report/html/Scale.h"
#include "driver/report/html/Writer.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kopt::html {

/// A run, and what is found out of it once for all sections.
struct PageFacts {
  PageFacts(const RunHistory &history, RunDiagnosis diagnosis);

  const RunHistory &history;
  RunDiagnosis diagnosis;
  RunStory story;
  nlohmann::json device, config;
  const Trial *baseline, *winner;
  const Trial *measured; ///< the confirmation, else the winner; null where nothing won
  bool modelled;         ///< times of the device are modelled

  std::string deviceName() const;
};

/// The text under that key; empty where there is none.
std::string textOf(const nlohmann::json &object, const char *key);

/// The document up to the content of <main>, and what ends it.
void beginPage(Writer &writer, const std::string &title);
void endPage(Writer &writer);

/// A section with its heading, until it goes out of scope; the contents link to `id`.
class Section {
public:
  Section(Writer &writer, Literal id, Literal title);

private:
  Writer::Element section_;
};

/// A table that scrolls by itself where the page is too narrow for it.
class Table {
public:
  Table(Writer &writer, Literal style, const std::string &label);

private:
  Writer::Element frame_, table_;
};

/// A paragraph; muted ones say what is missing, or how to read a figure.
void writeNote(Writer &writer, std::string_view text);

/// "1.870x".
std::string factorInWords(double estimate);
/// "[1.840, 1.905]"; "modelled" where there is none.
std::string intervalInWords(const Speedup &speedup);

/// A scale for strips of these; 1 is always on it.
Scale stripScale(const std::vector<Speedup> &speedups);
/// An interval with its estimate, on a scale that all rows of a table share. Figures beside it say
/// the same, so it is hidden from screen readers.
void writeStrip(Writer &writer, const Scale &scale, const Speedup &speedup);
/// The marks of that scale, for the head of the column.
void writeStripAxis(Writer &writer, const Scale &scale);

/// The class that colours a proposer: "params", "transform", "llm" or "other".
std::string proposerClass(const std::string &proposer);
/// Its mark, which has a shape of its own as well; inside an <svg>. `title` is shown when pointed
/// at, where there is one.
void writeMark(Writer &writer, const std::string &proposer, double x, double y, double size,
               const std::string &title = {}, bool isHollow = false);
/// The mark and the name, in a table or a legend.
void writeProposer(Writer &writer, const std::string &proposer);

} // namespace kopt::html
