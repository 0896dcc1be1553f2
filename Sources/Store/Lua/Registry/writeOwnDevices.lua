#!lua flags=allow-oom
-- `writeDevices` by the owner of the partition.
-- KEYS lease, then as there
-- ARGV owner, then as there
-- use owner
table.remove(KEYS, 1)
table.remove(ARGV, 1)
-- use writeDevices
