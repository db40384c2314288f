/* Uncommitted memory in place of malloc's: of panels, and HPL_packL to send them; of the workspace of other functions;
 * of the matrix. */
#include "own_memory.h"

#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "wrap.h"

/* --- panels ------------------------------------------------------------------------------------------------------- */

/* A panel in memory, alike on every rank:
 *     head:   L2 (rows below the diagonal block times jb), L1 (jb*jb)      addresses only
 *     middle: DPIV (jb), DINFO (1): pivots, which are read                 private to the rank
 *     tail:   U                                                            as the head
 * HPL's own layout is the same but for the process column that owns the panel: there L2 lies in the matrix. Here it
 * lies in front of WORK, so that a panel is sent as one piece of memory, of which only the pivots are copied. Where
 * SMPI itself carries the messages, it would touch all of it: there head and tail are one page mapped repeatedly. */
typedef struct {
  size_t head, middle, tail; /* bytes */
} block_sizes;

typedef struct block {
  char* work; /* what HPL got; NULL: it never did */
  char* base;
  block_sizes sizes;
  int shared;      /* uncommitted, or mapped repeatedly, except the middle; else plain memory */
  int reserved;    /* by reserving addresses; else by mapping one page repeatedly */
  size_t asked;    /* bytes that HPL asked for */
  int mapped;      /* by the malloc of glibc, see allocate() */
  double new_head; /* bytes in which no message has been yet */
  double new_tail;
  const char* pivots; /* somewhere in the middle */
  size_t pivot_bytes;
  struct block* next; /* in idle_blocks */
} block;

enum { page = 4096 };

/* Of all ranks that share this copy of the program; ranks run one at a time. Panels become smaller in the course of a
 * run, so a block that a panel no longer needs does for the panels to come, of any rank: nearly all mapping is done at
 * the start. */
static void* blocks; /* those that HPL has, and idle ones: they lie apart, too */
static block* idle_blocks;

static size_t total(block_sizes sizes) {
  return sizes.head + sizes.middle + sizes.tail;
}

/* Finds the block that the address `work` of the key lies in. */
static int by_address(const void* key, const void* node) {
  const char* address = ((const block*)key)->work;
  const block* b = node;
  return (address >= b->base + total(b->sizes)) - (address < b->base);
}

/* Every message asks, and nearly always for a block that it asked for before. Valid until a block ends. */
enum { remembered_places = 16384 };
static struct {
  block* found;
  unsigned deletions;
} remembered[remembered_places];
static unsigned deletions = 1;

static block* block_at(const void* address) {
  const size_t place = ((uintptr_t)address / (16 * page)) % remembered_places;
  block* before = remembered[place].found;
  block key;
  key.work = (char*)address;
  if (remembered[place].deletions == deletions && by_address(&key, before) == 0) return before;
  void* found = tfind(&key, &blocks, by_address);
  if (found == NULL) return NULL;
  remembered[place].found = *(block**)found;
  remembered[place].deletions = deletions;
  return *(block**)found;
}

static size_t whole_pages(size_t bytes) {
  return (bytes / page + 1) * page;
}

static void* required(void* pointer) {
  if (pointer != NULL) return pointer;
  (void)fprintf(stderr, "xhpl-smpi: error: not enough memory for a panel\n");
  abort();
}

/* What reserve() has given lies between these. */
static const char* reserved_begin = (const char*)UINTPTR_MAX;
static const char* reserved_end;

/* Uncommitted memory: addresses without pages until they are written. */
static void* reserve(size_t bytes) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (memory < reserved_begin) reserved_begin = memory;
  if (memory + bytes > reserved_end) reserved_end = memory + bytes;
  return memory;
}

static block* new_block(int shared, block_sizes needed) {
  block* b = required(malloc(sizeof *b));
  /* Whole pages: smpi_shared_malloc_partial of SimGrid 3.32 shares the page in which a shared range both begins and
   * ends with the allocation, and with it what comes before the range. */
  b->sizes = (block_sizes){whole_pages(needed.head), whole_pages(needed.middle), whole_pages(needed.tail)};
  const size_t middle_end = b->sizes.head + b->sizes.middle;
  const size_t end = middle_end + b->sizes.tail;
  const size_t ranges[4] = {0, b->sizes.head, middle_end, end};
  b->work = NULL;
  b->shared = shared;
  b->reserved = shared && hplcast_direct_messages();
  if (b->reserved)
    b->base = required(reserve(end));
  else
    b->base = required(shared ? SMPI_PARTIAL_SHARED_MALLOC(end, ranges, 2) : aligned_alloc(page, end));
  return b;
}

