// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/Statistics.h"
#include "driver/report/ci/Findings.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kopt {
namespace {

/// Escapes foreign text: one line without structure, links, mentions and markup.
std::string plain(const std::string &text) {
  std::string out;
  for (const char c : validUtf8(text)) {
    if (std::string_view("\\`*_{}[]()#+!|~$").find(c) != std::string_view::npos)
      out += '\\';
    if (c == '\n' || c == '\r' || c == '\t')
      out += ' ';
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '@')
      out += "&#64;"; // mentions nobody
    else
      out += c;
  }
  return replaceAll(replaceAll(std::move(out), "http://", "http&#58;//"), "https://",
                    "https&#58;//");
}

/// A name from the source as code, for a table cell or a list.
std::string code(const std::string &text) {
  std::string out = replaceAll(validUtf8(text), "`", "'");
  out = replaceAll(replaceAll(std::move(out), "\n", " "), "|", "\\|");
  return "`" + out + "`";
}

std::size_t countOf(const GateReport &report, GateVerdict verdict) {
  return std::size_t(std::ranges::count_if(report.kernels, [&](const GateKernel &kernel) {
    return kernel.verdict == verdict && !kernel.broken && kernel.change != KernelChange::Removed;
  }));
}

std::string shortCommit(const std::string &commit) { return commit.substr(0, 12); }

std::string changeInWords(const GateKernel &kernel) {
  switch (kernel.change) {
  case KernelChange::Renamed:
    return "was " + code(kernel.baseName);
  case KernelChange::Moved:
    return "from " + code(kernel.baseFile);
  case KernelChange::Signature:
    return kernel.baseName == kernel.kernel ? "other parameters" : "was " + code(kernel.baseName);
  default:
    return toString(kernel.change);
  }
}

std::string times(const GateKernel &kernel, bool isBase) {
  double sum = 0;
  for (const GateLaunch &launch : kernel.launches)
    sum += isBase ? launch.baseSeconds : launch.headSeconds;
  return kernel.launches.empty() ? "" : formatDuration(sum);
}

std::string verdictOf(const GateKernel &kernel) {
  if (kernel.broken)
    return "**fails**";
  if (kernel.verdict == GateVerdict::Slower)
    return "**slower**";
  return toString(kernel.verdict);
}

/// Alarms first, then by lost time.
std::vector<const GateKernel *> ranked(const GateReport &report) {
  std::vector<const GateKernel *> kernels;
  for (const GateKernel &kernel : report.kernels)
    kernels.push_back(&kernel);
  const auto group = [](const GateKernel &kernel) {
    constexpr std::array kOrder{GateVerdict::Slower, GateVerdict::Ambiguous, GateVerdict::Faster,
                                GateVerdict::NotMeasured, GateVerdict::Same};
    return kernel.broken ? -1 : int(std::ranges::find(kOrder, kernel.verdict) - kOrder.begin());
  };
  std::ranges::stable_sort(kernels, [&](const GateKernel *a, const GateKernel *b) {
    return group(*a) != group(*b) ? group(*a) < group(*b) : a->lostSeconds > b->lostSeconds;
  });
  return kernels;
}

/// Collects parts of the text up to a size limit.
class Text {
public:
  explicit Text(std::size_t limit) : limit_(limit) {}
  bool add(const std::string &part) {
    if (out_.size() + part.size() > limit_) {
      ++omitted_;
      return false;
    }
    out_ += part;
    return true;
  }
  std::string take() {
    if (omitted_ > 0)
      out_ += fmt::format("\n_{} more lines did not fit; the JSON output has all._\n", omitted_);
    return std::move(out_);
  }

private:
  std::size_t limit_, omitted_ = 0;
  std::string out_;
};

void addKernels(const GateReport &report, Text &text) {
  if (report.kernels.empty())
    return;
  text.add("| Kernel | Change | Base | Head | Speedup | Verdict |\n"
           "| --- | --- | ---: | ---: | --- | --- |\n");
  for (const GateKernel *kernel : ranked(report))
    text.add(fmt::format("| {} | {} | {} | {} | {} | {} |\n", code(kernel->kernel),
                         changeInWords(*kernel), times(*kernel, true), times(*kernel, false),
                         kernel->speedup ? plain(inWords(*kernel->speedup)) : "",
                         verdictOf(*kernel)));
  text.add("\n");
  for (const GateKernel *kernel : ranked(report)) {
    std::string line = fmt::format("- {} ({}): {}", code(kernel->kernel),
                                   code(placeOf(kernel->place)), plain(kernel->reason));
    if (kernel->isAlarm() && kernel->confirmed)
      line += "; confirmed in a fresh process";
    text.add(line + ".\n");
    for (const std::string &note : kernel->notes)
      text.add(fmt::format("  - {}\n", plain(note)));
    for (const GateLaunch &launch : kernel->launches)
      if (kernel->launches.size() > 1)
        text.add(fmt::format("  - {}: {} → {}, {}\n", code(launch.name),
                             formatDuration(launch.baseSeconds), formatDuration(launch.headSeconds),
                             plain(inWords(launch.speedup))));
  }
}

