#!lua flags=allow-oom
-- Takes a credential's brake off.
-- KEYS brakes, norms
-- ARGV credential, channel, weight of what was seen meanwhile as the new norm, or 0: the norm stays
-- → 1 it was on
local entry = redis.call('HGET', KEYS[1], ARGV[1])
if not entry then return 0 end
local seen, dead = string.match(entry, '^%S+ (%S+) (%S+)')
seen, dead = tonumber(seen or ''), tonumber(dead or '')
if ARGV[3] ~= '0' and seen and dead and seen > 0 then
  local before = string.match(redis.call('HGET', KEYS[2], ARGV[1]) or '', '^(%S+ %S+)') or '0 0'
  redis.call('HSET', KEYS[2], ARGV[1], string.format('%.0f %.3f %s', ARGV[3], dead / seen * ARGV[3], before))
end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('PUBLISH', ARGV[2], 'b')
return 1
