// SPDX-License-Identifier: Apache-2.0
// Progress for people. On a terminal one status line is overprinted; elsewhere each change is a
// plain line, so that a log file stays readable. Results are not written through this class.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace kopt {

enum class ColourChoice { Auto, Always, Never };
enum class Style { Plain, Bold, Dim, Red, Green, Yellow, Cyan };

/// Decides by the first that applies: the flag, NO_COLOR (non-empty: off), CLICOLOR_FORCE
/// (non-empty and not 0: on), whether the output is a terminal.
bool wantsColour(ColourChoice choice, bool isTerminal, const char *noColor,
                 const char *cliColorForce);

/// May be used by several threads at once.
class Terminal {
public:
  virtual ~Terminal() = default;
  /// Shows what is going on now, in place of the previous status.
  virtual void status(std::string_view text) = 0;
  /// Prints a line that stays.
  virtual void line(std::string_view text) = 0;
  /// Removes the status line. To be called before something else is printed, and at the end.
  virtual void clear() = 0;
  /// The text with the escape codes of the style, or unchanged if colours are off.
  virtual std::string paint(Style style, std::string_view text) const = 0;
};

/// Writes to a file descriptor (2 for standard error), which must outlive it. `quiet` drops
/// everything but warnings.
std::unique_ptr<Terminal> makeTerminal(int fd, ColourChoice choice, bool quiet);

} // namespace kopt
