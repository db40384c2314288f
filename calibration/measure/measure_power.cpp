#include "hplcast/calibration/measure_power.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include "calibration/measure/core_load.hpp"
#include "calibration/measure/mpi_exchange.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/sensors.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

struct LocalRank {
  int rank = 0;
  int cpu = 0;
  int pu = 0;
  int on_cpu = 0;  ///< how many ranks of this CPU are before it
};

/// Ranks of this host in the order in which they become active: from one CPU after the other.
std::vector<LocalRank> ranks_by_activity(const World& world, const CorePlace& place) {
  std::vector<LocalRank> mine;
  std::map<int, int> ranks_of_cpu;
  const std::vector<std::string> all =
      world.gather_everywhere(std::to_string(place.cpu) + " " + std::to_string(place.pu));
  for (int rank = 0; rank < world.size(); ++rank) {
    if (world.hosts()[static_cast<std::size_t>(rank)] != world.host()) continue;
    LocalRank one{rank, 0, 0, 0};
    std::istringstream(all[static_cast<std::size_t>(rank)]) >> one.cpu >> one.pu;
    one.on_cpu = ranks_of_cpu[one.cpu]++;
    mine.push_back(one);
  }
  std::sort(mine.begin(), mine.end(), [](const LocalRank& a, const LocalRank& b) {
    return std::tie(a.on_cpu, a.cpu) < std::tie(b.on_cpu, b.cpu);
  });
  return mine;
}

/// @throws core::Error for a frequency that cannot be set.
void try_frequencies(const std::vector<PowerPiece>& design, const PowerMeasureOptions& options) {
  std::optional<FrequencyControl> control;
  std::set<double> tried;
  for (const PowerPiece& piece : design) {
    if (!(piece.frequency_hz > 0) || !tried.insert(piece.frequency_hz).second) continue;
    if (!control) control.emplace(options.root);
    control->set(piece.frequency_hz);
  }
}

class PowerStudy {
 public:
  PowerStudy(const World& world, const CorePlace& place, const std::vector<PowerPiece>& design,
             const PowerMeasureOptions& options)
      : world_(world), design_(design), options_(options), order_(ranks_by_activity(world, place)) {
    const auto me =
        std::find_if(order_.begin(), order_.end(), [&](const LocalRank& one) { return one.rank == world.rank(); });
    index_ = static_cast<int>(me - order_.begin());
    make_loads();
  }

  PowerMeasurement run() {
    std::optional<Monitor> monitor;
    std::optional<FrequencyControl> control;
    const bool reads = world_.local_rank() == 0;
    if (reads) {
      monitor.emplace(Sensors::discover(options_.root, options_.kinds), options_.period_s);
      control.emplace(options_.root);
    }
    for (std::size_t i = 0; i < design_.size(); ++i) {
      run_piece(design_[i], control ? &*control : nullptr);
      if (options_.progress) options_.progress(static_cast<double>(i + 1) / static_cast<double>(design_.size()));
    }
    if (!reads) return {};
    const std::vector<Reading> readings = monitor->stop();
    return measurement(readings, monitor->sensors());
  }

 private:
  /// Made before the first piece: filling matrices is work, too.
  void make_loads() {
    std::shared_ptr<KernelMatrices> matrices;
    for (const PowerPiece& piece : design_) {
      if (loads_.count(piece.state) != 0 || piece.active_cores == 0 || !is_kernel(piece.state)) continue;
      if (!matrices)
        matrices =
            std::make_shared<KernelMatrices>(options_.seed * 1000003 + static_cast<std::uint64_t>(world_.rank()) * 16);
      loads_[piece.state] = kernel_load(piece.state, matrices);
    }
  }

  static bool is_kernel(const std::string& state) {
    return state != "polling" && state != "blocked" && state != "messages";
  }

