#include "smpi-models/flows/fair_flows.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "smpi-models/session/invariants.hpp"

namespace hplcast::smpi_models {

std::size_t FairFlows::KindHash::operator()(const Kind& kind) const {
  constexpr std::size_t mix = 0x9e3779b97f4a7c15;
  std::uint64_t hash = kind.route;
  for (const double value : {kind.limit_bytes_per_s, kind.gain}) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);  // no rate is 0, or not a number
    hash = (hash ^ bits) * mix;
    hash ^= hash >> 32;
  }
  return hash;
}

FairFlows::Link FairFlows::add_link(double bytes_per_s) {
  links_.emplace_back().bytes_per_s = bytes_per_s;
  return static_cast<Link>(links_.size() - 1);
}

FairFlows::Route FairFlows::add_route(std::vector<Link> links, double penalty) {
  routes_.push_back({std::move(links), penalty});
  return static_cast<Route>(routes_.size() - 1);
}

void FairFlows::begin(double date_s, const Flow& flow) {
  starts_.push({date_s, starts_made_++, flow});
  if (flow.name >= places_.size()) places_.resize(flow.name + 1);
  places_[flow.name] = {false, 0, 0, date_s + flow.bytes / flow.limit_bytes_per_s};
  next_s_ = std::min(next_s_, date_s);
}

double FairFlows::earliest_end_s(std::uint32_t name, double now_s) const {
  const Place& place = places_[name];
  if (!place.has_begun) return place.earliest_s;
  const Class& of = classes_[place.of];
  const double moved_bytes = of.moved_bytes + of.rate_bytes_per_s * (now_s - of.since_s);
  return now_s + (place.end_bytes - moved_bytes) / of.kind.limit_bytes_per_s;
}

double FairFlows::next_s() {
  if (std::exchange(knows_next_, true)) return next_s_;
  while (!ends_.empty()) {
    const EndNote first = ends_.top();
    const Class& of = classes_[first.of];
    if (of.note == first.note && end_s(of) <= first.date_s) break;
    ends_.pop();
    if (of.note != first.note) continue;
    classes_[first.of].noted_s = never_s;
    note_end(first.of);
  }
  return next_s_ =
             std::min(ends_.empty() ? never_s : ends_.top().date_s, starts_.empty() ? never_s : starts_.top().date_s);
}

void FairFlows::advance(double date_s, std::vector<std::uint32_t>& ended) {
  for (;;) {
    const double event_s = next_s();
    if (event_s > date_s) break;
    knows_next_ = false;
    now_s_ = std::max(now_s_, event_s);
    if (checks_) count_moved();
    const double until_s = now_s_ + resolution_s_;
    while (!ends_.empty() && ends_.top().date_s <= until_s) {
      const EndNote first = ends_.top();
      ends_.pop();
      if (classes_[first.of].note == first.note) end_flows(first.of, ended);
    }
    while (!starts_.empty() && starts_.top().date_s <= until_s) {
      const Flow flow = starts_.top().flow;
      starts_.pop();
      start(flow);
    }
    if (all_stay_at_limits())
      begin_at_limits();
    else
      share_out();
    begun_.clear();
    if (checks_) check_rates();
  }
  now_s_ = std::max(now_s_, date_s);
}

void FairFlows::end_flows(ClassIndex index, std::vector<std::uint32_t>& ended) {
  Class& of = classes_[index];
  of.moved_bytes += of.rate_bytes_per_s * (now_s_ - of.since_s);
  of.since_s = now_s_;
  const std::size_t before = of.flows.size();
  while (!of.flows.empty() && end_s(of) <= now_s_ + resolution_s_) {
    ended.push_back(of.flows.front().name);
    if (checks_) check_ended(of.flows.front().name);
    std::pop_heap(of.flows.begin(), of.flows.end());
    of.flows.pop_back();
  }
  of.noted_s = never_s;
  count_flows(of);
  if (of.flows.size() != before) change_links(of);
  if (of.flows.empty())
    remove(index);
  else
    note_end(index);
}

