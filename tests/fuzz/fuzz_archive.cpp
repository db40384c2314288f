// Archives of campaigns on arbitrary bytes: what can be read also goes into the history, and is fitted.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/fit/campaign.hpp"
#include "hplcast/study/history.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

/// The bytes as a file.
std::string file_of(const std::uint8_t* data, std::size_t size) {
  static const int file = ::memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return path;
}

/// A file in the format of tar, which has no checksum of contents.
std::string tar_member(const std::string& name, const std::string& content) {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  const auto octal = [](std::size_t number, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*zo", digits, number);
    return std::string(text);
  };
  put(0, name.substr(0, 99));
  put(100, "0000644");
  put(124, octal(content.size(), 11));
  put(136, octal(0, 11));
  put(148, "        ");
  put(156, "0");
  put(257, std::string("ustar\00000", 8));
  std::size_t sum = 0;
  for (const unsigned char c : header) sum += c;
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

}  // namespace

/// Another content or name of one of its files.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  using namespace hplcast;
  std::map<std::string, std::string> files;
  try {
    files = calibration::read_archive(file_of(data, size));
  } catch (const core::Error&) {
  }
  if (files.empty()) return LLVMFuzzerMutate(data, size, most);
  const auto chosen = std::next(files.begin(), static_cast<std::ptrdiff_t>(seed % files.size()));
  std::string name = chosen->first, text = chosen->second;
  std::string& changed = seed / files.size() % 16 == 0 ? name : text;
  const std::size_t length = changed.size();
  changed.resize(length + 4096);
  changed.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(changed.data()), length, length + 4096));
  files.erase(chosen);
  files[name] = text;
  std::string archive;
  for (const auto& [path, content] : files) archive += tar_member("c/" + path, content);
  archive.append(1024, '\0');
  if (archive.size() > most) return size;
  std::copy(archive.begin(), archive.end(), data);
  return archive.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hplcast;
  try {
    const core::CampaignArchive archive = calibration::read_campaign_archive(file_of(data, size));
    std::vector<std::string> notes;
    study::campaign_record(archive, "", notes);
    fit::fit_campaign(fit::campaign_of(archive));
  } catch (const core::Error&) {  // what bad input is meant to end with
  }
  return 0;
}
