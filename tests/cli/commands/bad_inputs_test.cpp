// Runs the table of bad inputs (bad_inputs/README.md): none may be silent, end by a signal, or hang.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <tuple>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

int hplcast_main(int argc, char** argv);  // that of cli/commands/main.cpp

namespace hplcast {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const fs::path folder = HPLCAST_SOURCE_DIR "/tests/cli/bad_inputs";

struct Row {
  std::string place;  ///< file and line of the table
  std::string command, file, damage;
  int status = 0;
  std::vector<std::string> words;
};

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + separator.size()) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return parts;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : separator) + parts[i];
  return text;
}

std::vector<Row> rows_of(const fs::path& table) {
  std::vector<Row> rows;
  std::ifstream in(table);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const auto cells = split(line, " | ");
    const std::string place = table.filename().string() + ":" + std::to_string(number);
    if (cells.size() != 5) throw std::runtime_error(place + ": expected five cells");
    rows.push_back({place, cells[0], cells[1], cells[2], std::stoi(cells[3]), split(cells[4], "; ")});
  }
  return rows;
}

/// `/pointer remove`, `misspell`, `duplicate`, or `= VALUE` (NaN and Infinity, too).
std::string damaged_json(const std::string& text, const std::string& damage) {
  const std::size_t blank = damage.find(' ');
  const Json::json_pointer pointer(damage.substr(0, blank));
  const std::string action = damage.substr(blank + 1);
  Json json = Json::parse(text);
  if (action.compare(0, 2, "= ") == 0) {
    json[pointer] = "@value@";
    std::string result = json.dump(1);
    replace_all(result, "\"@value@\"", action.substr(2));
    return result;
  }
  Json& parent = json.at(pointer.parent_pointer());
  const std::string key = pointer.back();
  if (action == "remove") {
    parent.erase(key);
    return json.dump(1);
  }
  const Json value = parent.at(key);
  if (action == "misspell") {
    parent.erase(key);
    parent[key + "x"] = value;
    return json.dump(1);
  }
  if (action != "duplicate") throw std::runtime_error("unknown damage " + damage);
  parent["@key@"] = value;
  std::string result = json.dump(1);
  replace_all(result, "@key@", key);
  return result;
}

/// `@column NAME * FACTOR`, `@column NAME = TEXT`: in all rows of a CSV without quotes.
std::string damaged_column(const std::string& text, const std::string& damage) {
  const auto words = split(damage, " ");
  std::vector<std::string> lines = split(text, "\n");
  const auto header = split(lines.front(), ",");
  const auto column = static_cast<std::size_t>(std::find(header.begin(), header.end(), words.at(1)) - header.begin());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    auto cells = split(lines[i], ",");
    std::string& cell = cells.at(column);
    cell = words.at(2) == "*" ? core::printed("%.9g", std::stod(cell) * std::stod(words.at(3))) : words.at(3);
    lines[i] = joined(cells, ",");
  }
  return joined(lines, "\n");
}

/// JSON by pointer; `@empty`, `@half`, `@nest`, `@bytes`, `@latin1`; else `OLD => NEW` in a text (\n, \t).
std::string damaged(const std::string& text, const std::string& damage) {
  if (damage == "@empty") return "";
  if (damage == "@half") return text.substr(0, text.size() / 2);
  if (damage == "@nest") return std::string(100000, '[');
  if (damage == "@nest-objects") {
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
    return deep;
  }
  if (damage == "@bytes") return std::string("\xff\xfe\0\x01\x02", 5) + text;
  if (damage == "@latin1") return text.substr(0, text.size() / 2) + "\xe9" + text.substr(text.size() / 2);
  if (damage.rfind("@column ", 0) == 0) return damaged_column(text, damage);
  if (damage.front() == '/') return damaged_json(text, damage);
  auto parts = split(damage, " => ");
  if (parts.size() != 2) throw std::runtime_error("expected OLD => NEW");
  for (std::string& part : parts) {
    replace_all(part, "\\n", "\n");
    replace_all(part, "\\t", "\t");
  }
  const std::size_t at = text.find(parts[0]);
  if (at == std::string::npos) throw std::runtime_error("`" + parts[0] + "` is not in the file");
  return text.substr(0, at) + parts[1] + text.substr(at + parts[0].size());
}

