#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>
#include <utility>

#include "calibration/campaign/campaign_folder.hpp"
#include "calibration/machine/sysfs.hpp"
#include "hplcast/calibration/campaign.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/sensors.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

/// A run that takes so much longer than estimated hangs: the estimate is rough, and starting takes time.
constexpr double patience_factor = 20;
constexpr double patience_s = 300;
constexpr double answer_s = 120;  ///< in which all hosts must answer

std::string rows_text(const CampaignChunk& chunk) {
  return std::to_string(chunk.first) + ":" + std::to_string(chunk.end);
}

/// The header and the first `rows` rows of a CSV.
std::string first_rows(const std::string& csv, std::size_t rows) {
  std::size_t end = csv.find('\n');
  for (; rows > 0 && end != std::string::npos; --rows) end = csv.find('\n', end + 1);
  return csv.substr(0, end == std::string::npos ? end : end + 1);
}

constexpr std::uintmax_t most_bytes_of_own = 1 << 26;

/// @throws core::InputError if a command of the user prints without end.
void require_size_of_own(const fs::path& printed, const std::string& what) {
  std::error_code none;
  if (const auto bytes = fs::file_size(printed, none); none || bytes <= most_bytes_of_own) return;
  throw core::InputError(what + ": it printed more than 64 MiB; expected a CSV of what it measured");
}

/// The CSV that a command of the user has printed, with the number of the run, its begin and the host before each row.
/// @throws core::InputError for a text that is none.
std::string own_rows(const std::string& printed, const std::string& what, std::size_t run, double start_s) {
  core::CsvReader csv(core::TextStream(printed), what + ", its standard output");
  for (const char* ours : {"run", "start_s", "host"})
    if (csv.find_column(ours) != core::CsvReader::npos)
      throw core::InputError(what + " printed a column `" + ours + "`, which campaigns add themselves");
  if (const char separator = core::csv_separator(printed.substr(0, printed.find('\n'))); separator != ',')
    throw core::InputError(what + " printed `" + separator + "` between its columns; expected commas");
  std::size_t count = 0;
  while (csv.next()) ++count;
  if (count == 0)
    throw core::InputError(what + " printed no rows; expected a CSV: a line with names of columns, then rows");
  const std::string prefix =
      std::to_string(run) + ',' + core::shortest(start_s) + ',' + core::csv_field(core::host_name()) + ',';
  std::string rows;
  for (const std::string& line : core::split(printed, '\n'))
    rows += (rows.empty() ? "run,start_s,host," : prefix) + line + '\n';
  if (static_cast<std::size_t>(std::count(rows.begin(), rows.end(), '\n')) != count + 1)
    throw core::InputError(what + " printed other lines than rows (comments, empty ones, line breaks inside a field)");
  return rows;
}

class CampaignRun {
 public:
  CampaignRun(const CampaignPlan& plan, const fs::path& folder, bool resume, const CampaignReport& report)
      : plan_(plan), folder_(fs::absolute(folder), plan, resume), report_(report), chunks_(shuffled_chunks(plan)) {
    for (const CampaignChunk& chunk : chunks_) total_s_ += chunk.estimated_s;
  }

  void run() {
    for (const std::string& note : plan_.notes) tell(note);
    if (folder_.is_changed()) tell("the campaign file has changed; what has been measured stays");
    if (std::all_of(chunks_.begin(), chunks_.end(), [&](const CampaignChunk& c) { return is_done(c); })) {
      tell("everything is measured already");
    } else {
      refuse_load();
      if (!plan_.set.empty()) change_settings();
      look_at_hosts();
      check_steps();
      warm_up();
      tell_steps();
      measure_control();
    }
    bool measured = false;
    std::vector<std::size_t> missing(plan_.steps.size(), 0);
    for (const CampaignChunk& chunk : chunks_) ++missing[chunk.step];
    for (const CampaignChunk& chunk : chunks_) {
      if (!is_done(chunk)) {
        refuse_load();
        run_chunk(plan_.steps[chunk.step], chunk);
        measured = true;
        refuse_sensors(plan_.steps[chunk.step], chunk);
        measure_control();
      }
      done_s_ += chunk.estimated_s;
      if (--missing[chunk.step] == 0) finish_step(chunk.step);
    }
    if (measured && plan_.control) describe_hosts("hosts-end.json", "looking at the hosts again");
    if ((settings_ && !settings_->restore()) || (settings_of_hosts_ && !settings_of_hosts_->restore()))
      tell("not all settings of `set` could be restored: look at them (hplcast doctor --json, on each host)");
    std::error_code ignored;                  // of files that a server keeps for a while
    fs::remove_all(folder_.work(), ignored);  // no part of the archive
  }

