#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "cli/support/progress.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/follow.hpp"

namespace hplcast::cli {

namespace {

struct FollowOptions {
  std::string output;
  std::string predicted;
  std::string picture;
  long long N = 0;
  double abort_below_gflops = 0;
  double timeout_s = -1;  ///< below 0: by the run itself
  bool json = false;
};

std::string time_of_day(double unix_s, bool is_utc) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  is_utc ? gmtime_r(&seconds, &parts) : localtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

/// Lines of a file that may grow, or of a pipe.
class GrowingFile {
 public:
  explicit GrowingFile(const std::string& path)
      : path_(path), fd_(core::is_standard_stream(path) ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (fd_ < 0 || fstat(fd_, &status) != 0) throw InputError("cannot read " + path + ": " + std::strerror(errno));
    grows_ = S_ISREG(status.st_mode);
  }
  ~GrowingFile() {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  /// Whole lines. False at the end: of a pipe; of a file that has been as it is for longer than `patience_s()`.
  bool next(std::string& line, const std::function<double()>& patience_s) {
    constexpr std::size_t longest = std::size_t{1} << 20;
    for (;;) {
      const std::size_t end = text_.find('\n', begin_);
      if (end != std::string::npos) {
        line = text_.substr(begin_, end - begin_);
        begin_ = end + 1;
        return true;
      }
      text_.erase(0, begin_);
      begin_ = 0;
      if (text_.size() > longest) throw InputError(path_ + ": a line of more than 1 MiB; is this HPL's output?");
      char block[1 << 14];
      const ssize_t got = ::read(fd_, block, sizeof block);
      if (got < 0) throw InputError("cannot read " + path_ + ": " + std::strerror(errno));
      text_.append(block, static_cast<std::size_t>(got));
      read_ += got;
      if (got == 0 && !(grows_ && waits(patience_s()))) return false;
    }
  }

 private:
  bool waits(double patience_s) {
    struct stat status {};
    fstat(fd_, &status);
    if (status.st_size < read_)
      throw InputError(path_ + " became shorter while it was read: is another run writing it?");
    if (core::unix_time_s() - static_cast<double>(status.st_mtime) > patience_s) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return true;
  }

  std::string path_;
  int fd_;
  bool grows_ = false;
  off_t read_ = 0;
  std::string text_;
  std::size_t begin_ = 0;
};

/// Shows what is known of one run after the other.
class Watch {
 public:
  Watch(const FollowOptions& options, std::vector<core::Prediction> predictions)
      : options_(options), predictions_(std::move(predictions)) {}

  void progress(const core::HplLog& run) {
    if (run.progress.size() == 1) begin(run);
    note_time(run.progress.back());
    const auto outlook = follower_->take(run.progress.back());
    if (!outlook) return;
    outlook_ = *outlook;
    outlooks_.push_back(outlook_);
    share_ = outlook_.column / static_cast<double>(run.parameters.N);
    options_.json ? print_json("running", {}) : show();
    if (outlook_.high_gflops < options_.abort_below_gflops) {
      line_.clear();
      draw(run);
      throw core::Error(core::ExitCode::limit_exceeded, "the run will end with " + significant(outlook_.high_gflops) +
                                                            " Gflop/s at most (with 95 %), below " +
                                                            significant(options_.abort_below_gflops));
    }
  }

  void result(const core::HplLog& run) {
    if (run.progress.empty()) return;
    line_.clear();
    if (!start_s_ && run.started_unix_s) {
      start_s_ = run.started_unix_s;
      is_utc_ = true;
    }
    if (options_.json) {
      print_json("ended", run.result);
    } else {
      std::cout << "ended: " << core::readable(run.result->gflops, 5) << " Gflop/s, "
                << duration_text(run.result->time_s) << ", residual " << core::residual_text(*run.result) << '\n';
      for (const study::Departure& departure : outlook_.departures) std::cout << "  " << text_of(departure) << '\n';
      std::cout.flush();
    }
  }

  /// The picture that was asked for: of the last run.
  void draw(const core::HplLog& run) const {
    if (options_.picture.empty() || outlooks_.empty()) return;
    const auto gflops = run.result ? std::optional(run.result->gflops) : std::nullopt;
    write_picture(options_.picture, study::follow_picture(run.parameters, outlooks_, gflops));
  }

