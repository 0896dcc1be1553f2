-- `won` is nil where no delivery of a flush counts; else what turned, by message and index. `countCaps(first)`: the
-- key that the first counter is in.
local capped = ARGV[#ARGV]
local won = #capped > 0 and {} or nil
local function countCaps(first)
  local counts, lives = {}, {}
  for i = 1, #capped, 20 do
    local key, life, place, index, number = struct.unpack('>I4I4I4I4I4', capped, i)
    if won[place .. ' ' .. string.format('%.0f', index)] then
      local list = counts[key] or {'OVERFLOW', 'SAT'}
      counts[key], lives[key] = list, life
      local n = #list
      list[n + 1], list[n + 2], list[n + 3], list[n + 4] = 'INCRBY', 'u4', '#' .. string.format('%.0f', number), 1
    end
  end
  for key, list in pairs(counts) do
    redis.call('BITFIELD', KEYS[first + key], unpack(list))
    redis.call('EXPIRE', KEYS[first + key], lives[key], 'NX')
  end
end
