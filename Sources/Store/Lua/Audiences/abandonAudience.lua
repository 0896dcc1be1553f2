#!lua flags=allow-oom
-- Ends a part of which it cannot be told who is in it: not started, or its snapshot cannot be read. What has no
-- outcome counts as `counter`.
-- KEYS lease, work, starts, ends, finished, segments, kept, odd, snapshot, codes, deliveries, slices, tallies
-- ARGV owner, raw id, hour, retention, counter, 1 if it is odd
-- → 0, or how it ended
-- use owner, keepInPlace, tally
local w, id = KEYS[2], ARGV[2]
redis.call('ZREM', KEYS[3], id)
redis.call('ZREM', KEYS[4], id)
local flag = redis.call('HMGET', w, 'a', 'n', 'x', 'ap')
if not flag[1] or flag[3] == '0' then return 0 end
if ARGV[6] == '1' then redis.call('INCR', KEYS[8]) end
local left = tonumber(flag[3] or flag[1])
redis.call('HINCRBY', w, ARGV[5], left)
tally(ARGV[5], left, flag[4])
settleTallies()
redis.call('HSET', w, 'n', flag[2] or left, 'x', 0, 'r', 0)
return keepInPlace(id, {w, KEYS[9], KEYS[10], KEYS[11], KEYS[12]}, KEYS[6], KEYS[7], KEYS[5], ARGV[3], ARGV[4])
