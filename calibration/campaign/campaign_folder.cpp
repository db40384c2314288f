#include "calibration/campaign/campaign_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/core/campaign.hpp"
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
    if (!header.empty() && text.substr(0, line) != header)
      throw core::ParseError({piece.string(), 1, ""}, "the columns differ from those of the pieces before",
                             "the campaign was continued with another version of hplcast: start it anew");
    header = text.substr(0, line);
    if (line != std::string::npos) rows += text.substr(line + 1);
  }
  if (!header.empty()) core::write_file(whole, [&](std::ostream& out) { out << header << '\n' << rows; });
}

/// Removes the files of a folder for whose names this holds; none if it cannot be read.
void remove_files(const fs::path& folder, const std::function<bool(const fs::path& name)>& holds) {
  std::error_code ignored;
  std::vector<fs::path> chosen;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (holds(entry.path().filename())) chosen.push_back(entry.path());
  for (const fs::path& file : chosen) fs::remove(file);
}

std::string file_name(const CampaignStep& step, const CampaignChunk* piece, const std::string& extension) {
  return step.name + (piece != nullptr ? core::printed(".%06zu.", piece->index) : ".") + extension;
}

/// Whether a file is a result of a step, or of a piece of it.
bool is_of(const fs::path& name, const std::string& step) {
  return core::begins_with(name.string(), step + ".");
}

using Json = nlohmann::ordered_json;

Json launch_of(const CampaignPlan& plan) {
  return {{"ranks", plan.launch.ranks},
          {"hosts", plan.hosts},
          {"bind", plan.launch.bind},
          {"allow_oversubscription", plan.launch.oversubscribe}};
}

std::map<std::string, Json> steps_of(const CampaignPlan& plan) {
  std::vector<int> pieces(plan.steps.size(), 0);
  for (const CampaignChunk& chunk : chunks_of(plan)) ++pieces[chunk.step];
  std::map<std::string, Json> steps;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const CampaignStep& step = plan.steps[i];
    steps[step.name] = {{"program", step.program.filename().string()},
                        {"arguments", step.arguments},
                        {"design", core::sha256_hex(step.design)},
                        {"pieces", pieces[i]}};
  }
  return steps;
}

std::string words_for(const std::string& field) {
  const std::map<std::string, std::string> words = {{"arguments", "its options"},
                                                    {"design", "its sizes, counts or seed"},
                                                    {"pieces", "its number of pieces (`chunk`, `duration`)"}};
  const auto found = words.find(field);
  return found == words.end() ? "its " + field : found->second;
}

/// The first field whose values are not the same in both; empty: there is none.
std::string first_difference(const Json& before, const Json& now) {
  for (const auto& [field, value] : before.items())
    if (!now.contains(field) || now.at(field) != value) return field;
  return "";
}

/// How a plan differs from what has been measured with another one, of which `remembered` is the steps.json: the
/// first difference, for people. Empty: what was measured belongs to the new plan, too. `is_begun`: whether something
/// of the step with this name has been measured. @throws ParseError if `remembered` is damaged; `name`: where it is
/// from.
std::string measured_otherwise(const std::string& remembered, const std::string& name, const CampaignPlan& plan,
                               const std::function<bool(const std::string& step)>& is_begun) {
  core::check_json(remembered, name);
  try {
    const Json before = core::parse_json<Json>(remembered);
    const std::map<std::string, Json> now = steps_of(plan);
    bool any = false;
    for (const auto& [step, fields] : before.at("steps").items()) {
      if (!is_begun(step)) continue;
      any = true;
      const auto found = now.find(step);
      if (found == now.end()) return "step " + step + ", which has been measured, is not in it";
      const std::string field = first_difference(fields, found->second);
      if (!field.empty()) return "step " + step + " has been measured, and " + words_for(field) + " would be others";
    }
    const std::string field = any ? first_difference(before.at("launch"), launch_of(plan)) : "";
    return field.empty() ? "" : "something has been measured, and `" + field + "` would be another";
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, error.what(), "written by `hplcast calibrate`; was it changed by hand?");
  }
}

}  // namespace

CampaignFolder::CampaignFolder(fs::path path, const CampaignPlan& plan, bool resume) : path_(std::move(path)) {
  const auto is_new = [&] {
    const bool has_campaign = fs::exists(path_ / "campaign.yaml");
    if (has_campaign && !resume)
      throw core::InputError(path_.string() +
                             " has a campaign already\n  hint: --resume continues it; or choose another --folder");
    return !has_campaign;
  };
  std::error_code error;
  // A folder with a lock only: killed before anything was measured.
  if (is_new() && fs::exists(path_, error) && !fs::exists(path_ / lock_file, error) && !fs::is_empty(path_, error))
    throw core::InputError(path_.string() + " holds something else than a campaign");
  fs::create_directory(path_, error);  // no parents: they may be mistyped
  if (error) core::throw_write_error("make the folder", path_, error.value());
  lock();
  const bool is_new_now = is_new();  // whoever had the lock may have made one
  remove_leftovers();
  if (is_new_now) {
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
    if (waited_s >= lock_patience_s)
      throw core::InputError(path_.string() + " is in use: another hplcast calibrate runs there");
    sleep_s(lock_pause_s);
  }
}

