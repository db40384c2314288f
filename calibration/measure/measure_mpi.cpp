#include "hplcast/calibration/measure_mpi.hpp"

#include <algorithm>
#include <ostream>
#include <set>

#include "calibration/measure/core_load.hpp"
#include "calibration/measure/mpi_exchange.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

namespace {

/// One rank's way through the whole design. All ranks know all steps. When the
/// initiators of a turn are done they pass batons to the ranks of the next one: a rank that has all of them begins. No
/// rank is asked for anything while messages are timed. At the end the leader tells everybody to stop.
class Walk {
 public:
  Walk(const World& world, const MpiDesign& design, const MpiMeasureOptions& options)
      : world_(world),
        design_(design),
        options_(options),
        schedule_(world.hosts(), design, options.pattern, options.scope, options.warm_up_calls, options.cpus),
        steps_(schedule_.steps()),
        leader_(schedule_.leader()),
        load_(options.background, options.seed * 7 + static_cast<std::uint64_t>(world.rank())) {
    const auto is_mine = [&](const MpiStep& step) { return pair_with(*step.turn, world_.rank()) != nullptr; };
    may_sleep_ = !std::all_of(steps_.begin(), steps_.end(), is_mine);
    if (std::any_of(steps_.begin(), steps_.end(), is_mine)) {
      const std::uint64_t seed = options.seed + 2 * static_cast<std::uint64_t>(world.rank());
      buffers_ = ExchangeBuffers{{max_bytes(design), seed}, {max_bytes(design), seed + 1}};
    }
  }

  std::vector<MpiRow> run() {
    use_all_buffers();
    world_.barrier();
    start_s_ = now_s();
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      if (mine(step) == nullptr) continue;
      if (step > 0 && !wait_for_turn(step)) break;
      load_.compute();
      if (!exchange(step)) continue;
      if (leads(step) && (step + 1 == steps_.size() || is_over(step))) break;
      if (step + 1 < steps_.size()) pass_on(step + 1);
    }
    end();
    return std::move(rows_);
  }

 private:
  const MpiTurn& turn_of(std::size_t step) const { return *steps_[step].turn; }
  const MpiPair* mine(std::size_t step) const { return pair_with(turn_of(step), world_.rank()); }

  /// Each buffer once, with the first peer of its rank.
  void use_all_buffers() {
    std::set<int> used;
    for (const MpiStep& step : steps_)
      for (const MpiPair& pair : *step.turn) {
        const bool news = used.insert(pair.initiator).second | used.insert(pair.responder).second;
        if (!news || (pair.initiator != world_.rank() && pair.responder != world_.rank())) continue;
        const bool begins = pair.initiator == world_.rank();
        use_buffers(begins ? pair.responder : pair.initiator, begins, max_bytes(design_), *buffers_);
      }
  }

  static std::vector<int> initiators_of(const MpiTurn& turn) {
    std::vector<int> ranks;
    for (const MpiPair& pair : turn) ranks.push_back(pair.initiator);
    return ranks;
  }

  static bool arrived(int from, int tag) {
    int flag = 0;
    MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
  }

  /// Batons of all initiators of the step before, except one's own. False if the leader ends the measurement instead.
  bool wait_for_turn(std::size_t step) {
    for (const MpiPair& before : turn_of(step - 1)) {
      if (before.initiator == world_.rank()) continue;
      bool baton = false;
      load_.until([&] { return (baton = arrived(before.initiator, tag_step)) || arrived(leader_, tag_stop); },
                  may_sleep_);
      if (!baton) return false;
      receive_signal(before.initiator, tag_step);
    }
    return true;
  }

  void pass_on(std::size_t next_step) const {
    for (int rank = 0; rank < world_.size(); ++rank)
      if (rank != world_.rank() && pair_with(turn_of(next_step), rank) != nullptr) send_signal(rank, tag_step);
  }

  /// The leader tells the others; they stay the background until then.
  void end() {
    if (world_.rank() != leader_) {
      load_.until([&] { return arrived(leader_, tag_stop); }, true);
      receive_signal(leader_, tag_stop);
      return;
    }
    for (int rank = 0; rank < world_.size(); ++rank)
      if (rank != leader_) send_signal(rank, tag_stop);
  }

  /// The leader decides at the end of each row whether there is time for another.
  bool leads(std::size_t step) const { return world_.rank() == leader_ && steps_[step].ends_row; }
  bool is_over(std::size_t step) const {
    return !steps_[step].warm_up && options_.budget_s > 0 && now_s() - start_s_ > options_.budget_s;
  }

