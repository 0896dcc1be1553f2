/* Loaded before the C library (LD_PRELOAD): what a process sees of its clocks after its machine was suspended. */
