#include "CEpoll.h"

int fanfare_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void fanfare_ring(int fd) { eventfd_write(fd, 1); }

void fanfare_unring(int fd) {
    eventfd_t n;
    eventfd_read(fd, &n);
}

int fanfare_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

int fanfare_epoll_ctl(int epoll, int operation, int fd, unsigned events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(epoll, operation, fd, &event);
}
