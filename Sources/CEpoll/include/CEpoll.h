#pragma once
// What the Glibc module leaves out: epoll and eventfd.
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// A wake-up descriptor: non-blocking, closed on exec.
int fanfare_eventfd(void);
/// Adds 1 to the counter of a wake-up descriptor.
void fanfare_ring(int fd);
/// Takes the counter of a wake-up descriptor back to 0.
void fanfare_unring(int fd);
/// An epoll instance, closed on exec.
int fanfare_epoll(void);
/// `operation` is EPOLL_CTL_ADD, MOD or DEL; the descriptor itself is the event's datum.
int fanfare_epoll_ctl(int epoll, int operation, int fd, unsigned events);
