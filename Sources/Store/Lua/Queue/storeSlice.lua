#!lua flags=allow-oom
-- KEYS lease, slices, work
-- ARGV owner, number, packed slice
-- use owner
if redis.call('EXISTS', KEYS[3]) == 0 then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return 1
