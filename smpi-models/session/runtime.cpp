#include "smpi-models/session/runtime.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>

#include "hplcast/core/files.hpp"
#include "smpi-models/session/invariants.hpp"
#include "smpi-models/simgrid_port/log.hpp"

XBT_LOG_NEW_CATEGORY(hplcast, "What the ranks of a simulation do");

namespace hplcast::smpi_models {

namespace s4u = simgrid::s4u;

namespace {

/// Actors carry the rank that they run.
simgrid::xbt::Extension<s4u::Actor, Rank> rank_extension() {
  static const auto extension = s4u::Actor::extension_create<Rank>([](void*) {});
  return extension;
}

/// After its end().
void check_states(const EnergyAccount& energy) {
  double time_s = 0;
  for (const StateMeter& meter : energy.meters()) time_s = std::max(time_s, meter.time_s());
  const double rounding_s = rounding_of_dates_s(time_s);
  std::uint32_t rank = 0;
  for (const StateMeter& meter : energy.meters()) {
    const double excess_s = meter.total_s() - time_s;
    require(std::abs(excess_s) <= rounding_s, rank, "the states of its core do not add up to the time", excess_s);
    for (const double state_s : meter.seconds())
      require(state_s >= -rounding_s, rank, "less than no time in a state", state_s);
    ++rank;
  }
}

void check_phases(const std::vector<NamedTimes>& phases, double end_s) {
  const double rounding_s = rounding_of_dates_s(end_s);
  for (const NamedTimes& phase : phases) {
    for (std::size_t rank = 0; rank < phase.ranks.size(); ++rank) {
      const PhaseTime& time = phase.ranks[rank];
      const double excess_s = time.kernels_s + time.messages_s + time.waiting_s + time.detours_s - time.elapsed_s;
      require(std::abs(excess_s) <= rounding_s, static_cast<std::uint32_t>(rank), phase.name.c_str(), excess_s);
    }
  }
}

/// The costs of messages are the platform library's, or in the <config> of an emitted platform.xml. Another platform
/// has SMPI's own, of a cluster of 2010, and its probes of 0.1 ms. @throws core::DomainError if nobody has set any.
void require_costs_of_messages(const std::string& first_host, const std::optional<Model>& model) {
  for (const char* name : {"smpi/os", "smpi/ois", "smpi/or"})
    if (!port::is_default(name)) return;
  throw core::DomainError(
      "platform with host", first_host,
      "a platform with measured costs of messages" +
          (model ? ", and the hosts of cluster " + model->cluster.name + ": " + model->cluster.hosts.values().names
                 : std::string(": platform.xml and hostfile of `hplcast emit`")),
      "`hplcast import FILE.xml --platform` makes a cluster.json of a platform of your own, for hplcast predict and "
      "run. "
      "With plain smpirun it needs the <config> of `hplcast emit CLUSTER.json --platform platform.xml` in front of its "
      "zones, and with a cluster in the settings its names of hosts; --cfg=smpi/os:0:0:0 simulates without such costs");
}

/// SimGrid's own flows and messages of SMPI.
void require_static_routes(const NetworkCosts& costs) {
  core::require(core::has_static_routes(costs.topology()), "routes", "adaptive, or around failed links",
                "static ones: messages of SMPI take SimGrid's routes, those of HPL can take others",
                "`hplcast transform --routing static` makes adaptive ones so");
  if (costs.rails())
    throw core::DomainError("rails", costs.rails()->cards.size(),
                            "one card per host: SimGrid's flows and messages of SMPI do not know several yet",
                            "`hplcast transform --rails 1` leaves one");
}

}  // namespace

Runtime& Runtime::make() {
  made_ = guarded([] { return new Runtime(); });
  return *made_;
}

Runtime::Runtime()
    : settings_(session().settings()),
      kernels_(settings_, session().model(), counts_),
      activity_(settings_.observation),
      program_(settings_, kernels_.model(), activity_),
      progress_(settings_.observation.progress) {
  result_.simulator = port::simulator_name();
  result_.seed = settings_.seed;
  result_.noise = settings_.noise;
  if (const std::optional<Model>& model = kernels_.model()) {
    result_.cluster = model->cluster.name;
    result_.model_sha256 = model->sha256;
    result_.model_source = model->source;
    counts_.set_measured_bytes(model->max_message_bytes);
  }
  add_ranks();
  s4u::Engine::on_deadlock_cb([this] { result_.deadlock = true; });
  s4u::Engine::on_simulation_end_cb([this] { guarded([this] { write(); }); });
}

void Runtime::add_ranks() {
  const core::SimulationDiagnosis& diagnosis = settings_.diagnosis;
  if (diagnosis.load && (settings_.fast || settings_.fast_panels > 0 || diagnosis.poll_by_waiting))
    throw core::DomainError("load", "true", "false with fast or poll_by_waiting: no rank may work in its past");
  const bool changes = kernels_.model() && core::frequency_changes(kernels_.model()->cluster.power);
  if (changes && (diagnosis.load || settings_.window || settings_.fast || settings_.fast_panels > 0))
    throw core::DomainError("frequency.schedules or controllers", "in " + kernels_.model()->source,
                            "none with load, window or fast: when work is done must be known");
  if (settings_.energy || changes) begin_account(changes);
  std::unordered_map<const s4u::Host*, int> ranks_on;
  const std::vector<port::Process> processes = port::processes();
  if (!session().platform && !processes.empty())
    require_costs_of_messages(processes.front().host->get_name(), kernels_.model());
  for (const port::Process& process : processes) {
    Rank& rank = ranks_.emplace_back(process.rank, process.host);
    process.actor->extension_set(rank_extension(), &rank);
    activity_.add_rank(static_cast<int>(rank.number), rank.host->get_name());
    if (diagnosis.load) rank.clock.load_host();
    const int local_rank = ranks_on[rank.host]++;
    const Kernels::Place place = kernels_.place(rank, local_rank);
    if (energy_) {
      rank.clock.set_meter(&energy_->add_rank(place.host, place.cpu));
      if (settings_.program) energy_->begin(*rank.clock.meter(), 0);
    }
    program_.add_rank(rank, place);
  }
  result_.ranks = static_cast<int>(ranks_.size());
  std::vector<int> numbers(ranks_.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  world_.emplace(std::move(numbers));
  const bool direct = session().platform && diagnosis.direct_messages;
  // Where probes grow, those that fail are counted as they come: SMPI must see them all.
  polling_.emplace(diagnosis.poll_by_waiting && !port::setting<bool>("smpi/grow-injected-times"));
  if (session().platform && !(direct && diagnosis.own_flows)) require_static_routes(session().platform->costs);
  if (!direct) return;
  // Where SimGrid moves messages, or computes, it has as much to do.
  if (diagnosis.own_flows && !diagnosis.load && (settings_.fast || !settings_.program)) port::run_by_ourselves();
  const NetworkCosts& costs = session().platform->costs;
  messages_.emplace(*session().platform, ranks_, diagnosis.own_flows, settings_.observation.checks);
  if (program_.accelerators().has_messages())
    messages_->set_device_costs(
        [this](int source, int destination) { return program_.accelerators().message(source, destination); });
  probes_.emplace(kernels_, *messages_, diagnosis.poll_by_waiting, !changes);
  if (settings_.fast) result_.mode = "fast";
  if (settings_.fast || settings_.fast_panels > 0)
    columns_.emplace(kernels_, *messages_, costs, counts_, diagnosis.sampled_exchanges);
}

void Runtime::begin_account(bool changes) {
  if (!kernels_.model()) throw core::DomainError("energy", "counted", "a cluster.json with power");
  if (!settings_.program && (!session().platform || !settings_.diagnosis.direct_messages))
    throw core::DomainError(changes ? "frequency.schedules or controllers" : "energy", changes ? "there" : "counted",
                            "the platform library, and direct_messages");
  energy_.emplace(kernels_.model()->cluster, settings_.energy.value_or(core::EnergySettings()));
}

void Runtime::end_account() {
  if (settings_.program)
    for (Rank& rank : ranks_) rank.clock.meter()->end(core::CoreState::messages, program_.last_s(rank));
  core::SimulatedEnergy energy = energy_->end();
  if (!settings_.energy) return;
  result_.energy = std::move(energy);
  const core::PowerTrace& trace = result_.energy->trace;
  for (std::size_t i = 0; i < trace.bins_j.size(); ++i)
    activity_.counter("power [W]", energy_->begun_s() + static_cast<double>(i) * trace.bin_s,
                      trace.power_w(trace.bins_j, i));
  if (!trace.bins_j.empty()) activity_.counter("power [W]", energy_->begun_s() + trace.time_s, 0);
}

void Runtime::timed_part(Rank& rank, bool begins, double now_s) {
  StateMeter* const meter = rank.clock.meter();
  if (meter == nullptr) return;
  if (begins)
    energy_->begin(*meter, now_s);
  else
    meter->end(core::CoreState::messages, now_s);
}

ProgramMessages* Runtime::make_program_messages() {
  if (!messages_) return nullptr;
  constexpr double free_bytes = 65536;
  if (settings_.fast) {
    messages_->let_run_ahead(free_bytes);
  } else {  // collective operations are SMPI's, and share links with them
    require_static_routes(session().platform->costs);
    messages_->leave_flows_to_simgrid();
  }
  program_messages_.emplace(*messages_, *world_, kernels_.has_late_probes(), settings_.fast);
  return &*program_messages_;
}

Rank& Runtime::find_rank() {
  if (const s4u::Actor* const actor = s4u::Actor::self()) {
    static const void* last = nullptr;  // it asks several times in succession
    static Rank* rank_of_last = nullptr;
    if (last != actor->get_impl()) {
      instance();  // tells the actors what they run
      rank_of_last = actor->extension(rank_extension());
      last = actor->get_impl();
    }
    if (port::running.actor == last) port::running.its_rank = rank_of_last;
    if (rank_of_last != nullptr) return *rank_of_last;
  }
  end_simulation(
      "called outside of a rank of the simulated program, perhaps by a thread of it, which are not simulated; expected "
      "a rank that smpirun started");
}

void Runtime::kernel_call(Rank& rank, core::KernelId kernel, const core::KernelShape& shape) {
  const double modelled_s = kernels_.spend_s(rank, kernel, shape);
  if (probes_ && probes_->ask_for_pieces() && shape.m > 0 && shape.n > 0 && shape.k > 0) rank.loop.add({kernel, shape});
  const double begin_s = rank.clock.now_s();
  const double detours_s = rank.clock.detours_s();
  const double duration_s = rank.clock.work(kernel, modelled_s);
  if (duration_s != modelled_s) counts_.kernel(rank.panel_place, kernel).time_s += duration_s - modelled_s;
  if (activity_.measures() && duration_s > 0) {
    const double in_detours_s = rank.clock.detours_s() - detours_s;
    activity_.kernel(static_cast<int>(rank.number), kernel, shape, {begin_s, begin_s + duration_s + in_detours_s},
                     in_detours_s);
  }
}

hplcast_window Runtime::panel_window(int panels, int process_columns) const {
  if (!settings_.window) return {0, panels, 0, 0, 0};
  const auto& [first, last] = *settings_.window;
  const std::string found = std::to_string(first) + "-" + std::to_string(last);
  core::require(last < panels, "window", found, "panels of this matrix: 0 to " + std::to_string(panels - 1));
  core::require(first % process_columns == 0, "window", found,
                "a first panel of the first of " + std::to_string(process_columns) + " process columns");
  return {first, last - first + 1, 0, 0, 0};
}

void Runtime::panel_begins(Rank& rank, const hplcast_window& window, int index) {
  const double panel_s = panel_marks_.mark(ranks_.size(), rank.number, window, index, rank.clock.now_s());
  if (settings_.window) {
    const std::size_t place = counts_.begin_panel(index);
    counts_.leave(rank.panel_place, place, rank.clock.detours_s());
    rank.panel_place = place;
    activity_.begin_panel(static_cast<int>(rank.number), rank.panel_place - 1,
                          {rank.clock.now_s(), rank.clock.detours_s()});
    if (energy_) {
      rank.clock.tell(core::CoreState::messages);
      energy_->begin_panel(rank.panel_place - 1, *rank.clock.meter());
    }
    // Process columns that look ahead are out of step. Here they begin in step, which only those of the whole run do,
    // and would be so for three quarters of a round. The least that was measured is the standard deviation of a random
    // half of a panel (docs/measurements/sampled.md).
    constexpr double half = 0.5;
    if (settings_.out_of_step && window.depth > 0 && index == window.depth + 1) {
      const auto first = static_cast<std::uint32_t>(window.first), column = static_cast<std::uint32_t>(window.column);
      const core::StreamName stream{settings_.seed, core::stream_window, first, 0, column};
      const double held_up_s = half * panel_s * core::draw(stream, 0).uniform;
      rank.clock.spend(held_up_s);
      activity_.wait(static_cast<int>(rank.number), held_up_s);
    }
  }
  progress_.update(static_cast<double>(index) / window.count, port::clock_s());
}

void Runtime::tell_progress() {
  if (progress_.is_due()) progress_.tell(port::clock_s(), program_totals().messages);
}

MessageTotals Runtime::program_totals() const {
  MessageTotals totals = session().platform ? session().platform->smpi_messages : MessageTotals();
  if (!program_messages_) return totals;
  const MessageTotals& sent = program_messages_->sent();
  return {totals.messages + sent.messages, totals.bytes + sent.bytes};
}

double Runtime::pivot(Rank& rank, int rows, int& row) const {
  if (rows < 1) throw core::DomainError("rows of hplcast_pivot", rows, "at least 1");
  const core::StreamName stream{settings_.seed, core::stream_pivot, rank.number, 0};
  const double largest = std::pow(core::uniforms(stream, rank.pivots++)[0], 1.0 / rows);
  const double where = core::uniforms(stream, rank.pivots++)[0] * rows;
  row = std::min(static_cast<int>(where), rows - 1);
  return largest;
}

void Runtime::check() const {
  for (const Rank& rank : ranks_) {
    const Mail& mail = rank.mail;
    const auto count =
        static_cast<double>(mail.open.messages().size() + mail.open.receives().size() + mail.receiving.size());
    require(count == 0 && mail.probed == nullptr, rank.number, "it has ended before its last message", count);
    require(rank.clock.state() == RankClock::State::running, rank.number, "it has ended in its own past",
            rank.clock.ahead_s());
  }
  if (messages_) messages_->check_end();
  if (energy_) check_states(*energy_);
  if (messages_ && !columns_) check_phases(activity_.phase_times(), port::clock_s());
}

void Runtime::write() {
  if (energy_) end_account();
  std::optional<core::ProgramCounts> program;
  if (!result_.deadlock) program = program_.counts();
  program_.finish_trace();
  activity_.finish();
  if (settings_.observation.checks && !result_.deadlock) check();
  if (settings_.result.empty()) return;
  core::SimulationResult result = result_;
  result.end_s = port::clock_s();
  add_counts(result, counts_.total());
  const bool detours = kernels_.have_detours();
  if (detours)
    for (const Rank& rank : ranks_) result.detours_s.push_back(rank.clock.detours_s());
  if (settings_.program) {
    if (program) result.end_s = std::max(result.end_s, program_.end_s());
    if (program) result.phases = rank_phases(program_.times(), detours);
    result.program = std::move(program).value_or(core::ProgramCounts());
    const MessageTotals messages = program_totals();
    result.program->messages = messages.messages;
    result.program->message_bytes = messages.bytes;
  } else if (activity_.keeps_phases()) {
    result.phases = rank_phases(activity_.phase_times(), detours);
  }
  if (result.deadlock) result.blocked = settings_.program ? program_.blocked() : activity_.blocked();
  if (std::vector<double> marks_s = panel_marks_.means_s(); !marks_s.empty()) {
    core::SimulatedPanels& panels = result.panels.emplace();
    panels.first = panel_marks_.window().first;
    panels.marks_s = std::move(marks_s);
    add_counts(panels.counts, counts_.until_marks());
    if (energy_) add_states(panels.counts, energy_->at_marks());
    add_phases(panels.counts, activity_.phase_times_at_marks(), detours);
  }
  if (columns_) result.fast_error_95_s = columns_->error_95_s();
  core::write_file(settings_.result, [&](std::ostream& out) { core::write_simulation_result(out, result); });
}

}  // namespace hplcast::smpi_models
