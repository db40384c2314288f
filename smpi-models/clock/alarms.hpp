#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace hplcast::smpi_models {

/// Something that is done at a date of the simulation, which may not block. Alarms that are set for one date are done
/// in the order in which they were set.
class Alarm {
 public:
  /// `is_early`: it wakes nobody and looks at no clock but date_s(), so that it may be done as soon as nothing else
  /// happens before. SimGrid's clock then need not stop there.
  explicit Alarm(std::function<void()> task, bool is_early = false) : task_(std::move(task)), is_early_(is_early) {}
  ~Alarm() { cancel(); }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  /// Does not block. For that date and no other; at once if it is over. It is not set any more when the task begins.
  void set(double date_s);
  /// In the task of another alarm: in its place.
  void set_in_place_of(const Alarm& other);
  void cancel();
  bool is_set() const { return slot_ != not_set; }
  double date_s() const { return date_s_; }
  bool is_early() const { return is_early_; }

 private:
  friend class Alarms;
  static constexpr std::size_t not_set = static_cast<std::size_t>(-1);
  std::function<void()> task_;
  bool is_early_;
  double date_s_ = 0;
  std::uint64_t number_ = 0;  // in the order in which alarms were set
  std::size_t slot_ = not_set;
};

/// All alarms that are set: a heap with the first on top. All that it needs lies side by side: alarms are on the stacks
/// of actors, in no cache. Early ones, of which there are one or two that are set again and again, are not in the heap.
class Alarms {
 public:
  /// @param number  its place among those of one date: next_number(), or that of another one that is over
  void add(Alarm& alarm, double date_s, std::uint64_t number) {
    alarm.date_s_ = date_s;
    alarm.number_ = number;
    if (alarm.is_early_) {
      alarm.slot_ = early_.size();
      early_.push_back(&alarm);
      return;
    }
    if (free_slots_.empty()) {
      free_slots_.push_back(places_.size());
      places_.push_back(0);
    }
    alarm.slot_ = free_slots_.back();
    free_slots_.pop_back();
    heap_.emplace_back();
    rise(heap_.size() - 1, {date_s, number, alarm.slot_, &alarm});
  }
  std::uint64_t next_number() { return numbers_++; }
  static std::uint64_t number_of(const Alarm& alarm) { return alarm.number_; }

  void take_out(Alarm& alarm) {
    const std::size_t slot = std::exchange(alarm.slot_, Alarm::not_set);
    if (alarm.is_early_) {
      early_[slot] = early_.back();
      if (early_[slot] != &alarm) early_[slot]->slot_ = slot;
      early_.pop_back();
      return;
    }
    std::size_t hole = places_[slot];
    free_slots_.push_back(slot);
    const Entry last = heap_.back();
    heap_.pop_back();
    if (hole == heap_.size()) return;
    for (;;) {
      std::size_t child = 2 * hole + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      put(hole, heap_[child]);
      hole = child;
    }
    rise(hole, last);
  }

  /// Null: none is set.
  Alarm* first() const {
    Alarm* first = heap_.empty() ? nullptr : heap_.front().alarm;
    for (Alarm* const early : early_)
      if (first == nullptr || std::tie(early->date_s_, early->number_) < std::tie(first->date_s_, first->number_))
        first = early;
    return first;
  }
  void ring(Alarm& alarm) {
    take_out(alarm);
    alarm.task_();
  }

 private:
  struct Entry {
    double date_s;
    std::uint64_t number;
    std::size_t slot;
    Alarm* alarm;
    bool operator<(const Entry& other) const {
      return date_s != other.date_s ? date_s < other.date_s : number < other.number;
    }
  };

  void put(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    places_[entry.slot] = place;
  }
  void rise(std::size_t place, const Entry& entry) {
    for (; place > 0 && entry < heap_[(place - 1) / 2]; place = (place - 1) / 2) put(place, heap_[(place - 1) / 2]);
    put(place, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::size_t> places_, free_slots_;  // in the heap, by slot
  std::vector<Alarm*> early_;
  std::uint64_t numbers_ = 0;
};

}  // namespace hplcast::smpi_models
