// The control measurement (docs/models/control.md).
#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "calibration/measure/mpi_exchange.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/measure_dgemm.hpp"

namespace hplcast::calibration {

namespace {

/// Three matrices of 3.3 MB: more than the L2 of a core.
const DgemmCall control_call{{640, 640, 640}};
constexpr double control_warm_up_s = 0.05, control_s = 0.15;
constexpr long fewest_control_calls = 3;
constexpr long control_bytes = 64 * 1024;
constexpr int untimed_round_trips = 20, timed_round_trips = 50;

/// The rank that answers rank 0: the first one of another host, or the last one. 0: there is none.
int answering_rank(const World& world) {
  const auto other = std::find_if(world.hosts().begin(), world.hosts().end(),
                                  [&](const std::string& host) { return host != world.hosts().front(); });
  return other == world.hosts().end() ? world.size() - 1 : static_cast<int>(other - world.hosts().begin());
}

/// Mean of a message from rank 0 and its answer, on rank 0; 0 on all others.
double round_trip_s(const World& world) {
  const int partner = answering_rank(world);
  if (partner == 0 || (world.rank() != 0 && world.rank() != partner)) return 0;
  std::vector<char> bytes(control_bytes);
  double begin_s = 0;
  for (int trip = -untimed_round_trips; trip < timed_round_trips; ++trip) {
    if (trip == 0) begin_s = now_s();
    if (world.rank() == 0) send(bytes.data(), control_bytes, partner, tag_data);
    receive(bytes.data(), control_bytes, world.rank() == 0 ? partner : 0, tag_data);
    if (world.rank() != 0) send(bytes.data(), control_bytes, 0, tag_data);
  }
  return world.rank() == 0 ? (now_s() - begin_s) / timed_round_trips : 0;
}

}  // namespace

core::ControlRow measure_control(const World& world, const CorePlace& place, double epoch_s) {
  const auto compute = repeated_dgemm(control_call, 0, 1);
  for (const double end_s = now_s() + control_warm_up_s; now_s() < end_s;) compute();
  world.until_all_arrive(compute);
  core::ControlRow row;
  row.rank = world.rank();
  row.host = world.host();
  row.core = place.core;
  const DgemmShape& shape = control_call.shape;
  row.shape = std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
  const double begin_s = now_s(), begin_cpu_s = now_s(CLOCK_THREAD_CPUTIME_ID);
  row.start_s = begin_s - epoch_s;
  std::vector<double> calls_s;
  for (double last_s = begin_s; last_s < begin_s + control_s || row.calls < fewest_control_calls; ++row.calls) {
    compute();
    const double end_s = now_s();
    calls_s.push_back(end_s - last_s);
    last_s = end_s;
  }
  const auto calls = static_cast<double>(row.calls);
  row.cpu_s = (now_s(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_s) / calls;
  for (const double call_s : calls_s) row.wall_s += call_s / calls;
  for (const double call_s : calls_s) row.sd_s += std::pow(call_s - row.wall_s, 2) / (calls - 1);
  row.sd_s = std::sqrt(row.sd_s);
  world.until_all_arrive(compute);  // nobody measures beside a core that rests
  row.round_trip_s = round_trip_s(world);
  return row;
}

}  // namespace hplcast::calibration
