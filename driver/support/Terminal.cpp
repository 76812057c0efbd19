// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Terminal.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <sys/ioctl.h>
#include <unistd.h>

namespace kopt {
namespace {

class FdTerminal final : public Terminal {
public:
  FdTerminal(int fd, ColourChoice choice, bool quiet) : fd_(fd), quiet_(quiet) {
    const char *term = std::getenv("TERM");
    bool terminal = ::isatty(fd) == 1;
    overprint_ = terminal && term && std::string_view(term) != "dumb";
    colour_ =
        wantsColour(choice, overprint_, std::getenv("NO_COLOR"), std::getenv("CLICOLOR_FORCE"));
  }
  ~FdTerminal() override { erase(); }

  void status(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (quiet_ || text == last_)
      return;
    last_ = text;
    if (!overprint_)
      return write(std::string(text) + "\n");
    write("\r" + fitted(text) + "\x1b[K");
    shown_ = true;
  }

  void line(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    erase();
    if (!quiet_ || text.substr(0, text.find(' ')).find("warning:") != text.npos)
      write(std::string(text) + "\n");
  }

  void clear() override {
    const std::lock_guard lock(mutex_);
    erase();
  }

  std::string paint(Style style, std::string_view text) const override {
    static constexpr const char *kCodes[] = {"", "1", "2", "31", "32", "33", "36"};
    if (!colour_ || style == Style::Plain)
      return std::string(text);
    return std::string("\x1b[") + kCodes[int(style)] + "m" + std::string(text) + "\x1b[0m";
  }

private:
  void erase() {
    if (shown_)
      write("\r\x1b[K");
    shown_ = false;
    last_.clear();
  }

  /// Cuts the text to the width of the terminal, because a wrapped line cannot be overprinted.
  std::string fitted(std::string_view text) const {
    winsize size{};
    std::size_t width = ::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    if (text.size() < width || width < 20)
      return std::string(text);
    return std::string(text.substr(0, width - 4)) + "...";
  }

  /// Errors are ignored: progress that cannot be shown is not a reason to stop.
  void write(std::string_view text) const {
    while (!text.empty()) {
      ssize_t n = ::write(fd_, text.data(), text.size());
      if (n < 0 && errno != EINTR)
        return;
      if (n > 0)
        text.remove_prefix(std::size_t(n));
    }
  }

  std::mutex mutex_;
  int fd_;
  bool quiet_, overprint_ = false, colour_ = false, shown_ = false;
  std::string last_;
};

} // namespace

bool wantsColour(ColourChoice choice, bool isTerminal, const char *noColor,
                 const char *cliColorForce) {
  if (choice != ColourChoice::Auto)
    return choice == ColourChoice::Always;
  if (noColor && *noColor)
    return false;
  if (cliColorForce && *cliColorForce && std::string_view(cliColorForce) != "0")
    return true;
  return isTerminal;
}

std::unique_ptr<Terminal> makeTerminal(int fd, ColourChoice choice, bool quiet) {
  return std::make_unique<FdTerminal>(fd, choice, quiet);
}

} // namespace kopt