 private:
  void change_settings() {
    if (plan_.each_host) {
      const fs::path hplcast = plan_.measure_dgemm.parent_path() / "hplcast";
      settings_of_hosts_.emplace(plan_.set, *plan_.each_host, hplcast, folder_.work() / "settings.txt");
    } else {
      settings_.emplace(plan_.set);
    }
    for (const std::string& change : settings_ ? settings_->changes() : settings_of_hosts_->changes()) {
      tell("set " + change + ", until the campaign ends");
      folder_.log("set " + change, "set", 0, 0);
    }
  }

  void tell(const std::string& message) const {
    if (report_.message) report_.message(message);
  }

  bool is_done(const CampaignChunk& chunk) const { return folder_.is_done(plan_.steps[chunk.step], chunk); }

  core::Command command_of(const fs::path& program, bool is_mpi, const std::vector<std::string>& arguments) const {
    core::Command command;
    if (is_mpi)
      command = core::mpirun_command(plan_.launch, program);
    else
      command.program = program;
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    if (plan_.launch.oversubscribe) command.arguments.push_back("--allow-oversubscription");
    if (!plan_.launch.bind) command.arguments.push_back("--no-bind");
    if (plan_.launch.threads > 1) core::append(command.arguments, {"--threads", std::to_string(plan_.launch.threads)});
    if (!plan_.launch.blas.empty()) core::append(command.arguments, {"--blas", plan_.launch.blas.string()});
    return command;
  }

  std::string how_to_go_on() const {
    return "\n  hint: finished measurements are kept in " + folder_.path().string() + "; continue with --resume";
  }

  /// Runs a command and logs it. @throws core::Error that says what it was for.
  void run_logged(core::Command command, std::string what, double timeout_s) const {
    command.timeout_s = std::round(timeout_s);
    command.purpose = what;
    core::CommandResult result;
    try {
      result = core::run(command);
    } catch (const core::Error& error) {  // Ctrl-C ends the command, and then us
      folder_.log(what, core::to_string(command), static_cast<int>(error.code()), 0);
      throw core::Error(error.code(), what + ": " + error.what() + how_to_go_on());
    }
    folder_.log(what, core::to_string(command), result.status, result.wall_s);
    if (result.status == 0) return;
    if (const auto row = first_number(folder_.position())) what += ", in row " + core::shortest(*row);
    const bool is_input = result.status == static_cast<int>(core::ExitCode::bad_input) ||
                          result.status == static_cast<int>(core::ExitCode::wrong_usage);
    command.output = folder_.failure(what);
    core::write_file(command.output, [&](std::ostream& out) { out << result.output; });
    command.purpose = what;  // with the row
    throw core::Error(
        is_input ? core::ExitCode::bad_input : core::ExitCode::external_failure,
        core::program_failure(command, result.status, core::how_it_ended(command, result)).what() + how_to_go_on());
  }

  /// Descriptions of all hosts, with the binding of every rank as it really is, and the messages of their kernels since
  /// the campaign began.
  core::MeasurementContext describe_hosts(const std::string& name, const std::string& what) const {
    const fs::path file = folder_.surroundings(name);
    run_logged(command_of(plan_.measure_dgemm, true,
                          {"--describe", "--describe-folder", file.parent_path().string(), "--since",
                           core::shortest(folder_.start_unix_s()), "-o", file.string()}),
               what, answer_s);
    return core::read_from(file, core::read_context);
  }

