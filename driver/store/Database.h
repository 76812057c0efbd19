// SPDX-License-Identifier: Apache-2.0
// A wrapper of SQLite that returns errors as values: connection and prepared statement. It does not
// know what is stored.
#pragma once

#include "driver/support/Result.h"

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace kopt {

class Database;

/// One prepared statement, bound from left to right. The first error is kept and returned by
/// step().
class Statement {
public:
  Statement(Statement &&other) noexcept;
  Statement &operator=(Statement &&) = delete;
  ~Statement();

  template <std::integral Integer> Statement &bind(Integer value) {
    return bindInteger(std::int64_t(value));
  }
  Statement &bind(double value);
  Statement &bind(const std::string &value);
  Statement &bind(const std::vector<std::string> &values); ///< each to a parameter of its own

  /// True while there is a row.
  Result<bool> step();
  /// For statements without rows.
  Status run();
  /// All rows, each as `read(*this)` makes it of its columns: a Row or a Result of one.
  template <class Row, class Read> Result<std::vector<Row>> rows(Read read) {
    std::vector<Row> all;
    while (true) {
      KOPT_TRY(const bool hasRow, step());
      if (!hasRow)
        return all;
      KOPT_TRY(Row row, Result<Row>(read(*this)));
      all.push_back(std::move(row));
    }
  }

  // The next column of the row, from left to right.
  std::int64_t integer();
  double real();
  std::string text();

private:
  friend class Database;
  Statement(Database &database, sqlite3_stmt *statement, int error)
      : database_(database), statement_(statement), error_(error) {}
  Statement &bindInteger(std::int64_t value);
  Database &database_;
  sqlite3_stmt *statement_;
  int error_;
  int parameter_ = 0, column_ = 0;
};

class Database {
public:
  /// Opens or creates the file in WAL mode. A commit returns after its data has reached the disk.
  /// A file that cannot be written is opened to be read.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path &file);
  /// Opens a file that exists, and leaves it as it is.
  static Result<std::unique_ptr<Database>> openExisting(const std::filesystem::path &file);
  ~Database();
  Database(const Database &) = delete;

  /// Binds the values to the parameters.
  template <class... Values> Statement prepare(const std::string &sql, const Values &...values) {
    Statement statement = prepareOnly(sql);
    (statement.bind(values), ...);
    return statement;
  }
  /// Runs a statement without rows.
  template <class... Values> Status run(const std::string &sql, const Values &...values) {
    return prepare(sql, values...).run();
  }
  /// The number in the only row and column.
  Result<std::int64_t> number(const std::string &sql);
  /// Executes several statements without parameters.
  Status execute(const std::string &sql);
  /// All changes, or none.
  Status inOneStep(const std::function<Status()> &changes);
  const std::filesystem::path &file() const { return file_; }

  /// The error for an SQLite result code, worded for users: Environment for a full disk, a
  /// read-only folder, a lock or a damaged file; Internal for bugs in kopt.
  tl::unexpected<Error> error(int code) const;

private:
  explicit Database(std::filesystem::path file) : file_(std::move(file)) {}
  Statement prepareOnly(const std::string &sql);
  static Result<std::unique_ptr<Database>> openWith(const std::filesystem::path &file, int flags);
  static Result<std::unique_ptr<Database>> openToRead(const std::filesystem::path &file);
  std::filesystem::path file_;
  sqlite3 *handle_ = nullptr;
};

} // namespace kopt
