// Messages and receives in random orders, against one list of all that wait, searched by the rules of MPI.

#include "smpi-models/messages/matching.hpp"

#include <gtest/gtest.h>

#include <list>
#include <map>

#include "hplcast/core/random_stream.hpp"

namespace hplcast::smpi_models {
namespace {

/// A message that was sent, or a receive that was posted.
struct End {
  int id;
  hplcast_channel channel;
};
const hplcast_channel& channel_of(const End& end) {
  return end.channel;
}

/// MPI 4.0, 3.2.4: source and tag of the envelope are those wanted, or any are; destination and communicator are.
bool may_get(const End& receive, const End& message) {
  const hplcast_channel &wanted = receive.channel, &sent = message.channel;
  if (wanted.source != any_value && wanted.source != sent.source) return false;
  if (wanted.tag != any_value && wanted.tag != sent.tag) return false;
  return wanted.destination == sent.destination && wanted.context == sent.context;
}

/// All ends of all ranks that wait, in the order in which they came.
class OneList {
 public:
  /// The end that `end` meets; null: it waits.
  const End* meet(const End& end, bool receives) {
    for (auto one = waiting_.begin(); one != waiting_.end(); ++one) {
      if (one->receives == receives || !(receives ? may_get(end, *one->end) : may_get(*one->end, end))) continue;
      const End* const met = one->end;
      waiting_.erase(one);
      return met;
    }
    waiting_.push_back({&end, receives});
    return nullptr;
  }
  const End* probe(const End& receive) const {
    for (const Waiting& one : waiting_)
      if (!one.receives && may_get(receive, *one.end)) return one.end;
    return nullptr;
  }
  std::size_t count(bool receives) const {
    std::size_t count = 0;
    for (const Waiting& one : waiting_) count += one.receives == receives ? 1 : 0;
    return count;
  }

 private:
  struct Waiting {
    const End* end;
    bool receives;
  };
  std::list<Waiting> waiting_;
};

class RandomEnds {
 public:
  explicit RandomEnds(std::uint64_t seed) : random_({seed, core::stream_message, 3, 0}), any_(random_.uniform()) {}

  bool next_receives() { return random_.uniform() < 0.5; }
  bool next_probes() { return random_.uniform() < 0.2; }
  hplcast_channel channel(bool receives) {
    const auto below = [this](std::size_t most) { return static_cast<int>(random_.below(most)); };
    hplcast_channel channel{below(4), below(3), below(3), below(2)};
    if (receives && random_.uniform() < any_) channel.source = any_value;
    if (receives && random_.uniform() < any_) channel.tag = any_value;
    return channel;
  }

 private:
  core::RandomStream random_;
  double any_;  // share of wildcards
};

/// Each rank has its own, as Mail has.
using Ranks = std::map<int, Matching<const End*, const End*>>;

void expect_equal_matches(std::uint64_t seed) {
  constexpr int events = 300;
  RandomEnds random(seed);
  std::list<End> ends;
  Ranks ranks;
  OneList list;
  for (int id = 0; id < events; ++id) {
    const bool receives = random.next_receives();
    const End& end = ends.emplace_back(End{id, random.channel(receives)});
    auto& matching = ranks[end.channel.destination];
    if (receives && random.next_probes()) {
      const End* const* const found = matching.find(end.channel);
      ASSERT_EQ(found == nullptr ? nullptr : *found, list.probe(end)) << "probe " << id;
      continue;
    }
    const End* const met = receives ? matching.post(&end) : matching.arrive(&end);
    ASSERT_EQ(met, list.meet(end, receives)) << (receives ? "receive " : "message ") << id;
  }
  std::size_t messages = 0, receives = 0;
  for (const auto& [rank, matching] : ranks) {
    messages += matching.messages().size();
    receives += matching.receives().size();
  }
  EXPECT_EQ(messages, list.count(false));
  EXPECT_EQ(receives, list.count(true));
}

TEST(Matching, IsThatOfOneListSearchedByTheRulesOfMpi) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    expect_equal_matches(seed);
    if (HasFatalFailure()) return;
  }
}

// What the standard says, without a list: messages of one sender that one receive may get come in their order, and
// nothing waits beside what it may meet.
TEST(Matching, LetsNoMessageOvertakeAnother) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomEnds random(seed);
    std::list<End> ends;
    Ranks ranks;
    for (int id = 0; id < 200; ++id) {
      const bool receives = random.next_receives();
      const End& end = ends.emplace_back(End{id, random.channel(receives)});
      auto& matching = ranks[end.channel.destination];
      const End* const met = receives ? matching.post(&end) : matching.arrive(&end);
      if (met == nullptr) continue;
      const End &receive = receives ? end : *met, &message = receives ? *met : end;
      ASSERT_TRUE(may_get(receive, message));
      for (const End* other : matching.messages()) {
        const bool is_before = other->channel.source == message.channel.source && other->id < message.id;
        ASSERT_FALSE(is_before && may_get(receive, *other)) << message.id << " overtakes " << other->id;
      }
      for (const End* other : matching.receives())
        ASSERT_FALSE(other->id < receive.id && may_get(*other, message)) << receive.id << " overtakes " << other->id;
    }
    for (const auto& [rank, matching] : ranks)
      for (const End* receive : matching.receives())
        for (const End* message : matching.messages()) ASSERT_FALSE(may_get(*receive, *message));
  }
}

}  // namespace
}  // namespace hplcast::smpi_models
