#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

namespace hplcast::test {

/// Leaves half a transaction in a database, as a program does that is killed while it commits. `update` must write more
/// than a page, so that the transaction is on the disk.
inline void kill_writer_of(const std::filesystem::path& path, const std::string& update) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA cache_size = 1");  // pages go to the disk before the end of the transaction
    database.exec("BEGIN");
    database.exec(update);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(pid, nullptr, 0);
}

}  // namespace hplcast::test
