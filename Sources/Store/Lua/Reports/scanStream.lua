#!lua flags=no-writes
-- Jobs whose targets hold a text.
-- KEYS stream
-- ARGV first entry, count, text
-- → last entry or '', raw ids…
local found = {''}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])) do
  found[1] = entry[1]
  local fields = entry[2]
  if fields[7] == 't' and string.find(fields[8], ARGV[3], 1, true) then found[#found + 1] = fields[2] end
end
return found