/// Puts something that is no such file in its place: `@missing`, `@folder`, `@loop`, `@device`, `@zeros`, `@long`.
bool is_replaced(const fs::path& file, const std::string& damage) {
  if (damage != "@missing" && damage != "@folder" && damage != "@loop" && damage != "@device" && damage != "@zeros" &&
      damage != "@long")
    return false;
  fs::remove(file);
  if (damage == "@folder") fs::create_directory(file);
  if (damage == "@loop") fs::create_symlink(file.filename(), file);
  if (damage == "@device") fs::create_symlink("/dev/zero", file);
  if (damage == "@long") std::ofstream(file) << std::string(std::size_t{3} << 20, 'x');
  if (damage == "@zeros") {  // a hole: it takes no room
    std::ofstream(file).flush();
    fs::resize_file(file, std::uintmax_t{1} << 36);
  }
  return true;
}

constexpr unsigned patience_s = 60;  // ten seconds on an idle machine; tests run beside others

/// The words of a command of hplcast, if a shell does nothing but take single quotes off.
std::optional<std::vector<std::string>> plain_words(const std::string& command) {
  if (command.rfind("hplcast-", 0) == 0) return std::nullopt;
  std::vector<std::string> words;
  bool quoted = false, inside = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (!quoted && std::string("\"$\\<>;&|`*?~#()").find(c) != std::string::npos) {
      return std::nullopt;
    }
    if (!quoted && c == ' ') {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c != '\'') words.back() += c;
  }
  return words;
}

/// A copy of base/, as each row finds it.
class Workplace {
 public:
  Workplace() {
    for (const auto& entry : fs::directory_iterator(folder / "base"))
      fs::copy(entry.path(), work_.path() / entry.path().filename(), fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(work_.path()))
      files_[entry.path()] = state_of(entry.path());
  }

  const fs::path& path() const { return work_.path(); }

  void damage(const Row& row) const {
    if (row.file == "-") return;
    const fs::path file = path() / row.file;
    if (is_replaced(file, row.damage)) return;
    const std::string text = damaged(core::read_text(file), row.damage);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  }

  /// Undoes what a command or damage() has made of it.
  void tidy_up() {
    std::vector<fs::path> foreign;
    for (const auto& entry : fs::recursive_directory_iterator(path()))
      if (files_.count(entry.path()) == 0) foreign.push_back(entry.path());
    for (const fs::path& file : foreign) fs::remove_all(file);
    for (auto& [file, state] : files_) {
      if (state_of(file) == state) continue;
      fs::remove_all(file);
      fs::copy(folder / "base" / fs::relative(file, path()), file, fs::copy_options::recursive);
      state = state_of(file);
    }
  }

 private:
  using State = std::tuple<fs::file_type, fs::perms, std::uintmax_t, fs::file_time_type>;

  /// A folder changes with what is in it, which is looked at for itself.
  static State state_of(const fs::path& file) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(file, error);
    if (!fs::is_regular_file(status)) return {status.type(), status.permissions(), 0, {}};
    return {status.type(), status.permissions(), fs::file_size(file, error), fs::last_write_time(file, error)};
  }

  core::TemporaryFolder work_{"hplcast-bad-input"};
  std::map<fs::path, State> files_;
};

/// Standard output and error of a row, and its exit code.
struct Outcome {
  int output = ::memfd_create("output", MFD_CLOEXEC);
  int status = -1;  ///< -1: not run
};

constexpr std::size_t most_in_a_fork = 100;
using Outcomes = std::array<Outcome, most_in_a_fork>;

