#include "smpi-models/program/program.hpp"

#include <cxxabi.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <utility>

namespace hplcast::smpi_models {

namespace {

/// CPU time of this thread, on which SimGrid runs all actors in turn.
double cpu_time_s() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// As the thread has them, which runs all ranks.
Exceptions& exceptions() {
  return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
}

/// Sizes that the kernel of HPL of that name does not have are 1 in its model.
core::KernelShape shape_of_hpl(const std::string& base, core::KernelShape shape) {
  const auto id = core::kernel_from_name(base);
  if (!id) return shape;
  const std::string_view sizes = core::kernel_sizes[static_cast<std::size_t>(*id)];
  if (sizes.find('m') == std::string_view::npos) shape.m = 1;
  if (sizes.find('n') == std::string_view::npos) shape.n = 1;
  if (sizes.find('k') == std::string_view::npos) shape.k = 1;
  return shape;
}

bool is_clock(const char* function) {
  return function[0] == 'c' && std::strcmp(function, "clock") == 0;
}

std::string base_of(const std::string& name) {
  return name.substr(0, name.find('/'));
}

const std::string rest_name = "the rest";

Moment moment_of(const Rank& rank) {
  return {rank.clock.now_s(), rank.clock.detours_s()};
}

bool is_modelled(const core::RegionModel* model) {
  return model != nullptr && !model->is_executed();
}

/// Stretches in counts and phases, by what their models go by.
const std::string& name_of(core::StretchLevel level) {
  static const std::array<std::string, 3> names = {"stretches", "stretches by function", "stretches by mean"};
  return names[static_cast<std::size_t>(level)];
}

}  // namespace

Program::Program(const Settings& settings, const std::optional<Model>& model, Activity& activity)
    : settings_(settings),
      model_(model),
      times_(activity),
      panels_(settings.program.value_or(core::ProgramSettings()).windows),
      stretches_(settings.program.value_or(core::ProgramSettings())),
      accelerators_(settings, model, activity) {
  if (model_ && model_->cluster.program) program_ = &*model_->cluster.program;
  stretches_.set_models(program_);
  if (settings.program) mend_collectives();
}

void Program::add_rank(Rank& rank, const Kernels::Place& place) {
  if (times_.measures() || rank.clock.meter() != nullptr) rank.clock.watch();
  states_.emplace_back().place = place;
  times_.add_rank();
  stretches_.add_rank();
  panels_.add_rank();
  accelerators_.add_rank(place);
}

const core::KernelModel* Program::model_of(const std::string& name, const std::string& base, Routine& routine) const {
  if (!model_) return nullptr;
  if (program_ != nullptr) {
    // Aliased vectors as strided ones, if the observed run had none and nothing was measured after it. MPI_Unpack has
    // the base MPI_Pack.
    const std::string own = base_of(name), strides = core::is_strided(name) ? name.substr(own.size()) : "",
                      strided = strides.empty() ? "" : "/strided";
    for (const std::string& one : {name, own + strided, base + strides, base + strided, own, base}) {
      const auto found = program_->routines.find(one);
      if (found == program_->routines.end()) continue;
      routine.by_bytes = core::is_mpi_function(name) && !strides.empty() && !core::is_strided(one);
      return &found->second;
    }
  }
  const auto kernel = model_->cluster.kernels.find(base);
  if (kernel == model_->cluster.kernels.end()) return nullptr;
  routine.of_hpl = true;
  return &kernel->second;
}

int Program::routine(const std::string& name, const std::string& base) {
  const auto [place, is_new] = numbers_.try_emplace(name, static_cast<int>(routines_.size()));
  if (is_new) {
    Routine& routine = routines_.emplace_back();
    routine.name = name;
    routine.model = model_of(name, base, routine);
    routine.stream = stream_named(name);
    routine.kernel = core::kernel_from_name(base);
    routine.is_strided = core::is_strided(name);
    routine.is_mpi = core::is_mpi_function(name);
    routine.count.has_model = routine.model != nullptr;
  }
  return place->second;
}

/// How long it took: others may run meanwhile (RankClock::work()).
double Program::spend(Rank& rank, double duration_s, const Where& where, std::optional<core::KernelId> kernel) {
  if (!(duration_s > 0)) return 0;
  const Moment begin = moment_of(rank);
  const double spent_s = rank.clock.work(kernel.value_or(other_work), duration_s, kernel.has_value());
  const Moment now = moment_of(rank);
  states_[rank.number].last_s = now.now_s;
  if (times_.measures()) times_.code(static_cast<int>(rank.number), where.part, where.name, where.shape, begin, now);
  return spent_s;
}

Program::Routine& Program::at(int routine) {
  if (routine < 0 || static_cast<std::size_t>(routine) >= routines_.size())
    throw core::DomainError("routine", routine, "a number that hplcast_routine() has given");
  return routines_[static_cast<std::size_t>(routine)];
}

int Program::begin_composed(Rank& rank, int number, const core::KernelShape& shape, double flop) {
  State& state = states_[rank.number];
  if (at(number).model == nullptr || is_paid(state)) return HPLCAST_EXECUTED;
  call(rank, number, shape, flop, false);
  if (!has_numerics()) return HPLCAST_NOT_EXECUTED;
  ++state.composed;
  return HPLCAST_EXECUTED_FREE;
}

void Program::call(Rank& rank, int number, const core::KernelShape& shape, double flop, bool executed) {
  Routine& routine = at(number);
  if (!(shape.m > 0 && shape.n > 0 && shape.k > 0)) return;
  State& state = states_[rank.number];
  if (is_paid(state)) return;
  ++routine.count.calls;
  routine.count.flop += flop;
  if (routine.model == nullptr || (executed && benches(state))) return;
  const core::KernelShape known = routine.of_hpl     ? shape_of_hpl(base_of(routine.name), shape)
                                  : routine.by_bytes ? core::KernelShape{1, shape.m * shape.n, 1}
                                                     : shape;
  if (routine.model->range() && !core::contains(*routine.model->range(), known)) ++routine.count.outside_range;
  if (state.calls.size() <= static_cast<std::size_t>(number)) state.calls.resize(routines_.size());
  const double drawn_s = duration_s(settings_, routine.model->law(state.place.host, state.place.cpu).at(known), known,
                                    {settings_.seed, core::stream_routine, rank.number, routine.stream},
                                    state.calls[static_cast<std::size_t>(number)]++);
  const bool modelled_rest = rest() == core::RestMode::model && program_ != nullptr && !routine.is_mpi;
  // With strided vectors k is a distance, not a size.
  const double elements = routine.is_strided ? shape.n : core::largest_face(shape);
  const double rest_s = modelled_rest ? program_->rest_s_per_call + program_->rest_s_per_element * elements : 0;
  routine.count.time_s += spend(rank, drawn_s, {Part::routine, routine.name, shape}, routine.kernel);
  counts_.rest_s += spend(rank, rest_s, {Part::rest, rest_name});
}

bool Program::is_paid(const State& state) const {
  return state.composed > 0 || std::any_of(state.regions.begin(), state.regions.end(),
                                           [](const Entered& one) { return is_modelled(one.model); });
}

bool Program::benches(const State& state) const {
  if (state.regions.empty()) return rest() == core::RestMode::bench && state.composed == 0;
  if (is_paid(state)) return false;
  const core::RegionModel* region = state.regions.back().model;
  if (region == nullptr) return rest() == core::RestMode::bench;
  return region->is_executed();
}

void Program::pause(Rank& rank) {
  State& state = states_[rank.number];
  if (state.benched_from_s < 0) return;
  double spent_s = cpu_time_s() - state.benched_from_s;
  state.benched_from_s = -1;
  Entered* const region = state.regions.empty() ? nullptr : &state.regions.back();
  if (region != nullptr && region->model != nullptr) {
    if (region->model->mode == core::RegionMode::factor) spent_s *= region->model->factor;
    region->time_s += spend(rank, spent_s, {Part::region, region->name});
  } else {
    counts_.rest_s += spend(rank, spent_s, {Part::rest, rest_name});
  }
}

void Program::resume(const Rank& rank) {
  State& state = states_[rank.number];
  if (benches(state)) state.benched_from_s = cpu_time_s();
}

bool Program::enter(Rank& rank, const std::string& name, const core::KernelShape& shape) {
  pause(rank);
  State& state = states_[rank.number];
  if (state.regions.empty()) stretches_.leave_out(static_cast<int>(rank.number));
  for (const Entered& one : state.regions)
    if (one.name == name) throw core::InputError("region " + name + " begins inside of itself; expected its end first");
  Entered entered{name, nullptr, shape, 0, rank.clock.now_s()};
  if (program_ != nullptr) {
    const auto found = program_->regions.find(name);
    if (found != program_->regions.end()) entered.model = &found->second;
  }
  if (is_paid(state)) {  // by the one around it
    entered.model = nullptr;
    state.regions.push_back(std::move(entered));
    return true;
  }
  core::RoutineUse& count = counts_.regions[name];
  count.has_model = entered.model != nullptr;
  ++count.calls;
  const core::RegionModel* const model = entered.model;
  state.regions.push_back(std::move(entered));
  if (!is_modelled(model)) {
    resume(rank);
    return true;
  }
  double spent_s = 0;
  if (model->mode == core::RegionMode::skip)
    spent_s = model->calls > 0 ? model->time_s / static_cast<double>(model->calls) : 0;
  else if (shape.m > 0 && shape.n > 0 && shape.k > 0)  // without a size there is no work
    spent_s = duration_s(settings_, model->model.law(state.place.host, state.place.cpu).at(shape), shape,
                         {settings_.seed, core::stream_routine, rank.number, stream_named("region " + name)},
                         state.region_calls[name]++);
  state.regions.back().time_s = spend(rank, spent_s, {Part::region, name});
  return has_numerics();
}

void Program::leave(Rank& rank, const std::string& name) {
  pause(rank);
  State& state = states_[rank.number];
  if (state.regions.empty() || state.regions.back().name != name) {
    throw core::InputError(
        "region " + name + " ends on rank " + std::to_string(rank.number) + " where " +
        (state.regions.empty() ? std::string("none has begun") : state.regions.back().name + " is open") +
        "; expected regions that do not overlap: each ends before the one around it");
  }
  const Entered& region = state.regions.back();
  if (region.time_s > 0) counts_.regions[name].time_s += region.time_s;
  if (times_.measures()) times_.region_ends(static_cast<int>(rank.number), name, {region.begin_s, rank.clock.now_s()});
  state.regions.pop_back();
  if (state.regions.empty()) stretches_.go_on(static_cast<int>(rank.number));
  resume(rank);
}

void Program::comes_to(Rank& rank, const char* function, const hplcast_frame& from, const std::uint64_t* instructions) {
  const Stretches::Ended ended = stretches_.comes_to(static_cast<int>(rank.number), function, from, instructions);
  if (!ended.spends) return;
  State& state = states_[rank.number];
  core::RoutineUse& count = counts_.regions[name_of(ended.level)];
  ++count.calls;
  count.has_model = ended.model != nullptr;
  if (!count.has_model) return;
  if (ended.model->range() && !core::contains(*ended.model->range(), ended.shape)) ++count.outside_range;
  const core::DurationLaw& law = ended.model->law(state.place.host, state.place.cpu).at(ended.shape);
  const core::StreamName stream{settings_.seed, core::stream_routine, rank.number, stream_named("stretches")};
  const double spent_s = duration_s(settings_, law, ended.shape, stream, state.stretches++);
  count.time_s += spend(rank, spent_s, {Part::region, name_of(ended.level)});
}

void Program::enter_mpi(Rank& rank, const char* function) {
  const std::optional<CollectiveWaits::Call> meeting = std::exchange(next_meeting_, std::nullopt);
  pause(rank);
  const Moment now = moment_of(rank);
  if (is_clock(function)) {
    const double untimed_s = intervals_.comes_to_clock(rank.number, now.now_s, cpu_time_s());
    counts_.untimed_s += untimed_s;
    if (untimed_s > 0) ++counts_.untimed_intervals;
  } else {
    intervals_.other_function();
  }
  State& state = states_[rank.number];
  state.mpi.push_back({function, now.now_s, rank.clock.blocked_s(), meeting.has_value(), exceptions()});
  if (std::strcmp(function, "MPI_Finalize") == 0) state.finalized = true;
  if (meeting) waits_.enter(static_cast<int>(rank.number), *meeting, now.now_s);
  if (times_.measures()) times_.enter(static_cast<int>(rank.number), function, now);
}

void Program::leave_mpi(Rank& rank) {
  State& state = states_[rank.number];
  if (state.mpi.empty()) return resume(rank);
  const State::Call call = state.mpi.back();
  exceptions() = call.exceptions;  // others may have thrown and caught meanwhile
  state.mpi.pop_back();
  if (state.mpi.empty()) rank.collective_on = nullptr;
  rank.clock.resume();  // of a detour that came meanwhile the rest
  tell_state(rank, call);
  const Moment now = moment_of(rank);
  state.last_s = now.now_s;
  if (is_clock(call.function)) intervals_.leaves_clock(rank.number, now.now_s, cpu_time_s());
  if (times_.measures()) times_.leave(static_cast<int>(rank.number), rank.clock.blocked_s() - call.blocked_s, now);
  resume(rank);
}

void Program::tell_state(Rank& rank, const State::Call& call) {
  const double waited_s = call.meets ? waits_.leave(static_cast<int>(rank.number), rank.clock.now_s()) : 0;
  if (!rank.clock.is_watched()) return;
  // SMPI's messages tell nothing; an operation of the program may have.
  if (waited_s > 0 && rank.clock.told_s() <= call.begin_s)
    rank.clock.tell(core::CoreState::blocked, call.begin_s + waited_s);
  // A core that asks again and again does as HPL's does in its polling loops.
  rank.clock.tell(polls(call.function) ? core::CoreState::polling : core::CoreState::messages);
}

std::vector<core::BlockedRank> Program::blocked() const {
  std::vector<core::BlockedRank> list;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].mpi.empty()) continue;
    const State::Call& call = states_[i].mpi.back();
    list.push_back({static_cast<int>(i), call.function, -1, -1, 0, call.begin_s, ""});
  }
  return list;
}

double Program::end_s() const {
  double end_s = port::clock_s();
  for (const State& state : states_) end_s = std::max(end_s, state.last_s);
  return end_s;
}

core::ProgramCounts Program::counts() const {
  core::ProgramCounts counts = counts_;
  counts.accelerators = accelerators_.counts();
  if (settings_.program) counts.marked = panels_.result();
  for (const Routine& routine : routines_)
    if (routine.count.calls > 0 || routine.model != nullptr) counts.routines[routine.name] = routine.count;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (settings_.program && !states_[i].finalized) counts.unfinished.push_back(static_cast<int>(i));
    if (states_[i].regions.empty()) continue;
    throw core::InputError("region " + states_[i].regions.back().name + " of rank " + std::to_string(i) +
                           " was never closed; expected HPLCAST_REGION_END before the program ends");
  }
  return counts;
}

}  // namespace hplcast::smpi_models
