#include "hplcast/smpi_models/hplcast_smpi.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "smpi-models/fast/column_meeting.hpp"
#include "smpi-models/observe/activity.hpp"
#include "smpi-models/session/c_boundary.hpp"
#include "smpi-models/session/runtime.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

using hplcast::smpi_models::Communicator;
using hplcast::smpi_models::guarded;
using hplcast::smpi_models::MessageRequest;
using hplcast::smpi_models::Rank;
using hplcast::smpi_models::Runtime;

namespace core = hplcast::core;

static_assert(HPLCAST_KERNEL_COUNT == core::kernel_count, "hplcast_kernel and core::KernelId go together");

namespace {

/// All are made by Communicator, which only the program sees as constant.
Communicator& communicator(const hplcast_communicator* handle) {
  return *static_cast<Communicator*>(const_cast<hplcast_communicator*>(handle));
}

hplcast::smpi_models::PivotCandidate candidate(const double* work) {
  return {work[0], work[1], work[2], work[3]};
}

/// Tells the activity, if it is to know: action(activity, rank, now).
template <typename Action>
void observe(const Action& action) {
  guarded([&] {
    const Rank& rank = Runtime::rank();
    action(Runtime::instance().activity(), static_cast<int>(rank.number),
           hplcast::smpi_models::Moment(rank.clock.now_s(), rank.clock.detours_s()));
  });
}

}  // namespace

void hplcast_register_model(const hplcast_model_table* table) {
  guarded([&] { hplcast::smpi_models::session().register_model(*table); });
}

void hplcast_kernel_call(hplcast_kernel kernel, double m, double n, double k) {
  guarded([&] { Runtime::instance().kernel_call(Runtime::rank(), static_cast<core::KernelId>(kernel), {m, n, k}); });
}

int hplcast_world_rank(void) {
  return static_cast<int>(Runtime::rank().number);
}

const hplcast_communicator* hplcast_world(void) {
  return &Runtime::instance().world();
}

int hplcast_rank_in(const hplcast_communicator* part) {
  return guarded([&] { return communicator(part).number_of(hplcast_world_rank()); });
}

void hplcast_free(const hplcast_communicator* part) {
  communicator(part).free();
}

void hplcast_require_interface(int compiled_with) {
  if (compiled_with == HPLCAST_INTERFACE) return;
  hplcast::smpi_models::end_simulation("the program was linked for another version of hplcast (interface " +
                                       std::to_string(compiled_with) + ", here " + std::to_string(HPLCAST_INTERFACE) +
                                       "); compile and link it again");
}

void hplcast_delay(double duration_s) {
  guarded([&] {
    if (!std::isfinite(duration_s)) throw core::DomainError("delay", duration_s, "a finite number of seconds");
    if (duration_s > 0) Runtime::rank().clock.spend(duration_s);
  });
}

// Blocking calls stay outside of guarded(): an actor that is killed must be unwound by SimGrid's own exception.

void hplcast_flush(void) {
  Runtime::rank().clock.flush();
}

const hplcast_communicator* hplcast_split(const hplcast_communicator* whole, int color, int key) {
  hplcast_flush();
  return communicator(whole).split(hplcast_rank_in(whole), color, key);
}

int hplcast_direct_messages(void) {
  return Runtime::instance().messages() != nullptr;
}

int hplcast_new_memory_costs(void) {
  const auto* const messages = Runtime::instance().messages();
  return messages != nullptr && messages->new_memory_costs();
}

void hplcast_send(const hplcast_message* message, int synchronous) {
  Runtime::instance().messages()->send(*message, synchronous != 0 ? Sending::synchronous : Sending::standard);
}

void hplcast_send_within(const hplcast_message* message, hplcast_request* receive) {
  Runtime& runtime = Runtime::instance();
  if (runtime.activity().measures())
    hplcast_send(message, 0);
  else
    runtime.messages()->send_within(*message, *reinterpret_cast<MessageRequest*>(receive));
}

hplcast_request* hplcast_isend(const hplcast_message* message, int synchronous) {
  Runtime::instance().activity().use_direct_messages();
  const Sending how = synchronous != 0 ? Sending::synchronous : Sending::standard;
  return reinterpret_cast<hplcast_request*>(Runtime::instance().messages()->isend(*message, how).release());
}

hplcast_request* hplcast_irecv(const hplcast_message* wanted) {
  Runtime::instance().activity().use_direct_messages();
  return reinterpret_cast<hplcast_request*>(Runtime::instance().messages()->irecv(*wanted).release());
}

void hplcast_wait(hplcast_request* request) {
  const std::unique_ptr<MessageRequest> owned(reinterpret_cast<MessageRequest*>(request));
  Runtime::instance().messages()->wait(*owned);
}

