// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/remap/Elements.h"

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kOuterFirst[] = {2, 1, 0}; ///< axes, in the order of loops and subscripts

/// The lines of a text, the first of which had a margin, with another.
std::string moved(llvm::StringRef text, llvm::StringRef from, llvm::StringRef to) {
  std::string result;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    line.consume_front(from);
    result +=
        (line.trim().empty() || line.starts_with("#") ? "" : to.str()) + line.rtrim().str() + "\n";
  }
  return result;
}

/// True for `float4 v;`.
bool isUnset(const VarDecl &variable) {
  const auto *made = dyn_cast_or_null<CXXConstructExpr>(variable.getInit());
  return !variable.getInit() ||
         (made && made->getNumArgs() == 0 && !isa<CXXTemporaryObjectExpr>(made));
}

const VarDecl *firstOf(const Stmt *statement) {
  const auto *declaration = dyn_cast<DeclStmt>(statement);
  return declaration ? dyn_cast<VarDecl>(*declaration->decl_begin()) : nullptr;
}

/// Numbers the groups of units, which are written as one loop over elements.
void number(std::vector<Unit> &units, unsigned &groups) {
  const Unit *last = nullptr;
  for (Unit &unit : units) {
    const bool isNext = last && !last->loop && !unit.loop && last->axes == unit.axes &&
                        last->wide.empty() && unit.wide.empty();
    unit.group = isNext ? last->group : ++groups;
    number(unit.inside, groups);
    last = &unit;
  }
}

} // namespace

ElementWriter::ElementWriter(const KernelView &view, const ThreadBody &body, Elements elements,
                             std::array<std::string, 3> factors, Refusals &refusals)
    : view_(view), body_(body), elements_(std::move(elements)), refusals_(refusals),
      factors_(std::move(factors)) {
  unsigned groups = 0;
  number(elements_.before, groups);
  number(elements_.work, groups);
  for (unsigned axis = 0; axis < 3; ++axis)
    names_[axis] = freshName(view, std::string(1, "jik"[axis]));
}

std::string ElementWriter::at(unsigned axis, Which which) const {
  return which == Each ? names_[axis] : which == First ? "0" : factors_[axis] + " - 1";
}

std::string ElementWriter::index(Axes axes, Which which) const {
  std::string text;
  for (const unsigned axis : kOuterFirst)
    if (axes >> axis & 1)
      text += "[" + at(axis, which) + "]";
  return text;
}

std::string ElementWriter::head(unsigned axis) const {
  return "for (int " + names_[axis] + " = 0; " + names_[axis] + " < " + factors_[axis] + "; ++" +
         names_[axis] + ")";
}

/// The variables that outlive the turns of one loop over elements.
bool ElementWriter::findArrays() {
  llvm::DenseMap<const VarDecl *, const Unit *> homes;
  bool isGood = true;
  const auto use = [&](const Stmt *part, unsigned group) {
    const auto *reference = dyn_cast<DeclRefExpr>(part);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    const Unit *home = homes.lookup(variable);
    if (home && elements_.axes.lookup(variable) != 0 && home->group != group)
      isGood = isGood && addArrays(*cast<DeclStmt>(home->statement));
  };
  const auto visit = [&](const auto &self, const std::vector<Unit> &units) -> void {
    for (const Unit &unit : units) {
      if (const auto *declared = dyn_cast<DeclStmt>(unit.statement))
        for (const Decl *each : declared->decls())
          if (const auto *variable = dyn_cast<VarDecl>(each))
            homes[variable] = &unit;
      for (const Stmt *part : unit.parts)
        use(part, unit.group);
      self(self, unit.inside);
    }
  };
  visit(visit, elements_.before);
  const BodyView &kernel = view_.work();
  for (const Stmt *part : kernel.statements)
    if (kernel.isWithin(part, elements_.guard.statement->getCond()))
      use(part, 0);
  visit(visit, elements_.work);
  return isGood;
}

