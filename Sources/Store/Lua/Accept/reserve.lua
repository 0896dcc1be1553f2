#!lua
-- KEYS idempotency
-- ARGV digest, raw id, seconds kept, milliseconds of work
-- → word, id, when the key ends
-- use clock
local held = redis.call('HMGET', KEYS[1], 'd', 'id', 'st', 'at')
local moment = now()
if not held[1] then
  redis.call('HSET', KEYS[1], 'd', ARGV[1], 'id', ARGV[2], 'st', 'w', 'at', moment)
  redis.call('EXPIRE', KEYS[1], ARGV[3])
  return {'new', ARGV[2], redis.call('PEXPIRETIME', KEYS[1])}
end
if held[1] ~= ARGV[1] then return {'reused', held[2]} end
if held[3] == 'd' then return {'done', held[2]} end
if held[3] ~= 'u' and tonumber(held[4]) > moment - tonumber(ARGV[4]) then return {'busy', held[2]} end
redis.call('HSET', KEYS[1], 'st', 'w', 'at', moment)
return {'again', held[2], redis.call('PEXPIRETIME', KEYS[1])}
