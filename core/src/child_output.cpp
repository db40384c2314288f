#include "child_output.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <ostream>

namespace hplcast::core {

namespace {

std::atomic<std::ostream*> stream = nullptr;
std::mutex stream_mutex;
const void* last_shown = nullptr;  ///< whose lines were shown last, under the mutex; nullptr: of nobody who may go on

void show_lines(const void* whose, const std::string& purpose, const std::string& lines) {
  const std::lock_guard<std::mutex> lock(stream_mutex);
  std::ostream* const out = stream;
  if (out == nullptr) return;
  if (whose == nullptr || last_shown != whose) *out << "==> " << purpose << " <==\n";
  last_shown = whose;
  *out << lines << std::flush;
}

}  // namespace

void show_output(std::ostream* out) {
  stream = out;
}

bool output_is_shown() {
  return stream != nullptr;
}

ShownOutput::ShownOutput(const Command& command, int fd)
    : command_(command), fd_(fd), shown_(output_is_shown() && !command.purpose.empty()) {
  if (shown_) show("+ " + to_string(command) + "\n");
}

ShownOutput::~ShownOutput() {
  if (!shown_) return;
  copy();
  if (!begun_.empty()) show(begun_ + "\n");
  const std::lock_guard<std::mutex> lock(stream_mutex);
  if (last_shown == this) last_shown = nullptr;
}

void ShownOutput::copy() {
  if (!shown_) return;
  char buffer[65536];
  for (ssize_t n = 0; (n = ::pread(fd_, buffer, sizeof buffer, position_)) > 0; position_ += n)
    begun_.append(buffer, static_cast<std::size_t>(n));
  const std::size_t end = begun_.rfind('\n');
  if (end == std::string::npos) return;
  show(begun_.substr(0, end + 1));
  begun_.erase(0, end + 1);
}

void ShownOutput::show(const std::string& lines) const {
  show_lines(this, command_.purpose, lines);
}

void show_text(const std::string& purpose, const std::string& lines) {
  show_lines(nullptr, purpose, lines);
}

}  // namespace hplcast::core