/// Where the value stands that a variable begins with, also if macros spell it.
std::optional<TextSpan> ElementWriter::initialValue(const VarDecl &variable) const {
  if (isUnset(variable))
    return std::nullopt;
  const SourceManager &sources = view_.context().getSourceManager();
  return spanOf(view_,
                sources.getExpansionRange(variable.getInit()->getSourceRange()).getAsRange());
}

bool ElementWriter::addArrays(const DeclStmt &declaration) {
  const auto *first = firstOf(&declaration);
  if (first && arrays_.contains(first))
    return true;
  if (!first ||
      !llvm::all_of(declaration.decls(), [](const Decl *each) { return isa<VarDecl>(each); }))
    return refusals_.add(&declaration, "it declares more than variables");
  const auto begin = view_.offset(declaration.getBeginLoc()),
             name = view_.offset(first->getLocation());
  std::string type = begin && name ? view_.text().slice(*begin, *name).str() : "";
  for (const Decl *each : declaration.decls()) {
    const auto *variable = cast<VarDecl>(each);
    const QualType kind = variable->getType();
    const auto *record = kind->getAsCXXRecordDecl();
    const bool isPlain = kind->isArithmeticType() || kind->isPointerType() ||
                         kind->isEnumeralType() || (record && record->isTrivial()) ||
                         (kind->isConstantArrayType() && !variable->hasInit());
    const bool isAlone =
        declaration.isSingleDecl() || (!kind->isPointerType() && !kind->isConstantArrayType());
    if (type.empty() || !isPlain || !isAlone || type.find("auto") != std::string::npos ||
        variable->isStaticLocal() ||
        (!isUnset(*variable) &&
         (variable->getInitStyle() != VarDecl::CInit || isa<InitListExpr>(variable->getInit()) ||
          !initialValue(*variable))) ||
        (kind->isPointerType() && kind.isConstQualified()))
      return refusals_.add(&declaration, "'" + variable->getName() + "' cannot be an array");
    if (kind.isConstQualified())
      if (const std::size_t at = type.find("const "); at != std::string::npos)
        type.erase(at, 6);
    arrays_.insert({variable, type});
  }
  return true;
}

bool ElementWriter::findCoordinates() {
  const bool isAdjacent = elements_.order == ElementOrder::Adjacent;
  for (const CoordinateUse &use : body_.uses()) {
    const auto &[variable, axis] = use.coordinate;
    if (!(elements_.merged >> axis & 1))
      continue;
    if (use.body != &view_.work() || variable == "gridDim")
      return refusals_.add(use.expression,
                           "the number of blocks, or which one it is, has another use");
    const Expr *place = nullptr; // what each element has its own of
    if (!isAdjacent)
      place = variable == "blockIdx" ? use.expression : nullptr;
    else if (variable == "threadIdx")
      place = globalIndexAt(use);
    if (!place)
      continue;
    const auto span = spanOf(view_, place->getSourceRange());
    if (!span)
      return refusals_.add(place, "a macro spells the index");
    const std::string text = view_.text().slice(span->begin, span->end).str();
    for (const Which which : {Each, First, Last})
      edits_[which].push_back({span->begin, span->end,
                               "(" + (isAdjacent ? "(" + text + ")" : text) + " * " +
                                   factors_[axis] + " + " + at(axis, which) + ")"});
  }
  coordinates_ = edits_[Each];
  for (const CoordinateUse &use : body_.uses())
    if (isAdjacent && use.coordinate.dimension == 0 &&
        llvm::none_of(coordinates_, [&](const SliceEdit &edit) {
          return edit.begin <= use.begin && use.end <= edit.end;
        }))
      return refusals_.add(use.expression, "the place of the thread along x has another use");
  return true;
}

