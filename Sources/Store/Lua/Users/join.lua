#!lua flags=allow-oom
-- Devices become their users'.
-- KEYS edition of users; users, one for each
-- ARGV limit; for each: user, the entry of a user who has this device only
-- → for each the entry, or 1: it is that one, or nil: the user has too many; then the edition before and after
-- use user
local out, limit = {}, tonumber(ARGV[1])
local isChanged = false
for i = 2, #KEYS do
  local user, entry = ARGV[i * 2 - 2], ARGV[i * 2 - 1]
  -- Most users are new.
  if redis.call('HSETNX', KEYS[i], user, entry) == 1 then
    out[i - 1] = 1
    isChanged = true
  else
    local place = string.sub(entry, 7)
    local version, places, tags = read(KEYS[i], user)
    local isNew = not find(places, place)
    local fits = not isNew or #places / 6 < limit
    if isNew then places = places .. place end
    out[i - 1] = fits and struct.pack('>I4I2', version, #places / 6) .. places .. tags
    if fits and isNew then
      redis.call('HSET', KEYS[i], user, out[i - 1])
      isChanged = true
    end
  end
end
local edition = isChanged and changed() or tonumber(redis.call('GET', KEYS[1]) or 0)
out[#KEYS] = isChanged and edition - 1 or edition
out[#KEYS + 1] = edition
return out
