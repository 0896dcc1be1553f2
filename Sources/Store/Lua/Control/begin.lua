#!lua flags=allow-oom
-- The time of a scheduled message has come, or it was cancelled: from here on it spreads as any other. One that was
-- cancelled spreads at once, and `pl` keeps the time for which it was planned. One that is paused waits on, until no
-- device gets it any more: its ttl counts from the planned time.
-- KEYS lease, message, scheduled, spreading
-- ARGV owner, raw id, now in milliseconds
-- → 1: spread it; 0: it was changed, or is gone
-- use owner
local m = redis.call('HMGET', KEYS[2], 'st', 'at', 'can', 'ctl', 'ttl', 'sl')
if m[1] ~= 'w' then
  redis.call('ZREM', KEYS[3], ARGV[2])
  return 0
end
local due = tonumber(m[2])
if m[4] and string.sub(m[4], 1, 1) == 'p' then
  if m[6] and m[6] ~= '' then due = math.max(due, m[6] * 1000 + LATEST_CLOCK) end
  due = due + math.max((m[5] or 0) * 1000, SHORTEST_START)
end
if not m[3] and due > tonumber(ARGV[3]) then
  redis.call('ZADD', KEYS[3], string.format('%.0f', due), ARGV[2])
  return 0
end
if m[3] then redis.call('HSET', KEYS[2], 'at', ARGV[3], 'pl', m[2]) end
redis.call('HSET', KEYS[2], 'st', 's')
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[2])
return 1
