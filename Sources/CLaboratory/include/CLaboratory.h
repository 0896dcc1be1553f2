#pragma once
// Linux' own calls, which Swift's Glibc does not have.

/// Pins the calling thread to one core; 0, or -1 with errno.
int fanfare_pin(int core);
/// Another process may write no file beyond so many bytes: to it the disk is full. 0, or -1 with errno.
int fanfare_limit_file_size(int process, unsigned long long bytes);
/// Both ends of a pipe, closed on exec; 0, or -1 with errno.
int fanfare_pipe(int ends[2]);
