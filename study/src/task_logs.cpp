#include "task_logs.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

template <typename Use>
void for_each_log(const fs::path& folder, const Use& use) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (core::begins_with(name, "task-") && core::ends_with(name, ".log")) use(entry.path());
  }
}

}  // namespace

TaskLogs::TaskLogs(fs::path folder) : folder_(std::move(folder)) {
  for_each_log(folder_, [&](const fs::path& log) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(log, error);
    shown_bytes_[log] = error ? 0 : bytes;
  });
}

void TaskLogs::show() {
  if (!core::output_is_shown()) return;
  for_each_log(folder_, [&](const fs::path& log) {
    std::ifstream in(log, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(shown_bytes_[log]));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const std::size_t end = text.rfind('\n');
    if (end == std::string::npos) return;
    shown_bytes_[log] += end + 1;
    core::show_text("Slurm " + log.stem().string(), text.substr(0, end + 1));
  });
}

}  // namespace hplcast::study