  /// Asks the doctor about all hosts, and whether they are as required and like each other.
  void look_at_hosts() {
    const core::MeasurementContext context = describe_hosts(
        "hosts.json", "looking at the hosts" + (plan_.hosts.empty() ? "" : " " + core::comma_separated(plan_.hosts)));
    const std::vector<std::string> unmet = unmet_requirements(context.machines, plan_.required);
    for (const std::string& line : unmet) tell(line);
    if (!unmet.empty())
      throw core::InputError(std::to_string(unmet.size()) + " demands of `require` are not met: see above" +
                             "\n  hint: `set` in the campaign file changes some of them, as root, while it runs");
    for (const std::string& line : differences_of_hosts(context.machines)) tell("hosts differ in " + line);
    int warnings = 0;
    core::write_file(folder_.surroundings("checks.txt"), [&](std::ostream& out) {
      for (const core::MachineDescription& machine : context.machines) {
        const std::vector<Check> checks = examine(machine, find_tools(), context.software);
        for (const Check& check : checks) {
          if (check.status != CheckStatus::warn || !concerns_measuring(check)) continue;
          ++warnings;
          tell(machine.host + ": " + check.name + ": " + check.found + " -> " + check.remedy);
        }
        out << machine.host << '\n';
        write_table(out, checks);
      }
    });
    if (plan_.strict && warnings > 0)
      throw core::InputError(std::to_string(warnings) + " warnings, and the campaign is strict\n  hint: see above");
    describe_launching_host();
  }

  /// Best effort: these programs may be missing, and hplcast may be installed without its history.
  void describe_launching_host() const {
    const std::string programs = plan_.measure_dgemm.parent_path().string();
    const std::vector<std::pair<std::string, std::vector<std::string>>> questions = {
        {"launcher.txt", {plan_.launch.mpirun, "--version"}},
        {"git.txt", {"git", "-C", programs, "log", "-1", "--format=%H %cI %s"}},
        {"git-status.txt", {"git", "-C", programs, "status", "--short"}}};
    for (const auto& [file, words] : questions) {
      if (core::find_program(words.front()).empty()) continue;
      core::Command command{words.front(), {words.begin() + 1, words.end()}};
      command.timeout_s = 20;
      const core::CommandResult result = core::run(command);
      if (result.status == 0)
        core::write_file(folder_.surroundings(file), [&](std::ostream& out) { out << result.output; });
    }
  }

  /// Every step is started once on all hosts, to look at its options, design and ranks: better now than after hours.
  void check_steps() {
    for (const CampaignStep& step : plan_.steps) {
      if (folder_.is_done(step) || step.is_own) continue;
      std::vector<std::string> arguments = arguments_of(step);
      arguments.push_back("--check");
      run_logged(command_of(step.program, step.is_mpi, arguments), "checking step " + step.name, answer_s);
    }
  }

  std::vector<std::string> arguments_of(const CampaignStep& step) const {
    std::vector<std::string> arguments = step.arguments;
    if (!step.design.empty()) arguments.insert(arguments.end(), {step.design_option, folder_.design(step).string()});
    if (step.is_mpi) return arguments;
    arguments.insert(arguments.end(), {"--mpirun", plan_.launch.mpirun});
    if (!plan_.launch.hostfile.empty())
      core::append(arguments, {"--hostfile", fs::absolute(plan_.launch.hostfile).string()});
    for (const std::string& option : plan_.launch.options) arguments.push_back("--launcher-option=" + option);
    return arguments;
  }

  void warm_up() {
    if (!(plan_.warm_up_s > 0)) return;
    tell("warming up for " + core::shortest(plan_.warm_up_s) + " s");
    const fs::path design = folder_.surroundings("warm-up.csv");
    core::write_file(design, [](std::ostream& out) { out << "m,n,k\n512,512,128\n"; });
    run_logged(command_of(plan_.measure_dgemm, true,
                          {"--design", design.string(), "--warm-up", core::shortest(plan_.warm_up_s), "-o",
                           folder_.surroundings("warm-up-rows.csv").string()}),
               "warming up", patience_s + plan_.warm_up_s);
  }

  void tell_steps() const {
    for (const CampaignStep& step : plan_.steps)
      if (!folder_.is_done(step)) tell(step.name + ": about " + core::duration_text(std::ceil(step.estimated_s)));
    tell("all pieces in random order: about " + core::duration_text(std::ceil(total_s_)));
  }

  /// Adds rows to control.csv. Not with several ranks per core, whose times say nothing about the machine.
  void measure_control() const {
    if (!plan_.control || plan_.launch.oversubscribe) return;
    const fs::path rows = folder_.work() / core::campaign_control_file;
    run_logged(command_of(plan_.measure_dgemm, true,
                          {"--control", "--since", core::shortest(folder_.start_unix_s()), "-o", rows.string()}),
               "the control measurement", answer_s);
    folder_.add_control(rows);
  }

