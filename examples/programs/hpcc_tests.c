/* Which tests of HPC Challenge are run: the names in HPCC_TESTS (HPL,StarSTREAM ...), else all but MPIRandomAccess, which
 * waits in loops of MPI_Testany and takes long in a simulation. Called from HPCC_Defaults (get-hpcc). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcc.h>

struct test {
  const char* name;
  int* runs;
};

static int is_named(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* place = list; (place = strstr(place, name)) != NULL; place += length) {
    const int begins = place == list || place[-1] == ',', ends = place[length] == ',' || place[length] == '\0';
    if (begins && ends) return 1;
  }
  return 0;
}

void hplcast_choose_tests(HPCC_Params* params) {
  const struct test tests[] = {{"HPL", &params->RunHPL},
                               {"StarDGEMM", &params->RunStarDGEMM},
                               {"SingleDGEMM", &params->RunSingleDGEMM},
                               {"PTRANS", &params->RunPTRANS},
                               {"StarSTREAM", &params->RunStarStream},
                               {"SingleSTREAM", &params->RunSingleStream},
                               {"MPIRandomAccess_LCG", &params->RunMPIRandomAccess_LCG},
                               {"StarRandomAccess_LCG", &params->RunStarRandomAccess_LCG},
                               {"SingleRandomAccess_LCG", &params->RunSingleRandomAccess_LCG},
                               {"MPIRandomAccess", &params->RunMPIRandomAccess},
                               {"StarRandomAccess", &params->RunStarRandomAccess},
                               {"SingleRandomAccess", &params->RunSingleRandomAccess},
                               {"LatencyBandwidth", &params->RunLatencyBandwidth},
                               {"MPIFFT", &params->RunMPIFFT},
                               {"StarFFT", &params->RunStarFFT},
                               {"SingleFFT", &params->RunSingleFFT}};
  const char* const list = getenv("HPCC_TESTS");
  int known = 0;
  size_t names = list != NULL && *list != '\0';
  for (const char* letter = list; letter != NULL && *letter != '\0'; ++letter) names += *letter == ',';
  for (size_t i = 0; i < sizeof tests / sizeof *tests; ++i) {
    const int named = list != NULL ? is_named(list, tests[i].name) : strncmp(tests[i].name, "MPIRandom", 9) != 0;
    *tests[i].runs = named;
    known += named;
  }
  if (list == NULL || (names > 0 && (size_t)known == names)) return;
  fprintf(stderr, "hpcc: HPCC_TESTS=%s has %d known names of %zu; expected, with commas:", list, known, names);
  for (size_t i = 0; i < sizeof tests / sizeof *tests; ++i) fprintf(stderr, " %s", tests[i].name);
  fputc('\n', stderr);
  exit(3);
}