  /// How long the output may stay as it is.
  double patience_s(const core::HplLog& run) const {
    constexpr double before_lines_s = 1800, least_s = 60, factor = 1.5;
    if (options_.timeout_s >= 0) return options_.timeout_s;
    return outlook_.time_s > 0 && !run.result ? least_s + factor * (outlook_.high_time_s - outlook_.elapsed_s)
                                              : before_lines_s;
  }

 private:
  void begin(const core::HplLog& run) {
    const auto prediction = study::prediction_of(run, predictions_);
    if (!prediction && !predictions_.empty())
      warn(options_.predicted + " has no prediction of N=" + std::to_string(run.parameters.N) +
           " on the grid of this run, which is followed without one");
    follower_.emplace(run.has_grid || !prediction ? run.parameters : prediction->parameters, prediction);
    outlook_ = {};
    outlooks_.clear();
    rows_ = in_time_ = 0;
    told_ = 0;
    start_s_.reset();
    last_ = {};
  }

  /// The time of day when the run began, if lines come as they are printed.
  void note_time(const core::HplProgress& progress) {
    constexpr double least_s = 0.5;
    constexpr int enough = 3;
    const double now_s = core::unix_time_s(), step_s = progress.elapsed_s - last_.elapsed_s;
    const bool in_time = last_.elapsed_s > 0 && step_s > least_s && now_s - arrived_s_ > step_s / 2;
    in_time_ = in_time ? in_time_ + 1 : 0;
    if (!start_s_ && in_time_ == enough) start_s_ = now_s - progress.elapsed_s;
    last_ = progress;
    arrived_s_ = now_s;
  }

  std::string text_of(const study::Departure& departure) const {
    std::string text = departure.is_pause ? "paused for " + significant(departure.change, 2) + " s"
                                          : signed_percent(departure.change) + " of the rate";
    text += " after " + duration_text(departure.elapsed_s) + core::printed(", column %.0f", departure.column);
    return start_s_ ? text + ", " + time_of_day(*start_s_ + departure.elapsed_s, is_utc_) : text;
  }

  std::string state() const {
    std::string text;
    if (outlook_.behind_prediction) text = signed_percent(*outlook_.behind_prediction) + " of the predicted time";
    if (outlook_.departures.empty()) return text.empty() ? "as it began" : text;
    return text + (text.empty() ? "" : "; ") + text_of(outlook_.departures.back());
  }

  std::string interval() const {
    return core::readable(outlook_.gflops) + " Gflop/s (" + core::readable(outlook_.low_gflops) + " to " +
           core::readable(outlook_.high_gflops) + ")";
  }

  /// The line that updates, and a row for each tenth of the columns and each departure.
  void show() {
    const double left_s = outlook_.time_s - outlook_.elapsed_s;
    std::string left = duration_text(left_s) + " left";
    if (start_s_) left += ", ends " + time_of_day(*start_s_ + outlook_.time_s, is_utc_).substr(11);
    const std::string text = core::printed("%5.1f %%  ", 100 * share_) + interval() + ", " + left + "; " + state();
    const auto tenths = static_cast<int>(10 * share_);
    if (tenths > rows_ || outlook_.departures.size() > told_) {
      line_.clear();
      std::cout << text << std::endl;
      rows_ = tenths;
      told_ = outlook_.departures.size();
    }
    line_.update([&](double, int width) { return text.substr(0, static_cast<std::size_t>(std::max(width, 1))); });
  }

  void print_json(const char* state, const std::optional<core::HplRun>& result) const {
    nlohmann::ordered_json json = {
        {"state", state}, {"column", outlook_.column}, {"fraction", share_}, {"elapsed_s", outlook_.elapsed_s}};
    if (result) {
      json["residual"] = core::residual_text(*result);
      json.update(HPLCAST_JSON(*result, time_s, gflops));
    } else {
      json.update(HPLCAST_JSON(outlook_, time_s, low_time_s, high_time_s, gflops, low_gflops, high_gflops));
      if (outlook_.behind_prediction) json["behind_prediction"] = *outlook_.behind_prediction;
    }
    json["departures"] = nlohmann::ordered_json::array();
    for (const study::Departure& departure : outlook_.departures) {
      nlohmann::ordered_json one = {{"kind", departure.is_pause ? "pause" : "rate"},
                                    {"column", departure.column},
                                    {"elapsed_s", departure.elapsed_s},
                                    {departure.is_pause ? "lost_s" : "change", departure.change}};
      if (start_s_) one["at"] = time_of_day(*start_s_ + departure.elapsed_s, is_utc_);
      json["departures"].push_back(std::move(one));
    }
    std::cout << core::json_text(json, -1) << std::endl;
  }

