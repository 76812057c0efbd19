// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/overlay/Lock.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
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

/// A value of the subset of JSON that a lock uses. Errors are exceptions, which parseLock() turns
/// into a problem.
struct Value {
  enum class Kind { Null, Bool, Number, Text, List, Object } kind = Kind::Null;
  bool flag = false;
  double number = 0;
  std::string text;
  std::vector<std::string> names; ///< of an object's `items`
  std::vector<Value> items;

  const Value *find(std::string_view name) const {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name)
        return &items[i];
    return nullptr;
  }
  const Value &at(const std::string &name, Kind wanted) const {
    const Value *value = find(name);
    if (!value || value->kind != wanted)
      throw std::runtime_error("'" + name + "' is missing or has the wrong type");
    return *value;
  }
  const std::string &textAt(const std::string &name) const { return at(name, Kind::Text).text; }
  std::string textOr(const std::string &name) const {
    const Value *value = find(name);
    return value && value->kind == Kind::Text ? value->text : std::string();
  }
  std::uint64_t countAt(const std::string &name) const {
    const double value = at(name, Kind::Number).number;
    if (!(value >= 0 && value < 9e15) || value != double(std::uint64_t(value)))
      throw std::runtime_error("'" + name + "' is not a whole number from 0 on");
    return std::uint64_t(value);
  }
};

class JsonReader {
public:
  explicit JsonReader(std::string_view text) : text_(text) {}
  Value read() {
    Value value = next(0);
    blanks();
    if (at_ != text_.size())
      fail("text behind the end");
    return value;
  }
  std::size_t at() const { return at_; }

private:
  [[noreturn]] static void fail(const char *what) { throw std::runtime_error(what); }
  void blanks() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  char peek() {
    blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void expect(char c) {
    if (peek() != c)
      fail("unexpected text");
    ++at_;
  }
  bool word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word)
      return false;
    at_ += word.size();
    return true;
  }

  Value next(int depth) {
    if (depth > 64)
      fail("nested too deeply");
    Value value;
    const char c = peek();
    if (c == '{' || c == '[') {
      const bool object = c == '{';
      value.kind = object ? Value::Kind::Object : Value::Kind::List;
      ++at_;
      for (bool first = true; peek() != (object ? '}' : ']'); first = false) {
        if (!first)
          expect(',');
        if (object) {
          if (peek() != '"')
            fail("a member without a name");
          value.names.push_back(string());
          expect(':');
        }
        value.items.push_back(next(depth + 1));
      }
      ++at_;
    } else if (c == '"') {
      value.kind = Value::Kind::Text;
      value.text = string();
    } else if (word("true") || word("false")) {
      value.kind = Value::Kind::Bool;
      value.flag = text_[at_ - 2] == 'u';
    } else if (!word("null")) {
      value.kind = Value::Kind::Number;
      const std::size_t end =
          std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
      const std::string digits(text_.substr(at_, end - at_));
      char *rest = nullptr;
      value.number = std::strtod(digits.c_str(), &rest);
      if (digits.empty() || *rest != '\0')
        fail("unexpected text");
      at_ = end;
    }
    return value;
  }

  unsigned hexDigits() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const std::size_t digit =
          at_ < text_.size() ? std::string_view("0123456789abcdef0123456789ABCDEF").find(text_[at_])
                             : std::string_view::npos;
      if (digit == std::string_view::npos)
        fail("a broken \\u escape");
      code = code * 16 + unsigned(digit % 16);
    }
    return code;
  }

  static void addUtf8(std::string &made, unsigned code) {
    if (code < 0x80) {
      made += char(code);
    } else if (code < 0x800) {
      made += char(0xc0 | (code >> 6));
      made += char(0x80 | (code & 63));
    } else if (code < 0x10000) {
      made += char(0xe0 | (code >> 12));
      made += char(0x80 | ((code >> 6) & 63));
      made += char(0x80 | (code & 63));
    } else {
      made += char(0xf0 | (code >> 18));
      made += char(0x80 | ((code >> 12) & 63));
      made += char(0x80 | ((code >> 6) & 63));
      made += char(0x80 | (code & 63));
    }
  }

  std::string string() {
    std::string made;
    for (++at_; at_ < text_.size() && text_[at_] != '"';) {
      const char c = text_[at_++];
      if (c != '\\') {
        made += c;
        continue;
      }
      const char escape = at_ < text_.size() ? text_[at_++] : '\0';
      const std::size_t known = std::string_view("\"\\/bfnrt").find(escape);
      if (escape == 'u') {
        unsigned code = hexDigits();
        if (code >= 0xd800 && code < 0xdc00 && word("\\u"))
          code = 0x10000 + ((code - 0xd800) << 10) + (hexDigits() - 0xdc00);
        addUtf8(made, code);
      } else if (known == std::string_view::npos || escape == '\0') {
        fail("an unknown escape in a string");
      } else {
        made += "\"\\/\b\f\n\r\t"[known];
      }
    }
    if (at_ >= text_.size())
      fail("a string without an end");
    ++at_;
    return made;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Entry entryOf(const Value &value) {
  Entry entry;
  entry.kernel = value.textAt("kernel");
  entry.symbol = value.textAt("symbol");
  entry.place = value.textOr("place");
  entry.title = value.textOr("title");
  entry.state = value.textOr("state");
  entry.variants = value.textOr("variants");
  entry.run = value.textOr("run");
  entry.regressed = value.textOr("regressed");
  entry.deviceOnly = value.at("device_only", Value::Kind::Bool).flag;
  for (const Value &arch : value.at("archs", Value::Kind::List).items)
    entry.archs.push_back(arch.text);
  if (const Value *gain = value.find("gain")) {
    if (const Value *speedup = gain->find("speedup"))
      entry.speedup = speedup->number;
    if (const Value *modelled = gain->find("modelled"))
      entry.modelled = modelled->flag;
  }
  for (const Value &item : value.at("uses", Value::Kind::List).items) {
    Use use{item.textAt("file"), item.countAt("begin"),
            item.countAt("end"), unsigned(item.countAt("line")),
            item.textOr("name"), item.textAt("hash")};
    if (use.end < use.begin)
      throw std::runtime_error("a range ends before it begins");
    entry.uses.push_back(std::move(use));
  }
  for (const Value &item : value.at("edits", Value::Kind::List).items) {
    Edit edit{std::size_t(item.countAt("use")),
              item.countAt("begin"),
              item.countAt("end"),
              item.textOr("text"),
              item.textOr("section"),
              item.textAt("hash")};
    if (edit.use >= entry.uses.size() || edit.end < edit.begin ||
        edit.begin < entry.uses[edit.use].begin || edit.end > entry.uses[edit.use].end)
      throw std::runtime_error("an edit lies outside of the text that it belongs to");
    entry.edits.push_back(std::move(edit));
  }
  return entry;
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

std::optional<Lock> parseLock(std::string_view text, std::string &problem) {
  JsonReader reader(text);
  bool read = false;
  try {
    const Value document = reader.read();
    read = true;
    if (document.countAt("schema_version") != 1)
      throw std::runtime_error(
          "it was written by a newer kopt, with another schema version than 1");
    Lock lock;
    for (const Value &value : document.at("entries", Value::Kind::List).items)
      lock.entries.push_back(entryOf(value));
    return lock;
  } catch (const std::runtime_error &error) {
    problem = error.what();
    if (!read)
      problem += " in line " + std::to_string(lineAt(text, reader.at()));
    return std::nullopt;
  }
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
