#!lua flags=allow-oom
-- Changes states of devices, all of them or none: how their records begin and end, and the sets that tell of it. Those that
-- are arriving hold their tokens from then on; others lose theirs.
-- KEYS arrivals, tombstones; record buckets; sets
-- ARGV devices, record buckets, how many of them were arriving, how many become tombstones, plan of sets; for each device which
-- record bucket, number, first byte of the record from now on, flags that it gets and how many bytes leave its end, in one
-- text; for each what must be found, its whole entry or, if it is arriving, the nonce of its mark; and what comes behind
-- it; members of arrivals; times and members of tombstones; then sets as `applySets` takes them. Devices come by bucket.
-- → 0; or 1 and the places of the devices that are not as they were
-- use records, sets
local devices, buckets, landing, dying = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local held = redis.call('MGET', unpack(KEYS, 3, 2 + buckets))
local answer, written = {1}, {}
local bucket, text, firsts, lasts = 0, '', {}, {}
for i = 1, devices do
  local at, number, version, gets, cut = struct.unpack('>BI4BBB', ARGV[6], i * 8 - 7)
  if at ~= bucket then
    bucket, text, written[at] = at, held[at] or '', {}
    firsts, lasts = spots(text)
  end
  local slot, expected, behind = number % RECORDS_PER_BUCKET, ARGV[5 + i * 2], ARGV[6 + i * 2]
  local first, last = firsts[slot], lasts[slot]
  local length, head, flags
  local isRight = first and string.sub(text, last - #expected + 1, last) == expected
  if isRight then
    length, head, flags = struct.unpack('>I4BB', text, first)
    isRight = math.floor(flags / 4) % 2 == 0
      and (#expected == MARK_LENGTH and head >= ARRIVING or last - #expected + 1 == first)
  end
  if isRight then
    written[at][slot] = struct.pack('>I4BB', length - cut + #behind, version, bit.bor(flags, gets))
      .. string.sub(text, first + 6, last - cut) .. behind
  else
    answer[#answer + 1] = i
  end
end
if #answer > 1 then return answer end
local list = {}
for i = 1, buckets do
  list[i * 2 - 1], list[i * 2] = KEYS[2 + i], withEntries(held[i], written[i])
end
redis.call('MSET', unpack(list))
local at = 7 + devices * 2
if landing > 0 then redis.call('ZREM', KEYS[1], unpack(ARGV, at, at + landing - 1)) end
at = at + landing
if dying > 0 then redis.call('ZADD', KEYS[2], unpack(ARGV, at, at + dying * 2 - 1)) end
applySets(ARGV[5], 3 + buckets, at + dying * 2)
return {0}