  /// @throws core::InputError if others use this host more than `limits` allow: our own ranks rest between two pieces.
  void refuse_load() const {
    if (!plan_.limits.load) return;
    const double runnable = runnable_of_others("/").value_or(0);
    if (runnable > *plan_.limits.load)
      throw core::InputError("others have " + core::printed("%.1f", runnable) +
                             " runnable tasks on this host, more than limits.load = " +
                             core::shortest(*plan_.limits.load) + how_to_go_on());
  }

  /// @throws core::InputError if a sensor was above its limit during a piece, which stays. A limit that no sensor can
  /// reach is told of, once.
  void refuse_sensors(const CampaignStep& step, const CampaignChunk& chunk) {
    const fs::path rows = folder_.monitoring(step, &chunk);
    if (!(plan_.limits.temperature_celsius || plan_.limits.power_w) || !fs::exists(rows)) return;
    bool any_warm = false, any_power = false;
    core::read_file(rows, [&](std::istream& in, const std::string& name) {
      core::CsvReader csv(in, name);
      const std::size_t host = csv.column("host"), quantity = csv.column("quantity"), sensor = csv.column("sensor"),
                        value = csv.column("value");
      while (csv.next()) {
        const bool warm = csv.text(quantity) == to_string(Quantity::temperature_celsius);
        const bool power = csv.text(quantity) == to_string(Quantity::power_w);
        any_warm |= warm;
        any_power |= power;
        const auto& limit = warm ? plan_.limits.temperature_celsius : plan_.limits.power_w;
        if (!limit || !(warm || power)) continue;
        if (csv.number(value) <= *limit) continue;
        throw core::InputError(std::string(csv.text(host)) + ": " + std::string(csv.text(sensor)) + " was at " +
                               core::shortest(csv.number(value)) + (warm ? " degrees Celsius" : " W") + " in step " +
                               step.name + ", above the limit of " + core::shortest(*limit) + how_to_go_on());
      }
    });
    const bool no_sensor = (plan_.limits.temperature_celsius && !any_warm) || (plan_.limits.power_w && !any_power);
    if (no_sensor && !std::exchange(told_of_sensors_, true))
      tell(std::string("no host has a sensor of ") +
           (plan_.limits.temperature_celsius && !any_warm ? "temperature" : "power") + ": its limit is not looked at");
  }

  void finish_step(std::size_t index) const {
    std::vector<CampaignChunk> mine;
    for (const CampaignChunk& chunk : chunks_of(plan_))
      if (chunk.step == index) mine.push_back(chunk);
    folder_.finish(plan_.steps[index], mine);
  }

  std::vector<std::string> arguments_of(const CampaignStep& step, const CampaignChunk& chunk) const {
    std::vector<std::string> arguments = arguments_of(step);
    const auto add = [&](const std::string& option, const std::string& value) {
      arguments.insert(arguments.end(), {option, value});
    };
    if (chunk.end > 0) add("--rows", rows_text(chunk));
    add("--since", core::shortest(folder_.start_unix_s()));
    if (step.is_mpi) {
      if (chunk.end > 0) add("--position", folder_.position().string());
      if (chunk.end > 0) arguments.push_back("--allow-failures");  // the step as a whole is looked at in the end
      add("--machine", folder_.surroundings(step.name + ".json").string());
      if (plan_.monitoring) add("--monitoring", folder_.monitoring(step, &chunk).string());
    } else {
      add("--folder", folder_.work().string());
    }
    add("-o", folder_.result(step, &chunk).string());
    return arguments;
  }

  void tell_progress(const CampaignStep& step, const CampaignChunk& chunk, double begin_s) const {
    if (!report_.progress) return;
    const double here_s = std::min(now_s() - begin_s, chunk.estimated_s);
    report_.progress((done_s_ + here_s) / total_s_, step.name);
  }

