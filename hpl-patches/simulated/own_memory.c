/* Uncommitted memory in place of malloc's: of panels, and HPL_packL to send them; of the workspace of other functions;
 * of the matrix. */
#include "own_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "wrap.h"

/* --- memory without content --------------------------------------------------------------------------------------- */

enum { page = 4096, most_regions = 128 };

/* Addresses without pages until they are written, which ranks use at the same time: what is in them means nothing. */
typedef struct {
  char* begin;
  size_t bytes;
} region;

static region regions[most_regions];
static int region_count;
static const char* regions_begin = (const char*)UINTPTR_MAX; /* they lie between these */
static const char* regions_end;

static size_t whole_pages(size_t bytes) {
  return (bytes / page + 1) * page;
}

static void* required(void* pointer) {
  if (pointer != NULL) return pointer;
  (void)fprintf(stderr, "xhpl-smpi: error: not enough memory for a panel\n");
  abort();
}

static void* reserve(size_t bytes) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static char* new_region(size_t bytes) {
  if (region_count == most_regions) abort();
  char* const begin = required(reserve(bytes));
  regions[region_count++] = (region){begin, bytes};
  if (begin < regions_begin) regions_begin = begin;
  if (begin + bytes > regions_end) regions_end = begin + bytes;
  return begin;
}

int hplcast_without_content(const void* address) {
  const char* first = address;
  if (first < regions_begin || first >= regions_end) return 0; /* nearly never: no look-up */
  for (int i = region_count - 1; i >= 0; --i)
    if (first >= regions[i].begin && first < regions[i].begin + regions[i].bytes) return 1;
  return 0;
}

/* --- panels ------------------------------------------------------------------------------------------------------- */

/* The pivots of a panel, the same on all ranks: one list for all. Each rank that factors the panel writes the same
 * numbers into it, and each that receives the panel finds them there. */
typedef struct pivot_list {
  int first_row;  /* of the panel */
  int ranks_left; /* that have not ended it yet: all ranks begin every panel */
  struct pivot_list* next;
  double rows[];
} pivot_list;

/* Lists of indices (IWORK) of panels of one width, in one process grid. HPL writes little of one (row_swap_indices.c):
 * they begin only `stride` integers apart, and what is written of some lies where nothing is of others. */
typedef struct index_lists {
  int columns, process_rows, capacity, made, in_use;
  size_t stride, bytes;
  int* memory;
  int* idle; /* its first integer: number of the next one; NULL: none */
  struct index_lists* next;
} index_lists;

/* A panel in memory, alike on every rank:
 *     head:   L2 (rows below the diagonal block times jb), L1 (jb*jb)      addresses only
 *     middle: DPIV (jb), DINFO (1)                                         pivots: elsewhere, see pivot_list
 *     tail:   U                                                            as the head
 * HPL's own layout is the same but for the process column that owns the panel: there L2 lies in the matrix. Here it
 * lies in front of WORK, so that a panel is sent as one piece of memory. The panels of all ranks lie at the same
 * addresses, those that one rank has at a time beside each other.
 * Where SMPI itself carries the messages it would touch all of that: there each panel has memory of its own, in which
 * head and tail are one page mapped repeatedly, and the middle, with the pivots, is private. */
typedef struct {
  size_t head, middle, tail; /* bytes */
} block_sizes;

typedef struct block {
  char* work;  /* what HPL got; NULL: it has freed it */
  char* first; /* of the panel */
  char* head_end;
  int slot, generation; /* of places; negative: memory of its own */
  char* base;           /* of memory of its own */
  block_sizes sizes;
  int shared;                /* not plain memory */
  size_t asked;              /* bytes that HPL asked for */
  int mapped;                /* by the malloc of glibc, see allocate() */
  double new_head, new_tail; /* bytes in which no message has been yet */
  pivot_list* pivots;
  const char *pivots_from, *pivots_to; /* where HPL would have them */
  index_lists* lists;
  int* list;
  struct block* next;
} block;

/* Of the calling rank: its panels, and its heap as far as panels are concerned, as malloc() of glibc has it: pieces
 * from `mapped_from` bytes on are mapped, and new each time; when one is freed, pieces of its size come from the heap,
 * and are new where the heap has not been. So a rank has new memory for one or two panels, and for all above 32 MiB. */
