#!lua flags=allow-oom
-- An operator's word at home, where one of two comes first.
-- KEYS message, controlled
-- ARGV word, raw id, reason of a pause, the version it answers to or ''
-- → 0: unknown here; or 1 changed, 2 it was so, 3 it is cancelled, 4 another came first; and what holds now
-- use clock
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local held = redis.call('HGET', KEYS[1], 'ctl') or 'r0'
local word, version = string.sub(held, 1, 1), string.sub(held, 2)
if ARGV[4] ~= '' and ARGV[4] ~= version then return {4, held} end
if word == ARGV[1] then return {2, held} end
if word == 'c' then return {3, held} end
held = ARGV[1] .. string.format('%.0f', version + 1)
redis.call('HSET', KEYS[1], 'ctl', held)
redis.call('HDEL', KEYS[1], 'pat', 'pr')
if ARGV[1] == 'c' then redis.call('HSET', KEYS[1], 'can', now()) end
if ARGV[1] == 'p' then redis.call('HSET', KEYS[1], 'pat', now(), 'pr', ARGV[3]) end
redis.call('SADD', KEYS[2], ARGV[2])
return {1, held}
