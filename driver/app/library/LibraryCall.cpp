// SPDX-License-Identifier: Apache-2.0
#include "driver/app/library/LibraryCall.h"

#include "driver/support/ElementType.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>

namespace kopt {
namespace {

using Index = std::int64_t;
/// Elements of a product and of a transpose, and rows of a reduction, that are computed anew.
constexpr Index kSamples = 24, kSampledRows = 8;
/// More arguments than a matrix product has are not tried as its sizes.
constexpr std::size_t kMostSizes = 10;

/// The elements of an operand as numbers.
class Elements {
public:
  Elements(std::string_view bytes, const std::string &scalar)
      : bytes_(bytes), size_(elementBytes(scalar)),
        value_(withElementType(scalar, [](auto type) { return &decltype(type)::value; })) {}
  Index count() const { return Index(bytes_.size() / size_); }
  double operator[](Index i) const { return value_(bytes_.data() + std::size_t(i) * size_); }
  std::string_view bits(Index i) const { return bytes_.substr(std::size_t(i) * size_, size_); }

private:
  std::string_view bytes_;
  std::size_t size_;
  double (*value_)(const char *);
};

/// `i` of `count` positions: the ends, and then any.
Index sampled(Index i, Index count) {
  return i < 2 ? i * (count - 1) : Index(std::uint64_t(i) * 2654435761u % std::uint64_t(count));
}

/// A sum, and how large its terms are: another order of adding leads as far.
struct Sum {
  double value = 0, squares = 0;
  void add(double term) {
    value += term;
    squares += term * term;
  }
  bool isNear(double found, const std::string &type) const {
    const double share = !isFloating(type) ? 0 : type == "f64" ? 1e-9 : type == "f32" ? 1e-3 : 3e-2;
    return std::abs(found - value) <= share * (std::sqrt(squares) + std::abs(value));
  }
};

bool isTransposed(const Elements &from, const Elements &to, Index rows, Index columns) {
  bool is = rows > 1 && columns > 1;
  for (Index s = 0; s < kSamples && is; ++s) {
    const Index i = sampled(s, rows * columns);
    is = from.bits(i) == to.bits(i % columns * rows + i / columns);
  }
  return is;
}

/// "Sum", "Min" or "Max"; empty: the rows are not reduced.
std::string reductionOf(const Elements &from, const Elements &to, const std::string &type,
                        Index rows, Index columns) {
  bool isSum = columns > 1, isMin = isSum, isMax = isSum;
  for (Index s = 0; s < std::min(rows, kSampledRows) && (isSum || isMin || isMax); ++s) {
    const Index row = sampled(s, rows);
    Sum sum;
    double least = from[row * columns], most = least;
    for (Index i = row * columns; i < (row + 1) * columns; ++i) {
      sum.add(from[i]);
      least = std::min(least, from[i]);
      most = std::max(most, from[i]);
    }
    isSum = isSum && sum.isNear(to[row], type);
    isMin = isMin && to[row] == least;
    isMax = isMax && to[row] == most;
  }
  return isSum ? "Sum" : isMin ? "Min" : isMax ? "Max" : "";
}

bool isScanned(const Elements &from, const Elements &to, const std::string &type, Index size,
               Index columns, bool isInclusive) {
  Sum sum;
  for (Index i = 0; i < size; ++i) {
    if (i % columns == 0)
      sum = {};
    const Sum earlier = sum;
    sum.add(from[i]);
    if (!(isInclusive ? sum : earlier).isNear(to[i], type))
      return false;
  }
  return size > 1 && columns > 1 && columns <= size;
}

/// True if the elements are the same ones, in whatever order.
bool isPermuted(const Elements &from, const Elements &to, Index size) {
  std::uint64_t difference = 0;
  const std::hash<std::string_view> hash;
  for (Index i = 0; i < size; ++i)
    difference += hash(from.bits(i)) - hash(to.bits(i));
  return difference == 0;
}

LibraryCall made(std::string name, std::string program, std::vector<std::string> macros,
                 std::vector<double> numbers, std::vector<std::size_t> in, std::size_t out) {
  return {std::move(name),    std::move(program), std::move(macros),
          std::move(numbers), std::move(in),      {out}};
}

class Search {
public:
  explicit Search(const LaunchRecord &launch) : reals_(launch.reals), lengths_{1} {
    for (const Operand &operand : launch.operands) {
      types_.push_back(operand.scalar);
      before_.emplace_back(operand.before, operand.scalar);
      after_.emplace_back(operand.after, operand.scalar);
      Index written = operand.before == operand.after ? 0 : before_.back().count();
      while (written > 0 && before_.back().bits(written - 1) == after_.back().bits(written - 1))
        --written;
      written_.push_back(written);
      if (written > 0)
        changed_.push_back(types_.size() - 1);
    }
    const auto add = [&](Index size) {
      if (size > 0 && size <= std::numeric_limits<std::int32_t>::max() &&
          std::ranges::find(lengths_, size) == lengths_.end())
        lengths_.push_back(size);
    };
    std::ranges::for_each(launch.sizes, add);
    sizes_.assign(lengths_.begin(),
                  lengths_.begin() + Index(std::min(lengths_.size(), kMostSizes)));
    std::ranges::for_each(launch.shapes, add);
    for (const Elements &elements : before_)
      add(elements.count());
    for (const Elements &elements : before_)
      for (const Elements &other : before_)
        add(elements.count() / std::max<Index>(1, other.count()));
  }

