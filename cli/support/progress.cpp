#include "cli/support/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/support/command.hpp"

namespace hplcast::cli {

namespace {

constexpr int bar_width = 24;
constexpr int default_width = 80;

int terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return default_width;
  return size.ws_col;
}

std::string time_left(double fraction, double elapsed_s, double expected_s) {
  constexpr double least_s = 2, least_share = 0.05, long_s = 30;
  const bool is_known = fraction > 0 && elapsed_s >= least_s && (fraction >= least_share || elapsed_s >= long_s);
  if (is_known) return core::duration_text(elapsed_s * (1 - fraction) / fraction) + " left";
  if (expected_s > elapsed_s) return "about " + core::duration_text(expected_s - elapsed_s) + " left";
  return "time left not known";
}

}  // namespace

std::string progress_line(double fraction, double elapsed_s, const std::string& detail, int width, double expected_s) {
  fraction = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(fraction * bar_width));
  std::string line = "[" + std::string(filled, '#') + std::string(bar_width - filled, '.') + "] ";
  line += core::printed("%3d%%", static_cast<int>(std::floor(fraction * 100)));
  line += ", " + time_left(fraction, elapsed_s, expected_s);
  if (!detail.empty()) line += ", " + detail;
  return line.substr(0, static_cast<std::size_t>(std::max(width, 1)));
}

std::string running_line(double simulated_s, double elapsed_s, double messages, int width) {
  const std::string text =
      core::printed("%.4g s simulated in %s, %.3g messages/s", simulated_s, core::duration_text(elapsed_s).c_str(),
                    elapsed_s > 0 ? messages / elapsed_s : 0);
  return text.substr(0, static_cast<std::size_t>(std::max(width, 1)));
}

Progress::Progress(double expected_s)
    : on_terminal_(isatty(STDERR_FILENO) == 1 && !is_quiet() && !is_verbose()),
      expected_s_(expected_s),
      start_(Clock::now()),
      last_draw_(start_) {}

Progress::~Progress() {
  clear();
}

void Progress::update(double fraction, const std::string& detail) {
  update([&](double elapsed_s, int width) { return progress_line(fraction, elapsed_s, detail, width, expected_s_); });
}

void Progress::update(const std::function<std::string(double elapsed_s, int width)>& line) {
  if (!on_terminal_) return;
  const auto now = Clock::now();
  if (drawn_ && now - last_draw_ < std::chrono::milliseconds(100)) return;
  last_draw_ = now;
  drawn_ = true;
  const double elapsed_s = std::chrono::duration<double>(now - start_).count();
  // One column stays free: a full line would wrap, and the carriage return would go to its second half.
  std::fprintf(stderr, "\r\033[K%s", line(elapsed_s, terminal_width() - 1).c_str());
  std::fflush(stderr);
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace hplcast::cli
