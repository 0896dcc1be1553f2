#!lua flags=allow-oom
-- Numbers for texts.
-- KEYS words
-- ARGV limit, texts
-- → per text its number, or -1: no room
local out, count, limit = {}, redis.call('HLEN', KEYS[1]), tonumber(ARGV[1])
for i = 2, #ARGV do
  local number
  if count < limit and redis.call('HSETNX', KEYS[1], ARGV[i], count) == 1 then
    number = count
    count = count + 1
  else
    number = redis.call('HGET', KEYS[1], ARGV[i])
  end
  out[i - 1] = tonumber(number or -1)
end
return out
