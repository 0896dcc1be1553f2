-- KEYS free numbers, tombstones, words; record buckets; per device: index bucket, and bucket of its alias if that is
-- asked for; sets · ARGV devices, words, time, record buckets, plan of sets; per device: head (create, update or
-- delete (c, u, d), which record bucket, whether its alias is asked for (1) and must name nobody (2), whether its
-- tombstone changes, number, hash of its id, hash of its token), expected entry, new entry, numbers expected under the
-- hash of its id, and if its tombstone changes its time or '' (none any more) and its member of tombstones; then sets
-- as `applySets` takes them. → 1 and the places of the devices that were not as expected; or 0 and by place what the
-- aliases name; or -1: words are missing; of newcomers also -2: the intent is; -3: not all of its sets are filled
-- use records, sets, index
local devices, buckets = tonumber(ARGV[1]), tonumber(ARGV[4])
if redis.call('HLEN', KEYS[3]) < tonumber(ARGV[2]) then return -1 end
local held = redis.call('MGET', unpack(KEYS, 4, 3 + buckets))
local heads, wanted, aliases = {}, {}, {}
local at, key = 6, 4 + buckets
for i = 1, devices do
  local head = {struct.unpack('>c1BBBI4c4c4', ARGV[at])}
  head.at, head.index = at, KEYS[key]
  heads[i] = head
  if head[1] ~= 'u' then wanted[#wanted + 1] = KEYS[key] end
  key = key + 1
  if head[3] > 0 then
    aliases[#aliases + 1] = i
    head.alias = KEYS[key]
    key = key + 1
  end
  at = at + 4 + head[4] * 2
end
local index = {}
if #wanted > 0 then
  for i, value in ipairs(redis.call('MGET', unpack(wanted))) do index[wanted[i]] = value or '' end
end
local told, asked = {}, {}
for n, i in ipairs(aliases) do asked[n] = heads[i].alias end
if #asked > 0 then
  for n, value in ipairs(redis.call('MGET', unpack(asked))) do
    told[aliases[n]] = value and aliased(value, heads[aliases[n]][7]) or ''
  end
end
-- Each bucket is gone through once where devices share it.
local firsts, lasts = {}, {}
local function found(bucket, number)
  local text = held[bucket]
  if not text then return '' end
  if devices < buckets * 2 then return entryOf(text, number) end
  if not firsts[bucket] then firsts[bucket], lasts[bucket] = spots(text) end
  local first = firsts[bucket][number % RECORDS_PER_BUCKET]
  return first and string.sub(text, first, lasts[bucket][number % RECORDS_PER_BUCKET]) or ''
end
local answer = {1}
for i = 1, devices do
  local head = heads[i]
  if head[3] == 2 and told[i] ~= '' then
    answer[#answer + 1] = i
  elseif found(head[2], head[5]) ~= ARGV[head.at + 1] then
    answer[#answer + 1] = i
  elseif head[1] == 'c' and numbers(index[head.index], head[6]) ~= ARGV[head.at + 3] then
    answer[#answer + 1] = i
  end
end
if #answer > 1 then return answer end
answer[1] = 0

local came, moved, written, buried, revived = {}, {}, {}, {}, {}
for i = 1, buckets do written[i] = {} end
for i = 1, devices do
  local head = heads[i]
  local act, bucket, number, place = head[1], head[2], head[5], head.at
  written[bucket][number % RECORDS_PER_BUCKET] = ARGV[place + 2]
  if act == 'c' then came[#came + 1] = number end
  if act == 'd' then
    index[head.index] = without(index[head.index], head[6] .. struct.pack('>I4', number))
    moved[head.index] = true
    redis.call('ZADD', KEYS[1], ARGV[3], number)
  elseif act == 'c' then
    index[head.index] = index[head.index] .. head[6] .. struct.pack('>I4', number)
    moved[head.index] = true
  end
  if head[4] == 1 then
    if ARGV[place + 4] == '' then
      revived[#revived + 1] = ARGV[place + 5]
    else
      buried[#buried + 1] = ARGV[place + 4]
      buried[#buried + 1] = ARGV[place + 5]
    end
  end
end
if #buried > 0 then redis.call('ZADD', KEYS[2], unpack(buried)) end
if #revived > 0 then redis.call('ZREM', KEYS[2], unpack(revived)) end
if #came > 0 then redis.call('ZREM', KEYS[1], unpack(came)) end
local list = {}
local function put(key, value)
  if value == '' then return redis.call('DEL', key) end
  list[#list + 1] = key
  list[#list + 1] = value
end
for i = 1, buckets do
  -- Lua looks through the whole of each text that it makes: it makes one.
  put(KEYS[3 + i], withEntries(held[i] or '', written[i]))
end
for key in pairs(moved) do put(key, index[key]) end
if #list > 0 then redis.call('MSET', unpack(list)) end

applySets(ARGV[5], key, at)

for _, i in ipairs(aliases) do
  if told[i] ~= '' then
    answer[#answer + 1] = i
    answer[#answer + 1] = told[i]
  end
end
return answer
