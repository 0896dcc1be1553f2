#!lua flags=allow-oom
-- The first device of a message for local times has a later time than the first clock on earth.
-- KEYS lease, message, scheduled
-- ARGV owner, raw id, start as it was read, start, zone
-- → 0: it was changed meanwhile
-- use owner
local m = redis.call('HMGET', KEYS[2], 'st', 'at', 'can')
if m[1] ~= 'w' or m[2] ~= ARGV[3] or m[3] then return 0 end
redis.call('HSET', KEYS[2], 'at', ARGV[4], 'fs', ARGV[4], 'fz', ARGV[5])
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[2])
return 1
