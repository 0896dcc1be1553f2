#!lua flags=allow-oom
-- KEYS record bucket, bucket of the set, its own key, intents
-- ARGV number, entry of the record or '', name, number within the block, whether it belongs in (1, 0), whether to
-- repair, names of all intents
-- → 1: it was wrong
-- use records, sets
if entryOf(redis.call('GET', KEYS[1]) or '', tonumber(ARGV[1])) ~= ARGV[2] then return 0 end
-- The number may be a newcomer's by now.
if ARGV[2] == '' and table.concat(redis.call('HKEYS', KEYS[4])) ~= ARGV[7] then return 0 end
local form = redis.call('HGET', KEYS[2], ARGV[3])
local held = '0'
if form == 'b' then
  if redis.call('GETBIT', KEYS[3], number(ARGV[4], 1)) == 1 then held = '1' end
elseif holds(form == 's' and (redis.call('GET', KEYS[3]) or '') or form or '', number(ARGV[4], 1)) then
  held = '1'
end
if held == ARGV[5] then return 0 end
if ARGV[6] == '1' then
  if ARGV[5] == '1' then
    change(KEYS[2], KEYS[3], ARGV[3], ARGV[4], '')
  else
    change(KEYS[2], KEYS[3], ARGV[3], '', ARGV[4])
  end
end
return 1