static void delete_block(block* b) {
  ++deletions;
  (void)tdelete(b, &blocks, by_address);
  if (b->reserved)
    (void)munmap(b->base, total(b->sizes));
  else if (b->shared)
    SMPI_SHARED_FREE(b->base);
  else
    free(b->base);
  free(b);
}

static block* take_block(int shared, block_sizes needed) {
  for (block** link = &idle_blocks; shared && *link != NULL; link = &(*link)->next) {
    block* b = *link;
    if (b->sizes.head < needed.head || b->sizes.middle < needed.middle || b->sizes.tail < needed.tail) continue;
    *link = b->next;
    return b;
  }
  return new_block(shared, needed);
}

/* The one that the memory is for: nothing in HPL_pdpanel_init lets another rank run. */
static const HPL_T_panel* panel_to_fill;

WRAP(void, HPL_pdpanel_init, HPL_T_grid* grid, HPL_T_palg* algorithm, const int m, const int n, const int jb,
     HPL_T_pmat* matrix, const int ia, const int ja, const int tag, HPL_T_panel* panel) {
  int row = ia;
  int rows = m;
  (void)n, (void)ja; /* the right-hand side is one column more */
  hplcast_place_panel(matrix, &row, &rows);
  panel_to_fill = panel;
  __real_HPL_pdpanel_init(grid, algorithm, rows, rows + 1, jb, matrix, row, row, tag, panel);
}

/* The heap of the calling rank as far as panels are concerned, as malloc() of glibc has it: pieces of `mapped_from`
 * bytes or more are mapped, and new each time; when one is freed, pieces of its size come from the heap from then on,
 * and are new where the heap has not been. So a rank has new memory for one or two panels, and for all above 32 MiB. */
typedef struct {
  size_t mapped_from, used, most_used;
} heap;

static heap* heap_of_caller(void) {
  static void** heaps_of_ranks;
  return of_calling_rank(&heaps_of_ranks, sizeof(heap));
}

static const size_t first_mapped_from = 128 << 10, last_mapped_from = 32 << 20; /* DEFAULT_MMAP_THRESHOLD_... */

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

/* Returns the share of the bytes that are new. */
static double allocate(block* b, size_t bytes) {
  heap* h = heap_of_caller();
  b->asked = bytes;
  b->mapped = bytes >= h->mapped_from;
  if (b->mapped) return 1;
  h->used += bytes;
  if (h->used <= h->most_used) return 0;
  const size_t grown = h->used - h->most_used;
  h->most_used = h->used;
  return grown >= bytes ? 1 : (double)grown / (double)bytes;
}

static void release(const block* b) {
  heap* h = heap_of_caller();
  const size_t pages = whole_pages(b->asked);
  if (!b->mapped)
    h->used -= b->asked;
  else if (pages > h->mapped_from && pages <= last_mapped_from)
    h->mapped_from = pages;
}

/* Lists of indices, of which little is written (row_swap_indices.c): pages of their own, uncommitted until then. In the
 * heap, which is in huge pages, all of them would be memory: 90 kB of each rank with NB 1024. */
typedef struct list {
  size_t bytes; /* of its pages */
  struct list* next_idle;
} list;

static struct {
  size_t bytes; /* of each that is made now */
  char *next, *end;
  list* idle;
} lists;

static void* list_malloc(size_t bytes) {
  enum { at_once = 256 };
  const size_t needed = whole_pages(sizeof(list) + bytes);
  if (needed > lists.bytes) { /* smaller ones are not used again */
    lists.bytes = needed;
    lists.next = lists.end = NULL;
    lists.idle = NULL;
  }
  list* taken = lists.idle;
  if (taken != NULL) {
    lists.idle = taken->next_idle;
    return taken + 1;
  }
  if (lists.next == lists.end) {
    lists.next = required(reserve(at_once * lists.bytes));
    lists.end = lists.next + at_once * lists.bytes;
    (void)madvise(lists.next, at_once * lists.bytes, MADV_NOHUGEPAGE);
  }
  taken = (list*)lists.next;
  taken->bytes = lists.bytes;
  lists.next += lists.bytes;
  return taken + 1;
}

static void list_free(void* memory) {
  list* const freed = (list*)memory - 1;
  if (freed->bytes < lists.bytes) return;
  freed->next_idle = lists.idle;
  lists.idle = freed;
}

