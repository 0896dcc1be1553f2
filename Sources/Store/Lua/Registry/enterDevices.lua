#!lua flags=allow-oom
-- Writes the records of new devices of an import, all of a run or none. Shorter than `writeDevices`, as nothing was
-- there before them; and many of them are in their sets already, but for `active`.
--
-- KEYS words, intents, free numbers; record buckets; per device its index bucket; of those whose alias is asked for, its bucket;
-- sets · ARGV words, the field that tells how far the intent has come, how far it must have, record
-- buckets, devices, a byte for each device whose alias must name nobody: which one, plan of sets; per record bucket: numbers of its
-- newcomers, four bytes each, and their entries; per device: hash of its id, number, and numbers expected under the hash; per
-- asked alias: hash of the token; then sets as `applySets` takes them. → as `writeDevices`
-- use records, sets, index
local call = redis.call
if call('HLEN', KEYS[1]) < tonumber(ARGV[1]) then return -1 end
if call('HGET', KEYS[2], ARGV[2]) ~= ARGV[3] then
  return call('HEXISTS', KEYS[2], string.sub(ARGV[2], 2)) == 1 and -3 or -2
end
local buckets, devices, asked = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local entries, indexed = 8, 8 + buckets * 2
local list, size, refused, device = {}, 0, {1}, 0
for i, held in ipairs(call('MGET', unpack(KEYS, 4, 3 + buckets))) do
  local numbers = ARGV[entries]
  for n = 1, #numbers, 4 do
    device = device + 1
    if held and seek(held, (struct.unpack('>I4', numbers, n))) then refused[#refused + 1] = device end
  end
  list[size + 1], list[size + 2] = KEYS[3 + i], held and held .. ARGV[entries + 1] or ARGV[entries + 1]
  size, entries = size + 2, entries + 2
end

local key, places = 3 + buckets, {}
for i, held in ipairs(call('MGET', unpack(KEYS, key + 1, key + devices))) do
  local name, wanted = KEYS[key + i], ARGV[indexed + i - 1]
  local place = places[name]
  if place then
    held = list[place]
  else
    size = size + 2
    place = size
    list[place - 1], places[name] = name, place
    held = held or ''
  end
  local hash, entry = string.sub(wanted, 1, 4), wanted
  if #wanted > 8 then entry = string.sub(wanted, 1, 8) end
  if numbers(held, hash) ~= string.sub(wanted, 9) then refused[#refused + 1] = i end
  list[place] = held .. entry
end
local tokens = indexed + devices
if asked ~= '' then
  for i, held in ipairs(call('MGET', unpack(KEYS, key + devices + 1, key + devices + #asked))) do
    if held and aliased(held, ARGV[tokens + i - 1]) ~= '' then refused[#refused + 1] = string.byte(asked, i) end
  end
end
if #refused > 1 then return refused end
call('MSET', unpack(list))
-- None of them is free any more.
if call('EXISTS', KEYS[3]) == 1 then
  for i = indexed, indexed + devices - 1 do
    call('ZREM', KEYS[3], string.format('%.0f', (struct.unpack('>I4', ARGV[i], 5))))
  end
end
applySets(ARGV[7], key + devices + #asked + 1, tokens + #asked)
return {0}
