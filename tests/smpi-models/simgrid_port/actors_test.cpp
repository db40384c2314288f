// Alarms, bells and barriers, with SimGrid's kernel and without it. Each simulation is a process of its own: SimGrid
// has one engine per process.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hplcast/core/random_stream.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models::port {
namespace {

enum class Kernel { simgrids, ours };

/// What the actors of a simulation write, a line each.
class Diary {
 public:
  void write(const std::string& what) { text_ += core::printed("%.17g %s\n", clock_s(), what.c_str()); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// In a zone of its own.
s4u::Host* sealed_host([[maybe_unused]] const s4u::Engine& engine) {
#if SIMGRID_VERSION >= 40000
  s4u::NetZone* const zone = engine.get_netzone_root()->add_netzone_star("zone");
  s4u::Host* const host = zone->add_host("host", 1.0)->seal();
#else
  s4u::NetZone* const zone = s4u::create_star_zone("zone");
  s4u::Host* const host = zone->create_host("host", 1.0)->seal();
#endif
  zone->seal();
  return host;
}

void start(const std::string& name, s4u::Host* host, const std::function<void()>& code) {
#if SIMGRID_VERSION >= 40000
  s4u::Engine::get_instance()->add_actor(name, host, code);
#else
  s4u::Actor::create(name, host, code);
#endif
}

using Play = std::function<void(s4u::Host* host, Diary& diary)>;

/// The diary of a simulation, to which the end of the simulation is added.
std::string diary_of(Kernel kernel, const Play& play) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    char name[] = "test";
    char quiet[] = "--log=root.thresh:critical";
    std::vector<char*> arguments = {name, quiet, nullptr};
    int count = 2;
    s4u::Engine engine(&count, arguments.data());
    s4u::Host* const host = sealed_host(engine);
    Diary diary;
    if (kernel == Kernel::ours) run_by_ourselves();
    play(host, diary);
    engine.run();
    diary.write("the end");
    const std::string& text = diary.text();
    const bool all = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    std::_Exit(all ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? text : "ended with status " + std::to_string(status) + " after " + text;
}

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += one + "\n";
  return text;
}

class OnBothKernels : public ::testing::TestWithParam<Kernel> {};
INSTANTIATE_TEST_SUITE_P(Actors, OnBothKernels, ::testing::Values(Kernel::simgrids, Kernel::ours));

TEST_P(OnBothKernels, AlarmsOfOneDateAreDoneInTheOrderInWhichTheyWereSet) {
  const std::string written = diary_of(GetParam(), [](s4u::Host* host, Diary& diary) {
    start("actor", host, [&diary] {
      Alarm a([&] { diary.write("a"); }), b([&] { diary.write("b"); }), c([&] { diary.write("c"); });
      Alarm d([&] { diary.write("d"); }), never([&] { diary.write("never"); });
      Alarm e([&] { d.set_in_place_of(e), diary.write("e"); });  // d comes before b and c, which were set after e
      c.set(3);
      a.set(1);
      e.set(2);
      b.set(2);
      never.set(2);
      c.set(2);  // not at 3 any more
      never.cancel();
      EXPECT_FALSE(never.is_set());
      Bell bell;
      EXPECT_EQ(spend(4, bell), 0);
      a.set(1);  // that is over: now
      spend(1, bell);
    });
  });
  EXPECT_EQ(written, lines({"1 a", "2 e", "2 d", "2 b", "2 c", "4 a", "5 the end"}));
}

TEST_P(OnBothKernels, EarlyAlarmsAreDoneWithoutAStopOfTheClockAndInOrder) {
  const std::string written = diary_of(GetParam(), [](s4u::Host* host, Diary& diary) {
    start("actor", host, [&diary] {
      std::vector<std::string> done;
      Alarm early([&] { done.push_back("early"); }, true);
      Alarm first([&] { done.push_back("first"); });
      first.set(1);
      early.set(2);
      Bell bell;
      spend(3, bell);
      for (const std::string& one : done) diary.write(one);
    });
  });
  EXPECT_EQ(written, lines({"3 first", "3 early", "3 the end"}));
}

TEST_P(OnBothKernels, ABellThatRangBeforeItIsWaitedForIsNotLost) {
  const std::string written = diary_of(GetParam(), [](s4u::Host* host, Diary& diary) {
    const auto bell = std::make_shared<Bell>();
    start("rings", host, [=] {
      bell->ring();
      bell->ring();
      Bell own;
      spend(2, own);
      bell->ring();
    });
    start("waits", host, [=, &diary] {
      Bell own;
      spend(1, own);
      for (const char* time : {"first", "second", "third"}) {
        bell->wait();
        diary.write(time);
      }
    });
  });
  EXPECT_EQ(written, lines({"1 first", "1 second", "2 third", "2 the end"}));
}

/// Actors that spend times of few lengths, so that many things happen at one date, ring each other and meet.
Play crowd(bool asks_simgrid) {
  return [asks_simgrid](s4u::Host* host, Diary& diary) {
    constexpr std::size_t actors = 12;
    auto* const bells = new std::vector<Bell>(actors);
    auto* const barrier = new Barrier(actors);
    for (std::size_t i = 0; i < actors; ++i) {
      start(std::to_string(i), host, [=, &diary] {
        core::RandomStream random({1, core::stream_fit, static_cast<std::uint32_t>(i), 0, 0});
        Bell own;
        for (int step = 0; step < 40; ++step) {
          spend(0.25 * static_cast<double>(1 + random.below(3)), own);
          if (asks_simgrid && random.below(4) == 0) s4u::this_actor::sleep_for(0.5);
          if (asks_simgrid && random.below(4) == 0) s4u::this_actor::yield();
          (*bells)[(i + 1) % actors].ring();
          (*bells)[i].wait();
          diary.write(std::to_string(i) + " step " + std::to_string(step));
          if (step % 8 == 7) barrier->wait();
        }
      });
    }
  };
}

TEST(Actors, TakeTheirTurnsAsOnSimGridsKernel) {
  const std::string ours = diary_of(Kernel::ours, crowd(false));
  EXPECT_EQ(ours, diary_of(Kernel::simgrids, crowd(false)));
  EXPECT_EQ(std::count(ours.begin(), ours.end(), '\n'), 12 * 40 + 1);
}

/// Turns at one date may be others: SimGrid's kernel runs whoever it has answered in rounds of its own.
TEST(Actors, MayAskSimGridsKernelInBetween) {
  const auto sorted = [](const std::string& diary) {
    std::istringstream in(diary);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(sorted(diary_of(Kernel::ours, crowd(true))), sorted(diary_of(Kernel::simgrids, crowd(true))));
}

TEST_P(OnBothKernels, WhoWaitsForNothingIsADeadlock) {
  const std::string written = diary_of(GetParam(), [](s4u::Host* host, Diary& diary) {
    s4u::Engine::on_deadlock_cb([&diary] { diary.write("deadlock"); });
    for (const char* name : {"1", "2"}) {
      start(name, host, [name, &diary] {
        struct End {
          const char* name;
          Diary& diary;
          ~End() { diary.write(std::string("unwound ") + name); }
        };
        const End end{name, diary};
        Bell bell;
        spend(1, bell);
        bell.wait();
      });
    }
  });
  EXPECT_EQ(written, lines({"1 deadlock", "1 unwound 1", "1 unwound 2", "1 the end"}));
}

}  // namespace
}  // namespace hplcast::smpi_models::port