/// In a fork of this program: hplcast once per row, until all are done or one ends the process.
[[noreturn]] void run_rows(const std::vector<const Row*>& rows, std::size_t first, Outcomes& outcomes,
                           Workplace& place) {
  const char* const path = std::getenv("PATH");  // xhpl-smpi does not lie beside this program
  ::setenv("PATH", (HPLCAST_BINARY_DIR "/bin:" + std::string(path == nullptr ? "" : path)).c_str(), 1);
  for (std::size_t i = first; i < rows.size(); ++i) {
    place.damage(*rows[i]);
    std::vector<std::string> words = *plain_words(rows[i]->command);
    words.insert(words.begin(), "hplcast");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    const int argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    ::alarm(patience_s);
    if (::chdir(place.path().c_str()) != 0 || ::dup2(outcomes[i].output, 1) < 0 || ::dup2(outcomes[i].output, 2) < 0)
      ::_exit(99);
    const int status = hplcast_main(argc, argv.data());
    std::cout.flush();
    std::fflush(nullptr);
    outcomes[i].status = status;
    place.tidy_up();
  }
  ::_exit(0);
}

/// The rows in forks of this program, up to a hundred in each: a process of its own takes five times as long.
std::vector<core::CommandResult> run_here(const std::vector<const Row*>& rows) {
  void* const shared = ::mmap(nullptr, sizeof(Outcomes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Outcomes& outcomes = *new (shared) Outcomes;
  for (std::size_t first = 0; first < rows.size();) {
    Workplace place;
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) run_rows(rows, first, outcomes, place);
    int status = 0;
    ::waitpid(pid, &status, 0);
    while (first < rows.size() && outcomes[first].status >= 0) ++first;
    if (first < rows.size())
      outcomes[first++].status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  std::vector<core::CommandResult> results(rows.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (i < rows.size()) {
      results[i].status = outcomes[i].status;
      results[i].output.resize(static_cast<std::size_t>(::lseek(outcomes[i].output, 0, SEEK_END)));
      if (::pread(outcomes[i].output, results[i].output.data(), results[i].output.size(), 0) < 0)
        results[i].output.clear();
    }
    ::close(outcomes[i].output);
  }
  ::munmap(shared, sizeof(Outcomes));
  return results;
}

bool is_as_documented(const Row& row, const core::CommandResult& result) {
  return result.status == row.status && std::all_of(row.words.begin(), row.words.end(), [&](const std::string& word) {
           return result.output.find(word) != std::string::npos;
         });
}

/// With a shell, or as a program that looks beside itself for others.
core::CommandResult run_row(const Row& row) {
  const Workplace place;
  place.damage(row);
  core::Command command;
  command.program = "/bin/sh";
  // A row with a program of its own names it, the others are commands of hplcast.
  const std::string program = row.command.rfind("hplcast-", 0) == 0 ? "" : "hplcast ";
  command.arguments = {"-c", "exec \"" HPLCAST_BINARY_DIR "\"/bin/" + program + row.command};
  command.directory = place.path();
  command.timeout_s = patience_s;
  return core::run(command);
}

class BadInputs : public testing::TestWithParam<fs::path> {};

TEST_P(BadInputs, AreAllToldAsDocumented) {
  const std::vector<Row> rows = rows_of(GetParam());
  ASSERT_FALSE(rows.empty());
  std::map<const Row*, core::CommandResult> results;
  std::vector<const Row*> plain;
  const auto run_plain = [&] {
    const std::vector<core::CommandResult> of_plain = run_here(plain);
    for (std::size_t i = 0; i < plain.size(); ++i) results[plain[i]] = of_plain[i];
    plain.clear();
  };
  for (const Row& row : rows) {
    if (plain_words(row.command)) plain.push_back(&row);
    if (plain.size() == most_in_a_fork) run_plain();
  }
  run_plain();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.place + ": " + row.command + " | " + row.file + " | " + row.damage);
    core::CommandResult& result = results[&row];
    if (!plain_words(row.command) || !is_as_documented(row, result)) {
      ASSERT_NO_THROW(result = run_row(row));
    }
    EXPECT_EQ(result.status, row.status) << result.output;
    for (const std::string& word : row.words)
      EXPECT_NE(result.output.find(word), std::string::npos) << word << "\n" << result.output;
  }
}

std::vector<fs::path> tables() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".txt") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Tables, BadInputs, testing::ValuesIn(tables()), [](const auto& row) {
  std::string name = row.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace hplcast
