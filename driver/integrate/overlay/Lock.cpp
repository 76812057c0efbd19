// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/overlay/Lock.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace kopt::overlay {
namespace {

constexpr std::uint64_t kPrime = (std::uint64_t(1) << 61) - 1;
constexpr std::uint64_t kBases[] = {1234567890123456789ULL % kPrime,
                                    987654321987654321ULL % kPrime};

std::uint64_t reduce(std::uint64_t value) {
  value = (value & kPrime) + (value >> 61);
  return value >= kPrime ? value - kPrime : value;
}

/// a * b modulo 2^61-1 without 128-bit numbers, which not every compiler has.
std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t aHigh = a >> 31, aLow = a & 0x7fffffff, bHigh = b >> 31,
                      bLow = b & 0x7fffffff;
  const std::uint64_t middle = aLow * bHigh + aHigh * bLow;
  return reduce(reduce(aHigh * bHigh * 2 + (middle >> 30) + ((middle & 0x3fffffff) << 31)) +
                reduce(aLow * bLow));
}

std::uint64_t polynomial(std::string_view bytes, std::uint64_t base) {
  std::uint64_t hash = 0;
  for (const char byte : bytes)
    hash = reduce(multiply(hash, base) + std::uint64_t(static_cast<unsigned char>(byte)) + 1);
  return hash;
}

std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4)
    text[i] = "0123456789abcdef"[value & 15];
  return text;
}

[[noreturn]] void fail(const std::string &what) { throw std::runtime_error(what); }

constexpr std::string_view kHead = "kopt-lock 1";

/// The facts of an entry that are one value, in the order in which they are written.
template <class T> struct Fact {
  const char *word;
  T Entry::*member;
};
constexpr Fact<std::string> kTexts[] = {{"symbol", &Entry::symbol},
                                        {"place", &Entry::place},
                                        {"title", &Entry::title},
                                        {"state", &Entry::state},
                                        {"reason", &Entry::reason},
                                        {"variants", &Entry::variants},
                                        {"device", &Entry::device},
                                        {"assurance", &Entry::assurance},
                                        {"run", &Entry::run},
                                        {"session", &Entry::session},
                                        {"tuned-utc", &Entry::tunedUtc},
                                        {"kopt", &Entry::kopt},
                                        {"regressed", &Entry::regressed}};
constexpr Fact<std::vector<std::string>> kLists[] = {
    {"arch", &Entry::archs}, {"gap", &Entry::gaps}, {"option", &Entry::options}};
constexpr Fact<bool> kFlags[] = {{"device-only", &Entry::deviceOnly},
                                 {"in-program", &Entry::inProgram},
                                 {"modelled", &Entry::modelled}};
constexpr Fact<double> kNumbers[] = {
    {"speedup", &Entry::speedup}, {"low", &Entry::low}, {"high", &Entry::high}};

std::string quoted(const std::string &text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '\n' || c == '\r')
      made += '\\';
    made += c == '\n' ? 'n' : c == '\r' ? 'r' : c;
  }
  return made + "\"";
}

/// The words of a line, without the quotes of quoted ones.
std::vector<std::string> wordsOf(const std::string &line) {
  std::vector<std::string> words;
  constexpr const char *kBlanks = " \t\r";
  std::size_t at = line.find_first_not_of(kBlanks);
  while (at != std::string::npos) {
    std::string &word = words.emplace_back();
    if (line[at] != '"') {
      const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
      word = line.substr(at, end - at);
      at = end;
    } else {
      for (++at; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\' && ++at < line.size() && (line[at] == 'n' || line[at] == 'r'))
          word += line[at] == 'n' ? '\n' : '\r';
        else if (at < line.size())
          word += line[at];
      }
      if (at++ >= line.size())
        fail("a text without its closing quote");
    }
    at = line.find_first_not_of(kBlanks, at);
  }
  return words;
}

std::uint64_t countOf(const std::string &word) {
  if (word.empty() || word.size() > 15 || word.find_first_not_of("0123456789") != std::string::npos)
    fail("'" + word + "' is no number");
  return std::stoull(word);
}

double realOf(const std::string &word) {
  char *end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0')
    fail("'" + word + "' is no number");
  return value;
}

Use useOf(const std::vector<std::string> &words) {
  Use use{words[1], countOf(words[2]), countOf(words[3]), unsigned(countOf(words[4])),
          words[5], words[6]};
  if (use.end < use.begin)
    fail("a range ends before it begins");
  return use;
}

Edit editOf(const std::vector<std::string> &words, const std::vector<Use> &uses) {
  Edit edit{countOf(words[1]), countOf(words[2]), countOf(words[3]), words[4], {}, {}, {}};
  if (words.size() == 6) {
    edit.section = words[5];
  } else {
    edit.was = words[5];
    edit.text = words[6];
  }
  if (edit.use >= uses.size() || edit.end < edit.begin || edit.begin < uses[edit.use].begin ||
      edit.end > uses[edit.use].end)
    fail("an edit lies outside of the text that it belongs to");
  return edit;
}

