-- What home is told of a part: `1` if something failed, then counters and the times of first and last outcome.
-- use keepsContent
local function packList(list)
  local out = {}
  for _, item in ipairs(list) do
    out[#out + 1] = struct.pack('>I4', #item)
    out[#out + 1] = item
  end
  return table.concat(out)
end
local function counterList(w)
  local names = {}
  for _, name in ipairs(redis.call('HKEYS', w)) do
    if string.byte(name) == 107 or name == 'fa' or name == 'lo' then names[#names + 1] = name end
  end
  if #names == 0 then return '0', {} end
  local failed, list = '0', {}
  for i, value in ipairs(redis.call('HMGET', w, unpack(names))) do
    list[#list + 1] = names[i]
    list[#list + 1] = value
    if keepsContent(names[i]) then failed = '1' end
  end
  return failed, list
end
