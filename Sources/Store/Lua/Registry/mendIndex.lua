#!lua flags=allow-oom
-- KEYS record bucket, index bucket
-- ARGV number, entry of the record or '', hash and number, whether it belongs in, whether to repair
-- → 1: it was wrong
-- use records, index
if entryOf(redis.call('GET', KEYS[1]) or '', tonumber(ARGV[1])) ~= ARGV[2] then return 0 end
local held = redis.call('GET', KEYS[2]) or ''
local left = without(held, ARGV[3])
if (left ~= held) == (ARGV[4] == '1') then return 0 end
if ARGV[5] == '1' then
  if ARGV[4] == '1' then left = held .. ARGV[3] end
  if left == '' then redis.call('DEL', KEYS[2]) else redis.call('SET', KEYS[2], left) end
end
return 1
