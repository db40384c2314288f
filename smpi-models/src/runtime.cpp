#include "runtime.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "c_boundary.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/random_stream.hpp"
#include "platform.hpp"
#include "session.hpp"
#include "simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

namespace s4u = simgrid::s4u;

namespace {

const hplcast_model_table* registered_table = nullptr;

std::optional<Model> load_model() {
  if (session().file_model) return session().file_model;
  if (registered_table != nullptr) return model_from_table(*registered_table);
  return std::nullopt;
}

}  // namespace

void Runtime::register_model(const hplcast_model_table& table) {
  if (registered_table == nullptr) registered_table = &table;
  if (std::string(registered_table->sha256) != table.sha256) {
    throw core::DomainError("second registered model", table.sha256,
                            std::string("the model registered first, ") + registered_table->sha256);
  }
}

Runtime& Runtime::instance() {
  static Runtime* const runtime = new Runtime();  // never destroyed: actors may outlive static objects
  return *runtime;
}

Runtime::Runtime()
    : settings_(session().settings), model_(load_model()), activity_(read_activity_settings(std::getenv)) {
  statistics_.simulator = port::simulator_name();
  statistics_.seed = settings_.seed;
  statistics_.noise = settings_.noise;
  if (model_) {
    statistics_.cluster = model_->cluster.name;
    statistics_.model_sha256 = model_->sha256;
    statistics_.model_source = model_->source;
    for (const auto& [name, kernel] : model_->cluster.kernels) {
      const auto id = core::kernel_from_name(name);
      if (id && kernel.range()) ranges_[static_cast<std::size_t>(*id)] = &*kernel.range();
    }
  }
  add_ranks();
  s4u::Engine::on_deadlock_cb([this] { statistics_.deadlock = true; });
  s4u::Engine::on_simulation_end_cb([this] { guarded([this] { write(); }); });
}

void Runtime::add_ranks() {
  const std::vector<port::Process> processes = port::processes();
  std::unordered_map<std::string, int> host_index;
  if (model_) {
    for (const std::string& name : model_->cluster.hosts.names()) {
      host_index.emplace(name, static_cast<int>(host_index.size()));
    }
  }
  std::unordered_map<const s4u::Host*, int> ranks_on;
  for (const port::Process& process : processes) {
    const std::size_t id = process.actor;
    const std::string& host = process.host->get_name();
    if (id >= ranks_.size()) ranks_.resize(id + 1);
    ranks_[id].actor = id;
    ranks_[id].rank = process.rank;
    activity_.add_rank(static_cast<int>(process.rank), host);
    const int local_rank = ranks_on[process.host]++;
    if (!model_) continue;
    const auto found = host_index.find(host);
    if (found == host_index.end()) {
      throw core::DomainError("host of rank " + std::to_string(process.rank), host,
                              "a host of cluster " + model_->cluster.name + " (" + model_->source +
                                  "): " + model_->cluster.hosts.values().names,
                              "emit platform and hostfile from the same cluster.json");
    }
    assign_laws(ranks_[id], found->second, local_rank);
  }
  const bool direct = platform_costs() != nullptr && settings_.direct_messages;
  // Where probes grow, those that fail are counted as they come: SMPI must see them all.
  const bool probes_grow = port::setting<bool>("smpi/grow-injected-times");
  Polling::Sleeps sleeps;
  sleeps.where_only_probing = settings_.poll_by_waiting && (direct || !probes_grow);
  sleeps.where_working_between = settings_.poll_by_waiting && direct;
  polling_.emplace(ranks_.size(), sleeps);
  if (direct) {
    messages_.emplace(*this, *platform_costs(), *polling_);
    for (const port::Process& process : processes) messages_->add_rank(ranks_[process.actor], process.host);
    statistics_.fast = settings_.fast;
    if (settings_.fast) columns_.emplace(*this, *messages_, *platform_costs(), settings_.real_exchanges);
  }
  statistics_.ranks = static_cast<int>(processes.size());
}

void Runtime::assign_laws(RankState& rank, int host, int local_rank) {
  const int cpu = model_->cluster.hosts.cpu_of(local_rank);
  for (const auto& [name, kernel] : model_->cluster.kernels) {
    if (const auto id = core::kernel_from_name(name)) {
      rank.laws[static_cast<std::size_t>(*id)] = &kernel.law(host, cpu);
    }
  }
}

void flush(RankState& rank) {
  if (rank.pending_s <= 0) return;
  const double duration_s = rank.pending_s;
  rank.pending_s = 0;
  rank.worked = false;
  rank.pending_s += port::spend(duration_s);
}

RankState& Runtime::rank() {
  const auto id = static_cast<std::size_t>(s4u::this_actor::get_pid());
  if (id == 0 || id >= ranks_.size()) {
    throw core::Error(core::ExitCode::bad_input, "called outside of a rank of the simulated program (actor " +
                                                     std::to_string(id) + "); expected a rank that smpirun started");
  }
  return ranks_[id];
}

