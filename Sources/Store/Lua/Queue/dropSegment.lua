#!lua flags=allow-oom
-- Drops the segment of an hour, if it is as it was read: nothing was archived there meanwhile.
-- KEYS segment, kept, segments
-- ARGV hour, bytes as read, 1: also while it holds something
-- → 1: it is gone
if ARGV[3] == '0' and redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
local bytes = redis.call('ZSCORE', KEYS[3], ARGV[1])
if not bytes or tonumber(bytes) ~= tonumber(ARGV[2]) then return 0 end
redis.call('UNLINK', KEYS[1])
redis.call('ZREM', KEYS[3], ARGV[1])
return 1
