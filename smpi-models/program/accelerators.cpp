#include "smpi-models/program/accelerators.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "smpi-models/session/runtime.hpp"

namespace hplcast::smpi_models {

namespace {

hplcast_copy_costs costs_of(const core::CopyModel& copy) {
  return {copy.latency_s, copy.bytes_per_s, copy.pageable_bytes_per_s.value_or(copy.bytes_per_s)};
}

hplcast_accelerator costs_of(const core::AcceleratorModel& model) {
  hplcast_accelerator costs{};
  costs.name = model.name.c_str();
  costs.per_host = model.per_host;
  costs.compute_units = model.compute_units;
  costs.memory_bytes = model.memory_bytes;
  costs.launch_s = model.launch_s;
  costs.start_s = model.start_s;
  costs.gap_s = model.gap_s;
  costs.record_s = model.record_s;
  costs.sync_s = model.sync_s;
  costs.flag_s = model.flag_s;
  costs.copies[HPLCAST_TO_DEVICE] = costs_of(model.to_device);
  costs.copies[HPLCAST_FROM_DEVICE] = costs_of(model.from_device);
  costs.copies[HPLCAST_WITHIN_DEVICE] = costs_of(model.within_device);
  return costs;
}

/// Between hosts of two sorts of accelerators: the slower of both, or what one has. `to` may be null: none there.
std::optional<core::DeviceMessage> slower_remote(const core::AcceleratorModel& from, const core::AcceleratorModel* to) {
  const auto of = [](const core::AcceleratorModel& model) {
    return model.messages ? model.messages->remote : std::nullopt;
  };
  const std::optional<core::DeviceMessage> one = of(from), other = to == nullptr ? std::nullopt : of(*to);
  if (!one || !other) return one ? one : other;
  return core::DeviceMessage{
      std::max(one->latency_s, other->latency_s), std::min(one->bytes_per_s, other->bytes_per_s), {}};
}

core::AcceleratorCounts sum_of(std::vector<core::AcceleratorCounts> kinds) {
  core::AcceleratorCounts sum;
  const auto has_none = [](const core::AcceleratorCounts& kind) { return kind.used + kind.idle == 0; };
  kinds.erase(std::remove_if(kinds.begin(), kinds.end(), has_none), kinds.end());
  for (const core::AcceleratorCounts& kind : kinds) {
    for (const auto& [name, use] : kind.kernels) {
      core::RoutineUse& all = sum.kernels[name];
      all = {all.calls + use.calls, all.outside_range + use.outside_range, all.time_s + use.time_s, all.flop + use.flop,
             true};
    }
    for (const auto member : {&core::AcceleratorCounts::bytes_to_device, &core::AcceleratorCounts::bytes_from_device,
                              &core::AcceleratorCounts::bytes_within_device, &core::AcceleratorCounts::copies_s,
                              &core::AcceleratorCounts::overlapped_s})
      sum.*member += kind.*member;
    sum.peak_bytes = std::max(sum.peak_bytes, kind.peak_bytes);
    sum.used += kind.used;
    sum.idle += kind.idle;
  }
  sum.kinds = std::move(kinds);
  return sum;
}

Accelerators& all() {
  return Runtime::instance().program().accelerators();
}

[[noreturn]] void fail(const std::string& what, const std::string& hint) {
  throw core::Error(core::ExitCode::bad_input, what + "\n  hint: " + hint);
}

}  // namespace

std::uint32_t stream_named(const std::string& name) {
  std::uint32_t hash = 2166136261u;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  return hash;
}

Accelerators::Accelerators(const Settings& settings, const std::optional<Model>& model, Activity& activity)
    : settings_(settings), activity_(activity) {
  if (!model) return;
  cluster_ = &model->cluster;
  const auto pointer = [](const auto& one) { return one ? &*one : nullptr; };
  sorts_.front().kind = cluster_->hosts.kind_name(core::Hosts::no_kind);
  sorts_.front().model = pointer(cluster_->accelerators);
  for (const core::HostKind& kind : cluster_->hosts.values().kinds) {
    sort_of_kind_.push_back(kind.accelerators ? sorts_.size() : 0);
    if (!kind.accelerators) continue;
    Sort& own = sorts_.emplace_back();
    own.kind = kind.name;
    own.model = kind.accelerators->per_host > 0 ? pointer(kind.accelerators) : nullptr;
  }
  for (Sort& sort : sorts_) {
    if (sort.model == nullptr) continue;
    sort.costs = costs_of(*sort.model);
    for (const Sort& other : sorts_) sort.remote.push_back(slower_remote(*sort.model, other.model));
  }
  const bool any = std::any_of(sorts_.begin(), sorts_.end(), [](const Sort& sort) { return sort.model != nullptr; });
  if (any && settings.program && settings.program->numerics) device_memory().become_real();
}

void Accelerators::add_rank(const Kernels::Place& place) {
  const int kind = sort_of_kind_.empty() ? core::Hosts::no_kind : cluster_->hosts.kind_of(place.host);
  const std::size_t sort = kind == core::Hosts::no_kind ? 0 : sort_of_kind_[static_cast<std::size_t>(kind)];
  states_.push_back({place, ranks_on_[place.host]++, sort, false, 0, {}, {}});
}

std::string Accelerators::owner(const Sort& sort) const {
  const std::string cluster = "cluster " + (cluster_ == nullptr ? "" : cluster_->name);
  return sorts_.size() > 1 ? "hosts of kind " + sort.kind + " of " + cluster : cluster;
}

const hplcast_accelerator& Accelerators::here(const Rank& rank) {
  is_used_ = true;
  const Sort& sort = sort_of(rank);
  if (sort.model == nullptr)
    fail("the program uses an accelerator, and " + owner(sort) + (sorts_.size() > 1 ? " have" : " has") + " none",
         sorts_.size() > 1 ? "`accelerators` of that kind in cluster.json, or a cluster without its hosts: `hplcast "
                             "transform --remove-hosts`"
                           : "`accelerators` of cluster.json (docs/models/accelerators.md)");
  State& state = states_[rank.number];
  state.is_used = true;
  if (state.local_rank >= sort.model->per_host)
    fail("rank " + std::to_string(rank.number) + " is number " + std::to_string(state.local_rank + 1) +
             " of the ranks of its host that use an accelerator; a host of " +
             (sorts_.size() > 1 ? "kind " + sort.kind + " of " : "") + "cluster " + cluster_->name + " has " +
             std::to_string(sort.model->per_host),
         "each rank needs one of its own: `hplcast transform --ranks-per-node " +
             (sorts_.size() > 1 ? "accelerators" : std::to_string(sort.model->per_host)) +
             "` puts fewer ranks on a host");
  return sort.costs;
}

hplcast_accelerator_kernel Accelerators::find(const Rank& rank, const std::string& name, const std::string& base) {
  const auto [place, is_new] = numbers_.try_emplace(name, static_cast<int>(kernels_.size()));
  if (is_new) kernels_.push_back({name, stream_named("accelerator " + name)});
  Sort& sort = sort_of(rank);
  if (sort.kernels.size() < kernels_.size()) sort.kernels.resize(kernels_.size());
  KernelUse& use = sort.kernels[static_cast<std::size_t>(place->second)];
  if (use.model == nullptr) {
    auto found = sort.model->kernels.find(name);
    if (found == sort.model->kernels.end()) found = sort.model->kernels.find(base);
    if (found == sort.model->kernels.end())
      fail("the accelerators of " + owner(sort) + " have no model of kernel " + name +
               (base == name ? "" : ", nor of " + base),
           "add it to `accelerators.kernels` of cluster.json, or `hplcast fit accelerator --same` takes a measured one "
           "for it (docs/use/fit.md)");
    use.model = &found->second;
    use.count.has_model = true;
  }
  const core::AcceleratorKernel& model = *use.model;
  hplcast_accelerator_kernel kernel{};
  kernel.number = place->second;
  std::copy_n(std::array{model.m.value_or(-1), model.n.value_or(-1), model.k.value_or(-1)}.begin(), 3, kernel.sizes);
  kernel.has_handshake = model.handshake ? 1 : 0;
  if (const auto& handshake = model.handshake)
    kernel.handshake = {handshake->flag,     handshake->columns,          handshake->pivot.value_or(-1),
                        handshake->column_s, handshake->column_s_per_row, handshake->update_s_per_element};
  return kernel;
}

double Accelerators::call(const Rank& rank, int number, const core::KernelShape& shape, double flop) {
  KernelUse& kernel = sort_of(rank).kernels[static_cast<std::size_t>(number)];
  State& state = states_[rank.number];
  ++kernel.count.calls;
  kernel.count.flop += flop;
  if (!kernel.model->model || !(shape.m > 0 && shape.n > 0 && shape.k > 0)) return 0;
  const core::KernelModel& model = *kernel.model->model;
  if (model.range() && !core::contains(*model.range(), shape)) ++kernel.count.outside_range;
  if (state.calls.size() <= static_cast<std::size_t>(number)) state.calls.resize(kernels_.size());
  const double drawn_s =
      duration_s(settings_, model.law(state.place.host, state.place.cpu).at(shape), shape,
                 {settings_.seed, core::stream_routine, rank.number, kernels_[static_cast<std::size_t>(number)].stream},
                 state.calls[static_cast<std::size_t>(number)]++);
  kernel.count.time_s += drawn_s;
  return drawn_s;
}

void Accelerators::copied(const Rank& rank, hplcast_direction direction, double bytes, double duration_s) {
  core::AcceleratorCounts& counts = sort_of(rank).counts;
  const std::array sums = {&counts.bytes_to_device, &counts.bytes_from_device, &counts.bytes_within_device};
  *sums[direction] += bytes;
  counts.copies_s += duration_s;
}

void Accelerators::ran(const Rank& rank, int stream, const char* what, const core::KernelShape& shape,
                       const TimeSpan& span) {
  TraceFile* const trace = activity_.trace_of(static_cast<int>(rank.number));
  if (trace == nullptr) return;
  std::vector<int>& rows = states_[rank.number].rows;
  const auto index = static_cast<std::size_t>(stream);
  if (index >= rows.size()) rows.resize(index + 1);
  if (rows[index] == 0) {
    constexpr int first_process = 1 << 20;  // hosts are processes, too
    last_row_ = std::max(last_row_, static_cast<int>(states_.size()) - 1) + 1;
    rows[index] = last_row_;
    const std::string number = std::to_string(rank.number);
    trace->name_row(last_row_, first_process + static_cast<int>(rank.number), "accelerator of rank " + number,
                    "stream " + std::to_string(stream));
  }
  trace->routine(rows[index], what, shape, span);
}

bool Accelerators::has_messages() const {
  return std::any_of(sorts_.begin(), sorts_.end(),
                     [](const Sort& sort) { return sort.model != nullptr && sort.model->messages; });
}

const core::DeviceMessage* Accelerators::message(int source, int destination) const {
  const auto pointer = [](const std::optional<core::DeviceMessage>& one) { return one ? &*one : nullptr; };
  const State &from = states_[static_cast<std::size_t>(source)], &to = states_[static_cast<std::size_t>(destination)];
  const Sort& sort = sorts_[from.sort];
  if (from.place.host != to.place.host) return pointer(sort.remote[to.sort]);
  if (!sort.model->messages) return nullptr;
  const auto& near = sort.model->messages->near;
  if (near && from.local_rank / *near->accelerators == to.local_rank / *near->accelerators) return &*near;
  return pointer(sort.model->messages->local);
}

void* Accelerators::allocate(const Rank& rank, std::size_t bytes) {
  State& state = states_[rank.number];
  if (state.used_bytes + static_cast<double>(bytes) > sort_of(rank).costs.memory_bytes) return nullptr;
  void* const memory = device_memory().allocate(bytes);
  if (memory == nullptr) fail("no address space for " + std::to_string(bytes) + " bytes", "`ulimit -v` limits it");
  state.used_bytes += static_cast<double>(std::max<std::size_t>(bytes, 1));
  double& peak_bytes = sort_of(rank).counts.peak_bytes;
  peak_bytes = std::max(peak_bytes, state.used_bytes);
  return memory;
}

bool Accelerators::release(const Rank& rank, void* memory) {
  const std::size_t bytes = device_memory().release(memory);
  states_[rank.number].used_bytes -= static_cast<double>(bytes);
  return bytes > 0;
}

std::optional<core::AcceleratorCounts> Accelerators::counts() const {
  if (!is_used_) return std::nullopt;
  std::vector<core::AcceleratorCounts> all;
  for (const Sort& sort : sorts_) {
    core::AcceleratorCounts& counts = all.emplace_back(sort.counts);
    counts.kind = sort.kind;
    for (std::size_t number = 0; number < sort.kernels.size(); ++number)
      if (sort.kernels[number].model != nullptr) counts.kernels[kernels_[number].name] = sort.kernels[number].count;
  }
  std::set<int> hosts;
  for (const State& state : states_) {
    core::AcceleratorCounts& counts = all[state.sort];
    const core::AcceleratorModel* const model = sorts_[state.sort].model;
    if (hosts.insert(state.place.host).second) counts.idle += model == nullptr ? 0 : model->per_host;
    if (!state.is_used) continue;
    ++counts.used;
    --counts.idle;
  }
  if (all.size() > 1) return sum_of(std::move(all));
  all.front().kind.clear();
  return all.front();
}

}  // namespace hplcast::smpi_models