void addVariants(const GateReport &report, Text &text) {
  if (report.variants.empty())
    return;
  text.add("\n**Stale variants** (the build uses the originals; tune again with `kopt tune` and "
           "`kopt apply --mode header`)\n\n");
  for (const GateVariant &variant : report.variants)
    text.add(fmt::format("- {} ({}): {}{}\n", code(variant.kernel), code(placeOf(variant.place)),
                         plain(variant.what),
                         variant.isNew ? "" : "; it was stale before this change"));
}

void addProposals(const GateReport &report, Text &text) {
  if (report.proposals.empty())
    return;
  text.add("\n**Proposals** (each is a patch for `git am`)\n\n");
  for (const GateProposal &proposal : report.proposals)
    text.add(fmt::format("- {}: {}, {}, assurance {}: {}\n", code(proposal.kernel),
                         plain(proposal.title), plain(inWords(proposal.speedup)),
                         plain(proposal.assurance), code(proposal.patch)));
}

} // namespace

std::string gateMarker(const GateReport &report) {
  return fmt::format("<!-- kopt-ci: {} -->", slug(report.name, 80));
}

std::string headlineOf(const GateReport &report) {
  const std::size_t broken =
      std::size_t(std::ranges::count_if(report.kernels, &GateKernel::broken));
  std::vector<std::string> parts;
  if (broken > 0)
    parts.push_back(counted(broken, "kernel fails", "kernels fail"));
  if (const std::size_t slower = countOf(report, GateVerdict::Slower); slower > 0)
    parts.push_back(counted(slower, "kernel is slower", "kernels are slower"));
  if (const std::size_t stale =
          std::size_t(std::ranges::count_if(report.variants, &GateVariant::isNew));
      stale > 0)
    parts.push_back(counted(stale, "tuned variant became stale", "tuned variants became stale"));
  if (const std::size_t faster = countOf(report, GateVerdict::Faster); faster > 0)
    parts.push_back(counted(faster, "kernel is faster", "kernels are faster"));
  if (const std::size_t open = countOf(report, GateVerdict::Ambiguous); open > 0)
    parts.push_back(fmt::format("{} undecided", open));
  if (const std::size_t open = countOf(report, GateVerdict::NotMeasured); open > 0)
    parts.push_back(fmt::format("{} not measured", open));
  if (!report.proposals.empty())
    parts.push_back(counted(report.proposals.size(), "proposal", "proposals"));
  if (report.kernels.empty() && parts.empty())
    return "the change touches no kernel";
  return parts.empty() ? "no kernel became slower" : join(parts, ", ");
}

std::string gateMarkdown(const GateReport &report, std::size_t limit) {
  Text text(limit);
  text.add(gateMarker(report) + "\n");
  text.add(fmt::format("### kopt: {}\n\n", headlineOf(report)));
  text.add(fmt::format(
      "{} touched, {} not. Base `{}` ({}), head `{}`{}. {}\n\n",
      counted(report.kernels.size(), "kernel", "kernels"), report.unchanged,
      shortCommit(report.base), plain(report.baseRef), shortCommit(report.head),
      report.isDirty ? " with changes that are not committed" : "",
      report.isDryRun         ? "Dry run: nothing was measured."
      : report.device.empty() ? "Nothing had to be measured."
      : report.modelled
          ? fmt::format("Times are **modelled** for {}, not measured.", plain(report.device))
          : fmt::format("Measured on {}, both versions by turns in one process.",
                        plain(report.device))));
  addKernels(report, text);
  addVariants(report, text);
  addProposals(report, text);
  if (!report.notes.empty())
    text.add("\n");
  for (const std::string &note : report.notes)
    text.add(fmt::format("> {}\n>\n", plain(note)));
  return text.take();
}

} // namespace kopt
