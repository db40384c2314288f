#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "hplcast/core/errors.hpp"

namespace hplcast::smpi_models {

/// Says what went wrong and ends the whole simulation. No destructors and no exit handlers run: we may be on an actor's
/// stack.
[[noreturn]] inline void end_simulation(const std::string& what,
                                        core::ExitCode code = core::ExitCode::bad_input) noexcept {
  std::fflush(stdout);
  std::fprintf(stderr, "hplcast: %s\n", what.c_str());
  std::fflush(stderr);
  std::_Exit(static_cast<int>(code));
}

/// "rank 3 sends ..."
[[noreturn]] inline void end_simulation_of(std::uint32_t rank, const std::string& what) noexcept {
  end_simulation("rank " + std::to_string(rank) + " " + what);
}

/// Calls `body`, for use at the boundary to C: what it throws ends the simulation, but for the exception, none of the
/// standard's, with which SimGrid unwinds the stack of an actor that was killed while it was blocked.
template <typename Body>
auto guarded(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const core::Error& error) {
    end_simulation(error.what(), error.code());
  } catch (const std::exception& error) {
    end_simulation(error.what());
  }
}

}  // namespace hplcast::smpi_models