typedef struct {
  size_t mapped_from, used, most_used;
  block* panels;
  pivot_list* ended; /* of the last panel that it ended: HPL begins one of the first panels twice */
} heap;

static heap* heap_of_caller(void) {
  static void** heaps_of_ranks;
  return of_calling_rank(&heaps_of_ranks, sizeof(heap));
}
static const size_t first_mapped_from = 128 << 10, last_mapped_from = 32 << 20; /* DEFAULT_MMAP_THRESHOLD_... */

/* The places of the panels of a rank, in the last one of the regions that were made for panels. */
static struct {
  char* begin;
  size_t head, tail; /* bytes of each */
  int slots;
  int generation;
} places;

/* The first place that the caller has free. Panels become smaller in the course of a run: one region is enough. */
static void place(block* b, const heap* h, const HPL_T_panel* panel, block_sizes needed) {
  const size_t tail = needed.middle + needed.tail;
  if (needed.head > places.head || tail > places.tail || panel->algo->depth >= places.slots) {
    /* Other ranks have a few rows more. */
    if (panel->algo->depth >= places.slots) places.slots = panel->algo->depth + 1;
    if (needed.head > places.head) places.head = whole_pages(needed.head + needed.head / 2);
    if (tail > places.tail) places.tail = whole_pages(tail + tail / 2);
    places.begin = new_region((size_t)places.slots * (places.head + places.tail));
    ++places.generation;
  }
  int slot = 0;
  for (const block* other = h->panels; other != NULL;) {
    const int taken = other->slot == slot && other->generation == places.generation;
    slot += taken;
    other = taken ? h->panels : other->next;
  }
  b->slot = slot;
  b->generation = places.generation;
  b->head_end = places.begin + (size_t)slot * (places.head + places.tail) + places.head;
}

static block* idle_blocks; /* they do for panels to come, of any rank */
/* A block with memory of its own. */
static block* new_block(int shared, block_sizes needed) {
  block* b = required(calloc(1, sizeof *b));
  /* Whole pages: smpi_shared_malloc_partial of SimGrid 3.32 shares the page in which a shared range both begins and
   * ends with the allocation, and with it what comes before the range. */
  b->sizes = (block_sizes){whole_pages(needed.head), whole_pages(needed.middle), whole_pages(needed.tail)};
  const size_t middle_end = b->sizes.head + b->sizes.middle;
  const size_t end = middle_end + b->sizes.tail;
  const size_t ranges[4] = {0, b->sizes.head, middle_end, end};
  b->slot = -1;
  b->shared = shared;
  b->base = required(shared ? SMPI_PARTIAL_SHARED_MALLOC(end, ranges, 2) : aligned_alloc(page, end));
  b->head_end = b->base + b->sizes.head;
  return b;
}

static void delete_block(block* b) {
  if (b->slot < 0) (b->shared ? smpi_shared_free : free)(b->base);
  free(b);
}

static block* take_block(int shared, block_sizes needed) {
  const int placed = hplcast_direct_messages(); /* it has no memory of its own */
  for (block** link = &idle_blocks; (shared || placed) && *link != NULL; link = &(*link)->next) {
    block* b = *link;
    if (b->sizes.head < needed.head || b->sizes.middle < needed.middle || b->sizes.tail < needed.tail) continue;
    *link = b->next;
    return b;
  }
  if (!placed) return new_block(shared, needed);
  block* b = required(calloc(1, sizeof *b));
  b->sizes = (block_sizes){SIZE_MAX, SIZE_MAX, SIZE_MAX};
  return b;
}

/* The one that the memory is for: nothing in HPL_pdpanel_init lets another rank run. */
static const HPL_T_panel* panel_to_fill;

static int ranks_of(const HPL_T_panel* panel) {
  return panel->grid->nprow * panel->grid->npcol;
}

static pivot_list* pivot_lists;
static int ranks_share; /* this copy of the program: no, where SMPI privatises; then messages carry the pivots */