/// The names that become arrays, and the places that wide accesses take over.
bool ElementWriter::findUses() {
  std::vector<TextRange> taken;
  const auto visit = [&](const auto &self, const std::vector<Unit> &units) -> void {
    for (const Unit &unit : units) {
      for (const WideAccess &wide : unit.wide)
        for (const TextRange &place : wide.places) {
          taken.push_back(place);
          edits_[Each].push_back({std::uint32_t(place.begin), std::uint32_t(place.end),
                                  wide.name + index(elements_.merged, Each)});
        }
      self(self, unit.inside);
    }
  };
  visit(visit, elements_.work);
  llvm::DenseSet<unsigned> seen;
  for (const Stmt *part : view_.work().statements) {
    const auto *reference = dyn_cast<DeclRefExpr>(part);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    if (!variable || !arrays_.contains(variable))
      continue;
    const auto end = view_.endOffset(reference->getLocation());
    if (!end)
      return refusals_.add(part, "a macro spells '" + variable->getName() + "'");
    if (!seen.insert(*end).second)
      continue;
    for (const Which which : {Each, First, Last})
      edits_[which].push_back({*end, *end, index(elements_.axes.lookup(variable), which)});
  }
  // What stands in those places goes with them.
  llvm::erase_if(edits_[Each], [&](const SliceEdit &edit) {
    return llvm::any_of(taken, [&](const TextRange &place) {
      return place.begin <= edit.begin && edit.end <= place.end &&
             (place.begin != edit.begin || place.end != edit.end);
    });
  });
  return true;
}

std::string ElementWriter::write(const std::string &comment, const std::string &condition) {
  if (!findArrays() || !findCoordinates() || !findUses())
    return "";
  const std::string &in = body_.inner;
  std::string text = "\n" + in + "// " + comment + "\n";
  writeUnits(elements_.before, in, text);
  const Expr *guard = elements_.guard.statement->getCond();
  const std::string test = body_.edited(*view_.offset(guard->getBeginLoc()),
                                        *view_.endOffset(guard->getEndLoc()), edits_[Last]);
  text += in + "if (" + (elements_.guard.leaves ? "!(" + test + ")" : test) +
          (condition.empty() ? "" : " && " + condition) + ") {\n";
  writeUnits(elements_.work, in + body_.step, text);
  text += in + body_.step + "return;\n" + in + "}\n";
  // Otherwise one after the other.
  const std::string margin = openLoops(elements_.merged, in, /*isUnrolled=*/false, text);
  text.insert(text.size() - 1, " {");
  std::vector<SliceEdit> edits = coordinates_;
  edits.insert(edits.end(), body_.returns().begin(), body_.returns().end());
  const std::string former = body_.indented(body_.edited(body_.begin, body_.end, std::move(edits)));
  return text + moved(llvm::StringRef(former).rtrim(), in, margin) + margin + "}\n" + body_.outer;
}

/// Writes the heads of loops over elements; the margin of the innermost.
std::string ElementWriter::openLoops(Axes axes, const std::string &margin, bool isUnrolled,
                                     std::string &text) const {
  std::string at = margin, last = margin;
  for (const unsigned axis : kOuterFirst)
    if (axes >> axis & 1) {
      text += std::string(isUnrolled ? "#pragma unroll" : "#pragma unroll 1") + "\n" + at +
              head(axis) + "\n";
      last = at;
      at += body_.step;
    }
  return last;
}

void ElementWriter::writeUnits(const std::vector<Unit> &units, const std::string &margin,
                               std::string &text) {
  for (std::size_t i = 0, end; i < units.size(); i = end) {
    end = i;
    while (end < units.size() && units[end].group == units[i].group)
      ++end;
    if (units[i].loop)
      writeLoop(units[i], margin, text);
    else
      writeGroup({&units[i], end - i}, margin, text);
  }
}