  void work(const PowerPiece& piece, double end_s) {
    if (is_kernel(piece.state)) loads_.at(piece.state)(end_s);
    if (piece.state == "polling") poll_until(end_s);
    // The last rank, which sleeps, sends when the time is over.
    if (piece.state == "blocked") receive_signal(order_.back().rank, tag_stop);
    if (piece.state == "messages")
      exchange_until(end_s, order_[static_cast<std::size_t>(index_ ^ 1)].rank, index_ % 2 == 0, options_.seed);
  }

  void run_piece(const PowerPiece& piece, FrequencyControl* control) {
    if (control != nullptr && piece.frequency_hz > 0) control->set(piece.frequency_hz);
    world_.sleep_until_all_arrive();
    const double begin_s = now_s(), end_s = begin_s + piece.duration_s;
    const bool is_active = index_ < piece.active_cores;
    if (is_active) {
      work(piece, end_s);
    } else {
      sleep_s(end_s - now_s());
      if (piece.state == "blocked" && index_ + 1 == static_cast<int>(order_.size()))
        for (int i = 0; i < piece.active_cores; ++i) send_signal(order_[static_cast<std::size_t>(i)].rank, tag_stop);
    }
    // Ranks that wait for another one end with that, maybe some milliseconds early.
    runs_.push_back({world_.host(), piece, static_cast<int>(order_.size()), begin_s, std::min(end_s, now_s())});
  }

  /// Mean frequency of the cores that are active in a piece while it runs; 0: not known.
  double frequency_in(const PieceRun& run, const std::vector<Reading>& readings) const {
    double sum = 0;
    int count = 0;
    for (const Reading& reading : readings) {
      if (reading.quantity != Quantity::frequency_hz || reading.time_s < run.begin_s + options_.aside.begin_s ||
          reading.time_s > run.end_s - options_.aside.end_s)
        continue;
      for (int i = 0; i < run.piece.active_cores; ++i)
        if (reading.sensor == "cpu" + std::to_string(order_[static_cast<std::size_t>(i)].pu)) {
          sum += reading.value;
          ++count;
        }
    }
    return count > 0 ? sum / count : 0;
  }

  PowerMeasurement measurement(const std::vector<Reading>& readings, const Sensors& sensors) {
    PowerMeasurement result;
    const double offset_s = unix_minus_now_s();
    for (PieceRun& run : runs_) {
      const double observed_hz = frequency_in(run, readings);
      if (observed_hz > 0) run.piece.frequency_hz = observed_hz;
      run.begin_s += offset_s;
      run.end_s += offset_s;
    }
    for (const auto& meter : sensors.power().meters) {
      core::append(result.samples, place_samples(power_samples(meter, readings, offset_s), runs_, options_.aside));
      for (const std::string& trouble : meter.troubles())
        result.troubles.push_back(world_.host() + ": " + meter.name() + ": " + trouble);
    }
    if (options_.needs_sensors) result.sensors = require_host_power(sensors.power(), world_.host());
    result.pieces = std::move(runs_);
    return result;
  }

  const World& world_;
  const std::vector<PowerPiece>& design_;
  const PowerMeasureOptions& options_;
  std::vector<LocalRank> order_;
  int index_ = 0;                          ///< of this rank in order_
  std::map<std::string, CoreLoad> loads_;  ///< of kernels
  std::vector<PieceRun> runs_;
};

}  // namespace

void check_power_measurement(const World& world, const std::vector<PowerPiece>& design,
                             const PowerMeasureOptions& options) {
  if (world.local_rank() != 0) return;
  if (options.needs_sensors) require_host_power(find_power_meters(options.kinds, options.root), world.host());
  try_frequencies(design, options);
}

PowerMeasurement measure_power(const World& world, const CorePlace& place, const std::vector<PowerPiece>& design,
                               const PowerMeasureOptions& options) {
  check_power_measurement(world, design, options);
  return PowerStudy(world, place, design, options).run();
}

}  // namespace hplcast::calibration
