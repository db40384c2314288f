/* HPL_pdinfo with one process, enough ranks for any grid, and a look at the memory that it reads. */
#include "tests/hpl-patches/common/pdinfo_reference.h"

#include <ctype.h>
#include <fcntl.h>
#include <hpl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Stand-ins for functions of which HPL_pdinfo gives arguments that are not needed here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { exit_read = 0, exit_refused = 1, exit_undefined = 42 };

static const char* input_path;
static char* line_buffer;
static size_t line_written; /* bytes of the buffer that were ever written */
static int words_asked;
static int word_there;

FILE* pdinfo_fopen(const char* path, const char* mode) {
  return fopen(mode[0] == 'r' ? input_path : "/dev/null", mode);
}

/* Remembers how far the buffer of the lines was filled. The second line goes into another buffer. */
char* pdinfo_fgets(char* line, int size, FILE* file) {
  if (line_buffer == NULL) line_buffer = line;
  const long before = ftell(file);
  char* result = fgets(line, size, file);
  const long read = ftell(file) - before;
  if (line == line_buffer && read > 0 && (size_t)read + 1 > line_written) line_written = (size_t)read + 1;
  return result;
}

/* "%s" only. Where HPL would read bytes that nobody has written, its result says nothing. */
int pdinfo_sscanf(const char* text, const char* format, char* word) {
  const char* const end = line_buffer + (line_written < HPL_LINE_MAX ? line_written : HPL_LINE_MAX);
  const char* at = text;
  while (at < end && isspace((unsigned char)*at)) ++at;
  while (at < end && *at != '\0' && !isspace((unsigned char)*at)) ++at;
  if (at >= end) _exit(exit_undefined);
  const int found = sscanf(text, format, word);
  ++words_asked;
  /* The first word is the name of the output file, the second its unit: neither matters if it is missing. */
  if (words_asked > 1 && found == 1) word_there = 1;
  if (words_asked > 2 && !word_there) _exit(exit_undefined);
  return found;
}

/* MPI with one process that says it is many, so that no grid is too large. */
int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = 0;
  return MPI_SUCCESS;
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  *size = INT32_MAX;
  return MPI_SUCCESS;
}
int MPI_Finalize(void) {
  return MPI_SUCCESS;
}
int HPL_all_reduce(void* buffer, const int count, const HPL_T_TYPE type, const HPL_T_OP op, MPI_Comm comm) {
  return MPI_SUCCESS;
}
int HPL_broadcast(void* buffer, const int count, const HPL_T_TYPE type, const int root, MPI_Comm comm) {
  return MPI_SUCCESS;
}
void HPL_max(const int count, const void* in, void* inout, const HPL_T_TYPE type) {}
double HPL_pdlamch(MPI_Comm comm, const HPL_T_MACH what) {
  return 2e-16;
}
void HPL_fprintf(FILE* file, const char* format, ...) {}
void HPL_pwarn(FILE* file, int line, const char* function, const char* format, ...) {}

/* Called by HPC Challenge's copy where the others end the program. */
int HPCC_Defaults(HPL_T_test* test, int* ns, int* n, int* nbs, int* nb, HPL_T_ORDER* order, int* grids, int* p, int* q,
                  int* pfacts, HPL_T_FACT* pfact, int* nbmins, int* nbmin, int* ndivs, int* ndiv, int* rfacts,
                  HPL_T_FACT* rfact, int* topologies, HPL_T_TOP* topology, int* depths, int* depth, HPL_T_SWAP* swap,
                  int* swap_threshold, int* l1_transposed, int* u_transposed, int* equilibration, int* alignment,
                  MPI_Comm comm) {
  _exit(exit_refused);
}

static int number_of_factorisation(HPL_T_FACT factorisation) {
  return factorisation == HPL_LEFT_LOOKING ? 0 : factorisation == HPL_CROUT ? 1 : 2;
}

static int number_of_broadcast(HPL_T_TOP topology) {
  const HPL_T_TOP all[] = {HPL_1RING, HPL_1RING_M, HPL_2RING, HPL_2RING_M, HPL_BLONG, HPL_BLONG_M};
  for (int i = 0; i < 6; ++i) {
    if (all[i] == topology) return i;
  }
  return -1;
}

static void read_here(struct pdinfo_result* r) {
  HPL_T_test test;
  HPL_T_ORDER order;
  HPL_T_FACT pfact[HPL_MAX_PARAM], rfact[HPL_MAX_PARAM];
  HPL_T_TOP topology[HPL_MAX_PARAM];
  HPL_T_SWAP swap;
  int* c = r->counts;
  HPL_pdinfo(&test, &c[0], r->values[0], &c[1], r->values[1], &order, &c[2], r->values[2], r->q, &c[3], pfact, &c[4],
             r->values[4], &c[5], r->values[5], &c[6], rfact, &c[7], topology, &c[8], r->values[8], &swap,
             &r->swap_threshold, &r->l1, &r->u, &r->equil, &r->align);
  for (int i = 0; i < c[3]; ++i) r->values[3][i] = number_of_factorisation(pfact[i]);
  for (int i = 0; i < c[6]; ++i) r->values[6][i] = number_of_factorisation(rfact[i]);
  for (int i = 0; i < c[7]; ++i) r->values[7][i] = number_of_broadcast(topology[i]);
  r->pmap = order == HPL_COLUMN_MAJOR;
  r->swap = swap == HPL_SWAP00 ? 0 : swap == HPL_SWAP01 ? 1 : 2;
}

struct pdinfo_result pdinfo_read(const char* path) {
  struct pdinfo_result result;
  memset(&result, 0, sizeof result);
  struct pdinfo_result* shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return result;
  const pid_t child = fork();
  if (child == 0) {
    input_path = path;
    read_here(shared);
    _exit(exit_read);
  }
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)) {
    result = *shared;
    const int code = WEXITSTATUS(status);
    result.status = code == exit_read        ? PDINFO_READ
                    : code == exit_refused   ? PDINFO_REFUSED
                    : code == exit_undefined ? PDINFO_UNDEFINED
                                             : PDINFO_CRASHED;
  }
  munmap(shared, sizeof *shared);
  return result;
}