static pivot_list* begin_pivots(const HPL_T_panel* panel) {
  static int first_rank = -1;
  if (first_rank < 0) first_rank = hplcast_world_rank();
  ranks_share |= hplcast_world_rank() != first_rank;
  pivot_list* found = pivot_lists;
  while (found != NULL && found->first_row != panel->ia) found = found->next;
  if (found != NULL) return found;
  found = required(malloc(sizeof *found + (size_t)panel->jb * sizeof(double)));
  found->first_row = panel->ia;
  found->ranks_left = ranks_of(panel);
  found->next = pivot_lists;
  pivot_lists = found;
  return found;
}

static void end_pivots(pivot_list* ended) {
  if (ended == NULL || (--ended->ranks_left > 0 && ranks_share)) return;
  pivot_list** link = &pivot_lists;
  while (*link != ended) link = &(*link)->next;
  *link = ended->next;
  free(ended);
}

WRAP(void, HPL_pdpanel_init, HPL_T_grid* grid, HPL_T_palg* algorithm, const int m, const int n, const int jb,
     HPL_T_pmat* matrix, const int ia, const int ja, const int tag, HPL_T_panel* panel) {
  int row = ia;
  int rows = m;
  (void)n, (void)ja; /* the right-hand side is one column more */
  hplcast_place_panel(matrix, &row, &rows);
  panel_to_fill = panel;
  __real_HPL_pdpanel_init(grid, algorithm, rows, rows + 1, jb, matrix, row, row, tag, panel);
  heap* const h = heap_of_caller();
  block* const b = h->panels;
  if (b->slot < 0 || jb <= 0) return;
  b->pivots = begin_pivots(panel);
  if (h->ended == b->pivots) h->ended = NULL;
  panel->DPIV = b->pivots->rows;
}

void hplcast_panel_memory_begins(int whole) {
  heap* h = heap_of_caller();
  h->used = 0;
  if (!whole) {
    h->mapped_from = last_mapped_from;
    h->most_used = SIZE_MAX;
  } else if (h->mapped_from == 0) {
    h->mapped_from = first_mapped_from;
  }
}

void hplcast_panel_memory_ends(void) {
  heap* h = heap_of_caller();
  end_pivots(h->ended);
  h->ended = NULL;
}

/* Returns the share of the bytes that are new. */
static double allocate(heap* h, block* b, size_t bytes) {
  b->asked = bytes;
  b->mapped = bytes >= h->mapped_from;
  if (b->mapped) return 1;
  h->used += bytes;
  if (h->used <= h->most_used) return 0;
  const size_t grown = h->used - h->most_used;
  h->most_used = h->used;
  return grown >= bytes ? 1 : (double)grown / (double)bytes;
}

static void release(heap* h, const block* b) {
  const size_t pages = whole_pages(b->asked);
  if (!b->mapped)
    h->used -= b->asked;
  else if (pages > h->mapped_from && pages <= last_mapped_from)
    h->mapped_from = pages;
}

/* The smallest stride in which no integer is written by two lists. With `rows` process rows HPL writes IFLAG and IPL,
 * IPA, then LLEN and its copy or IPLEN, IPMAP and IPMAPM1, and in the equilibration IWORK; in one row all of IPIV. */
static size_t stride_of_lists(size_t columns, size_t rows) {
  const size_t parts[4][2] = {{0, 2},
                              {2 + 4 * columns, 1},
                              {2 + 8 * columns, 3 * rows + 2},
                              {4 + 9 * columns + 3 * rows, rows + 1}}; /* begin, length */
  size_t stride = rows == 1 ? columns : 4 * rows + 6;
  for (int i = 0; rows > 1 && i < 16; ++i) {
    const size_t apart = (parts[i / 4][0] + stride * parts[3][0] - parts[i % 4][0]) % stride;
    if (i / 4 == i % 4 || apart >= parts[i % 4][1]) continue;
    ++stride;
    i = -1;
  }
  return stride;
}

static index_lists* all_lists;

