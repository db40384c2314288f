#include "hplcast/calibration/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "hplcast/calibration/doctor.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t block_bytes = 1 << 16;

[[noreturn]] void fail(const std::string& what, const fs::path& path, const std::string& why) {
  throw core::InputError("cannot " + what + " " + path.string() + ": " + why);
}

/// In our words where libarchive's say less than there is to know.
std::string reason(archive* handle) {
  const char* const text = archive_error_string(handle);
  if (text == nullptr) return "unknown reason";
  if (std::string(text) == "Unrecognized archive format") return "it is neither a zip nor a tar archive";
  const int number = archive_errno(handle);
  const bool says_no_reason = core::begins_with(text, "Failed to open") || std::string(text) == "Write error";
  return says_no_reason && number > 0 ? std::strerror(number) : text;
}

[[noreturn]] void fail_to_read(const fs::path& path, archive* handle) {
  std::error_code error;
  fail("read", path,
       (archive_error_string(handle) == nullptr ? "it is damaged" : reason(handle)) +
           (fs::is_regular_file(path, error)
                ? "\n  hint: an archive is what `hplcast calibrate` or `observe` wrote with -o"
                : ""));
}

template <auto free>
struct FreedBy {
  template <typename T>
  void operator()(T* handle) const {
    free(handle);
  }
};
using Writer = std::unique_ptr<archive, FreedBy<archive_write_free>>;
using Reader = std::unique_ptr<archive, FreedBy<archive_read_free>>;
using Entry = std::unique_ptr<archive_entry, FreedBy<archive_entry_free>>;

/// Sets format and compression by the ending; false if it is not known.
bool set_format(archive* handle, const std::string& name) {
  if (core::ends_with(name, ".zip")) return archive_write_set_format_zip(handle) == ARCHIVE_OK;
  if (archive_write_set_format_pax_restricted(handle) != ARCHIVE_OK) return false;
  if (core::ends_with(name, ".tar.zst")) return archive_write_add_filter_zstd(handle) == ARCHIVE_OK;
  return core::ends_with(name, ".tar.gz") && archive_write_add_filter_gzip(handle) == ARCHIVE_OK;
}

void add_file(archive* handle, const fs::path& archive_path, const std::string& name, const std::string& content) {
  const Entry entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  if (archive_write_header(handle, entry.get()) != ARCHIVE_OK ||
      archive_write_data(handle, content.data(), content.size()) != static_cast<la_ssize_t>(content.size())) {
    fail("write", archive_path, reason(handle));
  }
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
}

/// Paths of the files below a folder, at any depth, sorted, without empty ones.
std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file() && at->file_size() > 0) files.push_back(at->path());
  if (error) fail("read", folder, error.message());
  std::sort(files.begin(), files.end());
  return files;
}

/// The same files with names from the folder that all are in: archives are packed anew, with more folders or without
/// any.
std::map<std::string, std::string> below_their_folder(const std::map<std::string, std::string>& files) {
  if (files.empty()) return files;
  const std::string &first = files.begin()->first, &last = files.rbegin()->first;
  const auto differ = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
  const std::size_t folder = std::string(first.begin(), differ).rfind('/') + 1;
  std::map<std::string, std::string> result;
  for (const auto& [name, content] : files) result[name.substr(folder)] = content;
  return result;
}

bool is_measurement(const std::string& path) {
  const fs::path file(path);
  const std::string ending = file.extension();
  // A study of a detector, samples of power and commands of the user say nothing of kernels and messages.
  for (const char* other : {"-detours", "-power"})
    if (core::ends_with(file.stem().string(), other)) return false;
  if (file.filename().string().find("-own-") != std::string::npos) return false;
  return core::begins_with(path, "measurements/") && (ending == ".csv" || ending == ".json");
}

/// A counter of throttling that grew while something was measured.
void flag_throttling(const core::CampaignArchive& archive, std::vector<core::QualityFlag>& flags) {
  std::map<std::string, std::pair<double, double>> ranges;  // of counts, by host and sensor
  for (const auto& [name, text] : archive.files) {
    if (!core::begins_with(name, "monitoring/")) continue;
    core::CsvReader csv(core::TextStream(text), name);
    const std::size_t host = csv.column("host"), quantity = csv.column("quantity"), sensor = csv.column("sensor"),
                      value = csv.column("value");
    while (csv.next()) {
      if (csv.text(quantity) != "throttle_count") continue;
      const double count = csv.number(value);
      const auto key = std::string(csv.text(host)) + " " + std::string(csv.text(sensor));
      auto& range = ranges.emplace(key, std::make_pair(count, count)).first->second;
      range = {std::min(range.first, count), std::max(range.second, count)};
    }
  }
  for (const auto& [key, range] : ranges)
    if (range.second > range.first)
      flags.push_back({key, "throttling",
                       "the hardware slowed down " + core::shortest(range.second - range.first) +
                           " times because of heat while measuring"});
}

/// The state of a host before the measurement, and what of it was measured.
void flag_host(const core::MeasurementContext& context, const core::MachineDescription& machine,
               std::vector<core::QualityFlag>& flags) {
  for (const Check& check : examine(machine, {}, std::nullopt)) {
    const bool matters = check.name == "load" || check.name == "other users" || check.name == "frequency governor";
    if (check.status == CheckStatus::warn && matters)
      flags.push_back({machine.host, "busy_host", check.name + ": " + check.found});
  }
  const auto ranks = std::count_if(context.ranks.begin(), context.ranks.end(),
                                   [&](const core::RankPlace& place) { return place.host == machine.host; });
  const long busy = ranks * std::max(1, context.software.blas_threads);
  if (busy < machine.cores)
    flags.push_back({machine.host, "idle_cores",
                     std::to_string(busy) + " of " + std::to_string(machine.cores) +
                         " cores were measured: all cores together are slower; the model has only the measured ones"});
}

