// SPDX-License-Identifier: Apache-2.0
#include "driver/store/SessionRows.h"

#include "driver/store/Rows.h"
#include "driver/store/StoredJson.h"

namespace kopt {
namespace {

/// Runs code that reads JSON of the database. An exception means that the database is damaged.
template <class Read> Status readStored(const Database &database, Read read) {
  try {
    read();
    return {};
  } catch (const std::exception &problem) {
    return makeError(ErrorCode::Internal, database.file().string() + ": " + problem.what());
  }
}

Status removeSession(Database &database, std::int64_t id) {
  for (const char *sql :
       {"DELETE FROM session_edits WHERE session_id = ?",
        "DELETE FROM session_files WHERE session_id = ?",
        "DELETE FROM session_wins WHERE session_id = ?", "DELETE FROM sessions WHERE id = ?"})
    KOPT_CHECK(database.prepare(sql).bind(id).run());
  return {};
}

Status writeEdits(Database &database, std::int64_t session, bool offered,
                  const std::vector<FileEdits> &files) {
  for (const FileEdits &file : files) {
    KOPT_CHECK(database.prepare("INSERT INTO session_files VALUES (?,?,?,?,?)")
                   .bind(session, offered, file.path, file.baseHash, file.resultHash)
                   .run());
    for (std::size_t i = 0; i < file.edits.size(); ++i)
      KOPT_CHECK(database.prepare("INSERT INTO session_edits VALUES (?,?,?,?,?,?,?)")
                     .bind(session, offered, file.path, i, file.edits[i].range.begin,
                           file.edits[i].range.end, file.edits[i].text)
                     .run());
  }
  return {};
}

Result<std::vector<FileEdits>> editsOf(Database &database, std::int64_t session, bool offered) {
  Statement query = database.prepare(
      "SELECT path, base_hash, result_hash, first_byte, end_byte, text FROM session_files JOIN "
      "session_edits USING (session_id, offered, path) WHERE session_id = ? AND offered = ? "
      "ORDER BY path, position");
  query.bind(session, offered);
  return readEdits(query);
}

Status readWins(Database &database, SessionRecord &session) {
  Statement wins =
      database.prepare("SELECT win FROM session_wins WHERE session_id = ? ORDER BY position");
  KOPT_TRY(session.wins, wins.bind(session.id).rows<SessionWin>([&]() -> Result<SessionWin> {
    SessionWin win;
    KOPT_CHECK(readStored(database, [&] { win = fromStored<SessionWin>(wins.text()); }));
    return win;
  }));
  return {};
}

} // namespace

Result<std::int64_t> writeSession(Database &database, const SessionRecord &session,
                                  const std::string &confirmedPatch,
                                  const std::string &offeredPatch) {
  if (session.id != 0)
    KOPT_CHECK(removeSession(database, session.id));
  Statement insert = database.prepare("INSERT INTO sessions VALUES (?,?,?,?,?,?,?,?,?)");
  insert.bind(session.id != 0 ? std::optional(session.id) : std::nullopt);
  insert.bind(session.name, session.root, session.startedUtc, session.finishedUtc,
              canonicalJson(session.confirmation), canonicalJson(session.composed), confirmedPatch,
              offeredPatch);
  KOPT_CHECK(insert.run());
  const std::int64_t id = database.lastInsertId();
  for (std::size_t i = 0; i < session.wins.size(); ++i)
    KOPT_CHECK(database.prepare("INSERT INTO session_wins VALUES (?,?,?,?)")
                   .bind(id, i, session.wins[i].run, canonicalJson(session.wins[i]))
                   .run());
  KOPT_CHECK(writeEdits(database, id, false, session.confirmed));
  KOPT_CHECK(writeEdits(database, id, true, session.offered));
  return id;
}

Result<std::vector<SessionRecord>> readSessions(Database &database) {
  Statement query = database.prepare(
      "SELECT id, name, root, started_utc, finished_utc, confirmation, composed, "
      "(SELECT text FROM texts WHERE hash = confirmed_patch), "
      "(SELECT text FROM texts WHERE hash = offered_patch) FROM sessions ORDER BY id");
  KOPT_TRY(auto result, query.rows<SessionRecord>([&]() -> Result<SessionRecord> {
    SessionRecord session;
    session.id = query.integer();
    for (std::string *field :
         {&session.name, &session.root, &session.startedUtc, &session.finishedUtc})
      *field = query.text();
    const std::string confirmation = query.text(), composed = query.text();
    KOPT_CHECK(readStored(database, [&] {
      session.confirmation = fromStored<ProgramConfirmation>(confirmation);
      session.composed = listFromStored<ComposedTrial>(composed);
    }));
    session.confirmedPatch = query.text();
    session.offeredPatch = query.text();
    return session;
  }));
  for (SessionRecord &session : result) {
    KOPT_CHECK(readWins(database, session));
    KOPT_TRY(session.confirmed, editsOf(database, session.id, false));
    KOPT_TRY(session.offered, editsOf(database, session.id, true));
  }
  return result;
}

} // namespace kopt
