/* What the observed run cannot show: the vector routines of BLAS at lengths and strides beyond those of its calls,
 * where rows of a larger matrix lie in more pages and farther from the caches, and products with more rows and columns,
 * which no longer lie in a cache. When the program is over, each rank calls the same routines of the same library on
 * matrices of random numbers, all ranks at about the same time:
 *
 *     strided   rows of n columns of a matrix whose columns have k elements: 64 neighbouring rows in turn, each with a
 *               random one below it, which is how pivots swap rows; of routines other than swaps, a row and a vector
 *               (the strides of call_shapes.h that the run did not have, too: other sizes of the matrix have them)
 *     packs     likewise, by MPI_Pack: every other row is random
 *     products  of the widest observed face, m x n, enlarged, and its k, added to the same C again and again
 *     others    columns of a panel of 64, just written, each with a vector anywhere
 *
 * Rows: routine,m,n,k,duration_s,calls, as of observed calls; durations are means of the calls of a row. */
#define _GNU_SOURCE
#include "observed_calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hplcast/core/environment.h"
#include "observing.h"

enum { BLOCK = 64, PRODUCTS = 2, MOST_POINTS = 512 };

/* Arguments in Fortran after n: x incx y incy | alpha x incx [y incy]; those of gemm; C's of MPI_Pack. */
enum shape { PLAIN, SCALED, PRODUCT, PACK };
struct routine {
  const char* name; /* without the letter of the type */
  enum shape shape;
};
static const struct routine known[] = {
    {"swap", PLAIN}, {"copy", PLAIN}, {"axpy", SCALED}, {"scal", SCALED}, {"gemm", PRODUCT}};
static const char pack_name[] = "MPI_Pack";

static const char* const variants[] = {HPLCAST_STRIDE_NAMES}; /* by enum hplcast_strides */

struct point {
  const struct hplcast_observed* observed;
  void (*function)(void*, ...); /* cast before it is called */
  enum shape shape;
  size_t element_bytes;
  int swaps;
  enum hplcast_strides strides;
  int m, n, k; /* m = 1: vectors; bytes of a block that is packed, whose elements are bytes */
};

static uint64_t random_number(void) {
  static uint64_t state = 2;
  return next_random(&state);
}