int hplcast_probe(const hplcast_channel* channel) {
  return Runtime::instance().probes().probe(Runtime::rank(), *channel);
}

void hplcast_broadcast(int number, int root, double bytes) {
  Runtime& runtime = Runtime::instance();
  if (runtime.messages() != nullptr) runtime.messages()->join_broadcast(Runtime::rank(), number, root, bytes);
}

void hplcast_polling_loop(hplcast_loop loop, int pieces) {
  Runtime::rank().loop.announce(loop, static_cast<std::size_t>(std::max(0, pieces)));
}

void hplcast_probe_begin(const hplcast_channel* channel) {
  Rank& rank = Runtime::rank();
  rank.clock.flush();
  Runtime::instance().polling().begin_probe(rank, *channel);
}

void hplcast_probe_end(int found) {
  Runtime::rank().loop.probe_failed = found == 0;
}

void hplcast_message_sent(const hplcast_channel* channel) {
  Runtime::instance().polling().sent(*channel);
}

void hplcast_message_taken(const hplcast_channel* channel) {
  Runtime::instance().polling().taken(*channel);
}

hplcast_window hplcast_panel_window(int panels, int process_columns) {
  return guarded([&] { return Runtime::instance().panel_window(panels, process_columns); });
}

void hplcast_panel_begins(const hplcast_window* window, int index) {
  guarded([&] { Runtime::instance().panel_begins(Runtime::rank(), *window, index); });
}

void hplcast_leading_dimension(int leading_dimension) {
  guarded([&] { Runtime::instance().leading_dimension(Runtime::rank(), leading_dimension); });
}

int hplcast_column_mode(const hplcast_column* column, int index) {
  return guarded([&] {
    Runtime& runtime = Runtime::instance();
    return !runtime.meets(column->panel) ? 0 : runtime.columns()->is_sampled(*column, index) ? 2 : 1;
  });
}

void hplcast_column_note(const hplcast_column* column, int index, const double* work) {
  guarded([&] { Runtime::instance().columns()->note(Runtime::rank(), *column, index, candidate(work)); });
}

void hplcast_column_begin_sampled(const hplcast_column* column, int index, const double* work) {
  guarded([&] { Runtime::instance().columns()->begin_sampled(Runtime::rank(), *column, index, candidate(work)); });
}

void hplcast_column_end_sampled(const hplcast_column* column) {
  guarded([&] { Runtime::instance().columns()->end_sampled(Runtime::rank(), *column); });
}

void hplcast_column_settle(const hplcast_column* column, double* pivot_rows) {
  const hplcast::smpi_models::PivotRows pivots = Runtime::instance().columns()->settle(Runtime::rank(), *column);
  std::copy(pivots.rows.begin(), pivots.rows.end(), pivot_rows + pivots.first_index);
}

double hplcast_clock_s(void) {
  Rank& rank = Runtime::rank();
  rank.clock.flush();
  return rank.clock.now_s();  // what the clock cannot resolve, the reader can
}

double hplcast_pivot(int rows, int* row) {
  return guarded([&] { return Runtime::instance().pivot(Runtime::rank(), rows, *row); });
}

void hplcast_count_message(hplcast_mpi operation, double bytes) {
  guarded([&] { Runtime::instance().counts().add_message(Runtime::rank().panel_place, operation, bytes); });
}

void hplcast_report_time(double time_s) {
  guarded([&] { Runtime::instance().report_time(time_s); });
}

void hplcast_timed_part(int begins, double now_s) {
  guarded([&] { Runtime::instance().timed_part(Runtime::rank(), begins != 0, now_s); });
}

double hplcast_take_delay(void) {
  return Runtime::rank().clock.take_ahead_s();
}

void hplcast_phase_begin(hplcast_phase phase) {
  observe([&](auto& activity, int rank, const auto& now) { activity.phase_begin(rank, phase, now); });
}

void hplcast_phase_end(void) {
  observe([](auto& activity, int rank, const auto& now) { activity.phase_end(rank, now); });
}

void hplcast_call_begin(hplcast_mpi operation, int peer, int tag, double bytes, const void* request) {
  observe([&](auto& activity, int rank, const auto& now) {
    const auto* const direct = activity.knows_waits() ? static_cast<const MessageRequest*>(request) : nullptr;
    activity.call_begin(
        rank, {operation, peer, tag, bytes, request, direct == nullptr ? nullptr : &channel_of(*direct)}, now);
  });
}

void hplcast_call_end(const void* request, int found) {
  observe([&](auto& activity, int rank, const auto& now) { activity.call_end(rank, request, found != 0, now); });
}
