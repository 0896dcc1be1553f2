#!lua flags=allow-oom
-- A tombstone that is none any more, unless it became one again.
-- KEYS tombstones
-- ARGV member, its time
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if at and tonumber(at) == tonumber(ARGV[2]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
return 1
