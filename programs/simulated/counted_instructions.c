/* Counts what the code of a rank executes, where hplcast-cc --count has compiled it: GCC's -fsanitize-coverage=trace-pc
 * marks the begin of each basic block, which is executed from one branch to the next, and there hplcast-cc adds
 * the block's instructions. Elsewhere (clang, other processors) the mark is a call, and the block counts as one. The
 * numbers are those of a real run as far as the program goes the same way. A mark keeps the compiler from vectorising
 * the loop around it: simulated time is that of models, and does not see it. Only linked with programs that count. */
#include <stdint.h>

uint64_t hplcast_instructions = 0;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
  ++hplcast_instructions;
}
