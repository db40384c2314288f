#pragma once

namespace hplcast::core {

/// For the main function of a program, before anything else. Standard input, output or error that are closed become
/// /dev/null, which cannot be written: else the next file that is opened would take their place. A file that reaches
/// the limit of sizes (ulimit -f) gives an error as a full disk does, not SIGXFSZ.
void settle_in();

}  // namespace hplcast::core
