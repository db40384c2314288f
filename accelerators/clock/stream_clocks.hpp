#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "hplcast/smpi_models/hplcast_accelerator.h"

namespace hplcast::accelerators {

/// When the work of one accelerator's streams is done, by the host's own time: no event of a simulation is needed,
/// because nothing but the host and the streams themselves can notice. The formulas are those of
/// docs/models/accelerators.md.
///
/// Each call happens at the host's time `now_s`, and returns the host's time after it. Kernels of several streams do
/// not slow each other; copies of one direction follow each other in the order in which the host gave them.
class StreamClocks {
 public:
  static constexpr int null_stream = 0;

  /// The costs must outlive this.
  explicit StreamClocks(const hplcast_accelerator& costs) : costs_(costs) { streams_.resize(1); }

  /// @param waits_for_null  not hipStreamNonBlocking
  int make_stream(bool waits_for_null);
  void end_stream(int stream) { streams_[static_cast<std::size_t>(stream)].exists = false; }
  bool has_stream(int stream) const;
  int make_event();
  void end_event(int event) { events_[static_cast<std::size_t>(event)].exists = false; }
  bool has_event(int event) const;
  bool is_recorded(int event) const { return events_[static_cast<std::size_t>(event)].done_s.has_value(); }

  double launch(double now_s, int stream, double duration_s);
  /// Duration of a copy by its costs. The host waits for one of pageable memory, and for a blocking one.
  double copy_s(hplcast_direction direction, double bytes, bool pageable) const;
  double copy(double now_s, int stream, hplcast_direction direction, double duration_s, bool waits);
  double record(double now_s, int event, int stream);
  /// The stream's next work waits for the event as it was recorded last.
  double wait(double now_s, int stream, int event);

  /// @throws core::Error-free: the host would wait for ever where handshake_of() says so; ask before.
  double synchronise(double now_s, int stream);
  double synchronise_event(double now_s, int event);
  double synchronise_all(double now_s);
  /// Whether the stream's work, or the event, is over.
  bool is_done(double now_s, int stream) const { return own_s(stream) <= now_s; }
  bool is_event_done(double now_s, int event) const;
  /// Only of recorded events.
  double elapsed_s(int begin, int end) const;

  /// A kernel that shows a flag to the host for each of `columns` >= 1 columns of `rows` rows, and goes on when the
  /// host has cleared it. Its stream takes no other work until it is over.
  struct Handshake {
    double rows = 0;
    int columns = 1;
    hplcast_handshake costs{};
  };
  double launch_handshake(double now_s, int stream, const Handshake& handshake);
  /// When the flag of the present column is shown to the host. Only where handshake_of() is true.
  double shown_s(int stream) const { return streams_[static_cast<std::size_t>(stream)].shown_s; }
  /// The host clears the flag. True: that was the last column, and the stream's end is known.
  bool clear(double now_s, int stream);
  /// Whether such a kernel is running.
  bool has_handshake(int stream) const { return streams_[static_cast<std::size_t>(stream)].column >= 0; }
  /// From the begin of the last one to its end.
  double handshake_s(int stream) const;
  /// The stream which keeps the host from ever going on if it waited for this one, or for all streams: -1: none.
  int handshake_before(std::optional<int> stream) const;

  /// When all that was given to the stream itself is done.
  double ended_s(int stream) const { return at(stream).done_s; }
  /// Time in which kernels of several streams ran at once, since the last call.
  double take_overlap_s();

 private:
  static constexpr double never_s = -std::numeric_limits<double>::infinity();
  struct Stream {
    bool exists = true;
    bool waits_for_null = true;
    double done_s = never_s;
    int column = -1;  ///< of the running handshake
    double begin_s = 0, shown_s = 0, updated_s = 0;
    Handshake handshake;
  };
  struct Event {
    bool exists = true;
    std::optional<double> done_s;
  };

  Stream& at(int stream) { return streams_[static_cast<std::size_t>(stream)]; }
  const Stream& at(int stream) const { return streams_[static_cast<std::size_t>(stream)]; }
  /// When the work is over that new work of the stream waits for.
  double done_s(int stream) const;
  /// The host waits for the null stream as its work does, for another stream's own work.
  double own_s(int stream) const { return stream == null_stream ? done_s(stream) : at(stream).done_s; }
  double begin_s(double now_s, int stream) const;
  /// A kernel, beside those of other streams.
  void runs(double begin_s, double end_s);

  const hplcast_accelerator& costs_;
  std::vector<Stream> streams_;
  std::vector<Event> events_;
  std::array<double, HPLCAST_DIRECTIONS> engines_s_{never_s, never_s, never_s};  ///< when each is free
  std::map<double, double> busy_s_;  ///< begin and end of times with kernels that are not over; they do not meet
  double overlap_s_ = 0;
};

}  // namespace hplcast::accelerators
