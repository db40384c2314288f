#include "events.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

static event_list list;

int events_take_memory(uint64_t most, int first_panel, int last_panel) {
  list.most = most;
  list.first_panel = first_panel;
  list.last_panel = last_panel;
  list.all = malloc(most * sizeof(event));
  if (list.all == NULL) return 0;
  memset(list.all, 0, most * sizeof(event));
  events_clear();
  return 1;
}

void events_clear(void) {
  list.size = list.lost = 0;
  list.stride = 1;
  list.thinning_s = 0;
}

const event_list* events(void) {
  return &list;
}

static int stays(int panel) {
  return panel < 0 || panel % list.stride == 0 || (panel >= list.first_panel && panel <= list.last_panel);
}

static void thin(void) {
  enum { most_stride = 1 << 20 };
  const double begin_s = clock_now_s();
  while (list.size == list.most && list.stride < most_stride) {
    list.stride *= 2;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < list.size; ++i)
      if (stays(list.all[i].panel)) list.all[kept++] = list.all[i];
    list.size = kept;
  }
  list.thinning_s += clock_now_s() - begin_s;
}

void events_add(const event* one) {
  if (!stays(one->panel)) return;
  if (list.size == list.most) {
    thin();
    if (!stays(one->panel)) return;
  }
  if (list.size < list.most)
    list.all[list.size++] = *one;
  else
    ++list.lost;
}
