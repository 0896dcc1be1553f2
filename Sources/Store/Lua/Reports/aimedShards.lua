#!lua flags=no-writes
-- Which live parts have a text in their list, or are audiences.
-- KEYS work…
-- ARGV text
-- → 0, 1, or 2 for an audience
local out = {}
for i = 1, #KEYS do
  local part = redis.call('HMGET', KEYS[i], 'a', 't', 'ps')
  if part[1] then
    out[i] = 2
  else
    out[i] = part[2] and string.find(part[2], ARGV[1], 1, true) and 1 or 0
    for step = 1, tonumber(part[3] or 1) - 1 do
      if out[i] == 1 then break end
      local list = redis.call('HGET', KEYS[i], 't' .. step)
      if list and string.find(list, ARGV[1], 1, true) then out[i] = 1 end
    end
  end
end
return out