void FairFlows::start(const Flow& flow) {
  const ClassIndex index = class_of({flow.route, flow.limit_bytes_per_s, flow.gain});
  Class& of = classes_[index];
  const double moved_bytes = of.moved_bytes + of.rate_bytes_per_s * (now_s_ - of.since_s);
  of.flows.push_back({moved_bytes + flow.bytes, starts_made_++, flow.name});
  places_[flow.name] = {true, index, moved_bytes + flow.bytes, 0};
  std::push_heap(of.flows.begin(), of.flows.end());
  count_flows(of);
  change_links(of);
  if (of.places.empty())
    note_end(index);
  else
    begun_.push_back(index);
  if (checks_) {
    bytes_.resize(places_.size());
    bytes_[flow.name] = {flow.bytes, 0};
    begun_bytes_ += flow.bytes;
  }
}

FairFlows::ClassIndex FairFlows::class_of(const Kind& kind) {
  const auto [found, is_new] = kinds_.try_emplace(kind, 0);
  if (!is_new) return found->second;
  if (free_classes_.empty()) {
    free_classes_.push_back(static_cast<ClassIndex>(classes_.size()));
    classes_.emplace_back();
  }
  const ClassIndex index = free_classes_.back();
  free_classes_.pop_back();
  found->second = index;
  const RouteState& route = routes_[kind.route];
  Class& made = classes_[index];
  made.kind = kind;
  made.route = &route;
  made.level_limit = kind.limit_bytes_per_s / kind.gain * route.penalty;
  made.is_limited = true;
  made.moved_bytes = 0;
  made.since_s = now_s_;
  made.rate_bytes_per_s = route.links.empty() ? kind.limit_bytes_per_s : 0;
  made.level = 0;
  made.held_up_by = no_link;
  made.noted_s = never_s;
  made.places.clear();
  for (const Link link : route.links) {
    LinkState& state = links_[link];
    made.places.push_back(static_cast<std::uint32_t>(state.classes.size()));
    state.classes.push_back(index);
    if (state.bytes_per_s <= kind.limit_bytes_per_s / kind.gain) made.is_limited = false;
  }
  return index;
}

void FairFlows::remove(ClassIndex index) {
  Class& of = classes_[index];
  ++of.note;
  const std::vector<Link>& links = of.route->links;
  for (std::size_t i = 0; i < links.size(); ++i) {
    std::vector<ClassIndex>& list = links_[links[i]].classes;
    const ClassIndex last = list.back();
    list[of.places[i]] = last;
    list.pop_back();
    if (last == index) continue;
    Class& moved = classes_[last];
    const std::vector<Link>& others = moved.route->links;
    const auto at = std::find(others.begin(), others.end(), links[i]) - others.begin();
    moved.places[static_cast<std::size_t>(at)] = of.places[i];
  }
  kinds_.erase(of.kind);
  free_classes_.push_back(index);
}

void FairFlows::change_links(const Class& of) {
  for (const Link link : of.route->links) {
    if (std::exchange(links_[link].is_changed, true)) continue;
    changed_links_.push_back(link);
  }
}

void FairFlows::note_end(ClassIndex index) {
  Class& of = classes_[index];
  const double date_s = end_s(of);
  if (date_s >= of.noted_s) return;
  of.noted_s = date_s;
  ends_.push({date_s, index, ++of.note});
}

/// A class whose rate may change.
void FairFlows::take(ClassIndex index) {
  if (std::exchange(classes_[index].round, round_) != round_) part_.push_back(index);
}

void FairFlows::take_all_connected() {
  for (std::size_t next = 0; next < part_.size(); ++next)
    for (const Link link : classes_[part_[next]].route->links)
      for (const ClassIndex index : links_[link].classes) take(index);
}

/// The part's share of a link: all that other classes, whose rates stay, do not carry there.
void FairFlows::offer(Link link) {
  LinkState& state = links_[link];
  double left_bytes_per_s = state.bytes_per_s, load = 0, held_at = 0;
  std::size_t open = 0;
  bool held_up_part = false;
  for (const ClassIndex index : state.classes) {
    const Class& of = classes_[index];
    const bool held_up = of.held_up_by == link;
    if (is_in_part(of)) {
      load += of.weight;
      ++open;
      held_up_part |= held_up;
    } else {
      left_bytes_per_s -= of.weight * of.level;
      if (held_up) held_at = std::max(held_at, of.level);
    }
  }
  state.fill = fills_;
  state.left_bytes_per_s = left_bytes_per_s;
  state.load = load;
  state.open = open;
  state.full_at = -1;
  state.held_at = held_at;
  state.has_others = open < state.classes.size();
  state.binds = held_up_part || held_at == 0;
  part_links_.push_back(link);
  if (state.binds) link_stops_.add({state.level(), link});
}