static index_lists* lists_for(const HPL_T_panel* panel, size_t bytes) {
  const int columns = panel->jb > 0 ? panel->jb : 1;
  index_lists* l = all_lists;
  const int capacity = ranks_of(panel) * (panel->algo->depth + 1);
  while (l != NULL && (l->columns != columns || l->process_rows != panel->grid->nprow || l->capacity < capacity))
    l = l->next;
  if (l != NULL) return l;
  l = required(calloc(1, sizeof *l));
  l->columns = columns;
  l->process_rows = panel->grid->nprow;
  l->capacity = capacity;
  l->stride = stride_of_lists((size_t)columns, (size_t)panel->grid->nprow);
  l->bytes = whole_pages((size_t)capacity * l->stride * sizeof(int) + bytes);
  l->memory = required(reserve(l->bytes));
  (void)madvise(l->memory, l->bytes, MADV_NOHUGEPAGE);
  l->next = all_lists;
  all_lists = l;
  return l;
}

static int* begin_list(block* b, size_t bytes) {
  index_lists* const l = lists_for(panel_to_fill, bytes);
  int* taken = l->idle;
  if (taken == NULL) {
    if (l->made == l->capacity) abort();
    taken = l->memory + (size_t)l->made++ * l->stride;
  } else {
    l->idle = *taken < 0 ? NULL : l->memory + (size_t)*taken * l->stride;
  }
  ++l->in_use;
  b->lists = l;
  b->list = taken;
  return taken;
}

static void end_list(block* b) {
  index_lists* const l = b->lists;
  *b->list = l->idle == NULL ? -1 : (int)((size_t)(l->idle - l->memory) / l->stride);
  l->idle = b->list;
  b->list = NULL;
  if (--l->in_use > 0) return;
  index_lists** link = &all_lists;
  while (*link != l) link = &(*link)->next;
  *link = l->next;
  (void)munmap(l->memory, l->bytes);
  free(l);
}

/* `bytes` is what HPL asks for: from its WORK to the end of U, with room for aligning it. */
void* hplcast_panel_malloc(size_t bytes) {
  const HPL_T_panel* panel = panel_to_fill;
  heap* h = heap_of_caller();
  if (panel->WORK != NULL) return begin_list(h->panels, bytes); /* the second allocation of a panel */
  const HPL_T_grid* grid = panel->grid;
  const size_t jb = (size_t)panel->jb;
  const size_t align = (size_t)panel->algo->align * sizeof(double);
  const int rows = panel->mp - (grid->myrow == panel->prow ? panel->jb : 0);
  const size_t l1 = jb * jb * sizeof(double);
  const size_t l2 = grid->npcol == 1 || rows <= 0 ? 0 : (size_t)rows * jb * sizeof(double);
  const size_t pivots = (jb + 1) * sizeof(double);
  const size_t work_to_pivots = grid->mycol == panel->pcol ? l1 : l2 + l1;
  /* The broadcasts blong and blonM send a panel in npcol pieces. SMPI 3.32 copies nothing of a message that begins
   * inside a private range, so panels so short that a piece could begin among the pivots are plain memory. */
  const int shared = l2 + l1 + pivots >= (size_t)grid->npcol * (pivots + align);
  const block_sizes needed = {l2 + l1, pivots + align, bytes};

  block* b = take_block(shared, needed);
  if (hplcast_direct_messages()) place(b, h, panel, needed);
  b->next = h->panels;
  h->panels = b;
  char* work = b->head_end - work_to_pivots;
  work +=
      (align - (uintptr_t)work % align) % align; /* HPL would align it, and move the pivots where nobody expects them */
  b->work = work;
  b->first = work + work_to_pivots - (l2 + l1);
  b->pivots_from = work + work_to_pivots;
  b->pivots_to = b->pivots_from + jb * sizeof(double);
  const double new_share = allocate(h, b, bytes) * shared;
  const size_t work_to_u = work_to_pivots + pivots;
  b->new_head = new_share * (double)(l2 + l1 + pivots);
  b->new_tail = new_share * (double)(bytes - work_to_u);
  return work;
}

void hplcast_panel_free(void* memory) {
  heap* h = heap_of_caller();
  block** link = &h->panels;
  while ((*link)->work != memory && (void*)(*link)->list != memory) link = &(*link)->next;
  block* b = *link;
  if (b->work == memory) {
    release(h, b);
    if (b->pivots != NULL) {
      end_pivots(h->ended);
      h->ended = b->pivots;
    }
    b->pivots = NULL;
    b->work = NULL;
  } else {
    end_list(b);
  }
  if (b->work != NULL || b->list != NULL) return;
  *link = b->next;
  if (b->slot >= 0 || b->shared) {
    b->next = idle_blocks;
    idle_blocks = b;
  } else {
    delete_block(b);
  }
}