  std::optional<LibraryCall> run() const {
    if (changed_.size() == 2) // keys and values
      for (const std::size_t keys : changed_)
        if (auto found = sort(keys, changed_[keys == changed_[0]]))
          return found;
    if (changed_.size() != 1)
      return std::nullopt;
    const std::size_t out = changed_.front();
    if (auto found = sort(out, std::nullopt))
      return found;
    for (std::size_t in = 0; in < types_.size(); ++in) {
      if (auto found = ofRows(in, out))
        return found;
      for (std::size_t other = 0; other < types_.size(); ++other)
        if (auto found = product(in, other, out))
          return found;
    }
    return std::nullopt;
  }

private:
  std::optional<LibraryCall> sort(std::size_t out, std::optional<std::size_t> values) const;
  std::optional<LibraryCall> ofRows(std::size_t in, std::size_t out) const;
  std::optional<LibraryCall> product(std::size_t a, std::size_t b, std::size_t c) const;
  bool isProduct(std::size_t a, std::size_t b, std::size_t c,
                 const std::vector<double> &numbers) const;
  /// What the first elements of an operand were made of.
  std::optional<std::size_t> sourceOf(std::size_t out, Index size) const {
    for (std::size_t in = 0; in < types_.size(); ++in)
      if (types_[in] == types_[out] && before_[in].count() >= size && after_[out].count() >= size &&
          isPermuted(before_[in], after_[out], size))
        return in;
    return std::nullopt;
  }

