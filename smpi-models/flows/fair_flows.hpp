#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <queue>
#include <unordered_map>
#include <vector>

namespace hplcast::smpi_models {

/// Flows of one kind, all at one rate, as max-min fairness sees them.
struct FairShare {
  const std::vector<std::uint32_t>* links;  ///< that they cross
  double weight;                            ///< what they take of each link, over `level`, in bytes/s
  double level;                             ///< of a flow: what it takes of its links, times its penalty
  double level_limit;                       ///< at which it has reached its own limit
};
/// Ends the simulation unless the shares are max-min fair: no link carries more than its capacity, in bytes/s, and each
/// flow is at its own limit or has a bottleneck, a link of its route that is full and on which no flow has a higher
/// level. There is just one such set of rates (Bertsekas and Gallager, Data Networks, 1992, 6.5.2).
void require_max_min(const std::vector<double>& capacities, const std::vector<FairShare>& shares);

/// Flows over links that they share by max-min fairness (require_max_min()), from event to event, an event being the
/// begin or the end of a flow: the rates of all flows rise together, until a flow has reached its own limit or crosses
/// a link that is full (progressive filling). That is the rule of SimGrid's network model (CM02), with less work for
/// it: flows of one route and limit have one rate, so that they are one class, and an event gives new rates only to
/// classes on its links, and to those that would not be fair beside them any more (share_out()). A flow ends when it
/// has moved its bytes, to the resolution.
class FairFlows {
 public:
  using Link = std::uint32_t;
  using Route = std::uint32_t;

  /// Begins and ends that are no further apart than `resolution_s` are one event. `checks`: the simulation ends where
  /// rates are not fair, or bytes are lost.
  explicit FairFlows(double resolution_s, bool checks = false) : resolution_s_(resolution_s), checks_(checks) {}

  Link add_link(double bytes_per_s);
  /// Flows share a link in proportion to 1 / `penalty` > 0 of their routes. `links`: each once; none: what moves there
  /// disturbs nobody.
  Route add_route(std::vector<Link> links, double penalty);

  struct Flow {
    Route route = 0;
    double bytes = 0;
    double limit_bytes_per_s = 0;  ///< its rate is not above
    double gain = 1;               ///< bytes it moves per byte that the links carry for it
    std::uint32_t name = 0;        ///< as the caller knows it, small: none other on its way has it
  };
  /// `date_s`: not before that of the last advance().
  void begin(double date_s, const Flow& flow);

  /// When the next flow begins or ends, in s; infinity: there is none.
  double next_s();
  /// Earliest end of a flow on its way as of `now_s`, before next_s() and not before the last advance(): it does not
  /// end before, but for twice the resolution.
  double earliest_end_s(std::uint32_t name, double now_s) const;
  /// Lets what happens until `date_s` happen. Adds the names of the flows that end to `ended`, in order.
  void advance(double date_s, std::vector<std::uint32_t>& ended);
  /// With checks: the bytes of flows that have begun are those of flows that have ended or are on their way.
  void check_end() const;

