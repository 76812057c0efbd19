// SPDX-License-Identifier: Apache-2.0
// Reads a launch configuration as expressions in C syntax, whose leaves are numbers, named
// constants and variables of the host program. Looks through variables, structs, helper functions,
// macros and, for constants, the callers of the launching function. Everything that an expression
// names is visible at the launch site and still has the value there that it had where the
// configuration was computed.
#pragma once

#include "clang_plugin/hostflow/HostCode.h"
#include "clang_plugin/hostflow/HostFlow.h"
#include "clang_plugin/tunables/Constants.h"

#include <array>
#include <functional>
#include <set>

namespace kopt::frontend {

using Extent = std::array<std::string, 3>;

/// A part of a launch configuration: `expression`, or the member of it that `fields` lead to.
struct ConfigPart {
  const clang::Expr *expression = nullptr;
  std::vector<std::string> fields; ///< "gridDim" of a cudaLaunchConfig_t
};

class GeometryReader {
public:
  struct Site {
    const clang::FunctionDecl *function = nullptr; ///< around the launch; null at namespace scope
    const clang::Expr *launch = nullptr;
    /// Variables that stay leaves because the launch passes them to the kernel: "n", "shape.rows".
    std::set<std::string> passed;
    /// The callers of `function` that launch this kernel through it; null: all callers.
    const std::set<const clang::CallExpr *> *callers = nullptr;
  };

  /// `mayName` decides whether a constant can be written by its name; otherwise its number is
  /// written.
  GeometryReader(HostCode &code, UnitFlow &flows, Site site,
                 std::function<bool(const NamedConstant &)> mayName);

  std::optional<std::string> scalar(const ConfigPart &part);
  /// The value of an integer just before `point`, in the launching function.
  std::optional<std::string> scalarBefore(const clang::Expr *expression, const clang::Stmt *point);
  /// x, y and z of a dim3, or of an integer that is converted to one.
  std::optional<Extent> extent(const ConfigPart &part);

  /// The named constants and the host variables in everything read so far.
  const std::vector<NamedConstant> &constants() const { return used_.constants; }
  const std::set<std::string> &variables() const { return used_.variables; }
  /// Why the last reading failed.
  const std::string &reason() const { return reason_; }

private:
  struct Term {
    std::string text;
    bool real = false;
    std::string whole; ///< if `text` is an integer converted to a real type: that integer
  };
  /// A function whose values are read: the launching function, a helper that it calls, or a caller
  /// of it.
  struct Frame {
    const FunctionFlow *flow = nullptr;
    const Frame *caller = nullptr; ///< of a helper
    const clang::Stmt *call = nullptr;
    std::map<const clang::ValueDecl *, const clang::Expr *> arguments;
    const clang::Expr *object = nullptr; ///< object on which the helper is called
    bool isLaunching = false;            ///< its variables can be leaves
    bool isCaller = false;               ///< it calls the launching function: only constants count
  };
  /// A point in the execution: before `point`, in the function of a frame.
  struct Where {
    const Frame *frame;
    const clang::Stmt *point;
  };
  using Steps = std::vector<PlaceStep>;

  // Scalars.cpp: arithmetic
  std::optional<Term> scalar(const clang::Expr *expression, Where where);
  std::optional<Term> scalarCast(const clang::CastExpr *cast, Where where);
  std::optional<Term> binary(const clang::BinaryOperator *operation, Where where);
  std::optional<Term> combine(clang::BinaryOperatorKind kind, const Term &left, const Term &right,
                              clang::QualType type);
  std::optional<Term> unary(const clang::UnaryOperator *operation, Where where);
  std::optional<Term> choose(const Term &condition, const Term &yes, const Term &no);
  std::optional<Term> named(const clang::ValueDecl *declaration, const clang::Expr *expression,
                            Where where);
  std::optional<Term> folded(const clang::Expr *expression);
  std::optional<Term> builtinVariable(const clang::PseudoObjectExpr *property);
  Term nameOf(const NamedConstant &constant);

  // Geometry.cpp: variables and their parts
  std::optional<Term> component(const clang::Expr *expression, const Steps &steps, Where where);
  std::optional<Term> place(const Place &place, Where where);
  std::optional<Term> held(const Place &place, Where where);
  std::optional<Term> defined(const Definition &definition, const Place &place, Where where);
  std::optional<Term> atEntry(const Place &place, Where where);
  std::optional<Term> leaf(const Place &place, Where where);

  // Calls.cpp: other functions
  std::optional<Term> call(const clang::CallExpr *call, const Steps &steps, Where where);
  std::optional<Term> knownFunction(const clang::CallExpr *call, Where where, bool &isKnown);
  std::optional<Term> constructed(const clang::CXXConstructExpr *construction, const Steps &steps,
                                  Where where);
  std::optional<Term> returned(std::vector<const clang::Stmt *> statements, const Steps &steps,
                               const Frame &frame);
  std::optional<Term> fromCallers(const Place &parameter);

  std::optional<Term> fail(const std::string &why);
  std::optional<Term> limited(std::string text, bool real);

  const SourceIndex &index_;
  const clang::ASTContext &context_;
  HostCode &code_;
  UnitFlow &flows_;
  Site site_;
  Constants constants_;
  std::function<bool(const NamedConstant &)> mayName_;
  Frame launching_;
  /// What the text so far names; restored when a reading is given up.
  struct Used {
    std::vector<NamedConstant> constants;
    std::set<std::string> variables;
  } used_;
  std::string reason_;
  std::set<const clang::ValueDecl *> askedCallers_;
  int depth_ = 0, frames_ = 0;
};

} // namespace kopt::frontend
