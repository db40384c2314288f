#pragma once

#include <initializer_list>

namespace hplcast::core {

/// Which descriptors a forked process gives up.
enum class CloseWhich { all, those_that_exec_closes };

/// Closes descriptors from 3 on, but for `kept`. Safe between fork and exec: allocates nothing.
void close_descriptors(CloseWhich which, std::initializer_list<int> kept);

/// Standard input, output and error become /dev/null: who waits for their end does not wait for this process. Safe
/// between fork and exec.
void leave_standard_streams();

}  // namespace hplcast::core
