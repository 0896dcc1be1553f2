#!lua flags=allow-oom
-- Compares and writes devices with all their sets: all of them or none.
-- use writeDevices
