// Archives of campaigns on arbitrary bytes: what can be read also goes into the history.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/study/history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hplcast;
  static const int file = ::memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  try {
    const core::CampaignArchive archive = calibration::read_campaign_archive(path);
    std::vector<std::string> notes;
    study::campaign_record(archive, "", notes);
  } catch (const core::Error&) {  // what bad input is meant to end with
  }
  return 0;
}
