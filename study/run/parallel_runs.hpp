#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "hplcast/study/predict.hpp"

namespace hplcast::study {

/// Threads that make results 0 to count-1 in this order, up to `jobs` at a time. Stops and joins them at destruction.
template <typename Result>
class ParallelRuns {
 public:
  /// `watch` is to be called by what makes a result; it throws what must go through when the run is to end.
  using Make = std::function<Result(std::size_t index, const SimulationWatch& watch)>;

  ParallelRuns(std::size_t count, int jobs, Make make) : make_(std::move(make)), fractions_(count, 0.0) {
    const std::size_t threads = std::min(static_cast<std::size_t>(std::max(1, jobs)), count);
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~ParallelRuns() {
    stop();
    for (std::thread& thread : threads_) thread.join();
  }
  ParallelRuns(const ParallelRuns&) = delete;
  ParallelRuns& operator=(const ParallelRuns&) = delete;

  /// Until all have ended, on the calling thread: `ended(index, result)` for each, and `tick(fractions)`, 0 to 1 of
  /// each run, several times a second. @throws the first failure, once all that ended before it were given.
  template <typename Ended, typename Tick>
  void run(const Ended& ended, const Tick& tick) {
    for (std::size_t left = fractions_.size(); left > 0;) {
      for (auto& [index, result] : wait()) {
        ended(index, std::move(result));
        --left;
      }
      tick(fractions());
    }
  }

 private:
  struct Stopped : std::exception {};
  using Results = std::vector<std::pair<std::size_t, Result>>;

  /// Results that came since the last call, after at most 100 ms.
  Results wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return !ended_.empty() || failure_ != nullptr; });
    if (ended_.empty() && failure_ != nullptr) std::rethrow_exception(failure_);
    return std::exchange(ended_, {});
  }

  std::vector<double> fractions() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return fractions_;
  }

  void stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }

  /// The next run that nobody makes yet; their number if there is none.
  std::size_t take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stop_ ? fractions_.size() : std::min(next_++, fractions_.size());
  }

  void work() {
    for (std::size_t index = take(); index < fractions_.size(); index = take()) {
      try {
        Result result = make_(index, watch(index));
        const std::lock_guard<std::mutex> lock(mutex_);
        fractions_[index] = 1;
        ended_.emplace_back(index, std::move(result));
      } catch (const Stopped&) {
        return;
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (failure_ == nullptr) failure_ = std::current_exception();
        stop_ = true;
      }
      changed_.notify_one();
    }
  }

  SimulationWatch watch(std::size_t index) {
    return {[this] {
              const std::lock_guard<std::mutex> lock(mutex_);
              if (stop_) throw Stopped();
            },
            [this, index](const SimulationProgress& progress) {
              const std::lock_guard<std::mutex> lock(mutex_);
              fractions_[index] = progress.fraction;
            }};
  }

  const Make make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  bool stop_ = false;
  Results ended_;
  std::vector<double> fractions_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;  // the last: they use all of the above
};

}  // namespace hplcast::study
