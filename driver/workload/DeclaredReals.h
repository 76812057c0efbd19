// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/source/Expression.h"

#include <optional>
#include <string>

namespace kopt {

/// The numbers of `arg` clauses as C computes them: 1.0 / 21 is 0.0476. Bindings hold integers
/// only. Keeps references to the arguments of its constructor.
class DeclaredReals {
public:
  /// `launched` are the numbers that the launch's own clause gives; `bindings` are values of all
  /// other names.
  DeclaredReals(const TuneDeclaration &declaration, const Bindings &launched,
                const Bindings &bindings)
      : declaration_(declaration), launched_(launched), bindings_(bindings) {}

  /// The number that a clause gives for the name; nothing if none does, or if it needs a name
  /// without a value.
  std::optional<double> of(const std::string &name) const { return real(of(name, 0)); }
  /// The value of an expression; nothing if it is not one, or needs a name without a value.
  std::optional<double> evaluate(const std::string &text) const { return real(evaluate(text, 0)); }

private:
  static std::optional<double> real(const std::optional<MixedNumber> &number);
  std::optional<MixedNumber> of(const std::string &name, int depth) const;
  std::optional<MixedNumber> evaluate(const std::string &text, int depth) const;

  const TuneDeclaration &declaration_;
  const Bindings &launched_, &bindings_;
};

} // namespace kopt
