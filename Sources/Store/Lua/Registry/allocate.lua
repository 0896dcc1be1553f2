#!lua
-- Numbers freed long ago, then fresh ones. For an import with the intent that names them, so that they are found
-- should it be cut off.
-- KEYS last number, free numbers; for an import: intents
-- ARGV freed before, how many; for an import: name of the intent, what it says before and behind the numbers
-- → numbers, and for an import the fields of the intents that were there before
local wanted = tonumber(ARGV[2])
local numbers = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1], 'LIMIT', 0, wanted)
if #numbers > 0 then redis.call('ZREM', KEYS[2], unpack(numbers)) end
for i = 1, #numbers do numbers[i] = tonumber(numbers[i]) end
local missing = wanted - #numbers
if missing > 0 then
  local last = redis.call('INCRBY', KEYS[1], missing)
  for i = last - missing, last - 1 do numbers[#numbers + 1] = i end
end
if KEYS[3] then
  local others, raw = redis.call('HKEYS', KEYS[3]), {}
  for i = 1, #numbers do raw[i] = struct.pack('>I4', numbers[i]) end
  redis.call('HSET', KEYS[3], ARGV[3], ARGV[4] .. table.concat(raw) .. ARGV[5], '#' .. ARGV[3], '0')
  for i = 1, #others do numbers[wanted + i] = others[i] end
end
return numbers
