#include "hplcast/study/predict_many.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace hplcast::study {

namespace {

struct Stopped : std::exception {};

/// Threads that make predictions and queue them. Stops and joins them at destruction.
class Predictors {
 public:
  using Ended = std::vector<std::pair<std::size_t, core::Prediction>>;

  explicit Predictors(const PredictionBatch& batch) : batch_(batch), fractions_(batch.requests.size(), 0.0) {
    const auto most = static_cast<std::size_t>(std::max(1, batch.jobs));
    const std::size_t threads = std::min(most, batch.requests.size());
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Predictors() {
    stop();
    for (std::thread& thread : threads_) thread.join();
  }
  Predictors(const Predictors&) = delete;
  Predictors& operator=(const Predictors&) = delete;

  /// Those that ended since the last call, after at most 100 ms. @throws the first failure, once all that ended before
  /// it were given.
  Ended wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return !ended_.empty() || failure_ != nullptr; });
    if (ended_.empty() && failure_ != nullptr) std::rethrow_exception(failure_);
    return std::exchange(ended_, {});
  }

  std::vector<double> fractions() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return fractions_;
  }

 private:
  void stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }

  /// The next request that nobody makes yet; their number if there is none.
  std::size_t take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stop_ ? batch_.requests.size() : std::min(next_++, batch_.requests.size());
  }

  void work() {
    for (std::size_t index = take(); index < batch_.requests.size(); index = take()) {
      try {
        core::Prediction prediction = predict(watched(index));
        const std::lock_guard<std::mutex> lock(mutex_);
        fractions_[index] = 1;
        ended_.emplace_back(index, std::move(prediction));
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

  PredictionRequest watched(std::size_t index) {
    PredictionRequest request = batch_.requests[index];
    request.while_running = [this] {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stop_) throw Stopped();
    };
    request.on_progress = [this, index](const SimulationProgress& progress) {
      const std::lock_guard<std::mutex> lock(mutex_);
      fractions_[index] = progress.fraction;
    };
    return request;
  }

  const PredictionBatch& batch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  bool stop_ = false;
  Ended ended_;
  std::vector<double> fractions_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;  // the last: they use all of the above
};

}  // namespace

void predict_many(const PredictionBatch& batch) {
  Predictors predictors(batch);
  for (std::size_t ended = 0; ended < batch.requests.size();) {
    for (auto& [index, prediction] : predictors.wait()) {
      batch.ended(index, std::move(prediction));
      ++ended;
    }
    if (batch.tick) batch.tick(predictors.fractions());
  }
}

}  // namespace hplcast::study
