#!lua flags=no-writes
-- Names of sets that begin with ARGV[1].
-- KEYS buckets
local out, length, first = {}, #ARGV[1], string.byte(ARGV[1])
for i = 1, #KEYS do
  for _, name in ipairs(redis.call('HKEYS', KEYS[i])) do
    -- By its first letter most are told apart, and nothing is made for that.
    if string.byte(name) == first and string.sub(name, 1, length) == ARGV[1] then out[#out + 1] = name end
  end
end
return out
