// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/ci/TouchedKernels.h"

#include "driver/integrate/ci/BaseCommands.h"
#include "driver/source/KernelNames.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

bool isWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Reduces C++ text to the tokens that the compiler sees.
class CodeScanner {
public:
  explicit CodeScanner(const std::string &text) : text_(text) {}

  std::string scan() {
    while (at_ < text_.size())
      step();
    return std::move(out_);
  }

private:
  void step() {
    const char c = text_[at_];
    if (text_.compare(at_, 2, "//") == 0) {
      skipLineComment();
    } else if (text_.compare(at_, 2, "/*") == 0) {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == text_.npos ? text_.size() : end + 2;
      isSpaced_ = true;
    } else if (c == '\\' && text_.compare(at_, 2, "\\\n") == 0) {
      at_ += 2;
      isSpaced_ = true;
    } else if (c == '\n') {
      endLine();
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
      isSpaced_ = true;
    } else if (c == '"' || c == '\'') {
      literal(c);
    } else if (isWordByte(c)) {
      word();
    } else {
      isDirective_ |= c == '#' && isLineStart_;
      put(std::string(1, c));
      ++at_;
    }
  }

  void skipLineComment() {
    while (at_ < text_.size() && text_[at_] != '\n')
      at_ += text_.compare(at_, 2, "\\\n") == 0 ? 2 : 1;
    isSpaced_ = true;
  }

  void endLine() {
    ++at_;
    if (isDirective_)
      out_ += '\n';
    isSpaced_ = !isDirective_;
    isDirective_ = false;
    isLineStart_ = true;
  }

  void word() {
    const std::size_t begin = at_;
    // A quote within a number separates its digits.
    while (at_ < text_.size() &&
           (isWordByte(text_[at_]) ||
            (text_[at_] == '\'' && std::isdigit(static_cast<unsigned char>(text_[begin])))))
      ++at_;
    const std::string found = text_.substr(begin, at_ - begin);
    put(found);
    if (found.ends_with("R") && at_ < text_.size() && text_[at_] == '"')
      rawLiteral();
  }

  void rawLiteral() {
    const std::size_t open = text_.find('(', at_);
    const std::string close =
        open == text_.npos ? "" : ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    const std::size_t end = close.empty() ? text_.npos : text_.find(close, open);
    const std::size_t after = end == text_.npos ? text_.size() : end + close.size();
    out_ += text_.substr(at_, after - at_);
    at_ = after;
  }

  void literal(char quote) {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    put(text_.substr(begin, at_ - begin));
  }

  /// Appends a token. Keeps a space between two words, and between two operators that could combine
  /// into another one.
  void put(const std::string &token) {
    const bool isWord = isWordByte(token.front());
    if (isSpaced_ && !out_.empty() && out_.back() != '\n' && isWord == isWordByte(out_.back()))
      out_ += ' ';
    out_ += token;
    isSpaced_ = false;
    isLineStart_ = false;
  }

  const std::string &text_;
  std::string out_;
  std::size_t at_ = 0;
  bool isSpaced_ = false, isDirective_ = false, isLineStart_ = true;
};

/// Everything that identifies a kernel.
struct Content {
  KernelInstance instance;
  std::string file;      ///< path under which both versions know it
  std::string slice;     ///< hash
  std::string anonymous; ///< hash of the slice with the kernel's name removed
  std::string launches;
  bool isTaken = false;

  const std::string &symbol() const { return instance.specialization->symbol; }
  const std::string &name() const { return instance.kernel->name; }
};

