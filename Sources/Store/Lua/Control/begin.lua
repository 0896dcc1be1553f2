#!lua flags=allow-oom
-- The time of a scheduled message has come, or it was cancelled: from here on it spreads as any other. One that was
-- cancelled spreads at once, and `pl` keeps the time for which it was planned.
-- KEYS lease, message, scheduled, spreading
-- ARGV owner, raw id, now in milliseconds
-- → 1: spread it; 0: it was changed, or is gone
-- use owner
local m = redis.call('HMGET', KEYS[2], 'st', 'at', 'can')
if m[1] ~= 'w' then
  redis.call('ZREM', KEYS[3], ARGV[2])
  return 0
end
if not m[3] and tonumber(m[2]) > tonumber(ARGV[3]) then
  redis.call('ZADD', KEYS[3], m[2], ARGV[2])
  return 0
end
if m[3] then redis.call('HSET', KEYS[2], 'at', ARGV[3], 'pl', m[2]) end
redis.call('HSET', KEYS[2], 'st', 's')
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[2])
return 1
