#!lua
-- Notes when keys of an app were used last. A key that is revoked has no last use.
-- KEYS keys of the app, their last uses
-- ARGV of each: id, seconds since 1970
for place = 1, #ARGV, 2 do
  local id, time = ARGV[place], tonumber(ARGV[place + 1])
  local before = tonumber(redis.call('HGET', KEYS[2], id) or 0) or 0
  if redis.call('HEXISTS', KEYS[1], id) == 1 and time > before then redis.call('HSET', KEYS[2], id, ARGV[place + 1]) end
end
return 1