void FairFlows::fix(ClassIndex index, double level, Link held_up_by) {
  Class& of = classes_[index];
  of.is_fixed = true;
  of.next_level = level;
  of.next_held_up_by = held_up_by;
  for (const Link link : of.route->links) {
    LinkState& state = links_[link];
    state.left_bytes_per_s -= of.weight * level;
    state.load -= of.weight;
    --state.open;
  }
  --open_;
}

void FairFlows::Stops::clear() {
  all_.clear();
  is_sorted_ = false;
  lowest_level_ = never_s;
}

FairFlows::Stop FairFlows::Stops::take() {
  if (!std::exchange(is_sorted_, true)) std::sort(all_.begin(), all_.end());
  const Stop first = all_.back();
  all_.pop_back();
  lowest_level_ = all_.empty() ? never_s : all_.back().level;
  return first;
}

/// Whether no link of the part is full before all of its classes have reached their limits, and none has held up
/// others: then that is where they stay.
bool FairFlows::all_reach_limits() {
  double highest = 0;
  for (const ClassIndex index : part_) {
    if (!classes_[index].is_limited) return false;
    highest = std::max(highest, classes_[index].level_limit);
  }
  for (const Link link : part_links_)
    if (links_[link].held_at > 0 || !(links_[link].level() > highest)) return false;
  for (const ClassIndex index : part_) {
    Class& of = classes_[index];
    of.next_level = of.level_limit;
    of.next_held_up_by = no_link;
  }
  return true;
}

/// All levels of the part rise together. Those at which links are full only rise while classes are fixed: levels of
/// stops are perhaps too low, never too high.
void FairFlows::fill() {
  ++fills_;
  part_links_.clear();
  link_stops_.clear();
  class_stops_.clear();
  for (const ClassIndex index : part_) {
    Class& of = classes_[index];
    of.is_fixed = false;
    for (const Link link : of.route->links)
      if (links_[link].fill != fills_) offer(link);
    if (of.is_limited) class_stops_.add({of.level_limit, index});
  }
  if (all_reach_limits()) return;
  open_ = part_.size();
  while (open_ > 0 && !(link_stops_.empty() && class_stops_.empty())) {
    if (class_stops_.lowest_level() <= link_stops_.lowest_level()) {
      const Stop first = class_stops_.take();
      if (!classes_[first.index].is_fixed) fix(first.index, first.level, no_link);
      continue;
    }
    const Stop first = link_stops_.take();
    LinkState& state = links_[first.index];
    if (state.open == 0) continue;
    const double level = state.level();
    if (level > first.level && std::min(link_stops_.lowest_level(), class_stops_.lowest_level()) < level) {
      link_stops_.add({level, first.index});
      continue;
    }
    state.full_at = level;
    for (const ClassIndex index : state.classes)
      if (is_in_part(classes_[index]) && !classes_[index].is_fixed) fix(index, level, first.index);
  }
  // All their links are full by others, which are taken now.
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  for (const ClassIndex index : part_)
    if (!classes_[index].is_fixed) fix(index, unbounded, no_link);
}

/// fill() for a class that shares no link with another, as many do. False: it is not so.
bool FairFlows::fill_alone() {
  if (part_.size() != 1) return false;
  Class& of = classes_[part_.front()];
  Stop first{of.is_limited ? of.level_limit : never_s, no_link};
  for (const Link link : of.route->links) {
    if (links_[link].classes.size() != 1) return false;
    const double level = links_[link].bytes_per_s / of.weight;
    if (level < first.level || (level == first.level && !of.is_limited && link < first.index)) first = {level, link};
  }
  of.next_level = first.level;
  of.next_held_up_by = first.index;
  return true;
}

