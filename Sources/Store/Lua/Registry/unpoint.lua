#!lua flags=allow-oom
-- Takes entries away.
-- KEYS alias buckets
-- ARGV for each the hash and the entry
-- use index
for item = 1, #KEYS do
  local held = redis.call('GET', KEYS[item]) or ''
  local left = without(held, ARGV[item])
  if left == '' then redis.call('DEL', KEYS[item])
  elseif left ~= held then redis.call('SET', KEYS[item], left) end
end
return {}
