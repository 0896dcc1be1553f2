#!lua flags=no-writes
-- What sets hold of a block.
-- KEYS per set: bucket, own key
-- ARGV names
-- → per set a list of numbers, or an array of a bitmap
local out = {}
for i = 1, #KEYS, 2 do
  local held = redis.call('HGET', KEYS[i], ARGV[(i + 1) / 2])
  if held == 's' then held = redis.call('GET', KEYS[i + 1]) end
  if held == 'b' then held = {redis.call('GET', KEYS[i + 1])} end
  out[#out + 1] = held or ''
end
return out
