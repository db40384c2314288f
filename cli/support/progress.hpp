#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace hplcast::cli {

/// One line of progress, at most `width` characters: bar, percentage, time left, detail. `fraction` is the share of the
/// work that is done, 0 to 1. The time left supposes that the rest goes at the same speed, once that is known: after 2
/// s and 5 % of the work, or 30 s; until then it is that of `expected_s`, of all the work, if that is not 0.
std::string progress_line(double fraction, double elapsed_s, const std::string& detail, int width,
                          double expected_s = 0);

/// Progress of work of unknown amount: simulated and real time, messages per second of real time.
std::string running_line(double simulated_s, double elapsed_s, double messages, int width);

/// A progress bar on stderr with the time left; nothing at all if stderr is not a terminal, or with --quiet or
/// --verbose. The line is wiped at the end.
class Progress {
 public:
  /// `expected_s`: as estimated before; 0: nothing is known.
  explicit Progress(double expected_s = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `fraction` of the work is done. Draws at most ten times per second.
  void update(double fraction, const std::string& detail = "");
  /// The same with the line that `line` makes of the time passed in s and the width.
  void update(const std::function<std::string(double elapsed_s, int width)>& line);
  /// Wipes the line, so that a message can be written; the next update draws again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool on_terminal_;
  bool drawn_ = false;
  double expected_s_;
  Clock::time_point start_;
  Clock::time_point last_draw_;
};

}  // namespace hplcast::cli
