#include "smpi-models/program/accelerators.hpp"

#include <algorithm>
#include <array>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"
#include "smpi-models/program/device_memory.hpp"
#include "smpi-models/session/c_boundary.hpp"
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

/// Streams of random numbers of accelerators, beside those of routines of the same names.
std::uint32_t stream_of(const std::string& kernel) {
  std::uint32_t hash = 2166136261u;
  for (const char letter : "accelerator " + kernel) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  return hash;
}

[[noreturn]] void fail(const std::string& what, const std::string& hint) {
  throw core::Error(core::ExitCode::bad_input, what + "\n  hint: " + hint);
}

}  // namespace

Accelerators::Accelerators(const Settings& settings, const std::optional<Model>& model, Activity& activity)
    : settings_(settings), activity_(activity) {
  if (!model) return;
  cluster_ = &model->cluster;
  if (!cluster_->accelerators) return;
  model_ = &*cluster_->accelerators;
  costs_ = costs_of(*model_);
  if (settings.program && settings.program->numerics) device_memory().become_real();
}

void Accelerators::add_rank(const Kernels::Place& place) {
  states_.push_back({place, ranks_on_[place.host]++, false, 0, {}, {}});
}

const hplcast_accelerator& Accelerators::here(const Rank& rank) {
  is_used_ = true;
  if (model_ == nullptr)
    fail("the program uses an accelerator, and cluster " + (cluster_ == nullptr ? "" : cluster_->name) + " has none",
         "`accelerators` of cluster.json (docs/models/accelerators.md)");
  State& state = states_[rank.number];
  state.is_used = true;
  if (state.local_rank >= model_->per_host)
    fail("rank " + std::to_string(rank.number) + " is number " + std::to_string(state.local_rank + 1) +
             " of the ranks of its host that use an accelerator; a host of cluster " + cluster_->name + " has " +
             std::to_string(model_->per_host),
         "each rank needs one of its own: `hplcast transform --ranks-per-node " + std::to_string(model_->per_host) +
             "` puts fewer ranks on a host");
  return costs_;
}

hplcast_accelerator_kernel Accelerators::find(const std::string& name, const std::string& base) {
  const auto [place, is_new] = numbers_.try_emplace(name, static_cast<int>(kernels_.size()));
  if (is_new) {
    auto found = model_->kernels.find(name);
    if (found == model_->kernels.end()) found = model_->kernels.find(base);
    if (found == model_->kernels.end())
      fail("the accelerators of cluster " + cluster_->name + " have no model of kernel " + name +
               (base == name ? "" : ", nor of " + base),
           "add it to `accelerators.kernels` of cluster.json (docs/models/accelerators.md)");
    kernels_.push_back({name, &found->second, stream_of(name), {}});
    kernels_.back().count.has_model = true;
  }
  const core::AcceleratorKernel& model = *kernels_[static_cast<std::size_t>(place->second)].model;
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
  Kernel& kernel = kernels_[static_cast<std::size_t>(number)];
  State& state = states_[rank.number];
  ++kernel.count.calls;
  kernel.count.flop += flop;
  if (!kernel.model->model || !(shape.m > 0 && shape.n > 0 && shape.k > 0)) return 0;
  const core::KernelModel& model = *kernel.model->model;
  if (model.range() && !core::contains(*model.range(), shape)) ++kernel.count.outside_range;
  if (state.calls.size() <= static_cast<std::size_t>(number)) state.calls.resize(kernels_.size());
  const double drawn_s = duration_s(settings_, model.law(state.place.host, state.place.cpu).at(shape), shape,
                                    {settings_.seed, core::stream_routine, rank.number, kernel.stream},
                                    state.calls[static_cast<std::size_t>(number)]++);
  kernel.count.time_s += drawn_s;
  return drawn_s;
}

void Accelerators::took(int number, double duration_s) {
  kernels_[static_cast<std::size_t>(number)].count.time_s += duration_s;
}

void Accelerators::copied(hplcast_direction direction, double bytes, double duration_s) {
  const std::array sums = {&counts_.bytes_to_device, &counts_.bytes_from_device, &counts_.bytes_within_device};
  *sums[direction] += bytes;
  counts_.copies_s += duration_s;
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

const core::DeviceMessage* Accelerators::message(int source, int destination) const {
  const auto pointer = [](const std::optional<core::DeviceMessage>& one) { return one ? &*one : nullptr; };
  const State &from = states_[static_cast<std::size_t>(source)], &to = states_[static_cast<std::size_t>(destination)];
  const core::DeviceMessages& messages = *model_->messages;
  if (from.place.host != to.place.host) return pointer(messages.remote);
  const auto& near = messages.near;
  if (near && from.local_rank / *near->accelerators == to.local_rank / *near->accelerators) return &*near;
  return pointer(messages.local);
}

void* Accelerators::allocate(const Rank& rank, std::size_t bytes) {
  State& state = states_[rank.number];
  if (state.used_bytes + static_cast<double>(bytes) > model_->memory_bytes) return nullptr;
  void* const memory = device_memory().allocate(bytes);
  if (memory == nullptr) fail("no address space for " + std::to_string(bytes) + " bytes", "`ulimit -v` limits it");
  state.used_bytes += static_cast<double>(std::max<std::size_t>(bytes, 1));
  counts_.peak_bytes = std::max(counts_.peak_bytes, state.used_bytes);
  return memory;
}

bool Accelerators::release(const Rank& rank, void* memory) {
  const std::size_t bytes = device_memory().release(memory);
  states_[rank.number].used_bytes -= static_cast<double>(bytes);
  return bytes > 0;
}

std::optional<core::AcceleratorCounts> Accelerators::counts() const {
  if (!is_used_) return std::nullopt;
  core::AcceleratorCounts counts = counts_;
  for (const State& state : states_) counts.used += state.is_used ? 1 : 0;
  counts.idle = static_cast<int>(ranks_on_.size()) * model_->per_host - counts.used;
  for (const Kernel& kernel : kernels_) counts.kernels[kernel.name] = kernel.count;
  return counts;
}

namespace {

Accelerators& all() {
  return Runtime::instance().program().accelerators();
}

}  // namespace

}  // namespace hplcast::smpi_models

using namespace hplcast::smpi_models;  // what follows is the interface of C

const hplcast_accelerator* hplcast_accelerator_here(void) {
  return guarded([] { return &all().here(Runtime::rank()); });
}

int hplcast_accelerator_executes(void) {
  return guarded([] { return Runtime::instance().program().has_numerics() ? 1 : 0; });
}

hplcast_accelerator_kernel hplcast_accelerator_find(const char* name, const char* base) {
  return guarded([&] { return all().find(name, base); });
}

double hplcast_accelerator_call(int kernel, double m, double n, double k, double flop) {
  return guarded([&] { return all().call(Runtime::rank(), kernel, {m, n, k}, flop); });
}

void hplcast_accelerator_took(int kernel, double duration_s) {
  guarded([&] { all().took(kernel, duration_s); });
}

void hplcast_accelerator_copied(hplcast_direction direction, double bytes, double duration_s) {
  guarded([&] { all().copied(direction, bytes, duration_s); });
}

void hplcast_accelerator_overlapped(double duration_s) {
  guarded([&] { all().overlapped(duration_s); });
}

void hplcast_accelerator_ran(int stream, const char* what, double m, double n, double k, double begin_s, double end_s) {
  guarded([&] { all().ran(Runtime::rank(), stream, what, {m, n, k}, {begin_s, end_s}); });
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

void hplcast_device_copy(void* to, const void* from, size_t bytes) {
  device_memory().copy(to, from, bytes);
}