  /// Sensors of this host meanwhile, as the measuring programs read them of all hosts.
  void run_own(const CampaignStep& step, const CampaignChunk& chunk) const {
    const std::string what = "step " + step.name + ", run " + std::to_string(chunk.index);
    const fs::path printed = folder_.work() / "own.out";
    // The shell keeps what it prints apart from what it says.
    core::Command command{"/bin/sh", {"-c", "exec \"$@\" >\"$0\"", printed.string(), step.program.string()}};
    command.arguments.insert(command.arguments.end(), step.arguments.begin(), step.arguments.end());
    const double begin_s = now_s(), start_s = core::unix_time_s() - folder_.start_unix_s();
    command.while_running = [&](int) {
      tell_progress(step, chunk, begin_s);
      require_size_of_own(printed, what);
    };
    Monitor monitor(plan_.monitoring ? Sensors::discover() : Sensors(), 1);
    run_logged(std::move(command), what, step.time_limit_s);
    const std::vector<Reading> readings = monitor.stop();
    if (plan_.monitoring)
      core::write_file(folder_.monitoring(step, &chunk), [&](std::ostream& out) {
        out << monitoring_csv_header << '\n';
        write_monitoring_rows(out, core::host_name(), begin_s - start_s, readings);
      });
    require_size_of_own(printed, what);
    const std::string rows = own_rows(core::read_text(printed), what, chunk.index, start_s);
    core::write_file(folder_.result(step, &chunk), [&](std::ostream& out) { out << rows; });
  }

  void run_chunk(const CampaignStep& step, const CampaignChunk& chunk) {
    if (step.is_own) return run_own(step, chunk);
    core::Command command = command_of(step.program, step.is_mpi, arguments_of(step, chunk));
    const double begin_s = now_s();
    command.while_running = [&](int) { tell_progress(step, chunk, begin_s); };
    const std::string what = "step " + step.name + (chunk.end > 0 ? ", rows " + rows_text(chunk) : "");
    folder_.check_clock(what);
    fs::remove(folder_.position());
    run_logged(std::move(command), what, patience_s + patience_factor * chunk.estimated_s);
    folder_.check_clock(what);
  }

  const CampaignPlan& plan_;
  CampaignFolder folder_;
  const CampaignReport& report_;
  std::vector<CampaignChunk> chunks_;
  double total_s_ = 0, done_s_ = 0;
  std::optional<HeldSettings> settings_;
  std::optional<SettingsOnHosts> settings_of_hosts_;
  bool told_of_sensors_ = false;
};

}  // namespace

void shorten(CampaignPlan& plan, double total_s) {
  double fixed_s = plan.warm_up_s, free_s = 0;
  for (const CampaignStep& step : plan.steps) (step.may_be_shortened ? free_s : fixed_s) += step.estimated_s;
  if (fixed_s + free_s <= total_s) return;
  const double share = (total_s - fixed_s) / free_s;  // below 0 if nothing may be shortened
  for (CampaignStep& step : plan.steps) {
    if (!step.may_be_shortened && share > 0) continue;
    const double rows = std::floor(share * static_cast<double>(step.rows));
    core::require(
        rows >= 1, "duration", total_s,
        "more than the " + std::to_string(std::lround(fixed_s)) + " s that warm-up and steps without a design need");
    step.rows = static_cast<std::size_t>(rows);
    step.design = first_rows(step.design, step.rows);
    step.estimated_s *= share;
  }
}

std::vector<CampaignChunk> chunks_of(const CampaignPlan& plan) {
  if (!(plan.chunk_s > 0)) throw core::DomainError("chunk", plan.chunk_s, "a positive number of seconds");
  std::vector<CampaignChunk> chunks;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    const CampaignStep& step = plan.steps[index];
    const auto most = std::max(1.0, static_cast<double>(step.rows));
    const auto pieces = static_cast<std::size_t>(
        step.is_own ? most : std::clamp(std::ceil(step.estimated_s / plan.chunk_s), 1.0, most));
    for (std::size_t piece = 0; piece < pieces; ++piece)
      chunks.push_back({index, piece, step.rows * piece / pieces, step.rows * (piece + 1) / pieces,
                        step.estimated_s / static_cast<double>(pieces)});
  }
  return chunks;
}

std::vector<CampaignChunk> shuffled_chunks(const CampaignPlan& plan) {
  std::vector<CampaignChunk> chunks = chunks_of(plan);
  core::RandomStream random({plan.seed, core::stream_design, 0, 0});
  core::shuffle(chunks, random);
  return chunks;
}

void run_campaign(const CampaignPlan& plan, const fs::path& folder, bool resume, const CampaignReport& report) {
  if (plan.steps.empty()) throw core::DomainError("number of steps", 0.0, "at least 1");
  CampaignRun(plan, folder, resume, report).run();
}

}  // namespace hplcast::calibration
