#!lua flags=allow-oom
-- Devices that are arriving hold their tokens from now on: all of them or none.
-- KEYS arrivals; record buckets; sets
-- ARGV devices, record buckets, plan of sets; for each device: which record bucket, number, nonce of its mark, and its
-- member of arrivals; then sets as `applySets` takes them
-- → 0; or 1 and the places of the devices that are not as they were
-- use records, sets
local devices, buckets = tonumber(ARGV[1]), tonumber(ARGV[2])
local held = redis.call('MGET', unpack(KEYS, 2, 1 + buckets))
local answer, heads = {1}, {}
for i = 1, devices do
  local head = {struct.unpack('>BI4c8', ARGV[2 + 2 * i])}
  local bucket, first, last = held[head[1]], nil, nil
  if bucket then first, last = seek(bucket, head[2]) end
  heads[i] = head
  local isDead = first and math.floor(string.byte(bucket, first + 5) / 4) % 2 == 1
  if not first or isDead or string.byte(bucket, first + 4) < ARRIVING
    or string.sub(bucket, last - 7, last) ~= head[3] then
    answer[#answer + 1] = i
  end
end
if #answer > 1 then return answer end
for i, head in ipairs(heads) do
  local bucket = held[head[1]]
  local first, last = seek(bucket, head[2])
  local length, version = struct.unpack('>I4B', bucket, first)
  local landed = struct.pack('>I4B', length - 8, version - ARRIVING)
  held[head[1]] = string.sub(bucket, 1, first - 1) .. landed .. string.sub(bucket, first + 5, last - 8)
    .. string.sub(bucket, last + 1)
  redis.call('ZREM', KEYS[1], ARGV[3 + 2 * i])
end
local list = {}
for i = 1, buckets do
  list[#list + 1] = KEYS[1 + i]
  list[#list + 1] = held[i]
end
redis.call('MSET', unpack(list))
applySets(ARGV[3], 2 + buckets, 4 + 2 * devices)
return {0}