  /// Small messages of HPL are those of a panel factorisation: one per column, with so little computed in between that
  /// MPI stays in the caches. A computation before them, as before a panel's broadcast, would take it out.
  void warm_up_for(const MpiCall& call, const MpiPair& pair, Waiting waiting) {
    constexpr long most_bytes = 16384;  // of a row of pivots, with NB up to 1023
    constexpr int round_trips = 3;
    if (options_.background == Background::none || call.size_bytes > most_bytes) return;
    const MpiCall warm_up{MpiOperation::pingpong, call.size_bytes, 0};
    for (int i = 0; i < round_trips; ++i) {
      if (pair.responder == world_.rank())
        respond(warm_up, pair.initiator, waiting, *buffers_);
      else
        (void)initiate(warm_up, pair.responder, waiting, *buffers_);
    }
  }

  /// This rank's part in a step; true if it had the clock.
  bool exchange(std::size_t step) {
    const MpiTurn& turn = turn_of(step);
    const MpiPair* const pair = mine(step);
    const bool warm_up = steps_[step].warm_up;
    const std::size_t row = steps_[step].row;
    const MpiCall call = warm_up ? MpiCall{MpiOperation::pingpong, 1, 0} : design_[row];
    const Waiting waiting = polls(options_.background) ? Waiting::polling : Waiting::blocking;
    warm_up_for(call, *pair, waiting);
    if (pair->responder == world_.rank()) {
      respond(call, pair->initiator, waiting, *buffers_);
      return false;
    }
    const double epoch_s = options_.epoch_s > 0 ? options_.epoch_s : start_s_;
    double begin_s = now_s() - epoch_s;
    const auto together = [&] {
      const double moment_s = wait_for_common_start(initiators_of(turn), world_.rank());
      begin_s = moment_s - epoch_s;
      return moment_s;
    };
    const double duration_s = initiate(call, pair->responder, waiting, *buffers_,
                                       schedule_.is_series() ? together : std::function<double()>());
    if (!warm_up) rows_.push_back(row_of(row, *pair, turn.size(), begin_s, duration_s));
    if (options_.progress && !warm_up)
      options_.progress(static_cast<double>(row) / static_cast<double>(design_.size()));
    return true;
  }

  MpiRow row_of(std::size_t row, const MpiPair& pair, std::size_t pairs, double begin_s, double duration_s) const {
    MpiRow result;
    result.order = row;
    result.peer_rank = pair.responder;
    result.pairs = pairs;
    core::MpiMeasurement& measurement = result.measurement;
    measurement.operation = to_string(design_[row].operation);
    measurement.scope = options_.scope_name.empty() ? pair.scope : options_.scope_name;
    measurement.size_bytes = static_cast<double>(design_[row].size_bytes);
    measurement.duration_s = duration_s;
    measurement.start_s = begin_s;
    measurement.host = world_.host();
    measurement.peer = world_.hosts()[static_cast<std::size_t>(pair.responder)];
    measurement.background = to_string(options_.background);
    if (!(duration_s > 0)) measurement.error = "the clock did not advance";
    return result;
  }

  const World& world_;
  const MpiDesign& design_;
  const MpiMeasureOptions& options_;
  MpiSteps schedule_;
  const std::vector<MpiStep>& steps_;
  int leader_;
  BackgroundLoad load_;
  std::optional<ExchangeBuffers> buffers_;
  std::vector<MpiRow> rows_;
  double start_s_ = 0;
  bool may_sleep_ = false;  ///< there are turns without this rank
};

void require_memory(const World& world, const MpiDesign& design) {
  const double needed = 4 * static_cast<double>(max_bytes(design));
  const double available = available_memory_bytes() / world.local_size();
  world.barrier();
  if (needed <= available) return;
  throw core::InputError("messages of " + std::to_string(max_bytes(design)) +
                         " bytes need buffers of four times that in each rank; " + world.host() +
                         " has too little memory\n  hint: lower --max-bytes of the design");
}

}  // namespace

std::vector<MpiRow> measure_mpi(const World& world, const MpiDesign& design, const MpiMeasureOptions& options) {
  require_memory(world, design);
  std::vector<MpiRow> rows = Walk(world, design, options).run();
  world.sleep_until_all_arrive();
  return rows;
}

void write_mpi_header(std::ostream& out) {
  out << "order,rank,peer_rank,pairs," << core::mpi_csv_header << '\n';
}

void write_mpi_rows(std::ostream& out, int rank, const std::vector<MpiRow>& rows) {
  for (const MpiRow& row : rows) {
    out << row.order << ',' << rank << ',' << row.peer_rank << ',' << row.pairs << ',';
    core::write_row(out, row.measurement);
  }
}

}  // namespace hplcast::calibration
