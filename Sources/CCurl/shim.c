// The unit that makes this a module; inline wrappers stand in the header.