/// Reads a line behind that of the kernel.
void readFact(const std::vector<std::string> &words, Entry &entry) {
  const std::string &word = words[0];
  const auto isIt = [&](const auto &fact, std::size_t count) {
    return word == fact.word && words.size() == count;
  };
  for (const auto &fact : kTexts)
    if (isIt(fact, 2))
      return void(entry.*fact.member = words[1]);
  for (const auto &fact : kLists)
    if (isIt(fact, 2))
      return (entry.*fact.member).push_back(words[1]);
  for (const auto &fact : kFlags)
    if (isIt(fact, 1))
      return void(entry.*fact.member = true);
  for (const auto &fact : kNumbers)
    if (isIt(fact, 2))
      return void(entry.*fact.member = realOf(words[1]));
  if (word == "use" && words.size() == 7)
    entry.uses.push_back(useOf(words));
  else if (word == "edit" && (words.size() == 6 || words.size() == 7))
    entry.edits.push_back(editOf(words, entry.uses));
  else
    fail("'" + word + "' with " + std::to_string(words.size() - 1) +
         " values is no fact of a lock");
}

} // namespace

std::string contentHash(std::string_view bytes) {
  return hex(polynomial(bytes, kBases[0])) + hex(polynomial(bytes, kBases[1]));
}

std::vector<std::size_t> findByHash(std::string_view text, std::size_t length,
                                    const std::string &hash) {
  std::vector<std::size_t> found;
  if (length == 0 || length > text.size() || hash.size() != 32)
    return found;
  const std::uint64_t base = kBases[0];
  std::uint64_t power = 1; // factor of the byte that leaves the window
  for (std::size_t i = 1; i < length; ++i)
    power = multiply(power, base);
  const auto value = [&](std::size_t i) {
    return std::uint64_t(static_cast<unsigned char>(text[i])) + 1;
  };
  const std::uint64_t wanted = std::strtoull(hash.substr(0, 16).c_str(), nullptr, 16);
  std::uint64_t rolling = polynomial(text.substr(0, length), base);
  for (std::size_t begin = 0;; ++begin) {
    if (rolling == wanted && contentHash(text.substr(begin, length)) == hash)
      found.push_back(begin);
    if (begin + length >= text.size())
      return found;
    rolling = reduce(rolling + kPrime - multiply(value(begin), power));
    rolling = reduce(multiply(rolling, base) + value(begin + length));
  }
}

unsigned lineAt(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  return unsigned(std::count(before.begin(), before.end(), '\n')) + 1;
}

std::vector<std::string> Entry::files(bool editedOnly) const {
  std::set<std::string> all;
  for (const Edit &edit : edits)
    all.insert(uses[edit.use].file);
  if (!editedOnly)
    for (const Use &use : uses)
      all.insert(use.file);
  return {all.begin(), all.end()};
}

std::optional<Lock> parseLock(std::string_view text, Change &problem) {
  Lock lock;
  std::istringstream stream{std::string(text)};
  std::string line;
  for (problem.line = 1; std::getline(stream, line) || problem.line == 1; ++problem.line) {
    try {
      const std::vector<std::string> words = wordsOf(line);
      if (problem.line == 1 && words != wordsOf(std::string(kHead)))
        fail("it does not begin with '" + std::string(kHead) +
             "', so another version of kopt wrote it");
      if (problem.line == 1 || words.empty() || words[0][0] == '#')
        continue;
      if (words[0] == "kernel" && words.size() == 2)
        lock.entries.emplace_back().kernel = words[1];
      else if (lock.entries.empty())
        fail("a fact of no kernel");
      else
        readFact(words, lock.entries.back());
    } catch (const std::runtime_error &error) {
      problem.what = error.what();
      return std::nullopt;
    }
  }
  return lock;
}

std::string lockText(const Lock &lock) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(9);
  text << kHead
       << "\n# Written by kopt; belongs into version control. docs/header-mode.md explains it.\n";
  for (const Entry &entry : lock.entries) {
    text << "\nkernel " << quoted(entry.kernel) << '\n';
    for (const auto &[word, member] : kTexts)
      if (!(entry.*member).empty())
        text << "  " << word << ' ' << quoted(entry.*member) << '\n';
    for (const auto &[word, member] : kLists)
      for (const std::string &item : entry.*member)
        text << "  " << word << ' ' << quoted(item) << '\n';
    for (const auto &[word, member] : kFlags)
      if (entry.*member)
        text << "  " << word << '\n';
    for (const auto &[word, member] : kNumbers)
      text << "  " << word << ' ' << entry.*member << '\n';
    for (const Use &use : entry.uses)
      text << "  use " << quoted(use.file) << ' ' << use.begin << ' ' << use.end << ' ' << use.line
           << ' ' << quoted(use.name) << ' ' << use.hash << '\n';
    for (const Edit &edit : entry.edits)
      text << "  edit " << edit.use << ' ' << edit.begin << ' ' << edit.end << ' ' << edit.hash
           << ' '
           << (edit.section.empty() ? quoted(edit.was) + ' ' + quoted(edit.text) : edit.section)
           << '\n';
  }
  return text.str();
}

