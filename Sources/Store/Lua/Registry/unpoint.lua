#!lua flags=allow-oom
-- Takes entries away.
-- KEYS alias buckets
-- ARGV for each the hash and the entry
-- use index
local held, changed = {}, {}
for item, value in ipairs(redis.call('MGET', unpack(KEYS))) do held[KEYS[item]] = value or '' end
for item = 1, #KEYS do
  local key = KEYS[item]
  local left = without(held[key], ARGV[item])
  if left ~= held[key] then held[key], changed[key] = left, true end
end
local list, gone = {}, {}
for key in pairs(changed) do
  if held[key] == '' then
    gone[#gone + 1] = key
  else
    list[#list + 1] = key
    list[#list + 1] = held[key]
  end
end
if #list > 0 then redis.call('MSET', unpack(list)) end
if #gone > 0 then redis.call('DEL', unpack(gone)) end
return {}