/* `bytes` is what HPL asks for: from its WORK to the end of U, with room for aligning it. */
void* hplcast_panel_malloc(size_t bytes) {
  const HPL_T_panel* panel = panel_to_fill;
  if (panel->WORK != NULL) return list_malloc(bytes); /* the second allocation of a panel */
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

  block* b = take_block(shared, (block_sizes){l2 + l1, pivots + align, bytes});
  char* work = b->base + b->sizes.head - work_to_pivots;
  work +=
      (align - (uintptr_t)work % align) % align; /* HPL would align it, and move the pivots where nobody expects them */
  const int is_new = b->work == NULL;
  b->work = work;
  b->pivots = work + work_to_pivots;
  b->pivot_bytes = pivots;
  const double new_share = allocate(b, bytes);
  const size_t work_to_u = work_to_pivots + pivots;
  b->new_head = new_share * (double)(l2 + l1 + pivots);
  b->new_tail = new_share * (double)(bytes - work_to_u);
  if (is_new) (void)required(tsearch(b, &blocks, by_address));
  return work;
}

void hplcast_panel_free(void* work) {
  block* b = block_at(work);
  if (b == NULL) {
    list_free(work);
    return;
  }
  release(b);
  if (b->shared) {
    b->next = idle_blocks;
    idle_blocks = b;
  } else {
    delete_block(b);
  }
}

/* --- workspaces --------------------------------------------------------------------------------------------------- */

/* The last one is the largest; ranks may still be using those before it. */
enum { most_workspaces = 64 };
static struct {
  char* begin;
  size_t bytes;
} workspaces[most_workspaces];
static int workspace_count;

void* hplcast_workspace_malloc(size_t bytes) {
  if (workspace_count == 0 || bytes > workspaces[workspace_count - 1].bytes) {
    /* Half as much again, so that a few are enough. */
    const size_t larger = bytes + bytes / 2;
    if (workspace_count == most_workspaces) abort();
    workspaces[workspace_count].begin = required(reserve(larger));
    workspaces[workspace_count].bytes = larger;
    ++workspace_count;
  }
  return workspaces[workspace_count - 1].begin;
}

void hplcast_workspace_free(void* memory) {
  (void)memory;
}

static int is_workspace(const char* address) {
  for (int i = workspace_count - 1; i >= 0; --i) {
    if (address >= workspaces[i].begin && address < workspaces[i].begin + workspaces[i].bytes) return 1;
  }
  return 0;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* Nearly never: no look-up. */
static int may_be_reserved(const char* address) {
  return address >= reserved_begin && address < reserved_end;
}

int hplcast_without_content(const void* address) {
  const char* first = address;
  if (!may_be_reserved(first)) return 0;
  if (is_workspace(first)) return 1;
  const block* b = block_at(address);
  if (b == NULL || !b->reserved) return 0;
  const char* pivots = b->base + b->sizes.head;
  return first < pivots || first >= pivots + b->sizes.middle;
}

void hplcast_find_content(const void* data, size_t bytes, hplcast_message* message) {
  const char* first = data;
  const char* end = first + bytes;
  const block* b = NULL;
  message->content_bytes = 0;
  if (may_be_reserved(first)) {
    if (is_workspace(first)) return;
    b = block_at(data);
  }
  if (b != NULL && b->reserved) {
    if (first < b->pivots) first = b->pivots;
    if (end > b->pivots + b->pivot_bytes) end = b->pivots + b->pivot_bytes;
  }
  message->content = (void*)first;
  message->content_first = (size_t)(first - (const char*)data);
  message->content_bytes = end > first ? (size_t)(end - first) : 0;
}

double hplcast_take_new_bytes(const void* address, double bytes) {
  const char* first = address;
  block* b = may_be_reserved(first) && !is_workspace(first) ? block_at(address) : NULL;
  if (b == NULL || !b->reserved) return 0;
  double* const left = first < b->base + b->sizes.head ? &b->new_head : &b->new_tail;
  const double taken = bytes < *left ? bytes : *left;
  *left -= taken;
  return taken;
}

/* Part of a panel as a message: `length` doubles from the double `first` on. HPL describes them by a data type, which
 * SMPI would pack and unpack; here they are contiguous. */
WRAP(int, HPL_packL, HPL_T_panel* panel, const int first, const int length, const int buffer) {
  panel->buffers[buffer] = (void*)(panel->DINFO + 1 - panel->len + first);
  panel->counts[buffer] = length;
  panel->dtypes[buffer] = MPI_DOUBLE;
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
