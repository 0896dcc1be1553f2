#!lua
-- Gives a scheduled message another time, if nobody else has changed it since it was read.
-- KEYS message, scheduled, listing, hours, ends of hours
-- ARGV raw id, version that was read, start, body, local time or '', listing's life, channel, partition, hour, when the
-- first device gets it and its zone, or ''
-- → 0 unknown, 1 done, 2 it has started, 3 changed meanwhile, 4 cancelled
-- use clock, listed
local m = redis.call('HMGET', KEYS[1], 'st', 'v', 'can')
if not m[1] then return 0 end
if m[3] then return 4 end
if m[1] ~= 'w' then return 2 end
if m[2] ~= ARGV[2] then return 3 end
redis.call('HSET', KEYS[1], 'at', ARGV[3], 'b', ARGV[4], 'v', tonumber(m[2]) + 1, 'sl', ARGV[5])
redis.call('HDEL', KEYS[1], 'fs', 'fz')
if ARGV[10] ~= '' then redis.call('HSET', KEYS[1], 'fs', ARGV[10], 'fz', ARGV[11]) end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
if redis.call('EXPIRE', KEYS[3], ARGV[6], 'GT') == 1 then listed(KEYS[4], KEYS[5], ARGV[9], tonumber(ARGV[6])) end
redis.call('PUBLISH', ARGV[7], 's ' .. ARGV[8])
return 1
