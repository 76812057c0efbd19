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
    axes_.x = Scale::logarithmic(lowX / 4, highX * 8, axes_.left, axes_.end());
    axes_.y = Scale::logarithmic(lowY / 4, highY * 2, axes_.floor(), axes_.top);
  }

  void draw() {
    const auto svg = axes_.open(writer_, "Roofline: " + roofline_.unit + " a second over " +
                                             roofline_.unit + " for each byte of DRAM");
    axes_.draw(writer_, roofline_.unit + " for each byte of DRAM traffic");
    writeText(writer_, axes_.left, axes_.top - 3, "start", roofline_.unit + " a second");
    roofs();
    points();
  }

private:
  void roofs() {
    const double right = roofline_.compute && roofline_.memory ? ridge_ : axes_.x.high();
    if (roofline_.memory) {
      const double bandwidth = roofline_.memory->perSecond;
      // Do not draw the part below the chart.
      const double left = std::max(axes_.x.low(), axes_.y.low() / bandwidth);
      const double end = std::min(right, axes_.y.high() / bandwidth);
      writeLine(writer_, "roof", axes_.x.at(left), axes_.y.at(left * bandwidth), axes_.x.at(end),
                axes_.y.at(end * bandwidth));
      slopeLabel(axes_.x.at(left), axes_.y.at(left * bandwidth), axes_.x.at(end),
                 axes_.y.at(end * bandwidth), fmt::format("DRAM {}B/s", tickLabel(bandwidth)));
    }
    if (roofline_.compute) {
      const double rate = roofline_.compute->perSecond;
      const double left = roofline_.memory ? ridge_ : axes_.x.low();
      writeLine(writer_, "roof", axes_.x.at(left), axes_.y.at(rate), axes_.end(), axes_.y.at(rate));
      writeText(writer_, axes_.end(), axes_.y.at(rate) - 5, "end",
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
      const double x = axes_.x.at(point.intensity), y = axes_.y.at(point.rate);
      writeLine(writer_, "extent", x, y, x, axes_.floor());
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
  Axes axes_{620, 300, 54, 16, 14, 40};
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
