/* The tables that a generated model.h fills: a cluster's kernel models as constants of a C99 program.
 *
 * Units are those of cluster.json (seconds, bytes). Numbers are written as hexadecimal floats, so that the models are
 * the same to the last bit as those read from cluster.json (docs/formats/model-h.md). */
#ifndef HPLCAST_MODEL_TABLE_H
#define HPLCAST_MODEL_TABLE_H

#include "hplcast/core/noise_list.h"
#include "hplcast/smpi_models/c_declarations.h"

HPLCAST_BEGIN_C

/* Version of these structures: a model.h of another version is refused. */
#define HPLCAST_MODEL_TABLE_VERSION 1

/* m^m n^n k^k. */
typedef struct {
  int m, n, k;
} hplcast_term;

/* A mode of a mixture: probability, mean and standard deviation of duration / mu. */
typedef struct {
  double probability, mean, sd;
} hplcast_mode;

/* How durations scatter: HPLCAST_NOISE_HALF_NORMAL and so on. */
#define HPLCAST_NOISE_NUMBER(NAME, name, text) HPLCAST_NOISE_##NAME,
typedef enum { HPLCAST_NOISE_FAMILIES(HPLCAST_NOISE_NUMBER) } hplcast_noise;
#undef HPLCAST_NOISE_NUMBER

/* sum of coefficients[i] * terms[i]; no terms: 0. */
typedef struct {
  int count;
  const hplcast_term* terms;
  const double* coefficients;
} hplcast_polynomial;

/* The law that holds where the split monomial is at least `from`. */
typedef struct {
  double from;
  hplcast_polynomial mu, sigma;
  hplcast_noise noise;
  int mode_count;
  const hplcast_mode* modes;
} hplcast_law_piece;

/* The law of one CPU; host and cpu are -1 for the law of all CPUs that have none of their own. */
typedef struct {
  int host, cpu;
  hplcast_term split;
  int piece_count;
  const hplcast_law_piece* pieces;
} hplcast_law;

/* The model of one kernel. The first law is that of the cluster. has_range: min and max are the sizes m, n, k of the
 * fit. */
typedef struct {
  const char* kernel;
  const char* level;
  int law_count;
  const hplcast_law* laws;
  int has_range;
  double min[3], max[3];
} hplcast_kernel_table;

/* How local ranks are laid on CPUs, in the order of hplcast::core::RankToCpu::Kind. */
typedef enum { HPLCAST_CPU_BLOCK, HPLCAST_CPU_CYCLIC, HPLCAST_CPU_LIST } hplcast_cpu_order;

/* Hosts that differ from the others; fields as below. */
typedef struct {
  const char* name;
  const char* hosts;
  int cores, cpus;
  hplcast_cpu_order cpu_order;
  const int* cpu_list;
} hplcast_host_kind;

/* A cluster, without its network: that comes with the platform. */
typedef struct {
  int version;        /* HPLCAST_MODEL_TABLE_VERSION */
  const char* name;   /* of the cluster */
  const char* sha256; /* of the cluster.json that model.h was made from */
  const char* hosts;  /* radical, for example node-[1-32] */
  int cores, cpus;    /* per host */
  hplcast_cpu_order cpu_order;
  const int* cpu_list;                      /* `cores` entries for HPLCAST_CPU_LIST, else null */
  double local_max_bytes, remote_max_bytes; /* largest message measured; 0: not known */
  int kernel_count;
  const hplcast_kernel_table* kernels;
  int kind_count;
  const hplcast_host_kind* kinds;
} hplcast_model_table;

HPLCAST_END_C

#endif
