/* Made by hplcast from a cluster model; do not edit. C99. See docs/formats/model-h.md. */
#ifndef HPLCAST_MODEL_H_INCLUDED
#define HPLCAST_MODEL_H_INCLUDED

#include "hplcast/smpi_models/hplcast_smpi.h"

#define HPLCAST_MODEL_NAME "two <nodes>"
#define HPLCAST_MODEL_SHA256 "ae928c7929e359d777cb26ef95def1010b90e9b455555ec8e6c05c46694bd749"

/* One call of a kernel by the calling rank. */
#define HPLCAST_DGEMM(m, n, k) hplcast_kernel_call(HPLCAST_DGEMM, (m), (n), (k))
#define HPLCAST_DTRSM(m, n, k) hplcast_kernel_call(HPLCAST_DTRSM, (m), (n), (k))
#define HPLCAST_DGEMV(m, n) hplcast_kernel_call(HPLCAST_DGEMV, (m), (n), 1)
#define HPLCAST_DGER(m, n) hplcast_kernel_call(HPLCAST_DGER, (m), (n), 1)
#define HPLCAST_DTRSV(n) hplcast_kernel_call(HPLCAST_DTRSV, 1, (n), 1)
#define HPLCAST_DAXPY(n) hplcast_kernel_call(HPLCAST_DAXPY, 1, (n), 1)
#define HPLCAST_DSCAL(n) hplcast_kernel_call(HPLCAST_DSCAL, 1, (n), 1)
#define HPLCAST_DSWAP(n) hplcast_kernel_call(HPLCAST_DSWAP, 1, (n), 1)
#define HPLCAST_DCOPY(n) hplcast_kernel_call(HPLCAST_DCOPY, 1, (n), 1)
#define HPLCAST_IDAMAX(n) hplcast_kernel_call(HPLCAST_IDAMAX, 1, (n), 1)
#define HPLCAST_DLACPY(m, n) hplcast_kernel_call(HPLCAST_DLACPY, (m), (n), 1)
#define HPLCAST_DLATCPY(m, n) hplcast_kernel_call(HPLCAST_DLATCPY, (m), (n), 1)
#define HPLCAST_DLASWP00N(m, n) hplcast_kernel_call(HPLCAST_DLASWP00N, (m), (n), 1)
#define HPLCAST_DLASWP01N(m, n) hplcast_kernel_call(HPLCAST_DLASWP01N, (m), (n), 1)
#define HPLCAST_DLASWP01T(m, n) hplcast_kernel_call(HPLCAST_DLASWP01T, (m), (n), 1)
#define HPLCAST_DLASWP02N(m, n) hplcast_kernel_call(HPLCAST_DLASWP02N, (m), (n), 1)
#define HPLCAST_DLASWP03N(m, n) hplcast_kernel_call(HPLCAST_DLASWP03N, (m), (n), 1)
#define HPLCAST_DLASWP03T(m, n) hplcast_kernel_call(HPLCAST_DLASWP03T, (m), (n), 1)
#define HPLCAST_DLASWP04N(m, n) hplcast_kernel_call(HPLCAST_DLASWP04N, (m), (n), 1)
#define HPLCAST_DLASWP04T(m, n) hplcast_kernel_call(HPLCAST_DLASWP04T, (m), (n), 1)
#define HPLCAST_DLASWP05N(m, n) hplcast_kernel_call(HPLCAST_DLASWP05N, (m), (n), 1)
#define HPLCAST_DLASWP05T(m, n) hplcast_kernel_call(HPLCAST_DLASWP05T, (m), (n), 1)
#define HPLCAST_DLASWP06N(m, n) hplcast_kernel_call(HPLCAST_DLASWP06N, (m), (n), 1)
#define HPLCAST_DLASWP06T(m, n) hplcast_kernel_call(HPLCAST_DLASWP06T, (m), (n), 1)
#define HPLCAST_DLASWP10N(m, n) hplcast_kernel_call(HPLCAST_DLASWP10N, (m), (n), 1)
#define HPLCAST_DLOCSWPN(n) hplcast_kernel_call(HPLCAST_DLOCSWPN, 1, (n), 1)
#define HPLCAST_DLOCSWPT(n) hplcast_kernel_call(HPLCAST_DLOCSWPT, 1, (n), 1)

/* The models; define HPLCAST_MODEL_NO_TABLES to have the macros only. */
#ifndef HPLCAST_MODEL_NO_TABLES
static const hplcast_law hplcast_laws_daxpy[] = {
  {-1, -1, {0, 0, 0}, 1, (const hplcast_law_piece[]){
    {0x0p+0,
     {1, (const hplcast_term[]){{0, 1, 0}},
     (const double[]){0x1.b7cdfd9d7bdbbp-32}},
     {1, (const hplcast_term[]){{0, 1, 0}},
     (const double[]){0x1.5fd7fe1796496p-34}},
     HPLCAST_NOISE_LOG_NORMAL, 0, 0}}},
};

