#include "hplcast/smpi_models/hplcast_activity.h"

#include <cstdlib>

#include "activity.hpp"
#include "c_boundary.hpp"
#include "runtime.hpp"

using hplcast::smpi_models::Activity;
using hplcast::smpi_models::guarded;
using hplcast::smpi_models::Moment;
using hplcast::smpi_models::Rank;
using hplcast::smpi_models::Runtime;

namespace {

template <typename Action>
void observe(Action&& action) {
  guarded([&] {
    Runtime& runtime = Runtime::instance();
    const Rank& rank = runtime.rank();
    action(runtime.activity(), static_cast<int>(rank.number), Moment(rank.clock.now_s(), rank.clock.detours_s()));
  });
}

}  // namespace

void hplcast_phase_begin(hplcast_phase phase) {
  observe([&](Activity& activity, int rank, const Moment& now) { activity.phase_begin(rank, phase, now); });
}

void hplcast_phase_end(void) {
  observe([](Activity& activity, int rank, const Moment& now) { activity.phase_end(rank, now); });
}

void hplcast_call_begin(hplcast_mpi operation, int peer, int tag, double bytes, const void* request) {
  observe([&](Activity& activity, int rank, const Moment& now) {
    activity.call_begin(rank, {operation, peer, tag, bytes, request}, now);
  });
}

void hplcast_call_end(const void* request, int found) {
  observe([&](Activity& activity, int rank, const Moment& now) { activity.call_end(rank, request, found != 0, now); });
}