using namespace hplcast::smpi_models;  // what follows is the interface of C

const hplcast_accelerator* hplcast_accelerator_here(void) {
  return guarded([] { return &all().here(Runtime::rank()); });
}

int hplcast_accelerator_executes(void) {
  return guarded([] { return Runtime::instance().program().has_numerics() ? 1 : 0; });
}

hplcast_accelerator_kernel hplcast_accelerator_find(const char* name, const char* base) {
  return guarded([&] { return all().find(Runtime::rank(), name, base); });
}

double hplcast_accelerator_call(int kernel, double m, double n, double k, double flop) {
  return guarded([&] { return all().call(Runtime::rank(), kernel, {m, n, k}, flop); });
}

void hplcast_accelerator_took(int kernel, double duration_s) {
  guarded([&] { all().took(Runtime::rank(), kernel, duration_s); });
}

void hplcast_accelerator_copied(hplcast_direction direction, double bytes, double duration_s) {
  guarded([&] { all().copied(Runtime::rank(), direction, bytes, duration_s); });
}

void hplcast_accelerator_overlapped(double duration_s) {
  guarded([&] { all().overlapped(Runtime::rank(), duration_s); });
}

void hplcast_accelerator_ran(int stream, const char* what, double m, double n, double k, double begin_s, double end_s) {
  guarded([&] { all().ran(Runtime::rank(), stream, what, {m, n, k}, {begin_s, end_s}); });
}

int hplcast_is_in_rank(void) {
  return simgrid::s4u::Actor::self() != nullptr ? 1 : 0;
}

double hplcast_own_s(void) {
  return guarded([] { return Runtime::rank().clock.now_s(); });
}

double hplcast_simulated_s(void) {
  return port::clock_s();
}

void hplcast_wait_until(double date_s) {
  guarded([&] {
    RankClock& clock = Runtime::rank().clock;
    if (date_s > clock.now_s()) clock.go_on_from(date_s);
  });
}

void* hplcast_device_allocate(size_t bytes) {
  return guarded([&] { return all().allocate(Runtime::rank(), bytes); });
}

int hplcast_device_free(void* memory) {
  return guarded([&] { return all().release(Runtime::rank(), memory) ? 1 : 0; });
}

size_t hplcast_device_bytes_from(const void* address) {
  return device_memory().bytes_from(address);
}

double hplcast_device_used_bytes(void) {
  return guarded([] { return all().used_bytes(Runtime::rank()); });
}

void hplcast_device_copy(void* to, const void* from, size_t bytes, size_t whole_bytes) {
  device_memory().copy(to, from, bytes, whole_bytes);
}
