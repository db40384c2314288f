#include "smpi-models/program/stretches.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "smpi-models/program/program_times.hpp"

namespace hplcast::smpi_models {

namespace {

/// "exchange_1_+418 from ssor_+3a0": by names that the loader knows, which stripped programs keep, and
/// position-independent code, of which each rank has a copy elsewhere. Static functions have none: "+9a30", the place
/// in the program. Callers outside of the program are left out.
template <typename Path>
std::string site_name(const Path& path) {
  std::string name;
  const void* program = nullptr;
  for (const void* site : path) {
    // A call at the end of a function that never returns is followed by another function.
    Dl_info info{};
    if (site == nullptr || dladdr(static_cast<const char*>(site) - 1, &info) == 0) break;
    if (program == nullptr) program = info.dli_fbase;
    if (info.dli_fbase != program) break;
    const bool has_name = info.dli_sname != nullptr;
    const void* const begin = has_name ? info.dli_saddr : info.dli_fbase;
    if (!name.empty()) name += " from ";
    name += (has_name ? std::string(info.dli_sname) : std::string()) + "+" +
            core::printed("%tx", static_cast<const char*>(site) - static_cast<const char*>(begin));
  }
  return name.empty() ? "+?" : name;
}

[[noreturn]] void throw_no_counts() {
  throw core::InputError(
      "the program does not count what it executes, which --count and --rest counted need\n  hint: "
      "compile it with hplcast-cc --count (hplcast-cxx, hplcast-fc), and link it with the same");
}

}  // namespace

Stretches::Stretches(const core::ProgramSettings& settings)
    : spends_(settings.rest == core::RestMode::counted), path_(settings.counts) {
  if (path_.empty()) return;
  file_.open(path_);
  file_ << "rank,function,site,instructions\n";
  require_file();
}

void Stretches::require_file() const {
  if (!file_) throw core::InputError("cannot write " + path_);
}

Stretches::Path Stretches::path_of(const hplcast_frame& from) {
  Path path{from.site};
  const auto* frame = static_cast<const void* const*>(from.frame);
  for (std::size_t i = 1; i < path.size() && frame != nullptr; ++i) {
    // A frame holds the address of its caller's, and the place there. Code without frames may have anything instead.
    const auto* const caller = static_cast<const void* const*>(*frame);
    constexpr std::ptrdiff_t largest_frame = 1 << 16;
    const std::ptrdiff_t distance = reinterpret_cast<const char*>(caller) - reinterpret_cast<const char*>(frame);
    if (distance <= 0 || distance > largest_frame || distance % static_cast<std::ptrdiff_t>(sizeof *frame) != 0) break;
    path[i] = caller[1];
    frame = caller;
  }
  return path;
}

int Stretches::call_at(const char* function, const Path& path) {
  const auto known = by_path_.find(path);
  if (known != by_path_.end()) return known->second;
  Call call{function, site_name(path)};
  // Each rank has its own copy of the program.
  const auto [place, is_new] =
      by_name_.try_emplace(core::call_site_name(call.function, call.site), static_cast<int>(calls_.size()));
  if (is_new) calls_.push_back(std::move(call));
  return by_path_[path] = place->second;
}

const Stretches::Ended& Stretches::model_of(int before, int after) {
  const std::uint64_t key = static_cast<std::uint64_t>(before) << 32 | static_cast<std::uint32_t>(after);
  const auto [place, is_new] = found_.try_emplace(key);
  if (!is_new || program_ == nullptr) return place->second;
  const auto name = [&](int number) {
    const Call& call = calls_[static_cast<std::size_t>(number)];
    return core::call_site_name(call.function, call.site);
  };
  for (const core::StretchLevel level :
       {core::StretchLevel::site, core::StretchLevel::function, core::StretchLevel::any}) {
    const auto region = program_->regions.find(core::stretch_name(name(before), name(after), level));
    if (region == program_->regions.end() || region->second.mode != core::RegionMode::model) continue;
    place->second.model = &region->second.model;
    place->second.level = level;
    break;
  }
  return place->second;
}

Stretches::Ended Stretches::comes_to(int number, const char* function, const hplcast_frame& from,
                                     const std::uint64_t* instructions) {
  if (!counts()) return {};
  if (instructions == nullptr) throw_no_counts();
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  rank.counter = instructions;
  const std::uint64_t now = rank.out_from.value_or(*instructions) - rank.left_out;
  if (polls(function)) {
    // Loops that ask again and again ask as often as it takes; the observer leaves them out, too.
    constexpr std::uint64_t least_work = 512;
    if (rank.has_polled && now - rank.polled < least_work) rank.from += now - rank.polled;
    rank.has_polled = true;
    rank.polled = now;
    return {};
  }
  rank.has_polled = false;
  const std::uint64_t executed = now - rank.from;
  rank.from = now;
  const int before = rank.call, call = call_at(function, path_of(from));
  rank.call = call;
  if (file_.is_open())
    file_ << number << ',' << function << ',' << calls_[static_cast<std::size_t>(call)].site << ',' << executed << '\n';
  if (!spends_) return {};
  Ended ended = model_of(before, call);
  ended.spends = true;
  ended.shape.m = core::stretch_size(static_cast<double>(executed));
  return ended;
}

void Stretches::leave_out(int number) {
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  rank.out_from = rank.counter != nullptr ? *rank.counter : 0;
}

void Stretches::go_on(int number) {
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  if (rank.counter != nullptr) rank.left_out += *rank.counter - *rank.out_from;
  rank.out_from.reset();
}

void Stretches::finish() {
  const bool none_came =
      std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& one) { return one.counter == nullptr; });
  if (counts() && none_came) throw_no_counts();  // linked by a version that has no stretches
  if (!file_.is_open()) return;
  file_.flush();
  require_file();
}

}  // namespace hplcast::smpi_models
