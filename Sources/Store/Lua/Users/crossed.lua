#!lua flags=no-writes
-- Users whose entry has changed.
-- KEYS users, one for each
-- ARGV for each: user, version and places as they were
-- → for each 1, or 0: it is the same
local out = {}
for i = 1, #KEYS do
  local known = ARGV[i * 2]
  local entry = redis.call('HGET', KEYS[i], ARGV[i * 2 - 1])
  out[i] = (not entry or string.sub(entry, 1, #known) ~= known) and 1 or 0
end
return out
