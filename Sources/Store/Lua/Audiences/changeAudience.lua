#!lua flags=allow-oom
-- Keeps or removes a named audience, if no other was changed since; the field without a name counts changes.
-- KEYS audiences
-- ARGV count of changes, name, and to keep it: expression, limit
-- → what was done
if (redis.call('HGET', KEYS[1], '') or '0') ~= ARGV[1] then return 'crossed' end
local known = redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1
local done = known and 'replaced' or 'added'
if not ARGV[3] then
  if not known then return 'missing' end
  redis.call('HDEL', KEYS[1], ARGV[2])
  done = 'removed'
else
  local count = redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], '')
  if not known and count >= tonumber(ARGV[4]) then return 'full' end
  redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
end
redis.call('HINCRBY', KEYS[1], '', 1)
return done
