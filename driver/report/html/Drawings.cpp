// SPDX-License-Identifier: Apache-2.0
#include "driver/report/html/Drawings.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kopt::html {
namespace {

constexpr double kStripWidth = 140, kStripHeight = 14, kStripMargin = 15;

std::string box(double width, double height) {
  return fmt::format("0 0 {} {}", coordinate(width), coordinate(height));
}

} // namespace

Scale stripScale(const std::vector<Speedup> &speedups) {
  double low = 1, high = 1;
  for (const Speedup &speedup : speedups) {
    if (!std::isfinite(speedup.estimate) || speedup.estimate <= 0)
      continue;
    // Ignore far ends of intervals, which would leave no room for the other values.
    for (const double value : {speedup.estimate, speedup.low, speedup.high})
      if (std::isfinite(value) && value > speedup.estimate / 2 && value < speedup.estimate * 2) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
  }
  return Scale::ofRatios(low, high, kStripMargin, kStripWidth - kStripMargin, 3);
}

void writeLine(Writer &writer, const std::string &style, double x1, double y1, double x2,
               double y2) {
  writer.leaf("line", {{"class", style},
                       {"x1", coordinate(x1)},
                       {"y1", coordinate(y1)},
                       {"x2", coordinate(x2)},
                       {"y2", coordinate(y2)}});
}

void writeText(Writer &writer, double x, double y, Literal anchor, const std::string &text,
               Literal style) {
  writer.element("text",
                 {{"class", std::string(style.text())},
                  {"x", coordinate(x)},
                  {"y", coordinate(y)},
                  {"text-anchor", std::string(anchor.text())}},
                 text);
}

Writer::Element Axes::open(Writer &writer, const std::string &label) const {
  return writer.open("svg", {{"class", "chart"},
                             {"viewBox", box(width, height)},
                             {"role", "img"},
                             {"aria-label", label}});
}

void Axes::draw(Writer &writer, const std::string &words, const char *unit) const {
  for (const double tick : x.ticks()) {
    writeLine(writer, "grid", x.at(tick), top, x.at(tick), floor());
    writeText(writer, x.at(tick), floor() + 15, "middle", tickLabel(tick));
  }
  for (const double tick : y.ticks()) {
    writeLine(writer, "grid", left, y.at(tick), end(), y.at(tick));
    writeText(writer, left - 6, y.at(tick) + 4, "end", tickLabel(tick) + unit);
  }
  writeLine(writer, "axis-line", left, floor(), end(), floor());
  writeText(writer, (left + end()) / 2, height - 8, "middle", words);
}

Writer::Element openStrip(Writer &writer, const std::string &style, double width, double height) {
  return writer.open("svg", {{"class", style},
                             {"viewBox", box(width, height)},
                             {"width", coordinate(width)},
                             {"height", coordinate(height)},
                             {"aria-hidden", "true"}});
}

void writeStrip(Writer &writer, const Scale &scale, const Speedup &speedup) {
  const auto svg = openStrip(writer, "strip", kStripWidth, kStripHeight);
  constexpr double kMiddle = kStripHeight / 2;
  writeLine(writer, "one", scale.at(1), 0, scale.at(1), kStripHeight);
  const bool isGain = speedup.modelled ? speedup.estimate > 1 : speedup.low > 1;
  const bool isLoss = speedup.modelled ? speedup.estimate < 1 : speedup.high < 1;
  const std::string style = isGain ? "gain" : isLoss ? "loss" : "open";
  if (!speedup.modelled) {
    const double low = scale.at(speedup.low), high = scale.at(speedup.high);
    writeLine(writer, "interval " + style, low, kMiddle, high, kMiddle);
    // Draw the ends too, which the estimate would hide if the interval is narrow.
    writer.leaf("path",
                {{"class", "end " + style},
                 {"d", fmt::format("M{0} 2V12M{1} 2V12", coordinate(low), coordinate(high))}});
  }
  writer.leaf("circle", {{"class", (speedup.modelled ? "estimate hollow " : "estimate ") + style},
                         {"cx", coordinate(scale.at(speedup.estimate))},
                         {"cy", coordinate(kMiddle)},
                         {"r", speedup.modelled ? "3.5" : "2.5"}});
}

void writeStripAxis(Writer &writer, const Scale &scale) {
  const auto svg = openStrip(writer, "strip axis", kStripWidth, kStripHeight);
  double last = -100;
  for (const double tick : scale.ticks()) {
    const double x = scale.at(tick);
    if (x - last < 30) // no room for the number
      continue;
    last = x;
    writer.element("text", {{"x", coordinate(x)}, {"y", "10"}, {"text-anchor", "middle"}},
                   tickLabel(tick) + "x");
  }
}

void writeBars(Writer &writer, double width, const std::vector<Bar> &bars) {
  constexpr double kHeight = 6, kStep = 8;
  const auto svg = openStrip(writer, "strip", width, kStep * double(bars.size()) + 2);
  for (std::size_t i = 0; i < bars.size(); ++i)
    if (bars[i].share)
      writer.leaf("rect",
                  {{"class", std::string(bars[i].style.text())},
                   {"x", "0.5"},
                   {"y", coordinate(2 + kStep * double(i))},
                   {"width", coordinate(std::clamp(*bars[i].share, 0.0, 1.0) * (width - 1))},
                   {"height", coordinate(kHeight)}});
}

std::string proposerClass(const std::string &proposer) {
  for (const char *known : {"params", "transform", "llm"})
    if (proposer == known)
      return known;
  return "other";
}

void writeMark(Writer &writer, const std::string &proposer, double x, double y, double size,
               const std::string &title, bool isHollow) {
  const std::string kind = proposerClass(proposer);
  const std::string style = "mark " + kind + (isHollow ? " hollow" : "");
  const auto at = [](double value) { return coordinate(value); };
  const auto shape = [&](Literal name, Attributes attributes) {
    const auto scope = writer.open(name, attributes);
    if (!title.empty())
      writer.element("title", title);
  };
  if (kind == "params")
    shape("circle", {{"class", style}, {"cx", at(x)}, {"cy", at(y)}, {"r", at(size)}});
  else if (kind == "transform")
    shape("rect", {{"class", style},
                   {"x", at(x - size * 0.9)},
                   {"y", at(y - size * 0.9)},
                   {"width", at(size * 1.8)},
                   {"height", at(size * 1.8)}});
  else if (kind == "llm")
    shape("path",
          {{"class", style},
           {"d", fmt::format("M{} {}L{} {}L{} {}Z", at(x), at(y - size * 1.2), at(x + size * 1.15),
                             at(y + size * 0.85), at(x - size * 1.15), at(y + size * 0.85))}});
  else
    shape("path", {{"class", style},
                   {"d", fmt::format("M{} {}L{} {}L{} {}L{} {}Z", at(x), at(y - size * 1.3),
                                     at(x + size * 1.3), at(y), at(x), at(y + size * 1.3),
                                     at(x - size * 1.3), at(y))}});
}

void writeProposer(Writer &writer, const std::string &proposer) {
  const auto span = writer.open("span", {{"class", "proposer"}});
  {
    const auto svg = writer.open(
        "svg",
        {{"viewBox", "0 0 12 12"}, {"width", "12"}, {"height", "12"}, {"aria-hidden", "true"}});
    writeMark(writer, proposer, 6, 6, 4);
  }
  writer.text(proposer);
}

} // namespace kopt::html