  const FollowOptions& options_;
  std::vector<core::Prediction> predictions_;
  Progress line_;
  std::optional<study::RunFollower> follower_;
  study::RunOutlook outlook_;
  std::vector<study::RunOutlook> outlooks_;  ///< of this run
  double share_ = 0;
  int rows_ = 0;          ///< tenths of the columns that have their row
  std::size_t told_ = 0;  ///< departures
  core::HplProgress last_;
  double arrived_s_ = 0;  ///< the last line
  int in_time_ = 0;       ///< lines that came as they were printed, one after the other
  std::optional<double> start_s_;
  bool is_utc_ = false;
};

void run_follow(FollowOptions& options) {
  if (!options.predicted.empty() && is_prediction_file(options.output) && !is_prediction_file(options.predicted))
    std::swap(options.output, options.predicted);
  std::vector<core::Prediction> predictions;
  if (!options.predicted.empty()) predictions = read_from(options.predicted, core::read_predictions);
  GrowingFile file(options.output);
  core::HplLogReader reader(options.output, options.N);
  Watch watch(options, std::move(predictions));
  using Found = core::HplLogReader::Found;
  bool has_followed = false, has_failed = false, is_open = false, is_last = false;
  const auto end_run = [&] {
    if (!std::exchange(is_open, false)) return;
    watch.result(reader.run());
    has_failed |= reader.run().result->residual_checked && !reader.run().result->residual_passed;
  };
  std::string line;
  while (file.next(line, [&] { return is_last ? 0 : watch.patience_s(reader.run()); })) {
    if (core::begins_with(line, "HPLinpack benchmark input file"))
      throw InputError(options.output + " is an HPL.dat; expected what HPL prints");
    const bool is_header = core::begins_with(line, "HPLinpack ");
    if (is_header || core::has_hpl_results(line) || core::has_hpl_progress(line)) end_run();
    if (is_header && !reader.run().progress.empty() && !reader.run().result)
      warn(options.output + ": a run ended without a result; another one follows");
    const Found found = reader.take(line);
    if (found == Found::progress) watch.progress(reader.run());
    has_followed |= found == Found::progress;
    is_open |= found == Found::result;
    is_last = found == Found::end || (is_last && found == Found::nothing);
    if (found == Found::residual || found == Found::end) end_run();
  }
  end_run();
  const core::HplLog& run = reader.run();
  watch.draw(run);
  if (!has_followed)
    throw InputError(
        options.output + " has no lines of progress" +
        (run.result ? "; its run has ended, with " + significant(run.result->gflops) + " Gflop/s" : "") +
        "\n  hint: Netlib's HPL prints them if it is compiled with -DHPL_PROGRESS_REPORT, Intel's always does");
  if (!run.result)
    throw InputError(
        options.output + " ends without a result, at " +
        percent(run.progress.back().column / static_cast<double>(run.parameters.N)) +
        " of the columns\n  hint: was it cut off, or the run killed? --timeout says how long to wait for more");
  if (has_failed) throw InputError("the residual check of HPL has failed: the result does not count");
}

}  // namespace

void setup_follow(Command& app) {
  Command& command = add_command(app, "follow", "When a run of HPL that goes on will end, and whether it goes well",
                                 "hplcast follow examples/follow/HPL.out\n"
                                 "  hplcast follow examples/follow/HPL.out --json | tail -n 1");
  auto& options = command.runs<FollowOptions>(run_follow);
  command.add_option("output", options.output, "what HPL prints, with lines of progress; may grow; - is a pipe",
                     required, reads("HPL.out"));
  command.add_option("predicted,--predicted", options.predicted, "what `predict` said of this run",
                     reads("PREDICTION.json"));
  command.add_option("-N", options.N, "of the run, if HPL's header is missing", positive);
  command.add_option("--abort-below", options.abort_below_gflops,
                     "ends with exit code 5 once the run will be below so many Gflop/s: the whole interval", positive);
  command.add_option("--timeout", options.timeout_s,
                     "waits so long for a file to grow (default: until the end predicted, and half as long again)",
                     as_seconds);
  command.add_option("--picture", options.picture, "of the rate that each line lets expect, with its interval",
                     draws("PICTURE.svg|png"));
  command.add_flag("--json", options.json, "a line of JSON for each line of progress");
}

}  // namespace hplcast::cli
