#!lua
-- One partition's part of an audience, to be started at its time, unless it is known there.
-- KEYS work, starts, finished
-- ARGV raw id, members when counted, ttl, start in milliseconds, 1 to keep receipts, channel, partition,
-- app
-- → 0: it was known
if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'a', ARGV[2], 'l', ARGV[3], 'at', ARGV[4], 'ap', ARGV[8])
if ARGV[5] == '1' then redis.call('HSET', KEYS[1], 'rc', 1) end
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
redis.call('PUBLISH', ARGV[6], 's ' .. ARGV[7])
return 1