/// Of call number `call`; 0 for a kernel that costs nothing.
double Runtime::duration_s(const RankState& rank, core::KernelId kernel, const core::KernelShape& shape,
                           std::uint64_t call) const {
  const core::DurationLaw& law = rank.laws[static_cast<std::size_t>(kernel)]->at(shape);
  const bool draws = settings_.noise && law.noise() != core::NoiseFamily::none;
  const double duration_s = draws ? law.sample_s(shape, core::draw({settings_.seed, core::stream_kernel, rank.rank,
                                                                    static_cast<std::uint32_t>(kernel)},
                                                                   call))
                                  : law.mean_s(shape);
  return duration_s > 0 ? duration_s : 0;
}

double Runtime::spend_kernel(RankState& rank, core::KernelId kernel, const core::KernelShape& shape) {
  if (!(shape.m > 0 && shape.n > 0 && shape.k > 0)) return 0;
  if (!model_) {
    throw core::Error(core::ExitCode::bad_input,
                      std::string("no model for kernel ") + core::to_string(kernel) +
                          ": set HPLCAST_CLUSTER to a cluster.json, or build the program with a model.h");
  }
  const auto index = static_cast<std::size_t>(kernel);
  core::KernelCount& count = statistics_.kernels[index];
  ++count.calls;
  count.flop += kernel_flop(kernel, shape);
  if (rank.laws[index] == nullptr) return 0;
  if (ranges_[index] != nullptr && !contains(*ranges_[index], shape)) ++count.outside_range;

  const double spent_s = duration_s(rank, kernel, shape, rank.calls[index]++);
  count.time_s += spent_s;
  return spent_s;
}

std::vector<double> Runtime::repeated_s(const RankState& rank, std::size_t times) const {
  std::array<std::uint64_t, core::kernel_count> calls = rank.calls;
  std::vector<double> result(times, 0.0);
  for (double& piece_s : result) {
    for (const auto& [kernel, shape] : rank.piece) {
      const auto index = static_cast<std::size_t>(kernel);
      if (rank.laws[index] != nullptr) piece_s += duration_s(rank, kernel, shape, calls[index]++);
    }
  }
  return result;
}

double Runtime::mean_kernel_s(const RankState& rank, core::KernelId kernel, const core::KernelShape& shape) const {
  const core::PiecewiseLaw* law = rank.laws[static_cast<std::size_t>(kernel)];
  return law == nullptr ? 0 : std::max(0.0, law->at(shape).mean_s(shape));
}

void Runtime::kernel_call(RankState& rank, core::KernelId kernel, const core::KernelShape& shape) {
  const double duration_s = spend_kernel(rank, kernel, shape);
  if (shape.m > 0 && shape.n > 0 && shape.k > 0) rank.piece.add({kernel, shape});
  if (activity_.measures() && duration_s > 0) {
    const double begin_s = s4u::Engine::get_clock() + rank.pending_s;
    activity_.kernel(static_cast<int>(rank.rank), kernel, shape, {begin_s, begin_s + duration_s});
  }
  rank.pending_s += duration_s;
  rank.worked = true;
}

double Runtime::pivot(RankState& rank, int rows, int& row) const {
  if (rows < 1) throw core::DomainError("rows of hplcast_pivot", rows, "at least 1");
  const core::StreamName stream{settings_.seed, core::stream_pivot, rank.rank, 0};
  const double largest = std::pow(core::draw(stream, rank.pivots++).uniform, 1.0 / rows);
  const double where = core::draw(stream, rank.pivots++).uniform * rows;
  row = std::min(static_cast<int>(where), rows - 1);
  // Equal candidates: HPL takes that of the lowest process row.
  return settings_.uniform_pivots ? largest : 1.0;
}

void Runtime::count_message(hplcast_mpi operation, double bytes) {
  core::MessageCount& count = statistics_.messages.at(static_cast<std::size_t>(operation));
  ++count.calls;
  count.bytes += bytes;
  if (model_ && model_->max_message_bytes > 0 && bytes > model_->max_message_bytes) ++count.outside_range;
}

void Runtime::write() {
  activity_.finish();
  if (settings_.stats_path.empty()) return;
  Statistics statistics = statistics_;
  if (activity_.measures()) statistics.phases = activity_.phase_times();
  if (statistics.deadlock) statistics.blocked = activity_.blocked();
  statistics.end_s = s4u::Engine::get_clock();
  if (columns_) statistics.fast_error_95_s = columns_->error_95_s();
  core::write_file(settings_.stats_path, [&](std::ostream& out) { write_statistics(out, statistics); });
}

}  // namespace hplcast::smpi_models
