#include "smpi-models/clock/kernels.hpp"

#include <algorithm>
#include <utility>

#include "smpi-models/simgrid_port/log.hpp"

HPLCAST_LOG_CATEGORY(kernels, "Kernels and their durations");

namespace hplcast::smpi_models {

Kernels::Kernels(const Settings& settings, std::optional<Model> model, PanelCounts& counts)
    : settings_(settings), model_(std::move(model)), counts_(counts) {
  if (!model_) return;
  for (const std::string& name : model_->cluster.hosts.names())
    host_index_.emplace(name, static_cast<int>(host_index_.size()));
  for (const auto& [name, kernel] : model_->cluster.kernels) {
    const auto id = core::kernel_from_name(name);
    if (id && kernel.range()) ranges_[static_cast<std::size_t>(*id)] = &*kernel.range();
  }
  for (const auto& [name, duration_s] : model_->cluster.empty_call_s)
    empty_call_s_[static_cast<std::size_t>(*core::kernel_from_name(name))] = duration_s;
  for (const core::AliasedColumns& aliased : model_->cluster.aliased) {
    const long leading_dimension = aliased.bytes / static_cast<long>(sizeof(double));
    Slowdowns& slowdowns = aliased_.emplace_back();
    for (std::size_t i = 0; i < slowdowns.size(); ++i)
      slowdowns[i] = core::aliased_ratio(model_->cluster, core::kernel_names[i], leading_dimension);
  }
}

Kernels::Place Kernels::place(Rank& rank, int local_rank) const {
  if (!model_) return {};
  const core::ClusterModel& cluster = model_->cluster;
  const auto host = host_index_.find(rank.host->get_name());
  if (host == host_index_.end())
    throw core::DomainError(
        "host of rank " + std::to_string(rank.number), rank.host->get_name(),
        "a host of cluster " + cluster.name + " (" + model_->source + "): " + cluster.hosts.values().names,
        "emit platform and hostfile from the same cluster.json");
  const Place place{host->second, cluster.hosts.cpu_of(host->second, local_rank)};
  for (const auto& [name, kernel] : cluster.kernels)
    if (const auto id = core::kernel_from_name(name))
      rank.laws[static_cast<std::size_t>(*id)] = &kernel.law(place.host, place.cpu);
  if (have_detours()) rank.clock.set_detours(RankDetours(cluster.detours, detour_place(place.host, local_rank)));
  return place;
}

void Kernels::set_leading_dimension(Rank& rank, long doubles) const {
  rank.slowdowns = nullptr;
  for (std::size_t i = 0; i < aliased_.size(); ++i)
    if (core::columns_apart_bytes(doubles) >= model_->cluster.aliased[i].bytes) rank.slowdowns = &aliased_[i];
}

/// Every window of a sampled prediction begins at an instant of its own: what its detours have in common with those of
/// other windows is the sources, not the times.
core::DetourPlace Kernels::detour_place(int host, int local_rank) const {
  const core::Hosts& hosts = model_->cluster.hosts;
  const int cores = hosts.cores_of(host);
  const auto core = static_cast<std::uint32_t>(hosts.first_core_of(host) + local_rank % cores);
  core::DetourPlace place{settings_.seed, core, static_cast<std::uint32_t>(host), 0, local_rank % cores};
  if (settings_.window) {
    constexpr double longest_s = 1e4;  // longer than any period that would matter; dates are exact to 2e-12 s
    const core::StreamName stream{settings_.seed, core::stream_window,
                                  static_cast<std::uint32_t>(settings_.window->first), core::stream_detour, 0};
    place.origin_s = longest_s * core::draw(stream, 0).uniform;
  }
  return place;
}

double duration_s(const Settings& settings, const core::DurationLaw& law, const core::KernelShape& shape,
                  const core::StreamName& stream, std::uint64_t call) {
  const bool draws = settings.noise && law.noise() != core::NoiseFamily::none;
  const double result_s = draws ? law.sample_s(shape, core::draw(stream, call)) : law.mean_s(shape);
  return result_s > 0 ? result_s : 0;
}

/// Duration of call number `call` in s, perhaps drawn before.
double Kernels::drawn_s(const Rank& rank, core::KernelId kernel, const core::KernelShape& shape,
                        std::uint64_t call) const {
  for (const DrawnCalls& drawn : rank.drawn)
    if (const double* drawn_s = drawn.find(kernel, shape, call)) return *drawn_s;
  const auto index = static_cast<std::uint32_t>(kernel);
  return rank.slowdown(kernel) * duration_s(settings_, rank.laws[index]->at(shape), shape,
                                            {settings_.seed, core::stream_kernel, rank.number, index}, call);
}

double Kernels::spend_s(Rank& rank, core::KernelId kernel, const core::KernelShape& shape) {
  if (!(shape.m > 0 && shape.n > 0 && shape.k > 0)) {
    const double empty_s = empty_call_s_[static_cast<std::size_t>(kernel)];
    if (empty_s > 0) counts_.kernel(rank.panel_place, kernel).time_s += empty_s;
    constexpr double worth_waking_s = 1e-5;  // a rank that sleeps finds its panel earlier by one call at most
    rank.loop.empty_calls |= empty_s >= worth_waking_s;
    return empty_s;
  }
  if (!model_)
    throw core::Error(
        core::ExitCode::bad_input,
        std::string("no model for kernel ") + core::to_string(kernel) +
            ": name a cluster.json in the settings (HPLCAST_SIMULATION), or build the program with a model.h");
  const auto index = static_cast<std::size_t>(kernel);
  core::KernelCount& count = counts_.kernel(rank.panel_place, kernel);
  ++count.calls;
  count.flop += kernel_flop(kernel, shape);
  if (rank.laws[index] == nullptr) return 0;
  if (ranges_[index] != nullptr && !contains(*ranges_[index], shape)) ++count.outside_range;
  const double spent_s = drawn_s(rank, kernel, shape, rank.calls[index]++);
  count.time_s += spent_s;
  LOG(kernels, "%s %g x %g x %g: %g s", core::to_string(kernel), shape.m, shape.n, shape.k, spent_s);
  return spent_s;
}

double Kernels::expected_s(const Rank& rank, core::KernelId kernel, const core::KernelShape& shape) const {
  const core::PiecewiseLaw* law = rank.laws[static_cast<std::size_t>(kernel)];
  return law == nullptr ? 0 : rank.slowdown(kernel) * std::max(0.0, law->at(shape).mean_s(shape));
}

std::vector<double> Kernels::repeated_s(Rank& rank, std::size_t times) const {
  std::vector<double> result(times, 0.0);
  std::vector<DrawnCalls> drawn;
  const std::vector<KernelCall>& piece = rank.loop.piece;
  for (auto one = piece.begin(); one != piece.end(); ++one) {
    const auto& [kernel, shape] = *one;
    const auto index = static_cast<std::size_t>(kernel);
    if (rank.laws[index] == nullptr) continue;
    const auto count_to = [&, kernel = kernel](auto end) {
      const auto same = [kernel](const KernelCall& other) { return other.kernel == kernel; };
      return static_cast<std::uint64_t>(std::count_if(piece.begin(), end, same));
    };
    std::uint64_t call = rank.calls[index] + count_to(one);
    DrawnCalls calls{kernel, shape, call, count_to(piece.end()), {}};
    calls.durations_s.reserve(times);
    for (double& piece_s : result) {
      calls.durations_s.push_back(drawn_s(rank, kernel, shape, call));
      piece_s += calls.durations_s.back();
      call += calls.step;
    }
    drawn.push_back(std::move(calls));
  }
  rank.drawn = std::move(drawn);
  return result;
}

}  // namespace hplcast::smpi_models
