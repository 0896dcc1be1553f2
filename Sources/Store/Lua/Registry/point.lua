#!lua flags=allow-oom
-- Enters devices for hashes of tokens, behind those that are there.
-- KEYS for each: alias bucket, index bucket of the token's own id
-- ARGV for each: hash of the token, entry, whether another entry of the device will do, partition and hash of the
-- token's own id
-- → for each how many entries stood before its own, those, and the places of devices with the own id; or nothing
-- use index
local out, held, changed = {}, {}, {}
for k, value in ipairs(redis.call('MGET', unpack(KEYS))) do held[KEYS[k]] = value or '' end
for i = 1, #KEYS / 2 do
  local key, hash, entry, any, own = KEYS[i * 2 - 1], ARGV[i * 4 - 3], ARGV[i * 4 - 2], ARGV[i * 4 - 1], ARGV[i * 4]
  local all, before, known = aliased(held[key], hash), {}, false
  for at = 1, #all, #entry do
    local other = string.sub(all, at, at + #entry - 1)
    if other == entry or any == '1' and string.sub(other, 1, 6) == string.sub(entry, 1, 6) then
      known = true
      if any ~= '1' then break end
    else
      before[#before + 1] = other
    end
  end
  if not known then
    held[key] = held[key] .. hash .. entry
    changed[key] = true
  end
  local found = numbers(held[KEYS[i * 2]], string.sub(own, 3))
  out[i] = ''
  if #before > 0 or found ~= '' then out[i] = struct.pack('>I2', #before) .. table.concat(before) end
  for at = 1, #found, 4 do out[i] = out[i] .. string.sub(own, 1, 2) .. string.sub(found, at, at + 3) end
end
local list = {}
for key in pairs(changed) do
  list[#list + 1] = key
  list[#list + 1] = held[key]
end
if #list > 0 then redis.call('MSET', unpack(list)) end
return out
