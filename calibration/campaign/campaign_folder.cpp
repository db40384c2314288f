#include "calibration/campaign/campaign_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

constexpr const char* lock_file = "lock";
constexpr const char* latest_file = "latest";
constexpr const char* steps_file = "steps.json";
constexpr double lock_pause_s = 0.1;
constexpr double lock_patience_s = 10;
constexpr double clock_tolerance_s = 0.5;  // a time service may turn back by less

void append_line(const fs::path& path, const std::string& line) {
  std::ofstream out(path, std::ios::app);
  out << line + "\n" << std::flush;
  if (!out) core::throw_write_error("write", path, errno);
}

/// Joins CSV files with equal headers; files that do not exist are left out. Writes nothing if there are none.
void join(const std::vector<fs::path>& pieces, const fs::path& whole) {
  std::string header, rows;
  for (const fs::path& piece : pieces) {
    if (!fs::exists(piece)) continue;
    const std::string text = core::read_text(piece);
    const std::size_t line = text.find('\n');
    if (!header.empty() && text.substr(0, line) != header) {
      throw core::ParseError({piece.string(), 1, ""}, "the columns differ from those of the pieces before",
                             "the campaign was continued with another version of hplcast: start it anew");
    }
    header = text.substr(0, line);
    if (line != std::string::npos) rows += text.substr(line + 1);
  }
  if (!header.empty()) core::write_file(whole, [&](std::ostream& out) { out << header << '\n' << rows; });
}

}  // namespace

CampaignFolder::CampaignFolder(fs::path path, const CampaignPlan& plan, bool resume) : path_(std::move(path)) {
  const bool is_new = !fs::exists(path_ / "campaign.yaml");
  if (!is_new && !resume) {
    throw core::Error(
        core::ExitCode::bad_input,
        path_.string() + " has a campaign already\n  hint: --resume continues it; or choose another --folder");
  }
  std::error_code error;
  // A folder with a lock only: killed before anything was measured.
  if (is_new && fs::exists(path_, error) && !fs::exists(path_ / lock_file, error) && !fs::is_empty(path_, error)) {
    throw core::Error(core::ExitCode::bad_input, path_.string() + " holds something else than a campaign");
  }
  fs::create_directory(path_, error);  // no parents: they may be mistyped
  if (error) core::throw_write_error("make the folder", path_, error.value());
  lock();
  remove_leftovers();
  if (is_new) {
    core::write_file(path_ / "start", [](std::ostream& out) { out << core::shortest(core::unix_time_s()) << '\n'; });
  } else {
    changed_ = core::read_text(path_ / "campaign.yaml") != plan.source;
    require_same(plan);
  }
  write_plan(plan);
  start_unix_s_ = first_number(path_ / "start").value_or(0);
  latest_unix_s_ = first_number(path_ / latest_file).value_or(start_unix_s_);
  check_clock("before the first step");
}

CampaignFolder::~CampaignFolder() {
  if (lock_ >= 0) ::close(lock_);
}

/// Our children inherit the lock (no O_CLOEXEC): if we are killed, the next process waits until mpirun has ended, too.
/// Otherwise both would measure at the same time.
void CampaignFolder::lock() {
  const fs::path file = path_ / lock_file;
  lock_ = ::open(file.c_str(), O_RDWR | O_CREAT, 0644);
  if (lock_ < 0) core::throw_write_error("write", file, errno);
  for (double waited_s = 0; ::flock(lock_, LOCK_EX | LOCK_NB) != 0; waited_s += lock_pause_s) {
    if (waited_s < lock_patience_s) {
      std::this_thread::sleep_for(std::chrono::duration<double>(lock_pause_s));
      continue;
    }
    throw core::Error(core::ExitCode::bad_input, path_.string() + " is in use: another hplcast calibrate runs there");
  }
}

/// Files that were being written when a process was killed.
void CampaignFolder::remove_leftovers() const {
  fs::remove_all(work());
  for (const char* folder : {"measurements", "monitoring", "surroundings", "designs", "."}) {
    std::error_code ignored;
    std::vector<fs::path> leftovers;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_ / folder, ignored)) {
      if (entry.path().extension().string().rfind(".tmp", 0) == 0) leftovers.push_back(entry.path());
    }
    for (const fs::path& leftover : leftovers) fs::remove(leftover);
  }
}

void CampaignFolder::check_clock(const std::string& what) {
  const double now_s = core::unix_time_s();
  if (now_s < latest_unix_s_ - clock_tolerance_s) {
    throw core::Error(core::ExitCode::bad_input,
                      what + ": the clock of this host has been set back by " +
                          core::shortest(std::round(latest_unix_s_ - now_s)) +
                          " s since the campaign began: times of rows would lie\n  hint: set it right (look at " +
                          (path_ / latest_file).string() + " for the latest time seen), then continue with --resume");
  }
  latest_unix_s_ = std::max(now_s, latest_unix_s_);
  core::write_file(path_ / latest_file, [&](std::ostream& out) { out << core::shortest(latest_unix_s_) << '\n'; });
}

void CampaignFolder::require_same(const CampaignPlan& plan) const {
  const auto refuse = [&](const std::string& why) {
    throw core::Error(core::ExitCode::bad_input,
                      path_.string() + "/campaign.yaml differs from the campaign given" + why +
                          "\n  hint: what has been measured cannot change; continue with the same file, or choose "
                          "another --folder");
  };
  const fs::path remembered = path_ / steps_file;
  if (!fs::exists(remembered)) {  // of an older hplcast
    if (changed_) refuse("");
    return;
  }
  const std::string difference = measured_otherwise(core::read_text(remembered), remembered.string(), plan,
                                                    [this](const std::string& step) { return is_begun(step); });
  if (!difference.empty()) refuse(": " + difference);
}

