/* Loaded before libfaketime (LD_PRELOAD): waits of processes whose clock runs faster. */
