#include "progress_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace hplcast::smpi_models {

ProgressFile::ProgressFile(const std::string& path) {
  // Progress is a courtesy: a file that cannot be written is no reason to end a simulation.
  if (!path.empty()) descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

ProgressFile::~ProgressFile() {
  if (descriptor_ >= 0) (void)::close(descriptor_);
}

void ProgressFile::update(double fraction, double simulated_s) {
  if (descriptor_ < 0 || !(fraction > fraction_)) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  fraction_ = fraction;
  write(simulated_s, 0);
}

void ProgressFile::tell(double simulated_s, double messages) {
  constexpr unsigned clock_every = 64;
  if (descriptor_ < 0 || ++skipped_ < clock_every) return;
  skipped_ = 0;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  write(simulated_s, messages);
}

void ProgressFile::write(double simulated_s, double messages) {
  std::array<char, 80> line{};
  const int length = std::snprintf(line.data(), line.size(), "%.6e %.12e %.12e\n", fraction_, simulated_s, messages);
  if (length > 0 && ::pwrite(descriptor_, line.data(), static_cast<std::size_t>(length), 0) < 0) {
    (void)::close(descriptor_);
    descriptor_ = -1;
  }
}

}  // namespace hplcast::smpi_models