  std::vector<std::string> types_;
  std::vector<Elements> before_, after_;
  std::vector<Index> written_; ///< so many first elements hold all that were changed
  std::vector<std::size_t> changed_;
  std::vector<double> reals_;
  std::vector<Index> sizes_, lengths_; ///< lengths_: also those of the geometry and of buffers
};

std::optional<LibraryCall> Search::sort(std::size_t out, std::optional<std::size_t> values) const {
  const Elements &sorted = after_[out];
  Index up = 1, down = 1; // so many elements are in order
  while (up < sorted.count() && sorted[up - 1] <= sorted[up])
    ++up;
  while (down < sorted.count() && sorted[down - 1] >= sorted[down])
    ++down;
  for (const Index size : lengths_) {
    if (size < written_[out] || size > std::max(up, down))
      continue;
    const auto keys = sourceOf(out, size), with = values ? sourceOf(*values, size) : keys;
    const std::string call =
        fmt::format("Sort{}{}", values ? "Pairs" : "Keys", size <= up ? "" : "Descending");
    if (!keys || !with)
      continue;
    LibraryCall found = made("cub::DeviceRadixSort::" + call, "sort.cu",
                             {"IN=" + types_[out], "CALL=" + call}, {double(size)}, {*keys}, out);
    if (values) {
      found.macros.push_back("VALUE=" + types_[*values]);
      found.in.push_back(*with);
      found.out.push_back(*values);
    }
    return found;
  }
  return std::nullopt;
}

std::optional<LibraryCall> Search::ofRows(std::size_t in, std::size_t out) const {
  const std::string &type = types_[in], &to = types_[out];
  const Elements &from = before_[in], &result = after_[out];
  // Others would have to be told how they are added.
  if (elementBytes(type) < 4 || elementBytes(to) < 4 || isFloating(type) != isFloating(to))
    return std::nullopt;
  for (const Index x : lengths_)
    for (const Index y : lengths_) {
      const bool isOther = in != out && x <= from.count() / y;
      const bool isEach = x >= written_[out] && x <= result.count();
      if (isOther && type == to && isFloating(type) && x * y >= written_[out] &&
          x <= result.count() / y && isTransposed(from, result, x, y))
        return made(type == "f32" ? "cublasSgeam" : "cublasDgeam", "transpose.cu", {"IN=" + type},
                    {double(x), double(y)}, {in}, out);
      if (const std::string call = isOther && isEach ? reductionOf(from, result, to, x, y) : "";
          !call.empty())
        return made((x == 1 ? "cub::DeviceReduce::" : "cub::DeviceSegmentedReduce::") + call,
                    "reduction.cu", {"IN=" + type, "OUT=" + to, "CALL=" + call},
                    {double(x), double(y)}, {in}, out);
      for (const std::string call : {"InclusiveSum", "ExclusiveSum"})
        if (isEach && type == to && x <= from.count() &&
            isScanned(from, result, type, x, y, call == "InclusiveSum"))
          return made("cub::DeviceScan::" + call + (y < x ? "ByKey" : ""), "scan.cu",
                      {"IN=" + type, "CALL=" + call}, {double(x), double(y)}, {in}, out);
    }
  return std::nullopt;
}

/// The numbers are those of product.cu.
bool Search::isProduct(std::size_t a, std::size_t b, std::size_t c,
                       const std::vector<double> &numbers) const {
  const auto batch = Index(numbers[0]), m = Index(numbers[1]), n = Index(numbers[2]),
             k = Index(numbers[3]);
  for (Index s = 0; s < kSamples; ++s) {
    const Index at = sampled(s, batch * m * n), matrix = at / (m * n), i = at / n % m, j = at % n;
    Sum sum;
    for (Index l = 0; l < k; ++l)
      sum.add(numbers[6] * before_[a][matrix * m * k + (numbers[4] != 0 ? l * m + i : i * k + l)] *
              before_[b][matrix * k * n + (numbers[5] != 0 ? j * k + l : l * n + j)]);
    if (numbers[7] != 0)
      sum.add(numbers[7] * before_[c][at]);
    if (!sum.isNear(after_[c][at], types_[c]))
      return false;
  }
  return true;
}

std::optional<LibraryCall> Search::product(std::size_t a, std::size_t b, std::size_t c) const {
  const std::string &type = types_[a], &to = types_[c];
  if (a == c || b == c || !isFloating(type) || types_[b] != type ||
      (to != type && (to != "f32" || type == "f64")))
    return std::nullopt;
  const double inA = double(before_[a].count()), inB = double(before_[b].count()),
               inC = double(after_[c].count());
  std::vector<Index> sizes = sizes_; // and those that follow from the buffers' own
  const double rows = std::round(std::sqrt(inA * inC / std::max(inB, 1.0)));
  if (rows > 0)
    sizes.insert(sizes.end(), {Index(rows), Index(inC / rows), Index(inA / rows)});
  std::vector<std::pair<double, double>> scales{{1, 0}};
  for (const double alpha : reals_)
    for (const double beta : reals_)
      scales.insert(scales.end(), {{alpha, 0}, {alpha, 1}, {1, beta}, {alpha, beta}});
  for (const Index batch : sizes_)
    for (const Index m : sizes)
      for (const Index n : sizes)
        for (const Index k : sizes) {
          if (k < 2 || m * n < 2 || batch * m * n < written_[c] ||
              double(batch) * double(m) * double(n) > inC ||
              double(batch) * double(m) * double(k) > inA ||
              double(batch) * double(k) * double(n) > inB)
            continue;
          for (const int transposed : {0, 1, 2, 3})
            for (const auto &[alpha, beta] : scales)
              if (const std::vector<double> numbers{double(batch), double(m), double(n), double(k),
                                                    double(transposed & 1), double(transposed >> 1),
                                                    alpha, beta};
                  isProduct(a, b, c, numbers))
                return made(batch > 1       ? "cublasGemmStridedBatchedEx"
                            : to == "f64"   ? "cublasDgemm"
                            : type == "f32" ? "cublasSgemm"
                                            : "cublasGemmEx",
                            "product.cu", {"IN=" + type, "OUT=" + to}, numbers, {a, b}, c);
        }
  return std::nullopt;
}

} // namespace

std::optional<LibraryCall> libraryCallOf(const LaunchRecord &launch) {
  return Search(launch).run();
}

} // namespace kopt