/// All files that a plan makes before anything is measured; campaign.yaml is the last: a folder that has it is
/// complete.
void CampaignFolder::write_plan(const CampaignPlan& plan) const {
  for (const char* folder : {"designs", "measurements", "monitoring", "surroundings", "work"})
    fs::create_directories(path_ / folder);
  std::set<fs::path> designs;
  for (const CampaignStep& step : plan.steps) {
    if (step.design.empty()) continue;
    designs.insert(design(step));
    if (!is_begun(step.name)) core::write_file(design(step), [&](std::ostream& out) { out << step.design; });
  }
  std::vector<fs::path> foreign;  // of steps that are no longer in the plan
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ / "designs"))
    if (designs.count(entry.path()) == 0) foreign.push_back(entry.path());
  for (const fs::path& path : foreign) fs::remove(path);
  core::write_file(path_ / steps_file, [&](std::ostream& out) { out << steps_json(plan); });
  core::write_file(path_ / "campaign.yaml", [&](std::ostream& out) { out << plan.source; });
}

fs::path CampaignFolder::design(const CampaignStep& step) const {
  return path_ / "designs" / (step.name + ".csv");
}

fs::path CampaignFolder::result(const CampaignStep& step) const {
  return path_ / "measurements" / (step.name + "." + step.extension);
}

namespace {

std::string piece_name(const CampaignStep& step, const CampaignChunk& chunk, const std::string& extension) {
  char number[16];
  std::snprintf(number, sizeof number, ".%06zu.", chunk.index);
  return step.name + number + extension;
}

}  // namespace

fs::path CampaignFolder::result(const CampaignStep& step, const CampaignChunk& chunk) const {
  return path_ / "measurements" / piece_name(step, chunk, step.extension);
}

fs::path CampaignFolder::monitoring(const CampaignStep& step) const {
  return path_ / "monitoring" / (step.name + ".csv");
}

fs::path CampaignFolder::monitoring(const CampaignStep& step, const CampaignChunk& chunk) const {
  return path_ / "monitoring" / piece_name(step, chunk, "csv");
}

fs::path CampaignFolder::work() const {
  return path_ / "work";
}

fs::path CampaignFolder::failure(const std::string& what) const {
  constexpr std::size_t longest = 80;
  std::string name = what.substr(0, longest);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-'; }, '_');
  return path_ / "failures" / (name + ".log");
}

fs::path CampaignFolder::surroundings(const std::string& file) const {
  return path_ / "surroundings" / file;
}

bool CampaignFolder::is_begun(const std::string& step) const {
  std::error_code none;
  const fs::directory_iterator entries(path_ / "measurements", none);
  return std::any_of(begin(entries), end(entries), [&](const fs::directory_entry& entry) {
    return core::begins_with(entry.path().filename().string(), step + ".");
  });
}

bool CampaignFolder::is_done(const CampaignStep& step) const {
  return fs::exists(result(step));
}

bool CampaignFolder::is_done(const CampaignStep& step, const CampaignChunk& chunk) const {
  return is_done(step) || fs::exists(result(step, chunk));
}

void CampaignFolder::finish(const CampaignStep& step, const std::vector<CampaignChunk>& chunks) const {
  std::vector<fs::path> results, sensors;
  for (const CampaignChunk& chunk : chunks) {
    results.push_back(result(step, chunk));
    sensors.push_back(monitoring(step, chunk));
  }
  if (!is_done(step)) {
    join(sensors, monitoring(step));
    if (step.extension == "csv") {
      join(results, result(step));
      refuse_failures(step);
    } else {
      fs::rename(results.front(), result(step));
    }
  }
  for (const std::vector<fs::path>* pieces : {&results, &sensors}) {
    for (const fs::path& piece : *pieces) fs::remove(piece);
  }
}

void CampaignFolder::refuse_failures(const CampaignStep& step) const {
  std::size_t calls = 0;
  std::string reason;
  bool any = false;
  core::read_file(result(step), [&](std::istream& in, const std::string& name) {
    core::CsvReader rows(in, name);
    const std::size_t error = rows.find_column("error");  // samples of power have none
    for (; !any && rows.next(); ++calls) {
      any = error == core::CsvReader::npos || rows.text(error).empty();
      if (!any) reason = rows.text(error);
    }
  });
  if (any) return;
  std::vector<fs::path> worthless;
  for (const char* folder : {"measurements", "monitoring"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path_ / folder))
      if (core::begins_with(entry.path().filename().string(), step.name + ".")) worthless.push_back(entry.path());
  }
  for (const fs::path& path : worthless) fs::remove(path);
  throw core::Error(core::ExitCode::bad_input,
                    "step " + step.name + " has measured nothing: " +
                        (calls == 0 ? "it has no rows"
                                    : "all " + std::to_string(calls) +
                                          " calls failed, the last one "
                                          "because: " +
                                          reason) +
                        "\n  hint: change the step in the campaign file, then continue with --resume");
}

void CampaignFolder::log(const std::string& what, const std::string& command, int status, double wall_s) const {
  const std::string time = core::utc_now();
  char wall[32];
  std::snprintf(wall, sizeof wall, "%.1f s", wall_s);
  append_line(path_ / "log.txt",
              time + "  " + what + "  status " + std::to_string(status) + "  " + wall + "  " + command);
  const nlohmann::ordered_json line = {
      {"time", time}, {"what", what}, {"command", command}, {"status", status}, {"wall_s", wall_s}};
  append_line(path_ / "log.jsonl", core::json_text(line));
}

}  // namespace hplcast::calibration