/* --- workspaces --------------------------------------------------------------------------------------------------- */

/* The last one is the largest; ranks may still be using those before it. */
void* hplcast_workspace_malloc(size_t bytes) {
  static region largest;
  if (largest.begin == NULL || bytes > largest.bytes) {
    largest.bytes = bytes + bytes / 2; /* half as much again, so that a few are enough */
    largest.begin = new_region(largest.bytes);
  }
  return largest.begin;
}

void hplcast_workspace_free(void* memory) {
  (void)memory;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* The panel of the caller that the address lies in. */
static block* panel_at(const char* address) {
  block* b = heap_of_caller()->panels;
  while (b != NULL && (address < b->first || address >= b->work + b->asked)) b = b->next;
  return b;
}

void hplcast_find_content(const void* data, size_t bytes, hplcast_message* message) {
  message->content = (void*)data;
  message->content_first = 0;
  const char* const first = data;
  const int has_content = !hplcast_without_content(data);
  const block* const b = has_content || ranks_share ? NULL : panel_at(first);
  message->content_bytes = has_content ? bytes : 0;
  if (b == NULL || b->pivots == NULL) return;
  const char* const from = first > b->pivots_from ? first : b->pivots_from;
  const char* const to = first + bytes < b->pivots_to ? first + bytes : b->pivots_to;
  if (from >= to) return;
  message->content = (char*)b->pivots->rows + (from - b->pivots_from);
  message->content_first = (size_t)(from - first);
  message->content_bytes = (size_t)(to - from);
}

double hplcast_take_new_bytes(const void* address, double bytes) {
  block* const b = hplcast_without_content(address) ? panel_at(address) : NULL;
  if (b == NULL) return 0;
  double* const left = (const char*)address < b->head_end ? &b->new_head : &b->new_tail;
  const double taken = bytes < *left ? bytes : *left;
  *left -= taken;
  return taken;
}

/* Part of a panel as a message: `length` doubles from the double `first` on. HPL describes them by a data type, which
 * SMPI would pack and unpack; here they are contiguous. */
WRAP(int, HPL_packL, HPL_T_panel* panel, const int first, const int length, const int buffer) {
  panel->buffers[buffer] = (void*)(panel->DINFO + 1 - panel->len + first);
  panel->counts[buffer] = length;
  panel->dtypes[buffer] = PANEL_TYPE;
  return MPI_SUCCESS;
}

/* --- the matrix --------------------------------------------------------------------------------------------------- */

/* Nothing computes with the matrix and no message is sent from it (panels have a workspace of their own), except a few
 * vectors in the final triangular solve, of which only the size matters. So it is uncommitted memory, of which hardly a
 * page is ever touched, the same for all ranks of this copy of the program. One mapping per rank would need more
 * addresses than a process has from N = 4 million on. */
void* hplcast_matrix_malloc(size_t bytes) {
  static void* memory;
  static size_t reserved;
  if (bytes > reserved) {
    void* larger = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (larger == MAP_FAILED) return NULL; /* HPL says so and skips the run */
    memory = larger;                       /* the smaller one stays: a rank may be using it */
    reserved = bytes;
  }
  return memory;
}

/* At the end of a run. The reserved memory is for the next one, too; its panels have other sizes: those that no rank
 * uses at the moment go. */
void hplcast_matrix_free(void* matrix) {
  (void)matrix;
  while (idle_blocks != NULL) {
    block* b = idle_blocks;
    idle_blocks = b->next;
    delete_block(b);
  }
}

/* Set-up is not timed and the matrix is never looked at. */
WRAP(void, HPL_pdmatgen, const HPL_T_grid* grid, const int m, const int n, const int nb, double* a, const int lda,
     const int seed) {
  (void)grid, (void)m, (void)n, (void)nb, (void)a, (void)lda, (void)seed;
}