static double cpu_s(void) {
  return 1e-9 * (double)clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Of vectors. What is more than a routine takes is not looked at (call_shapes.h). */
static void call(const struct point* point, const void* alpha, void* x, const int* incx, void* y, const int* incy) {
  typedef void routine_of_vectors(const int*, const void*, const void*, const void*, const void*, const int*);
  routine_of_vectors* const function = (routine_of_vectors*)point->function;
  if (point->shape == SCALED)
    function(&point->n, alpha, x, incx, y, incy);
  else
    function(&point->n, x, incx, y, incy, NULL);
}

static int is_single(const struct point* point) {
  return point->observed->name[0] == 's' || point->observed->name[0] == 'c';
}

/* Handles of Open MPI; null in other libraries, for which packing is not measured. */
static void *open_mpi_byte, *open_mpi_world;

/* The rows that begin at xs. */
static double measured_packs_s(const struct point* point, char* const* xs) {
  typedef int vector(int, int, int, const void*, void**);
  typedef int change(void**);
  typedef int pack(const void*, int, const void*, void*, int, int*, const void*);
  vector* const make = (vector*)hplcast_real_function("MPI_Type_vector");
  change *const commit = (change*)hplcast_real_function("MPI_Type_commit"), *const end = (change*)hplcast_real_function(
                                                                                "MPI_Type_free");
  pack* const move = (pack*)point->function;
  void* type = NULL;
  char* const packed = malloc((size_t)point->n * (size_t)point->m);
  if (packed == NULL || make(point->n, point->m, point->k, open_mpi_byte, &type) != 0) return 0;
  commit(&type);
  memset(packed, 0, (size_t)point->n * (size_t)point->m);
  const double begin_s = cpu_s();
  for (size_t i = 0; i < BLOCK; ++i) {
    int place = 0;
    move(xs[i], 1, type, packed, point->n * point->m, &place, open_mpi_world);
  }
  const double duration_s = (cpu_s() - begin_s) / BLOCK;
  end(&type);
  free(packed);
  return duration_s;
}

/* Neither 1 nor 0, which are cases of their own in some libraries. */
static const void* factor_of(const struct point* point) {
  static const double factor[2] = {1 + 0x1p-20, 0};
  static const float single_factor[2] = {1 + 0x1p-20f, 0};
  return is_single(point) ? (const void*)single_factor : (const void*)factor;
}

static double elements_of_product(const struct point* point) {
  const double m = point->m, n = point->n, k = point->k;
  return m * n + m * k + k * n;
}

/* Mean time of calls after one that brings of C into the caches what stays there. */
static double measured_product_s(const struct point* point, char* memory) {
  typedef void gemm(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
                    const void*, const int*, const void*, void*, const int*, size_t, size_t);
  gemm* const multiply = (gemm*)point->function;
  const size_t m = (size_t)point->m, n = (size_t)point->n, k = (size_t)point->k;
  static const double one[2] = {1, 0}; /* as factorisations add: another factor would be one more pass through C */
  static const float single_one[2] = {1, 0};
  const void *const factor = factor_of(point), *const beta =
                                                   is_single(point) ? (const void*)single_one : (const void*)one;
  char *const c = memory, *const a = c + point->element_bytes * m * n, *const b = a + point->element_bytes * m * k;
  double begin_s = 0;
  for (int i = 0; i <= PRODUCTS; ++i) {
    if (i == 1) begin_s = cpu_s();
    multiply("N", "N", &point->m, &point->n, &point->k, factor, a, &point->m, b, &point->k, beta, c, &point->m, 1, 1);
  }
  return (cpu_s() - begin_s) / PRODUCTS;
}

/* Mean time of the calls of a block: where in the memory it lies is drawn, so that nothing of it is in a cache near by.
 */
static double measured_s(const struct point* point, char* memory, size_t elements) {
  const void* const factor = factor_of(point);
  const int stride = point->strides ? point->k : 1;
  const size_t unit = point->shape == PACK ? (size_t)point->m : 1; /* of distances between rows */
  const size_t n = (size_t)point->n, k = (size_t)point->k, rows = k / unit, bytes = point->element_bytes;
  char *xs[BLOCK], *ys[BLOCK];
  const size_t column = (size_t)random_number() % (elements / k - n + 1) * k;
  const size_t first = rows > 2 * BLOCK ? (size_t)random_number() % (rows - BLOCK) : 0;
  for (size_t i = 0; i < BLOCK; ++i) {
    if (point->strides) {
      const size_t below = first + i < rows ? rows - first - i : 1;
      xs[i] = memory + bytes * (column + (first + i) % rows * unit);
      ys[i] =
          memory + bytes * (point->swaps ? column + (first + i + (size_t)random_number() % below) % rows * unit : 0);
    } else { /* a column of a panel, which another routine has just written, and one of a matrix */
      xs[i] = memory + bytes * n * i;
      ys[i] = memory + bytes * ((size_t)random_number() % (elements - n + 1));
    }
  }
  if (!point->strides)
    for (size_t i = 0; i < bytes * n * BLOCK; i += 32) ++*(volatile unsigned char*)(memory + i);
  if (point->shape == PACK) {
    for (size_t i = 1; i < BLOCK; i += 2) xs[i] = ys[i];
    return measured_packs_s(point, xs);
  }
  const int other = point->swaps ? stride : 1;
  const double begin_s = cpu_s();
  for (size_t i = 0; i < BLOCK; ++i) call(point, factor, xs[i], &stride, ys[i], &other);
  return (cpu_s() - begin_s) / BLOCK;
}

/* --- which ones --------------------------------------------------------------------------------------------------- */

static enum hplcast_strides strides_of(const char* variant) {
  int strides = HPLCAST_UNIT_STRIDE;
  while (strides < HPLCAST_ALIASED && strcmp(variant, variants[strides]) != 0) ++strides;
  return (enum hplcast_strides)strides;
}

/* The least m, at most a page (bytes of a block that is packed; calls with more are few), the largest n and k. */
static struct hplcast_sample extremes_of(const struct hplcast_observed* observed) {
  struct hplcast_sample found = {.m = HPLCAST_ALIAS_BYTES, .n = 1, .k = 1};
  for (int i = 0; i < HPLCAST_CLASSES; ++i) {
    const struct hplcast_class* const kept = observed->classes[i];
    for (uint64_t j = 0; j < hplcast_samples_of(kept); ++j) {
      if (kept->samples[j].m < found.m) found.m = kept->samples[j].m;
      if (kept->samples[j].n > found.n) found.n = kept->samples[j].n;
      if (kept->samples[j].k > found.k) found.k = kept->samples[j].k;
    }
  }
  return found;
}

/* False: none of ours. */
static int describe(const struct hplcast_observed* observed, struct point* point) {
  const char* const slash = strchr(observed->name, '/');
  const size_t length = slash == NULL ? strlen(observed->name) : (size_t)(slash - observed->name);
  if (slash != NULL && length + 1 == sizeof pack_name && strncmp(observed->name, pack_name, length) == 0) {
    open_mpi_byte = dlsym(RTLD_NEXT, "ompi_mpi_byte");
    open_mpi_world = dlsym(RTLD_NEXT, "ompi_mpi_comm_world");
    *(void**)&point->function = dlsym(RTLD_NEXT, pack_name);
    const int block = (int)extremes_of(observed).m;
    *point = (struct point){observed, point->function, PACK, 1, 1, strides_of(slash), block, 0, 0};
    return point->function != NULL && open_mpi_byte != NULL && open_mpi_world != NULL;
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (length != strlen(known[i].name) + 1 || strncmp(observed->name + 1, known[i].name, length - 1) != 0) continue;
    const char type = observed->name[0];
    char symbol[32];
    snprintf(symbol, sizeof symbol, "%.*s_", (int)length, observed->name);
    *(void**)&point->function = dlsym(RTLD_NEXT, symbol);
    const size_t bytes = type == 's' ? 4 : type == 'z' ? 16 : 8;
    const int swaps = strcmp(known[i].name, "swap") == 0;
    const enum hplcast_strides strides = strides_of(observed->name + length);
    *point = (struct point){observed, point->function, known[i].shape, bytes, swaps, strides, 1, 0, 0};
    return point->function != NULL;
  }
  return 0;
}

/* The next distance of elements that is of this kind. */
static int distance_of(const struct point* kind, int distance) {
  const int page = HPLCAST_ALIAS_BYTES / (int)kind->element_bytes, beyond = (distance + page - 1) / page * page;
  switch (kind->strides) {
    case HPLCAST_ALIASED:
      return beyond;
    case HPLCAST_HALF_ALIASED:
      return beyond + page / 2;
    case HPLCAST_STRIDED:
      distance -= distance % kind->m;
      return distance + (distance % (page / 2) == 0 ? kind->m : 0);
    case HPLCAST_UNIT_STRIDE:
      break;
  }
  return 1;
}

/* The sampled call with the largest m n; the first of these with the largest k. */
static struct hplcast_sample widest(const struct hplcast_observed* observed) {
  struct hplcast_sample found = {0};
  for (int i = 0; i < HPLCAST_CLASSES; ++i) {
    const struct hplcast_class* const kept = observed->classes[i];
    for (uint64_t j = 0; j < hplcast_samples_of(kept); ++j) {
      const struct hplcast_sample* const one = &kept->samples[j];
      const double more = (double)one->m * one->n - (double)found.m * found.n;
      if (more > 0 || (more == 0 && one->k > found.k)) found = *one;
    }
  }
  return found;
}

/* More rows and columns, until a call takes long: products of large k are no faster in a cache. */
static int add_products(const struct point* kind, size_t most_bytes, struct point* points, int count) {
  static const double factors[] = {1.5, 2, 3, 4, 6, 8};
  const double most_s = 0.05, most_flop = most_s * kind->observed->flop / kind->observed->time_s;
  const struct hplcast_sample base = widest(kind->observed);
  for (size_t i = 0; i < sizeof factors / sizeof *factors && count < MOST_POINTS; ++i) {
    const double m = base.m * factors[i], n = base.n * factors[i];
    if (base.k < 2 || 2 * m * n * base.k > most_flop) break;
    points[count] = *kind;
    points[count].m = (int)m;
    points[count].n = (int)n;
    points[count].k = (int)base.k;
    if (elements_of_product(&points[count]) * (double)kind->element_bytes > (double)most_bytes) break;
    ++count;
  }
  return count;
}

/* Strides up to eight times the largest that was seen; lengths up to as many times the longest. */
static int add_points(const struct point* kind, size_t most_bytes, struct point* points, int count) {
  static const double factors[] = {1, 1.5, 2, 3, 4, 6, 8};
  if (kind->shape == PRODUCT) return add_products(kind, most_bytes, points, count);
  const double longest = extremes_of(kind->observed).n, farthest = extremes_of(kind->observed).k;
  for (size_t i = 0; i < sizeof factors / sizeof *factors; ++i) {
    const double rows = distance_of(kind, (int)(farthest * factors[i]));
    for (double n = longest * factors[i]; n >= BLOCK; n /= 2) {
      if (n * (kind->strides ? rows : BLOCK) * (double)kind->element_bytes > (double)most_bytes) continue;
      if (!kind->strides && n <= longest) break;
      if (count == MOST_POINTS) return count;
      points[count] = *kind;
      points[count].n = (int)n;
      points[count++].k = (int)rows;
      if (!kind->strides) break;
    }
  }
  return count;
}

/* Whether the run had calls of the same routine with such strides that took as much time as is needed here, too. */
static int has_its_own(const struct hplcast_observed* routines, const struct point* kind, double least_s) {
  const size_t length = strcspn(kind->observed->name, "/");
  for (const struct hplcast_observed* one = routines; one != NULL; one = one->next)
    if (one->time_s > least_s && strncmp(one->name, kind->observed->name, length) == 0 &&
        strcmp(one->name + length, variants[kind->strides]) == 0)
      return 1;
  return 0;
}

/* As asked for, but at most a quarter of what is free, shared with the other ranks of this host. */
size_t hplcast_memory_for_reach(void) {
  const char *const asked = getenv(HPLCAST_VARIABLE_OBSERVE_REACH), *const ranks = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (asked == NULL) return 0;
  const double free_bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  const double most = free_bytes / 4 / (ranks != NULL && atoi(ranks) > 0 ? atoi(ranks) : 1), bytes = atof(asked);
  return (size_t)(bytes < most ? bytes : most);
}

void hplcast_write_reach(FILE* file, const struct hplcast_observed* routines, double executed_s, size_t most_bytes) {
  const double least_share = 0.005; /* of the time: what matters little stays as it is */
  static struct point points[MOST_POINTS];
  int count = 0;
  size_t bytes = most_bytes < 67108864 ? most_bytes : 67108864; /* more than caches near by hold */
  for (const struct hplcast_observed* one = routines; one != NULL; one = one->next) {
    struct point kind;
    if (one->time_s <= least_share * executed_s || !describe(one, &kind)) continue;
    count = add_points(&kind, most_bytes, points, count);
    if (kind.strides == HPLCAST_UNIT_STRIDE) continue;
    for (int strides = HPLCAST_STRIDED; strides <= HPLCAST_ALIASED; ++strides) {
      kind.strides = (enum hplcast_strides)strides;
      if (!has_its_own(routines, &kind, least_share * executed_s)) count = add_points(&kind, most_bytes, points, count);
    }
  }
  for (int i = 0; i < count; ++i) {
    const size_t columns = points[i].strides ? (size_t)points[i].k : BLOCK;
    const size_t of_point =
        points[i].element_bytes *
        (points[i].shape == PRODUCT ? (size_t)elements_of_product(&points[i]) : (size_t)points[i].n * columns);
    if (of_point > bytes) bytes = of_point;
  }
  if (count == 0) return;
  char* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  for (size_t i = 0; i + 8 <= bytes; i += 8) { /* neither zeros nor denormal numbers, whatever the type */
    const float pair[2] = {1.0f + (float)(random_number() >> 48), 1.0f + (float)(random_number() >> 48)};
    memcpy(memory + i, pair, sizeof pair);
  }
  const double most_s = 3, begin_s = cpu_s();
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (int i = count - 1; i > 0; --i) { /* in random order */
      const int other = (int)(random_number() % (uint64_t)(i + 1));
      const struct point kept = points[i];
      points[i] = points[other];
      points[other] = kept;
    }
    for (int i = 0; i < count && cpu_s() - begin_s < most_s; ++i) {
      const struct point* const point = &points[i];
      const int is_product = point->shape == PRODUCT;
      const double duration_s =
          is_product ? measured_product_s(point, memory) : measured_s(point, memory, bytes / point->element_bytes);
      const char* const name = point->observed->name;
      fprintf(file, "%.*s%s,%d,%d,%d,%.9g,%d\n", (int)strcspn(name, "/"), name, variants[point->strides], point->m,
              point->n, is_product || point->strides ? point->k : 1, duration_s, is_product ? PRODUCTS : BLOCK);
    }
  }
  munmap(memory, bytes);
}
