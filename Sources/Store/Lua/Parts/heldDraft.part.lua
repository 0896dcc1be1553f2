-- What stands against a change, for all that change a draft: KEYS draft, sent · ARGV version or ''
local held = redis.call('HMGET', KEYS[1], 'v', 'm')
if not held[1] then
  local sent = redis.call('GET', KEYS[2])
  if sent then return {'sent', sent} end
  return {'unknown', ''}
end
if ARGV[1] ~= '' and ARGV[1] ~= held[1] then return {'conflict', held[1]} end