static const hplcast_law hplcast_laws_dcopy[] = {
  {-1, -1, {0, 0, 0}, 1, (const hplcast_law_piece[]){
    {0x0p+0,
     {0, 0, 0},
     {0, 0, 0},
     HPLCAST_NOISE_NONE, 0, 0}}},
};

static const hplcast_law hplcast_laws_dgemm[] = {
  {-1, -1, {0, 0, 0}, 1, (const hplcast_law_piece[]){
    {0x0p+0,
     {4, (const hplcast_term[]){{1, 1, 1}, {1, 0, 1}, {0, 1, 1}, {0, 0, 0}},
     (const double[]){0x1.33dcfe54a3803p-34, 0x1.9c511dc3a41dfp-30, 0x1.9c511dc3a41dfp-29, 0x1.0c6f7a0b5ed8dp-21}},
     {4, (const hplcast_term[]){{1, 1, 1}, {1, 0, 1}, {0, 1, 1}, {0, 0, 0}},
     (const double[]){0x1.278c7947035c5p-39, 0x1.8bd2fdda89128p-35, 0x1.8bd2fdda89128p-34, 0x1.01b2b29a4692bp-26}},
     HPLCAST_NOISE_HALF_NORMAL, 0, 0}}},
  {1, 1, {0, 0, 0}, 1, (const hplcast_law_piece[]){
    {0x0p+0,
     {4, (const hplcast_term[]){{1, 1, 1}, {1, 0, 1}, {0, 1, 1}, {0, 0, 0}},
     (const double[]){0x1.52a64af6b3d9dp-34, 0x1.c58c6d8a67ba9p-30, 0x1.c58c6d8a67ba9p-29, 0x1.27476ca61b882p-21}},
     {4, (const hplcast_term[]){{1, 1, 1}, {1, 0, 1}, {0, 1, 1}, {0, 0, 0}},
     (const double[]){0x1.451a8567b6e59p-39, 0x1.b368173d30613p-35, 0x1.b368173d30613p-34, 0x1.1b77c47680d49p-26}},
     HPLCAST_NOISE_HALF_NORMAL, 0, 0}}},
};

static const hplcast_law hplcast_laws_dscal[] = {
  {-1, -1, {0, 1, 0}, 2, (const hplcast_law_piece[]){
    {0x0p+0,
     {1, (const hplcast_term[]){{0, 1, 0}},
     (const double[]){0x1.b7cdfd9d7bdbbp-32}},
     {1, (const hplcast_term[]){{0, 1, 0}},
     (const double[]){0x1.5fd7fe1796496p-35}},
     HPLCAST_NOISE_NORMAL, 0, 0}, 
    {0x1p+12,
     {1, (const hplcast_term[]){{0, 1, 0}},
     (const double[]){0x1.b7cdfd9d7bdbbp-31}},
     {0, 0, 0},
     HPLCAST_NOISE_MIXTURE, 2, (const hplcast_mode[]){{0x1.8p-1, 0x1.ccccccccccccdp-1, 0x1.47ae147ae147bp-7}, {0x1p-2, 0x1.4cccccccccccdp+0, 0x1.47ae147ae147bp-6}}}}},
};

static const hplcast_kernel_table hplcast_kernels[] = {
  {"daxpy", "M1", 1, hplcast_laws_daxpy, 0, {0x0p+0, 0x0p+0, 0x0p+0}, {0x0p+0, 0x0p+0, 0x0p+0}},
  {"dcopy", "M0", 1, hplcast_laws_dcopy, 0, {0x0p+0, 0x0p+0, 0x0p+0}, {0x0p+0, 0x0p+0, 0x0p+0}},
  {"dgemm", "M2", 2, hplcast_laws_dgemm, 1, {0x1p+0, 0x1p+0, 0x1p+0}, {0x1.2cp+7, 0x1.f4p+9, 0x1p+7}},
  {"dscal", "M'", 1, hplcast_laws_dscal, 0, {0x0p+0, 0x0p+0, 0x0p+0}, {0x0p+0, 0x0p+0, 0x0p+0}},
};

static const hplcast_model_table hplcast_model = {
  HPLCAST_MODEL_TABLE_VERSION, HPLCAST_MODEL_NAME, HPLCAST_MODEL_SHA256,
  "n-[1-2]", 4, 2, HPLCAST_CPU_LIST, (const int[]){0, 1, 1, 0},
  0x1.dcd65p+29, 0x1.dcd65p+29,
  4, hplcast_kernels,
  0, 0
};
#endif
#endif
