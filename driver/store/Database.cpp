// SPDX-License-Identifier: Apache-2.0
#include "driver/store/Database.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <sqlite3.h>
#include <unistd.h>
#include <utility>

namespace kopt {

namespace {
constexpr int kBusyTimeoutMs = 10'000; ///< another kopt on the same project may be committing
}

Statement::Statement(Statement &&other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)),
      error_(other.error_), parameter_(other.parameter_), column_(other.column_) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement &Statement::bindInteger(std::int64_t value) {
  if (error_ == SQLITE_OK)
    error_ = sqlite3_bind_int64(statement_, ++parameter_, value);
  return *this;
}

Statement &Statement::bind(double value) {
  if (error_ == SQLITE_OK)
    error_ = sqlite3_bind_double(statement_, ++parameter_, value);
  return *this;
}

Statement &Statement::bind(const std::string &value) {
  if (error_ == SQLITE_OK)
    error_ = sqlite3_bind_text64(statement_, ++parameter_, value.data(), value.size(),
                                 SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement &Statement::bind(const std::vector<std::string> &values) {
  for (const std::string &value : values)
    bind(value);
  return *this;
}

Result<bool> Statement::step() {
  if (error_ != SQLITE_OK)
    return database_.error(error_);
  column_ = 0;
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW)
    return true;
  if (code == SQLITE_DONE)
    return false;
  return database_.error(code);
}

Status Statement::run() {
  KOPT_TRY(bool row, step());
  (void)row;
  return {};
}

std::int64_t Statement::integer() { return sqlite3_column_int64(statement_, column_++); }

double Statement::real() { return sqlite3_column_double(statement_, column_++); }

std::string Statement::text() {
  const int column = column_++;
  // Without conversion, so that zero bytes are kept.
  const void *data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data ? std::string(static_cast<const char *>(data), std::size_t(size)) : std::string();
}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path &file) {
  if (std::filesystem::exists(file) &&
      (::access(file.c_str(), W_OK) != 0 || ::access(file.parent_path().c_str(), W_OK) != 0))
    return openToRead(file);
  KOPT_CHECK(createDirectories(file.parent_path()));
  KOPT_TRY(std::unique_ptr<Database> database,
           openWith(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  // FULL, because in WAL mode a lower setting may lose the last commits in a power failure.
  KOPT_CHECK(database->execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  return database;
}

/// Without the files that SQLite keeps beside a database, unless they hold what is not yet in it.
Result<std::unique_ptr<Database>> Database::openToRead(const std::filesystem::path &file) {
  std::error_code none;
  const auto pending = std::filesystem::file_size(file.string() + "-wal", none);
  const std::string name = replaceAll(
      replaceAll(replaceAll(std::filesystem::absolute(file).string(), "%", "%25"), "?", "%3f"), "#",
      "%23");
  return openWith("file:" + name + (none || pending == 0 ? "?immutable=1" : "?mode=ro"),
                  SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

Result<std::unique_ptr<Database>> Database::openExisting(const std::filesystem::path &file) {
  return openWith(file, SQLITE_OPEN_READWRITE);
}

Result<std::unique_ptr<Database>> Database::openWith(const std::filesystem::path &file, int flags) {
  std::unique_ptr<Database> database(new Database(file));
  int code = sqlite3_open_v2(file.c_str(), &database->handle_, flags, nullptr);
  if (code != SQLITE_OK)
    return database->error(code);
  sqlite3_extended_result_codes(database->handle_, 1);
  sqlite3_busy_timeout(database->handle_, kBusyTimeoutMs);
  if ((flags & SQLITE_OPEN_READONLY) == 0 && sqlite3_db_readonly(database->handle_, "main") == 1)
    return database->error(SQLITE_READONLY);
  return database;
}

Database::~Database() { sqlite3_close(handle_); }

Statement Database::prepareOnly(const std::string &sql) {
  sqlite3_stmt *statement = nullptr;
  int code = sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr);
  return Statement(*this, statement, code);
}

Result<std::int64_t> Database::number(const std::string &sql) {
  Statement row = prepareOnly(sql);
  KOPT_CHECK(row.run());
  return row.integer();
}

Status Database::execute(const std::string &sql) {
  int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK)
    return error(code);
  return {};
}

Status Database::inOneStep(const std::function<Status()> &changes) {
  KOPT_CHECK(execute("BEGIN IMMEDIATE"));
  if (const Status done = changes(); !done) {
    static_cast<void>(execute("ROLLBACK"));
    return done;
  }
  return execute("COMMIT");
}

tl::unexpected<Error> Database::error(int code) const {
  const char *detail = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  const std::string path = file_.string();
  auto environment = [&](const std::string &what, const std::string &hint) {
    return makeError(ErrorCode::Environment, what, hint, path);
  };
  switch (code & 0xff) {
  case SQLITE_FULL:
    return environment(
        "cannot write " + path + ": the disk is full",
        "free some disk space and continue with --resume; nothing committed was lost");
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_AUTH:
    return environment("cannot write " + path + ": it is read-only",
                       "check the permissions of the file and of its folder");
  case SQLITE_CANTOPEN:
    return environment("cannot open " + path + ": " + detail,
                       "check that its folder can be written");
  case SQLITE_IOERR:
    return environment("cannot read or write " + path + ": " + sqlite3_errstr(code) + " (" +
                           detail + ")",
                       "check the disk and its free space, then continue with --resume");
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return environment("another process holds " + path,
                       "wait until it ends, then continue with --resume");
  case SQLITE_NOTADB:
  case SQLITE_CORRUPT:
    return environment(path + " is damaged or is not a kopt database: " + detail,
                       "move it away; kopt starts a new one");
  default:
    return makeError(ErrorCode::Internal, "database " + path + ": " + detail, {}, path);
  }
}

} // namespace kopt
