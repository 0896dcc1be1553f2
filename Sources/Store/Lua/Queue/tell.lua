#!lua flags=allow-oom
-- A part tells home how it ended; home keeps the sum of what it was told, so that nothing that expires elsewhere is
-- missing.
-- KEYS message, segment, segments
-- ARGV raw id, hour, retention, partition, ending: failed, counters
-- use archive
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local known = redis.call('HMGET', KEYS[1], 'told', 'tc')
local told = known[1] or ','
if string.find(told, ',' .. ARGV[4] .. ',', 1, true) then return 0 end
local sums, order = {}, {}
local function add(packed)
  local at, name = 1, nil
  while at + 4 <= #packed do
    local length = struct.unpack('>I4', packed, at)
    local text = string.sub(packed, at + 4, at + 3 + length)
    at = at + 4 + length
    if name then
      local number = tonumber(text)
      if not sums[name] then
        order[#order + 1] = name
        sums[name] = number
      elseif name == 'fa' then
        sums[name] = math.min(sums[name], number)
      elseif name == 'lo' then
        sums[name] = math.max(sums[name], number)
      else
        sums[name] = sums[name] + number
      end
      name = nil
    else
      name = text
    end
  end
end
add(known[2] or '')
add(string.sub(ARGV[5], 2))
local counters = {}
for _, name in ipairs(order) do
  counters[#counters + 1] = name
  counters[#counters + 1] = string.format('%.0f', sums[name])
end
redis.call('HSET', KEYS[1], 'told', told .. ARGV[4] .. ',', 'tc', pack(counters))
if string.sub(ARGV[5], 1, 1) == '1' then redis.call('HSET', KEYS[1], 'bf', 1) end
if redis.call('HINCRBY', KEYS[1], 'left', -1) == 0 then
  keep(KEYS[2], KEYS[3], ARGV[2], ARGV[3], 'm' .. ARGV[1], sealMessage(redis.call('HGETALL', KEYS[1]), '0'))
  drop(KEYS[1])
  settle()
end
return 1