void ElementWriter::writeLoop(const Unit &unit, const std::string &margin, std::string &text) {
  if (!unit.lead.empty())
    text += moved(unit.lead, view_.indentation(unit.begin), margin);
  const bool isInnermost =
      llvm::none_of(unit.inside, [](const Unit &each) { return each.loop != nullptr; });
  if (isInnermost && !llvm::StringRef(unit.lead).contains("#pragma")) {
    text += "#pragma unroll ${UNROLL}\n";
    writesUnroll_ = true;
  }
  const unsigned end = *view_.endOffset(unit.loop->getRParenLoc());
  text += margin + view_.text().slice(unit.begin, end).str() + " {\n";
  writeUnits(unit.inside, margin + body_.step, text);
  text += margin + "}\n";
}

void ElementWriter::writeGroup(llvm::ArrayRef<Unit> units, const std::string &margin,
                               std::string &text) const {
  const Axes axes = units.front().axes;
  std::string declared, done, stores, inner = margin;
  for (int i = 0; i < llvm::popcount(axes); ++i)
    inner += body_.step;
  const bool isAlone = axes != 0 && units.size() == 1;
  for (const Unit &unit : units) {
    const std::string old = view_.indentation(unit.begin);
    const bool isDirective = llvm::StringRef(unit.lead).contains('#'); // of the next statement
    if (!unit.lead.empty())
      (isAlone && !isDirective ? declared : done) +=
          moved(unit.lead, old, isAlone && !isDirective ? margin : inner);
    for (const WideAccess &wide : unit.wide)
      writeWide(wide, margin, declared, stores);
    const auto *first = firstOf(unit.statement);
    if (!first || !arrays_.contains(first))
      done += moved(body_.edited(unit.begin, unit.end, edits_[Each]), old, inner);
    else
      for (const Decl *each : cast<DeclStmt>(unit.statement)->decls())
        writeArray(*cast<VarDecl>(each), margin, inner, declared, done);
  }
  text += declared;
  if (!done.empty()) {
    const std::string last = openLoops(axes, margin, /*isUnrolled=*/true, text);
    const bool isBraced = axes != 0 && llvm::StringRef(done).rtrim().contains('\n');
    if (isBraced)
      text.insert(text.size() - 1, " {");
    text += done;
    if (isBraced)
      text += last + "}\n";
  }
  text += stores;
}

void ElementWriter::writeArray(const VarDecl &variable, const std::string &margin,
                               const std::string &inner, std::string &declared,
                               std::string &done) const {
  const Axes axes = elements_.axes.lookup(&variable);
  const std::string name = variable.getName().str();
  std::string sizes;
  for (const unsigned axis : kOuterFirst)
    if (axes >> axis & 1)
      sizes += "[" + factors_[axis] + "]";
  if (variable.getType()->isConstantArrayType())
    sizes +=
        view_.text()
            .slice(*view_.endOffset(variable.getLocation()), *view_.endOffset(variable.getEndLoc()))
            .str();
  declared += margin + arrays_.lookup(&variable) + name + sizes + ";\n";
  if (const auto value = initialValue(variable))
    done += inner + name + index(axes, Each) + " = " +
            body_.edited(value->begin, value->end, edits_[Each]) + ";\n";
}

/// An array in registers, whose elements are read or written at once.
void ElementWriter::writeWide(const WideAccess &wide, const std::string &margin, std::string &loads,
                              std::string &stores) const {
  const std::string &width = factors_[0], vector = wide.type + width,
                    place = "(&" +
                            body_.edited(unsigned(wide.places.front().begin),
                                         unsigned(wide.places.front().end), edits_[First]) +
                            ")",
                    array = "*reinterpret_cast<" + vector + " *>(" + wide.name + ")";
  loads += margin + "alignas(" + width + " * sizeof(" + wide.element + ")) " + wide.element + " " +
           wide.name + "[" + width + "];\n";
  if (wide.isLoad)
    loads += margin + array + " = *reinterpret_cast<const " + vector + " *>" + place + ";\n";
  if (wide.isStore)
    stores += margin + "*reinterpret_cast<" + vector + " *>" + place + " = " + array + ";\n";
}

} // namespace kopt::frontend
