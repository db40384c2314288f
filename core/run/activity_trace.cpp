#include "hplcast/core/activity_trace.hpp"

#include <cerrno>
#include <cstring>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

constexpr double us_per_s = 1e6;  // Chrome's traces are in microseconds
constexpr std::size_t block_bytes = 1U << 20U;

Error cannot_write(const std::string& path) {
  return {ExitCode::bad_input, "cannot write the trace " + path + ": " + std::strerror(errno)};
}

/// As JSON has it inside of quotes.
std::string quoted(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) < ' ') continue;
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return result;
}

}  // namespace

TraceFile::TraceFile(const std::string& path, TimeSpan kept)
    : path_(behind_links(path)), kept_(kept), file_(std::fopen(part_file(path).c_str(), "w")), buffer_(block_bytes) {
  if (!file_) throw cannot_write(path);
  (void)std::setvbuf(file_.get(), buffer_.data(), _IOFBF, buffer_.size());
  (void)std::fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", file_.get());
}

void TraceFile::name_row(int row, int process, const std::string& process_name, const std::string& row_name) {
  const auto index = static_cast<std::size_t>(row);
  if (index >= host_of_rank_.size()) host_of_rank_.resize(index + 1);
  host_of_rank_[index] = process;
  // Host names have no characters that JSON would quote.
  (void)std::fprintf(file_.get(),
                     "%s\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"%s\"}},"
                     "\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
                     first_ ? "" : ",", process, process_name.c_str(), process, row, row_name.c_str());
  first_ = false;
}

void TraceFile::event(const char* category, const std::string& name, int rank, TimeSpan span,
                      const std::string& arguments) {
  if (span.end_s < kept_.begin_s || span.begin_s >= kept_.end_s) return;
  const auto index = static_cast<std::size_t>(rank);
  const int host = index < host_of_rank_.size() ? host_of_rank_[index] : 0;
  // Nanoseconds are enough for a picture, and short.
  (void)std::fprintf(
      file_.get(), "%s\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f%s}",
      first_ ? "" : ",", category, name.c_str(), host, rank, span.begin_s * us_per_s,
      (span.end_s - span.begin_s) * us_per_s, arguments.c_str());
  first_ = false;
}

void TraceFile::phase(int rank, const char* name, TimeSpan span) {
  event("phase", name, rank, span);
}

void TraceFile::routine(int rank, const std::string& name, const KernelShape& shape, TimeSpan span) {
  event("kernel", name, rank, span, printed(",\"args\":{\"m\":%.0f,\"n\":%.0f,\"k\":%.0f}", shape.m, shape.n, shape.k));
}

void TraceFile::region(int rank, const std::string& name, TimeSpan span) {
  event("region", quoted(name), rank, span);
}

void TraceFile::call(int rank, const std::string& function, double waited_s, TimeSpan span) {
  event("mpi", function, rank, span, printed(",\"args\":{\"waited_us\":%.3f}", waited_s * us_per_s));
}

void TraceFile::message(int rank, const char* operation, const TracedMessage& message, TimeSpan span) {
  event("mpi", operation, rank, span,
        printed(",\"args\":{\"peer\":%d,\"tag\":%d,\"bytes\":%.0f,\"waited_us\":%.3f}", message.peer, message.tag,
                message.bytes, message.waited_s * us_per_s));
}

void TraceFile::counter(const char* name, double time_s, double value) {
  if (time_s < kept_.begin_s || time_s >= kept_.end_s) return;
  (void)std::fprintf(file_.get(), "%s\n{\"ph\":\"C\",\"name\":\"%s\",\"pid\":0,\"ts\":%.3f,\"args\":{\"value\":%.6g}}",
                     first_ ? "" : ",", name, time_s * us_per_s, value);
  first_ = false;
}

void TraceFile::close() {
  (void)std::fputs("\n]}\n", file_.get());
  const bool fine = std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0;
  if (!fine) throw cannot_write(path_);
  file_.reset();
  if (std::rename(part_file(path_).c_str(), path_.c_str()) != 0) throw cannot_write(path_);
}

}  // namespace hplcast::core
