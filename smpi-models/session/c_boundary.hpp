#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "hplcast/core/errors.hpp"

namespace hplcast::smpi_models {

/// Says what went wrong and ends the whole simulation. No destructors and no exit handlers run: we may be on an actor's
/// stack.
[[noreturn]] inline void end_simulation(const char* what, core::ExitCode code) noexcept {
  std::fflush(stdout);
  std::fprintf(stderr, "hplcast: %s\n", what);
  std::fflush(stderr);
  std::_Exit(static_cast<int>(code));
}

/// Calls `body`, for use at the boundary to C: what it throws ends the simulation. Nothing inside may block the actor,
/// because SimGrid unwinds the stack of a killed actor with an exception of its own.
template <typename Body>
auto guarded(Body&& body) noexcept -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const core::Error& error) {
    end_simulation(error.what(), error.code());
  } catch (const std::exception& error) {
    end_simulation(error.what(), core::ExitCode::bad_input);
  }
}

}  // namespace hplcast::smpi_models