std::vector<core::QualityFlag> host_doubts(const core::CampaignArchive& archive) {
  std::vector<core::QualityFlag> flags;
  if (core::is_oversubscribed(archive.context))
    flags.push_back({"hosts", "oversubscribed", "several ranks shared a core: durations are those of shared cores"});
  for (const core::MachineDescription& machine : archive.context.machines) flag_host(archive.context, machine, flags);
  flag_throttling(archive, flags);
  return flags;
}

}  // namespace

bool has_archive_name(const fs::path& path) {
  for (const char* ending : {".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2"})
    if (core::ends_with(path.string(), ending)) return true;
  return false;
}

void require_archive_name(const fs::path& archive) {
  const Writer handle(archive_write_new());
  if (!set_format(handle.get(), archive.string()))
    fail("write", archive, "expected a name that ends with .zip, .tar.zst or .tar.gz");
}

void write_archive(const fs::path& path, const fs::path& folder, const std::string& name) {
  require_archive_name(path);
  const std::vector<fs::path> files = files_of(folder);
  core::replace_file(path, [&](const fs::path& temporary) {
    const Writer handle(archive_write_new());
    set_format(handle.get(), path.string());
    // Names beyond ASCII stay as they are: libarchive would translate them, from no locale.
    if (!core::ends_with(path.string(), ".zip") &&
        !(is_ascii(name) && std::all_of(files.begin(), files.end(), is_ascii)))
      archive_write_set_options(handle.get(), "hdrcharset=BINARY");
    if (archive_write_open_filename(handle.get(), temporary.c_str()) != ARCHIVE_OK)
      fail("write", path, reason(handle.get()));
    for (const fs::path& file : files)
      add_file(handle.get(), path, name + "/" + fs::relative(file, folder).generic_string(), core::read_text(file));
    if (archive_write_close(handle.get()) != ARCHIVE_OK) fail("write", path, reason(handle.get()));
  });
}

std::map<std::string, std::string> read_archive(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error))
    fail("read", path, "expected a file, not a pipe or a device");  // archives are read from their end
  const Reader handle(archive_read_new());
  // No others than has_archive_name() knows: they may read any input for long before they give up.
  for (const auto support :
       {archive_read_support_filter_gzip, archive_read_support_filter_zstd, archive_read_support_filter_xz,
        archive_read_support_filter_bzip2, archive_read_support_format_tar, archive_read_support_format_zip})
    support(handle.get());
  if (archive_read_open_filename(handle.get(), path.c_str(), block_bytes) != ARCHIVE_OK)
    fail_to_read(path, handle.get());
  std::map<std::string, std::string> files;
  archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  constexpr std::size_t most_bytes = std::size_t{1} << 30;  // a small file may unpack to anything
  std::size_t bytes = 0;
  while ((status = archive_read_next_header(handle.get(), &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN) {
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    const char* const path_in_it = archive_entry_pathname(entry);
    if (path_in_it == nullptr)
      throw core::InputError("cannot read " + path.string() + ": a file in it has a name that is not text");
    const std::string name = fs::path(path_in_it).lexically_normal().relative_path().generic_string();
    // The Finder adds what a file is like, not what is in it.
    const std::string file = fs::path(name).filename();
    if (core::begins_with(name, "__MACOSX/") || core::begins_with(file, "._") || file == ".DS_Store") continue;
    std::string& content = files[name];
    content.clear();  // of a name that is there twice, the last one counts
    std::vector<char> block(block_bytes);
    la_ssize_t got = 0;
    while ((got = archive_read_data(handle.get(), block.data(), block.size())) > 0) {
      content.append(block.data(), static_cast<std::size_t>(got));
      if ((bytes += static_cast<std::size_t>(got)) > most_bytes)
        throw core::InputError("cannot read " + path.string() + ": more than 1 GiB in it" +
                               "\n  hint: expected an archive made by `hplcast calibrate`, or a folder");
    }
    if (got < 0) fail_to_read(path, handle.get());
  }
  if (status != ARCHIVE_EOF) fail_to_read(path, handle.get());
  return below_their_folder(files);
}

std::map<std::string, std::string> read_folder(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::path& file : files_of(folder))
    files[fs::relative(file, folder).generic_string()] = core::read_text(file);
  return files;
}

core::CampaignArchive read_campaign_archive(const fs::path& path) {
  core::CampaignArchive archive;
  archive.files = fs::is_directory(path) ? read_folder(path) : read_archive(path);
  if (archive.files.count("campaign.yaml") == 0 || archive.files.count(core::campaign_hosts_file) == 0)
    throw core::InputError(path.string() + " is no campaign: it lacks campaign.yaml or " + core::campaign_hosts_file +
                           "\n  hint: expected an archive or folder made by `hplcast calibrate`");
  const core::TextStream hosts(archive.files.at(core::campaign_hosts_file));
  archive.context = core::read_context(hosts, core::campaign_hosts_file);
  if (archive.context.machines.empty())
    throw core::ParseError({core::campaign_hosts_file, 0, "/machines"}, "found no hosts");
  for (const auto& file : archive.files)
    if (is_measurement(file.first)) archive.measurements.insert(file);
  archive.doubts = host_doubts(archive);
  return archive;
}

}  // namespace hplcast::calibration
