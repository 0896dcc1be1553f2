-- A user's entry: version (4 bytes), how many devices (2), their places (6 each), the tags.
local function read(key, user)
  local entry = redis.call('HGET', key, user)
  if not entry then return 0, '', '' end
  local version, count = struct.unpack('>I4I2', entry)
  return version, string.sub(entry, 7, 6 + count * 6), string.sub(entry, 7 + count * 6)
end
local function write(key, user, version, places, tags)
  if places == '' and tags == '' then return redis.call('HDEL', key, user) end
  redis.call('HSET', key, user, struct.pack('>I4I2', version, #places / 6) .. places .. tags)
end
-- KEYS[1] counts the changes: whoever finds the same count as before knows that none came between.
local function changed() return redis.call('INCR', KEYS[1]) end
local function find(places, wanted)
  for i = 1, #places, 6 do
    if string.sub(places, i, i + 5) == wanted then return i end
  end
end