std::string Sources::resolve(const std::string &file) const {
  namespace fs = std::filesystem;
  constexpr std::string_view kBuild = "build:";
  if (file.compare(0, kBuild.size(), kBuild) == 0)
    return (fs::path(build_) / file.substr(kBuild.size())).lexically_normal().string();
  return (fs::path(project_) / file).lexically_normal().string();
}

const std::string *Sources::read(const std::string &path) {
  auto [known, isNew] = read_.try_emplace(path);
  if (isNew) {
    std::error_code ignored;
    std::ifstream stream(path, std::ios::binary);
    if (stream && std::filesystem::is_regular_file(path, ignored))
      known->second.emplace(std::istreambuf_iterator<char>(stream),
                            std::istreambuf_iterator<char>());
  }
  return known->second ? &*known->second : nullptr;
}

Located locate(const Entry &entry, Sources &sources) {
  Located located;
  located.begins.resize(entry.uses.size());
  std::vector<bool> known(entry.uses.size());
  std::vector<std::vector<std::size_t>> places(entry.uses.size());
  const auto add = [&](const Use &use, unsigned line, const std::string &what) {
    located.changes.push_back({sources.resolve(use.file), line, what});
  };
  for (std::size_t i = 0; i < entry.uses.size(); ++i) {
    const Use &use = entry.uses[i];
    const std::string *text = sources.read(sources.resolve(use.file));
    if (!text) {
      add(use, 0, "the file is missing");
      return located;
    }
    const std::size_t length = use.end - use.begin;
    if (use.name == kWholeFile && text->size() != length) {
      add(use, 1, use.name + " changed");
      return located;
    }
    if (use.end <= text->size() &&
        contentHash(std::string_view(*text).substr(use.begin, length)) == use.hash) {
      // It did not move. A second copy elsewhere in the file does not matter.
      located.begins[i] = use.begin;
      known[i] = true;
      continue;
    }
    places[i] = findByHash(*text, length, use.hash);
    if (places[i].size() == 1) {
      located.begins[i] = places[i].front();
      known[i] = true;
    }
  }
  // The distance by which the nearest known text of the same file moved.
  const auto shiftAt = [&](std::size_t index) {
    std::int64_t shift = 0;
    std::uint64_t nearest = ~std::uint64_t(0);
    for (std::size_t i = 0; i < entry.uses.size(); ++i) {
      const Use &use = entry.uses[i];
      if (!known[i] || use.file != entry.uses[index].file)
        continue;
      const std::uint64_t far = use.begin > entry.uses[index].begin
                                    ? use.begin - entry.uses[index].begin
                                    : entry.uses[index].begin - use.begin;
      if (far < nearest) {
        nearest = far;
        shift = std::int64_t(located.begins[i]) - std::int64_t(use.begin);
      }
    }
    return shift;
  };
  const std::vector<bool> unambiguous = known;
  for (std::size_t i = 0; i < entry.uses.size(); ++i) {
    if (unambiguous[i])
      continue;
    const Use &use = entry.uses[i];
    const std::int64_t expected = std::int64_t(use.begin) + shiftAt(i);
    if (expected >= 0 &&
        std::count(places[i].begin(), places[i].end(), std::size_t(expected)) == 1) {
      located.begins[i] = std::uint64_t(expected);
      known[i] = true;
      continue;
    }
    const std::string &text = *sources.read(sources.resolve(use.file));
    const std::size_t near = std::size_t(std::max<std::int64_t>(expected, 0));
    add(use, near < text.size() ? lineAt(text, near) : use.line,
        (use.name.empty() ? std::string("the text") : use.name) +
            (places[i].size() > 1 ? " moved and is there more than once" : " changed"));
  }
  return located;
}

std::string sectionBegin(const std::string &name) { return "//! text " + name + "\n"; }

std::optional<NewText> newTextOf(const Entry &entry, const Edit &edit,
                                 const std::string &lockFolder, Sources &sources, Change &change) {
  NewText made;
  made.text = edit.text;
  if (!edit.section.empty()) {
    made.file = lockFolder + "/" + entry.variants;
    const std::string *all = sources.read(made.file);
    const std::string marker = sectionBegin(edit.section);
    const std::size_t begin = all ? all->find(marker) : std::string::npos;
    const std::size_t end = begin == std::string::npos
                                ? begin
                                : all->find(std::string("\n") + std::string(kSectionEnd), begin);
    if (end == std::string::npos) {
      change = {made.file, 0,
                all ? "the text '" + edit.section + "' of the variant is missing"
                    : "the file with the variant is missing"};
      return std::nullopt;
    }
    made.line = lineAt(*all, begin) + 1;
    const std::size_t from = begin + marker.size();
    made.text = end < from ? std::string() : all->substr(from, end - from);
  }
  if (contentHash(made.text) == edit.hash)
    return made;
  change = {made.file.empty() ? lockFolder + "/kopt.lock" : made.file, made.line,
            "the variant was changed by hand and is not what was measured"};
  return std::nullopt;
}

} // namespace kopt::overlay