/// Takes those classes on a link that may not keep their rates beside the new ones of the part.
void FairFlows::take_disturbed(Link link) {
  const LinkState& state = links_[link];
  if (!state.has_others) return;
  constexpr double rounding = 1e-12;
  if (state.full_at >= 0) {
    for (const ClassIndex index : state.classes) {
      const Class& of = classes_[index];
      if (is_in_part(of)) continue;
      const bool has_more = of.level > state.full_at * (1 + rounding);
      const bool has_less = of.held_up_by == link && of.level < state.full_at * (1 - rounding);
      if (has_more || has_less) take(index);
    }
    return;
  }
  if (state.held_at == 0) return;
  const auto has_more = [&](ClassIndex index) {
    return is_in_part(classes_[index]) && classes_[index].next_level > state.held_at * (1 + rounding);
  };
  if (std::abs(state.left_bytes_per_s) <= rounding * state.bytes_per_s &&
      std::none_of(state.classes.begin(), state.classes.end(), has_more))
    return;
  for (const ClassIndex index : state.classes)
    if (classes_[index].held_up_by == link) take(index);
}

/// Whether all classes on changed links are at their limits, and stay there: no link that has changed is full, neither
/// before nor after. Then other classes keep their rates, too: on their links nothing changes, and the other links of
/// these classes need not be looked at.
bool FairFlows::all_stay_at_limits() const {
  constexpr double rounding = 1e-9;
  return std::all_of(changed_links_.begin(), changed_links_.end(), [this](Link link) {
    const LinkState& state = links_[link];
    double carried_bytes_per_s = 0;
    for (const ClassIndex index : state.classes) {
      const Class& of = classes_[index];
      if (of.held_up_by != no_link || !of.is_limited) return false;
      carried_bytes_per_s += of.weight * of.level_limit;
    }
    return carried_bytes_per_s < state.bytes_per_s * (1 - rounding);
  });
}

void FairFlows::begin_at_limits() {
  for (const Link link : changed_links_) links_[link].is_changed = false;
  changed_links_.clear();
  for (const ClassIndex index : begun_) {
    Class& of = classes_[index];
    of.next_level = of.level_limit;
    of.next_held_up_by = no_link;
    set_level(index);
  }
}

/// Rates are fair if each class has reached its limit, or is held up by a link that is full and gives no other class
/// more. So a part of the classes can have new rates while all others keep theirs, if that is still true for all:
/// begins and ends of flows seldom matter beyond the classes on the links that they cross.
///
/// Proof that the last try is one: it takes whole connected components, all classes on all links of its classes. Then
/// no other class is on a link of the part. So take_disturbed() takes nobody; every link binds, and every class has a
/// stop in fill(), its limit or (is_limited false) one of its links, that fixes it at a finite level. fill() is then
/// progressive filling of these classes, which is fair. An earlier try ends only with a finite level for all, too: the
/// links of a class that fill() leaves are full by others, of which take_disturbed() takes some.
void FairFlows::share_out() {
  ++round_;
  part_.clear();
  for (const Link link : changed_links_) {
    links_[link].is_changed = false;
    for (const ClassIndex index : links_[link].classes) take(index);
  }
  changed_links_.clear();
  constexpr int most_tries = 8;
  for (int tries = fill_alone() ? most_tries + 1 : 1; tries <= most_tries; ++tries) {
    if (tries == most_tries) take_all_connected();
    fill();
    const std::size_t before = part_.size();
    for (const Link link : part_links_) take_disturbed(link);
    if (part_.size() == before) break;
    if (tries == most_tries) end_for("try", most_tries, "flows share links with a connected component", 0);
  }
  for (const ClassIndex index : part_) set_level(index);
}

void FairFlows::set_level(ClassIndex index) {
  Class& of = classes_[index];
  of.held_up_by = of.next_held_up_by;
  if (of.next_level == of.level) {
    note_end(index);
    return;
  }
  of.level = of.next_level;
  const double rate_bytes_per_s = of.kind.gain * of.level / of.route->penalty;
  if (of.rate_bytes_per_s != rate_bytes_per_s) {
    of.moved_bytes += of.rate_bytes_per_s * (now_s_ - of.since_s);
    of.since_s = now_s_;
    of.rate_bytes_per_s = rate_bytes_per_s;
  }
  note_end(index);
}

}  // namespace hplcast::smpi_models