/// The last part of a qualified name.
std::string plainName(const std::string &name) {
  const std::size_t colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

std::string withoutName(const std::string &code, const std::string &name) {
  std::string out;
  for (std::size_t at = 0; at < code.size();) {
    if (!isWordByte(code[at])) {
      out += code[at++];
      continue;
    }
    const std::size_t begin = at;
    while (at < code.size() && isWordByte(code[at]))
      ++at;
    const std::string word = code.substr(begin, at - begin);
    out += word == name ? "@" : word;
  }
  return out;
}

std::string launchesOf(const KernelSpec &kernel, const Specialization &specialization) {
  std::set<std::string> sites;
  for (const LaunchSite &site : kernel.launches)
    if (site.symbol == specialization.symbol)
      sites.insert(fmt::format("{} | {} | {}", join({site.grid.begin(), site.grid.end()}, ","),
                               join({site.block.begin(), site.block.end()}, ","),
                               site.sharedBytes));
  for (const NamedConstant &constant : kernel.constants)
    if (constant.usedByLaunch)
      sites.insert(fmt::format("{}={}", constant.name, constant.value));
  return join({sites.begin(), sites.end()}, "\n");
}

/// Flags, which differ where a file of options does, and the files that the slice is compiled with,
/// as far as the other version has them. Commands of the base name no files of options.
std::string surroundings(const KernelSpec &kernel, const ProjectVersion &version,
                         const std::set<std::string> &ofOther) {
  std::string code;
  for (const std::string &flag : kernel.compileFlags)
    if (flag.starts_with('-') && !namesPath(flag))
      code += flag + "\n";
  for (const auto &[file, hash] : kernel.projectFiles)
    if (const std::string name = version.name(file); ofOther.contains(name))
      code += name + codeOf(readFile(file).value_or(hash)) + "\n";
  return code;
}

std::set<std::string> projectFiles(const ProjectVersion &version) {
  std::set<std::string> names;
  for (const KernelSpec &kernel : version.extraction.kernels)
    for (const auto &[file, hash] : kernel.projectFiles)
      names.insert(version.name(file));
  return names;
}

Result<Content> contentOf(const KernelInstance &instance, const ProjectVersion &version,
                          const std::set<std::string> &ofOther) {
  const auto &[kernel, specialization] = instance;
  Content content;
  content.instance = instance;
  content.file = version.name(kernel->file);
  content.launches = launchesOf(*kernel, *specialization);
  std::string code = surroundings(*kernel, version, ofOther);
  if (specialization->slice.empty()) { // no slice could be made: use its file
    KOPT_TRY(const std::string text, readFile(kernel->file));
    code += codeOf(text);
  } else {
    KOPT_TRY(const std::string text, readFile(specialization->slice));
    for (const SliceChunk &chunk : specialization->chunks) {
      if (chunk.role == ChunkRole::Instantiation || !chunk.needed || chunk.sliceEnd > text.size())
        continue;
      code += codeOf(text.substr(chunk.sliceBegin, chunk.sliceEnd - chunk.sliceBegin)) + "\n";
    }
  }
  content.slice = hashHex(code);
  content.anonymous = hashHex(withoutName(code, plainName(kernel->name)));
  return content;
}

Result<std::vector<Content>> contentsOf(const ProjectVersion &version,
                                        const std::set<std::string> &ofOther) {
  std::vector<Content> contents;
  for (const KernelInstance &instance : instancesIn(version.extraction)) {
    if (!instance.specialization || !instance.kernel->defined)
      continue;
    KOPT_TRY(Content content, contentOf(instance, version, ofOther));
    contents.push_back(std::move(content));
  }
  return contents;
}

bool sameParameters(const Specialization &a, const Specialization &b) {
  return std::ranges::equal(a.params, b.params, {}, &KernelParam::type, &KernelParam::type);
}

KernelChange changeOf(const Content &base, const Content &head) {
  const Specialization &before = *base.instance.specialization,
                       &now = *head.instance.specialization;
  if (base.name() != head.name())
    return KernelChange::Renamed;
  if (!sameParameters(before, now) ||
      (before.expression != now.expression && !isSameKernel(before.symbol, now.symbol)))
    return KernelChange::Signature;
  if (base.slice == head.slice && base.launches == head.launches)
    return KernelChange::Moved;
  return KernelChange::Modified;
}

/// Pairs the kernels of both versions.
class Matcher {
public:
  Matcher(std::vector<Content> base, std::vector<Content> head)
      : base_(std::move(base)), head_(std::move(head)), partner_(head_.size()) {}

  TouchedKernels match() {
    const auto sameFile = [](const Content &a, const Content &b) { return a.file == b.file; };
    const auto sameSymbol = [](const Content &a, const Content &b) {
      return a.symbol() == b.symbol() || isSameKernel(a.symbol(), b.symbol());
    };
    const auto sameName = [](const Content &a, const Content &b) { return a.name() == b.name(); };
    const auto sameExpression = [&](const Content &a, const Content &b) {
      return sameName(a, b) &&
             a.instance.specialization->expression == b.instance.specialization->expression;
    };
    const auto sameText = [](const Content &a, const Content &b) {
      return a.anonymous == b.anonymous &&
             sameParameters(*a.instance.specialization, *b.instance.specialization);
    };
    pair([&](const Content &a, const Content &b) { return sameSymbol(a, b) && sameFile(a, b); });
    pair(
        [&](const Content &a, const Content &b) { return sameSymbol(a, b) && a.slice == b.slice; });
    pair(sameSymbol);
    pair(
        [&](const Content &a, const Content &b) { return sameExpression(a, b) && sameFile(a, b); });
    pair(sameExpression);
    pair([&](const Content &a, const Content &b) { return sameName(a, b) && sameFile(a, b); },
         true);
    pair(sameName, true);
    pair(sameText);
    return result();
  }

private:
  /// Pairs each unpaired kernel of the head with the first unpaired one of the base for which
  /// `same` is true. `unambiguous`: only if each has exactly one possible partner.
  template <class Same> void pair(Same same, bool unambiguous = false) {
    for (std::size_t h = 0; h < head_.size(); ++h) {
      if (head_[h].isTaken)
        continue;
      std::vector<std::size_t> found;
      for (std::size_t b = 0; b < base_.size(); ++b)
        if (!base_[b].isTaken && same(base_[b], head_[h]))
          found.push_back(b);
      if (found.empty())
        continue;
      if (unambiguous &&
          (found.size() > 1 || std::ranges::count_if(head_, [&](const Content &other) {
                                 return !other.isTaken && same(base_[found.front()], other);
                               }) > 1))
        continue;
      partner_[h] = found.front();
      head_[h].isTaken = base_[found.front()].isTaken = true;
    }
  }

  TouchedKernels result() const {
    TouchedKernels touched;
    for (std::size_t h = 0; h < head_.size(); ++h) {
      const Content &head = head_[h];
      if (!partner_[h]) {
        touched.kernels.push_back({KernelChange::Added, std::nullopt, head.instance});
        continue;
      }
      const Content &base = base_[*partner_[h]];
      const KernelChange change = changeOf(base, head);
      if (change == KernelChange::Moved && base.file == head.file)
        ++touched.unchanged;
      else
        touched.kernels.push_back(
            {change, base.instance, head.instance, base.launches == head.launches});
    }
    for (const Content &base : base_)
      if (!base.isTaken)
        touched.kernels.push_back({KernelChange::Removed, base.instance, std::nullopt});
    return touched;
  }

  std::vector<Content> base_, head_;
  std::vector<std::optional<std::size_t>> partner_; ///< for each kernel of the head
};

} // namespace

std::string codeOf(const std::string &text) { return CodeScanner(text).scan(); }

Result<TouchedKernels> touchedKernels(const ProjectVersion &base, const ProjectVersion &head) {
  KOPT_TRY(std::vector<Content> before, contentsOf(base, projectFiles(head)));
  KOPT_TRY(std::vector<Content> now, contentsOf(head, projectFiles(base)));
  return Matcher(std::move(before), std::move(now)).match();
}

} // namespace kopt