/// Files that were being written when a process was killed.
void CampaignFolder::remove_leftovers() const {
  fs::remove_all(work());
  for (const char* folder : {"measurements", "monitoring", "surroundings", "designs", "."})
    remove_files(path_ / folder,
                 [](const fs::path& name) { return core::begins_with(name.extension().string(), ".tmp"); });
}

void CampaignFolder::check_clock(const std::string& what) {
  const double now_s = core::unix_time_s();
  if (now_s < latest_unix_s_ - clock_tolerance_s)
    throw core::InputError(what + ": the clock of this host has been set back by " +
                           core::shortest(std::round(latest_unix_s_ - now_s)) +
                           " s since the campaign began: times of rows would lie\n  hint: set it right (look at " +
                           (path_ / latest_file).string() + " for the latest time seen), then continue with --resume");
  latest_unix_s_ = std::max(now_s, latest_unix_s_);
  core::write_file(path_ / latest_file, [&](std::ostream& out) { out << core::shortest(latest_unix_s_) << '\n'; });
}

void CampaignFolder::require_same(const CampaignPlan& plan) const {
  const auto refuse = [&](const std::string& why) {
    throw core::InputError(
        path_.string() + "/campaign.yaml differs from the campaign given" + why +
        "\n  hint: what has been measured cannot change; continue with the same file, or choose another --folder");
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
    designs.insert(design(step).filename());
    if (!is_begun(step.name)) core::write_file(design(step), [&](std::ostream& out) { out << step.design; });
  }
  // Designs of steps that are no longer in the plan:
  remove_files(path_ / "designs", [&](const fs::path& name) { return designs.count(name) == 0; });
  // The plan that is measured: for each step the program, its arguments, its design and its pieces; and who measures.
  const Json json = {{"launch", launch_of(plan)}, {"steps", steps_of(plan)}};
  core::write_file(path_ / steps_file, [&](std::ostream& out) { out << core::json_text(json, 2) << '\n'; });
  core::write_file(path_ / "campaign.yaml", [&](std::ostream& out) { out << plan.source; });
}

fs::path CampaignFolder::result(const CampaignStep& step, const CampaignChunk* piece) const {
  return path_ / "measurements" / file_name(step, piece, step.extension);
}

fs::path CampaignFolder::monitoring(const CampaignStep& step, const CampaignChunk* piece) const {
  return path_ / "monitoring" / file_name(step, piece, "csv");
}

fs::path CampaignFolder::failure(const std::string& what) const {
  constexpr std::size_t longest = 80;
  std::string name = what.substr(0, longest);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-'; }, '_');
  return path_ / "failures" / (name + ".log");
}

bool CampaignFolder::is_begun(const std::string& step) const {
  std::error_code none;
  const fs::directory_iterator entries(path_ / "measurements", none);
  return std::any_of(begin(entries), end(entries),
                     [&](const fs::directory_entry& entry) { return is_of(entry.path().filename(), step); });
}

void CampaignFolder::finish(const CampaignStep& step, const std::vector<CampaignChunk>& chunks) const {
  std::vector<fs::path> results, sensors;
  for (const CampaignChunk& chunk : chunks) {
    results.push_back(result(step, &chunk));
    sensors.push_back(monitoring(step, &chunk));
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
  for (const std::vector<fs::path>* pieces : {&results, &sensors})
    for (const fs::path& piece : *pieces) fs::remove(piece);
}

void CampaignFolder::add_control(const fs::path& rows) const {
  const fs::path all = path_ / core::campaign_control_file;
  join({all, rows}, all);
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
  for (const char* folder : {"measurements", "monitoring"})
    remove_files(path_ / folder, [&](const fs::path& name) { return is_of(name, step.name); });
  throw core::InputError("step " + step.name + " has measured nothing: " +
                         (calls == 0
                              ? "it has no rows"
                              : "all " + std::to_string(calls) + " calls failed, the last one because: " + reason) +
                         "\n  hint: change the step in the campaign file, then continue with --resume");
}

void CampaignFolder::log(const std::string& what, const std::string& command, int status, double wall_s) const {
  const std::string time = core::utc_now();
  append_line(path_ / "log.txt", time + "  " + what + "  status " + std::to_string(status) +
                                     core::printed("  %.1f s  ", wall_s) + command);
  const nlohmann::ordered_json line = {
      {"time", time}, {"what", what}, {"command", command}, {"status", status}, {"wall_s", wall_s}};
  append_line(path_ / "log.jsonl", core::json_text(line));
}

}  // namespace hplcast::calibration
