// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/program/ProgramOutput.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

constexpr double kRounding = 1e-4;

/// A part of a line: a number, or the text between two numbers.
struct Word {
  std::string text;
  bool isNumber = false, hasFraction = false;
};

std::vector<Word> wordsOf(const std::string &line) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < line.size();) {
    const char *begin = line.c_str() + i;
    // A digit within a name is part of the name.
    const bool inName =
        i > 0 && (std::isalnum(static_cast<unsigned char>(line[i - 1])) != 0 || line[i - 1] == '_');
    const bool starts =
        std::isdigit(static_cast<unsigned char>(line[i])) != 0 ||
        ((line[i] == '-' || line[i] == '+' || line[i] == '.') && i + 1 < line.size() &&
         (std::isdigit(static_cast<unsigned char>(line[i + 1])) != 0 || line[i + 1] == '.'));
    char *end = nullptr;
    if (starts && !inName && std::isfinite(std::strtod(begin, &end)) && end != begin) {
      std::string text(begin, std::size_t(end - begin));
      const bool fraction = text.find_first_of(".eE") != std::string::npos;
      words.push_back({std::move(text), true, fraction});
      i += std::size_t(end - begin);
      continue;
    }
    if (words.empty() || words.back().isNumber)
      words.push_back({});
    words.back().text += line[i++];
  }
  return words;
}

/// The alphabetic words of a line in lower case, without words of times and rates, and without the
/// number inf, a rate over a time that was rounded to 0. `isTime` becomes true if the line
/// had words of times or rates.
std::vector<std::string> lettersOf(const std::string &line, bool &isTime) {
  static const std::set<std::string> kTimes = {
      "time",         "times",       "timing",      "elapsed",     "sec",      "secs",
      "second",       "seconds",     "s",           "ms",          "msec",     "us",
      "usec",         "ns",          "nsec",        "millisecond", "duration", "milliseconds",
      "microseconds", "nanoseconds", "microsecond", "nanosecond",  "latency",  "bandwidth",
      "throughput",   "kb",          "mb",          "gb",          "gib",      "gflops",
      "gflop",        "tflops",      "tflop",       "mflops",      "flops",    "fps",
      "speedup",      "rate",        "perf",        "performance", "cycles",   "hz",
      "runtime"};
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const auto c = static_cast<unsigned char>(i < line.size() ? line[i] : ' ');
    if (std::isalpha(c) != 0) {
      word += char(std::tolower(c));
      continue;
    }
    if (kTimes.contains(word))
      isTime = true;
    else if (!word.empty() && word != "inf")
      words.push_back(word);
    word.clear();
  }
  return words;
}

bool sameWord(const Word &a, const Word &b) {
  if (a.text == b.text)
    return true;
  if (!a.isNumber || !b.isNumber || !(a.hasFraction || b.hasFraction))
    return false;
  const double x = std::strtod(a.text.c_str(), nullptr), y = std::strtod(b.text.c_str(), nullptr);
  return std::abs(x - y) <= kRounding * std::max(std::abs(x), std::abs(y));
}

bool sameLine(const std::string &a, const std::string &b, bool isTime) {
  bool ignored = false;
  if (isTime) // "12 ms" may become "980 us"
    return lettersOf(a, ignored) == lettersOf(b, ignored);
  const std::vector<Word> x = wordsOf(a), y = wordsOf(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](const Word &v, const Word &w) {
    // The widths of numbers shift the columns of a table, so ignore blanks.
    return sameWord(v, w) || trim(v.text) == trim(w.text);
  });
}

std::string shown(const std::string &line) {
  return line.size() <= 120 ? line : line.substr(0, 117) + "...";
}

} // namespace

OutputComparison compareOutputs(const std::vector<std::string> &oldRuns,
                                const std::string &newRun) {
  std::vector<std::vector<std::string>> old;
  for (const std::string &run : oldRuns)
    old.push_back(split(run, '\n'));
  OutputComparison result;
  result.lines = old.front().size() - old.front().back().empty();
  for (const auto &run : old)
    if (run.size() != old.front().size()) {
      result.verdict = OutputComparison::Verdict::NotComparable;
      result.text = fmt::format("not compared: the program as it is prints {} lines in one run and "
                                "{} in another",
                                old.front().size(), run.size());
      return result;
    }
  const std::vector<std::string> lines = split(newRun, '\n');
  if (lines.size() != old.front().size()) {
    result.verdict = OutputComparison::Verdict::Different;
    result.text = fmt::format("the patched program prints {} lines and the program as it is {}",
                              lines.size(), old.front().size());
    return result;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string &line = old.front()[i];
    const bool varies =
        std::any_of(old.begin(), old.end(), [&](const auto &run) { return run[i] != line; });
    bool isTime = false;
    lettersOf(line, isTime);
    result.ignored += varies || isTime;
    if (varies || sameLine(line, lines[i], isTime))
      continue;
    result.verdict = OutputComparison::Verdict::Different;
    result.text = fmt::format("line {} of the output was '{}' and is '{}'", i + 1, shown(line),
                              shown(lines[i]));
    return result;
  }
  result.text = fmt::format("the same in {} lines{}", result.lines - result.ignored,
                            result.ignored == 0 ? std::string()
                                                : fmt::format("; {} with times, or that vary from "
                                                              "run to run, were not compared",
                                                              result.ignored));
  return result;
}

} // namespace kopt
