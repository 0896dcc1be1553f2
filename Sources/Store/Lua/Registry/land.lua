#!lua flags=allow-oom
-- Devices that are arriving hold their tokens from now on: all of them or none.
-- KEYS arrivals; record buckets; sets
-- ARGV devices, record buckets, plan of sets; for each device which record bucket, number and nonce of its mark, in one text;
-- their members of arrivals; then sets as `applySets` takes them. Devices come by bucket.
-- → 0; or 1 and the places of the devices that are not as they were
-- use records, sets
local devices, buckets = tonumber(ARGV[1]), tonumber(ARGV[2])
local held = redis.call('MGET', unpack(KEYS, 2, 1 + buckets))
local answer, written = {1}, {}
local bucket, text, firsts, lasts = 0, '', {}, {}
for i = 1, devices do
  local at, number, nonce = struct.unpack('>BI4c8', ARGV[4], i * 13 - 12)
  if at ~= bucket then
    bucket, text, written[at] = at, held[at] or '', {}
    firsts, lasts = spots(text)
  end
  local slot = number % RECORDS_PER_BUCKET
  local first, last = firsts[slot], lasts[slot]
  local isDead = first and math.floor(string.byte(text, first + 5) / 4) % 2 == 1
  if not first or isDead or string.byte(text, first + 4) < ARRIVING or string.sub(text, last - 7, last) ~= nonce then
    answer[#answer + 1] = i
  else
    local length, version = struct.unpack('>I4B', text, first)
    written[at][slot] = struct.pack('>I4B', length - 8, version - ARRIVING) .. string.sub(text, first + 5, last - 8)
  end
end
if #answer > 1 then return answer end
local list = {}
for i = 1, buckets do
  list[i * 2 - 1], list[i * 2] = KEYS[1 + i], withEntries(held[i], written[i])
end
redis.call('MSET', unpack(list))
redis.call('ZREM', KEYS[1], unpack(ARGV, 5, 4 + devices))
applySets(ARGV[3], 2 + buckets, 5 + devices)
return {0}
