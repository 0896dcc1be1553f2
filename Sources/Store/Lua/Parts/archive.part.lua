-- Moves live hashes into the segment of their hour; see `Archive` for the reader.
-- use clock, keepsContent
-- Lengths repeat: packing one anew costs more than all else here.
local lengths = {}
local function pack(list)
  local out, at = {}, 0
  for i = 1, #list do
    local item = list[i]
    local length = lengths[#item]
    if not length then
      length = struct.pack('>I4', #item)
      lengths[#item] = length
    end
    out[at + 1] = length
    out[at + 2] = item
    at = at + 2
  end
  return table.concat(out)
end
-- Gathered by segment and written at the end of the script by settle(), before what moved is deleted.
local kept, segments, dropped = {}, {}, {}
local function keep(seg, segs, hour, life, field, value)
  local group = kept[seg]
  if not group then
    group = {segs = segs, hour = hour, life = 0, bytes = 0}
    kept[seg] = group
    segments[#segments + 1] = seg
  end
  group[#group + 1] = field
  group[#group + 1] = value
  group.bytes = group.bytes + #value + 120
  group.life = math.max(group.life, tonumber(life))
end
local function drop(key) dropped[#dropped + 1] = key end
local function settle()
  for _, seg in ipairs(segments) do
    local group = kept[seg]
    redis.call('HSET', seg, unpack(group))
    if redis.call('TTL', seg) < group.life then redis.call('EXPIRE', seg, group.life) end
    redis.call('ZINCRBY', group.segs, group.bytes, group.hour)
  end
  if #dropped > 0 then redis.call('DEL', unpack(dropped)) end
end
local function sealPart(work, deliveries)
  local failed, ttl, counters = '0', 0, {}
  for i = 1, #work, 2 do
    if string.byte(work[i]) == 107 or work[i] == 'fa' or work[i] == 'lo' then
      counters[#counters + 1] = work[i]
      counters[#counters + 1] = work[i + 1]
      if keepsContent(work[i]) then failed = '1' end
    elseif work[i] == 'l' then
      ttl = tonumber(work[i + 1])
    end
  end
  return pack(work), pack(deliveries), failed, failed .. pack(counters), ttl
end
local function sealMessage(all, failed)
  local sealed = {'don', now()}
  for i = 1, #all, 2 do
    if all[i] == 'bf' then failed = '1' end
  end
  for i = 1, #all, 2 do
    if all[i] ~= 'b' or failed == '1' then
      sealed[#sealed + 1] = all[i]
      sealed[#sealed + 1] = all[i + 1]
    end
  end
  return pack(sealed)
end
local function keepPart(id, work, deliveries, seg, segs, finished, hour, retention)
  local packedWork, packedDeliveries, _, ending, ttl = sealPart(work, deliveries)
  -- Other parts may need all of the message's time; what is kept of this one stays as long.
  local life = retention + ttl
  keep(seg, segs, hour, life, 'w' .. id, packedWork)
  keep(seg, segs, hour, life, 'd' .. id, packedDeliveries)
  redis.call('HSET', finished, id, ending)
  return ending
end
-- Ends a part: with its message, if it is the only one and that is here, or to be told.
local function close(id, work, deliveries, m, seg, segs, finished, hour, retention, here, told)
  local all = here == '1' and redis.call('HGETALL', m) or {}
  for i = 1, #all, 2 do
    if all[i] == 'np' and all[i + 1] == '1' then
      local packedWork, packedDeliveries, failed = sealPart(work, deliveries)
      keep(seg, segs, hour, retention, 'a' .. id, pack({sealMessage(all, failed), packedWork, packedDeliveries}))
      return drop(m)
    end
  end
  told[#told + 1] = id
  told[#told + 1] = keepPart(id, work, deliveries, seg, segs, finished, hour, retention)
end
