/*
 * libfaketime divides the timeout of epoll_wait by the speed of its clock and drops what is less than a millisecond: a
 * loop that waits for its next timer then spins for the rest. This epoll_wait stands before it and waits for that rest too.
 */
#define _GNU_SOURCE
#include "FastWait.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double speed = 1;

/* As libfaketime reads it: "+30s x60". */
__attribute__((constructor)) static void read_speed(void) {
  const char *clock = getenv("FAKETIME");
  const char *factor = clock ? strrchr(clock, 'x') : NULL;
  double read = factor ? atof(factor + 1) : 1;
  if (read >= 1) speed = read;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int milliseconds) {
  struct timespec time, *timeout = NULL;
  if (milliseconds >= 0) {
    int64_t nanoseconds = milliseconds == 0 ? 0 : (int64_t)(milliseconds * 1e6 / speed) + 1;
    time.tv_sec = nanoseconds / 1000000000;
    time.tv_nsec = nanoseconds % 1000000000;
    timeout = &time;
  }
  return (int)syscall(SYS_epoll_pwait2, epoll, events, most, timeout, NULL, 0);
}
