// SPDX-License-Identifier: Apache-2.0
// The roofline chart: baseline and winner below the limits of the device.
#include "driver/report/facts/Roofline.h"
#include "driver/report/html/Drawings.h"
#include "driver/report/sections/Sections.h"

#include <algorithm>
#include <fmt/format.h>
#include <numbers>

namespace kopt {
namespace {

using namespace html;

constexpr double kWidth = 620, kHeight = 300, kLeft = 54, kRight = 16, kTop = 14, kBottom = 40;

class RooflineChart {
public:
  RooflineChart(Writer &writer, const Roofline &roofline) : writer_(writer), roofline_(roofline) {
    double lowX = 1e300, highX = 0, lowY = 1e300, highY = 0;
    const auto include = [&](double x, double y) {
      lowX = std::min(lowX, x);
      highX = std::max(highX, x);
      lowY = std::min(lowY, y);
      highY = std::max(highY, y);
    };
    for (const RooflinePoint &point : roofline.points)
      include(point.intensity, point.rate);
    if (roofline.memory && roofline.compute) {
      ridge_ = roofline.compute->perSecond / roofline.memory->perSecond;
      include(ridge_, roofline.compute->perSecond);
    } else if (roofline.compute) {
      include(highX, roofline.compute->perSecond);
    } else if (roofline.memory) {
      include(highX, highX * roofline.memory->perSecond);
    }
    x_ = Scale::logarithmic(lowX / 4, highX * 8, kLeft, kWidth - kRight);
    y_ = Scale::logarithmic(lowY / 4, highY * 2, kHeight - kBottom, kTop);
  }

  void draw() {
    const auto svg =
        writer_.open("svg", {{"class", "chart"},
                             {"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)},
                             {"role", "img"},
                             {"aria-label", "Roofline: " + roofline_.unit + " a second over " +
                                                roofline_.unit + " for each byte of DRAM"}});
    axes();
    roofs();
    points();
  }

private:
  void axes() {
    for (const double tick : x_.ticks()) {
      writeLine(writer_, "grid", x_.at(tick), kTop, x_.at(tick), kHeight - kBottom);
      writeText(writer_, x_.at(tick), kHeight - kBottom + 14, "middle", tickLabel(tick));
    }
    for (const double tick : y_.ticks()) {
      writeLine(writer_, "grid", kLeft, y_.at(tick), kWidth - kRight, y_.at(tick));
      writeText(writer_, kLeft - 6, y_.at(tick) + 4, "end", tickLabel(tick));
    }
    writeLine(writer_, "axis-line", kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom);
    writeText(writer_, (kLeft + kWidth - kRight) / 2, kHeight - 8, "middle",
              roofline_.unit + " for each byte of DRAM traffic");
    writeText(writer_, kLeft, kTop - 3, "start", roofline_.unit + " a second");
  }

  void roofs() {
    const double right = roofline_.compute && roofline_.memory ? ridge_ : x_.high();
    if (roofline_.memory) {
      const double bandwidth = roofline_.memory->perSecond;
      // Do not draw the part below the chart.
      const double left = std::max(x_.low(), y_.low() / bandwidth);
      const double end = std::min(right, y_.high() / bandwidth);
      writeLine(writer_, "roof", x_.at(left), y_.at(left * bandwidth), x_.at(end),
                y_.at(end * bandwidth));
      slopeLabel(x_.at(left), y_.at(left * bandwidth), x_.at(end), y_.at(end * bandwidth),
                 fmt::format("DRAM {}B/s", tickLabel(bandwidth)));
    }
    if (roofline_.compute) {
      const double rate = roofline_.compute->perSecond;
      const double left = roofline_.memory ? ridge_ : x_.low();
      writeLine(writer_, "roof", x_.at(left), y_.at(rate), kWidth - kRight, y_.at(rate));
      writeText(writer_, kWidth - kRight, y_.at(rate) - 5, "end",
                fmt::format("at most {} a second", tickLabel(rate)), "label");
    }
  }

  /// Writes a label along and above the slope.
  void slopeLabel(double x1, double y1, double x2, double y2, const std::string &words) {
    const double x = (x1 + x2) / 2, y = (y1 + y2) / 2;
    writer_.element("text",
                    {{"class", "label"},
                     {"x", coordinate(x)},
                     {"y", coordinate(y - 6)},
                     {"text-anchor", "middle"},
                     {"transform",
                      fmt::format("rotate({} {} {})",
                                  coordinate(std::atan2(y2 - y1, x2 - x1) * 180 / std::numbers::pi),
                                  coordinate(x), coordinate(y))}},
                    words);
  }

  void points() {
    for (const RooflinePoint &point : roofline_.points) {
      const bool isBaseline = point.name == "baseline";
      const double x = x_.at(point.intensity), y = y_.at(point.rate);
      writeLine(writer_, "extent", x, y, x, kHeight - kBottom);
      {
        const auto dot = writer_.open("circle", {{"class", isBaseline ? "before" : "after"},
                                                 {"cx", coordinate(x)},
                                                 {"cy", coordinate(y)},
                                                 {"r", "5"}});
        writer_.element("title", fmt::format("{}: {} a second, {} for each byte", point.name,
                                             tickLabel(point.rate), tickLabel(point.intensity)));
      }
      writeText(writer_, x + (isBaseline ? -9 : 9), y + 4,
                isBaseline ? Literal("end") : Literal("start"),
                fmt::format("{}, {}/s", point.name, tickLabel(point.rate)), "label");
    }
  }

  Writer &writer_;
  const Roofline &roofline_;
  double ridge_ = 0;
  Scale x_, y_;
};

/// The same as a table, with the share of the roof that each point reaches.
Table pointTable(const Roofline &roofline) {
  Table table{"Points of the roofline",
              "narrow",
              {{roofline.unit}, {"for each byte", "n"}, {"a second", "n"}, {"of the roof", "n"}}};
  for (const RooflinePoint &point : roofline.points) {
    double roof = roofline.compute ? roofline.compute->perSecond : 0;
    if (roofline.memory && roofline.compute)
      roof = std::min(roof, point.intensity * roofline.memory->perSecond);
    else if (roofline.memory)
      roof = point.intensity * roofline.memory->perSecond;
    table.rows.push_back(
        {{{point.name},
          {tickLabel(point.intensity)},
          {tickLabel(point.rate)},
          {roof > 0 ? fmt::format("{:.1f}%", 100 * point.rate / roof) : "unknown"}}});
  }
  return table;
}

} // namespace

Section rooflineSection(const RunFacts &facts) {
  if (!facts.baseline)
    return {};
  Section section{"roofline", "Roofline"};
  const Roofline roofline = rooflineOf(facts.history);
  if (!roofline.points.empty()) {
    std::string caption;
    for (const auto &[name, ceiling] :
         {std::pair("DRAM", &roofline.memory), std::pair("work", &roofline.compute)})
      if (*ceiling)
        caption += fmt::format("Ceiling of {}: {}. ", name, (*ceiling)->source);
    const Figure figure{"", [roofline](Writer &writer) { RooflineChart(writer, roofline).draw(); }};
    section.add(
        Pair{{figure},
             {pointTable(roofline),
              Paragraph{caption + "A kernel below the slope waits for memory, one below the flat "
                                  "part for instructions; one far below both waits for something "
                                  "else.",
                        "small"}}});
  }
  if (roofline.missing.empty())
    return section;
  section.note(roofline.points.empty() ? "No point can be drawn. Missing:" : "Missing:");
  List list;
  for (const std::string &what : roofline.missing)
    list.items.push_back({what});
  section.add(std::move(list));
  return section;
}

} // namespace kopt