 private:
  using ClassIndex = std::uint32_t;
  static constexpr Link no_link = std::numeric_limits<Link>::max();
  static constexpr double never_s = std::numeric_limits<double>::infinity();
  struct Kind {
    Route route;
    double limit_bytes_per_s;
    double gain;
    bool operator==(const Kind& other) const {
      return route == other.route && limit_bytes_per_s == other.limit_bytes_per_s && gain == other.gain;
    }
  };
  /// Called for every message: Boost's hash of the three is slower.
  struct KindHash {
    std::size_t operator()(const Kind& kind) const;
  };
  /// A flow on its way ends when its class has moved so many bytes per flow.
  struct Moving {
    double end_bytes;
    std::uint64_t number;  // in the order of their begins
    std::uint32_t name;
    bool operator<(const Moving& other) const {  // the first end on top of a heap
      return end_bytes != other.end_bytes ? end_bytes > other.end_bytes : number > other.number;
    }
  };
  /// State of a flow, by its name.
  struct Place {
    bool has_begun = false;
    ClassIndex of = 0;      // if it has
    double end_bytes = 0;   // likewise
    double earliest_s = 0;  // otherwise
  };
  struct RouteState {
    std::vector<Link> links;
    double penalty;
  };
  struct alignas(64) Class {
    // Looked at by share_out(), side by side:
    std::uint64_t round = 0;
    double weight = 0;       // of its flows on their links
    double level = 0;        // its rate, as links see it, times its penalty
    double level_limit = 0;  // level at which its flows reach their limit
    double next_level = 0;
    Link held_up_by = no_link;  // the full link that keeps it there; none: its limit
    Link next_held_up_by = no_link;
    bool is_limited = false;  // by less than any of its links
    bool is_fixed = false;
    const RouteState* route = nullptr;
    Kind kind{};
    std::vector<Moving> flows;  // a heap
    double moved_bytes = 0;     // by each flow, until since_s
    double since_s = 0;
    double rate_bytes_per_s = 0;        // of each flow
    double noted_s = 0;                 // in ends_
    std::uint32_t note = 0;             // the one that counts
    std::vector<std::uint32_t> places;  // in the lists of its links
  };
  struct LinkState {
    double bytes_per_s;
    std::vector<ClassIndex> classes;
    bool is_changed = false;
    // In fill(), for the part:
    std::uint64_t fill = 0;
    bool binds = false;  // if not, it is full by classes that have more there than the part
    double left_bytes_per_s = 0;
    double load = 0;          // by which it is filled per rise of the level
    std::size_t open = 0;     // classes that are not fixed
    bool has_others = false;  // classes beyond the part
    double full_at = 0;       // level; negative: it holds up nobody of the part
    double held_at = 0;       // level of classes beyond the part that it holds up; 0: there are none
    double level() const { return std::max(0.0, left_bytes_per_s) / load; }
  };
  struct Start {
    double date_s;
    std::uint64_t number;
    Flow flow;
    bool operator<(const Start& other) const {
      return date_s != other.date_s ? date_s > other.date_s : number > other.number;
    }
  };
  /// When a class will have its next end, if its rate stays. Rates that fall leave it: it is then too early.
  struct EndNote {
    double date_s;
    ClassIndex of;
    std::uint32_t note;
    bool operator<(const EndNote& other) const {
      return date_s != other.date_s ? date_s > other.date_s : of > other.of;
    }
  };
  /// An obstacle that may stop the rates from rising: a link, or the limit of a class.
  struct Stop {
    double level;
    std::uint32_t index;
    bool operator<(const Stop& other) const { return level != other.level ? level > other.level : index > other.index; }
  };
  /// The lowest first. They are put in order when the first one is taken.
  class Stops {
   public:
    void clear();
    void add(const Stop& stop) {
      lowest_level_ = std::min(lowest_level_, stop.level);
      is_sorted_ ? insert(stop) : all_.push_back(stop);
    }
    bool empty() const { return all_.empty(); }
    double lowest_level() const { return lowest_level_; }  ///< infinity: there is none
    Stop take();

   private:
    void insert(const Stop& stop) { all_.insert(std::upper_bound(all_.begin(), all_.end(), stop), stop); }

    std::vector<Stop> all_;
    bool is_sorted_ = false;  // the lowest last
    double lowest_level_ = never_s;
  };

  void start(const Flow& flow);
  void end_flows(ClassIndex index, std::vector<std::uint32_t>& ended);
  ClassIndex class_of(const Kind& kind);
  void remove(ClassIndex index);
  void change_links(const Class& of);
  double end_s(const Class& of) const {
    return of.since_s + std::max(0.0, of.flows.front().end_bytes - of.moved_bytes) / of.rate_bytes_per_s;
  }
  void note_end(ClassIndex index);
  bool is_in_part(const Class& of) const { return of.round == round_; }
  void take(ClassIndex index);
  void take_all_connected();
  void take_disturbed(Link link);
  void offer(Link link);
  void fill();
  bool fill_alone();
  bool all_reach_limits();
  bool all_stay_at_limits() const;
  void begin_at_limits();
  void count_flows(Class& of) const { of.weight = static_cast<double>(of.flows.size()) / of.route->penalty; }
  void fix(ClassIndex index, double level, Link held_up_by);
  void share_out();
  void set_level(ClassIndex index);
  void check_rates() const;
  void count_moved();
  void check_ended(std::uint32_t name);

  double resolution_s_;
  bool checks_;
  double now_s_ = 0;
  double next_s_ = never_s;  // next_s(), if it is known
  bool knows_next_ = false;
  std::uint64_t starts_made_ = 0;
  std::vector<LinkState> links_;
  std::deque<RouteState> routes_;  // classes point at them
  std::vector<Class> classes_;
  std::vector<Place> places_;
  std::vector<ClassIndex> free_classes_;
  std::unordered_map<Kind, ClassIndex, KindHash> kinds_;
  std::priority_queue<Start> starts_;
  std::priority_queue<EndNote> ends_;
  std::vector<Link> changed_links_;
  std::vector<ClassIndex> begun_;  // in which flows have begun, on links
  // State of share_out():
  std::uint64_t round_ = 0;
  std::uint64_t fills_ = 0;
  std::vector<ClassIndex> part_;
  std::vector<Link> part_links_;
  Stops link_stops_, class_stops_;
  std::size_t open_ = 0;  // classes that are not fixed
  // With checks, of each flow by its name: begun, and moved by its rates until counted_s_.
  struct Bytes {
    double begun = 0, moved = 0;
  };
  std::vector<Bytes> bytes_;
  double counted_s_ = 0, begun_bytes_ = 0, ended_bytes_ = 0;
};

}  // namespace hplcast::smpi_models
