/* Counts what the code of a rank executes, where hplcast-cc --count has compiled it: the compiler
 * (-fsanitize-coverage=trace-pc, of GCC and clang) calls this function at the begin of each basic block, which is what
 * is executed from one branch to the next. The numbers do not depend on the machine, and are those of a real run as far
 * as the program goes the same way. A call takes 1 to 2 ns of the simulation, and keeps the compiler from vectorising
 * the loop around it: simulated time is that of models, and does not see it.
 *
 * Only linked with programs that call it: hplcast_blocks is weak elsewhere. */
#include <stdint.h>

uint64_t hplcast_blocks = 0;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
  ++hplcast_blocks;
}
