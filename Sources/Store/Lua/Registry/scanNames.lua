#!lua flags=no-writes
-- Names of sets that begin with one of ARGV.
-- KEYS buckets
local out = {}
for i = 1, #KEYS do
  for _, name in ipairs(redis.call('HKEYS', KEYS[i])) do
    -- By its first letter most are told apart, and nothing is made for that.
    local first = string.byte(name)
    for j = 1, #ARGV do
      local prefix = ARGV[j]
      if first == string.byte(prefix) and string.sub(name, 1, #prefix) == prefix then
        out[#out + 1] = name
        break
      end
    end
  end
end
return out
